/* Proof on cells that weights of prediction intervals are large enough (theory 12.3): polygons from
 * chords and tangents of tails are compared at their corners. A comparison of the tails on a grid
 * would prove nothing between its points. */
#include "conformal/tail_majorant.h"
#include "conformal/binomial_tail.h"
#include <math.h>

static const double beyond = 1e-10; /* no grid for tails nearer than this to 0 or 1 */
static const double rounding = 1e-9, band = 7, share = 0.1, hardly = 1.0005;

typedef struct curve { /* a tail, from one point of the grid to the next */
    cr_binomial_tail f;
    double mode, step;
    struct {
        double value, density;
    } at, next;
} curve;

static void look(curve *c, double t)
{
    c->at = c->next;
    c->next.value = cr_binomial_tail_value(&c->f, t);
    c->next.density = cr_binomial_tail_density(&c->f, t);
}

/* Bounds the distance of the chord from the tail: by the distance of the point at which the
 * tangents at the ends meet, and by the rise of the tail. */
static double gap(const curve *c, double run)
{
    const double rise = c->next.value - c->at.value, slope = rise / run,
                 bend = c->next.density - c->at.density,
                 most = run * (slope - c->at.density) * (c->next.density - slope);
    return bend != 0 ? fmin(fabs(most / bend), fabs(rise)) : 0;
}

/* The tails with a positive weight, and a as the last. */
static int curves_of(const cr_tail_majorant *m, curve *some, cr_tail_ramp *rises)
{
    int count = 0;
    for (int i = 0; i < m->count; i++)
        if (m->step[i] > 0) some[count++] = (curve){.f = m->b[i], .step = m->step[i]};
    some[count++] = (curve){.f = m->a};
    for (int i = 0; i < count; i++) {
        some[i].mode = cr_binomial_tail_mode(&some[i].f);
        rises[i] = cr_tail_rise(&some[i].f, band);
    }
    return count;
}

static double next_of(const curve *some, const cr_tail_ramp *rises, int count, double t,
                      double last)
{
    double next = fmin(cr_tail_next(rises, count, t, share), last);
    for (int i = 0; i < count; i++)
        if (t < some[i].mode && some[i].mode < next) next = some[i].mode;
    return next;
}

typedef struct cell { /* loss of polygons: below the weighted tails, and above a */
    double below, above;
} cell;

static cell cell_of(const curve *some, int count, double from, double to)
{
    cell c = {0, 0};
    for (int i = 0; i + 1 < count; i++)
        if (to <= some[i].mode) c.below += some[i].step * gap(some + i, to - from);
    if (from >= some[count - 1].mode) c.above = gap(some + count - 1, to - from);
    return c;
}

/* Ratio of the needed to the present value at a corner between two cells. */
static double ratio_at(const cr_tail_majorant *m, const curve *some, int count, cell left,
                       cell right)
{
    double have = m->floor - fmax(left.below, right.below);
    for (int i = 0; i + 1 < count; i++) have += some[i].step * some[i].at.value;
    const double need = some[count - 1].at.value + fmax(left.above, right.above) + rounding;
    return have > 0 ? need / have : INFINITY;
}

static void note(cr_violations *lacks, double t, double ratio, double *worst)
{
    if (ratio <= hardly) *worst = hardly;
    if (!(ratio > *worst)) return;
    if (*worst == hardly && lacks->count < CR_MAJORANT_LACKS) lacks->count++;
    lacks->t[lacks->count - 1] = t;
    *worst = ratio;
}

double cr_majorant_scale(const cr_tail_majorant *m, cr_violations *lacks)
{
    curve some[CR_MAJORANT_TAILS + 1];
    cr_tail_ramp rises[CR_MAJORANT_TAILS + 1];
    const int count = curves_of(m, some, rises);
    lacks->count = 0;
    if (count == 1) return 1 / m->floor;
    double t = cr_binomial_tail_reaches(&m->a, beyond), worst = hardly;
    const double last = fmax(t, cr_binomial_tail_reaches(&some[count - 2].f, 1 - beyond));
    double scale = (beyond + rounding) / m->floor;
    for (int i = 0; i < count; i++) look(some + i, t);
    cell left = {0, 0};
    while (t < last) {
        const double next = next_of(some, rises, count, t, last);
        for (int i = 0; i < count; i++) look(some + i, next);
        const cell right = cell_of(some, count, t, next);
        const double ratio = ratio_at(m, some, count, left, right);
        scale = fmax(scale, ratio);
        note(lacks, t, ratio, &worst);
        left = right;
        t = next;
    }
    for (int i = 0; i < count; i++) look(some + i, t);
    some[count - 1].at.value = 1; /* right of the grid */
    return fmax(scale, ratio_at(m, some, count, left, left));
}
