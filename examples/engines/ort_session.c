/* Sessions of ONNX Runtime, on the host or on a stream of a CUDA device. */
#include <stdio.h>
#include <string.h>

#include "ort.h"

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
int ort_prepare(struct ort *o)
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

void ort_close_session(struct ort *o)
{
    ort_release(o, ORT_RELEASE_BINDING, o->binding);
    ort_release(o, ORT_RELEASE_SESSION, o->session);
    ort_release(o, ORT_RELEASE_SESSION_OPTIONS, o->options);
    o->binding = o->session = o->options = NULL;
}

int ort_open_session(struct ort *o)
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
