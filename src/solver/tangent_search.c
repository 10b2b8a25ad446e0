/* The supremum over the interval of means: first a search that brackets it between two tangents,
 * then the proof. Only the proof has to be right, since tangents at any two means give a bound. */
#include "solver/tangent_search.h"
#include "solver/closed_form_bound.h"
#include <float.h>
#include <math.h>
#include <stddef.h>

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
 * that they cross, but the crossing may be lost: next to an end that no feasible function reaches,
 * a slope is so steep that the crossing is rounded to the end. So the flatter line gives the
 * height. */
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
static void exclude_infeasible_means(mean_search *search, const cr_fixed_mean_dual *solution)
{
    if (solution->mean_slope == 0) return;
    const double m = solution->mean - 0.9 * solution->value / solution->mean_slope;
    if (solution->mean_slope > 0 && m > search->low) search->low = fmin(m, search->high);
    if (solution->mean_slope < 0 && m < search->high) search->high = fmax(m, search->low);
}

/* Solves at m and narrows the bracket. Returns non-zero if the supremum is at m. */
static int visit(mean_search *search, double m, int is_low_end, int is_high_end,
                 cr_tangent_pair *tangents)
{
    cr_fixed_mean_dual solution;
    const int outer_limit = cr_budget_narrow(search->rise->budget, CR_MEAN_EVALUATIONS);
    cr_fixed_mean_solve(search->rise, m, search->warm, search->min_gain, &solution);
    search->rise->budget->limit = outer_limit;
    const double slope = solution.mean_slope + search->weight;
    if (slope == 0 || (slope > 0 && is_high_end) || (slope < 0 && is_low_end)) {
        tangents->solution[0] = solution;
        tangents->count = 1;
        return 1;
    }
    if (slope > 0) search->low = m;
    else search->high = m;
    search->last_visited = NULL;
    if (solution.infeasible) {
        exclude_infeasible_means(search, &solution);
        return 0;
    }
    if (slope > 0) search->has_left = 1;
    else search->has_right = 1;
    search->warm = search->last_visited = slope > 0 ? &search->left : &search->right;
    *search->last_visited = solution;
    return 0;
}

/* Returns a guess of the mean at which the slope is -weight, next to an end that no feasible
 * function reaches. V falls there like the root of the distance to the end, so 1/slope^2 is about
 * linear in the mean. NaN if V does not fall. */
static double root_asymptotic_mean(const mean_search *search)
{
    const double target = 1 / (search->weight * search->weight),
                 left_slope = search->left.mean_slope,
                 right_slope = search->has_right ? search->right.mean_slope : -INFINITY;
    const double end = search->has_right ? search->right.mean : search->high,
                 left_inverse_square = 1 / (left_slope * left_slope),
                 right_inverse_square = 1 / (right_slope * right_slope);
    if (!(search->weight > 0 && search->has_left && left_slope < 0 && right_slope < left_slope))
        return NAN;
    return end - (end - search->left.mean) * fmax((target - right_inverse_square) /
                                                      (left_inverse_square - right_inverse_square),
                                                  1e-9);
}

/* If the supremum seems to be at an end, the next mean is this fraction of the bracket off it. */
static const double end_fraction = 0.03;

/* Returns the next mean: a secant step to slope 0, kept off the ends of the bracket. Every third
 * step bisects, since the slope is infinite at an end of the range. A long search tries
 * root_asymptotic_mean first, and steps from an end if all tangents fall to one side. */
static double next_mean(const mean_search *search, int iteration)
{
    const double middle = 0.5 * (search->low + search->high), width = search->high - search->low,
                 asymptotic = root_asymptotic_mean(search);
    const int is_early = iteration <= 8; /* most searches have ended by then */
    if (!is_early && asymptotic > search->low && asymptotic < search->high && iteration % 3 != 2)
        return asymptotic;
    if (!is_early && search->has_left != search->has_right)
        return search->has_left ? search->high - end_fraction * width
                                : search->low + end_fraction * width;
    if (iteration % 3 == 2 || !search->has_left || !search->has_right) return middle;
    const double left_objective_slope = search->left.mean_slope + search->weight,
                 right_objective_slope = search->right.mean_slope + search->weight;
    const double m = search->left.mean + (search->right.mean - search->left.mean) *
                                             left_objective_slope /
                                             (left_objective_slope - right_objective_slope);
    return fmin(fmax(m, search->low + 0.02 * width), search->high - 0.02 * width);
}

/* Returns whether the tangents enclose the supremum closely. If all of them fall to one side, the
 * opposite end of the bracket has it. */
static int tangents_are_close(const mean_search *search)
{
    if (!search->has_left && !search->has_right) return 0;
    const cr_fixed_mean_dual *left = search->has_left ? &search->left : &search->right,
                             *right = search->has_right ? &search->right : &search->left;
    const tangent_line a = tangent_at(left, search->weight), b = tangent_at(right, search->weight);
    const double max_value = lower_envelope_max(a, b, search->low, search->high),
                 width = search->weight * (search->rise->mean_hi - search->rise->mean_lo);
    return max_value - fmax(a.height, b.height) <=
           search->min_gain * (10 * fmax(left->value, right->value) + relative_width_error * width);
}

static void search_interior(mean_search *search, cr_tangent_pair *tangents)
{
    for (int iteration = 0; iteration < MAX_VISITS && cr_budget_left(search->rise->budget);
         iteration++) {
        const double m = next_mean(search, iteration);
        if (!(search->high - search->low > 1e-10 * (search->rise->mean_hi - search->rise->mean_lo)))
            break; /* V has no slope at the supremum */
        if (!(m > search->low && m < search->high) || visit(search, m, 0, 0, tangents)) break;
        if (tangents_are_close(search)) break;
    }
    if (tangents->count) return;
    if (search->has_left) tangents->solution[tangents->count++] = search->left;
    if (search->has_right) tangents->solution[tangents->count++] = search->right;
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
static int visit_variance_kink(mean_search *search, double m, cr_tangent_pair *tangents)
{
    const cr_one_sided *rise = search->rise;
    if (!(m > search->low && m < search->high) || visit(search, m, 0, 0, tangents))
        return tangents->count;
    cr_fixed_mean_dual *solution = search->last_visited;
    if (!solution) return 0;
    const double moment_slope = -2 * (m - rise->moment_center),
                 norm_lambda = solution->problem.ratio.norm * solution->multipliers.lambda;
    const double level_slope =
        solution->problem.variance_slope - (solution->mean_slope + search->weight) / norm_lambda;
    if (!(norm_lambda > 0) || solution->constant ||
        !(level_slope >= fmin(0, moment_slope) && level_slope <= fmax(0, moment_slope)))
        return 0;
    const double variance = fmax(rise->variance, cr_one_sided_moment_variance(rise, m));
    solution->value += norm_lambda * (variance - solution->problem.variance);
    solution->problem.variance = variance;
    solution->problem.variance_slope = level_slope;
    solution->mean_slope = -search->weight;
    tangents->solution[0] = *solution;
    return tangents->count = 1;
}

static int visit_variance_kinks(mean_search *search, cr_tangent_pair *tangents)
{
    const cr_one_sided *rise = search->rise;
    if (!(rise->moment < INFINITY && rise->variance < rise->moment)) return 0;
    const double kink_distance = sqrt(rise->moment - rise->variance);
    return visit_variance_kink(search, rise->moment_center - kink_distance, tangents) ||
           visit_variance_kink(search, rise->moment_center + kink_distance, tangents);
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
    mean_search search = {.rise = rise,
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
    const int is_single_mean = search.low == search.high,
              outer_limit = cr_budget_narrow(rise->budget, CR_SEARCH_EVALUATIONS);
    if (is_single_mean) {
        visit(&search, search.low, 1, 1, tangents);
    } else if (!(end_has_tangent(rise, search.high) &&
                 visit(&search, search.high, 0, 1, tangents)) &&
               !(end_has_tangent(rise, search.low) && visit(&search, search.low, 1, 0, tangents)) &&
               !visit_variance_kinks(&search, tangents)) {
        search_interior(&search, tangents);
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
