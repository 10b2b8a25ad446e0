/* A question about the samples of one record: its prediction, the conditions under which a
 * radius holds, the directions of a vector, and interim looks. */
#ifndef CR_CONDITIONS_CONDITIONS_H
#define CR_CONDITIONS_CONDITIONS_H
#include "certreg/solver.h"
#include "question/question.h"
#include "record/record.h"
#include "statistics/distribution_bound.h"
#include "statistics/score.h"
#include "statistics/serving.h"

/* ---- A question about the samples of one record: its prediction, and the conditions under which a
 * radius holds. */
#define CR_CONDITIONS 4

typedef struct cr_condition { /* "the mean of this score stays above the threshold"; for the true
                                 mean: "moves by at most the tolerance" */
    cr_score score;
    double threshold;
    int is_binomial;     /* two-valued: binomial bound */
    cr_antithetic pairs; /* served from pairs: the requirement that certifies; the threshold, which
                       is for independent noise, then only guides the pilot. samples 0: no pairs */
    cr_distribution_bound *law; /* it is certified by this law, in scratch; NULL: by mean and
                                   variance */
    int mean_alone;             /* without the variance: the mean's bound has all of alpha */
    int near;                   /* the circular mean stays near; all of alpha, no gradient */
} cr_condition;

typedef struct cr_conditions {
    cr_question question;
    cr_workspace *scratch;
    int32_t score_output; /* the scored output; along a direction, the first of its outputs */
    size_t direction;     /* of a vector, the one that the conditions are about */
    size_t samples, first_main_sample; /* the number of samples, and the first that enters bounds */
    double prediction;     /* NaN for a vector, which is in scratch->vector_prediction */
    int has_prediction;    /* there is a prediction */
    int any_output_failed; /* some outputs of this record failed */
    double estimate; /* the location of all noisy samples, without a guarantee; the given prediction
                        if they have none, or NaN */
    int count;
    cr_condition each[CR_CONDITIONS];
} cr_conditions;

/* Returns CERTREG_SIDE_... of a condition; CERTREG_SIDE_LOWER for the true mean's, which is about
 * both sides. */
int32_t cr_conditions_side(const cr_condition *);
/* Returns the smallest number of samples, pilot included, at which this question has an answer. */
size_t cr_conditions_min_samples(cr_view *, const cr_question *);
/* Fails with WRONG_STATE and the remedy if an earlier answer may have chosen this number of samples
 * (theory 5.2); with OUT_OF_RANGE if an output of the record is outside its declared range. */
certreg_status cr_conditions_check_reuse(cr_view *, const cr_question *, uint64_t samples,
                                         certreg_error *why);
/* Chooses the prediction from the pilot, and sets the conditions; for a vector, along direction 0.
 * Needs `question` and `scratch`. Fails with WRONG_STATE if the record has a gap, too few samples,
 * or a number of samples that may not be used; with DEADLINE if the time ran out. The estimate is
 * set in any case. */
certreg_status cr_conditions_prepare(cr_view *, cr_conditions *, certreg_error *why);
/* Sets the conditions for a forecast: about the prediction that the record so far gives, or about 0
 * if its pilot is not complete. Fails with WRONG_STATE if the record has a gap. */
certreg_status cr_conditions_prepare_forecast(cr_view *, cr_conditions *, certreg_error *why);
/* Returns the largest difference that an audit found in the outputs of a question, the norm of
 * those of a vector; and how near to out outputs count as out, so that their counts hold for the
 * model itself (theory 15). */
double cr_conditions_audit_change(cr_view *, const cr_question *);
double cr_conditions_band(cr_view *, const cr_question *);
/* Sets the conditions along direction 0 .. directions-1. A vector stays within its tolerance if the
 * conditions of all directions hold. */
void cr_conditions_select_direction(cr_view *, cr_conditions *, size_t direction);
/* Sets the conditions for another tolerance, about the same prediction. */
void cr_conditions_set_tolerance(cr_view *, cr_conditions *, double tolerance);

/* ---- The directions of a vector: it is certified as a number along each in turn (theory 7.3),
 * so that memory does not grow with the number of directions. */
/* Set scratch->block_fractions, the fraction of the tolerance for each block of outputs, with
 * squares that add up to 1: equally; or by the spread of the pilot's outputs, if it is complete and
 * has enough of them. */
void cr_directions_share_equally(const cr_conditions *);
void cr_directions_share_by_spread(cr_view *, const cr_conditions *);
/* Returns the number of noisy samples of the pilot that are out, on one side of one direction at
 * most, of a median about scratch->vector_prediction. */
size_t cr_directions_misses(cr_view *, const cr_conditions *);
/* Returns the tolerance of each direction of the block that has output k. */
double cr_directions_tolerance(const cr_conditions *, size_t k);
/* Sets tolerance, outputs, prediction and center of a score along a direction, from the shares and
 * scratch->vector_prediction. Returns the first output. */
int32_t cr_directions_project_score(cr_view *, const cr_conditions *, size_t direction, cr_score *);

/* ---- The two locations that a record has for a question: the prediction, on which a
 * certificate is centered, and the estimate from all noisy samples. */
/* Sets the prediction: the given one, or the pilot's choice; the pilot is then complete. Sets the
 * tolerance if it is relative. The numbers of a vector go to scratch->vector_prediction. Returns 0
 * if the outputs have none, else 1. */
int cr_prediction_choose(cr_view *, cr_conditions *);
/* certreg_estimator_prediction, for a validated question: writes one number per output, NaN if the
 * pilot has none. Fails with WRONG_STATE if the pilot has a gap. */
certreg_status cr_prediction_report(cr_view *, cr_conditions *, double *out, certreg_error *why);
/* Returns the estimate of one output from the first `samples` samples, or the given prediction if
 * they have none, or NaN; NaN for a vector. Also for a record that is too short to certify
 * anything, since a control loop continues with it. Published methods cut a circle opposite
 * `prediction`. */
double cr_prediction_estimate(cr_view *, const cr_question *, size_t samples, double prediction);
/* Sets the estimate of each output of a vector; NaN without noisy samples. */
void cr_prediction_estimate_outputs(cr_view *, const cr_question *, size_t samples, double *out);
/* certreg_estimator_estimate, for a question that was loaded for it: writes one number per output.
 * Fails with WRONG_STATE if the record has a gap, or not the number of samples that
 * question.serving names. */
certreg_status cr_prediction_report_estimate(cr_view *, cr_conditions *, double *out,
                                             certreg_error *why);

/* ---- Interim looks at a record for a target radius: their schedule, and the tests of theory 6.7
 * and 6.8 at them. */
/* A test aims at a radius that is longer by this part, because the search that follows rounds down.
 * Without a test, a target that is this much shorter counts as in reach. */
#define CR_TARGET_MARGIN 1e-7

/* Sets the numbers of samples, pilot included, at which the question has a look: the given ones, or
 * the early ones of its growth, or the default ones. Returns 0 as below. */
int cr_looks_schedule(cr_view *, cr_workspace *, const cr_question *, cr_looks *out);
/* Sets looks that do not depend on the batch: at the least number of main samples, as far as a
 * search finds it, at which the test of the target can pass, then at `growth` times as many each,
 * and at `last`. Returns 0 if the deadline expires before the first look is found, which is then
 * not before *out's; the next call continues the search. */
int cr_looks_early(cr_view *, cr_workspace *, const cr_question *, double growth, uint64_t last,
                   cr_looks *out);
/* Returns the upper bound of the failure probability of a two-valued score that the
 * group-sequential test has proved so far; 1: none. */
double cr_looks_group_sequential_upper(cr_view *, const cr_conditions *, const cr_condition *);
/* The same by the mixture: its bounds hold at all numbers of samples together. */
double cr_looks_anytime_upper(cr_view *, const cr_conditions *, const cr_condition *, double alpha);
/* Returns 1 if this number of failures among this number of samples, pilot included, proves the
 * target radius for this condition, else 0; the group-sequential test only at its looks. */
int cr_looks_passed(cr_view *, const cr_conditions *, const cr_condition *, uint64_t samples,
                    uint64_t failures);
/* Returns the state of the target radius, by the group-sequential tests of conditions that are not
 * served from pairs. No radius beyond `cap` sigmas is proven. */
enum cr_target_state { CR_TARGET_OPEN, CR_TARGET_PROVEN, CR_TARGET_FUTILE };
enum cr_target_state cr_looks_decide(cr_view *, const cr_conditions *, double cap);
/* Returns 1 if no continuation of the record can prove the target radius, else 0; always 0 for
 * scores that do not have two values. The conditions may then be about another direction. */
int cr_looks_futile(cr_view *, cr_conditions *);

#endif
