/* Upper bound of ||g||, g = E[(u - c) e], by two test martingales (proved in theory 6.6).
 *
 * In units of B = max |u - c| let w = (u - c)/B in [-1, 1], E w^2 <= p and kappa = ||g||. Samples
 * come in blocks. G is the sum of w e over earlier blocks, Z_i = e_i . G/||G||, x_i = ||G|| w_i
 * clip(Z_i, -tau, tau), and tail = E (|Z| - tau)^+ bounds the loss by clipping. W_j is the number
 * of samples in blocks after the block of sample j, and W their sum. H(t) = E[phi(t |Z|); |Z| > q]
 * with phi(y) = e^y - 1 - y and P(|Z| > q) = p. The pilot fixes lambda and theta, earlier blocks
 * fix a_i >= 0, and tau keeps 1 - lambda (x_i - a_i) positive. With probability 1 - alpha
 *       lambda kappa^2 W - (1-theta)/theta sum H(s W_j)
 *           < sum [lambda a_i - log(1 - lambda (x_i - a_i)) + lambda ||G|| tail]
 *             + log(1/alpha)/theta,          s = theta lambda kappa/(1-theta).
 * The left side, as a function of kappa, rises, then falls. So if the inequality fails at the cap,
 * it fails from one point on, and that point is the bound. If it holds at the cap, the cap is the
 * bound. In low dimension ||G|| over all n samples hardly exceeds kappa n, and a simpler bound is
 * smaller: kappa <= ||G||/n + inf_s [H(s) + log(1/alpha)/n]/s. The pilot chooses one of the two.
 *
 * The noise of a replay, e, is not quite the exact xi (theory 0.3). The bound holds for the noise
 * e/(1 + CR_NOISE_EXCESS) and its kappa'; kappa <= (1 + CR_NOISE_EXCESS) kappa' + CR_NOISE_GAP sqrt
 * p.
 *
 * Rounding. Weights and chunks of CR_REPLAY_CHUNK samples are summed in float, and directions are
 * sums rounded to float: G is known up to 2^-18 sum |w| ||e||. Projections on the unit vector along
 * G are known up to 2^-16 ||e|| (256 additions in float), which moves the mean of x_i by 2^-16
 * ||G|| sqrt(p d). Both are added. */
#include "bounds/gradient_martingale.h"
#include "statistics/normal.h"
#include "record/noise_sums.h"
#include <math.h>

#define BLOCKS CR_CUMULATIVE_BLOCKS
#define LARGEST 0.8 /* limit of lambda x */
#define SUM_ERROR 0x1p-18
#define DOT_ERROR 0x1p-16
#define EVALUATION 1e-9 /* relative error of H and of sums of logarithms, and more */

typedef struct martingale {
    const cr_samples *samples;
    double reach;          /* B */
    double share, tail;    /* p and q */
    double cap, certainty; /* of kappa; log(1/alpha) */
    double theta, lambda;
    double cost;           /* right side without the last term */
    double gained, staked; /* sums of x and ||G|| over earlier blocks, for a */
    double lengths;        /* sum |w| ||e|| so far */
    double slack;          /* what rounding may hide in sum g . G, divided by the cap */
} martingale;

typedef struct block {
    size_t first, count, later; /* its first sample; their number; the number of samples after it */
    double norm;                /* ||G|| */
    double limit, expected;     /* tau, and a */
} block;

/* ---- the function H */
/* E[|Z|^k; |Z| > q], k = 2, 3, 4 */
static double tail_moment(int k, double q)
{
    const double pdf = cr_normal_pdf(q), sf = cr_normal_sf(q), square = q * q;
    return k == 2   ? 2 * (q * pdf + sf)
           : k == 3 ? 2 * (square + 2) * pdf
                    : 2 * ((square + 3) * q * pdf + 3 * sf);
}

static double phi_above(double t, double share, double q)
{
    if (t < 0x1p-5) { /* the next term is below E|Z|^5 e^(|Z|/32)/120 < 7/120 */
        const double series =
            tail_moment(2, q) / 2 +
            t * (tail_moment(3, q) / 6 + t * (tail_moment(4, q) / 24 + t * (7.0 / 120)));
        return t * t * series * (1 + EVALUATION);
    }
    if (t > 20) return INFINITY;
    const double grown = 2 * exp(t * t / 2) * cr_normal_sf(q - t);
    return grown - share - 2 * t * cr_normal_pdf(q) + EVALUATION * grown * t * t;
}

static double tail_of(double share)
{
    return share < 1 ? cr_normal_quantile_sf(share / 2) : 0;
}

static double excess(double tau)
{
    return fmax(0, 2 * (cr_normal_pdf(tau) - tau * cr_normal_sf(tau)));
}

/* ---- block by block */
static block block_of(const cr_samples *s, size_t b)
{
    const size_t start = cr_block_begin(s->count, BLOCKS, b),
                 end = cr_block_begin(s->count, BLOCKS, b + 1);
    return (block){.first = start, .count = end - start, .later = s->count - end};
}

static double weight_at(const cr_samples *s, double reach, size_t i)
{
    return cr_samples_at(s, i) / reach;
}

/* Returns 1 if a score is outside its range. */
static int breaks_range(const martingale *g)
{
    for (size_t i = 0; cr_samples_has(g->samples, i); i++)
        if (!(fabs(weight_at(g->samples, g->reach, i)) <= 1)) return 1;
    return 0;
}

/* Sets ||G||, tau and a of a block. length: norm of the sum over earlier blocks, in the unit of the
 * score. All noise is divided by 1 + CR_NOISE_EXCESS. */
static void set_direction(const martingale *g, double length, block *k)
{
    k->norm = length / g->reach / (1 + CR_NOISE_EXCESS);
    if (!(k->norm > 0)) return;
    k->limit = g->lambda > 0 ? fmin(8, LARGEST / (g->lambda * k->norm)) : 8;
    k->expected = g->staked > 0 ? fmax(0, g->gained / g->staked) * k->norm : 0;
}

/* Adds the bets of a block on the direction of earlier blocks. */
static void add_block(const cr_replay *r, const cr_sweep_function *found, martingale *g,
                      const block *k)
{
    const double blur = DOT_ERROR * sqrt(g->share * (double)r->view->input.active);
    const double *dots = found->dots + k->first,
                 *norms = cr_noise_sums_squared_norms(r, found) + k->first;
    g->slack += (double)k->count * SUM_ERROR * g->lengths;
    for (size_t i = 0; i < k->count; i++) {
        const double w = weight_at(g->samples, g->reach, k->first + i);
        g->lengths += (fabs(w) + 0x1p-100) * sqrt(norms[i]);
        if (!(k->norm > 0)) continue;
        const double z = dots[i] / (1 + CR_NOISE_EXCESS),
                     x = k->norm * w * fmin(fmax(z, -k->limit), k->limit);
        g->cost += g->lambda * k->expected - log1p(-g->lambda * (x - k->expected));
        g->gained += x;
    }
    if (k->norm > 0) g->cost += g->lambda * (double)k->count * k->norm * (excess(k->limit) + blur);
    g->staked += (double)k->count * k->norm;
}

/* Adds all blocks, from one replay, since no bet changes a weight. *length: norm of the sum over
 * all samples, in units of B. *broken: 1 if a score is outside its range. */
static certreg_status add_blocks(cr_replay *r, martingale *g, int *broken, double *length)
{
    const cr_sweep_function *found;
    if ((*broken = breaks_range(g))) return CERTREG_OK;
    const certreg_status status =
        cr_noise_sums_get(r, g->samples, CR_SUMS_CUMULATIVE, BLOCKS, &found);
    for (size_t b = 0; b < BLOCKS && !status; b++) {
        block k = block_of(g->samples, b);
        set_direction(g, found->norms[b], &k);
        add_block(r, found, g, &k);
    }
    if (!status) *length = found->norms[BLOCKS] / g->reach;
    return status;
}

/* ---- decisions of the pilot */
static cr_samples pilot_of(cr_view *v, const cr_samples *s)
{
    cr_samples pilot = *s;
    pilot.first = cr_view_first_noisy(v);
    pilot.count = s->first > pilot.first ? s->first - pilot.first : 0;
    return pilot;
}

/* Estimates E w^2 from the pilot and one unseen sample with w^2 = 1/4. */
static double pilot_second(const cr_samples *pilot, double reach)
{
    double sum = 0.25, count = 1;
    for (size_t i = 0; cr_samples_has(pilot, i); i++) {
        const double w = weight_at(pilot, reach, i);
        if (!(fabs(w) <= 1)) continue;
        sum += w * w;
        count += 1;
    }
    return fmin(1, sum / count);
}

/* Estimates kappa^2 from the pilot by its mean gain, without bets. NAN: unknown. */
static certreg_status pilot_square(cr_replay *r, const cr_samples *pilot, double reach,
                                   double *square)
{
    *square = NAN;
    if (pilot->count < BLOCKS) return CERTREG_OK;
    martingale idle = {.samples = pilot, .reach = reach, .share = 1};
    int broken = 0;
    double length;
    const certreg_status status = add_blocks(r, &idle, &broken, &length);
    if (status || broken) return status;
    const double n = (double)pilot->count;
    *square = 2 * idle.gained / (n * n);
    return CERTREG_OK;
}

/* Returns the kappa that the stakes are best for: half of the greatest possible one, or another
 * value if the pilot is certain of it. */
static double staked_kappa(double square, double second, double dimension, double pilot)
{
    const double usual = 0.25 * second, doubt = second * sqrt(2 * dimension) / pilot;
    if (isnan(square)) return sqrt(usual);
    const double least = fmax(square + doubt, 0.01 * second),
                 most = fmin(square - doubt, 0.5 * second);
    return sqrt(fmax(fmin(least, usual), most));
}

typedef struct forecast { /* Gaussian approximation of the two martingales */
    double own, other;    /* standard deviations: of the sum of x; of Y */
    double pairs;         /* W */
    double largest;       /* ||G|| of the last block */
} forecast;

static forecast foresee(const cr_samples *s, double second, double kappa, double dimension)
{
    const double worst = tail_moment(2, tail_of(second));
    forecast f = {.pairs = 0};
    for (size_t b = 0; b < BLOCKS; b++) {
        const block k = block_of(s, b);
        const double before = (double)k.first, later = (double)k.later, count = (double)k.count;
        const double square = before * before * kappa * kappa + before * second * dimension;
        f.own += 2 * count * second * square; /* 2: |w| and |Z| are often large together */
        f.other += count * later * later * worst;
        f.pairs += count * later;
        f.largest = sqrt(square);
    }
    f.own = sqrt(f.own);
    f.other = sqrt(f.other);
    return f;
}

typedef struct promise { /* the two bounds to expect at a given kappa */
    forecast f;
    double by_blocks, by_norm, loss;
} promise;

static promise promise_of(const martingale *g, double second, double kappa, double dimension)
{
    const double n = (double)g->samples->count, loss = sqrt(2 * g->certainty);
    const forecast f = foresee(g->samples, second, kappa, dimension);
    const double linear = loss * f.other / f.pairs, square = kappa * kappa + loss * f.own / f.pairs;
    return (promise){.f = f,
                     .by_blocks = (linear + sqrt(linear * linear + 4 * square)) / 2,
                     .by_norm = sqrt(kappa * kappa + dimension * second / n) +
                                loss * sqrt(tail_moment(2, tail_of(second)) / n),
                     .loss = loss};
}

/* Sets theta and lambda to the best values for the forecast, and *by_norm if the bound by the norm
 * is expected to be smaller. A greater lambda would clip too much of x. */
static certreg_status decide(cr_replay *r, martingale *g, int *by_norm)
{
    const cr_samples pilot = pilot_of(r->view, g->samples);
    const double second = pilot_second(&pilot, g->reach), dimension = (double)r->view->input.active;
    double square;
    const certreg_status status = pilot_square(r, &pilot, g->reach, &square);
    if (status) return status;
    const double kappa = staked_kappa(square, second, dimension, (double)pilot.count);
    const promise p = promise_of(g, second, kappa, dimension);
    g->theta = p.f.own / (p.f.own + p.by_blocks * p.f.other);
    g->lambda = fmin(p.loss * sqrt(g->theta) / p.f.own, LARGEST / (2.5 * p.f.largest));
    *by_norm = p.by_norm < p.by_blocks;
    return CERTREG_OK;
}

/* ---- the two bounds */
/* Returns 1 if the bets refute this kappa, in units of B. */
static int contradicts(const martingale *g, double kappa)
{
    const double s = g->theta * g->lambda * kappa / (1 - g->theta);
    double worst = 0, pairs = 0;
    for (size_t b = 0; b < BLOCKS; b++) {
        const block k = block_of(g->samples, b);
        worst += (double)k.count * phi_above(s * (double)k.later, g->share, g->tail);
        pairs += (double)k.count * (double)k.later;
    }
    const double gain = g->lambda * kappa * (kappa * pairs) - (1 - g->theta) / g->theta * worst;
    const double price = fmax(0, g->cost) + g->lambda * g->cap * g->slack + g->certainty / g->theta;
    return gain * (1 - EVALUATION) >= price * (1 + EVALUATION);
}

static double solve_blocks(const martingale *g)
{
    double low = 0, high = g->cap;
    if (!contradicts(g, high)) return high;
    for (int i = 0; i < 40; i++) {
        const double middle = 0.5 * (low + high);
        if (contradicts(g, middle)) high = middle;
        else low = middle;
    }
    return high;
}

static double bound_by_norm(const martingale *g, double norm)
{
    const double n = (double)g->samples->count,
                 best = sqrt(2 * g->certainty / (n * tail_moment(2, g->tail)));
    double least = INFINITY;
    for (int i = -12; i <= 4; i++) {
        const double s = best * exp2(0.25 * i);
        least = fmin(least, (phi_above(s, g->share, g->tail) + g->certainty / n) / s);
    }
    return (norm / (1 + CR_NOISE_EXCESS) + SUM_ERROR * g->lengths) / n + least * (1 + EVALUATION);
}

/* Sets up a martingale for the job, and *upper to the bound that is known without it. Non-zero:
 * there can be no martingale. */
static int begin(const cr_martingale_job *job, martingale *g, double *upper)
{
    const cr_samples *s = &job->samples;
    *g = (martingale){.samples = s};
    g->reach = nextafter(fmax(job->range_hi - s->center, s->center - job->range_lo), INFINITY);
    *upper = fmin(fmin(job->cap, g->reach), sqrt(fmax(0, job->second_hi)) * (1 + EVALUATION));
    if (!(isfinite(g->reach) && g->reach > 0) || s->count < BLOCKS ||
        !(job->alpha > 0 && job->alpha < 1))
        return 1;
    g->share = fmin(1, job->second_hi / g->reach / g->reach * (1 + EVALUATION));
    g->tail = tail_of(g->share);
    g->cap = *upper / g->reach;
    g->certainty = -log(job->alpha);
    return !(g->share > 0 && g->cap > 0);
}

/* Converts a bound for the noise e/(1 + CR_NOISE_EXCESS) to a bound for the exact noise. */
static double from_replay(const martingale *g, double kappa)
{
    return (1 + CR_NOISE_EXCESS) * kappa + CR_NOISE_GAP * sqrt(g->share);
}

int cr_gradient_martingale_prefetch(cr_replay *r, const cr_samples *samples)
{
    const cr_samples pilot = pilot_of(r->view, samples);
    if (samples->count < BLOCKS) return 1;
    return cr_noise_sums_request(r, samples, CR_SUMS_CUMULATIVE, BLOCKS) &&
           (pilot.count < BLOCKS || cr_noise_sums_request(r, &pilot, CR_SUMS_CUMULATIVE, BLOCKS));
}

certreg_status cr_martingale_upper(cr_replay *r, const cr_martingale_job *job, double *upper)
{
    martingale g;
    if (begin(job, &g, upper)) return CERTREG_OK;
    int by_norm = 0, broken = 0;
    double length;
    certreg_status status = decide(r, &g, &by_norm);
    if (!status) status = add_blocks(r, &g, &broken, &length);
    if (status || broken) return status;
    const double kappa = by_norm ? bound_by_norm(&g, length) : solve_blocks(&g);
    *upper = fmin(*upper, from_replay(&g, kappa) * g.reach * (1 + EVALUATION));
    return CERTREG_OK;
}
