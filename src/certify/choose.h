/* Which constraints a question uses that leaves this to the pilot (theory 5.1). */
#ifndef CR_CERTIFY_CHOOSE_H
#define CR_CERTIFY_CHOOSE_H
#include "question/conditions.h"

/* Names them in the question of these conditions, which have been prepared, by the radius that the
 * pilot foresees for each set. They stay the method's default where the pilot is too short to tell,
 * and for questions that have no choice. DEADLINE, and failures of the backend. */
certreg_status cr_choose(certreg_estimator *, cr_conditions *);

#endif
