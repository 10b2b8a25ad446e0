/* What a record that was asked may still be asked (theory 5.2). How often callers who try twice are
 * wrong: cover_optional_stopping.c. */
#include "support/half_space.h"
#include "support/curve_model.h"

/* Whether a plain question is answered at so many samples; what is refused is refused before the
 * model is called. */
static int answers(half_space *h, certreg_estimator *e, size_t samples)
{
    certreg_certificate c = kit_certificate();
    const certreg_question plain = wish(0, CERTREG_METHOD_FINITE);
    const size_t before = h->calls;
    const certreg_status status = certreg_certify(e, samples, &plain, 1, &c);
    if (!status) return 1;
    ck_assert_int_eq(status, CERTREG_E_WRONG_STATE);
    KIT_SAYS(certreg_estimator_error(e), "ANYTIME");
    ck_assert_uint_eq(h->calls, before);
    ck_assert_double_eq(c.radius, 0);
    return 0;
}

TEST(record_answers_a_fixed_number_only_at_its_first_evaluation)
{
    half_space h = {.face = 2};
    certreg_estimator *e = make(&h, 1, 1);
    certreg_bounds b = {.struct_size = sizeof b};
    certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    ck_assert(answers(&h, e, 100));
    q.tolerance = 2; /* later questions about the same samples are welcome */
    kit_ask(e, 0, q);
    kit_ask(e, 100, q);
    KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &b));
    ck_assert(!answers(&h, e, 200));
    kit_ask(e, 200, wish(0, CERTREG_METHOD_ANYTIME));
    ck_assert(!answers(&h, e, 0));
    KIT_STATUS(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &b), CERTREG_E_WRONG_STATE);
    kit_ask(e, CAPACITY, wish(1.9, CERTREG_METHOD_FINITE));
    ck_assert(!answers(&h, e, CAPACITY));
}

static void first_by_bounds(certreg_estimator *e)
{
    certreg_bounds b = {.struct_size = sizeof b};
    const certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &b));
}

static void first_by_forecast(certreg_estimator *e)
{
    certreg_forecast f = {.struct_size = sizeof f};
    const certreg_question q = wish(1, CERTREG_METHOD_FINITE);
    KIT_OK(e, certreg_estimator_forecast(e, &q, &f));
}

static void first_at_any_time(certreg_estimator *e)
{
    kit_ask(e, 0, wish(0, CERTREG_METHOD_ANYTIME));
}

static void first_by_a_wish(certreg_estimator *e)
{
    kit_ask(e, 0, wish(1, CERTREG_METHOD_FINITE));
}

static void (*const ways_to_ask[])(certreg_estimator *) = {first_by_bounds, first_by_forecast,
                                                           first_at_any_time, first_by_a_wish};

TEST_ROWS(record_number_is_fixed_by_any_evaluation, ways_to_ask)
{
    half_space h = {.face = 2};
    certreg_estimator *e = make(&h, 1, 1);
    first_by_forecast(e); /* tells nothing yet */
    KIT_OK(e, certreg_estimator_sample(e, 0, 100));
    ways_to_ask[_i](e);
    ck_assert(answers(&h, e, 0));
    ck_assert(!answers(&h, e, 200));
}

TEST(record_number_is_left_open_by_a_refused_call)
{
    half_space h = {.face = 2};
    certreg_estimator *e = make(&h, 1, 1);
    certreg_certificate c = kit_certificate();
    certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    q.alpha = 2;
    KIT_STATUS(e, certreg_certify(e, 100, &q, 1, &c), CERTREG_E_INVALID);
    ck_assert(answers(&h, e, 200));
}

/* It has seen the outputs of its batch, and may fail because of them. */
TEST(record_of_a_failed_model_keeps_the_requested_number)
{
    half_space h = {.face = 2, .fail_at = 4, .fail_code = 5};
    certreg_estimator *e = make(&h, 1, 1);
    certreg_certificate c = kit_certificate();
    const certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    KIT_STATUS(e, certreg_certify(e, 100, &q, 1, &c), CERTREG_E_MODEL_FAILED);
    KIT_STATUS(e, certreg_certify(e, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
    ck_assert(!answers(&h, e, 200));
    ck_assert(answers(&h, e, 100));
}

static int no_number_in_its_fifth_batch(void *user, const certreg_batch *b)
{
    const half_space *h = user;
    const int code = beyond(user, b);
    if (h->calls == 5) b->y[0] = NAN;
    return code;
}

/* The looks before it did not prove the radius, so they have chosen where it was. */
TEST_TIMES(record_failure_after_a_look_keeps_the_requested_number, 2)
{
    half_space h = {.face = 1.4, .fail_at = _i ? 0 : 5, .fail_code = 5};
    certreg_estimator *e = make_with(_i ? no_number_in_its_fifth_batch : beyond, &h, 1, 4);
    certreg_certificate c = kit_certificate();
    certreg_question q = wish(1.35, CERTREG_METHOD_FINITE);
    q.target = asks_looks(1.35, (const uint64_t[]){40, 120, 1000}, 3);
    KIT_STATUS(e, certreg_certify(e, 1000, &q, 1, &c),
               _i ? CERTREG_E_NOT_FINITE : CERTREG_E_MODEL_FAILED);
    ck_assert(!answers(&h, e, 120));
    if (_i) { /* the sample gets no second value */
        KIT_STATUS(e, certreg_certify(e, 1000, &q, 1, &c), CERTREG_E_NOT_FINITE);
        return;
    }
    ck_assert_uint_gt(kit_ask(e, 1000, q).samples, 120); /* its own looks remain */
    ck_assert(answers(&h, e, 1000));
}

static certreg_estimator *with_pilot(certreg_eval eval, half_space *h, size_t pilot)
{
    certreg_model m = kit_model(eval, h, 2, 1);
    certreg_plan p = kit_plan(CAPACITY);
    m.batch = BATCH, p.pilot = pilot;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0}, 1, 1));
    return e;
}

TEST(record_failure_within_the_pilot_leaves_the_number_open)
{
    half_space h = {.face = 2, .fail_at = 2, .fail_code = 5};
    certreg_estimator *e = with_pilot(beyond, &h, 2 * BATCH);
    certreg_certificate c = kit_certificate();
    const certreg_question q = kit_question(1);
    KIT_STATUS(e, certreg_certify(e, 100, &q, 1, &c), CERTREG_E_MODEL_FAILED);
    ck_assert_uint_eq(kit_ask(e, 200, q).samples, 200);
}

static int no_number_in_its_first_row(void *user, const certreg_batch *b)
{
    const half_space *h = user;
    const int code = beyond(user, b);
    if (h->calls == 1) b->y[0] = NAN;
    return code;
}

/* Had it not failed, the caller could have gone on to any number. */
TEST(record_failure_of_plain_sampling_leaves_no_number)
{
    half_space h = {.face = 2, .fail_at = 4, .fail_code = 5};
    certreg_estimator *e = make(&h, 1, 1);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 100), CERTREG_E_MODEL_FAILED);
    KIT_OK(e, certreg_estimator_sample(e, 0, 100));
    ck_assert(!answers(&h, e, 0));
    KIT_SAYS(certreg_estimator_error(e), "sampling failed");
    ck_assert(!answers(&h, e, 200));
    kit_ask(e, 200, wish(0, CERTREG_METHOD_ANYTIME));
}

/* It has seen all rows of its batch, even where only the pilot's are used. */
TEST_TIMES(record_failure_beside_main_samples_leaves_no_number, 2)
{
    half_space h = {.face = 2, .fail_at = _i ? 0 : 1, .fail_code = 5};
    certreg_estimator *e = with_pilot(_i ? no_number_in_its_first_row : beyond, &h, BATCH / 2);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, BATCH / 2),
               _i ? CERTREG_E_NOT_FINITE : CERTREG_E_MODEL_FAILED);
    ck_assert(!answers(&h, e, 100));
    if (!_i) kit_ask(e, 100, wish(0, CERTREG_METHOD_ANYTIME));
}

/* By an engine with its own loop: main sample 40 is no number, 39 others of its call are. */
TEST(record_given_no_number_is_as_one_that_the_model_gave_it)
{
    half_space h = {.face = 2};
    certreg_estimator *e = with_pilot(NULL, &h, 20);
    float y[100] = {0};
    unsigned char half[512];
    size_t bytes = sizeof half;
    certreg_certificate c = kit_certificate();
    const certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    KIT_OK(e, certreg_estimator_record(e, 40, 1, y)); /* elsewhere, this sample was a number */
    KIT_OK(e, certreg_estimator_export(e, half, &bytes));
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0}, 1, 1));
    KIT_OK(e, certreg_estimator_record(e, 0, 30, y));
    y[10] = NAN;
    KIT_STATUS(e, certreg_estimator_record(e, 30, 40, y), CERTREG_E_NOT_FINITE);
    KIT_STATUS(e, certreg_certify(e, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
    y[10] = 0;
    KIT_STATUS(e, certreg_estimator_record(e, 30, 40, y), CERTREG_E_NOT_FINITE);
    KIT_SAYS(certreg_estimator_error(e), "sample 40 was not finite when it came first");
    KIT_STATUS(e, certreg_estimator_import(e, half, bytes), CERTREG_E_MISMATCH);
    KIT_OK(e, certreg_estimator_record(e, 30, 10, y)); /* the others remain welcome */
    kit_ask(e, 0, wish(0, CERTREG_METHOD_ANYTIME));
    KIT_STATUS(e, certreg_certify(e, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
}

/* The half-space again, but what lies beyond it is no number. */
static int not_a_number_beyond(void *user, const certreg_batch *b)
{
    const int code = beyond(user, b);
    for (size_t i = 0; i < b->rows * b->columns; i++)
        if (b->y[i] > 0) b->y[i] = NAN;
    return code;
}

TEST(record_of_outputs_that_were_refused_has_no_free_number)
{
    certreg_estimator *e = make_with(not_a_number_beyond, &(half_space){.face = 2}, 1, 1);
    certreg_certificate c = kit_certificate();
    const certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    KIT_STATUS(e, certreg_certify(e, 1000, &q, 1, &c), CERTREG_E_NOT_FINITE);
    KIT_STATUS(e, certreg_certify(e, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
    c = kit_ask(e, 0, wish(0, CERTREG_METHOD_ANYTIME));
}

/* Every sample by itself, and none in the record: the errors tell the outputs all the same. */
TEST(record_counts_outputs_in_errors_as_evaluated)
{
    half_space h = {.face = -40}; /* everything lies beyond */
    unsigned char record[512];
    size_t bytes = sizeof record;
    certreg_estimator *e = make_with(not_a_number_beyond, &h, 1, 1);
    const size_t main_sample = 400;
    KIT_STATUS(e, certreg_estimator_sample(e, main_sample, 1), CERTREG_E_NOT_FINITE);
    KIT_OK(e, certreg_estimator_export(e, record, &bytes));
    certreg_estimator *wide = make(&h, 1, 1);
    h.face = 2;
    KIT_OK(wide, certreg_estimator_import(wide, record, bytes));
    ck_assert(!answers(&h, wide, main_sample + 100));
    ck_assert(!answers(&h, wide, main_sample + 1)); /* without the error it could be another */
}

TEST_TIMES(record_number_is_left_open_by_a_target_out_of_reach, 4)
{
    half_space h = {.face = 2};
    certreg_estimator *e = make(&h, 1, 1);
    if (_i % 2) KIT_OK(e, certreg_estimator_sample(e, 0, 100));
    const certreg_certificate c = kit_ask(e, CAPACITY, wish(20, sequential[_i / 2]));
    ck_assert_int_eq(c.stop, CERTREG_STOP_HOPELESS);
    ck_assert_uint_eq(c.samples, _i % 2 ? 100 : 0);
    ck_assert(answers(&h, e, 100));
}

TEST_TIMES(record_after_an_interrupted_target_is_for_all_samples, 4)
{
    half_space h = {.face = 1.4, .cancel_at = _i % 2 ? 0 : 5};
    certreg_estimator *e = make(&h, 1, 4);
    if (_i % 2) {
        KIT_OK(e, certreg_estimator_sample(e, 0, 100));
        certreg_estimator_set_deadline(e, 1e-9);
    }
    const certreg_certificate c = kit_ask(e, 1000, wish(1.35, sequential[_i / 2]));
    ck_assert_int_eq(c.stop, _i % 2 ? CERTREG_STOP_DEADLINE : CERTREG_STOP_CANCELLED);
    ck_assert_uint_eq(c.samples, 100);
    ck_assert_double_lt(c.radius, 1.35);
    certreg_estimator_set_deadline(e, INFINITY);
    ck_assert(!answers(&h, e, 0));
    ck_assert(!answers(&h, e, 200));
    ck_assert(!answers(&h, e, CAPACITY));
    ck_assert(answers(&h, e, 1000));
}

TEST(record_after_an_interrupted_call_resumes_to_its_number)
{
    half_space h = {.face = 1.4, .cancel_at = 5};
    certreg_estimator *e = make(&h, 1, 4);
    const certreg_certificate c = kit_ask(e, 1000, wish(0, CERTREG_METHOD_FINITE));
    ck_assert_int_eq(c.stop, CERTREG_STOP_CANCELLED);
    ck_assert_double_gt(c.radius, 0);
    ck_assert(answers(&h, e, 0));
    ck_assert(!answers(&h, e, 200));
    ck_assert(answers(&h, e, 1000));
}

TEST_TIMES(record_refuses_looks_after_an_answer, 2)
{
    const uint64_t looks[2] = {200, 400};
    certreg_estimator *e = make(&(half_space){.face = 2}, 1, 1);
    certreg_question q = wish(1, CERTREG_METHOD_FINITE);
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_estimator_sample(e, 0, 200));
    if (_i)
        q.target = asks_looks(q.target->radius, looks, 2); /* which later questions may bring again
                                                            */
    kit_ask(e, 0, q);
    q.target = asks_looks(q.target->radius, looks, 2);
    KIT_STATUS(e, certreg_certify(e, 0, &q, 1, &c), _i ? CERTREG_OK : CERTREG_E_WRONG_STATE);
    q.target = asks_looks(1, looks, 1);
    kit_refuses(e, 0, q, CERTREG_E_WRONG_STATE, "looks");
    q.method = CERTREG_METHOD_ANYTIME; /* where looks do not matter */
    kit_ask(e, 0, q);
}

/* A later question may be about another radius, whose looks follow from the same growth. */
TEST(record_keeps_the_growth_of_its_first_question)
{
    certreg_estimator *e = make(&(half_space){.face = 2}, 1, 1);
    certreg_question q = wish(1, CERTREG_METHOD_FINITE);
    q.target = asks_growth(1, 1.5);
    kit_ask(e, CAPACITY, q);
    q.target = asks_growth(1.2, 1.5);
    ck_assert_double_ge(kit_ask(e, CAPACITY, q).radius, 1.2);
    q.target = asks_growth(1.2, 1.25);
    kit_refuses(e, 0, q, CERTREG_E_WRONG_STATE, "growth");
    q.method = CERTREG_METHOD_ANYTIME;
    kit_ask(e, 0, q);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0}, 1, 2));
    kit_ask(e, CAPACITY, wish(1, CERTREG_METHOD_FINITE));
    q.method = CERTREG_METHOD_FINITE;
    kit_refuses(e, 0, q, CERTREG_E_WRONG_STATE, "growth");
}

TEST_TIMES(record_answers_at_any_time_do_not_depend_on_the_batch, 2)
{
    static const size_t batches[] = {1, 7, 64, 1000};
    double radius = 0;
    for (int i = 0; i < 4; i++) {
        half_space h = {.face = 1.3};
        certreg_model m = kit_model(beyond, &h, 2, 1);
        m.batch = batches[i];
        certreg_plan p = kit_plan(CAPACITY);
        p.pilot = SIZE_MAX;
        certreg_estimator *e = kit_create(NULL, &m, &p);
        KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0}, 1, 12));
        /* looks on its own before */
        if (_i) kit_ask(e, 2345, wish(1.25, CERTREG_METHOD_ANYTIME));
        const double now = kit_ask(e, 2345, wish(0, CERTREG_METHOD_ANYTIME)).radius;
        if (i) ck_assert_double_eq(now, radius);
        radius = now;
    }
}

/* ---- carried to another estimator it answers as it would have here, or is refused */
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

TEST_TIMES(record_group_test_is_not_begun_again_at_another_capacity, 2)
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
TEST(record_at_any_time_goes_on_at_a_larger_capacity)
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

TEST(record_import_keeps_the_number_that_both_have_fixed)
{
    certreg_estimator *a = curve_estimator(200, 40), *b = curve_estimator(200, 40),
                      *c = curve_estimator(300, 40), *d = curve_estimator(200, 40);
    KIT_OK(a, certreg_estimator_sample(a, 0, 80));
    KIT_OK(b, certreg_estimator_sample(b, 0, 80));
    certreg_estimator_set_deadline(a, 1e-9);
    ck_assert_uint_eq(ask_for(a, 120, 0, CERTREG_METHOD_FINITE).samples, 80); /* 80 and 120 */
    certreg_estimator_set_deadline(a, INFINITY);
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
TEST(record_longer_than_its_first_request_is_imported)
{
    certreg_estimator *a = curve_estimator(200, 40), *b = curve_estimator(200, 40);
    KIT_OK(a, certreg_estimator_sample(a, 100, 20));
    const certreg_certificate first = ask_for(a, 100, 0, CERTREG_METHOD_FINITE);
    ck_assert_uint_eq(first.samples, 120);
    carry(a, b);
    const certreg_certificate second = ask_for(b, 0, 0, CERTREG_METHOD_FINITE);
    ck_assert_mem_eq(&first, &second, sizeof first);
}

KIT_MAIN("asked again")
