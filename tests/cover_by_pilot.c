/* Constraints that the pilot chooses: how often the radius is too large, on sets whose worst shift
 * is known, from one face, where the certificate without the gradient is exact, to two at the same
 * distance, where the one with it is the better. Between them the pilot's choice is random. */
#include "support/api_kit.h"
#include "statistics/normal.h"
#include "support/simulate.h"

enum { SAMPLES = 1500, RUNS = 1000 };
#define ALPHA 0.1
static const double right = 1.1;

/* 10 beyond two faces, else 0. */
static int evaluate(void *user, const certreg_batch *b)
{
    const double left = *(const double *)user;
    for (size_t i = 0; i < b->rows; i++) {
        const double x = (double)b->x[i * b->inputs];
        b->y[i] = x > right || x < -left ? 10 : 0;
    }
    return 0;
}

/* Where the set beyond the faces has half of the mass. */
static double true_radius(double left)
{
    double low = 0, high = right;
    for (int i = 0; i < 60; i++) {
        const double r = 0.5 * (low + high),
                     mass = cr_normal_sf(right - r) + cr_normal_sf(left + r);
        if (mass < 0.5) low = r;
        else high = r;
    }
    return low;
}

static const struct {
    const char *name;
    double left;
    double least, most; /* share of the runs that use the gradient */
    int32_t method;
} laws[] = {{"one face", 20, 0, 0.05, CERTREG_METHOD_FINITE},
            {"hardly two", 3, 0.01, 0.2, CERTREG_METHOD_FINITE},
            {"between", 2.4, 0.2, 0.8, CERTREG_METHOD_FINITE},
            {"two faces", 1.1, 0.95, 1, CERTREG_METHOD_FINITE},
            {"one face, asymptotic", 20, 0.01, 0.3, CERTREG_METHOD_ASYMPTOTIC},
            {"hardly two, asymptotic", 3, 0.1, 0.5, CERTREG_METHOD_ASYMPTOTIC},
            {"between, asymptotic", 2.4, 0.2, 0.8, CERTREG_METHOD_ASYMPTOTIC},
            {"two faces, asymptotic", 1.1, 0.95, 1, CERTREG_METHOD_ASYMPTOTIC}};

START_TEST(a_radius_is_too_large_in_a_share_alpha_of_runs_at_most)
{
    double left = laws[_i].left;
    const double truth = true_radius(left);
    const float origin[2] = {0, 0};
    const certreg_model m = kit_model(evaluate, &left, 2, 1);
    const certreg_plan p = kit_plan(SAMPLES);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_question q = kit_question(1);
    q.alpha = ALPHA, q.method = laws[_i].method, q.prediction = asks_prediction(0);
    q.constraints = CERTREG_CONSTRAINTS_BY_PILOT;
    uint64_t misses = 0, with = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        KIT_OK(e, certreg_estimator_begin(e, origin, 1, run));
        const certreg_certificate c = kit_ask(e, SAMPLES, q);
        misses += c.radius > truth;
        with += (c.constraints & CERTREG_CONSTRAINT_GRADIENT) != 0;
    }
    const double share = (double)with / RUNS, rate = (double)misses / RUNS;
    printf("%-24s missed %.3f of %.2f, with the gradient %.2f\n", laws[_i].name, rate, ALPHA,
           share);
    ck_assert_uint_le(misses, simulate_most_misses(RUNS, ALPHA, 0.01 / KIT_ROWS(laws)));
    ck_assert(share >= laws[_i].least && share <= laws[_i].most);
    if (left > 2.5) ck_assert_double_gt(rate, 0.5 * ALPHA); /* nothing is given away */
    certreg_estimator_destroy(e);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cover_by_pilot");
    tcase_add_loop_test(kit_case(s, "misses", 120),
                        a_radius_is_too_large_in_a_share_alpha_of_runs_at_most, 0, KIT_ROWS(laws));
    return kit_run(s);
}
