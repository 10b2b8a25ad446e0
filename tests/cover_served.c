/* Served medians on the edge of what is proved: conditions that are just met, and laws whose worst
 * shift makes a served median miss with probability beta exactly (theory 1.5). */
#include "question/conditions.h"
#include "estimator/estimator.h"
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "statistics/served.h"
#include "support/coverage.h"
#include "support/names.h"
#include "support/problems.h"

enum { SAMPLES = 500, PILOT = 150, RUNS = 600 };
static const double alpha = 0.1, tolerance = 8, radian = 0.017453292519943295;

/* ---- laws of a few values */
enum { STEPS = 4 };

/* Whether all medians of such a sample lie within the tolerance of 0. NaN: an output that failed,
 * which is left out. */
static int is_kept(const double *value, const int *all, int angle)
{
    int above = 0, below = 0, count[STEPS];
    double c = 0, d = 0;
    for (int k = 0; k < STEPS; k++) {
        count[k] = isnan(value[k]) ? 0 : all[k];
        if (!count[k]) continue;
        c += count[k] * cos(value[k] * radian), d += count[k] * sin(value[k] * radian);
    }
    if (angle && hypot(c, d) < 1e-9) return 0;
    const double mu = angle ? atan2(d, c) / radian : 0;
    for (int k = 0; k < STEPS; k++) {
        if (!count[k]) continue;
        const double t = value[k] - mu, y = angle ? mu + t - 360 * floor(t / 360 + 0.5) : value[k];
        above += y > -tolerance ? count[k] : -count[k];
        below += y < tolerance ? count[k] : -count[k];
    }
    return above > 0 && below > 0;
}

/* Probability that a served median misses, over all samples that there can be. */
static double miss_rate(const double *value, const double *share, int served, int angle)
{
    double log_share[STEPS], sum = 0;
    for (int k = 0; k < STEPS; k++) log_share[k] = log(fmax(share[k], 1e-300));
    for (int i = 0; i <= served; i++)
        for (int j = 0; i + j <= served; j++)
            for (int k = 0; i + j + k <= served; k++) {
                const int n[STEPS] = {i, j, k, served - i - j - k};
                double term = lgamma(served + 1.0);
                if (is_kept(value, n, angle)) continue;
                for (int l = 0; l < STEPS; l++) term += n[l] * log_share[l] - lgamma(n[l] + 1.0);
                sum += exp(term);
            }
    return sum;
}

/* ---- laws along one input: values on intervals */
typedef struct steps {
    double value[STEPS], from[STEPS]; /* value[k] from from[k] on; from[0] = -infinity */
} steps;

static int evaluate(void *user, const certreg_batch *b)
{
    const steps *s = user;
    for (size_t i = 0; i < b->rows; i++) {
        int k = STEPS - 1;
        while (k > 0 && (double)b->x[i] < s->from[k]) k--;
        b->y[i] = (float)s->value[k];
    }
    return 0;
}

static double miss_rate_at(const steps *s, int served, int angle, double shift)
{
    double share[STEPS];
    for (int k = 0; k < STEPS; k++)
        share[k] = (k ? cr_normal_sf(s->from[k] - shift) : 1) -
                   (k + 1 < STEPS ? cr_normal_sf(s->from[k + 1] - shift) : 0);
    return miss_rate(s->value, share, served, angle);
}

static double true_radius(const steps *s, int served, double beta, int angle)
{
    double low = 0, high = 6;
    for (int i = 0; i < 40; i++) {
        const double middle = 0.5 * (low + high);
        if (miss_rate_at(s, served, angle, middle) > beta) high = middle;
        else low = middle;
    }
    return high;
}

static const struct {
    const char *name;
    int angle, served;
    int32_t method;
    double target, beta;
    steps law;
} cases[] = {
    /* both sides at once: they share a half-space */
    {"both sides", 0, 21, FINITE, 0, 0.05, {{0, -9, 9, 9}, {-INFINITY, 0.9, 1.3, 50}}},
    {"one side", 0, 21, FINITE, 0, 0.05, {{0, 9, 9, 9}, {-INFINITY, 1, 50, 51}}},
    {"half each", 0, 21, FINITE, 0, 0.05, {{0, -9, 9, 9}, {-INFINITY, 0.35, 0.95, 50}}},
    {"three", 0, 3, FINITE, 0, 0.1, {{0, -9, 9, 9}, {-INFINITY, 0.9, 2.3, 50}}},
    {"even", 0, 20, FINITE, 0, 0.05, {{0, -9, 9, 9}, {-INFINITY, 0.9, 1.3, 50}}},
    {"any time", 0, 21, ANYTIME, 0, 0.05, {{0, -9, 9, 9}, {-INFINITY, 0.9, 1.3, 50}}},
    {"target", 0, 21, FINITE, 1, 0.05, {{0, -9, 9, 9}, {-INFINITY, 0.9, 1.3, 50}}},
    {"angle", 1, 15, FINITE, 0, 0.1, {{0, 100, -100, 179}, {-INFINITY, 1, 1.3, 1.6}}},
    {"opposite", 1, 15, FINITE, 0, 0.1, {{0, 179, -100, 100}, {-INFINITY, 1, 1.5, 1.7}}},
    {"angle, one side", 1, 15, FINITE, 0, 0.1, {{0, 60, -60, 60}, {-INFINITY, 1, 1.3, 50}}},
    {"angle, target", 1, 15, FINITE, 1, 0.1, {{0, 60, -60, 60}, {-INFINITY, 1, 1.3, 50}}}};

static certreg_estimator *make(int i)
{
    const int32_t kind = cases[i].angle ? CERTREG_OUTPUT_ANGLE : CERTREG_OUTPUT_REAL;
    const double lo = -180, hi = 180;
    static steps law;
    law = cases[i].law;
    certreg_model m = kit_model(evaluate, &law, 1, 1);
    certreg_plan p = kit_plan(SAMPLES);
    m.kind = &kind, m.batch = 20;
    if (cases[i].angle) m.lo = &lo, m.hi = &hi;
    p.pilot = PILOT;
    return kit_create(NULL, &m, &p);
}

TEST_ROWS(served_radii_exceed_the_true_ones_no_more_often_than_alpha, cases)
{
    certreg_estimator *e = make(_i);
    const double truth =
        true_radius(&cases[_i].law, cases[_i].served, cases[_i].beta, cases[_i].angle);
    certreg_question q = kit_question(tolerance);
    q.alpha = alpha, q.method = cases[_i].method, q.prediction = asks_prediction(0);
    q.serving = asks_serving((size_t)cases[_i].served, cases[_i].beta);
    q.target = asks_target(cases[_i].target * truth * (1 + 1e-6));
    uint64_t wrong = 0;
    double sum = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        const double radius = coverage_ask(e, run, SAMPLES, q).radius;
        wrong += radius > truth * (1 + 1e-9);
        sum += radius;
    }
    printf("mean radius %.3f of %.3f: ", sum / RUNS, truth);
    coverage_check(cases[_i].name, wrong, RUNS, alpha, 0.01 / KIT_ROWS(cases), 0);
}

/* ---- laws that the conditions just allow */
static int all_hold(const cr_conditions *conditions, const double *value, const double *share)
{
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        double mean = 0;
        for (int k = 0; k < STEPS; k++)
            mean += share[k] * cr_score_value(&c->score, &(float){(float)value[k]});
        if (!(mean > c->threshold)) return 0;
    }
    return 1;
}

/* As much of the other values as the conditions allow. The first value is the prediction. */
static void mix(const cr_conditions *conditions, const double *value, const double *part,
                double *share)
{
    double low = 0, high = 1;
    for (int i = 0; i < 50; i++) {
        const double middle = 0.5 * (low + high);
        share[0] = 1 - middle;
        for (int k = 1; k < STEPS; k++) share[k] = middle * part[k];
        *(all_hold(conditions, value, share) ? &low : &high) = middle;
    }
    share[0] = 1 - low;
    for (int k = 1; k < STEPS; k++) share[k] = low * part[k];
}

static void any_law(dice *d, int angle, double *value, double *part)
{
    double sum = 0;
    value[0] = 0;
    for (int k = 1; k < STEPS; k++) {
        value[k] = angle ? dice_between(d, -180, 180) : dice_between(d, -20, 20);
        if (angle && dice_between(d, 0, 1) < 0.4) value[k] = k == 2 ? -60 : 60;
        if (dice_between(d, 0, 1) < 0.2) value[k] = NAN;
        sum += part[k] = dice_between(d, 0, 1) < 0.3 ? 1e-9 : dice_between(d, 0, 1);
    }
    for (int k = 1; k < STEPS; k++) part[k] /= sum;
}

/* The pilot of each run chooses the conditions. */
TEST_ROWS(served_medians_that_meet_the_conditions_miss_with_probability_beta_at_most, cases)
{
    if (cases[_i].target) return; /* a row without it asks the same */
    enum { LAWS = 150, PILOTS = 12 };
    certreg_estimator *e = make(_i);
    dice d = dice_of((uint64_t)_i + 3);
    certreg_question q = kit_question(tolerance);
    q.method = cases[_i].method, q.prediction = asks_prediction(0);
    q.serving = asks_serving((size_t)cases[_i].served, cases[_i].beta);
    double worst = 0;
    for (int run = 0; run < PILOTS; run++) {
        cr_conditions conditions = {.scratch = &e->scratch};
        coverage_begin(e, (uint64_t)run);
        KIT_OK(e, certreg_estimator_sample(e, 0, PILOT + 50));
        KIT_OK(e, cr_sense_take(&e->record, &q, &conditions.question, &e->error));
        KIT_OK(e, cr_conditions_prepare(&e->record, &conditions, &e->error));
        for (int k = 0; k < LAWS; k++) {
            double value[STEPS], part[STEPS], share[STEPS];
            any_law(&d, cases[_i].angle, value, part);
            mix(&conditions, value, part, share);
            const double rate = miss_rate(value, share, cases[_i].served, cases[_i].angle);
            ck_assert_msg(rate <= cases[_i].beta * (1 + 1e-9), "%g with %g %g %g at %g %g %g", rate,
                          share[1], share[2], share[3], value[1], value[2], value[3]);
            worst = fmax(worst, rate);
        }
    }
    printf("%-16s worst %.5f of %.2f\n", cases[_i].name, worst, cases[_i].beta);
    ck_assert_double_ge(worst, (cases[_i].angle ? 0.25 : 0.95) * cases[_i].beta);
}

KIT_MAIN("what is served")
