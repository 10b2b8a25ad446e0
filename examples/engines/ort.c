/* ONNX Runtime. Building needs neither its headers nor its library, which ort_library.c finds.
 *
 * Arrays are bound and used in place, in host or device memory, unless the model's numbers are
 * float64 or only some of its columns are taken: then a batch is copied, through memory that is
 * kept. On a device arrays stay there if the CUDA provider has all operators of the model. The
 * session works on the stream that a batch names; it is opened again when that is another one than
 * before. A run is enqueued there, and may return before it is done. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort.h"

/* ---- sessions */
enum { LOG_FATAL = 4, DEVICE_ALLOCATOR = 0, DEFAULT_MEMORY = 0 };

int ort_failed(struct ort *o, ort_status s, const char *doing)
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

void ort_release(const struct ort *o, int place, void *object)
{
    if (object != NULL) ((void (*)(void *))o->table[place])(object);
}

/* Options are text. A stream is a pointer and is set by another function, the newest of those that
 * are used here. Without one the provider makes its own. */
static int add_cuda(struct ort *o)
{
    static const char *const key = "device_id";
    char number[16];
    const char *const value = number;
    void *cuda = NULL;
    snprintf(number, sizeof number, "%d", o->device);
    const int bad =
        ORT_FAILS(o, "making CUDA options", ORT_CREATE_CUDA_OPTIONS, (void **), &cuda) ||
        ORT_FAILS(o, "choosing the CUDA device", ORT_UPDATE_CUDA_OPTIONS,
                  (void *, const char *const *, const char *const *, size_t), cuda, &key, &value,
                  1) ||
        (o->stream != NULL &&
         ORT_FAILS(o, "setting the CUDA stream", ORT_UPDATE_CUDA_OPTIONS_WITH_VALUE,
                   (void *, const char *, void *), cuda, "user_compute_stream", o->stream)) ||
        ORT_FAILS(o, "adding the CUDA provider", ORT_ADD_CUDA, (void *, const void *), o->options,
                  cuda);
    ort_release(o, ORT_RELEASE_CUDA_OPTIONS, cuda);
    return bad ? ENGINE_ABSENT : 0;
}

/* On a device the run options keep a run from waiting for its stream at the end; on the host they
 * change nothing. */
static int prepare(struct ort *o)
{
    return ORT_FAILS(o, "starting", ORT_CREATE_ENV, (int, const char *, void **), LOG_FATAL,
                     "certreg", &o->env) ||
           ORT_FAILS(o, "describing memory", ORT_CREATE_MEMORY_INFO,
                     (const char *, int, int, int, void **), o->device == HOST ? "Cpu" : "Cuda",
                     DEVICE_ALLOCATOR, o->device == HOST ? 0 : o->device, DEFAULT_MEMORY,
                     &o->memory) ||
           ORT_FAILS(o, "making run options", ORT_CREATE_RUN_OPTIONS, (void **), &o->run_options) ||
           ORT_FAILS(o, "setting run options", ORT_ADD_RUN_CONFIG,
                     (void *, const char *, const char *), o->run_options,
                     "disable_synchronize_execution_providers", "1");
}

static void close_session(struct ort *o)
{
    ort_release(o, ORT_RELEASE_BINDING, o->binding);
    ort_release(o, ORT_RELEASE_SESSION, o->session);
    ort_release(o, ORT_RELEASE_SESSION_OPTIONS, o->options);
    o->binding = o->session = o->options = NULL;
}

static int open_session(struct ort *o)
{
    if (ORT_FAILS(o, "making options", ORT_CREATE_SESSION_OPTIONS, (void **), &o->options) ||
        ORT_FAILS(o, "setting threads", ORT_SET_INTRA_OP_THREADS, (void *, int), o->options, 1) ||
        ORT_FAILS(o, "setting threads", ORT_SET_INTER_OP_THREADS, (void *, int), o->options, 1))
        return ENGINE_FAILED;
    const int absent = o->device != HOST ? add_cuda(o) : 0;
    if (absent) return absent;
    return ORT_FAILS(o, "opening the model", ORT_CREATE_SESSION,
                     (const void *, const char *, const void *, void **), o->env, o->model,
                     o->options, &o->session) ||
           ORT_FAILS(o, "making a binding", ORT_CREATE_BINDING, (void *, void **), o->session,
                     &o->binding);
}

/* ---- running */
/* Memory for `size` bytes. It is allocated when a batch is larger than all before. */
static void *room(struct ort *o, struct ort_end *e, size_t size)
{
    if (size > e->size) {
        free(e->room);
        e->room = malloc(size);
        e->size = e->room != NULL ? size : 0;
        if (e->room == NULL) engine_fail(o->why, "no memory for a batch");
    }
    return e->room;
}

/* Whether outputs go through memory of the adapter. */
static int copies(const struct ort *o, const certreg_batch *b)
{
    return o->output.t.type != TENSOR_FLOAT || o->all != b->columns;
}

static const void *input_of(struct ort *o, const certreg_batch *b)
{
    const size_t count = b->rows * b->inputs;
    if (o->input.t.type == TENSOR_FLOAT) return b->x;
    double *x = room(o, &o->input, count * sizeof *x);
    for (size_t i = 0; x != NULL && i < count; i++) x[i] = (double)b->x[i];
    return x;
}

static void *output_of(struct ort *o, const certreg_batch *b)
{
    if (!copies(o, b)) return b->y;
    return room(o, &o->output, b->rows * o->all * tensor_bytes(o->output.t.type));
}

/* What is too large for float32 becomes infinite, so that it is found not to be finite. */
static float narrowed(double v)
{
    return v > (double)FLT_MAX ? INFINITY : v < -(double)FLT_MAX ? -INFINITY : (float)v;
}

static void take_columns(const struct ort *o, const certreg_batch *b)
{
    const float *single = o->output.room;
    const double *wide = o->output.room;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            const size_t at = i * o->all + o->first + k;
            b->y[i * b->columns + k] = o->output.t.type == TENSOR_DOUBLE ? narrowed(wide[at])
                                                                         : single[at];
        }
}

/* A tensor over an array of `rows` rows; nothing is copied. */
static int wrap(struct ort *o, const void *data, const struct tensor *t, size_t rows, void **value)
{
    struct tensor batch = *t;
    if (o->batch == 0) batch.size[0] = (int64_t)rows;
    return ort_wrap(o, data, &batch, value);
}

static int run_bound(struct ort *o, const certreg_batch *b, void **in, void **out)
{
    const void *x = input_of(o, b);
    void *y = output_of(o, b);
    const char *const names[] = {o->input.t.name, o->output.t.name};
    if (x == NULL || y == NULL || wrap(o, x, &o->input.t, b->rows, in) ||
        wrap(o, y, &o->output.t, b->rows, out) ||
        ORT_FAILS(o, "binding the input", ORT_BIND_INPUT, (void *, const char *, const void *),
                  o->binding, names[0], *in) ||
        ORT_FAILS(o, "binding the output", ORT_BIND_OUTPUT, (void *, const char *, const void *),
                  o->binding, names[1], *out) ||
        ORT_FAILS(o, "running the model", ORT_RUN_WITH_BINDING,
                  (void *, const void *, const void *), o->session, o->run_options, o->binding))
        return 1;
    if (copies(o, b)) take_columns(o, b);
    return 0;
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
    ort_release(o, ORT_RELEASE_VALUE, in); /* the binding keeps references to them until the next
                                              run */
    ort_release(o, ORT_RELEASE_VALUE, out);
    return bad;
}

/* A run on zeros, where the file leaves the shape of the output open. ONNX Runtime allocates. */
static int probe(struct ort *o, struct engine *e)
{
    const size_t rows = e->batch > 0 ? e->batch : 1;
    const char *names[1 + MOST_TENSORS] = {o->input.t.name}, *const output = o->output.t.name;
    void *values[1 + MOST_TENSORS] = {NULL}, *out = NULL, *info = NULL;
    void *zeros = o->device == HOST ? calloc(rows * e->inputs, sizeof(double)) : NULL;
    if (zeros == NULL)
        return engine_fail(o->why, o->device == HOST ? "no memory for a row"
                                                     : "the file does not tell the output's shape, "
                                                       "which a device needs");
    for (size_t i = 0; i < o->constants; i++)
        names[1 + i] = o->constant[i].name, values[1 + i] = o->constant[i].value;
    const int bad =
        wrap(o, zeros, &o->input.t, rows, &values[0]) ||
        ORT_FAILS(o, "running the model on zeros", ORT_RUN,
                  (void *, const void *, const char *const *, void *const *, size_t,
                   const char *const *, size_t, void **),
                  o->session, NULL, names, values, 1 + o->constants, &output, 1, &out) ||
        ORT_FAILS(o, "reading a shape", ORT_TENSOR_OF_VALUE, (const void *, void **), out, &info) ||
        ort_read_info(o, info, &o->output.t);
    ort_release(o, ORT_RELEASE_TENSOR_OF_VALUE, info);
    ort_release(o, ORT_RELEASE_VALUE, out);
    ort_release(o, ORT_RELEASE_VALUE, values[0]);
    free(zeros);
    if (bad) return bad;
    if (o->output.t.rank < 0) o->output.t.rank = 0; /* a number */
    return tensor_ran(&o->output.t, rows, e);
}

/* ---- opening */
static void close_ort(void *self)
{
    struct ort *o = self;
    close_session(o);
    for (size_t i = 0; i < o->constants; i++) {
        ort_release(o, ORT_RELEASE_VALUE, o->constant[i].value);
        free(o->constant[i].data);
    }
    ort_release(o, ORT_RELEASE_RUN_OPTIONS, o->run_options);
    ort_release(o, ORT_RELEASE_MEMORY_INFO, o->memory);
    ort_release(o, ORT_RELEASE_ENV, o->env);
    free(o->input.room);
    free(o->output.room);
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
    if (ort_read_tensors(o, options)) return ENGINE_FAILED;
    o->input.t.doubles = o->output.t.doubles = o->device == HOST;
    if (tensor_input(options, &o->input.t, out) || tensor_output(&o->output.t, out))
        return ENGINE_FAILED;
    o->batch = out->batch;
    if (out->columns == 0 && probe(o, out)) return ENGINE_FAILED;
    o->all = out->columns;
    return tensor_columns(options, out, &o->first);
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
