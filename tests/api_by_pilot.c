/* Constraints that the pilot chooses: the answer is that of the set it chose, bit for bit, and
 * nothing but the pilot, the plan and the question has a say in which. */
#include "support/api_kit.h"

enum { MOST = 2000, PILOT = 200, FEW = 600 };
static const uint32_t by_pilot = CERTREG_CONSTRAINTS_BY_PILOT;

/* 10 beyond two faces at right angles to x0, else 0, with a slope: what the gradient is good for
 * depends on how far the second face is. */
typedef struct slab {
    float right, left, slope;
    size_t constant_from; /* samples from here on are 0 */
} slab;

static int evaluate(void *user, const certreg_batch *b)
{
    const slab *s = user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            const float x = b->x[i * b->inputs];
            const float y = (x > s->right || x < -s->left ? 10 : 0) + s->slope * x;
            b->y[i * b->columns + k] = b->first + i < s->constant_from ? y : 0;
        }
    return 0;
}

static slab slab_of(float left)
{
    return (slab){.right = 1.2f, .left = left, .slope = 0.1f, .constant_from = SIZE_MAX};
}

static const float origin[2] = {0, 0};
static const int32_t real = CERTREG_OUTPUT_REAL, angle = CERTREG_OUTPUT_ANGLE;

static certreg_estimator *make_with(slab *s, const int32_t *kind, size_t pilot,
                                    uint32_t constraints)
{
    static const double lo = -180, hi = 180;
    certreg_model m = kit_model(evaluate, s, 2, 1);
    m.kind = kind, m.lo = &lo, m.hi = &hi;
    certreg_plan p = kit_plan(MOST);
    p.pilot = pilot, p.constraints = constraints;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, 1, 1));
    return e;
}

static certreg_estimator *make(slab *s, const int32_t *kind, size_t pilot)
{
    return make_with(s, kind, pilot, CERTREG_CONSTRAINTS_ECGM);
}

static certreg_question ask_of(int32_t statistic, int32_t method, int32_t center)
{
    certreg_question q = kit_question(3);
    q.statistic = statistic, q.method = method, q.center = center;
    q.huber_width = statistic == CERTREG_STATISTIC_HUBER ? 1.5 : 0;
    q.constraints = by_pilot;
    return q;
}

static void same_answer(certreg_certificate a, certreg_certificate b)
{
    a.question = b.question; /* their digests */
    ck_assert_mem_eq(&a, &b, sizeof a);
}

/* ---- the answer */
static const struct {
    int32_t statistic, method, center;
} asked[] = {{CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, CERTREG_CENTER_PREDICTION},
             {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, CERTREG_CENTER_PREDICTION},
             {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, CERTREG_CENTER_PREDICTION},
             {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, CERTREG_CENTER_TRUE_MEAN},
             {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC, CERTREG_CENTER_PREDICTION},
             {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, CERTREG_CENTER_PREDICTION},
             {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, CERTREG_CENTER_TRUE_MEAN},
             {CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_FINITE, CERTREG_CENTER_PREDICTION}};

/* The names of the set whose constraints a certificate reports; of the median, whose own scores
 * have no variance, too. */
static uint32_t set_of(const certreg_certificate *c)
{
    const int gradient = (c->constraints & CERTREG_CONSTRAINT_GRADIENT) != 0;
    if (!(c->constraints & CERTREG_CONSTRAINT_MEAN))
        return gradient ? CERTREG_CONSTRAINTS_CG : CERTREG_CONSTRAINTS_C;
    return gradient ? CERTREG_CONSTRAINTS_ECGM : CERTREG_CONSTRAINTS_ECM;
}

START_TEST(the_answer_is_that_of_the_set_that_was_chosen)
{
    static const float lefts[] = {1.2f, 1.5f, 1.8f, 2.2f, 9};
    const int32_t *kind = asked[_i].statistic == CERTREG_STATISTIC_CIRCULAR_MEAN ? &angle : &real;
    for (int k = 0; k < KIT_ROWS(lefts); k++) {
        slab s = slab_of(lefts[k]);
        certreg_estimator *e = make(&s, kind, PILOT);
        certreg_question q = ask_of(asked[_i].statistic, asked[_i].method, asked[_i].center);
        const certreg_certificate c = kit_ask(e, MOST, q);
        const certreg_bounds of = asks_bounds(e, &q, &c);
        ck_assert_double_gt(c.radius, 0);
        q.constraints = set_of(&c);
        const certreg_certificate named = kit_ask(e, MOST, q);
        const certreg_bounds of_named = asks_bounds(e, &q, &c);
        same_answer(c, named);
        ck_assert_mem_eq(&of, &of_named, sizeof of);
        certreg_estimator_destroy(e);
    }
}
END_TEST

/* The second order takes its share from the gradient, so that neither set contains the other. */
START_TEST(the_second_order_is_used_where_it_pays)
{
    uint32_t seen = 0;
    for (float left = 1.2f; left < 3; left += 0.3f) {
        slab s = slab_of(left);
        certreg_estimator *e = make_with(&s, &real, PILOT, CERTREG_CONSTRAINTS_ECGHM);
        certreg_question q =
            ask_of(asked[_i].statistic, CERTREG_METHOD_ASYMPTOTIC, asked[_i].center);
        const certreg_certificate c = kit_ask(e, MOST, q);
        const uint32_t second = c.constraints & CERTREG_CONSTRAINT_SECOND_ORDER;
        q.constraints = second ? CERTREG_CONSTRAINTS_ECGHM : set_of(&c);
        same_answer(c, kit_ask(e, MOST, q));
        seen |= second ? 1 : 2;
        certreg_estimator_destroy(e);
    }
    ck_assert_uint_eq(seen, 3);
}
END_TEST

/* A face on either side: the gradient is 0 and worth its share; one face: it is not. */
START_TEST(either_set_is_chosen_where_it_is_better)
{
    for (int one_face = 0; one_face < 2; one_face++) {
        slab s = slab_of(one_face ? 9 : 1.2f);
        certreg_estimator *e = make(&s, &real, PILOT);
        certreg_question q = ask_of(CERTREG_STATISTIC_MEDIAN, asked[_i].method, 0);
        const certreg_certificate c = kit_ask(e, MOST, q);
        q.constraints = one_face ? CERTREG_CONSTRAINTS_ECGM : CERTREG_CONSTRAINTS_ECM;
        ck_assert_double_gt(c.radius, kit_ask(e, MOST, q).radius);
        certreg_estimator_destroy(e);
    }
}
END_TEST

/* ---- what has a say */
/* The constraints that are used, where the main samples are these and there are so many. */
static uint32_t chosen(float left, size_t constant_from, size_t total, size_t step)
{
    slab s = slab_of(left);
    s.constant_from = constant_from;
    certreg_estimator *e = make(&s, &real, PILOT);
    for (size_t at = 0; step && at < total; at += step)
        KIT_OK(e, certreg_estimator_sample(e, at, at + step < total ? step : total - at));
    const certreg_certificate c =
        kit_ask(e, total, ask_of(CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0));
    certreg_estimator_destroy(e);
    return c.constraints;
}

START_TEST(neither_main_samples_nor_their_number_nor_cuts_have_a_say)
{
    uint32_t seen = 0;
    for (float left = 1.2f; left < 2.6f; left += 0.1f) {
        const uint32_t set = chosen(left, SIZE_MAX, MOST, 0);
        ck_assert_uint_eq(chosen(left, SIZE_MAX, MOST, 333), set);
        ck_assert_uint_eq(chosen(left, SIZE_MAX, FEW, 0), set);
        ck_assert_uint_eq(chosen(left, SIZE_MAX, FEW + 77, 50), set);
        ck_assert_uint_eq(chosen(left, PILOT, MOST, 0), set);
        seen |= set & CERTREG_CONSTRAINT_GRADIENT ? 1 : 2;
    }
    ck_assert_uint_eq(seen, 3);
}
END_TEST

/* ---- where nothing is chosen */
static void is_the_default(certreg_estimator *e, certreg_question q)
{
    const certreg_certificate c = kit_ask(e, MOST, q);
    q.constraints = 0;
    same_answer(c, kit_ask(e, MOST, q));
    ck_assert_uint_eq(c.constraints & CERTREG_CONSTRAINT_GRADIENT, 0);
}

START_TEST(without_a_pilot_that_can_judge_it_is_the_default)
{
    static const size_t pilots[] = {SIZE_MAX, 1, 60, 128};
    slab s = slab_of(1.2f);
    certreg_estimator *e = make(&s, &real, pilots[_i]);
    certreg_question q = ask_of(CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0);
    q.prediction = asks_prediction(0);
    is_the_default(e, q);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(targets_and_anytime_questions_have_the_default)
{
    slab s = slab_of(1.2f);
    certreg_estimator *e = make(&s, &real, PILOT);
    certreg_question q = ask_of(CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ANYTIME, 0);
    is_the_default(e, q);
    q.method = CERTREG_METHOD_FINITE, q.target = asks_target(0.3);
    KIT_OK(e, certreg_estimator_begin(e, origin, 1, 2));
    is_the_default(e, q);
    certreg_forecast f = {.struct_size = sizeof f}, g = f;
    KIT_OK(e, certreg_estimator_forecast(e, &q, &f));
    q.constraints = 0;
    KIT_OK(e, certreg_estimator_forecast(e, &q, &g));
    ck_assert_mem_eq(&f, &g, sizeof f);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(output_bounds_have_the_default)
{
    slab s = slab_of(1.2f);
    certreg_estimator *e = make(&s, &real, PILOT);
    certreg_question q = ask_of(asked[_i].statistic, CERTREG_METHOD_FINITE, 0);
    certreg_certificate c = kit_certificate(), d = c;
    KIT_OK(e, certreg_output_bounds(e, MOST, &q, 1, 0.3, &c));
    q.constraints = 0;
    KIT_OK(e, certreg_output_bounds(e, MOST, &q, 1, 0.3, &d));
    ck_assert_double_gt(c.radius, 0);
    same_answer(c, d);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(all_outputs_together_have_the_default)
{
    slab s = slab_of(1.2f);
    const double lo[2] = {-180, -180}, hi[2] = {180, 180};
    certreg_model m = kit_model(evaluate, &s, 2, 2);
    m.lo = lo, m.hi = hi;
    const certreg_plan p = kit_plan(MOST);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_question q =
        ask_of(CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, CERTREG_CENTER_TRUE_MEAN);
    q.output = CERTREG_ALL_OUTPUTS;
    KIT_OK(e, certreg_estimator_begin(e, origin, 1, 1));
    is_the_default(e, q);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(an_answer_that_is_late_claims_nothing)
{
    slab s = slab_of(1.2f);
    certreg_estimator *e = make(&s, &real, PILOT);
    const certreg_question q = ask_of(CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0);
    KIT_OK(e, certreg_estimator_sample(e, 0, MOST));
    KIT_OK(e, certreg_estimator_set_deadline(e, -1));
    const certreg_certificate c = kit_ask(e, MOST, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_DEADLINE);
    ck_assert_double_eq(c.radius, 0);
    KIT_OK(e, certreg_estimator_set_deadline(e, 0));
    ck_assert_double_gt(kit_ask(e, MOST, q).radius, 0);
    certreg_estimator_destroy(e);
}
END_TEST

/* Failed outputs count as the worst score, in the forecast as in the bounds; the mean abstains. */
static int fails_sometimes(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++)
        b->y[i] = b->x[i * b->inputs] > 1.6f ? NAN : b->x[i * b->inputs];
    return 0;
}

START_TEST(outputs_that_fail_are_no_obstacle)
{
    certreg_model m = kit_model(fails_sometimes, NULL, 2, 1);
    certreg_plan p = kit_plan(MOST);
    p.flags = CERTREG_PLAN_COUNT_FAILURES;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, 1, 1));
    const int mean = asked[_i].statistic == CERTREG_STATISTIC_MEAN;
    certreg_question q = ask_of(
        asked[_i].statistic, mean ? CERTREG_METHOD_ASYMPTOTIC : asked[_i].method, asked[_i].center);
    const certreg_certificate c = kit_ask(e, MOST, q);
    ck_assert_int_eq(c.outcome != CERTREG_OUTCOME_ABSTAINED, !mean);
    ck_assert_str_eq(certreg_estimator_error(e)->text, "");
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- refusals */
static const struct {
    int32_t statistic, method, center;
    uint32_t constraints;
    const char *says;
} refused[] = {
    {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CENTER_TRUE_MEAN,
     CERTREG_CONSTRAINTS_BY_PILOT, "CERTREG_CONSTRAINTS_BY_PILOT"},
    {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0,
     (uint32_t)CERTREG_CONSTRAINTS_BY_PILOT | CERTREG_CONSTRAINTS_ECGM, "alone"},
    {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_BASELINE, 0, CERTREG_CONSTRAINTS_BY_PILOT,
     "set question.constraints to 0"},
    {7, CERTREG_METHOD_FINITE, 0, 0, "the same for all inputs"},
};

START_TEST(what_cannot_be_chosen_is_refused)
{
    slab s = slab_of(1.2f);
    certreg_estimator *e = make(&s, &real, PILOT);
    certreg_question q = ask_of(refused[_i].statistic, refused[_i].method, refused[_i].center);
    certreg_certificate c = kit_certificate();
    q.constraints = refused[_i].constraints;
    KIT_STATUS(e, certreg_certify(e, MOST, &q, 1, &c), CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(e), refused[_i].says);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(a_plan_cannot_leave_it_to_the_pilot)
{
    slab s = slab_of(1.2f);
    const certreg_model m = kit_model(evaluate, &s, 2, 1);
    certreg_plan p = kit_plan(MOST);
    p.constraints = by_pilot;
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
    KIT_SAYS(&why,
             "plan.constraints: CERTREG_CONSTRAINTS_BY_PILOT belongs to question.constraints");
}
END_TEST

/* ---- what is kept of it */
START_TEST(digest_and_json_know_it)
{
    certreg_question q = kit_question(0.5), plain = q;
    q.constraints = by_pilot;
    uint64_t digest = 0, other = 0;
    ck_assert_int_eq(certreg_question_digest(&q, &digest), CERTREG_OK);
    ck_assert_int_eq(certreg_question_digest(&plain, &other), CERTREG_OK);
    ck_assert_uint_ne(digest, other);
    char text[1024];
    size_t bytes = sizeof text;
    ck_assert_int_eq(certreg_write_json(&q, NULL, NULL, 0, text, &bytes), CERTREG_OK);
    ck_assert_ptr_nonnull(strstr(text, "\"constraints\":1073741824"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("api_by_pilot");
    TCase *t = kit_case(s, "the choice", 60);
    tcase_add_loop_test(t, the_answer_is_that_of_the_set_that_was_chosen, 0, KIT_ROWS(asked));
    tcase_add_loop_test(t, the_second_order_is_used_where_it_pays, 5, 7);
    tcase_add_loop_test(t, either_set_is_chosen_where_it_is_better, 0, 1);
    tcase_add_loop_test(t, either_set_is_chosen_where_it_is_better, 4, 5);
    tcase_add_test(t, neither_main_samples_nor_their_number_nor_cuts_have_a_say);
    t = kit_case(s, "no choice", 60);
    tcase_add_loop_test(t, without_a_pilot_that_can_judge_it_is_the_default, 0, 4);
    tcase_add_test(t, targets_and_anytime_questions_have_the_default);
    tcase_add_loop_test(t, output_bounds_have_the_default, 0, 3);
    tcase_add_test(t, all_outputs_together_have_the_default);
    tcase_add_test(t, an_answer_that_is_late_claims_nothing);
    tcase_add_loop_test(t, outputs_that_fail_are_no_obstacle, 0, 7);
    t = kit_case(s, "question", 60);
    tcase_add_loop_test(t, what_cannot_be_chosen_is_refused, 0, KIT_ROWS(refused));
    tcase_add_test(t, a_plan_cannot_leave_it_to_the_pilot);
    tcase_add_test(t, digest_and_json_know_it);
    return kit_run(s);
}
