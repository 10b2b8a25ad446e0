/* Noise against NumPy, one core each: normals per second, and all noise work of one certificate:
 * the draw, then the replay into the gradient sums of 64 blocks for two functions. Both include the
 * moments of the outputs. Usage: bench_noise [results.csv] */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "backend/backend.h"
#include "backend/cpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLES = 10000, INPUTS = 784, BLOCKS = 64, BATCH = 256, REPEATS = 30 };

typedef struct work {
    certreg_backend *backend;
    cr_noise noise;
    float *z, *step, *x, *outputs, *weights;
    double *sums, moments[4];
} work;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void draw(work *w)
{
    for (size_t first = 0; first < SAMPLES; first += BATCH) {
        const size_t count = SAMPLES - first < BATCH ? SAMPLES - first : BATCH;
        w->backend->ops->draw(w->backend, &w->noise, w->z, w->step, first, count, w->x);
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

static void certificate(work *w)
{
    draw(w);
    moments(w, 0);
    moments(w, 1);
    for (size_t b = 0; b < BLOCKS; b++) {
        const size_t first = SAMPLES * b / BLOCKS, end = SAMPLES * (b + 1) / BLOCKS;
        w->backend->ops->replay(w->backend, &w->noise, first, end - first, 2, w->weights + first,
                                SAMPLES, w->sums + 2 * b * INPUTS);
    }
}

static double best(work *w, void (*task)(work *))
{
    double least = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        const double start = now();
        task(w);
        const double took = now() - start;
        if (took < least) least = took;
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

static void report(FILE *csv, const char *name, double ours, double theirs, double target)
{
    const double ratio = theirs > 0 ? theirs / ours : 0;
    printf("%-24s ours %.3f ms (%.0f million normals/s), NumPy %.3f ms: %.1f times (target %.0f)\n",
           name, 1e3 * ours, 1e-6 * SAMPLES * INPUTS / ours, 1e3 * theirs, ratio, target);
    if (csv) fprintf(csv, "%s,%.6g,%.6g,%.3f,%g\n", name, ours, theirs, ratio, target);
}

int main(int argc, char **argv)
{
    work w = {.backend = cr_backend_default(),
              .noise = {.seed = 1, .noise_id = 2, .inputs = INPUTS}};
    w.z = calloc(INPUTS, sizeof *w.z), w.step = calloc(INPUTS, sizeof *w.step),
    w.x = calloc(BATCH * INPUTS, sizeof *w.x);
    w.outputs = calloc(2 * SAMPLES, sizeof *w.outputs),
    w.weights = calloc(2 * SAMPLES, sizeof *w.weights);
    w.sums = calloc(2 * BLOCKS * INPUTS, sizeof *w.sums);
    if (!w.z || !w.step || !w.x || !w.outputs || !w.weights || !w.sums) return 1;
    for (size_t j = 0; j < INPUTS; j++) w.z[j] = 0.001f * (float)j, w.step[j] = 0.25f;
    for (size_t i = 0; i < 2 * SAMPLES; i++) w.outputs[i] = (float)(i * 7919 % 10007) / 10007.0f;
    double theirs[2] = {0, 0};
    if (!peer(theirs)) printf("bench_noise: no NumPy to compare with\n");
    FILE *csv = argc > 1 ? fopen(argv[1], "a") : NULL;
    printf("instruction set: %s\n", cr_cpu_best()->name);
    report(csv, "noise_draw", best(&w, draw), theirs[0], 5);
    report(csv, "noise_certificate", best(&w, certificate), theirs[1], 4);
    if (csv) fclose(csv);
    free(w.z), free(w.step), free(w.x), free(w.outputs), free(w.weights), free(w.sums);
    return 0;
}
