/* A question as the library keeps it: read from the public structs, flat, with what follows from
 * it. A call of certify reads and checks it anew in every pass. */
#ifndef CR_QUESTION_QUESTION_H
#define CR_QUESTION_QUESTION_H
#include "certreg/question.h"
#include "question/rows.h"
#include "record/scratch.h"
#include "record/view.h"

typedef struct cr_question {
    int32_t output, statistic, method, center;
    uint32_t constraints; /* 0: the method's default */
    int32_t prediction_given;
    double tolerance, huber_width, prediction;
    const double *predictions; /* the caller's: all numbers of a vector; NULL: none given */
    size_t prediction_count;
    size_t output_count;   /* as given */
    double alpha;          /* after all divisions */
    double target;         /* radius; 0: none */
    const uint64_t *looks; /* the caller's; NULL: the usual ones */
    size_t look_count;
    size_t served_samples; /* 0: T itself */
    double served_rate, served_trim, served_core;
    int served_pairs; /* from pairs of opposite noise */
    double at_radius; /* > 0: output bounds at this radius are asked for, not a radius */
    uint64_t bonferroni;
    uint64_t digest; /* certreg_question_digest */
    /* Not NULL: an interim look, at a pilot of which this prediction was found already. */
    const double *found;
    /* ---- what follows from these, and the model: cr_question_resolve */
    const cr_statistic *statistic_row;
    const cr_method *method_row;
    const cr_center *center_row;
    size_t first, end, outputs; /* those that it is about: first .. end-1, and how many */
    size_t directions; /* of a vector, along which it is certified one after the other; else 1 */
    double period;     /* a full turn; 0 of what is taken as a number */
    uint32_t solver_constraints; /* that the solver may use: a median's own scores have no variance,
                                    but its near conditions may */
    int is_vector;
    int has_directions;
    int is_angle;
    int is_counted;   /* its own scores have two values */
    int is_bounded;   /* they have bounds of their own, whatever the range of the outputs */
    int is_group;     /* the group-sequential test of a target radius */
    int is_ordered;   /* output bounds by order statistics */
    int about_output; /* bounds of f itself are used, not of scores */
    int by_estimate;  /* about the estimate from all noisy samples, not about a prediction */
} cr_question;

/* How many served samples count where scores are bounded: of pairs half (theory 1.5). */
static inline double cr_question_served_count(const cr_question *q)
{
    return (q->served_pairs ? 0.5 : 1) * (double)q->served_samples;
}

/* ---- read.c: no estimator is needed */
/* Element `index` of a caller's array whose first struct_size has been checked. alpha is divided by
 * question.bonferroni and by `share`. */
certreg_status cr_read_question(const certreg_question *questions, size_t index, uint64_t share,
                                cr_question *out, certreg_error *why);

/* Continues a hash by the caller's looks, and how many they are. */
uint64_t cr_read_hash_looks(uint64_t h, const cr_question *);

/* ---- sense.c */
/* Whether it makes sense for this model and plan, and what follows; no record is needed. The error
 * names the field and the remedy. */
certreg_status cr_sense_check(cr_view *, cr_question *, certreg_error *why);
/* A single question about the input that was begun, read and checked. */
certreg_status cr_sense_take(cr_view *, const certreg_question *, cr_question *out,
                             certreg_error *why);
/* The same for a server: what only a certificate needs (a prediction, the target's looks,
 * constraints of the plan) may be missing. */
certreg_status cr_sense_take_for_estimate(cr_view *, const certreg_question *, cr_question *out,
                                          certreg_error *why);

/* ---- question.c: at which numbers of samples a record may be evaluated (theory 5.2) */
/* Digest of the looks that come with a question for the group-sequential test; 0: it has none. */
uint64_t cr_allowed_looks(const cr_question *);
/* WRONG_STATE, with the remedy, where an earlier answer may have chosen this number of samples. */
certreg_status cr_allowed_now(cr_view *, const cr_question *, uint64_t samples, certreg_error *why);

/* Its output is one of the model's, and its names are known. */
void cr_question_resolve(cr_view *, cr_question *);
/* The same about one output of a vector. */
cr_question cr_question_of_output(cr_view *, const cr_question *, size_t k);

#endif
