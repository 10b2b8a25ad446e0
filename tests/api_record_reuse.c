/* What a record that was asked may still be asked (theory 5.2), here and after an import, and its
 * pilot: the first call that samples fixes it, and everything later keeps to it. How often callers
 * who try twice are wrong: cover_optional_stopping.c. */
#include "support/half_space.h"

/* ---- a half-space of which some outputs are no numbers */
static struct gaps {
    size_t call; /* of which the first output is none, counted from 1 */
    int beyond;  /* as is all that lies beyond */
} none;

static void without_gaps(void)
{
    none = (struct gaps){0};
}

static int beyond_or_none(void *user, const certreg_batch *b)
{
    const half_space *h = user;
    const int code = beyond(user, b);
    if (h->calls == none.call) b->y[0] = NAN;
    for (size_t i = 0; i < b->rows && none.beyond; i++)
        if (b->y[i] > 0) b->y[i] = NAN;
    return code;
}

static certreg_estimator *open_half_space(half_space *h, size_t batch, size_t pilot,
                                          uint64_t noise_id)
{
    certreg_model m = KIT_MODEL(beyond_or_none, h, 2, 1, .batch = batch);
    return h->handle = kit_begun(m, PLAN(.seed = 11, .max_samples = CAPACITY, .pilot = pilot),
                                 (const float[]){0, 0}, 1, noise_id);
}

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
    certreg_estimator *e = open_half_space(&h, BATCH, SIZE_MAX, 1);
    certreg_bounds b = {.struct_size = sizeof b};
    certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    ck_assert(answers(&h, e, 100));
    q.tolerance = 2; /* later questions about the same samples are welcome */
    kit_ask(e, 0, q);
    kit_ask(e, 100, q);
    b = asks_side(e, &q, CERTREG_SIDE_UPPER);
    ck_assert(!answers(&h, e, 200));
    kit_ask(e, 200, wish(0, CERTREG_METHOD_ANYTIME));
    ck_assert(!answers(&h, e, 0));
    KIT_STATUS(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &b), CERTREG_E_WRONG_STATE);
    kit_ask(e, CAPACITY, wish(1.9, CERTREG_METHOD_FINITE));
    ck_assert(!answers(&h, e, CAPACITY));
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0}, 1, 2));
    ck_assert(answers(&h, e, 200)); /* which the input before has not fixed */
}

static void bounds_are_found(certreg_estimator *e)
{
    const certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    asks_side(e, &q, CERTREG_SIDE_UPPER);
}

static void is_forecast(certreg_estimator *e)
{
    asks_forecast(e, wish(1, CERTREG_METHOD_FINITE));
}

static void is_asked_at_any_time(certreg_estimator *e)
{
    kit_ask(e, 0, wish(0, CERTREG_METHOD_ANYTIME));
}

static void is_asked_for_a_target(certreg_estimator *e)
{
    kit_ask(e, 0, wish(1, CERTREG_METHOD_FINITE));
}

static void is_refused(certreg_estimator *e)
{
    certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    q.alpha = 2;
    kit_refuses(e, 100, q, CERTREG_E_INVALID, "");
}

/* ---- what happens to a record, by the row of a table */
#define NO SIZE_MAX
typedef struct scene {
    void (*happens)(certreg_estimator *);            /* to a record of `sampled` samples */
    size_t sampled, asks, fail_at, cancel_at, pilot; /* 0: without a pilot */
    struct gaps none;
    int aims; /* at 1.35, below a face at 1.4; else that is at 2 */
    int32_t method;
    size_t refused[3], answered[2], any_time; /* numbers of samples, in this order */
} scene;

static const scene *now;

static void fails(certreg_estimator *e)
{
    const certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    kit_refuses(e, now->asks, q, none.beyond ? CERTREG_E_NOT_FINITE : CERTREG_E_MODEL_FAILED, "");
}

static void fails_in_sampling(certreg_estimator *e)
{
    KIT_STATUS(e, certreg_estimator_sample(e, 0, now->asks),
               none.call ? CERTREG_E_NOT_FINITE : CERTREG_E_MODEL_FAILED);
    if (now->asks > BATCH) KIT_OK(e, certreg_estimator_sample(e, 0, now->asks));
}

static void is_hopeless(certreg_estimator *e)
{
    for (int i = 0; i < 2; i++) {
        const certreg_certificate c = kit_ask(e, CAPACITY, wish(20, sequential[i]));
        ck_assert_int_eq(c.stop, CERTREG_STOP_HOPELESS);
        ck_assert_uint_eq(c.samples, now->sampled);
    }
}

static void is_stopped(certreg_estimator *e)
{
    const int is_late = !now->cancel_at;
    if (is_late) certreg_estimator_set_deadline(e, 1e-9);
    const certreg_certificate c = kit_ask(e, 1000, wish(now->aims ? 1.35 : 0, now->method));
    ck_assert_int_eq(c.stop, is_late ? CERTREG_STOP_DEADLINE : CERTREG_STOP_CANCELLED);
    ck_assert_uint_eq(c.samples, 100);
    ck_assert(now->aims ? c.radius < 1.35 : c.radius > 0);
    certreg_estimator_set_deadline(e, INFINITY);
}

/* A model that fails has seen the outputs of its batch, and may fail because of them: it has seen
 * all rows, even if only those of the pilot are used. Had plain sampling not failed, its caller
 * could have gone on to any number. */
static const scene scenes[] = {
    {bounds_are_found, .sampled = 100, .refused = {200, NO}, .answered = {0, NO}, .any_time = 200},
    {is_forecast, .sampled = 100, .refused = {200, NO}, .answered = {0, NO}, .any_time = 200},
    {is_asked_at_any_time, .sampled = 100, .refused = {200, NO}, .answered = {0, NO}},
    {is_asked_for_a_target, .sampled = 100, .refused = {200, NO}, .answered = {0, NO}},
    {is_refused, .refused = {NO}, .answered = {200, NO}},
    {fails, .asks = 100, .fail_at = 4, .refused = {0, 200, NO}, .answered = {100, NO}},
    {fails, .asks = 100, .fail_at = 2, .pilot = 2 * BATCH, .refused = {NO}, .answered = {200, NO}},
    {fails, .asks = 1000, .none.beyond = 1, .refused = {0, NO}, .answered = {NO}},
    {fails_in_sampling, .asks = 100, .fail_at = 4, .refused = {0, 200, NO}, .answered = {NO}},
    {fails_in_sampling, .asks = BATCH / 2, .fail_at = 1, .pilot = BATCH / 2, .refused = {100, NO},
     .answered = {NO}, .any_time = 100},
    {fails_in_sampling, .asks = BATCH / 2, .none.call = 1, .pilot = BATCH / 2, .refused = {100, NO},
     .answered = {NO}, .any_time = NO},
    {is_hopeless, .refused = {NO}, .answered = {100, NO}},
    {is_hopeless, .sampled = 100, .refused = {NO}, .answered = {100, NO}},
    {is_stopped, .cancel_at = 5, .refused = {200, NO}, .answered = {0, 1000}},
    {is_stopped, .cancel_at = 5, .aims = 1, .refused = {0, 200, CAPACITY}, .answered = {1000, NO}},
    {is_stopped, .cancel_at = 5, .aims = 1, .method = CERTREG_METHOD_ANYTIME,
     .refused = {0, 200, CAPACITY}, .answered = {1000, NO}},
    {is_stopped, .sampled = 100, .aims = 1, .refused = {0, 200, CAPACITY}, .answered = {1000, NO}},
    {is_stopped, .sampled = 100, .aims = 1, .method = CERTREG_METHOD_ANYTIME,
     .refused = {0, 200, CAPACITY}, .answered = {1000, NO}},
};

TEST_ROWS(record_answers_numbers_that_were_fixed_before_it, scenes)
{
    now = scenes + _i;
    none = now->none;
    half_space h = {.face = now->aims ? 1.4 : 2,
                    .fail_at = now->fail_at,
                    .fail_code = 5,
                    .cancel_at = now->cancel_at};
    certreg_estimator *e = open_half_space(&h, BATCH, now->pilot ? now->pilot : NO,
                                           now->happens == is_stopped ? 4 : 1);
    is_forecast(e); /* tells nothing yet */
    KIT_OK(e, certreg_estimator_sample(e, 0, now->sampled));
    now->happens(e);
    for (int i = 0; i < 3 && now->refused[i] != NO; i++)
        ck_assert(!answers(&h, e, now->refused[i]));
    for (int i = 0; i < 2 && now->answered[i] != NO; i++)
        ck_assert(answers(&h, e, now->answered[i]));
    if (now->any_time != NO) kit_ask(e, now->any_time, wish(0, CERTREG_METHOD_ANYTIME));
}

/* The looks before it did not prove the radius, so they have chosen where it was. */
TEST_TIMES(record_failure_after_a_look_keeps_the_requested_number, 2)
{
    half_space h = {.face = 1.4, .fail_at = _i ? 0 : 5, .fail_code = 5};
    certreg_estimator *e = open_half_space(&h, BATCH, SIZE_MAX, 4);
    none = (struct gaps){.call = _i ? 5 : 0};
    certreg_question q = wish(1.35, CERTREG_METHOD_FINITE);
    q.target = asks_looks(1.35, (const uint64_t[]){40, 120, 1000}, 3);
    kit_refuses(e, 1000, q, _i ? CERTREG_E_NOT_FINITE : CERTREG_E_MODEL_FAILED, "");
    ck_assert(!answers(&h, e, 120));
    if (_i) { /* the sample gets no second value */
        kit_refuses(e, 1000, q, CERTREG_E_NOT_FINITE, "");
        return;
    }
    ck_assert_uint_gt(kit_ask(e, 1000, q).samples, 120); /* its own looks remain */
    ck_assert(answers(&h, e, 1000));
}

/* By an engine with its own loop: main sample 40 is no number, 39 others of its call are. */
TEST(record_given_no_number_is_as_one_that_the_model_gave_it)
{
    half_space h = {.face = 2};
    certreg_estimator *e = open_half_space(&h, BATCH, 20, 1);
    float y[100] = {0};
    unsigned char half[512];
    size_t bytes = sizeof half;
    const certreg_question q = wish(0, CERTREG_METHOD_FINITE);
    KIT_OK(e, certreg_estimator_record(e, 40, 1, y)); /* elsewhere, this sample was a number */
    KIT_OK(e, certreg_estimator_export(e, half, &bytes));
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0, 0}, 1, 1));
    KIT_OK(e, certreg_estimator_record(e, 0, 30, y));
    y[10] = NAN;
    KIT_STATUS(e, certreg_estimator_record(e, 0, 30, y), CERTREG_E_NOT_FINITE);
    KIT_OK(e, certreg_estimator_record(e, 10, 1, y)); /* it was a number when it came first */
    KIT_STATUS(e, certreg_estimator_record(e, 30, 40, y), CERTREG_E_NOT_FINITE);
    kit_refuses(e, 0, q, CERTREG_E_WRONG_STATE, "");
    KIT_STATUS(e, certreg_estimator_record(e, 60, 40, y), CERTREG_E_NOT_FINITE); /* a later one */
    y[10] = 0;
    KIT_REFUSED(e, certreg_estimator_record(e, 30, 40, y), CERTREG_E_NOT_FINITE,
                "sample 40 was not finite when it came first");
    KIT_STATUS(e, certreg_estimator_import(e, half, bytes), CERTREG_E_MISMATCH);
    KIT_OK(e, certreg_estimator_record(e, 30, 10, y)); /* the others remain welcome */
    kit_ask(e, 0, wish(0, CERTREG_METHOD_ANYTIME));
    kit_refuses(e, 0, q, CERTREG_E_WRONG_STATE, "");
}

/* Every sample by itself, and none in the record: the errors tell the outputs all the same. */
TEST(record_counts_outputs_in_errors_as_evaluated)
{
    half_space h = {.face = -40}; /* everything lies beyond */
    unsigned char record[512];
    size_t bytes = sizeof record;
    certreg_estimator *e = open_half_space(&h, BATCH, SIZE_MAX, 1);
    const size_t main_sample = 400;
    none = (struct gaps){.beyond = 1};
    KIT_STATUS(e, certreg_estimator_sample(e, main_sample, 1), CERTREG_E_NOT_FINITE);
    KIT_OK(e, certreg_estimator_export(e, record, &bytes));
    certreg_estimator *wide = open_half_space(&h, BATCH, SIZE_MAX, 1);
    h.face = 2, none.beyond = 0;
    KIT_OK(wide, certreg_estimator_import(wide, record, bytes));
    ck_assert(!answers(&h, wide, main_sample + 100));
    ck_assert(!answers(&h, wide, main_sample + 1)); /* without the error it could be another */
}

TEST_TIMES(record_refuses_looks_after_an_answer, 2)
{
    const uint64_t looks[2] = {200, 400};
    certreg_estimator *e = open_half_space(&(half_space){.face = 2}, BATCH, SIZE_MAX, 1);
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
    /* nor after an import of a record that was answered without them */
    certreg_estimator *without = open_half_space(&(half_space){.face = 2}, BATCH, SIZE_MAX, 1);
    KIT_OK(without, certreg_estimator_sample(without, 0, 200));
    kit_ask(without, 0, wish(1, CERTREG_METHOD_FINITE));
    carry(without, e);
    q.method = CERTREG_METHOD_FINITE, q.target = asks_looks(1, looks, 2);
    kit_refuses(e, 0, q, CERTREG_E_WRONG_STATE, "looks");
}

/* A later question may be about another radius, whose looks follow from the same growth. */
TEST(record_keeps_the_growth_of_its_first_question)
{
    certreg_estimator *e = open_half_space(&(half_space){.face = 2}, BATCH, SIZE_MAX, 1);
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
        certreg_estimator *e = open_half_space(&h, batches[i], SIZE_MAX, 12);
        /* looks on its own before */
        if (_i) kit_ask(e, 2345, wish(1.25, CERTREG_METHOD_ANYTIME));
        const double found = kit_ask(e, 2345, wish(0, CERTREG_METHOD_ANYTIME)).radius;
        if (i) ck_assert_double_eq(found, radius);
        radius = found;
    }
}

/* ---- carried to another estimator it answers as it would have here, or is refused */
/* A curve, x0 (1 + 0.3 x1), that counts the rows it is asked for. */
static size_t rows_asked;

static int curve(void *user, const certreg_batch *b)
{
    (void)user;
    rows_asked += b->used_count;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = b->x[2 * i] * (1 + 0.3f * b->x[2 * i + 1]);
    return 0;
}

static certreg_estimator *curve_of_batch(size_t batch, size_t max_samples, size_t pilot)
{
    certreg_model m = kit_model(curve, NULL, 2, 1);
    certreg_plan p = kit_plan(max_samples);
    m.batch = batch, p.pilot = pilot;
    rows_asked = 0;
    return kit_begun(m, p, (const float[]){1, 2}, 0.25, 3);
}

static certreg_estimator *curve_estimator(size_t max_samples, size_t pilot)
{
    return curve_of_batch(BATCH, max_samples, pilot);
}

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

TEST_TIMES(record_group_test_is_not_begun_again_under_another_plan, 2)
{
    certreg_estimator *a = curve_estimator(200, 40), *b = curve_of_batch(50, 1500, 40);
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
    certreg_estimator *other_batch = curve_of_batch(40, 200, 40);
    KIT_OK(other_batch, certreg_estimator_sample(other_batch, 0, 80));
    ask_for(other_batch, 0, 0, CERTREG_METHOD_FINITE);
    KIT_SAYS(refusal(other_batch, a), "batch");
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

/* ---- the pilot */
/* The usual pilot of n samples is nearly 0.15 n^2 / (n + 20), 147 of 1000, 447 of 3000 and 1497 of
 * 10000, such that the main samples fill 64 blocks: 832, 2560 and 8512 of them. */
enum { MOST = 10000, TOTAL = 1000, OF_TOTAL = 168, OF_3_TOTAL = 440, OF_MOST = 1488 };
static uint64_t pilot_after(certreg_estimator *e, size_t samples)
{
    ask_for(e, samples, 0, CERTREG_METHOD_ANYTIME);
    return asks_run(e).pilot;
}

TEST(pilot_is_fixed_by_the_first_total_of_certify)
{
    certreg_estimator *e = curve_estimator(MOST, 0);
    /* a tenth of the plan is enough for an answer */
    ck_assert_double_gt(ask_for(e, TOTAL, 0, CERTREG_METHOD_ANYTIME).radius, 0);
    ck_assert_uint_eq(rows_asked, TOTAL);
    ck_assert_uint_eq(pilot_after(e, 0), OF_TOTAL);
    ck_assert_uint_eq(pilot_after(e, 3 * TOTAL), OF_TOTAL);
    KIT_OK(e, certreg_estimator_sample(e, 0, MOST));
    ck_assert_uint_eq(pilot_after(e, 0), OF_TOTAL);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){1, 2}, 0.25, 4));
    ck_assert_uint_eq(pilot_after(e, 3 * TOTAL), OF_3_TOTAL);
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
    kit_refuses(e, 200, q, CERTREG_E_INVALID, "");
    kit_refuses(e, MOST + 1, q, CERTREG_E_INVALID, "");
    KIT_OK(e, certreg_estimator_set_deadline(e, -1));
    q.tolerance = 0.6;
    kit_ask(e, 300, q);
    KIT_OK(e, certreg_estimator_set_deadline(e, INFINITY));
    ck_assert_uint_eq(rows_asked, 0);
    ck_assert_uint_eq(pilot_after(e, TOTAL), OF_TOTAL);
}

/* A record of TOTAL samples, or of none, in an estimator of this plan. */
static const struct {
    size_t total, pilot, sampled;
    certreg_status status;
    uint64_t then; /* the pilot at 3 TOTAL */
} imports[] = {
    {TOTAL, 0, 0, CERTREG_OK, OF_TOTAL},    {TOTAL, 0, 1, CERTREG_E_MISMATCH, OF_MOST},
    {TOTAL, 40, 0, CERTREG_E_MISMATCH, 40}, {TOTAL, SIZE_MAX, 0, CERTREG_E_MISMATCH, 0},
    {0, 0, 0, CERTREG_OK, OF_3_TOTAL},      {0, 40, 0, CERTREG_OK, 40},
};

TEST_ROWS(pilot_comes_with_an_import_or_must_be_the_same, imports)
{
    static unsigned char record[65536];
    certreg_estimator *from = curve_estimator(MOST, 0),
                      *e = curve_estimator(MOST, imports[_i].pilot);
    if (imports[_i].total) pilot_after(from, imports[_i].total);
    const size_t bytes = kit_export(from, record, sizeof record);
    KIT_OK(e, certreg_estimator_sample(e, 0, imports[_i].sampled));
    KIT_STATUS(e, certreg_estimator_import(e, record, bytes), imports[_i].status);
    if (imports[_i].status == CERTREG_E_MISMATCH)
        KIT_SAYS(certreg_estimator_error(e), "plan.pilot");
    if (!imports[_i].status)
        KIT_OK(e, certreg_estimator_import(e, record, bytes)); /* again, to no effect */
    certreg_question q = kit_question(0.6);
    q.method = CERTREG_METHOD_ANYTIME, q.prediction = asks_prediction(1.6);
    kit_ask(e, 3 * TOTAL, q);
    ck_assert_uint_eq(asks_run(e).pilot, imports[_i].then);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){1, 2}, 0.25, 3));
    KIT_STATUS(e, certreg_estimator_import(e, record, bytes),
               imports[_i].pilot ? imports[_i].status : CERTREG_OK);
}

FIXTURE(without_gaps, NULL)
KIT_MAIN("asked again")
