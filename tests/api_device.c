/* Estimators on a device with memory of its own: the CUDA module, kernels and all, on a device
 * that is emulated on the host (emulated/emulated.h). The model gets the device's addresses and a
 * stream, and certificates are those of the CPU. */
#include "support/device_model.h"
#include "support/attack_kit.h"
#include <pthread.h>

/* ---- what a caller owns on a device */
static void destroy_stream(void *stream)
{
    ck_assert_int_eq(cudaStreamDestroy(stream), 0); /* it was only borrowed */
}

static cudaStream_t new_stream(void)
{
    cudaStream_t stream = NULL;
    ck_assert_int_eq(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
    kit_close_later(destroy_stream, stream);
    return stream;
}

static void free_memory(void *memory)
{
    ck_assert_int_eq(cudaFree(memory), 0);
}

static void *new_memory(int device, size_t bytes)
{
    void *memory = NULL;
    ck_assert(!cudaSetDevice(device) && !cudaMalloc(&memory, bytes) && !cudaSetDevice(0));
    kit_close_later(free_memory, memory);
    return memory;
}

/* ---- batches */
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

/* Work may run as late as somebody waits for it, at once, or that of the library's side stream
 * at once and the caller's late. */
TEST_TIMES(device_certificates_are_those_of_the_cpu, 3)
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
    size_t host, bytes = 0;
    const size_t taken = emulated()->taken;
    ck_assert_int_eq(certreg_estimator_size(backend, &m, &p, NULL, &host, &bytes), CERTREG_OK);
    ck_assert_uint_eq(taken - before, bytes);
    const uint64_t inputs = _i ? 1 : 2; /* a later one on the same handles */
    for (uint64_t number = 0; number < inputs; number++) {
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
    kit_close_all();
    ck_assert_int_eq(emulated()->objects, 1);
    ck_assert_int_eq(cudaStreamDestroy(stream), 0); /* it was only borrowed */
}

/* With the gradient's bound, asymptotic and exact; outputs apart, and z, which begin takes. The
 * host waits for the outputs of a batch, and else only for results that it needs: two Gram
 * matrices; for each condition the pilot's sums and the main samples'; one projection. */
TEST_TIMES(device_transfers_little_and_the_host_hardly_waits, 3)
{
    enum { WIDE = 784, MANY = 10000 };
    static const int32_t intervals[] = {CERTREG_METHOD_ASYMPTOTIC, CERTREG_METHOD_FINITE,
                                        CERTREG_METHOD_PAPER};
    static const int waits[] = {2, 4, 1};
    static const double lo[] = {-9, -9}, hi[] = {9, 9};
    static float z[WIDE];
    surface there = {0};
    certreg_backend *backend = open_device(0, NULL);
    certreg_model m = KIT_MODEL(on_device, &there, WIDE, 2, .lo = lo, .hi = hi);
    const certreg_plan p = kit_plan(MANY);
    certreg_question q = kit_question(0.3);
    certreg_estimator *e = kit_create(backend, &m, &p);
    q.method = intervals[_i], q.constraints = CERTREG_CONSTRAINTS_ECGM;
    if (q.method == CERTREG_METHOD_PAPER)
        q.statistic = CERTREG_STATISTIC_MEAN, q.center = CERTREG_CENTER_TRUE_MEAN;
    KIT_OK(e, certreg_estimator_begin(e, z, 0.3, 0));
    const int waited = emulated()->waits, launched = emulated()->launches,
              batches = (MANY + 4095) / 4096;
    const size_t before = emulated()->to_device + emulated()->to_host,
                 outputs = (size_t)batches * 4096 * 2 * sizeof(float);
    const certreg_certificate c = kit_ask(e, MANY, q);
    const size_t crossed = emulated()->to_device + emulated()->to_host - before - outputs;
    ck_assert_double_gt(c.radius, 0);
    ck_assert_uint_gt(crossed, MANY); /* the gradient was asked for */
    ck_assert_uint_lt(crossed, 1 << 19);
    ck_assert_int_eq(emulated()->waits - waited, batches + waits[_i]);
    ck_assert_int_le(emulated()->launches - launched + batches + waits[_i], 60);
}

/* Neither mean nor range changes what the noise says: it is replayed once, and kept. */
TEST_TIMES(device_replays_once_for_families_with_a_gradient, 2)
{
    static const int32_t method[] = {CERTREG_METHOD_ASYMPTOTIC, CERTREG_METHOD_PAPER};
    static const uint32_t family[] = {CERTREG_CONSTRAINTS_CG, 7, CERTREG_CONSTRAINTS_ECGM};
    surface there = {0};
    certreg_estimator *e = begun_there(&there);
    certreg_question q[3];
    certreg_certificate c[3];
    int waited[3];
    for (size_t i = 0; i < 3; i++) {
        q[i] = QUESTION(.tolerance = 0.6, .statistic = CERTREG_STATISTIC_MEAN, .method = method[_i],
                        .center = CERTREG_CENTER_TRUE_MEAN, .constraints = family[i]);
        c[i] = kit_certificate();
    }
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    for (size_t count = 1; count <= 3; count++) {
        const int before = emulated()->waits;
        KIT_OK(e, certreg_certify(e, 0, q, count, c));
        waited[count - 1] = emulated()->waits - before;
    }
    ck_assert(waited[0] > 0 && waited[1] == 0 && waited[2] == 0);
}

/* TensorRT takes nothing else; graphs are captured for either address of x. */
TEST(device_batches_are_aligned_and_x_has_two_addresses)
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
    }
}

TEST(device_cublas_is_warm_before_the_first_input)
{
    for (int32_t number = 0; number < EMULATED_DEVICES; number++) {
        surface there = {0};
        certreg_backend *backend = open_device(number, NULL);
        ck_assert_uint_eq(emulated()->taken, (size_t)(number == EMULATED_HOPPER ? 32 : 4) << 20);
        if (number != EMULATED_SMALL) {
            make(backend, &there);
            ck_assert_int_gt(emulated()->products, 0);
            emulated()->products = 0;
        }
        kit_close_all();
    }
}

/* By float noise, and by pairs. */
TEST_TIMES(device_draws_the_cpus_bits_into_its_own_memory, 2)
{
    surface there = {0};
    cudaStream_t stream = new_stream();
    const certreg_model m = kit_model(on_device, &there, INPUTS, OUTPUTS);
    certreg_plan p = kit_plan(SAMPLES);
    float a[5 * INPUTS], b[5 * INPUTS];
    void *const x = new_memory(0, sizeof b), *const wrong[] = {b, new_memory(2, sizeof b)};
    if (_i) p.constraints = 0, p.pilot = SIZE_MAX, p.flags = CERTREG_PLAN_PAIRS;
    certreg_estimator *cpu = kit_create(NULL, &m, &p),
                      *device = kit_create(open_device(0, stream), &m, &p);
    KIT_OK(cpu, certreg_estimator_begin(cpu, where, 0.3, 5));
    KIT_OK(device, certreg_estimator_begin(device, where, 0.3, 5));
    KIT_OK(cpu, certreg_estimator_draw(cpu, 4, 5, a));
    for (int i = 0; i < 2; i++) {
        KIT_REFUSED(device, certreg_estimator_draw(device, 4, 5, wrong[i]), CERTREG_E_INVALID,
                    "x is not memory of device 0");
    }
    KIT_OK(device, certreg_estimator_draw(device, 4, 5, x));
    ck_assert_int_eq(cudaMemcpyAsync(b, x, sizeof b, cudaMemcpyDeviceToHost, stream), 0);
    ck_assert_int_eq(cudaStreamSynchronize(stream), 0);
    ck_assert_mem_eq(a, b, sizeof a);
    KIT_OK(device, certreg_estimator_draw(device, 0, 0, NULL));
}

/* An engine on the device: z, noisy inputs and outputs stay there, and no draw waits. */
TEST(device_asks_and_tells_in_its_own_memory)
{
    surface here = {0}, there = {0};
    cudaStream_t stream = new_stream();
    void *const z = new_memory(0, sizeof where), *const elsewhere = new_memory(2, sizeof where),
                *const x = new_memory(0, BATCH * INPUTS * sizeof(float)),
                *const y = new_memory(0, 2 * BATCH * OUTPUTS * sizeof(float));
    certreg_estimator *cpu = make(NULL, &here), *device = make(open_device(0, stream), &there);
    certreg_certificate a[ASKED], b[ASKED];
    ck_assert_int_eq(cudaMemcpyAsync(z, where, sizeof where, cudaMemcpyHostToDevice, stream), 0);
    KIT_OK(cpu, certreg_estimator_begin(cpu, where, 0.3, 5));
    KIT_OK(device, certreg_estimator_begin(device, z, 0.3, 5));
    for (uint64_t i = 0; i < SAMPLES; i += BATCH) {
        const size_t count = SAMPLES - i < BATCH ? (size_t)(SAMPLES - i) : BATCH;
        const int waited = emulated()->waits;
        const certreg_batch batch = {
            .rows = count, .inputs = INPUTS, .columns = OUTPUTS, .x = x, .y = y, .stream = stream};
        KIT_OK(device, certreg_estimator_draw(device, i, count, x));
        ck_assert_int_eq(emulated()->waits, waited);
        ck_assert_int_eq(on_device(&there, &batch), 0);
        KIT_OK(device, certreg_estimator_record(device, i, count, y));
    }
    ask(cpu, SAMPLES, a), ask(device, SAMPLES, b);
    for (int i = 0; i < ASKED; i++) {
        ck_assert_double_gt(b[i].radius, 0);
        ck_assert_double_eq_tol(a[i].radius, b[i].radius, 1e-9 * a[i].radius);
        ck_assert_uint_eq(a[i].input_digest, b[i].input_digest);
    }
    KIT_REFUSED(device, certreg_estimator_record(device, 0, BATCH + 1, y), CERTREG_E_INVALID,
                "at most model.batch");
    KIT_REFUSED(device, certreg_estimator_begin(device, elsewhere, 0.3, 5), CERTREG_E_INVALID,
                "z is memory of another device than 0");
}

TEST(device_of_the_calling_thread_stays_current)
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
    kit_close_all();
    ck_assert(!cudaGetDevice(&now) && now == 1);
}

TEST(device_cancels_and_deadlines_hold_between_batches)
{
    surface there = {.cancel_at = 4};
    certreg_estimator *e = begun_there(&there);
    there.cancelled = e;
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_CANCELLED);
    ck_assert_uint_eq(there.calls, 4);
    /* the batch that was drawn ahead is still good */
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    ck_assert_uint_eq(there.calls, SAMPLES / BATCH);
    certreg_estimator_set_deadline(e, 1e-9);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 1));
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_DEADLINE);
}

/* ---- attacks */
enum { ATTACK_CALLS = 800 };

static certreg_attack_result attacked(certreg_estimator *e, certreg_attack *a, float *shift,
                                      double *gradient)
{
    const certreg_question q = kit_question(0.5);
    const certreg_attack_options o = {.struct_size = sizeof o, .calls = ATTACK_CALLS};
    certreg_attack_result r = {.struct_size = sizeof r};
    KIT_OK(e, certreg_estimator_begin(e, where, 0.4, 5));
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    const certreg_status status = certreg_attack_run(a, &q, &o, shift, &r);
    ck_assert_msg(!status, "%s", certreg_attack_error(a)->text);
    ck_assert_int_eq(certreg_attack_gradient(a, &q, CERTREG_SIDE_LOWER, gradient), CERTREG_OK);
    ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
    return r;
}

TEST(device_attack_finds_what_the_cpu_finds)
{
    surface here = {0}, there = {0};
    certreg_estimator *cpu = make(NULL, &here), *device = make(open_device(0, NULL), &there);
    const certreg_attack_plan p = {.struct_size = sizeof p, .max_calls = ATTACK_CALLS};
    size_t host_bytes, device_bytes, before = emulated()->taken;
    ck_assert_int_eq(certreg_attack_size(device, &p, &host_bytes, &device_bytes), CERTREG_OK);
    certreg_attack *a = attack_on(cpu, ATTACK_CALLS), *b = attack_on(device, ATTACK_CALLS);
    ck_assert_uint_gt(device_bytes, 0);
    ck_assert_uint_eq(emulated()->taken - before, device_bytes);
    float shift[2][INPUTS];
    double gradient[2][INPUTS];
    const certreg_attack_result r = attacked(cpu, a, shift[0], gradient[0]),
                                s = attacked(device, b, shift[1], gradient[1]);
    ck_assert(r.calls == s.calls && r.side == s.side && here.calls == there.calls);
    ck_assert_double_eq_tol(r.radius, s.radius, 1e-6);
    ck_assert_double_eq_tol(r.forecast, s.forecast, 1e-6);
    for (size_t j = 0; j < INPUTS; j++) {
        ck_assert_double_eq_tol((double)shift[0][j], (double)shift[1][j], 1e-5);
        ck_assert_double_eq_tol(gradient[0][j], gradient[1][j], 1e-6);
    }
    ck_assert(!there.strange);
    ck_assert_uint_eq(emulated()->most_taken, emulated()->taken); /* nothing after create */
}

/* ---- several threads: each with a stream of its own, or all on one device that they share */
enum { THREADS = 4, TRIES = 12, FEW = 300 };
typedef struct member {
    pthread_t id;
    certreg_backend *shared;
    double expected;
    int answered, wrong;
} member;

static certreg_status certify_few(certreg_backend *backend, surface *s, double *radius)
{
    const certreg_model m = model_of(s, backend != NULL);
    const certreg_plan p = {.struct_size = sizeof p, .max_samples = FEW};
    const certreg_question q = kit_question(0.6);
    certreg_certificate c = kit_certificate();
    certreg_estimator *e = NULL;
    certreg_status status = certreg_estimator_create(backend, &m, &p, NULL, &e);
    if (!status) status = certreg_estimator_begin(e, where, 0.3, 0);
    if (!status) status = certreg_certify(e, FEW, &q, 1, &c);
    certreg_estimator_destroy(e);
    return *radius = c.radius, status;
}

static void *be_member(void *of)
{
    member *m = of;
    certreg_backend *own = NULL;
    certreg_error why;
    if (!m->shared) m->wrong += try_emulated(0, NULL, &why, &own) != CERTREG_OK;
    for (int i = 0; i < TRIES; i++) {
        surface there = {0};
        double radius = 7;
        const certreg_status status = certify_few(own ? own : m->shared, &there, &radius);
        const int busy = m->shared && status == CERTREG_E_BUSY && radius == 0;
        m->answered += !status;
        m->wrong += there.strange || !(busy || (!status && radius == m->expected));
    }
    certreg_backend_close(own);
    return NULL;
}

START_TEST(device_answers_threads_right_or_is_busy)
{
    surface alone = {0};
    double expected = 0;
    int answered = 0;
    ck_assert_int_eq(certify_few(NULL, &alone, &expected), CERTREG_OK);
    ck_assert_double_gt(expected, 0);
    certreg_backend *shared = _i ? open_device(0, NULL) : NULL;
    member m[THREADS];
    for (int i = 0; i < THREADS; i++) {
        m[i] = (member){.shared = shared, .expected = expected};
        ck_assert_int_eq(pthread_create(&m[i].id, NULL, be_member, m + i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(m[i].id, NULL);
        ck_assert_int_eq(m[i].wrong, 0);
        answered += m[i].answered;
    }
    ck_assert_int_gt(answered, 0); /* each of them may be unlucky */
    kit_close_all();
    nothing_stays();
}
END_TEST

FIXTURE(as_new, nothing_stays)
KIT_CLOSES_HANDLES

int main(void)
{
    Suite *suite = kit_suite("devices");
    TCase *threads = kit_case_with(suite, "threads", as_new, kit_close_all);
    tcase_add_loop_test(threads, device_answers_threads_right_or_is_busy, 0, 2);
    return kit_run(suite);
}
