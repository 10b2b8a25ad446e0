/* The kernels of the CPU backend, written once for V_LANES lanes; the including file includes one
 * lanes_*.h first. Replays round at the same places for every number of lanes, so that all paths
 * compute the same bits; draws need not (grid_rounding.h). */
#ifndef CR_BACKEND_CPU_KERNELS_H
#define CR_BACKEND_CPU_KERNELS_H
#include "backend/cpu.h"
#include "backend/grid_rounding.h"
#include "backend/ordered_sum.h"
#include <math.h>
#include <string.h>

/* Tiles are on the stack, at most 25 KiB (tests/api_environment.c). */
#define FILL_FLOATS \
    4096u           /* normals per tile of project: 16 KiB, half of the smallest L1 cache in use */
#define CELLS 1024u /* features per pass of draw, each with a normal and five numbers */
#define TILE 128u   /* features per tile of replay: with CR_REPLAY_CHUNK samples again 16 KiB */
#define GROUP CR_PROJECT_SUMS
#define FLUSH CR_PROJECT_PIECE
/* Floats that a fill may write, or a sum may read, after the last one in use. */
#define SLACK 64u
#define VECTOR ((size_t)V_LANES)

/* Writes the normals of consecutive blocks, rounded up to whole vectors by at most SLACK floats.
 * The first loop stores all words in the place of their normals. Why not one loop: a processor
 * overlaps several blocks, while the steps of one block wait for each other. strict: as in
 * box_muller.h. */
CR_ALWAYS_INLINE void fill(const cr_source *s, uint64_t block, size_t blocks, int strict, float *e)
{
    vu words[4];
    vf normals[4];
    for (size_t done = 0; done < blocks; done += VECTOR) {
        v_philox(s->keys, s->stream, block + done, words);
        for (size_t k = 0; k < 4; k++) v_store(e + 4 * done + k * VECTOR, v_from_bits(words[k]));
    }
    for (size_t done = 0; done < blocks; done += VECTOR) {
        for (size_t k = 0; k < 4; k++) words[k] = v_bits(v_load(e + 4 * done + k * VECTOR));
        cr_normal4_from(words, strict, normals);
        v_store4(e + 4 * done, normals);
    }
}

/* ---- draw */
/* The cells of up to CELLS features, an array for each member of cr_cell. */
typedef struct cells {
    _Alignas(64) float h[CELLS], base[CELLS], factor[CELLS], offset[CELLS], room[CELLS];
} cells;

static inline void set_cells(cells *to, const float *z, const float *step, size_t n)
{
    float last[2][V_LANES] = {{0}};
    memcpy(last[0], z + n - n % VECTOR, n % VECTOR * sizeof *z);
    memcpy(last[1], step + n - n % VECTOR, n % VECTOR * sizeof *step);
    for (size_t j = 0; j < n; j += VECTOR) {
        const int whole = n - j >= VECTOR;
        const cr_cell c =
            cr_cell_of(v_load(whole ? z + j : last[0]), v_load(whole ? step + j : last[1]));
        v_store(to->h + j, c.h);
        v_store(to->base + j, c.base);
        v_store(to->factor + j, c.factor);
        v_store(to->offset + j, c.offset);
        v_store(to->room + j, c.room);
    }
}

typedef struct place { /* of the first feature of a pass over a row */
    const cr_source *source;
    uint64_t block;
} place;

/* Decides doubtful cells with more bits. Bit l of doubts is feature j + l. */
CR_RARE void find_cells(const cells *c, const place *at, unsigned doubts, size_t j, float *x)
{
    for (; doubts; doubts &= doubts - 1) {
        const size_t k = j + (size_t)__builtin_ctz(doubts);
        const float n =
            cr_cell_find(at->source, at->block + k / 4, k % 4, c->factor[k], c->offset[k]);
        x[k] = fmaf(n, c->h[k], c->base[k]);
    }
}

CR_ALWAYS_INLINE vf point_of(const cells *c, size_t j, const float *e, unsigned *doubts)
{
    const cr_cell cell = {v_load(c->h + j), v_load(c->base + j), v_load(c->factor + j),
                          v_load(c->offset + j), v_load(c->room + j)};
    return cr_cell_at(&cell, v_load(e + j), doubts);
}

/* Writes n points of a row in whole vectors. e is readable up to the end of a vector. x has `room`
 * >= n writable floats; floats after the first n are overwritten later. */
static inline void draw_row(const cells *c, const place *at, const float *e, size_t n, float *x,
                            size_t room)
{
    const size_t rest = n % VECTOR, whole = n - rest;
    unsigned doubts;
    for (size_t j = 0; j < whole; j += VECTOR) {
        v_store(x + j, point_of(c, j, e, &doubts));
        if (doubts) find_cells(c, at, doubts, j, x);
    }
    if (!rest) return;
    float last[V_LANES];
    const vf points = point_of(c, whole, e, &doubts);
    if (whole + VECTOR <= room) {
        v_store(x + whole, points);
    } else {
        v_store(last, points);
        memcpy(x + whole, last, rest * sizeof *x);
    }
    doubts &= (1u << rest) - 1;
    if (doubts) find_cells(c, at, doubts, whole, x);
}

/* Draws features begin .. begin+n-1 of all samples, several rows at a time if rows are whole. */
static void draw_piece(const cr_source *s, const cells *c, uint64_t first, size_t count,
                       size_t begin, size_t n, float *x)
{
    _Alignas(64) float e[CELLS + SLACK];
    const size_t row = (size_t)s->row, quads = (n + 3) / 4,
                 rows = quads == row ? CELLS / 4 / row : 1;
    for (size_t i = 0; i < count; i += rows) {
        const size_t together = cr_least(count - i, rows);
        const uint64_t block = cr_source_block(s, first + i) + begin / 4;
        fill(s, block, together * quads, 1, e);
        for (size_t k = 0; k < together; k++) {
            const place at = {s, block + k * row};
            draw_row(c, &at, e + 4 * quads * k, n, x + (i + k) * s->inputs + begin,
                     n == s->inputs ? (count - i - k) * n : n);
        }
    }
}

static void kernel_draw(const cr_noise *noise, const float *z, const float *step, uint64_t first,
                        size_t count, float *x)
{
    cells c;
    const cr_source s = cr_source_of(noise);
    const size_t inputs = noise->inputs;
    if (noise->clean_first && first == 0 && count) {
        memcpy(x, z, inputs * sizeof *x);
        first++;
        count--;
        x += inputs;
    }
    for (size_t j = 0; j < inputs && count; j += CELLS) {
        const size_t n = cr_least(inputs - j, CELLS);
        set_cells(&c, z + j, step + j, n);
        draw_piece(&s, &c, first, count, j, n, x);
    }
}

/* ---- replay */
/* Float sums over one chunk for 4 vectors of features. Every caller passes a constant number of
 * functions. */
CR_ALWAYS_INLINE void sum_chunk(const float *e, size_t pitch, size_t samples, size_t functions,
                                const float *weights, size_t stride, float sums[2][4 * V_LANES])
{
    vf a[4], b[4];
    for (int k = 0; k < 4; k++) a[k] = b[k] = v_set(0.0f);
    for (size_t i = 0; i < samples; i++, e += pitch) {
        const vf u = v_set(weights[i]), w = v_set(functions > 1 ? weights[stride + i] : 0.0f);
        for (size_t k = 0; k < 4; k++) {
            const vf normal = v_load(e + k * VECTOR);
            a[k] = v_fma(u, normal, a[k]);
            if (functions > 1) b[k] = v_fma(w, normal, b[k]);
        }
    }
    for (size_t k = 0; k < 4; k++) {
        v_store(sums[0] + k * VECTOR, a[k]);
        v_store(sums[1] + k * VECTOR, b[k]);
    }
}

/* Adds one chunk's sums over `width` features of a tile to the double sums, which have `inputs`
 * numbers for each function. */
static inline void add_chunk(const float *e, size_t pitch, size_t samples, size_t functions,
                             const float *weights, size_t stride, size_t width, double *sums,
                             size_t inputs)
{
    for (size_t j = 0; j < width; j += 4 * VECTOR) {
        float part[2][4 * V_LANES];
        if (functions == 1) sum_chunk(e + j, pitch, samples, 1, weights, stride, part);
        else sum_chunk(e + j, pitch, samples, 2, weights, stride, part);
        const size_t n = cr_least(width - j, 4 * VECTOR);
        for (size_t f = 0; f < functions; f++)
            for (size_t k = 0; k < n; k++) sums[f * inputs + j + k] += (double)part[f][k];
    }
}

/* Normals of `samples` samples for the `blocks` blocks of a tile that starts `offset` blocks into
 * the row, without a gap. Sums run over whole vectors: idle lanes hold ordinary numbers. */
static inline void fill_tile(const cr_source *s, int clean_first, uint64_t first, size_t samples,
                             size_t offset, size_t blocks, float *e)
{
    memset(e + 4 * samples * blocks, 0, SLACK * sizeof *e);
    if (blocks == s->row) fill(s, cr_source_block(s, first), samples * blocks, 0, e);
    else
        for (size_t i = 0; i < samples; i++)
            fill(s, cr_source_block(s, first + i) + offset, blocks, 0, e + 4 * i * blocks);
    if (clean_first && first == 0) memset(e, 0, 4 * blocks * sizeof *e);
}

static void kernel_replay(const cr_noise *noise, uint64_t first, size_t count, size_t functions,
                          const float *weights, size_t stride, double *sums, size_t begin,
                          size_t end)
{
    _Alignas(64) float e[CR_REPLAY_CHUNK * TILE + SLACK];
    const cr_source s = cr_source_of(noise);
    for (size_t j = begin; j < end; j += TILE) {
        const size_t width = cr_least(end - j, TILE);
        for (size_t i = 0; i < count; i += CR_REPLAY_CHUNK) {
            const size_t n = cr_least(count - i, CR_REPLAY_CHUNK), quads = (width + 3) / 4;
            fill_tile(&s, noise->clean_first, first + i, n, j / 4, quads, e);
            add_chunk(e, 4 * quads, n, functions, weights + i, stride, width, sums + j,
                      noise->inputs);
        }
    }
}

/* ---- project */
/* The projection of one sample. Partial sum l adds the features with j % GROUP == l in order. */
typedef struct projection {
    _Alignas(64) float dot[GROUP], norm[GROUP];
    double dots, norms;
} projection;

static inline double add_partial(const float *part)
{
    double sums[GROUP];
    for (size_t l = 0; l < GROUP; l++) sums[l] = (double)part[l];
    return cr_add_halves(sums, GROUP);
}

static inline void flush(projection *p)
{
    p->dots += add_partial(p->dot);
    p->norms += add_partial(p->norm);
    memset(p->dot, 0, sizeof p->dot);
    memset(p->norm, 0, sizeof p->norm);
}

/* Adds `groups` <= FLUSH / GROUP groups of features. A flush must follow. */
static inline void project_groups(projection *p, const float *e, const float *direction,
                                  const float *mask, size_t groups)
{
    for (size_t l = 0; l < GROUP; l += VECTOR) {
        vf dot = v_load(p->dot + l), norm = v_load(p->norm + l);
        for (size_t g = l; g < groups * GROUP + l; g += GROUP) {
            const vf normal = v_load(e + g);
            dot = v_fma(v_load(direction + g), normal, dot);
            norm = v_fma(v_mul(v_load(mask + g), normal), normal, norm);
        }
        v_store(p->dot + l, dot);
        v_store(p->norm + l, norm);
    }
}

typedef struct ruler { /* the vectors of a projection; tails: the last group padded with zeros */
    const float *direction, *mask;
    size_t inputs;
    float direction_tail[GROUP], mask_tail[GROUP];
} ruler;

/* Adds features begin .. begin+n-1 of one sample; begin is a multiple of FLUSH. */
static inline void project_piece(projection *p, const ruler *r, const float *e, size_t begin,
                                 size_t n)
{
    for (size_t j = 0; j < n; j += FLUSH) {
        const size_t width = cr_least(n - j, FLUSH), groups = width / GROUP;
        project_groups(p, e + j, r->direction + begin + j, r->mask + begin + j, groups);
        if (width % GROUP)
            project_groups(p, e + j + groups * GROUP, r->direction_tail, r->mask_tail, 1);
        flush(p);
    }
}

/* Like fill, and makes the whole last group readable. */
static inline void fill_groups(const cr_source *s, uint64_t block, size_t blocks, float *e)
{
    memset(e + 4 * blocks, 0, GROUP * sizeof *e);
    fill(s, block, blocks, 0, e);
}

static inline void project_rows(const cr_source *s, const ruler *r, int clean_first, uint64_t first,
                                size_t samples, float *e, double *dots, double *norms)
{
    const size_t row = (size_t)s->row, piece = cr_least(4 * row, FILL_FLOATS);
    if (piece == 4 * row) fill_groups(s, cr_source_block(s, first), samples * row, e);
    for (size_t i = 0; i < samples; i++) {
        projection p;
        memset(&p, 0, sizeof p);
        for (size_t j = 0; j < r->inputs; j += piece) {
            const size_t n = cr_least(r->inputs - j, piece);
            if (piece != 4 * row)
                fill_groups(s, cr_source_block(s, first + i) + j / 4, (n + 3) / 4, e);
            project_piece(&p, r, piece == 4 * row ? e + i * 4 * row : e, j, n);
        }
        const int still = clean_first && first + i == 0;
        dots[i] = still ? 0.0 : p.dots;
        norms[i] = still ? 0.0 : p.norms;
    }
}

static void kernel_project(const cr_noise *noise, uint64_t first, size_t count,
                           const float *direction, const float *mask, double *dots, double *norms)
{
    _Alignas(64) float e[FILL_FLOATS + SLACK];
    const cr_source s = cr_source_of(noise);
    const size_t inputs = noise->inputs, tail = inputs % GROUP, row = (size_t)s.row;
    const size_t rows = row > FILL_FLOATS / 4 ? 1 : FILL_FLOATS / 4 / row;
    ruler r = {.direction = direction, .mask = mask, .inputs = inputs};
    memcpy(r.direction_tail, direction + inputs - tail, tail * sizeof *direction);
    memcpy(r.mask_tail, mask + inputs - tail, tail * sizeof *mask);
    for (size_t i = 0; i < count; i += rows)
        project_rows(&s, &r, noise->clean_first, first + i, cr_least(count - i, rows), e, dots + i,
                     norms + i);
}

#endif
