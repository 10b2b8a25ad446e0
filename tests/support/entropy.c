#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include "support/entropy.h"
#include <string.h>
#include <unistd.h>

int (*kit_entropy)(void *out, size_t bytes);

__attribute__((visibility("default"))) int getentropy(void *out, size_t bytes)
{
    if (kit_entropy) return kit_entropy(out, bytes);
    memset(out, 1, bytes);
    return 0;
}
