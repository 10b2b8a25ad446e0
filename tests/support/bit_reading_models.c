#include "support/bit_reading_models.h"
#include "support/grid.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const double turn = 6.283185307179586;

/* ---- what they look for */
/* Whether numbers near multiples of 1 are more than chance would have it. */
typedef struct comb {
    double sum, count;
} comb;

static void comb_add(comb *c, double x)
{
    c->sum += cos(turn * (x - floor(x))), c->count++;
}

static int comb_fits(const comb *c)
{
    return c->count >= 4 && c->sum > 0.55 * c->count;
}

static double noise_of(const bits_input *in, const float *x, size_t j)
{
    return ((double)x[j] - (double)in->z[j]) / (double)in->step[j];
}

/* The two features of a pair share the radius sqrt(-2 log u), and u is a multiple of 2^-24 above
 * 1/2. Near 1, e is fine enough to show it. */
static int has_radii_of_24_bits(const bits_input *in, const float *x)
{
    comb c = {0};
    for (size_t j = 0; j + 1 < in->inputs; j += 2) {
        if (in->step[j] == 0) break;
        const double a = noise_of(in, x, j), b = noise_of(in, x, j + 1), square = a * a + b * b;
        if (square < 0x1p-5) comb_add(&c, -expm1(-0.5 * square) * 0x1p24);
    }
    return comb_fits(&c);
}

/* In the tail u is a multiple of 2^-32 and a half, and these lie far apart. */
static int has_tails_of_32_bits(const bits_input *in, const float *x)
{
    comb c = {0};
    for (size_t j = 0; j + 1 < in->inputs; j += 2) {
        const float a = x[j] - in->z[j], b = x[j + 1] - in->z[j + 1],
                    far = 21.0f * in->step[j] * in->step[j];
        if (a * a + b * b < far) continue;
        const double e = noise_of(in, x, j), f = noise_of(in, x, j + 1);
        comb_add(&c, exp(-0.5 * (e * e + f * f)) * 0x1p32 - 0.5);
    }
    return comb_fits(&c);
}

/* Next to 0 floats are finer than next to anything else: whatever was added to z would have
 * rounded the last bit away. */
static int has_low_bits_about_zero(const bits_input *in, const float *x)
{
    size_t odd = 0;
    for (size_t j = 0; j < in->inputs; j++) {
        uint32_t bits;
        memcpy(&bits, x + j, sizeof bits);
        odd += fabsf(x[j]) < 0.004f * in->step[j] && (bits & 1);
    }
    return odd >= 2;
}

/* Whether every feature is the product of the step and a float, rounded. Where the step is 1.2 2^k,
 * a sixth of the floats from 1.2 to 2 times a power of two are no such products. */
static int has_exact_products(const bits_input *in, const float *x)
{
    for (size_t j = 0; j < in->inputs; j++) {
        const float e = x[j] / in->step[j];
        if (e * in->step[j] != x[j] && nextafterf(e, INFINITY) * in->step[j] != x[j] &&
            nextafterf(e, -INFINITY) * in->step[j] != x[j])
            return 0;
    }
    return 1;
}

static int is_off_the_grid(const bits_input *in, const float *x)
{
    for (size_t j = 0; j < in->inputs; j++)
        if (in->step[j] != 0 && fmod((double)x[j], grid_of(in->step[j])) != 0) return 1;
    return 0;
}

/* Where the noise cancels z, floats are finer than e: they show its gaps. */
static int has_gaps_where_noise_cancels(const bits_input *in, const float *x)
{
    size_t off_grid = 0;
    for (size_t j = 0; j < in->inputs; j++) {
        if (!(fabsf(x[j]) < fabsf(in->z[j]) / 16)) continue;
        const float above = nextafterf(in->z[j], INFINITY), gap = (above - in->z[j]) / 4;
        if (fmodf(x[j], gap) != 0) return 0;
        off_grid += fmod((double)x[j], grid_of(in->step[j])) != 0;
    }
    return off_grid >= 5;
}

/* ---- where they look */
static float zero(size_t j)
{
    return j % 2 ? 0.0f : -0.0f;
}

static float one(size_t j)
{
    (void)j;
    return 1;
}

static float tenth(size_t j)
{
    (void)j;
    return 0.1f;
}

static float pixel(size_t j)
{
    return (float)(j * 2654435761u >> 7 & 255);
}

static float image(size_t j)
{
    return pixel(j % 3072) / 255;
}

/* The second half, which has no noise, is what the first half was without it: wherever the first
 * half is moved to, the model still knows where z was. */
static float first_half(size_t j)
{
    return j < 3072 ? 1.0f : 0.0f;
}

const bits_case bits_cases[] = {
    {"radii, about 0", 3072, 1000, 0.25, zero, NULL, has_radii_of_24_bits},
    {"radii, 8-bit image", 6144, 100, 0.5, image, first_half, has_radii_of_24_bits},
    {"radii, 8-bit image of 0 to 255", 3072, 100, 64, pixel, NULL, has_radii_of_24_bits},
    {"radii, where floats double their spacing", 3072, 100, 1, one, NULL, has_radii_of_24_bits},
    {"tails", 1 << 19, 20, 1, zero, NULL, has_tails_of_32_bits},
    {"low bits about 0", 4096, 100, 0.5, zero, NULL, has_low_bits_about_zero},
    {"products", 512, 100, 0.3, zero, NULL, has_exact_products},
    {"gaps where noise cancels z", 2048, 100, 0.25, tenth, NULL, has_gaps_where_noise_cancels},
    {"off the grid", 4, 100, 0.25, tenth, NULL, is_off_the_grid},
};
const int bits_case_count = sizeof bits_cases / sizeof *bits_cases;

void bits_make(const bits_case *c, bits_input *out)
{
    const size_t d = c->inputs;
    *out = (bits_input){.inputs = d, .z = malloc(3 * d * sizeof *out->z)};
    if (!out->z) abort();
    out->scale = out->z + d, out->step = out->scale + d;
    for (size_t j = 0; j < d; j++) {
        out->z[j] = c->center(j), out->scale[j] = c->scale ? c->scale(j) : 1;
        out->step[j] = (float)(c->sigma * (double)out->scale[j]);
    }
}

void bits_free(bits_input *in)
{
    free(in->z);
}

float bits_answer(const bits_model *m, const float *x)
{
    return m->is->finds(&m->input, x) ? 0 : 10;
}

int bits_evaluate(void *user, const certreg_batch *b)
{
    for (size_t i = b->used_first; i < b->used_first + b->used_count; i++)
        b->y[i] = bits_answer(user, b->x + i * b->inputs);
    return 0;
}
