/* Misses of the exact radius of the median (theory 6): K = the larger of two tail counts about
 * the prediction, the whole alpha to it.  * A radius is too large only if the tail that is in truth
 * the heavier one is counted too small (intersection-union), so alpha is not halved. The worst case
 * is computed, not simulated, for every pair of tails on a grid; laws of the output that are
 * hostile to the choice of the prediction are simulated with the pilot and all. */
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "statistics/pilot.h"
#include "support/coverage.h"

#define ALPHA 0.1

/* P(max of the two tail counts <= k) for tails with probabilities p >= q, p + q <= 1: sum over
 * the first count. */
static double both_at_most(uint64_t k, uint64_t n, double p, double q)
{
    double sum = 0;
    for (uint64_t i = 0; i <= k && i <= n; i++) {
        const double here = cr_binomial_cdf(i, n, p) - (i ? cr_binomial_cdf(i - 1, n, p) : 0);
        sum += here * (p < 1 ? cr_binomial_cdf(k, n - i, fmin(1, q / (1 - p))) : 1);
    }
    return sum;
}

/* The radius exceeds the true one iff the bound on the heavier tail lies below that tail: K <= k
 * where upper(k) < p. */
static double exact_miss(uint64_t n, double p, double q)
{
    int64_t k = -1;
    while (k + 1 < (int64_t)n && cr_binomial_upper((uint64_t)(k + 1), n, ALPHA) < p) k++;
    return k < 0 ? 0 : both_at_most((uint64_t)k, n, p, q);
}

TEST_TIMES(exact_worst_miss_of_two_tails_is_at_most_the_whole_alpha, 3)
{
    static const uint64_t sizes[] = {5, 64, 200};
    const uint64_t n = sizes[_i];
    double worst = 0;
    /* the miss jumps up just above the bound of every count */
    for (uint64_t k = 0; k < n / 2; k++) {
        const double p = cr_binomial_upper(k, n, ALPHA) * (1 + 1e-9);
        if (p > 0.5) break; /* no radius is claimed there */
        for (int share = 0; share <= 4; share++)
            worst = fmax(worst, exact_miss(n, p, p * 0.25 * share));
    }
    printf("n %4lu  exact worst miss %.5f of %.2f\n", (unsigned long)n, worst, ALPHA);
    ck_assert_double_le(worst, ALPHA);
    ck_assert_double_gt(worst, 0.99 * ALPHA); /* and nothing is given away */
}

/* ---- laws of the output, each with the noise-free output it pretends to have */
typedef struct output_law {
    const char *name;
    double (*draw)(simulate_source *);
    double (*cdf)(double y, int closed); /* P(Y <= y) if closed, P(Y < y) if not */
    double noise_free;                   /* NAN: not known */
} output_law;

static double draw_normal(simulate_source *s)
{
    return 0.5 * simulate_normal(s);
}
static double cdf_normal(double y, int closed)
{
    return (void)closed, cr_normal_cdf(2 * y);
}

/* Atoms exactly one tolerance from the noise-free output: what a sloppy comparison would get
 * wrong. */
static double draw_atoms(simulate_source *s)
{
    const double u = simulate_uniform(s);
    return u < 0.2 ? -1 : u < 0.75 ? 0 : 1;
}
static double cdf_atoms(double y, int closed)
{
    const double at[] = {-1, 0, 1}, mass[] = {0.2, 0.55, 0.25};
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += closed ? (at[i] <= y) * mass[i] : (at[i] < y) * mass[i];
    return sum;
}

/* One-sided: an exponential, its noise-free output at the wrong end. */
static double draw_exponential(simulate_source *s)
{
    return -log(simulate_uniform(s));
}
static double cdf_exponential(double y, int closed)
{
    return (void)closed, y > 0 ? -expm1(-y) : 0;
}

/* Two far lumps and a thin bridge; the pilot sees one of them a little more often. */
static double draw_lumps(simulate_source *s)
{
    const double u = simulate_uniform(s), wobble = 0.1 * simulate_normal(s);
    return u < 0.3 ? -1.2 + wobble : u < 0.58 ? 1.2 + wobble : wobble;
}
static double cdf_lumps(double y, int closed)
{
    (void)closed;
    return 0.3 * cr_normal_cdf(10 * (y + 1.2)) + 0.28 * cr_normal_cdf(10 * (y - 1.2)) +
           0.42 * cr_normal_cdf(10 * y);
}

/* Heavy tails: the ratio of two normals. */
static double draw_cauchy(simulate_source *s)
{
    return 0.4 * simulate_normal(s) / simulate_normal(s);
}
static double cdf_cauchy(double y, int closed)
{
    return (void)closed, 0.5 + atan(y / 0.4) / 3.14159265358979323846;
}

static const output_law laws[] = {
    {"normal", draw_normal, cdf_normal, 0},
    {"normal, no f(z)", draw_normal, cdf_normal, NAN},
    {"normal, wrong f(z)", draw_normal, cdf_normal, 1.3},
    {"atoms at the tolerance", draw_atoms, cdf_atoms, 0},
    {"exponential", draw_exponential, cdf_exponential, 0},
    {"lumps", draw_lumps, cdf_lumps, -0.6},
    {"Cauchy", draw_cauchy, cdf_cauchy, NAN},
};
#define LAWS ((int)(sizeof laws / sizeof laws[0]))
static const size_t budgets[] = {16, 64, 256, 1000};
#define BUDGETS 4
#define TRIALS 20000
#define LEVEL (0.01 / (LAWS * BUDGETS))

/* One run: the prediction from the pilot, K from the rest. Adds one to *claims if a radius was
 * claimed. Returns whether it was too large: the bound on the tails lies below the true heavier
 * tail. */
static int run_misses(const output_law *law, size_t budget, simulate_source *source,
                      uint64_t *claims)
{
    float y[1000];
    const size_t pilot = cr_pilot_samples(budget, 0);
    /* sample 0 is the noise-free output */
    for (size_t i = 1; i < budget; i++) y[i] = (float)law->draw(source);
    const cr_values noisy = {.y = y + 1, .count = pilot - 1, .step = 1};
    const double prediction = cr_pilot_prediction(&noisy, 1, budget, law->noise_free);
    if (isnan(prediction)) return 0;
    uint64_t below = 0, above = 0;
    for (size_t i = pilot; i < budget; i++) {
        below += (double)y[i] <= prediction - 1;
        above += (double)y[i] >= prediction + 1;
    }
    const double bound = cr_binomial_upper(below > above ? below : above, budget - pilot, ALPHA);
    const double truth = fmax(law->cdf(prediction - 1, 1), 1 - law->cdf(prediction + 1, 0));
    *claims += bound < 0.5;
    /* outputs were rounded to float, the law was not */
    return bound < 0.5 && bound < truth * (1 - 1e-6);
}

TEST_TIMES(misses_with_a_prediction_from_the_pilot_stay_below_alpha, LAWS *BUDGETS)
{
    const output_law *law = &laws[_i / BUDGETS];
    const size_t budget = budgets[_i % BUDGETS];
    simulate_source source;
    simulate_seed(&source, 300 + (uint64_t)_i);
    uint64_t misses = 0, claims = 0;
    for (int t = 0; t < TRIALS; t++) misses += run_misses(law, budget, &source, &claims) != 0;
    printf("budget %4zu, claims %.3f: ", budget, (double)claims / TRIALS);
    coverage_check(law->name, misses, TRIALS, ALPHA, LEVEL, 0);
}

TEST_MAIN("coverage of the radius of the median")
