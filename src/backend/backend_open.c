/* The public functions that open and close backends. */
#include "backend/cpu.h"
#include "backend/module_loader.h"
#include "base/os.h"
#include "base/struct_versioning.h"
#include "certreg/backend.h"
#include <stdio.h>
#include <string.h>

/* Copies an internal error to the caller's struct, and returns the status. */
static certreg_status return_error(certreg_error *why, const certreg_error *error,
                                   certreg_status status)
{
    cr_error_copy_out(why, error);
    return status;
}

certreg_status certreg_backend_open_cpu(int32_t threads, certreg_error *why, certreg_backend **out)
{
    certreg_error error;
    cr_error_clear(&error);
    if (!out)
        return return_error(why, &error, cr_error_set(&error, CERTREG_E_INVALID, "out is NULL"));
    *out = NULL;
    if (threads < 0 || threads > CR_CPU_MAX_THREADS)
        return return_error(
            why, &error,
            cr_error_set(&error, CERTREG_E_INVALID,
                         "threads is %d; it must be 1 to %d, or 0 for all online processors",
                         (int)threads, CR_CPU_MAX_THREADS));
    if (!threads) threads = cr_os_processors(CR_CPU_MAX_THREADS);
    return return_error(why, &error, cr_cpu_open(threads, &error, out));
}

static const char *remedy_of(const char *name)
{
    if (strchr(name, '/')) return "give one that is there, with what it needs";
    if (strcmp(name, "cuda") != 0) return "give \"cuda\", or the path of a module, with a slash";
    return "install it beside the library, and CUDA's libraries";
}

static certreg_status open_module(const char *name, int32_t device, void *stream,
                                  certreg_error *why, certreg_backend **out)
{
    cr_module_open open = NULL;
    char missing[128];
    snprintf(missing, sizeof missing, "the module %.40s cannot be opened; %s", name,
             remedy_of(name));
    const cr_module module = {.name = name, .symbol = "certreg_module_open", .missing = missing};
    certreg_status status = cr_module_find(&module, why, &open);
    if (!status) status = open(CR_BACKEND_API, device, stream, why, out);
    const int matches = !status && *out && (*out)->ops->api_version == CR_BACKEND_API;
    if (matches) {
        cr_call_guard_init(&(*out)->guard);
        (*out)->borrows_stream = stream != NULL;
    }
    if (status || matches) return status;
    *out = NULL;
    return cr_error_set(
        why, CERTREG_E_VERSION,
        "the module %.120s was made for another version of this library; install the "
        "one that came with it",
        name);
}

certreg_status certreg_backend_open(const char *module, int32_t device, void *stream,
                                    certreg_error *why, certreg_backend **out)
{
    certreg_error error;
    cr_error_clear(&error);
    if (!out)
        return return_error(why, &error, cr_error_set(&error, CERTREG_E_INVALID, "out is NULL"));
    *out = NULL;
    if (!module || !*module)
        return return_error(
            why, &error,
            cr_error_set(&error, CERTREG_E_INVALID,
                         "module is %s; give a name, such as \"cuda\", or a path with a slash",
                         module ? "empty" : "NULL"));
    if (device < 0)
        return return_error(why, &error,
                            cr_error_set(&error, CERTREG_E_INVALID,
                                         "device is %d; it must be 0 or more", (int)device));
    return return_error(why, &error, open_module(module, device, stream, &error, out));
}

void certreg_backend_close(certreg_backend *backend)
{
    if (!backend || backend->ops->api_version != CR_BACKEND_API ||
        (cr_backend_is_device(backend) && cr_call_guard_is_foreign(&backend->guard)))
        return; /* a forked child has no device */
    backend->ops->close(backend);
}
