/* Combinations of the parts of a question. Every refusal names the values that can be combined. */
#ifndef CR_QUESTION_COMPATIBILITY_H
#define CR_QUESTION_COMPATIBILITY_H
#include "question/question.h"

/* Fails with INVALID if statistic, method and center cannot be combined, or if one of them does not
 * support all of `required`, a set of enum cr_capability. */
certreg_status cr_compatibility_check(const cr_question *, uint32_t required, certreg_error *why);
/* Returns the set of CERTREG_CONSTRAINT_... that can be combined with the question's outputs and
 * its target. */
uint32_t cr_compatibility_constraints(const cr_question *);
/* Fails with INVALID if the question names a constraint that it cannot use, or needs one that is
 * not in `plan`, the constraints of the plan. */
certreg_status cr_compatibility_check_constraints(const cr_question *, uint32_t plan,
                                                  certreg_error *why);

#endif
