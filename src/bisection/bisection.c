/* The largest radius at which conditions hold: the search for one function, for all of them, and
 * the public handle. */
#include "bisection/bisection.h"
#include "base/constants.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/os.h"
#include "base/struct_sizes.h"
#include "solver/solver.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>
#include <stddef.h>

/* ======== One search for a radius: closed forms first; then the root by drafts, which need not
 * be bounds; then nearby radii until one is proved (theory 4). */
#define CR_MIN_ACCURACY 1e-9
typedef struct cr_radius_goal {
    cr_one_sided rise; /* its r is set by the search */
    double weight, limit;
    int strict;      /* the bound has to stay below the limit, not only at it */
    double accuracy; /* relative */
    double cap;      /* the search goes no further */
} cr_radius_goal;

#define MAX_STEPS 40
#define MAX_VERIFICATIONS 40
#define MIN_NEWTON_STEPS 6 /* steps that Newton has before bisection may take over */

/* The minimum relative width of a bracket that drafts resolve; below, proven bounds lead. */
#define MIN_DRAFT_WIDTH 1e-6

/* Relative lengths of Newton's last step: its error is of the order of its square. */
#define FINAL_STEP 1e-12
#define DRAFT_STEP 1e-6
#define FIRST_REDUCTION 2e-11 /* relative: from a root to a radius that is likely to be proven */

/* Evaluations for the draft of a search, and for all of it. */
enum { ROOT_EVALUATIONS = 2500, SEARCH_EVALUATIONS = 4000 };

typedef struct radius_search {
    cr_radius_goal goal;
    cr_tangent_pair tangents; /* the next radius is searched from here */
    int conclusive;           /* the last radius is next to the largest */
    double width;             /* relative: a root ends at a bracket of this width */
    double infeasible_radius; /* smallest one seen; infinite: none */
} radius_search;

static double slack_of(const cr_radius_goal *goal, double bound)
{
    if (goal->limit == INFINITY) return bound < INFINITY ? INFINITY : -INFINITY;
    return goal->limit - bound - (goal->strict ? DBL_EPSILON * fabs(goal->limit) + DBL_MIN : 0);
}

/* Returns the slack at r and the slope of the bound in r, to draft accuracy. */
static double draft_slack(radius_search *s, double r, double *slope)
{
    s->goal.rise.r = r;
    cr_tangent_search(&s->goal.rise, s->goal.weight, CR_ROUGH_GAIN, &s->tangents);
    *slope = s->tangents.radius_slope;
    return s->goal.limit - s->tangents.value;
}

static int has_one_mean(const radius_search *s)
{
    return s->goal.rise.mean_lo == s->goal.rise.mean_hi;
}

/* Returns the proven slack at r; tangents.tight is set if its bound is near the minimum. At one
 * mean Newton's last step to the draft's min_gain leads as near as the search for the best of
 * several means does. */
static double proven_slack(radius_search *s, double r, double *slope)
{
    s->goal.rise.r = r;
    cr_tangent_search(&s->goal.rise, s->goal.weight,
                      has_one_mean(s) ? CR_ROUGH_GAIN : CR_FINAL_GAIN, &s->tangents);
    *slope = s->tangents.radius_slope;
    return slack_of(&s->goal, cr_tangent_verify(&s->goal.rise, s->goal.weight, &s->tangents));
}

static double closed_form_slack(radius_search *s, double r, double *slope)
{
    s->goal.rise.r = r;
    return s->goal.limit - cr_closed_form_bound(&s->goal.rise, s->goal.weight, slope);
}

static double bracket_middle(double low, double high)
{
    return low > 0 ? sqrt(low) * sqrt(high) : 0.5 * high;
}

/* Returns the root of a slack that falls from positive at `low` to negative at or before `high`, or
 * the last radius with slack: Newton within bisection, which takes over if steps do not get shorter
 * fast enough. With a `width` it ends at a bracket that narrow: Newton comes to the root from one
 * side, so when it is close its step goes a little beyond. */
static double newton_bisection_root(radius_search *s, double low, double high, double initial,
                                    double min_step,
                                    double (*slack_at)(radius_search *, double, double *))
{
    double x = initial, last_step = INFINITY;
    for (int i = 0; i < MAX_STEPS && cr_budget_left(s->goal.rise.budget); i++) {
        double slope;
        const double slack = slack_at(s, x, &slope);
        if (slack > 0) low = x;
        else s->infeasible_radius = high = x;
        double next = slope > 0 && slope < INFINITY ? x + slack / slope : INFINITY;
        if (fabs(next - x) <= 0.5 * s->width * x) next += copysign(0.5 * s->width * x, slack);
        if (fabs(next - x) <= min_step * x)
            return min_step > FINAL_STEP ? fmin(next, high) : fmax(low, fmin(next, x));
        const int jump_to_cap = next >= high && high == s->goal.cap && x < high;
        if (jump_to_cap) next = high;
        else if (!(next > low && next < high) ||
                 (i >= MIN_NEWTON_STEPS && fabs(next - x) > 0.5 * last_step))
            next = bracket_middle(low, high);
        if (next == x || high - low <= fmax(s->width, 1e-13) * high) break;
        last_step = fabs(next - x);
        x = next;
    }
    return low;
}

/* Returns the radius without a range, a first bound with one. max_radius has no slack. */
static double closed_form_radius(radius_search *s, double max_radius)
{
    double slope;
    const double variance = cr_one_sided_max_variance(&s->goal.rise);
    if (!(variance < INFINITY)) return 0;
    const double slack = closed_form_slack(s, 0, &slope);
    if (!(slack > 0)) return 0;
    /* Exact if the variance is the only constraint. */
    const double initial = fmin(cr_shift_radius_of_mean(slack, variance), max_radius);
    double radius = newton_bisection_root(s, 0, max_radius, initial, FINAL_STEP, closed_form_slack);
    for (double reduction = 4 * DBL_EPSILON;
         radius > 0 && !(closed_form_slack(s, radius, &slope) > 0); reduction *= 2)
        radius *= 1 - reduction;
    return radius;
}

/* Bisects between a radius that is proven and one that is not. */
static double bisect(radius_search *s, double low, double high)
{
    double slope;
    for (int i = 0; i < MAX_VERIFICATIONS && high > low * (1 + fmax(s->width, 1e-10)); i++) {
        const double middle = 0.5 * (low + high);
        if (!(middle > low && middle < high)) break;
        if (proven_slack(s, middle, &slope) > 0) low = middle;
        else high = middle;
    }
    return low;
}

/* Moves from an approximate root to a proven radius: up by the slack, down until one holds. */
static double verify_root(radius_search *s, double x, double proven_radius, double max_radius)
{
    double slope, reduction = fmax(FIRST_REDUCTION, 0.25 * s->width);
    double infeasible_radius = s->width > 0 ? s->infeasible_radius : INFINITY;
    for (int i = 0; i < MAX_VERIFICATIONS && x >= proven_radius; i++) {
        const double slack = proven_slack(s, x, &slope);
        const int has_slope = slope > 0 && slope < INFINITY && s->tangents.count > 0;
        const double step = isfinite(slack) && has_slope ? slack / slope : 0;
        s->conclusive = s->tangents.tight;
        if (slack > 0 && infeasible_radius - x <= s->width * x) return x;
        if (slack > 0 && !has_slope) return bisect(s, x, fmin(infeasible_radius, max_radius));
        if (slack > 0 && step <= 6e-11 * x) return x;
        if (slack > 0 && i > 2 && fmin(step, infeasible_radius - x) <= 1e-9 * x) return x;
        if (slack > 0 && i > 2 && infeasible_radius < INFINITY)
            return bisect(s, x, infeasible_radius);
        if (slack > 0) proven_radius = x;
        else infeasible_radius = x;
        double next = x + step - reduction * x;
        if (slack > 0 && next > max_radius) next = max_radius;
        if (slack <= 0 && !(next < x)) next = x * (1 - reduction);
        if (next == x) return x;
        x = i > 3 && !(slack > 0) ? fmin(next, x * (1 - reduction)) : next;
        if (i > 1) reduction *= 4;
    }
    if (infeasible_radius <= proven_radius * (1 + 1e-6))
        return proven_radius; /* the step led below a proven radius */
    s->conclusive = 0;
    return infeasible_radius < INFINITY ? bisect(s, proven_radius, infeasible_radius)
                                        : proven_radius;
}

/* Returns the root to draft accuracy, by a fraction of the budget. */
static double draft_root(radius_search *s, double start, double max_radius)
{
    const int outer_limit = cr_budget_narrow(s->goal.rise.budget, ROOT_EVALUATIONS);
    const double initial = start > 0 ? start : fmin(1, 0.5 * max_radius);
    s->infeasible_radius = INFINITY;
    const double x = newton_bisection_root(s, start, max_radius, initial, DRAFT_STEP, draft_slack);
    s->goal.rise.budget->limit = outer_limit;
    return x;
}

/* Returns whether max_radius is proven. An earlier condition's radius often is; the cap hardly
 * ever, so the search decides about it. At one mean the first multipliers that prove it suffice. */
static int max_radius_is_proven(radius_search *s, double max_radius)
{
    double slope;
    if (max_radius == s->goal.cap) return 0;
    const double max_change = s->goal.limit - s->goal.weight * s->goal.rise.mean_lo;
    if (has_one_mean(s)) s->goal.rise.early_exit_value = max_change * (1 - 1e-8);
    const double slack = proven_slack(s, max_radius, &slope);
    s->goal.rise.early_exit_value = 0;
    return slack > 0;
}

/* Returns the largest radius from proven_radius to max_radius. The draft has slack at `start`. */
static double extend_upwards(radius_search *s, double proven_radius, double start,
                             double max_radius)
{
    double slope;
    const int outer_limit = cr_budget_narrow(s->goal.rise.budget, SEARCH_EVALUATIONS);
    s->conclusive = 1;
    const double x = draft_root(s, start, max_radius);
    const int max_is_proven = x >= max_radius && proven_slack(s, max_radius, &slope) > 0;
    const double radius = max_is_proven
                              ? max_radius
                              : verify_root(s, fmax(proven_radius, x * (1 - FIRST_REDUCTION)),
                                            proven_radius, max_radius);
    s->goal.rise.budget->limit = outer_limit;
    return radius;
}

/* Extends a radius that an earlier search has proved, unless there is no slack at `next`. */
static double extend_proven_radius(radius_search *s, double proven_radius, double next,
                                   double max_radius)
{
    double slope;
    const int next_is_max = !(next < max_radius);
    s->tangents.count = 0;
    s->conclusive = 1;
    if (next_is_max && s->width == 0) return proven_radius; /* which is next to it */
    const int holds =
        (next_is_max ? proven_slack(s, max_radius, &slope) : draft_slack(s, next, &slope)) > 0;
    s->conclusive = s->tangents.tight;
    if (!holds) return proven_radius;
    const cr_tangent_pair previous = s->tangents;
    if (next_is_max || max_radius_is_proven(s, max_radius)) return max_radius;
    s->tangents = previous;
    return extend_upwards(s, proven_radius, next, max_radius);
}

/* Returns 0 for radii below CR_MIN_RADIUS, which are not distinguished from 0. */
static double zero_if_negligible(double radius)
{
    return radius >= CR_MIN_RADIUS ? radius : 0;
}

/* Raises *radius, in units of sigma and proven, to the largest radius of at most max_radius (itself
 * at most the cap), within the accuracy (1e-10 at best) unless the budget is exhausted. Returns
 * whether it is tight, as cr_subset_solver does. */
static int cr_search_radius(const cr_radius_goal *goal, double max_radius, double *radius)
{
    const double coarse = goal->accuracy > MIN_DRAFT_WIDTH ? goal->accuracy : 0,
                 growth_factor = 1 + fmax(1e-9, coarse);
    radius_search s = {.goal = *goal};
    const double at_zero = goal->weight > 0 ? goal->rise.mean_hi : 0;
    if (!(slack_of(goal, at_zero) > 0) || !(*radius < max_radius)) return 1;
    s.goal.rise.r = max_radius;
    double slope;
    const int has_closed_form = goal->rise.range_lo == -INFINITY && goal->rise.range_hi == INFINITY;
    const int unlimited = slack_of(goal, cr_range_bound(&goal->rise, goal->weight)) > 0;
    if (unlimited || closed_form_slack(&s, max_radius, &slope) > 0 ||
        (!has_closed_form && max_radius_is_proven(&s, max_radius))) {
        *radius = unlimited ? max_radius : zero_if_negligible(max_radius);
        return 1;
    }
    s.tangents.count = 0;
    const double closed_form =
                     zero_if_negligible(fmin(closed_form_radius(&s, max_radius), max_radius)),
                 proven_radius = *radius;
    *radius = fmax(proven_radius, closed_form);
    if (has_closed_form || *radius >= max_radius) return 1;
    s.width = 0.5 * coarse;
    *radius = zero_if_negligible(
        proven_radius > closed_form
            ? extend_proven_radius(&s, proven_radius, proven_radius * growth_factor, max_radius)
            : extend_upwards(&s, closed_form, closed_form, max_radius));
    return s.conclusive;
}

/* ======== The largest radius of several conditions (theory 4). Each is searched up to the least
 * radius of the conditions before it, which is often confirmed at once. */
/* Evaluations of each function that remain for the proofs of its searches. */
enum { CR_RESERVED_FOR_VERIFICATION = 2000 };

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

/* ======== The public calls on a bisection: plan, handle and statistics. The work is done above. */
size_t certreg_bisection_size(void)
{
    return sizeof(certreg_bisection);
}

static const double max_accuracy = 0.5;

static certreg_status read_plan(const certreg_bisection_plan *plan, certreg_bisection_plan *p,
                                cr_radius_options *options, certreg_error *why)
{
    *p = (certreg_bisection_plan){0};
    *options = cr_radius_default(NULL);
    const certreg_status status =
        plan ? cr_struct_read(p, sizeof *p, CR_OLDEST_BISECTION_PLAN, plan, "plan", why)
             : CERTREG_OK;
    if (status) return status;
    if (p->accuracy != 0) options->accuracy = p->accuracy;
    if (!(options->accuracy >= CR_MIN_ACCURACY && options->accuracy <= max_accuracy))
        return cr_error_set(why, CERTREG_E_INVALID, "plan.accuracy is %g; it must be 0 or %g to %g",
                            p->accuracy, CR_MIN_ACCURACY, max_accuracy);
    if (p->cap != 0) options->cap = p->cap;
    if (!(options->cap > 0 && options->cap <= CR_MAX_RADIUS))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.cap is %g; it must be 0, or positive and at most %g", p->cap,
                            CR_MAX_RADIUS);
    uint32_t limit;
    const certreg_status limit_status =
        cr_solve_info_limit(p->max_evaluations, CERTREG_RADIUS_EVALUATIONS,
                            CERTREG_LEAST_RADIUS_EVALUATIONS, &limit, why);
    options->evaluations_per_function = (int)limit - CR_RESERVED_FOR_VERIFICATION;
    return limit_status;
}

static certreg_status create(const certreg_bisection_plan *plan, certreg_bisection **out,
                             certreg_error *why)
{
    certreg_bisection_plan p;
    cr_radius_options options;
    int32_t owns_memory;
    certreg_status status = read_plan(plan, &p, &options, why);
    if (!status)
        status = cr_handle_alloc(p.memory, p.memory_bytes, sizeof **out, &owns_memory, (void **)out,
                                 why);
    if (status) return status;
    certreg_bisection *bisection = *out;
    cr_error_clear(&bisection->error);
    cr_call_guard_init(&bisection->guard);
    bisection->info.struct_size = sizeof bisection->info;
    bisection->options = options;
    bisection->owns_memory = owns_memory;
    return CERTREG_OK;
}

certreg_status certreg_bisection_create(const certreg_bisection_plan *plan, certreg_error *why,
                                        certreg_bisection **out)
{
    certreg_error error;
    cr_error_clear(&error);
    if (out) *out = NULL;
    const certreg_status status = out ? create(plan, out, &error)
                                      : cr_error_set(&error, CERTREG_E_INVALID, "out is NULL");
    cr_error_copy_out(why, &error);
    return status;
}

void certreg_bisection_destroy(certreg_bisection *bisection)
{
    if (bisection && cr_handle_is_own(bisection) && bisection->owns_memory)
        cr_handle_release(bisection);
}

const certreg_error *certreg_bisection_error(const certreg_bisection *bisection)
{
    return bisection ? cr_call_guard_error(&bisection->guard, &bisection->error) : NULL;
}

certreg_status certreg_bisection_info(certreg_bisection *bisection, certreg_solve_info *out)
{
    if (!bisection) return CERTREG_E_INVALID;
    return cr_solve_info_report(&bisection->guard, &bisection->error, &bisection->info, out);
}

/* ---- a call */
typedef struct radius_request {
    cr_mean_conditions conditions; /* within: bounds and constraints only */
    double tolerance;              /* within */
    int is_above;
} radius_request;

static certreg_status run(certreg_bisection *bisection, const radius_request *request,
                          certreg_radius *result)
{
    cr_radius_options *options = &bisection->options;
    certreg_error *why = &bisection->error;
    if (request->is_above) return cr_radius_mean_above(options, &request->conditions, result, why);
    return cr_radius_change_within(options, request->conditions.bounds,
                                   request->conditions.constraints, request->tolerance, result,
                                   why);
}

static certreg_status compute_radius(certreg_bisection *bisection, const radius_request *request,
                                     certreg_radius *out)
{
    certreg_radius result;
    const certreg_status size_status =
        cr_struct_check(out, CR_OLDEST_RADIUS, "out", &bisection->error);
    if (size_status) return size_status;
    const double start = cr_os_now(NULL);
    bisection->options.budget = (cr_evaluation_budget){0};
    const certreg_status status = run(bisection, request, &result);
    bisection->info = cr_solve_info_from_budget(&bisection->options.budget, start);
    cr_struct_write(out, out->struct_size, &result, sizeof result);
    return status;
}

static certreg_status enter_and_compute(certreg_bisection *bisection, const radius_request *request,
                                        certreg_radius *out)
{
    const certreg_radius empty = {.struct_size = sizeof empty};
    const certreg_status refused =
        bisection ? cr_call_guard_enter(&bisection->guard, &bisection->error) : CERTREG_E_INVALID;
    if (!refused)
        return cr_call_guard_leave(&bisection->guard, compute_radius(bisection, request, out));
    cr_struct_write_empty(out, CR_OLDEST_RADIUS, &empty, sizeof empty);
    return refused;
}

certreg_status certreg_bisection_within(certreg_bisection *bisection, const certreg_bounds *bounds,
                                        uint32_t constraints, double tolerance, certreg_radius *out)
{
    const radius_request request = {.conditions = {.bounds = bounds, .constraints = constraints},
                                    .tolerance = tolerance};
    return enter_and_compute(bisection, &request, out);
}

certreg_status certreg_bisection_above(certreg_bisection *bisection, const certreg_bounds *bounds,
                                       const double *threshold, size_t count, uint32_t constraints,
                                       certreg_radius *out)
{
    const radius_request request = {.conditions = {bounds, threshold, count, constraints},
                                    .is_above = 1};
    return enter_and_compute(bisection, &request, out);
}
