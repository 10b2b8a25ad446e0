/* progress.h: how far a long task is, on the error stream: one line that overwrites itself where
 * that is a terminal, else a line every ten seconds. */
#ifndef DEMO_PROGRESS_H
#define DEMO_PROGRESS_H
#include <pthread.h>
#include <stddef.h>

struct progress {
    const char *what; /* plural */
    size_t done, total;
    double began, shown;
    int terminal;
    pthread_mutex_t lock;
};

double seconds_now(void);
void progress_begin(struct progress *p, const char *what, size_t total);
void progress_step(struct progress *p); /* one more is done; any thread may say so */
void progress_end(struct progress *p);
#endif
