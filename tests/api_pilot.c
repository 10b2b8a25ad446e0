/* The pilot: the first call that samples fixes it, and everything later keeps to it. */
#include "support/curve_model.h"

/* The usual pilot of n samples is nearly 0.15 n^2 / (n + 20), 147 of 1000, 447 of 3000 and 1497 of
 * 10000, such that the main samples fill 64 blocks: 832, 2560 and 8512 of them. */
enum { MOST = 10000, TOTAL = 1000, OF_TOTAL = 168, OF_3_TOTAL = 440, OF_MOST = 1488 };
static uint64_t pilot_after(certreg_estimator *e, size_t samples)
{
    certreg_question q = kit_question(0.6);
    q.method = CERTREG_METHOD_ANYTIME;
    kit_ask(e, samples, q);
    return asks_run(e).pilot;
}

TEST(pilot_is_fixed_by_the_first_total_of_certify)
{
    certreg_estimator *e = curve_estimator(MOST, 0);
    ck_assert_uint_eq(pilot_after(e, TOTAL), OF_TOTAL);
    ck_assert_uint_eq(pilot_after(e, 3 * TOTAL), OF_TOTAL);
    KIT_OK(e, certreg_estimator_sample(e, 0, MOST));
    ck_assert_uint_eq(pilot_after(e, 0), OF_TOTAL);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){1, 2}, 0.25, 4));
    ck_assert_uint_eq(pilot_after(e, 3 * TOTAL), OF_3_TOTAL);
}

/* A tenth of the plan is enough for an answer. */
TEST(pilot_of_a_small_total_leaves_main_samples)
{
    certreg_estimator *e = curve_estimator(MOST, 0);
    certreg_certificate c = kit_ask(e, TOTAL, kit_question(0.6));
    ck_assert_uint_eq(rows_asked, TOTAL);
    ck_assert_double_gt(c.radius, 0);
}

TEST_TIMES(pilot_is_fixed_by_the_plan_if_sampled_by_hand, 4)
{
    certreg_estimator *e = curve_estimator(MOST, 0);
    float x[2], y = 1;
    if (_i == 0) KIT_OK(e, certreg_estimator_sample(e, 0, 1));
    if (_i == 1) KIT_OK(e, certreg_estimator_draw(e, 7, 1, x));
    if (_i == 2) KIT_OK(e, certreg_estimator_record(e, 0, 1, &y));
    if (_i == 3) KIT_STATUS(e, certreg_estimator_sample(e, MOST, 1), CERTREG_E_TOO_MANY);
    ck_assert_uint_eq(pilot_after(e, 3 * TOTAL), _i == 3 ? OF_3_TOTAL : OF_MOST);
}

TEST(pilot_is_left_open_by_a_call_that_samples_nothing)
{
    certreg_estimator *e = curve_estimator(MOST, 0);
    certreg_question q = kit_question(-1);
    certreg_certificate c = kit_certificate();
    KIT_STATUS(e, certreg_certify(e, 200, &q, 1, &c), CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_certify(e, MOST + 1, &q, 1, &c), CERTREG_E_INVALID);
    KIT_OK(e, certreg_estimator_set_deadline(e, -1));
    q.tolerance = 0.6;
    c = kit_ask(e, 300, q);
    KIT_OK(e, certreg_estimator_set_deadline(e, INFINITY));
    ck_assert_uint_eq(rows_asked, 0);
    ck_assert_uint_eq(pilot_after(e, TOTAL), OF_TOTAL);
}

TEST(pilot_of_the_plan_is_kept_at_any_total)
{
    certreg_estimator *e = curve_estimator(MOST, 40), *none = curve_estimator(MOST, SIZE_MAX);
    ck_assert_uint_eq(pilot_after(e, TOTAL), 40);
    kit_ask(none, TOTAL, QUESTION(.tolerance = 0.6, .prediction = asks_prediction(1.6)));
    ck_assert_uint_eq(asks_run(none).pilot, 0);
}

/* ---- records */
static unsigned char record[65536];
static size_t record_bytes;

static void save_total(size_t total)
{
    certreg_estimator *e = curve_estimator(MOST, 0);
    pilot_after(e, total);
    record_bytes = sizeof record;
    KIT_OK(e, certreg_estimator_export(e, record, &record_bytes));
}

TEST(pilot_comes_with_an_import)
{
    certreg_estimator *e = curve_estimator(MOST, 0);
    save_total(TOTAL);
    KIT_OK(e, certreg_estimator_import(e, record, record_bytes));
    KIT_OK(e, certreg_estimator_import(e, record, record_bytes)); /* again, to no effect */
    ck_assert_uint_eq(pilot_after(e, 0), OF_TOTAL);
    ck_assert_uint_eq(pilot_after(e, 3 * TOTAL), OF_TOTAL);
}

TEST_TIMES(pilot_of_an_import_must_be_the_same, 3)
{
    certreg_estimator *e = curve_estimator(MOST, _i == 0 ? 40 : _i == 1 ? SIZE_MAX : 0);
    save_total(TOTAL);
    if (_i == 2) KIT_OK(e, certreg_estimator_sample(e, 0, 1));
    KIT_STATUS(e, certreg_estimator_import(e, record, record_bytes), CERTREG_E_MISMATCH);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "plan.pilot"));
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){1, 2}, 0.25, 3));
    KIT_STATUS(e, certreg_estimator_import(e, record, record_bytes),
               _i == 2 ? CERTREG_OK : CERTREG_E_MISMATCH);
}

TEST(pilot_of_an_import_must_be_below_the_plans_samples)
{
    certreg_estimator *e = curve_estimator(100, 0);
    save_total(TOTAL);
    KIT_STATUS(e, certreg_estimator_import(e, record, record_bytes), CERTREG_E_TOO_MANY);
}

TEST(pilot_is_left_open_by_an_empty_record)
{
    certreg_estimator *a = curve_estimator(MOST, 0), *b = curve_estimator(MOST, 40);
    record_bytes = sizeof record;
    KIT_OK(a, certreg_estimator_export(a, record, &record_bytes));
    KIT_OK(b, certreg_estimator_import(b, record, record_bytes));
    ck_assert_uint_eq(pilot_after(b, TOTAL), 40);
    ck_assert_uint_eq(pilot_after(a, TOTAL), OF_TOTAL);
}

KIT_MAIN("pilot")
