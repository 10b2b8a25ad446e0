/* Drawing and replaying noise: which thread does what, and launches. What a thread computes is in body.h. */
#include "backend/aim.h"
#include "backend/cuda/body.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/launch.h"

namespace {

constexpr unsigned draw_threads = 256, draw_blocks = 16384, most_quads = 1u << 30, most_high = 65535;
constexpr unsigned quads_wide = 32, chunks_deep = 8;                          /* of a block of threads in block_sums */
constexpr unsigned lanes = CR_BODY_LANES, pieces_deep = 8, samples_high = 8; /* and in project */

/* Threads go from quad to quad in strides; where a sample has whole quads x is one array of float4. `still`: quads that have no noise. */
template <bool whole>
__global__ void __launch_bounds__(draw_threads) draw_kernel(const cr_source source, const float *__restrict__ z, const float *__restrict__ step,
                                                           uint64_t first, uint32_t quads, uint64_t total, uint64_t still, float *__restrict__ x)
{
    const uint32_t start = blockIdx.x * draw_threads + threadIdx.x, stride = gridDim.x * draw_threads, turn = stride % quads;
    uint32_t quad = start % quads;
    for (uint64_t at = start; at < total; at += stride) {
        float e[4];
        cr_body_block(&source, first * quads + at, e);
        if (whole) {
            const float4 from = reinterpret_cast<const float4 *>(z)[quad], by = reinterpret_cast<const float4 *>(step)[quad];
            reinterpret_cast<float4 *>(x)[at] = make_float4(cr_body_draw(from.x, by.x, e[0], at < still), cr_body_draw(from.y, by.y, e[1], at < still),
                                                            cr_body_draw(from.z, by.z, e[2], at < still), cr_body_draw(from.w, by.w, e[3], at < still));
        } else {
            const size_t sample = at / quads, j = 4 * static_cast<size_t>(quad);
            for (size_t k = 0; k < 4 && j + k < source.inputs; k++)
                x[sample * source.inputs + j + k] = cr_body_draw(z[j + k], step[j + k], e[k], at < still);
        }
        quad += turn;
        if (quad >= quads) quad -= quads;
    }
}

/* A block of threads has quads_wide quads of one block of samples: each thread sums whole chunks; then each takes one of the eight sums of
 * its quad (4 features, 2 functions) and adds the chunks to it in order. */
static_assert(chunks_deep == 8, "a thread to each of the sums of a quad");
__device__ void sum_tile(const cr_source &source, uint64_t first, size_t length, size_t functions, const float *weights, size_t stride,
                         const float *mask, bool add, uint64_t quad, double *sums, float (*part)[8][quads_wide])
{
    const size_t chunks = (length + CR_REPLAY_CHUNK - 1) / CR_REPLAY_CHUNK, lane = threadIdx.x, depth = threadIdx.y;
    const size_t f = depth / 4, j = 4 * quad + depth % 4;
    const bool inside = quad < source.row, mine = f < functions && j < source.inputs;
    double *to = sums + f * source.inputs + j, total = add && mine ? *to : 0.0;
    for (size_t base = 0; base < chunks; base += chunks_deep) {
        const size_t from = (base + depth) * CR_REPLAY_CHUNK;
        if (inside && from < length) {
            float sum[2][4];
            cr_body_chunk(&source, first + from, min(length - from, static_cast<size_t>(CR_REPLAY_CHUNK)), quad, functions, weights + from, stride, sum);
            for (int s = 0; s < 8; s++) part[depth][s][lane] = sum[s / 4][s % 4];
        }
        __syncthreads();
        for (size_t c = 0; mine && c < chunks_deep && base + c < chunks; c++) total += static_cast<double>(part[c][depth][lane]);
        __syncthreads();
    }
    if (mine) *to = mask == nullptr || mask[j] > 0.0f ? total : 0.0;
}

__global__ void __launch_bounds__(quads_wide *chunks_deep)
    block_sums_kernel(const cr_source source, uint64_t first, size_t length, size_t blocks, size_t functions, const float *__restrict__ weights,
                      size_t stride, const float *__restrict__ mask, bool add, double *__restrict__ sums)
{
    __shared__ float part[chunks_deep][8][quads_wide];
    const uint64_t quads = source.row;
    for (size_t b = blockIdx.y; b < blocks; b += gridDim.y)
        for (uint64_t tile = static_cast<uint64_t>(blockIdx.x) * quads_wide; tile < quads; tile += static_cast<uint64_t>(gridDim.x) * quads_wide)
            sum_tile(source, first + b * length, length, functions, weights + b * length, stride, mask, add, tile + threadIdx.x,
                     sums + b * functions * source.inputs, part);
}

/* A block of threads has samples_high samples: each lane sums whole pieces of one, the pieces are added in order, then the lanes. */
__global__ void __launch_bounds__(lanes *pieces_deep *samples_high)
    project_kernel(const cr_source source, uint64_t first, size_t count, const float *__restrict__ direction, const float *__restrict__ mask,
                   double *__restrict__ dots, double *__restrict__ norms)
{
    __shared__ float part[samples_high][pieces_deep][2][CR_PROJECT_SUMS];
    __shared__ double total[samples_high][2][CR_PROJECT_SUMS];
    const size_t lane = threadIdx.x, depth = threadIdx.y, height = threadIdx.z, at = static_cast<size_t>(blockIdx.x) * samples_high + height;
    const uint64_t pieces = (source.inputs + CR_PROJECT_PIECE - 1) / CR_PROJECT_PIECE;
    const bool sums_up = depth < 2 && at < count; /* depth 0 the projections, depth 1 the squares */
    double mine[4] = {0.0, 0.0, 0.0, 0.0};
    for (uint64_t base = 0; base < pieces; base += pieces_deep) {
        if (at < count && base + depth < pieces) {
            float dot[4], norm[4];
            cr_body_piece(&source, first + at, base + depth, lane, direction, mask, dot, norm);
            for (int k = 0; k < 4; k++) part[height][depth][0][4 * lane + k] = dot[k], part[height][depth][1][4 * lane + k] = norm[k];
        }
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
    const cr_source source = cr_source_of(noise);
    const uint64_t quads = source.row, total = quads * count, still = noise->centre && first == 0 ? quads : 0;
    if (total == 0) return 0;
    if (quads > most_quads) return cudaErrorInvalidValue; /* a row of 16 GiB */
    const uintptr_t together = reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(z) | reinterpret_cast<uintptr_t>(step);
    const auto kernel = noise->inputs % 4 == 0 && together % sizeof(float4) == 0 ? draw_kernel<true> : draw_kernel<false>;
    return cr_launch(stream, kernel, cr_grid(total, draw_threads, draw_blocks), draw_threads, source, z, step, first, quads, total, still, x);
}

int cr_cuda_block_sums(void *stream, const cr_noise *noise, uint64_t first, size_t length, size_t blocks, size_t functions, const float *weights,
                       size_t stride, const float *mask, int add, double *sums)
{
    const cr_source source = cr_source_of(noise);
    if (blocks == 0 || source.row == 0) return 0;
    const dim3 grid(cr_grid(source.row, quads_wide), cr_grid(blocks, 1, most_high));
    return cr_launch(stream, block_sums_kernel, grid, dim3(quads_wide, chunks_deep), source, first, length, blocks, functions, weights, stride, mask, add != 0,
                  sums);
}

int cr_cuda_project(void *stream, const cr_noise *noise, uint64_t first, size_t count, const float *direction, const float *mask, double *dots, double *norms)
{
    const cr_source source = cr_source_of(noise);
    if (count == 0) return 0;
    if (count / samples_high >= 0x7fffffff) return cudaErrorInvalidValue;
    return cr_launch(stream, project_kernel, cr_grid(count, samples_high), dim3(lanes, pieces_deep, samples_high), source, first, count, direction,
                  mask, dots, norms);
}

int cr_cuda_aim(void *stream, const double *sums, const float *mask, size_t inputs, float *direction, double *lengths)
{
    return cr_launch(stream, aim_kernel, 1, CR_AIM_SUMS, sums, mask, inputs, direction, lengths);
}
