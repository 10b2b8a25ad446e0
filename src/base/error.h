/* Statuses with an error text. A failing function of the library ends with `return
 * cr_error_set(error, STATUS, "...", ...)`. */
#ifndef CR_BASE_ERROR_H
#define CR_BASE_ERROR_H
#include "base/platform_checks.h"
#include "certreg/certreg.h"

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

#endif
