/* Prediction intervals that contain the truth, also under attack (theory 12): what calibration and
 * prediction have in common. */
#ifndef CR_INTERVALS_INTERVALS_H
#define CR_INTERVALS_INTERVALS_H
#include "certreg/interval.h"
#include "record/asked.h"
#include "statistics/weights.h"

/* Radii are measured in sigma. Rounding sigma*scale to float makes the noise of a feature smaller
 * by at most this share of it, or the input is refused. */
#define CR_INTERVALS_STEP_ROUNDING 0x1p-22

CR_STATIC_ASSERT((int)CERTREG_CALIBRATION_SCORES == (int)CR_WEIGHTS_LEVELS,
                 "a point has another number of scores than levels");

typedef struct cr_scored { /* samples and a truth */
    cr_view *v;
    const certreg_calibration *calibration; /* as read: outputs is not 0 */
    const double *truth;
    size_t first, count; /* of the samples */
    double failed;       /* the score of a sample of which an output failed */
} cr_scored;

/* Score of sample number i of them; `of` is a cr_scored. */
double cr_intervals_score(const void *of, size_t i);

/* Reads a caller's calibration, and resolves its defaults. */
certreg_status cr_intervals_read(const certreg_calibration *theirs, certreg_calibration *out,
                                 certreg_error *why);
/* Whether the model has its outputs. */
certreg_status cr_intervals_check_outputs(cr_view *, const certreg_calibration *,
                                          certreg_error *why);
/* The samples beyond the pilot: first and count. Fails where there are none, where an output has
 * left its range, or where an earlier answer may have chosen their number. */
certreg_status cr_intervals_samples(cr_view *, const certreg_calibration *, cr_scored *out,
                                    certreg_error *why);
certreg_status cr_intervals_check_truth(cr_view *, const certreg_calibration *, const double *truth,
                                        certreg_error *why);
/* Whether the present input has the sigma, scale and model of the calibration's points. */
certreg_status cr_intervals_same(cr_view *, const certreg_calibration *, certreg_error *why);
/* A digest of what makes scores comparable. */
uint64_t cr_intervals_model(cr_view *, const certreg_calibration *);

/* Whether radii in units of sigma are right. */
certreg_status cr_intervals_check_noise(cr_view *, certreg_error *why);

/* A digest of a rule with its calibration; not 0. */
uint64_t cr_intervals_digest(const certreg_calibration *, const certreg_rule *);

cr_weights_setting cr_intervals_setting(const certreg_coverage *);
/* Names what would be enough for a rule with at most so many points, each after `before` or "or";
 * an empty text: no single change is. */
void cr_intervals_advise(const certreg_coverage *, uint64_t points, const char *before,
                         char *advice, size_t room);

/* ---- interval.c: the points that lie in at least so many of several intervals (theory 12.5) */
/* `count` closed intervals [lo[i], hi[i]], lo[i] <= hi[i], and 1 <= depth <= count. The pieces of
 * the set take their place, ascending; returned is how many there are. */
size_t cr_cover_line(double *lo, double *hi, size_t count, size_t depth);

/* The same for arcs of one length, shorter than the period; lo has room for 2*count numbers. Pieces
 * ascend around the circle. A piece that is a period long is the whole circle. */
size_t cr_cover_circle(double *lo, double *hi, size_t count, size_t depth, double period);

#endif
