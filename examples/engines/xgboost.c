/* XGBoost's boosted trees, from a file that XGBoost saved (.json or .ubj). Rows are used in place.
 *
 * NaN is XGBoost's mark of a missing value. Inputs of the library are finite, so nothing is missing
 * here; a feature that may be missing needs a mask (model.scale 0) and a callback that writes NaN
 * into a copy of the rows. */
#include <xgboost/c_api.h>

#include <stdio.h>
#include <stdlib.h>

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
    struct tensor input = {"features", TENSOR_FLOAT, 2, {-1, (int64_t)features}};
    if (tensor_input(options, &input, out)) return ENGINE_FAILED;
    float *zeros = calloc(out->inputs, sizeof *zeros);
    const int bad = zeros == NULL ? engine_fail(out->why, "no memory for a row")
                                  : predict(booster, zeros, 1, out->inputs, &shape, &y, out->why);
    if (!bad) out->columns = (size_t)shape[1];
    free(zeros);
    return bad;
}

int engine_open_xgboost(const char *model, const struct engine_options *options, struct engine *out)
{
    BoosterHandle booster = NULL;
    int major = 0, minor = 0, patch = 0;
    if (engine_find(model, out->why) ||
        failed(XGBoosterCreate(NULL, 0, &booster), "XGBoost, starting", out->why))
        return ENGINE_FAILED;
    if (failed(XGBoosterLoadModel(booster, model), "XGBoost, opening the model", out->why) ||
        failed(XGBoosterSetParam(booster, "nthread", "1"), "XGBoost, setting threads", out->why) ||
        read_shape(booster, options, out)) {
        close_xgboost(booster);
        return ENGINE_FAILED;
    }
    XGBoostVersion(&major, &minor, &patch);
    snprintf(out->name, sizeof out->name, "XGBoost %d.%d.%d", major, minor, patch);
    out->self = booster;
    out->run = run;
    out->close = close_xgboost;
    return 0;
}
