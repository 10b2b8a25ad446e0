/* Noise lies on a grid: whatever models read of its bits, what is certified of them is true of
 * Gaussian noise. */
#include "support/api_kit.h"
#include "support/grid.h"
#include "support/simulate.h"

static const double alpha = 1e-3;

/* Models that read the bits of their input: each answers 0 where it finds what it looks for, else
 * 10. Most look for traces of float noise about z, that is, of e made by Box-Muller of 32-bit
 * words and of z + step*e rounded to float; Gaussian noise has none, so that T is 10. Such noise is
 * certified to give 0, since it has the trace in every sample. */
typedef struct bits_case bits_case;
typedef struct bits_model {
    const bits_case *is;
    float *z, *scale, *step; /* step: sigma*scale, in float */
    size_t inputs;
} bits_model;

struct bits_case {
    const char *name;
    size_t inputs, samples;
    double sigma;
    float (*center)(size_t j);
    float (*scale)(size_t j); /* NULL: 1 */
    int (*finds)(const bits_model *, const float *x);
};

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

static double noise_of(const bits_model *in, const float *x, size_t j)
{
    return ((double)x[j] - (double)in->z[j]) / (double)in->step[j];
}

/* The two features of a pair share the radius sqrt(-2 log u), and u is a multiple of 2^-24 above
 * 1/2. Near 1, e is fine enough to show it. */
static int has_radii_of_24_bits(const bits_model *in, const float *x)
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
static int has_tails_of_32_bits(const bits_model *in, const float *x)
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
static int has_low_bits_about_zero(const bits_model *in, const float *x)
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
static int has_exact_products(const bits_model *in, const float *x)
{
    for (size_t j = 0; j < in->inputs; j++) {
        const float e = x[j] / in->step[j];
        if (e * in->step[j] != x[j] && nextafterf(e, INFINITY) * in->step[j] != x[j] &&
            nextafterf(e, -INFINITY) * in->step[j] != x[j])
            return 0;
    }
    return 1;
}

static int is_off_the_grid(const bits_model *in, const float *x)
{
    for (size_t j = 0; j < in->inputs; j++)
        if (in->step[j] != 0 && fmod((double)x[j], grid_of(in->step[j])) != 0) return 1;
    return 0;
}

/* Where the noise cancels z, floats are finer than e: they show its gaps. */
static int has_gaps_where_noise_cancels(const bits_model *in, const float *x)
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

static const bits_case bits_cases[] = {
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
static bits_model bits_make(const bits_case *c)
{
    const size_t d = c->inputs;
    bits_model m = {.is = c, .inputs = d, .z = malloc(3 * d * sizeof *m.z)};
    if (!m.z) abort();
    m.scale = m.z + d, m.step = m.scale + d;
    for (size_t j = 0; j < d; j++) {
        m.z[j] = c->center(j), m.scale[j] = c->scale ? c->scale(j) : 1;
        m.step[j] = (float)(c->sigma * (double)m.scale[j]);
    }
    return m;
}

static float bits_answer(const bits_model *m, const float *x)
{
    return m->is->finds(m, x) ? 0 : 10;
}

static int bits_evaluate(void *user, const certreg_batch *b)
{
    for (size_t i = b->used_first; i < b->used_first + b->used_count; i++)
        b->y[i] = bits_answer(user, b->x + i * b->inputs);
    return 0;
}

/* ---- models with one answer for Gaussian noise */
/* T of round_h and the model at z + shift, by noise that is not the library's; NaN: it is not clear
 * enough. */
static double smoothed(const bits_model *m, double shift, uint64_t seed)
{
    enum { ROWS = 12, CLEAR = 11 };
    simulate_source source;
    float *x = malloc(m->inputs * sizeof *x);
    int tens = 0;
    ck_assert_ptr_nonnull(x);
    simulate_seed(&source, seed);
    for (int i = 0; i < ROWS; i++) {
        grid_draw(&source, m->z, m->step, m->inputs, shift, x);
        tens += bits_answer(m, x) > 5;
    }
    free(x);
    return tens >= CLEAR ? 10 : tens <= ROWS - CLEAR ? 0 : NAN;
}

/* So far from z is all of it moved, in each feature that has noise: together 5e-5 sigma. */
static double short_shift(const bits_model *m)
{
    size_t moving = 0;
    for (size_t j = 0; j < m->inputs; j++) moving += m->step[j] != 0;
    return 5e-5 * m->is->sigma / sqrt((double)moving);
}

/* Questions whose answers hold at the number of samples that they get. */
static size_t ask(certreg_question *q)
{
    for (int i = 0; i < 3; i++) q[i] = kit_question(1), q[i].alpha = alpha;
    q[1].method = CERTREG_METHOD_ANYTIME;
    q[2].statistic = CERTREG_STATISTIC_HUBER, q[2].huber_width = 1;
    return 3;
}

TEST_ROWS(models_that_read_input_bits_get_no_false_certificate, bits_cases)
{
    enum { INPUTS = 3 };
    bits_model model = bits_make(bits_cases + _i);
    certreg_model m = kit_model(bits_evaluate, &model, model.inputs, 1);
    m.scale = model.scale, m.batch = 10;
    certreg_plan p = PLAN(.constraints = 0, .seed = 11, .max_samples = model.is->samples);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    const double truth[] = {smoothed(&model, 0, 1), smoothed(&model, short_shift(&model), 2)};
    int proved = 0;
    ck_assert_msg(truth[0] == truth[1], "%s: T is %g and %g", model.is->name, truth[0], truth[1]);
    for (uint64_t id = 0; id < INPUTS; id++) {
        certreg_question q[3];
        certreg_certificate c[3] = {{.struct_size = sizeof *c}};
        KIT_OK(e, certreg_estimator_begin(e, model.z, model.is->sigma, id));
        KIT_OK(e, certreg_certify(e, model.is->samples, q, ask(q), c));
        for (int i = 0; i < 3; i++) {
            ck_assert_msg(!(c[i].radius > 0) ||
                              (c[i].output_lo < truth[0] && truth[0] < c[i].output_hi),
                          "%s: T is %g, certified %g within %g sigma", model.is->name, truth[0],
                          c[i].prediction, c[i].radius / model.is->sigma);
            proved += c[i].radius > 0;
        }
    }
    ck_assert_int_gt(proved, 0);
    certreg_estimator_destroy(e);
    free(model.z);
}

TEST_MAIN("input_bits")
