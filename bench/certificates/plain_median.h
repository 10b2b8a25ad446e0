/* plain_median.h: two peers of the library's median, computed from outputs in degrees. */
#ifndef BENCH_PLAIN_MEDIAN_H
#define BENCH_PLAIN_MEDIAN_H
#include <stddef.h>

/* Median smoothing as published (Chiang et al., 2020): order statistics of y, at alpha/2 per side,
 * bound the median at every shifted input. The radius is the largest at which they stay within the
 * tolerance of the prediction, which is the sample median of `pilot` on the circle cut opposite to
 * its circular mean. pilot may be y: then the prediction depends on the bounds, as in that paper,
 * and a radius chosen afterwards is not proved. */
double plain_median_radius(const float *pilot, size_t pilots, const float *y, size_t count,
                           double sigma);

/* An estimate of the radius that unlimited samples would give: shares of both tails in place of
 * their bounds. A tail without samples counts as half a sample. */
double point_radius(const float *y, size_t count, double prediction, double sigma);
#endif
