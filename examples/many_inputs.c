/* One estimator for many inputs, three certificates from the samples of each, and progress on the
 * error stream. The network is a stand-in with the shape of an inference engine: a session, and a
 * call that runs a batch (examples/engines has real ones).
 * Prints a CSV table, one row per certificate. */
#include <certreg/certreg.h>
#include <math.h>
#include <stdio.h>

enum { PIXELS = 196, HIDDEN = 8, IMAGES = 4, SAMPLES = 2000, QUESTIONS = 3 };

/* ---- the stand-in engine */
typedef struct session {
    float weight[HIDDEN][PIXELS], head[2][HIDDEN];
} session;

static float small(unsigned *state) /* in [-1, 1) */
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 8388608.0f - 1;
}

static void load(session *s)
{
    unsigned state = 1;
    for (int h = 0; h < HIDDEN; h++)
        for (int j = 0; j < PIXELS; j++) s->weight[h][j] = 0.1f * small(&state);
    for (int h = 0; h < HIDDEN; h++)
        s->head[0][h] = 1 + 0.3f * small(&state), s->head[1][h] = small(&state);
}

static int run(const session *s, const float *x, float *y, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        y[2 * i] = 4, y[2 * i + 1] = 0;
        for (int h = 0; h < HIDDEN; h++) {
            float sum = 0;
            for (int j = 0; j < PIXELS; j++) sum += s->weight[h][j] * x[i * PIXELS + (size_t)j];
            const float active = tanhf(sum);
            y[2 * i] += s->head[0][h] * active;
            y[2 * i + 1] += s->head[1][h] * active;
        }
    }
    return 0;
}

/* ---- certificates */
static int eval(void *user, const certreg_batch *b) /* writes (cos, sin) straight into y */
{
    return run(user, b->x, b->y, b->rows);
}

static int progress(void *user, uint64_t done, uint64_t total)
{
    fprintf(stderr, "\rinput %d of %d: %3.0f %%", *(int *)user + 1, IMAGES,
            100.0 * (double)done / (double)total);
    return 0; /* anything else cancels */
}

static void print_row(int image, const certreg_certificate *c)
{
    printf("%d,%d,%u,%d,%.6g,%.6g,%llu\n", image, (int)c->statistic, (unsigned)c->constraints,
           (int)c->method, c->prediction, c->radius, (unsigned long long)c->samples);
}

static certreg_status all_images(certreg_estimator *e, int *at)
{
    const double tolerance = 10 * 3.14159265358979 / 180;
    const certreg_question questions[QUESTIONS] = {
        {.struct_size = sizeof *questions, .tolerance = tolerance}, /* finite-sample median */
        {.tolerance = tolerance,
         .statistic = CERTREG_STATISTIC_HUBER,
         .huber_width = 0.5 * tolerance,
         .method = CERTREG_METHOD_ASYMPTOTIC},
        {.tolerance = tolerance,
         .statistic = CERTREG_STATISTIC_MEAN,
         .center = CERTREG_CENTER_TRUE_MEAN,
         .method = CERTREG_METHOD_PAPER}};
    puts("image,statistic,constraints,method,prediction,radius,samples");
    for (*at = 0; *at < IMAGES; ++*at) {
        float z[PIXELS];
        for (int j = 0; j < PIXELS; j++) z[j] = 0.5f + 0.4f * sinf((float)(j * (*at + 2)) * 0.1f);
        certreg_certificate c[QUESTIONS] = {{.struct_size = sizeof *c}};
        certreg_status status = certreg_estimator_begin(e, z, 0.25, (uint64_t)*at);
        if (!status) status = certreg_certify(e, SAMPLES, questions, QUESTIONS, c);
        if (status) return status;
        for (int k = 0; k < QUESTIONS; k++) print_row(*at, c + k);
    }
    fputc('\n', stderr);
    return CERTREG_OK;
}

int main(void)
{
    static session net;
    load(&net);
    int at = 0;
    const int32_t kind = CERTREG_OUTPUT_ANGLE_PAIR;
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = eval,
                             .user = &net,
                             .inputs = PIXELS,
                             .outputs = 1,
                             .kind = &kind};
    const certreg_plan p = {.struct_size = sizeof p,
                            .constraints = CERTREG_CONSTRAINTS_ECGM, /* with the gradient */
                            .max_samples = SAMPLES,
                            .seed = 42, /* so that the output repeats; a deployment gives none */
                            .progress = progress,
                            .progress_user = &at};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) return puts(why.text), 1;
    certreg_status status = CERTREG_OK;
    if (!status) status = all_images(e, &at);
    if (status) fprintf(stderr, "input %d: %s\n", at, certreg_estimator_error(e)->text);
    certreg_estimator_destroy(e);
    return status != CERTREG_OK;
}
