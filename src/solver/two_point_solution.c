/* The two-valued worst function from its edges, which are quantiles of the normal distribution. */
#include "statistics/normal.h"
#include "statistics/gaussian_shift.h"
#include "base/constants.h"
#include "solver/two_point_solution.h"
#include <math.h>

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
