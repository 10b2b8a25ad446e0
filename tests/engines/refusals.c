/* What an engine cannot use is refused with a sentence that says why. Run from the root of the
 * repository. */
#include <stdlib.h>
#include <unistd.h>

#include "models.h"
#include "open_engine.h"

#define DENSE "tests/engines/dense.onnx"
#define FED "tests/engines/fed.onnx"
#define GIVEN(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- what is refused */
static const struct {
    const char *model, *says;
    struct engine_options set;
} refused[] = {
    {"tests/engines/whole.onnx", "\"x\" [?, 6] holds int64", {.engine = NULL}},
    {"tests/engines/two_inputs.onnx", "2 inputs without a constant", {.engine = NULL}},
    {"tests/engines/two_outputs.onnx", "2 outputs (\"r\", \"y\")", {.engine = NULL}},
    {"tests/engines/two_outputs.onnx", "no output \"z\"", {.output = "z"}},
    {"tests/engines/open.onnx", "\"image\" [?, 1, ?, ?] has unknown", {.engine = NULL}},
    {"tests/engines/open.onnx", "3x2x3 of a row does not fit", {.shape = "3x2x3"}},
    {DENSE, "7 of a row does not fit", {.shape = "7"}},
    {DENSE, "not of the form", {.shape = "six"}},
    {DENSE, "not of the form", {.shape = "6x"}},
    {DENSE, "not of the form", {.shape = "0"}},
    {DENSE, "not of the form", {.shape = "1x1x1x1x1x1x1x6"}},
    {"tests/engines/open.onnx", "cannot hold rows", {.shape = "1x1073741824x1073741824"}},
    {"tests/engines/no_batch.onnx", "unknown dimensions", {.engine = NULL}},
    {"tests/engines/row.onnx", "\"y\" [1, 3] does not have one row", {.engine = NULL}},
    {"tests/engines/sum.onnx", "does not have one row", {.engine = NULL}},
    {"tests/engines/large.onnx", "at most 2^30 numbers", {.engine = NULL}},
    {"tests/engines/no_output.onnx", "has no outputs", {.engine = NULL}},
    {"tests/engines/one_row.onnx", "one_row.onnx", {.engine = NULL}},
    {"tests/engines/turned.onnx", "does not have one row", {.engine = NULL}},
    {"tests/engines/turned.pt", "not 4 rows of 2", {.shape = "6"}},
    {"tests/engines/turned_fixed.onnx", "rows are in another order", {.engine = NULL}},
    {"tests/engines/centred.onnx", "if other rows are beside it", {.engine = NULL}},
    {"tests/engines/centred.pt", "if other rows are beside it", {.shape = "6"}},
    {"no/such.onnx", "no/such.onnx: No such file", {.engine = NULL}},
    {"no/such.json", "no/such.json: No such file", {.engine = NULL}},
    {"no/such.pt", "no/such.pt: No such file", {.shape = "6"}},
    {"README.md", "opening the model", {.engine = "onnxruntime"}},
    {"README.md", "XGBoost did not save this", {.engine = "xgboost"}},
    {"README.md", "libtorch, opening", {.engine = "torch", .shape = "6"}},
    {"README.md", "name an engine", {.engine = NULL}},
    {"no/such", "name an engine", {.engine = NULL}},
    {"README.md", "no engine is called caffe", {.engine = "caffe"}},
    {"tests/engines/dense.pt", "give the shape of a row", {.engine = NULL}},
    {"tests/engines/dense.pt", "shapes cannot be multiplied", {.shape = "5"}},
    {"tests/engines/tuple.pt", "2 outputs (\"0\", \"1\")", {.shape = "6"}},
    {"tests/engines/float64.pt", "holds float64", {.shape = "6"}},
    {"tests/engines/list.pt", "neither a tensor nor a tuple", {.shape = "6"}},
    {"tests/engines/dense.pt", "no output \"1\", but \"0\"", {.shape = "6", .output = "1"}},
    {"tests/engines/trees.json", "4 of a row does not fit", {.shape = "4"}},
    {"tests/engines/trees.json", "no output \"y\", but \"prediction\"", {.output = "y"}},
    {"tests/engines/newer.json", "XGBoost 99.0 saved this file", {.engine = NULL}},
    {"tests/engines/newer.ubj", "XGBoost 99.7 saved this file", {.engine = NULL}},
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
    {"tests/engines/trees.json", "only the engine onnx", {.columns = "0:1"}},
};

START_TEST(engine_refuses_what_it_cannot_use_with_a_sentence)
{
    struct engine_options set = refused[_i].set;
    while (set.constants != NULL && set.constants[set.constant_count] != NULL) set.constant_count++;
    const int bad = engine_open(refused[_i].model, &set, &engine);
    if (bad == ENGINE_ABSENT) {
        skip(engine.why);
        return;
    }
    ck_assert_msg(bad == ENGINE_FAILED, "%s was not refused", refused[_i].model);
    ck_assert_msg(strstr(engine.why, refused[_i].says) != NULL, "%s", engine.why);
    ck_assert_msg(strstr(engine.why, refused[_i].model) != NULL ||
                      (set.engine != NULL && !strcmp("caffe", set.engine)),
                  "%s", engine.why);
    ck_assert(engine.run == NULL && engine.close == NULL);
}
END_TEST

static const char *const randoms[] = {"tests/engines/random.onnx", "tests/engines/random.pt"};

START_TEST(engine_opens_a_random_model_with_a_remark)
{
    const struct engine_options set = {.shape = "6"};
    const int bad = engine_open(randoms[_i], &set, &engine);
    if (bad == ENGINE_ABSENT) {
        skip(engine.why);
        return;
    }
    ck_assert_int_eq(bad, 0);
    ck_assert_msg(strstr(engine.why, "if the same rows come again") != NULL, "%s", engine.why);
}
END_TEST

START_TEST(engine_opens_every_model_without_a_check)
{
    const struct engine_options set = {.no_check = 1};
    const int bad = engine_open("tests/engines/centred.onnx", &set, &engine);
    if (bad == ENGINE_ABSENT) skip(engine.why);
    else ck_assert(!bad && engine.why[0] == '\0');
}
END_TEST

static const char network[] = "examples/models/rotation.onnx";

START_TEST(engine_without_onnx_runtime_names_the_remedy)
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
END_TEST

START_TEST(engine_refuses_a_network_of_another_shape)
{
    if (!opens(NULL, network, NULL, NULL)) return;
    ck_assert(!engine_fits(&engine, network, 784, 2) && engine_fits(&engine, network, 784, 3));
    ck_assert_msg(strstr(engine.why, "784 numbers into 2, not 784 into 3") != NULL, "%s",
                  engine.why);
}
END_TEST

/* A device that no machine has, with and without a CUDA provider; and engines without devices. */
START_TEST(engine_refuses_devices_that_it_cannot_use)
{
    const struct engine_options absent = {.on_device = 1, .device = 1000},
                                none = {.engine = "xgboost", .on_device = 1};
    ck_assert_int_eq(engine_open(network, &absent, &engine), ENGINE_ABSENT);
    ck_assert_str_ne(engine.why, "");
    ck_assert(engine.close == NULL);
    const int bad = engine_open(network, &none, &engine);
    if (bad == ENGINE_ABSENT) {
        skip(engine.why);
        return;
    }
    ck_assert_int_eq(bad, ENGINE_FAILED);
    ck_assert_msg(strstr(engine.why, "no arrays in memory of device 0") != NULL, "%s", engine.why);
}
END_TEST

START_TEST(engine_refuses_batches_of_another_shape)
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
START_TEST(engine_refuses_or_runs_damaged_onnx_files)
{
    unsigned char bytes[4096];
    char path[] = "/tmp/certreg_engines_XXXXXX";
    FILE *sound = fopen("tests/engines/image.onnx", "rb");
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
END_TEST

int main(void)
{
    Suite *suite = suite_create("engines: what is refused");
    TCase *bad = kit_case_with(suite, "bad_input", clear, tear_down);
    tcase_add_loop_test(bad, engine_refuses_what_it_cannot_use_with_a_sentence, 0,
                        KIT_ROWS(refused));
    tcase_add_loop_test(bad, engine_opens_a_random_model_with_a_remark, 0, KIT_ROWS(randoms));
    tcase_add_test(bad, engine_opens_every_model_without_a_check);
    tcase_add_loop_test(bad, engine_without_onnx_runtime_names_the_remedy, 0, 2);
    tcase_add_test(bad, engine_refuses_a_network_of_another_shape);
    tcase_add_test(bad, engine_refuses_devices_that_it_cannot_use);
    tcase_add_test(bad, engine_refuses_batches_of_another_shape);
    tcase_add_test(bad, engine_refuses_or_runs_damaged_onnx_files);
    return kit_run(suite);
}
