#include "lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../examples/engines/ort.h"
#include "../../examples/engines/plain.h"

double lab_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double lab_apart(double a, double b)
{
    return remainder(b - a, lab_turn);
}

void lab_progress(const struct lab *lab, const char *what, size_t done, size_t total)
{
    fprintf(stderr, "\r%s: %zu of %zu, %.0f s since the start   %s", what, done, total,
            lab_seconds() - lab->began, done == total ? "\n" : "");
}

int lab_open(struct lab *lab)
{
    const struct settings *s = &lab->set;
    lab->began = lab_seconds();
    if (images_open(s->mnist, s->images, &lab->images, lab->why)) {
        fprintf(stderr, "%s\n", lab->why);
        return 1;
    }
    if (engine_open_ort(s->model, DIGITS_PIXELS, LAB_COLUMNS, 1, &lab->engine, lab->why) == 0)
        return 0;
    fprintf(stderr, "%s\nthe built-in engine runs instead; it takes about three times as long\n",
            lab->why);
    if (engine_open_plain(s->model, DIGITS_PIXELS, LAB_COLUMNS, 1, &lab->engine, lab->why) == 0)
        return 0;
    fprintf(stderr, "%s\n", lab->why);
    images_close(&lab->images);
    return 1;
}

void lab_close(struct lab *lab)
{
    lab->engine.close(lab->engine.self);
    images_close(&lab->images);
}

/* The library's callback: (cos, sin) go straight into y. */
static int evaluate(void *user, const certreg_batch *b)
{
    struct lab *lab = user;
    lab->calls += b->rows;
    return lab->engine.run(lab->engine.self, b->x, b->y, b->rows);
}

/* ---- estimators */
int desk_open(struct lab *lab, size_t samples, size_t batch, size_t pilot, uint32_t constraints,
              struct desk *desk)
{
    const int32_t kind = CERTREG_OUTPUT_ANGLE_PAIR;
    const double lo = -0.5 * lab_turn, hi = 0.5 * lab_turn;
    const certreg_model model = {.struct_size = sizeof model,
                                 .eval = evaluate,
                                 .user = lab,
                                 .inputs = DIGITS_PIXELS,
                                 .outputs = 1,
                                 .batch = batch,
                                 .kind = &kind,
                                 .lo = &lo,
                                 .hi = &hi};
    const certreg_plan plan = {.struct_size = sizeof plan,
                               .constraints = constraints ? constraints : CERTREG_CONSTRAINTS_ECGM,
                               .seed = LAB_SEED,
                               .max_samples = samples,
                               .pilot = pilot};
    certreg_error why = {.struct_size = sizeof why};
    *desk = (struct desk){.lab = lab, .samples = samples, .batch = batch};
    if (certreg_estimator_create(NULL, &model, &plan, &why, &desk->estimator) == CERTREG_OK)
        return 0;
    fprintf(stderr, "the library could not start: %s\n", why.text);
    desk_close(desk);
    return 1;
}

void desk_close(struct desk *desk)
{

    certreg_estimator_destroy(desk->estimator);
    *desk = (struct desk){0};
}

static int complain(const struct desk *desk, certreg_status status)
{
    if (status == CERTREG_OK) return 0;
    fprintf(stderr, "\n%s: %s\n", certreg_status_text(status),
            certreg_estimator_error(desk->estimator)->text);
    if (status == CERTREG_E_MODEL_FAILED) fprintf(stderr, "%s\n", desk->lab->why);
    return 1;
}

static uint64_t stream_of(enum lab_kind kind, size_t stream)
{
    return (uint64_t)kind << 32 | stream;
}

int desk_begin_at(const struct desk *desk, const float *z, double sigma, enum lab_kind kind,
                  size_t stream)
{
    return complain(desk,
                    certreg_estimator_begin(desk->estimator, z, sigma, stream_of(kind, stream)));
}

int desk_begin(const struct desk *desk, size_t image, double sigma, enum lab_kind kind,
               size_t stream)
{
    return desk_begin_at(desk, desk->lab->images.pixels + image * DIGITS_PIXELS, sigma, kind,
                         stream);
}

int desk_ask(const struct desk *desk, size_t samples, const certreg_question *question,
             size_t count, certreg_certificate *out)
{
    memset(out, 0, count * sizeof *out);
    out[0].struct_size = sizeof *out;
    const certreg_status status = certreg_certify(desk->estimator, samples, question, count, out);
    return status == CERTREG_E_INVALID ? 0 : complain(desk, status);
}

int desk_pilot(const struct desk *desk, size_t *pilot)
{
    certreg_run run = {.struct_size = sizeof run};
    const certreg_status status = certreg_estimator_run(desk->estimator, &run);
    *pilot = (size_t)run.pilot;
    return complain(desk, status);
}

/* ---- records on disk */
static int record_path(const struct desk *desk, uint64_t stream, char *path, size_t room)
{
    return desk->lab->set.cache != NULL &&
           snprintf(path, room, "%s/%llu_%zu.record", desk->lab->set.cache,
                    (unsigned long long)stream, desk->samples) < (int)room;
}

static void *export_record(const struct desk *desk, size_t *bytes)
{
    *bytes = 0;
    if (complain(desk, certreg_estimator_export(desk->estimator, NULL, bytes))) return NULL;
    void *buffer = malloc(*bytes);
    if (buffer != NULL &&
        complain(desk, certreg_estimator_export(desk->estimator, buffer, bytes))) {
        free(buffer);
        buffer = NULL;
    }
    return buffer;
}

/* A file that is not there, damaged, or of another input only means that the network has to run. */
static void load_record(const struct desk *desk, const char *path)
{
    const size_t most = 4 * desk->samples + 4096;
    FILE *file = fopen(path, "rb");
    void *buffer = malloc(most);
    if (file != NULL && buffer != NULL) {
        const size_t bytes = fread(buffer, 1, most, file);
        if (certreg_estimator_import(desk->estimator, buffer, bytes) != CERTREG_OK)
            fprintf(stderr, "\n%s: %s\n", path, certreg_estimator_error(desk->estimator)->text);
    }
    free(buffer);
    if (file != NULL) fclose(file);
}

static int save_record(const struct desk *desk, const char *path)
{
    size_t bytes;
    void *buffer = export_record(desk, &bytes);
    FILE *file = buffer != NULL ? fopen(path, "wb") : NULL;
    int bad = file == NULL || fwrite(buffer, 1, bytes, file) != bytes;
    if (file != NULL && fclose(file) != 0) bad = 1;
    free(buffer);
    if (bad) fprintf(stderr, "\n%s could not be written\n", path);
    return bad;
}

int desk_record(const struct desk *desk, size_t image, double sigma, enum lab_kind kind,
                size_t stream)
{
    char path[4096];
    const int kept = record_path(desk, stream_of(kind, stream), path, sizeof path);
    if (desk_begin(desk, image, sigma, kind, stream)) return 1;
    if (kept) load_record(desk, path);
    const size_t before = desk->lab->calls;
    if (complain(desk, certreg_estimator_sample(desk->estimator, 0, desk->samples))) return 1;
    return kept && desk->lab->calls > before ? save_record(desk, path) : 0;
}

/* In a record without gaps the outputs, padded to 8 bytes, lie right before the checksum; they are
 * little-endian floats. */
int desk_outputs(const struct desk *desk, float *y)
{
    size_t bytes;
    unsigned char *buffer = export_record(desk, &bytes);
    if (buffer == NULL) return 1;
    const unsigned char *at = buffer + bytes - 8 - (desk->samples * 4 + 7) / 8 * 8;
    for (size_t i = 0; i < desk->samples; i++, at += 4) {
        const uint32_t bits = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                              (uint32_t)at[3] << 24;
        memcpy(&y[i], &bits, sizeof bits);
    }
    free(buffer);
    return 0;
}
