/* Control loops with a deadline of 5 ms and a model that takes almost no time, so that the library
 * has all of it. How late are certificates, from how many samples, and how many ticks have none?
 * One core, which should be idle. Usage: bench_deadline [tables.md [ticks]] */
#include "bench.h"
#include "certreg/certreg.h"
#include <certreg/sampling.h>

enum { STATE = 16, BATCH = 64, CAPACITY = 100000, MOST = 100000 };
static const double deadline = 0.005;

typedef struct loop {
    const char *name;
    int32_t statistic, method;
    uint32_t constraints;
    int32_t kind;
} loop;

static const loop loops[] = {
    {"median, finite-sample", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0,
     CERTREG_OUTPUT_REAL},
    {"median, asymptotic, gradient", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC, 0,
     CERTREG_OUTPUT_REAL},
    {"Huber, finite-sample", CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0,
     CERTREG_OUTPUT_REAL},
    {"Huber, asymptotic, gradient", CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 0,
     CERTREG_OUTPUT_REAL},
    {"mean, finite-sample", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, 0, CERTREG_OUTPUT_REAL},
    {"mean, asymptotic, gradient", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, 0,
     CERTREG_OUTPUT_REAL},
    {"mean, anytime", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ANYTIME, 0, CERTREG_OUTPUT_REAL},
    {"circular mean, finite-sample", CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_FINITE, 0,
     CERTREG_OUTPUT_ANGLE},
};

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
        const double start = bench_now();
        certreg_estimator_set_deadline(e, deadline);
        if (certreg_estimator_begin(e, z, 0.05, (uint64_t)i) ||
            certreg_certify(e, CAPACITY, &q, 1, &c))
            exit(1);
        times[i] = bench_now() - start;
        r.samples += (double)c.samples / ticks;
        r.empty += c.samples == 0;
        r.abstained += !(c.radius > 0);
        prediction = c.estimate;
    }
    qsort(times, (size_t)ticks, sizeof *times, bench_ascending);
    r.p50 = times[ticks / 2], r.p99 = times[(size_t)ticks * 99 / 100], r.most = times[ticks - 1];
    return r;
}

static int measure(const loop *l, int ticks)
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
    bench_print("| %s | %.2f ms | %.2f ms | %.2f ms | %.0f | %d | %d |\n", l->name, 1e3 * r.p50,
                1e3 * r.p99, 1e3 * r.most, r.samples, r.empty, r.abstained);
    certreg_estimator_destroy(e);
    return 0;
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    const int ticks = argc > 2 ? atoi(argv[2]) : 2000;

    if (ticks < 1 || ticks > MOST) return 1;
    int failed = 0;
    bench_begin("deadlines",
                "| | median | 99% | max | samples | ticks without samples | abstained |");
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) failed |= measure(loops + i, ticks);
    bench_end("deadlines");
    bench_close();
    return failed;
}
