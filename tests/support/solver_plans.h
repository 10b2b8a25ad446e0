/* Constraints to try the plans of the solver and of the bisection on, and what they report. */
#ifndef SUPPORT_SOLVER_PLANS_H
#define SUPPORT_SOLVER_PLANS_H
#include "support/hostile.h"
#include "support/solver_fixture.h"
#include <certreg/solver.h>

enum { ANY_SET = 63 }; /* all constraints that a mask can name */

static inline hostile row(uint64_t seed)
{
    dice d = dice_of(550000000 + seed);
    hostile h = random_hostile(&d);
    h.bounds.constraints = 1 + (uint32_t)dice_between(&d, 0, ANY_SET - 1e-3);
    return h;
}

static const certreg_bounds ordinary = {.struct_size = sizeof ordinary,
                                        .constraints = CERTREG_CONSTRAINTS_ECGM,
                                        .sigma = 0.5,
                                        .mean_lo = 0.1,
                                        .mean_hi = 0.15,
                                        .variance_hi = 0.3,
                                        .gradient_hi = 0.2,
                                        .range_lo = -1,
                                        .range_hi = 1};

static inline certreg_radius radius_of(certreg_bisection *b, const certreg_bounds *bounds,
                                       double tolerance)
{
    certreg_radius out = {.struct_size = sizeof out};
    ck_assert_int_eq(certreg_bisection_within(b, bounds, 0, tolerance, &out), CERTREG_OK);
    return out;
}

static inline certreg_solve_info bisection_info(certreg_bisection *b)
{
    certreg_solve_info info = {.struct_size = sizeof info};
    ck_assert_int_eq(certreg_bisection_info(b, &info), CERTREG_OK);
    return info;
}

static inline certreg_bisection *with(certreg_bisection_plan plan)
{
    certreg_bisection *b;
    plan.struct_size = sizeof plan;
    ck_assert_int_eq(certreg_bisection_create(&plan, NULL, &b), CERTREG_OK);
    return b;
}

#endif
