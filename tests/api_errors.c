/* What is refused, with which status, and that the sentence names the culprit. Every refusal leaves
 * the handle usable. */
#include "api_kit.h"

/* ---- one field set to a bad value */
typedef struct spoil { /* what the sentence must contain, the status, the field and the value that
                          goes there */
    const char *word;
    certreg_status status;
    size_t offset;
    char kind; /* i: 32 bits, z: size_t, d: double, p: pointer */
    double number;
    size_t size;
    const void *pointer;
} spoil;

static void apply(void *target, const spoil *s)
{
    unsigned char *at = (unsigned char *)target + s->offset;
    const uint32_t word = s->number < 0 ? (uint32_t)(int32_t)s->number : (uint32_t)s->number;
    switch (s->kind) {
    case 'i': memcpy(at, &word, sizeof word); break;
    case 'z': memcpy(at, &s->size, sizeof s->size); break;
    case 'd': memcpy(at, &s->number, sizeof s->number); break;
    default: memcpy(at, &s->pointer, sizeof s->pointer); break;
    }
}

static void check_sentence(const certreg_error *error, const spoil *s)
{
    ck_assert_msg(error->status == s->status, "%s: %s", s->word, error->text);
    ck_assert_msg(strstr(error->text, s->word) != NULL, "\"%s\" does not name %s", error->text,
                  s->word);
    ck_assert_ptr_nonnull(memchr(error->text, 0, sizeof error->text));
}

/* ---- create */
typedef struct request {
    certreg_model model;
    certreg_plan plan;
} request;

#define MODEL(field) offsetof(request, model.field)
#define PLAN(field) offsetof(request, plan.field)
static const float all_zero[3] = {0, 0, 0}, negative[3] = {1, -1, 1}, not_a_number[3] = {1, 1, NAN},
                   infinite[3] = {INFINITY, 1, 1};
static const int32_t unknown_kind[2] = {0, 3}, negative_kind[2] = {-1, 0},
                     angle[2] = {CERTREG_OUTPUT_ANGLE, CERTREG_OUTPUT_REAL};
static const double ends_lo[2] = {0, 2}, ends_hi[2] = {1, 2}, end_nan[2] = {0, NAN},
                    half_lo[2] = {0, -INFINITY};
static _Alignas(64) unsigned char memory[192];

static const spoil creation[] = {
    {"model", CERTREG_E_INVALID, MODEL(struct_size), 'i', 0, 0, NULL},
    {"model", CERTREG_E_INVALID, MODEL(struct_size), 'i', sizeof(certreg_model) - 8, 0, NULL},
    {"model", CERTREG_E_INVALID, MODEL(struct_size), 'i', sizeof(certreg_model) + 1, 0, NULL},
    {"plan", CERTREG_E_INVALID, PLAN(struct_size), 'i', 0, 0, NULL},
    {"model.reserved", CERTREG_E_INVALID, MODEL(reserved), 'i', 1, 0, NULL},
    {"model.inputs", CERTREG_E_INVALID, MODEL(inputs), 'z', 0, 0, NULL},
    {"model.outputs", CERTREG_E_INVALID, MODEL(outputs), 'z', 0, 0, NULL},
    {"inputs", CERTREG_E_NO_MEMORY, MODEL(inputs), 'z', 0, SIZE_MAX, NULL},
    {"inputs", CERTREG_E_NO_MEMORY, MODEL(inputs), 'z', 0, SIZE_MAX / 8, NULL},
    {"inputs", CERTREG_E_NO_MEMORY, MODEL(inputs), 'z', 0, SIZE_MAX / 4096, NULL},
    {"outputs", CERTREG_E_NO_MEMORY, MODEL(outputs), 'z', 0, SIZE_MAX, NULL},
    {"outputs", CERTREG_E_NO_MEMORY, MODEL(outputs), 'z', 0, SIZE_MAX / 16, NULL},
    {"batch", CERTREG_E_NO_MEMORY, MODEL(batch), 'z', 0, SIZE_MAX, NULL},
    {"batch", CERTREG_E_NO_MEMORY, MODEL(batch), 'z', 0, SIZE_MAX / 2 + 1, NULL},
    {"batch", CERTREG_E_NO_MEMORY, MODEL(batch), 'z', 0, SIZE_MAX / 3 + 1, NULL}, /* 3 inputs: the
                                                                                     product wraps
                                                                                     to 2 */
    {"model.scale", CERTREG_E_INVALID, MODEL(scale), 'p', 0, 0, all_zero},
    {"model.scale[1]", CERTREG_E_INVALID, MODEL(scale), 'p', 0, 0, negative},
    {"model.scale[2]", CERTREG_E_INVALID, MODEL(scale), 'p', 0, 0, not_a_number},
    {"model.scale[0]", CERTREG_E_INVALID, MODEL(scale), 'p', 0, 0, infinite},
    {"model.kind[1]", CERTREG_E_INVALID, MODEL(kind), 'p', 0, 0, unknown_kind},
    {"model.kind[0]", CERTREG_E_INVALID, MODEL(kind), 'p', 0, 0, negative_kind},
    {"model.lo[1]", CERTREG_E_INVALID, MODEL(lo), 'p', 0, 0, end_nan},
    {"plan.max_samples", CERTREG_E_INVALID, PLAN(max_samples), 'z', 0, 0, NULL},
    {"max_samples", CERTREG_E_NO_MEMORY, PLAN(max_samples), 'z', 0, SIZE_MAX, NULL},
    {"max_samples", CERTREG_E_NO_MEMORY, PLAN(max_samples), 'z', 0, SIZE_MAX / 2 + 1,
     NULL}, /* 2 outputs: the product wraps to 0 */
    {"plan.constraints", CERTREG_E_INVALID, PLAN(constraints), 'i', 64, 0, NULL},
    {"plan.constraints", CERTREG_E_INVALID, PLAN(constraints), 'i', 128 + 1, 0, NULL},
    {"plan.flags", CERTREG_E_INVALID, PLAN(flags), 'i', 2, 0, NULL},
    {"plan.reserved", CERTREG_E_INVALID, PLAN(reserved), 'i', 1, 0, NULL},
    {"plan.pilot", CERTREG_E_INVALID, PLAN(pilot), 'z', 0, 1000, NULL},
    {"plan.pilot", CERTREG_E_INVALID, PLAN(pilot), 'z', 0, SIZE_MAX - 1, NULL},
    {"plan.blocks", CERTREG_E_INVALID, PLAN(blocks), 'z', 0, 63, NULL},
    {"plan.blocks", CERTREG_E_INVALID, PLAN(blocks), 'z', 0, 1, NULL},
    {"plan.blocks", CERTREG_E_INVALID, PLAN(blocks), 'z', 0, SIZE_MAX, NULL},
    {"plan.memory", CERTREG_E_SMALL_MEMORY, PLAN(memory), 'p', 0, 0, memory},
    {"plan.memory", CERTREG_E_INVALID, PLAN(memory), 'p', 0, 0, memory + 8},
};

START_TEST(creation_names_the_field_that_it_refuses)
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
    if (s->offset == PLAN(memory)) return;
    size_t bytes = 1; /* size and create agree */
    ck_assert_int_eq(certreg_estimator_size(NULL, &r.model, &r.plan, &bytes), s->status);
    ck_assert_uint_eq(bytes, 0);
}
END_TEST

START_TEST(empty_or_half_open_ranges_are_refused)
{
    certreg_model m = kit_model(kit_identity, NULL, 3, 2);
    const certreg_plan p = kit_plan(1000);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    m.lo = ends_lo, m.hi = ends_hi; /* the second is [2, 2] */
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "model.lo[1]"));
    m.lo = ends_hi, m.hi = ends_lo; /* the first is [1, 0] */
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "model.lo[0]"));
    m.kind = angle, m.lo = half_lo, m.hi = NULL; /* a turn that never ends */
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "turn"));
    static const double least[2] = {-1.7e308, 0}, most[2] = {1.7e308, 1};
    m.lo = least, m.hi = most; /* a turn whose length is no double */
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "turn"));
}
END_TEST

#ifndef __SANITIZE_ADDRESS__
START_TEST(memory_that_does_not_exist_is_a_status)
{
    const certreg_model m = kit_model(kit_identity, NULL, 1, 1);
    const certreg_plan p = kit_plan((size_t)1 << 58);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_NO_MEMORY);
    ck_assert_ptr_null(e);
    ck_assert_ptr_nonnull(strstr(why.text, "memory"));
}
END_TEST

/* 2^44 blocks of four numbers: a level of a stream. One more sample and levels would overlap. */
START_TEST(plans_take_no_more_noise_than_a_level_has)
{
    enum { INPUTS = 1 << 22, ROWS = 1 };
    const size_t most = ((size_t)1 << 44) / (INPUTS / 4) - ROWS;
    float *z = calloc(INPUTS, sizeof *z);
    certreg_model m = kit_model(NULL, NULL, INPUTS, 1);
    m.batch = ROWS;
    for (size_t more = 0; more < 2; more++) {
        certreg_plan p = kit_plan(most + more);
        p.constraints = CERTREG_CONSTRAINT_MEAN;
        certreg_estimator *e = kit_create(NULL, &m, &p);
        KIT_STATUS(e, certreg_estimator_begin(e, z, 1, 0), more ? CERTREG_E_INVALID : CERTREG_OK);
        if (more)
            ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "plan.max_samples"));
        certreg_estimator_destroy(e);
    }
    free(z);
}
END_TEST
#endif

/* ---- one estimator, healthy after every refusal */
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

static void free_shared(void)
{
    certreg_estimator_destroy(shared);
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
    {"sigma", 0, 0},
    {"sigma", 0, -1},
    {"sigma", 0, NAN},
    {"sigma", 0, INFINITY},
    {"z[2]", NAN, 1},
    {"z[2]", INFINITY, 1},
    {"z[2]", -INFINITY, 1},
    {"feature 2", 1e6f, 1},
    {"feature 2", -1e9f, 1000},
    {"feature 2", 1.5e38f, 1e37},
    {"feature", 0, 1e-42},
    {"feature", 0, 1e39},
    {"feature 2", 1, 1e-5},
};

START_TEST(inputs_that_float_cannot_carry_are_refused_by_feature)
{
    const float z[3] = {0, 0, beginnings[_i].z};
    KIT_STATUS(shared, certreg_estimator_begin(shared, z, beginnings[_i].sigma, 0),
               CERTREG_E_INVALID);
    const certreg_error *error = certreg_estimator_error(shared);
    ck_assert_msg(strstr(error->text, beginnings[_i].word) != NULL, "%s", error->text);
    KIT_STATUS(shared, certreg_estimator_sample(shared, 0, 1), CERTREG_E_WRONG_STATE); /* there is
                                                                                          no input
                                                                                          now */
    check_usable();
}
END_TEST

START_TEST(noise_of_1024_units_in_the_last_place_is_enough)
{
    const float z[3] = {0, 0, 1};
    KIT_OK(shared, certreg_estimator_begin(shared, z, 1024 * 0x1p-23, 0));
    KIT_STATUS(shared, certreg_estimator_begin(shared, z, 1023 * 0x1p-23, 0), CERTREG_E_INVALID);
    check_usable();
}
END_TEST

static const struct {
    certreg_status status;
    sick how;
    int tells_value;
} illnesses[] = {
    {CERTREG_E_MODEL_FAILED, {RETURNS, 57, 42, 0, 0}, 0},
    {CERTREG_E_MODEL_FAILED, {RETURNS, 0, -7, 0, 0}, 0},
    {CERTREG_E_NOT_FINITE, {SKIPS, 57, 0, 0, 0}, 0},
    {CERTREG_E_NOT_FINITE, {WRITES, 57, 0, NAN, 0}, 0},
    {CERTREG_E_NOT_FINITE, {WRITES, 57, 0, INFINITY, 0}, 1},
    {CERTREG_E_NOT_FINITE, {WRITES, 57, 0, -INFINITY, 0}, 1},
    {CERTREG_E_OUT_OF_RANGE, {WRITES, 57, 0, 100.5f, 0}, 1},
    {CERTREG_E_OUT_OF_RANGE, {WRITES, 399, 0, -101, 0}, 1},
};

START_TEST(failures_of_the_model_are_told_by_sample_row_and_output)
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
        ck_assert_int_eq(error->model_code, state.code);
        ck_assert_int_eq(error->sample, sample / BATCH * BATCH);
    } else {
        ck_assert_int_eq(error->sample, sample);
        ck_assert_int_eq(error->row, sample % BATCH);
        ck_assert_int_eq(error->output, 1);
        ck_assert_ptr_nonnull(strstr(error->text, _i < 6 && sample == 57 ? "sample 57" : "sample"));
    }
    if (illnesses[_i].tells_value) ck_assert_double_eq(error->value, (double)state.value);
    ck_assert_uint_gt(strlen(error->text), 20);
    check_usable();
}
END_TEST

START_TEST(range_ends_are_inside_the_range)
{
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    state = (sick){WRITES, 57, 0, 100, 0};
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 100));
    state = (sick){WRITES, 157, 0, -100, 0};
    KIT_OK(shared, certreg_estimator_sample(shared, 100, 100));
}
END_TEST

START_TEST(what_was_recorded_before_a_failure_stays)
{
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    state = (sick){WRITES, 57, 0, NAN, 0};
    KIT_STATUS(shared, certreg_estimator_sample(shared, 0, 100), CERTREG_E_NOT_FINITE);
    ck_assert_uint_eq(state.calls, 6);
    state = (sick){.mode = HEALTHY};
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 100));
    ck_assert_uint_eq(state.calls, 5);
}
END_TEST

START_TEST(samples_beyond_the_capacity_are_too_many)
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
        ck_assert_ptr_nonnull(strstr(certreg_estimator_error(shared)->text, "max_samples"));
        KIT_STATUS(shared, certreg_estimator_draw(shared, spans[i].first, spans[i].count, x),
                   CERTREG_E_TOO_MANY);
    }
    KIT_STATUS(shared, certreg_estimator_record(shared, CAPACITY - 1, 2, y), CERTREG_E_TOO_MANY);
    KIT_OK(shared, certreg_estimator_record(shared, CAPACITY - 1, 1, y));
    ck_assert_uint_eq(state.calls, 0);
    check_usable();
}
END_TEST

START_TEST(rows_that_cannot_be_recorded_leave_the_record_as_it_was)
{
    float y[4] = {1, 2, 3, 1000}, x[3];
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_STATUS(shared, certreg_estimator_record(shared, 5, 2, y), CERTREG_E_OUT_OF_RANGE);
    ck_assert_int_eq(certreg_estimator_error(shared)->sample, 6);
    y[3] = 4;
    KIT_OK(shared, certreg_estimator_record(shared, 6, 1, y + 2)); /* neither 5 nor 6 is there:
                                                                      nothing to disagree with */
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
END_TEST

/* ---- questions */
#define ASK(field) offsetof(certreg_question, field)
static const spoil questions[] = {
    {"question", CERTREG_E_INVALID, ASK(struct_size), 'i', 0, 0, NULL},
    {"question", CERTREG_E_INVALID, ASK(struct_size), 'i', sizeof(certreg_question) - 8, 0, NULL},
    {"question", CERTREG_E_INVALID, ASK(struct_size), 'i', sizeof(certreg_question) + 4, 0, NULL},
    {"tolerance", CERTREG_E_INVALID, ASK(tolerance), 'd', 0, 0, NULL},
    {"tolerance", CERTREG_E_INVALID, ASK(tolerance), 'd', -1, 0, NULL},
    {"tolerance", CERTREG_E_INVALID, ASK(tolerance), 'd', NAN, 0, NULL},
    {"tolerance", CERTREG_E_INVALID, ASK(tolerance), 'd', INFINITY, 0, NULL},
    {"output", CERTREG_E_INVALID, ASK(output), 'i', -1, 0, NULL},
    {"output", CERTREG_E_INVALID, ASK(output), 'i', -2, 0, NULL},
    {"output", CERTREG_E_INVALID, ASK(output), 'i', 2, 0, NULL},
    {"statistic", CERTREG_E_INVALID, ASK(statistic), 'i', 4, 0, NULL},
    {"statistic", CERTREG_E_INVALID, ASK(statistic), 'i', -1, 0, NULL},
    {"statistic", CERTREG_E_INVALID, ASK(statistic), 'i', CERTREG_STATISTIC_CIRCULAR_MEAN, 0, NULL},
    {"method", CERTREG_E_INVALID, ASK(method), 'i', CERTREG_METHOD_PAPER, 0, NULL}, /* of the median
                                                                                     */
    {"method", CERTREG_E_INVALID, ASK(method), 'i', 4, 0, NULL},
    {"method", CERTREG_E_INVALID, ASK(method), 'i', -1, 0, NULL},
    {"center", CERTREG_E_INVALID, ASK(center), 'i', CERTREG_CENTER_TRUE_MEAN, 0, NULL}, /* of the
                                                                                           median */
    {"center", CERTREG_E_INVALID, ASK(center), 'i', 2, 0, NULL},
    {"center", CERTREG_E_INVALID, ASK(center), 'i', 3, 0, NULL},
    {"center", CERTREG_E_INVALID, ASK(center), 'i', -1, 0, NULL},
    {"constraints", CERTREG_E_INVALID, ASK(constraints), 'i',
     CERTREG_CONSTRAINT_SECOND_ORDER | CERTREG_CONSTRAINTS_ECGM, 0, NULL},
    {"constraints", CERTREG_E_INVALID, ASK(constraints), 'i', CERTREG_CONSTRAINTS_C, 0,
     NULL}, /* the median needs mean and range */
    {"huber_width", CERTREG_E_INVALID, ASK(huber_width), 'd', 1, 0, NULL},
    {"alpha", CERTREG_E_INVALID, ASK(alpha), 'd', -0.1, 0, NULL},
    {"alpha", CERTREG_E_INVALID, ASK(alpha), 'd', 0.6, 0, NULL},
    {"alpha", CERTREG_E_INVALID, ASK(alpha), 'd', NAN, 0, NULL},
    {"bonferroni", CERTREG_E_INVALID, ASK(bonferroni), 'z', 0, SIZE_MAX, NULL},
};

static void refuse_question(const certreg_question *q, const spoil *s)
{
    certreg_certificate c = kit_certificate();
    c.radius = 5, c.outcome = CERTREG_OUTCOME_CERTIFIED;
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_STATUS(shared, certreg_certify(shared, 400, q, 1, &c), s->status);
    check_sentence(certreg_estimator_error(shared), s);
    ck_assert_uint_eq(state.calls, 0); /* questions are checked before the model is called */
    ck_assert_int_eq(c.status, s->status);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq(c.radius, 0);
    certreg_bounds b = {.struct_size = sizeof b, .constraints = 99};
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 400));
    KIT_STATUS(shared, certreg_estimator_bounds(shared, q, CERTREG_SIDE_UPPER, &b), s->status);
    check_sentence(certreg_estimator_error(shared), s);
    ck_assert_uint_eq(b.constraints, 0);
    check_usable();
}

START_TEST(questions_name_the_field_that_is_refused)
{
    certreg_question q = kit_question(3);
    apply(&q, questions + _i);
    refuse_question(&q, questions + _i);
}
END_TEST

/* Combinations of fields, and the fields of scores other than the median. */
static const uint64_t ascending[] = {200, 300, 400}, out_of_order[] = {200, 200, 400},
                      within_the_pilot[] = {1}, beyond_capacity[] = {200, CAPACITY + 1};
static const struct {
    spoil how;
    certreg_question question;
} combinations[] = {
    {{"huber_width", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_HUBER, .method = CERTREG_METHOD_ASYMPTOTIC}},
    {{"huber_width", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_HUBER,
      .method = CERTREG_METHOD_ASYMPTOTIC,
      .huber_width = -1}},
    {{"huber_width", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_HUBER,
      .method = CERTREG_METHOD_ASYMPTOTIC,
      .huber_width = NAN}},
    {{"target", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target), .radius = 0.1},
      .method = CERTREG_METHOD_ASYMPTOTIC}},
    {{"radius", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target), .radius = -0.1}}},
    {{"radius", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target), .radius = NAN}}},
    {{"target", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = 8, .radius = 0.1}}},
    {{"serving", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = 8, .samples = 9, .failure_rate = 0.1}}},
    {{"samples", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 0,
                                    .failure_rate = 0.01}}},
    {{"failure_rate", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 1,
                                    .failure_rate = 0}}},
    {{"reserved", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .reserved = 1,
                                    .samples = 9,
                                    .failure_rate = 0.1}}},
    {{"look_count", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(
          certreg_target){.struct_size = sizeof(certreg_target), .radius = 0.1, .look_count = 2}}},
    {{"look_count", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target),
                                  .radius = 0.1,
                                  .looks = ascending}}},
    {{"look_count", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target),
                                  .look_count = 129,
                                  .radius = 0.1,
                                  .looks = ascending}}},
    {{"looks[1]", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target),
                                  .look_count = 3,
                                  .radius = 0.1,
                                  .looks = out_of_order}}},
    {{"looks[0]", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target),
                                  .look_count = 1,
                                  .radius = 0.1,
                                  .looks = within_the_pilot}}},
    {{"looks[1]", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target),
                                  .look_count = 2,
                                  .radius = 0.1,
                                  .looks = beyond_capacity}}},
    {{"constraints", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.method = CERTREG_METHOD_ANYTIME, .constraints = CERTREG_CONSTRAINTS_ECGM}},
    {{"constraints", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.target = &(certreg_target){.struct_size = sizeof(certreg_target), .radius = 0.1},
      .constraints = CERTREG_CONSTRAINTS_ECGM}},
    {{"failure_rate", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 10,
                                    .failure_rate = 0.6}}},
    {{"failure_rate", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 10,
                                    .failure_rate = NAN}}},
    {{"serving", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.serving = &(certreg_serving){.struct_size = sizeof(certreg_serving),
                                    .samples = 10,
                                    .failure_rate = 0.1},
      .statistic = CERTREG_STATISTIC_MEAN,
      .method = CERTREG_METHOD_ASYMPTOTIC,
      .center = CERTREG_CENTER_TRUE_MEAN}},
    {{"output", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.output = CERTREG_ALL_OUTPUTS,
      .statistic = CERTREG_STATISTIC_MEAN,
      .method = CERTREG_METHOD_ASYMPTOTIC}},
    {{"constraints", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.output = CERTREG_ALL_OUTPUTS,
      .statistic = CERTREG_STATISTIC_MEAN,
      .method = CERTREG_METHOD_ASYMPTOTIC,
      .center = CERTREG_CENTER_TRUE_MEAN,
      .constraints = CERTREG_CONSTRAINTS_ECGM}},
    {{"center", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_HUBER,
      .method = CERTREG_METHOD_ASYMPTOTIC,
      .huber_width = 1,
      .center = CERTREG_CENTER_TRUE_MEAN}},
    {{"method", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_MEAN, .method = CERTREG_METHOD_PAPER}},
    {{"prediction", CERTREG_E_INVALID, 0, 0, 0, 0, NULL}, {.prediction = &(double){NAN}}},
    {{"prediction", CERTREG_E_INVALID, 0, 0, 0, 0, NULL}, {.prediction = &(double){INFINITY}}},
    {{"statistic", CERTREG_E_INVALID, 0, 0, 0, 0, NULL},
     {.statistic = CERTREG_STATISTIC_CIRCULAR_MEAN, .method = CERTREG_METHOD_ASYMPTOTIC}},
};

START_TEST(combinations_name_the_field_that_is_refused)
{
    certreg_question q = combinations[_i].question;
    q.struct_size = sizeof q;
    q.tolerance = 3;
    refuse_question(&q, &combinations[_i].how);
}
END_TEST

START_TEST(tolerances_of_angles_have_a_limit)
{
    static const int32_t kinds[2] = {CERTREG_OUTPUT_ANGLE, CERTREG_OUTPUT_ANGLE};
    static const double lo[2] = {-180, -180}, hi[2] = {180, 180};
    static const struct {
        int32_t statistic, method;
        double tolerance, width;
        certreg_status status;
    } rows[] = {
        {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 180, 0, CERTREG_E_INVALID},
        {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 400, 0, CERTREG_E_INVALID},
        {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 179, 0, CERTREG_OK},
        {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 180, 5, CERTREG_E_INVALID},
        {CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_ASYMPTOTIC, 90.001, 0, CERTREG_E_INVALID},
        {CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_ASYMPTOTIC, 90, 0, CERTREG_OK},
    };
    certreg_model m = kit_model(kit_identity, NULL, 3, 2);
    m.kind = kinds, m.lo = lo, m.hi = hi;
    const certreg_plan p = kit_plan(1000);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, 0.5, 0));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        certreg_question q = kit_question(rows[i].tolerance);
        q.statistic = rows[i].statistic, q.method = rows[i].method, q.huber_width = rows[i].width;
        certreg_certificate c = kit_certificate();
        KIT_STATUS(e, certreg_certify(e, 1000, &q, 1, &c), rows[i].status);
        if (rows[i].status)
            ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "tolerance"));
    }
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(plans_without_what_a_question_needs_refuse_it)
{
    const certreg_model m = kit_model(kit_identity, NULL, 3, 1);
    certreg_plan p = kit_plan(1000);
    p.constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                    CERTREG_CONSTRAINT_RANGE;
    p.pilot = SIZE_MAX;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, 0.5, 0));
    certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    KIT_STATUS(e, certreg_certify(e, 1000, &q, 1, &c), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "question.prediction"));
    q = (certreg_question){.struct_size = sizeof q,
                           .tolerance = 3,
                           .statistic = CERTREG_STATISTIC_MEAN,
                           .center = CERTREG_CENTER_TRUE_MEAN};
    q.method = CERTREG_METHOD_ASYMPTOTIC, q.constraints = CERTREG_CONSTRAINTS_CG;
    KIT_STATUS(e, certreg_certify(e, 1000, &q, 1, &c), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "plan.constraints"));
    q.method = CERTREG_METHOD_PAPER, q.constraints = 0;
    KIT_STATUS(e, certreg_certify(e, 1000, &q, 1, &c), CERTREG_E_INVALID);
    q.method = CERTREG_METHOD_ASYMPTOTIC, q.constraints = 0;
    KIT_OK(e, certreg_certify(e, 1000, &q, 1, &c));
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(too_few_samples_for_the_question_are_a_wrong_state)
{
    certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_STATUS(shared, certreg_certify(shared, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
    KIT_STATUS(shared, certreg_certify(shared, 100, &q, 1, &c), CERTREG_E_WRONG_STATE); /* all in
                                                                                           the pilot
                                                                                         */
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(shared)->text, "pilot"));
    ck_assert_double_eq(c.radius, 0);
    ck_assert_uint_eq(c.samples, 0);      /* the model is not called for nothing */
    q.method = CERTREG_METHOD_ASYMPTOTIC; /* 64 blocks want 64 samples beside the pilot */
    const size_t pilot = (size_t)asks_run(shared).pilot;
    KIT_STATUS(shared, certreg_certify(shared, pilot + 63, &q, 1, &c), CERTREG_E_WRONG_STATE);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(shared)->text, "at least"));
    KIT_OK(shared, certreg_certify(shared, pilot + 64, &q, 1, &c));
    check_usable();
}
END_TEST

START_TEST(nothing_works_before_the_first_begin)
{
    certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    certreg_bounds b = {.struct_size = sizeof b};
    float x[3], y[2] = {0, 0};
    unsigned char bytes[8];
    size_t size = sizeof bytes;
    KIT_STATUS(shared, certreg_estimator_sample(shared, 0, 1), CERTREG_E_WRONG_STATE);
    KIT_STATUS(shared, certreg_estimator_draw(shared, 0, 1, x), CERTREG_E_WRONG_STATE);
    KIT_STATUS(shared, certreg_estimator_record(shared, 0, 1, y), CERTREG_E_WRONG_STATE);
    KIT_STATUS(shared, certreg_estimator_export(shared, bytes, &size), CERTREG_E_WRONG_STATE);
    KIT_STATUS(shared, certreg_estimator_import(shared, bytes, sizeof bytes),
               CERTREG_E_WRONG_STATE);
    KIT_STATUS(shared, certreg_estimator_bounds(shared, &q, CERTREG_SIDE_UPPER, &b),
               CERTREG_E_WRONG_STATE);
    KIT_STATUS(shared, certreg_certify(shared, 100, &q, 1, &c), CERTREG_E_WRONG_STATE);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(shared)->text, "begin"));
    ck_assert_uint_eq(state.calls, 0);
    check_usable();
}
END_TEST

START_TEST(models_without_eval_can_only_draw_and_record)
{
    const certreg_model m = kit_model(NULL, NULL, 3, 1);
    const certreg_plan p = kit_plan(100);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    float x[3];
    KIT_OK(e, certreg_estimator_begin(e, origin, 0.5, 0));
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 1), CERTREG_E_WRONG_STATE);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "eval"));
    KIT_OK(e, certreg_estimator_draw(e, 3, 1, x));
    KIT_OK(e, certreg_estimator_record(e, 3, 1, x));
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(sides_belong_to_promises)
{
    certreg_question q = kit_question(3);
    certreg_bounds b = {.struct_size = sizeof b};
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 400));
    KIT_STATUS(shared, certreg_estimator_bounds(shared, &q, 0, &b), CERTREG_E_INVALID);
    KIT_STATUS(shared, certreg_estimator_bounds(shared, &q, CERTREG_SIDE_NEAR_UPPER, &b),
               CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(shared)->text, "side 2"));
    q.statistic = CERTREG_STATISTIC_MEAN, q.method = CERTREG_METHOD_ASYMPTOTIC,
    q.center = CERTREG_CENTER_TRUE_MEAN;
    certreg_bounds other = b;
    KIT_STATUS(shared, certreg_estimator_bounds(shared, &q, 0, &b), CERTREG_E_INVALID);
    KIT_OK(shared, certreg_estimator_bounds(shared, &q, CERTREG_SIDE_UPPER, &b));
    KIT_OK(shared, certreg_estimator_bounds(shared, &q, CERTREG_SIDE_LOWER, &other));
    ck_assert_mem_eq(&b, &other, sizeof b);
}
END_TEST

/* ---- bounds filled by hand */
#define BOUND(field) offsetof(certreg_bounds, field)
static const spoil bounds[] = {
    {"bounds", CERTREG_E_INVALID, BOUND(struct_size), 'i', 0, 0, NULL},
    {"sigma", CERTREG_E_INVALID, BOUND(sigma), 'd', 0, 0, NULL},
    {"sigma", CERTREG_E_INVALID, BOUND(sigma), 'd', -1, 0, NULL},
    {"sigma", CERTREG_E_INVALID, BOUND(sigma), 'd', NAN, 0, NULL},
    {"constraints", CERTREG_E_INVALID, BOUND(constraints), 'i', 64 + 15, 0, NULL},
    {"mean_lo", CERTREG_E_INVALID, BOUND(mean_lo), 'd', 0.9, 0, NULL}, /* above mean_hi */
    {"mean_hi", CERTREG_E_INVALID, BOUND(mean_hi), 'd', NAN, 0, NULL},
    {"variance_hi", CERTREG_E_INVALID, BOUND(variance_hi), 'd', -1e-9, 0, NULL},
    {"variance_hi", CERTREG_E_INVALID, BOUND(variance_hi), 'd', INFINITY, 0, NULL},
    {"gradient_lo", CERTREG_E_INVALID, BOUND(gradient_lo), 'd', -1, 0, NULL},
    {"gradient_lo", CERTREG_E_INVALID, BOUND(gradient_lo), 'd', 0.4, 0, NULL}, /* above gradient_hi
                                                                                */
    {"gradient_hi", CERTREG_E_INVALID, BOUND(gradient_hi), 'd', NAN, 0, NULL},
    {"range_lo", CERTREG_E_INVALID, BOUND(range_lo), 'd', 1, 0, NULL},    /* not below range_hi */
    {"range", CERTREG_E_INFEASIBLE, BOUND(range_hi), 'd', -0.5, 0, NULL}, /* the mean cannot lie
                                                                             there */
    {"gradient_lo", CERTREG_E_INFEASIBLE, BOUND(variance_hi), 'd', 0.01, 0, NULL},
};

START_TEST(bounds_that_contradict_each_other_are_refused)
{
    certreg_bounds b = {.struct_size = sizeof b,
                        .constraints = CERTREG_CONSTRAINTS_ECGM,
                        .sigma = 1,
                        .mean_lo = 0,
                        .mean_hi = 0.5,
                        .variance_hi = 0.2,
                        .gradient_lo = 0.2,
                        .gradient_hi = 0.3,
                        .range_lo = -1,
                        .range_hi = 1};
    const certreg_bounds good = b;
    apply(&b, bounds + _i);
    certreg_solver *solver;
    certreg_bisection *bisection;
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &solver), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(solver, NULL, 0, &bisection), CERTREG_OK);
    certreg_mean_change shift = {.struct_size = sizeof shift, .drop = 1, .rise = 1};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &b, 0, 0.5, &shift), bounds[_i].status);
    check_sentence(certreg_solver_error(solver), bounds + _i);
    ck_assert_double_eq(shift.drop, INFINITY);
    ck_assert_double_eq(shift.rise, INFINITY);
    certreg_radius radius = {.struct_size = sizeof radius, .radius = 1, .outcome = 1};
    ck_assert_int_eq(certreg_bisection_within(bisection, &b, 0, 0.5, &radius), bounds[_i].status);
    check_sentence(certreg_bisection_error(bisection), bounds + _i);
    ck_assert_double_eq(radius.radius, 0);
    radius.radius = 1;
    ck_assert_int_eq(certreg_bisection_above(bisection, &b, NULL, 1, 0, &radius),
                     bounds[_i].status);
    ck_assert_double_eq(radius.radius, 0);
    ck_assert_int_eq(certreg_bisection_within(bisection, &good, 0, 0.5, &radius), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_error(bisection)->status, CERTREG_OK);
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
}
END_TEST

START_TEST(solver_and_bisection_name_arguments_that_they_refuse)
{
    const certreg_bounds b = {.struct_size = sizeof b,
                              .constraints = CERTREG_CONSTRAINT_VARIANCE,
                              .sigma = 1,
                              .variance_hi = 1};
    certreg_bounds two[2] = {b, b};
    certreg_solver *solver;
    certreg_bisection *bisection;
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &solver), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(solver, NULL, 0, &bisection), CERTREG_OK);
    certreg_mean_change shift = {.struct_size = sizeof shift};
    certreg_radius radius = {.struct_size = sizeof radius};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &b, 0, -1, &shift), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_solver_error(solver)->text, "radius"));
    ck_assert_int_eq(certreg_solver_worst_case(solver, &b, 0, NAN, &shift), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_solver_worst_case(solver, &b, 64, 1, &shift), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_solver_error(solver)->text, "constraints"));
    static const double tolerances[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(certreg_bisection_within(bisection, &b, 0, tolerances[i], &radius),
                         CERTREG_E_INVALID);
        ck_assert_ptr_nonnull(strstr(certreg_bisection_error(bisection)->text, "tolerance"));
    }
    ck_assert_int_eq(certreg_bisection_above(bisection, &b, NULL, 0, 0, &radius),
                     CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_bisection_error(bisection)->text, "count"));
    ck_assert_int_eq(certreg_bisection_above(bisection, &b, NULL, 1, 0, &radius),
                     CERTREG_E_INVALID); /* no mean */
    ck_assert_ptr_nonnull(strstr(certreg_bisection_error(bisection)->text, "mean"));
    for (int i = 0; i < 2; i++)
        two[i].constraints |= CERTREG_CONSTRAINT_MEAN, two[i].mean_lo = two[i].mean_hi = 1;
    two[1].sigma = 2;
    ck_assert_int_eq(certreg_bisection_above(bisection, two, NULL, 2, 0, &radius),
                     CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_bisection_error(bisection)->text, "sigma"));
    two[1].sigma = 1;
    const double thresholds[2] = {0, NAN};
    ck_assert_int_eq(certreg_bisection_above(bisection, two, thresholds, 2, 0, &radius),
                     CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_bisection_error(bisection)->text, "threshold[1]"));
    ck_assert_int_eq(certreg_bisection_above(bisection, two, NULL, 2, 0, &radius), CERTREG_OK);
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
}
END_TEST

/* ---- NULL */
START_TEST(null_handles_are_invalid)
{
    certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    certreg_bounds b = {.struct_size = sizeof b};
    certreg_mean_change shift = {.struct_size = sizeof shift};
    certreg_radius radius = {.struct_size = sizeof radius};
    certreg_forecast forecast = {.struct_size = sizeof forecast, .least_samples = 9};
    certreg_certificate stale[2] = {c, c};
    const double sigmas[2] = {1, 2};
    float x[3] = {0, 0, 0};
    unsigned char bytes[8] = {0};
    size_t size = sizeof bytes;
    b.constraints = 1, shift.drop = 0.1,
    radius.radius = c.radius = stale[0].radius = stale[1].radius = 9; /* nothing stale may survive
                                                                       */
    ck_assert_int_eq(certreg_estimator_begin(NULL, x, 1, 0), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_sample(NULL, 0, 1), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_draw(NULL, 0, 1, x), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_record(NULL, 0, 1, x), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_export(NULL, bytes, &size), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_import(NULL, bytes, size), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_bounds(NULL, &q, 1, &b), CERTREG_E_INVALID);
    ck_assert_uint_eq(b.constraints, 0);
    ck_assert_int_eq(certreg_certify(NULL, 1, &q, 1, &c), CERTREG_E_INVALID);
    ck_assert(c.radius == 0 && c.status == CERTREG_E_INVALID && isinf(c.output_hi));
    ck_assert_int_eq(certreg_certify_sigmas(NULL, x, sigmas, 2, 0, 1, &q, 1, stale),
                     CERTREG_E_INVALID);
    ck_assert(stale[0].radius == 0 && stale[1].radius == 0);
    stale[0].radius = stale[1].radius = 9;
    ck_assert_int_eq(certreg_certify_outputs(NULL, 1, &q, 1, stale, stale + 1), CERTREG_E_INVALID);
    ck_assert(stale[0].radius == 0 && stale[1].radius == 0);
    ck_assert_int_eq(certreg_estimator_forecast(NULL, &q, &forecast), CERTREG_E_INVALID);
    ck_assert(forecast.least_samples == 0 && isinf(forecast.expected_samples));
    ck_assert_int_eq(certreg_solver_worst_case(NULL, &b, 0, 1, &shift), CERTREG_E_INVALID);
    ck_assert(isinf(shift.drop) && isinf(shift.rise));
    ck_assert_int_eq(certreg_bisection_within(NULL, &b, 0, 1, &radius), CERTREG_E_INVALID);
    ck_assert_double_eq(radius.radius, 0);
    radius.radius = 9;
    ck_assert_int_eq(certreg_bisection_above(NULL, &b, NULL, 1, 0, &radius), CERTREG_E_INVALID);
    ck_assert_double_eq(radius.radius, 0);
    certreg_estimator_set_deadline(NULL, 1);
    certreg_estimator_cancel(NULL);
    certreg_estimator_destroy(NULL);
    certreg_solver_destroy(NULL);
    certreg_bisection_destroy(NULL);
    ck_assert_ptr_null(certreg_estimator_error(NULL));
    ck_assert_ptr_null(certreg_solver_error(NULL));
    ck_assert_ptr_null(certreg_bisection_error(NULL));
}
END_TEST

START_TEST(null_arguments_of_creation_are_named)
{
    const certreg_model m = kit_model(kit_identity, NULL, 3, 1);
    const certreg_plan p = kit_plan(100);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    certreg_bisection *bisection;
    size_t bytes;
    ck_assert_int_eq(certreg_estimator_create(NULL, NULL, &p, &why, &e), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "model"));
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, NULL, &why, &e), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "plan"));
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "out"));
    ck_assert_int_eq(certreg_estimator_size(NULL, NULL, &p, &bytes), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, NULL, &bytes), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_device_size(NULL, NULL, &p, &bytes), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_device_size(NULL, &m, &p, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_solver_create(NULL, 0, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, 0, &bisection), CERTREG_E_INVALID);
    ck_assert_ptr_null(bisection);
}
END_TEST

START_TEST(null_arguments_of_calls_are_named)
{
    const certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    certreg_bounds b = {.struct_size = sizeof b};
    const char *text = certreg_estimator_error(shared)->text;
    KIT_STATUS(shared, certreg_estimator_begin(shared, NULL, 1, 0), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(text, "z is NULL"));
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 0));
    KIT_OK(shared, certreg_estimator_sample(shared, 0, 400));
    KIT_STATUS(shared, certreg_certify(shared, 400, NULL, 1, &c), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(text, "question"));
    KIT_STATUS(shared, certreg_certify(shared, 400, &q, 1, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(text, "certificate"));
    KIT_STATUS(shared, certreg_certify(shared, 400, &q, 0, &c), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(text, "count"));
    KIT_STATUS(shared, certreg_estimator_bounds(shared, NULL, 1, &b), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(text, "question"));
    KIT_STATUS(shared, certreg_estimator_bounds(shared, &q, 1, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(text, "bounds"));
    KIT_STATUS(shared, certreg_estimator_export(shared, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(text, "bytes"));
    KIT_STATUS(shared, certreg_estimator_import(shared, NULL, 100), CERTREG_E_CORRUPT);
    check_usable();
}
END_TEST

START_TEST(every_status_has_a_text_of_its_own)
{
    for (certreg_status i = CERTREG_OK; i <= CERTREG_E_BUSY; i++) {
        ck_assert_uint_gt(strlen(certreg_status_text(i)), 1);
        ck_assert_str_ne(certreg_status_text(i), "unknown status");
        for (certreg_status j = CERTREG_OK; j < i; j++)
            ck_assert_str_ne(certreg_status_text(i), certreg_status_text(j));
    }
    ck_assert_str_eq(certreg_status_text(-1), "unknown status");
    ck_assert_str_eq(certreg_status_text(CERTREG_E_BUSY + 1), "unknown status");
    ck_assert_uint_eq(certreg_version(), CERTREG_VERSION_NUMBER);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refusals");
    TCase *typical = kit_case(suite, "typical", 30), *limits = kit_case(suite, "limits", 30),
          *bad_input = kit_case(suite, "bad_input", 60);
    TCase *const cases[] = {typical, limits, bad_input};
    for (int i = 0; i < 3; i++) tcase_add_checked_fixture(cases[i], make_shared, free_shared);
    tcase_add_test(typical, every_status_has_a_text_of_its_own);
    tcase_add_test(typical, what_was_recorded_before_a_failure_stays);
    tcase_add_test(typical, models_without_eval_can_only_draw_and_record);
    tcase_add_test(limits, noise_of_1024_units_in_the_last_place_is_enough);
    tcase_add_test(limits, range_ends_are_inside_the_range);
    tcase_add_test(limits, tolerances_of_angles_have_a_limit);
    tcase_add_test(limits, samples_beyond_the_capacity_are_too_many);
    tcase_add_test(limits, too_few_samples_for_the_question_are_a_wrong_state);
#ifndef __SANITIZE_ADDRESS__
    tcase_add_test(limits, memory_that_does_not_exist_is_a_status);
    tcase_add_test(limits, plans_take_no_more_noise_than_a_level_has);
#endif
    tcase_add_loop_test(bad_input, creation_names_the_field_that_it_refuses, 0, KIT_ROWS(creation));
    tcase_add_test(bad_input, empty_or_half_open_ranges_are_refused);
    tcase_add_loop_test(bad_input, inputs_that_float_cannot_carry_are_refused_by_feature, 0,
                        KIT_ROWS(beginnings));
    tcase_add_loop_test(bad_input, failures_of_the_model_are_told_by_sample_row_and_output, 0,
                        KIT_ROWS(illnesses));
    tcase_add_test(bad_input, rows_that_cannot_be_recorded_leave_the_record_as_it_was);
    tcase_add_loop_test(bad_input, questions_name_the_field_that_is_refused, 0,
                        KIT_ROWS(questions));
    tcase_add_loop_test(bad_input, combinations_name_the_field_that_is_refused, 0,
                        KIT_ROWS(combinations));
    tcase_add_test(bad_input, plans_without_what_a_question_needs_refuse_it);
    tcase_add_test(bad_input, nothing_works_before_the_first_begin);
    tcase_add_test(bad_input, sides_belong_to_promises);
    tcase_add_loop_test(bad_input, bounds_that_contradict_each_other_are_refused, 0,
                        KIT_ROWS(bounds));
    tcase_add_test(bad_input, solver_and_bisection_name_arguments_that_they_refuse);
    tcase_add_test(bad_input, null_handles_are_invalid);
    tcase_add_test(bad_input, null_arguments_of_creation_are_named);
    tcase_add_test(bad_input, null_arguments_of_calls_are_named);
    return kit_run(suite);
}
