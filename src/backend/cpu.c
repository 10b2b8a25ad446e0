/* The backend of the CPU: its sweep by tiles of features, and all other operations. */
#include "backend/cpu.h"
#include "backend/noise_stream.h"
#include "backend/ordered_sum.h"
#include "backend/thread_pool.h"
#include "base/arena.h"
#include "base/os.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ======== The op sweep on the CPU, tile by tile of features, so that memory does not grow with
 * the inputs. A round has one tile for each thread. Results are added in the order of the tiles,
 * so that bits do not depend on threads. */
/* Features per thread in a replay are a multiple of this, so that all lanes are used. */
#define CR_CPU_SPLIT 64u
#define CR_CPU_CHECK_SAMPLES \
    512u /* samples between two checks of a deadline; a multiple of the chunk */
#define CR_SWEEP_TILE CR_PROJECT_PIECE /* features */

/* Tests lower this to run a library as on older processors (make check-paths). */
#ifndef CR_CPU_MAX_PATH
#define CR_CPU_MAX_PATH CR_CPU_AVX512
#endif
struct cr_pool;

#define MAX_TILES 8u /* in a round */

typedef struct tile_buffers { /* memory for one tile of a round */
    cr_sweep_state *states;
    float *mask;
    double *block_sums;                             /* block sums of all functions with a gram */
    double *squares, *squared_norms, *dots, *grams; /* results of all functions; NULL: use the
                                                       totals */
} tile_buffers;

typedef struct tile_sweep {
    const cr_cpu_kernel_table *kernels;
    const cr_noise *noise;
    const cr_sweep *request;
    tile_buffers buffers[MAX_TILES];
    double *squares;                 /* totals, two for each border of each function */
    size_t tiles;                    /* in a round */
    size_t first_tile;               /* the first tile of the round */
    uint64_t sample_end;             /* of the samples */
    int has_projections, has_totals; /* some function has no gram; some function is total */
    cr_job_deadline job_deadline;
} tile_sweep;

/* ---- memory */
static size_t tile_count(size_t inputs)
{
    return inputs / CR_SWEEP_TILE + (inputs % CR_SWEEP_TILE != 0);
}

static size_t tiles_per_round(size_t inputs, size_t threads)
{
    return cr_min_size(tile_count(inputs), cr_min_size(threads, MAX_TILES));
}

static tile_buffers lay_out(cr_arena *a, const cr_sweep_sizes *s, int has_results)
{
    const size_t width = cr_min_size(s->inputs, CR_SWEEP_TILE), padded = (width + 63) / 64 * 64,
                 square_count = 2 * (s->blocks + 1);
    tile_buffers p = {.states = cr_arena_alloc(a, s->functions, sizeof *p.states),
                      .mask = cr_arena_alloc(a, padded, sizeof *p.mask),
                      .block_sums =
                          cr_arena_alloc(a, s->grams * s->blocks * width, sizeof *p.block_sums)};
    for (size_t f = 0; f < s->functions; f++) {
        cr_sweep_state state = {.chunk_sums = cr_arena_alloc(a, padded, sizeof *state.chunk_sums),
                                .direction = cr_arena_alloc(a, padded, sizeof *state.direction),
                                .sums = cr_arena_alloc(a, padded, sizeof *state.sums)};
        if (p.states) p.states[f] = state;
    }
    if (!has_results) return p;
    p.squares = cr_arena_alloc(a, s->functions * square_count, sizeof *p.squares);
    p.squared_norms = cr_arena_alloc(a, s->sample_span, sizeof *p.squared_norms);
    p.dots = cr_arena_alloc(a, s->dots, sizeof *p.dots);
    p.grams = cr_arena_alloc(a, s->grams * s->blocks * s->blocks, sizeof *p.grams);
    return p;
}

static void lay_out_all(cr_arena *a, const cr_sweep_sizes *s, size_t tiles, tile_sweep *to)
{
    to->squares = cr_arena_alloc(a, s->functions * 2 * (s->blocks + 1), sizeof *to->squares);
    for (size_t k = 0; k < tiles; k++) to->buffers[k] = lay_out(a, s, tiles > 1);
}

/* Returns the bytes of buffers->workspace. */
static size_t cr_cpu_sweep_bytes(const cr_sweep_sizes *s, size_t threads)
{
    cr_arena a = {.base = NULL};
    tile_sweep sized;
    lay_out_all(&a, s, tiles_per_round(s->inputs, threads), &sized);
    return a.overflow ? SIZE_MAX / 2 : a.used;
}

/* ---- a tile */
/* Points every function to its results, either in the tile's buffers or the totals. */
static void assign_results(const tile_sweep *self, const tile_buffers *p)
{
    const size_t square_count = 2 * (self->request->sizes->blocks + 1);
    double *dots = p->dots, *gram = p->grams, *block_sums = p->block_sums;
    for (size_t i = 0; i < self->request->count; i++) {
        const cr_sweep_function *f = self->request->functions + i;
        cr_sweep_state *s = p->states + i;
        s->function = f;
        s->block = s->chunk_end = 0;
        s->squares = (p->squares ? p->squares : self->squares) + i * square_count;
        s->dots = p->dots ? dots : f->dots;
        s->gram = p->grams ? gram : f->gram;
        s->block_sums = f->gram ? block_sums : NULL;
        if (f->gram) {
            block_sums += f->blocks * cr_min_size(self->noise->inputs, CR_SWEEP_TILE);
            if (gram) gram += f->blocks * f->blocks;
        } else if (dots) dots += f->count;
    }
}

static void clear_results(const tile_sweep *self, const cr_sweep_state *s, double *squares)
{
    memset(squares, 0, 2 * (self->request->sizes->blocks + 1) * sizeof *squares);
    if (s->function->gram)
        memset(s->gram, 0, s->function->blocks * s->function->blocks * sizeof *s->gram);
    else memset(s->dots, 0, s->function->count * sizeof *s->dots);
}

static void clear_features(const cr_sweep_state *s, size_t padded)
{
    memset(s->chunk_sums, 0, padded * sizeof *s->chunk_sums);
    memset(s->direction, 0, padded * sizeof *s->direction);
    memset(s->sums, 0, padded * sizeof *s->sums);
}

static cr_sweep_tile start_tile(const tile_sweep *self, size_t tile_number, const tile_buffers *p)
{
    const size_t begin = tile_number * CR_SWEEP_TILE, inputs = self->noise->inputs,
                 width = cr_min_size(inputs - begin, CR_SWEEP_TILE),
                 padded = (cr_min_size(inputs, CR_SWEEP_TILE) + 63) / 64 * 64;
    const size_t span = (size_t)(self->sample_end - self->request->first);
    memset(p->mask, 0, padded * sizeof *p->mask);
    memcpy(p->mask, self->request->mask + begin, width * sizeof *p->mask);
    assign_results(self, p);
    for (size_t f = 0; f < self->request->count; f++) {
        clear_features(p->states + f, padded);
        if (p->squares) clear_results(self, p->states + f, p->states[f].squares);
    }
    if (p->squared_norms && self->has_projections)
        memset(p->squared_norms, 0, span * sizeof *p->squared_norms);
    return (cr_sweep_tile){.begin = begin,
                           .width = width,
                           .pitch = cr_min_size(inputs, CR_SWEEP_TILE),
                           .mask = p->mask,
                           .functions = self->request->count,
                           .first = self->request->first,
                           .squared_norms = !self->has_projections ? NULL
                                            : p->squared_norms     ? p->squared_norms
                                                                   : self->request->squared_norms};
}

static void sweep_samples(tile_sweep *self, cr_sweep_tile *t, cr_sweep_state *states)
{
    for (uint64_t i = self->request->first;
         i < self->sample_end && !cr_job_deadline_expired(&self->job_deadline);
         i += CR_CPU_CHECK_SAMPLES) {
        t->is_first = i == self->request->first && !t->is_second_pass;
        self->kernels->sweep(self->noise, i,
                             cr_min_size((size_t)(self->sample_end - i), CR_CPU_CHECK_SAMPLES), t,
                             states);
    }
}

/* Multiplies the block sums. The cost does not depend on the number of samples. */
static void multiply_block_sums(tile_sweep *self, size_t part, const cr_sweep_tile *t,
                                const cr_sweep_state *states)
{
    cr_deadline *deadline = part ? NULL : self->job_deadline.deadline;
    const double start_time = deadline ? cr_deadline_now(deadline) : 0;
    for (size_t f = 0; f < t->functions && !cr_job_deadline_expired(&self->job_deadline); f++)
        if (states[f].block_sums)
            self->kernels->gram(states[f].block_sums, t->pitch, states[f].function->blocks,
                                t->width, states[f].gram);
    if (deadline) deadline->constant_seconds += cr_deadline_now(deadline) - start_time;
}

static void sweep_tiles(void *context, size_t part, size_t parts)
{
    tile_sweep *self = context;
    for (size_t k = part; k < self->tiles; k += parts) {
        const tile_buffers *p = self->buffers + k;
        if (self->first_tile + k >= tile_count(self->noise->inputs)) return;
        cr_sweep_tile t = start_tile(self, self->first_tile + k, p);
        sweep_samples(self, &t, p->states);
        t.is_second_pass = 1;
        t.squared_norms = NULL;
        if (self->has_totals) sweep_samples(self, &t, p->states);
        multiply_block_sums(self, part, &t, p->states);
    }
}

/* ---- all tiles */
static void add_vector(double *to, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++) to[i] += from[i];
}

static void add_tile_results(const tile_sweep *self, const tile_buffers *p)
{
    const size_t square_count = 2 * (self->request->sizes->blocks + 1);
    for (size_t i = 0; i < self->request->count; i++) {
        const cr_sweep_function *f = self->request->functions + i;
        const cr_sweep_state *s = p->states + i;
        add_vector(self->squares + i * square_count, s->squares, square_count);
        if (f->gram) add_vector(f->gram, s->gram, f->blocks * f->blocks);
        else add_vector(f->dots, s->dots, f->count);
    }
    if (self->has_projections)
        add_vector(self->request->squared_norms, p->squared_norms,
                   (size_t)(self->sample_end - self->request->first));
}

/* Finds the end of the samples, and clears the totals. */
static void begin_sweep(tile_sweep *self)
{
    const size_t square_count = 2 * (self->request->sizes->blocks + 1);
    self->sample_end = self->request->first;
    for (size_t i = 0; i < self->request->count; i++) {
        const cr_sweep_function *f = self->request->functions + i;
        const cr_sweep_state totals = {.function = f, .dots = f->dots, .gram = f->gram};
        if (f->first + f->count > self->sample_end) self->sample_end = f->first + f->count;
        self->has_projections |= !f->gram;
        self->has_totals |= f->is_total;
        clear_results(self, &totals, self->squares + i * square_count);
    }
    if (self->has_projections)
        memset(self->request->squared_norms, 0,
               (size_t)(self->sample_end - self->request->first) *
                   sizeof *self->request->squared_norms);
}

/* Turns totals into norms and projections on unit vectors. */
static void finish_sweep(const tile_sweep *self)
{
    for (size_t i = 0; i < self->request->count; i++) {
        const cr_sweep_function *f = self->request->functions + i;
        const double *squares = self->squares + i * 2 * (self->request->sizes->blocks + 1);
        if (f->gram) continue;
        for (size_t b = 0; b <= f->blocks; b++) f->norms[b] = sqrt(squares[2 * b]);
        for (size_t b = 0; b < f->blocks; b++) {
            const double length = sqrt(squares[2 * (f->is_total ? f->blocks : b) + 1]);
            const size_t end = cr_block_begin(f->count, f->blocks, b + 1);
            for (size_t k = cr_block_begin(f->count, f->blocks, b); k < end; k++)
                f->dots[k] = length > 0 ? f->dots[k] / length : 0;
        }
    }
}

/* Does the op `sweep`. */
static certreg_status cr_cpu_sweep(const cr_cpu_kernel_table *kernels, cr_pool *pool,
                                   const cr_noise *noise, const cr_sweep *request,
                                   cr_deadline *deadline)
{
    tile_sweep self = {.kernels = kernels,
                       .noise = noise,
                       .request = request,
                       .job_deadline = {deadline, cr_os_thread_id(), 0}};
    cr_arena arena = {.base = request->buffers->workspace};
    self.tiles = tiles_per_round(noise->inputs, cr_pool_threads(pool));
    lay_out_all(&arena, request->sizes, self.tiles, &self);
    begin_sweep(&self);
    const size_t normals = cr_arena_product(
        self.tiles * CR_SWEEP_TILE, (size_t)(self.sample_end - request->first)); /* in a round */
    for (; self.first_tile < tile_count(noise->inputs); self.first_tile += self.tiles) {
        cr_pool_run(pool, cr_min_size(self.tiles, cr_pool_useful_threads(pool, normals)),
                    sweep_tiles, &self);
        if (self.job_deadline.expired) return CERTREG_E_DEADLINE;
        for (size_t k = 0; self.tiles > 1 && k < self.tiles; k++)
            if (self.first_tile + k < tile_count(noise->inputs))
                add_tile_results(&self, self.buffers + k);
    }
    finish_sweep(&self);
    return CERTREG_OK;
}

/* ======== The CPU backend: the choice of kernels, and the division of each op among threads. */
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
#endif

const cr_cpu_kernel_table *cr_cpu_path(int path)
{
    if (path > CR_CPU_MAX_PATH) return NULL;
#if defined(__x86_64__)
    int detected = atomic_load_explicit(&detected_path, memory_order_relaxed);
    if (detected < 0) {
        detected = detect_path();
        atomic_store_explicit(&detected_path, detected, memory_order_relaxed);
    }
    if (path > detected) return NULL;
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
    if (!self->pool) {
        job(context, 0, 1);
        return;
    }
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
    if (!d->masks) return;
    const cr_noise_stream words = cr_mask_stream_of(t->noise, d->masks);
    for (size_t i = begin; i < end; i++)
        cr_masks_hide(d->masks, &words, d->first + i, d->x + i * t->noise->inputs);
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
