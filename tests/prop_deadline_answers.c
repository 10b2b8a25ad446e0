/* Answers that a deadline cuts off claim nothing, those before them stay, and every step of an
 * answer looks at the clock. */
#include "certify/certify.h"
#include "support/fake_clock.h"
#include <certreg/sampling.h>

static certreg_certificate answer(certreg_estimator *e, const certreg_question *q, double allowed)
{
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_estimator_set_deadline(e, allowed);
    ck_assert_msg(certify(e, 0, q, &c) == CERTREG_OK, "%s", certreg_estimator_error(e)->text);
    return c;
}

static void claims_nothing(const certreg_certificate *c)
{
    ck_assert_int_eq(c->status, CERTREG_OK);
    ck_assert_int_eq(c->stop, CERTREG_STOP_DEADLINE);
    ck_assert_int_eq(c->outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq(c->radius, 0);
    ck_assert_double_eq(c->radius_l1 + c->radius_l2 + c->radius_linf, 0);
    ck_assert(c->output_lo == -INFINITY && c->output_hi == INFINITY);
    ck_assert(isfinite(c->estimate));
}

TEST_TIMES(deadline_that_cuts_off_an_answer_leaves_no_claim, QUESTIONS)
{
    machine m = {.time = 1, .look = 1e-6};
    certreg_estimator *e = make(&m, 200);
    const certreg_question q = question(_i, 3);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.2, 0));
    KIT_OK(e, certreg_estimator_sample(e, 0, 1500));
    const unsigned before = m.looks;
    const certreg_certificate whole = answer(e, &q, INFINITY);
    const unsigned looks = m.looks - before;
    unsigned cut = 0;
    for (unsigned i = 1; i <= looks + 8; i += 1 + looks / 24) {
        const certreg_certificate c = answer(e, &q, 1e-6 * i);
        if (c.stop == CERTREG_STOP_DEADLINE) claims_nothing(&c), cut++;
        else ck_assert_mem_eq(&c, &whole, sizeof c);
    }
    ck_assert_uint_ge(cut, 3);
    const certreg_certificate again = answer(e, &q, INFINITY);
    ck_assert_mem_eq(&again, &whole, sizeof again);
}

TEST(deadline_keeps_the_answers_before_it)
{
    machine m = {.time = 1, .look = 1e-6};
    certreg_estimator *e = make(&m, 200);
    const certreg_question q[3] = {question(0, 0), question(9, 0), question(17, 0)};
    certreg_certificate whole[3] = {{.struct_size = sizeof *whole}},
                        c[3] = {{.struct_size = sizeof *c}};
    KIT_OK(e, certreg_estimator_begin(e, where, 0.2, 0));
    KIT_OK(e, certreg_certify(e, 1500, q, 3, whole));
    unsigned seen = 0; /* how many questions were answered: a bit for each number */
    for (unsigned i = 1; i <= 1000; i += 3) {
        size_t answered = 0;
        certreg_estimator_set_deadline(e, 1e-6 * i);
        KIT_OK(e, certreg_certify(e, 1500, q, 3, c));
        while (answered < 3 && c[answered].stop == CERTREG_STOP_ALL) answered++;
        for (size_t k = 0; k < 3; k++) {
            if (k < answered) ck_assert_double_eq(c[k].radius, whole[k].radius);
            else claims_nothing(c + k);
        }
        seen |= 1u << answered;
    }
    ck_assert_uint_eq(seen, 15);
}

TEST(deadline_is_checked_between_steps_of_making_a_group_test)
{
    machine m = {.time = 1, .look = 1e-6};
    certreg_estimator *e = make(&m, SIZE_MAX);
    const certreg_question q = question(4, 0.175);
    unsigned looks[2];
    for (int again = 0; again < 2; again++) {
        double late;
        const unsigned before = m.looks;
        tick(e, &m, 100, &q, 7, &late);
        looks[again] = m.looks - before;
    }
    ck_assert_uint_ge(looks[0], looks[1] + 2 * CR_GROUP_RADII);
}

/* Looks that an answer takes; with a target, whose test may be made already. */
static unsigned looks_of(int which, int32_t pairs, int made)
{
    machine m = {.time = 1, .look = 1e-6};
    certreg_estimator *e = make(&m, SIZE_MAX);
    const certreg_serving serving = {
        .struct_size = sizeof serving, .pairs = pairs, .samples = 51, .failure_rate = 0.01};
    certreg_question q = question(which, 0.175);
    q.serving = &serving;
    KIT_OK(e, certreg_estimator_begin(e, where, 0.2, 0));
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    if (made) answer(e, &q, 1);
    const unsigned before = m.looks;
    answer(e, &q, 1);
    return m.looks - before;
}

/* Each takes up to a tenth of a second. */
TEST(deadline_is_checked_in_searches_for_pairs)
{
    enum { OF_SIDES = 2, OF_TARGET = 4 };
    ck_assert_uint_ge(looks_of(0, 1, 1), looks_of(0, 0, 1) + OF_SIDES);
    ck_assert_uint_ge(looks_of(4, 1, 1), looks_of(4, 0, 1) + OF_SIDES);
    ck_assert_uint_ge(looks_of(4, 1, 0), looks_of(4, 0, 0) + CR_GROUP_RADII);
    const cr_question alone = {.given.serving_samples = 101},
                      few = {.given.serving_samples = 11, .given.serving_pairs = 1},
                      many = {.given.serving_samples = 10001, .given.serving_pairs = 1};
    ck_assert_uint_ne(cr_answer_timer_key(1, &alone), cr_answer_timer_key(1, &few));
    ck_assert_uint_ne(cr_answer_timer_key(1, &many), cr_answer_timer_key(1, &few));
}

/* What happens between two looks at the clock must not grow with the number of samples: so every
 * pass has to look on its way. */
TEST_TIMES(deadline_is_checked_in_every_pass_over_samples, QUESTIONS)
{
    machine m = {.time = 1, .look = 1e-6};
    certreg_estimator *e = make(&m, SIZE_MAX);
    const certreg_question q = question(_i, 0);
    unsigned looks[2];
    KIT_OK(e, certreg_estimator_begin(e, where, 0.2, 0));
    KIT_OK(e, certreg_estimator_sample(e, 0, 500));
    answer(e, &q, 1); /* makes a group-sequential test, which is kept */
    for (int i = 0; i < 2; i++) {
        KIT_OK(e, certreg_estimator_begin(e, where, 0.2, 0));
        KIT_OK(e, certreg_estimator_sample(e, 0, (size_t)(i + 1) * CAPACITY / 2));
        const unsigned before = m.looks;
        answer(e, &q, 1);
        looks[i] = m.looks - before;
    }
    ck_assert_uint_ge(looks[1] - looks[0],
                      questions[_i].passes * (CAPACITY / 2 / CR_DEADLINE_CHECK_SAMPLES));
}

KIT_MAIN("deadline_answers")
