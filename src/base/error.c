/* Error texts (error.h). The file calls the locale functions itself, since modules contain it
 * without os.c. */
#include "base/error.h"
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cr_error_clear(certreg_error *error)
{
    if (!error) return;
    memset(error, 0, sizeof *error);
    error->struct_size = (uint32_t)sizeof *error;
    error->sample = error->row = -1;
    error->output = -1;
}

/* Prints in the locale "C", so that numbers have a decimal point in every program. (newlocale does
 * not allocate this locale.) */
static void format_in_c_locale(char *out, size_t capacity, const char *format, va_list arguments)
{
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0),
                   previous = c_locale ? uselocale(c_locale) : (locale_t)0;
    vsnprintf(out, capacity, format, arguments);
    if (!c_locale) return;
    uselocale(previous);
    freelocale(c_locale);
}

certreg_status cr_error_set(certreg_error *error, certreg_status status, const char *format, ...)
{
    if (!error) return status;
    cr_error_clear(error);
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    format_in_c_locale(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}
