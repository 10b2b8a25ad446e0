/* Kernels of the second order, around cuBLAS's products (products.c). */
#include "backend/cuda/body.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/launch.h"

namespace
{

constexpr unsigned threads = 128;

__global__ void __launch_bounds__(threads)
    tile_kernel(const cr_source source, uint64_t first, size_t count,
                const int32_t *__restrict__ features, size_t active, float *__restrict__ rows)
{
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         at < count * active; at += step)
        rows[at] = cr_body_normal(&source, first + at / active,
                                  static_cast<size_t>(features[at % active]));
}

/* Where all features are active: four of them a thread, none drawn for nothing. */
template <bool whole>
__global__ void __launch_bounds__(threads)
    tile_all_kernel(const cr_source source, uint64_t first, size_t count, float *__restrict__ rows)
{
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         at < count * source.row; at += step) {
        const size_t i = at / source.row, j = 4 * (at % source.row),
                     features = whole || source.inputs - j > 4 ? 4 : source.inputs - j;
        float e[4];
        cr_body_normals(&source, first + i, j / 4, e);
        cr_put<whole>(rows + i * source.inputs + j, e, features);
    }
}

__global__ void __launch_bounds__(threads)
    scale_kernel(const float *__restrict__ rows, const float *__restrict__ weights, size_t count,
                 size_t active, float *__restrict__ scaled)
{
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         at < count * active; at += step)
        scaled[at] = weights[at / active] * rows[at];
}

/* A row to a block of threads. */
__global__ void __launch_bounds__(threads)
    row_dots_kernel(const float *__restrict__ a, const float *__restrict__ b, size_t count,
                    size_t active, const double *__restrict__ minus, double *__restrict__ dots)
{
    __shared__ double part[threads];
    for (size_t i = blockIdx.x; i < count; i += gridDim.x) {
        double mine = 0.0;
        for (size_t k = threadIdx.x; k < active; k += threads)
            mine += static_cast<double>(a[i * active + k]) * static_cast<double>(b[i * active + k]);
        const double sum = cr_sum_of_block<threads>(mine, part);
        if (threadIdx.x == 0) dots[i] = sum - (minus ? *minus : 0.0);
    }
}

/* What the samples of a gain by those of b, or by each other. The products are a row for each
 * sample of a; across: a column. */
template <bool across>
__global__ void __launch_bounds__(threads)
    pairs_kernel(const cr_tile a, const cr_tile b, bool same, size_t active,
                 const float *__restrict__ products, double *__restrict__ squares)
{
    __shared__ double part[threads];
    for (size_t i = blockIdx.x; i < a.count; i += gridDim.x) {
        double mine = 0.0, mine_squared = 0.0;
        for (size_t j = threadIdx.x; j < b.count; j += threads) {
            if (same && i == j) continue;
            const float product = products[across ? j * a.count + i : i * b.count + j];
            const double weights =
                static_cast<double>(a.weights[i]) * static_cast<double>(b.weights[j]);
            const double k = cr_body_pair(weights, static_cast<double>(product), a.norms[i],
                                          b.norms[j], static_cast<double>(active));
            mine += k;
            mine_squared += k * k;
        }
        const double sum = cr_sum_of_block<threads>(mine, part),
                     square = cr_sum_of_block<threads>(mine_squared, part);
        if (threadIdx.x != 0) continue;
        a.sums[i] += sum;
        squares[i] += square;
    }
}

/* By one block of threads. */
__global__ void __launch_bounds__(threads)
    identity_kernel(float *__restrict__ matrix, size_t active, float weight,
                    double *__restrict__ trace)
{
    __shared__ double part[threads];
    double mine = 0.0;
    for (size_t k = threadIdx.x; k < active; k += threads)
        mine += static_cast<double>(matrix[k * active + k] -= weight);
    const double sum = cr_sum_of_block<threads>(mine, part);
    if (threadIdx.x == 0) *trace = sum;
}

} // namespace

int cr_cuda_load_pair_kernels(void)
{
    return cr_load(tile_kernel, tile_all_kernel<true>, tile_all_kernel<false>, scale_kernel,
                   row_dots_kernel, pairs_kernel<false>, pairs_kernel<true>, identity_kernel);
}

int cr_cuda_tile(void *stream, const cr_noise *noise, uint64_t first, size_t count,
                 const int32_t *features, size_t active, float *rows)
{
    if (count == 0) return 0;
    const cr_source source = cr_source_of(noise);
    if (active == noise->inputs)
        return cr_launch(stream,
                         cr_whole(rows, active) ? tile_all_kernel<true> : tile_all_kernel<false>,
                         cr_grid(count * source.row, threads), threads, source, first, count, rows);
    return cr_launch(stream, tile_kernel, cr_grid(count * active, threads), threads, source, first,
                     count, features, active, rows);
}

int cr_cuda_row_dots(void *stream, const float *a, const float *b, size_t count, size_t active,
                     const double *minus, double *dots)
{
    if (count == 0) return 0;
    return cr_launch(stream, row_dots_kernel, cr_grid(count, 1), threads, a, b, count, active,
                     minus, dots);
}

int cr_cuda_scale(void *stream, const cr_tile *tile, size_t active, float *scaled)
{
    if (tile->count == 0) return 0;
    return cr_launch(stream, scale_kernel, cr_grid(tile->count * active, threads), threads,
                     tile->rows, tile->weights, tile->count, active, scaled);
}

int cr_cuda_pairs(void *stream, const cr_tile *a, const cr_tile *b, size_t active,
                  const float *products, double *squares)
{
    if (a->count == 0 || b->count == 0) return 0;
    const bool same = a->rows == b->rows;
    const int code = cr_launch(stream, pairs_kernel<false>, cr_grid(a->count, 1), threads, *a, *b,
                               same, active, products, squares);
    if (code || same) return code;
    return cr_launch(stream, pairs_kernel<true>, cr_grid(b->count, 1), threads, *b, *a, same,
                     active, products, squares);
}

int cr_cuda_take_identity(void *stream, float *matrix, size_t active, float weight, double *trace)
{
    return cr_launch(stream, identity_kernel, 1, threads, matrix, active, weight, trace);
}
