/* Access to BLAS (blas.h). With CR_BLAS_INSIDE it is linked into the static library, which contains
 * BLAS; without, it opens the module. */
#include "backend/blas.h"
#include "backend/module_loader.h"
#include <stdlib.h>

enum { WORK_SPACE = (128 << 20) + 8192 }; /* OpenBLAS's work space of a thread (x86-64) */

/* Refuses to call OpenBLAS without memory: it would wait for its work space forever. */
static certreg_status check_memory(certreg_error *why)
{
    void *volatile probe = malloc(WORK_SPACE);
    if (!probe)
        return cr_error_set(
            why, CERTREG_E_NO_MEMORY,
            "OpenBLAS needs %d MiB of memory for its work space; close something else, "
            "or raise the limit of the process",
            WORK_SPACE >> 20);
    free(probe);
    return CERTREG_OK;
}

#if defined(CR_BLAS_INSIDE)
certreg_status cr_blas_open(certreg_error *why, const cr_blas **out)
{
    *out = certreg_module_blas();
    return check_memory(why);
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
    certreg_status status = check_memory(why);
    if (!status) status = cr_module_find(&module, why, &table);
    if (status) return status;
    const cr_blas *opened = table();
    if (!opened || opened->api_version != CR_BLAS_API)
        return cr_error_set(why, CERTREG_E_VERSION,
                            "certreg/" CR_BLAS_FILE
                            " was made for another version of this library; "
                            "install the one that came with it");
    *out = opened;
    return check_memory(why); /* again: opening started threads, which have their space now */
}
#endif
