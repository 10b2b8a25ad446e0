#include "engine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"

static const struct adapter {
    const char *name, *endings; /* each ending with a space behind it */
    engine_opens *open;
    const char *package; /* Debian's, which building the adapter needs */
} adapters[] = {
    {"onnxruntime", ".onnx .ort ", engine_open_ort, ""},
    {"xgboost", ".json .ubj ", engine_open_xgboost, "libxgboost-dev"},
    {"torch", ".pt ", engine_open_torch, "libtorch-dev"},
};
enum { ADAPTERS = sizeof adapters / sizeof *adapters };

int engine_fail(char *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, ENGINE_WHY, format, arguments);
    va_end(arguments);
    return ENGINE_FAILED;
}

int engine_fail_line(char *why, const char *doing, const char *said)
{
    return engine_fail(why, "%s: %.*s", doing, (int)strcspn(said, "\n"), said);
}

int engine_find(const char *model, char *why)
{
    FILE *f = fopen(model, "rb");
    if (f == NULL) return engine_fail(why, "%.400s: %s", model, strerror(errno));
    const int bad = fgetc(f) == EOF;
    fclose(f);
    return bad ? engine_fail(why, "%.400s: the file is empty, or no file", model) : 0;
}

/* ---- opening */
static const struct adapter *named(const char *name)
{
    for (size_t i = 0; i < ADAPTERS; i++)
        if (strcmp(adapters[i].name, name) == 0) return &adapters[i];
    return NULL;
}

static const struct adapter *by_ending(const char *model)
{
    char ending[16];
    const char *dot = strrchr(model, '.');
    if (dot == NULL || snprintf(ending, sizeof ending, "%s ", dot) >= (int)sizeof ending)
        return NULL;
    for (size_t i = 0; i < ADAPTERS; i++)
        if (strstr(adapters[i].endings, ending) != NULL) return &adapters[i];
    return NULL;
}

/* A certificate is about a function of one row. `why` gets a sentence if it is not, or if the same
 * rows have other outputs when they come again, which is not refused. */
static int compare_rows(struct engine *e, const float *z)
{
    certreg_model m = {.struct_size = sizeof m};
    const certreg_plan p = {.struct_size = sizeof p, .max_samples = 8, .pilot = SIZE_MAX};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *checked = NULL;
    engine_model(e, &m);
    if (m.batch == 0) m.batch = 4;
    if (certreg_estimator_create(NULL, &m, &p, &why, &checked))
        return engine_fail(e->why, "%s", why.text);
    const int bad = certreg_estimator_begin(checked, z, 1, 0) != CERTREG_OK ||
                    certreg_model_check(checked, e->batch, NULL) != CERTREG_OK;
    if (e->why[0] == '\0') engine_fail(e->why, "%s", certreg_estimator_error(checked)->text);
    certreg_estimator_destroy(checked);
    return bad;
}

/* Runs the model that was just opened around zero, unless it works on a device. */
static int check_rows(struct engine *e)
{
    if (e->device >= 0) return 0;
    float *z = calloc(e->inputs, sizeof *z);
    const int bad = z == NULL ? engine_fail(e->why, "no memory for a row") : compare_rows(e, z);
    free(z);
    if (bad) engine_close(e);
    return bad;
}

/* Tries one adapter. */
static int open_with(const struct adapter *a, const char *model, const struct engine_options *set,
                     struct engine *out)
{
    if (a->open == NULL) {
        engine_fail(out->why,
                    "this program was built without the engine %s: install Debian's %s and build "
                    "it again (by CMake with -DENGINES=%s)",
                    a->name, a->package, a->name);
        return ENGINE_ABSENT;
    }
    if (set->on_device && (a->open != engine_open_ort || set->device < 0))
        return engine_fail(out->why, "the engine %s takes no arrays in memory of device %d",
                           a->name, set->device);
    if ((set->constant_count > 0 || set->columns != NULL) &&
        (a->open != engine_open_ort || set->on_device))
        return engine_fail(out->why,
                           "%.300s: only the engine onnxruntime takes constants and columns, and "
                           "only on the host",
                           model);
    int bad = a->open(model, set, out);
    if (!bad && !set->no_check) bad = check_rows(out);
    if (bad == ENGINE_FAILED && strstr(out->why, model) == NULL) {
        char said[ENGINE_WHY];
        memcpy(said, out->why, sizeof said);
        engine_fail(out->why, "%.200s: %.300s", model, said);
    }
    return bad;
}

int engine_open(const char *model, const struct engine_options *options, struct engine *out)
{
    const struct engine_options none = {.engine = NULL};
    const struct engine_options *set = options != NULL ? options : &none;
    const struct adapter *a = set->engine != NULL ? named(set->engine) : by_ending(model);
    *out = (struct engine){.device = -1};
    if (a == NULL && set->engine != NULL)
        return engine_fail(out->why,
                           "no engine is called %.100s: name onnxruntime, xgboost or torch",
                           set->engine);
    if (a == NULL)
        return engine_fail(out->why,
                           "%.300s: name an engine (onnxruntime, xgboost or torch), or a file that "
                           "ends with .onnx, .ort, .json, .ubj or .pt",
                           model);
    return open_with(a, model, set, out);
}

void engine_close(struct engine *e)
{
    if (e->close != NULL) e->close(e->self);
    e->close = NULL;
    e->run = NULL;
    e->self = NULL;
}

/* ---- running */
int engine_fits(struct engine *e, const char *model, size_t inputs, size_t columns)
{
    if (e->inputs == inputs && e->columns == columns) return 0;
    return engine_fail(e->why, "%.300s turns %zu numbers into %zu, not %zu into %zu", model,
                       e->inputs, e->columns, inputs, columns);
}

void engine_model(struct engine *e, certreg_model *out)
{
    out->eval = engine_eval;
    out->user = e;
    out->inputs = e->inputs;
    out->outputs = e->columns;
    out->batch = e->batch;
}

int engine_eval(void *user, const certreg_batch *b)
{
    struct engine *e = user;
    if (e->run == NULL) return engine_fail(e->why, "the engine is closed");
    if (b->inputs != e->inputs || b->columns != e->columns)
        return engine_fail(e->why,
                           "%s turns rows of %zu numbers into %zu, but model.inputs is %zu, and "
                           "its outputs have %zu columns",
                           e->name, e->inputs, e->columns, b->inputs, b->columns);
    if (e->batch != 0 && b->rows != e->batch)
        return engine_fail(e->why, "%s runs %zu rows at a time, not %zu: set model.batch to %zu",
                           e->name, e->batch, b->rows, e->batch);
    if (b->device != e->device)
        return engine_fail(e->why, "%s was opened for device %d, the batch is on %d (-1: the host)",
                           e->name, e->device, (int)b->device);
    return e->run(e->self, b, e->why);
}

int engine_run(struct engine *e, const float *x, float *y, size_t rows)
{
    const certreg_batch b = {.struct_size = sizeof b,
                             .device = -1,
                             .rows = rows,
                             .inputs = e->inputs,
                             .columns = e->columns,
                             .used_count = rows,
                             .x = x,
                             .y = y};
    return engine_eval(e, &b);
}
