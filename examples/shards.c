/* Sampling on several machines: every rank samples its own range of indices and sends its record as
 * bytes, and the root's certificate has the same bits as a run on one machine. One rank dies
 * half-way and resumes from its last checkpoint. The ranks are simulated one after the other; with
 * MPI, `collected` is what a gather delivers.
 * Prints how many rows of the model were computed, and the radii of both ways. */
#include <certreg/sampling.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 4, INPUTS = 5, SAMPLES = 10000, BATCH = 256, CHECKPOINT = 4 * BATCH };
static const float z[INPUTS] = {0.1f, 0.2f, -0.3f, 0.4f, 0};
static size_t model_rows; /* rows computed by all ranks */

typedef struct bytes {
    void *data;
    size_t size;
} bytes;

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    model_rows += b->used_count;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * INPUTS;
        b->y[i] = cosf(x[0] + x[1]) + 0.3f * fabsf(x[2]) - 0.2f * x[3] * x[4];
    }
    return 0;
}

static certreg_estimator *estimator(void)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = model, .inputs = INPUTS, .outputs = 1, .batch = BATCH};
    const certreg_plan p = {.struct_size = sizeof p,
                            .seed = 2026, /* the same for all ranks; keep yours secret */
                            .max_samples = SAMPLES};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    certreg_status status = certreg_estimator_create(NULL, &m, &p, &why, &e);
    if (status) puts(why.text);
    else if ((status = certreg_estimator_begin(e, z, 0.25, 11)))
        puts(certreg_estimator_error(e)->text);
    if (!status) return e;
    certreg_estimator_destroy(e);
    return NULL;
}

static certreg_status save(certreg_estimator *e, bytes *to)
{
    free(to->data);
    *to = (bytes){0};
    const certreg_status status = certreg_estimator_export(e, NULL, &to->size); /* the size alone */
    if (status) return status;
    to->data = malloc(to->size);
    return to->data ? certreg_estimator_export(e, to->data, &to->size) : CERTREG_E_NO_MEMORY;
}

/* One rank, in whole batches: a batch that two ranks share would be computed twice. Writes a
 * checkpoint every few batches. Stops at `dies_at` samples, as if the machine had been switched
 * off. */
static certreg_status work(int rank, size_t dies_at, bytes *checkpoint)
{
    const size_t per = (SAMPLES / RANKS + BATCH - 1) / BATCH * BATCH, first = (size_t)rank * per;
    const size_t count = rank == RANKS - 1 ? SAMPLES - first : per;
    certreg_estimator *e = estimator();
    if (!e) return CERTREG_E_NO_MEMORY;
    certreg_status status = checkpoint->data
                                ? certreg_estimator_import(e, checkpoint->data, checkpoint->size)
                                : CERTREG_OK;
    for (size_t at = 0; !status && at < count && at < dies_at; at += CHECKPOINT) {
        status = certreg_estimator_sample(e, first + at,
                                          count - at < CHECKPOINT ? count - at : CHECKPOINT);
        if (!status) status = save(e, checkpoint);
    }
    if (status) printf("rank %d: %s\n", rank, certreg_estimator_error(e)->text);
    certreg_estimator_destroy(e);
    return status;
}

static certreg_status answer(const bytes *collected, size_t count, size_t samples,
                             certreg_certificate *c)
{
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 0.2};
    certreg_estimator *e = estimator();
    if (!e) return CERTREG_E_NO_MEMORY;
    certreg_status status = CERTREG_OK;
    for (size_t k = 0; !status && k < count; k++)
        status = certreg_estimator_import(e, collected[k].data, collected[k].size);
    if (!status) status = certreg_certify(e, samples, &q, 1, c);
    if (status) puts(certreg_estimator_error(e)->text);
    certreg_estimator_destroy(e);
    return status;
}

int main(void)
{
    bytes collected[RANKS] = {{0}};
    certreg_certificate together = {.struct_size = sizeof together},
                        alone = {.struct_size = sizeof alone};
    certreg_status status = work(2, CHECKPOINT, &collected[2]); /* dies at its first checkpoint */
    for (int r = 0; !status && r < RANKS; r++) status = work(r, SAMPLES, &collected[r]);
    const size_t rows = model_rows;
    /* 0 samples: a gap between the records would be reported, not filled. */
    if (!status) status = answer(collected, RANKS, 0, &together);
    if (!status) status = answer(NULL, 0, SAMPLES, &alone);
    if (!status)
        printf("%zu rows for %d samples on %d ranks; radius %.17g together, %.17g alone: %s\n",
               rows, SAMPLES, RANKS, together.radius, alone.radius,
               together.radius == alone.radius ? "same bits" : "DIFFERENT");
    for (int r = 0; r < RANKS; r++) free(collected[r].data);
    return status || together.radius != alone.radius;
}
