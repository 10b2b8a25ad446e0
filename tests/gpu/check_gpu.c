/* The CUDA backend on a real device: the seam's contract bit by bit against the CPU, certificates against the CPU's, and failures. Ends
 * at once, with a message, where there is no device. */
#include "api_kit.h"
#include "support/made_up.h"
#include "backend/backend.h"
#include <cuda_runtime_api.h>
#include <pthread.h>

void gpu_crash(void *stream);

enum { INPUTS = 50, SAMPLES = 3000 };
static certreg_backend *gpu;

/* ---- the contract --------------------------------------------------------------------------------------------------------------------- */
static const struct {
    size_t inputs;
    uint64_t first;
    size_t count;
    int32_t centre;
    uint64_t seed, stream;
} shapes[] = {
    {1, 0, 70, 1, 0, 0},       {3, 0, 65, 1, 0x0123456789ABCDEFu, 0xFEDCBA9876543210u}, {7, 1000, 64, 0, 6, 7}, {64, 0, 6400, 1, 1, 2},
    {784, 0, 2000, 1, 20, 21}, {1001, 3, 670, 0, 21, 22},   {4097, 0, 90, 1, 24, 25}, {12288, 5, 200, 0, 3, 4},
    {8, 0xFFFFFFF0u, 64, 0, 27, 28}, {4, UINT64_MAX - 99, 100, 0, 29, 30},
};

static void *over(const void *host, size_t bytes)
{
    void *there = NULL;
    ck_assert_int_eq(gpu->ops->alloc(gpu, bytes, &there), CERTREG_OK);
    if (host) ck_assert_int_eq(gpu->ops->store(gpu, there, host, bytes), CERTREG_OK);
    return there;
}

START_TEST(draws_have_the_bits_of_the_cpu)
{
    const size_t d = shapes[_i].inputs, n = shapes[_i].count;
    const cr_noise noise = {.seed = shapes[_i].seed, .stream = shapes[_i].stream, .inputs = d, .centre = shapes[_i].centre};
    float *z = made_up_numbers(d, 1), *step = made_up_numbers(d, 2), *want = malloc(n * d * sizeof *want), *got = malloc(n * d * sizeof *got);
    certreg_backend *cpu = cr_backend_default();
    float *z_there = over(z, d * sizeof *z), *step_there = over(step, d * sizeof *step), *x = over(NULL, (n * d + 1) * sizeof *x);
    ck_assert_int_eq(cpu->ops->draw(cpu, &noise, z, step, shapes[_i].first, n, want), CERTREG_OK);
    for (int off = 0; off < 2; off++) { /* aligned, and not */
        ck_assert_int_eq(gpu->ops->draw(gpu, &noise, z_there, step_there, shapes[_i].first, n, x + off), CERTREG_OK);
        ck_assert_int_eq(gpu->ops->fetch(gpu, got, x + off, n * d * sizeof *got), CERTREG_OK);
        ck_assert_mem_eq(got, want, n * d * sizeof *got);
    }
    gpu->ops->free(gpu, z_there), gpu->ops->free(gpu, step_there), gpu->ops->free(gpu, x);
    free(z), free(step), free(want), free(got);
}
END_TEST

START_TEST(block_sums_have_the_bits_of_the_cpu_and_gram_matrices_nearly)
{
    enum { BLOCKS = 10 };
    const size_t d = shapes[_i].inputs, length = shapes[_i].count / BLOCKS, count = length * BLOCKS, stride = count + 3;
    const cr_noise noise = {.seed = shapes[_i].seed, .stream = shapes[_i].stream, .inputs = d, .centre = shapes[_i].centre};
    float *weights = made_up_numbers(2 * stride, 3), *mask = malloc(d * sizeof *mask);
    double *want = calloc(2 * BLOCKS * d, sizeof *want), *got = malloc(2 * BLOCKS * d * sizeof *got), gram[BLOCKS * BLOCKS];
    certreg_backend *cpu = cr_backend_default();
    for (size_t j = 0; j < d; j++) mask[j] = d < 5 || j % 5 != 3;
    float *weights_there = over(weights, 2 * stride * sizeof *weights), *mask_there = over(mask, d * sizeof *mask);
    double *sums = over(NULL, 2 * BLOCKS * d * sizeof *sums);
    for (size_t f = 1; f <= 2; f++) {
        memset(want, 0, 2 * BLOCKS * d * sizeof *want);
        for (size_t b = 0; b < BLOCKS; b++)
            ck_assert_int_eq(cpu->ops->replay(cpu, &noise, shapes[_i].first + b * length, length, f, weights + b * length, stride, want + b * f * d), CERTREG_OK);
        for (size_t i = 0; i < f * BLOCKS * d; i++) want[i] = mask[i % d] > 0 ? want[i] : 0;
        ck_assert_int_eq(gpu->ops->block_sums(gpu, &noise, shapes[_i].first, length, BLOCKS, f, weights_there, stride, mask_there, sums), CERTREG_OK);
        ck_assert_int_eq(gpu->ops->fetch(gpu, got, sums, f * BLOCKS * d * sizeof *got), CERTREG_OK);
        ck_assert_mem_eq(got, want, f * BLOCKS * d * sizeof *got);
        ck_assert_int_eq(gpu->ops->gram(gpu, sums + (f - 1) * d, f * d, BLOCKS, d, gram), CERTREG_OK);
        for (size_t p = 0; p < BLOCKS; p++)
            for (size_t q = 0; q < BLOCKS; q++) {
                double sum = 0, size = 0;
                for (size_t j = 0; j < d; j++) {
                    const double term = want[(p * f + f - 1) * d + j] * want[(q * f + f - 1) * d + j];
                    sum += term, size += fabs(term);
                }
                ck_assert_double_le(fabs(gram[p * BLOCKS + q] - sum), 1e-13 * size + 1e-300);
            }
    }
    gpu->ops->free(gpu, weights_there), gpu->ops->free(gpu, mask_there), gpu->ops->free(gpu, sums);
    free(weights), free(mask), free(want), free(got);
}
END_TEST

/* ---- certificates ---------------------------------------------------------------------------------------------------------------------- */
typedef struct copies {
    int calls, fail_at, crash_at;
} copies;

/* y is the first column of x, on the library's stream and without waiting. */
static int copy_there(void *user, const certreg_batch *b)
{
    copies *c = user;
    if (b->device < 0) return kit_identity(NULL, b);
    c->calls++;
    if (cudaMemcpy2DAsync(b->y, sizeof(float), b->x, b->inputs * sizeof(float), sizeof(float), b->rows, cudaMemcpyDeviceToDevice, b->stream)) return 1;
    if (c->calls == c->crash_at) gpu_crash(b->stream);
    return c->calls == c->fail_at ? 5 : 0;
}

static certreg_estimator *make(certreg_backend *backend, copies *c, size_t batch)
{
    static const double lo = -30, hi = 30;
    certreg_model m = kit_model(copy_there, c, INPUTS, 1);
    const certreg_plan p = kit_plan(SAMPLES);
    m.batch = batch, m.lo = &lo, m.hi = &hi;
    certreg_estimator *e = kit_create(backend, &m, &p);
    const float z[INPUTS] = {0.3f, 1};
    KIT_OK(e, certreg_estimator_begin(e, z, 0.5, 3));
    return e;
}

static const struct {
    int32_t score, interval, promise;
    uint32_t family;
} asked[] = {{CERTREG_SCORE_MEDIAN, CERTREG_INTERVAL_FINITE, 0, 0},
             {CERTREG_SCORE_MEDIAN, CERTREG_INTERVAL_FINITE, 0, CERTREG_FAMILY_ECGM},
             {CERTREG_SCORE_HUBER, CERTREG_INTERVAL_ASYMPTOTIC, 0, 0},
             {CERTREG_SCORE_MEAN, CERTREG_INTERVAL_ASYMPTOTIC, CERTREG_PROMISE_TRUE_MEAN, CERTREG_FAMILY_CG},
             {CERTREG_SCORE_MEAN, CERTREG_INTERVAL_PAPER, CERTREG_PROMISE_TRUE_MEAN, CERTREG_FAMILY_ECGM}};

START_TEST(certificates_are_those_of_the_cpu)
{
    copies c = {0};
    const size_t batch[] = {256, 100, 1, 3000};
    certreg_estimator *cpu = make(NULL, &c, batch[_i]), *there = make(gpu, &c, batch[_i]);
    for (int i = 0; i < KIT_ROWS(asked); i++) {
        certreg_question q = kit_question(0.7);
        q.score = asked[i].score, q.interval = asked[i].interval, q.promise = asked[i].promise, q.family = asked[i].family;
        q.huber_width = q.score == CERTREG_SCORE_HUBER ? 0.3 : 0;
        certreg_certificate a = kit_certificate(), b = a;
        KIT_OK(cpu, certreg_certify(cpu, NULL, SAMPLES, &q, 1, &a));
        KIT_OK(there, certreg_certify(there, NULL, SAMPLES, &q, 1, &b));
        ck_assert_double_gt(a.radius, 0);
        ck_assert_double_eq_tol(a.radius, b.radius, 1e-9 * a.radius);
        ck_assert_double_eq(a.prediction, b.prediction);
    }
    ck_assert_int_eq(c.calls, (int)((SAMPLES + batch[_i] - 1) / batch[_i]));
    certreg_estimator_destroy(cpu), certreg_estimator_destroy(there);
}
END_TEST

START_TEST(a_stream_of_the_callers_is_used)
{
    cudaStream_t stream;
    ck_assert_int_eq((int)cudaStreamCreate(&stream), 0);
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *own = NULL;
    ck_assert_msg(!certreg_backend_open_cuda(0, stream, NULL, &why, &own), "%s", why.text);
    ck_assert_ptr_eq(own->ops->stream(own), stream);
    copies c = {0};
    certreg_estimator *e = make(own, &c, 256);
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    certreg_estimator_destroy(e);
    certreg_backend_close(own);
    ck_assert_int_eq((int)cudaStreamDestroy(stream), 0); /* it was only borrowed */
}
END_TEST

typedef struct worker {
    pthread_t thread;
    double radius;
} worker;

static void *work(void *of)
{
    worker *w = of;
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *own = NULL; /* with a stream of its own */
    copies c = {0};
    const certreg_question q = kit_question(0.7);
    certreg_certificate answer = kit_certificate();
    if (certreg_backend_open_cuda(0, NULL, NULL, &why, &own)) return NULL;
    certreg_estimator *e = make(own, &c, 256);
    for (int i = 0; i < 5; i++) {
        const float z[INPUTS] = {0.3f, 1};
        if (certreg_estimator_begin(e, z, 0.5, 3) || certreg_certify(e, NULL, SAMPLES, &q, 1, &answer)) answer.radius = -1;
    }
    w->radius = answer.radius;
    certreg_estimator_destroy(e);
    certreg_backend_close(own);
    return NULL;
}

START_TEST(several_inputs_at_once_on_streams_of_their_own)
{
    enum { WORKERS = 4 };
    copies c = {0};
    certreg_estimator *e = make(NULL, &c, 256);
    const certreg_question q = kit_question(0.7);
    certreg_certificate alone = kit_certificate();
    worker w[WORKERS] = {{.radius = 0}};
    KIT_OK(e, certreg_certify(e, NULL, SAMPLES, &q, 1, &alone));
    for (int i = 0; i < WORKERS; i++) ck_assert_int_eq(pthread_create(&w[i].thread, NULL, work, w + i), 0);
    for (int i = 0; i < WORKERS; i++) pthread_join(w[i].thread, NULL);
    for (int i = 0; i < WORKERS; i++) ck_assert_double_eq(w[i].radius, alone.radius);
    certreg_estimator_destroy(e);
}
END_TEST

/* ---- failures ---------------------------------------------------------------------------------------------------------------------------- */
START_TEST(host_memory_and_too_much_memory_are_refused)
{
    copies c = {.fail_at = 2};
    certreg_estimator *e = make(gpu, &c, 256);
    float x[INPUTS];
    KIT_STATUS(e, certreg_estimator_draw(e, 0, 1, x), CERTREG_INVALID);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_MODEL_FAILED); /* with work in flight */
    ck_assert_int_eq(certreg_estimator_error(e)->model_code, 5);
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    certreg_estimator_destroy(e);
    certreg_model m = kit_model(copy_there, &c, (size_t)1 << 30, 1);
    const certreg_plan p = kit_plan(1000);
    certreg_error why = {.struct_size = sizeof why};
    m.batch = 1024; /* four terabytes */
    ck_assert_int_eq(certreg_estimator_create(gpu, &m, &p, &why, &e), CERTREG_NO_MEMORY);
}
END_TEST

/* The last: the process cannot use the device afterwards, but lives. */
START_TEST(a_lost_context_is_a_status)
{
    copies c = {.crash_at = 2};
    certreg_estimator *e = make(gpu, &c, 256);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_DEVICE_FAILED);
    ck_assert_int_gt(certreg_estimator_error(e)->model_code, 0);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_DEVICE_FAILED);
    certreg_estimator_destroy(e);
}
END_TEST

int main(void)
{
    certreg_error why = {.struct_size = sizeof why};
    if (certreg_backend_open_cuda(0, NULL, NULL, &why, &gpu)) {
        printf("check_gpu: skipped, %s\n", why.text);
        return 0;
    }
    Suite *suite = suite_create("a CUDA device");
    TCase *typical = kit_case(suite, "typical", 120), *bad = kit_case(suite, "bad_input", 60);
    tcase_add_loop_test(typical, draws_have_the_bits_of_the_cpu, 0, KIT_ROWS(shapes));
    tcase_add_loop_test(typical, block_sums_have_the_bits_of_the_cpu_and_gram_matrices_nearly, 0, KIT_ROWS(shapes));
    tcase_add_loop_test(typical, certificates_are_those_of_the_cpu, 0, 4);
    tcase_add_test(typical, a_stream_of_the_callers_is_used);
    tcase_add_test(typical, several_inputs_at_once_on_streams_of_their_own);
    tcase_add_test(bad, host_memory_and_too_much_memory_are_refused);
    tcase_add_test(bad, a_lost_context_is_a_status);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK); /* a context does not survive a fork */
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    certreg_backend_close(gpu);
    return failed != 0;
}
