/* Statuses with an error text. Every failing function of the library ends in `return cr_fail(error,
 * STATUS, "...", ...)`. */
#ifndef CR_BASE_ERROR_H
#define CR_BASE_ERROR_H
#include "base/platform.h"
#include "certreg/certreg.h"

#if defined(__GNUC__)
#define CR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CR_PRINTF(text, first)
#endif

/* No error: CERTREG_OK, every index -1, empty text. */
void cr_error_clear(certreg_error *error);
/* Writes status and text into *error (may be NULL), other fields cleared, and returns the
 * status. */
certreg_status cr_fail(certreg_error *error, certreg_status status, const char *format, ...)
    CR_PRINTF(3, 4);

#endif
