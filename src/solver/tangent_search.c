/* The supremum over the box of means: first a search that brackets it between two tangents, then
 * the proof. Only the proof has to be right, since tangents at any two means give a bound. */
#include "solver/tangent_search.h"
#include "solver/closed_form_bound.h"
#include <float.h>
#include <math.h>
#include <stddef.h>

#define MOST_POINTS 60
static const double width_share = 3e1; /* error allowed, in units of gain * width of the box */

/* A line that bounds the objective on the whole box. It is kept at the point of its tangent, not at
 * 0: slopes are huge near an end of the range, and slope * mean would swallow the height. */
typedef struct line {
    double height, slope, mean;
} line;

static double at(line l, double m)
{
    return l.height + l.slope * (m - l.mean);
}

/* Returns the supremum of the lesser of two lines over [low, high]. Their values at the ends show
 * that they cross, but the crossing may be lost: next to an end that no feasible function reaches,
 * a slope is so steep that the crossing is rounded to the end. So the flatter line gives the
 * height. */
static double envelope(line a, line b, double low, double high)
{
    const double left = at(a, low) - at(b, low), right = at(a, high) - at(b, high);
    const double top = fmax(fmin(at(a, low), at(b, low)), fmin(at(a, high), at(b, high)));
    if (a.slope == b.slope || (left < 0) == (right < 0)) return top;
    const line flat = fabs(a.slope) < fabs(b.slope) ? a : b;
    const double m = fmin(fmax(a.mean + (at(b, a.mean) - a.height) / (a.slope - b.slope), low),
                          high),
                 height = at(flat, m);
    return fmax(top, height + 8 * DBL_EPSILON *
                                  (fabs(height) + fabs(flat.slope) * (fabs(low) + fabs(high))));
}

static line tangent(const cr_fixed_mean_dual *point, double weight)
{
    return (line){point->value + weight * point->mean, point->slope + weight, point->mean};
}

/* ---- search */
typedef struct search {
    const cr_one_sided *rise;
    double weight, gain, low, high; /* the bracket of means */
    cr_fixed_mean_dual left, right; /* the objective rises at left, falls at right */
    int has_left, has_right;
    const cr_fixed_mean_dual *warm;
    cr_fixed_mean_dual *last; /* whichever of both was visited last; NULL if nothing has its mean */
} search;

/* Cuts off means at which the tangent is below 0: no function has them. */
static void skip_impossible(search *s, const cr_fixed_mean_dual *point)
{
    if (point->slope == 0) return;
    const double m = point->mean - 0.9 * point->value / point->slope;
    if (point->slope > 0 && m > s->low) s->low = fmin(m, s->high);
    if (point->slope < 0 && m < s->high) s->high = fmax(m, s->low);
}

/* Solves at m and narrows the bracket. Returns non-zero if the supremum is at m. */
static int visit(search *s, double m, int is_low_end, int is_high_end, cr_tangent_pair *box)
{
    cr_fixed_mean_dual point;
    const int most = cr_budget_narrow(s->rise->effort, CR_POINT_EVALUATIONS);
    cr_point_solve(s->rise, m, s->warm, s->gain, &point);
    s->rise->effort->most = most;
    const double slope = point.slope + s->weight;
    if (slope == 0 || (slope > 0 && is_high_end) || (slope < 0 && is_low_end)) {
        box->point[0] = point;
        box->count = 1;
        return 1;
    }
    if (slope > 0) s->low = m;
    else s->high = m;
    s->last = NULL;
    if (point.impossible) {
        skip_impossible(s, &point);
        return 0;
    }
    if (slope > 0) s->has_left = 1;
    else s->has_right = 1;
    s->warm = s->last = slope > 0 ? &s->left : &s->right;
    *s->last = point;
    return 0;
}

/* Returns a guess of the mean at which the slope is -weight, next to an end that no feasible
 * function reaches. V falls there like the root of the distance to the end, so 1/slope^2 is about
 * linear in the mean. NaN if V does not fall. */
static double level_of_root(const search *s)
{
    const double target = 1 / (s->weight * s->weight), left = s->left.slope,
                 right = s->has_right ? s->right.slope : -INFINITY;
    const double end = s->has_right ? s->right.mean : s->high, near = 1 / (left * left),
                 far = 1 / (right * right);
    if (!(s->weight > 0 && s->has_left && left < 0 && right < left)) return NAN;
    return end - (end - s->left.mean) * fmax((target - far) / (near - far), 1e-9);
}

/* If the supremum seems to be at an end, the next mean is this share of the bracket off it. */
static const double end_share = 0.03;

/* Returns the next mean: a secant step to slope 0, kept off the ends of the bracket. Every third
 * step bisects, since the slope is infinite at an end of the range. A long search tries
 * level_of_root first, and steps from an end if all tangents fall to one side. */
static double next_mean(const search *s, int round)
{
    const double middle = 0.5 * (s->low + s->high), width = s->high - s->low,
                 root = level_of_root(s);
    const int ordinary = round <= 8; /* most searches have ended by then */
    if (!ordinary && root > s->low && root < s->high && round % 3 != 2) return root;
    if (!ordinary && s->has_left != s->has_right)
        return s->has_left ? s->high - end_share * width : s->low + end_share * width;
    if (round % 3 == 2 || !s->has_left || !s->has_right) return middle;
    const double gl = s->left.slope + s->weight, gr = s->right.slope + s->weight;
    const double m = s->left.mean + (s->right.mean - s->left.mean) * gl / (gl - gr);
    return fmin(fmax(m, s->low + 0.02 * width), s->high - 0.02 * width);
}

/* Returns whether the tangents enclose the supremum closely. If all of them fall to one side, the
 * opposite end of the bracket has it. */
static int close_enough(const search *s)
{
    if (!s->has_left && !s->has_right) return 0;
    const cr_fixed_mean_dual *left = s->has_left ? &s->left : &s->right,
                             *right = s->has_right ? &s->right : &s->left;
    const line a = tangent(left, s->weight), b = tangent(right, s->weight);
    const double top = envelope(a, b, s->low, s->high),
                 width = s->weight * (s->rise->mean_hi - s->rise->mean_lo);
    return top - fmax(a.height, b.height) <=
           s->gain * (10 * fmax(left->value, right->value) + width_share * width);
}

static void search_inside(search *s, cr_tangent_pair *box)
{
    for (int round = 0; round < MOST_POINTS && cr_budget_left(s->rise->effort); round++) {
        const double m = next_mean(s, round);
        if (!(s->high - s->low > 1e-10 * (s->rise->mean_hi - s->rise->mean_lo)))
            break; /* V has no slope at the supremum */
        if (!(m > s->low && m < s->high) || visit(s, m, 0, 0, box)) break;
        if (close_enough(s)) break;
    }
    if (box->count) return;
    if (s->has_left) box->point[box->count++] = s->left;
    if (s->has_right) box->point[box->count++] = s->right;
}

static void summarise(const cr_one_sided *rise, double weight, cr_tangent_pair *box)
{
    if (!box->count) {
        box->value =
            fmin(cr_closed_form_bound(rise, weight, &box->growth), cr_formula_cap(rise, weight));
        box->tight = 0;
        return;
    }
    const line a = tangent(box->point, weight), b = tangent(box->point + (box->count > 1), weight);
    box->value = envelope(a, b, rise->mean_lo, rise->mean_hi);
    const double best = fmax(a.height, b.height), width = weight * (rise->mean_hi - rise->mean_lo);
    const double size = fmax(fmax(box->point[0].value, box->point[box->count - 1].value), width);
    box->tight = box->point[0].tight && box->point[box->count - 1].tight &&
                 box->value - best <= 1e-8 * size;
    box->growth = box->count > 1 ? 0.5 * (box->point[0].growth + box->point[1].growth)
                                 : box->point[0].growth;
}

/* Returns whether no search is needed, and sets the value if so. */
static int is_trivial(const cr_one_sided *rise, double weight, cr_tangent_pair *box)
{
    const double top = rise->mean_hi, most = cr_one_sided_greatest_variance(rise);
    box->growth = 0;
    if (rise->range_lo == -INFINITY && rise->range_hi == INFINITY) {
        box->value = cr_closed_form_bound(rise, weight, &box->growth);
        return 1;
    }
    const int constant = most == 0 || rise->r == 0 || rise->mean_lo >= rise->range_hi ||
                         rise->mean_hi <= rise->range_lo;
    const int unlimited = most == INFINITY &&
                          !(rise->range_lo > -INFINITY && rise->range_hi < INFINITY);
    if (weight > 0 && top >= rise->range_hi)
        box->value = rise->range_hi; /* attained by the constant range_hi */
    else if (constant) box->value = weight > 0 ? top : 0;
    else if (unlimited || rise->r > CR_LARGEST_FINITE_RADIUS)
        box->value = cr_formula_cap(rise, weight);
    else if (rise->range_hi == INFINITY && rise->r > CR_LARGEST_OPEN_RADIUS)
        box->value = cr_closed_form_bound(rise, weight, &box->growth);
    else return 0;
    return 1;
}

/* Solves at a kink of C, a mean at which the bounds by variance and by moment are equal, since the
 * supremum is often there. Every mixture of the two slopes of C gives a tangent (theory 3.5); this
 * takes the one that makes the objective level. Returns non-zero if there is one. */
static int visit_kink(search *s, double m, cr_tangent_pair *box)
{
    const cr_one_sided *rise = s->rise;
    if (!(m > s->low && m < s->high) || visit(s, m, 0, 0, box)) return box->count;
    cr_fixed_mean_dual *point = s->last;
    if (!point) return 0;
    const double steep = -2 * (m - rise->moment_center),
                 more = point->problem.ratio.norm * point->at.lambda;
    const double level = point->problem.variance_slope - (point->slope + s->weight) / more;
    if (!(more > 0) || point->constant || !(level >= fmin(0, steep) && level <= fmax(0, steep)))
        return 0;
    const double variance = fmax(rise->variance, cr_one_sided_moment_variance(rise, m));
    point->value += more * (variance - point->problem.variance);
    point->problem.variance = variance;
    point->problem.variance_slope = level;
    point->slope = -s->weight;
    box->point[0] = *point;
    return box->count = 1;
}

static int visit_kinks(search *s, cr_tangent_pair *box)
{
    const cr_one_sided *rise = s->rise;
    if (!(rise->moment < INFINITY && rise->variance < rise->moment)) return 0;
    const double away = sqrt(rise->moment - rise->variance);
    return visit_kink(s, rise->moment_center - away, box) ||
           visit_kink(s, rise->moment_center + away, box);
}

/* Returns whether this end of the box has a tangent. If only a constant has its mean, it is
 * vertical. */
static int has_slope(const cr_one_sided *rise, double mean)
{
    double unused;
    if (mean == rise->mean_lo ? rise->low_reached : rise->high_reached) return 0;
    const int far = rise->moment == INFINITY ||
                    cr_one_sided_variance(rise, mean, &unused) > 1e-9 * rise->moment;
    return far && mean > rise->range_lo && mean < rise->range_hi;
}

void cr_tangent_search(const cr_one_sided *rise, double weight, double gain, cr_tangent_pair *box)
{
    const cr_fixed_mean_dual before = box->point[0];
    search s = {.rise = rise,
                .weight = weight,
                .gain = gain,
                .low = rise->mean_lo,
                .high = rise->mean_hi,
                .warm = box->count ? &before : NULL};
    box->count = 0;
    box->tight = 1;
    if (is_trivial(rise, weight, box)) return;
    if (!cr_budget_left(rise->effort)) {
        summarise(rise, weight, box);
        return;
    }
    const int point_box = s.low == s.high,
              most = cr_budget_narrow(rise->effort, CR_SEARCH_EVALUATIONS);
    if (point_box) {
        visit(&s, s.low, 1, 1, box);
    } else if (!(has_slope(rise, s.high) && visit(&s, s.high, 0, 1, box)) &&
               !(has_slope(rise, s.low) && visit(&s, s.low, 1, 0, box)) && !visit_kinks(&s, box)) {
        search_inside(&s, box);
    }
    rise->effort->most = most;
    summarise(rise, weight, box);
}

/* ---- proof */
/* Sets *out to the tangent of D at the point's multipliers, computed again and raised by its
 * possible errors. Returns non-zero if there is no proven tangent. */
static int prove_line(const cr_one_sided *rise, double weight, cr_tangent_pair *box,
                      cr_fixed_mean_dual *point, line *out)
{
    cr_verified_value proof;
    if (point->constant) { /* only at a box that is one point */
        *out = (line){weight * point->mean, 0, point->mean};
        return 0;
    }
    cr_verify_dual_value(&point->problem, point->coefficient_lo, point->coefficient_hi, &point->at,
                         &point->regions, &proof);
    const double slope = proof.slope + weight,
                 far = fmax(rise->mean_hi - point->mean, point->mean - rise->mean_lo);
    const double size = fabs(proof.value) + fabs(weight * point->mean) + fabs(slope) * far;
    *out = (line){proof.value + weight * point->mean, 0, point->mean};
    if (!(proof.slack <= 1e-10 * fabs(proof.value))) box->tight = 0;
    if (rise->mean_lo < rise->mean_hi) { /* else no tangent is needed */
        out->slope = slope;
        out->height += proof.slope_error * far + 8 * DBL_EPSILON * size;
    }
    return proof.doubtful || !isfinite(out->height) || !isfinite(out->slope);
}

static double fall_back(const cr_one_sided *rise, cr_tangent_pair *box, double simple)
{
    rise->effort->fallbacks++;
    box->tight = 0;
    return simple;
}

double cr_tangent_verify(const cr_one_sided *rise, double weight, cr_tangent_pair *box)
{
    double unused;
    cr_tangent_pair none = {.count = 0};
    const double simple =
        fmin(cr_closed_form_bound(rise, weight, &unused), cr_formula_cap(rise, weight));
    if (!box->count) return is_trivial(rise, weight, &none) ? fmin(simple, none.value) : simple;
    line l[2];
    for (int i = 0; i < box->count; i++)
        if (prove_line(rise, weight, box, box->point + i, l + i))
            return fall_back(rise, box, simple);
    const double top = envelope(l[0], l[box->count - 1], rise->mean_lo, rise->mean_hi),
                 rounded = top + 4 * DBL_EPSILON * fabs(top);
    /* V grows with r from 0 (theory 2.3), so a bound below 0 is wrong. (A bound below r*kappa need
     * not be: the range can make the second-order part negative.) */
    const double floor = weight > 0 ? rise->mean_lo : 0;
    if (!(top >= floor - 1e-12 * fabs(top) - 1e-300)) return fall_back(rise, box, simple);
    if (rounded > box->value + 1e-6 * fmax(box->point[0].value, box->point[box->count - 1].value))
        box->tight = 0;
    return fmin(simple, fmax(rounded, floor));
}

double cr_box_bound(const cr_one_sided *rise, double weight, cr_tangent_pair *box)
{
    cr_tangent_search(rise, weight, CR_FINAL_GAIN, box);
    return cr_tangent_verify(rise, weight, box);
}
