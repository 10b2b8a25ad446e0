/* Chooses for each condition the bound from which the pilot expects the longer radius: the whole
 * law of its score, or mean and variance; the mean alone, if it expects none (theory 6.9). */
#include "certify/bound_selection.h"
#include "bisection/radius.h"
#include "bounds/bounds.h"
#include "bounds/finite_sample.h"
#include "bounds/sample_split.h"
#include "record/query_log.h"
#include "statistics/betting_bounds.h"
#include <math.h>

/* Slopes that are best slightly below the radius lose less if it turns out shorter. */
static const double shorter = 0.97, shortest = 0.05;

/* Named constraints are taken literally, and output bounds have many tolerances. */
int cr_bound_selection_applies(const cr_question *q)
{
    return (q->given.method == CERTREG_METHOD_FINITE ||
            q->given.method == CERTREG_METHOD_ANYTIME) &&
           !q->given.constraints && !(q->given.at_radius > 0);
}

typedef struct choice { /* of one condition */
    cr_view *record;
    const cr_conditions *conditions;
    cr_condition *condition;
    cr_distribution_bound *law;
    cr_score_histogram cells;
    size_t samples; /* that the bounds will have */
} choice;

static choice choice_init(const cr_context *w, const cr_conditions *conditions, cr_condition *c,
                          cr_distribution_bound *law)
{
    return (choice){.record = w->record,
                    .conditions = conditions,
                    .condition = c,
                    .law = law,
                    .samples = (size_t)cr_query_log_max_samples(w->record) -
                               conditions->first_main_sample};
}

/* ---- the radius that the pilot expects */
static certreg_bounds expected(const choice *c, uint32_t constraints)
{
    certreg_bounds b = cr_bounds_init(c->record, c->conditions);
    const cr_finite_sample_problem job = {c->record, c->conditions, &c->condition->score,
                                          c->conditions->question.given.alpha, c->samples};
    cr_finite_sample_bounds(&job, constraints, &b);
    return b;
}

/* Returns the radius by mean and variance, in units of sigma; for a true mean, on both sides. */
static double radius_by_moments(const choice *c)
{
    const cr_condition *condition = c->condition;
    const certreg_bounds b = expected(c, CERTREG_CONSTRAINTS_ECM);
    certreg_radius found = {.struct_size = sizeof found};
    cr_radius_options how = cr_radius_default(c->record->deadline);
    how.accuracy = 1e-4;
    const certreg_status status =
        condition->score.kind == CR_SCORE_OUTPUT
            ? cr_radius_change_within(&how, &b, 0, condition->score.tolerance, &found, NULL)
            : cr_radius_mean_above(&how, &(cr_mean_conditions){&b, &condition->threshold, 1, 0},
                                   &found, NULL);
    return status ? 0 : found.radius / b.sigma;
}

/* Returns the lower bound of the mean of H to expect from the scores of a part. */
static double mean_of(const choice *c, size_t part)
{
    const cr_question *q = &c->conditions->question;
    cr_betting_problem bet = {.count = c->samples};
    cr_distribution_bound_range(c->law, &bet);
    cr_distribution_bound_add_pilot(c->law, &c->cells, part, &bet);
    return cr_betting_expected_lower(&bet, q->given.alpha, q->method->is_anytime);
}

/* Returns 1 if laws that are fitted without one part of the pilot hold beyond this radius, on
 * average over the parts that are left out. */
static int law_reaches(const choice *c, double r)
{
    double sum = 0;
    for (size_t part = 0; part < CR_HISTOGRAM_FOLDS; part++) {
        cr_distribution_bound_fit(c->law, &c->cells, part, shorter * r);
        sum += cr_distribution_bound_shifted(c->law, mean_of(c, part), r);
    }
    return sum / CR_HISTOGRAM_FOLDS > c->condition->threshold;
}

/* ---- the choice */
/* Sets the law of the condition to the one that is best at its own radius, if laws hold beyond r.
 * Returns 1 if it did. */
static int use_law(choice *c, double r)
{
    cr_view *v = c->record;
    const int32_t k = c->conditions->score_output;
    const cr_score *score = &c->condition->score;
    const cr_samples pilot = cr_split_pilot_scores(v, c->conditions, score);
    double least;
    r = fmax(r, shortest);
    cr_score_range(score, v->model.lo + k, v->model.hi + k, &least, &c->law->max_value);
    if (!cr_score_histogram_make(&c->cells, &pilot, least) || !law_reaches(c, r)) return 0;
    cr_distribution_bound_fit(c->law, &c->cells, CR_HISTOGRAM_FOLDS, shorter * r);
    r = cr_distribution_bound_radius(c->law, mean_of(c, CR_HISTOGRAM_FOLDS),
                                     c->condition->threshold, CR_MAX_RADIUS);
    cr_distribution_bound_fit(c->law, &c->cells, CR_HISTOGRAM_FOLDS, shorter * fmax(r, shortest));
    c->condition->law = c->law;
    return 1;
}

/* If no radius is expected, the center of the moment may be far away, and the moment then bounds
 * the mean badly. */
static int mean_alone_is_better(const choice *c)
{
    const uint32_t alone = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    return expected(c, alone).mean_lo > expected(c, CERTREG_CONSTRAINTS_ECM).mean_lo;
}

/* For the true mean: one law for its decrease and one for its increase, as a condition each. */
static void choose_for_mean(const cr_context *w, cr_conditions *conditions)
{
    const choice both = choice_init(w, conditions, conditions->each, NULL);
    const double r = radius_by_moments(&both);
    cr_condition sides[2];
    for (int i = 0; i < 2; i++) {
        cr_condition *side = sides + i;
        *side = conditions->each[0];
        side->threshold = -side->score.tolerance; /* along a direction, a part of the question's */
        side->score.kind = CR_SCORE_LINEAR;
        side->score.side = i ? -1 : 1;
        side->score.prediction = side->score.tolerance = 0;
        choice c = choice_init(w, conditions, side, conditions->scratch->distribution_bounds + i);
        c.law->bounds_change = 1;
        if (!use_law(&c, r)) return;
    }
    conditions->each[0] = sides[0];
    conditions->each[1] = sides[1];
    conditions->count = 2;
}

void cr_bound_selection_choose(const cr_context *w, cr_conditions *conditions)
{
    if (!conditions->has_prediction || !cr_bound_selection_applies(&conditions->question)) return;
    if (conditions->question.bounds_output) { /* once: afterwards the scores are linear */
        if (conditions->each->score.kind == CR_SCORE_OUTPUT) choose_for_mean(w, conditions);
        return;
    }
    for (int i = 0; i < conditions->count && i < CR_MAX_DISTRIBUTION_BOUNDS; i++) {
        if (conditions->each[i].is_binomial) continue;
        choice c = choice_init(w, conditions, conditions->each + i,
                               conditions->scratch->distribution_bounds + i);
        c.law->bounds_change = 0;
        const double r = radius_by_moments(&c);
        c.condition->mean_alone = !use_law(&c, r) && !(r > 0) && mean_alone_is_better(&c);
    }
}
