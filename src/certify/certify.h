/* certreg_certify with what the calls built upon it need besides. */
#ifndef CR_CERTIFY_CERTIFY_H
#define CR_CERTIFY_CERTIFY_H
#include "estimator/estimator.h"

enum { CR_STOP_FAILED = -1 }; /* beside CERTREG_STOP_...: no question was answered */

/* Every call here begins and ends with these: both handles are its own until it returns. The
 * bisection may be NULL. After a failure there is nothing to leave. */
certreg_status cr_certify_enter(certreg_estimator *, certreg_bisection *);
certreg_status cr_certify_leave(certreg_estimator *, certreg_bisection *, certreg_status);
/* share: alpha of every question is divided by it, besides question.bonferroni. *stop: why sampling
 * ended. */
certreg_status cr_certify(certreg_estimator *, certreg_bisection *, size_t samples,
                          const certreg_question *questions, size_t count, uint32_t share,
                          int *stop, certreg_certificate *out);
/* A certificate without any claim into every element, if `out` can be written at all. The estimator
 * may be NULL. */
void cr_certify_nothing(const certreg_estimator *, certreg_status, int stop, size_t count,
                        certreg_certificate *out);
/* The first failure of several is what a call reports: with its number, where it is one of several
 * (what not NULL). */
void cr_certify_keep_first(const certreg_estimator *, certreg_status, const char *what,
                           size_t index, certreg_error *first);

#endif
