/* What is not in the contract of all backends (unit_contract.c): shared backends, forks, refusals,
 * and what a backend may lack. */
#include "support/api_kit.h"
#include "support/cpu_setups.h"
#include "support/test_numbers.h"
#include <certreg/backend.h>
#include <certreg/certreg.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(default_backend_is_host_memory_of_this_version)
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

START_TEST(threads_that_share_a_backend_wait_for_nothing_and_get_the_same_bits)
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

TEST_TIMES(child_of_a_fork_is_told_and_can_close, 2)
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
                                             &(cr_projection){0, 1, &one, &one, &sum, &norm},
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

TEST(wrong_numbers_of_functions_and_no_inputs_are_refused)
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
    ck_assert_int_eq(backend->ops->project(backend, &none,
                                           &(cr_projection){0, 1, &one, &one, &sum, &norm}, NULL),
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

TEST(what_a_backend_lacks_is_made_of_the_rest)
{
    certreg_backend *plain = kit_backend(1);
    static cr_backend_ops ops;
    ops = *plain->ops, plain->ops = &ops;
    ops.sweep = NULL, ops.sweep_bytes = NULL;
    ck_assert(!ops.draw_ahead && !ops.join);
    ck_assert_double_gt(radius_with(NULL), 0.1);
    ck_assert_double_eq_tol(radius_with(plain), radius_with(NULL), 1e-12);
}

TEST(unknown_paths_are_refused)
{
    ck_assert_ptr_null(cr_cpu_path(-1));
    ck_assert_ptr_null(cr_cpu_path(3));
    certreg_backend *backend = backend_of(0);
    ck_assert_int_eq(cr_cpu_force(backend, 3), CERTREG_E_NO_BACKEND);
    run_many(backend); /* still at work */
    certreg_backend_close(backend);
}

KIT_CLOSES_HANDLES
int main(void)
{
    Suite *suite = kit_suite("backend");
    tcase_add_test(kit_case(suite, "threads"),
                   threads_that_share_a_backend_wait_for_nothing_and_get_the_same_bits);
    return kit_run(suite);
}
