/* Prediction intervals that contain the truth, also under attack (theory 12): checks and scores
 * that calibration and prediction share. */
#ifndef CR_CONFORMAL_CONFORMAL_H
#define CR_CONFORMAL_CONFORMAL_H
#include "certreg/interval.h"
#include "record/query_log.h"
#include "conformal/weight_function.h"

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
/* A digest of what makes scores comparable. */
uint64_t cr_conformal_model_digest(cr_view *, const certreg_calibration *);

/* Fails if radii in units of sigma would be too large for the rounded noise. */
certreg_status cr_conformal_check_noise(cr_view *, certreg_error *why);

/* A digest of a rule with its calibration; not 0. */
uint64_t cr_conformal_digest(const certreg_calibration *, const certreg_rule *);

/* The setting of the weights, with a shift that covers the rounding of noise. */
cr_weights_setting cr_conformal_setting(const certreg_coverage *);
/* Writes changes that each make a rule possible with at most `points` points: `prefix`, then the
 * changes with ", or " between them. Empty if no single change is enough. */
void cr_conformal_advise(const certreg_coverage *, uint64_t points, const char *prefix,
                         char *advice, size_t capacity);

/* ---- interval.c: the points in at least `depth` of several intervals (theory 12.5) */
/* `count` closed intervals [lo[i], hi[i]], lo[i] <= hi[i], and 1 <= depth <= count. Replaces them
 * by the pieces of the set, ascending, and returns the number of pieces. */
size_t cr_interval_depth_line(double *lo, double *hi, size_t count, size_t depth);

/* The same for arcs of one length, shorter than the period; lo has room for 2*count numbers. Pieces
 * ascend around the circle. A piece that is a period long is the whole circle. */
size_t cr_interval_depth_circle(double *lo, double *hi, size_t count, size_t depth, double period);

#endif
