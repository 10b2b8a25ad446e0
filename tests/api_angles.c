/* Angles: a radius depends on neither the unit nor the cut, and what is known of the arcs of
 * theory 7 before the pilot is complete, and where there is no pilot. */
#include "support/api_kit.h"

static const double pi = 3.14159265358979323846, sigma = 0.5;
static const float origin[2];

/* ---- angles */
typedef struct dial { /* angle = degrees + rate*x0, in any unit, wrapped where the model likes */
    double degrees, rate;
    /* 0: plain real degrees; 1: degrees, wrapped; 2: radians; 3: (cos, sin); 4: degrees, many
     * turns away; 5: turns */
    int form;
} dial;

static int dial_model(void *user, const certreg_batch *b)
{
    const dial *t = user;
    for (size_t i = 0; i < b->rows; i++) {
        const double a = t->degrees + t->rate * (double)b->x[i * b->inputs];
        float *y = b->y + i * b->columns;
        switch (t->form) {
        case 0: y[0] = (float)a; break;
        case 1: y[0] = (float)remainder(a, 360); break;
        case 2: y[0] = (float)(a / 180 * pi); break;
        case 3: y[0] = 3 * (float)cos(a / 180 * pi), y[1] = 3 * (float)sin(a / 180 * pi); break;
        case 4: y[0] = (float)(a + (double)((int)i % 5 - 2) * 360); break;
        default: y[0] = (float)(a / 360); break;
        }
    }
    return 0;
}

static const struct {
    int32_t kind;
    double lo, hi; /* the turn; 0, 0: the default */
    int form;
} dials[] = {
    {CERTREG_OUTPUT_REAL, 0, 0, 0},
    {CERTREG_OUTPUT_ANGLE, -180, 180, 1},
    {CERTREG_OUTPUT_ANGLE, 0, 0, 2},
    {CERTREG_OUTPUT_ANGLE_PAIR, 0, 0, 3},
    {CERTREG_OUTPUT_ANGLE_PAIR, -180, 180, 3},
    {CERTREG_OUTPUT_ANGLE, 0, 360, 4},
    {CERTREG_OUTPUT_ANGLE, 0, 1, 5},
    {CERTREG_OUTPUT_ANGLE_PAIR, 0, 24, 3},
};

static double unit_of(int k)
{
    if (dials[k].kind == CERTREG_OUTPUT_REAL) return 1;
    return dials[k].hi > dials[k].lo ? (dials[k].hi - dials[k].lo) / 360 : pi / 180;
}

/* The certificate with prediction and estimate turned back to degrees in [0, 360). */
static certreg_certificate read_dial(dial d, int k, int32_t statistic)
{
    d.form = dials[k].form;
    certreg_model m = KIT_MODEL(dial_model, &d, 2, 1, .kind = &dials[k].kind);
    if (dials[k].hi > dials[k].lo) m.lo = &dials[k].lo, m.hi = &dials[k].hi;
    certreg_estimator *e = kit_begun(m, kit_plan(4000), origin, sigma, 3);
    certreg_question q = QUESTION(.tolerance = 15 * unit_of(k), .statistic = statistic,
                                  .method = statistic == CERTREG_STATISTIC_MEDIAN
                                                ? CERTREG_METHOD_FINITE
                                                : CERTREG_METHOD_ASYMPTOTIC);
    if (statistic == CERTREG_STATISTIC_HUBER) q.huber_width = 8 * unit_of(k);
    certreg_certificate c = kit_ask(e, 4000, q);
    if (dials[k].hi > dials[k].lo) {
        ck_assert_double_ge(c.prediction, dials[k].lo);
        ck_assert_double_lt(c.prediction, dials[k].hi);
    }
    c.prediction = fmod(c.prediction / unit_of(k) + 720, 360),
    c.estimate = fmod(c.estimate / unit_of(k) + 720, 360);
    return c;
}

static const int32_t scores[] = {CERTREG_STATISTIC_MEDIAN, CERTREG_STATISTIC_HUBER,
                                 CERTREG_STATISTIC_CIRCULAR_MEAN};
static const double directions[] = {0, 90, 179.5, 180, -179.5, -90};

TEST_ROWS(angle_radius_depends_on_neither_its_unit_nor_its_cut, directions)
{
    const dial d = {.degrees = directions[_i], .rate = 20}; /* ten degrees of noise */
    for (int s = 0; s < 3; s++) {
        /* of a real number there is none */
        const int first = scores[s] == CERTREG_STATISTIC_CIRCULAR_MEAN;
        const certreg_certificate model = read_dial(d, first, scores[s]);
        ck_assert_int_eq(model.outcome, CERTREG_OUTCOME_CERTIFIED);
        ck_assert_double_gt(model.radius, 0.5);
        ck_assert_double_lt(model.radius, 15.0 / 20);
        ck_assert_double_lt(fabs(remainder(model.prediction - d.degrees, 360)), 1.5);
        /* outputs are rounded to float in each unit; a count may change by one */
        for (int k = first + 1; k < KIT_ROWS(dials); k++) {
            const certreg_certificate c = read_dial(d, k, scores[s]);
            ck_assert_msg(fabs(c.radius - model.radius) < 2e-3 * model.radius,
                          "statistic %d, dial %d: %g and %g", s, k, c.radius, model.radius);
            ck_assert_double_lt(fabs(remainder(c.prediction - model.prediction, 360)), 0.02);
            ck_assert_double_lt(fabs(remainder(c.estimate - model.estimate, 360)), 0.02);
        }
    }
}

TEST_TIMES(angle_radius_never_exceeds_that_of_its_line, 6)
{
    static const double rates[] = {2, 20, 60, 120, 240, 1000};
    const dial d = {.degrees = 179, .rate = rates[_i]};
    for (int k = 0; k < KIT_ROWS(dials); k++) {
        const certreg_certificate c = read_dial(d, k, CERTREG_STATISTIC_MEDIAN);
        /* where the median of the line leaves */
        ck_assert_double_le(c.radius, 15 / rates[_i] * 1.0000001);
        if (rates[_i] >= 1000) ck_assert_double_eq(c.radius, 0); /* uniform on the circle */
    }
}

TEST(angle_is_a_plain_number_for_a_mean)
{
    dial d = {.degrees = 180, .rate = 20, .form = 1};
    certreg_model m = kit_model(dial_model, &d, 2, 1);
    m.kind = &dials[1].kind, m.lo = &dials[1].lo, m.hi = &dials[1].hi;
    certreg_estimator *e = kit_begun(m, kit_plan(4000), origin, sigma, 3);
    const certreg_question q = QUESTION(.tolerance = 15, .statistic = CERTREG_STATISTIC_MEAN,
                                        .method = CERTREG_METHOD_ASYMPTOTIC,
                                        .center = CERTREG_CENTER_TRUE_MEAN);
    const certreg_certificate c = kit_ask(e, 4000, q);
    ck_assert_double_lt(fabs(c.estimate), 20); /* half of the outputs near either end */
    ck_assert_double_gt(asks_bounds(e, &q, &c).variance_hi, 160 * 160); /* and it pays for that */
    ck_assert_double_lt(c.radius, 0.1);
}

/* ---- where floats end */
/* The degrees, or any unit, per unit of the input. */
KIT_EVAL(steady, (float)(*(const double *)user *(double)x[0]))

static certreg_estimator *make(double *rate, int32_t kind, const double *turn, certreg_plan p)
{
    certreg_model m = kit_model(steady, rate, 1, 1);
    m.kind = &kind, m.lo = turn, m.hi = turn + 1, m.batch = 4;
    return kit_begun(m, p, origin, 1, 1);
}

/* f(x) is rate*x0 in an angle whose turn has few floats, or a tolerance of few steps of them. */
static const struct {
    double turn[2], rate, tolerance;
    int provable;
} coarse[] = {{{0, 360}, 1e-5, 1e-5, 0},
              {{0, 360}, 1e-4, 1e-4, 1},
              {{1e6, 1e6 + 360}, 0.05, 0.06, 0},
              {{1e6, 1e6 + 360}, 1, 1, 1},
              {{1e6 + 0.3, 1e6 + 300.7}, -2, 2, 1}};

TEST_ROWS(angle_radius_accounts_for_the_rounding_to_float, coarse)
{
    double rate = coarse[_i].rate, longest = 0;
    certreg_estimator *e = make(&rate, CERTREG_OUTPUT_ANGLE, coarse[_i].turn, kit_plan(2000));
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < 50; i++) {
            const float z = -1 - 0.31f * (float)i;
            KIT_OK(e, certreg_estimator_begin(e, &z, 0.25, (uint64_t)(100 * s + i)));
            certreg_question q =
                QUESTION(.tolerance = coarse[_i].tolerance, .alpha = 1e-9, .statistic = scores[s]);
            if (scores[s] == CERTREG_STATISTIC_HUBER) q.huber_width = coarse[_i].tolerance;
            const certreg_certificate c = kit_ask(e, 2000, q);
            const double turn = coarse[_i].turn[1] - coarse[_i].turn[0],
                         off = fabs(remainder(rate * (double)z - c.prediction, turn));
            ck_assert_msg(!(c.radius > 0) || off + fabs(rate) * c.radius < coarse[_i].tolerance,
                          "statistic %d, z %g: %g and %g away", s, (double)z, off,
                          fabs(rate) * c.radius);
            longest = fmax(longest, c.radius);
        }
    ck_assert_int_eq(longest > 0, coarse[_i].provable);
}

/* As it wraps the outputs: 1e20 is 272 degrees. */
TEST(angle_prediction_many_turns_away_is_wrapped_exactly)
{
    const double turn[2] = {0, 360}, far_away = (double)1e20f;
    certreg_estimator *e = make(&(double){0}, CERTREG_OUTPUT_ANGLE, turn, kit_plan(400));
    const certreg_question q = QUESTION(.tolerance = 5, .prediction = &far_away);
    ck_assert_double_eq(kit_ask(e, 400, q).prediction, fmod(far_away, 360));
}

/* ---- before the pilot */
static const double centered[] = {-180, 180};
static const struct {
    double tolerance, wanted;
} wishes[] = {{10, 1.723}, {5, 1.72}, {20, 1.68}, {2, 1.7}};
enum { CAPACITY = 100, PILOT = 13, WISHES = 2 * sizeof wishes / sizeof *wishes };

static certreg_estimator *make_short(void)
{
    static double still = 0;
    certreg_plan p = KIT_PLAN(CAPACITY, .pilot = PILOT);
    return make(&still, CERTREG_OUTPUT_ANGLE, centered, p);
}

/* Looking always costs some radius. */
static certreg_question wish(int i)
{
    return QUESTION(.tolerance = wishes[i / 2].tolerance,
                    .method = i % 2 ? CERTREG_METHOD_ANYTIME : CERTREG_METHOD_FINITE,
                    .target = asks_target(wishes[i / 2].wanted * (i % 2 ? 0.88 : 1)));
}

static uint64_t least_samples(certreg_estimator *e, const certreg_question *q)
{
    const uint64_t least = asks_forecast(e, *q).least_samples;
    ck_assert_uint_gt(least, 0);
    return least;
}

/* What all samples prove is not given up, with a forecast before or without. */
TEST_TIMES(angle_forecast_before_the_pilot_is_at_most_the_samples, 2 * WISHES)
{
    const certreg_question q = wish(_i % WISHES);
    certreg_estimator *e = make_short();
    const uint64_t least = _i < WISHES ? least_samples(e, &q) : 0;
    const certreg_certificate c = kit_ask(e, CAPACITY, q);
    ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
    ck_assert_double_ge(c.radius, q.target->radius);
    ck_assert_uint_le(least, c.samples);
}

/* As whoever asks for the radius of an earlier certificate. */
TEST_TIMES(angle_target_that_is_just_attainable_is_not_given_up, WISHES / 2)
{
    certreg_question q =
        QUESTION(.tolerance = wishes[_i].tolerance, .method = CERTREG_METHOD_ANYTIME);
    certreg_estimator *e = make_short();
    q.target = asks_target(kit_ask(e, CAPACITY, q).radius);
    KIT_OK(e, certreg_estimator_begin(e, origin, 1, 1));
    least_samples(e, &q);
    const certreg_certificate c = kit_ask(e, CAPACITY, q);
    ck_assert_double_ge(c.radius, q.target->radius);
    ck_assert_int_eq(c.stop, CERTREG_STOP_TARGET);
}

/* ---- without a pilot */
static const struct {
    size_t samples;
    double tolerance, degrees, least;
} given[] = {
    {60, 10, 0, 0.96},    {60, 2, 0, 0.98},    {200, 5, 0, 0.98},
    {2000, 10, 0, 0.975}, {2000, 20, 0, 0.92}, {2000, 10, 5, 0.99},
    {400, 10, 10, 0.99},  {2000, 5, 8, 0.99},  {2000, 20, 25, 0.95},
};

TEST_ROWS(angle_radius_without_a_pilot_is_nearly_that_of_a_number, given)
{
    double radius[2];
    double degrees = given[_i].degrees;
    certreg_plan p = KIT_PLAN(given[_i].samples, .pilot = SIZE_MAX);
    for (int32_t kind = CERTREG_OUTPUT_REAL; kind <= CERTREG_OUTPUT_ANGLE; kind++) {
        certreg_estimator *e = make(&degrees, kind, centered, p);
        certreg_question q =
            QUESTION(.tolerance = given[_i].tolerance, .prediction = asks_prediction(0));
        radius[kind] = kit_ask(e, given[_i].samples, q).radius;
    }
    ck_assert_double_gt(radius[0], 0.3);
    ck_assert_double_le(radius[1], radius[0]);
    ck_assert_msg(radius[1] >= given[_i].least * radius[0], "%g of %g", radius[1], radius[0]);
}

KIT_MAIN("angles")
