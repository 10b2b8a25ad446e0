/* The bound from a second moment about a center covers every function that has the constraint. */
#include <certreg/solver.h>
#include "statistics/normal.h"
#include "support/problems.h"
#include "support/solver_fixture.h"

enum { BLOCKS = 12 };

/* ---- functions */
enum { CELLS = 60 };

/* A function constant on cells of the line, so that all its constraints are sums. */
typedef struct steps {
    double value[CELLS], mass[CELLS], first[CELLS], shifted[CELLS];
    double mean, gradient, shift, least, greatest;
} steps;

static double wave(dice *d, int kind, double t, double a, double b, double c)
{
    const double noise = kind == 1 ? dice_between(d, -1, 1) : 0,
                 free = kind == 2 ? sin(a * t + b) : a * (exp(b * t) - c - t) + noise;
    /* a rare dip: at the end of the range nearly everywhere */
    if (kind == 4) return t > 1.3 + 0.6 * a && t < 1.3 + 0.6 * a + exp(b) ? -0.7 : 1;
    return kind == 3 ? (free > 0 ? 1 : -0.7) : fmin(fmax(free, -0.7), 1);
}

static steps random_steps(dice *d, double r, int kind)
{
    steps s = {.least = INFINITY, .greatest = -INFINITY};
    const double a = dice_between(d, -3, 3), b = dice_between(d, -2, 2), c = dice_between(d, -1, 2);
    double from = -INFINITY;
    for (int i = 0; i < CELLS; i++) {
        const double to =
            i == CELLS - 1 ? INFINITY : -4.5 + (9 + r) * (i + dice_between(d, -0.3, 0.3)) / CELLS;
        s.mass[i] = from > 0 ? cr_normal_sf(from) - cr_normal_sf(to)
                             : cr_normal_cdf(to) - cr_normal_cdf(from);
        s.first[i] = cr_normal_pdf(from) - cr_normal_pdf(to);
        s.shifted[i] = from > r ? cr_normal_sf(from - r) - cr_normal_sf(to - r)
                                : cr_normal_cdf(to - r) - cr_normal_cdf(from - r);
        s.value[i] = wave(d, kind, s.first[i] / s.mass[i], a, b, c);
        s.mean += s.mass[i] * s.value[i], s.gradient += s.first[i] * s.value[i];
        s.shift += (s.shifted[i] - s.mass[i]) * s.value[i];
        s.least = fmin(s.least, s.value[i]), s.greatest = fmax(s.greatest, s.value[i]);
        from = to;
    }
    return s;
}

static certreg_bounds facts_of(const steps *s, dice *d)
{
    certreg_bounds b = {.struct_size = sizeof b,
                        .constraints = Q,
                        .sigma = 1,
                        .gradient_hi = fabs(s->gradient) * (dice_between(d, 0, 1) < 0.5 ? 1 : 2)};
    b.gradient_lo = fabs(s->gradient) * fmin(1, dice_between(d, 0, 1.5));
    b.moment_center = dice_between(d, 0, 1) < 0.5 ? s->mean + 0.1 * dice_between(d, -1, 1)
                                                  : dice_between(d, -2, 2);
    for (int i = 0; i < CELLS; i++)
        b.moment_hi += s->mass[i] * pow(s->value[i] - b.moment_center, 2);
    b.moment_hi += 1e-14 * (1 + b.moment_hi);
    b.mean_lo = s->mean - 0.1 * dice_between(d, 0, 1),
    b.mean_hi = s->mean + 0.1 * dice_between(d, 0, 1);
    if (dice_between(d, 0, 1) < 0.3) b.mean_hi = s->greatest;
    if (dice_between(d, 0, 1) < 0.3) b.constraints |= V;
    b.variance_hi =
        (b.moment_hi - pow(s->mean - b.moment_center, 2)) * dice_between(d, 1, 1.3) + 1e-13;
    b.range_lo = s->least, b.range_hi = s->greatest;
    const double pick = dice_between(d, 0, 1);
    if (dice_between(d, 0, 1) < 0.5) b.constraints |= M;
    if (pick < 0.75) b.constraints |= R;
    if (pick < 0.5 || pick > 0.9) b.constraints |= G;
    return b;
}

TEST_TIMES(no_function_moves_further_than_the_bound_of_its_own_moment, BLOCKS)
{
    for (uint64_t seed = (uint64_t)_i * 200; seed < (uint64_t)(_i + 1) * 200; seed++) {
        dice d = dice_of(4200000 + seed);
        const double r = exp(dice_between(&d, log(0.02), log(4)));
        const steps s = random_steps(&d, r, (int)(seed % 5));
        const certreg_bounds constraints = facts_of(&s, &d);
        if (!(s.greatest > s.least)) continue;
        const certreg_mean_change got = shift_by(&constraints, 0, r, seed);
        ck_assert_msg(s.shift <= got.rise + 1e-10 && -s.shift <= got.drop + 1e-10,
                      "seed %llu: moves by %.17g, bounds -%.17g and %.17g",
                      (unsigned long long)seed, s.shift, got.drop, got.rise);
        ck_assert_msg(s.mean + s.shift <= got.mean_greatest + 1e-10 &&
                          s.mean + s.shift >= got.mean_least - 1e-10,
                      "seed %llu: mean %.17g, bounds %.17g and %.17g", (unsigned long long)seed,
                      s.mean + s.shift, got.mean_least, got.mean_greatest);
    }
}

/* A rare dip from the end of the range, with no more said about its mean than the moment says:
 * at the means at the other end of the box nothing has the least gradient, and the tangent there is
 * all but vertical. */
TEST_TIMES(no_rare_dip_moves_further_than_the_bound, 4)
{
    const double low = -2, high = 2, span = high - low, r = (const double[]){0.3, 0.75}[_i % 2],
                 part = (const double[]){0.4, 0.8}[_i / 2];
    for (int k = 0; k < 600; k++) {
        const double from = 0.5 + 0.15 * (k % 20), to = from + 0.05 * exp2(0.5 * (k / 20 % 10)),
                     away = exp2(k / 200);
        const double rare = cr_normal_sf(from) - cr_normal_sf(to), mean = high - span * rare,
                     variance = span * span * rare * (1 - rare);
        const double gradient = span * fabs(cr_normal_pdf(from) - cr_normal_pdf(to)),
                     center = mean + away;
        const certreg_bounds b = {.struct_size = sizeof b,
                                  .constraints = M | G | R | Q,
                                  .sigma = 1,
                                  .mean_lo = mean - 0.1,
                                  .mean_hi = high,
                                  .gradient_lo = part * gradient,
                                  .gradient_hi = 2.5 * gradient,
                                  .range_lo = low,
                                  .range_hi = high,
                                  .moment_center = center,
                                  .moment_hi = (variance + away * away) * (1 + 1e-13)};
        const certreg_mean_change got = shift_by(&b, 0, r, (uint64_t)k);
        const double up = high - span * (cr_normal_sf(from + r) - cr_normal_sf(to + r)) - mean;
        const double down = mean - high + span * (cr_normal_sf(from - r) - cr_normal_sf(to - r));
        ck_assert_msg(got.rise >= up * (1 - 1e-9) && got.drop >= down * (1 - 1e-9),
                      "dip %g to %g, center %g above: %.9g of %.9g, %.9g of %.9g", from, to, away,
                      got.rise, up, got.drop, down);
    }
}

/* A quadratic polynomial, about whose second order no more is known than it has, and the
 * moment's ball larger than its variance. */
TEST(no_quadratic_moves_further_than_the_bound_of_moment_and_second_order)
{
    const double slope = 0.02, bend = 8e-4, variance = slope * slope + bend * bend;
    for (double more = 1.0001; more < 1.5; more = 1 + 2 * (more - 1))
        for (double center = -2; center <= -0.01; center /= 4)
            for (double r = 0.0125; r < 0.3; r *= 2) {
                const certreg_bounds b = {.struct_size = sizeof b,
                                          .constraints = M | V | G | Q |
                                                         CERTREG_CONSTRAINT_SECOND_ORDER,
                                          .sigma = 1,
                                          .mean_lo = -10,
                                          .mean_hi = 10,
                                          .variance_hi = variance * more,
                                          .gradient_hi = slope * (1 + 1e-12),
                                          .second_order_hi = bend * (1 + 1e-12),
                                          .moment_center = center,
                                          .moment_hi = (variance + center * center) * (1 + 1e-13)};
                const double shifted = slope * r + bend * r * r / sqrt(2.0);
                ck_assert_double_ge(shift_by(&b, 0, r, 0).mean_greatest, shifted * (1 - 1e-9));
            }
}

FIXTURE(setup, teardown)
TEST_MAIN("solver_moment_functions")
