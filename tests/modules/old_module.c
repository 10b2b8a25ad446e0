/* A backend module of another version of the library that does not say so when asked. */
#include "backend/backend.h"

__attribute__((visibility("default"))) certreg_status certreg_module_open(
    uint32_t api, int32_t device, void *stream, certreg_error *why, certreg_backend **out);
certreg_status certreg_module_open(uint32_t api, int32_t device, void *stream, certreg_error *why,
                                   certreg_backend **out)
{
    static cr_backend_ops ops = {.api_version = CR_BACKEND_API - 1};
    static certreg_backend old = {.ops = &ops};
    (void)api, (void)device, (void)stream, (void)why;
    *out = &old;
    return CERTREG_OK;
}
