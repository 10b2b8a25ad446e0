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
    context->began = seconds_now();
    if (images_open(s->mnist, s->images, &context->images, context->why)) {
        fprintf(stderr, "%s\n", context->why);
        return 1;
    }
    const int bad =
        engine_open(s->model, DIGITS_PIXELS, NETWORK_COLUMNS, &context->engine, context->why);
    if (context->why[0] != '\0') fprintf(stderr, "%s\n", context->why);
    if (bad) images_close(&context->images);
    return bad;
}

void context_close(struct context *context)
{
    context->engine.close(context->engine.self);
    images_close(&context->images);
}
