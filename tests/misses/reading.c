#include "misses/reading.h"
#include "misses/climb.h"
#include "support/bits.h"
#include "support/cells.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_INPUTS = 1 << 15, CELLS_SAMPLES = 60, CELLS_RUNS = 100, MOST_ASKED = 2 * CELLS_MOST };
enum use { FRESH, CONFIRM }; /* runs never share a noise id */

typedef struct way {
    const char *name;
    int32_t statistic, method;
    double alpha;
} way;
/* Asked of models that read bits, and of models that count. */
static const way ways[] = {
    {"finite median", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0.05},
    {"anytime median", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ANYTIME, 0.05},
    {"Huber", CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0.05},
    {"baseline median", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_BASELINE, 0.05}};
static const way counting[] = {
    {"finite median", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0.05},
    {"finite median", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 1e-3},
    {"anytime median", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ANYTIME, 0.2},
    {"baseline median", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_BASELINE, 0.1}};

typedef struct attacker {
    const way *way;
    certreg_estimator *estimator;
    const float *z;
    double sigma;
    size_t samples, questions;
    certreg_question question[MOST_ASKED];
    certreg_certificate said[MOST_ASKED];
    evidence missed[MOST_ASKED];
    uint64_t silent;
} attacker;

static void check(const attacker *a, certreg_status status, const char *call)
{
    if (status == CERTREG_OK) return;
    printf("not ok %s: %s\n", call, certreg_estimator_error(a->estimator)->text);
    exit(2);
}

static void open(attacker *a, const certreg_model *m, size_t pilot)
{
    const certreg_plan p = {
        .struct_size = sizeof p, .seed = 20, .max_samples = a->samples, .pilot = pilot};
    certreg_error why = {.struct_size = sizeof why};
    if (certreg_estimator_create(NULL, m, &p, &why, &a->estimator) != CERTREG_OK) {
        printf("not ok create: %s\n", why.text);
        exit(2);
    }
    a->questions = m->outputs;
    for (size_t k = 0; k < m->outputs; k++) {
        a->said[k].struct_size = sizeof *a->said;
        a->question[k] = (certreg_question){.struct_size = sizeof *a->question,
                                            .output = (int32_t)k,
                                            .tolerance = 1,
                                            .alpha = a->way->alpha,
                                            .statistic = a->way->statistic,
                                            .method = a->way->method};
        if (a->way->statistic == CERTREG_STATISTIC_HUBER) a->question[k].huber_width = 1;
    }
}

static void run(attacker *a, enum use use, uint64_t runs)
{
    for (size_t k = 0; k < a->questions; k++) a->missed[k] = evidence_of(a->way->alpha, 0);
    a->silent = 0;
    for (uint64_t i = 0; i < runs; i++) {
        int claims = 0;
        check(a, certreg_estimator_begin(a->estimator, a->z, a->sigma, ((uint64_t)use << 34) + i),
              "begin");
        check(a, certreg_certify(a->estimator, a->samples, a->question, a->questions, a->said),
              "certify");
        for (size_t k = 0; k < a->questions; k++) {
            const certreg_certificate *c = a->said + k;
            evidence_add(a->missed + k, c->radius > 0 && !(c->output_lo < 10 && 10 < c->output_hi));
            claims |= c->radius > 0;
        }
        a->silent += !claims;
    }
}

/* The model that missed most often. As the worst of several it has a p-value that is multiplied by
 * their number. */
static size_t worst(const attacker *a)
{
    size_t at = 0;
    for (size_t k = 1; k < a->questions; k++)
        if (a->missed[k].misses > a->missed[at].misses) at = k;
    return at;
}

static void judge(attacker *a, uint64_t runs, reading *out)
{
    run(a, FRESH, runs);
    const size_t at = worst(a);
    out->fresh = a->missed[at], out->confirmed = 1;
    out->silent = (double)a->silent / (double)runs;
    out->certificates = runs * a->questions;
    out->p_value = fmin(1, (double)a->questions * evidence_p_value(a->missed + at));
    if (out->p_value >= climb_suspicious) return;
    run(a, CONFIRM, 10 * runs);
    out->confirmed = evidence_p_value(a->missed + at);
    out->certificates += 10 * runs * a->questions;
    out->excess = out->confirmed < climb_confirmed;
}

static void attack_bits(attacker *a, const bits_case *c, reading *out)
{
    bits_model model = {.is = c};
    bits_make(c, &model.input);
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = bits_evaluate,
                             .user = &model,
                             .inputs = c->inputs,
                             .outputs = 1,
                             .batch = 10,
                             .scale = model.input.scale};
    a->z = model.input.z, a->sigma = c->sigma, a->samples = c->samples;
    open(a, &m, 0);
    judge(a, c->inputs > 10000 ? 10 : 60, out);
    certreg_estimator_destroy(a->estimator);
    bits_free(&model.input);
    snprintf(out->name, sizeof out->name, "bits, %s: %s", c->name, a->way->name);
}

static void attack_cells(attacker *a, reading *out)
{
    static const double found;
    static cells_models models;
    cells_make(&models, CELLS_INPUTS);
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = cells_evaluate,
                             .user = &models,
                             .inputs = CELLS_INPUTS,
                             .outputs = models.outputs,
                             .batch = 4,
                             .scale = models.scale};
    a->z = models.z, a->sigma = 1, a->samples = CELLS_SAMPLES;
    open(a, &m, SIZE_MAX);
    for (size_t k = 0; k < a->questions; k++) a->question[k].prediction = &found;
    judge(a, CELLS_RUNS, out);
    certreg_estimator_destroy(a->estimator);
    const cells_statistic *s = models.statistic + worst(a) / 2;
    snprintf(out->name, sizeof out->name, "bits, counts of cells: %s", a->way->name);
    snprintf(out->worst, sizeof out->worst, "%s %zu", s->name, s->lag);
    cells_free(&models);
}

int reading_count(void)
{
    return bits_case_count + (int)(sizeof counting / sizeof *counting);
}

void reading_attack(int index, reading *out)
{
    static attacker a;
    memset(out, 0, sizeof *out), memset(&a, 0, sizeof a);
    a.way = index < bits_case_count ? ways + (size_t)index % (sizeof ways / sizeof *ways)
                                    : counting + (index - bits_case_count);
    out->alpha = a.way->alpha;
    if (index < bits_case_count) attack_bits(&a, bits_cases + index, out);
    else attack_cells(&a, out);
}
