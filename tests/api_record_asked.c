/* A record that was asked and then carried to another estimator: it answers there as it would have
 * answered here, and settings under which it would answer otherwise are refused. */
#include "support/curve_model.h"
#include "support/half_space.h"

static certreg_certificate ask_for(certreg_estimator *from, size_t samples, double wanted,
                                   int32_t method)
{
    certreg_question q =
        QUESTION(.tolerance = 0.6, .target = asks_target(wanted), .method = method);
    return kit_ask(from, samples, q);
}

/* The error where the record of one is refused by the other. */
static const certreg_error *refusal(certreg_estimator *from, certreg_estimator *to)
{
    static unsigned char record[8192];
    KIT_STATUS(to, certreg_estimator_import(to, record, kit_export(from, record, sizeof record)),
               CERTREG_E_MISMATCH);
    return certreg_estimator_error(to);
}

static certreg_status plain_status(certreg_estimator *from, size_t samples)
{
    certreg_question q = kit_question(0.6);
    certreg_certificate c = kit_certificate();
    return certreg_certify(from, samples, &q, 1, &c);
}

TEST_TIMES(a_group_test_is_not_begun_again_under_another_capacity, 2)
{
    certreg_estimator *a = curve_estimator(200, 40), *b = curve_estimator(1500, 40);
    const double wanted = _i ? 0.28 : 0.1; /* out of reach, and proven */
    const certreg_certificate first = ask_for(a, 200, wanted, CERTREG_METHOD_FINITE);
    carry(a, b);
    rows_asked = 0;
    const certreg_certificate second = ask_for(b, 1500, wanted, CERTREG_METHOD_FINITE);
    ck_assert_uint_eq(rows_asked, 0);
    ck_assert_mem_eq(&first, &second, sizeof first);
    ck_assert_int_eq(first.radius >= wanted, !_i);
    ck_assert_int_eq(plain_status(b, 1500), CERTREG_E_WRONG_STATE);
}

/* The rule that takes a prediction from the pilot has another constant beyond 1000 samples. */
TEST(an_answer_at_any_time_goes_on_under_a_larger_capacity)
{
    certreg_estimator *a = curve_estimator(200, 40), *b = curve_estimator(1500, 40),
                      *never_asked = curve_estimator(1500, 40);
    KIT_OK(a, certreg_estimator_sample(a, 0, 200));
    const certreg_certificate first = ask_for(a, 0, 0, CERTREG_METHOD_ANYTIME);
    carry(a, b);
    const certreg_certificate second = ask_for(b, 0, 0, CERTREG_METHOD_ANYTIME);
    ck_assert_mem_eq(&first, &second, sizeof first);
    const certreg_certificate more = ask_for(b, 1500, 0, CERTREG_METHOD_ANYTIME);
    ck_assert_double_eq(more.prediction, first.prediction);
    ck_assert_double_gt(more.radius, first.radius);
    ck_assert_uint_eq(more.samples, 1500);
    ck_assert_double_ne(ask_for(never_asked, 1500, 0, CERTREG_METHOD_ANYTIME).prediction,
                        first.prediction); /* or this would show nothing */
}

TEST(records_that_were_both_asked_keep_the_number_that_both_had_fixed)
{
    certreg_estimator *a = curve_estimator(200, 40), *b = curve_estimator(200, 40),
                      *c = curve_estimator(300, 40), *d = curve_estimator(200, 40);
    KIT_OK(a, certreg_estimator_sample(a, 0, 80));
    KIT_OK(b, certreg_estimator_sample(b, 0, 80));
    certreg_estimator_set_deadline(a, 1e-9);
    ck_assert_uint_eq(ask_for(a, 120, 0, CERTREG_METHOD_FINITE).samples, 80); /* 80 and 120 */
    certreg_estimator_set_deadline(a, 0);
    KIT_OK(b, certreg_estimator_sample(b, 0, 120));
    ask_for(b, 0, 0, CERTREG_METHOD_FINITE); /* 120 */
    ck_assert_int_eq(plain_status(a, 0), CERTREG_OK);
    carry(b, a);
    ck_assert_int_eq(plain_status(a, 0), CERTREG_OK);
    KIT_OK(d, certreg_estimator_sample(d, 0, 80));
    ask_for(d, 0, 0, CERTREG_METHOD_FINITE); /* 80 */
    carry(d, a);
    ck_assert_int_eq(plain_status(a, 0), CERTREG_E_WRONG_STATE);
    KIT_OK(c, certreg_estimator_sample(c, 0, 80));
    ask_for(c, 0, 0, CERTREG_METHOD_FINITE);
    KIT_SAYS(refusal(c, a), "max_samples");
}

/* Samples beyond a gap, which the call closes, make the record longer than the call asked for. */
TEST(a_record_that_outgrew_the_first_request_is_taken_back)
{
    certreg_estimator *a = curve_estimator(200, 40), *b = curve_estimator(200, 40);
    KIT_OK(a, certreg_estimator_sample(a, 100, 20));
    const certreg_certificate first = ask_for(a, 100, 0, CERTREG_METHOD_FINITE);
    ck_assert_uint_eq(first.samples, 120);
    carry(a, b);
    const certreg_certificate second = ask_for(b, 0, 0, CERTREG_METHOD_FINITE);
    ck_assert_mem_eq(&first, &second, sizeof first);
}

KIT_MAIN("asked elsewhere")
