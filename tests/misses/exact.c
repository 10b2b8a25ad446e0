#include "misses/law_search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COUNTS = 1400, LAWS = 12, MOVES = 20 };

/* What is claimed after so many outputs of each value. It does not depend on their probabilities.
 */
typedef struct table {
    int count, values, samples;
    int cell[MOST_POINTS], each[MOST_COUNTS][3]; /* the first cell that has it */
    claim said[MOST_COUNTS][MOST_PARTS];
} table;

static void fill(trial *t, table *all)
{
    const int n = (int)t->setting.samples;
    all->count = 0, all->samples = n;
    for (int i = all->values > 1 ? 0 : n; i <= n; i++)
        for (int j = all->values == 3 ? 0 : n - i; i + j <= n; j++) {
            int *each = all->each[all->count], of_cells[MOST_POINTS] = {0};
            claim *said = all->said[all->count++];
            memset(said, 0, sizeof all->said[0]);
            each[0] = i, each[1] = j, each[2] = n - i - j;
            for (int k = 0; k < all->values; k++) of_cells[all->cell[k]] = each[k];
            trial_claims_of_counts(t, of_cells, said);
        }
}

static int values_of(const law *l, int *cell)
{
    int count = 0;
    for (int k = 0; k < l->cells; k++)
        if (law_like(l, k) == k) cell[count++] = k;
    return count;
}

static int same(const claim *a, const claim *b)
{
    return memcmp(a, b, MOST_PARTS * sizeof *a) == 0;
}

/* The sum over all counts that miss, less what rounding may add. */
static double miss_rate(const trial *t, const table *all, const law *l)
{
    double share[MOST_POINTS], of[MOST_POINTS] = {0}, sum = 0;
    const claim *last = NULL;
    int missed = 0;
    law_shares(l, 1, 0, share);
    for (int k = 0; k < l->cells; k++) of[law_like(l, k)] += share[k];
    for (int i = 0; i < all->count; i++) {
        double term = lgamma(all->samples + 1.0);
        for (int k = 0; k < all->values; k++) {
            const int count = all->each[i][k];
            if (count) term += count * log(fmax(of[all->cell[k]], 1e-300)) - lgamma(count + 1.0);
        }
        if (term < -40) continue;
        if (!last || !same(last, all->said[i])) missed = trial_is_missed(t, l, all->said[i]);
        last = all->said[i];
        if (missed) sum += exp(term);
    }
    return sum * (1 - 1e-9);
}

/* To just below a radius that is claimed: there the rate jumps up. */
static void anchor(const trial *t, const table *all, simulate_source *source, law *l)
{
    const claim *said = all->said[(int)(all->count * simulate_uniform(source))];
    const double radius = said->radius * (1 - 2e-6);
    if (!(radius > 0) || t->setting.asked == ASKED_BOUNDS) return;
    for (int again = 0; again < 4; again++) {
        const double truth = promise_true_radius(&t->setting, l, 1, said);
        if (!(truth > 0 && isfinite(truth))) return;
        for (int k = 1; k < l->cells; k++)
            l->from[k] += l->from[k] > 0 || l->cells == 2 || l->even ? radius - truth
                                                                     : truth - radius;
        for (int k = 2; k < l->cells; k++) l->from[k] = fmax(l->from[k], l->from[k - 1]);
    }
}

static int is_silent(const table *all, int parts)
{
    for (int i = 0; i < all->count; i++)
        for (int k = 0; k < parts; k++)
            if (all->said[i][k].radius > 0) return 0;
    return 1;
}

static void search(trial *t, simulate_source *source, finding *out, double *worst)
{
    static table all;
    law best;
    double rate;
    do law_draw(&t->setting.menu, source, &best);
    while ((all.values = values_of(&best, all.cell)) > 3);
    trial_set_law(t, &best);
    fill(t, &all);
    rate = miss_rate(t, &all, &best);
    for (int i = 0; i < MOVES; i++) {
        law l = best;
        if (i % 3) anchor(t, &all, source, &l);
        else law_translate(&l, 0.3 * simulate_normal(source));
        if (i % 3 == 2)
            l.from[1] =
                fmin(l.from[1] + 0.2 * simulate_normal(source), l.from[l.cells > 2 ? 2 : 1]);
        const double now = miss_rate(t, &all, &l);
        if (now > rate) rate = now, best = l;
    }
    if (rate < *worst) return;
    *worst = rate, out->law = best, out->silent = is_silent(&all, t->setting.parts);
}

void exact_search(const setting *s, finding *out)
{
    static trial t;
    simulate_source source;
    double worst = 0;
    memset(out, 0, sizeof *out);
    simulate_seed(&source, ~s->seed);
    trial_open(&t, s);
    for (int i = 0; i < LAWS; i++) search(&t, &source, out, &worst);
    out->fresh = evidence_of(s->alpha, 0);
    out->fresh.sum = worst;
    out->excess = worst > s->alpha;
    out->p_value = out->confirmed = out->excess ? 0 : 1;
    out->certificates = t.certificates;
    trial_close(&t);
}
