/* One question, from the record to its certificate. */
#ifndef CR_CERTIFY_EVALUATE_H
#define CR_CERTIFY_EVALUATE_H
#include "certify/condition_radius.h"

/* Answers a validated question from the record, and sets every field of the certificate except
 * status and stop. `samples`: the number at which it is evaluated. `stopped`: sampling ended early,
 * so that too few samples are an outcome and no failure. DEADLINE if the time ran out: the
 * certificate then claims nothing. *e is zero before the first question; afterwards it has the
 * previous evaluation, because its bounds may hold again. */
certreg_status cr_evaluate_question(const cr_context *, const cr_question *, uint64_t samples,
                                    int stopped, cr_evaluation *e, certreg_certificate *);
#endif
