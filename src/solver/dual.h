/* The dual of theory 3.1 at given multipliers, for one problem at one mean, everything in units of
 * the ratio's norm T:
 *     D = linear part + T { lambda C + sup_c a c + E max_{b<=y<=B} (y v - lambda y^2) }
 * with v = h - nu - a t. Every multiplier gives D >= V: a poor one is loose, never wrong. */
#ifndef CR_SOLVER_DUAL_H
#define CR_SOLVER_DUAL_H
#include "base/constants.h"
#include "solver/evaluation_budget.h"
#include "solver/likelihood_ratio.h"

typedef struct cr_problem {
    cr_ratio ratio;
    double b, B;                  /* lo - m <= 0 <= hi - m */
    double variance;              /* C; +inf: the range alone limits the variance */
    double variance_slope;        /* dC/dm */
    double correlation;           /* for k = 1: E[y t], the condition of the multiplier a */
    double early_exit_value;      /* see one_sided_problem.h */
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
static inline double cr_dual_slope(const cr_problem *problem, const cr_multipliers *mult)
{
    return problem->ratio.order > 0 ? mult->a : 0;
}

/* Returns the multiplier mu of theory 3.1, for k = 1. */
static inline double cr_dual_multiplier(const cr_problem *problem, const cr_multipliers *mult)
{
    return problem->ratio.r + problem->ratio.norm * mult->a;
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
/* Tolerance of edges for closed forms: the length of Newton's last step. It leaves an error of its
 * square, and the expectations depend on the square of that error. */
#define CR_ROUGH_EDGE_TOLERANCE 1e-5
/* Finds the edges, from the given ones, and the expectations in closed form: about ten times as
 * fast, with errors of 1e-10 of the moments. Returns 0, having done nothing, if fewer digits would
 * be left. */
int cr_dual_by_closed_form(const cr_problem *problem, const cr_multipliers *mult,
                           cr_clip_regions *regions, cr_dual_expectations *out);
/* Returns D, in output units. `inner_maximum` is a field of the expectations. */
double cr_dual_value(const cr_problem *problem, const cr_multipliers *mult, double inner_maximum);

#endif
