/* A question inside the library: the fields that were given, and the fields that follow from them.
 * A call of certify parses and validates each question anew in every pass, because it takes any
 * number of questions without memory for them, and because callbacks may write to the caller's
 * arrays meanwhile. */
#ifndef CR_QUESTION_QUESTION_H
#define CR_QUESTION_QUESTION_H
#include "certreg/question.h"
#include "question/registry.h"
#include "record/record_view.h"

typedef struct cr_given { /* parsed from the public structs, with defaults filled in */
    int32_t output, statistic, method, center;
    uint32_t constraints; /* 0: the default of the method */
    int32_t prediction_given;
    double tolerance; /* NaN: a part of the prediction, which the pilot chooses */
    double relative_tolerance, huber_width, prediction;
    const double *predictions; /* the caller's: all numbers of a vector; NULL: none given */
    size_t prediction_count;
    size_t output_count;   /* 0 or 1: a single output, or all of them */
    double alpha;          /* after all divisions */
    double target_radius;  /* 0: none */
    const uint64_t *looks; /* the caller's; NULL: the default ones */
    size_t look_count;
    size_t serving_samples; /* 0: the certificate is about T itself */
    double serving_failure_rate, serving_trim, serving_core; /* as in certreg_serving */
    int serving_pairs; /* 1: served from pairs of opposite noise */
    double at_radius;  /* > 0: output bounds at this radius are requested, not a radius */
    uint64_t bonferroni;
    uint64_t digest; /* certreg_question_digest */
} cr_given;

typedef struct cr_question {
    cr_given given;
    /* ---- these follow from it, and from the model: cr_question_resolve */
    const cr_statistic *statistic;
    const cr_method *method;
    const cr_center *center;
    size_t first_output, end_output, outputs; /* first_output .. end_output-1; their number */
    size_t directions;           /* directions of a vector, certified in turn; else 1 */
    double period;               /* a full turn; 0: the output counts as a number */
    double angle_rounding;       /* of recorded angles, at most; 0 without a period */
    uint32_t solver_constraints; /* that the solver may use; 0: all. The scores of a median have no
                                    variance, but its near conditions may have one */
    int is_vector;
    int has_directions; /* a vector that is certified along directions, not as a whole */
    int is_angle;
    int is_binomial;         /* its own scores have two values */
    int is_bounded;          /* its scores have finite bounds, whatever the range of the outputs */
    int is_group_sequential; /* the group-sequential test of a target radius */
    int uses_order_statistics; /* output bounds by order statistics */
    int bounds_output;         /* bounds of f itself are used, not of scores */
    int about_estimate; /* about the estimate from all noisy samples, not about a prediction */
    /* ---- set by an interim look */
    const double *cached_prediction; /* chosen by an earlier look; NULL: none */
} cr_question;

/* The number of served samples in bounds of bounded scores: half of them for pairs (theory 1.5). */
static inline double cr_question_served_count(const cr_question *q)
{
    return (q->given.serving_pairs ? 0.5 : 1) * (double)q->given.serving_samples;
}

/* ---- parse.c: no estimator is needed */
/* Parses element `index` of a caller's array, after the struct_size of its first element has been
 * checked. Divides alpha by question.bonferroni and by `share`. Fails with INVALID or VERSION. */
certreg_status cr_question_parse(const certreg_question *questions, size_t index, uint64_t share,
                                 cr_given *out, certreg_error *why);
/* Returns a digest of the looks that the caller gave to a group-sequential test; 0: none given. The
 * question is resolved. */
uint64_t cr_question_looks_digest(const cr_question *);

/* ---- validate.c */
/* Sets the fields that follow from the given ones. The output is one of the model's. A row is NULL
 * if its value has none; all other fields are then unset. */
void cr_question_resolve(cr_view *, cr_question *);
/* Returns the same question about output k of its vector alone. */
cr_question cr_question_of_output(cr_view *, const cr_question *, size_t k);
/* Resolves what was given, and validates it for this model and plan; no record is needed. The error
 * names the field and the remedy. */
certreg_status cr_question_validate(cr_view *, cr_question *, certreg_error *why);
/* Returns the part of the norm of a prediction that is the tolerance, rounded down (theory 1.10).
 */
double cr_question_relative_tolerance(const cr_question *, const double *prediction);
/* Parses and validates a single question about the input that was begun; WRONG_STATE before. */
certreg_status cr_question_load(cr_view *, const certreg_question *, cr_question *out,
                                certreg_error *why);
/* The same for a server, without the fields that only a certificate needs: a prediction, the looks
 * of a target, constraints of the plan. */
certreg_status cr_question_load_for_estimate(cr_view *, const certreg_question *, cr_question *out,
                                             certreg_error *why);

#endif
