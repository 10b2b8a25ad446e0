/* How much stack calls take of the thread that makes them (section 9 of the header). Each group of
 * calls runs on a thread whose stack was filled with a pattern before. */
#include "backend/cpu.h"
#include "support/api_kit.h"
#include <certreg/attack.h>
#include <certreg/backend.h>
#include <certreg/denoiser.h>
#include <certreg/interval.h>
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <certreg/worst_function.h>
#include <pthread.h>

enum { KIB = 1024, ROOM = 1024 * KIB, PATTERN = 0xA7, PATHS = 3 };
enum { INPUTS = 20, OUTPUTS = 3, SAMPLES = 300, POINTS = 40 }; /* frames do not grow with them */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { MOST = 48 * KIB };
#else
enum { MOST = ROOM }; /* frames are larger, and nothing is promised */
#endif

/* ---- a thread whose stack is looked at afterwards */
typedef struct job {
    void (*work)(struct job *);
    certreg_backend *backend;
    int32_t statistic, method;
    int answers; /* calls that were not refused */
} job;

static void *run_job(void *of)
{
    job *j = of;
    j->work(j);
    return NULL;
}

static void idle(job *j)
{
    j->answers = 1;
}

static size_t stack_of(job *j)
{
    pthread_t thread;
    pthread_attr_t how;
    static _Alignas(64 * KIB) unsigned char stack[ROOM];
    memset(stack, PATTERN, ROOM);
    ck_assert(!pthread_attr_init(&how) && !pthread_attr_setstack(&how, stack, ROOM));
    ck_assert(!pthread_create(&thread, &how, run_job, j) && !pthread_join(thread, NULL));
    pthread_attr_destroy(&how);
    size_t untouched = 0;
    while (untouched < ROOM && stack[untouched] == PATTERN) untouched++;
    return ROOM - untouched;
}

/* Without what the C library has of a thread's stack itself. */
static size_t used(job j)
{
    job nothing = {.work = idle};
    const size_t all = stack_of(&j), own = stack_of(&nothing);
    ck_assert_int_gt(j.answers, 0);
    return all > own ? all - own : 0;
}

/* ---- groups of calls */
static int bend(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            const float x = b->x[i * b->inputs + k];
            b->y[i * b->columns + k] = x / (1 + (x > 0 ? x : -x));
        }
    return 0;
}

static const float z[INPUTS] = {0.1f, 0.2f, 0.3f};

/* An estimator about z; NULL where no such model can be certified. */
static certreg_estimator *estimator_of(job *j, int32_t kind)
{
    static const double lo[OUTPUTS] = {-1, -1, -1}, hi[OUTPUTS] = {1, 1, 1};
    const int32_t kinds[OUTPUTS] = {kind, kind, kind};
    certreg_model m = kit_model(bend, NULL, INPUTS, OUTPUTS);
    m.kind = kinds, m.lo = lo, m.hi = hi;
    const certreg_plan p = kit_plan(SAMPLES);
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(j->backend, &m, &p, NULL, &e)) return NULL;
    j->answers += !certreg_estimator_begin(e, z, 0.25, 1);
    return e;
}

static certreg_question question_of(const job *j, double tolerance)
{
    certreg_question q = kit_question(tolerance);
    q.statistic = j->statistic, q.method = j->method;
    q.huber_width = j->statistic == CERTREG_STATISTIC_HUBER ? 0.2 : 0;
    return q;
}

static void ask(job *j, certreg_estimator *e, const certreg_question *q)
{
    certreg_certificate c[OUTPUTS];
    certreg_bounds bounds = {.struct_size = sizeof bounds};
    certreg_forecast forecast = {.struct_size = sizeof forecast};
    double vector[OUTPUTS];
    for (int k = 0; k < OUTPUTS; k++) c[k] = kit_certificate();
    const certreg_question both[] = {*q, *q};
    j->answers += !certreg_certify(e, SAMPLES, both, 2, c);
    j->answers += !certreg_output_bounds(e, SAMPLES, q, 1, 0.1, c);
    j->answers += !certreg_estimator_bounds(e, q, CERTREG_SIDE_LOWER, &bounds);
    j->answers += !certreg_estimator_forecast(e, q, &forecast);
    j->answers += !certreg_estimator_prediction(e, q, vector);
    j->answers += !certreg_estimator_estimate(e, q, vector);
}

static void certify(job *j)
{
    static const double sigmas[2] = {0.2, 0.3};
    static const int32_t kinds[] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE};
    for (int k = 0; k < 2; k++) {
        certreg_estimator *e = estimator_of(j, kinds[k]);
        for (int32_t output = CERTREG_ALL_OUTPUTS; e && output < 1; output++)
            for (int what = 0; what < 8; what++) {
                certreg_question q = question_of(j, 0.4);
                certreg_certificate c[2] = {kit_certificate(), kit_certificate()};
                q.output = output;
                q.constraints = what & 1 ? CERTREG_CONSTRAINTS_ECGM : 0;
                q.serving = what & 2 ? asks_serving(51, 0.05) : NULL;
                q.target = what & 4 ? asks_target(0.05) : NULL;
                j->answers += !certreg_estimator_begin(e, z, 0.25, 1);
                j->answers += !certreg_estimator_set_deadline(e, what % 3 ? 1e6 : 0);
                ask(j, e, &q);
                j->answers += !certreg_certify_sigmas(e, z, sigmas, 2, 1, SAMPLES, &q, 1, c);
            }
        certreg_estimator_destroy(e);
    }
}

static void move_records(job *j)
{
    static unsigned char record[OUTPUTS * SAMPLES * 4 + 4096];
    static float x[INPUTS * 10];
    size_t bytes = sizeof record;
    certreg_run run = {.struct_size = sizeof run};
    certreg_estimator *e = estimator_of(j, CERTREG_OUTPUT_REAL);
    const float y[OUTPUTS] = {0};
    j->answers += !certreg_model_check(e, 0, NULL);
    j->answers += !certreg_estimator_draw(e, 0, 10, x);
    j->answers += !certreg_estimator_sample(e, 10, 100);
    j->answers += !certreg_estimator_record(e, 0, 1, y);
    j->answers += !certreg_estimator_export(e, record, &bytes);
    j->answers += !certreg_estimator_import(e, record, bytes);
    j->answers += !certreg_estimator_info(e, &run);
    certreg_estimator_destroy(e);
}

static void attack(job *j)
{
    static float shift[INPUTS];
    static double gradient[INPUTS];
    const certreg_question q = question_of(j, 0.1);
    certreg_certificate c = kit_certificate();
    certreg_estimator *e = estimator_of(j, CERTREG_OUTPUT_REAL);
    const certreg_attack_plan plan = {.struct_size = sizeof plan, .max_calls = 1000};
    const certreg_attack_options o = {.struct_size = sizeof o, .calls = 1000, .alpha = 0.1};
    certreg_attack_result result = {.struct_size = sizeof result};
    certreg_attack *a = NULL;
    j->answers += !certreg_certify(e, SAMPLES, &q, 1, &c);
    j->answers += !certreg_attack_create(e, &plan, NULL, &a);
    j->answers += !certreg_attack_run(a, &q, &o, shift, &result);
    j->answers += !certreg_attack_gradient(a, &q, CERTREG_SIDE_LOWER, gradient);
    certreg_attack_destroy(a);
    certreg_estimator_destroy(e);
}

static void solve(job *j)
{
    static const uint32_t families[] = {CERTREG_CONSTRAINTS_C, CERTREG_CONSTRAINTS_CG,
                                        CERTREG_CONSTRAINTS_ECM, CERTREG_CONSTRAINTS_ECGM};
    const certreg_bounds b = {.struct_size = sizeof b,
                              .constraints = CERTREG_CONSTRAINTS_ECGM,
                              .mean_lo = 0.1,
                              .mean_hi = 0.2,
                              .variance_hi = 0.3,
                              .range_lo = -1,
                              .range_hi = 1,
                              .gradient_hi = 0.4,
                              .sigma = 0.5};
    certreg_solver *solver = NULL;
    certreg_bisection *bisection = NULL;
    j->answers += !certreg_solver_create(NULL, NULL, &solver);
    j->answers += !certreg_bisection_create(NULL, NULL, &bisection);
    for (int f = 0; f < KIT_ROWS(families); f++) {
        certreg_mean_change change = {.struct_size = sizeof change};
        certreg_worst_function worst = {.struct_size = sizeof worst};
        certreg_radius radius = {.struct_size = sizeof radius};
        const double threshold = 0, t = 0.5;
        double value;
        j->answers += !certreg_solver_worst_case(solver, &b, families[f], 0.2, &change);
        j->answers += !certreg_solver_worst_function(solver, &b, families[f], 0.2,
                                                     CERTREG_SIDE_UPPER, &worst);
        j->answers += !certreg_worst_function_values(&worst, 1, &t, &value);
        j->answers += !certreg_bisection_within(bisection, &b, families[f], 0.1, &radius);
        j->answers += !certreg_bisection_above(bisection, &b, &threshold, 1, families[f], &radius);
    }
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
}

static void calibrate(job *j)
{
    static const double truth[OUTPUTS] = {0, 0, 0};
    static double scores[POINTS * CERTREG_CALIBRATION_SCORES], lo[SAMPLES], hi[SAMPLES];
    certreg_estimator *e = estimator_of(j, CERTREG_OUTPUT_REAL);
    certreg_calibration c = {.struct_size = sizeof c, .capacity = POINTS, .scores = scores};
    const certreg_coverage coverage = {
        .struct_size = sizeof coverage, .alpha = 0.1, .radius = 0.1, .samples = 101};
    certreg_rule rule = {.struct_size = sizeof rule};
    certreg_interval set = {.struct_size = sizeof set};
    int32_t inside;
    for (uint64_t i = 0; i <= POINTS; i++) {
        j->answers += !certreg_estimator_begin(e, z, 0.25, i);
        j->answers += !certreg_estimator_sample(e, 0, 101);
        if (i < POINTS) j->answers += !certreg_estimator_calibrate(e, &c, truth);
    }
    j->answers += !certreg_interval_rule(&coverage, &c, NULL, &rule);
    certreg_estimator_interval(e, &c, &rule, 0, lo, hi, SAMPLES, &set);
    certreg_estimator_covers(e, &c, &rule, truth, &inside);
    certreg_estimator_destroy(e);
}

/* With advice, where there are too few points. */
static void plan_rules(job *j)
{
    certreg_coverage c = {.struct_size = sizeof c,
                          .alpha = 0.1,
                          .radius = 0.2,
                          .sigma = 0.5,
                          .points = 200,
                          .calibration_samples = 101,
                          .samples = 101};
    certreg_rule rule = {.struct_size = sizeof rule};
    j->answers += !certreg_interval_rule(&c, NULL, NULL, &rule);
    c.points = 5;
    certreg_interval_rule(&c, NULL, NULL, &rule);
}

static int read_examples(void *user, uint64_t first, size_t count, float *x)
{
    (void)user;
    for (size_t i = 0; i < count * INPUTS; i++)
        x[i] = (float)((first * INPUTS + i) * 7919 % 1009) / 500;
    return 0;
}

/* Without BLAS none can be made. */
static void denoise(job *j)
{
    static unsigned char bytes[16 * KIB];
    static float x[100 * INPUTS], y[100 * INPUTS];
    size_t size = sizeof bytes;
    certreg_denoiser *d = NULL, *again = NULL;
    certreg_denoiser_facts facts = {.struct_size = sizeof facts};
    const certreg_denoiser_plan p = {.struct_size = sizeof p,
                                     .inputs = INPUTS,
                                     .rows = SAMPLES,
                                     .read = read_examples,
                                     .sigma = 0.3};
    const certreg_status status = certreg_denoiser_create(&p, NULL, &d);
    j->answers += !status || status == CERTREG_E_NO_BACKEND;
    j->answers += !certreg_denoiser_apply(d, x, 100, y);
    j->answers += !certreg_denoiser_info(d, &facts);
    j->answers += !certreg_denoiser_export(d, bytes, &size);
    j->answers += !certreg_denoiser_import(bytes, size, NULL, &again);
    certreg_denoiser_destroy(d);
    certreg_denoiser_destroy(again);
}

static void open_backends(job *j)
{
    certreg_backend *backend = NULL;
    j->answers += !certreg_backend_open_cpu(2, NULL, &backend);
    certreg_backend_close(backend);
    certreg_backend_open("/there/is/no/module.so", 0, NULL, NULL, &backend);
}

/* ---- what they take */
static void within(const char *what, job j)
{
    const size_t bytes = used(j);
    printf("%s takes %zu bytes of stack\n", what, bytes);
    ck_assert_msg(bytes <= MOST, "%s takes %zu bytes of stack", what, bytes);
}

TEST_TIMES(calls_need_no_more_stack_than_is_said, PATHS)
{
    static const struct {
        int32_t statistic, method;
    } asked[] = {{CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE},
                 {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_BASELINE},
                 {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC},
                 {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ANYTIME},
                 {CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_FINITE},
                 {CERTREG_STATISTIC_PROJECTION_MEDIAN, CERTREG_METHOD_FINITE}};
    certreg_backend *backend = NULL;
    if (!cr_cpu_path(_i)) return;
    ck_assert(!certreg_backend_open_cpu(1, NULL, &backend) && !cr_cpu_force(backend, _i));
    for (int k = 0; k < KIT_ROWS(asked); k++)
        within("certify", (job){.work = certify,
                                .backend = backend,
                                .statistic = asked[k].statistic,
                                .method = asked[k].method});
    within("a record", (job){.work = move_records, .backend = backend});
    within("an attack", (job){.work = attack, .backend = backend});
    within("a calibration", (job){.work = calibrate, .backend = backend});
    certreg_backend_close(backend);
}

TEST(calls_without_a_record_need_no_more_either)
{
    within("solver and bisection", (job){.work = solve});
    within("a denoiser", (job){.work = denoise});
    within("a rule", (job){.work = plan_rules});
    within("opening backends", (job){.work = open_backends});
}

TEST_MAIN("stack")
