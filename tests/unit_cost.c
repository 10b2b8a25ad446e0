/* What is learned of the time that answers take. */
#include "estimator/cost.h"
#include "support/suite.h"

static cr_cost linear(double fixed, double each, int closings)
{
    cr_cost cost = {0};
    for (int i = 0; i < closings; i++) {
        const double n = 1000 + 100 * (i % 5);
        cr_cost_learn(&cost, n, fixed + each * n, fixed);
    }
    return cost;
}

TEST(one_closing_is_enough_to_scale_with_the_samples)
{
    const cr_cost cost = linear(0.001, 2e-6, 1);
    ck_assert(cr_cost_known(&cost));
    for (double n = 1; n < 1e6; n *= 3) {
        const double truth = 0.001 + 2e-6 * n;
        ck_assert_double_ge(cr_cost_expected(&cost, n), truth);
        ck_assert_double_le(cr_cost_expected(&cost, n), 1.2 * truth);
    }
}

TEST(nothing_is_known_at_first_and_a_closing_without_samples_teaches_nothing)
{
    cr_cost cost = {0};
    ck_assert(!cr_cost_known(&cost));
    cr_cost_learn(&cost, 0, 1, 0);
    cr_cost_learn_abandoned(&cost, 0, 1);
    ck_assert(!cr_cost_known(&cost));
}

TEST(an_outlier_at_most_doubles_what_is_expected_and_is_forgotten)
{
    cr_cost cost = linear(0.001, 2e-6, 10);
    const double before = cr_cost_expected(&cost, 1000);
    cr_cost_learn(&cost, 1000, 5, 0.5);
    ck_assert_double_le(cr_cost_expected(&cost, 1000), 2.0001 * before);
    for (int i = 0; i < 60; i++) cr_cost_learn(&cost, 1000, 0.003, 0.001);
    ck_assert_double_le(cr_cost_expected(&cost, 1000), 1.05 * before);
}

TEST(what_was_given_up_is_expected_to_take_longer)
{
    cr_cost cost = linear(0.001, 2e-6, 10);
    const double before = cr_cost_expected(&cost, 1000);
    cr_cost_learn_abandoned(&cost, 1000, 0.0031);
    ck_assert_double_ge(cr_cost_expected(&cost, 1000), 1.5 * before);
    const cr_cost known = cost;
    cr_cost_learn_abandoned(&cost, 1000, 0.0001); /* which says nothing */
    ck_assert_double_eq(cr_cost_expected(&cost, 1000), cr_cost_expected(&known, 1000));
}

TEST(longer_closings_are_believed_within_a_few_ticks)
{
    cr_cost cost = linear(0.001, 2e-6, 10);
    for (int i = 0; i < 4; i++) cr_cost_learn(&cost, 1000, 0.02, 0.001);
    ck_assert_double_ge(cr_cost_expected(&cost, 1000), 0.02);
}

TEST_MAIN("cost of an answer")
