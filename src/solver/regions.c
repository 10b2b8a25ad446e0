#include "solver/dual.h"
#include <math.h>

/* Beyond these ends every weight that occurs (N(0,1), N(r,1), N(2r,1)) is zero in double
 * precision. */
#define LINE_END 39.0

typedef struct level {
    const cr_problem *problem;
    double slope, bend, height; /* the root sought is of h(t) - slope t - bend (t^2 - 1) - height,
                                   or of its derivative */
    int derivative;
} level;

static double residue(const level *at, double t)
{
    if (at->derivative)
        return cr_ratio_slope(&at->problem->ratio, t) - at->slope - 2 * at->bend * t;
    return cr_ratio_at(&at->problem->ratio, t) - at->slope * t - at->bend * (t * t - 1) -
           at->height;
}

static double residue_slope(const level *at, double t)
{
    if (!at->derivative)
        return cr_ratio_slope(&at->problem->ratio, t) - at->slope - 2 * at->bend * t;
    const double r = at->problem->ratio.r;
    /* Only k = 2 asks for it. */
    return r * r * expm1(r * (t - 0.5 * r)) / at->problem->ratio.norm - 2 * at->bend;
}

/* The only root between low and high, where the residue changes its sign: Newton inside a bracket
 * that only shrinks. */
static double close_in(const level *at, double low, double high, int rising, double guess,
                       double tolerance)
{
    double t = guess > low && guess < high ? guess : 0.5 * (low + high);
    for (int i = 0; i < 200; i++) {
        const double f = residue(at, t);
        if ((f > 0) == rising) high = t;
        else low = t;
        const double slope = residue_slope(at, t);
        double next = slope != 0 ? t - f / slope : INFINITY;
        if (fabs(next - t) <= tolerance) return fmin(fmax(next, low), high);
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        else if (i % 6 == 5)
            next = f > 0 ? 0.5 * (next + (rising ? low : high))
                         : 0.5 * (next + (rising ? high : low));
        if (high - low <= tolerance) return 0.5 * (low + high);
        t = next;
    }
    return 0.5 * (low + high);
}

/* v rises up to the peak, falls down to the trough, and rises beyond; -infinity where a branch
 * does not exist. h is convex. For k = 0, or a slope of at most -r/T, v only rises. What k = 2
 * subtracts can make it concave up to one point, so that its derivative has two roots at most. */
typedef struct shape {
    double first, last, peak, trough;
} shape;

static shape shape_of(const cr_problem *problem, double slope, double bend, double tolerance)
{
    const cr_ratio *ratio = &problem->ratio;
    shape s = {-LINE_END, LINE_END + 2 * ratio->r, -INFINITY, -INFINITY};
    if (ratio->order == 0) return s;
    if (ratio->order == 1) {
        const double steepness = slope * ratio->norm / ratio->r;
        if (steepness > -1) s.trough = log1p(steepness) / ratio->r + 0.5 * ratio->r;
        return s;
    }
    const level steepness = {.problem = problem, .slope = slope, .bend = bend, .derivative = 1};
    const double middle = fmin(fmax(cr_ratio_inflection(ratio, 2 * bend), s.first), s.last);
    if (!(residue(&steepness, middle) < 0)) return s;
    if (residue(&steepness, s.first) > 0)
        s.peak = close_in(&steepness, s.first, middle, 0, 0.5 * (s.first + middle), tolerance);
    s.trough = residue(&steepness, s.last) > 0
                   ? close_in(&steepness, middle, s.last, 1, middle + 1, tolerance)
                   : s.last;
    return s;
}

/* The places where v crosses the height: rising before the peak, falling, rising beyond the
 * trough. Two roots that do not exist coincide. */
static void find_level(const level *at, const shape *s, double tolerance, double *up, double *down,
                       double *again)
{
    const double left = fmax(s->peak, s->first), right = fmin(fmax(s->trough, s->first), s->last);
    const double top = residue(at, left), bottom = residue(at, right);
    if (s->peak == -INFINITY || !(top > 0)) *up = s->peak;
    else
        *up = residue(at, s->first) >= 0 ? -INFINITY
                                         : close_in(at, s->first, left, 1, *up, tolerance);
    if (!(bottom < 0)) { /* above the height from the peak on */
        *down = *again = right;
        return;
    }
    *down = !(top > 0) || s->trough <= s->first ? s->peak
                                                : close_in(at, left, right, 0, *down, tolerance);
    *again = residue(at, s->last) <= 0 ? INFINITY
                                       : close_in(at, right, s->last, 1, *again, tolerance);
}

void cr_regions_find(const cr_problem *problem, const cr_multipliers *at, double tolerance,
                     cr_regions *warm_and_out)
{
    cr_regions *regions = warm_and_out;
    const double slope = cr_dual_slope(problem, at), bend = cr_dual_bend(problem, at);
    const shape s = shape_of(problem, slope, bend, tolerance < CR_ROUGH_EDGES ? 1e-13 : tolerance);
    level height = {.problem = problem, .slope = slope, .bend = bend};
    double *edge = regions->edge;
    regions->width = tolerance;
    if (problem->B < INFINITY) {
        height.height = at->nu + 2 * at->lambda * problem->B;
        find_level(&height, &s, tolerance, &edge[1], &edge[2], &edge[5]);
    } else {
        edge[1] = edge[2] = s.peak;
        edge[5] = INFINITY;
    }
    if (problem->b > -INFINITY) {
        height.height = at->nu + 2 * at->lambda * problem->b;
        find_level(&height, &s, tolerance, &edge[0], &edge[3], &edge[4]);
    } else {
        edge[0] = -INFINITY;
        edge[3] = edge[4] = fmin(fmax(s.trough, edge[2]), edge[5]);
    }
    for (int i = 1; i < CR_EDGES - 1; i++) edge[i] = fmin(fmax(edge[i], edge[i - 1]), edge[5]);
    if (at->lambda == 0) { /* nothing is between */
        edge[0] = edge[1];
        edge[3] = edge[2];
        edge[4] = edge[5];
    }
}
