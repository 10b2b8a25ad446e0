#include "base/environment.h"

/* Where an environment has bits that flush subnormal numbers to zero (x86-64, AArch64), the C
 * library's default clears them; tests hold it to that. */
void cr_environment_enter(fenv_t *callers)
{
    fegetenv(callers);
    fesetenv(FE_DFL_ENV);
}

void cr_environment_leave(const fenv_t *callers)
{
    fesetenv(callers);
}
