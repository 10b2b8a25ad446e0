/* Published certificates beside the library's own: one record, four questions, alpha 0.05.
 *   alpha-smoothing   as published: a trimmed mean of 500 fresh outputs, about f(z)
 *   median smoothing  as published: the median, about the median of the pilot
 *   median            the default
 *   served median     the default, for the median of 501 fresh outputs
 * What is served may miss the tolerance once in ten requests, with either method. Prints what each
 * certificate says. They promise different things, so the longest radius need not be the best. */
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <stdio.h>

enum { INPUTS = 4, PILOT = 1500, SAMPLES = 10000, QUESTIONS = 4 };

/* A stand-in: linear, except that a few outputs are far away. */
static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * INPUTS;
        b->y[i] = x[0] + 0.5f * x[1] - 0.8f * x[2] + (x[3] > 0.5f ? 20 * (x[3] - 0.5f) : 0);
    }
    return 0;
}

static const certreg_serving trimmed = {
    .struct_size = sizeof trimmed, .samples = 500, .failure_rate = 0.1, .trim = 0.49};
static const certreg_serving median = {
    .struct_size = sizeof median, .samples = 501, .failure_rate = 0.1};
static const certreg_question asked[QUESTIONS] = {
    {.struct_size = sizeof *asked,
     .tolerance = 0.5,
     .statistic = CERTREG_STATISTIC_TRIMMED_MEAN,
     .method = CERTREG_METHOD_BASELINE,
     .serving = &trimmed},
    {.tolerance = 0.5, .method = CERTREG_METHOD_BASELINE},
    {.tolerance = 0.5},
    {.tolerance = 0.5, .serving = &median}};
static const char *const says[QUESTIONS] = {
    "alpha-smoothing:  9 of 10 trimmed means of 500 fresh outputs",
    "median smoothing: the median of all outputs", "median:           the median of all outputs",
    "served median:    9 of 10 medians of 501 fresh outputs"};

static certreg_status compare(certreg_estimator *e)
{
    const float z[INPUTS] = {0.4f, 0.6f, -0.3f, 0.1f};
    certreg_certificate c[QUESTIONS] = {{.struct_size = sizeof *c}};
    double clean = 0;
    certreg_status status = certreg_estimator_begin(e, z, 0.25, 0);
    if (!status) status = certreg_estimator_sample(e, 0, PILOT);
    /* A prediction depends on the pilot alone. It can be read, and the input given up for it,
     * before the other samples are paid for. */
    if (!status) status = certreg_estimator_prediction(e, asked, &clean);
    if (!status) status = certreg_certify(e, SAMPLES, asked, QUESTIONS, c);
    if (status) return status;
    printf("f(z) = %.4f\n", clean);
    for (int i = 0; i < QUESTIONS; i++)
        printf("%s within %g of %.4f for every shift below %.4f\n", says[i], c[i].tolerance,
               c[i].prediction, c[i].radius);
    return CERTREG_OK;
}

int main(void)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = model, .inputs = INPUTS, .outputs = 1};
    const certreg_plan p = {.struct_size = sizeof p,
                            .audit = CERTREG_AUDIT_DEFAULT,
                            .seed = 42, /* so that the output repeats; a deployment gives none */
                            .max_samples = SAMPLES,
                            .pilot = PILOT};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) return puts(why.text), 1;
    const certreg_status status = compare(e);
    if (status) printf("%s: %s\n", certreg_status_text(status), certreg_estimator_error(e)->text);
    certreg_estimator_destroy(e);
    return status != CERTREG_OK;
}
