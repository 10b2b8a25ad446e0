/* A question about the samples of one record: its prediction, and the conditions under which a
 * radius holds. */
#ifndef CR_CONDITIONS_CONDITIONS_H
#define CR_CONDITIONS_CONDITIONS_H
#include "certreg/solver.h"
#include "question/question.h"
#include "record/workspace.h"
#include "statistics/distribution_bound.h"
#include "statistics/antithetic.h"
#include "statistics/score.h"

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
/* Sets the conditions along direction 0 .. directions-1. A vector stays within its tolerance if the
 * conditions of all directions hold. */
void cr_conditions_select_direction(cr_view *, cr_conditions *, size_t direction);
/* Sets the conditions for another tolerance, about the same prediction. */
void cr_conditions_set_tolerance(cr_view *, cr_conditions *, double tolerance);

#endif
