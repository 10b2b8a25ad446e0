/* Denoisers (theory 13): the constants of a linear filter, found from examples, used on rows. */
#ifndef CR_DENOISER_DENOISER_H
#define CR_DENOISER_DENOISER_H
#include "backend/backend.h"
#include "backend/cpu.h"
#include "certreg/denoiser.h"

enum { CR_DENOISER_MAX_COMPONENTS = 4096 };
#define CR_DENOISER_MAX_INPUTS ((size_t)1 << 27)

/* center and base_gain have `pitch` numbers, analysis and synthesis cr_denoiser_rows times `pitch`.
 * They are one array, in this order. */
struct certreg_denoiser {
    uint64_t tag; /* CR_HANDLE_TAG */
    size_t inputs, pitch, components;
    float *center, *base_gain, *analysis, *synthesis;
    double sigma, error;
    uint64_t rows, digest;
};

/* Makes a denoiser with all constants 0. */
certreg_status cr_denoiser_alloc(size_t inputs, size_t components, certreg_error *why,
                                 certreg_denoiser **out);
/* The rows of analysis and synthesis: components, and zeros up to a whole group. */
size_t cr_denoiser_rows(const certreg_denoiser *);
/* Sets the digest, after all constants. */
void cr_denoiser_set_digest(certreg_denoiser *);

/* Directions of the fitted examples, measured on the examples that were held back: means over
 * these, in units of the noise. */
typedef struct cr_holdout_spectrum {
    size_t count;                   /* directions, in descending order of their variance */
    double dimensions;              /* features with noise: dimensions in all */
    double residual;                /* square of the part outside of all directions */
    const double *variance;         /* count: among the fitted examples */
    const double *holdout_variance; /* count: square along a direction */
} cr_holdout_spectrum;

/* The number of directions to use, and the variance outside of them. */
typedef struct cr_subspace_choice {
    size_t components;
    double residual_variance; /* variance of a dimension, in units of the noise */
    double error;             /* mean squared error of a feature, in units of the noise */
} cr_subspace_choice;

/* Chooses at most `max_components` directions. */
cr_subspace_choice cr_denoiser_choose(const cr_holdout_spectrum *, size_t max_components);
/* The variance along direction i that the examples held back confirm. */
double cr_denoiser_confirmed_variance(const cr_holdout_spectrum *, size_t i);

#endif
