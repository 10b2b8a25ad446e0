/* Modules: parts of the library in shared objects of their own, opened where they are needed. */
#ifndef CR_BACKEND_LOAD_H
#define CR_BACKEND_LOAD_H
#include "base/error.h"

typedef struct cr_module {
    const char *name;    /* of certreg/libcertreg_<name>.so beside the library; or a path */
    const char *symbol;  /* of the one function that it shows */
    const char *missing; /* the error text if it cannot be opened; the reason follows it */
} cr_module;

/* The module's function, as a pointer into *function. NO_BACKEND where the module cannot be opened
 * or lacks the function. Nothing is ever closed. */
certreg_status cr_module_find(const cr_module *, certreg_error *why, void *function);

#endif
