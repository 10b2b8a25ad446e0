/* study.h: all certificates of the records of N samples: every image at every sigma. */
#ifndef BENCH_STUDY_H
#define BENCH_STUDY_H
#include "lab.h"

enum study_ask {
    ASK_PAPER,
    ASK_MEDIAN,
    ASK_MEDIAN_GRADIENT_FINITE,
    ASK_HUBER_FINITE,
    ASK_MEAN_FINITE,
    ASK_CIRCULAR_FINITE,
    ASK_MEDIAN_ASYMPTOTIC,
    ASK_HUBER_ASYMPTOTIC,
    ASK_MEAN_ASYMPTOTIC,
    ASK_CIRCULAR_ASYMPTOTIC,
    ASKS,
    /* not the library's: computed here from the same outputs */
    PLAIN_PILOT = ASKS,
    PLAIN_SAME,
    POINT_LIMIT,
    COLUMNS
};

struct study {
    const struct lab *lab;
    double *radius;          /* [sigma][image][COLUMNS] */
    double *prediction;      /* [sigma][image], of the exact median */
    size_t refused[COLUMNS]; /* certificates that the library has no interval for */
};

extern const char *const study_name[COLUMNS];

certreg_question study_question(enum study_ask ask);
int study_run(struct study *s, struct lab *lab); /* 0, or 1 after a sentence on the error stream */
void study_close(struct study *s);
double study_radius(const struct study *s, size_t sigma, size_t image, size_t column);
double study_mean(const struct study *s, size_t sigma, size_t column); /* NaN where refused */
size_t study_best(const struct study *s, size_t column); /* sigma of the greatest mean */
/* The column with the greatest mean at its best sigma, out of first .. last. */
size_t study_best_column(const struct study *s, size_t first, size_t last);
int study_write(const struct study *s, const char *path); /* every radius, as CSV */
#endif
