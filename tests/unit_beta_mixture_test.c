/* The mixture of likelihood ratios that bounds a probability at all numbers of trials together:
 * against its integral, and its coverage exactly, by following all paths. */
#include "support/api_kit.h"
#include "statistics/binomial.h"

/* ---- the evidence as an integral */
/* With s = sin^2 t the prior is uniform in t on (0, asin sqrt q). */
static long double evidence(long double k, long double n, long double q)
{
    enum { PANELS = 20000 };
    const long double end = asinl(sqrtl(q)), h = end / PANELS;
    long double sum = 0;
    for (int i = 0; i <= PANELS; i++) {
        const long double sine = sinl(h * i), s = sine * sine;
        const long double weight = i == 0 || i == PANELS ? 1 : i % 2 ? 4 : 2;
        const long double log_term =
            (k > 0 ? k * logl(s / q) : 0) + (n - k) * (log1pl(-s) - log1pl(-q));
        if (s > 0 || k == 0) sum += weight * expl(log_term);
    }
    return sum * h / 3 / end;
}

static const struct {
    uint64_t k, n;
    double q;
} evidences[] = {{0, 10, 0.5},      {0, 100, 0.04},  {1, 100, 0.08}, {3, 40, 0.4},  {20, 100, 0.35},
                 {200, 1000, 0.25}, {5, 2000, 0.01}, {45, 50, 0.98}, {0, 30, 0.999}};

TEST_ROWS(mixture_rejects_exactly_if_the_integral_exceeds_1_over_alpha, evidences)
{
    const uint64_t k = evidences[_i].k, n = evidences[_i].n;
    const double truth = (double)logl(evidence((long double)k, (long double)n, evidences[_i].q));
    ck_assert_double_gt(truth, log(2));
    const double slack = 1e-7 * (1 + truth); /* of the rule above and of the margin of the test */
    ck_assert(cr_mixture_rejects(k, n, evidences[_i].q, exp(-truth + slack)));
    ck_assert(!cr_mixture_rejects(k, n, evidences[_i].q, exp(-truth - 1e-9)));
}

TEST_TIMES(mixture_integral_is_a_supermartingale_under_the_hypothesis, 4)
{
    const double tested[] = {0.02, 0.2, 0.5, 0.9};
    const double q = tested[_i];
    for (int n = 0; n < 30; n += 3)
        for (int k = 0; k <= n; k += 1 + n / 6)
            for (int s = 0; s <= 4; s++) {
                const long double p = q + (1 - q) * 0.25L * s, now = evidence(k, n, q);
                const long double next =
                    p * evidence(k + 1, n + 1, q) + (1 - p) * evidence(k, n + 1, q);
                ck_assert_msg(next <= now * (1 + 1e-9L),
                              "k %d n %d q %g p %Lg: %.12Lg after %.12Lg", k, n, q, p, next, now);
            }
}

/* ---- the upper bound */
TEST_TIMES(mixture_rejects_all_from_the_upper_bound_on, 7)
{
    const uint64_t sizes[] = {1, 2, 5, 17, 100, 1000, 100000};
    const double levels[] = {0.5, 0.05, 1e-9, 1e-100};
    const uint64_t n = sizes[_i];
    for (int l = 0; l < KIT_ROWS(levels); l++)
        for (uint64_t k = 0; k <= n; k = 2 * k + 1) {
            const double upper = cr_mixture_upper(k, n, levels[l]);
            if (upper == 1) continue;
            ck_assert_double_gt(upper, (double)k / (double)n);
            ck_assert(!cr_mixture_rejects(k, n, upper * (1 - 1e-9), levels[l]));
            for (int s = 0; s < 50; s++)
                ck_assert(
                    cr_mixture_rejects(k, n, upper + (1 - 0x1p-50 - upper) * s / 50, levels[l]));
        }
}

TEST(mixture_upper_bound_grows_with_failures_falls_with_alpha)
{
    for (uint64_t k = 0; k < 64; k++) {
        ck_assert_double_le(cr_mixture_upper(k, 64, 0.05), cr_mixture_upper(k + 1, 64, 0.05));
        ck_assert_double_ge(cr_mixture_upper(k, 64, 0.01), cr_mixture_upper(k, 64, 0.05));
        ck_assert_double_ge(cr_mixture_upper(k, 64, 0.05), cr_mixture_upper(k, 65, 0.05));
    }
}

TEST(mixture_rejects_nothing_without_trials_or_at_a_bad_level)
{
    ck_assert_double_eq(cr_mixture_upper(0, 0, 0.05), 1);
    ck_assert_double_eq(cr_mixture_upper(10, 10, 0.05), 1);
    ck_assert_double_eq(cr_mixture_upper(1, 100, 0), 1);
    ck_assert_double_eq(cr_mixture_upper(1, 100, 0.6), 1);
    ck_assert_double_eq(cr_mixture_upper(1, 100, NAN), 1);
    ck_assert_double_eq(cr_mixture_upper(11, 10, 0.05), 1);
    ck_assert(!cr_mixture_rejects(0, 100, NAN, 0.05));
    ck_assert(!cr_mixture_rejects(0, 100, 0, 0.05));
    ck_assert(!cr_mixture_rejects(0, 100, 1, 0.05));
}

/* ---- coverage at all times, exactly */
static const double truths[] = {0.02, 0.1, 0.16, 0.31, 0.5, 0.75}, nominal[] = {0.5, 0.1, 0.01};
enum { TRIALS = 600 };

/* Probability that the bound is ever below p within TRIALS trials. */
static double ever_missed(double p, double alpha)
{
    static double share[TRIALS + 1];
    double missed = 0;
    int out = 0; /* with so many failures or more the bound is not below p */
    memset(share, 0, sizeof share);
    share[0] = 1;
    for (int n = 1; n <= TRIALS; n++) {
        for (int k = n; k > 0; k--) share[k] = share[k] * (1 - p) + share[k - 1] * p;
        share[0] *= 1 - p;
        if (out > 0) out--; /* the bound is monotone in k; look again from a little below */
        while (out < n && cr_mixture_upper((uint64_t)out, (uint64_t)n, alpha) < p) out++;
        for (int k = 0; k < out; k++) missed += share[k], share[k] = 0;
    }
    return missed;
}

TEST_TIMES(mixture_bound_is_ever_too_low_with_at_most_alpha, 18)
{
    const double p = truths[_i % 6], alpha = nominal[_i / 6], missed = ever_missed(p, alpha);
    printf("p %.2f  alpha %.2f  ever missed within %d trials %.4f\n", p, alpha, TRIALS, missed);
    ck_assert_double_le(missed, alpha);
    if (p >= 0.1) ck_assert_double_gt(missed, 0.1 * alpha); /* it can happen */
}

TEST_MAIN("mixture")
