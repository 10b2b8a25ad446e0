#define _GNU_SOURCE
#include "memory.h"
#include "emulated.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ALIGN = 256, EDGE = 0xA5, FRESH = 0x55 };

typedef struct block {
    struct block *next;
    unsigned char *map, *memory;
    size_t mapped, bytes;
    int device;
} block;

static block *blocks;
static int running; /* pieces of work that have opened the memory */

void emulated_open_memory(int open)
{
    if (open ? running++ : --running) return;
    for (block *b = blocks; b; b = b->next)
        mprotect(b->map, b->mapped - PAGE, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

cudaError_t emulated_take(void **out, size_t bytes)
{
    emulated_state *state = emulated();
    const size_t held = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (bytes > (size_t)1 << 40) return cudaErrorMemoryAllocation;
    if (emulated_current() == EMULATED_SMALL && state->taken + bytes > EMULATED_SMALL_BYTES)
        return cudaErrorMemoryAllocation;
    block *b = calloc(1, sizeof *b);
    if (!b) return cudaErrorMemoryAllocation;
    b->mapped = (held + PAGE - 1) / PAGE * PAGE + PAGE;
    b->map = mmap(NULL, b->mapped, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->map == MAP_FAILED) return free(b), cudaErrorMemoryAllocation;
    b->memory = b->map + b->mapped - PAGE - held;
    b->bytes = bytes, b->device = emulated_current();
    state->contexts |= 1u << emulated_current();
    b->next = blocks, blocks = b;
    memset(b->map, EDGE, b->mapped - PAGE);
    memset(b->memory, FRESH, bytes);
    mprotect(b->map + b->mapped - PAGE, PAGE, PROT_NONE);
    if (!running) mprotect(b->map, b->mapped - PAGE, PROT_NONE);
    state->taken += bytes, state->objects++;
    state->most_taken = state->taken > state->most_taken ? state->taken : state->most_taken;
    *out = b->memory;
    return cudaSuccess;
}

static void check_edges(const block *b)
{
    for (const unsigned char *p = b->map; p < b->memory; p++)
        if (*p != EDGE) emulated_broken("something was written before a piece of memory");
    for (const unsigned char *p = b->memory + b->bytes; p < b->map + b->mapped - PAGE; p++)
        if (*p != EDGE) emulated_broken("something was written behind a piece of memory");
}

int emulated_device_of(const void *memory)
{
    const unsigned char *p = memory;
    for (const block *b = blocks; b; b = b->next)
        if (p >= b->memory && p < b->memory + b->bytes) return b->device;
    return -1;
}

void emulated_give_back(void *memory)
{
    block **at = &blocks;
    while (*at && (*at)->memory != memory) at = &(*at)->next;
    block *b = *at;
    if (!b) emulated_broken("cudaFree of a part of what cudaMalloc gave");
    mprotect(b->map, b->mapped - PAGE, PROT_READ);
    check_edges(b);
    *at = b->next;
    emulated()->taken -= b->bytes, emulated()->objects--;
    munmap(b->map, b->mapped);
    free(b);
}
