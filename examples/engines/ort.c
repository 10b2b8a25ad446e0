/* ONNX Runtime through its table of functions, without its headers. The ordinary run takes host
 * arrays; the bound one uses arrays in place, in host or device memory, and does not wait for a
 * device. Both share everything else. */
#include "ort.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C interface of ONNX Runtime is a table of functions to which new versions only append, so
 * that a place in the table keeps its meaning. OrtGetApiBase() returns a pair: a function from a
 * version to the table, and one that names the library's version. These are the places used here.
 * Every function that can fail returns a status, NULL for success. */
enum {
    ERROR_MESSAGE = 2,
    CREATE_ENV = 3,
    CREATE_SESSION = 7,
    RUN = 9,
    CREATE_SESSION_OPTIONS = 10,
    SET_INTRA_OP_THREADS = 24,
    SET_INTER_OP_THREADS = 25,
    CREATE_RUN_OPTIONS = 39,
    CREATE_TENSOR_WITH_DATA = 49,
    CREATE_MEMORY_INFO = 68,
    RELEASE_ENV = 92,
    RELEASE_STATUS = 93,
    RELEASE_MEMORY_INFO = 94,
    RELEASE_SESSION = 95,
    RELEASE_VALUE = 96,
    RELEASE_RUN_OPTIONS = 97,
    RELEASE_SESSION_OPTIONS = 100,
    RUN_WITH_BINDING = 133,
    CREATE_BINDING = 134,
    RELEASE_BINDING = 135,
    BIND_INPUT = 136,
    BIND_OUTPUT = 137,
    ADD_RUN_CONFIG = 165,
    ADD_CUDA = 204,
    CREATE_CUDA_OPTIONS = 205,
    UPDATE_CUDA_OPTIONS = 206,
    RELEASE_CUDA_OPTIONS = 208,
    UPDATE_CUDA_OPTIONS_WITH_VALUE = 263
};
/* The first versions of the table that have all functions needed on the host and on a device. */
enum { HOST_VERSION = 8, CUDA_VERSION = 16 };
enum { HOST = -1, LOG_WARNINGS = 2, FLOAT_ELEMENTS = 1, DEVICE_ALLOCATOR = 0, DEFAULT_MEMORY = 0 };

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
    void *run_options, *binding; /* of the bound run */
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

/* Copies the message of a status to `why`, and releases the status. */
static int failed(struct ort *o, status s, const char *doing)
{
    if (s == NULL) return 0;
    const char *(*message)(const void *) = (const char *(*)(const void *))o->table[ERROR_MESSAGE];
    fail(o->why, "ONNX Runtime, %s: %s", doing, message(s));
    for (size_t n = strlen(o->why); n > 0 && o->why[n - 1] == '\n'; n--) o->why[n - 1] = '\0';
    ((void (*)(void *))o->table[RELEASE_STATUS])(s);
    return 1;
}

static void release(const struct ort *o, int place, void *object)
{
    if (object != NULL) ((void (*)(void *))o->table[place])(object);
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
    if (library == NULL) library = open_library("libonnxruntime.so.1");
    if (library == NULL) library = open_pattern("lib/deps", "/onnxruntime/capi/libonnxruntime.so*");
    if (library == NULL) library = open_wheel(getenv("VIRTUAL_ENV"), "");
    if (library == NULL) library = open_wheel(getenv("HOME"), "/.local");
    if (library == NULL) library = open_wheel("/usr", "/local");
    if (library == NULL) library = open_wheel("/usr", "");
    if (library == NULL)
        fail(why, "ONNX Runtime was not found: set CERTREG_ORT to its libonnxruntime.so, or "
                  "install the wheel with make deps");
    return library;
}

static int load(struct ort *o, uint32_t version)
{
    o->library = find_library(o->why);
    if (o->library == NULL) return 1;
    const struct base *(*get)(void) = NULL;
    void *symbol = dlsym(o->library, "OrtGetApiBase");
    if (symbol == NULL)
        return fail(o->why, "the library found is not ONNX Runtime: it has no OrtGetApiBase");
    memcpy(&get, &symbol, sizeof get); /* ISO C cannot cast an object pointer to a function's */
    const struct base *base = get();
    o->table = base->table(version);
    if (o->table == NULL) return fail(o->why, "ONNX Runtime %s is too old", base->version());
    snprintf(o->name, sizeof o->name, "ONNX Runtime %s", base->version());
    return 0;
}

static int prepare(struct ort *o)
{
    function *const *t = o->table;
    return failed(o,
                  ((status(*)(int, const char *, void **))t[CREATE_ENV])(LOG_WARNINGS, "certreg",
                                                                         &o->env),
                  "starting") ||
           failed(o, ((status(*)(void **))t[CREATE_SESSION_OPTIONS])(&o->options),
                  "making options") ||
           failed(o, ((status(*)(void *, int))t[SET_INTRA_OP_THREADS])(o->options, 1),
                  "setting threads") ||
           failed(o, ((status(*)(void *, int))t[SET_INTER_OP_THREADS])(o->options, 1),
                  "setting threads");
}

/* Options are text. A stream is a pointer and is set by another function, the newest of those that
 * are used here. */
static int add_cuda(struct ort *o, int device, void *stream)
{
    static const char *const key = "device_id";
    char number[16];
    const char *const value = number;
    function *const *t = o->table;
    void *cuda = NULL;
    snprintf(number, sizeof number, "%d", device);
    const int bad =
        failed(o, ((status(*)(void **))t[CREATE_CUDA_OPTIONS])(&cuda), "making CUDA options") ||
        failed(o,
               ((status(*)(void *, const char *const *, const char *const *,
                           size_t))t[UPDATE_CUDA_OPTIONS])(cuda, &key, &value, 1),
               "choosing the CUDA device") ||
        failed(o,
               ((status(*)(void *, const char *, void *))t[UPDATE_CUDA_OPTIONS_WITH_VALUE])(
                   cuda, "user_compute_stream", stream),
               "setting the CUDA stream") ||
        failed(o, ((status(*)(void *, const void *))t[ADD_CUDA])(o->options, cuda),
               "adding the CUDA provider");
    release(o, RELEASE_CUDA_OPTIONS, cuda);
    return bad;
}

static int start(struct ort *o, const char *model, int device)
{
    function *const *t = o->table;
    const char *const memory = device == HOST ? "Cpu" : "Cuda";
    const int number = device == HOST ? 0 : device;
    return failed(o,
                  ((status(*)(const char *, int, int, int, void **))t[CREATE_MEMORY_INFO])(
                      memory, DEVICE_ALLOCATOR, number, DEFAULT_MEMORY, &o->memory),
                  "describing memory") ||
           failed(o,
                  ((status(*)(const void *, const char *, const void *, void **))t[CREATE_SESSION])(
                      o->env, model, o->options, &o->session),
                  "opening the model");
}

/* Without this entry a run on a device waits for its stream at the end. On the host it changes
 * nothing. */
static int open_binding(struct ort *o)
{
    function *const *t = o->table;
    return failed(o, ((status(*)(void *, void **))t[CREATE_BINDING])(o->session, &o->binding),
                  "making a binding") ||
           failed(o, ((status(*)(void **))t[CREATE_RUN_OPTIONS])(&o->run_options),
                  "making run options") ||
           failed(o,
                  ((status(*)(void *, const char *, const char *))t[ADD_RUN_CONFIG])(
                      o->run_options, "disable_synchronize_execution_providers", "1"),
                  "setting run options");
}

/* A tensor over the caller's memory; nothing is copied. */
static int wrap(struct ort *o, const float *data, size_t rows, size_t columns, void **value)
{
    const int64_t shape[2] = {(int64_t)rows, (int64_t)columns};
    status (*make)(const void *, const void *, size_t, const int64_t *, size_t, int, void **) =
        (status(*)(const void *, const void *, size_t, const int64_t *, size_t, int,
                   void **))o->table[CREATE_TENSOR_WITH_DATA];
    return failed(
        o, make(o->memory, data, rows * columns * sizeof *data, shape, 2, FLOAT_ELEMENTS, value),
        "wrapping an array");
}

static int run(void *self, const float *x, float *y, size_t rows)
{
    struct ort *o = self;
    static const char *const input = "x", *const output = "y";
    void *in = NULL, *out = NULL;
    status (*go)(void *, const void *, const char *const *, void *const *, size_t,
                 const char *const *, size_t,
                 void **) = (status(*)(void *, const void *, const char *const *, void *const *,
                                       size_t, const char *const *, size_t, void **))o->table[RUN];
    const int bad =
        wrap(o, x, rows, o->inputs, &in) || wrap(o, y, rows, o->columns, &out) ||
        failed(o, go(o->session, NULL, &input, &in, 1, &output, 1, &out), "running the model");
    release(o, RELEASE_VALUE, in);
    release(o, RELEASE_VALUE, out);
    return bad;
}

static int run_bound(void *self, const float *x, float *y, size_t rows)
{
    struct ort *o = self;
    function *const *t = o->table;
    void *in = NULL, *out = NULL;
    const int bad =
        wrap(o, x, rows, o->inputs, &in) || wrap(o, y, rows, o->columns, &out) ||
        failed(o,
               ((status(*)(void *, const char *, const void *))t[BIND_INPUT])(o->binding, "x", in),
               "binding the input") ||
        failed(
            o,
            ((status(*)(void *, const char *, const void *))t[BIND_OUTPUT])(o->binding, "y", out),
            "binding the output") ||
        failed(o,
               ((status(*)(void *, const void *, const void *))t[RUN_WITH_BINDING])(
                   o->session, o->run_options, o->binding),
               "running the model");
    release(o, RELEASE_VALUE, in); /* the binding keeps references to them until the next run */
    release(o, RELEASE_VALUE, out);
    return bad;
}

/* The library stays loaded: its threads and exit handlers would not survive an unload. */
static void close_ort(void *self)
{
    struct ort *o = self;
    if (o == NULL) return;
    release(o, RELEASE_BINDING, o->binding);
    release(o, RELEASE_RUN_OPTIONS, o->run_options);
    release(o, RELEASE_SESSION, o->session);
    release(o, RELEASE_SESSION_OPTIONS, o->options);
    release(o, RELEASE_MEMORY_INFO, o->memory);
    release(o, RELEASE_ENV, o->env);
    free(o);
}

static struct ort *create(size_t inputs, size_t columns, struct engine *out, char *why)
{
    struct ort *o = calloc(1, sizeof *o);
    memset(out, 0, sizeof *out);
    if (o == NULL) {
        fail(why, "no memory for ONNX Runtime");
        return NULL;
    }
    o->inputs = inputs;
    o->columns = columns;
    o->why = why;
    return o;
}

/* Fills *out with the engine, or closes it if opening failed. */
static int finish(struct ort *o, int (*how)(void *, const float *, float *, size_t), int bad,
                  struct engine *out)
{
    if (bad) close_ort(o);
    else *out = (struct engine){how, close_ort, o, o->name};
    return bad;
}

int engine_open_ort(const char *model, size_t inputs, size_t columns, struct engine *out, char *why)
{
    struct ort *o = create(inputs, columns, out, why);
    if (o == NULL) return 1;
    int bad = load(o, HOST_VERSION) ? ENGINE_ABSENT : prepare(o) || start(o, model, HOST);
    return finish(o, run, bad, out);
}

int engine_open_ort_bound(const char *model, size_t inputs, size_t columns, int device,
                          void *stream, struct engine *out, char *why)
{
    struct ort *o = create(inputs, columns, out, why);
    if (o == NULL) return 1;
    int bad = load(o, device == HOST ? HOST_VERSION : CUDA_VERSION) ? ENGINE_ABSENT : prepare(o);
    if (!bad && device != HOST && add_cuda(o, device, stream)) bad = ENGINE_ABSENT;
    if (!bad) bad = start(o, model, device) || open_binding(o);
    return finish(o, run_bound, bad, out);
}
