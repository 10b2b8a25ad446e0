/* Deadlines, on a clock of the test's own: a batch of the model takes so long, and so does every
 * look at the clock, which the library takes between the steps of its computation. Answers to all
 * kinds of questions come in time, from the samples that fit into it; one that is cut off claims
 * nothing; every step looks at the clock; and a tick without time has an estimate to go on with. */
#include "certify/certify.h"
#include "estimator/estimator.h"
#include "support/api_kit.h"
#include "support/names.h"
#include <certreg/question.h>
#include <certreg/sampling.h>

enum { INPUTS = 4, BATCH = 64, CAPACITY = 8192 };

typedef struct machine {
    double time, look, batch; /* seconds; the last two: what each takes */
    unsigned looks, calls;    /* how many there were, and batches */
    int fails;                /* whether outputs are NaN */
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
    m->time += m->batch, m->calls++;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * INPUTS, u = 0.5f * x[0] - 0.25f * x[1] + 0.1f * x[2] * x[3];
        b->y[2 * i] = m->fails ? NAN : fmaxf(-2, fminf(u, 2));
        b->y[2 * i + 1] = 20 * b->y[2 * i];
    }
    return 0;
}

static certreg_estimator *make(machine *m, size_t pilot)
{
    static const int32_t kind[] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE};
    static const double lo[] = {-2, -180}, hi[] = {2, 180};
    certreg_model of = kit_model(model, m, INPUTS, 2);
    certreg_plan plan = KIT_PLAN(CAPACITY, .flags = m->fails ? CERTREG_PLAN_COUNT_FAILURES : 0);
    of.batch = BATCH, of.kind = kind, of.lo = lo, of.hi = hi;
    plan.seed = 3, plan.pilot = pilot, plan.constraints = CERTREG_CONSTRAINTS_ECGM;
    certreg_estimator *e = kit_create(NULL, &of, &plan);
    e->record.deadline->now = look, e->record.deadline->clock_context = m;
    return e;
}

/* ---- questions */
enum { OUTPUT_BOUNDS = 2 }; /* beside the centers */
static const struct asked {
    int32_t statistic, method, center;
    uint32_t constraints;
    int32_t output;
    double wanted;
    unsigned passes; /* over the samples that the answer takes, at least */
} questions[] = {
    {MEDIAN, FINITE, 0, 0, 0, 0, 6},
    {MEDIAN, FINITE, 0, 13, 0, 0, 8},
    {MEDIAN, ASYMPTOTIC, 0, 15, 0, 0, 12},
    {MEDIAN, ANYTIME, 0, 0, 0, 0, 6},
    {MEDIAN, FINITE, 0, 0, 0, 0.5, 6},
    {MEDIAN, ANYTIME, 0, 0, 0, 0.5, 6},
    {MEDIAN, FINITE, 0, 0, 1, 0, 9},
    {MEDIAN, ASYMPTOTIC, 0, 15, 1, 0, 13},
    {MEDIAN, FINITE, OUTPUT_BOUNDS, 0, 0, 0, 10},
    {HUBER, FINITE, 0, 0, 0, 0, 24},
    {HUBER, FINITE, 0, 15, 0, 0, 24},
    {HUBER, ASYMPTOTIC, 0, 15, 0, 0, 24},
    {HUBER, ANYTIME, 0, 0, 0, 0, 24},
    {HUBER, FINITE, 0, 0, 1, 0, 24},
    {HUBER, FINITE, OUTPUT_BOUNDS, 0, 0, 0, 80},
    {MEAN, FINITE, 0, 0, 0, 0, 13},
    {MEAN, FINITE, 0, 15, 0, 0, 14},
    {MEAN, ASYMPTOTIC, 0, 15, 0, 0, 11},
    {MEAN, ANYTIME, 0, 0, 0, 0, 10},
    {MEAN, FINITE, TRUE_MEAN, 0, 0, 0, 15},
    {MEAN, ASYMPTOTIC, TRUE_MEAN, 15, 0, 0, 6},
    {MEAN, PAPER, TRUE_MEAN, 15, 0, 0, 7},
    {CIRCULAR_MEAN, FINITE, 0, 0, 1, 0, 10},
    {CIRCULAR_MEAN, ASYMPTOTIC, 0, 15, 1, 0, 11},
    {CIRCULAR_MEAN, ANYTIME, 0, 0, 1, 0, 11},
    {MEDIAN, BASELINE, 0, 0, 0, 0, 6},
    {TRIMMED_MEAN, BASELINE, 0, 0, 0, 0, 8},
    {TRIMMED_MEAN, BASELINE, 0, 0, 1, 0, 8},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static int inverse; /* whether the question made last is about output bounds */

static certreg_question question(int which, double prediction)
{
    const struct asked *a = questions + which;
    inverse = a->center == OUTPUT_BOUNDS;
    const double unit = a->output ? 20 : 1;
    static const certreg_serving served = {
        .struct_size = sizeof served, .samples = 50, .failure_rate = 0.1, .trim = 0.4};
    certreg_question q = kit_question(0.5 * unit);
    q.output = a->output, q.statistic = a->statistic, q.method = a->method;
    q.center = inverse ? PREDICTION : a->center, q.constraints = a->constraints;
    q.huber_width = a->statistic == HUBER ? 0.25 * unit : 0;
    q.target = a->wanted > 0 ? asks_target(a->wanted) : NULL;
    q.prediction = asks_prediction(prediction);
    q.serving = a->statistic == TRIMMED_MEAN ? &served : NULL;
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

/* ---- in time */
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

/* ---- answers that are cut off */
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

/* ---- what a tick without time hands on */
TEST_TIMES(deadline_without_samples_hands_the_prediction_on, QUESTIONS)
{
    const struct asked *a = questions + _i;
    machine m = {.time = 1, .look = 1e-6, .batch = 1e-4};
    certreg_estimator *e = make(&m, a->method == ASYMPTOTIC ? 150 : SIZE_MAX);
    /* an angle's in its turn: 400 degrees are 40 */
    const double given = a->output ? 400 : 0.45, handed = a->output ? 40 : given;
    certreg_question q = question(_i, given);
    double late;
    certreg_certificate c = tick(e, &m, 1e-9, &q, 1, &late);
    ck_assert_int_eq(c.stop, CERTREG_STOP_DEADLINE);
    ck_assert(c.samples == 0 && c.radius == 0);
    ck_assert_double_eq_tol(c.estimate, handed, 1e-12);
    e = make(&m, 150), q.prediction = NULL;
    if (!inverse) ck_assert_double_nan(tick(e, &m, 1e-9, &q, 2, &late).estimate);
}

/* Whatever was predicted. */
TEST_TIMES(deadline_after_few_samples_leaves_an_estimate, 2)
{
    machine m = {.time = 1, .look = 1e-6, .batch = 1e-3};
    certreg_estimator *e = make(&m, 150);
    certreg_question q = question(0, 7);
    double late;
    if (!_i) q.prediction = NULL;
    const certreg_certificate c = tick(e, &m, 2.5e-3, &q, 1, &late);
    ck_assert_int_eq(c.stop, CERTREG_STOP_DEADLINE);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_uint_eq(c.samples, 2 * BATCH);
    ck_assert_double_eq_tol(c.estimate, 0.177, 0.1);
}

TEST(deadline_prediction_is_the_estimate_if_all_outputs_failed)
{
    machine m = {.time = 1, .fails = 1};
    certreg_estimator *e = make(&m, SIZE_MAX);
    const certreg_question q = question(0, 0.45);
    double late;
    const certreg_certificate c = tick(e, &m, INFINITY, &q, 1, &late);
    ck_assert(c.samples == CAPACITY && c.radius == 0 && c.estimate == 0.45);
}

/* Nobody knows what answers take when an estimator is new, and it must not be learned from
 * outputs: the model is not called for it. */
TEST_TIMES(deadline_that_is_the_first_changes_no_answer, QUESTIONS)
{
    certreg_certificate c[2];
    for (int timed = 0; timed < 2; timed++) {
        machine m = {.time = 1, .look = 1e-6};
        certreg_estimator *e = make(&m, 200);
        const certreg_question q = question(_i, 0);
        double late;
        c[timed] = tick(e, &m, timed ? 1000 : INFINITY, &q, 1, &late);
        ck_assert_uint_eq(m.calls, (c[timed].samples + BATCH - 1) / BATCH);
    }
    ck_assert_mem_eq(c, c + 1, sizeof *c);
}

KIT_MAIN("deadlines")
