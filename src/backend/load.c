/* Finding and opening a backend's module. Nothing is ever unloaded: drivers keep threads and handlers in the process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "backend/load.h"
#include "backend/module.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The file that this code is in. A program that has the library inside is known by the name it was called with, which says nothing of its
 * folder: the working directory may be anybody's. */
static int own_file(char *path, size_t room)
{
    Dl_info here;
    if (!dladdr((const void *)(uintptr_t)cr_module_load, &here) || !here.dli_fname) return 0;
    if (here.dli_fname[0] != '/') {
        const ssize_t length = readlink("/proc/self/exe", path, room - 1);
        path[length > 0 ? length : 0] = 0;
        if (length > 0 && !strcmp(name_of(path), name_of(here.dli_fname))) return 1;
        if (!strchr(here.dli_fname, '/')) return 0;
    }
    return (size_t)snprintf(path, room, "%s", here.dli_fname) < room;
}

/* The module that lies in certreg/ beside it. */
static int beside_us(char *path, size_t room)
{
    if (!own_file(path, room)) return 0;
    const size_t folder = (size_t)(name_of(path) - path);
    return (size_t)snprintf(path + folder, room - folder, "certreg/%s", CR_MODULE_FILE) < room - folder;
}

static void *open_file(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

certreg_status cr_module_load(const char *path, int32_t device, void *stream, certreg_error *why, certreg_backend **out)
{
    char beside[4096];
    void *library = NULL;
    if (path) library = open_file(path);
    else if (beside_us(beside, sizeof beside)) library = open_file(beside);
    if (!library) {
        const char *reason = dlerror();
        return cr_fail(why, CERTREG_NO_BACKEND, "the CUDA module cannot be opened: %.180s", reason ? reason : "its place is not known");
    }
    cr_module_open open = NULL;
    void *symbol = dlsym(library, CR_MODULE_SYMBOL);
    memcpy(&open, &symbol, sizeof open); /* ISO C has no way from an object's address to a function's */
    if (!open) return cr_fail(why, CERTREG_NO_BACKEND, "%.120s is no module of this library: it lacks %s", path ? path : beside, CR_MODULE_SYMBOL);
    certreg_status status = open(CR_BACKEND_API, device, stream, why, out);
    if (!status && *out && (*out)->ops->api_version == CR_BACKEND_API) cr_busy_init(&(*out)->busy);
    if (status || (*out && (*out)->ops->api_version == CR_BACKEND_API)) return status;
    *out = NULL;
    return cr_fail(why, CERTREG_VERSION, "%.120s was made for another version of this library", path ? path : beside);
}
