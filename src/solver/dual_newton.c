/* Newton steps in (lambda, nu, a) with a line search, and the tests that end them. */
#include "solver/dual_newton.h"
#include <math.h>

#define MOST_STEPS 80
#define MOST_TRIALS 40
#define MOST_FINISHING_STEPS 6
#define FINE_GAIN 1e-12 /* if a larger gain leaves the conditions unmet */
#define UNKNOWNS 3

typedef struct step {
    double e[UNKNOWNS]; /* solves M e = -gradient, M = 2 lambda times the Hessian: (dlambda, dnu,
                           da) = 2 lambda e */
    double slope;       /* directional derivative of D / T along (dlambda, dnu, da): negative */
} step;

/* Solves m x = x in place, by Cholesky with a floor under the pivots, so that a direction without
 * curvature gives a gradient step, never a wild one. */
static void solve(int n, double m[UNKNOWNS][UNKNOWNS], double x[UNKNOWNS])
{
    double pivot[UNKNOWNS];
    for (int i = 0; i < n; i++) {
        const double whole = m[i][i];
        for (int j = 0; j < i; j++) {
            double sum = m[i][j];
            for (int k = 0; k < j; k++) sum -= m[i][k] * m[j][k] * pivot[k];
            m[i][j] = sum / pivot[j];
        }
        double left = whole;
        for (int k = 0; k < i; k++) left -= m[i][k] * m[i][k] * pivot[k];
        pivot[i] = fmax(left, 1e-11 * whole + 1e-280);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) x[i] -= m[i][k] * x[k];
    for (int i = n - 1; i >= 0; i--) {
        x[i] /= pivot[i];
        for (int k = i + 1; k < n; k++) x[i] -= m[k][i] * x[k];
    }
}

/* Returns the least lambda of a descent. If the variance does not bind, lambda falls towards 0, and
 * nothing curves there. This much costs 1e-11 of D. */
static double least_lambda(const cr_problem *problem, const cr_newton_state *now)
{
    return 1e-11 * fmax(now->value, 0) / (problem->ratio.norm * problem->variance);
}

static step direction(const cr_problem *problem, const cr_newton_state *now)
{
    const cr_dual_expectations *s = &now->sums;
    const int n = problem->ratio.order > 0 ? 3 : 2;
    double minus[UNKNOWNS] = {s->yy - problem->variance, s->y, s->yt - problem->coefficient};
    double m[UNKNOWNS][UNKNOWNS] = {{4 * s->pyy}, {2 * s->py, s->p}, {2 * s->pyt, s->t, s->tt}};
    if (now->at.lambda <= least_lambda(problem, now) && minus[0] < 0) {
        m[0][0] = 1;
        m[1][0] = m[2][0] = minus[0] = 0;
    }
    step out = {{minus[0], minus[1], minus[2]}, 0};
    solve(n, m, out.e);
    for (int i = 0; i < n; i++) out.slope -= 2 * now->at.lambda * minus[i] * out.e[i];
    return out;
}

/* Returns the multipliers at `length` along the step. If most of the line is between the clips, the
 * problem is nearly linear in 1/lambda and the ratios. If little is, the function is nearly
 * two-valued, and the problem linear in the multipliers. Both curves leave in the same direction.
 */
static cr_multipliers move(const cr_multipliers *at, const step *by, double length, int between,
                           int order)
{
    const double change = -2 * by->e[0] * length; /* of log(1/lambda), to first order */
    cr_multipliers to = *at;
    if (between) {
        const double twice = 2 * at->lambda;
        to.lambda = at->lambda / (1 + change);
        const double ratio = 2 * to.lambda;
        to.nu = ratio * (at->nu / twice * (1 + change) + length * by->e[1]);
        if (order > 0) to.a = ratio * (at->a / twice * (1 + change) + length * by->e[2]);
    } else {
        to.lambda = at->lambda * (1 - change);
        to.nu += 2 * at->lambda * length * by->e[1];
        if (order > 0) to.a += 2 * at->lambda * length * by->e[2];
    }
    return to;
}

static int mostly_between(const cr_newton_state *now)
{
    return now->sums.p > 0.4;
}

static void evaluate(const cr_problem *problem, const cr_rule *rule, cr_newton_state *at)
{
    if (rule != &cr_quadrature_rough ||
        !cr_dual_closed(problem, &at->at, &at->regions, &at->sums)) {
        cr_regions_find(problem, &at->at, rule == &cr_quadrature_value ? 1e-13 : 1e-9,
                        &at->regions);
        cr_dual_sums(problem, &at->at, &at->regions, rule, &at->sums);
    }
    at->value = cr_dual_value(problem, &at->at, at->sums.constraint);
}

/* Returns whether no function has the constraints: D is clearly below 0 <= V (theory 2.3). */
static int impossible(const cr_problem *problem, const cr_newton_state *now)
{
    const double known = problem->ratio.order > 0 ? problem->ratio.r * fabs(problem->coefficient)
                                                  : 0;
    return now->value < -1 * (known + problem->ratio.norm * sqrt(problem->variance));
}

/* Returns D in units of T. */
static double price_of(const cr_problem *problem, const cr_newton_state *now)
{
    return now->value / problem->ratio.norm;
}

/* Returns by how much D can exceed its least value: the sum of each multiplier times the violation
 * of its condition at the worst function (theory 3.5). A violation also counts by itself, since a
 * multiplier can be 0 too early. Newton's own estimate would not do: from a poor initial point it
 * can end with hardly any lambda, and then nothing moves any more. */
static double missed_by(const cr_problem *problem, const cr_newton_state *now)
{
    const cr_ratio *ratio = &problem->ratio;
    const cr_dual_expectations *s = &now->sums;
    const double C = problem->variance, price = price_of(problem, now);
    double missed = now->at.lambda * fabs(s->yy - C) + price * fmax(0, s->yy - C) / C +
                    (fabs(now->at.nu) + price / sqrt(C)) * fabs(s->y);
    if (ratio->order > 0)
        missed += (fabs(cr_dual_multiplier(problem, &now->at)) + ratio->r) / ratio->norm *
                  fabs(s->yt - problem->coefficient);
    return missed;
}

static int nearly_feasible(const cr_problem *problem, const cr_newton_state *now, double share)
{
    return missed_by(problem, now) <= share * price_of(problem, now);
}

/* Returns the greatest length to try along a step that promises `drop`. */
static double full_length(const cr_newton_state *descent, const step *by, double drop, int between)
{
    const double most = fabs(2 * by->e[0]);
    const double length = most > 0.8 && ((by->e[0] > 0) == between) ? 0.8 / most
                          : most > 20                               ? 20 / most
                                                                    : 1;
    if (by->e[0] != 0 || !(drop > descent->value)) return length;
    return fmin(length, fmax(descent->value, 0) / drop); /* D >= 0: no more can be gained */
}

typedef struct line {
    const step *by;
    double drop, length;
    int between;
} line;

/* Shortens the step until it pays; *next is the last point tried. */
static void search_line(const cr_problem *problem, const cr_rule *rule,
                        const cr_newton_state *descent, const line *along, cr_newton_state *next)
{
    /* The draft jumps if a panel comes or goes. Close to the end a finer rule takes over. */
    const int at_the_end = rule != &cr_quadrature_value && along->drop <= 1e-7 * descent->value;
    const int trials = at_the_end ? 2 : MOST_TRIALS;
    double length = along->length;
    *next = *descent;
    for (int half = 0; half < trials; half++) {
        next->at = move(&descent->at, along->by, length, along->between, problem->ratio.order);
        next->regions = descent->regions;
        evaluate(problem, rule, next);
        if (next->value <= descent->value - 1e-4 * length * along->drop) return;
        length *= 0.4;
    }
}

static void descend(const cr_problem *problem, const cr_rule *rule, double gain,
                    cr_newton_state *descent)
{
    const int order = problem->ratio.order;
    descent->converged = descent->tight = descent->impossible = 0;
    evaluate(problem, rule, descent);
    for (descent->steps = 0; descent->steps < MOST_STEPS && cr_budget_left(problem->effort);
         descent->steps++) {
        if ((descent->impossible = impossible(problem, descent))) return;
        if (descent->value < problem->enough) {
            descent->converged = descent->tight = 1;
            return;
        }
        const step by = direction(problem, descent);
        line along = {&by, -by.slope * problem->ratio.norm, 0, mostly_between(descent)};
        along.length = full_length(descent, &by, along.drop, along.between);
        if (along.drop <= 2 * gain * descent->value) {
            descent->tight = nearly_feasible(problem, descent, 1e-3);
            if (!descent->tight && gain > FINE_GAIN) {
                gain = FINE_GAIN;
                continue;
            }
            descent->at = move(&descent->at, &by, along.length, along.between, order);
            if (rule == &cr_quadrature_rough) descent->value -= 0.5 * along.drop;
            descent->converged = 1;
            return;
        }
        if (!along.between && by.e[0] < 0) {
            const double left = 1 - least_lambda(problem, descent) / descent->at.lambda;
            along.length = fmin(along.length, fmax(0, left) / fabs(2 * by.e[0]));
        }
        cr_newton_state next;
        search_line(problem, rule, descent, &along, &next);
        if (!(next.value < descent->value)) return; /* only rounding is left */
        next.steps = descent->steps;
        *descent = next;
    }
}

/* Returns whether errors of the draft count. Close to the greatest possible correlation the
 * multipliers grow without bound and cancel in D; elsewhere errors count only squared. */
static int strained(const cr_problem *problem, const cr_newton_state *descent)
{
    const double size =
        descent->at.lambda * problem->variance + fabs(descent->at.a * problem->coefficient);
    return problem->ratio.order > 0 && size * problem->ratio.norm > 20 * descent->value;
}

void cr_newton_descend(const cr_problem *problem, double gain, cr_newton_state *descent)
{
    descend(problem, gain < CR_ROUGH_GAIN ? &cr_quadrature_draft : &cr_quadrature_rough, gain,
            descent);
    const int stalled = !descent->converged && descent->steps < MOST_STEPS;
    if (!descent->impossible && (stalled || strained(problem, descent)))
        descend(problem, &cr_quadrature_value, gain * 1e-2, descent);
    if (nearly_feasible(problem, descent, 1e-9)) descent->tight = 1;
}

void cr_newton_finish(const cr_problem *problem, cr_multipliers *at, cr_clip_regions *regions)
{
    cr_newton_state now = {.at = *at, .regions = *regions};
    evaluate(problem, &cr_quadrature_value, &now);
    for (int i = 0; i < MOST_FINISHING_STEPS && !nearly_feasible(problem, &now, 1e-14); i++) {
        const step by = direction(problem, &now);
        cr_newton_state next = now;
        next.at = move(&now.at, &by, 1, mostly_between(&now), problem->ratio.order);
        if (!(next.at.lambda > 0)) break;
        evaluate(problem, &cr_quadrature_value, &next);
        if (!(missed_by(problem, &next) < 0.5 * missed_by(problem, &now))) break;
        now = next;
    }
    *at = now.at;
    *regions = now.regions;
}
