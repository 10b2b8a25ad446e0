#include "misses/law_search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAWS = 6, KEPT = 2, ROUNDS = 4, MUTANTS = 4, FINALISTS = 3 };

typedef struct candidate {
    law law;
    double rate, close, score; /* misses of alpha; part of the true radius that is claimed */
    double rarely;             /* the radius that is exceeded in a share alpha of the runs */
    double truth;
} candidate;

/* Seeds: the uses of runs never share one. */
enum use { SELECT, FRESH, CONFIRM };
static uint64_t id_of(enum use use, uint64_t run)
{
    return ((uint64_t)use << 34) + run;
}

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static int better(const void *a, const void *b)
{
    return descending(&((const candidate *)a)->score, &((const candidate *)b)->score);
}

/* How many runs a setting is worth: what bets or replays takes a hundred times as long. */
static uint64_t runs_of(const setting *s)
{
    if (s->constraints == CERTREG_CONSTRAINTS_ECGM) return 6;
    if (!setting_counts(&s->part[0].question))
        return s->part[0].outputs > 1 ? 6 : s->menu.falling ? 40 : 16;
    if (s->part[0].outputs > 1) return 30;
    if (s->part[0].question.method == CERTREG_METHOD_ANYTIME)
        return s->target_part > 0 || s->parts > 1 ? 30 : 50;
    return s->samples > 300 || s->part[0].serving.samples ? 60 : 100;
}

static void run_some(trial *t, uint64_t *next, uint64_t runs, candidate *c)
{
    enum { MOST_RUNS = 1024 };
    static double radius[MOST_RUNS];
    evidence e = evidence_of(t->setting.alpha, t->setting.tilted);
    double close = 0;
    trial_set_law(t, &c->law);
    c->truth = t->truth;
    for (uint64_t i = 0; i < runs; i++) {
        evidence_add(&e, trial_run(t, id_of(SELECT, (*next)++)));
        if (i < MOST_RUNS) radius[i] = t->radius;
        if (t->truth > 0 && isfinite(t->truth)) close += fmin(t->radius / t->truth, 1);
    }
    const uint64_t known = runs < MOST_RUNS ? runs : MOST_RUNS;
    qsort(radius, known, sizeof *radius, descending);
    const double share = t->setting.tilted ? 0.5 : fmin(0.5, 1.5 * t->setting.alpha);
    c->rarely = radius[(size_t)(share * (double)(known - 1))];
    c->rate = evidence_rate(&e) / t->setting.alpha, c->close = close / (double)runs;
    c->score = c->rate + 0.2 * c->close;
}

/* The true radius moves to just below a radius that the library claims now and then. */
static void anchor(const candidate *from, simulate_source *source, law *l)
{
    if (!(from->truth > 0 && isfinite(from->truth) && from->rarely > 0)) return;
    const double by = from->rarely * (1 - 3e-6) - from->truth;
    double above = 0;
    for (int k = 1; k < l->cells; k++) above += l->from[k] > 0;
    if (simulate_uniform(source) < 0.3 || l->cells == 2 || l->even) {
        law_translate(l, 2 * above >= l->cells - 1 ? by : -by);
        return;
    }
    for (int k = 1; k < l->cells; k++) l->from[k] += l->from[k] > 0 ? by : -by;
    for (int k = 2; k < l->cells; k++) l->from[k] = fmax(l->from[k], l->from[k - 1]);
}

/* A law whose promise holds for a while and then breaks, if there is one among a few: of others
 * nothing false can be said, or nothing at all. */
static void draw_breakable(trial *t, simulate_source *source, law *l)
{
    for (int tries = 0; tries < 12; tries++) {
        law_draw(&t->setting.menu, source, l);
        trial_set_law(t, l);
        if (t->setting.asked == ASKED_BOUNDS || (t->truth > 0.01 && t->truth < 5)) return;
    }
}

/* The worst function of a certificate that the law had, seen from where its promise just breaks. */
static void fear(trial *t, const candidate *from, law *l)
{
    trial_set_law(t, &from->law);
    trial_run(t, id_of(SELECT, 0));
    if (!trial_worst_law(t, l)) return;
    trial_set_law(t, l);
    if (t->truth > 0 && isfinite(t->truth) && from->rarely > 0)
        law_translate(l, from->rarely * (1 - 3e-6) - t->truth);
}

static void select_law(trial *t, simulate_source *source, uint64_t runs, law *best)
{
    static candidate c[LAWS + MUTANTS];
    const menu *m = &t->setting.menu;
    uint64_t next = 0;
    memset(c, 0, sizeof c);
    for (int i = 0; i < LAWS; i++) {
        draw_breakable(t, source, &c[i].law);
        run_some(t, &next, runs, c + i);
    }
    qsort(c, LAWS, sizeof *c, better);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < MUTANTS; i++) {
            candidate *child = c + KEPT + i;
            child->law = c[i % KEPT].law;
            if (i == 0 && round % 2 == 0 && !setting_counts(&t->setting.part[0].question))
                fear(t, c, &child->law);
            else if (i < KEPT) anchor(c + i % KEPT, source, &child->law);
            else law_mutate(m, source, 0.5 * pow(0.4, round), &child->law);
            run_some(t, &next, runs, child);
        }
        qsort(c, KEPT + MUTANTS, sizeof *c, better);
    }
    for (int i = 0; i < FINALISTS; i++) run_some(t, &next, 4 * runs, c + i);
    qsort(c, FINALISTS, sizeof *c, better);
    *best = c[0].law;
}

static double fresh_p_value(trial *t, enum use use, uint64_t runs, evidence *e, double *silent)
{
    *e = evidence_of(t->setting.alpha, t->setting.tilted);
    *silent = 0;
    for (uint64_t i = 0; i < runs; i++) {
        evidence_add(e, trial_run(t, id_of(use, i)));
        *silent += (t->most > 0 ? 0.0 : 1.0) / (double)runs;
    }
    return evidence_p_value(e);
}

void climb(const setting *s, finding *out)
{
    static trial t;
    simulate_source source;
    const uint64_t runs = runs_of(s);
    memset(out, 0, sizeof *out);
    simulate_seed(&source, ~s->seed);
    trial_open(&t, s);
    select_law(&t, &source, runs, &out->law);
    trial_set_law(&t, &out->law);
    out->confirmed = 1;
    out->p_value = fresh_p_value(&t, FRESH, 20 * runs, &out->fresh, &out->silent);
    if (out->p_value < climb_suspicious) {
        evidence again;
        double silent;
        out->confirmed = fresh_p_value(&t, CONFIRM, 200 * runs, &again, &silent);
        out->excess = out->confirmed < climb_confirmed;
    }
    out->certificates = t.certificates;
    trial_close(&t);
}
