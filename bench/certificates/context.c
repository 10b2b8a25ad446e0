#include "context.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double degrees_between(double a, double b)
{
    return remainder(b - a, full_turn);
}

void show_progress(const struct context *context, const char *what, size_t done, size_t total)
{
    fprintf(stderr, "\r%s: %zu of %zu, %.0f s since the start   %s", what, done, total,
            seconds_now() - context->began, done == total ? "\n" : "");
}

int context_open(struct context *context)
{
    const struct settings *s = &context->set;
    struct engine *e = &context->engine;
    char why[IMAGES_WHY];
    context->began = seconds_now();
    if (images_open(s->mnist, s->images, &context->images, why)) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    const int bad = engine_open(s->model, NULL, e) ||
                    engine_fits(e, s->model, DIGITS_PIXELS, NETWORK_COLUMNS);
    if (e->why[0] != '\0') fprintf(stderr, "%s\n", e->why);
    if (bad) context_close(context);
    return bad;
}

void context_close(struct context *context)
{
    engine_close(&context->engine);
    images_close(&context->images);
}
