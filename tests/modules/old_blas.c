/* A BLAS module of another version: its table is of no use to this library. */
#include "backend/backend.h"

__attribute__((visibility("default"))) const cr_blas *certreg_module_blas(void)
{
    static const cr_blas table = {.api_version = CR_BLAS_API + 1};
    return &table;
}
