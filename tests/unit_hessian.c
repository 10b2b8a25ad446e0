/* The statistics of the second order against plain loops over pairs and a matrix written down,
 * both ways of computation; memory. */
#include "backend/cpu.h"
#include "bounds/hessian.h"
#include "base/arena.h"
#include "estimator/estimator.h"
#include "record/hessian_shape.h"
#include "support/api_kit.h"

#define MOST 700
#define WIDEST 24

static const struct {
    size_t n, inputs, masked, limit; /* every `masked`-th feature has no noise */
} shapes[] = {{4, 1, 0, 0},         {5, 7, 0, 0},        {40, 3, 3, 0},
              {300, 24, 0, 0},      {300, 24, 5, 0},     {700, 5, 2, 0},
              {700, 12, 0, 100000}, {700, 12, 0, 24000}, {100, 12, 0, 9000}};
enum { FIRST = 3 };
static const cr_score outputs = {.kind = CR_SCORE_OUTPUT};

typedef struct bench { /* an estimator with a full record, and its noise */
    certreg_estimator *e;
    size_t n, d;
    double rows[MOST][WIDEST], weights[MOST];
} bench;

static int eval(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        b->y[2 * i] = 0;
        b->y[2 * i + 1] = x[0] + 0.5f * x[0] * x[b->inputs - 1] + 0.25f;
    }
    return 0;
}

static certreg_status try(size_t n, size_t inputs, const float *scale, size_t limit,
                          certreg_error *why, certreg_estimator **e)
{
    certreg_model m = kit_model(eval, NULL, inputs, 2);
    certreg_plan p = kit_plan(n + FIRST);
    m.scale = scale, p.constraints = CERTREG_CONSTRAINT_SECOND_ORDER, p.pilot = SIZE_MAX;
    p.seed = 9, p.second_order_bytes = limit;
    const certreg_status status = certreg_estimator_create(NULL, &m, &p, why, e);
    if (!status) kit_close_later(kit_destroy_estimator, *e);
    return status;
}

static const cr_samples *job_of(const bench *b)
{
    static cr_samples job;
    job = cr_view_samples(&b->e->record, &outputs, 1, FIRST, b->n, 0.2);
    return &job;
}

/* Features without noise are left out of rows, by hand. */
static const bench *bench_of(int row)
{
    static bench made, *b = &made;
    const size_t inputs = shapes[row].inputs;
    float scale[WIDEST], z[WIDEST] = {0}, x[WIDEST];
    for (size_t j = 0; j < inputs; j++)
        scale[j] = shapes[row].masked && j % shapes[row].masked == 1 ? 0 : 1;
    b->n = shapes[row].n;
    ck_assert_int_eq(try(b->n, inputs, scale, shapes[row].limit, NULL, &b->e), CERTREG_OK);
    KIT_OK(b->e, certreg_estimator_begin(b->e, z, 1, 0));
    KIT_OK(b->e, certreg_estimator_sample(b->e, 0, b->n + FIRST));
    for (size_t i = 0; i < b->n; i++) {
        const cr_noise noise = {.seed = 9, .inputs = inputs, .clean_first = 1};
        ck_assert_int_eq(cr_cpu_normals(cr_backend_default(), &noise, FIRST + i, 1, x), CERTREG_OK);
        b->d = 0;
        for (size_t j = 0; j < inputs; j++)
            if (scale[j] > 0) b->rows[i][b->d++] = (double)x[j];
        b->weights[i] = (double)cr_view_value(&b->e->record, FIRST + i, 1) - 0.2;
    }
    return b;
}

static double product(const bench *b, size_t i, size_t j)
{
    double g = 0, p = 0, q = 0;
    for (size_t k = 0; k < b->d; k++) {
        g += b->rows[i][k] * b->rows[j][k];
        p += b->rows[i][k] * b->rows[i][k];
        q += b->rows[j][k] * b->rows[j][k];
    }
    return b->weights[i] * b->weights[j] * (g * g - p - q + (double)b->d) / 2;
}

/* Means over ordered pairs, triples and quadruples of distinct samples, from sums over all. */
static void by_definition(const bench *b, cr_hessian *s)
{
    const double n = (double)b->n;
    double total = 0, rows = 0, squares = 0, self = 0, fourth = 0;
    for (size_t i = 0; i < b->n; i++) {
        double row = 0;
        for (size_t j = 0; j < b->n; j++) {
            const double k = product(b, i, j);
            if (j == i) self += k;
            else row += k, squares += k * k;
        }
        total += row;
        rows += row * row;
        fourth += pow(b->weights[i], 4);
    }
    const double shared = (rows - squares) / (n * (n - 1) * (n - 2));
    const double disjoint =
        (total * total - 4 * rows + 2 * squares) / (n * (n - 1) * (n - 2) * (n - 3));
    s->square = total / (n * (n - 1));
    s->projection = fmax(0, shared - disjoint);
    s->energy = fmax(0, squares / (n * (n - 1)) - 2 * shared + disjoint);
    s->self = self / n;
    s->fourth = fourth / n;
}

static void expect_same(const cr_hessian *s, const cr_hessian *want, int squares_of_all, double n)
{
    const double u2 = s->unit * s->unit, u4 = u2 * u2,
                 noise = fabs(want->square) + want->self / sqrt(n);
    ck_assert_double_eq_tol(s->square * u2, want->square, 2e-5 * noise);
    ck_assert_double_eq_tol(s->self * u2, want->self, 1e-5 * want->self);
    ck_assert_double_eq_tol(s->fourth * u4, want->fourth, 1e-5 * want->fourth);
    const double slack = squares_of_all ? 1e-4 : 0.3;
    ck_assert_double_eq_tol(s->energy * u4, want->energy, slack * want->energy);
    ck_assert_double_eq_tol(s->projection * u4, want->projection,
                            slack * (want->projection + want->energy / n));
    ck_assert_double_eq_tol(s->degenerate, 2 * s->energy / (n * (n - 1)), 1e-12 * s->degenerate);
    ck_assert(isfinite(s->skewness) && s->count == (uint64_t)n);
}

TEST_ROWS(both_ways_give_the_means_over_distinct_samples, shapes)
{
    const bench *b = bench_of(_i);
    cr_hessian want, s;
    by_definition(b, &want);
    for (int way = CR_HESSIAN_PAIRS; way <= CR_HESSIAN_MATRIX; way++) {
        const certreg_status status = cr_hessian_estimate(&b->e->replay, job_of(b), way, &s);
        if (way == CR_HESSIAN_MATRIX && !b->e->replay.device.pairs.matrix) {
            ck_assert_int_eq(status, CERTREG_E_WRONG_STATE);
            continue;
        }
        ck_assert_int_eq(status, CERTREG_OK);
        expect_same(&s, &want, way == CR_HESSIAN_PAIRS || b->n <= b->e->replay.device.tile,
                    (double)b->n);
        ck_assert_int_eq(isnan(s.top) != 0, way == CR_HESSIAN_PAIRS);
    }
}

/* Power iteration on the square of the matrix. */
static double top_by_hand(const bench *b)
{
    double m[WIDEST][WIDEST] = {{0}}, v[WIDEST], norm = 0;
    for (size_t i = 0; i < b->n; i++)
        for (size_t p = 0; p < b->d; p++)
            for (size_t q = 0; q < b->d; q++)
                m[p][q] += b->weights[i] * (b->rows[i][p] * b->rows[i][q] - (p == q)) /
                           (sqrt(2) * (double)b->n);
    for (size_t p = 0; p < b->d; p++) v[p] = 1 + 0.1 * (double)p;
    for (int step = 0; step < 4000; step++) {
        double next[WIDEST] = {0};
        norm = 0;
        for (size_t p = 0; p < b->d; p++)
            for (size_t q = 0; q < b->d; q++) next[p] += m[p][q] * v[q];
        for (size_t p = 0; p < b->d; p++) norm += next[p] * next[p];
        norm = sqrt(norm);
        for (size_t p = 0; p < b->d; p++) v[p] = next[p] / norm;
    }
    return norm;
}

TEST_ROWS(operator_norm_is_that_of_the_weighted_mean, shapes)
{
    const bench *b = bench_of(_i);
    if (b->e->replay.device.pairs.matrix) {
        cr_hessian s;
        ck_assert_int_eq(cr_hessian_estimate(&b->e->replay, job_of(b), CR_HESSIAN_MATRIX, &s),
                         CERTREG_OK);
        ck_assert_double_eq_tol(s.top * s.unit, top_by_hand(b), 1e-4 * s.top * s.unit);
    }
}

TEST(bounds_scale_with_the_score)
{
    static const double factors[] = {1e-200, 1e-9, 3, 1e150};
    const cr_hessian s = {.unit = 1,
                          .square = 0.04,
                          .projection = 0.1,
                          .energy = 3,
                          .degenerate = 6e-6,
                          .self = 2,
                          .skewness = 1,
                          .fourth = 3,
                          .top = 0.2,
                          .count = 1000};
    for (int k = 0; k < KIT_ROWS(factors); k++) {
        cr_hessian t = s;
        t.unit = factors[k];
        ck_assert_double_eq_tol(cr_hessian_less(&t, 2, 0.05) / factors[k],
                                cr_hessian_less(&s, 2, 0.05), 1e-12);
    }
}

/* ---- limits */
TEST(memory_stays_below_its_limit)
{
    static const size_t dimensions[] = {1, 10, 300, 784, 5000, 150528},
                        capacities[] = {4, 100, 10000, 1000000};
    static const size_t limits[] = {0, (size_t)1 << 16, (size_t)1 << 20, (size_t)1 << 26,
                                    (size_t)1 << 32};
    for (size_t i = 0; i < 6 * 4 * 5; i++) {
        const size_t d = dimensions[i % 6], n = capacities[i / 6 % 4], limit = limits[i / 24];
        const cr_hessian_shape shape = cr_hessian_choose(d, d, n, limit);
        if (!shape.tile) ck_assert_uint_gt(shape.bytes, limit ? limit : (size_t)256 << 20);
        else ck_assert_uint_le(shape.bytes, limit ? limit : (size_t)256 << 20);
        if (d > n / 4) ck_assert_uint_eq(shape.matrix, 0);
    }
    ck_assert_uint_eq(cr_hessian_choose(784, 784, 10000, 0).tile, 512);
    ck_assert_uint_eq(cr_hessian_choose(784, 784, 10000, 0).matrix, 1);
    ck_assert_uint_eq(cr_hessian_choose(SIZE_MAX / 4096, SIZE_MAX / 4096, SIZE_MAX / 2, 0).tile, 0);
}

/* What the statement of memory says is what create takes. */
TEST_TIMES(size_of_an_estimator_grows_by_what_was_stated, 2)
{
    const certreg_model model = kit_model(eval, NULL, 50, 2);
    certreg_plan plan = kit_plan(3000);
    plan.constraints = CERTREG_CONSTRAINT_MEAN;
    size_t without, with;
    ck_assert_int_eq(certreg_estimator_size(NULL, &model, &plan, &without, NULL), CERTREG_OK);
    plan.constraints |= CERTREG_CONSTRAINT_SECOND_ORDER;
    plan.second_order_bytes = _i ? 80000 : 0;
    ck_assert_int_eq(certreg_estimator_size(NULL, &model, &plan, &with, NULL), CERTREG_OK);
    const size_t stated = cr_hessian_choose(50, 50, 3000, plan.second_order_bytes).bytes;
    ck_assert_uint_le(with - without, stated);
    ck_assert_uint_ge(with - without + 16 * CR_ALIGN, stated);
}

TEST(too_little_memory_is_named)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    ck_assert_int_eq(try(1000, 100, NULL, 5000, &why, &e), CERTREG_E_NO_MEMORY);
    ck_assert_ptr_null(e);
    KIT_SAYS(&why, "plan.second_order_bytes");
    const size_t bytes = cr_hessian_choose(100, 100, 1003, 5000).bytes;
    char need[32];
    snprintf(need, sizeof need, "%zu", bytes);
    KIT_SAYS(&why, need);
    ck_assert_int_eq(try(1000, 100, NULL, bytes, &why, &e), CERTREG_OK);
}

/* ---- bad input */
TEST(nothing_known_is_no_bound)
{
    const bench *b = bench_of(3);
    double hi = 0;
    /* All equal to their center. */
    cr_samples job = cr_view_samples(&b->e->record, &outputs, 0, FIRST, b->n, 0);
    ck_assert_int_eq(cr_hessian_upper(&b->e->replay, &job, 0.05, &hi), CERTREG_OK);
    ck_assert(isinf(hi));
    b->e->record.values[(FIRST + 5) * 2 + 1] = cr_record_failed();
    ck_assert_int_eq(cr_hessian_upper(&b->e->replay, job_of(b), 0.05, &hi), CERTREG_OK);
    ck_assert(isinf(hi));
    ck_assert(isinf(
        cr_hessian_less(&(cr_hessian){.unit = 1, .square = 1, .top = 1, .count = 100}, 3, 0)));
}

TEST(too_few_samples_and_a_plan_without_it_are_refused)
{
    const bench *b = bench_of(3);
    double hi = 0;
    cr_samples job = *job_of(b);
    job.count = 3;
    ck_assert_int_eq(cr_hessian_upper(&b->e->replay, &job, 0.05, &hi), CERTREG_E_WRONG_STATE);
    ck_assert(isinf(hi));
    b->e->replay.device.tile = 0;
    ck_assert_int_eq(cr_hessian_upper(&b->e->replay, job_of(b), 0.05, &hi), CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(b->e), "plan.constraints");
}

KIT_MAIN("second order")
