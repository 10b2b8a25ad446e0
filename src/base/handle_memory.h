/* Memory of opaque handles: the plan's memory, or one allocated block. */
#ifndef CR_BASE_HANDLE_MEMORY_H
#define CR_BASE_HANDLE_MEMORY_H
#include "base/error.h"

/* Sets *out to `required` zeroed bytes: the plan's memory of `bytes` bytes, or an allocated block
 * if that is NULL (*owned is 1). INVALID if the plan's memory is not aligned to 64 bytes,
 * SMALL_MEMORY if it is too small. Every handle begins here, so that none is made with a libm
 * that cr_libm_check refuses. */
certreg_status cr_handle_alloc(void *memory, size_t bytes, size_t required, int32_t *owned,
                               void **out, certreg_error *why);
/* Releases an allocated block. */
void cr_handle_release(void *memory);

#endif
