/* Backends beyond the contract of all of them (gpu/contract.h; of the CPU's paths: unit_cpu.c):
 * shared backends, forks, refusals, what a backend may lack, and points on the grid. The CUDA
 * module's kernels and copies keep the contract on a device that is emulated on the host
 * (emulated/emulated.h); its error numbers become statuses. */
#include "backend/cuda/error_codes.h"
#include "emulated.h"
#include "gpu/contract.h"
#include "support/api_kit.h"
#include "support/cpu_setups.h"
#include "support/emulated_device.h"
#include "support/test_numbers.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static const float ones[3] = {1, 1, 1};

/* Each op once, from sample 0 on, of one feature or none; what they write is x[0 .. 2]. */
enum { OPS = 4 };

static certreg_status status_of(certreg_backend *b, int op, size_t inputs, size_t count,
                                size_t functions, double x[3])
{
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = inputs, .clean_first = 1};
    const cr_weighted_blocks w = {
        .block_samples = count, .blocks = 1, .functions = functions, .weights = ones};
    const cr_sweep sweep = {.count = 0};
    float y = (float)x[0];
    certreg_status status = CERTREG_OK;
    switch (op) {
    case 0:
        status = b->ops->draw(b, &noise, &(cr_draw){ones, ones, 0, count, &y, NULL});
        x[0] = (double)y;
        break;
    case 1: status = b->ops->replay(b, &noise, &w, NULL, x, NULL); break;
    case 2:
        status = b->ops->project(b, &noise, &(cr_projection){0, count, ones, ones, x + 1, x + 2, 0},
                                 NULL);
        break;
    default: status = b->ops->sweep(b, &noise, &sweep, NULL);
    }
    return status;
}

/* ======== sharing */
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
            backend->ops->draw(backend, &noise, &(cr_draw){numbers, step, 0, COUNT, draws, NULL}),
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
    certreg_backend *backend = kit_backend(3);
    pthread_t other;
    ck_assert_int_eq(pthread_create(&other, NULL, run_many, backend), 0);
    run_many(backend);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
}
END_TEST

TEST_TIMES(backend_is_refused_in_a_forked_child_which_can_close_it, 2)
{
    certreg_backend *backend = NULL;
    double x[3] = {0};
    ck_assert_int_eq(certreg_backend_open_cpu(1 + _i, NULL, &backend), CERTREG_OK);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(600); /* if it hangs */
        int good = 1;
        for (int op = 0; op < OPS - 1; op++)
            good = good && status_of(backend, op, 1, 1, 1, x) == CERTREG_E_WRONG_STATE;
        certreg_backend_close(backend);
        good = good && status_of(cr_backend_default(), 0, 1, 1, 1, x) == CERTREG_OK;
        _exit(good ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(status_of(backend, 0, 1, 1, 1, x), CERTREG_OK);
    certreg_backend_close(backend);
}

/* ======== refusals */
TEST_TIMES(replay_draw_and_project_of_no_inputs_or_samples, OPS)
{
    certreg_backend *backend = cr_backend_default();
    double x[3] = {3, 4, 5};
    ck_assert_int_eq(status_of(backend, _i, 0, 1, 1, x), CERTREG_E_INVALID);
    if (_i == 1) { /* too few and too many functions */
        ck_assert_int_eq(status_of(backend, _i, 1, 1, 0, x), CERTREG_E_INVALID);
        ck_assert_int_eq(status_of(backend, _i, 1, 1, 3, x), CERTREG_E_INVALID);
    }
    for (int setup = 0; _i < OPS - 1 && setup < SETUPS; setup++) {
        certreg_backend *b = backend_of(setup);
        if (!b) continue;
        ck_assert_int_eq(status_of(b, _i, 3, 0, 1, x), CERTREG_OK);
        certreg_backend_close(b);
    }
    ck_assert(x[0] == 3 && x[1] == 4 && x[2] == 5);
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

TEST(backend_default_is_host_memory_of_this_version)
{
    ck_assert_uint_eq(cr_backend_default()->ops->api_version, CR_BACKEND_API);
    ck_assert_int_eq(cr_backend_default()->ops->device, -1);
}

/* ======== what a backend may lack */
KIT_EVAL(slope, x[0] - 0.5f * x[1])

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

/* ======== drawing; steps of the grid and their opposites: gpu/contract.h, unit_grid_rounding.c */
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
    ck_assert_int_eq(backend->ops->draw(backend, &noise, &(cr_draw){z, step, 0, COUNT, x, NULL}),
                     CERTREG_OK);
    for (int k = 0; k < COUNT * INPUTS; k++)
        ck_assert_msg(!memcmp(x + k, z + k % INPUTS, sizeof *x) ==
                          (k < INPUTS || step[k % INPUTS] == 0),
                      "sample %d, feature %d", k / INPUTS, k % INPUTS);
    certreg_backend_close(backend);
}

/* ======== the CUDA module */
TEST(cuda_status_of_error_numbers)
{
    ck_assert_int_eq(cr_cuda_status(0), CERTREG_OK);
    ck_assert_int_eq(cr_cuda_status(2), CERTREG_E_NO_MEMORY);
    const int absent[] = {3, 34, 35, 36, 46, 98, 100, 101, 200, 209, 221, 222, 223, 802, 803, 804},
              lost[] = {214, 220, 226, 700, 702, 709, 710, 714,
                        715, 716, 717, 718, 719, 721, 810, 999};
    for (int i = 0; i < KIT_ROWS(absent); i++) {
        ck_assert_int_eq(cr_cuda_status(absent[i]), CERTREG_E_NO_DEVICE);
        ck_assert(!cr_cuda_is_sticky(absent[i]));
    }
    for (int i = 0; i < KIT_ROWS(lost); i++) {
        ck_assert_int_eq(cr_cuda_status(lost[i]), CERTREG_E_DEVICE_FAILED);
        ck_assert(cr_cuda_is_sticky(lost[i]));
    }
    ck_assert_int_eq(cr_cuda_status(1), CERTREG_E_DEVICE_FAILED);
    ck_assert(!cr_cuda_is_sticky(1) && !cr_cuda_is_sticky(2) && !cr_cuda_is_sticky(0));
}

static certreg_backend *of_one_test(void)
{
    return open_device(0, NULL);
}

KIT_CLOSES_HANDLES
int main(void)
{
    Suite *suite = kit_suite("backend");
    certreg_error why;
    certreg_backend *device = NULL;
    if (try_emulated(0, NULL, &why, &device)) return puts(why.text), 1;
    tcase_add_test(kit_case(suite, "threads"), backend_shared_by_threads_gives_the_same_bits);
    contract_add_tests(kit_case(suite, "emulated device"), device, cr_backend_default());
    contract_add_uses(kit_case_with(suite, "uses", NULL, kit_close_all), of_one_test);
    const int failed = kit_run(suite);
    certreg_backend_close(device);
    return failed || emulated()->objects != 0;
}
