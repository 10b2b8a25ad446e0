/* The CPU backend: the choice of kernels, and the division of each op among threads. */
#include "backend/cpu.h"
#include "backend/ordered_sum.h"
#include "backend/thread_pool.h"
#include "base/arena.h"
#include "base/os.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static certreg_status copy(certreg_backend *backend, void *to, const void *from, size_t bytes)
{
    (void)backend;
    if (to != from && bytes) memcpy(to, from, bytes);
    return CERTREG_OK;
}

static certreg_status fill(certreg_backend *backend, void *there, size_t bytes, int byte)
{
    (void)backend;
    if (bytes) memset(there, byte, bytes);
    return CERTREG_OK;
}

static certreg_status wait(certreg_backend *backend)
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

#define COLUMNS 512u /* of a gram; some rows of them fit in the L1 cache */

typedef struct cpu {
    certreg_backend base;
    const cr_cpu_kernel_table *kernels; /* NULL: the best for this processor */
    cr_pool *pool;                      /* NULL: the calling thread */
} cpu;

const cr_cpu_kernel_table *cr_cpu_path(int path)
{
    if (path > CR_CPU_MOST) return NULL;
#if defined(__x86_64__)
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const int avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512vl");
    if (path == CR_CPU_AVX512) return avx512 ? cr_cpu_avx512_kernels() : NULL;
    if (path == CR_CPU_AVX2) return avx2 ? cr_cpu_avx2_kernels() : NULL;
#endif
    return path == CR_CPU_PORTABLE ? cr_cpu_portable_kernels() : NULL;
}

const cr_cpu_kernel_table *cr_cpu_best(void)
{
    const cr_cpu_kernel_table *kernels = NULL;
    for (int path = CR_CPU_AVX512; !kernels; path--) kernels = cr_cpu_path(path);
    return kernels;
}

static const cr_cpu_kernel_table *kernels_of(const cpu *me)
{
    return me->kernels ? me->kernels : cr_cpu_best();
}

/* Refuses work in a forked child, which has none of the threads. The default backend, which no
 * process opened, has no state and works everywhere. */
static certreg_status check(const cpu *me, const cr_noise *noise)
{
    if (me->base.busy.process && cr_call_guard_is_foreign(&me->base.busy))
        return CERTREG_E_WRONG_STATE;
    return noise->inputs ? CERTREG_OK : CERTREG_E_INVALID;
}

static void run(const cpu *me, size_t inputs, size_t count, cr_pool_job job, void *context)
{
    const size_t normals = cr_arena_product(inputs, count);
    cr_pool_run(me->pool, cr_pool_useful_threads(me->pool, normals), job, context);
}

/* Returns the beginning of part `part` of `count` things. Why not cr_walk_border: here the first
 * parts are the longer ones, since part 0, in which the caller checks the watch, must not be
 * empty. */
static size_t border(size_t count, size_t part, size_t parts)
{
    const size_t rest = count % parts;
    return count / parts * part + cr_least(part, rest);
}

typedef struct task { /* an op's arguments for the threads */
    const cr_cpu_kernel_table *kernels;
    const cr_noise *noise;
    const cr_draw *draw;
    const cr_weighted *weighted;
    double *sums;
    const cr_projection *projection;
    cr_lookout look;
} task;

typedef struct piece { /* the features that one thread replays */
    size_t begin, end;
} piece;

static piece piece_of(size_t inputs, size_t part, size_t parts)
{
    const size_t pieces = inputs / CR_CPU_SPLIT + (inputs % CR_CPU_SPLIT != 0),
                 end = border(pieces, part + 1, parts);
    return (piece){border(pieces, part, parts) * CR_CPU_SPLIT,
                   end == pieces ? inputs : end * CR_CPU_SPLIT};
}

static void draw_part(void *context, size_t part, size_t parts)
{
    const task *t = context;
    const cr_draw *d = t->draw;
    const size_t begin = border(d->count, part, parts), end = border(d->count, part + 1, parts);
    if (begin < end)
        t->kernels->draw(t->noise, d->z, d->step, d->first + begin, end - begin,
                         d->x + begin * t->noise->inputs);
}

static void replay_part(void *context, size_t part, size_t parts)
{
    task *t = context;
    const cr_weighted *w = t->weighted;
    const piece p = piece_of(t->noise->inputs, part, parts);
    for (size_t b = 0; b < w->blocks && p.begin < p.end; b++)
        for (size_t done = 0; done < w->length && !cr_lookout_late(&t->look); done += CR_CPU_STEP) {
            const size_t at = b * w->length + done;
            t->kernels->replay(t->noise, w->first + at, cr_least(w->length - done, CR_CPU_STEP),
                               w->functions, w->weights + at, w->stride,
                               t->sums + b * w->functions * t->noise->inputs, p.begin, p.end);
        }
}

static void project_part(void *context, size_t part, size_t parts)
{
    task *t = context;
    const cr_projection *p = t->projection;
    const size_t end = border(p->count, part + 1, parts);
    for (size_t i = border(p->count, part, parts); i < end && !cr_lookout_late(&t->look);
         i += CR_CPU_STEP)
        t->kernels->project(t->noise, p->first + i, cr_least(end - i, CR_CPU_STEP), p->direction,
                            p->mask, p->dots + i, p->norms + i);
}

static certreg_status op_draw(certreg_backend *backend, const cr_noise *noise, const cr_draw *draw)
{
    const cpu *me = (const cpu *)backend;
    certreg_status status = check(me, noise);
    if (status) return status;
    task t = {.kernels = kernels_of(me), .noise = noise, .draw = draw};
    run(me, noise->inputs, draw->count, draw_part, &t);
    return CERTREG_OK;
}

static certreg_status op_replay(certreg_backend *backend, const cr_noise *noise,
                                const cr_weighted *w, const float *mask, double *sums,
                                cr_deadline *watch)
{
    const cpu *me = (const cpu *)backend;
    const size_t inputs = noise->inputs, rows = w->blocks * w->functions;
    certreg_status status = check(me, noise);
    if (!status && (w->functions < 1 || w->functions > 2)) status = CERTREG_E_INVALID;
    if (status) return status;
    task t = {.kernels = kernels_of(me),
              .noise = noise,
              .weighted = w,
              .sums = sums,
              .look = {watch, cr_os_thread_id(), 0}};
    run(me, inputs, cr_arena_product(w->blocks, w->length), replay_part, &t);
    if (t.look.late) return CERTREG_E_DEADLINE;
    for (size_t j = 0; mask && j < inputs; j++)
        for (size_t row = 0; row < rows && !(mask[j] > 0); row++) sums[row * inputs + j] = 0;
    return CERTREG_OK;
}

static certreg_status op_project(certreg_backend *backend, const cr_noise *noise,
                                 const cr_projection *projection, cr_deadline *watch)
{
    const cpu *me = (const cpu *)backend;
    certreg_status status = check(me, noise);
    if (status) return status;
    task t = {.kernels = kernels_of(me),
              .noise = noise,
              .projection = projection,
              .look = {watch, cr_os_thread_id(), 0}};
    run(me, noise->inputs, projection->count, project_part, &t);
    return t.look.late ? CERTREG_E_DEADLINE : CERTREG_OK;
}

static certreg_status op_aim(certreg_backend *backend, const double *sums, const float *mask,
                             size_t inputs, float *direction, double lengths[2])
{
    (void)backend;
    double part[CR_AIM_SUMS] = {0}, units[CR_AIM_SUMS] = {0};
    for (size_t j = 0; j < inputs; j++)
        if (mask[j] > 0) part[j % CR_AIM_SUMS] = cr_aim_add(part[j % CR_AIM_SUMS], sums[j]);
    lengths[0] = sqrt(cr_add_halves(part, CR_AIM_SUMS));
    for (size_t j = 0; j < inputs; j++) {
        direction[j] = mask[j] > 0 ? (float)sums[j] : 0.0f;
        units[j % CR_AIM_SUMS] = cr_aim_add(units[j % CR_AIM_SUMS], (double)direction[j]);
    }
    lengths[1] = sqrt(cr_add_halves(units, CR_AIM_SUMS));
    return CERTREG_OK;
}

static size_t op_sweep_bytes(certreg_backend *backend, const cr_sweep_sizes *sizes)
{
    return cr_cpu_sweep_bytes(sizes, cr_pool_threads(((const cpu *)backend)->pool));
}

static certreg_status op_sweep(certreg_backend *backend, const cr_noise *noise,
                               const cr_sweep *sweep, cr_deadline *watch)
{
    const cpu *me = (const cpu *)backend;
    const certreg_status status = check(me, noise);
    if (status) return status;
    return cr_cpu_sweep(kernels_of(me), me->pool, noise, sweep, watch);
}

static certreg_status op_gram(certreg_backend *backend, const double *sums, size_t pitch,
                              size_t blocks, size_t inputs, double *gram)
{
    const cr_cpu_kernel_table *kernels = kernels_of((cpu *)backend);
    memset(gram, 0, blocks * blocks * sizeof *gram);
    for (size_t first = 0; first < inputs; first += COLUMNS)
        kernels->gram(sums + first, pitch, blocks, cr_least(inputs - first, COLUMNS), gram);
    return CERTREG_OK;
}

static void op_close(certreg_backend *backend)
{
    cpu *me = (cpu *)backend;
    cr_pool_destroy(me->pool, cr_call_guard_is_foreign(&me->base.busy));
    free(me);
}

/* draw_ahead and join are missing: work on the CPU is done when an op returns. */
static const cr_backend_ops ops = {.api_version = CR_BACKEND_API,
                                   .device = -1,
                                   .close = op_close,
                                   .draw = op_draw,
                                   .replay = op_replay,
                                   .project = op_project,
                                   .aim = op_aim,
                                   .gram = op_gram,
                                   .alloc = cpu_alloc,
                                   .free = cpu_free,
                                   .store = copy,
                                   .fetch = copy,
                                   .fill = fill,
                                   .wait = wait,
                                   .stream = stream,
                                   .last_code = last_code,
                                   .sweep = op_sweep,
                                   .sweep_bytes = op_sweep_bytes};

certreg_status cr_cpu_open(int32_t threads, certreg_error *why, certreg_backend **out)
{
    *out = NULL;
    cpu *me = calloc(1, sizeof *me);
    if (!me) return cr_error_set(why, CERTREG_E_NO_MEMORY, "no memory for a CPU backend");
    *me = (cpu){.base = {.ops = &ops}, .kernels = cr_cpu_best()};
    cr_call_guard_init(&me->base.busy);
    const certreg_status status = threads > 1 ? cr_pool_create((size_t)threads, why, &me->pool)
                                              : CERTREG_OK;
    if (status) {
        free(me);
        return status;
    }
    *out = &me->base;
    return CERTREG_OK;
}

certreg_status cr_cpu_force(certreg_backend *backend, int path)
{
    const cr_cpu_kernel_table *kernels = cr_cpu_path(path);
    if (!kernels) return CERTREG_E_NO_BACKEND;
    cpu *me = (cpu *)backend;
    me->kernels = kernels;
    if (me->pool) cr_pool_set_spinning(me->pool);
    return CERTREG_OK;
}

certreg_backend *cr_backend_default(void)
{
    /* never written: every call chooses the kernels again */
    static const cpu stateless = {.base = {.ops = &ops}};
    return (certreg_backend *)&stateless.base;
}
