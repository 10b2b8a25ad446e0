/* The time that answers take, learned from earlier ones. */
#include "estimator/estimator.h"
#include "support/suite.h"

/* Some answers pass over all samples and some over those behind the pilot. */
TEST(answer_cost_expected_is_at_least_the_true_one)
{
    const double pilot = 200;
    for (double own = 0; own <= 1; own += 0.25) /* share of the pilot that they pass over */
        for (double n = 2 * pilot; n <= 64 * pilot; n *= 2) {
            const cr_sample_counts seen = {n, pilot};
            cr_answer_cost cost = {0};
            cr_answer_cost_learn(&cost, seen, 3 + n - pilot + own * pilot, 3);
            for (double more = 1.25 * pilot; more <= 64 * pilot; more *= 1.25)
                ck_assert_double_ge(cr_answer_cost_expected(&cost, (cr_sample_counts){more, pilot}),
                                    3 + more - pilot + own * pilot);
        }
}

/* Else a loop whose first tick ended there would take few samples for long. */
TEST(answer_cost_learned_from_one_sample_is_not_too_large)
{
    const double pilot = 200;
    cr_answer_cost cost = {0};
    cr_answer_cost_learn(&cost, (cr_sample_counts){pilot + 1, pilot}, pilot + 1, 0);
    for (double n = pilot + 1; n <= 64 * pilot; n *= 2)
        ck_assert_double_le(cr_answer_cost_expected(&cost, (cr_sample_counts){n, pilot}), 2.25 * n);
}

TEST(answer_cost_learns_nothing_without_samples)
{
    cr_answer_cost cost = {0};
    cr_answer_cost_learn(&cost, (cr_sample_counts){0}, 1, 0);
    cr_answer_cost_learn_abandoned(&cost, (cr_sample_counts){0}, 1);
    ck_assert(!cr_answer_cost_known(&cost));
}

TEST_MAIN("answer_cost")
