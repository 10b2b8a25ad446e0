/* What goes wrong on a device is a status: models, memory, a lost device, a capturing stream,
 * every call of the runtime, others who use the device, and a fork. */
#include "support/device_model.h"
#include "support/attack_kit.h"
#include <sys/wait.h>

/* ---- failures */
TEST(device_reports_failures_of_the_model_as_the_cpu_does)
{
    surface there = {.fail_at = 3, .skip_at = 5};
    certreg_estimator *e = begun_there(&there);
    /* with work in flight */
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_MODEL_FAILED);
    ck_assert_int_eq(certreg_estimator_error(e)->code, 17);
    ck_assert_int_eq(certreg_estimator_error(e)->sample, 2 * BATCH);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_NOT_FINITE); /* a row left out
                                                                                   */
    ck_assert_int_eq(certreg_estimator_error(e)->row, 5);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 1));
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
}

TEST(device_without_memory_is_a_status_at_create)
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
    ck_assert_msg(strstr(why.text, "out of memory") && why.code == 2, "%s", why.text);
    m.batch = 10, p.max_samples = 1000, p.constraints = CERTREG_CONSTRAINTS_ECM;
    kit_create(backend, &m, &p);
}

TEST(device_that_is_lost_stays_lost_and_can_be_closed)
{
    surface there = {.crash_at = 3};
    certreg_estimator *e = begun_there(&there);
    certreg_question q = kit_question(0.6);
    certreg_certificate c = kit_certificate();
    c.radius = 9;
    KIT_STATUS(e, certreg_certify(e, SAMPLES, &q, 1, &c), CERTREG_E_DEVICE_FAILED);
    ck_assert_double_eq(c.radius, 0);
    ck_assert_int_eq(certreg_estimator_error(e)->code, 700);
    KIT_SAYS(certreg_estimator_error(e), "illegal memory access");
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_DEVICE_FAILED);
    KIT_STATUS(e, certreg_estimator_begin(e, where, 0.3, 1), CERTREG_E_DEVICE_FAILED);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 1), CERTREG_E_WRONG_STATE); /* no input was begun
                                                                              */
}

/* Each call of the runtime in turn. What the model did with earlier batches may be why it fails. */
TEST(device_failure_after_main_samples_fixes_their_number)
{
    surface there = {0};
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *e = make(backend, &there);
    const certreg_question q = kit_question(0.6);
    certreg_certificate c = kit_certificate();
    certreg_run run = {.struct_size = sizeof run};
    int after = 0, n = 0;
    certreg_status failed;
    do {
        KIT_OK(e, certreg_estimator_begin(e, where, 0.3, (uint64_t)n));
        emulated()->calls = 0, emulated()->fail_at = ++n, emulated()->fail_code = 1;
        failed = certreg_estimator_sample(e, 0, SAMPLES);
        emulated()->fail_at = 0;
        KIT_OK(e, certreg_estimator_info(e, &run));
        if (!failed || run.samples <= run.pilot) continue;
        KIT_STATUS(e, certreg_certify(e, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
        after++;
    } while (failed);
    ck_assert_int_gt(after, 0);
}

TEST(device_attack_that_fails_claims_nothing)
{
    surface there = {.crash_at = 30};
    const certreg_question q = kit_question(0.5);
    const certreg_attack_options o = {.struct_size = sizeof o, .calls = 800};
    certreg_attack_result r = {.struct_size = sizeof r, .radius = 0};
    certreg_estimator *e = make(open_device(0, NULL), &there);
    certreg_attack *a = attack_on(e, 800);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.4, 5));
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    ck_assert_uint_lt(there.calls, there.crash_at);
    ck_assert_int_eq(certreg_attack_run(a, &q, &o, NULL, &r), CERTREG_E_DEVICE_FAILED);
    ck_assert_double_eq(r.radius, INFINITY);
    ck_assert_int_eq(r.outcome, CERTREG_ATTACK_NOT_BROKEN);
}

/* The caller works on another device, where it has no context even. */
TEST(device_that_is_lost_frees_its_own_context_only)
{
    surface there = {.crash_at = 1};
    ck_assert_int_eq(cudaSetDevice(1), 0);
    emulated()->contexts = 0;
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *e = make(backend, &there);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    KIT_STATUS(e, certreg_estimator_sample(e, 0, SAMPLES), CERTREG_E_DEVICE_FAILED);
    emulated()->contexts = 0;
    kit_close_all();
    ck_assert_uint_eq(emulated()->contexts, 1u << 0);
    ck_assert_int_eq(emulated()->strays, 0);
}

static const char *const capturing = "the stream is capturing a graph; end the capture";

TEST(device_stream_is_refused_only_while_it_is_capturing)
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
    ck_assert_msg(strstr(why.text, capturing) && why.code == cudaErrorStreamCaptureUnsupported,
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
    KIT_REFUSED(e, certreg_estimator_sample(e, 300, 300), CERTREG_E_WRONG_STATE, capturing);
    KIT_STATUS(e, certreg_estimator_draw(e, 0, 1, x), CERTREG_E_WRONG_STATE);
    KIT_UNMADE(&why, certreg_estimator_create(backend, &m, &p, &why, &other), CERTREG_E_WRONG_STATE,
               capturing);
    emulated_capture(stream, 0);
    const certreg_question q = kit_question(0.6);
    certreg_certificate c = kit_certificate(), right = c;
    c = kit_ask(e, SAMPLES, q);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    right = kit_ask(e, SAMPLES, q);
    ck_assert(c.radius == right.radius && c.radius > 0);
    kit_close_all();
    ck_assert(!cudaFree(x) && !cudaStreamDestroy(stream));
}

/* It is no mistake of the caller's. */
TEST(device_that_is_lost_in_a_check_of_memory_is_a_status)
{
    surface there = {0};
    certreg_estimator *e = begun_there(&there);
    void *x = NULL;
    ck_assert_int_eq(cudaMalloc(&x, INPUTS * sizeof(float)), 0);
    /* after entering */
    emulated()->calls = 0, emulated()->fail_at = 3, emulated()->fail_code = 700;
    KIT_STATUS(e, certreg_estimator_draw(e, 0, 1, x), CERTREG_E_DEVICE_FAILED);
    ck_assert_int_eq(certreg_estimator_error(e)->code, 700);
    ck_assert(cudaFree(x) == 700);
}

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

TEST_TIMES(device_failure_of_every_runtime_call_is_a_status, 3)
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

TEST(device_shared_by_estimators_is_taken_in_turns)
{
    surface theirs = {0};
    pair p = {.backend = open_device(0, NULL)};
    certreg_model m = model_of(NULL, 1);
    const certreg_plan plan = plan_of(SAMPLES);
    m.eval = asks_another, m.user = &p;
    p.other = make(p.backend, &theirs);
    certreg_estimator *e = kit_create(p.backend, &m, &plan);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 1));
    const certreg_certificate a = kit_ask(e, SAMPLES, kit_question(0.6));
    ck_assert_int_eq(p.asked, CERTREG_E_BUSY);
    ck_assert_ptr_nonnull(strstr(p.why, "backend"));
    ck_assert_int_eq(p.made, CERTREG_E_BUSY);
    ck_assert_ptr_nonnull(strstr(p.told, "backend"));
    KIT_OK(p.other, certreg_estimator_begin(p.other, where, 0.3, 1)); /* its turn */
    const certreg_certificate b = kit_ask(p.other, SAMPLES, kit_question(0.6));
    ck_assert_mem_eq(&a, &b, sizeof a);
    ck_assert(!p.s.strange && !theirs.strange);
}

/* Devices do not survive a fork: whatever the child does, nothing is asked of them. */
TEST(device_is_left_alone_by_a_forked_child)
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
        kit_close_all();
        _exit(good && emulated()->calls == calls ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(device_numbers_and_module_versions_are_checked)
{
    certreg_error why;
    certreg_backend *backend = NULL;
    char path[4096];
    ck_assert_int_eq(try_emulated(EMULATED_DEVICES, NULL, &why, &backend), CERTREG_E_NO_DEVICE);
    ck_assert_int_eq(why.code, 101);
    ck_assert_ptr_null(backend);
    ck_assert_int_eq(
        certreg_backend_open(path_beside("old_module.so", path), 0, NULL, &why, &backend),
        CERTREG_E_VERSION);
    ck_assert_ptr_null(backend);
    /* no module */
    KIT_UNMADE(&why,
               certreg_backend_open(path_beside("../libcertreg.so", path), 0, NULL, &why, &backend),
               CERTREG_E_NO_BACKEND, "is not a module");
}

FIXTURE(as_new, nothing_stays)
KIT_MAIN("failures of devices")
