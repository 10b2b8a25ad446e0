/* Memory of opaque handles: the plan's, or one block from malloc. */
#ifndef CR_BASE_HANDLE_H
#define CR_BASE_HANDLE_H
#include "base/error.h"

/* Zeroed memory for `need` bytes: a plan's, or allocated (*owned). INVALID if the plan's is not
 * 64-byte aligned, SMALL_MEMORY if it is too small. */
certreg_status cr_handle_take(void *memory, size_t bytes, size_t need, int32_t *owned, void **out,
                              certreg_error *why);
void cr_handle_release(void *memory);

#endif
