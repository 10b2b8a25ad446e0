/* Memory of small opaque handles: the caller's, or one block from malloc. */
#ifndef CR_BASE_HANDLE_H
#define CR_BASE_HANDLE_H
#include "certreg/certreg.h"

/* Zeroed memory for `need` bytes. With caller's memory: INVALID if it is not 64-byte aligned,
 * SMALL_MEMORY if it is too small. */
certreg_status cr_handle_take(void *memory, size_t bytes, size_t need, int *owned, void **out);
void cr_handle_release(void *memory);

#endif
