/* The CPU backend: the choice of kernels, and the division of each op among threads. */
#include "backend/cpu.h"
#include "backend/ordered_sum.h"
#include "backend/thread_pool.h"
#include "base/arena.h"
#include "base/os.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <stdatomic.h>
#endif

static certreg_status cpu_alloc(certreg_backend *backend, size_t bytes, void **out)
{
    (void)backend;
    *out = cr_os_alloc(bytes);
    return *out ? CERTREG_OK : CERTREG_E_NO_MEMORY;
}

static void cpu_free(certreg_backend *backend, void *memory)
{
    (void)backend;
    cr_os_free(memory);
}

static certreg_status copy(certreg_backend *backend, void *destination, const void *source,
                           size_t bytes)
{
    (void)backend;
    if (destination != source && bytes) memcpy(destination, source, bytes);
    return CERTREG_OK;
}

static certreg_status fill(certreg_backend *backend, void *memory, size_t bytes, int byte)
{
    (void)backend;
    if (bytes) memset(memory, byte, bytes);
    return CERTREG_OK;
}

static certreg_status cpu_wait(certreg_backend *backend)
{
    (void)backend;
    return CERTREG_OK;
}

static void *stream(certreg_backend *backend)
{
    (void)backend;
    return NULL;
}

static int32_t last_code(certreg_backend *backend, const char **text)
{
    (void)backend;
    *text = NULL;
    return 0;
}

#define GRAM_COLUMNS 512u /* of a gram; some rows of them fit in the L1 cache */

typedef struct cpu {
    certreg_backend base;
    const cr_cpu_kernel_table *kernels; /* NULL: the best for this processor */
    cr_pool *pool;                      /* NULL: the calling thread */
} cpu;

#if defined(__x86_64__)
/* Returns the best path for which the processor has the instructions and the system keeps the
 * registers. Why not __builtin_cpu_supports: it needs code at the start of a program, which zig's
 * compiler leaves out, and reports nothing without. */
static int detect_path(void)
{
    const unsigned fma = 1u << 12, osxsave = 1u << 27, avx2 = 1u << 5; /* ecx, ecx, ebx */
    const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* ebx: F, DQ, BW, VL */
    const unsigned ymm = 0x6, zmm = 0xe6;                              /* of XCR0 */
    unsigned a, b, c, d, kept, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (fma | osxsave)) != (fma | osxsave))
        return CR_CPU_PORTABLE;
    __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & avx2) || (kept & ymm) != ymm)
        return CR_CPU_PORTABLE;
    return (b & avx512) == avx512 && (kept & zmm) == zmm ? CR_CPU_AVX512 : CR_CPU_AVX2;
}

/* A constant of the machine, kept since a virtual machine takes microseconds for each cpuid. */
static _Atomic(int) detected_path = -1;

static int x86_path(void)
{
    int path = atomic_load_explicit(&detected_path, memory_order_relaxed);
    if (path < 0) {
        path = detect_path();
        atomic_store_explicit(&detected_path, path, memory_order_relaxed);
    }
    return path;
}
#endif

const cr_cpu_kernel_table *cr_cpu_path(int path)
{
    if (path > CR_CPU_MAX_PATH) return NULL;
#if defined(__x86_64__)
    if (path > x86_path()) return NULL;
    if (path == CR_CPU_AVX512) return cr_cpu_avx512_kernels();
    if (path == CR_CPU_AVX2) return cr_cpu_avx2_kernels();
#endif
    if (path == CR_CPU_NEON) return cr_cpu_neon_kernels();
    return path == CR_CPU_PORTABLE ? cr_cpu_portable_kernels() : NULL;
}

const cr_cpu_kernel_table *cr_cpu_best(void)
{
    const cr_cpu_kernel_table *kernels = NULL;
    for (int path = CR_CPU_AVX512; !kernels; path--) kernels = cr_cpu_path(path);
    return kernels;
}

static const cr_cpu_kernel_table *kernels_of(const cpu *self)
{
    return self->kernels ? self->kernels : cr_cpu_best();
}

/* Refuses work in a forked child, which has none of the threads. The default backend, which no
 * process opened, has no state and works everywhere. */
static certreg_status check(const cpu *self, const cr_noise *noise)
{
    if (self->base.guard.process && cr_call_guard_is_foreign(&self->base.guard))
        return CERTREG_E_WRONG_STATE;
    return noise->inputs ? CERTREG_OK : CERTREG_E_INVALID;
}

static void run_job(const cpu *self, size_t inputs, size_t count, cr_pool_job job, void *context)
{
    const size_t normals = cr_arena_product(inputs, count);
    cr_pool_run(self->pool, cr_pool_useful_threads(self->pool, normals), job, context);
}

/* Returns the beginning of part `part` of `count` things. Why not cr_block_begin: here the first
 * parts are the longer ones, since part 0, in which the caller checks the deadline, must not be
 * empty. */
static size_t part_begin(size_t count, size_t part, size_t parts)
{
    const size_t remainder = count % parts;
    return count / parts * part + cr_min_size(part, remainder);
}

typedef struct task { /* an op's arguments for the threads */
    const cr_cpu_kernel_table *kernels;
    const cr_noise *noise;
    const cr_draw *draw;
    const cr_weighted_blocks *weighted;
    double *sums;
    const cr_projection *projection;
    cr_job_deadline job_deadline;
} task;

typedef struct feature_range { /* the features that one thread replays */
    size_t begin, end;
} feature_range;

static feature_range feature_range_of(size_t inputs, size_t part, size_t parts)
{
    const size_t pieces = inputs / CR_CPU_SPLIT + (inputs % CR_CPU_SPLIT != 0),
                 end = part_begin(pieces, part + 1, parts);
    return (feature_range){part_begin(pieces, part, parts) * CR_CPU_SPLIT,
                           end == pieces ? inputs : end * CR_CPU_SPLIT};
}

static void draw_part(void *context, size_t part, size_t parts)
{
    const task *t = context;
    const cr_draw *d = t->draw;
    const size_t begin = part_begin(d->count, part, parts),
                 end = part_begin(d->count, part + 1, parts);
    if (begin < end)
        t->kernels->draw(t->noise, d->z, d->noise_deviation, d->first + begin, end - begin,
                         d->x + begin * t->noise->inputs);
}

static void replay_part(void *context, size_t part, size_t parts)
{
    task *t = context;
    const cr_weighted_blocks *w = t->weighted;
    const feature_range p = feature_range_of(t->noise->inputs, part, parts);
    for (size_t b = 0; b < w->blocks && p.begin < p.end; b++)
        for (size_t done = 0; done < w->block_samples && !cr_job_deadline_expired(&t->job_deadline);
             done += CR_CPU_CHECK_SAMPLES) {
            const size_t offset = b * w->block_samples + done;
            t->kernels->replay(t->noise, w->first + offset,
                               cr_min_size(w->block_samples - done, CR_CPU_CHECK_SAMPLES),
                               w->functions, w->weights + offset, w->stride,
                               t->sums + b * w->functions * t->noise->inputs, p.begin, p.end);
        }
}

static void project_part(void *context, size_t part, size_t parts)
{
    task *t = context;
    const cr_projection *p = t->projection;
    const size_t end = part_begin(p->count, part + 1, parts), blocks = p->blocks ? p->blocks : 1;
    size_t i = part_begin(p->count, part, parts), next = 0;
    for (; i < end && !cr_job_deadline_expired(&t->job_deadline); i = next) {
        const size_t block = cr_block_of(p->count, blocks, i);
        next = cr_min_size(cr_block_begin(p->count, blocks, block + 1),
                           cr_min_size(end, i + CR_CPU_CHECK_SAMPLES));
        t->kernels->project(t->noise, p->first + i, next - i,
                            p->directions + block * t->noise->inputs, p->mask, p->dots + i,
                            p->squared_norms + i);
    }
}

static certreg_status op_draw(certreg_backend *backend, const cr_noise *noise, const cr_draw *draw)
{
    const cpu *self = (const cpu *)backend;
    certreg_status status = check(self, noise);
    if (status) return status;
    task t = {.kernels = kernels_of(self), .noise = noise, .draw = draw};
    run_job(self, noise->inputs, draw->count, draw_part, &t);
    return CERTREG_OK;
}

static certreg_status op_replay(certreg_backend *backend, const cr_noise *noise,
                                const cr_weighted_blocks *w, const float *mask, double *sums,
                                cr_deadline *deadline)
{
    const cpu *self = (const cpu *)backend;
    const size_t inputs = noise->inputs, rows = w->blocks * w->functions;
    certreg_status status = check(self, noise);
    if (!status && (w->functions < 1 || w->functions > 2)) status = CERTREG_E_INVALID;
    if (status) return status;
    task t = {.kernels = kernels_of(self),
              .noise = noise,
              .weighted = w,
              .sums = sums,
              .job_deadline = {deadline, cr_os_thread_id(), 0}};
    run_job(self, inputs, cr_arena_product(w->blocks, w->block_samples), replay_part, &t);
    if (t.job_deadline.expired) return CERTREG_E_DEADLINE;
    for (size_t j = 0; mask && j < inputs; j++)
        for (size_t row = 0; row < rows && !(mask[j] > 0); row++) sums[row * inputs + j] = 0;
    return CERTREG_OK;
}

static certreg_status op_project(certreg_backend *backend, const cr_noise *noise,
                                 const cr_projection *projection, cr_deadline *deadline)
{
    const cpu *self = (const cpu *)backend;
    certreg_status status = check(self, noise);
    if (status) return status;
    task t = {.kernels = kernels_of(self),
              .noise = noise,
              .projection = projection,
              .job_deadline = {deadline, cr_os_thread_id(), 0}};
    run_job(self, noise->inputs, projection->count, project_part, &t);
    return t.job_deadline.expired ? CERTREG_E_DEADLINE : CERTREG_OK;
}

static void set_direction(const double *sums, const float *mask, size_t inputs, float *direction,
                          double norms[2])
{
    double squares[CR_NORM_SUMS] = {0}, direction_squares[CR_NORM_SUMS] = {0};
    for (size_t j = 0; j < inputs; j++)
        if (mask[j] > 0)
            squares[j % CR_NORM_SUMS] = cr_add_square(squares[j % CR_NORM_SUMS], sums[j]);
    norms[0] = sqrt(cr_add_halves(squares, CR_NORM_SUMS));
    for (size_t j = 0; j < inputs; j++) {
        direction[j] = mask[j] > 0 ? (float)sums[j] : 0.0f;
        direction_squares[j % CR_NORM_SUMS] =
            cr_add_square(direction_squares[j % CR_NORM_SUMS], (double)direction[j]);
    }
    norms[1] = sqrt(cr_add_halves(direction_squares, CR_NORM_SUMS));
}

static certreg_status op_set_directions(certreg_backend *backend, const cr_direction_rows *to)
{
    (void)backend;
    const size_t d = to->inputs;
    for (size_t i = d; i < to->rows * d; i++) to->sums[i] += to->sums[i - d];
    for (size_t r = 0; r < to->rows; r++)
        set_direction(to->sums + r * d, to->mask, d, to->directions + r * d, to->norms + 2 * r);
    return CERTREG_OK;
}

static size_t op_sweep_bytes(certreg_backend *backend, const cr_sweep_sizes *sizes)
{
    return cr_cpu_sweep_bytes(sizes, cr_pool_threads(((const cpu *)backend)->pool));
}

static certreg_status op_sweep(certreg_backend *backend, const cr_noise *noise,
                               const cr_sweep *sweep, cr_deadline *deadline)
{
    const cpu *self = (const cpu *)backend;
    const certreg_status status = check(self, noise);
    if (status) return status;
    return cr_cpu_sweep(kernels_of(self), self->pool, noise, sweep, deadline);
}

static certreg_status op_gram(certreg_backend *backend, const double *sums, size_t pitch,
                              size_t blocks, size_t inputs, double *gram)
{
    const cr_cpu_kernel_table *kernels = kernels_of((cpu *)backend);
    memset(gram, 0, blocks * blocks * sizeof *gram);
    for (size_t first = 0; first < inputs; first += GRAM_COLUMNS)
        kernels->gram(sums + first, pitch, blocks, cr_min_size(inputs - first, GRAM_COLUMNS), gram);
    return CERTREG_OK;
}

static void op_close(certreg_backend *backend)
{
    cpu *self = (cpu *)backend;
    cr_pool_destroy(self->pool, cr_call_guard_is_foreign(&self->base.guard));
    free(self);
}

/* draw_ahead and join are missing: work on the CPU is done when an op returns. */
static const cr_backend_ops ops = {.api_version = CR_BACKEND_API,
                                   .device = -1,
                                   .close = op_close,
                                   .draw = op_draw,
                                   .replay = op_replay,
                                   .project = op_project,
                                   .set_directions = op_set_directions,
                                   .gram = op_gram,
                                   .alloc = cpu_alloc,
                                   .free = cpu_free,
                                   .store = copy,
                                   .fetch = copy,
                                   .fill = fill,
                                   .wait = cpu_wait,
                                   .stream = stream,
                                   .last_code = last_code,
                                   .sweep = op_sweep,
                                   .sweep_bytes = op_sweep_bytes};

certreg_status cr_cpu_open(int32_t threads, certreg_error *why, certreg_backend **out)
{
    *out = NULL;
    cpu *self = calloc(1, sizeof *self);
    if (!self) return cr_error_set(why, CERTREG_E_NO_MEMORY, "no memory for a CPU backend");
    *self = (cpu){.base = {.ops = &ops}, .kernels = cr_cpu_best()};
    cr_call_guard_init(&self->base.guard);
    const certreg_status status = threads > 1 ? cr_pool_create((size_t)threads, why, &self->pool)
                                              : CERTREG_OK;
    if (status) {
        free(self);
        return status;
    }
    *out = &self->base;
    return CERTREG_OK;
}

certreg_status cr_cpu_force(certreg_backend *backend, const cr_cpu_kernel_table *kernels)
{
    if (!kernels) return CERTREG_E_NO_BACKEND;
    cpu *self = (cpu *)backend;
    self->kernels = kernels;
    if (self->pool) cr_pool_use_all_threads(self->pool);
    return CERTREG_OK;
}

certreg_backend *cr_backend_default(void)
{
    /* never written: every call chooses the kernels again */
    static const cpu stateless = {.base = {.ops = &ops}};
    return (certreg_backend *)&stateless.base;
}
