/* Outputs that hardly ever differ: the asymptotic intervals must not take silence for knowledge.
 * f is 1 beyond a cut along one coordinate and 0 elsewhere, so that its median is 0 until the shift
 * reaches the cut, and its Huber location below .5 likewise: about the prediction 0 the true radius
 * is known. */
#include "statistics/normal.h"
#include "support/coverage.h"

enum { CAPACITY = 4000, PILOT = 608, MAIN = CAPACITY - PILOT /* 64 blocks of 53 */, RUNS = 600 };

typedef struct law {
    int32_t statistic;
    size_t inputs;
    double expected; /* number of main samples beyond the cut */
    double alpha;
} law;

static const law laws[] = {
    {CERTREG_STATISTIC_MEDIAN, 1, 2, .05},  {CERTREG_STATISTIC_MEDIAN, 1, 4, .001},
    {CERTREG_STATISTIC_HUBER, 1, 2.3, .05}, {CERTREG_STATISTIC_HUBER, 3, 2.3, .05},
    {CERTREG_STATISTIC_HUBER, 1, 20, .05},  {CERTREG_STATISTIC_HUBER, 1, 80, .05},
    {CERTREG_STATISTIC_MEDIAN, 1, 80, .05}, {CERTREG_STATISTIC_HUBER, 1, 66, .05},
    {CERTREG_STATISTIC_MEDIAN, 1, 66, .05}};

typedef struct step {
    double cut;
    size_t inputs;
} step;

static int beyond(void *user, const certreg_batch *b)
{
    const step *s = user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = (double)b->x[i * s->inputs] > s->cut;
    return 0;
}

/* Runs whose radius exceeds the true one. */
static uint64_t misses(const law *l)
{
    const double cut = cr_normal_quantile_sf(l->expected / MAIN);
    step s = {cut, l->inputs};
    certreg_model model =
        MODEL(.eval = beyond, .user = &s, .inputs = l->inputs, .outputs = 1, .batch = 500);
    certreg_plan plan = PLAN(.constraints = CERTREG_CONSTRAINTS_ECGM, .max_samples = CAPACITY,
                             .pilot = PILOT, .seed = 2026);
    const certreg_question q =
        QUESTION(.statistic = l->statistic, .method = CERTREG_METHOD_ASYMPTOTIC, .tolerance = .5,
                 .huber_width = l->statistic == CERTREG_STATISTIC_HUBER ? .25 : 0,
                 .alpha = l->alpha, .prediction = asks_prediction(0));
    return coverage_misses(kit_create(NULL, &model, &plan), RUNS, CAPACITY, q, cut);
}

TEST_ROWS(rare_outputs_are_missed_with_at_most_alpha, laws)
{
    const law *l = laws + _i;
    coverage_check(l->statistic == CERTREG_STATISTIC_HUBER ? "Huber" : "median", misses(l), RUNS,
                   l->alpha, 0.01 / KIT_ROWS(laws), 0);
}

/* ---- the true mean of an output whose values beyond the cuts are rare on both sides */
typedef struct tails {
    double lo;           /* the other end of the range is 1 */
    double below, above; /* expected numbers of main samples that are lo, and that are 1 */
} tails;

static const double part = 0.4; /* of alpha: a tenth for the mean, half of it for each end */

/* No value is seen with a probability just below its share at 3 expected ones. */
static const tails both[] = {{0, 0, 3.05}, {-1, 3.05, 3.05}, {-1, 0, 3.05}, {-5, 0.6, 20}};

static int beyond_either(void *user, const certreg_batch *b)
{
    const tails *t = user;
    const double above = cr_normal_quantile_sf(t->above / MAIN),
                 below = t->below > 0 ? -cr_normal_quantile_sf(t->below / MAIN) : -INFINITY;
    for (size_t i = 0; i < b->rows; i++) {
        const double x = (double)b->x[i];
        b->y[i] = x > above ? 1.0F : x < below ? (float)t->lo : 0.0F;
    }
    return 0;
}

static int holds(const certreg_bounds *b, const tails *t)
{
    const double above = t->above / MAIN, below = t->below / MAIN, mean = above + t->lo * below,
                 variance = above + t->lo * t->lo * below - mean * mean;
    ck_assert_uint_eq(b->constraints, CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                                          CERTREG_CONSTRAINT_RANGE);
    return b->mean_lo <= mean && mean <= b->mean_hi && variance <= b->variance_hi;
}

/* Mean and variance together, from one count of each side. */
TEST_ROWS(rare_outputs_on_both_sides_leave_mean_and_variance_valid, both)
{
    tails t = both[_i];
    const double hi = 1, tail = part / 4;
    certreg_model model = MODEL(.eval = beyond_either, .user = &t, .inputs = 1, .outputs = 1,
                                .lo = &t.lo, .hi = &hi, .batch = 500);
    certreg_plan plan = PLAN(.constraints = CERTREG_CONSTRAINTS_ECGM, .max_samples = CAPACITY,
                             .pilot = PILOT, .seed = 2027);
    const certreg_question q =
        QUESTION(.statistic = CERTREG_STATISTIC_MEAN, .center = CERTREG_CENTER_TRUE_MEAN,
                 .method = CERTREG_METHOD_ASYMPTOTIC, .tolerance = 0.3, .alpha = part);
    uint64_t missed = 0;
    certreg_estimator *e = kit_create(NULL, &model, &plan);
    for (uint64_t run = 0; run < RUNS; run++) {
        certreg_bounds b = {.struct_size = sizeof b};
        coverage_begin(e, run);
        KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
        KIT_OK(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_LOWER, &b));
        ck_assert_uint_eq(b.samples, MAIN);
        missed += !holds(&b, &t);
    }
    coverage_check("mean and variance", missed, RUNS, tail, 0.0025, 0);
}

KIT_MAIN("asymptotic")
