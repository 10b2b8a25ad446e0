/* The radius of one question, from the bounds of its conditions (theory 2 and 6): directly if a
 * condition has a binomial bound or a bound of its whole distribution, else by a search. */
#include "certify/condition_radius.h"
#include "bisection/radius.h"
#include "conditions/interim_looks.h"
#include "solver/worst_case.h"
#include "statistics/gaussian_shift.h"
#include <math.h>

/* Returns the radius of condition i in units of sigma, at most `cap`; NaN if it needs a search,
 * because its bounds have more than mean and range. */
static double direct_radius(const cr_evaluation *e, int i, double cap)
{
    const cr_given *g = &e->conditions.question.given;
    const cr_condition *c = e->conditions.each + i;
    const cr_bound *b = e->bounds + i;
    const uint32_t counted = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE,
                   named = e->conditions.question.solver_constraints;
    if (c->law) return cr_distribution_bound_radius(c->law, b->transformed_mean, c->threshold, cap);
    if (!c->is_binomial || b->moments.constraints != counted) return NAN;
    if (named && (named & counted) != counted) return NAN;
    if (!c->pairs.samples)
        return cr_shift_max_radius(b->failure_probability, 0.5 * (1 - c->threshold), cap);
    /* The target radius is tried first, so that no search falls short of it. */
    const double target = g->target_radius * (1 + CR_TARGET_MARGIN) / b->moments.sigma;
    return fmin(cr_antithetic_radius(&c->pairs, b->failure_probability, target), cap);
}

/* The true mean has one condition: that it moves by the tolerance at most, to either side. */
static certreg_status radius_of_true_mean(cr_deadline *deadline, const cr_evaluation *e, double cap,
                                          cr_condition_radius *out, certreg_error *why)
{
    certreg_radius found = {.struct_size = sizeof found};
    cr_radius_options how = cr_radius_default(deadline);
    how.cap = cap;
    const certreg_status status =
        cr_radius_change_within(&how, &e->bounds->moments, e->conditions.question.given.constraints,
                                e->conditions.each->score.tolerance, &found, why);
    out->outcome = found.outcome;
    out->radius = found.radius;
    out->limiting_side = found.limiting_side;
    return status;
}

/* Finds the least radius of all conditions: directly if a condition needs no search, then by one
 * search up to that radius for all remaining conditions. */
static certreg_status radius_of_scores(cr_deadline *deadline, const cr_evaluation *e, double cap,
                                       cr_condition_radius *out, certreg_error *why)
{
    const cr_conditions *conditions = &e->conditions;
    certreg_bounds searched[CR_CONDITIONS];
    double threshold[CR_CONDITIONS], least = cap;
    int place[CR_CONDITIONS], searches = 0;
    for (int i = 0; i < conditions->count && least > 0; i++) {
        const double radius = direct_radius(e, i, least);
        /* A search for pairs may take a tenth of a second. */
        if (conditions->each[i].pairs.samples && cr_deadline_expired(deadline))
            return CERTREG_E_DEADLINE;
        if (isnan(radius)) {
            searched[searches] = e->bounds[i].moments;
            threshold[searches] = conditions->each[i].threshold;
            place[searches++] = i;
        } else if (radius < least) {
            least = radius;
            out->limiting = i;
        }
    }
    const int capped = least >= cap;
    certreg_radius found = {.struct_size = sizeof found};
    found.radius = least > 0 ? nextafter(least * e->bounds->moments.sigma, 0) : 0;
    found.outcome = CERTREG_OUTCOME_CAPPED; /* at the radius above, unless a search ends earlier */
    if (searches && least > 0) {
        cr_radius_options how = cr_radius_default(deadline);
        how.cap = least;
        const cr_mean_conditions remaining = {searched, threshold, (size_t)searches,
                                              conditions->question.solver_constraints};
        const certreg_status status = cr_radius_mean_above(&how, &remaining, &found, why);
        if (status) return status;
        if (found.outcome != CERTREG_OUTCOME_CAPPED) out->limiting = place[found.limiting];
    }
    out->radius = found.radius;
    out->outcome = found.outcome;
    if (found.outcome == CERTREG_OUTCOME_CAPPED && !capped)
        out->outcome = CERTREG_OUTCOME_CERTIFIED;
    if (!(out->radius > 0)) out->outcome = CERTREG_OUTCOME_ABSTAINED;
    out->limiting_side = cr_conditions_side(conditions->each + out->limiting);
    return CERTREG_OK;
}

certreg_status cr_condition_radius_find(const cr_context *w, const cr_evaluation *e, double enough,
                                        cr_condition_radius *out)
{
    cr_deadline *deadline = w->record->deadline;
    const double start = cr_deadline_now(deadline), in_sigma = enough / w->record->input.min_sigma,
                 cap = fmin(CR_MAX_RADIUS, nextafter(in_sigma, INFINITY) * (1 + 1e-15));
    cr_condition_radius found = {.direction = e->conditions.direction};
    const certreg_status status = e->conditions.each->score.kind == CR_SCORE_OUTPUT
                                      ? radius_of_true_mean(deadline, e, cap, &found, w->why)
                                      : radius_of_scores(deadline, e, cap, &found, w->why);
    deadline->constant_seconds += cr_deadline_now(deadline) - start;
    found.constraints = e->bounds[found.limiting].moments.constraints;
    *out = (cr_condition_radius){.outcome = CERTREG_OUTCOME_ABSTAINED};
    if (!status) *out = found;
    return status;
}

certreg_status cr_condition_radius_range(const cr_context *w, const cr_evaluation *e, double radius,
                                         double *least, double *greatest)
{
    certreg_mean_change change = {.struct_size = sizeof change};
    cr_evaluation_budget effort;
    const cr_worst_case_instance given = {&e->bounds->moments,
                                          e->conditions.question.given.constraints, radius};
    const certreg_status status =
        cr_worst_case(&given, CERTREG_WORST_CASE_EVALUATIONS, &effort, &change, w->why);
    *least = change.mean_least;
    *greatest = change.mean_greatest;
    return status;
}
