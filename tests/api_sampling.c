/* Sampling: which rows the model is asked for, what noise they have, that results do not depend on
 * how the work was cut, and stops on request. And the seed of the noise: if the plan gives none, it
 * is drawn from the system, so that no model knows it. */
#include "support/api_kit.h"
#include "support/entropy.h"
#include <certreg/attack.h>
#include <errno.h>
#include <time.h>

/* ---- a model that writes down how it was called, and checks that every batch is as promised */
enum { INPUTS = 5, CAPACITY = 1000, BATCH = 16, CALLS = 128 };
static const float input[INPUTS] = {0.5f, -1, 3, -0.0f, 0.25f};
static const float scale[INPUTS] = {1, 2, 0, 0, 0.5f};
static const double sigma = 0.3;

static struct diary {
    size_t calls;
    struct {
        uint64_t first;
        size_t used_first, used_count;
    } call[CALLS];
    int only_wanted;  /* leaves out rows that are not wanted */
    int bad_batch;    /* a batch was not as promised */
    size_t cancel_at; /* call during which it cancels, counted from 1 */
    certreg_estimator *handle;
    uint64_t done[CALLS];
    size_t reports, refuse_at;
} book;

static float value_of(const float *x)
{
    return x[0] * x[0] + x[1] - 0.5f * x[4];
}

static int write_down(void *user, const certreg_batch *b)
{
    struct diary *d = user;
    if (b->struct_size < sizeof *b || b->device != -1 || b->rows != BATCH || b->inputs != INPUTS ||
        b->columns != 2 || b->first % BATCH || b->used_first + b->used_count > BATCH ||
        !b->used_count || (uintptr_t)b->x % 64 || b->stream)
        d->bad_batch = 1;
    for (size_t i = 0; i < b->rows * b->columns; i++) d->bad_batch |= !isnan(b->y[i]);
    if (d->calls < CALLS) {
        d->call[d->calls].first = b->first;
        d->call[d->calls].used_first = b->used_first;
        d->call[d->calls].used_count = b->used_count;
    }
    d->calls++;
    for (size_t i = 0; i < b->rows; i++) {
        if (d->only_wanted && (i < b->used_first || i >= b->used_first + b->used_count)) continue;
        b->y[2 * i] = value_of(b->x + i * INPUTS);
        b->y[2 * i + 1] = b->x[i * INPUTS];
    }
    if (d->calls == d->cancel_at) certreg_estimator_cancel(d->handle);
    return 0;
}

static int report(void *user, uint64_t done, uint64_t total)
{
    struct diary *d = user;
    if (d->reports < CALLS) d->done[d->reports] = done;
    d->bad_batch |= total != 200 || done > total;
    return ++d->reports == d->refuse_at;
}

static certreg_estimator *make(certreg_plan p)
{
    certreg_model m = KIT_MODEL(write_down, &book, INPUTS, 2, .batch = BATCH, .scale = scale);
    return book.handle = kit_begun(m, p, input, sigma, 4);
}

static certreg_plan plan_of_seed(uint64_t seed)
{
    return PLAN(.constraints = CERTREG_CONSTRAINTS_ECGM, .seed = seed, .max_samples = CAPACITY,
                .progress_user = &book);
}

/* ---- the system's randomness, as this program has it */
static const uint64_t *words; /* what it gives, one after the other; NULL: nothing */
static int draws;

static int entropy(void *out, size_t bytes)
{
    if (!words) return errno = ENOSYS, -1;
    ck_assert_uint_eq(bytes, sizeof *words);
    memcpy(out, words + draws++, bytes);
    return 0;
}

static certreg_estimator *e;

static void setup(void)
{
    memset(&book, 0, sizeof book);
    words = NULL, draws = 0;
    kit_entropy = entropy;
    e = make(plan_of_seed(11));
}

static void teardown(void)
{
    ck_assert_int_eq(book.bad_batch, 0);
}

/* ---- which rows */
static void check_call(size_t k, uint64_t first, size_t used_first, size_t used_count)
{
    ck_assert_uint_eq(book.call[k].first, first);
    ck_assert_uint_eq(book.call[k].used_first, used_first);
    ck_assert_uint_eq(book.call[k].used_count, used_count);
}

/* In batches of 16, of which rows that are not wanted may stay unwritten. */
static const struct {
    uint64_t first;
    size_t count, calls; /* all calls so far */
    struct {
        uint64_t first;
        size_t used_first, used_count;
    } last;
} spans[] = {{0, 40, 3, {32, 0, 8}},    {0, 40, 3, {32, 0, 8}},   {7, 20, 3, {32, 0, 8}},
             {3, 0, 3, {32, 0, 8}},     {0, 48, 4, {32, 8, 8}},   {0, 64, 5, {48, 0, 16}},
             {101, 2, 6, {96, 5, 2}},   {96, 16, 7, {96, 0, 16}}, /* one call for both ends of a
                                                                   * hole
                                                                   */
             {333, 1, 8, {320, 13, 1}}, {330, 4, 9, {320, 10, 3}}};

TEST(sampling_calls_the_model_for_missing_samples_only)
{
    book.only_wanted = 1;
    for (int i = 0; i < KIT_ROWS(spans); i++) {
        KIT_OK(e, certreg_estimator_sample(e, spans[i].first, spans[i].count));
        ck_assert_uint_eq(book.calls, spans[i].calls);
        check_call(book.calls - 1, spans[i].last.first, spans[i].last.used_first,
                   spans[i].last.used_count);
    }
    kit_ask(e, CAPACITY, kit_question(3));
}

/* ---- the noise */
/* The input itself comes first if there is a pilot. Noise never moves masked features, not even the
 * sign of their zeros, and has the deviation of the others. */
TEST(draw_gives_the_input_and_then_noise_of_the_scale)
{
    static float x[CAPACITY][INPUTS];
    float y[2][INPUTS];
    KIT_OK(e, certreg_estimator_draw(e, 0, CAPACITY, x[0]));
    ck_assert_mem_eq(x[0], input, sizeof input);
    for (size_t j = 0; j < INPUTS; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 1; i < CAPACITY; i++) {
            if (!(scale[j] > 0)) ck_assert_mem_eq(x[i] + j, input + j, sizeof *input);
            const double t = ((double)x[i][j] - (double)input[j]) / (sigma * (double)scale[j]);
            sum += t, squares += t * t;
        }
        const double n = CAPACITY - 1; /* five standard errors */
        if (scale[j] > 0) ck_assert_double_lt(fabs(sum / n), 5 / sqrt(n));
        if (scale[j] > 0) ck_assert_double_lt(fabs(squares / n - 1), 5 * sqrt(2 / n));
    }
    certreg_plan without = plan_of_seed(11);
    without.pilot = SIZE_MAX;
    certreg_estimator *plain = make(without);
    KIT_OK(plain, certreg_estimator_draw(plain, 0, 2, y[0]));
    ck_assert_float_ne(y[0][0], input[0]);
    ck_assert_mem_eq(x[1], y[1], sizeof x[1]);
}

TEST(draw_depends_on_seed_and_noise_id_alone)
{
    static const struct {
        uint64_t seed, noise_id;
        size_t max_samples;
        int is_same;
    } others[] = {{11, 5, CAPACITY, 0}, {11, 4, CAPACITY, 1}, {12, 4, 5000, 0}, {11, 4, 5000, 1}};
    float x[8][INPUTS], again[8][INPUTS];
    KIT_OK(e, certreg_estimator_draw(e, 1, 8, x[0]));
    for (int k = 0; k < KIT_ROWS(others); k++) {
        certreg_plan p = plan_of_seed(others[k].seed);
        p.max_samples = others[k].max_samples;
        certreg_estimator *other = make(p);
        KIT_OK(other, certreg_estimator_begin(other, input, sigma, others[k].noise_id));
        KIT_OK(other, certreg_estimator_draw(other, 1, 8, again[0]));
        for (int i = 0; i < 8; i++) ck_assert((x[i][0] == again[i][0]) == others[k].is_same);
    }
}

/* ---- the same bits, however the work was cut */
enum { RECORD = 16384 };
typedef struct outcome {
    unsigned char record[RECORD];
    size_t bytes;
    certreg_certificate answer[3];
} outcome;

static void collect(outcome *o)
{
    const certreg_question q[3] = {
        kit_question(0.8),
        QUESTION(.tolerance = 0.8, .statistic = CERTREG_STATISTIC_HUBER, .huber_width = 0.4,
                 .method = CERTREG_METHOD_ASYMPTOTIC),
        QUESTION(.tolerance = 0.8, .statistic = CERTREG_STATISTIC_MEAN,
                 .center = CERTREG_CENTER_TRUE_MEAN, .method = CERTREG_METHOD_PAPER, .output = 1)};
    memset(o, 0, sizeof *o);
    for (int i = 0; i < 3; i++) o->answer[i] = kit_certificate();
    KIT_OK(e, certreg_certify(e, 0, q, 3, o->answer));
    o->bytes = kit_export(e, o->record, RECORD);
    ck_assert_int_eq(o->answer[0].outcome, CERTREG_OUTCOME_CERTIFIED);
}

static void in_parts(void)
{
    for (size_t at = 0, step = 1; at < CAPACITY; at += step, step = step % 37 + 5)
        KIT_OK(e, certreg_estimator_sample(e, at, CAPACITY - at < step ? CAPACITY - at : step));
}

static void one_by_one_shuffled(void)
{
    for (size_t k = 0; k < CAPACITY; k++)
        KIT_OK(e, certreg_estimator_sample(e, (k * 617 + 5) % CAPACITY, 1));
}

/* From the end to the beginning, ten at a time within; then again, since it agrees. */
static void by_draw_and_record(void)
{
    static float x[CAPACITY][INPUTS], y[CAPACITY][2];
    for (size_t at = CAPACITY; at > 0; at -= 50) {
        KIT_OK(e, certreg_estimator_draw(e, at - 50, 50, x[at - 50]));
        for (size_t i = at - 50; i < at; i++) y[i][0] = value_of(x[i]), y[i][1] = x[i][0];
        for (size_t i = at - 50; i < at; i += 10)
            KIT_OK(e, certreg_estimator_record(e, i, 10, y[i]));
    }
    KIT_OK(e, certreg_estimator_record(e, 0, CAPACITY, y[0]));
}

static void (*const ways[])(void) = {in_parts, one_by_one_shuffled, by_draw_and_record};

/* Nor on another input between. */
TEST_ROWS(sampling_results_do_not_depend_on_how_it_was_cut, ways)
{
    static outcome whole, cut;
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    collect(&whole);
    KIT_OK(e, certreg_estimator_begin(e, (const float[INPUTS]){3, 1, 4, 1, 5}, 0.1, 9));
    KIT_OK(e, certreg_estimator_sample(e, 0, 77));
    KIT_OK(e, certreg_estimator_begin(e, input, sigma, 4));
    ways[_i]();
    collect(&cut);
    ck_assert_mem_eq(&whole, &cut, sizeof whole);
}

/* ---- stops on request: by progress, by cancel, by a deadline. What there was stays */
TEST(sampling_reports_progress_which_may_cancel)
{
    certreg_plan p = plan_of_seed(11);
    p.progress = report;
    certreg_estimator *told = make(p);
    KIT_OK(told, certreg_estimator_sample(told, 8, 200));
    ck_assert_uint_eq(book.reports, 13); /* half a batch, then twelve whole ones */
    for (size_t i = 0; i < book.reports; i++) ck_assert_uint_eq(book.done[i], 8 + 16 * i);
    KIT_OK(told, certreg_estimator_begin(told, input, sigma, 5));
    book.refuse_at = book.reports + 3;
    KIT_STATUS(told, certreg_estimator_sample(told, 0, 200), CERTREG_E_CANCELLED);
    ck_assert_uint_eq(book.calls, 13 + 3);
    KIT_OK(told, certreg_estimator_sample(told, 0, 200));
    ck_assert_uint_eq(book.calls, 13 + 13);
}

TEST(sampling_is_cancelled_after_the_batch_of_the_callback)
{
    book.cancel_at = 2;
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 200), CERTREG_E_CANCELLED);
    ck_assert_uint_eq(book.calls, 2);
    KIT_SAYS(certreg_estimator_error(e), "32 samples");
    KIT_OK(e, certreg_estimator_sample(e, 0, 200)); /* told once, and then it goes on */
    ck_assert_uint_eq(book.calls, 13);
    /* during the last batch of a call: that one is complete, the next one tells, also after begin
     */
    book.cancel_at = book.calls + 1;
    KIT_OK(e, certreg_estimator_sample(e, 200, 8));
    KIT_OK(e, certreg_estimator_begin(e, input, sigma, 4));
    KIT_STATUS(e, certreg_estimator_sample(e, 208, 100), CERTREG_E_CANCELLED);
    ck_assert_uint_eq(book.calls, 14);
    KIT_OK(e, certreg_estimator_sample(e, 208, 100));
}

TEST(sampling_after_a_deadline_leaves_the_record_alone)
{
    KIT_OK(e, certreg_estimator_sample(e, 0, 100));
    certreg_estimator_set_deadline(e, 1e-9);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    KIT_OK(e, certreg_estimator_sample(e, 0, 100)); /* nothing is missing, so nothing is late */
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 101), CERTREG_E_DEADLINE);
    static const double over[] = {0, -0.0, -1, -INFINITY}; /* of a loop that is late */
    for (size_t i = 0; i < sizeof over / sizeof *over; i++) {
        KIT_OK(e, certreg_estimator_set_deadline(e, INFINITY));
        KIT_OK(e, certreg_estimator_set_deadline(e, over[i]));
        KIT_STATUS(e, certreg_estimator_sample(e, 0, 101), CERTREG_E_DEADLINE);
    }
    KIT_STATUS(e, certreg_estimator_set_deadline(e, NAN), CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_estimator_sample(e, 0, 101), CERTREG_E_DEADLINE);
    KIT_OK(e, certreg_estimator_set_deadline(e, INFINITY));
    KIT_OK(e, certreg_estimator_sample(e, 0, 101));
}

/* ---- the seed */
/* Zero is drawn again. One that was drawn stays, and draws what it draws if it is given. */
TEST(seed_is_drawn_once_by_each_new_estimator)
{
    const certreg_plan zero = plan_of_seed(0);
    const certreg_model m = kit_model(kit_identity, NULL, 2, 1);
    const certreg_attack_plan of_attack = {.struct_size = sizeof of_attack, .max_calls = 100};
    certreg_attack *a = NULL;
    float x[INPUTS], y[INPUTS];
    size_t bytes;
    words = (const uint64_t[]){0, 0, 7, 8};
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &zero, NULL, &bytes, NULL), CERTREG_OK);
    ck_assert_int_eq(draws, 0);
    certreg_estimator *drawn = make(zero);
    ck_assert_int_eq(draws, 3);
    KIT_OK(drawn, certreg_estimator_begin(drawn, input, sigma, 4));
    ck_assert_int_eq(certreg_attack_create(drawn, &of_attack, NULL, &a), CERTREG_OK);
    certreg_attack_destroy(a);
    ck_assert_int_eq(draws, 3);
    ck_assert_uint_eq(asks_run(drawn).seed, 7);
    ck_assert_uint_eq(asks_run(make(zero)).seed, 8);
    certreg_estimator *given = make(plan_of_seed(7));
    KIT_OK(drawn, certreg_estimator_draw(drawn, 1, 1, x));
    KIT_OK(given, certreg_estimator_draw(given, 1, 1, y));
    ck_assert_mem_eq(x, y, sizeof x);
}

TEST(seed_of_zero_is_refused_without_randomness)
{
    const certreg_model m = kit_model(kit_identity, NULL, 2, 1);
    const certreg_plan p = plan_of_seed(0);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *none = NULL;
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &none), CERTREG_E_INVALID);
    ck_assert_ptr_null(none);
    KIT_SAYS(&why, "plan.seed is 0");
    KIT_SAYS(&why, "give a seed");
}

/* ---- a model that contains the generator: 0 at the points of one seed and noise id and 10
 * elsewhere, so that the smoothed model is 10 everywhere */
enum { FEATURES = 8, CERTIFICATES = 20 };
static const float z[FEATURES];
static float points[CAPACITY][FEATURES];

static int foreseen(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * FEATURES;
        int k = 0;
        while (k < CAPACITY && (x[0] != points[k][0] || memcmp(x, points[k], sizeof *points))) k++;
        b->y[i] = k < CAPACITY ? 0 : 10;
    }
    return 0;
}

static const struct {
    uint64_t known, given;
    int false_certificates;
} knowing[] = {{7, 0, 0}, {7, 8, 0}, {7, 7, CERTIFICATES}}; /* the premise: it knows no seed */

/* Certificates at alpha = .001 of which the prediction is not even that of z. */
TEST_ROWS(seed_that_a_model_knows_makes_every_certificate_false, knowing)
{
    const certreg_question q = QUESTION(.tolerance = 1, .alpha = 0.001);
    int wrong = 0;
    kit_entropy = NULL; /* every byte of a seed is 1 */
    certreg_estimator *certifies = kit_begun(kit_model(foreseen, NULL, FEATURES, 1),
                                             plan_of_seed(knowing[_i].given), z, 0.25, 0),
                      *fore = kit_begun(kit_model(NULL, NULL, FEATURES, 1),
                                        plan_of_seed(knowing[_i].known), z, 0.25, 0);
    for (uint64_t id = 0; id < CERTIFICATES; id++) {
        KIT_OK(fore, certreg_estimator_begin(fore, z, 0.25, id));
        KIT_OK(fore, certreg_estimator_draw(fore, 0, CAPACITY, points[0]));
        KIT_OK(certifies, certreg_estimator_begin(certifies, z, 0.25, id));
        const certreg_certificate c = kit_ask(certifies, CAPACITY, q);
        ck_assert_double_gt(c.radius, 0.25); /* never for want of a certificate */
        wrong += fabs(c.prediction - 10) >= q.tolerance;
    }
    ck_assert_int_eq(wrong, knowing[_i].false_certificates);
}

FIXTURE(setup, teardown)
KIT_MAIN("sampling")
