#if !defined(_DEFAULT_SOURCE) && !defined(_GNU_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include "base/random.h"
#include <unistd.h>

int cr_random64(uint64_t *out)
{
    *out = 0;
    while (!*out)
        if (getentropy(out, sizeof *out)) return -1;
    return 0;
}
