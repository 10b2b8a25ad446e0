/* Certified radii against true ones, on three functions of two inputs whose smoothed values are known: the bowl ||x||^2, the slice
 * max(0, x_1) and the sandwich clamp(x_1, 0, 1), at ten points.
 *
 * The true radius is found without any code of the library. P(f(w + sigma e) > t) has a closed form for slice and sandwich, and is
 * one integral over the angle for the bowl (midpoint rule; the integrand is smooth and periodic). A mean score is an integral of
 * that probability over t (midpoint rule), the mean of the bowl a trapezoid sum over a grid (spectrally accurate for a smooth
 * function under the Gaussian). A promise about a prediction p holds at z + delta iff the mean scores of f - (p - tolerance) and
 * (p + tolerance) - f are positive, the promise about the true mean iff it moved by at most the tolerance. The radius is scanned
 * outwards in steps of sigma/20, at each over directions that contain the worst ones (towards and away from the origin, and along
 * the first input), until a promise breaks; bisection closes that step. */
#include "certreg/certreg.h"
#include "support/simulate.h"
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BOWL, SLICE, SANDWICH, FUNCTIONS, POINTS = 10, RUNS = 4, SAMPLES = 2000, DIRECTIONS = 12, ANGLES = 64, LEVELS = 48 };
static const double sigma = 0.5, tolerance = 0.4, width = 0.2, alpha = 0.05, half_turn = 3.14159265358979323846;
static const char *const name_of[FUNCTIONS] = {"bowl", "slice", "sandwich"};

static double apply(int function, double x, double y)
{
    if (function == BOWL) return x * x + y * y;
    return fmax(0, function == SLICE ? x : fmin(x, 1));
}

static int model(void *user, const certreg_batch *b)
{
    for (size_t i = 0; i < b->rows; i++) b->y[i] = (float)apply(*(const int *)user, (double)b->x[2 * i], (double)b->x[2 * i + 1]);
    return 0;
}

/* ---- the truth ------------------------------------------------------------------------------------------------------------------- */
static double below(double t)
{
    return 0.5 * erfc(-t / sqrt(2));
}

static double bowl_tail(const double w[2], double t)
{
    double inside = 0;
    for (int i = 0; i < ANGLES; i++) {
        const double angle = half_turn * ((i + 0.5) / ANGLES - 0.5), root = sqrt(t);
        const double x = (root * sin(angle) - w[0]) / sigma, reach = root * cos(angle);
        const double density = exp(-0.5 * x * x) / (sigma * sqrt(2 * half_turn));
        inside += density * reach * (below((reach - w[1]) / sigma) - below((-reach - w[1]) / sigma));
    }
    return 1 - inside * half_turn / ANGLES;
}

/* P(f(w + sigma e) > t) */
static double tail(int function, const double w[2], double t)
{
    if (t < 0) return 1;
    if (function == SANDWICH && t >= 1) return 0;
    return function == BOWL ? bowl_tail(w, t) : below((w[0] - t) / sigma);
}

static double integral_of_tail(int function, const double w[2], double lo, double hi)
{
    double sum = 0;
    for (int i = 0; i < LEVELS; i++) sum += tail(function, w, lo + (hi - lo) * (i + 0.5) / LEVELS);
    return sum * (hi - lo) / LEVELS;
}

static double true_mean(int function, const double w[2])
{
    if (function == SANDWICH) return integral_of_tail(function, w, 0, 1);
    if (function == SLICE) return w[0] * below(w[0] / sigma) + sigma * exp(-0.5 * w[0] * w[0] / (sigma * sigma)) / sqrt(2 * half_turn);
    double sum = 0, weight = 0;
    for (int i = -14; i <= 14; i++)
        for (int j = -14; j <= 14; j++) {
            const double density = exp(-0.125 * (i * i + j * j));
            sum += density * apply(function, w[0] + sigma * 0.5 * i, w[1] + sigma * 0.5 * j);
            weight += density;
        }
    return sum / weight;
}

/* E clip((f - theta)/width, -1, 1); the limit of small width for the median. */
static double true_score(int function, int32_t score, const double w[2], double theta)
{
    if (score == CERTREG_SCORE_MEAN) return true_mean(function, w) - theta;
    if (score == CERTREG_SCORE_MEDIAN) return 2 * tail(function, w, theta) - 1;
    double lo = theta - width, hi = theta + width, sum = 0;
    if (lo < 0) sum = fmin(0, hi) - lo, lo = fmin(0, hi); /* certain there; the rule wants smooth pieces */
    if (function == SANDWICH) lo = fmin(lo, 1), hi = fmin(hi, 1);
    if (hi > lo) hi = fmax(hi, 0), sum += integral_of_tail(function, w, lo, hi);
    return sum / width - 1;
}

typedef struct promise {
    int function;
    int32_t score, kind;
    double prediction, mean; /* mean: at z, for the true mean */
} promise;

static int holds_at(const promise *p, const double w[2])
{
    if (p->kind == CERTREG_PROMISE_TRUE_MEAN) return fabs(true_mean(p->function, w) - p->mean) <= tolerance;
    return true_score(p->function, p->score, w, p->prediction - tolerance) > 0 &&
           true_score(p->function, p->score, w, p->prediction + tolerance) < 0;
}

static int holds_on_circle(const promise *p, const double z[2], double radius)
{
    const double outwards = p->function == BOWL ? atan2(z[1], z[0]) : 0;
    for (int i = 0; i < DIRECTIONS; i++) {
        const double angle = outwards + 2 * half_turn * i / DIRECTIONS;
        const double w[2] = {z[0] + radius * cos(angle), z[1] + radius * sin(angle)};
        if (!holds_at(p, w)) return 0;
    }
    return 1;
}

static double true_radius(const promise *p, const double z[2])
{
    const double step = sigma / 20, farthest = 10 * sigma;
    double good = 0, bad = 0;
    while (bad <= farthest && holds_on_circle(p, z, bad)) good = bad, bad += step;
    if (bad == 0) return 0;
    if (bad > farthest) return INFINITY;
    for (int i = 0; i < 24; i++) {
        const double middle = 0.5 * (good + bad);
        if (holds_on_circle(p, z, middle)) good = middle;
        else bad = middle;
    }
    return bad;
}

/* ---- the certificates ------------------------------------------------------------------------------------------------------------ */
typedef struct ask {
    const char *name;
    int32_t score, interval, promise;
    uint32_t family;
} ask;
#define PREDICTION CERTREG_PROMISE_PREDICTION
#define TRUE_MEAN CERTREG_PROMISE_TRUE_MEAN
static const ask asks[] = {
    {"median, exact", CERTREG_SCORE_MEDIAN, CERTREG_INTERVAL_FINITE, PREDICTION, 0},
    {"median with gradient", CERTREG_SCORE_MEDIAN, CERTREG_INTERVAL_ASYMPTOTIC, PREDICTION, 0},
    {"Huber", CERTREG_SCORE_HUBER, CERTREG_INTERVAL_ASYMPTOTIC, PREDICTION, 0},
    {"Huber without gradient", CERTREG_SCORE_HUBER, CERTREG_INTERVAL_ASYMPTOTIC, PREDICTION, CERTREG_FAMILY_ECM},
    {"mean (C)", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_ASYMPTOTIC, TRUE_MEAN, CERTREG_FAMILY_C},
    {"mean (C,G)", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_ASYMPTOTIC, TRUE_MEAN, CERTREG_FAMILY_CG},
    {"mean (E,C)+M", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_ASYMPTOTIC, TRUE_MEAN, CERTREG_FAMILY_ECM},
    {"mean (E,C,G)+M", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_ASYMPTOTIC, TRUE_MEAN, CERTREG_FAMILY_ECGM},
    {"mean about a prediction, (E,C)+M", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_ASYMPTOTIC, PREDICTION, CERTREG_FAMILY_ECM},
    {"mean about a prediction, (E,C,G)+M", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_ASYMPTOTIC, PREDICTION, CERTREG_FAMILY_ECGM},
    {"mean (C), paper", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_PAPER, TRUE_MEAN, CERTREG_FAMILY_C},
    {"mean (C,G), paper", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_PAPER, TRUE_MEAN, CERTREG_FAMILY_CG},
    {"mean (E,C)+M, paper", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_PAPER, TRUE_MEAN, CERTREG_FAMILY_ECM},
    {"mean (E,C,G)+M, paper", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_PAPER, TRUE_MEAN, CERTREG_FAMILY_ECGM},
};
enum { ASKS = sizeof asks / sizeof *asks };

typedef struct tally {
    uint64_t trials, misses, proven;
    double part; /* sum of certified over true radius, where both are positive and finite */
    uint64_t parts;
} tally;

static certreg_estimator *create(int *function)
{
    static const double lo = 0, ends[FUNCTIONS] = {INFINITY, INFINITY, 1};
    const certreg_model m = {.struct_size = sizeof m, .eval = model, .user = function, .inputs = 2, .outputs = 1, .lo = &lo, .hi = ends + *function};
    const certreg_plan p = {.struct_size = sizeof p, .capacity = SAMPLES, .seed = 20};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    ck_assert_msg(!certreg_estimator_create(NULL, &m, &p, &why, &e), "%s", why.text);
    return e;
}

static void certify(certreg_estimator *e, certreg_bisection *b, const double z[2], uint64_t stream, certreg_certificate *c)
{
    certreg_question q[ASKS] = {{0}};
    const float input[2] = {(float)z[0], (float)z[1]};
    for (int k = 0; k < ASKS; k++)
        q[k] = (certreg_question){.struct_size = sizeof *q, .score = asks[k].score, .interval = asks[k].interval, .promise = asks[k].promise,
                                  .family = asks[k].family, .tolerance = tolerance, .alpha = alpha,
                                  .huber_width = asks[k].score == CERTREG_SCORE_HUBER ? width : 0};
    c->struct_size = sizeof *c;
    certreg_status status = certreg_estimator_begin(e, input, sigma, stream);
    if (!status) status = certreg_certify(e, b, SAMPLES, q, ASKS, c);
    ck_assert_msg(!status, "%s", certreg_estimator_error(e)->text);
}

static void count(const certreg_certificate *c, const promise *p, const double z[2], tally *t)
{
    t->trials++;
    if (c->outcome == CERTREG_ABSTAINED) return;
    t->proven++;
    const double truth = true_radius(p, z);
    t->misses += c->radius > truth * (1 + 1e-5);
    if (truth > 0 && isfinite(truth)) t->part += c->radius / truth, t->parts++;
}

static void run(int function, tally t[ASKS])
{
    certreg_estimator *e = create(&function);
    certreg_solver *s = NULL;
    certreg_bisection *b = NULL;
    simulate_source source;
    simulate_seed(&source, 7);
    ck_assert(!certreg_solver_create(NULL, 0, &s) && !certreg_bisection_create(s, NULL, 0, &b));
    for (uint64_t i = 0; i < POINTS; i++) {
        double z[2];
        for (int j = 0; j < 2; j++) z[j] = (double)(float)(2 * simulate_uniform(&source) - 1);
        for (uint64_t k = 0; k < RUNS; k++) {
            certreg_certificate c[ASKS] = {{0}};
            certify(e, b, z, RUNS * i + k, c);
            for (int a = 0; a < ASKS; a++) {
                const promise p = {function, asks[a].score, asks[a].promise, c[a].prediction, true_mean(function, z)};
                count(c + a, &p, z, t + a);
            }
        }
    }
    certreg_bisection_destroy(b);
    certreg_solver_destroy(s);
    certreg_estimator_destroy(e);
}

START_TEST(radius_never_exceeds_the_true_radius_beyond_alpha)
{
    tally t[ASKS] = {{0}};
    run(_i, t);
    for (int a = 0; a < ASKS; a++) {
        const uint64_t most = simulate_most_misses(t[a].trials, alpha, 0.01);
        printf("%-8s %-34s %2llu of %2llu proven, %.3f of the true radius, %llu misses\n", name_of[_i], asks[a].name,
               (unsigned long long)t[a].proven, (unsigned long long)t[a].trials, t[a].parts ? t[a].part / (double)t[a].parts : 0.0,
               (unsigned long long)t[a].misses);
        ck_assert_msg(t[a].misses <= most, "%s, %s: %llu misses of %llu", name_of[_i], asks[a].name, (unsigned long long)t[a].misses,
                      (unsigned long long)t[a].trials);
    }
    ck_assert_uint_gt(t[0].proven, 0);
}
END_TEST

/* The truth itself, where it is known in closed form: the slice far from its kink is affine, the bowl's mean is ||z||^2 + 2 sigma^2. */
START_TEST(true_radii_are_those_of_closed_forms)
{
    const double far[2] = {8, 0}, centre[2] = {0, 0};
    const int32_t scores[] = {CERTREG_SCORE_MEAN, CERTREG_SCORE_HUBER, CERTREG_SCORE_MEDIAN};
    for (int k = 0; k < 3; k++) {
        const promise affine = {SLICE, scores[k], PREDICTION, 8, 0};
        ck_assert_double_eq_tol(true_radius(&affine, far), tolerance, 1e-6);
    }
    const promise bowl = {BOWL, CERTREG_SCORE_MEAN, TRUE_MEAN, 0, 2 * sigma * sigma};
    ck_assert_double_eq_tol(true_radius(&bowl, centre), sqrt(tolerance), 1e-6);
    /* ||x||^2/sigma^2 is chi-squared with two degrees: P(> t) = exp(-t/(2 sigma^2)) */
    for (double t = 0.05; t < 3; t += 0.3) ck_assert_double_eq_tol(tail(BOWL, centre, t), exp(-t / (2 * sigma * sigma)), 1e-6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("true_radius");
    TCase *typical = tcase_create("typical"), *limits = tcase_create("limits");
    tcase_set_timeout(typical, 120);
    tcase_set_timeout(limits, 30);
    tcase_add_loop_test(typical, radius_never_exceeds_the_true_radius_beyond_alpha, 0, FUNCTIONS);
    tcase_add_test(limits, true_radii_are_those_of_closed_forms);
    suite_add_tcase(suite, typical);
    suite_add_tcase(suite, limits);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}
