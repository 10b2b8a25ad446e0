/* The floating-point environment. What the library proves about rounding holds in the default one:
 * nearest, subnormal numbers kept, no traps. So a call computes there whatever the caller's is, and
 * gives that back, flags included. */
#ifndef CR_BASE_ENVIRONMENT_H
#define CR_BASE_ENVIRONMENT_H
#include <fenv.h>

/* The default environment; *callers is the one before. */
void cr_environment_enter(fenv_t *callers);
void cr_environment_leave(const fenv_t *callers);

#endif
