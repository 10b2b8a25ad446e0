/* The statistics of pairs from their sums, bounds from the statistics, and the memory that they take. */
#include "estimator/second_sums.h"
#include "base/binomial.h"
#include "estimator/moments.h"
#include <math.h>

#define LEAST_ROWS 16u
#define MATRIX_ROWS 128u /* the least beside the matrix, where squares of products are known from within tiles only */
#define USUAL_LIMIT ((size_t)256 << 20)

/* ---- memory ----------------------------------------------------------------------------------------------------------------------- */
static double bytes_without_matrix(double inputs, double capacity, double tile)
{
    return 4 * (inputs + 2 * tile * inputs + tile * tile) + 12 * capacity + 8 * CR_ALIGN;
}

/* In doubles: no size is so large that it would wrap round. */
cr_second_shape cr_second_choose(size_t inputs, size_t active, size_t capacity, size_t limit)
{
    const double most = (double)(limit ? limit : USUAL_LIMIT), d = (double)active, n = (double)capacity;
    const double matrix = 4 * (d * d + CR_SECOND_EIGEN_ROOM * d);
    cr_second_shape shape = {CR_SECOND_MOST_ROWS, 0, 0};
    while (shape.tile > LEAST_ROWS && shape.tile / 2 >= capacity) shape.tile /= 2;
    double rest = bytes_without_matrix((double)inputs, n, (double)shape.tile);
    /* Beyond a quarter of the samples the matrix is more work than the pairs, and the bound of no use either way. */
    const double least = fmin(MATRIX_ROWS, (double)shape.tile);
    shape.matrix = d <= n / 4 && matrix + bytes_without_matrix((double)inputs, n, least) <= most;
    while (shape.tile > LEAST_ROWS && rest + (shape.matrix ? matrix : 0) > most)
        rest = bytes_without_matrix((double)inputs, n, (double)(shape.tile /= 2));
    const double bytes = rest + (shape.matrix ? matrix : 0);
    if (bytes > most || inputs > INT32_MAX) shape.tile = 0; /* BLAS counts in int */
    shape.bytes = bytes < (double)SIZE_MAX / 4 ? (size_t)bytes : SIZE_MAX;
    return shape;
}

/* ---- statistics ------------------------------------------------------------------------------------------------------------------------ */
static double weight_of(const cr_second_sums *s, size_t at)
{
    return cr_score_value(s->job->score, cr_record_value(s->e, s->job->first + at, s->job->output)) - s->job->centre;
}

/* The unit, or NaN if some weight is not finite or none differs from 0. */
static double find_weights(cr_second_sums *s)
{
    double greatest = 0, sum = 0;
    for (size_t i = 0; i < s->job->count && !cr_watch_ends(s->e->at.watch, i); i++) {
        const double w = fabs(weight_of(s, i));
        greatest = fmax(greatest, w);
        sum += w;
    }
    if (!(sum > 0) || !isfinite(sum)) return NAN;
    int exponent;
    frexp(greatest, &exponent);
    const double unit = ldexp(1, exponent);
    for (size_t i = 0; i < s->job->count && !cr_watch_ends(s->e->at.watch, i); i++) {
        const double w = (double)(s->room->weights[i] = (float)(weight_of(s, i) / unit));
        s->weights += w;
        s->fourth += w * w * w * w;
    }
    return unit;
}

static void finish(const cr_second_sums *s, cr_second *out)
{
    const double n = (double)s->job->count, ordered = n * (n - 1), triples = ordered * (n - 2);
    double total = 0, rows = 0, third = 0;
    for (size_t i = 0; i < s->job->count; i++) {
        total += s->room->sums[i];
        rows += s->room->sums[i] * s->room->sums[i];
    }
    for (size_t i = 0; i < s->job->count; i++) {
        const double gap = s->room->sums[i] - total / n;
        third += gap * gap * gap / n;
    }
    const double squares = s->squares / s->pairs;                                                       /* E k12^2 */
    const double shared = (rows - ordered * squares) / triples;                                         /* E k12 k13 */
    const double disjoint = (total * total - 4 * rows + 2 * ordered * squares) / (triples * (n - 3)); /* |M|^4 */
    out->square = total / ordered;
    out->projection = fmax(0, shared - disjoint);
    out->energy = fmax(0, squares - 2 * shared + disjoint);
    out->degenerate = 2 * out->energy / ordered;
    out->self = s->self / n;
    /* Sums over the others have the variance (n - 1)^2 zeta + (n - 1) t2, of which U's own has 4 zeta/n + 2 t2/n^2. */
    const double spread = (n - 1) * (n - 1) * out->projection + (n - 1) * out->energy / 2;
    out->skewness = spread > 0 ? third / (spread * sqrt(spread)) : 0;
    out->fourth = s->fourth / n;
}

/* By the number of samples there are, which may be far below the capacity; measured, they take the same time at about a quarter. */
static int choose_way(const cr_second_sums *s, int way)
{
    if (way) return way;
    return s->room->matrix && s->d <= s->job->count / 4 ? CR_SECOND_MATRIX : CR_SECOND_PAIRS;
}

certreg_status cr_second_estimate(certreg_estimator *e, const cr_second_job *job, int way, cr_second *out)
{
    cr_second_sums s = {.e = e, .job = job, .room = &e->at.second, .d = e->active};
    *out = (cr_second){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, job->count};
    if (!s.room->tile) return cr_fail(&e->error, CERTREG_INVALID, "plan.facts left out the second order");
    if (job->count < 4) return cr_fail(&e->error, CERTREG_WRONG_STATE, "%zu samples beside the pilot do not bound the second order", job->count);
    way = choose_way(&s, way);
    if (way == CR_SECOND_MATRIX && !s.room->matrix)
        return cr_fail(&e->error, CERTREG_WRONG_STATE, "plan.second_order_bytes has no room for the matrix");
    const double unit = find_weights(&s);
    if (isnan(unit)) return CERTREG_OK;
    const certreg_status status = cr_estimator_on_device(e) ? cr_second_on_device(&s, way) : cr_second_by_blas(&s, way);
    if (status) return status;
    finish(&s, out);
    out->unit = unit;
    out->top = way == CR_SECOND_MATRIX ? cr_second_top(&s) : NAN;
    return CERTREG_OK;
}

/* ---- bounds ----------------------------------------------------------------------------------------------------------------------- */
/* The most that w A scatters along one fixed direction B, |B| = 1, of its p = d (d + 1)/2 dimensions; B is unknown, so it is bounded
 * - by the eigenvalues of the covariance: lambda - average <= sqrt(sum (lambda_i - average)^2), with the noise of its estimate;
 * - by Cauchy and Schwarz: E w^2 <A, B>^2 <= sqrt(E w^4 15), as E <A, B>^4 = 3 + 12 sum b_i^4 <= 15 for eigenvalues b_i of B. */
static double variance_anywhere(const cr_second *s, double dimension, double q)
{
    const double p = dimension * (dimension + 1) / 2, average = fmax(0, (s->self - s->square) / p);
    if (dimension < 2) return average;
    const double excess = fmax(0, s->energy - average * average * p) + 2 * q * s->energy / sqrt((double)s->count);
    return fmin(average + sqrt(excess), sqrt(15 * s->fourth));
}

/* Along the direction of M itself, which zeta/U knows where U is clear of its noise. */
static double variance_along(const cr_second *s, double dimension, double q)
{
    if (!(s->square > 2 * sqrt(s->degenerate))) return variance_anywhere(s, dimension, q);
    const double p = dimension * (dimension + 1) / 2;
    return fmax(fmax(0, (s->self - s->square) / p), s->projection / s->square);
}

static double quantile_of(const cr_second *s, double tail)
{
    const double n = (double)s->count;
    return cr_moments_skewed_quantile(cr_student_quantile_sf(tail, n - 1), CR_UNSEEN_SQUARE * s->skewness, n);
}

/* Solves x - U = q sqrt(4 x v/n + D2), as the bound of the gradient does. */
double cr_second_frobenius(const cr_second *s, double dimension, double tail)
{
    if (!(tail > 0) || isnan(s->square)) return INFINITY;
    const double q = quantile_of(s, tail), positive = fmax(s->square, 0);
    const double a = 4 * q * q * variance_along(s, dimension, q) / (double)s->count;
    return s->unit * sqrt(positive + a / 2 + sqrt(a * a / 4 + a * positive + q * q * s->degenerate));
}

/* |M| = |v'Mv| for one fixed v, though unknown, and |v'Mv| <= |v'Sv| + |v'(S - M)v| <= top + the deviation of one number. Solves
 * x^2 - top^2 = 2 q x sqrt(v/n), as above without D2; where top hardly exceeds the deviation, x = top + q sqrt(v/n) misses too often. */
double cr_second_operator(const cr_second *s, double dimension, double tail)
{
    if (!(tail > 0) || isnan(s->top)) return INFINITY;
    const double q = quantile_of(s, tail), deviation = q * sqrt(variance_anywhere(s, dimension, q) / (double)s->count);
    return s->unit * (hypot(s->top, deviation) + deviation);
}

double cr_second_less(const cr_second *s, double dimension, double tail)
{
    if (isnan(s->top)) return cr_second_frobenius(s, dimension, tail);
    return fmin(cr_second_frobenius(s, dimension, 0.75 * tail), cr_second_operator(s, dimension, 0.25 * tail));
}

certreg_status cr_second_upper(certreg_estimator *e, const cr_second_job *job, double tail, double *second_order_hi)
{
    cr_second s;
    *second_order_hi = INFINITY;
    const certreg_status status = cr_second_estimate(e, job, 0, &s);
    if (status) return status;
    *second_order_hi = cr_second_less(&s, (double)e->active, tail);
    return CERTREG_OK;
}
