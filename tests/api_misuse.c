/* Handles used where they must not be: by a second thread, by a callback of theirs, by another
 * version of the library, in a forked child. Whoever asks is told at once, gets outputs that claim
 * nothing, and disturbs nobody. */
#include "support/api_kit.h"
#include <certreg/attack.h>
#include <certreg/denoiser.h>
#include <certreg/interval.h>
#include <certreg/queue.h>
#include <certreg/worst_function.h>
#include <certreg/service.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- every call on a handle, made where it has to be refused */
enum { INPUTS = 3, OUTPUTS = 2, SAMPLES = 600 };
static const float z[INPUTS] = {0.5f, -1, 2};
static const double sigmas[2] = {0.25, 0.5};

typedef struct refusals { /* who asks, and the first thing that was wrong */
    certreg_estimator *e;
    certreg_solver *s;
    certreg_bisection *b;
    certreg_attack *a;
    certreg_queue *q;
    certreg_denoiser *w;
    certreg_service *d;
    certreg_status expected;
    const char *wrong;
    int asked;
} refusals;

static void expect(refusals *r, const char *name, certreg_status status, int claims_nothing)
{
    r->asked++;
    if (!r->wrong && (status != r->expected || !claims_nothing)) r->wrong = name;
}

#define EXPECT(r, call, claims_nothing)           \
    do {                                          \
        const certreg_status status = (call);     \
        expect(r, #call, status, claims_nothing); \
    } while (0)

static void ask_certificates(refusals *r)
{
    const certreg_question q[OUTPUTS] = {kit_question(1),
                                         {.struct_size = sizeof *q, .tolerance = 1, .output = 1}};
    certreg_certificate c[4] = {kit_stale(), kit_stale(), kit_stale(), kit_stale()},
                        bonferroni = kit_stale();
    EXPECT(r, certreg_certify(r->e, SAMPLES, q, 2, c),
           kit_is_blank(c, r->expected) && kit_is_blank(c + 1, r->expected));
    c[0] = c[1] = kit_stale();
    EXPECT(r, certreg_output_bounds(r->e, SAMPLES, q, 2, 0.1, c),
           kit_is_blank(c, r->expected) && kit_is_blank(c + 1, r->expected));
    c[0] = c[1] = kit_stale();
    EXPECT(r, certreg_certify_outputs(r->e, SAMPLES, q, 2, c, &bonferroni),
           kit_is_blank(c, r->expected) && kit_is_blank(c + 1, r->expected) &&
               kit_is_blank(&bonferroni, r->expected));
}

static void ask_intervals(refusals *r)
{
    double score = 7, truth = 0, lo[1], hi[1];
    int32_t inside = 0;
    certreg_calibration c = {.struct_size = sizeof c, .capacity = 1, .scores = &score};
    const certreg_rule rule = {.struct_size = sizeof rule};
    certreg_interval set = {.struct_size = sizeof set, .lo = 1, .hi = 2};
    EXPECT(r, certreg_estimator_calibrate(r->e, &c, &truth), c.count == 0 && score == 7);
    EXPECT(r, certreg_estimator_interval(r->e, &c, &rule, 0, lo, hi, 1, &set),
           set.lo == -INFINITY && set.hi == INFINITY);
    EXPECT(r, certreg_estimator_covers(r->e, &c, &rule, &truth, &inside), inside == 1);
}

/* What needs an input. */
static void ask_about_an_input(refusals *r)
{
    certreg_question q = kit_question(1), aims = q;
    certreg_bounds bounds = {
        .struct_size = sizeof bounds, .constraints = CERTREG_CONSTRAINT_MEAN, .mean_lo = 7};
    certreg_forecast forecast = {.struct_size = sizeof forecast, .expected_samples = 7};
    certreg_run run = {.struct_size = sizeof run, .samples = 7};
    float x[INPUTS] = {0};
    double prediction = 7;
    size_t size = 0;
    aims.target = asks_target(0.1);
    int32_t depends = 7;
    EXPECT(r, certreg_model_check(r->e, 0, &depends), depends == CERTREG_DEPENDENCE_NONE);
    EXPECT(r, certreg_estimator_sample(r->e, 0, SAMPLES), 1);
    EXPECT(r, certreg_estimator_draw(r->e, 0, 1, x), x[0] == 0);
    EXPECT(r, certreg_estimator_record(r->e, 0, 1, x), 1);
    EXPECT(r, certreg_estimator_export(r->e, NULL, &size), size == 0);
    EXPECT(r, certreg_estimator_import(r->e, x, 4), 1);
    EXPECT(r, certreg_estimator_bounds(r->e, &q, CERTREG_SIDE_UPPER, &bounds),
           bounds.constraints == 0 && bounds.mean_lo == 0);
    EXPECT(r, certreg_estimator_prediction(r->e, &q, &prediction), prediction == 7);
    EXPECT(r, certreg_estimator_estimate(r->e, &q, &prediction), prediction == 7);
    EXPECT(r, certreg_estimator_forecast(r->e, &aims, &forecast),
           forecast.expected_samples == INFINITY);
    EXPECT(r, certreg_estimator_info(r->e, &run), run.samples == 0);
    EXPECT(r, certreg_audit_next(r->e, x, &size), size == 0);
    EXPECT(r, certreg_audit_give(r->e, x), 1);
    ask_certificates(r);
    ask_intervals(r);
}

static void ask_all(refusals *r)
{
    EXPECT(r, certreg_estimator_begin(r->e, z, 0.5, 9), 1);
    EXPECT(r, certreg_estimator_begin_level(r->e, z, 0.5, 9, 1), 1);
    EXPECT(r, certreg_estimator_set_deadline(r->e, 1e-9), 1);
    const certreg_question q[OUTPUTS] = {kit_question(1), QUESTION(.tolerance = 1, .output = 1)};
    certreg_certificate c[4] = {kit_stale(), kit_stale(), kit_stale(), kit_stale()};
    EXPECT(r, certreg_certify_sigmas(r->e, z, sigmas, 2, 0, SAMPLES, q, 2, c),
           kit_is_blank(c, r->expected) && kit_is_blank(c + 3, r->expected));
    c[0] = kit_stale();
    EXPECT(r, certreg_certify_masks(r->e, z, q, c), kit_is_blank(c, r->expected));
    ask_about_an_input(r);
}

static void ask_service(refusals *r)
{
    certreg_service_log log = STRUCT(certreg_service_log, .ticks = 7);
    certreg_tick tick = STRUCT(certreg_tick, .source = CERTREG_SOURCE_ANSWERED);
    certreg_certificate c = kit_stale();
    double action = 7;
    float noisy = 7;
    const certreg_question q = kit_question(1);
    const certreg_service_plan p = {.struct_size = sizeof p};
    certreg_service *none = NULL;
    size_t bytes = 7;
    EXPECT(r, certreg_service_create(r->e, &q, &c, &p, NULL, &none), !none);
    EXPECT(r, certreg_service_size(r->e, &q, &p, NULL, &bytes), bytes == 0);
    EXPECT(r, certreg_service_start(r->d, 0), 1);
    EXPECT(r, certreg_service_act(r->d, z, &action, &tick),
           tick.source == CERTREG_SOURCE_FAILED && (action == 7 || isnan(action)));
    EXPECT(r, certreg_service_sense(r->d, z, &noisy, &tick), noisy == 7);
    EXPECT(r, certreg_service_anchor(r->d, z, &c), 1);
    EXPECT(r, certreg_service_certificate(r->d, &c), kit_is_blank(&c, r->expected));
    EXPECT(r, certreg_service_info(r->d, &log), log.ticks == 0);
}

/* The other handles. */
static void ask_beside(refusals *r)
{
    const certreg_attack_plan p = {.struct_size = sizeof p};
    const certreg_bounds u =
        BOUNDS(.constraints = CERTREG_CONSTRAINT_VARIANCE, .sigma = 1, .variance_hi = 1);
    certreg_mean_change change = {.struct_size = sizeof change};
    certreg_radius radius = {.struct_size = sizeof radius, .radius = 7}, above = radius;
    certreg_attack_result result = {.struct_size = sizeof result};
    certreg_solve_info info = {.struct_size = sizeof info, .points = 7};
    certreg_attack *none = NULL;
    EXPECT(r, certreg_attack_create(r->e, &p, NULL, &none), !none);
    EXPECT(r, certreg_attack_run(r->a, NULL, NULL, NULL, &result), 1);
    EXPECT(r, certreg_solver_info(r->s, &info), !r->s || info.points == 0);
    EXPECT(r, certreg_solver_worst_case(r->s, &u, 0, 1, &change), change.drop == INFINITY);
    EXPECT(r, certreg_bisection_within(r->b, &u, 0, 1, &radius), radius.radius == 0);
    EXPECT(r, certreg_bisection_above(r->b, &u, NULL, 1, 0, &above), above.radius == 0);
    ask_service(r);
}

/* And the rest: handles that a forked child has no use for, or may use. */
static void ask_rest(refusals *r)
{
    const certreg_question q = kit_question(1);
    const certreg_attack_plan p = {.struct_size = sizeof p};
    const certreg_bounds u = {.struct_size = sizeof u};
    const certreg_queue_input in = {.struct_size = sizeof in, .z = z};
    certreg_solve_info info = {.struct_size = sizeof info, .points = 7};
    certreg_worst_function worst = {.struct_size = sizeof worst};
    certreg_queue_call call = {.struct_size = sizeof call, .state = 7};
    certreg_queue_result result = {.struct_size = sizeof result, .state = 7};
    certreg_denoiser_facts facts = {.struct_size = sizeof facts, .inputs = 7};
    float x[INPUTS] = {0}, y[INPUTS] = {7};
    double gradient = 7;
    size_t bytes = 7;
    int32_t full = 7;
    EXPECT(r, certreg_attack_size(r->e, &p, &bytes, NULL), bytes == 0);
    EXPECT(r, certreg_attack_gradient(r->a, &q, 1, &gradient), gradient == 7);
    EXPECT(r, certreg_solver_worst_function(r->s, &u, 0, 1, 1, &worst), worst.bound == INFINITY);
    EXPECT(r, certreg_bisection_info(r->b, &info), !r->b || info.points == 0);
    EXPECT(r, certreg_queue_add(r->q, &in, &full), full == 0);
    EXPECT(r, certreg_queue_run(r->q), 1);
    EXPECT(r, certreg_queue_next(r->q, 0, &call), call.state == 0);
    EXPECT(r, certreg_queue_give(r->q, 1, y, 0, NULL), 1);
    EXPECT(r, certreg_queue_take(r->q, &result), result.state == 0);
    EXPECT(r, certreg_queue_drop(r->q, NULL), 1);
    EXPECT(r, certreg_denoiser_apply(r->w, x, 1, y), *y == 7);
    EXPECT(r, certreg_denoiser_info(r->w, &facts), facts.inputs == 0);
    EXPECT(r, certreg_denoiser_export(r->w, NULL, &bytes), 1);
}

static void destroy_all(const refusals *r)
{
    certreg_denoiser_destroy(r->w);
    certreg_queue_destroy(r->q);
    certreg_service_destroy(r->d);
    certreg_attack_destroy(r->a);
    certreg_bisection_destroy(r->b);
    certreg_solver_destroy(r->s);
    certreg_estimator_destroy(r->e);
}

/* ---- an estimator to make them on */
static certreg_estimator *make(certreg_backend *backend, certreg_eval eval, void *user)
{
    const certreg_model m = kit_model(eval, user, INPUTS, OUTPUTS);
    const certreg_plan p = kit_plan(SAMPLES);
    return kit_create(backend, &m, &p);
}

static certreg_certificate certified(certreg_estimator *e)
{
    const certreg_question q = kit_question(1);
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_estimator_begin(e, z, 0.25, 1));
    KIT_OK(e, certreg_certify(e, SAMPLES, &q, 1, &c));
    return c;
}

/* With all handles, idle. */
static refusals open_all(certreg_estimator *e, certreg_status expected)
{
    const certreg_attack_plan p = {.struct_size = sizeof p};
    const certreg_service_plan d = {.struct_size = sizeof d};
    const certreg_question q = kit_question(1);
    certreg_estimator *other = make(NULL, kit_identity, NULL);
    const certreg_certificate c = certified(other);
    refusals r = {.e = e, .expected = expected};
    KIT_OK(e, certreg_estimator_begin(e, z, 0.25, 1));
    ck_assert_int_eq(certreg_attack_create(e, &p, NULL, &r.a), CERTREG_OK);
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, &r.s), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, &r.b), CERTREG_OK);
    ck_assert_int_eq(certreg_service_create(other, &q, &c, &d, NULL, &r.d), CERTREG_OK);
    return r;
}

static certreg_certificate undisturbed(void)
{
    certreg_estimator *e = make(NULL, kit_identity, NULL);
    const certreg_certificate c = certified(e);
    ck_assert(c.radius > 0);
    return c;
}

/* ---- a model that asks, or lets another thread ask */
typedef struct asker {
    refusals r;
    int on_a_thread, by_progress, done;
    const char *error; /* what the handle's error said meanwhile */
    certreg_status told;
} asker;

static void *ask(void *argument)
{
    asker *a = argument;
    ask_all(&a->r);
    const certreg_error *error = certreg_estimator_error(a->r.e);
    a->told = error->status;
    a->error = error->text;
    return NULL;
}

static void ask_once(asker *a)
{
    pthread_t thread;
    if (a->done++) return;
    if (!a->on_a_thread) {
        ask(a);
        return;
    }
    ck_assert_int_eq(pthread_create(&thread, NULL, ask, a), 0);
    pthread_join(thread, NULL);
}

static int model(void *user, const certreg_batch *b)
{
    asker *a = user;
    if (!a->by_progress) ask_once(a);
    return kit_identity(NULL, b);
}

static int progress(void *user, uint64_t done, uint64_t total)
{
    asker *a = user;
    (void)done, (void)total;
    if (a->by_progress) ask_once(a);
    return 0;
}

static certreg_estimator *make_asking(asker *a)
{
    const certreg_model m = kit_model(model, a, INPUTS, OUTPUTS);
    certreg_plan p = KIT_PLAN(SAMPLES, .progress = progress, .progress_user = a);
    return kit_create(NULL, &m, &p);
}

/* From the model, the model with a second thread, progress, progress with a second thread. */
TEST_TIMES(misuse_during_a_running_call_is_busy, 4)
{
    asker a = {.on_a_thread = _i % 2, .by_progress = _i / 2};
    const certreg_certificate wanted = undisturbed();
    a.r.expected = CERTREG_E_BUSY;
    a.r.e = make_asking(&a);
    const certreg_certificate got = certified(a.r.e);
    ck_assert_msg(!a.r.wrong, "%s", a.r.wrong);
    ck_assert_int_gt(a.r.asked, 0);
    ck_assert_int_eq(a.told, CERTREG_E_BUSY);
    ck_assert_ptr_nonnull(strstr(a.error, "running"));
    ck_assert_mem_eq(&got, &wanted, sizeof got);
    ck_assert_str_eq(certreg_estimator_error(a.r.e)->text, "");
}

/* The error of a call that fails is its own, whoever asked meanwhile. */
static int asks_and_fails(void *user, const certreg_batch *b)
{
    (void)b;
    ask_once(user);
    return 42;
}

TEST_TIMES(misuse_during_a_running_call_leaves_its_error, 2)
{
    asker a = {.on_a_thread = _i};
    const certreg_question q = kit_question(1);
    certreg_certificate c = kit_certificate();
    a.r.expected = CERTREG_E_BUSY;
    a.r.e = make(NULL, asks_and_fails, &a);
    KIT_OK(a.r.e, certreg_estimator_begin(a.r.e, z, 0.25, 1));
    KIT_STATUS(a.r.e, certreg_certify(a.r.e, SAMPLES, &q, 1, &c), CERTREG_E_MODEL_FAILED);
    ck_assert_msg(!a.r.wrong, "%s", a.r.wrong);
    ck_assert_int_eq(certreg_estimator_error(a.r.e)->status, CERTREG_E_MODEL_FAILED);
    ck_assert_int_eq(certreg_estimator_error(a.r.e)->code, 42);
}

TEST(misuse_before_the_first_begin_is_a_wrong_state)
{
    asker a = {.r = {.expected = CERTREG_E_WRONG_STATE}};
    a.r.e = make_asking(&a);
    ask_about_an_input(&a.r);
    ck_assert_msg(!a.r.wrong, "%s", a.r.wrong);
    ck_assert_int_eq(a.done, 0); /* the model is not called */
    KIT_SAYS(certreg_estimator_error(a.r.e), "begin");
}

/* Without a handle too, nothing stale survives a call. */
TEST(misuse_of_null_handles_is_invalid)
{
    refusals r = {.expected = CERTREG_E_INVALID};
    ask_all(&r), ask_beside(&r), ask_rest(&r);
    ck_assert_msg(!r.wrong, "%s", r.wrong);
    certreg_estimator_cancel(NULL), certreg_queue_cancel(NULL);
    destroy_all(&r);
    ck_assert(!certreg_estimator_error(NULL) && !certreg_queue_error(NULL) &&
              !certreg_attack_error(NULL) && !certreg_solver_error(NULL) &&
              !certreg_bisection_error(NULL));
}

/* ---- handles of another version in the same process: only their first 8 bytes have a meaning */
static int say(const refusals *r, const char *word)
{
    const certreg_error *const errors[] = {
        certreg_estimator_error(r->e), certreg_solver_error(r->s), certreg_bisection_error(r->b),
        certreg_attack_error(r->a), certreg_service_error(r->d)};
    int count = 0;
    for (int i = 0; i < KIT_ROWS(errors); i++)
        count += errors[i]->status == r->expected && strstr(errors[i]->text, word);
    return count == KIT_ROWS(errors);
}

/* Functions that return a status and begin with a handle of a kind that is destroyed. */
static int count_functions(void)
{
    int count = 0;
    FILE *headers =
        popen("kinds=$(sed -n 's/.* void certreg_\\(\\w*\\)_destroy.*/\\1/p' include/certreg/*.h | "
              "paste -sd '|') && cat include/certreg/*.h | tr -s '\\n ' ' ' | grep -oE "
              "\"certreg_status \\w+\\( ?(const )?certreg_($kinds) \\*\" | wc -l",
              "r");
    ck_assert_ptr_nonnull(headers);
    ck_assert_int_eq(fscanf(headers, "%d", &count), 1);
    pclose(headers);
    return count;
}

TEST(misuse_of_handles_of_another_version_is_refused)
{
    const uint64_t mark = UINT64_C(0x6372e9) << 32, next = mark | (certreg_version() + 100);
    uint64_t own;
    certreg_solver *solver;
    certreg_bisection *bisection;
    kit_open_solver(&solver, &bisection);
    memcpy(&own, solver, sizeof own);
    ck_assert_uint_eq(own, mark | certreg_version());
    void *const h = malloc(sizeof next);
    refusals r = {
        .e = h, .s = h, .b = h, .a = h, .q = h, .w = h, .d = h, .expected = CERTREG_E_VERSION};
    memcpy(h, &next, sizeof next);
    ask_all(&r), ask_beside(&r), ask_rest(&r);
    ck_assert_msg(!r.wrong, "%s", r.wrong);
    ck_assert_msg(r.asked == count_functions(), "let ask_rest make the new call");
    ck_assert(say(&r, "another version of the library"));
    KIT_SAYS(certreg_queue_error(h), "this is version");
    certreg_estimator_cancel(h), certreg_queue_cancel(h);
    destroy_all(&r); /* whose memory only their maker knows */
    ck_assert_mem_eq(h, &next, sizeof next);
    free(h);
}

/* ---- handles in a forked child: none hangs, it may destroy what it cannot use, and the parent
 * goes on */
typedef struct forked {
    refusals r;
    certreg_backend *threads;
    int done, child;
} forked;

/* What a child finds wrong; 0: nothing. */
static int child_finds(refusals *r, certreg_backend *threads)
{
    const certreg_model m = kit_model(kit_identity, NULL, INPUTS, 1);
    const certreg_plan p = kit_plan(SAMPLES);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *none = NULL;
    r->expected = CERTREG_E_WRONG_STATE;
    ask_all(r), ask_beside(r);
    if (r->wrong) fprintf(stderr, "in the child: %s\n", r->wrong);
    if (r->wrong) return 1;
    if (!say(r, "fork")) return 2;
    if (certreg_estimator_create(threads, &m, &p, &why, &none) != CERTREG_E_WRONG_STATE || none ||
        !strstr(why.text, "fork"))
        return 3;
    certreg_backend_close(threads);
    destroy_all(r);
    return certified(make(NULL, kit_identity, NULL)).radius > 0 ? 0 : 4;
}

static int child_of(forked *f)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(child_finds(&f->r, f->threads));
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static int forks(void *user, const certreg_batch *b)
{
    forked *f = user;
    if (!f->done++) f->child = child_of(f);
    return kit_identity(NULL, b);
}

#ifdef __SANITIZE_THREAD__
enum { WAYS = 2 }; /* it knows nothing of threads that a fork leaves behind */
#else
enum { WAYS = 4 };
#endif

/* Idle handles, and handles whose call was running at the fork; alone, and on the threads. */
TEST_TIMES(fork_makes_every_handle_a_wrong_state_in_the_child, WAYS)
{
    forked f = {.done = _i % 2 == 0, .threads = kit_backend(2)};
    f.r = open_all(make(_i / 2 ? f.threads : NULL, forks, &f), CERTREG_OK);
    const certreg_certificate wanted = undisturbed();
    if (f.done) f.child = child_of(&f);
    const certreg_certificate got = certified(f.r.e); /* the parent goes on */
    ck_assert_int_eq(f.child, 0);
    ck_assert_mem_eq(&got, &wanted, sizeof got);
    f.r.e = NULL; /* which the kit closes */
    destroy_all(&f.r);
}

/* ---- other handles in a callback */
static certreg_certificate answered;

static int asks_another(void *user, const certreg_batch *b)
{
    refusals *others = user;
    if (!others->asked++) answered = certified(others->e);
    return kit_identity(NULL, b);
}

TEST(certify_callback_may_use_other_handles)
{
    refusals others = {.e = make(NULL, kit_identity, NULL)};
    const certreg_certificate wanted = undisturbed(),
                              got = certified(make(NULL, asks_another, &others));
    ck_assert_mem_eq(&answered, &wanted, sizeof wanted);
    ck_assert_mem_eq(&got, &wanted, sizeof got);
}

/* ---- a model that writes to what the caller has handed over */
enum { ASKED = 3, VAST = 0x7fffff8 };
typedef struct vandal {
    certreg_question q[ASKED];
    certreg_certificate each[2 * ASKED], combined;
    int how;
} vandal;

static int spoil(void *user, const certreg_batch *b)
{
    vandal *v = user;
    for (size_t i = 0; i < b->rows * b->columns; i++) b->y[i] = 0;
    if (v->how == 0) memset(v->each, 0, sizeof v->each);
    if (v->how == 1) v->each->struct_size = v->combined.struct_size = VAST;
    if (v->how == 2) v->each[ASKED].struct_size = VAST;
    if (v->how == 3) v->q->struct_size = VAST;
    if (v->how == 4) v->q[1].output = VAST;
    return v->how == 5 ? v->each->struct_size = VAST, 1 : 0;
}

static vandal tidy(int how)
{
    vandal v = {.how = how};
    for (int i = 0; i < ASKED; i++)
        v.q[i] = (certreg_question){.struct_size = sizeof *v.q, .output = i, .tolerance = 1};
    v.each->struct_size = v.combined.struct_size = sizeof v.combined;
    return v;
}

TEST_TIMES(misuse_of_arrays_by_a_callback_leads_nowhere_else, 12)
{
    vandal v = tidy(_i % 6);
    certreg_plan p = KIT_PLAN(SAMPLES, .audit = _i > 5);
    certreg_estimator *e = kit_begun(kit_model(spoil, &v, INPUTS, ASKED), p, z, 0.25, 1);
    v.q[1].output = VAST; /* wrong from the start */
    ck_assert_int_ne(certreg_certify(e, SAMPLES, v.q, ASKED, v.each), CERTREG_OK);
    ck_assert_uint_eq(v.each->struct_size, sizeof v.combined);
    ck_assert_double_eq(v.each[1].radius, 0);
    ck_assert_int_ne(v.each[1].status, CERTREG_OK);
    v = tidy(_i % 6);
    KIT_OK(e, certreg_estimator_begin(e, z, 0.25, 2));
    certreg_certify_outputs(e, SAMPLES, v.q, ASKED, v.each, &v.combined);
    ck_assert_uint_eq(v.combined.struct_size, sizeof v.combined);
    v = tidy(_i % 6);
    certreg_certify_sigmas(e, z, sigmas, 2, 3, SAMPLES, v.q, ASKED, v.each);
    ck_assert_uint_eq(v.each[ASKED].struct_size, sizeof v.combined);
}

KIT_MAIN("misuse")
