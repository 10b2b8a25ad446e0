/* Ask and tell: the program calls the model, not the library. An inference server with its own
 * queue takes batches and returns them in any order. `draw` gives the noisy inputs, `record` takes
 * the outputs, and the certificate has the same bits as if the library had called the model itself.
 * Prints both radii and whether they are the same, and how many outputs were asked again. */
#include <certreg/sampling.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUTS = 6, SAMPLES = 4096, BATCH = 256, IN_FLIGHT = 4 };

static float predict(const float *x)
{
    float sum = 0;
    for (int j = 0; j < INPUTS; j++) sum += sinf(x[j]) / (float)(j + 1);
    return sum;
}

static int callback(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = predict(b->x + i * b->inputs);
    return 0;
}

/* ---- the stand-in server: takes tickets and finishes them in its own order */
typedef struct job {
    int busy;
    uint64_t ticket; /* first sample of the batch */
    float x[BATCH * INPUTS], y[BATCH];
} job;
typedef struct server {
    job slot[IN_FLIGHT];
    unsigned random;
} server;

static job *free_slot(server *s)
{
    for (int i = 0; i < IN_FLIGHT; i++)
        if (!s->slot[i].busy) return s->slot + i;
    return NULL;
}

static job *finished(server *s) /* any of those in flight */
{
    for (;;) {
        s->random = s->random * 1664525u + 1013904223u;
        job *j = s->slot + (s->random >> 16) % IN_FLIGHT;
        if (!j->busy) continue;
        for (int i = 0; i < BATCH; i++) j->y[i] = predict(j->x + i * INPUTS);
        j->busy = 0;
        return j;
    }
}

static certreg_status serve(certreg_estimator *e, server *s)
{
    uint64_t sent = 0, done = 0;
    while (done < SAMPLES) {
        job *j;
        while (sent < SAMPLES && (j = free_slot(s))) {
            const certreg_status status = certreg_estimator_draw(e, sent, BATCH, j->x);
            if (status) return status;
            j->busy = 1;
            j->ticket = sent;
            sent += BATCH;
        }
        j = finished(s);
        const certreg_status status = certreg_estimator_record(e, j->ticket, BATCH, j->y);
        if (status) return status;
        done += BATCH;
    }
    return CERTREG_OK;
}

/* Asks again for some samples, in three calls, and refuses a model whose outputs change. */
static certreg_status audit(certreg_estimator *e)
{
    float x[BATCH * INPUTS], y[BATCH];
    size_t rows;
    certreg_status status = certreg_audit_next(e, x, &rows);
    while (!status && rows) {
        for (size_t i = 0; i < rows; i++) y[i] = predict(x + i * INPUTS);
        status = certreg_audit_give(e, y);
        if (!status) status = certreg_audit_next(e, x, &rows);
    }
    return status;
}

int main(void)
{
    certreg_model m = {
        .struct_size = sizeof m, .eval = callback, .inputs = INPUTS, .outputs = 1, .batch = BATCH};
    const certreg_plan p = {.struct_size = sizeof p,
                            .max_samples = SAMPLES, /* seed: drawn */
                            .audit = CERTREG_AUDIT_DEFAULT};
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 0.5};
    const float z[INPUTS] = {0.3f, -0.2f, 0.1f, 0, 0.4f, -0.5f};
    certreg_certificate served = {.struct_size = sizeof served},
                        called = {.struct_size = sizeof called};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    server *s = calloc(1, sizeof *s);
    if (!s || certreg_estimator_create(NULL, &m, &p, &why, &e))
        return puts(s ? why.text : "out of memory"), free(s), 1;
    certreg_status status = certreg_estimator_begin(e, z, 0.2, 7);
    if (!status) status = serve(e, s);
    if (!status) status = audit(e);
    if (!status) status = certreg_certify(e, 0, &q, 1, &served);
    /* Once more, with the same noise; now the library calls the model. */
    if (!status) status = certreg_estimator_begin(e, z, 0.2, 7);
    if (!status) status = certreg_certify(e, SAMPLES, &q, 1, &called);
    if (status) puts(certreg_estimator_error(e)->text);
    else
        printf(
            "%llu outputs asked again, radius %.6f from the server, %.6f from the callback: %s\n",
            (unsigned long long)served.audited, served.radius, called.radius,
            served.radius == called.radius && served.prediction == called.prediction ? "same bits"
                                                                                     : "DIFFERENT");
    certreg_estimator_destroy(e);
    free(s);
    return status || served.radius != called.radius;
}
