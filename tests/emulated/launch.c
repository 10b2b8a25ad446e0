/* Threads of a block as fibers: each runs to its next barrier, then the next one does. A fiber
 * whose thread ended without a barrier goes on with the next thread, so kernels without one need a
 * single fiber. Fibers stay for later blocks, and switch by the compiler's own jumps: swapcontext
 * would make two system calls at each barrier of each thread. */
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
typedef void *place[5]; /* as __builtin_setjmp wants it */

typedef struct fiber {
    place at;
    unsigned thread;
    int made;
} fiber;

emulated_index emulated_thread, emulated_block, emulated_block_size, emulated_grid_size;
static fiber fibers[THREADS], *now;
static char *stacks;
static place scheduler;
/* Of the block; volatile, since they change while a fiber waits, in no call that compilers see. */
static volatile unsigned threads, begun, ended;
static volatile int downwards;
static emulated_work *volatile body;
static void *volatile body_with;

/* The two halves of a jump must not become one function, and a frame to which one comes back must
 * not end by calling another as its last act: hence noreturn. AddressSanitizer takes a jump for the
 * end of frames on the stack that it knows. ThreadSanitizer counts a function that jumps away as a
 * call that never ends, and has room for 65,536. So they must not see these. */
#define SWITCHES __attribute__((noinline, no_sanitize_address, no_sanitize_thread))
#define LEAVES __attribute__((noreturn)) SWITCHES
LEAVES static void jump(place to)
{
    __builtin_longjmp(to, 1);
}

SWITCHES static void stop_at(place here)
{
    if (!__builtin_setjmp(here)) jump(scheduler);
}

void emulated_barrier(void)
{
    stop_at(now->at);
}

static void be_thread(unsigned i)
{
    const emulated_index size = emulated_block_size;
    now->thread = i;
    emulated_thread = (emulated_index){i % size.x, i / size.x % size.y, i / size.x / size.y};
}

SWITCHES static void run_fiber(void)
{
    for (;;) {
        while (begun < threads) {
            be_thread(downwards ? threads - 1 - begun : begun);
            begun++;
            body(body_with);
            ended++;
        }
        stop_at(now->at);
    }
}

LEAVES static void start(fiber *f)
{
    ucontext_t first;
    f->made = 1;
    getcontext(&first);
    first.uc_stack.ss_sp = stacks + (size_t)(f - fibers) * STACK;
    first.uc_stack.ss_size = STACK;
    first.uc_link = NULL;
    makecontext(&first, run_fiber, 0);
    setcontext(&first);
    abort();
}

/* Until its thread is at a barrier, or no thread is left to begin. */
SWITCHES static void resume(fiber *f)
{
    now = f;
    be_thread(f->thread);
    if (__builtin_setjmp(scheduler)) return;
    if (f->made) jump(f->at);
    start(f);
}

/* Every thread up to its next barrier or its end, upwards and downwards in turns: one that reads
 * what another should have written does so too early in one of them. */
static void run_block(unsigned count)
{
    threads = count;
    begun = 0;
    ended = 0;
    downwards = !downwards;
    while (begun < threads) resume(fibers + (begun - ended));
    for (int turned = 1; !ended; turned = !turned)
        for (unsigned i = 0; i < threads; i++) resume(fibers + (turned ? threads - 1 - i : i));
    if (ended != threads) emulated_broken("some threads of a block never came to a barrier");
}

static void make_stacks(void)
{
    stacks = mmap(NULL, (size_t)THREADS * STACK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) abort();
    for (size_t i = 0; i < THREADS; i++)
        (void)VALGRIND_STACK_REGISTER(stacks + i * STACK, stacks + (i + 1) * STACK - 1);
}

void emulated_run_blocks(emulated_index grid, emulated_index size, emulated_work *kernel,
                         void *with)
{
    const unsigned count = size.x * size.y * size.z;
    if (!stacks) make_stacks();
    if (!count || count > THREADS || !grid.x || !grid.y || !grid.z || grid.y > 65535 ||
        grid.z > 65535) {
        emulated_broken("no device launches such a grid");
    }
    emulated_block_size = size, emulated_grid_size = grid;
    body = kernel, body_with = with;
    for (emulated_block.z = 0; emulated_block.z < grid.z; emulated_block.z++)
        for (emulated_block.y = 0; emulated_block.y < grid.y; emulated_block.y++)
            for (emulated_block.x = 0; emulated_block.x < grid.x; emulated_block.x++)
                run_block(count);
}
