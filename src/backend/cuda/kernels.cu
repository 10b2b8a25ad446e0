/* Indexing and launches; what a thread computes is in body.h. */
#include <cuda_runtime.h>

#include "backend/cuda/body.h"
#include "backend/cuda/kernels.h"

namespace {

constexpr unsigned draw_threads = 256, most_blocks = 65535;
constexpr unsigned quads_wide = 32, chunks_deep = 8; /* of a block of threads in block_sums */

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

/* A block of threads has quads_wide quads of one block of samples: each thread sums whole chunks, the chunks are added in order. */
__device__ void sum_tile(const cr_noise &noise, uint64_t first, size_t length, size_t functions, const float *weights, size_t stride,
                         const float *mask, uint64_t quad, double *sums, float (*part)[2][quads_wide][4])
{
    const size_t chunks = (length + CR_REPLAY_CHUNK - 1) / CR_REPLAY_CHUNK, lane = threadIdx.x, depth = threadIdx.y;
    const bool inside = quad < cr_body_row(&noise);
    double total[2][4] = {{0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0}};
    for (size_t base = 0; base < chunks; base += chunks_deep) {
        const size_t from = (base + depth) * CR_REPLAY_CHUNK;
        if (inside && from < length) {
            float mine[2][4];
            cr_body_chunk(&noise, first + from, min(length - from, static_cast<size_t>(CR_REPLAY_CHUNK)), quad, functions, weights + from, stride, mine);
            for (int f = 0; f < 2; f++)
                for (int k = 0; k < 4; k++) part[depth][f][lane][k] = mine[f][k];
        }
        __syncthreads();
        for (size_t c = 0; inside && depth == 0 && c < chunks_deep && base + c < chunks; c++)
            for (size_t f = 0; f < functions; f++)
                for (int k = 0; k < 4; k++) total[f][k] += static_cast<double>(part[c][f][lane][k]);
        __syncthreads();
    }
    for (size_t f = 0; inside && depth == 0 && f < functions; f++)
        for (size_t k = 0, j = 4 * quad; k < 4 && j < noise.inputs; k++, j++)
            sums[f * noise.inputs + j] = mask == nullptr || mask[j] > 0.0f ? total[f][k] : 0.0;
}

__global__ void __launch_bounds__(quads_wide *chunks_deep)
    block_sums_kernel(const cr_noise noise, uint64_t first, size_t length, size_t blocks, size_t functions, const float *__restrict__ weights,
                      size_t stride, const float *__restrict__ mask, double *__restrict__ sums)
{
    __shared__ float part[chunks_deep][2][quads_wide][4];
    const uint64_t quads = cr_body_row(&noise);
    for (size_t b = blockIdx.y; b < blocks; b += gridDim.y)
        for (uint64_t tile = static_cast<uint64_t>(blockIdx.x) * quads_wide; tile < quads; tile += static_cast<uint64_t>(gridDim.x) * quads_wide)
            sum_tile(noise, first + b * length, length, functions, weights + b * length, stride, mask, tile + threadIdx.x,
                     sums + b * functions * noise.inputs, part);
}

unsigned grid_of(uint64_t work, uint64_t each, uint64_t most)
{
    const uint64_t blocks = (work + each - 1) / each;
    return static_cast<unsigned>(blocks < most ? blocks : most);
}

cudaStream_t stream_of(void *stream)
{
    return static_cast<cudaStream_t>(stream);
}

} // namespace

int cr_cuda_draw(void *stream, const cr_noise *noise, const float *z, const float *step, uint64_t first, size_t count, float *x)
{
    const uint64_t quads = cr_body_row(noise), total = quads * count;
    if (total == 0) return 0;
    const unsigned grid = grid_of(total, draw_threads, 0x7fffffffu);
    if (total < UINT32_MAX)
        draw_kernel<uint32_t><<<grid, draw_threads, 0, stream_of(stream)>>>(*noise, z, step, first, static_cast<uint32_t>(quads),
                                                                            static_cast<uint32_t>(total), x);
    else draw_kernel<uint64_t><<<grid, draw_threads, 0, stream_of(stream)>>>(*noise, z, step, first, quads, total, x);
    return static_cast<int>(cudaGetLastError());
}

int cr_cuda_block_sums(void *stream, const cr_noise *noise, uint64_t first, size_t length, size_t blocks, size_t functions, const float *weights,
                       size_t stride, const float *mask, double *sums)
{
    const dim3 grid(grid_of(cr_body_row(noise), quads_wide, 0x7fffffffu), grid_of(blocks, 1, most_blocks)), threads(quads_wide, chunks_deep);
    if (blocks == 0 || noise->inputs == 0) return 0;
    block_sums_kernel<<<grid, threads, 0, stream_of(stream)>>>(*noise, first, length, blocks, functions, weights, stride, mask, sums);
    return static_cast<int>(cudaGetLastError());
}
