#include "statistics/normal.h"
#include "statistics/shift.h"
#include "base/constants.h"
#include "solver/two_valued.h"
#include <math.h>

/* The x beyond which a mass of (share of hi) - u lies, computed from the smaller share: m may be
 * one ulp from an end. */
static double edge(double b, double B, double u)
{
    const double span = B - b;
    return -b < B ? cr_normal_quantile_sf(-b / span - u) : -cr_normal_quantile_sf(B / span + u);
}

double cr_two_valued_correlation(double b, double B)
{
    return (B - b) * cr_shift_slope(fmin(-b, B) / (B - b));
}

/* The function is hi on two tails, of mass u (left) and q - u. Its correlation / (hi - lo) is
 * pdf(z(q-u)) - pdf(z(u)), which falls from the half-space's at u = 0 to 0 at u = q/2. The
 * equation is solved for log u, since u may be as small as a double can be. */
static double left_mass(double b, double B, double wanted)
{
    const double q = -b / (B - b);
    double low = log(q) - 700, high = log(0.5 * q), x = high - 1;
    for (int i = 0; i < 100; i++) {
        const double u = exp(x), left = cr_normal_quantile_sf(u), right = edge(b, B, u);
        const double excess = cr_normal_pdf(right) - cr_normal_pdf(left) - wanted;
        if (excess > 0) low = x;
        else high = x;
        double next = x + excess / (u * (left + right));
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (fabs(next - x) <= 1e-13 * fabs(x) + 1e-14) return exp(next);
        x = next;
    }
    return exp(0.5 * (low + high));
}

void cr_two_valued_edges(const cr_problem *problem, double *left, double *right)
{
    const double b = problem->b, B = problem->B;
    const double u = problem->ratio.order > 0 ? left_mass(b, B, problem->coefficient[0] / (B - b))
                                              : 0;
    *left = u > 0 ? -cr_normal_quantile_sf(u) : -INFINITY;
    *right = edge(b, B, u);
}

cr_multipliers cr_two_valued_solve(const cr_problem *problem)
{
    const cr_ratio *ratio = &problem->ratio;
    double left, right;
    cr_two_valued_edges(problem, &left, &right);
    if (ratio->order == 0) return (cr_multipliers){0, cr_ratio_at(ratio, right), {0}};
    const double h = cr_ratio_at(ratio, left);
    const double slope = (cr_ratio_at(ratio, right) - h) / (right - left);
    return (cr_multipliers){0, h - slope * left, {slope}};
}

/* ---- several edges */
enum { CONDITIONS = 1 + CR_ORDERS };

static void swap(double *a, double *b)
{
    const double other = *a;
    *a = *b, *b = other;
}

/* Polynomials whose expectations are conditioned. */
static double condition_at(int which, double t)
{
    return which == 0 ? 1 : which == 1 ? t : CR_SQRT_HALF * (t * t - 1);
}

/* E[polynomial; t > x] */
static double beyond(int which, double x)
{
    const double pdf = cr_normal_pdf(x);
    return which == 0 ? cr_normal_sf(x) : which == 1 ? pdf : CR_SQRT_HALF * x * pdf;
}

/* The place of the largest entry in the rows from k on. */
static void find_pivot(int rows, int n, double m[CONDITIONS][CONDITIONS], int k, int *row,
                       int *column)
{
    *row = k, *column = 0;
    for (int i = k; i < rows; i++)
        for (int j = 0; j < n; j++)
            if (fabs(m[i][j]) > fabs(m[*row][*column])) *row = i, *column = j;
}

/* Solves m y = x with at most as many rows as unknowns. If there are fewer rows, the unknowns with
 * the smallest coefficients stay 0. */
static void solve(int rows, int n, double m[CONDITIONS][CONDITIONS], double x[CONDITIONS],
                  double y[CONDITIONS])
{
    for (int j = 0; j < n; j++) y[j] = 0;
    int row, column[CONDITIONS];
    for (int k = 0; k < rows; k++) {
        find_pivot(rows, n, m, k, &row, column + k);
        for (int j = 0; j < n; j++) swap(&m[k][j], &m[row][j]);
        swap(x + k, x + row);
        for (int i = 0; i < rows; i++) {
            const double share = i == k ? 0 : m[i][column[k]] / m[k][column[k]];
            for (int j = 0; j < n; j++) m[i][j] -= share * m[k][j];
            x[i] -= share * x[k];
        }
    }
    for (int k = 0; k < rows; k++) y[column[k]] = x[k] / m[k][column[k]];
}

/* One Newton step of the edges towards the conditions; returns the longest move. */
static double step_edges(const cr_problem *problem, int conditions, const int which[CONDITIONS],
                         double sign, int n, double edge[CONDITIONS])
{
    const double span = problem->B - problem->b,
                 wanted[] = {sign > 0 ? -problem->b : -problem->B, problem->coefficient[0],
                             problem->coefficient[1]};
    double m[CONDITIONS][CONDITIONS], x[CONDITIONS], move[CONDITIONS], longest = 0;
    for (int i = 0; i < conditions; i++) {
        double s = sign * span;
        x[i] = -wanted[which[i]];
        for (int j = 0; j < n; j++, s = -s) {
            x[i] += s * beyond(which[i], edge[j]);
            m[i][j] = s * cr_normal_pdf(edge[j]) * condition_at(which[i], edge[j]);
        }
    }
    solve(conditions, n, m, x, move);
    for (int j = 0; j < n; j++) {
        longest = fmax(longest, fabs(move[j]));
        edge[j] += move[j];
    }
    return longest;
}

int cr_two_valued_finish(const cr_problem *problem, cr_regions *regions)
{
    int which[CONDITIONS] = {0}, conditions = 1, n = 0, first = 0;
    double *at = regions->edge, edge[CONDITIONS];
    for (int j = 0; j < problem->ratio.order; j++)
        if (!problem->fixed[j]) which[conditions++] = j + 1;
    for (int i = 0; i < CR_EDGES; i += 2) { /* up, down, up: the middle of each part between */
        const double middle = 0.5 * (at[i] + at[i + 1]);
        if (!(fabs(middle) < 38)) first += n == 0;
        else edge[n++] = middle;
    }
    if (n < conditions) return 0;
    double longest = 1;
    for (int i = 0; i < 40 && longest > 1e-14; i++) {
        longest = step_edges(problem, conditions, which, first % 2 ? -1 : 1, n, edge);
        for (int j = 0; j < n; j++)
            if (!(fabs(edge[j]) < 38 && (j == 0 || edge[j] > edge[j - 1]))) return 0;
    }
    for (int i = 0; i < CR_EDGES; i++) {
        const int j = i / 2 - first;
        at[i] = j < 0 ? -INFINITY : j < n ? edge[j] : INFINITY;
    }
    return longest <= 1e-10;
}
