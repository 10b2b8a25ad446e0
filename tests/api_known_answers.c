/* Results against known answers of 60 digits (tests/data/make_exact.py): never on the wrong side of
 * them, and not far on the safe one. */
#include "support/api_kit.h"
#include "support/question_fields.h"
#include <certreg/solver.h>
/* after the types that it needs */
#define MEAN_AND_RANGE (CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE)
#include "data/exact.inc"

/* A number that has to be at least `least`, and at most `most`. */
static void within(const char *what, int row, double got, double least, double most)
{
    ck_assert_msg(got >= least && got <= most, "%s, row %d: %.17g is not from %.17g to %.17g", what,
                  row, got, least, most);
}

/* ---- certificates of outputs that are known: (i * step) % n, or 10 for the first k of them */
static certreg_estimator *record(uint64_t n, double sigma, size_t step, uint64_t k)
{
    const double lo = -1e6, hi = 1e6;
    certreg_model m = kit_model(NULL, NULL, 1, 1);
    m.lo = &lo, m.hi = &hi;
    certreg_plan p = kit_plan(n);
    p.pilot = SIZE_MAX;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    float *y = calloc(n, sizeof *y);
    for (uint64_t j = 0; j < (k < n ? k : 0); j++) y[j * step % n] = 10;
    for (uint64_t j = 0; k == UINT64_MAX && j < n; j++) y[j] = (float)(j * step % n);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0}, sigma, 1));
    KIT_OK(e, certreg_estimator_record(e, 0, n, y));
    free(y);
    return e;
}

TEST_ROWS(certify_median_radius_is_at_most_the_exact_one, median_rows)
{
    certreg_estimator *e = record(median_rows[_i].n, median_rows[_i].sigma, 3, median_rows[_i].k);
    const certreg_question q =
        QUESTION(.tolerance = 1, .alpha = median_rows[_i].alpha, .prediction = asks_prediction(0));
    const double most = median_rows[_i].radius;
    within("radius", _i, kit_ask(e, 0, q).radius, most * (1 - 1e-8), most);
}

TEST_ROWS(output_bounds_of_a_median_contain_the_exact_ones, order_rows)
{
    certreg_estimator *e = record(order_rows[_i].n, 0.5, 7, UINT64_MAX);
    const certreg_question q =
        QUESTION(.tolerance = 1e3, .alpha = order_rows[_i].alpha, .prediction = asks_prediction(0));
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_output_bounds(e, 0, &q, 1, 0.5 * order_rows[_i].radius, &c));
    const double rank = (double)order_rows[_i].critical, last = (double)order_rows[_i].n - 1;
    const int none = order_rows[_i].critical < 0;
    within("output_lo", _i, c.output_lo, none ? -1e6 : fmax(0, rank - 1), none ? -1e6 : rank);
    within("output_hi", _i, c.output_hi, none ? 1e6 : last - rank,
           none ? 1e6 : fmin(last, last - rank + 1));
}

/* ---- bounds filled by hand */
static certreg_bounds bounds_of(uint32_t known, double variance, double gradient, double mean)
{
    return BOUNDS(.constraints = known, .sigma = 1, .mean_lo = mean, .mean_hi = mean,
                  .variance_hi = variance, .gradient_hi = gradient, .range_hi = 1);
}

static certreg_solver *solver;
static certreg_bisection *bisection;

static void setup(void)
{
    kit_open_solver(&solver, &bisection);
}

TEST(solver_worst_case_is_at_least_the_exact_one)
{
    for (int i = 0; i < KIT_ROWS(change_rows); i++) {
        const certreg_bounds b = bounds_of(change_rows[i].known, change_rows[i].variance,
                                           change_rows[i].gradient, change_rows[i].mean);
        certreg_mean_change c = {.struct_size = sizeof c};
        ck_assert(!certreg_solver_worst_case(solver, &b, 0, change_rows[i].r, &c));
        const double least = change_rows[i].change;
        within("change", i, fmax(c.drop, c.rise), least, least * (1 + 1e-8));
    }
}

TEST(bisection_radius_is_at_most_the_exact_one)
{
    for (int i = 0; i < KIT_ROWS(radius_rows); i++) {
        const certreg_bounds b =
            bounds_of(radius_rows[i].known, radius_rows[i].variance, 0, radius_rows[i].mean);
        certreg_radius found = {.struct_size = sizeof found};
        ck_assert(!certreg_bisection_within(bisection, &b, 0, radius_rows[i].tolerance, &found));
        const double most = radius_rows[i].radius;
        within("radius", i, found.radius, most * (1 - 1e-8), most);
    }
}

FIXTURE(setup, NULL)
KIT_MAIN("known_answers")
