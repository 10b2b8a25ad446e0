/* The kernels of the CPU backend, written once over the lanes that the including file chose
 * (lanes_*.h, V_LANES of them). Rounding happens in the same places whatever the number of lanes,
 * so every including file computes the same bits. */
#ifndef CR_BACKEND_CPU_KERNEL_H
#define CR_BACKEND_CPU_KERNEL_H
#include "backend/cpu.h"
#include "backend/normal4.h"
#include "backend/ordered.h"
#include "backend/source.h"
#include <math.h>
#include <string.h>

#define FILL_FLOATS \
    4096u /* normals per tile of draw and project: 16 KiB, half of the smallest L1 cache in use */
#define TILE 128u /* features per tile of replay: with CR_REPLAY_CHUNK samples again 16 KiB */
#define GROUP CR_PROJECT_SUMS
#define FLUSH CR_PROJECT_PIECE
/* Floats that a fill may write, or a sum may read, beyond the last wanted one. */
#define SLACK 64u
#define CR_ALWAYS_INLINE static inline __attribute__((always_inline))
#define VECTOR ((size_t)V_LANES)

/* Normals of consecutive blocks; writes up to a whole number of vectors, at most SLACK floats too
 * many. */
static inline void fill(const cr_source *s, uint64_t block, size_t blocks, float *e)
{
    for (size_t done = 0; done < blocks; done += VECTOR) {
        vu words[4];
        vf normals[4];
        v_philox(s->keys, s->stream, block + done, words);
        cr_normal4_from(words, normals);
        v_store4(e + 4 * done, normals);
    }
}

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* x = fma(step, e, z), and z itself, down to the sign of zero, where step is 0. */
static inline void apply(const float *z, const float *step, const float *e, size_t n, float *x)
{
    size_t j = 0;
    for (; j + VECTOR <= n; j += VECTOR) {
        const vf base = v_load(z + j), by = v_load(step + j);
        v_store(x + j, v_unless_zero(by, base, v_fma(by, v_load(e + j), base)));
    }
    for (; j < n; j++) x[j] = step[j] != 0.0f ? fmaf(step[j], e[j], z[j]) : z[j];
}

static void kernel_draw(const cr_noise *noise, const float *z, const float *step, uint64_t first,
                        size_t count, float *x)
{
    _Alignas(64) float e[FILL_FLOATS + SLACK];
    const cr_source s = cr_source_of(noise);
    const size_t inputs = noise->inputs, row = (size_t)s.row, rows = FILL_FLOATS / 4 / row;
    if (noise->clean_first && first == 0 && count) {
        memcpy(x, z, inputs * sizeof *x);
        first++, count--, x += inputs;
    }
    if (!rows) { /* long rows: in pieces */
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < inputs; j += FILL_FLOATS) {
                const size_t n = least(inputs - j, FILL_FLOATS);
                fill(&s, cr_source_block(&s, first + i) + j / 4, (n + 3) / 4, e);
                apply(z + j, step + j, e, n, x + i * inputs + j);
            }
        return;
    }
    for (size_t i = 0; i < count; i += rows) {
        const size_t n = least(count - i, rows);
        fill(&s, cr_source_block(&s, first + i), n * row, e);
        for (size_t k = 0; k < n; k++)
            apply(z, step, e + 4 * row * k, inputs, x + (i + k) * inputs);
    }
}

/* Float sums over one chunk for 4 vectors of features; `functions` is a constant wherever this is
 * called. */
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

/* Adds one chunk's sums over `width` features of a tile to the double sums, whose functions are
 * `inputs` apart. */
static inline void add_chunk(const float *e, size_t pitch, size_t samples, size_t functions,
                             const float *weights, size_t stride, size_t width, double *sums,
                             size_t inputs)
{
    for (size_t j = 0; j < width; j += 4 * VECTOR) {
        float part[2][4 * V_LANES];
        if (functions == 1) sum_chunk(e + j, pitch, samples, 1, weights, stride, part);
        else sum_chunk(e + j, pitch, samples, 2, weights, stride, part);
        const size_t n = least(width - j, 4 * VECTOR);
        for (size_t f = 0; f < functions; f++)
            for (size_t k = 0; k < n; k++) sums[f * inputs + j + k] += (double)part[f][k];
    }
}

/* Normals of `samples` samples for the `blocks` blocks of a tile that starts `offset` blocks into
 * the row. Returns the pitch. */
static inline size_t fill_tile(const cr_source *s, int clean_first, uint64_t first, size_t samples,
                               size_t offset, size_t blocks, float *e)
{
    const int whole = blocks == s->row;
    const size_t pitch = whole ? 4 * blocks : TILE;
    if (whole) {
        /* Sums run over whole vectors: idle lanes must hold ordinary numbers. */
        memset(e + samples * pitch, 0, SLACK * sizeof *e);
        fill(s, cr_source_block(s, first), samples * blocks, e);
    } else
        for (size_t i = 0; i < samples; i++)
            fill(s, cr_source_block(s, first + i) + offset, blocks, e + i * pitch);
    if (clean_first && first == 0) memset(e, 0, 4 * blocks * sizeof *e);
    return pitch;
}

static void kernel_replay(const cr_noise *noise, uint64_t first, size_t count, size_t functions,
                          const float *weights, size_t stride, double *sums, size_t begin,
                          size_t end)
{
    _Alignas(64) float e[CR_REPLAY_CHUNK * TILE + SLACK];
    const cr_source s = cr_source_of(noise);
    for (size_t j = begin; j < end; j += TILE) {
        const size_t width = least(end - j, TILE);
        for (size_t i = 0; i < count; i += CR_REPLAY_CHUNK) {
            const size_t n = least(count - i, CR_REPLAY_CHUNK);
            const size_t pitch =
                fill_tile(&s, noise->clean_first, first + i, n, j / 4, (width + 3) / 4, e);
            add_chunk(e, pitch, n, functions, weights + i, stride, width, sums + j, noise->inputs);
        }
    }
}

typedef struct projection { /* of one sample; partial sum l takes the features j with j % GROUP ==
                               l, in order */
    _Alignas(64) float dot[GROUP], norm[GROUP];
    double dots[GROUP], norms[GROUP];
} projection;

static inline void flush(projection *p)
{
    for (size_t l = 0; l < GROUP; l++) {
        p->dots[l] += (double)p->dot[l];
        p->norms[l] += (double)p->norm[l];
        p->dot[l] = p->norm[l] = 0.0f;
    }
}

/* `groups` <= FLUSH / GROUP groups of features, then a flush */
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

typedef struct ruler { /* what every sample is measured with; the last group is padded with zeros */
    const float *direction, *mask;
    size_t inputs;
    float direction_tail[GROUP], mask_tail[GROUP];
} ruler;

/* Features begin .. begin+n-1 of one sample; begin is a multiple of FLUSH. */
static inline void project_piece(projection *p, const ruler *r, const float *e, size_t begin,
                                 size_t n)
{
    for (size_t j = 0; j < n; j += FLUSH) {
        const size_t width = least(n - j, FLUSH), groups = width / GROUP;
        project_groups(p, e + j, r->direction + begin + j, r->mask + begin + j, groups);
        if (width % GROUP)
            project_groups(p, e + j + groups * GROUP, r->direction_tail, r->mask_tail, 1);
        flush(p);
    }
}

/* As fill; the last group may be read as a whole. */
static inline void fill_groups(const cr_source *s, uint64_t block, size_t blocks, float *e)
{
    memset(e + 4 * blocks, 0, GROUP * sizeof *e);
    fill(s, block, blocks, e);
}

static inline void project_rows(const cr_source *s, const ruler *r, int clean_first, uint64_t first,
                                size_t samples, float *e, double *dots, double *norms)
{
    const size_t row = (size_t)s->row, piece = least(4 * row, FILL_FLOATS);
    if (piece == 4 * row) fill_groups(s, cr_source_block(s, first), samples * row, e);
    for (size_t i = 0; i < samples; i++) {
        projection p;
        memset(&p, 0, sizeof p);
        for (size_t j = 0; j < r->inputs; j += piece) {
            const size_t n = least(r->inputs - j, piece);
            if (piece != 4 * row)
                fill_groups(s, cr_source_block(s, first + i) + j / 4, (n + 3) / 4, e);
            project_piece(&p, r, piece == 4 * row ? e + i * 4 * row : e, j, n);
        }
        const int still = clean_first && first + i == 0;
        dots[i] = still ? 0.0 : cr_add_halves(p.dots, GROUP);
        norms[i] = still ? 0.0 : cr_add_halves(p.norms, GROUP);
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
        project_rows(&s, &r, noise->clean_first, first + i, least(count - i, rows), e, dots + i,
                     norms + i);
}

#endif
