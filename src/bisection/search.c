/* One search for a radius: closed forms first; then the root by drafts, which need not be bounds;
 * then nearby radii until one is proved (theory 4). */
#include "bisection/search.h"
#include "solver/closed_form_bound.h"
#include "statistics/gaussian_shift.h"
#include <float.h>
#include <math.h>
#include <stddef.h>

#define MOST_STEPS 40
#define MOST_SETTLING 40
#define PATIENCE 6 /* steps that Newton has before bisection may take over */

/* The least relative width of a bracket that drafts resolve; below, proven bounds lead. */
#define FINEST_WIDTH 1e-6

/* Relative lengths of Newton's last step: its error is of the order of its square. */
#define FINEST_STEP 1e-12
#define DRAFT_STEP 1e-6
#define FIRST_CUT 2e-11 /* relative: from a root to a radius that is likely to be proven */

/* Evaluations for the draft of a search, and for all of it. */
enum { ROOT_EVALUATIONS = 2500, CLIMB_EVALUATIONS = 4000 };

typedef struct state {
    cr_radius_goal goal;
    cr_tangent_pair box; /* the next radius is searched from here */
    int conclusive;      /* the last radius is next to the largest */
    double width;        /* relative: a root ends at a bracket of this width */
    double failed;       /* least radius at which the draft has no room; infinite: none seen */
} state;

static double slack_of(const cr_radius_goal *goal, double bound)
{
    if (goal->limit == INFINITY) return bound < INFINITY ? INFINITY : -INFINITY;
    return goal->limit - bound - (goal->strict ? DBL_EPSILON * fabs(goal->limit) + DBL_MIN : 0);
}

/* Returns the room left at r and the growth of the bound, to draft accuracy. */
static double draft_room(state *s, double r, double *growth)
{
    s->goal.rise.r = r;
    cr_tangent_search(&s->goal.rise, s->goal.weight, CR_ROUGH_GAIN, &s->box);
    *growth = s->box.growth;
    return s->goal.limit - s->box.value;
}

static int is_point(const state *s)
{
    return s->goal.rise.mean_lo == s->goal.rise.mean_hi;
}

/* Returns the proven room at r; box.tight if its bound is near the least. At one mean Newton's last
 * step to the draft's gain leads as near as the search for the best of several means does. */
static double proven(state *s, double r, double *growth)
{
    s->goal.rise.r = r;
    cr_tangent_search(&s->goal.rise, s->goal.weight, is_point(s) ? CR_ROUGH_GAIN : CR_FINAL_GAIN,
                      &s->box);
    *growth = s->box.growth;
    return slack_of(&s->goal, cr_tangent_verify(&s->goal.rise, s->goal.weight, &s->box));
}

static double formula_room(state *s, double r, double *growth)
{
    s->goal.rise.r = r;
    return s->goal.limit - cr_closed_form_bound(&s->goal.rise, s->goal.weight, growth);
}

static double middle_of(double low, double high)
{
    return low > 0 ? sqrt(low) * sqrt(high) : 0.5 * high;
}

/* Returns the root of a room that falls from positive at `low` to negative at or before `high`, or
 * the last point with room: Newton within bisection, which takes over if steps do not get shorter
 * fast enough. With a `width` it ends at a bracket that narrow: Newton comes to the root from one
 * side, so when it is close its step goes a little beyond. */
static double root(state *s, double low, double high, double initial, double finest,
                   double (*room)(state *, double, double *))
{
    double x = initial, last = INFINITY;
    for (int i = 0; i < MOST_STEPS && cr_budget_left(s->goal.rise.effort); i++) {
        double growth;
        const double left = room(s, x, &growth);
        if (left > 0) low = x;
        else s->failed = high = x;
        double next = growth > 0 && growth < INFINITY ? x + left / growth : INFINITY;
        if (fabs(next - x) <= 0.5 * s->width * x) next += copysign(0.5 * s->width * x, left);
        if (fabs(next - x) <= finest * x)
            return finest > FINEST_STEP ? fmin(next, high) : fmax(low, fmin(next, x));
        const int cap = next >= high && high == s->goal.cap && x < high;
        if (cap) next = high;
        else if (!(next > low && next < high) || (i >= PATIENCE && fabs(next - x) > 0.5 * last))
            next = middle_of(low, high);
        if (next == x || high - low <= fmax(s->width, 1e-13) * high) break;
        last = fabs(next - x);
        x = next;
    }
    return low;
}

/* Returns the radius without a range, a first bound with one. `most` has no room. */
static double formula_radius(state *s, double most)
{
    double growth;
    const double C = cr_one_sided_greatest_variance(&s->goal.rise);
    if (!(C < INFINITY)) return 0;
    const double room = formula_room(s, 0, &growth);
    if (!(room > 0)) return 0;
    const double initial = fmin(cr_shift_radius_of_mean(room, C), most); /* exact for (C) */
    double r = root(s, 0, most, initial, FINEST_STEP, formula_room);
    for (double cut = 4 * DBL_EPSILON; r > 0 && !(formula_room(s, r, &growth) > 0); cut *= 2)
        r *= 1 - cut;
    return r;
}

/* Bisects between a radius that is proven and one that is not. */
static double halve(state *s, double low, double high)
{
    double growth;
    for (int i = 0; i < MOST_SETTLING && high > low * (1 + fmax(s->width, 1e-10)); i++) {
        const double middle = 0.5 * (low + high);
        if (!(middle > low && middle < high)) break;
        if (proven(s, middle, &growth) > 0) low = middle;
        else high = middle;
    }
    return low;
}

/* Moves from an approximate root to a proven radius: up by the room left, down until one holds. */
static double settle(state *s, double x, double least, double most)
{
    double growth, cut = fmax(FIRST_CUT, 0.25 * s->width),
                   failed = s->width > 0 ? s->failed : INFINITY;
    for (int i = 0; i < MOST_SETTLING && x >= least; i++) {
        const double room = proven(s, x, &growth);
        const int steered = growth > 0 && growth < INFINITY && s->box.count > 0;
        const double step = isfinite(room) && steered ? room / growth : 0;
        s->conclusive = s->box.tight;
        if (room > 0 && failed - x <= s->width * x) return x;
        if (room > 0 && !steered) return halve(s, x, fmin(failed, most));
        if (room > 0 && step <= 6e-11 * x) return x;
        if (room > 0 && i > 2 && fmin(step, failed - x) <= 1e-9 * x) return x;
        if (room > 0 && i > 2 && failed < INFINITY) return halve(s, x, failed);
        if (room > 0) least = x;
        else failed = x;
        double next = x + step - cut * x;
        if (room > 0 && next > most) next = most;
        if (room <= 0 && !(next < x)) next = x * (1 - cut);
        if (next == x) return x;
        x = i > 3 && !(room > 0) ? fmin(next, x * (1 - cut)) : next;
        if (i > 1) cut *= 4;
    }
    if (failed <= least * (1 + 1e-6)) return least; /* the step led below a proven radius */
    s->conclusive = 0;
    return failed < INFINITY ? halve(s, least, failed) : least;
}

/* Returns the root to draft accuracy, by a part of the effort. */
static double draft_root(state *s, double from, double most)
{
    const int all = cr_budget_narrow(s->goal.rise.effort, ROOT_EVALUATIONS);
    const double initial = from > 0 ? from : fmin(1, 0.5 * most);
    s->failed = INFINITY;
    const double x = root(s, from, most, initial, DRAFT_STEP, draft_room);
    s->goal.rise.effort->most = all;
    return x;
}

/* Returns whether `most` is proven. An earlier condition's radius often is; the cap hardly ever, so
 * that it is left to the search. At one mean the first multipliers that prove it will do. */
static int enough(state *s, double most)
{
    double growth;
    if (most == s->goal.cap) return 0;
    const double bound = s->goal.limit - s->goal.weight * s->goal.rise.mean_lo;
    if (is_point(s)) s->goal.rise.enough = bound * (1 - 1e-8);
    const double room = proven(s, most, &growth);
    s->goal.rise.enough = 0;
    return room > 0;
}

/* Returns the largest radius from `least` (proven) to `most`. The draft has room at `from`. */
static double climb(state *s, double least, double from, double most)
{
    double growth;
    const int all = cr_budget_narrow(s->goal.rise.effort, CLIMB_EVALUATIONS);
    s->conclusive = 1;
    const double x = draft_root(s, from, most);
    const int whole = x >= most && proven(s, most, &growth) > 0;
    const double radius = whole ? most : settle(s, fmax(least, x * (1 - FIRST_CUT)), least, most);
    s->goal.rise.effort->most = all;
    return radius;
}

/* Climbs from a `least` that an earlier search has proved; not if there is no room at `next`. */
static double climb_further(state *s, double least, double next, double most)
{
    double growth;
    const int at_most = !(next < most);
    s->box.count = 0;
    s->conclusive = 1;
    if (at_most && s->width == 0) return least; /* which is next to it */
    const int holds = (at_most ? proven(s, most, &growth) : draft_room(s, next, &growth)) > 0;
    s->conclusive = s->box.tight;
    if (!holds) return least;
    const cr_tangent_pair before = s->box;
    if (at_most || enough(s, most)) return most;
    s->box = before;
    return climb(s, least, next, most);
}

/* Returns 0 for radii below the least, which are not distinguished from 0. */
static double or_zero(double radius)
{
    return radius >= CR_MIN_RADIUS ? radius : 0;
}

int cr_search_radius(const cr_radius_goal *goal, double most, double *radius)
{
    const double coarse = goal->accuracy > FINEST_WIDTH ? goal->accuracy : 0,
                 step = 1 + fmax(1e-9, coarse);
    state s = {.goal = *goal};
    const double at_zero = goal->weight > 0 ? goal->rise.mean_hi : 0;
    if (!(slack_of(goal, at_zero) > 0) || !(*radius < most)) return 1;
    s.goal.rise.r = most;
    double growth;
    const int only_formula = goal->rise.range_lo == -INFINITY && goal->rise.range_hi == INFINITY;
    const int unlimited = slack_of(goal, cr_formula_cap(&goal->rise, goal->weight)) > 0;
    if (unlimited || formula_room(&s, most, &growth) > 0 || (!only_formula && enough(&s, most))) {
        *radius = unlimited ? most : or_zero(most);
        return 1;
    }
    s.box.count = 0;
    const double by_formula = or_zero(fmin(formula_radius(&s, most), most)), known = *radius;
    *radius = fmax(known, by_formula);
    if (only_formula || *radius >= most) return 1;
    s.width = 0.5 * coarse;
    *radius = or_zero(known > by_formula ? climb_further(&s, known, known * step, most)
                                         : climb(&s, by_formula, by_formula, most));
    return s.conclusive;
}
