/* What each kind of answer costs, side by side: 10,000 samples of 784 features. For each question
 * the least time of five, and how many normal numbers it draws again, in units of samples times
 * features. Then the numbers that a target takes, threads, and memory.
 * Usage: bench_costs [tables.md] */
#include "bench.h"
#include <certreg/backend.h>
#include <certreg/question.h>
#include <certreg/sampling.h>

#include "backend/backend.h"

enum { INPUTS = 784, SAMPLES = 10000, BATCH = 256, REPEATS = 5, MOST = 4 };
static const double sigma = 0.25;

/* The usual backend, which counts the normal numbers that it makes. */
static struct {
    certreg_backend base;
    double made;
} counter;

static certreg_status draw(certreg_backend *b, const cr_noise *noise, const float *z,
                           const float *step, uint64_t first, size_t count, float *x)
{
    (void)b;
    counter.made += (double)(count * noise->inputs);
    certreg_backend *cpu = cr_backend_default();
    return cpu->ops->draw(cpu, noise, z, step, first, count, x);
}

static certreg_status replay(certreg_backend *b, const cr_noise *noise, const cr_weighted *w,
                             const float *mask, double *sums, cr_watch *watch)
{
    (void)b;
    counter.made += (double)(w->blocks * w->length * noise->inputs);
    certreg_backend *cpu = cr_backend_default();
    return cpu->ops->replay(cpu, noise, w, mask, sums, watch);
}

static certreg_status project(certreg_backend *b, const cr_noise *noise, uint64_t first,
                              size_t count, const float *direction, const float *mask, double *dots,
                              double *norms)
{
    (void)b;
    counter.made += (double)(count * noise->inputs);
    certreg_backend *cpu = cr_backend_default();
    return cpu->ops->project(cpu, noise, first, count, direction, mask, dots, norms);
}

/* Once for the sums, and once for the projections on them. */
static certreg_status walk(certreg_backend *b, const cr_noise *noise, const cr_walk *w,
                           cr_watch *watch)
{
    (void)b;
    counter.made += 2 * (double)(w->count * noise->inputs);
    certreg_backend *cpu = cr_backend_default();
    return cpu->ops->walk(cpu, noise, w, watch);
}

static certreg_status tile(certreg_backend *b, const cr_noise *noise, const cr_pair_room *room,
                           const cr_tile *t)
{
    (void)b;
    counter.made += (double)(t->count * noise->inputs);
    certreg_backend *cpu = cr_backend_default();
    return cpu->ops->pairs->tile(cpu, noise, room, t);
}

static certreg_backend *counting(void)
{
    static cr_backend_ops ops;
    static cr_pair_ops pairs;
    ops = *cr_backend_default()->ops, pairs = *ops.pairs;
    ops.draw = draw, ops.replay = replay, ops.project = project, ops.walk = walk;
    ops.pairs = &pairs, pairs.tile = tile;
    counter.base.ops = &ops;
    cr_busy_init(&counter.base.busy);
    return &counter.base;
}

typedef struct kind {
    const char *name;
    struct {
        int32_t statistic, method;
        uint32_t constraints;
    } ask[MOST]; /* in one call */
    size_t count;
} kind;

#define ASK(statistic, method, constraints)                                                       \
    {                                                                                             \
        CERTREG_STATISTIC_##statistic, CERTREG_METHOD_##method, CERTREG_CONSTRAINTS_##constraints \
    }
#define SECOND (CERTREG_CONSTRAINTS_ECGM | CERTREG_CONSTRAINT_SECOND_ORDER)
static const kind kinds[] = {
    {"median, finite-sample", {ASK(MEDIAN, FINITE, ECM)}, 1},
    {"Huber, finite-sample", {ASK(HUBER, FINITE, ECM)}, 1},
    {"mean, finite-sample", {ASK(MEAN, FINITE, ECM)}, 1},
    {"mean, anytime", {ASK(MEAN, ANYTIME, ECM)}, 1},
    {"median, finite-sample, gradient", {ASK(MEDIAN, FINITE, ECGM)}, 1},
    {"Huber, finite-sample, gradient", {ASK(HUBER, FINITE, ECGM)}, 1},
    {"mean, finite-sample, gradient", {ASK(MEAN, FINITE, ECGM)}, 1},
    {"median, asymptotic, gradient", {ASK(MEDIAN, ASYMPTOTIC, ECGM)}, 1},
    {"Huber, asymptotic, gradient", {ASK(HUBER, ASYMPTOTIC, ECGM)}, 1},
    {"mean, asymptotic, gradient", {ASK(MEAN, ASYMPTOTIC, ECGM)}, 1},
    {"mean, asymptotic, gradient and second order",
     {{CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, SECOND}},
     1},
    {"paper (C)", {ASK(MEAN, PAPER, C)}, 1},
    {"paper (E,C,G)+M", {ASK(MEAN, PAPER, ECGM)}, 1},
    {"paper (E,C,G)+M, (C,G), (C), (E,C)+M in one call",
     {ASK(MEAN, PAPER, ECGM), ASK(MEAN, PAPER, CG), ASK(MEAN, PAPER, C), ASK(MEAN, PAPER, ECM)},
     4},
    {"paper (E,C,G)+M, (C), (C,G), (E,C)+M in one call",
     {ASK(MEAN, PAPER, ECGM), ASK(MEAN, PAPER, C), ASK(MEAN, PAPER, CG), ASK(MEAN, PAPER, ECM)},
     4},
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

static void must(certreg_estimator *e, certreg_status status)
{
    if (!status) return;
    fprintf(stderr, "%s\n", certreg_estimator_error(e)->text);
    exit(1);
}

/* Seconds of the answers to a kind of questions. */
static double answer(certreg_estimator *e, const kind *k)
{
    certreg_question q[MOST] = {{0}};
    certreg_certificate c[MOST] = {{0}};
    for (size_t i = 0; i < k->count; i++) {
        const int paper = k->ask[i].method == CERTREG_METHOD_PAPER;
        q[i] = (certreg_question){
            .struct_size = sizeof *q,
            .statistic = k->ask[i].statistic,
            .method = k->ask[i].method,
            .constraints = k->ask[i].constraints,
            .center = paper ? CERTREG_CENTER_TRUE_MEAN : CERTREG_CENTER_PREDICTION,
            .huber_width = k->ask[i].statistic == CERTREG_STATISTIC_HUBER ? 0.5 : 0,
            .tolerance = 1};
        c[i].struct_size = sizeof *c;
    }
    const double start = bench_now();
    must(e, certreg_certify(e, 0, q, k->count, c));
    const double seconds = bench_now() - start;
    for (size_t i = 0; i < k->count; i++)
        if (!(c[i].radius > 0)) fprintf(stderr, "bench_costs: %s abstained\n", k->name);
    return seconds;
}

/* Of five answers, or as many as take a second. */
static double least_of(certreg_estimator *e, const kind *k)
{
    double least = INFINITY;
    const double begun = bench_now();
    for (int i = 0; i < REPEATS && (i == 0 || bench_now() < begun + 1); i++) {
        counter.made = 0;
        least = fmin(least, answer(e, k));
    }
    return least;
}

/* The record; returns the library's seconds. */
static double sample(certreg_estimator *e, const float *z, uint64_t noise_id)
{
    certreg_run run = {.struct_size = sizeof run};
    must(e, certreg_estimator_begin(e, z, sigma, noise_id));
    must(e, certreg_estimator_sample(e, 0, SAMPLES));
    must(e, certreg_estimator_run(e, &run));
    return run.library_seconds;
}

static void report(const char *name, double seconds)
{
    const int long_ = seconds >= 1;
    bench_print("| %s | %.2g | %.3g %s |\n", name, counter.made / SAMPLES / INPUTS,
                long_ ? seconds : 1e3 * seconds, long_ ? "s" : "ms");
}

static void measure_questions(void)
{
    static const float z[INPUTS];
    certreg_estimator *e = estimator(counting(), INPUTS, BATCH, SECOND, SAMPLES);
    double least = INFINITY;
    bench_begin("costs", "| | normal numbers, in n·d | time |");
    for (uint64_t i = 0; i < REPEATS; i++) {
        counter.made = 0;
        least = fmin(least, sample(e, z, i));
    }
    report("sampling, without the model", least);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        report(kinds[i].name, least_of(e, kinds + i));
    bench_end("costs");
    certreg_estimator_destroy(e);
}

/* The first call makes the critical numbers, the second one has them. */
static double target_seconds(size_t samples, double radius)
{
    const float z[4] = {0};
    certreg_estimator *e = estimator(NULL, 4, 64, 0, samples);
    const certreg_target target = {.struct_size = sizeof target, .radius = radius};
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 1, .target = &target};
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        certreg_certificate c = {.struct_size = sizeof c};
        must(e, certreg_estimator_begin(e, z, sigma, 0));
        const double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        must(e, certreg_certify(e, samples, &q, 1, &c));
        seconds[i] = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    }
    certreg_estimator_destroy(e);
    return seconds[0] - seconds[1];
}

/* A small radius is proved early, so that little else is measured. */
static void measure_targets(void)
{
    static const size_t samples[] = {400, 1000, 5000, 10000, 20000, 49000, 100000};
    bench_begin("critical", "| max_samples | time |");
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        double least = INFINITY;
        for (int k = 0; k < REPEATS; k++)
            least = fmin(least, target_seconds(samples[i], 0.1 * sigma));
        bench_print("| %zu | %.1f ms |\n", samples[i], 1e3 * least);
    }
    bench_end("critical");
}

static double gradient_seconds(const float *z, size_t inputs, int32_t threads)
{
    static const kind gradient = {"", {ASK(MEDIAN, FINITE, ECGM)}, 1};
    certreg_backend *backend;
    if (certreg_backend_open_cpu(threads, NULL, &backend)) exit(1);
    certreg_estimator *e = estimator(backend, inputs, BATCH, CERTREG_CONSTRAINTS_ECGM, SAMPLES);
    sample(e, z, 0);
    const double seconds = least_of(e, &gradient);
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
    return seconds;
}

static void measure_threads(void)
{
    enum { WIDE = 12288 };
    static const float z[WIDE];
    bench_begin("threads", "| features | one thread | two |");
    for (size_t inputs = INPUTS; inputs <= WIDE; inputs += WIDE - INPUTS)
        bench_print("| %zu | %.0f ms | %.0f ms |\n", inputs, 1e3 * gradient_seconds(z, inputs, 1),
                    1e3 * gradient_seconds(z, inputs, 2));
    bench_end("threads");
}

static double megabytes(size_t inputs, size_t batch, uint32_t constraints)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = model, .inputs = inputs, .outputs = 1, .batch = batch};
    const certreg_plan p = {
        .struct_size = sizeof p, .constraints = constraints, .max_samples = SAMPLES};
    size_t bytes;
    if (certreg_estimator_size(NULL, &m, &p, &bytes)) exit(1);
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

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    measure_questions();
    measure_targets();
    measure_threads();
    measure_memory();
    bench_close();
    return 0;
}
