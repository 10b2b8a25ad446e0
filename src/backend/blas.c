/* Finding the products of matrices: compiled with CR_BLAS_INSIDE into a static library that has
 * them inside, and without it into one that opens the module. */
#include "backend/blas.h"
#include "backend/module.h"

#if defined(CR_BLAS_INSIDE)
certreg_status cr_blas_open(certreg_error *why, const cr_blas **out)
{
    (void)why;
    *out = certreg_module_blas();
    return CERTREG_OK;
}
#else
static const cr_module module = {.name = "blas",
                                 .symbol = "certreg_module_blas",
                                 .missing = "making denoisers needs certreg/" CR_BLAS_FILE
                                            ", OpenBLAS and LAPACKE; install them"};

certreg_status cr_blas_open(certreg_error *why, const cr_blas **out)
{
    const cr_blas *(*table)(void) = NULL;
    *out = NULL;
    const certreg_status status = cr_module_find(&module, why, &table);
    if (status) return status;
    const cr_blas *found = table();
    if (!found || found->api_version != CR_BLAS_API)
        return cr_fail(why, CERTREG_E_VERSION,
                       "certreg/" CR_BLAS_FILE " was made for another version of this library; "
                       "install the one that came with it");
    *out = found;
    return CERTREG_OK;
}
#endif
