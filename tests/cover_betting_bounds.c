/* Exact error probabilities of betting bounds of few values: all sequences of two values are
 * enumerated. One value at the far end of the range takes nearly all of a maximum stake, so these
 * laws break a bettor who stakes too much, in particular after a pilot without such a value. */
#include "statistics/betting_bounds.h"
#include "support/suite.h"
#include <math.h>
#include <stdio.h>

enum { COUNT = 12, SEQUENCES = 1 << COUNT };
#define ALPHA 0.1

typedef struct sequence {
    double bound;
    int far; /* number of values at the far end */
} sequence;

static sequence sequences[SEQUENCES];

typedef struct values { /* a sequence: bit i of `far` is value i */
    unsigned far;
    double near_value;
} values;

static double value_at(const void *context, size_t i)
{
    const values *v = context;
    return v->far >> i & 1 ? 1 : v->near_value;
}

static int by_bound(const void *a, const void *b)
{
    const double x = ((const sequence *)a)->bound, y = ((const sequence *)b)->bound;
    return (x > y) - (x < y);
}

/* Sets all bounds, the least first. */
static void enumerate(double near_value, cr_running_moments pilot)
{
    for (unsigned far = 0; far < SEQUENCES; far++) {
        const values v = {far, near_value};
        const cr_betting_problem bet = {
            .value = value_at, .context = &v, .hi = 1, .count = COUNT, .pilot_moments = pilot};
        sequences[far] = (sequence){cr_betting_upper(&bet, ALPHA, 0), 0};
        for (int i = 0; i < COUNT; i++) sequences[far].far += (int)(far >> i & 1);
    }
    qsort(sequences, SEQUENCES, sizeof *sequences, by_bound);
}

/* Returns the greatest probability, over all laws with these two values, that the bound is below
 * the mean. Between two bounds it is a polynomial of the mean, which is tried just above the lower
 * one and at three more points. */
static double worst_miss(double near_value)
{
    double worst = 0;
    int below[COUNT + 1] = {0}; /* sequences with a bound below the mean, by their far values */
    for (int k = 0; k < SEQUENCES && sequences[k].bound < 1; k++) {
        below[sequences[k].far]++;
        const double next = k + 1 < SEQUENCES ? sequences[k + 1].bound : 1;
        for (int part = 0; part < 4; part++) {
            const double mean = sequences[k].bound + 0.25 * part * (next - sequences[k].bound),
                         p = (mean - near_value) / (1 - near_value);
            double miss = 0;
            for (int j = 0; j <= COUNT; j++) miss += below[j] * pow(p, j) * pow(1 - p, COUNT - j);
            worst = fmax(worst, miss);
        }
    }
    return worst;
}

static const struct row {
    const char *name;
    double near_value;
    cr_running_moments pilot;
    double attained; /* at least this fraction of alpha */
} rows[] = {
    {"0 or 1, no pilot", 0, {0, 0, 0}, 0.9},
    {"0 or 1, a pilot of 0", 0, {100, 0, 0}, 0.9},
    {"0 or 1, a pilot of 0.3", 0, {100, 30, 9}, 0.8},
    {"0.25 or 1, a pilot of 0.25", 0.25, {100, 25, 6.25}, 0.9},
    {"0.75 or 1, no pilot", 0.75, {0, 0, 0}, 0.75},
    {"0.75 or 1, a pilot of 0.75", 0.75, {100, 75, 56.25}, 0.9},
    {"0.9 or 1, a pilot of 0.9", 0.9, {100, 90, 81}, 0.65},
};

TEST_ROWS(betting_bounds_of_two_values_miss_with_at_most_alpha, rows)
{
    enumerate(rows[_i].near_value, rows[_i].pilot);
    const double worst = worst_miss(rows[_i].near_value);
    printf("%-30s missed %.4f of %.4f\n", rows[_i].name, worst, ALPHA);
    ck_assert_double_le(worst, ALPHA);
    ck_assert_double_ge(worst, rows[_i].attained * ALPHA);
}

TEST_MAIN("coverage of betting bounds")
