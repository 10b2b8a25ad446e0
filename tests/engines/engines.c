/* Engines of the examples: the same model gives the same outputs and certificates through each of
 * them, and what one cannot use is refused with a sentence that says why. Run from the root of the
 * repository; the models are those of make_models.py. */
#include "engines/engine.h"
#include "models.h"
#include "support/comma.h"
#include "support/suite.h"
#include <unistd.h>

#define IN(name) "lib/.obj/engines/" name

static struct engine engine; /* of the test that runs */

static void clear(void)
{
    memset(&engine, 0, sizeof engine);
}

static void tear_down(void)
{
    engine_close(&engine);
}

/* Whether an engine's library is not there; says so once. */
static int absent(int status)
{
    static char said[4 * ENGINE_WHY];
    if (status != ENGINE_ABSENT) return 0;
    if (strstr(said, engine.why) != NULL) return 1;
    printf("skip %s\n", engine.why);
    strncat(said, engine.why, sizeof said - strlen(said) - 1);
    return 1;
}

/* Opens a model; 0 without the engine's library. */
static int opens_with(const struct engine_options *set, const char *model)
{
    const int bad = engine_open(model, set, &engine);
    if (absent(bad)) return 0;
    ck_assert_msg(!bad, "%s", engine.why);
    ck_assert_str_eq(engine.why, "");
    return 1;
}

static int opens(const char *name, const char *model, const char *shape, const char *output)
{
    const struct engine_options set = {.engine = name, .shape = shape, .output = output};
    return opens_with(&set, model);
}

enum { ROWS = 8, MOST = 16 };
static float x[ROWS * MOST], y[ROWS * MOST];

/* ---- outputs */
static float wanted[ROWS * MOST];

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
    {IN("dense.onnx"), NULL, NULL, 0},    {IN("older.onnx"), NULL, NULL, 0},
    {IN("fixed.onnx"), NULL, NULL, 4},    {IN("image.onnx"), NULL, NULL, 0},
    {IN("image.onnx"), "1x2x3", NULL, 0}, {IN("open.onnx"), "1x2x3", NULL, 0},
    {IN("untold.onnx"), NULL, NULL, 0},   {IN("two_outputs.onnx"), NULL, "y", 0},
    {IN("float64.onnx"), NULL, NULL, 0},
};

TEST_ROWS(engine_shapes_and_outputs_are_those_of_the_file, dense)
{
    if (!opens(NULL, dense[_i].model, dense[_i].shape, dense[_i].output)) return;
    ck_assert_uint_eq(engine.batch, dense[_i].batch);
    check_dense(dense[_i].batch > 0 ? dense[_i].batch : ROWS);
    if (dense[_i].batch == 0) check_dense(3);
}

TEST(engine_output_can_be_named)
{
    if (!opens(NULL, IN("two_outputs.onnx"), NULL, "r")) return;
    ck_assert_uint_eq(engine.columns, DENSE_HIDDEN);
    fill(DENSE_INPUTS);
    dense_row(x, wanted, NULL);
    ck_assert_int_eq(engine_run(&engine, x, y, 1), 0);
    for (size_t i = 0; i < DENSE_HIDDEN; i++) ck_assert(y[i] == wanted[i]);
}

TEST_TIMES(engine_scripts_have_the_values_of_their_formula, 2)
{
    static const char *const paths[] = {IN("dense.pt"), IN("tuple.pt")};
    if (!opens("torch", paths[_i], "6", _i > 0 ? "1" : NULL)) return;
    check_dense(ROWS);
    check_dense(3);
}

/* ---- ONNX files as they come */
static const char fed[] = IN("fed.onnx"); /* y = gain x + offset + count + many + flag */

TEST_TIMES(engine_constants_have_the_type_and_shape_of_their_input, 3)
{
    static const char *const constants[] = {"gain=-0.5", "offset=2.25", "count=-3",
                                            "many=4294967296", "flag=1"};
    const struct engine_options set = {
        .output = _i % 2 ? "wide" : "y", .constants = constants, .constant_count = 5};
    if (_i / 2 && !comma_take()) return;
    const int opened = opens_with(&set, fed);
    setlocale(LC_ALL, "C");
    if (!opened) return;
    ck_assert(engine.inputs == 3 && engine.columns == 3 && engine.batch == 0);
    for (size_t i = 0; i < ROWS * 3; i++) x[i] = (float)i;
    for (size_t rows = 1; rows <= ROWS; rows += ROWS - 1) {
        ck_assert_msg(!engine_run(&engine, x, y, rows), "%s", engine.why);
        for (size_t i = 0; i < rows * 3; i++)
            ck_assert(y[i] == -0.5f * x[i] + 2.25f - 3.0f + 4294967296.0f + 1.0f);
    }
}

/* In rows of float32 and of float64, whole and in parts; larger batches first and last. */
TEST_TIMES(engine_columns_are_those_of_all, 4)
{
    static const char *const constants[] = {"gain=2", "offset=0", "count=0", "many=1", "flag=0"};
    static const size_t batches[] = {3, ROWS, 1, ROWS};
    struct engine_options set = {.output = _i % 2 ? "wide" : "y",
                                 .columns = _i / 2 ? "1:3" : "2:3",
                                 .constants = constants,
                                 .constant_count = 5};
    if (!opens_with(&set, fed)) return;
    const size_t first = _i / 2 ? 1 : 2;
    ck_assert_uint_eq(engine.columns, 3 - first);
    for (size_t i = 0; i < ROWS * 3; i++) x[i] = (float)i / 4.0f;
    for (size_t k = 0; k < KIT_ROWS(batches); k++) {
        memset(y, 0xff, sizeof y);
        ck_assert_msg(!engine_run(&engine, x, y, batches[k]), "%s", engine.why);
        for (size_t i = 0; i < batches[k]; i++)
            for (size_t c = first; c < 3; c++)
                ck_assert(y[i * (3 - first) + c - first] == 2.0f * x[i * 3 + c] + 1.0f);
    }
}

/* ---- a batch of 1, and float64 */
static const struct {
    const char *model, *shape;
    size_t inputs, columns;
} ones[] = {{IN("pairs.onnx"), "6", 6, 6},
            {IN("pairs_fixed.onnx"), NULL, 6, 6},
            {IN("sum_of_one.onnx"), NULL, 3, 1}};

TEST_ROWS(engine_outputs_of_a_batch_of_one_are_one_row, ones)
{
    if (!opens(NULL, ones[_i].model, ones[_i].shape, NULL)) return;
    ck_assert_uint_eq(engine.inputs, ones[_i].inputs);
    ck_assert_uint_eq(engine.columns, ones[_i].columns);
    ck_assert_uint_eq(engine.batch, 1);
    for (size_t i = 0; i < engine.inputs; i++) x[i] = (float)i + 0.125f;
    ck_assert_msg(!engine_run(&engine, x, y, 1), "%s", engine.why);
    for (size_t i = 0; i < engine.columns; i++) ck_assert(y[i] == (_i == 2 ? 3.375f : x[i]));
}

TEST(engine_outputs_too_large_for_float32_become_infinite)
{
    const float large[] = {1.0f, -1.0f, 0.0f, 1e-30f, -1e-38f, 0.0f};
    if (!opens(NULL, IN("beyond.onnx"), NULL, NULL)) return;
    ck_assert_msg(!engine_run(&engine, large, y, 2), "%s", engine.why);
    ck_assert(isinf(y[0]) && y[0] > 0.0f && isinf(y[1]) && y[1] < 0.0f);
    ck_assert(y[2] == 0.0f && y[5] == 0.0f && isinf(y[3]) && isinf(y[4]));
}

/* ---- trees */
TEST_TIMES(engine_trees_have_the_values_computed_by_hand, 2)
{
    static const float edges[] = {-1.0f, -0.25f, 0.0f, 0.5f, 0.75f, 1.0f, 3.0f};
    float row[3], out;
    static const char *const paths[] = {IN("trees.json"), IN("trees.ubj")};
    if (!opens(NULL, paths[_i], NULL, NULL)) return;
    ck_assert_uint_eq(engine.inputs, 3);
    ck_assert_uint_eq(engine.columns, 1);
    for (int i = 0; i < 7 * 7 * 7; i++) { /* on the edges of every split, and beside them */
        row[0] = edges[i % 7], row[1] = edges[i / 7 % 7], row[2] = edges[i / 49];
        ck_assert_int_eq(engine_run(&engine, row, &out, 1), 0);
        ck_assert_msg(out == trees_row(row), "%g, not %g", (double)out, (double)trees_row(row));
    }
}

/* ---- certificates */
enum { SAMPLES = 2000 };

/* A model, and another one that is compared with it on every batch. */
struct pair {
    certreg_eval eval, other;
    void *user;
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
    if (p->eval(p->user, b) || p->other(NULL, &other)) return 1;
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
static void check_certificate(const float *z, double tolerance, double most, certreg_eval eval)
{
    struct pair both = {.other = eval};
    certreg_model m = {.struct_size = sizeof m};
    engine_model(&engine, &m);
    both.eval = m.eval, both.user = m.user;
    m.eval = eval_pair, m.user = &both;
    const certreg_certificate own = certify(&m, z, tolerance, NULL),
                              c = certify(&m, z, tolerance, &own.prediction);
    m.eval = eval;
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
    {"onnxruntime", IN("dense.onnx"), NULL},
    {"onnxruntime", IN("fixed.onnx"), NULL},
    {"onnxruntime", IN("image.onnx"), NULL},
    {"torch", IN("dense.pt"), "6"},
};

/* Rows whose sums have to be rounded. */
TEST_ROWS(engine_gives_the_same_bits_for_the_same_rows, networks)
{
    float again[ROWS * MOST];
    if (!opens(networks[_i].engine, networks[_i].model, networks[_i].shape, NULL)) return;
    const size_t rows = engine.batch > 0 ? engine.batch : ROWS;
    for (size_t i = 0; i < rows * DENSE_INPUTS; i++) x[i] = sinf((float)i);
    for (int k = 0; k < 4; k++) { /* TorchScript would change after its first runs */
        memset(again, 0xff, sizeof again);
        ck_assert_msg(!engine_run(&engine, x, again, rows), "%s", engine.why);
        if (k > 0) ck_assert_mem_eq(y, again, rows * DENSE_COLUMNS * sizeof *y);
        memcpy(y, again, sizeof y);
    }
}

/* Arrays are used in place. They move and shrink from run to run, as batches may. */
TEST(engine_gives_the_same_bits_if_arrays_move_and_shrink)
{
    enum { INPUTS = 784, COLUMNS = 2, MANY = 259 };
    static const size_t first[] = {0, MANY - 1, 3}, rows[] = {MANY, 1, 64};
    static float in[MANY * INPUTS], moved[MANY * INPUTS], out[MANY * COLUMNS], again[MANY * 4];
    if (!opens("onnxruntime", "examples/models/rotation.onnx", NULL, NULL)) return;
    for (size_t i = 0; i < MANY * INPUTS; i++) in[i] = moved[i] = sinf((float)i);
    for (size_t k = 0; k < KIT_ROWS(rows); k++) {
        const size_t at = first[k] * INPUTS;
        memset(again, 0xff, sizeof again);
        ck_assert_msg(!engine_run(&engine, in + at, out, rows[k]), "%s", engine.why);
        ck_assert_msg(!engine_run(&engine, moved + at, again + first[k], rows[k]), "%s",
                      engine.why);
        ck_assert_mem_eq(out, again + first[k], rows[k] * COLUMNS * sizeof *out);
    }
}

TEST_ROWS(engine_certificates_of_a_network_are_those_of_its_formula, networks)
{
    if (opens(networks[_i].engine, networks[_i].model, networks[_i].shape, NULL))
        check_certificate(dense_input, 1.0, 2e-6, eval_dense);
}

TEST(engine_certificates_of_trees_are_those_of_their_formula)
{
    if (opens(NULL, IN("trees.json"), NULL, NULL))
        check_certificate(dense_input, 8.0, 0.0, eval_trees);
}

#define DENSE IN("dense.onnx")
#define FED IN("fed.onnx")
#define PLAIN          \
    {                  \
        .engine = NULL \
    }
#define GIVEN(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- what is refused */
static const struct {
    const char *model, *says;
    struct engine_options set;
} refused[] = {
    {IN("whole.onnx"), "\"x\" [?, 6] holds int64", PLAIN},
    {IN("two_inputs.onnx"), "2 inputs without a constant", PLAIN},
    {IN("two_outputs.onnx"), "2 outputs (\"r\", \"y\")", PLAIN},
    {IN("two_outputs.onnx"), "no output \"z\"", {.output = "z"}},
    {IN("open.onnx"), "\"image\" [?, 1, ?, ?] has unknown", PLAIN},
    {IN("open.onnx"), "3x2x3 of a row does not fit", {.shape = "3x2x3"}},
    {DENSE, "7 of a row does not fit", {.shape = "7"}},
    {DENSE, "not of the form", {.shape = "six"}},
    {DENSE, "not of the form", {.shape = "6x"}},
    {DENSE, "not of the form", {.shape = "0"}},
    {DENSE, "not of the form", {.shape = "1x1x1x1x1x1x1x6"}},
    {IN("open.onnx"), "cannot hold rows", {.shape = "1x1073741824x1073741824"}},
    {IN("no_batch.onnx"), "unknown dimensions", PLAIN},
    {IN("row.onnx"), "\"y\" [1, 3] does not have one row", PLAIN},
    {IN("sum.onnx"), "does not have one row", PLAIN},
    {IN("large.onnx"), "at most 2^30 numbers", PLAIN},
    {IN("no_output.onnx"), "has no outputs", PLAIN},
    {IN("one_row.onnx"), "one_row.onnx", PLAIN},
    {IN("turned.onnx"), "does not have one row", PLAIN},
    {IN("turned.pt"), "not 4 rows of 2", {.shape = "6"}},
    {IN("turned_fixed.onnx"), "rows are in another order", PLAIN},
    {IN("centred.onnx"), "if other rows are beside it", PLAIN},
    {IN("centred.pt"), "if other rows are beside it", {.shape = "6"}},
    {"no/such.onnx", "no/such.onnx: No such file", PLAIN},
    {"no/such.json", "no/such.json: No such file", PLAIN},
    {"no/such.pt", "no/such.pt: No such file", {.shape = "6"}},
    {"README.md", "opening the model", {.engine = "onnxruntime"}},
    {"README.md", "XGBoost did not save this", {.engine = "xgboost"}},
    {"README.md", "libtorch, opening", {.engine = "torch", .shape = "6"}},
    {"README.md", "name an engine", PLAIN},
    {"no/such", "name an engine", PLAIN},
    {"README.md", "no engine is called caffe", {.engine = "caffe"}},
    {IN("dense.pt"), "give the shape of a row", PLAIN},
    {IN("dense.pt"), "shapes cannot be multiplied", {.shape = "5"}},
    {IN("tuple.pt"), "2 outputs (\"0\", \"1\")", {.shape = "6"}},
    {IN("float64.pt"), "holds float64", {.shape = "6"}},
    {IN("list.pt"), "neither a tensor nor a tuple", {.shape = "6"}},
    {IN("dense.pt"), "no output \"1\", but \"0\"", {.shape = "6", .output = "1"}},
    {IN("trees.json"), "4 of a row does not fit", {.shape = "4"}},
    {IN("trees.json"), "no output \"y\", but \"prediction\"", {.output = "y"}},
    {IN("newer.json"), "XGBoost 99.0 saved this file", PLAIN},
    {IN("newer.ubj"), "XGBoost 99.7 saved this file", PLAIN},
    {DENSE, "no output \"z\", but \"y\"", {.output = "z"}},
    {FED, "6 inputs without a constant (\"x\", \"gain\", ", {.output = "y"}},
    {FED,
     "(\"x\", \"flag\")",
     {.output = "y", .constants = GIVEN("gain=1", "offset=1", "count=1", "many=1")}},
    {FED, "\"flag\" [] cannot hold 2", {.output = "y", .constants = GIVEN("flag=2")}},
    {FED, "\"count\" [] cannot hold 0.5", {.output = "y", .constants = GIVEN("count=0.5")}},
    {FED, "\"count\" [] cannot hold", {.output = "y", .constants = GIVEN("count=2147483648")}},
    {FED, "\"many\" [1, 3] cannot hold", {.output = "y", .constants = GIVEN("many=1e17")}},
    {FED, "\"gain\" [] cannot hold 1e39", {.output = "y", .constants = GIVEN("gain=1e39")}},
    {FED, "gain=one is no finite number", {.output = "y", .constants = GIVEN("gain=one")}},
    {FED, "gain= is no finite number", {.output = "y", .constants = GIVEN("gain=")}},
    {FED, "offset=inf is no finite number", {.output = "y", .constants = GIVEN("offset=inf")}},
    {FED, "and 1 constants that name no input", {.output = "y", .constants = GIVEN("gain")}},
    {FED,
     "that name no input, or one twice",
     {.output = "y", .constants = GIVEN("gain=1", "gain=2")}},
    {FED, "\"x\" [?, 3] has unknown or too large", {.output = "y", .constants = GIVEN("x=1")}},
    {DENSE, "and 1 constants that name no input", {.constants = GIVEN("gain=1")}},
    {DENSE, "columns 2:3 are not there: a row of the output has 2", {.columns = "2:3"}},
    {DENSE, "not of the form 3:6", {.columns = "1:1"}},
    {DENSE, "not of the form", {.columns = "1"}},
    {DENSE, "not of the form", {.columns = "0:1:2"}},
    {DENSE, "not of the form", {.columns = "-1:1"}},
    {IN("trees.json"), "only the engine onnx", {.columns = "0:1"}},
};

TEST_ROWS(engine_refuses_what_it_cannot_use_with_a_sentence, refused)
{
    struct engine_options set = refused[_i].set;
    while (set.constants != NULL && set.constants[set.constant_count] != NULL) set.constant_count++;
    const int bad = engine_open(refused[_i].model, &set, &engine);
    if (absent(bad)) return;
    ck_assert_msg(bad == ENGINE_FAILED, "%s was not refused", refused[_i].model);
    ck_assert_msg(strstr(engine.why, refused[_i].says) != NULL, "%s", engine.why);
    ck_assert_msg(strstr(engine.why, refused[_i].model) != NULL ||
                      (set.engine != NULL && !strcmp("caffe", set.engine)),
                  "%s", engine.why);
    ck_assert(engine.run == NULL && engine.close == NULL);
}

static const char *const randoms[] = {IN("random.onnx"), IN("random.pt")};

TEST_ROWS(engine_opens_a_random_model_with_a_remark, randoms)
{
    const struct engine_options set = {.shape = "6"};
    const int bad = engine_open(randoms[_i], &set, &engine);
    if (absent(bad)) return;
    ck_assert_int_eq(bad, 0);
    ck_assert_msg(strstr(engine.why, "if the same rows come again") != NULL, "%s", engine.why);
}

TEST(engine_opens_every_model_without_a_check)
{
    const struct engine_options set = {.no_check = 1};
    const int bad = engine_open(IN("centred.onnx"), &set, &engine);
    ck_assert(absent(bad) || (!bad && engine.why[0] == '\0'));
}

static const char network[] = "examples/models/rotation.onnx";

TEST_TIMES(engine_without_onnx_runtime_names_the_remedy, 2)
{
    static const char *const names[] = {NULL, "onnxruntime"};
    const struct engine_options set = {.engine = names[_i]};
    const char *own = getenv("CERTREG_ORT");
    char kept[4096] = "";
    if (own != NULL) snprintf(kept, sizeof kept, "%s", own);
    setenv("CERTREG_ORT", "/no/such/library.so", 1);
    ck_assert_int_eq(engine_open(network, &set, &engine), ENGINE_ABSENT);
    ck_assert_msg(strstr(engine.why, "/no/such/library.so") != NULL, "%s", engine.why);
    ck_assert_msg(strstr(engine.why, "make deps") != NULL, "%s", engine.why);
    ck_assert(engine.run == NULL && engine.close == NULL);
    if (own != NULL) setenv("CERTREG_ORT", kept, 1);
    else unsetenv("CERTREG_ORT");
}

TEST(engine_refuses_a_network_of_another_shape)
{
    if (!opens(NULL, network, NULL, NULL)) return;
    ck_assert(!engine_fits(&engine, network, 784, 2) && engine_fits(&engine, network, 784, 3));
    ck_assert_msg(strstr(engine.why, "784 numbers into 2, not 784 into 3") != NULL, "%s",
                  engine.why);
}

/* A device that no machine has, with and without a CUDA provider; and engines without devices. */
TEST(engine_refuses_devices_that_it_cannot_use)
{
    const struct engine_options nowhere = {.on_device = 1, .device = 1000},
                                none = {.engine = "xgboost", .on_device = 1};
    ck_assert_int_eq(engine_open(network, &nowhere, &engine), ENGINE_ABSENT);
    ck_assert_str_ne(engine.why, "");
    ck_assert(engine.close == NULL);
    const int bad = engine_open(network, &none, &engine);
    if (absent(bad)) return;
    ck_assert_int_eq(bad, ENGINE_FAILED);
    ck_assert_msg(strstr(engine.why, "no arrays in memory of device 0") != NULL, "%s", engine.why);
}

TEST(engine_refuses_batches_of_another_shape)
{
    float z[DENSE_INPUTS] = {0}, out[8 * DENSE_COLUMNS];
    const certreg_batch sound = {.device = -1,
                                 .rows = 4,
                                 .inputs = DENSE_INPUTS,
                                 .columns = DENSE_COLUMNS,
                                 .x = z,
                                 .y = out};
    if (!opens("onnxruntime", IN("fixed.onnx"), NULL, NULL)) return;
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

/* ---- damaged files */
/* Writes these bytes, opens the file by ONNX Runtime, and runs what can be opened. */
static void run_bytes(const char *path, const unsigned char *bytes, size_t size)
{
    const struct engine_options set = {.engine = "onnxruntime"};
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, size, f), size);
    ck_assert_int_eq(fclose(f), 0);
    if (engine_open(path, &set, &engine)) ck_assert_str_ne(engine.why, "");
    else if (engine.inputs * ROWS <= sizeof x / sizeof *x && engine.columns <= MOST)
        engine_run(&engine, x, y, engine.batch > 0 && engine.batch < ROWS ? engine.batch : ROWS);
    engine_close(&engine);
}

/* Cut at every place, and with every byte changed. */
TEST(engine_refuses_or_runs_damaged_onnx_files)
{
    unsigned char bytes[4096];
    char path[] = "/tmp/certreg_engines_XXXXXX";
    FILE *sound = fopen(IN("image.onnx"), "rb");
    ck_assert_ptr_nonnull(sound);
    const size_t size = fread(bytes, 1, sizeof bytes, sound);
    fclose(sound);
    close(mkstemp(path));
    for (size_t i = 0; i < size; i++) {
        run_bytes(path, bytes, i);
        for (unsigned bit = 1; bit < 256; bit *= 4) {
            bytes[i] ^= (unsigned char)bit;
            run_bytes(path, bytes, size);
            bytes[i] ^= (unsigned char)bit;
        }
    }
    unlink(path);
}

FIXTURE(clear, tear_down)
TEST_MAIN("engines")
