/* Misses of certificates of vectors, on models whose true radius is known exactly: outputs that
 * jump together at a half-space, so that one or several directions fail there; linear models about
 * a prediction from the pilot; poses. */
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "support/coverage.h"
#include "support/names.h"

enum { SAMPLES = 400, RUNS = 400, LESS = 100, MOST = 5, CASES = 30 };
#define ALPHA 0.1
#define LEVEL (0.01 / CASES)
static const double pi = 3.14159265358979323846;
static const double edge = 0.7; /* a float is beyond it or not: no output is on it */

/* `far` beyond the half-space x_j > edge, else 0; output k looks at input k, or all at input 0. */
typedef struct model {
    double far[MOST];
    int shared;
    double matrix[MOST][MOST], grid; /* linear, and rounded to a grid where it is not 0 */
} model;

static int jump(void *user, const certreg_batch *b)
{
    const model *m = user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            const float x = b->x[i * b->inputs + (m->shared ? 0 : k)];
            b->y[i * b->columns + k] = (double)x > edge ? (float)m->far[k] : 0;
        }
    return 0;
}

static int linear(void *user, const certreg_batch *b)
{
    const model *m = user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            double sum = 0;
            for (size_t j = 0; j < b->inputs; j++)
                sum += m->matrix[k][j] * (double)b->x[i * b->inputs + j];
            if (m->grid > 0) sum = m->grid * floor(sum / m->grid + 0.5);
            b->y[i * b->columns + k] = (float)sum;
        }
    return 0;
}

static certreg_estimator *make(certreg_eval eval, model *m, size_t outputs, const double *lo,
                               const double *hi, const int32_t *kind, size_t samples)
{
    certreg_model description = kit_model(eval, m, outputs, outputs);
    description.lo = lo, description.hi = hi, description.kind = kind;
    certreg_plan p = kit_plan(samples);
    p.constraints = 0;
    return kit_create(NULL, &description, &p);
}

static certreg_question vector_of(int32_t statistic, double tolerance)
{
    certreg_question q = kit_question(tolerance);
    q.output = CERTREG_ALL_OUTPUTS, q.statistic = statistic, q.alpha = ALPHA;
    return q;
}

/* ---- medians at a half-space */
static const double origin[MOST];

/* `least`: of alpha, where a single condition, or several that fail together, decide. */
typedef struct jump_case {
    const char *name;
    int32_t statistic, method;
    size_t outputs;
    int shared;
    double far[MOST], tolerance, least;
} jump_case;

static const jump_case jumps[] = {
    {"coordinates, all jump", MEDIAN, FINITE, 3, 1, {10, 10, 10}, 1, 0.4},
    {"coordinates, one jumps", MEDIAN, FINITE, 3, 1, {0, 10, 0}, 1, 0.4},
    {"coordinates, independent jumps", MEDIAN, FINITE, 3, 0, {10, 10, 10}, 1, 0},
    /* exactly the tolerance, which is out */
    {"coordinates, at the end", MEDIAN, FINITE, 2, 1, {1, 1}, 1.4142135623730951, 0.4},
    {"projections of two", PROJECTION_MEDIAN, FINITE, 2, 1, {10, -10}, 1, 0.4},
    {"projections of two, one jumps", PROJECTION_MEDIAN, FINITE, 2, 1, {0, 10}, 1, 0.4},
    {"projections of two, independent", PROJECTION_MEDIAN, FINITE, 2, 0, {10, 10}, 1, 0},
    {"projections of three", PROJECTION_MEDIAN, FINITE, 3, 1, {7, 8, 9}, 1, 0.4},
    /* along one axis, where the others move little: they come to the tolerance together */
    {"projections of three, at the end", PROJECTION_MEDIAN, FINITE, 3, 1, {1.0001, 0, 0}, 1, 0.4},
    {"projections of five", PROJECTION_MEDIAN, FINITE, 5, 1, {10, 10, 10, 10, 10}, 1, 0.4},
    {"coordinates, any time", MEDIAN, ANYTIME, 3, 1, {10, 10, 10}, 1, 0},
    {"projections of three, any time", PROJECTION_MEDIAN, ANYTIME, 3, 1, {7, 8, 9}, 1, 0},
};

TEST_ROWS(medians_of_vectors_leave_the_tolerance_in_a_share_alpha_of_runs_at_most, jumps)
{
    const jump_case *c = jumps + _i;
    model m = {.shared = c->shared};
    memcpy(m.far, c->far, sizeof m.far);
    certreg_estimator *e = make(jump, &m, c->outputs, NULL, NULL, NULL, SAMPLES);
    certreg_question q = vector_of(c->statistic, c->tolerance);
    q.method = c->method, q.prediction = origin, q.prediction_count = c->outputs;
    const uint64_t runs = c->method == ANYTIME && c->statistic == PROJECTION_MEDIAN ? LESS : RUNS;
    coverage_check(c->name, coverage_misses(e, runs, SAMPLES, q, edge), runs, ALPHA, LEVEL,
                   c->least);
}

/* The group-sequential test has more than a dozen looks; none may prove what is false. */
TEST_TIMES(target_radii_of_vectors_are_proven_falsely_in_a_share_alpha_of_runs_at_most, 4)
{
    const int32_t statistic = _i % 2 ? PROJECTION_MEDIAN : MEDIAN;
    model m = {.shared = 1, .far = {10, 10, 10}};
    certreg_estimator *e = make(jump, &m, 3, NULL, NULL, NULL, SAMPLES);
    certreg_question q = vector_of(statistic, 1);
    q.method = _i < 2 ? FINITE : ANYTIME, q.target = asks_target(edge * (1 + 1e-6));
    q.prediction = origin, q.prediction_count = 3;
    const uint64_t runs = _i % 2 ? LESS : RUNS;
    coverage_check(_i < 2 ? "a target" : "a target, any time",
                   coverage_misses(e, runs, SAMPLES, q, edge), runs, ALPHA, LEVEL,
                   _i < 2 ? 0.3 : 0);
}

/* All directions of the fresh outputs' median jump together, when half of them are beyond. */
TEST_TIMES(served_vectors_fail_more_often_than_beta_in_a_share_alpha_of_runs_at_most, 2)
{
    const int32_t statistic = _i ? PROJECTION_MEDIAN : MEDIAN;
    const size_t served = 101;
    const double beta = 0.1;
    model m = {.shared = 1, .far = {10, 10, 10}};
    certreg_estimator *e = make(jump, &m, 3, NULL, NULL, NULL, SAMPLES);
    certreg_question q = vector_of(statistic, 1);
    q.serving = asks_serving(served, beta), q.prediction = origin, q.prediction_count = 3;
    uint64_t misses = 0, claims = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        const double radius = coverage_ask(e, run, SAMPLES, q).radius,
                     far = cr_normal_sf(edge - radius * (1 - 1e-9));
        claims += radius > 0;
        misses += radius > 0 && 1 - cr_binomial_cdf(served / 2, served, far) > beta;
    }
    ck_assert_uint_gt(claims, RUNS / 2);
    coverage_check(_i ? "served projections" : "served coordinates", misses, RUNS, ALPHA, LEVEL, 0);
}

/* ---- means at a half-space */
/* With these ranges a mean that jumps is its own worst case along the nearest directions, and the
 * vector lies in the middle between them, where the net loses nothing. */
static const double deepest[2][3] = {{0.99144486137381041, 0.13052619222005159},
                                     {0.71359958, 0.38229133, 0.58705109}};

TEST_TIMES(means_of_vectors_move_too_far_in_a_share_alpha_of_runs_at_most, 6)
{
    const int about_prediction = _i % 2;
    const int32_t method = _i < 2 || _i > 3 ? FINITE : ANYTIME;
    const size_t outputs = _i > 3 ? 3 : 2;
    const uint64_t runs = _i > 3 ? 100 : 250;
    const double lo[3] = {0}, *hi = deepest[_i > 3], start = cr_normal_sf(edge);
    double psi[3];
    model m = {.shared = 1};
    for (size_t k = 0; k < outputs; k++)
        m.far[k] = (double)nextafterf((float)hi[k], 0), psi[k] = start * hi[k];
    certreg_estimator *e = make(jump, &m, outputs, lo, hi, NULL, SAMPLES);
    const double truth = 0.5, moved = cr_normal_sf(edge - truth) - start; /* at the true radius */
    certreg_question q = vector_of(MEAN, moved * (1 - 1e-6));
    q.method = method;
    q.center = about_prediction ? PREDICTION : TRUE_MEAN;
    if (about_prediction) q.prediction = psi, q.prediction_count = outputs;
    uint64_t misses = 0;
    double sum = 0;
    for (uint64_t run = 0; run < runs; run++) {
        const double radius = coverage_ask(e, run, SAMPLES, q).radius;
        misses += radius > truth;
        sum += radius / truth / (double)runs;
    }
    printf("mean part of the true radius %.3f: ", sum);
    ck_assert_double_gt(sum, method == FINITE ? 0.5 : 0.25);
    coverage_check(about_prediction ? "means about a prediction" : "true means", misses, runs,
                   ALPHA, LEVEL, _i == 0 ? 0.02 : 0);
}

/* ---- linear models: T moves by the matrix, whatever the statistic */
static const struct {
    const char *name;
    double matrix[3][3];
    size_t outputs;
    double grid;
} maps[] = {
    {"alike", {{1, 0}, {0, 1}}, 2, 0},
    {"correlated", {{1, 0}, {0.9, 0.2}}, 2, 0},
    {"wide and narrow", {{1, 0}, {0, 0.1}}, 2, 0},
    {"three, correlated", {{1, 0.3, 0}, {0.2, 0.5, 0.4}, {0, -0.6, 0.7}}, 3, 0},
    {"on a grid", {{1, 0}, {0.9, 0.2}}, 2, 1.0 / 3},
};

static double length_of(const double *x, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += x[k] * x[k];
    return sqrt(sum);
}

/* How far along u the line comes to the tolerance of psi. */
static double way_along(const double *moved, const double *psi, size_t outputs, double tolerance)
{
    double a = 0, b = 0, c = -tolerance * tolerance;
    for (size_t k = 0; k < outputs; k++)
        a += moved[k] * moved[k], b += moved[k] * psi[k], c += psi[k] * psi[k];
    return (b + sqrt(fmax(0, b * b - a * c))) / a;
}

/* The medians of a map on a grid are the map's value on that grid. */
static double way_on_grid(const double *moved, const double *psi, size_t outputs, double tolerance,
                          double grid)
{
    for (double r = 0; r < 4; r += 0.01) {
        double gap[3];
        for (size_t k = 0; k < outputs; k++)
            gap[k] = grid * floor(r * moved[k] / grid + 0.5) - psi[k];
        if (length_of(gap, outputs) >= tolerance) return r;
    }
    return 4;
}

/* The least of many shifts along which T comes to the tolerance of psi: a little more than the true
 * radius. */
static double true_radius(const double (*matrix)[3], double grid, size_t outputs, const double *psi,
                          double tolerance)
{
    double least = INFINITY;
    for (int i = 0; i < 400; i++) {
        const double turn = 2 * pi * i * 0.618033988749895, height = (i + 0.5) / 200 - 1;
        const double flat = outputs == 3 ? sqrt(1 - height * height) : 1;
        const double u[3] = {flat * cos(turn), flat * sin(turn), outputs == 3 ? height : 0};
        double moved[3] = {0};
        for (size_t k = 0; k < outputs; k++)
            for (size_t j = 0; j < outputs; j++) moved[k] += matrix[k][j] * u[j];
        least = fmin(least, grid > 0 ? way_on_grid(moved, psi, outputs, tolerance, grid)
                                     : way_along(moved, psi, outputs, tolerance));
    }
    return least;
}

TEST_TIMES(linear_vectors_about_the_pilots_prediction_keep_their_tolerance, 2 * KIT_ROWS(maps))
{
    enum { FEW = 250 };
    const size_t outputs = maps[_i / 2].outputs;
    const int32_t statistic = _i % 2 && !(maps[_i / 2].grid > 0) ? PROJECTION_MEDIAN : MEDIAN;
    model m = {.grid = maps[_i / 2].grid};
    for (size_t k = 0; k < outputs; k++)
        for (size_t j = 0; j < outputs; j++) m.matrix[k][j] = maps[_i / 2].matrix[k][j];
    certreg_estimator *e = make(linear, &m, outputs, NULL, NULL, NULL, SAMPLES);
    const certreg_question q = vector_of(statistic, 2);
    uint64_t misses = 0;
    double sum = 0;
    for (uint64_t run = 0; run < FEW; run++) {
        double psi[3];
        const double radius = coverage_ask(e, run, SAMPLES, q).radius;
        KIT_OK(e, certreg_estimator_prediction(e, &q, psi));
        const double truth = true_radius(maps[_i / 2].matrix, maps[_i / 2].grid, outputs, psi, 2);
        misses += radius > truth;
        sum += radius / truth / FEW;
    }
    printf("mean part of the true radius %.3f: ", sum);
    ck_assert_double_gt(sum, 0.4);
    coverage_check(maps[_i / 2].name, misses, FEW, ALPHA, LEVEL, 0);
}

/* ---- poses */
TEST_TIMES(radii_of_poses_are_too_large_in_a_share_alpha_of_runs_at_most, 3)
{
    static const int32_t kind[] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE};
    static const double lo[] = {-INFINITY, -INFINITY, -180}, hi[] = {INFINITY, INFINITY, 180};
    /* all jump at one half-space, or each at its own, or only the heading */
    model m = {.shared = _i != 1, .far = {10, -10, 20}};
    if (_i == 2) m.far[0] = m.far[1] = 0;
    certreg_estimator *e = make(jump, &m, 3, lo, hi, kind, SAMPLES);
    certreg_question q[2] = {vector_of(MEDIAN, 1), kit_question(15)};
    q[0].output = 0, q[0].output_count = 2, q[0].prediction = origin, q[0].prediction_count = 2;
    q[1].output = 2, q[1].alpha = ALPHA, q[1].prediction = origin;
    uint64_t misses = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        certreg_certificate each[2] = {kit_certificate()}, both = kit_certificate();
        coverage_begin(e, run);
        KIT_OK(e, certreg_certify_outputs(e, SAMPLES, q, 2, each, &both));
        misses += both.radius > edge;
    }
    const char *const names[] = {"a pose", "a pose, independent parts", "a pose, its heading"};
    coverage_check(names[_i], misses, RUNS, ALPHA, LEVEL, _i == 1 ? 0 : 0.4);
}

KIT_MAIN("coverage of vectors")
