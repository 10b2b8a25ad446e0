/* certreg_model_check finds outputs that depend on more than their row, says which and what helps,
 * and leaves alone the models that are right. */
#include "support/device_model.h"
#include <certreg/backend.h>

enum { MOST_CALLS = 16 };
typedef struct seen { /* what a model was called with */
    size_t calls, rows, sizes[MOST_CALLS];
    float x[256]; /* of the last call */
    float state;
} seen;

static int note(seen *s, const certreg_batch *b)
{
    s->sizes[s->calls++ % MOST_CALLS] = b->rows;
    s->rows += b->rows;
    memcpy(s->x, b->x, (b->rows * b->inputs < 256 ? b->rows * b->inputs : 256) * sizeof *b->x);
    return 0;
}

/* ---- models of two outputs, of which the first is this value of row x, in place i of b */
#define MODEL_OF(name, value)                            \
    static int name(void *user, const certreg_batch *b)  \
    {                                                    \
        seen *const s = user;                            \
        const float mean = mean_of(b);                   \
        for (size_t i = 0; i < b->rows; i++) {           \
            const float *const x = b->x + i * b->inputs; \
            b->y[i * b->columns] = (float)(value);       \
            b->y[(i + 1) * b->columns - 1] = 300 + x[1]; \
        }                                                \
        s->state = 0.5f * s->state + mean + 1;           \
        return note(s, b);                               \
    }

static float mean_of(const certreg_batch *b)
{
    float sum = 0;
    for (size_t i = 0; i < b->rows; i++) sum += b->x[i * b->inputs];
    return sum / (float)b->rows;
}

static float in_order(const certreg_batch *b, size_t end)
{
    float state = 0;
    for (size_t i = 0; i <= end; i++) state = 0.5f * state + b->x[i * b->inputs];
    return state;
}

MODEL_OF(fine, x[0] + x[1] * x[2])
MODEL_OF(constant, -0.0f)
MODEL_OF(steps, roundf(8 * x[0]))
MODEL_OF(fails, x[0] > 1 ? NAN : INFINITY)
/* Sums in another order for another number of rows, around 0 and far from it. */
MODEL_OF(rounds,
         b->rows % 4 ? (3e4f * x[0] + x[1]) - 3e4f * x[0] : (x[1] - 3e4f * x[0]) + 3e4f * x[0])
MODEL_OF(rounds_far, b->rows % 4 ? 1e4f + (float)i * 1e-3f : 1e4f)
MODEL_OF(beyond_rounding, b->rows % 4 ? 1e4f + 0.2f : 1e4f)
/* As a matrix in the order of columns. */
MODEL_OF(by_columns, b->x[i] + 2 * b->x[b->rows + i] + 4 * b->x[2 * b->rows + i])
MODEL_OF(in_time, in_order(b, i))
MODEL_OF(by_place, x[0] + 1e-2f * (float)i)
MODEL_OF(last_differs, x[b->rows > 1 && i + 1 == b->rows])
MODEL_OF(centred, x[0] - mean)
MODEL_OF(by_count, x[0] * (float)b->rows)
MODEL_OF(by_whole_batch, b->rows == 256 ? x[0] + 1 : x[0])
MODEL_OF(fails_alone, b->rows == 1 ? NAN : x[0])
MODEL_OF(with_state, x[0] + s->state)
MODEL_OF(random_of_index, x[0] + 0.1f * sinf(1e4f * (float)(b->first + i)))

static int returns_17(void *user, const certreg_batch *b)
{
    return note(user, b), 17;
}

static int whole_only(void *user, const certreg_batch *b)
{
    return b->rows == 256 ? fine(user, b) : 3;
}

static int whole_by_columns(void *user, const certreg_batch *b)
{
    return b->rows == 256 ? by_columns(user, b) : 3;
}

static int ones(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows * b->columns; i++) b->y[i] = 1;
    return 0;
}

static certreg_estimator *begun(certreg_eval eval, seen *s, size_t batch)
{
    static const float z[3] = {1.0f, 0.5f, -0.25f};
    return kit_begun(KIT_MODEL(eval, s, 3, 2, .batch = batch), kit_plan(1000), z, 0.25, 7);
}

/* ---- what is found */
static const struct {
    certreg_eval model;
    int32_t found;
    const char *says;
} models[] = {
    {fine, CERTREG_DEPENDENCE_NONE, ""},
    {constant, CERTREG_DEPENDENCE_NONE, ""},
    {steps, CERTREG_DEPENDENCE_NONE, ""},
    {fails, CERTREG_DEPENDENCE_NONE, ""},
    {rounds, CERTREG_DEPENDENCE_NONE, ""},
    {rounds_far, CERTREG_DEPENDENCE_NONE, ""},
    {beyond_rounding, CERTREG_DEPENDENCE_COUNT, "an output changes by 0.2 if the call"},
    {by_columns, CERTREG_DEPENDENCE_ORDER,
     "in another order: read and write the batch row by row (in Eigen: RowMajor)"},
    {in_time, CERTREG_DEPENDENCE_ORDER, "the batch, not time"},
    {by_place, CERTREG_DEPENDENCE_ORDER, "in another order"},
    {last_differs, CERTREG_DEPENDENCE_ORDER, "in another order"},
    {centred, CERTREG_DEPENDENCE_OTHERS, "if other rows are beside it: switch off batch norm"},
    {by_count, CERTREG_DEPENDENCE_COUNT, "if the call has fewer rows"},
    {by_whole_batch, CERTREG_DEPENDENCE_OTHERS, "an output changes by 1 if the call has a whole"},
    {fails_alone, CERTREG_DEPENDENCE_COUNT,
     "an output turns NaN or inf (unwritten row?) if the call has fewer rows"},
    {with_state, CERTREG_DEPENDENCE_CALL, "keep no state between calls, which now holds rows"},
    {random_of_index, CERTREG_DEPENDENCE_CALL,
     "other noise (PyTorch: call eval(), or give the module"},
};

TEST_ROWS(model_check_finds_what_each_model_depends_on, models)
{
    seen s = {0};
    int32_t found = -1;
    certreg_estimator *e = begun(models[_i].model, &s, 0);
    const certreg_status status =
        models[_i].found > CERTREG_DEPENDENCE_CALL ? CERTREG_E_MODEL_FAILED : CERTREG_OK;
    KIT_STATUS(e, certreg_model_check(e, 0, &found), status);
    ck_assert_int_eq(found, models[_i].found);
    const certreg_error *why = certreg_estimator_error(e);
    ck_assert_int_eq(why->status, status);
    KIT_SAYS(why, models[_i].says);
    ck_assert_uint_lt(strlen(why->text), sizeof why->text - 1);
    if (found) ck_assert(why->value > 0 && why->output == 0 && why->row >= 0 && why->row < 4);
    else ck_assert(why->text[0] == '\0' && why->row == -1);
}

/* Not one call, row or sample more than is said; and the certificate does not know of it. */
TEST(model_check_has_19_rows_and_a_batch_and_leaves_the_answer)
{
    static const size_t sizes[] = {4, 4, 4, 4, 1, 2, 256};
    certreg_certificate c[2];
    unsigned char record[2][9000];
    size_t bytes[2];
    for (int checked = 0; checked < 2; checked++) {
        seen s = {0};
        certreg_estimator *e = begun(fine, &s, 0);
        if (checked) {
            KIT_OK(e, certreg_model_check(e, 0, NULL));
            ck_assert_uint_eq(s.rows, 19 + 256);
            ck_assert_uint_eq(s.calls, 7);
            ck_assert_mem_eq(s.sizes, sizes, sizeof sizes);
        }
        c[checked] = kit_ask(e, 1000, kit_question(0.5));
        bytes[checked] = kit_export(e, record[checked], sizeof record[checked]);
    }
    ck_assert_uint_eq(bytes[0], bytes[1]);
    ck_assert_mem_eq(record[0], record[1], bytes[0]);
    ck_assert_mem_eq(&c[0], &c[1], sizeof *c);
}

/* Whatever seed, noise id and level the certificate has. */
TEST(model_check_rows_are_no_samples)
{
    seen s = {0};
    float x[3 * 300], of_check[3];
    certreg_plan p = kit_plan(1000);
    p.seed = 0x70726f766973696f; /* the check's own */
    const float z[3] = {1.0f, 0.5f, -0.25f};
    certreg_estimator *e = kit_begun(kit_model(fine, &s, 3, 2), p, z, 0.25, 7);
    KIT_OK(e, certreg_model_check(e, 0, NULL));
    memcpy(of_check, s.x, sizeof of_check);
    ck_assert_float_ne(of_check[0], 1);
    for (uint64_t noise_id = 0; noise_id < 8; noise_id++) {
        KIT_OK(e, certreg_estimator_begin_level(e, z, 0.25, noise_id, noise_id % 2 << 19));
        KIT_OK(e, certreg_estimator_draw(e, 0, 300, x));
        for (size_t i = 0; i < 300; i++)
            ck_assert(memcmp(x + 3 * i, of_check, sizeof of_check) != 0);
    }
}

/* Of a model of batches of one row, which has no others; of fewer rows than 4, of which half are
 * asked, too; and of more, which find what four do not show. */
static const struct {
    size_t batch, samples, rows, seen; /* batch 0: 256 */
} counts[] = {{1, 1000, 0, 2},
              {2, 1000, 0, 4 * 2 + 1},
              {3, 1000, 0, 4 * 3 + 1},
              {4, 1000, 0, 19},
              {0, 1000, 1, 2},
              {0, 1000, 100, 4 * 100 + 1 + 50},
              {0, 1, 0, 2},
              {0, 2, 0, 2},
              {0, 3, 0, 4 * 2 + 1 + 256},
              {0, 4, 0, 4 * 3 + 1 + 256}};

TEST_ROWS(model_check_of_fewer_or_more_rows, counts)
{
    seen s = {0};
    const float z[3] = {1.0f, 0.5f, -0.25f};
    const certreg_plan p = PLAN(.max_samples = counts[_i].samples, .pilot = SIZE_MAX);
    int32_t found = 0;
    certreg_model m = KIT_MODEL(fine, &s, 3, 2, .batch = counts[_i].batch);
    certreg_estimator *e = kit_begun(m, p, z, 0.25, 7);
    KIT_OK(e, certreg_model_check(e, counts[_i].rows, NULL));
    ck_assert_uint_eq(s.rows, counts[_i].seen);
    m.eval = with_state;
    e = kit_begun(m, p, z, 0.25, 7);
    KIT_OK(e, certreg_model_check(e, counts[_i].rows, &found));
    ck_assert_int_eq(found, CERTREG_DEPENDENCE_CALL);
}

/* A row of pairs has more numbers than a record of one sample. */
TEST(model_check_of_a_record_of_one_sample)
{
    enum { PAIRS = 10000 };
    static int32_t kinds[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) kinds[i] = CERTREG_OUTPUT_ANGLE_PAIR;
    static const float z[1] = {0};
    certreg_model m = KIT_MODEL(ones, NULL, 1, PAIRS, .kind = kinds);
    certreg_estimator *e = kit_begun(m, PLAN(.max_samples = 1), z, 1, 0);
    KIT_OK(e, certreg_model_check(e, 0, NULL));
    kit_ask(e, 1, QUESTION(.tolerance = 1, .prediction = &(double){1}));
}

/* Of a model that takes nothing but whole batches. */
TEST(model_check_of_whole_batches)
{
    seen s = {0};
    int32_t found = -1;
    certreg_estimator *e = begun(whole_only, &s, 256);
    KIT_STATUS(e, certreg_model_check(e, 0, &found), CERTREG_E_MODEL_FAILED);
    ck_assert(found == CERTREG_DEPENDENCE_NONE && certreg_estimator_error(e)->code == 3);
    KIT_SAYS(certreg_estimator_error(e), "the model returned 3 for samples 0 to 3");
    KIT_OK(e, certreg_model_check(e, 256, &found));
    ck_assert_uint_eq(s.rows, 4 * 256);
    for (size_t i = 0; i < 256; i++) ck_assert(isfinite(s.x[i]) && s.x[i] != 0);
    e = begun(whole_by_columns, &s, 256);
    KIT_STATUS(e, certreg_model_check(e, 256, &found), CERTREG_E_MODEL_FAILED);
    ck_assert_int_eq(found, CERTREG_DEPENDENCE_ORDER);
}

TEST(model_check_refuses_what_it_cannot_check)
{
    seen s = {0};
    int32_t found = 7;
    certreg_estimator *e = begun(returns_17, &s, 0);
    KIT_STATUS(e, certreg_model_check(e, 0, &found), CERTREG_E_MODEL_FAILED);
    ck_assert(found == 0 && certreg_estimator_error(e)->code == 17 && s.calls == 1);
    e = begun(fine, &s, 0);
    KIT_OK(e, certreg_estimator_sample(e, 0, 3));
    KIT_REFUSED(e, certreg_model_check(e, 0, NULL), CERTREG_E_WRONG_STATE,
                "before the first one, right after begin");
    e = begun(NULL, NULL, 0);
    KIT_STATUS(e, certreg_model_check(e, 0, NULL), CERTREG_E_WRONG_STATE);
}

/* ---- on a device */
static int device_by_columns(void *user, const certreg_batch *b)
{
    (void)user; /* the last feature of a row, read as if columns were whole */
    return (int)cudaMemcpyAsync(b->y, b->x, b->rows * b->columns * sizeof *b->y,
                                cudaMemcpyDeviceToDevice, b->stream);
}

static int device_wide(void *user, const certreg_batch *b)
{
    const size_t rows = b->rows + *(size_t *)user; /* that it writes */
    return (int)cudaMemsetAsync(b->y, 0, rows * b->columns * sizeof *b->y, b->stream);
}

TEST(model_check_on_a_device)
{
    static const certreg_eval wrong[] = {device_by_columns, device_wide};
    surface there = {0};
    size_t more = 1;
    const certreg_plan p = kit_plan(1000);
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *e = make(backend, &there);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    for (size_t rows = 0; rows <= BATCH; rows += BATCH) {
        KIT_OK(e, certreg_model_check(e, rows, NULL));
        ck_assert_str_eq(certreg_estimator_error(e)->text, "");
    }
    ck_assert(there.calls == 7 + 4 && !there.strange);
    for (int i = 0; i < KIT_ROWS(wrong); i++) {
        const certreg_model m = kit_model(wrong[i], &more, INPUTS, 2);
        int32_t found = 0;
        e = kit_create(backend, &m, &p);
        KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
        KIT_STATUS(e, certreg_model_check(e, 0, &found), CERTREG_E_MODEL_FAILED);
        ck_assert_int_eq(found, i ? CERTREG_DEPENDENCE_NONE : CERTREG_DEPENDENCE_ORDER);
        if (!i) continue;
        KIT_SAYS(certreg_estimator_error(e), "the model wrote beyond its outputs");
        KIT_STATUS(e, certreg_estimator_sample(e, 0, 9), CERTREG_E_WRONG_STATE);
        KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
        KIT_STATUS(e, certreg_estimator_sample(e, 0, 9), CERTREG_E_MODEL_FAILED);
    }
}

/* Each call of the runtime in turn: no finding is made up, and the next check goes on. */
TEST(model_check_on_a_device_that_fails_is_a_status)
{
    surface there = {0};
    certreg_estimator *e = make(open_device(0, NULL), &there);
    certreg_status status;
    int n = 0;
    do {
        int32_t found = 7;
        KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
        emulated()->calls = 0, emulated()->fail_at = ++n, emulated()->fail_code = 1;
        status = certreg_model_check(e, n % 2 ? 0 : BATCH, &found);
        emulated()->fail_at = 0;
        ck_assert_int_eq(found, CERTREG_DEPENDENCE_NONE);
    } while (status);
    ck_assert_int_gt(n, 30);
    KIT_OK(e, certreg_model_check(e, 0, NULL));
}

FIXTURE(as_new, nothing_stays)
KIT_MAIN("the check of a model")
