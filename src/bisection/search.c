/* One search for a radius: closed forms first; then the root by drafts, which need not be bounds;
 * then nearby radii until one is proved (theory 4). */
#include "bisection/search.h"
#include "solver/closed_form_bound.h"
#include "statistics/gaussian_shift.h"
#include <float.h>
#include <math.h>
#include <stddef.h>

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

int cr_search_radius(const cr_radius_goal *goal, double max_radius, double *radius)
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
