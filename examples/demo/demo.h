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

struct handles { /* all that certifying one input after another takes */
    certreg_estimator *estimator;
};

/* All of these complain to the error stream and return non-zero if they fail. pilot: 0 for the
 * library's choice. */
int handles_open(struct demo *d, size_t samples, size_t pilot, size_t batch, struct handles *h);
void handles_close(struct handles *h);

/* Starts a record of one image. The stream names its noise: never the same for two records. */
int handles_begin(const struct demo *d, const struct handles *h, size_t image, double sigma,
                  uint64_t stream);

/* Samples what is missing of it, and answers. */
/* Output bounds of `count` questions, each at a radius of its own. */
int handles_reach(const struct demo *d, const struct handles *h, const certreg_question *question,
                  const double *radius, size_t count, certreg_certificate *out);
int handles_ask(const struct demo *d, const struct handles *h, size_t samples,
                const certreg_question *question, size_t count, certreg_certificate *out);
#endif
