/* Denoisers (theory 13): constants of a linear filter, how they are found, and what is made of
 * rows. */
#ifndef CR_DENOISER_DENOISER_H
#define CR_DENOISER_DENOISER_H
#include "backend/blas.h"
#include "backend/cpu.h"
#include "certreg/denoiser.h"

enum { CR_DENOISER_MOST_COMPONENTS = 4096 };
#define CR_DENOISER_MOST_INPUTS ((size_t)1 << 27)
/* In `keep`, of a feature that is passed on as it is. */
#define CR_DENOISER_PASSED (-1.0f)

/* center and keep have `pitch` numbers, into and back as many rows of these as the filter has. They
 * are one array, in this order. */
struct certreg_denoiser {
    size_t inputs, pitch, components;
    float *center, *keep, *into, *back;
    double sigma, error;
    uint64_t rows, digest;
};

/* Memory for one, whose numbers are 0. */
certreg_status cr_denoiser_take(size_t inputs, size_t components, certreg_error *why,
                                certreg_denoiser **out);
/* The rows of into and back: components, and zeros up to a whole group. */
size_t cr_denoiser_rows(const certreg_denoiser *);
/* Sets the digest: the last thing that happens to one. */
void cr_denoiser_seal(certreg_denoiser *);

/* From a plan that has been read. `callers` is the environment in which plan->read is called. */
certreg_status cr_denoiser_fit(const certreg_denoiser_plan *, const cr_blas *,
                               const fenv_t *callers, certreg_error *why, certreg_denoiser **out);

/* What a filter keeps along a direction with this variance, in units of the noise. */
double cr_denoiser_gain(double variance);

/* What examples that were held back say about the directions that the others vary in: means over
 * these examples, in units of the noise. */
typedef struct cr_held {
    size_t count;           /* directions, in descending order of their variance */
    double free;            /* features with noise: dimensions in all */
    double left;            /* square of what lies in none of the directions */
    const double *variance; /* count: among the examples that were not held back */
    const double *seen;     /* count: square along a direction */
} cr_held;

/* A choice of how many directions to use, and how far what lies in none of them is kept. */
typedef struct cr_choice {
    size_t components;
    double rest;  /* variance of a dimension, in units of the noise */
    double error; /* mean squared error of a feature, in units of the noise */
} cr_choice;

/* At most `most` of them. */
cr_choice cr_denoiser_choose(const cr_held *, size_t most);
/* The variance along direction i that those held back confirm. */
double cr_denoiser_confirmed(const cr_held *, size_t i);

#endif
