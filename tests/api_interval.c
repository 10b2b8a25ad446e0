/* Prediction intervals under attack: sets against counting. */
#include "support/intervals.h"
#include <certreg/interval.h>

/* ---- by counting */
static double distance(const set_up *s, int k, double truth, double y)
{
    const double gap = truth - y;
    return fabs(s->kind[k] ? remainder(gap, s->hi[k] - s->lo[k]) : gap);
}

static double score(const set_up *s, const certreg_calibration *c, const double *truth,
                    const float *y)
{
    const int first = c->output, count = c->outputs ? c->outputs : 1;
    double largest = 0, squares = 0;
    if (c->score == CERTREG_SCORE_QUANTILES)
        return fmax((double)y[0] - *truth, *truth - (double)y[1]);
    for (int k = 0; k < count; k++) {
        const double unit = c->units ? c->units[k] : 1,
                     d = distance(s, first + k, truth[k], (double)y[first + k]) / unit;
        largest = fmax(largest, d), squares += d * d;
    }
    return c->score == CERTREG_SCORE_LARGEST ? largest : sqrt(squares);
}

static int failed(const certreg_calibration *c, const float *y)
{
    const int count = c->score == CERTREG_SCORE_QUANTILES ? 2 : c->outputs ? c->outputs : 1;
    for (int k = 0; k < count; k++)
        if (isnan(y[c->output + k])) return 1;
    return 0;
}

static size_t within(const set_up *s, const certreg_calibration *c, const double *truth,
                     const float *y, double threshold)
{
    size_t count = 0;
    for (size_t i = 0; i < SAMPLES; i++)
        count += failed(c, y + 2 * i) || score(s, c, truth, y + 2 * i) <= threshold;
    return count;
}

/* ---- sets */
static const struct {
    const char *name;
    int32_t score, output, outputs;
    int32_t angles;
    int units;
    double spread;
    size_t failures;
} cases[] = {/* name, score, output, outputs, angles, units, spread, failures */
             {"a number", CERTREG_SCORE_NORM, 0, 0, 0, 0, 1, 0},
             {"the second number", CERTREG_SCORE_NORM, 1, 1, 0, 1, 1, 2},
             {"far truths", CERTREG_SCORE_NORM, 0, 1, 0, 0, 9, 0},
             {"near truths, empty sets", CERTREG_SCORE_NORM, 0, 1, 0, 0, 0, 0},
             {"a vector", CERTREG_SCORE_NORM, 0, 2, 0, 1, 1, 1},
             {"each output", CERTREG_SCORE_LARGEST, 0, 2, 0, 1, 1, 1},
             {"quantiles", CERTREG_SCORE_QUANTILES, 0, 0, 0, 0, 1, 3},
             {"an angle", CERTREG_SCORE_NORM, 0, 1, 1, 0, 0.4, 0},
             {"an angle anywhere", CERTREG_SCORE_NORM, 0, 1, 1, 0, 3, 1},
             {"a pose", CERTREG_SCORE_LARGEST, 0, 2, 2, 1, 0.5, 1},
             {"many failures", CERTREG_SCORE_NORM, 0, 1, 0, 0, 1, 20}};
static const double units[] = {0.5, 2};

typedef struct found {
    certreg_interval set;
    double lo[2 * SAMPLES], hi[2 * SAMPLES];
} found;

static found interval_of(certreg_estimator *e, const certreg_calibration *c, const certreg_rule *r,
                         int32_t output)
{
    found f = {.set = {.struct_size = sizeof f.set}};
    KIT_OK(e, certreg_estimator_interval(e, c, r, output, f.lo, f.hi, 2 * SAMPLES, &f.set));
    return f;
}

static int in_pieces(const found *f, double y, double period)
{
    for (uint64_t i = 0; i < f->set.pieces; i++)
        for (int turn = -1; turn <= 1; turn++)
            if (f->lo[i] <= y + turn * period && y + turn * period <= f->hi[i]) return 1;
    return 0;
}

TEST_ROWS(interval_has_the_points_with_enough_small_scores, cases)
{
    lottery = (uint32_t)_i;
    const set_up s = turned(cases[_i].angles);
    double scores[SCORES];
    certreg_estimator *e = estimator_of(&s);
    certreg_calibration c = calibration_of(scores);
    c.score = cases[_i].score, c.output = cases[_i].output, c.outputs = cases[_i].outputs;
    c.units = cases[_i].units ? units : NULL;
    calibrate(e, &c, cases[_i].spread);
    const certreg_rule r = rule_of(coverage(), &c);
    const double period = s.kind[c.output] ? s.hi[0] - s.lo[0] : 0;
    int inside = 0, pieces = 0;
    for (uint64_t run = 0; run < 60; run++) {
        float y[OUTPUTS * SAMPLES];
        fill(y, SAMPLES, 0.1 * (double)(run + 1), cases[_i].failures);
        take(e, POINTS + run, SAMPLES, y);
        const found f = interval_of(e, &c, &r, c.output);
        ck_assert_double_eq(f.set.threshold, r.threshold);
        ck_assert_double_eq(f.set.alpha, r.alpha);
        ck_assert_uint_eq(f.set.samples, SAMPLES);
        if (!f.set.pieces) ck_assert(isnan(f.set.lo) && isnan(f.set.hi));
        pieces += f.set.pieces > 1;
        for (uint64_t i = 1; i < f.set.pieces; i++) ck_assert_double_lt(f.lo[i - 1], f.lo[i]);
        for (double t = -3; t < 3; t += 0.0173) {
            const double truth[] = {period > 0 ? remainder(t, period) : t, 0.1 * t};
            int32_t covered;
            KIT_OK(e, certreg_estimator_covers(e, &c, &r, truth, &covered));
            const size_t small = within(&s, &c, truth, y, f.set.threshold);
            ck_assert_int_eq(covered, small >= r.sample_rank);
            if (covered) ck_assert(in_pieces(&f, *truth, period));
            if (c.outputs < 2) ck_assert_int_eq(in_pieces(&f, *truth, period), covered);
            if (in_pieces(&f, *truth, period) && period == 0)
                ck_assert(f.set.lo <= *truth && *truth <= f.set.hi);
            inside += covered;
        }
    }
    printf("%-24s %5d points inside, %2d sets of several pieces\n", cases[_i].name, inside, pieces);
    if (cases[_i].spread > 0) ck_assert_int_gt(inside, 0);
}

TEST(interval_hull_of_arcs_is_the_shortest_arc_with_all_pieces)
{
    const set_up s = turned(1);
    double scores[SCORES];
    certreg_estimator *e = estimator_of(&s);
    certreg_calibration c = calibration_of(scores);
    lottery = 5;
    calibrate(e, &c, 0.1);
    const certreg_rule r = rule_of(coverage(), &c);
    float y[OUTPUTS * SAMPLES] = {0};
    for (size_t i = 0; i < SAMPLES; i++) y[2 * i] = i % 2 ? 0.95f : -0.9f; /* across the ends */
    take(e, POINTS, SAMPLES, y);
    const found f = interval_of(e, &c, &r, 0);
    const double q = f.set.threshold;
    ck_assert_uint_ge(f.set.pieces, 1);
    ck_assert_double_eq_tol(f.set.lo, (double)0.95f - q, 1e-6);
    ck_assert_double_eq_tol(f.set.hi, 1.1 + q, 1e-6); /* beyond the turn */
}

/* Points without any noise, and outputs of which no two agree. */
TEST_TIMES(interval_that_is_empty_has_no_ends, 2)
{
    const set_up s = turned(_i);
    double scores[SCORES];
    float y[OUTPUTS * SAMPLES] = {0};
    certreg_estimator *e = estimator_of(&s);
    certreg_calibration c = calibration_of(scores);
    for (uint64_t i = 0; i < POINTS; i++) {
        take(e, i, SAMPLES, y);
        KIT_OK(e, certreg_estimator_calibrate(e, &c, (const double[]){0, 0}));
    }
    const certreg_rule r = rule_of(coverage(), &c);
    for (int i = 0; i < SAMPLES; i++) y[2 * i] = (float)i / SAMPLES;
    take(e, POINTS, SAMPLES, y);
    const found f = interval_of(e, &c, &r, 0);
    ck_assert_uint_eq(f.set.pieces, 0);
    ck_assert(isnan(f.set.lo) && isnan(f.set.hi));
}

TEST(interval_grows_with_failed_outputs)
{
    double scores[SCORES];
    certreg_estimator *e = estimator_of(&reals);
    certreg_calibration c = calibration_of(scores);
    float y[OUTPUTS * SAMPLES];
    fill(y, SAMPLES, 1, 13);
    for (size_t i = 0; i < 13; i++) y[2 * i] = NAN;
    take(e, 0, SAMPLES, y);
    KIT_OK(e, certreg_estimator_calibrate(e, &c, (const double[]){0}));
    ck_assert(isinf(scores[0]) && scores[0] > 0 && isfinite(scores[24])); /* greatest, least */
    lottery = 1;
    c = calibration_of(scores);
    calibrate(e, &c, 1);
    certreg_rule r = rule_of(coverage(), &c);
    take(e, POINTS, SAMPLES, y); /* more failures than the rank: everything is possible */
    found f = interval_of(e, &c, &r, 0);
    ck_assert_uint_ge(f.set.failed, r.sample_rank);
    ck_assert(isinf(f.set.lo) && isinf(f.set.hi) && f.set.pieces == 1);
    for (int i = 0; i < SCORES; i++) scores[i] = INFINITY; /* calibration says nothing */
    r = rule_of(coverage(), &c);
    fill(y, SAMPLES, 1, 0);
    take(e, POINTS + 1, SAMPLES, y);
    f = interval_of(e, &c, &r, 0);
    ck_assert(isinf(f.set.lo) && isinf(f.set.hi) && f.set.pieces == 1);
}

KIT_MAIN("api_interval")
