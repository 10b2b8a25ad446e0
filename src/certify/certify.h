/* certreg_certify, with what the functions built on it need in addition. */
#ifndef CR_CERTIFY_CERTIFY_H
#define CR_CERTIFY_CERTIFY_H
#include "certify/job.h"

/* Samples and answers. *stop: CERTREG_STOP_... or CR_STOP_FAILED. */
certreg_status cr_certify(const cr_work *, const cr_call *, int *stop, certreg_certificate *out);
/* A certificate without any claim into every element, if `out` can be written at all. The estimator
 * may be NULL. */
void cr_certify_nothing(cr_view *, certreg_status, int stop, size_t count,
                        certreg_certificate *out);
/* The first failure of several is what a call reports: with its number, where it is one of several
 * (what not NULL). */
void cr_certify_keep_first(const cr_work *, certreg_status, const char *what, size_t index,
                           certreg_error *first);

#endif
