#include "misses/promise.h"
#include "statistics/normal.h"
#include <math.h>
#include <string.h>

static const double cap = 10.001;       /* sigmas: no radius is longer */
static const double float_noise = 1e-6; /* relative: noisy inputs are floats */
enum { CODES = 128 * 128 };

/* ---- one distribution */
static statistic statistic_of(const part *p)
{
    const certreg_question *q = &p->question;
    return (statistic){.row = setting_row(q),
                       .width = q->huber_width,
                       .trim = p->serving.trim,
                       .leaves_out = p->serving.samples > 0,
                       .cut_at_center = q->method == CERTREG_METHOD_BASELINE};
}

static points points_of(const setting *s, const part *p, const law *l)
{
    points d = {.count = l->cells, .outputs = (int)p->outputs, .slack = 1e-12, .rounding = 1e-9};
    if (s->kind[p->first] != CERTREG_OUTPUT_REAL &&
        setting_row(&p->question)->angle != CR_ANGLE_AS_NUMBER)
        d.turn = s->hi[p->first] - s->lo[p->first];
    if (s->kind[p->first] == CERTREG_OUTPUT_ANGLE_PAIR) d.rounding = 1e-6;
    for (int i = 0; i < d.count; i++)
        for (int k = 0; k < d.outputs; k++)
            d.value[i][k] = (double)l->value[i][p->first + (size_t)k];
    return d;
}

/* A baseline cuts the circle opposite the prediction, which is the middle of what it says. */
static region region_of(const claim *said)
{
    region r = {.low = said->low, .high = said->high, .closed = said->closed != 0};
    memcpy(r.center, said->center, sizeof r.center);
    return r;
}

/* About the true mean the center is the mean without a shift. */
static void center_on_mean(const points *d, const double *share, region *r)
{
    for (int k = 0; k < d->outputs; k++) {
        r->center[k] = 0;
        for (int i = 0; i < d->count; i++) r->center[k] += share[i] * d->value[i][k];
    }
    r->closed = 1;
}

static int leaves(const setting *s, const part *p, const law *l, double sigma, double shift,
                  const claim *said)
{
    points d = points_of(s, p, l);
    region r = region_of(said);
    const statistic of = statistic_of(p);
    if (p->question.center == CERTREG_CENTER_TRUE_MEAN) {
        double share[MOST_POINTS];
        law_shares(l, sigma, 0, share);
        center_on_mean(&d, share, &r);
    }
    law_shares(l, sigma, shift, d.weight);
    return points_leave(&d, &of, &r);
}

/* ---- fresh samples */
typedef struct serving {
    const setting *setting;
    const law *law;
    const claim *said;
    int first, parts; /* those that are served together */
    int kinds;        /* of what is drawn; of single samples `other` is none of the cells */
    drawn kind[MOST_TOGETHER];
    int one_more; /* beside pairs */
    double share[MOST_POINTS], missed;
    int count[MOST_POINTS + 1], code[MOST_POINTS]; /* 1 and 128: of two values, beside a third */
    signed char known[CODES];                      /* of the counts, where there are no more */
} serving;

static int find_any(const serving *v)
{
    for (int i = v->first; i < v->first + v->parts; i++) {
        const part *p = v->setting->part + i;
        points d = points_of(v->setting, p, v->law);
        const region r = region_of(v->said + i);
        const statistic of = statistic_of(p);
        d.slack = 0;
        for (int k = 0; k < d.count; k++) d.weight[k] = v->count[k];
        if (points_leave(&d, &of, &r)) return 1;
    }
    return 0;
}

static int any_leaves(serving *v)
{
    int code = 0;
    for (int k = 0; k < v->law->cells; k++) code += v->count[k] * v->code[k];
    if (code >= CODES) return find_any(v);
    if (!v->known[code]) v->known[code] = find_any(v) ? 1 : -1;
    return v->known[code] > 0;
}

/* How likely they leave, given all samples but the one more. */
static double leave_now(serving *v)
{
    double sum = 0;
    if (!v->one_more) return any_leaves(v);
    for (int k = 0; k < v->law->cells; k++) {
        int *count = v->count + law_like(v->law, k);
        ++*count;
        if (v->share[k] > 0 && any_leaves(v)) sum += v->share[k];
        --*count;
    }
    return sum;
}

/* All ways to have `left` samples, or pairs, of the kinds from `i` on. */
static void every_sample(serving *v, int i, int left, double log_weight)
{
    const int last = i + 1 == v->kinds;
    int *one = v->count + v->kind[i].one, *other = v->count + v->kind[i].other;
    const double log_share = log(fmax(v->kind[i].share, 1e-300));
    for (int k = last ? left : 0; k <= left; k++) {
        const double here = log_weight - lgamma(k + 1.0) + (k ? k * log_share : 0);
        if (here < -45) continue; /* too rare to matter, and to the certificate's good */
        *one += k, *other += k;
        if (!last) every_sample(v, i + 1, left - k, here);
        else v->missed += exp(here) * leave_now(v);
        *one -= k, *other -= k;
    }
}

static int misses_too_often(const setting *s, int first, int parts, const law *l, double sigma,
                            double shift, const claim *said)
{
    serving v = {.setting = s, .law = l, .said = said, .first = first, .parts = parts};
    const int pairs = s->part[first].serving.pairs != 0,
              samples = (int)s->part[first].serving.samples, draws = pairs ? samples / 2 : samples;
    int code = samples < 128 ? 1 : CODES;
    double allowed = 0;
    for (int i = first; i < first + parts; i++) allowed += s->part[i].serving.failure_rate;
    for (int k = 1; k < l->cells; k++)
        if (law_like(l, k) == k) v.code[k] = code, code = code == 1 ? 128 : CODES;
    law_shares(l, sigma, shift, v.share);
    v.kinds = pairs ? law_pairs(l, sigma, shift, v.kind) : l->cells, v.one_more = pairs & samples;
    for (int k = 0; !pairs && k < l->cells; k++)
        v.kind[k] = (drawn){law_like(l, k), MOST_POINTS, v.share[k]};
    every_sample(&v, 0, draws, lgamma(draws + 1.0));
    return v.missed > allowed * (1 + 1e-7);
}

/* ---- all shifts */
static int broken_at(const setting *s, int first, int parts, const law *l, double sigma,
                     double shift, const claim *said)
{
    if (s->part[first].serving.samples)
        return misses_too_often(s, first, parts, l, sigma, shift, said);
    for (int i = first; i < first + parts; i++)
        if (leaves(s, s->part + i, l, sigma, shift, said + i)) return 1;
    return 0;
}

static int broken_within(const setting *s, int first, int parts, const law *l, double sigma,
                         const claim *said)
{
    const int steps = s->part[first].serving.samples ? 2 : 6;
    const double radius = said[first].radius * (1 - float_noise);
    if (!(radius > 0)) return 0;
    for (int k = steps; k >= 0; k--)
        for (int side = -1; side <= 1; side += 2)
            if (broken_at(s, first, parts, l, sigma, side * radius * k / steps, said)) return 1;
    return 0;
}

int promise_is_broken(const setting *s, const part *p, const law *l, double sigma,
                      const claim *said)
{
    return broken_within(s, (int)(p - s->part), 1, l, sigma, said - (p - s->part));
}

int promise_is_broken_together(const setting *s, const law *l, double sigma, const claim *said)
{
    return broken_within(s, 0, s->parts, l, sigma, said);
}

double promise_true_radius(const setting *s, const law *l, double sigma, const claim *said)
{
    const double step = 0.05 * sigma;
    for (double bad = 0; bad < cap * sigma; bad += step)
        for (int side = -1; side <= 1; side += 2) {
            if (!broken_at(s, 0, s->parts, l, sigma, side * bad, said)) continue;
            if (bad == 0) return 0;
            double low = bad - step, high = bad;
            for (int i = 0; i < 45; i++) {
                const double middle = 0.5 * (low + high);
                *(broken_at(s, 0, s->parts, l, sigma, side * middle, said) ? &high : &low) = middle;
            }
            return high;
        }
    return INFINITY;
}
