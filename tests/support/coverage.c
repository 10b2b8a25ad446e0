#include "support/coverage.h"
#include <stdarg.h>

/* Of a comparison of a rate with the expected one, on either side. */
static const double level = 1e-3;
enum { MOST_CLAIMS = 16 };

double coverage_binomial(int64_t k, uint64_t n, double p)
{
    double sum = 0, count = (double)n;
    if (k >= (int64_t)n || p <= 0) return k >= 0;
    if (p >= 1) return 0;
    for (int64_t i = 0; i <= k; i++) {
        const double x = (double)i;
        sum += exp(lgamma(count + 1) - lgamma(x + 1) - lgamma(count - x + 1) + x * log(p) +
                   (count - x) * log1p(-p));
    }
    return sum;
}

double coverage_rate(uint64_t n, double p, double claimed, double alpha)
{
    int64_t k = -1;
    while (k < (int64_t)n && coverage_binomial(k + 1, n, claimed) <= alpha) k++;
    return coverage_binomial(k, n, p);
}

/* ---- verdicts */
/* -1: too few misses for what is expected; 1: too many. */
static int verdict(const coverage_claim *c, uint64_t misses, uint64_t runs)
{
    const double most = isnan(c->expected) ? c->alpha : c->expected;
    if (misses > simulate_most_misses(runs, most, level)) return 1;
    return !isnan(c->expected) && coverage_binomial((int64_t)misses, runs, c->expected) < level ? -1
                                                                                                : 0;
}

static void print(const coverage_claim *c, double rate)
{
    printf("rate | %s | %.4g | ", c->name, c->alpha);
    if (!isnan(c->expected)) printf("%.4f", c->expected);
    printf(" | %.4f | %.2f |", rate, rate / c->alpha);
}

/* Misses of the runs from `first` to before `end`. */
static void count(uint64_t *misses, int claims, uint64_t first, uint64_t end, coverage_trial *trial,
                  void *of, double spend)
{
    for (uint64_t run = first; run < end; run++) {
        const unsigned missed = trial(of, run, spend);
        for (int k = 0; k < claims; k++) misses[k] += missed >> k & 1;
    }
}

static void check_soundness(const coverage_claim *c, uint64_t misses, uint64_t runs)
{
    const int exceeds = c->expected > c->alpha * (1 + 1e-9);
    ck_assert_msg(!exceeds || c->is_asymptotic, "%s may be false too often", c->name);
    ck_assert_msg(misses <= simulate_most_misses(runs, exceeds ? c->expected : c->alpha, level),
                  "%s: false in %llu of %llu runs", c->name, (unsigned long long)misses,
                  (unsigned long long)runs);
}

/* Whether a fault that spends another alpha would be noticed. */
static void print_power(const coverage_claim *c, double spend, uint64_t misses, uint64_t runs)
{
    const int noticed = verdict(c, misses, runs) == (spend > 1 ? 1 : -1);
    printf(" %.2f%s |", (double)misses / (double)runs / c->alpha, noticed ? "" : " (not noticed)");
}

static int is_left_out(const char *law, const coverage_claim *first)
{
    const char *wanted = getenv("LAW");
    return wanted && !strstr(law, wanted) && !strstr(first->name, wanted);
}

void coverage_of(const char *law, const coverage_claim *claims, int many, uint64_t runs,
                 coverage_trial *trial, void *of)
{
    const char *release = getenv("REFEREE");
    const uint64_t all = runs * (release ? strtoull(release, NULL, 10) : 1);
    uint64_t misses[MOST_CLAIMS] = {0}, in_all[MOST_CLAIMS], half[MOST_CLAIMS] = {0},
             twice[MOST_CLAIMS] = {0};
    ck_assert(many <= MOST_CLAIMS && all > 0);
    if (is_left_out(law, claims)) return;
    count(misses, many, 0, runs, trial, of, 1);
    memcpy(in_all, misses, sizeof misses);
    count(in_all, many, runs, all, trial, of, 1);
    count(half, many, 0, release ? runs : 0, trial, of, 0.5);
    count(twice, many, 0, release ? runs : 0, trial, of, 2);
    for (int k = 0; k < many; k++) {
        char name[120];
        snprintf(name, sizeof name, "%s%s%s", law, *law ? ", " : "", claims[k].name);
        coverage_claim named = claims[k];
        const coverage_claim *c = &named;
        named.name = name;
        print(c, (double)in_all[k] / (double)all);
        if (release) print_power(c, 0.5, half[k], runs), print_power(c, 2, twice[k], runs);
        puts(""), fflush(stdout);
        check_soundness(c, in_all[k], all);
        ck_assert_msg(!verdict(c, misses[k], runs), "%s: false in %llu of %llu runs, not %g",
                      c->name, (unsigned long long)misses[k], (unsigned long long)runs,
                      c->expected);
    }
}

void coverage_row(double alpha, double expected, uint64_t runs, coverage_trial *trial, void *of,
                  const char *format, ...)
{
    char name[100];
    va_list words;
    va_start(words, format);
    vsnprintf(name, sizeof name, format, words);
    va_end(words);
    coverage_of("", &(coverage_claim){name, alpha, expected, 0}, 1, runs, trial, of);
}

void coverage_exact(const char *name, double alpha, double expected, double rate)
{
    print(&(coverage_claim){name, alpha, expected, 0}, rate);
    puts(""), fflush(stdout);
    ck_assert_msg(rate <= alpha, "%s: false with probability %.6g", name, rate);
    ck_assert_msg(fabs(rate - expected) <= 0.02 * alpha, "%s: false with probability %.6g, not %g",
                  name, rate, expected);
}
