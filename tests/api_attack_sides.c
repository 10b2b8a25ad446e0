/* Attacks on records that say little: which side is taken, where nothing shows a way, and where the
 * floats end. */
#include "support/attack_kit.h"

enum { INPUTS = 3, SAMPLES = 2000, CALLS = 4000, RUNS = 8 };
static const float origin[INPUTS] = {0};

static void open_all(victim *v, size_t samples, size_t pilot)
{
    certreg_model m = kit_model(victim_model, v, INPUTS, 2);
    certreg_plan p = kit_plan(samples);
    p.pilot = pilot;
    v->e = kit_create(NULL, &m, &p);
    v->a = attack_on(v->e, CALLS);
}

static void close_all(victim *v)
{
    certreg_attack_destroy(v->a);
    certreg_estimator_destroy(v->e);
}

static certreg_attack_result attacked(victim *v, const certreg_question *q,
                                      const certreg_attack_options *o)
{
    certreg_attack_result r = attack_result();
    ATTACK_OK(v->a, certreg_attack_run(v->a, q, o, NULL, &r));
    return r;
}

static certreg_question about_zero(double tolerance, int32_t statistic)
{
    static const double center = 0;
    certreg_question q = kit_question(tolerance);
    q.prediction = &center, q.statistic = statistic;
    if (statistic == CERTREG_STATISTIC_HUBER) q.huber_width = 0.3;
    return q;
}

/* ---- questions */
START_TEST(a_vector_is_refused_however_it_is_asked_for)
{
    victim v = {.output = beyond_face};
    const certreg_attack_options o = attack_options(CALLS);
    certreg_question q = kit_question(5);
    certreg_attack_result r = attack_result();
    double out[INPUTS];
    open_all(&v, SAMPLES, 0);
    KIT_OK(v.e, certreg_estimator_begin(v.e, origin, 1, 0));
    KIT_OK(v.e, certreg_estimator_sample(v.e, 0, SAMPLES));
    v.batches = 0, q.output_count = 2;
    ATTACK_STATUS(v.a, certreg_attack_run(v.a, &q, &o, NULL, &r), CERTREG_E_INVALID);
    ck_assert(is_nothing(&r));
    KIT_SAYS(certreg_attack_error(v.a), "question.output_count is 2");
    ATTACK_STATUS(v.a, certreg_attack_gradient(v.a, &q, 1, out), CERTREG_E_INVALID);
    ck_assert_uint_eq(v.batches, 0);
    q.output_count = 1;
    ck_assert_int_eq(attacked(&v, &q, &o).outcome, CERTREG_ATTACK_BROKEN);
    close_all(&v);
}
END_TEST

/* ---- records that show no way */
static double nothing(const float *x, size_t inputs)
{
    (void)x, (void)inputs;
    return 0;
}

static double step_far_away(const float *x, size_t inputs)
{
    return beyond_face(x, inputs) * (x[0] > 9);
}

START_TEST(where_no_way_shows_nothing_is_tried)
{
    static const struct {
        double (*output)(const float *, size_t);
        int32_t statistic;
        size_t samples;
    } cases[] = {{nothing, CERTREG_STATISTIC_HUBER, SAMPLES},
                 {step_far_away, CERTREG_STATISTIC_HUBER, SAMPLES},
                 {beyond_face, CERTREG_STATISTIC_MEDIAN, 1},
                 {beyond_face, CERTREG_STATISTIC_MEDIAN, 2},
                 {beyond_face, CERTREG_STATISTIC_HUBER, 1}};
    victim v = {.output = cases[_i].output};
    const certreg_question q = about_zero(5, cases[_i].statistic);
    const certreg_attack_options o = attack_options(CALLS);
    open_all(&v, cases[_i].samples, SIZE_MAX);
    KIT_OK(v.e, certreg_estimator_begin(v.e, origin, 1, 0));
    KIT_OK(v.e, certreg_estimator_sample(v.e, 0, cases[_i].samples));
    const certreg_attack_result r = attacked(&v, &q, &o);
    ck_assert(is_nothing(&r));
    ck_assert(isnan(r.forecast));
    ck_assert_uint_eq(r.calls, 0);
    ck_assert_int_eq(r.stop, CERTREG_STOP_ALL);
    close_all(&v);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attack_sides");
    TCase *t = kit_case(suite, "attacks", 60);
    tcase_add_test(t, a_vector_is_refused_however_it_is_asked_for);
    tcase_add_loop_test(t, where_no_way_shows_nothing_is_tried, 0, 5);
    return kit_run(suite);
}
