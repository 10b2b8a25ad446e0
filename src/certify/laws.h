/* Which conditions of an answer are certified by the whole law of their scores. */
#ifndef CR_CERTIFY_LAWS_H
#define CR_CERTIFY_LAWS_H
#include "certify/solve.h"

/* Whether a question may have them: its bounds then depend on its tolerance. */
int cr_laws_may(const cr_question *);
/* Chosen by the pilot, then the bounds of all conditions are found (theory 6.9). Errors as
 * cr_bounds_find. */
certreg_status cr_laws_bounds(const cr_work *, cr_answer *);

#endif
