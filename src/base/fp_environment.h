/* The floating-point environment. Proofs about rounding assume the default one: round to nearest,
 * keep subnormal numbers, no traps. Therefore every call computes in it, and restores the caller's
 * environment afterwards, flags included. */
#ifndef CR_BASE_FP_ENVIRONMENT_H
#define CR_BASE_FP_ENVIRONMENT_H
#include <fenv.h>

/* Saves the current environment to *saved and sets the default one. */
void cr_environment_enter(fenv_t *saved);
/* Restores the saved environment. */
void cr_environment_leave(const fenv_t *saved);

#endif
