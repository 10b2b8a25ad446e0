/* The time that answers take after the last batch, learned from earlier calls, so that sampling
 * ends before a deadline (theory 5.1). */
#ifndef CR_CERTIFY_ANSWER_TIMER_H
#define CR_CERTIFY_ANSWER_TIMER_H
#include "estimator/context.h"
#include "question/question.h"

/* Continues a hash by the fields on which the time depends. */
uint64_t cr_answer_timer_key(uint64_t so_far, const cr_question *);
/* The cost entry of questions with this key. If there is none, the oldest entry is replaced. */
cr_answer_cost *cr_answer_timer_cost(const cr_context *, uint64_t key);
/* Starts the watch, which ends at the deadline and after `max_seconds` at the latest. Returns the
 * time. */
double cr_answer_timer_start(const cr_context *, double max_seconds);
/* Stops the watch, adds its time to library_seconds, and updates the cost estimate: of all
 * questions answered from `samples` samples; if that is 0, of fewer questions, from which only a
 * timeout is learned. Returns non-zero after a timeout. */
int cr_answer_timer_stop(const cr_context *, double start, size_t samples);

#endif
