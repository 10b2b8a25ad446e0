/* The work of one CUDA thread, in inline functions that host compilers can compile too;
 * noise_kernels.cu assigns the work to threads. Every operation of a replay is exact or rounded
 * once, in the order of backend.h, so that a device gives the bits of the CPU. */
#ifndef CR_BACKEND_CUDA_DEVICE_FUNCTIONS_H
#define CR_BACKEND_CUDA_DEVICE_FUNCTIONS_H
#include "backend/simd_scalar.h"
/* after the lanes */
#include "backend/grid_rounding.h"

/* Computes the four normals of one block of the stream. */
CR_INLINE void cr_device_block(const cr_noise_stream *source, uint64_t block, float e[4])
{
    uint32_t words[4];
    cr_noise_stream_words(source, block, words);
    cr_normal4_from(words, 0, e);
}

/* The cells of four features, and one condition under which float decides all of them:
 * cr_cell_at's, with the largest factor, and with the radius of a pair in place of its normals,
 * which are not larger. */
typedef struct cr_device_cells {
    float h[4], base[4], factor[4], offset[4]; /* as in cr_cell */
    float margin, slope;                       /* the condition |y - n| <= margin - slope radius */
} cr_device_cells;

/* Sets cell k, which tightens the condition; k = 0 must come first. */
CR_INLINE void cr_device_set_cell(cr_device_cells *c, unsigned k, const cr_cell *cell)
{
    c->h[k] = cell->h;
    c->base[k] = cell->base;
    c->factor[k] = cell->factor;
    c->offset[k] = cell->offset;
    /* 2^-20 covers |offset| <= 1/2 and the rounding below */
    const float margin = cell->margin - 0x1p-20f,
                slope = v_abs(cell->factor) * (1.001f * CR_CELL_RELATIVE_ERROR);
    c->margin = k == 0 || margin < c->margin ? margin : c->margin;
    c->slope = k == 0 || slope > c->slope ? slope : c->slope;
}

/* The points of the grid for one block. They are certain if |distance| <= margin. */
typedef struct cr_device_points {
    float x[4], distance[4], margin[2]; /* distance: y - n; margin: of each pair */
} cr_device_points;

/* Computes the points of one block. */
CR_INLINE cr_device_points cr_device_points_of(const cr_noise_stream *source, uint64_t block,
                                               const cr_device_cells *c)
{
    uint32_t words[4];
    cr_device_points p;
    cr_noise_stream_words(source, block, words);
    for (unsigned pair = 0; pair < 2; pair++) {
        const float radius = cr_normal4_radius(words[2 * pair]);
        float e[2];
        cr_normal4_sincos(words[2 * pair + 1], e, e + 1);
        for (unsigned i = 0; i < 2; i++) {
            const unsigned k = 2 * pair + i;
            const float y = v_fma_loose(c->factor[k], v_mul(radius, e[i]), c->offset[k]),
                        n = v_sub(v_sub(y, -0x1.8p23f), 0x1.8p23f);
            p.distance[k] = v_sub(y, n);
            p.x[k] = v_fma_loose(n, c->h[k], c->base[k]);
        }
        p.margin[pair] = words[2 * pair] - CR_NORMAL4_FIRST < CR_NORMAL4_COUNT
                             ? v_fma_loose(-radius, c->slope, c->margin)
                             : -1.0f;
    }
    return p;
}

/* Returns non-zero if all four points are certain. */
CR_INLINE int cr_device_is_certain(const cr_device_points *p)
{
    return fmaxf(fabsf(p->distance[0]), fabsf(p->distance[1])) <= p->margin[0] &&
           fmaxf(fabsf(p->distance[2]), fabsf(p->distance[3])) <= p->margin[1];
}

/* Returns a bit for each point that float leaves in doubt. */
CR_INLINE unsigned cr_device_doubts(const cr_device_points *p)
{
    unsigned doubts = 0;
    for (unsigned k = 0; k < 4; k++)
        doubts |= (fabsf(p->distance[k]) <= p->margin[k / 2] ? 0u : 1u) << k;
    return doubts;
}

/* Computes normals 4*quad .. 4*quad+3 of a sample, also after the last input. */
CR_INLINE void cr_device_normals(const cr_noise_stream *source, uint64_t sample, uint64_t quad,
                                 float e[4])
{
    cr_device_block(source, cr_noise_stream_block(source, sample) + quad, e);
    if (source->clean_first && sample == 0) e[0] = e[1] = e[2] = e[3] = 0.0f;
}

/* Computes weighted float sums over one chunk of at most CR_REPLAY_CHUNK samples. */
CR_INLINE void cr_device_chunk(const cr_noise_stream *source, uint64_t first, size_t samples,
                               uint64_t quad, size_t functions, const float *weights, size_t stride,
                               float sums[2][4])
{
    const uint64_t row = source->blocks_per_sample;
    uint64_t block = cr_noise_stream_block(source, first) + quad;
    size_t i = source->clean_first && first == 0; /* skips the noise-free sample */
    for (int k = 0; k < 4; k++) sums[0][k] = sums[1][k] = 0.0f;
    for (block += i * row; i < samples; i++, block += row) {
        float e[4];
        cr_device_block(source, block, e);
        for (int k = 0; k < 4; k++) sums[0][k] = v_fma(weights[i], e[k], sums[0][k]);
        for (int k = 0; functions > 1 && k < 4; k++)
            sums[1][k] = v_fma(weights[stride + i], e[k], sums[1][k]);
    }
}

/* A lane of project has the partial sums 4*lane .. 4*lane+3. */
#define CR_DEVICE_LANES (CR_PROJECT_SUMS / 4)

/* Computes the partial sums of one lane over one piece of a sample: products with the direction,
 * and squares under the mask. */
CR_INLINE void cr_device_piece(const cr_noise_stream *source, uint64_t sample, uint64_t piece,
                               uint64_t lane, const float *direction, const float *mask,
                               float dot[4], float norm[4])
{
    const uint64_t end = (piece + 1) * (CR_PROJECT_PIECE / 4), row = source->blocks_per_sample;
    for (int k = 0; k < 4; k++) dot[k] = norm[k] = 0.0f;
    for (uint64_t quad = piece * (CR_PROJECT_PIECE / 4) + lane; quad < end && quad < row;
         quad += CR_DEVICE_LANES) {
        float e[4];
        const size_t feature = (size_t)(4 * quad);
        cr_device_normals(source, sample, quad, e);
        for (size_t k = 0; k < 4 && feature + k < source->inputs; k++) {
            dot[k] = v_fma(direction[feature + k], e[k], dot[k]);
            norm[k] = v_fma(v_mul(mask[feature + k], e[k]), e[k], norm[k]);
        }
    }
}

#endif
