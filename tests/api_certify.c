/* Certificates end to end, on models whose radius is known in closed form. */
#include "support/affine_model.h"

/* ---- affine: the radius is tolerance/steepness */
static const struct {
    size_t inputs;
    int scaled;
    int32_t center;
    uint32_t constraints;
} affine_cases[] = {
    {1, 0, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_ECGM},
    {1, 0, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_CG},
    {MOST, 0, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_ECGM},
    {MOST, 0, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_CG},
    {MOST, 1, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_ECGM},
    {MOST, 1, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_CG},
    {MOST, 0, CERTREG_CENTER_PREDICTION, CERTREG_CONSTRAINTS_CG},
    {MOST, 1, CERTREG_CENTER_PREDICTION, CERTREG_CONSTRAINTS_ECGM},
};

TEST_ROWS(certify_affine_models_to_nine_tenths_of_their_radius, affine_cases)
{
    toy t = slope;
    const size_t d = affine_cases[_i].inputs;
    const float *scale = affine_cases[_i].scaled ? units : NULL;
    certreg_estimator *e = make(&t, d, scale, 20000, 0);
    certreg_question q = mean_question(0.4 * sigma * steepness(&t, scale, d),
                                       affine_cases[_i].center, affine_cases[_i].constraints);
    /* beyond 0.4 sigma the uncertainty of the variance tells more */
    certreg_certificate c = kit_ask(e, 20000, q);
    double truth = q.tolerance;
    /* the nearer end */
    if (q.center == CERTREG_CENTER_PREDICTION) truth -= fabs(c.prediction - affine(&t, origin, d));
    truth /= steepness(&t, scale, d);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_msg(c.radius <= truth && c.radius >= 0.9 * truth, "%g of %g", c.radius, truth);
    ck_assert_double_le(fabs(c.estimate - affine(&t, origin, d)),
                        5 * sigma * steepness(&t, scale, d) / sqrt(16000));
    ck_assert_double_ge(asks_bounds(e, &q, &c).gradient_hi, sigma * steepness(&t, scale, d));
    ck_assert_double_ge(asks_bounds(e, &q, &c).variance_hi,
                        pow(sigma * steepness(&t, scale, d), 2));
}

TEST(certify_by_variance_alone_has_a_closed_form)
{
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 20000, 0);
    certreg_question q = mean_question(0.4, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_C);
    certreg_certificate c = kit_ask(e, 20000, q);
    const double variance = pow(sigma * steepness(&t, NULL, MOST), 2),
                 truth = sigma * sqrt(log1p(0.16 / variance));
    ck_assert_uint_eq(c.constraints, CERTREG_CONSTRAINTS_C);
    ck_assert_msg(c.radius <= truth && c.radius >= 0.95 * truth, "%g of %g", c.radius, truth);
    ck_assert_double_eq_tol(c.radius,
                            sigma * sqrt(log1p(0.16 / asks_bounds(e, &q, &c).variance_hi)), 1e-8);
    q.method = CERTREG_METHOD_PAPER, q.constraints = 0;
    c = kit_ask(e, 20000, q);
    ck_assert_double_eq_tol(c.radius, 0.4 / steepness(&t, NULL, MOST),
                            0.1 * 0.4 / steepness(&t, NULL, MOST));
}

/* ---- half-space: the radius is the distance to its face */
static const struct {
    double distance; /* in scaled units */
    int scaled;
    int32_t method;
} faces[] = {
    {0.2, 0, CERTREG_METHOD_FINITE},     {0.5, 0, CERTREG_METHOD_FINITE},
    {0.8, 1, CERTREG_METHOD_FINITE},     {1.0, 1, CERTREG_METHOD_FINITE},
    {0.5, 1, CERTREG_METHOD_ASYMPTOTIC}, {0.8, 0, CERTREG_METHOD_ASYMPTOTIC},
};

TEST_ROWS(certify_half_spaces_almost_to_their_face_never_beyond, faces)
{
    toy t = slope;
    const float *scale = faces[_i].scaled ? units : NULL;
    t.step = 1;
    t.offset = 0;
    t.offset = faces[_i].distance * steepness(&t, scale, MOST) - affine(&t, origin, MOST);
    certreg_estimator *e = make(&t, MOST, scale, 20000, 0);
    certreg_question q = kit_question(0.45); /* no prediction is that near to both values */
    q.method = faces[_i].method;
    certreg_certificate c = kit_ask(e, 20000, q);
    ck_assert_msg(c.radius < faces[_i].distance && c.radius > 0.9 * faces[_i].distance - 0.02,
                  "%g of %g, about %g", c.radius, faces[_i].distance, c.prediction);
    ck_assert_int_eq(c.limiting_side, CERTREG_SIDE_LOWER); /* the lower end gives way */
    ck_assert_double_gt(c.prediction, 0.55);
}

/* ---- predictions, alpha */
TEST(certify_about_a_given_prediction_needs_no_pilot)
{
    toy t = slope;
    certreg_model m = kit_model(toy_model, &t, MOST, 1);
    certreg_plan p = kit_plan(5000);
    p.pilot = SIZE_MAX;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    certreg_question q =
        QUESTION(.tolerance = 0.4, .prediction = asks_prediction(affine(&t, origin, MOST) + 0.1));
    certreg_bounds b = {.struct_size = sizeof b};
    certreg_certificate c = kit_ask(e, 5000, q);
    ck_assert_double_eq(c.prediction, *q.prediction);
    ck_assert_uint_eq(asks_run(e).pilot, 0);
    /* the median of a symmetric law is its mean; the lower end is nearer */
    const double truth = 0.3 / steepness(&t, NULL, MOST);
    ck_assert_msg(c.radius < truth && c.radius > 0.85 * truth, "%g of %g", c.radius, truth);
    ck_assert_int_eq(c.limiting_side, CERTREG_SIDE_LOWER);
    KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &b));
    ck_assert_uint_eq(b.samples, 5000);
    q.prediction = asks_prediction(100); /* far off: nothing can be proven, and that is an answer */
    c = kit_ask(e, 5000, q);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq(c.radius, 0);
}

TEST(certify_with_smaller_alpha_gives_no_larger_radius)
{
    static const double alphas[] = {0.5, 0.1, 0.05, 1e-3, 1e-6, 1e-9, 1e-11};
    toy t = slope;
    certreg_estimator *e = make(&t, MOST, NULL, 2000, 0);
    certreg_question q[ASKED];
    several(q);
    for (int i = 0; i < ASKED; i++) {
        double last = INFINITY;
        for (size_t k = 0; k < sizeof alphas / sizeof *alphas; k++) {
            certreg_certificate c = kit_certificate();
            q[i].alpha = alphas[k];
            c = kit_ask(e, 2000, q[i]);
            ck_assert_double_le(c.radius, last);
            last = c.radius;
        }
        ck_assert_double_lt(last, sigma);
    }
}

TEST(certify_caps_radii_beyond_ten_sigma)
{
    static const double lo = 0, hi = 1;
    toy t = {.weight = {0.01}, .offset = 0.5};
    certreg_model m = kit_model(toy_model, &t, 1, 1);
    m.lo = &lo, m.hi = &hi;
    const certreg_plan p = kit_plan(2000);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    /* more than the range: nothing can go wrong */
    certreg_question q = mean_question(1.5, CERTREG_CENTER_TRUE_MEAN, 0);
    certreg_certificate c = kit_ask(e, 2000, q);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CAPPED);
    ck_assert_double_eq_tol(c.radius, 10 * sigma, 1e-9);
    ck_assert_double_le(c.radius, 10 * sigma);
}

/* ---- other norms */
static const float scales[][5] = {{1, 1, 1, 1, 1},
                                  {2, 2, 2, 2, 2},
                                  {0.5f, 3, 0, 1, 0.125f},
                                  {0, 0, 0, 4, 0},
                                  {1e-3f, 1e3f, 1, 0, 7}};

TEST_ROWS(certify_balls_of_other_norms_touch_the_certified_one, scales)
{
    certreg_model m = kit_model(kit_identity, NULL, 5, 1);
    m.scale = scales[_i];
    const certreg_plan p = kit_plan(1000);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0, 0, 0, 0}, 0.5, 1));
    const certreg_certificate c =
        kit_ask(e, 1000, kit_question(1.5 * fmax(0.5 * (double)scales[_i][0], 0.1)));
    ck_assert_double_gt(c.radius, 0);
    double least = INFINITY, sum = 0;
    for (int j = 0; j < 5; j++) {
        if (scales[_i][j] > 0)
            least = fmin(least, (double)scales[_i][j]), sum += pow((double)scales[_i][j], -2);
    }
    /* along the least scale */
    ck_assert(c.radius_l2 <= c.radius * least && c.radius_l2 >= c.radius * least * (1 - 1e-12));
    ck_assert_double_eq(c.radius_l1, c.radius_l2);
    /* a corner of the cube */
    ck_assert(c.radius_linf * sqrt(sum) <= c.radius &&
              c.radius_linf * sqrt(sum) >= c.radius * (1 - 1e-10));
}

/* ---- the same question gets the same bits. In another run: api_memory, api_threads */
TEST(certify_answers_several_questions_as_one_by_one)
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

static const int32_t methods[] = {CERTREG_METHOD_PAPER, CERTREG_METHOD_ASYMPTOTIC,
                                  CERTREG_METHOD_FINITE, CERTREG_METHOD_ANYTIME};

TEST_ROWS(certify_answers_families_of_constraints_as_one_by_one, methods)
{
    enum {
        M = CERTREG_CONSTRAINT_MEAN,
        V = CERTREG_CONSTRAINT_VARIANCE,
        G = CERTREG_CONSTRAINT_GRADIENT,
        R = CERTREG_CONSTRAINT_RANGE,
        FAMILIES = 8
    };
    static const uint32_t family[FAMILIES] = {V,     M | V,     M | V | R, M,
                                              V | G, M | V | G, V | G | R, M | V | G | R};
    static const double lo = -9, hi = 9;
    toy t = slope;
    certreg_model m = kit_model(toy_model, &t, MOST, 1);
    const certreg_plan p = kit_plan(2000);
    certreg_question q[FAMILIES];
    certreg_certificate all[FAMILIES], one;
    m.lo = &lo, m.hi = &hi;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    const size_t count = methods[_i] == CERTREG_METHOD_ANYTIME ? 4 : FAMILIES;
    for (size_t i = 0; i < count; i++) {
        q[i] = mean_question(0.4, CERTREG_CENTER_TRUE_MEAN, family[i]);
        q[i].method = methods[_i];
        all[i] = kit_certificate();
    }
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    KIT_OK(e, certreg_certify(e, 2000, q, count, all));
    for (size_t i = 0; i < count; i++) {
        one = kit_ask(e, 0, q[i]);
        ck_assert_mem_eq(&all[i], &one, sizeof one);
    }
}

TEST(certify_reports_all_that_is_needed_to_repeat_a_run)
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
    ck_assert_int_eq(certreg_question_digest(&q, NULL, &digest), CERTREG_OK);
    ck_assert_uint_eq(c.question_digest, digest);
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

TEST(certify_radius_follows_from_estimator_bounds)
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
        /* The search goes through bounds of a mean, which round the share of failures outward. */
        ck_assert_double_le(r.radius, c.radius);
        ck_assert_double_ge(r.radius, c.radius * (1 - 1e-9));
        ck_assert_int_eq(r.outcome, c.outcome);
    }
}

KIT_MAIN("certify")
