/* plain_median.h: what the library does not compute for comparison with its median, because it is
 * no proof: from outputs in degrees. */
#ifndef BENCH_PLAIN_MEDIAN_H
#define BENCH_PLAIN_MEDIAN_H
#include <stddef.h>

/* Median smoothing as published (Chiang et al., 2020): order statistics of y, at alpha/2 per side,
 * bound the median at every shifted input. The radius is the largest at which they stay within the
 * tolerance of the sample median of y itself, on the circle cut opposite to its circular mean. So
 * the prediction depends on the bounds, as in that paper, and a radius chosen afterwards is not
 * proved. CERTREG_METHOD_BASELINE has the pilot's median instead. */
double plain_median_radius(const float *y, size_t count, double sigma);

/* An estimate of the radius that unlimited samples would give: shares of both tails in place of
 * their bounds. A tail without samples counts as half a sample. */
double point_radius(const float *y, size_t count, double prediction, double sigma);
#endif
