/* Proof on cells that weights of prediction intervals are large enough (theory 12.3): polygons from
 * chords and tangents of tails are compared at their corners. A comparison of the tails on a grid
 * would prove nothing between its points. */
#include "conformal/tail_majorant.h"
#include "conformal/binomial_tail.h"
#include <math.h>

static const double tail_cutoff = 1e-10; /* no grid for tails nearer than this to 0 or 1 */
static const double rounding = 1e-9, band = 7, grid_fraction = 0.1, negligible_ratio = 1.0005;

typedef struct curve { /* a tail, from one point of the grid to the next */
    cr_binomial_tail f;
    double mode, step;
    struct {
        double value, density;
    } at, next;
} curve;

static void evaluate_at(curve *c, double t)
{
    c->at = c->next;
    c->next.value = cr_binomial_tail_value(&c->f, t);
    c->next.density = cr_binomial_tail_density(&c->f, t);
}

/* Bounds the distance of the chord from the tail: by the distance of the point at which the
 * tangents at the ends meet, and by the rise of the tail. */
static double chord_error(const curve *c, double width)
{
    const double rise = c->next.value - c->at.value, slope = rise / width,
                 density_change = c->next.density - c->at.density,
                 product = width * (slope - c->at.density) * (c->next.density - slope);
    return density_change != 0 ? fmin(fabs(product / density_change), fabs(rise)) : 0;
}

/* The tails with a positive weight, and a as the last. */
static int set_curves(const cr_tail_majorant *m, curve *curves, cr_tail_ramp *ramps)
{
    int count = 0;
    for (int i = 0; i < m->count; i++)
        if (m->step[i] > 0) curves[count++] = (curve){.f = m->b[i], .step = m->step[i]};
    curves[count++] = (curve){.f = m->a};
    for (int i = 0; i < count; i++) {
        curves[i].mode = cr_binomial_tail_mode(&curves[i].f);
        ramps[i] = cr_tail_ramp_of(&curves[i].f, band);
    }
    return count;
}

static double next_point(const curve *curves, const cr_tail_ramp *ramps, int count, double t,
                         double last)
{
    double next = fmin(cr_tail_ramp_next(ramps, count, t, grid_fraction), last);
    for (int i = 0; i < count; i++)
        if (t < curves[i].mode && curves[i].mode < next) next = curves[i].mode;
    return next;
}

typedef struct losses { /* loss of polygons: below the weighted tails, and above a */
    double below, above;
} losses;

static losses polygon_losses(const curve *curves, int count, double from, double to)
{
    losses c = {0, 0};
    for (int i = 0; i + 1 < count; i++)
        if (to <= curves[i].mode) c.below += curves[i].step * chord_error(curves + i, to - from);
    if (from >= curves[count - 1].mode) c.above = chord_error(curves + count - 1, to - from);
    return c;
}

/* Ratio of the needed to the present value at a corner between two cells. */
static double ratio_at(const cr_tail_majorant *m, const curve *curves, int count, losses left,
                       losses right)
{
    double present = m->floor - fmax(left.below, right.below);
    for (int i = 0; i + 1 < count; i++) present += curves[i].step * curves[i].at.value;
    const double needed = curves[count - 1].at.value + fmax(left.above, right.above) + rounding;
    return present > 0 ? needed / present : INFINITY;
}

static void record_violation(cr_violations *violations, double t, double ratio, double *worst)
{
    if (ratio <= negligible_ratio) *worst = negligible_ratio;
    if (!(ratio > *worst)) return;
    if (*worst == negligible_ratio && violations->count < CR_MAJORANT_MAX_VIOLATIONS)
        violations->count++;
    violations->t[violations->count - 1] = t;
    *worst = ratio;
}

double cr_majorant_scale(const cr_tail_majorant *m, cr_violations *violations)
{
    curve curves[CR_MAJORANT_TAILS + 1];
    cr_tail_ramp ramps[CR_MAJORANT_TAILS + 1];
    const int count = set_curves(m, curves, ramps);
    violations->count = 0;
    if (count == 1) return 1 / m->floor;
    double t = cr_binomial_tail_quantile(&m->a, tail_cutoff), worst = negligible_ratio;
    const double last = fmax(t, cr_binomial_tail_quantile(&curves[count - 2].f, 1 - tail_cutoff));
    double scale = (tail_cutoff + rounding) / m->floor;
    for (int i = 0; i < count; i++) evaluate_at(curves + i, t);
    losses left = {0, 0};
    while (t < last) {
        const double next = next_point(curves, ramps, count, t, last);
        for (int i = 0; i < count; i++) evaluate_at(curves + i, next);
        const losses right = polygon_losses(curves, count, t, next);
        const double ratio = ratio_at(m, curves, count, left, right);
        scale = fmax(scale, ratio);
        record_violation(violations, t, ratio, &worst);
        left = right;
        t = next;
    }
    for (int i = 0; i < count; i++) evaluate_at(curves + i, t);
    curves[count - 1].at.value = 1; /* right of the grid */
    return fmax(scale, ratio_at(m, curves, count, left, left));
}
