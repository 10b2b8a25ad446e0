/* What a backend with memory of its own owes the seam (backend.h), bit by bit against the
 * specification of tests/support: for a real device and for the emulated one. */
#ifndef TESTS_CONTRACT_H
#define TESTS_CONTRACT_H
#include "backend/backend.h"
#include <check.h>

void contract_add_tests(TCase *, certreg_backend *);

#endif
