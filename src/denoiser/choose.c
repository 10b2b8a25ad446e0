/* How many directions a denoiser keeps (theory 13.3): the error on examples that were held back,
 * for each number of them, in closed form. */
#include "denoiser/denoiser.h"
#include <math.h>

#define ENOUGH 1.01 /* of the least error: what fewer directions may cost */

double cr_denoiser_confirmed(const cr_held *h, size_t i)
{
    return fmin(h->variance[i], (double)h->moment[i * h->count + i] / h->rows);
}

static double gain(double variance, double sigma2)
{
    return variance > 0 ? variance / (variance + sigma2) : 0;
}

/* Sums over the first k directions. */
typedef struct sums {
    double left, directions; /* squares outside of their span, and dimensions of it */
} sums;

static void add_direction(const cr_held *h, size_t k, sums *s)
{
    s->left -= 2 * h->mixed[k];
    for (size_t i = 0; i <= k; i++) {
        const size_t at = i * h->count + k;
        s->left += (i == k ? 1 : 2) * (double)h->moment[at] * (double)h->overlap[at];
    }
    s->directions += (double)h->overlap[k * h->count + k];
}

static double rest_of(const cr_held *h, const sums *s)
{
    const double dimensions = h->free - s->directions;
    return dimensions < 0.5 ? 0 : fmax(0, s->left) / (h->rows * dimensions);
}

/* The expected squares over the features with noise of what k directions leave of noise and input:
 * the filter is `rest` times the identity and extra[i] along each direction. */
static double error_of(const cr_held *h, size_t k, double rest)
{
    const double keep = gain(rest, h->sigma2), noise = h->rows * h->sigma2;
    double error = (1 - keep) * (1 - keep) * h->all + noise * keep * keep * h->free;
    for (size_t i = 0; i < k; i++) {
        const double a = gain(cr_denoiser_confirmed(h, i), h->sigma2) - keep;
        const double own = (double)h->overlap[i * h->count + i];
        error += 2 * a * (noise * keep * own - (1 - keep) * h->mixed[i]);
        for (size_t j = 0; j <= i; j++) {
            const double b = gain(cr_denoiser_confirmed(h, j), h->sigma2) - keep;
            const double both = (double)h->overlap[j * h->count + i];
            const double left = (double)h->moment[j * h->count + i] + noise * both;
            error += (i == j ? 1 : 2) * a * b * both * left;
        }
    }
    return error;
}

/* Errors need not fall with k, so all are looked at: first for the least, then for the first that
 * is good enough. */
static cr_choice first_below(const cr_held *h, size_t most, double enough)
{
    cr_choice best = {.error = INFINITY};
    sums s = {.left = h->all};
    for (size_t k = 0; k <= most; k++) {
        const double rest = rest_of(h, &s), error = error_of(h, k, rest);
        if (error < best.error) best = (cr_choice){k, rest, error};
        if (best.error <= enough) break;
        if (k < most) add_direction(h, k, &s);
    }
    return best;
}

cr_choice cr_denoiser_choose(const cr_held *h, size_t most)
{
    const cr_choice least = first_below(h, most, -1);
    cr_choice chosen = first_below(h, most, ENOUGH * least.error);
    chosen.error /= h->rows * h->sigma2 * h->free;
    return chosen;
}
