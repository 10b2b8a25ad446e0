/* Noise against NumPy, one core each, on every path that the processor has: the draw, and all noise
 * work of one certificate, which is the draw, then the replay into the gradient sums of 64 blocks
 * for two functions, and the moments of the outputs. Usage: bench_noise [tables.md] */
#include "bench.h"
#include "backend/backend.h"
#include "backend/cpu.h"
#include <certreg/backend.h>

enum { SAMPLES = 10000, INPUTS = 784, BLOCKS = 64, BATCH = 256, REPEATS = 30 };

typedef struct work {
    certreg_backend *backend;
    cr_noise noise;
    float *z, *step, *x, *outputs, *weights;
    double *sums, moments[4];
} work;

static void draw(work *w)
{
    for (size_t first = 0; first < SAMPLES; first += BATCH) {
        const size_t count = SAMPLES - first < BATCH ? SAMPLES - first : BATCH;
        w->backend->ops->draw(w->backend, &w->noise,
                              &(cr_draw){w->z, w->step, first, count, w->x, NULL});
    }
}

static void moments(work *w, size_t function)
{
    const float *y = w->outputs + function * SAMPLES;
    float *weights = w->weights + function * SAMPLES;
    double mean = 0, variance = 0;
    for (size_t i = 0; i < SAMPLES; i++) mean += (double)y[i] / SAMPLES;
    for (size_t i = 0; i < SAMPLES; i++) {
        weights[i] = (float)((double)y[i] - mean);
        variance += (double)weights[i] * (double)weights[i] / SAMPLES;
    }
    w->moments[2 * function] = mean;
    w->moments[2 * function + 1] = variance;
}

static void replay(work *w)
{
    for (size_t b = 0; b < BLOCKS; b++) {
        const size_t first = SAMPLES * b / BLOCKS, end = SAMPLES * (b + 1) / BLOCKS;
        const cr_weighted_blocks block = {.first = first,
                                          .block_samples = end - first,
                                          .blocks = 1,
                                          .functions = 2,
                                          .weights = w->weights + first,
                                          .stride = SAMPLES};
        w->backend->ops->replay(w->backend, &w->noise, &block, NULL, w->sums + 2 * b * INPUTS,
                                NULL);
    }
}

static void certificate(work *w)
{
    draw(w);
    moments(w, 0);
    moments(w, 1);
    replay(w);
}

/* Thirty runs, or as many as take a second, but three. */
static double best(work *w, void (*task)(work *))
{
    const double begun = bench_now();
    double least = INFINITY;
    for (int i = 0; i < REPEATS && (i < 3 || bench_now() < begun + 1); i++) {
        const double start = bench_now();
        task(w);
        least = fmin(least, bench_now() - start);
    }
    return least;
}

static int peer(double seconds[2])
{
    const char *python = getenv("PYTHON");
    char command[512];
    snprintf(command, sizeof command,
             "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 %s bench/noise_peer.py %d %d %d %d",
             python && *python ? python : "/usr/bin/python3", SAMPLES, INPUTS, BLOCKS, REPEATS);
    FILE *pipe = popen(command, "r");
    if (!pipe) return 0;
    const int got = fscanf(pipe, "%lf %lf", &seconds[0], &seconds[1]);
    return pclose(pipe) == 0 && got == 2;
}

static void report(const char *name, const double ours[2], const double theirs[2])
{
    bench_print("| %s | %.0f | %.1f ms | %.2g | %.1f ms | %.2g |\n", name,
                1e-6 * SAMPLES * INPUTS / ours[0], 1e3 * ours[0], theirs[0] / ours[0],
                1e3 * ours[1], theirs[1] / ours[1]);
}

/* Nanoseconds of one normal, where the path could be run. */
static void report_one(const char *row, int path, double seconds, double theirs, double aim)
{
    const double each = 1e9 / SAMPLES / INPUTS;
    if (seconds > 0)
        bench_print("| %s, %s | %.2f ns | %.1f ns | %.2f ns |\n", row, cr_cpu_path(path)->name,
                    each * seconds, each * theirs, aim);
}

int main(int argc, char **argv)
{
    double ours[CR_CPU_AVX512 + 1][3] = {{0}};
    work w = {.noise = {.seed = 1, .noise_id = 2, .inputs = INPUTS}};
    w.z = calloc(INPUTS, sizeof *w.z), w.step = calloc(INPUTS, sizeof *w.step),
    w.x = calloc(BATCH * INPUTS, sizeof *w.x);
    w.outputs = calloc(2 * SAMPLES, sizeof *w.outputs),
    w.weights = calloc(2 * SAMPLES, sizeof *w.weights);
    w.sums = calloc(2 * BLOCKS * INPUTS, sizeof *w.sums);
    if (!w.z || !w.step || !w.x || !w.outputs || !w.weights || !w.sums) return 1;
    for (size_t j = 0; j < INPUTS; j++) w.z[j] = 0.001f * (float)j, w.step[j] = 0.25f;
    for (size_t i = 0; i < 2 * SAMPLES; i++) w.outputs[i] = (float)(i * 7919 % 10007) / 10007.0f;
    double theirs[2] = {NAN, NAN};
    if (cr_cpu_open(1, NULL, &w.backend)) return 1;
    if (!peer(theirs)) printf("bench_noise: no NumPy to compare with\n");
    bench_open(argc, argv);
    bench_begin("noise", "| | million normals a second | draw | rate / NumPy's | draw, replay, "
                         "block sums | rate / NumPy's |");
    for (int path = CR_CPU_AVX512; path >= CR_CPU_PORTABLE; path--) {
        if (cr_cpu_force(w.backend, cr_cpu_path(path))) continue;
        ours[path][0] = best(&w, draw), ours[path][1] = best(&w, certificate);
        ours[path][2] = best(&w, replay);
        report(cr_cpu_path(path)->name, ours[path], theirs);
    }
    report("NumPy", theirs, theirs);
    bench_end("noise");
    bench_begin("draws", "| | one normal | NumPy, normals only | aim |");
    report_one("[draw] draw", CR_CPU_AVX512, ours[CR_CPU_AVX512][0], theirs[0], 0.75);
    report_one("[draw] draw", CR_CPU_AVX2, ours[CR_CPU_AVX2][0], theirs[0], 1.65);
    report_one("[draw] block sums", CR_CPU_AVX2, ours[CR_CPU_AVX2][2], theirs[0], 1.5);
    report_one("[draw_portable] draw", CR_CPU_PORTABLE, ours[CR_CPU_PORTABLE][0], theirs[0], 14);
    bench_end("draws");
    certreg_backend_close(w.backend);
    bench_close();
    free(w.z), free(w.step), free(w.x), free(w.outputs), free(w.weights), free(w.sums);
    return 0;
}
