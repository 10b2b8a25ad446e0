/* Prediction intervals that contain the truth, also under attack (theory 12): their weights, and
 * the checks and scores that calibration and prediction share. */
#ifndef CR_CONFORMAL_CONFORMAL_H
#define CR_CONFORMAL_CONFORMAL_H
#include "certreg/interval.h"
#include "record/record.h"
#include <stdint.h>

/* ---- P(Bin(n, Phi(t + shift)) >= above) as a function of t: a distribution function with a
 * log-concave density, hence convex up to the mode and concave from there (theory 12.3). */
typedef struct cr_binomial_tail {
    double above, rank; /* rank: n + 1 - above. The parameters of a beta distribution */
    double shift;
} cr_binomial_tail;

/* The tail of n = samples; 1 <= above <= n, shift in units of sigma. */
cr_binomial_tail cr_binomial_tail_of(uint64_t samples, uint64_t above, double shift);

/* ---- Proof that a weighted sum of tails lies above another tail on all of the line, not only
 * on a grid (theory 12.3). */
enum { CR_MAJORANT_TAILS = 25, CR_MAJORANT_MAX_VIOLATIONS = 64 };

typedef struct cr_tail_majorant { /* floor + the sum of step*b, which has to be at least a */
    double floor, step[CR_MAJORANT_TAILS];
    cr_binomial_tail b[CR_MAJORANT_TAILS], a;
    int count;
} cr_tail_majorant;

typedef struct cr_violations { /* points at which it is smaller: the worst of each stretch */
    double t[CR_MAJORANT_MAX_VIOLATIONS];
    int count;
} cr_violations;

/* Returns a factor for floor and steps that makes the sum large enough, proved in spite of
 * rounding; infinite if there is none. Sets the points that need more than 1.0005. */
double cr_majorant_scale(const cr_tail_majorant *, cr_violations *);

/* ---- Weights for prediction intervals under attack (theory 12.3): a calibration point counts
 * by the number of its scores above the threshold, so that the truth is missed with probability
 * at most alpha. */
enum { CR_WEIGHTS_LEVELS = CR_MAJORANT_TAILS };

typedef struct cr_weights_setting {
    double alpha;         /* in (0, 1) */
    double shift;         /* radius/sigma >= 0 */
    uint64_t points;      /* m >= 1 */
    uint64_t calibration; /* n' >= 1 */
    uint64_t samples;     /* n >= 1 */
} cr_weights_setting;

typedef struct cr_weight_function {
    double floor;                   /* weight of a point above no level */
    double step[CR_WEIGHTS_LEVELS]; /* increase of the weight at each level; 0 beyond the last */
    uint64_t sample_rank;           /* k; 0: there are no weights */
    uint64_t min_points;            /* fewest points that have weights; 0: no number has */
} cr_weight_function;

/* Sets the levels of this number of samples, and returns their number. A point is above level l if
 * at least above[l] of its scores, which rises with l, are above the threshold. */
int cr_weights_levels(uint64_t samples, uint64_t above[CR_WEIGHTS_LEVELS]);
/* Returns the weights for a setting, without regard to any score; proved.
 * sample_rank is 0 if there are too few points. */
cr_weight_function cr_weights_choose(const cr_weights_setting *);
/* Returns min_points of the weights for a setting, for any `points`. */
uint64_t cr_weights_min_points(const cr_weights_setting *);
/* Returns the weight, without the floor, that all points above the threshold may have together;
 * negative if no threshold is high enough. */
double cr_weights_budget(const cr_weight_function *, double alpha, uint64_t points);

/* ---- Prediction intervals that contain the truth, also under attack (theory 12): checks and
 * scores that calibration and prediction share. */
/* Radii are measured in sigma. Rounding sigma*scale to float makes the noise of a feature smaller
 * by at most this fraction of it, or the input is refused. */
#define CR_CONFORMAL_DEVIATION_ROUNDING 0x1p-22

CR_STATIC_ASSERT((int)CERTREG_CALIBRATION_SCORES == (int)CR_WEIGHTS_LEVELS,
                 "a point has another number of scores than levels");

typedef struct cr_score_source { /* samples and a truth */
    cr_view *v;
    const certreg_calibration *calibration; /* as read: outputs is not 0 */
    const double *truth;
    size_t first, count; /* of the samples */
    double failed;       /* the score of a sample with an output that failed */
} cr_score_source;

/* The score of sample i of a cr_score_source, `context`. */
double cr_conformal_score(const void *context, size_t i);

/* Reads a caller's calibration, and resolves its defaults. */
certreg_status cr_conformal_read(const certreg_calibration *caller_calibration,
                                 certreg_calibration *out, certreg_error *why);
/* Fails for outputs that the model lacks or that do not suit the score, and for an invalid unit. */
certreg_status cr_conformal_check_outputs(cr_view *, const certreg_calibration *,
                                          certreg_error *why);
/* Sets *out to the samples beyond the pilot. Fails if there are none, if an output has left its
 * range, or if an earlier answer may have influenced their number. */
certreg_status cr_conformal_samples(cr_view *, const certreg_calibration *, cr_score_source *out,
                                    certreg_error *why);
/* Fails if a truth is not finite, or too far from the turn of an angle. */
certreg_status cr_conformal_check_truth(cr_view *, const certreg_calibration *, const double *truth,
                                        certreg_error *why);
/* Fails if sigma, scale or model of the present input differ from the calibration's. */
certreg_status cr_conformal_check_same(cr_view *, const certreg_calibration *, certreg_error *why);

/* Fails if radii in units of sigma would be too large for the rounded noise. */
certreg_status cr_conformal_check_noise(cr_view *, certreg_error *why);

/* A digest of a rule with its calibration; not 0. */
uint64_t cr_conformal_digest(const certreg_calibration *, const certreg_rule *);

/* ---- interval.c: the points in at least `depth` of several intervals (theory 12.5) */
/* `count` closed intervals [lo[i], hi[i]], lo[i] <= hi[i], and 1 <= depth <= count. Replaces them
 * by the pieces of the set, ascending, and returns the number of pieces. */
size_t cr_interval_depth_line(double *lo, double *hi, size_t count, size_t depth);

/* The same for arcs of one length, shorter than the period; lo has room for 2*count numbers. Pieces
 * ascend around the circle. A piece that is a period long is the whole circle. */
size_t cr_interval_depth_circle(double *lo, double *hi, size_t count, size_t depth, double period);

#endif
