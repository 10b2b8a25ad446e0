/* Queues under random orders of calls. Every input that was added has one result, unless it was
 * dropped. One that ran undisturbed has the bits that estimators give it one by one, and a set
 * follows from such certificates (theory 1.11). */
#include "queue/queue.h"
#include "support/queue_kit.h"

enum { INPUTS = 24, SAMPLES = 240, PILOT = 30, WATCH = 2, STEPS = 8000 };

/* ---- inputs by tag, those with an even one have alternatives */
typedef struct asked { /* everything that certreg_queue_add copies */
    float z[D];
    uint64_t looks[2];
    double prediction;
    certreg_target target;
    certreg_serving serving;
    certreg_question q[2];
    certreg_queue_input in;
} asked;

static struct set { /* what stays the caller's */
    float z[ALTERNATIVES * D];
    double margins[MEMBERS]; /* from 1 on */
    certreg_alternatives a;
} sets[INPUTS];

static void ask(uint64_t tag, asked *a)
{
    enum { TWO = 1, AIMED = 2, ANYTIME = 4, LATE = 8, LOOKS = 16, BOUNDS = 32, FEW = 64 };
    static const int kinds[2][6] = {
        {TWO, 0, AIMED, AIMED, ANYTIME, FEW},
        {TWO, BOUNDS, TWO | AIMED | ANYTIME, AIMED | LATE, AIMED | ANYTIME, AIMED | LOOKS}};
    static const double tolerances[6] = {2, 0.9, 2, 1, 2, 2};
    const int has = kinds[tag % 2][tag / 2 % 6];
    const double tolerance = tag % 2 ? 1 : tolerances[tag / 2 % 6];
    *a = (asked){
        .z = {(float)(tag % 5) / 4, 0.25f, tag == 7 ? failing : 0},
        .looks = {120, 200},
        .prediction = (double)(tag % 5) / 4,
        .target = STRUCT(certreg_target, .radius = 0.25, .growth = has & (LATE | LOOKS) ? 0 : 1.5,
                         .look_count = has & LOOKS ? 2 : 0, .looks = has & LOOKS ? a->looks : NULL),
        .serving = STRUCT(certreg_serving, .samples = 41, .failure_rate = 0.1),
        .q = {QUESTION(.tolerance = tolerance), QUESTION(.tolerance = tolerance)}};
    a->in = input_of(tag, a->z, a->q, NULL);
    a->in.noise_id = tag / 4 * 2 + tag % 2, a->in.level = tag / 2 % 2;
    a->in.sigma = tag % 5 == 1 ? 0.25 : 0.5, a->in.seconds = tag % 4 == 1 ? 3600 : 0;
    a->in.samples = has & FEW ? PILOT + 4 : tag % 4 == 1 ? 200 : SAMPLES;
    a->in.count = 1 + (has & TWO);
    if (has == TWO) a->q[1].statistic = CERTREG_STATISTIC_HUBER, a->q[1].huber_width = 0.5;
    if (has == TWO) a->q[1].tolerance = 0.6; /* is not proved for every alternative */
    if (has & AIMED) a->q[0].target = a->q[1].target = &a->target;
    if (has & ANYTIME) a->q[has & TWO].method = CERTREG_METHOD_ANYTIME;
    if (has & BOUNDS) a->in.at_radius = 0.1;
    if (has & LOOKS) a->q->prediction = &a->prediction;
    if (has & LOOKS) a->q->serving = &a->serving;
    if (tag % 2) return;
    struct set *s = sets + tag;
    for (size_t i = 0; i < ALTERNATIVES; i++) {
        memcpy(s->z + i * D, a->z, sizeof a->z);
        s->z[i * D + 2] += 0.1f * (float)(i + 1);
        s->margins[i + 1] = i % 2 ? 0.01 * (double)(i + tag % 5) : 0;
    }
    if (tag > 12) s->z[5 * D + 2] = failing;
    if (tag == 16 || tag == 20) s->z[D + 2] = s->z[4 * D + 2] = failing;
    s->a = QUEUE_SET(.count = ALTERNATIVES, .z = s->z, .margins = s->margins + 1, .watch = WATCH,
                     .first_noise_id = 1000 * (tag + 1), .estimate_all = tag % 3 == 0);
    a->in.alternatives = &s->a;
}

/* ---- one certificate after another */
typedef struct expected {
    certreg_status status;
    uint32_t failed;              /* the first alternative that does; MEMBERS: none */
    uint32_t limiting[2], out[2]; /* by question; `out` is the first that is not proved */
    double radius[2];
    uint64_t rows;
    certreg_certificate own[2], tightest[2]; /* without alternatives: own */
    certreg_alternative_result each[2 * MEMBERS];
} expected;

static certreg_status certify(certreg_estimator *e, const asked *a, size_t samples,
                              certreg_certificate *c)
{
    memset(c, 0, 2 * sizeof *c);
    c->struct_size = sizeof *c;
    if (a->in.at_radius > 0) return certreg_output_bounds(e, samples, a->q, 1, a->in.at_radius, c);
    return certreg_certify(e, samples, a->q, a->in.count, c);
}

/* Takes the certificates of alternative `number`; 0: the input itself. */
static void note(const asked *a, uint32_t number, const certreg_certificate *c, expected *x)
{
    const double margin = sets[a->in.tag].margins[number];
    const int is_open = number <= x->failed;
    int proves = 0;
    for (size_t k = 0; k < a->in.count; k++) {
        const double left = margin > 0 ? nextafter(c[k].radius - margin, -INFINITY) : c[k].radius;
        const int proved = a->q->target ? c[k].radius >= a->target.radius : left > 0;
        x->each[number * a->in.count + k] =
            STRUCT(certreg_alternative_result, .samples = is_open && !c->status ? c->samples : 0,
                   .estimate = c->status ? NAN : c[k].estimate, .radius = fmax(left, 0));
        if (!number) x->own[k] = c[k];
        if (!proved && is_open && number < x->out[k]) x->out[k] = number;
        proves |= proved;
        if (!is_open || left >= x->radius[k]) continue;
        x->radius[k] = left, x->limiting[k] = number, x->tightest[k] = c[k];
    }
    if (is_open) x->rows += c->samples;
    if (proves || !is_open) return;
    x->failed = number, x->status = c->status;
    for (size_t k = 0; k < a->in.count; k++)
        x->radius[k] = 0, x->limiting[k] = number, x->tightest[k] = c[k];
}

static void one_by_one(certreg_estimator *e, certreg_estimator *no_pilot, asked *a, expected *x)
{
    const struct set *s = sets + a->in.tag;
    const double target = a->target.radius;
    double prediction[2];
    certreg_certificate c[2];
    *x = (expected){.failed = MEMBERS, .out = {MEMBERS, MEMBERS}, .radius = {INFINITY, INFINITY}};
    for (uint32_t number = 0; number < MEMBERS; number++) {
        certreg_estimator *by = number && a->in.count == 1 ? no_pilot : e;
        KIT_OK(by, certreg_estimator_begin_level(
                       by, number ? s->z + (number - 1) * D : a->z, a->in.sigma,
                       number ? s->a.first_noise_id + number : a->in.noise_id, a->in.level));
        if (!number) KIT_OK(e, certreg_estimator_sample(e, 0, PILOT));
        for (size_t k = 0; k < a->in.count && !number; k++) {
            KIT_OK(e, certreg_estimator_prediction(e, a->q + k, prediction + k));
            a->q[k].prediction = prediction + k, a->q[k].prediction_count = 1;
        }
        a->target.radius = goal_of(s->margins[number], target, a->in.sigma);
        certify(by, a, a->in.samples - (by == e ? 0 : PILOT), c);
        note(a, number, c, x);
    }
    for (uint32_t i = 0; i < MEMBERS * a->in.count; i++) { /* what is reported */
        const uint32_t number = i / (uint32_t)a->in.count, out = x->out[i % a->in.count];
        const int is_decided = !x->status && number <= x->failed;
        if (is_decided && number <= out) x->each[i].state = 1 + (number == out);
        if (!is_decided && !s->a.estimate_all) x->each[i].estimate = NAN;
        if (!is_decided || number != WATCH) x->each[i].radius = NAN;
    }
}

/* Only looks at whole batches depend on the batch. */
static void expect(size_t batch, expected *x)
{
    certreg_estimator *e = ESTIMATOR(.batch = 64, .samples = SAMPLES, .pilot = PILOT),
                      *whole = ESTIMATOR(.batch = batch, .samples = SAMPLES, .pilot = PILOT),
                      *main = ESTIMATOR(.samples = SAMPLES - PILOT, .pilot = SIZE_MAX);
    for (uint64_t tag = 0; tag < INPUTS; tag++, x++) {
        asked a;
        ask(tag, &a);
        certreg_estimator *by = a.q->target && a.target.growth == 0 ? whole : e;
        KIT_OK(by, certreg_estimator_begin_level(by, a.z, a.in.sigma, a.in.noise_id, a.in.level));
        if (tag % 2 == 0) one_by_one(e, main, &a, x);
        else x->status = certify(by, &a, a.in.samples, x->own);
    }
}

/* ---- one run */
typedef struct run {
    size_t rows; /* first, for rows_of */
    certreg_queue *q;
    certreg_queue_call out[CALLS];
    size_t outs, undisturbed[INPUTS];
    int open[INPUTS];     /* 1: open, 2: undisturbed so far, 3: by a complete record */
    size_t bytes[INPUTS]; /* of complete records */
    unsigned char records[INPUTS][4096];
    expected x[INPUTS];
    answer first[INPUTS];
    int is_cancelled; /* until the next call that ends what is open */
    int audits;
} run;

static uint64_t state;

static uint32_t choose(size_t count)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((state >> 33) % count);
}

static int keep(void *user, const certreg_queue_row *of, const void *record, size_t bytes)
{
    run *r = user;
    ck_assert(of->tag != 7 || r->open[7] < 2); /* its outputs fail */
    if (of->tag % 2 == 0 || r->open[of->tag] != 2) return 0;
    r->bytes[of->tag] = bytes;
    memcpy(r->records[of->tag], record, bytes);
    return 0;
}

/* Estimates with a target are at looks of their own: the same in any order. */
static void check_set(const answer *a, const expected *x, const asked *asks)
{
    const int failed = x->failed < MEMBERS, aims = asks->q->target != NULL;
    const uint32_t out = x->out[1] < x->out[0] ? x->out[1] : x->out[0];
    ck_assert_uint_eq(a->r.proved, x->status || (out < MEMBERS && !aims) ? 0 : out);
    ck_assert_mem_eq(a->limiting, x->limiting, sizeof x->limiting);
    for (size_t i = 0; i < MEMBERS * asks->in.count; i++) {
        certreg_alternative_result got = a->each[i];
        if (aims && !isnan(got.estimate)) got.estimate = x->each[i].estimate;
        ck_assert_mem_eq(&got, x->each + i, sizeof got);
    }
    for (size_t k = 0; k < asks->in.count && !x->status; k++) {
        const certreg_certificate *c = a->c + k, *own = x->own + k, *tightest = x->tightest + k;
        const int proves = x->radius[k] > 0, reason = tightest->reason ? tightest->reason
                                                      : aims           ? CERTREG_REASON_TARGET
                                                                       : CERTREG_REASON_MOVED;
        ck_assert_double_eq(c->radius, fmax(x->radius[k], 0));
        ck_assert(c->alpha == 0.05 && c->prediction == own->prediction && !c->samples_needed);
        ck_assert(c->outcome == proves && proves == !c->reason);
        ck_assert(proves || c->reason == reason || c->reason == CERTREG_REASON_ALTERNATIVE);
        ck_assert_double_eq(c->output_lo, proves ? tightest->output_lo : -INFINITY);
        ck_assert_double_eq(c->share_out, tightest->share_out);
        ck_assert_double_eq_tol(c->radius_linf * own->radius, own->radius_linf * c->radius, 1e-9);
        ck_assert_int_eq(c->stop, aims ? CERTREG_STOP_TARGET + failed : CERTREG_STOP_ALL);
        ck_assert_uint_eq(c->samples, x->rows);
    }
}

static int take_one(run *r)
{
    answer a;
    asked asks;
    const int taken = take(r->q, &a), open = r->open[a.r.tag];
    const uint64_t tag = a.r.tag;
    expected *x = r->x + tag;
    r->is_cancelled = 0;
    if (!taken) return 0;
    ck_assert_msg(open, "a result of %d, which is not open", (int)tag);
    r->open[tag] = 0;
    if (open < 2) return 1;
    ask(tag, &asks);
    ck_assert(!(a.c->radius > 0) || !a.c->audited == !r->audits);
    for (int k = 0; k < 2; k++) a.c[k].audited = 0, a.c[k].audit_share = 0; /* of all together */
    ck_assert_int_eq(a.r.status, x->status);
    if (tag % 2 == 0) check_set(&a, x, &asks);
    if (a.r.status) /* samples depend on the inputs that share calls */
        a.c[0].samples = a.c[1].samples = x->own->samples = x->own[1].samples;
    if (tag % 2) ck_assert_mem_eq(a.c, x->own, sizeof a.c);
    if (!r->undisturbed[tag]++) r->first[tag] = a;
    ck_assert_mem_eq(a.c, r->first[tag].c, sizeof a.c);
    ck_assert_mem_eq(a.each, r->first[tag].each, sizeof a.each);
    return 1;
}

/* Cancels, or fails an audit. Complete records wait for nothing else. */
static void disturb(run *r)
{
    r->is_cancelled = 1;
    for (size_t i = 0; i < INPUTS; i++)
        r->open[i] = r->open[i] == 3 && !r->audits ? 3 : r->open[i] > 0;
}

/* Rows of inputs that are not open any more are of no effect. */
static void give_one(run *r, uint32_t which, int32_t failed)
{
    float y[MOST_ROWS];
    const certreg_queue_call c = r->out[which];
    r->out[which] = r->out[--r->outs];
    for (size_t i = 0; i < c.used; i++) {
        int *open = r->open + c.row[i].tag;
        y[i] = *open || c.row[i].sample == UINT64_MAX ? row_of(c.x + i * D) : 1000;
        if (failed && *open == 2) *open = 1;
    }
    if (failed && r->audits) disturb(r); /* if it was the audit's */
    for (int again = 0; again < 2; again++)
        ck_assert_int_eq(certreg_queue_give(r->q, c.ticket, failed ? NULL : y, failed, NULL),
                         again ? CERTREG_E_INVALID : CERTREG_OK);
}

static void draw(run *r)
{
    const certreg_queue_call c = next_call(r->q, choose(3) * 7);
    r->is_cancelled = 0;
    for (size_t i = 0; i < c.used && !r->audits; i++) ck_assert_int_ne(r->open[c.row[i].tag], 3);
    if (c.state == CERTREG_CALL_ROWS) r->out[r->outs++] = c;
    else ck_assert(c.state != CERTREG_CALL_WAIT || r->outs);
}

static void add_one(run *r)
{
    const uint64_t tag = choose(INPUTS);
    int32_t full;
    asked a;
    ask(tag, &a);
    const int resumes = choose(2) && r->bytes[tag];
    if (resumes) a.in.record = r->records[tag], a.in.record_bytes = r->bytes[tag];
    const certreg_status status = certreg_queue_add(r->q, &a.in, &full);
    memset(&a, 255, sizeof a);
    ck_assert_int_eq(status, r->open[tag] && !full ? CERTREG_E_INVALID : CERTREG_OK);
    if (!status && !full)
        r->open[tag] = r->is_cancelled && (!resumes || r->audits) ? 1 : 2 + resumes;
}

static void step(run *r)
{
    const uint32_t what = choose(100);
    const uint64_t tag = choose(INPUTS);
    if (what < 40) add_one(r);
    else if (what < 63 && r->outs < CALLS) draw(r);
    else if (what < 65) {
        take_one(r); /* evaluates calls that are back */
        ck_assert_int_eq(certreg_queue_run(r->q), r->outs ? CERTREG_E_WRONG_STATE : CERTREG_OK);
    } else if (what < 88 && r->outs) give_one(r, choose(r->outs), what == 70);
    else if (what < 97) take_one(r);
    else if (what < 99) {
        const int open = r->open[tag];
        r->open[tag] = 0;
        ck_assert_int_eq(certreg_queue_drop(r->q, &tag), open ? CERTREG_OK : CERTREG_E_INVALID);
    } else if (choose(4) == 0) {
        certreg_queue_cancel(r->q);
        disturb(r);
    }
}

TEST_TIMES(queues_keep_their_promises_in_any_order, 8)
{
    static const size_t capacities[] = {1, 3, 8, 40}, batches[] = {100, 50, 16, 1000};
    const size_t batch = batches[_i % 4];
    static run r;
    memset(&r, 0, sizeof r);
    r.audits = _i > 3;
    r.q = QUEUE(.batch = batch, .capacity = capacities[_i % 4], .calls = CALLS, .audit = _i > 3,
                .samples = SAMPLES, .pilot = PILOT, .user = &r, .keep = keep);
    expect(batch, r.x);
    state = 77 + (uint64_t)_i;
    for (size_t i = 0; i < STEPS; i++) step(&r);
    for (int busy = 1; busy;) {
        if (r.outs < CALLS) draw(&r);
        busy = r.outs > 0;
        if (busy) give_one(&r, 0, 0);
        while (take_one(&r)) busy = 1;
    }
    ck_assert_int_eq(next_call(r.q, 0).state, CERTREG_CALL_IDLE);
    for (size_t i = 0; i < INPUTS; i++) ck_assert(!r.open[i] && r.undisturbed[i]);
}

/* ---- deadlines, by a clock of the test's own: a call of 64 rows takes a second */
static double seconds_of(void *rows)
{
    return (double)*(size_t *)rows / 64;
}

/* The second input ends after two calls, since a third one would be late; results come in the order
 * of decisions. */
TEST(a_deadline_of_an_input_in_a_queue_ends_it_alone)
{
    size_t rows = 0;
    const certreg_question q = QUESTION(.tolerance = 1);
    certreg_queue *queue = QUEUE(.user = &rows);
    certreg_queue_call c;
    certreg_queue_input in = input_of(0, (const float[D]){0}, &q, NULL);
    answer a;
    queue->home.deadline->now = seconds_of, queue->home.deadline->clock_context = &rows;
    ck_assert(add(queue, &in));
    in.tag = in.noise_id = 1, in.seconds = 2.5;
    ck_assert(add(queue, &in));
    ck_assert(!certreg_queue_run(queue) && rows == 128);
    while ((c = next_call(queue, 0)).state == CERTREG_CALL_ROWS) give(queue, &c);
    ck_assert(take(queue, &a) && a.r.tag == 1 && a.c->radius == 0);
    ck_assert_int_eq(a.c->stop, CERTREG_STOP_DEADLINE);
    ck_assert(take(queue, &a) && a.r.tag == 0 && a.c->samples == 250);
}

KIT_MAIN("queue")
