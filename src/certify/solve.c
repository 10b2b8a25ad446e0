#include "certify/laws.h"
#include "certify/solve.h"
#include "bisection/radius.h"
#include "bounds/bounds.h"
#include "question/looks.h"
#include "record/sweep.h"
#include "solver/worst_case.h"
#include <math.h>

/* A target is tried first, so that no search falls short of it. */
static double threshold_of(const cr_conditions *conditions, int i, const certreg_bounds *b)
{
    const cr_condition *c = conditions->each + i;
    if (!c->pairs.samples) return c->threshold;
    return cr_pairs_threshold(&c->pairs, b->mean_lo,
                              conditions->question.target * (1 + CR_LOOKS_MARGIN) / b->sigma);
}

/* The least radius of the conditions that have a law, in units of sigma. */
static double by_laws(const cr_answer *a, double cap, size_t *limiting)
{
    const cr_conditions *conditions = &a->conditions;
    double least = cap;
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        if (!c->law || !(least > 0)) continue;
        const double radius = cr_law_radius(c->law, c->law->mean, c->threshold, least);
        if (radius < least) least = radius, *limiting = (size_t)i;
    }
    return least;
}

/* The others, up to there. */
static certreg_status above(cr_bisection *how, const cr_answer *a, certreg_radius *radius,
                            certreg_error *why)
{
    const cr_conditions *conditions = &a->conditions;
    double threshold[CR_CONDITIONS];
    for (int i = 0; i < conditions->count; i++) {
        if (conditions->each[i].pairs.samples && cr_watch_late(how->watch))
            return CERTREG_E_DEADLINE;
        threshold[i] = conditions->each[i].law ? -INFINITY
                                               : threshold_of(conditions, i, a->bounds + i);
    }
    const double cap = how->cap;
    size_t limiting = 0;
    how->cap = by_laws(a, cap, &limiting);
    const cr_mean_conditions given = {a->bounds, threshold, (size_t)conditions->count,
                                      conditions->question.solver_constraints};
    const certreg_status status = cr_radius_above(how, &given, radius, why);
    const int others_limit = how->cap > 0 && radius->outcome != CERTREG_OUTCOME_CAPPED;
    if (status || !(how->cap < cap) || others_limit) return status;
    if (radius->radius > 0) radius->outcome = CERTREG_OUTCOME_CERTIFIED;
    radius->limiting = limiting;
    return CERTREG_OK;
}

certreg_status cr_solve_radius(const cr_work *w, const cr_answer *a, double most, cr_solved *out)
{
    const cr_question *q = &a->conditions.question;
    const int true_mean = a->conditions.each->score.kind == CR_SCORE_OUTPUT;
    const double start = cr_watch_now(w->record->watch);
    certreg_radius found = {.struct_size = sizeof found};
    cr_bisection how = cr_radius_default(w->record->watch);
    how.cap = fmin(how.cap, nextafter(most / w->record->input.least_sigma, INFINITY) * (1 + 1e-15));
    *out = (cr_solved){.outcome = CERTREG_OUTCOME_ABSTAINED};
    const certreg_status status = true_mean ? cr_radius_within(&how, a->bounds, q->constraints,
                                                               a->conditions.each->score.tolerance,
                                                               &found, w->why)
                                            : above(&how, a, &found, w->why);
    w->record->watch->fixed += cr_watch_now(w->record->watch) - start;
    if (status) return status;
    *out = (cr_solved){
        .outcome = found.outcome, .radius = found.radius, .direction = a->conditions.direction};
    out->limiting = (int)found.limiting;
    out->constraints = a->bounds[found.limiting].constraints;
    out->limiting_side = true_mean ? found.limiting_side
                                   : cr_conditions_side(a->conditions.each + found.limiting);
    return CERTREG_OK;
}

void cr_solve_look_ahead(const cr_work *w, cr_conditions *conditions, size_t direction)
{
    if (!cr_bounds_want(w->replay, conditions)) {
        cr_sweep_forget(w->replay);
        cr_bounds_want(w->replay, conditions);
    }
    if (!cr_sweep_pending(w->replay)) return;
    for (size_t i = direction + 1, room = 1; room && i < conditions->question.directions; i++) {
        cr_conditions_turn(w->record, conditions, i);
        room = (size_t)cr_bounds_want(w->replay, conditions);
    }
    cr_conditions_turn(w->record, conditions, direction);
}

certreg_status cr_solve_directions(const cr_work *w, cr_answer *a, cr_solved *out)
{
    cr_conditions *conditions = &a->conditions;
    certreg_status status = cr_solve_radius(w, a, INFINITY, out);
    for (size_t i = 1; !status && i < conditions->question.directions && out->radius > 0; i++) {
        cr_solved here;
        cr_conditions_turn(w->record, conditions, i);
        cr_solve_look_ahead(w, conditions, i);
        status = cr_laws_bounds(w, a);
        if (a->abstained) return *out = (cr_solved){.direction = i}, status;
        if (!status) status = cr_solve_radius(w, a, out->radius, &here);
        if (!status && here.radius < out->radius) *out = here;
    }
    return status;
}

certreg_status cr_solve_mean(const cr_work *w, const cr_answer *a, double radius, double *least,
                             double *greatest)
{
    certreg_mean_change change = {.struct_size = sizeof change};
    cr_effort effort;
    const cr_worst_case_instance given = {a->bounds, a->conditions.question.constraints, radius};
    const certreg_status status =
        cr_worst_case(&given, CERTREG_WORST_CASE_EVALUATIONS, &effort, &change, w->why);
    *least = change.mean_least, *greatest = change.mean_greatest;
    return status;
}
