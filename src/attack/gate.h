/* The test that the statistic is out at a shift (theory 11.3). */
#ifndef CR_ATTACK_GATE_H
#define CR_ATTACK_GATE_H
#include "attack/step.h"

/* The least number of pairs that can pass a gate at this level. */
size_t cr_gate_least(double alpha);
/* Whether the pairs of a step with this number of pairs, fixed beforehand, prove at level alpha
 * that T is out at the point of the step. stakes: what earlier steps saw. */
int cr_gate_passes(const cr_hunt *, size_t pairs, const cr_seen stakes[2], double alpha);
/* The radius of the point of the last step: ||D^-1 (point - z)||, rounded up. */
double cr_gate_radius(const cr_hunt *);

#endif
