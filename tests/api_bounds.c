/* The bounds behind a certificate: what they do not depend on, and that they are rounded outward.
 * A long double has the digits that doubles lose. */
#include "support/api_kit.h"

enum { SAMPLES = 1000, PILOT = 200, RECORDS = 60 };
static const float z[1] = {0};
static const double lo[1] = {-1}, hi[1] = {1};

static certreg_estimator *made(certreg_eval eval)
{
    certreg_model m = kit_model(eval, NULL, 1, 1);
    certreg_plan p = kit_plan(SAMPLES);
    m.lo = lo, m.hi = hi;
    p.pilot = PILOT;
    return kit_create(NULL, &m, &p);
}

static certreg_bounds bounds_of(certreg_estimator *e, const certreg_question *q, int32_t side)
{
    certreg_bounds b = {.struct_size = sizeof b};
    KIT_OK(e, certreg_estimator_bounds(e, q, side, &b));
    return b;
}

/* ---- which sample has the rare value */
static certreg_bounds with_rare_value_at(certreg_estimator *e, size_t at)
{
    static float y[SAMPLES];
    const certreg_question q = {.struct_size = sizeof q,
                                .statistic = CERTREG_STATISTIC_MEAN,
                                .method = CERTREG_METHOD_ASYMPTOTIC,
                                .center = CERTREG_CENTER_TRUE_MEAN,
                                .constraints = CERTREG_CONSTRAINTS_ECM,
                                .tolerance = 0.5};
    for (size_t i = 0; i < SAMPLES; i++) y[i] = i == at ? 1 : 0;
    KIT_OK(e, certreg_estimator_begin(e, z, 1, at));
    KIT_OK(e, certreg_estimator_record(e, 0, SAMPLES, y));
    return bounds_of(e, &q, CERTREG_SIDE_UPPER);
}

TEST(rare_values_count_wherever_they_stand)
{
    certreg_estimator *e = made(NULL);
    const certreg_bounds b = with_rare_value_at(e, PILOT + 300);
    /* One of 800 at a share of alpha: not silence, and not the normal approximation. */
    ck_assert_double_gt(b.mean_hi, 4.0 / 800);
    for (int last = 0; last < 2; last++) {
        const certreg_bounds other = with_rare_value_at(e, last ? SAMPLES - 1 : PILOT);
        ck_assert_double_eq(other.mean_lo, b.mean_lo);
        ck_assert_double_eq(other.mean_hi, b.mean_hi);
        ck_assert_double_eq(other.variance_hi, b.variance_hi);
    }
}

/* ---- the mean by the second moment (theory 6) */
static int wave(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float x = b->x[i];
        b->y[i] = x / (1 + x * x);
    }
    return 0;
}

/* (mean - center)^2 is at most the moment, so every mean that this allows is in the interval,
 * except what is outside of the range. */
static void expect_all_means(const certreg_bounds *b)
{
    const long double center = b->moment_center, below = center - (long double)b->mean_lo,
                      above = (long double)b->mean_hi - center;
    ck_assert_uint_ne(b->constraints & CERTREG_CONSTRAINT_MOMENT, 0);
    ck_assert(b->mean_lo == b->range_lo || below * below >= (long double)b->moment_hi);
    ck_assert(b->mean_hi == b->range_hi || above * above >= (long double)b->moment_hi);
}

TEST(mean_may_be_as_far_from_the_center_as_the_moment_allows)
{
    certreg_estimator *e = made(wave);
    certreg_question q = {.struct_size = sizeof q, .statistic = CERTREG_STATISTIC_HUBER};
    q.constraints = CERTREG_CONSTRAINTS_ECM;
    for (uint64_t record = 0; record < RECORDS; record++) {
        q.tolerance = 0.3 + 0.01 * (double)record, q.huber_width = 0.8 * q.tolerance;
        KIT_OK(e, certreg_estimator_begin(e, z, 1, record));
        KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
        for (int side = 0; side < 2; side++) {
            const certreg_bounds b =
                bounds_of(e, &q, side ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER);
            expect_all_means(&b);
        }
    }
}

KIT_MAIN("bounds")
