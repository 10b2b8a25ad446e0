/* What a backend owes the seam (backend.h), bit by bit against a reference: every path of the CPU
 * against the specification (support/ref_backend.h), devices, real and emulated, against the CPU.
 * Products of matrices nearly. */
#ifndef TESTS_CONTRACT_H
#define TESTS_CONTRACT_H
#include "backend/backend.h"
#include "support/suite.h"

/* Its fixture gives back, after each test, what that has taken. */
void contract_add_tests(TCase *, certreg_backend *, certreg_backend *reference);
/* What programs do with a device (uses.c); this gives each test its backend. */
void contract_add_uses(TCase *, certreg_backend *(*)(void));

#endif
