/* What is refused of prediction intervals under attack: every message names the field. */
#include "support/bad_field.h"
#include "support/intervals.h"
#include <certreg/interval.h>

TEST(noise_of_the_calibration_is_refused)
{
    double scores[POINTS];
    certreg_estimator *e = estimator_of(&reals);
    certreg_calibration c = calibration_of(scores);
    calibrate(e, &c, 1);
    const certreg_ranks r = ranks_of(coverage());
    float y[OUTPUTS * SAMPLES];
    fill(y, SAMPLES, 1, 0);
    double lo[SAMPLES], hi[SAMPLES];
    int32_t covered = 7;
    for (uint64_t id = 0; id < POINTS; id += POINTS - 1) {
        certreg_interval set = {.struct_size = sizeof set};
        take(e, id, SAMPLES, y);
        KIT_STATUS(e, certreg_estimator_interval(e, &c, &r, 0, lo, hi, SAMPLES, &set),
                   CERTREG_E_WRONG_STATE);
        KIT_SAYS(certreg_estimator_error(e), "noise_id");
        ck_assert(isinf(set.lo) && isinf(set.hi) && set.alpha == 1);
        KIT_STATUS(e, certreg_estimator_covers(e, &c, &r, (const double[]){0}, &covered),
                   CERTREG_E_WRONG_STATE);
    }
    take(e, POINTS, SAMPLES, y);
    KIT_OK(e, certreg_estimator_covers(e, &c, &r, (const double[]){0}, &covered));
    set_up other = reals; /* another seed has other noise */
    other.seed = 4;
    certreg_estimator *fresh = estimator_of(&other);
    take(fresh, 0, SAMPLES, y);
    KIT_OK(fresh, certreg_estimator_covers(fresh, &c, &r, (const double[]){0}, &covered));
}

TEST(points_must_agree_and_nothing_is_added_where_they_do_not)
{
    double scores[2];
    certreg_estimator *e = estimator_of(&reals);
    certreg_calibration c = calibration_of(scores);
    c.capacity = 2;
    float y[2 * OUTPUTS * SAMPLES];
    const double truth = 0, nan = NAN;
    fill(y, 2 * SAMPLES, 1, 0);
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, &truth), CERTREG_E_WRONG_STATE);
    take(e, 5, SAMPLES, y);
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, &nan), CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, NULL), CERTREG_E_INVALID);
    KIT_OK(e, certreg_estimator_calibrate(e, &c, &truth));
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, &truth), CERTREG_E_WRONG_STATE);
    KIT_SAYS(certreg_estimator_error(e), "ascending");
    take(e, 6, SAMPLES + 1, y);
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, &truth), CERTREG_E_MISMATCH);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0.5f}, 0.25, 7));
    KIT_OK(e, certreg_estimator_record(e, 0, SAMPLES, y));
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, &truth), CERTREG_E_MISMATCH);
    KIT_SAYS(certreg_estimator_error(e), "sigma");
    set_up others[] = {reals, turned(2), reals};
    others[0].scale = 2, others[2].seed = 4;
    for (int i = 0; i < 3; i++) {
        certreg_estimator *other = estimator_of(others + i);
        take(other, 8, SAMPLES, y);
        KIT_STATUS(other, certreg_estimator_calibrate(other, &c, &truth), CERTREG_E_MISMATCH);
    }
    ck_assert_uint_eq(c.count, 1);
    take(e, 9, SAMPLES, y);
    KIT_OK(e, certreg_estimator_calibrate(e, &c, &truth));
    take(e, 10, SAMPLES, y);
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, &truth), CERTREG_E_TOO_MANY);
    ck_assert_uint_eq(c.count, 2);
    ck_assert_uint_eq(c.first_noise, 5);
    ck_assert_uint_eq(c.last_noise, 9);
}

TEST(ranks_and_records_must_fit_the_calibration)
{
    double scores[POINTS], lo[SAMPLES], hi[SAMPLES];
    certreg_estimator *e = estimator_of(&reals);
    certreg_calibration c = calibration_of(scores);
    calibrate(e, &c, 1);
    float y[2 * OUTPUTS * SAMPLES];
    fill(y, 2 * SAMPLES, 1, 0);
    take(e, POINTS, SAMPLES, y);
    certreg_interval set = {.struct_size = sizeof set};
    for (int i = 0; i < 5; i++) {
        certreg_coverage other = coverage();
        if (i == 0) other.points++;
        if (i == 1) other.calibration_samples += 2;
        if (i == 2) other.samples++;
        if (i == 3) other.sigma = 1;
        if (i == 4) other.share = 0.3;
        const certreg_ranks r = ranks_of(other);
        KIT_STATUS(e, certreg_estimator_interval(e, &c, &r, 0, lo, hi, SAMPLES, &set),
                   CERTREG_E_MISMATCH);
    }
    const certreg_ranks r = ranks_of(coverage());
    certreg_ranks strange = r;
    strange.reserved = 1;
    KIT_STATUS(e, certreg_estimator_interval(e, &c, &strange, 0, lo, hi, SAMPLES, &set),
               CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(e), "ranks.reserved");
    KIT_STATUS(e, certreg_estimator_interval(e, &c, &r, 0, lo, hi, SAMPLES - 1, &set),
               CERTREG_E_SMALL_MEMORY);
    KIT_STATUS(e, certreg_estimator_interval(e, &c, &r, 1, lo, hi, SAMPLES, &set),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_interval(e, &c, &r, 0, NULL, hi, SAMPLES, &set),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_interval(e, &c, NULL, 0, lo, hi, SAMPLES, &set),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_interval(e, NULL, &r, 0, lo, hi, SAMPLES, &set),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_interval(e, &c, &r, 0, lo, hi, SAMPLES, NULL),
               CERTREG_E_INVALID);
    scores[3] = NAN;
    KIT_STATUS(e, certreg_estimator_interval(e, &c, &r, 0, lo, hi, SAMPLES, &set),
               CERTREG_E_INVALID);
    scores[3] = 1;
    KIT_OK(e, certreg_estimator_interval(e, &c, &r, 0, lo, hi, SAMPLES, &set));
    /* The answer may have led to more samples. */
    KIT_OK(e, certreg_estimator_record(e, 0, SAMPLES + 2, y));
    certreg_coverage more = coverage();
    more.samples = SAMPLES + 2;
    const certreg_ranks later = ranks_of(more);
    double room[2 * SAMPLES];
    KIT_STATUS(e, certreg_estimator_interval(e, &c, &later, 0, room, room, 2 * SAMPLES, &set),
               CERTREG_E_WRONG_STATE);
    KIT_SAYS(certreg_estimator_error(e), "first evaluated");
    int32_t covered = 0;
    KIT_STATUS(e, certreg_estimator_covers(e, &c, &later, (const double[]){0}, &covered),
               CERTREG_E_WRONG_STATE);
    ck_assert_int_eq(covered, 1);
}

TEST(how_points_are_scored_must_stay)
{
    static const double units[] = {2, 2};
    double scores[POINTS], room[2 * SAMPLES];
    certreg_estimator *e = estimator_of(&reals);
    certreg_calibration c = calibration_of(scores);
    c.outputs = 2;
    calibrate(e, &c, 1);
    float y[OUTPUTS * SAMPLES];
    fill(y, SAMPLES, 1, 0);
    take(e, POINTS, SAMPLES, y);
    for (int i = 0; i < 5; i++) {
        certreg_calibration other = c;
        certreg_coverage asked = coverage();
        if (i == 0) other.score = CERTREG_SCORE_LARGEST;
        if (i == 1) other.outputs = 1;
        if (i == 2) other.outputs = 1, other.output = 1;
        if (i == 3) other.units = units;
        if (i == 4) other.share = asked.share = 0.2;
        const certreg_ranks r = ranks_of(asked);
        certreg_interval set = {.struct_size = sizeof set};
        KIT_STATUS(
            e,
            certreg_estimator_interval(e, &other, &r, other.output, room, room, 2 * SAMPLES, &set),
            CERTREG_E_MISMATCH);
        other.count = other.capacity - 1;
        KIT_STATUS(e, certreg_estimator_calibrate(e, &other, (const double[]){0, 0}),
                   CERTREG_E_MISMATCH);
    }
}

TEST(truths_of_angles_are_near_the_turn)
{
    const set_up s = turned(1);
    double scores[POINTS];
    certreg_estimator *e = estimator_of(&s);
    certreg_calibration c = calibration_of(scores);
    float y[OUTPUTS * SAMPLES];
    fill(y, SAMPLES, 1, 0);
    take(e, 0, SAMPLES, y);
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, (const double[]){3.1}), CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(e), "turn");
    KIT_OK(e, certreg_estimator_calibrate(e, &c, (const double[]){2.9}));
    take(e, 1, SAMPLES, y);
    KIT_OK(e, certreg_estimator_calibrate(e, &c, (const double[]){3})); /* "at most a turn" */
    take(e, 2, SAMPLES, y);
    KIT_OK(e, certreg_estimator_calibrate(e, &c, (const double[]){-3}));
}

TEST(the_output_of_a_bad_truth_is_named)
{
    const set_up s = turned(2);
    double scores[POINTS];
    certreg_estimator *e = estimator_of(&s);
    certreg_calibration c = calibration_of(scores);
    float y[OUTPUTS * SAMPLES];
    fill(y, SAMPLES, 1, 0);
    take(e, 0, SAMPLES, y);
    c.outputs = OUTPUTS;
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, (const double[]){0, 3.1}), CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(e), "truth[1]");
    KIT_SAYS(certreg_estimator_error(e), "output 1:");
}

TEST(samples_of_the_pilot_are_not_used)
{
    set_up s = reals;
    s.pilot = 10;
    double scores[1];
    certreg_estimator *e = estimator_of(&s);
    certreg_calibration c = calibration_of(scores);
    c.capacity = 1;
    float y[OUTPUTS * SAMPLES];
    fill(y, SAMPLES, 1, 0);
    for (size_t i = 0; i < 10; i++) y[2 * i] = 1000;
    take(e, 0, 10, y);
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, (const double[]){0}), CERTREG_E_WRONG_STATE);
    KIT_SAYS(certreg_estimator_error(e), "pilot");
    KIT_OK(e, certreg_estimator_record(e, 0, SAMPLES, y));
    KIT_OK(e, certreg_estimator_calibrate(e, &c, (const double[]){0}));
    ck_assert_uint_eq(c.samples, SAMPLES - 10);
    ck_assert_double_lt(scores[0], 1);
}

static const spoil bad_calibrations[] = {
    {"score", CERTREG_E_INVALID, offsetof(certreg_calibration, score), 'i', 3, 0, NULL},
    {"output", CERTREG_E_INVALID, offsetof(certreg_calibration, output), 'i', -1, 0, NULL},
    {"outputs", CERTREG_E_INVALID, offsetof(certreg_calibration, outputs), 'i', 3, 0, NULL},
    {"share", CERTREG_E_INVALID, offsetof(certreg_calibration, share), 'd', 1, 0, NULL},
    {"share", CERTREG_E_INVALID, offsetof(certreg_calibration, share), 'd', NAN, 0, NULL},
    {"scores", CERTREG_E_INVALID, offsetof(certreg_calibration, scores), 'p', 0, 0, NULL},
    {"struct_size", CERTREG_E_INVALID, offsetof(certreg_calibration, struct_size), 'i', 8, 0, NULL},
    {"units", CERTREG_E_INVALID, offsetof(certreg_calibration, units), 'p', 0, 0,
     (const double[]){0}}};

TEST_ROWS(bad_fields_of_a_calibration_are_named, bad_calibrations)
{
    double scores[POINTS];
    certreg_estimator *e = estimator_of(&reals);
    certreg_calibration c = calibration_of(scores);
    float y[OUTPUTS * SAMPLES];
    fill(y, SAMPLES, 1, 0);
    take(e, 0, SAMPLES, y);
    apply(&c, bad_calibrations + _i);
    KIT_STATUS(e, certreg_estimator_calibrate(e, &c, (const double[]){0}),
               bad_calibrations[_i].status);
    check_sentence(certreg_estimator_error(e), bad_calibrations + _i);
}

TEST(quantiles_are_two_real_outputs_without_units)
{
    static const set_up angles = {.kind = {CERTREG_OUTPUT_ANGLE, CERTREG_OUTPUT_ANGLE},
                                  .lo = {-180, -180},
                                  .hi = {180, 180},
                                  .scale = 1,
                                  .pilot = SIZE_MAX,
                                  .seed = 3};
    double scores[POINTS];
    float y[OUTPUTS * SAMPLES];
    fill(y, SAMPLES, 1, 0);
    for (int i = 0; i < 3; i++) {
        certreg_estimator *e = estimator_of(i < 2 ? &reals : &angles);
        certreg_calibration c = calibration_of(scores);
        c.score = CERTREG_SCORE_QUANTILES;
        if (i == 0) c.outputs = 1;
        if (i == 1) c.units = (const double[]){1, 1};
        take(e, 0, SAMPLES, y);
        KIT_STATUS(e, certreg_estimator_calibrate(e, &c, (const double[]){0}), CERTREG_E_INVALID);
        KIT_SAYS(certreg_estimator_error(e), "CERTREG_SCORE_QUANTILES");
        ck_assert_uint_eq(c.count, 0);
    }
}

static const spoil bad_coverages[] = {
    {"alpha", CERTREG_E_INVALID, offsetof(certreg_coverage, alpha), 'd', 0.6, 0, NULL},
    {"alpha", CERTREG_E_INVALID, offsetof(certreg_coverage, alpha), 'd', NAN, 0, NULL},
    {"radius", CERTREG_E_INVALID, offsetof(certreg_coverage, radius), 'd', -1, 0, NULL},
    {"radius", CERTREG_E_INVALID, offsetof(certreg_coverage, radius), 'd', INFINITY, 0, NULL},
    {"sigma", CERTREG_E_INVALID, offsetof(certreg_coverage, sigma), 'd', 0, 0, NULL},
    {"share", CERTREG_E_INVALID, offsetof(certreg_coverage, share), 'd', -0.1, 0, NULL},
    {"reserved", CERTREG_E_INVALID, offsetof(certreg_coverage, reserved), 'i', 7, 0, NULL},
    {"points", CERTREG_E_INVALID, offsetof(certreg_coverage, points), 'z', 0, 0, NULL},
    {"samples", CERTREG_E_INVALID, offsetof(certreg_coverage, samples), 'z', 0, 2000000000, NULL},
    {"calibration_samples", CERTREG_E_INVALID, offsetof(certreg_coverage, calibration_samples), 'z',
     0, 0, NULL},
    {"at least", CERTREG_E_INVALID, offsetof(certreg_coverage, points), 'z', 0, 8, NULL},
    {"no number of points", CERTREG_E_INVALID, offsetof(certreg_coverage, radius), 'd', 20, 0,
     NULL}};

TEST_ROWS(bad_fields_of_a_coverage_are_named, bad_coverages)
{
    certreg_coverage c = coverage();
    certreg_ranks r = {.struct_size = sizeof r, .point_rank = 9};
    certreg_error why = {.struct_size = sizeof why};
    apply(&c, bad_coverages + _i);
    ck_assert_int_eq(certreg_interval_ranks(&c, &why, &r), bad_coverages[_i].status);
    check_sentence(&why, bad_coverages + _i);
    ck_assert_uint_eq(r.point_rank, 0);
    ck_assert_uint_eq(r.sample_rank, 0);
    ck_assert_int_eq(certreg_interval_ranks(&c, NULL, &r), bad_coverages[_i].status);
    ck_assert_int_eq(certreg_interval_ranks(&c, &why, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_interval_ranks(NULL, &why, &r), CERTREG_E_INVALID);
}

TEST(ends_of_what_is_allowed_are_allowed)
{
    certreg_coverage c = coverage();
    certreg_ranks r = {.struct_size = sizeof r};
    c.points = 100000000, c.samples = c.calibration_samples = 1000;
    const double alphas[] = {1e-6, 0.5};
    for (int i = 0; i < 2; i++) {
        c.alpha = alphas[i];
        ck_assert_int_eq(certreg_interval_ranks(&c, NULL, &r), CERTREG_OK);
        ck_assert_double_le(r.alpha, c.alpha);
    }
}

TEST(too_few_points_are_refused_with_the_number_needed)
{
    certreg_coverage c = coverage();
    certreg_ranks r = {.struct_size = sizeof r};
    certreg_error why = {.struct_size = sizeof why};
    c.points = 3;
    ck_assert_int_eq(certreg_interval_ranks(&c, &why, &r), CERTREG_E_INVALID);
    char least[32];
    snprintf(least, sizeof least, "at least %llu", (unsigned long long)r.least_points);
    KIT_SAYS(&why, least);
    c.points = r.least_points;
    ck_assert_int_eq(certreg_interval_ranks(&c, &why, &r), CERTREG_OK);
}

KIT_MAIN("api_errors_interval")
