/* Noise as the theory has it (theory 0), made without the library: a feature is a multiple of a
 * grid, and each multiple has the probability that Gaussian noise around z gives to its cell. */
#ifndef SUPPORT_GRID_H
#define SUPPORT_GRID_H
#include "support/simulate.h"

/* The grid of a feature whose noise has this deviation: a power of two, of which the deviation is
 * 256 or more and less than 512. */
double grid_of(float deviation);

/* x = round_h(z + shift + deviation*e); z itself where the deviation is 0. */
void grid_draw(simulate_source *source, const float *z, const float *deviation, size_t inputs,
               double shift, float *x);

/* P(lo <= (x - z)/h <= hi) for whole numbers lo and hi, where z = `part` h and part is in [-1/2,
 * 1/2]: the cells count from 0. */
double grid_share(double ratio, double part, double lo, double hi);

#endif
