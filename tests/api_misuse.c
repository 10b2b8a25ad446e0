/* Handles used where they must not be: by a second thread, by a callback of theirs. Whoever asks
 * is told at once, gets outputs that claim nothing, and disturbs nobody. */
#include "support/every_call.h"
#include "support/structs.h"
#include <certreg/attack.h>
#include <certreg/solver.h>
#include <pthread.h>

static const char *const refused[] = {"begin",     "begin_level", "sample", "draw",
                                      "record",    "export",      "import", "set_deadline",
                                      "bounds",    "forecast",    "info",   "prediction",
                                      "calibrate", "interval",    "covers", "estimate"};
static const char *const no_calls[] = {"cancel", "create", "destroy", "error",
                                       "size"}; /* or exempt, in the header's words */

static int is_listed(const char *name, const char *const *list, int count)
{
    for (int i = 0; i < count; i++)
        if (!strncmp(name, list[i], strlen(list[i])) && strlen(list[i]) == strcspn(name, " "))
            return 1;
    return 0;
}

TEST(misuse_tests_call_every_function_of_an_estimator)
{
    char line[128];
    int seen = 0, certifies = 0;
    FILE *symbols = popen("cat include/certreg/*.h | tr '\\n' ' ' | grep -o 'CERTREG_API [^(;]*(' |"
                          "sed -n 's/.*\\b\\(certreg_\\w*\\)($/\\1 /p'",
                          "r");
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
    pclose(symbols);
    ck_assert_int_eq(seen, KIT_ROWS(refused));
    ck_assert_int_eq(certifies, 3);
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
    certreg_plan p = kit_plan(SAMPLES);
    p.progress = progress, p.progress_user = a;
    return kit_create(NULL, &m, &p);
}

/* From the model, the model with a second thread, progress, progress with a second thread. */
TEST_TIMES(misuse_during_a_running_call_is_busy, 4)
{
    asker a = {.on_a_thread = _i % 2, .by_progress = _i / 2};
    const certreg_certificate wanted = undisturbed();
    certreg_solver *s = NULL;
    kit_open_solver(&s, &a.r.b);
    a.r.expected = CERTREG_E_BUSY;
    a.r.e = make_asking(&a);
    const certreg_certificate got = certified(a.r.e);
    ck_assert_msg(!a.r.wrong, "%s", a.r.wrong);
    ck_assert_int_eq(a.r.asked, KIT_ROWS(refused) + 5); /* and four that certify, and a check */
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

/* Without a handle too, nothing stale survives a call. Solvers without one: unit_solver_refusals.
 */
TEST(misuse_of_null_handles_is_invalid)
{
    refusals r = {.expected = CERTREG_E_INVALID};
    ask_all(&r);
    ck_assert_msg(!r.wrong, "%s", r.wrong);
    certreg_estimator_cancel(NULL);
    certreg_estimator_destroy(NULL);
    certreg_solver_destroy(NULL);
    certreg_bisection_destroy(NULL);
    ck_assert_ptr_null(certreg_estimator_error(NULL));
}

/* ---- handles of another version in the same process: only their first 8 bytes have a meaning */
static void mark_other(void *handle)
{
    *(uint64_t *)handle ^= 100;
}

static certreg_status says_other(const certreg_error *e)
{
    KIT_SAYS(e, "another version of the library");
    return e->status;
}

TEST(misuse_of_handles_of_another_version_is_refused)
{
    const certreg_attack_plan p = {.struct_size = sizeof p};
    const certreg_bounds u =
        BOUNDS(.constraints = CERTREG_CONSTRAINT_VARIANCE, .sigma = 1, .variance_hi = 1);
    refusals r = {.e = make(NULL, kit_identity, NULL), .expected = CERTREG_E_VERSION};
    certreg_mean_change change = {.struct_size = sizeof change};
    certreg_radius radius = {.struct_size = sizeof radius};
    certreg_attack_result result = {.struct_size = sizeof result};
    certreg_error why = {.struct_size = sizeof why};
    certreg_solver *s;
    certreg_bisection *b;
    certreg_attack *a, *none;
    KIT_OK(r.e, certreg_estimator_begin(r.e, z, 0.25, 1));
    ck_assert_int_eq(certreg_attack_create(r.e, &p, NULL, &a), CERTREG_OK);
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, &s), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, &b), CERTREG_OK);
    void *const handles[] = {r.e, s, b, a};
    for (int i = 0; i < 4; i++) mark_other(handles[i]);
    ask_all(&r);
    ck_assert_msg(!r.wrong, "%s", r.wrong);
    ck_assert_int_eq(says_other(certreg_estimator_error(r.e)), CERTREG_E_VERSION);
    ck_assert_int_eq(certreg_attack_create(r.e, &p, &why, &none), CERTREG_E_VERSION);
    says_other(&why);
    ck_assert_int_eq(certreg_attack_run(a, NULL, NULL, NULL, &result), CERTREG_E_VERSION);
    ck_assert_int_eq(certreg_solver_worst_case(s, &u, 0, 1, &change), CERTREG_E_VERSION);
    ck_assert_int_eq(certreg_bisection_within(b, &u, 0, 1, &radius), CERTREG_E_VERSION);
    says_other(certreg_attack_error(a)), says_other(certreg_solver_error(s));
    says_other(certreg_bisection_error(b));
    certreg_estimator_cancel(r.e);
    certreg_attack_destroy(a), certreg_solver_destroy(s); /* whose memory only their maker knows */
    certreg_bisection_destroy(b), certreg_estimator_destroy(r.e);
    for (int i = 0; i < 4; i++) mark_other(handles[i]);     /* and back */
    KIT_OK(r.e, certreg_estimator_sample(r.e, 0, SAMPLES)); /* without the cancel */
    certreg_attack_destroy(a), certreg_solver_destroy(s), certreg_bisection_destroy(b);
}

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
    const certreg_bounds u =
        BOUNDS(.constraints = CERTREG_CONSTRAINT_VARIANCE, .sigma = 1, .variance_hi = 1);
    const certreg_question q = kit_question(1);
    certreg_radius r = {.struct_size = sizeof r, .radius = 7};
    if (n->done++) return kit_identity(NULL, b);
    n->direct = certreg_bisection_within(n->own, &u, 0, 1, &r);
    n->answered = kit_stale();
    n->alone = certreg_certify(n->other, SAMPLES, &q, 1, &n->answered);
    return kit_identity(NULL, b);
}

TEST(certify_callback_may_use_other_handles)
{
    nested n = {.done = 0};
    const certreg_certificate wanted = undisturbed();
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, &n.own), CERTREG_OK);
    n.other = make(NULL, kit_identity, NULL);
    KIT_OK(n.other, certreg_estimator_begin(n.other, z, 0.25, 1));
    certreg_estimator *e = make(NULL, asks_another, &n);
    const certreg_certificate got = certified(e);
    ck_assert_int_eq(n.direct, CERTREG_OK);
    ck_assert_int_eq(n.alone, CERTREG_OK);
    ck_assert_double_eq(n.answered.radius, wanted.radius);
    ck_assert_mem_eq(&got, &wanted, sizeof got);
    certreg_bisection_destroy(n.own);
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
    certreg_plan p = kit_plan(SAMPLES);
    p.audit = _i > 5;
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
