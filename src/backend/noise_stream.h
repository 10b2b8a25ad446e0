/* A stream of noise as an argument of kernels: by value and with the keys of all rounds, so that
 * they are constants in a kernel. */
#ifndef CR_BACKEND_NOISE_STREAM_H
#define CR_BACKEND_NOISE_STREAM_H
#include "backend/backend.h"
#include "backend/philox.h"
#if defined(__CUDACC__)
#include <curand_philox4x32_x.h>
#endif

typedef struct cr_noise_stream {
    uint32_t keys[2 * CR_PHILOX_ROUNDS];
    uint64_t stream, base, blocks_per_sample; /* base: first block of the level */
    size_t inputs;
    int32_t clean_first;
} cr_noise_stream;

/* Returns the first block of a sample. */
CR_INLINE uint64_t cr_noise_stream_block(const cr_noise_stream *s, uint64_t sample)
{
    return s->base + sample * s->blocks_per_sample;
}

/* Computes the words of a block. Devices use the rounds of cuRAND. Why not its whole generator: it
 * computes the keys again for each block. */
CR_INLINE void cr_noise_stream_words(const cr_noise_stream *s, uint64_t block, uint32_t words[4])
{
#if defined(__CUDA_ARCH__)
    uint4 out = make_uint4((uint32_t)block, (uint32_t)(block >> 32), (uint32_t)s->stream,
                           (uint32_t)(s->stream >> 32));
    for (int i = 0; i < CR_PHILOX_ROUNDS; i++)
        out = _philox4x32round(out, make_uint2(s->keys[2 * i], s->keys[2 * i + 1]));
    words[0] = out.x;
    words[1] = out.y;
    words[2] = out.z;
    words[3] = out.w;
#else
    cr_philox_at(s->keys, s->stream, block, words);
#endif
}

/* Returns the stream of a noise. */
static inline cr_noise_stream cr_noise_stream_of(const cr_noise *noise)
{
    cr_noise_stream s;
    cr_philox_keys(noise->seed, s.keys);
    s.stream = noise->noise_id;
    s.base = noise->level << CR_LEVEL_BITS;
    s.blocks_per_sample = noise->inputs / 4 + (noise->inputs % 4 != 0);
    s.inputs = noise->inputs;
    s.clean_first = noise->clean_first;
    return s;
}

/* ---- masks */
#define CR_MASK_SEED UINT64_C(0x6d61736b73696e67) /* xor: the seed of masks from that of noise */

/* Returns the stream of masks, a word for each unit. */
static inline cr_noise_stream cr_mask_stream_of(const cr_noise *noise, const cr_masks *masks)
{
    cr_noise own = *noise;
    own.seed ^= CR_MASK_SEED;
    own.inputs = masks->units;
    return cr_noise_stream_of(&own);
}

/* Hides features of a sample. With `shown` units a unit is shown with probability left/remaining,
 * which makes all sets equally likely. */
CR_INLINE void cr_masks_hide(const cr_masks *m, const cr_noise_stream *stream, uint64_t sample,
                             float *x)
{
    uint32_t words[4] = {0, 0, 0, 0};
    size_t left = m->shown;
    if (stream->clean_first && sample == 0) return;
    const uint64_t block = cr_noise_stream_block(stream, m->is_fixed ? 0 : sample);
    for (size_t u = 0; u < m->units; u++) {
        if (u % 4 == 0) cr_noise_stream_words(stream, block + u / 4, words);
        const uint64_t word = words[u % 4];
        const int is_shown = m->shown ? (word * (m->units - u)) >> 32 < left
                                      : (double)(word + 1) <= m->probability[u] * 0x1p32;
        left -= m->shown && is_shown ? 1 : 0;
        for (size_t i = m->first[u]; !is_shown && i < m->first[u + 1]; i++)
            x[m->feature[i]] = m->marker;
    }
}

#endif
