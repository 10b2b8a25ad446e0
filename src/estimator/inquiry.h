/* A question made precise for one record: checked, with its defaults, its prediction and the conditions it comes down to. */
#ifndef CR_ESTIMATOR_INQUIRY_H
#define CR_ESTIMATOR_INQUIRY_H
#include "estimator/estimator.h"
#include "estimator/looks.h"
#include "estimator/score.h"

#define CR_CONDITIONS 4

typedef struct cr_condition { /* "the mean of this score stays above the threshold"; for the true mean: "moves by at most the tolerance" */
    cr_score score;
    double threshold;
    int exact; /* two-valued: binomial bound */
    int guard; /* keeps the circular mean near the prediction; with the whole alpha and no gradient */
} cr_condition;

typedef struct cr_inquiry {
    certreg_question question; /* defaults resolved, alpha divided by joint */
    size_t samples, main_first;
    double prediction;
    double estimate;  /* of the location from all noisy samples: no promise. Without one the given prediction, or NaN */
    int failures;     /* some outputs of this record failed */
    int conditions;
    cr_condition condition[CR_CONDITIONS];
} cr_inquiry;

/* ---- question.c */
/* Checks a question against the model and the plan; no record is needed. Errors name the field. */
certreg_status cr_inquiry_read(certreg_estimator *, const certreg_question *, cr_inquiry *out);
int cr_inquiry_is_angle(const certreg_estimator *, const certreg_question *);
double cr_inquiry_period(const certreg_estimator *, const certreg_question *); /* a full turn; 0 on the line */
int cr_inquiry_orders(const certreg_estimator *, const certreg_question *);    /* REACH by order statistics */
int cr_inquiry_about_output(const certreg_question *);                         /* bounds of f itself are asked, not of scores */
/* What the solver may use. A median's own scores have no variance, but its guards may. */
uint32_t cr_inquiry_family(const certreg_question *);
int cr_inquiry_is_closed(const certreg_question *);                            /* the closed test of a wanted radius */
int cr_inquiry_without_normality(const certreg_question *);                    /* FINITE, ANYTIME */

/* ---- inquiry.c */
/* The fewest samples, pilot included, from which this question has an answer. */
size_t cr_inquiry_least(const certreg_estimator *, const certreg_question *);
/* Chooses the prediction from the pilot and sets up the conditions. The record must be 0 .. n-1;
 * WRONG_STATE otherwise. DEADLINE where it was given up. The estimate is there in any case. */
certreg_status cr_inquiry_prepare(certreg_estimator *, cr_inquiry *);
/* The same for a forecast: conditions about the prediction that the record so far gives, or 0 if its pilot is not complete. */
certreg_status cr_inquiry_preview(certreg_estimator *, cr_inquiry *);
void cr_inquiry_set_tolerance(const certreg_estimator *, cr_inquiry *, double tolerance);

/* ---- looks.c */
certreg_status cr_looks_check(certreg_estimator *, const certreg_question *);
void cr_looks_make(const certreg_estimator *, const certreg_question *, cr_looks *out);
/* Upper bound of the failure probability of a two-valued score that the closed test has proven so far; 1: none. */
double cr_looks_upper(certreg_estimator *, const cr_inquiry *, const cr_condition *);
/* The same by the mixture, at every number of samples. */
double cr_looks_anytime(const certreg_estimator *, const cr_inquiry *, const cr_condition *, double alpha);
/* Whether so many failures of so many samples, pilot included, prove the wanted radius as far as this condition goes; by the closed test
 * only at its looks. */
int cr_looks_passed(certreg_estimator *, const cr_inquiry *, const cr_condition *, uint64_t samples, uint64_t failures);
/* No continuation of the record can prove the wanted radius; known of two-valued scores only. */
int cr_looks_hopeless(certreg_estimator *, const cr_inquiry *);

/* ---- finite.c */
typedef struct cr_sampled { /* a number of each sample, by its place in the record */
    double (*value)(const void *of, size_t sample);
    const void *of;
} cr_sampled;

/* Bound of the mean of numbers in [lo, hi] by betting, for a fixed count or any time as the question says. The pilot only teaches how to
 * bet; bet upon are the samples from `first` on. */
double cr_finite_bound(const certreg_estimator *, const cr_inquiry *, const cr_sampled *, size_t first, double lo, double hi, double alpha,
                       int upper);
/* Bounds without normality of a score with a finite range: its second moment about a centre from the pilot, or its mean where the facts
 * lack the variance; of the output itself both. */
void cr_finite_find(const certreg_estimator *, const cr_inquiry *, const cr_score *, uint32_t facts, double alpha, certreg_bounds *out);

/* ---- norm.c */
/* Bounds of CERTREG_OUTPUT_NORM. *abstained: the interval says nothing. */
certreg_status cr_norm_find(certreg_estimator *, const cr_inquiry *, uint32_t facts, certreg_bounds *out, int *abstained);

/* ---- bounds.c */
/* The facts that the interval of this question delivers and its family may use. The gradient costs a replay, so it is found only
 * where it is among them. */
uint32_t cr_bounds_facts(const certreg_estimator *, const certreg_question *);
/* Bounds of the condition's scores, all conditions at once since one replay serves them.
 * *abstained: the interval says nothing. DEADLINE where they were given up. */
certreg_status cr_bounds_find(certreg_estimator *, const cr_inquiry *, certreg_bounds out[CR_CONDITIONS], int *abstained);

#endif
