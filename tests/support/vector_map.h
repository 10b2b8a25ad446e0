/* A linear map of four inputs to up to seven outputs, some of which may fail, and questions about
 * them as one vector. */
#ifndef SUPPORT_VECTOR_MAP_H
#define SUPPORT_VECTOR_MAP_H
#include "support/api_kit.h"

enum { INPUTS = 4, MOST = 7, SAMPLES = 2000 };
static const float where[INPUTS] = {0.2f, -0.1f, 0.4f, 0};

typedef struct map {
    double weight[MOST][INPUTS];
    size_t fail_each, first; /* output 0 of each such sample fails, of all at 1; the first output
                                that is asked */
    size_t calls;
} map;

static const map plain = {.weight = {{1, 0.2, 0, 0},
                                     {0, 0.7, -0.3, 0},
                                     {0.4, 0, 0.8, 0},
                                     {0, -0.5, 0.5, 0.5},
                                     {0.1, 0.1, 0.1, 0.1},
                                     {0.9, 0, 0, -0.4},
                                     {0, 0, 1.5, 0}}};

/* The plain one, whose calls need not be told from those of others. */
static inline map *usual(void)
{
    static map shown;
    shown = plain;
    return &shown;
}

static inline int evaluate(void *user, const certreg_batch *b)
{
    map *m = user;
    m->calls++;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            double sum = 0;
            for (size_t j = 0; j < INPUTS; j++)
                sum += m->weight[m->first + k][j] * (double)b->x[i * INPUTS + j];
            const int fails = m->fail_each && k == 0 &&
                              (b->first + i) % m->fail_each == (m->fail_each > 1);
            b->y[i * b->columns + k] = fails ? NAN : (float)fmax(-3, fmin(sum, 3));
        }
    return 0;
}

static const double lo[MOST] = {-3, -3, -3, -3, -3, -3, -3}, hi[MOST] = {3, 3, 3, 3, 3, 3, 3};

static inline certreg_estimator *make(map *m, size_t outputs, size_t pilot, uint32_t flags)
{
    certreg_model model = kit_model(evaluate, m, INPUTS, outputs);
    model.lo = lo, model.hi = hi;
    certreg_plan p = kit_plan(SAMPLES);
    p.pilot = pilot, p.flags = flags;
    certreg_estimator *e = kit_create(NULL, &model, &p);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 3));
    return e;
}

static inline certreg_question vector_of(int32_t statistic, double tolerance)
{
    certreg_question q = kit_question(tolerance);
    q.output = CERTREG_ALL_OUTPUTS, q.statistic = statistic;
    return q;
}

static const int32_t statistics[] = {CERTREG_STATISTIC_MEDIAN, CERTREG_STATISTIC_PROJECTION_MEDIAN,
                                     CERTREG_STATISTIC_MEAN, CERTREG_STATISTIC_HUBER};
enum { STATISTICS = sizeof statistics / sizeof *statistics };

static inline certreg_question nth(int index, double tolerance)
{
    certreg_question q = vector_of(statistics[index], tolerance);
    if (q.statistic == CERTREG_STATISTIC_HUBER) q.huber_width = 0.2;
    return q;
}

#endif
