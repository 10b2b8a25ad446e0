/* Estimators on a device with memory of its own, by a module whose device is the host in disguise (tests/modules): the model gets
 * addresses of the device and a stream, certificates are those of the CPU, and every failure is a status. */
#include "api_kit.h"
#include "modules/host_device.h"
#include <unistd.h>

enum { INPUTS = 7, OUTPUTS = 2, SAMPLES = 1500, BATCH = 100 };
static const float where[INPUTS] = {0.2f, -0.1f, 0.4f, 0, 1, -1, 0.5f}, scale[INPUTS] = {1, 0.5f, 2, 0, 1, 1, 0.7f};
static int somewhere; /* its address serves as a stream */

/* ---- the model -------------------------------------------------------------------------------------------------------------------- */
typedef struct surface {
    size_t calls, fail_at, skip_at;
    int strange; /* a batch was not what a device's is */
} surface;

static void compute(const float *x, size_t inputs, float *y)
{
    y[0] = tanhf(x[0] + 0.5f * x[1]) + 0.1f * x[2];
    y[1] = 0.3f * x[inputs - 1] - 0.2f * x[4] * x[5];
}

static int on_host(void *user, const certreg_batch *b)
{
    surface *s = user;
    if (++s->calls == s->fail_at) return 17;
    for (size_t i = 0; i < b->rows; i++)
        if (s->calls != s->skip_at || i != 5) compute(b->x + i * b->inputs, b->inputs, b->y + i * b->columns);
    return 0;
}

static int on_device(void *user, const certreg_batch *b)
{
    surface *s = user;
    s->strange |= b->device != HOST_DEVICE && b->device != HOST_DEVICE_FAILING;
    s->strange |= !host_device_has(b->x) || !host_device_has(b->y) || b->stream != &somewhere || (uintptr_t)b->x % 64 != 0;
    certreg_batch there = *b;
    there.x = host_device_address((void *)(uintptr_t)b->x), there.y = host_device_address(b->y);
    for (size_t i = 0; i < b->rows * b->columns; i++) s->strange |= !isnan(there.y[i]);
    return on_host(user, &there);
}

/* ---- backends ----------------------------------------------------------------------------------------------------------------------- */
static const char *module_path(void)
{
    static char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    ck_assert_int_gt((int)length, 0);
    path[length] = 0;
    strcpy(strrchr(path, '/'), "/host_device.so");
    return path;
}

static certreg_backend *open_device(int32_t number)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *backend = NULL;
    ck_assert_msg(!certreg_backend_open_cuda(number, &somewhere, module_path(), &why, &backend), "%s", why.text);
    return backend;
}

static certreg_model model_of(surface *s, int device)
{
    static const double lo[OUTPUTS] = {-9, -9}, hi[OUTPUTS] = {9, 9};
    certreg_model m = kit_model(device ? on_device : on_host, s, INPUTS, OUTPUTS);
    m.batch = BATCH, m.scale = scale, m.lo = lo, m.hi = hi;
    return m;
}

static certreg_estimator *make(certreg_backend *backend, surface *s)
{
    const certreg_model m = model_of(s, backend != NULL);
    certreg_plan p = kit_plan(SAMPLES);
    p.facts = CERTREG_FAMILY_ECGM;
    return kit_create(backend, &m, &p);
}

/* ---- what is asked -------------------------------------------------------------------------------------------------------------------- */
static const struct {
    int32_t output, score, interval, promise;
    uint32_t family;
} asked[] = {{0, CERTREG_SCORE_MEDIAN, CERTREG_INTERVAL_FINITE, 0, 0},
             {1, CERTREG_SCORE_MEDIAN, CERTREG_INTERVAL_FINITE, 0, CERTREG_FAMILY_ECGM},
             {0, CERTREG_SCORE_MEDIAN, CERTREG_INTERVAL_ASYMPTOTIC, 0, 0},
             {0, CERTREG_SCORE_HUBER, CERTREG_INTERVAL_ASYMPTOTIC, 0, 0},
             {1, CERTREG_SCORE_HUBER, CERTREG_INTERVAL_FINITE, 0, CERTREG_FAMILY_ECGM},
             {0, CERTREG_SCORE_MEAN, CERTREG_INTERVAL_ASYMPTOTIC, CERTREG_PROMISE_TRUE_MEAN, CERTREG_FAMILY_CG},
             {1, CERTREG_SCORE_MEAN, CERTREG_INTERVAL_PAPER, CERTREG_PROMISE_TRUE_MEAN, CERTREG_FAMILY_ECGM},
             {CERTREG_OUTPUT_NORM, CERTREG_SCORE_MEAN, CERTREG_INTERVAL_ASYMPTOTIC, CERTREG_PROMISE_TRUE_MEAN, 0}};
enum { ASKED = sizeof asked / sizeof *asked };

static void ask(certreg_estimator *e, size_t samples, certreg_certificate c[ASKED])
{
    certreg_question q[ASKED];
    for (int i = 0; i < ASKED; i++) {
        q[i] = kit_question(0.6);
        q[i].output = asked[i].output, q[i].score = asked[i].score, q[i].interval = asked[i].interval, q[i].promise = asked[i].promise;
        q[i].family = asked[i].family, q[i].huber_width = asked[i].score == CERTREG_SCORE_HUBER ? 0.4 : 0;
    }
    c[0] = kit_certificate();
    KIT_OK(e, certreg_certify(e, NULL, samples, q, ASKED, c));
}

START_TEST(certificates_of_a_device_are_those_of_the_cpu)
{
    surface here = {0}, there = {0};
    certreg_backend *backend = open_device(HOST_DEVICE);
    certreg_estimator *cpu = make(NULL, &here), *device = make(backend, &there);
    for (uint64_t stream = 0; stream < 2; stream++) {
        certreg_certificate a[ASKED], b[ASKED];
        KIT_OK(cpu, certreg_estimator_begin(cpu, where, 0.3, stream));
        KIT_OK(device, certreg_estimator_begin(device, where, 0.3, stream));
        ask(cpu, SAMPLES, a), ask(device, SAMPLES, b);
        for (int i = 0; i < ASKED; i++) {
            ck_assert_double_gt(a[i].radius, 0);
            ck_assert_msg(fabs(a[i].radius - b[i].radius) <= 1e-9 * a[i].radius, "question %d: %.17g, on the CPU %.17g", i, b[i].radius, a[i].radius);
            if (i != CERTREG_OUTPUT_NORM) ck_assert(a[i].prediction == b[i].prediction || isnan(a[i].prediction));
        }
    }
    ck_assert_uint_eq(here.calls, there.calls);
    ck_assert(!there.strange);
    certreg_estimator_destroy(cpu), certreg_estimator_destroy(device);
    certreg_backend_close(backend);
}
END_TEST

START_TEST(records_of_a_device_are_those_of_the_cpu)
{
    surface here = {0}, there = {0};
    certreg_backend *backend = open_device(HOST_DEVICE);
    certreg_estimator *cpu = make(NULL, &here), *device = make(backend, &there);
    unsigned char a[4 * OUTPUTS * SAMPLES + 256], b[sizeof a];
    size_t bytes_a = sizeof a, bytes_b = sizeof b;
    KIT_OK(cpu, certreg_estimator_begin(cpu, where, 0.3, 5));
    KIT_OK(device, certreg_estimator_begin(device, where, 0.3, 5));
    KIT_OK(cpu, certreg_estimator_sample(cpu, 0, SAMPLES));
    KIT_OK(device, certreg_estimator_sample(device, 0, 700)); /* the rest is the CPU's work */
    KIT_OK(device, certreg_estimator_export(device, b, &bytes_b));
    KIT_OK(cpu, certreg_estimator_import(cpu, b, bytes_b)); /* overlaps have to agree */
    KIT_OK(cpu, certreg_estimator_export(cpu, a, &bytes_a));
    KIT_OK(device, certreg_estimator_import(device, a, bytes_a));
    bytes_b = sizeof b;
    KIT_OK(device, certreg_estimator_export(device, b, &bytes_b));
    ck_assert_uint_eq(bytes_a, bytes_b);
    ck_assert_mem_eq(a, b, bytes_a);
    ck_assert_uint_eq(there.calls, 7);
    certreg_estimator_destroy(cpu), certreg_estimator_destroy(device);
    certreg_backend_close(backend);
}
END_TEST

START_TEST(noise_is_drawn_into_memory_of_the_device_and_nowhere_else)
{
    surface there = {0};
    certreg_backend *backend = open_device(HOST_DEVICE);
    certreg_estimator *cpu = make(NULL, &there), *device = make(backend, &there);
    float a[3 * INPUTS], b[3 * INPUTS];
    KIT_OK(cpu, certreg_estimator_begin(cpu, where, 0.3, 5));
    KIT_OK(device, certreg_estimator_begin(device, where, 0.3, 5));
    KIT_OK(cpu, certreg_estimator_draw(cpu, 4, 3, a));
    KIT_OK(device, certreg_estimator_draw(device, 4, 3, host_device_address(b)));
    ck_assert_mem_eq(a, b, sizeof a);
    KIT_STATUS(device, certreg_estimator_draw(device, 4, 3, b), CERTREG_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(device)->text, "x is no memory of device 0"));
    KIT_OK(device, certreg_estimator_draw(device, 4, 3, host_device_address(b)));
    certreg_estimator_destroy(cpu), certreg_estimator_destroy(device);
    certreg_backend_close(backend);
}
END_TEST

START_TEST(failures_of_the_model_are_told_as_on_the_cpu)
{
    surface there = {.fail_at = 3, .skip_at = 5};
    certreg_backend *backend = open_device(HOST_DEVICE);
    certreg_estimator *e = make(backend, &there);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_MODEL_FAILED);
    ck_assert_int_eq(certreg_estimator_error(e)->model_code, 17);
    ck_assert_int_eq(certreg_estimator_error(e)->sample, 2 * BATCH);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_NOT_FINITE); /* a row left out */
    ck_assert_int_eq(certreg_estimator_error(e)->row, 5);
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
}
END_TEST

START_TEST(a_device_without_memory_is_a_status_at_create)
{
    surface there = {0};
    certreg_backend *backend = open_device(HOST_DEVICE_SMALL);
    certreg_model m = model_of(&there, 1);
    const certreg_plan p = kit_plan(SAMPLES);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = (certreg_estimator *)&there;
    m.batch = 8000;
    ck_assert_int_eq(certreg_estimator_create(backend, &m, &p, &why, &e), CERTREG_NO_MEMORY);
    ck_assert_ptr_null(e);
    ck_assert_msg(strstr(why.text, "out of memory") && why.model_code == 2, "%s", why.text);
    m.batch = 10;
    ck_assert_int_eq(certreg_estimator_create(backend, &m, &p, &why, &e), CERTREG_OK);
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
}
END_TEST

START_TEST(a_device_that_is_lost_stays_lost_and_can_be_closed)
{
    surface there = {0};
    certreg_backend *backend = open_device(HOST_DEVICE_FAILING);
    certreg_estimator *e = make(backend, &there);
    certreg_question q = kit_question(0.6);
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    c.radius = 9;
    KIT_STATUS(e, certreg_certify(e, NULL, SAMPLES, &q, 1, &c), CERTREG_DEVICE_FAILED);
    ck_assert_double_eq(c.radius, 0);
    ck_assert_int_eq(certreg_estimator_error(e)->model_code, 700);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "illegal memory access"));
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_DEVICE_FAILED);
    KIT_STATUS(e, certreg_estimator_begin(e, where, 0.3, 1), CERTREG_DEVICE_FAILED);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 1), CERTREG_WRONG_STATE); /* no input was begun */
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
}
END_TEST

START_TEST(devices_that_are_not_there_and_modules_of_other_versions_are_refused)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *backend = NULL;
    ck_assert_int_eq(certreg_backend_open_cuda(HOST_DEVICES, NULL, module_path(), &why, &backend), CERTREG_NO_DEVICE);
    ck_assert_int_eq(why.model_code, 101);
    ck_assert_int_eq(certreg_backend_open_cuda(HOST_DEVICE_OLD, NULL, module_path(), &why, &backend), CERTREG_VERSION);
    ck_assert_ptr_null(backend);
    char path[4096]; /* a shared object that is no module */
    snprintf(path, sizeof path, "%s", module_path());
    strcpy(strrchr(path, '/'), "/../libcertreg.so");
    ck_assert_int_eq(certreg_backend_open_cuda(0, NULL, path, &why, &backend), CERTREG_NO_BACKEND);
    ck_assert_ptr_nonnull(strstr(why.text, "is no module"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("devices");
    TCase *typical = kit_case(suite, "typical", 60), *bad = kit_case(suite, "bad_input", 60);
    tcase_add_test(typical, certificates_of_a_device_are_those_of_the_cpu);
    tcase_add_test(typical, records_of_a_device_are_those_of_the_cpu);
    tcase_add_test(typical, noise_is_drawn_into_memory_of_the_device_and_nowhere_else);
    tcase_add_test(bad, failures_of_the_model_are_told_as_on_the_cpu);
    tcase_add_test(bad, a_device_without_memory_is_a_status_at_create);
    tcase_add_test(bad, a_device_that_is_lost_stays_lost_and_can_be_closed);
    tcase_add_test(bad, devices_that_are_not_there_and_modules_of_other_versions_are_refused);
    return kit_run(suite);
}
