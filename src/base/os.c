#if !defined(_DEFAULT_SOURCE) && !defined(_GNU_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "base/os.h"
#include <time.h>
#include <unistd.h>

double cr_os_now(void *unused)
{
    struct timespec t;
    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int cr_os_random64(uint64_t *out)
{
    *out = 0;
    while (!*out)
        if (getentropy(out, sizeof *out)) return -1;
    return 0;
}
