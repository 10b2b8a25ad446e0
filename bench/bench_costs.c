/* What each kind of answer costs, side by side: 10,000 samples of 784 features; for each question
 * the least time of five. Then memory, and what users of small models feel, beside NumPy
 * (small_peer.py). Usage: bench_costs [tables.md] */
#define CERTREG_EXPERIMENTAL 1
#include "bench.h"
#include <certreg/backend.h>
#include <certreg/denoiser.h>
#include <certreg/interval.h>
#include <certreg/question.h>
#include <certreg/sampling.h>

enum { INPUTS = 784, SAMPLES = 10000, BATCH = 256, REPEATS = 5 };
static const double sigma = 0.25;

typedef struct kind {
    const char *name;
    int32_t statistic, method;
    uint32_t constraints;
} kind;

#define KIND(name, statistic, method, constraints)                                \
    {                                                                             \
        name, CERTREG_STATISTIC_##statistic, CERTREG_METHOD_##method, constraints \
    }
static const kind kinds[] = {
    KIND("median, finite-sample", MEDIAN, FINITE, CERTREG_CONSTRAINTS_ECM),
    KIND("Huber, finite-sample", HUBER, FINITE, CERTREG_CONSTRAINTS_ECM),
    KIND("mean, finite-sample", MEAN, FINITE, CERTREG_CONSTRAINTS_ECM),
    KIND("mean, anytime", MEAN, ANYTIME, CERTREG_CONSTRAINTS_ECM),
    KIND("median, finite-sample, gradient", MEDIAN, FINITE, CERTREG_CONSTRAINTS_ECGM),
    KIND("Huber, finite-sample, gradient", HUBER, FINITE, CERTREG_CONSTRAINTS_ECGM),
    KIND("mean, finite-sample, gradient", MEAN, FINITE, CERTREG_CONSTRAINTS_ECGM),
    KIND("median, asymptotic, gradient", MEDIAN, ASYMPTOTIC, CERTREG_CONSTRAINTS_ECGM),
    KIND("Huber, asymptotic, gradient", HUBER, ASYMPTOTIC, CERTREG_CONSTRAINTS_ECGM),
    KIND("mean, asymptotic, gradient", MEAN, ASYMPTOTIC, CERTREG_CONSTRAINTS_ECGM),
    KIND("paper (C)", MEAN, PAPER, CERTREG_CONSTRAINTS_C),
    KIND("paper (E,C,G)+M", MEAN, PAPER, CERTREG_CONSTRAINTS_ECGM),
};

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        b->y[i] = fmaxf(-3, fminf(3, x[0] + x[1] - x[2] + x[3] * x[3]));
    }
    return 0;
}

static certreg_estimator *estimator(certreg_backend *backend, size_t inputs, size_t batch,
                                    uint32_t constraints, size_t samples)
{
    static const double lo = -3, hi = 3;
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = model,
                             .inputs = inputs,
                             .outputs = 1,
                             .batch = batch,
                             .lo = &lo,
                             .hi = &hi};
    const certreg_plan p = {
        .struct_size = sizeof p, .constraints = constraints, .max_samples = samples, .seed = 1};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (!certreg_estimator_create(backend, &m, &p, &why, &e)) return e;
    fprintf(stderr, "%s\n", why.text);
    exit(1);
}

/* Seconds of the answer to a kind of question. */
static double answer(certreg_estimator *e, const kind *k)
{
    const int paper = k->method == CERTREG_METHOD_PAPER;
    const certreg_question q = {.struct_size = sizeof q,
                                .statistic = k->statistic,
                                .method = k->method,
                                .constraints = k->constraints,
                                .center = paper ? CERTREG_CENTER_TRUE_MEAN
                                                : CERTREG_CENTER_PREDICTION,
                                .huber_width = k->statistic == CERTREG_STATISTIC_HUBER ? 0.5 : 0,
                                .tolerance = 1};
    certreg_certificate c = {.struct_size = sizeof c};
    const double start = bench_now();
    bench_must(e, certreg_certify(e, 0, &q, 1, &c));
    const double seconds = bench_now() - start;
    if (!(c.radius > 0)) fprintf(stderr, "bench_costs: %s abstained\n", k->name);
    return seconds;
}

/* The record; returns the library's seconds. */
static double sample(certreg_estimator *e, const float *z, uint64_t noise_id)
{
    certreg_run run = {.struct_size = sizeof run};
    bench_must(e, certreg_estimator_begin(e, z, sigma, noise_id));
    bench_must(e, certreg_estimator_sample(e, 0, SAMPLES));
    bench_must(e, certreg_estimator_info(e, &run));
    return run.library_seconds;
}

/* The least time of five answers about records of their own, which have nothing to keep; or of as
 * many as take a second. */
static double least_of(certreg_estimator *e, const float *z, const kind *k)
{
    double least = INFINITY, spent = 0;
    for (uint64_t i = 0; i < REPEATS && spent < 1; i++) {
        sample(e, z, i);
        const double seconds = answer(e, k);
        least = fmin(least, seconds), spent += seconds;
    }
    return least;
}

static void report(const char *name, double seconds)
{
    const int long_ = seconds >= 1;
    bench_print("| %s | %.3g %s |\n", name, long_ ? seconds : 1e3 * seconds, long_ ? "s" : "ms");
}

/* Examples that vary as much in each of so many directions, next to which the rest is little. */
enum { DIRECTIONS = 128 };
static float directions[DIRECTIONS * INPUTS];

static float sign(uint64_t i)
{
    i = (i ^ (i >> 31)) * UINT64_C(0x7fb5d329728ea185);
    i = (i ^ (i >> 27)) * UINT64_C(0x81dadef4bc2dd44d);
    return i >> 63 ? 1.0f : -1.0f;
}

static int read_examples(void *user, uint64_t first, size_t count, float *x)
{
    (void)user;
    memset(x, 0, count * INPUTS * sizeof *x);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < DIRECTIONS; k++)
            for (size_t j = 0; j < INPUTS; j++)
                x[i * INPUTS + j] +=
                    0.05f * sign(~((first + i) * DIRECTIONS + k)) * directions[k * INPUTS + j];
    return 0;
}

/* Seconds for all samples. */
static double denoise(void)
{
    enum { EXAMPLES = 1000 };
    const certreg_denoiser_plan plan = {.struct_size = sizeof plan,
                                        .inputs = INPUTS,
                                        .rows = EXAMPLES,
                                        .read = read_examples,
                                        .sigma = sigma,
                                        .components = DIRECTIONS};
    static float x[BATCH * INPUTS], y[BATCH * INPUTS];
    certreg_error why = {.struct_size = sizeof why};
    certreg_denoiser_facts facts = {.struct_size = sizeof facts};
    certreg_denoiser *d = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < DIRECTIONS * INPUTS; i++) directions[i] = sign(i + 1);
    if (certreg_denoiser_create(&plan, &why, &d) || certreg_denoiser_info(d, &facts) ||
        facts.components != DIRECTIONS) {
        fprintf(stderr, "denoiser: %zu components; %s\n", facts.components, why.text);
        exit(1);
    }
    for (int i = 0; i < REPEATS; i++) {
        const double start = bench_now();
        for (size_t done = 0; done < SAMPLES; done += BATCH)
            certreg_denoiser_apply(d, x, done + BATCH > SAMPLES ? SAMPLES - done : BATCH, y);
        least = fmin(least, bench_now() - start);
    }
    certreg_denoiser_destroy(d);
    return least;
}

static void measure_questions(void)
{
    static const float z[INPUTS];
    certreg_estimator *e = estimator(NULL, INPUTS, BATCH, CERTREG_CONSTRAINTS_ECGM, SAMPLES);
    double least = INFINITY;
    bench_begin("costs", "| | time |");
    for (uint64_t i = 0; i < REPEATS; i++) least = fmin(least, sample(e, z, i));
    report("sampling, without the model", least);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        report(kinds[i].name, least_of(e, z, kinds + i));
    report("a denoiser of 128 components in front", denoise());
    bench_end("costs");
    certreg_estimator_destroy(e);
}

/* ---- small models: time of the processor */
enum { FEW_INPUTS = 16, POINT_SAMPLES = 7, MOST_POINTS = 1000000 };
static const float origin[FEW_INPUTS];

static double cpu_now(void)
{
    return bench_seconds(CLOCK_THREAD_CPUTIME_ID);
}

/* The least seconds of a certificate, each at another noise level, so that nothing is kept from the
 * one before. */
static double certificate(size_t samples, certreg_question q, int repeats)
{
    certreg_estimator *e =
        estimator(NULL, FEW_INPUTS, samples < BATCH ? samples : BATCH, 0, samples);
    certreg_certificate c = {.struct_size = sizeof c};
    double least = INFINITY;
    q.struct_size = sizeof q, q.tolerance = 1;
    for (int i = 0; i < repeats; i++) {
        const double start = cpu_now();
        bench_must(e, certreg_estimator_begin(e, origin, sigma * (1 + 1e-6 * i), (uint64_t)i));
        bench_must(e, certreg_certify(e, samples, &q, 1, &c));
        least = fmin(least, cpu_now() - start);
    }
    certreg_estimator_destroy(e);
    return least;
}

/* The least seconds of a query. All points but the first are made up: no query reads scores. */
static double query(uint64_t points)
{
    static double scores[MOST_POINTS * POINT_SAMPLES];
    double lo[POINT_SAMPLES], hi[POINT_SAMPLES], least = INFINITY;
    const double truth = 0.1;
    certreg_estimator *e = estimator(NULL, FEW_INPUTS, POINT_SAMPLES, 0, POINT_SAMPLES);
    certreg_calibration k = {.struct_size = sizeof k, .capacity = MOST_POINTS, .scores = scores};
    certreg_coverage coverage = {.struct_size = sizeof coverage, .radius = 0.1};
    certreg_interval set = {.struct_size = sizeof set};
    certreg_rule rule = {.struct_size = sizeof rule};
    for (uint64_t i = 0; i < 200; i++) {
        bench_must(e, certreg_estimator_begin(e, origin, sigma, i));
        bench_must(e, certreg_estimator_sample(e, 0, POINT_SAMPLES));
        if (i == 0) {
            bench_must(e, certreg_estimator_calibrate(e, &k, &truth));
            k.count = points, coverage.samples = k.samples;
            for (uint64_t l = k.samples; l < points * k.samples; l++)
                scores[l] = scores[l % k.samples] * (double)(l % 97);
            if (certreg_interval_rule(&coverage, &k, NULL, &rule)) exit(1);
        }
        const double start = cpu_now();
        if (i > 0)
            bench_must(e, certreg_estimator_interval(e, &k, &rule, 0, lo, hi, POINT_SAMPLES, &set));
        if (i > 0) least = fmin(least, cpu_now() - start);
    }
    certreg_estimator_destroy(e);
    return least;
}

static void measure_small(void)
{
    const size_t samples[] = {64, 256, 1000, 10000}, counts[] = {10000, 100000, 100000};
    const double aims[] = {10, 30, 60, 400}, of_looks[] = {5, 68, 77};
    const certreg_target target = {.struct_size = sizeof target, .radius = 0.56};
    const certreg_question median = {.target = NULL},
                           huber = {.statistic = CERTREG_STATISTIC_HUBER, .huber_width = 0.5};
    certreg_question looks = {.target = &target};
    const char *python = getenv("PYTHON");
    char command[256];
    snprintf(command, sizeof command, "%s bench/small_peer.py 64 256 1000 10000",
             python && *python ? python : "/usr/bin/python3");
    FILE *peer = popen(command, "r");
    bench_begin("small", "| | time | aim | NumPy |");
    for (int i = 0; i < 4; i++) {
        double theirs = NAN;
        if (!peer || fscanf(peer, "%lf", &theirs) != 1) fprintf(stderr, "bench_costs: no NumPy\n");
        bench_print("| [median_small] %zu samples | %.3g µs | %g µs | %.3g µs |\n", samples[i],
                    1e6 * certificate(samples[i], median, 300), aims[i], theirs);
    }
    if (peer) pclose(peer);
    bench_print("| [huber_finite] 10,000 samples | %.3g ms | 6 ms | |\n",
                1e3 * certificate(10000, huber, 30));
    for (int i = 0; i < 3; i++) {
        looks.method = i < 2 ? CERTREG_METHOD_FINITE : CERTREG_METHOD_ANYTIME;
        bench_print("| [target_looks] %s, %zu samples | %.3g ms | %g ms | |\n",
                    i < 2 ? "finite" : "anytime", counts[i], 1e3 * certificate(counts[i], looks, 9),
                    of_looks[i]);
    }
    for (uint64_t points = 10000; points <= MOST_POINTS; points *= 10)
        bench_print("| [interval_query] %llu points | %.3g µs | 30 µs | |\n",
                    (unsigned long long)points, 1e6 * query(points));
    bench_end("small");
}

/* ---- memory */
static double megabytes(size_t inputs, size_t batch, uint32_t constraints)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = model, .inputs = inputs, .outputs = 1, .batch = batch};
    const certreg_plan p = {
        .struct_size = sizeof p, .constraints = constraints, .max_samples = SAMPLES};
    size_t bytes;
    if (certreg_estimator_size(NULL, &m, &p, &bytes, NULL)) exit(1);
    return 1e-6 * (double)bytes;
}

static void measure_memory(void)
{
    static const size_t sizes[][2] = {{784, 256}, {150528, 64}};
    bench_begin("memory", "| inputs | batch | default plan | plan with the gradient |");
    for (size_t i = 0; i < 2; i++)
        bench_print("| %zu | %zu | %.2f MB | %.2f MB |\n", sizes[i][0], sizes[i][1],
                    megabytes(sizes[i][0], sizes[i][1], 0),
                    megabytes(sizes[i][0], sizes[i][1], CERTREG_CONSTRAINTS_ECGM));
    bench_end("memory");
}

static double create_seconds(uint32_t constraints)
{
    double least = INFINITY;
    for (int i = 0; i < 3 * REPEATS; i++) {
        const double start = bench_now();
        certreg_estimator *e = estimator(NULL, 150528, 64, constraints, SAMPLES);
        least = fmin(least, bench_now() - start);
        certreg_estimator_destroy(e);
    }
    return least;
}

/* CPU time of two threads in that of one, which take turns. */
static double threads_ratio(void)
{
    enum { WIDE = 128 };
    static const float z[WIDE];
    const kind k = KIND("", MEDIAN, FINITE, CERTREG_CONSTRAINTS_ECGM);
    certreg_backend *backends[2] = {NULL};
    certreg_estimator *e[2];
    double least[2] = {INFINITY, INFINITY};
    for (int t = 0; t < 2; t++) {
        if (certreg_backend_open_cpu(t + 1, NULL, &backends[t])) exit(1);
        e[t] = estimator(backends[t], WIDE, BATCH, k.constraints, SAMPLES);
    }
    for (uint64_t i = 0; i < 10 * REPEATS; i++)
        for (int t = 0; t < 2; t++) {
            const double start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
            sample(e[t], z, i);
            answer(e[t], &k);
            least[t] = fmin(least[t], bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
        }
    for (int t = 0; t < 2; t++) certreg_estimator_destroy(e[t]), certreg_backend_close(backends[t]);
    return least[1] / least[0];
}

static void measure_handles(void)
{
    bench_begin("handles", "| | measured | aim |");
    bench_print("| [create_large] an estimator of 150,528 inputs | %.0f ms | 25 ms |\n",
                1e3 * create_seconds(0));
    bench_print("| [create_large] the same, with the gradient | %.0f ms | |\n",
                1e3 * create_seconds(CERTREG_CONSTRAINTS_ECGM));
    bench_print("| [threads] CPU time of two threads in that of one, 128 inputs | %.2f | 1.02 |\n",
                threads_ratio());
    bench_end("handles");
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    measure_small();
    measure_questions();
    measure_memory();
    measure_handles();
    bench_close();
    return 0;
}
