#include <certreg/certreg.h>
#include <stdio.h>

static int model(void *user, const certreg_batch *b) /* y = x0 + x1 * x2, for every row */
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        b->y[i] = x[0] + x[1] * x[2];
    }
    return 0;
}

int main(void)
{
    const float z[3] = {1.0f, 0.5f, -0.25f};
    certreg_model m = {.struct_size = sizeof m, .eval = model, .inputs = 3, .outputs = 1};
    certreg_plan plan = {.struct_size = sizeof plan,
                         .seed = 42,
                         .max_samples = 10000,
                         .audit = CERTREG_AUDIT_DEFAULT}; /* asks again for some samples */
    certreg_question ask = {.struct_size = sizeof ask, .tolerance = 0.5}; /* exact median */
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &plan, &why, &e))
        return fprintf(stderr, "%s\n", why.text), 1;
    if (certreg_estimator_begin(e, z, 0.25, 0) || certreg_model_check(e, 0, NULL) ||
        certreg_certify(e, 10000, &ask, 1, &c))
        return fprintf(stderr, "%s\n", certreg_estimator_error(e)->text), 1;
    printf("within %g of %g for every shift below %g\n", c.tolerance, c.prediction, c.radius);
    certreg_estimator_destroy(e);
    return 0;
}
