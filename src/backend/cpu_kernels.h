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
 * grid_rounding.h. */
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

/* ---- The linear filter of denoisers, over the lanes of the including file. Sum l of SUMS adds the
 * features with j % SUMS == l in order, and every product and sum is rounded on its own. So all
 * paths give the same bits, and a row's bits do not depend on its position. */
#define SUMS CR_FILTER_SUMS
#define COMPONENT_GROUP CR_FILTER_GROUP /* components of one pass over the features */
enum { BLOCK = 4, ROWS = 32 };          /* rows per load of a constant from L1; from L2 */

/* Some rows. x_last and y_last have the features after the last multiple of SUMS, padded with
 * zeros. */
typedef struct row_block {
    const float *x;
    float *y;
    float x_last[ROWS][SUMS], y_last[ROWS][SUMS];
} row_block;

/* Subtracts analysis[c] (x[r] - center) from s[r][c], at one vector of features. */
CR_ALWAYS_INLINE void subtract_products(vf s[BLOCK][2], size_t rows, const float *x, size_t pitch,
                                        vf center, const vf analysis[2])
{
    for (size_t r = 0; r < rows; r++) {
        const vf d = v_sub(v_load(x + r * pitch), center);
        for (int c = 0; c < 2; c++) s[r][c] = v_sub(s[r][c], v_mul(analysis[c], d));
    }
}

/* Sets t[r][c] = -(analysis[c], x[r] - center) for two components. */
CR_ALWAYS_INLINE void multiply_analysis(const cr_filter *f, const float *analysis,
                                        const row_block *p, size_t row, size_t rows,
                                        float t[BLOCK][COMPONENT_GROUP])
{
    const size_t n = f->inputs, vector_end = n - n % SUMS;
    float sums[BLOCK][2][SUMS];
    for (size_t l = 0; l < SUMS; l += VECTOR) {
        vf s[BLOCK][2];
        for (size_t r = 0; r < rows; r++) s[r][0] = s[r][1] = v_set(0.0f);
        for (size_t j = l; j < f->pitch; j += SUMS) {
            const vf pair[2] = {v_load(analysis + j), v_load(analysis + f->pitch + j)};
            const vf center = v_load(f->center + j);
            if (j < vector_end) subtract_products(s, rows, p->x + row * n + j, n, center, pair);
            else subtract_products(s, rows, p->x_last[row] + l, SUMS, center, pair);
        }
        for (size_t r = 0; r < rows; r++)
            for (int c = 0; c < 2; c++) v_store(sums[r][c] + l, s[r][c]);
    }
    for (size_t r = 0; r < rows; r++)
        for (int c = 0; c < 2; c++) {
            for (int half = SUMS / 2; half; half /= 2)
                for (int l = 0; l < half; l++) sums[r][c][l] += sums[r][c][l + half];
            t[r][c] = sums[r][c][0];
        }
}

/* Subtracts the sum of t[c] synthesis[c] from y, at one vector of features. */
CR_ALWAYS_INLINE void add_synthesis(const cr_filter *f, const float *synthesis,
                                    const float t[COMPONENT_GROUP], float *y)
{
    vf v = v_load(y);
    for (size_t c = 0; c < COMPONENT_GROUP; c++)
        v = v_sub(v, v_mul(v_set(t[c]), v_load(synthesis + c * f->pitch)));
    v_store(y, v);
}

CR_ALWAYS_INLINE void apply_components(const cr_filter *f, size_t component, row_block *p,
                                       size_t row, size_t rows)
{
    const size_t n = f->inputs, vector_end = n - n % SUMS;
    const float *synthesis = f->synthesis + component * f->pitch;
    float t[BLOCK][COMPONENT_GROUP];
    for (size_t c = 0; c < COMPONENT_GROUP; c += 2) {
        float pair[BLOCK][COMPONENT_GROUP];
        multiply_analysis(f, f->analysis + (component + c) * f->pitch, p, row, rows, pair);
        for (size_t r = 0; r < rows; r++) {
            t[r][c] = pair[r][0];
            t[r][c + 1] = pair[r][1];
        }
    }
    for (size_t j = 0; j < vector_end; j += VECTOR)
        for (size_t r = 0; r < rows; r++)
            add_synthesis(f, synthesis + j, t[r], p->y + (row + r) * n + j);
    for (size_t j = vector_end; j < f->pitch; j += VECTOR)
        for (size_t r = 0; r < rows; r++)
            add_synthesis(f, synthesis + j, t[r], p->y_last[row + r] + j - vector_end);
}

/* Sets y = center - base_gain (center - x), at one vector of features. */
static inline void apply_base_gain(const cr_filter *f, size_t j, const float *x, float *y)
{
    const vf center = v_load(f->center + j), d = v_sub(center, v_load(x));
    v_store(y, v_sub(center, v_mul(v_load(f->base_gain + j), d)));
}

static inline void filter_rows(const cr_filter *f, row_block *p, size_t rows)
{
    const size_t n = f->inputs, vector_end = n - n % SUMS, tail = n - vector_end;
    for (size_t r = 0; r < rows; r++) {
        memset(p->x_last[r], 0, sizeof p->x_last[r]);
        memcpy(p->x_last[r], p->x + r * n + vector_end, tail * sizeof *p->x);
        for (size_t j = 0; j < vector_end; j += VECTOR)
            apply_base_gain(f, j, p->x + r * n + j, p->y + r * n + j);
        for (size_t j = vector_end; j < f->pitch; j += VECTOR)
            apply_base_gain(f, j, p->x_last[r] + j - vector_end, p->y_last[r] + j - vector_end);
    }
    for (size_t c = 0; c < f->components; c += COMPONENT_GROUP) {
        size_t r = 0;
        for (; r + BLOCK <= rows; r += BLOCK) apply_components(f, c, p, r, BLOCK);
        for (; r < rows; r++) apply_components(f, c, p, r, 1);
    }
    for (size_t r = 0; r < rows; r++)
        memcpy(p->y + r * n + vector_end, p->y_last[r], tail * sizeof *p->y);
}

static void kernel_filter(const cr_filter *f, const float *x, size_t rows, float *y)
{
    for (size_t r = 0; r < rows; r += ROWS) {
        row_block p;
        p.x = x + r * f->inputs;
        p.y = y + r * f->inputs;
        filter_rows(f, &p, cr_min_size(rows - r, ROWS));
    }
}

/* ---- The products of block sums (op gram). The order of additions depends only on the number of
 * inputs, so that all paths give the same bits. */
/* LEFT_ROWS rows are multiplied by RIGHT_ROWS rows at a time. */
#define RIGHT_ROWS 2u
#define LEFT_ROWS 4u
/* Partial sums of an entry, which fill an AVX2 register: only additions to the same sum wait for
 * each other. */
#define LANES 4u

/* Sets out[r][s] to the sum of a_r b_s over the tile. */
static inline void multiply_tile(const double *const a[LEFT_ROWS],
                                 const double *const b[RIGHT_ROWS], size_t columns,
                                 double out[LEFT_ROWS][RIGHT_ROWS])
{
    double sum[LEFT_ROWS][RIGHT_ROWS][LANES] = {{{0}}};
    size_t j = 0;
    for (; j + LANES <= columns; j += LANES)
#pragma GCC unroll 4
        for (size_t r = 0; r < LEFT_ROWS; r++)
            for (size_t lane = 0; lane < LANES; lane++) {
                sum[r][0][lane] += a[r][j + lane] * b[0][j + lane];
                sum[r][1][lane] += a[r][j + lane] * b[1][j + lane];
            }
    for (; j < columns; j++)
        for (size_t r = 0; r < LEFT_ROWS; r++)
            for (size_t s = 0; s < RIGHT_ROWS; s++) sum[r][s][0] += a[r][j] * b[s][j];
    for (size_t r = 0; r < LEFT_ROWS; r++)
        for (size_t s = 0; s < RIGHT_ROWS; s++)
            out[r][s] = (sum[r][s][0] + sum[r][s][1]) + (sum[r][s][2] + sum[r][s][3]);
}

/* Adds to the upper triangle. The last row replaces missing rows; their products are dropped. */
static void kernel_gram(const double *sums, size_t pitch, size_t blocks, size_t columns,
                        double *gram)
{
    for (size_t p = 0; p < blocks; p += LEFT_ROWS)
        for (size_t q = p; q < blocks; q += RIGHT_ROWS) {
            const double *a[LEFT_ROWS], *b[RIGHT_ROWS];
            double out[LEFT_ROWS][RIGHT_ROWS];
            for (size_t r = 0; r < LEFT_ROWS; r++)
                a[r] = sums + cr_min_size(p + r, blocks - 1) * pitch;
            for (size_t s = 0; s < RIGHT_ROWS; s++)
                b[s] = sums + cr_min_size(q + s, blocks - 1) * pitch;
            multiply_tile(a, b, columns, out);
            for (size_t r = 0; r < LEFT_ROWS && p + r < blocks; r++)
                for (size_t s = 0; s < RIGHT_ROWS && q + s < blocks; s++)
                    if (q + s >= p + r) gram[(p + r) * blocks + q + s] += out[r][s];
        }
}

/* ---- The sweep of one tile of features, over the lanes above. Noise is drawn once,
 * some rows at a time, and added to every function while the rows are in the cache. */
/* Adds e_i[j] weights[i] to sum[j] in float, in the order of i. */
CR_ALWAYS_INLINE void add_rows(const float *e, size_t pitch, size_t rows, const float *weights,
                               size_t width, float *sum)
{
    for (size_t j = 0; j < width; j += 4 * VECTOR) {
        vf a[4];
        for (size_t k = 0; k < 4; k++) a[k] = v_load(sum + j + k * VECTOR);
        for (size_t i = 0; i < rows; i++) {
            const vf w = v_set(weights[i]);
            for (size_t k = 0; k < 4; k++)
                a[k] = v_fma(w, v_load(e + i * pitch + j + k * VECTOR), a[k]);
        }
        for (size_t k = 0; k < 4; k++) v_store(sum + j + k * VECTOR, a[k]);
    }
}

/* Adds the projections of up to ROWS_AT_ONCE rows; their additions overlap. With squares, `vector`
 * is the mask, and each term has the normal twice. */
enum { ROWS_AT_ONCE = 4 };
CR_ALWAYS_INLINE void project_rows_at_once(const float *e, size_t pitch, size_t rows,
                                           const float *vector, size_t groups, int squares,
                                           double *dots)
{
    _Alignas(64) float partial[ROWS_AT_ONCE][GROUP];
    for (size_t l = 0; l < GROUP; l += VECTOR) {
        vf a[ROWS_AT_ONCE];
        for (size_t r = 0; r < rows; r++) a[r] = v_set(0.0f);
        for (size_t g = l; g < groups * GROUP; g += GROUP) {
            const vf b = v_load(vector + g);
            for (size_t r = 0; r < rows; r++) {
                const vf normal = v_load(e + r * pitch + g);
                a[r] = v_fma(squares ? v_mul(b, normal) : b, normal, a[r]);
            }
        }
        for (size_t r = 0; r < rows; r++) v_store(partial[r] + l, a[r]);
    }
    for (size_t r = 0; r < rows; r++) dots[r] += add_partial(partial[r]);
}

CR_ALWAYS_INLINE void project_tile(const float *e, size_t pitch, size_t rows, const float *vector,
                                   size_t groups, int squares, double *dots)
{
    size_t i = 0;
    for (; i + ROWS_AT_ONCE <= rows; i += ROWS_AT_ONCE)
        project_rows_at_once(e + i * pitch, pitch, ROWS_AT_ONCE, vector, groups, squares, dots + i);
    for (; i < rows; i++)
        project_rows_at_once(e + i * pitch, pitch, 1, vector, groups, squares, dots + i);
}

/* ---- chunks, and the borders of blocks */
static void end_block(cr_sweep_state *s, const cr_sweep_tile *t)
{
    double square = 0, direction_square = 0;
    double *target = s->block_sums ? s->block_sums + s->block * t->pitch : s->sums;
    s->block++;
    for (size_t j = 0; j < t->width; j++) target[j] = t->mask[j] > 0 ? s->sums[j] : 0;
    if (s->block_sums) {
        memset(s->sums, 0, t->width * sizeof *s->sums);
        return;
    }
    for (size_t j = 0; j < t->width; j++) {
        s->direction[j] = (float)target[j];
        square += target[j] * target[j];
        direction_square += (double)s->direction[j] * (double)s->direction[j];
    }
    s->squares[2 * s->block] += square;
    s->squares[2 * s->block + 1] += direction_square;
}

/* Ends the blocks that end at this sample, and sets the end of the next chunk. */
static void advance_chunk(cr_sweep_state *s, const cr_sweep_tile *t)
{
    const cr_sweep_function *f = s->function;
    while (s->block < f->blocks &&
           s->chunk_end == cr_block_begin(f->count, f->blocks, s->block + 1))
        end_block(s, t);
    if (s->block == f->blocks) return;
    s->chunk_end = cr_min_size(s->chunk_end + CR_REPLAY_CHUNK,
                               cr_block_begin(f->count, f->blocks, s->block + 1));
}

static void end_chunk(cr_sweep_state *s, const cr_sweep_tile *t)
{
    for (size_t j = 0; j < t->width; j++) {
        s->sums[j] += (double)s->chunk_sums[j];
        s->chunk_sums[j] = 0.0f;
    }
    advance_chunk(s, t);
}

/* Adds `rows` rows, from sample number `first` on, to one function. */
static inline void add_samples(cr_sweep_state *s, const cr_sweep_tile *t, const float *e,
                               size_t pitch, uint64_t first, size_t rows)
{
    const cr_sweep_function *f = s->function;
    const uint64_t last = f->first + f->count, end = first + rows < last ? first + rows : last;
    const size_t groups = (t->width + GROUP - 1) / GROUP;
    for (uint64_t i = first > f->first ? first : f->first; i < end;) {
        const size_t index = (size_t)(i - f->first), remaining = (size_t)(end - i),
                     n = t->is_second_pass || s->chunk_end - index > remaining
                             ? remaining
                             : s->chunk_end - index;
        const float *from = e + (size_t)(i - first) * pitch;
        if (t->is_second_pass || (f->dots && !f->is_total && s->block))
            project_tile(from, pitch, n, s->direction, groups, 0, s->dots + index);
        if (!t->is_second_pass)
            add_rows(from, pitch, n, f->weights + index, t->width, s->chunk_sums);
        i += n;
        if (!t->is_second_pass && index + n == s->chunk_end) end_chunk(s, t);
    }
}

static void kernel_sweep(const cr_noise *noise, uint64_t first, size_t count,
                         const cr_sweep_tile *t, cr_sweep_state *states)
{
    _Alignas(64) float e[FILL_FLOATS + PADDING];
    const cr_noise_stream s = cr_noise_stream_of(noise);
    const size_t quads = (t->width + 3) / 4, pitch = 4 * quads, max_rows = FILL_FLOATS / pitch;
    for (size_t f = 0; f < t->functions && t->is_first; f++) advance_chunk(states + f, t);
    for (size_t i = 0; i < count; i += max_rows) {
        const size_t rows = cr_min_size(count - i, max_rows);
        fill_tile(&s, noise->clean_first, first + i, rows, t->begin / 4, quads, e);
        if (t->squared_norms)
            project_tile(e, pitch, rows, t->mask, (t->width + GROUP - 1) / GROUP, 1,
                         t->squared_norms + (size_t)(first + i - t->first));
        for (size_t f = 0; f < t->functions; f++)
            if (!t->is_second_pass || states[f].function->is_total)
                add_samples(states + f, t, e, pitch, first + i, rows);
    }
}

/* ---- The table of an instruction set's kernels; the including file includes one simd_*.h
 * first. */
/* Defines the function that returns the table. */
#define CR_CPU_TABLE(function, name)                                                              \
    const cr_cpu_kernel_table *function(void)                                                     \
    {                                                                                             \
        static const cr_cpu_kernel_table kernels = {name,           kernel_draw,   kernel_replay, \
                                                    kernel_project, kernel_filter, kernel_gram,   \
                                                    kernel_sweep};                                \
        return &kernels;                                                                          \
    }

#endif
