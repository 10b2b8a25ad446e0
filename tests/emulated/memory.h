/* Memory of the emulated device. It faults when the host touches it, ends at a page that always
 * faults, and has bytes before and after it that giving it back compares. One caller at a time. */
#ifndef TESTS_EMULATED_MEMORY_H
#define TESTS_EMULATED_MEMORY_H
#include "cuda_runtime_api.h"
#include <stddef.h>

/* For work on a stream (1), and after it (0); such work may nest. */
void emulated_open_memory(int open);
/* Takes memory of the current device. */
cudaError_t emulated_take(void **out, size_t bytes);
void emulated_give_back(void *memory);
/* Whose it is; -1: memory of no device. */
int emulated_device_of(const void *memory);

#endif
