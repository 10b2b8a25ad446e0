/* The attack as a whole: a climb that learns direction and radius, then gates (theory 11.3, 11.4).
 */
#ifndef CR_ATTACK_CLIMB_H
#define CR_ATTACK_CLIMB_H
#include "attack/step.h"

/* The least number of calls with which an attack can prove anything. */
size_t cr_climb_least(double alpha, int directed);
/* Shortens *radius, and writes the shift where it is not NULL, whenever a gate passes. Fails as
 * certreg_estimator_sample; what was proved by then stays. */
certreg_status cr_climb(cr_hunt *, float *shift, double *radius);

#endif
