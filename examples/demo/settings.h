/* settings.h: what environment variables say (demo.c lists them), and how large the run is. */
#ifndef DEMO_SETTINGS_H
#define DEMO_SETTINGS_H
#include <stddef.h>

enum { MOST_SIGMAS = 16 };

struct settings {
    const char *mnist, *model, *folder;
    size_t images, samples, threads;
    size_t sigmas;
    double sigma[MOST_SIGMAS];
};

int settings_read(struct settings *s); /* 1, after a sentence, if a value is not valid */
/* One line: the protocol of this run, the full one, and the time that the full one takes here. */
void settings_print(const struct settings *s, double call_seconds);
#endif
