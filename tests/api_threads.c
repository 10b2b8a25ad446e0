/* Many threads, many handles, backends that are shared, opened and closed meanwhile, cancels and
 * calls on busy handles: whatever is answered has the same bits as with one thread alone.
 * THREADS_ROUNDS in the environment repeats it: make check-thread does so under ThreadSanitizer. */
#include <certreg/attack.h>
#include "support/api_kit.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { SAMPLES = 600, CALLS = 300, JOBS = 6, ASKED = 5, THREADS = 5 };
/* Inputs: every third job has few; the others have enough that a backend of
 * several threads uses them. */
enum { FEW = 5, MANY = 704, BATCH = 64 };

static const float z[MANY] = {0.5f, -1, 2, 0, 0.25f};
static float scale[MANY] = {1, 0.5f, 2, 0, 1};

static int is_wide(int job)
{
    return job % 3 != 0;
}

static int rounds(void)
{
    const char *many = getenv("THREADS_ROUNDS");
    return many ? atoi(many) : 3;
}

/* ---- a job, and what comes of it */
KIT_EVAL(model, fmaxf(-3, fminf(3, x[0] + 0.5f * sinf(x[1]) - 0.25f * x[2] * x[4])))

typedef struct answer {
    certreg_certificate c[ASKED];
    certreg_attack_result broken;
    certreg_radius radius;
    certreg_mean_change change;
    unsigned char record[4 * SAMPLES + 256];
    size_t bytes;
} answer;

/* Alone, on one thread. */
static answer expected[JOBS];

static void questions(certreg_question q[ASKED])
{
    for (int i = 0; i < ASKED; i++) q[i] = kit_question(1.5);
    q[1].constraints = CERTREG_CONSTRAINTS_ECGM;
    q[2].statistic = CERTREG_STATISTIC_HUBER, q[2].huber_width = 0.5;
    q[2].method = CERTREG_METHOD_ASYMPTOTIC;
    q[3].statistic = CERTREG_STATISTIC_MEAN, q[3].method = CERTREG_METHOD_ANYTIME;
    q[4].statistic = CERTREG_STATISTIC_MEAN, q[4].method = CERTREG_METHOD_ASYMPTOTIC;
}

static certreg_status create(certreg_backend *backend, int job, certreg_estimator **e)
{
    static const double lo = -3, hi = 3;
    certreg_model m = kit_model(model, NULL, is_wide(job) ? MANY : FEW, 1);
    certreg_plan p = kit_plan(SAMPLES);
    m.batch = BATCH, m.scale = scale, m.lo = &lo, m.hi = &hi;
    return certreg_estimator_create(backend, &m, &p, NULL, e);
}

static certreg_status begin(certreg_estimator *e, int job)
{
    return certreg_estimator_begin(e, z, 0.25 + 0.125 * job, (uint64_t)job);
}

static certreg_status certify(certreg_estimator *e, size_t samples, answer *a)
{
    certreg_question q[ASKED];
    questions(q);
    a->c[0] = kit_certificate();
    return certreg_certify(e, samples, q, ASKED, a->c);
}

static certreg_status export(certreg_estimator *e, answer *a)
{
    a->bytes = sizeof a->record;
    return certreg_estimator_export(e, a->record, &a->bytes);
}

static certreg_status attack(certreg_attack *on, answer *a)
{
    const certreg_question q = kit_question(1.5);
    const certreg_attack_options o = {.struct_size = sizeof o, .calls = CALLS};
    a->broken = (certreg_attack_result){.struct_size = sizeof a->broken};
    return certreg_attack_run(on, &q, &o, NULL, &a->broken);
}

static certreg_attack *attack_on(certreg_estimator *e)
{
    const certreg_attack_plan p = {.struct_size = sizeof p, .max_calls = CALLS};
    certreg_attack *on = NULL;
    return certreg_attack_create(e, &p, NULL, &on) ? NULL : on;
}

static certreg_status change(certreg_solver *s, int job, answer *a)
{
    const certreg_bounds u =
        BOUNDS(.constraints = CERTREG_CONSTRAINT_VARIANCE, .sigma = 1, .variance_hi = 1 + job);
    a->change = (certreg_mean_change){.struct_size = sizeof a->change};
    return certreg_solver_worst_case(s, &u, 0, 0.5, &a->change);
}

static certreg_status radius(certreg_bisection *b, int job, answer *a)
{
    const certreg_bounds u =
        BOUNDS(.constraints = CERTREG_CONSTRAINT_VARIANCE, .sigma = 1, .variance_hi = 1 + job);
    a->radius = (certreg_radius){.struct_size = sizeof a->radius};
    return certreg_bisection_within(b, &u, 0, 0.5, &a->radius);
}

/* Everything about one job, with handles of its own; whether every call said OK. */
static int do_job(certreg_backend *backend, int job, answer *a)
{
    certreg_estimator *e = NULL;
    certreg_solver *s = NULL;
    certreg_bisection *b = NULL;
    *a = (answer){.bytes = 0};
    int good = !create(backend, job, &e) && !certreg_solver_create(NULL, NULL, &s) &&
               !certreg_bisection_create(NULL, NULL, &b);
    good = good && !begin(e, job) && !certify(e, SAMPLES, a) && !export(e, a);
    certreg_attack *on = good ? attack_on(e) : NULL;
    good = good && on && !attack(on, a) && !change(s, job, a) && !radius(b, job, a);
    certreg_attack_destroy(on);
    certreg_estimator_destroy(e);
    certreg_bisection_destroy(b), certreg_solver_destroy(s);
    return good;
}

/* Once for all tests that run in one process. */
static void setup(void)
{
    if (expected[0].bytes) return;
    for (int j = FEW; j < MANY; j++) scale[j] = 1;
    for (int job = 0; job < JOBS; job++) {
        ck_assert(do_job(NULL, job, expected + job));
        ck_assert_double_gt(expected[job].c[0].radius, 0);
        ck_assert_double_gt(expected[job].c[1].radius, 0);
    }
}

/* ---- threads */
typedef struct member {
    pthread_t id;
    int number;
    unsigned state; /* of its choices */
    void *of;       /* what all of them share */
    long answered, wrong;
} member;

static unsigned choose(member *m, unsigned count)
{
    m->state = m->state * 1664525u + 1013904223u;
    return (m->state >> 8) % count;
}

static long together(void *(*what)(void *), void *of)
{
    member m[THREADS];
    long answered = 0;
    for (int i = 0; i < THREADS; i++) {
        m[i] = (member){.number = i, .state = (unsigned)(1 + i), .of = of};
        ck_assert_int_eq(pthread_create(&m[i].id, NULL, what, m + i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(m[i].id, NULL);
        ck_assert_msg(m[i].wrong == 0, "thread %d: %ld wrong answers", i, m[i].wrong);
        answered += m[i].answered;
    }
    return answered;
}

/* ---- handles of their own */
/* On the shared backend, on one that is opened and closed for it, or on none. */
static void *work_alone(void *argument)
{
    member *m = argument;
    answer *a = malloc(sizeof *a);
    for (int i = 0; i < rounds(); i++) {
        const int job = (int)choose(m, JOBS), where = (int)choose(m, 3);
        certreg_backend *own = NULL;
        if (where == 1 && certreg_backend_open_cpu(1 + (int32_t)choose(m, 3), NULL, &own))
            m->wrong++;
        m->wrong += !do_job(where ? own : m->of, job, a) || memcmp(a, expected + job, sizeof *a);
        certreg_backend_close(own);
    }
    free(a);
    return NULL;
}

TEST(threads_with_their_own_handles_have_the_bits_of_one)
{
    together(work_alone, kit_backend(3));
}

/* ---- handles that all of them share */
enum { SHARED = 3 };
typedef struct common {
    certreg_estimator *e[SHARED]; /* each has the record of the job of its index */
    certreg_attack *on[SHARED];
    certreg_solver *s;
    certreg_bisection *b;
} common;

#define SAME(part) (!memcmp(&a->part, &expected[job].part, sizeof a->part))

static void use_one(member *m, answer *a)
{
    const common *c = m->of;
    const int job = (int)choose(m, SHARED);
    certreg_estimator *e = c->e[job];
    certreg_status status = CERTREG_OK;
    int right = 1, blank = 1;
    *a = (answer){.bytes = 0};
    switch (choose(m, 7)) {
    case 0:
        status = certify(e, 0, a), right = SAME(c);
        blank = kit_is_blank(a->c, CERTREG_E_BUSY);
        break;
    case 1: status = export(e, a), right = SAME(record), blank = a->record[0] == 0; break;
    case 2:
        status = attack(c->on[job], a), right = SAME(broken);
        blank = a->broken.radius == INFINITY;
        break;
    case 3:
        status = change(c->s, job, a), right = SAME(change), blank = a->change.drop == INFINITY;
        break;
    case 4:
        status = radius(c->b, job, a), right = SAME(radius), blank = !(a->radius.radius > 0);
        break;
    case 5: status = certreg_estimator_record(e, 0, 0, NULL), right = blank = 1; break;
    default: right = certreg_estimator_error(e) != NULL; break;
    }
    m->answered += status == CERTREG_OK;
    m->wrong += status == CERTREG_OK ? !right : status != CERTREG_E_BUSY || !blank;
}

static void *use_shared(void *argument)
{
    member *m = argument;
    answer *a = malloc(sizeof *a);
    for (int i = 0; i < 40 * rounds(); i++) use_one(m, a);
    free(a);
    return NULL;
}

TEST(threads_that_share_handles_get_answers_or_busy)
{
    common c = {.s = NULL};
    certreg_backend *backend = kit_backend(2);
    answer a;
    kit_open_solver(&c.s, &c.b);
    for (int job = 0; job < SHARED; job++) {
        ck_assert_int_eq(create(backend, job, &c.e[job]), CERTREG_OK);
        KIT_OK(c.e[job], begin(c.e[job], job));
        KIT_OK(c.e[job], certify(c.e[job], SAMPLES, &a));
        ck_assert_ptr_nonnull(c.on[job] = attack_on(c.e[job]));
    }
    ck_assert_int_gt(together(use_shared, &c), 0); /* each of them may be unlucky */
    for (int job = 0; job < SHARED; job++) {
        certreg_attack_destroy(c.on[job]);
        certreg_estimator_destroy(c.e[job]);
    }
}

/* ---- cancels from everywhere */
typedef struct cancels {
    certreg_backend *backend;
    certreg_estimator *e[THREADS];
    atomic_int sampling; /* threads that still do */
    atomic_long sent;
} cancels;

static _Thread_local certreg_estimator *interrupted;
static _Thread_local cancels *told_by;

static void cancel_mine(int signal)
{
    (void)signal;
    if (!interrupted) return;
    certreg_estimator_cancel(interrupted);
    atomic_fetch_add(&told_by->sent, 1);
}

/* The first thread cancels; the others sample until they have everything, and signal themselves
 * meanwhile. */
static void cancel_others(member *m, cancels *c)
{
    while (atomic_load(&c->sampling)) {
        atomic_fetch_add(&c->sent, 1);
        certreg_estimator_cancel(c->e[1 + choose(m, THREADS - 1)]);
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

static void *sample_or_cancel(void *argument)
{
    member *m = argument;
    cancels *c = m->of;
    if (m->number == 0) return cancel_others(m, c), NULL;
    answer *a = malloc(sizeof *a);
    certreg_estimator *e = interrupted = c->e[m->number];
    told_by = c;
    for (int i = 0; i < 10 * rounds(); i++) {
        const int job = m->number % 3 + 3 * (int)choose(m, 2); /* of the estimator's width */
        certreg_status status;
        m->wrong += begin(e, job) != CERTREG_OK;
        do {
            if (choose(m, 2)) raise(SIGUSR1);
            status = certreg_estimator_sample(e, 0, SAMPLES);
            m->answered += status == CERTREG_E_CANCELLED;
        } while (status == CERTREG_E_CANCELLED);
        *a = (answer){.bytes = 0};
        certify(e, 0, a);
        m->wrong += status || export(e, a) || memcmp(a->c, expected[job].c, sizeof a->c) ||
                    memcmp(a->record, expected[job].record, sizeof a->record);
    }
    interrupted = NULL;
    atomic_fetch_sub(&c->sampling, 1);
    free(a);
    return NULL;
}

TEST(threads_and_signal_handlers_cancel_one_call_only)
{
    cancels c = {.backend = kit_backend(2)};
    struct sigaction before, ours = {.sa_handler = cancel_mine};
    for (int i = 1; i < THREADS; i++) ck_assert_int_eq(create(c.backend, i, &c.e[i]), CERTREG_OK);
    atomic_init(&c.sampling, THREADS - 1);
    atomic_init(&c.sent, 0);
    sigaction(SIGUSR1, &ours, &before);
    const long told = together(sample_or_cancel, &c);
    sigaction(SIGUSR1, &before, NULL);
    ck_assert_int_gt(told, 0);
    ck_assert_int_le(told, atomic_load(&c.sent));
    for (int i = 1; i < THREADS; i++) {
        certreg_estimator_cancel(c.e[i]); /* pending: it will never be reported */
        certreg_estimator_destroy(c.e[i]);
    }
}

/* ---- handles that go from one thread to another */
static void *sample_and_leave(void *e)
{
    return certreg_estimator_sample(e, 0, SAMPLES) ? NULL : e;
}

TEST_TIMES(threads_may_hand_a_handle_on, JOBS)
{
    certreg_estimator *e = NULL;
    answer a = {.bytes = 0};
    pthread_t other;
    void *left = NULL;
    ck_assert_int_eq(create(kit_backend(3), _i, &e), CERTREG_OK);
    KIT_OK(e, begin(e, _i));
    ck_assert_int_eq(pthread_create(&other, NULL, sample_and_leave, e), 0);
    pthread_join(other, &left);
    ck_assert_ptr_eq(left, e);
    KIT_OK(e, certify(e, 0, &a));
    ck_assert_mem_eq(a.c, expected[_i].c, sizeof a.c);
    certreg_estimator_destroy(e);
}

FIXTURE(setup, NULL)
KIT_MAIN("threads")
