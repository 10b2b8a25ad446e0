/* Backends that live in a shared object of their own. */
#ifndef CR_BACKEND_LOAD_H
#define CR_BACKEND_LOAD_H
#include "backend/backend.h"
#include "base/error.h"

/* path: of the module; NULL: certreg/libcertreg_cuda.so beside the library. NO_BACKEND where it
 * cannot be opened, VERSION where it belongs to another one, else what it says itself. */
certreg_status cr_module_load(const char *path, int32_t device, void *stream, certreg_error *why,
                              certreg_backend **out);

#endif
