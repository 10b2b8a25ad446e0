/* The bound from the whole law of a score, against the function that a shift harms most: the one
 * that rises along it. */
#include "support/suite.h"
#include "statistics/distribution_bound.h"
#include "statistics/normal.h"
#include <math.h>
#include <stdlib.h>

enum { VALUES = 12, SAMPLES = 400 };

typedef struct scores { /* a law of so many values, in order */
    int count;
    double value[VALUES], share[VALUES];
} scores;

static uint64_t state = 1;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

/* Some values are rare. They are floats, as outputs are. */
static scores random_scores(double least)
{
    scores s = {.count = 2 + (int)((VALUES - 1) * uniform())};
    double sum = 0;
    for (int i = 0; i < s.count; i++) {
        s.value[i] = (float)(least + 2 * uniform() * uniform());
        s.share[i] = pow(uniform(), 4) + 1e-6;
        sum += s.share[i];
    }
    if (uniform() < 0.5) s.value[0] = least;
    kit_sort(s.value, (size_t)s.count);
    for (int i = 0; i < s.count; i++) s.share[i] /= sum;
    return s;
}

static double mean_of(const scores *s, const cr_distribution_bound *law)
{
    double sum = 0;
    for (int i = 0; i < s->count; i++)
        sum += s->share[i] * cr_distribution_bound_value(law, s->value[i]);
    return sum;
}

/* The least mean after a shift of length r of any function with this law. */
static double least_mean(const scores *s, double r)
{
    double mean = s->value[0], above = 1;
    for (int i = 1; i < s->count; i++) {
        above -= s->share[i - 1];
        mean += (s->value[i] - s->value[i - 1]) * cr_shift_min_probability(fmax(above, 0), r);
    }
    return mean;
}

/* A score that is the output itself. */
static const cr_score as_it_is = {.kind = CR_SCORE_OUTPUT, .side = 1};

static cr_score_histogram cells_of(const scores *s, double least)
{
    static float y[SAMPLES];
    cr_score_histogram cells;
    int k = 0;
    double below = s->share[0];
    for (int i = 0; i < SAMPLES; i++) { /* quantiles, so that a fit knows the law */
        while (k + 1 < s->count && (i + 0.5) / SAMPLES > below) below += s->share[++k];
        y[i * 37 % SAMPLES] = (float)s->value[k];
    }
    const cr_samples samples = {.y = y, .stride = 1, .count = SAMPLES, .score = &as_it_is};
    if (!cr_score_histogram_make(&cells, &samples, least)) cells.cell_width = 0;
    return cells;
}

TEST(distribution_bound_is_at_most_the_least_mean)
{
    static const double shifts[] = {0, 0.01, 0.3, 1, 2.5, 9};
    int tried = 0;
    double nearest = INFINITY;
    for (int i = 0; i < 3000; i++) {
        const double least = 10 * uniform() - 5, fitted = 0.02 + 3 * uniform();
        const scores of = random_scores(least), like = i % 2 ? of : random_scores(least);
        const cr_score_histogram cells = cells_of(&like, least);
        const double mean = least_mean(&of, 0);
        cr_distribution_bound law = {.max_value = least + 2, .bounds_change = i % 5 == 0};
        if (!(cells.cell_width > 0)) continue;
        cr_distribution_bound_fit(
            &law, &cells, i % 3 ? CR_HISTOGRAM_FOLDS : (size_t)(i % CR_HISTOGRAM_FOLDS), fitted);
        for (int k = 0; k < KIT_ROWS(shifts); k++) {
            const double fall = law.bounds_change ? mean : 0,
                         found = cr_distribution_bound_shifted(&law, mean_of(&of, &law), shifts[k]),
                         truth = least_mean(&of, shifts[k]) - fall;
            ck_assert_msg(found <= truth, "law %d after %g: %.17g for %.17g", i, shifts[k], found,
                          truth);
            if (shifts[k] >= 0.3) nearest = fmin(nearest, truth - found);
        }
        tried++;
    }
    ck_assert_int_gt(tried, 2000);
    ck_assert_double_lt(nearest, 1e-4); /* so that a bound that is a little longer fails */
}

TEST(distribution_bound_of_a_known_law_is_near_the_least_mean)
{
    scores s = {.count = VALUES};
    for (int i = 0; i < VALUES; i++) s.value[i] = (float)i / VALUES, s.share[i] = 1.0 / VALUES;
    const cr_score_histogram cells = cells_of(&s, 0);
    cr_distribution_bound law = {0};
    for (double r = 0.25; r < 1.6; r += 0.25) {
        cr_distribution_bound_fit(&law, &cells, CR_HISTOGRAM_FOLDS, r);
        ck_assert_double_ge(cr_distribution_bound_shifted(&law, mean_of(&s, &law), r),
                            least_mean(&s, r) - 0.01);
    }
}

/* Rare low values twice as often as the pilot had them leave most of the radius. */
TEST_TIMES(distribution_bound_radius_shrinks_little_for_rare_low_values, 2)
{
    scores s = {.count = 3, .value = {0, 9, 10}, .share = {0.01, 0.5, 0.49}};
    const cr_score_histogram cells = cells_of(&s, 0);
    cr_distribution_bound law = {.max_value = 10, .bounds_change = _i};
    cr_distribution_bound_fit(&law, &cells, CR_HISTOGRAM_FOLDS, 1);
    const double threshold = least_mean(&s, 1) - (_i ? least_mean(&s, 0) : 0),
                 expected = cr_distribution_bound_radius(&law, mean_of(&s, &law), threshold, 4);
    s.share[0] = 0.02, s.share[1] = 0.49;
    ck_assert_double_gt(expected, 0.9);
    ck_assert_double_gt(cr_distribution_bound_radius(&law, mean_of(&s, &law), threshold, 4),
                        0.6 * expected);
}

TEST(distribution_bound_range_contains_its_values)
{
    for (int i = 0; i < 500; i++) {
        const double least = 10 * uniform() - 5;
        const scores s = random_scores(least);
        const cr_score_histogram cells = cells_of(&s, least);
        cr_distribution_bound law = {.max_value = least + 3, .bounds_change = i % 2};
        cr_betting_problem bet = {.count = 100};
        if (!(cells.cell_width > 0)) continue;
        cr_distribution_bound_fit(&law, &cells, CR_HISTOGRAM_FOLDS, 2 * uniform());
        cr_distribution_bound_range(&law, &bet);
        for (int k = 0; k < 100; k++) {
            const double value = cr_distribution_bound_value(&law, least + 3 * (k / 99.0));
            ck_assert(value >= bet.lo && value <= bet.hi);
        }
        cr_distribution_bound_add_pilot(&law, &cells, CR_HISTOGRAM_FOLDS, &bet);
        ck_assert_double_eq(bet.pilot_moments.count, SAMPLES);
        ck_assert_double_eq_tol(bet.lo + (bet.hi - bet.lo) * bet.pilot_moments.sum / SAMPLES,
                                mean_of(&s, &law), 0.01 * (bet.hi - bet.lo));
    }
}

TEST(distribution_bound_radius_is_where_the_threshold_is_met)
{
    for (int i = 0; i < 200; i++) {
        const scores s = random_scores(0);
        const cr_score_histogram cells = cells_of(&s, 0);
        const double threshold = 0.9 * least_mean(&s, 0.5);
        cr_distribution_bound law = {0};
        if (!(cells.cell_width > 0)) continue;
        cr_distribution_bound_fit(&law, &cells, CR_HISTOGRAM_FOLDS, 0.5);
        const double mean = mean_of(&s, &law),
                     r = cr_distribution_bound_radius(&law, mean, threshold, 4);
        if (r > 0) ck_assert_double_gt(cr_distribution_bound_shifted(&law, mean, r), threshold);
        if (r < 4)
            ck_assert_double_le(cr_distribution_bound_shifted(&law, mean, r * (1 + 1e-8) + 1e-8),
                                threshold);
    }
}

TEST(distribution_bound_count_refuses_few_or_equal_scores)
{
    const float y[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
    cr_samples s = {.y = y, .stride = 1, .count = 20, .score = &as_it_is};
    cr_score_histogram cells;
    ck_assert(cr_score_histogram_make(&cells, &s, 0));
    ck_assert(!cr_score_histogram_make(&cells, &s, -INFINITY));
    s.count = 19;
    ck_assert(!cr_score_histogram_make(&cells, &s, 0));
    s.first = 10, s.count = 10;
    ck_assert(!cr_score_histogram_make(&cells, &s, 0));
}

TEST_MAIN("law")
