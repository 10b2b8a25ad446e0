/* Bounds of the scores of a question's conditions, from a record: of mean, variance and
 * gradient. */
#ifndef CR_BOUNDS_BOUNDS_H
#define CR_BOUNDS_BOUNDS_H
#include "conditions/conditions.h"
#include "record/record.h"
#include "statistics/score.h"

/* ---- The entry of this room: bounds of the scores of a question's conditions, from a record. */
typedef struct cr_bound { /* of the score of one condition, from the main samples */
    certreg_bounds moments;
    double failure_probability; /* upper bound that a binomial score is -1; NaN: not binomial */
    uint64_t failures; /* binomial scores of -1, if a fixed number was counted; else UINT64_MAX */
    double transformed_mean; /* lower bound of the mean of the condition's H; NaN: none */
} cr_bound;

/* Returns the CERTREG_CONSTRAINT_... that the bounds of this question have, by its method, its own
 * choice and the plan (theory 5.1). The gradient is among them only if it is to be bounded, since
 * it costs a replay. */
uint32_t cr_bounds_constraints(cr_view *, const cr_question *);
/* Returns the level of the bounds of mean and variance of a condition. */
double cr_bounds_alpha(cr_view *, const cr_conditions *, const cr_condition *);
/* Returns bounds without constraints, with sigma, alpha and the number of main samples set. */
certreg_bounds cr_bounds_init(cr_view *, const cr_conditions *);
/* Sets bounds of the scores of all conditions, in the units of the scores; one call, since they
 * share a replay. *abstained: 1 if a score has no bound, so that the radius is 0. Errors: DEADLINE
 * if time ran out, WRONG_STATE if the gradient needs more samples, and errors of the replay. */
certreg_status cr_bounds_compute(cr_replay *, const cr_conditions *, cr_bound out[CR_CONDITIONS],
                                 int *abstained);
/* Requests the sweep that cr_bounds_compute needs. Returns 0 if memory does not suffice, else 1. */
int cr_bounds_prefetch(cr_replay *, const cr_conditions *);

/* ---- The two parts of a record, and the fractions of alpha, for all bounds. */
#define CR_ALPHA_FRACTION_GRADIENT 0.5

/* The scores of the question's output, about 0: of the noisy samples of the pilot, and of the main
 * samples, which alone enter bounds. */
cr_samples cr_split_pilot_scores(cr_view *, const cr_conditions *, const cr_score *);
cr_samples cr_split_main_scores(cr_view *, const cr_conditions *, const cr_score *);
size_t cr_split_main_count(const cr_conditions *); /* number of main samples */

/* ---- Bounds of the mean of a score without betting: exact for two-valued scores, hence for the
 * median (theory 6.2), and asymptotic ones of mean and variance (theory 5.1). */
/* Returns 1 if fewer than plan.blocks of the main scores differ from the most common one: normal
 * approximation and block means are then unreliable (theory 5.1). */
int cr_scores_are_sparse(cr_view *, const cr_conditions *, const cr_condition *);
/* Sets an upper bound at level alpha of the probability that a two-valued score is -1: binomial
 * (theory 6.1), by the looks of a target radius (6.7), or at any time (6.8); and the mean that
 * follows from it, rounded outward. */
void cr_mean_bounds_binomial(cr_view *, const cr_conditions *, const cr_condition *, double alpha,
                             cr_bound *);
/* Sets mean and variance, at their fractions of the question's alpha (theory 5.1). Sparse scores
 * have a mean by counting, and a variance only if both ends of the mean are counted. Non-zero:
 * there is no bound, because all scores are equal or have no finite range. */
int cr_mean_bounds_asymptotic(cr_view *, const cr_conditions *, const cr_condition *,
                              certreg_bounds *);

/* ---- Bounds by betting, without normality (theory 6.4, 6.5, 6.9). The exact bound of the
 * median is here as well. */
typedef struct cr_finite_sample_problem { /* a bound of one score of the conditions */
    cr_view *view;
    const cr_conditions *conditions;
    const cr_score *score;
    double alpha;            /* probability that the bounds of this score miss, in (0, 1) */
    size_t forecast_samples; /* 0; or the main samples of a forecast from the pilot alone, on which
                        no bound rests */
} cr_finite_sample_problem;

/* Sets bounds of a score, in its unit (theory 6.4): of its second moment about a center from the
 * pilot, or of its mean if the constraints lack the variance; of both for the output itself. The
 * bound is an end of the range, which may be infinite, if nothing better is proved. */
void cr_finite_sample_bounds(const cr_finite_sample_problem *, uint32_t constraints,
                             certreg_bounds *);
/* Returns a lower bound at level alpha of the mean of the condition's H, and sets the bounds of the
 * score that follow from it (theory 6.9). */
double cr_finite_sample_distribution_bound(cr_view *, const cr_conditions *, const cr_condition *,
                                           double alpha, certreg_bounds *b);

/* ---- Upper bound of the gradient norm kappa = ||E[u e]|| of a bounded score, valid at every
 * number of samples (theory 6.6). */
typedef struct cr_martingale_problem {
    /* Main samples. Their score and center do not depend on them; the samples before them are the
     * pilot. */
    cr_samples samples;
    double range_lo, range_hi; /* of the score */
    double second_moment_hi;   /* of E (u - c)^2; infinite: only the range is known */
    double cap;                /* known bound of kappa; infinite: none */
    /* Probability that the bound is too small although second_moment_hi and cap hold; in (0, 1). */
    double alpha;
} cr_martingale_problem;

/* Sets *upper, in the unit of the score: at most cap and sqrt(second_moment_hi), and no better if
 * the score has no finite range or there are fewer than 64 samples. Replays the noise unless it was
 * swept before, so the estimator needs memory for the gradient. Errors: of the replay. */
certreg_status cr_gradient_martingale_upper(cr_replay *, const cr_martingale_problem *,
                                            double *upper);

/* ---- Bounds of the gradient norm kappa = ||E[u e]|| of each score u of a question. */
/* Adds the bounds of kappa, in the unit of the score, to the given bounds of each condition that
 * has a gradient, at CR_ALPHA_FRACTION_GRADIENT of alpha: asymptotic (theory 5.1), or from the
 * given mean and moment without normality (theory 6.6). One call for all conditions, since they
 * share a replay. Errors: WRONG_STATE if there are fewer main samples than plan.blocks
 * (asymptotic), and errors of the replay. */
certreg_status cr_gradient_bounds_compute(cr_replay *, const cr_conditions *, cr_bound *bounds);
/* Requests the sweep that cr_gradient_bounds_compute needs, so that one sweep serves several
 * questions. Returns 0 if there is no memory for it, else 1. */
int cr_gradient_bounds_prefetch(cr_replay *, const cr_conditions *);

#endif
