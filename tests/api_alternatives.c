/* Inputs with alternatives: the certificate of a set follows from certificates of its alternatives
 * that are made one by one, whatever shares its calls; what is refused; and what ends a set. */
#include "support/api_kit.h"
#include <certreg/queue.h>

enum { D = 3, COUNT = 6, SAMPLES = 400, PILOT = 40, SETS = 4, MAX_OUT = 3 };
static const float scale[D] = {1, 1, 0};
static const float failing = -77; /* of feature 2: all outputs are NaN */
static const double sigma = 0.5;

/* Feature 2 is a category, which shifts the output. */
static float predict(const float *x)
{
    return x[2] == failing ? NAN : x[0] + 0.3f * x[1] * x[1] + 0.1f * x[2];
}

static int model(void *user, const certreg_batch *b)
{
    size_t *rows = user;
    if (rows) *rows += b->used_count;
    for (size_t i = 0; i < b->used_count; i++)
        b->y[b->used_first + i] = predict(b->x + (b->used_first + i) * D);
    return 0;
}

typedef struct a_set { /* of one input */
    float z[D], changed[COUNT * D];
    double margins[COUNT];
    uint64_t noise_id;
} a_set;

static a_set set_of(size_t i)
{
    a_set s = {.z = {(float)(i % 5) / 5, 0.25f, 0}, .noise_id = 1000 * i};
    for (size_t a = 0; a < COUNT; a++) {
        memcpy(s.changed + a * D, s.z, sizeof s.z);
        s.changed[a * D + 2] = (float)(a + 1);
        s.margins[a] = a % 2 ? 0.01 * (double)(a + i) : 0;
    }
    return s;
}

static certreg_estimator *estimator(size_t pilot, size_t max_samples)
{
    const certreg_model m =
        MODEL(.eval = model, .inputs = D, .outputs = 1, .batch = 50, .scale = scale);
    const certreg_plan p = PLAN(.seed = 9, .max_samples = max_samples, .pilot = pilot);
    certreg_estimator *e;
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, NULL, &e), CERTREG_OK);
    return e;
}

/* One certificate after another, by estimators (theory 1.11). */
typedef struct expected {
    double radius, estimates[COUNT + 1], radii[COUNT + 1];
    uint32_t limiting, failed;
    uint64_t rows;
} expected;

/* A target beyond a margin is rounded up, so that alternatives with about the same margin share the
 * tests of it. */
static double goal_of(double margin, double target)
{
    const double sum = margin + target, step = exp2(ceil(32 * log2(sum / sigma)) / 32);
    return nextafter(margin > 0 ? fmax(sum, sigma * step) : target, INFINITY);
}

static expected one_by_one(const a_set *s, certreg_question q)
{
    const double target = q.target ? q.target->radius : 0;
    expected x = {.radius = INFINITY, .failed = COUNT + 1};
    double prediction = 0;
    for (uint32_t a = 0; a <= COUNT; a++) {
        const double margin = a ? s->margins[a - 1] : 0;
        certreg_target t = {
            .struct_size = sizeof t, .radius = goal_of(margin, target), .growth = 1.5};
        certreg_certificate c = kit_certificate();
        const size_t samples = a ? SAMPLES - PILOT : SAMPLES;
        certreg_estimator *e = estimator(a ? SIZE_MAX : PILOT, samples);
        if (target > 0) q.target = &t;
        KIT_OK(e, certreg_estimator_begin(e, a ? s->changed + (a - 1) * D : s->z, sigma,
                                          a ? s->noise_id + 100 + a : s->noise_id));
        if (!a) {
            KIT_OK(e, certreg_estimator_sample(e, 0, PILOT));
            KIT_OK(e, certreg_estimator_prediction(e, &q, &prediction));
        }
        q.prediction = &prediction;
        q.prediction_count = 1;
        KIT_OK(e, certreg_certify(e, samples, &q, 1, &c));
        const double left = margin > 0 ? nextafter(c.radius - margin, -INFINITY) : c.radius;
        x.estimates[a] = c.estimate;
        x.radii[a] = left > 0 ? left : 0;
        if (x.failed > COUNT) x.rows += c.samples;
        if (x.failed > COUNT && left < x.radius) {
            x.radius = left;
            x.limiting = a;
        }
        if (x.failed > COUNT && !(target > 0 ? c.radius >= t.radius : left > 0)) {
            x.failed = x.limiting = a;
            x.radius = 0;
        }
        certreg_estimator_destroy(e);
    }
    return x;
}

/* ---- the same in a queue */
typedef struct setting {
    size_t batch, capacity, out; /* out 0: by the model's callback */
    certreg_question q;
    uint32_t watch, estimate_all;
    certreg_alternative_write write;
} setting;

typedef struct answer {
    certreg_certificate c;
    certreg_queue_result r;
    certreg_alternative_result each[COUNT + 1];
    certreg_error error;
    uint32_t limiting;
} answer;

static certreg_queue_keep keep;
static void *keep_user;

static certreg_queue *queue_of(const setting *s, size_t *rows)
{
    const certreg_model m = MODEL(.eval = s->out ? NULL : model, .user = rows, .inputs = D,
                                  .outputs = 1, .batch = s->batch, .scale = scale);
    const certreg_plan p = PLAN(.seed = 9, .max_samples = SAMPLES, .pilot = PILOT);
    const certreg_queue_plan qp = {.struct_size = sizeof qp,
                                   .flags = CERTREG_QUEUE_SPLIT,
                                   .capacity = s->capacity,
                                   .calls = s->out,
                                   .sets = s->capacity < SETS ? 1 : SETS,
                                   .alternatives = COUNT,
                                   .keep = keep,
                                   .keep_user = keep_user};
    certreg_error why = {.struct_size = sizeof why};
    certreg_queue *q;
    ck_assert_msg(!certreg_queue_create(NULL, &m, &p, &qp, &why, &q), "%s", why.text);
    return q;
}

static certreg_status add(certreg_queue *q, const setting *s, size_t tag, const a_set *set,
                          int32_t *full)
{
    const certreg_alternatives a = {.struct_size = sizeof a,
                                    .count = COUNT,
                                    .z = s->write ? NULL : set->changed,
                                    .margins = s->write ? NULL : set->margins,
                                    .write = s->write,
                                    .user = (void *)(uintptr_t)set,
                                    .first_noise_id = set->noise_id + 100,
                                    .watch = s->watch,
                                    .estimate_all = s->estimate_all};
    const certreg_queue_input in = {.struct_size = sizeof in,
                                    .tag = tag,
                                    .z = set->z,
                                    .sigma = sigma,
                                    .noise_id = set->noise_id,
                                    .questions = &s->q,
                                    .count = 1,
                                    .alternatives = &a};
    return certreg_queue_add(q, &in, full);
}

static void compute(certreg_queue *q, size_t out)
{
    certreg_queue_call c[MAX_OUT];
    float y[1024];
    size_t n = 0;
    if (!out) {
        ck_assert_msg(!certreg_queue_run(q), "%s", certreg_queue_error(q)->text);
        return;
    }
    for (; n < out; n++) {
        c[n] = (certreg_queue_call){.struct_size = sizeof *c};
        ck_assert_int_eq(certreg_queue_next(q, 0, c + n), CERTREG_OK);
        if (c[n].state != CERTREG_CALL_ROWS) break;
    }
    while (n-- > 0) {
        for (size_t i = 0; i < c[n].used; i++) y[i] = predict(c[n].x + i * D);
        ck_assert_int_eq(certreg_queue_give(q, c[n].ticket, y, 0, NULL), CERTREG_OK);
    }
}

static int take(certreg_queue *q, answer *a)
{
    memset(a, 0, sizeof *a);
    a->c.struct_size = sizeof a->c;
    a->error.struct_size = sizeof a->error;
    a->each->struct_size = sizeof *a->each;
    a->r = (certreg_queue_result){.struct_size = sizeof a->r,
                                  .error = &a->error,
                                  .room = 1,
                                  .certificates = &a->c,
                                  .limiting = &a->limiting,
                                  .alternatives = a->each,
                                  .alternative_room = COUNT + 1};
    ck_assert_int_eq(certreg_queue_take(q, &a->r), CERTREG_OK);
    return a->r.state;
}

static void run_sets(const setting *s, const a_set *sets, size_t count, answer *out)
{
    certreg_queue *q = queue_of(s, NULL);
    answer a;
    for (size_t next = 0, done = 0; done < count;) {
        for (int32_t full = 0; next < count && !full; next += !full)
            ck_assert_msg(!add(q, s, next, sets + next, &full), "%s", certreg_queue_error(q)->text);
        compute(q, s->out);
        for (; take(q, &a); done++) out[a.r.tag] = a;
    }
    certreg_queue_destroy(q);
}

static void same_as_one_by_one(certreg_question question)
{
    static const size_t batches[] = {16, 100, 1000}, capacities[] = {1, 5, 40}, out[] = {0, 1, 3};
    a_set sets[SETS];
    expected x[SETS];
    answer first[SETS], a[SETS];
    for (size_t i = 0; i < SETS; i++) {
        sets[i] = set_of(i);
        x[i] = one_by_one(sets + i, question);
    }
    for (size_t k = 0; k < 27; k++) {
        const setting s = {.batch = batches[k % 3],
                           .capacity = capacities[k / 3 % 3],
                           .out = out[k / 9],
                           .q = question,
                           .watch = 2,
                           .estimate_all = 1};
        run_sets(&s, sets, SETS, k ? a : first);
        for (size_t i = 0; i < SETS; i++) {
            const answer *got = k ? a + i : first + i;
            ck_assert_int_eq(got->r.status, CERTREG_OK);
            ck_assert_double_eq(got->c.radius, x[i].radius);
            ck_assert_uint_eq(got->limiting, x[i].limiting);
            ck_assert_uint_eq(got->r.alternative_count, COUNT + 1);
            ck_assert_uint_eq(got->c.samples, x[i].rows);
            if (question.target && got->c.radius == 0)
                ck_assert(got->c.reason == CERTREG_REASON_TARGET ||
                          got->c.reason == CERTREG_REASON_ALTERNATIVE);
            ck_assert_mem_eq(&got->c, &first[i].c, sizeof got->c);
            ck_assert_mem_eq(got->each, first[i].each, sizeof got->each);
            for (size_t n = 0; n <= COUNT; n++) {
                if (!question.target) ck_assert_double_eq(got->each[n].estimate, x[i].estimates[n]);
                ck_assert_int_eq(got->each[n].state, n < x[i].failed    ? 1
                                                     : n == x[i].failed ? 2
                                                                        : 0);
                if (n != 2) ck_assert(isnan(got->each[n].radius));
            }
            if (x[i].failed > 2) ck_assert_double_eq(got->each[2].radius, x[i].radii[2]);
        }
    }
}

TEST(the_least_radius_is_that_of_certificates_one_by_one)
{
    same_as_one_by_one(QUESTION(.tolerance = 2));
}

TEST(a_failed_alternative_ends_what_comes_after_it)
{
    same_as_one_by_one(QUESTION(.tolerance = 0.9));
}

TEST(targets_are_proved_as_one_by_one)
{
    const certreg_target t = {.struct_size = sizeof t, .radius = 0.25, .growth = 1.5};
    same_as_one_by_one(QUESTION(.tolerance = 2, .target = &t));
    same_as_one_by_one(QUESTION(.tolerance = 1, .target = &t));
}

/* ---- parts of alternatives */
typedef struct family {         /* x[0] moves by 0 to 2, in one alternative, which is halved */
    int asked[64];              /* by noise id: how often a part was asked for */
    unsigned char *records[64]; /* by noise id; NULL: none */
    size_t bytes[64];
    int kept;
} family;

static size_t place(uint32_t number, uint32_t depth, uint32_t path)
{
    return number ? ((size_t)2 << depth) - 2 + ((size_t)number << depth) + path : 0;
}

static int halve(void *user, certreg_alternative *a)
{
    family *f = user;
    const size_t at = place(a->number, a->depth, a->path);
    const double width = ldexp(2, -(int)a->depth), middle = width * (0.5 + a->path);
    f->asked[at]++;
    a->record = f->records[at];
    a->record_bytes = f->bytes[at];
    if (!a->number) return 0;
    if (a->number > 1) a->halvings = 0;
    a->z[0] += (float)middle;
    a->margin = width / 2;
    return 0;
}

static int keep_record(void *user, const certreg_queue_row *of, const void *record, size_t bytes)
{
    family *f = user;
    const size_t at = place(of->number, of->depth, of->path);
    free(f->records[at]);
    f->records[at] = malloc(bytes);
    memcpy(f->records[at], record, bytes);
    f->bytes[at] = bytes;
    f->kept++;
    return 0;
}

static answer certify_family(family *f, size_t capacity, size_t out, double tolerance,
                             uint32_t halvings, size_t *rows)
{
    const certreg_target t = {.struct_size = sizeof t, .radius = 0.2, .growth = 1.5};
    const certreg_question q = QUESTION(.tolerance = tolerance, .target = &t);
    const setting s = {.batch = 32, .capacity = capacity, .out = out, .q = q};
    const certreg_alternatives a = {.struct_size = sizeof a,
                                    .count = 1,
                                    .write = halve,
                                    .user = f,
                                    .first_noise_id = 100,
                                    .halvings = halvings};
    const float z[D] = {0.25f, 0, 0};
    const certreg_queue_input in = {.struct_size = sizeof in,
                                    .z = z,
                                    .sigma = sigma,
                                    .questions = &q,
                                    .count = 1,
                                    .alternatives = &a};
    answer x;
    keep = keep_record;
    keep_user = f;
    certreg_queue *handle = queue_of(&s, rows);
    keep = NULL;
    ck_assert_msg(!certreg_queue_add(handle, &in, NULL), "%s", certreg_queue_error(handle)->text);
    while (!take(handle, &x)) compute(handle, out);
    certreg_queue_destroy(handle);
    return x;
}

static void free_records(family *f)
{
    for (size_t i = 0; i < 64; i++) free(f->records[i]);
    *f = (family){.kept = 0};
}

/* The whole alternative, with a margin of 1, is not proved; four parts of it are. */
TEST(a_part_that_is_not_proved_is_halved)
{
    answer first = {.limiting = 0};
    for (size_t k = 0; k < 6; k++) {
        family f = {.kept = 0};
        const answer x = certify_family(&f, k % 2 ? 1 : 8, k / 2, 2.4, 2, NULL);
        ck_assert_int_eq(x.r.status, CERTREG_OK);
        ck_assert_double_ge(x.c.radius, 0.2);
        ck_assert_int_eq(x.c.stop, CERTREG_STOP_TARGET);
        ck_assert_double_eq(x.c.alpha, 0.05);
        ck_assert_uint_eq(x.r.proved, 2);
        ck_assert_int_eq(f.asked[place(1, 0, 0)], 1);
        ck_assert_int_eq(f.asked[place(1, 1, 0)], 1);
        ck_assert_int_eq(f.asked[place(1, 1, 1)], 1);
        if (!k) first = x;
        ck_assert_mem_eq(&x.c, &first.c, sizeof x.c);
        free_records(&f);
    }
}

TEST(a_part_that_may_not_be_halved_fails)
{
    family f = {.kept = 0};
    const answer x = certify_family(&f, 8, 0, 1.5, 1, NULL);
    ck_assert_int_eq(x.r.status, CERTREG_OK);
    ck_assert_double_eq(x.c.radius, 0);
    ck_assert_int_eq(x.c.outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_int_eq(x.c.stop, CERTREG_STOP_HOPELESS);
    ck_assert_uint_eq(x.limiting, 1);
    ck_assert_uint_eq(x.r.proved, 1);
    free_records(&f);
}

TEST(records_that_were_kept_answer_without_the_model)
{
    family f = {.kept = 0};
    size_t rows = 0;
    const answer x = certify_family(&f, 8, 0, 2.4, 2, &rows);
    ck_assert_uint_gt(rows, 0);
    ck_assert_int_ge(f.kept, 4);
    rows = 0;
    const answer again = certify_family(&f, 8, 0, 2.4, 2, &rows);
    ck_assert_uint_eq(rows, 0);
    ck_assert_mem_eq(&x.c, &again.c, sizeof x.c);
    free_records(&f);
}

/* ---- failures */
static answer one_set(const setting *s, const a_set *set)
{
    answer x;
    run_sets(s, set, 1, &x);
    return x;
}

TEST(an_alternative_with_useless_outputs_fails_the_input)
{
    const setting s = {.batch = 64, .capacity = 10, .q = QUESTION(.tolerance = 2)};
    a_set set = set_of(0);
    set.changed[3 * D + 2] = failing;
    answer x = one_set(&s, &set);
    ck_assert_int_eq(x.r.status, CERTREG_E_NOT_FINITE);
    ck_assert_int_eq(x.c.status, CERTREG_E_NOT_FINITE);
    KIT_SAYS(&x.error, "alternative 4: sample");
    ck_assert_uint_eq(x.limiting, 4);
    set.margins[1] = 5; /* number 2 fails before it, so that it decides nothing */
    x = one_set(&s, &set);
    ck_assert_int_eq(x.r.status, CERTREG_OK);
    ck_assert_uint_eq(x.limiting, 2);
    ck_assert_double_eq(x.c.radius, 0);
    ck_assert_int_eq(x.c.reason, CERTREG_REASON_MOVED);
}

TEST(an_input_without_a_prediction_fails_with_its_set)
{
    const setting s = {
        .batch = 64, .capacity = 10, .q = QUESTION(.tolerance = 2), .estimate_all = 1};
    a_set set = set_of(0);
    set.z[2] = failing;
    const answer x = one_set(&s, &set);
    ck_assert_int_eq(x.r.status, CERTREG_E_NOT_FINITE);
    ck_assert_uint_eq(x.limiting, 0);
}

TEST(a_change_that_moves_the_estimate_is_named_as_the_reason)
{
    const setting s = {.batch = 64, .capacity = 10, .q = QUESTION(.tolerance = 1.5)};
    a_set set = set_of(0);
    set.changed[1 * D + 2] = 40;
    const answer x = one_set(&s, &set);
    ck_assert_int_eq(x.c.reason, CERTREG_REASON_ALTERNATIVE);
    ck_assert_uint_eq(x.limiting, 2);
    ck_assert_double_gt(x.each[2].estimate, x.c.prediction + 3.5);
}

static int refusing(void *user, certreg_alternative *a)
{
    (void)user;
    return a->number == 2 ? 5 : 0;
}

static int changing_the_input(void *user, certreg_alternative *a)
{
    (void)user;
    a->z[0] += 1;
    return 0;
}

TEST(a_callback_may_refuse_but_not_change_the_input)
{
    setting s = {.batch = 64, .capacity = 10, .q = QUESTION(.tolerance = 2), .write = refusing};
    const a_set set = set_of(0);
    const answer x = one_set(&s, &set);
    ck_assert_int_eq(x.r.status, CERTREG_E_INVALID);
    ck_assert_int_eq(x.error.code, 5);
    KIT_SAYS(&x.error, "alternative 2: write returned 5");
    s.write = changing_the_input;
    certreg_queue *q = queue_of(&s, NULL);
    ck_assert_int_eq(add(q, &s, 0, &set, NULL), CERTREG_E_INVALID);
    KIT_SAYS(certreg_queue_error(q), "alternative 0");
    certreg_queue_destroy(q);
}

static void refused(certreg_queue *q, const certreg_question *questions, size_t count,
                    const certreg_alternatives *a, const char *word)
{
    static const float z[D];
    const certreg_queue_input in = {.struct_size = sizeof in,
                                    .z = z,
                                    .sigma = sigma,
                                    .questions = questions,
                                    .count = count,
                                    .alternatives = a};
    int32_t full = 1;
    ck_assert_int_eq(certreg_queue_add(q, &in, &full), CERTREG_E_INVALID);
    ck_assert_int_eq(full, 0);
    KIT_SAYS(certreg_queue_error(q), word);
}

TEST(refused_sets_are_named)
{
    static const float z[D];
    static const double below = -1;
    static const uint64_t look = 100;
    const certreg_target t = {
        .struct_size = sizeof t, .radius = 1, .look_count = 1, .looks = &look};
    const setting s = {.batch = 64, .capacity = 10};
    const certreg_question q[2] = {QUESTION(.tolerance = 1), QUESTION(.tolerance = 1)};
    certreg_question other = q[0];
    const certreg_alternatives good = {
        .struct_size = sizeof good, .count = 1, .z = z, .first_noise_id = 100};
    certreg_alternatives a = good;
    certreg_queue *handle = queue_of(&s, NULL);
    refused(handle, q, 2, &good, "1 questions");
    a.count = COUNT + 1;
    refused(handle, q, 1, &a, "count");
    a = good, a.z = NULL;
    refused(handle, q, 1, &a, "z or write");
    a = good, a.margins = &below;
    refused(handle, q, 1, &a, "margins");
    a = good, a.halvings = 1;
    refused(handle, q, 1, &a, "halvings");
    a = good, a.watch = 2;
    refused(handle, q, 1, &a, "watch");
    a = good, a.first_noise_id = 0;
    refused(handle, q, 1, &a, "noise id");
    a = good, a.first_noise_id = UINT64_MAX - 1;
    refused(handle, q, 1, &a, "first_noise_id");
    other.center = CERTREG_CENTER_SAMPLE_MEDIAN, other.method = CERTREG_METHOD_BASELINE;
    refused(handle, &other, 1, &good, "CENTER_PREDICTION");
    other = q[0], other.method = CERTREG_METHOD_BASELINE;
    refused(handle, &other, 1, &good, "CERTREG_METHOD_FINITE");
    other = q[0], other.target = &t;
    refused(handle, &other, 1, &good, "looks");
    certreg_queue_destroy(handle);
}

TEST(a_set_that_is_cancelled_claims_nothing)
{
    const setting s = {.batch = 64, .capacity = 10, .q = QUESTION(.tolerance = 2)};
    const a_set set = set_of(0);
    answer x;
    certreg_queue *q = queue_of(&s, NULL);
    ck_assert_int_eq(add(q, &s, 0, &set, NULL), CERTREG_OK);
    certreg_queue_cancel(q);
    ck_assert_int_eq(certreg_queue_run(q), CERTREG_OK);
    ck_assert(take(q, &x));
    ck_assert_int_eq(x.r.status, CERTREG_OK);
    ck_assert_int_eq(x.c.stop, CERTREG_STOP_CANCELLED);
    ck_assert_double_eq(x.c.radius, 0);
    ck_assert_uint_eq(x.r.proved, 0);
    ck_assert(!take(q, &x));
    certreg_queue_destroy(q);
}

KIT_MAIN("alternatives")
