/* Threads of a block as fibers: each runs to its next barrier, then the next one does. */
#define _GNU_SOURCE
#include "emulated.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(from, to) 0
#endif

enum { THREADS = 1024, STACK = 65536 };
enum { NEW, AT_BARRIER, ENDED };

typedef struct fiber {
    ucontext_t at;
    int state;
} fiber;

emulated_index emulated_thread, emulated_block, emulated_block_size, emulated_grid_size;
static fiber fibers[THREADS];
static char *stacks;
static ucontext_t scheduler;
static unsigned now;
static emulated_work *body;
static void *body_with;

static void run_fiber(void)
{
    body(body_with);
    fibers[now].state = ENDED;
}

void emulated_barrier(void)
{
    fibers[now].state = AT_BARRIER;
    swapcontext(&fibers[now].at, &scheduler);
}

static void start_fiber(unsigned i)
{
    fiber *f = fibers + i;
    f->state = NEW;
    getcontext(&f->at);
    f->at.uc_stack.ss_sp = stacks + (size_t)i * STACK;
    f->at.uc_stack.ss_size = STACK;
    f->at.uc_link = &scheduler;
    makecontext(&f->at, run_fiber, 0);
}

/* Every thread up to its next barrier or its end, upwards and downwards in turns: one that reads
 * what another should have written does so too early in one of them. How many ended. */
static unsigned run_phase(unsigned threads)
{
    static int downwards;
    unsigned ended = 0;
    downwards = !downwards;
    for (unsigned i = 0; i < threads; i++) {
        now = downwards ? threads - 1 - i : i;
        const emulated_index size = emulated_block_size;
        emulated_thread =
            (emulated_index){now % size.x, now / size.x % size.y, now / size.x / size.y};
        swapcontext(&scheduler, &fibers[now].at);
        ended += fibers[now].state == ENDED;
    }
    return ended;
}

static void run_block(unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) start_fiber(i);
    unsigned ended;
    while ((ended = run_phase(threads)) == 0) continue;
    if (ended == threads) return;
    emulated_broken("some threads of a block never came to a barrier");
}

static void make_stacks(void)
{
    stacks = mmap(NULL, (size_t)THREADS * STACK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) abort();
    for (size_t i = 0; i < THREADS; i++)
        (void)VALGRIND_STACK_REGISTER(stacks + i * STACK, stacks + (i + 1) * STACK - 1);
}

static void run_blocks(emulated_index grid, emulated_index size, emulated_work *kernel, void *with)
{
    const unsigned threads = size.x * size.y * size.z;
    if (!stacks) make_stacks();
    if (!threads || threads > THREADS || !grid.x || !grid.y || !grid.z || grid.y > 65535 ||
        grid.z > 65535) {
        emulated_broken("no device launches such a grid");
    }
    emulated_block_size = size, emulated_grid_size = grid;
    body = kernel, body_with = with;
    for (emulated_block.z = 0; emulated_block.z < grid.z; emulated_block.z++)
        for (emulated_block.y = 0; emulated_block.y < grid.y; emulated_block.y++)
            for (emulated_block.x = 0; emulated_block.x < grid.x; emulated_block.x++)
                run_block(threads);
}

/* ---- as work on a stream */
typedef struct launch {
    emulated_index grid, block;
    emulated_work *kernel, *drop;
    void *with;
} launch;

static void launch_now(void *with)
{
    const launch *l = with;
    run_blocks(l->grid, l->block, l->kernel, l->with);
}

static void drop_launch(void *with)
{
    launch *l = with;
    l->drop(l->with);
    free(l);
}

cudaError_t emulated_launch(cudaStream_t stream, emulated_index grid, emulated_index block_size,
                            emulated_work *kernel, void *with, emulated_work *drop)
{
    launch *l = malloc(sizeof *l);
    if (!l) return cudaErrorMemoryAllocation;
    *l = (launch){grid, block_size, kernel, drop, with};
    return emulated_enqueue(stream, launch_now, l, drop_launch);
}
