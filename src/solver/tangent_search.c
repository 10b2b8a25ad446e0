/* The supremum over the interval of means (theory 3.4): the means that are possible, the search
 * by tangents, and subsets of the constraints. */
#include "solver/solver.h"
#include <float.h>
#include <math.h>
#include <stddef.h>

/* ======== Excludes means at which gradient_lo is impossible (theory 3.3). Multipliers diverge
 * there, so a search over the whole interval of means would not do. */
#define FEASIBLE_MEANS_EVALUATIONS 200

/* Relative, for the roundings of gradient_lo itself and of a tangent's slope. */
static const double correlation_margin = 1e-11, slope_margin = 1e-9;

/* Returns a proven upper bound of the correlation with t at this mean, and its slope. It is the
 * worst case as r -> 0, hence concave in the mean. */
static double max_correlation(const cr_one_sided *rise, double mean, double *slope)
{
    cr_one_sided zero_radius = *rise;
    zero_radius.r = zero_radius.gradient_lo = 0;
    zero_radius.gradient_hi = INFINITY;
    cr_fixed_mean_dual solution;
    cr_verified_value verified;
    *slope = 0;
    cr_fixed_mean_solve(&zero_radius, mean, NULL, 1e-12, &solution);
    if (solution.constant) return 0;
    cr_verify_dual_value(&solution.problem, solution.correlation_lo, solution.correlation_hi,
                         &solution.multipliers, &solution.regions, &verified);
    const double deviation = sqrt(solution.problem.variance) * (1 + correlation_margin);
    if (verified.unverified || !(verified.value < deviation))
        return deviation; /* in doubt it has no slope */
    *slope = verified.mean_slope +
             copysign(verified.mean_slope_error, verified.mean_slope); /* steeper than it is */
    return verified.value * (1 + correlation_margin);
}

/* Returns a mean at which gradient_lo is possible. The maximum of the correlation is concave in the
 * mean, so the ends come first, then the interior by bisection. NaN: tangents prove that there is
 * none. In doubt the best mean seen. */
static double find_feasible_mean(const cr_one_sided *rise)
{
    double low = rise->mean_lo, high = rise->mean_hi, slope, best_mean = low,
           best_correlation = -INFINITY;
    for (int i = 0; i < 40; i++) {
        const double mean = i == 0   ? low
                            : i == 1 ? high
                                     : 0.5 * (low + high),
                     correlation = max_correlation(rise, mean, &slope);
        if (correlation > best_correlation) {
            best_correlation = correlation;
            best_mean = mean;
        }
        if (correlation >= rise->gradient_lo) return mean;
        if (!cr_budget_left(rise->budget)) break;
        if (slope == 0 && i < 2) continue;   /* next to an end of the range: no tangent */
        if (slope == 0 && low < high) break; /* nor a double in between */
        if (correlation + fmax(slope * (high - mean), slope * (low - mean)) <
            rise->gradient_lo * (1 - correlation_margin))
            return NAN;
        if (slope > 0) low = mean;
        else high = mean;
        if (!(low < high)) break;
    }
    return best_mean;
}

/* Moves an end inwards as long as it is not feasible. The tangent lies above, so the mean at which
 * it meets gradient_lo is still not feasible, or just at the edge. If the tangent is vertical (at
 * an end of the range) or misses, bisection replaces it. */
static double shrink_to_feasible(const cr_one_sided *rise, double infeasible, double feasible)
{
    double slope, unused;
    for (int i = 0; i < 60 && cr_budget_left(rise->budget) &&
                    fabs(feasible - infeasible) > 1e-13 * (fabs(feasible) + fabs(infeasible));
         i++) {
        const double correlation = max_correlation(rise, infeasible, &slope),
                     step = slope != 0
                                ? (rise->gradient_lo - correlation) / slope * (1 - slope_margin)
                                : INFINITY;
        /* Rounding must not lead beyond the edge. */
        const double next = nextafter(infeasible + step, infeasible);
        if (correlation >= rise->gradient_lo || fabs(step) <= 1e-12 * fabs(feasible - infeasible))
            return infeasible;
        if (fmin(infeasible, feasible) < next && next < fmax(infeasible, feasible)) {
            infeasible = next;
        } else {
            const double middle = 0.5 * (feasible + infeasible);
            if (max_correlation(rise, middle, &unused) >= rise->gradient_lo) feasible = middle;
            else infeasible = middle;
        }
    }
    return infeasible;
}

/* Narrows the means to the ones that `constraints` allow with gradient_lo. Returns 0 for none. */
static int restrict_means(cr_one_sided *rise, const cr_one_sided *constraints)
{
    cr_one_sided restricted = *constraints;
    restricted.mean_lo = rise->mean_lo;
    restricted.mean_hi = rise->mean_hi;
    const int outer_limit = cr_budget_narrow(rise->budget, FEASIBLE_MEANS_EVALUATIONS);
    const double feasible = find_feasible_mean(&restricted);
    const double low = isnan(feasible) ? feasible
                                       : shrink_to_feasible(&restricted, rise->mean_lo, feasible),
                 high = isnan(feasible) ? feasible
                                        : shrink_to_feasible(&restricted, rise->mean_hi, feasible);
    rise->budget->limit = outer_limit;
    if (isnan(feasible)) return 0;
    rise->low_end_is_feasible_limit |= low > rise->mean_lo;
    rise->high_end_is_feasible_limit |= high < rise->mean_hi;
    rise->mean_lo = low;
    rise->mean_hi = high;
    return 1;
}

int cr_feasible_means(cr_one_sided *rise)
{
    const double deviation = sqrt(cr_one_sided_min_variance(rise)),
                 range_distance =
                     fmin(rise->mean_lo - rise->range_lo, rise->range_hi - rise->mean_hi);
    const int bounded = rise->range_lo > -INFINITY && rise->range_hi < INFINITY;
    if (rise->gradient_lo <= 0) return 1;
    if (rise->range_lo == -INFINITY && rise->range_hi == INFINITY)
        return rise->gradient_lo <= sqrt(cr_one_sided_max_variance(rise)) * (1 + 1e-12);
    if (deviation == INFINITY && !bounded) return 1;
    /* A sufficient test, which decides all but odd cases: clip(t), scaled to this variance, lies
     * within the range at every mean of the interval. */
    if (deviation > 0 && deviation < INFINITY &&
        rise->gradient_lo <= deviation * erf(range_distance / deviation * 0.7071))
        return 1;
    /* First by the range alone: that is fast, and comes nearly as far if it matters most. */
    cr_one_sided range_only = *rise;
    range_only.variance = range_only.moment = INFINITY;
    if (bounded && deviation < INFINITY && !restrict_means(rise, &range_only)) return 0;
    return restrict_means(rise, rise);
}

/* ======== The supremum over the interval of means: first a search that brackets it between two
 * tangents, then the proof. Only the proof has to be right, since tangents at any two means give
 * a bound. */
#define CR_SEARCH_EVALUATIONS 500 /* at most, for a search */
#define CR_MEAN_EVALUATIONS 120   /* and for one mean of it */

#define MAX_VISITS 60
/* Error allowed, in units of min_gain * width of the interval. */
static const double relative_width_error = 3e1;

/* A line that bounds the objective at every mean. It is stored at its point of tangency, not at 0:
 * slopes are huge near an end of the range, and slope * mean would swallow the height. */
typedef struct tangent_line {
    double height, slope, mean;
} tangent_line;

static double line_value(tangent_line l, double m)
{
    return l.height + l.slope * (m - l.mean);
}

/* Returns the supremum of the lesser of two lines over [low, high]. Their values at the ends show
 * whether they cross. The computed crossing may be inaccurate: next to an end that no feasible
 * function reaches, one line is so steep that the crossing is rounded to that end. So the flatter
 * line gives the height. */
static double lower_envelope_max(tangent_line a, tangent_line b, double low, double high)
{
    const double left_difference = line_value(a, low) - line_value(b, low),
                 right_difference = line_value(a, high) - line_value(b, high);
    const double max_value = fmax(fmin(line_value(a, low), line_value(b, low)),
                                  fmin(line_value(a, high), line_value(b, high)));
    if (a.slope == b.slope || (left_difference < 0) == (right_difference < 0)) return max_value;
    const tangent_line flatter = fabs(a.slope) < fabs(b.slope) ? a : b;
    const double m = fmin(
                     fmax(a.mean + (line_value(b, a.mean) - a.height) / (a.slope - b.slope), low),
                     high),
                 height = line_value(flatter, m);
    return fmax(max_value,
                height + 8 * DBL_EPSILON *
                             (fabs(height) + fabs(flatter.slope) * (fabs(low) + fabs(high))));
}

static tangent_line tangent_at(const cr_fixed_mean_dual *solution, double weight)
{
    return (tangent_line){solution->value + weight * solution->mean, solution->mean_slope + weight,
                          solution->mean};
}

/* ---- search */
typedef struct mean_search {
    const cr_one_sided *rise;
    double weight, min_gain, low, high; /* the bracket of means */
    cr_fixed_mean_dual left, right;     /* the objective rises at left, falls at right */
    int has_left, has_right;
    const cr_fixed_mean_dual *warm;
    cr_fixed_mean_dual *last_visited; /* left, right, or NULL if no function has its mean */
} mean_search;

/* Cuts off means at which the tangent is below 0: no function has them. */
static void exclude_infeasible_means(mean_search *s, const cr_fixed_mean_dual *solution)
{
    if (solution->mean_slope == 0) return;
    const double m = solution->mean - 0.9 * solution->value / solution->mean_slope;
    if (solution->mean_slope > 0 && m > s->low) s->low = fmin(m, s->high);
    if (solution->mean_slope < 0 && m < s->high) s->high = fmax(m, s->low);
}

/* Solves at m and narrows the bracket. Returns non-zero if the supremum is at m. */
static int visit(mean_search *s, double m, int is_low_end, int is_high_end,
                 cr_tangent_pair *tangents)
{
    cr_fixed_mean_dual solution;
    const int outer_limit = cr_budget_narrow(s->rise->budget, CR_MEAN_EVALUATIONS);
    cr_fixed_mean_solve(s->rise, m, s->warm, s->min_gain, &solution);
    s->rise->budget->limit = outer_limit;
    const double slope = solution.mean_slope + s->weight;
    if (slope == 0 || (slope > 0 && is_high_end) || (slope < 0 && is_low_end)) {
        tangents->solution[0] = solution;
        tangents->count = 1;
        return 1;
    }
    if (slope > 0) s->low = m;
    else s->high = m;
    s->last_visited = NULL;
    if (solution.infeasible) {
        exclude_infeasible_means(s, &solution);
        return 0;
    }
    if (slope > 0) s->has_left = 1;
    else s->has_right = 1;
    s->warm = s->last_visited = slope > 0 ? &s->left : &s->right;
    *s->last_visited = solution;
    return 0;
}

/* Returns a guess of the mean at which the slope is -weight, next to an end that no feasible
 * function reaches. V falls there like the root of the distance to the end, so 1/slope^2 is about
 * linear in the mean. NaN if V does not fall. */
static double root_asymptotic_mean(const mean_search *s)
{
    const double target = 1 / (s->weight * s->weight), left_slope = s->left.mean_slope,
                 right_slope = s->has_right ? s->right.mean_slope : -INFINITY;
    const double end = s->has_right ? s->right.mean : s->high,
                 left_inverse_square = 1 / (left_slope * left_slope),
                 right_inverse_square = 1 / (right_slope * right_slope);
    if (!(s->weight > 0 && s->has_left && left_slope < 0 && right_slope < left_slope)) return NAN;
    return end - (end - s->left.mean) * fmax((target - right_inverse_square) /
                                                 (left_inverse_square - right_inverse_square),
                                             1e-9);
}

/* If the supremum seems to be at an end, the next mean is this fraction of the bracket off it. */
static const double end_fraction = 0.03;

/* Returns the next mean: a secant step to slope 0, kept off the ends of the bracket. Every third
 * step bisects, since the slope is infinite at an end of the range. A long search tries
 * root_asymptotic_mean first, and steps from an end if all tangents fall to one side. */
static double next_mean(const mean_search *s, int iteration)
{
    const double middle = 0.5 * (s->low + s->high), width = s->high - s->low,
                 asymptotic = root_asymptotic_mean(s);
    const int is_early = iteration <= 8; /* most searches have ended by then */
    if (!is_early && asymptotic > s->low && asymptotic < s->high && iteration % 3 != 2)
        return asymptotic;
    if (!is_early && s->has_left != s->has_right)
        return s->has_left ? s->high - end_fraction * width : s->low + end_fraction * width;
    if (iteration % 3 == 2 || !s->has_left || !s->has_right) return middle;
    const double left_objective_slope = s->left.mean_slope + s->weight,
                 right_objective_slope = s->right.mean_slope + s->weight;
    const double m = s->left.mean + (s->right.mean - s->left.mean) * left_objective_slope /
                                        (left_objective_slope - right_objective_slope);
    return fmin(fmax(m, s->low + 0.02 * width), s->high - 0.02 * width);
}

/* Returns whether the tangents enclose the supremum closely. If all of them fall to one side, the
 * opposite end of the bracket has it. */
static int tangents_are_close(const mean_search *s)
{
    if (!s->has_left && !s->has_right) return 0;
    const cr_fixed_mean_dual *left = s->has_left ? &s->left : &s->right,
                             *right = s->has_right ? &s->right : &s->left;
    const tangent_line a = tangent_at(left, s->weight), b = tangent_at(right, s->weight);
    const double max_value = lower_envelope_max(a, b, s->low, s->high),
                 width = s->weight * (s->rise->mean_hi - s->rise->mean_lo);
    return max_value - fmax(a.height, b.height) <=
           s->min_gain * (10 * fmax(left->value, right->value) + relative_width_error * width);
}

static void search_interior(mean_search *s, cr_tangent_pair *tangents)
{
    for (int iteration = 0; iteration < MAX_VISITS && cr_budget_left(s->rise->budget);
         iteration++) {
        const double m = next_mean(s, iteration);
        if (!(s->high - s->low > 1e-10 * (s->rise->mean_hi - s->rise->mean_lo)))
            break; /* V has no slope at the supremum */
        if (!(m > s->low && m < s->high) || visit(s, m, 0, 0, tangents)) break;
        if (tangents_are_close(s)) break;
    }
    if (tangents->count) return;
    if (s->has_left) tangents->solution[tangents->count++] = s->left;
    if (s->has_right) tangents->solution[tangents->count++] = s->right;
}

static void set_tangent_value(const cr_one_sided *rise, double weight, cr_tangent_pair *tangents)
{
    if (!tangents->count) {
        tangents->value = fmin(cr_closed_form_bound(rise, weight, &tangents->radius_slope),
                               cr_range_bound(rise, weight));
        tangents->tight = 0;
        return;
    }
    const tangent_line a = tangent_at(tangents->solution, weight),
                       b = tangent_at(tangents->solution + (tangents->count > 1), weight);
    tangents->value = lower_envelope_max(a, b, rise->mean_lo, rise->mean_hi);
    const double best = fmax(a.height, b.height), width = weight * (rise->mean_hi - rise->mean_lo);
    const double size = fmax(
        fmax(tangents->solution[0].value, tangents->solution[tangents->count - 1].value), width);
    tangents->tight = tangents->solution[0].tight &&
                      tangents->solution[tangents->count - 1].tight &&
                      tangents->value - best <= 1e-8 * size;
    tangents->radius_slope = tangents->count > 1 ? 0.5 * (tangents->solution[0].radius_slope +
                                                          tangents->solution[1].radius_slope)
                                                 : tangents->solution[0].radius_slope;
}

/* Returns whether no search is needed, and sets the value if so. */
static int is_trivial(const cr_one_sided *rise, double weight, cr_tangent_pair *tangents)
{
    const double max_mean = rise->mean_hi, max_variance = cr_one_sided_max_variance(rise);
    tangents->radius_slope = 0;
    if (rise->range_lo == -INFINITY && rise->range_hi == INFINITY) {
        tangents->value = cr_closed_form_bound(rise, weight, &tangents->radius_slope);
        return 1;
    }
    const int constant = max_variance == 0 || rise->r == 0 || rise->mean_lo >= rise->range_hi ||
                         rise->mean_hi <= rise->range_lo;
    const int unlimited = max_variance == INFINITY &&
                          !(rise->range_lo > -INFINITY && rise->range_hi < INFINITY);
    if (weight > 0 && max_mean >= rise->range_hi)
        tangents->value = rise->range_hi; /* attained by the constant range_hi */
    else if (constant) tangents->value = weight > 0 ? max_mean : 0;
    else if (unlimited || rise->r > CR_MAX_FINITE_NORM_RADIUS)
        tangents->value = cr_range_bound(rise, weight);
    else if (rise->range_hi == INFINITY && rise->r > CR_MAX_OPEN_RANGE_RADIUS)
        tangents->value = cr_closed_form_bound(rise, weight, &tangents->radius_slope);
    else return 0;
    return 1;
}

/* Solves at a kink of C, a mean at which the bounds by variance and by moment are equal, since the
 * supremum is often there. Every mixture of the two slopes of C gives a tangent (theory 3.5); this
 * takes the one that makes the objective level. Returns non-zero if there is one. */
static int visit_variance_kink(mean_search *s, double m, cr_tangent_pair *tangents)
{
    const cr_one_sided *rise = s->rise;
    if (!(m > s->low && m < s->high) || visit(s, m, 0, 0, tangents)) return tangents->count;
    cr_fixed_mean_dual *solution = s->last_visited;
    if (!solution) return 0;
    const double moment_slope = -2 * (m - rise->moment_center),
                 norm_lambda = solution->problem.ratio.norm * solution->multipliers.lambda;
    const double level_slope =
        solution->problem.variance_slope - (solution->mean_slope + s->weight) / norm_lambda;
    if (!(norm_lambda > 0) || solution->constant ||
        !(level_slope >= fmin(0, moment_slope) && level_slope <= fmax(0, moment_slope)))
        return 0;
    const double variance = fmax(rise->variance, cr_one_sided_moment_variance(rise, m));
    solution->value += norm_lambda * (variance - solution->problem.variance);
    solution->problem.variance = variance;
    solution->problem.variance_slope = level_slope;
    solution->mean_slope = -s->weight;
    tangents->solution[0] = *solution;
    return tangents->count = 1;
}

static int visit_variance_kinks(mean_search *s, cr_tangent_pair *tangents)
{
    const cr_one_sided *rise = s->rise;
    if (!(rise->moment < INFINITY && rise->variance < rise->moment)) return 0;
    const double kink_distance = sqrt(rise->moment - rise->variance);
    return visit_variance_kink(s, rise->moment_center - kink_distance, tangents) ||
           visit_variance_kink(s, rise->moment_center + kink_distance, tangents);
}

/* Returns whether this end of the interval has a tangent. If only a constant has its mean, it is
 * vertical. */
static int end_has_tangent(const cr_one_sided *rise, double mean)
{
    double unused;
    if (mean == rise->mean_lo ? rise->low_end_is_feasible_limit : rise->high_end_is_feasible_limit)
        return 0;
    const int is_away_from_center = rise->moment == INFINITY ||
                                    cr_one_sided_variance(rise, mean, &unused) >
                                        1e-9 * rise->moment;
    return is_away_from_center && mean > rise->range_lo && mean < rise->range_hi;
}

void cr_tangent_search(const cr_one_sided *rise, double weight, double min_gain,
                       cr_tangent_pair *tangents)
{
    const cr_fixed_mean_dual previous = tangents->solution[0];
    mean_search s = {.rise = rise,
                     .weight = weight,
                     .min_gain = min_gain,
                     .low = rise->mean_lo,
                     .high = rise->mean_hi,
                     .warm = tangents->count ? &previous : NULL};
    tangents->count = 0;
    tangents->tight = 1;
    if (is_trivial(rise, weight, tangents)) return;
    if (!cr_budget_left(rise->budget)) {
        set_tangent_value(rise, weight, tangents);
        return;
    }
    const int is_single_mean = s.low == s.high,
              outer_limit = cr_budget_narrow(rise->budget, CR_SEARCH_EVALUATIONS);
    if (is_single_mean) {
        visit(&s, s.low, 1, 1, tangents);
    } else if (!(end_has_tangent(rise, s.high) && visit(&s, s.high, 0, 1, tangents)) &&
               !(end_has_tangent(rise, s.low) && visit(&s, s.low, 1, 0, tangents)) &&
               !visit_variance_kinks(&s, tangents)) {
        search_interior(&s, tangents);
    }
    rise->budget->limit = outer_limit;
    set_tangent_value(rise, weight, tangents);
}

/* ---- proof */
/* Sets *out to the tangent of D at the multipliers of a solution, computed again and raised by its
 * possible errors. Returns non-zero if there is no proven tangent. */
static int verify_tangent(const cr_one_sided *rise, double weight, cr_tangent_pair *tangents,
                          cr_fixed_mean_dual *solution, tangent_line *out)
{
    cr_verified_value verified;
    if (solution->constant) { /* only if there is one mean */
        *out = (tangent_line){weight * solution->mean, 0, solution->mean};
        return 0;
    }
    cr_verify_dual_value(&solution->problem, solution->correlation_lo, solution->correlation_hi,
                         &solution->multipliers, &solution->regions, &verified);
    const double slope = verified.mean_slope + weight,
                 max_distance =
                     fmax(rise->mean_hi - solution->mean, solution->mean - rise->mean_lo);
    const double size =
        fabs(verified.value) + fabs(weight * solution->mean) + fabs(slope) * max_distance;
    *out = (tangent_line){verified.value + weight * solution->mean, 0, solution->mean};
    if (!(verified.margin <= 1e-10 * fabs(verified.value))) tangents->tight = 0;
    if (rise->mean_lo < rise->mean_hi) { /* else no tangent is needed */
        out->slope = slope;
        out->height += verified.mean_slope_error * max_distance + 8 * DBL_EPSILON * size;
    }
    return verified.unverified || !isfinite(out->height) || !isfinite(out->slope);
}

static double use_closed_form(const cr_one_sided *rise, cr_tangent_pair *tangents,
                              double closed_form)
{
    rise->budget->fallbacks++;
    tangents->tight = 0;
    return closed_form;
}

double cr_tangent_verify(const cr_one_sided *rise, double weight, cr_tangent_pair *tangents)
{
    double unused;
    cr_tangent_pair trivial = {.count = 0};
    const double closed_form =
        fmin(cr_closed_form_bound(rise, weight, &unused), cr_range_bound(rise, weight));
    if (!tangents->count)
        return is_trivial(rise, weight, &trivial) ? fmin(closed_form, trivial.value) : closed_form;
    tangent_line lines[2];
    for (int i = 0; i < tangents->count; i++)
        if (verify_tangent(rise, weight, tangents, tangents->solution + i, lines + i))
            return use_closed_form(rise, tangents, closed_form);
    const double max_value = lower_envelope_max(lines[0], lines[tangents->count - 1], rise->mean_lo,
                                                rise->mean_hi),
                 rounded = max_value + 4 * DBL_EPSILON * fabs(max_value);
    /* V grows with r from 0 (theory 2.3), so a bound below 0 is wrong. (A bound below r*kappa need
     * not be: the range can make the second-order part negative.) */
    const double min_value = weight > 0 ? rise->mean_lo : 0;
    if (!(max_value >= min_value - 1e-12 * fabs(max_value) - 1e-300))
        return use_closed_form(rise, tangents, closed_form);
    if (rounded > tangents->value + 1e-6 * fmax(tangents->solution[0].value,
                                                tangents->solution[tangents->count - 1].value))
        tangents->tight = 0;
    return fmin(closed_form, fmax(rounded, min_value));
}

double cr_tangent_bound(const cr_one_sided *rise, double weight, cr_tangent_pair *tangents)
{
    cr_tangent_search(rise, weight, CR_FINAL_GAIN, tangents);
    return cr_tangent_verify(rise, weight, tangents);
}

/* ======== The order in which subsets of constraints are tried, and the evaluations that each
 * may spend. */
/* Mean and range are in every subset, since they only limit the search. The closed forms, which
 * need no range, are always used. */
enum { VARIANCE = 1, GRADIENT = 2, MOMENT = 4, SUBSETS = 8 };

static int active_constraints(const cr_one_sided *rise)
{
    const int gradient = rise->gradient_lo > 0 ||
                         rise->gradient_hi < sqrt(cr_one_sided_max_variance(rise));
    int active = gradient ? GRADIENT : 0;
    if (rise->variance < INFINITY) active |= VARIANCE;
    if (rise->moment < INFINITY) active |= MOMENT;
    return active;
}

static cr_one_sided restrict_to(const cr_one_sided *rise, int subset)
{
    cr_one_sided restricted = *rise;
    if (!(subset & VARIANCE)) restricted.variance = INFINITY;
    if (!(subset & MOMENT)) restricted.moment = INFINITY;
    if (!(subset & GRADIENT)) {
        restricted.gradient_lo = 0;
        restricted.gradient_hi = INFINITY;
    }
    restricted.low_end_is_feasible_limit = restricted.high_end_is_feasible_limit = 0;
    return restricted;
}

/* Solves with this subset, by half of the remaining budget, so that the next one has some. */
static void solve_subset(cr_constraint_subsets *subsets, int subset)
{
    cr_evaluation_budget *budget = subsets->rise->budget;
    if (subsets->is_tight[subset]) return;
    const cr_one_sided restricted =
        subset == subsets->all_constraints ? *subsets->rise : restrict_to(subsets->rise, subset);
    const int outer_limit = cr_budget_narrow(budget, (budget->limit - budget->used) / 2);
    const int tight = subsets->solve(subsets->context, &restricted);
    for (int contained = 0; contained < SUBSETS; contained++)
        if (!(contained & ~subset)) subsets->is_tight[contained] |= tight;
    budget->limit = outer_limit;
}

static int constraint_count(int subset)
{
    return (subset & 1) + (subset >> 1 & 1) + (subset >> 2);
}

/* Solves with the proper subsets, the largest first. */
static void solve_proper_subsets(cr_constraint_subsets *subsets)
{
    for (int size = constraint_count(subsets->all_constraints) - 1; size >= 0; size--)
        for (int subset = 0; subset < SUBSETS; subset++)
            if (!(subset & ~subsets->all_constraints) && constraint_count(subset) == size)
                solve_subset(subsets, subset);
}

cr_constraint_subsets cr_constraint_subsets_make(const cr_one_sided *rise, cr_subset_solver *solve,
                                                 void *context)
{
    return (cr_constraint_subsets){.rise = rise,
                                   .solve = solve,
                                   .context = context,
                                   .all_constraints = active_constraints(rise)};
}

void cr_constraint_subsets_solve(cr_constraint_subsets *subsets, int count,
                                 cr_evaluation_budget *budget)
{
    int unsolved = 0;
    for (int i = 0; i < count; i++) {
        budget->exhausted = 0;
        solve_subset(subsets + i, subsets[i].all_constraints);
        const int loose = !subsets[i].is_tight[subsets[i].all_constraints];
        unsolved += loose;
        budget->loose += loose || budget->exhausted;
    }
    for (int i = 0; i < count; i++) {
        if (subsets[i].is_tight[subsets[i].all_constraints]) continue;
        const int evaluations = (budget->limit - budget->used) / (unsolved > 1 ? unsolved-- : 1);
        const int outer_limit = cr_budget_narrow(budget, evaluations);
        solve_proper_subsets(subsets + i);
        budget->limit = outer_limit;
    }
}
