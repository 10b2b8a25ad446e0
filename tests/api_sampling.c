/* Sampling: which rows the model is asked for, what noise they have, and that results do not
 * depend on how the work was cut. */
#include "support/recording_model.h"
#include <time.h>

static void check_call(size_t k, uint64_t first, size_t used_first, size_t used_count)
{
    ck_assert_uint_eq(book.call[k].first, first);
    ck_assert_uint_eq(book.call[k].used_first, used_first);
    ck_assert_uint_eq(book.call[k].used_count, used_count);
}

/* ---- which rows */
TEST(sampling_calls_the_model_for_missing_samples_only)
{
    KIT_OK(e, certreg_estimator_sample(e, 0, 40));
    ck_assert_uint_eq(book.calls, 3);
    check_call(0, 0, 0, 16);
    check_call(1, 16, 0, 16);
    check_call(2, 32, 0, 8);
    KIT_OK(e, certreg_estimator_sample(e, 0, 40));
    KIT_OK(e, certreg_estimator_sample(e, 7, 20));
    KIT_OK(e, certreg_estimator_sample(e, 3, 0));
    ck_assert_uint_eq(book.calls, 3);
    /* 40 .. 47 are missing of the third batch, and the whole fourth */
    KIT_OK(e, certreg_estimator_sample(e, 0, 64));
    ck_assert_uint_eq(book.calls, 5);
    check_call(3, 32, 8, 8);
    check_call(4, 48, 0, 16);
    KIT_OK(e, certreg_estimator_sample(e, 101, 2));
    check_call(5, 96, 5, 2);
    /* a hole in the middle: one call for both ends */
    KIT_OK(e, certreg_estimator_sample(e, 96, 16));
    ck_assert_uint_eq(book.calls, 7);
    check_call(6, 96, 0, 16);
}

TEST(sampling_allows_unused_rows_to_be_left_out)
{
    book.only_wanted = 1;
    KIT_OK(e, certreg_estimator_sample(e, 5, 3));
    KIT_OK(e, certreg_estimator_sample(e, 30, 4));
    KIT_OK(e, certreg_estimator_sample(e, 0, 100));
    kit_ask(e, CAPACITY, kit_question(3));
}

TEST(sampling_puts_a_sample_into_the_same_row_and_batch)
{
    static float x[CAPACITY][INPUTS];
    KIT_OK(e, certreg_estimator_draw(e, 0, CAPACITY, x[0]));
    KIT_OK(e, certreg_estimator_sample(e, 333, 1));
    ck_assert_uint_eq(book.call[0].first, 333 / BATCH * BATCH);
    ck_assert_uint_eq(book.call[0].used_first, 333 % BATCH);
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    ck_assert_mem_eq(book.x, x, sizeof x);
}

TEST(sampling_draws_rows_beyond_the_capacity)
{
    float x[BATCH][INPUTS], one[INPUTS];
    const uint64_t last = CAPACITY / BATCH * BATCH; /* 992: 8 rows of its batch lie beyond */
    KIT_OK(e, certreg_estimator_sample(e, last, CAPACITY - last));
    check_call(0, last, 0, CAPACITY - last);
    KIT_OK(e, certreg_estimator_draw(e, last, BATCH, x[0]));
    ck_assert_mem_eq(book.x[last], x, sizeof x);
    for (size_t i = 1; i < BATCH; i++) ck_assert_int_ne(memcmp(x[i], x[i - 1], sizeof x[i]), 0);
    KIT_STATUS(e, certreg_estimator_draw(e, last, BATCH + 1, x[0]), CERTREG_E_TOO_MANY);
    KIT_OK(e, certreg_estimator_draw(e, last + BATCH - 1, 1, one));
    ck_assert_mem_eq(one, x[BATCH - 1], sizeof one);
}

/* ---- the noise */
TEST(draw_gives_the_input_itself_first_if_there_is_a_pilot)
{
    float x[2][INPUTS];
    KIT_OK(e, certreg_estimator_draw(e, 0, 2, x[0]));
    ck_assert_mem_eq(x[0], input, sizeof input);
    ck_assert_float_ne(x[1][0], input[0]);
    certreg_plan p = plan_of();
    p.pilot = SIZE_MAX;
    certreg_estimator *plain = make(NULL, &p);
    float y[2][INPUTS];
    KIT_OK(plain, certreg_estimator_draw(plain, 0, 2, y[0]));
    ck_assert_float_ne(y[0][0], input[0]);
    ck_assert_mem_eq(x[1], y[1], sizeof x[1]);
}

/* The seed that tests draw is always the same (tests/support/entropy.h). */
TEST(draw_by_a_drawn_seed_is_that_of_the_same_given_seed)
{
    float x[BATCH][INPUTS], y[BATCH][INPUTS];
    certreg_run run = {.struct_size = sizeof run};
    certreg_plan p = plan_of();
    p.seed = 0;
    certreg_estimator *drawn = make(NULL, &p);
    KIT_OK(drawn, certreg_estimator_info(drawn, &run));
    ck_assert_uint_eq(run.seed, UINT64_C(0x0101010101010101));
    p.seed = run.seed;
    certreg_estimator *given = make(NULL, &p);
    KIT_OK(drawn, certreg_estimator_draw(drawn, 0, BATCH, x[0]));
    KIT_OK(given, certreg_estimator_draw(given, 0, BATCH, y[0]));
    ck_assert_mem_eq(x, y, sizeof x);
}

TEST(draw_never_moves_masked_features)
{
    static float x[CAPACITY][INPUTS];
    KIT_OK(e, certreg_estimator_draw(e, 0, CAPACITY, x[0]));
    /* the sign of zero, too */
    for (size_t i = 0; i < CAPACITY; i++) ck_assert_mem_eq(x[i] + 2, input + 2, 2 * sizeof(float));
}

TEST(draw_has_noise_of_the_scale)
{
    static float x[CAPACITY][INPUTS];
    KIT_OK(e, certreg_estimator_draw(e, 0, CAPACITY, x[0]));
    for (size_t j = 0; j < INPUTS; j++) {
        if (!(scale[j] > 0)) continue;
        double sum = 0, squares = 0;
        for (size_t i = 1; i < CAPACITY; i++) {
            const double t = ((double)x[i][j] - (double)input[j]) / (sigma * (double)scale[j]);
            sum += t, squares += t * t;
        }
        const double n = CAPACITY - 1; /* five standard errors */
        ck_assert_double_lt(fabs(sum / n), 5 / sqrt(n));
        ck_assert_double_lt(fabs(squares / n - 1), 5 * sqrt(2 / n));
    }
}

TEST(draw_depends_on_seed_and_noise_id_alone)
{
    float x[8][INPUTS], again[8][INPUTS];
    KIT_OK(e, certreg_estimator_draw(e, 1, 8, x[0]));
    KIT_OK(e, certreg_estimator_begin(e, input, sigma, 5));
    KIT_OK(e, certreg_estimator_draw(e, 1, 8, again[0]));
    for (int i = 0; i < 8; i++) ck_assert_float_ne(x[i][0], again[i][0]);
    KIT_OK(e, certreg_estimator_begin(e, input, sigma, 4));
    KIT_OK(e, certreg_estimator_draw(e, 1, 8, again[0]));
    ck_assert_mem_eq(x, again, sizeof x);
    certreg_plan p = plan_of();
    p.max_samples = 5000, p.seed++;
    certreg_estimator *other = make(NULL, &p);
    KIT_OK(other, certreg_estimator_draw(other, 1, 8, again[0]));
    for (int i = 0; i < 8; i++) ck_assert_float_ne(x[i][0], again[i][0]);
    p.seed--;
    other = make(NULL, &p);
    KIT_OK(other, certreg_estimator_draw(other, 1, 8, again[0]));
    ck_assert_mem_eq(x, again, sizeof x);
}

/* ---- the same bits, however the work was cut */
enum { RECORD = 16384 };
typedef struct outcome {
    unsigned char record[RECORD];
    size_t bytes;
    certreg_certificate answer[3];
} outcome;

static void collect(certreg_estimator *from, outcome *o)
{
    certreg_question q[3] = {kit_question(0.8), kit_question(0.8), kit_question(0.8)};
    q[1].statistic = CERTREG_STATISTIC_HUBER, q[1].huber_width = 0.4,
    q[1].method = CERTREG_METHOD_ASYMPTOTIC;
    q[2].statistic = CERTREG_STATISTIC_MEAN, q[2].center = CERTREG_CENTER_TRUE_MEAN,
    q[2].method = CERTREG_METHOD_PAPER, q[2].output = 1;
    memset(o, 0, sizeof *o);
    for (int i = 0; i < 3; i++) o->answer[i] = kit_certificate();
    KIT_OK(from, certreg_certify(from, 0, q, 3, o->answer));
    o->bytes = RECORD;
    KIT_OK(from, certreg_estimator_export(from, o->record, &o->bytes));
    ck_assert_int_eq(o->answer[0].outcome, CERTREG_OUTCOME_CERTIFIED);
}

static outcome whole, cut;

static void check_same(certreg_estimator *from)
{
    collect(from, &cut);
    ck_assert_uint_eq(whole.bytes, cut.bytes);
    ck_assert_mem_eq(&whole, &cut, sizeof whole);
}

TEST(sampling_results_do_not_depend_on_its_parts)
{
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    collect(e, &whole);
    KIT_OK(e, certreg_estimator_begin(e, input, sigma, 4));
    for (size_t at = 0, step = 1; at < CAPACITY; at += step, step = step % 37 + 5)
        KIT_OK(e, certreg_estimator_sample(e, at, CAPACITY - at < step ? CAPACITY - at : step));
    check_same(e);
    KIT_OK(e, certreg_estimator_begin(e, input, sigma, 4));
    /* one by one, shuffled */
    for (size_t k = 0; k < CAPACITY; k++)
        KIT_OK(e, certreg_estimator_sample(e, (k * 617 + 5) % CAPACITY, 1));
    check_same(e);
}

TEST(sampling_results_are_those_of_draw_and_record)
{
    static float x[CAPACITY][INPUTS], y[CAPACITY][2];
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    collect(e, &whole);
    KIT_OK(e, certreg_estimator_begin(e, input, sigma, 4));
    /* from the end to the beginning, ten at a time within */
    for (size_t at = CAPACITY; at > 0; at -= 50) {
        KIT_OK(e, certreg_estimator_draw(e, at - 50, 50, x[at - 50]));
        for (size_t i = at - 50; i < at; i++) y[i][0] = value_of(x[i]), y[i][1] = x[i][0];
        for (size_t i = at - 50; i < at; i += 10)
            KIT_OK(e, certreg_estimator_record(e, i, 10, y[i]));
    }
    check_same(e);
    /* what is there and agrees may be recorded again */
    KIT_OK(e, certreg_estimator_record(e, 0, CAPACITY, y[0]));
    check_same(e);
}

TEST(sampling_the_next_input_starts_from_nothing)
{
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    collect(e, &whole);
    const float other[INPUTS] = {3, 1, 4, 1, 5};
    KIT_OK(e, certreg_estimator_begin(e, other, 0.1, 9));
    KIT_OK(e, certreg_estimator_sample(e, 0, 77));
    KIT_OK(e, certreg_estimator_begin(e, input, sigma, 4));
    const size_t before = book.calls;
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    ck_assert_uint_eq(book.calls - before, (CAPACITY + BATCH - 1) / BATCH);
    check_same(e);
}

/* ---- model that forgets rows */
static int forgetful(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i + 1 < b->rows; i++) b->y[i] = b->x[i * b->inputs];
    return 0;
}

TEST(sampling_notices_a_row_left_unwritten)
{
    certreg_model m = kit_model(forgetful, NULL, INPUTS, 1);
    m.batch = BATCH;
    const certreg_plan p = kit_plan(CAPACITY);
    certreg_estimator *f = kit_create(NULL, &m, &p);
    KIT_OK(f, certreg_estimator_begin(f, input, sigma, 0));
    KIT_OK(f, certreg_estimator_sample(f, 0, BATCH - 1));
    KIT_STATUS(f, certreg_estimator_sample(f, 0, 100), CERTREG_E_NOT_FINITE);
    ck_assert_int_eq(certreg_estimator_error(f)->sample, BATCH - 1);
    ck_assert_int_eq(certreg_estimator_error(f)->row, BATCH - 1);
    /* no value of an earlier batch in its place */
    KIT_STATUS(f, certreg_estimator_sample(f, 2 * BATCH, BATCH), CERTREG_E_NOT_FINITE);
}

/* ---- stops on request: by progress, by cancel, by a deadline. What there was stays */
/* ---- progress, cancel, deadline */
TEST(sampling_reports_progress_after_each_batch)
{
    certreg_plan p = plan_of();
    p.progress = report;
    certreg_estimator *told = make(NULL, &p);
    KIT_OK(told, certreg_estimator_sample(told, 8, 200));
    ck_assert_uint_eq(book.reports, 13); /* half a batch, then twelve whole ones */
    ck_assert_uint_eq(book.done[0], 8);
    for (size_t i = 1; i < book.reports; i++)
        ck_assert_uint_eq(book.done[i], book.done[i - 1] + 16);
    ck_assert_uint_eq(book.done[book.reports - 1], 200);
}

TEST(sampling_is_cancelled_by_progress)
{
    certreg_plan p = plan_of();
    p.progress = report;
    certreg_estimator *told = make(NULL, &p);
    book.refuse_at = 3;
    KIT_STATUS(told, certreg_estimator_sample(told, 0, 200), CERTREG_E_CANCELLED);
    ck_assert_uint_eq(book.calls, 3);
    KIT_OK(told, certreg_estimator_sample(told, 0, 200));
    ck_assert_uint_eq(book.calls, 13);
}

TEST(sampling_is_cancelled_after_the_batch_of_the_callback)
{
    book.cancel_at = 2;
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 200), CERTREG_E_CANCELLED);
    ck_assert_uint_eq(book.calls, 2);
    KIT_SAYS(certreg_estimator_error(e), "32 samples");
    KIT_OK(e, certreg_estimator_sample(e, 0, 200)); /* told once, and then it goes on */
    ck_assert_uint_eq(book.calls, 13);
}

TEST(sampling_keeps_a_cancel_until_it_is_reported)
{
    certreg_estimator_cancel(e);
    certreg_estimator_cancel(e);
    KIT_OK(e, certreg_estimator_begin(e, input, sigma, 4)); /* begin does not forget it */
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 200), CERTREG_E_CANCELLED);
    ck_assert_uint_eq(book.calls, 0);
    KIT_OK(e, certreg_estimator_sample(e, 0, 200));
    /* during the last batch of a call: that one is complete, the next one tells */
    book.cancel_at = book.calls + 1;
    KIT_OK(e, certreg_estimator_sample(e, 200, 8));
    KIT_STATUS(e, certreg_estimator_sample(e, 208, 100), CERTREG_E_CANCELLED);
    KIT_OK(e, certreg_estimator_sample(e, 208, 100));
}

TEST(sampling_after_a_deadline_leaves_the_record_alone)
{
    KIT_OK(e, certreg_estimator_sample(e, 0, 100));
    certreg_estimator_set_deadline(e, 1e-9);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    KIT_OK(e, certreg_estimator_sample(e, 0, 100)); /* nothing is missing, so nothing is late */
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 101), CERTREG_E_DEADLINE);
    static const double over[] = {0, -0.0, -1, -INFINITY}; /* of a loop that is late */
    for (size_t i = 0; i < sizeof over / sizeof *over; i++) {
        KIT_OK(e, certreg_estimator_set_deadline(e, INFINITY));
        KIT_OK(e, certreg_estimator_set_deadline(e, over[i]));
        KIT_STATUS(e, certreg_estimator_sample(e, 0, 101), CERTREG_E_DEADLINE);
    }
    KIT_STATUS(e, certreg_estimator_set_deadline(e, NAN), CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 101), CERTREG_E_DEADLINE);
    KIT_OK(e, certreg_estimator_set_deadline(e, INFINITY));
    KIT_OK(e, certreg_estimator_sample(e, 0, 101));
}

FIXTURE(setup, teardown)
KIT_MAIN("sampling")
