/* Group-sequential tests (theory 6.7): follows the number of failures from look to look over all
 * paths that have not passed, and searches for critical numbers that all paths together pass with
 * probability at most alpha. A union bound over the looks replaces this if there are too many
 * paths. */
#include "statistics/group_sequential.h"
#include "statistics/binomial.h"
#include <math.h>
#include <string.h>

/* ---- paths */
/* Paths of a smaller probability are counted as passed, not followed. */
static const double negligible = 1e-30;
enum { VECTOR_WIDTH = 4 };
static const double max_multiplications = 1.5e7; /* to follow the paths */

typedef struct paths {   /* probability of the paths that have not passed, by number of failures */
    double *probability; /* of low, low + 1, ... failures */
    size_t low, count;   /* count 0: no paths are left */
    double passed_probability; /* probability of the paths that have passed */
    double multiplications;    /* so far */
} paths;

typedef struct failure_distribution { /* probability of each number of failures in some trials */
    double *probability;
    size_t low, count;
} failure_distribution;

static double binomial_probability(uint64_t k, uint64_t n, double q)
{
    const double failures = (double)k, successes = (double)(n - k);
    const double term = cr_beta_log_term(failures + 1, successes + 1, q, 1 - q);
    return exp(term) / (q * (1 - q) * ((double)n + 1));
}

/* Fills in the probabilities from the first that is not negligible up to max_failures; none if the
 * first is beyond it. Non-zero: there are more than `capacity`. */
static int fill_distribution(failure_distribution *distribution, uint64_t trials, double q,
                             size_t max_failures, size_t capacity)
{
    const double odds = q / (1 - q), n = (double)trials;
    const uint64_t mode = (uint64_t)fmin(n, floor((n + 1) * q));
    uint64_t i = mode;
    double probability = binomial_probability(mode, trials, q);
    for (; i > 0 && probability > negligible; i--)
        probability *= (double)i / ((n - (double)i + 1) * odds);
    distribution->low = (size_t)i;
    for (distribution->count = 0;
         i <= trials && i <= max_failures && (i <= mode || probability > negligible); i++) {
        if (distribution->count >= capacity) return 1;
        distribution->probability[distribution->count++] = probability;
        probability *= (n - (double)i) / ((double)i + 1) * odds;
    }
    return 0;
}

/* VECTOR_WIDTH sums at a time, so that compilers use vector instructions. */
static void add_multiple(const double *restrict x, double factor, size_t count,
                         double *restrict sum)
{
    size_t k = 0;
    for (; k + VECTOR_WIDTH <= count; k += VECTOR_WIDTH)
        for (size_t j = 0; j < VECTOR_WIDTH; j++) sum[k + j] += x[k + j] * factor;
    for (; k < count; k++) sum[k] += x[k] * factor;
}

/* Adds up beside the paths, then moves the sums into their place. Each sum begins with the least
 * i. */
static void convolve(paths *p, const failure_distribution *distribution, size_t count)
{
    double *const sum = p->probability + p->count;
    for (size_t k = 0; k < count; k++) sum[k] = 0;
    for (size_t i = 0; i < distribution->count && i < count; i++)
        add_multiple(p->probability, distribution->probability[i],
                     p->count < count - i ? p->count : count - i, sum + i);
    memmove(p->probability, sum, count * sizeof *sum);
    p->low += distribution->low;
    p->count = count;
}

/* Takes the paths through some trials; drops paths with more than max_failures, which never pass.
 * Non-zero: capacity or multiplications do not suffice. */
static int advance(paths *p, uint64_t trials, double q, size_t max_failures, size_t capacity)
{
    failure_distribution distribution = {.probability = p->probability + p->count};
    if (p->count >= capacity ||
        fill_distribution(&distribution, trials, q, max_failures - p->low, capacity - p->count))
        return 1;
    const size_t full_count = distribution.count ? p->count + distribution.count - 1 : 0,
                 min_failures = p->low + distribution.low;
    const size_t allowed_count = min_failures > max_failures ? 0 : max_failures - min_failures + 1,
                 count = full_count < allowed_count ? full_count : allowed_count;
    p->multiplications +=
        (double)count * (double)(distribution.count < p->count ? distribution.count : p->count);
    if (p->count + count + distribution.count > capacity ||
        p->multiplications > max_multiplications)
        return 1;
    memmove(p->probability + capacity - distribution.count, distribution.probability,
            distribution.count * sizeof *distribution.probability);
    distribution.probability = p->probability + capacity - distribution.count;
    convolve(p, &distribution, count);
    /* the two ends that the distribution leaves out */
    p->passed_probability += 2 * negligible * (double)trials;
    return 0;
}

/* Removes the paths that pass at this look, and negligible ones at both ends. */
static void remove_passed(paths *p, int64_t critical)
{
    size_t removed = 0, end = p->count;
    while (removed < end &&
           ((int64_t)(p->low + removed) <= critical || p->probability[removed] < negligible))
        p->passed_probability += p->probability[removed++];
    while (end > removed && p->probability[end - 1] < negligible)
        p->passed_probability += p->probability[--end];
    memmove(p->probability, p->probability + removed, (end - removed) * sizeof *p->probability);
    p->low += removed;
    p->count = end - removed;
}

double cr_group_crossing_probability(const uint64_t *looks, size_t count, double q,
                                     const int64_t *critical, double *work, size_t capacity)
{
    if (!count || critical[count - 1] < 0) return 0;
    if (!capacity) return NAN;
    const size_t max_failures = (size_t)critical[count - 1];
    paths p = {.probability = work, .count = 1};
    work[0] = 1;
    for (size_t j = 0; j < count && p.count; j++) {
        if (advance(&p, looks[j] - (j ? looks[j - 1] : 0), q, max_failures, capacity)) return NAN;
        remove_passed(&p, critical[j]);
    }
    /* Relative errors suffice, since all terms are positive. */
    return p.passed_probability * (1 + 1e-13 + 1e-14 * (double)looks[count - 1]);
}

/* ---- critical numbers */
/* Raises each critical number to the one before. This changes no result: a path with no more
 * failures at a later look than an earlier look allows has passed at the earlier one. */
static void make_ascending(size_t count, int64_t *critical)
{
    for (size_t j = 1; j < count; j++)
        if (critical[j] < critical[j - 1]) critical[j] = critical[j - 1];
}

/* Maximum level of an early look, relative to the last one. Higher levels prove easy radii with
 * fewer samples, and cost the last look little. */
static const double max_early_weight = 3;

static double level_at(const cr_group_design *d, size_t j, double level)
{
    const double sample_ratio = (double)d->looks[d->count - 1] / (double)d->looks[j];
    const double weight = fmin(sqrt(sample_ratio), max_early_weight);
    return fmin(weight * level, d->alpha);
}

static void set_level(const cr_group_design *d, double level, int64_t *critical)
{
    for (size_t j = 0; j < d->count; j++)
        critical[j] = cr_binomial_critical(d->looks[j], d->q, level_at(d, j, level));
    make_ascending(d->count, critical);
}

/* Without paths: the interim looks share half of alpha evenly, and the last look has the remainder.
 * A single look has all of alpha. */
static void split_alpha(const cr_group_design *d, int64_t *critical)
{
    const size_t last = d->count - 1;
    double remaining_alpha = d->alpha;
    if (!d->count) return;
    for (size_t j = 0; j < last; j++) {
        critical[j] = cr_binomial_critical(d->looks[j], d->q, 0.5 * d->alpha / (double)last);
        if (critical[j] >= 0)
            remaining_alpha -=
                cr_binomial_cdf((uint64_t)critical[j], d->looks[j], d->q) * (1 + 1e-9);
    }
    critical[last] = cr_binomial_critical(d->looks[last], d->q, remaining_alpha);
    make_ascending(d->count, critical);
}

void cr_group_search_init(cr_group_search *s, size_t count, double alpha)
{
    const double even_level = log(alpha / (double)(count ? count : 1)), max_level = log(alpha);
    *s = (cr_group_search){.low = even_level - log(max_early_weight),
                           .high = max_level,
                           .level = even_level + 0.6 * (max_level - even_level)};
}

/* Moves the level of the last look towards the highest with a crossing probability of at most
 * alpha; all levels keep their proportion. The probability grows with the level, a little slower
 * than in proportion. Non-zero: this level is the last to try. */
static int update_level(cr_group_search *s, double crossing, double alpha)
{
    const double min_width = 0.01;     /* of the logarithm of the level */
    const double full_fraction = 0.98; /* of alpha */
    if (isnan(crossing)) return 1;
    if (crossing <= alpha) {
        s->low = s->level;
        s->proven = 1;
    } else s->high = s->level;
    if (crossing >= full_fraction * alpha && crossing <= alpha) return 1;
    const double width = s->high - s->low;
    const double guess = s->level + (crossing > 0 ? log(alpha / crossing) : width);
    s->level = fmin(fmax(guess, s->low + 0.1 * width), s->high - 0.1 * width);
    return !(width > min_width) || s->rounds >= 9;
}

int cr_group_search_step(cr_group_search *s, const cr_group_design *d, double *work,
                         size_t capacity, int64_t *critical)
{
    s->rounds++;
    if (d->count > 1) {
        set_level(d, exp(s->level), critical);
        const double crossing =
            cr_group_crossing_probability(d->looks, d->count, d->q, critical, work, capacity);
        if (!update_level(s, crossing, d->alpha)) return 0;
    }
    if (s->proven) set_level(d, exp(s->low), critical);
    else split_alpha(d, critical);
    return 1;
}

double cr_group_first_level(const cr_group_search *s, const cr_group_design *d)
{
    return s->proven ? level_at(d, 0, exp(s->low)) : 0.5 * d->alpha / (double)(d->count - 1);
}

void cr_group_nest(int64_t *critical, const int64_t *of_greater_q, size_t count)
{
    for (size_t j = 0; j < count; j++)
        if (critical[j] > of_greater_q[j]) critical[j] = of_greater_q[j];
}
