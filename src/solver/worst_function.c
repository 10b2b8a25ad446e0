/* The worst function at a radius (theory 3.6). Each search of a bound ends at points; their
 * functions are made, measured and checked against all constraints. */
#include "solver/worst_function.h"
#include "solver/tangent_search.h"
#include "solver/constraint_subsets.h"
#include "solver/closed_form_bound.h"
#include "solver/problem_setup.h"
#include "solver/extremal_function.h"
#include <float.h>
#include <math.h>

/* The least bound so far, and the best function at the ends of its searches: of the functions with
 * all constraints the one with the greatest change of its mean. */
typedef struct question {
    const cr_one_sided *rise; /* with all constraints */
    cr_tangent_pair box;
    double bound, mean; /* mean: what `best` is about */
    certreg_worst_function best;
} question;

static const double tolerance = 1e-6; /* in units of the function's own deviation */
static const double roundings = 1e-5; /* of a value, in the same unit */

static int within(double x, double low, double high, double slack)
{
    return x >= low - slack && x <= high + slack;
}

/* Returns whether the function has all constraints as a model, with the gradient norm |E[f t]|. */
static int keeps_to(const cr_one_sided *rise, const certreg_worst_function *f, double mean)
{
    const double slack = tolerance * sqrt(f->variance), away = mean + f->mean - rise->moment_center;
    return within(mean + f->mean, rise->mean_lo, rise->mean_hi, slack) &&
           f->variance <= rise->variance * (1 + tolerance) &&
           f->variance + away * away <= rise->moment * (1 + tolerance) &&
           within(fabs(f->gradient), rise->gradient_lo, rise->gradient_hi, slack);
}

/* Returns whether its values have digits: huge multipliers that nearly cancel leave none. */
static int has_digits(const certreg_worst_function *f)
{
    const double terms = fabs(f->offset) + fabs(f->slope);
    return DBL_EPSILON * terms <= roundings * sqrt(f->variance);
}

static void offer(question *q, const cr_fixed_mean_dual *point)
{
    certreg_worst_function f;
    if (point->impossible) return;
    cr_function_make(point, &f);
    cr_function_measure(&f, q->rise->r, q->rise->effort);
    const int better = !q->best.region_count || f.change > q->best.change;
    if (!better || !(f.change < INFINITY) || !has_digits(&f)) return;
    if (!keeps_to(q->rise, &f, point->mean)) return;
    q->best = f;
    q->mean = point->mean;
}

/* Offers the function of a bound without a search: without a range, or if nothing can vary. */
static void offer_formula(question *q, const cr_one_sided *rise, double bound)
{
    const int ranged = rise->range_lo > -INFINITY || rise->range_hi < INFINITY;
    cr_fixed_mean_dual point = {
        .mean = fmin(fmax(rise->moment_center, rise->mean_lo), rise->mean_hi), .constant = 1};
    point.problem = cr_point_describe(rise, point.mean, 0, 0);
    if (bound > 0 && (ranged || !cr_formula_point(rise, &point))) return;
    offer(q, &point);
}

static int ask(void *context, const cr_one_sided *rise)
{
    question *q = context;
    const double bound = cr_box_bound(rise, 0, &q->box);
    q->bound = fmin(q->bound, bound);
    for (int i = 0; i < q->box.count; i++) offer(q, q->box.point + i);
    if (!q->box.count) offer_formula(q, rise, bound);
    return q->box.tight;
}

/* Returns the bound at this radius. */
static double search(question *q, double r)
{
    cr_one_sided rise = *q->rise;
    rise.r = r;
    q->bound = INFINITY;
    cr_constraint_subsets subsets = cr_constraint_subsets_of(&rise, ask, q);
    cr_constraint_subsets_ask(&subsets, 1, rise.effort);
    return q->bound;
}

#define MOST_ATTEMPTS 6
static const double least_radius = 1e-8; /* below, the bound hardly depends on the function */

/* Constraints do not depend on the radius, so a function found at another one will do as well. */
static void search_nearby(question *q)
{
    double r = fmax(0.75 * q->rise->r, least_radius);
    for (int i = 0; i < MOST_ATTEMPTS && cr_budget_left(q->rise->effort); i++, r *= 0.75) {
        search(q, r);
        if (q->best.region_count) return;
    }
}

static certreg_status check(double radius, int32_t side, certreg_error *why)
{
    if (side != CERTREG_SIDE_LOWER && side != CERTREG_SIDE_UPPER)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "side is %d; it must be CERTREG_SIDE_LOWER or CERTREG_SIDE_UPPER",
                            side);
    if (!(radius > 0 && radius < INFINITY))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "radius is %g; a worst function needs a positive and finite one",
                            radius);
    return CERTREG_OK;
}

static certreg_status check_reach(const cr_one_sided *rise, double radius, certreg_error *why)
{
    const double most = rise->range_hi < INFINITY ? CR_LARGEST_FINITE_RADIUS
                                                  : CR_LARGEST_OPEN_RADIUS;
    if (rise->r <= most) return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_INVALID,
        "radius is %g, which is %g sigma; a worst function with this range is given up "
        "to %g sigma",
        radius, rise->r, most);
}

static certreg_status none_found(double bound, certreg_error *why)
{
    if (bound == INFINITY)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "constraints leave the change of the mean without a bound, so no function "
            "is the worst; name the variance, or the mean and the range");
    return cr_error_set(
        why, CERTREG_E_INVALID,
        "constraints bound the change of the mean by %g, but no function that comes "
        "near it was found; name the variance, or fewer constraints",
        bound);
}

/* Returns whether the range was dropped, since it bounds nothing (problem_setup.c). */
static int leaves_range(const certreg_bounds *given, const certreg_worst_function *f)
{
    return (given->range_lo > -INFINITY || given->range_hi < INFINITY) &&
           f->range_lo == -INFINITY && f->range_hi == INFINITY && f->variance > 0;
}

certreg_status cr_worst_function(const cr_worst_case_instance *given, int32_t side,
                                 uint32_t max_evaluations, cr_evaluation_budget *effort,
                                 certreg_worst_function *out, certreg_error *why)
{
    const double radius = given->radius;
    cr_problem_pair both;
    *out = (certreg_worst_function){.struct_size = sizeof *out, .bound = INFINITY};
    *effort = (cr_evaluation_budget){.most = (int)max_evaluations - CR_RESERVED_FOR_WORST_CASE};
    certreg_status status = check(radius, side, why);
    if (!status) status = cr_problem_setup(given->bounds, given->constraints, effort, &both, why);
    if (status) return status;
    cr_one_sided *rise = side == CERTREG_SIDE_UPPER ? &both.rise : &both.drop;
    rise->r = cr_constraints_radius(&both, radius);
    if ((status = check_reach(rise, radius, why))) return status;
    question q = {.rise = rise};
    const double bound = cr_constraints_up(&both, search(&q, rise->r));
    if (!q.best.region_count) search_nearby(&q);
    if (!q.best.region_count) return none_found(bound, why);
    *out = q.best;
    cr_function_give(out, rise, q.mean, both.unit, side);
    out->constraints = both.used;
    if (leaves_range(given->bounds, out)) out->constraints &= ~(uint32_t)CERTREG_CONSTRAINT_RANGE;
    out->radius = radius;
    out->bound = bound;
    out->change = fmin(fmax(out->change, 0), bound);
    return CERTREG_OK;
}
