/* Makes, evaluates and measures worst functions. Measures are of the function itself, so that they
 * confirm the dual. */
#include "solver/extremal_function.h"
#include "base/constants.h"
#include "base/fp_environment.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "solver/two_point_solution.h"
#include <math.h>

/* ---- values */
static double region_value(const certreg_worst_function *f, const cr_ratio *ratio, int region,
                           double t)
{
    if (region == CERTREG_REGION_LO) return f->range_lo;
    if (region == CERTREG_REGION_HI) return f->range_hi;
    const double unclipped =
        f->offset + f->slope * t + (f->rest != 0 ? f->rest * cr_ratio_value(ratio, t) : 0);
    return fmin(fmax(unclipped, f->range_lo), f->range_hi);
}

certreg_status certreg_worst_function_values(const certreg_worst_function *input, size_t count,
                                             const double *t, double *out)
{
    certreg_worst_function f;
    const certreg_status status =
        cr_struct_read(&f, sizeof f, CR_OLDEST_WORST_FUNCTION, input, "function", NULL);
    if (status) return status;
    if (!f.region_count || f.region_count > CERTREG_MOST_REGIONS || (count && (!t || !out)))
        return CERTREG_E_INVALID;
    fenv_t caller_environment;
    cr_environment_enter(&caller_environment);
    const cr_ratio ratio = cr_ratio_make(1, f.tilt);
    for (size_t i = 0; i < count; i++) {
        uint32_t region = 0;
        while (region + 1 < f.region_count && t[i] > f.breakpoints[region]) region++;
        out[i] = isfinite(t[i]) ? region_value(&f, &ratio, f.regions[region], t[i]) : NAN;
    }
    cr_environment_leave(&caller_environment);
    return CERTREG_OK;
}

/* ---- from a solution */
/* Sets the curve y = s (h - nu - a t). For k = 0, h becomes a sum of t and the h of k = 1. */
static void set_curve(const cr_problem *problem, const cr_multipliers *mult,
                      certreg_worst_function *out)
{
    const cr_ratio *ratio = &problem->ratio;
    const double half_inverse_lambda = 0.5 / mult->lambda,
                 ratio_weight = half_inverse_lambda / ratio->norm;
    out->offset = -half_inverse_lambda * mult->nu;
    out->slope = ratio->order > 0 ? -half_inverse_lambda * mult->a : ratio_weight * ratio->r;
    out->rest = ratio_weight * cr_ratio_norm(1, ratio->r);
}

static void set_multipliers(const cr_problem *problem, const cr_multipliers *mult,
                            certreg_worst_function *out)
{
    out->by_variance = problem->ratio.norm * mult->lambda;
    out->by_mean = problem->ratio.norm * mult->nu;
    out->by_gradient = problem->ratio.order > 0 ? cr_dual_multiplier(problem, mult) : 0;
}

/* Beyond these ends every density that occurs is 0 in double precision. */
static const double density_support_end = 38.5;

static void add_region(certreg_worst_function *f, double from, double to, int region)
{
    if (!(from < to) || to < -density_support_end || from > density_support_end + 2 * f->tilt)
        return;
    if (f->region_count && f->regions[f->region_count - 1] == region) return;
    if (f->region_count) f->breakpoints[f->region_count - 1] = from;
    f->regions[f->region_count++] = region;
}

static void set_regions(const cr_clip_regions *regions, certreg_worst_function *out)
{
    static const int region_order[CERTREG_MOST_REGIONS] = {
        CERTREG_REGION_HI, CERTREG_REGION_BETWEEN, CERTREG_REGION_LO, CERTREG_REGION_BETWEEN,
        CERTREG_REGION_HI};
    for (int i = 0; i < CERTREG_MOST_REGIONS; i++)
        add_region(out, i > 0 ? regions->edge[i - 1] : -INFINITY,
                   i < CR_CLIP_EDGES ? regions->edge[i] : INFINITY, region_order[i]);
}

void cr_extremal_function_make(const cr_fixed_mean_dual *solution, certreg_worst_function *out)
{
    const cr_problem *problem = &solution->problem;
    cr_multipliers mult = solution->multipliers;
    cr_clip_regions regions = solution->regions;
    *out = (certreg_worst_function){.struct_size = sizeof *out,
                                    .tilt = problem->ratio.r,
                                    .range_lo = problem->b,
                                    .range_hi = problem->B};
    if (solution->constant) {
        out->region_count = 1; /* 0 everywhere */
        return;
    }
    if (mult.lambda > 0) {
        cr_newton_finish(problem, &mult, &regions);
        set_curve(problem, &mult, out);
        cr_clip_regions_find(problem, &mult, 1e-13, &regions);
    } else {
        double left, right;
        cr_two_valued_edges(problem, &left, &right);
        regions.edge[0] = regions.edge[1] = left;
        regions.edge[2] = regions.edge[3] = right;
    }
    set_multipliers(problem, &mult, out);
    set_regions(&regions, out);
}

/* ---- moments */
typedef struct moments {
    double y, yt, yy, change;
} moments;

/* Returns the density of N(0,1) times exp(rt - r^2/2) - 1, without underflow of a factor alone. */
static double density_change(double t, double r)
{
    const double x = r * (t - 0.5 * r);
    return CR_INV_SQRT_TWO_PI * (fabs(x) < 1 ? exp(-0.5 * t * t) * expm1(x)
                                             : exp(-0.5 * (t - r) * (t - r)) - exp(-0.5 * t * t));
}

static void integrate_panel(const certreg_worst_function *f, int region, double r, double from,
                            double to, moments *out)
{
    const cr_ratio ratio = cr_ratio_make(1, f->tilt);
    const cr_quadrature_rule *rule = &cr_quadrature_proof;
    const double center = 0.5 * (from + to), half_width = 0.5 * (to - from);
    for (int j = 0; j < 2 * rule->positive_nodes; j++) {
        const double t = center + (j & 1 ? -half_width : half_width) * rule->node[j / 2],
                     weight = half_width * rule->weight[j / 2],
                     y = region_value(f, &ratio, region, t),
                     wy = weight * CR_INV_SQRT_TWO_PI * exp(-0.5 * t * t) * y;
        out->y += wy;
        out->yt += wy * t;
        out->yy += wy * y;
        out->change += weight * density_change(t, r) * y;
    }
}

void cr_extremal_function_measure(certreg_worst_function *f, double r, cr_evaluation_budget *budget)
{
    moments sum = {0};
    double ends[CR_MAX_PANEL_ENDS], from = -INFINITY;
    for (uint32_t i = 0; i < f->region_count; i++) {
        const double to = i + 1 < f->region_count ? f->breakpoints[i] : INFINITY;
        const int region = f->regions[i], peaks = region == CERTREG_REGION_BETWEEN ? 2 : 1;
        const int count = cr_quadrature_panel_ends(&cr_quadrature_proof, from, to, 0,
                                                   peaks * fmax(r, f->tilt), ends);
        if (count)
            budget->points += 2 * (uint64_t)(cr_quadrature_proof.positive_nodes * (count - 1));
        for (int k = 1; k < count; k++) integrate_panel(f, region, r, ends[k], ends[k - 1], &sum);
        from = to;
    }
    budget->used++;
    f->mean = sum.y;
    f->gradient = sum.yt;
    f->variance = sum.yy - sum.y * sum.y;
    f->change = sum.change;
}

/* ---- to the caller */
void cr_extremal_function_to_caller(certreg_worst_function *f, const cr_one_sided *rise,
                                    double mean, int unit, int32_t side)
{
    double *const values[] = {&f->mean, &f->gradient, &f->offset,  &f->slope,
                              &f->rest, &f->range_lo, &f->range_hi};
    f->mean += mean;
    f->offset += mean;
    f->range_lo = rise->range_lo;
    f->range_hi = rise->range_hi;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        *values[i] = ldexp(side * *values[i], unit) + 0.0; /* not -0 */
    f->variance = ldexp(f->variance, 2 * unit);
    f->change = ldexp(f->change, unit);
    f->by_variance = ldexp(f->by_variance, -unit);
    f->side = side;
    if (side == CERTREG_SIDE_UPPER) return;
    const double lo = f->range_hi;
    f->range_hi = f->range_lo;
    f->range_lo = lo;
    for (uint32_t i = 0; i < f->region_count; i++) f->regions[i] = -f->regions[i];
}
