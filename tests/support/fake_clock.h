/* Ticks of a control loop on a clock of the test's own. A batch of the model takes so long, and so
 * does every look at the clock; the library looks at it between the steps of its computation. */
#ifndef SUPPORT_TICKS_H
#define SUPPORT_TICKS_H
#include "estimator/estimator.h"
#include "support/api_kit.h"
#include "support/names.h"
#include <certreg/question.h>
#include <certreg/sampling.h>

enum { INPUTS = 4, BATCH = 64, CAPACITY = 8192 };

typedef struct machine {
    double time, look, batch; /* seconds; the last two: what each takes */
    unsigned looks;           /* how many there were */
    unsigned hiccup_at; /* at which the machine stands still for a tenth of a second; 0: at none */
} machine;

static inline double look(void *of)
{
    machine *m = of;
    if (++m->looks == m->hiccup_at) m->time += 0.1;
    return m->time += m->look;
}

/* Nearly linear; two outputs, of which the second is an angle in degrees. */
static inline int model(void *user, const certreg_batch *b)
{
    machine *m = user;
    m->time += m->batch;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * INPUTS, u = 0.5f * x[0] - 0.25f * x[1] + 0.1f * x[2] * x[3];
        b->y[2 * i] = fmaxf(-2, fminf(u, 2));
        b->y[2 * i + 1] = 20 * b->y[2 * i];
    }
    return 0;
}

static inline certreg_estimator *make(machine *m, size_t pilot)
{
    static const int32_t kind[] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE};
    static const double lo[] = {-2, -180}, hi[] = {2, 180};
    certreg_model of = kit_model(model, m, INPUTS, 2);
    certreg_plan plan = kit_plan(CAPACITY);
    of.batch = BATCH, of.kind = kind, of.lo = lo, of.hi = hi;
    plan.seed = 3, plan.pilot = pilot, plan.constraints = CERTREG_CONSTRAINTS_ECGM;
    certreg_estimator *e = kit_create(NULL, &of, &plan);
    e->record.deadline->now = look, e->record.deadline->clock_context = m;
    return e;
}

/* ---- questions */
enum { OUTPUT_BOUNDS = 2 }; /* beside the centers */
static const struct asked {
    int32_t statistic, method, center;
    uint32_t constraints;
    int32_t output;
    double wanted;
    unsigned passes; /* over the samples that the answer takes, at least */
} questions[] = {
    {MEDIAN, FINITE, 0, 0, 0, 0, 8},
    {MEDIAN, FINITE, 0, 13, 0, 0, 8},
    {MEDIAN, ASYMPTOTIC, 0, 15, 0, 0, 12},
    {MEDIAN, ANYTIME, 0, 0, 0, 0, 8},
    {MEDIAN, FINITE, 0, 0, 0, 0.5, 8},
    {MEDIAN, ANYTIME, 0, 0, 0, 0.5, 8},
    {MEDIAN, FINITE, 0, 0, 1, 0, 9},
    {MEDIAN, ASYMPTOTIC, 0, 15, 1, 0, 13},
    {MEDIAN, FINITE, OUTPUT_BOUNDS, 0, 0, 0, 14},
    {HUBER, FINITE, 0, 0, 0, 0, 24},
    {HUBER, FINITE, 0, 15, 0, 0, 24},
    {HUBER, ASYMPTOTIC, 0, 15, 0, 0, 24},
    {HUBER, ANYTIME, 0, 0, 0, 0, 24},
    {HUBER, FINITE, 0, 0, 1, 0, 24},
    {HUBER, FINITE, OUTPUT_BOUNDS, 0, 0, 0, 80},
    {MEAN, FINITE, 0, 0, 0, 0, 13},
    {MEAN, FINITE, 0, 15, 0, 0, 14},
    {MEAN, ASYMPTOTIC, 0, 15, 0, 0, 11},
    {MEAN, ANYTIME, 0, 0, 0, 0, 10},
    {MEAN, FINITE, TRUE_MEAN, 0, 0, 0, 15},
    {MEAN, ASYMPTOTIC, TRUE_MEAN, 15, 0, 0, 6},
    {MEAN, PAPER, TRUE_MEAN, 15, 0, 0, 7},
    {CIRCULAR_MEAN, FINITE, 0, 0, 1, 0, 10},
    {CIRCULAR_MEAN, ASYMPTOTIC, 0, 15, 1, 0, 11},
    {CIRCULAR_MEAN, ANYTIME, 0, 0, 1, 0, 11},
    {MEDIAN, BASELINE, 0, 0, 0, 0, 8},
    {TRIMMED_MEAN, BASELINE, 0, 0, 0, 0, 12},
    {TRIMMED_MEAN, BASELINE, 0, 0, 1, 0, 11},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static int inverse; /* whether the question made last is about output bounds */

static inline certreg_question question(int which, double prediction)
{
    const struct asked *a = questions + which;
    inverse = a->center == OUTPUT_BOUNDS;
    const double unit = a->output ? 20 : 1;
    static const certreg_serving served = {
        .struct_size = sizeof served, .samples = 50, .failure_rate = 0.1, .trim = 0.4};
    certreg_question q = kit_question(0.5 * unit);
    q.output = a->output, q.statistic = a->statistic, q.method = a->method;
    q.center = inverse ? PREDICTION : a->center, q.constraints = a->constraints;
    q.huber_width = a->statistic == HUBER ? 0.25 * unit : 0;
    q.target = a->wanted > 0 ? asks_target(a->wanted) : NULL;
    q.prediction = asks_prediction(prediction);
    q.serving = a->statistic == TRIMMED_MEAN ? &served : NULL;
    return q;
}

static inline certreg_status certify(certreg_estimator *e, size_t samples,
                                     const certreg_question *q, certreg_certificate *c)
{
    return inverse ? certreg_output_bounds(e, samples, q, 1, 0.1, c)
                   : certreg_certify(e, samples, q, 1, c);
}

/* ---- ticks */
enum { LOOKS = 12 }; /* of a batch, of the beginning, and of the end: a generous share of each */

static const float where[INPUTS] = {0.3f, -0.1f, 0.2f, 0.1f};

static inline certreg_certificate tick(certreg_estimator *e, machine *m, double allowed,
                                       const certreg_question *q, uint64_t stream, double *late)
{
    certreg_certificate c = {.struct_size = sizeof c};
    ck_assert_int_eq(certreg_estimator_begin(e, where, 0.2, stream), CERTREG_OK);
    certreg_estimator_set_deadline(e, allowed);
    const double due = m->time + allowed;
    ck_assert_msg(certify(e, CAPACITY, q, &c) == CERTREG_OK, "%s",
                  certreg_estimator_error(e)->text);
    *late = m->time - due;
    return c;
}

#endif
