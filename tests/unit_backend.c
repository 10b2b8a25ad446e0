/* What is not in the contract of all backends (unit_cpu.c): shared backends, forks, refusals,
 * what a backend may lack, and points on the grid. */
#include "support/api_kit.h"
#include "support/cpu_setups.h"
#include "support/test_numbers.h"
#include <certreg/backend.h>
#include <certreg/certreg.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(backend_default_is_host_memory_of_this_version)
{
    ck_assert_ptr_nonnull(cr_backend_default());
    ck_assert_uint_eq(cr_backend_default()->ops->api_version, CR_BACKEND_API);
    ck_assert_int_eq(cr_backend_default()->ops->device, -1);
}

/* Draws and replays the same again and again. */
static void *run_many(void *of)
{
    enum { INPUTS = 784, COUNT = 200 };
    certreg_backend *backend = of;
    const cr_noise noise = {.seed = 20, .noise_id = 21, .inputs = INPUTS};
    float *numbers = made_up_numbers(INPUTS + COUNT, 1), *step = made_up_steps(INPUTS, 2),
          *x = calloc(2 * INPUTS * COUNT, sizeof *x);
    double sums[2][INPUTS];
    const cr_weighted_blocks w = {.block_samples = COUNT,
                                  .blocks = 1,
                                  .functions = 1,
                                  .weights = numbers + INPUTS,
                                  .stride = COUNT};
    for (int i = 0; i < 6; i++) {
        float *draws = x + (i ? INPUTS * COUNT : 0);
        memset(sums[i > 0], 0, sizeof *sums);
        ck_assert_int_eq(
            backend->ops->draw(backend, &noise, &(cr_draw){numbers, step, 0, COUNT, draws}),
            CERTREG_OK);
        ck_assert_int_eq(backend->ops->replay(backend, &noise, &w, NULL, sums[i > 0], NULL),
                         CERTREG_OK);
        if (i == 0) continue;
        ck_assert(!memcmp(x, draws, INPUTS * COUNT * sizeof *x));
        ck_assert(!memcmp(sums[0], sums[1], sizeof *sums));
    }
    free(numbers), free(step), free(x);
    return NULL;
}

START_TEST(backend_shared_by_threads_gives_the_same_bits)
{
    certreg_backend *backend = NULL;
    pthread_t other;
    ck_assert_int_eq(certreg_backend_open_cpu(3, NULL, &backend), CERTREG_OK);
    ck_assert_int_eq(pthread_create(&other, NULL, run_many, backend), 0);
    run_many(backend);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
    certreg_backend_close(backend);
}
END_TEST

TEST_TIMES(backend_is_refused_in_a_forked_child_which_can_close_it, 2)
{
    certreg_backend *backend = NULL;
    ck_assert_int_eq(certreg_backend_open_cpu(1 + _i, NULL, &backend), CERTREG_OK);
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = 1};
    const float one = 1;
    const cr_weighted_blocks w = {.block_samples = 1, .blocks = 1, .functions = 1, .weights = &one};
    float x;
    double sum = 0, norm = 0;
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(600); /* if it hangs */
        int good = backend->ops->draw(backend, &noise, &(cr_draw){&one, &one, 0, 1, &x}) ==
                   CERTREG_E_WRONG_STATE;
        good = good &&
               backend->ops->replay(backend, &noise, &w, NULL, &sum, NULL) == CERTREG_E_WRONG_STATE;
        good = good && backend->ops->project(backend, &noise,
                                             &(cr_projection){0, 1, &one, &one, &sum, &norm, 0},
                                             NULL) == CERTREG_E_WRONG_STATE;
        certreg_backend_close(backend);
        backend = cr_backend_default();
        good = good &&
               backend->ops->draw(backend, &noise, &(cr_draw){&one, &one, 0, 1, &x}) == CERTREG_OK;
        _exit(good ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(backend->ops->draw(backend, &noise, &(cr_draw){&one, &one, 0, 1, &x}),
                     CERTREG_OK);
    certreg_backend_close(backend);
}

TEST(replay_and_draw_refuse_no_inputs_and_too_many_functions)
{
    certreg_backend *backend = cr_backend_default();
    const cr_noise noise = {.inputs = 1}, none = {.inputs = 0};
    const float one = 1;
    float x = 3;
    double sum = 4, norm = 5;
    cr_weighted_blocks w = {.block_samples = 1, .blocks = 1, .functions = 0, .weights = &one};
    ck_assert_int_eq(backend->ops->replay(backend, &noise, &w, NULL, &sum, NULL),
                     CERTREG_E_INVALID);
    w.functions = 3;
    ck_assert_int_eq(backend->ops->replay(backend, &noise, &w, NULL, &sum, NULL),
                     CERTREG_E_INVALID);
    w.functions = 1;
    ck_assert_int_eq(backend->ops->replay(backend, &none, &w, NULL, &sum, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(backend->ops->draw(backend, &none, &(cr_draw){&one, &one, 0, 1, &x}),
                     CERTREG_E_INVALID);
    ck_assert_int_eq(backend->ops->project(
                         backend, &none, &(cr_projection){0, 1, &one, &one, &sum, &norm, 0}, NULL),
                     CERTREG_E_INVALID);
    const cr_sweep sweep = {.count = 0};
    ck_assert_int_eq(backend->ops->sweep(backend, &none, &sweep, NULL), CERTREG_E_INVALID);
    ck_assert(x == 3 && sum == 4 && norm == 5);
}

static int slope(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = b->x[3 * i] - 0.5f * b->x[3 * i + 1];
    return 0;
}

/* By the martingale, which takes a sweep. */
static double radius_with(certreg_backend *backend)
{
    const certreg_model m = kit_model(slope, NULL, 3, 1);
    certreg_plan p = kit_plan(20000);
    certreg_question q = kit_question(0.7);
    p.seed = 5, q.constraints = CERTREG_CONSTRAINTS_ECGM;
    certreg_estimator *e = kit_create(backend, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){1, 2, 3}, 0.5, 1));
    return kit_ask(e, 20000, q).radius;
}

TEST(sweep_fallback_gives_the_same_radius)
{
    certreg_backend *plain = kit_backend(1);
    static cr_backend_ops ops;
    ops = *plain->ops, plain->ops = &ops;
    ops.sweep = NULL, ops.sweep_bytes = NULL;
    ck_assert(!ops.draw_ahead && !ops.join);
    ck_assert_double_gt(radius_with(NULL), 0.1);
    ck_assert_double_eq_tol(radius_with(plain), radius_with(NULL), 1e-12);
}

TEST(cpu_path_that_is_unknown_is_refused)
{
    ck_assert_ptr_null(cr_cpu_path(-1));
    ck_assert_ptr_null(cr_cpu_path(CR_CPU_PATHS));
    certreg_backend *backend = backend_of(0);
    ck_assert_int_eq(cr_cpu_force(backend, cr_cpu_path(CR_CPU_PATHS)), CERTREG_E_NO_BACKEND);
    run_many(backend); /* still at work */
    certreg_backend_close(backend);
}

/* ---- drawing */
/* Within the grid's 2^24 steps at its ends as well, and never -0. */
TEST_TIMES(draw_gives_whole_steps_of_the_grid, SETUPS)
{
    certreg_backend *backend = backend_of(_i);
    if (!backend) return;
    static const float steps[] = {
        CR_MIN_NOISE_DEVIATION, -CR_MIN_NOISE_DEVIATION, 0x1.fffffep-100f, -0.75f, 1,
        0x1.fffffep111f};
    enum { STEPS = sizeof steps / sizeof *steps, INPUTS = 5 * STEPS, COUNT = 2000 };
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = INPUTS};
    float z[INPUTS], step[INPUTS], *x = malloc(COUNT * INPUTS * sizeof *x);
    for (int j = 0; j < INPUTS; j++) {
        step[j] = steps[j / 5];
        z[j] = (float)((j % 5 - 2) * cr_grid_max_input(step[j]) / 2); /* the most it holds; 0 */
    }
    ck_assert_int_eq(backend->ops->draw(backend, &noise, &(cr_draw){z, step, 0, COUNT, x}),
                     CERTREG_OK);
    for (int k = 0; k < COUNT * INPUTS; k++) {
        const double n = ldexp((double)x[k], 8 - ilogbf(step[k % INPUTS]));
        if (n == rint(n) && fabs(n) < 0x1p24 && !(n == 0 && signbit(x[k]))) continue;
        ck_abort_msg("feature %d is %a", k % INPUTS, (double)x[k]);
    }
    free(x);
    certreg_backend_close(backend);
}

TEST_TIMES(draw_keeps_every_bit_of_unmoved_features_and_the_input, SETUPS)
{
    certreg_backend *backend = backend_of(_i);
    if (!backend) return;
    enum { INPUTS = 37, COUNT = 9 };
    static const float odd[] = {-0.0f, 1e-45f, -1e-40f, FLT_MAX, 1 / 3.0f};
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = INPUTS, .clean_first = 1};
    float z[INPUTS], step[INPUTS], x[COUNT * INPUTS];
    for (int j = 0; j < INPUTS; j++)
        z[j] = j % 2 ? odd[j / 2 % 5] : -0.0f, step[j] = j % 2 ? 0.0f : 1e-3f;
    ck_assert_int_eq(backend->ops->draw(backend, &noise, &(cr_draw){z, step, 0, COUNT, x}),
                     CERTREG_OK);
    for (int k = 0; k < COUNT * INPUTS; k++)
        ck_assert_msg(!memcmp(x + k, z + k % INPUTS, sizeof *x) ==
                          (k < INPUTS || step[k % INPUTS] == 0),
                      "sample %d, feature %d", k / INPUTS, k % INPUTS);
    certreg_backend_close(backend);
}

TEST_TIMES(draw_with_negative_steps_is_opposite, SETUPS)
{
    certreg_backend *backend = backend_of(_i);
    if (!backend) return;
    enum { INPUTS = 21, COUNT = 100 };
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = INPUTS, .clean_first = 1};
    float zero[INPUTS] = {0}, step[2][INPUTS], x[2][COUNT * INPUTS];
    for (int j = 0; j < INPUTS; j++) step[0][j] = 0.1f * (float)j, step[1][j] = -step[0][j];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            backend->ops->draw(backend, &noise, &(cr_draw){zero, step[i], 0, COUNT, x[i]}),
            CERTREG_OK);
    for (int k = 0; k < COUNT * INPUTS; k++) ck_assert(x[0][k] == -x[1][k]);
    certreg_backend_close(backend);
}

TEST_TIMES(draw_replay_and_project_of_no_samples_change_nothing, SETUPS)
{
    certreg_backend *backend = backend_of(_i);
    if (!backend) return;
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = 3, .clean_first = 1};
    const float one[3] = {1, 1, 1};
    const cr_weighted_blocks none = {.blocks = 1, .functions = 1, .weights = one};
    float x = 5;
    double sums[3] = {1, 2, 3};
    ck_assert_int_eq(backend->ops->draw(backend, &noise, &(cr_draw){one, one, 0, 0, &x}),
                     CERTREG_OK);
    ck_assert_int_eq(backend->ops->replay(backend, &noise, &none, NULL, sums, NULL), CERTREG_OK);
    ck_assert_int_eq(backend->ops->project(backend, &noise,
                                           &(cr_projection){0, 0, one, one, sums, sums, 0}, NULL),
                     CERTREG_OK);
    ck_assert(x == 5 && sums[0] == 1 && sums[1] == 2 && sums[2] == 3);
    certreg_backend_close(backend);
}

KIT_CLOSES_HANDLES
int main(void)
{
    Suite *suite = kit_suite("backend");
    tcase_add_test(kit_case(suite, "threads"), backend_shared_by_threads_gives_the_same_bits);
    return kit_run(suite);
}
