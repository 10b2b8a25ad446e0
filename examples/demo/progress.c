#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double terminal_pause = 0.2, other_pause = 10.0;

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_begin(struct progress *p, const char *what, size_t total)
{
    const double now = seconds_now();
    *p = (struct progress){
        .what = what, .total = total, .began = now, .shown = now, .terminal = isatty(2)};
    pthread_mutex_init(&p->lock, NULL);
}

static void show(struct progress *p, double now)
{
    const double spent = now - p->began, left = (double)(p->total - p->done);
    p->shown = now;
    fprintf(stderr, "%s%zu of %zu %s, %.0f s, about %.0f s to go%s", p->terminal ? "\r" : "",
            p->done, p->total, p->what, spent, spent / (double)p->done * left,
            p->terminal ? "   " : "\n");
}

void progress_step(struct progress *p)
{
    pthread_mutex_lock(&p->lock);
    const double now = seconds_now();
    p->done++;
    if (now - p->shown >= (p->terminal ? terminal_pause : other_pause)) show(p, now);
    pthread_mutex_unlock(&p->lock);
}

/* Clears the line on a terminal, before other output. */
void progress_end(struct progress *p)
{
    if (p->terminal) fprintf(stderr, "\r\033[K");
    pthread_mutex_destroy(&p->lock);
}
