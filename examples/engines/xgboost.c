/* XGBoost's boosted trees, from a file that XGBoost saved (.json or .ubj). Rows are used in place.
 *
 * NaN is XGBoost's mark of a missing value. Inputs of the library are finite, so nothing is missing
 * here; a feature that may be missing needs a mask (model.scale 0) and a callback that writes NaN
 * into a copy of the rows. */
#include <xgboost/c_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"

/* In place, on one thread; the shape of the result is always [rows, columns]. */
static const char *const settings =
    "{\"type\": 0, \"training\": false, \"iteration_begin\": 0, \"iteration_end\": 0, "
    "\"strict_shape\": true, \"cache_id\": 0, \"missing\": NaN}";

static int failed(int status, const char *doing, char *why)
{
    return status != 0 ? engine_fail_line(why, doing, XGBGetLastError()) : 0;
}

static int predict(BoosterHandle booster, const float *x, size_t rows, size_t inputs,
                   const bst_ulong **shape, const float **y, char *why)
{
    char array[160];
    bst_ulong rank = 0;
    snprintf(
        array, sizeof array,
        "{\"data\": [%llu, true], \"shape\": [%zu, %zu], \"typestr\": \"<f4\", \"version\": 3}",
        (unsigned long long)(uintptr_t)x, rows, inputs);
    if (failed(XGBoosterPredictFromDense(booster, array, settings, NULL, shape, &rank, y),
               "XGBoost, running the model", why))
        return ENGINE_FAILED;
    return rank == 2 && (*shape)[0] == rows
               ? 0
               : engine_fail(why, "XGBoost did not give one row for each row of the input");
}

static int run(void *self, const certreg_batch *b, char *why)
{
    const bst_ulong *shape = NULL;
    const float *y = NULL;
    if (predict(self, b->x, b->rows, b->inputs, &shape, &y, why)) return ENGINE_FAILED;
    if (shape[1] != b->columns)
        return engine_fail(why, "XGBoost gave %zu columns, not %zu", (size_t)shape[1], b->columns);
    for (size_t i = 0; i < b->rows * b->columns; i++) b->y[i] = y[i];
    return 0;
}

static void close_xgboost(void *self)
{
    XGBoosterFree(self);
}

/* The file tells the number of features; a row of zeros tells the number of outputs. */
static int read_shape(BoosterHandle booster, const struct engine_options *options,
                      struct engine *out)
{
    bst_ulong features = 0;
    const bst_ulong *shape = NULL;
    const float *y = NULL;
    if (failed(XGBoosterGetNumFeature(booster, &features), "XGBoost, counting features", out->why))
        return ENGINE_FAILED;
    struct tensor input = {"features", TENSOR_FLOAT, 2, {-1, (int64_t)features}, 0};
    if (tensor_input(options, &input, out)) return ENGINE_FAILED;
    float *zeros = calloc(out->inputs, sizeof *zeros);
    const int bad = zeros == NULL ? engine_fail(out->why, "no memory for a row")
                                  : predict(booster, zeros, 1, out->inputs, &shape, &y, out->why);
    if (!bad) out->columns = (size_t)shape[1];
    free(zeros);
    return bad;
}

/* The version that follows the word "version": "version":[1,7,4] in .json; in .ubj version[#L, a
 * count of 8 bytes, and each number behind an i. */
static int read_version(FILE *f, int *major, int *minor)
{
    char bytes[14];
    const int next = getc(f);
    if (next == '"') return fscanf(f, " : [ %3d , %3d", major, minor) == 2;
    if (next != '[' || fread(bytes, 1, sizeof bytes, f) != sizeof bytes ||
        memcmp(bytes, "#L", 2) != 0 || bytes[10] != 'i' || bytes[12] != 'i')
        return 0;
    *major = bytes[11], *minor = bytes[13];
    return 1;
}

/* XGBoost reads files of later versions, but may take a wrong base score from them. */
static int check_version(const char *model, struct engine *out)
{
    static const char key[] = "version";
    int own[3] = {0}, major = 0, minor = 0, known = 0, newer = 0, c = 0;
    size_t same = 0;
    FILE *f = fopen(model, "rb");
    XGBoostVersion(&own[0], &own[1], &own[2]);
    snprintf(out->name, sizeof out->name, "XGBoost %d.%d.%d", own[0], own[1], own[2]);
    while (f != NULL && !newer && (c = getc(f)) != EOF) {
        same = c == key[same] ? same + 1 : c == key[0];
        if (same < sizeof key - 1) continue;
        same = 0;
        if (!read_version(f, &major, &minor)) continue;
        known = 1;
        newer = major > own[0] || (major == own[0] && minor > own[1]);
    }
    if (f != NULL) fclose(f);
    if (!known) return engine_fail(out->why, "XGBoost did not save this file, it has no version");
    return newer ? engine_fail(out->why,
                               "XGBoost %d.%d saved this file, which %s may misread: pip install "
                               "xgboost brings xgboost/lib/libxgboost.so of a later version, so "
                               "name its path in LD_PRELOAD, or certify the file by the command "
                               "certreg",
                               major, minor, out->name)
                 : 0;
}

int engine_open_xgboost(const char *model, const struct engine_options *options, struct engine *out)
{
    static const char *const output = "prediction";
    BoosterHandle booster = NULL;
    if (engine_find(model, out->why) || check_version(model, out) ||
        tensor_choose(options, &output, 1, out->why) < 0 ||
        failed(XGBoosterCreate(NULL, 0, &booster), "XGBoost, starting", out->why))
        return ENGINE_FAILED;
    if (failed(XGBoosterLoadModel(booster, model), "XGBoost, opening the model", out->why) ||
        failed(XGBoosterSetParam(booster, "nthread", "1"), "XGBoost, setting threads", out->why) ||
        read_shape(booster, options, out)) {
        close_xgboost(booster);
        return ENGINE_FAILED;
    }
    out->self = booster;
    out->run = run;
    out->close = close_xgboost;
    return 0;
}
