/* The worst shift on thousands of random problems: against an independent high-precision
 * solution from above and from below, against functions that have the given constraints, along
 * growing radii, and over boxes. Every row is a seed, so that a failure can be repeated. */
#include <certreg/solver.h>
#include "statistics/normal.h"
#include "support/problems.h"
#include "support/solver_fixture.h"

enum { BLOCK = 250, BLOCKS = 40 }; /* 10,000 problems */

static double rise_of(const certreg_bounds *bounds, double r, uint64_t seed)
{
    return shift_by(bounds, 0, r, seed).rise;
}

/* ---- against high precision */
TEST_TIMES(bound_agrees_with_high_precision_from_both_sides, BLOCKS)
{
    int open = 0;
    for (uint64_t seed = (uint64_t)_i * BLOCK; seed < (uint64_t)(_i + 1) * BLOCK; seed++) {
        dice d = dice_of(seed);
        const ref_problem problem = random_problem(&d);
        const certreg_bounds bounds = problem_bounds(&problem);
        ref_answer truth;
        ref_solve(&problem, &truth);
        const double got = rise_of(&bounds, problem.r, seed);
        ck_assert_msg(fabs(got - truth.dual) <= 1e-9 * truth.dual, "seed %llu: %.17g, want %.17g",
                      (unsigned long long)seed, got, truth.dual);
        /* the reference could not close its own gap: agreement from above is left */
        if (truth.primal < truth.dual * (1 - 1e-9)) open++;
        else
            ck_assert_msg(got >= truth.primal * (1 - 1e-12), "seed %llu: %.17g is below %.17g",
                          (unsigned long long)seed, got, truth.primal);
    }
    ck_assert_msg(open <= BLOCK / 25, "the reference left %d gaps open", open);
}

/* ---- growth */
TEST(bound_never_falls_as_the_radius_grows)
{
    for (uint64_t seed = 0; seed < 6000; seed++) {
        dice d = dice_of(1000000 + seed);
        const ref_problem problem = random_problem(&d);
        const certreg_bounds bounds = problem_bounds(&problem);
        const double further = problem.r * (seed % 3 ? 1 + pow(10, dice_between(&d, -10, -1))
                                                     : dice_between(&d, 1, 3));
        const double near = rise_of(&bounds, problem.r, seed),
                     far = rise_of(&bounds, further, seed);
        ck_assert_msg(far >= near * (1 - 1e-11), "seed %llu: %.17g at %g, %.17g at %g",
                      (unsigned long long)seed, near, problem.r, far, further);
        ck_assert(near >= 0);
    }
}

/* ---- boxes */
static certreg_bounds random_box(dice *d, double *r)
{
    const double lo = -dice_between(d, 0.5, 2), hi = dice_between(d, 0.5, 2),
                 m = dice_between(d, lo, hi);
    const double half = (hi - lo) * 0.5 * pow(10, dice_between(d, -5, -0.5));
    certreg_bounds box = {.struct_size = sizeof box,
                          .constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                                         CERTREG_CONSTRAINT_GRADIENT | CERTREG_CONSTRAINT_RANGE,
                          .sigma = 1,
                          .mean_lo = fmax(m - half, lo + 1e-3),
                          .mean_hi = fmin(m + half, hi - 1e-3),
                          .range_lo = lo,
                          .range_hi = hi};
    box.variance_hi = (hi - m) * (m - lo) * pow(10, dice_between(d, -2, 0.2));
    const ref_problem low = {.mean = box.mean_lo, .lo = lo, .hi = hi, .variance = box.variance_hi};
    const ref_problem high = {.mean = box.mean_hi, .lo = lo, .hi = hi, .variance = box.variance_hi};
    box.gradient_hi = 0.98 * fmin(ref_largest_correlation(&low), ref_largest_correlation(&high)) *
                      dice_between(d, 0.01, 1);
    box.gradient_lo = box.gradient_hi * dice_between(d, 0, 1);
    *r = exp(dice_between(d, log(1e-3), log(4)));
    return box;
}

static double at_point(const certreg_bounds *box, double r, double mean, double gradient,
                       double weight, uint64_t seed)
{
    certreg_bounds point = *box;
    point.mean_lo = point.mean_hi = mean;
    point.gradient_lo = point.gradient_hi = gradient;
    return rise_of(&point, r, seed) + weight * mean;
}

/* The bound is jointly concave in mean and correlation, so nested golden sections find its
 * maximum. */
static double best_gradient(const certreg_bounds *box, double r, double mean, double weight,
                            uint64_t seed)
{
    const double ratio = 0.6180339887498949;
    double low = box->gradient_lo, high = box->gradient_hi, a = high - ratio * (high - low),
           b = low + ratio * (high - low);
    double fa = at_point(box, r, mean, a, weight, seed),
           fb = at_point(box, r, mean, b, weight, seed);
    double best =
        fmax(at_point(box, r, mean, low, weight, seed), at_point(box, r, mean, high, weight, seed));
    for (int i = 0; i < 24; i++) {
        best = fmax(best, fmax(fa, fb));
        if (fa < fb)
            low = a, a = b, fa = fb, b = low + ratio * (high - low),
            fb = at_point(box, r, mean, b, weight, seed);
        else
            high = b, b = a, fb = fa, a = high - ratio * (high - low),
            fa = at_point(box, r, mean, a, weight, seed);
    }
    return best;
}

static double best_in_box(const certreg_bounds *box, double r, double weight, uint64_t seed)
{
    const double ratio = 0.6180339887498949;
    double low = box->mean_lo, high = box->mean_hi, a = high - ratio * (high - low),
           b = low + ratio * (high - low);
    double fa = best_gradient(box, r, a, weight, seed), fb = best_gradient(box, r, b, weight, seed);
    double best =
        fmax(best_gradient(box, r, low, weight, seed), best_gradient(box, r, high, weight, seed));
    for (int i = 0; i < 24; i++) {
        best = fmax(best, fmax(fa, fb));
        if (fa < fb)
            low = a, a = b, fa = fb, b = low + ratio * (high - low),
            fb = best_gradient(box, r, b, weight, seed);
        else
            high = b, b = a, fb = fa, a = high - ratio * (high - low),
            fa = best_gradient(box, r, a, weight, seed);
    }
    return best;
}

TEST_TIMES(bound_over_a_box_is_the_greatest_inside_it, 120)
{
    const uint64_t seed = (uint64_t)_i;
    dice d = dice_of(2000000 + seed);
    double r;
    const certreg_bounds box = random_box(&d, &r);
    certreg_mean_change got = {.struct_size = sizeof got};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &box, 0, r, &got), CERTREG_OK);
    const double rise = best_in_box(&box, r, 0, seed), greatest = best_in_box(&box, r, 1, seed);
    ck_assert_msg(got.rise >= rise * (1 - 1e-12), "%.17g is below %.17g inside the box", got.rise,
                  rise);
    ck_assert_msg(got.rise <= rise * (1 + 1e-8), "%.17g, but no more than %.17g inside the box",
                  got.rise, rise);
    ck_assert_msg(got.mean_greatest >= greatest - 1e-12 && got.mean_greatest <= greatest + 1e-8,
                  "%.17g, want %.17g", got.mean_greatest, greatest);
}

/* ---- functions of two directions -------------------------------------------------------------
 * ------------------------------------------- h is constant on the cells of a grid, so that its
 * mean, variance, correlations and shifted mean are exact. Whatever it is, it has its own
 * constraints, and the bound for them must cover it, in whichever direction its gradient points. */
enum { CELLS = 36 };

typedef struct grid {
    /* P, E[t; cell], P after the shift */
    double edge[CELLS + 1], mass[CELLS], first[CELLS], shifted[CELLS];
} grid;

static grid grid_of(double r, dice *d)
{
    grid g;
    for (int i = 0; i <= CELLS; i++)
        g.edge[i] = -4.5 + (9 + r) * (i + dice_between(d, -0.3, 0.3)) / CELLS;
    g.edge[0] = -INFINITY, g.edge[CELLS] = INFINITY;
    for (int i = 0; i < CELLS; i++) {
        const double a = g.edge[i], b = g.edge[i + 1];
        g.mass[i] = a > 0 ? cr_normal_sf(a) - cr_normal_sf(b) : cr_normal_cdf(b) - cr_normal_cdf(a);
        g.first[i] = cr_normal_pdf(a) - cr_normal_pdf(b);
        g.shifted[i] = a > r ? cr_normal_sf(a - r) - cr_normal_sf(b - r)
                             : cr_normal_cdf(b - r) - cr_normal_cdf(a - r);
    }
    return g;
}

/* The shape that is worst among functions with given correlations in both directions, for random
 * multipliers; or noise; or stripes. */
typedef struct shape {
    int kind;
    double scale, nu, a, b, lo, hi;
} shape;

static double value_of(const shape *s, const grid *g, int i, int j, dice *d)
{
    const double u = g->first[i] / g->mass[i], v = g->first[j] / g->mass[j],
                 ratio = g->shifted[i] / g->mass[i] - 1;
    const double free = s->kind == 2 ? s->scale * sin(s->a * u + s->b * v + s->nu)
                                     : s->scale * (ratio - s->nu - s->a * u - s->b * v);
    const double noise = s->kind == 1 ? dice_between(d, -1, 1) : 0;
    return fmin(fmax(free + noise, s->lo), s->hi);
}

static shape random_shape(dice *d, double r, int kind)
{
    shape s = {.kind = kind, .lo = -dice_between(d, 0.1, 1), .hi = dice_between(d, 0.1, 1)};
    s.scale = pow(10, dice_between(d, -1, 2)) / (r * exp(r * r / 2));
    s.nu = dice_between(d, -2, 2) * (kind == 2 ? 3 : r);
    s.a = dice_between(d, -2, 2) * (kind == 2 ? 2 : r);
    s.b = dice_between(d, -2, 2) * (kind == 2 ? 2 : r);
    return s;
}

TEST_TIMES(no_direction_of_the_gradient_beats_the_aligned_one, 12)
{
    for (uint64_t seed = (uint64_t)_i * 500; seed < (uint64_t)(_i + 1) * 500; seed++) {
        dice d = dice_of(3000000 + seed);
        const double r = exp(dice_between(&d, log(0.02), log(4)));
        const grid g = grid_of(r, &d);
        const shape s = random_shape(&d, r, (int)(seed % 3));
        double mean = 0, square = 0, along = 0, across = 0, shift = 0;
        for (int i = 0; i < CELLS; i++)
            for (int j = 0; j < CELLS; j++) {
                const double h = value_of(&s, &g, i, j, &d), p = g.mass[i] * g.mass[j];
                mean += p * h, square += p * h * h;
                along += h * g.first[i] * g.mass[j], across += h * g.mass[i] * g.first[j];
                shift += h * (g.shifted[i] - g.mass[i]) * g.mass[j];
            }
        const double variance = square - mean * mean, gradient = hypot(along, across);
        certreg_bounds constraints = {.struct_size = sizeof constraints,
                                      .constraints =
                                          CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                                          CERTREG_CONSTRAINT_GRADIENT | CERTREG_CONSTRAINT_RANGE,
                                      .sigma = 1,
                                      .mean_lo = mean,
                                      .mean_hi = mean,
                                      .variance_hi = variance + 1e-14,
                                      .gradient_lo = gradient,
                                      .gradient_hi = gradient,
                                      .range_lo = s.lo,
                                      .range_hi = s.hi};
        if (!(variance > 1e-9)) continue;
        certreg_mean_change got = {.struct_size = sizeof got};
        ck_assert_int_eq(certreg_solver_worst_case(solver, &constraints, 0, r, &got), CERTREG_OK);
        ck_assert_msg(shift <= got.rise + 1e-10 && -shift <= got.drop + 1e-10,
                      "seed %llu: a function moves by %.17g, bounds -%.17g and %.17g",
                      (unsigned long long)seed, shift, got.drop, got.rise);
    }
}

FIXTURE(setup, teardown)
TEST_MAIN("solver_properties")
