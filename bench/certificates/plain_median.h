/* plain_median.h: what the library's median is compared with, from outputs in degrees. */
#ifndef BENCH_PLAIN_MEDIAN_H
#define BENCH_PLAIN_MEDIAN_H
#include <stddef.h>

/* Median smoothing as it was published (Chiang et al., 2020): order statistics of y at alpha/2 a
 * side bound the median of every shifted input; the radius is the largest at which they stay within
 * the tolerance of the prediction, the sample median of `pilot` on the circle cut opposite to its
 * circular mean. pilot may be y: then the prediction is not independent of the bounds, as in that
 * paper, and a radius that is chosen afterwards is not proven. */
double plain_median_radius(const float *pilot, size_t pilots, const float *y, size_t count,
                           double sigma);

/* The radius that unlimited samples would give: shares of both tails instead of their bounds. A
 * tail that was never seen counts as half a sample. */
double point_radius(const float *y, size_t count, double prediction, double sigma);
#endif
