/* ONNX Runtime. Building needs neither its headers nor its library, which ort_library.c finds.
 *
 * Arrays are bound and used in place, in host or device memory. On a device they stay there if the
 * CUDA provider has all operators of the model. The session works on the stream that a batch names;
 * it is opened again when that is another one than before. A run is enqueued there, and may return
 * before it is done. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"
#include "ort_api.h"

enum { HOST = -1, LOG_FATAL = 4, DEVICE_ALLOCATOR = 0, DEFAULT_MEMORY = 0 };
enum { MOST_OUTPUTS = 16 };

struct ort {
    ort_function *const *table;
    void *env, *options, *session, *memory, *run_options, *binding;
    int device;   /* or HOST */
    void *stream; /* of the session, on a device */
    size_t columns;
    struct tensor input, output;
    char *model; /* path, to open it again on another stream */
    char *why;   /* of the call that runs */
};

/* Copies the message of a status to `why`, and releases the status. */
static int failed(struct ort *o, ort_status s, const char *doing)
{
    char what[64];
    if (s == NULL) return 0;
    const char *(*message)(const void *) =
        (const char *(*)(const void *))o->table[ORT_ERROR_MESSAGE];
    snprintf(what, sizeof what, "ONNX Runtime, %s", doing);
    engine_fail_line(o->why, what, message(s));
    ((void (*)(void *))o->table[ORT_RELEASE_STATUS])(s);
    return 1;
}

static void release(const struct ort *o, int place, void *object)
{
    if (object != NULL) ((void (*)(void *))o->table[place])(object);
}

/* ---- session */
/* Options are text. A stream is a pointer and is set by another function, the newest of those that
 * are used here. Without one the provider makes its own. */
static int add_cuda(struct ort *o)
{
    static const char *const key = "device_id";
    char number[16];
    const char *const value = number;
    ort_function *const *t = o->table;
    void *cuda = NULL;
    snprintf(number, sizeof number, "%d", o->device);
    const int bad =
        failed(o, ORT_AT(t, ORT_CREATE_CUDA_OPTIONS, void **)(&cuda), "making CUDA options") ||
        failed(o,
               ORT_AT(t, ORT_UPDATE_CUDA_OPTIONS, void *, const char *const *, const char *const *,
                      size_t)(cuda, &key, &value, 1),
               "choosing the CUDA device") ||
        (o->stream != NULL &&
         failed(o,
                ORT_AT(t, ORT_UPDATE_CUDA_OPTIONS_WITH_VALUE, void *, const char *,
                       void *)(cuda, "user_compute_stream", o->stream),
                "setting the CUDA stream")) ||
        failed(o, ORT_AT(t, ORT_ADD_CUDA, void *, const void *)(o->options, cuda),
               "adding the CUDA provider");
    release(o, ORT_RELEASE_CUDA_OPTIONS, cuda);
    return bad ? ENGINE_ABSENT : 0;
}

/* On a device the run options keep a run from waiting for its stream at the end; on the host they
 * change nothing. */
static int prepare(struct ort *o)
{
    ort_function *const *t = o->table;
    return failed(
               o,
               ORT_AT(t, ORT_CREATE_ENV, int, const char *, void **)(LOG_FATAL, "certreg", &o->env),
               "starting") ||
           failed(o,
                  ORT_AT(t, ORT_CREATE_MEMORY_INFO, const char *, int, int, int,
                         void **)(o->device == HOST ? "Cpu" : "Cuda", DEVICE_ALLOCATOR,
                                  o->device == HOST ? 0 : o->device, DEFAULT_MEMORY, &o->memory),
                  "describing memory") ||
           failed(o, ORT_AT(t, ORT_CREATE_RUN_OPTIONS, void **)(&o->run_options),
                  "making run options") ||
           failed(o,
                  ORT_AT(t, ORT_ADD_RUN_CONFIG, void *, const char *, const char *)(
                      o->run_options, "disable_synchronize_execution_providers", "1"),
                  "setting run options");
}

static void close_session(struct ort *o)
{
    release(o, ORT_RELEASE_BINDING, o->binding);
    release(o, ORT_RELEASE_SESSION, o->session);
    release(o, ORT_RELEASE_SESSION_OPTIONS, o->options);
    o->binding = o->session = o->options = NULL;
}

static int open_session(struct ort *o)
{
    ort_function *const *t = o->table;
    if (failed(o, ORT_AT(t, ORT_CREATE_SESSION_OPTIONS, void **)(&o->options), "making options") ||
        failed(o, ORT_AT(t, ORT_SET_INTRA_OP_THREADS, void *, int)(o->options, 1),
               "setting threads") ||
        failed(o, ORT_AT(t, ORT_SET_INTER_OP_THREADS, void *, int)(o->options, 1),
               "setting threads"))
        return ENGINE_FAILED;
    const int absent = o->device != HOST ? add_cuda(o) : 0;
    if (absent) return absent;
    return failed(o,
                  ORT_AT(t, ORT_CREATE_SESSION, const void *, const char *, const void *,
                         void **)(o->env, o->model, o->options, &o->session),
                  "opening the model") ||
           failed(o, ORT_AT(t, ORT_CREATE_BINDING, void *, void **)(o->session, &o->binding),
                  "making a binding");
}

/* ---- what the session says of its tensors */
static int read_name(struct ort *o, int place, size_t index, char name[TENSOR_NAME])
{
    void *allocator = NULL;
    char *text = NULL;
    if (failed(o, ORT_AT(o->table, ORT_ALLOCATOR, void **)(&allocator), "asking for memory") ||
        failed(o,
               ORT_AT(o->table, place, const void *, size_t, void *, char **)(o->session, index,
                                                                              allocator, &text),
               "reading a name"))
        return 1;
    const int length = snprintf(name, TENSOR_NAME, "%s", text);
    return failed(o, ORT_AT(o->table, ORT_FREE, void *, void *)(allocator, text),
                  "freeing a name") ||
           (length >= TENSOR_NAME && engine_fail(o->why, "a tensor's name is too long: %s", name));
}

/* Element type and sizes. `info` is NULL for what is no tensor. */
static int read_info(struct ort *o, const void *info, struct tensor *t)
{
    size_t rank = 0;
    ort_function *const *table = o->table;
    if (info == NULL) return engine_fail(o->why, "\"%.100s\" is not a tensor", t->name);
    if (failed(o, ORT_AT(table, ORT_ELEMENT_TYPE, const void *, int *)(info, &t->type),
               "reading a type") ||
        failed(o, ORT_AT(table, ORT_RANK, const void *, size_t *)(info, &rank), "reading a shape"))
        return 1;
    if (rank > TENSOR_RANK)
        return engine_fail(o->why, "\"%.100s\" has more than %d dimensions", t->name, TENSOR_RANK);
    t->rank = rank > 0 ? (int)rank : -1; /* a shape that is not known has 0 dimensions */
    return failed(o, ORT_AT(table, ORT_SIZES, const void *, int64_t *, size_t)(info, t->size, rank),
                  "reading a shape");
}

static int read_tensor(struct ort *o, int name, int type, size_t index, struct tensor *t)
{
    void *of_type = NULL;
    const void *info = NULL;
    const int bad =
        read_name(o, name, index, t->name) ||
        failed(o,
               ORT_AT(o->table, type, const void *, size_t, void **)(o->session, index, &of_type),
               "reading a type") ||
        failed(o, ORT_AT(o->table, ORT_TENSOR_OF_TYPE, const void *, const void **)(of_type, &info),
               "reading a type") ||
        read_info(o, info, t);
    release(o, ORT_RELEASE_TYPE, of_type);
    return bad;
}

static int choose_output(struct ort *o, const struct engine_options *options, size_t *chosen)
{
    char names[MOST_OUTPUTS][TENSOR_NAME];
    const char *list[MOST_OUTPUTS];
    size_t count = 0;
    if (failed(o, ORT_AT(o->table, ORT_OUTPUT_COUNT, const void *, size_t *)(o->session, &count),
               "counting outputs"))
        return 1;
    if (count > MOST_OUTPUTS)
        return engine_fail(o->why, "the model has more than %d outputs", MOST_OUTPUTS);
    for (size_t i = 0; i < count; i++) {
        if (read_name(o, ORT_OUTPUT_NAME, i, names[i])) return 1;
        list[i] = names[i];
    }
    const int found = tensor_choose(options, list, count, o->why);
    *chosen = (size_t)found;
    return found < 0;
}

static int read_tensors(struct ort *o, const struct engine_options *options)
{
    size_t inputs = 0, chosen = 0;
    if (failed(o, ORT_AT(o->table, ORT_INPUT_COUNT, const void *, size_t *)(o->session, &inputs),
               "counting inputs"))
        return 1;
    if (inputs != 1)
        return engine_fail(o->why,
                           "the model has %zu inputs: an engine feeds one, so make constants of "
                           "the others",
                           inputs);
    return choose_output(o, options, &chosen) ||
           read_tensor(o, ORT_INPUT_NAME, ORT_INPUT_TYPE, 0, &o->input) ||
           read_tensor(o, ORT_OUTPUT_NAME, ORT_OUTPUT_TYPE, chosen, &o->output);
}

/* ---- running */
/* A tensor over the caller's memory; nothing is copied. */
static int wrap(struct ort *o, const float *data, size_t numbers, const struct tensor *t,
                size_t rows, void **value)
{
    int64_t size[TENSOR_RANK];
    memcpy(size, t->size, sizeof size);
    size[0] = (int64_t)rows;
    return failed(o,
                  ORT_AT(o->table, ORT_CREATE_TENSOR_WITH_DATA, const void *, const void *, size_t,
                         const int64_t *, size_t, int,
                         void **)(o->memory, data, numbers * sizeof *data, size, (size_t)t->rank,
                                  TENSOR_FLOAT, value),
                  "wrapping an array");
}

static int run_bound(struct ort *o, const certreg_batch *b, void **in, void **out)
{
    ort_function *const *t = o->table;
    return wrap(o, b->x, b->rows * b->inputs, &o->input, b->rows, in) ||
           wrap(o, b->y, b->rows * b->columns, &o->output, b->rows, out) ||
           failed(o,
                  ORT_AT(t, ORT_BIND_INPUT, void *, const char *, const void *)(o->binding,
                                                                                o->input.name, *in),
                  "binding the input") ||
           failed(o,
                  ORT_AT(t, ORT_BIND_OUTPUT, void *, const char *,
                         const void *)(o->binding, o->output.name, *out),
                  "binding the output") ||
           failed(o,
                  ORT_AT(t, ORT_RUN_WITH_BINDING, void *, const void *,
                         const void *)(o->session, o->run_options, o->binding),
                  "running the model");
}

static int run(void *self, const certreg_batch *b, char *why)
{
    struct ort *o = self;
    void *in = NULL, *out = NULL;
    o->why = why;
    if (o->device != HOST && b->stream != o->stream) {
        close_session(o);
        o->stream = b->stream;
    }
    int bad = o->session == NULL ? open_session(o) : 0;
    if (bad) close_session(o);
    else bad = run_bound(o, b, &in, &out);
    release(o, ORT_RELEASE_VALUE, in); /* the binding keeps references to them until the next run */
    release(o, ORT_RELEASE_VALUE, out);
    return bad;
}

/* A run on zeros, where the file leaves the shape of the output open. ONNX Runtime allocates. */
static int probe(struct ort *o, struct engine *e)
{
    const size_t rows = e->batch > 0 ? e->batch : 1;
    const char *const input = o->input.name, *const output = o->output.name;
    void *in = NULL, *out = NULL, *info = NULL;
    float *zeros = o->device == HOST ? calloc(rows * e->inputs, sizeof *zeros) : NULL;
    if (zeros == NULL)
        return engine_fail(o->why, o->device == HOST ? "no memory for a row"
                                                     : "the file does not tell the output's shape, "
                                                       "which a device needs");
    const int bad = wrap(o, zeros, rows * e->inputs, &o->input, rows, &in) ||
                    failed(o,
                           ORT_AT(o->table, ORT_RUN, void *, const void *, const char *const *,
                                  void *const *, size_t, const char *const *, size_t,
                                  void **)(o->session, NULL, &input, &in, 1, &output, 1, &out),
                           "running the model on zeros") ||
                    failed(o,
                           ORT_AT(o->table, ORT_TENSOR_OF_VALUE, const void *, void **)(out, &info),
                           "reading a shape") ||
                    read_info(o, info, &o->output) || tensor_ran(&o->output, rows, e);
    release(o, ORT_RELEASE_TENSOR_OF_VALUE, info);
    release(o, ORT_RELEASE_VALUE, out);
    release(o, ORT_RELEASE_VALUE, in);
    free(zeros);
    return bad;
}

/* ---- opening */
static void close_ort(void *self)
{
    struct ort *o = self;
    close_session(o);
    release(o, ORT_RELEASE_RUN_OPTIONS, o->run_options);
    release(o, ORT_RELEASE_MEMORY_INFO, o->memory);
    release(o, ORT_RELEASE_ENV, o->env);
    free(o->model);
    free(o);
}

static struct ort *create(const char *model, const struct engine_options *options, char *why)
{
    struct ort *o = calloc(1, sizeof *o);
    char *path = malloc(strlen(model) + 1);
    if (o == NULL || path == NULL) {
        engine_fail(why, "no memory for ONNX Runtime");
        free(o);
        free(path);
        return NULL;
    }
    *o = (struct ort){.device = options->on_device ? options->device : HOST,
                      .model = strcpy(path, model),
                      .why = why};
    return o;
}

static int open_all(struct ort *o, const struct engine_options *options, struct engine *out)
{
    const uint32_t version = o->device == HOST ? ORT_HOST_VERSION : ORT_CUDA_VERSION;
    if (ort_load(version, &o->table, out->name, o->why)) return ENGINE_ABSENT;
    if (engine_find(o->model, o->why) || prepare(o)) return ENGINE_FAILED;
    const int bad = open_session(o);
    if (bad) return bad;
    if (read_tensors(o, options) || tensor_input(options, &o->input, out) ||
        tensor_output(&o->output, out))
        return ENGINE_FAILED;
    return out->columns == 0 ? probe(o, out) : 0;
}

int engine_open_ort(const char *model, const struct engine_options *options, struct engine *out)
{
    struct ort *o = create(model, options, out->why);
    if (o == NULL) return ENGINE_FAILED;
    const int bad = open_all(o, options, out);
    if (bad) {
        close_ort(o);
        return bad;
    }
    out->device = o->device;
    out->self = o;
    out->run = run;
    out->close = close_ort;
    return 0;
}
