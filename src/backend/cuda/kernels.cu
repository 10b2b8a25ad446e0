/* Drawing and replaying noise: which thread does what, and launches. What a thread computes is in body.h. */
#include "backend/aim.h"
#include "backend/cuda/body.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/launch.h"

namespace {

constexpr unsigned draw_threads = 256, most_high = 65535; /* of a grid */
constexpr unsigned quads_wide = 32, chunks_deep = 8;                          /* of a block of threads in block_sums */
constexpr unsigned lanes = CR_BODY_LANES, pieces_deep = 8, samples_high = 8; /* and in project */

/* The division that finds a thread's sample is in 32 bits where they suffice. */
template <typename index>
__global__ void __launch_bounds__(draw_threads) draw_kernel(const cr_noise noise, const float *__restrict__ z, const float *__restrict__ step,
                                                           uint64_t first, index quads, index total, float *__restrict__ x)
{
    const bool whole = noise.inputs % 4 == 0 && reinterpret_cast<uintptr_t>(x) % sizeof(float4) == 0;
    for (uint64_t at = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < total; at += static_cast<uint64_t>(gridDim.x) * blockDim.x) {
        const index sample = static_cast<index>(at) / quads, quad = static_cast<index>(at) - sample * quads;
        float four[4];
        const size_t count = cr_body_draw(&noise, z, step, first + sample, quad, four);
        float *to = x + static_cast<size_t>(sample) * noise.inputs + 4 * static_cast<size_t>(quad);
        if (whole) *reinterpret_cast<float4 *>(to) = make_float4(four[0], four[1], four[2], four[3]);
        else
            for (size_t k = 0; k < count; k++) to[k] = four[k];
    }
}

/* A block of threads has quads_wide quads of one block of samples: each thread sums whole chunks; then each takes one of the eight sums of
 * its quad (4 features, 2 functions) and adds the chunks to it in order. */
static_assert(chunks_deep == 8, "a thread to each of the sums of a quad");
__device__ void sum_tile(const cr_noise &noise, uint64_t first, size_t length, size_t functions, const float *weights, size_t stride,
                         const float *mask, bool add, uint64_t quad, double *sums, float (*part)[8][quads_wide])
{
    const size_t chunks = (length + CR_REPLAY_CHUNK - 1) / CR_REPLAY_CHUNK, lane = threadIdx.x, depth = threadIdx.y;
    const size_t f = depth / 4, j = 4 * quad + depth % 4;
    const bool inside = quad < cr_body_row(&noise), mine = f < functions && j < noise.inputs;
    double *to = sums + f * noise.inputs + j, total = add && mine ? *to : 0.0;
    for (size_t base = 0; base < chunks; base += chunks_deep) {
        const size_t from = (base + depth) * CR_REPLAY_CHUNK;
        if (inside && from < length) {
            float sum[2][4];
            cr_body_chunk(&noise, first + from, min(length - from, static_cast<size_t>(CR_REPLAY_CHUNK)), quad, functions, weights + from, stride, sum);
            for (int s = 0; s < 8; s++) part[depth][s][lane] = sum[s / 4][s % 4];
        }
        __syncthreads();
        for (size_t c = 0; mine && c < chunks_deep && base + c < chunks; c++) total += static_cast<double>(part[c][depth][lane]);
        __syncthreads();
    }
    if (mine) *to = mask == nullptr || mask[j] > 0.0f ? total : 0.0;
}

__global__ void __launch_bounds__(quads_wide *chunks_deep)
    block_sums_kernel(const cr_noise noise, uint64_t first, size_t length, size_t blocks, size_t functions, const float *__restrict__ weights,
                      size_t stride, const float *__restrict__ mask, bool add, double *__restrict__ sums)
{
    __shared__ float part[chunks_deep][8][quads_wide];
    const uint64_t quads = cr_body_row(&noise);
    for (size_t b = blockIdx.y; b < blocks; b += gridDim.y)
        for (uint64_t tile = static_cast<uint64_t>(blockIdx.x) * quads_wide; tile < quads; tile += static_cast<uint64_t>(gridDim.x) * quads_wide)
            sum_tile(noise, first + b * length, length, functions, weights + b * length, stride, mask, add, tile + threadIdx.x,
                     sums + b * functions * noise.inputs, part);
}

/* A block of threads has samples_high samples: each lane sums whole pieces of one, the pieces are added in order, then the lanes. */
__global__ void __launch_bounds__(lanes *pieces_deep *samples_high)
    project_kernel(const cr_noise noise, uint64_t first, size_t count, const float *__restrict__ direction, const float *__restrict__ mask,
                   double *__restrict__ dots, double *__restrict__ norms)
{
    __shared__ float part[samples_high][pieces_deep][2][CR_PROJECT_SUMS];
    __shared__ double total[samples_high][2][CR_PROJECT_SUMS];
    const size_t lane = threadIdx.x, depth = threadIdx.y, height = threadIdx.z, at = static_cast<size_t>(blockIdx.x) * samples_high + height;
    const uint64_t pieces = (noise.inputs + CR_PROJECT_PIECE - 1) / CR_PROJECT_PIECE;
    const bool sums_up = depth < 2 && at < count; /* depth 0 the projections, depth 1 the squares */
    double mine[4] = {0.0, 0.0, 0.0, 0.0};
    for (uint64_t base = 0; base < pieces; base += pieces_deep) {
        if (at < count && base + depth < pieces)
            cr_body_piece(&noise, first + at, base + depth, lane, direction, mask, part[height][depth][0] + 4 * lane, part[height][depth][1] + 4 * lane);
        __syncthreads();
        for (size_t p = 0; sums_up && p < pieces_deep && base + p < pieces; p++)
            for (int k = 0; k < 4; k++) mine[k] += static_cast<double>(part[height][p][depth][4 * lane + k]);
        __syncthreads();
    }
    for (int k = 0; sums_up && k < 4; k++) total[height][depth][4 * lane + k] = mine[k];
    __syncthreads();
    if (sums_up && lane == 0) (depth == 0 ? dots : norms)[at] = cr_body_reduce(total[height][depth]);
}

/* One block of threads: the thread is the partial sum. */
__global__ void __launch_bounds__(CR_AIM_SUMS)
    aim_kernel(const double *__restrict__ sums, const float *__restrict__ mask, size_t inputs, float *__restrict__ direction, double *__restrict__ lengths)
{
    __shared__ double part[CR_AIM_SUMS];
    double mine = 0.0, units = 0.0;
    for (size_t j = threadIdx.x; j < inputs; j += CR_AIM_SUMS)
        if (mask[j] > 0.0f) mine = cr_aim_add(mine, sums[j]);
    const double norm = sqrt(cr_sum_of_block<CR_AIM_SUMS>(mine, part));
    for (size_t j = threadIdx.x; j < inputs; j += CR_AIM_SUMS) {
        direction[j] = mask[j] > 0.0f && norm > 0.0 ? cr_aim_unit(sums[j], norm) : 0.0f;
        units = cr_aim_add(units, static_cast<double>(direction[j]));
    }
    const double length = sqrt(cr_sum_of_block<CR_AIM_SUMS>(units, part));
    if (threadIdx.x == 0) lengths[0] = norm, lengths[1] = length;
}

} // namespace

int cr_cuda_draw(void *stream, const cr_noise *noise, const float *z, const float *step, uint64_t first, size_t count, float *x)
{
    const uint64_t quads = cr_body_row(noise), total = quads * count;
    if (total == 0) return 0;
    const unsigned grid = cr_grid(total, draw_threads);
    if (total < UINT32_MAX) return cr_launch(stream, draw_kernel<uint32_t>, grid, draw_threads, *noise, z, step, first, quads, total, x);
    return cr_launch(stream, draw_kernel<uint64_t>, grid, draw_threads, *noise, z, step, first, quads, total, x);
}

int cr_cuda_block_sums(void *stream, const cr_noise *noise, uint64_t first, size_t length, size_t blocks, size_t functions, const float *weights,
                       size_t stride, const float *mask, int add, double *sums)
{
    if (blocks == 0 || noise->inputs == 0) return 0;
    const dim3 grid(cr_grid(cr_body_row(noise), quads_wide), cr_grid(blocks, 1, most_high));
    return cr_launch(stream, block_sums_kernel, grid, dim3(quads_wide, chunks_deep), *noise, first, length, blocks, functions, weights, stride, mask, add != 0,
                  sums);
}

int cr_cuda_project(void *stream, const cr_noise *noise, uint64_t first, size_t count, const float *direction, const float *mask, double *dots, double *norms)
{
    if (count == 0) return 0;
    if (count / samples_high >= 0x7fffffff) return cudaErrorInvalidValue;
    return cr_launch(stream, project_kernel, cr_grid(count, samples_high), dim3(lanes, pieces_deep, samples_high), *noise, first, count, direction,
                  mask, dots, norms);
}

int cr_cuda_aim(void *stream, const double *sums, const float *mask, size_t inputs, float *direction, double *lengths)
{
    return cr_launch(stream, aim_kernel, 1, CR_AIM_SUMS, sums, mask, inputs, direction, lengths);
}
