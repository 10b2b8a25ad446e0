/* The drivers: one call of certify, and one question. */
#ifndef CR_CERTIFY_CERTIFY_H
#define CR_CERTIFY_CERTIFY_H
#include "certify/condition_radius.h"
#include "certify/request.h"

/* Samples, and answers every question. *stop: CERTREG_STOP_... or CR_STOP_FAILED. */
certreg_status cr_certify(const cr_work *, const cr_call *, int *stop, certreg_certificate *out);
/* Answers a validated question from the record. `samples`: the number at which it is evaluated.
 * `stopped`: sampling ended early, so that too few samples are an outcome and no failure. DEADLINE
 * if there was not enough time; the certificate then claims nothing. *e ends with the conditions of
 * this question. */
certreg_status cr_certify_question(const cr_work *, const cr_question *, uint64_t samples,
                                   int stopped, cr_evaluation *e, certreg_certificate *);
/* Keeps the first failure of several, with its number if `what` names what is counted. */
void cr_certify_keep_first_error(const cr_work *, certreg_status, const char *what, size_t index,
                                 certreg_error *first);

#endif
