/* The worst shift on thousands of random problems: against an independent high-precision solution
 * from above and from below, along growing radii, and over boxes. Every row is a seed, so that a
 * failure can be repeated. */
#include <certreg/solver.h>
#include "support/random_problems.h"
#include "support/solver_fixture.h"

enum { BLOCK = 250, BLOCKS = 24 }; /* 6,000 problems */

static double rise_of(const certreg_bounds *bounds, double r, uint64_t seed)
{
    return shift_by(bounds, 0, r, seed).rise;
}

/* ---- against high precision */
TEST_TIMES(solver_bound_agrees_with_high_precision_from_both_sides, BLOCKS)
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
TEST(solver_bound_never_falls_as_the_radius_grows)
{
    for (uint64_t seed = 0; seed < 4000; seed++) {
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
    certreg_bounds box =
        given(ALL, fmax(m - half, lo + 1e-3), fmin(m + half, hi - 1e-3), 0, 0, 0, lo, hi);
    box.variance_hi = (hi - m) * (m - lo) * pow(10, dice_between(d, -2, 0.2));
    const ref_problem low = {.mean = box.mean_lo, .lo = lo, .hi = hi, .variance = box.variance_hi};
    const ref_problem high = {.mean = box.mean_hi, .lo = lo, .hi = hi, .variance = box.variance_hi};
    box.gradient_hi = 0.98 * fmin(ref_largest_correlation(&low), ref_largest_correlation(&high)) *
                      dice_between(d, 0.01, 1);
    box.gradient_lo = box.gradient_hi * dice_between(d, 0, 1);
    *r = exp(dice_between(d, log(1e-3), log(4)));
    return box;
}

/* The bound is jointly concave in mean and correlation, so nested golden sections find its
 * maximum. */
typedef struct inside {
    const certreg_bounds *box;
    double r, mean, weight; /* of the mean itself */
    uint64_t seed;
} inside;

static double at_gradient(const void *of, double gradient)
{
    const inside *in = of;
    certreg_bounds point = *in->box;
    point.mean_lo = point.mean_hi = in->mean;
    point.gradient_lo = point.gradient_hi = gradient;
    return rise_of(&point, in->r, in->seed) + in->weight * in->mean;
}

static double at_mean(const void *of, double mean)
{
    inside in = *(const inside *)of;
    in.mean = mean;
    return greatest_between(at_gradient, &in, in.box->gradient_lo, in.box->gradient_hi, 24);
}

static double best_in_box(inside in, double weight)
{
    in.weight = weight;
    return greatest_between(at_mean, &in, in.box->mean_lo, in.box->mean_hi, 24);
}

TEST_TIMES(solver_bound_over_a_box_is_the_greatest_inside_it, 80)
{
    const uint64_t seed = (uint64_t)_i;
    dice d = dice_of(2000000 + seed);
    double r;
    const certreg_bounds box = random_box(&d, &r);
    const inside in = {.box = &box, .r = r, .seed = seed};
    const certreg_mean_change got = shift_by(&box, 0, r, seed);
    const double rise = best_in_box(in, 0), greatest = best_in_box(in, 1);
    ck_assert_msg(got.rise >= rise * (1 - 1e-12), "%.17g is below %.17g inside the box", got.rise,
                  rise);
    ck_assert_msg(got.rise <= rise * (1 + 1e-8), "%.17g, but no more than %.17g inside the box",
                  got.rise, rise);
    ck_assert_msg(got.mean_greatest >= greatest - 1e-12 && got.mean_greatest <= greatest + 1e-8,
                  "%.17g, want %.17g", got.mean_greatest, greatest);
}

SOLVER_MAIN("solver_properties")
