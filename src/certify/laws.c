/* The whole law of a score, or its mean and variance: whichever the pilot expects to reach
 * further. */
#include "certify/laws.h"
#include "bisection/radius.h"
#include "bounds/bounds.h"
#include "bounds/finite.h"
#include "bounds/parts.h"
#include "record/asked.h"
#include "statistics/betting.h"
#include <math.h>

/* Slopes that are best a little short of the radius lose less where it is shorter. */
static const double shorter = 0.97, shortest = 0.05;

/* Neither where constraints are named, which are then meant, nor for many tolerances. */
static int may_have_law(const cr_conditions *conditions, const cr_condition *c)
{
    const cr_question *q = &conditions->question;
    const int betting = q->method == CERTREG_METHOD_FINITE || q->method == CERTREG_METHOD_ANYTIME;
    return betting && !q->constraints && !q->about_output && !(q->at_radius > 0) && !c->exact;
}

static double radius_by_moments(const cr_work *w, const cr_conditions *conditions,
                                const cr_condition *c, size_t samples)
{
    certreg_bounds b = cr_bounds_blank(w->record, conditions);
    certreg_radius found = {.struct_size = sizeof found};
    cr_bisection how = cr_radius_default(w->record->watch);
    how.accuracy = 1e-4;
    cr_finite_expect(w->record, conditions, &c->score, samples, &b);
    if (cr_radius_above(&how, &b, &c->threshold, 1, 0, &found, NULL)) return 0;
    return found.radius / b.sigma;
}

typedef struct choice { /* of one condition */
    cr_law *law;
    cr_law_cells cells;
    double threshold, alpha;
    size_t samples; /* that the bounds will have */
    int anytime;
} choice;

/* The mean of H that the scores of a part let expect. */
static double expected(const choice *c, size_t part)
{
    const cr_bet bet = {.hi = c->law->height[CR_LAW_CELLS],
                        .count = c->samples,
                        .pilot = cr_law_seen(c->law, &c->cells, part)};
    return cr_betting_expected_lower(&bet, c->alpha, c->anytime);
}

/* Whether laws hold beyond this radius, by those that are fitted without one part of the pilot and
 * looked at on that part. */
static int reaches(const choice *c, double r)
{
    double sum = 0;
    for (size_t part = 0; part < CR_LAW_PARTS; part++) {
        cr_law_fit(c->law, &c->cells, part, shorter * r);
        sum += cr_law_shifted(c->law, expected(c, part), r);
    }
    return sum / CR_LAW_PARTS > c->threshold;
}

/* The law that is best where it ends. */
static void fit(const choice *c, double r)
{
    cr_law_fit(c->law, &c->cells, CR_LAW_PARTS, shorter * r);
    r = cr_law_radius(c->law, expected(c, CR_LAW_PARTS), c->threshold, CR_LARGEST_RADIUS);
    cr_law_fit(c->law, &c->cells, CR_LAW_PARTS, shorter * fmax(r, shortest));
}

static void choose(const cr_work *w, const cr_conditions *conditions, cr_condition *c, cr_law *law)
{
    cr_view *v = w->record;
    const cr_question *q = &conditions->question;
    const cr_samples pilot = cr_parts_pilot(v, conditions, &c->score);
    choice of = {.law = law,
                 .threshold = c->threshold,
                 .alpha = q->alpha,
                 .samples = (size_t)cr_asked_max_samples(v) - conditions->main_first,
                 .anytime = q->method_row->any_number};
    double least, greatest;
    cr_score_range(&c->score, v->model.lo + conditions->output, v->model.hi + conditions->output,
                   &least, &greatest);
    if (!cr_law_count(&of.cells, &pilot, least)) return;
    const double r = fmax(radius_by_moments(w, conditions, c, of.samples), shortest);
    if (!reaches(&of, r)) return;
    fit(&of, r);
    c->law = law;
}

certreg_status cr_laws_bounds(const cr_work *w, cr_answer *a)
{
    cr_conditions *conditions = &a->conditions;
    for (int i = 0; i < conditions->count && i < CR_LAWS; i++)
        if (conditions->known && may_have_law(conditions, conditions->each + i))
            choose(w, conditions, conditions->each + i, conditions->scratch->laws + i);
    return cr_bounds_find(w->replay, conditions, a->bounds, &a->abstained);
}
