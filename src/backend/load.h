/* Modules: parts of the library in shared objects of their own, opened where they are needed. */
#ifndef CR_BACKEND_LOAD_H
#define CR_BACKEND_LOAD_H
#include "base/error.h"

typedef struct cr_module_file {
    const char *name;    /* of the file; it lies in certreg/ beside the library */
    const char *symbol;  /* of the one function that it shows */
    const char *missing; /* the error text if it cannot be opened; the reason follows it */
} cr_module_file;

/* The module's function, as a pointer into *function. path: of the module; NULL: beside the
 * library. NO_BACKEND where it cannot be opened or lacks the function. Nothing is ever closed. */
certreg_status cr_module_find(const cr_module_file *, const char *path, certreg_error *why,
                              void *function);

#endif
