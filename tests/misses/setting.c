#include "misses/setting.h"
#include <certreg/question.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int dice(simulate_source *s, int sides)
{
    return (int)(sides * simulate_uniform(s));
}

static int chance(simulate_source *s, double share)
{
    return simulate_uniform(s) < share;
}

static double between(simulate_source *s, double lo, double hi)
{
    return lo + (hi - lo) * simulate_uniform(s);
}

#define ONE_OF(s, ...) \
    ((const double[]){__VA_ARGS__})[dice(s, (int)(sizeof(double[]){__VA_ARGS__} / sizeof(double)))]

/* ---- rows */
const cr_statistic *setting_row(const certreg_question *q)
{
    return cr_statistic_of(q->statistic);
}

int setting_supports(const certreg_question *q, uint32_t capability)
{
    return (setting_row(q)->row.supports & capability) != 0;
}

int setting_counts(const certreg_question *q)
{
    return cr_score_traits_of(setting_row(q)->score).two_valued;
}

static int is_median(const certreg_question *q) /* of what has an order */
{
    return setting_row(q)->bounds == CR_BOUNDS_BY_ORDER;
}

/* ---- what is asked */
static int32_t any_statistic(simulate_source *s)
{
    static const int weights[CR_STATISTIC_COUNT] = {5, 2, 3, 2}; /* by number; 0: 1 */
    int all = 0;
    for (int k = 0; k < CR_STATISTIC_COUNT; k++) all += weights[k] ? weights[k] : 1;
    int32_t one = 0;
    for (int left = dice(s, all); (left -= weights[one] ? weights[one] : 1) >= 0;) one++;
    return one;
}

static int32_t any_method(simulate_source *s, const cr_statistic *of)
{
    const int published = (of->methods & CR_ONE_OF(CERTREG_METHOD_BASELINE)) != 0,
              proven = (of->methods & CR_ONE_OF(CERTREG_METHOD_FINITE)) != 0;
    if (published && (!proven || chance(s, 0.15))) return CERTREG_METHOD_BASELINE;
    return chance(s, 0.3) ? CERTREG_METHOD_ANYTIME : CERTREG_METHOD_FINITE;
}

/* How it is asked, and about how many outputs. */
static void draw_shape(simulate_source *s, const certreg_question *q, setting *out)
{
    const int baseline = q->method == CERTREG_METHOD_BASELINE;
    const int vector = !setting_supports(q, CR_SUPPORTS_NUMBER | CR_SUPPORTS_ANGLE);
    out->parts = out->levels = 1, out->outputs = 1, out->asked = ASKED_ALONE;
    if (vector) out->outputs = 2 + (size_t)dice(s, 2);
    else if (chance(s, 0.25)) {
        out->asked = chance(s, 0.5) ? ASKED_TOGETHER : ASKED_BONFERRONI;
        out->parts = 2 + dice(s, 2), out->outputs = (size_t)out->parts;
    } else if (chance(s, 0.15) && !baseline && setting_supports(q, CR_SUPPORTS_OUTPUT_BOUNDS))
        out->asked = ASKED_BOUNDS;
    else if (chance(s, 0.1)) out->asked = ASKED_LEVELS, out->levels = MOST_LEVELS;
    else if (chance(s, 0.2) && !baseline && setting_supports(q, CR_SUPPORTS_VECTOR))
        out->outputs = 2 + (size_t)dice(s, 2);
    for (int i = 0; i < out->parts; i++) {
        out->part[i].first = (size_t)i;
        out->part[i].outputs = out->parts > 1 ? 1 : out->outputs;
    }
    out->real_noise = out->asked == ASKED_LEVELS;
    out->bounds_radius = out->asked == ASKED_BOUNDS ? between(s, 0.1, 1.5) : 0;
}

/* Kinds of outputs and their ranges; what laws may use of them. */
static void draw_outputs(simulate_source *s, const certreg_question *q, setting *out)
{
    menu *m = &out->menu;
    const cr_statistic *row = setting_row(q);
    const cr_score_traits score = cr_score_traits_of(row->score);
    const int may_turn = out->part[0].outputs == 1 && setting_supports(q, CR_SUPPORTS_ANGLE) &&
                         row->angle != CR_ANGLE_AS_NUMBER,
              angle = may_turn && (!setting_supports(q, CR_SUPPORTS_NUMBER) || chance(s, 0.35)),
              pair = angle && chance(s, 0.3);
    const int ranged = !score.bounded || (!angle && out->parts == 1 && chance(s, 0.15));
    *m = (menu){.outputs = (int)out->outputs, .lo = -INFINITY, .hi = INFINITY};
    m->tolerance = angle ? ONE_OF(s, 5, 20, 45, 80, 120) : ONE_OF(s, 1, 1, 0.25, 8);
    if (row->angle == CR_ANGLE_CIRCULAR) m->tolerance = fmin(m->tolerance, 80);
    if (angle) m->turn = 360;
    m->center[0] = m->center[1] = m->center[2] = angle ? ONE_OF(s, 0, 0, 100, -170)
                                                       : m->tolerance * ONE_OF(s, 0, 0, 0.5);
    m->exact = !pair;
    m->ball = row->score == CR_SCORE_BALL;
    if (ranged) {
        m->lo = m->center[0] - m->tolerance * ONE_OF(s, 1.5, 1.5, 3, 3, 10, 40);
        m->hi = m->center[0] + m->tolerance * ONE_OF(s, 1.5, 1.5, 3, 3, 10, 40);
    }
    for (size_t k = 0; k < MOST_OUTPUTS; k++) {
        out->kind[k] = pair    ? CERTREG_OUTPUT_ANGLE_PAIR
                       : angle ? CERTREG_OUTPUT_ANGLE
                               : CERTREG_OUTPUT_REAL;
        out->lo[k] = angle ? -180 : m->lo, out->hi[k] = angle ? 180 : m->hi;
    }
    out->columns = out->outputs * (pair ? 2 : 1);
    m->failures = !angle && chance(s, 0.2) && score.bounded && score.sides;
    out->flags = m->failures ? CERTREG_PLAN_COUNT_FAILURES : 0;
    m->worst_functions = !angle && out->outputs == 1 && !setting_counts(q);
    m->most_cells = MOST_POINTS;
}

/* ---- options of the question */
static void draw_serving(simulate_source *s, certreg_question *q, setting *out)
{
    const int trimmed = setting_supports(q, CR_SUPPORTS_TRIM);
    const uint32_t needed = q->method == CERTREG_METHOD_BASELINE ? CR_SUPPORTS_PUBLISHED_SERVING
                                                                 : CR_SUPPORTS_SERVING;
    if (!trimmed && (out->asked == ASKED_LEVELS || q->center == CERTREG_CENTER_TRUE_MEAN ||
                     !setting_supports(q, needed) || !chance(s, 0.25)))
        return;
    certreg_serving v = {.struct_size = sizeof v};
    v.samples = (size_t)ONE_OF(s, 1, 2, 3, 5, 9, 15, 21, 51);
    v.pairs = chance(s, 0.3);
    if (v.pairs) v.samples = (size_t)ONE_OF(s, 11, 12, 20, 21, 51, 101);
    /* So rare that it can be certified, with so many samples. */
    v.failure_rate = (v.samples <= 5    ? ONE_OF(s, 0.5, 0.3)
                      : v.samples <= 15 ? ONE_OF(s, 0.3, 0.1)
                                        : ONE_OF(s, 0.1, 0.02)) /
                     out->parts;
    if (trimmed) {
        v.trim = v.pairs ? 0.35 : ONE_OF(s, 0, 0, 0.1, 0.35);
        if (chance(s, 0.4) && (out->menu.turn > 0 || isfinite(out->menu.lo)))
            v.core = 0.5 * out->menu.tolerance;
    }
    out->menu.most_cells = v.samples > 21 ? 2 : v.samples > 9 ? 3 : v.samples > 3 ? 4 : 7;
    out->menu.even = v.samples > 5 && chance(s, 0.5);
    if (v.pairs) out->menu.most_cells = 4, out->menu.even = v.samples > 21 ? 2 : 1;
    out->menu.divided = 1;
    if (out->menu.failures && v.samples > 21) v.samples = 21;
    for (int i = 0; i < out->parts; i++) out->part[i].serving = v;
}

static void draw_constraints(simulate_source *s, certreg_question *q, setting *out)
{
    out->constraints = CERTREG_CONSTRAINTS_ECM;
    if (q->method != CERTREG_METHOD_FINITE || out->asked == ASKED_BOUNDS) return;
    if (!cr_score_traits_of(setting_row(q)->score).bounded && chance(s, 0.2))
        q->constraints = CERTREG_CONSTRAINTS_C;
    if (out->target_part > 0 || out->part[0].outputs > 1 || out->menu.even || !chance(s, 0.15))
        return;
    out->constraints = CERTREG_CONSTRAINTS_ECGM, out->real_noise = 1;
    q->constraints = q->constraints ? CERTREG_CONSTRAINTS_CG : CERTREG_CONSTRAINTS_ECGM;
}

static void draw_target(simulate_source *s, const certreg_question *q, setting *out)
{
    const int may =
        q->method == CERTREG_METHOD_ANYTIME ||
        (q->method == CERTREG_METHOD_FINITE && setting_supports(q, CR_SUPPORTS_GROUP_TEST));
    if (may && setting_supports(q, CR_SUPPORTS_TARGET) && out->asked != ASKED_BOUNDS &&
        out->asked != ASKED_LEVELS && chance(s, 0.4))
        out->target_part = ONE_OF(s, 1, 1, 0.8, 0.6, 0.2);
}

/* ---- numbers */
static int has_law_place(const setting *s)
{
    return s->seed % 18 == 16;
}

/* No alpha is so small that hardly anything could be certified. */
static double any_alpha(simulate_source *s, const setting *out, int score)
{
    const double most = (score ? 0.04 : 0.15) * (double)out->samples;
    for (;;) {
        const double alpha = out->real_noise
                                 ? ONE_OF(s, 0.2, 0.1, 0.05)
                                 : ONE_OF(s, 0.2, 0.1, 0.05, 0.05, 0.01, 1e-3, 1e-4, 1e-6);
        if (alpha == 0.2 || -log(alpha) < most) return alpha;
    }
}

static void draw_numbers(simulate_source *s, const certreg_question *q, setting *out)
{
    const int score = !setting_counts(q), gradient = out->constraints == CERTREG_CONSTRAINTS_ECGM;
    const double least = score ? 40 : 20, most = !score                     ? 1000
                                                 : out->part[0].outputs > 1 ? 80
                                                                            : 250;
    out->samples = (size_t)(least * pow(most / least, simulate_uniform(s)));
    if (gradient) out->samples = 150 + (size_t)dice(s, 250);
    out->inputs = out->real_noise ? 1 + (size_t)dice(s, 3) : 1;
    out->pilot = chance(s, 0.4) ? 0 : 2 + (size_t)dice(s, 4);
    for (int i = 0; i < out->parts; i++) out->part[i].given = chance(s, 0.6);
    out->alpha = any_alpha(s, out, score);
    out->tilted = out->alpha < 0.005;
    int all = 1;
    for (int i = 0; i < out->parts; i++) all &= out->part[i].given;
    if (all && !gradient && chance(s, 0.7)) out->pilot = SIZE_MAX;
    /* So large that it chooses how a failure rate is divided. */
    if (out->menu.divided && out->pilot != SIZE_MAX && out->samples >= 60 && chance(s, 0.6))
        out->pilot = out->samples / 2 < 100 ? out->samples / 2 : 100;
    if (has_law_place(out) && score && out->outputs == 1 && out->menu.most_cells == MOST_POINTS)
        out->pilot = out->samples / 2, out->menu.falling = 1;
    out->menu.hostile_pilot = out->pilot != SIZE_MAX;
    out->menu.rare = (double)out->samples;
    out->sigma[0] = 1, out->sigma[1] = 0.6;
    /* Without pilot and target no method for a fixed number of samples looks at their order, unless
     * it bets. */
    out->exact = out->pilot == SIZE_MAX && !score && !out->real_noise && out->target_part == 0 &&
                 q->method != CERTREG_METHOD_ANYTIME && chance(s, 0.6);
    if (out->exact) {
        const int three = chance(s, 0.5);
        if (!out->part[0].serving.pairs) out->menu.most_cells = 2 + three;
        out->tilted = 0;
        if (out->menu.most_cells > 2 && out->samples > 50) out->samples = 20 + out->samples % 30;
    }
}

static void finish(simulate_source *s, const certreg_question *q, setting *out)
{
    for (int i = 0; i < out->parts; i++) {
        part *p = out->part + i;
        p->question = *q;
        p->question.output = (int32_t)p->first;
        if (p->outputs > 1) p->question.output = CERTREG_ALL_OUTPUTS;
        p->question.alpha = out->alpha;
        p->question.tolerance = out->menu.tolerance;
        if (out->asked == ASKED_BOUNDS && !is_median(q))
            p->question.tolerance = fmin(4 * out->menu.tolerance, out->menu.turn > 0 ? 80 : 1e9);
        if (setting_supports(q, CR_SUPPORTS_WIDTH))
            p->question.huber_width = out->menu.tolerance * ONE_OF(s, 0.5, 1, 0.1);
        if (out->asked == ASKED_BONFERRONI) p->question.bonferroni = (uint64_t)out->parts;
        memcpy(p->prediction, out->menu.center, sizeof p->prediction);
        if (out->pilot == SIZE_MAX) p->given = 1;
        if (out->target_part > 0 && out->samples >= 60 && chance(s, 0.4) &&
            (out->pilot == SIZE_MAX || out->pilot < out->samples / 3))
            for (size_t k = 0; k < 3; k++) p->looks[k] = out->samples * (k + 1) / 3;
    }
}

/* Every fifth setting, where it may: the tolerance is a part of the prediction. About outputs that
 * scatter around 0 the pilot chooses both. */
static void make_relative(const certreg_question *q, setting *out)
{
    if (out->seed % 5 != 2 || q->method == CERTREG_METHOD_BASELINE ||
        q->center != CERTREG_CENTER_PREDICTION || out->menu.turn > 0 || out->target_part > 0 ||
        out->asked == ASKED_BOUNDS || !setting_supports(q, CR_SUPPORTS_RELATIVE))
        return;
    const double center = fabs(out->menu.center[0]);
    if (center == 0 && out->pilot == SIZE_MAX) return;
    for (int i = 0; i < out->parts; i++) {
        part *p = out->part + i;
        p->given &= center > 0;
        p->question.tolerance = 0;
        p->question.relative_tolerance =
            center > 0 ? out->menu.tolerance / (center * sqrt((double)p->outputs)) : 4;
    }
}

static void name(setting *s)
{
    static const char *const how[] = {"", ", several", ", together", ", levels", ", bounds"},
                             *const kinds[] = {"", ", angle", ", pair"};
    const certreg_question *q = &s->part[0].question;
    char vector[32] = "", constraints[16] = "", serving[40] = "";
    if (s->part[0].outputs > 1) snprintf(vector, sizeof vector, ", of %zu", s->outputs);
    if (s->part[0].serving.samples)
        snprintf(serving, sizeof serving, ", served %zu%s", s->part[0].serving.samples,
                 s->part[0].serving.pairs ? " in pairs" : "");
    if (q->constraints)
        snprintf(constraints, sizeof constraints, ", %s",
                 q->constraints == CERTREG_CONSTRAINTS_C    ? "C"
                 : q->constraints == CERTREG_CONSTRAINTS_CG ? "CG"
                                                            : "ECGM");
    snprintf(s->name, sizeof s->name, "%s %s%s%s%s%s%s%s%s%s%s%s n=%zu",
             cr_method_of(q->method)->row.name, setting_row(q)->row.name,
             q->center                   ? ", true mean"
             : q->relative_tolerance > 0 ? ", relative"
                                         : "",
             kinds[s->kind[0]], vector, constraints, how[s->asked], serving,
             s->target_part > 0 ? ", target" : "",
             s->pilot == SIZE_MAX ? ""
             : s->menu.falling    ? ", large pilot"
             : s->pilot           ? ", tiny pilot"
                                  : ", pilot",
             s->flags ? ", failures" : "", s->exact ? ", exact" : "", s->samples);
}

static void draw_any(uint64_t seed, simulate_source *s, setting *out)
{
    memset(out, 0, sizeof *out);
    out->seed = seed;
    certreg_question q = {.struct_size = sizeof q, .statistic = any_statistic(s)};
    q.method = any_method(s, setting_row(&q));
    draw_shape(s, &q, out);
    draw_outputs(s, &q, out);
    if (setting_row(&q)->centers & CR_ONE_OF(CERTREG_CENTER_TRUE_MEAN) &&
        out->asked != ASKED_BOUNDS && chance(s, 0.5))
        q.center = CERTREG_CENTER_TRUE_MEAN;
    draw_target(s, &q, out);
    draw_serving(s, &q, out);
    draw_constraints(s, &q, out);
    draw_numbers(s, &q, out);
    finish(s, &q, out);
    make_relative(&q, out);
    name(out);
}

/* Seldom drawn: a failure rate divided among directions. */
static int is_divided(const setting *s)
{
    const part *p = s->part;
    return s->menu.divided && is_median(&p->question) && s->target_part == 0 &&
           !s->part[0].question.constraints && s->samples >= 200 && s->alpha >= 0.05 &&
           p->outputs > 1 && p->serving.samples == 1;
}

/* Laws that fail for opposite noise alike, where that is served, and where it is not; every second
 * one is about a median. */
static int is_even(const setting *s, int pairs)
{
    const part *p = s->part;
    return s->menu.even && s->menu.most_cells > 2 && p->serving.pairs == pairs &&
           s->alpha >= 0.05 && p->outputs == 1 && s->asked == ASKED_ALONE && s->target_part == 0 &&
           s->samples <= 200 && setting_counts(&p->question) &&
           is_median(&p->question) == (int)(s->seed / 18 % 2);
}

/* The looks of a mixture add up (theory 6): with 300 samples to 0.74 of alpha 0.05 and to 0.83 of
 * alpha 0.2, by exact sums, so that runs show an alpha that is used twice. */
static int is_mixture(const setting *s)
{
    const certreg_question *q = &s->part[0].question;
    return is_median(q) && q->method == CERTREG_METHOD_ANYTIME && s->asked == ASKED_ALONE &&
           s->outputs == 1 && !s->menu.divided && !s->menu.failures && s->target_part == 0 &&
           s->samples >= 200 && s->samples <= 500 && s->alpha >= 0.05 && s->menu.turn == 0;
}

/* Certificates by the whole law of a score (theory 6.9). */
static int is_law(const setting *s)
{
    const part *p = s->part;
    return s->menu.falling && !p->question.constraints && s->asked == ASKED_ALONE &&
           s->target_part == 0 && s->samples >= 150 && s->alpha >= 0.05;
}

/* What is seldom drawn, or hard to miss, has every so many places of its own; every third setting
 * is exact, since they take little time. */
static int is_wanted(const setting *s)
{
    if (has_law_place(s)) return is_law(s);
    if (s->seed % 3 == 0) return s->exact && (s->seed % 18 != 6 || is_even(s, 1));
    switch (s->seed % 18) {
    case 1: return s->target_part > 0;
    case 4: return is_divided(s);
    case 7: return !s->exact && s->menu.turn == 0 && is_even(s, s->seed / 18 % 4 != 3);
    case 10: return is_mixture(s);
    default: return 1;
    }
}

void setting_draw(uint64_t seed, setting *out)
{
    simulate_source source;
    simulate_seed(&source, seed);
    do draw_any(seed, &source, out);
    while (!is_wanted(out));
}

double setting_tolerance(const setting *s, const part *p)
{
    return p->question.relative_tolerance > 0 ? s->menu.tolerance : p->question.tolerance;
}

certreg_question setting_question(setting *s, int i, double target)
{
    part *p = s->part + i;
    certreg_question q = p->question;
    if (p->given && q.center == CERTREG_CENTER_PREDICTION)
        q.prediction = p->prediction, q.prediction_count = p->outputs;
    if (p->serving.samples) q.serving = &p->serving;
    if (s->target_part > 0) {
        p->target = (certreg_target){.struct_size = sizeof p->target, .radius = target};
        if (p->looks[0]) p->target.look_count = 3, p->target.looks = p->looks;
        q.target = &p->target;
    }
    return q;
}
