/* Inputs with alternatives: parts of them, what is refused, and what a failure names.
 * tests/prop_queue.c compares sets with certificates that are made one by one. */
#include "support/queue_kit.h"

enum { SAMPLES = 400, PILOT = 40, PARTS = 8, ROOM = 2048 };
static const double sigma = 0.5, target = 0.2;
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

static int keep_record(void *user, const certreg_queue_row *of, const void *record, size_t bytes)
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
                         .pilot = PILOT, .user = f, .keep = keep_record),
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
static const certreg_question plain = {.struct_size = sizeof plain, .tolerance = 2};

/* Number 4 fails first in time. */
TEST(the_first_failed_alternative_is_named_with_the_reason)
{
    float z[4][D] = {{0.25f, 0, 0.1f}, {0.25f, 0, 0.2f}, {0.25f, 0, 0.3f}, {0.25f, 0, failing}};
    double margins[4] = {0, 5, 0, 0};
    const certreg_alternatives a =
        QUEUE_SET(.count = 4, .z = *z, .margins = margins, .first_noise_id = 100);
    answer x = certify(QUEUE(.batch = 100, .calls = 16), 16, &plain, &a);
    ck_assert(x.limiting[0] == 2 && x.c->reason == CERTREG_REASON_MOVED && isinf(x.c->output_lo));
    z[1][2] = 4;
    ck_assert_int_eq(certify(QUEUE(.batch = 100, .calls = 16), 16, &plain, &a).c->reason,
                     CERTREG_REASON_ALTERNATIVE);
    z[1][2] = failing;
    x = certify(QUEUE(.batch = 100, .calls = 16), 16, &plain, &a);
    ck_assert_int_eq(x.r.status, CERTREG_E_NOT_FINITE);
    KIT_SAYS(&x.error, "alternative 2: sample");
}

/* All estimates are wanted: one that cannot come keeps no result back. */
TEST(a_useless_alternative_behind_a_failed_one_ends_nothing)
{
    const float z[3][D] = {{0.25f, 0, 50}, {0.25f, 0, failing}, {0.25f, 0, 0.1f}};
    const certreg_alternatives a =
        QUEUE_SET(.count = 3, .z = *z, .first_noise_id = 100, .estimate_all = 1);
    for (size_t capacity = 1; capacity < 8; capacity += 6) {
        const answer x = certify(QUEUE(.capacity = capacity), 0, &plain, &a);
        ck_assert(x.r.status == CERTREG_OK && x.limiting[0] == 1 && x.r.proved == 0);
        ck_assert(isfinite(x.each[1].estimate) && isnan(x.each[2].estimate));
        ck_assert(isfinite(x.each[3].estimate) && x.each[3].state == 0);
    }
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
        const answer x = certify(QUEUE(.batch = 64), 0, &plain, &a);
        ck_assert(x.r.status == CERTREG_E_INVALID && x.error.code == (mistake ? 0 : 5));
        KIT_SAYS(&x.error, mistake ? "alternative 2: write returned 0, and a margin"
                                   : "alternative 2: write returned 5");
    }
    const certreg_queue_input in = input_of(0, origin, &plain, &a);
    certreg_queue *q = QUEUE(.batch = 64);
    ck_assert_int_eq(certreg_queue_add(q, &in, NULL), CERTREG_E_INVALID);
    KIT_SAYS(certreg_queue_error(q), "alternative 0");
}

KIT_MAIN("alternatives")
