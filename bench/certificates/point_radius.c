#include "point_radius.h"

#include <math.h>

#include "statistics/normal.h"
#include "context.h"

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
