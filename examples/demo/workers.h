/* workers.h: the threads of the demo. Each thread has its own engine, and makes an estimator for
 * every task. The results of a task do not depend on the number of threads. */
#ifndef DEMO_WORKERS_H
#define DEMO_WORKERS_H
#include <certreg/certreg.h>

#include "../engines/engine.h"

enum { MOST_WORKERS = 64 };

struct workers {
    size_t count;
    struct engine engine[MOST_WORKERS];
};

struct task {
    const char *what; /* its items, plural, for the progress */
    size_t items;
    size_t samples, batch; /* of the estimators */
    certreg_status (*one)(void *user, certreg_estimator *e, size_t item);
    void *user;
};

/* Both print a sentence to the error stream and return 1 if they fail. */
int workers_open(struct workers *w, const char *model, size_t count);
int workers_run(struct workers *w, const struct task *task);
void workers_close(struct workers *w);

/* Seconds that one call of the network takes, measured. */
double workers_call_seconds(struct workers *w);
#endif
