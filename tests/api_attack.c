/* Attacks: both ends of the truth for models whose breaking radius is known, calls that are counted
 * to the last one, and records that stay as they are. */
#include "support/attack_kit.h"
#include <certreg/attack.h>

enum { INPUTS = 5, SAMPLES = 2000, CALLS = 1200 };
static const float where[INPUTS] = {0, 0.5f, -1, 2, 0.25f};

typedef struct setup {
    victim v;
    certreg_backend *backend;
    const float *scale;
    size_t batch;
    int32_t kind;
    double lo, hi;
} setup;

static void open_all(setup *s)
{
    certreg_model m = kit_model(victim_model, &s->v, INPUTS, 1);
    m.batch = s->batch, m.scale = s->scale;
    if (s->kind) m.kind = &s->kind;
    if (s->hi > s->lo) m.lo = &s->lo, m.hi = &s->hi;
    certreg_plan p = kit_plan(SAMPLES);
    p.constraints = CERTREG_CONSTRAINT_MEAN;
    s->v.e = kit_create(s->backend, &m, &p);
    s->v.a = attack_on(s->v.e, CALLS);
}

static certreg_certificate certify(setup *s, const certreg_question *q, double sigma, uint64_t id)
{
    certreg_certificate c = kit_certificate();
    KIT_OK(s->v.e, certreg_estimator_begin(s->v.e, where, sigma, id));
    KIT_OK(s->v.e, certreg_certify(s->v.e, SAMPLES, q, 1, &c));
    s->v.rows = s->v.batches = 0;
    return c;
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
    double tolerance, width, lo, hi, breaks;
} cases[] = {
    {sloped, CERTREG_STATISTIC_MEDIAN, 0, 0.6, 0, 0, 0, 0.6 / 1.118034},
    {sloped, CERTREG_STATISTIC_HUBER, 0, 0.6, 0.3, 0, 0, 0.6 / 1.118034},
    {sloped, CERTREG_STATISTIC_MEAN, 0, 0.6, 0, -3, 3, 0.6 / 1.118034},
    {few_values, CERTREG_STATISTIC_MEDIAN, 0, 0.5, 0, 0, 0, 0.25 / 1.118034},
    {direction_of_slope, CERTREG_STATISTIC_MEDIAN, 1, 12, 0, -180, 180, 0.6 / 1.118034},
    {direction_of_slope, CERTREG_STATISTIC_HUBER, 1, 12, 6, -180, 180, 0.6 / 1.118034},
    {direction_of_slope, CERTREG_STATISTIC_CIRCULAR_MEAN, 1, 12, 0, -180, 180, 0.6 / 1.118034}};

TEST_ROWS(attack_and_certificate_enclose_the_true_radius, cases)
{
    static const double center = 0;
    const float units[INPUTS] = {1, 0, 1, 3, 0.5f};
    setup s = {.v = {.output = cases[_i].output},
               .scale = units,
               .kind = cases[_i].kind,
               .lo = cases[_i].lo,
               .hi = cases[_i].hi};
    open_all(&s);
    for (uint64_t id = 0; id < 3; id++) {
        certreg_question q = QUESTION(.tolerance = cases[_i].tolerance,
                                      .statistic = cases[_i].statistic,
                                      .huber_width = cases[_i].width, .prediction = &center);
        const certreg_certificate c = certify(&s, &q, 0.4, id);
        certreg_attack_result r = attack_result();
        const certreg_attack_options o = attack_options(CALLS);
        float shift[INPUTS];
        ATTACK_OK(s.v.a, certreg_attack_run(s.v.a, &q, &o, shift, &r));
        ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
        ck_assert_msg(c.radius <= cases[_i].breaks && cases[_i].breaks <= r.radius, "%g, %g, %g",
                      c.radius, cases[_i].breaks, r.radius);
        ck_assert_double_le(r.radius, 1.5 * cases[_i].breaks);
        ck_assert_double_ge(r.radius, norm_of(&s, shift));
        ck_assert_double_le(r.radius, norm_of(&s, shift) * (1 + 1e-12));
        ck_assert_double_eq_tol(r.forecast, cases[_i].breaks, 0.2 * cases[_i].breaks);
        ck_assert_double_gt(r.cosine, 0.98);
        ck_assert_int_eq(r.side, shift[0] > 0 ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
        ck_assert_double_eq(r.tolerance, q.tolerance);
        ck_assert_double_eq(r.prediction, 0);
        ck_assert_double_eq(r.alpha, 0.1);
        ck_assert_uint_eq(r.samples, SAMPLES);
    }
}

/* ---- calls */
TEST_TIMES(attack_makes_no_more_calls_than_allowed, 3)
{
    static const size_t batches[] = {1, 7, 256};
    setup s = {.v = {.output = beyond_face}, .batch = batches[_i]};
    const certreg_question q = kit_question(5);
    open_all(&s);
    certify(&s, &q, 1, 3);
    for (size_t calls = 196; calls <= CALLS; calls += 61) {
        certreg_attack_result r = attack_result();
        const certreg_attack_options o = attack_options(calls);
        s.v.rows = 0;
        ATTACK_OK(s.v.a, certreg_attack_run(s.v.a, &q, &o, NULL, &r));
        ck_assert_uint_eq(r.calls, s.v.rows);
        ck_assert_uint_le(r.calls, calls);
        ck_assert_int_eq(r.stop, CERTREG_STOP_ALL);
    }
}

TEST(attack_result_depends_on_neither_batches_nor_threads)
{
    static const size_t batches[] = {1, 60, 256};
    certreg_attack_result first = attack_result();
    float expected[INPUTS], shift[INPUTS];
    for (int k = 0; k < 4; k++) {
        setup s = {.v = {.output = sloped}, .batch = batches[k % 3]};
        const certreg_question q = kit_question(0.5);
        const certreg_attack_options o = attack_options(700);
        certreg_attack_result r = attack_result();
        if (k == 3) s.backend = kit_backend(3);
        open_all(&s);
        certify(&s, &q, 0.5, 3);
        ATTACK_OK(s.v.a, certreg_attack_run(s.v.a, &q, &o, shift, &r));
        if (!k) first = r, memcpy(expected, shift, sizeof shift);
        ck_assert_mem_eq(&r, &first, sizeof r);
        ck_assert_mem_eq(shift, expected, sizeof shift);
    }
}

TEST(attack_of_another_number_has_other_noise)
{
    setup s = {.v = {.output = sloped}};
    const certreg_question q = kit_question(0.5);
    certreg_attack_options o = attack_options(700);
    certreg_attack_result r[3] = {attack_result(), attack_result(), attack_result()};
    open_all(&s);
    certify(&s, &q, 0.5, 3);
    for (int k = 0; k < 3; k++) {
        o.number = k == 1 ? 8 : 0;
        ATTACK_OK(s.v.a, certreg_attack_run(s.v.a, &q, &o, NULL, &r[k]));
    }
    ck_assert_double_ne(r[0].radius, r[1].radius);
    ck_assert_mem_eq(&r[0], &r[2], sizeof *r);
}

/* ---- the record */
static unsigned char *export_of(certreg_estimator *e, size_t *bytes)
{
    *bytes = 0;
    KIT_OK(e, certreg_estimator_export(e, NULL, bytes));
    unsigned char *out = malloc(*bytes);
    KIT_OK(e, certreg_estimator_export(e, out, bytes));
    return out;
}

TEST(attack_leaves_the_record_as_it_is)
{
    setup s = {.v = {.output = sloped}};
    const certreg_question q = kit_question(0.5);
    const certreg_attack_options o = attack_options(700);
    certreg_certificate again = kit_certificate();
    size_t before, after;
    open_all(&s);
    const certreg_certificate c = certify(&s, &q, 0.5, 3);
    unsigned char *was = export_of(s.v.e, &before);
    attack_found(s.v.a, q, o, NULL);
    unsigned char *is = export_of(s.v.e, &after);
    ck_assert_uint_eq(before, after);
    ck_assert_mem_eq(was, is, before);
    KIT_OK(s.v.e, certreg_certify(s.v.e, 0, &q, 1, &again));
    ck_assert_mem_eq(&c, &again, sizeof c);
    free(was), free(is);
}

/* A fixed number of samples: what an attack has seen must not decide it (theory 5.2). */
TEST(attack_is_an_evaluation_of_the_record)
{
    setup s = {.v = {.output = sloped}};
    const certreg_question q = kit_question(0.5);
    const certreg_attack_options none = attack_options(0);
    certreg_certificate c = kit_certificate();
    open_all(&s);
    KIT_OK(s.v.e, certreg_estimator_begin(s.v.e, where, 0.5, 3));
    KIT_OK(s.v.e, certreg_estimator_sample(s.v.e, 0, 900));
    attack_found(s.v.a, q, none, NULL);
    KIT_STATUS(s.v.e, certreg_certify(s.v.e, 1000, &q, 1, &c), CERTREG_E_WRONG_STATE);
}

/* ---- a direction of the caller's */
TEST(attack_follows_a_given_direction_of_any_length)
{
    setup s = {.v = {.output = sloped}};
    const certreg_question q = kit_question(0.5);
    const float along[2][INPUTS] = {{1, 0, -0.5f, 0, 0}, {1e20f, 0, -0.5e20f, 0, 0}};
    certreg_attack_options o = attack_options(400);
    float shift[2][INPUTS];
    open_all(&s);
    certify(&s, &q, 0.5, 3);
    for (int k = 0; k < 2; k++) {
        certreg_attack_result r = attack_result();
        o.direction = memcpy(shift[k], along[k], sizeof shift[k]);
        ATTACK_OK(s.v.a, certreg_attack_run(s.v.a, &q, &o, shift[k], &r));
        ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
        ck_assert_int_eq(r.side, CERTREG_SIDE_UPPER); /* that is where it leads */
        ck_assert_double_eq(r.cosine, 1);
        ck_assert_double_eq_tol((double)shift[k][2], -0.5 * (double)shift[k][0], 1e-6);
        ck_assert(shift[k][1] == 0 && shift[k][3] == 0 && shift[k][4] == 0);
    }
    ck_assert_mem_eq(shift[0], shift[1], sizeof shift[0]);
}

/* ---- where nothing can be broken */
static double always_one(const float *x, size_t inputs)
{
    (void)x, (void)inputs;
    return 1;
}

TEST(attack_does_not_break_a_constant)
{
    setup s = {.v = {.output = always_one}};
    const certreg_question q = kit_question(0.5);
    const certreg_attack_options o = attack_options(400);
    float shift[INPUTS] = {7, 7, 7, 7, 7};
    const float zeros[INPUTS] = {0};
    open_all(&s);
    certify(&s, &q, 0.5, 3);
    const certreg_attack_result r = attack_found(s.v.a, q, o, shift);
    ck_assert(is_nothing(&r));
    ck_assert(isnan(r.forecast));
    ck_assert_mem_eq(shift, zeros, sizeof shift);
}

/* The prediction is out of the tolerance already: no shift is needed. */
TEST(attack_breaks_what_is_out_at_next_to_nothing)
{
    static const double far = 3;
    setup s = {.v = {.output = sloped}};
    certreg_question q = kit_question(0.5);
    const certreg_attack_options o = attack_options(CALLS);
    q.prediction = &far;
    open_all(&s);
    const certreg_certificate c = certify(&s, &q, 0.5, 3);
    ck_assert_double_eq(c.radius, 0);
    const certreg_attack_result r = attack_found(s.v.a, q, o, NULL);
    ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
    ck_assert_double_lt(r.radius, 0.2);
}

KIT_MAIN("attack")
