/* Bounds keep their promise on outputs made to break intervals: at a number of samples; any time,
 * at the moment that suits them worst; where outputs hardly ever differ; and by exact sums over all
 * records of few samples. */
#include "statistics/betting_bounds.h"
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "support/coverage.h"
#include "support/names.h"
#include "support/random_problems.h"

enum { GRID = 20000, CAPACITY = 600, UPPER = CERTREG_SIDE_UPPER, LOWER = CERTREG_SIDE_LOWER };
#define ALPHA 0.25
static const double range = 100;

/* ---- laws of the output, by quantiles. Scores are about a given prediction, so that their moments
 * are sums over these */
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

enum { MEAN_AND_RANGE = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE };

static const struct row {
    const char *name;
    double (*law)(double);
    int32_t statistic, center, side;
    uint32_t constraints;
    double width;
    /* after 40 samples, 12 of them a pilot; after 600; ever */
    double few, many, ever;
} rows[] = {
    {"Huber, heavy tails", heavy, HUBER, PREDICTION, UPPER, 0, 0.5, 0.223, 0.250, 0.190},
    {"wide Huber, heavy tails", heavy, HUBER, PREDICTION, LOWER, 0, 2, 0.170, 0.230, 0.150},
    {"wide Huber, one long tail", long_left_tail, HUBER, PREDICTION, LOWER, 0, 2, 0.005, 0.203,
     0.173},
    {"Huber by mean, coin", coin, HUBER, PREDICTION, UPPER, MEAN_AND_RANGE, 0.5, 0.177, 0.217,
     0.183},
    {"Huber by mean, skewed", skewed, HUBER, PREDICTION, UPPER, MEAN_AND_RANGE, 0.5, 0.187, 0.250,
     0.157},
    {"mean, heavy tails", heavy, MEAN, PREDICTION, LOWER, 0, 0, 0.010, 0.173, 0.080},
    {"true mean, heavy tails", heavy, MEAN, TRUE_MEAN, LOWER, 0, 0, 0.005, 0.173, 0.150},
    {"true mean by mean", heavy, MEAN, TRUE_MEAN, LOWER, MEAN_AND_RANGE, 0, 0.005, 0.110, 0.060},
    {"Huber (C), heavy tails", heavy, HUBER, PREDICTION, UPPER, C, 0.5, 0.160, 0.223, 0.150},
    {"Huber (C), coin", coin, HUBER, PREDICTION, UPPER, C, 0.5, 0.020, 0.250, 0.080},
    {"true mean (C), heavy tails", heavy, MEAN, TRUE_MEAN, UPPER, C, 0, 0.005, 0.217, 0.167},
    {"true mean by mean, coin", coin, MEAN, TRUE_MEAN, LOWER, MEAN_AND_RANGE, 0, 0.187, 0.223,
     0.073},
    {"true mean (C), coin", coin, MEAN, TRUE_MEAN, UPPER, C, 0, 0.200, 0.005, 0.137},
    {"median, atoms", atoms, MEDIAN, PREDICTION, UPPER, 0, 0, 0.230, 0.250, 0.227},
    {"median, heavy tails", heavy, MEDIAN, PREDICTION, LOWER, 0, 0, 0.120, 0.210, 0.207},
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
typedef struct bench {
    const struct row *row;
    truth truth;
    certreg_estimator *piloted, *whole;
    size_t misleading; /* so many outputs of the pilot are 1 */
    uint64_t seed;
} bench;

static certreg_estimator *make(size_t pilot, const struct row *a)
{
    const double hi = a->law == coin ? 1 : range, lo = -hi;
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

static int is_wrong(certreg_estimator *e, const bench *b, int32_t method, double spend,
                    const float *y, size_t count)
{
    const struct row *a = b->row;
    const truth *t = &b->truth;
    const certreg_question q = QUESTION(.statistic = a->statistic, .method = method,
                                        .center = a->center, .constraints = a->constraints,
                                        .tolerance = 1, .huber_width = a->width,
                                        .alpha = ALPHA * spend, .prediction = asks_prediction(0));
    coverage_begin(e, 1);
    KIT_OK(e, certreg_estimator_record(e, 0, count, y));
    const certreg_bounds found = asks_side(e, &q, a->side);
    const double size = 1e-9 * (1 + fabs(t->mean)), c = found.moment_center,
                 moment = t->square - 2 * c * t->mean + c * c,
                 variance = t->square - t->mean * t->mean;
    if (found.constraints & CERTREG_CONSTRAINT_MOMENT && found.moment_hi < moment - size) return 1;
    if (found.constraints & CERTREG_CONSTRAINT_VARIANCE && found.variance_hi < variance - size)
        return 1;
    return found.mean_lo > t->mean + size || found.mean_hi < t->mean - size;
}

/* Bits: after few, after many, and at any number of samples, where an adversary would stop. */
static unsigned run_bounds(void *of, uint64_t run, double spend)
{
    const bench *b = of;
    dice d = dice_of(b->seed + run);
    float y[CAPACITY];
    draw(b->row, &d, y, CAPACITY);
    for (size_t i = 0; i < b->misleading; i++) y[i] = 1;
    unsigned ever = 0;
    if (b->misleading) return (unsigned)is_wrong(b->piloted, b, FINITE, spend, y, CAPACITY);
    for (size_t n = 24; n <= CAPACITY && !ever; n += 1 + n / 2)
        ever = (unsigned)is_wrong(b->piloted, b, ANYTIME, spend, y, n);
    return ever << 2 | (unsigned)is_wrong(b->whole, b, FINITE, spend, y, CAPACITY) << 1 |
           (unsigned)is_wrong(b->piloted, b, FINITE, spend, y, 40);
}

TEST_ROWS(bounds_of_hostile_outputs_miss_as_often_as_expected, rows)
{
    const struct row *a = rows + _i;
    bench b = {a, truth_of(a), make(12, a), make(SIZE_MAX, a), 0, (uint64_t)_i << 32};
    const coverage_claim claims[] = {{"40 samples", ALPHA, a->few, 0},
                                     {"600 samples", ALPHA, a->many, 0},
                                     {"any time", ALPHA, a->ever, 0}};
    coverage_of(a->name, claims, 3, 300, run_bounds, &b);
}

/* A pilot that knows nothing of the values that count may cost width, never validity. */
TEST(bounds_are_valid_with_a_misleading_pilot)
{
    bench b = {rows + 4, truth_of(rows + 4), make(200, rows + 4), NULL, 200, 17};
    coverage_row(ALPHA, 0.175, 600, run_bounds, &b, "a misleading pilot");
}

/* ---- outputs that hardly ever differ: asymptotic intervals must not take silence for knowledge */
/* Outputs are 1 beyond a cut along one coordinate and `lo` below another one, elsewhere 0. So the
 * median, and Huber's location about half of the tolerance, is 0 until the shift reaches the cut.
 */
enum { RECORD = 4000, PILOT = 608, MAIN = RECORD - PILOT /* 64 blocks of 53 */ };

typedef struct rare {
    const char *name;
    int32_t statistic;
    size_t inputs;
    double lo, below, above; /* expected numbers of main samples that are lo, and 1 */
    double alpha, expected;
    uint64_t runs; /* 0: 400 */
} rare;

static const rare silent[] = {
    {"rare, median, 2", MEDIAN, 1, 0, 0, 2, 0.05, 0.005, 0},
    {"rare, median, 4", MEDIAN, 1, 0, 0, 4, 0.001, 0.001, 0},
    {"rare, median, 66", MEDIAN, 1, 0, 0, 66, 0.25, 0.128, 0},
    {"rare, median, 80", MEDIAN, 1, 0, 0, 80, 0.25, 0.130, 0},
    {"rare, Huber, 2.3", HUBER, 1, 0, 0, 2.3, 0.05, 0.005, 0},
    {"rare, Huber, 2.3 of three inputs", HUBER, 3, 0, 0, 2.3, 0.05, 0.005, 0},
    {"rare, Huber, 20", HUBER, 1, 0, 0, 20, 0.25, 0.035, 0},
    {"rare, Huber, 66", HUBER, 1, 0, 0, 66, 0.25, 0.055, 0},
    {"rare, Huber, 80", HUBER, 1, 0, 0, 80, 0.25, 0.085, 0},
    /* of alpha 0.4 a tenth is for the mean, half of it for each end: no value is seen with a
     * probability just below its share at 3 expected ones. One count of each side bounds mean and
     * variance together */
    {"rare, true mean, above", MEAN, 1, 0, 0, 3.05, 0.1, 0.058, 0},
    {"rare, true mean, 40 above", MEAN, 1, 0, 0, 40.1, 0.1, 0.041, 1200},
    {"rare, true mean, both", MEAN, 1, -1, 3.05, 3.05, 0.1, 0.005, 0},
    {"rare, true mean, below", MEAN, 1, -1, 0, 3.05, 0.1, 0.058, 0},
    {"rare, true mean, some below", MEAN, 1, -5, 0.6, 20, 0.1, 0.005, 0},
};

static double upper_cut(const rare *r)
{
    return cr_normal_quantile_sf(r->above / MAIN);
}

static int beyond(void *user, const certreg_batch *b)
{
    const rare *r = user;
    const double above = upper_cut(r),
                 below = r->below > 0 ? -cr_normal_quantile_sf(r->below / MAIN) : -INFINITY;
    for (size_t i = 0; i < b->rows; i++) {
        const double x = (double)b->x[i * b->inputs];
        b->y[i] = x > above ? 1.0F : x < below ? (float)r->lo : 0.0F;
    }
    return 0;
}

static int bounds_hold(certreg_estimator *e, const certreg_question *q, const rare *r)
{
    const double above = r->above / MAIN, below = r->below / MAIN, mean = above + r->lo * below,
                 variance = above + r->lo * r->lo * below - mean * mean;
    KIT_OK(e, certreg_estimator_sample(e, 0, RECORD));
    const certreg_bounds b = asks_side(e, q, LOWER);
    ck_assert_uint_eq(b.samples, MAIN);
    const uint32_t needed = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                            CERTREG_CONSTRAINT_RANGE;
    ck_assert_uint_eq(b.constraints & needed, needed);
    return b.mean_lo <= mean && mean <= b.mean_hi && variance <= b.variance_hi;
}

typedef struct rare_bench {
    const rare *of;
    certreg_estimator *estimator;
} rare_bench;

static unsigned run_rare(void *of, uint64_t run, double spend)
{
    const rare_bench *b = of;
    const rare *r = b->of;
    const int mean = r->statistic == MEAN;
    const certreg_question q = QUESTION(.statistic = r->statistic, .method = ASYMPTOTIC,
                                        .tolerance = 0.5, .center = mean ? TRUE_MEAN : PREDICTION,
                                        .huber_width = r->statistic == HUBER ? 0.25 : 0,
                                        .alpha = fmin(0.5, (mean ? 4 : 1) * r->alpha * spend),
                                        .prediction = mean ? NULL : asks_prediction(0));
    coverage_begin(b->estimator, run);
    if (mean) return !bounds_hold(b->estimator, &q, r);
    return kit_ask(b->estimator, RECORD, q).radius > upper_cut(r);
}

TEST_ROWS(rare_outputs_are_missed_as_often_as_expected, silent)
{
    rare r = silent[_i];
    const double hi = 1;
    certreg_model m = kit_model(beyond, &r, r.inputs, 1);
    certreg_plan p = kit_plan(RECORD);
    m.batch = 500, p.pilot = PILOT, p.seed = 2026;
    if (r.statistic == MEAN) m.lo = &r.lo, m.hi = &hi;
    rare_bench b = {&r, kit_create(NULL, &m, &p)};
    coverage_row(r.alpha, r.expected, r.runs ? r.runs : 400, run_rare, &b, "%s", r.name);
}

/* ---- the parts of alpha of several bounds, about outputs that are normal: each attains its own;
 * those of the paper, whose intervals are asymptotic, about that, as a long run measured it */
enum { ALL_SAMPLES = 2048 };

static const struct shares {
    const char *name;
    int32_t method;
    size_t pilot;          /* beside a longer one the gradient has two ends */
    double alpha, part[5]; /* of mean_lo, mean_hi, variance_hi, gradient_lo, gradient_hi */
    double attained[5];    /* 0: the part */
} shares[] = {
    {"parts, asymptotic", ASYMPTOTIC, 128, 0.25, {0.03125, 0.03125, 0.0625, 0.005, 0.125}, {0}},
    {"parts, both ends", ASYMPTOTIC, 300, 0.25, {0.03125, 0.03125, 0.0625, 0.0625, 0.0625}, {0}},
    {"parts, paper",
     PAPER,
     128,
     0.25,
     {0.5, 0.5, 0.0625, 0.0625, 0.0625}, /* mean: as if known */
     {0, 0, 0.0682, 0.0481, 0.0748}},
};

typedef struct shared {
    const struct shares *of;
    certreg_estimator *estimator;
} shared;

static unsigned run_shares(void *of, uint64_t run, double spend)
{
    const shared *s = of;
    const certreg_question q =
        QUESTION(.statistic = MEAN, .center = TRUE_MEAN, .method = s->of->method, .tolerance = 1,
                 .alpha = fmin(0.5, s->of->alpha * spend),
                 .constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                                CERTREG_CONSTRAINT_GRADIENT);
    coverage_begin(s->estimator, run);
    KIT_OK(s->estimator, certreg_estimator_sample(s->estimator, 0, ALL_SAMPLES));
    const certreg_bounds b = asks_side(s->estimator, &q, LOWER);
    return (b.mean_lo > 0) | (unsigned)(b.mean_hi < 0) << 1 | (unsigned)(b.variance_hi < 1) << 2 |
           (unsigned)(b.gradient_lo > 1) << 3 | (unsigned)(b.gradient_hi < 1) << 4;
}

TEST_ROWS(parts_of_alpha_are_used_up_by_normal_outputs, shares)
{
    static const char *const bound[] = {"mean_lo", "mean_hi", "variance", "gradient_lo",
                                        "gradient_hi"};
    coverage_claim claims[5];
    const certreg_model m = kit_model(kit_identity, NULL, 3, 1);
    certreg_plan p = KIT_PLAN(ALL_SAMPLES, .pilot = shares[_i].pilot);
    shared s = {shares + _i, kit_create(NULL, &m, &p)};
    for (int k = 0; k < 5; k++) {
        const double part = shares[_i].part[k], attained = shares[_i].attained[k];
        claims[k] = (coverage_claim){bound[k], part, attained > 0 ? attained : part, attained > 0};
    }
    coverage_of(shares[_i].name, claims, 5, 800, run_shares, &s);
}

/* ---- exact sums */
#define TENTH 0.1
/* The worst pair of tails of a median (theory 6). */
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
    while (k + 1 < (int64_t)n && cr_binomial_upper((uint64_t)(k + 1), n, TENTH) < p) k++;
    return k < 0 ? 0 : both_at_most((uint64_t)k, n, p, q);
}

TEST_TIMES(bounds_of_both_tails_of_a_median_miss_with_exactly_alpha, 3)
{
    static const uint64_t sizes[] = {5, 64, 200};
    const uint64_t n = sizes[_i];
    double worst = 0;
    /* the miss jumps up just above the bound of every count */
    for (uint64_t k = 0; k < n / 2; k++) {
        const double p = cr_binomial_upper(k, n, TENTH) * (1 + 1e-9);
        if (p > 0.5) break; /* no radius is claimed there */
        for (int share = 0; share <= 4; share++)
            worst = fmax(worst, exact_miss(n, p, p * 0.25 * share));
    }
    char name[64];
    snprintf(name, sizeof name, "both tails of a median, %d samples", (int)n);
    coverage_exact(name, TENTH, TENTH, worst);
}

/* Betting bounds of two values: all sequences are enumerated. One value at the far end of the range
 * takes nearly all of a maximum stake, so these laws break a bettor who stakes too much, in
 * particular after a pilot without such a value. */
enum { COUNT = 12, SEQUENCES = 1 << COUNT };

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
        sequences[far] = (sequence){cr_betting_upper(&bet, TENTH, 0), 0};
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

static const struct betting {
    const char *name;
    double near_value;
    cr_running_moments pilot;
    double expected;
} bets[] = {
    {"bets, 0 or 1, no pilot", 0, {0, 0, 0}, 0.0997},
    {"bets, 0 or 1, a pilot of 0", 0, {100, 0, 0}, 0.0997},
    {"bets, 0 or 1, a pilot of 0.3", 0, {100, 30, 9}, 0.0997},
    {"bets, 0.25 or 1, a pilot of 0.25", 0.25, {100, 25, 6.25}, 0.0996},
    {"bets, 0.75 or 1, no pilot", 0.75, {0, 0, 0}, 0.0792},
    {"bets, 0.75 or 1, a pilot of 0.75", 0.75, {100, 75, 56.25}, 0.0949},
    {"bets, 0.9 or 1, a pilot of 0.9", 0.9, {100, 90, 81}, 0.0704},
};

TEST_ROWS(betting_bounds_of_two_values_miss_as_often_as_expected, bets)
{
    enumerate(bets[_i].near_value, bets[_i].pilot);
    coverage_exact(bets[_i].name, TENTH, bets[_i].expected, worst_miss(bets[_i].near_value));
}

KIT_MAIN("bounds of hostile outputs")
