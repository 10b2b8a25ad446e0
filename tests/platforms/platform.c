/* platform PART [FILE]: prints one part of platform.h. It needs the static library without BLAS,
 * and nothing else, so that it runs under an emulator of another processor.
 * tests/platforms/platforms.sh compares what it prints from platform to platform. */
#include "platforms/platform.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    if (!strcmp(part, "bits") && argc > 2) return platform_bits(argv[2]);
    if (!strcmp(part, "record")) return platform_record();
    if (!strcmp(part, "values") && argc > 2) return platform_libm_values(atol(argv[2]));
    if (!strcmp(part, "errors") && argc > 2) return platform_libm_errors(atol(argv[2]));
    fprintf(stderr, "platform bits RECORD | record | values COUNT | errors COUNT\n");
    return 2;
}
