/* What the library's answers cost: each kind of question, in the time of drawing the noise; small
 * models, beside NumPy (small_peer.py); memory; and whole certificates of the demo's network. Run
 * it from the repository root. Usage: bench_costs [tables.md] */
#define CERTREG_EXPERIMENTAL 1
#include "bench.h"
#include <certreg/attack.h>
#include <certreg/question.h>
#include <certreg/sampling.h>

#include "../examples/engines/engine.h"

enum { INPUTS = 784, SAMPLES = 10000, BATCH = 256, OUTPUTS = 100, REPEATS = 5 };
static const double sigma = 0.25;
static float zeros[1000000];

#define KIND(name, statistic, method, constraints)                    \
    {                                                                 \
        name, CERTREG_STATISTIC_##statistic, CERTREG_METHOD_##method, \
            CERTREG_CONSTRAINTS_##constraints                         \
    }
static const struct kind {
    const char *name;
    int32_t statistic, method;
    uint32_t constraints;
} kinds[] = {
    KIND("median, finite-sample", MEDIAN, FINITE, ECM),
    KIND("Huber, finite-sample", HUBER, FINITE, ECM),
    KIND("mean, finite-sample", MEAN, FINITE, ECM),
    KIND("mean, anytime", MEAN, ANYTIME, ECM),
    KIND("median, finite-sample, gradient", MEDIAN, FINITE, ECGM),
    KIND("Huber, finite-sample, gradient", HUBER, FINITE, ECGM),
    KIND("mean, finite-sample, gradient", MEAN, FINITE, ECGM),
    KIND("median, asymptotic, gradient", MEDIAN, ASYMPTOTIC, ECGM),
    KIND("Huber, asymptotic, gradient", HUBER, ASYMPTOTIC, ECGM),
    KIND("mean, asymptotic, gradient", MEAN, ASYMPTOTIC, ECGM),
    KIND("paper (C)", MEAN, PAPER, C),
    KIND("paper (E,C,G)+M", MEAN, PAPER, ECGM),
};
enum { KINDS = sizeof kinds / sizeof *kinds, GRADIENT = 6, ASYMPTOTIC = 9 }; /* of the mean */

static certreg_question question_of(size_t kind, double tolerance)
{
    const struct kind *k = kinds + kind;
    return (certreg_question){.struct_size = sizeof(certreg_question),
                              .statistic = k->statistic,
                              .method = k->method,
                              .constraints = k->constraints,
                              .center = k->method == CERTREG_METHOD_PAPER
                                            ? CERTREG_CENTER_TRUE_MEAN
                                            : CERTREG_CENTER_PREDICTION,
                              .huber_width = k->statistic == CERTREG_STATISTIC_HUBER ? 0.5 : 0,
                              .tolerance = tolerance};
}

/* Outputs that are alike but for the place of a feature. */
static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            const float *x = b->x + i * b->inputs, y = x[k] + x[1] - x[2] + x[3] * x[3];
            b->y[i * b->columns + k] = fmaxf(-3, fminf(3, y));
        }
    return 0;
}

static certreg_estimator *estimator(size_t inputs, size_t outputs, size_t batch,
                                    uint32_t constraints, size_t samples)
{
    static double lo[OUTPUTS], hi[OUTPUTS];
    for (size_t k = 0; k < OUTPUTS; k++) lo[k] = -3, hi[k] = 3;
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = model,
                             .inputs = inputs,
                             .outputs = outputs,
                             .batch = batch,
                             .lo = lo,
                             .hi = hi};
    const certreg_plan p = {
        .struct_size = sizeof p, .constraints = constraints, .max_samples = samples, .seed = 1};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (!certreg_estimator_create(NULL, &m, &p, &why, &e)) return e;
    fprintf(stderr, "%s\n", why.text);
    exit(1);
}

static double cpu_now(void)
{
    return bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- questions: seconds of a draw, and of the answer that follows it. The model's time, which is
 * next to nothing, counts as drawing. */
typedef struct spent {
    double draw, answer;
} spent;

static double answer(certreg_estimator *e, const certreg_question *q, size_t count)
{
    static certreg_certificate c[OUTPUTS];
    for (size_t i = 0; i < count; i++) c[i] = (certreg_certificate){.struct_size = sizeof c[i]};
    const double start = cpu_now();
    bench_must(e, certreg_certify(e, 0, q, count, c));
    return cpu_now() - start;
}

/* The least of records of their own, which have nothing to keep. */
static spent measure(certreg_estimator *e, size_t samples, const certreg_question *q, size_t count,
                     int repeats)
{
    spent least = {INFINITY, INFINITY};
    for (int i = 0; i < repeats; i++) {
        bench_must(e, certreg_estimator_begin(e, zeros, sigma, (uint64_t)i));
        const double start = cpu_now();
        bench_must(e, certreg_estimator_sample(e, 0, samples));
        least.draw = fmin(least.draw, cpu_now() - start);
        least.answer = fmin(least.answer, answer(e, q, count));
    }
    return least;
}

/* The aim is in draws, since milliseconds depend on the machine. */
static void report(const char *name, double seconds, double draw, const char *aim)
{
    bench_print("| %s | %.3g ms | %.2f | %s |\n", name, 1e3 * seconds, seconds / draw, aim);
}

static double measure_kinds(void)
{
    certreg_estimator *e = estimator(INPUTS, 1, BATCH, CERTREG_CONSTRAINTS_ECGM, SAMPLES);
    certreg_question q[KINDS];
    for (size_t i = 0; i < KINDS; i++) q[i] = question_of(i, 1);
    const spent all = measure(e, SAMPLES, q, KINDS, REPEATS);
    report("sampling, without the model", all.draw, all.draw, "");
    for (size_t i = 0; i < KINDS; i++)
        report(kinds[i].name, measure(e, SAMPLES, q + i, 1, REPEATS).answer, all.draw,
               i == GRADIENT ? "2" : "");
    report("all of these in one call", all.answer, all.draw, "");
    certreg_estimator_destroy(e);
    return all.draw;
}

static void measure_outputs(void)
{
    enum { FEWER = 1000 };
    certreg_estimator *e = estimator(INPUTS, OUTPUTS, BATCH, CERTREG_CONSTRAINTS_ECGM, FEWER);
    certreg_question q[OUTPUTS], vector = question_of(4, 6);
    for (size_t k = 0; k < OUTPUTS; k++) q[k] = question_of(8, 0.5), q[k].output = (int32_t)k;
    vector.output = CERTREG_ALL_OUTPUTS;
    const spent apart = measure(e, FEWER, q, OUTPUTS, 3), one = measure(e, FEWER, &vector, 1, 3);
    report("1,000 samples: 100 outputs, asymptotic gradients", apart.answer, apart.draw, "80");
    report("1,000 samples: a vector of 100, finite-sample gradients", one.answer, one.draw, "80");
    certreg_estimator_destroy(e);
}

static void measure_features(void)
{
    enum { MANY = 1000000, FEWER = 1000 };
    certreg_estimator *e = estimator(MANY, 1, 8, CERTREG_CONSTRAINTS_ECGM, FEWER);
    const certreg_question finite = question_of(GRADIENT, 1), other = question_of(ASYMPTOTIC, 1);
    const spent one = measure(e, FEWER, &finite, 1, 1), two = measure(e, FEWER, &other, 1, 1);
    report("1,000 samples: a million features, finite-sample gradient", one.answer, one.draw, "2");
    report("1,000 samples: the same, asymptotic", two.answer, two.draw, "2");
    certreg_estimator_destroy(e);
}

static void measure_attack(double draw)
{
    enum { CALLS = 30000 };
    static float shift[INPUTS];
    const certreg_attack_plan plan = {.struct_size = sizeof plan, .max_calls = CALLS};
    const certreg_attack_options options = {.struct_size = sizeof options, .calls = CALLS};
    const certreg_question q = question_of(0, 0.4);
    certreg_estimator *e = estimator(INPUTS, 1, BATCH, 0, SAMPLES);
    certreg_error why = {.struct_size = sizeof why};
    certreg_attack *a = NULL;
    double least = INFINITY;
    measure(e, SAMPLES, &q, 1, 1);
    if (certreg_attack_create(e, &plan, &why, &a)) fprintf(stderr, "%s\n", why.text), exit(1);
    for (int i = 0; i < 3; i++) {
        certreg_attack_result r = {.struct_size = sizeof r};
        const double start = cpu_now();
        if (certreg_attack_run(a, &q, &options, shift, &r)) exit(1);
        least = fmin(least, (cpu_now() - start) / (double)r.calls);
    }
    report("an attack, of each call", least, draw / SAMPLES, "2.6");
    certreg_attack_destroy(a);
    certreg_estimator_destroy(e);
}

static void measure_questions(void)
{
    bench_begin("costs", "| | time | in draws | aim |");
    const double draw = measure_kinds();
    measure_outputs();
    measure_features();
    measure_attack(draw);
    bench_end("costs");
}

/* ---- small models. The least seconds of a certificate, each at another noise level, so that
 * nothing is kept from the one before. */
static double certificate(size_t samples, certreg_question q, int repeats)
{
    certreg_estimator *e = estimator(16, 1, samples < BATCH ? samples : BATCH, 0, samples);
    certreg_certificate c = {.struct_size = sizeof c};
    double least = INFINITY;
    q.struct_size = sizeof q, q.tolerance = 1;
    for (int i = 0; i < repeats; i++) {
        const double start = cpu_now();
        bench_must(e, certreg_estimator_begin(e, zeros, sigma * (1 + 1e-6 * i), (uint64_t)i));
        bench_must(e, certreg_certify(e, samples, &q, 1, &c));
        least = fmin(least, cpu_now() - start);
    }
    certreg_estimator_destroy(e);
    return least;
}

/* Seconds of NumPy for as many samples; NAN without NumPy. */
static double numpy(size_t samples)
{
    const char *python = getenv("PYTHON");
    char command[256];
    double microseconds;
    snprintf(command, sizeof command, "%s bench/small_peer.py %zu",
             python && *python ? python : "/usr/bin/python3", samples);
    FILE *peer = popen(command, "r");
    if (!peer || fscanf(peer, "%lf", &microseconds) != 1) microseconds = NAN;
    if (peer) pclose(peer);
    return 1e-6 * microseconds;
}

static void measure_small(void)
{
    const certreg_target target = {.struct_size = sizeof target, .radius = 0.56};
    const certreg_question median = {0},
                           huber = {.statistic = CERTREG_STATISTIC_HUBER, .huber_width = 0.5},
                           finite = {.target = &target},
                           anytime = {.target = &target, .method = CERTREG_METHOD_ANYTIME};
    const struct {
        const char *name;
        size_t samples;
        certreg_question question;
        double aim; /* in NumPy's time, since microseconds depend on the machine */
    } rows[] = {{"median", 64, median, 0.2},
                {"median", 256, median, 0.3},
                {"median", 1000, median, 0.4},
                {"median", 10000, median, 0.45},
                {"Huber", 10000, huber, 2.5},
                {"target, finite-sample", 10000, finite, 4},
                {"target, finite-sample", 100000, finite, 2.5},
                {"target, anytime", 100000, anytime, 2}};
    bench_begin("small", "| | samples | time | in NumPy's | aim |");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t n = rows[i].samples;
        const double seconds = certificate(n, rows[i].question, (int)(3000000 / n));
        bench_print("| %s | %zu | %.3g ms | %.2f | %g |\n", rows[i].name, n, 1e3 * seconds,
                    seconds / numpy(n), rows[i].aim);
    }
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
    if (certreg_estimator_size(NULL, &m, &p, NULL, &bytes, NULL)) exit(1);
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

/* ---- the demo's network: seconds of library and model in whole certificates */
static const struct {
    const char *name;
    certreg_question question;
} of_network[] = {
    {"median, finite-sample", {.statistic = CERTREG_STATISTIC_MEDIAN}},
    {"median, finite-sample, gradient", {.constraints = CERTREG_CONSTRAINTS_ECGM}},
    {"Huber, finite-sample", {.statistic = CERTREG_STATISTIC_HUBER, .huber_width = 5}},
    {"Huber, asymptotic, gradient",
     {.statistic = CERTREG_STATISTIC_HUBER, .method = CERTREG_METHOD_ASYMPTOTIC, .huber_width = 5}},
    {"circular mean, asymptotic, gradient",
     {.statistic = CERTREG_STATISTIC_CIRCULAR_MEAN, .method = CERTREG_METHOD_ASYMPTOTIC}},
    {"paper (E,C,G)+M",
     {.statistic = CERTREG_STATISTIC_MEAN,
      .method = CERTREG_METHOD_PAPER,
      .center = CERTREG_CENTER_TRUE_MEAN}},
};

static void measure_certificate(certreg_estimator *e, const float *z, size_t kind)
{
    certreg_question q = of_network[kind].question;
    certreg_run run = {.struct_size = sizeof run};
    double library = INFINITY, network = INFINITY;
    q.struct_size = sizeof q, q.tolerance = 10;
    for (uint64_t i = 0; i < 3; i++) {
        certreg_certificate c = {.struct_size = sizeof c};
        bench_must(e, certreg_estimator_begin(e, z, sigma, i));
        bench_must(e, certreg_certify(e, SAMPLES, &q, 1, &c));
        bench_must(e, certreg_estimator_info(e, &run));
        library = fmin(library, run.library_seconds), network = fmin(network, run.model_seconds);
    }
    bench_print("| %s | %.1f ms | %.0f ms | %.1f%% |\n", of_network[kind].name, 1e3 * library,
                1e3 * network, 100 * library / network);
}

static void measure_network(void)
{
    static const char *const path = "examples/models/rotation.onnx";
    const int32_t pair = CERTREG_OUTPUT_ANGLE_PAIR;
    const double lo = -180, hi = 180;
    certreg_model m = {.struct_size = sizeof m, .kind = &pair, .lo = &lo, .hi = &hi};
    const certreg_plan p = {
        .struct_size = sizeof p, .constraints = CERTREG_CONSTRAINTS_ECGM, .max_samples = SAMPLES};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    struct engine engine;
    float z[INPUTS];
    if (engine_open(path, NULL, &engine) || engine_fits(&engine, path, INPUTS, 2)) {
        fprintf(stderr, "bench_costs: no network: %s\n", engine.why);
        return;
    }
    engine_model(&engine, &m);
    m.outputs = 1, m.batch = BATCH; /* of two columns */
    for (size_t j = 0; j < INPUTS; j++)
        z[j] = j / 28 > 5 && j / 28 < 22 && j % 28 > 12 && j % 28 < 16 ? 1.0f : 0.0f; /* a stroke */
    if (certreg_estimator_create(NULL, &m, &p, &why, &e))
        fprintf(stderr, "%s\n", why.text), exit(1);
    bench_begin("network", "| certificate | library | network | share |");
    for (size_t i = 0; i < sizeof of_network / sizeof *of_network; i++)
        measure_certificate(e, z, i);
    bench_end("network");
    certreg_estimator_destroy(e);
    engine_close(&engine);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    measure_small();
    measure_questions();
    measure_memory();
    measure_network();
    bench_close();
    return 0;
}
