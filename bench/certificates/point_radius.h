/* point_radius.h: the radius of the median if the shares of both tails were exact. */
#ifndef BENCH_POINT_RADIUS_H
#define BENCH_POINT_RADIUS_H
#include <stddef.h>

/* An estimate, from outputs in degrees, of the radius that unlimited samples would give: shares of
 * both tails in place of their bounds. A tail without samples counts as half a sample. */
double point_radius(const float *y, size_t count, double prediction, double sigma);
#endif
