#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : otherwise;
}

static int whole(const char *name, const char *otherwise, size_t least, size_t most, size_t *out)
{
    char *end;
    const char *value = text(name, otherwise);
    const unsigned long long v = strtoull(value, &end, 10);
    *out = (size_t)v;
    if (*end == '\0' && value[0] != '-' && v >= least && v <= most) return 0;
    fprintf(stderr, "%s must be a whole number from %zu to %zu, not \"%s\"\n", name, least, most, value);
    return 1;
}

static int numbers(const char *name, const char *otherwise, double *list, size_t *count)
{
    const char *at = text(name, otherwise);
    for (char *end; *count < MOST_SIGMAS; at = end + 1) {
        list[*count] = strtod(at, &end);
        if (end == at || !(list[(*count)++] > 0.0) || (*end != ',' && *end != '\0')) break;
        if (*end == '\0') return 0;
    }
    fprintf(stderr, "%s must be a list of at most %d positive numbers, with commas between\n", name, MOST_SIGMAS);
    return 1;
}

int settings_read(struct settings *s)
{
    double attack[MOST_SIGMAS];
    size_t attacks = 0;
    *s = (struct settings){.mnist = text("CERTREG_MNIST", NULL), .cache = text("BENCH_CACHE", NULL)};
    s->model = text("BENCH_MODEL", "examples/models/rotation.onnx");
    s->out = text("BENCH_OUT", "lib");
    s->rows = text("BENCH_ROWS", "12345678");
    if (whole("BENCH_IMAGES", "100", 1, 5000, &s->images) || whole("BENCH_N", "10000", 400, 10000000, &s->samples) ||
        whole("BENCH_LIMIT_N", "40000", 400, 10000000, &s->limit_samples) ||
        whole("BENCH_ATTACK_IMAGES", "50", 1, 5000, &s->attack_images) ||
        numbers("BENCH_SIGMA", "0.06,0.12,0.25,0.35,0.5,0.75", s->sigma, &s->sigmas) ||
        numbers("BENCH_ATTACK_SIGMA", "0.5", attack, &attacks))
        return 1;
    s->attack_sigma = attack[0];
    s->attack_images = s->attack_images < s->images ? s->attack_images : s->images;
    return 0;
}

int settings_wants(const struct settings *s, char row)
{
    return strchr(s->rows, row) != NULL;
}
