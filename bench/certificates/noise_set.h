/* noise_set.h: estimates the smoothed angle T at shifted inputs, for attacks: an attack succeeds
 * when T leaves the tolerance about the certificate's prediction. T is the median of the network's
 * angle under noise, on the circle cut opposite to its circular mean. */
#ifndef BENCH_NOISE_SET_H
#define BENCH_NOISE_SET_H
#include "bench_run.h"

struct objective {
    const float *z; /* DIGITS_PIXELS numbers */
    double sigma, prediction;
    double radius; /* where the search for an attack begins */
};

/* Noise that is drawn once and used at every shift: common random numbers. */
struct noise_set {
    struct bench_run run;
    size_t rows;
    float *noise, *x, *y; /* [rows][DIGITS_PIXELS], one batch of inputs, [rows][NETWORK_COLUMNS] */
    double *angle;
};

int noise_set_open(struct context *context, size_t rows, struct noise_set *n);
void noise_set_close(struct noise_set *n);
/* Draws new noise. */
int noise_set_draw(struct noise_set *n, double sigma, enum noise_kind kind, size_t noise_id);
/* Degrees from the prediction to T at z + radius * direction, and the share of angles at least the
 * tolerance away on that side (1 or -1); either may be NULL. */
int noise_set_evaluate(struct noise_set *n, const struct objective *t, const float *direction,
                       double radius, int side, double *moved, double *share);
/* The least radius along the direction at which T is outside the tolerance, with the relative error
 * `precision`. The search starts at `guess`; infinite if T is still inside at 8 times the guess. */
int noise_set_exit_radius(struct noise_set *n, const struct objective *t, const float *direction,
                          double guess, double precision, double *radius);
/* Scales a vector of DIGITS_PIXELS numbers to length 1; zero stays zero. */
void unit_length(float *v);
#endif
