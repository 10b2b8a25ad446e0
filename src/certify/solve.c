#include "certify/solve.h"
#include "bisection/bisection.h"
#include "question/question.h"
#include <math.h>

enum { ROOM = 1024 }; /* bytes of a handle on the stack */
typedef struct handles {
    _Alignas(64) unsigned char of_solver[ROOM];
    _Alignas(64) unsigned char of_bisection[ROOM];
    certreg_solver *solver;
    certreg_bisection *bisection;
} handles;

static certreg_status make(certreg_estimator *e, handles *h)
{
    certreg_status status = certreg_solver_create(h->of_solver, ROOM, &h->solver);
    if (!status) status = certreg_bisection_create(h->solver, h->of_bisection, ROOM, &h->bisection);
    return status ? cr_fail(&e->error, status, "no room for a solver") : CERTREG_OK;
}

/* An infeasible box is an outcome, and lateness is not the solver's fault. */
static certreg_status pass_on(certreg_estimator *e, certreg_status status,
                              const certreg_error *error)
{
    if (!status || status == CERTREG_E_INFEASIBLE || status == CERTREG_E_DEADLINE) return status;
    return cr_fail(&e->error, status, "%s", error->text);
}

static certreg_status above(const handles *h, const cr_answer *a, certreg_radius *radius)
{
    const cr_conditions *conditions = &a->conditions;
    double threshold[CR_CONDITIONS];
    for (int i = 0; i < conditions->count; i++) threshold[i] = conditions->each[i].threshold;
    return cr_bisection_above(h->bisection, a->bounds, threshold, (size_t)conditions->count,
                              cr_question_constraints(&conditions->question), radius);
}

static certreg_status within(const handles *h, const cr_answer *a, certreg_radius *radius)
{
    const cr_question *q = &a->conditions.question;
    return cr_bisection_within(h->bisection, a->bounds, q->constraints, q->tolerance, radius);
}

certreg_status cr_solve_radius(certreg_estimator *e, const cr_answer *a, cr_solved *out)
{
    const int true_mean = a->conditions.question.center == CERTREG_CENTER_TRUE_MEAN;
    const double start = cr_estimator_now(e);
    certreg_radius found = {.struct_size = sizeof found};
    handles h;
    *out = (cr_solved){.outcome = CERTREG_OUTCOME_ABSTAINED};
    certreg_status status = make(e, &h);
    if (status) return status;
    cr_bisection_hurry(h.bisection, e->clock.watch);
    status = (true_mean ? within : above)(&h, a, &found);
    e->clock.watch->fixed += cr_estimator_now(e) - start;
    if (status) return pass_on(e, status, cr_bisection_error(h.bisection));
    *out = (cr_solved){.outcome = found.outcome, .radius = found.radius};
    out->limiting = true_mean ? 0 : (int)found.binding;
    out->limiting_side = true_mean ? (found.binding ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER)
                                   : cr_condition_side(a->conditions.each + found.binding);
    return CERTREG_OK;
}

certreg_status cr_solve_mean(certreg_estimator *e, const cr_answer *a, double radius, double *least,
                             double *greatest)
{
    certreg_mean_change change = {.struct_size = sizeof change};
    handles h;
    certreg_status status = make(e, &h);
    if (status) return status;
    status = certreg_solver_worst_case(h.solver, a->bounds, a->conditions.question.constraints,
                                       radius, &change);
    *least = change.mean_least, *greatest = change.mean_greatest;
    return pass_on(e, status, certreg_solver_error(h.solver));
}
