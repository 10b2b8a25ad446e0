/* The sweep of one tile of features, over the lanes of cpu_kernels.h. Noise is drawn once, some
 * rows at a time, and added to every function while the rows are in the cache. */
#ifndef CR_BACKEND_CPU_SWEEP_H
#define CR_BACKEND_CPU_SWEEP_H
#include "backend/cpu_kernels.h"

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

/* Adds the projections of up to ABREAST rows; their additions overlap. With squares, `by` is the
 * mask, and each term has the normal twice. */
enum { ABREAST = 4 };
CR_ALWAYS_INLINE void project_abreast(const float *e, size_t pitch, size_t rows, const float *by,
                                      size_t groups, int squares, double *dots)
{
    _Alignas(64) float part[ABREAST][GROUP];
    for (size_t l = 0; l < GROUP; l += VECTOR) {
        vf a[ABREAST];
        for (size_t r = 0; r < rows; r++) a[r] = v_set(0.0f);
        for (size_t g = l; g < groups * GROUP; g += GROUP) {
            const vf b = v_load(by + g);
            for (size_t r = 0; r < rows; r++) {
                const vf normal = v_load(e + r * pitch + g);
                a[r] = v_fma(squares ? v_mul(b, normal) : b, normal, a[r]);
            }
        }
        for (size_t r = 0; r < rows; r++) v_store(part[r] + l, a[r]);
    }
    for (size_t r = 0; r < rows; r++) dots[r] += add_partial(part[r]);
}

CR_ALWAYS_INLINE void project_tile(const float *e, size_t pitch, size_t rows, const float *by,
                                   size_t groups, int squares, double *dots)
{
    size_t i = 0;
    for (; i + ABREAST <= rows; i += ABREAST)
        project_abreast(e + i * pitch, pitch, ABREAST, by, groups, squares, dots + i);
    for (; i < rows; i++) project_abreast(e + i * pitch, pitch, 1, by, groups, squares, dots + i);
}

/* ---- chunks, and the borders of blocks */
static void end_block(cr_swept *s, const cr_sweep_tile *t)
{
    double square = 0, unit = 0;
    double *to = s->rows ? s->rows + s->block * t->pitch : s->sums;
    s->block++;
    for (size_t j = 0; j < t->width; j++) to[j] = t->mask[j] > 0 ? s->sums[j] : 0;
    if (s->rows) {
        memset(s->sums, 0, t->width * sizeof *s->sums);
        return;
    }
    for (size_t j = 0; j < t->width; j++) {
        s->direction[j] = (float)to[j];
        square += to[j] * to[j];
        unit += (double)s->direction[j] * (double)s->direction[j];
    }
    s->squares[2 * s->block] += square;
    s->squares[2 * s->block + 1] += unit;
}

/* Ends the blocks that end at this sample, and sets the end of the next chunk. */
static void go_on(cr_swept *s, const cr_sweep_tile *t)
{
    const cr_weighting *f = s->f;
    while (s->block < f->blocks && s->next == cr_walk_border(f->count, f->blocks, s->block + 1))
        end_block(s, t);
    if (s->block == f->blocks) return;
    s->next =
        cr_least(s->next + CR_REPLAY_CHUNK, cr_walk_border(f->count, f->blocks, s->block + 1));
}

static void end_chunk(cr_swept *s, const cr_sweep_tile *t)
{
    for (size_t j = 0; j < t->width; j++) {
        s->sums[j] += (double)s->partial[j];
        s->partial[j] = 0.0f;
    }
    go_on(s, t);
}

/* Adds `rows` rows, from sample number `first` on, to one function. */
static inline void take_rows(cr_swept *s, const cr_sweep_tile *t, const float *e, size_t pitch,
                             uint64_t first, size_t rows)
{
    const cr_weighting *f = s->f;
    const uint64_t last = f->first + f->count, end = first + rows < last ? first + rows : last;
    const size_t groups = (t->width + GROUP - 1) / GROUP;
    for (uint64_t i = first > f->first ? first : f->first; i < end;) {
        const size_t at = (size_t)(i - f->first), left = (size_t)(end - i),
                     n = t->again || s->next - at > left ? left : s->next - at;
        const float *from = e + (size_t)(i - first) * pitch;
        if (t->again || (f->dots && !f->whole && s->block))
            project_tile(from, pitch, n, s->direction, groups, 0, s->dots + at);
        if (!t->again) add_rows(from, pitch, n, f->weights + at, t->width, s->partial);
        i += n;
        if (!t->again && at + n == s->next) end_chunk(s, t);
    }
}

static void kernel_sweep(const cr_noise *noise, uint64_t first, size_t count,
                         const cr_sweep_tile *t, cr_swept *swept)
{
    _Alignas(64) float e[FILL_FLOATS + SLACK];
    const cr_source s = cr_source_of(noise);
    const size_t quads = (t->width + 3) / 4, pitch = 4 * quads, most = FILL_FLOATS / pitch;
    for (size_t f = 0; f < t->functions && t->starts; f++) go_on(swept + f, t);
    for (size_t i = 0; i < count; i += most) {
        const size_t rows = cr_least(count - i, most);
        fill_tile(&s, noise->clean_first, first + i, rows, t->begin / 4, quads, e);
        if (t->norms)
            project_tile(e, pitch, rows, t->mask, (t->width + GROUP - 1) / GROUP, 1,
                         t->norms + (size_t)(first + i - t->first));
        for (size_t f = 0; f < t->functions; f++)
            if (!t->again || swept[f].f->whole) take_rows(swept + f, t, e, pitch, first + i, rows);
    }
}

#endif
