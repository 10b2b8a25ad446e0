/* The second moment about a center as a constraint: the bound over all means that go with it is the
 * greatest of the bounds at each of them, and it never exceeds what a box of mean and variance
 * around the same functions gives. */
#include <certreg/solver.h>
#include "support/random_problems.h"
#include "support/solver_fixture.h"

enum { BLOCKS = 8 };

/* ---- random constraints */
typedef struct sample {
    certreg_bounds bounds;
    double r, mean, variance; /* some function has this mean and variance */
} sample;

static void add_facts(dice *d, sample *s, double gradient)
{
    certreg_bounds *b = &s->bounds;
    const double spread = sqrt(b->moment_hi);
    if (dice_between(d, 0, 1) < 0.7) {
        b->constraints |= M;
        b->mean_lo = s->mean - spread * pow(10, dice_between(d, -6, 0.5));
        b->mean_hi = s->mean + spread * pow(10, dice_between(d, -6, 0.5));
        if (dice_between(d, 0, 1) < 0.1) b->mean_lo = b->mean_hi = s->mean;
    }
    if (dice_between(d, 0, 1) < 0.3)
        b->constraints |= V, b->variance_hi = s->variance * dice_between(d, 1, 2);
    if (dice_between(d, 0, 1) < 0.6) {
        b->constraints |= G;
        b->gradient_hi = gradient * dice_between(d, 0, 1);
        if (dice_between(d, 0, 1) < 0.5) b->gradient_lo = b->gradient_hi * dice_between(d, 0, 1);
        if (dice_between(d, 0, 1) < 0.1) b->gradient_lo = b->gradient_hi;
    }
}

static sample random_sample(uint64_t seed)
{
    dice d = dice_of(seed);
    ref_problem p = random_problem(&d);
    sample s = {.r = p.r, .mean = p.mean};
    const double most = (p.hi - p.mean) * (p.mean - p.lo);
    if (p.variance > 0.9 * most) p.variance = 0.9 * most;
    s.variance = p.variance;
    certreg_bounds *b = &s.bounds;
    *b = (certreg_bounds){
        .struct_size = sizeof *b, .constraints = Q, .sigma = 1, .range_lo = p.lo, .range_hi = p.hi};
    if (!isinf(p.lo) || !isinf(p.hi)) b->constraints |= R;
    const double off =
        sqrt(s.variance) *
        (dice_between(&d, 0, 1) < 0.5 ? pow(10, dice_between(&d, -3, 2)) : dice_between(&d, -1, 1));
    b->moment_center = s.mean + (dice_between(&d, 0, 1) < 0.5 ? off : -off);
    b->moment_hi = (s.variance + off * off) *
                   (dice_between(&d, 0, 1) < 0.5 ? 1 : 1 + pow(10, dice_between(&d, -6, 0)));
    add_facts(&d, &s, 0.999 * ref_largest_correlation(&p));
    return s;
}

/* ---- the greatest over the means */
typedef struct search {
    const sample *s;
    double weight; /* of the mean itself */
    int side;
} search;

/* The bound with mean and variance at one of the means; far below where there is no such
 * function. */
static double at_mean(const void *of, double mean)
{
    const search *h = of;
    const sample *s = h->s;
    certreg_bounds point = s->bounds;
    const double away = mean - point.moment_center, left = fma(-away, away, point.moment_hi);
    point.constraints = (point.constraints & ~(uint32_t)Q) | M | V;
    point.mean_lo = point.mean_hi = mean;
    point.variance_hi = s->bounds.constraints & V ? fmin(point.variance_hi, left) : left;
    certreg_mean_change out = {.struct_size = sizeof out};
    if (!(left >= 0) || certreg_solver_worst_case(solver, &point, 0, s->r, &out))
        return -1e6 * (1 + fabs(mean - s->mean));
    return h->side > 0 ? out.rise + h->weight * mean : out.drop - h->weight * mean;
}

static double best_mean(const sample *s, double weight, int side)
{
    const certreg_bounds *b = &s->bounds;
    const search h = {s, weight, side};
    const double root = sqrt(b->moment_hi);
    double low = b->moment_center - root, high = b->moment_center + root;
    if (b->constraints & M) low = fmax(low, b->mean_lo), high = fmin(high, b->mean_hi);
    if (b->constraints & R) low = fmax(low, b->range_lo), high = fmin(high, b->range_hi);
    return fmax(at_mean(&h, s->mean), greatest_between(at_mean, &h, low, high, 50));
}

static double ends_reach(const sample *s)
{
    const certreg_bounds *b = &s->bounds;
    double least = b->constraints & M ? INFINITY : 0;
    for (int i = 0; i < 2 && b->constraints & M; i++) {
        const double mean = i ? b->mean_hi : b->mean_lo,
                     left = b->moment_hi - pow(mean - b->moment_center, 2);
        if (!(left > 0) || (b->constraints & R && (mean <= b->range_lo || mean >= b->range_hi)))
            return 0;
        const ref_problem p = {.mean = mean,
                               .lo = b->constraints & R ? b->range_lo : -INFINITY,
                               .hi = b->constraints & R ? b->range_hi : INFINITY,
                               .variance = b->constraints & V ? fmin(b->variance_hi, left) : left};
        least = fmin(least, ref_largest_correlation(&p));
    }
    return least;
}

/* Just where the least gradient is all that a mean allows, the bound at that mean is loose: such
 * means are left to the other tests. */
static sample tame_sample(uint64_t seed)
{
    sample s = random_sample(seed);
    if (s.bounds.constraints & G && s.bounds.gradient_lo > 0.999 * ends_reach(&s))
        s.bounds.gradient_lo = 0;
    return s;
}

static void assert_best(double got, double want, double scale, const char *what, uint64_t seed)
{
    ck_assert_msg(got >= want - 1e-12 * scale,
                  "seed %llu: %s %.17g is below %.17g at one of the means",
                  (unsigned long long)seed, what, got, want);
    ck_assert_msg(got <= want + 2e-8 * scale,
                  "seed %llu: %s %.17g, but no more than %.17g at any mean",
                  (unsigned long long)seed, what, got, want);
}

TEST_TIMES(solver_bound_by_the_moment_is_the_greatest_over_its_means, BLOCKS)
{
    for (uint64_t seed = (uint64_t)_i * 50; seed < (uint64_t)(_i + 1) * 50; seed++) {
        const sample s = tame_sample(4000000 + seed);
        const certreg_mean_change got = shift_by(&s.bounds, 0, s.r, seed);
        const double rise = best_mean(&s, 0, 1), drop = best_mean(&s, 0, -1);
        assert_best(got.rise, rise, rise, "rise", seed);
        assert_best(got.drop, drop, drop, "drop", seed);
        const double size = fabs(s.mean) + sqrt(s.bounds.moment_hi);
        assert_best(got.mean_greatest, best_mean(&s, 1, 1), rise + size, "greatest mean", seed);
        assert_best(-got.mean_least, best_mean(&s, 1, -1), drop + size, "least mean", seed);
    }
}

/* ---- order */
TEST(solver_bound_by_the_moment_grows_and_is_below_the_box)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        const sample s = tame_sample(4300000 + seed);
        const certreg_mean_change near = shift_by(&s.bounds, 0, s.r, seed),
                                  far =
                                      shift_by(&s.bounds, 0, s.r * (seed % 2 ? 1.001 : 1.5), seed);
        ck_assert_msg(far.rise >= near.rise * (1 - 1e-10), "seed %llu: %.17g, then %.17g",
                      (unsigned long long)seed, near.rise, far.rise);
        ck_assert(far.drop >= near.drop * (1 - 1e-10));
        certreg_bounds box = s.bounds; /* the box that the moment implies */
        double unused, most = box.moment_hi;
        if (box.constraints & M)
            most -= pow(
                fmax(0, fmax(box.mean_lo - box.moment_center, box.moment_center - box.mean_hi)), 2);
        box.variance_hi = box.constraints & V ? fmin(box.variance_hi, most) : most;
        if (!(box.constraints & M)) box.mean_lo = -INFINITY, box.mean_hi = INFINITY;
        box.mean_lo = fmax(box.mean_lo, box.moment_center - sqrt(box.moment_hi));
        box.mean_hi = fmin(box.mean_hi, box.moment_center + sqrt(box.moment_hi));
        box.constraints = (box.constraints & ~(uint32_t)Q) | M | V;
        unused = shift_by(&box, 0, s.r, seed).rise;
        ck_assert_msg(near.rise <= unused * (1 + 1e-9), "seed %llu: %.17g above the box's %.17g",
                      (unsigned long long)seed, near.rise, unused);
    }
}

/* ---- radii */
TEST(bisection_radius_by_the_moment_is_the_last)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        const sample s = tame_sample(4500000 + seed);
        const certreg_mean_change goal = shift_by(&s.bounds, 0, s.r, seed);
        const double threshold = goal.mean_least,
                     size = fabs(s.bounds.moment_center) + sqrt(s.bounds.moment_hi);
        certreg_radius within = {.struct_size = sizeof within},
                       above = {.struct_size = sizeof above};
        ck_assert_int_eq(
            certreg_bisection_within(bisection, &s.bounds, 0, fmax(goal.rise, goal.drop), &within),
            CERTREG_OK);
        ck_assert_msg(within.radius >= s.r * (1 - 2e-9), "seed %llu: %.17g, want %.17g",
                      (unsigned long long)seed, within.radius, s.r);
        if (within.outcome == CERTREG_OUTCOME_CERTIFIED) {
            const certreg_mean_change at = shift_by(&s.bounds, 0, within.radius, seed),
                                      beyond =
                                          shift_by(&s.bounds, 0, within.radius * (1 + 1e-6), seed);
            /* Two searches for the worst mean, each ending in a bound: where the mean's tangents
             * are steep they end a little apart. */
            ck_assert(fmax(at.rise, at.drop) <= fmax(goal.rise, goal.drop) * (1 + 1e-8));
            ck_assert(fmax(beyond.rise, beyond.drop) > fmax(goal.rise, goal.drop));
        }
        ck_assert_int_eq(certreg_bisection_above(bisection, &s.bounds, &threshold, 1, 0, &above),
                         CERTREG_OK);
        if (above.outcome != CERTREG_OUTCOME_CERTIFIED) continue;
        const double least = shift_by(&s.bounds, 0, above.radius, seed).mean_least,
                     beyond = shift_by(&s.bounds, 0, above.radius * 1.0001, seed).mean_least;
        ck_assert_msg(least >= threshold - 1e-10 * size && beyond <= threshold + 1e-10 * size,
                      "seed %llu: %.17g, then %.17g, want %.17g", (unsigned long long)seed, least,
                      beyond, threshold);
    }
}

SOLVER_MAIN("solver_moment")
