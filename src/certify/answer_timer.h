/* The time that answers take after the last batch, learned from earlier calls, so that sampling
 * ends before a deadline (theory 5.1). */
#ifndef CR_CERTIFY_ANSWER_TIMER_H
#define CR_CERTIFY_ANSWER_TIMER_H
#include "estimator/context.h"
#include "question/question.h"

/* Continues a hash with the fields of a question on which the time depends; never 0. */
uint64_t cr_answer_timer_key(uint64_t so_far, const cr_question *);
/* Returns the cost entry of questions with this key. If there is none, the oldest entry is
 * replaced. */
cr_answer_cost *cr_answer_timer_cost(const cr_context *, uint64_t key);
/* Sets the deadline of the answers: the deadline of the call, or the time after `max_seconds` if it
 * is earlier. Returns the time. */
double cr_answer_timer_start(const cr_context *, double max_seconds);
/* Ends the answers, adds their time to library_seconds, and updates the cost. `samples` is the
 * number from which all questions were answered; 0 if only some were, so that only a timeout is
 * learned. Returns 1 after a timeout, else 0. */
int cr_answer_timer_stop(const cr_context *, double start, size_t samples);

#endif
