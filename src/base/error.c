/* Error texts (error.h). The file calls the locale functions itself, since modules contain it
 * without os.c. */
#include "base/error.h"
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

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
#if defined(_WIN32)
static void format_in_c_locale(char *out, size_t capacity, const char *format, va_list arguments)
{
    const _locale_t c_locale = _create_locale(LC_ALL, "C");
    out[capacity - 1] = 0; /* which _vsnprintf_l leaves out of a text that is cut off */
    _vsnprintf_l(out, capacity - 1, format, c_locale, arguments); /* NULL: the current locale */
    _free_locale(c_locale);
}
#else
static void format_in_c_locale(char *out, size_t capacity, const char *format, va_list arguments)
{
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0),
                   previous = c_locale ? uselocale(c_locale) : (locale_t)0;
    vsnprintf(out, capacity, format, arguments);
    if (!c_locale) return;
    uselocale(previous);
    freelocale(c_locale);
}
#endif

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
