#include "support/step_functions.h"
#include <math.h>

/* Mass between t - r and t, r small: by the midpoint and the two corrections that follow. */
static known strip(long double t, long double r)
{
    const long double m = t - r / 2, x = m * m, r2 = r * r;
    if (isinf(t)) return known_exactly(0);
    return known_product(
        known_density(m),
        known_rounded(r * (1 + r2 * (x - 1) / 24 + r2 * r2 * (x * x - 6 * x + 3) / 1920), 1));
}

/* What the mass between two edges gains when the variable is moved by r. */
static known gain(long double from, long double to, long double r)
{
    if (fabsl(r) < 1e-4L) return known_sum(strip(from, r), known_minus(strip(to, r)));
    return known_sum(known_mass(from - r, to - r), known_minus(known_mass(from, to)));
}

typedef struct cell { /* E of 1 and t there */
    known mass, first, gain;
} cell;

static void cells_of(const steps *f, int variable, double r, cell *out)
{
    for (int i = 0; i < f->count[variable]; i++) {
        const long double a = f->edge[variable][i], b = f->edge[variable][i + 1];
        out[i] = (cell){known_mass(a, b),
                        known_sum(known_density(a), known_minus(known_density(b))), gain(a, b, r)};
    }
}

/* ---- two */
static double most_common(const steps *f, const cell *t, const cell *s)
{
    long double most = -1;
    double value = 0;
    for (int j = 0; j < f->count[1]; j++)
        for (int i = 0; i < f->count[0]; i++)
            if (t[i].mass.value * s[j].mass.value > most)
                most = t[i].mass.value * s[j].mass.value, value = f->value[i + j * f->count[0]];
    return value;
}

/* Sums over all cells of (f - about)^power times a product of what either variable has. */
static known total(const steps *f, double about, int power, const cell *t, const cell *s,
                   known (*of)(const cell *, const cell *))
{
    known all = known_exactly(0);
    for (int j = 0; j < f->count[1]; j++)
        for (int i = 0; i < f->count[0]; i++) {
            const known y =
                known_sum(known_exactly(f->value[i + j * f->count[0]]), known_exactly(-about));
            const known term = known_product(y, of(t + i, s + j));
            if (y.value != 0) all = known_sum(all, power == 2 ? known_product(y, term) : term);
        }
    return all;
}

static known plain(const cell *t, const cell *s)
{
    return known_product(t->mass, s->mass);
}

static known first(const cell *t, const cell *s)
{
    return known_product(t->first, s->mass);
}

static known across(const cell *t, const cell *s)
{
    return first(s, t);
}

static known gained(const cell *t, const cell *s)
{
    return known_sum(known_product(t->gain, known_sum(s->mass, s->gain)),
                     known_product(t->mass, s->gain));
}

steps_facts steps_facts_of(const steps *f)
{
    cell t[STEPS_MOST], s[STEPS_MOST];
    cells_of(f, 0, 0, t), cells_of(f, 1, 0, s);
    steps_facts facts = {f->value[0], f->value[0], most_common(f, t, s), .mean = 0};
    for (int i = 1; i < f->count[0] * f->count[1]; i++) {
        facts.least = fmin(facts.least, f->value[i]);
        facts.greatest = fmax(facts.greatest, f->value[i]);
    }
    const double common = facts.common;
    const known one = total(f, common, 1, t, s, first), other = total(f, common, 1, t, s, across);
    facts.about = total(f, common, 1, t, s, plain);
    facts.variance = known_sum(total(f, common, 2, t, s, plain),
                               known_minus(known_product(facts.about, facts.about)));
    facts.gradient = known_root(known_sum(known_product(one, one), known_product(other, other)));
    facts.mean = common + facts.about.value;
    return facts;
}

known steps_change(const steps *f, const double shift[2])
{
    cell t[STEPS_MOST], s[STEPS_MOST];
    cells_of(f, 0, shift[0], t), cells_of(f, 1, shift[1], s);
    return total(f, most_common(f, t, s), 1, t, s, gained);
}

known steps_moment(const steps_facts *facts, double center)
{
    const known offset = known_sum(
        known_sum(known_exactly(facts->common), known_exactly(-(long double)center)), facts->about);
    return known_sum(facts->variance, known_product(offset, offset));
}

double steps_down(known x)
{
    return nextafter((double)(x.value - x.error), -INFINITY);
}

double steps_up(known x)
{
    return nextafter((double)(x.value + x.error), INFINITY);
}
