/* The floating-point environment is the caller's affair: certified numbers are the same bits
 * whatever it is, it is the same after every call as before, and callbacks see it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* feenableexcept */
#endif
#include <certreg/interval.h>
#include <certreg/worst_function.h>
#include "support/api_kit.h"
#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* ---- environments */
enum { TRAPS, FLUSHED, UPWARD, DOWNWARD, TOWARDZERO, ENVIRONMENTS };
static const int rounding[ENVIRONMENTS] = {
    [UPWARD] = FE_UPWARD, [DOWNWARD] = FE_DOWNWARD, [TOWARDZERO] = FE_TOWARDZERO};

static unsigned control(void)
{
#if defined(__x86_64__)
    return _mm_getcsr();
#else
    return 0;
#endif
}

static void set_environment(int which)
{
    fesetenv(FE_DFL_ENV);
    if (which == TRAPS) feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#if defined(__x86_64__)
    if (which == FLUSHED)
        _mm_setcsr(_mm_getcsr() | 0x8040u); /* subnormal results and operands become zero */
#endif
    if (which >= UPWARD && which < ENVIRONMENTS) fesetround(rounding[which]);
}

typedef struct environment {
    int rounding, traps, flags;
    unsigned control;
} environment;

static environment now(void)
{
    return (environment){fegetround(), fegetexcept(), fetestexcept(FE_ALL_EXCEPT), control()};
}

static environment wanted; /* what every call has to leave, and every callback to see */
static size_t callbacks;

static void check_environment(const char *what)
{
    const environment is = now();
    ck_assert_msg(is.rounding == wanted.rounding && is.traps == wanted.traps &&
                      is.flags == wanted.flags && is.control == wanted.control,
                  "%s: rounding %d (%d), traps %d (%d), flags %d (%d), control %x (%x)", what,
                  is.rounding, wanted.rounding, is.traps, wanted.traps, is.flags, wanted.flags,
                  is.control, wanted.control);
}

/* ---- everything the library computes, as bytes */
static unsigned char bytes[1 << 16];
static size_t used;

static void keep(const void *what, size_t size)
{
    ck_assert_uint_le(used + size, sizeof bytes);
    memcpy(bytes + used, what, size);
    used += size;
}

static void keep_certificates(certreg_certificate *c, size_t count)
{
    keep(c, count * sizeof *c);
}

#define CALL(call)                                                                   \
    do {                                                                             \
        const certreg_status got = (call);                                           \
        check_environment(#call);                                                    \
        ck_assert_msg(got == CERTREG_OK, "%s: %s", #call, certreg_status_text(got)); \
    } while (0)

enum { INPUTS = 160, ROWS = 256, SAMPLES = 1024 };

/* Comparisons alone: nothing is rounded, and the outputs do not depend on the environment. */
static int greatest(void *user, const certreg_batch *b)
{
    (void)user;
    check_environment("the model");
    callbacks++;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            const float u = b->x[i * b->inputs + 2 * k], v = b->x[i * b->inputs + 2 * k + 1];
            b->y[i * b->columns + k] = u > v ? u : v;
        }
    return 0;
}

static int progress(void *user, uint64_t done, uint64_t total)
{
    (void)user, (void)done, (void)total;
    check_environment("progress");
    return 0;
}

/* Where nothing bounds the change there is none. */
static void keep_worst_function(certreg_solver *s, const certreg_bounds *u)
{
    static const double t[] = {-2, -0.3, 0.1, 1.7};
    double values[4] = {0};
    certreg_worst_function f = {.struct_size = sizeof f};
    const certreg_status status =
        certreg_solver_worst_function(s, u, 0, 0.25, CERTREG_SIDE_UPPER, &f);
    check_environment("certreg_solver_worst_function");
    if (!status) CALL(certreg_worst_function_values(&f, 4, t, values));
    keep(&f, sizeof f);
    keep(values, sizeof values);
}

static void solve_all(void)
{
    certreg_solver *s = NULL;
    certreg_bisection *b = NULL;
    CALL(certreg_solver_create(NULL, NULL, &s));
    CALL(certreg_bisection_create(NULL, NULL, &b));
    certreg_bounds u = {.struct_size = sizeof u,
                        .sigma = 0.5,
                        .mean_lo = 0.3,
                        .mean_hi = 0.32,
                        .variance_hi = 0.4,
                        .gradient_lo = 0.2,
                        .gradient_hi = 0.3,
                        .range_lo = -2,
                        .range_hi = 3,
                        .second_order_hi = 0.25,
                        .moment_center = 0.25,
                        .moment_hi = 0.4};
    for (uint32_t constraints = 1; constraints < 64; constraints++) {
        certreg_mean_change shift = {.struct_size = sizeof shift};
        certreg_radius within = {.struct_size = sizeof within}, above = within;
        u.constraints = constraints;
        CALL(certreg_solver_worst_case(s, &u, 0, 0.0625 * (constraints % 7), &shift));
        CALL(certreg_bisection_within(b, &u, 0, 0.25, &within));
        if (constraints & CERTREG_CONSTRAINT_MEAN)
            CALL(certreg_bisection_above(b, &u, NULL, 1, 0, &above));
        keep(&shift, sizeof shift), keep_worst_function(s, &u), keep(&within, sizeof within),
            keep(&above, sizeof above);
    }
    kit_close_solver(s, b);
    check_environment("destroy");
}

static certreg_question question(int statistic, int method)
{
    certreg_question q = kit_question(0.7);
    q.statistic = statistic, q.method = method;
    q.huber_width = statistic == CERTREG_STATISTIC_HUBER ? 0.3 : 0;
    q.center = method == CERTREG_METHOD_PAPER ? CERTREG_CENTER_TRUE_MEAN
                                              : CERTREG_CENTER_PREDICTION;
    q.constraints = method == CERTREG_METHOD_PAPER ? CERTREG_CONSTRAINTS_CG : 0;
    return q;
}

static void certify_all(certreg_estimator *e, const float *z)
{
    enum { COUNT = 6, LEVELS = 2 };
    const certreg_question q[COUNT] = {
        question(CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE),
        question(CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE),
        question(CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC),
        question(CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER),
        question(CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ANYTIME),
        question(CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC)};
    certreg_question both[2] = {q[0], q[0]}, wanted_one = q[0];
    both[1].output = 1;
    wanted_one.target = asks_target(0.1);
    certreg_certificate c[COUNT] = {kit_certificate()}, each[2] = {kit_certificate()},
                        bonferroni = kit_certificate(), level[LEVELS] = {kit_certificate()};
    certreg_bounds bounds = {.struct_size = sizeof bounds};
    certreg_forecast forecast = {.struct_size = sizeof forecast};
    double mean_radius[LEVELS];
    size_t best, room = SAMPLES * 2 * 4 + 256;
    unsigned char *record = malloc(room);
    CALL(certreg_estimator_set_deadline(e, 3600));
    CALL(certreg_estimator_begin(e, z, 0.25, 3));
    CALL(certreg_estimator_forecast(e, &wanted_one, &forecast));
    KIT_OK(e, certreg_certify(e, SAMPLES, q, COUNT, c));
    check_environment("certify");
    CALL(certreg_estimator_bounds(e, q + 2, CERTREG_SIDE_UPPER, &bounds));
    CALL(certreg_estimator_export(e, record, &room));
    CALL(certreg_estimator_import(e, record, room));
    CALL(certreg_certify_outputs(e, SAMPLES, both, 2, each, &bonferroni));
    CALL(
        certreg_certify_sigmas(e, z, (const double[]){0.25, 0.5}, LEVELS, 7, SAMPLES, q, 1, level));
    CALL(certreg_choose_sigma(level, 1, LEVELS, mean_radius, &best));
    keep_certificates(c, COUNT), keep_certificates(each, 2), keep_certificates(&bonferroni, 1),
        keep_certificates(level, LEVELS);
    keep(&bounds, sizeof bounds), keep(&forecast, sizeof forecast), keep(record, room),
        keep(mean_radius, sizeof mean_radius), keep(&best, sizeof best);
    free(record);
}

static void predict_all(certreg_estimator *e, const float *z)
{
    enum { POINTS = 12, ROOM = 2 * SAMPLES };
    static double scores[POINTS], lo[ROOM], hi[ROOM];
    certreg_calibration c = {.struct_size = sizeof c, .capacity = POINTS, .scores = scores};
    for (uint64_t i = 0; i <= POINTS; i++) {
        CALL(certreg_estimator_begin(e, z, 0.25, 20 + i));
        CALL(certreg_estimator_sample(e, 0, SAMPLES));
        if (i < POINTS) CALL(certreg_estimator_calibrate(e, &c, (const double[]){1.1}));
    }
    const certreg_coverage coverage = {.struct_size = sizeof coverage,
                                       .alpha = 0.25,
                                       .radius = 0.05,
                                       .sigma = 0.25,
                                       .points = POINTS,
                                       .calibration_samples = c.samples,
                                       .samples = c.samples};
    certreg_ranks ranks = {.struct_size = sizeof ranks};
    certreg_interval set = {.struct_size = sizeof set};
    CALL(certreg_interval_ranks(&coverage, NULL, &ranks));
    CALL(certreg_estimator_interval(e, &c, &ranks, 0, lo, hi, ROOM, &set));
    keep(scores, sizeof scores), keep(&ranks, sizeof ranks), keep(&set, sizeof set);
}

/* Subnormal noise scales and inputs would show what flushes them. */
static void run_all(void)
{
    float z[INPUTS] = {0}, scale[INPUTS];
    for (size_t j = 0; j < INPUTS; j++) scale[j] = j % 5 == 4 ? 0 : 1 + (float)(j % 3);
    z[INPUTS - 1] = 1e-40f; /* masked: handed on as it is */
    certreg_model m = kit_model(greatest, NULL, INPUTS, 2);
    m.batch = ROWS, m.scale = scale, m.lo = (const double[]){-50, -50},
    m.hi = (const double[]){50, 50};
    certreg_plan p = kit_plan(SAMPLES);
    p.constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                    CERTREG_CONSTRAINT_GRADIENT | CERTREG_CONSTRAINT_RANGE |
                    CERTREG_CONSTRAINT_SECOND_ORDER;
    p.progress = progress;
    certreg_backend *backend = NULL;
    certreg_estimator *e = NULL;
    float x[INPUTS];
    size_t size = 0;
    used = 0;
    wanted = now();
    CALL(certreg_backend_open_cpu(3, NULL, &backend)); /* whose threads are born into this
                                                          environment */
    CALL(certreg_estimator_size(backend, &m, &p, &size, NULL));
    CALL(certreg_estimator_create(backend, &m, &p, NULL, &e));
    certify_all(e, z);
    predict_all(e, z);
    CALL(certreg_estimator_draw(e, 5, 1, x));
    keep(x, sizeof x), keep(&size, sizeof size);
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
    check_environment("destroy");
    solve_all();
}

TEST_TIMES(numbers_are_the_same_bits_in_every_environment, ENVIRONMENTS)
{
    static unsigned char plain[sizeof bytes];
    set_environment(ENVIRONMENTS);
    run_all();
    memcpy(plain, bytes, used);
    const size_t length = used;
    callbacks = 0;
    set_environment(_i);
    run_all();
    set_environment(ENVIRONMENTS);
    ck_assert_uint_gt(callbacks, 0);
    ck_assert_uint_eq(used, length);
    for (size_t i = 0; i < used; i++)
        ck_assert_msg(bytes[i] == plain[i], "byte %zu of %zu differs", i, used);
}

/* What cannot be computed is refused in words, under traps too. */
TEST_TIMES(nonsense_is_refused_in_every_environment, ENVIRONMENTS)
{
    const float z[2] = {NAN, 0};
    const double nan[2] = {NAN, NAN};
    certreg_solver *s = NULL;
    certreg_estimator *e = NULL;
    certreg_mean_change shift = {.struct_size = sizeof shift};
    const certreg_bounds u = {.struct_size = sizeof u,
                              .constraints = CERTREG_CONSTRAINT_MEAN,
                              .sigma = 1,
                              .mean_lo = NAN,
                              .mean_hi = INFINITY};
    certreg_question q = kit_question(NAN);
    certreg_certificate c = kit_certificate();
    certreg_model m = kit_model(kit_identity, NULL, 2, 1);
    const certreg_plan p = kit_plan(100);
    size_t size = 1;
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, &s), CERTREG_OK);
    set_environment(_i);
    wanted = now();
    m.lo = nan;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, &size, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, NULL, &e), CERTREG_E_INVALID);
    m.lo = NULL;
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, NULL, &e), CERTREG_OK);
    ck_assert_int_eq(certreg_estimator_begin(e, z, 0.5, 0), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_begin(e, z + 1, NAN, 0), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_set_deadline(e, NAN), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_solver_worst_case(s, &u, 0, 1, &shift), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_solver_worst_case(s, &u, 0, NAN, &shift), CERTREG_E_INVALID);
    const float origin[2] = {0, 0};
    ck_assert_int_eq(certreg_estimator_begin(e, origin, 0.5, 0), CERTREG_OK);
    ck_assert_int_eq(certreg_certify(e, 100, &q, 1, &c), CERTREG_E_INVALID);
    check_environment("nonsense");
    set_environment(ENVIRONMENTS);
    ck_assert(c.radius == 0 && shift.drop == INFINITY);
    certreg_estimator_destroy(e);
    certreg_solver_destroy(s);
}

/* ---- what a callback does to its environment */
static int raises(void *user, const certreg_batch *b)
{
    (void)user;
    feraiseexcept(FE_UNDERFLOW);
    fesetround(FE_DOWNWARD);
    return kit_identity(NULL, b);
}

TEST(what_a_callback_raises_reaches_its_caller_and_nothing_else_does)
{
    const certreg_model m = kit_model(raises, NULL, 2, 1);
    const certreg_plan p = kit_plan(1000);
    const float z[2] = {0, 0};
    const certreg_question q = kit_question(0.5);
    certreg_certificate c = kit_certificate();
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, z, 0.25, 0));
    feclearexcept(FE_ALL_EXCEPT);
    KIT_OK(e, certreg_certify(e, 1000, &q, 1, &c));
    const int flags = fetestexcept(FE_ALL_EXCEPT), mode = fegetround();
    set_environment(ENVIRONMENTS);
    ck_assert_int_eq(flags, FE_UNDERFLOW);
    ck_assert_int_eq(mode, FE_DOWNWARD);
    ck_assert(c.radius > 0);
}

KIT_MAIN("environment")
