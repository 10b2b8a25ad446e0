/* The engines of the examples: the same model through different engines gives the same outputs and
 * certificates, shapes are those of the file, and what cannot be used is refused with a sentence
 * that says why. Run from the root of the repository. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines/adapter.h"
#include "models.h"
#include "support/suite.h"

static struct engine engine; /* of the test that runs */

static void clear(void)
{
    memset(&engine, 0, sizeof engine);
}

static void tear_down(void)
{
    engine_close(&engine);
}

/* Opens a model. Returns 0 where the engine's library is not there, and says so. */
static int opens(const char *name, const char *model, const char *shape, const char *output)
{
    const struct engine_options set = {.engine = name, .shape = shape, .output = output};
    const int bad = engine_open(model, &set, &engine);
    if (bad == ENGINE_ABSENT) {
        printf("skip engine %s: %s\n", name, engine.why);
        return 0;
    }
    ck_assert_msg(!bad, "%s", engine.why);
    ck_assert_str_eq(engine.why, "");
    return 1;
}

/* ---- outputs */
enum { ROWS = 8, MOST = 16 };
static float x[ROWS * MOST], y[ROWS * MOST], wanted[ROWS * MOST];
static const char *const onnx_engines[] = {"onnxruntime", "opencv"};

static void fill(size_t inputs)
{
    for (size_t i = 0; i < ROWS * inputs; i++) x[i] = (float)((i * 29) % 31) / 8.0f - 2.0f;
}

/* All numbers here are multiples of 1/512 below 2^10, so every engine must have every bit. */
static void check_dense(size_t rows)
{
    ck_assert_uint_eq(engine.inputs, DENSE_INPUTS);
    ck_assert_uint_eq(engine.columns, DENSE_COLUMNS);
    fill(DENSE_INPUTS);
    for (size_t r = 0; r < rows; r++)
        dense_row(x + r * DENSE_INPUTS, NULL, wanted + r * DENSE_COLUMNS);
    ck_assert_msg(!engine_run(&engine, x, y, rows), "%s", engine.why);
    for (size_t i = 0; i < rows * DENSE_COLUMNS; i++)
        ck_assert_msg(y[i] == wanted[i], "%s: %g, not %g", engine.name, (double)y[i],
                      (double)wanted[i]);
}

static const struct {
    const char *model, *shape, *output;
    size_t batch;
} dense[] = {
    {"dense", NULL, NULL, 0},      {"fixed", NULL, NULL, 4},   {"image", NULL, NULL, 0},
    {"image", "1x2x3", NULL, 0},   {"open", "1x2x3", NULL, 0}, {"untold", NULL, NULL, 0},
    {"two_outputs", NULL, "y", 0},
};

START_TEST(shapes_and_outputs_are_those_of_the_file)
{
    char model[64];
    const int one = _i / KIT_ROWS(onnx_engines);
    const char *name = onnx_engines[_i % KIT_ROWS(onnx_engines)];
    const int untold = strcmp(dense[one].model, "untold") == 0;
    if (untold && strcmp(name, "opencv") == 0) return; /* refused, see below */
    snprintf(model, sizeof model, "tests/engines/%s.onnx", dense[one].model);
    if (!opens(name, model, dense[one].shape, dense[one].output)) return;
    ck_assert_uint_eq(engine.batch, dense[one].batch);
    check_dense(dense[one].batch > 0 ? dense[one].batch : ROWS);
    if (dense[one].batch == 0) check_dense(3);
}
END_TEST

START_TEST(another_output_can_be_named)
{
    if (!opens(onnx_engines[_i], "tests/engines/two_outputs.onnx", NULL, "r")) return;
    ck_assert_uint_eq(engine.columns, DENSE_HIDDEN);
    fill(DENSE_INPUTS);
    dense_row(x, wanted, NULL);
    ck_assert_int_eq(engine_run(&engine, x, y, 1), 0);
    for (size_t i = 0; i < DENSE_HIDDEN; i++) ck_assert(y[i] == wanted[i]);
}
END_TEST

START_TEST(scripts_have_the_values_of_their_formula)
{
    static const char *const paths[] = {"tests/engines/dense.pt", "tests/engines/tuple.pt"};
    if (!opens("torch", paths[_i], "6", _i > 0 ? "1" : NULL)) return;
    check_dense(ROWS);
    check_dense(3);
}
END_TEST

/* ---- trees */
START_TEST(trees_have_the_values_that_they_have_by_hand)
{
    static const float edges[] = {-1.0f, -0.25f, 0.0f, 0.5f, 0.75f, 1.0f, 3.0f};
    float row[3], out;
    if (!opens(NULL, "tests/engines/trees.json", NULL, NULL)) return;
    ck_assert_uint_eq(engine.inputs, 3);
    ck_assert_uint_eq(engine.columns, 1);
    for (int i = 0; i < 7 * 7 * 7; i++) { /* on the edges of every split, and beside them */
        row[0] = edges[i % 7], row[1] = edges[i / 7 % 7], row[2] = edges[i / 49];
        ck_assert_int_eq(engine_run(&engine, row, &out, 1), 0);
        ck_assert_msg(out == trees_row(row), "%g, not %g", (double)out, (double)trees_row(row));
    }
}
END_TEST

/* ---- certificates */
enum { SAMPLES = 2000 };

/* A model, and another one that is compared with it on every batch. */
struct pair {
    certreg_eval eval, other;
    void *user, *other_user;
    double apart; /* the greatest difference of their outputs */
    float out[4096];
};

static int eval_pair(void *user, const certreg_batch *b)
{
    struct pair *p = user;
    certreg_batch other = *b;
    const size_t count = b->rows * b->columns;
    ck_assert_uint_le(count, sizeof p->out / sizeof *p->out);
    other.y = p->out;
    if (p->eval(p->user, b) || p->other(p->other_user, &other)) return 1;
    for (size_t i = 0; i < count; i++)
        p->apart = fmax(p->apart, fabs((double)b->y[i] - (double)p->out[i]));
    return 0;
}

static int eval_dense(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t r = 0; r < b->rows; r++)
        dense_row(b->x + r * b->inputs, NULL, b->y + r * b->columns);
    return 0;
}

static int eval_trees(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t r = 0; r < b->rows; r++) b->y[r] = trees_row(b->x + r * b->inputs);
    return 0;
}

static certreg_certificate certify(const certreg_model *m, const float *z, double tolerance,
                                   const double *prediction)
{
    const certreg_plan p = {.struct_size = sizeof p, .max_samples = SAMPLES, .seed = 7};
    const certreg_question q = {
        .struct_size = sizeof q, .tolerance = tolerance, .prediction = prediction};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_estimator *e = NULL;
    ck_assert_int_eq(certreg_estimator_create(NULL, m, &p, NULL, &e), CERTREG_OK);
    ck_assert_int_eq(certreg_estimator_begin(e, z, 0.25, 0), CERTREG_OK);
    ck_assert_msg(certreg_certify(e, SAMPLES, &q, 1, &c) == CERTREG_OK, "%s %s",
                  certreg_estimator_error(e)->text, engine.why);
    certreg_estimator_destroy(e);
    return c;
}

/* Outputs of the two models differ by at most `apart`. So around the same prediction the radius of
 * the first lies between those of the second at a tolerance that is smaller and larger by that: an
 * output within one tolerance is within the other. */
static void check_certificate(const float *z, double tolerance, double most, certreg_eval eval,
                              void *user)
{
    struct pair both = {.other = eval, .other_user = user};
    certreg_model m = {.struct_size = sizeof m};
    engine_model(&engine, &m);
    both.eval = m.eval, both.user = m.user;
    m.eval = eval_pair, m.user = &both;
    const certreg_certificate own = certify(&m, z, tolerance, NULL),
                              c = certify(&m, z, tolerance, &own.prediction);
    m.eval = eval, m.user = user;
    const double below = tolerance - both.apart, above = tolerance + both.apart;
    const certreg_certificate inner = certify(&m, z, below, &own.prediction),
                              outer = certify(&m, z, above, &own.prediction);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_msg(both.apart <= most, "outputs differ by %g", both.apart);
    ck_assert_msg(inner.radius <= c.radius && c.radius <= outer.radius, "%.9g, not in [%.9g, %.9g]",
                  c.radius, inner.radius, outer.radius);
    ck_assert_double_ge(inner.radius, 0.99 * outer.radius); /* else this would say little */
}

static const float dense_input[DENSE_INPUTS] = {0.3f, -0.7f, 0.2f, 1.1f, -0.4f, 0.6f};

static const struct {
    const char *engine, *model, *shape;
} networks[] = {
    {"onnxruntime", "dense.onnx", NULL}, {"onnxruntime", "fixed.onnx", NULL},
    {"opencv", "dense.onnx", NULL},      {"opencv", "fixed.onnx", NULL},
    {"opencv", "image.onnx", NULL},      {"torch", "dense.pt", "6"},
};

START_TEST(certificates_of_a_network_are_those_of_its_formula)
{
    char model[64];
    snprintf(model, sizeof model, "tests/engines/%s", networks[_i].model);
    if (opens(networks[_i].engine, model, networks[_i].shape, NULL))
        check_certificate(dense_input, 1.0, 2e-6, eval_dense, NULL);
}
END_TEST

START_TEST(certificates_of_trees_are_those_of_their_formula)
{
    if (opens(NULL, "tests/engines/trees.json", NULL, NULL))
        check_certificate(dense_input, 8.0, 0.0, eval_trees, NULL);
}
END_TEST

/* The network of the demo, run by each of two engines. */
START_TEST(certificates_of_one_file_agree_between_engines)
{
    static const char *const other[] = {"opencv", "builtin"};
    const struct engine_options set = {.engine = "onnxruntime"};
    const char *model = "examples/models/rotation.onnx";
    struct engine peer;
    float z[784] = {0};
    for (size_t row = 5; row < 23; row++)
        for (size_t k = 0; k < 3; k++) z[row * 28 + 16 - row / 4 + k] = 1.0f;
    if (!opens(other[_i], model, NULL, NULL)) return;
    if (engine_open(model, &set, &peer)) {
        printf("skip ONNX Runtime: %s\n", peer.why);
        return;
    }
    check_certificate(z, 0.5, 1e-5, engine_eval, &peer);
    engine_close(&peer);
}
END_TEST

/* ---- what is refused */
static const struct {
    const char *engine, *model, *shape, *output, *says;
} refused[] = {
    {NULL, "tests/engines/float64.onnx", NULL, NULL, "\"x\" [?, 6] holds float64"},
    {"opencv", "tests/engines/float64.onnx", NULL, NULL, "\"x\" [?, 6] holds float64"},
    {"opencv", "tests/engines/untold.onnx", NULL, NULL, "the rank of its output \"y\""},
    {NULL, "tests/engines/two_inputs.onnx", NULL, NULL, "2 inputs"},
    {"opencv", "tests/engines/two_inputs.onnx", NULL, NULL, "2 inputs"},
    {NULL, "tests/engines/two_outputs.onnx", NULL, NULL, "2 outputs (\"r\", \"y\")"},
    {"opencv", "tests/engines/two_outputs.onnx", NULL, NULL, "2 outputs (\"r\", \"y\")"},
    {NULL, "tests/engines/two_outputs.onnx", NULL, "z", "no output \"z\""},
    {NULL, "tests/engines/open.onnx", NULL, NULL, "\"image\" [?, 1, ?, ?] has unknown"},
    {"opencv", "tests/engines/open.onnx", NULL, NULL, "\"image\" [?, 1, ?, ?] has unknown"},
    {NULL, "tests/engines/open.onnx", "3x2x3", NULL, "3x2x3 of a row does not fit"},
    {NULL, "tests/engines/dense.onnx", "7", NULL, "7 of a row does not fit"},
    {NULL, "tests/engines/dense.onnx", "six", NULL, "not of the form"},
    {NULL, "tests/engines/dense.onnx", "6x", NULL, "not of the form"},
    {NULL, "tests/engines/dense.onnx", "0", NULL, "not of the form"},
    {NULL, "tests/engines/dense.onnx", "1x1x1x1x1x1x1x6", NULL, "not of the form"},
    {NULL, "tests/engines/open.onnx", "1x1073741824x1073741824", NULL, "cannot hold rows"},
    {"opencv", "tests/engines/no_batch.onnx", NULL, NULL, "\"x\" [] cannot hold rows"},
    {NULL, "tests/engines/no_batch.onnx", NULL, NULL, "unknown dimensions"},
    {NULL, "tests/engines/row.onnx", NULL, NULL, "\"y\" [1, 3] does not have one row"},
    {"opencv", "tests/engines/row.onnx", NULL, NULL, "\"y\" [1, 3] does not have one row"},
    {NULL, "tests/engines/sum.onnx", NULL, NULL, "does not have one row"},
    {"opencv", "tests/engines/sum.onnx", NULL, NULL, "\"y\" [] does not have one row"},
    {"opencv", "examples/models/slant.onnx", NULL, NULL, "OpenCV, opening the model"},
    {NULL, "no/such.onnx", NULL, NULL, "no/such.onnx: No such file"},
    {"opencv", "no/such.onnx", NULL, NULL, "no/such.onnx: No such file"},
    {NULL, "no/such.json", NULL, NULL, "no/such.json: No such file"},
    {"torch", "no/such.pt", "6", NULL, "no/such.pt: No such file"},
    {"opencv", "tests", NULL, NULL, "no file"},
    {"onnxruntime", "README.md", NULL, NULL, "opening the model"},
    {"opencv", "README.md", NULL, NULL, "not an ONNX file"},
    {"xgboost", "README.md", NULL, NULL, "XGBoost, opening"},
    {"torch", "README.md", "6", NULL, "libtorch, opening"},
    {"builtin", "README.md", NULL, NULL, "not a weight file"},
    {NULL, "README.md", NULL, NULL, "name an engine"},
    {"caffe", "README.md", NULL, NULL, "no engine is called caffe"},
    {"torch", "tests/engines/dense.pt", NULL, NULL, "give the shape of a row"},
    {"torch", "tests/engines/dense.pt", "5", NULL, "shapes cannot be multiplied"},
    {"torch", "tests/engines/tuple.pt", "6", NULL, "2 outputs (\"0\", \"1\")"},
    {"torch", "tests/engines/float64.pt", "6", NULL, "holds float64"},
    {"torch", "tests/engines/list.pt", "6", NULL, "neither a tensor nor a tuple"},
    {NULL, "tests/engines/trees.json", "4", NULL, "4 of a row does not fit"},
};

START_TEST(what_cannot_be_used_is_refused_with_a_sentence)
{
    const struct engine_options set = {
        .engine = refused[_i].engine, .shape = refused[_i].shape, .output = refused[_i].output};
    const int bad = engine_open(refused[_i].model, &set, &engine);
    if (bad == ENGINE_ABSENT) {
        printf("skip engine %s: %s\n", refused[_i].engine, engine.why);
        return;
    }
    ck_assert_msg(bad == ENGINE_FAILED, "%s was not refused", refused[_i].model);
    ck_assert_msg(strstr(engine.why, refused[_i].says) != NULL, "%s", engine.why);
    ck_assert_msg(strstr(engine.why, refused[_i].model) != NULL || !strcmp("caffe", set.engine),
                  "%s", engine.why);
    ck_assert(engine.run == NULL && engine.close == NULL);
}
END_TEST

START_TEST(devices_are_for_onnx_runtime_only)
{
    const struct engine_options set = {.engine = "builtin", .on_device = 1};
    ck_assert_int_eq(engine_open("examples/models/rotation.onnx", &set, &engine), ENGINE_FAILED);
    ck_assert_msg(strstr(engine.why, "no arrays in memory of device 0") != NULL, "%s", engine.why);
}
END_TEST

START_TEST(batches_of_another_shape_are_refused)
{
    float z[DENSE_INPUTS] = {0}, out[8 * DENSE_COLUMNS];
    const certreg_batch sound = {.device = -1,
                                 .rows = 4,
                                 .inputs = DENSE_INPUTS,
                                 .columns = DENSE_COLUMNS,
                                 .x = z,
                                 .y = out};
    if (!opens("onnxruntime", "tests/engines/fixed.onnx", NULL, NULL)) return;
    certreg_batch b = sound;
    b.rows = 3;
    ck_assert(engine_eval(&engine, &b) && strstr(engine.why, "set model.batch to 4"));
    b = sound, b.inputs = 7;
    ck_assert(engine_eval(&engine, &b) && strstr(engine.why, "model.inputs is 7"));
    b = sound, b.columns = 1;
    ck_assert(engine_eval(&engine, &b) && strstr(engine.why, "have 1 columns"));
    b = sound, b.device = 0;
    ck_assert(engine_eval(&engine, &b) && strstr(engine.why, "the batch is on 0"));
    engine_close(&engine);
    ck_assert(engine_eval(&engine, &sound) && strstr(engine.why, "closed"));
    engine_close(&engine); /* twice does no harm */
}
END_TEST

/* A model that gives other rows than it was opened with says so when it runs. */
START_TEST(a_batch_that_the_model_cannot_take_is_an_error_of_the_run)
{
    float z[9] = {0}, out[9];
    const struct engine_options set = {.engine = "onnxruntime"};
    const int bad = engine_open("tests/engines/one_row.onnx", &set, &engine);
    ck_assert(bad == ENGINE_ABSENT || (bad && strstr(engine.why, "does not have one row")) ||
              (!bad && engine_run(&engine, z, out, 3) && engine.why[0] != '\0'));
}
END_TEST

/* ---- damaged files */
static unsigned char bytes[4096];

static size_t read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    return size;
}

static char path[32];

static void write_bytes(size_t size)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
    ck_assert_int_eq(fclose(f), 0);
}

/* Opens the file by ONNX Runtime, and runs what can be opened. */
static int run_bytes(size_t size)
{
    const struct engine_options set = {.engine = "onnxruntime"};
    write_bytes(size);
    const int bad = engine_open(path, &set, &engine);
    if (bad) ck_assert_str_ne(engine.why, "");
    else if (engine.inputs * ROWS <= sizeof x / sizeof *x && engine.columns <= MOST)
        engine_run(&engine, x, y, engine.batch > 0 && engine.batch < ROWS ? engine.batch : ROWS);
    engine_close(&engine);
    return !bad;
}

/* Reads the file as OpenCV's adapter does. OpenCV 4.6 itself reads beyond the constants of a
 * damaged file, so it gets none. */
static int read_bytes(size_t size)
{
    const struct engine_options none = {.engine = NULL};
    struct tensor input, output;
    char why[ENGINE_WHY] = "", text[TENSOR_TEXT];
    write_bytes(size);
    if (onnx_read(path, &none, &input, &output, why)) {
        ck_assert_str_ne(why, "");
        return 0;
    }
    tensor_text(&input, text), tensor_text(&output, text);
    return !tensor_input(&none, &input, &engine) && !tensor_output(&output, &engine);
}

/* Cut at every place, and with every byte changed. */
START_TEST(damaged_onnx_files_are_refused_or_read)
{
    int (*try)(size_t) = _i == 0 ? read_bytes : run_bytes, sound = 0;
    strcpy(path, "/tmp/certreg_engines_XXXXXX");
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    const size_t size = read_file("tests/engines/image.onnx");
    for (size_t i = 0; i < size; i++) {
        sound += try(i);
        for (unsigned bit = 1; bit < 256; bit *= 4) {
            bytes[i] ^= (unsigned char)bit;
            sound += try(size);
            bytes[i] ^= (unsigned char)bit;
        }
    }
    unlink(path);
    ck_assert(sound > 0 || _i > 0); /* weights may be any; there may be no ONNX Runtime */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engines");
    TCase *typical = kit_case_with(suite, "typical", 60, clear, tear_down);
    TCase *bad = kit_case_with(suite, "bad_input", 60, clear, tear_down);
    tcase_add_loop_test(typical, shapes_and_outputs_are_those_of_the_file, 0,
                        KIT_ROWS(dense) * KIT_ROWS(onnx_engines));
    tcase_add_loop_test(typical, another_output_can_be_named, 0, KIT_ROWS(onnx_engines));
    tcase_add_test(typical, trees_have_the_values_that_they_have_by_hand);
    tcase_add_loop_test(typical, scripts_have_the_values_of_their_formula, 0, 2);
    tcase_add_loop_test(typical, certificates_of_a_network_are_those_of_its_formula, 0,
                        KIT_ROWS(networks));
    tcase_add_test(typical, certificates_of_trees_are_those_of_their_formula);
    tcase_add_loop_test(typical, certificates_of_one_file_agree_between_engines, 0, 2);
    tcase_add_loop_test(bad, what_cannot_be_used_is_refused_with_a_sentence, 0, KIT_ROWS(refused));
    tcase_add_test(bad, devices_are_for_onnx_runtime_only);
    tcase_add_test(bad, batches_of_another_shape_are_refused);
    tcase_add_test(bad, a_batch_that_the_model_cannot_take_is_an_error_of_the_run);
    tcase_add_loop_test(bad, damaged_onnx_files_are_refused_or_read, 0, 2);
    return kit_run(suite);
}
