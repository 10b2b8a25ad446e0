/* Minimises the dual: the branch of two points, starting points, and Newton's method. */
#include "base/constants.h"
#include "solver/solver.h"
#include "statistics/normal.h"
#include <math.h>

/* ======== The two-valued worst function from its edges, which are quantiles of the normal
 * distribution. */
/* Returns the x beyond which a mass of P(hi) - u lies, from the smaller of P(hi) and P(lo): m may
 * be one ulp from an end. */
static double right_edge_of(double b, double B, double u)
{
    const double span = B - b;
    return -b < B ? cr_normal_quantile_sf(-b / span - u) : -cr_normal_quantile_sf(B / span + u);
}

double cr_two_valued_correlation(double b, double B)
{
    return (B - b) * cr_shift_slope(fmin(-b, B) / (B - b));
}

/* Returns the mass u of the left one of two tails, on which the function is hi; the right one has q
 * - u. Its correlation / (hi - lo) is pdf(z(q-u)) - pdf(z(u)), which falls from the half-space's at
 * u = 0 to 0 at u = q/2. The unknown is log u, since u may be as small as a double. */
static double left_tail_mass(double b, double B, double correlation_per_span)
{
    const double q = -b / (B - b);
    double low = log(q) - 700, high = log(0.5 * q), x = high - 1;
    for (int i = 0; i < 100; i++) {
        const double u = exp(x), left_edge = cr_normal_quantile_sf(u),
                     right_edge = right_edge_of(b, B, u);
        const double excess =
            cr_normal_pdf(right_edge) - cr_normal_pdf(left_edge) - correlation_per_span;
        if (excess > 0) low = x;
        else high = x;
        double next = x + excess / (u * (left_edge + right_edge));
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (fabs(next - x) <= 1e-13 * fabs(x) + 1e-14) return exp(next);
        x = next;
    }
    return exp(0.5 * (low + high));
}

void cr_two_valued_edges(const cr_problem *problem, double *left_edge, double *right_edge)
{
    const double b = problem->b, B = problem->B;
    const double u = problem->ratio.order > 0 ? left_tail_mass(b, B, problem->correlation / (B - b))
                                              : 0;
    *left_edge = u > 0 ? -cr_normal_quantile_sf(u) : -INFINITY;
    *right_edge = right_edge_of(b, B, u);
}

cr_multipliers cr_two_valued_solve(const cr_problem *problem)
{
    const cr_ratio *ratio = &problem->ratio;
    double left_edge, right_edge;
    cr_two_valued_edges(problem, &left_edge, &right_edge);
    if (ratio->order == 0) return (cr_multipliers){0, cr_ratio_value(ratio, right_edge), 0};
    const double h = cr_ratio_value(ratio, left_edge);
    const double slope = (cr_ratio_value(ratio, right_edge) - h) / (right_edge - left_edge);
    return (cr_multipliers){0, h - slope * left_edge, slope};
}

/* ======== Shapes of worst functions: unclipped; at an end of the range but for a tail or a dip. */
/* y = alpha h + c t: exact without a range. */
static cr_multipliers unclipped_guess(const cr_problem *problem)
{
    const double c = problem->ratio.order > 0 ? problem->correlation : 0,
                 variance = problem->variance;
    const double alpha = sqrt(fmax(variance - c * c, 1e-8 * variance));
    return (cr_multipliers){0.5 / alpha, 0, -c / alpha};
}

/* k = 0, the mean close to an end compared with the deviation: y stands there except for a tail of
 * known mass and energy. */
static cr_multipliers tail_guess(const cr_problem *problem, int upper_end)
{
    const cr_ratio *ratio = &problem->ratio;
    const double distance = upper_end ? problem->B : -problem->b,
                 tail_probability = fmin(0.9, 1.5 * distance * distance /
                                                  (problem->variance + distance * distance));
    const double x = (upper_end ? -1 : 1) * cr_normal_quantile_sf(tail_probability),
                 h = cr_ratio_value(ratio, x), tail = cr_ratio_tail(ratio, x);
    const double alpha = distance /
                         (upper_end ? h * cr_normal_cdf(x) + tail : tail - h * cr_normal_sf(x)),
                 lambda = 0.5 / alpha;
    return (cr_multipliers){lambda, h - 2 * lambda * (upper_end ? distance : -distance), 0};
}

/* k = 1, the mean close to the upper end: y stands at B except for one dip around the t that gives
 * the correlation. The dip is taken for a parabola, so that mass and energy give its depth and
 * width. (At the lower end v is convex, and the unclipped guess will do.) */
static cr_multipliers dip_guess(const cr_problem *problem)
{
    const cr_ratio *ratio = &problem->ratio;
    const double B = problem->B, center = -problem->correlation / B;
    const double depth = fmin(1.25 * (problem->variance + B * B) / B, 1.2 * (B - problem->b));
    const double width = fmin(1.5, 0.75 * B / (cr_normal_pdf(center) * depth));
    const double curvature =
        ratio->r * ratio->r * exp(ratio->r * (center - 0.5 * ratio->r)) / ratio->norm;
    const double lambda = curvature * width * width / (4 * depth),
                 slope = cr_ratio_slope(ratio, center);
    return (cr_multipliers){
        lambda, cr_ratio_value(ratio, center) - slope * center - 2 * lambda * (B - depth), slope};
}

cr_multipliers cr_initial_guess(const cr_problem *problem)
{
    const double C = problem->variance, b = problem->b, B = problem->B;
    cr_multipliers guess = unclipped_guess(problem);
    if (problem->ratio.order > 0) {
        if (B * B < C) guess = dip_guess(problem);
    } else if (B * B < 0.3 * C) {
        guess = tail_guess(problem, 1);
    } else if (b * b < 0.3 * C) {
        guess = tail_guess(problem, 0);
    }
    const int is_valid = guess.lambda > 0 && isfinite(guess.lambda) && isfinite(guess.nu) &&
                         isfinite(guess.a);
    return is_valid ? guess : unclipped_guess(problem);
}

/* ======== Newton steps in (lambda, nu, a) with a line search, and the tests that end them. */
#define MAX_STEPS 80
#define MAX_TRIALS 40
#define MAX_FINISHING_STEPS 6
#define FINE_GAIN 1e-12 /* if a larger gain leaves the conditions unmet */
#define UNKNOWNS 3

typedef struct newton_step {
    double e[UNKNOWNS]; /* solves M e = -gradient, M = 2 lambda times the Hessian: (dlambda, dnu,
                           da) = 2 lambda e */
    double derivative;  /* of D / T along (dlambda, dnu, da): negative */
} newton_step;

/* Solves m x = x in place, by Cholesky with a floor under the pivots, so that a direction without
 * curvature gives a gradient step, never a wild one. */
static void solve(int n, double m[UNKNOWNS][UNKNOWNS], double x[UNKNOWNS])
{
    double pivot[UNKNOWNS];
    for (int i = 0; i < n; i++) {
        const double diagonal = m[i][i];
        for (int j = 0; j < i; j++) {
            double sum = m[i][j];
            for (int k = 0; k < j; k++) sum -= m[i][k] * m[j][k] * pivot[k];
            m[i][j] = sum / pivot[j];
        }
        double remaining = diagonal;
        for (int k = 0; k < i; k++) remaining -= m[i][k] * m[i][k] * pivot[k];
        pivot[i] = fmax(remaining, 1e-11 * diagonal + 1e-280);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) x[i] -= m[i][k] * x[k];
    for (int i = n - 1; i >= 0; i--) {
        x[i] /= pivot[i];
        for (int k = i + 1; k < n; k++) x[i] -= m[k][i] * x[k];
    }
}

/* Returns the minimum of lambda in a descent. If the variance does not bind, lambda falls towards
 * 0, and nothing curves there. This much costs 1e-11 of D. */
static double min_lambda(const cr_problem *problem, const cr_newton_state *state)
{
    return 1e-11 * fmax(state->value, 0) / (problem->ratio.norm * problem->variance);
}

static newton_step compute_newton_step(const cr_problem *problem, const cr_newton_state *state)
{
    const cr_dual_expectations *expect = &state->expectations;
    const int n = problem->ratio.order > 0 ? 3 : 2;
    double negative_gradient[UNKNOWNS] = {expect->yy - problem->variance, expect->y,
                                          expect->yt - problem->correlation};
    double scaled_hessian[UNKNOWNS][UNKNOWNS] = {
        {4 * expect->pyy}, {2 * expect->py, expect->p}, {2 * expect->pyt, expect->t, expect->tt}};
    if (state->multipliers.lambda <= min_lambda(problem, state) && negative_gradient[0] < 0) {
        scaled_hessian[0][0] = 1;
        scaled_hessian[1][0] = scaled_hessian[2][0] = negative_gradient[0] = 0;
    }
    newton_step out = {{negative_gradient[0], negative_gradient[1], negative_gradient[2]}, 0};
    solve(n, scaled_hessian, out.e);
    for (int i = 0; i < n; i++)
        out.derivative -= 2 * state->multipliers.lambda * negative_gradient[i] * out.e[i];
    return out;
}

/* Returns the multipliers at `length` along the step. If most of the line is unclipped, the problem
 * is nearly linear in 1/lambda and the ratios. If little is, the function is nearly two-valued, and
 * the problem linear in the multipliers. Both curves leave in the same direction. */
static cr_multipliers multipliers_along(const cr_multipliers *mult, const newton_step *step,
                                        double length, int unclipped, int order)
{
    const double log_change = -2 * step->e[0] * length; /* of log(1/lambda), to first order */
    cr_multipliers moved = *mult;
    if (unclipped) {
        const double two_lambda = 2 * mult->lambda;
        moved.lambda = mult->lambda / (1 + log_change);
        const double new_two_lambda = 2 * moved.lambda;
        moved.nu =
            new_two_lambda * (mult->nu / two_lambda * (1 + log_change) + length * step->e[1]);
        if (order > 0)
            moved.a =
                new_two_lambda * (mult->a / two_lambda * (1 + log_change) + length * step->e[2]);
    } else {
        moved.lambda = mult->lambda * (1 - log_change);
        moved.nu += 2 * mult->lambda * length * step->e[1];
        if (order > 0) moved.a += 2 * mult->lambda * length * step->e[2];
    }
    return moved;
}

static int is_mostly_unclipped(const cr_newton_state *state)
{
    return state->expectations.p > 0.4;
}

static void evaluate(const cr_problem *problem, const cr_quadrature_rule *rule,
                     cr_newton_state *state)
{
    if (rule != &cr_quadrature_rough ||
        !cr_dual_by_closed_form(problem, &state->multipliers, &state->regions,
                                &state->expectations)) {
        cr_clip_regions_find(problem, &state->multipliers,
                             rule == &cr_quadrature_value ? 1e-13 : 1e-9, &state->regions);
        cr_dual_by_quadrature(problem, &state->multipliers, &state->regions, rule,
                              &state->expectations);
    }
    state->value = cr_dual_value(problem, &state->multipliers, state->expectations.inner_maximum);
}

/* Returns whether no function has the constraints: D is clearly below 0 <= V (theory 2.3). */
static int is_infeasible(const cr_problem *problem, const cr_newton_state *state)
{
    const double gradient_part =
        problem->ratio.order > 0 ? problem->ratio.r * fabs(problem->correlation) : 0;
    return state->value < -1 * (gradient_part + problem->ratio.norm * sqrt(problem->variance));
}

/* Returns D in units of T. */
static double value_in_norm_units(const cr_problem *problem, const cr_newton_state *state)
{
    return state->value / problem->ratio.norm;
}

/* Returns how far D can be above its minimum: the sum of each multiplier times the violation of its
 * condition at the worst function (theory 3.5). A violation also counts by itself, since a
 * multiplier can be 0 too early. Newton's own estimate would not do: from a poor initial point it
 * can end with hardly any lambda, and then nothing moves any more. */
static double duality_gap(const cr_problem *problem, const cr_newton_state *state)
{
    const cr_ratio *ratio = &problem->ratio;
    const cr_dual_expectations *expect = &state->expectations;
    const double C = problem->variance, relative_value = value_in_norm_units(problem, state);
    double gap = state->multipliers.lambda * fabs(expect->yy - C) +
                 relative_value * fmax(0, expect->yy - C) / C +
                 (fabs(state->multipliers.nu) + relative_value / sqrt(C)) * fabs(expect->y);
    if (ratio->order > 0)
        gap += (fabs(cr_dual_multiplier(problem, &state->multipliers)) + ratio->r) / ratio->norm *
               fabs(expect->yt - problem->correlation);
    return gap;
}

static int gap_is_below(const cr_problem *problem, const cr_newton_state *state, double fraction)
{
    return duality_gap(problem, state) <= fraction * value_in_norm_units(problem, state);
}

/* Returns the maximum length along a step with this predicted decrease. */
static double max_step_length(const cr_newton_state *state, const newton_step *step,
                              double predicted_decrease, int unclipped)
{
    const double log_change = fabs(2 * step->e[0]);
    const double length = log_change > 0.8 && ((step->e[0] > 0) == unclipped) ? 0.8 / log_change
                          : log_change > 20                                   ? 20 / log_change
                                                                              : 1;
    if (step->e[0] != 0 || !(predicted_decrease > state->value)) return length;
    /* D >= 0 limits the decrease. */
    return fmin(length, fmax(state->value, 0) / predicted_decrease);
}

typedef struct line_search {
    const newton_step *step;
    double predicted_decrease, length;
    int unclipped;
} line_search;

/* Shortens the step until it pays; *next is the last point tried. */
static void backtrack(const cr_problem *problem, const cr_quadrature_rule *rule,
                      const cr_newton_state *start, const line_search *search,
                      cr_newton_state *next)
{
    /* The draft jumps if a panel comes or goes. Close to the end a finer rule takes over. */
    const int is_near_minimum = rule != &cr_quadrature_value &&
                                search->predicted_decrease <= 1e-7 * start->value;
    const int max_trials = is_near_minimum ? 2 : MAX_TRIALS;
    double length = search->length;
    *next = *start;
    for (int trial = 0; trial < max_trials; trial++) {
        next->multipliers = multipliers_along(&start->multipliers, search->step, length,
                                              search->unclipped, problem->ratio.order);
        next->regions = start->regions;
        evaluate(problem, rule, next);
        if (next->value <= start->value - 1e-4 * length * search->predicted_decrease) return;
        length *= 0.4;
    }
}

static void descend(const cr_problem *problem, const cr_quadrature_rule *rule, double min_gain,
                    cr_newton_state *state)
{
    const int order = problem->ratio.order;
    state->converged = state->tight = state->infeasible = 0;
    evaluate(problem, rule, state);
    for (state->steps = 0; state->steps < MAX_STEPS && cr_budget_left(problem->budget);
         state->steps++) {
        if ((state->infeasible = is_infeasible(problem, state))) return;
        if (state->value < problem->early_exit_value) {
            state->converged = state->tight = 1;
            return;
        }
        const newton_step step = compute_newton_step(problem, state);
        line_search search = {&step, -step.derivative * problem->ratio.norm, 0,
                              is_mostly_unclipped(state)};
        search.length = max_step_length(state, &step, search.predicted_decrease, search.unclipped);
        if (search.predicted_decrease <= 2 * min_gain * state->value) {
            state->tight = gap_is_below(problem, state, 1e-3);
            if (!state->tight && min_gain > FINE_GAIN) {
                min_gain = FINE_GAIN;
                continue;
            }
            state->multipliers = multipliers_along(&state->multipliers, &step, search.length,
                                                   search.unclipped, order);
            if (rule == &cr_quadrature_rough) state->value -= 0.5 * search.predicted_decrease;
            state->converged = 1;
            return;
        }
        if (!search.unclipped && step.e[0] < 0) {
            const double remaining = 1 - min_lambda(problem, state) / state->multipliers.lambda;
            search.length = fmin(search.length, fmax(0, remaining) / fabs(2 * step.e[0]));
        }
        cr_newton_state next;
        backtrack(problem, rule, state, &search, &next);
        if (!(next.value < state->value)) return; /* only rounding is left */
        next.steps = state->steps;
        *state = next;
    }
}

/* Returns whether errors of the draft count. Close to the greatest possible correlation the
 * multipliers grow without bound and cancel in D; elsewhere errors count only squared. */
static int multipliers_are_ill_conditioned(const cr_problem *problem, const cr_newton_state *state)
{
    const double size = state->multipliers.lambda * problem->variance +
                        fabs(state->multipliers.a * problem->correlation);
    return problem->ratio.order > 0 && size * problem->ratio.norm > 20 * state->value;
}

void cr_newton_descend(const cr_problem *problem, double min_gain, cr_newton_state *state)
{
    descend(problem, min_gain < CR_ROUGH_GAIN ? &cr_quadrature_draft : &cr_quadrature_rough,
            min_gain, state);
    const int stalled = !state->converged && state->steps < MAX_STEPS;
    if (!state->infeasible && (stalled || multipliers_are_ill_conditioned(problem, state)))
        descend(problem, &cr_quadrature_value, min_gain * 1e-2, state);
    if (gap_is_below(problem, state, 1e-9)) state->tight = 1;
}

void cr_newton_finish(const cr_problem *problem, cr_multipliers *mult, cr_clip_regions *regions)
{
    cr_newton_state state = {.multipliers = *mult, .regions = *regions};
    evaluate(problem, &cr_quadrature_value, &state);
    for (int i = 0; i < MAX_FINISHING_STEPS && !gap_is_below(problem, &state, 1e-14); i++) {
        const newton_step step = compute_newton_step(problem, &state);
        cr_newton_state next = state;
        next.multipliers = multipliers_along(&state.multipliers, &step, 1,
                                             is_mostly_unclipped(&state), problem->ratio.order);
        if (!(next.multipliers.lambda > 0)) break;
        evaluate(problem, &cr_quadrature_value, &next);
        if (!(duality_gap(problem, &next) < 0.5 * duality_gap(problem, &state))) break;
        state = next;
    }
    *mult = state.multipliers;
    *regions = state.regions;
}
