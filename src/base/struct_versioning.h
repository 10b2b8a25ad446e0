/* Reads and writes structs that only grow at the end (see "structs" in certreg.h). */
#ifndef CR_BASE_STRUCT_VERSIONING_H
#define CR_BASE_STRUCT_VERSIONING_H
#include "base/error.h"
#include <stddef.h>

/* A larger size was never initialized: no struct grows so far. */
#define CR_STRUCT_MAX_SIZE 65536u

/* Copies the caller's struct into `copy`, of `copy_size` bytes. INVALID if it is shorter than
 * `min_size`, its size in the first release, or its size is no multiple of 8; VERSION if a byte
 * beyond `copy_size` is not zero. The error text contains `name`. */
certreg_status cr_struct_read(void *copy, size_t copy_size, size_t min_size, const void *input,
                              const char *name, certreg_error *why);
/* Copies element `index` of a caller's array. The first element's struct_size, which has been
 * checked, is the distance of elements; further elements need not set theirs. The copy gets the
 * size of this version. VERSION as above. */
certreg_status cr_struct_element(void *copy, size_t copy_size, const void *array, size_t index,
                                 const char *name, certreg_error *why);
/* Copies min(source_size, output_size) bytes into a caller's struct of `output_size` bytes, zeroes
 * its further bytes and sets its struct_size. */
void cr_struct_write(void *output, uint32_t output_size, const void *source, size_t source_size);
/* Writes the output of a refused call, `empty`, if the size of the caller's struct is valid. */
void cr_struct_write_empty(void *output, size_t min_size, const void *empty, size_t empty_size);
/* Refuses a caller's struct if its size is below `min_size` or no multiple of 8. */
certreg_status cr_struct_check(const void *input, size_t min_size, const char *name,
                               certreg_error *why);
/* Refuses a field with bits that are no constraint. */
certreg_status cr_constraints_check(uint32_t constraints, const char *field, certreg_error *why);
/* Copies an internal error into a caller's struct, up to its struct_size. Ignores NULL and a struct
 * without a size. */
void cr_error_copy_out(certreg_error *output, const certreg_error *error);

#endif
