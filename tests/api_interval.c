/* Prediction intervals under attack: sets against counting, and refusals that name the field. */
#include "support/bad_field.h"
#include "support/intervals.h"

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

typedef struct found {
    certreg_interval set;
    double lo[2 * SAMPLES], hi[2 * SAMPLES];
} found;

static int in_pieces(const found *f, double y, double period)
{
    for (uint64_t i = 0; i < f->set.pieces; i++)
        for (int turn = -1; turn <= 1; turn++)
            if (f->lo[i] <= y + turn * period && y + turn * period <= f->hi[i]) return 1;
    return 0;
}

/* ---- what every test has: an estimator of real outputs, a calibration that is empty, outputs */
static certreg_estimator *e;
static certreg_calibration c;
static double scores[SCORES], room[2 * SAMPLES];
static float y[2 * OUTPUTS * SAMPLES];
static const double units[] = {0.5, 2};

static void setup(void)
{
    lottery = 0;
    e = estimator_of(&reals);
    c = calibration_of(scores);
    fill(y, 2 * SAMPLES, 1, 0);
}

/* Of angles, if there are any: those of the bits. */
static const set_up *use(int32_t angles)
{
    static set_up shown;
    shown = turned(angles);
    e = estimator_of(&shown);
    return &shown;
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

static found interval_of(const certreg_rule *r)
{
    found f = {.set = {.struct_size = sizeof f.set}};
    KIT_OK(e, certreg_estimator_interval(e, &c, r, c.output, f.lo, f.hi, 2 * SAMPLES, &f.set));
    return f;
}

TEST_ROWS(interval_has_the_points_with_enough_small_scores, cases)
{
    lottery = (uint32_t)_i;
    const set_up *const s = use(cases[_i].angles);
    c.score = cases[_i].score, c.output = cases[_i].output, c.outputs = cases[_i].outputs;
    c.units = cases[_i].units ? units : NULL;
    calibrate(e, &c, cases[_i].spread);
    const certreg_rule r = rule_of(coverage(), &c);
    const double period = s->kind[c.output] ? s->hi[0] - s->lo[0] : 0;
    int inside = 0, pieces = 0;
    for (uint64_t run = 0; run < 60; run++) {
        fill(y, SAMPLES, 0.1 * (double)(run + 1), cases[_i].failures);
        take(e, POINTS + run, SAMPLES, y);
        const found f = interval_of(&r);
        ck_assert(f.set.threshold == r.threshold && f.set.alpha == r.alpha);
        ck_assert_uint_eq(f.set.samples, SAMPLES);
        if (!f.set.pieces) ck_assert(isnan(f.set.lo) && isnan(f.set.hi));
        pieces += f.set.pieces > 1;
        for (uint64_t i = 1; i < f.set.pieces; i++) ck_assert_double_lt(f.lo[i - 1], f.lo[i]);
        for (uint64_t i = 1; i < f.set.pieces && period > 0; i++) /* the largest gap is left out */
            ck_assert_double_le(f.lo[i] - f.hi[i - 1], period - (f.set.hi - f.set.lo) + 1e-9);
        for (double t = -3; t < 3; t += 0.0173) {
            const double truth[] = {period > 0 ? remainder(t, period) : t, 0.1 * t};
            int32_t covered;
            KIT_OK(e, certreg_estimator_covers(e, &c, &r, truth, &covered));
            const size_t small = within(s, &c, truth, y, f.set.threshold);
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
    use(1);
    lottery = 5;
    calibrate(e, &c, 0.1);
    const certreg_rule r = rule_of(coverage(), &c);
    for (size_t i = 0; i < SAMPLES; i++) y[2 * i] = i % 2 ? 0.95f : -0.9f; /* across the ends */
    take(e, POINTS, SAMPLES, y);
    const found f = interval_of(&r);
    const double q = f.set.threshold;
    ck_assert_uint_ge(f.set.pieces, 1);
    ck_assert_double_eq_tol(f.set.lo, (double)0.95f - q, 1e-6);
    ck_assert_double_eq_tol(f.set.hi, 1.1 + q, 1e-6); /* beyond the turn */
}

/* Points without any noise, and outputs of which no two agree. */
TEST_TIMES(interval_that_is_empty_has_no_ends, 2)
{
    static const float zeros[OUTPUTS * SAMPLES];
    use(_i);
    for (uint64_t i = 0; i < POINTS; i++) {
        take(e, i, SAMPLES, zeros);
        KIT_OK(e, certreg_estimator_calibrate(e, &c, (const double[]){0, 0}));
    }
    const certreg_rule r = rule_of(coverage(), &c);
    for (int i = 0; i < SAMPLES; i++) y[2 * i] = (float)i / SAMPLES;
    take(e, POINTS, SAMPLES, y);
    const found f = interval_of(&r);
    ck_assert_uint_eq(f.set.pieces, 0);
    ck_assert(isnan(f.set.lo) && isnan(f.set.hi));
}

TEST(interval_grows_with_failed_outputs)
{
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
    found f = interval_of(&r);
    ck_assert_uint_ge(f.set.failed, r.sample_rank);
    ck_assert(isinf(f.set.lo) && isinf(f.set.hi) && f.set.pieces == 1);
    for (int i = 0; i < SCORES; i++) scores[i] = INFINITY; /* calibration says nothing */
    r = rule_of(coverage(), &c);
    fill(y, SAMPLES, 1, 0);
    take(e, POINTS + 1, SAMPLES, y);
    f = interval_of(&r);
    ck_assert(isinf(f.set.lo) && isinf(f.set.hi) && f.set.pieces == 1);
}

/* ---- refusals */

static void calibrates(const double *truth, certreg_status status, const char *words)
{
    KIT_REFUSED(e, certreg_estimator_calibrate(e, &c, truth), status, words);
}

static void finds(const certreg_calibration *by, const certreg_rule *r, certreg_status status,
                  const char *words)
{
    certreg_interval set = {.struct_size = sizeof set, .lo = 1, .hi = 2};
    KIT_REFUSED(e, certreg_estimator_interval(e, by, r, by->output, room, room, 2 * SAMPLES, &set),
                status, words);
    if (status) ck_assert(set.lo == -INFINITY && set.hi == INFINITY && set.alpha == 1);
}

static void covers_zero(certreg_estimator *by, const certreg_rule *r, certreg_status status)
{
    int32_t covered = 0;
    KIT_STATUS(by, certreg_estimator_covers(by, &c, r, (const double[]){0}, &covered), status);
    if (status) ck_assert_int_eq(covered, 1);
}

/* ---- points and the input must be different, and made alike */
TEST(interval_refuses_the_noise_of_the_calibration)
{
    calibrate(e, &c, 1);
    const certreg_rule usual = rule_of(coverage(), &c);
    for (uint64_t id = 0; id < POINTS; id += POINTS - 1) {
        take(e, id, SAMPLES, y);
        finds(&c, &usual, CERTREG_E_WRONG_STATE, "noise_id");
        covers_zero(e, &usual, CERTREG_E_WRONG_STATE);
    }
    take(e, POINTS, SAMPLES, y);
    covers_zero(e, &usual, CERTREG_OK);
    set_up other = reals; /* another seed has other noise */
    other.seed = 4;
    certreg_estimator *fresh = estimator_of(&other);
    take(fresh, 0, SAMPLES, y);
    covers_zero(fresh, &usual, CERTREG_OK);
}

TEST(calibrate_refuses_points_that_disagree)
{
    const double truth = 0, nan = NAN;
    c.capacity = 2;
    calibrates(&truth, CERTREG_E_WRONG_STATE, "begin");
    take(e, 5, SAMPLES, y);
    calibrates(&nan, CERTREG_E_INVALID, "truth");
    calibrates(NULL, CERTREG_E_INVALID, "truth");
    calibrates(&truth, CERTREG_OK, "");
    calibrates(&truth, CERTREG_E_WRONG_STATE, "ascending");
    take(e, 6, SAMPLES + 1, y);
    calibrates(&truth, CERTREG_E_MISMATCH, "samples");
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0.5f}, 0.25, 7));
    KIT_OK(e, certreg_estimator_record(e, 0, SAMPLES, y));
    calibrates(&truth, CERTREG_E_MISMATCH, "sigma");
    set_up others[] = {reals, turned(2), reals};
    others[0].scale = 2, others[2].seed = 4;
    for (int i = 0; i < 3; i++) {
        certreg_estimator *other = estimator_of(others + i);
        take(other, 8, SAMPLES, y);
        KIT_STATUS(other, certreg_estimator_calibrate(other, &c, &truth), CERTREG_E_MISMATCH);
    }
    ck_assert_uint_eq(c.count, 1);
    take(e, 9, SAMPLES, y);
    calibrates(&truth, CERTREG_OK, "");
    take(e, 10, SAMPLES, y);
    calibrates(&truth, CERTREG_E_TOO_MANY, "capacity");
    ck_assert(c.count == 2 && c.first_noise == 5 && c.last_noise == 9);
}

TEST(interval_rule_must_fit_the_calibration_and_the_record)
{
    certreg_coverage asked = coverage();
    calibrate(e, &c, 1);
    const certreg_rule usual = rule_of(asked, &c);
    asked.samples++;
    const certreg_rule longer = rule_of(asked, &c);
    asked = coverage();
    asked.sigma = 0.5, asked.points = POINTS, asked.calibration_samples = SAMPLES;
    const certreg_rule planned = rule_of(asked, NULL);
    ck_assert(isinf(planned.threshold) && planned.sample_rank == usual.sample_rank);
    take(e, POINTS, SAMPLES, y);
    finds(&c, &longer, CERTREG_E_MISMATCH, "the rule is for 28 samples, and the record has 27");
    finds(&c, &planned, CERTREG_E_MISMATCH, "a calibration that is planned");
    finds(&c, &usual, CERTREG_OK, "");
    certreg_rule changed[] = {usual, usual, usual, usual, usual};
    changed[0].alpha = 0.05, changed[1].radius *= 2, changed[2].threshold = NAN;
    changed[3].threshold *= 0.9, changed[4].sample_rank--;
    for (int i = 0; i < KIT_ROWS(changed); i++) {
        finds(&c, changed + i, CERTREG_E_MISMATCH, "or was changed");
        covers_zero(e, changed + i, CERTREG_E_MISMATCH);
    }
    covers_zero(e, &usual, CERTREG_OK);
    double others[SCORES]; /* of other points with the same noise: nothing but the scores differs */
    certreg_calibration other = calibration_of(others);
    calibrate(e, &other, 2);
    take(e, POINTS, SAMPLES, y);
    finds(&other, &usual, CERTREG_E_MISMATCH, "another calibration");
    c.count--;
    finds(&c, &usual, CERTREG_E_MISMATCH, "another calibration");
}

TEST(interval_checks_its_arguments)
{
    calibrate(e, &c, 1);
    take(e, POINTS, SAMPLES, y);
    const certreg_rule r = rule_of(coverage(), &c);
    certreg_rule strange = r;
    certreg_interval set = {.struct_size = sizeof set};
    strange.reserved = 1;
    const struct {
        const certreg_calibration *c;
        const certreg_rule *r;
        int32_t output;
        double *lo;
        size_t room;
        certreg_interval *set;
        certreg_status status;
        const char *words;
    } rows[] = {{&c, &strange, 0, room, SAMPLES, &set, CERTREG_E_INVALID, "rule.reserved"},
                {&c, &r, 0, room, SAMPLES - 1, &set, CERTREG_E_SMALL_MEMORY, ""},
                {&c, &r, 1, room, SAMPLES, &set, CERTREG_E_INVALID, "output is 1; give one of"},
                {&c, &r, 0, NULL, SAMPLES, &set, CERTREG_E_INVALID, "lo"},
                {&c, NULL, 0, room, SAMPLES, &set, CERTREG_E_INVALID, "rule"},
                {NULL, &r, 0, room, SAMPLES, &set, CERTREG_E_INVALID, "calibration"},
                {&c, &r, 0, room, SAMPLES, NULL, CERTREG_E_INVALID, "interval"}};
    for (int i = 0; i < KIT_ROWS(rows); i++) {
        KIT_REFUSED(e,
                    certreg_estimator_interval(e, rows[i].c, rows[i].r, rows[i].output, rows[i].lo,
                                               room, rows[i].room, rows[i].set),
                    rows[i].status, rows[i].words);
    }
}

/* The answer may have led to more samples. */
TEST(interval_fixes_the_number_of_samples)
{
    certreg_coverage asked = coverage();
    calibrate(e, &c, 1);
    const certreg_rule usual = rule_of(asked, &c);
    asked.samples = SAMPLES + 2;
    const certreg_rule more = rule_of(asked, &c);
    take(e, POINTS, SAMPLES, y);
    finds(&c, &usual, CERTREG_OK, "");
    KIT_OK(e, certreg_estimator_record(e, 0, SAMPLES + 2, y));
    finds(&c, &more, CERTREG_E_WRONG_STATE, "first evaluated");
    covers_zero(e, &more, CERTREG_E_WRONG_STATE);
}

TEST(interval_refuses_other_scores_than_the_calibrations)
{
    c.outputs = 2;
    calibrate(e, &c, 1);
    take(e, POINTS, SAMPLES, y);
    const certreg_rule usual = rule_of(coverage(), &c);
    for (int i = 0; i < 4; i++) {
        certreg_calibration other = c;
        if (i == 0) other.score = CERTREG_SCORE_LARGEST;
        if (i == 1) other.outputs = 1;
        if (i == 2) other.outputs = 1, other.output = 1;
        if (i == 3) other.units = units;
        finds(&other, &usual, CERTREG_E_MISMATCH, "");
        other.count = other.capacity - 1;
        KIT_STATUS(e, certreg_estimator_calibrate(e, &other, (const double[]){0, 0}),
                   CERTREG_E_MISMATCH);
    }
}

TEST(calibrate_takes_truths_of_angles_near_the_turn)
{
    static const double near[] = {2.9, 3, -3}, far[] = {0, 3.1}; /* "at most a turn" */
    use(3);
    for (uint64_t i = 0; i < 3; i++) {
        take(e, i, SAMPLES, y);
        if (!i) calibrates(far + 1, CERTREG_E_INVALID, "turn");
        calibrates(near + i, CERTREG_OK, "");
    }
    c = calibration_of(scores);
    c.outputs = OUTPUTS;
    calibrates(far, CERTREG_E_INVALID, "truth[1]");
    calibrates(far, CERTREG_E_INVALID, "output 1:");
}

TEST(calibrate_does_not_use_the_pilot)
{
    const double truth = 0;
    set_up s = reals;
    s.pilot = 10;
    e = estimator_of(&s);
    for (size_t i = 0; i < 10; i++) y[2 * i] = 1000;
    take(e, 0, 10, y);
    calibrates(&truth, CERTREG_E_WRONG_STATE, "pilot");
    KIT_OK(e, certreg_estimator_record(e, 0, SAMPLES, y));
    calibrates(&truth, CERTREG_OK, "");
    ck_assert_uint_eq(c.samples, SAMPLES - 10);
    ck_assert_double_lt(scores[0], 1);
}

TEST_TIMES(calibrate_takes_quantiles_of_two_real_outputs_only, 3)
{
    const double truth = 0;
    if (_i == 0) c.outputs = 1;
    if (_i == 1) c.units = units;
    if (_i == 2) use(3);
    c.score = CERTREG_SCORE_QUANTILES;
    take(e, 0, SAMPLES, y);
    calibrates(&truth, CERTREG_E_INVALID, "CERTREG_SCORE_QUANTILES");
    ck_assert_uint_eq(c.count, 0);
}

/* ---- fields */
#define FIELD(name) CERTREG_E_INVALID, offsetof(certreg_calibration, name)
static const spoil bad_calibrations[] = {
    {"score", FIELD(score), 'i', .number = 3},
    {"output", FIELD(output), 'i', .number = -1},
    {"outputs", FIELD(outputs), 'i', .number = 3},
    {"scores", FIELD(scores), 'p', .pointer = NULL},
    {"struct_size", FIELD(struct_size), 'i', .number = 8},
    {"units", FIELD(units), 'p', .pointer = (const double[]){0}},
};

TEST_ROWS(calibrate_names_the_bad_field, bad_calibrations)
{
    take(e, 0, SAMPLES, y);
    apply(&c, bad_calibrations + _i);
    calibrates((const double[]){0}, bad_calibrations[_i].status, bad_calibrations[_i].word);
}

#undef FIELD
#define FIELD(name) CERTREG_E_INVALID, offsetof(certreg_coverage, name)
static const spoil bad_coverages[] = {
    {"alpha", FIELD(alpha), 'd', .number = 0.6},
    {"alpha", FIELD(alpha), 'd', .number = NAN},
    {"radius", FIELD(radius), 'd', .number = -1},
    {"radius", FIELD(radius), 'd', .number = INFINITY},
    {"sigma", FIELD(sigma), 'd', .number = 0},
    {"reserved", FIELD(reserved), 'i', .number = 7},
    {"points", FIELD(points), 'z', .size = 0},
    {"samples", FIELD(samples), 'z', .size = 2000000000},
    {"calibration_samples", FIELD(calibration_samples), 'z', .size = 0},
    {"at least", FIELD(points), 'z', .size = 8},
    {"no number of points", FIELD(radius), 'd', .number = 20},
};

static certreg_coverage planned(void)
{
    certreg_coverage asked = coverage();
    asked.sigma = 0.5, asked.points = POINTS, asked.calibration_samples = SAMPLES;
    return asked;
}

TEST_ROWS(interval_rule_names_the_bad_field_of_a_coverage, bad_coverages)
{
    certreg_coverage asked = planned();
    certreg_rule r = {.struct_size = sizeof r, .sample_rank = 9};
    certreg_error why = {.struct_size = sizeof why};
    apply(&asked, bad_coverages + _i);
    ck_assert_int_eq(certreg_interval_rule(&asked, NULL, &why, &r), bad_coverages[_i].status);
    check_sentence(&why, bad_coverages + _i);
    ck_assert(isinf(r.threshold) && r.sample_rank == 0);
    ck_assert_int_eq(certreg_interval_rule(&asked, NULL, NULL, &r), bad_coverages[_i].status);
    ck_assert_int_eq(certreg_interval_rule(&asked, NULL, &why, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_interval_rule(NULL, NULL, &why, &r), CERTREG_E_INVALID);
}

TEST(interval_rule_refuses_a_coverage_of_another_calibration)
{
    certreg_coverage asked[4] = {coverage(), coverage(), coverage(), coverage()};
    certreg_rule r = {.struct_size = sizeof r};
    certreg_error why = {.struct_size = sizeof why};
    KIT_UNMADE(&why, certreg_interval_rule(asked, &c, &why, &r), CERTREG_E_INVALID, "no points");
    calibrate(e, &c, 1);
    asked[1].sigma = 0.5, asked[2].points = POINTS, asked[3].calibration_samples = SAMPLES;
    for (int i = 0; i < 4; i++) {
        KIT_UNMADE(&why, certreg_interval_rule(asked + i, &c, &why, &r),
                   i ? CERTREG_E_INVALID : CERTREG_OK, i ? "planned: leave them 0" : "");
    }
    scores[30] = NAN;
    KIT_UNMADE(&why, certreg_interval_rule(asked, &c, &why, &r), CERTREG_E_INVALID,
               "calibration.scores[30] is NaN");
}

TEST(interval_rule_allows_the_ends_of_its_ranges)
{
    certreg_coverage asked = planned();
    certreg_rule r = {.struct_size = sizeof r};
    certreg_error why = {.struct_size = sizeof why};
    char least[32];
    asked.points = 3;
    ck_assert_int_eq(certreg_interval_rule(&asked, NULL, &why, &r), CERTREG_E_INVALID);
    snprintf(least, sizeof least, "at least %llu", (unsigned long long)r.least_points);
    KIT_SAYS(&why, least);
    asked.points = r.least_points;
    rule_of(asked, NULL);
    asked.points = 100000000, asked.samples = asked.calibration_samples = 1000;
    for (int i = 0; i < 2; i++) {
        asked.alpha = i ? 0.5 : 1e-6;
        ck_assert_double_eq(rule_of(asked, NULL).alpha, asked.alpha);
    }
}

FIXTURE(setup, NULL)
KIT_MAIN("prediction intervals")
