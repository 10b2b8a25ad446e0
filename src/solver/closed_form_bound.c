/* Closed-form bounds (theory 2.1). They start a search and steer it, and replace a bound that its
 * proof does not confirm. */
#include "solver/closed_form_bound.h"
#include "base/constants.h"
#include "solver/likelihood_ratio.h"
#include <float.h>
#include <math.h>

/* Without a range V is the greatest value of a linear form over a ball: of sum w_j y_j +
 * rest*spread under sum y_j^2 + spread^2 <= all, every y_j within its own interval. For every x >
 * 0, weak duality gives the bound D(x) = all / 2x + sum_j max over y_j of (w_j y_j - y_j^2 / 2x) +
 * x rest^2 / 2, with y_j = clip(x w_j). It is least if these y_j and spread = x*rest fill the ball.
 */
typedef struct axis {
    double weight, low, high; /* weight > 0 */
} axis;

enum { MOST_AXES = 2 }; /* gradient; mean */

typedef struct form {
    int count;
    axis axis[MOST_AXES];
    double rest, all;
    double y[MOST_AXES], spread; /* the answer */
} form;

static double clip(double y, const axis *a)
{
    return fmin(fmax(y, a->low), a->high);
}

static double filled(const form *f, double x)
{
    double sum = x * f->rest * x * f->rest;
    for (int j = 0; j < f->count; j++) {
        const double y = clip(x * f->axis[j].weight, f->axis + j);
        sum += y * y;
    }
    return sum;
}

/* Returns the best x, between two at which a clip begins: unclipped y_j are proportional to x. */
static double scale_of(const form *f)
{
    double low = 0, high = INFINITY, free = 0, left = f->all;
    for (int j = 0; j < f->count; j++) {
        const double turns[2] = {f->axis[j].low / f->axis[j].weight,
                                 f->axis[j].high / f->axis[j].weight};
        for (int i = 0; i < 2; i++) {
            if (!(turns[i] > low && turns[i] < high)) continue;
            if (filled(f, turns[i]) <= f->all) low = turns[i];
            else high = turns[i];
        }
    }
    for (int j = 0; j < f->count; j++) {
        const axis *a = f->axis + j;
        const int at_low = a->low / a->weight >= high, at_high = a->high / a->weight <= low;
        if (at_low || at_high)
            left = fma(at_low ? -a->low : -a->high, at_low ? a->low : a->high, left);
        else free += a->weight * a->weight;
    }
    /* hypot, since rest^2 may underflow. */
    return fmin(fmax(sqrt(fmax(0, left)) / hypot(sqrt(free), f->rest), low), high);
}

/* Returns D at the best x, rounded up. */
static double greatest(form *f)
{
    if (f->count > 1)
        f->all *= 1 + 4 * DBL_EPSILON; /* one y_j: rounded once below, and it may take nearly all */
    const double x = scale_of(f);
    double left = f->all, sum = 0, size = 0;
    for (int j = 0; j < f->count; j++) {
        const double y = clip(x * f->axis[j].weight, f->axis + j);
        f->y[j] = y;
        left = fma(-y, y, left);
        sum += f->axis[j].weight * y;
        size += fabs(f->axis[j].weight * y);
    }
    f->spread = x * f->rest;
    const double rest = x > 0 ? 0.5 * (fmax(0, left) / x + f->spread * f->rest)
                              : 0; /* x = 0: the intervals alone fill the ball */
    /* DBL_MIN is for terms that underflow. */
    return sum + rest + 16 * DBL_EPSILON * (size + rest) + DBL_MIN;
}

/* Returns the form with the gradient alone. */
static form first_order(const cr_one_sided *rise, double variance)
{
    const double root = sqrt(variance);
    return (form){.count = 1,
                  .axis = {{rise->r, fmin(rise->gradient_lo, root), fmin(rise->gradient_hi, root)}},
                  .rest = cr_ratio_norm_up(1, rise->r),
                  .all = variance};
}

static double shift_at(const cr_one_sided *rise, double variance, double *growth)
{
    const double r = rise->r;
    form f = first_order(rise, variance);
    const double value = greatest(&f);
    *growth = f.y[0] + f.spread * (r * expm1(r * r) / f.rest);
    return value;
}

/* Bounds mean and shift together: the mean is an axis of the ball of the moment. If the variance
 * has a bound of its own that binds at the best mean, the best mean is further out, at the point at
 * which both bind: V + m still rises there. */
static double together(const cr_one_sided *rise, double *growth)
{
    const double r = rise->r, root = sqrt(rise->moment), rest = cr_ratio_norm_up(1, r),
                 center = rise->moment_center;
    const double low =
        (rise->mean_lo - center) * (1 - (rise->mean_lo > center ? 1 : -1) * DBL_EPSILON);
    const double high =
        (rise->mean_hi - center) * (1 + (rise->mean_hi > center ? 1 : -1) * DBL_EPSILON);
    form f = {
        .count = 2,
        .axis = {{r, fmin(rise->gradient_lo, root), fmin(rise->gradient_hi, root)}, {1, low, high}},
        .rest = rest,
        .all = rise->moment};
    double value = greatest(&f);
    *growth = f.y[0] + f.spread * (r * expm1(r * r) / rest);
    if (f.y[0] * f.y[0] + f.spread * f.spread > rise->variance) {
        const double both =
            sqrt(fmax(0, rise->moment - rise->variance) + 2 * DBL_EPSILON * rise->moment) *
            (1 + DBL_EPSILON);
        value = shift_at(rise, rise->variance, growth) + fmin(both, high);
    }
    return value + center + 4 * DBL_EPSILON * (fabs(value) + fabs(center));
}

/* Bounds mean and shift apart, by the greatest value of each. */
static double apart(const cr_one_sided *rise, double *growth)
{
    const double shift = shift_at(rise, cr_one_sided_greatest_variance(rise), growth);
    return nextafter(rise->mean_hi + shift, INFINITY);
}

/* Returns the lesser bound with its own growth, which steers searches for a radius. */
static double moment_at(const cr_one_sided *rise, double *growth)
{
    double other;
    const double one = together(rise, growth), two = apart(rise, &other);
    if (two < one) *growth = other;
    return fmin(one, two);
}

double cr_closed_form_bound(const cr_one_sided *rise, double weight, double *growth)
{
    const double variance = cr_one_sided_greatest_variance(rise);
    const int constant = rise->r == 0 || variance == 0;
    *growth = constant ? sqrt(variance) : INFINITY;
    if (constant) return weight > 0 ? rise->mean_hi : 0;
    if (!(variance < INFINITY) || !(cr_ratio_norm(0, rise->r) < INFINITY)) return INFINITY;
    if (weight > 0 && rise->moment < INFINITY) return moment_at(rise, growth);
    return weight > 0 ? apart(rise, growth) : shift_at(rise, variance, growth);
}

double cr_formula_cap(const cr_one_sided *rise, double weight)
{
    const double least_mean = fmax(rise->mean_lo, rise->range_lo);
    if (!(rise->range_hi < INFINITY)) return INFINITY;
    return weight > 0 ? rise->range_hi : nextafter(rise->range_hi - least_mean, INFINITY);
}

/* An affine function has rest 0. It gets this share of the deviation instead, too little to change
 * a variance, so that its multipliers are finite. */
static const double least_rest = 1e-9;

int cr_formula_point(const cr_one_sided *rise, cr_fixed_mean_dual *out)
{
    const double variance = cr_one_sided_greatest_variance(rise);
    if (!(variance > 0 && variance < INFINITY && cr_ratio_norm(0, rise->r) < INFINITY)) return 0;
    form f = first_order(rise, variance);
    greatest(&f);
    /* If no end binds, the gradient is not used. */
    const int used = !(f.y[0] > f.axis->low && f.y[0] < f.axis->high);
    const double mean = fmin(fmax(rise->moment_center, rise->mean_lo), rise->mean_hi),
                 rest =
                     fmax(used ? f.spread : hypot(f.y[0], f.spread), least_rest * sqrt(variance));
    *out = (cr_fixed_mean_dual){.problem = cr_point_describe(rise, mean, used, f.y[0]),
                                .mean = mean,
                                .at = {.lambda = 0.5 / rest, .a = used ? -f.y[0] / rest : 0}};
    return 1;
}
