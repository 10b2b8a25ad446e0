#define _GNU_SOURCE
#include "emulated.h"
#include "memory.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct work {
    struct work *next;
    emulated_work *run, *drop;
    void *with;
} work;

struct emulated_stream { /* never used again: events may know it */
    int device, at_once, capturing;
    work *first, *last;
    uint64_t given, done; /* numbers of work */
};

struct emulated_event {
    cudaStream_t stream; /* NULL: never recorded */
    uint64_t after;
    double seconds; /* when it was recorded, or waited for */
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static emulated_state state;
static int lost[EMULATED_DEVICES], last_code;
static struct emulated_stream streams[4096];
static size_t streams_made;

emulated_state *emulated(void)
{
    return &state;
}

void emulated_reset(void)
{
    const size_t taken = state.taken;
    const int objects = state.objects;
    state = (emulated_state){.taken = taken, .objects = objects};
    memset(lost, 0, sizeof lost);
    last_code = 0;
}

/* ---- one caller at a time */
static pthread_mutex_t gate;
static pthread_once_t gate_made = PTHREAD_ONCE_INIT;

static void make_gate(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&gate, &kind);
}

static void lock(void)
{
    pthread_once(&gate_made, make_gate);
    pthread_mutex_lock(&gate);
}

static cudaError_t leave(cudaError_t code)
{
    if (code) last_code = code;
    pthread_mutex_unlock(&gate);
    return code;
}

static _Thread_local int unobserved;

void emulated_observe(int on)
{
    unobserved = !on;
}

static cudaError_t count(void)
{
    if (!unobserved && ++state.calls == state.fail_at) {
        if (state.fail_code >= EMULATED_LOST) lost[emulated_current()] = state.fail_code;
        return state.fail_code;
    }
    return lost[emulated_current()];
}

cudaError_t emulated_enter(void)
{
    lock();
    return leave(count());
}

void emulated_count_object(int by)
{
    lock();
    state.objects += by;
    leave(cudaSuccess);
}

void emulated_count_launch(void)
{
    lock();
    state.launches++;
    leave(cudaSuccess);
}

void emulated_count_product(void)
{
    lock();
    state.products++;
    leave(cudaSuccess);
}

void emulated_count_context(int device)
{
    lock();
    state.contexts |= 1u << device;
    leave(cudaSuccess);
}

void emulated_broken(const char *what)
{
    fprintf(stderr, "emulated CUDA: %s\n", what);
    abort();
}

/* ---- streams */
static void run_to(cudaStream_t s, uint64_t number)
{
    if (s->done >= number) return; /* opening the memory takes time */
    emulated_open_memory(1);
    while (s->done < number) {
        work *w = s->first;
        if (!w) emulated_broken("a stream waits for itself");
        s->first = w->next;
        s->done++;
        if (!lost[s->device]) w->run(w->with);
        if (w->drop) w->drop(w->with);
        free(w);
    }
    emulated_open_memory(0);
}

static cudaError_t enqueue(cudaStream_t stream, work *w)
{
    if (stream->capturing) emulated_broken("work for a stream that is capturing");
    if (stream->first) stream->last->next = w;
    else stream->first = w;
    stream->last = w;
    stream->given++;
    if (stream->at_once) run_to(stream, stream->given);
    return lost[stream->device];
}

cudaError_t emulated_enqueue(cudaStream_t stream, emulated_work *run, void *with,
                             emulated_work *drop)
{
    work *w = malloc(sizeof *w);
    lock();
    cudaError_t code = w ? count() : cudaErrorMemoryAllocation;
    if (!code && (!stream || stream->device != emulated_current()))
        code = cudaErrorInvalidResourceHandle;
    if (code) {
        if (drop) drop(with);
        free(w);
        return leave(code);
    }
    *w = (work){.run = run, .with = with, .drop = drop};
    return leave(enqueue(stream, w));
}

typedef struct transfer { /* rows of bytes; from NULL: filled with a byte */
    void *to;
    const void *from;
    size_t bytes, rows, to_pitch, from_pitch;
    int byte;
} transfer;

static void copy_now(void *with)
{
    const transfer *t = with;
    if (!t->from) memset(t->to, t->byte, t->bytes);
    for (size_t i = 0; t->from && i < t->rows; i++)
        memcpy((char *)t->to + i * t->to_pitch, (const char *)t->from + i * t->from_pitch,
               t->bytes);
}

static cudaError_t give_transfer(cudaStream_t stream, transfer what)
{
    transfer *t = malloc(sizeof *t);
    if (!t) return cudaErrorMemoryAllocation;
    *t = what;
    return emulated_enqueue(stream, copy_now, t, free);
}

static void wait_now(void *with)
{
    const struct emulated_event *e = with;
    run_to(e->stream, e->after);
}

void emulated_capture(cudaStream_t stream, int on)
{
    stream->capturing = on;
}

cudaError_t emulated_load(void (*kernel)(void), int launched)
{
    static struct {
        void (*kernel)(void);
        unsigned devices; /* a bit for each that has it */
    } table[64];
    lock();
    const unsigned device = 1u << emulated_current();
    size_t i = 0;
    while (table[i].kernel && table[i].kernel != kernel) i++;
    if (i + 1 == sizeof table / sizeof *table) emulated_broken("too many kernels");
    if (launched && !(table[i].devices & device))
        emulated_broken("a kernel is launched that was not loaded when the device was opened");
    if (launched) return leave(cudaSuccess);
    table[i].kernel = kernel, table[i].devices |= device;
    return leave(count());
}

static void crash_now(void *with)
{
    lost[((cudaStream_t)with)->device] = EMULATED_LOST;
}

void emulated_crash(cudaStream_t stream)
{
    emulated_enqueue(stream, crash_now, stream, NULL);
}

/* ---- the runtime's functions */
cudaError_t cudaGetDeviceCount(int *number)
{
    *number = EMULATED_DEVICES;
    return emulated_enter();
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device)
{
    *value = which == cudaDevAttrMultiProcessorCount ? 2 : device == EMULATED_HOPPER ? 9 : 8;
    return emulated_enter();
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
    (void)device;
    *out = (struct cudaDeviceProp){"the emulated device, whose figures mean nothing", 1};
    return emulated_enter();
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    lock();
    const cudaError_t code = count();
    return leave(code ? code : emulated_take(out, bytes));
}

cudaError_t cudaFree(void *memory)
{
    lock();
    const cudaError_t code = count();
    state.contexts |= 1u << emulated_current(); /* also for NULL */
    if (!memory) return leave(code);
    const int device = emulated_device_of(memory);
    if (device < 0) emulated_broken("cudaFree of what cudaMalloc did not give");
    state.strays += device != emulated_current();
    for (size_t i = 0; i < streams_made; i++)
        if (streams[i].device == device) run_to(streams + i, streams[i].given);
    emulated_give_back(memory);
    return leave(code);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    lock();
    const void *there = kind == cudaMemcpyHostToDevice ? to : from,
               *here = kind == cudaMemcpyHostToDevice ? from : to;
    if (emulated_device_of(there) < 0 ||
        (kind != cudaMemcpyDeviceToDevice && emulated_device_of(here) >= 0))
        emulated_broken("a copy in another direction than said");
    if (kind == cudaMemcpyHostToDevice) state.to_device += bytes;
    if (kind == cudaMemcpyDeviceToHost) state.to_host += bytes;
    return leave(
        give_transfer(stream, (transfer){.to = to, .from = from, .bytes = bytes, .rows = 1}));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    if (kind != cudaMemcpyDeviceToDevice) emulated_broken("rows are copied on the device only");
    return give_transfer(stream, (transfer){.to = to,
                                            .from = from,
                                            .bytes = width,
                                            .rows = height,
                                            .to_pitch = to_pitch,
                                            .from_pitch = from_pitch});
}

cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream)
{
    return give_transfer(stream, (transfer){.to = to, .byte = byte, .bytes = bytes});
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    lock();
    (void)flags;
    const cudaError_t code = count();
    if (code) return leave(code);
    if (streams_made == sizeof streams / sizeof *streams) emulated_broken("too many streams");
    *out = streams + streams_made++;
    (*out)->device = emulated_current(), (*out)->at_once = state.at_once;
    state.objects++;
    return leave(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return cudaStreamCreateWithFlags(out, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    (void)priority;
    return cudaStreamCreateWithFlags(out, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0, *greatest = -5;
    return emulated_enter();
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    lock();
    run_to(stream, stream->given);
    state.objects--;
    return leave(count());
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    lock();
    if (stream->capturing) emulated_broken("waiting for a stream that is capturing");
    state.waits++;
    const cudaError_t code = count();
    if (code) return leave(code);
    run_to(stream, stream->given);
    return leave(lost[stream->device]);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    *status = stream->capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return emulated_enter();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    if (!event->stream) return emulated_enter();
    struct emulated_event *now = malloc(sizeof *now);
    if (!now) return cudaErrorMemoryAllocation;
    *now = *event;
    return emulated_enqueue(stream, wait_now, now, free);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    lock();
    (void)flags;
    const cudaError_t code = count();
    if (code) return leave(code);
    *out = calloc(1, sizeof **out);
    if (!*out) return leave(cudaErrorMemoryAllocation);
    state.objects++;
    return leave(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, 0);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    lock();
    const cudaError_t code = count();
    if (!code && event->stream) run_to(event->stream, event->after);
    event->seconds = seconds();
    return leave(code);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = (float)(1e3 * (to->seconds - from->seconds));
    return emulated_enter();
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    lock();
    free(event);
    state.objects--;
    return leave(count());
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    lock();
    cudaError_t code = count();
    if (!code && stream->device != emulated_current()) code = cudaErrorInvalidResourceHandle;
    if (!code) *event = (struct emulated_event){stream, stream->given, seconds()};
    return leave(code);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *memory)
{
    lock();
    const int device = emulated_device_of(memory);
    out->type = device >= 0 ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    out->device = device >= 0 ? device : -2;
    return leave(count());
}

cudaError_t cudaGetLastError(void)
{
    lock();
    const cudaError_t code = last_code;
    last_code = 0;
    return leave(code);
}

const char *cudaGetErrorString(cudaError_t code)
{
    switch (code) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    default: return "another error";
    }
}
