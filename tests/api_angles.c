/* Angles: what is known of the arcs of theory 7 before the pilot is complete, and where there is no
 * pilot. */
#include "api_kit.h"

typedef struct spread {
    double degrees; /* of the outputs per unit of noise */
} spread;

static int turned(void *user, const certreg_batch *b)
{
    const spread *s = user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = (float)(s->degrees * (double)b->x[i]);
    return 0;
}

static certreg_estimator *make(spread *s, int32_t kind, size_t max_samples, size_t pilot)
{
    static const double lo = -180, hi = 180;
    certreg_model m = kit_model(turned, s, 1, 1);
    m.kind = &kind, m.lo = &lo, m.hi = &hi;
    m.batch = 4;
    certreg_plan p = kit_plan(max_samples);
    p.pilot = pilot;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0}, 1, 1));
    return e;
}

static certreg_certificate ask(certreg_estimator *e, size_t samples, const certreg_question *q)
{
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_certify(e, samples, q, 1, &c));
    return c;
}

/* ---- before the pilot */
static const struct {
    double tolerance, wanted;
} wishes[] = {{10, 1.723}, {5, 1.72}, {20, 1.68}, {2, 1.7}};
enum { CAPACITY = 100, WISHES = 2 * sizeof wishes / sizeof *wishes };

static certreg_question wish(int i)
{
    certreg_question q = kit_question(wishes[i / 2].tolerance);
    q.method = i % 2 ? CERTREG_METHOD_ANYTIME : CERTREG_METHOD_FINITE;
    q.target = asks_target(wishes[i / 2].wanted * (i % 2 ? 0.88 : 1)); /* looking always costs some
                                                                          radius */
    return q;
}

START_TEST(a_radius_that_the_full_record_proves_is_not_given_up_before_the_pilot)
{
    spread still = {0};
    const certreg_question q = wish(_i);
    certreg_estimator *e = make(&still, CERTREG_OUTPUT_ANGLE, CAPACITY, 0);
    const certreg_certificate c = ask(e, CAPACITY, &q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
    ck_assert_double_ge(c.radius, q.target->radius);
    certreg_estimator_destroy(e);
}
END_TEST

START_TEST(the_forecast_before_the_pilot_is_within_what_a_perfect_model_takes)
{
    spread still = {0};
    const certreg_question q = wish(_i);
    certreg_estimator *e = make(&still, CERTREG_OUTPUT_ANGLE, CAPACITY, 0);
    certreg_forecast before = {.struct_size = sizeof before};
    KIT_OK(e, certreg_estimator_forecast(e, &q, &before));
    const certreg_certificate c = ask(e, CAPACITY, &q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
    ck_assert_uint_gt(before.least_samples, 0);
    ck_assert_uint_le(before.least_samples, c.samples);
    certreg_estimator_destroy(e);
}
END_TEST

/* As whoever asks for the radius of an earlier certificate. */
START_TEST(a_radius_that_is_just_attainable_is_not_given_up)
{
    spread still = {0};
    certreg_question q = kit_question(wishes[_i].tolerance);
    q.method = CERTREG_METHOD_ANYTIME;
    certreg_estimator *e = make(&still, CERTREG_OUTPUT_ANGLE, CAPACITY, 0);
    q.target = asks_target(ask(e, CAPACITY, &q).radius);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0}, 1, 1));
    certreg_forecast f = {.struct_size = sizeof f};
    KIT_OK(e, certreg_estimator_forecast(e, &q, &f));
    ck_assert_uint_gt(f.least_samples, 0);
    const certreg_certificate c = ask(e, CAPACITY, &q);
    ck_assert_double_ge(c.radius, q.target->radius);
    ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- without a pilot */
static const struct {
    size_t samples;
    double tolerance, degrees, least;
} given[] = {
    {60, 10, 0, 0.96},    {60, 2, 0, 0.98},    {200, 5, 0, 0.98},
    {2000, 10, 0, 0.975}, {2000, 20, 0, 0.92}, {2000, 10, 5, 0.99},
    {400, 10, 10, 0.99},  {2000, 5, 8, 0.99},  {2000, 20, 25, 0.95},
};

START_TEST(without_a_pilot_an_angle_reaches_nearly_what_a_number_does)
{
    double radius[2];
    spread s = {given[_i].degrees};
    for (int32_t kind = CERTREG_OUTPUT_REAL; kind <= CERTREG_OUTPUT_ANGLE; kind++) {
        certreg_estimator *e = make(&s, kind, given[_i].samples, SIZE_MAX);
        certreg_question q = kit_question(given[_i].tolerance);
        q.prediction = asks_prediction(0);
        radius[kind] = ask(e, given[_i].samples, &q).radius;
        certreg_estimator_destroy(e);
    }
    ck_assert_double_gt(radius[0], 0.3);
    ck_assert_double_le(radius[1], radius[0]);
    ck_assert_msg(radius[1] >= given[_i].least * radius[0], "%g of %g", radius[1], radius[0]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("angles");
    TCase *before = kit_case(suite, "before_the_pilot", 30),
          *without = kit_case(suite, "without_a_pilot", 30);
    tcase_add_loop_test(
        before, a_radius_that_the_full_record_proves_is_not_given_up_before_the_pilot, 0, WISHES);
    tcase_add_loop_test(before, the_forecast_before_the_pilot_is_within_what_a_perfect_model_takes,
                        0, WISHES);
    tcase_add_loop_test(before, a_radius_that_is_just_attainable_is_not_given_up, 0, WISHES / 2);
    tcase_add_loop_test(without, without_a_pilot_an_angle_reaches_nearly_what_a_number_does, 0,
                        KIT_ROWS(given));
    return kit_run(suite);
}
