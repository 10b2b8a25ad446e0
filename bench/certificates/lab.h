/* lab.h: what every row of the benchmark needs: turned digits, the network, estimators, and records
 * that are kept between runs. */
#ifndef BENCH_LAB_H
#define BENCH_LAB_H
#include <certreg/certreg.h>
#include <certreg/solver.h>

#include "../../examples/demo/images.h"
#include "../../examples/engines/engine.h"
#include "settings.h"

enum { LAB_SEED = 42, LAB_COLUMNS = 2, LAB_BATCH = 256 };
static const double lab_tolerance = 10.0, lab_alpha = 0.1, lab_turn = 360.0;

/* The noise of each kind of record: streams that never meet. LAB_MAIN starts at 0, as the demo's
 * do. */
enum lab_kind { LAB_MAIN, LAB_FEW, LAB_PROVE, LAB_THOUSAND, LAB_LIMIT, LAB_ASCENT, LAB_JUDGE };

struct lab {
    struct settings set;
    struct images images;
    struct engine engine;
    double began;
    size_t calls; /* of the network, in this run */
    char why[ENGINE_WHY];
};

struct desk { /* an estimator, for one input after the other */
    struct lab *lab;
    certreg_estimator *estimator;

    size_t samples, batch;
};

int lab_open(struct lab *lab); /* 0, or 1 after a sentence on the error stream; so all below */
void lab_close(struct lab *lab);
double lab_seconds(void);
void lab_progress(const struct lab *lab, const char *what, size_t done, size_t total);

/* pilot 0: the library's default; constraints 0: all. */
int desk_open(struct lab *lab, size_t samples, size_t batch, size_t pilot, uint32_t constraints,
              struct desk *desk);
void desk_close(struct desk *desk);
int desk_begin(const struct desk *desk, size_t image, double sigma, enum lab_kind kind,
               size_t stream);
/* The same at any point z of DIGITS_PIXELS numbers. */
int desk_begin_at(const struct desk *desk, const float *z, double sigma, enum lab_kind kind,
                  size_t stream);
/* All samples of it: from the folder BENCH_CACHE if they are there, else from the network, and then
 * into the folder. */
int desk_record(const struct desk *desk, size_t image, double sigma, enum lab_kind kind,
                size_t stream);
/* A complete record's outputs, in degrees. */
int desk_outputs(const struct desk *desk, float *y);
int desk_pilot(const struct desk *desk, size_t *pilot); /* of the record */
/* A question that the library refuses as invalid leaves its certificate with that status and is no
 * error here. */
int desk_ask(const struct desk *desk, size_t samples, const certreg_question *question,
             size_t count, certreg_certificate *out);

/* Degrees from a to b, in [-180, 180]. */
double lab_apart(double a, double b);
#endif
