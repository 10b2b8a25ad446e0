/* One call of certify: the questions that it brings, and the outcome of sampling for them. */
#ifndef CR_CERTIFY_REQUEST_H
#define CR_CERTIFY_REQUEST_H
#include "estimator/context.h"
#include "question/question.h"

enum { CR_STOP_FAILED = -1 }; /* in addition to CERTREG_STOP_...: no question was answered */

typedef struct cr_call { /* the arguments of the caller */
    size_t total_samples;
    const certreg_question *questions;
    size_t count;
    uint64_t share;   /* alpha of every question is divided by it, and by question.bonferroni */
    int inverse;      /* output bounds are requested: */
    double at_radius; /*   at this radius; else 0 */
    int all_or_none;  /* one invalid question leaves all unanswered */
} cr_call;

typedef struct cr_request {
    const cr_call *call;
    certreg_certificate *out;
    uint32_t size;               /* of each certificate */
    certreg_error first_invalid; /* of the first question that is invalid */
    uint64_t looks;              /* of the first question that brings some */
    uint64_t samples; /* at which they are evaluated: present or requested, whichever is more */
    int stop;         /* CERTREG_STOP_..., or CR_STOP_FAILED */
    int main_samples_revealed; /* a result from main samples was returned, or decided whether to
                                  sample on */
    int count_chosen_by_outputs;
    int any_valid;      /* some question has an answer; else there is nothing to sample for */
    int all_targets;    /* each valid question has a target. Only then may their outcome end the
                           sampling: other questions count on all samples. */
    size_t min_samples; /* the fewest that answer one of them */
    uint64_t timer_key;
    uint64_t foretold; /* digest of the question that an interim look evaluated last */
    double foretold_prediction;
} cr_request;

static inline certreg_certificate *cr_request_certificate(const cr_request *r, size_t index)
{
    return (certreg_certificate *)((unsigned char *)r->out + index * r->size);
}

/* Parses and validates every question, writes a certificate without any claim for each, and fills
 * in what they have in common. */
void cr_request_check(const cr_context *, cr_request *);
/* Parses and validates one question. INVALID or VERSION if it is wrong; zero if it cannot be
 * read. */
certreg_status cr_request_question(const cr_context *, const cr_request *, size_t index,
                                   cr_question *out);

#endif
