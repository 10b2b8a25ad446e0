/* Simulated coverage of the finite-sample bound of the gradient norm, on laws chosen to break
 * it: half-spaces, rare ones too, where the weights are largest exactly where the noise is; laws
 * whose tails pull against the gradient, with a known answer; gradients as large as the variance
 * allows; weights that depend on the length of the noise; jumps that the pilot has not seen. */
#include "statistics/normal.h"
#include "bounds/bounds.h"
#include "estimator/estimator.h"
#include "support/coverage.h"

enum { PILOT = 96, MAIN = 704, ALL = PILOT + MAIN, BATCH = 100 };

#define ALPHA 0.3
static const double against = 1.5; /* where the tails begin that pull against the gradient */
static const double rare = 2.6;    /* beyond it about three of the samples */

static double half_space(const float *x, size_t d)
{
    (void)d;
    return x[0] > -1 ? 1 : -1;
}

static double rare_half_space(const float *x, size_t d)
{
    (void)d;
    return (double)x[0] > -rare ? 1 : -1;
}

static double two_tails(const float *x, size_t d)
{
    (void)d;
    return x[0] > 1 ? 1 : x[0] < -1 ? -1 : 0;
}

static double tails_against(const float *x, size_t d)
{
    (void)d;
    const double sign = x[0] > 0 ? 1 : -1;
    return fabs((double)x[0]) < against ? sign : -sign;
}

static double linear(const float *x, size_t d)
{
    (void)d;
    return fmax(-1, fmin((double)x[0] / 6, 1));
}

/* Its sign is random, and it is larger where the pair (x1, x2) is long. */
static double long_noise(const float *x, size_t d)
{
    (void)d;
    const float square = x[1] * x[1] + x[2] * x[2];
    return (x[0] > 0 ? 1 : -1) * (square > 2 ? 1 : 0.2);
}

/* No gradient at all: what the bound is made of is noise. */
static double norm_only(const float *x, size_t d)
{
    double square = 0;
    for (size_t j = 0; j < d; j++) square += (double)x[j] * (double)x[j];
    return square > (double)d ? 1 : -1;
}

/* Its gradient, and the upper end of its second moment about c: c^2 + drift*c + second, exact but
 * for the law of the norm, where u^2 = 1. */
typedef struct law {
    const char *name;
    size_t least_inputs;
    double (*value)(const float *x, size_t d);
    double gradient, drift, second;
} law;

#define PDF0 0.3989422804014327
#define PDF1 0.24197072451914337 /* at 1; sf(1) = 0.158655... */
static const law laws[] = {
    {"half-space", 1, half_space, 2 * PDF1, -2 * (1 - 2 * 0.15865525393145705), 1},
    {"rare half-space", 1, rare_half_space, 2 * 0.013582969233685613,
     -2 * (1 - 2 * 0.004661188023718732), 1},
    {"two tails", 1, two_tails, 2 * PDF1, 0, 2 * 0.15865525393145705},
    {"tails against", 1, tails_against, 2 * (PDF0 - 2 * 0.12951759566589174), 0, 1},
    {"linear", 1, linear, 0.1666666663378041, 0, 1.0 / 36},
    {"long noise", 3, long_noise, 2 * PDF0 * 0.4943035529371539, 0, 0.3931642635245846},
    {"norm only", 1, norm_only, 0, 0, 1},
};
static const size_t dimensions[] = {1, 3, 30, 300, 3072};
static const uint64_t runs[] = {600, 600, 400, 100, 20};
enum { DIMENSIONS = KIT_ROWS(dimensions), LAWS = KIT_ROWS(laws) };

/* These laws miss in a sixth of alpha at most, so that a third of it is the limit here. */
static const double limit = ALPHA / 3;

/* Draws a run, records its outputs, and returns the mean of the pilot. */
static double record_run(certreg_estimator *e, const law *l, size_t inputs, float *x)
{
    float y[BATCH];
    double sum = 0;
    for (size_t i = 0; i < ALL; i += BATCH) {
        ck_assert_int_eq(certreg_estimator_draw(e, i, BATCH, x), CERTREG_OK);
        for (size_t k = 0; k < BATCH; k++) {
            y[k] = (float)l->value(x + k * inputs, inputs);
            if (i + k > 0 && i + k < PILOT) sum += (double)y[k];
        }
        KIT_OK(e, certreg_estimator_record(e, i, BATCH, y));
    }
    return sum / (PILOT - 1);
}

typedef struct bench {
    const law *law;
    size_t inputs;
    float *x;
    certreg_estimator *estimator;
} bench;

static unsigned run_law(void *of, uint64_t run, double spend)
{
    const bench *b = of;
    const law *l = b->law;
    const cr_score output = {.kind = CR_SCORE_OUTPUT};
    coverage_begin(b->estimator, run);
    const double c = record_run(b->estimator, l, b->inputs, b->x),
                 drift = l->value == norm_only ? 2 * fabs(c) : l->drift * c;
    const cr_martingale_problem job = {
        .samples = cr_view_samples(&b->estimator->record, &output, 0, PILOT, MAIN, c),
        .range_lo = -1,
        .range_hi = 1,
        .second_moment_hi = l->second + drift + c * c,
        .cap = INFINITY,
        .alpha = ALPHA * spend};
    double upper = 0;
    ck_assert_int_eq(cr_gradient_martingale_upper(&b->estimator->replay, &job, &upper), CERTREG_OK);
    return upper < l->gradient * (1 - 1e-12);
}

/* Row: dimension within law. */
TEST_TIMES(gradient_martingale_upper_misses_as_often_as_expected, LAWS *DIMENSIONS)
{
    const int l = _i / DIMENSIONS, k = _i % DIMENSIONS;
    const double lo = -1, hi = 1;
    const certreg_model m =
        MODEL(.inputs = dimensions[k], .outputs = 1, .batch = BATCH, .lo = &lo, .hi = &hi);
    const certreg_plan p = PLAN(.constraints = CERTREG_CONSTRAINTS_ECGM, .max_samples = ALL,
                                .pilot = PILOT, .seed = 77);
    if (dimensions[k] < laws[l].least_inputs) return;
    bench b = {laws + l, dimensions[k], malloc(BATCH * dimensions[k] * sizeof(float)),
               kit_create(NULL, &m, &p)};
    coverage_row(limit, NAN, runs[k], run_law, &b, "gradient, %s, %zu inputs", laws[l].name,
                 dimensions[k]);
    free(b.x);
}

KIT_MAIN("gradient_martingale")
