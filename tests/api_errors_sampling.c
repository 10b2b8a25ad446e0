/* Inputs, outputs and records that are refused: the error says where it happened, and the handle
 * stays usable. */
#include "support/api_kit.h"

/* ---- one estimator whose model misbehaves at one sample; it has to be usable afterwards */
enum { CAPACITY = 1000, BATCH = 10 };
typedef struct sick { /* misbehaves at one sample */
    enum { HEALTHY, RETURNS, SKIPS, WRITES } mode;
    uint64_t sample;
    int code;
    float value;
    unsigned calls;
} sick;

static sick state;
static certreg_estimator *shared;
static const double range_lo[2] = {-100, -100}, range_hi[2] = {100, 100};

static int sick_model(void *user, const certreg_batch *b)
{
    sick *s = user;
    s->calls++;
    kit_identity(NULL, b);
    if (s->mode == HEALTHY || s->sample < b->first || s->sample >= b->first + b->rows) return 0;
    float *y = b->y + (s->sample - b->first) * b->columns + 1;
    if (s->mode == RETURNS) return s->code;
    *y = s->mode == SKIPS ? NAN : s->value;
    return 0;
}

static void make_shared(void)
{
    memset(&state, 0, sizeof state);
    certreg_model m = kit_model(sick_model, &state, 3, 2);
    m.batch = BATCH, m.lo = range_lo, m.hi = range_hi;
    const certreg_plan p = kit_plan(CAPACITY);
    shared = kit_create(NULL, &m, &p);
}

static const float origin[3] = {0, 1, 2};

static void check_usable(void)
{
    state.mode = HEALTHY;
    certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 1));
    KIT_OK(shared, certreg_certify(shared, 400, &q, 1, &c));
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_int_eq(certreg_estimator_error(shared)->status, CERTREG_OK);
    ck_assert_str_eq(certreg_estimator_error(shared)->text, "");
}

static const struct {
    const char *word;
    float z;
    double sigma;
} beginnings[] = {
    {"sigma", 0, 0},        {"sigma", 0, -1},
    {"sigma", 0, NAN},      {"sigma", 0, INFINITY},
    {"z[2]", NAN, 1},       {"z[2]", INFINITY, 1},
    {"z[2]", -INFINITY, 1}, {"z[2]", 1e6f, 1},
    {"z[2]", -1e9f, 1000},  {"scale[0]", 1.5e38f, 1e37},
    {"z[0]", 0, 1e-42},     {"scale[0]", 0, 1e39},
    {"z[2]", 1, 1e-5},
};

TEST_ROWS(begin_names_the_feature_that_float_cannot_carry, beginnings)
{
    const float z[3] = {0, 0, beginnings[_i].z};
    KIT_STATUS(shared, certreg_estimator_begin(shared, z, beginnings[_i].sigma, 0),
               CERTREG_E_INVALID);
    const certreg_error *error = certreg_estimator_error(shared);
    KIT_SAYS(error, beginnings[_i].word);
    /* there is no input now */
    KIT_STATUS(shared, certreg_estimator_sample(shared, 0, 1), CERTREG_E_WRONG_STATE);
    check_usable();
}

/* 2^24 - 2^13 steps of the grid, and one float more; its steps are 2^-8 of the power of two in the
 * noise. */
static const struct {
    double sigma, steps;
} grids[] = {{0.5, 0x1p-9}, {0.999, 0x1p-9}, {1, 0x1p-8}, {0x1p-118, 0x1p-126}, {0x1p111, 0x1p103}};

TEST_TIMES(begin_takes_inputs_up_to_2_to_the_24_grid_steps, sizeof grids / sizeof *grids)
{
    const float most = (float)((0x1p24 - 0x1p13) * grids[_i].steps);
    for (float sign = -1; sign <= 1; sign += 2) {
        const float z[3] = {0, -0.0f, sign * most},
                    beyond[3] = {0, 0, sign * nextafterf(most, INFINITY)};
        KIT_OK(shared, certreg_estimator_begin(shared, z, grids[_i].sigma, 0));
        KIT_STATUS(shared, certreg_estimator_begin(shared, beyond, grids[_i].sigma, 0),
                   CERTREG_E_INVALID);
        KIT_SAYS(certreg_estimator_error(shared), "z[2]");
    }
    check_usable();
}

/* What the message names is enough, at any size of z. */
TEST(begin_names_a_least_noise_that_is_enough)
{
    for (float z = 0x1.8p-90f; z < 0x1p100f; z *= 3) {
        const float all[3] = {0, 0, z};
        KIT_STATUS(shared, certreg_estimator_begin(shared, all, (double)z / 1e6, 0),
                   CERTREG_E_INVALID);
        const char *named = strstr(certreg_estimator_error(shared)->text, "at least ");
        ck_assert_ptr_nonnull(named);
        KIT_OK(shared, certreg_estimator_begin(shared, all, strtod(named + 9, NULL), 0));
    }
}

TEST(begin_takes_noise_of_a_least_to_a_greatest_size)
{
    const float z[3] = {0, 1e-45f, -0.0f};
    KIT_OK(shared, certreg_estimator_begin(shared, z, 0x1p-118, 0));
    KIT_STATUS(shared, certreg_estimator_begin(shared, z, nextafterf(0x1p-118f, 0), 0),
               CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(shared), "at least 3.00926554e-36");
    KIT_OK(shared, certreg_estimator_begin(shared, z, nextafterf(0x1p112f, 0), 0));
    KIT_STATUS(shared, certreg_estimator_begin(shared, z, 0x1p112, 0), CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(shared), "below 5.19229686e+33");
    check_usable();
}

static const struct {
    certreg_status status;
    sick how;
    int reports_value;
} illnesses[] = {
    {CERTREG_E_MODEL_FAILED, {RETURNS, 57, .code = 42}, 0},
    {CERTREG_E_MODEL_FAILED, {RETURNS, 0, .code = -7}, 0},
    {CERTREG_E_NOT_FINITE, {SKIPS, 57, .value = 0}, 0},
    {CERTREG_E_NOT_FINITE, {WRITES, 57, .value = NAN}, 0},
    {CERTREG_E_NOT_FINITE, {WRITES, 57, .value = INFINITY}, 1},
    {CERTREG_E_NOT_FINITE, {WRITES, 57, .value = -INFINITY}, 1},
    {CERTREG_E_OUT_OF_RANGE, {WRITES, 57, .value = 100.5f}, 1},
    {CERTREG_E_OUT_OF_RANGE, {WRITES, 399, .value = -101}, 1},
};

TEST_ROWS(sampling_errors_name_sample_row_and_output, illnesses)
{
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    state = illnesses[_i].how;
    certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    KIT_STATUS(shared, certreg_certify(shared, 400, &q, 1, &c), illnesses[_i].status);
    ck_assert_int_eq(c.status, illnesses[_i].status);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq(c.radius, 0);
    const certreg_error *error = certreg_estimator_error(shared);
    const int64_t sample = (int64_t)state.sample;
    if (illnesses[_i].status == CERTREG_E_MODEL_FAILED) {
        ck_assert_int_eq(error->code, state.code);
        ck_assert_int_eq(error->sample, sample / BATCH * BATCH);
        KIT_SAYS(error, "return 0");
    } else {
        ck_assert_int_eq(error->sample, sample);
        ck_assert_int_eq(error->row, sample % BATCH);
        ck_assert_int_eq(error->output, 1);
        KIT_SAYS(error, _i < 6 && sample == 57 ? "sample 57" : "sample");
        KIT_SAYS(error,
                 error->status == CERTREG_E_OUT_OF_RANGE ? "model.lo" : "PLAN_COUNT_FAILURES");
    }
    if (illnesses[_i].reports_value) ck_assert_double_eq(error->value, (double)state.value);
    ck_assert_uint_gt(strlen(error->text), 20);
    check_usable();
}

/* Bounds of a mean rest on the range. Without this, a record that ends before the output that left
 * the range would look like one that keeps to it. */
TEST_TIMES(sampling_outside_the_range_leaves_no_certificate, 2)
{
    const float y[] = {0, 100.5f}; /* of a program that calls the model itself */
    certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    certreg_bounds b = {.struct_size = sizeof b};
    size_t bytes = 0;
    q.method = CERTREG_METHOD_ANYTIME;
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 300));
    state = (sick){WRITES, 357, .value = 100.5f};
    KIT_STATUS(shared,
               _i ? certreg_estimator_record(shared, 357, 1, y)
                  : certreg_certify(shared, 400, &q, 1, &c),
               CERTREG_E_OUT_OF_RANGE);
    state = (sick){.mode = HEALTHY};
    for (size_t total = 0; total <= 400; total += 400) {
        kit_refuses(shared, total, q, CERTREG_E_OUT_OF_RANGE, "sample 357 was outside");
        ck_assert_int_eq(certreg_estimator_error(shared)->sample, 357);
    }
    KIT_STATUS(shared, certreg_output_bounds(shared, 0, &q, 1, 0.1, &c), CERTREG_E_OUT_OF_RANGE);
    KIT_STATUS(shared, certreg_estimator_bounds(shared, &q, 1, &b), CERTREG_E_OUT_OF_RANGE);
    KIT_STATUS(shared, certreg_estimator_export(shared, NULL, &bytes), CERTREG_E_OUT_OF_RANGE);
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    c = kit_ask(shared, 400, q);
    ck_assert_double_gt(c.radius, 0);
}

TEST(sampling_takes_the_ends_of_the_range)
{
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    state = (sick){WRITES, 57, .value = 100};
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 100));
    state = (sick){WRITES, 157, .value = -100};
    KIT_OK(shared, certreg_estimator_sample(shared, 100, 100));
}

/* A model that clips in its own arithmetic returns the float nearest to the limit, which is above
 * 1.2 and below 0.7. Bounds of a mean hold for it, too. */
TEST(record_takes_the_floats_nearest_to_the_ranges_limits)
{
    static const double limits[] = {1.2, 0.7, 1, 0.1, 1e5 / 3, 1e-40, 1e40};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const double hi = limits[i], lo = -hi;
        const float most = (float)fmin(hi, FLT_MAX), beyond = nextafterf(most, INFINITY);
        certreg_model m = kit_model(NULL, NULL, 3, 1);
        certreg_plan p = kit_plan(100);
        m.lo = &lo, m.hi = &hi;
        certreg_estimator *e = kit_create(NULL, &m, &p);
        KIT_OK(e, certreg_estimator_begin(e, origin, 0.5, 0));
        for (size_t k = 0; k < 100; k++) KIT_OK(e, certreg_estimator_record(e, k, 1, &most));
        certreg_question q = kit_question(hi / 2);
        certreg_bounds b = {.struct_size = sizeof b};
        q.statistic = CERTREG_STATISTIC_MEAN;
        KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &b));
        ck_assert(isfinite(b.range_hi) && b.range_hi - b.range_lo >= 2 * (double)most);
        KIT_OK(e, certreg_estimator_begin(e, origin, 0.5, 1));
        if (isfinite(beyond))
            KIT_STATUS(e, certreg_estimator_record(e, 0, 1, &beyond), CERTREG_E_OUT_OF_RANGE);
    }
}

TEST(sampling_keeps_what_was_recorded_before_a_failure)
{
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    state = (sick){WRITES, 57, .value = NAN};
    KIT_STATUS(shared, certreg_estimator_sample(shared, 0, 100), CERTREG_E_NOT_FINITE);
    ck_assert_uint_eq(state.calls, 6);
    state = (sick){.mode = HEALTHY};
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 57));
    ck_assert_uint_eq(state.calls, 0);
}

TEST(sampling_beyond_the_capacity_is_refused)
{
    float y[2 * 2] = {0}, x[3];
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    const struct {
        uint64_t first;
        size_t count;
    } spans[] = {{0, CAPACITY + 1}, {CAPACITY, 1}, {CAPACITY + 1, 0},
                 {UINT64_MAX, 1},   {1, SIZE_MAX}, {UINT64_MAX, SIZE_MAX}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        KIT_STATUS(shared, certreg_estimator_sample(shared, spans[i].first, spans[i].count),
                   CERTREG_E_TOO_MANY);
        KIT_SAYS(certreg_estimator_error(shared), "max_samples");
        KIT_STATUS(shared, certreg_estimator_draw(shared, spans[i].first, spans[i].count, x),
                   CERTREG_E_TOO_MANY);
        KIT_SAYS(certreg_estimator_error(shared), "draw fewer");
    }
    KIT_STATUS(shared, certreg_estimator_record(shared, CAPACITY - 1, 2, y), CERTREG_E_TOO_MANY);
    KIT_OK(shared, certreg_estimator_record(shared, CAPACITY - 1, 1, y));
    ck_assert_uint_eq(state.calls, 0);
    check_usable();
}

TEST(record_of_refused_rows_stays_as_it_was)
{
    float y[4] = {1, 2, 3, 1000}, x[3];
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_STATUS(shared, certreg_estimator_record(shared, 5, 2, y), CERTREG_E_OUT_OF_RANGE);
    ck_assert_int_eq(certreg_estimator_error(shared)->sample, 6);
    y[3] = 4;
    /* neither 5 nor 6 is there: nothing to disagree with */
    KIT_OK(shared, certreg_estimator_record(shared, 6, 1, y + 2));
    y[0] = -1;
    KIT_OK(shared, certreg_estimator_record(shared, 5, 1, y));
    y[0] = 1;
    KIT_STATUS(shared, certreg_estimator_record(shared, 5, 1, y), CERTREG_E_MISMATCH);
    ck_assert_int_eq(certreg_estimator_error(shared)->sample, 5);
    ck_assert_int_eq(certreg_estimator_error(shared)->output, 0);
    KIT_STATUS(shared, certreg_estimator_record(shared, 7, 1, NULL), CERTREG_E_INVALID);
    KIT_STATUS(shared, certreg_estimator_draw(shared, 7, 1, NULL), CERTREG_E_INVALID);
    KIT_OK(shared, certreg_estimator_draw(shared, 7, 1, x));
    check_usable();
}

TEST(record_refuses_pairs_without_a_direction)
{
    static const float pairs[][2] = {{0, 0}, {NAN, 1}, {1, INFINITY}};
    static const int32_t kind = CERTREG_OUTPUT_ANGLE_PAIR;
    certreg_model m = kit_model(NULL, NULL, 3, 1);
    const certreg_plan p = kit_plan(CAPACITY);
    m.kind = &kind;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, 0.5, 0));
    KIT_OK(e, certreg_estimator_record(e, 0, 1, (const float[2]){0, -1}));
    for (int i = 0; i < KIT_ROWS(pairs); i++) {
        KIT_STATUS(e, certreg_estimator_record(e, 1, 1, pairs[i]), CERTREG_E_NOT_FINITE);
        ck_assert_int_eq(certreg_estimator_error(e)->sample, 1);
        ck_assert(i == 0 || !isfinite(certreg_estimator_error(e)->value));
    }
}

TEST(sampling_without_eval_can_only_draw_and_record)
{
    const certreg_model m = kit_model(NULL, NULL, 3, 1);
    const certreg_plan p = kit_plan(100);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    float x[3];
    KIT_OK(e, certreg_estimator_begin(e, origin, 0.5, 0));
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 1), CERTREG_E_WRONG_STATE);
    KIT_SAYS(certreg_estimator_error(e), "eval");
    KIT_OK(e, certreg_estimator_draw(e, 3, 1, x));
    KIT_OK(e, certreg_estimator_record(e, 3, 1, x));
}

#define NAMED(call, status, words)                        \
    do {                                                  \
        KIT_STATUS(shared, call, status);                 \
        KIT_SAYS(certreg_estimator_error(shared), words); \
    } while (0)

TEST(sampling_and_certify_name_null_arguments)
{
    const certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    certreg_bounds b = {.struct_size = sizeof b};
    NAMED(certreg_estimator_begin(shared, NULL, 1, 0), CERTREG_E_INVALID, "z is NULL");
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 400));
    NAMED(certreg_certify(shared, 400, NULL, 1, &c), CERTREG_E_INVALID, "question");
    NAMED(certreg_certify(shared, 400, &q, 1, NULL), CERTREG_E_INVALID, "certificate");
    NAMED(certreg_certify(shared, 400, &q, 0, &c), CERTREG_E_INVALID, "count");
    NAMED(certreg_estimator_bounds(shared, NULL, 1, &b), CERTREG_E_INVALID, "question");
    NAMED(certreg_estimator_bounds(shared, &q, 1, NULL), CERTREG_E_INVALID, "bounds");
    NAMED(certreg_estimator_export(shared, NULL, NULL), CERTREG_E_INVALID, "bytes");
    NAMED(certreg_estimator_import(shared, NULL, 100), CERTREG_E_CORRUPT, "");
    check_usable();
}

FIXTURE(make_shared, NULL)
KIT_MAIN("refusals of sampling")
