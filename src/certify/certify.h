/* certreg_certify with what the calls built upon it need besides. */
#ifndef CR_CERTIFY_CERTIFY_H
#define CR_CERTIFY_CERTIFY_H
#include "estimator/estimator.h"

/* share: alpha of every question is divided by it, besides question.joint. */
certreg_status cr_certify(certreg_estimator *, certreg_bisection *, size_t samples, const certreg_question *questions, size_t count,
                          uint32_t share, certreg_certificate *out);
/* A certificate without any claim, with this status, into every element. */
void cr_certify_nothing(const certreg_estimator *, certreg_status, size_t count, certreg_certificate *out);

#endif
