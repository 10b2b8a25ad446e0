/* What the library costs next to a network: seconds per certificate from 10,000 samples of the
 * demo's network, for model and library, and the estimator's memory against its stated bound. Run
 * it from the repository root. Usage: bench_network [results.csv] */
#include <cblas.h>
#include <certreg/certreg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../examples/engines/engine.h"

enum { INPUTS = 784, SAMPLES = 10000, BATCH = 256, REPEATS = 3 };
static const char *const network = "examples/models/rotation.onnx";
static const double tolerance = 10, sigma = 0.25;

typedef struct kind {
    const char *name;
    certreg_question question;
} kind;

static const kind kinds[] = {
    {"median_exact", {.statistic = CERTREG_STATISTIC_MEDIAN}},
    {"median_gradient",
     {.statistic = CERTREG_STATISTIC_MEDIAN, .method = CERTREG_METHOD_ASYMPTOTIC}},
    {"huber",
     {.statistic = CERTREG_STATISTIC_HUBER, .method = CERTREG_METHOD_ASYMPTOTIC, .huber_width = 5}},
    {"circular_mean",
     {.statistic = CERTREG_STATISTIC_CIRCULAR_MEAN, .method = CERTREG_METHOD_ASYMPTOTIC}},
    {"mean_paper",
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
        if (certreg_estimator_run(e, &run)) return 1;
        *library = fmin(*library, run.library_seconds);
        *model = fmin(*model, run.model_seconds);
    }
    return 0;
}

static int run(struct engine *engine, FILE *csv)
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
    size_t bytes = 0;
    int failed = certreg_estimator_size(NULL, &m, &p, &bytes) ||
                 certreg_estimator_create(NULL, &m, &p, NULL, &e);
    const double bound = (2.0 * BATCH + 130) * INPUTS * 4 + 65536 + 4.0 * SAMPLES;
    printf("estimator: %zu bytes (bound %.0f)\n", bytes, bound);
    if (csv) fprintf(csv, "estimator_bytes,%zu,%.0f,%.3f,1\n", bytes, bound, (double)bytes / bound);
    for (size_t i = 0; i < KINDS && !failed; i++) {
        double library, model;
        failed = measure(e, z, kinds + i, &library, &model);
        if (failed) break;
        printf("%-16s library %6.2f ms, model %7.2f ms: %4.1f %% (target 10 %%)\n", kinds[i].name,
               1e3 * library, 1e3 * model, 100 * library / model);
        if (csv)
            fprintf(csv, "library_share_%s,%.6g,%.6g,%.4f,0.1\n", kinds[i].name, library, model,
                    library / model);
    }

    certreg_estimator_destroy(e);
    return failed;
}

int main(int argc, char **argv)
{
    struct engine engine;
    printf("OpenBLAS core: %s\n", openblas_get_corename());
    if (engine_open(network, NULL, &engine) || engine_fits(&engine, network, INPUTS, 2)) {
        fprintf(stderr, "no network: %s\n", engine.why);
        return 1;
    }
    printf("network run by %s\n", engine.name);
    FILE *csv = argc > 1 ? fopen(argv[1], "a") : NULL;
    const int failed = run(&engine, csv);
    if (csv) fclose(csv);
    engine_close(&engine);
    return failed;
}
