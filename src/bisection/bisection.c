#include "bisection/bisection.h"
#include "base/handle.h"
#include "base/structs.h"
#include "bisection/search.h"
#include "solver/constraints.h"
#include "solver/solver.h"
#include <math.h>

enum { OLDEST_RADIUS = sizeof(certreg_radius), OLDEST_BOUNDS = sizeof(certreg_bounds) };

struct certreg_bisection {
    certreg_error error;
    cr_busy busy;
    cr_effort effort; /* of the last call: not the solver's, which others may use meanwhile */
    cr_watch *watch;
    int32_t owns_memory;
};

size_t certreg_bisection_size(void)
{
    return sizeof(certreg_bisection);
}

certreg_status certreg_bisection_create(certreg_solver *borrowed, void *memory, size_t bytes,
                                        certreg_bisection **out)
{
    if (!out) return CERTREG_E_INVALID;
    *out = NULL;
    if (!borrowed) return CERTREG_E_INVALID;
    if (cr_busy_is_foreign(&borrowed->busy)) return CERTREG_E_WRONG_STATE;
    int owned;
    const certreg_status status = cr_handle_take(memory, bytes, sizeof **out, &owned, (void **)out);
    if (status) return status;
    cr_error_clear(&(*out)->error);
    cr_busy_init(&(*out)->busy);
    (*out)->owns_memory = owned;
    return CERTREG_OK;
}

void certreg_bisection_destroy(certreg_bisection *bisection)
{
    if (bisection && bisection->owns_memory) cr_handle_release(bisection);
}

void cr_bisection_hurry(certreg_bisection *bisection, cr_watch *watch)
{
    bisection->watch = watch;
}

const certreg_error *certreg_bisection_error(const certreg_bisection *bisection)
{
    return bisection ? cr_busy_error(&bisection->busy, &bisection->error) : NULL;
}

/* ---- all conditions together */
typedef struct least { /* over the conditions so far */
    double radius;
    size_t binding;
} least;

typedef struct question {
    cr_goal goal;
    double best; /* the radius that is proven so far */
    double most; /* no more than this is of use */
} question;

static int ask(void *context, const cr_rise *side, int wanted)
{
    question *q = context;
    q->goal.side = *side;
    return cr_search_radius(&q->goal, wanted, q->most, &q->best);
}

/* `share`: of the evaluations that are left. */
static certreg_status add_goal(const certreg_bisection *bisection, const cr_goal *goal,
                               double share, size_t index, least *so_far)
{
    if (cr_watch_late(bisection->watch)) return CERTREG_E_DEADLINE;
    question q = {.goal = *goal, .most = so_far->radius};
    cr_families families = cr_families_of(&goal->side, ask, &q);
    cr_effort *effort = goal->side.effort;
    const int most = cr_effort_narrow(effort, (int)(share * (effort->most - effort->used)));
    if (q.most > 0) cr_families_ask(&families, 1, effort);
    effort->most = most;
    if (q.best < so_far->radius) *so_far = (least){q.best, index};
    return CERTREG_OK;
}

static void fill(const least *found, double sigma, certreg_radius *out)
{
    const int capped = found->radius >= CR_LARGEST_RADIUS;
    out->radius = found->radius > 0 ? nextafter(found->radius * sigma, 0) : 0;
    out->outcome = !(out->radius > 0) ? CERTREG_OUTCOME_ABSTAINED
                   : capped           ? CERTREG_OUTCOME_CAPPED
                                      : CERTREG_OUTCOME_CERTIFIED;
    out->binding = found->binding;
}

static certreg_status give(certreg_status status, const certreg_radius *found, certreg_radius *out)
{
    const certreg_radius nothing = {.struct_size = sizeof nothing};
    cr_struct_write(out, out->struct_size, status ? &nothing : found, sizeof nothing);
    return status;
}

/* ---- a call */
certreg_status cr_bisection_enter(certreg_bisection *bisection)
{
    return bisection ? cr_busy_enter(&bisection->busy, &bisection->error) : CERTREG_E_INVALID;
}

certreg_status cr_bisection_leave(certreg_bisection *bisection, certreg_status status)
{
    return cr_busy_leave(&bisection->busy, status);
}

const cr_effort *cr_bisection_effort(const certreg_bisection *bisection)
{
    return &bisection->effort;
}

const certreg_error *cr_bisection_error(const certreg_bisection *bisection)
{
    return &bisection->error;
}

static certreg_status refuse(certreg_status status, certreg_radius *out)
{
    return cr_struct_check(out, OLDEST_RADIUS, "radius", NULL) ? status : give(status, NULL, out);
}

/* ---- within */
static certreg_status find_within(certreg_bisection *bisection, const certreg_bounds *bounds,
                                  uint32_t constraints, double tolerance, certreg_radius *found)
{
    cr_constraints sides;
    cr_effort *effort = &bisection->effort;
    if (!(tolerance > 0) || tolerance == INFINITY) {
        cr_fail(&bisection->error, CERTREG_E_INVALID,
                "tolerance is %g; it must be positive and finite", tolerance);
        return bisection->error.value = tolerance, CERTREG_E_INVALID;
    }
    *effort = (cr_effort){.most = CR_RADIUS_EVALUATIONS};
    certreg_status status =
        cr_constraints_read(bounds, constraints, effort, &sides, &bisection->error);
    if (status) return status;
    least best = {CR_LARGEST_RADIUS, 0};
    const double limit = cr_constraints_limit(&sides, tolerance);
    status = add_goal(bisection, &(cr_goal){.side = sides.drop, .limit = limit}, 0.5, 0, &best);
    if (!status)
        status = add_goal(bisection, &(cr_goal){.side = sides.rise, .limit = limit}, 1, 1, &best);
    if (!status) fill(&best, sides.sigma, found);
    return status;
}

certreg_status cr_bisection_within(certreg_bisection *bisection, const certreg_bounds *bounds,
                                   uint32_t constraints, double tolerance, certreg_radius *out)
{
    certreg_radius found = {.struct_size = sizeof found};
    cr_error_clear(&bisection->error);
    const certreg_status status = cr_struct_check(out, OLDEST_RADIUS, "radius", &bisection->error);
    return status
               ? status
               : give(find_within(bisection, bounds, constraints, tolerance, &found), &found, out);
}

certreg_status certreg_bisection_within(certreg_bisection *bisection, const certreg_bounds *bounds,
                                        uint32_t constraints, double tolerance, certreg_radius *out)
{
    const certreg_status refused = cr_bisection_enter(bisection);
    if (refused) return refuse(refused, out);
    return cr_bisection_leave(bisection,
                              cr_bisection_within(bisection, bounds, constraints, tolerance, out));
}

/* ---- above */
static certreg_status add_function(certreg_bisection *bisection, const certreg_bounds *bounds,
                                   size_t index, uint32_t constraints, double threshold,
                                   double *sigma, least *so_far)
{
    certreg_bounds one;
    cr_constraints sides;
    certreg_status status =
        cr_struct_element(&one, sizeof one, bounds, index, "bounds", &bisection->error);
    cr_effort *effort = &bisection->effort;
    *effort = (cr_effort){.most = CR_RADIUS_EVALUATIONS}; /* of each function */
    if (!status) status = cr_constraints_read(&one, constraints, effort, &sides, &bisection->error);
    if (status) return status;
    if (index == 0) *sigma = sides.sigma;
    if (sides.sigma != *sigma)
        return cr_fail(&bisection->error, CERTREG_E_INVALID,
                       "bounds[%zu].sigma is %g, but that of bounds[0] is %g", index, sides.sigma,
                       *sigma);
    if (!sides.has_mean)
        return cr_fail(&bisection->error, CERTREG_E_INVALID,
                       "bounds[%zu].constraints lacks the mean, which a threshold needs", index);
    if (isnan(threshold))
        return cr_fail(&bisection->error, CERTREG_E_INVALID, "threshold[%zu] is not a number",
                       index);
    const cr_goal goal = {.side = sides.drop,
                          .weight = 1,
                          .limit = cr_constraints_limit(&sides, -threshold),
                          .strict = 1};
    return add_goal(bisection, &goal, 1, index, so_far);
}

certreg_status cr_bisection_above(certreg_bisection *bisection, const certreg_bounds *bounds,
                                  const double *threshold, size_t count, uint32_t constraints,
                                  certreg_radius *out)
{
    cr_error_clear(&bisection->error);
    certreg_status status = cr_struct_check(out, OLDEST_RADIUS, "radius", &bisection->error);
    if (status) return status;
    certreg_radius found = {.struct_size = sizeof found};
    least so_far = {CR_LARGEST_RADIUS, 0};
    double sigma = 0;
    if (!count)
        status = cr_fail(&bisection->error, CERTREG_E_INVALID,
                         "count is 0: there is no function to keep above its threshold");
    if (!status) status = cr_struct_check(bounds, OLDEST_BOUNDS, "bounds", &bisection->error);
    for (size_t i = 0; i < count && !status; i++)
        status = add_function(bisection, bounds, i, constraints, threshold ? threshold[i] : 0,
                              &sigma, &so_far);
    if (!status) fill(&so_far, sigma, &found);
    return give(status, &found, out);
}

certreg_status certreg_bisection_above(certreg_bisection *bisection, const certreg_bounds *bounds,
                                       const double *threshold, size_t count, uint32_t constraints,
                                       certreg_radius *out)
{
    const certreg_status refused = cr_bisection_enter(bisection);
    if (refused) return refuse(refused, out);
    return cr_bisection_leave(
        bisection, cr_bisection_above(bisection, bounds, threshold, count, constraints, out));
}
