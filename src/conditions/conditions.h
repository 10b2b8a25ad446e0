/* A question resolved for one record: its prediction, and the conditions that it comes down to. */
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
    int exact;                  /* two-valued: binomial bound */
    cr_antithetic pairs;        /* served from pairs: they have to hold, and the threshold, that of
                              independent        noise, only guides the pilot; no samples: there are none */
    cr_distribution_bound *law; /* it is certified by this law, in scratch; NULL: by mean and
                                   variance */
    int mean_alone;             /* without the variance: the mean's bound has all of alpha */
    int near;                   /* the circular mean stays near; all of alpha, no gradient */
} cr_condition;

typedef struct cr_conditions {
    cr_question question;
    cr_workspace *scratch;
    int32_t output;   /* whose scores these are; along a direction the first of its outputs */
    size_t direction; /* of a vector, the one that the conditions are about */
    size_t samples, main_first;
    double prediction; /* NaN for a vector, which is in scratch->center */
    int known;         /* there is one */
    int failures;      /* some outputs of this record failed */
    double estimate; /* of the location from all noisy samples: no guarantee. Without one the given
                        prediction, or NaN */
    int count;
    cr_condition each[CR_CONDITIONS];
} cr_conditions;

/* CERTREG_SIDE_... of a condition; of the true mean's, which has both, CERTREG_SIDE_LOWER. */
int32_t cr_conditions_side(const cr_condition *);
/* The fewest samples, pilot included, from which this question has an answer. */
size_t cr_conditions_least(cr_view *, const cr_question *);
/* Chooses the prediction from the pilot and sets up the conditions. The record must be 0 .. n-1;
 * WRONG_STATE otherwise. DEADLINE where it was given up. The estimate is there in any case. */
certreg_status cr_conditions_prepare(cr_view *, cr_conditions *, certreg_error *why);
/* The same for a forecast: conditions about the prediction that the record so far gives, or 0 if
 * its pilot is not complete. */
certreg_status cr_conditions_preview(cr_view *, cr_conditions *, certreg_error *why);
/* The conditions along direction 0 .. directions-1. All of them have to hold; those that were
 * prepared are direction 0's. */
void cr_conditions_turn(cr_view *, cr_conditions *, size_t direction);
void cr_conditions_set_tolerance(cr_view *, cr_conditions *, double tolerance);

#endif
