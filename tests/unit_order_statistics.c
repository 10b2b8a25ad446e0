/* Order statistics, thresholds by weight and sorting, against sorting and counting. */
#include "statistics/location.h"
#include "support/simulate.h"
#include "support/suite.h"

#define MOST 400

static double at(const void *values, size_t i)
{
    return ((const double *)values)[i];
}

/* Many that are equal, or differ in their last bits only. */
TEST_TIMES(order_select_of_ties_agrees_with_sorting, 4)
{
    double values[3 * MOST], sorted[3 * MOST];
    const size_t count = sizeof values / sizeof *values, kinds[] = {1, 2, 300, 3 * MOST};
    for (size_t i = 0; i < count; i++)
        values[i] = sorted[i] = 1 + DBL_EPSILON * (double)(i * 7919 % kinds[_i]);
    kit_sort(sorted, count);
    const cr_indexed_values order = {.value = at, .context = values, .count = count};
    for (size_t rank = 0; rank < count; rank++)
        ck_assert_double_eq(cr_order_select(&order, rank), sorted[rank]);
    ck_assert_double_nan(cr_order_select(&order, count));
}

/* ---- weights */
typedef struct weighted {
    double value[60], weight[60];
} weighted;

static double value_at(const void *of, size_t i)
{
    return ((const weighted *)of)->value[i];
}

static double weight_at(const void *of, size_t i)
{
    return ((const weighted *)of)->weight[i];
}

/* Weights are multiples of 1/8, so that no sum rounds. */
TEST(order_weighted_threshold_agrees_with_counting)
{
    simulate_source source;
    simulate_seed(&source, 4);
    for (int run = 0; run < 3000; run++) {
        weighted w;
        const size_t count = 1 + (size_t)(59 * simulate_uniform(&source));
        double all = 0;
        for (size_t i = 0; i < count; i++) {
            w.value[i] = i % 9 ? floor(40 * simulate_uniform(&source)) / 4 - 5 : INFINITY;
            all += w.weight[i] = (1 + floor(20 * simulate_uniform(&source))) / 8;
        }
        const double budget = floor(8 * all * simulate_uniform(&source)) / 8;
        const cr_indexed_values order = {.value = value_at, .context = &w, .count = count};
        const double q = cr_order_weighted_threshold(&order, weight_at, budget);
        double above = 0, from = 0;
        for (size_t i = 0; i < count; i++) {
            above += w.value[i] > q ? w.weight[i] : 0;
            from += w.value[i] >= q ? w.weight[i] : 0;
        }
        ck_assert(above <= budget && from > budget);
    }
}

TEST(order_sort_agrees_with_counting)
{
    simulate_source source;
    simulate_seed(&source, 3);
    for (size_t count = 0; count < 300; count++) {
        double values[300];
        for (size_t i = 0; i < count; i++)
            values[i] = floor(50 * simulate_normal(&source)) * (i % 7 ? 1 : INFINITY);
        for (size_t i = 0; i < count; i++)
            if (isnan(values[i])) values[i] = 0;
        double sum = 0, sorted = 0;
        for (size_t i = 0; i < count; i++) sum += isfinite(values[i]) ? values[i] : 1000;
        cr_order_sort(values, count);
        for (size_t i = 0; i < count; i++) sorted += isfinite(values[i]) ? values[i] : 1000;
        ck_assert_double_eq(sum, sorted);
        for (size_t i = 1; i < count; i++) ck_assert_double_le(values[i - 1], values[i]);
    }
}

TEST_MAIN("order_statistics")
