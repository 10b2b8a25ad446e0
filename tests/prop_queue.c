/* Queues under random orders of calls: inputs with and without alternatives, targets, outputs that
 * fail, calls that fail or come back late, drops, cancels. Every input that was added has one
 * result, unless it was dropped, and one that ran undisturbed has the bits of a first run. */
#include "support/api_kit.h"
#include <certreg/queue.h>

enum { D = 2, SAMPLES = 120, BATCH = 16, OUT = 3, INPUTS = 24, ALTERNATIVES = 3, STEPS = 20000 };
static const float scale[D] = {1, 0};
static const float failing = -77;

static float predict(const float *x)
{
    return x[1] == failing ? NAN : x[0] + 0.2f * x[1];
}

static uint64_t state;

static uint32_t choose(uint32_t count)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % count;
}

/* ---- kinds of inputs: by tag, so that every run can add the same ones */
static const certreg_target target = {.struct_size = sizeof target, .radius = 0.3, .growth = 1.5};
static const certreg_question questions[2] = {
    {.struct_size = sizeof *questions, .tolerance = 1.2},
    {.struct_size = sizeof *questions, .tolerance = 1.2, .target = &target}};
static float changed[INPUTS][ALTERNATIVES * D];
static certreg_alternatives sets[INPUTS];

static certreg_queue_input input_of(uint64_t tag, float *z)
{
    z[0] = (float)(tag % 5) / 4, z[1] = tag % 11 == 7 ? failing : 0;
    for (size_t a = 0; a < ALTERNATIVES; a++) {
        changed[tag][a * D] = z[0];
        changed[tag][a * D + 1] = tag == 16 && a == 1 ? failing : (float)(a * (tag % 3));
    }
    sets[tag] = (certreg_alternatives){.struct_size = sizeof *sets,
                                       .count = ALTERNATIVES,
                                       .z = changed[tag],
                                       .first_noise_id = 1000 * (tag + 1),
                                       .estimate_all = tag % 4 < 2};
    return (certreg_queue_input){.struct_size = sizeof(certreg_queue_input),
                                 .tag = tag,
                                 .z = z,
                                 .sigma = 0.5,
                                 .noise_id = tag,
                                 .questions = questions + tag / 2 % 2,
                                 .count = 1,
                                 .alternatives = tag % 2 ? NULL : sets + tag};
}

static certreg_queue *queue_with(size_t capacity)
{
    const certreg_model m = MODEL(.inputs = D, .outputs = 1, .batch = BATCH, .scale = scale);
    const certreg_plan p = PLAN(.seed = 3, .max_samples = SAMPLES, .pilot = 20);
    const certreg_queue_plan plan = {.struct_size = sizeof plan,
                                     .capacity = capacity,
                                     .calls = OUT,
                                     .sets = (capacity + 1) / 2,
                                     .alternatives = ALTERNATIVES};
    certreg_queue *q;
    ck_assert_int_eq(certreg_queue_create(NULL, &m, &p, &plan, NULL, &q), CERTREG_OK);
    return q;
}

/* ---- one run */
typedef struct run {
    certreg_queue *q;
    certreg_queue_call out[OUT];
    size_t outs;
    int open[INPUTS]; /* 1: open, 2: open, and undisturbed so far */
    certreg_certificate found[INPUTS], first[INPUTS];
    int has_first[INPUTS];
    size_t compared;
    int is_cancelled; /* until the next call that ends what is open */
} run;

static void give_one(run *r, uint32_t which, int32_t failed)
{
    float y[BATCH];
    const certreg_queue_call c = r->out[which];
    r->out[which] = r->out[--r->outs];
    for (size_t i = 0; i < c.used; i++) {
        y[i] = predict(c.x + i * D);
        if (failed && r->open[c.row[i].tag]) r->open[c.row[i].tag] = 1;
    }
    ck_assert_int_eq(certreg_queue_give(r->q, c.ticket, failed ? NULL : y, failed, NULL),
                     CERTREG_OK);
}

static void draw(run *r)
{
    certreg_queue_call *c = r->out + r->outs;
    *c = (certreg_queue_call){.struct_size = sizeof *c};
    ck_assert_int_eq(certreg_queue_next(r->q, choose(3) * 7, c), CERTREG_OK);
    r->is_cancelled = 0;
    if (c->state == CERTREG_CALL_ROWS) r->outs++;
    else ck_assert(c->state != CERTREG_CALL_WAIT || r->outs);
}

static int take(run *r)
{
    certreg_certificate c = kit_certificate();
    uint32_t limiting;
    certreg_queue_result x = {
        .struct_size = sizeof x, .room = 1, .certificates = &c, .limiting = &limiting};
    ck_assert_int_eq(certreg_queue_take(r->q, &x), CERTREG_OK);
    r->is_cancelled = 0;
    if (!x.state) return 0;
    ck_assert_msg(r->open[x.tag], "a result of %d, which is not open", (int)x.tag);
    ck_assert(!(c.radius > 0) || (!c.status && c.outcome != CERTREG_OUTCOME_ABSTAINED));
    ck_assert_int_eq(c.status, x.status);
    if (x.tag % 2 == 0) c.samples = 0; /* of a set that failed it depends on the schedule */
    if (r->open[x.tag] == 2 && !r->has_first[x.tag]) r->first[x.tag] = c;
    if (r->open[x.tag] == 2) {
        if (c.status) c.samples = r->first[x.tag].samples = 0;
        ck_assert_msg(!memcmp(&c, &r->first[x.tag], sizeof c),
                      "input %d: status %d, stop %d, radius %g, once %d, %d, %g", (int)x.tag,
                      c.status, c.stop, c.radius, r->first[x.tag].status, r->first[x.tag].stop,
                      r->first[x.tag].radius);
        r->compared += (size_t)r->has_first[x.tag];
        r->has_first[x.tag] = 1;
    }
    r->open[x.tag] = 0;
    return 1;
}

static void add_one(run *r)
{
    const uint64_t tag = choose(INPUTS);
    float z[D];
    int32_t full;
    const certreg_queue_input in = input_of(tag, z);
    const certreg_status status = certreg_queue_add(r->q, &in, &full);
    ck_assert_msg(status == (r->open[tag] && !full ? CERTREG_E_INVALID : CERTREG_OK), "%s",
                  certreg_queue_error(r->q)->text);
    if (!status && !full) r->open[tag] = r->is_cancelled ? 1 : 2;
}

static void step(run *r)
{
    const uint32_t what = choose(100);
    if (what < 40) add_one(r);
    else if (what < 65 && r->outs < OUT) draw(r);
    else if (what < 88 && r->outs) give_one(r, choose((uint32_t)r->outs), what == 70);
    else if (what < 97) take(r);
    else if (what < 99) {
        const uint64_t tag = choose(INPUTS);
        ck_assert_int_eq(certreg_queue_drop(r->q, &tag),
                         r->open[tag] ? CERTREG_OK : CERTREG_E_INVALID);
        r->open[tag] = 0;
    } else if (choose(4) == 0) {
        certreg_queue_cancel(r->q);
        r->is_cancelled = 1;
        for (size_t i = 0; i < INPUTS; i++) r->open[i] = r->open[i] > 0;
    }
}

static void finish(run *r)
{
    for (int busy = 1; busy;) {
        const size_t before = r->outs;
        if (r->outs < OUT) draw(r);
        busy = r->outs > 0 || before > 0;
        if (r->outs) give_one(r, 0, 0);
        while (take(r)) busy = 1;
    }
    for (size_t i = 0; i < INPUTS; i++) ck_assert_int_eq(r->open[i], 0);
}

TEST_TIMES(queues_keep_their_promises_in_any_order, 4)
{
    static const size_t capacities[] = {1, 3, 8, 40};
    static run r;
    state = 77 + (uint64_t)_i;
    r = (run){.q = queue_with(capacities[_i])};
    for (size_t i = 0; i < STEPS; i++) step(&r);
    finish(&r);
    ck_assert_uint_gt(r.compared, 40);
    certreg_queue_destroy(r.q);
}

KIT_MAIN("queue")
