/* The dual of theory 3.1 at given multipliers, for one problem at one mean, everything in units of
 * the ratio's norm T:
 *     D = linear part + T { lambda C + sup_c a c + E max_{b<=y<=B} (y v - lambda y^2) }
 * with v = h - nu - a t. Every multiplier gives D >= V: a poor one is loose, never wrong. */
#ifndef CR_SOLVER_DUAL_H
#define CR_SOLVER_DUAL_H
#include "base/constants.h"
#include "solver/effort.h"
#include "solver/ratio.h"

typedef struct cr_problem {
    cr_ratio ratio;
    double b, B;           /* lo - m <= 0 <= hi - m */
    double variance;       /* C; +inf: the range alone limits the variance */
    double variance_slope; /* dC/dm, where C depends on the mean */
    double coefficient;    /* for k = 1: the c_1 that the multiplier a is paired with */
    double enough;         /* see rise.h */
    cr_effort *effort;     /* counts the evaluations */
} cr_problem;

typedef struct cr_multipliers {
    double lambda, nu, a;
} cr_multipliers;

/* Where y* = clip(v / 2 lambda, b, B) changes its form: y = B | between | b | between | B. An edge
 * that does not exist is at an end of the line, or where v turns. */
#define CR_EDGES 4
typedef struct cr_regions {
    double edge[CR_EDGES];
    double width; /* every edge is known to lie within this distance of its true place */
} cr_regions;

/* Gauss-Legendre panels: nodes in (0, 1) with weights, and how wide a panel may be. */
typedef struct cr_rule {
    int half;
    const double *node, *weight;
    double widest; /* in units of sigma */
    double budget; /* greatest change of the logarithm of the integrand across a panel */
    double window; /* log of the part beyond which the line is cut */
} cr_rule;
extern const cr_rule cr_quadrature_rough, cr_quadrature_draft, cr_quadrature_value,
    cr_quadrature_proof;

typedef struct cr_sums {
    double constraint;             /* E max_y (y v - lambda y^2) */
    double y, yt, yy;              /* E[y*], E[y* t], E[y*^2] */
    double p, t, tt, py, pyt, pyy; /* moments over the part between the clips: E[1], E[t], E[t^2],
                                      E[y], E[y t], E[y^2] */
    double growth;                 /* E[y* (t - r) exp(rt - r^2/2)] = dV/dr */
} cr_sums;

/* What v has besides h and nu: slope * t. */
static inline double cr_dual_slope(const cr_problem *problem, const cr_multipliers *at)
{
    return problem->ratio.order > 0 ? at->a : 0;
}

/* The multiplier of the coefficient itself. k = 1. */
static inline double cr_dual_surplus(const cr_problem *problem, const cr_multipliers *at)
{
    return problem->ratio.r + problem->ratio.norm * at->a;
}

void cr_regions_find(const cr_problem *problem, const cr_multipliers *at, double tolerance,
                     cr_regions *warm_and_out);
/* Ends of panels that cover [from, to] as far as it matters; returns how many ends were written (0:
 * nothing there). */
#define CR_PANELS 256
int cr_quadrature_cut(const cr_rule *rule, double from, double to, double low_peak,
                      double high_peak, double ends[CR_PANELS]);

/* The nodes of the panel from a to b, with the density in their weights: all exponentials of a
 * panel one after the other, since the processor does several at the same time. */
enum { CR_NODES = 20 };
typedef struct cr_nodes {
    double t[CR_NODES], weight[CR_NODES], h[CR_NODES];
} cr_nodes;
void cr_quadrature_nodes(const cr_rule *rule, double a, double b, const cr_ratio *ratio,
                         cr_nodes *out);

/* Region by region: clipped parts in closed form, the part between by the rule. */
void cr_dual_sums(const cr_problem *problem, const cr_multipliers *at, const cr_regions *regions,
                  const cr_rule *rule, cr_sums *out);
/* Edges so rough do: Newton's last step is that long, which leaves an error of its square, and the
 * sums feel the square of that. */
#define CR_ROUGH_EDGES 1e-5
/* The same, edges included (from those given, which are warm), all in closed form: about ten times
 * as fast, and good to 1e-10 of the moments that it sums. 0 where differences would leave fewer
 * digits: nothing was done. */
int cr_dual_closed(const cr_problem *problem, const cr_multipliers *at, cr_regions *regions,
                   cr_sums *out);
/* D from the sums, as a shift in output units. */
double cr_dual_value(const cr_problem *problem, const cr_multipliers *at, double constraint);

#endif
