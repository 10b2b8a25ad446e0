/* A wanted radius: neither interruptions nor the way of the record change what is proven. */
#include "support/half_space.h"

TEST_TIMES(after_an_interruption_the_same_call_ends_as_if_there_had_been_none, 2)
{
    half_space plain = {.face = 1.4},
               broken = {.face = 1.4, .cancel_at = 5, .fail_at = 9, .fail_code = 77};
    certreg_estimator *a = make(&plain, 1, 4), *b = make(&broken, 1, 4);
    const certreg_question q = wish(1, sequential[_i]);
    certreg_certificate whole = kit_ask(a, CAPACITY, q), c = kit_ask(b, CAPACITY, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_CANCELLED);
    ck_assert_uint_eq(c.samples, 5 * BATCH);
    ck_assert_double_le(c.radius, 1.4);
    KIT_STATUS(b, certreg_certify(b, CAPACITY, &q, 1, &c), CERTREG_E_MODEL_FAILED);
    ck_assert_int_eq(certreg_estimator_error(b)->model_code, 77);
    ck_assert_int_eq(c.status, CERTREG_E_MODEL_FAILED);
    ck_assert_double_eq(c.radius, 0);
    ck_assert(isinf(c.output_lo) && isinf(c.output_hi));
    c = kit_ask(b, CAPACITY, q);
    ck_assert_mem_eq(&whole, &c, sizeof c);
    ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
}

TEST_TIMES(a_deadline_answers_from_the_looks_there_were, 2)
{
    half_space h = {.face = 1.05, .pause = 0.005};
    certreg_estimator *e = make(&h, 1, 1);
    certreg_estimator_set_deadline(e, 0.3);
    const certreg_certificate c = kit_ask(e, CAPACITY, wish(1, sequential[_i]));
    ck_assert_int_eq(c.stop, CERTREG_STOP_DEADLINE);
    ck_assert_uint_lt(c.samples, CAPACITY);
    ck_assert_double_lt(c.radius, 1);
}

/* ---- other ways to the same record */
TEST_TIMES(merged_shards_are_answered_like_the_run_that_stopped, 2)
{
    for (uint64_t stream = 0; stream < 10; stream++) {
        half_space h[4] = {{.face = 1.4}, {.face = 1.4}, {.face = 1.4}, {.face = 1.4}};
        certreg_estimator *e[4];
        for (int i = 0; i < 4; i++) e[i] = make(h + i, 1, stream);
        const certreg_question q = wish(1, sequential[_i]);
        const certreg_certificate stopped = kit_ask(e[0], CAPACITY, q);
        KIT_OK(e[1], certreg_estimator_sample(e[1], 0, 1500));
        KIT_OK(e[2], certreg_estimator_sample(e[2], 1500, CAPACITY - 1500));
        carry(e[2], e[3]); /* the later part first: a gap until the other comes */
        certreg_certificate gap = kit_certificate();
        KIT_STATUS(e[3], certreg_certify(e[3], 0, &q, 1, &gap), CERTREG_E_WRONG_STATE);
        carry(e[1], e[3]);
        const certreg_certificate merged = kit_ask(e[3], CAPACITY, q);
        ck_assert_uint_eq(h[3].calls, 0);
        ck_assert_int_eq(merged.stop, stopped.stop);
        if (_i == 0) ck_assert_double_eq(merged.radius, stopped.radius);
        ck_assert_double_ge(merged.radius, stopped.radius);
        /* fills the beginning alone: the rest of the gap is sampled, or all is settled */
        carry(e[0], e[2]);
        ck_assert_double_ge(kit_ask(e[2], CAPACITY, q).radius, stopped.radius);
    }
}

KIT_MAIN("interrupted certification")
