/* A backend in a module: the one function that it exports. */
#ifndef CR_BACKEND_MODULE_H
#define CR_BACKEND_MODULE_H
#include "backend/backend.h"

/* certreg_module_open. api: CR_BACKEND_API of the library. A module of another version answers
 * CERTREG_E_VERSION and touches nothing else. */
typedef certreg_status (*cr_module_open)(uint32_t api, int32_t device, void *stream,
                                         certreg_error *why, certreg_backend **out);

#endif
