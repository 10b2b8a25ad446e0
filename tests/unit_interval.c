/* The points that at least a number of intervals or arcs contain, by counting. */
#include "conformal/conformal.h"
#include "support/simulate.h"
#include "support/suite.h"

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
TEST(interval_depth_line_has_the_points_covered_often_enough)
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
        const size_t pieces = cr_interval_depth_line(from, to, count, depth);
        for (size_t i = 1; i < pieces; i++) ck_assert_double_gt(from[i], to[i - 1]);
        for (double y = -1; y < 15; y += 0.125)
            ck_assert_int_eq(in_pieces(from, to, pieces, y, 0),
                             depth_at(lo, hi, count, y, 0) >= depth);
    }
}

TEST(interval_depth_circle_has_the_points_covered_often_enough)
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
        const size_t pieces = cr_interval_depth_circle(from, to, count, depth, period);
        for (size_t i = 1; i < pieces; i++) ck_assert_double_gt(from[i], to[i - 1]);
        for (double y = 0; y < period; y += 0.125)
            ck_assert_int_eq(in_pieces(from, to, pieces, y, period),
                             depth_at(lo, hi, count, y, period) >= depth);
    }
}

TEST_MAIN("interval")
