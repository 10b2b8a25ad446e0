/* One call of certify. */
#ifndef CR_CERTIFY_CERTIFY_H
#define CR_CERTIFY_CERTIFY_H
#include "certify/request.h"

/* Samples, and answers every question. *stop: CERTREG_STOP_... or CR_STOP_FAILED. */
certreg_status cr_certify(const cr_context *, const cr_call *, int *stop, certreg_certificate *out);
/* Keeps the first failure of several, with its number if `what` names what is counted. */
void cr_certify_keep_first_error(const cr_context *, certreg_status, const char *what, size_t index,
                                 certreg_error *first);

#endif
