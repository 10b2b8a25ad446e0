/* One question answered from the record. */
#ifndef CR_CERTIFY_ANSWER_H
#define CR_CERTIFY_ANSWER_H
#include "certreg/solver.h"
#include "question/conditions.h"

typedef struct cr_answer { /* what the question before came down to: questions that differ in family
                              or tolerance may share it */
    certreg_question question;
    cr_conditions conditions;
    certreg_bounds bounds[CR_CONDITIONS];
    int known, abstained;
    int told; /* some question told an answer or an estimate, maybe from main samples */
} cr_answer;

/* A certificate that claims nothing, with the fields that are known before anything is estimated.
 * The estimator may be NULL. */
void cr_answer_blank(const certreg_estimator *, const certreg_question *, certreg_certificate *);
/* Fills the certificate. `samples`: as many as the answer was asked at. `stopped`: sampling ended
 * early, so that too few samples are an outcome and no failure. CERTREG_E_DEADLINE where the answer
 * was given up: the certificate claims nothing then. *answer ends with the conditions of this
 * question. */
certreg_status cr_answer_question(certreg_estimator *, const certreg_question *, uint64_t samples,
                                  int stopped, cr_answer *answer, certreg_certificate *);

/* The largest radius at which all conditions hold, from the bounds that were found. */
certreg_status cr_answer_solve(certreg_estimator *, const cr_answer *, certreg_radius *);

/* ---- reach.c: the inverse question. *from, *to: where T lies over the ball; infinite where
 * nothing is proven. */
certreg_status cr_output_bounds_find(certreg_estimator *, cr_answer *, double *from, double *to);

#endif
