/* What one CUDA thread computes, in inline functions that the host's tests loop over: the kernels themselves only say which thread does
 * what. Every operation is exact or rounded once, in the order of the seam (backend.h), so that a device gives the bits of the CPU. */
#ifndef CR_BACKEND_CUDA_BODY_H
#define CR_BACKEND_CUDA_BODY_H
#include "backend/backend.h"
#include "backend/lanes_scalar.h"
/* after the lanes */
#include "backend/normal4.h"

CR_INLINE uint64_t cr_body_row(const cr_noise *noise) /* blocks of four normals to a sample */
{
    return noise->inputs / 4 + (noise->inputs % 4 != 0);
}

/* Normals 4*quad .. 4*quad+3 of a sample; those beyond the last input are there too. */
CR_INLINE void cr_body_normals(const cr_noise *noise, uint64_t sample, uint64_t quad, float e[4])
{
    uint32_t words[4];
    cr_philox_block(noise->seed, noise->stream, sample * cr_body_row(noise) + quad, words);
    cr_normal4_from(words, e);
    if (noise->centre && sample == 0) e[0] = e[1] = e[2] = e[3] = 0.0f;
}

/* Four features of x from 4*quad on; how many of them there are. */
CR_INLINE size_t cr_body_draw(const cr_noise *noise, const float *z, const float *step, uint64_t sample, uint64_t quad, float x[4])
{
    float e[4];
    const size_t from = (size_t)(4 * quad), left = noise->inputs - from, count = left < 4 ? left : 4;
    const int still = noise->centre && sample == 0;
    cr_body_normals(noise, sample, quad, e);
    for (size_t k = 0; k < count; k++) {
        const float by = step[from + k];
        x[k] = still || by == 0.0f ? z[from + k] : v_fma(by, e[k], z[from + k]);
    }
    return count;
}

/* Weighted float sums over one chunk of at most CR_REPLAY_CHUNK samples. */
CR_INLINE void cr_body_chunk(const cr_noise *noise, uint64_t first, size_t samples, uint64_t quad, size_t functions, const float *weights,
                             size_t stride, float part[2][4])
{
    for (int k = 0; k < 4; k++) part[0][k] = part[1][k] = 0.0f;
    for (size_t i = 0; i < samples; i++) {
        float e[4];
        cr_body_normals(noise, first + i, quad, e);
        for (int k = 0; k < 4; k++) part[0][k] = v_fma(weights[i], e[k], part[0][k]);
        for (int k = 0; functions > 1 && k < 4; k++) part[1][k] = v_fma(weights[stride + i], e[k], part[1][k]);
    }
}

/* A lane of project has 4 of the partial sums: 4*lane .. 4*lane+3. */
#define CR_BODY_LANES (CR_PROJECT_SUMS / 4)

/* What lane `lane` adds up over one piece of a sample: float sums with the direction, and of squares under the mask. */
CR_INLINE void cr_body_piece(const cr_noise *noise, uint64_t sample, uint64_t piece, uint64_t lane, const float *direction, const float *mask, float dot[4],
                             float norm[4])
{
    const uint64_t end = (piece + 1) * (CR_PROJECT_PIECE / 4), row = cr_body_row(noise);
    for (int k = 0; k < 4; k++) dot[k] = norm[k] = 0.0f;
    for (uint64_t quad = piece * (CR_PROJECT_PIECE / 4) + lane; quad < end && quad < row; quad += CR_BODY_LANES) {
        float e[4];
        const size_t from = (size_t)(4 * quad);
        cr_body_normals(noise, sample, quad, e);
        for (size_t k = 0; k < 4 && from + k < noise->inputs; k++) {
            dot[k] = v_fma(direction[from + k], e[k], dot[k]);
            norm[k] = v_fma(v_mul(mask[from + k], e[k]), e[k], norm[k]);
        }
    }
}

/* The partial sums of all lanes to one. */
CR_INLINE double cr_body_reduce(double sums[CR_PROJECT_SUMS])
{
    for (unsigned half = CR_PROJECT_SUMS / 2; half; half /= 2)
        for (unsigned l = 0; l < half; l++) sums[l] += sums[l + half];
    return sums[0];
}

/* One normal number. */
CR_INLINE float cr_body_normal(const cr_noise *noise, uint64_t sample, size_t feature)
{
    float e[4];
    cr_body_normals(noise, sample, feature / 4, e);
    return e[feature % 4];
}

/* w_i w_j <A_i, A_j> (estimator/second.h) by e_i.e_j. */
CR_INLINE double cr_body_pair(double weights, double product, double norm_i, double norm_j, double active)
{
    return weights * (product * product - norm_i - norm_j + active) / 2;
}

#endif
