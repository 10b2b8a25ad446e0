/* A table of 1,000 inputs: calls of the model have rows of many inputs, so that they are full, and
 * a row that cannot be used fails alone. First the library calls the model; then the program does,
 * with two calls out at a time, as for a server or a device, which may end in any order. Prints how
 * many inputs each form has certified, and their mean radius, which is the same. */
#define CERTREG_EXPERIMENTAL 1 /* see "stability" in certreg.h */
#include <certreg/queue.h>
#include <math.h>
#include <stdio.h>

enum { INPUTS = 1000, FEATURES = 8, UNITS = 64, BATCH = 1024, SAMPLES = 300, OUT = 2 };

/* ---- the stand-in: a network of one layer, about 2 microseconds for a row */
static float predict(const float *x)
{
    float y = 0;
    for (int k = 0; k < UNITS; k++)
        y += tanhf(x[k % FEATURES] - 0.5f * x[(k + k / FEATURES) % FEATURES] + 0.01f * (float)k);
    return y / 8;
}

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->used_count; i++) b->y[i] = predict(b->x + i * FEATURES);
    return 0;
}

static certreg_status add(certreg_queue *q, size_t i, int32_t *full)
{
    const certreg_question ask = {.struct_size = sizeof ask, .tolerance = 0.3};
    float z[FEATURES];
    for (int j = 0; j < FEATURES; j++) z[j] = (float)((i * 7 + (size_t)j * 5) % 31) / 16 - 1;
    if (i == 500) z[3] = NAN; /* as tables have it */
    const certreg_queue_input input = {.struct_size = sizeof input,
                                       .tag = i,
                                       .z = z,
                                       .sigma = 0.25,
                                       .noise_id = i, /* each input has noise of its own */
                                       .questions = &ask,
                                       .count = 1};
    return certreg_queue_add(q, &input, full);
}

/* ---- the program calls the model: two calls are out, and the newer one ends first */
static certreg_status serve(certreg_queue *q)
{
    certreg_queue_call c[OUT];
    float y[BATCH];
    int out = 0;
    for (; out < OUT; out++) {
        c[out] = (certreg_queue_call){.struct_size = sizeof *c};
        const certreg_status status = certreg_queue_next(q, 0, c + out);
        if (status) return status;
        if (c[out].state != CERTREG_CALL_ROWS) break; /* take results first */
    }
    while (out-- > 0) {
        for (size_t i = 0; i < c[out].used; i++) y[i] = predict(c[out].x + i * FEATURES);
        certreg_queue_give(q, c[out].ticket, y, 0, NULL);
    }
    return CERTREG_OK;
}

static certreg_status certify(certreg_queue *q, certreg_status (*compute)(certreg_queue *))
{
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_queue_result r = {.struct_size = sizeof r, .room = 1, .certificates = &c};
    size_t certified = 0;
    double sum = 0;
    for (size_t next = 0, ended = 0; ended < INPUTS;) {
        for (int32_t full = 0; next < INPUTS && !full; next += !full)
            if (add(q, next, &full)) {
                printf("input %zu: %s\n", next, certreg_queue_error(q)->text);
                ended++;
            }
        const certreg_status status = compute(q);
        if (status) return status;
        for (; !certreg_queue_take(q, &r) && r.state; ended++) {
            certified += c.radius > 0; /* 0 also if it failed: then r.status is not 0 */
            sum += c.radius;
        }
    }
    printf("certified %zu of %d, mean radius %.3f\n", certified, INPUTS, sum / (double)certified);
    return CERTREG_OK;
}

static certreg_status run(certreg_eval eval, certreg_status (*compute)(certreg_queue *))
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = eval, .inputs = FEATURES, .outputs = 1, .batch = BATCH};
    const certreg_plan p = {.struct_size = sizeof p,
                            .audit = CERTREG_AUDIT_DEFAULT,
                            .seed = 42, /* so that the output repeats; a deployment gives none */
                            .max_samples = SAMPLES};
    /* So many inputs are open that their samples fill the calls that are out, twice. */
    const certreg_queue_plan qp = {
        .struct_size = sizeof qp, .capacity = 2 * OUT * BATCH / SAMPLES, .calls = OUT};
    certreg_error why = {.struct_size = sizeof why};
    certreg_queue *q = NULL;
    certreg_status status = certreg_queue_create(NULL, &m, &p, &qp, &why, &q);
    if (status) return puts(why.text), status;
    status = certify(q, compute);
    if (status) puts(certreg_queue_error(q)->text);
    certreg_queue_destroy(q);
    return status;
}

int main(void)
{
    return run(model, certreg_queue_run) || run(NULL, serve);
}
