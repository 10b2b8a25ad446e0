/* Many inputs in one queue: the certificates of each have the bits that it has alone, whatever
 * shares its calls, and an input that fails leaves the others as they are. */
#include "support/api_kit.h"
#include <certreg/queue.h>

enum { D = 4, INPUTS = 40, SAMPLES = 300, MAX_OUT = 3 };
static const float scale[D] = {1, 1, 2, 0};
static const double sigmas[2] = {0.25, 0.5};
static const float failing = -77; /* of the last feature: all outputs fail */

static float predict(const float *x)
{
    return x[3] == failing ? NAN : x[0] + 0.5f * x[1] * x[2] + x[3];
}

static int model(void *user, const certreg_batch *b)
{
    size_t *calls = user;
    if (calls) ++*calls;
    for (size_t i = 0; i < b->used_count; i++) {
        b->y[b->used_first + i] = predict(b->x + (b->used_first + i) * D);
        if (b->row) ck_assert_uint_eq(b->row[i].struct_size, sizeof *b->row);
    }
    return 0;
}

static void input_of(size_t i, float *z)
{
    for (size_t j = 0; j < 3; j++) z[j] = (float)((i * (j + 3) * 7919) % 1000) / 1000 - 0.5f;
    z[3] = (float)(i % 3);
}

/* ---- one input alone, and all of them in a queue */
typedef struct setting {
    size_t batch, capacity, out; /* out 0: by the model's callback */
    certreg_question q[2];
    size_t questions;
    size_t samples, pilot;
} setting;

static certreg_model model_of(const setting *s)
{
    return MODEL(.eval = s->out ? NULL : model, .inputs = D, .outputs = 1, .batch = s->batch,
                 .scale = scale);
}

static certreg_plan plan_of(const setting *s)
{
    return PLAN(.seed = 5, .max_samples = SAMPLES, .pilot = s->pilot);
}

static void alone(const setting *s, size_t tag, certreg_certificate *c)
{
    certreg_model m = model_of(s);
    m.eval = model;
    const certreg_plan p = plan_of(s);
    certreg_estimator *e;
    float z[D];
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, NULL, &e), CERTREG_OK);
    input_of(tag / 2, z);
    KIT_OK(e, certreg_estimator_begin_level(e, z, sigmas[tag % 2], tag / 2, tag % 2));
    memset(c, 0, 2 * sizeof *c);
    c->struct_size = sizeof *c;
    certreg_certify(e, s->samples ? s->samples : SAMPLES, s->q, s->questions, c);
    certreg_estimator_destroy(e);
}

static certreg_queue *queue_of_eval(const setting *s, uint32_t flags, certreg_eval eval, void *user)
{
    certreg_model m = model_of(s);
    m.eval = eval;
    m.user = user;
    const certreg_plan p = plan_of(s);
    const certreg_queue_plan qp = {.struct_size = sizeof qp,
                                   .flags = flags,
                                   .capacity = s->capacity,
                                   .calls = s->out,
                                   .questions = 2};
    certreg_error why = {.struct_size = sizeof why};
    certreg_queue *q;
    ck_assert_msg(!certreg_queue_create(NULL, &m, &p, &qp, &why, &q), "%s", why.text);
    return q;
}

static certreg_queue *queue_of(const setting *s, uint32_t flags, void *user)
{
    return queue_of_eval(s, flags, s->out ? NULL : model, user);
}

static certreg_queue_input queue_input(const setting *s, size_t tag, const float *z)
{
    return (certreg_queue_input){.struct_size = sizeof(certreg_queue_input),
                                 .tag = tag,
                                 .z = z,
                                 .sigma = sigmas[tag % 2],
                                 .noise_id = tag / 2,
                                 .level = tag % 2,
                                 .samples = s->samples,
                                 .questions = s->q,
                                 .count = s->questions};
}

/* Calls that are out return the newest first, so that gaps in records are seen. */
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
        ck_assert_int_eq(certreg_queue_give(q, c[n].ticket, y, 0, NULL), CERTREG_E_INVALID);
    }
}

static int take_with(certreg_queue *q, certreg_certificate *c, certreg_queue_result *r,
                     certreg_error *error)
{
    memset(c, 0, 2 * sizeof *c);
    c->struct_size = sizeof *c;
    *r = (certreg_queue_result){
        .struct_size = sizeof *r, .room = 2, .certificates = c, .error = error};
    ck_assert_int_eq(certreg_queue_take(q, r), CERTREG_OK);
    return r->state;
}

static int take(certreg_queue *q, certreg_certificate *c, certreg_queue_result *r)
{
    return take_with(q, c, r, NULL);
}

#define REFUSES(q, input, word)                                              \
    do {                                                                     \
        int32_t is_full = 1;                                                 \
        ck_assert_int_ne(certreg_queue_add(q, input, &is_full), CERTREG_OK); \
        ck_assert_int_eq(is_full, 0);                                        \
        KIT_SAYS(certreg_queue_error(q), word);                              \
    } while (0)

static void run_all(const setting *s, size_t count, certreg_certificate (*found)[2])
{
    certreg_queue *q = queue_of(s, 0, NULL);
    certreg_certificate c[2];
    certreg_queue_result r;
    float z[D];
    for (size_t next = 0, done = 0; done < count;) {
        for (int32_t full = 0; next < count && !full; next += !full) {
            input_of(next / 2, z);
            const certreg_queue_input in = queue_input(s, next, z);
            ck_assert_msg(!certreg_queue_add(q, &in, &full), "%s", certreg_queue_error(q)->text);
        }
        compute(q, s->out);
        for (; take(q, c, &r); done++) {
            ck_assert_int_eq(r.status, CERTREG_OK);
            memcpy(found[r.tag], c, sizeof c);
        }
    }
    certreg_queue_destroy(q);
}

static void same_as_alone(setting s)
{
    static certreg_certificate expected[2 * INPUTS][2], found[2 * INPUTS][2];
    static const size_t batches[] = {64, 256, 1000}, capacities[] = {7, 100}, out[] = {0, 1, 3};
    for (size_t b = 0; b < 3; b++) {
        s.batch = batches[b];
        for (size_t i = 0; i < 2 * INPUTS; i++) alone(&s, i, expected[i]);
        for (size_t k = 0; k < 6; k++) {
            s.capacity = capacities[k % 2];
            s.out = out[k / 2];
            run_all(&s, 2 * INPUTS, found);
            ck_assert_mem_eq(found, expected, sizeof found);
        }
    }
}

TEST(plain_inputs_have_the_bits_that_they_have_alone)
{
    same_as_alone((setting){
        .q = {QUESTION(.tolerance = 1),
              QUESTION(.tolerance = 1, .statistic = CERTREG_STATISTIC_HUBER, .huber_width = 0.5)},
        .questions = 2,
        .samples = 250});
}

TEST(a_given_prediction_is_copied)
{
    const double prediction = 0.25;
    same_as_alone(
        (setting){.q = {QUESTION(.tolerance = 1, .prediction = &prediction)}, .questions = 1});
}

TEST(targets_have_the_bits_that_they_have_alone)
{
    const certreg_target t = {.struct_size = sizeof t, .radius = 0.3, .growth = 1.5};
    const certreg_question easy = QUESTION(.tolerance = 1.5, .target = &t);
    same_as_alone((setting){.q = {easy}, .questions = 1, .pilot = 30});
    certreg_question two[2] = {easy, easy};
    two[1].method = CERTREG_METHOD_ANYTIME;
    same_as_alone((setting){.q = {two[0], two[1]}, .questions = 2, .pilot = 30});
}

/* An input that fails, alone or with the call that it shares, leaves the others as they are. */
static void one_fails(uint32_t flags, certreg_eval eval, certreg_status status)
{
    const setting s = {.batch = 64,
                       .capacity = 10,
                       .q = {QUESTION(.tolerance = 1)},
                       .questions = 1,
                       .samples = 250};
    certreg_certificate expected[2], c[2];
    certreg_queue_result r;
    certreg_error error = {.struct_size = sizeof error};
    float z[10][D];
    size_t calls = 0, done = 0, failed = 0;
    certreg_queue *q = queue_of_eval(&s, flags, eval, &calls);
    for (size_t i = 0; i < 10; i++) {
        input_of(i, z[i]);
        if (i == 4) z[i][3] = failing;
        const certreg_queue_input in = queue_input(&s, 2 * i, z[i]);
        ck_assert_int_eq(certreg_queue_add(q, &in, NULL), CERTREG_OK);
    }
    while (done < 10) {
        ck_assert_int_eq(certreg_queue_run(q), CERTREG_OK);
        for (; take_with(q, c, &r, &error); done++) {
            if (r.status) {
                ck_assert_uint_eq(r.tag, 8);
                ck_assert_int_eq(r.status, status);
                ck_assert_int_eq(error.status, status);
                ck_assert_int_eq(c->status, status);
                failed++;
                continue;
            }
            alone(&s, r.tag, expected);
            ck_assert_mem_eq(c, expected, sizeof c);
        }
    }
    ck_assert_uint_eq(failed, 1);
    certreg_queue_destroy(q);
}

static int refusing_model(void *user, const certreg_batch *b)
{
    for (size_t i = 0; i < b->used_count; i++)
        if (b->x[i * D + 3] == failing) return 7;
    return model(user, b);
}

TEST(an_input_with_useless_outputs_fails_alone)
{
    one_fails(0, model, CERTREG_E_NOT_FINITE);
}

TEST(a_split_call_names_the_input_that_fails)
{
    one_fails(CERTREG_QUEUE_SPLIT, refusing_model, CERTREG_E_MODEL_FAILED);
}

TEST(without_split_all_inputs_of_a_failed_call_fail)
{
    const setting s = {.batch = 256,
                       .capacity = 4,
                       .q = {QUESTION(.tolerance = 1)},
                       .questions = 1,
                       .samples = 60};
    certreg_certificate c[2];
    certreg_queue_result r;
    float z[D];
    certreg_queue *q = queue_of_eval(&s, 0, refusing_model, NULL);
    for (size_t i = 0; i < 3; i++) {
        input_of(i, z);
        if (i == 1) z[3] = failing;
        const certreg_queue_input in = queue_input(&s, i, z);
        ck_assert_int_eq(certreg_queue_add(q, &in, NULL), CERTREG_OK);
    }
    ck_assert_int_eq(certreg_queue_run(q), CERTREG_OK);
    for (size_t i = 0; i < 3; i++) {
        ck_assert(take(q, c, &r));
        ck_assert_int_eq(r.status, CERTREG_E_MODEL_FAILED);
    }
    certreg_queue_destroy(q);
}

/* ---- adding, dropping, ending early */
TEST(adding_refuses_what_it_names_and_changes_nothing)
{
    const setting s = {.batch = 16,
                       .capacity = 3,
                       .q = {QUESTION(.tolerance = 1)},
                       .questions = 1,
                       .samples = 100};
    float z[D] = {0};
    int32_t full = 0;
    certreg_queue *q = queue_of(&s, 0, NULL);
    certreg_queue_input in = queue_input(&s, 0, z), bad = in;
    const certreg_alternatives set = {.struct_size = sizeof set, .count = 1, .z = z};
    ck_assert_int_eq(certreg_queue_add(q, &in, &full), CERTREG_OK);
    REFUSES(q, &in, "tag 0");
    bad.tag = 9;
    REFUSES(q, &bad, "noise id 0");
    bad = queue_input(&s, 2, z);
    bad.samples = SAMPLES + 1;
    REFUSES(q, &bad, "samples");
    bad = queue_input(&s, 2, z);
    bad.sigma = -1;
    REFUSES(q, &bad, "sigma");
    bad = queue_input(&s, 2, z);
    bad.count = 3;
    REFUSES(q, &bad, "count");
    bad = queue_input(&s, 2, z);
    bad.alternatives = &set;
    REFUSES(q, &bad, "alternatives");
    in = queue_input(&s, 2, z);
    ck_assert_int_eq(certreg_queue_add(q, &in, &full), CERTREG_OK);
    in = queue_input(&s, 4, z);
    ck_assert_int_eq(certreg_queue_add(q, &in, &full), CERTREG_OK);
    ck_assert(!full);
    in = queue_input(&s, 6, z);
    ck_assert_int_eq(certreg_queue_add(q, &in, &full), CERTREG_OK);
    ck_assert(full);
    certreg_queue_destroy(q);
}

/* Rows of inputs that were dropped while they were out are of no effect, also if their place is
 * taken again at once. */
TEST(dropped_inputs_leave_their_rows_behind)
{
    const setting s = {.batch = 64,
                       .capacity = 2,
                       .out = 2,
                       .q = {QUESTION(.tolerance = 1)},
                       .questions = 1,
                       .samples = 250};
    certreg_certificate expected[2], c[2];
    certreg_queue_result r;
    certreg_queue_call call = {.struct_size = sizeof call};
    float z[D], y[64];
    certreg_queue *q = queue_of(&s, 0, NULL);
    const uint64_t tag = 0;
    for (size_t i = 0; i < 2; i++) {
        input_of(i, z);
        const certreg_queue_input in = queue_input(&s, 2 * i, z);
        ck_assert_int_eq(certreg_queue_add(q, &in, NULL), CERTREG_OK);
    }
    ck_assert_int_eq(certreg_queue_next(q, 0, &call), CERTREG_OK);
    ck_assert_uint_eq(call.used, 64);
    ck_assert_int_eq(certreg_queue_drop(q, &tag), CERTREG_OK);
    ck_assert_int_eq(certreg_queue_drop(q, &tag), CERTREG_E_INVALID);
    input_of(2, z);
    const certreg_queue_input in = queue_input(&s, 4, z);
    ck_assert_int_eq(certreg_queue_add(q, &in, NULL), CERTREG_OK);
    for (size_t i = 0; i < 64; i++) y[i] = 1000;
    ck_assert_int_eq(certreg_queue_give(q, call.ticket, y, 0, NULL), CERTREG_OK);
    for (size_t done = 0; done < 2;) {
        compute(q, 2);
        for (; take(q, c, &r); done++) {
            alone(&s, r.tag, expected);
            ck_assert_mem_eq(c, expected, sizeof c);
        }
    }
    ck_assert_int_eq(certreg_queue_next(q, 0, &call), CERTREG_OK);
    ck_assert_int_eq(call.state, CERTREG_CALL_IDLE);
    certreg_queue_destroy(q);
}

/* ---- who may call */
static certreg_queue *calls_itself;

static int calling_model(void *user, const certreg_batch *b)
{
    certreg_queue *q = calls_itself;
    certreg_queue_call c = {.struct_size = sizeof c, .state = 7};
    certreg_queue_result r = {.struct_size = sizeof r, .state = 7};
    const certreg_queue_input in = {.struct_size = sizeof in};
    int32_t full = 7;
    ck_assert_int_eq(certreg_queue_add(q, &in, &full), CERTREG_E_BUSY);
    ck_assert_int_eq(full, 0);
    ck_assert_int_eq(certreg_queue_run(q), CERTREG_E_BUSY);
    ck_assert_int_eq(certreg_queue_next(q, 0, &c), CERTREG_E_BUSY);
    ck_assert_int_eq(c.state, 0);
    ck_assert_int_eq(certreg_queue_take(q, &r), CERTREG_E_BUSY);
    ck_assert_int_eq(r.state, 0);
    ck_assert_int_eq(certreg_queue_drop(q, NULL), CERTREG_E_BUSY);
    ck_assert_int_eq(certreg_queue_error(q)->status, CERTREG_E_BUSY);
    return model(user, b);
}

TEST(calls_within_a_call_are_refused)
{
    const setting s = {
        .batch = 64, .capacity = 2, .q = {QUESTION(.tolerance = 1)}, .questions = 1, .samples = 60};
    static const float z[D];
    certreg_queue *q = calls_itself = queue_of_eval(&s, 0, calling_model, NULL);
    const certreg_queue_input in = queue_input(&s, 0, z);
    ck_assert_int_eq(certreg_queue_add(q, &in, NULL), CERTREG_OK);
    ck_assert_int_eq(certreg_queue_run(q), CERTREG_OK);
    certreg_queue_destroy(q);
    certreg_queue_destroy(NULL);
    certreg_queue_cancel(NULL);
    ck_assert_int_eq(certreg_queue_run(NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_queue_give(NULL, 1, z, 0, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_null(certreg_queue_error(NULL));
}

/* A cancelled input answers from its first samples without a gap, as alone. */
TEST(cancelled_inputs_answer_from_what_they_have)
{
    const setting s = {.batch = 64,
                       .capacity = 2,
                       .out = 2,
                       .q = {QUESTION(.tolerance = 1)},
                       .questions = 1,
                       .samples = 250,
                       .pilot = 30};
    certreg_certificate c[2];
    certreg_queue_result r;
    certreg_queue_call a = {.struct_size = sizeof a}, b = a;
    float z[D], y[64];
    certreg_queue *q = queue_of(&s, 0, NULL);
    input_of(0, z);
    const certreg_queue_input in = queue_input(&s, 0, z);
    ck_assert_int_eq(certreg_queue_add(q, &in, NULL), CERTREG_OK);
    for (int turn = 0; turn < 2; turn++) { /* 64 samples, then 64 of 192 without the 64 between */
        ck_assert_int_eq(certreg_queue_next(q, 0, &a), CERTREG_OK);
        if (turn) ck_assert_int_eq(certreg_queue_next(q, 0, &b), CERTREG_OK);
        const certreg_queue_call *back = turn ? &b : &a;
        for (size_t i = 0; i < back->used; i++) y[i] = predict(back->x + i * D);
        ck_assert_int_eq(certreg_queue_give(q, back->ticket, y, 0, NULL), CERTREG_OK);
    }
    certreg_queue_cancel(q);
    ck_assert(take(q, c, &r));
    ck_assert_int_eq(r.status, CERTREG_OK);
    ck_assert_int_eq(c->stop, CERTREG_STOP_CANCELLED);
    ck_assert_uint_eq(c->samples, 64);
    ck_assert(isfinite(c->prediction));
    ck_assert_int_eq(certreg_queue_give(q, a.ticket, y, 0, NULL), CERTREG_OK);
    certreg_queue_destroy(q);
}

/* The deadline of one input ends it alone. */
TEST(an_input_ends_at_its_own_deadline)
{
    const setting s = {.batch = 64,
                       .capacity = 3,
                       .q = {QUESTION(.tolerance = 1)},
                       .questions = 1,
                       .samples = 250};
    static const double seconds[3] = {0, 1e-9, 3600};
    certreg_certificate expected[2], c[2];
    certreg_queue_result r;
    float z[D];
    certreg_queue *q = queue_of(&s, 0, NULL);
    for (size_t i = 0; i < 3; i++) {
        input_of(i, z);
        certreg_queue_input in = queue_input(&s, 2 * i, z);
        in.seconds = seconds[i];
        ck_assert_int_eq(certreg_queue_add(q, &in, NULL), CERTREG_OK);
    }
    for (size_t done = 0; done < 3;) {
        ck_assert_int_eq(certreg_queue_run(q), CERTREG_OK);
        for (; take(q, c, &r); done++) {
            ck_assert_int_eq(r.status, CERTREG_OK);
            alone(&s, r.tag, expected);
            if (r.tag != 2) ck_assert_mem_eq(c, expected, sizeof c);
            else ck_assert_int_eq(c->stop, CERTREG_STOP_DEADLINE);
            if (r.tag == 2) ck_assert_double_eq(c->radius, 0);
        }
    }
    certreg_queue_destroy(q);
}

KIT_MAIN("queue")
