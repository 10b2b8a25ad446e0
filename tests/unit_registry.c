/* The rows of statistics, methods and centers: their numbers, and the assumption of a level 1/2. */
#include "question/question.h"
#include "support/suite.h"

TEST(registry_counts_are_the_numbers_of_rows)
{
    ck_assert_msg(cr_statistic_of(CR_STATISTIC_COUNT - 1) && !cr_statistic_of(CR_STATISTIC_COUNT),
                  "CR_STATISTIC_COUNT is %d", CR_STATISTIC_COUNT);
    ck_assert_msg(cr_method_of(CR_METHOD_COUNT - 1) && !cr_method_of(CR_METHOD_COUNT),
                  "CR_METHOD_COUNT is %d", CR_METHOD_COUNT);
    ck_assert_msg(cr_center_of(CR_CENTER_COUNT - 1) && !cr_center_of(CR_CENTER_COUNT),
                  "CR_CENTER_COUNT is %d", CR_CENTER_COUNT);
}

/* The gate of an attack, order statistics, the balanced prediction, published certificates and the
 * projections of a vector are about a median. */
static int offers_what_assumes_a_half(const cr_statistic *s)
{
    return s->row.supports & CR_SUPPORTS_ATTACK || s->bounds == CR_BOUNDS_BY_ORDER ||
           s->prediction == CR_PREDICT_BALANCED || s->net == CR_NET_PROJECTIONS ||
           s->methods & CR_ONE_OF(CERTREG_METHOD_BASELINE);
}

TEST(registry_offers_quantiles_nothing_that_assumes_a_half)
{
    for (int32_t value = 0; value < CR_STATISTIC_COUNT; value++) {
        const cr_statistic *s = cr_statistic_of(value);
        const cr_score_traits traits = cr_score_traits_of(s->score);
        if (traits.two_valued && traits.sides && s->level != 0.5)
            ck_assert_msg(!offers_what_assumes_a_half(s), "%s", s->row.name);
    }
    ck_assert(offers_what_assumes_a_half(cr_statistic_of(CERTREG_STATISTIC_MEDIAN)));
}

TEST_MAIN("registry")
