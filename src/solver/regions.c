#include "solver/dual.h"
#include <math.h>

/* Beyond these ends every weight that occurs (N(0,1), N(r,1), N(2r,1)) is zero in double precision. */
#define LINE_END 39.0

typedef struct level {
    const cr_problem *problem;
    double slope, height; /* the root sought is of h(t) - slope t - height */
} level;

static double residue(const level *at, double t)
{
    return cr_kernel_at(&at->problem->kernel, t) - at->slope * t - at->height;
}

/* The only root between low and high, where the residue changes its sign: Newton inside a bracket that only shrinks. */
static double close_in(const level *at, double low, double high, int rising, double guess, double tolerance)
{
    double t = guess > low && guess < high ? guess : 0.5 * (low + high);
    for (int i = 0; i < 200; i++) {
        const double f = residue(at, t);
        if ((f > 0) == rising) high = t; else low = t;
        const double slope = cr_kernel_slope(&at->problem->kernel, t) - at->slope;
        double next = t - f / slope;
        if (fabs(next - t) <= tolerance) return fmin(fmax(next, low), high);
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        else if (i % 6 == 5) next = f > 0 ? 0.5 * (next + (rising ? low : high)) : 0.5 * (next + (rising ? high : low));
        if (high - low <= tolerance) return 0.5 * (low + high);
        t = next;
    }
    return 0.5 * (low + high);
}

/* v falls up to its least point and rises beyond it (h is convex; for k = 0 or a <= -r/T it only rises). */
static double least_point(const cr_problem *problem, double slope)
{
    const cr_kernel *kernel = &problem->kernel;
    if (kernel->order == 0) return -INFINITY;
    const double s = slope * kernel->norm / kernel->r;
    return s <= -1 ? -INFINITY : log1p(s) / kernel->r + 0.5 * kernel->r;
}

static void find_level(const cr_problem *problem, double slope, double height, double least, double tolerance, double *left, double *right)
{
    const level at = {problem, slope, height};
    const double first = -LINE_END, last = LINE_END + 2 * problem->kernel.r, middle = fmin(fmax(least, first), last);
    const double bottom = residue(&at, middle);
    if (!(bottom < 0)) { /* above the level everywhere: the two roots have met */
        *left = *right = middle;
        return;
    }
    *left = least <= first ? -INFINITY : residue(&at, first) <= 0 ? -INFINITY : close_in(&at, first, middle, 0, *left, tolerance);
    *right = residue(&at, last) <= 0 ? INFINITY : close_in(&at, middle, last, 1, *right, tolerance);
}

void cr_regions_find(const cr_problem *problem, const cr_multipliers *at, double tolerance, cr_regions *regions)
{
    const double slope = problem->kernel.order > 0 ? at->a[0] : 0, least = least_point(problem, slope);
    double *edge = regions->edge;
    regions->width = tolerance;
    if (problem->B < INFINITY)
        find_level(problem, slope, at->nu + 2 * at->lambda * problem->B, least, tolerance, &edge[0], &edge[3]);
    else {
        edge[0] = -INFINITY;
        edge[3] = INFINITY;
    }
    if (problem->b > -INFINITY)
        find_level(problem, slope, at->nu + 2 * at->lambda * problem->b, least, tolerance, &edge[1], &edge[2]);
    else
        edge[1] = edge[2] = fmin(fmax(least, edge[0]), edge[3]);
    if (edge[1] < edge[0]) edge[1] = edge[0];
    if (edge[2] > edge[3]) edge[2] = edge[3];
}
