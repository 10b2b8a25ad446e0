/* The dual at given multipliers (theory 3.1): the likelihood ratio, the regions in which the
 * worst function is clipped, and expectations by quadrature or in closed form. */
#include "base/constants.h"
#include "solver/solver.h"
#include <float.h>
#include <math.h>

/* ======== The likelihood ratio: by series for small r, elsewhere by exp and erfc, without
 * cancellation. */
/* 1/2!, 1/3!, ... */
static const double inverse_factorial[] = {
    1.0 / 2,         1.0 / 6,          1.0 / 24,          1.0 / 120,          1.0 / 720,
    1.0 / 5040,      1.0 / 40320,      1.0 / 362880,      1.0 / 3628800,      1.0 / 39916800,
    1 / 479001600.0, 1 / 6227020800.0, 1 / 87178291200.0, 1 / 1307674368000.0};

/* The sum of coefficient[j] x^j for j < 2 halves. Even and odd powers are summed apart, since
 * the processor does both at the same time. */
static double series(const double *coefficient, int halves, double x)
{
    const double square = x * x;
    double even = coefficient[2 * halves - 2], odd = coefficient[2 * halves - 1];
    for (int j = halves - 2; j >= 0; j--) {
        even = coefficient[2 * j] + square * even;
        odd = coefficient[2 * j + 1] + square * odd;
    }
    return even + x * odd;
}

/* (exp(x) - 1 - x)/x^2, for |x| <= 1/2. */
static double exp_remainder_over_square(double x)
{
    return series(inverse_factorial, 7, x);
}

/* exp(x) - 1 - x without cancellation. */
static double exp_remainder(double x)
{
    return fabs(x) > 0.5 ? exp(x) - 1 - x : x * x * exp_remainder_over_square(x);
}

double cr_ratio_norm(int order, double r)
{
    if (r > CR_MAX_FINITE_NORM_RADIUS) return INFINITY;
    if (order == 1 && r * r <= 0.5)
        return r * r * sqrt(exp_remainder_over_square(r * r)); /* its square may underflow */
    /* The rounding error of r^2 counts exp(r^2)-fold. */
    const double x = r * r, rounding_error = fma(r, r, -x), slope = order == 0 ? exp(x) : expm1(x);
    return sqrt((order == 0 ? expm1(x) : exp_remainder(x)) + rounding_error * slope);
}

double cr_ratio_norm_up(int order, double r)
{
    return cr_ratio_norm(order, r) * (1 + 8 * DBL_EPSILON);
}

cr_ratio cr_ratio_make(int order, double r)
{
    return (cr_ratio){.order = order, .r = r, .norm = r > 0 ? cr_ratio_norm(order, r) : 1};
}

double cr_ratio_value(const cr_ratio *ratio, double t)
{
    const double r = ratio->r, x = r * (t - 0.5 * r);
    if (r == 0) return t;
    return (ratio->order == 0 ? x + exp_remainder(x) : exp_remainder(x) - 0.5 * r * r) /
           ratio->norm;
}

double cr_ratio_slope(const cr_ratio *ratio, double t)
{
    const double r = ratio->r, x = r * (t - 0.5 * r);
    if (r == 0) return 1;
    return r * (ratio->order == 0 ? exp(x) : expm1(x)) / ratio->norm;
}

/* Returns the likelihood ratio itself, exp(rt - r^2/2), from h(t). */
static double cr_ratio_likelihood(const cr_ratio *ratio, double h, double t)
{
    return 1 + h * ratio->norm + (ratio->order == 0 ? 0 : ratio->r * t);
}

/* sum_{j>k} r^j/j! He_{j-1}(x), since E[He_j; t > x] = He_{j-1}(x) pdf(x). */
static double tail_series(int order, double r, double x)
{
    double previous = 0, current = 1, power = r, sum = order == 0 ? r : 0; /* term j has He_(j-1) */
    for (int j = 2; j < 18; j++) {
        const double next = x * current - (j - 2) * previous;
        previous = current;
        current = next;
        power *= r / j;
        if (j > order) sum += power * current;
    }
    return sum;
}

double cr_ratio_tail(const cr_ratio *ratio, double x)
{
    if (!(fabs(x) < 100)) return 0;
    const double r = ratio->r, density = CR_INV_SQRT_TWO_PI * exp(-0.5 * x * x);
    if (r == 0) return density;
    if (r * (1 + fabs(x)) < 0.25) return density * tail_series(ratio->order, r, x) / ratio->norm;
    const double probability_change =
        x > 0 ? 0.5 * erfc((x - r) * CR_SQRT_HALF) - 0.5 * erfc(x * CR_SQRT_HALF)
              : 0.5 * erfc(-x * CR_SQRT_HALF) - 0.5 * erfc((r - x) * CR_SQRT_HALF);
    return (probability_change - (ratio->order == 0 ? 0 : r * density)) / ratio->norm;
}

/* ======== The edges of the regions (theory 3.2), each a root in a bracket of its own, so that
 * none is lost. */
/* Beyond these ends every weight that occurs (N(0,1), N(r,1), N(2r,1)) is 0 in double precision. */
#define DENSITY_SUPPORT_END 39.0

typedef struct level_equation { /* for the root of h(t) - slope t - height */
    const cr_problem *problem;
    double slope, height;
} level_equation;

static double level_residual(const level_equation *equation, double t)
{
    return cr_ratio_value(&equation->problem->ratio, t) - equation->slope * t - equation->height;
}

/* Returns the only root between low and high: Newton in a bracket that keeps the change of sign. */
static double bracketed_root(const level_equation *equation, double low, double high, int rising,
                             double guess, double tolerance)
{
    double t = guess > low && guess < high ? guess : 0.5 * (low + high);
    for (int i = 0; i < 200; i++) {
        const double f = level_residual(equation, t);
        if ((f > 0) == rising) high = t;
        else low = t;
        const double slope = cr_ratio_slope(&equation->problem->ratio, t) - equation->slope;
        double next = slope != 0 ? t - f / slope : INFINITY;
        if (fabs(next - t) <= tolerance) return fmin(fmax(next, low), high);
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        else if (i % 6 == 5)
            next = 0.5 * (next + ((f > 0) == rising ? low : high)); /* towards the far end */
        if (high - low <= tolerance) return 0.5 * (low + high);
        t = next;
    }
    return 0.5 * (low + high);
}

/* v is convex: it falls down to the minimizer and rises beyond. For k = 0, or a slope of at most
 * -r/T, it only rises, and the minimizer is -infinity. */
typedef struct convex_shape {
    double first, last, minimizer;
} convex_shape;

static convex_shape shape_of_v(const cr_problem *problem, double slope)
{
    const cr_ratio *ratio = &problem->ratio;
    convex_shape s = {-DENSITY_SUPPORT_END, DENSITY_SUPPORT_END + 2 * ratio->r, -INFINITY};
    if (ratio->order == 0) return s;
    const double relative_slope = slope * ratio->norm / ratio->r;
    if (relative_slope > -1) s.minimizer = log1p(relative_slope) / ratio->r + 0.5 * ratio->r;
    return s;
}

/* Finds the t at which v crosses the height, falling, then rising. Missing roots coincide. */
static void find_crossings(const level_equation *equation, const convex_shape *shape,
                           double tolerance, double *falling, double *rising)
{
    const double minimizer = fmin(fmax(shape->minimizer, shape->first), shape->last);
    if (!(level_residual(equation, minimizer) < 0)) { /* nowhere below the height */
        *falling = *rising = minimizer;
        return;
    }
    *falling = shape->minimizer <= shape->first || !(level_residual(equation, shape->first) > 0)
                   ? -INFINITY
                   : bracketed_root(equation, shape->first, minimizer, 0, *falling, tolerance);
    *rising = level_residual(equation, shape->last) <= 0
                  ? INFINITY
                  : bracketed_root(equation, minimizer, shape->last, 1, *rising, tolerance);
}

void cr_clip_regions_find(const cr_problem *problem, const cr_multipliers *mult, double tolerance,
                          cr_clip_regions *regions)
{
    const double slope = cr_dual_slope(problem, mult);
    const convex_shape shape = shape_of_v(problem, slope);
    level_equation equation = {.problem = problem, .slope = slope};
    double *edge = regions->edge;
    regions->edge_error = tolerance;
    if (problem->B < INFINITY) {
        equation.height = mult->nu + 2 * mult->lambda * problem->B;
        find_crossings(&equation, &shape, tolerance, &edge[0], &edge[3]);
    } else {
        edge[0] = -INFINITY;
        edge[3] = INFINITY;
    }
    if (problem->b > -INFINITY) {
        equation.height = mult->nu + 2 * mult->lambda * problem->b;
        find_crossings(&equation, &shape, tolerance, &edge[1], &edge[2]);
    } else {
        edge[1] = edge[2] = fmin(fmax(shape.minimizer, edge[0]), edge[3]);
    }
    edge[0] = fmin(edge[0], edge[3]);
    for (int i = 1; i < CR_CLIP_EDGES - 1; i++) edge[i] = fmin(fmax(edge[i], edge[i - 1]), edge[3]);
    if (mult->lambda == 0) { /* nothing is between */
        edge[1] = edge[0];
        edge[2] = edge[3];
    }
}

/* ======== The rules of quadrature, and the panels that a line is cut into. There are several
 * rules since drafts have to be fast, and the two values of a proof must not share nodes or
 * panels. */
static const double node_8[] = {0.183434642495649805, 0.525532409916328986, 0.79666647741362674,
                                0.960289856497536232};
static const double weight_8[] = {0.362683783378361983, 0.313706645877887287, 0.222381034453374471,
                                  0.101228536290376259};
static const double node_16[] = {0.0950125098376374402, 0.281603550779258913, 0.458016777657227386,
                                 0.617876244402643748,  0.755404408355003034, 0.865631202387831744,
                                 0.944575023073232576,  0.989400934991649933};
static const double weight_16[] = {
    0.189450610455068496, 0.182603415044923589,  0.169156519395002538,  0.149595988816576732,
    0.124628971255533872, 0.0951585116824927848, 0.0622535239386478929, 0.0271524594117540949};
static const double node_20[] = {0.0765265211334973338, 0.227785851141645078, 0.373706088715419561,
                                 0.510867001950827098,  0.636053680726515025, 0.746331906460150793,
                                 0.839116971822218823,  0.912234428251325906, 0.963971927277913791,
                                 0.993128599185094925};
static const double weight_20[] = {
    0.152753387130725851,  0.149172986472603747, 0.142096109318382051,  0.131688638449176627,
    0.118194531961518417,  0.101930119817240435, 0.0832767415767047487, 0.0626720483341090636,
    0.0406014298003869413, 0.0176140071391521183};

/* Rough is the draft if the closed form refuses. The draft steers Newton, which needs no more
 * than 1e-8, since the value is stationary. Value and proof are for the value, with different
 * panels. */
const cr_quadrature_rule cr_quadrature_rough = {4, node_8, weight_8, 3.0, 8, 22};
const cr_quadrature_rule cr_quadrature_draft = {4, node_8, weight_8, 3.0, 8, 22};
const cr_quadrature_rule cr_quadrature_value = {8, node_16, weight_16, 2.5, 12, 40};
const cr_quadrature_rule cr_quadrature_proof = {10, node_20, weight_20, 3.0, 14, 42};

/* Returns the distance from x > 0 to the place at which exp(-x^2/2) has fallen by exp(-window). */
static double peak_extent(double x, double window)
{
    return 2 * window / (x + sqrt(x * x + 2 * window));
}

static const double min_log_slope = 1e-3; /* below, the budget is no limit */

static double max_panel_width(const cr_quadrature_rule *rule, double t, double low,
                              double slope_low, double high, double slope_high)
{
    const double peak_distance = fmin(fabs(t - low), fabs(t - high));
    return fmin(rule->max_width,
                rule->max_log_change / fmax(fmax(slope_low, slope_high), min_log_slope) +
                    0.5 * peak_distance);
}

int cr_quadrature_panel_ends(const cr_quadrature_rule *rule, double low_end, double high_end,
                             double low_peak, double high_peak, double ends[CR_MAX_PANEL_ENDS])
{
    if (!(low_end < high_end)) return 0;
    const double low = fmin(fmax(low_peak, low_end), high_end),
                 high = fmin(fmax(high_peak, low_end), high_end);
    const double slope_low = fabs(low - low_peak), slope_high = fabs(high - high_peak);
    const double left_end = fmax(low_end, low - peak_extent(fmax(0, low_peak - low), rule->window));
    const double right_end =
        fmin(high_end, high + peak_extent(fmax(0, high - high_peak), rule->window));
    int count = 0;
    for (double t = ends[count++] = right_end; t > left_end && count < CR_MAX_PANEL_ENDS;) {
        double width = max_panel_width(rule, t, low, slope_low, high, slope_high);
        width = fmin(width, max_panel_width(rule, t - width, low, slope_low, high, slope_high));
        t = t - width > left_end + 0.25 * width ? t - width : left_end;
        ends[count++] = t;
    }
    return count;
}

void cr_quadrature_panel_make(const cr_quadrature_rule *rule, double a, double b,
                              const cr_ratio *ratio, cr_quadrature_panel *out)
{
    const double center = 0.5 * (a + b), half_width = 0.5 * (b - a);
    for (int j = 0; j < 2 * rule->positive_nodes; j++) {
        const double t = out->t[j] =
            center + (j & 1 ? -half_width : half_width) * rule->node[j / 2];
        out->h[j] = cr_ratio_value(ratio, t);
        out->weight[j] = half_width * rule->weight[j / 2] * CR_INV_SQRT_TWO_PI * exp(-0.5 * t * t);
    }
}

/* ======== The expectations of a draft in closed form (theory 3.2), about ten times as fast as
 * quadrature. They are differences, so they are refused if too few digits would be left, and no
 * proof uses them. */
/* Tolerance of edges for closed forms: the length of Newton's last step. It leaves an error of its
 * square, and the expectations depend on the square of that error. */
#define CR_ROUGH_EDGE_TOLERANCE 1e-5

/* EQUIVALENT_POINTS: points of a quadrature that takes as long */
enum { POWERS = 3, EQUIVALENT_POINTS = 20 };

/* T v = e - c[0] - c[1] t with e = exp(rt - r^2/2). */
typedef struct scaled_v {
    double r, c[2];
} scaled_v;

static scaled_v scaled_v_of(const cr_problem *problem, const cr_multipliers *mult)
{
    const cr_ratio *ratio = &problem->ratio;
    const double r = ratio->r, T = ratio->norm;
    return (scaled_v){
        r, {1 + T * mult->nu, T * cr_dual_slope(problem, mult) + (ratio->order > 0 ? r : 0)}};
}

/* value[j][k] = E[e^j t^k; t > x] */
typedef struct exp_moments {
    double value[3][POWERS];
} exp_moments;

static void set_tail_moments(const cr_problem *problem, double exp_second_moment, double t,
                             exp_moments *moments)
{
    const int in_support = fabs(t) < DENSITY_SUPPORT_END;
    const double r = problem->ratio.r, e = in_support ? exp(r * (t - 0.5 * r)) : 0;
    static const int max_power[] = {2, 2, 1};
    double boundary_term = in_support ? CR_INV_SQRT_TWO_PI * exp(-0.5 * t * t) : 0;
    for (int j = 0; j < 3; j++, boundary_term *= e) {
        double *moment = moments->value[j], power = boundary_term;
        moment[0] = (in_support ? 0.5 * erfc((t - j * r) * CR_SQRT_HALF) : t < 0) *
                    (j > 1 ? exp_second_moment : 1);
        moment[1] = j * r * moment[0] + power;
        for (int k = 2; k <= max_power[j]; k++)
            moment[k] = j * r * moment[k - 1] + (k - 1) * moment[k - 2] +
                        (power *= boundary_term > 0 ? t : 0);
    }
}

/* y = exp_weight * e + constant + slope * t, on one region */
typedef struct piece {
    double exp_weight, constant, slope;
} piece;

static void add_region(const cr_problem *problem, const cr_multipliers *mult, const scaled_v *v,
                       const exp_moments *moments, const piece *region_y, cr_dual_expectations *out)
{
    const double *p = moments->value[0], *e = moments->value[1], *ee = moments->value[2];
    const double k = region_y->exp_weight, c = region_y->constant, s = region_y->slope;
    const double y = k * e[0] + c * p[0] + s * p[1], yt = k * e[1] + c * p[1] + s * p[2],
                 ye = k * ee[0] + c * e[0] + s * e[1], yet = k * ee[1] + c * e[1] + s * e[2],
                 yy = k * ye + c * y + s * yt, yv = ye - v->c[0] * y - v->c[1] * yt;
    out->y += y;
    out->yt += yt;
    out->yy += yy;
    out->inner_maximum += yv / problem->ratio.norm - mult->lambda * yy;
    out->radius_slope += yet - v->r * ye;
    if (k == 0) return;
    out->p += p[0];
    out->t += p[1];
    out->tt += p[2];
    out->py += y;
    out->pyt += yt;
    out->pyy += yy;
}

/* Limits of use: the expectations are differences of terms of up to the square of max_coefficient.
 */
static const double max_coefficient = 500, max_radius = 5;

int cr_dual_by_closed_form(const cr_problem *problem, const cr_multipliers *mult,
                           cr_clip_regions *regions, cr_dual_expectations *out)
{
    const scaled_v v = scaled_v_of(problem, mult);
    const double exp_weight = 0.5 / (mult->lambda * problem->ratio.norm);
    const piece unclipped_piece = {exp_weight, -exp_weight * v.c[0], -exp_weight * v.c[1]};
    if (!(exp_weight * (1 + fabs(v.c[0]) + fabs(v.c[1])) < max_coefficient && v.r < max_radius &&
          v.r > 0))
        return 0;
    cr_clip_regions_find(problem, mult, CR_ROUGH_EDGE_TOLERANCE, regions);
    problem->budget->used++;
    problem->budget->points += EQUIVALENT_POINTS;
    *out = (cr_dual_expectations){0};
    exp_moments interval_moments = {{{0}}}, tail_at_end = interval_moments;
    const double exp_second_moment = exp(v.r * v.r); /* E e^2 */
    double from = -INFINITY;
    set_tail_moments(problem, exp_second_moment, from, &interval_moments);
    for (int i = 0; i <= CR_CLIP_EDGES; i++) {
        const double to = i < CR_CLIP_EDGES ? regions->edge[i] : INFINITY;
        const piece clipped_piece = {0, i % 4 ? problem->b : problem->B, 0};
        if (!(from < to)) continue;
        set_tail_moments(problem, exp_second_moment, from = to, &tail_at_end);
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < POWERS; k++)
                interval_moments.value[j][k] -= tail_at_end.value[j][k];
        add_region(problem, mult, &v, &interval_moments, i % 2 ? &unclipped_piece : &clipped_piece,
                   out);
        interval_moments = tail_at_end;
    }
    return 1;
}

/* ======== The dual at given multipliers (theory 3.1), for drafts and as the first evaluation of
 * a proof. */
/* Returns P(from < t < to), from the tail that does not cancel. */
static double normal_probability(double from, double to)
{
    if (from > 0) return 0.5 * (erfc(from * CR_SQRT_HALF) - erfc(to * CR_SQRT_HALF));
    return 0.5 * (erfc(-to * CR_SQRT_HALF) - erfc(-from * CR_SQRT_HALF));
}

static double normal_density(double t)
{
    return fabs(t) < 39 ? CR_INV_SQRT_TWO_PI * exp(-0.5 * t * t) : 0;
}

typedef struct clipped_interval { /* on which y* is an end of the range */
    double from, to, y;
} clipped_interval;

/* Adds a short clipped interval by one panel, since closed forms would cancel. */
static void integrate_short_clipped(const cr_problem *problem, const cr_multipliers *mult,
                                    const clipped_interval *interval,
                                    const cr_quadrature_rule *rule, cr_dual_expectations *out)
{
    const double slope = cr_dual_slope(problem, mult), y = interval->y;
    cr_quadrature_panel panel;
    cr_quadrature_panel_make(rule, interval->from, interval->to, &problem->ratio, &panel);
    for (int j = 0; j < 2 * rule->positive_nodes; j++) {
        const double t = panel.t[j], h = panel.h[j], wy = panel.weight[j] * y;
        out->inner_maximum += wy * (h - mult->nu - slope * t - mult->lambda * y);
        out->y += wy;
        out->yt += wy * t;
        out->yy += wy * y;
        out->radius_slope +=
            wy * (t - problem->ratio.r) * cr_ratio_likelihood(&problem->ratio, h, t);
    }
}

/* Adds a clipped interval in closed form. */
static void add_clipped_interval(const cr_problem *problem, const cr_multipliers *mult,
                                 const clipped_interval *interval, const cr_quadrature_rule *rule,
                                 cr_dual_expectations *out)
{
    const double from = interval->from, to = interval->to, y = interval->y;
    if (!(from < to)) return;
    if (to - from < 0.25) {
        integrate_short_clipped(problem, mult, interval, rule, out);
        return;
    }
    const double probability = normal_probability(from, to),
                 first_moment = normal_density(from) - normal_density(to);
    const double ratio_expectation =
        cr_ratio_tail(&problem->ratio, from) - cr_ratio_tail(&problem->ratio, to);
    const double slope = cr_dual_slope(problem, mult), r = problem->ratio.r;
    out->inner_maximum += y * (ratio_expectation - mult->nu * probability - slope * first_moment) -
                          mult->lambda * y * y * probability;
    out->y += y * probability;
    out->yt += y * first_moment;
    out->yy += y * y * probability;
    out->radius_slope += y * (normal_density(from - r) - normal_density(to - r));
}

/* Adds an unclipped interval, y* = v / 2 lambda, by the rule. */
static void add_unclipped_interval(const cr_problem *problem, const cr_multipliers *mult,
                                   double from, double to, const cr_quadrature_rule *rule,
                                   cr_dual_expectations *out)
{
    const cr_ratio *ratio = &problem->ratio;
    const double slope = cr_dual_slope(problem, mult),
                 half_inverse_lambda = mult->lambda > 0 ? 0.5 / mult->lambda : 0;
    double ends[CR_MAX_PANEL_ENDS];
    cr_dual_expectations sum = *out;
    const int count = cr_quadrature_panel_ends(rule, from, to, 0, 2 * ratio->r, ends);
    if (count) problem->budget->points += 2 * (uint64_t)(rule->positive_nodes * (count - 1));
    for (int i = 1; i < count; i++) {
        cr_quadrature_panel panel;
        cr_quadrature_panel_make(rule, ends[i], ends[i - 1], ratio, &panel);
        for (int j = 0; j < 2 * rule->positive_nodes; j++) {
            const double t = panel.t[j], h = panel.h[j],
                         y = (h - mult->nu - slope * t) * half_inverse_lambda, w = panel.weight[j],
                         wy = w * y, wt = w * t;
            sum.p += w;
            sum.t += wt;
            sum.tt += wt * t;
            sum.py += wy;
            sum.pyt += wy * t;
            sum.pyy += wy * y;
            sum.radius_slope += wy * (t - ratio->r) * cr_ratio_likelihood(ratio, h, t);
        }
    }
    *out = sum;
}

void cr_dual_by_quadrature(const cr_problem *problem, const cr_multipliers *mult,
                           const cr_clip_regions *regions, const cr_quadrature_rule *rule,
                           cr_dual_expectations *out)
{
    const double *edge = regions->edge;
    problem->budget->used++;
    *out = (cr_dual_expectations){0};
    for (int i = 0; i < CR_CLIP_EDGES; i += 2)
        add_unclipped_interval(problem, mult, edge[i], edge[i + 1], rule, out);
    out->y = out->py;
    out->yt = out->pyt;
    out->yy = out->pyy;
    out->inner_maximum = mult->lambda * out->pyy;
    add_clipped_interval(problem, mult, &(clipped_interval){-INFINITY, edge[0], problem->B}, rule,
                         out);
    add_clipped_interval(problem, mult, &(clipped_interval){edge[1], edge[2], problem->b}, rule,
                         out);
    add_clipped_interval(problem, mult, &(clipped_interval){edge[3], INFINITY, problem->B}, rule,
                         out);
}

double cr_dual_value(const cr_problem *problem, const cr_multipliers *mult, double inner_maximum)
{
    const cr_ratio *ratio = &problem->ratio;
    const double linear =
        ratio->order > 0 ? cr_dual_multiplier(problem, mult) * problem->correlation : 0;
    if (mult->lambda > 0) inner_maximum += mult->lambda * problem->variance;
    return linear + ratio->norm * inner_maximum;
}
