#include "solver/newton.h"
#include <math.h>

#define MOST_STEPS 80
#define UNKNOWNS (2 + CR_ORDERS)

typedef struct step {
    double e[UNKNOWNS]; /* solves M e = -gradient, M = 2 lambda times the Hessian: (dlambda, dnu, da) = 2 lambda e */
    double slope;       /* directional derivative of D / T along (dlambda, dnu, da): negative */
} step;

/* Cholesky with a floor under the pivots: a direction in which nothing curves becomes a gradient step, never a wild one. */
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

static void leave_out(int i, double m[UNKNOWNS][UNKNOWNS], double minus[UNKNOWNS])
{
    for (int k = 0; k < i; k++) m[i][k] = 0;
    for (int k = i + 1; k < UNKNOWNS; k++) m[k][i] = 0;
    m[i][i] = 1;
    minus[i] = 0;
}

static step direction(const cr_problem *problem, const cr_descent *now)
{
    const cr_sums *s = &now->sums;
    const int n = 2 + problem->kernel.order;
    double minus[UNKNOWNS] = {s->yy - problem->variance, s->y, s->yt - problem->coefficient[0], s->yh - problem->coefficient[1]};
    double m[UNKNOWNS][UNKNOWNS] = {{4 * s->pyy}, {2 * s->py, s->p}, {2 * s->pyt, s->t, s->tt}, {2 * s->pyh, s->h, s->th, s->hh}};
    for (int j = 0; j < problem->kernel.order; j++)
        if (problem->fixed[j]) leave_out(2 + j, m, minus);
    step out = {{minus[0], minus[1], minus[2], minus[3]}, 0};
    solve(n, m, out.e);
    for (int i = 0; i < n; i++) out.slope -= 2 * now->at.lambda * minus[i] * out.e[i];
    return out;
}

/* Moves by `length` along the step. Where most of the line is between the clips the problem is nearly linear in 1/lambda and the
 * ratios; where hardly any is, it is nearly bang-bang, and linear in the multipliers themselves. Both curves leave in the same direction. */
static cr_multipliers move(const cr_multipliers *at, const step *by, double length, int between, int order)
{
    const double change = -2 * by->e[0] * length; /* of log(1/lambda), to first order */
    cr_multipliers to = *at;
    if (between) {
        const double twice = 2 * at->lambda;
        to.lambda = at->lambda / (1 + change);
        const double ratio = 2 * to.lambda;
        to.nu = ratio * (at->nu / twice * (1 + change) + length * by->e[1]);
        for (int j = 0; j < order; j++)
            if (by->e[2 + j] != 0) to.a[j] = ratio * (at->a[j] / twice * (1 + change) + length * by->e[2 + j]);
    } else {
        to.lambda = at->lambda * (1 - change);
        to.nu += 2 * at->lambda * length * by->e[1];
        for (int j = 0; j < order; j++) to.a[j] += 2 * at->lambda * length * by->e[2 + j];
    }
    return to;
}

static void evaluate(const cr_problem *problem, const cr_rule *rule, cr_descent *at)
{
    cr_regions_find(problem, &at->at, 1e-9, &at->regions);
    cr_dual_sums(problem, &at->at, &at->regions, rule, &at->sums);
    at->value = cr_dual_value(problem, &at->at, at->sums.constraint);
}

/* D at or above V >= 0 (theory 2.3) for every function that there is, so a D clearly below 0 proves that there is none. */
static int impossible(const cr_problem *problem, const cr_descent *now)
{
    double known = 0;
    for (int j = 0; j < problem->kernel.order; j++) known += cr_kernel_weight(&problem->kernel, j + 1) * fabs(problem->coefficient[j]);
    return now->value < -1 * (known + problem->kernel.norm * sqrt(problem->variance));
}

static void descend(const cr_problem *problem, const cr_rule *rule, double gain, cr_descent *descent)
{
    const int order = problem->kernel.order;
    descent->converged = descent->impossible = 0;
    evaluate(problem, rule, descent);
    for (descent->steps = 0; descent->steps < MOST_STEPS; descent->steps++) {
        if ((descent->impossible = impossible(problem, descent))) return;
        const step by = direction(problem, descent);
        const double drop = -by.slope * problem->kernel.norm, most = fabs(2 * by.e[0]);
        const int between = descent->sums.p > 0.4;
        double length = most > 0.8 && ((by.e[0] > 0) == between) ? 0.8 / most : most > 20 ? 20 / most : 1;
        if (drop <= 2 * gain * descent->value) {
            descent->at = move(&descent->at, &by, length, between, order);
            descent->converged = 1;
            return;
        }
        /* Where panels come and go the draft jumps by as much as it is wrong. Close to the end a finer rule takes over from there. */
        const int trials = rule == &cr_rule_draft && drop <= 1e-7 * descent->value ? 2 : 40;
        cr_descent next = *descent;
        for (int half = 0; half < trials; half++) {
            next.at = move(&descent->at, &by, length, between, order);
            next.regions = descent->regions;
            evaluate(problem, rule, &next);
            if (next.value <= descent->value - 1e-4 * length * drop) break;
            length *= 0.4;
        }
        if (!(next.value < descent->value)) return; /* nothing left but rounding */
        next.steps = descent->steps;
        *descent = next;
    }
}

/* Close to the greatest correlation that the facts allow the multipliers grow without bound, and cancel in D: errors of the draft,
 * which elsewhere count only squared, are then multiplied by them. */
static int strained(const cr_problem *problem, const cr_descent *descent)
{
    const double size = descent->at.lambda * problem->variance + fabs(descent->at.a[0] * problem->coefficient[0]) +
                        (problem->kernel.order > 1 ? fabs(descent->at.a[1] * problem->coefficient[1]) : 0);
    return problem->kernel.order > 0 && size * problem->kernel.norm > 20 * descent->value;
}

void cr_newton_descend(const cr_problem *problem, double gain, cr_descent *descent)
{
    descend(problem, &cr_rule_draft, gain, descent);
    const int stalled = !descent->converged && descent->steps < MOST_STEPS;
    if (!descent->impossible && (stalled || strained(problem, descent))) descend(problem, &cr_rule_value, gain * 1e-2, descent);
}
