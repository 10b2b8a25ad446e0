/* Modules: parts of the library in shared objects of their own, opened where they are needed. Each
 * shows one function. */
#ifndef CR_BACKEND_MODULE_H
#define CR_BACKEND_MODULE_H
#include "backend/backend.h"

typedef struct cr_module {
    const char *name;    /* of certreg/libcertreg_<name>.so beside the library; or a path */
    const char *symbol;  /* of the one function that it shows */
    const char *missing; /* the error text if it cannot be opened; the reason follows it */
} cr_module;

/* The module's function, as a pointer into *function. NO_BACKEND where the module cannot be opened
 * or lacks the function. Nothing is ever closed. */
certreg_status cr_module_find(const cr_module *, certreg_error *why, void *function);

/* What the module of a backend shows: certreg_module_open. api: CR_BACKEND_API of the library. A
 * module of another version answers CERTREG_E_VERSION and touches nothing else. */
typedef certreg_status (*cr_module_open)(uint32_t api, int32_t device, void *stream,
                                         certreg_error *why, certreg_backend **out);

#endif
