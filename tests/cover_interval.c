/* Prediction intervals under attack: how often the truth is missed, on laws at the edge of the
 * proof and on ordinary ones, each at its worst shift. The steps of theory 12 are repeated here
 * with known outputs; only the weights are the library's. */
#include "statistics/normal.h"
#include "statistics/location.h"
#include "conformal/conformal.h"
#include "support/coverage.h"

enum { MOST_POINTS = 400, RUNS = 2000, MOST = 64 };
#define ALPHA 0.1

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
    double least; /* at the edge at least this share of alpha is missed */
} numbers[] = {{1, 1, 0.25, 0.85},
               {11, 11, 0, 0.9},
               {11, 11, 0.5, 0.85},
               {9, 33, 1, 0.85},
               {31, 11, 0.25, 0.6}};

static simulate_source source;

/* A tail of theory 12.2. */
static double tail(uint64_t n, uint64_t least, double g)
{
    return simulate_at_least(least, n, g);
}

static double weight_of(const cr_weights_setting *s, const cr_weight_function *w, double g)
{
    uint64_t above[CR_WEIGHTS_LEVELS];
    const int levels = cr_weights_levels(s->calibration, above);
    double sum = w->floor;
    for (int l = 0; l < levels; l++)
        if (w->step[l] > 0) sum += w->step[l] * tail(s->calibration, above[l], g);
    return sum;
}

/* The share at which a(g)/w(g) is greatest, where the bound is attained. */
static double steepest(const cr_weights_setting *s, const cr_weight_function *w)
{
    double best = 0, share = 0.5;
    for (double t = -2.5; t < 2.5; t += 0.01) {
        const double g = cr_normal_cdf(t), weight = weight_of(s, w, g),
                     a = tail(s->samples, s->samples - w->sample_rank + 1,
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

/* Whether one of several sets for the same input, each from fresh noise, lacks its truth. */
static int misses(const law *l, const cr_weights_setting *s, const cr_weight_function *r,
                  double from, int looks)
{
    const double q = threshold_of(l, s, r, from);
    const point p = draw_point(l);
    int missed = 0;
    for (int look = 0; look < looks; look++) {
        double scores[MOST];
        draw_scores(l, &p, from, s->shift, s->samples, scores);
        missed |= scores[r->sample_rank - 1] > q;
    }
    return missed;
}

TEST_ROWS(interval_misses_the_truth_with_at_most_alpha, laws)
{
    const law *l = laws + _i;
    for (int n = 0; n < KIT_ROWS(numbers); n++) {
        const cr_weights_setting s = {.alpha = ALPHA,
                                      .shift = numbers[n].shift,
                                      .points = (uint64_t)l->points,
                                      .calibration = numbers[n].calibration,
                                      .samples = numbers[n].samples};
        const cr_weight_function r = cr_weights_choose(&s);
        ck_assert_uint_gt(r.sample_rank, 0);
        const double from = -cr_normal_quantile(l->share > 0 ? l->share : steepest(&s, &r));
        uint64_t missed = 0;
        simulate_seed(&source, 100 * (uint64_t)_i + (uint64_t)n);
        for (int run = 0; run < RUNS; run++) missed += misses(l, &s, &r, from, 1) != 0;
        printf("n' %2d n %2d r %.2f: ", (int)s.calibration, (int)s.samples, s.shift);
        coverage_check(l->name, missed, RUNS, s.alpha, 0.001, _i == 0 ? numbers[n].least : 0);
    }
}

/* Whoever keeps what two sets have in common misses where one of them does (theory 12.7). */
static uint64_t misses_of_two(double alpha)
{
    const law *noisy = laws + 4;
    const cr_weights_setting s = {
        .alpha = alpha, .points = (uint64_t)noisy->points, .calibration = 11, .samples = 11};
    const cr_weight_function r = cr_weights_choose(&s);
    uint64_t missed = 0;
    simulate_seed(&source, 1000);
    for (int run = 0; run < RUNS; run++) missed += misses(noisy, &s, &r, 0, 2) != 0;
    printf("two sets at alpha %.2f each: missed %.4f\n", alpha, (double)missed / RUNS);
    return missed;
}

TEST(interval_pairs_for_one_input_hold_together_at_half_of_alpha)
{
    const uint64_t most = simulate_most_misses(RUNS, ALPHA, 0.001);
    ck_assert_uint_gt(misses_of_two(ALPHA), most);
    ck_assert_uint_le(misses_of_two(ALPHA / 2), most);
}

TEST_MAIN("cover_interval")
