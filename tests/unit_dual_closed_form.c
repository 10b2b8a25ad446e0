/* Sums of a search in closed form against those by quadrature. */
#include "solver/solver.h"
#include "support/random_problems.h"
#include "support/suite.h"

enum { PROBLEMS = 4000 };

static cr_problem any_problem(dice *d, int order, cr_evaluation_budget *effort)
{
    const double r = exp(dice_between(d, log(0.03), log(3)));
    return (cr_problem){.ratio = cr_ratio_make(order, r),
                        .b = -exp(dice_between(d, -2, 2)),
                        .B = dice_between(d, 0, 1) < 0.1 ? INFINITY : exp(dice_between(d, -2, 2)),
                        .budget = effort};
}

static void expect_same(const cr_dual_expectations *got, const cr_dual_expectations *want, double r)
{
    const double size = fmax(1, want->pyy),
                 pairs[][3] = {{got->inner_maximum, want->inner_maximum, 2e-10 * size},
                               {got->y, want->y, 1e-12},
                               {got->yt, want->yt, 1e-12},
                               {got->yy, want->yy, 2e-10 * size},
                               {got->radius_slope, want->radius_slope,
                                1e-11 * fmax(1, fabs(want->radius_slope))},
                               {got->pyy, want->pyy, 1e-8 * size},
                               {got->tt, want->tt, 1e-8},
                               {got->pyt, want->pyt, 1e-8}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        ck_assert_msg(fabs(pairs[i][0] - pairs[i][1]) <= pairs[i][2],
                      "sum %zu at r %g: %.17g, not %.17g", i, r, pairs[i][0], pairs[i][1]);
}

TEST_TIMES(dual_closed_sums_are_those_of_quadrature, 2)
{
    dice d = dice_of(36);
    cr_evaluation_budget effort = {.limit = 2 * PROBLEMS};
    int closed = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        const cr_problem p = any_problem(&d, _i, &effort);
        const cr_multipliers at = {exp(dice_between(&d, -3, 1)), dice_between(&d, -1, 1),
                                   dice_between(&d, -1, 1) * _i};
        cr_clip_regions regions = {.edge_error = 0};
        cr_dual_expectations got, want;
        if (!cr_dual_by_closed_form(&p, &at, &regions, &got)) continue;
        closed++;
        cr_clip_regions_find(&p, &at, 1e-13, &regions);
        cr_dual_by_quadrature(&p, &at, &regions, &cr_quadrature_value, &want);
        expect_same(&got, &want, p.ratio.r);
    }
    ck_assert_int_gt(closed, PROBLEMS / 2);
}

TEST_MAIN("dual_closed_form")
