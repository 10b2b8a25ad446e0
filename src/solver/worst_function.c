/* The worst function at a radius (theory 3.6). Each search of a bound ends at solutions; their
 * functions are made, measured and checked against all constraints. */
#include "solver/worst_function.h"
#include "solver/tangent_search.h"
#include "solver/constraint_subsets.h"
#include "solver/closed_form_bound.h"
#include "solver/problem_setup.h"
#include "solver/extremal_function.h"
#include <float.h>
#include <math.h>

/* The smallest bound so far, and the best function at the ends of its searches: of the functions
 * with all constraints the one with the greatest change of its mean. */
typedef struct function_search {
    const cr_one_sided *rise; /* with all constraints */
    cr_tangent_pair tangents;
    double bound, mean; /* mean: what `best` is about */
    certreg_worst_function best;
} function_search;

static const double feasibility_tolerance = 1e-6; /* in units of the function's own deviation */
static const double max_rounding_error = 1e-5;    /* of a value, in the same unit */

static int in_interval(double x, double low, double high, double slack)
{
    return x >= low - slack && x <= high + slack;
}

/* Returns whether the function has all constraints as a model, with the gradient norm |E[f t]|. */
static int satisfies_constraints(const cr_one_sided *rise, const certreg_worst_function *f,
                                 double mean)
{
    const double slack = feasibility_tolerance * sqrt(f->variance),
                 distance = mean + f->mean - rise->moment_center;
    return in_interval(mean + f->mean, rise->mean_lo, rise->mean_hi, slack) &&
           f->variance <= rise->variance * (1 + feasibility_tolerance) &&
           f->variance + distance * distance <= rise->moment * (1 + feasibility_tolerance) &&
           in_interval(fabs(f->gradient), rise->gradient_lo, rise->gradient_hi, slack);
}

/* Returns whether its values have digits: huge multipliers that nearly cancel leave none. */
static int has_digits(const certreg_worst_function *f)
{
    const double terms = fabs(f->offset) + fabs(f->slope);
    return DBL_EPSILON * terms <= max_rounding_error * sqrt(f->variance);
}

static void keep_if_better(function_search *search, const cr_fixed_mean_dual *solution)
{
    certreg_worst_function f;
    if (solution->infeasible) return;
    cr_extremal_function_make(solution, &f);
    cr_extremal_function_measure(&f, search->rise->r, search->rise->budget);
    const int better = !search->best.region_count || f.change > search->best.change;
    if (!better || !(f.change < INFINITY) || !has_digits(&f)) return;
    if (!satisfies_constraints(search->rise, &f, solution->mean)) return;
    search->best = f;
    search->mean = solution->mean;
}

/* Offers the function of a bound without a search: without a range, or if nothing can vary. */
static void consider_closed_form(function_search *search, const cr_one_sided *rise, double bound)
{
    const int has_range = rise->range_lo > -INFINITY || rise->range_hi < INFINITY;
    cr_fixed_mean_dual solution = {
        .mean = fmin(fmax(rise->moment_center, rise->mean_lo), rise->mean_hi), .constant = 1};
    solution.problem = cr_fixed_mean_problem(rise, solution.mean, 0, 0);
    if (bound > 0 && (has_range || !cr_closed_form_solution(rise, &solution))) return;
    keep_if_better(search, &solution);
}

static int search_function(void *context, const cr_one_sided *rise)
{
    function_search *search = context;
    const double bound = cr_tangent_bound(rise, 0, &search->tangents);
    search->bound = fmin(search->bound, bound);
    for (int i = 0; i < search->tangents.count; i++)
        keep_if_better(search, search->tangents.solution + i);
    if (!search->tangents.count) consider_closed_form(search, rise, bound);
    return search->tangents.tight;
}

/* Returns the bound at this radius. */
static double search_at_radius(function_search *search, double r)
{
    cr_one_sided rise = *search->rise;
    rise.r = r;
    search->bound = INFINITY;
    cr_constraint_subsets subsets = cr_constraint_subsets_make(&rise, search_function, search);
    cr_constraint_subsets_solve(&subsets, 1, rise.budget);
    return search->bound;
}

#define MAX_ATTEMPTS 6
static const double min_radius = 1e-8; /* below, the bound hardly depends on the function */

/* Constraints do not depend on the radius, so a function found at another one will do as well. */
static void search_smaller_radii(function_search *search)
{
    double r = fmax(0.75 * search->rise->r, min_radius);
    for (int i = 0; i < MAX_ATTEMPTS && cr_budget_left(search->rise->budget); i++, r *= 0.75) {
        search_at_radius(search, r);
        if (search->best.region_count) return;
    }
}

static certreg_status check(double radius, int32_t side, certreg_error *why)
{
    if (side != CERTREG_SIDE_LOWER && side != CERTREG_SIDE_UPPER)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "side is %d; it must be CERTREG_SIDE_LOWER or CERTREG_SIDE_UPPER",
                            side);
    if (!(radius > 0 && radius < INFINITY))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "radius is %g; a worst function needs a positive and finite one",
                            radius);
    return CERTREG_OK;
}

static certreg_status check_radius(const cr_one_sided *rise, double radius, certreg_error *why)
{
    const double max_radius = rise->range_hi < INFINITY ? CR_MAX_FINITE_NORM_RADIUS
                                                        : CR_MAX_OPEN_RANGE_RADIUS;
    if (rise->r <= max_radius) return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_INVALID,
        "radius is %g, which is %g sigma; a worst function with this range is given up "
        "to %g sigma",
        radius, rise->r, max_radius);
}

static certreg_status no_function_error(double bound, certreg_error *why)
{
    if (bound == INFINITY)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "constraints leave the change of the mean without a bound, so no function "
            "is the worst; name the variance, or the mean and the range");
    return cr_error_set(
        why, CERTREG_E_INVALID,
        "constraints bound the change of the mean by %g, but no function that comes "
        "near it was found; name the variance, or fewer constraints",
        bound);
}

/* Returns whether the range was dropped, since it bounds nothing (problem_setup.c). */
static int drops_range(const certreg_bounds *bounds, const certreg_worst_function *f)
{
    return (bounds->range_lo > -INFINITY || bounds->range_hi < INFINITY) &&
           f->range_lo == -INFINITY && f->range_hi == INFINITY && f->variance > 0;
}

certreg_status cr_worst_function(const cr_worst_case_instance *instance, int32_t side,
                                 uint32_t max_evaluations, cr_evaluation_budget *budget,
                                 certreg_worst_function *out, certreg_error *why)
{
    const double radius = instance->radius;
    cr_problem_pair problems;
    *out = (certreg_worst_function){.struct_size = sizeof *out, .bound = INFINITY};
    *budget = (cr_evaluation_budget){.limit = (int)max_evaluations - CR_RESERVED_FOR_WORST_CASE};
    certreg_status status = check(radius, side, why);
    if (!status)
        status = cr_problem_setup(instance->bounds, instance->constraints, budget, &problems, why);
    if (status) return status;
    cr_one_sided *rise = side == CERTREG_SIDE_UPPER ? &problems.rise : &problems.drop;
    rise->r = cr_problem_scale_radius(&problems, radius);
    if ((status = check_radius(rise, radius, why))) return status;
    function_search search = {.rise = rise};
    const double bound = cr_problem_unscale_bound(&problems, search_at_radius(&search, rise->r));
    if (!search.best.region_count) search_smaller_radii(&search);
    if (!search.best.region_count) return no_function_error(bound, why);
    *out = search.best;
    cr_extremal_function_to_caller(out, rise, search.mean, problems.unit, side);
    out->constraints = problems.constraints;
    if (drops_range(instance->bounds, out)) out->constraints &= ~(uint32_t)CERTREG_CONSTRAINT_RANGE;
    out->radius = radius;
    out->bound = bound;
    out->change = fmin(fmax(out->change, 0), bound);
    return CERTREG_OK;
}
