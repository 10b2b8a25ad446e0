/* Sets every field of every public struct, calls every function, and prints every answer by the
 * name of its field. earlier.sh compiles it against the headers of each release and against the
 * present ones, and compares what they print. What came later than 0.2.0 stands behind
 * #if CERTREG_VERSION_NUMBER >= ... */
#define CERTREG_EXPERIMENTAL 1
#include <certreg/attack.h>
#include <certreg/backend.h>
#include <certreg/interval.h>
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <certreg/solver.h>
#include <certreg/worst_function.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 3, OUTPUTS = 2, BATCH = 16, SAMPLES = 1600, POINTS = 40, EACH = 64 };
static const float z[INPUTS] = {0.5f, -0.25f, 1}, scale[INPUTS] = {1, 0.5f, 2};
static const int32_t kinds[OUTPUTS] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE};
static const double least[OUTPUTS] = {-4, -180}, greatest[OUTPUTS] = {4, 180};

/* ---- what is printed */
static void number(const char *name, double x)
{
    printf("  %s %a\n", name, x);
}
static void integer(const char *name, long long x)
{
    printf("  %s %lld\n", name, x);
}
static void word(const char *name, unsigned long long x)
{
    printf("  %s %llx\n", name, x);
}
#define SHOW(of, field)         \
    _Generic((of).field, double \
             : number, int32_t  \
             : integer, int64_t \
             : integer, default \
             : word)(#field, (of).field)
#define IS(of, field, wanted) integer(#field, (of).field == (wanted))
/* Which call, and its status; a failure ends the program, which then prints less. */
static void did(const char *call, certreg_status status)
{
    printf("%.40s = %d\n", call, (int)status);
    if (status) exit(1);
}
#define DO(call) did(#call, call)

/* ---- model */
static int evaluate(void *user, const certreg_batch *b)
{
    int *told = user;
    if (!(*told)++) {
        SHOW(*b, struct_size), SHOW(*b, device), SHOW(*b, rows), SHOW(*b, inputs);
        SHOW(*b, columns), SHOW(*b, first), SHOW(*b, used_first), SHOW(*b, used_count);
        IS(*b, stream, NULL);
    }
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * INPUTS;
        b->y[2 * i] = fminf(fmaxf(x[0] + 0.5f * x[1] - 0.25f * x[2] * x[1], -4), 4);
        b->y[2 * i + 1] = fminf(fmaxf(30 * x[1] + 10 * x[2], -179), 179);
    }
    return 0;
}
static int goes_on(void *user, uint64_t done, uint64_t total)
{
    (void)total;
    *(uint64_t *)user = done;
    return 0;
}

/* ---- solver and bisection */
static certreg_bounds by_hand(void)
{
    return (certreg_bounds){.struct_size = sizeof(certreg_bounds),
                            .constraints = CERTREG_CONSTRAINTS_ECGHM |
                                           (uint32_t)CERTREG_CONSTRAINT_MOMENT,
                            .sigma = 0.5,
                            .mean_lo = 0.25,
                            .mean_hi = 0.375,
                            .variance_hi = 0.5,
                            .gradient_lo = 0.0625,
                            .gradient_hi = 0.75,
                            .range_lo = -2,
                            .range_hi = 3,
                            .alpha = 0.01,
                            .samples = 1000,
                            .second_order_hi = 0.25,
                            .moment_center = 0.25,
                            .moment_hi = 0.5};
}
static void show_info(const certreg_solve_info *i)
{
    SHOW(*i, struct_size), SHOW(*i, evaluations), SHOW(*i, points), SHOW(*i, loose);
    SHOW(*i, refinements), SHOW(*i, fallbacks);
    integer("seconds", i->seconds >= 0);
}
static void show_worst_function(const certreg_worst_function *w)
{
    SHOW(*w, struct_size), SHOW(*w, constraints), SHOW(*w, side), SHOW(*w, region_count);
    SHOW(*w, radius), SHOW(*w, change), SHOW(*w, bound), SHOW(*w, mean), SHOW(*w, variance);
    SHOW(*w, gradient), SHOW(*w, second_order), SHOW(*w, by_variance), SHOW(*w, by_mean);
    SHOW(*w, by_gradient), SHOW(*w, by_second_order), SHOW(*w, offset), SHOW(*w, slope);
    SHOW(*w, bend), SHOW(*w, rest), SHOW(*w, tilt), SHOW(*w, range_lo), SHOW(*w, range_hi);
    for (int i = 0; i < CERTREG_MOST_REGIONS - 1; i++) SHOW(*w, breakpoints[i]);
    for (int i = 0; i < CERTREG_MOST_REGIONS + 1; i++) SHOW(*w, regions[i]);
}
static void solve(void)
{
    static _Alignas(64) char memory[1 << 20];
    const certreg_solver_plan plan = {.struct_size = sizeof plan,
                                      .max_evaluations = 1500,
                                      .memory = memory,
                                      .memory_bytes = sizeof memory};
    const certreg_bounds b = by_hand();
    certreg_error why = {.struct_size = sizeof why};
    certreg_mean_change m = {.struct_size = sizeof m};
    certreg_worst_function w = {.struct_size = sizeof w};
    certreg_solve_info info = {.struct_size = sizeof info};
    certreg_solver *s;
    double t[3] = {-1, 0.5, 2};
    integer("certreg_solver_size", certreg_solver_size() <= sizeof memory);
    DO(certreg_solver_create(&plan, &why, &s));
    DO(certreg_solver_worst_case(s, &b, 0, 0.25, &m));
    SHOW(m, struct_size), SHOW(m, constraints), SHOW(m, drop), SHOW(m, rise);
    SHOW(m, mean_least), SHOW(m, mean_greatest);
    DO(certreg_solver_info(s, &info));
    show_info(&info);
    DO(certreg_solver_worst_function(s, &b, CERTREG_CONSTRAINTS_ECGM, 0.25, CERTREG_SIDE_LOWER,
                                     &w));
    show_worst_function(&w);
    DO(certreg_worst_function_values(&w, 3, t, t));
    for (int i = 0; i < 3; i++) number("value", t[i]);
    integer("refused", certreg_solver_worst_case(s, &b, 64, 0.25, &m));
    SHOW(*certreg_solver_error(s), status);
    certreg_solver_destroy(s);
}
static void show_radius(const certreg_radius *r)
{
    SHOW(*r, struct_size), SHOW(*r, outcome), SHOW(*r, radius), SHOW(*r, limiting_side);
    SHOW(*r, limiting), SHOW(*r, reserved);
}
static void bisect(void)
{
    static _Alignas(64) char memory[1 << 20];
    const certreg_bisection_plan plan = {.struct_size = sizeof plan,
                                         .max_evaluations = 10000,
                                         .accuracy = 1e-6,
                                         .cap = 8,
                                         .memory = memory,
                                         .memory_bytes = sizeof memory};
    const certreg_bounds b[2] = {by_hand(), by_hand()};
    certreg_error why = {.struct_size = sizeof why};
    certreg_radius r = {.struct_size = sizeof r};
    certreg_solve_info info = {.struct_size = sizeof info};
    certreg_bisection *s;
    integer("certreg_bisection_size", certreg_bisection_size() <= sizeof memory);
    DO(certreg_bisection_create(&plan, &why, &s));
    DO(certreg_bisection_within(s, b, 0, 0.25, &r));
    show_radius(&r);
    DO(certreg_bisection_above(s, b, (const double[]){-0.25, -0.5}, 2, 0, &r));
    show_radius(&r);
    DO(certreg_bisection_info(s, &info));
    show_info(&info);
    SHOW(*certreg_bisection_error(s), status);
    certreg_bisection_destroy(s);
}

/* ---- estimator */
static int told; /* how often the model was called */
static uint64_t progress;
static certreg_model the_model(void)
{
    return (certreg_model){.struct_size = sizeof(certreg_model),
                           .reserved = 0,
                           .eval = evaluate,
                           .user = &told,
                           .inputs = INPUTS,
                           .outputs = OUTPUTS,
                           .batch = BATCH,
                           .scale = scale,
                           .kind = kinds,
                           .lo = least,
                           .hi = greatest};
}
static certreg_plan the_plan(size_t pilot)
{
    return (certreg_plan){.struct_size = sizeof(certreg_plan),
                          .constraints = CERTREG_CONSTRAINTS_ECGM,
                          .seed = 2026,
                          .max_samples = SAMPLES,
                          .pilot = pilot,
                          .blocks = 70,
                          .progress = goes_on,
                          .progress_user = &progress,
                          .flags = CERTREG_PLAN_COUNT_FAILURES,
                          .reserved = 0,
                          .second_order_bytes = 1 << 20};
}
static certreg_estimator *made(certreg_backend *backend, size_t pilot)
{
    const certreg_model m = the_model();
    certreg_plan p = the_plan(pilot);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    size_t device = 7;
    DO(certreg_estimator_size(backend, &m, &p, &p.memory_bytes, &device));
    word("device bytes", device);
    p.memory_bytes = (p.memory_bytes + 63) / 64 * 64;
    p.memory = aligned_alloc(64, p.memory_bytes);
    DO(certreg_estimator_create(backend, &m, &p, &why, &e));
    return e; /* its memory lives as long as the program */
}
static void show_certificate(const certreg_certificate *c)
{
    SHOW(*c, struct_size), SHOW(*c, status), SHOW(*c, outcome), SHOW(*c, stop), SHOW(*c, radius);
    SHOW(*c, radius_linf), SHOW(*c, prediction), SHOW(*c, estimate), SHOW(*c, output_lo);
    SHOW(*c, output_hi), SHOW(*c, tolerance), SHOW(*c, alpha), SHOW(*c, sigma);
    SHOW(*c, samples), SHOW(*c, noise_id), SHOW(*c, question), SHOW(*c, output);
    SHOW(*c, statistic), SHOW(*c, method), SHOW(*c, center), SHOW(*c, constraints);
    SHOW(*c, limiting_side);
}
static certreg_question the_question(int32_t output)
{
    return (certreg_question){.struct_size = sizeof(certreg_question),
                              .output = output,
                              .tolerance = output ? 20 : 0.75,
                              .alpha = 0.1,
                              .statistic = CERTREG_STATISTIC_HUBER,
                              .method = CERTREG_METHOD_ASYMPTOTIC,
                              .huber_width = output ? 10 : 0.5,
                              .center = CERTREG_CENTER_PREDICTION,
                              .constraints = CERTREG_CONSTRAINTS_ECGM,
                              .bonferroni = 2,
                              .prediction = NULL,
                              .prediction_count = 0,
                              .output_count = 0,
                              .target = NULL,
                              .serving = NULL};
}
static void ask_optional(certreg_estimator *e)
{
    const uint64_t looks[2] = {800, SAMPLES};
    const certreg_target target = {
        .struct_size = sizeof target, .look_count = 2, .radius = 0.0625, .looks = looks};
    const certreg_serving serving = {.struct_size = sizeof serving,
                                     .reserved = 0,
                                     .samples = 51,
                                     .failure_rate = 0.05,
                                     .trim = 0,
                                     .core = 0};
    certreg_question aims = {.struct_size = sizeof aims, .tolerance = 1, .target = &target},
                     serves = {.struct_size = sizeof serves, .tolerance = 1, .serving = &serving};
    const double prediction[1] = {0.125};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_forecast f = {.struct_size = sizeof f};
    DO(certreg_estimator_begin(e, z, 0.25, 4));
    DO(certreg_certify(e, SAMPLES, &aims, 1, &c));
    show_certificate(&c);
    DO(certreg_estimator_forecast(e, &aims, &f));
    SHOW(f, struct_size), SHOW(f, least_samples), SHOW(f, expected_samples), SHOW(f, reserved);
    serves.prediction = prediction, serves.prediction_count = 1;
    DO(certreg_estimator_begin(e, z, 0.25, 5));
    DO(certreg_certify(e, SAMPLES, &serves, 1, &c));
    show_certificate(&c);
}
static void ask_vector(certreg_estimator *e)
{
    certreg_question q = {.struct_size = sizeof q, .tolerance = 30, .output_count = OUTPUTS};
    double out[OUTPUTS];
    integer("vector", certreg_estimator_prediction(e, &q, out)); /* no angle in a vector */
    q = the_question(0);
    DO(certreg_estimator_prediction(e, &q, out));
    number("prediction", out[0]);
    DO(certreg_estimator_estimate(e, &q, out));
    number("estimate", out[0]);
}
static void show_run(const certreg_run *r)
{
    SHOW(*r, struct_size), SHOW(*r, reserved), SHOW(*r, seed), SHOW(*r, noise_id), SHOW(*r, level);
    SHOW(*r, samples), SHOW(*r, pilot), SHOW(*r, batch), SHOW(*r, sigma);
    integer("model_seconds", r->model_seconds >= 0);
    integer("library_seconds", r->library_seconds >= 0);
}
static void show_bounds(const certreg_bounds *b)
{
    SHOW(*b, struct_size), SHOW(*b, constraints), SHOW(*b, sigma), SHOW(*b, mean_lo);
    SHOW(*b, mean_hi), SHOW(*b, variance_hi), SHOW(*b, gradient_lo), SHOW(*b, gradient_hi);
    SHOW(*b, range_lo), SHOW(*b, range_hi), SHOW(*b, alpha), SHOW(*b, samples);
    SHOW(*b, second_order_hi), SHOW(*b, moment_center), SHOW(*b, moment_hi);
}
static void certify(certreg_estimator *e)
{
    certreg_question q[2] = {the_question(0), the_question(1)};
    certreg_certificate c[4], all = {.struct_size = sizeof all};
    certreg_bounds b = {.struct_size = sizeof b};
    certreg_run run = {.struct_size = sizeof run};
    uint64_t digest;
    char line[4096];
    size_t bytes = sizeof line, level;
    double mean_radius[2];
    for (int i = 0; i < 4; i++) c[i] = all;
    DO(certreg_estimator_begin(e, z, 0.25, 3));
    DO(certreg_estimator_set_deadline(e, 1e6));
    DO(certreg_certify(e, SAMPLES, q, 2, c));
    show_certificate(c), show_certificate(c + 1);
    DO(certreg_estimator_bounds(e, q, CERTREG_SIDE_UPPER, &b));
    show_bounds(&b);
    DO(certreg_estimator_info(e, &run));
    show_run(&run);
    run.model_seconds = run.library_seconds = 0;
    DO(certreg_question_digest(q, &digest));
    word("digest", digest);
    DO(certreg_write_json(q, &run, c, CERTREG_JSON_SEED, line, &bytes));
    printf("  %s\n", line);
    ask_vector(e);
    DO(certreg_output_bounds(e, SAMPLES, q, 2, 0.0625, c));
    show_certificate(c), show_certificate(c + 1);
    q[0].bonferroni = q[1].bonferroni = 0;
    DO(certreg_certify_outputs(e, SAMPLES, q, 2, c, &all));
    show_certificate(&all);
    DO(certreg_certify_sigmas(e, z, (const double[]){0.125, 0.25}, 2, 6, SAMPLES, q, 1, c));
    show_certificate(c), show_certificate(c + 1);
    DO(certreg_choose_sigma(c, 1, 2, mean_radius, &level));
    number("mean radius", mean_radius[0]), number("mean radius", mean_radius[1]);
    word("level", level);
}
static void keep_records(certreg_estimator *e)
{
    static float x[BATCH * INPUTS], y[BATCH * OUTPUTS];
    static unsigned char record[1 << 16];
    size_t bytes = sizeof record;
    uint64_t sum = 0;
    DO(certreg_estimator_begin_level(e, z, 0.25, 8, 2));
    DO(certreg_estimator_sample(e, 0, 640));
    DO(certreg_estimator_draw(e, 640, BATCH, x));
    for (int i = 0; i < BATCH * INPUTS; i += 11) number("x", (double)x[i]);
    DO(certreg_estimator_record(e, 640, BATCH, y));
    DO(certreg_estimator_export(e, record, &bytes));
    for (size_t i = 0; i < bytes; i++) sum = sum * 1099511628211u + record[i];
    word("bytes", bytes), word("record", sum);
    DO(certreg_estimator_begin_level(e, z, 0.25, 8, 2));
    DO(certreg_estimator_import(e, record, bytes));
    certreg_estimator_cancel(e);
    integer("cancelled", certreg_estimator_sample(e, 656, BATCH));
    const certreg_error *why = certreg_estimator_error(e);
    SHOW(*why, struct_size), SHOW(*why, status), SHOW(*why, sample), SHOW(*why, row);
    SHOW(*why, output), SHOW(*why, model_code), SHOW(*why, value), IS(*why, text[0], 0);
}

/* ---- prediction intervals */
static void show_calibration(const certreg_calibration *c)
{
    SHOW(*c, struct_size), SHOW(*c, sigma), SHOW(*c, seed), SHOW(*c, model), SHOW(*c, samples);
    SHOW(*c, first_noise), SHOW(*c, last_noise), SHOW(*c, count), number("score", c->scores[7]);
}
static void show_ranks(const certreg_ranks *r)
{
    SHOW(*r, struct_size), SHOW(*r, reserved), SHOW(*r, alpha), SHOW(*r, radius), SHOW(*r, sigma);
    SHOW(*r, points), SHOW(*r, calibration_samples), SHOW(*r, samples);
    SHOW(*r, calibration_rank), SHOW(*r, point_rank), SHOW(*r, sample_rank);
    SHOW(*r, least_points);
}
static void show_interval(const certreg_interval *i)
{
    SHOW(*i, struct_size), SHOW(*i, output), SHOW(*i, lo), SHOW(*i, hi), SHOW(*i, period);
    SHOW(*i, alpha), SHOW(*i, radius), SHOW(*i, threshold), SHOW(*i, pieces), SHOW(*i, samples);
    SHOW(*i, failed);
}
static void find_interval(certreg_backend *backend)
{
    certreg_estimator *e = made(backend, SIZE_MAX);
    const double units[OUTPUTS] = {1, 40};
    double scores[POINTS], truth[OUTPUTS], lo[2 * EACH], hi[2 * EACH];
    certreg_calibration c = {.struct_size = sizeof c,
                             .score = CERTREG_SCORE_LARGEST,
                             .output = 0,
                             .outputs = OUTPUTS,
                             .units = units,
                             .share = 0.5,
                             .capacity = POINTS,
                             .scores = scores};
    for (int i = 0; i < POINTS; i++) {
        const float at[INPUTS] = {(float)i / 16, 1 - (float)i / 32, 0.5f};
        truth[0] = (double)i / 20, truth[1] = 30 - i;
        if (certreg_estimator_begin(e, at, 0.25, 20 + (uint64_t)i) ||
            certreg_estimator_sample(e, 0, EACH) || certreg_estimator_calibrate(e, &c, truth))
            did(certreg_estimator_error(e)->text, 1);
    }
    show_calibration(&c);
    const certreg_coverage wanted = {.struct_size = sizeof wanted,
                                     .reserved = 0,
                                     .alpha = 0.2,
                                     .radius = 0.03125,
                                     .sigma = c.sigma,
                                     .share = c.share,
                                     .points = c.count,
                                     .calibration_samples = c.samples,
                                     .samples = EACH};
    certreg_error why = {.struct_size = sizeof why};
    certreg_ranks ranks = {.struct_size = sizeof ranks};
    certreg_interval set = {.struct_size = sizeof set};
    int32_t inside = -1;
    DO(certreg_interval_ranks(&wanted, &why, &ranks));
    show_ranks(&ranks);
    DO(certreg_estimator_begin(e, z, 0.25, 1000));
    DO(certreg_estimator_sample(e, 0, EACH));
    DO(certreg_estimator_interval(e, &c, &ranks, 1, lo, hi, 2 * EACH, &set));
    show_interval(&set);
    number("lo", lo[0]), number("hi", hi[0]);
    DO(certreg_estimator_covers(e, &c, &ranks, truth, &inside));
    integer("inside", inside);
    certreg_estimator_destroy(e);
}

/* ---- attack */
static void attack(certreg_estimator *e)
{
    certreg_attack_plan plan = {.struct_size = sizeof plan, .reserved = 0, .max_calls = 3000};
    const float direction[INPUTS] = {1, 0.25f, 0};
    const certreg_attack_options options = {.struct_size = sizeof options,
                                            .reserved = 0,
                                            .calls = 3000,
                                            .alpha = 0.1,
                                            .number = 5,
                                            .direction = direction};
    certreg_question q = {.struct_size = sizeof q, .tolerance = 0.5};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_attack_result r = {.struct_size = sizeof r};
    certreg_error why = {.struct_size = sizeof why};
    certreg_attack *a;
    float shift[INPUTS];
    double gradient[INPUTS];
    size_t device = 7;
    DO(certreg_attack_size(e, &plan, &plan.memory_bytes, &device));
    plan.memory_bytes = (plan.memory_bytes + 63) / 64 * 64;
    plan.memory = aligned_alloc(64, plan.memory_bytes);
    DO(certreg_attack_create(e, &plan, &why, &a));
    DO(certreg_estimator_begin(e, z, 0.25, 9));
    DO(certreg_certify(e, SAMPLES, &q, 1, &c));
    DO(certreg_attack_run(a, &q, &options, shift, &r));
    SHOW(r, struct_size), SHOW(r, outcome), SHOW(r, stop), SHOW(r, side), SHOW(r, radius);
    SHOW(r, forecast), SHOW(r, cosine), SHOW(r, prediction), SHOW(r, tolerance), SHOW(r, sigma);
    SHOW(r, alpha), SHOW(r, calls), SHOW(r, samples);
    DO(certreg_attack_gradient(a, &q, CERTREG_SIDE_UPPER, gradient));
    for (int i = 0; i < INPUTS; i++) number("shift", (double)shift[i]), number("by", gradient[i]);
    SHOW(*certreg_attack_error(a), status);
    certreg_attack_destroy(a);
    free(plan.memory);
}

int main(void)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *backend = NULL;
    DO(certreg_backend_open_cpu(2, &why, &backend));
    integer("no module",
            certreg_backend_open("nowhere.so", 0, NULL, &why, &(certreg_backend *){NULL}));
    integer("version", certreg_version() >= CERTREG_VERSION_NUMBER);
    for (certreg_status s = 0; s <= CERTREG_E_BUSY; s++)
        integer("text", strlen(certreg_status_text(s)) > 1);
    solve();
    bisect();
    certreg_estimator *e = made(backend, 240);
    certify(e);
    ask_optional(e);
    keep_records(e);
    attack(e);
    certreg_estimator_destroy(e);
    find_interval(backend);
    certreg_backend_close(backend);
    return 0;
}
