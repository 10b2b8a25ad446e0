/* The inside of attacks: which outputs are out, to the last bit, and noise that nobody else has. */
#include "attack/violation_score.h"
#include "estimator/estimator.h"
#include "attack/ascent.h"
#include "support/attack_kit.h"
#include <certreg/attack.h>
#include <certreg/sampling.h>

/* ---- the edge of the tolerance */
static const struct {
    double prediction, tolerance;
    float in, out;                            /* the last float that is in, and the next one */
} edges[] = {{0.25, 0.5, 0.74999994f, 0.75f}, /* the edge itself is out */
             {1, 0x1p-60, 1, 1.00000012f},    /* the sum rounds down to 1, which is in */
             {1, 0.25 + 0x1p-54, 1.25f, 1.25000012f}, /* it rounds down to 1.25, in */
             {1, 0.25 - 0x1p-55, 1.24999988f, 1.25f}, /* and up to 1.25, out */
             {0, 1e-30, 9.9999995e-31f, 1.00000003e-30f},
             {1e9, 3, 1000000000.0f, 1000000064.0f}};

TEST(an_output_is_out_from_the_exact_edge_on)
{
    const certreg_model m = kit_model(kit_identity, NULL, 1, 1);
    const certreg_plan p = kit_plan(10);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    for (int side = -1; side <= 1; side += 2)
        for (size_t i = 0; i < KIT_ROWS(edges); i++) {
            cr_conditions c = {.prediction = side * edges[i].prediction,
                               .question = {.given = {.tolerance = edges[i].tolerance}}};
            cr_question_resolve(&e->record, &c.question);
            const cr_violation_score x = cr_violation_score_of(
                &e->record, &c, side > 0 ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
            const float in = (float)side * edges[i].in, out = (float)side * edges[i].out;
            ck_assert_msg(cr_violation_score_value(&x, &in) == -1, "%g is out", (double)in);
            ck_assert_msg(cr_violation_score_value(&x, &out) == 1, "%g is in", (double)out);
            ck_assert_double_lt(cr_violation_score_smooth(&x, &in), 1e-6);
            const float failed = NAN;
            ck_assert(cr_violation_score_value(&x, &failed) == -1 &&
                      cr_violation_score_smooth(&x, &failed) == -1);
        }
}

/* A turn far from 0, where the middle of the arc of what is out is rounded. */
TEST_TIMES(an_arc_begins_at_the_tolerance_and_not_before, 2)
{
    const int32_t angle = CERTREG_OUTPUT_ANGLE;
    const double middle = 1e9, lo = middle - 180, hi = middle + 180 + 0x1p-23;
    certreg_model m = kit_model(kit_identity, NULL, 1, 1);
    m.kind = &angle, m.lo = &lo, m.hi = &hi;
    const certreg_plan p = kit_plan(10);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    const float in = (float)(middle + (_i ? 64 : -64)), out = (float)(middle + (_i ? 128 : -128));
    for (int k = 1; k < 200; k++) {
        cr_conditions c = {.prediction = middle,
                           .question = {.given = {.tolerance = 64 + k * 1e-9}}};
        cr_question_resolve(&e->record, &c.question);
        const cr_violation_score x =
            cr_violation_score_of(&e->record, &c, _i ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
        ck_assert_msg(cr_violation_score_value(&x, &in) == -1, "in by %d nano, and called out", k);
        ck_assert(cr_violation_score_value(&x, &out) == 1);
    }
}

/* 2^-k is the least level that k pairs, all out, can reach. */
TEST(the_least_number_of_pairs_is_exact)
{
    ck_assert_uint_eq(cr_violation_test_min_pairs(0.5), 2);
    ck_assert_uint_eq(cr_violation_test_min_pairs(0.49), 2);
    ck_assert_uint_eq(cr_violation_test_min_pairs(0.2), 3);
    ck_assert_uint_eq(cr_violation_test_min_pairs(0.03), 6);
    ck_assert_uint_eq(cr_violation_test_min_pairs(1e-300), 997);
}

/* ---- noise */
enum { INPUTS = 6, SAMPLES = 500, CALLS = 600, RUNS = 6, KEPT = RUNS * CALLS + SAMPLES };

typedef struct seen { /* all but the first input of every row that was used: noise, as z is 0 */
    float rows[KEPT][INPUTS - 1];
    size_t count;
} seen;

static int keep_rows(void *user, const certreg_batch *b)
{
    seen *s = user;
    for (size_t i = 0; i < b->used_count; i++) {
        const float *x = b->x + (b->used_first + i) * INPUTS;
        memcpy(s->rows[s->count++], x + 1, sizeof *s->rows);
        b->y[b->used_first + i] = x[0] > 1 ? 1 : 0;
    }
    return 0;
}

static size_t times(const seen *s, float sign, const float *row)
{
    size_t found = 0;
    for (size_t i = 0; i < s->count; i++) {
        int same = 1;
        for (int j = 0; j + 1 < INPUTS && same; j++) same = s->rows[i][j] == sign * row[j];
        found += (size_t)same;
    }
    return found;
}

/* Attacks that differ in one thing each: what a caller may choose after the first. */
static void run_all(certreg_attack *a)
{
    static const float along[2][INPUTS] = {{1, 0, 0}, {-1, 0, 0}};
    static const double center = 0;
    for (int run = 0; run < RUNS; run++) {
        certreg_attack_options o = attack_options(run == 1 ? CALLS - 50 : CALLS);
        certreg_attack_result r = attack_result();
        certreg_question q = kit_question(run == 2 ? 0.6 : 0.5);
        q.prediction = &center;
        o.number = run == 3, o.direction = along[run == 4];
        if (run == 5) o.alpha = 0.05;
        ATTACK_OK(a, certreg_attack_run(a, &q, &o, NULL, &r));
    }
}

/* Every row of the attacks occurs once, and its opposite once; no row of the record has either. */
TEST(no_two_steps_share_noise_and_none_has_the_record_s)
{
    static seen s;
    const float zeros[INPUTS] = {0};
    certreg_model m = kit_model(keep_rows, &s, INPUTS, 1);
    m.batch = 32;
    certreg_plan p = kit_plan(SAMPLES);
    p.pilot = SIZE_MAX;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_attack *a = attack_on(e, CALLS);
    KIT_OK(e, certreg_estimator_begin(e, zeros, 1, 7));
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    run_all(a);
    ck_assert_uint_gt(s.count, SAMPLES + RUNS / 2 * CALLS);
    for (size_t i = 0; i < s.count; i++) {
        ck_assert_uint_eq(times(&s, 1, s.rows[i]), 1);
        ck_assert_uint_eq(times(&s, -1, s.rows[i]), i >= SAMPLES);
    }
}

KIT_MAIN("attack")
