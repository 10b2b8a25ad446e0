/* Attacks on models whose breaking radius is known: both ends of the truth, gradients and
 * forecasts, the side that is taken, calls that are counted to the last one, noise that is nobody
 * else's, and records that stay as they are. */
#include "support/attack_kit.h"
#include <certreg/attack.h>

enum { INPUTS = 6, SAMPLES = 2000, CALLS = 1200 };
static const float where[INPUTS] = {0, 0.5f, -1, 2, 0.25f}, origin[INPUTS];
static const double zero = 0;

typedef struct setup {
    victim v;
    certreg_backend *backend;
    const float *scale;
    size_t batch, samples, pilot; /* samples 0: SAMPLES */
    int32_t kind;
    double lo, hi;
} setup;

static void open_all(setup *s)
{
    certreg_model m = kit_model(victim_model, &s->v, INPUTS, 1);
    if (!s->samples) s->samples = SAMPLES;
    m.batch = s->batch, m.scale = s->scale, m.kind = &s->kind;
    if (s->hi > s->lo) m.lo = &s->lo, m.hi = &s->hi;
    certreg_plan p = kit_plan(s->samples);
    p.constraints = CERTREG_CONSTRAINT_MEAN, p.pilot = s->pilot;
    s->v.e = kit_create(s->backend, &m, &p);
    s->v.a = attack_on(s->v.e, CALLS);
}

static void sample_at(setup *s, const float *z, double sigma, uint64_t id)
{
    KIT_OK(s->v.e, certreg_estimator_begin(s->v.e, z, sigma, id));
    KIT_OK(s->v.e, certreg_estimator_sample(s->v.e, 0, s->samples));
    s->v.rows = s->v.batches = 0;
}

static void open_at(setup *s, const float *z, double sigma, uint64_t id)
{
    open_all(s);
    sample_at(s, z, sigma, id);
}

static certreg_question about_zero(double tolerance, int32_t statistic)
{
    certreg_question q =
        QUESTION(.tolerance = tolerance, .prediction = &zero, .statistic = statistic);
    if (statistic == CERTREG_STATISTIC_HUBER) q.huber_width = 0.5 * tolerance;
    return q;
}

static double norm_of(const setup *s, const float *shift)
{
    double sum = 0;
    for (size_t j = 0; j < INPUTS; j++) {
        const double scale = s->scale ? (double)s->scale[j] : 1;
        const float x = where[j] + shift[j];
        const double moved = (double)x - (double)where[j];
        if (scale > 0) sum += moved / scale * (moved / scale);
        else ck_assert(shift[j] == 0);
    }
    return sqrt(sum);
}

/* ---- both ends, for every statistic that can be attacked */
static double sloped(const float *x, size_t inputs)
{
    (void)inputs;
    return fmax(-3, fmin(3, (double)x[0] - 0.5 * ((double)x[2] + 1)));
}

static double direction_of_slope(const float *x, size_t inputs) /* degrees */
{
    return 20 * sloped(x, inputs);
}

static double few_values(const float *x, size_t inputs)
{
    return floor(2 * sloped(x, inputs) + 0.5) / 2;
}

/* tolerance/steepness about the center, which is 0, is where the statistic leaves. */
static const struct {
    double (*output)(const float *, size_t);
    int32_t statistic, kind;
    double tolerance, lo, hi, breaks;
} cases[] = {
    {sloped, CERTREG_STATISTIC_MEDIAN, 0, 0.6, 0, 0, 0.6 / 1.118034},
    {sloped, CERTREG_STATISTIC_HUBER, 0, 0.6, 0, 0, 0.6 / 1.118034},
    {sloped, CERTREG_STATISTIC_MEAN, 0, 0.6, -3, 3, 0.6 / 1.118034},
    {few_values, CERTREG_STATISTIC_MEDIAN, 0, 0.5, 0, 0, 0.25 / 1.118034},
    {direction_of_slope, CERTREG_STATISTIC_MEDIAN, 1, 12, -180, 180, 0.6 / 1.118034},
    {direction_of_slope, CERTREG_STATISTIC_HUBER, 1, 12, -180, 180, 0.6 / 1.118034},
    {direction_of_slope, CERTREG_STATISTIC_CIRCULAR_MEAN, 1, 12, -180, 180, 0.6 / 1.118034}};

TEST_ROWS(attack_and_certificate_enclose_the_true_radius, cases)
{
    const double breaks = cases[_i].breaks;
    const float units[INPUTS] = {1, 0, 1, 3, 0.5f, 1};
    setup s = {.v = {.output = cases[_i].output},
               .scale = units,
               .kind = cases[_i].kind,
               .lo = cases[_i].lo,
               .hi = cases[_i].hi};
    open_all(&s);
    for (uint64_t id = 0; id < 3; id++) {
        const certreg_question q = about_zero(cases[_i].tolerance, cases[_i].statistic);
        float shift[INPUTS];
        sample_at(&s, where, 0.4, id);
        const certreg_certificate c = kit_ask(s.v.e, 0, q);
        const certreg_attack_result r = attack_found(s.v.a, q, attack_options(CALLS), shift);
        ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
        ck_assert_msg(c.radius <= breaks && breaks <= r.radius, "%g, %g, %g", c.radius, breaks,
                      r.radius);
        ck_assert_double_le(r.radius, 1.5 * breaks);
        ck_assert_double_ge(r.radius, norm_of(&s, shift));
        ck_assert_double_le(r.radius, norm_of(&s, shift) * (1 + 1e-12));
        ck_assert_double_eq_tol(r.forecast, breaks, 0.2 * breaks);
        ck_assert_double_gt(r.cosine, 0.98);
        ck_assert_int_eq(r.side, shift[0] > 0 ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
        ck_assert_double_eq(r.tolerance, q.tolerance);
        ck_assert_double_eq(r.prediction, 0);
        ck_assert_double_eq(r.alpha, 0.1);
        ck_assert_uint_eq(r.samples, SAMPLES);
    }
}

/* A record of few samples has a poor direction, which the ascent mends. */
TEST(attack_improves_the_direction_of_a_short_record)
{
    const double breaks = 0.6 / 1.118034;
    setup s = {.v = {.output = sloped}, .samples = 20, .pilot = SIZE_MAX};
    double sum = 0;
    int broken = 0;
    open_all(&s);
    for (uint64_t id = 0; id < 20; id++) {
        sample_at(&s, where, 0.4, id);
        const certreg_attack_result r =
            attack_found(s.v.a, about_zero(0.6, 0), attack_options(CALLS), NULL);
        if (r.outcome == CERTREG_ATTACK_BROKEN) broken++, sum += r.radius;
    }
    ck_assert_int_ge(broken, 18);
    ck_assert_double_le(sum / broken, 1.07 * breaks);
}

/* The prediction is out of the tolerance already: no shift is needed. */
TEST(attack_breaks_what_is_out_at_next_to_nothing)
{
    setup s = {.v = {.output = sloped}};
    open_at(&s, where, 0.5, 3);
    const certreg_question q = QUESTION(.tolerance = 0.5, .prediction = asks_prediction(3));
    ck_assert_double_eq(kit_ask(s.v.e, 0, q).radius, 0);
    const certreg_attack_result r = attack_found(s.v.a, q, attack_options(CALLS), NULL);
    ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
    ck_assert_double_lt(r.radius, 0.2);
}

/* ---- calls */
TEST_TIMES(attack_makes_no_more_calls_than_allowed, 3)
{
    setup s = {.v = {.output = beyond_face}, .batch = (const size_t[]){1, 7, 256}[_i]};
    open_at(&s, where, 1, 3);
    for (size_t calls = 196; calls <= CALLS; calls += 61) {
        s.v.rows = 0;
        const certreg_attack_result r =
            attack_found(s.v.a, kit_question(5), attack_options(calls), NULL);
        ck_assert_uint_eq(r.calls, s.v.rows);
        ck_assert_uint_le(r.calls, calls);
        ck_assert_int_eq(r.stop, CERTREG_STOP_ALL);
    }
}

TEST(attack_result_depends_on_neither_batches_nor_threads)
{
    certreg_attack_result first = attack_result();
    float expected[INPUTS], shift[INPUTS];
    for (int k = 0; k < 4; k++) {
        setup s = {.v = {.output = sloped}, .batch = (const size_t[]){1, 60, 256}[k % 3]};
        if (k == 3) s.backend = kit_backend(3);
        open_at(&s, where, 0.5, 3);
        const certreg_attack_result r =
            attack_found(s.v.a, kit_question(0.5), attack_options(700), shift);
        if (!k) first = r, memcpy(expected, shift, sizeof shift);
        ck_assert_mem_eq(&r, &first, sizeof r);
        ck_assert_mem_eq(shift, expected, sizeof shift);
    }
}

/* ---- noise */
enum { RECORD = 500, RUN = 600, RUNS = 6, KEPT = RUNS * RUN + RECORD };

typedef struct seen { /* all but the first input of every row that was used: noise, as z is 0 */
    float rows[KEPT][INPUTS - 1];
    size_t count;
} seen;

static int keep_rows(void *user, const certreg_batch *b)
{
    seen *s = user;
    for (size_t i = 0; i < b->used_count; i++) {
        const float *x = b->x + (b->used_first + i) * INPUTS;
        memcpy(s->rows[s->count++], x + 1, sizeof *s->rows);
        b->y[b->used_first + i] = x[0] > 1 ? 1 : 0;
    }
    return 0;
}

static size_t times(const seen *s, float sign, const float *row)
{
    size_t found = 0;
    for (size_t i = 0; i < s->count; i++) {
        int same = 1;
        for (int j = 0; j + 1 < INPUTS && same; j++) same = s->rows[i][j] == sign * row[j];
        found += (size_t)same;
    }
    return found;
}

/* Attacks that differ in one thing each: what a caller may choose after the first. */
static void run_all(certreg_attack *a)
{
    static const float along[2][INPUTS] = {{1, 0, 0}, {-1, 0, 0}};
    for (int run = 0; run < RUNS; run++) {
        certreg_attack_options o = attack_options(run == 1 ? RUN - 50 : RUN);
        certreg_question q = QUESTION(.tolerance = run == 2 ? 0.6 : 0.5, .prediction = &zero);
        o.number = run == 3, o.direction = along[run == 4];
        if (run == 5) o.alpha = 0.05;
        attack_found(a, q, o, NULL);
    }
}

/* Every row of the attacks occurs once, and its opposite once; no row of the record has either. */
TEST(attack_steps_share_no_noise_with_each_other_or_the_record)
{
    static seen s;
    certreg_model m = KIT_MODEL(keep_rows, &s, INPUTS, 1, .batch = 32);
    certreg_plan p = KIT_PLAN(RECORD, .pilot = SIZE_MAX);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_attack *a = attack_on(e, RUN);
    KIT_OK(e, certreg_estimator_begin(e, origin, 1, 7));
    KIT_OK(e, certreg_estimator_sample(e, 0, RECORD));
    run_all(a);
    ck_assert_uint_gt(s.count, RECORD + RUNS / 2 * RUN);
    for (size_t i = 0; i < s.count; i++) {
        ck_assert_uint_eq(times(&s, 1, s.rows[i]), 1);
        ck_assert_uint_eq(times(&s, -1, s.rows[i]), i >= RECORD);
    }
}

/* ---- the record */
/* A number of samples that is fixed: what an attack has seen must not decide it (theory 5.2). */
TEST(attack_evaluates_the_record_and_leaves_it_as_it_is)
{
    static unsigned char was[9000], is[9000];
    setup s = {.v = {.output = sloped}};
    const certreg_question q = kit_question(0.5);
    certreg_certificate refused = kit_certificate();
    open_at(&s, where, 0.5, 3);
    const certreg_certificate c = kit_ask(s.v.e, 0, q);
    const size_t before = kit_export(s.v.e, was, sizeof was);
    attack_found(s.v.a, q, attack_options(700), NULL);
    ck_assert_uint_eq(kit_export(s.v.e, is, sizeof is), before);
    ck_assert_mem_eq(was, is, before);
    const certreg_certificate again = kit_ask(s.v.e, 0, q);
    ck_assert_mem_eq(&c, &again, sizeof c);
    KIT_OK(s.v.e, certreg_estimator_begin(s.v.e, where, 0.5, 3));
    KIT_OK(s.v.e, certreg_estimator_sample(s.v.e, 0, 900));
    attack_found(s.v.a, q, attack_options(0), NULL);
    KIT_STATUS(s.v.e, certreg_certify(s.v.e, 1000, &q, 1, &refused), CERTREG_E_WRONG_STATE);
}

/* ---- a direction of the caller's */
TEST(attack_follows_a_given_direction_of_any_length)
{
    setup s = {.v = {.output = sloped}};
    const float along[2][INPUTS] = {{1, 0, -0.5f, 0, 0}, {1e20f, 0, -0.5e20f, 0, 0}};
    certreg_attack_options o = attack_options(400);
    float shift[2][INPUTS];
    open_at(&s, where, 0.5, 3);
    for (int k = 0; k < 2; k++) {
        o.direction = memcpy(shift[k], along[k], sizeof shift[k]);
        const certreg_attack_result r = attack_found(s.v.a, kit_question(0.5), o, shift[k]);
        ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
        ck_assert_int_eq(r.side, CERTREG_SIDE_UPPER); /* that is where it leads */
        ck_assert_double_eq(r.cosine, 1);
        ck_assert_double_eq_tol((double)shift[k][2], -0.5 * (double)shift[k][0], 1e-6);
        ck_assert(shift[k][1] == 0 && shift[k][3] == 0 && shift[k][4] == 0);
    }
    ck_assert_mem_eq(shift[0], shift[1], sizeof shift[0]);
}

/* ---- gradients of models whose gradients are known */
enum { MANY_SAMPLES = 40000 };
static const float corner[INPUTS] = {0.5f, -1, 0.25f, 2, 0, 1},
                   units[INPUTS] = {1, 2, 0.5f, 0, 1, 3};
static const double weights[INPUTS] = {0.7, -0.4, 0.3, 5, 0, 0.1}, sigma = 0.5;

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

static setup of_corner(double (*output)(const float *, size_t), size_t samples)
{
    return (setup){
        .v = {.output = output}, .scale = units, .lo = -200, .hi = 200, .samples = samples};
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

TEST_TIMES(attack_gradient_of_a_mean_is_that_of_the_model, 2)
{
    setup s = of_corner(_i ? quadratic : linear, MANY_SAMPLES);
    const double curved[INPUTS] = {1, 0.25, -1, 0, 0, 0}, *truth = _i ? curved : weights;
    const certreg_question q = QUESTION(.tolerance = 3, .statistic = CERTREG_STATISTIC_MEAN);
    open_at(&s, corner, sigma, 5);
    expect_gradient(&s, &q, CERTREG_SIDE_LOWER, truth, 1, 2);
    expect_gradient(&s, &q, CERTREG_SIDE_UPPER, truth, -1, 2); /* its score falls with f */
}

/* For the sign of a normal variable s beyond an edge: 2 pdf(edge/deviation)/deviation. */
TEST(attack_gradient_of_a_sign_is_a_density)
{
    setup s = of_corner(linear, MANY_SAMPLES);
    double spread = 0, center = 0;
    for (size_t j = 0; j < INPUTS; j++) {
        spread += pow(weights[j] * (double)units[j] * sigma, 2);
        center += weights[j] * (double)corner[j];
    }
    spread = sqrt(spread);
    certreg_question q = QUESTION(.tolerance = spread, .prediction = &center);
    open_at(&s, corner, sigma, 5);
    const double density = exp(-0.5) / sqrt(2 * 3.141592653589793) / spread;
    expect_gradient(&s, &q, CERTREG_SIDE_LOWER, weights, 2 * density, 1);
    expect_gradient(&s, &q, CERTREG_SIDE_UPPER, weights, -2 * density, 1);
}

/* ---- forecasts */
/* Without a call, and along the way that is shorter. */
TEST(attack_forecast_of_a_linear_model_is_where_it_breaks)
{
    static const double center = 10.3; /* linear(corner) is 9.975: T leaves downwards later */
    setup s = of_corner(linear, 10000);
    double steepness = 0;
    for (size_t j = 0; j < INPUTS; j++) steepness += pow(weights[j] * (double)units[j], 2);
    certreg_question q = QUESTION(.tolerance = 1, .prediction = &center);
    open_at(&s, corner, sigma, 5);
    const certreg_attack_result r = attack_found(s.v.a, q, attack_options(0), NULL);
    ck_assert(is_nothing(&r));
    ck_assert_uint_eq(s.v.batches, 0);
    ck_assert_uint_eq(r.calls, 0);
    const double upwards = center + 1 - linear(corner, INPUTS),
                 downwards = linear(corner, INPUTS) - center + 1,
                 truth = fmin(upwards, downwards) / sqrt(steepness);
    ck_assert_int_eq(r.side, upwards < downwards ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
    ck_assert_double_eq_tol(r.forecast, truth, 0.1 * truth);
    ck_assert_double_gt(r.cosine, 0.99);
}

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

static const struct {
    double (*output)(const float *, size_t);
    int32_t statistic;
    size_t samples;
} no_way[] = {{nothing, CERTREG_STATISTIC_HUBER, SAMPLES},
              {step_far_away, CERTREG_STATISTIC_HUBER, SAMPLES},
              {beyond_face, CERTREG_STATISTIC_MEDIAN, 1},
              {beyond_face, CERTREG_STATISTIC_MEDIAN, 2},
              {beyond_face, CERTREG_STATISTIC_HUBER, 1}};

TEST_ROWS(attack_tries_nothing_if_no_output_shows_a_direction, no_way)
{
    setup s = {
        .v = {.output = no_way[_i].output}, .samples = no_way[_i].samples, .pilot = SIZE_MAX};
    float shift[INPUTS] = {7, 7, 7, 7, 7, 7};
    open_at(&s, origin, 1, 0);
    const certreg_attack_result r =
        attack_found(s.v.a, about_zero(5, no_way[_i].statistic), attack_options(CALLS), shift);
    ck_assert(is_nothing(&r));
    ck_assert(isnan(r.forecast));
    ck_assert_uint_eq(r.calls, 0);
    ck_assert_int_eq(r.stop, CERTREG_STOP_ALL);
    ck_assert_mem_eq(shift, origin, sizeof shift);
}

/* ---- which side */
static double sum_of_all(const float *x, size_t inputs)
{
    (void)inputs;
    return (double)x[0] + (double)x[1] + (double)x[2];
}

/* The slope along the direction is 0.58 of the gradient, so that forecasts of the wrong side, whose
 * slope is unknown, are shorter. */
TEST_TIMES(attack_takes_the_side_of_its_direction, 2)
{
    enum { RECORDS = 16 };
    const certreg_question q =
        about_zero(1, _i ? CERTREG_STATISTIC_HUBER : CERTREG_STATISTIC_MEDIAN);
    const float along[2][INPUTS] = {{-1}, {1}};
    setup s = {.v = {.output = sum_of_all}};
    certreg_attack_options o = attack_options(CALLS);
    int broken = 0;
    open_all(&s);
    for (uint64_t id = 0; id < RECORDS; id++) {
        const int up = id % 2;
        o.direction = along[up];
        sample_at(&s, origin, 0.5, id);
        const certreg_attack_result r = attack_found(s.v.a, q, o, NULL);
        ck_assert_int_eq(r.side, up ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
        broken += r.outcome == CERTREG_ATTACK_BROKEN;
        ck_assert(1 <= r.radius && (r.radius < 1.2 || r.outcome == CERTREG_ATTACK_NOT_BROKEN));
    }
    ck_assert_int_ge(broken, RECORDS - 1); /* chance may spoil one */
}

static int flipped;

static double ramp(const float *x, size_t inputs)
{
    (void)inputs;
    return flipped ? fmin(-(double)x[0], 0.2) : fmax((double)x[0], -0.2);
}

/* No output of the record is out on either side, and only one of them can be reached. */
TEST(attack_takes_the_side_of_the_slope_if_no_output_is_out)
{
    const float along[INPUTS] = {1};
    setup s = {.v = {.output = ramp}};
    certreg_attack_options o = attack_options(CALLS);
    open_all(&s);
    for (uint64_t id = 0; id < 8; id++) {
        flipped = id % 2;
        o.direction = id < 4 ? along : NULL;
        sample_at(&s, origin, 0.5, id);
        const certreg_attack_result r =
            attack_found(s.v.a, about_zero(3, CERTREG_STATISTIC_MEDIAN), o, NULL);
        ck_assert_int_eq(r.side, flipped ? CERTREG_SIDE_LOWER : CERTREG_SIDE_UPPER);
        ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
        ck_assert(3 <= r.radius && r.radius < 3.6);
    }
}

/* ---- where floats end */
static double from_the_end(const float *x, size_t inputs)
{
    (void)inputs;
    return (double)x[0] - 32751;
}

/* From 32752 on floats are too coarse for this noise. About -1 T leaves upwards at 32753, which is
 * beyond that, and downwards before it. */
TEST_TIMES(attack_ends_where_floats_are_too_coarse, 2)
{
    const float start[INPUTS] = {32751}, along[2][INPUTS] = {{-1}, {1}};
    setup s = {.v = {.output = from_the_end}};
    certreg_attack_options o = attack_options(CALLS);
    o.direction = along[_i];
    open_at(&s, start, 0.9, 0);
    const certreg_attack_result r =
        attack_found(s.v.a, QUESTION(.tolerance = 3, .prediction = asks_prediction(-1)), o, NULL);
    ck_assert_int_eq(is_nothing(&r), _i);
    ck_assert_int_eq(r.stop, CERTREG_STOP_ALL);
    if (_i) ck_assert_uint_lt(r.calls, CALLS / 2);
    ck_assert_str_eq(certreg_attack_error(s.v.a)->text, "");
}

/* ---- a prediction and a tolerance of 4e11, and outputs near the end of the interval, 0.5 */
#define DIGIT 0x1p-14 /* of a double just below 4e11 */

static double just_out(const float *x, size_t inputs)
{
    (void)inputs;
    return x[1] < -0.2533471f ? 0.5 + 0.51 * DIGIT : 0.5 - 0.49 * DIGIT; /* on average 0.5 - */
}

static double just_in(const float *x, size_t inputs)
{
    return 1 - just_out(x, inputs);
}

TEST_TIMES(attack_is_not_misled_by_the_digits_of_a_far_prediction, 2)
{
    const float along[INPUTS] = {1};
    const certreg_question q =
        QUESTION(.tolerance = 4e11 - 0.5, .prediction = asks_prediction(4e11),
                 .statistic = CERTREG_STATISTIC_MEAN,
                 .method = _i ? CERTREG_METHOD_ASYMPTOTIC : CERTREG_METHOD_FINITE);
    setup out = {.v = {.output = just_out}, .lo = 0.4998, .hi = 0.5002, .pilot = SIZE_MAX},
          in = out;
    in.v.output = just_in;
    certreg_attack_options o = attack_options(CALLS);
    o.direction = along;
    open_at(&out, origin, 1, 0);
    ck_assert_double_eq(kit_ask(out.v.e, 0, q).radius, 0);
    open_at(&in, origin, 1, 0);
    kit_ask(in.v.e, 0, q);
    const certreg_attack_result r = attack_found(in.v.a, q, o, NULL);
    ck_assert(is_nothing(&r));
}

KIT_MAIN("attack")
