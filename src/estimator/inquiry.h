/* A question made precise for one record: checked, with its defaults, its prediction and the conditions it comes down to. */
#ifndef CR_ESTIMATOR_INQUIRY_H
#define CR_ESTIMATOR_INQUIRY_H
#include "estimator/estimator.h"
#include "estimator/score.h"

#define CR_CONDITIONS 4

typedef struct cr_condition { /* "the mean of this score stays above the threshold"; for the true mean: "moves by at most the tolerance" */
    cr_score score;
    double threshold;
    int exact; /* two-valued: binomial bound */
} cr_condition;

typedef struct cr_inquiry {
    certreg_question question; /* defaults resolved, alpha divided by joint */
    size_t samples, main_first;
    double prediction;
    double estimate;  /* of the location from all noisy samples: no promise */
    int failures;     /* some outputs of this record failed */
    int conditions;
    cr_condition condition[CR_CONDITIONS];
} cr_inquiry;

/* Checks a question against the model and the plan; no record is needed. Errors name the field. */
certreg_status cr_inquiry_read(certreg_estimator *, const certreg_question *, cr_inquiry *out);
/* Chooses the prediction from the pilot and sets up the conditions. The record must be 0 .. n-1; WRONG_STATE otherwise. */
certreg_status cr_inquiry_prepare(certreg_estimator *, cr_inquiry *);

/* ---- bounds.c */
/* The facts that the interval of this question delivers and its family may use. The gradient costs a replay, so it is found only
 * where it is among them. */
uint32_t cr_bounds_facts(const certreg_estimator *, const certreg_question *);
/* Bounds of the condition's scores, all conditions at once since one replay serves them. *abstained: the interval says nothing. */
certreg_status cr_bounds_find(certreg_estimator *, const cr_inquiry *, certreg_bounds out[CR_CONDITIONS], int *abstained);

#endif
