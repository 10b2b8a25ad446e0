/* Whether the parts of a question can be combined. Every refusal names the values that can. */
#ifndef CR_QUESTION_COMPATIBILITY_H
#define CR_QUESTION_COMPATIBILITY_H
#include "question/question.h"

/* Refuses a statistic, a method and a center that cannot be combined. */
certreg_status cr_compatibility_check_values(const cr_question *, certreg_error *why);
/* Refuses a question whose rows do not all support `required`, a set of enum cr_capability. */
certreg_status cr_compatibility_check(const cr_question *, uint32_t required, certreg_error *why);
/* The constraints that can be combined with its outputs and its target. */
uint32_t cr_compatibility_constraints(const cr_question *);
/* Refuses named constraints that the question cannot use, or that the plan lacks. */
certreg_status cr_compatibility_check_constraints(const cr_question *, uint32_t plan,
                                                  certreg_error *why);

#endif
