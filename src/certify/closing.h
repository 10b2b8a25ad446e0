/* The closing computation in time: what it is expected to take, and its watch (theory 5.1). */
#ifndef CR_CERTIFY_CLOSING_H
#define CR_CERTIFY_CLOSING_H
#include "estimator/work.h"
#include "question/question.h"

/* Continues a hash by what the time depends on. */
uint64_t cr_closing_hash(uint64_t so_far, const cr_question *);
/* What is known of questions with this hash; where that is nothing, in the place of those that
 * came longest ago. */
cr_cost *cr_closing_cost(const cr_work *, uint64_t asked);

/* From now on the watch runs, to the deadline and at most for so many seconds. Returns the time. */
double cr_closing_start(const cr_work *, double most);
/* The watch stops, its time is the library's, and what was learned is kept: of all questions
 * answered from so many `samples`; of fewer questions, where that is 0, only that they were given
 * up. Returns non-zero if they were. */
int cr_closing_end(const cr_work *, double start, size_t samples);

#endif
