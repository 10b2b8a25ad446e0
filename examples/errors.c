/* Errors: every failure has a status, a sentence for people and fields for programs, and the handle
 * can be used again afterwards. Five mistakes are made on purpose: model.inputs is missing, a model
 * returns NaN, one fails, one leaves a row out, and a question has a negative tolerance.
 * Prints the status and the sentence of each and, where the model is at fault, the sample. */
#include <certreg/sampling.h>
#include <math.h>
#include <stdio.h>

enum fault { SOUND, WRITES_NAN, GIVES_UP, LEAVES_A_ROW_OUT };

static int model(void *user, const certreg_batch *b)
{
    const enum fault fault = *(const enum fault *)user;
    if (fault == GIVES_UP) return 42;
    for (size_t i = 0; i < b->rows; i++) {
        if (fault == LEAVES_A_ROW_OUT && i == 5) continue;
        b->y[i] = fault == WRITES_NAN && i == 17 ? (float)NAN : b->x[i * b->inputs];
    }
    return 0;
}

static void report(certreg_status status, const certreg_error *error)
{
    printf("%s: %s\n", certreg_status_text(status), error->text);
    if (error->sample >= 0)
        printf("    sample %lld, row %lld, output %d, model's code %d\n", (long long)error->sample,
               (long long)error->row, (int)error->output, (int)error->code);
}

int main(void)
{
    enum fault fault = SOUND;
    certreg_model m = {.struct_size = sizeof m, .eval = model, .user = &fault, .outputs = 1};
    const certreg_plan p = {
        .struct_size = sizeof p, .audit = CERTREG_AUDIT_DEFAULT, .max_samples = 1000}; /* seed:
                                                                                          drawn */
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    certreg_status status = certreg_estimator_create(NULL, &m, &p, &why, &e); /* no model.inputs */
    report(status, &why);
    m.inputs = 3;
    if ((status = certreg_estimator_create(NULL, &m, &p, &why, &e))) return report(status, &why), 1;

    const float z[3] = {0.5f, 0, 0};
    for (fault = WRITES_NAN; fault <= LEAVES_A_ROW_OUT; fault++) {
        if ((status = certreg_estimator_begin(e, z, 0.1, 0))) break;
        report(certreg_estimator_sample(e, 0, 1000), certreg_estimator_error(e));
    }

    fault = SOUND;
    const certreg_question questions[2] = {{.struct_size = sizeof *questions, .tolerance = 0.2},
                                           {.tolerance = -1}};
    certreg_certificate c[2] = {{.struct_size = sizeof *c}};
    status = certreg_estimator_begin(e, z, 0.1, 0);
    if (!status) status = certreg_certify(e, 1000, questions, 2, c);
    report(status, certreg_estimator_error(e));
    printf("the valid question is answered all the same: radius %.4f\n", c[0].radius);
    certreg_estimator_destroy(e);
    return !(c[0].radius > 0);
}
