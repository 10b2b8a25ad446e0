/* Ticks of a control loop on a clock of the test's own: a batch of the model takes so long, and so
 * does every look that the library has at the clock, which it has between the steps of its
 * computation. Whatever is asked, answers come in time, from what samples there can be; and
 * sampling learns how much time they take. */
#include "estimator/estimator.h"
#include "support/asks.h"
#include "support/suite.h"
#include <certreg/certreg.h>
#include <check.h>
#include <math.h>

enum { INPUTS = 4, BATCH = 64, CAPACITY = 8192 };

typedef struct machine {
    double time, look, batch; /* seconds; the last two: what each takes */
    unsigned looks;           /* how many there were */
    unsigned hiccup_at; /* at which the machine stands still for a tenth of a second; 0: at none */
} machine;

static double look(void *of)
{
    machine *m = of;
    if (++m->looks == m->hiccup_at) m->time += 0.1;
    return m->time += m->look;
}

/* Nearly linear; two outputs, of which the second is an angle in degrees. */
static int model(void *user, const certreg_batch *b)
{
    machine *m = user;
    m->time += m->batch;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * INPUTS, u = 0.5f * x[0] - 0.25f * x[1] + 0.1f * x[2] * x[3];
        b->y[2 * i] = fmaxf(-2, fminf(u, 2));
        b->y[2 * i + 1] = 20 * b->y[2 * i];
    }
    return 0;
}

static certreg_estimator *make(machine *m, size_t pilot)
{
    static const int32_t kind[] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE};
    static const double lo[] = {-2, -180}, hi[] = {2, 180};
    const certreg_model of = {.struct_size = sizeof of,
                              .eval = model,
                              .user = m,
                              .inputs = INPUTS,
                              .outputs = 2,
                              .batch = BATCH,
                              .kind = kind,
                              .lo = lo,
                              .hi = hi};
    const certreg_plan plan = {.struct_size = sizeof plan,
                               .seed = 3,
                               .max_samples = CAPACITY,
                               .pilot = pilot,
                               .constraints = 31};
    certreg_estimator *e;
    ck_assert_int_eq(certreg_estimator_create(NULL, &of, &plan, NULL, &e), CERTREG_OK);
    e->clock.watch->now = look, e->clock.watch->of = m;
    return e;
}

/* ---- questions */
enum {
    MEDIAN = CERTREG_STATISTIC_MEDIAN,
    HUBER = CERTREG_STATISTIC_HUBER,
    MEAN = CERTREG_STATISTIC_MEAN,
    CIRCULAR = CERTREG_STATISTIC_CIRCULAR_MEAN
};
enum {
    FINITE = CERTREG_METHOD_FINITE,
    NORMAL = CERTREG_METHOD_ASYMPTOTIC,
    PAPER = CERTREG_METHOD_PAPER,
    ANYTIME = CERTREG_METHOD_ANYTIME
};

enum { OUTPUT_BOUNDS = 2 }; /* beside the centers */
static const struct asked {
    int32_t statistic, method, center;
    uint32_t constraints;
    int32_t output;
    double wanted;
    unsigned passes; /* over the samples that the answer takes, at least */
} questions[] = {
    {MEDIAN, FINITE, 0, 0, 0, 0, 18},
    {MEDIAN, FINITE, 0, 13, 0, 0, 18},
    {MEDIAN, NORMAL, 0, 15, 0, 0, 22},
    {MEDIAN, ANYTIME, 0, 0, 0, 0, 18},
    {MEDIAN, FINITE, 0, 0, 0, 0.5, 18},
    {MEDIAN, ANYTIME, 0, 0, 0, 0.5, 18},
    {MEDIAN, FINITE, 0, 0, 1, 0, 20},
    {MEDIAN, NORMAL, 0, 15, 1, 0, 24},
    {MEDIAN, FINITE, OUTPUT_BOUNDS, 0, 0, 0, 31},
    {HUBER, FINITE, 0, 0, 0, 0, 58},
    {HUBER, FINITE, 0, 15, 0, 0, 58},
    {HUBER, NORMAL, 0, 15, 0, 0, 58},
    {HUBER, NORMAL, 0, 31, 0, 0, 60},
    {HUBER, ANYTIME, 0, 0, 0, 0, 58},
    {HUBER, FINITE, 0, 0, 1, 0, 58},
    {HUBER, FINITE, OUTPUT_BOUNDS, 0, 0, 0, 110},
    {MEAN, FINITE, 0, 0, 0, 0, 14},
    {MEAN, FINITE, 0, 15, 0, 0, 14},
    {MEAN, NORMAL, 0, 15, 0, 0, 11},
    {MEAN, ANYTIME, 0, 0, 0, 0, 10},
    {MEAN, FINITE, CERTREG_CENTER_TRUE_MEAN, 0, 0, 0, 16},
    {MEAN, NORMAL, CERTREG_CENTER_TRUE_MEAN, 15, 0, 0, 6},
    {MEAN, PAPER, CERTREG_CENTER_TRUE_MEAN, 15, 0, 0, 7},
    {CIRCULAR, FINITE, 0, 0, 1, 0, 10},
    {CIRCULAR, NORMAL, 0, 15, 1, 0, 11},
    {CIRCULAR, ANYTIME, 0, 0, 1, 0, 11},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static int inverse; /* whether the question made last is about output bounds */

static certreg_question question(int which, double prediction)
{
    const struct asked *a = questions + which;
    inverse = a->center == OUTPUT_BOUNDS;
    const double unit = a->output ? 20 : 1;
    const certreg_question q = {.struct_size = sizeof q,
                                .output = a->output,
                                .statistic = a->statistic,
                                .method = a->method,
                                .center = inverse ? CERTREG_CENTER_PREDICTION : a->center,
                                .constraints = a->constraints,
                                .tolerance = 0.5 * unit,
                                .huber_width = a->statistic == HUBER ? 0.25 * unit : 0,
                                .target = a->wanted > 0 ? asks_target(a->wanted) : NULL,
                                .prediction = asks_prediction(prediction)};
    return q;
}

static certreg_status certify(certreg_estimator *e, size_t samples, const certreg_question *q,
                              certreg_certificate *c)
{
    return inverse ? certreg_output_bounds(e, samples, q, 1, 0.1, c)
                   : certreg_certify(e, samples, q, 1, c);
}

/* ---- ticks */
enum { LOOKS = 12 }; /* of a batch, of the beginning, and of the end: a generous share of each */

static const float where[INPUTS] = {0.3f, -0.1f, 0.2f, 0.1f};

static certreg_certificate tick(certreg_estimator *e, machine *m, double allowed,
                                const certreg_question *q, uint64_t stream, double *late)
{
    certreg_certificate c = {.struct_size = sizeof c};
    ck_assert_int_eq(certreg_estimator_begin(e, where, 0.2, stream), CERTREG_OK);
    certreg_estimator_set_deadline(e, allowed);
    const double due = m->time + allowed;
    ck_assert_msg(certify(e, CAPACITY, q, &c) == CERTREG_OK, "%s",
                  certreg_estimator_error(e)->text);
    *late = m->time - due;
    return c;
}

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
    certreg_estimator_destroy(e);
}

START_TEST(no_tick_is_late_by_more_than_a_batch_and_a_step_or_empty_without_need)
{
    run_uneven_ticks(slow_library(), SIZE_MAX, _i);
    run_uneven_ticks(slow_model(), SIZE_MAX, _i);
    run_uneven_ticks(slow_library(), 200, _i);
    run_uneven_ticks(slow_model(), 200, _i);
}
END_TEST

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
    certreg_estimator_destroy(e);
}

START_TEST(a_steady_loop_gets_an_answer_in_every_tick_but_the_first_three)
{
    run_even_ticks(slow_library(), _i, 0.024);
    run_even_ticks(slow_model(), _i, 0.04);
}
END_TEST

START_TEST(after_a_hiccup_the_loop_goes_on_as_before)
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
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- closings that are cut off */

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

START_TEST(an_answer_that_is_cut_off_anywhere_claims_nothing)
{
    machine m = {.time = 1, .look = 1e-6};
    certreg_estimator *e = make(&m, 200);
    const certreg_question q = question(_i, 3);
    ck_assert_int_eq(certreg_estimator_begin(e, where, 0.2, 0), CERTREG_OK);
    ck_assert_int_eq(certreg_estimator_sample(e, 0, 1500), CERTREG_OK);
    const unsigned before = m.looks;
    const certreg_certificate whole = answer(e, &q, 0);
    const unsigned looks = m.looks - before;
    unsigned cut = 0;
    for (unsigned i = 1; i <= looks + 8; i += 1 + looks / 24) {
        const certreg_certificate c = answer(e, &q, 1e-6 * i);
        if (c.stop == CERTREG_STOP_DEADLINE) claims_nothing(&c), cut++;
        else ck_assert_mem_eq(&c, &whole, sizeof c);
    }
    ck_assert_uint_ge(cut, 3);
    const certreg_certificate again = answer(e, &q, 0);
    ck_assert_mem_eq(&again, &whole, sizeof again);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(questions_answered_before_the_deadline_keep_their_answers)
{
    machine m = {.time = 1, .look = 1e-6};
    certreg_estimator *e = make(&m, 200);
    const certreg_question q[3] = {question(0, 0), question(9, 0), question(18, 0)};
    certreg_certificate whole[3] = {{.struct_size = sizeof *whole}},
                        c[3] = {{.struct_size = sizeof *c}};
    ck_assert_int_eq(certreg_estimator_begin(e, where, 0.2, 0), CERTREG_OK);
    ck_assert_int_eq(certreg_certify(e, 1500, q, 3, whole), CERTREG_OK);
    unsigned seen = 0; /* how many questions were answered: a bit for each number */
    for (unsigned i = 1; i <= 1000; i += 3) {
        size_t answered = 0;
        certreg_estimator_set_deadline(e, 1e-6 * i);
        ck_assert_int_eq(certreg_certify(e, 1500, q, 3, c), CERTREG_OK);
        while (answered < 3 && c[answered].stop == CERTREG_STOP_ALL) answered++;
        for (size_t k = 0; k < 3; k++) {
            if (k < answered) ck_assert_double_eq(c[k].radius, whole[k].radius);
            else claims_nothing(c + k);
        }
        seen |= 1u << answered;
    }
    ck_assert_uint_eq(seen, 15);
    certreg_estimator_destroy(e);
}
END_TEST

/* A closed test is made in steps, and goes on being made where a deadline interrupted it: so no
 * tick is late, and a loop that keeps its wish has answers soon. One that changes it has none. */
START_TEST(making_a_closed_test_is_spread_over_ticks)
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
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(making_a_closed_test_looks_at_the_clock_between_its_steps)
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
    ck_assert_uint_ge(looks[0], looks[1] + 2 * CR_CLOSED_RADII);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(an_interrupted_closed_test_becomes_the_one_that_is_made_at_once)
{
    certreg_certificate c[2];
    for (int hurried = 0; hurried < 2; hurried++) {
        machine m = {.time = 1, .look = 1e-4};
        certreg_estimator *e = make(&m, SIZE_MAX);
        const certreg_question q = question(4, 0.175);
        double late;
        for (uint64_t i = 0; hurried && i < 30; i++) tick(e, &m, 0.001, &q, 100 + i, &late);
        c[hurried] = tick(e, &m, 100, &q, 7, &late);
        certreg_estimator_destroy(e);
    }
    ck_assert_uint_eq(c[0].samples, c[1].samples);
    ck_assert_double_eq(c[0].radius, c[1].radius);
    ck_assert_int_eq(c[0].stop, CERTREG_STOP_TARGET);
}
END_TEST

/* What happens between two looks at the clock must not grow with the number of samples: so every
 * pass has to look on its way. */
START_TEST(every_pass_looks_at_the_clock_on_its_way)
{
    machine m = {.time = 1, .look = 1e-6};
    certreg_estimator *e = make(&m, SIZE_MAX);
    const certreg_question q = question(_i, 0);
    unsigned looks[2];
    ck_assert_int_eq(certreg_estimator_begin(e, where, 0.2, 0), CERTREG_OK);
    ck_assert_int_eq(certreg_estimator_sample(e, 0, 500), CERTREG_OK);
    answer(e, &q, 1); /* makes a closed test, which is kept */
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(certreg_estimator_begin(e, where, 0.2, 0), CERTREG_OK);
        ck_assert_int_eq(certreg_estimator_sample(e, 0, (size_t)(i + 1) * CAPACITY / 2),
                         CERTREG_OK);
        const unsigned before = m.looks;
        answer(e, &q, 1);
        looks[i] = m.looks - before;
    }
    ck_assert_uint_ge(looks[1] - looks[0], questions[_i].passes * (CAPACITY / 2 / CR_WATCH_STEP));
    certreg_estimator_destroy(e);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deadlines");
    TCase *all = kit_case(suite, "ticks", 120);
    tcase_add_loop_test(all, no_tick_is_late_by_more_than_a_batch_and_a_step_or_empty_without_need,
                        0, QUESTIONS);
    tcase_add_loop_test(all, a_steady_loop_gets_an_answer_in_every_tick_but_the_first_three, 0,
                        QUESTIONS);
    tcase_add_loop_test(all, after_a_hiccup_the_loop_goes_on_as_before, 0, QUESTIONS / 4);
    tcase_add_loop_test(all, an_answer_that_is_cut_off_anywhere_claims_nothing, 0, QUESTIONS);
    tcase_add_test(all, questions_answered_before_the_deadline_keep_their_answers);
    tcase_add_loop_test(all, making_a_closed_test_is_spread_over_ticks, 0, 2);
    tcase_add_test(all, making_a_closed_test_looks_at_the_clock_between_its_steps);
    tcase_add_test(all, an_interrupted_closed_test_becomes_the_one_that_is_made_at_once);
    tcase_add_loop_test(all, every_pass_looks_at_the_clock_on_its_way, 0, QUESTIONS);
    return kit_run(suite);
}
