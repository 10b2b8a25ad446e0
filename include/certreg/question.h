/** @file question.h
 * libcertreg: questions beyond the default, and certificates at other inputs.
 */
#ifndef CERTREG_QUESTION_H
#define CERTREG_QUESTION_H
#include "certreg/certreg.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ==== methods ==================================================================== */

/* Methods
 *  FINITE      Valid at every number of samples that was fixed beforehand, for any
 *              output distribution (theory 6). Median: exact binomial bounds, all of
 *              alpha for each side; alpha/2 with the gradient. Every other statistic:
 *              betting bounds of one mean that captures the whole distribution of the
 *              score, or of its mean and second moment. The pilot chooses the bounds
 *              from which it expects the longer radius, or the mean alone if it expects
 *              no radius. The mean needs model.lo and model.hi. Constraints 0: this
 *              choice. Constraints that you name are used as named, which may include
 *              the gradient. Keep this default.
 *  ANYTIME     Valid at all numbers of samples together: look at any time, stop for any
 *              reason, continue with more samples. Its radii are some per cent shorter
 *              than with FINITE, and it cannot use the gradient. Median: a mixture of
 *              likelihood ratios; every other statistic: betting as above (theory 6).
 *              The answer does not depend on model.batch.
 *  ASYMPTOTIC  Normal approximations (theory 5.1): alpha/4 for the mean, alpha/4 for
 *              the variance, alpha/2 for the gradient; median: alpha/2 exact binomial,
 *              alpha/2 gradient. Constraints 0: mean, variance, range, and the gradient
 *              if the plan has it. NOT VALID against rare values or heavy tails: at
 *              10,000 samples it misses a jump of probability 1e-4 on top of ordinary
 *              scatter 37% of the time; at 1,000 samples and alpha 0.05 its bound of
 *              the variance of exp(2 e), e standard normal, is wrong 48% of the time.
 *              If fewer than plan.blocks scores differ from the most common score, the
 *              mean is bounded by counting, without variance and gradient.
 *  PAPER       The paper's intervals, one misprint corrected, with the mean taken as
 *              known: alpha/2 each for the two-sided intervals of variance and
 *              gradient; all of alpha for the variance without the gradient. It bounds
 *              drop and rise; with a range the printed algorithms bound the rise only.
 *              Mean and CERTREG_CENTER_TRUE_MEAN only. Constraints 0: mean, variance,
 *              gradient, range. If the range is named, both ends must be declared. It
 *              uses the pilot's samples too. Its certificates may be wrong more often
 *              than alpha (theory 10).
 *  BASELINE    The published certificate of the statistic, for comparison. See
 *              "Baselines" below.
 *
 * Baselines (CERTREG_METHOD_BASELINE)
 *  Certificates of other authors, for comparison, with exact binomial bounds at a
 *  fixed number of samples (theory 9). Their guarantees differ. Set
 *  question.constraints to 0; certificate.constraints is then MEAN and RANGE, of the
 *  score. They support neither targets nor output bounds. All but the median need
 *  CERTREG_CENTER_PREDICTION.
 *  MEDIAN        Median smoothing. T as with FINITE, alpha/2 for each side. The
 *                prediction is the pilot's median. For an angle T is the median on
 *                the circle cut opposite the prediction. Nothing is proved about a
 *                server that cuts the circle at another point.
 *                CERTREG_CENTER_SAMPLE_MEDIAN is the form that its authors coded: all
 *                noisy samples, the pilot's too, give the bounds, with all of alpha for
 *                each side, and the prediction, which is their median. WEAKER: if you
 *                name a radius beforehand, the probability is at most 2*alpha that the
 *                reported radius is longer and yet T leaves the tolerance within the
 *                named one. Nothing is proved about the reported radius itself: in a
 *                test 24% were too long at alpha 0.1. Nothing is proved for an angle.
 *                Therefore output_lo and output_hi stay infinite, the question cannot
 *                share a radius with another one (certreg_certify_outputs), and
 *                dividing alpha does not help.
 *  TRIMMED_MEAN  alpha-smoothing; with trim 0, RS-Reg. For each fixed delta with
 *                ||D^-1 delta|| < radius, the trimmed mean of serving.samples fresh
 *                outputs misses the tolerance with probability at most
 *                serving.failure_rate. The prediction is f(z). An angle counts as
 *                its arc from the prediction, which the server must know.
 *  BALL_CENTER   Center smoothing, of all outputs (REAL) in the 2-norm. T is the
 *                center of any ball that has at least half of the outputs and at
 *                most twice the least possible radius. Then ||T(z + delta) -
 *                prediction|| <= tolerance. With serving, T is computed from the
 *                fresh outputs. The prediction is an output of the pilot.
 *
 * Evaluating a record again
 *  An evaluation is a call that computes an answer from samples beyond the pilot:
 *  certify, output bounds, bounds, estimate, forecast. ANYTIME questions, and questions
 *  with a target, are answered at any number of samples. Every other question is
 *  answered only at a number of samples that no earlier answer can have chosen. There
 *  are two such numbers: the number of samples at the end of the first evaluation, and
 *  the total_samples of that call. If a target could have ended that call, only its
 *  total_samples counts. A call is an evaluation too if the model failed, or an output
 *  could not be recorded, in a batch with samples beyond the pilot; if that call was
 *  certreg_estimator_sample, no number counts. At any different number of samples
 *  the status is CERTREG_E_WRONG_STATE, and the error names the remedy. At these
 *  two numbers any number of questions is answered. If you keep the best of several
 *  answers, set question.bonferroni. */

/* ==== targets, serving, vectors ================================================== */

/* Target radius (question.target)
 *  If every question has a target, certify stops as soon as each target is proved or
 *  ruled out. ANYTIME works with every statistic. FINITE, with the median only, is a
 *  group-sequential test at the numbers of samples in `looks`: it proves the target
 *  from fewer calls than ANYTIME, unless the target is easy; if it fails, it may prove
 *  0.8, 0.6, 0.4 or 0.2 of the target. It needs a plan.max_samples below 2^31. Its
 *  looks must come with the first question about the record: later looks are refused,
 *  and NULL then means the looks that follow from the max_samples and batch of the
 *  first evaluation. The gradient is not used. After an early stop a question for a
 *  fixed number of samples needs the remaining samples first.
 *  Set growth 1.5 (experimental) and plan.pilot 30 beside a target: then looks, and so
 *  the numbers of samples, do not depend on model.batch, and the first look is at the
 *  least number of samples that can prove the target: 46 samples for an easy target
 *  that takes 1,000 without growth at batch 1,000 (docs/benchmarks.md). Like looks, the
 *  growth must come with the first question about the record. Other questions may then
 *  have other radii. */

/** Stop sampling once this radius is proved or ruled out. */
struct certreg_target {
    uint32_t struct_size;
    uint32_t look_count; /* 1 to 128; 0 with looks NULL */
    double radius;       /* > 0 */
    /* Ascending numbers of samples, pilot included, at which the record may be
     * examined. NULL: plan.max_samples, and before it whole batches, each about 10%
     * more. */
    const uint64_t *looks;
    /* 0; or, with looks NULL, a number in (1, 4] for early looks (experimental): at the
     * least number of main samples that can prove the target, without serving, each
     * next one at `growth` times as many, or more if there would be over 128, the last
     * at plan.max_samples. */
    double growth;
};

/* Serving (question.serving)
 *  The certificate is then about the statistic of serving.samples fresh samples instead
 *  of T. For any fixed delta, over fresh noise that does not depend on delta, a served
 *  value misses the tolerance with probability at most serving.failure_rate. If a
 *  sample fails while serving, leave it out of a median or Huber location; with any
 *  other statistic count the request as a miss. Not for CERTREG_CENTER_TRUE_MEAN; the
 *  mean needs model.lo and model.hi. CERTREG_STATISTIC_TRIMMED_MEAN always needs
 *  serving.
 *
 * Serving from pairs (serving.pairs)
 *  With pairs 1 a request has pairs of samples with opposite noise, z + delta +
 *  sigma*D*e and z + delta - sigma*D*e. If serving.samples is odd, one more sample has
 *  noise of its own. Serving then takes less of the radius of a median, about half as
 *  much at 101 samples; Huber locations and means lose. pairs is a constant of the
 *  deployment: a server of pairs needs a certificate for pairs, and such a certificate
 *  covers only servers of pairs. Certify without CERTREG_PLAN_PAIRS. The server's
 *  estimator has this flag in plan.flags, draws pairs, and answers
 *  certreg_estimator_estimate only. A request that ends within a pair, or before all
 *  samples, has no guarantee. 11 to 10,001 samples are allowed: a condition takes 1 ms
 *  of computing for 101, 10 ms for 1,001 and 100 ms for 10,001, at every look if a
 *  target has looks. Deadlines hold between conditions. The gradient does not help a
 *  median with pairs, and is refused.
 *
 * Episodes (CERTREG_PLAN_EPISODE, experimental)
 *  A row is all noise of one run of a control loop, z is 0, and eval runs the loop. The
 *  certificate then also holds against an adversary who adapts: every change of a
 *  reading may depend on all that happened before its noise is drawn, and the changes
 *  of an episode together are shorter than the radius (theory 14, with the terms of a
 *  deployment). For FINITE, ASYMPTOTIC and ANYTIME without the gradient, about
 *  CERTREG_CENTER_PREDICTION or _TRUE_MEAN. Such changes break certificates that use
 *  the gradient, and nothing is proved with some other settings. So the flag refuses
 *  the gradient, the methods PAPER and BASELINE, CERTREG_CENTER_SAMPLE_MEDIAN, pairs,
 *  two or more served episodes unless the question is about one number that is no
 *  angle, and prediction intervals. Served episodes follow one another; episodes at the
 *  same time are not covered. An attack searches for a fixed change. Set
 *  CERTREG_PLAN_COUNT_FAILURES too, and write NaN for an episode that crashed or took
 *  too long. In the deployed loop certreg_service_sense (service.h) adds the noise. */

/* A flag for plan.flags */
enum certreg_plan_pairs {
    /* For a server of pairs: samples 2i and 2i + 1 have opposite noise. It needs
     * plan.pilot SIZE_MAX. An estimator with this flag certifies nothing. */
    CERTREG_PLAN_PAIRS = 2
};
#ifdef CERTREG_EXPERIMENTAL
/* A flag for plan.flags */
enum certreg_plan_episode {
    /* Every row is an episode: see "Episodes". plan.constraints must be without
     * CERTREG_CONSTRAINT_GRADIENT. */
    CERTREG_PLAN_EPISODE = 4
};
/* A flag for plan.flags */
enum certreg_plan_rounded {
    /* The model computes more precisely than float, and what it writes, or what is
     * recorded, was rounded to float. Output bounds are then wider by half a step of
     * float. A question with a radius is refused if its tolerance is less than 50
     * steps of float at the prediction: its certificate claims nothing and has status
     * CERTREG_E_OUT_OF_RANGE, with error.sample -1. (It is 0 or more if an output was
     * outside its range.) Other questions of the call keep their answers. The flag is
     * no part of a record: one that was exported with it can be imported without it. */
    CERTREG_PLAN_ROUNDED = 16
};
#endif

/** A certificate about served values: the statistic of fresh samples. */
struct certreg_serving {
    uint32_t struct_size;
    int32_t pairs;       /* 0, or 1: see "Serving from pairs" */
    size_t samples;      /* 1 to 1e9; odd is best for a median */
    double failure_rate; /* in (0, 0.5]: fraction of requests that may miss tolerance */
    /* CERTREG_STATISTIC_TRIMMED_MEAN only, else 0. Fraction of the fresh outputs that
     * is cut off at each end, in [0, 0.5). The number cut off at each end is
     * floor(trim*samples), computed in doubles: 70 for 0.35 and 200. */
    double trim;
    /* CERTREG_STATISTIC_TRIMMED_MEAN only, else 0. An output within this distance of
     * the prediction counts as near; at most the tolerance. 0: the tolerance. With a
     * declared range, or for an angle, a smaller core tolerates a larger fraction of
     * distant outputs. Otherwise leave it 0. */
    double core;
};

/* Wrong features (model.masks, experimental)
 *  A broken sensor may have any value. With model.masks every noisy sample hides some
 *  units of features: they have the value `marker` instead of value and noise. Then
 *  certificate.fault_radius[k] is a radius within which T stays near the prediction
 *  although up to k unknown units have arbitrary values, infinite and NaN too (theory
 *  1.12). The radii for all k hold together at the alpha of the certificate.
 *  certificate.radius is the radius for question.faults units. Fix this number before
 *  sampling. For a number or a vector 0 suffices; for an angle or an input with
 *  alternatives, its radius is longer than the one that follows from 0.
 *  The radii are for medians (numbers, angles, vectors, served values) by FINITE and
 *  ANYTIME about CERTREG_CENTER_PREDICTION, without the gradient and pairs; with a
 *  target faults is 0. Other certificates and output bounds hold for T, and have no
 *  fault_radius. No hidden value may reach the model on another path, and the server
 *  must put the marker in its place before anything reads the value. Law, units and
 *  marker are constants of the deployment, and the seed of the server stays secret
 *  (docs/guide/faults.md).
 *  In an episode (CERTREG_PLAN_EPISODE) a feature of the row is the noise of a sensor
 *  at a tick, NaN if the sensor is hidden, and all ticks of a sensor are one unit. The
 *  wrong sensors must be fixed without a look at mask and noise: an intruder who
 *  watches the loop is not covered (theory 14). */

#ifdef CERTREG_EXPERIMENTAL
/** Units of features, and the law of the units that a sample hides. A sample 0 without
 *  noise hides nothing. Each unit has to be hidden with a probability above 1/2, and
 *  with question.faults each set of this size; otherwise CERTREG_E_INVALID. */
struct certreg_masks {
    uint32_t struct_size;
    float marker; /* the value of a hidden feature: NaN, or finite if not in episodes */
    size_t units; /* 1 to 65536, at most inputs */
    /* inputs numbers: the unit of each feature, below `units`; -1: it is never hidden,
     * and never wrong. NULL: every feature is a unit, and units is inputs. Features
     * that can only be wrong together, as a sensor with its ratios, sums and time
     * lags, are one unit. */
    const int32_t *unit;
    /* The number of units that each sample shows; all sets of this size are equally
     * likely. Use this law unless some units are more reliable than others. 1: one of
     * several disjoint blocks. 0: `probability` */
    size_t shown;
    /* units numbers in [0, 1): the probability that a sample shows this unit,
     * independently of the others. NULL with `shown` */
    const double *probability;
};
typedef struct certreg_masks certreg_masks;

/** Certifies one input against wrong features alone, without noise and alpha: evaluates
 *  the model for every set of masks.shown units. (With shown 1 this is the feature
 *  partition aggregation of Hammoudeh and Lowd.) T is the median of these outputs.
 *  certificate.faults is the largest number of units with arbitrary values for which T
 *  stays within the tolerance of the prediction, which is the median or given; alpha
 *  and radius are 0, and the outcome is CERTIFIED if faults is above 0. The record is
 *  emptied, and answers nothing until the next begin. An output that is not finite is
 *  out. A deadline does not end the call.
 *  @param z         inputs numbers in host memory; NaN and infinity are allowed
 *  @param question  the median of one REAL output about CERTREG_CENTER_PREDICTION, by
 *                   FINITE or ANYTIME; no target, serving, relative tolerance or faults
 *  @param out       samples is the number of masks, counted_out how many outputs are
 *                   out on the worse side
 *  @return CERTREG_OK, also after an abstention; CERTREG_E_INVALID, also if there are
 *          more sets than plan.max_samples, or without masks.shown;
 *          CERTREG_E_MODEL_FAILED; CERTREG_E_CANCELLED; CERTREG_E_WRONG_STATE (no
 *          model.eval); CERTREG_E_OUT_OF_RANGE (CERTREG_PLAN_ROUNDED);
 *          CERTREG_E_DEVICE_FAILED
 *  @since 0.3  @par Source theory 1.12 */
CERTREG_API certreg_status certreg_certify_masks(
    certreg_estimator *, const float *z, const certreg_question *question,
    certreg_certificate *out);

/** Returns the level of a count, for a bound of the population: the probability,
 *  rounded up, that at most `most_out` of the counted outputs of a row are out if T
 *  leaves the tolerance within the radius. 1 if its outputs were not counted.
 *  @param counted   certificate.counted
 *  @param required  certificate.counted_required
 *  @param radius    > 0, in units of sigma  @since 0.3
 *  @par Source theory 12.8 */
CERTREG_API double certreg_count_level(
    uint64_t counted, double required, double radius, uint64_t most_out);
#endif

/* Relative tolerance (question.relative_tolerance)
 *  The tolerance is the given part of |prediction|, of its Euclidean norm for a vector,
 *  rounded down, and certificate.tolerance has its value. If the pilot chooses the
 *  prediction, both are functions of the pilot alone, and the certificate holds as with
 *  a tolerance that you give. A prediction of 0 has no tolerance: the certificate then
 *  abstains. For MEDIAN, MEAN and PROJECTION_MEDIAN of real outputs, about
 *  CERTREG_CENTER_PREDICTION, with FINITE, ASYMPTOTIC or ANYTIME; not for targets and
 *  output bounds. */

/* Vectors (question.output CERTREG_ALL_OUTPUTS, or an output_count above 1)
 *  The tolerance and the statement are about the Euclidean norm of several REAL
 *  outputs: ||T(z + delta) - prediction|| < tolerance. T consists of
 *    MEDIAN, HUBER      the statistic of each output
 *    PROJECTION_MEDIAN  the sum of medians along the axes v of theory 7.3, each times
 *                       weight*v: 6 axes for two outputs, 15 for three; larger vectors
 *                       in blocks. Its radius is 10 to 15% longer than with MEDIAN if
 *                       all outputs scatter alike. A server needs
 *                       certreg_estimator_estimate, or the axes of the theory
 *    MEAN               the mean; also with CERTREG_CENTER_TRUE_MEAN
 *  The library certifies v.f along a fixed net of directions v. Each direction has all
 *  of alpha, because it is a fixed fact about the model which of them fails first.
 *  Outputs that scatter more get more of the tolerance, by the pilot's estimate. Time
 *  grows with the number of directions, 12 for the mean of two outputs and 46 for
 *  three; with the gradient about four of them share a replay of the noise. Means need
 *  model.lo and model.hi, except with ASYMPTOTIC. Vectors support neither output bounds
 *  nor PAPER. For a position together with a heading see certreg_certify_outputs. */

/* ==== predictions and estimates ================================================== */

/** Returns the prediction that a question is about, from the pilot or as given. It
 *  reads pilot samples only, so it does not count as an evaluation of the record.
 *  @param out  1 number; for a vector one for each of its outputs. NaN if the pilot's
 *              outputs have none. Not written after a failure
 *  @return CERTREG_OK; CERTREG_E_INVALID (also unless the center is
 *          CERTREG_CENTER_PREDICTION); CERTREG_E_WRONG_STATE (the pilot is not
 *          complete)  @par Source theory 5.2, 6.3 */
CERTREG_API certreg_status certreg_estimator_prediction(
    certreg_estimator *, const certreg_question *question, double *out);

/** Returns the statistic of all noisy samples of the record, which is what a server
 *  returns: give its estimator plan.pilot SIZE_MAX, begin with a new noise_id, sample,
 *  and call this function with the certified question. Target and constraints are not
 *  used. A question with serving needs exactly serving.samples noisy samples. Without a
 *  certificate the value has no guarantee. With samples beyond the pilot the call is an
 *  evaluation: see "Evaluating a record again". Failed outputs are left out.
 *  @param out  1 number; for a vector one for each of its outputs. If the outputs have
 *              no statistic, for lack of samples for instance: the whole given
 *              prediction, or NaN. It may be question.prediction itself, as in a
 *              control loop. Not written after a failure
 *  @return CERTREG_OK; CERTREG_E_INVALID (also for CERTREG_STATISTIC_BALL_CENTER);
 *          CERTREG_E_WRONG_STATE (before begin; a gap; a number of noisy samples that
 *          differs from serving.samples)  @par Source theory 1.5, 7.3 */
CERTREG_API certreg_status certreg_estimator_estimate(
    certreg_estimator *, const certreg_question *question, double *out);

/* ==== other questions ============================================================ */

/** The inverse question: an interval that contains T for every delta with
 *  ||D^-1 delta|| < radius. The answer is output_lo and output_hi; certificate.radius
 *  is the given radius if one of them is proved, and otherwise 0. The median of a REAL
 *  output with FINITE, and the mean, ignore the tolerance. For every other question it
 *  limits the search (0: the declared range, half a turn, or a quarter for the circular
 *  mean); if that tolerance cannot be proved, the ends are infinite.
 *  @param total_samples  as for certreg_certify, like questions and count
 *  @param radius  > 0
 *  @param out     as in certreg_certify, limiting_side and constraints 0
 *  @return as certreg_certify; CERTREG_E_INVALID for a question with a target or
 *          CERTREG_CENTER_TRUE_MEAN  @par Source theory 1.6 */
CERTREG_API certreg_status certreg_output_bounds(
    certreg_estimator *, size_t total_samples, const certreg_question *questions,
    size_t count, double radius, certreg_certificate *out);

/** Certifies one radius for all outputs together. It holds with probability 1 - alpha,
 *  for the largest alpha of the questions, undivided: it is a fixed fact
 *  about the model which output fails first, and only the bound of that output must
 *  hold.
 *  @param total_samples  as for certreg_certify
 *  @param questions  count elements without bonferroni, in which every output occurs
 *                    once, alone or in a vector: a pose has a question about its
 *                    position with output_count 2, and one about its heading. All have
 *                    the same faults
 *  @param each       count elements, as for certreg_certify
 *  @param combined   the smallest radius; output names the output that limits it.
 *                    center is CERTREG_CENTER_TRUE_MEAN if any question has this
 *                    center, and method is the weakest one. With serving one request
 *                    serves all outputs: all questions then need it, with the same
 *                    samples and pairs, and their failure rates add up
 *  @return as certreg_certify. CERTREG_E_INVALID before the model is called if any
 *          question is invalid, or an output has two questions or none
 *  @par Source theory 5.1, 7 */
CERTREG_API certreg_status certreg_certify_outputs(
    certreg_estimator *, size_t total_samples, const certreg_question *questions,
    size_t count, certreg_certificate *each, certreg_certificate *combined);

/** Certifies one input at several noise levels. For each level it calls
 *  certreg_estimator_begin_level with level 1 + its index, samples and answers. For
 *  each question, the certificates of all levels hold together with probability 1 -
 *  alpha: alpha is divided by the number of levels. Do not deploy the best sigma of
 *  each input: z and z + delta could then use different sigmas, and no radius would
 *  hold.
 *  @param z       as for certreg_estimator_begin, in host memory
 *  @param sigmas  levels numbers > 0, all different
 *  @param levels  at most 1e6
 *  @param noise_id  as for certreg_estimator_begin
 *  @param total_samples  as for certreg_certify, like questions and count
 *  @param out     levels*count elements, level by level. After a failure of the model
 *                 the later levels are not sampled; their certificates have its status,
 *                 and sigma NaN; so have all if the audit refuses the model. After a
 *                 cancel they abstain with CERTREG_STOP_CANCELLED, tolerance and alpha
 *                 NaN
 *  @return as certreg_certify  @par Source theory 1, 5 */
CERTREG_API certreg_status certreg_certify_sigmas(
    certreg_estimator *, const float *z, const double *sigmas, size_t levels,
    uint64_t noise_id, size_t total_samples, const certreg_question *questions,
    size_t count, certreg_certificate *out);

/** Finds the noise level with the greatest mean radius over a set of inputs. Deploy it
 *  on different inputs, and with different noise: another seed, noise id or level.
 *  @param certificates  inputs*levels elements, input by input, stepped by
 *                       certificates[0].struct_size; level k has the same sigma
 *                       for every input
 *  @param mean_radius   NULL, or receives levels numbers
 *  @param level         receives its index
 *  @return CERTREG_OK; CERTREG_E_INVALID (a level with different sigmas, two levels
 *          with one sigma, a certificate that failed); CERTREG_E_VERSION
 *  @par Source theory 1.7 */
CERTREG_API certreg_status certreg_choose_sigma(
    const certreg_certificate *certificates, size_t inputs, size_t levels,
    certreg_error *why, double *mean_radius, size_t *level);

/** A forecast of the number of samples for a target radius, without a guarantee. */
typedef struct certreg_forecast {
    uint32_t struct_size;
    int32_t reserved;
    uint64_t least_samples;  /* pilot included: fewer cannot prove it for any model. 0:
                                even plan.max_samples cannot */
    double expected_samples; /* pilot included, if outputs miss the tolerance as often
                                as before. Infinite: more than plan.max_samples, or
                                never */
} certreg_forecast;

/** Forecasts question.target before or between sampling. With an empty record, or a
 *  pilot that is not complete, only least_samples is known. With samples beyond the
 *  pilot the forecast is an evaluation: see "Evaluating a record again".
 *  @param question  the median, FINITE or ANYTIME, with a target
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_WRONG_STATE (before
 *          begin, or a gap)  @par Source theory 6.7, 6.8 */
CERTREG_API certreg_status certreg_estimator_forecast(
    certreg_estimator *, const certreg_question *question, certreg_forecast *out);

/* ==== moving ===================================================================== */

/** Moves a certificate to an input nearby, without calling the model. If the guarantee
 *  at z holds for every delta with ||D^-1 delta|| < radius, then at `to` it holds for
 *  every delta shorter than radius - ||D^-1 (to - z)||. This follows from the same
 *  promise: it costs no alpha, for any number of inputs `to`, however they are chosen.
 *  With serving, every request still needs fresh noise.
 *  @param certificate  with CERTREG_CENTER_PREDICTION
 *  @param inputs  number of features
 *  @param scale   inputs numbers, as in the model; NULL: all 1
 *  @param z    the certified input, bit for bit. certificate.input_digest reveals
 *              another input, scale or number of inputs. This protects against
 *              mistakes, not against intent
 *  @param to   inputs finite floats, with the bits of z in features of scale 0
 *  @param out  a copy of the certificate, with outcome, radii (rounded down) and
 *              input_digest for `to`, so that you can move it again; estimate is NaN.
 *              If no radius is left, it abstains. It may be the certificate itself
 *  @return CERTREG_OK, even if no radius is left; CERTREG_E_MISMATCH (z, scale or
 *          inputs is not the certificate's); CERTREG_E_INVALID naming the feature, or
 *          the field of the certificate; CERTREG_E_VERSION. After a failure `out`
 *          claims nothing
 *  @par Source theory 1.9 */
CERTREG_API certreg_status certreg_move_certificate(
    const certreg_certificate *certificate, size_t inputs, const float *scale,
    const float *z, const float *to, certreg_error *why, certreg_certificate *out);

#ifdef __cplusplus
}
#endif
#endif
