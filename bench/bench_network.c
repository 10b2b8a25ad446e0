/* What the library costs next to a network: seconds per certificate from 10,000 samples of the
 * demo's network, for library and model. Run it from the repository root.
 * Usage: bench_network [tables.md] */
#include "bench.h"
#include <certreg/sampling.h>

#include "../examples/engines/engine.h"

enum { INPUTS = 784, SAMPLES = 10000, BATCH = 256, REPEATS = 3 };
static const char *const network = "examples/models/rotation.onnx";
static const double tolerance = 10, sigma = 0.25;

typedef struct kind {
    const char *name;
    certreg_question question;
} kind;

static const kind kinds[] = {
    {"median, finite-sample", {.statistic = CERTREG_STATISTIC_MEDIAN}},
    {"median, finite-sample, gradient",
     {.statistic = CERTREG_STATISTIC_MEDIAN, .constraints = CERTREG_CONSTRAINTS_ECGM}},
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
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Least library seconds of one kind alone, and the model's in the same run. */
static int measure(certreg_estimator *e, const float *z, const kind *k, double *library,
                   double *model)
{
    *library = *model = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        certreg_question question = k->question;
        certreg_certificate c = {.struct_size = sizeof c};
        question.struct_size = sizeof question;
        question.tolerance = tolerance;
        if (certreg_estimator_begin(e, z, sigma, (uint64_t)i) ||
            certreg_certify(e, SAMPLES, &question, 1, &c)) {
            fprintf(stderr, "%s: %s\n", k->name, certreg_estimator_error(e)->text);
            return 1;
        }
        certreg_run run = {.struct_size = sizeof run};
        if (certreg_estimator_info(e, &run)) return 1;
        *library = fmin(*library, run.library_seconds);
        *model = fmin(*model, run.model_seconds);
    }
    return 0;
}

static int run(struct engine *engine)
{
    const int32_t pair = CERTREG_OUTPUT_ANGLE_PAIR;
    const double lo = -180, hi = 180;
    certreg_model m = {.struct_size = sizeof m, .kind = &pair, .lo = &lo, .hi = &hi};
    certreg_plan p = {
        .struct_size = sizeof p, .constraints = CERTREG_CONSTRAINTS_ECGM, .max_samples = SAMPLES};
    certreg_estimator *e = NULL;
    engine_model(engine, &m);
    m.outputs = 1; /* of two columns */
    m.batch = BATCH;

    float z[INPUTS];
    for (size_t j = 0; j < INPUTS; j++)
        z[j] = j / 28 > 5 && j / 28 < 22 && j % 28 > 12 && j % 28 < 16 ? 1.0f : 0.0f; /* a stroke */
    int failed = certreg_estimator_create(NULL, &m, &p, NULL, &e);
    bench_begin("network", "| certificate | library | network | share |");
    for (size_t i = 0; i < KINDS && !failed; i++) {
        double library, model;
        failed = measure(e, z, kinds + i, &library, &model);
        if (failed) break;
        bench_print("| %s | %.1f ms | %.0f ms | %.1f%% |\n", kinds[i].name, 1e3 * library,
                    1e3 * model, 100 * library / model);
    }
    if (!failed) bench_end("network");
    certreg_estimator_destroy(e);
    return failed;
}

int main(int argc, char **argv)
{
    struct engine engine;
    if (engine_open(network, NULL, &engine) || engine_fits(&engine, network, INPUTS, 2)) {
        fprintf(stderr, "no network: %s\n", engine.why);
        return 1;
    }
    printf("network run by %s\n", engine.name);
    bench_open(argc, argv);
    const int failed = run(&engine);
    bench_close();
    engine_close(&engine);
    return failed;
}
