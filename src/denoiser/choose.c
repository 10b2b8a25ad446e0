/* How many directions a denoiser keeps (theory 13.3): the error on examples that were held back,
 * for each number of them, in closed form. */
#include "denoiser/denoiser.h"
#include <math.h>

#define ENOUGH 1.01 /* of the least error: what fewer directions may cost */

double cr_denoiser_gain(double variance)
{
    return variance / (variance + 1);
}

double cr_denoiser_confirmed(const cr_held *h, size_t i)
{
    return fmin(h->variance[i], h->seen[i]);
}

/* The first k directions, and the identity times one number for what lies in none of them. */
static cr_choice choice_of(const cr_held *h, size_t k)
{
    const double dimensions = h->free - (double)k;
    double left = h->left, error = 0;
    for (size_t i = k; i < h->count; i++) left += h->seen[i];
    const double rest = dimensions > 0 ? left / dimensions : 0;
    for (size_t i = 0; i < k; i++) {
        const double gain = cr_denoiser_gain(cr_denoiser_confirmed(h, i));
        error += (1 - gain) * (1 - gain) * h->seen[i] + gain * gain;
    }
    /* variance and gain belong together there, so that the error is the gain */
    error += dimensions * cr_denoiser_gain(rest);
    return (cr_choice){k, rest, error / h->free};
}

cr_choice cr_denoiser_choose(const cr_held *h, size_t most)
{
    double least = INFINITY;
    for (size_t k = 0; k <= most; k++) least = fmin(least, choice_of(h, k).error);
    size_t k = 0;
    while (choice_of(h, k).error > ENOUGH * least) k++;
    return choice_of(h, k);
}
