/* settings.h: the settings of the benchmark, from environment variables that main.c lists. */
#ifndef BENCH_SETTINGS_H
#define BENCH_SETTINGS_H
#include <stddef.h>

enum { MOST_SIGMAS = 16 };

struct settings {
    const char *mnist, *model, *cache, *out; /* mnist, cache: NULL if not set */
    const char *rows;                        /* digits of the rows to compute */
    size_t images, samples, limit_samples;
    size_t sigmas;
    double sigma[MOST_SIGMAS];
    size_t attack_images;
    double attack_sigma;
};

int settings_read(struct settings *s); /* 0, or 1 after a sentence on the error stream */
int settings_has_row(const struct settings *s, char row);
#endif
