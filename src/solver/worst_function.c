/* The function that attains the bound (theory 3.6): from multipliers, and for a caller. */
#include "base/constants.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/struct_sizes.h"
#include "certreg/worst_function.h"
#include "solver/solver.h"
#include <float.h>
#include <math.h>

/* ======== The function that attains the dual at given multipliers (theory 3.6), and its own
 * moments. Makes, evaluates and measures worst functions. Measures are of the function itself,
 * so that they confirm the dual. */
/* ---- values */
static double region_value(const certreg_worst_function *f, const cr_ratio *ratio, int region,
                           double t)
{
    if (region == CERTREG_REGION_LO) return f->range_lo;
    if (region == CERTREG_REGION_HI) return f->range_hi;
    const double unclipped =
        f->offset + f->slope * t + (f->rest != 0 ? f->rest * cr_ratio_value(ratio, t) : 0);
    return fmin(fmax(unclipped, f->range_lo), f->range_hi);
}

certreg_status certreg_worst_function_values(const certreg_worst_function *input, size_t count,
                                             const double *t, double *out)
{
    certreg_worst_function f;
    const certreg_status status =
        cr_struct_read(&f, sizeof f, CR_OLDEST_WORST_FUNCTION, input, "function", NULL);
    if (status) return status;
    if (!f.region_count || f.region_count > CERTREG_MOST_REGIONS || (count && (!t || !out)))
        return CERTREG_E_INVALID;
    fenv_t caller_environment;
    cr_environment_enter(&caller_environment);
    const cr_ratio ratio = cr_ratio_make(1, f.tilt);
    for (size_t i = 0; i < count; i++) {
        uint32_t region = 0;
        while (region + 1 < f.region_count && t[i] > f.breakpoints[region]) region++;
        out[i] = isfinite(t[i]) ? region_value(&f, &ratio, f.regions[region], t[i]) : NAN;
    }
    cr_environment_leave(&caller_environment);
    return CERTREG_OK;
}

/* ---- from a solution */
/* Sets the curve y = s (h - nu - a t). For k = 0, h becomes a sum of t and the h of k = 1. */
static void set_curve(const cr_problem *problem, const cr_multipliers *mult,
                      certreg_worst_function *out)
{
    const cr_ratio *ratio = &problem->ratio;
    const double half_inverse_lambda = 0.5 / mult->lambda,
                 ratio_weight = half_inverse_lambda / ratio->norm;
    out->offset = -half_inverse_lambda * mult->nu;
    out->slope = ratio->order > 0 ? -half_inverse_lambda * mult->a : ratio_weight * ratio->r;
    out->rest = ratio_weight * cr_ratio_norm(1, ratio->r);
}

static void set_multipliers(const cr_problem *problem, const cr_multipliers *mult,
                            certreg_worst_function *out)
{
    out->by_variance = problem->ratio.norm * mult->lambda;
    out->by_mean = problem->ratio.norm * mult->nu;
    out->by_gradient = problem->ratio.order > 0 ? cr_dual_multiplier(problem, mult) : 0;
}

/* Beyond these ends every density that occurs is 0 in double precision. */
static const double density_support_end = 38.5;

static void add_region(certreg_worst_function *f, double from, double to, int region)
{
    if (!(from < to) || to < -density_support_end || from > density_support_end + 2 * f->tilt)
        return;
    if (f->region_count && f->regions[f->region_count - 1] == region) return;
    if (f->region_count) f->breakpoints[f->region_count - 1] = from;
    f->regions[f->region_count++] = region;
}

static void set_regions(const cr_clip_regions *regions, certreg_worst_function *out)
{
    static const int region_order[CERTREG_MOST_REGIONS] = {
        CERTREG_REGION_HI, CERTREG_REGION_BETWEEN, CERTREG_REGION_LO, CERTREG_REGION_BETWEEN,
        CERTREG_REGION_HI};
    for (int i = 0; i < CERTREG_MOST_REGIONS; i++)
        add_region(out, i > 0 ? regions->edge[i - 1] : -INFINITY,
                   i < CR_CLIP_EDGES ? regions->edge[i] : INFINITY, region_order[i]);
}

/* Makes the worst function of a solution: of mean 0, in the problem's unit, and for a rise. */
static void cr_extremal_function_make(const cr_fixed_mean_dual *solution,
                                      certreg_worst_function *out)
{
    const cr_problem *problem = &solution->problem;
    cr_multipliers mult = solution->multipliers;
    cr_clip_regions regions = solution->regions;
    *out = (certreg_worst_function){.struct_size = sizeof *out,
                                    .tilt = problem->ratio.r,
                                    .range_lo = problem->b,
                                    .range_hi = problem->B};
    if (solution->constant) {
        out->region_count = 1; /* 0 everywhere */
        return;
    }
    if (mult.lambda > 0) {
        cr_newton_finish(problem, &mult, &regions);
        set_curve(problem, &mult, out);
        cr_clip_regions_find(problem, &mult, 1e-13, &regions);
    } else {
        double left, right;
        cr_two_valued_edges(problem, &left, &right);
        regions.edge[0] = regions.edge[1] = left;
        regions.edge[2] = regions.edge[3] = right;
    }
    set_multipliers(problem, &mult, out);
    set_regions(&regions, out);
}

/* ---- moments */
typedef struct moments {
    double y, yt, yy, change;
} moments;

/* Returns the density of N(0,1) times exp(rt - r^2/2) - 1, without underflow of a factor alone. */
static double density_change(double t, double r)
{
    const double x = r * (t - 0.5 * r);
    return CR_INV_SQRT_TWO_PI * (fabs(x) < 1 ? exp(-0.5 * t * t) * expm1(x)
                                             : exp(-0.5 * (t - r) * (t - r)) - exp(-0.5 * t * t));
}

static void integrate_panel(const certreg_worst_function *f, int region, double r, double from,
                            double to, moments *out)
{
    const cr_ratio ratio = cr_ratio_make(1, f->tilt);
    const cr_quadrature_rule *rule = &cr_quadrature_proof;
    const double center = 0.5 * (from + to), half_width = 0.5 * (to - from);
    for (int j = 0; j < 2 * rule->positive_nodes; j++) {
        const double t = center + (j & 1 ? -half_width : half_width) * rule->node[j / 2],
                     weight = half_width * rule->weight[j / 2],
                     y = region_value(f, &ratio, region, t),
                     wy = weight * CR_INV_SQRT_TWO_PI * exp(-0.5 * t * t) * y;
        out->y += wy;
        out->yt += wy * t;
        out->yy += wy * y;
        out->change += weight * density_change(t, r) * y;
    }
}

/* Sets its mean, variance, gradient, and its change at r units of sigma. */
static void cr_extremal_function_measure(certreg_worst_function *f, double r,
                                         cr_evaluation_budget *budget)
{
    moments sum = {0};
    double ends[CR_MAX_PANEL_ENDS], from = -INFINITY;
    for (uint32_t i = 0; i < f->region_count; i++) {
        const double to = i + 1 < f->region_count ? f->breakpoints[i] : INFINITY;
        const int region = f->regions[i], peaks = region == CERTREG_REGION_BETWEEN ? 2 : 1;
        const int count = cr_quadrature_panel_ends(&cr_quadrature_proof, from, to, 0,
                                                   peaks * fmax(r, f->tilt), ends);
        if (count)
            budget->points += 2 * (uint64_t)(cr_quadrature_proof.positive_nodes * (count - 1));
        for (int k = 1; k < count; k++) integrate_panel(f, region, r, ends[k], ends[k - 1], &sum);
        from = to;
    }
    budget->used++;
    f->mean = sum.y;
    f->gradient = sum.yt;
    f->variance = sum.yy - sum.y * sum.y;
    f->change = sum.change;
}

/* ---- to the caller */
/* Converts it from units of 2^unit for the caller: adds the mean, and turns u into -u for LOWER. */
static void cr_extremal_function_to_caller(certreg_worst_function *f, const cr_one_sided *rise,
                                           double mean, int unit, int32_t side)
{
    double *const values[] = {&f->mean, &f->gradient, &f->offset,  &f->slope,
                              &f->rest, &f->range_lo, &f->range_hi};
    f->mean += mean;
    f->offset += mean;
    f->range_lo = rise->range_lo;
    f->range_hi = rise->range_hi;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        *values[i] = ldexp(side * *values[i], unit) + 0.0; /* not -0 */
    f->variance = ldexp(f->variance, 2 * unit);
    f->change = ldexp(f->change, unit);
    f->by_variance = ldexp(f->by_variance, -unit);
    f->side = side;
    if (side == CERTREG_SIDE_UPPER) return;
    const double lo = f->range_hi;
    f->range_hi = f->range_lo;
    f->range_lo = lo;
    for (uint32_t i = 0; i < f->region_count; i++) f->regions[i] = -f->regions[i];
}

/* ======== The worst function at a radius (theory 3.6). Each search of a bound ends at
 * solutions; their functions are made, measured and checked against all constraints. */
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
    const double deviation = sqrt(f->variance), slack = feasibility_tolerance * deviation,
                 distance = fabs(mean + f->mean - rise->moment_center),
                 moment = f->variance + distance * distance;
    return in_interval(mean + f->mean, rise->mean_lo, rise->mean_hi, slack) &&
           f->variance <= rise->variance * (1 + feasibility_tolerance) &&
           moment <= rise->moment + slack * (deviation + distance) &&
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

/* Returns whether the range was dropped, since it bounds nothing (worst_case.c). */
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
