/* Reads and writes structs that only grow at the end (see "structs" in certreg.h). */
#ifndef CR_BASE_STRUCT_VERSIONING_H
#define CR_BASE_STRUCT_VERSIONING_H
#include "base/error.h"
#include <stddef.h>

#define CR_STRUCT_LARGEST 65536u /* a larger size was never initialized: no struct grows so far */

/* Copies the caller's struct into ours (`known` bytes). INVALID if it is shorter than `oldest`, its
 * size in the first release, or its size is no multiple of 8; VERSION if a byte beyond `known` is
 * not zero. The error text contains `name`. */
certreg_status cr_struct_read(void *ours, size_t known, size_t oldest, const void *theirs,
                              const char *name, certreg_error *why);
/* Copies element `index` of a caller's array. The first element's struct_size, which has been
 * checked, is the distance of elements; further elements need not set theirs. Ours gets the size of
 * this version. VERSION as above. */
certreg_status cr_struct_element(void *ours, size_t known, const void *array, size_t index,
                                 const char *name, certreg_error *why);
/* Copies min(known, size) bytes of ours into a caller's struct of `size` bytes, zeroes its further
 * bytes and sets its struct_size. */
void cr_struct_write(void *theirs, uint32_t size, const void *ours, size_t known);
/* Writes the output of a refused call, `nothing`, if the size of the caller's struct is valid. */
void cr_struct_write_empty(void *theirs, size_t oldest, const void *nothing, size_t known);
/* Refuses a caller's struct if its size is below `oldest` or no multiple of 8. */
certreg_status cr_struct_check(const void *theirs, size_t oldest, const char *name,
                               certreg_error *why);
/* Refuses a field with bits that are no constraint. */
certreg_status cr_constraints_check(uint32_t constraints, const char *field, certreg_error *why);
/* Copies an internal error into a caller's struct, up to its struct_size. Ignores NULL and a struct
 * without a size. */
void cr_error_copy_out(certreg_error *theirs, const certreg_error *ours);

#endif
