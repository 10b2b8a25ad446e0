/* Errors, and structs that only grow at the end. Modules contain this file too. */
#include "base/error.h"
#include "base/struct_sizes.h"
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ======== Error texts (error.h). The file calls the locale functions itself, since modules
 * contain it without os.c. */
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

#undef cr_error_set /* that of the analyzer */
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

/* ======== Structs of callers (error.h): reading, writing and checking them byte by
 * byte, since a caller's struct may be shorter or longer than this version's. */
/* A larger size was never initialized: no struct grows so far. */
#define CR_STRUCT_MAX_SIZE 65536u

certreg_status cr_struct_check(const void *input, size_t min_size, const char *name,
                               certreg_error *why)
{
    if (!input) return cr_error_set(why, CERTREG_E_INVALID, "%s is NULL", name);
    uint32_t size;
    memcpy(&size, input, sizeof size);
    if (size < min_size || size % 8 != 0 || size > CR_STRUCT_MAX_SIZE)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "%s.struct_size is %u; set it to sizeof the struct (%zu)", name, size,
                            min_size);
    return CERTREG_OK;
}

certreg_status cr_struct_read(void *copy, size_t copy_size, size_t min_size, const void *input,
                              const char *name, certreg_error *why)
{
    certreg_status status = cr_struct_check(input, min_size, name, why);
    if (status) return status;
    uint32_t size;
    memcpy(&size, input, sizeof size);
    for (size_t i = copy_size; i < size; i++)
        if (((const unsigned char *)input)[i])
            return cr_error_set(
                why, CERTREG_E_VERSION,
                "%s sets a field that this version of the library does not know (byte "
                "%zu): leave it zero, or use a newer library",
                name, i);
    memset(copy, 0, copy_size);
    memcpy(copy, input, size < copy_size ? size : copy_size);
    return CERTREG_OK;
}

certreg_status cr_struct_element(void *copy, size_t copy_size, const void *array, size_t index,
                                 const char *name, certreg_error *why)
{
    uint32_t stride, size = (uint32_t)copy_size;
    memcpy(&stride, array, sizeof stride);
    const unsigned char *element = (const unsigned char *)array + index * stride;
    for (size_t i = copy_size; i < stride; i++)
        if (element[i])
            return cr_error_set(
                why, CERTREG_E_VERSION,
                "%s[%zu] sets a field that this version of the library does not know: "
                "leave it zero, or use a newer library",
                name, index);
    memset(copy, 0, copy_size);
    memcpy(copy, element, stride < copy_size ? stride : copy_size);
    memcpy(copy, &size, sizeof size);
    return CERTREG_OK;
}

void cr_struct_write(void *output, uint32_t output_size, const void *source, size_t source_size)
{
    if (output_size < sizeof output_size) return;
    memcpy(output, source, output_size < source_size ? output_size : source_size);
    if (output_size > source_size)
        memset((unsigned char *)output + source_size, 0, output_size - source_size);
    memcpy(output, &output_size, sizeof output_size);
}

void cr_struct_write_empty(void *output, size_t min_size, const void *empty, size_t empty_size)
{
    uint32_t size;
    if (cr_struct_check(output, min_size, "out", NULL)) return;
    memcpy(&size, output, sizeof size);
    cr_struct_write(output, size, empty, empty_size);
}

certreg_status cr_constraints_check(uint32_t constraints, const char *field, certreg_error *why)
{
    const uint32_t unknown = constraints & ~CR_CONSTRAINTS_ALL;
    if (unknown)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "%s has unknown bits 0x%x; give CERTREG_CONSTRAINT_... or 0", field,
                            unknown);
    return CERTREG_OK;
}

void cr_error_copy_out(certreg_error *output, const certreg_error *error)
{
    if (output && output->struct_size <= CR_STRUCT_MAX_SIZE)
        cr_struct_write(output, output->struct_size, error, sizeof *error);
}
