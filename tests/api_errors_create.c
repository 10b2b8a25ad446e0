/* What create refuses, with which status, and that the message names the culprit. */
#include "support/bad_field.h"
#include "support/api_kit.h"
#include <float.h>
#include <string.h>

/* ---- create */
typedef struct request {
    certreg_model model;
    certreg_plan plan;
} request;

#define OF_MODEL(field) offsetof(request, model.field)
#define OF_PLAN(field) offsetof(request, plan.field)
static const float all_zero[3] = {0, 0, 0}, negative[3] = {1, -1, 1}, not_a_number[3] = {1, 1, NAN},
                   infinite[3] = {INFINITY, 1, 1};
static const int32_t unknown_kind[2] = {0, 3}, negative_kind[2] = {-1, 0},
                     angle[2] = {CERTREG_OUTPUT_ANGLE, CERTREG_OUTPUT_REAL};
static const double ends_lo[2] = {0, 2}, ends_hi[2] = {1, 2}, end_nan[2] = {0, NAN},
                    half_lo[2] = {0, -INFINITY};
static _Alignas(64) unsigned char memory[192];

static const spoil creation[] = {
    {"model", CERTREG_E_INVALID, OF_MODEL(struct_size), 'i', .number = 0},
    {"model", CERTREG_E_INVALID, OF_MODEL(struct_size), 'i', .number = sizeof(certreg_model) - 8},
    {"model", CERTREG_E_INVALID, OF_MODEL(struct_size), 'i', .number = sizeof(certreg_model) + 1},
    {"plan", CERTREG_E_INVALID, OF_PLAN(struct_size), 'i', .number = 0},
    {"model.reserved", CERTREG_E_INVALID, OF_MODEL(reserved), 'i', .number = 1},
    {"model.inputs", CERTREG_E_INVALID, OF_MODEL(inputs), 'z', .size = 0},
    {"model.outputs", CERTREG_E_INVALID, OF_MODEL(outputs), 'z', .size = 0},
    {"inputs", CERTREG_E_NO_MEMORY, OF_MODEL(inputs), 'z', .size = SIZE_MAX},
    {"inputs", CERTREG_E_NO_MEMORY, OF_MODEL(inputs), 'z', .size = SIZE_MAX / 8},
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
    {"plan.blocks", CERTREG_E_INVALID, OF_PLAN(blocks), 'z', .size = 1},
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

TEST(create_refuses_empty_or_half_open_ranges)
{
    certreg_model m = kit_model(kit_identity, NULL, 3, 2);
    const certreg_plan p = kit_plan(1000);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    m.lo = ends_lo, m.hi = ends_hi; /* the second is [2, 2] */
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
    KIT_SAYS(&why, "model.lo[1]");
    m.lo = ends_hi, m.hi = ends_lo; /* the first is [1, 0] */
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
    KIT_SAYS(&why, "model.lo[0]");
    m.kind = angle, m.lo = half_lo, m.hi = NULL; /* a turn that never ends */
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
    KIT_SAYS(&why, "turn");
    static const double least[2] = {-1.7e308, 0}, most[2] = {1.7e308, 1};
    m.lo = least, m.hi = most; /* a turn whose length is no double */
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
    KIT_SAYS(&why, "turn");
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
    certreg_model m = kit_model(NULL, NULL, INPUTS, 1);
    m.batch = ROWS;
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
    const certreg_model m = kit_model(kit_identity, NULL, 3, 1);
    const certreg_plan p = kit_plan(100);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    size_t bytes;
    ck_assert_int_eq(certreg_estimator_create(NULL, NULL, &p, &why, &e), CERTREG_E_INVALID);
    KIT_SAYS(&why, "model");
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, NULL, &why, &e), CERTREG_E_INVALID);
    KIT_SAYS(&why, "plan");
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, NULL), CERTREG_E_INVALID);
    KIT_SAYS(&why, "out");
    ck_assert_int_eq(certreg_estimator_size(NULL, NULL, &p, &why, &bytes, NULL), CERTREG_E_INVALID);
    KIT_SAYS(&why, "model");
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, NULL, &why, &bytes, NULL), CERTREG_E_INVALID);
    KIT_SAYS(&why, "plan");
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, &why, NULL, NULL), CERTREG_E_INVALID);
    KIT_SAYS(&why, "bytes is NULL");
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, NULL), CERTREG_E_INVALID);
}

TEST(status_text_is_different_for_every_status)
{
    for (certreg_status i = CERTREG_OK; i <= CERTREG_E_PLATFORM; i++) {
        ck_assert_uint_gt(strlen(certreg_status_text(i)), 1);
        ck_assert_str_ne(certreg_status_text(i), "unknown status");
        for (certreg_status j = CERTREG_OK; j < i; j++)
            ck_assert_str_ne(certreg_status_text(i), certreg_status_text(j));
    }
    ck_assert_str_eq(certreg_status_text(-1), "unknown status");
    ck_assert_str_eq(certreg_status_text(CERTREG_E_PLATFORM + 1), "unknown status");
    ck_assert_uint_eq(certreg_version(), CERTREG_VERSION_NUMBER);
}

/* ---- numbers too large for a mean: what is refused names what the caller gave */
static const float origin[3];
static const double size[] = {1e-30, 1, 1e16, 1e100, 1e149, 1e151, 1e155, 1e160, 1e216, DBL_MAX};
enum { SIZES = sizeof size / sizeof *size };

static certreg_estimator *with_range(double range)
{
    const double lo[2] = {-range, -range}, hi[2] = {range, range};
    certreg_model m = kit_model(kit_identity, NULL, 3, 2);
    certreg_plan p = kit_plan(300);
    m.lo = lo, m.hi = hi;
    p.pilot = SIZE_MAX;
    p.constraints = CERTREG_CONSTRAINTS_ECGM;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, 1e-3, 0));
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

/* Whatever is within a range of floats is accepted, and so is what is merely beyond it. */
TEST_TIMES(certify_accepts_predictions_near_and_beyond_the_range, 6)
{
    static const double predictions[] = {0, 1, -1, 7, -1e6, 1e13};
    certreg_estimator *e = with_range(1);
    certreg_question q = QUESTION(.tolerance = 0.5, .statistic = CERTREG_STATISTIC_MEAN,
                                  .prediction = predictions + _i);
    certreg_certificate c = kit_ask(e, 300, q);
    ck_assert_int_eq(c.radius > 0, _i == 0);
}

KIT_MAIN("refusals of create")
