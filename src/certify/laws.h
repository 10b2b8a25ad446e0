/* Which conditions of an answer are certified by the whole law of their scores. */
#ifndef CR_CERTIFY_LAWS_H
#define CR_CERTIFY_LAWS_H
#include "certify/solve.h"

/* Chosen by the pilot, then the bounds of all conditions are found (theory 6.9). Errors as
 * cr_bounds_find. */
certreg_status cr_laws_bounds(const cr_work *, cr_answer *);

#endif
