/* What a backend owes the seam (backend.h), bit by bit against a reference: every path of the CPU
 * against the specification (support/ref_backend.h), devices, real and emulated, against the CPU.
 * Products of matrices nearly. */
#ifndef TESTS_CONTRACT_H
#define TESTS_CONTRACT_H
#include "backend/backend.h"
#include "support/suite.h"

void contract_add_tests(TCase *, certreg_backend *, certreg_backend *reference);
/* products.c; the above adds them. */
void contract_add_products(TCase *, certreg_backend *);

/* The backend of the tests of this file. What contract_over and contract_here give goes back after
 * each test. */
static certreg_backend *gpu;

static inline void contract_add(TCase *to, certreg_backend *backend)
{
    gpu = backend, kit_open.wanted = 1;
    tcase_add_checked_fixture(to, NULL, kit_close_all);
    kit_add_tests(to);
}

static inline void contract_give_back(void *there)
{
    gpu->ops->free(gpu, there);
}

/* Memory of the host. */
static inline void *contract_here(void *memory)
{
    kit_close_later(free, memory);
    return memory;
}

/* A copy in memory of the backend; host NULL: room alone. */
static inline void *contract_over(const void *host, size_t bytes)
{
    void *there = NULL;
    ck_assert_int_eq(gpu->ops->alloc(gpu, bytes, &there), CERTREG_OK);
    kit_close_later(contract_give_back, there);
    if (host) ck_assert_int_eq(gpu->ops->store(gpu, there, host, bytes), CERTREG_OK);
    ck_assert_int_eq(gpu->ops->wait(gpu), CERTREG_OK);
    return there;
}

static inline void contract_fetch(void *host, const void *there, size_t bytes)
{
    ck_assert_int_eq(gpu->ops->fetch(gpu, host, there, bytes), CERTREG_OK);
}

#endif
