/* From a model to a deployment: choose the noise level, certify what is served, bound the output.
 *   1. On inputs set aside, certify at several noise levels and choose the one with the largest
 * mean radius.
 *   2. At that level, on a new input, certify what is served: the median of 101 fresh calls, which
 *      has a sampling error of its own.
 *   3. For a shift of a given size, bound the output: between which values does it stay?
 * Prints the mean radius of every level, the radii and output bounds of the new input, and one
 * served output. The model is a stand-in. */
#include <certreg/question.h>
#include <math.h>
#include <stdio.h>

enum { INPUTS = 10, SAMPLES = 4000, LEVELS = 4, ASIDE = 12, SERVED = 101 };
static const double sigma[LEVELS] = {0.05, 0.1, 0.2, 0.4};
static const double tolerance = 0.5;

/* ---- the stand-in */
static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * INPUTS;
        float sum = 0;
        for (int j = 0; j < INPUTS; j++) sum += x[j] * (j % 2 ? 0.8f : 1.1f);
        b->y[i] = 0.7f * sum + 1.2f * sinf(1.5f * sum) * expf(-0.1f * sum * sum);
    }
    return 0;
}

static void input(int at, float *z)
{
    for (int j = 0; j < INPUTS; j++)
        z[j] = 0.5f * sinf((float)(at * INPUTS + j) * 0.7f) + 0.1f * (float)(at % 7);
}

/* ---- 1. one level for all inputs */
static certreg_status choose(certreg_estimator *e, size_t *level)
{
    const certreg_question q = {.struct_size = sizeof q, .tolerance = tolerance};
    certreg_certificate c[ASIDE * LEVELS] = {{.struct_size = sizeof *c}};
    double mean_radius[LEVELS];
    for (int i = 0; i < ASIDE; i++) {
        float z[INPUTS];
        input(i, z);
        c[i * LEVELS].struct_size = sizeof *c;
        const certreg_status status = certreg_certify_sigmas(
            e, z, sigma, LEVELS, (uint64_t)(500 + i), SAMPLES, &q, 1, c + i * LEVELS);
        if (status) return status;
    }
    certreg_error why = {.struct_size = sizeof why};
    const certreg_status status = certreg_choose_sigma(c, ASIDE, LEVELS, &why, mean_radius, level);
    if (status) puts(why.text);
    for (size_t k = 0; k < LEVELS && !status; k++)
        printf("sigma %.2f: mean radius %.4f%s\n", sigma[k], mean_radius[k],
               k == *level ? "  <- deploy" : "");
    return status;
}

/* ---- 2. and 3. on an input that had no part in the choice */
static certreg_status deploy(certreg_estimator *e, double level)
{
    enum { MEDIAN, SERVE, QUESTIONS };
    const double shift = 0.1;
    const uint64_t together = 2 * QUESTIONS; /* two radii and two output bounds */
    const certreg_serving serving = {
        .struct_size = sizeof serving, .samples = SERVED, .failure_rate = 0.01};
    const certreg_question q[QUESTIONS] = {
        [MEDIAN] = {.struct_size = sizeof *q, .tolerance = tolerance, .bonferroni = together},
        [SERVE] = {.tolerance = tolerance, .serving = &serving, .bonferroni = together}};
    certreg_certificate c[QUESTIONS] = {{.struct_size = sizeof *c}},
                        stays[QUESTIONS] = {{.struct_size = sizeof *c}};
    float z[INPUTS];
    input(ASIDE, z);
    certreg_status status = certreg_estimator_begin(e, z, level, 1000);
    if (!status) status = certreg_certify(e, SAMPLES, q, QUESTIONS, c);
    if (!status) status = certreg_output_bounds(e, 0, q, QUESTIONS, shift, stays);
    if (status) return status;
    printf("the smoothed output, %.3f, moves by less than %g for every shift below %.4f\n",
           c[MEDIAN].prediction, tolerance, c[MEDIAN].radius);
    printf(
        "the median of %d fresh calls stays there, 99 times of 100, for every shift below %.4f\n",
        SERVED, c[SERVE].radius);
    printf("for every shift below %g the smoothed output stays between %.3f and %.3f\n", shift,
           stays[MEDIAN].output_lo, stays[MEDIAN].output_hi);
    printf("and the served output, 99 times of 100, between %.3f and %.3f\n",
           stays[SERVE].output_lo, stays[SERVE].output_hi);
    return CERTREG_OK;
}

/* The served output itself: the median of fresh calls at the present input. Its noise ids differ
 * from those of every certificate. */
static certreg_status serve(certreg_estimator *e, double level, uint64_t request, double *answer)
{
    const certreg_question q = {
        .struct_size = sizeof q, .tolerance = tolerance, .prediction = &(double){0}};
    certreg_certificate c = {.struct_size = sizeof c};
    float z[INPUTS];
    input(ASIDE, z);
    z[0] += 0.05f; /* the input has been shifted */
    certreg_status status = certreg_estimator_begin(e, z, level, 2000 + request);
    if (!status) status = certreg_certify(e, SERVED, &q, 1, &c);
    *answer = c.samples == SERVED ? c.estimate : NAN; /* the guarantee is about SERVED samples */
    return status;
}

int main(void)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = model, .inputs = INPUTS, .outputs = 1};
    const certreg_plan p = {.struct_size = sizeof p,
                            .audit = CERTREG_AUDIT_DEFAULT,
                            .seed = 1, /* so that the output repeats; a deployment gives none */
                            .max_samples = SAMPLES};
    const certreg_plan few = {.struct_size = sizeof few, .max_samples = SERVED, .pilot = SIZE_MAX};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL, *server = NULL;
    size_t level = 0;
    double answer = 0;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) return puts(why.text), 1;
    if (certreg_estimator_create(NULL, &m, &few, &why, &server))
        return puts(why.text), certreg_estimator_destroy(e), 1;
    certreg_status status = choose(e, &level);
    if (!status) status = deploy(e, sigma[level]);
    if (status) printf("%s: %s\n", certreg_status_text(status), certreg_estimator_error(e)->text);
    if (!status && (status = serve(server, sigma[level], 0, &answer)))
        puts(certreg_estimator_error(server)->text);
    if (!status) printf("served: %.3f\n", answer);
    certreg_estimator_destroy(server);
    certreg_estimator_destroy(e);
    return status != CERTREG_OK;
}
