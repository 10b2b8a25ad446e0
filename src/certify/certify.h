/* A call of certify, for the public functions that make one. */
#ifndef CR_CERTIFY_CERTIFY_H
#define CR_CERTIFY_CERTIFY_H
#include "certify/request.h"

/* Samples, and writes the answer to every question into `out`, an array of call->count certificates
 * with the struct_size of its first. Sets *stop to CERTREG_STOP_..., or to CR_STOP_FAILED if no
 * question was answered. Returns the first failure; its text names the question if there are
 * several. */
certreg_status cr_certify(const cr_context *, const cr_call *, int *stop, certreg_certificate *out);
/* Keeps the present error in *first if it is the first failure. `what` (may be NULL) and index name
 * the element that failed. */
void cr_certify_keep_first_error(const cr_context *, certreg_status, const char *what, size_t index,
                                 certreg_error *first);

#endif
