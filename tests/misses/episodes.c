#include "misses/episodes.h"
#include "statistics/normal.h"
#include "support/simulate.h"
#include "support/structs.h"
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TICKS = 6, EPISODES = 52, RUNS = 4000, ATTACKED = 20000 };
static const double edge = 1.28, alpha = 0.1;
static const float origin[TICKS];

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

typedef struct loop {
    const char *name;
    double (*run)(const float *row, double budget);
} loop;

static int evaluate(void *user, const certreg_batch *b)
{
    const loop *l = user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = (float)fmax(0, l->run(b->x + i * TICKS, 0));
    return 0;
}

/* ---- certificates of a loop, attacked */
static certreg_estimator *opened(loop *l, size_t samples)
{
    const certreg_model m = MODEL(.eval = evaluate, .user = l, .inputs = TICKS, .outputs = 1);
    const certreg_plan p = PLAN(.seed = 77, .max_samples = samples, .pilot = SIZE_MAX,
                                .flags = CERTREG_PLAN_EPISODE | CERTREG_PLAN_COUNT_FAILURES);
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, NULL, &e)) puts("not ok episodes: create"), exit(2);
    return e;
}

static double radius_of(certreg_estimator *e, uint64_t noise_id)
{
    const double none = 0;
    const certreg_question q =
        QUESTION(.tolerance = edge, .alpha = alpha, .prediction = &none, .prediction_count = 1);
    certreg_certificate c = {.struct_size = sizeof c};
    if (certreg_estimator_begin(e, origin, 1, noise_id) || certreg_certify(e, EPISODES, &q, 1, &c))
        puts("not ok episodes: certify"), exit(2);
    return c.radius;
}

/* The share of attacked episodes that are out. */
static double share_out(loop *l, double budget)
{
    static float row[ATTACKED][TICKS];
    certreg_estimator *e = opened(l, ATTACKED);
    double out = 0;
    if (certreg_estimator_begin(e, origin, 1, RUNS) || certreg_estimator_draw(e, 0, ATTACKED, *row))
        puts("not ok episodes: draw"), exit(2);
    for (int i = 0; i < ATTACKED; i++) out += l->run(row[i], budget) >= edge;
    certreg_estimator_destroy(e);
    return out / ATTACKED;
}

/* An attack with a budget of `edge` or more takes the median out, exactly. */
static int exceeds(loop *l)
{
    certreg_estimator *e = opened(l, EPISODES);
    uint64_t missed = 0;
    for (uint64_t id = 0; id < RUNS; id++) missed += 0.999 * radius_of(e, id) >= edge;
    certreg_estimator_destroy(e);
    const double budget = edge - 0.3, error = share_out(l, budget) - cr_normal_cdf(budget - edge);
    const double rate = (double)missed / RUNS;
    const int wrong = fabs(error) > 4 * sqrt(0.25 / ATTACKED); /* of the attack */
    const int bad = wrong || rate < 0.8 * alpha || simulate_at_least(missed, RUNS, alpha) < 1e-3;
    printf("%s episodes, %s: adaptive attacks break %.4f of alpha %g\n", bad ? "not ok" : "ok",
           l->name, rate, alpha);
    return bad;
}

int episodes_exceed(void)
{
    loop loops[] = {{"second reading", second_reading}, {"walk", walk}, {"early end", early_end}};
    int bad = 0;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) bad += exceeds(loops + i);
    return bad;
}
