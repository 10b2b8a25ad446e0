/* Misses of the inverse question, of what is served, of joint outputs, of several noise levels
 * and of norms, on models whose worst shift is known exactly. */
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "support/coverage.h"

enum { SAMPLES = 400, RUNS = 1000, MOST_INPUTS = 300, MOST_OUTPUTS = 5 };
#define ALPHA 0.1

/* ---- models of one coordinate each, monotone: T(z + delta) of the median is the value at the
 * shift ---- */
typedef struct shape {
    const char *name;
    double (*value)(double x);
} shape;

static double straight(double x)
{
    return x;
}
static double steep(double x)
{
    return x * x * x * exp(0.5 * x * x);
} /* no moments */
static double stairs(double x)
{
    return floor(3 * x + 0.5);
} /* ties */
static double face(double x)
{
    return x > 0.7 ? 10 : 0;
}
static const shape shapes[] = {
    {"straight", straight}, {"steep", steep}, {"stairs", stairs}, {"face", face}};

typedef struct model {
    const shape *of[MOST_OUTPUTS];
    int shared; /* all outputs look at the first input */
    double weight, wobble, speed;
} model;

static int evaluate(void *user, const certreg_batch *b)
{
    const model *m = user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++)
            b->y[i * b->columns + k] =
                (float)m->of[k]->value((double)b->x[i * b->inputs + (m->shared ? 0 : k)]);
    return 0;
}

static certreg_estimator *make(certreg_eval eval, model *m, size_t inputs, size_t outputs,
                               size_t samples, uint32_t constraints)
{
    certreg_model description = kit_model(eval, m, inputs, outputs);
    certreg_plan p = kit_plan(samples);
    p.constraints = constraints;
    return kit_create(NULL, &description, &p);
}

/* ---- reach */
static const double reaches[] = {0.2, 0.7000001, 1.3};

TEST_TIMES(medians_leave_the_reach_in_a_share_alpha_of_runs_at_most, 12)
{
    model m = {.of = {shapes + _i / 3}};
    const double at = reaches[_i % 3] * (1 - 1e-12), from = (float)m.of[0]->value(-at),
                 to = (float)m.of[0]->value(at);
    certreg_estimator *e = make(evaluate, &m, 1, 1, SAMPLES, CERTREG_CONSTRAINT_MEAN);
    certreg_question q = kit_question(0);
    q.alpha = ALPHA;
    uint64_t misses = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        certreg_certificate c = kit_certificate();
        coverage_begin(e, run);
        KIT_OK(e, certreg_output_bounds(e, SAMPLES, &q, 1, reaches[_i % 3], &c));
        misses += c.output_lo > from || c.output_hi < to;
    }
    coverage_check(m.of[0]->name, misses, RUNS, ALPHA, 0.01 / 12, 0);
}

TEST_TIMES(huber_and_mean_leave_the_reach_in_a_share_alpha_of_runs_at_most, 2)
{
    enum { FEW = 300 };
    model m = {.of = {shapes}};
    certreg_estimator *e = make(evaluate, &m, 1, 1, 1000, 0);
    certreg_question q = kit_question(_i ? 0 : 4);
    q.alpha = ALPHA, q.method = CERTREG_METHOD_ASYMPTOTIC;
    q.statistic = _i ? CERTREG_STATISTIC_MEAN : CERTREG_STATISTIC_HUBER,
    q.huber_width = _i ? 0 : 0.5;
    uint64_t misses = 0;
    for (uint64_t run = 0; run < FEW; run++) {
        certreg_certificate c = kit_certificate();
        coverage_begin(e, run);
        KIT_OK(e, certreg_output_bounds(e, 1000, &q, 1, 0.5, &c));
        misses += c.output_lo > -0.5 || c.output_hi < 0.5;
    }
    coverage_check(_i ? "mean" : "Huber", misses, FEW, ALPHA, 0.01 / 2, 0);
}

/* ---- served */
/* Probability that a median of `served` fresh outputs of a half-space or a straight line is off
 * by the tolerance, at the worst shift. */
static double failure_rate(const shape *s, const certreg_certificate *c, uint64_t served,
                           double shift)
{
    const uint64_t most = served / 2;
    const double ends[2] = {c->prediction - c->tolerance, c->prediction + c->tolerance};
    double greatest = 0;
    for (int side = -1; side <= 1; side += 2) {
        const double at = side * shift;
        const double low = s->value == face ? (ends[0] >= 0 ? cr_normal_cdf(0.7 - at) : 0)
                                            : cr_normal_cdf(ends[0] - at);
        const double high = s->value == face ? (ends[1] <= 10 ? cr_normal_sf(0.7 - at) : 0)
                                             : cr_normal_sf(ends[1] - at);
        greatest = fmax(greatest, cr_binomial_cdf(most, served, 1 - low) +
                                      cr_binomial_cdf(most, served, 1 - high));
    }
    return greatest;
}

TEST_TIMES(served_medians_fail_more_often_than_beta_in_a_share_alpha_of_runs_at_most, 6)
{
    const struct {
        int shape;
        size_t served;
        double beta, tolerance;
    } cases[] = {{0, 1, 0.3, 2}, {0, 21, 0.1, 1}, {0, 200, 0.01, 1},
                 {3, 3, 0.5, 1}, {3, 21, 0.1, 1}, {3, 201, 0.01, 1}};
    model m = {.of = {shapes + cases[_i].shape}};
    certreg_estimator *e = make(evaluate, &m, 1, 1, SAMPLES, CERTREG_CONSTRAINT_MEAN);
    certreg_question q = kit_question(cases[_i].tolerance);
    q.alpha = ALPHA, q.serving = asks_serving(cases[_i].served, cases[_i].beta);
    uint64_t misses = 0, claims = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        const certreg_certificate c = coverage_ask(e, run, SAMPLES, q);
        claims += c.radius > 0;
        misses += c.radius > 0 && failure_rate(m.of[0], &c, cases[_i].served,
                                               c.radius * (1 - 1e-9)) > cases[_i].beta;
    }
    ck_assert_uint_gt(claims, RUNS / 20);
    coverage_check("served", misses, RUNS, ALPHA, 0.01 / 6, 0);
}

/* ---- all outputs */
/* About the prediction 0 the true radius of a face is 0.7, of all of them together as well. */
TEST_TIMES(joint_radii_are_too_large_in_a_share_alpha_of_runs_at_most, 3)
{
    /* the other outputs are all but harmless, or alike, or independent */
    const int faces = _i == 0 ? 1 : MOST_OUTPUTS;
    model m = {.shared = _i == 1};
    for (int k = 0; k < MOST_OUTPUTS; k++) m.of[k] = shapes + (k < faces ? 3 : 0);
    certreg_estimator *e =
        make(evaluate, &m, MOST_OUTPUTS, MOST_OUTPUTS, SAMPLES, CERTREG_CONSTRAINT_MEAN);
    certreg_question q[MOST_OUTPUTS];
    for (int k = 0; k < MOST_OUTPUTS; k++) {
        q[k] = kit_question(k < faces ? 1 : 2.5);
        q[k].output = k, q[k].alpha = ALPHA, q[k].prediction = asks_prediction(0);
    }
    uint64_t misses = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        certreg_certificate each[MOST_OUTPUTS] = {kit_certificate()},
                            bonferroni = kit_certificate();
        coverage_begin(e, run);
        KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, MOST_OUTPUTS, each, &bonferroni));
        misses += bonferroni.radius > 0.7;
    }
    const char *const names[] = {"one face", "the same faces", "independent faces"};
    coverage_check(names[_i], misses, RUNS, ALPHA, 0.01 / 3, _i < 2 ? 0.4 : 0);
}

TEST(any_of_several_levels_is_too_large_in_a_share_alpha_of_runs_at_most)
{
    const double sigmas[] = {0.5, 0.4, 0.7, 1};
    model m = {.of = {shapes + 3}};
    certreg_estimator *e = make(evaluate, &m, 1, 1, SAMPLES, CERTREG_CONSTRAINT_MEAN);
    certreg_question q = kit_question(1);
    q.alpha = ALPHA, q.prediction = asks_prediction(0);
    uint64_t misses = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        certreg_certificate c[4] = {kit_certificate()};
        int any = 0;
        KIT_OK(e, certreg_certify_sigmas(e, (const float[]){0}, sigmas, 4, 4 * run, SAMPLES, &q, 1,
                                         c));
        for (int i = 0; i < 4; i++) any |= c[i].radius > 0.7;
        misses += any != 0;
    }
    coverage_check("four levels", misses, RUNS, ALPHA, 0.01, 0.3);
}

/* ---- norms */
enum { VECTOR = 3 };
static const double rows[VECTOR] = {0.6, -0.3, 0.2}; /* times the first coordinate */

/* Fast waves look like noise: their mean moves by exp(-speed^2/2) at most. Each output has waves
 * of its own. */
static int waves(void *user, const certreg_batch *b)
{
    const model *m = user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < VECTOR; k++) {
            const float *x = b->x + i * b->inputs;
            b->y[i * VECTOR + k] =
                (float)(m->weight * rows[k] * (double)x[0] +
                        m->wobble * sin(m->speed * (double)x[(k + 1) % b->inputs] + (double)k));
        }
    return 0;
}

TEST_TIMES(norms_move_beyond_the_tolerance_in_a_share_alpha_of_runs_at_most, 7)
{
    enum { FEW = 200, MANY_SAMPLES = 1000 };
    const struct {
        size_t inputs;
        double wobble;
        uint32_t constraints;
    } cases[] = {{1, 0, 0},
                 {1, 0.5, 0},
                 {10, 0, 0},
                 {10, 0.5, 0},
                 {MOST_INPUTS, 0, 0},
                 {MOST_INPUTS, 0.2, 0},
                 {10, 0, CERTREG_CONSTRAINTS_C}};
    model m = {.weight = 1, .wobble = cases[_i].wobble, .speed = 6};
    certreg_estimator *e = make(waves, &m, cases[_i].inputs, VECTOR, MANY_SAMPLES, 0);
    certreg_question q = kit_question(0.05); /* small, where the linear part rules */
    q.output = CERTREG_ALL_OUTPUTS, q.statistic = CERTREG_STATISTIC_MEAN,
    q.center = CERTREG_CENTER_TRUE_MEAN, q.method = CERTREG_METHOD_ASYMPTOTIC;
    q.alpha = ALPHA, q.constraints = cases[_i].constraints;
    const double truth = q.tolerance / sqrt(0.36 + 0.09 + 0.04);
    uint64_t misses = 0;
    double greatest = 0;
    for (uint64_t run = 0; run < FEW; run++) {
        const certreg_certificate c = coverage_ask(e, run, MANY_SAMPLES, q);
        ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
        misses += c.radius > truth;
        greatest = fmax(greatest, c.radius / truth);
    }
    printf("%3zu inputs, waves %.1f, greatest part of the true radius %.3f: ", cases[_i].inputs,
           cases[_i].wobble, greatest);
    coverage_check("norm", misses, FEW, ALPHA, 0.01 / 7, 0);
}

KIT_MAIN("coverage of further promises")
