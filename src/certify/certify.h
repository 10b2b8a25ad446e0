/* The parts of certify: the evaluation of one question, certificates, and a call for several
 * questions. */
#ifndef CR_CERTIFY_CERTIFY_H
#define CR_CERTIFY_CERTIFY_H
#include "bounds/bounds.h"
#include "conditions/conditions.h"
#include "estimator/context.h"
#include "question/question.h"

/* ---- The evaluation of a question, and the radius at which its conditions hold. Of the files of
 * this room evaluate.c alone uses the solver. */
typedef struct cr_condition_radius { /* all zero: nothing is proved */
    int32_t outcome;                 /* CERTREG_OUTCOME_... */
    int32_t limiting_side;           /* CERTREG_SIDE_... of the limiting condition */
    size_t direction;                /* of a vector, the one with this radius */
    int limiting;                    /* index of the condition that gives the radius */
    double radius;                   /* in the unit of the noise */
    uint32_t constraints;            /* that the bounds of the limiting condition have */
} cr_condition_radius;

typedef struct cr_evaluation { /* of one question */
    cr_conditions conditions;
    cr_bound bounds[CR_CONDITIONS];
    int has_bounds; /* 1: `bounds` are found, and may hold for the next question too */
    int abstained;  /* 1: some score has no bound */
    cr_condition_radius proven;
    certreg_status status; /* CERTREG_OK, or why the evaluation ended, which may be an abstention */
    int reported; /* 1: some question reported an answer or an estimate, maybe from main samples */
} cr_evaluation;

/* ---- Writing certificates: without a claim, with a status, with the radius in all norms. */
/* Sets a certificate that claims nothing, with the fields that are known before anything is
 * estimated. Record and question may be NULL. */
void cr_certificate_init(cr_view *, const cr_question *, certreg_certificate *);
/* Sets the status. After a failure, prediction, estimate, tolerance and alpha are NaN, so that no
 * table averages them. */
void cr_certificate_set_status(certreg_status, certreg_certificate *);
/* Sets the fields of what was proved; no claim, if `proven` has abstained. */
void cr_certificate_fill(cr_view *, const cr_evaluation *, const cr_condition_radius *proven,
                         certreg_certificate *);
/* Sets what an audit of the record says of the outputs of a question. */
void cr_certificate_set_audit(cr_view *, const cr_conditions *, certreg_certificate *);
/* Sets the number of outputs that were asked again, without a difference. */
void cr_certificate_set_asked(cr_view *, certreg_certificate *);
/* For outputs that were rounded to float: widens output bounds by half a step. OUT_OF_RANGE, about
 * no sample, if a radius was proved and steps are too large for the tolerance. */
certreg_status cr_certificate_allow_for_rounding(cr_view *, const cr_evaluation *,
                                                 certreg_certificate *, certreg_error *why);
/* OUT_OF_RANGE if these steps are too large for the tolerance of a certificate about a number. */
certreg_status cr_certificate_check_steps(const certreg_certificate *, certreg_error *why);
/* Writes a certificate without any claim into every element of a caller's array, if its struct_size
 * is valid. The record may be NULL. */
void cr_certificate_write_empty(cr_view *, certreg_status, int stop, size_t count,
                                certreg_certificate *out);

/* The numbers below a count in the ascending order of key(items, number); of equal keys the smaller
 * number is first. They are kept in `samples` of certificates that the call writes later. */
typedef struct cr_order {
    certreg_certificate *out;
    uint32_t size; /* of one */
    double (*key)(const void *items, size_t number);
    const void *items;
} cr_order;
void cr_order_make(const cr_order *, size_t count);
size_t cr_order_at(const cr_order *, size_t at);

/* Sets the radii in other norms from radius and scale (NULL: all 1). */
void cr_certificate_set_norms(const float *scale, size_t inputs, certreg_certificate *);
/* Returns the root of a sum of so many squares, rounded up. */
double cr_certificate_norm(double squares, size_t inputs);
/* Shortens all radii of a certificate by a length in the norm of its radius; an abstention if none
 * is left. */
void cr_certificate_shorten(double by, const float *scale, size_t inputs, certreg_certificate *);

typedef struct cr_joined { /* certificates of an input and its alternatives (theory 1.11) */
    const certreg_certificate *own, *limiting; /* of the input, and of the tightest alternative */
    double left; /* its radius without its margin; 0 or below: nothing is proved */
    int moved;   /* its estimate is out of the tolerance */
    double alpha;
    uint64_t digest, samples; /* of the question; of all records */
    int stop;
    uint64_t audited;    /* the least number of outputs that were asked again */
    double change, band; /* the largest of all records */
} cr_joined;

/* Sets the certificate about the input and all alternatives. */
void cr_certificate_join(cr_view *, const cr_joined *, certreg_certificate *);

/* Returns the radius, in units of sigma and at most `cap`, at which a condition holds with k units
 * of arbitrary values: out has at most the probability `out` without them, and may have at most
 * `allowed`. */
double cr_radius_with_faults(cr_view *, double allowed, uint64_t k, double out, double cap);
/* Converts a radius for `from` units of arbitrary values to one for k units; in units of sigma. The
 * condition allows the share `allowed` out (theory 1.12). */
double cr_fault_radius(cr_view *, double allowed, uint64_t from, uint64_t k, double radius);

/* ---- The choice between two bounds of a score: by its moments, or by its whole law (theory
 * 6.9). */
/* Sets for each condition the law of its score, or mean and variance, or the mean alone, as the
 * pilot chooses. A true mean may get two conditions, one for each side. */
void cr_bound_selection_choose(const cr_context *, cr_conditions *);

/* ---- One question, from the record to its certificate. */
/* Answers a validated question from the record, and sets every field of the certificate except
 * status and stop. `samples`: the number at which it is evaluated. `stopped`: sampling ended early,
 * so that too few samples are an outcome and no failure. DEADLINE if the time ran out: the
 * certificate then claims nothing. *e is zero before the first question; afterwards it has the
 * previous evaluation, because its bounds may hold again. */
certreg_status cr_evaluate_question(const cr_context *, const cr_question *, uint64_t samples,
                                    int stopped, cr_evaluation *e, certreg_certificate *);
/* Sets the reason of a certificate that abstains, with the numbers that decide; after
 * cr_evaluate_question. (Interim looks, which report nothing, do without.) */
void cr_evaluate_reason(const cr_context *, const cr_evaluation *, certreg_certificate *);

/* ---- A call of certify: its arguments, and the outcome of its questions and of sampling for
 * them. */
enum { CR_STOP_FAILED = -1 }; /* in addition to CERTREG_STOP_...: no question was answered */

typedef struct cr_call { /* the arguments of the caller */
    size_t total_samples;
    const certreg_question *questions;
    size_t count;
    uint64_t share;   /* divides the alpha of every question, as question.bonferroni does */
    int inverse;      /* 1: output bounds are requested, */
    double at_radius; /*   at this radius; else 0 */
    int all_or_none;  /* 1: one invalid question leaves all unanswered */
} cr_call;

/* ---- The time that answers take after the last batch, learned from earlier calls, so that
 * sampling ends before a deadline (theory 5.1). */
/* Continues a hash with the fields of a question on which the time depends; never 0. */
uint64_t cr_answer_timer_key(uint64_t so_far, const cr_question *);

/* ---- A call of certify, for the public functions that make one. */
/* Samples, and writes the answer to every question into `out`, an array of call->count certificates
 * with the struct_size of its first. Sets *stop to CERTREG_STOP_..., or to CR_STOP_FAILED if no
 * question was answered. Returns the first failure; its text names the question if there are
 * several. */
certreg_status cr_certify(const cr_context *, const cr_call *, int *stop, certreg_certificate *out);
/* One step of such a call for samples that come from elsewhere, without a gap. Sets *goal to the
 * number of samples that the record needs before the next step; or to 0, and writes the answers.
 * `sampled`: CERTREG_OK, or why sampling has ended; DEADLINE and CANCELLED are answered. */
certreg_status cr_certify_step(const cr_context *, const cr_call *, certreg_status sampled,
                               size_t *goal, certreg_certificate *out);
/* Notes for the audit which outputs the certificates of a call, of this size each, make claims
 * about, and at which tolerances. Returns 1 if one is smaller than those that were judged. */
int cr_certify_note_claims(const cr_context *, const cr_call *, const certreg_certificate *,
                           size_t size);
/* Returns 1 if the audit found a difference in the record. */
int cr_certify_differs(cr_view *);
/* Keeps the present error in *first if it is the first failure. `what` (may be NULL) and index name
 * the element that failed. */
void cr_certify_keep_first_error(const cr_context *, certreg_status, const char *what, size_t index,
                                 certreg_error *first);

#endif
