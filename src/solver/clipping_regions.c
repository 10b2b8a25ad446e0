/* The edges of the regions (theory 3.2), each a root in a bracket of its own, so that none is lost.
 */
#include "solver/dual.h"
#include <math.h>

/* Beyond these ends every weight that occurs (N(0,1), N(r,1), N(2r,1)) is 0 in double precision. */
#define DENSITY_SUPPORT_END 39.0

typedef struct level_equation { /* for the root of h(t) - slope t - height */
    const cr_problem *problem;
    double slope, height;
} level_equation;

static double level_residual(const level_equation *equation, double t)
{
    return cr_ratio_value(&equation->problem->ratio, t) - equation->slope * t - equation->height;
}

/* Returns the only root between low and high: Newton in a bracket that keeps the change of sign. */
static double bracketed_root(const level_equation *equation, double low, double high, int rising,
                             double guess, double tolerance)
{
    double t = guess > low && guess < high ? guess : 0.5 * (low + high);
    for (int i = 0; i < 200; i++) {
        const double f = level_residual(equation, t);
        if ((f > 0) == rising) high = t;
        else low = t;
        const double slope = cr_ratio_slope(&equation->problem->ratio, t) - equation->slope;
        double next = slope != 0 ? t - f / slope : INFINITY;
        if (fabs(next - t) <= tolerance) return fmin(fmax(next, low), high);
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        else if (i % 6 == 5)
            next = 0.5 * (next + ((f > 0) == rising ? low : high)); /* towards the far end */
        if (high - low <= tolerance) return 0.5 * (low + high);
        t = next;
    }
    return 0.5 * (low + high);
}

/* v is convex: it falls down to the minimizer and rises beyond. For k = 0, or a slope of at most
 * -r/T, it only rises, and the minimizer is -infinity. */
typedef struct convex_shape {
    double first, last, minimizer;
} convex_shape;

static convex_shape shape_of_v(const cr_problem *problem, double slope)
{
    const cr_ratio *ratio = &problem->ratio;
    convex_shape s = {-DENSITY_SUPPORT_END, DENSITY_SUPPORT_END + 2 * ratio->r, -INFINITY};
    if (ratio->order == 0) return s;
    const double relative_slope = slope * ratio->norm / ratio->r;
    if (relative_slope > -1) s.minimizer = log1p(relative_slope) / ratio->r + 0.5 * ratio->r;
    return s;
}

/* Finds the t at which v crosses the height, falling, then rising. Missing roots coincide. */
static void find_crossings(const level_equation *equation, const convex_shape *shape,
                           double tolerance, double *falling, double *rising)
{
    const double minimizer = fmin(fmax(shape->minimizer, shape->first), shape->last);
    if (!(level_residual(equation, minimizer) < 0)) { /* nowhere below the height */
        *falling = *rising = minimizer;
        return;
    }
    *falling = shape->minimizer <= shape->first || !(level_residual(equation, shape->first) > 0)
                   ? -INFINITY
                   : bracketed_root(equation, shape->first, minimizer, 0, *falling, tolerance);
    *rising = level_residual(equation, shape->last) <= 0
                  ? INFINITY
                  : bracketed_root(equation, minimizer, shape->last, 1, *rising, tolerance);
}

void cr_clip_regions_find(const cr_problem *problem, const cr_multipliers *mult, double tolerance,
                          cr_clip_regions *regions)
{
    const double slope = cr_dual_slope(problem, mult);
    const convex_shape shape = shape_of_v(problem, slope);
    level_equation equation = {.problem = problem, .slope = slope};
    double *edge = regions->edge;
    regions->edge_error = tolerance;
    if (problem->B < INFINITY) {
        equation.height = mult->nu + 2 * mult->lambda * problem->B;
        find_crossings(&equation, &shape, tolerance, &edge[0], &edge[3]);
    } else {
        edge[0] = -INFINITY;
        edge[3] = INFINITY;
    }
    if (problem->b > -INFINITY) {
        equation.height = mult->nu + 2 * mult->lambda * problem->b;
        find_crossings(&equation, &shape, tolerance, &edge[1], &edge[2]);
    } else {
        edge[1] = edge[2] = fmin(fmax(shape.minimizer, edge[0]), edge[3]);
    }
    edge[0] = fmin(edge[0], edge[3]);
    for (int i = 1; i < CR_CLIP_EDGES - 1; i++) edge[i] = fmin(fmax(edge[i], edge[i - 1]), edge[3]);
    if (mult->lambda == 0) { /* nothing is between */
        edge[1] = edge[0];
        edge[2] = edge[3];
    }
}
