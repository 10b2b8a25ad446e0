/* Sampling tells its progress, and stops on request: by progress, by cancel, by a deadline. What
 * it had by then stays. */
#include "support/diary.h"
#include <pthread.h>

/* ---- progress, cancel, deadline */
TEST(progress_is_told_after_each_batch)
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

TEST(progress_cancels_by_returning_non_zero)
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

TEST(cancel_from_the_callback_stops_after_its_batch)
{
    book.cancel_at = 2;
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 200), CERTREG_E_CANCELLED);
    ck_assert_uint_eq(book.calls, 2);
    KIT_SAYS(certreg_estimator_error(e), "32 samples");
    KIT_OK(e, certreg_estimator_sample(e, 0, 200)); /* told once, and then it goes on */
    ck_assert_uint_eq(book.calls, 13);
}

TEST(cancel_is_remembered_until_it_was_told)
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

static void *cancel(void *handle)
{
    certreg_estimator_cancel(handle);
    return NULL;
}

static void cancel_elsewhere(certreg_estimator *handle)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel, handle), 0);
    pthread_join(thread, NULL);
}

TEST(cancel_from_another_thread_stops_sampling)
{
    book.cancel = cancel_elsewhere, book.cancel_at = 5;
    KIT_STATUS(e, certreg_estimator_sample(e, 0, CAPACITY), CERTREG_E_CANCELLED);
    ck_assert_uint_eq(book.calls, 5);
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    ck_assert_uint_eq(book.calls, (CAPACITY + BATCH - 1) / BATCH);
}

/* By the real clock: prop_deadline tells more, by one of its own. */
TEST(deadline_begins_no_batch_that_would_miss_it)
{
    book.pause = 0.02;
    certreg_estimator_set_deadline(e, 0.15);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, CAPACITY), CERTREG_E_DEADLINE);
    ck_assert_uint_le(book.calls, 7); /* none, if the machine is very busy */
    KIT_STATUS(e, certreg_estimator_sample(e, 0, CAPACITY), CERTREG_E_DEADLINE);
    certreg_estimator_set_deadline(e, 0);
    book.pause = 0;
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    ck_assert_uint_eq(book.calls, (CAPACITY + BATCH - 1) / BATCH);
}

TEST(deadline_in_the_past_leaves_what_is_there_alone)
{
    KIT_OK(e, certreg_estimator_sample(e, 0, 100));
    certreg_estimator_set_deadline(e, 1e-9);
    rest(0.001);
    KIT_OK(e, certreg_estimator_sample(e, 0, 100)); /* nothing is missing, so nothing is late */
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 101), CERTREG_E_DEADLINE);
    certreg_estimator_set_deadline(e, -1); /* what a loop has left of a tick that is over */
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 101), CERTREG_E_DEADLINE);
    KIT_STATUS(e, certreg_estimator_set_deadline(e, NAN), CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 101), CERTREG_E_DEADLINE);
    KIT_OK(e, certreg_estimator_set_deadline(e, 0));
    KIT_OK(e, certreg_estimator_sample(e, 0, 101));
}

FIXTURE(setup, teardown)
KIT_MAIN("stops of sampling")
