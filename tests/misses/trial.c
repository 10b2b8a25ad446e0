#include "misses/trial.h"
#include "statistics/normal.h"
#include "support/structs.h"
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float origin[MOST_PARTS];

static void check(const trial *t, certreg_status status, const char *call)
{
    if (status == CERTREG_OK) return;
    printf("not ok %s: %s\n    misses --setting %llu: %s\n", call,
           certreg_estimator_error(t->estimator)->text, (unsigned long long)t->setting.seed,
           t->setting.name);
    exit(2);
}

/* ---- outputs */
static void write_value(const setting *s, const float *value, float *y)
{
    for (size_t k = 0; k < s->outputs; k++)
        if (s->kind[k] == CERTREG_OUTPUT_ANGLE_PAIR) {
            const double x = (double)value[k] / 57.29577951308232;
            *y++ = (float)(3 * cos(x)), *y++ = (float)(3 * sin(x));
        } else *y++ = value[k];
}

static int cell_of(const double *end, int cells, double u)
{
    int k = 0;
    while (k + 1 < cells && u >= end[k]) k++;
    return k;
}

/* In the pilot too, with the pilot's own shares: sample 0 is the noise-free output. */
static const float *value_of(const trial *t, uint64_t sample, double u, int cell)
{
    const law *l = &t->law;
    if (sample < t->first_main && sample == 0) return l->noise_free;
    if (sample < t->first_main && l->has_pilot) return l->value[cell_of(t->pilot_end, l->cells, u)];
    return l->value[cell];
}

static int evaluate(void *user, const certreg_batch *b)
{
    const trial *t = user;
    const size_t columns = t->setting.columns;
    for (size_t i = 0; i < b->rows; i++) {
        float *y = b->y + i * columns;
        const uint64_t sample = b->first + i;
        const double x = (double)b->x[i * b->inputs];
        if (t->setting.real_noise)
            write_value(&t->setting, value_of(t, sample, cr_normal_cdf(x), law_cell(&t->law, x)),
                        y);
        else if (sample < t->setting.samples)
            memcpy(y, t->y + sample * columns, columns * sizeof *y);
        else write_value(&t->setting, t->law.value[0], y);
    }
    return 0;
}

void trial_open(trial *t, const setting *s)
{
    const setting copy = *s;
    memset(t, 0, sizeof *t);
    t->setting = copy, t->target = 1;
    const certreg_model m = MODEL(.eval = evaluate, .user = t, .inputs = copy.inputs,
                                  .outputs = copy.outputs, .batch = 16, .kind = copy.kind,
                                  .lo = copy.lo, .hi = copy.hi);
    const certreg_plan p = PLAN(.constraints = copy.constraints, .seed = copy.seed,
                                .max_samples = copy.samples, .pilot = copy.pilot,
                                .flags = copy.flags);
    certreg_error why = {.struct_size = sizeof why};
    if (certreg_estimator_create(NULL, &m, &p, &why, &t->estimator)) {
        printf("not ok create: %s\n    misses --setting %llu: %s\n", why.text,
               (unsigned long long)copy.seed, copy.name);
        exit(2);
    }
}

void trial_close(trial *t)
{
    certreg_estimator_destroy(t->estimator);
}

/* A sample in a tilted cell counts by its likelihood ratio. The tilt makes them as few as a record
 * has with probability alpha, or so. */
static void tilt(trial *t, double *share)
{
    const law *l = &t->law;
    double p = 0;
    for (int k = 0; k < l->cells; k++) t->log_ratio[k] = 0;
    for (int k = 0; k < l->cells; k++)
        if (l->tilted >> k & 1) p += share[k];
    if (!t->setting.tilted || !(p > 1e-9 && p < 1 - 1e-9)) return;
    const double n = (double)(t->setting.samples - t->first_main),
                 root = asin(sqrt(p)) - cr_normal_quantile_sf(t->setting.alpha) / (2 * sqrt(n)),
                 few = fmax(root > 0 ? sin(root) * sin(root) : 0, fmin(0.3 / n, 0.5 * p));
    for (int k = 0; k < l->cells; k++) {
        const double ratio = l->tilted >> k & 1 ? few / p : (1 - few) / (1 - p);
        share[k] *= ratio, t->log_ratio[k] = -log(ratio);
    }
}

static void add_up(const double *share, int cells, double *end)
{
    double sum = 0;
    for (int k = 0; k < cells; k++) end[k] = sum += share[k];
}

static void given_claims(const trial *t, claim *said)
{
    for (int i = 0; i < t->setting.parts; i++) {
        const part *p = t->setting.part + i;
        const double tolerance = setting_tolerance(&t->setting, p);
        said[i] = (claim){.low = tolerance, .high = tolerance};
        memcpy(said[i].center, p->prediction, sizeof said[i].center);
        said[i].closed = setting_row(&p->question)->score == CR_SCORE_BALL;
    }
}

void trial_set_law(trial *t, const law *l)
{
    double share[MOST_POINTS];
    claim said[MOST_PARTS];
    setting *s = &t->setting;
    t->law = *l;
    memset(t->known, -1, sizeof t->known);
    check(t, certreg_estimator_begin(t->estimator, origin, 1, 0), "begin");
    if (s->pilot != SIZE_MAX && t->first_main == 0) { /* asked of the library */
        certreg_run run = {.struct_size = sizeof run};
        write_value(s, l->noise_free, t->y);
        check(t, certreg_estimator_record(t->estimator, 0, 1, t->y), "record");
        check(t, certreg_estimator_info(t->estimator, &run), "run");
        t->first_main = run.pilot;
    }
    law_shares(l, 1, 0, share);
    tilt(t, share);
    add_up(share, l->cells, t->end), add_up(l->pilot_share, l->cells, t->pilot_end);
    given_claims(t, said);
    t->truth = s->asked == ASKED_BOUNDS ? INFINITY : promise_true_radius(s, l, 1, said);
    t->target = s->target_part > 0 && t->truth > 0 && t->truth < 10
                    ? t->truth / s->target_part * (1 + 2e-6)
                    : 1;
    if (t->target > 9) t->target = 9;
}

/* ---- claims */
static claim claim_of(const trial *t, const part *p, const certreg_question *q,
                      const certreg_certificate *c)
{
    const double tolerance = q->relative_tolerance > 0 ? c->tolerance : q->tolerance;
    claim said = {.radius = c->radius, .low = tolerance, .high = tolerance};
    said.closed = setting_row(q)->score == CR_SCORE_BALL;
    if (c->outcome == CERTREG_OUTCOME_ABSTAINED) said.radius = 0;
    if (said.radius == 0 || q->center == CERTREG_CENTER_TRUE_MEAN) return said;
    if (p->given) memcpy(said.center, p->prediction, sizeof said.center);
    else if (p->outputs == 1) said.center[0] = c->prediction;
    else check(t, certreg_estimator_prediction(t->estimator, q, said.center), "prediction");
    if (t->setting.asked == ASKED_BOUNDS) {
        const double middle = t->setting.menu.turn > 0 ? 0.5 * (c->output_lo + c->output_hi) : 0;
        said.radius = isinf(c->output_lo) && isinf(c->output_hi) ? 0 : t->setting.bounds_radius;
        said.center[0] = isfinite(middle) ? middle : 0, said.closed = 1;
        said.low = said.center[0] - c->output_lo, said.high = c->output_hi - said.center[0];
    }
    return said;
}

/* Into said[level*parts + part]. */
static void ask(trial *t, uint64_t id, claim *said)
{
    setting *s = &t->setting;
    certreg_question q[MOST_PARTS];
    certreg_certificate c[MOST_PARTS * MOST_LEVELS] = {{.struct_size = sizeof *c}},
                                       together = {.struct_size = sizeof together};
    const size_t parts = (size_t)s->parts, total = s->samples;
    for (int i = 0; i < s->parts; i++) q[i] = setting_question(s, i, t->target);
    if (s->asked == ASKED_LEVELS)
        check(t,
              certreg_certify_sigmas(t->estimator, origin, s->sigma, (size_t)s->levels, id, total,
                                     q, parts, c),
              "certify_sigmas");
    else if (s->asked == ASKED_TOGETHER)
        check(t, certreg_certify_outputs(t->estimator, total, q, parts, c, &together),
              "certify_outputs");
    else if (s->asked == ASKED_BOUNDS)
        check(t, certreg_output_bounds(t->estimator, total, q, parts, s->bounds_radius, c),
              "output_bounds");
    else check(t, certreg_certify(t->estimator, total, q, parts, c), "certify");
    for (int i = 0; i < s->levels * s->parts; i++) {
        said[i] = claim_of(t, s->part + i % s->parts, q + i % s->parts, c + i);
        if (s->asked == ASKED_TOGETHER) said[i].radius = together.radius;
    }
    t->side = c[0].limiting_side;
    t->certificates += (uint64_t)(s->levels * s->parts);
}

int trial_is_missed(const trial *t, const law *l, const claim *said)
{
    const setting *s = &t->setting;
    if (s->asked == ASKED_TOGETHER) return promise_is_broken_together(s, l, 1, said);
    for (int level = 0; level < s->levels; level++)
        for (int i = 0; i < s->parts; i++)
            if (promise_is_broken(s, s->part + i, l, s->sigma[level], said + level * s->parts + i))
                return 1;
    return 0;
}

/* Claims come again where counts decide. */
static int is_missed(trial *t, const claim *said)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const unsigned char *bytes = (const unsigned char *)said;
    const size_t count = (size_t)(t->setting.levels * t->setting.parts) * sizeof *said;
    for (size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    const size_t at = (hash ^ hash >> 32) % REMEMBERED;
    if (t->known[at] < 0 || t->missed_hashes[at] != hash) {
        t->missed_hashes[at] = hash;
        t->known[at] = (signed char)trial_is_missed(t, &t->law, said);
    }
    return t->known[at];
}

/* ---- a run */
/* Returns the logarithm of the likelihood ratio. */
static double make_up(trial *t, uint64_t id)
{
    simulate_source source;
    double log_weight = 0;
    const setting *s = &t->setting;
    simulate_seed(&source, s->seed * UINT64_C(0x9e3779b97f4a7c15) + id);
    for (size_t i = 0; i < s->samples; i++) {
        const double u = simulate_uniform(&source);
        const int cell = cell_of(t->end, t->law.cells, u);
        write_value(s, value_of(t, i, u, cell), t->y + i * s->columns);
        if (i >= t->first_main) log_weight += t->log_ratio[cell];
    }
    return log_weight;
}

double trial_run(trial *t, uint64_t id)
{
    claim said[MOST_PARTS * MOST_LEVELS];
    const setting *s = &t->setting;
    double log_weight = 0;
    memset(said, 0, sizeof said);
    if (s->asked != ASKED_LEVELS)
        check(t, certreg_estimator_begin(t->estimator, origin, 1, id), "begin");
    if (!s->real_noise) {
        log_weight = make_up(t, id);
        if (s->target_part == 0 || s->seed % 2)
            check(t, certreg_estimator_record(t->estimator, 0, s->samples, t->y), "record");
    }
    ask(t, id, said);
    t->radius = INFINITY, t->most = 0;
    for (int i = 0; i < s->levels * s->parts; i++)
        t->radius = fmin(t->radius, said[i].radius), t->most = fmax(t->most, said[i].radius);
    return is_missed(t, said) ? exp(log_weight) : 0;
}

void trial_claims_of_counts(trial *t, const int *count, claim *said)
{
    float *y = t->y;
    check(t, certreg_estimator_begin(t->estimator, origin, 1, 0), "begin");
    for (int k = 0; k < t->law.cells; k++)
        for (int i = 0; i < count[k]; i++, y += t->setting.columns)
            write_value(&t->setting, t->law.value[k], y);
    check(t, certreg_estimator_record(t->estimator, 0, t->setting.samples, t->y), "record");
    ask(t, 0, said);
}
