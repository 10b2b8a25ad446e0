/* Access to BLAS (blas.h): the table of a program that links libcertreg_blas.a, or the module's. */
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

#define MODULE_FILE CR_MODULE_FOLDER "/libcertreg_blas" CR_OS_SUFFIX
static const cr_module module = {.name = "blas",
                                 .symbol = "certreg_module_blas",
                                 .missing = "making denoisers needs " MODULE_FILE
                                            ", OpenBLAS and LAPACKE; install them"};

typedef const cr_blas *(*table_function)(void);

#if defined(__ELF__)
/* NULL in a program without libcertreg_blas.a, and in the shared library. */
#pragma weak certreg_module_blas
static table_function linked(void)
{
    return certreg_module_blas;
}
#else
static table_function linked(void)
{
    return NULL;
}
#endif

certreg_status cr_blas_open(certreg_error *why, const cr_blas **out)
{
    table_function table = linked();
    *out = NULL;
    certreg_status status = check_memory(why);
    if (!status && !table) status = cr_module_find(&module, why, &table);
    if (status) return status;
    const cr_blas *opened = table();
    if (!opened || opened->api_version != CR_BLAS_API)
        return cr_error_set(why, CERTREG_E_VERSION,
                            MODULE_FILE " was made for another version of this library; "
                                        "install the one that came with it");
    *out = opened;
    return check_memory(why); /* again: opening started threads, which have their space now */
}
