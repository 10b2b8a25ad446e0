/* Finds ONNX Runtime. It is looked for, in this order, and the first library that opens is taken:
 *   1. the path in the environment variable CERTREG_ORT; if it is set, nothing else is tried
 *   2. what the dynamic linker knows as libonnxruntime.so or libonnxruntime.so.1
 *   3. lib/deps/onnxruntime/capi/libonnxruntime.so.* below the working directory, from a wheel
 *   4. the wheel in $VIRTUAL_ENV, then in ~/.local, then in /usr/local and /usr:
 *      lib/python3.N/{site,dist}-packages/onnxruntime/capi/libonnxruntime.so.*
 * It must be ONNX Runtime 1.8 or later; on a CUDA device 1.16 or later, with its CUDA provider. */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"
#include "ort_api.h"

/* What OrtGetApiBase() returns: a function from a version to the table, and one that names the
 * library's version. */
struct base {
    ort_function *const *(*table)(uint32_t version);
    const char *(*version)(void);
};

static void *open_library(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_pattern(const char *folder, const char *pattern)
{
    char path[4096];
    glob_t found;
    void *library = NULL;
    if (snprintf(path, sizeof path, "%s%s", folder, pattern) >= (int)sizeof path) return NULL;
    if (glob(path, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && library == NULL; i++)
            library = open_library(found.gl_pathv[i]);
        globfree(&found);
    }
    return library;
}

static void *open_wheel(const char *prefix, const char *below)
{
    char folder[2048];
    if (prefix == NULL ||
        snprintf(folder, sizeof folder, "%s%s", prefix, below) >= (int)sizeof folder)
        return NULL;
    return open_pattern(folder, "/lib/python3.*/*-packages/onnxruntime/capi/libonnxruntime.so*");
}

/* The search described above. */
static void *find_library(char *why)
{
    const char *given = getenv("CERTREG_ORT");
    void *library = open_library(given != NULL ? given : "libonnxruntime.so");
    if (library == NULL && given != NULL) {
        const char *reason = dlerror();
        engine_fail(why, "CERTREG_ORT: %.300s: correct it, or unset it and run make deps",
                    reason != NULL ? reason : given);
        return NULL;
    }
    if (library == NULL) library = open_library("libonnxruntime.so.1");
    if (library == NULL) library = open_pattern("lib/deps", "/onnxruntime/capi/libonnxruntime.so*");
    if (library == NULL) library = open_wheel(getenv("VIRTUAL_ENV"), "");
    if (library == NULL) library = open_wheel(getenv("HOME"), "/.local");
    if (library == NULL) library = open_wheel("/usr", "/local");
    if (library == NULL) library = open_wheel("/usr", "");
    if (library == NULL)
        engine_fail(why, "ONNX Runtime was not found: activate the environment of pip install "
                         "onnxruntime, start in the folder where make deps ran, or set "
                         "CERTREG_ORT to its libonnxruntime.so");
    return library;
}

int ort_load(uint32_t version, ort_function *const **table, char *name, char *why)
{
    void *library = find_library(why);
    if (library == NULL) return 1;
    const struct base *(*get)(void) = NULL;
    void *symbol = dlsym(library, "OrtGetApiBase");
    if (symbol == NULL)
        return engine_fail(why, "the library found is not ONNX Runtime: it has no OrtGetApiBase");
    memcpy(&get, &symbol, sizeof get); /* ISO C cannot cast an object pointer to a function's */
    const struct base *base = get();
    *table = base->table(version);
    if (*table == NULL) return engine_fail(why, "ONNX Runtime %s is too old", base->version());
    snprintf(name, ENGINE_NAME, "ONNX Runtime %s", base->version());
    return 0;
}
