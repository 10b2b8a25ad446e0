/* What the pilot foresees of bounds is about what the main samples then give: sets of constraints
 * are compared by it. */
#include "bounds/bounds.h"
#include "certify/solve.h"
#include "support/api_kit.h"

enum { INPUTS = 12, SAMPLES = 8000, PILOT = 1500 };

/* Curved, with outliers. */
static int curved(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * INPUTS;
        b->y[i] = x[0] + 0.5f * x[1] * x[1] + (x[2] > 2 ? 5 : 0);
    }
    return 0;
}

static const struct asked {
    int32_t statistic, method, center;
    uint32_t constraints;
} asked[] = {
    {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, 0},
    {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, CERTREG_CONSTRAINTS_ECGM},
    {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC, 0, 0},
    {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC, 0, CERTREG_CONSTRAINTS_ECM},
    {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0, 0},
    {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0, CERTREG_CONSTRAINTS_ECGM},
    {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 0, 0},
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, 0, CERTREG_CONSTRAINTS_C},
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, 0, CERTREG_CONSTRAINTS_CG},
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, 1, 0},
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, 1, 0},
};

static double radius_of(certreg_estimator *e, const cr_answer *a)
{
    cr_solved solved;
    ck_assert_int_eq(cr_solve_radius(e, a, INFINITY, &solved), CERTREG_OK);
    return solved.radius;
}

START_TEST(the_radius_that_is_foreseen_is_about_the_one_that_comes)
{
    const struct asked *k = asked + _i;
    const double lo = -15, hi = 25;
    const float origin[INPUTS] = {0};
    certreg_model m = kit_model(curved, NULL, INPUTS, 1);
    m.lo = &lo, m.hi = &hi;
    certreg_plan p = kit_plan(SAMPLES);
    p.pilot = PILOT, p.constraints = CERTREG_CONSTRAINTS_ECGHM;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_question q = kit_question(2.5);
    q.statistic = k->statistic, q.method = k->method, q.center = k->center;
    q.constraints = k->constraints;
    q.huber_width = k->statistic == CERTREG_STATISTIC_HUBER ? 1 : 0;
    KIT_OK(e, certreg_estimator_begin(e, origin, 1, 5));
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    cr_answer came = {.known = 0};
    KIT_OK(e, cr_question_take(e, &q, &came.conditions.question));
    KIT_OK(e, cr_conditions_prepare(e, &came.conditions));
    cr_answer foreseen = came;
    foreseen.conditions.foreseen = SAMPLES - PILOT;
    KIT_OK(e, cr_bounds_find(e, &came.conditions, came.bounds, &came.abstained));
    KIT_OK(e, cr_bounds_find(e, &foreseen.conditions, foreseen.bounds, &foreseen.abstained));
    for (int i = 0; i < came.conditions.count; i++) {
        ck_assert_uint_eq(foreseen.bounds[i].constraints, came.bounds[i].constraints);
        ck_assert_uint_eq(foreseen.bounds[i].samples, came.bounds[i].samples);
    }
    const double is = radius_of(e, &came), was = radius_of(e, &foreseen);
    ck_assert_double_gt(is, 0);
    ck_assert_double_eq_tol(was / is, 1, 0.1);
    certreg_estimator_destroy(e);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("foreseen");
    tcase_add_loop_test(kit_case(s, "radii", 60),
                        the_radius_that_is_foreseen_is_about_the_one_that_comes, 0,
                        KIT_ROWS(asked));
    return kit_run(s);
}
