#include "solver/second_order.h"
#include <math.h>
#include <stddef.h>

/* The same v in terms of k = 2. The descent begins at the solution so far, so that the bound can
 * only get better. A two-valued solution gets a little room between the clips; without it
 * nothing curves. */
static cr_multipliers raise_order(const cr_problem *problem, const cr_point *from)
{
    const double scale = from->problem.ratio.norm / problem->ratio.norm,
                 lambda = from->at.lambda * scale;
    cr_multipliers at = {lambda > 0 ? lambda : 0.15 / (problem->B - problem->b),
                         from->at.nu * scale,
                         {cr_dual_unused(problem, 0), cr_dual_unused(problem, 1)}};
    if (from->problem.ratio.order > 0) at.a[0] = from->at.a[0] * scale;
    return at;
}

static cr_problem describe(const cr_rise *rise, double mean)
{
    cr_problem problem = cr_point_describe(rise, mean, 2, 0);
    const double most = -problem.b * problem.B;
    if (!(problem.variance < most))
        problem.variance = most,
        problem.variance_slope = problem.b + problem.B; /* tangent of a concave function */
    problem.fixed[0] = problem.fixed[1] = problem.one_sided[0] = problem.one_sided[1] = 1;
    return problem;
}

/* Lets coefficient j take the end of [-most, most] that the worst function has exceeded. Returns
 * 0 if it has not, so that M_j = 0 is best. */
#define MOST_ROUNDS 6

static int bind(cr_problem *problem, int j, double most, double reached)
{
    if (!(fabs(reached) > most)) return 0;
    problem->coefficient[j] = reached > 0 ? most : -most;
    problem->fixed[j] = 0;
    return 1;
}

/* The known coefficients take up all of the variance: no function would satisfy the equalities. */
static int contradictory(const cr_problem *problem)
{
    double known = 0;
    for (int j = 0; j < CR_ORDERS; j++)
        known += problem->fixed[j] ? 0 : problem->coefficient[j] * problem->coefficient[j];
    return !(known < 0.9999 * problem->variance);
}

/* Finds by rounds which coefficients stand at which end. The descent lets go of those whose
 * multiplier becomes 0, and those that the worst function then exceeds are bound again. Returns
 * 0 if the rounds come to no end. */
static int descend(const cr_rise *rise, cr_problem *problem, double gain, cr_descent *descent)
{
    const double most[CR_ORDERS] = {rise->gradient_hi, rise->second};
    for (int round = 0; round < MOST_ROUNDS; round++) {
        if (contradictory(problem)) return 0;
        cr_newton_descend(problem, gain, descent);
        if (descent->impossible) return 0;
        const double reached[CR_ORDERS] = {descent->sums.yt, descent->sums.yh};
        int bound = 0;
        for (int j = 0; j < CR_ORDERS; j++) {
            if (descent->fixed[j]) problem->coefficient[j] = 0;
            problem->fixed[j] = descent->fixed[j];
            if (problem->fixed[j]) bound |= bind(problem, j, most[j] * (1 + 1e-9), reached[j]);
        }
        if (!bound) return 1;
    }
    return 0;
}

/* The second order uses no lower end of the gradient. If it binds, the point is solved again
 * without. */
static cr_point initial_of(const cr_rise *rise, double gain, const cr_point *point)
{
    const int lower_binds = point->problem.ratio.order > 0 &&
                            rise->r + point->problem.ratio.norm * point->at.a[0] < 0;
    if (!lower_binds) return *point;
    cr_rise without = *rise;
    cr_point initial;
    without.gradient_lo = 0;
    cr_point_solve(&without, point->mean, NULL, gain, &initial);
    return initial;
}

/* E[y h_2] of the worst function at the initial point: of the two-valued one itself, and not of
 * what gets room between the clips. */
static double second_of(const cr_problem *problem, const cr_point *initial, cr_descent *descent)
{
    cr_sums sums;
    cr_regions_find(problem, &descent->at, 1e-9, &descent->regions);
    if (initial->at.lambda > 0)
        cr_dual_sums(problem, &descent->at, &descent->regions, &cr_quadrature_draft, &sums);
    else
        cr_dual_sums(&initial->problem, &initial->at, &initial->regions, &cr_quadrature_draft,
                     &sums);
    return sums.yh;
}

static void take(const cr_rise *rise, const cr_problem *problem, const cr_descent *descent,
                 double mean, cr_point *out)
{
    *out = (cr_point){.mean = mean};
    cr_point_take(problem, descent, out);
    out->coefficient_hi[0] = fmin(rise->gradient_hi, sqrt(problem->variance));
    out->coefficient_hi[1] = rise->second;
    for (int j = 0; j < CR_ORDERS; j++) out->coefficient_lo[j] = -out->coefficient_hi[j];
}

static void solve(const cr_rise *rise, double gain, cr_point *point)
{
    const cr_point initial = initial_of(rise, gain, point);
    cr_problem problem = describe(rise, point->mean);
    cr_descent descent = {.at = raise_order(&problem, &initial)};
    if (initial.impossible || !(descent.at.lambda > 0)) return;
    if (!bind(&problem, 1, rise->second, second_of(&problem, &initial, &descent))) return;
    if (initial.problem.ratio.order > 0)
        problem.coefficient[0] = rise->gradient_hi, problem.fixed[0] = 0;
    const int found = descend(rise, &problem, gain, &descent);
    if (!found) point->tight = 0;
    if (found && descent.value < point->value) take(rise, &problem, &descent, point->mean, point);
}

int cr_second_order_again(const cr_rise *rise, double mean, const cr_point *warm, double gain,
                          cr_point *out)
{
    const int near = warm && warm->mean == mean && warm->problem.ratio.order > 1 && warm->tight;
    if (!near || !(rise->second < INFINITY) || gain < CR_ROUGH_GAIN) return 0;
    cr_problem problem = describe(rise, mean);
    cr_descent descent = {.at = warm->at, .regions = warm->regions};
    for (int j = 0; j < CR_ORDERS; j++) {
        problem.coefficient[j] = warm->problem.coefficient[j];
        if (!(problem.fixed[j] = warm->problem.fixed[j])) continue;
        descent.at.a[j] = cr_dual_unused(&problem, j);
    }
    if (!descend(rise, &problem, gain, &descent) || !descent.tight) return 0;
    /* This knows no lower end of the gradient. Where one binds, the first order may be less; at a
     * single mean it has had a search of its own. */
    if (rise->mean_lo < rise->mean_hi && descent.sums.yt < rise->gradient_lo * (1 - 1e-6)) return 0;
    take(rise, &problem, &descent, mean, out);
    return 1;
}

void cr_second_order_use(const cr_rise *rise, double gain, cr_point *point)
{
    const int bounded = rise->range_lo > -INFINITY && rise->range_hi < INFINITY;
    if (!(rise->second < INFINITY) || !(rise->r >= CR_LEAST_SECOND_ORDER_RADIUS) ||
        point->constant || point->impossible)
        return;
    if (bounded || point->at.lambda > 0) solve(rise, gain, point);
}
