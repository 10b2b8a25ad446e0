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

#endif
