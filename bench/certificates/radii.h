/* radii.h: all certified radii from records of N samples, for every image at every sigma. */
#ifndef BENCH_RADII_H
#define BENCH_RADII_H
#include "bench_run.h"

enum column {
    QUESTION_PAPER,
    QUESTION_MEDIAN,
    QUESTION_MEDIAN_GRADIENT_FINITE,
    QUESTION_HUBER_FINITE,
    QUESTION_MEAN_FINITE,
    QUESTION_CIRCULAR_FINITE,
    QUESTION_MEDIAN_ASYMPTOTIC,
    QUESTION_HUBER_ASYMPTOTIC,
    QUESTION_MEAN_ASYMPTOTIC,
    QUESTION_CIRCULAR_ASYMPTOTIC,
    QUESTIONS,
    POINT_LIMIT = QUESTIONS, /* no certificate: point_radius.h */
    COLUMNS
};

struct radii {
    const struct context *context;
    double *radius;          /* [sigma][image][COLUMNS] */
    double *useful;          /* likewise; 0 where the prediction is not right to the tolerance */
    double *prediction;      /* [sigma][image], of the finite-sample median */
    size_t refused[COLUMNS]; /* certificates that the library refused */
};

extern const char *const column_name[COLUMNS];

certreg_question question_of(enum column column);
int radii_run(struct radii *s, struct context *context);
void radii_close(struct radii *s);
double radii_get(const struct radii *s, size_t sigma, size_t image, size_t column);
double radii_mean(const struct radii *s, size_t sigma, size_t column); /* NaN where refused */
double radii_useful(const struct radii *s, size_t sigma, size_t column);
/* The index of the sigma with the largest mean. */
size_t radii_best_sigma(const struct radii *s, size_t column);
/* The column out of first .. last with the largest mean at its best sigma. */
size_t radii_best_column(const struct radii *s, size_t first, size_t last);
int radii_write(const struct radii *s, const char *path); /* every radius, as CSV */
#endif
