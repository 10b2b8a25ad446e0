/* Weights for prediction intervals under attack, against their definition on a fine grid and the
 * worst laws on two points. */
#include <certreg/interval.h>
#include "statistics/binomial.h"
#include "conformal/conformal.h"
#include "statistics/normal.h"
#include "statistics/location.h"
#include "support/intervals.h"
#include "support/simulate.h"
#include "support/suite.h"

enum { GRID = 6000, EVERY = 3 };

static cr_weights_setting setting(uint64_t calibration, uint64_t samples, double shift)
{
    return (cr_weights_setting){.alpha = 0.1,
                                .shift = shift,
                                .points = 500,
                                .calibration = calibration,
                                .samples = samples};
}

static const struct {
    uint64_t calibration, samples;
    double shift;
} cases[] = {{1, 1, 0.3},    {1, 1, 1},        {11, 11, 0},     {11, 11, 0.5},
             {11, 40, 0.5},  {101, 101, 0.1},  {101, 101, 1},   {101, 1, 0.5},
             {101, 7, 0.25}, {101, 1001, 0.5}, {1001, 1001, 0}, {1001, 100, 1},
             {64, 1001, 2},  {30, 29, 0.01},   {1001, 11, 0.5}, {20000, 20000, 1}};

/* P(Bin(n, Phi(t)) >= least), by the library's binomial. */
static double tail(uint64_t n, uint64_t least, double t)
{
    return cr_binomial_cdf(n - least, n, cr_normal_sf(t));
}

/* ---- by the definition */
typedef struct curves {
    double a[GRID + 1], w[GRID + 1];
} curves;

static double grid_at(int i)
{
    return -6 + 12.0 * i / GRID;
}

static void curves_of(const cr_weights_setting *s, const cr_weight_function *w, curves *on)
{
    uint64_t above[CR_WEIGHTS_LEVELS];
    const int levels = cr_weights_levels(s->calibration, above);
    for (int i = 0; i <= GRID; i++) {
        const double t = grid_at(i);
        on->a[i] = tail(s->samples, s->samples - w->sample_rank + 1, t + s->shift);
        on->w[i] = w->floor;
        for (int l = 0; l < levels; l++)
            if (w->step[l] > 0) on->w[i] += w->step[l] * tail(s->calibration, above[l], t);
    }
}

/* The greatest probability of a miss over all laws of G on two points of the grid with a mean
 * weight of alpha. */
static double attained(const curves *on, double alpha)
{
    double best = 0;
    int left = 0;
    while (left < GRID && on->w[left + 1] <= alpha) left++;
    for (int i = 0; i <= left; i += EVERY)
        for (int j = left + 1; j <= GRID; j += EVERY)
            best = fmax(best, on->a[i] + (on->a[j] - on->a[i]) * (alpha - on->w[i]) /
                                             (on->w[j] - on->w[i]));
    return best;
}

/* Weights that are large enough on some points, and nowhere else, fail here: by one part in 1,000
 * where they are not lifted (seen). */
TEST_ROWS(weights_choose_is_at_least_what_is_missed_and_hardly_more, cases)
{
    static curves on;
    cr_weights_setting s = setting(cases[_i].calibration, cases[_i].samples, cases[_i].shift);
    const cr_weight_function w = cr_weights_choose(&s);
    ck_assert_uint_gt(w.sample_rank, 0);
    double most = 0;
    curves_of(&s, &w, &on);
    for (int i = 0; i <= GRID; i++) most = fmax(most, on.a[i] / on.w[i]);
    const double missed = attained(&on, s.alpha);
    ck_assert_msg(most <= 1 + 1e-12 && most >= 0.985, "a/w %.9f", most);
    ck_assert_msg(missed <= s.alpha * (1 + 1e-12) && missed >= 0.95 * s.alpha, "missed %.9f",
                  missed);
    /* the least number of points is the least */
    const uint64_t least = cr_weights_min_points(&s);
    ck_assert_uint_ge(least, 9);
    for (s.points = least - 1; s.points <= least + 1; s.points++) {
        const cr_weight_function few = cr_weights_choose(&s);
        ck_assert_uint_eq(few.min_points, least);
        ck_assert_int_eq(few.sample_rank > 0, s.points >= least);
        if (few.sample_rank) ck_assert_double_ge(cr_weights_budget(&few, s.alpha, s.points), 0);
    }
}

/* Any weights, and not only those that were chosen. */
TEST_TIMES(majorant_scale_is_at_least_that_of_a_grid_and_hardly_more, 40)
{
    simulate_source source;
    simulate_seed(&source, 100 + (uint64_t)_i);
    const uint64_t calibration = 1 + (uint64_t)exp(7 * simulate_uniform(&source)),
                   samples = 1 + (uint64_t)exp(7 * simulate_uniform(&source)),
                   k = 1 + (uint64_t)(0.6 * simulate_uniform(&source) * (double)samples);
    const double shift = _i % 4 ? 2 * simulate_uniform(&source) : 0;
    uint64_t above[CR_WEIGHTS_LEVELS];
    cr_tail_majorant m = {.floor = 1e-3, .a = cr_binomial_tail_of(samples, samples - k + 1, shift)};
    m.count = cr_weights_levels(calibration, above);
    for (int l = 0; l < m.count; l++) {
        const double u = simulate_uniform(&source);
        m.b[l] = cr_binomial_tail_of(calibration, above[l], 0), m.step[l] = u < 0.5 ? u : 0;
    }
    m.step[m.count / 2] += 0.1;
    double shown = 0;
    for (int i = 0; i <= GRID; i++) {
        double sum = m.floor;
        for (int l = 0; l < m.count; l++)
            if (m.step[l] > 0) sum += m.step[l] * tail(calibration, above[l], grid_at(i));
        shown = fmax(shown, tail(samples, samples - k + 1, grid_at(i) + shift) / sum);
    }
    cr_violations lacks;
    const double scale = cr_majorant_scale(&m, &lacks);
    ck_assert_msg(scale >= shown * (1 - 1e-12), "%.12g, shown %.12g", scale, shown);
    ck_assert_msg(scale <= shown * 1.01, "%.12g, shown %.12g", scale, shown);
    ck_assert_int_eq(lacks.count > 0, shown > 1.0005);
}

TEST(weights_levels_rise)
{
    for (uint64_t n = 1; n < 20000000; n += 1 + n / 3) {
        uint64_t above[CR_WEIGHTS_LEVELS];
        const int levels = cr_weights_levels(n, above);
        ck_assert_int_eq(levels, n < CR_WEIGHTS_LEVELS ? (int)n : CR_WEIGHTS_LEVELS);
        for (int l = 0; l < levels; l++)
            ck_assert(above[l] > (l ? above[l - 1] : 0) && above[l] <= n);
    }
}

/* sigma*scale is a float, so the noise of a feature may be smaller than asked for by 2^-22 of it
 * (theory 12), and a shift longer in units of this noise. */
TEST(interval_rule_holds_for_the_noise_that_floats_allow)
{
    const certreg_coverage c = STRUCT(certreg_coverage, .alpha = 0.1, .radius = 1000, .sigma = 500,
                                      .points = 500, .calibration_samples = 101, .samples = 101);
    certreg_rule r = {.struct_size = sizeof r};
    ck_assert_int_eq(certreg_interval_rule(&c, NULL, NULL, &r), CERTREG_OK);
    const cr_weights_setting least = setting(101, 101, 2 * (1 + 0x1p-22));
    ck_assert_uint_eq(r.least_points, cr_weights_min_points(&least));
    ck_assert_uint_eq(r.sample_rank, cr_weights_choose(&least).sample_rank);
}

TEST(weights_without_a_shift_are_split_conformal_prediction)
{
    for (uint64_t points = 1; points < 60; points++) {
        cr_weights_setting s = setting(101, 101, 0);
        s.points = points;
        const cr_weight_function w = cr_weights_choose(&s);
        const double rank = ceil(0.9 * (double)(points + 1) - 1e-9);
        ck_assert_uint_eq(w.min_points, 9);
        ck_assert_uint_eq(w.sample_rank, rank <= (double)points ? 51 : 0);
        if (w.sample_rank) /* of the medians so many may be above the threshold */
            ck_assert_double_eq(floor(cr_weights_budget(&w, 0.1, points)), (double)points - rank);
    }
    for (uint64_t needed = 2; needed < 1000; needed++) { /* as a double, 1/161 is smaller */
        cr_weights_setting s = setting(101, 101, 0);
        s.alpha = 1 / (double)needed, s.points = cr_weights_min_points(&s);
        const cr_weight_function w = cr_weights_choose(&s);
        ck_assert(w.sample_rank > 0 && s.points <= needed);
        ck_assert_double_ge(cr_weights_budget(&w, s.alpha, s.points), 0);
    }
}

static const double very_long[] = {99, 101, 1e9, 4e16, INFINITY};

TEST_ROWS(weights_there_are_none_at_a_very_long_shift, very_long)
{
    cr_weights_setting s = setting(12, 12, very_long[_i]);
    s.alpha = 0.9;
    ck_assert_uint_eq(cr_weights_min_points(&s), 0);
    ck_assert_uint_eq(cr_weights_choose(&s).sample_rank, 0);
}

TEST(weights_of_longer_shifts_and_smaller_alpha_need_larger_sets)
{
    double sharp = 1;
    for (double shift = 0; shift < 2; shift += 0.25) {
        const cr_weights_setting s = setting(101, 101, shift);
        const double share = (double)cr_weights_choose(&s).sample_rank / 101;
        ck_assert_double_le(share, sharp);
        ck_assert_double_le(share, cr_normal_sf(shift - 0.6));
        sharp = share;
    }
    cr_weights_setting strict = setting(101, 101, 0.5);
    strict.alpha = 1e-6;
    ck_assert_uint_eq(cr_weights_choose(&strict).sample_rank, 0);
    strict.points = 5000000;
    ck_assert_uint_gt(cr_weights_choose(&strict).sample_rank, 0);
}

/* ---- thresholds */
/* The weights and the least threshold of theory 12.2, by counting. */
static double risk_at(const double *scores, const cr_weight_function *w, double q)
{
    double sum = (POINTS + 1) * w->floor;
    for (int l = 0; l < CR_WEIGHTS_LEVELS; l++) {
        sum += w->step[l];
        for (int i = 0; i < POINTS; i++)
            sum += scores[i * CR_WEIGHTS_LEVELS + l] > q ? w->step[l] : 0;
    }
    return sum / (POINTS + 1);
}

TEST_TIMES(interval_rule_threshold_is_the_least_that_keeps_the_risk, 8)
{
    double scores[SCORES];
    certreg_estimator *e = estimator_of(&reals);
    certreg_calibration c = calibration_of(scores);
    certreg_coverage asked = coverage();
    lottery = (uint32_t)_i;
    asked.radius = 0.1 * _i;
    calibrate(e, &c, 1);
    const certreg_rule r = rule_of(asked, &c);
    cr_weights_setting s = setting(SAMPLES, SAMPLES, asked.radius / 0.5 * (1 + 0x1p-22));
    s.points = POINTS;
    const cr_weight_function w = cr_weights_choose(&s);
    ck_assert_double_le(risk_at(scores, &w, r.threshold), 0.1);
    ck_assert_double_gt(risk_at(scores, &w, nextafter(r.threshold, -INFINITY)), 0.1);
    ck_assert_uint_eq(r.sample_rank, w.sample_rank);
    double y[SAMPLES]; /* kept is the score that is exceeded where the point is above a level */
    uint64_t above[CR_WEIGHTS_LEVELS];
    float outputs[OUTPUTS * SAMPLES];
    const double truth = 0;
    cr_weights_levels(SAMPLES, above);
    fill(outputs, SAMPLES, 1, 0);
    take(e, POINTS, SAMPLES, outputs);
    c = calibration_of(scores);
    KIT_OK(e, certreg_estimator_calibrate(e, &c, &truth));
    for (int i = 0; i < SAMPLES; i++) y[i] = fabs((double)outputs[2 * i]);
    cr_order_sort(y, SAMPLES);
    for (int l = 0; l < CR_WEIGHTS_LEVELS; l++)
        ck_assert_double_eq(scores[l], y[SAMPLES - above[l]]);
    certreg_estimator_destroy(e);
}

TEST_MAIN("weight_function")
