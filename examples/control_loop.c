/* Certificates inside a control loop, with static memory, a deadline per tick and an emergency
 * stop. In every tick the policy's output is certified to stay within 0.1 while the state estimate
 * is wrong by less than the radius. The mode flags at the end of the state are not measured, so
 * they have scale 0: they get no noise, and changes to them are not covered.
 * Prints the tick that the emergency stop ended, and the range of the certified radii. */
#include <certreg/sampling.h>
#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

enum { STATE = 16, MEASURED = 12, SAMPLES = 256, TICKS = 500 };
static alignas(64) unsigned char estimator_memory[80 * 1024];
static certreg_estimator *volatile running; /* what the emergency stop cancels */

/* An emergency button's handler calls this: it is safe from any thread and any signal handler. */
static void emergency(void)
{
    if (running) certreg_estimator_cancel(running);
}

/* ---- the stand-in: a policy, and a plant that follows it */
static float act(const float *x)
{
    float u = 0;
    for (int j = 0; j < MEASURED; j += 2) u -= 0.4f * x[j] + 0.25f * x[j + 1];
    return 5 * tanhf(u / 5) * x[MEASURED]; /* the first flag: motors on */
}

static int policy(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = act(b->x + i * STATE);
    return 0;
}

static void plant(float *x, double u)
{
    for (int j = 0; j < MEASURED; j += 2) {
        x[j + 1] += 0.01f * (float)(u / (1 + 0.1 * j));
        x[j] += 0.01f * x[j + 1];
    }
}

/* ---- the loop */
typedef struct summary {
    int ticks, certified;
    double least, greatest; /* certified radii */
} summary;

static certreg_status loop(certreg_estimator *e, summary *all)
{
    double u; /* the command; in the first tick the policy's output without noise */
    certreg_question q = {
        .struct_size = sizeof q, .tolerance = 0.1, .alpha = 1e-3, .prediction = &u};
    certreg_certificate c = {.struct_size = sizeof c};
    float z[STATE] = {1, 0, -0.5f, 0, 0.8f, 0, 0.2f, 0, -0.3f, 0, 0.6f, 0, 1, 0, 0, 0};
    u = (double)act(z);
    for (all->ticks = 0; all->ticks < TICKS; all->ticks++) {
        certreg_estimator_set_deadline(e, 1); /* generous here; a loop at 100 Hz would say 0.008 */
        /* The noise id is the tick: no two ticks have the same noise. */
        certreg_status status = certreg_estimator_begin(e, z, 0.05, (uint64_t)all->ticks);
        if (!status) status = certreg_certify(e, SAMPLES, &q, 1, &c);
        if (status) return status;
        if (c.stop == CERTREG_STOP_CANCELLED) return CERTREG_OK;
        if (c.outcome != CERTREG_OUTCOME_ABSTAINED) {
            all->certified++;
            all->least = fmin(all->least, c.radius);
            all->greatest = fmax(all->greatest, c.radius);
        }
        plant(z, u);
        /* The next tick is certified about this tick's estimate, which is independent of the next
         * tick's noise. If there was no time for a sample, the estimate is the prediction. */
        u = c.estimate;
        if (all->ticks == TICKS - 20) emergency();
    }
    return CERTREG_OK;
}

int main(void)
{
    static float scale[STATE];
    const double lo = -5, hi = 5;
    for (int j = 0; j < MEASURED; j++) scale[j] = 1;
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = policy,
                             .inputs = STATE,
                             .outputs = 1,
                             .batch = 64,
                             .scale = scale,
                             .lo = &lo,
                             .hi = &hi};
    const certreg_plan p = {.struct_size = sizeof p,
                            .seed = 42, /* so that the output repeats; a deployment gives none */
                            .max_samples = SAMPLES,
                            .pilot = SIZE_MAX, /* none: every question has its prediction */
                            /* all that the finite-sample median needs */
                            .constraints = CERTREG_CONSTRAINT_MEAN,
                            .memory = estimator_memory,
                            .memory_bytes = sizeof estimator_memory};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) return puts(why.text), 1;

    running = e;
    summary all = {.least = INFINITY};
    const certreg_status status = loop(e, &all);
    running = NULL;
    if (status) puts(certreg_estimator_error(e)->text);
    else
        printf("stopped after tick %d; %d ticks certified, radii %.4f to %.4f\n", all.ticks,
               all.certified, all.least, all.greatest);

    certreg_estimator_destroy(e);
    return status != CERTREG_OK;
}
