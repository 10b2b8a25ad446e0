/* The kernels of the CPU backend, written once for V_LANES lanes; the including file includes one
 * simd_*.h first. Replays round at the same places for every number of lanes, so that all paths
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
#define PIECE CR_PROJECT_PIECE
/* Floats that fill_normals may write, or a sum may read, after the last one in use. */
#define PADDING 64u
#define VECTOR ((size_t)V_LANES)

/* Writes the normals of consecutive blocks, rounded up to whole vectors by at most PADDING floats.
 * The first loop stores all words in the place of their normals. Why not one loop: a processor
 * overlaps several blocks, while the steps of one block wait for each other. strict: as in
 * box_muller.h. */
CR_ALWAYS_INLINE void fill_normals(const cr_noise_stream *s, uint64_t block, size_t blocks,
                                   int strict, float *e)
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
    _Alignas(64) float h[CELLS], base[CELLS], factor[CELLS], offset[CELLS], margin[CELLS];
} cells;

static inline void set_cells(cells *target, const float *z, const float *noise_deviation, size_t n)
{
    float last[2][V_LANES] = {{0}};
    memcpy(last[0], z + n - n % VECTOR, n % VECTOR * sizeof *z);
    memcpy(last[1], noise_deviation + n - n % VECTOR, n % VECTOR * sizeof *noise_deviation);
    for (size_t j = 0; j < n; j += VECTOR) {
        const int is_full = n - j >= VECTOR;
        const cr_cell c = cr_cell_of(v_load(is_full ? z + j : last[0]),
                                     v_load(is_full ? noise_deviation + j : last[1]));
        v_store(target->h + j, c.h);
        v_store(target->base + j, c.base);
        v_store(target->factor + j, c.factor);
        v_store(target->offset + j, c.offset);
        v_store(target->margin + j, c.margin);
    }
}

typedef struct row_position { /* of the first feature of a pass over a row */
    const cr_noise_stream *source;
    uint64_t block;
} row_position;

/* Decides doubtful cells with more bits. Bit l of doubts is feature j + l. */
CR_RARE void resolve_cells(const cells *c, const row_position *position, unsigned doubts, size_t j,
                           float *x)
{
    for (; doubts; doubts &= doubts - 1) {
        const size_t k = j + (size_t)__builtin_ctz(doubts);
        const float n = cr_cell_resolve(position->source, position->block + k / 4, k % 4,
                                        c->factor[k], c->offset[k]);
        x[k] = fmaf(n, c->h[k], c->base[k]);
    }
}

CR_ALWAYS_INLINE vf grid_points(const cells *c, size_t j, const float *e, unsigned *doubts)
{
    const cr_cell cell = {v_load(c->h + j), v_load(c->base + j), v_load(c->factor + j),
                          v_load(c->offset + j), v_load(c->margin + j)};
    return cr_cell_at(&cell, v_load(e + j), doubts);
}

/* Writes n points of a row in whole vectors. e is readable up to the end of a vector. x has
 * `capacity` >= n writable floats. The last vector may write past the first n, so the caller writes
 * these floats afterwards. */
static inline void draw_row(const cells *c, const row_position *position, const float *e, size_t n,
                            float *x, size_t capacity)
{
    const size_t tail = n % VECTOR, vector_end = n - tail;
    unsigned doubts;
    for (size_t j = 0; j < vector_end; j += VECTOR) {
        v_store(x + j, grid_points(c, j, e, &doubts));
        if (doubts) resolve_cells(c, position, doubts, j, x);
    }
    if (!tail) return;
    float last[V_LANES];
    const vf points = grid_points(c, vector_end, e, &doubts);
    if (vector_end + VECTOR <= capacity) {
        v_store(x + vector_end, points);
    } else {
        v_store(last, points);
        memcpy(x + vector_end, last, tail * sizeof *x);
    }
    doubts &= (1u << tail) - 1;
    if (doubts) resolve_cells(c, position, doubts, vector_end, x);
}

/* Draws features begin .. begin+n-1 of all samples, several rows at a time if rows are whole. */
static void draw_features(const cr_noise_stream *s, const cells *c, uint64_t first, size_t count,
                          size_t begin, size_t n, float *x)
{
    _Alignas(64) float e[CELLS + PADDING];
    const size_t row = (size_t)s->blocks_per_sample, quads = (n + 3) / 4,
                 rows = quads == row ? CELLS / 4 / row : 1;
    for (size_t i = 0; i < count; i += rows) {
        const size_t row_count = cr_min_size(count - i, rows);
        const uint64_t block = cr_noise_stream_block(s, first + i) + begin / 4;
        fill_normals(s, block, row_count * quads, 1, e);
        for (size_t k = 0; k < row_count; k++) {
            const row_position position = {s, block + k * row};
            draw_row(c, &position, e + 4 * quads * k, n, x + (i + k) * s->inputs + begin,
                     n == s->inputs ? (count - i - k) * n : n);
        }
    }
}

static void kernel_draw(const cr_noise *noise, const float *z, const float *noise_deviation,
                        uint64_t first, size_t count, float *x)
{
    cells c;
    const cr_noise_stream s = cr_noise_stream_of(noise);
    const size_t inputs = noise->inputs;
    if (noise->clean_first && first == 0 && count) {
        memcpy(x, z, inputs * sizeof *x);
        first++;
        count--;
        x += inputs;
    }
    for (size_t j = 0; j < inputs && count; j += CELLS) {
        const size_t n = cr_min_size(inputs - j, CELLS);
        set_cells(&c, z + j, noise_deviation + j, n);
        draw_features(&s, &c, first, count, j, n, x);
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
        float chunk_sums[2][4 * V_LANES];
        if (functions == 1) sum_chunk(e + j, pitch, samples, 1, weights, stride, chunk_sums);
        else sum_chunk(e + j, pitch, samples, 2, weights, stride, chunk_sums);
        const size_t n = cr_min_size(width - j, 4 * VECTOR);
        for (size_t f = 0; f < functions; f++)
            for (size_t k = 0; k < n; k++) sums[f * inputs + j + k] += (double)chunk_sums[f][k];
    }
}

/* Normals of `samples` samples for the `blocks` blocks of a tile that starts `offset` blocks into
 * the row, without a gap. Sums run over whole vectors: idle lanes hold ordinary numbers. */
static inline void fill_tile(const cr_noise_stream *s, int clean_first, uint64_t first,
                             size_t samples, size_t offset, size_t blocks, float *e)
{
    memset(e + 4 * samples * blocks, 0, PADDING * sizeof *e);
    if (blocks == s->blocks_per_sample)
        fill_normals(s, cr_noise_stream_block(s, first), samples * blocks, 0, e);
    else
        for (size_t i = 0; i < samples; i++)
            fill_normals(s, cr_noise_stream_block(s, first + i) + offset, blocks, 0,
                         e + 4 * i * blocks);
    if (clean_first && first == 0) memset(e, 0, 4 * blocks * sizeof *e);
}

static void kernel_replay(const cr_noise *noise, uint64_t first, size_t count, size_t functions,
                          const float *weights, size_t stride, double *sums, size_t begin,
                          size_t end)
{
    _Alignas(64) float e[CR_REPLAY_CHUNK * TILE + PADDING];
    const cr_noise_stream s = cr_noise_stream_of(noise);
    for (size_t j = begin; j < end; j += TILE) {
        const size_t width = cr_min_size(end - j, TILE);
        for (size_t i = 0; i < count; i += CR_REPLAY_CHUNK) {
            const size_t n = cr_min_size(count - i, CR_REPLAY_CHUNK), quads = (width + 3) / 4;
            fill_tile(&s, noise->clean_first, first + i, n, j / 4, quads, e);
            add_chunk(e, 4 * quads, n, functions, weights + i, stride, width, sums + j,
                      noise->inputs);
        }
    }
}

/* ---- project */
/* The projection of one sample. Partial sum l adds the features with j % GROUP == l in order. */
typedef struct projection {
    _Alignas(64) float dot_sums[GROUP], square_sums[GROUP];
    double dots, squared_norms;
} projection;

static inline double add_partial(const float *part)
{
    double sums[GROUP];
    for (size_t l = 0; l < GROUP; l++) sums[l] = (double)part[l];
    return cr_add_halves(sums, GROUP);
}

static inline void flush_sums(projection *p)
{
    p->dots += add_partial(p->dot_sums);
    p->squared_norms += add_partial(p->square_sums);
    memset(p->dot_sums, 0, sizeof p->dot_sums);
    memset(p->square_sums, 0, sizeof p->square_sums);
}

/* Adds `groups` <= PIECE / GROUP groups of features. flush_sums must follow. */
static inline void project_groups(projection *p, const float *e, const float *direction,
                                  const float *mask, size_t groups)
{
    for (size_t l = 0; l < GROUP; l += VECTOR) {
        vf dot = v_load(p->dot_sums + l), norm = v_load(p->square_sums + l);
        for (size_t g = l; g < groups * GROUP + l; g += GROUP) {
            const vf normal = v_load(e + g);
            dot = v_fma(v_load(direction + g), normal, dot);
            norm = v_fma(v_mul(v_load(mask + g), normal), normal, norm);
        }
        v_store(p->dot_sums + l, dot);
        v_store(p->square_sums + l, norm);
    }
}

typedef struct projection_vectors { /* the vectors of a projection; tails: the last group padded
                                       with zeros */
    const float *direction, *mask;
    size_t inputs;
    float direction_tail[GROUP], mask_tail[GROUP];
} projection_vectors;

/* Adds features begin .. begin+n-1 of one sample; begin is a multiple of PIECE. */
static inline void project_features(projection *p, const projection_vectors *vectors,
                                    const float *e, size_t begin, size_t n)
{
    for (size_t j = 0; j < n; j += PIECE) {
        const size_t width = cr_min_size(n - j, PIECE), groups = width / GROUP;
        project_groups(p, e + j, vectors->direction + begin + j, vectors->mask + begin + j, groups);
        if (width % GROUP)
            project_groups(p, e + j + groups * GROUP, vectors->direction_tail, vectors->mask_tail,
                           1);
        flush_sums(p);
    }
}

/* Like fill_normals, and makes the whole last group readable. */
static inline void fill_groups(const cr_noise_stream *s, uint64_t block, size_t blocks, float *e)
{
    memset(e + 4 * blocks, 0, GROUP * sizeof *e);
    fill_normals(s, block, blocks, 0, e);
}

static inline void project_rows(const cr_noise_stream *s, const projection_vectors *vectors,
                                int clean_first, uint64_t first, size_t samples, float *e,
                                double *dots, double *squared_norms)
{
    const size_t row = (size_t)s->blocks_per_sample, piece_size = cr_min_size(4 * row, FILL_FLOATS);
    if (piece_size == 4 * row) fill_groups(s, cr_noise_stream_block(s, first), samples * row, e);
    for (size_t i = 0; i < samples; i++) {
        projection p;
        memset(&p, 0, sizeof p);
        for (size_t j = 0; j < vectors->inputs; j += piece_size) {
            const size_t n = cr_min_size(vectors->inputs - j, piece_size);
            if (piece_size != 4 * row)
                fill_groups(s, cr_noise_stream_block(s, first + i) + j / 4, (n + 3) / 4, e);
            project_features(&p, vectors, piece_size == 4 * row ? e + i * 4 * row : e, j, n);
        }
        const int is_clean = clean_first && first + i == 0;
        dots[i] = is_clean ? 0.0 : p.dots;
        squared_norms[i] = is_clean ? 0.0 : p.squared_norms;
    }
}

static void kernel_project(const cr_noise *noise, uint64_t first, size_t count,
                           const float *direction, const float *mask, double *dots,
                           double *squared_norms)
{
    _Alignas(64) float e[FILL_FLOATS + PADDING];
    const cr_noise_stream s = cr_noise_stream_of(noise);
    const size_t inputs = noise->inputs, tail = inputs % GROUP, row = (size_t)s.blocks_per_sample;
    const size_t rows = row > FILL_FLOATS / 4 ? 1 : FILL_FLOATS / 4 / row;
    projection_vectors vectors = {.direction = direction, .mask = mask, .inputs = inputs};
    memcpy(vectors.direction_tail, direction + inputs - tail, tail * sizeof *direction);
    memcpy(vectors.mask_tail, mask + inputs - tail, tail * sizeof *mask);
    for (size_t i = 0; i < count; i += rows)
        project_rows(&s, &vectors, noise->clean_first, first + i, cr_min_size(count - i, rows), e,
                     dots + i, squared_norms + i);
}

#endif
