/* What of denoisers is refused, by the name of the field, the example or the argument. */
#include "support/bad_field.h"
#include <certreg/denoiser.h>

enum { D = 4, ROWS = 50 };

static float examples[ROWS * D];

static void fill_examples(void)
{
    for (size_t i = 0; i < (size_t)ROWS * D; i++) examples[i] = (float)(i * 7919 % 1009) / 500;
}

typedef struct source {
    const float *rows;
    int pass, fail_at; /* 0: does not */
} source;

static int read_rows(void *user, uint64_t first, size_t count, float *x)
{
    source *s = user;
    s->pass += first == 0;
    memcpy(x, s->rows + first * D, count * D * sizeof *x);
    return s->pass == s->fail_at ? 7 : 0;
}

static void destroy(void *d)
{
    certreg_denoiser_destroy(d);
}

static certreg_denoiser_plan plan_of(source *s)
{
    return STRUCT(certreg_denoiser_plan, .inputs = D, .rows = ROWS, .read = read_rows, .user = s,
                  .sigma = 1);
}

static const float negative[D] = {1, -1, 1, 1}, none[D], endless[D] = {1, 1, INFINITY, 1};
static const float tiny[D] = {1e-38f, 1, 1, 1}, small[D] = {1e-10f, 1, 1, 1};

#define FIELD(name) CERTREG_E_INVALID, offsetof(certreg_denoiser_plan, name)
static const spoil bad_plans[] = {
    {"plan.inputs is 0", FIELD(inputs), 'z', .size = 0},
    {"plan.inputs", FIELD(inputs), 'z', .size = SIZE_MAX},
    {"at least 2 examples", FIELD(rows), 'z', .size = 0},
    {"plan.rows is 1", FIELD(rows), 'z', .size = 1},
    {"plan.read is NULL", FIELD(read), 'p', .pointer = NULL},
    {"plan.sigma is 0", FIELD(sigma), 'd', .number = 0},
    {"plan.sigma is -1", FIELD(sigma), 'd', .number = -1},
    {"plan.sigma is nan", FIELD(sigma), 'd', .number = NAN},
    {"plan.sigma is inf", FIELD(sigma), 'd', .number = INFINITY},
    {"plan.sigma*scale[0] is 1e-200", FIELD(sigma), 'd', .number = 1e-200},
    {"plan.sigma*scale[0] is 1e+34", FIELD(sigma), 'd', .number = 1e34},
    {"plan.components is 4097", FIELD(components), 'z', .size = 4097},
    {"plan.scale[1] is -1", FIELD(scale), 'p', .pointer = negative},
    {"plan.scale[2] is inf", FIELD(scale), 'p', .pointer = endless},
    {"nothing gets noise", FIELD(scale), 'p', .pointer = none},
    {"plan.sigma*scale[0] is 1e-38", FIELD(scale), 'p', .pointer = tiny},
    {"feature 0 of the examples deviates", FIELD(scale), 'p', .pointer = small},
    {"plan.reserved", FIELD(reserved), 'i', .number = 1},
    {"plan.struct_size is 8", FIELD(struct_size), 'i', .number = 8},
};

TEST_ROWS(denoiser_create_names_the_wrong_field_of_the_plan, bad_plans)
{
    source s = {.rows = examples};
    certreg_error why = {.struct_size = sizeof why};
    certreg_denoiser *d = (certreg_denoiser *)&s;
    certreg_denoiser_plan p = plan_of(&s);
    apply(&p, bad_plans + _i);
    ck_assert_int_eq(certreg_denoiser_create(&p, &why, &d), CERTREG_E_INVALID);
    check_sentence(&why, bad_plans + _i);
    ck_assert_ptr_null(d);
}

TEST_TIMES(denoiser_create_ends_if_its_source_fails, CERTREG_DENOISER_PASSES)
{
    source s = {.rows = examples, .fail_at = _i + 1};
    certreg_error why = {.struct_size = sizeof why};
    certreg_denoiser *d;
    const certreg_denoiser_plan p = plan_of(&s);
    ck_assert_int_eq(certreg_denoiser_create(&p, &why, &d), CERTREG_E_MODEL_FAILED);
    KIT_SAYS(&why, "plan.read returned 7");
    ck_assert_int_eq(why.code, 7);
    ck_assert_ptr_null(d);
}

TEST(denoiser_create_names_an_example_that_is_not_finite)
{
    float x[50 * D];
    memcpy(x, examples, sizeof x);
    x[50 * D - 1] = NAN; /* the last number of all */
    source s = {.rows = x};
    certreg_error why = {.struct_size = sizeof why};
    certreg_denoiser *d;
    const certreg_denoiser_plan p = plan_of(&s);
    ck_assert_int_eq(certreg_denoiser_create(&p, &why, &d), CERTREG_E_INVALID);
    KIT_SAYS(&why, "feature 3 of example 49 is nan");
}

TEST(denoiser_functions_refuse_null_arguments)
{
    source s = {.rows = examples};
    certreg_denoiser *d = NULL;
    const certreg_denoiser_plan p = plan_of(&s);
    ck_assert_int_eq(certreg_denoiser_create(&p, NULL, &d), CERTREG_OK);
    kit_close_later(destroy, d);
    certreg_denoiser_facts f = {.struct_size = sizeof f, .inputs = 7};
    size_t bytes = 0;
    float y[D];
    ck_assert_int_eq(certreg_denoiser_create(&p, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_import(&s, sizeof s, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(NULL, examples, 1, y), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, NULL, 1, y), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, examples, 1, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, NULL, 0, NULL), CERTREG_OK);
    float both[3 * D] = {0};
    ck_assert_int_eq(certreg_denoiser_apply(d, both, 2, both), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, both, 2, both + D), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, both + D, 2, both), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, both + D, 1, both), CERTREG_OK);
    ck_assert_int_eq(certreg_denoiser_export(NULL, NULL, &bytes), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_export(d, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_info(NULL, &f), CERTREG_E_INVALID);
    ck_assert_uint_eq(f.inputs, 0);
    ck_assert_int_eq(certreg_denoiser_info(d, NULL), CERTREG_E_INVALID);
    certreg_denoiser_destroy(NULL);
}

FIXTURE(fill_examples, NULL)
KIT_MAIN("api_errors_denoiser")
