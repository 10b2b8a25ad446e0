/* Control loops with a deadline of 5 ms and a model that takes almost no time, so that the library
 * has all of it. How late are certificates, from how many samples, and how many ticks have none?
 * One core, which should be idle. Usage: bench_deadline [results.csv [ticks]] */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "certreg/certreg.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STATE = 16, BATCH = 64, CAPACITY = 100000, MOST = 100000 };
static const double deadline = 0.005, allowed = 0.0055;

typedef struct loop {
    const char *name;
    int32_t statistic, method;
    uint32_t constraints;
    int32_t kind;
} loop;

static const loop loops[] = {
    {"median", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, CERTREG_OUTPUT_REAL},
    {"median_gradient", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC, 0,
     CERTREG_OUTPUT_REAL},
    {"huber_finite", CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0, CERTREG_OUTPUT_REAL},
    {"huber_asymptotic", CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 0,
     CERTREG_OUTPUT_REAL},
    {"mean_finite", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, 0, CERTREG_OUTPUT_REAL},
    {"mean_asymptotic", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, 0, CERTREG_OUTPUT_REAL},
    {"mean_anytime", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ANYTIME, 0, CERTREG_OUTPUT_REAL},
    {"circular_finite", CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_FINITE, 0,
     CERTREG_OUTPUT_ANGLE},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int policy(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        const float u = 0.4f * x[0] - 0.25f * x[1] + 0.1f * x[2] * x[3];
        b->y[i] = u < -3 ? -3 : u > 3 ? 3 : u;
    }
    return 0;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct result {
    double p50, p99, most; /* seconds from the beginning of a tick to its answer */
    double samples;        /* mean */
    int empty, abstained;  /* ticks without samples; without a radius */
} result;

static result run(certreg_estimator *e, const loop *l, int ticks)
{
    static double times[MOST];
    result r = {0};
    double prediction = 0.4;
    const certreg_question q = {.struct_size = sizeof q,
                                .statistic = l->statistic,
                                .method = l->method,
                                .constraints = l->constraints,
                                .tolerance = 0.3,
                                .huber_width = l->statistic == CERTREG_STATISTIC_HUBER ? 0.15 : 0,
                                .prediction = &prediction};
    for (int i = 0; i < ticks; i++) {
        certreg_certificate c = {.struct_size = sizeof c};
        const float z[STATE] = {1, 0.5f * sinf(0.01f * (float)i)};
        const double start = now();
        certreg_estimator_set_deadline(e, deadline);
        if (certreg_estimator_begin(e, z, 0.05, (uint64_t)i) ||
            certreg_certify(e, CAPACITY, &q, 1, &c))
            exit(1);
        times[i] = now() - start;
        r.samples += (double)c.samples / ticks;
        r.empty += c.samples == 0;
        r.abstained += !(c.radius > 0);
        prediction = c.estimate;
    }
    qsort(times, (size_t)ticks, sizeof *times, ascending);
    r.p50 = times[ticks / 2], r.p99 = times[(size_t)ticks * 99 / 100], r.most = times[ticks - 1];
    return r;
}

static int measure(const loop *l, int ticks, FILE *csv)
{
    const double lo = -3, hi = 3;
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = policy,
                             .inputs = STATE,
                             .outputs = 1,
                             .batch = BATCH,
                             .kind = &l->kind,
                             .lo = &lo,
                             .hi = &hi};
    const certreg_plan p = {.struct_size = sizeof p,
                            .constraints = CERTREG_CONSTRAINTS_ECGM,
                            .max_samples = CAPACITY,
                            .pilot = SIZE_MAX};
    certreg_estimator *e;
    if (certreg_estimator_create(NULL, &m, &p, NULL, &e)) return 1;
    const result r = run(e, l, ticks);
    printf("%-18s p50 %.3f ms, p99 %.3f, most %.3f; %.0f samples; %d ticks empty, %d abstained\n",
           l->name, 1e3 * r.p50, 1e3 * r.p99, 1e3 * r.most, r.samples, r.empty, r.abstained);
    if (csv)
        fprintf(csv, "deadline_%s_p99,%.6g,%.6g,%.3f,1\n", l->name, r.p99, allowed,
                allowed / r.p99);
    certreg_estimator_destroy(e);
    return 0;
}

int main(int argc, char **argv)
{
    FILE *csv = argc > 1 ? fopen(argv[1], "a") : NULL;
    const int ticks = argc > 2 ? atoi(argv[2]) : 10000;

    if (ticks < 1 || ticks > MOST) return 1;
    int failed = 0;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        failed |= measure(loops + i, ticks, csv);

    if (csv) fclose(csv);
    return failed;
}
