/* A CUDA device that is the host in disguise, so that the CUDA module, kernels and all, runs where
 * no device is.
 * - Device memory faults when the host touches it outside of work on a stream, ends at a page that
 * always faults, and has bytes before and after it that cudaFree compares.
 * - Work on a stream runs when somebody waits for it, in the calling thread, and not before: what
 * forgot to wait finds nothing done. A stream may be told to run everything at once instead.
 * - The program ends, with a message, at what goes unnoticed on a device or costs a user's program
 * more than this one: work on a stream that is capturing, and the launch of a kernel that was not
 * loaded before.
 * - Any call can be made to fail; device 1 has little memory, device 2 is a Hopper; a lost device
 * stays lost. */
#ifndef TESTS_EMULATED_H
#define TESTS_EMULATED_H
#include "cuda_runtime_api.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
enum {
    EMULATED_DEVICES = 3,
    EMULATED_LOST = 700,
    EMULATED_HOPPER = 2,
    EMULATED_SMALL = 1,
    EMULATED_SMALL_BYTES = 100000 + (4 << 20) /* which the module takes for cuBLAS */
};

typedef struct emulated_state { /* for tests to read, and to set where so marked */
    int at_once;   /* set: whether streams made from now on run work when it is given to them */
    int fail_at;   /* set: number of the call, from 1, that fails; 0: none */
    int fail_code; /* set: how. 700 and above: the device is lost */
    int calls;     /* set: to count from anew */
    size_t to_device, to_host; /* bytes copied */
    size_t taken, most_taken;  /* bytes */
    int objects;               /* memory, streams, events and cuBLAS handles that are alive */
    int launches;              /* of kernels */
    int waits;                 /* of the host */
    int products;              /* asked of cuBLAS */
    int strays;                /* pieces of memory that were freed with another device current */
    unsigned contexts;         /* bit d: device d has one, which costs memory there */
} emulated_state;
emulated_state *emulated(void);
/* Everything as at first, apart from what is alive. */
void emulated_reset(void);
/* Whether the calls of this thread count, and may fail. Those of a test's model do not. */
void emulated_observe(int on);

typedef void emulated_work(void *with);
/* Every call begins so: it is counted, and may fail. */
cudaError_t emulated_enter(void);
/* Work as a kernel's: it may touch device memory. `with` is given to `drop` (NULL: nothing)
 * afterwards. */
cudaError_t emulated_enqueue(cudaStream_t stream, emulated_work *run, void *with,
                             emulated_work *drop);
/* Whether a stream is capturing a graph. */
void emulated_capture(cudaStream_t stream, int on);
/* A kernel is loaded on the current device, or (launched) was so before. */
cudaError_t emulated_load(void (*kernel)(void), int launched);
/* An access to an address that is no memory. */
void emulated_crash(cudaStream_t stream);

typedef struct emulated_index {
    unsigned x, y, z;
} emulated_index;
extern emulated_index emulated_thread, emulated_block, emulated_block_size, emulated_grid_size;
cudaError_t emulated_launch(cudaStream_t stream, emulated_index grid, emulated_index block,
                            emulated_work *kernel, void *with, emulated_work *drop);
/* The blocks of a launch, one after the other. */
void emulated_run_blocks(emulated_index grid, emulated_index block, emulated_work *kernel,
                         void *with);
void emulated_barrier(void);
/* The device that the calling thread works on. */
int emulated_current(void);
/* Ends the program: what no device would take. */
void emulated_broken(const char *what);
#ifdef __cplusplus
}
#endif
#endif
