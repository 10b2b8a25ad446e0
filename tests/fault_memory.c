/* Where the library takes memory, and what happens when there is none. The functions below stand before those of the C library, so
 * that every block is counted, and any one of them can be refused. */
#include "certreg/certreg.h"
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
int main(void)
{
    puts("fault_memory: skipped, the allocator is not ours to replace here");
    return 0;
}
#else

/* ---- the allocator ---------------------------------------------------------------------------------------------------------------- */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static volatile struct { /* volatile: compilers take it that allocation changes no variables */
    int on;             /* counting */
    uint64_t asked;     /* blocks asked for since then */
    uint64_t refuse;    /* this one is refused; 0: none */
    int64_t live;       /* blocks taken and not given back */
} watch;

static int refused(void)
{
    return watch.on && ++watch.asked == watch.refuse;
}

static void *taken(void *block)
{
    watch.live += watch.on && block;
    return block;
}

void *malloc(size_t size)
{
    return refused() ? (errno = ENOMEM, NULL) : taken(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return refused() ? (errno = ENOMEM, NULL) : taken(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    if (refused()) return errno = ENOMEM, NULL;
    return old ? __libc_realloc(old, size) : taken(__libc_realloc(old, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return refused() ? (errno = ENOMEM, NULL) : taken(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (refused()) return ENOMEM;
    *out = taken(__libc_memalign(alignment, size));
    return *out ? 0 : ENOMEM;
}

void free(void *block)
{
    watch.live -= watch.on && block;
    __libc_free(block);
}

static void start_watching(uint64_t refuse)
{
    watch.asked = 0, watch.live = 0, watch.refuse = refuse;
    watch.on = 1;
}

static void stop_watching(void)
{
    watch.on = 0;
}

/* ---- what is done with the library ------------------------------------------------------------------------------------------------ */
enum { INPUTS = 12, SAMPLES = 1000, QUESTIONS = 5 };

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        b->y[i] = x[0] + 0.25f * x[1] * x[2];
    }
    return 0;
}

static certreg_model the_model(void)
{
    static const double lo = -50, hi = 50;
    return (certreg_model){.struct_size = sizeof(certreg_model), .eval = model, .inputs = INPUTS, .outputs = 1, .lo = &lo, .hi = &hi};
}

static certreg_plan the_plan(void)
{
    return (certreg_plan){.struct_size = sizeof(certreg_plan), .capacity = SAMPLES, .seed = 3};
}

static const certreg_question questions[QUESTIONS] = {
    {.struct_size = sizeof(certreg_question), .tolerance = 0.5},
    {.tolerance = 0.5, .interval = CERTREG_INTERVAL_ASYMPTOTIC},
    {.tolerance = 0.5, .score = CERTREG_SCORE_HUBER, .huber_width = 0.25, .interval = CERTREG_INTERVAL_ASYMPTOTIC},
    {.tolerance = 0.5, .score = CERTREG_SCORE_MEAN, .promise = CERTREG_PROMISE_TRUE_MEAN, .interval = CERTREG_INTERVAL_ASYMPTOTIC},
    {.tolerance = 0.5, .score = CERTREG_SCORE_MEAN, .promise = CERTREG_PROMISE_TRUE_MEAN, .interval = CERTREG_INTERVAL_PAPER}};
static const float z[INPUTS] = {1, 0.5f, -0.5f};
static unsigned char bytes[64 * 1024];

typedef struct handles {
    certreg_estimator *e;
    certreg_solver *s;
    certreg_bisection *b;
} handles;

static void destroy(handles *h)
{
    certreg_bisection_destroy(h->b);
    certreg_solver_destroy(h->s);
    certreg_estimator_destroy(h->e);
}

static certreg_status create(handles *h)
{
    const certreg_model m = the_model();
    const certreg_plan p = the_plan();
    *h = (handles){NULL, NULL, NULL};
    certreg_status status = certreg_estimator_create(NULL, &m, &p, NULL, &h->e);
    if (!status) status = certreg_solver_create(NULL, 0, &h->s);
    if (!status) status = certreg_bisection_create(h->s, NULL, 0, &h->b);
    return status;
}

#define MUST(call) ck_assert_int_eq(call, CERTREG_OK)

static certreg_status sample_and_certify(const handles *h, certreg_certificate c[QUESTIONS])
{
    c->struct_size = sizeof *c;
    certreg_status status = certreg_estimator_begin(h->e, z, 0.25, 1);
    if (!status) status = certreg_estimator_sample(h->e, 0, SAMPLES / 2);
    if (!status) status = certreg_certify(h->e, h->b, SAMPLES, questions, QUESTIONS, c);
    return status;
}

static certreg_status everything_else(const handles *h, float *x)
{
    certreg_question q = questions[2];
    certreg_bounds w = {.struct_size = sizeof w};
    certreg_shift v = {.struct_size = sizeof v};
    certreg_radius r = {.struct_size = sizeof r};
    size_t size = sizeof bytes;
    q.struct_size = sizeof q;
    certreg_status status = certreg_estimator_bounds(h->e, &q, CERTREG_SIDE_UPPER, &w);
    if (!status) status = certreg_solver_shift(h->s, &w, 0, 0.2, &v);
    if (!status) status = certreg_bisection_within(h->b, &w, 0, 0.1, &r);
    if (!status) status = certreg_bisection_above(h->b, &w, NULL, 1, 0, &r);
    if (!status) status = certreg_estimator_export(h->e, bytes, &size);
    if (!status) status = certreg_estimator_begin(h->e, z, 0.25, 1);
    if (!status) status = certreg_estimator_import(h->e, bytes, size);
    if (!status) status = certreg_estimator_begin(h->e, z, 0.25, 2);
    if (!status) status = certreg_estimator_draw(h->e, 0, 2, x);
    if (!status) status = certreg_estimator_record(h->e, 0, 2, x);
    return status;
}

/* ---- tests -------------------------------------------------------------------------------------------------------------------------- */
START_TEST(nothing_allocates_after_creation)
{
    handles h;
    certreg_certificate c[QUESTIONS] = {{0}};
    float x[2 * INPUTS];
    MUST(create(&h));
    start_watching(0);
    const certreg_status first = sample_and_certify(&h, c), second = everything_else(&h, x);
    stop_watching();
    MUST(first);
    MUST(second);
    ck_assert_uint_eq(watch.asked, 0);
    for (int k = 0; k < QUESTIONS; k++) ck_assert_msg(c[k].radius > 0, "question %d: the long way was not gone", k);
    destroy(&h);
}
END_TEST

START_TEST(refusals_and_errors_allocate_nothing)
{
    handles h;
    certreg_certificate c[QUESTIONS] = {{0}};
    certreg_question bad = questions[0];
    bad.tolerance = -1;
    MUST(create(&h));
    MUST(sample_and_certify(&h, c));
    start_watching(0);
    const certreg_status asked = certreg_certify(h.e, h.b, 0, &bad, 1, c), many = certreg_estimator_sample(h.e, SAMPLES, 1);
    const certreg_status damaged = certreg_estimator_import(h.e, bytes, 50), noise = certreg_estimator_begin(h.e, z, -1, 0);
    stop_watching();
    ck_assert_int_eq(asked, CERTREG_INVALID);
    ck_assert_int_eq(many, CERTREG_TOO_MANY);
    ck_assert_int_eq(damaged, CERTREG_CORRUPT);
    ck_assert_int_eq(noise, CERTREG_INVALID);
    ck_assert_uint_eq(watch.asked, 0);
    destroy(&h);
}
END_TEST

START_TEST(with_memory_of_the_caller_nothing_allocates_at_all)
{
    static alignas(64) unsigned char em[128 * 1024], sm[64 * 1024], bm[64 * 1024];
    const certreg_model m = the_model();
    certreg_plan p = the_plan();
    handles h = {NULL, NULL, NULL};
    certreg_certificate c[QUESTIONS] = {{0}};
    p.memory = em, p.memory_bytes = sizeof em;
    start_watching(0);
    certreg_status status = certreg_estimator_create(NULL, &m, &p, NULL, &h.e);
    if (!status) status = certreg_solver_create(sm, sizeof sm, &h.s);
    if (!status) status = certreg_bisection_create(h.s, bm, sizeof bm, &h.b);
    if (!status) status = sample_and_certify(&h, c);
    destroy(&h);
    stop_watching();
    MUST(status);
    ck_assert_uint_eq(watch.asked, 0);
    ck_assert_int_eq(watch.live, 0);
}
END_TEST

/* Refuses the first block, then the second, and so on until none is left to refuse. */
START_TEST(every_refused_block_of_creation_is_no_memory_and_leaks_nothing)
{
    certreg_status status = CERTREG_NO_MEMORY;
    uint64_t k = 0;
    while (status == CERTREG_NO_MEMORY) {
        handles h;
        start_watching(++k);
        status = create(&h);
        destroy(&h);
        stop_watching();
        ck_assert_msg(status == CERTREG_NO_MEMORY || status == CERTREG_OK, "block %llu: status %d", (unsigned long long)k, (int)status);
        ck_assert_msg(status == CERTREG_NO_MEMORY || watch.asked < k, "block %llu was refused and not missed", (unsigned long long)k);
        ck_assert_msg(watch.live == 0, "block %llu refused: %lld blocks are left", (unsigned long long)k, (long long)watch.live);
        ck_assert_uint_lt(k, 100);
    }
    ck_assert_uint_eq(k, 4); /* three handles, one block each */
}
END_TEST

START_TEST(failed_creation_gives_no_handle_and_says_why)
{
    const certreg_model m = the_model();
    const certreg_plan p = the_plan();
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = (certreg_estimator *)&why;
    start_watching(1);
    const certreg_status status = certreg_estimator_create(NULL, &m, &p, &why, &e);
    stop_watching();
    ck_assert_int_eq(status, CERTREG_NO_MEMORY);
    ck_assert_int_eq(why.status, CERTREG_NO_MEMORY);
    ck_assert_ptr_null(e);
    ck_assert(why.text[0] != 0);
}
END_TEST

START_TEST(refused_temporary_solver_is_no_memory_and_the_record_stays)
{
    handles h;
    certreg_certificate with[QUESTIONS] = {{0}}, without[QUESTIONS];
    MUST(create(&h));
    MUST(sample_and_certify(&h, with));
    certreg_status status = CERTREG_NO_MEMORY;
    uint64_t k = 0;
    while (status == CERTREG_NO_MEMORY) {
        memset(without, 0xee, sizeof without); /* whatever was there must not survive */
        without->struct_size = sizeof *without;
        start_watching(++k);
        status = certreg_certify(h.e, NULL, 0, questions, QUESTIONS, without);
        stop_watching();
        ck_assert_int_eq(watch.live, 0);
        for (int q = 0; status && q < QUESTIONS; q++) {
            ck_assert(without[q].radius == 0);
            ck_assert_int_eq(without[q].outcome, CERTREG_ABSTAINED);
            ck_assert_int_eq(without[q].status, CERTREG_NO_MEMORY);
        }
        ck_assert_uint_lt(k, 100);
    }
    MUST(status);
    ck_assert_uint_gt(k, 1);
    for (int q = 0; q < QUESTIONS; q++) ck_assert(without[q].radius == with[q].radius);
    destroy(&h);
}
END_TEST

/* The C library keeps the stacks of threads that ended, so that the first round is not counted. */
START_TEST(refused_blocks_of_a_threaded_backend_leave_nothing)
{
    certreg_backend *backend = NULL;
    MUST(certreg_backend_open_cpu(3, NULL, &backend));
    certreg_backend_close(backend);
    for (uint64_t k = 1; k < 12; k++) {
        backend = NULL;
        start_watching(k);
        const certreg_status status = certreg_backend_open_cpu(3, NULL, &backend);
        certreg_backend_close(backend);
        stop_watching();
        ck_assert_msg(status == CERTREG_OK || status == CERTREG_NO_MEMORY, "block %llu: status %d", (unsigned long long)k, (int)status);
        ck_assert((status == CERTREG_OK) == (backend != NULL));
        ck_assert_msg(watch.live <= 0, "block %llu refused: %lld blocks are left", (unsigned long long)k, (long long)watch.live);
        if (watch.asked < k) ck_assert_int_eq(status, CERTREG_OK);
    }
}
END_TEST

/* Valgrind puts an allocator of its own before this one. */
static int is_ours(void)
{
    start_watching(0);
    void *volatile block = malloc(1);
    free(block);
    stop_watching();
    return watch.asked == 1;
}

int main(void)
{
    if (!is_ours()) return puts("fault_memory: skipped, another allocator stands before the one of this test"), 0;
    Suite *suite = suite_create("memory");
    TCase *typical = tcase_create("typical"), *bad_input = tcase_create("bad_input");
    tcase_set_timeout(typical, 30);
    tcase_set_timeout(bad_input, 30);
    tcase_add_test(typical, nothing_allocates_after_creation);
    tcase_add_test(typical, refusals_and_errors_allocate_nothing);
    tcase_add_test(typical, with_memory_of_the_caller_nothing_allocates_at_all);
    tcase_add_test(bad_input, every_refused_block_of_creation_is_no_memory_and_leaks_nothing);
    tcase_add_test(bad_input, failed_creation_gives_no_handle_and_says_why);
    tcase_add_test(bad_input, refused_temporary_solver_is_no_memory_and_the_record_stays);
    tcase_add_test(bad_input, refused_blocks_of_a_threaded_backend_leave_nothing);
    suite_add_tcase(suite, typical);
    suite_add_tcase(suite, bad_input);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}
#endif
