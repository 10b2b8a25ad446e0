/* ONNX files as they come: constants for further inputs, float64, columns, and a batch that is
 * fixed at 1. Run from the root of the repository. */
#include <math.h>

#include "open_engine.h"

static const char fed[] = "tests/engines/fed.onnx"; /* y = gain x + offset + count + many + flag */

/* ---- constants */
START_TEST(constants_have_the_type_and_shape_of_their_input)
{
    static const char *const constants[] = {"gain=-0.5", "offset=2.25", "count=-3",
                                            "many=4294967296", "flag=1"};
    const struct engine_options set = {
        .output = _i ? "wide" : "y", .constants = constants, .constant_count = 5};
    if (!opens_with(&set, fed)) return;
    ck_assert(engine.inputs == 3 && engine.columns == 3 && engine.batch == 0);
    for (size_t i = 0; i < ROWS * 3; i++) x[i] = (float)i;
    for (size_t rows = 1; rows <= ROWS; rows += ROWS - 1) {
        ck_assert_msg(!engine_run(&engine, x, y, rows), "%s", engine.why);
        for (size_t i = 0; i < rows * 3; i++)
            ck_assert(y[i] == -0.5f * x[i] + 2.25f - 3.0f + 4294967296.0f + 1.0f);
    }
}
END_TEST

/* ---- what does not fit */
#define DENSE "tests/engines/dense.onnx"
static const struct {
    const char *model, *columns, *constants[5], *says;
} unfit[] = {
    {fed, NULL, {NULL}, "6 inputs without a constant (\"x\", \"gain\", "},
    {fed,
     NULL,
     {"gain=1", "offset=1", "count=1", "many=1"},
     "without a constant (\"x\", \"flag\")"},
    {fed, NULL, {"flag=2"}, "\"flag\" [] cannot hold 2"},
    {fed, NULL, {"count=0.5"}, "\"count\" [] cannot hold 0.5"},
    {fed, NULL, {"count=2147483648"}, "\"count\" [] cannot hold"},
    {fed, NULL, {"many=1e17"}, "\"many\" [1, 3] cannot hold"},
    {fed, NULL, {"gain=1e39"}, "\"gain\" [] cannot hold 1e39"},
    {fed, NULL, {"gain=one"}, "gain=one is no finite number"},
    {fed, NULL, {"gain="}, "gain= is no finite number"},
    {fed, NULL, {"offset=inf"}, "offset=inf is no finite number"},
    {fed, NULL, {"gain"}, "and 1 constants that name no input"},
    {DENSE, NULL, {"gain=1"}, "and 1 constants that name no input"},
    {fed, NULL, {"gain=1", "gain=2"}, "and 1 constants that name no input, or one twice"},
    {fed, NULL, {"x=1"}, "\"x\" [?, 3] has unknown or too large dimensions"},
    {DENSE, "2:3", {NULL}, "columns 2:3 are not there: a row of the output has 2"},
    {DENSE, "1:1", {NULL}, "not of the form 3:6"},
    {DENSE, "1", {NULL}, "not of the form"},
    {DENSE, "0:1:2", {NULL}, "not of the form"},
    {DENSE, "-1:1", {NULL}, "not of the form"},
    {"tests/engines/trees.json", "0:1", {NULL}, "only the engine onnx"},
};

START_TEST(constants_and_columns_that_do_not_fit_are_refused)
{
    struct engine_options set = {.output = unfit[_i].model == fed ? "y" : NULL,
                                 .columns = unfit[_i].columns,
                                 .constants = unfit[_i].constants};
    while (set.constant_count < 5 && set.constants[set.constant_count] != NULL)
        set.constant_count++;
    const int bad = engine_open(unfit[_i].model, &set, &engine);
    if (bad == ENGINE_ABSENT) {
        skip(engine.why);
        return;
    }
    ck_assert_int_eq(bad, ENGINE_FAILED);
    ck_assert_msg(strstr(engine.why, unfit[_i].says) != NULL, "%s", engine.why);
}
END_TEST

/* ---- columns */
/* In rows of float32 and of float64, whole and in parts; larger batches first and last. */
START_TEST(columns_are_those_of_all)
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

START_TEST(all_outputs_of_a_batch_of_one_are_one_row)
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

START_TEST(what_is_too_large_for_float32_becomes_infinite)
{
    const float large[] = {1.0f, -1.0f, 0.0f, 1e-30f, -1e-38f, 0.0f};
    if (!opens(NULL, "tests/engines/beyond.onnx", NULL, NULL)) return;
    ck_assert_msg(!engine_run(&engine, large, y, 2), "%s", engine.why);
    ck_assert(isinf(y[0]) && y[0] > 0.0f && isinf(y[1]) && y[1] < 0.0f);
    ck_assert(y[2] == 0.0f && y[5] == 0.0f && isinf(y[3]) && isinf(y[4]));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engines: files as they come");
    TCase *typical = kit_case_with(suite, "typical", clear, tear_down);
    tcase_add_loop_test(typical, constants_have_the_type_and_shape_of_their_input, 0, 2);
    tcase_add_loop_test(typical, columns_are_those_of_all, 0, 4);
    tcase_add_loop_test(typical, all_outputs_of_a_batch_of_one_are_one_row, 0, KIT_ROWS(ones));
    tcase_add_test(typical, what_is_too_large_for_float32_becomes_infinite);
    TCase *bad = kit_case_with(suite, "bad_input", clear, tear_down);
    tcase_add_loop_test(bad, constants_and_columns_that_do_not_fit_are_refused, 0, KIT_ROWS(unfit));
    return kit_run(suite);
}
