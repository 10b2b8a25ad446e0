/* Allocations: none after create, and each that fails in create is a status that leaves nothing
 * behind. */
#include <certreg/attack.h>
#include <certreg/interval.h>
#include <certreg/worst_function.h>
#include "support/attack_kit.h"
#include "support/counting_malloc.h"
#include "support/emulated_device.h"
#include "support/names.h"

/* ---- models */
enum { INPUTS = 6, OUTPUTS = 3, CAPACITY = 1500 };
static const float input[INPUTS] = {0.5f, -1, 3, 0, 1, 2}, askew[INPUTS] = {NAN, 0, 0, 0, 0, 0};
static const int32_t kinds[OUTPUTS] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE,
                                       CERTREG_OUTPUT_ANGLE_PAIR};
static const double lo[OUTPUTS] = {-100, -180, -180}, hi[OUTPUTS] = {100, 180, 180};

static int failing;

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        float *y = b->y + i * b->columns;
        y[0] = x[0] * x[1] + x[2];
        y[1] = 20 * x[0] + 170;
        y[2] = cosf(x[1]), y[3] = sinf(x[1]);
    }
    return failing ? 5 : 0;
}

static certreg_model model_of(void)
{
    certreg_model m = kit_model(model, NULL, INPUTS, OUTPUTS);
    m.kind = kinds, m.lo = lo, m.hi = hi, m.batch = 64;
    return m;
}

static const certreg_plan plan = {
    .struct_size = sizeof plan, .constraints = CERTREG_CONSTRAINTS_ECGM, .max_samples = CAPACITY};

static const certreg_serving served = {
    .struct_size = sizeof served, .samples = 101, .failure_rate = 0.1, .trim = 0.2};
static const certreg_question questions[] = {
    {.struct_size = sizeof questions[0], .tolerance = 2},
    {.tolerance = 2, .method = ASYMPTOTIC},
    {.tolerance = 2, .statistic = HUBER, .huber_width = 1, .method = ASYMPTOTIC},
    {.tolerance = 2, .statistic = MEAN, .method = ASYMPTOTIC},
    {.tolerance = 2, .statistic = MEAN, .center = TRUE_MEAN, .method = ASYMPTOTIC},
    {.tolerance = 2, .statistic = MEAN, .center = TRUE_MEAN, .method = PAPER},
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
};
enum { QUESTIONS = KIT_ROWS(questions) };

static certreg_estimator *estimator;
static certreg_solver *solver;
static certreg_bisection *bisection;
static certreg_attack *attack;

static void setup(void)
{
    const certreg_model m = model_of();
    failing = 0;
    estimator = kit_create(NULL, &m, &plan);
    attack = attack_on(estimator, 300);
    kit_open_solver(&solver, &bisection);
}

/* ---- nothing allocates after create */
static float rows[64 * INPUTS];
static unsigned char record[1 << 16];
static certreg_certificate certificates[QUESTIONS];

static int sample_everything(void)
{
    size_t bytes = sizeof record;
    int bad = certreg_estimator_begin(estimator, input, 0.4, 1) != CERTREG_OK;
    bad += certreg_estimator_sample(estimator, 0, CAPACITY) != CERTREG_OK;
    bad += certreg_estimator_draw(estimator, 0, 64, rows) != CERTREG_OK;
    bad += certreg_estimator_export(estimator, record, &bytes) != CERTREG_OK;
    bad += certreg_estimator_begin(estimator, input, 0.4, 1) != CERTREG_OK;
    bad += certreg_estimator_import(estimator, record, bytes) != CERTREG_OK;
    return bad;
}

static int certify_everything(void)
{
    certificates[0].struct_size = sizeof certificates[0];
    int bad = certreg_certify(estimator, CAPACITY, questions, QUESTIONS, certificates) !=
              CERTREG_OK;
    for (int i = 0; i < QUESTIONS; i++) {
        certreg_question q = questions[i];
        certreg_bounds b = {.struct_size = sizeof b};
        q.struct_size = sizeof q;
        bad += certificates[i].outcome == CERTREG_OUTCOME_ABSTAINED;
        bad += certreg_estimator_bounds(estimator, &q, CERTREG_SIDE_LOWER, &b) != CERTREG_OK;
    }
    return bad;
}

static int solve_everything(void)
{
    static const uint32_t families[] = {CERTREG_CONSTRAINTS_C, CERTREG_CONSTRAINTS_CG,
                                        CERTREG_CONSTRAINTS_ECM, CERTREG_CONSTRAINTS_ECGM};
    const certreg_bounds b = {.struct_size = sizeof b,
                              .constraints = CERTREG_CONSTRAINTS_ECGM,
                              .sigma = 0.5,
                              .mean_lo = 0.4,
                              .mean_hi = 0.5,
                              .variance_hi = 0.2,
                              .gradient_lo = 0.01,
                              .gradient_hi = 0.3,
                              .range_lo = -1,
                              .range_hi = 1};
    int bad = 0;
    for (int i = 0; i < 4; i++) {
        certreg_mean_change shift = {.struct_size = sizeof shift};
        certreg_worst_function function = {.struct_size = sizeof function};
        certreg_radius radius = {.struct_size = sizeof radius};
        double value;
        bad += certreg_solver_worst_case(solver, &b, families[i], 0.3, &shift) != CERTREG_OK;
        bad += certreg_solver_worst_function(solver, &b, families[i], 0.3, CERTREG_SIDE_LOWER,
                                             &function) != CERTREG_OK;
        bad += certreg_worst_function_values(&function, 1, &function.mean, &value) != CERTREG_OK;
        bad += certreg_bisection_within(bisection, &b, families[i], 0.3, &radius) != CERTREG_OK;
        bad += certreg_bisection_above(bisection, &b, NULL, 1, families[i], &radius) != CERTREG_OK;
    }
    return bad;
}

static int calibrate_and_predict(void)
{
    static double scores[20], from[CAPACITY], to[CAPACITY];
    certreg_calibration c = {.struct_size = sizeof c, .capacity = 20, .scores = scores};
    const double truth = 0;
    int bad = 0;
    for (uint64_t i = 0; i <= 20; i++) {
        bad += certreg_estimator_begin(estimator, input, 0.4, i) != CERTREG_OK;
        bad += certreg_estimator_sample(estimator, 0, CAPACITY) != CERTREG_OK;
        if (i < 20) bad += certreg_estimator_calibrate(estimator, &c, &truth) != CERTREG_OK;
    }
    const certreg_coverage coverage = {.struct_size = sizeof coverage,
                                       .alpha = 0.2,
                                       .radius = 0.1,
                                       .sigma = 0.4,
                                       .points = c.count,
                                       .calibration_samples = c.samples,
                                       .samples = c.samples};
    certreg_ranks ranks = {.struct_size = sizeof ranks};
    certreg_interval set = {.struct_size = sizeof set};
    int32_t inside = -1;
    bad += certreg_interval_ranks(&coverage, NULL, &ranks) != CERTREG_OK;
    bad += certreg_estimator_interval(estimator, &c, &ranks, 0, from, to, CAPACITY, &set) !=
           CERTREG_OK;
    bad += certreg_estimator_covers(estimator, &c, &ranks, &truth, &inside) != CERTREG_OK;
    return bad + (inside < 0) + (set.samples != c.samples);
}

static int attack_everything(void)
{
    certreg_question q = questions[0];
    const certreg_attack_options o = {.struct_size = sizeof o, .calls = 300};
    certreg_attack_result r = {.struct_size = sizeof r};
    float shift[INPUTS];
    double slope[INPUTS];
    q.struct_size = sizeof q;
    int bad = certreg_attack_run(attack, &q, &o, shift, &r) != CERTREG_OK;
    bad += certreg_attack_gradient(attack, &q, CERTREG_SIDE_UPPER, slope) != CERTREG_OK;
    return bad + (r.calls == 0);
}

static int fail_in_every_way(void)
{
    certreg_question q = questions[0];
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_mean_change shift = {.struct_size = sizeof shift};
    const certreg_bounds wrong = {
        .struct_size = sizeof wrong, .constraints = CERTREG_CONSTRAINT_VARIANCE, .sigma = NAN};
    size_t bytes = 3;
    q.tolerance = -1;
    int bad = certreg_estimator_begin(estimator, askew, 1, 0) != CERTREG_E_INVALID;
    bad += certreg_estimator_sample(estimator, 0, 1) != CERTREG_E_WRONG_STATE;
    bad += certreg_estimator_begin(estimator, input, 0.4, 1) != CERTREG_OK;
    bad += certreg_estimator_sample(estimator, 0, CAPACITY + 1) != CERTREG_E_TOO_MANY;
    bad += certreg_estimator_export(estimator, record, &bytes) != CERTREG_E_SMALL_MEMORY;
    bad += certreg_estimator_import(estimator, record, 100) != CERTREG_E_CORRUPT;
    bad += certreg_certify(estimator, CAPACITY, &q, 1, &c) != CERTREG_E_INVALID;
    bad += certreg_solver_worst_case(solver, &wrong, 0, 1, &shift) != CERTREG_E_INVALID;
    failing = 1;
    bad += certreg_estimator_sample(estimator, 0, 1) != CERTREG_E_MODEL_FAILED;
    failing = 0;
    certreg_estimator_cancel(estimator);
    bad += certreg_estimator_sample(estimator, 0, 1) != CERTREG_E_CANCELLED;
    certreg_estimator_set_deadline(estimator, 1e-9);
    bad += certreg_estimator_sample(estimator, 0, 1) != CERTREG_E_DEADLINE;
    certreg_estimator_set_deadline(estimator, 0);
    return bad;
}

static int (*const phases[])(void) = {sample_everything,     certify_everything, solve_everything,
                                      calibrate_and_predict, attack_everything,  fail_in_every_way};

TEST(nothing_allocates_after_create)
{
    if (!interposed()) return;
    for (int i = 0; i < KIT_ROWS(phases); i++) {
        watch(0);
        const int bad = phases[i]();
        unwatch();
        ck_assert_msg(bad == 0, "phase %d: %d calls answered otherwise than expected", i, bad);
        ck_assert_msg(taken == 0 && live == 0, "phase %d: %ld allocations, %ld blocks", i, taken,
                      live);
    }
}

TEST(nothing_allocates_in_callers_memory)
{
    if (!interposed()) return;
    static _Alignas(64) unsigned char memory[1 << 21], small[2][1 << 16], beside[1 << 18];
    const certreg_model m = model_of();
    certreg_plan p = plan;
    certreg_estimator *e = NULL;
    certreg_solver *s = NULL;
    certreg_bisection *b = NULL;
    certreg_attack *a = NULL;
    p.memory = memory, p.memory_bytes = sizeof memory;
    watch(0);
    int bad = certreg_estimator_create(NULL, &m, &p, NULL, &e) != CERTREG_OK;
    bad += certreg_solver_create(&(certreg_solver_plan){.struct_size = sizeof(certreg_solver_plan),
                                                        .memory = small[0],
                                                        .memory_bytes = sizeof small[0]},
                                 NULL, &s) != CERTREG_OK;
    bad += certreg_bisection_create(
               &(certreg_bisection_plan){.struct_size = sizeof(certreg_bisection_plan),
                                         .memory = small[1],
                                         .memory_bytes = sizeof small[1]},
               NULL, &b) != CERTREG_OK;
    bad += certreg_attack_create(e,
                                 &(certreg_attack_plan){.struct_size = sizeof(certreg_attack_plan),
                                                        .max_calls = 300,
                                                        .memory = beside,
                                                        .memory_bytes = sizeof beside},
                                 NULL, &a) != CERTREG_OK;
    certreg_attack_destroy(a);
    kit_close_solver(s, b);
    certreg_estimator_destroy(e);
    unwatch();
    ck_assert_int_eq(bad, 0);
    ck_assert_int_eq(taken, 0);
    ck_assert_int_eq(live, 0);
}

/* ---- every allocation fails in turn */
static certreg_error why;

/* Makes a handle and destroys it; -1 if what it was given does not fit its status. */
#define MAKES(name, type, create, destroy)                       \
    static certreg_status name(void)                             \
    {                                                            \
        type *made = NULL;                                       \
        const certreg_status status = create;                    \
        if ((status != CERTREG_OK) != (made == NULL)) return -1; \
        destroy(made);                                           \
        return status;                                           \
    }

static certreg_status estimator_with(uint32_t constraints, certreg_estimator **made)
{
    const certreg_model m = model_of();
    certreg_plan p = plan;
    p.constraints = constraints;
    return certreg_estimator_create(NULL, &m, &p, &why, made);
}

/* Nothing is allocated here for products of matrices: they are inside a static library. Where it
 * was made without OpenBLAS, the first order has to do. */
static certreg_status second_order(certreg_estimator **made)
{
    const certreg_status status = estimator_with(CERTREG_CONSTRAINTS_ECGHM, made);
    return status == CERTREG_E_NO_BACKEND ? estimator_with(plan.constraints, made) : status;
}

static const certreg_attack_plan attack_plan = {.struct_size = sizeof attack_plan,
                                                .max_calls = 300};
MAKES(make_estimator, certreg_estimator, estimator_with(plan.constraints, &made),
      certreg_estimator_destroy)
MAKES(make_second_order, certreg_estimator, second_order(&made), certreg_estimator_destroy)
MAKES(make_solver, certreg_solver, certreg_solver_create(NULL, &why, &made), certreg_solver_destroy)
MAKES(make_bisection, certreg_bisection, certreg_bisection_create(NULL, &why, &made),
      certreg_bisection_destroy)
MAKES(make_backend, certreg_backend, certreg_backend_open_cpu(3, &why, &made),
      certreg_backend_close)
MAKES(make_attack, certreg_attack, certreg_attack_create(estimator, &attack_plan, &why, &made),
      certreg_attack_destroy)
/* On the emulated device, which takes memory of the host as a driver does. */
MAKES(make_device, certreg_backend, try_emulated(0, NULL, &why, &made), certreg_backend_close)

static const struct {
    certreg_status (*make)(void);
    long least; /* allocations that it needs at least */
} makers[] = {{make_estimator, 1}, {make_solver, 1}, {make_bisection, 1},   {make_backend, 2},
              {make_attack, 1},    {make_device, 1}, {make_second_order, 1}};

TEST_ROWS(failing_allocations_are_a_status_and_leave_nothing_behind, makers)
{
    if (!interposed()) return;
    why.struct_size = sizeof why;
    ck_assert_int_eq(certreg_estimator_begin(estimator, input, 0.4, 1), CERTREG_OK);
    /* so that what the C library keeps for later is there */
    ck_assert_int_eq(makers[_i].make(), CERTREG_OK);
    long k = 0;
    certreg_status status;
    do {
        watch(++k);
        status = makers[_i].make();
        unwatch();
        ck_assert_msg(live == 0, "allocation %ld fails: %ld blocks left", k, live);
        if (taken < k) break;
        ck_assert_msg(status == CERTREG_E_NO_MEMORY, "allocation %ld fails: status %d", k,
                      (int)status);
        ck_assert_int_eq(why.status, CERTREG_E_NO_MEMORY);
        ck_assert_uint_gt(strlen(why.text), 10);
    } while (k < 100);
    ck_assert_int_eq(status, CERTREG_OK);
    ck_assert_int_gt(k, makers[_i].least);
    ck_assert_int_eq(makers[_i].make(), CERTREG_OK);
}

FIXTURE(setup, NULL)
KIT_MAIN("allocations")
