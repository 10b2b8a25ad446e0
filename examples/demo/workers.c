#include "workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "digits.h"
#include "progress.h"

enum { SEED = 42 };   /* fixed, so that the demo can be repeated */
enum { COLUMNS = 2 }; /* of the network: (cos, sin) */

struct run {
    const struct task *task;
    struct progress progress;
    atomic_size_t next;
    atomic_int failed;
    char why[2 * ENGINE_WHY];
};

struct thread {
    struct run *run;
    struct engine *engine;
    pthread_t id;
};

int workers_open(struct workers *w, const char *model, size_t count)
{
    for (w->count = 0; w->count < count; w->count++) {
        struct engine *e = &w->engine[w->count];
        int bad = engine_open(model, NULL, e);
        if (!bad && (bad = engine_fits(e, model, DIGITS_PIXELS, COLUMNS))) engine_close(e);
        if (w->count == 0 && e->why[0] != '\0') fprintf(stderr, "%s\n", e->why);
        if (bad && w->count > 0) fprintf(stderr, "an engine for each thread: %s\n", e->why);
        if (bad) return 1;
    }
    return 0;
}

void workers_close(struct workers *w)
{
    while (w->count > 0) engine_close(&w->engine[--w->count]);
}

/* The network writes (cos, sin) straight into y. */
static int open_estimator(struct engine *engine, const struct task *task, certreg_error *why,
                          certreg_estimator **e)
{
    const int32_t kind = CERTREG_OUTPUT_ANGLE_PAIR;
    const double lo = -180.0, hi = 180.0;
    certreg_model model = {.struct_size = sizeof model, .kind = &kind, .lo = &lo, .hi = &hi};
    const certreg_plan plan = {.struct_size = sizeof plan,
                               .constraints = CERTREG_CONSTRAINTS_ECGM,
                               .seed = SEED,
                               .max_samples = task->samples};
    engine_model(engine, &model);
    model.outputs = 1; /* of two columns */
    if (model.batch == 0) model.batch = task->batch;
    return certreg_estimator_create(NULL, &model, &plan, why, e) != CERTREG_OK;
}

/* The first thread that fails says why. */
static void fail(struct run *run, const struct engine *e, const certreg_error *why)
{
    const int network = why->status == CERTREG_E_MODEL_FAILED;
    if (atomic_exchange(&run->failed, 1)) return;
    snprintf(run->why, sizeof run->why, "%s%s%s", why->text, network ? ": " : "",
             network ? e->why : "");
}

static void *work(void *argument)
{
    const struct thread *t = argument;
    struct run *run = t->run;
    const struct task *task = run->task;
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    size_t item;
    if (open_estimator(t->engine, task, &why, &e)) fail(run, t->engine, &why);
    while (!atomic_load(&run->failed) && (item = atomic_fetch_add(&run->next, 1)) < task->items) {
        if (task->one(task->user, e, item)) fail(run, t->engine, certreg_estimator_error(e));
        else progress_step(&run->progress);
    }
    certreg_estimator_destroy(e);
    return NULL;
}

/* The first worker is the calling thread. If a thread cannot be started, fewer are used. */
int workers_run(struct workers *w, const struct task *task)
{
    struct run run = {.task = task};
    struct thread thread[MOST_WORKERS];
    size_t started = 1;
    progress_begin(&run.progress, task->what, task->items);
    for (size_t i = 0; i < w->count; i++) thread[i] = (struct thread){&run, &w->engine[i], 0};
    while (started < w->count && started < task->items &&
           pthread_create(&thread[started].id, NULL, work, &thread[started]) == 0)
        started++;
    work(&thread[0]);
    while (--started > 0) pthread_join(thread[started].id, NULL);
    progress_end(&run.progress);
    if (run.failed) fprintf(stderr, "%s\n", run.why);
    return run.failed;
}

double workers_call_seconds(struct workers *w)
{
    enum { ROWS = 256, ROUNDS = 3 };
    static float x[ROWS * DIGITS_PIXELS], y[ROWS * COLUMNS];
    double least = 0.0;
    for (int i = 0; i < ROUNDS; i++) {
        const double began = seconds_now();
        engine_run(&w->engine[0], x, y, ROWS);
        const double took = (seconds_now() - began) / ROWS;
        least = i == 0 || took < least ? took : least;
    }
    return least;
}
