/* Checks a certreg_bounds and makes two one-sided problems of it. They are in a unit of their own,
 * so that no search depends on the caller's. */
#include "solver/problem_setup.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "solver/feasible_means.h"
#include <math.h>

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

static void unbind(double *lo, double *hi, double least)
{
    *lo = least;
    *hi = INFINITY;
}

/* Replaces constraints that are not named by bounds that always hold. */
static void fill_in(certreg_bounds *b)
{
    const uint32_t named = b->constraints;
    if (!(named & CERTREG_CONSTRAINT_MOMENT)) unbind(&b->moment_center, &b->moment_hi, 0);
    if (!(named & CERTREG_CONSTRAINT_VARIANCE)) b->variance_hi = INFINITY;
    if (!(named & CERTREG_CONSTRAINT_GRADIENT)) unbind(&b->gradient_lo, &b->gradient_hi, 0);
    if (!(named & CERTREG_CONSTRAINT_RANGE)) unbind(&b->range_lo, &b->range_hi, -INFINITY);
    if (!(named & CERTREG_CONSTRAINT_MEAN)) unbind(&b->mean_lo, &b->mean_hi, -INFINITY);
}

/* ---- unit */
/* Returns x * 2^k. If it does not fit, it is rounded towards the given infinity. */
static double scaled(double x, int k, double towards)
{
    const double y = ldexp(x, k), back = ldexp(y, -k);
    if (isinf(x) || back == x || (towards > 0) == (back > x)) return y;
    return nextafter(y, towards);
}

/* Returns the exponent of the unit: the power of two next to the deviation, as far as variance,
 * moment or range bound it. A change to it is exact, and puts all quantities that matter far from
 * the ends of double. If the means are out of all proportion to the deviation, they decide. */
static int unit_of(const certreg_bounds *b)
{
    const double deviation =
        fmin(sqrt(fmin(b->variance_hi, b->moment_hi)), 0.5 * b->range_hi - 0.5 * b->range_lo);
    const double places[] = {b->mean_lo, b->mean_hi, b->moment_center};
    int unit = deviation > 0 && deviation < INFINITY ? ilogb(deviation) : 0;
    for (int i = 0; i < 3; i++)
        if (isfinite(places[i]) && places[i] != 0 && ilogb(places[i]) > unit + 400)
            unit = ilogb(places[i]) - 400;
    return unit;
}

static void change_unit(certreg_bounds *b, int unit)
{
    b->mean_lo = scaled(b->mean_lo, -unit, -INFINITY);
    b->mean_hi = scaled(b->mean_hi, -unit, INFINITY);
    b->range_lo = scaled(b->range_lo, -unit, -INFINITY);
    b->range_hi = scaled(b->range_hi, -unit, INFINITY);
    b->gradient_lo = scaled(b->gradient_lo, -unit, -INFINITY);
    b->gradient_hi = scaled(b->gradient_hi, -unit, INFINITY);
    b->variance_hi = scaled(scaled(b->variance_hi, -unit, INFINITY), -unit, INFINITY);
    b->moment_hi = scaled(scaled(b->moment_hi, -unit, INFINITY), -unit, INFINITY);
    /* Not rounded outward: the loss is far below the root of the least variance. */
    b->moment_center = ldexp(b->moment_center, -unit);
    if (b->variance_hi > 0) b->variance_hi = fmax(b->variance_hi, CR_MIN_VARIANCE);
    if (b->moment_hi > 0) b->moment_hi = fmax(b->moment_hi, CR_MIN_VARIANCE);
}

double cr_constraints_up(const cr_problem_pair *both, double bound)
{
    return scaled(bound, both->unit, INFINITY);
}

double cr_constraints_limit(const cr_problem_pair *both, double limit)
{
    return scaled(limit, -both->unit, -INFINITY);
}

double cr_constraints_radius(const cr_problem_pair *both, double radius)
{
    if (radius == 0 || radius == INFINITY) return radius;
    int top, bottom;
    const double above = frexp(radius, &top), below = frexp(both->sigma, &bottom);
    double ratio = above / below;
    if (fma(ratio, below, -above) < 0) ratio = nextafter(ratio, INFINITY);
    return fmax(scaled(ratio, top - bottom, INFINITY), CR_MIN_RADIUS);
}

/* ---- completion */
/* The mean is at most the root of the moment away from the center; rounded outward. */
static void limit_mean(certreg_bounds *b)
{
    const double root = sqrt(b->moment_hi), most = root > 0 ? nextafter(root, INFINITY) : 0;
    b->mean_lo = fmax(b->mean_lo,
                      most > 0 ? nextafter(b->moment_center - most, -INFINITY) : b->moment_center);
    b->mean_hi = fmin(b->mean_hi,
                      most > 0 ? nextafter(b->moment_center + most, INFINITY) : b->moment_center);
}

/* Limits the mean by range and moment. */
static void combine(certreg_bounds *b)
{
    b->mean_lo = fmax(b->mean_lo, b->range_lo);
    b->mean_hi = fmin(b->mean_hi, b->range_hi);
    if (b->moment_hi < INFINITY) limit_mean(b);
    /* The dual needs a bounded interval of means. Without it, an open range bounds nothing. */
    if (!(b->mean_lo > -INFINITY && b->mean_hi < INFINITY))
        unbind(&b->range_lo, &b->range_hi, -INFINITY);
}

static cr_one_sided mirrored(const cr_one_sided *rise)
{
    cr_one_sided other = *rise;
    other.mean_lo = -rise->mean_hi;
    other.mean_hi = -rise->mean_lo;
    other.range_lo = -rise->range_hi;
    other.range_hi = -rise->range_lo;
    other.low_reached = rise->high_reached;
    other.high_reached = rise->low_reached;
    other.moment_center = -rise->moment_center;
    return other;
}

static certreg_status set_sides(const certreg_bounds *b, double given_gradient,
                                cr_evaluation_budget *effort, cr_problem_pair *out,
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
                           .effort = effort};
    const double given = rise->gradient_hi, deviation = sqrt(cr_one_sided_greatest_variance(rise));
    rise->gradient_hi = fmin(given, deviation);
    if (rise->gradient_lo > rise->gradient_hi) {
        if (rise->gradient_lo > rise->gradient_hi * (1 + 1e-12) || rise->gradient_lo > given)
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
    out->drop = mirrored(&out->rise);
    return CERTREG_OK;
}

/* Adds the moment to a mask with mean and variance, since it is a bound of both together. */
static uint32_t named(uint32_t constraints)
{
    const uint32_t both = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE;
    return !constraints                   ? CR_CONSTRAINTS_ALL
           : (constraints & both) == both ? constraints | CERTREG_CONSTRAINT_MOMENT
                                          : constraints;
}

certreg_status cr_problem_setup(const certreg_bounds *theirs, uint32_t constraints,
                                cr_evaluation_budget *effort, cr_problem_pair *out,
                                certreg_error *why)
{
    certreg_bounds b;
    certreg_status status = cr_struct_read(&b, sizeof b, CR_OLDEST_BOUNDS, theirs, "bounds", why);
    if (!status) status = check(&b, constraints, why);
    if (status) return status;
    const certreg_bounds given = b;
    out->used = b.constraints & named(constraints);
    out->has_mean =
        ((b.constraints & CERTREG_CONSTRAINT_MEAN) | (out->used & CERTREG_CONSTRAINT_MOMENT)) != 0;
    /* A threshold is for the mean, also if the mask lacks the mean. */
    b.constraints = out->used | (b.constraints & CERTREG_CONSTRAINT_MEAN);
    fill_in(&b);
    combine(&b); /* first, so that a dropped range does not decide the unit */
    out->unit = unit_of(&b);
    change_unit(&b, out->unit);
    if (b.mean_lo > b.mean_hi && b.moment_hi < INFINITY)
        return cr_error_set(why, CERTREG_E_INFEASIBLE,
                            "bounds.moment_hi = %g about %g contradicts the bounds of the mean",
                            given.moment_hi, given.moment_center);
    if (b.mean_lo > b.mean_hi)
        return cr_error_set(why, CERTREG_E_INFEASIBLE,
                            "the mean in bounds, [%g, %g], lies outside the range [%g, %g]",
                            given.mean_lo, given.mean_hi, given.range_lo, given.range_hi);
    return set_sides(&b, given.gradient_lo, effort, out, why);
}
