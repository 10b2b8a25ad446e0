/* A call of certify: its arguments, and the outcome of its questions and of sampling for them. */
#ifndef CR_CERTIFY_REQUEST_H
#define CR_CERTIFY_REQUEST_H
#include "estimator/context.h"
#include "question/question.h"

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

typedef struct cr_request {
    const cr_call *call;
    certreg_certificate *out;
    uint32_t size;               /* of each certificate */
    certreg_error first_invalid; /* of the first question that is invalid */
    uint64_t looks;              /* digest of the first looks that a question brings; 0: none */
    uint64_t samples; /* the number at which questions are evaluated: present or requested */
    int stop;         /* CERTREG_STOP_..., or CR_STOP_FAILED */
    int main_samples_revealed;   /* a result from main samples was returned, or decided whether to
                                    sample on */
    int count_chosen_by_outputs; /* 1: outputs may have ended the sampling */
    int any_valid;          /* some question has an answer; else there is nothing to sample for */
    int all_targets;        /* each valid question has a target. Only then may their outcome end the
                               sampling: other questions count on all samples. */
    size_t min_samples;     /* the smallest number that answers one of them */
    uint64_t timer_key;     /* cr_answer_timer_key of all questions with an answer */
    uint64_t look_question; /* digest of the question that the last interim look evaluated */
    double look_prediction; /* its prediction */
} cr_request;

/* Returns the certificate of a question, in the caller's array. */
static inline certreg_certificate *cr_request_certificate(const cr_request *r, size_t index)
{
    return (certreg_certificate *)((unsigned char *)r->out + index * r->size);
}

/* Parses and validates every question, writes a certificate without any claim for each, and sets
 * the fields that they have in common. */
void cr_request_check(const cr_context *, cr_request *);
/* Parses and validates one question. Fails with INVALID or VERSION; *out is all zero if the
 * question cannot be read. */
certreg_status cr_request_question(const cr_context *, const cr_request *, size_t index,
                                   cr_question *out);

#endif
