#define _GNU_SOURCE
#include "cublas_v2.h"
#include "emulated.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

void emulated_broken(const char *what)
{
    fprintf(stderr, "emulated CUDA: %s\n", what);
    abort();
}

/* ---- which device a thread works on: as the runtime has it set, or on top of that what was pushed
 * by the driver's functions, which go by name. A context is its device's number and one */
static _Thread_local int chosen, pushed[8], depth;

int emulated_current(void)
{
    return depth ? pushed[depth - 1] : chosen;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = emulated_current();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= EMULATED_DEVICES) return cudaErrorInvalidDevice;
    if (depth) pushed[depth - 1] = device;
    else chosen = device;
    lock();
    state.contexts |= 1u << device; /* since CUDA 12 */
    return leave(count());
}

static int device_get(int *device, int ordinal)
{
    *device = ordinal;
    return emulated_enter();
}

static int primary_retain(void **context, int device)
{
    lock();
    const cudaError_t code = count();
    if (code) return leave(code);
    *context = (void *)(uintptr_t)(device + 1);
    state.contexts |= 1u << device, state.objects++;
    return leave(cudaSuccess);
}

static int primary_release(int device)
{
    (void)device;
    lock();
    state.objects--;
    return leave(cudaSuccess);
}

/* A lost context is no hindrance; the next call finds it. */
static int push_current(void *context)
{
    if (depth == 8) emulated_broken("contexts are pushed and not popped");
    pushed[depth++] = (int)(uintptr_t)context - 1;
    const cudaError_t code = emulated_enter();
    if (!code || code >= EMULATED_LOST) return cudaSuccess;
    depth--;
    return code;
}

static int pop_current(void **context)
{
    if (!depth) emulated_broken("a context is popped that was not pushed");
    *context = (void *)(uintptr_t)(pushed[--depth] + 1);
    return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *how)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } table[] = {{"cuDeviceGet", (void (*)(void))device_get},
                 {"cuDevicePrimaryCtxRetain", (void (*)(void))primary_retain},
                 {"cuDevicePrimaryCtxRelease", (void (*)(void))primary_release},
                 {"cuCtxPushCurrent", (void (*)(void))push_current},
                 {"cuCtxPopCurrent", (void (*)(void))pop_current}};
    (void)version, (void)flags;
    *how = cudaDriverEntryPointSuccess;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i].name)) memcpy(function, &table[i].function, sizeof *function);
    return emulated_enter();
}

/* ---- memory. It faults when the host touches it, ends at a page that always faults, and has bytes
 * before and after it that giving it back compares */
enum { PAGE = 4096, ALIGN = 256, EDGE = 0xA5, FRESH = 0x55 };

typedef struct block {
    struct block *next;
    unsigned char *map, *memory;
    size_t mapped, bytes;
    int device;
} block;

static block *blocks;
static int running; /* pieces of work that have opened the memory */

/* For work on a stream (1), and after it (0); such work may nest. */
static void open_memory(int open)
{
    if (open ? running++ : --running) return;
    for (block *b = blocks; b; b = b->next)
        mprotect(b->map, b->mapped - PAGE, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

/* Of the current device. */
static cudaError_t take(void **out, size_t bytes)
{
    const size_t held = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (bytes > (size_t)1 << 40) return cudaErrorMemoryAllocation;
    if (emulated_current() == EMULATED_SMALL && state.taken + bytes > EMULATED_SMALL_BYTES)
        return cudaErrorMemoryAllocation;
    block *b = calloc(1, sizeof *b);
    if (!b) return cudaErrorMemoryAllocation;
    b->mapped = (held + PAGE - 1) / PAGE * PAGE + PAGE;
    b->map = mmap(NULL, b->mapped, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->map == MAP_FAILED) return free(b), cudaErrorMemoryAllocation;
    b->memory = b->map + b->mapped - PAGE - held;
    b->bytes = bytes, b->device = emulated_current();
    state.contexts |= 1u << emulated_current();
    b->next = blocks, blocks = b;
    memset(b->map, EDGE, b->mapped - PAGE);
    memset(b->memory, FRESH, bytes);
    mprotect(b->map + b->mapped - PAGE, PAGE, PROT_NONE);
    if (!running) mprotect(b->map, b->mapped - PAGE, PROT_NONE);
    state.taken += bytes, state.objects++;
    state.most_taken = state.taken > state.most_taken ? state.taken : state.most_taken;
    *out = b->memory;
    return cudaSuccess;
}

static void check_edges(const block *b)
{
    for (const unsigned char *p = b->map; p < b->memory; p++)
        if (*p != EDGE) emulated_broken("something was written before a piece of memory");
    for (const unsigned char *p = b->memory + b->bytes; p < b->map + b->mapped - PAGE; p++)
        if (*p != EDGE) emulated_broken("something was written behind a piece of memory");
}

/* Whose it is; -1: memory of no device. */
static int device_of(const void *memory)
{
    const unsigned char *p = memory;
    for (const block *b = blocks; b; b = b->next)
        if (p >= b->memory && p < b->memory + b->bytes) return b->device;
    return -1;
}

static void give_back(void *memory)
{
    block **at = &blocks;
    while (*at && (*at)->memory != memory) at = &(*at)->next;
    block *b = *at;
    if (!b) emulated_broken("cudaFree of a part of what cudaMalloc gave");
    mprotect(b->map, b->mapped - PAGE, PROT_READ);
    check_edges(b);
    *at = b->next;
    state.taken -= b->bytes, state.objects--;
    munmap(b->map, b->mapped);
    free(b);
}

/* ---- streams */
static void run_to(cudaStream_t s, uint64_t number)
{
    if (s->done >= number) return; /* opening the memory takes time */
    open_memory(1);
    while (s->done < number) {
        work *w = s->first;
        if (!w) emulated_broken("a stream waits for itself");
        s->first = w->next;
        s->done++;
        if (!lost[s->device]) w->run(w->with);
        if (w->drop) w->drop(w->with);
        free(w);
    }
    open_memory(0);
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

/* ---- launches, as work on a stream */
typedef struct launch {
    emulated_index grid, block;
    emulated_work *kernel, *drop;
    void *with;
} launch;

static void launch_now(void *with)
{
    const launch *l = with;
    emulated_run_blocks(l->grid, l->block, l->kernel, l->with);
}

static void drop_launch(void *with)
{
    launch *l = with;
    l->drop(l->with);
    free(l);
}

cudaError_t emulated_launch(cudaStream_t stream, emulated_index grid, emulated_index block_size,
                            emulated_work *kernel, void *with, emulated_work *drop)
{
    launch *l = malloc(sizeof *l);
    if (!l) return cudaErrorMemoryAllocation;
    lock(), state.launches++, leave(cudaSuccess);
    *l = (launch){grid, block_size, kernel, drop, with};
    return emulated_enqueue(stream, launch_now, l, drop_launch);
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
    return leave(code ? code : take(out, bytes));
}

cudaError_t cudaFree(void *memory)
{
    lock();
    const cudaError_t code = count();
    state.contexts |= 1u << emulated_current(); /* also for NULL */
    if (!memory) return leave(code);
    const int device = device_of(memory);
    if (device < 0) emulated_broken("cudaFree of what cudaMalloc did not give");
    state.strays += device != emulated_current();
    for (size_t i = 0; i < streams_made; i++)
        if (streams[i].device == device) run_to(streams + i, streams[i].given);
    give_back(memory);
    return leave(code);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    lock();
    const void *there = kind == cudaMemcpyHostToDevice ? to : from,
               *here = kind == cudaMemcpyHostToDevice ? from : to;
    if (device_of(there) < 0 || (kind != cudaMemcpyDeviceToDevice && device_of(here) >= 0))
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
    const int device = device_of(memory);
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

/* ---- cuBLAS in loops: columns first, work on the handle's stream */
struct emulated_blas {
    cudaStream_t stream;
};

static cublasStatus_t status_of(cudaError_t code)
{
    if (!code) return CUBLAS_STATUS_SUCCESS;
    return code == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                             : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t cublasCreate(cublasHandle_t *out)
{
    lock();
    const cudaError_t code = count();
    *out = code ? NULL : calloc(1, sizeof **out);
    state.objects += *out != NULL;
    leave(code);
    if (code) return CUBLAS_STATUS_NOT_INITIALIZED;
    return *out ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy(cublasHandle_t blas)
{
    lock();
    free(blas);
    state.objects--;
    leave(cudaSuccess);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t blas, cudaStream_t stream)
{
    blas->stream = stream;
    return status_of(emulated_enter());
}

cublasStatus_t cublasSetMathMode(cublasHandle_t blas, cublasMath_t mode)
{
    (void)blas, (void)mode;
    return status_of(emulated_enter());
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t blas, void *room, size_t bytes)
{
    (void)blas, (void)room;
    return bytes < 16384 ? CUBLAS_STATUS_EXECUTION_FAILED : status_of(emulated_enter());
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    return status ? "a cuBLAS call failed" : "success";
}

typedef struct product { /* dsyrk, with its arguments */
    cublasFillMode_t fill;
    int transposed, n, k, lda, ldc;
    double alpha, beta;
    const double *a;
    double *c;
} product;

static void dsyrk(void *with)
{
    const product *p = with;
    for (int j = 0; j < p->n; j++)
        for (int i = 0; i < p->n; i++) {
            if (p->fill == CUBLAS_FILL_MODE_UPPER ? i > j : i < j) continue;
            double sum = 0, *to = p->c + (size_t)j * (size_t)p->ldc + i;
            for (int l = 0; l < p->k; l++) {
                const size_t at_i = p->transposed ? (size_t)i * (size_t)p->lda + (size_t)l
                                                  : (size_t)l * (size_t)p->lda + (size_t)i;
                const size_t at_j = p->transposed ? (size_t)j * (size_t)p->lda + (size_t)l
                                                  : (size_t)l * (size_t)p->lda + (size_t)j;
                sum += p->a[at_i] * p->a[at_j];
            }
            *to = p->alpha * sum + (p->beta != 0 ? p->beta * *to : 0);
        }
}

cublasStatus_t cublasDsyrk(cublasHandle_t blas, cublasFillMode_t fill, cublasOperation_t transposed,
                           int n, int k, const double *alpha, const double *a, int lda,
                           const double *beta, double *c, int ldc)
{
    if (n < 0 || k < 0 || lda < (transposed ? k : n) || ldc < n)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    product *p = malloc(sizeof *p);
    if (!p) return CUBLAS_STATUS_ALLOC_FAILED;
    lock(), state.products++, leave(cudaSuccess);
    *p = (product){fill, (int)transposed, n, k, lda, ldc, *alpha, *beta, a, c};
    return status_of(emulated_enqueue(blas->stream, dsyrk, p, free));
}
