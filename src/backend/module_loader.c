/* Finding and opening a module (module_loader.h). No module is ever unloaded: drivers and BLAS keep
 * threads and handlers in the process. */
#include "backend/module_loader.h"
#include "base/os.h"
#include <stdio.h>
#include <string.h>

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

certreg_status cr_module_find(const cr_module *module, certreg_error *why, void *function)
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
