/* Widths of intervals of a mean from few samples: the library's, beside three other bettors on the
 * same values. Its interval is also compared with its own without a pilot, if a pilot misleads.
 * Each of both ends has an error of 0.05. Usage: bench_bettors [tables.md] */
#include "bench.h"
#include "statistics/betting_bounds.h"
#include "statistics/normal.h"

enum { RUNS = 1000, MAX_SAMPLES = 200, MISLEADING = 200 };
static const double alpha = 0.05, spare = 0x1p-10;

/* ---- laws of the values */
static uint64_t state;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

static double gamma_of(int shape)
{
    double sum = 0;
    for (int i = 0; i < shape; i++) sum -= log(uniform());
    return sum;
}

static double beta_10_30(void)
{
    const double x = gamma_of(10);
    return x / (x + gamma_of(30));
}

static double bernoulli(void)
{
    return uniform() < 0.1;
}

static double rare(void)
{
    return uniform() < 0.02;
}

static double rare_beside_beta(void)
{
    return uniform() < 0.02 ? 1 : beta_10_30();
}

static const struct law {
    const char *name;
    double (*draw)(void);
} laws[] = {{"Bernoulli(0.1)", bernoulli},
            {"Beta(10, 30)", beta_10_30},
            {"Bernoulli(0.02)", rare},
            {"1 in 2%, else Beta(10, 30)", rare_beside_beta},
            {"uniform", uniform}};

/* ---- a test of "the mean is m, or more", which small values of y reject */
typedef struct sample {
    double y[MAX_SAMPLES];
    size_t count;
    cr_running_moments pilot;
} sample;

/* The hedge of a bet that pays 1 at the end, cut so that the wealth never exceeds 1. */
static int hedge_rejects(const sample *s, double m)
{
    double x = 0.85 * alpha, n = s->pilot.count, sum = s->pilot.sum, square = s->pilot.square;
    for (size_t i = 0; i < s->count && x < 0.85; i++) {
        const double mean = n > 0 ? sum / n : 0, variance = fmax(0, square - mean * sum),
                     spread = fmin(1, (0.5 + variance) / (0.5 + fmax(0, sum - mean * sum))),
                     left = (double)(s->count - i),
                     hedge =
                         cr_normal_pdf(cr_normal_quantile(x)) / sqrt(left * spread * m * (1 - m));
        x += fmin(fmin(hedge, x / (1 + spare - m)), (1 - x) / m) * (m - s->y[i]);
        n += 1, sum += s->y[i], square += s->y[i] * s->y[i];
    }
    return x >= 0.85;
}

/* At each value the stake of Bernstein's inequality for the wealth that is still missing and the
 * values that are left; the variance is about m (STaR, Voracek and Orabona 2025; no random end). */
static int star_rejects(const sample *s, double m)
{
    const cr_running_moments *p = &s->pilot;
    double wealth = log(alpha), square = p->square - 2 * m * p->sum + m * m * p->count;
    for (size_t i = 0; i < s->count && wealth < 0; i++) {
        const double seen = (double)i + p->count + 1e-4, all = (double)s->count + p->count,
                     gain = m - s->y[i],
                     variance = fmin(square / seen + (1 - m) * all / (seen * seen), m * (1 - m)),
                     stake = sqrt(-2 * wealth / ((double)(s->count - i) * variance));
        wealth += log1p(fmin(stake, 1 / (1 + spare - m)) * gain);
        square += gain * gain;
    }
    return wealth >= 0;
}

static double upper_end(const sample *s, int (*rejects)(const sample *, double))
{
    double low = 0, high = 1 - 1e-9;
    for (size_t i = 0; i < s->count; i++) low += s->y[i] / (double)s->count;
    for (int step = 0; step < 16; step++) {
        const double m = 0.5 * (low + high);
        if (rejects(s, m)) high = m;
        else low = m;
    }
    return high;
}

static double width_of(const sample *s, int (*rejects)(const sample *, double))
{
    sample mirrored = *s;
    const cr_running_moments *p = &s->pilot;
    for (size_t i = 0; i < s->count; i++) mirrored.y[i] = 1 - s->y[i];
    mirrored.pilot =
        (cr_running_moments){p->count, p->count - p->sum, p->count - 2 * p->sum + p->square};
    return upper_end(s, rejects) + upper_end(&mirrored, rejects) - 1;
}

/* ---- the library's */
static double value_at(const void *context, size_t i)
{
    return ((const double *)context)[i];
}

static double library_width(const sample *s, cr_running_moments pilot, int anytime)
{
    const cr_betting_problem bet = {
        .value = value_at, .context = s->y, .hi = 1, .count = s->count, .pilot_moments = pilot};
    return cr_betting_upper(&bet, alpha, anytime) - cr_betting_lower(&bet, alpha, anytime);
}

/* A record of this many samples, with the recommended pilot. */
static sample draw(const struct law *law, size_t samples)
{
    const size_t pilot = (size_t)(0.15 * (double)(samples * samples) / (double)(samples + 20));
    sample s = {.count = samples - pilot, .pilot = {.count = (double)pilot}};
    for (size_t i = 0; i < pilot; i++) {
        const double y = law->draw();
        s.pilot.sum += y;
        s.pilot.square += y * y;
    }
    for (size_t i = 0; i < s.count; i++) s.y[i] = law->draw();
    return s;
}

static cr_running_moments equal_values(double value)
{
    return (cr_running_moments){MISLEADING, MISLEADING * value, MISLEADING * value * value};
}

static void measure(const struct law *law, size_t samples)
{
    const cr_running_moments none = {0}, low = equal_values(0.3), high = equal_values(0.9);
    double library = 0, hedge = 0, mixture = 0, star = 0, no_pilot = 0, low_pilot = 0,
           high_pilot = 0;
    state = 1;
    for (int run = 0; run < RUNS; run++) {
        const sample s = draw(law, samples);
        library += library_width(&s, s.pilot, 0) / RUNS;
        mixture += library_width(&s, s.pilot, 1) / RUNS;
        no_pilot += library_width(&s, none, 0) / RUNS;
        low_pilot += library_width(&s, low, 0) / RUNS;
        high_pilot += library_width(&s, high, 0) / RUNS;
        hedge += width_of(&s, hedge_rejects) / RUNS;
        star += width_of(&s, star_rejects) / RUNS;
    }
    bench_print("| %s | %zu | %.4f | %.4f | %.4f | %.4f | %.2f | %.2f |\n", law->name, samples,
                library, hedge, mixture, star, library / fmin(fmin(hedge, mixture), star),
                fmax(low_pilot, high_pilot) / no_pilot);
}

int main(int argc, char **argv)
{
    static const size_t samples[] = {30, 50, 100, 200};
    bench_open(argc, argv);
    bench_begin("bettors", "| values | n | libcertreg | hedge | mixture | STaR | of the best | "
                           "misled |");
    for (size_t l = 0; l < sizeof laws / sizeof *laws; l++)
        for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) measure(laws + l, samples[k]);
    bench_end("bettors");
    bench_close();
}
