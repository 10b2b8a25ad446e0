/* How far to sample: to the number requested, or until every target is settled. */
#ifndef CR_CERTIFY_SETTLE_H
#define CR_CERTIFY_SETTLE_H
#include "certify/job.h"

/* Samples for the questions of a job; its `stop` says why it ended. */
certreg_status cr_settle(const cr_work *, cr_job *);

#endif
