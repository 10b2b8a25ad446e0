/* A certificate in thirty lines: how far may the input move before the smoothed prediction moves by 0.3? */
#include <certreg/certreg.h>
#include <math.h>
#include <stdio.h>

static int model(void *user, const certreg_batch *b) /* your model: reads rows of x, writes rows of y */
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = tanhf(b->x[2 * i]) + 0.5f * b->x[2 * i + 1];
    return 0;
}

int main(void)
{
    const certreg_model m = {.struct_size = sizeof m, .eval = model, .inputs = 2, .outputs = 1};
    const certreg_plan p = {.struct_size = sizeof p, .capacity = 10000};
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 0.3};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    const float z[2] = {0.2f, -0.1f};

    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) return puts(why.text), 1;
    certreg_status status = certreg_estimator_begin(e, z, 0.25, 0); /* input, noise level, name of its noise */
    if (!status) status = certreg_certify(e, NULL, 10000, &q, 1, &c);
    if (status) puts(certreg_estimator_error(e)->text);
    else printf("prediction %.4f, stays within 0.3 for every shift shorter than %.4f\n", c.prediction, c.radius);
    certreg_estimator_destroy(e);
    return status != CERTREG_OK;
}
