/* Closed-form bounds (theory 2.1). They start and steer a search, and replace a bound that its
 * proof does not confirm. */
#include "solver/solver.h"
#include "base/constants.h"
#include <float.h>
#include <math.h>

/* Without a range V is the maximum of a linear form over a ball: of sum_j w_j y_j + w z under sum_j
 * y_j^2 + z^2 <= norm_squared, with the residual z, the residual weight w, and every y_j within its
 * own interval. For every x > 0, weak duality gives the bound D(x) = norm_squared / 2x + sum_j max
 * over y_j of (w_j y_j - y_j^2 / 2x) + x w^2 / 2, with y_j = clip(x w_j). D is least if these y_j
 * and z = x w fill the ball. */
typedef struct axis {
    double weight, low, high; /* weight > 0 */
} axis;

enum { MAX_AXES = 2 }; /* gradient; mean */

typedef struct linear_form {
    int count;
    axis axis[MAX_AXES];
    double residual_weight, norm_squared;
    double y[MAX_AXES], residual; /* the answer */
} linear_form;

static double clip(double y, const axis *a)
{
    return fmin(fmax(y, a->low), a->high);
}

static double norm_squared_at(const linear_form *f, double x)
{
    double sum = x * f->residual_weight * x * f->residual_weight;
    for (int j = 0; j < f->count; j++) {
        const double y = clip(x * f->axis[j].weight, f->axis + j);
        sum += y * y;
    }
    return sum;
}

/* Returns the best x, between two at which a clip begins: unclipped y_j are proportional to x. */
static double optimal_scale(const linear_form *f)
{
    double low = 0, high = INFINITY, free_weight_squared = 0, remaining = f->norm_squared;
    for (int j = 0; j < f->count; j++) {
        const double breakpoints[2] = {f->axis[j].low / f->axis[j].weight,
                                       f->axis[j].high / f->axis[j].weight};
        for (int i = 0; i < 2; i++) {
            if (!(breakpoints[i] > low && breakpoints[i] < high)) continue;
            if (norm_squared_at(f, breakpoints[i]) <= f->norm_squared) low = breakpoints[i];
            else high = breakpoints[i];
        }
    }
    for (int j = 0; j < f->count; j++) {
        const axis *a = f->axis + j;
        const int at_low = a->low / a->weight >= high, at_high = a->high / a->weight <= low;
        if (at_low || at_high)
            remaining = fma(at_low ? -a->low : -a->high, at_low ? a->low : a->high, remaining);
        else free_weight_squared += a->weight * a->weight;
    }
    /* hypot, since the square of the weight may underflow. */
    return fmin(
        fmax(sqrt(fmax(0, remaining)) / hypot(sqrt(free_weight_squared), f->residual_weight), low),
        high);
}

/* Returns D at the best x, rounded up. */
static double maximize(linear_form *f)
{
    /* A single y_j is rounded once below, and may take nearly all of the ball. */
    if (f->count > 1) f->norm_squared *= 1 + 4 * DBL_EPSILON;
    const double x = optimal_scale(f);
    double remaining = f->norm_squared, sum = 0, size = 0;
    for (int j = 0; j < f->count; j++) {
        const double y = clip(x * f->axis[j].weight, f->axis + j);
        f->y[j] = y;
        remaining = fma(-y, y, remaining);
        sum += f->axis[j].weight * y;
        size += fabs(f->axis[j].weight * y);
    }
    f->residual = x * f->residual_weight;
    const double residual_term =
        x > 0 ? 0.5 * (fmax(0, remaining) / x + f->residual * f->residual_weight)
              : 0; /* x = 0: the intervals alone fill the ball */
    /* DBL_MIN is for terms that underflow. */
    return sum + residual_term + 16 * DBL_EPSILON * (size + residual_term) + DBL_MIN;
}

/* Returns the form with the gradient alone. */
static linear_form gradient_form(const cr_one_sided *rise, double variance)
{
    const double deviation = sqrt(variance);
    return (linear_form){
        .count = 1,
        .axis = {{rise->r, fmin(rise->gradient_lo, deviation), fmin(rise->gradient_hi, deviation)}},
        .residual_weight = cr_ratio_norm_up(1, rise->r),
        .norm_squared = variance};
}

static double mean_change_at(const cr_one_sided *rise, double variance, double *radius_slope)
{
    const double r = rise->r;
    linear_form f = gradient_form(rise, variance);
    const double value = maximize(&f);
    *radius_slope = f.y[0] + f.residual * (r * expm1(r * r) / f.residual_weight);
    return value;
}

/* Bounds mean and change of the mean jointly: the mean is an axis of the ball of the moment. If the
 * variance has a bound of its own that binds at the best mean, the best mean is further out, at the
 * point at which both bind: V + m still rises there. */
static double joint_bound(const cr_one_sided *rise, double *radius_slope)
{
    const double r = rise->r, deviation = sqrt(rise->moment),
                 residual_weight = cr_ratio_norm_up(1, r), center = rise->moment_center;
    const double low =
        (rise->mean_lo - center) * (1 - (rise->mean_lo > center ? 1 : -1) * DBL_EPSILON);
    const double high =
        (rise->mean_hi - center) * (1 + (rise->mean_hi > center ? 1 : -1) * DBL_EPSILON);
    linear_form f = {
        .count = 2,
        .axis = {{r, fmin(rise->gradient_lo, deviation), fmin(rise->gradient_hi, deviation)},
                 {1, low, high}},
        .residual_weight = residual_weight,
        .norm_squared = rise->moment};
    double value = maximize(&f);
    *radius_slope = f.y[0] + f.residual * (r * expm1(r * r) / residual_weight);
    if (f.y[0] * f.y[0] + f.residual * f.residual > rise->variance) {
        const double mean_distance =
            sqrt(fmax(0, rise->moment - rise->variance) + 2 * DBL_EPSILON * rise->moment) *
            (1 + DBL_EPSILON);
        value = mean_change_at(rise, rise->variance, radius_slope) + fmin(mean_distance, high);
    }
    return value + center + 4 * DBL_EPSILON * (fabs(value) + fabs(center));
}

/* Bounds mean and change of the mean separately, by the maximum of each. */
static double separate_bound(const cr_one_sided *rise, double *radius_slope)
{
    const double mean_change = mean_change_at(rise, cr_one_sided_max_variance(rise), radius_slope);
    return nextafter(rise->mean_hi + mean_change, INFINITY);
}

/* Returns the lesser bound with its own slope in r, which steers searches for a radius. */
static double moment_bound(const cr_one_sided *rise, double *radius_slope)
{
    double separate_slope;
    const double joint = joint_bound(rise, radius_slope),
                 separate = separate_bound(rise, &separate_slope);
    if (separate < joint) *radius_slope = separate_slope;
    return fmin(joint, separate);
}

double cr_closed_form_bound(const cr_one_sided *rise, double weight, double *radius_slope)
{
    const double variance = cr_one_sided_max_variance(rise);
    const int constant = rise->r == 0 || variance == 0;
    *radius_slope = constant ? sqrt(variance) : INFINITY;
    if (constant) return weight > 0 ? rise->mean_hi : 0;
    if (!(variance < INFINITY) || !(cr_ratio_norm(0, rise->r) < INFINITY)) return INFINITY;
    if (weight > 0 && rise->moment < INFINITY) return moment_bound(rise, radius_slope);
    return weight > 0 ? separate_bound(rise, radius_slope)
                      : mean_change_at(rise, variance, radius_slope);
}

double cr_range_bound(const cr_one_sided *rise, double weight)
{
    const double min_mean = fmax(rise->mean_lo, rise->range_lo);
    if (!(rise->range_hi < INFINITY)) return INFINITY;
    return weight > 0 ? rise->range_hi : nextafter(rise->range_hi - min_mean, INFINITY);
}

/* An affine function has the residual 0. This fraction of the deviation replaces it, too little to
 * change a variance, so that its multipliers are finite. */
static const double min_residual = 1e-9;

int cr_closed_form_solution(const cr_one_sided *rise, cr_fixed_mean_dual *out)
{
    const double variance = cr_one_sided_max_variance(rise);
    if (!(variance > 0 && variance < INFINITY && cr_ratio_norm(0, rise->r) < INFINITY)) return 0;
    linear_form f = gradient_form(rise, variance);
    maximize(&f);
    /* If no end binds, the gradient has no multiplier. */
    const int gradient_binds = !(f.y[0] > f.axis->low && f.y[0] < f.axis->high);
    const double mean = fmin(fmax(rise->moment_center, rise->mean_lo), rise->mean_hi),
                 residual = fmax(gradient_binds ? f.residual : hypot(f.y[0], f.residual),
                                 min_residual * sqrt(variance));
    *out = (cr_fixed_mean_dual){
        .problem = cr_fixed_mean_problem(rise, mean, gradient_binds, f.y[0]),
        .mean = mean,
        .multipliers = {.lambda = 0.5 / residual, .a = gradient_binds ? -f.y[0] / residual : 0}};
    return 1;
}
