/* Group-sequential tests (theory 6.7): follows the number of failures from look to look over all
 * paths that have not passed, and searches for critical numbers that all paths together pass with
 * probability at most alpha. A union bound over the looks replaces this if there are too many
 * paths. */
#include "statistics/group_sequential.h"
#include "statistics/incomplete_beta.h"
#include "statistics/binomial.h"
#include <math.h>
#include <string.h>

/* ---- paths */
/* Paths of a smaller probability are counted as passed, not followed. */
static const double negligible = 1e-30;
enum { STEP = 4 };
static const double most_steps = 1.5e7; /* multiplications, at most, to follow the paths */

typedef struct paths { /* probability of the paths that have not passed, by number of failures */
    double *share;     /* of low, low + 1, ... failures */
    size_t low, count; /* count 0: no paths are left */
    double passed;     /* probability of the paths that have passed */
    double steps;      /* multiplications so far */
} paths;

typedef struct distribution { /* probability of each number of failures in some trials */
    double *share;
    size_t low, count;
} distribution;

static double binomial_share(uint64_t k, uint64_t n, double q)
{
    const double failures = (double)k, others = (double)(n - k);
    const double term = cr_beta_log_term(failures + 1, others + 1, q, 1 - q);
    return exp(term) / (q * (1 - q) * ((double)n + 1));
}

/* Fills in the numbers from the first that is not negligible up to `most`; none if the first is
 * beyond it. Non-zero: there are more than `room`. */
static int fill_distribution(distribution *l, uint64_t trials, double q, size_t most, size_t room)
{
    const double odds = q / (1 - q), n = (double)trials;
    const uint64_t mode = (uint64_t)fmin(n, floor((n + 1) * q));
    uint64_t i = mode;
    double share = binomial_share(mode, trials, q);
    for (; i > 0 && share > negligible; i--) share *= (double)i / ((n - (double)i + 1) * odds);
    l->low = (size_t)i;
    for (l->count = 0; i <= trials && i <= most && (i <= mode || share > negligible); i++) {
        if (l->count >= room) return 1;
        l->share[l->count++] = share;
        share *= (n - (double)i) / ((double)i + 1) * odds;
    }
    return 0;
}

/* STEP sums at a time, so that compilers use vector instructions. */
static void add_multiple(const double *restrict x, double by, size_t count, double *restrict sum)
{
    size_t k = 0;
    for (; k + STEP <= count; k += STEP)
        for (size_t j = 0; j < STEP; j++) sum[k + j] += x[k + j] * by;
    for (; k < count; k++) sum[k] += x[k] * by;
}

/* Adds up beside the paths, then moves the sums into their place. Each sum begins with the least
 * i. */
static void convolve(paths *p, const distribution *l, size_t count)
{
    double *const sum = p->share + p->count;
    for (size_t k = 0; k < count; k++) sum[k] = 0;
    for (size_t i = 0; i < l->count && i < count; i++)
        add_multiple(p->share, l->share[i], p->count < count - i ? p->count : count - i, sum + i);
    memmove(p->share, sum, count * sizeof *sum);
    p->low += l->low;
    p->count = count;
}

/* Takes the paths through some trials; drops paths with more than `most` failures, which never
 * pass. Non-zero: room or steps do not suffice. */
static int advance(paths *p, uint64_t trials, double q, size_t most, size_t room)
{
    distribution l = {.share = p->share + p->count};
    if (p->count >= room || fill_distribution(&l, trials, q, most - p->low, room - p->count))
        return 1;
    const size_t whole = l.count ? p->count + l.count - 1 : 0, least = p->low + l.low;
    const size_t allowed = least > most ? 0 : most - least + 1,
                 count = whole < allowed ? whole : allowed;
    p->steps += (double)count * (double)(l.count < p->count ? l.count : p->count);
    if (p->count + count + l.count > room || p->steps > most_steps) return 1;
    memmove(p->share + room - l.count, l.share, l.count * sizeof *l.share);
    l.share = p->share + room - l.count;
    convolve(p, &l, count);
    /* the two ends that the distribution leaves out */
    p->passed += 2 * negligible * (double)trials;
    return 0;
}

/* Removes the paths that pass at this look, and negligible ones at both ends. */
static void take_out(paths *p, int64_t critical)
{
    size_t out = 0, left = p->count;
    while (out < left && ((int64_t)(p->low + out) <= critical || p->share[out] < negligible))
        p->passed += p->share[out++];
    while (left > out && p->share[left - 1] < negligible) p->passed += p->share[--left];
    memmove(p->share, p->share + out, (left - out) * sizeof *p->share);
    p->low += out;
    p->count = left - out;
}

double cr_group_crossing(const uint64_t *looks, size_t count, double q, const int64_t *critical,
                         double *work, size_t room)
{
    if (!count || critical[count - 1] < 0) return 0;
    if (!room) return NAN;
    const size_t most = (size_t)critical[count - 1];
    paths p = {.share = work, .count = 1};
    work[0] = 1;
    for (size_t j = 0; j < count && p.count; j++) {
        if (advance(&p, looks[j] - (j ? looks[j - 1] : 0), q, most, room)) return NAN;
        take_out(&p, critical[j]);
    }
    return p.passed * (1 + 1e-13 + 1e-14 * (double)looks[count - 1]); /* all terms are positive */
}

/* ---- critical numbers */
/* Raises each critical number to the one before. This changes no result: a path with no more
 * failures at a later look than an earlier look allows has passed at the earlier one. */
static void make_ascending(size_t count, int64_t *critical)
{
    for (size_t j = 1; j < count; j++)
        if (critical[j] < critical[j - 1]) critical[j] = critical[j - 1];
}

/* Greatest level of an early look, relative to the last one. Higher levels prove easy radii with
 * fewer samples, and cost the last look little. */
static const double greatest_weight = 3;

static void set_level(const cr_group_design *d, double level, int64_t *critical)
{
    for (size_t j = 0; j < d->count; j++) {
        const double earlier = (double)d->looks[d->count - 1] / (double)d->looks[j];
        const double weight = fmin(sqrt(earlier), greatest_weight);
        critical[j] = cr_binomial_critical(d->looks[j], d->q, fmin(weight * level, d->alpha));
    }
    make_ascending(d->count, critical);
}

/* Without paths: the interim looks share half of alpha evenly, and the last look has the remainder.
 * A single look has all of alpha. */
static void spend(const cr_group_design *d, int64_t *critical)
{
    const size_t last = d->count - 1;
    double left = d->alpha;
    if (!d->count) return;
    for (size_t j = 0; j < last; j++) {
        critical[j] = cr_binomial_critical(d->looks[j], d->q, 0.5 * d->alpha / (double)last);
        if (critical[j] >= 0)
            left -= cr_binomial_cdf((uint64_t)critical[j], d->looks[j], d->q) * (1 + 1e-9);
    }
    critical[last] = cr_binomial_critical(d->looks[last], d->q, left);
    make_ascending(d->count, critical);
}

void cr_group_begin(cr_group_search *s, size_t count, double alpha)
{
    const double even = log(alpha / (double)(count ? count : 1)), high = log(alpha);
    *s = (cr_group_search){
        .low = even - log(greatest_weight), .high = high, .level = even + 0.6 * (high - even)};
}

/* Moves the level of the last look towards the highest with a crossing probability of at most
 * alpha; all levels keep their proportion. The probability grows with the level, a little slower
 * than in proportion. Non-zero: this level is the last to try. */
static int try_level(cr_group_search *s, double crossing, double alpha)
{
    const double close = 0.01, full = 0.98; /* of the logarithm of the level; of alpha */
    if (isnan(crossing)) return 1;
    if (crossing <= alpha) {
        s->low = s->level;
        s->proven = 1;
    } else s->high = s->level;
    if (crossing >= full * alpha && crossing <= alpha) return 1;
    const double width = s->high - s->low;
    const double guess = s->level + (crossing > 0 ? log(alpha / crossing) : width);
    s->level = fmin(fmax(guess, s->low + 0.1 * width), s->high - 0.1 * width);
    return !(width > close) || s->rounds >= 9;
}

int cr_group_step(cr_group_search *s, const cr_group_design *d, double *work, size_t room,
                  int64_t *critical)
{
    s->rounds++;
    if (d->count > 1) {
        set_level(d, exp(s->level), critical);
        const double crossing = cr_group_crossing(d->looks, d->count, d->q, critical, work, room);
        if (!try_level(s, crossing, d->alpha)) return 0;
    }
    if (s->proven) set_level(d, exp(s->low), critical);
    else spend(d, critical);
    return 1;
}

void cr_group_nest(int64_t *critical, const int64_t *of_greater_q, size_t count)
{
    for (size_t j = 0; j < count; j++)
        if (critical[j] > of_greater_q[j]) critical[j] = of_greater_q[j];
}
