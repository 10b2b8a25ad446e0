/* The same question gets the same bits: beside other questions, from what its certificate says, and
 * from the bounds that the library hands out. In another run: api_memory, api_threads. */
#include "support/affine_model.h"

TEST(several_questions_at_once_are_answered_as_one_by_one)
{
    certreg_question q[ASKED];
    certreg_certificate all[ASKED], one = kit_certificate();
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, units, 2000, 0);
    several(q);
    memset(all, 0, sizeof all);
    all[0].struct_size = sizeof all[0];
    KIT_OK(e, certreg_certify(e, 2000, q, ASKED, all));
    const size_t calls = t.calls;
    for (int i = 0; i < ASKED; i++) {
        one = kit_ask(e, i % 3 ? 2000 : 0, q[i]);
        ck_assert_mem_eq(&all[i], &one, sizeof one);
        ck_assert_int_eq(one.outcome, CERTREG_OUTCOME_CERTIFIED);
    }
    ck_assert_uint_eq(t.calls, calls);
}

TEST(certificate_run_and_question_tell_all_that_is_needed_to_run_them_again)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_question q = QUESTION(.tolerance = 0.4, .statistic = CERTREG_STATISTIC_HUBER,
                                  .huber_width = 0.2, .method = CERTREG_METHOD_ASYMPTOTIC,
                                  .alpha = 0.02, .bonferroni = 4);
    certreg_certificate c = kit_certificate(), other = kit_certificate();
    c = kit_ask(e, 1500, q);
    ck_assert_uint_eq(c.samples, 1500);
    const certreg_run run = asks_run(e);
    uint64_t digest;
    ck_assert_uint_eq(run.seed, 11);
    ck_assert_uint_eq(c.noise_id, 3);
    ck_assert_uint_eq(run.noise_id, 3);
    ck_assert_uint_eq(run.samples, 1500);
    ck_assert_uint_eq(run.batch, 256);
    ck_assert_uint_gt(run.pilot, 0);
    ck_assert_double_eq(run.sigma, sigma);
    ck_assert_int_eq(certreg_question_digest(&q, &digest), CERTREG_OK);
    ck_assert_uint_eq(c.question, digest);
    ck_assert_double_eq(c.sigma, sigma);
    ck_assert_double_eq(c.tolerance, 0.4);
    ck_assert_double_eq(c.alpha, 0.005); /* divided by joint */
    ck_assert_int_eq(c.statistic, CERTREG_STATISTIC_HUBER);
    ck_assert_int_eq(c.method, CERTREG_METHOD_ASYMPTOTIC);
    ck_assert_uint_eq(c.constraints, CERTREG_CONSTRAINTS_ECGM);
    const certreg_bounds b = asks_bounds(e, &q, &c);
    ck_assert_double_le(b.mean_lo, b.mean_hi);
    ck_assert_double_gt(run.model_seconds + run.library_seconds, 0);
    q.alpha = 0.005, q.bonferroni = 0;
    other = kit_ask(e, 1500, q);
    ck_assert_double_eq(c.radius, other.radius);
    q.alpha = 0.02;
    other = kit_ask(e, 1500, q);
    ck_assert_double_lt(c.radius, other.radius);
}

TEST(bounds_lead_to_the_radius_of_the_certificate)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_solver *solver;
    certreg_bisection *bisection;
    kit_open_solver(&solver, &bisection);
    certreg_question q[ASKED];
    several(q);
    for (int i = 0; i < ASKED; i++) {
        certreg_bounds b[2] = {{.struct_size = sizeof b[0]}, {.struct_size = sizeof b[0]}};
        certreg_certificate c = kit_certificate();
        certreg_radius r = {.struct_size = sizeof r};
        c = kit_ask(e, 2000, q[i]);
        if (q[i].center == CERTREG_CENTER_TRUE_MEAN) {
            KIT_OK(e, certreg_estimator_bounds(e, &q[i], c.limiting_side, b));
            ck_assert_int_eq(
                certreg_bisection_within(bisection, b, q[i].constraints, q[i].tolerance, &r),
                CERTREG_OK);
        } else {
            KIT_OK(e, certreg_estimator_bounds(e, &q[i], CERTREG_SIDE_UPPER, b));
            KIT_OK(e, certreg_estimator_bounds(e, &q[i], CERTREG_SIDE_LOWER, b + 1));
            ck_assert_int_eq(certreg_bisection_above(bisection, b, NULL, 2, q[i].constraints, &r),
                             CERTREG_OK);
        }
        ck_assert_double_eq(r.radius, c.radius);
        ck_assert_int_eq(r.outcome, c.outcome);
    }
}

KIT_MAIN("certify repeats")
