/* Modules: parts of the library in shared objects of their own, which are opened on demand. Each
 * exports one function. */
#ifndef CR_BACKEND_MODULE_LOADER_H
#define CR_BACKEND_MODULE_LOADER_H
#include "backend/backend.h"
#include "base/os.h"

/* Beside the library. The major version is in the name, since modules of two major versions may be
 * in one folder. */
#define CR_MODULE_FOLDER "certreg-0"
CR_STATIC_ASSERT(CERTREG_VERSION_NUMBER / 10000 == 0, "CR_MODULE_FOLDER has the major version");

typedef struct cr_module {
    const char *name;    /* of certreg-0/libcertreg_<name>.so beside the library; or a path */
    const char *symbol;  /* its exported function */
    const char *missing; /* the error text if it cannot be opened, which the reason follows */
} cr_module;

/* Opens a module forever, and sets the function pointer at `function`. NO_BACKEND if the module
 * cannot be opened or lacks the function. */
certreg_status cr_module_find(const cr_module *, certreg_error *why, void *function);

/* The function of a backend's module, certreg_module_open: opens a backend. api: CR_BACKEND_API of
 * the library. A module of another version returns CERTREG_E_VERSION and changes nothing. */
typedef certreg_status (*cr_module_open)(uint32_t api, int32_t device, void *stream,
                                         certreg_error *why, certreg_backend **out);

#endif
