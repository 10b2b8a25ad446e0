/* Opening and closing: modules, BLAS, and backends. */
#include "backend/backend.h"
#include "backend/cpu.h"
#include "base/error.h"
#include "base/os.h"
#include "certreg/backend.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ======== Modules: parts of the library in shared objects of their own, which are opened on
 * demand. Each exports one function. No module
 * is ever unloaded: drivers and BLAS keep threads and handlers in the process. */
/* Beside the library. The major version is in the name, since modules of two major versions may be
 * in one folder. */
#define CR_MODULE_FOLDER "certreg-0"
CR_STATIC_ASSERT(CERTREG_VERSION_NUMBER / 10000 == 0, "CR_MODULE_FOLDER has the major version");
typedef struct cr_module {
    const char *name;    /* of certreg-0/libcertreg_<name>.so beside the library; or a path */
    const char *symbol;  /* its exported function */
    const char *missing; /* the error text if it cannot be opened, which the reason follows */
} cr_module;

/* The function of a backend's module, certreg_module_open: opens a backend. api: CR_BACKEND_API of
 * the library. A module of another version returns CERTREG_E_VERSION and changes nothing. */
typedef certreg_status (*cr_module_open)(uint32_t api, int32_t device, void *stream,
                                         certreg_error *why, certreg_backend **out);

/* Sets the path of a module: a path with a slash unchanged, a name in the folder of modules
 * beside the library. Returns NULL, or the reason of a failure. */
static const char *module_path(const char *name, char *path, size_t capacity)
{
    static const char *const too_long =
        "its path has more than 4095 letters; put it, or a link to it, at a shorter one";
    if (strchr(name, '/'))
        return (size_t)snprintf(path, capacity, "%s", name) < capacity ? NULL : too_long;
    if (!cr_os_library_path(path, capacity))
        return "the folder of this library is not known; mount /proc, restart if the library was "
               "replaced, or give the path of a module";
    const size_t folder = (size_t)(strrchr(path, '/') - path) + 1;
    const int length = snprintf(path + folder, capacity - folder,
                                CR_MODULE_FOLDER "/libcertreg_%s" CR_OS_SUFFIX, name);
    return (size_t)length < capacity - folder ? NULL : too_long;
}

/* The loader's message ends with the reason, after a path that may be long. */
static const char *text_tail(const char *text, size_t max_length)
{
    const size_t length = strlen(text);
    return length > max_length ? text + (length - max_length) : text;
}

/* Opens a module forever, and sets the function pointer at `function`. NO_BACKEND if the module
 * cannot be opened or lacks the function. */
static certreg_status cr_module_find(const cr_module *module, certreg_error *why, void *function)
{
    char path[4096];
    const char *reason = module_path(module->name, path, sizeof path);
    if (!reason && cr_os_load(path, module->symbol, function, &reason)) return CERTREG_OK;
    if (reason)
        return cr_error_set(why, CERTREG_E_NO_BACKEND, "%s: %s", module->missing,
                            text_tail(reason, 120));
    return cr_error_set(why, CERTREG_E_NO_BACKEND,
                        "%.120s is not a module of this library: it lacks %s", path,
                        module->symbol);
}

/* ======== Access to BLAS (backend.h): the table of a program that links libcertreg_blas.a, or the
 * module's. */
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
static const cr_module blas_module = {.name = "blas",
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
    if (!status && !table) status = cr_module_find(&blas_module, why, &table);
    if (status) return status;
    const cr_blas *opened = table();
    if (!opened || opened->api_version != CR_BLAS_API)
        return cr_error_set(why, CERTREG_E_VERSION,
                            MODULE_FILE " was made for another version of this library; "
                                        "install the one that came with it");
    *out = opened;
    return check_memory(why); /* again: opening started threads, which have their space now */
}

/* ======== The public functions that open and close backends. */
#define CR_CPU_MAX_THREADS 1024

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
