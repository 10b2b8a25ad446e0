#include "environment.h"

#include <stdio.h>
#include <stdlib.h>

const char *environment_text(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : otherwise;
}

int environment_whole(const char *name, const char *otherwise, size_t least, size_t most,
                      size_t *out)
{
    char *end;
    const char *value = environment_text(name, otherwise);
    const unsigned long long v = strtoull(value, &end, 10);
    *out = (size_t)v;
    if (*end == '\0' && value[0] != '-' && v >= least && v <= most) return 0;
    fprintf(stderr, "%s must be a whole number from %zu to %zu, not \"%s\"\n", name, least, most,
            value);
    return 1;
}

int environment_numbers(const char *name, const char *otherwise, size_t most, double *list,
                        size_t *count)
{
    const char *at = environment_text(name, otherwise);
    for (char *end; *count < most; at = end + 1) {
        list[*count] = strtod(at, &end);
        if (end == at || !(list[(*count)++] > 0.0) || (*end != ',' && *end != '\0')) break;
        if (*end == '\0') return 0;
    }
    fprintf(stderr, "%s must be a list of at most %zu positive numbers, separated by commas\n",
            name, most);
    return 1;
}
