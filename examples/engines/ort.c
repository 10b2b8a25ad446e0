#include "ort.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C interface of ONNX Runtime is a table of functions to which new versions only append, so that a place in the table keeps
 * its meaning. OrtGetApiBase() returns a pair: a function from a version to the table, and one that names the library's version.
 * These are the places used here. Every function that can fail returns a status, NULL for success. */
enum {
    ERROR_MESSAGE = 2,
    CREATE_ENV = 3,
    CREATE_SESSION = 7,
    RUN = 9,
    CREATE_SESSION_OPTIONS = 10,
    SET_INTRA_OP_THREADS = 24,
    SET_INTER_OP_THREADS = 25,
    CREATE_TENSOR_WITH_DATA = 49,
    CREATE_CPU_MEMORY_INFO = 69,
    RELEASE_ENV = 92,
    RELEASE_STATUS = 93,
    RELEASE_MEMORY_INFO = 94,
    RELEASE_SESSION = 95,
    RELEASE_VALUE = 96,
    RELEASE_SESSION_OPTIONS = 100
};
enum { TABLE_VERSION = 8, LOG_WARNINGS = 2, FLOAT_ELEMENTS = 1, DEVICE_ALLOCATOR = 0, DEFAULT_MEMORY = 0 };

typedef void function(void);
typedef void *status; /* an opaque object, or NULL */
struct base {
    function *const *(*table)(uint32_t version);
    const char *(*version)(void);
};

struct ort {
    void *library;
    function *const *table;
    void *env, *options, *session, *memory;
    size_t inputs, columns;
    char *why;
    char name[64];
};

static int fail(char *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, ENGINE_WHY, format, arguments);
    va_end(arguments);
    return 1;
}

/* Takes a status: its message goes to `why`, and it is released. */
static int failed(struct ort *o, status s, const char *doing)
{
    if (s == NULL)
        return 0;
    const char *(*message)(const void *) = (const char *(*)(const void *))o->table[ERROR_MESSAGE];
    fail(o->why, "ONNX Runtime, %s: %s", doing, message(s));
    ((void (*)(void *))o->table[RELEASE_STATUS])(s);
    return 1;
}

static void release(const struct ort *o, int place, void *object)
{
    if (object != NULL)
        ((void (*)(void *))o->table[place])(object);
}

static void *open_library(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_pattern(const char *folder, const char *pattern)
{
    char path[4096];
    glob_t found;
    void *library = NULL;
    if (snprintf(path, sizeof path, "%s%s", folder, pattern) >= (int)sizeof path)
        return NULL;
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
    if (prefix == NULL || snprintf(folder, sizeof folder, "%s%s", prefix, below) >= (int)sizeof folder)
        return NULL;
    return open_pattern(folder, "/lib/python3.*/*-packages/onnxruntime/capi/libonnxruntime.so*");
}

/* The search that ort.h describes. */
static void *find_library(char *why)
{
    const char *given = getenv("CERTREG_ORT");
    void *library = open_library(given != NULL ? given : "libonnxruntime.so");
    if (library == NULL && given != NULL) {
        const char *reason = dlerror();
        fail(why, "CERTREG_ORT: %s", reason != NULL ? reason : given);
        return NULL;
    }
    if (library == NULL)
        library = open_library("libonnxruntime.so.1");
    if (library == NULL)
        library = open_pattern("lib/deps", "/onnxruntime/capi/libonnxruntime.so*");
    if (library == NULL)
        library = open_wheel(getenv("VIRTUAL_ENV"), "");
    if (library == NULL)
        library = open_wheel(getenv("HOME"), "/.local");
    if (library == NULL)
        library = open_wheel("/usr", "/local");
    if (library == NULL)
        library = open_wheel("/usr", "");
    if (library == NULL)
        fail(why, "ONNX Runtime was not found: set CERTREG_ORT to its libonnxruntime.so, or install the wheel with make deps");
    return library;
}

static int load(struct ort *o)
{
    o->library = find_library(o->why);
    if (o->library == NULL)
        return 1;
    const struct base *(*get)(void) = NULL;
    void *symbol = dlsym(o->library, "OrtGetApiBase");
    if (symbol == NULL)
        return fail(o->why, "the library found is no ONNX Runtime: it has no OrtGetApiBase");
    memcpy(&get, &symbol, sizeof get); /* ISO C has no conversion from an object pointer to a function */
    const struct base *base = get();
    o->table = base->table(TABLE_VERSION);
    if (o->table == NULL)
        return fail(o->why, "ONNX Runtime %s is too old", base->version());
    snprintf(o->name, sizeof o->name, "ONNX Runtime %s", base->version());
    return 0;
}

static int start(struct ort *o, const char *model, int threads)
{
    function *const *t = o->table;
    return failed(o, ((status(*)(int, const char *, void **))t[CREATE_ENV])(LOG_WARNINGS, "certreg", &o->env), "starting") ||
           failed(o, ((status(*)(void **))t[CREATE_SESSION_OPTIONS])(&o->options), "making options") ||
           failed(o, ((status(*)(void *, int))t[SET_INTRA_OP_THREADS])(o->options, threads), "setting threads") ||
           failed(o, ((status(*)(void *, int))t[SET_INTER_OP_THREADS])(o->options, 1), "setting threads") ||
           failed(o, ((status(*)(int, int, void **))t[CREATE_CPU_MEMORY_INFO])(DEVICE_ALLOCATOR, DEFAULT_MEMORY, &o->memory),
                  "describing memory") ||
           failed(o, ((status(*)(const void *, const char *, const void *, void **))t[CREATE_SESSION])(o->env, model, o->options, &o->session),
                  "opening the model");
}

/* A tensor over the caller's memory; nothing is copied. */
static int wrap(struct ort *o, const float *data, size_t rows, size_t columns, void **value)
{
    const int64_t shape[2] = {(int64_t)rows, (int64_t)columns};
    status (*make)(const void *, const void *, size_t, const int64_t *, size_t, int, void **) =
        (status(*)(const void *, const void *, size_t, const int64_t *, size_t, int, void **))o->table[CREATE_TENSOR_WITH_DATA];
    return failed(o, make(o->memory, data, rows * columns * sizeof *data, shape, 2, FLOAT_ELEMENTS, value), "wrapping an array");
}

static int run(void *self, const float *x, float *y, size_t rows)
{
    struct ort *o = self;
    static const char *const input = "x", *const output = "y";
    void *in = NULL, *out = NULL;
    status (*go)(void *, const void *, const char *const *, void *const *, size_t, const char *const *, size_t, void **) =
        (status(*)(void *, const void *, const char *const *, void *const *, size_t, const char *const *, size_t, void **))o->table[RUN];
    const int bad = wrap(o, x, rows, o->inputs, &in) || wrap(o, y, rows, o->columns, &out) ||
                    failed(o, go(o->session, NULL, &input, &in, 1, &output, 1, &out), "running the model");
    release(o, RELEASE_VALUE, in);
    release(o, RELEASE_VALUE, out);
    return bad;
}

/* The library itself stays loaded: its threads and exit handlers do not survive an unload. */
static void close_ort(void *self)
{
    struct ort *o = self;
    if (o == NULL)
        return;
    release(o, RELEASE_SESSION, o->session);
    release(o, RELEASE_SESSION_OPTIONS, o->options);
    release(o, RELEASE_MEMORY_INFO, o->memory);
    release(o, RELEASE_ENV, o->env);
    free(o);
}

int engine_open_ort(const char *model, size_t inputs, size_t columns, int threads, struct engine *out, char *why)
{
    memset(out, 0, sizeof *out);
    struct ort *o = calloc(1, sizeof *o);
    if (o == NULL)
        return fail(why, "no memory for ONNX Runtime");
    o->inputs = inputs;
    o->columns = columns;
    o->why = why;
    if (load(o) || start(o, model, threads > 0 ? threads : 1)) {
        close_ort(o);
        return 1;
    }
    *out = (struct engine){run, close_ort, o, o->name};
    return 0;
}
