/* What replays of the noise cost, in the time of drawing it: the first answer to a question has
 * them, the second finds them kept. CPU time of one thread, least of three. Usage: bench_sweeps
 * [tables.md] */
#include "bench.h"
#include <certreg/attack.h>
#include <certreg/certreg.h>
#include <certreg/question.h>
#include <certreg/sampling.h>

enum { QUESTIONS = 13, OUTPUTS = 100, REPEATS = 3 };

static const struct {
    int32_t statistic, method;
    uint32_t constraints;
} asked[QUESTIONS] = {
    {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, CERTREG_CONSTRAINTS_ECM},
    {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, CERTREG_CONSTRAINTS_ECM},
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, CERTREG_CONSTRAINTS_ECM},
    {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, CERTREG_CONSTRAINTS_ECGM},
    {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, CERTREG_CONSTRAINTS_ECGM},
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, CERTREG_CONSTRAINTS_ECGM},
    {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC, CERTREG_CONSTRAINTS_ECGM},
    {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, CERTREG_CONSTRAINTS_ECGM},
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, CERTREG_CONSTRAINTS_ECGM},
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CONSTRAINTS_C},
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CONSTRAINTS_CG},
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CONSTRAINTS_ECGM},
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ANYTIME, CERTREG_CONSTRAINTS_ECM},
};

static certreg_question question_of(size_t i, double tolerance)
{
    const int paper = asked[i].method == CERTREG_METHOD_PAPER,
              huber = asked[i].statistic == CERTREG_STATISTIC_HUBER;
    return (certreg_question){.struct_size = sizeof(certreg_question),
                              .statistic = asked[i].statistic,
                              .method = asked[i].method,
                              .constraints = asked[i].constraints,
                              .center = paper ? CERTREG_CENTER_TRUE_MEAN
                                              : CERTREG_CENTER_PREDICTION,
                              .huber_width = huber ? 0.5 : 0,
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

static certreg_estimator *estimator(size_t inputs, size_t outputs, size_t batch, size_t samples)
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
    const certreg_plan p = {.struct_size = sizeof p,
                            .constraints = CERTREG_CONSTRAINTS_ECGM,
                            .max_samples = samples,
                            .seed = 1};
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

typedef struct spent {
    double draw, first, again; /* seconds; that of a model that costs next to nothing is drawing's
                                */
} spent;

static double certify(certreg_estimator *e, const certreg_question *q, size_t count)
{
    static certreg_certificate c[OUTPUTS];
    for (size_t i = 0; i < count; i++) c[i] = (certreg_certificate){.struct_size = sizeof c[i]};
    const double start = cpu_now();
    bench_must(e, certreg_certify(e, 0, q, count, c));
    return cpu_now() - start;
}

static spent measure(certreg_estimator *e, size_t inputs, size_t samples, const certreg_question *q,
                     size_t count, int repeats)
{
    float *z = calloc(inputs, sizeof *z);
    spent least = {INFINITY, INFINITY, INFINITY};
    for (int i = 0; i < repeats; i++) {
        bench_must(e, certreg_estimator_begin(e, z, 0.25, (uint64_t)i));
        const double start = cpu_now();
        bench_must(e, certreg_estimator_sample(e, 0, samples));
        least.draw = fmin(least.draw, cpu_now() - start);
        least.first = fmin(least.first, certify(e, q, count));
        least.again = fmin(least.again, certify(e, q, count));
    }
    free(z);
    return least;
}

static void report(const char *name, double seconds, double draw, const char *target)
{
    bench_print("| %s | %.3g ms | %.2f draws | %s |\n", name, 1e3 * seconds, seconds / draw,
                target);
}

static void measure_record(void)
{
    enum { INPUTS = 784, SAMPLES = 10000 };
    certreg_estimator *e = estimator(INPUTS, 1, 256, SAMPLES);
    certreg_question q[QUESTIONS];
    for (size_t i = 0; i < QUESTIONS; i++) q[i] = question_of(i, 1);
    const spent all = measure(e, INPUTS, SAMPLES, q, QUESTIONS, REPEATS),
                one = measure(e, INPUTS, SAMPLES, q + 3, 1, REPEATS);
    report("[passes_13] 13 certificates of one record, replays", all.first - all.again, all.draw,
           "4 draws");
    report("[gradient_finite] finite-sample gradient, replays", one.first - one.again, one.draw,
           "20 ms");
    certreg_estimator_destroy(e);
}

static void measure_outputs(void)
{
    enum { INPUTS = 784, SAMPLES = 1000 };
    certreg_estimator *e = estimator(INPUTS, OUTPUTS, 256, SAMPLES);
    certreg_question q[OUTPUTS], vector = question_of(3, 6);
    for (size_t k = 0; k < OUTPUTS; k++) q[k] = question_of(8, 0.5), q[k].output = (int32_t)k;
    vector.output = CERTREG_ALL_OUTPUTS;
    const spent apart = measure(e, INPUTS, SAMPLES, q, OUTPUTS, REPEATS),
                together = measure(e, INPUTS, SAMPLES, &vector, 1, REPEATS);
    report("[outputs_100] 100 outputs with asymptotic gradients", apart.first, apart.draw, "45 ms");
    report("[outputs_100] a vector of 100 with finite-sample gradients", together.first,
           together.draw, "120 ms");
    certreg_estimator_destroy(e);
}

static void measure_features(void)
{
    enum { INPUTS = 1000000, SAMPLES = 1000, BATCH = 8 };
    certreg_estimator *e = estimator(INPUTS, 1, BATCH, SAMPLES);
    for (size_t i = 5; i < 9; i += 3) {
        const certreg_question q = question_of(i, 1);
        const spent one = measure(e, INPUTS, SAMPLES, &q, 1, 1);
        report(i == 5 ? "[features_million] a million features, finite-sample gradient"
                      : "[features_million] the same, asymptotic",
               one.first, one.draw, "5,000 ms");
    }
    certreg_estimator_destroy(e);
}

static void measure_attack(void)
{
    enum { INPUTS = 784, SAMPLES = 10000, CALLS = 30000 };
    static float shift[INPUTS];
    const certreg_attack_plan plan = {.struct_size = sizeof plan, .max_calls = CALLS};
    const certreg_attack_options options = {.struct_size = sizeof options, .calls = CALLS};
    const certreg_question q = question_of(0, 0.4);
    certreg_estimator *e = estimator(INPUTS, 1, 256, SAMPLES);
    certreg_error why = {.struct_size = sizeof why};
    certreg_attack *a = NULL;
    const double draw = measure(e, INPUTS, SAMPLES, &q, 1, REPEATS).draw / SAMPLES;
    double least = INFINITY;
    if (certreg_attack_create(e, &plan, &why, &a)) fprintf(stderr, "%s\n", why.text), exit(1);
    for (int i = 0; i < REPEATS; i++) {
        certreg_attack_result r = {.struct_size = sizeof r};
        const double start = cpu_now();
        if (certreg_attack_run(a, &q, &options, shift, &r)) exit(1);
        least = fmin(least, (cpu_now() - start) / (double)r.calls);
    }
    report("[attack_call] an attack, of each call", least, draw, "2.1 draws");
    certreg_attack_destroy(a);
    certreg_estimator_destroy(e);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    bench_begin("sweeps", "| | time | in draws | aim |");
    measure_record();
    measure_outputs();
    measure_features();
    measure_attack();
    bench_end("sweeps");
    bench_close();
    return 0;
}
