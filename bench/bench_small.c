/* What small models feel: whole certificates of few features, looks for a target, and a query of a
 * prediction interval, each the least of some. Peer: small_peer.py. Usage: bench_small [tables.md]
 */
#define CERTREG_EXPERIMENTAL 1
#include "bench.h"
#include <certreg/interval.h>
#include <certreg/question.h>
#include <certreg/sampling.h>

enum { INPUTS = 16, POINT_SAMPLES = 5, MOST_POINTS = 1000000 };
static const float z[INPUTS];
static const double sigma = 0.25;

static double cpu_now(void)
{
    return bench_seconds(CLOCK_THREAD_CPUTIME_ID);
}

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        b->y[i] = fmaxf(-3, fminf(3, x[0] + x[1] - x[2] + x[3] * x[3]));
    }
    return 0;
}

static void must(certreg_status status, const char *why)
{
    if (!status) return;
    fprintf(stderr, "bench_small: %s\n", why);
    exit(1);
}

static certreg_estimator *estimator(size_t samples, size_t pilot)
{
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = model,
                             .inputs = INPUTS,
                             .outputs = 1,
                             .batch = samples < 256 ? samples : 256};
    const certreg_plan p = {
        .struct_size = sizeof p, .max_samples = samples, .pilot = pilot, .seed = 1};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    must(certreg_estimator_create(NULL, &m, &p, &why, &e), why.text);
    return e;
}

/* The least seconds of a certificate, each of another noise and noise level, so that nothing is
 * kept from the one before. */
static double certificate(size_t samples, certreg_question q, int repeats)
{
    certreg_estimator *e = estimator(samples, 0);
    certreg_certificate c = {.struct_size = sizeof c};
    double least = INFINITY;
    q.struct_size = sizeof q, q.tolerance = 1;
    for (int i = 0; i < repeats; i++) {
        const double start = cpu_now();
        must(certreg_estimator_begin(e, z, sigma * (1 + 1e-6 * i), (uint64_t)i),
             certreg_estimator_error(e)->text);
        must(certreg_certify(e, samples, &q, 1, &c), certreg_estimator_error(e)->text);
        least = fmin(least, cpu_now() - start);
    }
    certreg_estimator_destroy(e);
    return least;
}

/* The least seconds of a query. Scores other than the first point's are made up: no query reads
 * them. */
static double query(uint64_t points)
{
    static double scores[MOST_POINTS * POINT_SAMPLES];
    double lo[POINT_SAMPLES], hi[POINT_SAMPLES], least = INFINITY;
    const double truth = 0.1;
    certreg_estimator *e = estimator(POINT_SAMPLES, SIZE_MAX);
    certreg_calibration k = {.struct_size = sizeof k, .capacity = MOST_POINTS, .scores = scores};
    const certreg_coverage coverage = {
        .struct_size = sizeof coverage, .radius = 0.1, .samples = POINT_SAMPLES};
    certreg_interval set = {.struct_size = sizeof set};
    certreg_rule rule = {.struct_size = sizeof rule};
    certreg_error why = {.struct_size = sizeof why};
    for (uint64_t i = 0; i < 200; i++) {
        must(certreg_estimator_begin(e, z, sigma, i), certreg_estimator_error(e)->text);
        must(certreg_estimator_sample(e, 0, POINT_SAMPLES), certreg_estimator_error(e)->text);
        if (!i) {
            must(certreg_estimator_calibrate(e, &k, &truth), certreg_estimator_error(e)->text);
            for (k.count = 1; k.count < points; k.count++)
                for (size_t l = 0; l < POINT_SAMPLES; l++)
                    scores[k.count * POINT_SAMPLES + l] = scores[l] * (double)(k.count % 97);
            must(certreg_interval_rule(&coverage, &k, &why, &rule), why.text);
            continue;
        }
        const double start = cpu_now();
        must(certreg_estimator_interval(e, &k, &rule, 0, lo, hi, POINT_SAMPLES, &set),
             certreg_estimator_error(e)->text);
        least = fmin(least, cpu_now() - start);
    }
    certreg_estimator_destroy(e);
    return least;
}

static void ask_peer(double microseconds[4])
{
    const char *python = getenv("PYTHON");
    char command[256];
    snprintf(command, sizeof command, "%s bench/small_peer.py 64 256 1000 10000",
             python && *python ? python : "/usr/bin/python3");
    FILE *pipe = popen(command, "r");
    for (int i = 0; i < 4; i++)
        if (!pipe || fscanf(pipe, "%lf", microseconds + i) != 1) microseconds[i] = NAN;
    if (pipe) pclose(pipe);
}

int main(int argc, char **argv)
{
    const size_t samples[] = {64, 256, 1000, 10000}, counts[] = {10000, 100000, 100000};
    const double aims[] = {10, 30, 60, 400}, of_looks[] = {5, 68, 77};
    const certreg_target target = {.struct_size = sizeof target, .radius = 0.56};
    const certreg_question huber = {.statistic = CERTREG_STATISTIC_HUBER, .huber_width = 0.5};
    double peer[4];
    bench_open(argc, argv);
    ask_peer(peer);
    bench_begin("small", "| | time | aim | NumPy |");
    for (int i = 0; i < 4; i++)
        bench_print("| median_small: %zu samples | %.3g µs | %g µs | %.3g µs |\n", samples[i],
                    1e6 * certificate(samples[i], (certreg_question){.output = 0}, 300), aims[i],
                    peer[i]);
    bench_print("| huber_finite: 10,000 samples | %.3g ms | 6 ms | |\n",
                1e3 * certificate(10000, huber, 30));
    for (int i = 0; i < 3; i++)
        bench_print("| target_looks: %s, %zu samples | %.3g ms | %g ms | |\n",
                    i < 2 ? "finite" : "anytime", counts[i],
                    1e3 * certificate(counts[i],
                                      (certreg_question){.method = i < 2 ? CERTREG_METHOD_FINITE
                                                                         : CERTREG_METHOD_ANYTIME,
                                                         .target = &target},
                                      9),
                    of_looks[i]);
    for (uint64_t points = 10000; points <= MOST_POINTS; points *= 10)
        bench_print("| interval_query: %llu points | %.3g µs | 30 µs | |\n",
                    (unsigned long long)points, 1e6 * query(points));
    bench_end("small");
    bench_close();
    return 0;
}
