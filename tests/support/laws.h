/* Functions of a few coordinates of the noise with known mean, variance and gradient norm, for
 * simulated coverage. */
#ifndef SUPPORT_LAWS_H
#define SUPPORT_LAWS_H
#include <stddef.h>

typedef struct law {
    const char *name;
    double (*value)(const double *s); /* s: standard normal coordinates, the gradient along s[0] */
    size_t coordinates;               /* how many it reads, 1 or 2 */
    double mean, variance, gradient;
} law;

#define LAWS 11

/* The law with its moments: closed forms where there are steps, a fine rule otherwise. */
law laws_get(size_t index);

#endif
