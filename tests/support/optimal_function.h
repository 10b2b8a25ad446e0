/* Functions of one normal variable t that satisfy the conditions of optimality (theory 3.1), so
 * that their change under a shift is the worst one for their own moments, exactly:
 *
 *     f(t) = clip(v(t) / 2 lambda, lo, hi),  v(t) = exp(rt - r^2/2) - 1 - place - a t
 *
 * The multipliers are drawn and the moments follow from them, in long double; so nothing is
 * searched for and nothing is shared with the library. With lambda = 0, f takes the two ends only.
 */
#ifndef SUPPORT_OPTIMAL_FUNCTION_H
#define SUPPORT_OPTIMAL_FUNCTION_H
#include "support/random_problems.h"
#include <math.h>

typedef struct optimal {
    double r, lambda, place, a, lo, hi;
    long double mean, variance, gradient, change; /* E f, Var f, E f t, E f(t + r) - E f */
} optimal;

static inline long double optimal_v(const optimal *f, long double t)
{
    const long double r = f->r;
    return expm1l(r * (t - r / 2)) - f->a * t - f->place;
}

/* Nodes of Gauss's rule on [-1, 1], the positive ones, and their weights. */
enum { OPTIMAL_NODES = 8 };
static const long double optimal_node[OPTIMAL_NODES] = {
    0.0950125098376374401853193354249581L, 0.2816035507792589132304605014604961L,
    0.4580167776572273863424194429835775L, 0.6178762444026437484466717640487910L,
    0.7554044083550030338951011948474422L, 0.8656312023878317438804678977123931L,
    0.9445750230732325760779884155346083L, 0.9894009349916499325961541734503326L};
static const long double optimal_weight[OPTIMAL_NODES] = {
    0.1894506104550684962853967232082831L, 0.1826034150449235888667636679692199L,
    0.1691565193950025381893120790303600L, 0.1495959888165767320815017305474786L,
    0.1246289712555338720524762821920165L, 0.0951585116824927848099251076022462L,
    0.0622535239386478928628438369943776L, 0.0271524594117540948517805724560181L};

/* The value on a piece: -1 and 1 for the ends of the range, 0 for the curve. */
static inline long double optimal_value(const optimal *f, int piece, long double t)
{
    return piece ? (long double)(piece > 0 ? f->hi : f->lo) : optimal_v(f, t) / (2 * f->lambda);
}

/* Adds E of y, y^2, y t and y (exp(rt - r^2/2) - 1) over one piece, y = f - about. */
static inline void optimal_add(const optimal *f, int piece, long double from, long double to,
                               long double about, long double sum[4])
{
    const long double r = f->r;
    const int panels = from < to ? (int)ceill(to - from) : 0;
    for (int i = 0; i < 2 * OPTIMAL_NODES * panels; i++) {
        const int j = i % OPTIMAL_NODES, panel = i / OPTIMAL_NODES / 2;
        const long double half = (to - from) / (2 * panels), side = i / OPTIMAL_NODES % 2 ? 1 : -1,
                          t = from + half * (2 * panel + 1 + side * optimal_node[j]),
                          y = optimal_value(f, piece, t) - about,
                          density = half * optimal_weight[j] * expl(-t * t / 2) *
                                    0.398942280401432677939946059934382L;
        sum[0] += density * y, sum[1] += density * y * y, sum[2] += density * y * t;
        sum[3] += density * expm1l(r * (t - r / 2)) * y;
    }
}

/* Where v meets a level between two places, of which it is below at one. */
static inline long double optimal_crossing(const optimal *f, long double level, long double below,
                                           long double above)
{
    if (!(optimal_v(f, above) > level)) return above;
    for (int i = 0; i < 90; i++) {
        const long double middle = (below + above) / 2;
        *(optimal_v(f, middle) > level ? &above : &below) = middle;
    }
    return above;
}

/* Sets the moments. v is convex: f falls from the curve's left end and rises at its right. */
static inline void optimal_measure(optimal *f)
{
    const long double r = f->r, first = -11.5L, last = 11.5L + 2 * r,
                      dip = f->a > 0 ? logl(f->a / r) / r + r / 2 : first,
                      least = fminl(fmaxl(dip, first), last), low = 2 * f->lambda * f->lo,
                      high = 2 * f->lambda * f->hi;
    long double edge[6] = {first, first, least, least, last, last}, sum[4] = {0, 0, 0, 0};
    static const int piece[] = {1, 0, -1, 0, 1};
    for (int i = 0; i < 2; i++) { /* the left side and the right one */
        const long double end = i ? last : first;
        const int inner = i ? 3 : 2, outer = i ? 4 : 1;
        edge[inner] = f->lo > -INFINITY && optimal_v(f, least) < low
                          ? optimal_crossing(f, low, least, end)
                          : least;
        edge[outer] = f->hi == INFINITY             ? end
                      : optimal_v(f, least) >= high ? least
                                                    : optimal_crossing(f, high, least, end);
    }
    const long double middle = f->lambda > 0         ? optimal_v(f, 0) / (2 * f->lambda)
                               : optimal_v(f, 0) > 0 ? INFINITY
                                                     : -INFINITY,
                      about = fminl(fmaxl(middle, f->lo), f->hi);
    for (int i = 0; i < 5; i++)
        if (f->lambda > 0 || piece[i]) optimal_add(f, piece[i], edge[i], edge[i + 1], about, sum);
    f->mean = about + sum[0], f->variance = sum[1] - sum[0] * sum[0];
    f->gradient = sum[2], f->change = sum[3];
}

/* Multipliers by where the function leaves the lower end of its range and where it reaches the
 * upper one: anywhere, at each other's side, and far in the tails. `hard`: with the corners. */
static inline optimal random_optimal(dice *d, int hard, int has_range, int has_gradient)
{
    optimal f = {
        .r = exp(hard ? dice_between(d, log(1e-4), log(6)) : dice_between(d, log(0.02), log(3)))};
    const double span = pow(10, dice_between(d, -2, 2)), middle = dice_between(d, -1, 1) * span,
                 open = has_range ? hard * dice_share(d) : 1, kind = dice_share(d);
    f.lo = open > 0.88 ? -INFINITY : middle - span;
    f.hi = open > 0.76 && (open < 0.88 || open > 0.95) ? INFINITY : middle + span;
    if (has_gradient)
        f.a = f.r * (kind < 0.4            ? dice_between(d, -1, 0.9)
                     : kind < 0.6          ? pow(10, dice_between(d, -6, 0))
                     : !hard || kind < 0.8 ? dice_between(d, -0.5, 0.5)
                                           : 1 - pow(10, dice_between(d, -4, 0)));
    if (f.r < 0.05) f.a = fabs(f.a); /* nearly all have the greatest gradient */
    const double dip = f.a > 0 ? log(f.a / f.r) / f.r + f.r / 2 : -5,
                 width = hard ? pow(10, dice_between(d, -3, 1)) : dice_between(d, 0.5, 4),
                 right = hard ? dice_between(d, -4.5, 4.7) : dice_between(d, -2, 2.5),
                 reach = fmax(right, dip + width), leave = fmax(reach - width, dip);
    const double at_reach = (double)optimal_v(&f, reach), at_leave = (double)optimal_v(&f, leave);
    if (hard && isfinite(f.lo) && isfinite(f.hi) && dice_share(d) < 0.15) {
        f.place = at_reach; /* lambda = 0 */
    } else {
        f.lambda = 0.5 * (at_reach - at_leave) / (2 * span);
        f.place = isfinite(f.hi)   ? at_reach - 2 * f.lambda * f.hi
                  : isfinite(f.lo) ? at_leave - 2 * f.lambda * f.lo
                                   : at_leave - 2 * f.lambda * middle;
    }
    optimal_measure(&f);
    return f;
}

#endif
