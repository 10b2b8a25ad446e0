#include "plain_median.h"

#include <math.h>
#include <stdlib.h>

#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "context.h"

static const double pi = 3.14159265358979323846;

static double circular_mean(const float *y, size_t count)
{
    double cosines = 0.0, sines = 0.0;
    for (size_t i = 0; i < count; i++) {
        cosines += cos((double)y[i] * pi / 180.0);
        sines += sin((double)y[i] * pi / 180.0);
    }
    return atan2(sines, cosines) * 180.0 / pi;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Degrees from the origin, ascending; NULL without memory. */
static double *sorted(const float *y, size_t count, double origin)
{
    double *t = malloc(count * sizeof *t);
    for (size_t i = 0; t != NULL && i < count; i++) t[i] = degrees_between(origin, (double)y[i]);
    if (t != NULL) qsort(t, count, sizeof *t, ascending);
    return t;
}

/* At radius R the lower end is y_(k), where k is the largest number such that
 * Binomial(count, Phi(-R/sigma)) is below k with probability at most alpha/2. It lies within the
 * tolerance iff k exceeds the number of outputs beyond the tolerance on that side. So the largest R
 * is where Phi(-R/sigma) is the upper binomial bound of that number. */
double plain_median_radius(const float *y, size_t count, double sigma)
{
    double *t = count > 0 ? sorted(y, count, circular_mean(y, count)) : NULL;
    size_t below = 0, above = 0;
    if (t == NULL) return 0.0;
    const double middle = 0.5 * (t[(count - 1) / 2] + t[count / 2]);
    for (size_t i = 0; i < count; i++) {
        below += t[i] <= middle - bench_tolerance;
        above += t[i] >= middle + bench_tolerance;
    }
    free(t);
    const double miss = cr_binomial_upper(below > above ? below : above, count, 0.5 * bench_alpha);
    return miss < 0.5 ? sigma * cr_normal_quantile_sf(miss) : 0.0;
}

double point_radius(const float *y, size_t count, double prediction, double sigma)
{
    double below = 0.0, above = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double t = degrees_between(prediction, (double)y[i]);
        below += t <= -bench_tolerance;
        above += t >= bench_tolerance;
    }
    const double share = fmax(0.5, fmax(below, above)) / (double)count;
    return share < 0.5 ? sigma * cr_normal_quantile_sf(share) : 0.0;
}
