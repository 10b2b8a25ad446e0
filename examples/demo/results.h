/* results.h: the certificates of the demo: kept, written as rows, printed as tables. */
#ifndef DEMO_RESULTS_H
#define DEMO_RESULTS_H
#include <stdio.h>

#include "questions.h"
#include "images.h"

enum { MOST_SIGMAS = 16 };

struct results {
    const struct images *images;
    size_t sigmas;
    double sigma[MOST_SIGMAS];
    double *radius; /* [sigma][image][question] */
    double *error;  /* [sigma][image]: of the median's prediction, in degrees */
    /* Of the library for the median alone and for all certificates; of the model. */
    double median_seconds, library_seconds, model_seconds;
    size_t records, failures; /* failures: certificates with an error; their radius counts as 0 */
};

int results_open(struct results *r, const struct images *images, const double *sigma,
                 size_t sigmas);
void results_close(struct results *r);

/* Keeps the certificates of one record, and writes them as QUESTIONS rows. median_seconds: of the
 * library for the median alone. */
void results_add(struct results *r, size_t sigma, size_t image, const certreg_certificate *c,
                 double median_seconds, const certreg_run *run, FILE *rows);
void results_heading(FILE *rows);

double results_mean(const struct results *r, size_t sigma, size_t question);
size_t results_best_sigma(const struct results *r, size_t question); /* by mean radius */
/* The paper's best mean radius, over its four families and all sigmas. */
double results_paper_best(const struct results *r);
void results_print(const struct results *r, FILE *out);
#endif
