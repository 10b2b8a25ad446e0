/* Three loops with an adversary who adapts (theory 14). The strongest attack of each is known, and
 * its effect exactly: an episode that is out with probability Phi(-a) is out with probability
 * Phi(budget - a). So a certificate is false if its radius exceeds a. */
#include "statistics/normal.h"
#include "support/coverage.h"

enum { TICKS = 6, EPISODES = 62, ATTACKED = 20000 };
static const double edge = 1.28, alpha = 0.25;

/* ---- the loops: row and budget in, at least `edge` if the episode is out. Without an attack, what
 * decides is standard normal; the adversary spends the whole budget along it. */
static int sign(double x)
{
    return x < 0 ? -1 : 1;
}

/* The first reading decides which sign of the second one is out: no fixed shift does anything. */
static double second_reading(const float *row, double budget)
{
    const int side = sign((double)row[0]);
    return side * ((double)row[1] + side * budget);
}

/* Every reading decides which way the next one pushes. */
static double walk(const float *row, double budget)
{
    double place = 0;
    for (int t = 0, side = 1; t < TICKS; t++) {
        const double reading = (double)row[t] + side * budget / sqrt(TICKS);
        place += side * reading / sqrt(TICKS);
        side = sign(reading);
    }
    return place;
}

/* The reading after the first negative one, or the last one, ends the episode. */
static double early_end(const float *row, double budget)
{
    int last = 1;
    while (last + 1 < TICKS && sign((double)row[last - 1]) > 0) last++;
    return (double)row[last] + budget;
}

static const struct loop {
    const char *name;
    double (*run)(const float *row, double budget);
} loops[] = {{"second reading", second_reading}, {"walk", walk}, {"early end", early_end}};

static int evaluate(void *user, const certreg_batch *b)
{
    const struct loop *l = user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = (float)fmax(0, l->run(b->x + i * TICKS, 0));
    return 0;
}

static certreg_estimator *opened(struct loop *l, size_t samples)
{
    const certreg_model m = kit_model(evaluate, l, TICKS, 1);
    const certreg_plan p = PLAN(.seed = 77, .max_samples = samples, .pilot = SIZE_MAX,
                                .flags = CERTREG_PLAN_EPISODE | CERTREG_PLAN_COUNT_FAILURES);
    return kit_create(NULL, &m, &p);
}

static unsigned run_loop(void *of, uint64_t run, double spend)
{
    const certreg_question q =
        QUESTION(.tolerance = edge, .alpha = alpha * spend, .prediction = asks_prediction(0));
    return 0.999 * coverage_ask(of, run, EPISODES, q).radius >= edge;
}

TEST_ROWS(adaptive_attacks_break_episodes_as_often_as_expected, loops)
{
    struct loop l = loops[_i];
    const double out = cr_normal_sf(edge);
    coverage_row(alpha, coverage_rate(EPISODES, out, out, alpha), 800, run_loop,
                 opened(&l, EPISODES), "adaptive attack, %s", l.name);
}

TEST_ROWS(adaptive_attacks_have_the_known_effect, loops)
{
    static float row[ATTACKED][TICKS];
    struct loop l = loops[_i];
    const double budget = edge - 0.3;
    double out = 0;
    certreg_estimator *e = opened(&l, ATTACKED);
    coverage_begin(e, 4000);
    KIT_OK(e, certreg_estimator_draw(e, 0, ATTACKED, *row));
    for (int i = 0; i < ATTACKED; i++) out += l.run(row[i], budget) >= edge;
    ck_assert_double_eq_tol(out / ATTACKED, cr_normal_cdf(budget - edge),
                            4 * sqrt(0.25 / ATTACKED));
}

KIT_MAIN("episodes")
