/* target.h: what an attack is after: to move the smoothed angle T out of the tolerance about the
 * certificate's prediction. T is the median of the network's angle under noise, on the circle cut
 * opposite to its circular mean. */
#ifndef BENCH_TARGET_H
#define BENCH_TARGET_H
#include "lab.h"

struct target {
    const float *z; /* DIGITS_PIXELS numbers */
    double sigma, prediction;
    double radius; /* about where the way out is looked for */
};

struct crowd { /* noise that is drawn once and then used at every shift: common random numbers */
    struct desk desk;
    size_t rows;
    float *noise, *x, *y; /* [rows][DIGITS_PIXELS], one batch of inputs, [rows][LAB_COLUMNS] */
    double *angle;
};

int crowd_open(struct lab *lab, size_t rows, struct crowd *c);
void crowd_close(struct crowd *c);
/* Draws the crowd's noise anew. */
int crowd_draw(struct crowd *c, double sigma, enum lab_kind kind, size_t stream);
/* Degrees from the prediction to T at z + radius * direction, and the share of angles at least the
 * tolerance away on that side (1 or -1); either may be NULL. */
int crowd_ask(struct crowd *c, const struct target *t, const float *direction, double radius,
              int side, double *moved, double *share);
/* The least radius along the direction at which T is out, to within `precision` of it, looked for
 * from `guess` on; infinite where it is not out at 8 guesses. */
int crowd_reach(struct crowd *c, const struct target *t, const float *direction, double guess,
                double precision, double *radius);
/* Stretches a vector of DIGITS_PIXELS numbers to length 1; zero stays. */
void unit_length(float *v);
#endif
