/* The CUDA backend's speed: draw against the write bandwidth of the device, replay, and a
 * certificate without the model. bench_gpu [FILE] writes "device,NAME" and rows
 * "name,ours,peer,ratio,target" to a file; read.py makes tables of it. */
#include "backend/backend.h"
#include <certreg/backend.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef BENCH_PART /* the emulated device does one round of a part of the samples */
#define BENCH_PART 1
#endif
enum { ROUNDS = BENCH_PART == 1 ? 20 : 1 };
static FILE *rows;

static void row(const char *name, double ours, double peer, double ratio, double target)
{
    printf("%-28s %10.4g   peer %10.4g   ratio %7.3f   target %g\n", name, ours, peer, ratio,
           target);
    if (rows) fprintf(rows, "%s,%g,%g,%.4f,%g\n", name, ours, peer, ratio, target);
}

static void time_row(const char *name, double ms)
{
    printf("%-28s %10.4g ms\n", name, ms);
    if (rows) fprintf(rows, "%s,%g,,,\n", name, ms);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct deadline {
    cudaEvent_t from, to;
    cudaStream_t stream;
} deadline;

static void start(deadline *w)
{
    cudaEventRecord(w->from, w->stream);
}

static double stop(deadline *w) /* seconds on the device */
{
    float ms = 0;
    cudaEventRecord(w->to, w->stream);
    cudaEventSynchronize(w->to);
    cudaEventElapsedTime(&ms, w->from, w->to);
    return 1e-3 * (double)ms;
}

/* Least of several rounds of draw, and of writing the same memory. */
static int draw_against_writing(certreg_backend *gpu, deadline *w, size_t n, size_t d,
                                const char *name)
{
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = d};
    float *x = NULL, *z = NULL, *zero = calloc(d, sizeof *zero);
    double draw = 1e9, write = 1e9;
    if (!zero || gpu->ops->alloc(gpu, n * d * sizeof *x, (void **)&x) ||
        gpu->ops->alloc(gpu, d * sizeof *z, (void **)&z))
        return 1;
    for (size_t j = 0; j < d; j++) zero[j] = 0.5f;
    gpu->ops->store(gpu, z, zero, d * sizeof *z);
    for (int i = 0; i < ROUNDS; i++) {
        start(w);
        if (gpu->ops->draw(gpu, &noise, &(cr_draw){z, z, 0, n, x, NULL})) return 1;
        const double t = stop(w);
        draw = t < draw ? t : draw;
        start(w);
        cudaMemsetAsync(x, 1, n * d * sizeof *x, w->stream);
        const double u = stop(w);
        write = u < write ? u : write;
    }
    const double bytes = (double)(n * d) * sizeof *x;
    row(name, bytes / draw / 1e9, bytes / write / 1e9, write / draw, 0.7); /* GB/s */
    gpu->ops->free(gpu, x), gpu->ops->free(gpu, z);
    free(zero);
    return 0;
}

/* Block sums of two functions, and the Gram matrix of one, fetched. */
static int replay(certreg_backend *gpu, deadline *w, size_t n, size_t d, const char *name,
                  const char *gram_name)
{
    enum { BLOCKS = 64 };
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = d};
    float *weights = NULL;
    double *sums = NULL, *there = NULL, gram[BLOCKS * BLOCKS], best = 1e9;
    if (gpu->ops->alloc(gpu, sizeof gram, (void **)&there)) return 1;
    if (gpu->ops->alloc(gpu, 2 * n * sizeof *weights, (void **)&weights) ||
        gpu->ops->alloc(gpu, 2 * BLOCKS * d * sizeof *sums, (void **)&sums))
        return 1;
    cudaMemsetAsync(weights, 0, 2 * n * sizeof *weights, w->stream);
    const cr_weighted_blocks all = {.block_samples = n / BLOCKS,
                                    .blocks = BLOCKS,
                                    .functions = 2,
                                    .weights = weights,
                                    .stride = n};
    for (int i = 0; i < ROUNDS; i++) {
        start(w);
        if (gpu->ops->fill(gpu, sums, 2 * BLOCKS * d * sizeof *sums, 0) ||
            gpu->ops->replay(gpu, &noise, &all, NULL, sums, NULL))
            return 1;
        const double t = stop(w);
        best = t < best ? t : best;
    }
    time_row(name, 1e3 * best);
    best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        const double began = seconds();
        if (gpu->ops->gram(gpu, sums, 2 * d, BLOCKS, d, there) ||
            gpu->ops->fetch(gpu, gram, there, sizeof gram))
            return 1;
        const double t = seconds() - began;
        best = t < best ? t : best;
    }
    time_row(gram_name, 1e3 * best);
    gpu->ops->free(gpu, weights), gpu->ops->free(gpu, sums), gpu->ops->free(gpu, there);
    return 0;
}

/* All noise of a certificate, as torch_peer.py makes it: batches drawn, two functions correlated.
 * Milliseconds. */
static int noise_of_certificate(certreg_backend *gpu, deadline *w, size_t d, const char *name)
{
    enum { N = 10000 / BENCH_PART, BATCH = N / 4, BLOCKS = 64 };
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = d};
    float *x = NULL, *z = NULL, *weights = NULL;
    double *sums = NULL, *there = NULL, gram[BLOCKS * BLOCKS], best = 1e9;
    if (gpu->ops->alloc(gpu, BATCH * d * sizeof *x, (void **)&x) ||
        gpu->ops->alloc(gpu, d * sizeof *z, (void **)&z) ||
        gpu->ops->alloc(gpu, 2 * N * sizeof *weights, (void **)&weights) ||
        gpu->ops->alloc(gpu, 2 * BLOCKS * d * sizeof *sums, (void **)&sums) ||
        gpu->ops->alloc(gpu, sizeof gram, (void **)&there) ||
        gpu->ops->fill(gpu, z, d * sizeof *z, 0x3f) ||
        gpu->ops->fill(gpu, weights, 2 * N * sizeof *weights, 0x3f))
        return 1;
    const cr_weighted_blocks all = {.block_samples = N / BLOCKS,
                                    .blocks = BLOCKS,
                                    .functions = 2,
                                    .weights = weights,
                                    .stride = N};
    for (int i = 0; i < ROUNDS; i++) {
        int bad = 0;
        start(w);
        for (uint64_t first = 0; first < N; first += BATCH)
            bad = bad || gpu->ops->draw(gpu, &noise, &(cr_draw){z, z, first, BATCH, x, NULL});
        bad = bad || gpu->ops->fill(gpu, sums, 2 * BLOCKS * d * sizeof *sums, 0) ||
              gpu->ops->replay(gpu, &noise, &all, NULL, sums, NULL);
        for (size_t f = 0; f < 2; f++)
            bad = bad || gpu->ops->gram(gpu, sums + f * d, 2 * d, BLOCKS, d, there) ||
                  gpu->ops->fetch(gpu, gram, there, sizeof gram);
        if (bad) return 1;
        const double t = stop(w);
        best = t < best ? t : best;
    }
    time_row(name, 1e3 * best);
    gpu->ops->free(gpu, x), gpu->ops->free(gpu, z), gpu->ops->free(gpu, weights),
        gpu->ops->free(gpu, sums), gpu->ops->free(gpu, there);
    return 0;
}

static int first_column(void *user, const certreg_batch *b)
{
    (void)user;
    return (int)cudaMemcpy2DAsync(b->y, sizeof(float), b->x, b->inputs * sizeof(float),
                                  sizeof(float), b->rows, cudaMemcpyDeviceToDevice, b->stream);
}

/* The library's time in a whole certificate: the model is a copy. */
static const struct {
    const char *name;
    size_t inputs, batch;
    int32_t statistic, method;
    uint32_t constraints, plan; /* of the question, of the plan */
} asked[] = {
    {"finite_median_256_ms", 784, 256, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, 0},
    {"finite_median_2500_ms", 784, 2500, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, 0},
    {"finite_median_gradient_ms", 784, 2500, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE,
     CERTREG_CONSTRAINTS_ECGM, CERTREG_CONSTRAINTS_ECGM},
    {"asymptotic_huber_ms", 784, 2500, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC,
     CERTREG_CONSTRAINTS_ECGM, CERTREG_CONSTRAINTS_ECGM},
    {"paper_mean_ms", 784, 2500, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER,
     CERTREG_CONSTRAINTS_ECGM, CERTREG_CONSTRAINTS_ECGM},
    {"asymptotic_huber_12288_ms", 12288, 2500, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC,
     CERTREG_CONSTRAINTS_ECGM, CERTREG_CONSTRAINTS_ECGM},
    {"finite_gradient_12288_ms", 12288, 2500, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE,
     CERTREG_CONSTRAINTS_ECGM, CERTREG_CONSTRAINTS_ECGM},
};

static int certificate(certreg_backend *gpu, size_t i)
{
    enum { N = 10000 / BENCH_PART };
    static const float z[12288];
    static const double lo = -30, hi = 30;
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = first_column,
                             .inputs = asked[i].inputs,
                             .outputs = 1,
                             .batch = asked[i].batch,
                             .lo = &lo,
                             .hi = &hi};
    const certreg_plan p = {
        .struct_size = sizeof p, .max_samples = N, .constraints = asked[i].plan};
    const certreg_question q = {
        .struct_size = sizeof q,
        .tolerance = 0.3,
        .statistic = asked[i].statistic,
        .method = asked[i].method,
        .constraints = asked[i].constraints,
        .huber_width = asked[i].statistic == CERTREG_STATISTIC_HUBER ? 0.15 : 0,
        .center = asked[i].statistic == CERTREG_STATISTIC_MEAN ? CERTREG_CENTER_TRUE_MEAN : 0};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    double best = 1e9;
    if (certreg_estimator_create(gpu, &m, &p, &why, &e)) return puts(why.text), 1;
    for (uint64_t k = 0; k < ROUNDS; k++) {
        const double began = seconds();
        if (certreg_estimator_begin(e, z, 0.25, k) || certreg_certify(e, N, &q, 1, &c))
            return puts(certreg_estimator_error(e)->text), 1;
        const double t = seconds() - began;
        best = t < best ? t : best;
    }
    row(asked[i].name, 1e3 * best, 20, 20 / (1e3 * best), 1); /* ms */
    certreg_estimator_destroy(e);
    return 0;
}

int main(int count, char **argument)
{
    enum { N = 10000 / BENCH_PART };
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *gpu = NULL;
    if (certreg_backend_open("cuda", 0, NULL, &why, &gpu))
        return printf("bench_gpu: skipped, %s\n", why.text), 0;
    rows = count > 1 ? fopen(argument[1], "w") : NULL;
    struct cudaDeviceProp device;
    if (cudaGetDeviceProperties(&device, 0)) return 1;
    printf("%s, %d multiprocessors\n", device.name, device.multiProcessorCount);
    if (rows) fprintf(rows, "device,\"%s\",,,\n", device.name);
    deadline w = {.stream = gpu->ops->stream(gpu)};
    cudaEventCreate(&w.from), cudaEventCreate(&w.to);
    int bad = draw_against_writing(gpu, &w, 100000 / BENCH_PART, 784, "draw_1e5_784_GBps") ||
              draw_against_writing(gpu, &w, N, 12288, "draw_1e4_12288_GBps") ||
              replay(gpu, &w, N, 784, "replay_784_ms", "gram_784_ms") ||
              replay(gpu, &w, N, 12288, "replay_12288_ms", "gram_12288_ms") ||
              noise_of_certificate(gpu, &w, 784, "noise_784_ms") ||
              noise_of_certificate(gpu, &w, 12288, "noise_12288_ms");
    for (size_t i = 0; i < sizeof asked / sizeof *asked && !bad; i++) bad = certificate(gpu, i);
    cudaEventDestroy(w.from), cudaEventDestroy(w.to);
    if (rows) fclose(rows);
    certreg_backend_close(gpu);
    return bad;
}
