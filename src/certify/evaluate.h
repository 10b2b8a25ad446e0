/* One question, from the record to its certificate. */
#ifndef CR_CERTIFY_EVALUATE_H
#define CR_CERTIFY_EVALUATE_H
#include "certify/condition_radius.h"

/* Answers a validated question from the record. `samples`: the number at which it is evaluated.
 * `stopped`: sampling ended early, so that too few samples are an outcome and no failure. DEADLINE
 * if there was not enough time; the certificate then claims nothing. *e ends with the conditions of
 * this question. */
certreg_status cr_evaluate_question(const cr_context *, const cr_question *, uint64_t samples,
                                    int stopped, cr_evaluation *e, certreg_certificate *);
#endif
