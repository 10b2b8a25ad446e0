/* The statistics of pairs from their sums, and bounds from the statistics. */
#include "bounds/hessian_sums.h"
#include "statistics/beta.h"
#include "statistics/moments.h"
#include <math.h>

/* ---- statistics */
/* The unit, or NaN if some weight is not finite or none differs from 0. */
static double find_weights(cr_hessian_sums *s)
{
    const cr_samples *samples = s->samples;
    double greatest = 0, sum = 0;
    for (size_t i = 0; i < samples->count && !cr_watch_ends(samples->watch, i); i++) {
        const double w = fabs(cr_samples_at(samples, i));
        greatest = fmax(greatest, w);
        sum += w;
    }
    if (!(sum > 0) || !isfinite(sum)) return NAN;
    int exponent;
    frexp(greatest, &exponent);
    const double unit = ldexp(1, exponent);
    for (size_t i = 0; i < samples->count && !cr_watch_ends(samples->watch, i); i++) {
        float *weight = s->replay->host.pair_weights + i;
        const double w = (double)(*weight = (float)(cr_samples_at(samples, i) / unit));
        s->weights += w;
        s->fourth += w * w * w * w;
    }
    return unit;
}

static void finish(const cr_hessian_sums *s, cr_hessian *out)
{
    const double n = (double)s->samples->count, ordered = n * (n - 1), triples = ordered * (n - 2);
    const double *sums = s->replay->host.pair_sums;
    double total = 0, rows = 0, third = 0;
    for (size_t i = 0; i < s->samples->count; i++) {
        total += sums[i];
        rows += sums[i] * sums[i];
    }
    for (size_t i = 0; i < s->samples->count; i++) {
        const double gap = sums[i] - total / n;
        third += gap * gap * gap / n;
    }
    const double squares = s->squares / s->pairs;               /* E k12^2 */
    const double shared = (rows - ordered * squares) / triples; /* E k12 k13 */
    const double disjoint =
        (total * total - 4 * rows + 2 * ordered * squares) / (triples * (n - 3)); /* |M|^4 */
    out->square = total / ordered;
    out->projection = fmax(0, shared - disjoint);
    out->energy = fmax(0, squares - 2 * shared + disjoint);
    out->degenerate = 2 * out->energy / ordered;
    out->self = s->self / n;
    /* Sums over the others have the variance (n - 1)^2 zeta + (n - 1) t2, of which U's own has 4
     * zeta/n + 2 t2/n^2. */
    const double spread = (n - 1) * (n - 1) * out->projection + (n - 1) * out->energy / 2;
    out->skewness = spread > 0 ? third / (spread * sqrt(spread)) : 0;
    out->fourth = s->fourth / n;
}

/* By the number of samples there are, which may be far below the max_samples; measured, they take
 * the same time at about a quarter. */
static int choose_way(const cr_replay *r, size_t count, int way)
{
    if (way) return way;
    return r->device.pairs.matrix && r->view->input.active <= count / 4 ? CR_HESSIAN_MATRIX
                                                                        : CR_HESSIAN_PAIRS;
}

static certreg_status check(const cr_replay *r, size_t count, int way, certreg_error *why)
{
    if (!r->device.tile)
        return cr_fail(why, CERTREG_E_INVALID,
                       "add CERTREG_CONSTRAINT_SECOND_ORDER to plan.constraints");
    if (count < 4)
        return cr_fail(why, CERTREG_E_WRONG_STATE,
                       "the second order needs at least 4 samples after the pilot; there are %zu",
                       count);
    if (way == CR_HESSIAN_MATRIX && !r->device.pairs.matrix)
        return cr_fail(why, CERTREG_E_WRONG_STATE,
                       "plan.second_order_bytes is too small for the matrix");
    return CERTREG_OK;
}

certreg_status cr_hessian_estimate(cr_replay *r, const cr_samples *samples, int way,
                                   cr_hessian *out)
{
    cr_hessian_sums s = {.replay = r, .samples = samples};
    *out = (cr_hessian){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, samples->count};
    way = choose_way(r, samples->count, way);
    certreg_status status = check(r, samples->count, way, r->why);
    if (status) return status;
    const double unit = find_weights(&s);
    if (isnan(unit)) return CERTREG_OK;
    status = cr_hessian_sums_add(&s, way);
    if (status == CERTREG_E_DEADLINE) return status;
    if (status) return cr_backend_failed(r->backend, status, "sum over pairs of samples", r->why);
    finish(&s, out);
    out->unit = unit;
    out->top = way == CR_HESSIAN_MATRIX ? cr_hessian_sums_top(&s) : NAN;
    return CERTREG_OK;
}

/* ---- bounds */
/* The most that w A scatters along one fixed direction B, |B| = 1, of its p = d (d + 1)/2
 * dimensions; B is unknown, so it is bounded
 * - by the eigenvalues of the covariance: lambda - average <= sqrt(sum (lambda_i - average)^2),
 * with the noise of its estimate;
 * - by Cauchy and Schwarz: E w^2 <A, B>^2 <= sqrt(E w^4 15), as E <A, B>^4 = 3 + 12 sum b_i^4 <= 15
 * for eigenvalues b_i of B. */
static double variance_anywhere(const cr_hessian *s, double dimension, double q)
{
    const double p = dimension * (dimension + 1) / 2, average = fmax(0, (s->self - s->square) / p);
    if (dimension < 2) return average;
    const double excess =
        fmax(0, s->energy - average * average * p) + 2 * q * s->energy / sqrt((double)s->count);
    return fmin(average + sqrt(excess), sqrt(15 * s->fourth));
}

/* Along the direction of M itself, which zeta/U knows where U is clear of its noise. */
static double variance_along(const cr_hessian *s, double dimension, double q)
{
    if (!(s->square > 2 * sqrt(s->degenerate))) return variance_anywhere(s, dimension, q);
    const double p = dimension * (dimension + 1) / 2;
    return fmax(fmax(0, (s->self - s->square) / p), s->projection / s->square);
}

static double quantile_of(const cr_hessian *s, double tail)
{
    const double n = (double)s->count;
    return cr_moments_skewed_quantile(cr_beta_student(tail, n - 1), CR_UNSEEN_SQUARE * s->skewness,
                                      n);
}

/* Solves x - U = q sqrt(4 x v/n + D2), as the bound of the gradient does. */
double cr_hessian_frobenius(const cr_hessian *s, double dimension, double tail)
{
    if (!(tail > 0) || isnan(s->square)) return INFINITY;
    const double q = quantile_of(s, tail), positive = fmax(s->square, 0);
    const double a = 4 * q * q * variance_along(s, dimension, q) / (double)s->count;
    return s->unit *
           sqrt(positive + a / 2 + sqrt(a * a / 4 + a * positive + q * q * s->degenerate));
}

/* |M| = |v'Mv| for one fixed v, though unknown, and |v'Mv| <= |v'Sv| + |v'(S - M)v| <= top + the
 * deviation of one number. Solves x^2 - top^2 = 2 q x sqrt(v/n), as above without D2; where top
 * hardly exceeds the deviation, x = top + q sqrt(v/n) misses too often. */
double cr_hessian_operator(const cr_hessian *s, double dimension, double tail)
{
    if (!(tail > 0) || isnan(s->top)) return INFINITY;
    const double q = quantile_of(s, tail),
                 deviation = q * sqrt(variance_anywhere(s, dimension, q) / (double)s->count);
    return s->unit * (hypot(s->top, deviation) + deviation);
}

double cr_hessian_less(const cr_hessian *s, double dimension, double tail)
{
    if (isnan(s->top)) return cr_hessian_frobenius(s, dimension, tail);
    return fmin(cr_hessian_frobenius(s, dimension, 0.75 * tail),
                cr_hessian_operator(s, dimension, 0.25 * tail));
}

certreg_status cr_hessian_upper(cr_replay *r, const cr_samples *samples, double tail,
                                double *second_order_hi)
{
    cr_hessian s;
    *second_order_hi = INFINITY;
    const certreg_status status = cr_hessian_estimate(r, samples, 0, &s);
    if (status) return status;
    *second_order_hi = cr_hessian_less(&s, (double)r->view->input.active, tail);
    /* The noise is that of a replay, and sqrt(sqrt(E w^4)) no less than the deviation of w. */
    if (isfinite(*second_order_hi))
        *second_order_hi +=
            cr_noise_gap_second(r->view->input.active) * s.unit * sqrt(sqrt(s.fourth));
    return CERTREG_OK;
}
