/* An attack as a whole: an ascent that finds direction and radius, then violation tests
 * (theory 11.3, 11.4). */
#ifndef CR_ATTACK_ASCENT_H
#define CR_ATTACK_ASCENT_H
#include "attack/ascent_step.h"

/* ---- the test that the statistic is out at a shift (theory 11.3) */
/* The smallest number of pairs that can pass a violation test at this level. */
size_t cr_violation_test_min_pairs(double alpha);
/* Returns 1 if the pairs of the last step prove at level alpha that T is out at its point, else 0.
 * The number of pairs was fixed beforehand. prior_moments: of averages of earlier steps. */
int cr_violation_test_passes(const cr_attack_state *, size_t pairs,
                             const cr_running_moments prior_moments[2], double alpha);
/* The radius of the point of the last step: ||D^-1 (point - z)||, rounded up. */
double cr_violation_test_radius(const cr_attack_state *);

/* ---- the attack */
/* The smallest number of calls with which an attack can prove anything. */
size_t cr_ascent_min_calls(double alpha, int direction_is_given);
/* Finds the shortest shift that it can prove, and its radius. Fails as certreg_estimator_sample,
 * and keeps the results of earlier tests. */
certreg_status cr_ascent_run(cr_attack_state *);

#endif
