/* Which outputs an attack counts as out, to the last bit, and the pairs that a test needs. */
#include "attack/attack.h"
#include "estimator/estimator.h"
#include "support/attack_kit.h"

static const struct {
    double prediction, tolerance;
    float in, out;                            /* the last float that is in, and the next one */
} edges[] = {{0.25, 0.5, 0.74999994f, 0.75f}, /* the edge itself is out */
             {1, 0x1p-60, 1, 1.00000012f},    /* the sum rounds down to 1, which is in */
             {1, 0.25 + 0x1p-54, 1.25f, 1.25000012f}, /* it rounds down to 1.25, in */
             {1, 0.25 - 0x1p-55, 1.24999988f, 1.25f}, /* and up to 1.25, out */
             {0, 1e-30, 9.9999995e-31f, 1.00000003e-30f},
             {1e9, 3, 1000000000.0f, 1000000064.0f}};

TEST(violation_score_is_out_from_the_exact_edge_on)
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
TEST_TIMES(violation_score_of_an_angle_begins_at_the_tolerance, 2)
{
    const int32_t angle = CERTREG_OUTPUT_ANGLE;
    const double middle = 1e6, lo = middle - 180, hi = middle + 180 + 0x1p-23;
    certreg_model m = kit_model(kit_identity, NULL, 1, 1);
    m.kind = &angle, m.lo = &lo, m.hi = &hi;
    const certreg_plan p = kit_plan(10);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    const float in = (float)(middle + (_i ? 0.125 : -0.125)),
                out = (float)(middle + (_i ? 0.3125 : -0.3125)); /* recorded within 0.125 */
    for (int k = 1; k < 200; k++) {
        cr_conditions c = {.prediction = middle,
                           .question = {.given = {.tolerance = 0.125 + k * 1e-9}}};
        cr_question_resolve(&e->record, &c.question);
        const cr_violation_score x =
            cr_violation_score_of(&e->record, &c, _i ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
        ck_assert_msg(cr_violation_score_value(&x, &in) == -1, "in by %d nano, and called out", k);
        ck_assert(cr_violation_score_value(&x, &out) == 1);
    }
}

/* 2^-k is the least level that k pairs, all out, can reach. */
TEST(violation_test_least_number_of_pairs_is_exact)
{
    ck_assert_uint_eq(cr_violation_test_min_pairs(0.5), 2);
    ck_assert_uint_eq(cr_violation_test_min_pairs(0.49), 2);
    ck_assert_uint_eq(cr_violation_test_min_pairs(0.2), 3);
    ck_assert_uint_eq(cr_violation_test_min_pairs(0.03), 6);
    ck_assert_uint_eq(cr_violation_test_min_pairs(1e-300), 997);
}

KIT_MAIN("violation_score")
