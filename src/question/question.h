/* A question inside the library: the fields that were given, and the fields that follow from them.
 * A call of certify parses and validates each question anew in every pass, because it takes any
 * number of questions without memory for them, and because callbacks may write to the caller's
 * arrays meanwhile. */
#ifndef CR_QUESTION_QUESTION_H
#define CR_QUESTION_QUESTION_H
#include "certreg/question.h"
#include "question/registry.h"
#include "record/record_view.h"

/* Parsed from the public structs. */
typedef struct cr_given {
    int32_t output, statistic, method, center;
    uint32_t constraints; /* 0: the default of the method */
    int32_t prediction_given;
    double tolerance, huber_width, prediction;
    const double *predictions; /* the caller's: all numbers of a vector; NULL: none given */
    size_t prediction_count;
    size_t output_count;
    double alpha;          /* after all divisions */
    double target;         /* radius; 0: none */
    const uint64_t *looks; /* the caller's; NULL: the default ones */
    size_t look_count;
    size_t served_samples; /* 0: the certificate is about T itself */
    double served_rate, served_trim, served_core;
    int served_pairs; /* from pairs of opposite noise */
    double at_radius; /* > 0: output bounds at this radius are requested, not a radius */
    uint64_t bonferroni;
    uint64_t digest; /* certreg_question_digest */
} cr_given;

typedef struct cr_question {
    cr_given given;
    /* ---- these follow from it, and from the model: cr_question_resolve */
    const cr_statistic *statistic;
    const cr_method *method;
    const cr_center *center;
    size_t first, end, outputs; /* the outputs first .. end-1, and their number */
    size_t directions; /* of a vector, which is certified along one after the other; else 1 */
    double period;     /* a full turn; 0 for an output that counts as a number */
    uint32_t solver_constraints; /* allowed to the solver: the scores of a median have no variance,
                                    but those of its near conditions may have one */
    int is_vector;
    int has_directions;
    int is_angle;
    int is_counted;   /* its own scores have two values */
    int is_bounded;   /* its scores have finite bounds, whatever the range of the outputs */
    int is_group;     /* the group-sequential test of a target radius */
    int is_ordered;   /* output bounds by order statistics */
    int about_output; /* bounds of f itself are used, not of scores */
    int by_estimate;  /* about the estimate from all noisy samples, not about a prediction */
    /* ---- set by an interim look */
    const double *found; /* the prediction that an earlier look chose; NULL: none */
} cr_question;

/* The number of served samples in bounds of bounded scores: half of them for pairs (theory 1.5). */
static inline double cr_question_served_count(const cr_question *q)
{
    return (q->given.served_pairs ? 0.5 : 1) * (double)q->given.served_samples;
}

/* ---- parse.c: no estimator is needed */
/* Parses element `index` of a caller's array whose first struct_size has been checked. alpha is
 * divided by question.bonferroni and by `share`. */
certreg_status cr_question_parse(const certreg_question *questions, size_t index, uint64_t share,
                                 cr_given *out, certreg_error *why);
/* Continues a hash by the caller's looks and their number. */
uint64_t cr_question_hash_looks(uint64_t h, const cr_given *);

/* ---- validate.c */
/* Resolves what was given, and validates it for this model and plan; no record is needed. The error
 * names the field and the remedy. */
certreg_status cr_question_validate(cr_view *, cr_question *, certreg_error *why);
/* Parses and validates a single question about the input that was begun. */
certreg_status cr_question_load(cr_view *, const certreg_question *, cr_question *out,
                                certreg_error *why);
/* The same for a server, without the fields that only a certificate needs: a prediction, the looks
 * of a target, constraints of the plan. */
certreg_status cr_question_load_for_estimate(cr_view *, const certreg_question *, cr_question *out,
                                             certreg_error *why);

/* ---- question.c */
/* Fills in what follows; its output is one of the model's, and its values have rows. */
void cr_question_resolve(cr_view *, cr_question *);
/* The same question about one output of a vector. */
cr_question cr_question_of_output(cr_view *, const cr_question *, size_t k);
/* Digest of the looks that come with a question for the group-sequential test; 0: it has none. */
uint64_t cr_question_looks_digest(const cr_question *);
/* WRONG_STATE, with the remedy, if an earlier answer may have chosen this number of samples (theory
 * 5.2). OUT_OF_RANGE if an output of the record is outside its declared range. */
certreg_status cr_question_check_reuse(cr_view *, const cr_question *, uint64_t samples,
                                       certreg_error *why);

#endif
