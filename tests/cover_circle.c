/* Locations on the circle against their true radii. Outputs are steps along one input: a few
 * angles, each on an interval, so that the law at every shift is known exactly, and with it the
 * circular mean, the line that it cuts, and the location on that line. Many of the angles lie near
 * half a turn from the prediction, where the moving cut carries outputs from one end of the line to
 * the other. */
#include "statistics/normal.h"
#include "question/conditions.h"
#include "estimator/estimator.h"
#include "support/coverage.h"
#include "support/problems.h"

enum { STEPS = 5, MODELS = 400, SAMPLES = 1500 };
static const double alpha = 0.1, tolerance = 15, width = 10, turn = 360,
                    radian = 0.017453292519943295;

typedef struct steps {
    double angle[STEPS], from[STEPS]; /* angle[k] from from[k] on; from[0] = -infinity */
} steps;

static steps any_steps(dice *d)
{
    steps s;
    const int near = (int)dice_between(d, 0, STEPS);
    for (int k = 0; k < STEPS; k++) {
        const double any = dice_between(d, -180, 180), opposite = 180 + dice_between(d, -40, 40);
        s.angle[k] = dice_between(d, 0, 1) < 0.5 ? any
                     : opposite > 180            ? opposite - turn
                                                 : opposite;
    }
    s.angle[near] = dice_between(d, -8, 8);
    s.from[0] = -INFINITY;
    double at = -dice_between(d, 0.3, 2) * (near > 0);
    for (int k = near; k > 0; k--) s.from[k] = at, at -= dice_between(d, 0.05, 1);
    at = dice_between(d, 0.3, 2);
    for (int k = near + 1; k < STEPS; k++) s.from[k] = at, at += dice_between(d, 0.05, 1);
    return s;
}

/* The worst case: few outputs aside draw the circular mean that way, until its cut carries those
 * just beyond half a turn along. */
static steps jumping_steps(dice *d)
{
    const double side = dice_between(d, 0, 1) < 0.5 ? 1 : -1, first = dice_between(d, 0.6, 1.5),
                 second = first + dice_between(d, 0.2, 1);
    const double aside = side * dice_between(d, 30, 110),
                 beyond = -side * (180 - dice_between(d, 2, 60));
    steps s = {.angle = {0, aside, beyond}, .from = {-INFINITY, first, second}};
    if (dice_between(d, 0, 1) < 0.5) s.angle[1] = beyond, s.angle[2] = aside;
    for (int k = 3; k < STEPS; k++) s.angle[k] = s.angle[2], s.from[k] = 50;
    return s;
}

static int evaluate(void *user, const certreg_batch *b)
{
    const steps *s = user;
    for (size_t i = 0; i < b->rows; i++) {
        int k = STEPS - 1;
        while (k > 0 && (double)b->x[i] < s->from[k]) k--;
        b->y[i] = (float)s->angle[k];
    }
    return 0;
}

/* ---- the truth */
static double wrap(double t)
{
    return t - turn * floor(t / turn + 0.5);
}

static double clipped(double t)
{
    return fmax(-1, fmin(t, 1));
}

typedef struct law {
    double angle[STEPS], share[STEPS];
} law;

/* Whether every location of this law lies within the tolerance of 0. */
static int is_kept(const law *l, int32_t score)
{
    double c = 0, s = 0, above = 0, below = 0;
    for (int k = 0; k < STEPS; k++)
        c += l->share[k] * cos(l->angle[k] * radian), s += l->share[k] * sin(l->angle[k] * radian);
    if (hypot(c, s) < 1e-9) return 0;
    const double mu = atan2(s, c) / radian;
    for (int k = 0; k < STEPS; k++) {
        const double y = mu + wrap(l->angle[k] - mu);
        if (score == CERTREG_STATISTIC_MEDIAN)
            above += l->share[k] * (y > -tolerance ? 1 : -1),
                below += l->share[k] * (y < tolerance ? 1 : -1);
        else
            above += l->share[k] * clipped((y + tolerance) / width),
                below += l->share[k] * clipped((tolerance - y) / width);
    }
    return above > 0 && below > 0;
}

static law law_at(const steps *s, double shift)
{
    law l;
    for (int k = 0; k < STEPS; k++) {
        const double left = k ? cr_normal_sf(s->from[k] - shift) : 1,
                     right = k + 1 < STEPS ? cr_normal_sf(s->from[k + 1] - shift) : 0;
        l.angle[k] = s->angle[k], l.share[k] = left - right;
    }
    return l;
}

static double true_radius(const steps *s, int32_t score)
{
    for (double r = 0; r < 6; r += 0.002)
        for (int side = -1; side <= 1; side += 2) {
            const law l = law_at(s, side * r);
            if (!is_kept(&l, score)) return r;
        }
    return 6;
}

/* What the two tails would allow if the cut never moved. */
static double radius_of_tails(const steps *s)
{
    for (double r = 0; r < 6; r += 0.002)
        for (int side = -1; side <= 1; side += 2) {
            const law l = law_at(s, side * r);
            double low = 0, high = 0;
            for (int k = 0; k < STEPS; k++) {
                if (l.angle[k] <= -tolerance) low += l.share[k];
                if (l.angle[k] >= tolerance) high += l.share[k];
            }
            if (low >= 0.5 || high >= 0.5) return r;
        }
    return 6;
}

/* ---- what the conditions imply */
static certreg_estimator *make(steps *s, size_t pilot)
{
    const int32_t kind = CERTREG_OUTPUT_ANGLE;
    const double lo = -180, hi = 180;
    const certreg_model model = MODEL(.eval = evaluate, .user = s, .inputs = 1, .outputs = 1,
                                      .kind = &kind, .lo = &lo, .hi = &hi);
    const certreg_plan plan = PLAN(.constraints = CERTREG_CONSTRAINTS_ECGM, .max_samples = SAMPLES,
                                   .pilot = pilot, .seed = 77);
    return kit_create(NULL, &model, &plan);
}

static certreg_question question(int32_t score, int32_t method, uint32_t constraints)
{
    return QUESTION(.statistic = score, .method = method, .constraints = constraints,
                    .tolerance = tolerance,
                    .huber_width = score == CERTREG_STATISTIC_HUBER ? width : 0, .alpha = alpha,
                    .prediction = asks_prediction(0));
}

static int all_hold(const cr_conditions *conditions, const law *l)
{
    for (int i = 0; i < conditions->count; i++) {
        double mean = 0;
        for (int k = 0; k < STEPS; k++)
            mean += l->share[k] *
                    cr_score_value(&conditions->each[i].score, &(float){(float)l->angle[k]});
        /* angles are floats there */
        if (!(mean > conditions->each[i].threshold + 1e-6)) return 0;
    }
    return 1;
}

/* The mixture of this law and outputs at the prediction that the conditions just allow. */
static law barely_allowed(const cr_conditions *conditions, const law *rest)
{
    double low = 0, high = 1;
    law l = *rest;
    for (int i = 0; i < 40; i++) {
        const double middle = 0.5 * (low + high);
        for (int k = 0; k < STEPS; k++) l.share[k] = middle * rest->share[k] + (k ? 0 : 1 - middle);
        if (all_hold(conditions, &l)) low = middle;
        else high = middle;
    }
    for (int k = 0; k < STEPS; k++) l.share[k] = low * rest->share[k] + (k ? 0 : 1 - low);
    return l;
}

static law any_law(dice *d)
{
    law l = {.share = {0}};
    double sum = 0;
    for (int k = 1; k < STEPS; k++) {
        l.angle[k] = dice_between(d, -180, 180);
        l.share[k] = dice_between(d, 0, 1) < 0.4 ? 0 : dice_between(d, 0, 1);
        sum += l.share[k];
    }
    l.angle[0] = dice_between(d, -tolerance, tolerance);
    if (sum == 0) l.share[1] = sum = 1;
    for (int k = 1; k < STEPS; k++) l.share[k] /= sum;
    return l;
}

TEST_TIMES(laws_that_meet_the_conditions_have_their_location_in_the_tolerance, 4)
{
    static steps s;
    const int pilot = _i < 2;
    certreg_estimator *e = make(&s, pilot ? 0 : SIZE_MAX);
    dice d = dice_of((uint64_t)_i + 21);
    int sines = 0, arcs = 0;
    for (int run = 0; run < 150; run++) {
        s = run % 2 ? jumping_steps(&d) : any_steps(&d);
        /* nothing but the prediction */
        if (run % 6 == 5) s.from[1] = s.from[2] = s.from[3] = s.from[4] = 60;
        cr_conditions conditions = {.scratch = &e->scratch};
        const certreg_question q = question(
            _i % 2 ? CERTREG_STATISTIC_HUBER : CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0);
        coverage_begin(e, (uint64_t)run);
        KIT_OK(e, certreg_estimator_sample(e, 0, 300));
        ck_assert_int_eq(cr_sense_take(&e->record, &q, &conditions.question, &e->error),
                         CERTREG_OK);
        /* its pilot chooses the guards */
        ck_assert_int_eq(cr_conditions_prepare(&e->record, &conditions, &e->error), CERTREG_OK);
        sines += conditions.each[2].score.kind == CR_SCORE_SINE,
            arcs += conditions.each[2].score.kind == CR_SCORE_ARC;
        for (int k = 0; k < 3000; k++) {
            const law rest = any_law(&d), l = barely_allowed(&conditions, &rest);
            if (!all_hold(&conditions, &l)) continue;
            ck_assert_msg(is_kept(&l, q.statistic),
                          "run %d: angles %g %g %g %g %g, shares %g %g %g %g %g, cut %g", run,
                          l.angle[0], l.angle[1], l.angle[2], l.angle[3], l.angle[4], l.share[0],
                          l.share[1], l.share[2], l.share[3], l.share[4],
                          conditions.each[0].score.cut);
        }
    }
    if (pilot) ck_assert_int_gt(sines, 20);
    ck_assert_int_gt(arcs, 20);
}

/* ---- runs */
static const struct {
    int32_t statistic, method;
    uint32_t constraints;
    size_t pilot;
} asked[] = {{CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, 0},
             {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, CERTREG_CONSTRAINTS_ECGM, 0},
             {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC, 0, 0},
             {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ANYTIME, 0, 0},
             {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0, 0},
             {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE,
              CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE, 0},
             {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 0, 0},
             {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, SIZE_MAX},
             {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0, SIZE_MAX}};
enum { ASKED = sizeof asked / sizeof *asked };

TEST_TIMES(radii_exceed_the_true_ones_no_more_often_than_alpha, ASKED)
{
    static steps s;
    certreg_estimator *e = make(&s, asked[_i].pilot);
    const int median = asked[_i].statistic == CERTREG_STATISTIC_MEDIAN;
    dice d = dice_of(5);
    uint64_t wrong = 0, claims = 0, hostile = 0, ruled = 0;
    for (uint64_t run = 0; run < MODELS; run++) {
        s = run % 4 ? jumping_steps(&d) : any_steps(&d);
        const double truth = true_radius(&s, asked[_i].statistic);
        const certreg_question q =
            question(asked[_i].statistic, asked[_i].method, asked[_i].constraints);
        const certreg_certificate c = coverage_ask(e, run, SAMPLES, q);
        wrong += c.radius > truth + 0.002;
        claims += c.radius > 0.7 * truth;
        hostile += median && radius_of_tails(&s) > truth + 0.01;
        ruled += median && /* by the sines of the circular mean */
                 (c.constraints & (CERTREG_CONSTRAINT_MOMENT | CERTREG_CONSTRAINT_LAW)) != 0;
    }
    coverage_check(median ? "median" : "Huber", wrong, MODELS, alpha, 0.01 / ASKED, 0);
    /* without a pilot, bets start blindly */
    ck_assert_uint_gt(claims, asked[_i].pilot ? MODELS / 8 : MODELS / 3);
    if (!median) return;
    ck_assert_uint_gt(hostile, MODELS / 2); /* there the tails alone would be wrong */
    if (asked[_i].method == CERTREG_METHOD_ANYTIME || asked[_i].pilot) ck_assert_uint_eq(ruled, 0);
    else ck_assert_uint_gt(ruled, MODELS / 20);
}

KIT_MAIN("locations on the circle")
