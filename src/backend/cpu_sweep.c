/* The op sweep on the CPU, tile by tile of features, so that memory does not grow with the inputs.
 * A round has one tile for each thread. Results are added in the order of the tiles, so that bits
 * do not depend on threads. */
#include "backend/cpu.h"
#include "backend/thread_pool.h"
#include "base/arena.h"
#include "base/os.h"
#include <math.h>
#include <string.h>

#define MOST_TILES 8u /* in a round */

typedef struct place { /* memory for one tile of a round */
    cr_swept *swept;
    float *mask;
    double *rows;                           /* block sums of all functions with a gram */
    double *squares, *norms, *dots, *grams; /* results of all functions; NULL: use the totals */
} place;

typedef struct sweep {
    const cr_cpu_kernel_table *kernels;
    const cr_noise *noise;
    const cr_sweep *of;
    place place[MOST_TILES];
    double *squares;     /* totals, two for each border of each function */
    size_t tiles;        /* in a round */
    size_t at;           /* the first tile of the round */
    uint64_t end;        /* of the samples */
    int projects, whole; /* some function has no gram; some function is whole */
    cr_lookout look;
} sweep;

/* ---- memory */
static size_t tiles_of(size_t inputs)
{
    return inputs / CR_SWEEP_TILE + (inputs % CR_SWEEP_TILE != 0);
}

static size_t together(size_t inputs, size_t threads)
{
    return cr_least(tiles_of(inputs), cr_least(threads, MOST_TILES));
}

static place lay_out(cr_arena *a, const cr_sweep_sizes *s, int own)
{
    const size_t width = cr_least(s->inputs, CR_SWEEP_TILE), padded = (width + 63) / 64 * 64,
                 borders = 2 * (s->blocks + 1);
    place p = {.swept = cr_arena_alloc(a, s->functions, sizeof *p.swept),
               .mask = cr_arena_alloc(a, padded, sizeof *p.mask),
               .rows = cr_arena_alloc(a, s->grams * s->blocks * width, sizeof *p.rows)};
    for (size_t f = 0; f < s->functions; f++) {
        cr_swept swept = {.partial = cr_arena_alloc(a, padded, sizeof *swept.partial),
                          .direction = cr_arena_alloc(a, padded, sizeof *swept.direction),
                          .sums = cr_arena_alloc(a, padded, sizeof *swept.sums)};
        if (p.swept) p.swept[f] = swept;
    }
    if (!own) return p;
    p.squares = cr_arena_alloc(a, s->functions * borders, sizeof *p.squares);
    p.norms = cr_arena_alloc(a, s->span, sizeof *p.norms);
    p.dots = cr_arena_alloc(a, s->projected, sizeof *p.dots);
    p.grams = cr_arena_alloc(a, s->grams * s->blocks * s->blocks, sizeof *p.grams);
    return p;
}

static void lay_out_all(cr_arena *a, const cr_sweep_sizes *s, size_t tiles, sweep *to)
{
    to->squares = cr_arena_alloc(a, s->functions * 2 * (s->blocks + 1), sizeof *to->squares);
    for (size_t k = 0; k < tiles; k++) to->place[k] = lay_out(a, s, tiles > 1);
}

size_t cr_cpu_sweep_bytes(const cr_sweep_sizes *s, size_t threads)
{
    cr_arena a = {.base = NULL};
    sweep counted;
    lay_out_all(&a, s, together(s->inputs, threads), &counted);
    return a.overflow ? SIZE_MAX / 2 : a.used;
}

/* ---- a tile */
/* Points every function to its results, either the place's or the totals. */
static void point(const sweep *me, const place *p)
{
    const size_t borders = 2 * (me->of->sizes->blocks + 1);
    double *dots = p->dots, *gram = p->grams, *rows = p->rows;
    for (size_t i = 0; i < me->of->count; i++) {
        const cr_weighting *f = me->of->functions + i;
        cr_swept *s = p->swept + i;
        s->f = f;
        s->block = s->next = 0;
        s->squares = (p->squares ? p->squares : me->squares) + i * borders;
        s->dots = p->dots ? dots : f->dots;
        s->gram = p->grams ? gram : f->gram;
        s->rows = f->gram ? rows : NULL;
        if (f->gram) {
            rows += f->blocks * cr_least(me->noise->inputs, CR_SWEEP_TILE);
            gram += f->blocks * f->blocks;
        } else dots += f->count;
    }
}

static void clear_results(const sweep *me, const cr_swept *s, double *squares)
{
    memset(squares, 0, 2 * (me->of->sizes->blocks + 1) * sizeof *squares);
    if (s->f->gram) memset(s->gram, 0, s->f->blocks * s->f->blocks * sizeof *s->gram);
    else memset(s->dots, 0, s->f->count * sizeof *s->dots);
}

static void clear_features(const cr_swept *s, size_t padded)
{
    memset(s->partial, 0, padded * sizeof *s->partial);
    memset(s->direction, 0, padded * sizeof *s->direction);
    memset(s->sums, 0, padded * sizeof *s->sums);
}

static cr_sweep_tile start_tile(const sweep *me, size_t number, const place *p)
{
    const size_t begin = number * CR_SWEEP_TILE, inputs = me->noise->inputs,
                 width = cr_least(inputs - begin, CR_SWEEP_TILE),
                 padded = (cr_least(inputs, CR_SWEEP_TILE) + 63) / 64 * 64;
    const size_t span = (size_t)(me->end - me->of->first);
    memset(p->mask, 0, padded * sizeof *p->mask);
    memcpy(p->mask, me->of->mask + begin, width * sizeof *p->mask);
    point(me, p);
    for (size_t f = 0; f < me->of->count; f++) {
        clear_features(p->swept + f, padded);
        if (p->squares) clear_results(me, p->swept + f, p->swept[f].squares);
    }
    if (p->norms && me->projects) memset(p->norms, 0, span * sizeof *p->norms);
    return (cr_sweep_tile){.begin = begin,
                           .width = width,
                           .pitch = cr_least(inputs, CR_SWEEP_TILE),
                           .mask = p->mask,
                           .functions = me->of->count,
                           .first = me->of->first,
                           .norms = !me->projects ? NULL
                                    : p->norms    ? p->norms
                                                  : me->of->norms};
}

static void pass(sweep *me, cr_sweep_tile *t, cr_swept *swept)
{
    for (uint64_t i = me->of->first; i < me->end && !cr_lookout_late(&me->look); i += CR_CPU_STEP) {
        t->starts = i == me->of->first && !t->again;
        me->kernels->sweep(me->noise, i, cr_least((size_t)(me->end - i), CR_CPU_STEP), t, swept);
    }
}

/* Multiplies the block sums. The cost does not depend on the number of samples. */
static void multiply(sweep *me, size_t part, const cr_sweep_tile *t, const cr_swept *swept)
{
    cr_deadline *watch = part ? NULL : me->look.watch;
    const double start = watch ? cr_deadline_now(watch) : 0;
    for (size_t f = 0; f < t->functions && !cr_lookout_late(&me->look); f++)
        if (swept[f].rows)
            me->kernels->gram(swept[f].rows, t->pitch, swept[f].f->blocks, t->width, swept[f].gram);
    if (watch) watch->fixed += cr_deadline_now(watch) - start;
}

static void sweep_tiles(void *context, size_t part, size_t parts)
{
    sweep *me = context;
    for (size_t k = part; k < me->tiles; k += parts) {
        const place *p = me->place + k;
        if (me->at + k >= tiles_of(me->noise->inputs)) return;
        cr_sweep_tile t = start_tile(me, me->at + k, p);
        pass(me, &t, p->swept);
        t.again = 1;
        t.norms = NULL;
        if (me->whole) pass(me, &t, p->swept);
        multiply(me, part, &t, p->swept);
    }
}

/* ---- all tiles */
static void add(double *to, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++) to[i] += from[i];
}

static void add_place(const sweep *me, const place *p)
{
    const size_t borders = 2 * (me->of->sizes->blocks + 1);
    for (size_t i = 0; i < me->of->count; i++) {
        const cr_weighting *f = me->of->functions + i;
        const cr_swept *s = p->swept + i;
        add(me->squares + i * borders, s->squares, borders);
        if (f->gram) add(f->gram, s->gram, f->blocks * f->blocks);
        else add(f->dots, s->dots, f->count);
    }
    if (me->projects) add(me->of->norms, p->norms, (size_t)(me->end - me->of->first));
}

/* Finds the end of the samples, and clears the totals. */
static void start(sweep *me)
{
    const size_t borders = 2 * (me->of->sizes->blocks + 1);
    me->end = me->of->first;
    for (size_t i = 0; i < me->of->count; i++) {
        const cr_weighting *f = me->of->functions + i;
        const cr_swept totals = {.f = f, .dots = f->dots, .gram = f->gram};
        if (f->first + f->count > me->end) me->end = f->first + f->count;
        me->projects |= !f->gram;
        me->whole |= f->whole;
        clear_results(me, &totals, me->squares + i * borders);
    }
    if (me->projects)
        memset(me->of->norms, 0, (size_t)(me->end - me->of->first) * sizeof *me->of->norms);
}

/* Turns totals into lengths and projections on unit vectors. */
static void finish(const sweep *me)
{
    for (size_t i = 0; i < me->of->count; i++) {
        const cr_weighting *f = me->of->functions + i;
        const double *squares = me->squares + i * 2 * (me->of->sizes->blocks + 1);
        if (f->gram) continue;
        for (size_t b = 0; b <= f->blocks; b++) f->lengths[b] = sqrt(squares[2 * b]);
        for (size_t b = 0; b < f->blocks; b++) {
            const double length = sqrt(squares[2 * (f->whole ? f->blocks : b) + 1]);
            const size_t end = cr_walk_border(f->count, f->blocks, b + 1);
            for (size_t k = cr_walk_border(f->count, f->blocks, b); k < end; k++)
                f->dots[k] = length > 0 ? f->dots[k] / length : 0;
        }
    }
}

certreg_status cr_cpu_sweep(const cr_cpu_kernel_table *kernels, cr_pool *pool,
                            const cr_noise *noise, const cr_sweep *of, cr_deadline *watch)
{
    sweep me = {
        .kernels = kernels, .noise = noise, .of = of, .look = {watch, cr_os_thread_id(), 0}};
    cr_arena room = {.base = of->room->own};
    me.tiles = together(noise->inputs, cr_pool_threads(pool));
    lay_out_all(&room, of->sizes, me.tiles, &me);
    start(&me);
    const size_t normals =
        cr_arena_product(me.tiles * CR_SWEEP_TILE, (size_t)(me.end - of->first)); /* in a round */
    for (; me.at < tiles_of(noise->inputs); me.at += me.tiles) {
        cr_pool_run(pool, cr_least(me.tiles, cr_pool_useful_threads(pool, normals)), sweep_tiles,
                    &me);
        if (me.look.late) return CERTREG_E_DEADLINE;
        for (size_t k = 0; me.tiles > 1 && k < me.tiles; k++)
            if (me.at + k < tiles_of(noise->inputs)) add_place(&me, me.place + k);
    }
    finish(&me);
    return CERTREG_OK;
}
