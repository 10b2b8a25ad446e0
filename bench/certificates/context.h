/* context.h: what all rows of the benchmark share: settings, turned digits, the network. */
#ifndef BENCH_CONTEXT_H
#define BENCH_CONTEXT_H
#include <stddef.h>

#include "../../examples/demo/images.h"
#include "../../examples/engines/engine.h"
#include "settings.h"

enum { NETWORK_COLUMNS = 2 };
static const double bench_tolerance = 10.0, bench_alpha = 0.1, full_turn = 360.0;

struct context {
    struct settings set;
    struct images images;
    struct engine engine;
    double began;
    size_t calls; /* of the network, in this run of the program */
};

/* Returns 0, or 1 after a sentence on the error stream; so do all functions below it that can fail,
 * here and in the other headers. */
int context_open(struct context *context);
void context_close(struct context *context);
double seconds_now(void);
void show_progress(const struct context *context, const char *what, size_t done, size_t total);

/* Degrees from a to b, in [-180, 180]. */
double degrees_between(double a, double b);
#endif
