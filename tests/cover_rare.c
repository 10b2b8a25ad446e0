/* Outputs that hardly ever differ: the asymptotic intervals must not take silence for knowledge. f
 * is 1 beyond a cut along one coordinate and 0 elsewhere, so that its median is 0 until the shift
 * reaches the cut, and its Huber location below .5 likewise: about the prediction 0 the true radius
 * is known. */
#include "support/simulate.h"
#include "support/suite.h"
#include <certreg/certreg.h>
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "statistics/normal.h"

enum { CAPACITY = 4000, RUNS = 1500 };

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
    const double probability = l->expected / (.85 * CAPACITY),
                 cut = cr_normal_quantile_sf(probability);
    step s = {cut, l->inputs};
    certreg_model model = {.struct_size = sizeof model,
                           .eval = beyond,
                           .user = &s,
                           .inputs = l->inputs,
                           .outputs = 1,
                           .batch = 500};
    certreg_plan plan = {.struct_size = sizeof plan, .max_samples = CAPACITY, .seed = 2026};
    const certreg_question q = {.struct_size = sizeof q,
                                .statistic = l->statistic,
                                .method = CERTREG_METHOD_ASYMPTOTIC,
                                .tolerance = .5,
                                .huber_width = l->statistic == CERTREG_STATISTIC_HUBER ? .25 : 0,
                                .alpha = l->alpha,
                                .prediction_given = 1};
    const float z[3] = {0};
    certreg_estimator *e = NULL;
    ck_assert_int_eq(certreg_estimator_create(NULL, &model, &plan, NULL, &e), CERTREG_OK);
    uint64_t count = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        certreg_certificate c = {.struct_size = sizeof c};
        ck_assert_int_eq(certreg_estimator_begin(e, z, 1, run), CERTREG_OK);
        ck_assert_int_eq(certreg_certify(e, NULL, CAPACITY, &q, 1, &c), CERTREG_OK);
        count += c.radius > cut;
    }
    certreg_estimator_destroy(e);
    return count;
}

START_TEST(misses_stay_below_nominal_where_values_are_rare)
{
    const law *l = laws + _i;
    const uint64_t found = misses(l);
    const double doubt = 0.01 / (double)(sizeof laws / sizeof *laws);
    ck_assert_msg(simulate_at_least(found, RUNS, l->alpha) > doubt,
                  "%llu of %d runs missed at alpha %g", (unsigned long long)found, RUNS, l->alpha);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rare values");
    TCase *typical = tcase_create("typical");
    tcase_set_timeout(typical, 120);
    tcase_add_loop_test(typical, misses_stay_below_nominal_where_values_are_rare, 0,
                        sizeof laws / sizeof *laws);
    suite_add_tcase(suite, typical);
    return kit_run(suite);
}
