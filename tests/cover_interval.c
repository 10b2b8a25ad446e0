/* Prediction intervals under attack: how often the truth is missed, on laws at the edge of the
 * proof and on ordinary ones, each at its worst shift. The steps of theory 12 are repeated here
 * with known outputs; only the weights are the library's. */
#include "statistics/normal.h"
#include "statistics/binomial.h"
#include "statistics/location.h"
#include "conformal/conformal.h"
#include "support/coverage.h"

enum { MOST_POINTS = 400, RUNS = 600, MOST = 64 };
#define ALPHA 0.25

typedef struct law {
    const char *name;
    int32_t linear;  /* outputs scatter about a truth; else a score is 0 or its point's own */
    double share;    /* of the noise with which it is not 0; 0: where the chord is steepest */
    double residual; /* linear: scatter of truths, in units of that of the outputs */
    int heavy;       /* their residuals have Cauchy's distribution */
    int points;      /* of the calibration; many where the bound is to be attained */
} law;

static const law laws[] = {{"edge", 0, 0, 0, 0, MOST_POINTS}, {"one in ten", 0, 0.1, 0, 0, 60},
                           {"almost sure", 0, 0.9, 0, 0, 60}, {"little noise", 1, 0, 5, 0, 60},
                           {"much noise", 1, 0, 0.3, 0, 60},  {"heavy tails", 1, 0, 1, 1, 60}};
static const struct {
    uint64_t calibration, samples;
    double shift;
    double expected[KIT_ROWS(laws)]; /* of runs, by law; about 0.9 of alpha at the edge */
} numbers[] = {
    {1, 1, 0.25, {0.235, 0.152, 0.212, 0.172, 0.228, 0.173}},
    {11, 11, 0, {0.228, 0.005, 0.250, 0.218, 0.222, 0.247}},
    {11, 11, 0.5, {0.250, 0.005, 0.228, 0.237, 0.092, 0.247}},
    {9, 33, 1, {0.228, 0.005, 0.237, 0.198, 0.015, 0.237}},
    {31, 11, 0.25, {0.250, 0.005, 0.238, 0.200, 0.143, 0.240}},
};

static simulate_source source;

static double weight_of(const cr_weights_setting *s, const cr_weight_function *w, double g)
{
    uint64_t above[CR_WEIGHTS_LEVELS];
    const int levels = cr_weights_levels(s->calibration, above);
    double sum = w->floor;
    for (int l = 0; l < levels; l++)
        if (w->step[l] > 0) sum += w->step[l] * simulate_at_least(above[l], s->calibration, g);
    return sum;
}

/* The share at which a(g)/w(g) is greatest, where the bound is attained. */
static double steepest(const cr_weights_setting *s, const cr_weight_function *w)
{
    double best = 0, share = 0.5;
    for (double t = -2.5; t < 2.5; t += 0.01) {
        const double g = cr_normal_cdf(t), weight = weight_of(s, w, g),
                     a = simulate_at_least(s->samples - w->sample_rank + 1, s->samples,
                                           cr_normal_cdf(t + s->shift));
        if (weight >= s->alpha && a / weight > best) best = a / weight, share = g;
    }
    return share;
}

typedef struct point { /* what is drawn once for a pair (input, truth) */
    double own;
} point;

static point draw_point(const law *l)
{
    if (!l->linear) return (point){simulate_uniform(&source)};
    const double normal = simulate_normal(&source);
    return (point){l->residual * (l->heavy ? normal / fabs(simulate_normal(&source)) : normal)};
}

/* A score of the point with fresh noise, after a shift by `shift` in its worst direction. */
static double draw_score(const law *l, const point *p, double from, double shift)
{
    const double e = simulate_normal(&source);
    if (!l->linear) return e + shift > from ? p->own : 0;
    return fabs(p->own + (p->own > 0 ? shift : -shift) - e);
}

static void draw_scores(const law *l, const point *p, double from, double shift, uint64_t count,
                        double *scores)
{
    for (uint64_t i = 0; i < count; i++) scores[i] = draw_score(l, p, from, shift);
    cr_order_sort(scores, (size_t)count);
}

typedef struct weighted {
    double scores[MOST_POINTS * CR_WEIGHTS_LEVELS];
    const cr_weight_function *weights;
    size_t levels;
} weighted;

static double score_at(const void *of, size_t i)
{
    return ((const weighted *)of)->scores[i];
}

static double weight_at(const void *of, size_t i)
{
    const weighted *w = of;
    return w->weights->step[i % w->levels];
}

static double threshold_of(const law *l, const cr_weights_setting *s, const cr_weight_function *r,
                           double from)
{
    static weighted w;
    uint64_t above[CR_WEIGHTS_LEVELS];
    size_t count = 0;
    w.levels = (size_t)cr_weights_levels(s->calibration, above), w.weights = r;
    for (int i = 0; i < l->points; i++) {
        double scores[MOST];
        const point p = draw_point(l);
        draw_scores(l, &p, from, 0, s->calibration, scores);
        for (size_t k = 0; k < w.levels; k++) w.scores[count++] = scores[s->calibration - above[k]];
    }
    const cr_indexed_values order = {.value = score_at, .context = &w, .count = count};
    return cr_order_weighted_threshold(&order, weight_at,
                                       cr_weights_budget(r, s->alpha, s->points));
}

/* ---- runs */
typedef struct bench {
    const law *law;
    cr_weights_setting setting;
    double share; /* alpha: of a set */
    int looks;    /* sets for the same input, each from fresh noise: any of them lacks its truth */
    uint64_t seed;
} bench;

static double from_of(const law *l, const cr_weights_setting *s, const cr_weight_function *r)
{
    return -cr_normal_quantile(l->share > 0 ? l->share : steepest(s, r));
}

static unsigned misses(void *of, uint64_t run, double spend)
{
    static cr_weight_function chosen;
    static cr_weights_setting last;
    static double from;
    const bench *b = of;
    const law *l = b->law;
    cr_weights_setting s = b->setting;
    s.alpha = b->share * spend;
    if (memcmp(&last, &s, sizeof s) != 0 || run == 0) {
        last = s, chosen = cr_weights_choose(&s);
        ck_assert_uint_gt(chosen.sample_rank, 0);
        from = from_of(l, &s, &chosen);
    }
    simulate_seed(&source, b->seed + run);
    const double q = threshold_of(l, &s, &chosen, from);
    const point p = draw_point(l);
    unsigned missed = 0;
    for (int look = 0; look < b->looks; look++) {
        double scores[MOST];
        draw_scores(l, &p, from, s.shift, s.samples, scores);
        missed |= scores[chosen.sample_rank - 1] > q;
    }
    return missed;
}

static bench bench_of(const law *l, uint64_t calibration, uint64_t samples, double shift)
{
    return (bench){.law = l,
                   .setting = {.shift = shift,
                               .points = (uint64_t)l->points,
                               .calibration = calibration,
                               .samples = samples},
                   .share = ALPHA,
                   .looks = 1};
}

TEST_TIMES(interval_misses_the_truth_as_often_as_expected, KIT_ROWS(laws) * KIT_ROWS(numbers))
{
    const int n = _i / KIT_ROWS(laws), l = _i % KIT_ROWS(laws);
    bench b = bench_of(laws + l, numbers[n].calibration, numbers[n].samples, numbers[n].shift);
    b.seed = (uint64_t)(100 * l + n) << 32;
    coverage_row(ALPHA, numbers[n].expected[l], RUNS, misses, &b,
                 "interval, %s, %d and %d samples, %g", laws[l].name, (int)b.setting.calibration,
                 (int)b.setting.samples, b.setting.shift);
}

/* Whoever keeps what two sets have in common misses where one of them does (theory 12.7): with
 * alpha for each of them too often. */
TEST(interval_pairs_for_one_input_hold_together_at_half_of_alpha)
{
    bench b = bench_of(laws + 4, 11, 11, 0);
    b.looks = 2, b.seed = UINT64_C(1000) << 32;
    coverage_row(2 * ALPHA, 0.395, RUNS, misses, &b, "two sets, alpha each");
    b.share = ALPHA / 2;
    coverage_row(ALPHA, 0.183, RUNS, misses, &b, "two sets, half of alpha each");
}

/* ---- a bound of the population from counts (theory 12.8): rows whose radius is just too short
 * pass as often as the level allows, and the other half always */
enum { ROWS = 300, POPULATIONS = 20000 };
#define GAMMA 0.05
#define OUT 0.05 /* the share out at which the radius is just too short */

typedef struct counts {
    uint64_t samples, most_out, fewer; /* of every other row; 0: as many */
    double expected;
} counts;

/* The largest count whose level is at most this. */
static int64_t limit_of(uint64_t samples, double radius, double level)
{
    int64_t k = -1;
    while (certreg_count_level(samples, 0.5, radius, (uint64_t)(k + 1)) <= level) k++;
    return k;
}

static unsigned bound_is_too_high(void *of, uint64_t run, double spend)
{
    const counts *c = of;
    const double radius = -cr_normal_quantile(OUT),
                 level = certreg_count_level(c->samples, 0.5, radius, c->most_out);
    const uint64_t samples[] = {c->samples, c->fewer ? c->fewer : c->samples};
    const int64_t most[] = {limit_of(samples[0], radius, level),
                            limit_of(samples[1], radius, level)};
    uint64_t passed = 0;
    simulate_seed(&source, (UINT64_C(2000) << 32) + run);
    for (int i = 0; i < ROWS; i++) {
        int64_t out = 0;
        if (simulate_uniform(&source) > 0.5)
            for (uint64_t j = 0; j < samples[i % 2] && out <= most[i % 2]; j++)
                out += simulate_uniform(&source) < OUT * (1 + 1e-6);
        passed += out <= most[i % 2];
    }
    const double lower = 1 - cr_binomial_upper(ROWS - passed, ROWS, GAMMA * spend);
    return (lower - level) / (1 - level) > 0.5;
}

TEST(population_is_overrated_as_often_as_expected)
{
    static const counts each[] = {{32, 0, 0, 0.0438},
                                  {32, 1, 0, 0.0432},
                                  {64, 2, 0, 0.0452},
                                  {64, 4, 0, 0.0449},
                                  {64, 2, 42, 0.0442}};
    for (size_t i = 0; i < KIT_ROWS(each); i++)
        coverage_row(GAMMA, each[i].expected, POPULATIONS, bound_is_too_high, (void *)(each + i),
                     "population, %d of %d%s", (int)each[i].most_out, (int)each[i].samples,
                     each[i].fewer ? ", half of the rows 42" : "");
}

TEST_MAIN("cover_interval")
