/* A box: each sensor has an error bound of its own, and the question is how far the prediction can
 * move within all of them. Output bounds hold for an ellipsoid, so the program takes the radius of
 * the least one that contains the box. For any scale this is the root of sum (bound / scale)^2.
 * Prints the movement proved for two scales, and the movement of the worst corner that it finds. */
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <math.h>
#include <stdio.h>

enum { SENSORS = 5, SAMPLES = 4000 };
static const float now[SENSORS] = {21.5f, 1013, 0.4f, 3.2f, 60};  /* a reading */
static const double bound[SENSORS] = {0.2, 0.5, 0.05, 0.3, 0};    /* 0: this one is exact */
static const double slope[SENSORS] = {0.9, 0.04, 3.0, 0.2, 0.01}; /* typical, from other data */

/* ---- the stand-in: some quantity that depends on all sensors */
static float quantity(const float *x)
{
    const float t = x[0] - 20, p = x[1] - 1000;
    return t + 0.04f * p + 3 * sinf(x[2]) + 0.2f * x[3] * cosf(0.1f * t) - 0.01f * x[4];
}

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = quantity(b->x + i * SENSORS);
    return 0;
}

/* ---- the box in units of the scale. The bounds are widened by what rounding to float adds to a
 * move, and the result is rounded up (theory 1.8). */
static double reach(float x, double b)
{
    const double up = (double)(float)nextafter((double)x + b, INFINITY) - (double)x;
    const double down = (double)x - (double)(float)nextafter((double)x - b, -INFINITY);
    return fmax(b, fmax(up, down));
}

static double norm_of_box(const float *scale, const float *x) /* x NULL: of the bounds alone */
{
    double sum = 0;
    for (int j = 0; j < SENSORS; j++) {
        if (!(bound[j] > 0)) continue;
        const double ratio = (x ? reach(x[j], bound[j]) : bound[j]) / (double)scale[j];
        sum += ratio * ratio;
    }
    return sqrt(sum) * (1 + 1e-12);
}

/* ---- the movement that is proved, and the noise level for it */
static certreg_status proved(const float *scale, const char *name)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = model, .inputs = SENSORS, .outputs = 1, .scale = scale};
    const certreg_plan plan = {.struct_size = sizeof plan,
                               .audit = CERTREG_AUDIT_DEFAULT,
                               .seed = 42, /* to repeat the output; a deployment gives none */
                               .max_samples = SAMPLES};
    const certreg_question q = {.struct_size = sizeof q}; /* a median needs no tolerance */
    const double sigma = norm_of_box(scale, NULL) / 2;    /* the same for all readings */
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    certreg_status status = certreg_estimator_create(NULL, &m, &plan, &why, &e);
    if (status) return puts(why.text), status;
    status = certreg_estimator_begin(e, now, sigma, 0);
    if (!status) status = certreg_output_bounds(e, SAMPLES, &q, 1, norm_of_box(scale, now), &c);
    if (status) puts(certreg_estimator_error(e)->text);
    else printf("%-14s sigma %.3f: from %.2f to %.2f\n", name, sigma, c.output_lo, c.output_hi);
    certreg_estimator_destroy(e);
    return status;
}

/* ---- what the model itself does at the corners */
static void corners(void)
{
    float lo = INFINITY, hi = -INFINITY;
    for (unsigned corner = 0; corner < 1u << SENSORS; corner++) {
        float x[SENSORS];
        for (int j = 0; j < SENSORS; j++)
            x[j] = (float)((double)now[j] + (corner >> j & 1 ? bound[j] : -bound[j]));
        lo = fminf(lo, quantity(x));
        hi = fmaxf(hi, quantity(x));
    }
    printf("%-14s              from %.2f to %.2f\n", "corners", (double)lo, (double)hi);
}

int main(void)
{
    float simple[SENSORS], fitting[SENSORS];
    for (int j = 0; j < SENSORS; j++) {
        simple[j] = (float)bound[j];
        fitting[j] = (float)sqrt(bound[j] / slope[j]); /* the best one for a linear model */
    }
    certreg_status status = proved(simple, "scale: bounds");
    if (!status) status = proved(fitting, "scale: slopes");
    if (!status) corners();
    return status != CERTREG_OK;
}
