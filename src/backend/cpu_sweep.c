/* The op sweep on the CPU, tile by tile of features, so that memory does not grow with the inputs.
 * A round has one tile for each thread. Results are added in the order of the tiles, so that bits
 * do not depend on threads. */
#include "backend/cpu.h"
#include "backend/thread_pool.h"
#include "base/arena.h"
#include "base/os.h"
#include <math.h>
#include <string.h>

#define MAX_TILES 8u /* in a round */

typedef struct tile_buffers { /* memory for one tile of a round */
    cr_sweep_state *states;
    float *mask;
    double *block_sums;                             /* block sums of all functions with a gram */
    double *squares, *squared_norms, *dots, *grams; /* results of all functions; NULL: use the
                                                       totals */
} tile_buffers;

typedef struct sweep {
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
} sweep;

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

static void lay_out_all(cr_arena *a, const cr_sweep_sizes *s, size_t tiles, sweep *to)
{
    to->squares = cr_arena_alloc(a, s->functions * 2 * (s->blocks + 1), sizeof *to->squares);
    for (size_t k = 0; k < tiles; k++) to->buffers[k] = lay_out(a, s, tiles > 1);
}

size_t cr_cpu_sweep_bytes(const cr_sweep_sizes *s, size_t threads)
{
    cr_arena a = {.base = NULL};
    sweep sized;
    lay_out_all(&a, s, tiles_per_round(s->inputs, threads), &sized);
    return a.overflow ? SIZE_MAX / 2 : a.used;
}

/* ---- a tile */
/* Points every function to its results, either in the tile's buffers or the totals. */
static void assign_results(const sweep *self, const tile_buffers *p)
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

static void clear_results(const sweep *self, const cr_sweep_state *s, double *squares)
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

static cr_sweep_tile start_tile(const sweep *self, size_t tile_number, const tile_buffers *p)
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

static void sweep_samples(sweep *self, cr_sweep_tile *t, cr_sweep_state *states)
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
static void multiply_block_sums(sweep *self, size_t part, const cr_sweep_tile *t,
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
    sweep *self = context;
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

static void add_tile_results(const sweep *self, const tile_buffers *p)
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
static void begin_sweep(sweep *self)
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
static void finish_sweep(const sweep *self)
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

certreg_status cr_cpu_sweep(const cr_cpu_kernel_table *kernels, cr_pool *pool,
                            const cr_noise *noise, const cr_sweep *request, cr_deadline *deadline)
{
    sweep self = {.kernels = kernels,
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
