/* Reading and writing structs that only grow at the end (see "structs" in certreg.h). */
#ifndef CR_BASE_STRUCTS_H
#define CR_BASE_STRUCTS_H
#include "base/error.h"
#include <stddef.h>

#define CR_STRUCT_LARGEST \
    65536u /* no struct grows so far: a size beyond is memory that was never set */

/* Copies the caller's struct into ours (`known` bytes). `oldest` is the size in the first release:
 * anything shorter is INVALID, and so is a length that is not a multiple of 8; bytes beyond `known`
 * must be zero, else VERSION. `name` is for the text of the error. */
certreg_status cr_struct_read(void *ours, size_t known, size_t oldest, const void *theirs,
                              const char *name, certreg_error *why);
/* Element `index` of a caller's array, whose step is the struct_size of its first element; the
 * others need not carry one. The size has been checked. Ours gets its own size. VERSION as
 * above. */
certreg_status cr_struct_element(void *ours, size_t known, const void *array, size_t index,
                                 const char *name, certreg_error *why);
/* Writes min(known, size) bytes of ours into a caller's struct of `size` bytes, zeroes the rest of
 * it and stamps its struct_size. */
void cr_struct_write(void *theirs, uint32_t size, const void *ours, size_t known);
/* What a refused call hands out: `nothing`, where the size of the caller's struct is valid. */
void cr_struct_refuse(void *theirs, size_t oldest, const void *nothing, size_t known);
/* Whether a caller's output struct has a size that can be written: at least `oldest`, a multiple
 * of 8. */
certreg_status cr_struct_check(const void *theirs, size_t oldest, const char *name,
                               certreg_error *why);
/* Whether a field names a set of constraints, or is 0. */
certreg_status cr_constraints_check(uint32_t constraints, const char *field, certreg_error *why);
/* Copies an internal error into a caller's struct, never beyond its struct_size. A NULL or unsized
 * target is ignored. */
void cr_error_give(certreg_error *theirs, const certreg_error *ours);

#endif
