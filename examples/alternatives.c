/* One radius for an input and for everything that may be different about it: a house with another
 * kind of heating, or with a thermometer that has failed. Every alternative has a record of its
 * own, and the least of their radii holds around all of them, at the alpha of one certificate
 * (theory 1.11). The prediction comes from the pilot of the house itself, so that every certificate
 * is about the same value. Prints the radius of each alternative, and the radius of all of them. */
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <math.h>
#include <stdio.h>

enum { AREA, AGE, INSIDE, HEATING, FEATURES, KINDS = 3, ALTERNATIVES = 4, SAMPLES = 1000 };
static const float scale[FEATURES] = {10, 5, 1, 0}; /* the kind of heating is exact */
static const double sigma = 1;

/* ---- the stand-in: the energy that a house takes */
static float energy(const float *x)
{
    static const float of_kind[KINDS] = {9, 10, 12};
    const int kind = (int)x[HEATING];
    return of_kind[kind] + 0.05f * x[AREA] + 0.03f * x[AGE] + 0.4f * tanhf(x[INSIDE] - 20);
}

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = energy(b->x + i * FEATURES);
    return 0;
}

/* ---- the alternatives: number 0 is the house itself */
static const char *alternative(int a, float *x)
{
    static const float house[FEATURES] = {120, 30, 21, 1};
    for (int j = 0; j < FEATURES; j++) x[j] = house[j];
    if (a == 1 || a == 2) x[HEATING] = a == 1 ? 0 : 2;
    if (a == 3) x[INSIDE] = 0;
    static const char *const names[ALTERNATIVES] = {"as it is", "other heating", "other heating",
                                                    "no thermometer"};
    return names[a];
}

/* Noise ids must differ between all records of a program: here 64 for each house. */
static uint64_t noise_id(uint64_t house, int a)
{
    return 64 * house + (uint64_t)a;
}

/* Certifies alternative a of a house. Only the first one has a pilot, which chooses *prediction. */
static certreg_status certify(certreg_estimator *e, int a, certreg_question *q, double *prediction,
                              certreg_certificate *c)
{
    float x[FEATURES];
    alternative(a, x);
    q->prediction = a ? prediction : NULL;
    certreg_status status = certreg_estimator_begin(e, x, sigma, noise_id(0, a));
    if (!status) status = certreg_certify(e, SAMPLES, q, 1, c);
    if (status) puts(certreg_estimator_error(e)->text);
    else if (!a) *prediction = c->prediction;
    return status;
}

static certreg_status all_alternatives(certreg_estimator *own, certreg_estimator *others)
{
    certreg_question q = {.struct_size = sizeof q, .tolerance = 3};
    certreg_certificate c = {.struct_size = sizeof c};
    double prediction = 0, radius = INFINITY;
    for (int a = 0; a < ALTERNATIVES; a++) {
        float x[FEATURES];
        const char *name = alternative(a, x);
        const certreg_status status = certify(a ? others : own, a, &q, &prediction, &c);
        if (status) return status;
        printf("%-14s radius %.3f\n", name, c.radius);
        /* The least counts. Without the alternatives that fail, the claim would be false too often.
         */
        radius = fmin(radius, c.radius);
    }
    printf("within 3 of %.2f for all of them, and every shift below %.3f\n", prediction, radius);
    return CERTREG_OK;
}

static certreg_estimator *estimator(size_t pilot)
{
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = model,
                             .inputs = FEATURES,
                             .outputs = 1,
                             .batch = 50,
                             .scale = scale};
    const certreg_plan p = {.struct_size = sizeof p,
                            .seed = 42, /* so that the output repeats; a deployment gives none */
                            .max_samples = SAMPLES,
                            .pilot = pilot};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) puts(why.text);
    return e;
}

int main(void)
{
    certreg_estimator *own = estimator(200);         /* its pilot serves all alternatives */
    certreg_estimator *others = estimator(SIZE_MAX); /* no pilot: all samples count */
    certreg_status status = CERTREG_E_INVALID;
    if (own && others) status = all_alternatives(own, others);
    certreg_estimator_destroy(own);
    certreg_estimator_destroy(others);
    return status != CERTREG_OK;
}
