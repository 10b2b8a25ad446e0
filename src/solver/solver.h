/* The solver: the dual at given multipliers, the least bound at one mean, the supremum over
 * means, the worst case of a caller's bounds, and the handle. */
#ifndef CR_SOLVER_SOLVER_H
#define CR_SOLVER_SOLVER_H
#include "base/constants.h"
#include "base/error.h"
#include "base/handle.h"
#include "certreg/solver.h"
#include "certreg/worst_function.h"
#include <stdint.h>

/* ---- The budget of evaluations of the dual, which bounds the time of a call. One evaluation is
 * one expectation over the line, its regions included. At the limit a search returns the
 * multipliers it has, which give a bound (theory 3.1). Statistics for the caller are counted
 * here as well. */
typedef struct cr_evaluation_budget {
    int used, limit;
    int exhausted;        /* work was left undone at a limit */
    uint64_t points;      /* of all quadratures */
    uint32_t loose;       /* searches that are not known to be tight */
    uint32_t refinements; /* final evaluations that disagreed */
    uint32_t fallbacks;   /* bounds replaced by a closed form */
} cr_evaluation_budget;

/* Returns whether an evaluation is left for more work. If not, `exhausted` is set. */
static inline int cr_budget_left(cr_evaluation_budget *budget)
{
    const int has_left = budget->used < budget->limit;
    budget->exhausted |= !has_left;
    return has_left;
}

/* Limits the next stage of the work to these evaluations. Returns the limit to restore after it. */
static inline int cr_budget_narrow(cr_evaluation_budget *budget, int evaluations)
{
    const int previous = budget->limit, limit = budget->used + evaluations;
    if (limit < previous) budget->limit = limit;
    return previous;
}

/* ---- The centered likelihood ratio without its known part: h(t) = (w_r(t) - 1) / T_0(r) for k
 * = 0, and (w_r(t) - 1 - rt) / T_1(r) for k = 1, of unit norm under N(0,1). This takes the known
 * correlation of a function out of the problem, and small r costs no digits. */
typedef struct cr_ratio {
    int order;   /* k: 0 or 1 */
    double r;    /* radius in units of sigma; 0 (with k = 0) is the limit h(t) = t */
    double norm; /* T_k(r) */
} cr_ratio;

/* Smaller radii are replaced by the minimum, so that no power of r underflows; a bound does not
 * fall as r grows (theory 2.3). Beyond the largest finite radius no norm is finite. Without an
 * upper end of the range the integrand extends to 2r + 9, and exp(-t^2/2) to 37: hence the largest
 * open one. */
#define CR_MIN_RADIUS 0x1p-330
#define CR_MAX_FINITE_NORM_RADIUS 26.0
#define CR_MAX_OPEN_RANGE_RADIUS 14.0

/* Returns T_k(r); infinite on overflow. */
double cr_ratio_norm(int order, double r);
double cr_ratio_norm_up(int order, double r); /* rounded up */
/* Returns the ratio for a radius of 0 or from CR_MIN_RADIUS on. */
cr_ratio cr_ratio_make(int order, double r);
/* Return h(t) and dh/dt. */
double cr_ratio_value(const cr_ratio *ratio, double t);
double cr_ratio_slope(const cr_ratio *ratio, double t);
/* Returns E[h; t > x] = -E[h; t < x]. */
double cr_ratio_tail(const cr_ratio *ratio, double x);

/* ----
 * The dual of theory 3.1 at given multipliers, for one problem at one mean, everything in units of
 * the ratio's norm T:
 *     D = linear part + T { lambda C + sup_c a c + E max_{b<=y<=B} (y v - lambda y^2) }
 * with v = h - nu - a t. Every multiplier gives D >= V: a poor one is loose, never wrong. */
typedef struct cr_problem {
    cr_ratio ratio;
    double b, B;                  /* lo - m <= 0 <= hi - m */
    double variance;              /* C; +inf: the range alone limits the variance */
    double variance_slope;        /* dC/dm */
    double correlation;           /* for k = 1: E[y t], the condition of the multiplier a */
    double early_exit_value;      /* as in cr_one_sided */
    cr_evaluation_budget *budget; /* counts the evaluations */
} cr_problem;

typedef struct cr_multipliers {
    double lambda, nu, a;
} cr_multipliers;

/* The t at which y* = clip(v / 2 lambda, b, B) changes its form: y = B | between | b | between | B.
 * An edge that does not exist is at an end of the line, or at the least v. */
#define CR_CLIP_EDGES 4
typedef struct cr_clip_regions {
    double edge[CR_CLIP_EDGES];
    double edge_error; /* every edge is within this distance of its true place */
} cr_clip_regions;

/* A Gauss-Legendre rule: nodes in (0, 1), to be taken with both signs, their weights, and the width
 * of panels. */
typedef struct cr_quadrature_rule {
    int positive_nodes;
    const double *node, *weight;
    double max_width;      /* in units of sigma */
    double max_log_change; /* of the logarithm of the integrand, across a panel */
    double window;         /* the line is cut at exp(-window) of the integrand */
} cr_quadrature_rule;
extern const cr_quadrature_rule cr_quadrature_rough, cr_quadrature_draft, cr_quadrature_value,
    cr_quadrature_proof;

typedef struct cr_dual_expectations {
    double inner_maximum;          /* E max_y (y v - lambda y^2) */
    double y, yt, yy;              /* E[y*], E[y* t], E[y*^2] */
    double p, t, tt, py, pyt, pyy; /* between the clips: E[1], E[t], E[t^2], E[y], E[y t], E[y^2] */
    double radius_slope;           /* E[y* (t - r) exp(rt - r^2/2)] = dV/dr */
} cr_dual_expectations;

/* Returns the slope of the part of v that is linear in t: v = h - nu - slope * t. */
static inline double cr_dual_slope(const cr_problem *p, const cr_multipliers *mult)
{
    return p->ratio.order > 0 ? mult->a : 0;
}

/* Returns the multiplier mu of theory 3.1, for k = 1. */
static inline double cr_dual_multiplier(const cr_problem *p, const cr_multipliers *mult)
{
    return p->ratio.r + p->ratio.norm * mult->a;
}

/* Finds the edges to within `tolerance`, from the present ones. */
void cr_clip_regions_find(const cr_problem *problem, const cr_multipliers *mult, double tolerance,
                          cr_clip_regions *regions);
/* Cuts [low_end, high_end] into panels, as far as it matters for densities that peak between
 * low_peak and high_peak. Returns the number of ends written, from right to left (0: no panel). */
#define CR_MAX_PANEL_ENDS 256
int cr_quadrature_panel_ends(const cr_quadrature_rule *rule, double low_end, double high_end,
                             double low_peak, double high_peak, double ends[CR_MAX_PANEL_ENDS]);

/* Computes the nodes of the panel from a to b, with the density in their weights. All exponentials
 * of a panel are one loop, since the processor does several at the same time. */
enum { CR_PANEL_NODES = 20 };
typedef struct cr_quadrature_panel {
    double t[CR_PANEL_NODES], weight[CR_PANEL_NODES], h[CR_PANEL_NODES];
} cr_quadrature_panel;
void cr_quadrature_panel_make(const cr_quadrature_rule *rule, double a, double b,
                              const cr_ratio *ratio, cr_quadrature_panel *out);

/* Computes the expectations: clipped intervals in closed form, unclipped ones by the rule. */
void cr_dual_by_quadrature(const cr_problem *problem, const cr_multipliers *mult,
                           const cr_clip_regions *regions, const cr_quadrature_rule *rule,
                           cr_dual_expectations *out);
/* Finds the edges, from the given ones, and the expectations in closed form: about ten times as
 * fast, with errors of 1e-10 of the moments. Returns 0, having done nothing, if fewer digits would
 * be left. */
int cr_dual_by_closed_form(const cr_problem *problem, const cr_multipliers *mult,
                           cr_clip_regions *regions, cr_dual_expectations *out);
/* Returns D, in output units. `inner_maximum` is a field of the expectations. */
double cr_dual_value(const cr_problem *problem, const cr_multipliers *mult, double inner_maximum);

/* ---- The branch lambda = 0 (theory 3.1): the variance does not bind, and the worst function takes
 * the two ends of the range only. */
/* Returns the greatest correlation with t for these b and B (both finite), a half-space's. */
double cr_two_valued_correlation(double b, double B);
/* Returns the multipliers of the worst function: a half-space for k = 0 (Neyman-Pearson), and for k
 * = 1 the outside of the interval that has the correlation problem->coefficient, which must be
 * below cr_two_valued_correlation. */
cr_multipliers cr_two_valued_solve(const cr_problem *problem);
/* Finds the interval on which that function is lo; it is hi outside. For k = 0 it begins at
 * -infinity. If it is short, it has more digits than the multipliers keep. */
void cr_two_valued_edges(const cr_problem *problem, double *left_edge, double *right_edge);

/* ---- The multipliers from which Newton's method begins: formulas for the shapes of worst
 * functions. */
/* Returns a guess with lambda > 0. A poor one costs steps, or leaves the bound loose. */
cr_multipliers cr_initial_guess(const cr_problem *problem);

/* ---- Minimises the dual by Newton's method. Every result is a bound; a tight one is near the
 * least. */
typedef struct cr_newton_state {
    cr_multipliers multipliers;
    cr_clip_regions regions; /* of these multipliers, or of those one step earlier: a warm start */
    cr_dual_expectations expectations; /* at the multipliers of `regions` */
    double value;                      /* D at the multipliers, to draft accuracy */
    int steps, converged;
    int tight;      /* D is near its minimum: the worst function nearly satisfies the constraints */
    int infeasible; /* no function satisfies the constraints: D fell below 0, without a minimum */
} cr_newton_state;

#define CR_ROUGH_GAIN 1e-9 /* from this min_gain on, closed forms suffice */

/* Descends from state->multipliers (lambda > 0) until a step can lower the value by at most the
 * fraction min_gain of it, or the budget is exhausted. */
void cr_newton_descend(const cr_problem *problem, double min_gain, cr_newton_state *state);
/* Goes on from the end of a descent (lambda > 0) by the fine rule, as long as the worst function
 * comes closer to the constraints. D is stationary there and hardly improves, but the function
 * does. */
void cr_newton_finish(const cr_problem *problem, cr_multipliers *mult, cr_clip_regions *regions);

/* ---- The number that is returned as a bound: D at the multipliers found, computed twice by
 * different rules, and rounded outward (theory 3.2). */
typedef struct cr_verified_value {
    double value;      /* not below D at these multipliers, hence not below V; output units */
    double mean_slope; /* dD/dm at these multipliers */
    double mean_slope_error;
    double margin;  /* what was added for rounding and misplaced edges */
    int unverified; /* the two values disagree beyond their errors: nothing is proved */
} cr_verified_value;

/* Proves D with the supremum over the correlation in [correlation_lo, correlation_hi]. *regions:
 * edges to begin with; becomes the exact ones. */
void cr_verify_dual_value(const cr_problem *problem, double correlation_lo, double correlation_hi,
                          const cr_multipliers *mult, cr_clip_regions *regions,
                          cr_verified_value *out);

/* ---- A one-sided problem, the largest rise of the mean, and the variance that its constraints
 * allow. The drop of f is the rise of -f. */
/* Smaller variances are rounded up to this one: below, squares lose digits. */
#define CR_MIN_VARIANCE 1e-290

/* In a unit in which the deviation is about 1 (worst_case.c). Unknown bounds are infinite. r is
 * 0 or at least CR_MIN_RADIUS. */
typedef struct cr_one_sided {
    double r;
    double mean_lo, mean_hi, range_lo, range_hi;
    double variance, gradient_lo, gradient_hi;
    /* 1: this end is the last mean that allows gradient_lo, and has no useful tangent. */
    int low_end_is_feasible_limit, high_end_is_feasible_limit;
    cr_evaluation_budget *budget;
    /* E (u - moment_center)^2 <= moment: the variance is at most moment - (m - moment_center)^2. */
    double moment_center, moment;
    double early_exit_value; /* a search at one mean ends below it; 0: only at the least bound */
} cr_one_sided;

/* Returns the greatest variance that the moment allows at this mean, rounded up. */
double cr_one_sided_moment_variance(const cr_one_sided *rise, double mean);
/* Returns the greatest variance at this mean, rounded up: the lesser of two concave functions of
 * the mean. *slope belongs to the one that binds, hence is a supergradient: value + slope * (m' -
 * mean) bounds the variance at every m'. */
double cr_one_sided_variance(const cr_one_sided *rise, double mean, double *slope);
/* Return the maximum and the minimum of these variances over the interval of means. */
double cr_one_sided_max_variance(const cr_one_sided *rise);
double cr_one_sided_min_variance(const cr_one_sided *rise);

/* ---- A one-sided problem at one mean: its least bound, and the multipliers that prove it. */
typedef struct cr_fixed_mean_dual {
    cr_problem problem;
    double correlation_lo, correlation_hi;
    cr_multipliers multipliers;
    cr_clip_regions regions;
    double mean, value;  /* value: to draft accuracy */
    double mean_slope;   /* dV/dm, to draft accuracy */
    double radius_slope; /* dV/dr, to draft accuracy */
    int constant;        /* no function with these constraints varies: V = 0 */
    int converged;
    int tight;      /* value is near V */
    int infeasible; /* no function has this mean: value and mean_slope are a tangent below 0 */
} cr_fixed_mean_dual;

/* Returns the problem at this mean: `order` is k, `correlation` is E[y t] if k = 1. */
cr_problem cr_fixed_mean_problem(const cr_one_sided *rise, double mean, int order,
                                 double correlation);
/* Solves at this mean. `warm`: NULL, or a solution for similar data. `min_gain`: see
 * cr_newton_descend. range_lo < mean < range_hi unless there is one mean only. */
void cr_fixed_mean_solve(const cr_one_sided *rise, double mean, const cr_fixed_mean_dual *warm,
                         double min_gain, cr_fixed_mean_dual *out);

/* ---- The means at which the lower bound of the gradient is possible. */
/* Narrows the interval of means to those at which variance and range allow a correlation of
 * gradient_lo. In doubt a mean is kept. Returns 0 if there is none. */
int cr_feasible_means(cr_one_sided *rise);

/* ---- Closed-form bounds: without a range (theory 2.1), and from the ends of the range. */
/* Returns sup over the means of V(m) + weight*m without the range, rounded up. weight is 0 or 1.
 * Sets *radius_slope to its derivative in r. */
double cr_closed_form_bound(const cr_one_sided *rise, double weight, double *radius_slope);
/* Returns a bound of V(m) + weight*m over the means: no function exceeds the range. */
double cr_range_bound(const cr_one_sided *rise, double weight);
/* Sets *out to a solution that attains cr_closed_form_bound with weight 0. Returns 0 if none does.
 */
int cr_closed_form_solution(const cr_one_sided *rise, cr_fixed_mean_dual *out);

/* ---- A one-sided problem over its whole interval of means: sup of V(m) + weight*m. V is
 * concave in m, and so is D at fixed multipliers, so every solution at one mean gives a tangent
 * that bounds V at all means. Two tangents of opposite slope enclose the supremum (theory 3.4). */
typedef struct cr_tangent_pair {
    cr_fixed_mean_dual solution[2]; /* the tangents, and the warm start of the next search */
    int count;                      /* 0: nothing solved yet, or nothing to solve */
    double value, radius_slope;     /* to draft accuracy: the supremum and its derivative in r */
    int tight;                      /* the tangents enclose the supremum closely */
} cr_tangent_pair;

#define CR_FINAL_GAIN \
    1e-12 /* a search ends if a Newton step would lower the value by less than this fraction */

/* Searches the supremum to draft accuracy. weight is 0 (the change of the mean) or 1 (the shifted
 * mean). *tangents comes with count 0, or from a search with similar data, to start from. */
void cr_tangent_search(const cr_one_sided *rise, double weight, double min_gain,
                       cr_tangent_pair *tangents);
/* Returns a proven bound from the solutions of a search, rounded up: the minimum of the tangents'
 * bound and the closed forms. If the two evaluations of a tangent disagree, only the closed forms
 * count. tangents->tight stays set if the proof loses nothing against the search. */
double cr_tangent_verify(const cr_one_sided *rise, double weight, cr_tangent_pair *tangents);
/* Searches and proves. tangents->tight is set if the returned bound is near the supremum. */
double cr_tangent_bound(const cr_one_sided *rise, double weight, cr_tangent_pair *tangents);

/* ---- Solves a problem with all its constraints and, if need be, with subsets of them. Every
 * subset gives a bound, and more constraints must never give a worse one. So if a search is not
 * known to be tight, searches with fewer constraints follow (theory 3.5). */
/* Solves with these constraints, keeps the best result, and returns whether this one is tight. */
typedef int cr_subset_solver(void *context, const cr_one_sided *rise);

typedef struct cr_constraint_subsets {
    const cr_one_sided *rise;
    cr_subset_solver *solve;
    void *context;
    int all_constraints;
    int is_tight[8]; /* 1: neither this subset nor a subset of it can improve the bound */
} cr_constraint_subsets;

/* Returns the subsets of one problem, none solved yet. */
cr_constraint_subsets cr_constraint_subsets_make(const cr_one_sided *rise, cr_subset_solver *solve,
                                                 void *context);
/* Solves `count` problems, which divide the remaining budget: first all constraints of each. */
void cr_constraint_subsets_solve(cr_constraint_subsets *subsets, int count,
                                 cr_evaluation_budget *budget);

/* ---- From a caller's bounds to the two one-sided problems: checks, the unit, and the bounds that
 * follow from several constraints jointly. */
typedef struct cr_problem_pair {
    uint32_t constraints;
    double sigma;
    int unit;                /* both problems are in units of 2^unit */
    cr_one_sided rise, drop; /* r is left at 0 */
    int has_mean;            /* the bounds limit the mean, so a threshold makes sense */
} cr_problem_pair;

/* Reads the bounds, with the constraints of the mask only (0: all). Returns INVALID naming the
 * field, VERSION, or INFEASIBLE if no function has these bounds. Both problems keep the pointer to
 * the budget. */
certreg_status cr_problem_setup(const certreg_bounds *input, uint32_t constraints,
                                cr_evaluation_budget *budget, cr_problem_pair *out,
                                certreg_error *why);
/* Convert a bound to the caller's unit, rounded up, and a limit from it, rounded down. */
double cr_problem_unscale_bound(const cr_problem_pair *problems, double bound);
double cr_problem_scale_limit(const cr_problem_pair *problems, double limit);
/* Returns radius/sigma, rounded up; 0 for 0 only. */
double cr_problem_scale_radius(const cr_problem_pair *problems, double radius);

/* ---- The worst change of the mean within a radius, on the caller's stack. */
/* Searches end this many evaluations before the limit, which remain for the proofs. */
enum { CR_RESERVED_FOR_WORST_CASE = 500 };

/* An instance of the worst-case problem: bounds, the constraints to use (0: all), the radius. */
typedef struct cr_worst_case_instance {
    const certreg_bounds *bounds;
    uint32_t constraints;
    double radius;
} cr_worst_case_instance;

/* A change without bounds, for calls that fail. */
extern const certreg_mean_change cr_worst_case_unbounded;
/* As certreg_solver_worst_case, with at most max_evaluations. *out is always written, and after a
 * failure bounds nothing. *budget is set to the evaluations spent. `why` may be NULL. */
certreg_status cr_worst_case(const cr_worst_case_instance *, uint32_t max_evaluations,
                             cr_evaluation_budget *budget, certreg_mean_change *out,
                             certreg_error *why);

/* ---- The worst function at a radius, on the caller's stack, for the public handle. */
/* As certreg_solver_worst_function, with at most max_evaluations. *out is always written, and after
 * a failure is no function. *budget is set to the evaluations spent. */
certreg_status cr_worst_function(const cr_worst_case_instance *, int32_t side,
                                 uint32_t max_evaluations, cr_evaluation_budget *budget,
                                 certreg_worst_function *out, certreg_error *why);

/* ---- The limit of evaluations and the statistics of a call, for the handles of solver and
 * bisection. */
/* Sets *out to the limit of a plan: `requested`, or `default_limit` if that is 0. INVALID unless it
 * is from min_limit to a million. */
certreg_status cr_solve_info_limit(uint32_t requested, uint32_t default_limit, uint32_t min_limit,
                                   uint32_t *out, certreg_error *why);
/* Returns the statistics of a call that began at `start`. */
certreg_solve_info cr_solve_info_from_budget(const cr_evaluation_budget *budget, double start);
/* Writes the statistics of the last call. The handle's error changes only if this call fails. */
certreg_status cr_solve_info_report(cr_call_guard *guard, certreg_error *error,
                                    const certreg_solve_info *info, certreg_solve_info *out);

/* ---- The handle: its settings, and the cost of the last call. Every solve lives on the stack. */
struct certreg_solver {
    cr_call_guard guard;
    certreg_error error;
    certreg_solve_info info;
    uint32_t max_evaluations;
    int32_t owns_memory;
};

#endif
