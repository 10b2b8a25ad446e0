/* Answers to all kinds of questions come in time, from the samples that fit into it. */
#include "support/question_fields.h"
#include "support/fake_clock.h"

static double uneven(uint64_t i) /* .0002 to .0512 seconds, in no order */
{
    return 0.0002 * exp2(8 * (fmod((double)i * 0.618033988749894848, 1)));
}

/* Two machines: one where answers take the time, and one where the model does. */
static machine slow_library(void)
{
    return (machine){.time = 1, .look = 2e-5, .batch = 1e-4};
}

static machine slow_model(void)
{
    return (machine){.time = 1, .look = 2e-6, .batch = 4e-4};
}

static void run_uneven_ticks(machine m, size_t pilot, int which)
{
    certreg_estimator *e = make(&m, pilot);
    certreg_question q = question(which, 0);
    const double batch = m.batch + LOOKS * m.look;
    for (uint64_t i = 0; i < 16; i++) {
        double late;
        const double allowed = uneven(i);
        const certreg_certificate c = tick(e, &m, allowed, &q, i, &late);
        ck_assert_msg(late <= batch, "tick %d: %g late", (int)i, late);
        if (allowed >= 2 * batch)
            ck_assert_msg(c.samples > 0, "tick %d of %g is empty", (int)i, allowed);
        ck_assert(isfinite(c.estimate));
        q.prediction = asks_prediction(c.estimate);
    }
}

TEST_TIMES(deadline_is_missed_by_at_most_a_batch_and_a_step, QUESTIONS)
{
    run_uneven_ticks(slow_library(), SIZE_MAX, _i);
    run_uneven_ticks(slow_model(), SIZE_MAX, _i);
    run_uneven_ticks(slow_library(), 200, _i);
    run_uneven_ticks(slow_model(), 200, _i);
}

static void run_even_ticks(machine m, int which, double allowed)
{
    certreg_estimator *e = make(&m, SIZE_MAX);
    const certreg_question q = question(which, questions[which].output ? 3.5 : 0.175);
    const int reach = inverse;
    for (uint64_t i = 0; i < 12; i++) {
        double late;
        const certreg_certificate c = tick(e, &m, allowed, &q, i, &late);
        ck_assert_int_eq(c.stop, q.target ? CERTREG_STOP_TARGET : CERTREG_STOP_DEADLINE);
        if (i < 3) continue; /* until it is known how long an answer takes */
        ck_assert_msg(reach ? isfinite(c.output_hi) : c.radius > 0,
                      "tick %d from %d samples, %g late", (int)i, (int)c.samples, late);
        ck_assert_double_le(late, 0);
    }
}

TEST_TIMES(deadline_of_a_steady_loop_gets_answers_from_the_4th_tick, QUESTIONS)
{
    run_even_ticks(slow_library(), _i, 0.024);
    run_even_ticks(slow_model(), _i, 0.04);
}

TEST_TIMES(deadline_loop_goes_on_as_before_after_a_hiccup, QUESTIONS / 4)
{
    machine m = slow_library();
    certreg_estimator *e = make(&m, SIZE_MAX);
    const int which = 4 * _i + 1; /* some of each kind */
    const certreg_question q = question(which, questions[which].output ? 3.5 : 0.175);
    certreg_certificate c = {0}, before = c;
    for (uint64_t i = 0; i < 40; i++) {
        double late;
        const unsigned looks = m.looks;
        c = tick(e, &m, 0.024, &q, i, &late);
        if (i == 6) before = c;
        if (i == 6)
            m.hiccup_at = m.looks + (m.looks - looks) * 9 / 10; /* in the closing of the next tick
                                                                 */
        ck_assert_uint_gt(c.samples, 0);
        if (i > 10) ck_assert_double_eq(c.radius > 0, before.radius > 0);
    }
    ck_assert_uint_gt(m.looks, m.hiccup_at);
    if (!q.target) ck_assert_double_ge((double)c.samples, 0.9 * (double)before.samples);
}

/* A group-sequential test is made in steps, and goes on being made where a deadline interrupted it:
 * so no tick is late, and a loop that keeps its wish has answers soon. One that changes it has
 * none. */
TEST_TIMES(deadline_spreads_making_a_group_test_over_ticks, 2)
{
    machine m = {.time = 1, .look = 2e-4, .batch = 1e-4};
    certreg_estimator *e = make(&m, SIZE_MAX);
    certreg_question q = question(4, 0.175);
    size_t answered = 0;
    for (uint64_t i = 0; i < 40; i++) {
        double late;
        q.target = asks_target(_i ? 0.2 + 0.001 * (double)i : 0.2);
        const certreg_certificate c = tick(e, &m, 0.006, &q, i, &late);
        ck_assert_msg(late <= m.batch + LOOKS * m.look, "tick %d: %g late", (int)i, late);
        ck_assert_msg(c.samples > 0, "tick %d is empty", (int)i);
        answered += c.stop == CERTREG_STOP_TARGET && c.radius >= q.target->radius;
        if (!_i && i >= 10)
            ck_assert_msg(c.radius >= q.target->radius, "tick %d: %g", (int)i, c.radius);
    }
    if (!_i) ck_assert_uint_ge(answered, 30);
}

TEST(deadline_in_making_a_group_test_does_not_change_it)
{
    certreg_certificate c[2];
    for (int hurried = 0; hurried < 2; hurried++) {
        machine m = {.time = 1, .look = 1e-4};
        certreg_estimator *e = make(&m, SIZE_MAX);
        const certreg_question q = question(4, 0.175);
        double late;
        for (uint64_t i = 0; hurried && i < 30; i++) tick(e, &m, 0.001, &q, 100 + i, &late);
        c[hurried] = tick(e, &m, 100, &q, 7, &late);
    }
    ck_assert_uint_eq(c[0].samples, c[1].samples);
    ck_assert_double_eq(c[0].radius, c[1].radius);
    ck_assert_int_eq(c[0].stop, CERTREG_STOP_TARGET);
}

/* The first level learns what answers take, and none takes the time of those behind it. */
TEST_TIMES(deadline_is_divided_among_levels_of_sigma, QUESTIONS)
{
    static const double sigmas[] = {0.2, 0.21, 0.22};
    enum { LEVELS = KIT_ROWS(sigmas) };
    machine m = {.time = 1, .look = 2e-5, .batch = 1e-3};
    certreg_estimator *e = make(&m, SIZE_MAX);
    const certreg_question q = question(_i, questions[_i].output ? 3.5 : 0.175);
    for (uint64_t i = 0; i < 8; i++) {
        certreg_certificate c[LEVELS] = {{.struct_size = sizeof *c}};
        const double due = m.time + 0.1;
        certreg_estimator_set_deadline(e, 0.1);
        KIT_OK(e, certreg_certify_sigmas(e, where, sigmas, LEVELS, i, CAPACITY, &q, 1, c));
        ck_assert_double_le(m.time - due, m.batch + LOOKS * m.look);
        for (int k = 0; i > 2 && k < LEVELS; k++) {
            ck_assert_msg(c[k].radius > 0, "call %d, level %d: %d samples", (int)i, k,
                          (int)c[k].samples);
            if (!q.target) ck_assert_double_gt(1.5 * (double)c[k].samples, (double)c[0].samples);
        }
    }
}

KIT_MAIN("deadlines")
