#ifndef CR_QUESTION_TOGETHER_H
#define CR_QUESTION_TOGETHER_H
#include "question/question.h"
#include "question/rows.h"

/* Whether statistic, method and center go together. */
certreg_status cr_together_check_pairs(const cr_question *, certreg_error *why);
/* Whether the rows of all three have what is asked: enum cr_offer, together. */
certreg_status cr_together_check(const cr_question *, uint32_t asked, certreg_error *why);
/* The constraints that go with its outputs and its target. */
uint32_t cr_together_constraints(const cr_question *);
/* Whether it may name its constraints, and the plan has those that cost something. */
certreg_status cr_together_check_constraints(const cr_question *, uint32_t plan,
                                             certreg_error *why);

#endif
