/* Models that read the bits of their input: each answers 0 where it finds what it looks for, else
 * 10. Most look for traces of float noise about z, that is, of e made by Box-Muller of 32-bit words
 * and of z + step*e rounded to float; Gaussian noise has none, so that T is 10. Such noise is
 * certified to give 0, since it has the trace in every sample. */
#ifndef SUPPORT_BITS_H
#define SUPPORT_BITS_H
#include <certreg/certreg.h>
#include <stddef.h>

typedef struct bits_input { /* what a model of this kind is made for */
    size_t inputs;
    float *z, *scale, *step; /* step: sigma*scale, in float */
} bits_input;

typedef struct bits_case {
    const char *name;
    size_t inputs, samples;
    double sigma;
    float (*center)(size_t j);
    float (*scale)(size_t j); /* NULL: 1 */
    int (*finds)(const bits_input *, const float *x);
} bits_case;

extern const bits_case bits_cases[];
extern const int bits_case_count;

void bits_make(const bits_case *, bits_input *out);
void bits_free(bits_input *);

typedef struct bits_model {
    const bits_case *is;
    bits_input input;
} bits_model;
float bits_answer(const bits_model *, const float *x);
int bits_evaluate(void *model, const certreg_batch *);

#endif
