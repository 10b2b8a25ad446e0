/* What an engine cannot use is refused with a sentence that says why. Run from the root of the
 * repository. */
#include <stdlib.h>
#include <unistd.h>

#include "models.h"
#include "open_engine.h"

/* ---- what is refused */
static const struct {
    const char *engine, *model, *shape, *output, *says;
} refused[] = {
    {"onnxruntime", "tests/engines/whole.onnx", NULL, NULL, "\"x\" [?, 6] holds int64"},
    {"onnxruntime", "tests/engines/two_inputs.onnx", NULL, NULL, "2 inputs without a constant"},
    {"onnxruntime", "tests/engines/two_outputs.onnx", NULL, NULL, "2 outputs (\"r\", \"y\")"},
    {"onnxruntime", "tests/engines/two_outputs.onnx", NULL, "z", "no output \"z\""},
    {"onnxruntime", "tests/engines/open.onnx", NULL, NULL, "\"image\" [?, 1, ?, ?] has unknown"},
    {"onnxruntime", "tests/engines/open.onnx", "3x2x3", NULL, "3x2x3 of a row does not fit"},
    {"onnxruntime", "tests/engines/dense.onnx", "7", NULL, "7 of a row does not fit"},
    {"onnxruntime", "tests/engines/dense.onnx", "six", NULL, "not of the form"},
    {"onnxruntime", "tests/engines/dense.onnx", "6x", NULL, "not of the form"},
    {"onnxruntime", "tests/engines/dense.onnx", "0", NULL, "not of the form"},
    {"onnxruntime", "tests/engines/dense.onnx", "1x1x1x1x1x1x1x6", NULL, "not of the form"},
    {"onnxruntime", "tests/engines/open.onnx", "1x1073741824x1073741824", NULL, "cannot hold rows"},
    {"onnxruntime", "tests/engines/no_batch.onnx", NULL, NULL, "unknown dimensions"},
    {"onnxruntime", "tests/engines/row.onnx", NULL, NULL, "\"y\" [1, 3] does not have one row"},
    {"onnxruntime", "tests/engines/sum.onnx", NULL, NULL, "does not have one row"},
    {"onnxruntime", "tests/engines/large.onnx", NULL, NULL, "at most 2^30 numbers"},
    {"onnxruntime", "tests/engines/no_output.onnx", NULL, NULL, "has no outputs"},
    {"onnxruntime", "tests/engines/one_row.onnx", NULL, NULL, "one_row.onnx"},
    {"onnxruntime", "tests/engines/turned.onnx", NULL, NULL, "does not have one row"},
    {"torch", "tests/engines/turned.pt", "6", NULL, "not 3 rows of 2"},
    {"onnxruntime", "tests/engines/turned_fixed.onnx", NULL, NULL, "with the other rows"},
    {"onnxruntime", "tests/engines/centred.onnx", NULL, NULL, "with the other rows"},
    {"torch", "tests/engines/centred.pt", "6", NULL, "with the other rows"},
    {"onnxruntime", "tests/engines/quantized.onnx", NULL, NULL, "with the other rows"},
    {"onnxruntime", "tests/engines/random.onnx", NULL, NULL, "from run to run"},
    {"torch", "tests/engines/random.pt", "6", NULL, "from run to run"},
    {"onnxruntime", "no/such.onnx", NULL, NULL, "no/such.onnx: No such file"},
    {NULL, "no/such.json", NULL, NULL, "no/such.json: No such file"},
    {"torch", "no/such.pt", "6", NULL, "no/such.pt: No such file"},
    {"onnxruntime", "README.md", NULL, NULL, "opening the model"},
    {"xgboost", "README.md", NULL, NULL, "XGBoost did not save this"},
    {"torch", "README.md", "6", NULL, "libtorch, opening"},
    {NULL, "README.md", NULL, NULL, "name an engine"},
    {NULL, "no/such", NULL, NULL, "name an engine"},
    {"caffe", "README.md", NULL, NULL, "no engine is called caffe"},
    {"torch", "tests/engines/dense.pt", NULL, NULL, "give the shape of a row"},
    {"torch", "tests/engines/dense.pt", "5", NULL, "shapes cannot be multiplied"},
    {"torch", "tests/engines/tuple.pt", "6", NULL, "2 outputs (\"0\", \"1\")"},
    {"torch", "tests/engines/float64.pt", "6", NULL, "holds float64"},
    {"torch", "tests/engines/list.pt", "6", NULL, "neither a tensor nor a tuple"},
    {"torch", "tests/engines/dense.pt", "6", "1", "no output \"1\", but \"0\""},
    {NULL, "tests/engines/trees.json", "4", NULL, "4 of a row does not fit"},
    {NULL, "tests/engines/trees.json", NULL, "y", "no output \"y\", but \"prediction\""},
    {NULL, "tests/engines/newer.json", NULL, NULL, "XGBoost 99.0 saved this file"},
    {NULL, "tests/engines/newer.ubj", NULL, NULL, "XGBoost 99.7 saved this file"},
    {"onnxruntime", "tests/engines/dense.onnx", NULL, "z", "no output \"z\", but \"y\""},
};

START_TEST(what_cannot_be_used_is_refused_with_a_sentence)
{
    const struct engine_options set = {
        .engine = refused[_i].engine, .shape = refused[_i].shape, .output = refused[_i].output};
    const int bad = engine_open(refused[_i].model, &set, &engine);
    if (bad == ENGINE_ABSENT) {
        skip(engine.why);
        return;
    }
    ck_assert_msg(bad == ENGINE_FAILED, "%s was not refused", refused[_i].model);
    ck_assert_msg(strstr(engine.why, refused[_i].says) != NULL, "%s", engine.why);
    ck_assert_msg(strstr(engine.why, refused[_i].model) != NULL || !strcmp("caffe", set.engine),
                  "%s", engine.why);
    ck_assert(engine.run == NULL && engine.close == NULL);
}
END_TEST

static const char network[] = "examples/models/rotation.onnx";

START_TEST(without_onnx_runtime_it_is_said_how_to_install_it)
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

START_TEST(a_network_of_another_shape_is_refused)
{
    if (!opens(NULL, network, NULL, NULL)) return;
    ck_assert(!engine_fits(&engine, network, 784, 2) && engine_fits(&engine, network, 784, 3));
    ck_assert_msg(strstr(engine.why, "784 numbers into 2, not 784 into 3") != NULL, "%s",
                  engine.why);
}
END_TEST

/* A device that no machine has, with and without a CUDA provider; and engines without devices. */
START_TEST(devices_that_cannot_be_used_are_refused)
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
static void run_bytes(size_t size)
{
    const struct engine_options set = {.engine = "onnxruntime"};
    write_bytes(size);
    const int bad = engine_open(path, &set, &engine);
    if (bad) ck_assert_str_ne(engine.why, "");
    else if (engine.inputs * ROWS <= sizeof x / sizeof *x && engine.columns <= MOST)
        engine_run(&engine, x, y, engine.batch > 0 && engine.batch < ROWS ? engine.batch : ROWS);
    engine_close(&engine);
}

/* Cut at every place, and with every byte changed. */
START_TEST(damaged_onnx_files_are_refused_or_run)
{
    strcpy(path, "/tmp/certreg_engines_XXXXXX");
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    const size_t size = read_file("tests/engines/image.onnx");
    for (size_t i = 0; i < size; i++) {
        run_bytes(i);
        for (unsigned bit = 1; bit < 256; bit *= 4) {
            bytes[i] ^= (unsigned char)bit;
            run_bytes(size);
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
    tcase_add_loop_test(bad, what_cannot_be_used_is_refused_with_a_sentence, 0, KIT_ROWS(refused));
    tcase_add_loop_test(bad, without_onnx_runtime_it_is_said_how_to_install_it, 0, 2);
    tcase_add_test(bad, a_network_of_another_shape_is_refused);
    tcase_add_test(bad, devices_that_cannot_be_used_are_refused);
    tcase_add_test(bad, batches_of_another_shape_are_refused);
    tcase_add_test(bad, damaged_onnx_files_are_refused_or_run);
    return kit_run(suite);
}
