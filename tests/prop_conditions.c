/* What conditions imply. A law of a few values that just meets the conditions of a question has its
 * location within the tolerance, and, if medians are served, serves one beyond it with probability
 * beta at most (theory 1.5). On the circle many values lie near half a turn from the prediction,
 * where the moving cut carries outputs from one end of the line to the other. */
#include "estimator/estimator.h"
#include "conditions/conditions.h"
#include "statistics/serving.h"
#include "support/coverage.h"
#include "support/names.h"
#include "support/random_problems.h"
#include <float.h>

enum { VALUES = 4, SAMPLES = 1500, PILOT = 150 };
static const double tolerance = 15, width = 10, radian = 0.017453292519943295;

typedef struct law {
    double value[VALUES], share[VALUES]; /* NaN: an output that failed, which is left out */
} law;

static const struct {
    const char *name;
    int32_t statistic, method;
    int angle, served;
    size_t pilot;
    double beta, least; /* a law serves beyond the tolerance with this part of beta */
} rows[] = {
    /* name, statistic, method, angle, served, pilot, beta, least */
    {"median", MEDIAN, FINITE, 1, 0, 0, 0, 0},
    {"Huber", HUBER, FINITE, 1, 0, 0, 0, 0},
    {"median, no pilot", MEDIAN, FINITE, 1, 0, SIZE_MAX, 0, 0},
    {"Huber, no pilot", HUBER, FINITE, 1, 0, SIZE_MAX, 0, 0},
    {"three served", MEDIAN, FINITE, 0, 3, PILOT, 0.1, 0.95},
    {"served", MEDIAN, FINITE, 0, 21, PILOT, 0.05, 0.95},
    {"even number served", MEDIAN, FINITE, 0, 20, PILOT, 0.05, 0.95},
    {"served, any time", MEDIAN, ANYTIME, 0, 21, PILOT, 0.05, 0.95},
    {"served angle", MEDIAN, FINITE, 1, 15, PILOT, 0.1, 0.25},
};

/* ---- the truth */
static double clipped(double t)
{
    return fmax(-1, fmin(t, 1));
}

/* Whether every location of this law, or of a sample with these counts, lies within the tolerance
 * of 0. */
static int is_kept(const double *value, const double *share, int angle, int32_t statistic)
{
    double above = 0, below = 0, c = 0, s = 0;
    for (int k = 0; k < VALUES; k++)
        if (!isnan(value[k]))
            c += share[k] * cos(value[k] * radian), s += share[k] * sin(value[k] * radian);
    if (angle && hypot(c, s) < 1e-9) return 0;
    const double mu = angle ? atan2(s, c) / radian : 0;
    for (int k = 0; k < VALUES; k++) {
        if (isnan(value[k])) continue;
        const double t = value[k] - mu, y = angle ? mu + t - 360 * floor(t / 360 + 0.5) : value[k];
        above += share[k] * (statistic == HUBER ? clipped((y + tolerance) / width)
                             : y > -tolerance   ? 1
                                                : -1);
        below += share[k] * (statistic == HUBER ? clipped((tolerance - y) / width)
                             : y < tolerance    ? 1
                                                : -1);
    }
    return above > 0 && below > 0;
}

/* Probability that a served median is beyond the tolerance, over all samples that there can be. */
static double miss_rate(const law *l, int served, int angle)
{
    double log_share[VALUES], sum = 0;
    for (int k = 0; k < VALUES; k++) log_share[k] = log(fmax(l->share[k], 1e-300));
    for (int i = 0; i <= served; i++)
        for (int j = 0; i + j <= served; j++)
            for (int k = 0; i + j + k <= served; k++) {
                const double n[VALUES] = {i, j, k, served - i - j - k};
                double term = lgamma(served + 1.0);
                if (is_kept(l->value, n, angle, MEDIAN)) continue;
                for (int m = 0; m < VALUES; m++) term += n[m] * log_share[m] - lgamma(n[m] + 1);
                sum += exp(term);
            }
    return sum;
}

/* ---- laws that the conditions just allow */
static int all_hold(const cr_conditions *conditions, const law *l, int angle)
{
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        double mean = 0;
        for (int k = 0; k < VALUES; k++)
            mean += l->share[k] * cr_score_value(&c->score, &(float){(float)l->value[k]});
        /* angles are floats there */
        if (!(mean > c->threshold + (angle ? 1e-6 : 0))) return 0;
    }
    return 1;
}

/* The mixture of this law and outputs at the prediction, its first value, that the conditions just
 * allow. */
static law barely_allowed(const cr_conditions *conditions, const law *rest, int angle)
{
    double low = 0, high = 1;
    law l = *rest;
    for (int i = 0; i <= 40; i++) {
        const double middle = i < 40 ? 0.5 * (low + high) : low;
        for (int k = 1; k < VALUES; k++) l.share[k] = middle * rest->share[k];
        l.share[0] = 1 - middle;
        *(all_hold(conditions, &l, angle) ? &low : &high) = middle;
    }
    return l;
}

static law any_law(dice *d, int angle, int failures)
{
    law l;
    double sum = 0;
    l.value[0] = dice_between(d, -0.5, 0.5) * tolerance;
    for (int k = 1; k < VALUES; k++) {
        l.value[k] = angle ? dice_between(d, -180, 180) : dice_between(d, -30, 30);
        if (failures && dice_between(d, 0, 1) < 0.2) l.value[k] = NAN;
        sum += l.share[k] = dice_between(d, 0, 1) < 0.35 ? 1e-9 : dice_between(d, 0, 1);
    }
    for (int k = 1; k < VALUES; k++) l.share[k] /= sum;
    return l;
}

/* ---- models: steps along one input. The pilot of each chooses the conditions */
typedef struct steps {
    double value[VALUES], from[VALUES]; /* value[k] from from[k] on */
} steps;

static int evaluate(void *user, const certreg_batch *b)
{
    const steps *s = user;
    for (size_t i = 0; i < b->rows; i++) {
        int k = VALUES - 1;
        while (k > 0 && (double)b->x[i] < s->from[k]) k--;
        b->y[i] = (float)s->value[k];
    }
    return 0;
}

/* Some outputs aside draw the circular mean that way, until its cut carries those just beyond half
 * a turn along. */
static steps any_steps(dice *d, int run)
{
    const double side = run % 2 ? 1 : -1, first = dice_between(d, 0.6, 1.5),
                 second = first + dice_between(d, 0.2, 1);
    const double aside = side * dice_between(d, 30, 110),
                 beyond = -side * (180 - dice_between(d, 2, 60));
    steps s = {.value = {0, aside, beyond, beyond}, .from = {-INFINITY, first, second, 50}};
    if (dice_between(d, 0, 1) < 0.5) s.value[1] = beyond, s.value[2] = s.value[3] = aside;
    if (run % 6 == 5) s.from[1] = s.from[2] = 50; /* nothing but the prediction */
    return s;
}

static certreg_estimator *make(steps *s, int angle, size_t pilot)
{
    static const int32_t kinds[2] = {REAL, ANGLE};
    static const double lo = -180, hi = 180;
    certreg_model m = kit_model(evaluate, s, 1, 1);
    certreg_plan p = kit_plan(SAMPLES);
    m.kind = &kinds[angle];
    if (angle) m.lo = &lo, m.hi = &hi;
    p.pilot = pilot;
    return kit_create(NULL, &m, &p);
}

TEST_ROWS(conditions_met_by_a_law_keep_the_promise, rows)
{
    enum { RUNS = 40, LAWS = 1000, SERVED_RUNS = 12, SERVED_LAWS = 150 };
    static steps s;
    const int angle = rows[_i].angle, served = rows[_i].served;
    certreg_estimator *e = make(&s, angle, rows[_i].pilot);
    dice d = dice_of((uint64_t)_i + 21);
    double worst = 0;
    int sines = 0, arcs = 0;
    const certreg_question q =
        QUESTION(.tolerance = tolerance, .statistic = rows[_i].statistic, .method = rows[_i].method,
                 .prediction = asks_prediction(0),
                 .huber_width = rows[_i].statistic == HUBER ? width : 0,
                 .serving = served ? asks_serving((size_t)served, rows[_i].beta) : NULL);
    for (int run = 0; run < (served ? SERVED_RUNS : RUNS); run++) {
        cr_conditions conditions = {.scratch = &e->scratch};
        s = any_steps(&d, run);
        coverage_begin(e, (uint64_t)run);
        KIT_OK(e, certreg_estimator_sample(e, 0, 300));
        KIT_OK(e, cr_question_load(&e->record, &q, &conditions.question, &e->error));
        KIT_OK(e, cr_conditions_prepare(&e->record, &conditions, &e->error));
        for (int i = 2; i < conditions.count; i++)
            sines += conditions.each[i].score.kind == CR_SCORE_SINE,
                arcs += conditions.each[i].score.kind == CR_SCORE_ARC;
        for (int k = 0; k < (served ? SERVED_LAWS : LAWS); k++) {
            const law rest = any_law(&d, angle, served != 0),
                      l = barely_allowed(&conditions, &rest, angle);
            if (!all_hold(&conditions, &l, angle)) continue;
            const double rate = served ? miss_rate(&l, served, angle)
                                       : !is_kept(l.value, l.share, angle, q.statistic);
            ck_assert_msg(rate <= rows[_i].beta * (1 + 1e-9), "%g: %g %g %g %g, shares %g %g %g %g",
                          rate, l.value[0], l.value[1], l.value[2], l.value[3], l.share[0],
                          l.share[1], l.share[2], l.share[3]);
            worst = fmax(worst, rate);
        }
    }
    printf("%-20s worst %.5f of %.2f, %d sines, %d arcs\n", rows[_i].name, worst, rows[_i].beta,
           sines, arcs);
    ck_assert_double_ge(worst, rows[_i].least * rows[_i].beta);
    if (angle && !served) ck_assert_int_gt(arcs, 20);
    if (angle && !served && !rows[_i].pilot) ck_assert_int_gt(sines, 5);
}

/* The mean of N' fresh values has the divergence that Chernoff's bound needs, with a margin for
 * logarithms that are worse than those of this platform. */
TEST_TIMES(serving_bounded_threshold_leaves_a_margin_for_logarithms, 300)
{
    const uint64_t n = _i % 3 == 0 ? 1000000000 : _i % 3 == 1 ? 1000000 : 51;
    const double least = -exp2(0.05 * _i - 8), beta = _i & 1 ? 0.5 : 0.01;
    const double got = cr_serving_bounded((double)n, least, 1, beta);
    const long double span = 1 - (long double)least, zero = -least / span,
                      p = (got - (long double)least) / span,
                      need = -logl((long double)beta) / (long double)n;
    if (!(p < 1)) return; /* nothing is promised */
    const long double divergence =
        zero * logl(zero / p) + (1 - zero) * (log1pl(-zero) - log1pl(-p));
    ck_assert_double_ge((double)(divergence - need), 2 * DBL_EPSILON);
}

KIT_MAIN("conditions")
