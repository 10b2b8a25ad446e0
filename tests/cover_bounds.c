/* Bounds keep their promise on outputs made to break intervals: at a number of samples, and, any
 * time, at the moment that suits them worst. Scores are about a given prediction, so that their
 * moments are sums over the law's quantiles. */
#include "statistics/binomial.h"
#include "support/coverage.h"
#include "support/names.h"
#include "support/random_problems.h"

enum { GRID = 20000, CAPACITY = 600, UPPER = CERTREG_SIDE_UPPER, LOWER = CERTREG_SIDE_LOWER };
#define ALPHA 0.1
static const double range = 100;

/* ---- laws of the output, by quantiles */
static double coin(double u)
{
    return u < 0.5 ? -1 : 1;
}
static double heavy(double u)
{
    return fmax(-range, fmin(tan(3.14159265358979 * (u - 0.5)), range));
}
static double skewed(double u)
{
    return fmin(-log1p(-u), range) - 1;
}
static double long_left_tail(double u)
{
    return fmax(1 - 0.05 / (u + 1e-9), -range);
}
/* Ties, some of them exactly one tolerance from 0. */
static double atoms(double u)
{
    return u < 0.1 ? -1 : u < 0.2 ? -0.5 : u < 0.85 ? 0 : 1;
}

static const struct row {
    const char *name;
    double (*law)(double);
    int32_t statistic, center, side;
    uint32_t constraints;
    double width;
} rows[] = {
    {"Huber, heavy tails", heavy, HUBER, PREDICTION, UPPER, 0, 0.5},
    {"wide Huber, heavy tails", heavy, HUBER, PREDICTION, LOWER, 0, 2},
    {"wide Huber, one long tail", long_left_tail, HUBER, PREDICTION, LOWER, 0, 2},
    {"Huber by mean and range, coin", coin, HUBER, PREDICTION, UPPER,
     CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE, 0.5},
    {"Huber by mean and range, skewed", skewed, HUBER, PREDICTION, UPPER,
     CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE, 0.5},
    {"mean, heavy tails", heavy, MEAN, PREDICTION, LOWER, 0, 0},
    {"true mean, heavy tails", heavy, MEAN, TRUE_MEAN, LOWER, 0, 0},
    {"true mean by mean and range", heavy, MEAN, TRUE_MEAN, LOWER,
     CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE, 0},
    {"Huber (C), heavy tails", heavy, HUBER, PREDICTION, UPPER, C, 0.5},
    {"Huber (C), coin", coin, HUBER, PREDICTION, UPPER, C, 0.5},
    {"true mean (C), heavy tails", heavy, MEAN, TRUE_MEAN, UPPER, C, 0},
    {"median, atoms", atoms, MEDIAN, PREDICTION, UPPER, 0, 0},
    {"median, heavy tails", heavy, MEDIAN, PREDICTION, LOWER, 0, 0},
};

static double score_of(const struct row *a, double y)
{
    if (a->center == TRUE_MEAN) return y;
    const double t = (a->side == LOWER ? y : -y) + 1; /* prediction 0, tolerance 1 */
    if (a->statistic == MEDIAN) return t > 0 ? 1 : -1;
    return a->statistic == MEAN ? t : fmax(-1, fmin(t / a->width, 1));
}

typedef struct truth {
    double mean, square;
} truth;

static truth truth_of(const struct row *a)
{
    truth t = {0, 0};
    for (int i = 0; i < GRID; i++) {
        const double u = score_of(a, (double)(float)a->law((i + 0.5) / GRID));
        t.mean += u / GRID;
        t.square += u * u / GRID;
    }
    return t;
}

/* ---- runs */
static certreg_estimator *make(size_t pilot)
{
    const double lo = -range, hi = range;
    certreg_model m = kit_model(NULL, NULL, 1, 1);
    certreg_plan p = kit_plan(CAPACITY);
    m.lo = &lo, m.hi = &hi, p.pilot = pilot;
    p.constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                    CERTREG_CONSTRAINT_RANGE;
    return kit_create(NULL, &m, &p);
}

/* Draws from the grid's own points, so that the truth above is exact. */
static void draw(const struct row *a, dice *d, float *y, size_t count)
{
    for (size_t i = 0; i < count; i++)
        y[i] = (float)a->law((floor(dice_between(d, 0, 1) * GRID * 0.9999999) + 0.5) / GRID);
}

static int is_wrong(certreg_estimator *e, const struct row *a, int32_t method, const truth *t,
                    const float *y, size_t count)
{
    const certreg_question q = QUESTION(.statistic = a->statistic, .method = method,
                                        .center = a->center, .constraints = a->constraints,
                                        .tolerance = 1, .huber_width = a->width, .alpha = ALPHA,
                                        .prediction = asks_prediction(0));
    certreg_bounds b = {.struct_size = sizeof b};
    coverage_begin(e, 1);
    KIT_OK(e, certreg_estimator_record(e, 0, count, y));
    KIT_OK(e, certreg_estimator_bounds(e, &q, a->side, &b));
    const double size = 1e-9 * (1 + fabs(t->mean)), moment = t->square -
                                                             2 * b.moment_center * t->mean +
                                                             b.moment_center * b.moment_center;
    if (b.constraints & CERTREG_CONSTRAINT_MOMENT && b.moment_hi < moment - size) return 1;
    if (b.constraints & CERTREG_CONSTRAINT_VARIANCE &&
        b.variance_hi < t->square - t->mean * t->mean - size)
        return 1;
    return b.mean_lo > t->mean + size || b.mean_hi < t->mean - size;
}

TEST_ROWS(bounds_at_a_fixed_count_miss_with_at_most_alpha, rows)
{
    static const struct {
        size_t samples, pilot;
        uint64_t runs;
    } counts[] = {{40, 12, 400}, {CAPACITY, SIZE_MAX, 300}};
    const struct row *a = rows + _i;
    const truth t = truth_of(a);
    for (int k = 0; k < KIT_ROWS(counts); k++) {
        certreg_estimator *e = make(counts[k].pilot);
        dice d = dice_of((uint64_t)_i * 7 + (uint64_t)k);
        uint64_t wrong = 0;
        for (uint64_t run = 0; run < counts[k].runs; run++) {
            float y[CAPACITY];
            draw(a, &d, y, counts[k].samples);
            wrong += (uint64_t)is_wrong(e, a, FINITE, &t, y, counts[k].samples);
        }
        coverage_check(a->name, wrong, counts[k].runs, ALPHA, 1e-4, k ? 0.25 : 0);
    }
}

/* Wrong at any number of samples counts: that is where an adversary would stop. */
TEST_ROWS(bounds_at_any_time_miss_with_at_most_alpha, rows)
{
    enum { RUNS = 200 };
    const struct row *a = rows + _i;
    const truth t = truth_of(a);
    certreg_estimator *e = make(12);
    dice d = dice_of((uint64_t)_i * 11 + 3);
    uint64_t wrong = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        float y[CAPACITY];
        int ever = 0;
        draw(a, &d, y, CAPACITY);
        for (size_t n = 24; n <= CAPACITY && !ever; n += 1 + n / 4)
            ever = is_wrong(e, a, ANYTIME, &t, y, n);
        wrong += (uint64_t)ever;
    }
    coverage_check(a->name, wrong, RUNS, ALPHA, 1e-4, 0.1);
}

/* A pilot that knows nothing of the values that count may cost width, never validity. */
TEST(bounds_are_valid_with_a_misleading_pilot)
{
    enum { RUNS = 600, PILOT = 200 };
    const struct row *a = rows + 4;
    const truth t = truth_of(a);
    certreg_estimator *e = make(PILOT);
    dice d = dice_of(17);
    uint64_t wrong = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        float y[CAPACITY];
        draw(a, &d, y, CAPACITY);
        for (size_t i = 0; i < PILOT; i++) y[i] = 1;
        wrong += (uint64_t)is_wrong(e, a, FINITE, &t, y, CAPACITY);
    }
    coverage_check("a misleading pilot", wrong, RUNS, ALPHA, 1e-4, 0);
}

/* ---- the worst pair of tails of a median, by exact sums (theory 6) */
/* P(max of the two tail counts <= k) for tails with probabilities p >= q, p + q <= 1. */
static double both_at_most(uint64_t k, uint64_t n, double p, double q)
{
    double sum = 0;
    for (uint64_t i = 0; i <= k && i <= n; i++) {
        const double here = cr_binomial_cdf(i, n, p) - (i ? cr_binomial_cdf(i - 1, n, p) : 0);
        sum += here * (p < 1 ? cr_binomial_cdf(k, n - i, fmin(1, q / (1 - p))) : 1);
    }
    return sum;
}

/* The radius exceeds the true one if and only if the bound on the heavier tail lies below it. */
static double exact_miss(uint64_t n, double p, double q)
{
    int64_t k = -1;
    while (k + 1 < (int64_t)n && cr_binomial_upper((uint64_t)(k + 1), n, ALPHA) < p) k++;
    return k < 0 ? 0 : both_at_most((uint64_t)k, n, p, q);
}

TEST_TIMES(bounds_of_both_tails_of_a_median_miss_with_exactly_alpha, 3)
{
    static const uint64_t sizes[] = {5, 64, 200};
    const uint64_t n = sizes[_i];
    double worst = 0;
    /* the miss jumps up just above the bound of every count */
    for (uint64_t k = 0; k < n / 2; k++) {
        const double p = cr_binomial_upper(k, n, ALPHA) * (1 + 1e-9);
        if (p > 0.5) break; /* no radius is claimed there */
        for (int share = 0; share <= 4; share++)
            worst = fmax(worst, exact_miss(n, p, p * 0.25 * share));
    }
    ck_assert_double_le(worst, ALPHA);
    ck_assert_double_gt(worst, 0.99 * ALPHA);
}

KIT_MAIN("bounds of hostile outputs")
