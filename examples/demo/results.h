/* results.h: what the demo found, kept, written as rows and shown as tables. */
#ifndef DEMO_RESULTS_H
#define DEMO_RESULTS_H
#include <stdio.h>

#include "asks.h"
#include "images.h"

enum { MOST_SIGMAS = 16 };

struct results {
    const struct images *images;
    size_t sigmas;
    double sigma[MOST_SIGMAS];
    double *radius; /* [sigma][image][ask] */
    double *error;  /* [sigma][image]: of the median's prediction, in degrees */
    double median_seconds, library_seconds, model_seconds; /* of the library for the median alone,
                                                              for all; of the model */
    size_t records, failures; /* failures: certificates that were not answered; their radius counts
                                 as zero */
};

int results_open(struct results *r, const struct images *images, const double *sigma,
                 size_t sigmas);
void results_close(struct results *r);

/* One record's certificates: kept, and written as ASKS rows. median_seconds: of the library, when
 * only the median was asked. */
void results_add(struct results *r, size_t sigma, size_t image, const certreg_certificate *c,
                 double median_seconds, const certreg_run *run, FILE *rows);
void results_heading(FILE *rows);

double results_mean(const struct results *r, size_t sigma, size_t ask);
size_t results_best_sigma(const struct results *r, size_t ask); /* by mean radius */
double results_paper_best(const struct results *r); /* over the paper's four families and all sigmas
                                                     */
void results_print(const struct results *r, FILE *out);
#endif
