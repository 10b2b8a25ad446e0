/* Worst functions of random problems: they keep to their constraints and attain the bound, by a
 * quadrature of their values alone. Every row is a seed, so that a failure can be repeated. */
#include <certreg/solver.h>
#include <certreg/worst_function.h>
#include "support/function_moments.h"
#include "support/random_problems.h"
#include "support/solver_fixture.h"

static const int32_t sides[] = {CERTREG_SIDE_LOWER, CERTREG_SIDE_UPPER};

typedef struct problem {
    certreg_bounds bounds;
    double r;
} problem;

/* One as it occurs: no mean next to an end of the range, no radius next to 0. */
static problem ordinary(uint64_t seed)
{
    dice d = dice_of(7000000 + seed);
    ref_problem p = {.r = exp(dice_between(&d, log(0.02), log(3))),
                     .lo = dice_between(&d, -3, 0),
                     .has_gradient = 1};
    p.hi = p.lo + exp(dice_between(&d, -1, 1));
    p.mean = p.lo + (p.hi - p.lo) * dice_between(&d, 0.05, 0.95);
    p.variance = (p.hi - p.mean) * (p.mean - p.lo) * dice_between(&d, 0.05, 1.2);
    p.gradient_hi = ref_largest_correlation(&p) * dice_between(&d, 0.05, 0.95);
    p.gradient_lo = seed % 2 ? p.gradient_hi : p.gradient_hi * dice_between(&d, 0, 1);
    return (problem){problem_bounds(&p), p.r};
}

static certreg_status worst(const problem *p, uint32_t constraints, int32_t side,
                            certreg_worst_function *out)
{
    *out = (certreg_worst_function){.struct_size = sizeof *out};
    return certreg_solver_worst_function(solver, &p->bounds, constraints, p->r, side, out);
}

/* The bound is the worst case's, bit for bit, and the function attains this share of it. */
static double share_attained(const problem *p, uint32_t constraints, uint64_t seed,
                             const certreg_worst_function *f)
{
    const certreg_mean_change all = shift_by(&p->bounds, constraints, p->r, seed);
    ck_assert_double_eq(f->bound, f->side == CERTREG_SIDE_LOWER ? all.drop : all.rise);
    ck_assert_uint_eq(f->constraints, all.constraints);
    ck_assert(f->change >= 0 && f->change <= f->bound);
    return f->change / f->bound;
}

#define CHECK(condition, what) \
    ck_assert_msg(condition, "seed %llu, side %d: %s", (unsigned long long)seed, f->side, what)

static void check_constraints(const problem *p, uint64_t seed, const certreg_worst_function *f,
                              double tolerance)
{
    const certreg_bounds *b = &p->bounds;
    const function_moments got = function_measure(f, p->r);
    const double deviation = sqrt(got.variance), slack = tolerance * deviation;
    if (f->constraints & M)
        CHECK(got.mean >= b->mean_lo - slack && got.mean <= b->mean_hi + slack, "mean");
    if (f->constraints & V) CHECK(got.variance <= b->variance_hi * (1 + tolerance), "variance");
    if (f->constraints & G)
        CHECK(fabs(got.gradient) >= b->gradient_lo - slack &&
                  fabs(got.gradient) <= b->gradient_hi + slack,
              "gradient");
    if (f->constraints & R) CHECK(got.least >= b->range_lo && got.greatest <= b->range_hi, "range");
    CHECK(fabs(got.mean - f->mean) <= slack, "stated mean");
    CHECK(fabs(got.variance - f->variance) <= 2 * slack * deviation, "stated variance");
    CHECK(fabs(got.gradient - f->gradient) <= slack, "stated gradient");
    CHECK(fabs(got.change - f->change) <= tolerance * f->bound, "stated change");
}

enum { BLOCK = 150, BLOCKS = 4 };
static const uint32_t families[] = {CERTREG_CONSTRAINTS_C, CERTREG_CONSTRAINTS_CG,
                                    CERTREG_CONSTRAINTS_ECM, CERTREG_CONSTRAINTS_ECGM};

TEST_TIMES(worst_function_keeps_its_constraints_and_attains_the_bound, 4 * BLOCKS)
{
    const uint32_t constraints = families[_i % 4];
    for (uint64_t seed = (uint64_t)_i / 4 * BLOCK; seed < (uint64_t)(_i / 4 + 1) * BLOCK; seed++) {
        const problem p = ordinary(seed);
        for (int s = 0; s < 2; s++) {
            certreg_worst_function found, *f = &found;
            CHECK(worst(&p, constraints, sides[s], f) == CERTREG_OK, "status");
            CHECK(share_attained(&p, constraints, seed, f) >= 1 - 1e-9, "change");
            check_constraints(&p, seed, f, 1e-9);
        }
    }
}

/* Means that are intervals: the function has the worst mean of them. */
TEST_TIMES(worst_function_of_a_box_attains_the_bound, BLOCKS)
{
    for (uint64_t seed = (uint64_t)_i * BLOCK; seed < (uint64_t)(_i + 1) * BLOCK; seed++) {
        problem p = ordinary(seed);
        certreg_bounds *b = &p.bounds;
        const double width = 0.1 * fmin(b->mean_lo - b->range_lo, b->range_hi - b->mean_hi);
        b->mean_lo -= width, b->mean_hi += width, b->gradient_lo *= 0.5;
        for (int s = 0; s < 2; s++) {
            certreg_worst_function found, *f = &found;
            CHECK(worst(&p, 0, sides[s], f) == CERTREG_OK, "status");
            CHECK(share_attained(&p, 0, seed, f) >= 1 - 1e-6, "change");
            check_constraints(&p, seed, f, 1e-9);
        }
    }
}

static certreg_solve_info info_of_solver(void)
{
    certreg_solve_info info = {.struct_size = sizeof info};
    ck_assert_int_eq(certreg_solver_info(solver, &info), CERTREG_OK);
    return info;
}

/* A mean next to an end of the range makes the multipliers huge, and what they cancel to has few
 * digits. The function is then refused, or it still keeps to its constraints nearly. */
TEST(worst_function_of_hard_corners_is_refused_or_nearly_right)
{
    int refused = 0, far = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        dice d = dice_of(seed);
        const ref_problem random = random_problem(&d);
        const problem p = {problem_bounds(&random), random.r};
        for (int s = 0; s < 2; s++) {
            certreg_worst_function found, *f = &found;
            const certreg_status status = worst(&p, 0, sides[s], f);
            CHECK(info_of_solver().evaluations <= CERTREG_WORST_CASE_EVALUATIONS, "evaluations");
            if (status) {
                KIT_SAYS(certreg_solver_error(solver), "no function");
                refused++;
                continue;
            }
            far += share_attained(&p, 0, seed, f) < 1 - 1e-6;
            check_constraints(&p, seed, f, 2e-5);
        }
    }
    ck_assert_msg(refused <= 20 && far <= 10, "%d refused, %d far", refused, far);
}

SOLVER_MAIN("worst functions")
