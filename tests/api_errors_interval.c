/* What is refused of prediction intervals under attack: every message names the field. */
#include "support/bad_field.h"
#include "support/intervals.h"

/* ---- what every test has: an estimator of real outputs, a calibration that is empty, outputs */
static certreg_estimator *e;
static certreg_calibration c;
static double scores[SCORES], room[2 * SAMPLES];
static float y[2 * OUTPUTS * SAMPLES];
static const double units[] = {2, 2};

static void setup(void)
{
    lottery = 0;
    e = estimator_of(&reals);
    c = calibration_of(scores);
    fill(y, 2 * SAMPLES, 1, 0);
}

static void calibrates(const double *truth, certreg_status status, const char *words)
{
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, truth), status);
    KIT_SAYS(certreg_estimator_error(e), words);
}

static void finds(const certreg_calibration *by, const certreg_rule *r, certreg_status status,
                  const char *words)
{
    certreg_interval set = {.struct_size = sizeof set, .lo = 1, .hi = 2};
    KIT_STATUS(e, certreg_estimator_interval(e, by, r, by->output, room, room, 2 * SAMPLES, &set),
               status);
    KIT_SAYS(certreg_estimator_error(e), words);
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
    c.count--;
    finds(&c, &usual, CERTREG_E_MISMATCH, "another calibration");
}

/* Nothing but the scores tells them apart. */
TEST(interval_rule_of_other_points_of_the_same_noise_is_refused)
{
    calibrate(e, &c, 1);
    double others[SCORES];
    certreg_calibration other = calibration_of(others);
    calibrate(e, &other, 2);
    const certreg_rule usual = rule_of(coverage(), &c);
    take(e, POINTS, SAMPLES, y);
    finds(&other, &usual, CERTREG_E_MISMATCH, "another calibration");
    finds(&c, &usual, CERTREG_OK, "");
}

TEST(interval_rule_that_was_changed_is_refused)
{
    calibrate(e, &c, 1);
    const certreg_rule usual = rule_of(coverage(), &c);
    certreg_rule changed[] = {usual, usual, usual, usual, usual};
    changed[0].alpha = 0.05, changed[1].radius *= 2, changed[2].threshold = NAN;
    changed[3].threshold *= 0.9, changed[4].sample_rank--;
    take(e, POINTS, SAMPLES, y);
    for (int i = 0; i < KIT_ROWS(changed); i++) {
        finds(&c, changed + i, CERTREG_E_MISMATCH, "or was changed");
        covers_zero(e, changed + i, CERTREG_E_MISMATCH);
    }
    covers_zero(e, &usual, CERTREG_OK);
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
        KIT_STATUS(e,
                   certreg_estimator_interval(e, rows[i].c, rows[i].r, rows[i].output, rows[i].lo,
                                              room, rows[i].room, rows[i].set),
                   rows[i].status);
        KIT_SAYS(certreg_estimator_error(e), rows[i].words);
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
    static const double near[] = {2.9, 3, -3}, far = 3.1; /* "at most a turn" */
    const set_up s = turned(1);
    e = estimator_of(&s);
    for (uint64_t i = 0; i < 3; i++) {
        take(e, i, SAMPLES, y);
        if (!i) calibrates(&far, CERTREG_E_INVALID, "turn");
        calibrates(near + i, CERTREG_OK, "");
    }
}

TEST(calibrate_names_the_output_of_a_bad_truth)
{
    const double truth[] = {0, 3.1};
    const set_up s = turned(2);
    e = estimator_of(&s);
    take(e, 0, SAMPLES, y);
    c.outputs = OUTPUTS;
    calibrates(truth, CERTREG_E_INVALID, "truth[1]");
    calibrates(truth, CERTREG_E_INVALID, "output 1:");
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
    const set_up s = turned(3);
    if (_i == 0) c.outputs = 1;
    if (_i == 1) c.units = units;
    if (_i == 2) e = estimator_of(&s);
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
    ck_assert_int_eq(certreg_interval_rule(asked, &c, &why, &r), CERTREG_E_INVALID);
    KIT_SAYS(&why, "no points");
    calibrate(e, &c, 1);
    asked[1].sigma = 0.5, asked[2].points = POINTS, asked[3].calibration_samples = SAMPLES;
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(certreg_interval_rule(asked + i, &c, &why, &r),
                         i ? CERTREG_E_INVALID : CERTREG_OK);
        KIT_SAYS(&why, i ? "planned: leave them 0" : "");
    }
    scores[30] = NAN;
    ck_assert_int_eq(certreg_interval_rule(asked, &c, &why, &r), CERTREG_E_INVALID);
    KIT_SAYS(&why, "calibration.scores[30] is NaN");
}

TEST(interval_rule_allows_the_ends_of_its_ranges)
{
    certreg_coverage asked = planned();
    asked.points = 100000000, asked.samples = asked.calibration_samples = 1000;
    for (int i = 0; i < 2; i++) {
        asked.alpha = i ? 0.5 : 1e-6;
        ck_assert_double_eq(rule_of(asked, NULL).alpha, asked.alpha);
    }
}

TEST(interval_rule_names_the_least_number_of_points)
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
}

FIXTURE(setup, NULL)
KIT_MAIN("refusals of intervals")
