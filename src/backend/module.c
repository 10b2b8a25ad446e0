/* Finding and opening a module. Nothing is ever unloaded: drivers and BLAS keep threads and
 * handlers in the process. */
#if !defined(_POSIX_C_SOURCE) && !defined(_GNU_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "backend/module.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path of a line of /proc/self/maps, if the line is of the memory that this code is in, and
 * whole. */
static char *path_of(char *line)
{
    const uintptr_t here = (uintptr_t)cr_module_find;
    char *end, *path = strchr(line, '/'), *newline = strchr(line, '\n');
    const unsigned long long from = strtoull(line, &end, 16),
                             to = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;
    if (here < from || here >= to || !path || !newline) return NULL;
    *newline = 0;
    return strstr(path, " (deleted)") ? NULL : path;
}

/* The file that this code is in, as the kernel knows it: an absolute path. The loader's word for it
 * may be relative to a working directory that has changed since, and that of a program with the
 * library inside is what its caller chose to call it. */
static int own_file(char *path, size_t room)
{
    char line[4096 + 128];
    const char *found = NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !found && fgets(line, sizeof line, maps)) found = path_of(line);
    if (maps) fclose(maps);
    return found && (size_t)snprintf(path, room, "%s", found) < room;
}

/* A path as it is, and a name as that of a file in certreg/ beside the library. Returns NULL, or
 * why there is none. */
static const char *place_of(const char *name, char *path, size_t room)
{
    static const char *const too_long =
        "its path has more than 4095 letters; put it, or a link to it, at a shorter one";
    if (strchr(name, '/')) return (size_t)snprintf(path, room, "%s", name) < room ? NULL : too_long;
    if (!own_file(path, room))
        return "the folder of this library is not known; give the path of the module";
    const size_t folder = (size_t)(strrchr(path, '/') - path) + 1;
    const int length = snprintf(path + folder, room - folder, "certreg/libcertreg_%s.so", name);
    return (size_t)length < room - folder ? NULL : too_long;
}

/* The reason is the last that the loader says, after a path that may be long. */
static const char *end_of(const char *text, size_t most)
{
    const size_t length = strlen(text);
    return length > most ? text + (length - most) : text;
}

certreg_status cr_module_find(const cr_module *module, certreg_error *why, void *function)
{
    char path[4096];
    const char *nowhere = place_of(module->name, path, sizeof path);
    void *library = nowhere ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return cr_fail(why, CERTREG_E_NO_BACKEND, "%s: %s", module->missing,
                       nowhere ? nowhere : end_of(dlerror(), 120));
    void *symbol = dlsym(library, module->symbol);
    if (!symbol)
        return cr_fail(why, CERTREG_E_NO_BACKEND,
                       "%.120s is not a module of this library: it lacks %s", path, module->symbol);
    /* ISO C has no way from an object's address to a function's. */
    memcpy(function, &symbol, sizeof symbol);
    return CERTREG_OK;
}
