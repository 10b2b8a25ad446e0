/* The stopping rule of sampling (theory 5.2 and 6). */
#ifndef CR_CERTIFY_STOPPING_H
#define CR_CERTIFY_STOPPING_H
#include "certify/request.h"

/* Samples up to the requested number; if every valid question has a target, until each target is
 * proved or out of reach. Ends earlier after a cancel or at the deadline, and at once if no
 * question can be answered. Sets request->stop. Returns failures of sampling, and TOO_MANY if the
 * plan has fewer samples. */
certreg_status cr_stopping_sample(const cr_context *, cr_request *);

#endif
