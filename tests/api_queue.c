/* Many inputs in one queue, and inputs with alternatives: what is refused, what fails with a call
 * or alone, records that are kept, early ends, and parts of alternatives. tests/prop_queue.c
 * compares the certificates, and those of sets, with certificates that are made one by one. */
#include "support/queue_kit.h"

static const certreg_question plain = {.struct_size = sizeof plain, .tolerance = 1};

/* The inputs of most tests. */
static certreg_queue_input input(uint64_t tag)
{
    static const float z[][D] = {{0.5f}, {0.25f, 0, 0.125f}, {-0.5f, 0.25f}};
    return input_of(tag, z[tag % 3], &plain, NULL);
}

/* One of them has the certificate of an estimator. */
static void as_alone(const answer *a)
{
    certreg_estimator *e = ESTIMATOR(.batch = 64);
    const certreg_queue_input in = input(a->r.tag);
    KIT_OK(e, certreg_estimator_begin(e, in.z, in.sigma, in.noise_id));
    const certreg_certificate alone = kit_ask(e, 250, plain);
    ck_assert_mem_eq(a->c, &alone, sizeof alone);
}

/* ---- refusals */
TEST(queue_plans_are_refused_by_name)
{
    static const certreg_queue_plan bad[] = {{.capacity = 0},
                                             {.capacity = 1, .flags = 8},
                                             {.capacity = 1, .calls = 17},
                                             {.capacity = 1, .alternatives = 1, .sets = 2},
                                             {.capacity = 1}};
    static const char *const words[] = {"capacity is 0", "0x8", "calls is 17", "sets is 2",
                                        "a queue needs"};
    const certreg_model m = kit_model(rows_of, NULL, D, 1);
    for (int i = 0; i < KIT_ROWS(bad); i++) {
        certreg_error why = {.struct_size = sizeof why};
        certreg_queue *q;
        certreg_queue_plan plan = bad[i];
        const certreg_plan p = PLAN(.max_samples = 9, .flags = i == 4 ? CERTREG_PLAN_PAIRS : 0);
        plan.struct_size = sizeof plan;
        KIT_UNMADE(&why, certreg_queue_create(NULL, &m, &p, &plan, &why, &q), CERTREG_E_INVALID,
                   words[i]);
    }
}

static int nothing(void *user, certreg_alternative *a)
{
    (void)user, (void)a;
    return 0;
}

/* While a set is open that has the tag and the noise ids 1 and 200 to 206. */
TEST(adding_refuses_what_it_names_and_changes_nothing)
{
    static const float z[MEMBERS * D];
    static const double below = -1;
    static const uint64_t look = 100;
    const certreg_target t = TARGET(.radius = 1), late = STRUCT(certreg_target, .radius = 1,
                                                                .look_count = 1, .looks = &look);
    const certreg_question about[] = {plain, QUESTION(.tolerance = 1, .target = &t),
                                      QUESTION(.tolerance = 1, .target = &late),
                                      QUESTION(.tolerance = 1, .method = CERTREG_METHOD_BASELINE),
                                      QUESTION(.tolerance = 1, .method = CERTREG_METHOD_BASELINE,
                                               .center = CERTREG_CENTER_SAMPLE_MEDIAN)};
    const struct {
        const char *words;
        int about;
        certreg_alternatives a; /* without a count: of one; without a noise id: none */
        certreg_queue_input in; /* without a count: of one question */
    } bad[] = {{"tag 1 is open", .in = {.tag = 1}},
               {"noise id 1", .in = {.noise_id = 1}},
               {"samples is 251", .in = {.samples = 251}},
               {"seconds", .in = {.seconds = -1}},
               {"at_radius", .in = {.at_radius = -1}},
               {"sigma", .in = {.sigma = -1}},
               {"record", .in = {.record = z, .record_bytes = 8}},
               {"count is 3", .in = {.count = 3}},
               {"at_radius", 0, {.first_noise_id = 9, .z = z}, {.at_radius = 1}},
               {"input.record", 0, {.first_noise_id = 9, .z = z}, {.record = z}},
               {"one question", 1, {.first_noise_id = 9, .z = z}, {.count = 2}},
               {"noise id 9", 0, {.first_noise_id = 9, .z = z}, {.noise_id = 9}},
               {"noise id 0", 0, .a = {.first_noise_id = 199, .z = z}},
               {"noise id 0", 0, .a = {.first_noise_id = 206, .z = z}},
               {".first_noise_id", 0, .a = {.first_noise_id = UINT64_MAX - 1, .z = z}},
               {"count is 7", 0, .a = {.first_noise_id = 9, .z = z, .count = 7}},
               {"z or write", 0, .a = {.first_noise_id = 9}},
               {"z or write", 0, .a = {.first_noise_id = 9, .z = z, .write = nothing}},
               {".margins", 0, .a = {.first_noise_id = 9, .z = z, .margins = &below}},
               {"belong to z", 0, .a = {.first_noise_id = 9, .write = nothing, .margins = &below}},
               {"0 without write", 1, .a = {.first_noise_id = 9, .z = z, .halvings = 1}},
               {"at most 12", 1, .a = {.first_noise_id = 9, .write = nothing, .halvings = 13}},
               {"need a target", 0, .a = {.first_noise_id = 9, .write = nothing, .halvings = 1}},
               {".watch", 0, .a = {.first_noise_id = 9, .z = z, .watch = 2}},
               {".estimate_all", 0, .a = {.first_noise_id = 9, .z = z, .estimate_all = 2}},
               {"leave looks NULL", 2, .a = {.first_noise_id = 9, .z = z}},
               {"METHOD_FINITE", 3, .a = {.first_noise_id = 9, .z = z}},
               {"CENTER_PREDICTION", 4, .a = {.first_noise_id = 9, .z = z}}};
    const certreg_alternatives open = QUEUE_SET(.count = 6, .z = z, .first_noise_id = 200);
    certreg_queue *q = QUEUE(.capacity = 9);
    certreg_queue_input in = input_of(1, z, &plain, &open);
    ck_assert(add(q, &in));
    for (int i = 0; i < KIT_ROWS(bad); i++) {
        const certreg_question two[] = {about[bad[i].about], about[bad[i].about]};
        certreg_alternatives a = bad[i].a;
        a.struct_size = sizeof a;
        if (!a.count) a.count = 1;
        in = bad[i].in;
        in.struct_size = sizeof in, in.z = z, in.questions = two;
        if (in.sigma == 0) in.sigma = 1;
        if (!in.count) in.count = 1;
        if (a.first_noise_id) in.alternatives = &a;
        int32_t full = 1;
        ck_assert(certreg_queue_add(q, &in, &full) && !full);
        KIT_SAYS(certreg_queue_error(q), bad[i].words);
    }
    for (uint64_t tag = 2; tag < 5; tag++) {
        in = input(tag);
        ck_assert_int_eq(add(q, &in), tag < 4);
    }
}

static certreg_queue *calls_itself;

static int calling(void *user, const certreg_batch *b)
{
    certreg_queue *q = calls_itself;
    certreg_queue_call c = {.struct_size = sizeof c, .state = 7};
    certreg_queue_result r = {.struct_size = sizeof r, .state = 7};
    const certreg_queue_input in = input(1);
    int32_t full = 7;
    ck_assert_int_eq(certreg_queue_add(q, &in, &full), CERTREG_E_BUSY);
    ck_assert_int_eq(certreg_queue_run(q), CERTREG_E_BUSY);
    ck_assert_int_eq(certreg_queue_next(q, 0, &c), CERTREG_E_BUSY);
    ck_assert_int_eq(certreg_queue_take(q, &r), CERTREG_E_BUSY);
    ck_assert_int_eq(certreg_queue_drop(q, NULL), CERTREG_E_BUSY);
    ck_assert(!full && !c.state && !r.state && certreg_queue_error(q)->status == CERTREG_E_BUSY);
    ck_assert_uint_eq(b->row->struct_size, sizeof *b->row);
    return rows_of(user, b);
}

TEST(calls_within_a_call_are_refused)
{
    const certreg_queue_input in = input(0);
    answer a;
    calls_itself = QUEUE(.eval = calling);
    run_all(calls_itself, &in, 1, &a);
}

/* ---- calls */
/* After a cancel an input answers from its first samples without a gap: from 64, if it lacks the
 * next 64 but not the 6 behind them. */
TEST(calls_are_given_once_and_leave_no_gap_in_an_answer)
{
    static const float y[64];
    certreg_queue_input in = input(0);
    answer a;
    certreg_queue *q = QUEUE(.calls = 2, .pilot = 30);
    in.samples = 134;
    ck_assert(add(q, &in));
    const certreg_queue_call first = next_call(q, 64);
    give(q, &first);
    const certreg_queue_call late = next_call(q, 64);
    ck_assert_int_eq(next_call(q, 7).state, CERTREG_CALL_WAIT); /* for as many rows */
    const certreg_queue_call last = next_call(q, 6);
    ck_assert(first.used == 64 && late.used == 64 && last.used == 6);
    ck_assert_int_eq(certreg_queue_give(q, first.ticket, y, 0, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_queue_give(q, late.ticket, NULL, 0, NULL), CERTREG_E_INVALID);
    give(q, &last);
    certreg_queue_cancel(q);
    ck_assert(take(q, &a) && a.r.status == CERTREG_OK && a.c->stop == CERTREG_STOP_CANCELLED);
    ck_assert(a.c->samples == 64 && isfinite(a.c->prediction));
    give(q, &late);
}

/* The looks of a target have chosen where a cancelled record ends. */
static unsigned char kept[2048];
static size_t kept_bytes;

static int keep_record(void *user, const certreg_queue_row *of, const void *record, size_t bytes)
{
    (void)user, (void)of;
    memcpy(kept, record, kept_bytes = bytes);
    return 0;
}

TEST(a_cancelled_target_fixes_no_number_of_samples)
{
    const certreg_target t = TARGET(.radius = 0.3);
    const certreg_question aims = QUESTION(.tolerance = 0.6, .target = &t);
    certreg_queue_input in = input(0);
    answer a;
    certreg_queue *q = QUEUE(.calls = 1, .pilot = 30, .keep = keep_record);
    in.questions = &aims;
    ck_assert(add(q, &in));
    for (int i = 0; i < 2; i++) {
        const certreg_queue_call c = next_call(q, 0);
        give(q, &c);
    }
    certreg_queue_cancel(q);
    ck_assert(take(q, &a) && a.c->stop == CERTREG_STOP_CANCELLED && a.c->samples > 30);
    certreg_estimator *e = ESTIMATOR(.pilot = 30);
    certreg_certificate c = kit_certificate();
    const certreg_question plainly = QUESTION(.tolerance = 0.6);
    KIT_OK(e, certreg_estimator_begin(e, in.z, in.sigma, in.noise_id));
    KIT_OK(e, certreg_estimator_import(e, kept, kept_bytes));
    ck_assert_int_eq(certreg_certify(e, 0, &plainly, 1, &c), CERTREG_E_WRONG_STATE);
}

static int calls_made, shared;

static int refusing(void *user, const certreg_batch *b)
{
    int bad = 0, shares = 0;
    for (size_t i = 0; i < b->used_count; i++) {
        bad |= b->x[i * D + 2] == failing;
        shares |= b->row[i].tag != b->row->tag;
    }
    calls_made++, shared += shares;
    return bad ? 7 : rows_of(user, b);
}

/* Three inputs share the first call, which fails for the second one. */
TEST_TIMES(a_split_call_names_the_input_that_fails, 2)
{
    const certreg_target t = TARGET(.radius = 0.5); /* with later looks, in other calls */
    const certreg_question aims = QUESTION(.tolerance = 1, .target = &t);
    const float z[D] = {0, 0, failing};
    certreg_queue_input in[] = {input(0), input(1), input(2)};
    answer a[3];
    in[0].questions = &aims, in[1].z = z;
    calls_made = shared = 0;
    run_all(QUEUE(.batch = 750, .flags = _i ? CERTREG_QUEUE_SPLIT : 0, .eval = refusing), in, 3, a);
    ck_assert(shared == 1 && (calls_made > 4) == _i);
    for (uint64_t tag = 0; tag < 3; tag++) {
        if (_i && tag == 2) as_alone(a + tag);
        if (_i && tag != 1) continue;
        ck_assert(kit_is_blank(a[tag].c, CERTREG_E_MODEL_FAILED));
        ck_assert(a[tag].error.code == 7 && a[tag].c->noise_id == tag);
        ck_assert((a[tag].error.row > 0) == (!_i && tag > 0)); /* its first row in the call */
    }
}

/* ---- the audit */
enum { AUDITED = 8 };
static unsigned char records[AUDITED][2048];
static size_t record_bytes[AUDITED];

static int keep_each(void *user, const certreg_queue_row *of, const void *record, size_t bytes)
{
    const size_t i = of->tag + of->number;
    memcpy(records[i], record, record_bytes[i] = bytes);
    return user != NULL;
}

static int another(void *user, const certreg_batch *b)
{
    for (size_t i = 0; i < b->rows; i++) b->y[i] = row_of(b->x + i * D) + 0.3f;
    return user != NULL;
}

/* Records of 250 samples keep one of every 16: more than plan.max_samples/64 + 1. By the same
 * model, by another one, and after a cancel. */
TEST_TIMES(samples_of_earlier_runs_are_asked_again, 6)
{
    const int picks = _i / 3, which = _i % 3;
    certreg_queue_input in[AUDITED];
    answer a[AUDITED];
    for (uint64_t i = 0; i < AUDITED; i++) in[i] = input(i);
    run_all(QUEUE(.audit = 1, .flags = picks ? CERTREG_QUEUE_KEEP_PICKS : 0, .keep = keep_each), in,
            AUDITED, a);
    ck_assert(a->c->radius > 0 && a->c->audited > 12);
    certreg_queue *q = QUEUE(.audit = 1, .eval = which == 1 ? another : rows_of);
    for (size_t i = 0; i < AUDITED; i++) {
        in[i].asks_again = 1, in[i].record = records[i], in[i].record_bytes = record_bytes[i];
        ck_assert(add(q, in + i));
    }
    if (which == 2) certreg_queue_cancel(q);
    ck_assert_int_eq(certreg_queue_run(q), CERTREG_OK);
    for (size_t i = 0; i < AUDITED; i++) {
        ck_assert(take(q, a + i) && a[i].c->radius == 0 && !a[i].c->outcome);
        ck_assert_int_eq(a[i].r.status, which == 1 ? CERTREG_E_MODEL_FAILED : CERTREG_OK);
        ck_assert_int_eq(a[i].error.code, which == 1 ? CERTREG_DEPENDENCE_CALL : 0);
        ck_assert(which ? !a[i].c->audited : a[i].c->audited >= AUDITED * (picks ? 15 : 3));
    }
}

/* ======== Alternatives. */
enum { SAMPLES = 400, PILOT = 40, PARTS = 8, ROOM = 2048 };
static const double sigma = 0.5, target = 0.2; /* of every input */
static const float origin[D] = {0.25f};

/* Calls that are out come back one at a time, the newest first; 0: by the model's callback. */
static answer certify(certreg_queue *q, size_t calls, const certreg_question *asked,
                      const certreg_alternatives *set)
{
    const certreg_queue_input in = input_of(0, origin, asked, set);
    certreg_queue_call c[16];
    answer a;
    ck_assert(add(q, &in));
    for (size_t n = 0; !take(q, &a);) {
        while (n < calls && (c[n] = next_call(q, 0)).state == CERTREG_CALL_ROWS) n++;
        ck_assert(calls ? n > 0 : !certreg_queue_run(q));
        if (calls) give(q, c + --n);
    }
    return a;
}

/* ---- parts of one alternative, in which x[0] moves by 0 to 2, by `place` */
typedef struct family {
    size_t rows, bytes[PARTS]; /* `rows` is first, for rows_of; no bytes: no record */
    int asked[PARTS], cancels;
    unsigned char records[PARTS][ROOM];
} family;

static size_t place(uint32_t number, uint32_t depth, uint32_t path)
{
    return number ? ((size_t)1 << depth) + path : 0;
}

static int halve(void *user, certreg_alternative *a)
{
    family *f = user;
    const size_t at = place(a->number, a->depth, a->path);
    f->asked[at]++;
    if (f->bytes[at]) a->record = f->records[at], a->record_bytes = f->bytes[at];
    if (!a->number) return 0;
    a->halvings += 5; /* it may only be lowered */
    a->margin = ldexp(1, -(int)a->depth);
    a->z[0] += (float)(a->margin * (1 + 2 * a->path));
    return 0;
}

static int keep_part(void *user, const certreg_queue_row *of, const void *record, size_t bytes)
{
    family *f = user;
    const size_t at = place(of->number, of->depth, of->path);
    memcpy(f->records[at], record, bytes);
    f->bytes[at] = bytes;
    return f->cancels;
}

static answer certify_family(family *f, size_t capacity, size_t calls, double tolerance,
                             uint32_t halvings)
{
    const certreg_target t = TARGET(.radius = target);
    const certreg_question q = QUESTION(.tolerance = tolerance, .target = &t);
    const certreg_alternatives a = QUEUE_SET(.count = 1, .write = halve, .user = f, .watch = 1,
                                             .first_noise_id = 100, .halvings = halvings);
    return certify(QUEUE(.batch = 32, .capacity = capacity, .calls = calls, .samples = SAMPLES,
                         .pilot = PILOT, .user = f, .keep = keep_part),
                   calls, &q, &a);
}

/* The record of a part is that of an estimator with its noise id, which ends when its target is
 * decided, at alpha over 2, 4, and at the last depth 4 again. Returns the radius. */
static double as_estimator(const family *f, uint32_t depth, uint32_t path, double prediction)
{
    static const uint64_t ids[] = {101, 104, 110};
    const size_t at = place(1, depth, path);
    const double margin = ldexp(1, -(int)depth);
    const certreg_target t = TARGET(.radius = goal_of(margin, target, sigma));
    const float z[D] = {origin[0] + (float)(margin * (1 + 2 * path))};
    unsigned char record[ROOM];
    certreg_estimator *e = ESTIMATOR(.batch = 32, .samples = SAMPLES - PILOT, .pilot = SIZE_MAX);
    KIT_OK(e, certreg_estimator_begin(e, z, sigma, ids[depth] + path));
    const double radius =
        kit_ask(e, SAMPLES - PILOT,
                QUESTION(.tolerance = 2.4, .prediction = &prediction, .prediction_count = 1,
                         .target = &t, .bonferroni = depth ? 4 : 2))
            .radius;
    ck_assert_uint_eq(kit_export(e, record, sizeof record), f->bytes[at]);
    KIT_OK(e, certreg_estimator_import(e, f->records[at], f->bytes[at]));
    return radius;
}

/* The whole alternative, with a margin of 1, is not proved, nor is its second half; its first half
 * is, and both parts of the second one. */
TEST_TIMES(parts_are_proved_by_records_that_can_be_kept, 6)
{
    family f = {.rows = 0};
    const answer x = certify_family(&f, _i % 2 ? 1 : 8, (size_t)_i / 2, 2.4, 2);
    ck_assert(x.c->radius >= target && x.c->stop == CERTREG_STOP_TARGET && x.r.proved == 2);
    ck_assert_mem_eq(f.asked, ((int[]){1, 1, 1, 1, 0, 0, 1, 1}), sizeof f.asked);
    const double whole = as_estimator(&f, 0, 0, x.c->prediction);
    ck_assert(x.c->alpha == 0.05 && x.each[1].radius == fmax(whole - 1, 0));
    ck_assert_double_ge(as_estimator(&f, 1, 0, x.c->prediction), target + 0.5);
    ck_assert_double_lt(as_estimator(&f, 1, 1, x.c->prediction), target + 0.5);
    ck_assert_double_ge(as_estimator(&f, 2, 2, x.c->prediction), target + 0.25);
    ck_assert_double_ge(as_estimator(&f, 2, 3, x.c->prediction), target + 0.25);
    if (_i < 2) ck_assert_uint_eq(f.rows, x.c->samples);
    f.rows = 0;
    for (int alone = 0; alone < 2; alone++) {
        if (alone) f.bytes[0] = 0; /* parts wait for the prediction of the input itself */
        const answer again = certify_family(&f, 8, 0, 2.4, 2);
        ck_assert_int_eq(f.rows > 0, alone);
        ck_assert_mem_eq(x.c, again.c, sizeof x.c);
    }
}

TEST(a_part_that_may_not_be_halved_fails)
{
    family f = {.rows = 0}, cancelled = {.cancels = 1};
    const answer x = certify_family(&f, 8, 0, 1.5, 1), y = certify_family(&cancelled, 8, 0, 1.5, 1);
    ck_assert_int_eq(y.c->stop, CERTREG_STOP_CANCELLED); /* by a result of keep */
    ck_assert(x.c->radius == 0 && x.c->stop == CERTREG_STOP_HOPELESS && !x.r.status);
    ck_assert(x.limiting[0] == 1 && x.r.proved == 1);
}

/* ---- failures */
static const certreg_question wide = {.struct_size = sizeof wide, .tolerance = 2};

/* Number 4 fails first in time. */
TEST(the_first_failed_alternative_is_named_with_the_reason)
{
    float z[4][D] = {{0.25f, 0, 0.1f}, {0.25f, 0, 0.2f}, {0.25f, 0, 0.3f}, {0.25f, 0, failing}};
    double margins[4] = {0, 5, 0, 0};
    const certreg_alternatives a =
        QUEUE_SET(.count = 4, .z = *z, .margins = margins, .first_noise_id = 100);
    answer x = certify(QUEUE(.batch = 100, .calls = 16), 16, &wide, &a);
    ck_assert(x.limiting[0] == 2 && x.c->reason == CERTREG_REASON_MOVED && isinf(x.c->output_lo));
    z[1][2] = 4;
    ck_assert_int_eq(certify(QUEUE(.batch = 100, .calls = 16), 16, &wide, &a).c->reason,
                     CERTREG_REASON_ALTERNATIVE);
    z[1][2] = failing;
    x = certify(QUEUE(.batch = 100, .calls = 16), 16, &wide, &a);
    ck_assert_int_eq(x.r.status, CERTREG_E_NOT_FINITE);
    KIT_SAYS(&x.error, "alternative 2: sample");
}

/* Fails for alternative 2, or changes the input. */
static int mistaken(void *mistake, certreg_alternative *a)
{
    static const double margins[] = {0, -1, INFINITY, 0};
    const int which = *(int *)mistake;
    if (a->number == 2) a->margin = margins[which];
    if (which == 3) a->z[0] += 1;
    return a->number == 2 && !which ? 5 : 0;
}

TEST(a_callback_may_refuse_but_not_change_the_input)
{
    int mistake = 0;
    const certreg_alternatives a =
        QUEUE_SET(.count = 3, .write = mistaken, .user = &mistake, .first_noise_id = 100);
    for (; mistake < 3; mistake++) {
        const answer x = certify(QUEUE(.batch = 64), 0, &wide, &a);
        ck_assert(x.r.status == CERTREG_E_INVALID && x.error.code == (mistake ? 0 : 5));
        KIT_SAYS(&x.error, mistake ? "alternative 2: write returned 0, and a margin"
                                   : "alternative 2: write returned 5");
    }
    const certreg_queue_input in = input_of(0, origin, &wide, &a);
    certreg_queue *q = QUEUE(.batch = 64);
    ck_assert_int_eq(certreg_queue_add(q, &in, NULL), CERTREG_E_INVALID);
    KIT_SAYS(certreg_queue_error(q), "alternative 0");
}

KIT_MAIN("queue")
