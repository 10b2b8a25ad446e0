#include "golden/others.h"
#include "support/structs.h"
#include <certreg/attack.h>
#include <certreg/interval.h>
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS = 5, BATCH = 40, SAMPLES = 400, POINTS = 60, CALLS = 4000, ROOM = 4096 };
static const float input[INPUTS] = {0.3f, -0.2f, 0.1f, 0.7f, -0.5f};
static const double sigma = 0.5;
static certreg_estimator *estimator;
static certreg_attack *attack;

/* Exact in floats: one rounding for each sum. */
static int evaluate(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * INPUTS;
        const float half = 0.5f * x[1], left = x[0] + half, right = x[2] - x[3];
        b->y[2 * i] = left > 2 ? 2 : left < -2 ? -2 : left;
        b->y[2 * i + 1] = right;
    }
    return 0;
}

static certreg_question question(int32_t statistic, int32_t method)
{
    return QUESTION(.statistic = statistic, .method = method, .tolerance = 0.8,
                    .huber_width = statistic == CERTREG_STATISTIC_HUBER ? 0.4 : 0, .alpha = 0.1);
}

static void number(double x)
{
    printf(" %.17g", x);
}

static int failed(const char *what, certreg_status status)
{
    if (status) fprintf(stderr, "%s: %s\n", what, certreg_estimator_error(estimator)->text);
    return status != CERTREG_OK;
}

static int sampled(uint64_t noise_id)
{
    return failed("begin", certreg_estimator_begin(estimator, input, sigma, noise_id)) ||
           failed("sample", certreg_estimator_sample(estimator, 0, SAMPLES));
}

/* ---- certificates */
static int print_certificate(const certreg_question *q, const certreg_certificate *c)
{
    uint64_t digest;
    if (certreg_question_digest(q, NULL, &digest)) return 1;
    printf("digest %llx\ncertificate %d %d %d %llu", (unsigned long long)digest, c->status,
           c->outcome, c->stop, (unsigned long long)c->samples);
    const double numbers[] = {c->radius,      c->prediction, c->estimate,
                              c->output_lo,   c->output_hi,  c->radius_l1,
                              c->radius_linf, c->alpha,      c->limiting_side};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) number(numbers[i]);
    printf(" by %u\n", c->constraints);
    return 0;
}

static int print_moved(const certreg_certificate *c)
{
    const float to[INPUTS] = {0.3f, -0.2f, 0.2f, 0.7f, -0.45f};
    certreg_certificate m = {.struct_size = sizeof m};
    if (certreg_move_certificate(c, INPUTS, NULL, input, to, NULL, &m)) return 1;
    printf("moved %llx", (unsigned long long)m.input_digest), number(m.radius),
        number(m.radius_linf);
    printf("\n");
    return 0;
}

static int print_certificates(void)
{
    const double given = 0.1;
    const uint64_t looks[] = {200, SAMPLES};
    const certreg_target target = {
        .struct_size = sizeof target, .look_count = 2, .radius = 0.1, .looks = looks};
    const certreg_serving serving = {
        .struct_size = sizeof serving, .samples = 51, .failure_rate = 0.05};
    for (int32_t statistic = 0; statistic <= CERTREG_STATISTIC_MEAN; statistic++)
        for (int kind = 0; kind < 4; kind++) {
            certreg_question q = question(statistic, kind == 1 ? CERTREG_METHOD_ANYTIME : 0);
            certreg_certificate c = {.struct_size = sizeof c};
            if (kind == 1) q.target = &target;
            if (kind == 2) q.serving = &serving;
            if (kind == 3) q.prediction = &given, q.prediction_count = 1, q.bonferroni = 7;
            certreg_estimator_begin(estimator, input, sigma, 1);
            if (failed("certify", certreg_certify(estimator, SAMPLES, &q, 1, &c)) ||
                print_certificate(&q, &c) || print_moved(&c))
                return 1;
        }
    return 0;
}

/* ---- records */
static int print_record(void)
{
    static unsigned char bytes[16 * ROOM];
    size_t room = sizeof bytes;
    if (sampled(2) || failed("export", certreg_estimator_export(estimator, bytes, &room))) return 1;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < room; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    printf("record %zu %llx\n", room, (unsigned long long)hash);
    return failed("begin", certreg_estimator_begin(estimator, input, sigma, 2)) ||
           failed("import", certreg_estimator_import(estimator, bytes, room));
}

/* ---- forecasts and deadlines: one that is over, and one that never comes */
static int print_forecast(size_t samples)
{
    const certreg_target target = {.struct_size = sizeof target, .radius = 0.3};
    certreg_question q = question(CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE);
    certreg_forecast f = {.struct_size = sizeof f};
    q.target = &target;
    certreg_estimator_begin(estimator, input, sigma, 3);
    if (failed("sample", certreg_estimator_sample(estimator, 0, samples)) ||
        failed("forecast", certreg_estimator_forecast(estimator, &q, &f)))
        return 1;
    printf("forecast %llu", (unsigned long long)f.least_samples), number(f.expected_samples);
    printf("\n");
    return 0;
}

static int print_deadline(double seconds)
{
    certreg_question q[3];
    certreg_certificate c[3] = {{.struct_size = sizeof *c}};
    for (int i = 0; i < 3; i++) q[i] = question(i, CERTREG_METHOD_FINITE);
    certreg_estimator_begin(estimator, input, sigma, 4);
    certreg_estimator_set_deadline(estimator, seconds);
    const certreg_status status = certreg_certify(estimator, SAMPLES, q, 3, c);
    certreg_estimator_set_deadline(estimator, INFINITY);
    if (failed("certify", status)) return 1;
    for (int i = 0; i < 3; i++) {
        printf("deadline %d %d %d", c[i].outcome, c[i].stop, (int)c[i].samples);
        number(c[i].radius), number(c[i].estimate);
        printf("\n");
    }
    return 0;
}

/* ---- attacks */
static int print_attack(int32_t statistic)
{
    const certreg_attack_options o = {.struct_size = sizeof o, .calls = CALLS, .number = 3};
    const certreg_question q = question(statistic, CERTREG_METHOD_FINITE);
    certreg_attack_result r = {.struct_size = sizeof r};
    float shift[INPUTS];
    double slope[INPUTS];
    if (sampled(5) || certreg_attack_run(attack, &q, &o, shift, &r) ||
        certreg_attack_gradient(attack, &q, CERTREG_SIDE_UPPER, slope)) {
        fprintf(stderr, "attack: %s\n", certreg_attack_error(attack)->text);
        return 1;
    }
    printf("attack %d %d %d %d %d", statistic, r.outcome, r.stop, r.side, (int)r.calls);
    number(r.radius), number(r.forecast), number(r.cosine);
    for (int j = 0; j < INPUTS; j++) number((double)shift[j]), number(slope[j]);
    printf("\n");
    return 0;
}

/* ---- intervals */
static int print_intervals(int32_t score, int32_t outputs)
{
    static double scores[POINTS * CERTREG_CALIBRATION_SCORES], lo[SAMPLES], hi[SAMPLES];
    const double truth[2] = {0.4, -0.3};
    certreg_calibration points = STRUCT(certreg_calibration, .score = score, .outputs = outputs,
                                        .capacity = POINTS, .scores = scores);
    for (uint64_t i = 0; i < POINTS; i++) {
        const double off = 0.01 * (double)i, at[2] = {truth[0] + off, truth[1] - off};
        if (sampled(100 + i) ||
            failed("calibrate", certreg_estimator_calibrate(estimator, &points, at)))
            return 1;
    }
    const certreg_coverage coverage = {
        .struct_size = sizeof coverage, .alpha = 0.1, .radius = 0.1, .samples = points.samples};
    certreg_rule rule = {.struct_size = sizeof rule};
    certreg_interval found = {.struct_size = sizeof found};
    int32_t inside;
    if (certreg_interval_rule(&coverage, &points, NULL, &rule) || sampled(6) ||
        failed("interval",
               certreg_estimator_interval(estimator, &points, &rule, 0, lo, hi, SAMPLES, &found)) ||
        failed("covers", certreg_estimator_covers(estimator, &points, &rule, truth, &inside)))
        return 1;
    printf("interval %d %d %d %d", score, (int)rule.sample_rank, (int)rule.least_points, inside);
    number(found.lo), number(found.hi), number(found.threshold);
    printf(" %llx\n", (unsigned long long)points.model);
    return 0;
}

/* ---- serving from pairs */
static int print_served_pairs(int32_t statistic)
{
    const certreg_serving serving = {
        .struct_size = sizeof serving, .pairs = 1, .samples = 51, .failure_rate = 0.05};
    certreg_question q = question(statistic, CERTREG_METHOD_FINITE);
    certreg_certificate c = {.struct_size = sizeof c};
    q.serving = &serving;
    certreg_estimator_begin(estimator, input, sigma, 1);
    return failed("certify", certreg_certify(estimator, SAMPLES, &q, 1, &c)) ||
           print_certificate(&q, &c);
}

static const certreg_model free_model = {
    .struct_size = sizeof free_model, .eval = evaluate, .inputs = INPUTS, .outputs = 2};

static int print_server(void)
{
    const certreg_plan p =
        PLAN(.seed = 7, .max_samples = 51, .pilot = SIZE_MAX, .flags = CERTREG_PLAN_PAIRS);
    const certreg_serving serving = {
        .struct_size = sizeof serving, .pairs = 1, .samples = 51, .failure_rate = 0.05};
    certreg_question q = question(CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE);
    certreg_estimator *server;
    double served = 0;
    q.serving = &serving;
    if (failed("create", certreg_estimator_create(NULL, &free_model, &p, NULL, &server))) return 1;
    certreg_estimator_begin(server, input, sigma, 5);
    const int wrong = failed("sample", certreg_estimator_sample(server, 0, 51)) ||
                      failed("estimate", certreg_estimator_estimate(server, &q, &served));
    printf("pairs"), number(served), printf("\n");
    certreg_estimator_destroy(server);
    return wrong;
}

/* ---- the pilot that a plan has by default; every other row names its own */
static int print_default_pilot(void)
{
    const certreg_plan p = {.struct_size = sizeof p, .seed = 7, .max_samples = 1000};
    const certreg_question q = question(CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE);
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_run run = {.struct_size = sizeof run};
    certreg_estimator *e;
    if (failed("create", certreg_estimator_create(NULL, &free_model, &p, NULL, &e))) return 1;
    certreg_estimator_begin(e, input, sigma, 8);
    const int wrong = certreg_certify(e, p.max_samples, &q, 1, &c) ||
                      certreg_estimator_info(e, &run);
    printf("default pilot %d", (int)run.pilot), number(c.radius), number(c.prediction);
    printf("\n");
    certreg_estimator_destroy(e);
    return wrong;
}

/* ---- all of them */
static certreg_status open_handles(certreg_error *why)
{
    static const double lo[2] = {-2, -1e9}, hi[2] = {2, 1e9};
    const certreg_model m =
        MODEL(.eval = evaluate, .inputs = INPUTS, .outputs = 2, .batch = BATCH, .lo = lo, .hi = hi);
    const certreg_plan p = {
        .struct_size = sizeof p, .seed = 7, .max_samples = SAMPLES, .pilot = 60};
    const certreg_attack_plan a = {.struct_size = sizeof a, .max_calls = CALLS};
    const certreg_status status = certreg_estimator_create(NULL, &m, &p, why, &estimator);
    return status ? status : certreg_attack_create(estimator, &a, why, &attack);
}

int others_print(void)
{
    certreg_error why = {.struct_size = sizeof why};
    if (open_handles(&why)) return fprintf(stderr, "%s\n", why.text), 1;
    printf("# what is no certificate\n");
    int wrong = print_certificates() || print_record() || print_forecast(0) ||
                print_forecast(200) || print_deadline(-1) || print_deadline(1e6);
    for (int32_t statistic = 0; !wrong && statistic <= CERTREG_STATISTIC_MEAN; statistic++)
        wrong = print_attack(statistic);
    wrong = wrong || print_intervals(CERTREG_SCORE_NORM, 2) ||
            print_intervals(CERTREG_SCORE_LARGEST, 2);
    wrong = wrong || print_served_pairs(CERTREG_STATISTIC_MEDIAN) ||
            print_served_pairs(CERTREG_STATISTIC_HUBER) || print_server() || print_default_pilot();
    certreg_attack_destroy(attack);
    certreg_estimator_destroy(estimator);
    return wrong;
}
