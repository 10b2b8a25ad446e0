#include "support/grid.h"
#include <math.h>

double grid_of(float deviation)
{
    int exponent;
    frexp((double)deviation, &exponent);
    return ldexp(1, exponent - 9);
}

void grid_draw(simulate_source *source, const float *z, const float *deviation, size_t inputs,
               double shift, float *x)
{
    for (size_t j = 0; j < inputs; j++) {
        if (deviation[j] == 0) {
            x[j] = z[j];
            continue;
        }
        const double h = grid_of(deviation[j]), part = fmod((double)z[j], h),
                     moved = part + shift + (double)deviation[j] * simulate_normal(source);
        x[j] = (float)((double)z[j] - part + h * floor(moved / h + 0.5) + 0.0);
    }
}

static double upper(double x)
{
    return 0.5 * erfc(x * 0.70710678118654752);
}

double grid_share(double ratio, double part, double lo, double hi)
{
    const double from = (lo - 0.5 - part) / ratio, to = (hi + 0.5 - part) / ratio;
    return from > 0 ? upper(from) - upper(to) : upper(-to) - upper(-from);
}
