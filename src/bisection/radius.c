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

/* The smallest radius so far of one call. */
typedef struct radius_call {
    cr_radius_options *options;
    certreg_error *why;
    double min_radius, sigma;
    size_t limiting; /* the search that found it */
} radius_call;

typedef struct condition_search {
    cr_radius_goal goal;
    double proven_radius; /* so far */
    double max_radius;    /* a larger one is of no use */
} condition_search;

cr_radius_options cr_radius_default(cr_deadline *deadline)
{
    return (cr_radius_options){.accuracy = CR_MIN_ACCURACY,
                               .cap = CR_MAX_RADIUS,
                               .evaluations_per_function =
                                   CERTREG_RADIUS_EVALUATIONS - CR_RESERVED_FOR_VERIFICATION,
                               .deadline = deadline};
}

static radius_call init_call(cr_radius_options *options, certreg_radius *out, certreg_error *why)
{
    *out = (certreg_radius){.struct_size = sizeof *out};
    return (radius_call){.options = options, .why = why, .min_radius = options->cap};
}

static void grant_evaluations(cr_radius_options *options)
{
    options->budget.limit = options->budget.used + options->evaluations_per_function;
}

static int search_condition(void *context, const cr_one_sided *rise)
{
    condition_search *search = context;
    search->goal.rise = *rise;
    return cr_search_radius(&search->goal, search->max_radius, &search->proven_radius);
}

static void lower_radius(radius_call *call, double radius, size_t index)
{
    if (!(radius < call->min_radius)) return;
    call->min_radius = radius;
    call->limiting = index;
}

/* Searches one condition, with this fraction of the remaining evaluations. */
static certreg_status search_one(radius_call *call, const cr_radius_goal *goal, double fraction,
                                 size_t index)
{
    cr_radius_options *options = call->options;
    if (cr_deadline_expired(options->deadline)) return CERTREG_E_DEADLINE;
    condition_search search = {.goal = *goal, .max_radius = call->min_radius};
    search.goal.accuracy = options->accuracy;
    search.goal.cap = options->cap;
    cr_constraint_subsets subsets =
        cr_constraint_subsets_make(&goal->rise, search_condition, &search);
    cr_evaluation_budget *budget = &options->budget;
    const int outer_limit =
        cr_budget_narrow(budget, (int)(fraction * (budget->limit - budget->used)));
    if (search.max_radius > 0) cr_constraint_subsets_solve(&subsets, 1, budget);
    budget->limit = outer_limit;
    lower_radius(call, search.proven_radius, index);
    return CERTREG_OK;
}

static void write_radius(const radius_call *call, certreg_radius *out)
{
    const int is_capped = call->min_radius >= call->options->cap;
    out->radius = call->min_radius > 0 ? nextafter(call->min_radius * call->sigma, 0) : 0;
    out->outcome = !(out->radius > 0) ? CERTREG_OUTCOME_ABSTAINED
                   : is_capped        ? CERTREG_OUTCOME_CAPPED
                                      : CERTREG_OUTCOME_CERTIFIED;
}

certreg_status cr_radius_change_within(cr_radius_options *options, const certreg_bounds *bounds,
                                       uint32_t constraints, double tolerance, certreg_radius *out,
                                       certreg_error *why)
{
    cr_problem_pair problems;
    radius_call call = init_call(options, out, why);
    grant_evaluations(options);
    if (!(tolerance > 0) || tolerance == INFINITY)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "tolerance is %g; it must be positive and finite", tolerance);
    certreg_status status = cr_problem_setup(bounds, constraints, &options->budget, &problems, why);
    if (status) return status;
    call.sigma = problems.sigma;
    const double limit = cr_problem_scale_limit(&problems, tolerance);
    /* The side with more of the range to go probably has the smaller radius, so that the second
     * side only has to prove it. */
    const int upper_is_first = problems.rise.range_hi - problems.rise.mean_hi >
                               problems.drop.range_hi - problems.drop.mean_hi;
    for (int i = 0; i < 2 && !status; i++) {
        const int upper = i ^ upper_is_first;
        status = search_one(
            &call, &(cr_radius_goal){.rise = upper ? problems.rise : problems.drop, .limit = limit},
            i ? 1 : 0.5, (size_t)upper);
    }
    if (status) return status;
    write_radius(&call, out);
    out->limiting_side = call.limiting ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER;
    return CERTREG_OK;
}

/* Returns the radius in closed form (theory 2.1). NaN if it needs a search: more is known than mean
 * and range, or quotients or quantiles lose digits. */
static double mean_and_range_radius(const cr_problem_pair *problems, double limit,
                                    double max_radius)
{
    const cr_one_sided *drop = &problems->drop;
    const double range = drop->range_hi - drop->range_lo,
                 probability = (drop->mean_hi - drop->range_lo) / range,
                 threshold = (limit - drop->range_lo) / range;
    const int has_closed_form = problems->constraints ==
                                (CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE);
    if (!has_closed_form || !(probability > CR_TINY && probability < 0.75 && threshold < 0.75))
        return NAN;
    const double radius = cr_shift_max_radius(probability, threshold, max_radius);
    return radius > 0.01 ? radius : NAN; /* the search has more digits of a short one */
}

static certreg_status search_function(radius_call *call, const cr_mean_conditions *conditions,
                                      size_t index)
{
    const double threshold = conditions->threshold ? conditions->threshold[index] : 0;
    certreg_bounds bounds;
    cr_problem_pair problems;
    grant_evaluations(call->options);
    certreg_status status =
        cr_struct_element(&bounds, sizeof bounds, conditions->bounds, index, "bounds", call->why);
    if (!status)
        status = cr_problem_setup(&bounds, conditions->constraints, &call->options->budget,
                                  &problems, call->why);
    if (status) return status;
    if (index == 0) call->sigma = problems.sigma;
    if (problems.sigma != call->sigma)
        return cr_error_set(call->why, CERTREG_E_INVALID,
                            "bounds[%zu].sigma is %g; it must equal bounds[0].sigma, %g", index,
                            problems.sigma, call->sigma);
    if (!problems.has_mean)
        return cr_error_set(
            call->why, CERTREG_E_INVALID,
            "bounds[%zu].constraints must have CERTREG_CONSTRAINT_MEAN: a threshold is "
            "for the mean",
            index);
    if (isnan(threshold))
        return cr_error_set(call->why, CERTREG_E_INVALID, "threshold[%zu] is not a number", index);
    const double limit = cr_problem_scale_limit(&problems, -threshold),
                 radius = mean_and_range_radius(&problems, limit, call->min_radius);
    lower_radius(call, radius, index);
    if (!isnan(radius)) return CERTREG_OK;
    return search_one(
        call, &(cr_radius_goal){.rise = problems.drop, .weight = 1, .limit = limit, .strict = 1}, 1,
        index);
}

certreg_status cr_radius_mean_above(cr_radius_options *options,
                                    const cr_mean_conditions *conditions, certreg_radius *out,
                                    certreg_error *why)
{
    radius_call call = init_call(options, out, why);
    if (!conditions->count)
        return cr_error_set(why, CERTREG_E_INVALID, "count is 0; give at least one function");
    certreg_status status = cr_struct_check(conditions->bounds, CR_OLDEST_BOUNDS, "bounds", why);
    for (size_t i = 0; i < conditions->count && !status; i++)
        status = search_function(&call, conditions, i);
    if (status) return status;
    write_radius(&call, out);
    out->limiting = call.limiting;
    return CERTREG_OK;
}
