/* The CUDA backend on a real device: the seam's contract bit by bit against the CPU, certificates
 * against the CPU's, and failures. Ends at once, with a message, where there is no device. */
#include "support/api_kit.h"
#include "backend/backend.h"
#include "gpu/contract.h"
#include <certreg/backend.h>
#include <certreg/sampling.h>
#include <cuda_runtime_api.h>
#include <pthread.h>

void gpu_crash(void *stream);

static certreg_backend *gpu;

enum { INPUTS = 50, SAMPLES = 3000 };

/* ---- certificates */
typedef struct copies {
    int calls, fail_at, crash_at;
} copies;

/* y is the first column of x, on the library's stream and without waiting. */
static int copy_there(void *user, const certreg_batch *b)
{
    copies *c = user;
    if (b->device < 0) return kit_identity(NULL, b);
    c->calls++;
    if (cudaMemcpy2DAsync(b->y, sizeof(float), b->x, b->inputs * sizeof(float), sizeof(float),
                          b->rows, cudaMemcpyDeviceToDevice, b->stream))
        return 1;
    if (c->calls == c->crash_at) gpu_crash(b->stream);
    return c->calls == c->fail_at ? 5 : 0;
}

static certreg_estimator *make(certreg_backend *backend, copies *c, size_t batch)
{
    static const double lo = -30, hi = 30;
    certreg_model m = KIT_MODEL(copy_there, c, INPUTS, 1, .batch = batch, .lo = &lo, .hi = &hi);
    certreg_plan p = kit_plan(SAMPLES);
    certreg_estimator *e = kit_create(backend, &m, &p);
    const float z[INPUTS] = {0.3f, 1};
    KIT_OK(e, certreg_estimator_begin(e, z, 0.5, 3));
    return e;
}

static const struct {
    int32_t score, method, center;
    uint32_t constraints;
} asked[] = {{CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, 0},
             {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, CERTREG_CONSTRAINTS_ECGM},
             {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0, CERTREG_CONSTRAINTS_ECGM},
             {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 0, 0},
             {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, CERTREG_CENTER_TRUE_MEAN,
              CERTREG_CONSTRAINTS_CG},
             {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CENTER_TRUE_MEAN,
              CERTREG_CONSTRAINTS_ECGM}};

static void compare_certificates(size_t batch)
{
    copies c = {0};
    certreg_estimator *cpu = make(NULL, &c, batch), *there = make(gpu, &c, batch);
    for (int i = 0; i < KIT_ROWS(asked); i++) {
        certreg_question q = kit_question(0.7);
        q.statistic = asked[i].score, q.method = asked[i].method, q.center = asked[i].center,
        q.constraints = asked[i].constraints;
        q.huber_width = q.statistic == CERTREG_STATISTIC_HUBER ? 0.3 : 0;
        certreg_certificate a = kit_certificate(), b = a;
        KIT_OK(cpu, certreg_certify(cpu, SAMPLES, &q, 1, &a));
        KIT_OK(there, certreg_certify(there, SAMPLES, &q, 1, &b));
        ck_assert_double_gt(a.radius, 0);
        ck_assert_msg(fabs(a.radius - b.radius) <= 1e-9 * a.radius,
                      "question %d: %.17g, on the CPU %.17g", i, b.radius, a.radius);
        ck_assert_double_eq(a.prediction, b.prediction);
    }
    ck_assert_int_eq(c.calls, (int)((SAMPLES + batch - 1) / batch));
    certreg_estimator_destroy(cpu), certreg_estimator_destroy(there);
}

TEST_TIMES(device_certificates_are_those_of_the_cpu, 4)
{
    const size_t batch[] = {256, 100, 1, 3000};
    compare_certificates(batch[_i]);
}

/* Every kernel in a few seconds, also where each access to memory is checked. */
START_TEST(device_certificates_of_one_batch_size)
{
    compare_certificates(1000);
}
END_TEST

TEST(device_stream_of_the_caller_is_used)
{
    cudaStream_t stream;
    ck_assert_int_eq((int)cudaStreamCreate(&stream), 0);
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *own = NULL;
    ck_assert_msg(!certreg_backend_open("cuda", 0, stream, &why, &own), "%s", why.text);
    ck_assert_ptr_eq(own->ops->stream(own), stream);
    copies c = {0};
    certreg_estimator *e = make(own, &c, 256);
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    certreg_estimator_destroy(e);
    certreg_backend_close(own);
    ck_assert_int_eq((int)cudaStreamDestroy(stream), 0); /* it was only borrowed */
}

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
    if (certreg_backend_open("cuda", 0, NULL, &why, &own)) return NULL;
    certreg_estimator *e = make(own, &c, 256);
    for (int i = 0; i < 5; i++) {
        const float z[INPUTS] = {0.3f, 1};
        if (certreg_estimator_begin(e, z, 0.5, 3) || certreg_certify(e, SAMPLES, &q, 1, &answer))
            answer.radius = -1;
    }
    w->radius = answer.radius;
    certreg_estimator_destroy(e);
    certreg_backend_close(own);
    return NULL;
}

TEST(device_streams_for_several_inputs_at_once)
{
    enum { WORKERS = 4 };
    copies c = {0};
    certreg_estimator *e = make(NULL, &c, 256);
    const certreg_question q = kit_question(0.7);
    certreg_certificate alone = kit_certificate();
    worker w[WORKERS] = {{.radius = 0}};
    KIT_OK(e, certreg_certify(e, SAMPLES, &q, 1, &alone));
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(pthread_create(&w[i].thread, NULL, work, w + i), 0);
    for (int i = 0; i < WORKERS; i++) pthread_join(w[i].thread, NULL);
    for (int i = 0; i < WORKERS; i++) ck_assert_double_eq(w[i].radius, alone.radius);
    certreg_estimator_destroy(e);
}

/* ---- failures */
START_TEST(device_refuses_host_memory_and_too_much_memory)
{
    copies c = {.fail_at = 2};
    certreg_estimator *e = make(gpu, &c, 256);
    float x[INPUTS];
    KIT_STATUS(e, certreg_estimator_draw(e, 0, 1, x), CERTREG_E_INVALID);
    /* With work in flight. */
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_MODEL_FAILED);
    ck_assert_int_eq(certreg_estimator_error(e)->code, 5);
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    certreg_estimator_destroy(e);
    certreg_model m = kit_model(copy_there, &c, (size_t)1 << 30, 1);
    const certreg_plan p = kit_plan(1000);
    certreg_error why = {.struct_size = sizeof why};
    m.batch = 1024; /* four terabytes */
    ck_assert_int_eq(certreg_estimator_create(gpu, &m, &p, &why, &e), CERTREG_E_NO_MEMORY);
}
END_TEST

static certreg_backend *of_all_tests(void)
{
    return gpu;
}

/* The last: the process cannot use the device afterwards, but lives. */
START_TEST(device_context_that_is_lost_is_a_status)
{
    copies c = {.crash_at = 2};
    certreg_estimator *e = make(gpu, &c, 256);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_DEVICE_FAILED);
    ck_assert_int_gt(certreg_estimator_error(e)->code, 0);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_DEVICE_FAILED);
    certreg_estimator_destroy(e);
}
END_TEST

int main(void)
{
    certreg_error why = {.struct_size = sizeof why};
    if (certreg_backend_open("cuda", 0, NULL, &why, &gpu)) {
        printf("check_gpu: skipped, %s\n", why.text);
        return 0;
    }
    Suite *suite = suite_create("a CUDA device");
    TCase *typical = kit_case(suite, "typical"), *brief = kit_case(suite, "short"),
          *bad = kit_case(suite, "bad_input"); /* the last: it loses the device */
    contract_add_tests(typical, gpu, cr_backend_default()), kit_add_tests(typical);
    tcase_add_test(bad, device_refuses_host_memory_and_too_much_memory);
    tcase_add_test(bad, device_context_that_is_lost_is_a_status);
    tcase_add_test(brief, device_certificates_of_one_batch_size);
    tcase_add_checked_fixture(brief, NULL, kit_close_all);
    contract_add_uses(brief, of_all_tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK); /* a context does not survive a fork */
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    certreg_backend_close(gpu);
    return failed != 0;
}
