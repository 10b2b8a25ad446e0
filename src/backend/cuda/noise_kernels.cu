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
constexpr unsigned draw_threads = 256, draw_blocks = 4, draw_together = 2;
#ifndef CR_DRAW_DOUBTS /* doubtful quads that a block of threads can remember; fewer in tests */
#define CR_DRAW_DOUBTS 1024
#endif
/* Limits: quads of a row, and the y dimension of a grid. */
constexpr unsigned most_quads = 1u << 30, most_high = 65535;
constexpr unsigned quads_wide = 32, chunks_deep = 8; /* per block of threads in a replay */
constexpr unsigned lanes = CR_BODY_LANES, aim_threads = 1024;

/* The steps of a draw: a thread keeps its quad and proceeds by `deep` samples. */
typedef struct pace {
    uint32_t quads, deep;
    uint32_t turns, rest;    /* samples of each thread; the first `rest` rows have one more */
    uint64_t blocks, floats; /* blocks of normals and floats of x per step */
} pace;

typedef struct draw {
    cr_noise_stream source;
    const float *z, *step;
    uint64_t first;
    pace go;
    float *x;
} draw;

/* The position of a thread at one of its samples. */
typedef struct spot {
    uint64_t sample, block; /* block: of normals */
    size_t j;               /* the first feature of the quad */
    uint32_t turns;         /* 0: the thread has nothing to draw */
    float *to;
} spot;

__device__ spot spot_of(const draw &d, unsigned thread, uint32_t turn)
{
    const uint32_t at = blockIdx.x * draw_threads + thread, row = at / d.go.quads,
                   quad = at - row * d.go.quads;
    const size_t j = 4 * static_cast<size_t>(quad);
    return {d.first + row + static_cast<uint64_t>(turn) * d.go.deep,
            d.source.base + (d.first + row) * d.go.quads + quad + turn * d.go.blocks, j,
            row >= d.go.deep ? 0 : d.go.turns + (row < d.go.rest),
            d.x + static_cast<size_t>(row) * d.source.inputs + j + turn * d.go.floats};
}

/* Decides doubtful points with more bits. Not inline, so that the loop has more registers. */
__device__ __noinline__ void find_points(const draw &d, unsigned thread, uint32_t turn,
                                         unsigned doubts)
{
    const spot s = spot_of(d, thread, turn);
    for (unsigned k = 0; k < 4 && s.j + k < d.source.inputs; k++) {
        if (!(doubts >> k & 1)) continue;
        const cr_cell cell = cr_cell_of(d.z[s.j + k], d.step[s.j + k]);
        s.to[k] = v_fma(cr_cell_resolve(&d.source, s.block, k, cell.factor, cell.offset), cell.h,
                        cell.base);
    }
}

__device__ void load_cells(const draw &d, const spot &s, cr_body_cells *cells, float from[4])
{
    for (unsigned k = 0; k < 4; k++) {
        const bool inside = s.turns && s.j + k < d.source.inputs;
        from[k] = inside ? d.z[s.j + k] : 0.0f;
        const cr_cell cell = cr_cell_of(from[k], inside ? d.step[s.j + k] : 0.0f);
        cr_body_set_cell(cells, k, &cell);
    }
}

/* Returns true if the thread's first sample is noise-free. */
__device__ bool is_clean(const draw &d, const spot &s)
{
    return s.turns && d.source.clean_first != 0 && s.sample == 0;
}

/* Finds and decides all doubtful points of this thread again, if the block has too many to
 * remember. */
__device__ __noinline__ void find_again(const draw &d)
{
    cr_body_cells cells;
    float from[4];
    spot s = spot_of(d, threadIdx.x, 0);
    load_cells(d, s, &cells, from);
    for (uint32_t turn = 0; turn < s.turns; turn++, s.block += d.go.blocks) {
        const cr_body_points p = cr_body_points_of(&d.source, s.block, &cells);
        if (!cr_body_certain(&p) && !(turn == 0 && is_clean(d, s)))
            find_points(d, threadIdx.x, turn, cr_body_doubts(&p));
    }
}

/* The quads with a doubtful point, about one in several hundred. They are decided together at the
 * end: in the loop, each of them would delay its whole warp. */
typedef struct doubtful {
    uint32_t turn[CR_DRAW_DOUBTS];
    uint16_t place[CR_DRAW_DOUBTS]; /* 16 thread + doubts */
    unsigned count;
} doubtful;

__device__ void remember(doubtful &all, uint32_t turn, unsigned doubts)
{
    const unsigned at = doubts ? atomicAdd(&all.count, 1u) : CR_DRAW_DOUBTS;
    if (at >= CR_DRAW_DOUBTS) return;
    all.turn[at] = turn;
    all.place[at] = static_cast<uint16_t>(16 * threadIdx.x + doubts);
}

template <bool whole>
__global__ void __launch_bounds__(draw_threads, draw_blocks)
    draw_kernel(const __grid_constant__ draw d)
{
    __shared__ doubtful all;
    if (threadIdx.x == 0) all.count = 0;
    __syncthreads();
    spot s = spot_of(d, threadIdx.x, 0);
    const size_t features = whole || d.source.inputs - s.j > 4 ? 4 : d.source.inputs - s.j;
    cr_body_cells cells;
    float from[4];
    load_cells(d, s, &cells, from);
    uint32_t turn = 0;
    if (is_clean(d, s)) {
        cr_put<whole>(s.to, from, features);
        s.block += d.go.blocks;
        s.to += d.go.floats;
        turn++;
    }
    for (; turn + draw_together <= s.turns; turn += draw_together) {
        cr_body_points p[draw_together];
        bool certain = true;
        for (unsigned i = 0; i < draw_together; i++) {
            p[i] = cr_body_points_of(&d.source, s.block, &cells);
            cr_put<whole>(s.to, p[i].x, features);
            certain = certain && cr_body_certain(p + i);
            s.block += d.go.blocks;
            s.to += d.go.floats;
        }
        for (unsigned i = 0; i < draw_together && !certain; i++)
            remember(all, turn + i, cr_body_doubts(p + i));
    }
    for (; turn < s.turns; turn++, s.block += d.go.blocks, s.to += d.go.floats) {
        const cr_body_points p = cr_body_points_of(&d.source, s.block, &cells);
        cr_put<whole>(s.to, p.x, features);
        remember(all, turn, cr_body_doubts(&p));
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < all.count && all.count <= CR_DRAW_DOUBTS; i += draw_threads)
        find_points(d, all.place[i] / 16, all.turn[i], all.place[i] % 16);
    if (all.count > CR_DRAW_DOUBTS) find_again(d);
}

/* Computes quads_wide quads of one block of samples by a block of threads. Each thread sums whole
 * chunks; then it takes one of its quad's eight sums (4 features, 2 functions) and adds the chunks
 * to it in order. */
static_assert(chunks_deep == 8, "a thread to each of the sums of a quad");
__device__ void sum_tile(const cr_noise_stream &source, const cr_weighted_blocks &w, size_t block,
                         const float *weights, const float *mask, uint64_t quad, double *sums,
                         float (*part)[8][quads_wide])
{
    const uint64_t first = w.first + block * w.block_samples;
    const size_t chunks = (w.block_samples + CR_REPLAY_CHUNK - 1) / CR_REPLAY_CHUNK,
                 lane = threadIdx.x, depth = threadIdx.y;
    const size_t f = depth / 4, j = 4 * quad + depth % 4;
    const bool inside = quad < source.blocks_per_sample,
               mine = f < w.functions && j < source.inputs;
    double *to = sums + (block * w.functions + f) * source.inputs + j, total = mine ? *to : 0.0;
    for (size_t base = 0; base < chunks; base += chunks_deep) {
        const size_t from = (base + depth) * CR_REPLAY_CHUNK;
        if (inside && from < w.block_samples) {
            float sum[2][4];
            cr_body_chunk(&source, first + from,
                          min(w.block_samples - from, static_cast<size_t>(CR_REPLAY_CHUNK)), quad,
                          w.functions, weights + from, w.stride, sum);
            for (int s = 0; s < 8; s++) part[depth][s][lane] = sum[s / 4][s % 4];
        }
        __syncthreads();
        for (size_t c = 0; mine && c < chunks_deep && base + c < chunks; c++)
            total += static_cast<double>(part[c][depth][lane]);
        __syncthreads();
    }
    if (mine) *to = mask == nullptr || mask[j] > 0.0f ? total : 0.0;
}

__global__ void __launch_bounds__(quads_wide *chunks_deep)
    replay_kernel(const cr_noise_stream source, const cr_weighted_blocks w,
                  const float *__restrict__ weights, const float *__restrict__ mask,
                  double *__restrict__ sums)
{
    __shared__ float part[chunks_deep][8][quads_wide];
    const uint64_t quads = source.blocks_per_sample;
    for (size_t b = blockIdx.y; b < w.blocks; b += gridDim.y)
        for (uint64_t tile = static_cast<uint64_t>(blockIdx.x) * quads_wide; tile < quads;
             tile += static_cast<uint64_t>(gridDim.x) * quads_wide)
            sum_tile(source, w, b, weights + b * w.block_samples, mask, tile + threadIdx.x, sums,
                     part);
}

/* Projects `high` samples by a block of threads. The lanes of one depth sum one piece, two lanes
 * add its partial sums, and the pieces are added in order. */
template <unsigned deep, unsigned high>
__global__ void __launch_bounds__(lanes *deep *high)
    project_kernel(const cr_noise_stream source, uint64_t first, size_t count,
                   const float *__restrict__ direction, const float *__restrict__ mask,
                   double *__restrict__ dots, double *__restrict__ norms)
{
    __shared__ float part[high][deep][2][CR_PROJECT_SUMS];
    __shared__ double of_piece[high][deep][2];
    const size_t lane = threadIdx.x, depth = threadIdx.y, height = threadIdx.z,
                 at = static_cast<size_t>(blockIdx.x) * high + height;
    const uint64_t pieces = (source.inputs + CR_PROJECT_PIECE - 1) / CR_PROJECT_PIECE;
    const bool adds = lane < 2 && at < count; /* lane 0: projections, lane 1: squares */
    double mine = 0.0;
    for (uint64_t base = 0; base < pieces; base += deep) {
        if (at < count && base + depth < pieces) {
            float dot[4], norm[4];
            cr_body_piece(&source, first + at, base + depth, lane, direction, mask, dot, norm);
            for (int k = 0; k < 4; k++) {
                part[height][depth][0][4 * lane + k] = dot[k];
                part[height][depth][1][4 * lane + k] = norm[k];
            }
        }
        __syncthreads();
        if (adds && base + depth < pieces) {
            double sums[CR_PROJECT_SUMS];
            for (unsigned l = 0; l < CR_PROJECT_SUMS; l++)
                sums[l] = static_cast<double>(part[height][depth][lane][l]);
            of_piece[height][depth][lane] = cr_add_halves(sums, CR_PROJECT_SUMS);
        }
        __syncthreads();
        for (size_t p = 0; adds && depth == 0 && p < deep && base + p < pieces; p++)
            mine += of_piece[height][p][lane];
    }
    if (adds && depth == 0) (lane == 0 ? dots : norms)[at] = mine;
}

constexpr auto project_narrow = project_kernel<4, 16>, project_wide = project_kernel<32, 2>;

/* Runs in one block of threads. The first CR_NORM_SUMS threads have a partial sum each; all threads
 * round. */
__global__ void __launch_bounds__(aim_threads)
    aim_kernel(const double *__restrict__ sums, const float *__restrict__ mask, size_t inputs,
               float *direction, double *__restrict__ lengths)
{
    __shared__ double part[CR_NORM_SUMS];
    const size_t sum_from = threadIdx.x < CR_NORM_SUMS ? threadIdx.x : inputs;
    double mine = 0.0, units = 0.0;
    for (size_t j = sum_from; j < inputs; j += CR_NORM_SUMS)
        if (mask[j] > 0.0f) mine = cr_add_square(mine, sums[j]);
    const double norm = sqrt(cr_sum_of_block<CR_NORM_SUMS>(mine, part));
    for (size_t j = threadIdx.x; j < inputs; j += aim_threads)
        direction[j] = mask[j] > 0.0f ? static_cast<float>(sums[j]) : 0.0f;
    __syncthreads();
    for (size_t j = sum_from; j < inputs; j += CR_NORM_SUMS)
        units = cr_add_square(units, static_cast<double>(direction[j]));
    const double length = sqrt(cr_sum_of_block<CR_NORM_SUMS>(units, part));
    if (threadIdx.x != 0) return;
    lengths[0] = norm;
    lengths[1] = length;
}

} // namespace

int cr_cuda_load_kernels(void)
{
    return cr_load(draw_kernel<true>, draw_kernel<false>, replay_kernel, project_narrow,
                   project_wide, aim_kernel);
}

int cr_cuda_draw_threads(int device, uint64_t *out)
{
    int units = 0, blocks = 0;
    const int code = cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
    *out = 0;
    if (code) return code;
    const int last =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, draw_kernel<true>, draw_threads, 0);
    *out = static_cast<uint64_t>(units) * static_cast<uint64_t>(blocks) * draw_threads;
    return last;
}

int cr_cuda_draw(void *stream, uint64_t threads, const cr_noise *noise, const float *z,
                 const float *step, uint64_t first, size_t count, float *x)
{
    const cr_noise_stream source = cr_noise_stream_of(noise);
    if (source.blocks_per_sample == 0 || count == 0) return 0;
    if (source.blocks_per_sample > most_quads) return cudaErrorInvalidValue; /* a row of 16 GiB */
    const uint64_t most = threads / source.blocks_per_sample, deep = count < most ? count
                                                                     : most       ? most
                                                                                  : 1;
    if (count / deep >= UINT32_MAX) return cudaErrorInvalidValue;
    const draw d = {source,
                    z,
                    step,
                    first,
                    {static_cast<uint32_t>(source.blocks_per_sample), static_cast<uint32_t>(deep),
                     static_cast<uint32_t>(count / deep), static_cast<uint32_t>(count % deep),
                     deep * source.blocks_per_sample, deep * noise->inputs},
                    x};
    return cr_launch(stream, cr_whole(x, noise->inputs) ? draw_kernel<true> : draw_kernel<false>,
                     cr_grid(source.blocks_per_sample * deep, draw_threads), draw_threads, d);
}

int cr_cuda_replay(void *stream, const cr_noise *noise, const cr_weighted_blocks *w,
                   const float *mask, double *sums)
{
    const cr_noise_stream source = cr_noise_stream_of(noise);
    if (w->blocks == 0 || source.blocks_per_sample == 0) return 0;
    const dim3 grid(cr_grid(source.blocks_per_sample, quads_wide),
                    cr_grid(w->blocks, 1, most_high));
    return cr_launch(stream, replay_kernel, grid, dim3(quads_wide, chunks_deep), source, *w,
                     w->weights, mask, sums);
}

int cr_cuda_project(void *stream, const cr_noise *noise, uint64_t first, size_t count,
                    const float *direction, const float *mask, double *dots, double *norms)
{
    const cr_noise_stream source = cr_noise_stream_of(noise);
    const int wide = noise->inputs > 4 * CR_PROJECT_PIECE;
    const unsigned deep = wide ? 32 : 4, high = wide ? 2 : 16;
    if (count == 0) return 0;
    if (count / high >= 0x7fffffff) return cudaErrorInvalidValue;
    return cr_launch(stream, wide ? project_wide : project_narrow, cr_grid(count, high),
                     dim3(lanes, deep, high), source, first, count, direction, mask, dots, norms);
}

int cr_cuda_aim(void *stream, const double *sums, const float *mask, size_t inputs,
                float *direction, double *lengths)
{
    return cr_launch(stream, aim_kernel, 1, aim_threads, sums, mask, inputs, direction, lengths);
}
