/* What the library leaves alone, in whatever is asked of it. The floating-point environment:
 * certified numbers are the same bits whatever it is, it is the same after every call as before,
 * and callbacks see it. Heap and locks: nothing is allocated but by what makes a handle, and
 * nothing locked on one thread. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* feenableexcept, RTLD_NEXT */
#endif
#include <certreg/interval.h>
#include <certreg/queue.h>
#include <certreg/service.h>
#include <certreg/worst_function.h>
#include "support/attack_kit.h"
#include "support/counting_malloc.h"
#include "support/names.h"
#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
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
    if (is.rounding == wanted.rounding && is.traps == wanted.traps && is.flags == wanted.flags &&
        is.control == wanted.control)
        return; /* a check that holds would allocate */
    ck_abort_msg("%s: rounding %d (%d), traps %d (%d), flags %d (%d), control %x (%x)", what,
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

/* ---- locks. The library has no other call that waits for a thread (tests/symbols.sh). */
static volatile long locked; /* calls while the malloc family is watched */

#ifdef INTERPOSED
PUBLIC int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    if (watching) locked++;
    return next(mutex);
}
#endif

static int counting; /* whether calls must not allocate */
static int threads = 3;

#define MAKE(call)                                                                   \
    do {                                                                             \
        const certreg_status got = (call);                                           \
        check_environment(#call);                                                    \
        ck_assert_msg(got == CERTREG_OK, "%s: %s", #call, certreg_status_text(got)); \
    } while (0)

#define CALL(call)                                                    \
    do {                                                              \
        if (counting) watch(0);                                       \
        const certreg_status said = (call);                           \
        if (counting) {                                               \
            unwatch();                                                \
            ck_assert_msg(!taken && !live, "%s allocates", #call);    \
            ck_assert_msg(threads > 1 || !locked, "%s locks", #call); \
        }                                                             \
        MAKE(said);                                                   \
    } while (0)

enum { INPUTS = 160, ROWS = 256, SAMPLES = 1024, OUTPUTS = 5, CALLS = 300 };

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
    MAKE(certreg_solver_create(NULL, NULL, &s));
    MAKE(certreg_bisection_create(NULL, NULL, &b));
    certreg_bounds u = BOUNDS(.sigma = 0.5, .mean_lo = 0.3, .mean_hi = 0.32, .variance_hi = 0.4,
                              .gradient_lo = 0.2, .gradient_hi = 0.3, .range_lo = -2, .range_hi = 3,
                              .moment_center = 0.25, .moment_hi = 0.4);
    for (uint32_t constraints = 1; constraints < 64; constraints++) {
        if (constraints & 16) continue; /* no such bit */
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

static const certreg_serving served = {
    .struct_size = sizeof served, .samples = 101, .failure_rate = 0.1, .trim = 0.2};
static const certreg_question questions[] = {
    {.struct_size = sizeof questions[0], .tolerance = 0.7},
    {.tolerance = 0.7, .statistic = HUBER, .huber_width = 0.3},
    {.tolerance = 0.7, .statistic = MEAN, .method = ASYMPTOTIC},
    {.tolerance = 0.7, .statistic = MEAN, .method = PAPER, .center = TRUE_MEAN, .constraints = CG},
    {.tolerance = 0.7, .method = ANYTIME},
    {.tolerance = 0.7, .method = ASYMPTOTIC},
    {.tolerance = 2, .statistic = HUBER, .huber_width = 1, .method = ASYMPTOTIC},
    {.tolerance = 2, .statistic = MEAN, .center = TRUE_MEAN, .method = ASYMPTOTIC},
    {.tolerance = 30, .output = 1},
    {.tolerance = 30, .output = 1, .statistic = HUBER, .huber_width = 15, .method = ASYMPTOTIC},
    {.tolerance = 40, .output = 2, .statistic = CIRCULAR_MEAN, .method = ASYMPTOTIC},
    {.tolerance = 40, .output = 2, .method = ASYMPTOTIC},
    {.tolerance = 2, .method = BASELINE},
    {.tolerance = 2, .statistic = TRIMMED_MEAN, .method = BASELINE, .serving = &served},
    {.tolerance = 30,
     .output = 1,
     .statistic = TRIMMED_MEAN,
     .method = BASELINE,
     .serving = &served},
    {.tolerance = 2, .output = 3, .output_count = 2},
    {.tolerance = 2, .output = 3, .output_count = 2, .statistic = PROJECTION_MEDIAN},
};

static void certify_all(certreg_estimator *e, const float *z)
{
    enum { COUNT = KIT_ROWS(questions) };
    static certreg_certificate c[COUNT];
    c[0] = kit_certificate();
    certreg_forecast forecast = {.struct_size = sizeof forecast};
    certreg_certificate aimed = kit_certificate(), bounded = kit_certificate();
    const certreg_question aims = QUESTION(.tolerance = 0.7, .target = asks_target(0.1));
    double prediction, estimate;
    CALL(certreg_estimator_set_deadline(e, 3600));
    CALL(certreg_estimator_begin(e, z, 0.25, 2));
    CALL(certreg_model_check(e, 0, NULL));
    CALL(certreg_certify(e, SAMPLES, &aims, 1, &aimed));
    CALL(certreg_estimator_begin(e, z, 0.25, 3));
    CALL(certreg_estimator_forecast(e, &aims, &forecast));
    CALL(certreg_certify(e, SAMPLES, questions, COUNT, c));
    CALL(certreg_output_bounds(e, SAMPLES, questions, 1, 0.1, &bounded));
    CALL(certreg_estimator_prediction(e, questions, &prediction));
    CALL(certreg_estimator_estimate(e, questions, &estimate));
    keep(c, sizeof c), keep(&forecast, sizeof forecast);
    keep(&aimed, sizeof aimed), keep(&bounded, sizeof bounded);
    keep(&prediction, sizeof prediction), keep(&estimate, sizeof estimate);
    for (int i = 0; i < COUNT; i++) {
        certreg_question q = questions[i];
        certreg_bounds bounds = {.struct_size = sizeof bounds};
        q.struct_size = sizeof q;
        ck_assert_int_ne(c[i].outcome, CERTREG_OUTCOME_ABSTAINED);
        CALL(certreg_estimator_bounds(e, &q, CERTREG_SIDE_UPPER, &bounds));
        keep(&bounds, sizeof bounds);
    }
}

static void certify_together(certreg_estimator *e, const float *z, const float *scale)
{
    enum { LEVELS = 2 };
    static unsigned char record[SAMPLES * OUTPUTS * 4 + 256];
    const certreg_question each_output[] = {
        questions[0], QUESTION(.tolerance = 30, .output = 1),
        QUESTION(.tolerance = 40, .output = 2),
        QUESTION(.tolerance = 2, .output = 3, .output_count = 2)};
    enum { EACH = KIT_ROWS(each_output) };
    certreg_certificate each[EACH] = {kit_certificate()}, all = kit_certificate(),
                        level[LEVELS] = {kit_certificate()};
    double mean_radius[LEVELS];
    float nearby[INPUTS];
    memcpy(nearby, z, sizeof nearby), nearby[0] = 1e-3f;
    size_t best, room = sizeof record;
    CALL(certreg_estimator_export(e, record, &room));
    CALL(certreg_estimator_import(e, record, room));
    CALL(certreg_certify_outputs(e, SAMPLES, each_output, EACH, each, &all));
    CALL(certreg_certify_sigmas(e, z, (const double[]){0.25, 0.5}, LEVELS, 7, SAMPLES, questions, 1,
                                level));
    CALL(certreg_choose_sigma(level, 1, LEVELS, NULL, mean_radius, &best));
    CALL(certreg_move_certificate(level, INPUTS, scale, z, nearby, NULL, level));
    keep(record, room), keep(each, sizeof each), keep(&all, sizeof all);
    keep(level, sizeof level), keep(mean_radius, sizeof mean_radius), keep(&best, sizeof best);
}

static void attack_all(certreg_estimator *e, const float *z)
{
    const certreg_attack_plan p = {.struct_size = sizeof p, .max_calls = CALLS};
    const certreg_attack_options o = attack_options(CALLS);
    certreg_attack_result r = attack_result();
    certreg_attack *a = NULL;
    float shift[INPUTS];
    double slope[INPUTS];
    MAKE(certreg_attack_create(e, &p, NULL, &a));
    CALL(certreg_estimator_begin(e, z, 0.25, 4));
    CALL(certreg_estimator_sample(e, 0, SAMPLES));
    CALL(certreg_attack_run(a, questions, &o, shift, &r));
    CALL(certreg_attack_gradient(a, questions, CERTREG_SIDE_UPPER, slope));
    ck_assert_uint_gt(r.calls, 0);
    keep(&r, sizeof r), keep(shift, sizeof shift), keep(slope, sizeof slope);
    certreg_attack_destroy(a);
}

static int write_alternative(void *user, certreg_alternative *a)
{
    (void)user;
    check_environment("write");
    if (a->number) a->z[0] += 0.125f;
    return 0;
}

static int keep_record(void *user, const certreg_queue_row *of, const void *record, size_t size)
{
    (void)user, (void)of, (void)record, (void)size;
    check_environment("keep");
    return 0;
}

static void queue_all(certreg_backend *backend, const certreg_model *m, certreg_plan p,
                      const float *z)
{
    const certreg_queue_plan plan = STRUCT(certreg_queue_plan, .capacity = 3, .sets = 1,
                                           .alternatives = 2, .keep = keep_record);
    const certreg_alternatives set =
        STRUCT(certreg_alternatives, .count = 2, .write = write_alternative, .first_noise_id = 100);
    certreg_queue_input in = STRUCT(certreg_queue_input, .z = z, .sigma = 0.25, .count = 1,
                                    .questions = questions, .samples = SAMPLES);
    certreg_certificate c = kit_certificate();
    certreg_queue_result r = STRUCT(certreg_queue_result, .room = 1, .certificates = &c);
    certreg_queue *q = NULL;
    p.progress = NULL;
    MAKE(certreg_queue_create(backend, m, &p, &plan, NULL, &q));
    CALL(certreg_queue_add(q, &in, NULL));
    in.tag = in.noise_id = 1, in.alternatives = &set;
    CALL(certreg_queue_add(q, &in, NULL));
    for (int done = 0; done < 2; done += r.state) {
        CALL(certreg_queue_run(q));
        CALL(certreg_queue_take(q, &r));
        if (r.state) keep(&c, sizeof c);
    }
    certreg_queue_destroy(q);
}

static void serve_all(certreg_backend *backend, const certreg_model *m, certreg_plan p,
                      const float *z)
{
    const certreg_serving fresh = STRUCT(certreg_serving, .samples = 11, .failure_rate = 0.25);
    const certreg_question q = QUESTION(.tolerance = 20, .serving = &fresh);
    const certreg_service_plan plan = STRUCT(certreg_service_plan, .deadline = 60);
    certreg_certificate c = kit_certificate();
    certreg_estimator *e = NULL;
    certreg_service *s = NULL;
    double action = 0;
    p.progress = NULL;
    MAKE(certreg_estimator_create(backend, m, &p, NULL, &e));
    CALL(certreg_estimator_begin(e, z, 0.25, 40));
    CALL(certreg_certify(e, SAMPLES, &q, 1, &c));
    MAKE(certreg_service_create(e, &q, &c, &plan, NULL, &s));
    certreg_estimator_destroy(e);
    CALL(certreg_service_start(s, 5));
    for (int t = 0; t < 3; t++) {
        CALL(certreg_service_act(s, z, &action, NULL));
        ck_assert(!isnan(action));
        keep(&action, sizeof action);
    }
    CALL(certreg_service_anchor(s, z, &c));
    CALL(certreg_service_certificate(s, &c));
    certreg_service_destroy(s);
}

static void predict_all(certreg_estimator *e, const float *z)
{
    enum { POINTS = 12, ROOM = 2 * SAMPLES };
    static double scores[POINTS * CERTREG_CALIBRATION_SCORES], lo[ROOM], hi[ROOM];
    certreg_calibration c = {.struct_size = sizeof c, .capacity = POINTS, .scores = scores};
    for (uint64_t i = 0; i <= POINTS; i++) {
        CALL(certreg_estimator_begin(e, z, 0.25, 20 + i));
        CALL(certreg_estimator_sample(e, 0, SAMPLES));
        if (i < POINTS) CALL(certreg_estimator_calibrate(e, &c, (const double[]){1.1}));
    }
    const certreg_coverage coverage = {
        .struct_size = sizeof coverage, .alpha = 0.25, .radius = 0.05, .samples = c.samples};
    certreg_rule rule = {.struct_size = sizeof rule};
    certreg_interval set = {.struct_size = sizeof set};
    int32_t inside = -1;
    CALL(certreg_interval_rule(&coverage, &c, NULL, &rule));
    CALL(certreg_estimator_interval(e, &c, &rule, 0, lo, hi, ROOM, &set));
    CALL(certreg_estimator_covers(e, &c, &rule, (const double[]){1.1}, &inside));
    keep(scores, sizeof scores), keep(&rule, sizeof rule), keep(&set, sizeof set),
        keep(&inside, sizeof inside);
}

/* Subnormal noise scales and inputs would show what flushes them. */
static void run_all(void)
{
    static const int32_t kinds[OUTPUTS] = {REAL, ANGLE, ANGLE_PAIR, REAL, REAL};
    static const double lo[OUTPUTS] = {-50, -180, -180, -50, -50},
                        hi[OUTPUTS] = {50, 180, 180, 50, 50};
    static float x[INPUTS], z[INPUTS], scale[INPUTS];
    for (size_t j = 0; j < INPUTS; j++) scale[j] = j % 5 == 4 ? 0 : 1 + (float)(j % 3);
    for (size_t j = 4; j < 8; j++) z[j] = 3; /* the pair has a direction */
    z[INPUTS - 1] = 1e-40f;                  /* masked: handed on as it is */
    certreg_model m = kit_model(greatest, NULL, INPUTS, OUTPUTS);
    m.batch = ROWS, m.scale = scale, m.kind = kinds, m.lo = lo, m.hi = hi;
    certreg_plan p = KIT_PLAN(SAMPLES, .audit = CERTREG_AUDIT_DEFAULT, .progress = progress);
    certreg_backend *backend = NULL;
    certreg_estimator *e = NULL;
    size_t size = 0;
    used = 0;
    wanted = now();
    MAKE(certreg_backend_open_cpu(threads, NULL, &backend)); /* whose threads are born into this
                                                          environment */
    CALL(certreg_estimator_size(backend, &m, &p, NULL, &size, NULL));
    MAKE(certreg_estimator_create(backend, &m, &p, NULL, &e));
    certify_all(e, z);
    certify_together(e, z, scale);
    predict_all(e, z);
    attack_all(e, z);
    queue_all(backend, &m, p, z);
    serve_all(backend, &m, p, z);
    CALL(certreg_estimator_draw(e, 5, 1, x));
    keep(x, sizeof x), keep(&size, sizeof size);
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
    solve_all();
}

TEST_TIMES(environment_of_the_caller_changes_no_bit, ENVIRONMENTS)
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

/* Locks are looked for on one thread alone, which a pool does without. */
TEST_TIMES(environment_calls_neither_allocate_nor_lock_after_create, 2)
{
    if (!interposed()) return;
    threads = _i ? 3 : 1;
    counting = 1, locked = 0;
    run_all();
    counting = 0;
    certreg_backend *two = NULL;
    MAKE(certreg_backend_open_cpu(2, NULL, &two));
    locked = 0, watch(0);
    certreg_backend_close(two); /* takes a lock: would it be seen? */
    unwatch();
    ck_assert_int_gt(locked, 0);
}

/* ---- the stack of the thread that makes the calls (section 9 of the header): work runs on a
 * thread whose stack was filled with a pattern before */
enum { STACK_ROOM = 1 << 20, STACK_PATTERN = 0xA7 };

static void *stack_run(void *work)
{
    (*(void (**)(void))work)();
    return NULL;
}

static size_t stack_touched(void (*work)(void))
{
    static _Alignas(1 << 16) unsigned char stack[STACK_ROOM];
    pthread_t thread;
    pthread_attr_t how;
    size_t untouched = 0;
    memset(stack, STACK_PATTERN, STACK_ROOM);
    ck_assert(!pthread_attr_init(&how) && !pthread_attr_setstack(&how, stack, STACK_ROOM));
    ck_assert(!pthread_create(&thread, &how, stack_run, &work) && !pthread_join(thread, NULL));
    pthread_attr_destroy(&how);
    while (untouched < STACK_ROOM && stack[untouched] == STACK_PATTERN) untouched++;
    return STACK_ROOM - untouched;
}

static void stack_idle(void)
{
}

/* Without what the C library has of a thread's stack itself. */
static size_t stack_of(void (*work)(void))
{
    const size_t all = stack_touched(work), own = stack_touched(stack_idle);
    return all > own ? all - own : 0;
}

TEST(environment_calls_take_at_most_48_kib_of_stack)
{
    const size_t taken_by_calls = stack_of(run_all);
    printf("all calls: %zu bytes of stack\n", taken_by_calls);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ck_assert_uint_le(taken_by_calls, 48 * 1024);
#endif
}

/* What cannot be computed is refused in words, under traps too. */
TEST_TIMES(environment_with_traps_refuses_nonsense, ENVIRONMENTS)
{
    const float z[2] = {NAN, 0};
    const double nan[2] = {NAN, NAN};
    certreg_solver *s = NULL;
    certreg_estimator *e = NULL;
    certreg_mean_change shift = {.struct_size = sizeof shift};
    const certreg_bounds u = BOUNDS(.constraints = CERTREG_CONSTRAINT_MEAN, .sigma = 1,
                                    .mean_lo = NAN, .mean_hi = INFINITY);
    certreg_question q = kit_question(NAN);
    certreg_certificate c = kit_certificate();
    certreg_model m = KIT_MODEL(kit_identity, NULL, 2, 1, .lo = nan);
    const certreg_plan p = kit_plan(100);
    size_t size = 1;
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, &s), CERTREG_OK);
    set_environment(_i);
    wanted = now();
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, NULL, &size, NULL), CERTREG_E_INVALID);
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
    feraiseexcept(FE_DIVBYZERO); /* raises no other flag on any processor */
    fesetround(FE_DOWNWARD);
    return kit_identity(NULL, b);
}

TEST(environment_flags_of_a_callback_reach_its_caller_alone)
{
    const float z[2] = {0, 0};
    const certreg_question q = kit_question(0.5);
    certreg_certificate c = kit_certificate();
    certreg_estimator *e = kit_begun(kit_model(raises, NULL, 2, 1), kit_plan(1000), z, 0.25, 0);
    feclearexcept(FE_ALL_EXCEPT);
    KIT_OK(e, certreg_certify(e, 1000, &q, 1, &c));
    const int flags = fetestexcept(FE_ALL_EXCEPT), mode = fegetround();
    set_environment(ENVIRONMENTS);
    ck_assert_int_eq(flags, FE_DIVBYZERO);
    ck_assert_int_eq(mode, FE_DOWNWARD);
    ck_assert(c.radius > 0);
}

KIT_MAIN("environment")
