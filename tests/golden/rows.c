/* Certificates of every kind, with the bounds behind them and curves of the worst shift. */
#include "golden/rows.h"
#include "support/structs.h"
#include <certreg/question.h>
#include <certreg/solver.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 6, MOST_OUTPUTS = 2, BATCH = 50, SAMPLES = 700, PILOT = 124 };
static const float input[INPUTS] = {0.2f, -0.1f, 0.4f, 0, 1, -1},
                   scale[INPUTS] = {1, 0.5f, 2, 0, 1, 0.7f};
static const double sigma = 0.4;

/* ---- models */
static const struct model_case {
    const char *name;
    size_t outputs;
    int32_t kind[MOST_OUTPUTS];
    double lo[MOST_OUTPUTS], hi[MOST_OUTPUTS], tolerance[MOST_OUTPUTS];
} cases[] = {
    {"ranged", 2, {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_REAL}, {-2, -3}, {2, 3}, {0.5, 0.6}},
    {"free", 1, {CERTREG_OUTPUT_REAL}, {-INFINITY}, {INFINITY}, {0.5}},
    {"angles",
     2,
     {CERTREG_OUTPUT_ANGLE, CERTREG_OUTPUT_ANGLE_PAIR},
     {-180, 0},
     {180, 360},
     {25, 15}}};
enum { CASES = sizeof cases / sizeof *cases };
static const struct model_case *now;

/* Sums, products and quotients alone, each of them rounded to float, so that outputs have the same
 * bits everywhere, also where FLT_EVAL_METHOD is 1. */
static float sum(float x, float y)
{
    return x + y;
}

static float product(float x, float y)
{
    return x * y;
}

static float smooth(const float *x)
{
    const float bent = product(product(0.25f, x[2]), x[4]),
                t = sum(sum(x[0], product(0.5f, x[1])), -bent),
                under = sum(1, product(product(0.5f, t), t)), share = t / under;
    return sum(share, product(0.1f, x[5]));
}

static void outputs_of(const float *x, float *y)
{
    const float t = smooth(x), u = sum(product(x[5], x[1]), product(0.3f, x[2]));
    if (now->kind[0] == CERTREG_OUTPUT_REAL) {
        y[0] = t > 2 ? 2 : t < -2 ? -2 : t;
        if (now->outputs > 1) y[1] = u > 3 ? 3 : u < -3 ? -3 : u;
        return;
    }
    const float degrees = sum(product(40, t), u > 1 ? 170 : 0);
    y[0] = degrees;
    y[1] = 1, y[2] = 0.5f * t;
}

typedef struct task {
    size_t rows, columns;
    const float *x;
    float *y;
} task;

static void work(void *with)
{
    const task *t = with;
    for (size_t i = 0; i < t->rows; i++) outputs_of(t->x + i * INPUTS, t->y + i * t->columns);
}

static rows_enqueue *enqueue;

static int evaluate(void *user, const certreg_batch *b)
{
    (void)user;
    task *t = malloc(sizeof *t);
    if (!t) return 1;
    *t = (task){b->rows, b->columns, b->x, b->y};
    if (b->device >= 0) return enqueue(b->stream, work, t, free);
    work(t);
    free(t);
    return 0;
}

/* ---- handles */
static int brief; /* for the emulated device, whose kernels run as fibers and take long */
static certreg_estimator *estimator;
static certreg_solver *solver;

/* ---- rows */
static void number(double x)
{
    printf(" %.17g", x);
}

static void print_bounds(const certreg_bounds *b)
{
    printf(" constraints %u", b->constraints);
    if (b->constraints & CERTREG_CONSTRAINT_MEAN) number(b->mean_lo), number(b->mean_hi);
    if (b->constraints & CERTREG_CONSTRAINT_VARIANCE) number(b->variance_hi);
    if (b->constraints & CERTREG_CONSTRAINT_GRADIENT)
        number(b->gradient_lo), number(b->gradient_hi);
    if (b->constraints & CERTREG_CONSTRAINT_MOMENT) number(b->moment_center), number(b->moment_hi);
}

static void print_certificate(const certreg_certificate *c)
{
    printf(" %d %d %d", (int)c->status, (int)c->outcome, (int)c->stop);
#if CERTREG_VERSION_NUMBER >= 300 /* programs of earlier versions are made of this file too */
    if (c->reason) printf(" reason %d", (int)c->reason);
#endif
    number(c->radius), number(c->prediction), number(c->estimate), number(c->output_lo),
        number(c->output_hi);
}

/* How far the mean of these bounds moves, at a few radii. */
static void print_curve(const certreg_bounds *b, uint32_t constraints)
{
    for (double r = 0.05; r < 2; r *= 3) {
        certreg_mean_change shift = {.struct_size = sizeof shift};
        if (certreg_solver_worst_case(solver, b, constraints, r * sigma, &shift)) printf(" ?");
        else number(shift.drop), number(shift.rise);
    }
}

static void print_question(const certreg_question *q, int center)
{
    printf("%d%d%d %d %2u", q->statistic, q->method, center, q->output, q->constraints);
    if (q->prediction) printf(" given");
    if (q->serving) printf(" served");
    if (q->target) printf(" target");
    printf(" :");
}

static void print_sides(const certreg_question *q)
{
    for (int32_t side = CERTREG_SIDE_NEAR_LOWER; side <= CERTREG_SIDE_NEAR_UPPER; side++) {
        certreg_bounds b = {.struct_size = sizeof b};
        if (certreg_estimator_bounds(estimator, q, side, &b)) continue;
        printf(" | %d", side);
        print_bounds(&b);
        if (b.constraints && !q->constraints) print_curve(&b, 0);
    }
}

static int refused_with(const char *words)
{
    return strstr(certreg_estimator_error(estimator)->text, words) != NULL;
}

static certreg_status certify(const certreg_question *q, double radius, certreg_certificate *c)
{
    return radius > 0 ? certreg_output_bounds(estimator, SAMPLES, q, 1, radius, c)
                      : certreg_certify(estimator, SAMPLES, q, 1, c);
}

/* A question that makes no sense here has no row. One whose statistic needs a width gets it. At a
 * radius > 0 output bounds are asked for, whose rows have center 2. */
static void ask_at(const char *group, certreg_question *q, double radius)
{
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_status status = certify(q, radius, &c);
    if (status == CERTREG_E_INVALID && refused_with("question.huber_width is 0")) {
        q->huber_width = 0.6 * now->tolerance[q->output < 0 ? 0 : q->output];
        status = certify(q, radius, &c);
    }
    if (status == CERTREG_E_INVALID) return;
    printf("%s ", group);
    print_question(q, radius > 0 ? 2 : q->center);
    print_certificate(&c);
    if (q->target) printf(" of %d", (int)c.samples);
    else if (!(radius > 0)) {
        printf(" limit %d by %u", (int)c.limiting_side, c.constraints);
        if (!brief) print_sides(q);
    }
    printf("\n");
}

static void ask(const char *group, certreg_question *q)
{
    ask_at(group, q, 0);
}

/* ---- what is asked */
static const uint32_t families[] = {0, CERTREG_CONSTRAINTS_C, CERTREG_CONSTRAINTS_CG,
                                    CERTREG_CONSTRAINTS_ECM, CERTREG_CONSTRAINTS_ECGM};
enum { FAMILIES = sizeof families / sizeof *families };

static void begin(uint64_t stream)
{
    if (certreg_estimator_begin(estimator, input, sigma, stream))
        printf("begin: %s\n", certreg_estimator_error(estimator)->text);
}

static certreg_question question(int32_t output, int32_t statistic, int32_t method)
{
    return QUESTION(.output = output, .statistic = statistic, .method = method,
                    .tolerance = now->tolerance[output < 0 ? 0 : output], .alpha = 0.1);
}

/* ---- which statistics there are: what the library refuses of them, asked without a tolerance */
static int refuses(int32_t statistic, int32_t output, double relative, const char *words)
{
    const certreg_question q =
        QUESTION(.statistic = statistic, .output = output, .relative_tolerance = relative);
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_certify(estimator, SAMPLES, &q, 1, &c);
    return refused_with(words);
}

static int is_statistic(int32_t value)
{
    return !refuses(value, 0, 0, "question.statistic is");
}

static int is_about_vectors(int32_t statistic) /* with tolerances in proportion */
{
    return !refuses(statistic, CERTREG_ALL_OUTPUTS, -1, ": for ");
}

static int is_only_about_vectors(int32_t statistic)
{
    return is_about_vectors(statistic) && refuses(statistic, 0, 0, ": for ");
}

/* Every combination of one record, but for the statistics of ask_vectors alone. */
static void ask_all(void)
{
    begin(1);
    for (int32_t output = CERTREG_ALL_OUTPUTS; output < (int32_t)now->outputs; output++)
        for (int32_t statistic = 0; is_statistic(statistic); statistic++)
            for (int32_t method = 0; method <= CERTREG_METHOD_ANYTIME; method++)
                for (int32_t center = 0; center <= 2; center++)
                    for (int f = 0; f < FAMILIES; f++) {
                        if (is_only_about_vectors(statistic)) continue;
                        if (brief && (f != 4 || center == 2)) continue;
                        certreg_question q = question(output, statistic, method);
                        q.center = center % 2, q.constraints = families[f];
                        ask_at("all", &q, center == 2 ? 0.3 * sigma : 0);
                    }
}

static void ask_served(int32_t output, int32_t statistic, int32_t method)
{
    certreg_question q = question(output, statistic, method);
    const certreg_serving serving = {
        .struct_size = sizeof serving, .samples = 51, .failure_rate = 0.05};
    const double prediction = 0.4 * now->tolerance[output];
    q.serving = &serving;
    ask("served", &q);
    ask_at("served", &q, 0.2 * sigma);
    q.bonferroni = 3, q.prediction = &prediction;
    ask("given", &q);
}

static void ask_target(int32_t output, int32_t statistic, int32_t method)
{
    begin(2 + (uint64_t)output);
    certreg_question q = question(output, statistic, method);
    const certreg_target target = {.struct_size = sizeof target, .radius = 0.25 * sigma};
    q.target = &target;
    ask("target", &q);
}

static void ask_together(void)
{
    certreg_question q[MOST_OUTPUTS];
    certreg_certificate each[MOST_OUTPUTS], all = {.struct_size = sizeof all},
                                            levels[2] = {{.struct_size = sizeof all}};
    for (int32_t k = 0; k < (int32_t)now->outputs; k++) {
        q[k] = question(k, k % 2, k % 2); /* median, and Huber location */
        q[k].huber_width = k % 2 ? 0.6 * now->tolerance[k] : 0;
    }
    each[0].struct_size = sizeof *each;
    begin(9);
    certreg_certify_outputs(estimator, SAMPLES, q, now->outputs, each, &all);
    printf("outputs :"), print_certificate(&all), printf("\n");
    certreg_certify_sigmas(estimator, input, (const double[]){0.2, 0.5}, 2, 11, SAMPLES, q, 1,
                           levels);
    for (int i = 0; i < 2; i++) printf("sigmas :"), print_certificate(levels + i), printf("\n");
}

static certreg_status open_estimator(certreg_backend *backend, uint32_t constraints)
{
    const certreg_model m = MODEL(.eval = evaluate, .inputs = INPUTS, .outputs = now->outputs,
                                  .batch = BATCH, .scale = scale, .kind = now->kind, .lo = now->lo,
                                  .hi = now->hi);
    const certreg_plan p =
        PLAN(.seed = 2026, .max_samples = SAMPLES, .pilot = PILOT, .constraints = constraints);
    certreg_error why = {.struct_size = sizeof why};
    const certreg_status status = certreg_estimator_create(backend, &m, &p, &why, &estimator);
    if (status) fprintf(stderr, "%s\n", why.text);
    return status;
}

static void ask_one_by_one(void)
{
    for (int32_t k = 0; k < (int32_t)now->outputs; k++)
        for (int32_t statistic = 0; is_statistic(statistic); statistic++)
            for (int32_t method = 0; method <= CERTREG_METHOD_ANYTIME; method++) {
                begin(1);
                ask_served(k, statistic, method);
                ask_target(k, statistic, method);
            }
}

/* Published certificates. */
static void ask_baselines(void)
{
    const certreg_serving plain = {.struct_size = sizeof plain, .samples = 51, .failure_rate = 0.1};
    certreg_serving served[] = {
        {.struct_size = sizeof *served, .samples = 1, .failure_rate = 0.2},
        {.struct_size = sizeof *served, .samples = 51, .failure_rate = 0.1, .trim = 0.35},
        {.struct_size = sizeof *served, .samples = 5, .failure_rate = 0.5}};
    certreg_question q =
        question(CERTREG_ALL_OUTPUTS, CERTREG_STATISTIC_BALL_CENTER, CERTREG_METHOD_BASELINE);
    begin(1);
    q.tolerance = 5;
    ask("baseline", &q);
    q.serving = &plain;
    ask("baseline", &q);
    for (int32_t k = 0; k < (int32_t)now->outputs; k++) {
        q = question(k, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_BASELINE);
        ask("baseline", &q);
        q.statistic = CERTREG_STATISTIC_TRIMMED_MEAN;
        served[2].core = 0.9 * q.tolerance;
        for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
            q.serving = served + i;
            ask("baseline", &q);
        }
    }
}

/* What ask_all has not of vectors. */
static void ask_vectors(void)
{
    const certreg_serving serving = {
        .struct_size = sizeof serving, .samples = 51, .failure_rate = 0.05};
    const certreg_target target = {.struct_size = sizeof target, .radius = 0.25 * sigma};
    for (int32_t statistic = 0; is_statistic(statistic); statistic++)
        for (int32_t method = 0; method <= CERTREG_METHOD_ANYTIME; method++) {
            if (!is_about_vectors(statistic)) continue;
            certreg_question q = question(CERTREG_ALL_OUTPUTS, statistic, method);
            double told[MOST_OUTPUTS] = {0};
            begin(1);
            ask("vector", &q);
            if (!certreg_estimator_prediction(estimator, &q, told)) number(told[0]);
            if (!certreg_estimator_estimate(estimator, &q, told)) number(told[0]);
            printf("\n");
            q.serving = &serving;
            ask("vector", &q);
            q.serving = NULL, q.target = &target;
            begin(2);
            ask("vector", &q);
        }
}

/* A tolerance that is a part of the prediction. */
static void ask_relative(void)
{
    for (int32_t output = CERTREG_ALL_OUTPUTS; output < (int32_t)now->outputs; output++)
        for (int32_t statistic = 0; is_statistic(statistic); statistic++) {
            certreg_question q = question(output, statistic, CERTREG_METHOD_FINITE);
            q.tolerance = 0, q.relative_tolerance = 1.5;
            begin(1);
            ask("relative", &q);
        }
}

int rows_print(const rows_where *where)
{
    brief = where->backend != NULL, enqueue = where->enqueue;
    if (certreg_solver_create(NULL, NULL, &solver)) return 1;
    for (now = cases; now < cases + CASES; now++) {
        printf("# %s, %s\n", where->name, now->name);
        if (open_estimator(where->backend, where->constraints)) break;
        ask_all();
        if (!brief) ask_one_by_one();
        ask_together();
        if (!brief) ask_baselines(), ask_vectors(), ask_relative();
        certreg_estimator_destroy(estimator);
    }
    certreg_solver_destroy(solver);
    return now < cases + CASES;
}
