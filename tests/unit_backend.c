/* Contract suite: every instruction-set path and number of threads gives the bits of the plain
 * loops in ref_backend.c. */
#include "support/cpu_setups.h"
#include "support/made_up.h"
#include "support/ref_backend.h"
#include <certreg/backend.h>
#include <certreg/certreg.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WALK_BLOCKS = 7, WALK_LENGTHS = 2 * (WALK_BLOCKS + 1) };

typedef struct shape {
    size_t inputs;
    uint64_t first;
    size_t count;
    int32_t center;
    uint64_t seed, stream;
} shape;

static const shape shapes[] = {
    {1, 0, 1, 0, 0, 0},
    {1, 0, 100, 1, 1, 2},
    {2, 3, 33, 0, 2, 3},
    {3, 0, 65, 1, 0x0123456789ABCDEFu, 0xFEDCBA9876543210u},
    {4, 1, 31, 0, 4, 5},
    {5, 0, 1100, 1, 5, 6},
    {7, 1000, 64, 0, 6, 7},
    {12, 0, 97, 1, 7, 8},
    {15, 7, 40, 0, 8, 9},
    {16, 0, 32, 0, 9, 10},
    {17, 0, 32, 1, 10, 11},
    {63, 2, 70, 0, 11, 12},
    {64, 0, 70, 1, 12, 13},
    {65, 0, 70, 0, 13, 14},
    {127, 5, 45, 0, 14, 15},
    {128, 0, 45, 1, 15, 16},
    {129, 0, 45, 1, 16, 17},
    {130, 0, 350, 1, 16, 17}, /* enough work for several threads from here on */
    {255, 0, 150, 0, 17, 18},
    {256, 0, 150, 1, 18, 19},
    {257, 9, 150, 0, 19, 20},
    {784, 0, 200, 1, 20, 21},
    {1001, 3, 67, 0, 21, 22},
    {4095, 0, 10, 1, 22, 23},
    {4096, 0, 33, 0, 23, 24},
    {4097, 0, 9, 1, 24, 25},
    {9001, 1, 5, 0, 25, 26},
    {40000, 0, 2, 1, 26, 27},
    {8, 0xFFFFFFF0u, 64, 0, 27, 28}, /* block index crosses 2^32 */
    /* between the two blocks of one sample and the next */
    {6, 0x7FFFFFFFu, 10, 0, 28, UINT64_MAX},
    {784, 21913098, 60, 0, UINT64_MAX, 1}, /* inside a row: 196 * 21913098.. straddles 2^32 */
    /* the last blocks of a level */
    {4, (UINT64_C(1) << CR_LEVEL_BITS) - 100, 100, 0, 29, 30},
};
enum { BUSY = 21 /* enough for threads to meet */ };

/* a + offset lies one float off any alignment */
static float *floats(size_t n)
{
    return (float *)calloc(n + 1, sizeof(float)) + 1;
}

static void free_floats(float *a)
{
    free(a - 1);
}

static float *numbers(size_t n, uint32_t salt)
{
    float *a = floats(n);
    for (size_t j = 0; j < n; j++) a[j] = made_up(j, salt);
    return a;
}

static float *steps(size_t n, uint32_t salt)
{
    float *a = floats(n);
    for (size_t j = 0; j < n; j++) a[j] = made_up_step(j, salt);
    return a;
}

typedef struct results { /* of every op for one shape, from made-up numbers */
    float *x;            /* one float more than draw may write */
    /* of one and of two functions; dots, then norms; one double more each */
    double *sums[2], *projects;
    double *walk; /* lengths, dots, norms; one more */
    size_t n, count;
} results;

static double *doubles(size_t n)
{
    double *a = malloc(n * sizeof *a);
    for (size_t i = 0; i < n; i++) a[i] = 0.1 * (double)i; /* replay adds to what is there */
    return a;
}

static cr_noise noise_of(const shape *s)
{
    return (cr_noise){.seed = s->seed,
                      .noise_id = s->stream,
                      .level = s->inputs % 3 * (CR_LEVELS / 3),
                      .inputs = s->inputs,
                      .clean_first = s->center};
}

static results run(certreg_backend *backend, const shape *s)
{
    const cr_noise noise = noise_of(s);
    const size_t stride = s->count + 3, d = s->inputs;
    float *z = numbers(d, 1), *step = steps(d, 2), *weights = numbers(2 * stride, 3),
          *direction = numbers(d, 4), *mask = floats(d);
    results r = {.n = d, .count = s->count};
    r.x = floats(d * s->count + 1);
    r.x[d * s->count] = 77.0f;
    r.projects = doubles(2 * s->count + 1);
    for (size_t j = 0; j < d; j++) mask[j] = j % 5 != 3;
    ck_assert_int_eq(backend->ops->draw(backend, &noise, z, step, s->first, s->count, r.x),
                     CERTREG_OK);
    for (size_t f = 0; f < 2; f++) {
        r.sums[f] = doubles(2 * d + 1);
        const cr_weighted w = {.first = s->first,
                               .length = s->count,
                               .blocks = 1,
                               .functions = f + 1,
                               .weights = weights,
                               .stride = stride};
        ck_assert_int_eq(backend->ops->replay(backend, &noise, &w, NULL, r.sums[f], NULL),
                         CERTREG_OK);
    }
    ck_assert_int_eq(backend->ops->project(backend, &noise, s->first, s->count, direction, mask,
                                           r.projects, r.projects + s->count, NULL),
                     CERTREG_OK);
    r.walk = doubles(WALK_LENGTHS + 2 * s->count + 1);
    double *room = doubles(2 * WALK_BLOCKS * d), *dots = r.walk + WALK_LENGTHS;
    const cr_walk walk = {.first = s->first,
                          .count = s->count,
                          .blocks = WALK_BLOCKS,
                          .weights = weights,
                          .mask = mask,
                          .room = room,
                          .lengths = r.walk,
                          .dots = dots,
                          .norms = dots + s->count};
    ck_assert_int_eq(cr_backend_walk(backend, &noise, &walk, NULL), CERTREG_OK);
    free_floats(z), free_floats(step), free_floats(weights), free_floats(direction),
        free_floats(mask), free(room);
    return r;
}

static void release(results *r)
{
    free_floats(r->x), free(r->sums[0]), free(r->sums[1]), free(r->projects), free(r->walk);
}

/* Each assertion costs what hundreds of numbers do. */
static void same_doubles(const char *what, int setup, const double *ours, const double *theirs,
                         size_t n)
{
    size_t i = 0;
    while (i < n && !memcmp(ours + i, theirs + i, sizeof *ours)) i++;
    ck_assert_msg(i == n, "%s, path %d, %d threads, number %zu: %a, not %a", what,
                  setup / MOST_THREADS, 1 + setup % MOST_THREADS, i, ours[i < n ? i : 0],
                  theirs[i < n ? i : 0]);
}

static void same_floats(const char *what, int setup, const float *ours, const float *theirs,
                        size_t n)
{
    size_t i = 0;
    while (i < n && !memcmp(ours + i, theirs + i, sizeof *ours)) i++;
    ck_assert_msg(i == n, "%s, path %d, %d threads, number %zu: %a, not %a", what,
                  setup / MOST_THREADS, 1 + setup % MOST_THREADS, i, (double)ours[i < n ? i : 0],
                  (double)theirs[i < n ? i : 0]);
}

/* The last number of each is one that the op must leave alone. */
static void same(int setup, const results *ours, const results *theirs)
{
    same_floats("draw", setup, ours->x, theirs->x, ours->n * ours->count + 1);
    same_doubles("replay of one", setup, ours->sums[0], theirs->sums[0], 2 * ours->n + 1);
    same_doubles("replay of two", setup, ours->sums[1], theirs->sums[1], 2 * ours->n + 1);
    same_doubles("project", setup, ours->projects, theirs->projects, 2 * ours->count + 1);
    same_doubles("walk", setup, ours->walk, theirs->walk, WALK_LENGTHS + 2 * ours->count + 1);
}

TEST_ROWS(every_path_and_thread_count_gives_the_bits_of_the_specification, shapes)
{
    results theirs = run(ref_backend(), &shapes[_i]);
    for (int setup = 0; setup < SETUPS; setup++) {
        certreg_backend *backend = backend_of(setup);
        if (!backend) continue; /* this machine lacks the instructions */
        results ours = run(backend, &shapes[_i]);
        same(setup, &ours, &theirs);
        release(&ours);
        certreg_backend_close(backend);
    }
    results ours = run(cr_backend_default(), &shapes[_i]);
    same(0, &ours, &theirs);
    release(&ours);
    release(&theirs);
}

TEST_ROWS(normals_of_the_second_order_are_those_of_the_specification, shapes)
{
    const shape *s = &shapes[_i];
    const cr_noise noise = noise_of(s);
    const size_t n = s->inputs * s->count;
    float *theirs = floats(n + 1), *ours = floats(n + 1);
    for (size_t i = 0; i < n; i++)
        theirs[i] = ref_backend_normal(&noise, s->first + i / s->inputs, i % s->inputs);
    theirs[n] = ours[n] = 77.0f;
    for (int setup = 0; setup < SETUPS; setup++) {
        certreg_backend *backend = backend_of(setup);
        if (!backend) continue;
        ck_assert_int_eq(cr_cpu_normals(backend, &noise, s->first, s->count, ours), CERTREG_OK);
        same_floats("normals", setup, ours, theirs, n + 1);
        certreg_backend_close(backend);
    }
    free_floats(theirs), free_floats(ours);
}

TEST(default_backend_is_host_memory_of_this_version)
{
    ck_assert_ptr_nonnull(cr_backend_default());
    ck_assert_uint_eq(cr_backend_default()->ops->api_version, CR_BACKEND_API);
    ck_assert_int_eq(cr_backend_default()->ops->device, -1);
}

static void *run_many(void *backend)
{
    results first = run(backend, &shapes[BUSY]);
    for (int i = 0; i < 5; i++) {
        results again = run(backend, &shapes[BUSY]);
        same(0, &again, &first);
        release(&again);
    }
    release(&first);
    return NULL;
}

START_TEST(threads_that_share_a_backend_wait_for_nothing_and_get_the_same_bits)
{
    certreg_backend *backend = NULL;
    pthread_t other;
    ck_assert_int_eq(certreg_backend_open_cpu(3, NULL, &backend), CERTREG_OK);
    ck_assert_int_eq(pthread_create(&other, NULL, run_many, backend), 0);
    run_many(backend);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
    certreg_backend_close(backend);
}
END_TEST

TEST_TIMES(child_of_a_fork_is_told_and_can_close, 2)
{
    certreg_backend *backend = NULL;
    ck_assert_int_eq(certreg_backend_open_cpu(1 + _i, NULL, &backend), CERTREG_OK);
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = 1};
    const float one = 1;
    const cr_weighted w = {.length = 1, .blocks = 1, .functions = 1, .weights = &one};
    float x;
    double sum = 0, norm = 0;
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(600); /* if it hangs */
        int good = backend->ops->draw(backend, &noise, &one, &one, 0, 1, &x) ==
                   CERTREG_E_WRONG_STATE;
        good = good &&
               backend->ops->replay(backend, &noise, &w, NULL, &sum, NULL) == CERTREG_E_WRONG_STATE;
        good = good && backend->ops->project(backend, &noise, 0, 1, &one, &one, &sum, &norm,
                                             NULL) == CERTREG_E_WRONG_STATE;
        certreg_backend_close(backend);
        backend = cr_backend_default();
        good = good && backend->ops->draw(backend, &noise, &one, &one, 0, 1, &x) == CERTREG_OK;
        _exit(good ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(backend->ops->draw(backend, &noise, &one, &one, 0, 1, &x), CERTREG_OK);
    certreg_backend_close(backend);
}

TEST(wrong_numbers_of_functions_and_no_inputs_are_refused)
{
    certreg_backend *backend = cr_backend_default();
    const cr_noise noise = {.inputs = 1}, none = {.inputs = 0};
    const float one = 1;
    float x = 3;
    double sum = 4, norm = 5;
    cr_weighted w = {.length = 1, .blocks = 1, .functions = 0, .weights = &one};
    ck_assert_int_eq(backend->ops->replay(backend, &noise, &w, NULL, &sum, NULL),
                     CERTREG_E_INVALID);
    w.functions = 3;
    ck_assert_int_eq(backend->ops->replay(backend, &noise, &w, NULL, &sum, NULL),
                     CERTREG_E_INVALID);
    w.functions = 1;
    ck_assert_int_eq(backend->ops->replay(backend, &none, &w, NULL, &sum, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(backend->ops->draw(backend, &none, &one, &one, 0, 1, &x), CERTREG_E_INVALID);
    ck_assert_int_eq(backend->ops->project(backend, &none, 0, 1, &one, &one, &sum, &norm, NULL),
                     CERTREG_E_INVALID);
    cr_walk walk = {.count = 1,
                    .blocks = 2,
                    .weights = &one,
                    .mask = &one,
                    .room = &sum,
                    .lengths = &sum,
                    .dots = &sum,
                    .norms = &norm};
    ck_assert_int_eq(backend->ops->walk(backend, &noise, &walk, NULL), CERTREG_E_INVALID);
    walk.blocks = 3;
    ck_assert_int_eq(backend->ops->walk(backend, &none, &walk, NULL), CERTREG_E_INVALID);
    ck_assert(x == 3 && sum == 4 && norm == 5);
}

TEST(a_backend_may_lack_the_second_order)
{
    certreg_backend *plain = NULL;
    ck_assert_int_eq(certreg_backend_open_cpu(1, NULL, &plain), CERTREG_OK);
    cr_backend_ops ops = *plain->ops;
    plain->ops = &ops;
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    const certreg_model m = {.struct_size = sizeof m, .inputs = 3, .outputs = 1};
    certreg_plan plan = {
        .struct_size = sizeof plan, .max_samples = 100, .constraints = CERTREG_CONSTRAINTS_ECGHM};
    for (int lacks = 0; lacks < 2; lacks++) {
        if (lacks) ops.pairs = NULL;
        const certreg_status status = certreg_estimator_create(plain, &m, &plan, &why, &e);
        ck_assert_int_eq(status, lacks ? CERTREG_E_INVALID : CERTREG_OK);
        certreg_estimator_destroy(e);
    }
    ck_assert_ptr_nonnull(strstr(why.text, "this backend has no second order"));
    plan.constraints = CERTREG_CONSTRAINTS_ECGM;
    ck_assert_int_eq(certreg_estimator_create(plain, &m, &plan, &why, &e), CERTREG_OK);
    certreg_estimator_destroy(e);
    certreg_backend_close(plain);
}

static int slope(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = b->x[3 * i] - 0.5f * b->x[3 * i + 1];
    return 0;
}

/* By the martingale, which takes a walk. */
static double radius_with(certreg_backend *backend)
{
    certreg_estimator *e = NULL;
    const certreg_model m = {.struct_size = sizeof m, .eval = slope, .inputs = 3, .outputs = 1};
    const certreg_plan plan = {.struct_size = sizeof plan,
                               .max_samples = 20000,
                               .seed = 5,
                               .constraints = CERTREG_CONSTRAINTS_ECGM};
    const certreg_question q = {.struct_size = sizeof q,
                                .statistic = CERTREG_STATISTIC_MEDIAN,
                                .tolerance = 0.7,
                                .constraints = CERTREG_CONSTRAINTS_ECGM};
    certreg_certificate c = {.struct_size = sizeof c};
    ck_assert_int_eq(certreg_estimator_create(backend, &m, &plan, NULL, &e), CERTREG_OK);
    ck_assert_int_eq(certreg_estimator_begin(e, (const float[]){1, 2, 3}, 0.5, 1), CERTREG_OK);
    ck_assert_int_eq(certreg_certify(e, 20000, &q, 1, &c), CERTREG_OK);
    certreg_estimator_destroy(e);
    return c.radius;
}

TEST(what_a_backend_lacks_is_made_of_the_rest)
{
    certreg_backend *plain = NULL;
    ck_assert_int_eq(certreg_backend_open_cpu(1, NULL, &plain), CERTREG_OK);
    cr_backend_ops ops = *plain->ops;
    ops.walk = NULL, ops.pairs = NULL, plain->ops = &ops;
    ck_assert(!ops.draw_ahead && !ops.join);
    ck_assert_double_gt(radius_with(NULL), 0.1);
    ck_assert_double_eq(radius_with(plain), radius_with(NULL));
    certreg_backend_close(plain);
}

TEST(unknown_paths_are_refused)
{
    ck_assert_ptr_null(cr_cpu_path(-1));
    ck_assert_ptr_null(cr_cpu_path(3));
    ck_assert_ptr_nonnull(cr_cpu_best());
    certreg_backend *backend = backend_of(0);
    ck_assert_int_eq(cr_cpu_force(backend, 3), CERTREG_E_NO_BACKEND);
    results r = run(backend, &shapes[1]); /* still at work */
    release(&r);
    certreg_backend_close(backend);
}

int main(void)
{
    for (int path = 0; path < PATHS; path++)
        if (!cr_cpu_path(path))
            printf("unit_backend: this machine cannot run path %d, which stays untested\n", path);
    Suite *suite = kit_suite("backend");
    tcase_add_test(kit_case(suite, "threads"),
                   threads_that_share_a_backend_wait_for_nothing_and_get_the_same_bits);
    return kit_run(suite);
}
