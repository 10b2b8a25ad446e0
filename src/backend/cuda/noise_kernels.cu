/* The kernels that draw and replay noise: the assignment of work to threads, and launches.
 * device_functions.h has the work of a thread. */
#include "backend/cuda/device_functions.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/launch_utils.h"
#include "backend/ordered_sum.h"

namespace
{

/* Threads of a block, and blocks of a multiprocessor: with fewer, each thread has more registers.
 * Samples that a thread draws together share constants. Measured: any other number is slower. */
constexpr unsigned draw_threads = 256, draw_blocks = 4, draw_samples = 2;
#ifndef CR_DRAW_DOUBTS /* doubtful quads that a block of threads can remember; fewer in tests */
#define CR_DRAW_DOUBTS 1024
#endif
/* Limits: quads of a row, and the y dimension of a grid. */
constexpr unsigned max_quads = 1u << 30, max_grid_y = 65535;
constexpr unsigned block_quads = 32, block_chunks = 8; /* per block of threads in a replay */
constexpr unsigned lanes = CR_DEVICE_LANES, accumulate_threads = 128, direction_threads = 1024;

/* The steps of a draw: a thread keeps its quad and proceeds by samples_per_step samples. */
typedef struct draw_steps {
    uint32_t quads, samples_per_step;
    uint32_t steps, longer_rows; /* of each thread; the first longer_rows rows have one more */
    uint64_t blocks, floats;     /* blocks of normals and floats of x per step */
} draw_steps;

typedef struct draw {
    cr_noise_stream source;
    const float *z, *noise_deviation;
    uint64_t first;
    draw_steps steps;
    float *x;
} draw;

/* The position of a thread at one of its samples. */
typedef struct position {
    uint64_t sample, block; /* block: of normals */
    size_t j;               /* the first feature of the quad */
    uint32_t steps;         /* 0: the thread has nothing to draw */
    float *x;
} position;

__device__ position position_of(const draw &d, unsigned thread, uint32_t step)
{
    const uint32_t index = blockIdx.x * draw_threads + thread, row = index / d.steps.quads,
                   quad = index - row * d.steps.quads;
    const size_t j = 4 * static_cast<size_t>(quad);
    return {d.first + row + static_cast<uint64_t>(step) * d.steps.samples_per_step,
            d.source.base + (d.first + row) * d.steps.quads + quad + step * d.steps.blocks, j,
            row >= d.steps.samples_per_step ? 0 : d.steps.steps + (row < d.steps.longer_rows),
            d.x + static_cast<size_t>(row) * d.source.inputs + j + step * d.steps.floats};
}

/* Decides doubtful points with more bits. Not inline, so that the loop has more registers. */
__device__ __noinline__ void resolve_points(const draw &d, unsigned thread, uint32_t step,
                                            unsigned doubts)
{
    const position s = position_of(d, thread, step);
    for (unsigned k = 0; k < 4 && s.j + k < d.source.inputs; k++) {
        if (!(doubts >> k & 1)) continue;
        const cr_cell cell = cr_cell_of(d.z[s.j + k], d.noise_deviation[s.j + k]);
        s.x[k] = v_fma(cr_cell_resolve(&d.source, s.block, k, cell.factor, cell.offset), cell.h,
                       cell.base);
    }
}

__device__ void load_cells(const draw &d, const position &s, cr_device_cells *cells, float z[4])
{
    for (unsigned k = 0; k < 4; k++) {
        const bool inside = s.steps && s.j + k < d.source.inputs;
        z[k] = inside ? d.z[s.j + k] : 0.0f;
        const cr_cell cell = cr_cell_of(z[k], inside ? d.noise_deviation[s.j + k] : 0.0f);
        cr_device_set_cell(cells, k, &cell);
    }
}

/* Returns true if the thread's first sample is noise-free. */
__device__ bool is_clean(const draw &d, const position &s)
{
    return s.steps && d.source.clean_first != 0 && s.sample == 0;
}

/* Finds and decides all doubtful points of this thread again, if the block has too many to
 * remember. */
__device__ __noinline__ void resolve_all_points(const draw &d)
{
    cr_device_cells cells;
    float z[4];
    position s = position_of(d, threadIdx.x, 0);
    load_cells(d, s, &cells, z);
    for (uint32_t step = 0; step < s.steps; step++, s.block += d.steps.blocks) {
        const cr_device_points p = cr_device_points_of(&d.source, s.block, &cells);
        if (!cr_device_is_certain(&p) && !(step == 0 && is_clean(d, s)))
            resolve_points(d, threadIdx.x, step, cr_device_doubts(&p));
    }
}

/* The quads with a doubtful point, about one in several hundred. They are decided together at the
 * end: in the loop, each of them would delay its whole warp. */
typedef struct doubtful {
    uint32_t step[CR_DRAW_DOUBTS];
    uint16_t thread_and_doubts[CR_DRAW_DOUBTS]; /* 16 thread + doubts */
    unsigned count;
} doubtful;

__device__ void record_doubts(doubtful &list, uint32_t step, unsigned doubts)
{
    const unsigned slot = doubts ? atomicAdd(&list.count, 1u) : CR_DRAW_DOUBTS;
    if (slot >= CR_DRAW_DOUBTS) return;
    list.step[slot] = step;
    list.thread_and_doubts[slot] = static_cast<uint16_t>(16 * threadIdx.x + doubts);
}

template <bool aligned>
__global__ void __launch_bounds__(draw_threads, draw_blocks)
    draw_kernel(const __grid_constant__ draw d)
{
    __shared__ doubtful list;
    if (threadIdx.x == 0) list.count = 0;
    __syncthreads();
    position s = position_of(d, threadIdx.x, 0);
    const size_t features = aligned || d.source.inputs - s.j > 4 ? 4 : d.source.inputs - s.j;
    cr_device_cells cells;
    float z[4];
    load_cells(d, s, &cells, z);
    uint32_t step = 0;
    if (is_clean(d, s)) {
        cr_store_quad<aligned>(s.x, z, features);
        s.block += d.steps.blocks;
        s.x += d.steps.floats;
        step++;
    }
    for (; step + draw_samples <= s.steps; step += draw_samples) {
        cr_device_points p[draw_samples];
        bool certain = true;
        for (unsigned i = 0; i < draw_samples; i++) {
            p[i] = cr_device_points_of(&d.source, s.block, &cells);
            cr_store_quad<aligned>(s.x, p[i].x, features);
            certain = certain && cr_device_is_certain(p + i);
            s.block += d.steps.blocks;
            s.x += d.steps.floats;
        }
        for (unsigned i = 0; i < draw_samples && !certain; i++)
            record_doubts(list, step + i, cr_device_doubts(p + i));
    }
    for (; step < s.steps; step++, s.block += d.steps.blocks, s.x += d.steps.floats) {
        const cr_device_points p = cr_device_points_of(&d.source, s.block, &cells);
        cr_store_quad<aligned>(s.x, p.x, features);
        record_doubts(list, step, cr_device_doubts(&p));
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < list.count && list.count <= CR_DRAW_DOUBTS;
         i += draw_threads)
        resolve_points(d, list.thread_and_doubts[i] / 16, list.step[i],
                       list.thread_and_doubts[i] % 16);
    if (list.count > CR_DRAW_DOUBTS) resolve_all_points(d);
}

/* Hides features of one row by each thread. */
__global__ void __launch_bounds__(draw_threads)
    hide_kernel(const cr_noise_stream words, const cr_masks masks, uint64_t first, size_t count,
                size_t inputs, float *x)
{
    for (size_t i = static_cast<size_t>(blockIdx.x) * draw_threads + threadIdx.x; i < count;
         i += static_cast<size_t>(gridDim.x) * draw_threads)
        cr_masks_hide(&masks, &words, first + i, x + i * inputs);
}

/* Computes block_quads quads of one block of samples by a block of threads. Each thread sums whole
 * chunks; then it takes one of its quad's eight sums (4 features, 2 functions) and adds the chunks
 * to it in order. */
static_assert(block_chunks == 8, "a thread to each of the sums of a quad");
__device__ void sum_tile(const cr_noise_stream &source, const cr_weighted_blocks &w, size_t block,
                         const float *weights, const float *mask, uint64_t quad, double *sums,
                         float (*partial)[8][block_quads])
{
    const uint64_t first = w.first + block * w.block_samples;
    const size_t chunks = (w.block_samples + CR_REPLAY_CHUNK - 1) / CR_REPLAY_CHUNK,
                 lane = threadIdx.x, depth = threadIdx.y;
    const size_t f = depth / 4, j = 4 * quad + depth % 4;
    const bool inside = quad < source.blocks_per_sample,
               has_sum = f < w.functions && j < source.inputs;
    double *target = sums + (block * w.functions + f) * source.inputs + j,
           total = has_sum ? *target : 0.0;
    for (size_t base = 0; base < chunks; base += block_chunks) {
        const size_t chunk_first = (base + depth) * CR_REPLAY_CHUNK;
        if (inside && chunk_first < w.block_samples) {
            float sum[2][4];
            cr_device_chunk(
                &source, first + chunk_first,
                min(w.block_samples - chunk_first, static_cast<size_t>(CR_REPLAY_CHUNK)), quad,
                w.functions, weights + chunk_first, w.stride, sum);
            for (int s = 0; s < 8; s++) partial[depth][s][lane] = sum[s / 4][s % 4];
        }
        __syncthreads();
        for (size_t c = 0; has_sum && c < block_chunks && base + c < chunks; c++)
            total += static_cast<double>(partial[c][depth][lane]);
        __syncthreads();
    }
    if (has_sum) *target = mask == nullptr || mask[j] > 0.0f ? total : 0.0;
}

__global__ void __launch_bounds__(block_quads *block_chunks)
    replay_kernel(const cr_noise_stream source, const cr_weighted_blocks w,
                  const float *__restrict__ weights, const float *__restrict__ mask,
                  double *__restrict__ sums)
{
    __shared__ float partial[block_chunks][8][block_quads];
    const uint64_t quads = source.blocks_per_sample;
    for (size_t b = blockIdx.y; b < w.blocks; b += gridDim.y)
        for (uint64_t tile = static_cast<uint64_t>(blockIdx.x) * block_quads; tile < quads;
             tile += static_cast<uint64_t>(gridDim.x) * block_quads)
            sum_tile(source, w, b, weights + b * w.block_samples, mask, tile + threadIdx.x, sums,
                     partial);
}

/* Projects `samples_at_once` samples by a block of threads. The lanes of one depth sum one piece,
 * two lanes add its partial sums, and the pieces are added in order. */
template <unsigned pieces_at_once, unsigned samples_at_once>
__global__ void __launch_bounds__(lanes *pieces_at_once *samples_at_once)
    project_kernel(const cr_noise_stream source, const cr_projection p,
                   const float *__restrict__ directions, const float *__restrict__ mask,
                   double *__restrict__ dots, double *__restrict__ squared_norms)
{
    __shared__ float partial[samples_at_once][pieces_at_once][2][CR_PROJECT_SUMS];
    __shared__ double piece_sums[samples_at_once][pieces_at_once][2];
    const size_t lane = threadIdx.x, depth = threadIdx.y, height = threadIdx.z,
                 sample = static_cast<size_t>(blockIdx.x) * samples_at_once + height;
    const uint64_t pieces = (source.inputs + CR_PROJECT_PIECE - 1) / CR_PROJECT_PIECE;
    const bool is_adder = lane < 2 && sample < p.count; /* lane 0: projections, lane 1: squares */
    const float *direction =
        directions + (p.blocks > 1 && sample < p.count
                          ? cr_block_of(p.count, p.blocks, sample) * source.inputs
                          : 0);
    double total = 0.0;
    for (uint64_t base = 0; base < pieces; base += pieces_at_once) {
        if (sample < p.count && base + depth < pieces) {
            float dot[4], norm[4];
            cr_device_piece(&source, p.first + sample, base + depth, lane, direction, mask, dot,
                            norm);
            for (int k = 0; k < 4; k++) {
                partial[height][depth][0][4 * lane + k] = dot[k];
                partial[height][depth][1][4 * lane + k] = norm[k];
            }
        }
        __syncthreads();
        if (is_adder && base + depth < pieces) {
            double sums[CR_PROJECT_SUMS];
            for (unsigned l = 0; l < CR_PROJECT_SUMS; l++)
                sums[l] = static_cast<double>(partial[height][depth][lane][l]);
            piece_sums[height][depth][lane] = cr_add_halves(sums, CR_PROJECT_SUMS);
        }
        __syncthreads();
        for (size_t i = 0; is_adder && depth == 0 && i < pieces_at_once && base + i < pieces; i++)
            total += piece_sums[height][i][lane];
    }
    if (is_adder && depth == 0) (lane == 0 ? dots : squared_norms)[sample] = total;
}

constexpr auto project_narrow = project_kernel<4, 16>, project_wide = project_kernel<32, 2>;

/* Adds up the rows of one feature by one thread. */
__global__ void __launch_bounds__(accumulate_threads)
    accumulate_kernel(double *sums, size_t rows, size_t inputs)
{
    const size_t j = static_cast<size_t>(blockIdx.x) * accumulate_threads + threadIdx.x;
    if (j >= inputs) return;
    double total = sums[j];
    for (size_t i = inputs + j; i < rows * inputs; i += inputs) sums[i] = total += sums[i];
}

/* Computes one row by one block of threads. The first CR_NORM_SUMS threads have a partial sum each;
 * all threads round. */
__global__ void __launch_bounds__(direction_threads)
    direction_kernel(const double *__restrict__ rows, const float *__restrict__ mask, size_t inputs,
                     float *directions, double *__restrict__ norms)
{
    const double *sums = rows + blockIdx.x * inputs;
    float *direction = directions + blockIdx.x * inputs;
    __shared__ double partial[CR_NORM_SUMS];
    const size_t first = threadIdx.x < CR_NORM_SUMS ? threadIdx.x : inputs;
    double square = 0.0, direction_square = 0.0;
    for (size_t j = first; j < inputs; j += CR_NORM_SUMS)
        if (mask[j] > 0.0f) square = cr_add_square(square, sums[j]);
    const double norm = sqrt(cr_block_sum<CR_NORM_SUMS>(square, partial));
    for (size_t j = threadIdx.x; j < inputs; j += direction_threads)
        direction[j] = mask[j] > 0.0f ? static_cast<float>(sums[j]) : 0.0f;
    __syncthreads();
    for (size_t j = first; j < inputs; j += CR_NORM_SUMS)
        direction_square = cr_add_square(direction_square, static_cast<double>(direction[j]));
    const double length = sqrt(cr_block_sum<CR_NORM_SUMS>(direction_square, partial));
    if (threadIdx.x != 0) return;
    norms[2 * blockIdx.x] = norm;
    norms[2 * blockIdx.x + 1] = length;
}

} // namespace

int cr_cuda_load_kernels(void)
{
    return cr_load_kernels(draw_kernel<true>, draw_kernel<false>, hide_kernel, replay_kernel,
                           project_narrow, project_wide, accumulate_kernel, direction_kernel);
}

int cr_cuda_draw_threads(int device, uint64_t *out)
{
    int processors = 0, blocks = 0;
    const int code = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    *out = 0;
    if (code) return code;
    const int occupancy_code =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, draw_kernel<true>, draw_threads, 0);
    *out = static_cast<uint64_t>(processors) * static_cast<uint64_t>(blocks) * draw_threads;
    return occupancy_code;
}

int cr_cuda_draw(void *stream, uint64_t threads, const cr_noise *noise, const float *z,
                 const float *noise_deviation, uint64_t first, size_t count, float *x)
{
    const cr_noise_stream source = cr_noise_stream_of(noise);
    if (source.blocks_per_sample == 0 || count == 0) return 0;
    if (source.blocks_per_sample > max_quads) return cudaErrorInvalidValue; /* a row of 16 GiB */
    const uint64_t max_samples = threads / source.blocks_per_sample,
                   samples_per_step = count < max_samples ? count
                                      : max_samples       ? max_samples
                                                          : 1;
    if (count / samples_per_step >= UINT32_MAX) return cudaErrorInvalidValue;
    const draw d = {source,
                    z,
                    noise_deviation,
                    first,
                    {static_cast<uint32_t>(source.blocks_per_sample),
                     static_cast<uint32_t>(samples_per_step),
                     static_cast<uint32_t>(count / samples_per_step),
                     static_cast<uint32_t>(count % samples_per_step),
                     samples_per_step * source.blocks_per_sample, samples_per_step * noise->inputs},
                    x};
    return cr_launch(
        stream, cr_is_aligned(x, noise->inputs) ? draw_kernel<true> : draw_kernel<false>,
        cr_grid_blocks(source.blocks_per_sample * samples_per_step, draw_threads), draw_threads, d);
}

int cr_cuda_hide(void *stream, const cr_noise *noise, const cr_draw *d)
{
    if (d->count == 0) return 0;
    return cr_launch(stream, hide_kernel, cr_grid_blocks(d->count, draw_threads), draw_threads,
                     cr_mask_stream_of(noise, d->masks), *d->masks, d->first, d->count,
                     noise->inputs, d->x);
}

int cr_cuda_replay(void *stream, const cr_noise *noise, const cr_weighted_blocks *w,
                   const float *mask, double *sums)
{
    const cr_noise_stream source = cr_noise_stream_of(noise);
    if (w->blocks == 0 || source.blocks_per_sample == 0) return 0;
    const dim3 grid(cr_grid_blocks(source.blocks_per_sample, block_quads),
                    cr_grid_blocks(w->blocks, 1, max_grid_y));
    return cr_launch(stream, replay_kernel, grid, dim3(block_quads, block_chunks), source, *w,
                     w->weights, mask, sums);
}

int cr_cuda_project(void *stream, const cr_noise *noise, const cr_projection *p)
{
    const cr_noise_stream source = cr_noise_stream_of(noise);
    const int wide = noise->inputs > 4 * CR_PROJECT_PIECE;
    const unsigned pieces_at_once = wide ? 32 : 4, samples_at_once = wide ? 2 : 16;
    if (p->count == 0) return 0;
    if (p->count / samples_at_once >= 0x7fffffff) return cudaErrorInvalidValue;
    return cr_launch(stream, wide ? project_wide : project_narrow,
                     cr_grid_blocks(p->count, samples_at_once),
                     dim3(lanes, pieces_at_once, samples_at_once), source, *p, p->directions,
                     p->mask, p->dots, p->squared_norms);
}

int cr_cuda_set_directions(void *stream, const cr_direction_rows *to)
{
    const int code = to->rows < 2 ? 0
                                  : cr_launch(stream, accumulate_kernel,
                                              cr_grid_blocks(to->inputs, accumulate_threads),
                                              accumulate_threads, to->sums, to->rows, to->inputs);
    return code ? code
                : cr_launch(stream, direction_kernel, static_cast<unsigned>(to->rows),
                            direction_threads, to->sums, to->mask, to->inputs, to->directions,
                            to->norms);
}
