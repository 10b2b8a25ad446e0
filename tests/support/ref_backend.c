#include "support/ref_backend.h"
#include "support/philox_block.h"
#include "backend/simd_scalar.h"
/* after the lanes */
#include "backend/grid_rounding.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The block of four normals that has number j of sample i. */
static uint64_t block_of(const cr_noise *noise, uint64_t i, size_t j)
{
    const uint64_t row = (noise->inputs + 3) / 4;
    return (noise->level << CR_LEVEL_BITS) + i * row + j / 4;
}

float ref_backend_normal(const cr_noise *noise, uint64_t i, size_t j)
{
    if (noise->clean_first && i == 0) return 0.0f;
    uint32_t words[4];
    float normals[4];
    philox_block(noise->seed, noise->noise_id, block_of(noise, i, j), words);
    cr_normal4_from(words, 0, normals);
    return normals[j % 4];
}

/* ---- draw */
/* The words that normal k of a block is made of, 96 bits each. */
typedef struct pair {
    uint32_t x[3], y[3];
    unsigned cosine;
} pair;

static pair pair_of(const cr_noise *noise, uint64_t block, size_t k)
{
    const uint64_t parts[3] = {block, block | UINT64_C(1) << 63, block | UINT64_C(1) << 62};
    pair p = {.cosine = k & 1};
    for (int i = 0; i < 3; i++) {
        uint32_t words[4];
        philox_block(noise->seed, noise->noise_id, parts[i], words);
        p.x[i] = words[k & 2], p.y[i] = words[(k & 2) + 1];
    }
    return p;
}

cr_dd ref_backend_precise(const cr_noise *noise, uint64_t block, size_t k)
{
    const pair p = pair_of(noise, block, k);
    return cr_dd_normal(p.x, p.y, p.cosine);
}

/* The first 64 bits of a word as a part of 1; of its complement, which is the part that 1 is more,
 * for complement UINT32_MAX. */
static double part_of(const uint32_t word[3], uint32_t complement)
{
    const uint64_t both = (uint64_t)(word[0] ^ complement) << 32 | (word[1] ^ complement);
    return ((double)both + 0.5) * 0x1p-64;
}

/* Its error is below 1e-13. */
static double normal_of(const pair *p)
{
    const double u = part_of(p->x, 0), angle = 2 * 3.14159265358979324 * part_of(p->y, 0),
                 r = sqrt(-2 * (u > 0.5 ? log1p(-part_of(p->x, UINT32_MAX)) : log(u)));
    return r * (p->cosine ? cos(angle) : sin(angle));
}

/* By the definition alone: libm finds the normal, and where that is so close to the middle between
 * two points that a double might be wrong, or at the end of what 64 bits say, a more precise one
 * does. */
static float point_of(const pair *p, float z, float step)
{
    const double h = ldexp(1, ilogbf(step) - 8), factor = (double)step / h, offset = (double)z / h,
                 at = offset + factor * normal_of(p), far = fabs(at - floor(at) - 0.5);
    const double n = p->x[0] != 0 && far > 1e-6
                         ? rint(at)
                         : cr_dd_nearest(cr_dd_normal(p->x, p->y, p->cosine), factor, offset);
    return (float)(n * h) + 0.0f; /* no zero is negative */
}

static certreg_status draw(certreg_backend *backend, const cr_noise *noise, const cr_draw *d)
{
    (void)backend;
    for (size_t i = 0; i < d->count; i++)
        for (size_t j = 0; j < noise->inputs; j++) {
            const int still = d->noise_deviation[j] == 0.0f ||
                              (noise->clean_first && d->first + i == 0);
            const pair p = pair_of(noise, block_of(noise, d->first + i, j), j % 4);
            d->x[i * noise->inputs + j] = still ? d->z[j]
                                                : point_of(&p, d->z[j], d->noise_deviation[j]);
        }
    return CERTREG_OK;
}

static certreg_status replay(certreg_backend *backend, const cr_noise *noise,
                             const cr_weighted_blocks *w, const float *mask, double *sums,
                             cr_deadline *deadline)
{
    (void)backend, (void)deadline;
    for (size_t row = 0; row < w->blocks * w->functions; row++)
        for (size_t j = 0; j < noise->inputs; j++) {
            const size_t block = row / w->functions, start = block * w->block_samples;
            const float *weights = w->weights + row % w->functions * w->stride + start;
            double *sum = sums + row * noise->inputs + j;
            for (size_t begin = 0; begin < w->block_samples; begin += CR_REPLAY_CHUNK) {
                float chunk = 0.0f;
                for (size_t i = begin; i < w->block_samples && i < begin + CR_REPLAY_CHUNK; i++)
                    chunk =
                        fmaf(weights[i], ref_backend_normal(noise, w->first + start + i, j), chunk);
                *sum += (double)chunk;
            }
            if (mask && !(mask[j] > 0)) *sum = 0;
        }
    return CERTREG_OK;
}

/* Within each 256 features, partial sum l of 16 takes the features j with j % 16 == l, in float.
 * The 16 sums are added pairwise in double: l and l + 8, then l and l + 4, l + 2, l + 1. */
static double interleaved(const float *terms_a, const float *terms_b, size_t inputs)
{
    double sum = 0;
    for (size_t begin = 0; begin < inputs; begin += 256) {
        double sums[16];
        for (size_t l = 0; l < 16; l++) {
            float part = 0.0f;
            for (size_t j = begin + l; j < inputs && j < begin + 256; j += 16)
                part = fmaf(terms_a[j], terms_b[j], part);
            sums[l] = (double)part;
        }
        for (size_t half = 8; half; half /= 2)
            for (size_t l = 0; l < half; l++) sums[l] += sums[l + half];
        sum += sums[0];
    }
    return sum;
}

static certreg_status project(certreg_backend *backend, const cr_noise *noise,
                              const cr_projection *p, cr_deadline *deadline)
{
    (void)backend, (void)deadline;
    enum { MOST = 1 << 16 };
    static float e[MOST], masked[MOST];
    if (noise->inputs > MOST) return CERTREG_E_INVALID;
    const size_t blocks = p->blocks ? p->blocks : 1;
    for (size_t i = 0, block = 0; i < p->count; i++) {
        while (i >= cr_block_begin(p->count, blocks, block + 1)) block++;
        for (size_t j = 0; j < noise->inputs; j++) {
            e[j] = ref_backend_normal(noise, p->first + i, j);
            masked[j] = p->mask[j] * e[j];
        }
        p->dots[i] = interleaved(p->directions + block * noise->inputs, e, noise->inputs);
        p->squared_norms[i] = interleaved(masked, e, noise->inputs);
    }
    return CERTREG_OK;
}

static certreg_status set_directions(certreg_backend *backend, const cr_direction_rows *to)
{
    (void)backend;
    return cr_backend_default()->ops->set_directions(cr_backend_default(), to);
}

static certreg_status gram(certreg_backend *backend, const double *sums, size_t pitch,
                           size_t blocks, size_t inputs, double *to)
{
    (void)backend;
    for (size_t p = 0; p < blocks; p++)
        for (size_t q = 0; q < blocks; q++) {
            double sum = 0;
            for (size_t j = 0; q >= p && j < inputs; j++)
                sum += sums[p * pitch + j] * sums[q * pitch + j];
            to[p * blocks + q] = sum;
        }
    return CERTREG_OK;
}

static certreg_status copy(certreg_backend *backend, void *to, const void *from, size_t bytes)
{
    (void)backend;
    if (bytes && to != from) memcpy(to, from, bytes);
    return CERTREG_OK;
}

static certreg_status fill(certreg_backend *backend, void *there, size_t bytes, int byte)
{
    (void)backend;
    memset(there, byte, bytes);
    return CERTREG_OK;
}

/* A sweep is made of these. */
certreg_backend *ref_backend(void)
{
    static const cr_backend_ops ops = {.api_version = CR_BACKEND_API,
                                       .device = -1,
                                       .draw = draw,
                                       .replay = replay,
                                       .project = project,
                                       .set_directions = set_directions,
                                       .gram = gram,
                                       .store = copy,
                                       .fetch = copy,
                                       .fill = fill};
    static certreg_backend backend = {.ops = &ops};
    return &backend;
}
