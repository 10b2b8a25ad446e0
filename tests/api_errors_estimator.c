/* What create, begin and sampling refuse: which status, that the message names the culprit, and
 * that the handle stays usable. */
#include "support/bad_field.h"

/* ---- one estimator whose model misbehaves at one sample; it has to be usable afterwards */
enum { CAPACITY = 1000, BATCH = 10 };
typedef struct sick { /* misbehaves at one sample */
    enum { HEALTHY, RETURNS, WRITES } mode;
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
    const int is_here = s->sample >= b->first && s->sample < b->first + b->rows;
    float *y = is_here ? b->y + (s->sample - b->first) * b->columns + 1 : b->y;
    s->calls++;
    kit_identity(NULL, b);
    if (s->mode == HEALTHY || !is_here) return 0;
    if (s->mode == RETURNS) return s->code;
    *y = s->value;
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
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 1));
    ck_assert_double_gt(kit_ask(shared, 400, kit_question(3)).radius, 0);
    ck_assert_int_eq(certreg_estimator_error(shared)->status, CERTREG_OK);
    ck_assert_str_eq(certreg_estimator_error(shared)->text, "");
}

/* ---- create */
typedef struct request {
    certreg_model model;
    certreg_plan plan;
} request;

#define OF_MODEL(field) offsetof(request, model.field)
#define OF_PLAN(field) offsetof(request, plan.field)
static const float all_zero[3] = {0, 0, 0}, negative[3] = {1, -1, 1}, not_a_number[3] = {1, 1, NAN},
                   infinite[3] = {INFINITY, 1, 1};
static const int32_t unknown_kind[2] = {0, 3}, negative_kind[2] = {-1, 0};
static const double end_nan[2] = {0, NAN};
static _Alignas(64) unsigned char memory[192];

static const spoil creation[] = {
    {"model.reserved", CERTREG_E_INVALID, OF_MODEL(reserved), 'i', .number = 1},
    {"model.inputs", CERTREG_E_INVALID, OF_MODEL(inputs), 'z', .size = 0},
    {"model.outputs", CERTREG_E_INVALID, OF_MODEL(outputs), 'z', .size = 0},
    {"inputs", CERTREG_E_NO_MEMORY, OF_MODEL(inputs), 'z', .size = SIZE_MAX},
    {"inputs", CERTREG_E_NO_MEMORY, OF_MODEL(inputs), 'z', .size = SIZE_MAX / 1024},
    {"outputs", CERTREG_E_NO_MEMORY, OF_MODEL(outputs), 'z', .size = SIZE_MAX},
    {"outputs", CERTREG_E_NO_MEMORY, OF_MODEL(outputs), 'z', .size = SIZE_MAX / 16},
    {"batch", CERTREG_E_NO_MEMORY, OF_MODEL(batch), 'z', .size = SIZE_MAX},
    {"batch", CERTREG_E_NO_MEMORY, OF_MODEL(batch), 'z', .size = SIZE_MAX / 2 + 1},
    /* 3 inputs: the product wraps to 2 */
    {"batch", CERTREG_E_NO_MEMORY, OF_MODEL(batch), 'z', .size = SIZE_MAX / 3 + 1},
    {"model.scale", CERTREG_E_INVALID, OF_MODEL(scale), 'p', .pointer = all_zero},
    {"model.scale[1]", CERTREG_E_INVALID, OF_MODEL(scale), 'p', .pointer = negative},
    {"model.scale[2]", CERTREG_E_INVALID, OF_MODEL(scale), 'p', .pointer = not_a_number},
    {"model.scale[0]", CERTREG_E_INVALID, OF_MODEL(scale), 'p', .pointer = infinite},
    {"model.kind[1]", CERTREG_E_INVALID, OF_MODEL(kind), 'p', .pointer = unknown_kind},
    {"model.kind[0]", CERTREG_E_INVALID, OF_MODEL(kind), 'p', .pointer = negative_kind},
    {"model.lo[1]", CERTREG_E_INVALID, OF_MODEL(lo), 'p', .pointer = end_nan},
    {"plan.max_samples", CERTREG_E_INVALID, OF_PLAN(max_samples), 'z', .size = 0},
    {"max_samples", CERTREG_E_NO_MEMORY, OF_PLAN(max_samples), 'z', .size = SIZE_MAX},
    /* 2 outputs: the product wraps to 0 */
    {"max_samples", CERTREG_E_NO_MEMORY, OF_PLAN(max_samples), 'z', .size = SIZE_MAX / 2 + 1},
    {"plan.constraints", CERTREG_E_INVALID, OF_PLAN(constraints), 'i', .number = 64},
    {"plan.constraints", CERTREG_E_INVALID, OF_PLAN(constraints), 'i', .number = 128 + 1},
    {"plan.flags", CERTREG_E_INVALID, OF_PLAN(flags), 'i', .number = 32},
    {"CERTREG_PLAN_PAIRS", CERTREG_E_INVALID, OF_PLAN(flags), 'i', .number = 12},
    {"CERTREG_PLAN_EPISODE", CERTREG_E_INVALID, OF_PLAN(flags), 'i', .number = 16 + 6},
    {"plan.reserved", CERTREG_E_INVALID, OF_PLAN(reserved), 'i', .number = 1},
    {"plan.pilot", CERTREG_E_INVALID, OF_PLAN(pilot), 'z', .size = 1000},
    {"plan.pilot", CERTREG_E_INVALID, OF_PLAN(pilot), 'z', .size = SIZE_MAX - 1},
    {"plan.blocks", CERTREG_E_INVALID, OF_PLAN(blocks), 'z', .size = 63},
    {"plan.blocks", CERTREG_E_INVALID, OF_PLAN(blocks), 'z', .size = SIZE_MAX},
    {"plan.memory", CERTREG_E_SMALL_MEMORY, OF_PLAN(memory), 'p', .pointer = memory},
    {"plan.memory", CERTREG_E_INVALID, OF_PLAN(memory), 'p', .pointer = memory + 8},
};

TEST_ROWS(create_names_the_field_that_it_refuses, creation)
{
    const spoil *s = creation + _i;
    request r = {kit_model(kit_identity, NULL, 3, 2), kit_plan(1000)};
    r.plan.memory_bytes = sizeof memory;
    apply(&r, s);
    certreg_error why = {.struct_size = sizeof why};
    int somewhere;
    certreg_estimator *e = (certreg_estimator *)(void *)&somewhere;
    ck_assert_int_eq(certreg_estimator_create(NULL, &r.model, &r.plan, &why, &e), s->status);
    ck_assert_ptr_null(e);
    check_sentence(&why, s);
    ck_assert_int_eq(certreg_estimator_create(NULL, &r.model, &r.plan, NULL, &e), s->status);
    if (s->offset == OF_PLAN(memory)) return;
    size_t bytes = 1; /* size and create agree */
    why.text[0] = 0;
    ck_assert_int_eq(certreg_estimator_size(NULL, &r.model, &r.plan, &why, &bytes, NULL),
                     s->status);
    ck_assert_uint_eq(bytes, 0);
    check_sentence(&why, s);
}

/* A turn needs both ends, a length that is a double, and floats enough. */
static const struct {
    const char *word;
    int32_t kind; /* of the first output */
    double lo[2], hi[2];
} ranges[] = {
    {"model.lo[1]", CERTREG_OUTPUT_REAL, {0, 2}, {1, 2}},
    {"model.lo[0]", CERTREG_OUTPUT_REAL, {1, 2}, {0, 3}},
    {"give both ends of its turn", CERTREG_OUTPUT_ANGLE, {0, 0}, {INFINITY, 1}},
    {"too long for a double", CERTREG_OUTPUT_ANGLE, {-1.7e308, 0}, {1.7e308, 1}},
    {"fewer than 4096 floats", CERTREG_OUTPUT_ANGLE, {1e6, 0}, {1e6 + 1, 1}},
    {"let it begin at 0", CERTREG_OUTPUT_ANGLE, {1.7e9, 0}, {1.7e9 + 86400, 1}},
    {"let it begin at 0", CERTREG_OUTPUT_ANGLE, {1e8 + 1, 0}, {1e8 + 4, 1}},
    {"let it begin at 0", CERTREG_OUTPUT_ANGLE, {2460000.5, 0}, {2460001.5, 1}},
};

TEST_ROWS(create_refuses_empty_or_half_open_ranges, ranges)
{
    const int32_t kind[2] = {ranges[_i].kind, CERTREG_OUTPUT_REAL};
    certreg_model m = kit_model(kit_identity, NULL, 3, 2);
    const certreg_plan p = kit_plan(1000);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    m.kind = kind, m.lo = ranges[_i].lo, m.hi = ranges[_i].hi;
    KIT_UNMADE(&why, certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID,
               ranges[_i].word);
}

#ifndef __SANITIZE_ADDRESS__
TEST(create_of_more_memory_than_exists_is_a_status)
{
    const certreg_model m = kit_model(kit_identity, NULL, 1, 1);
    const certreg_plan p = kit_plan((size_t)1 << 58);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_NO_MEMORY);
    ck_assert_ptr_null(e);
    KIT_SAYS(&why, "memory");
}

/* 2^42 blocks of four numbers: a level of a stream. One more sample and levels would overlap. */
TEST(create_and_begin_take_no_more_noise_than_a_level_has)
{
    enum { INPUTS = 1 << 22, ROWS = 1 };
    const size_t most = ((size_t)1 << 42) / (INPUTS / 4) - ROWS;
    float *z = calloc(INPUTS, sizeof *z);
    certreg_model m = KIT_MODEL(NULL, NULL, INPUTS, 1, .batch = ROWS);
    for (size_t more = 0; more < 2; more++) {
        certreg_plan p = kit_plan(most + more);
        p.constraints = CERTREG_CONSTRAINT_MEAN;
        certreg_estimator *e = kit_create(NULL, &m, &p);
        KIT_STATUS(e, certreg_estimator_begin(e, z, 1, 0), more ? CERTREG_E_INVALID : CERTREG_OK);
        if (more) KIT_SAYS(certreg_estimator_error(e), "plan.max_samples");
    }
    free(z);
}
#endif

TEST(create_names_null_arguments)
{
    const certreg_model model = kit_model(kit_identity, NULL, 3, 1), *m = &model;
    const certreg_plan plan = kit_plan(100), *p = &plan;
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    size_t bytes;
#define REFUSED(call, word) KIT_UNMADE(&why, call, CERTREG_E_INVALID, word)
    REFUSED(certreg_estimator_create(NULL, NULL, p, &why, &e), "model");
    REFUSED(certreg_estimator_create(NULL, m, NULL, &why, &e), "plan");
    REFUSED(certreg_estimator_create(NULL, m, p, &why, NULL), "out");
    REFUSED(certreg_estimator_size(NULL, NULL, p, &why, &bytes, NULL), "model");
    REFUSED(certreg_estimator_size(NULL, m, NULL, &why, &bytes, NULL), "plan");
    REFUSED(certreg_estimator_size(NULL, m, p, &why, NULL, NULL), "bytes is NULL");
}

/* ---- texts */
static void differ(const char *(*text)(int32_t), int32_t last, const char *unknown)
{
    for (int32_t i = 0; i <= last; i++) {
        ck_assert_str_ne(text(i), unknown);
        for (int32_t j = 0; j < i; j++) ck_assert_str_ne(text(i), text(j));
    }
    ck_assert_str_eq(text(-1), unknown);
    ck_assert_str_eq(text(last + 1), unknown);
}

TEST(status_text_and_reason_text_differ_for_each)
{
    differ(certreg_status_text, CERTREG_E_PLATFORM, "unknown status");
    differ(certreg_reason_text, CERTREG_REASON_ALTERNATIVE, "unknown reason");
    ck_assert_str_eq(certreg_reason_text(CERTREG_REASON_NONE), "");
    ck_assert_uint_eq(certreg_version(), CERTREG_VERSION_NUMBER);
}

/* ---- begin */
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
        KIT_REFUSED(shared, certreg_estimator_begin(shared, beyond, grids[_i].sigma, 0),
                    CERTREG_E_INVALID, "z[2]");
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

/* The ends of the noise that float32 carries, and the grid that is as fine as its least. */
static const struct {
    double takes, refuses;
    const char *says;
} noises[] = {{0x1p-118, 0x1.fffffep-119, "at least 3.00926554e-36"},
              {0x1.fffffep111, 0x1p112, "below 5.19229686e+33"}};

TEST_ROWS(begin_takes_noise_of_a_least_to_a_greatest_size, noises)
{
    const float z[3] = {0, 1e-45f, -0.0f};
    KIT_OK(shared, certreg_estimator_begin(shared, z, noises[_i].takes, 0));
    KIT_REFUSED(shared, certreg_estimator_begin(shared, z, noises[_i].refuses, 0),
                CERTREG_E_INVALID, noises[_i].says);
}

/* ---- sampling and recording */
static const struct {
    certreg_status status;
    sick how;
    int reports_value;
} illnesses[] = {
    {CERTREG_E_MODEL_FAILED, {RETURNS, 57, .code = 42}, 0},
    {CERTREG_E_MODEL_FAILED, {RETURNS, 0, .code = -7}, 0},
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
    kit_refuses(shared, 400, kit_question(3), illnesses[_i].status, "");
    const certreg_error *error = certreg_estimator_error(shared);
    const int64_t sample = (int64_t)state.sample;
    if (illnesses[_i].status == CERTREG_E_MODEL_FAILED) {
        ck_assert_int_eq(error->code, state.code);
        ck_assert_int_eq(error->sample, sample / BATCH * BATCH);
        ck_assert_int_eq(error->row, 0); /* the first that is used */
        KIT_SAYS(error, "return 0");
    } else {
        ck_assert_int_eq(error->sample, sample);
        ck_assert_int_eq(error->row, sample % BATCH);
        ck_assert_int_eq(error->output, 1);
        KIT_SAYS(error, sample == 57 ? "sample 57" : "sample 399");
        KIT_SAYS(error,
                 error->status == CERTREG_E_OUT_OF_RANGE ? "model.lo" : "PLAN_COUNT_FAILURES");
    }
    if (illnesses[_i].reports_value) ck_assert_double_eq(error->value, (double)state.value);
    ck_assert_uint_eq(state.calls, (size_t)sample / BATCH + 1);
    /* what was recorded before it stays */
    state = (sick){.mode = HEALTHY};
    KIT_OK(shared, certreg_estimator_sample(shared, 0, (size_t)sample / BATCH * BATCH));
    ck_assert_uint_eq(state.calls, 0);
    check_usable();
}

/* Bounds of a mean rest on the range. Without this, a record that ends before the output that left
 * the range would look like one that keeps to it. */
TEST_TIMES(sampling_outside_the_range_leaves_no_certificate, 2)
{
    const float y[] = {0, 100.5f}; /* of a program that calls the model itself */
    certreg_question q = QUESTION(.tolerance = 3, .method = CERTREG_METHOD_ANYTIME);
    certreg_certificate c = kit_certificate();
    certreg_bounds b = {.struct_size = sizeof b};
    size_t bytes = 0;
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

/* A model that clips in its own arithmetic returns the float nearest to the limit, which is above
 * 1.2 and below 0.7. Bounds of a mean hold for it, too. */
TEST(record_takes_the_floats_nearest_to_the_ranges_limits)
{
    static const double limits[] = {1.2, 0.7, 1, 0.1, 1e5 / 3, 1e-40, 1e40};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const double hi = limits[i], lo = -hi;
        const float most = (float)fmin(hi, FLT_MAX), beyond = nextafterf(most, INFINITY);
        certreg_model m = KIT_MODEL(NULL, NULL, 3, 1, .lo = &lo, .hi = &hi);
        certreg_plan p = kit_plan(100);
        certreg_estimator *e = kit_begun(m, p, origin, 0.5, 0);
        for (size_t k = 0; k < 100; k++) { /* both ends, and zeros */
            const float y = most * (float)((int)(k % 3) - 1);
            KIT_OK(e, certreg_estimator_record(e, k, 1, &y));
        }
        certreg_question q = QUESTION(.tolerance = hi / 2, .statistic = CERTREG_STATISTIC_MEAN);
        certreg_bounds b = {.struct_size = sizeof b};
        KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &b));
        ck_assert(isfinite(b.range_hi) && b.range_hi - b.range_lo >= 2 * (double)most);
        KIT_OK(e, certreg_estimator_begin(e, origin, 0.5, 1));
        if (isfinite(beyond))
            KIT_STATUS(e, certreg_estimator_record(e, 0, 1, &beyond), CERTREG_E_OUT_OF_RANGE);
    }
}

TEST(sampling_beyond_the_capacity_is_refused)
{
    float y[2 * 2] = {0}, x[3], rows[16 * 3];
    certreg_model m = KIT_MODEL(kit_identity, NULL, 3, 1, .batch = 16);
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    const struct {
        uint64_t first;
        size_t count;
    } spans[] = {{0, CAPACITY + 1}, {CAPACITY, 1}, {CAPACITY + 1, 0},
                 {UINT64_MAX, 1},   {1, SIZE_MAX}, {UINT64_MAX, SIZE_MAX}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        KIT_REFUSED(shared, certreg_estimator_sample(shared, spans[i].first, spans[i].count),
                    CERTREG_E_TOO_MANY, "max_samples");
        KIT_REFUSED(shared, certreg_estimator_draw(shared, spans[i].first, spans[i].count, x),
                    CERTREG_E_TOO_MANY, "draw fewer");
    }
    KIT_STATUS(shared, certreg_estimator_record(shared, CAPACITY - 1, 2, y), CERTREG_E_TOO_MANY);
    KIT_OK(shared, certreg_estimator_record(shared, CAPACITY - 1, 1, y));
    ck_assert_uint_eq(state.calls, 0);
    check_usable();
    /* the last batch is drawn to its end */
    certreg_estimator *e = kit_begun(m, kit_plan(CAPACITY), origin, 0.5, 0);
    for (size_t more = 0; more < 2; more++)
        KIT_STATUS(e, certreg_estimator_draw(e, CAPACITY - 8, 16 + more, rows),
                   more ? CERTREG_E_TOO_MANY : CERTREG_OK);
    for (int i = 1; i < 16; i++) ck_assert_float_ne(rows[3 * i], rows[3 * i - 3]);
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
    const certreg_plan p = kit_plan(CAPACITY);
    certreg_estimator *e = kit_begun(KIT_MODEL(NULL, NULL, 3, 1, .kind = &kind), p, origin, 0.5, 0);
    KIT_REFUSED(e, certreg_estimator_sample(e, 0, 1), CERTREG_E_WRONG_STATE, "eval");
    KIT_OK(e, certreg_estimator_record(e, 0, 1, (const float[2]){0, -1}));
    for (int i = 0; i < KIT_ROWS(pairs); i++) {
        KIT_STATUS(e, certreg_estimator_record(e, 1, 1, pairs[i]), CERTREG_E_NOT_FINITE);
        ck_assert_int_eq(certreg_estimator_error(e)->sample, 1);
        ck_assert(i == 0 || !isfinite(certreg_estimator_error(e)->value));
    }
}

TEST(sampling_and_certify_name_null_arguments)
{
    const certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    certreg_bounds b = {.struct_size = sizeof b};
    KIT_REFUSED(shared, certreg_estimator_begin(shared, NULL, 1, 0), CERTREG_E_INVALID,
                "z is NULL");
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 400));
    KIT_REFUSED(shared, certreg_certify(shared, 400, NULL, 1, &c), CERTREG_E_INVALID, "question");
    KIT_REFUSED(shared, certreg_certify(shared, 400, &q, 1, NULL), CERTREG_E_INVALID,
                "certificate");
    KIT_REFUSED(shared, certreg_certify(shared, 400, &q, 0, &c), CERTREG_E_INVALID, "count");
    KIT_REFUSED(shared, certreg_estimator_bounds(shared, NULL, 1, &b), CERTREG_E_INVALID,
                "question");
    KIT_REFUSED(shared, certreg_estimator_bounds(shared, &q, 1, NULL), CERTREG_E_INVALID, "bounds");
    KIT_REFUSED(shared, certreg_estimator_export(shared, NULL, NULL), CERTREG_E_INVALID, "bytes");
    KIT_REFUSED(shared, certreg_estimator_import(shared, NULL, 100), CERTREG_E_CORRUPT, "");
    check_usable();
}

/* ---- numbers too large for a mean: what is refused names what the caller gave */
static const double size[] = {1e-30, 1, 1e16, 1e100, 1e149, 1e151, 1e155, 1e160, 1e216, DBL_MAX};
enum { SIZES = sizeof size / sizeof *size };

static certreg_estimator *with_range(double range)
{
    const double lo[2] = {-range, -range}, hi[2] = {range, range};
    certreg_model m = KIT_MODEL(kit_identity, NULL, 3, 2, .lo = lo, .hi = hi);
    certreg_estimator *e = kit_begun(m, KIT_PLAN(300, .pilot = SIZE_MAX), origin, 1e-3, 0);
    return e;
}

static void check(certreg_estimator *e, const certreg_question *q, double radius)
{
    certreg_certificate c = kit_certificate();
    const certreg_status status = radius > 0 ? certreg_output_bounds(e, 300, q, 1, radius, &c)
                                             : certreg_certify(e, 300, q, 1, &c);
    const char *said = certreg_estimator_error(e)->text;
    if (!status) return;
    ck_assert_int_eq(status, CERTREG_E_INVALID);
    ck_assert_double_eq(c.radius, 0);
    ck_assert_msg(strstr(said, "question.prediction is") || strstr(said, "model.lo[") ||
                      strstr(said, "question.tolerance is"),
                  "%s", said);
}

TEST_TIMES(certify_errors_of_huge_numbers_name_what_the_caller_gave, SIZES *SIZES)
{
    const double range = fmax(size[_i % SIZES], 0.1), prediction[2] = {size[_i / SIZES], 0};
    certreg_estimator *e = with_range(range);
    certreg_question q =
        QUESTION(.tolerance = 0.5, .statistic = CERTREG_STATISTIC_MEAN, .prediction = prediction);
    for (int i = 0; i < 12; i++) {
        static const int32_t methods[] = {CERTREG_METHOD_FINITE, CERTREG_METHOD_ASYMPTOTIC,
                                          CERTREG_METHOD_ANYTIME};
        q.method = methods[i % 3];
        q.center = i / 3 % 2 ? CERTREG_CENTER_TRUE_MEAN : CERTREG_CENTER_PREDICTION;
        q.output = i / 6 ? CERTREG_ALL_OUTPUTS : 0;
        q.prediction_count = i / 6 ? 2 : 1;
        q.constraints = i % 3 == 2 ? 0 : CERTREG_CONSTRAINTS_ECGM;
        check(e, &q, 0);
    }
    q.output = 0, q.prediction_count = 1, q.center = CERTREG_CENTER_PREDICTION;
    q.method = CERTREG_METHOD_FINITE;
    check(e, &q, 0.1);
}

FIXTURE(make_shared, NULL)
KIT_MAIN("refusals of an estimator")
