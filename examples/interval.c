/* Prediction intervals that contain the truth, also under attack. A controller estimates a distance
 * from four sensors. Calibration runs had a laser that measured the distance itself. In operation,
 * somebody may disturb the sensors. Prints for three sizes of the disturbance, each as bad as
 * possible, the mean length of the intervals, the number that contain the truth, and the least
 * number of points that would do. */
#define CERTREG_EXPERIMENTAL 1 /* see "stability" in certreg.h */
#include <certreg/interval.h>
#include <certreg/sampling.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { SENSORS = 4, POINTS = 300, SAMPLES = 101, READINGS = 1000 };
static const double sigma = 0.2, alpha = 0.1;

/* ---- the stand-ins: sensors, the truth, and a model that knows most of it */
static uint32_t lottery = 7;

static double uniform(void)
{
    lottery = lottery * 1664525u + 1013904223u;
    return ((double)(lottery >> 8) + 0.5) * 0x1p-24;
}

static double reading(float *z) /* returns the true distance */
{
    for (int j = 0; j < SENSORS; j++) z[j] = (float)(2 * uniform());
    return 3 + (double)z[0] + 0.5 * (double)(z[1] + z[2]) + 0.6 * (uniform() + uniform() - 1);
}

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        b->y[i] = 3 + x[0] + 0.5f * x[1] + 0.5f * x[2];
    }
    return 0;
}

/* The model is steepest along (1, 1/2, 1/2, 0). The worst disturbance leads away from the truth. */
static void disturb(float *z, double truth, double radius)
{
    const double steepest[SENSORS] = {1, 0.5, 0.5, 0};
    const double here = 3 + (double)z[0] + 0.5 * (double)(z[1] + z[2]);
    const double length = (here > truth ? radius : -radius) * (1 - 1e-6) / sqrt(1.5);
    for (int j = 0; j < SENSORS; j++) z[j] += (float)(length * steepest[j]);
}

/* ---- calibration: every point is sampled with noise of its own */
static certreg_status calibrate(certreg_estimator *e, certreg_calibration *calibration)
{
    certreg_status status = CERTREG_OK;
    for (uint64_t i = 0; i < POINTS && !status; i++) {
        float z[SENSORS];
        const double truth = reading(z);
        status = certreg_estimator_begin(e, z, sigma, i);
        if (!status) status = certreg_estimator_sample(e, 0, SAMPLES);
        if (!status) status = certreg_estimator_calibrate(e, calibration, &truth);
    }
    return status;
}

/* ---- operation: fresh noise for every reading, and the rule of one radius for all */
static certreg_status interval(certreg_estimator *e, const certreg_calibration *calibration,
                               const certreg_rule *rule, const float *z, uint64_t noise_id,
                               certreg_interval *out)
{
    double lo[SAMPLES], hi[SAMPLES]; /* the pieces of the set, here one */
    certreg_status status = certreg_estimator_begin(e, z, sigma, noise_id);
    if (!status) status = certreg_estimator_sample(e, 0, SAMPLES);
    if (!status) status = certreg_estimator_interval(e, calibration, rule, 0, lo, hi, SAMPLES, out);
    return status;
}

static certreg_status operate(certreg_estimator *e, const certreg_calibration *calibration,
                              double radius, uint64_t first_noise)
{
    const certreg_coverage coverage = {
        .struct_size = sizeof coverage, .alpha = alpha, .radius = radius, .samples = SAMPLES};
    certreg_rule rule = {.struct_size = sizeof rule};
    certreg_error why = {.struct_size = sizeof why};
    if (certreg_interval_rule(&coverage, calibration, &why, &rule))
        return puts(why.text), CERTREG_E_INVALID;
    certreg_interval set = {.struct_size = sizeof set};
    int covered = 0;
    double length = 0;
    for (uint64_t i = 0; i < READINGS; i++) {
        float z[SENSORS];
        const double truth = reading(z);
        disturb(z, truth, radius);
        const certreg_status status = interval(e, calibration, &rule, z, first_noise + i, &set);
        if (status) return puts(certreg_estimator_error(e)->text), status;
        covered += set.lo <= truth && truth <= set.hi;
        length += (set.hi - set.lo) / READINGS;
    }
    printf("disturbed by %.2f: length %.2f, %d of %d truths inside; %" PRIu64 " points would do\n",
           radius, length, covered, READINGS, rule.least_points);
    return CERTREG_OK;
}

/* The scores are stored with their seed. New readings have another one, which is a secret: outside
 * of an example leave it out, and the library draws it. */
static certreg_estimator *estimator_with(uint64_t seed)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = model, .inputs = SENSORS, .outputs = 1};
    const certreg_plan p = {
        .struct_size = sizeof p, .max_samples = SAMPLES, .pilot = SIZE_MAX, .seed = seed};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) puts(why.text);
    return e;
}

int main(void)
{
    static double scores[POINTS * CERTREG_CALIBRATION_SCORES];
    certreg_calibration calibration = {
        .struct_size = sizeof calibration, .capacity = POINTS, .scores = scores};
    certreg_estimator *before = estimator_with(9), *now = estimator_with(10);
    if (!before || !now) return 1;
    certreg_status status = calibrate(before, &calibration);
    if (status) puts(certreg_estimator_error(before)->text);
    for (uint64_t i = 0; i < 3 && !status; i++)
        status = operate(now, &calibration, 0.1 * (double)i, i * READINGS);
    certreg_estimator_destroy(now);
    certreg_estimator_destroy(before);
    return status != CERTREG_OK;
}
