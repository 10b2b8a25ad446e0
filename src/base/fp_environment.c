/* Switching between the caller's floating-point environment and the default one (fp_environment.h).
 */
#include "base/fp_environment.h"

/* FE_DFL_ENV also clears the bits of x86-64 and AArch64 that flush subnormal numbers to zero, which
 * ISO C does not promise; tests check it. */
void cr_environment_enter(fenv_t *saved)
{
    fegetenv(saved);
    fesetenv(FE_DFL_ENV);
}

void cr_environment_leave(const fenv_t *saved)
{
    fesetenv(saved);
}
