/* platform PART [FILE]: prints one part of platform.h. It needs the static library without BLAS,
 * and nothing else, so that it runs under an emulator of another processor.
 * tests/platforms/platforms.sh compares what it prints from platform to platform. */
#include "platforms/platform.h"
#include <certreg/backend.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#endif

int platform_module(const char *path)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *b = NULL;
    const certreg_status status = certreg_backend_open(path, 0, NULL, &why, &b);
    printf("%d %s\n", (int)status, why.text);
    certreg_backend_close(b);
    return status != CERTREG_OK;
}

int main(int argc, char **argv)
{
#if defined(_WIN32) /* "\n" and bytes as they are */
    _setmode(_fileno(stdout), _O_BINARY), _setmode(_fileno(stdin), _O_BINARY);
#endif
    const char *part = argc > 1 ? argv[1] : "";
    if (!strcmp(part, "bits") && argc > 2)
        return platform_bits(argv[2], argc > 3 ? atoi(argv[3]) : 0);
    if (!strcmp(part, "module") && argc > 2) return platform_module(argv[2]);
    if (!strcmp(part, "record")) return platform_record();
    if (!strcmp(part, "values") && argc > 2) return platform_libm_values(atol(argv[2]));
    if (!strcmp(part, "errors") && argc > 2) return platform_libm_errors(atol(argv[2]));
    fprintf(
        stderr,
        "platform bits RECORD [THREADS] | module PATH | record | values COUNT | errors COUNT\n");
    return 2;
}
