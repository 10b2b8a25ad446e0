#include "golden/recent.h"
#include "support/structs.h"
#include <certreg/queue.h>
#include <certreg/sampling.h>
#include <certreg/service.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS = 6, TICKS = 3, SENSORS = INPUTS / TICKS, BATCH = 40, SAMPLES = 400, COUNT = 2 };
static const float input[INPUTS] = {0.3f, -0.2f, 0.1f, 0.7f, -0.5f, 0}, none[INPUTS];
static const double sigma = 0.5;
static float low_precision; /* outputs of small calls differ by this */

static int evaluate(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        float sum = b->rows < BATCH ? low_precision : 0;
        for (size_t j = 0; j < INPUTS; j++) {
            const float x = b->x[i * INPUTS + j], part = isnan(x) ? 0 : 0.25f * x;
            sum += part;
        }
        b->y[i] = sum;
    }
    return 0;
}

static certreg_model model(void)
{
    return MODEL(.eval = evaluate, .inputs = INPUTS, .outputs = 1, .batch = BATCH);
}

static certreg_plan plan(uint32_t flags)
{
    return PLAN(.seed = 3, .max_samples = SAMPLES, .pilot = 60, .flags = flags);
}

/* ---- rows */
static void number(double x)
{
    printf(" %.17g", x);
}

static void print_certificate(const char *group, const certreg_certificate *c)
{
    printf("%s %d %d %d reason %d side %d by %u", group, c->status, c->outcome, c->stop, c->reason,
           c->limiting_side, c->constraints);
    const double numbers[] = {c->radius,        c->prediction,         c->share_out,
                              c->share_allowed, c->audit_change,       c->audit_band,
                              c->audit_share,   c->counted_required,   c->output_lo,
                              c->output_hi,     c->served_failure_rate};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) number(numbers[i]);
    const uint64_t counts[] = {c->samples,     c->samples_needed, c->audited,       c->counted,
                               c->counted_out, c->faults,         c->served_samples};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        printf(" %llu", (unsigned long long)counts[i]);
    for (size_t k = 0; k < sizeof c->fault_radius / sizeof *c->fault_radius; k++)
        number(c->fault_radius[k]);
    printf("\n");
}

static certreg_estimator *opened(const certreg_model *m, const certreg_plan *p, const float *z)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    if (certreg_estimator_create(NULL, m, p, &why, &e)) fprintf(stderr, "%s\n", why.text);
    else if (certreg_estimator_begin(e, z, sigma, 1))
        fprintf(stderr, "%s\n", certreg_estimator_error(e)->text);
    return e;
}

static certreg_certificate asked(certreg_estimator *e, const char *group, certreg_question q)
{
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_certify(e, SAMPLES, &q, 1, &c);
    print_certificate(group, &c);
    return c;
}

/* ---- wrong features, and why nothing is proved */
static const certreg_serving serving = {
    .struct_size = sizeof serving, .samples = 51, .failure_rate = 0.05};

static void print_faults(void)
{
    const certreg_masks masks = {
        .struct_size = sizeof masks, .marker = NAN, .units = INPUTS, .shown = 2};
    certreg_model m = model();
    m.masks = &masks;
    const certreg_plan p = plan(0);
    certreg_estimator *e = opened(&m, &p, input);
    const certreg_certificate c = asked(e, "masks", QUESTION(.tolerance = 2));
    asked(e, "masks", QUESTION(.tolerance = 2, .faults = 1));
    asked(e, "masks", QUESTION(.tolerance = 2, .serving = &serving));
    asked(e, "masks", QUESTION(.tolerance = 2, .method = CERTREG_METHOD_ANYTIME));
    asked(e, "masks", QUESTION(.tolerance = 0.045));
    printf("level"), number(certreg_count_level(c.counted, c.counted_required, 0.2, 150));
    printf("\n");
    const certreg_question q = QUESTION(.tolerance = 0.2);
    certreg_certificate all = {.struct_size = sizeof all};
    certreg_certify_masks(e, input, &q, &all);
    print_certificate("all masks", &all);
    certreg_estimator_destroy(e);
}

/* ---- targets, the audit, and rounded outputs */
static void print_runs(void)
{
    const certreg_target target = {.struct_size = sizeof target, .radius = 0.1, .growth = 1.5};
    const certreg_model m = model();
    certreg_plan p = plan(0);
    certreg_estimator *e = opened(&m, &p, input);
    asked(e, "growth", QUESTION(.tolerance = 0.8, .target = &target));
    certreg_estimator_destroy(e);
    p.audit = CERTREG_AUDIT_DEFAULT;
    for (int i = 0; i < 2; i++) {
        low_precision = i ? 1e-3f : 0;
        e = opened(&m, &p, input);
        asked(e, "audit", QUESTION(.tolerance = 0.8));
        certreg_estimator_destroy(e);
    }
    low_precision = 0;
    p = plan(CERTREG_PLAN_ROUNDED);
    e = opened(&m, &p, input);
    const certreg_question q = QUESTION(.tolerance = 0.8);
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_output_bounds(e, SAMPLES, &q, 1, 0.1, &c);
    print_certificate("rounded", &c);
    certreg_estimator_destroy(e);
}

/* An audit by the caller's loop. */
static int print_own_audit(void)
{
    static float x[SAMPLES * INPUTS], y[SAMPLES];
    certreg_model m = model();
    certreg_plan p = plan(0);
    size_t rows;
    m.eval = NULL, p.audit = CERTREG_AUDIT_DEFAULT;
    certreg_estimator *e = opened(&m, &p, input);
    certreg_batch b = {.struct_size = sizeof b, .rows = SAMPLES, .x = x, .y = y};
    certreg_status status = certreg_estimator_draw(e, 0, SAMPLES, x);
    evaluate(NULL, &b);
    status = status ? status : certreg_estimator_record(e, 0, SAMPLES, y);
    printf("own audit");
    while (!status && !(status = certreg_audit_next(e, x, &rows)) && rows) {
        printf(" %d", (int)rows);
        b.rows = rows;
        evaluate(NULL, &b);
        status = certreg_audit_give(e, y);
    }
    printf("\n");
    const certreg_question q = QUESTION(.tolerance = 0.8);
    certreg_certificate c = {.struct_size = sizeof c};
    if (!status) status = certreg_certify(e, 0, &q, 1, &c);
    print_certificate("own audit", &c);
    certreg_estimator_destroy(e);
    return status != CERTREG_OK;
}

/* ---- a queue: an input alone, and one with alternatives */
static int print_results(certreg_queue *queue)
{
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_alternative_result each[COUNT + 1] = {{.struct_size = sizeof *each}};
    certreg_queue_result r = {.struct_size = sizeof r,
                              .room = 1,
                              .certificates = &c,
                              .alternative_room = COUNT + 1,
                              .alternatives = each};
    certreg_status status = certreg_queue_run(queue);
    while (!status && !(status = certreg_queue_take(queue, &r)) && r.state) {
        printf("result %d proved %d", (int)r.tag, (int)r.proved);
        for (size_t i = 0; i < r.alternative_count; i++) {
            printf(" | %d %d", each[i].state, (int)each[i].samples);
            number(each[i].estimate);
        }
        printf("\n");
        print_certificate("queue", &c);
        status = certreg_queue_run(queue);
    }
    return status != CERTREG_OK;
}

static int print_queue(void)
{
    static const float changed[COUNT * INPUTS] = {0.3f, 0, 0.1f, 0.7f, -0.5f, 0,
                                                  0,    0, 0.1f, 0.7f, -0.5f, 0};
    const certreg_alternatives set = {.struct_size = sizeof set,
                                      .count = COUNT,
                                      .z = changed,
                                      .margins = (const double[]){0, 0.05},
                                      .first_noise_id = 100,
                                      .watch = 1};
    const certreg_queue_plan q = {
        .struct_size = sizeof q, .capacity = 4, .sets = 1, .alternatives = COUNT};
    const certreg_question question = QUESTION(.tolerance = 0.8);
    const certreg_model m = model();
    const certreg_plan p = plan(0);
    certreg_queue *queue;
    int32_t full;
    int wrong = certreg_queue_create(NULL, &m, &p, &q, NULL, &queue);
    for (uint64_t tag = 0; tag < 2 && !wrong; tag++) {
        const certreg_queue_input in = {.struct_size = sizeof in,
                                        .tag = tag,
                                        .z = input,
                                        .sigma = sigma,
                                        .noise_id = tag,
                                        .questions = &question,
                                        .count = 1,
                                        .alternatives = tag ? &set : NULL};
        wrong = certreg_queue_add(queue, &in, &full);
    }
    wrong = wrong || print_results(queue);
    certreg_queue_destroy(queue);
    return wrong;
}

/* ---- services: of served values, and of an episode */
static int print_act(void)
{
    const certreg_service_plan served = {.struct_size = sizeof served};
    const certreg_question q = QUESTION(.tolerance = 0.8, .serving = &serving);
    const certreg_model m = model();
    const certreg_plan p = plan(0);
    certreg_tick tick = {.struct_size = sizeof tick};
    certreg_service *s;
    double action = NAN;
    certreg_estimator *e = opened(&m, &p, input);
    const certreg_certificate c = asked(e, "served", q);
    float reading[INPUTS];
    memcpy(reading, input, sizeof reading);
    reading[0] += 0.0625f;
    const int wrong = certreg_service_create(e, &q, &c, &served, NULL, &s) ||
                      certreg_service_start(s, 9) ||
                      certreg_service_act(s, reading, &action, &tick);
    printf("act %d", tick.source), number(action), number(tick.left);
    printf("\n");
    certreg_service_destroy(s);
    certreg_estimator_destroy(e);
    return wrong;
}

static int print_episode(void)
{
    const certreg_service_plan loop = {.struct_size = sizeof loop, .ticks = TICKS};
    const certreg_question q = QUESTION(.tolerance = 0.8);
    const certreg_model m = model();
    const certreg_plan p = plan(CERTREG_PLAN_EPISODE);
    certreg_certificate left = {.struct_size = sizeof left};
    certreg_service *s;
    float noisy[SENSORS];
    certreg_estimator *e = opened(&m, &p, none);
    const certreg_certificate c = asked(e, "episode", q);
    int wrong = certreg_service_create(e, &q, &c, &loop, NULL, &s) || certreg_service_start(s, 9) ||
                certreg_service_certificate(s, &left);
    print_certificate("episode", &left);
    printf("sense");
    for (int i = 0; i < TICKS && !wrong; i++) {
        wrong = certreg_service_sense(s, input, noisy, NULL);
        for (size_t j = 0; j < SENSORS; j++) number((double)noisy[j]);
    }
    certreg_episode_sense(sigma, NULL, SENSORS, 1, input + SENSORS, 0, input, noisy);
    for (size_t j = 0; j < SENSORS; j++) number((double)noisy[j]);
    printf("\n");
    certreg_service_destroy(s);
    certreg_estimator_destroy(e);
    return wrong;
}

int recent_print(void)
{
    printf("# what came with 0.3\n");
    print_faults();
    print_runs();
    return print_own_audit() || print_queue() || print_act() || print_episode();
}
