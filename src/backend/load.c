/* Finding and opening a backend's module. Nothing is ever unloaded: drivers keep threads and handlers in the process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "backend/load.h"
#include "backend/module.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The module that lies in certreg/ beside the file that this code is in. */
static int beside_us(char *path, size_t room)
{
    Dl_info here;
    if (!dladdr((const void *)(uintptr_t)cr_module_load, &here) || !here.dli_fname) return 0;
    const char *slash = strrchr(here.dli_fname, '/');
    const int folder = slash ? (int)(slash - here.dli_fname) : 1;
    const int length = snprintf(path, room, "%.*s/certreg/%s", folder, slash ? here.dli_fname : ".", CR_MODULE_FILE);
    return length > 0 && (size_t)length < room;
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
    if (status || (*out && (*out)->ops->api_version == CR_BACKEND_API)) return status;
    *out = NULL;
    return cr_fail(why, CERTREG_VERSION, "%.120s was made for another version of this library", path ? path : beside);
}
