/* Certificates at other inputs (theory 1.9): what is kept, what is refused, and that radii are
 * rounded down. */
#include "support/api_kit.h"

enum { INPUTS = 3, SAMPLES = 600, OUTPUTS = 2 };
static const float z[INPUTS] = {0.5f, -0.0f, 3}, scale[INPUTS] = {2, 0, 0.5f},
                   near[INPUTS] = {0.7f, -0.0f, 3.1f};
static certreg_estimator *estimator;

static void setup(void)
{
    certreg_model m = kit_model(kit_identity, NULL, INPUTS, OUTPUTS);
    const double lo[OUTPUTS] = {-50, -50}, hi[OUTPUTS] = {50, 50};
    m.scale = scale, m.lo = lo, m.hi = hi;
    estimator = kit_begun(m, kit_plan(SAMPLES), z, 0.25, 1);
}

static certreg_certificate asked(double tolerance)
{
    return kit_ask(estimator, SAMPLES, kit_question(tolerance));
}

static certreg_certificate moved(const certreg_certificate *c, const float *from, const float *to)
{
    certreg_certificate out = kit_stale();
    certreg_error why = {.struct_size = sizeof why};
    const certreg_status status = certreg_move_certificate(c, INPUTS, scale, from, to, &why, &out);
    ck_assert_msg(status == CERTREG_OK, "%s", why.text);
    return out;
}

static long double distance_of(const float *d, const float *from, const float *to, size_t inputs)
{
    long double sum = 0;
    for (size_t j = 0; j < inputs; j++) {
        const long double step = ((long double)to[j] - (long double)from[j]) / (long double)d[j];
        if (d[j] > 0) sum += step * step;
    }
    return sqrtl(sum);
}

/* ---- what is kept */
TEST(move_certificate_shortens_radii_by_the_distance)
{
    const certreg_certificate c = asked(1.5);
    certreg_certificate m = moved(&c, z, near), over = c;
    const long double left = (long double)c.radius - distance_of(scale, z, near, INPUTS);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert((long double)m.radius < left && (long double)m.radius > left - 1e-11L);
    const double share = m.radius / c.radius;
    ck_assert_double_eq_tol(m.radius_l1, share * c.radius_l1, 1e-14);
    ck_assert_double_eq_tol(m.radius_l2, share * c.radius_l2, 1e-14);
    ck_assert_double_eq_tol(m.radius_linf, share * c.radius_linf, 1e-14);
    ck_assert(isfinite(m.output_lo) && isnan(m.estimate) && m.input_digest != c.input_digest);
    ck_assert_int_eq(certreg_move_certificate(&over, INPUTS, scale, z, near, NULL, &over), 0);
    ck_assert_mem_eq(&over, &m, sizeof m); /* over itself */
    m.radius = c.radius, m.radius_l1 = c.radius_l1, m.radius_l2 = c.radius_l2;
    m.radius_linf = c.radius_linf, m.estimate = c.estimate, m.input_digest = c.input_digest;
    ck_assert_mem_eq(&m, &c, sizeof c);
}

TEST(move_certificate_to_its_own_input_loses_nothing)
{
    certreg_certificate c = asked(1.5), m = moved(&c, z, z);
    ck_assert(isnan(m.estimate));
    m.estimate = c.estimate;
    ck_assert_mem_eq(&m, &c, sizeof c);
    c.outcome = CERTREG_OUTCOME_CAPPED, c.radius = 2.5;
    ck_assert_int_eq(moved(&c, z, near).outcome, CERTREG_OUTCOME_CERTIFIED);
}

TEST(move_certificate_twice_never_gives_radius_back)
{
    const certreg_certificate c = asked(1.5);
    const float half[INPUTS] = {0.6f, -0.0f, 3.05f}, far[INPUTS] = {0.5f, -0.0f, 9};
    certreg_certificate m = moved(&c, z, half);
    m = moved(&m, half, near);
    const certreg_certificate direct = moved(&c, z, near);
    ck_assert_double_le(m.radius, direct.radius);
    ck_assert_double_eq_tol(m.radius, direct.radius, 1e-6); /* on one line, but for floats */
    ck_assert_uint_eq(m.input_digest, direct.input_digest);
    m = moved(&m, near, far);
    ck_assert_int_eq(m.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert(m.radius == 0 && m.radius_l1 == 0 && m.radius_l2 == 0 && m.radius_linf == 0);
    ck_assert(m.output_lo == -INFINITY && m.output_hi == INFINITY);
    ck_assert(m.prediction == c.prediction && m.status == CERTREG_OK);
    m = moved(&m, far, z);
    ck_assert(m.radius == 0 && m.outcome == CERTREG_OUTCOME_ABSTAINED &&
              m.input_digest == c.input_digest);
}

TEST(move_certificate_of_served_values_and_output_bounds)
{
    certreg_question q = QUESTION(.tolerance = 1.5, .serving = asks_serving(101, 0.01));
    const certreg_certificate c = kit_ask(estimator, SAMPLES, q), m = moved(&c, z, near);
    ck_assert(c.radius > m.radius && m.radius > 0);
    certreg_certificate b = kit_certificate();
    q = kit_question(1.5);
    KIT_OK(estimator, certreg_output_bounds(estimator, SAMPLES, &q, 1, 0.5, &b));
    const certreg_certificate n = moved(&b, z, near);
    ck_assert(b.radius == 0.5 && n.radius > 0 && n.radius < 0.3);
    ck_assert(n.output_lo == b.output_lo && n.output_hi == b.output_hi);
}

/* ---- rounding */
static certreg_estimator *scaled(const float *d, size_t inputs)
{
    const certreg_plan p = kit_plan(9);
    certreg_model m = KIT_MODEL(kit_identity, NULL, inputs, 1, .scale = d, .batch = 1);
    return kit_create(NULL, &m, &p);
}

static uint64_t input_of(certreg_estimator *e, const float *from)
{
    KIT_OK(e, certreg_estimator_begin(e, from, 0.25, 1));
    return kit_ask(e, 9, kit_question(1)).input_digest;
}

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(0x5851f42d4c957f2d) + 1;
    return ldexp((double)(*state >> 11), -53);
}

TEST_TIMES(move_certificate_rounds_down_at_every_size, 40)
{
    enum { MANY = 2000 };
    static float from[MANY], to[MANY], d[MANY];
    uint64_t state = (uint64_t)_i;
    const int plain = _i == 39; /* no scale is one of 1 */
    const size_t inputs = _i % 2 ? MANY : 1 + (size_t)(_i / 2);
    const float *const scales = plain ? NULL : d;
    for (size_t j = 0; j < inputs; j++) {
        d[j] = plain ? 1 : (float)ldexp(1 + uniform(&state), (int)(220 * uniform(&state)) - 110);
        from[j] = d[j] * (float)(2000 * uniform(&state) - 1000);
        to[j] = from[j] + d[j] * (float)(uniform(&state) - 0.5);
    }
    certreg_certificate c = kit_certificate(), m = kit_certificate();
    const long double t = distance_of(d, from, to, inputs);
    c.input_digest = input_of(scaled(scales, inputs), from);
    for (int k = -4; k < 200; k++) { /* from just below the distance to far beyond it */
        c.radius = (double)t * (1 + ldexp(k, -45)) * (k < 100 ? 1 : pow(1.3, k - 100));
        ck_assert_int_eq(certreg_move_certificate(&c, inputs, scales, from, to, NULL, &m),
                         CERTREG_OK);
        const long double left = (long double)c.radius - t;
        ck_assert(m.radius == 0 || (long double)m.radius < left);
        ck_assert((long double)m.radius >= left - 2e-12L * t - 1e-15L * (long double)c.radius);
        ck_assert((m.outcome == CERTREG_OUTCOME_CERTIFIED) == (m.radius > 0));
        ck_assert_int_eq(m.reason, m.radius > 0 ? CERTREG_REASON_NONE : CERTREG_REASON_MOVED);
    }
}

/* ---- what is refused */
static void refused(const certreg_certificate *c, size_t inputs, const float *d, const float *from,
                    const float *to, certreg_status status, const char *words)
{
    certreg_certificate out = kit_stale();
    certreg_error why = {.struct_size = sizeof why};
    ck_assert_int_eq(certreg_move_certificate(c, inputs, d, from, to, &why, &out), status);
    ck_assert_int_eq(why.status, status);
    KIT_SAYS(&why, words);
    ck_assert_msg(kit_is_blank(&out, status), "%s: something is claimed", words);
}

TEST(move_certificate_notices_any_bit_of_input_and_scale)
{
    const certreg_certificate c = asked(1.5);
    for (size_t bit = 0; bit < 64 * INPUTS; bit++) {
        uint32_t bits[2 * INPUTS];
        float both[2 * INPUTS];
        memcpy(bits, z, sizeof z), memcpy(bits + INPUTS, scale, sizeof scale);
        bits[bit / 32] ^= UINT32_C(1) << bit % 32;
        memcpy(both, bits, sizeof both);
        refused(&c, INPUTS, both + INPUTS, both, both, CERTREG_E_MISMATCH, "another input");
    }
    refused(&c, INPUTS - 1, scale, z, z, CERTREG_E_MISMATCH, "another input");
    refused(&c, 0, scale, z, z, CERTREG_E_MISMATCH, "another input");
    refused(&c, INPUTS, NULL, z, z, CERTREG_E_MISMATCH, "another input");
    refused(&c, INPUTS, scale, near, z, CERTREG_E_MISMATCH, "another input");
    KIT_OK(estimator, certreg_estimator_begin(estimator, near, 0.25, 1));
    refused(&c, INPUTS, scale, near, z, CERTREG_E_MISMATCH, "another input");
    const certreg_certificate other = asked(1.5), m = moved(&c, z, near);
    ck_assert_uint_eq(other.input_digest, m.input_digest);
    KIT_OK(estimator, certreg_estimator_begin(estimator, z, 0.5, 2));
    ck_assert_uint_eq(asked(1.5).input_digest, c.input_digest); /* of no noise */
}

/* Where neighbours differ in exponents alone, one could take back what the other does. */
TEST(move_certificate_notices_another_unit)
{
    const float ones[INPUTS] = {0, 1, 1}, twos[INPUTS] = {0, 2, 2};
    certreg_estimator *e = scaled(ones, INPUTS);
    certreg_certificate c = asked(1.5);
    uint64_t state = 1;
    for (int i = 0; i < 2000; i++) {
        const float from[INPUTS] = {(float)uniform(&state), 0, (float)(1 + uniform(&state))},
                    twice[INPUTS] = {from[0], 0, 2 * from[2]};
        c.input_digest = input_of(e, from);
        refused(&c, INPUTS, twos, twice, twice, CERTREG_E_MISMATCH, "another input");
    }
}

TEST(move_certificate_refuses_inputs_that_are_not_covered)
{
    const certreg_certificate c = asked(1.5);
    const float numbers[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        const float to[INPUTS] = {0.5f, -0.0f, numbers[i]};
        refused(&c, INPUTS, scale, z, to, CERTREG_E_INVALID, "to[2] is");
    }
    refused(&c, INPUTS, scale, z, ((float[INPUTS]){0.5f, 1, 3}), CERTREG_E_INVALID, "scale 0");
    refused(&c, INPUTS, scale, z, ((float[INPUTS]){0.5f, 0, 3}), CERTREG_E_INVALID, "scale 0");
    refused(&c, INPUTS, scale, NULL, z, CERTREG_E_INVALID, "z is NULL");
    refused(&c, INPUTS, scale, z, NULL, CERTREG_E_INVALID, "to is NULL");
}

TEST(move_certificate_refuses_those_about_one_input_alone)
{
    certreg_question q = kit_question(1.5);
    q.statistic = CERTREG_STATISTIC_MEAN, q.center = CERTREG_CENTER_TRUE_MEAN;
    certreg_certificate c = kit_ask(estimator, SAMPLES, q), each[OUTPUTS], all = kit_certificate();
    refused(&c, INPUTS, scale, z, near, CERTREG_E_INVALID, "certificate.center is 1");
    q = kit_question(1.5);
    q.method = CERTREG_METHOD_BASELINE, q.center = CERTREG_CENTER_SAMPLE_MEDIAN;
    c = kit_ask(estimator, SAMPLES, q);
    refused(&c, INPUTS, scale, z, near, CERTREG_E_INVALID, "certificate.center is 2");
    /* The output that limits is about a prediction, and the other about its true mean. */
    certreg_question pose[OUTPUTS] = {kit_question(0.5), kit_question(40)};
    pose[1].output = 1, pose[1].statistic = CERTREG_STATISTIC_MEAN;
    pose[1].center = CERTREG_CENTER_TRUE_MEAN;
    each[0] = kit_certificate();
    KIT_OK(estimator, certreg_certify_outputs(estimator, SAMPLES, pose, OUTPUTS, each, &all));
    ck_assert(all.output == 0 && all.radius == each[0].radius && all.radius < each[1].radius);
    refused(&all, INPUTS, scale, z, near, CERTREG_E_INVALID, "certificate.center is 1");
    c = asked(1.5);
    c.status = CERTREG_E_MODEL_FAILED;
    refused(&c, INPUTS, scale, z, near, CERTREG_E_INVALID, "certificate.status is");
}

TEST(move_certificate_refuses_structs_of_other_sizes)
{
    struct {
        certreg_certificate known;
        uint64_t more;
    } later = {asked(1.5), 1};
    later.known.struct_size = sizeof later;
    refused(&later.known, INPUTS, scale, z, near, CERTREG_E_VERSION, "certificate sets a field");
    refused(NULL, INPUTS, scale, z, near, CERTREG_E_INVALID, "certificate is NULL");
    later.known.struct_size = 8;
    refused(&later.known, INPUTS, scale, z, near, CERTREG_E_INVALID, "certificate.struct_size");
    const certreg_certificate c = asked(1.5);
    certreg_certificate *const out = &later.known; /* still of 8 bytes */
    ck_assert_int_eq(certreg_move_certificate(&c, INPUTS, scale, z, near, NULL, out),
                     CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_move_certificate(&c, INPUTS, scale, z, near, NULL, NULL),
                     CERTREG_E_INVALID);
}

FIXTURE(setup, NULL)
KIT_MAIN("moving")
