/* Several outputs as one vector: radii, groups, poses, refusals. */
#include "support/vector_map.h"

/* ---- what a radius is */
/* Served or not: each direction of what is served has its part of the failure rate. */
TEST_TIMES(vector_of_medians_has_the_least_radius_at_equal_shares, 2 * MOST)
{
    const size_t outputs = 1 + (size_t)_i / 2, served = _i % 2 ? 101 : 0;
    const double psi[MOST] = {0.2, -0.1, 0.4}, count = (double)outputs;
    certreg_estimator *e = make(usual(), outputs, SIZE_MAX, 0);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEDIAN, 3);
    q.prediction = psi, q.prediction_count = outputs, q.serving = asks_serving(served, 0.3);
    const double radius = kit_ask(e, SAMPLES, q).radius;
    double least = INFINITY;
    for (size_t k = 0; k < outputs; k++) {
        const certreg_question one = QUESTION(.tolerance = 3 / sqrt(count), .output = (int32_t)k,
                                              .prediction = psi + k,
                                              .serving = asks_serving(served, 0.3 / count));
        least = fmin(least, kit_ask(e, 0, one).radius);
    }
    ck_assert_double_gt(radius, 0);
    ck_assert_double_eq_tol(radius, least, 1e-6 * least);
}

TEST(vector_of_one_output_is_that_output)
{
    certreg_estimator *e = make(usual(), 1, 0, 0);
    for (int s = 0; s <= STATISTICS; s++) {
        certreg_question q = nth(s % STATISTICS, 0.6), one;
        if (s == STATISTICS)
            q.statistic = CERTREG_STATISTIC_MEAN, q.center = CERTREG_CENTER_TRUE_MEAN;
        one = q, one.output = 0;
        if (one.statistic == CERTREG_STATISTIC_PROJECTION_MEDIAN)
            one.statistic = CERTREG_STATISTIC_MEDIAN;
        const certreg_certificate c = kit_ask(e, SAMPLES, q), alone = kit_ask(e, 0, one);
        double psi = 0;
        ck_assert_double_gt(c.radius, 0);
        ck_assert_double_eq_tol(c.radius, alone.radius, 1e-6 * alone.radius);
        if (!q.center) KIT_OK(e, certreg_estimator_prediction(e, &q, &psi));
        if (!q.center) ck_assert_double_eq_tol(psi, alone.prediction, 1e-9);
        ck_assert_int_eq(c.output, CERTREG_ALL_OUTPUTS);
        ck_assert(isnan(c.prediction) && isnan(c.estimate));
        ck_assert(isinf(c.output_lo) && isinf(c.output_hi));
    }
}

TEST_TIMES(vector_of_a_group_is_that_of_a_model_of_its_outputs, STATISTICS)
{
    map m = plain, few = plain;
    few.first = 2;
    certreg_estimator *e = make(&m, 7, 0, 0), *alone = make(&few, 3, 0, 0);
    certreg_question q = nth(_i, 1.5), group = q;
    group.output = 2, group.output_count = 3;
    double psi[3], of_group[3];
    const certreg_certificate a = kit_ask(e, SAMPLES, group), b = kit_ask(alone, SAMPLES, q);
    ck_assert_double_gt(a.radius, 0);
    ck_assert_double_eq_tol(a.radius, b.radius, 1e-9 * b.radius);
    ck_assert_int_eq(a.output, 2);
    KIT_OK(e, certreg_estimator_prediction(e, &group, of_group));
    KIT_OK(alone, certreg_estimator_prediction(alone, &q, psi));
    ck_assert_mem_eq(psi, of_group, sizeof psi);
}

/* A linear map moves every T by the same vector, so nothing beyond this is true. */
TEST_TIMES(vector_radius_never_exceeds_the_true_one, STATISTICS)
{
    map m = {.weight = {{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}}};
    for (size_t outputs = 2; outputs <= 4; outputs++) {
        certreg_estimator *e = make(&m, outputs, 0, 0);
        certreg_question q = nth(_i, 1.6);
        double psi[MOST], gap = 0;
        const double radius = kit_ask(e, SAMPLES, q).radius;
        KIT_OK(e, certreg_estimator_prediction(e, &q, psi));
        for (size_t k = 0; k < outputs; k++)
            gap += (psi[k] - (double)where[k]) * (psi[k] - (double)where[k]);
        ck_assert_double_gt(radius, 0.5);
        ck_assert_double_le(radius, 1.6 - sqrt(gap));
    }
}

/* Each block has a part of the tolerance, and all of them move by the shift. */
TEST(vector_of_true_means_shares_the_tolerance)
{
    map m = {.weight = {{1}, {1}, {1}, {1}, {1}, {1}, {1}}};
    for (size_t outputs = 2; outputs <= MOST; outputs++) {
        certreg_estimator *e = make(&m, outputs, 0, 0);
        certreg_question q = vector_of(CERTREG_STATISTIC_MEAN, 0.6);
        q.center = CERTREG_CENTER_TRUE_MEAN;
        const certreg_certificate c = kit_ask(e, SAMPLES, q);
        ck_assert_uint_ne(c.constraints & CERTREG_CONSTRAINT_LAW, 0);
        ck_assert_double_gt(c.radius, 0);
        ck_assert_double_le(c.radius, 0.6 / sqrt((double)outputs));
    }
}

/* ---- what nets and projections are worth */
/* The norm as a whole, by the trace of the covariance, if that were known. */
static double radius_by_trace(size_t outputs, double tolerance, double sigma)
{
    return sigma * sqrt(log1p(tolerance * tolerance / ((double)outputs * sigma * sigma)));
}

TEST(vector_radii_exceed_those_by_trace_and_by_coordinates)
{
    map m = {.weight = {{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}}};
    for (size_t outputs = 2; outputs <= 4; outputs++) {
        certreg_estimator *e = make(&m, outputs, 0, 0);
        certreg_question mean = vector_of(CERTREG_STATISTIC_MEAN, 0.6);
        mean.center = CERTREG_CENTER_TRUE_MEAN;
        ck_assert_double_gt(kit_ask(e, SAMPLES, mean).radius,
                            (outputs == 4 ? 1 : 1.1) * radius_by_trace(outputs, 0.6, 0.5));
        const certreg_question by_axis = vector_of(CERTREG_STATISTIC_MEDIAN, 2),
                               projected = vector_of(CERTREG_STATISTIC_PROJECTION_MEDIAN, 2);
        ck_assert_double_gt(kit_ask(e, 0, projected).radius, kit_ask(e, 0, by_axis).radius);
    }
}

TEST_TIMES(vector_pilot_gives_wide_outputs_more_tolerance, STATISTICS)
{
    map m = {.weight = {{1}, {0, 0.02}, {0, 0, 0.02}, {0, 0, 0, 0.02}}};
    certreg_estimator *e = make(&m, 4, 0, 0), *equal = make(&m, 4, SIZE_MAX, 0);
    certreg_question q = nth(_i, 1.6);
    double psi[4];
    const double radius = kit_ask(e, SAMPLES, q).radius;
    KIT_OK(e, certreg_estimator_prediction(e, &q, psi));
    q.prediction = psi, q.prediction_count = 4;
    const double least = q.statistic == CERTREG_STATISTIC_MEAN ? 1.05 : 1.2;
    const double without_pilot = kit_ask(equal, SAMPLES, q).radius;
    ck_assert_double_gt(without_pilot, 0);
    ck_assert_double_gt(radius, least * without_pilot);
}

/* Two blocks: of three outputs that move together and one that moves alone; of one that moves, and
 * outputs that stay. What each share of the tolerance would give is known from each block alone. */
TEST_TIMES(vector_blocks_have_shares_close_to_the_best, 2)
{
    const map kinds[] = {{.weight = {{1}, {1}, {1}, {0, 1}}}, {.weight = {{1}}}};
    map m = kinds[_i];
    certreg_estimator *e = make(&m, 6, 0, 0);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEAN, 1.5);
    q.center = CERTREG_CENTER_TRUE_MEAN, q.method = CERTREG_METHOD_ASYMPTOTIC;
    const double radius = kit_ask(e, SAMPLES, q).radius;
    double best = 0;
    q.output_count = 3;
    for (double share = 0.1; share < 1; share += 0.1) {
        q.output = 0, q.tolerance = 1.5 * share;
        const double first = kit_ask(e, 0, q).radius;
        q.output = 3, q.tolerance = 1.5 * sqrt(1 - share * share);
        best = fmax(best, fmin(first, kit_ask(e, 0, q).radius));
    }
    ck_assert_double_gt(best, 0);
    ck_assert_msg(radius > 0.9 * best, "%g of %g", radius, best);
}

/* ---- poses */
static const int32_t pose_kind[3] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_REAL,
                                     CERTREG_OUTPUT_ANGLE};

static certreg_estimator *make_pose(map *m)
{
    certreg_model model = kit_model(evaluate, m, INPUTS, 3);
    model.kind = pose_kind;
    const certreg_plan p = kit_plan(SAMPLES);
    certreg_estimator *e = kit_create(NULL, &model, &p);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 3));
    return e;
}

TEST(vector_and_angle_of_a_pose_have_one_radius)
{
    map m = plain;
    certreg_estimator *e = make_pose(&m);
    certreg_question q[2] = {vector_of(CERTREG_STATISTIC_MEDIAN, 2), kit_question(1.2)};
    q[0].output = 0, q[0].output_count = 2, q[1].output = 2;
    certreg_certificate each[2] = {kit_certificate()}, both = kit_certificate(),
                        alone[2] = {kit_certificate()};
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, 2, each, &both));
    KIT_OK(e, certreg_certify(e, 0, q, 2, alone));
    ck_assert_mem_eq(each, alone, sizeof each);
    ck_assert_double_gt(both.radius, 0);
    ck_assert_double_eq(both.radius, fmin(each[0].radius, each[1].radius));
    ck_assert_double_eq(both.alpha, 0.05);
    ck_assert_int_eq(both.output, each[0].radius < each[1].radius ? 0 : 2);
}

TEST_TIMES(vector_and_angle_of_a_pose_are_both_served_or_neither, 2)
{
    map m = plain;
    certreg_estimator *e = make_pose(&m);
    certreg_question q[2] = {kit_question(1), kit_question(1)};
    q[0].output_count = 2, q[1].output = 2;
    q[_i].serving = asks_serving(101, 0.01);
    certreg_certificate each[2] = {kit_certificate()}, both = kit_certificate();
    KIT_STATUS(e, certreg_certify_outputs(e, SAMPLES, q, 2, each, &both), CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(e), "questions[1].serving");
    q[1 - _i].serving = q[_i].serving;
    KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, 2, each, &both));
}

/* The bounds of a later direction contradict each other, as happens with affine functions at a
 * large alpha: the directions before it prove nothing on their own. Noise and pilot were searched
 * for; that of the noise before it contradicts nothing. */
TEST_TIMES(vector_direction_without_bounds_leaves_no_radius, 2)
{
    static const uint64_t noise_ids[] = {2209, 2284};
    map m = {.weight = {{0.3}, {0, 0.3}}};
    const certreg_model model = kit_model(evaluate, &m, INPUTS, 2);
    certreg_plan p = kit_plan(1000);
    p.pilot = 168;
    certreg_estimator *e = kit_create(NULL, &model, &p);
    certreg_question q = vector_of(CERTREG_STATISTIC_MEAN, 1);
    q.method = CERTREG_METHOD_ASYMPTOTIC, q.alpha = 0.5;
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, noise_ids[_i] - 1));
    ck_assert_double_gt(kit_ask(e, 1000, q).radius, 0);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, noise_ids[_i]));
    const certreg_certificate c = kit_ask(e, 1000, q);
    ck_assert(c.radius == 0 && c.radius_l1 == 0 && c.radius_l2 == 0 && c.radius_linf == 0);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
}

KIT_MAIN("vectors")
