#include "base/error.h"
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

certreg_status cr_fail(certreg_error *error, certreg_status status, const char *format, ...)
{
    if (!error) return status;
    cr_error_clear(error);
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}
