/* The largest radius of several conditions (theory 4). Each is searched up to the least radius of
 * the conditions before it, which is often confirmed at once. */
#include "bisection/radius.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "bisection/search.h"
#include "solver/constraint_subsets.h"
#include "base/constants.h"
#include "solver/problem_setup.h"
#include "statistics/gaussian_shift.h"
#include <math.h>

/* The least radius so far of one call. */
typedef struct call {
    cr_bisection *how;
    certreg_error *why;
    double least, sigma;
    size_t limiting; /* the search that found it */
} call;

typedef struct question {
    cr_radius_goal goal;
    double best; /* the radius that is proven so far */
    double most; /* a larger radius is of no use */
} question;

cr_bisection cr_radius_default(cr_deadline *watch)
{
    return (cr_bisection){.accuracy = CR_MIN_ACCURACY,
                          .cap = CR_MAX_RADIUS,
                          .evaluations = CERTREG_RADIUS_EVALUATIONS - CR_RESERVED_FOR_VERIFICATION,
                          .watch = watch};
}

static call begin(cr_bisection *how, certreg_radius *out, certreg_error *why)
{
    *out = (certreg_radius){.struct_size = sizeof *out};
    return (call){.how = how, .why = why, .least = how->cap};
}

static void allow_for_one_more(cr_bisection *how)
{
    how->effort.most = how->effort.used + how->evaluations;
}

static int ask(void *context, const cr_one_sided *rise)
{
    question *q = context;
    q->goal.rise = *rise;
    return cr_search_radius(&q->goal, q->most, &q->best);
}

static void take(call *c, double radius, size_t place)
{
    if (!(radius < c->least)) return;
    c->least = radius;
    c->limiting = place;
}

/* Searches one condition, with this share of the remaining evaluations. */
static certreg_status search(call *c, const cr_radius_goal *goal, double share, size_t place)
{
    cr_bisection *how = c->how;
    if (cr_deadline_late(how->watch)) return CERTREG_E_DEADLINE;
    question q = {.goal = *goal, .most = c->least};
    q.goal.accuracy = how->accuracy;
    q.goal.cap = how->cap;
    cr_constraint_subsets subsets = cr_constraint_subsets_of(&goal->rise, ask, &q);
    cr_evaluation_budget *effort = &how->effort;
    const int most = cr_budget_narrow(effort, (int)(share * (effort->most - effort->used)));
    if (q.most > 0) cr_constraint_subsets_ask(&subsets, 1, effort);
    effort->most = most;
    take(c, q.best, place);
    return CERTREG_OK;
}

static void fill(const call *c, certreg_radius *out)
{
    const int capped = c->least >= c->how->cap;
    out->radius = c->least > 0 ? nextafter(c->least * c->sigma, 0) : 0;
    out->outcome = !(out->radius > 0) ? CERTREG_OUTCOME_ABSTAINED
                   : capped           ? CERTREG_OUTCOME_CAPPED
                                      : CERTREG_OUTCOME_CERTIFIED;
}

certreg_status cr_radius_change_within(cr_bisection *how, const certreg_bounds *bounds,
                                       uint32_t constraints, double tolerance, certreg_radius *out,
                                       certreg_error *why)
{
    cr_problem_pair both;
    call c = begin(how, out, why);
    allow_for_one_more(how);
    if (!(tolerance > 0) || tolerance == INFINITY)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "tolerance is %g; it must be positive and finite", tolerance);
    certreg_status status = cr_problem_setup(bounds, constraints, &how->effort, &both, why);
    if (status) return status;
    c.sigma = both.sigma;
    const double limit = cr_constraints_limit(&both, tolerance);
    /* The side with more of the range to go probably has the smaller radius, so that the second
     * side only has to prove it. */
    const int first = both.rise.range_hi - both.rise.mean_hi >
                      both.drop.range_hi - both.drop.mean_hi;
    for (int i = 0; i < 2 && !status; i++) {
        const int upper = i ^ first;
        status = search(&c,
                        &(cr_radius_goal){.rise = upper ? both.rise : both.drop, .limit = limit},
                        i ? 1 : 0.5, (size_t)upper);
    }
    if (status) return status;
    fill(&c, out);
    out->limiting_side = c.limiting ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER;
    return CERTREG_OK;
}

/* Returns the radius in closed form (theory 2.1). NaN if it needs a search: more is known than mean
 * and range, or quotients or quantiles lose digits. */
static double plain_radius(const cr_problem_pair *both, double limit, double most)
{
    const cr_one_sided *rise = &both->drop;
    const double span = rise->range_hi - rise->range_lo,
                 from = (rise->mean_hi - rise->range_lo) / span,
                 to = (limit - rise->range_lo) / span;
    const int plain = both->used == (CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE);
    if (!plain || !(from > CR_TINY && from < 0.75 && to < 0.75)) return NAN;
    const double radius = cr_shift_max_radius(from, to, most);
    return radius > 0.01 ? radius : NAN; /* the search has more digits of a short one */
}

static certreg_status add_function(call *c, const cr_mean_conditions *conditions, size_t index)
{
    const double threshold = conditions->threshold ? conditions->threshold[index] : 0;
    certreg_bounds one;
    cr_problem_pair both;
    allow_for_one_more(c->how);
    certreg_status status =
        cr_struct_element(&one, sizeof one, conditions->bounds, index, "bounds", c->why);
    if (!status)
        status = cr_problem_setup(&one, conditions->constraints, &c->how->effort, &both, c->why);
    if (status) return status;
    if (index == 0) c->sigma = both.sigma;
    if (both.sigma != c->sigma)
        return cr_error_set(c->why, CERTREG_E_INVALID,
                            "bounds[%zu].sigma is %g; it must equal bounds[0].sigma, %g", index,
                            both.sigma, c->sigma);
    if (!both.has_mean)
        return cr_error_set(
            c->why, CERTREG_E_INVALID,
            "bounds[%zu].constraints must have CERTREG_CONSTRAINT_MEAN: a threshold is "
            "for the mean",
            index);
    if (isnan(threshold))
        return cr_error_set(c->why, CERTREG_E_INVALID, "threshold[%zu] is not a number", index);
    const double limit = cr_constraints_limit(&both, -threshold),
                 radius = plain_radius(&both, limit, c->least);
    take(c, radius, index);
    if (!isnan(radius)) return CERTREG_OK;
    return search(c, &(cr_radius_goal){.rise = both.drop, .weight = 1, .limit = limit, .strict = 1},
                  1, index);
}

certreg_status cr_radius_mean_above(cr_bisection *how, const cr_mean_conditions *conditions,
                                    certreg_radius *out, certreg_error *why)
{
    call c = begin(how, out, why);
    if (!conditions->count)
        return cr_error_set(why, CERTREG_E_INVALID, "count is 0; give at least one function");
    certreg_status status = cr_struct_check(conditions->bounds, CR_OLDEST_BOUNDS, "bounds", why);
    for (size_t i = 0; i < conditions->count && !status; i++)
        status = add_function(&c, conditions, i);
    if (status) return status;
    fill(&c, out);
    out->limiting = c.limiting;
    return CERTREG_OK;
}
