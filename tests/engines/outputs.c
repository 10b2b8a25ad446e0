/* The same model gives the same outputs and certificates through different engines, and shapes are
 * those of the file. Run from the root of the repository. */
#include <math.h>

#include "models.h"
#include "open_engine.h"
#include "support/comma.h"

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
    {"dense", NULL, NULL, 0},  {"older", NULL, NULL, 0},      {"fixed", NULL, NULL, 4},
    {"image", NULL, NULL, 0},  {"image", "1x2x3", NULL, 0},   {"open", "1x2x3", NULL, 0},
    {"untold", NULL, NULL, 0}, {"two_outputs", NULL, "y", 0}, {"float64", NULL, NULL, 0},
};

START_TEST(engine_shapes_and_outputs_are_those_of_the_file)
{
    char model[64];
    snprintf(model, sizeof model, "tests/engines/%s.onnx", dense[_i].model);
    if (!opens(NULL, model, dense[_i].shape, dense[_i].output)) return;
    ck_assert_uint_eq(engine.batch, dense[_i].batch);
    check_dense(dense[_i].batch > 0 ? dense[_i].batch : ROWS);
    if (dense[_i].batch == 0) check_dense(3);
}
END_TEST

START_TEST(engine_output_can_be_named)
{
    if (!opens(NULL, "tests/engines/two_outputs.onnx", NULL, "r")) return;
    ck_assert_uint_eq(engine.columns, DENSE_HIDDEN);
    fill(DENSE_INPUTS);
    dense_row(x, wanted, NULL);
    ck_assert_int_eq(engine_run(&engine, x, y, 1), 0);
    for (size_t i = 0; i < DENSE_HIDDEN; i++) ck_assert(y[i] == wanted[i]);
}
END_TEST

START_TEST(engine_scripts_have_the_values_of_their_formula)
{
    static const char *const paths[] = {"tests/engines/dense.pt", "tests/engines/tuple.pt"};
    if (!opens("torch", paths[_i], "6", _i > 0 ? "1" : NULL)) return;
    check_dense(ROWS);
    check_dense(3);
}
END_TEST

/* ---- ONNX files as they come */
static const char fed[] = "tests/engines/fed.onnx"; /* y = gain x + offset + count + many + flag */

START_TEST(engine_constants_have_the_type_and_shape_of_their_input)
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
END_TEST

/* In rows of float32 and of float64, whole and in parts; larger batches first and last. */
START_TEST(engine_columns_are_those_of_all)
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
END_TEST

/* ---- a batch of 1, and float64 */
static const struct {
    const char *model, *shape;
    size_t inputs, columns;
} ones[] = {{"pairs", "6", 6, 6}, {"pairs_fixed", NULL, 6, 6}, {"sum_of_one", NULL, 3, 1}};

START_TEST(engine_outputs_of_a_batch_of_one_are_one_row)
{
    char model[64];
    snprintf(model, sizeof model, "tests/engines/%s.onnx", ones[_i].model);
    if (!opens(NULL, model, ones[_i].shape, NULL)) return;
    ck_assert_uint_eq(engine.inputs, ones[_i].inputs);
    ck_assert_uint_eq(engine.columns, ones[_i].columns);
    ck_assert_uint_eq(engine.batch, 1);
    for (size_t i = 0; i < engine.inputs; i++) x[i] = (float)i + 0.125f;
    ck_assert_msg(!engine_run(&engine, x, y, 1), "%s", engine.why);
    for (size_t i = 0; i < engine.columns; i++) ck_assert(y[i] == (_i == 2 ? 3.375f : x[i]));
}
END_TEST

START_TEST(engine_outputs_too_large_for_float32_become_infinite)
{
    const float large[] = {1.0f, -1.0f, 0.0f, 1e-30f, -1e-38f, 0.0f};
    if (!opens(NULL, "tests/engines/beyond.onnx", NULL, NULL)) return;
    ck_assert_msg(!engine_run(&engine, large, y, 2), "%s", engine.why);
    ck_assert(isinf(y[0]) && y[0] > 0.0f && isinf(y[1]) && y[1] < 0.0f);
    ck_assert(y[2] == 0.0f && y[5] == 0.0f && isinf(y[3]) && isinf(y[4]));
}
END_TEST

/* ---- trees */
START_TEST(engine_trees_have_the_values_computed_by_hand)
{
    static const float edges[] = {-1.0f, -0.25f, 0.0f, 0.5f, 0.75f, 1.0f, 3.0f};
    float row[3], out;
    static const char *const paths[] = {"tests/engines/trees.json", "tests/engines/trees.ubj"};
    if (!opens(NULL, paths[_i], NULL, NULL)) return;
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
    {"onnxruntime", "dense.onnx", NULL},
    {"onnxruntime", "fixed.onnx", NULL},
    {"onnxruntime", "image.onnx", NULL},
    {"torch", "dense.pt", "6"},
};

/* Rows whose sums have to be rounded. */
START_TEST(engine_gives_the_same_bits_for_the_same_rows)
{
    char model[64];
    float again[ROWS * MOST];
    snprintf(model, sizeof model, "tests/engines/%s", networks[_i].model);
    if (!opens(networks[_i].engine, model, networks[_i].shape, NULL)) return;
    const size_t rows = engine.batch > 0 ? engine.batch : ROWS;
    for (size_t i = 0; i < rows * DENSE_INPUTS; i++) x[i] = sinf((float)i);
    for (int k = 0; k < 4; k++) { /* TorchScript would change after its first runs */
        memset(again, 0xff, sizeof again);
        ck_assert_msg(!engine_run(&engine, x, again, rows), "%s", engine.why);
        if (k > 0) ck_assert_mem_eq(y, again, rows * DENSE_COLUMNS * sizeof *y);
        memcpy(y, again, sizeof y);
    }
}
END_TEST

/* Arrays are used in place. They move and shrink from run to run, as batches may. */
START_TEST(engine_gives_the_same_bits_if_arrays_move_and_shrink)
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
END_TEST

START_TEST(engine_certificates_of_a_network_are_those_of_its_formula)
{
    char model[64];
    snprintf(model, sizeof model, "tests/engines/%s", networks[_i].model);
    if (opens(networks[_i].engine, model, networks[_i].shape, NULL))
        check_certificate(dense_input, 1.0, 2e-6, eval_dense);
}
END_TEST

START_TEST(engine_certificates_of_trees_are_those_of_their_formula)
{
    if (opens(NULL, "tests/engines/trees.json", NULL, NULL))
        check_certificate(dense_input, 8.0, 0.0, eval_trees);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engines");
    TCase *typical = kit_case_with(suite, "typical", clear, tear_down);
    tcase_add_loop_test(typical, engine_shapes_and_outputs_are_those_of_the_file, 0,
                        KIT_ROWS(dense));
    tcase_add_test(typical, engine_output_can_be_named);
    tcase_add_loop_test(typical, engine_constants_have_the_type_and_shape_of_their_input, 0, 3);
    tcase_add_loop_test(typical, engine_columns_are_those_of_all, 0, 4);
    tcase_add_loop_test(typical, engine_outputs_of_a_batch_of_one_are_one_row, 0, KIT_ROWS(ones));
    tcase_add_test(typical, engine_outputs_too_large_for_float32_become_infinite);
    tcase_add_loop_test(typical, engine_trees_have_the_values_computed_by_hand, 0, 2);
    tcase_add_loop_test(typical, engine_scripts_have_the_values_of_their_formula, 0, 2);
    tcase_add_loop_test(typical, engine_gives_the_same_bits_for_the_same_rows, 0,
                        KIT_ROWS(networks));
    tcase_add_test(typical, engine_gives_the_same_bits_if_arrays_move_and_shrink);
    tcase_add_loop_test(typical, engine_certificates_of_a_network_are_those_of_its_formula, 0,
                        KIT_ROWS(networks));
    tcase_add_test(typical, engine_certificates_of_trees_are_those_of_their_formula);
    return kit_run(suite);
}
