/* A certificate must not depend on the unit of the outputs: half-spaces and lines in units from
 * the least to the greatest that float carries, the true radius known. */
#include "support/api_kit.h"

enum { INPUTS = 5, SAMPLES = 10000 };

static const double units[] = {1e-36, 1e-20, 1e-3, 1, 1e6, 1e30, 5e36, 1e37, 3e37, 1e38};

typedef struct shape {
    double unit;
    int step; /* sign(x0) * unit, else x0 * unit / 8 */
} shape;

static int evaluate(void *user, const certreg_batch *b)
{
    const shape *s = user;
    for (size_t i = 0; i < b->rows; i++) {
        const double x = (double)b->x[i * INPUTS];
        b->y[i] = (float)(s->unit * (s->step ? (x > 0 ? 1 : -1) : x / 8));
    }
    return 0;
}

static double radius_of(const shape *s, certreg_question q)
{
    static const float z[INPUTS];
    const double lo = -1.0001 * s->unit, hi = 1.0001 * s->unit;
    certreg_model m = kit_model(evaluate, (void *)s, INPUTS, 1);
    m.batch = 1000, m.lo = &lo, m.hi = &hi;
    certreg_plan p = kit_plan(SAMPLES);
    p.seed = 5;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, z, 1, 0));
    q.struct_size = sizeof q, q.method = CERTREG_METHOD_ASYMPTOTIC;
    return kit_ask(e, SAMPLES, q).radius;
}

/* The mean of a step moves by half its height at .6745: that of a line by unit/16 at one half. */
TEST_ROWS(units_do_not_change_the_mean_radius, units)
{
    for (int step = 0; step < 2; step++)
        for (int constraints = 0; constraints < 2; constraints++) {
            const shape s = {units[_i], step}, one = {1, step};
            certreg_question q = {.statistic = CERTREG_STATISTIC_MEAN,
                                  .center = CERTREG_CENTER_TRUE_MEAN,
                                  .constraints = constraints ? CERTREG_CONSTRAINTS_CG
                                                             : CERTREG_CONSTRAINTS_ECGM};
            q.tolerance = s.unit * (step ? 0.5 : 1.0 / 16);
            const double radius = radius_of(&s, q);
            q.tolerance = step ? 0.5 : 1.0 / 16;
            const double expected = radius_of(&one, q), truth = step ? 0.6744897501960817 : 0.5;
            ck_assert_double_gt(expected, 0.6 * truth);
            ck_assert_double_lt(radius, truth);
            ck_assert_double_eq_tol(radius, expected, 1e-5 * expected);
        }
}

TEST_ROWS(units_do_not_change_the_huber_radius, units)
{
    const shape s = {units[_i], 0}, one = {1, 0};
    certreg_question q = {
        .statistic = CERTREG_STATISTIC_HUBER, .tolerance = s.unit / 16, .huber_width = s.unit / 8};
    const double radius = radius_of(&s, q);
    q.tolerance = 1.0 / 16, q.huber_width = 1.0 / 8;
    const double expected = radius_of(&one, q);
    ck_assert_double_lt(radius, 0.5);
    ck_assert_double_gt(expected, 0.3);
    ck_assert_double_eq_tol(radius, expected, 1e-5);
}

TEST_ROWS(units_of_the_widest_huber_score_are_never_certified_too_far, units)
{
    const shape s = {units[_i], 0};
    const certreg_question q = {.statistic = CERTREG_STATISTIC_HUBER,
                                .tolerance = s.unit / 16,
                                .huber_width = s.unit * 1e6 / 16};
    ck_assert_double_lt(radius_of(&s, q), 0.5);
}

KIT_MAIN("units of outputs")
