/* What a backend owes the seam (backend.h), bit by bit against the CPU's draws and replays, which
 * unit_backend holds against the specification of tests/support; products of matrices nearly: for
 * the CPU, for a real device and for the emulated one. */
#ifndef TESTS_CONTRACT_H
#define TESTS_CONTRACT_H
#include "backend/backend.h"
#include "support/suite.h"

void contract_add_tests(TCase *, certreg_backend *);
/* products.c; the above adds them. */
void contract_add_products(TCase *, certreg_backend *);

/* A copy in memory of the backend; host NULL: room alone. */
static inline void *contract_over(certreg_backend *gpu, const void *host, size_t bytes)
{
    void *there = NULL;
    ck_assert_int_eq(gpu->ops->alloc(gpu, bytes, &there), CERTREG_OK);
    if (host) ck_assert_int_eq(gpu->ops->store(gpu, there, host, bytes), CERTREG_OK);
    ck_assert_int_eq(gpu->ops->wait(gpu), CERTREG_OK);
    return there;
}

/* Brings `bytes` back and compares them; the backend's memory is given back. */
static inline void contract_expect(certreg_backend *gpu, void *there, const void *wanted,
                                   size_t bytes)
{
    void *got = malloc(bytes);
    ck_assert_int_eq(gpu->ops->fetch(gpu, got, there, bytes), CERTREG_OK);
    ck_assert_mem_eq(got, wanted, bytes);
    gpu->ops->free(gpu, there);
    free(got);
}

#endif
