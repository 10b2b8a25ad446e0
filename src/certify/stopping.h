/* The stopping rule of sampling (theory 5.2 and 6). */
#ifndef CR_CERTIFY_STOPPING_H
#define CR_CERTIFY_STOPPING_H
#include "certify/request.h"

/* Samples up to the requested number, or, if every valid question has a target, until each target
 * is proven or out of reach; a cancel or the deadline ends it earlier. Sets request->stop. */
certreg_status cr_stopping_sample(const cr_context *, cr_request *);

#endif
