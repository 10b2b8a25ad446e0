/* The edges of the regions (theory 3.2), each a root in a bracket of its own, so that none is lost.
 */
#include "solver/dual.h"
#include <math.h>

/* Beyond these ends every weight that occurs (N(0,1), N(r,1), N(2r,1)) is 0 in double precision. */
#define LINE_END 39.0

typedef struct level { /* for the root of h(t) - slope t - height */
    const cr_problem *problem;
    double slope, height;
} level;

static double residue(const level *at, double t)
{
    return cr_ratio_at(&at->problem->ratio, t) - at->slope * t - at->height;
}

/* Returns the only root between low and high: Newton in a bracket that keeps the change of sign. */
static double close_in(const level *at, double low, double high, int rising, double guess,
                       double tolerance)
{
    double t = guess > low && guess < high ? guess : 0.5 * (low + high);
    for (int i = 0; i < 200; i++) {
        const double f = residue(at, t);
        if ((f > 0) == rising) high = t;
        else low = t;
        const double slope = cr_ratio_slope(&at->problem->ratio, t) - at->slope;
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

/* v is convex: it falls down to the trough and rises beyond. For k = 0, or a slope of at most -r/T,
 * it only rises, and the trough is -infinity. */
typedef struct shape {
    double first, last, trough;
} shape;

static shape shape_of(const cr_problem *problem, double slope)
{
    const cr_ratio *ratio = &problem->ratio;
    shape s = {-LINE_END, LINE_END + 2 * ratio->r, -INFINITY};
    if (ratio->order == 0) return s;
    const double steepness = slope * ratio->norm / ratio->r;
    if (steepness > -1) s.trough = log1p(steepness) / ratio->r + 0.5 * ratio->r;
    return s;
}

/* Finds the t at which v crosses the height, falling, then rising. Missing roots coincide. */
static void find_level(const level *at, const shape *s, double tolerance, double *down,
                       double *again)
{
    const double right = fmin(fmax(s->trough, s->first), s->last);
    if (!(residue(at, right) < 0)) { /* nowhere below the height */
        *down = *again = right;
        return;
    }
    *down = s->trough <= s->first || !(residue(at, s->first) > 0)
                ? -INFINITY
                : close_in(at, s->first, right, 0, *down, tolerance);
    *again = residue(at, s->last) <= 0 ? INFINITY
                                       : close_in(at, right, s->last, 1, *again, tolerance);
}

void cr_regions_find(const cr_problem *problem, const cr_multipliers *at, double tolerance,
                     cr_clip_regions *warm_and_out)
{
    cr_clip_regions *regions = warm_and_out;
    const double slope = cr_dual_slope(problem, at);
    const shape s = shape_of(problem, slope);
    level height = {.problem = problem, .slope = slope};
    double *edge = regions->edge;
    regions->width = tolerance;
    if (problem->B < INFINITY) {
        height.height = at->nu + 2 * at->lambda * problem->B;
        find_level(&height, &s, tolerance, &edge[0], &edge[3]);
    } else {
        edge[0] = -INFINITY;
        edge[3] = INFINITY;
    }
    if (problem->b > -INFINITY) {
        height.height = at->nu + 2 * at->lambda * problem->b;
        find_level(&height, &s, tolerance, &edge[1], &edge[2]);
    } else {
        edge[1] = edge[2] = fmin(fmax(s.trough, edge[0]), edge[3]);
    }
    edge[0] = fmin(edge[0], edge[3]);
    for (int i = 1; i < CR_EDGES - 1; i++) edge[i] = fmin(fmax(edge[i], edge[i - 1]), edge[3]);
    if (at->lambda == 0) { /* nothing is between */
        edge[1] = edge[0];
        edge[2] = edge[3];
    }
}
