/* A certificate must not depend on the unit of the outputs: half-spaces and lines in units from
 * the least to the greatest that float carries, the true radius known. */
#include "support/suite.h"
#include <certreg/certreg.h>

enum { INPUTS = 5, SAMPLES = 10000 };

static const double units[] = {1e-36, 1e-20, 1e-3, 1, 1e6, 1e30, 5e36, 1e37, 3e37, 1e38};
enum { UNITS = sizeof units / sizeof *units };

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

static certreg_certificate ask(const shape *s, certreg_question q)
{
    const double lo = -1.0001 * s->unit, hi = 1.0001 * s->unit;
    const float z[INPUTS] = {0};
    certreg_model model = {.struct_size = sizeof model,
                           .eval = evaluate,
                           .user = (void *)s,
                           .inputs = INPUTS,
                           .outputs = 1,
                           .batch = 1000,
                           .lo = &lo,
                           .hi = &hi};
    certreg_plan plan = {.struct_size = sizeof plan,
                         .constraints = CERTREG_CONSTRAINTS_ECGM,
                         .max_samples = SAMPLES,
                         .seed = 5};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_estimator *e = NULL;
    ck_assert_int_eq(certreg_estimator_create(NULL, &model, &plan, NULL, &e), CERTREG_OK);
    ck_assert_int_eq(certreg_estimator_begin(e, z, 1, 0), CERTREG_OK);
    q.struct_size = sizeof q;
    ck_assert_msg(certreg_certify(e, SAMPLES, &q, 1, &c) == CERTREG_OK, "%s",
                  certreg_estimator_error(e)->text);
    certreg_estimator_destroy(e);
    return c;
}

/* The mean of a step moves by half its height at .6745: that of a line by unit/16 at one half. */
TEST_TIMES(mean_radius_is_the_same_in_every_unit, UNITS)
{
    for (int step = 0; step < 2; step++)
        for (int constraints = 0; constraints < 2; constraints++) {
            const shape s = {units[_i], step}, one = {1, step};
            certreg_question q = {.statistic = CERTREG_STATISTIC_MEAN,
                                  .method = CERTREG_METHOD_ASYMPTOTIC,
                                  .center = CERTREG_CENTER_TRUE_MEAN,
                                  .constraints = constraints ? CERTREG_CONSTRAINTS_CG
                                                             : CERTREG_CONSTRAINTS_ECGM};
            q.tolerance = s.unit * (step ? 0.5 : 1.0 / 16);
            const certreg_certificate c = ask(&s, q);
            q.tolerance = step ? 0.5 : 1.0 / 16;
            const double expected = ask(&one, q).radius, truth = step ? 0.6744897501960817 : 0.5;
            ck_assert_double_gt(expected, 0.6 * truth);
            ck_assert_double_lt(c.radius, truth);
            ck_assert_double_eq_tol(c.radius, expected, 1e-5 * expected);
        }
}

TEST_TIMES(huber_radius_is_the_same_in_every_unit, UNITS)
{
    const shape s = {units[_i], 0}, one = {1, 0};
    certreg_question q = {.statistic = CERTREG_STATISTIC_HUBER,
                          .method = CERTREG_METHOD_ASYMPTOTIC,
                          .tolerance = s.unit / 16,
                          .huber_width = s.unit / 8};
    const double radius = ask(&s, q).radius;
    q.tolerance = 1.0 / 16, q.huber_width = 1.0 / 8;
    const double expected = ask(&one, q).radius;
    ck_assert_double_lt(radius, 0.5);
    ck_assert_double_gt(expected, 0.3);
    ck_assert_double_eq_tol(radius, expected, 1e-5);
}

TEST_TIMES(widest_huber_score_is_never_certified_too_far, UNITS)
{
    const shape s = {units[_i], 0};
    const certreg_question q = {.statistic = CERTREG_STATISTIC_HUBER,
                                .method = CERTREG_METHOD_ASYMPTOTIC,
                                .tolerance = s.unit / 16,
                                .huber_width = s.unit * 1e6 / 16};
    ck_assert_double_lt(ask(&s, q).radius, 0.5);
}

TEST_MAIN("units of outputs")
