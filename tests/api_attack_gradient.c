/* Gradients and forecasts from records: models whose gradients are known. */
#include "support/attack_kit.h"
#include <certreg/attack.h>

enum { INPUTS = 6, SAMPLES = 40000 };
static const float where[INPUTS] = {0.5f, -1, 0.25f, 2, 0, 1},
                   units[INPUTS] = {1, 2, 0.5f, 0, 1, 3};
static const double weights[INPUTS] = {0.7, -0.4, 0.3, 5, 0, 0.1}, range[2] = {-200, 200};
static const double sigma = 0.5;

static double linear(const float *x, size_t inputs)
{
    double sum = 0;
    for (size_t j = 0; j < inputs; j++) sum += weights[j] * (double)x[j];
    return sum;
}

static double quadratic(const float *x, size_t inputs)
{
    (void)inputs;
    return (double)x[0] * (double)x[0] + (double)x[1] * (double)x[2];
}

typedef struct setup {
    victim v;
    uint32_t constraints;
    size_t samples;
} setup;

static void open_all(setup *s)
{
    certreg_model m = kit_model(victim_model, &s->v, INPUTS, 1);
    m.scale = units, m.lo = range, m.hi = range + 1;
    certreg_plan p = kit_plan(s->samples);
    p.constraints = s->constraints;
    s->v.e = kit_create(NULL, &m, &p);
    s->v.a = attack_on(s->v.e, 0);
    KIT_OK(s->v.e, certreg_estimator_begin(s->v.e, where, sigma, 5));
    KIT_OK(s->v.e, certreg_estimator_sample(s->v.e, 0, s->samples));
}

static void expect_gradient(setup *s, const certreg_question *q, int32_t side,
                            const double *derivative, double factor, double deviation)
{
    double out[INPUTS];
    ATTACK_OK(s->v.a, certreg_attack_gradient(s->v.a, q, side, out));
    const double most = 5 * deviation / (sigma * sqrt((double)s->samples));
    for (size_t j = 0; j < INPUTS; j++) {
        const double truth = factor * derivative[j] * (double)units[j];
        ck_assert_msg(fabs(out[j] - truth) <= most, "%zu: %g, not %g", j, out[j], truth);
        if (units[j] == 0) ck_assert(out[j] == 0);
    }
}

/* ---- gradients */
TEST_TIMES(attack_gradient_of_a_mean_is_that_of_the_model, 2)
{
    setup s = {.v = {.output = _i ? quadratic : linear}, .constraints = 1, .samples = SAMPLES};
    const double curved[INPUTS] = {1, 0.25, -1, 0, 0, 0};
    certreg_question q = QUESTION(.tolerance = 3, .statistic = CERTREG_STATISTIC_MEAN);
    open_all(&s);
    const double *truth = _i ? curved : weights;
    expect_gradient(&s, &q, CERTREG_SIDE_LOWER, truth, 1, 2);
    expect_gradient(&s, &q, CERTREG_SIDE_UPPER, truth, -1, 2); /* its score falls with f */
}

/* For the sign of a normal variable s beyond an edge: 2 pdf(edge/deviation)/deviation. */
TEST(attack_gradient_of_a_sign_is_a_density)
{
    setup s = {.v = {.output = linear}, .constraints = 1, .samples = SAMPLES};
    double spread = 0, center = 0;
    for (size_t j = 0; j < INPUTS; j++) {
        spread += pow(weights[j] * (double)units[j] * sigma, 2);
        center += weights[j] * (double)where[j];
    }
    spread = sqrt(spread);
    certreg_question q = QUESTION(.tolerance = spread, .prediction = &center);
    open_all(&s);
    const double density = exp(-0.5) / sqrt(2 * 3.141592653589793) / spread;
    expect_gradient(&s, &q, CERTREG_SIDE_LOWER, weights, 2 * density, 1);
    expect_gradient(&s, &q, CERTREG_SIDE_UPPER, weights, -2 * density, 1);
}

TEST(attack_gradient_norm_is_within_estimator_bounds)
{
    setup s = {.v = {.output = linear}, .constraints = CERTREG_CONSTRAINTS_ECGM, .samples = 5000};
    certreg_question q = kit_question(3);
    certreg_bounds b = {.struct_size = sizeof b};
    double out[INPUTS], square = 0;
    q.statistic = CERTREG_STATISTIC_MEAN, q.method = CERTREG_METHOD_ASYMPTOTIC;
    open_all(&s);
    ATTACK_OK(s.v.a, certreg_attack_gradient(s.v.a, &q, CERTREG_SIDE_LOWER, out));
    KIT_OK(s.v.e, certreg_estimator_bounds(s.v.e, &q, CERTREG_SIDE_LOWER, &b));
    for (size_t j = 0; j < INPUTS; j++) square += out[j] * out[j];
    ck_assert_double_ge(sigma * sqrt(square), b.gradient_lo);
    ck_assert_double_le(sigma * sqrt(square), b.gradient_hi);
}

/* ---- forecasts */
/* Without a call, and along the way that is shorter. */
TEST(attack_forecast_of_a_linear_model_is_where_it_breaks)
{
    static const double center = 10.3; /* linear(where) is 9.975: T leaves downwards later */
    setup s = {.v = {.output = linear}, .constraints = 1, .samples = 10000};
    double steepness = 0;
    for (size_t j = 0; j < INPUTS; j++) steepness += pow(weights[j] * (double)units[j], 2);
    certreg_question q = kit_question(1);
    const certreg_attack_options none = attack_options(0);
    q.prediction = &center;
    open_all(&s);
    s.v.batches = 0;
    const certreg_attack_result r = attack_found(s.v.a, q, none, NULL);
    ck_assert(is_nothing(&r));
    ck_assert_uint_eq(s.v.batches, 0);
    ck_assert_uint_eq(r.calls, 0);
    const double upwards = center + 1 - linear(where, INPUTS),
                 downwards = linear(where, INPUTS) - center + 1,
                 truth = fmin(upwards, downwards) / sqrt(steepness);
    ck_assert_int_eq(r.side, upwards < downwards ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
    ck_assert_double_eq_tol(r.forecast, truth, 0.1 * truth);
    ck_assert_double_gt(r.cosine, 0.99);
}

/* A short record of a large input has 1/sqrt(1 + d/(c n)): c = 2/pi for a sign, a little more here.
 */
TEST(attack_cosine_is_that_of_the_direction)
{
    enum { MANY = 400, FEW = 400 };
    victim v = {.output = beyond_face};
    const certreg_model m = kit_model(victim_model, &v, MANY, 1);
    const certreg_plan p = kit_plan(FEW);
    const certreg_question q = kit_question(5);
    const certreg_attack_options none = attack_options(0);
    certreg_attack_result r = attack_result();
    const float zeros[MANY] = {0};
    double out[MANY], square = 0, sum = 0;
    v.e = kit_create(NULL, &m, &p), v.a = attack_on(v.e, 0);
    for (uint64_t id = 0; id < 20; id++) {
        KIT_OK(v.e, certreg_estimator_begin(v.e, zeros, 2, id));
        KIT_OK(v.e, certreg_estimator_sample(v.e, 0, FEW));
        ATTACK_OK(v.a, certreg_attack_run(v.a, &q, &none, NULL, &r));
        ATTACK_OK(v.a, certreg_attack_gradient(v.a, &q, r.side, out));
        square = 0;
        for (size_t j = 0; j < MANY; j++) square += out[j] * out[j];
        sum += r.cosine - fabs(out[0]) / sqrt(square);
    }
    ck_assert_double_eq_tol(sum / 20, 0, 0.05);
}

TEST(attack_gradient_after_a_deadline_is_refused)
{
    setup s = {.v = {.output = linear}, .constraints = 1, .samples = SAMPLES};
    const certreg_question q = kit_question(3);
    double out[INPUTS] = {7};
    open_all(&s);
    KIT_OK(s.v.e, certreg_estimator_set_deadline(s.v.e, -1));
    ATTACK_STATUS(s.v.a, certreg_attack_gradient(s.v.a, &q, CERTREG_SIDE_UPPER, out),
                  CERTREG_E_DEADLINE);
    KIT_SAYS(certreg_attack_error(s.v.a), "certreg_estimator_set_deadline");
    ck_assert_double_eq(out[0], 7);
    KIT_OK(s.v.e, certreg_estimator_set_deadline(s.v.e, INFINITY));
    ATTACK_OK(s.v.a, certreg_attack_gradient(s.v.a, &q, CERTREG_SIDE_UPPER, out));
}

KIT_MAIN("attack_gradient")
