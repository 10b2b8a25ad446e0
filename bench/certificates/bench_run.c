#include "bench_run.h"

#include <certreg/sampling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library's callback: the network writes (cos, sin) straight into y. */
static int evaluate(void *user, const certreg_batch *b)
{
    struct context *context = user;
    context->calls += b->rows;
    return engine_eval(&context->engine, b);
}

int bench_run_open(struct context *context, size_t samples, size_t batch, size_t pilot,
                   uint32_t constraints, struct bench_run *run)
{
    const int32_t kind = CERTREG_OUTPUT_ANGLE_PAIR;
    const double lo = -0.5 * full_turn, hi = 0.5 * full_turn;
    const certreg_model model = {.struct_size = sizeof model,
                                 .eval = evaluate,
                                 .user = context,
                                 .inputs = DIGITS_PIXELS,
                                 .outputs = 1,
                                 .batch = batch,
                                 .kind = &kind,
                                 .lo = &lo,
                                 .hi = &hi};
    const certreg_plan plan = {.struct_size = sizeof plan,
                               .constraints = constraints,
                               .seed = BENCH_SEED,
                               .max_samples = samples,
                               .pilot = pilot};
    certreg_error why = {.struct_size = sizeof why};
    *run = (struct bench_run){.context = context, .samples = samples, .batch = batch};
    if (certreg_estimator_create(NULL, &model, &plan, &why, &run->estimator) == CERTREG_OK)
        return 0;
    fprintf(stderr, "the library could not start: %s\n", why.text);
    bench_run_close(run);
    return 1;
}

void bench_run_close(struct bench_run *run)
{
    certreg_estimator_destroy(run->estimator);
    *run = (struct bench_run){0};
}

static int report(const struct bench_run *run, certreg_status status)
{
    if (status == CERTREG_OK) return 0;
    fprintf(stderr, "\n%s: %s\n", certreg_status_text(status),
            certreg_estimator_error(run->estimator)->text);
    if (status == CERTREG_E_MODEL_FAILED) fprintf(stderr, "%s\n", run->context->engine.why);
    return 1;
}

static uint64_t noise_id_of(enum noise_kind kind, size_t noise_id)
{
    return (uint64_t)kind << 32 | noise_id;
}

int bench_run_begin(const struct bench_run *run, size_t image, double sigma, enum noise_kind kind,
                    size_t noise_id)
{
    const float *z = run->context->images.pixels + image * DIGITS_PIXELS;
    return report(run,
                  certreg_estimator_begin(run->estimator, z, sigma, noise_id_of(kind, noise_id)));
}

int bench_run_certify(const struct bench_run *run, size_t samples, const certreg_question *question,
                      size_t count, certreg_certificate *out)
{
    memset(out, 0, count * sizeof *out);
    out[0].struct_size = sizeof *out;
    const certreg_status status = certreg_certify(run->estimator, samples, question, count, out);
    return status == CERTREG_E_INVALID ? 0 : report(run, status);
}

int bench_run_pilot(const struct bench_run *run, size_t *pilot)
{
    certreg_run info = {.struct_size = sizeof info};
    const certreg_status status = certreg_estimator_info(run->estimator, &info);
    *pilot = (size_t)info.pilot;
    return report(run, status);
}

/* ---- records on disk */
static int record_path(const struct bench_run *run, uint64_t noise_id, char *path, size_t room)
{
    return run->context->set.cache != NULL &&
           snprintf(path, room, "%s/%llu_%zu.record", run->context->set.cache,
                    (unsigned long long)noise_id, run->samples) < (int)room;
}

static void *export_record(const struct bench_run *run, size_t *bytes)
{
    *bytes = 0;
    if (report(run, certreg_estimator_export(run->estimator, NULL, bytes))) return NULL;
    void *buffer = malloc(*bytes);
    if (buffer != NULL && report(run, certreg_estimator_export(run->estimator, buffer, bytes))) {
        free(buffer);
        buffer = NULL;
    }
    return buffer;
}

/* Where the file is missing, damaged or of another input, the network has to run instead. */
static void load_record(const struct bench_run *run, const char *path)
{
    const size_t most = 4 * run->samples + 4096;
    FILE *file = fopen(path, "rb");
    void *buffer = malloc(most);
    if (file != NULL && buffer != NULL) {
        const size_t bytes = fread(buffer, 1, most, file);
        if (certreg_estimator_import(run->estimator, buffer, bytes) != CERTREG_OK)
            fprintf(stderr, "\n%s: %s\n", path, certreg_estimator_error(run->estimator)->text);
    }
    free(buffer);
    if (file != NULL) fclose(file);
}

static int save_record(const struct bench_run *run, const char *path)
{
    size_t bytes;
    void *buffer = export_record(run, &bytes);
    FILE *file = buffer != NULL ? fopen(path, "wb") : NULL;
    int bad = file == NULL || fwrite(buffer, 1, bytes, file) != bytes;
    if (file != NULL && fclose(file) != 0) bad = 1;
    free(buffer);
    if (bad) fprintf(stderr, "\n%s could not be written\n", path);
    return bad;
}

int bench_run_sample(const struct bench_run *run, size_t image, double sigma, enum noise_kind kind,
                     size_t noise_id)
{
    char path[4096];
    const int kept = record_path(run, noise_id_of(kind, noise_id), path, sizeof path);
    if (bench_run_begin(run, image, sigma, kind, noise_id)) return 1;
    if (kept) load_record(run, path);
    const size_t before = run->context->calls;
    if (report(run, certreg_estimator_sample(run->estimator, 0, run->samples))) return 1;
    return kept && run->context->calls > before ? save_record(run, path) : 0;
}

/* In a record without gaps the outputs, padded to 8 bytes, lie right before the checksum; they are
 * little-endian floats. */
int bench_run_outputs(const struct bench_run *run, float *y)
{
    size_t bytes;
    unsigned char *buffer = export_record(run, &bytes);
    if (buffer == NULL) return 1;
    const unsigned char *at = buffer + bytes - 8 - (run->samples * 4 + 7) / 8 * 8;
    for (size_t i = 0; i < run->samples; i++, at += 4) {
        const uint32_t bits = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                              (uint32_t)at[3] << 24;
        memcpy(&y[i], &bits, sizeof bits);
    }
    free(buffer);
    return 0;
}
