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

typedef struct law {
    const char *name;
    size_t least_inputs;
    double (*value)(const float *x, size_t d);
} law;

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

enum { LAWS = 7, DIMENSIONS = 5 };
static const law laws[LAWS] = {
    {"half-space", 1, half_space}, {"rare half-space", 1, rare_half_space},
    {"two tails", 1, two_tails},   {"tails against", 1, tails_against},
    {"linear", 1, linear},         {"long noise", 3, long_noise},
    {"norm only", 1, norm_only}};
static const size_t dimensions[DIMENSIONS] = {1, 3, 30, 300, 3072};
static const uint64_t trials[DIMENSIONS] = {1000, 1000, 600, 150, 25};
#define LEVEL (0.01 / (LAWS * DIMENSIONS)) /* 1 % for all comparisons of this program together */

static double gradient_of(int l)
{
    switch (l) {
    case 0: return 2 * cr_normal_pdf(1);
    case 1: return 2 * cr_normal_pdf(rare);
    case 2: return 2 * cr_normal_pdf(1);
    case 3: return 2 * (cr_normal_pdf(0) - 2 * cr_normal_pdf(against));
    case 4: return (1 - 2 * cr_normal_sf(6)) / 6;
    case 5: return 2 * cr_normal_pdf(0) * (0.2 + 0.8 * exp(-1));
    default: return 0;
    }
}

/* Upper end of mean and second moment about c, exact but for the law of the norm, where u^2 = 1. */
static double second_about(int l, double c)
{
    switch (l) {
    case 0: return 1 + c * c - 2 * c * (1 - 2 * cr_normal_sf(1));
    case 1: return 1 + c * c - 2 * c * (1 - 2 * cr_normal_sf(rare));
    case 2: return 2 * cr_normal_sf(1) + c * c;
    case 3: return 1 + c * c;
    case 4: return 1.0 / 36 + c * c;
    case 5: return 0.04 + 0.96 * exp(-1) + c * c;
    default: return 1 + c * c + 2 * fabs(c);
    }
}

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

typedef struct outcome {
    uint64_t missed;
    double mean;
} outcome;

static outcome run_law(int l, size_t inputs, uint64_t runs)
{
    const double lo = -1, hi = 1, truth = gradient_of(l);
    const certreg_model model =
        MODEL(.inputs = inputs, .outputs = 1, .batch = BATCH, .lo = &lo, .hi = &hi);
    const certreg_plan plan = PLAN(.constraints = CERTREG_CONSTRAINTS_ECGM, .max_samples = ALL,
                                   .pilot = PILOT, .seed = 77);
    const cr_score output = {.kind = CR_SCORE_OUTPUT};
    float *x = malloc(BATCH * inputs * sizeof *x);
    certreg_estimator *e = kit_create(NULL, &model, &plan);
    outcome found = {0, 0};
    for (uint64_t run = 0; run < runs; run++) {
        coverage_begin(e, run);
        const double center = record_run(e, laws + l, inputs, x);
        const cr_martingale_problem job = {
            .samples = cr_view_samples(&e->record, &output, 0, PILOT, MAIN, center),
            .range_lo = lo,
            .range_hi = hi,
            .second_moment_hi = second_about(l, center),
            .cap = INFINITY,
            .alpha = ALPHA};
        double upper = 0;
        ck_assert_int_eq(cr_gradient_martingale_upper(&e->replay, &job, &upper), CERTREG_OK);
        found.missed += upper < truth * (1 - 1e-12);
        found.mean += upper / (double)runs;
    }
    free(x);
    return found;
}

/* Row: dimension within law. */
TEST_TIMES(martingale_upper_misses_with_at_most_alpha, LAWS *DIMENSIONS)
{
    const int l = _i / DIMENSIONS, k = _i % DIMENSIONS;
    if (dimensions[k] < laws[l].least_inputs) return;
    const outcome found = run_law(l, dimensions[k], trials[k]);
    printf("d %4zu, mean bound %.4f, truth %.4f: ", dimensions[k], found.mean, gradient_of(l));
    coverage_check(laws[l].name, found.missed, trials[k], ALPHA, LEVEL, 0);
}

KIT_MAIN("gradient_martingale")
