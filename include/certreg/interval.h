/** @file interval.h
 * libcertreg: prediction intervals that contain the truth, also under attack.
 *
 * A certificate is about stability, not accuracy. From inputs with known true outputs
 * (calibration points), this header computes a set that contains the true output of a
 * new input with probability at least 1 - alpha, even if an adversary has moved that
 * input by any delta with ||D^-1 delta||_2 <= radius. The method is conformal risk
 * control on noisy outputs, with weights that allow for the shift. examples/interval.c
 * is a complete program. Three steps:
 *
 *     certreg_estimator_calibrate   for each calibration point, after sampling it
 *     certreg_interval_rule         once for each alpha, radius and number of samples
 *     certreg_estimator_interval    for each new input, after sampling it
 *
 * Conditions (theory 12.6):
 * - The calibration points and the new pair (input, truth) are exchangeable, for
 *   example drawn independently from one distribution. Shuffle sorted data. The model
 *   was trained on different data.
 * - sigma, scale, units, score and model depend neither on the calibration points nor
 *   on their noise. Choose them (by certreg_choose_sigma, or by comparing intervals)
 *   with other inputs, and with another seed or levels of certreg_estimator_begin_level
 *   that no calibration has.
 * - Every input, calibration point or new, has its own noise: another noise_id, or
 *   another seed. An adversary who chooses delta must not know the noise of the new
 *   input. The seed in a certreg_calibration need not be secret, if new inputs are
 *   sampled with another, secret seed: with plan.seed 0 their estimator draws one.
 * - Keep every calibration point, even if its model failed; otherwise the points are no
 *   longer like new inputs. With CERTREG_PLAN_COUNT_FAILURES it gets a large score.
 * - The probability is over calibration, new pair and noise together. It is for one new
 *   input; the worst of Q inputs is missed with probability up to Q*alpha.
 * - The probability is for one set. If you may repeat an input, with different noise,
 *   calibration, samples, alpha or radius, divide alpha among all sets that you might
 *   compute, and fix their numbers of samples beforehand (theory 12.7). A call at a
 *   different number of samples of the same record is refused.
 *
 * All inputs have the same model, sigma and scale, and all calibration points the same
 * number of samples. The samples of a pilot are not used: set plan.pilot to SIZE_MAX to
 * use all.
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

/* calibration.score: distance between outputs and truth. The distance of one output is
 * |truth - output|, or the arc between them for an angle, divided by its unit. */
enum certreg_score {
    CERTREG_SCORE_NORM = 0,    /* 2-norm of the distances; the distance of one output */
    CERTREG_SCORE_LARGEST = 1, /* the largest of the distances */
    /* Two REAL outputs estimate a lower and an upper quantile of one truth: max(lower -
     * truth, truth - upper). */
    CERTREG_SCORE_QUANTILES = 2
};

/* Size of a calibration. */
enum certreg_calibration_limit {
    CERTREG_CALIBRATION_SCORES = 25 /* scores kept of a point: min(samples, this) */
};

/** Scores of calibration points: plain data of the caller, who may store them. Set
 *  struct_size, capacity, scores and the fields that you choose; zero the remaining
 *  ones. The first point fills the fields marked with *; later points must agree. */
typedef struct certreg_calibration {
    uint32_t struct_size;
    int32_t score;        /* CERTREG_SCORE_... */
    int32_t output;       /* the first output that is scored */
    int32_t outputs;      /* number of scored outputs; 0: 1, and 2 for QUANTILES */
    const double *units;  /* outputs numbers > 0; NULL: all 1. None with QUANTILES */
    double sigma;         /* * given to begin */
    uint64_t seed;        /* * of the plan */
    uint64_t model;       /* * a digest of scale, outputs, and all fields above sigma */
    uint64_t samples;     /* * number for each point, without the pilot */
    uint64_t first_noise; /* * smallest noise_id of the points */
    uint64_t last_noise;  /* * largest noise_id of the points */
    uint64_t digest;      /* * of the scores of the points, in their order */
    uint64_t count;       /* points so far */
    uint64_t capacity;    /* points for which scores has room */
    /* min(samples, CERTREG_CALIBRATION_SCORES) numbers for each point, point by point;
     * infinite if too many outputs failed. */
    double *scores;
} certreg_calibration;

/** Adds the point with the current record: order statistics of the scores of its
 *  samples against its truth, at ranks that depend on the number of samples only. The
 *  record must be complete without a gap. The points' noise ids must ascend. The call
 *  is an evaluation: see "Evaluating a record again" in question.h. It computes the
 *  score of each sample up to 200 times: 0.2 ms for 101 samples of one output, 16 ms
 *  for 10,000.
 *  @param calibration  receives the point
 *  @param truth        outputs finite numbers, in output units; 1 with QUANTILES. The
 *                      truth of an angle is at most a turn away from its turn
 *  @return CERTREG_OK; CERTREG_E_INVALID naming the field; CERTREG_E_MISMATCH (another
 *          seed, sigma, digest or number of samples than the points before);
 *          CERTREG_E_TOO_MANY (count is capacity); CERTREG_E_WRONG_STATE (a gap; no
 *          sample beyond the pilot; a noise id that does not ascend). A failure adds
 *          nothing  @par Source theory 12.1 */
CERTREG_API certreg_status certreg_estimator_calibrate(
    certreg_estimator *, certreg_calibration *calibration, const double *truth);

/** The guarantee of a rule. The scores must not influence any of these fields. */
typedef struct certreg_coverage {
    uint32_t struct_size;
    int32_t reserved; /* 0 */
    double alpha;     /* probability of a miss, in [1e-6, 0.5]; 0: 0.05 */
    /* Maximum of ||D^-1 delta||_2, >= 0; 0: no attack. delta is 0 in features of scale
     * 0. */
    double radius;
    uint64_t samples; /* number for a new input, without the pilot; up to 1e7 */
    /* A planned calibration; 0 if there is a calibration already. */
    double sigma;                 /* > 0 */
    uint64_t points;              /* 1 to 2^50 */
    uint64_t calibration_samples; /* number for each point; up to 1e7 */
} certreg_coverage;

/** The threshold rule for prediction sets, and the settings for which it is valid. */
typedef struct certreg_rule {
    uint32_t struct_size;
    int32_t reserved;
    double alpha, radius; /* as in the coverage */
    /* The largest score within a set. Infinite: too many scores of the calibration are
     * infinite, or there was no calibration. */
    double threshold;
    uint64_t samples;     /* as in the coverage */
    uint64_t sample_rank; /* rank of the score that is compared with the threshold */
    /* A digest of the calibration and of the fields above, which must not change; 0:
     * there was no calibration. */
    uint64_t calibration;
    /* The smallest number of points for which there is a rule. 0: no number is enough,
     * and the error names the remedy. Filled after a failure too. */
    uint64_t least_points;
} certreg_rule;

/** Makes a rule that misses the truth with probability at most alpha. Nothing can
 *  interrupt the call, so make it beforehand. It takes up to 100 ms for any arguments,
 *  and with a calibration eight passes through its scores; a refusal for too few points
 *  takes up to 1 s, because it searches for a remedy. These are times on one core of a
 *  server, for the slowest arguments that searches of some minutes found.
 *  @param calibration  NULL: for planning; the rule then serves no input
 *  @return CERTREG_OK; CERTREG_E_INVALID naming the field, also if there are too few
 *          points or samples: see out->least_points; CERTREG_E_PLATFORM
 *  @par Source theory 12.2, 12.3 */
CERTREG_API certreg_status certreg_interval_rule(
    const certreg_coverage *coverage, const certreg_calibration *calibration,
    certreg_error *why, certreg_rule *out);

/** A prediction interval for one output. */
typedef struct certreg_interval {
    uint32_t struct_size;
    int32_t output; /* index of the output */
    /* Smallest interval that contains all pieces. Infinite: nothing is known. NaN: the
     * set is empty. For an angle it is an arc, which begins in the turn and may end
     * beyond it; model.lo to model.hi: the whole turn. */
    double lo, hi;
    double period;    /* a full turn of an angle; 0 for a number */
    double alpha;     /* proven probability of a miss */
    double radius;    /* maximum norm of the shift */
    double threshold; /* largest score within the set */
    uint64_t pieces;  /* number of intervals in the set */
    uint64_t samples; /* number for this input, without the pilot */
    uint64_t failed;  /* samples that failed; each makes the set larger */
} certreg_interval;

/** Computes the prediction set for the current record. If a calibration has several
 *  outputs, the sets of all of them contain their truths together with probability
 *  1 - alpha. The call is an evaluation of the record.
 *  @param calibration  its scores are not read
 *  @param rule    for this calibration, and for the number of samples in the record
 *                 without the pilot
 *  @param output  index of a scored output; with QUANTILES the first
 *  @param lo      receives the lower ends of the pieces, ascending, and is work space:
 *                 one number for every sample, or two for an angle
 *  @param hi      receives their upper ends, and is work space of the same size
 *  @param room    size of each
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_MISMATCH (rule or record do not
 *          fit the calibration); CERTREG_E_SMALL_MEMORY (room); CERTREG_E_WRONG_STATE
 *          (a gap; a noise id of the calibration; the number of samples was not fixed
 *          before the first evaluation of the record)  @par Source theory 12.5, 12.7 */
CERTREG_API certreg_status certreg_estimator_interval(
    certreg_estimator *, const certreg_calibration *calibration,
    const certreg_rule *rule, int32_t output, double *lo, double *hi, size_t room,
    certreg_interval *out);

/** Decides if one vector is in the prediction set for the current record. The set of
 *  several outputs is smaller than the box of their intervals.
 *  @param calibration  as for certreg_estimator_interval, like rule
 *  @param truth   as for certreg_estimator_calibrate
 *  @param inside  receives 1 or 0; 1 after a failure
 *  @return as certreg_estimator_interval  @par Source theory 12.5 */
CERTREG_API certreg_status certreg_estimator_covers(
    certreg_estimator *, const certreg_calibration *calibration,
    const certreg_rule *rule, const double *truth, int32_t *inside);

#ifdef __cplusplus
}
#endif
#endif
