/* The worst change of the mean within a radius, from a caller's bounds. */
#include "base/error.h"
#include "base/struct_sizes.h"
#include "solver/solver.h"
#include <math.h>

/* ======== Checks a certreg_bounds and makes two one-sided problems of it. They are in a unit of
 * their own, so that no search depends on the caller's. */
static certreg_status invalid(certreg_error *why, const char *field, double value, const char *rule)
{
    cr_error_set(why, CERTREG_E_INVALID, "bounds.%s is %g; %s", field, value, rule);
    if (why) why->value = value;
    return CERTREG_E_INVALID;
}

static certreg_status check_mean(const certreg_bounds *b, certreg_error *why)
{
    if (!(b->constraints & CERTREG_CONSTRAINT_MEAN)) return CERTREG_OK;
    if (isnan(b->mean_lo) || b->mean_lo == INFINITY)
        return invalid(why, "mean_lo", b->mean_lo, "it must be a number below infinity");
    if (isnan(b->mean_hi) || b->mean_hi == -INFINITY)
        return invalid(why, "mean_hi", b->mean_hi, "it must be a number above -infinity");
    if (b->mean_lo > b->mean_hi)
        return invalid(why, "mean_lo", b->mean_lo, "it must not exceed mean_hi");
    return CERTREG_OK;
}

static certreg_status check_moments(const certreg_bounds *b, certreg_error *why)
{
    if (b->constraints & CERTREG_CONSTRAINT_VARIANCE &&
        (!(b->variance_hi >= 0) || b->variance_hi == INFINITY))
        return invalid(why, "variance_hi", b->variance_hi, "it must be finite and not negative");
    if (b->constraints & CERTREG_CONSTRAINT_MOMENT && !isfinite(b->moment_center))
        return invalid(why, "moment_center", b->moment_center, "it must be finite");
    if (b->constraints & CERTREG_CONSTRAINT_MOMENT &&
        (!(b->moment_hi >= 0) || b->moment_hi == INFINITY))
        return invalid(why, "moment_hi", b->moment_hi, "it must be finite and not negative");
    if (!(b->constraints & CERTREG_CONSTRAINT_GRADIENT)) return CERTREG_OK;
    if (!(b->gradient_lo >= 0) || b->gradient_lo == INFINITY)
        return invalid(why, "gradient_lo", b->gradient_lo, "it must be finite and not negative");
    if (!(b->gradient_hi >= 0))
        return invalid(why, "gradient_hi", b->gradient_hi, "it must not be negative");
    if (b->gradient_lo > b->gradient_hi)
        return invalid(why, "gradient_lo", b->gradient_lo, "it must not exceed gradient_hi");
    return CERTREG_OK;
}

static certreg_status check(const certreg_bounds *b, uint32_t constraints, certreg_error *why)
{
    certreg_status status = cr_constraints_check(constraints, "constraints", why);
    if (!status) status = cr_constraints_check(b->constraints, "bounds.constraints", why);
    if (status) return status;
    if (!(b->sigma > 0) || b->sigma == INFINITY)
        return invalid(why, "sigma", b->sigma, "it must be positive and finite");
    status = check_mean(b, why);
    if (!status) status = check_moments(b, why);
    if (status || !(b->constraints & CERTREG_CONSTRAINT_RANGE)) return status;
    if (isnan(b->range_hi)) return invalid(why, "range_hi", b->range_hi, "it must be a number");
    if (!(b->range_lo < b->range_hi))
        return invalid(why, "range_lo", b->range_lo, "it must be below range_hi");
    return CERTREG_OK;
}

static void set_unbounded(double *lo, double *hi, double lo_value)
{
    *lo = lo_value;
    *hi = INFINITY;
}

/* Replaces constraints that are not named by bounds that always hold. */
static void relax_unnamed_constraints(certreg_bounds *b)
{
    const uint32_t named = b->constraints;
    if (!(named & CERTREG_CONSTRAINT_MOMENT)) set_unbounded(&b->moment_center, &b->moment_hi, 0);
    if (!(named & CERTREG_CONSTRAINT_VARIANCE)) b->variance_hi = INFINITY;
    if (!(named & CERTREG_CONSTRAINT_GRADIENT)) set_unbounded(&b->gradient_lo, &b->gradient_hi, 0);
    if (!(named & CERTREG_CONSTRAINT_RANGE)) set_unbounded(&b->range_lo, &b->range_hi, -INFINITY);
    if (!(named & CERTREG_CONSTRAINT_MEAN)) set_unbounded(&b->mean_lo, &b->mean_hi, -INFINITY);
}

/* ---- unit */
/* Returns x * 2^k. If it does not fit, it is rounded towards the given infinity. */
static double scale_by_power_of_two(double x, int k, double rounding_direction)
{
    const double y = ldexp(x, k), restored = ldexp(y, -k);
    if (isinf(x) || restored == x || (rounding_direction > 0) == (restored > x)) return y;
    return nextafter(y, rounding_direction);
}

/* Returns the exponent of the unit: the power of two next to the deviation, as far as variance,
 * moment or range bound it. A change to it is exact, and puts all quantities that matter far from
 * the ends of double. If the means are out of all proportion to the deviation, they decide. */
static int choose_unit(const certreg_bounds *b)
{
    const double deviation =
        fmin(sqrt(fmin(b->variance_hi, b->moment_hi)), 0.5 * b->range_hi - 0.5 * b->range_lo);
    const double locations[] = {b->mean_lo, b->mean_hi, b->moment_center};
    int unit = deviation > 0 && deviation < INFINITY ? ilogb(deviation) : 0;
    for (int i = 0; i < 3; i++)
        if (isfinite(locations[i]) && locations[i] != 0 && ilogb(locations[i]) > unit + 400)
            unit = ilogb(locations[i]) - 400;
    return unit;
}

static void scale_bounds(certreg_bounds *b, int unit)
{
    b->mean_lo = scale_by_power_of_two(b->mean_lo, -unit, -INFINITY);
    b->mean_hi = scale_by_power_of_two(b->mean_hi, -unit, INFINITY);
    b->range_lo = scale_by_power_of_two(b->range_lo, -unit, -INFINITY);
    b->range_hi = scale_by_power_of_two(b->range_hi, -unit, INFINITY);
    b->gradient_lo = scale_by_power_of_two(b->gradient_lo, -unit, -INFINITY);
    b->gradient_hi = scale_by_power_of_two(b->gradient_hi, -unit, INFINITY);
    b->variance_hi = scale_by_power_of_two(scale_by_power_of_two(b->variance_hi, -unit, INFINITY),
                                           -unit, INFINITY);
    b->moment_hi = scale_by_power_of_two(scale_by_power_of_two(b->moment_hi, -unit, INFINITY),
                                         -unit, INFINITY);
    /* Not rounded outward: the loss is far below the root of the least variance. */
    b->moment_center = ldexp(b->moment_center, -unit);
    if (b->variance_hi > 0) b->variance_hi = fmax(b->variance_hi, CR_MIN_VARIANCE);
    if (b->moment_hi > 0) b->moment_hi = fmax(b->moment_hi, CR_MIN_VARIANCE);
}

double cr_problem_unscale_bound(const cr_problem_pair *problems, double bound)
{
    return scale_by_power_of_two(bound, problems->unit, INFINITY);
}

double cr_problem_scale_limit(const cr_problem_pair *problems, double limit)
{
    return scale_by_power_of_two(limit, -problems->unit, -INFINITY);
}

double cr_problem_scale_radius(const cr_problem_pair *problems, double radius)
{
    if (radius == 0 || radius == INFINITY) return radius;
    int radius_exponent, sigma_exponent;
    const double radius_mantissa = frexp(radius, &radius_exponent),
                 sigma_mantissa = frexp(problems->sigma, &sigma_exponent);
    double ratio = radius_mantissa / sigma_mantissa;
    if (fma(ratio, sigma_mantissa, -radius_mantissa) < 0) ratio = nextafter(ratio, INFINITY);
    return fmax(scale_by_power_of_two(ratio, radius_exponent - sigma_exponent, INFINITY),
                CR_MIN_RADIUS);
}

/* ---- completion */
/* The mean is at most the root of the moment away from the center; rounded outward. */
static void bound_mean_by_moment(certreg_bounds *b)
{
    const double max_distance = sqrt(b->moment_hi),
                 distance = max_distance > 0 ? nextafter(max_distance, INFINITY) : 0;
    b->mean_lo = fmax(b->mean_lo, distance > 0 ? nextafter(b->moment_center - distance, -INFINITY)
                                               : b->moment_center);
    b->mean_hi = fmin(b->mean_hi, distance > 0 ? nextafter(b->moment_center + distance, INFINITY)
                                               : b->moment_center);
}

/* Limits the mean by range and moment. */
static void bound_mean(certreg_bounds *b)
{
    b->mean_lo = fmax(b->mean_lo, b->range_lo);
    b->mean_hi = fmin(b->mean_hi, b->range_hi);
    if (b->moment_hi < INFINITY) bound_mean_by_moment(b);
    /* The dual needs a bounded interval of means. Without it, an open range bounds nothing. */
    if (!(b->mean_lo > -INFINITY && b->mean_hi < INFINITY))
        set_unbounded(&b->range_lo, &b->range_hi, -INFINITY);
}

static cr_one_sided negated(const cr_one_sided *rise)
{
    cr_one_sided result = *rise;
    result.mean_lo = -rise->mean_hi;
    result.mean_hi = -rise->mean_lo;
    result.range_lo = -rise->range_hi;
    result.range_hi = -rise->range_lo;
    result.low_end_is_feasible_limit = rise->high_end_is_feasible_limit;
    result.high_end_is_feasible_limit = rise->low_end_is_feasible_limit;
    result.moment_center = -rise->moment_center;
    return result;
}

static certreg_status set_problems(const certreg_bounds *b, double given_gradient,
                                   cr_evaluation_budget *budget, cr_problem_pair *out,
                                   certreg_error *why)
{
    cr_one_sided *rise = &out->rise;
    *rise = (cr_one_sided){.mean_lo = b->mean_lo,
                           .mean_hi = b->mean_hi,
                           .range_lo = b->range_lo,
                           .range_hi = b->range_hi,
                           .variance = b->variance_hi,
                           .gradient_lo = b->gradient_lo,
                           .gradient_hi = b->gradient_hi,
                           .moment_center = b->moment_center,
                           .moment = b->moment_hi,
                           .budget = budget};
    const double gradient_hi = rise->gradient_hi, deviation = sqrt(cr_one_sided_max_variance(rise));
    rise->gradient_hi = fmin(gradient_hi, deviation);
    if (rise->gradient_lo > rise->gradient_hi) {
        if (rise->gradient_lo > rise->gradient_hi * (1 + 1e-12) || rise->gradient_lo > gradient_hi)
            return cr_error_set(
                why, CERTREG_E_INFEASIBLE,
                "bounds.gradient_lo = %g exceeds gradient_hi, or the standard deviation %g",
                given_gradient, ldexp(deviation, out->unit));
        rise->gradient_lo = rise->gradient_hi; /* an affine function, to rounding */
    }
    if (!cr_feasible_means(&out->rise))
        return cr_error_set(why, CERTREG_E_INFEASIBLE,
                            "bounds.gradient_lo = %g exceeds what mean, variance and range allow",
                            given_gradient);
    out->sigma = b->sigma;
    out->drop = negated(&out->rise);
    return CERTREG_OK;
}

/* Adds the moment to a mask with mean and variance, since it is a bound of both together. */
static uint32_t selected_constraints(uint32_t constraints)
{
    const uint32_t mean_and_variance = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE;
    return !constraints ? CR_CONSTRAINTS_ALL
           : (constraints & mean_and_variance) == mean_and_variance
               ? constraints | CERTREG_CONSTRAINT_MOMENT
               : constraints;
}

certreg_status cr_problem_setup(const certreg_bounds *input, uint32_t constraints,
                                cr_evaluation_budget *budget, cr_problem_pair *out,
                                certreg_error *why)
{
    certreg_bounds b;
    certreg_status status = cr_struct_read(&b, sizeof b, CR_OLDEST_BOUNDS, input, "bounds", why);
    if (!status) status = check(&b, constraints, why);
    if (status) return status;
    const certreg_bounds original = b;
    out->constraints = b.constraints & selected_constraints(constraints);
    out->has_mean = ((b.constraints & CERTREG_CONSTRAINT_MEAN) |
                     (out->constraints & CERTREG_CONSTRAINT_MOMENT)) != 0;
    /* A threshold is for the mean, also if the mask lacks the mean. */
    b.constraints = out->constraints | (b.constraints & CERTREG_CONSTRAINT_MEAN);
    relax_unnamed_constraints(&b);
    bound_mean(&b); /* first, so that a dropped range does not decide the unit */
    out->unit = choose_unit(&b);
    scale_bounds(&b, out->unit);
    if (b.mean_lo > b.mean_hi && b.moment_hi < INFINITY)
        return cr_error_set(why, CERTREG_E_INFEASIBLE,
                            "bounds.moment_hi = %g about %g contradicts the bounds of the mean",
                            original.moment_hi, original.moment_center);
    if (b.mean_lo > b.mean_hi)
        return cr_error_set(why, CERTREG_E_INFEASIBLE,
                            "the mean in bounds, [%g, %g], lies outside the range [%g, %g]",
                            original.mean_lo, original.mean_hi, original.range_lo,
                            original.range_hi);
    return set_problems(&b, original.gradient_lo, budget, out, why);
}

/* ======== A worst case: rise, drop and the ends of the shifted mean, by all subsets of the
 * constraints. */
/* The smallest bound so far of the rise (weight 0) or of the shifted mean (weight 1). */
typedef struct bound_search {
    double weight, best_bound;
    cr_tangent_pair tangents; /* the next search starts from it */
} bound_search;

static int search_bound(void *context, const cr_one_sided *rise)
{
    bound_search *search = context;
    search->best_bound =
        fmin(search->best_bound, cr_tangent_bound(rise, search->weight, &search->tangents));
    return search->tangents.tight;
}

static double mean_bound_from_rise(const cr_one_sided *rise, double max_rise)
{
    return fmin(max_rise > 0 ? nextafter(rise->mean_hi + max_rise, INFINITY) : rise->mean_hi,
                cr_range_bound(rise, 1));
}

/* Rise and drop come first, then the shifted means, which follow if the mean is known exactly. */
static void solve_all(cr_problem_pair *problems, double radius, cr_evaluation_budget *budget,
                      certreg_mean_change *out)
{
    const cr_one_sided *problem[] = {&problems->rise, &problems->drop};
    bound_search searches[] = {{.best_bound = INFINITY},
                               {.best_bound = INFINITY},
                               {.best_bound = INFINITY, .weight = 1},
                               {.best_bound = INFINITY, .weight = 1}};
    cr_constraint_subsets subsets[4];
    double mean_bound[2];
    int count = 0;
    problems->rise.r = problems->drop.r = cr_problem_scale_radius(problems, radius);
    const int has_width = problems->has_mean && problems->rise.mean_lo < problems->rise.mean_hi;
    for (int i = 0; i < 4; i++)
        if (i < 2 || (has_width && isfinite(problem[i - 2]->mean_hi)))
            subsets[count++] =
                cr_constraint_subsets_make(problem[i % 2], search_bound, searches + i);
    cr_constraint_subsets_solve(subsets, count, budget);
    for (int i = 0; i < 2; i++)
        mean_bound[i] = fmin(searches[i + 2].best_bound,
                             mean_bound_from_rise(problem[i], searches[i].best_bound));
    out->rise = cr_problem_unscale_bound(problems, searches[0].best_bound);
    out->drop = cr_problem_unscale_bound(problems, searches[1].best_bound);
    out->mean_greatest = cr_problem_unscale_bound(problems, mean_bound[0]);
    out->mean_least = -cr_problem_unscale_bound(problems, mean_bound[1]);
}

const certreg_mean_change cr_worst_case_unbounded = {
    sizeof(certreg_mean_change), 0, INFINITY, INFINITY, -INFINITY, INFINITY};

certreg_status cr_worst_case(const cr_worst_case_instance *instance, uint32_t max_evaluations,
                             cr_evaluation_budget *budget, certreg_mean_change *out,
                             certreg_error *why)
{
    cr_problem_pair problems;
    *out = cr_worst_case_unbounded;
    *budget = (cr_evaluation_budget){.limit = (int)max_evaluations - CR_RESERVED_FOR_WORST_CASE};
    if (!(instance->radius >= 0))
        return cr_error_set(why, CERTREG_E_INVALID, "radius is %g; it must not be negative",
                            instance->radius);
    const certreg_status status =
        cr_problem_setup(instance->bounds, instance->constraints, budget, &problems, why);
    if (status) return status;
    out->constraints = problems.constraints;
    solve_all(&problems, instance->radius, budget, out);
    return CERTREG_OK;
}
