/* Ranks for prediction intervals under attack, against the definition on a fine grid; the points in
 * at least so many intervals, and sorting, by counting. */
#include <certreg/interval.h>
#include "statistics/binomial.h"
#include "statistics/cover.h"
#include "statistics/normal.h"
#include "statistics/order.h"
#include "statistics/ranks.h"
#include "support/simulate.h"
#include "support/suite.h"

enum { GRID = 9000, EVERY = 3 };

static cr_ranks_setting setting(uint64_t calibration, uint64_t samples, double shift)
{
    return (cr_ranks_setting){.alpha = 0.1,
                              .shift = shift,
                              .points = 500,
                              .calibration = calibration,
                              .calibration_rank = (calibration + 1) / 2,
                              .samples = samples};
}

static const struct {
    uint64_t calibration, samples;
    double shift;
} cases[] = {{1, 1, 0.3},      {1, 1, 1},       {11, 11, 0},    {11, 11, 0.5},
             {11, 40, 0.5},    {101, 101, 0.1}, {101, 101, 1},  {101, 7, 0.25},
             {101, 1001, 0.5}, {1001, 1001, 0}, {1001, 100, 1}, {64, 1001, 2}};

/* P(Bin(n, g) >= n - k + 1), by the library's binomial. */
static double tail(uint64_t n, uint64_t k, double g)
{
    return cr_binomial_cdf(k - 1, n, 1 - g);
}

/* The greatest mean of a over all distributions of G on two points of the grid for which b has the
 * mean x. */
static double attained(const cr_ranks_setting *s, uint64_t k, double x)
{
    static double a[GRID + 1], b[GRID + 1];
    double best = 0;
    for (int i = 0; i <= GRID; i++) {
        const double t = -6 + 12.0 * i / GRID;
        b[i] = tail(s->calibration, s->calibration_rank, cr_normal_cdf(t));
        a[i] = tail(s->samples, k, cr_normal_cdf(t + s->shift));
    }
    int left = 0;
    while (left < GRID && b[left + 1] <= x) left++;
    for (int i = 0; i <= left; i += EVERY)
        for (int j = left + 1; j <= GRID; j += EVERY)
            if (b[j] > b[i]) best = fmax(best, a[i] + (a[j] - a[i]) * (x - b[i]) / (b[j] - b[i]));
    return best;
}

TEST_ROWS(misses_are_at_least_those_of_any_mixture_and_hardly_more, cases)
{
    const cr_ranks_setting s = setting(cases[_i].calibration, cases[_i].samples, cases[_i].shift);
    const uint64_t ranks[] = {1, (s.samples + 3) / 4, (s.samples + 1) / 2};
    for (int i = 0; i < 3; i++)
        for (uint64_t point = 440; point <= 500; point += 20) {
            const double x = (501 - (double)point) / 501;
            const double bound = cr_ranks_misses(&s, point, ranks[i]),
                         least = attained(&s, ranks[i], x);
            ck_assert_msg(bound >= least - 1e-12, "%g below %.12g", bound, least);
            ck_assert_msg(bound <= least + 3e-4, "%g, attained %.12g", bound, least);
        }
}

/* One point is a mixture too. Next to the modes of both tails the bound is nearest to it. */
TEST_ROWS(misses_are_at_least_those_of_any_single_point, cases)
{
    enum { POINTS = 99999 };
    cr_ranks_setting s = setting(cases[_i].calibration, cases[_i].samples, cases[_i].shift);
    const uint64_t k = (s.samples + 1) / 2;
    s.points = POINTS;
    for (uint64_t point = 500; point < POINTS; point += 500) {
        const double x = (double)(POINTS + 1 - point) / (POINTS + 1);
        double low = -8, high = 8;
        for (int i = 0; i < 60; i++) {
            const double t = 0.5 * (low + high);
            if (tail(s.calibration, s.calibration_rank, cr_normal_cdf(t)) < x) low = t;
            else high = t;
        }
        const double missed = tail(s.samples, k, cr_normal_cdf(low + s.shift));
        ck_assert_double_ge(cr_ranks_misses(&s, point, k), missed);
    }
}

/* sigma*scale is a float, so the noise of a feature may be smaller than asked for by 2^-22 of it
 * (theory 12), and a shift longer in units of this noise. */
TEST(ranks_hold_for_the_noise_that_floats_allow)
{
    const certreg_coverage c = {.struct_size = sizeof c,
                                .alpha = 0.1,
                                .radius = 0.25,
                                .sigma = 0.5,
                                .points = 500,
                                .calibration_samples = 101,
                                .samples = 101};
    certreg_ranks r = {.struct_size = sizeof r};
    ck_assert_int_eq(certreg_interval_ranks(&c, NULL, &r), CERTREG_OK);
    const cr_ranks_setting least = setting(101, 101, 0.5 * (1 + 0x1p-22));
    ck_assert_double_ge(r.alpha, cr_ranks_misses(&least, r.point_rank, r.sample_rank));
}

TEST(with_one_sample_each_the_formula_is_known)
{
    const cr_ranks_setting s = setting(1, 1, 0.7);
    for (uint64_t point = 300; point <= 500; point += 40) {
        const double x = (501 - (double)point) / 501;
        const double truth = cr_normal_cdf(cr_normal_quantile(x) + 0.7);
        const double bound = cr_ranks_misses(&s, point, 1);
        ck_assert_double_ge(bound, truth);
        ck_assert_double_le(bound, truth + 1e-4);
    }
}

TEST_ROWS(chosen_ranks_are_proven_and_cannot_be_sharpened, cases)
{
    const cr_ranks_setting s = setting(cases[_i].calibration, cases[_i].samples, cases[_i].shift);
    const cr_ranks r = cr_ranks_choose(&s);
    if (!r.sample) {
        ck_assert_uint_gt(r.least_points ? r.least_points : UINT64_MAX, s.points);
        return;
    }
    ck_assert_double_eq(r.alpha, cr_ranks_misses(&s, r.point, r.sample));
    ck_assert_double_le(r.alpha, s.alpha);
    ck_assert_uint_le(r.point, s.points);
    if (r.sample < s.samples)
        ck_assert_double_gt(cr_ranks_misses(&s, r.point, r.sample + 1), s.alpha);
    ck_assert_double_gt(cr_ranks_misses(&s, r.point - 1, r.sample), s.alpha);
}

TEST_ROWS(the_least_number_of_points_is_the_least, cases)
{
    cr_ranks_setting s = setting(cases[_i].calibration, cases[_i].samples, cases[_i].shift);
    const uint64_t least = cr_ranks_choose(&s).least_points;
    if (!least) return;
    s.points = least;
    ck_assert_uint_gt(cr_ranks_choose(&s).sample, 0);
    s.points = least - 1;
    ck_assert_uint_eq(cr_ranks_choose(&s).sample, 0);
}

TEST(without_a_shift_it_is_split_conformal_prediction)
{
    for (uint64_t points = 1; points < 60; points++) {
        cr_ranks_setting s = setting(101, 101, 0);
        s.points = points;
        const cr_ranks r = cr_ranks_choose(&s);
        const uint64_t rank = (uint64_t)ceil(0.9 * (double)(points + 1) - 1e-9);
        ck_assert_uint_eq(r.least_points, 9);
        ck_assert_uint_eq(r.sample, rank <= points ? 51 : 0);
        if (rank <= points) ck_assert_uint_eq(r.point, rank);
    }
}

TEST(a_longer_shift_and_a_smaller_alpha_need_larger_sets)
{
    double sharp = 1;
    for (double shift = 0; shift < 2; shift += 0.25) {
        const cr_ranks_setting s = setting(101, 101, shift);
        const cr_ranks r = cr_ranks_choose(&s);
        const double share = (double)r.sample / 101;
        ck_assert_double_lt(share, sharp);
        ck_assert_double_le(share, cr_normal_sf(shift) + 0.01);
        sharp = share;
    }
    cr_ranks_setting strict = setting(101, 101, 0.5);
    strict.alpha = 1e-6;
    ck_assert_uint_eq(cr_ranks_choose(&strict).sample, 0);
    strict.points = 5000000;
    ck_assert_uint_gt(cr_ranks_choose(&strict).sample, 0);
}

/* ---- pieces that are covered often enough */
enum { MOST = 40, RUNS = 2000 };

static size_t depth_at(const double *lo, const double *hi, size_t count, double y, double period)
{
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        int in = lo[i] <= y && y <= hi[i];
        for (int turn = -2; period > 0 && turn <= 2; turn++)
            in |= lo[i] <= y + turn * period && y + turn * period <= hi[i];
        depth += in != 0;
    }
    return depth;
}

static int in_pieces(const double *lo, const double *hi, size_t pieces, double y, double period)
{
    for (size_t i = 0; i < pieces; i++)
        for (int turn = -2; turn <= 2; turn++)
            if (lo[i] <= y + turn * period && y + turn * period <= hi[i]) return 1;
    return 0;
}

/* Ends on a grid of quarters, so that many are equal; points between and on them are tried. */
TEST(pieces_on_the_line_are_the_points_that_are_covered_often_enough)
{
    simulate_source source;
    simulate_seed(&source, 1);
    for (int run = 0; run < RUNS; run++) {
        double lo[MOST], hi[MOST], from[MOST], to[MOST];
        const size_t count = 1 + (size_t)(simulate_uniform(&source) * (MOST - 1)),
                     depth = 1 + (size_t)(simulate_uniform(&source) * (double)count);
        for (size_t i = 0; i < count; i++) {
            lo[i] = floor(simulate_uniform(&source) * 40) / 4;
            hi[i] = lo[i] + floor(simulate_uniform(&source) * 12) / 4;
        }
        memcpy(from, lo, sizeof from), memcpy(to, hi, sizeof to);
        const size_t pieces = cr_cover_line(from, to, count, depth);
        for (size_t i = 1; i < pieces; i++) ck_assert_double_gt(from[i], to[i - 1]);
        for (double y = -1; y < 15; y += 0.125)
            ck_assert_int_eq(in_pieces(from, to, pieces, y, 0),
                             depth_at(lo, hi, count, y, 0) >= depth);
    }
}

TEST(pieces_on_the_circle_too)
{
    simulate_source source;
    simulate_seed(&source, 2);
    for (int run = 0; run < RUNS; run++) {
        double lo[2 * MOST], hi[2 * MOST], from[2 * MOST], to[2 * MOST];
        const double period = 8, half = 0.25 * (1 + floor(simulate_uniform(&source) * 15)),
                     spread = 0.5 + 8 * simulate_uniform(&source);
        const size_t count = 1 + (size_t)(simulate_uniform(&source) * (MOST - 1)),
                     depth = 1 + (size_t)(simulate_uniform(&source) * (double)count);
        for (size_t i = 0; i < count; i++) {
            const double center = floor(4 * fmod(spread * simulate_uniform(&source), period)) / 4;
            lo[i] = center - half, hi[i] = center + half;
        }
        memcpy(from, lo, sizeof from), memcpy(to, hi, sizeof to);
        const size_t pieces = cr_cover_circle(from, to, count, depth, period);
        for (size_t i = 1; i < pieces; i++) ck_assert_double_gt(from[i], to[i - 1]);
        for (double y = 0; y < period; y += 0.125)
            ck_assert_int_eq(in_pieces(from, to, pieces, y, period),
                             depth_at(lo, hi, count, y, period) >= depth);
    }
}

TEST(sorting_and_selecting_agree_with_counting)
{
    simulate_source source;
    simulate_seed(&source, 3);
    for (size_t count = 0; count < 300; count++) {
        double values[300];
        for (size_t i = 0; i < count; i++)
            values[i] = floor(50 * simulate_normal(&source)) * (i % 7 ? 1 : INFINITY);
        for (size_t i = 0; i < count; i++)
            if (isnan(values[i])) values[i] = 0;
        double sum = 0, sorted = 0;
        for (size_t i = 0; i < count; i++) sum += isfinite(values[i]) ? values[i] : 1000;
        cr_order_sort(values, count);
        for (size_t i = 0; i < count; i++) sorted += isfinite(values[i]) ? values[i] : 1000;
        ck_assert_double_eq(sum, sorted);
        for (size_t i = 1; i < count; i++) ck_assert_double_le(values[i - 1], values[i]);
    }
}

TEST_MAIN("unit_ranks")
