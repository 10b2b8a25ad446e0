/* From the statistics of pairs to bounds, and the memory that the statistics take. */
#include "estimator/second.h"
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
