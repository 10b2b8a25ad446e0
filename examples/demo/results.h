/* results.h: the certificates of all records: kept and summed up. */
#ifndef DEMO_RESULTS_H
#define DEMO_RESULTS_H
#include "images.h"
#include "questions.h"
#include "settings.h"
#include <certreg/sampling.h>

struct record { /* of one image at one sigma */
    certreg_certificate certificate[QUESTIONS];
    double median_seconds; /* of the library, for the finite-sample median alone */
    certreg_run run;       /* for all questions */
};

struct results {
    const struct settings *set;
    const struct images *images;
    struct record *record; /* [sigma][image] */
};

int results_open(struct results *r, const struct settings *set, const struct images *images);
void results_close(struct results *r);
const struct record *results_record(const struct results *r, size_t sigma, size_t image);

double results_mean(const struct results *r, size_t sigma, size_t certificate); /* radius */
size_t results_best_sigma(const struct results *r, size_t certificate);         /* by mean radius */
double results_best(const struct results *r, size_t certificate); /* mean radius there */
/* The paper's best mean radius, over its constraints and all sigmas. */
double results_paper_best(const struct results *r);
/* How far a certificate's prediction is from the true angle, in degrees: the mean over the images;
 * and their median. */
double results_error(const struct results *r, size_t sigma, size_t question);
double results_median_error(const struct results *r, size_t sigma, size_t question);
void results_sort(double *list, size_t count); /* in ascending order */
#endif
