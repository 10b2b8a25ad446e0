/* bench_run.h: an estimator that takes one input after the other, and records that are kept between
 * runs of the program. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H
#include <certreg/certreg.h>

#include "context.h"

enum { BENCH_SEED = 42, BENCH_BATCH = 256 };

/* What a record's noise is for. Each kind has its own range of noise ids, so that no two records
 * share noise; NOISE_MAIN starts at 0, as the demo does. */
enum noise_kind { NOISE_MAIN, NOISE_FEW, NOISE_PROVE, NOISE_THOUSAND, NOISE_LIMIT };

struct bench_run {
    struct context *context;
    certreg_estimator *estimator;
    size_t samples, batch;
};

/* pilot 0: the library's default. The constraints are those of the plan: the gradient takes memory,
 * and is there only where it is named. */
int bench_run_open(struct context *context, size_t samples, size_t batch, size_t pilot,
                   uint32_t constraints, struct bench_run *run);
void bench_run_close(struct bench_run *run);
int bench_run_begin(const struct bench_run *run, size_t image, double sigma, enum noise_kind kind,
                    size_t noise_id);
/* Begins the image and takes all its samples: from the folder BENCH_CACHE if they are there, else
 * from the network, and then into the folder. */
int bench_run_sample(const struct bench_run *run, size_t image, double sigma, enum noise_kind kind,
                     size_t noise_id);
/* The outputs of a complete record, in degrees. */
int bench_run_outputs(const struct bench_run *run, float *y);
/* The size of the record's pilot. */
int bench_run_pilot(const struct bench_run *run, size_t *pilot);
/* A question that the library refuses as invalid leaves its certificate with that status; it is no
 * error here. */
int bench_run_certify(const struct bench_run *run, size_t samples, const certreg_question *question,
                      size_t count, certreg_certificate *out);
#endif
