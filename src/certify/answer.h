/* One question answered from the record. */
#ifndef CR_CERTIFY_ANSWER_H
#define CR_CERTIFY_ANSWER_H
#include "certify/solve.h"

/* A certificate that claims nothing, with the fields that are known before anything is estimated.
 * Estimator and question may be NULL. */
void cr_answer_blank(cr_view *, const cr_question *, certreg_certificate *);
/* Whether the question was answered. A refused one has no numbers that a table could average. */
void cr_answer_status(certreg_status, certreg_certificate *);
/* The largest balls of other norms within ||D^-1 delta||_2 < radius; delta_j = 0 where scale_j = 0
 * (theory 7). Scale NULL: all 1. */
void cr_answer_norms(const float *scale, size_t inputs, certreg_certificate *);
/* Answers a question that has been checked, and fills the certificate. `samples`: the number at
 * which it is evaluated. `stopped`: sampling ended early, so that too few samples are an outcome
 * and no failure. CERTREG_E_DEADLINE where the answer was given up; the certificate then claims
 * nothing. *answer ends with the conditions of this question. */
certreg_status cr_answer_question(const cr_work *, const cr_question *, uint64_t samples,
                                  int stopped, cr_answer *answer, certreg_certificate *);
/* Wants the sweep that the question takes, if it takes one; 0: there is no room for it beside what
 * is wanted already. */
int cr_answer_want(const cr_work *, const cr_question *);

#endif
