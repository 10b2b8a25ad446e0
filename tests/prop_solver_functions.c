/* The bound against functions: none that has the constraints moves further, and functions that
 * satisfy the conditions of optimality move just as far. Their moments are sums or quadratures of
 * their own; every row is a seed, so that a failure can be repeated. */
#include <certreg/solver.h>
#include "statistics/normal.h"
#include "support/random_problems.h"
#include "support/solver_fixture.h"

/* ---- cells of the line */
enum { MOST_CELLS = 36 };

/* For each cell: its probability, E[t; cell], and its probability after the shift. */
typedef struct cells {
    int count;
    double mass[MOST_CELLS], first[MOST_CELLS], shifted[MOST_CELLS];
} cells;

static double mass_between(double from, double to)
{
    return from > 0 ? cr_normal_sf(from) - cr_normal_sf(to)
                    : cr_normal_cdf(to) - cr_normal_cdf(from);
}

static cells random_cells(dice *d, double r, int count)
{
    cells c = {.count = count};
    double from = -INFINITY;
    for (int i = 0; i < count; i++) {
        const double to =
            i == count - 1 ? INFINITY : -4.5 + (9 + r) * (i + dice_between(d, -0.3, 0.3)) / count;
        c.mass[i] = mass_between(from, to), c.shifted[i] = mass_between(from - r, to - r);
        c.first[i] = cr_normal_pdf(from) - cr_normal_pdf(to);
        from = to;
    }
    return c;
}

/* ---- functions of two variables: whichever way the gradient points */
/* The shape that is worst among functions with given correlations in both directions, for random
 * multipliers; with noise; or stripes. */
typedef struct shape {
    int kind;
    double scale, nu, a, b, lo, hi;
} shape;

static shape random_shape(dice *d, double r, int kind)
{
    shape s = {.kind = kind, .lo = -dice_between(d, 0.1, 1), .hi = dice_between(d, 0.1, 1)};
    s.scale = pow(10, dice_between(d, -1, 2)) / (r * exp(r * r / 2));
    s.nu = dice_between(d, -2, 2) * (kind == 2 ? 3 : r);
    s.a = dice_between(d, -2, 2) * (kind == 2 ? 2 : r);
    s.b = dice_between(d, -2, 2) * (kind == 2 ? 2 : r);
    return s;
}

static double value_of(const shape *s, const cells *c, int i, int j, dice *d)
{
    const double u = c->first[i] / c->mass[i], v = c->first[j] / c->mass[j],
                 ratio = c->shifted[i] / c->mass[i] - 1,
                 free = s->kind == 2 ? s->scale * sin(s->a * u + s->b * v + s->nu)
                                     : s->scale * (ratio - s->nu - s->a * u - s->b * v),
                 noise = s->kind == 1 ? dice_between(d, -1, 1) : 0;
    return fmin(fmax(free + noise, s->lo), s->hi);
}

TEST_TIMES(solver_bound_covers_every_direction_of_the_gradient, 12)
{
    for (uint64_t seed = (uint64_t)_i * 500; seed < (uint64_t)(_i + 1) * 500; seed++) {
        dice d = dice_of(3000000 + seed);
        const double r = exp(dice_between(&d, log(0.02), log(4)));
        const cells c = random_cells(&d, r, MOST_CELLS);
        const shape s = random_shape(&d, r, (int)(seed % 3));
        double mean = 0, square = 0, along = 0, across = 0, change = 0;
        for (int i = 0; i < c.count; i++)
            for (int j = 0; j < c.count; j++) {
                const double h = value_of(&s, &c, i, j, &d), p = c.mass[i] * c.mass[j];
                mean += p * h, square += p * h * h;
                along += h * c.first[i] * c.mass[j], across += h * c.mass[i] * c.first[j];
                change += h * (c.shifted[i] - c.mass[i]) * c.mass[j];
            }
        const double variance = square - mean * mean;
        if (!(variance > 1e-9)) continue;
        const certreg_bounds b =
            known(ALL, mean, variance + 1e-14, hypot(along, across), s.lo, s.hi);
        const certreg_mean_change got = shift_by(&b, 0, r, seed);
        ck_assert_msg(change <= got.rise + 1e-10 && -change <= got.drop + 1e-10,
                      "seed %llu: moves by %.17g, bounds -%.17g and %.17g",
                      (unsigned long long)seed, change, got.drop, got.rise);
    }
}

/* ---- single families of functions */
/* A rare dip from the end of the range, with no more said about its mean than the moment says: at
 * the means at the other end of the box nothing has the least gradient, and the tangent there is
 * all but vertical. */
TEST_TIMES(solver_bound_covers_rare_dips, 4)
{
    const double low = -2, high = 2, span = high - low, r = _i % 2 ? 0.75 : 0.3,
                 part = _i / 2 ? 0.8 : 0.4;
    for (int k = 0; k < 600; k++) {
        const double from = 0.5 + 0.15 * (k % 20), to = from + 0.05 * exp2(0.5 * (k / 20 % 10)),
                     away = exp2(k / 200), rare = mass_between(from, to), mean = high - span * rare,
                     gradient = span * fabs(cr_normal_pdf(from) - cr_normal_pdf(to)),
                     up = high - span * mass_between(from + r, to + r) - mean,
                     down = mean - high + span * mass_between(from - r, to - r);
        certreg_bounds b =
            given(M | G | R | Q, mean - 0.1, high, 0, part * gradient, 2.5 * gradient, low, high);
        b.moment_center = mean + away;
        b.moment_hi = (span * span * rare * (1 - rare) + away * away) * (1 + 1e-13);
        const certreg_mean_change got = shift_by(&b, 0, r, (uint64_t)k);
        ck_assert_msg(got.rise >= up * (1 - 1e-9) && got.drop >= down * (1 - 1e-9),
                      "dip %g to %g, center %g above: %.9g of %.9g, %.9g of %.9g", from, to, away,
                      got.rise, up, got.drop, down);
    }
}

/* ---- functions that are optimal for their own constraints */
/* clip((w_r - nu - a t)/(2 lambda), lo, hi) with a random multiplier a >= 0 of the upper bound: so
 * the greatest shift is known without a search. */
typedef struct optimal {
    double r, lambda, nu, a, lo, hi;
} optimal;

static optimal random_optimal(dice *d)
{
    optimal f = {
        .r = exp(dice_between(d, log(0.05), log(3))), .lo = -1, .hi = dice_between(d, 0.2, 3)};
    const double norm = sqrt(expm1(f.r * f.r));
    f.lambda = norm * pow(10, dice_between(d, -1.5, 0.5));
    f.nu = norm * dice_between(d, -1, 0.5);
    f.a = f.r * pow(10, dice_between(d, -2, 0));
    return f;
}

typedef struct moments {
    double mean, variance, first, change, least, greatest;
} moments;

static moments moments_by_quadrature(const optimal *f)
{
    enum { NODES = 200000 };
    const double from = -11, to = 11 + 2 * f->r, step = (to - from) / NODES;
    moments m = {.least = f->lo, .greatest = f->hi};
    for (int i = 0; i < NODES; i++) {
        const double t = from + (i + 0.5) * step,
                     v = expm1(f->r * t - 0.5 * f->r * f->r) - f->nu - f->a * t,
                     y = fmin(fmax(v / (2 * f->lambda), f->lo), f->hi), w = step * cr_normal_pdf(t);
        m.mean += w * y, m.variance += w * y * y, m.first += w * y * t;
        m.change += (step * cr_normal_pdf(t - f->r) - w) * y;
    }
    m.variance -= m.mean * m.mean;
    return m;
}

TEST_TIMES(solver_bound_is_attained_by_optimal_functions, 20)
{
    int tried = 0;
    for (uint64_t seed = (uint64_t)_i * 1000; tried < 10; seed++) {
        dice d = dice_of(7000000 + seed);
        const optimal f = random_optimal(&d);
        const moments m = moments_by_quadrature(&f);
        if (!(m.first > 1e-3 && m.variance > 1e-4)) continue; /* the bound is met from below */
        tried++;
        const certreg_bounds b = given(ALL, m.mean, m.mean, m.variance, 0, m.first, f.lo, f.hi);
        const double rise = shift_by(&b, 0, f.r, seed).rise;
        ck_assert_msg(rise >= m.change - 1e-8 * (fabs(m.change) + f.r),
                      "seed %llu: bound %.12g is below %.12g", (unsigned long long)seed, rise,
                      m.change);
        ck_assert_msg(rise <= m.change * (1 + 2e-5) + 1e-7,
                      "seed %llu: bound %.12g, moves by %.12g", (unsigned long long)seed, rise,
                      m.change);
    }
}

SOLVER_MAIN("bounds against functions")
