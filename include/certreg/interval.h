/** @file interval.h
 * libcertreg: prediction intervals that contain the truth, also under attack.
 *
 * A certificate says that a prediction is stable, not that it is right. Given inputs
 * whose true outputs are known (calibration points), this header returns a set that
 * contains the true output of a new input with probability at least 1 - alpha, even if
 * an adversary has moved that input by any delta with ||D^-1 delta||_2 <= radius. It is
 * conformal risk control on noisy outputs, with weights that allow for the shift.
 * examples/interval.c is a complete program. Three steps:
 *
 *     certreg_estimator_calibrate   for each calibration point, after sampling it
 *     certreg_interval_rule         once for each alpha, radius and number of samples
 *     certreg_estimator_interval    for each new input, after sampling it
 *
 * What has to hold (theory 12.6):
 * - The calibration points and the new pair (input, truth) are exchangeable, for
 *   example drawn independently from one distribution. Shuffle data that are sorted.
 *   The model was trained on other data.
 * - sigma, scale, units, score and model depend neither on the calibration points nor
 *   on their noise. Whatever chose one of them (certreg_choose_sigma, or intervals that
 *   were compared) had other inputs, and another seed or levels of
 *   certreg_estimator_begin_level that no calibration has.
 * - Every input, of calibration or new, has noise of its own: another noise_id, or
 *   another seed. Whoever chooses delta must not know the noise of the new input. The
 *   seed in a certreg_calibration need not be secret, if new inputs are sampled with
 *   another, secret one: with plan.seed 0 their estimator draws it.
 * - No calibration point is left out because its model failed, or the points are no
 *   longer like new inputs: with CERTREG_PLAN_COUNT_FAILURES it has a large score.
 * - The probability is over calibration, new pair and noise together. It is for one new
 *   input; of Q inputs, the worst is missed with probability up to Q*alpha.
 * - The probability is for one set. If you may ask about an input again, with other
 *   noise, calibration, samples, alpha or radius, divide alpha among all sets that you
 *   might compute, and fix their numbers of samples beforehand (theory 12.7). At
 *   another number of samples of the same record the call is refused.
 *
 * All inputs have the same model, sigma and scale, and all calibration points the same
 * number of samples. The samples of a pilot are not used: set plan.pilot to SIZE_MAX to
 * use all. The rules of certreg.h for structs, threads, memory and numbers hold here as
 * well.
 */
#ifndef CERTREG_INTERVAL_H
#define CERTREG_INTERVAL_H
#ifndef CERTREG_EXPERIMENTAL
#error "experimental (certreg.h, stability): define CERTREG_EXPERIMENTAL to use it"
#endif
#include "certreg/certreg.h"
#ifdef __cplusplus
extern "C" {
#endif

/* calibration.score: how far an output is from its truth. The distance of one output is
 * |truth - output|, or the arc between them for an angle, divided by its unit. */
enum certreg_score {
    CERTREG_SCORE_NORM = 0,    /* 2-norm of the distances; of one output its distance */
    CERTREG_SCORE_LARGEST = 1, /* the largest of the distances */
    /* Two REAL outputs estimate a lower and an upper quantile of one truth: max(lower -
     * truth, truth - upper). */
    CERTREG_SCORE_QUANTILES = 2
};

/* What a calibration keeps. */
enum certreg_calibration_limit {
    CERTREG_CALIBRATION_SCORES = 25 /* kept of a point: min(samples, this) */
};

/** Scores of calibration points: plain data of the caller, who may store them. Zero
 *  everything except struct_size, capacity and scores, and what you choose. The first
 *  point fills the fields marked with *, and later points must agree. */
typedef struct certreg_calibration {
    uint32_t struct_size;
    int32_t score;        /* CERTREG_SCORE_... */
    int32_t output;       /* the first output that is scored */
    int32_t outputs;      /* how many are; 0: 1, and 2 for QUANTILES */
    const double *units;  /* outputs numbers > 0; NULL: all 1. None with QUANTILES */
    double sigma;         /* * given to begin */
    uint64_t seed;        /* * of the plan */
    uint64_t model;       /* * a digest of scale, outputs, and all fields above sigma */
    uint64_t samples;     /* * of each point, without the pilot's */
    uint64_t first_noise; /* * least noise_id of the points */
    uint64_t last_noise;  /* * greatest noise_id of the points */
    uint64_t digest;      /* * of the scores of the points, one after the other */
    uint64_t count;       /* points so far */
    uint64_t capacity;    /* points for which scores has room */
    /* min(samples, CERTREG_CALIBRATION_SCORES) numbers for each point, one point after
     * the other; infinite where too many outputs failed. */
    double *scores;
} certreg_calibration;

/** Adds the point whose samples are in the record: order statistics of their scores
 *  against its truth, whose ranks depend on the number of samples only. The record must
 *  be complete without a gap. The points' noise ids must ascend. The call is an
 *  evaluation: see "Evaluating a record again" in question.h. It computes the score of
 *  each sample up to 200 times: 0.2 ms for 101 samples of one output, 16 ms for 10,000.
 *  @param truth  outputs finite numbers, in output units; 1 with QUANTILES. That of an
 *                angle is at most a turn away from its turn
 *  @return CERTREG_OK; CERTREG_E_INVALID naming the field; CERTREG_E_MISMATCH (another
 *          seed, sigma, digest or number of samples than the points before);
 *          CERTREG_E_TOO_MANY (count is capacity); CERTREG_E_WRONG_STATE (a gap; no
 *          sample beyond the pilot; a noise id that does not ascend). Nothing is added
 *          then  @par Source theory 12 */
CERTREG_API certreg_status certreg_estimator_calibrate(
    certreg_estimator *, certreg_calibration *calibration, const double *truth);

/** What a rule is asked for. None of it may be chosen by the scores. */
typedef struct certreg_coverage {
    uint32_t struct_size;
    int32_t reserved; /* 0 */
    double alpha;     /* probability of a miss, in [1e-6, 0.5]; 0: 0.05 */
    /* The most of ||D^-1 delta||_2, >= 0; 0: no attack. delta is 0 where the scale is
     * 0. */
    double radius;
    uint64_t samples; /* of a new input, without the pilot's; up to 1e7 */
    /* A calibration that is planned; 0 where there is one. */
    double sigma;                 /* > 0 */
    uint64_t points;              /* 1 to 2^50 */
    uint64_t calibration_samples; /* of each point; up to 1e7 */
} certreg_coverage;

/** By what sets are found, and what it is for. */
typedef struct certreg_rule {
    uint32_t struct_size;
    int32_t reserved;
    double alpha, radius; /* of the coverage */
    /* The largest score within a set; infinite: too many scores of the calibration are,
     * or there was none. */
    double threshold;
    uint64_t samples;     /* of the coverage */
    uint64_t sample_rank; /* of the score that is compared with the threshold */
    /* A digest of the calibration and of the fields above, which must stay as they are;
     * 0: there was none. */
    uint64_t calibration;
    /* The least number of points for which there is a rule. 0: there is none, and the
     * error names what helps. Filled on failure too. */
    uint64_t least_points;
} certreg_rule;

/** Makes a rule by which the truth is missed with probability at most alpha. Nothing
 *  can interrupt it, so call it beforehand. It takes up to 100 ms, whatever the
 *  arguments are, and with a calibration eight passes through its scores. These are
 *  times on one core of a server, for the slowest arguments that searches of some
 *  minutes found; a refusal for too few points takes up to 1 s, as it tries what helps.
 *  @param calibration  NULL: it is planned, and the rule is for no input
 *  @param why          receives the error, or NULL
 *  @return CERTREG_OK; CERTREG_E_INVALID naming the field, also if there are too few
 *          points or samples: see out->least_points
 *  @par Threads any  @par Source theory 12.2, 12.3 */
CERTREG_API certreg_status certreg_interval_rule(
    const certreg_coverage *coverage, const certreg_calibration *calibration,
    certreg_error *why, certreg_rule *out);

/** Where the truth of one output is. */
typedef struct certreg_interval {
    uint32_t struct_size;
    int32_t output; /* index of the output */
    /* Least interval that contains all pieces. Infinite ends: nothing is known. NaN:
     * the set is empty. Of an angle an arc, which begins in the turn and may end beyond
     * it; model.lo to model.hi: the whole turn. */
    double lo, hi;
    double period;    /* a full turn of an angle; 0 for a number */
    double alpha;     /* proven probability of a miss */
    double radius;    /* of the shift, at most */
    double threshold; /* largest score within the set */
    uint64_t pieces;  /* of the set */
    uint64_t samples; /* behind it, without the pilot's */
    uint64_t failed;  /* of them; each makes the set larger */
} certreg_interval;

/** The set for the input whose samples are in the record. Of several outputs, the sets
 *  of all outputs contain their truths together with probability 1 - alpha. The call is
 *  an evaluation of the record.
 *  @param calibration  its scores are not read
 *  @param rule    for this calibration, and as many samples as are in the record,
 *                 without the pilot's
 *  @param output  calibration->output or one of the others; with QUANTILES the first
 *  @param lo, hi  receive the pieces, lo ascending, and are work space: as many numbers
 *                 each as there are samples, twice as many for an angle
 *  @param room    numbers in each
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_MISMATCH (rule or record do not
 *          fit the calibration); CERTREG_E_SMALL_MEMORY (room); CERTREG_E_WRONG_STATE
 *          (a gap; a noise id of the calibration; the number of samples was not fixed
 *          before the first evaluation of the record)  @par Source theory 12.5, 12.7 */
CERTREG_API certreg_status certreg_estimator_interval(
    certreg_estimator *, const certreg_calibration *calibration,
    const certreg_rule *rule, int32_t output, double *lo, double *hi, size_t room,
    certreg_interval *out);

/** Whether one vector is in the set for the input whose samples are in the record. The
 *  set of several outputs is smaller than the box of their intervals.
 *  @param truth   as for certreg_estimator_calibrate
 *  @param inside  1 or 0; 1 on failure
 *  @return as certreg_estimator_interval  @par Source theory 12.5 */
CERTREG_API certreg_status certreg_estimator_covers(
    certreg_estimator *, const certreg_calibration *calibration,
    const certreg_rule *rule, const double *truth, int32_t *inside);

#ifdef __cplusplus
}
#endif
#endif
