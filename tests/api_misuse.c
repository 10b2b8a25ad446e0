/* Handles used where they must not be: by a second thread, by a callback of theirs, in a forked
 * child. Whoever asks is told at once, gets outputs that claim nothing, and disturbs nobody. */
#include "api_kit.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INPUTS = 3, OUTPUTS = 2, SAMPLES = 600 };
static const float z[INPUTS] = {0.5f, -1, 2};
static const double sigmas[2] = {0.25, 0.5};

/* ---- every call on an estimator */
typedef struct refusals { /* who asks, and the first thing that was wrong */
    certreg_estimator *e;
    certreg_bisection *b;
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

static int is_blank(const certreg_certificate *c, certreg_status status)
{
    return c->status == status && c->radius == 0 && c->outcome == CERTREG_OUTCOME_ABSTAINED &&
           c->output_lo == -INFINITY && c->output_hi == INFINITY;
}

/* Outputs that look like a proof, for a call to overwrite. */
static certreg_certificate stale(void)
{
    return (certreg_certificate){.struct_size = sizeof(certreg_certificate),
                                 .outcome = CERTREG_OUTCOME_CERTIFIED,
                                 .radius = 7};
}

static void ask_certificates(refusals *r)
{
    const certreg_question q[OUTPUTS] = {kit_question(1),
                                         {.struct_size = sizeof *q, .tolerance = 1, .output = 1}};
    certreg_certificate c[4] = {stale(), stale(), stale(), stale()}, bonferroni = stale();
    EXPECT(r, certreg_certify(r->e, SAMPLES, q, 2, c),
           is_blank(c, r->expected) && is_blank(c + 1, r->expected));
    c[0] = c[1] = stale();
    EXPECT(r, certreg_output_bounds(r->e, SAMPLES, q, 2, 0.1, c),
           is_blank(c, r->expected) && is_blank(c + 1, r->expected));
    c[0] = c[1] = stale();
    EXPECT(r, certreg_certify_outputs(r->e, SAMPLES, q, 2, c, &bonferroni),
           is_blank(c, r->expected) && is_blank(c + 1, r->expected) &&
               is_blank(&bonferroni, r->expected));
    c[0] = c[1] = stale();
    EXPECT(r, certreg_certify_sigmas(r->e, z, sigmas, 2, 0, SAMPLES, q, 2, c),
           is_blank(c, r->expected) && is_blank(c + 3, r->expected));
}

static void ask_all(refusals *r)
{
    certreg_question q = kit_question(1), aims = q;
    certreg_bounds bounds = {
        .struct_size = sizeof bounds, .constraints = CERTREG_CONSTRAINT_MEAN, .mean_lo = 7};
    certreg_forecast forecast = {.struct_size = sizeof forecast, .expected_samples = 7};
    certreg_run run = {.struct_size = sizeof run, .samples = 7};
    float x[INPUTS] = {0};
    size_t size = 0;
    aims.target = asks_target(0.1);
    EXPECT(r, certreg_estimator_begin(r->e, z, 0.5, 9), 1);
    EXPECT(r, certreg_estimator_begin_level(r->e, z, 0.5, 9, 1), 1);
    EXPECT(r, certreg_estimator_sample(r->e, 0, SAMPLES), 1);
    EXPECT(r, certreg_estimator_draw(r->e, 0, 1, x), x[0] == 0);
    EXPECT(r, certreg_estimator_record(r->e, 0, 1, x), 1);
    EXPECT(r, certreg_estimator_export(r->e, NULL, &size), size == 0);
    EXPECT(r, certreg_estimator_import(r->e, x, 4), 1);
    EXPECT(r, certreg_estimator_set_deadline(r->e, 1e-9), 1);
    EXPECT(r, certreg_estimator_bounds(r->e, &q, CERTREG_SIDE_UPPER, &bounds),
           bounds.constraints == 0 && bounds.mean_lo == 0);
    EXPECT(r, certreg_estimator_forecast(r->e, &aims, &forecast),
           forecast.expected_samples == INFINITY);
    EXPECT(r, certreg_estimator_run(r->e, &run), run.samples == 0);
    ask_certificates(r);
}

static const char *const refused[] = {"begin",  "begin_level", "sample", "draw",
                                      "record", "export",      "import", "set_deadline",
                                      "bounds", "forecast",    "run"};
static const char *const no_calls[] = {"cancel", "create", "destroy", "device_size",
                                       "error",  "size"}; /* or exempt, in the header's words */

static int is_listed(const char *name, const char *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (!strncmp(name, list[i], strlen(list[i])) && strlen(list[i]) == strcspn(name, "\n"))
            return 1;
    return 0;
}

START_TEST(every_function_of_an_estimator_is_asked_here)
{
    char line[128];
    int seen = 0, certifies = 0;
    FILE *symbols = fopen("tests/abi/symbols.txt", "r");
    ck_assert_ptr_nonnull(symbols);
    while (fgets(line, sizeof line, symbols)) {
        certifies += !strncmp(line, "certreg_certify", 15);
        if (strncmp(line, "certreg_estimator_", 18)) continue;
        const char *verb = line + 18;
        const int asked = is_listed(verb, refused, KIT_ROWS(refused));
        ck_assert_msg(asked != is_listed(verb, no_calls, KIT_ROWS(no_calls)),
                      "%s is neither asked nor exempt", line);
        seen += asked;
    }
    fclose(symbols);
    ck_assert_int_eq(seen, KIT_ROWS(refused));
    ck_assert_int_eq(certifies, 3);
}
END_TEST

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
    if (a && !a->by_progress) ask_once(a);
    return kit_identity(NULL, b);
}

static int progress(void *user, uint64_t done, uint64_t total)
{
    asker *a = user;
    (void)done, (void)total;
    if (a && a->by_progress) ask_once(a);
    return 0;
}

static certreg_estimator *make(certreg_backend *backend, certreg_eval eval, void *user)
{
    certreg_model m = kit_model(eval, user, INPUTS, OUTPUTS);
    certreg_plan p = kit_plan(SAMPLES);
    p.progress = progress, p.progress_user = eval == model ? user : NULL;
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

static certreg_certificate undisturbed(void)
{
    certreg_estimator *e = make(NULL, model, NULL);
    const certreg_certificate c = certified(e);
    certreg_estimator_destroy(e);
    ck_assert(c.radius > 0);
    return c;
}

/* From the model, the model with a second thread, progress, progress with a second thread. */
START_TEST(a_running_call_has_its_handle_to_itself)
{
    asker a = {.on_a_thread = _i % 2, .by_progress = _i / 2};
    const certreg_certificate wanted = undisturbed();
    a.r.expected = CERTREG_E_BUSY;
    a.r.e = make(NULL, model, &a);
    const certreg_certificate got = certified(a.r.e);
    ck_assert_msg(!a.r.wrong, "%s", a.r.wrong);
    ck_assert_int_eq(a.r.asked, KIT_ROWS(refused) + 4);
    ck_assert_int_eq(a.told, CERTREG_E_BUSY);
    ck_assert_ptr_nonnull(strstr(a.error, "running"));
    ck_assert_mem_eq(&got, &wanted, sizeof got);
    ck_assert_str_eq(certreg_estimator_error(a.r.e)->text, "");
    certreg_estimator_destroy(a.r.e);
}
END_TEST

/* The error of a call that fails is its own, whoever asked meanwhile. */
static int asks_and_fails(void *user, const certreg_batch *b)
{
    (void)b;
    ask_once(user);
    return 42;
}

START_TEST(a_running_call_keeps_its_error)
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
    ck_assert_int_eq(certreg_estimator_error(a.r.e)->model_code, 42);
    certreg_estimator_destroy(a.r.e);
}
END_TEST

/* ---- other handles in a callback */
typedef struct nested {
    certreg_bisection *own;
    certreg_estimator *other;
    certreg_status direct, alone;
    certreg_certificate answered;
    int done;
} nested;

static int asks_another(void *user, const certreg_batch *b)
{
    nested *n = user;
    const certreg_bounds u = {.struct_size = sizeof u,
                              .constraints = CERTREG_CONSTRAINT_VARIANCE,
                              .sigma = 1,
                              .variance_hi = 1};
    const certreg_question q = kit_question(1);
    certreg_radius r = {.struct_size = sizeof r, .radius = 7};
    if (n->done++) return kit_identity(NULL, b);
    n->direct = certreg_bisection_within(n->own, &u, 0, 1, &r);
    n->answered = stale();
    n->alone = certreg_certify(n->other, SAMPLES, &q, 1, &n->answered);
    return kit_identity(NULL, b);
}

START_TEST(other_handles_are_free_in_a_callback_of_certify)
{
    nested n = {.done = 0};
    certreg_solver *s = NULL;
    const certreg_certificate wanted = undisturbed();
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &s), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(s, NULL, 0, &n.own), CERTREG_OK);
    n.other = make(NULL, model, NULL);
    KIT_OK(n.other, certreg_estimator_begin(n.other, z, 0.25, 1));
    certreg_estimator *e = make(NULL, asks_another, &n);
    const certreg_certificate got = certified(e);
    ck_assert_int_eq(n.direct, CERTREG_OK);
    ck_assert_int_eq(n.alone, CERTREG_OK);
    ck_assert_double_eq(n.answered.radius, wanted.radius);
    ck_assert_mem_eq(&got, &wanted, sizeof got);
    certreg_estimator_destroy(e), certreg_estimator_destroy(n.other);
    certreg_bisection_destroy(n.own);
    certreg_solver_destroy(s);
}
END_TEST

/* ---- threads that do not know of each other */
enum { THREADS = 3, ROUNDS = 300 };
typedef struct crowd {
    certreg_estimator *e[THREADS];
    certreg_solver *s;
    certreg_bisection *b;
    int shared; /* they all use e[0] */
    certreg_certificate wanted;
    double drop, radius;
} crowd;

typedef struct member {
    crowd *of;
    int number, answered, wrong;
    pthread_t thread;
} member;

static void count(member *m, certreg_status status, int right, int nothing)
{
    m->answered += status == CERTREG_OK;
    m->wrong += status == CERTREG_OK ? !right : status != CERTREG_E_BUSY || !nothing;
}

/* One solver, one bisection, and each an estimator of its own with that bisection. */
static void *use(void *argument)
{
    member *m = argument;
    const crowd *c = m->of;
    const certreg_bounds u = {.struct_size = sizeof u,
                              .constraints = CERTREG_CONSTRAINT_VARIANCE,
                              .sigma = 1,
                              .variance_hi = 1};
    const certreg_question q = kit_question(1);
    for (int i = 0; i < ROUNDS; i++) {
        certreg_mean_change shift = {.struct_size = sizeof shift};
        certreg_radius r = {.struct_size = sizeof r};
        certreg_status status = certreg_solver_worst_case(c->s, &u, 0, 0.5, &shift);
        count(m, status, shift.drop == c->drop, shift.drop == INFINITY);
        status = certreg_bisection_within(c->b, &u, 0, 0.5, &r);
        count(m, status, r.radius == c->radius, r.radius == 0);
        if (i % 30) continue;
        certreg_certificate got = stale();
        status = certreg_certify(c->e[c->shared ? 0 : m->number], SAMPLES, &q, 1, &got);
        count(m, status, got.radius == c->wanted.radius, is_blank(&got, CERTREG_E_BUSY));
    }
    return NULL;
}

/* With estimators of their own, or one for all; a backend of several threads serves them side by
 * side. */
START_TEST(threads_that_share_handles_get_the_truth_or_are_told)
{
    crowd c = {.shared = _i};
    member m[THREADS];
    int answered = 0;
    certreg_backend *backend = NULL;
    const certreg_bounds u = {.struct_size = sizeof u,
                              .constraints = CERTREG_CONSTRAINT_VARIANCE,
                              .sigma = 1,
                              .variance_hi = 1};
    certreg_mean_change shift = {.struct_size = sizeof shift};
    certreg_radius r = {.struct_size = sizeof r};
    c.wanted = undisturbed();
    ck_assert_int_eq(certreg_backend_open_cpu(2, NULL, &backend), CERTREG_OK);
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &c.s), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(c.s, NULL, 0, &c.b), CERTREG_OK);
    ck_assert_int_eq(certreg_solver_worst_case(c.s, &u, 0, 0.5, &shift), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_within(c.b, &u, 0, 0.5, &r), CERTREG_OK);
    c.drop = shift.drop, c.radius = r.radius;
    for (int i = 0; i < THREADS; i++) {
        c.e[i] = make(backend, model, NULL);
        KIT_OK(c.e[i], certreg_estimator_begin(c.e[i], z, 0.25, 1));
    }
    for (int i = 0; i < THREADS; i++) {
        m[i] = (member){.of = &c, .number = i};
        ck_assert_int_eq(pthread_create(&m[i].thread, NULL, use, m + i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(m[i].thread, NULL);
        ck_assert_int_eq(m[i].wrong, 0);
        answered += m[i].answered;
    }
    ck_assert_int_gt(answered, 0); /* each of them may be unlucky */
    for (int i = 0; i < THREADS; i++) certreg_estimator_destroy(c.e[i]);
    certreg_bisection_destroy(c.b);
    certreg_solver_destroy(c.s);
    certreg_backend_close(backend);
}
END_TEST

/* ---- forked children */
static int says_fork(const certreg_error *error)
{
    return error->status == CERTREG_E_WRONG_STATE && strstr(error->text, "fork");
}

/* Whether an estimator can be made on a backend that another process opened. */
static int backend_serves(certreg_backend *theirs)
{
    const certreg_model m = kit_model(kit_identity, NULL, INPUTS, 1);
    const certreg_plan p = kit_plan(SAMPLES);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    return certreg_estimator_create(theirs, &m, &p, &why, &e) != CERTREG_E_WRONG_STATE || e ||
           !says_fork(&why);
}

/* What a child finds wrong with its answers; 0: nothing. It may destroy what it cannot use. */
static int child_finds(asker *a, certreg_solver *s, certreg_backend *threads)
{
    const certreg_bounds u = {.struct_size = sizeof u,
                              .constraints = CERTREG_CONSTRAINT_VARIANCE,
                              .sigma = 1,
                              .variance_hi = 1};
    const certreg_question q = kit_question(1);
    certreg_mean_change shift = {.struct_size = sizeof shift};
    certreg_radius r = {.struct_size = sizeof r, .radius = 7};
    certreg_certificate c = stale();
    a->r.expected = CERTREG_E_WRONG_STATE;
    ask_all(&a->r);
    if (a->r.wrong || !says_fork(certreg_estimator_error(a->r.e))) return 1;
    if (certreg_solver_worst_case(s, &u, 0, 1, &shift) != CERTREG_E_WRONG_STATE ||
        shift.drop != INFINITY || !says_fork(certreg_solver_error(s)))
        return 2;
    if (certreg_bisection_within(a->r.b, &u, 0, 1, &r) != CERTREG_E_WRONG_STATE || r.radius != 0 ||
        !says_fork(certreg_bisection_error(a->r.b)))
        return 3;
    r.radius = 7;
    if (certreg_bisection_above(a->r.b, &u, NULL, 1, 0, &r) != CERTREG_E_WRONG_STATE ||
        r.radius != 0)
        return 4;
    certreg_estimator_destroy(a->r.e);
    certreg_estimator *own = make(NULL, model, NULL); /* of the child's: that works */
    if (certreg_estimator_begin(own, z, 0.25, 1)) return 5;
    certreg_bisection *theirs = NULL;
    if (certreg_bisection_create(s, NULL, 0, &theirs) != CERTREG_E_WRONG_STATE || theirs) return 9;
    if (backend_serves(threads)) return 10;
    certreg_bisection_destroy(a->r.b);
    certreg_solver_destroy(s);
    if (certreg_certify(own, SAMPLES, &q, 1, &c) || !(c.radius > 0)) return 8;
    certreg_estimator_destroy(own);
    return 0;
}

typedef struct constraints {
    asker a;
    certreg_solver *s;
    certreg_backend *threads;
    int done, child;
} constraints;

static int child_of(constraints *f)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(child_finds(&f->a, f->s, f->threads));
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static int forks(void *user, const certreg_batch *b)
{
    constraints *f = user;
    if (!f->done++) f->child = child_of(f);
    return kit_identity(NULL, b);
}

/* Of idle handles, and of handles whose call was running at the fork. */
START_TEST(a_forked_child_is_told_so_by_every_handle)
{
    constraints f = {.done = !_i};
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &f.s), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(f.s, NULL, 0, &f.a.r.b), CERTREG_OK);
    ck_assert_int_eq(certreg_backend_open_cpu(2, NULL, &f.threads), CERTREG_OK);
    f.a.r.e = make(NULL, forks, &f);
    const certreg_certificate wanted = undisturbed();
    if (!_i) f.child = child_of(&f);
    const certreg_certificate got = certified(f.a.r.e); /* the parent goes on */
    ck_assert_int_eq(f.child, 0);
    ck_assert_mem_eq(&got, &wanted, sizeof got);
    certreg_estimator_destroy(f.a.r.e);
    certreg_bisection_destroy(f.a.r.b);
    certreg_solver_destroy(f.s);
    certreg_backend_close(f.threads);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("misuse");
    TCase *bad_input = kit_case(suite, "bad_input", 60);
    tcase_add_test(bad_input, every_function_of_an_estimator_is_asked_here);
    tcase_add_loop_test(bad_input, a_running_call_has_its_handle_to_itself, 0, 4);
    tcase_add_loop_test(bad_input, a_running_call_keeps_its_error, 0, 2);
    tcase_add_test(bad_input, other_handles_are_free_in_a_callback_of_certify);
    tcase_add_loop_test(bad_input, threads_that_share_handles_get_the_truth_or_are_told, 0, 2);
    tcase_add_loop_test(bad_input, a_forked_child_is_told_so_by_every_handle, 0, 2);
    return kit_run(suite);
}
