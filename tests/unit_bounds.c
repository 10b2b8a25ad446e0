/* How alpha is divided among the bounds of one certificate: each bound is taken back to the level
 * at which it holds, and the levels add up to alpha. Their unions have so much slack that no
 * simulated coverage shows a level that is used twice. */
#include "statistics/betting_bounds.h"
#include "support/known_outputs.h"
#include <certreg/solver.h>

enum { COUNT = 400 };

static float output[COUNT];

/* A line, cut off at the ends of its range. */
static int evaluate(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float y = fmaxf(-2, fminf(b->x[i * b->inputs], 2));
        b->y[i] = y;
        if (b->first + i < COUNT) output[b->first + i] = y;
    }
    return 0;
}

static const double ends[2] = {-2, 2};

static certreg_estimator *sampled(uint32_t constraints)
{
    static const float z[2];
    certreg_model m = kit_model(evaluate, NULL, 2, 1);
    m.batch = 50, m.lo = ends, m.hi = ends + 1;
    certreg_plan p = kit_plan(COUNT);
    p.constraints = constraints, p.seed = 5, p.pilot = SIZE_MAX;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, z, 1, 0));
    return e;
}

static certreg_bounds bounds_of(certreg_estimator *e, const certreg_question *q, int32_t side)
{
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_bounds b = {.struct_size = sizeof b};
    KIT_OK(e, certreg_certify(e, COUNT, q, 1, &c));
    KIT_OK(e, certreg_estimator_bounds(e, q, side, &b));
    return b;
}

/* ---- levels */
static double value_at(const void *of, size_t i)
{
    (void)of;
    return (double)output[i];
}

static double square_at(const void *of, size_t i)
{
    const double gap = (double)output[i] - *(const double *)of;
    return gap * gap;
}

/* The least alpha at which the bound is as tight as this, to less than a per cent: the stakes
 * follow the level, so that tightness is not quite monotone in it. */
static double level_of(const cr_betting_problem *bet, int upper_end, double bound)
{
    double low = 0, high = 0.5;
    for (int i = 0; i < 50; i++) {
        const double middle = 0.5 * (low + high);
        const int tight = upper_end ? cr_betting_upper(bet, middle, 0) <= bound
                                    : cr_betting_lower(bet, middle, 0) >= bound;
        *(tight ? &high : &low) = middle;
    }
    return high;
}

TEST_TIMES(bounds_of_the_true_mean_and_its_moment_share_alpha, 3)
{
    const double alpha[] = {0.2, 0.05, 0.001};
    certreg_estimator *e = sampled(CERTREG_CONSTRAINTS_ECM);
    certreg_question q =
        QUESTION(.statistic = CERTREG_STATISTIC_MEAN, .method = CERTREG_METHOD_FINITE,
                 .center = CERTREG_CENTER_TRUE_MEAN, .tolerance = 0.5, .alpha = alpha[_i]);
    const certreg_bounds b = bounds_of(e, &q, CERTREG_SIDE_LOWER);
    const double far = fmax(2 - b.moment_center, b.moment_center + 2);
    const cr_betting_problem mean = {.value = value_at, .lo = -2, .hi = 2, .count = COUNT},
                             moment = {.value = square_at,
                                       .context = &b.moment_center,
                                       .hi = far * far * (1 + 0x1p-50),
                                       .count = COUNT};
    const double sum = level_of(&mean, 0, b.mean_lo) + level_of(&mean, 1, b.mean_hi) +
                       level_of(&moment, 1, b.moment_hi);
    ck_assert_msg(fabs(sum / alpha[_i] - 1) < 0.01, "levels add up to %g of alpha",
                  sum / alpha[_i]);
}

TEST_TIMES(bounds_leave_half_of_alpha_to_the_mean_beside_a_gradient, 2)
{
    const double alpha = 0.1, prediction = 0;
    certreg_estimator *e = sampled(CERTREG_CONSTRAINTS_ECGM);
    certreg_question q = QUESTION(.statistic = CERTREG_STATISTIC_MEDIAN,
                                  .method = CERTREG_METHOD_FINITE,
                                  .constraints = _i ? CERTREG_CONSTRAINTS_ECGM : 0, .tolerance = 1,
                                  .prediction = &prediction, .prediction_count = 1, .alpha = alpha);
    const certreg_bounds b = bounds_of(e, &q, CERTREG_SIDE_LOWER);
    int64_t below = 0;
    for (int i = 0; i < COUNT; i++) below += output[i] <= -1;
    const double level = binomial(below, COUNT, 0.5 * (1 - b.mean_lo));
    ck_assert_double_eq_tol(level, _i ? alpha / 2 : alpha, 1e-6);
    ck_assert_int_eq((b.constraints & CERTREG_CONSTRAINT_GRADIENT) != 0, _i);
}

KIT_MAIN("bounds")
