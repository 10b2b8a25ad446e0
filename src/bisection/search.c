#include "bisection/search.h"
#include "solver/closed.h"
#include <float.h>
#include <math.h>

#define MOST_STEPS 100

typedef struct state {
    cr_goal goal;
    cr_box box;  /* warm start */
    int doubted;
} state;

static double slack_of(const cr_goal *goal, double bound)
{
    if (goal->limit == INFINITY) return bound < INFINITY ? INFINITY : -INFINITY;
    return goal->limit - bound - (goal->strict ? DBL_EPSILON * fabs(goal->limit) + DBL_MIN : 0);
}

/* To draft accuracy: how much room is left at r, and how fast it is used up. */
static double draft_room(state *s, double r, double *growth)
{
    s->goal.side.r = r;
    cr_box_search(&s->goal.side, s->goal.weight, 1e-9, &s->box);
    *growth = s->box.growth;
    return s->goal.limit - s->box.value;
}

/* Proven room at r: negative, or NaN-free -infinity, where the bound does not hold or is in doubt. */
static double proven(state *s, double r, double *growth)
{
    double bound;
    s->goal.side.r = r;
    cr_box_search(&s->goal.side, s->goal.weight, 1e-12, &s->box);
    *growth = s->box.growth;
    if (cr_box_prove(&s->goal.side, s->goal.weight, &s->box, &bound)) return s->doubted = 1, -INFINITY;
    return slack_of(&s->goal, bound);
}

static double closed_room(state *s, double r, double *growth)
{
    s->goal.side.r = r;
    return s->goal.limit - cr_closed_bound(&s->goal.side, s->goal.weight, growth);
}

/* Root of a room that falls from positive at `low` to negative at or before `high`: Newton within bisection. Returns the last point
 * that had room. */
static double root(state *s, double low, double high, double start, double (*room)(state *, double, double *))
{
    double x = start;
    for (int i = 0; i < MOST_STEPS; i++) {
        double growth;
        const double left = room(s, x, &growth);
        if (left > 0) low = x;
        else high = x;
        double next = x + left / growth;
        if (fabs(next - x) <= 1e-12 * x) return fmax(low, fmin(next, x));
        if (!(next > low && next < high)) next = next >= high && high == CR_LARGEST_RADIUS && x < high ? high : 0.5 * (low + high);
        if (next == x || high - low <= 1e-13 * high) break;
        x = next;
    }
    return low;
}

/* Without a range, or as a first bound with one. */
static double closed_radius(state *s, double most)
{
    double growth;
    const double C = cr_side_greatest_variance(&s->goal.side);
    if (!(C < INFINITY)) return 0;
    if (closed_room(s, most, &growth) > 0) return most;
    const double room = closed_room(s, 0, &growth);
    if (!(room > 0)) return 0;
    const double start = fmin(sqrt(log1p(room * room / C)), most); /* exact for (C) */
    double r = root(s, 0, most, start, closed_room);
    for (double cut = 4 * DBL_EPSILON; r > 0 && !(closed_room(s, r, &growth) > 0); cut *= 2) r *= 1 - cut;
    return r;
}

/* From an approximate root to one that is proven: up by what is left, down until the bound holds. */
static double settle(state *s, double x, double least, double most)
{
    double growth, cut = 2e-11;
    for (int i = 0; i < 40 && x >= least; i++) {
        const double room = proven(s, x, &growth);
        const double step = isfinite(room) && growth > 0 ? room / growth : 0;
        if (room > 0 && (step <= 6e-11 * x || i > 2)) return x;
        double next = x + step - cut * x;
        if (room > 0 && next > most) next = most;
        if (room <= 0 && !(next < x)) next = x * (1 - cut);
        if (next == x) return x;
        x = i > 3 ? fmin(next, x * (1 - cut)) : next;
        if (i > 1) cut *= 4;
    }
    return least;
}

static int search_radius(const cr_goal *goal, double most, double *radius)
{
    state s = {.goal = *goal};
    double growth;
    *radius = 0;
    const double at_zero = goal->weight > 0 ? goal->side.mean_hi : 0;
    if (!(slack_of(goal, at_zero) > 0) || !(most > 0)) return CR_SEARCH_PROVEN;
    s.goal.side.r = most;
    if (slack_of(goal, cr_closed_cap(&goal->side, goal->weight)) > 0) return *radius = most, CR_SEARCH_PROVEN;
    const double least = closed_radius(&s, most);
    const int closed_only = goal->side.range_lo == -INFINITY && goal->side.range_hi == INFINITY;
    if (closed_only || least >= most) return *radius = fmin(least, most), CR_SEARCH_PROVEN;
    /* An earlier condition's radius often holds here as well; the cap hardly ever does, and is asked only if the search gets there. */
    const int cap = most == CR_LARGEST_RADIUS;
    if (!cap && proven(&s, most, &growth) > 0) return *radius = most, CR_SEARCH_PROVEN;
    s.doubted = 0;
    s.box.count = 0;
    const double x = root(&s, least, most, least > 0 ? least : fmin(1, 0.5 * most), draft_room);
    if (cap && x >= most && proven(&s, most, &growth) > 0) return *radius = most, CR_SEARCH_PROVEN;
    *radius = settle(&s, x, least, most);
    return *radius == 0 && s.doubted ? CR_SEARCH_DOUBT : CR_SEARCH_PROVEN;
}

/* The second order may be left out: it takes another search to be sure that it does no harm. */
int cr_search_radius(const cr_goal *goal, double most, double *radius)
{
    const int doubt = search_radius(goal, most, radius);
    if (!(goal->side.second < INFINITY) || *radius >= most) return doubt;
    cr_goal without = *goal;
    double other;
    without.side.second = INFINITY;
    if (search_radius(&without, most, &other) || !(other > *radius)) return doubt;
    *radius = other;
    return CR_SEARCH_PROVEN;
}
