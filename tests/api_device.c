/* Estimators on a device with memory of its own: the CUDA module, kernels and all, on a device that
 * is emulated on the host (emulated/emulated.h). The model gets the device's addresses and a
 * stream, certificates are those of the CPU, and every failure is a status. */
#include "api_kit.h"
#include "emulated.h"
#include "support/emulated_device.h"
#include <pthread.h>
#include <sys/wait.h>

enum { INPUTS = 7, OUTPUTS = 2, SAMPLES = 1500, BATCH = 100 };
static const float where[INPUTS] = {0.2f, -0.1f, 0.4f, 0, 1, -1, 0.5f},
                   scale[INPUTS] = {1, 0.5f, 2, 0, 1, 1, 0.7f};

/* ---- the model */
typedef struct surface {
    size_t calls, fail_at, skip_at, crash_at, cancel_at;
    certreg_estimator *cancelled;
    int strange; /* a batch was not what a device's is */
} surface;

typedef struct task { /* the model's work on one batch */
    size_t rows, inputs, columns, skip;
    const float *x;
    float *y;
    surface *s;
} task;

static void compute(const float *x, size_t inputs, float *y)
{
    y[0] = tanhf(x[0] + 0.5f * x[1]) + 0.1f * x[2];
    y[1] = 0.3f * x[inputs - 1] - 0.2f * x[4] * x[5];
}

static void work(void *with)
{
    const task *t = with;
    for (size_t i = 0; i < t->rows * t->columns; i++) t->s->strange |= !isnan(t->y[i]);
    for (size_t i = 0; i < t->rows; i++)
        if (i != t->skip) compute(t->x + i * t->inputs, t->inputs, t->y + i * t->columns);
}

static task task_of(surface *s, const certreg_batch *b)
{
    if (++s->calls == s->cancel_at) certreg_estimator_cancel(s->cancelled);
    return (task){b->rows, b->inputs, b->columns, s->calls == s->skip_at ? 5 : SIZE_MAX,
                  b->x,    b->y,      s};
}

static int on_host(void *user, const certreg_batch *b)
{
    task t = task_of(user, b);
    work(&t);
    return t.s->calls == t.s->fail_at ? 17 : 0;
}

/* As a kernel: enqueued, and no waiting. */
static int on_device(void *user, const certreg_batch *b)
{
    surface *s = user;
    struct cudaPointerAttributes x, y;
    task *t = malloc(sizeof *t);
    *t = task_of(s, b);
    const int before = emulated()->calls; /* what the model does is not counted as the library's */
    const int fail_at = emulated()->fail_at;
    emulated()->fail_at = 0;
    int device = -1;
    cudaGetDevice(&device);
    s->strange |= cudaPointerGetAttributes(&x, b->x) || x.type != cudaMemoryTypeDevice ||
                  x.device != b->device || (uintptr_t)b->x % 256 != 0;
    s->strange |= cudaPointerGetAttributes(&y, b->y) || y.type != cudaMemoryTypeDevice ||
                  y.device != b->device || (uintptr_t)b->y % 256 != 0;
    cudaSetDevice(b->device);
    const int refused = (int)emulated_enqueue(b->stream, work, t, free);
    if (s->calls == s->crash_at) emulated_crash(b->stream);
    cudaSetDevice(device);
    emulated()->calls = before, emulated()->fail_at = fail_at;
    return refused ? refused : s->calls == s->fail_at ? 17 : 0;
}

typedef struct places { /* where the batches lay */
    size_t batches;
    uintptr_t x[4], y;
    int moved;
} places;

static int note_places(void *user, const certreg_batch *b)
{
    places *p = user;
    p->moved |= p->batches > 0 && p->y != (uintptr_t)b->y;
    p->x[p->batches++ % 4] = (uintptr_t)b->x, p->y = (uintptr_t)b->y;
    return (int)cudaMemsetAsync(b->y, 0, b->rows * b->columns * sizeof *b->y, b->stream);
}

/* ---- backends */
static certreg_backend *open_device(int32_t number, void *stream)
{
    certreg_error why;
    certreg_backend *backend = NULL;
    ck_assert_msg(!try_emulated(number, stream, &why, &backend), "%s", why.text);
    return backend;
}

static certreg_model model_of(surface *s, int device)
{
    static const double lo[OUTPUTS] = {-9, -9}, hi[OUTPUTS] = {9, 9};
    certreg_model m = kit_model(device ? on_device : on_host, s, INPUTS, OUTPUTS);
    m.batch = BATCH, m.scale = scale, m.lo = lo, m.hi = hi;
    return m;
}

static certreg_plan plan_of(size_t samples)
{
    certreg_plan p = kit_plan(samples);
    p.constraints = CERTREG_CONSTRAINTS_ECGM;
    return p;
}

static certreg_estimator *make(certreg_backend *backend, surface *s)
{
    const certreg_model m = model_of(s, backend != NULL);
    const certreg_plan p = plan_of(SAMPLES);
    return kit_create(backend, &m, &p);
}

static void close_all(certreg_estimator *e, certreg_backend *backend)
{
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
    ck_assert_int_eq(emulated()->objects, 0);
}

/* ---- what is asked */
static const struct {
    int32_t output, statistic, method, center;
    uint32_t constraints;
} asked[] = {{0, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, 0},
             {1, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, CERTREG_CONSTRAINTS_ECGM},
             {0, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC, 0, 0},
             {0, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 0, 0},
             {1, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0, CERTREG_CONSTRAINTS_ECGM},
             {0, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, CERTREG_CENTER_TRUE_MEAN,
              CERTREG_CONSTRAINTS_CG},
             {1, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CENTER_TRUE_MEAN,
              CERTREG_CONSTRAINTS_ECGM},
             {CERTREG_ALL_OUTPUTS, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC,
              CERTREG_CENTER_TRUE_MEAN, 0}};
enum { ASKED = sizeof asked / sizeof *asked };

static void ask(certreg_estimator *e, size_t samples, certreg_certificate c[ASKED])
{
    certreg_question q[ASKED];
    for (int i = 0; i < ASKED; i++) {
        q[i] = kit_question(0.6);
        q[i].output = asked[i].output, q[i].statistic = asked[i].statistic,
        q[i].method = asked[i].method, q[i].center = asked[i].center;
        q[i].constraints = asked[i].constraints,
        q[i].huber_width = asked[i].statistic == CERTREG_STATISTIC_HUBER ? 0.4 : 0;
    }
    c[0] = kit_certificate();
    KIT_OK(e, certreg_certify(e, samples, q, ASKED, c));
}

/* Work may run as late as somebody waits for it, at once, or that of the library's side stream at
 * once and the caller's late. */
START_TEST(certificates_of_a_device_are_those_of_the_cpu)
{
    surface here = {0}, there = {0};
    cudaStream_t stream = NULL;
    emulated()->at_once = _i == 1;
    ck_assert_int_eq(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
    emulated()->at_once = _i != 0;
    certreg_backend *backend = open_device(0, stream);
    const size_t before = emulated()->taken;
    certreg_estimator *cpu = make(NULL, &here), *device = make(backend, &there);
    const certreg_model m = model_of(&there, 1);
    const certreg_plan p = plan_of(SAMPLES);
    size_t bytes = 0;
    const size_t taken = emulated()->taken;
    ck_assert_int_eq(certreg_estimator_device_size(backend, &m, &p, &bytes), CERTREG_OK);
    ck_assert_uint_eq(taken - before, bytes);
    for (uint64_t number = 0; number < 2; number++) {
        certreg_certificate a[ASKED], b[ASKED];
        KIT_OK(cpu, certreg_estimator_begin(cpu, where, 0.3, number));
        KIT_OK(device, certreg_estimator_begin(device, where, 0.3, number));
        ask(cpu, SAMPLES, a), ask(device, SAMPLES, b);
        for (int i = 0; i < ASKED; i++) {
            ck_assert_double_gt(a[i].radius, 0);
            ck_assert_msg(fabs(a[i].radius - b[i].radius) <= 1e-9 * a[i].radius,
                          "question %d: %.17g, on the CPU %.17g", i, b[i].radius, a[i].radius);
            ck_assert(a[i].prediction == b[i].prediction || isnan(a[i].prediction));
        }
    }
    ck_assert_uint_eq(here.calls, there.calls);
    ck_assert(!there.strange);
    ck_assert_uint_eq(emulated()->most_taken, taken); /* nothing is taken after create */
    certreg_estimator_destroy(cpu), certreg_estimator_destroy(device);
    certreg_backend_close(backend);
    ck_assert_int_eq(emulated()->objects, 1);
    ck_assert_int_eq(cudaStreamDestroy(stream), 0); /* it was only borrowed */
}
END_TEST

/* Its sums of products are float (unit_second_device), so bounds agree to some digits only. */
START_TEST(second_orders_of_a_device_are_those_of_the_cpu_nearly)
{
    surface here = {0}, there = {0};
    certreg_backend *backend = open_device(0, NULL), *const on[2] = {NULL, backend};
    certreg_certificate c[2] = {kit_certificate(), kit_certificate()};
    const certreg_model m[2] = {model_of(&here, 0), model_of(&there, 1)};
    certreg_plan p = kit_plan(600);
    p.constraints = CERTREG_CONSTRAINTS_ECGHM;
    certreg_question q = kit_question(0.6);
    q.method = CERTREG_METHOD_ASYMPTOTIC, q.constraints = CERTREG_CONSTRAINTS_ECGHM;
    size_t bytes = 0, on_cpu = 1;
    ck_assert_int_eq(certreg_estimator_device_size(backend, m + 1, &p, &bytes), CERTREG_OK);
    ck_assert_int_eq(certreg_estimator_device_size(NULL, m, &p, &on_cpu), CERTREG_OK);
    ck_assert_uint_eq(on_cpu, 0);
    const size_t before = emulated()->taken;
    for (int i = 0; i < 2; i++) {
        certreg_estimator *e = kit_create(on[i], m + i, &p);
        ck_assert_uint_eq(emulated()->taken - before, i ? bytes : 0);
        KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
        KIT_OK(e, certreg_certify(e, 600, &q, 1, c + i));
        certreg_estimator_destroy(e);
    }
    ck_assert_double_gt(c[0].radius, 0);
    ck_assert_double_eq_tol(c[0].radius, c[1].radius, 1e-4 * c[0].radius);
    close_all(NULL, backend);
}
END_TEST

/* With the gradient's bound, asymptotic and exact; outputs apart, and z, which begin takes. The
 * host waits for the outputs of a batch, and else only for what it cannot go on without: two Gram
 * matrices; of either condition the pilot's walk and the others'; one projection. */
START_TEST(little_crosses_the_bus_and_the_host_hardly_waits)
{
    enum { WIDE = 784, MANY = 10000 };
    static const int32_t intervals[] = {CERTREG_METHOD_ASYMPTOTIC, CERTREG_METHOD_FINITE,
                                        CERTREG_METHOD_PAPER};
    static const int waits[] = {2, 4, 1};
    static const double lo[] = {-9, -9}, hi[] = {9, 9};
    static float z[WIDE];
    surface there = {0};
    certreg_backend *backend = open_device(0, NULL);
    certreg_model m = kit_model(on_device, &there, WIDE, 2);
    const certreg_plan p = kit_plan(MANY);
    certreg_question q = kit_question(0.3);
    certreg_certificate c = kit_certificate();
    m.lo = lo, m.hi = hi;
    certreg_estimator *e = kit_create(backend, &m, &p);
    q.method = intervals[_i], q.constraints = CERTREG_CONSTRAINTS_ECGM;
    if (q.method == CERTREG_METHOD_PAPER)
        q.statistic = CERTREG_STATISTIC_MEAN, q.center = CERTREG_CENTER_TRUE_MEAN;
    KIT_OK(e, certreg_estimator_begin(e, z, 0.3, 0));
    const int waited = emulated()->waits, batches = (MANY + 255) / 256;
    const size_t before = emulated()->to_device + emulated()->to_host,
                 outputs = MANY * 2 * sizeof(float);
    KIT_OK(e, certreg_certify(e, MANY, &q, 1, &c));
    const size_t crossed = emulated()->to_device + emulated()->to_host - before - outputs;
    ck_assert_double_gt(c.radius, 0);
    ck_assert_uint_gt(crossed, MANY); /* the gradient was asked for */
    ck_assert_uint_lt(crossed, 1 << 19);
    ck_assert_int_eq(emulated()->waits - waited, batches + waits[_i]);
    close_all(e, backend);
}
END_TEST

/* TensorRT takes nothing else; graphs are captured for either address of x. */
START_TEST(batches_are_aligned_to_256_bytes_and_x_has_two_addresses)
{
    static const size_t inputs[] = {1, 3, 7, 16, 33, 784, 1001}, rows[] = {1, 5, 64},
                        constraints[] = {CERTREG_CONSTRAINT_MEAN, CERTREG_CONSTRAINTS_ECGM};
    static float z[1001];
    certreg_backend *backend = open_device(0, NULL);
    for (size_t i = 0; i < 7 * 3 * 2; i++) {
        places seen = {.batches = 0};
        certreg_model m = kit_model(note_places, &seen, inputs[i % 7], 2);
        certreg_plan p = kit_plan(300);
        m.batch = rows[i / 7 % 3], p.constraints = (uint32_t)constraints[i / 21];
        certreg_estimator *e = kit_create(backend, &m, &p);
        KIT_OK(e, certreg_estimator_begin(e, z, 0.3, 0));
        KIT_OK(e, certreg_estimator_sample(e, 0, 4 * m.batch));
        ck_assert_uint_eq(seen.batches, 4);
        for (int k = 0; k < 4; k++) ck_assert_uint_eq(seen.x[k] % 256, 0);
        ck_assert(seen.x[0] != seen.x[1] && seen.x[2] == seen.x[0] && seen.x[3] == seen.x[1]);
        ck_assert(seen.y % 256 == 0 && !seen.moved);
        certreg_estimator_destroy(e);
    }
    close_all(NULL, backend);
}
END_TEST

START_TEST(cublas_has_its_room_and_its_code_before_the_first_input)
{
    for (int32_t number = 0; number < EMULATED_DEVICES; number++) {
        surface there = {0};
        certreg_backend *backend = open_device(number, NULL);
        ck_assert_uint_eq(emulated()->taken, (size_t)(number == EMULATED_HOPPER ? 32 : 4) << 20);
        if (number == EMULATED_SMALL) {
            certreg_backend_close(backend);
            continue;
        }
        certreg_estimator *e = make(backend, &there);
        ck_assert_int_gt(emulated()->products, 0);
        emulated()->products = 0;
        close_all(e, backend);
    }
}
END_TEST

START_TEST(records_of_a_device_are_those_of_the_cpu)
{
    surface here = {0}, there = {0};
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *cpu = make(NULL, &here), *device = make(backend, &there);
    KIT_OK(cpu, certreg_estimator_begin(cpu, where, 0.3, 5));
    KIT_OK(device, certreg_estimator_begin(device, where, 0.3, 5));
    kit_exchange_records(cpu, device, SAMPLES, 700, OUTPUTS);
    ck_assert_uint_eq(there.calls, 7);
    certreg_estimator_destroy(cpu);
    close_all(device, backend);
}
END_TEST

START_TEST(noise_is_drawn_into_memory_of_the_device_and_nowhere_else)
{
    surface there = {0};
    cudaStream_t stream = NULL;
    ck_assert_int_eq(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
    certreg_backend *backend = open_device(0, stream);
    certreg_estimator *cpu = make(NULL, &there), *device = make(backend, &there);
    float a[3 * INPUTS], b[3 * INPUTS];
    void *x = NULL, *elsewhere = NULL;
    ck_assert_int_eq(cudaMalloc(&x, sizeof b), 0);
    ck_assert_int_eq(cudaSetDevice(2), 0);
    ck_assert_int_eq(cudaMalloc(&elsewhere, sizeof b), 0);
    KIT_OK(cpu, certreg_estimator_begin(cpu, where, 0.3, 5));
    KIT_OK(device, certreg_estimator_begin(device, where, 0.3, 5));
    KIT_OK(cpu, certreg_estimator_draw(cpu, 4, 3, a));
    KIT_OK(device, certreg_estimator_draw(device, 4, 3, x));
    void *const wrong[] = {b, elsewhere};
    for (int i = 0; i < 2; i++) {
        KIT_STATUS(device, certreg_estimator_draw(device, 4, 3, wrong[i]), CERTREG_E_INVALID);
        ck_assert_ptr_nonnull(
            strstr(certreg_estimator_error(device)->text, "x is no memory of device 0"));
    }
    KIT_OK(device, certreg_estimator_draw(device, 4, 3, x));
    ck_assert_int_eq(cudaSetDevice(0), 0);
    ck_assert_int_eq(cudaMemcpyAsync(b, x, sizeof b, cudaMemcpyDeviceToHost, stream), 0);
    ck_assert_int_eq(cudaStreamSynchronize(stream), 0);
    ck_assert_mem_eq(a, b, sizeof a);
    KIT_OK(device, certreg_estimator_draw(device, 0, 0, NULL));
    ck_assert(!cudaFree(x) && !cudaFree(elsewhere));
    ck_assert_int_eq(cudaStreamDestroy(stream), 0);
    certreg_estimator_destroy(cpu);
    close_all(device, backend);
}
END_TEST

START_TEST(the_calling_threads_device_stays_current)
{
    surface there = {0};
    int now = -1;
    ck_assert_int_eq(cudaSetDevice(1), 0);
    emulated()->contexts = 0;
    certreg_backend *backend = open_device(2, NULL);
    ck_assert(!cudaGetDevice(&now) && now == 1);
    ck_assert_uint_eq(emulated()->contexts, 1u << 2);
    certreg_estimator *e = make(backend, &there);
    certreg_certificate c[ASKED];
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    ck_assert(!cudaGetDevice(&now) && now == 1);
    ask(e, SAMPLES, c);
    ck_assert(!there.strange && !cudaGetDevice(&now) && now == 1);
    close_all(e, backend);
    ck_assert(!cudaGetDevice(&now) && now == 1);
}
END_TEST

START_TEST(cancelling_and_deadlines_hold_between_batches)
{
    surface there = {.cancel_at = 4};
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *e = make(backend, &there);
    there.cancelled = e;
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_CANCELLED);
    ck_assert_uint_eq(there.calls, 4);
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES)); /* the batch that was drawn ahead is still
                                                           good */
    ck_assert_uint_eq(there.calls, SAMPLES / BATCH);
    certreg_estimator_set_deadline(e, 1e-9);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 1));
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_DEADLINE);
    close_all(e, backend);
}
END_TEST

typedef struct thread {
    pthread_t id;
    double radius;
} thread;

static void *certify_alone(void *of)
{
    thread *t = of;
    surface there = {0};
    certreg_error why;
    certreg_backend *backend = NULL;
    const certreg_model m = model_of(&there, 1);
    const certreg_plan p = plan_of(SAMPLES);
    const certreg_question q = kit_question(0.6);
    certreg_certificate c = kit_certificate();
    certreg_estimator *e = NULL;
    if (try_emulated(0, NULL, &why, &backend) ||
        certreg_estimator_create(backend, &m, &p, &why, &e))
        return NULL;
    if (!certreg_estimator_begin(e, where, 0.3, 0) && !certreg_certify(e, SAMPLES, &q, 1, &c) &&
        !there.strange)
        t->radius = c.radius;
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
    return NULL;
}

START_TEST(several_inputs_at_once_on_streams_of_their_own)
{
    enum { THREADS = 4 };
    thread t[THREADS] = {{.radius = 0}}, alone = {.radius = 0};
    certify_alone(&alone);
    ck_assert_double_gt(alone.radius, 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i].id, NULL, certify_alone, t + i), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i].id, NULL);
    for (int i = 0; i < THREADS; i++) ck_assert_double_eq(t[i].radius, alone.radius);
    ck_assert_int_eq(emulated()->objects, 0);
}
END_TEST

/* ---- failures */
START_TEST(failures_of_the_model_are_told_as_on_the_cpu)
{
    surface there = {.fail_at = 3, .skip_at = 5};
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *e = make(backend, &there);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_MODEL_FAILED); /* with work in
                                                                                       flight */
    ck_assert_int_eq(certreg_estimator_error(e)->model_code, 17);
    ck_assert_int_eq(certreg_estimator_error(e)->sample, 2 * BATCH);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_NOT_FINITE); /* a row left out
                                                                                   */
    ck_assert_int_eq(certreg_estimator_error(e)->row, 5);
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    close_all(e, backend);
}
END_TEST

START_TEST(a_device_without_memory_is_a_status_at_create)
{
    surface there = {0};
    certreg_backend *backend = open_device(EMULATED_SMALL, NULL);
    certreg_model m = model_of(&there, 1);
    certreg_plan p = kit_plan(SAMPLES);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = (certreg_estimator *)&there;
    m.batch = 8000;
    ck_assert_int_eq(certreg_estimator_create(backend, &m, &p, &why, &e), CERTREG_E_NO_MEMORY);
    ck_assert_ptr_null(e);
    ck_assert_msg(strstr(why.text, "out of memory") && why.model_code == 2, "%s", why.text);
    m.batch = 10, p.max_samples = 1000, p.constraints = CERTREG_CONSTRAINTS_ECM;
    ck_assert_msg(!certreg_estimator_create(backend, &m, &p, &why, &e), "%s", why.text);
    close_all(e, backend);
}
END_TEST

START_TEST(a_device_that_is_lost_stays_lost_and_can_be_closed)
{
    surface there = {.crash_at = 3};
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *e = make(backend, &there);
    certreg_question q = kit_question(0.6);
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    c.radius = 9;
    KIT_STATUS(e, certreg_certify(e, SAMPLES, &q, 1, &c), CERTREG_E_DEVICE_FAILED);
    ck_assert_double_eq(c.radius, 0);
    ck_assert_int_eq(certreg_estimator_error(e)->model_code, 700);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "illegal memory access"));
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_DEVICE_FAILED);
    KIT_STATUS(e, certreg_estimator_begin(e, where, 0.3, 1), CERTREG_E_DEVICE_FAILED);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 1), CERTREG_E_WRONG_STATE); /* no input was begun
                                                                              */
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
}
END_TEST

/* The caller works on another device, where it has no context even. */
START_TEST(what_a_lost_device_held_is_ended_there_and_nowhere_else)
{
    surface there = {.crash_at = 1};
    ck_assert_int_eq(cudaSetDevice(1), 0);
    emulated()->contexts = 0;
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *e = make(backend, &there);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_DEVICE_FAILED);
    emulated()->contexts = 0;
    close_all(e, backend);
    ck_assert_uint_eq(emulated()->contexts, 1u << 0);
    ck_assert_int_eq(emulated()->strays, 0);
}
END_TEST

static const char *const capturing = "the stream is capturing a graph; end the capture";

START_TEST(a_stream_that_is_capturing_is_refused_and_serves_again_afterwards)
{
    surface there = {0};
    cudaStream_t stream = NULL;
    certreg_error why;
    certreg_backend *backend = NULL;
    float *x = NULL;
    ck_assert_int_eq(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
    ck_assert_int_eq(cudaMalloc((void **)&x, INPUTS * sizeof *x), 0);
    emulated_capture(stream, 1);
    ck_assert_int_eq(try_emulated(0, stream, &why, &backend), CERTREG_E_WRONG_STATE);
    ck_assert_msg(strstr(why.text, capturing) &&
                      why.model_code == cudaErrorStreamCaptureUnsupported,
                  "%s", why.text);
    ck_assert_ptr_null(backend);
    emulated_capture(stream, 0);
    backend = open_device(0, stream);
    certreg_estimator *e = make(backend, &there), *other = NULL;
    const certreg_model m = model_of(&there, 1);
    const certreg_plan p = plan_of(SAMPLES);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    KIT_OK(e, certreg_estimator_sample(e, 0, 300));
    emulated_capture(stream, 1);
    KIT_STATUS(e, certreg_estimator_sample(e, 300, 300), CERTREG_E_WRONG_STATE);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, capturing));
    KIT_STATUS(e, certreg_estimator_draw(e, 0, 1, x), CERTREG_E_WRONG_STATE);
    ck_assert_int_eq(certreg_estimator_create(backend, &m, &p, &why, &other),
                     CERTREG_E_WRONG_STATE);
    ck_assert_ptr_nonnull(strstr(why.text, capturing));
    emulated_capture(stream, 0);
    const certreg_question q = kit_question(0.6);
    certreg_certificate c = kit_certificate(), right = c;
    KIT_OK(e, certreg_certify(e, SAMPLES, &q, 1, &c));
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    KIT_OK(e, certreg_certify(e, SAMPLES, &q, 1, &right));
    ck_assert(c.radius == right.radius && c.radius > 0);
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
    ck_assert(!cudaFree(x) && !cudaStreamDestroy(stream));
    ck_assert_int_eq(emulated()->objects, 0);
}
END_TEST

/* It is no mistake of the caller's. */
START_TEST(a_device_that_is_lost_while_its_memory_is_looked_at)
{
    surface there = {0};
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *e = make(backend, &there);
    void *x = NULL;
    ck_assert_int_eq(cudaMalloc(&x, INPUTS * sizeof(float)), 0);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    emulated()->calls = 0, emulated()->fail_at = 3, emulated()->fail_code = 700; /* after entering
                                                                                  */
    KIT_STATUS(e, certreg_estimator_draw(e, 0, 1, x), CERTREG_E_DEVICE_FAILED);
    ck_assert_int_eq(certreg_estimator_error(e)->model_code, 700);
    ck_assert(cudaFree(x) == 700);
    close_all(e, backend);
}
END_TEST

/* From open to close, with every call of the runtime failing once: memory, another error, a lost
 * device. */
static certreg_status whole_life(certreg_certificate c[ASKED])
{
    surface there = {0};
    certreg_error why;
    certreg_backend *backend = NULL;
    const certreg_model m = model_of(&there, 1);
    const certreg_plan p = plan_of(700);
    certreg_estimator *e = NULL;
    certreg_question q[2] = {kit_question(0.6), kit_question(0.6)};
    q[1].method = CERTREG_METHOD_ASYMPTOTIC;
    c[0] = kit_certificate();
    certreg_status status = try_emulated(0, NULL, &why, &backend);
    if (!status) status = certreg_estimator_create(backend, &m, &p, &why, &e);
    if (status) ck_assert_msg(*why.text && why.status == status, "%s", why.text);
    if (!status) status = certreg_estimator_begin(e, where, 0.3, 0);
    if (!status) status = certreg_certify(e, 700, q, 2, c);
    if (e && status) ck_assert_int_eq(certreg_estimator_error(e)->status, status);
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
    return status;
}

START_TEST(every_call_that_fails_is_a_status)
{
    static const int codes[] = {2, 1, 719};
    certreg_certificate right[ASKED], c[ASKED];
    emulated_reset();
    ck_assert_int_eq(whole_life(right), CERTREG_OK);
    ck_assert_double_gt(right[0].radius, 0);
    const int calls = emulated()->calls;
    int failed = 0;
    ck_assert_int_gt(calls, 50);
    for (int n = 1; n <= calls; n++) {
        emulated_reset();
        emulated()->fail_at = n, emulated()->fail_code = codes[_i];
        c[0] = c[1] = kit_certificate();
        const certreg_status status = whole_life(c);
        failed += status != CERTREG_OK;
        for (int i = 0; i < 2; i++)
            ck_assert_msg(status ? c[i].radius == 0 : c[i].radius == right[i].radius,
                          "call %d: status %d, radius %.17g", n, (int)status, c[i].radius);
        ck_assert_msg(emulated()->objects == 0, "call %d: %d objects stayed", n,
                      emulated()->objects);
    }
    ck_assert_int_ge(failed, calls - 20); /* those of closing are no one's loss */
}
END_TEST

/* The stream, the numbers of errors and the noise that is drawn ahead are one estimator's at a
 * time. */
typedef struct pair {
    surface s;
    certreg_backend *backend;
    certreg_estimator *other;
    certreg_status asked, made;
    char why[256], told[256];
} pair;

static int asks_another(void *user, const certreg_batch *b)
{
    pair *p = user;
    if (p->s.calls == 1) {
        const certreg_model m = model_of(&p->s, 1);
        const certreg_plan plan = plan_of(SAMPLES);
        certreg_error why = {.struct_size = sizeof why};
        certreg_estimator *made = NULL;
        p->asked = certreg_estimator_begin(p->other, where, 0.3, 1);
        snprintf(p->why, sizeof p->why, "%s", certreg_estimator_error(p->other)->text);
        p->made = certreg_estimator_create(p->backend, &m, &plan, &why, &made);
        snprintf(p->told, sizeof p->told, "%s", made ? "made" : why.text);
    }
    return on_device(&p->s, b);
}

START_TEST(estimators_that_share_a_device_take_turns)
{
    surface theirs = {0};
    pair p = {.backend = open_device(0, NULL)};
    certreg_model m = model_of(NULL, 1);
    const certreg_plan plan = plan_of(SAMPLES);
    m.eval = asks_another, m.user = &p;
    p.other = make(p.backend, &theirs);
    certreg_estimator *e = kit_create(p.backend, &m, &plan);
    certreg_certificate a[ASKED], b[ASKED];
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 1));
    ask(e, SAMPLES, a);
    ck_assert_int_eq(p.asked, CERTREG_E_BUSY);
    ck_assert_ptr_nonnull(strstr(p.why, "backend"));
    ck_assert_int_eq(p.made, CERTREG_E_BUSY);
    ck_assert_ptr_nonnull(strstr(p.told, "backend"));
    KIT_OK(p.other, certreg_estimator_begin(p.other, where, 0.3, 1)); /* its turn */
    ask(p.other, SAMPLES, b);
    for (int i = 0; i < ASKED; i++) ck_assert_double_eq(a[i].radius, b[i].radius);
    ck_assert(!p.s.strange && !theirs.strange);
    certreg_estimator_destroy(p.other);
    close_all(e, p.backend);
}
END_TEST

/* Devices do not survive a fork: whatever the child does, nothing is asked of them. */
START_TEST(a_forked_child_leaves_the_device_alone)
{
    surface s = {0};
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *e = make(backend, &s);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 1));
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const int calls = emulated()->calls;
        const certreg_model m = model_of(&s, 1);
        const certreg_plan plan = plan_of(SAMPLES);
        certreg_error why = {.struct_size = sizeof why};
        certreg_estimator *made = NULL;
        int good = certreg_estimator_sample(e, 0, 1) == CERTREG_E_WRONG_STATE &&
                   strstr(certreg_estimator_error(e)->text, "fork");
        good = good &&
               certreg_estimator_create(backend, &m, &plan, &why, &made) == CERTREG_E_WRONG_STATE &&
               strstr(why.text, "fork");
        certreg_estimator_destroy(e);
        certreg_backend_close(backend);
        _exit(good && emulated()->calls == calls ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close_all(e, backend);
}
END_TEST

START_TEST(devices_that_are_not_there_and_modules_of_other_versions_are_refused)
{
    certreg_error why;
    certreg_backend *backend = NULL;
    char path[4096];
    ck_assert_int_eq(try_emulated(EMULATED_DEVICES, NULL, &why, &backend), CERTREG_E_NO_DEVICE);
    ck_assert_int_eq(why.model_code, 101);
    ck_assert_ptr_null(backend);
    ck_assert_int_eq(
        certreg_backend_open_cuda(0, NULL, path_beside("old_module.so", path), &why, &backend),
        CERTREG_E_VERSION);
    ck_assert_ptr_null(backend);
    ck_assert_int_eq(
        certreg_backend_open_cuda(0, NULL, path_beside("../libcertreg.so", path), &why, &backend),
        CERTREG_E_NO_BACKEND); /* no module */
    ck_assert_ptr_nonnull(strstr(why.text, "is no module"));
}
END_TEST

static void as_new(void)
{
    emulated_reset();
    cudaSetDevice(0);
}

int main(void)
{
    Suite *suite = suite_create("devices");
    TCase *typical = kit_case(suite, "typical", 120), *bad = kit_case(suite, "bad_input", 120);
    tcase_add_checked_fixture(typical, as_new, NULL), tcase_add_checked_fixture(bad, as_new, NULL);
    tcase_add_loop_test(typical, certificates_of_a_device_are_those_of_the_cpu, 0, 3);
    tcase_add_test(typical, second_orders_of_a_device_are_those_of_the_cpu_nearly);
    tcase_add_loop_test(typical, little_crosses_the_bus_and_the_host_hardly_waits, 0, 3);
    tcase_add_test(typical, batches_are_aligned_to_256_bytes_and_x_has_two_addresses);
    tcase_add_test(typical, cublas_has_its_room_and_its_code_before_the_first_input);
    tcase_add_test(typical, records_of_a_device_are_those_of_the_cpu);
    tcase_add_test(typical, noise_is_drawn_into_memory_of_the_device_and_nowhere_else);
    tcase_add_test(typical, the_calling_threads_device_stays_current);
    tcase_add_test(typical, cancelling_and_deadlines_hold_between_batches);
    tcase_add_test(typical, several_inputs_at_once_on_streams_of_their_own);
    tcase_add_test(bad, failures_of_the_model_are_told_as_on_the_cpu);
    tcase_add_test(bad, a_device_without_memory_is_a_status_at_create);
    tcase_add_test(bad, a_device_that_is_lost_stays_lost_and_can_be_closed);
    tcase_add_test(bad, what_a_lost_device_held_is_ended_there_and_nowhere_else);
    tcase_add_test(bad, a_stream_that_is_capturing_is_refused_and_serves_again_afterwards);
    tcase_add_test(bad, a_device_that_is_lost_while_its_memory_is_looked_at);
    tcase_add_loop_test(bad, every_call_that_fails_is_a_status, 0, 3);
    tcase_add_test(bad, estimators_that_share_a_device_take_turns);
    tcase_add_test(bad, a_forked_child_leaves_the_device_alone);
    tcase_add_test(bad, devices_that_are_not_there_and_modules_of_other_versions_are_refused);
    return kit_run(suite);
}
