/* demo.h: what the parts of the demo share. */
#ifndef DEMO_H
#define DEMO_H
#include <certreg/certreg.h>
#include <certreg/solver.h>

#include "../engines/engine.h"
#include "images.h"
#include "results.h"

enum { COLUMNS = 2 };                           /* of the network: (cos, sin) */
extern const double demo_tolerance, demo_alpha; /* degrees */

struct settings {
    const char *mnist, *model, *folder, *engine;
    size_t images, samples;
    int threads;
    size_t sigmas;
    double sigma[MOST_SIGMAS];
};

struct demo {
    struct settings set;
    struct images images;
    struct engine engine;
    struct results results;
    char why[ENGINE_WHY];
    double began;
};

/* estimator.c. All of these print a sentence to the error stream and return non-zero if they fail.
 * pilot 0: the library's choice. */
int demo_open(struct demo *d, size_t samples, size_t pilot, size_t batch, certreg_estimator **e);
/* Begins a record of one image. The noise id names its noise: it differs for every two records. */
int demo_begin(const struct demo *d, certreg_estimator *e, size_t image, double sigma,
               uint64_t noise_id);
/* Takes the samples that are missing, and certifies. */
int demo_certify(const struct demo *d, certreg_estimator *e, size_t samples,
                 const certreg_question *question, size_t count, certreg_certificate *out);
/* Output bounds for `count` questions, each at its own radius. */
int demo_output_bounds(const struct demo *d, certreg_estimator *e, const certreg_question *question,
                       const double *radius, size_t count, certreg_certificate *out);
#endif
