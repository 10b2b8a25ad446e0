/* Statuses with an error text. A failing function of the library ends with `return
 * cr_error_set(error, STATUS, "...", ...)`. */
#ifndef CR_BASE_ERROR_H
#define CR_BASE_ERROR_H
#include "base/platform_checks.h"
#include "certreg/certreg.h"
#include <stddef.h>

#if defined(__MINGW32__) && !defined(__clang__)
#define CR_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#define CR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CR_PRINTF(text, first)
#endif

/* Sets *error to no error: CERTREG_OK, every index -1, empty text. Accepts NULL. */
void cr_error_clear(certreg_error *error);
/* Sets status and text of *error (may be NULL), clears its other fields, and returns the status. */
certreg_status cr_error_set(certreg_error *error, certreg_status status, const char *format, ...)
    CR_PRINTF(3, 4);
#if defined(__clang_analyzer__) /* which sees one file, and not that the status comes back */
#define cr_error_set(error, status, ...) ((cr_error_set)(error, status, __VA_ARGS__), (status))
#endif

/* ---- Reads and writes structs that only grow at the end (see "structs" in certreg.h). */
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
