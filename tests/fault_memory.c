/* Allocations: none by refusals, and each that fails in create is a status that leaves nothing
 * behind. None by answers: api_environment. None in the caller's memory: api_memory. */
#include "support/attack_kit.h"
#include "support/counting_malloc.h"
#include "support/emulated_device.h"
#include <certreg/denoiser.h>

/* ---- models */
enum { INPUTS = 6, CAPACITY = 1500 };
static const float input[INPUTS] = {0.5f, -1, 3, 0, 1, 2}, askew[INPUTS] = {NAN};
static int failing;

static int model(void *user, const certreg_batch *b)
{
    return failing ? 5 : kit_identity(user, b);
}

static certreg_model model_of(void)
{
    return kit_model(model, NULL, INPUTS, 3);
}

static const certreg_plan plan = {
    .struct_size = sizeof plan, .constraints = CERTREG_CONSTRAINTS_ECGM, .max_samples = CAPACITY};

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

/* ---- refusals */
static unsigned char record[128];

static int fail_in_every_way(void)
{
    const certreg_question q = kit_question(-1);
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_mean_change shift = {.struct_size = sizeof shift};
    const certreg_bounds wrong = {
        .struct_size = sizeof wrong, .constraints = CERTREG_CONSTRAINT_VARIANCE, .sigma = NAN};
    size_t bytes = 3;
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
    certreg_estimator_set_deadline(estimator, INFINITY);
    return bad;
}

TEST(refusals_allocate_no_memory)
{
    if (!interposed()) return;
    watch(0);
    const int bad = fail_in_every_way();
    unwatch();
    ck_assert_msg(bad == 0, "%d calls answered otherwise than expected", bad);
    ck_assert_msg(taken == 0 && live == 0, "%ld allocations, %ld blocks", taken, live);
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

static const certreg_attack_plan attack_plan = {.struct_size = sizeof attack_plan,
                                                .max_calls = 300};
MAKES(make_estimator, certreg_estimator, estimator_with(plan.constraints, &made),
      certreg_estimator_destroy)
MAKES(make_solver, certreg_solver, certreg_solver_create(NULL, &why, &made), certreg_solver_destroy)
MAKES(make_bisection, certreg_bisection, certreg_bisection_create(NULL, &why, &made),
      certreg_bisection_destroy)
MAKES(make_backend, certreg_backend, certreg_backend_open_cpu(3, &why, &made),
      certreg_backend_close)
MAKES(make_attack, certreg_attack, certreg_attack_create(estimator, &attack_plan, &why, &made),
      certreg_attack_destroy)
/* On the emulated device, which takes memory of the host as a driver does. */
MAKES(make_device, certreg_backend, try_emulated(0, NULL, &why, &made), certreg_backend_close)

/* Without OpenBLAS there are no denoisers. */
static unsigned char denoiser_bytes[4096];
static size_t denoiser_size;

static int read_examples(void *user, uint64_t first, size_t count, float *x)
{
    (void)user;
    for (size_t i = 0; i < count * INPUTS; i++)
        x[i] = (float)((first * INPUTS + i) * 7919 % 1009) / 500;
    return 0;
}

static certreg_status fit_denoiser(certreg_denoiser **made)
{
    const certreg_denoiser_plan p = STRUCT(certreg_denoiser_plan, .inputs = INPUTS, .rows = 300,
                                           .read = read_examples, .sigma = 0.3);
    return certreg_denoiser_create(&p, &why, made);
}
MAKES(make_denoiser, certreg_denoiser, fit_denoiser(&made), certreg_denoiser_destroy)
MAKES(import_denoiser, certreg_denoiser,
      certreg_denoiser_import(denoiser_bytes, denoiser_size, &why, &made), certreg_denoiser_destroy)

/* 0 without OpenBLAS. */
static int export_denoiser(void)
{
    certreg_denoiser *d = NULL;
    const certreg_status status = fit_denoiser(&d);
    denoiser_size = sizeof denoiser_bytes;
    if (status == CERTREG_E_NO_BACKEND) return 0;
    ck_assert_int_eq(status, CERTREG_OK);
    ck_assert_int_eq(certreg_denoiser_export(d, denoiser_bytes, &denoiser_size), CERTREG_OK);
    certreg_denoiser_destroy(d);
    return 1;
}

TEST(denoiser_allocates_no_memory_in_use)
{
    certreg_denoiser *d = NULL;
    certreg_denoiser_facts facts = {.struct_size = sizeof facts};
    static float x[100 * INPUTS], y[100 * INPUTS];
    if (!interposed() || !export_denoiser()) return;
    ck_assert_int_eq(certreg_denoiser_import(denoiser_bytes, denoiser_size, NULL, &d), CERTREG_OK);
    watch(0);
    int bad = certreg_denoiser_apply(d, x, 100, y) != CERTREG_OK;
    bad += certreg_denoiser_info(d, &facts) != CERTREG_OK;
    bad += certreg_denoiser_export(d, denoiser_bytes, &denoiser_size) != CERTREG_OK;
    unwatch();
    certreg_denoiser_destroy(d);
    ck_assert_msg(!bad && !taken && !live, "%d calls failed; %ld allocations", bad, taken);
}

static void fail_in_turn(certreg_status (*make)(void), long least)
{
    why.struct_size = sizeof why;
    ck_assert_int_eq(certreg_estimator_begin(estimator, input, 0.4, 1), CERTREG_OK);
    /* so that what the C library keeps for later is there */
    ck_assert_int_eq(make(), CERTREG_OK);
    long k = 0;
    certreg_status status;
    do {
        watch(++k);
        status = make();
        unwatch();
        ck_assert_msg(live == 0, "allocation %ld fails: %ld blocks left", k, live);
        if (taken < k) break;
        ck_assert_msg(status == CERTREG_E_NO_MEMORY, "allocation %ld fails: status %d", k,
                      (int)status);
        ck_assert_int_eq(why.status, CERTREG_E_NO_MEMORY);
        ck_assert_uint_gt(strlen(why.text), 10);
    } while (k < 100);
    ck_assert_int_eq(status, CERTREG_OK);
    ck_assert_int_gt(k, least);
    ck_assert_int_eq(make(), CERTREG_OK);
}

static const struct {
    certreg_status (*make)(void);
    long least; /* allocations that it needs at least */
} makers[] = {{make_estimator, 1}, {make_solver, 1}, {make_bisection, 1},
              {make_backend, 2},   {make_attack, 1}, {make_device, 1}};

TEST_ROWS(create_without_memory_is_a_status_and_leaves_nothing, makers)
{
    if (interposed()) fail_in_turn(makers[_i].make, makers[_i].least);
}

TEST(denoiser_create_and_import_without_memory_are_a_status)
{
    if (!interposed() || !export_denoiser()) return;
    fail_in_turn(make_denoiser, 3);
    watch(0);
    const certreg_status status = make_denoiser();
    unwatch();
    ck_assert_int_eq(status, CERTREG_OK);
    ck_assert_int_le(taken, 4); /* none of LAPACKE, which would print when one fails */
    fail_in_turn(import_denoiser, 1);
}

FIXTURE(setup, NULL)
KIT_MAIN("allocations")
