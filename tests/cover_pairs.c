/* Served pairs on the edge of what is proved: events that attain the worst case, certificates about
 * them, and servers of both kinds at the end of the radius (theory 1.5). */
#include "certreg/question.h"
#include "support/coverage.h"
#include "support/names.h"
#include "support/pair_events.h"

enum { SAMPLES = 500, RUNS = 120, REQUESTS = 2000 };
static const double alpha = 0.1, share = 0.1, beta = 0.1;

/* 9 where it is out, else 0. */
static int evaluate(void *user, const certreg_batch *b)
{
    for (size_t i = 0; i < b->rows; i++) b->y[i] = is_out(user, (double)b->x[i]) ? 9 : 0;
    return 0;
}

static certreg_estimator *make(event *law, size_t samples, size_t pilot, uint32_t flags)
{
    certreg_model m = kit_model(evaluate, law, 1, 1);
    certreg_plan p = kit_plan(samples);
    m.batch = 20, p.pilot = pilot, p.constraints = 0, p.flags = flags;
    return kit_create(NULL, &m, &p);
}

/* Each side has half of beta, and this event is on one side. */
static cr_pairs side_of(uint64_t served)
{
    return (cr_pairs){.samples = served, .out = (served + 1) / 2, .rate = 0.5 * beta};
}

/* The worst of little more than that share, and how far it may be shifted. */
static double make_law(const cr_pairs *side, event *law)
{
    const double r = cr_pairs_radius(side, share, 0);
    double most = 0, truth = 0;
    for (double a = 0; a < r + 3; a += 0.001) {
        event e;
        if (!make_worst(&e, r, 1.02 * share, a)) continue;
        const double misses = misses_of(side, &e, r);
        if (misses > most) most = misses, *law = e;
    }
    while (misses_of(side, law, truth) <= side->rate) truth += 1e-3;
    ck_assert_double_eq_tol(truth, r, 0.03);
    return truth;
}

static const struct {
    const char *name;
    size_t served;
    int32_t method;
    int has_target;
} cases[] = {{"odd", 21, FINITE, 0},
             {"even", 20, FINITE, 0},
             {"many", 101, FINITE, 0},
             {"target", 21, FINITE, 1},
             {"any time", 21, ANYTIME, 0}};

TEST_ROWS(radii_exceed_the_true_ones_no_more_often_than_alpha, cases)
{
    static event law;
    const cr_pairs side = side_of(cases[_i].served);
    const double truth = make_law(&side, &law);
    const certreg_serving serving = {.struct_size = sizeof serving,
                                     .pairs = 1,
                                     .samples = cases[_i].served,
                                     .failure_rate = beta};
    certreg_question q = kit_question(1);
    q.alpha = alpha, q.method = cases[_i].method, q.prediction = asks_prediction(0);
    q.serving = &serving;
    if (cases[_i].has_target) q.target = asks_target(truth * (1 + 1e-6));
    const uint64_t wrong = coverage_misses(make(&law, SAMPLES, 50, 0), RUNS, SAMPLES, q, truth);
    coverage_check(cases[_i].name, wrong, RUNS, alpha, 0.01 / KIT_ROWS(cases),
                   cases[_i].method == FINITE ? 0.3 : 0);
}

/* How many of the requests miss at the end of the radius. */
static uint64_t misses_at(event *law, double shift, const certreg_serving *serving)
{
    const float z = (float)shift;
    certreg_question q = kit_question(1);
    q.serving = serving;
    uint64_t misses = 0;
    certreg_estimator *e =
        make(law, serving->samples, SIZE_MAX, serving->pairs ? CERTREG_PLAN_PAIRS : 0);
    for (uint64_t request = 0; request < REQUESTS; request++) {
        double median;
        KIT_OK(e, certreg_estimator_begin(e, &z, 1, request));
        KIT_OK(e, certreg_estimator_sample(e, 0, serving->samples));
        KIT_OK(e, certreg_estimator_estimate(e, &q, &median));
        misses += fabs(median) >= 1;
    }
    return misses;
}

TEST(servers_of_pairs_miss_as_often_as_promised_and_others_more_often)
{
    static event law;
    const cr_pairs side = side_of(21);
    const double truth = make_law(&side, &law);
    certreg_serving serving = {
        .struct_size = sizeof serving, .pairs = 1, .samples = 21, .failure_rate = beta};
    const uint64_t paired = misses_at(&law, truth, &serving);
    serving.pairs = 0;
    const uint64_t alone = misses_at(&law, truth, &serving);
    coverage_check("a server of pairs", paired, REQUESTS, side.rate, 1e-3, 0.8);
    printf("%-44s missed %.4f\n", "one of independent noise", (double)alone / REQUESTS);
    ck_assert_uint_gt(3 * alone, 4 * paired);
}

KIT_MAIN("served pairs")
