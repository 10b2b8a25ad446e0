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
static double value_in(const certreg_worst_function *f, const cr_ratio *ratio, int kind, double t)
{
    if (kind == CERTREG_REGION_LO) return f->range_lo;
    if (kind == CERTREG_REGION_HI) return f->range_hi;
    const double free =
        f->offset + f->slope * t + (f->rest != 0 ? f->rest * cr_ratio_at(ratio, t) : 0);
    return fmin(fmax(free, f->range_lo), f->range_hi);
}

certreg_status certreg_worst_function_values(const certreg_worst_function *theirs, size_t count,
                                             const double *t, double *out)
{
    certreg_worst_function f;
    const certreg_status status =
        cr_struct_read(&f, sizeof f, CR_OLDEST_WORST_FUNCTION, theirs, "function", NULL);
    if (status) return status;
    if (!f.region_count || f.region_count > CERTREG_MOST_REGIONS || (count && (!t || !out)))
        return CERTREG_E_INVALID;
    fenv_t callers;
    cr_environment_enter(&callers);
    const cr_ratio ratio = cr_ratio_make(1, f.tilt);
    for (size_t i = 0; i < count; i++) {
        uint32_t region = 0;
        while (region + 1 < f.region_count && t[i] > f.breakpoints[region]) region++;
        out[i] = isfinite(t[i]) ? value_in(&f, &ratio, f.regions[region], t[i]) : NAN;
    }
    cr_environment_leave(&callers);
    return CERTREG_OK;
}

/* ---- from a point */
/* Sets the curve y = s (h - nu - a t). For k = 0, h becomes a sum of t and the h of k = 1. */
static void set_curve(const cr_problem *problem, const cr_multipliers *at,
                      certreg_worst_function *out)
{
    const cr_ratio *ratio = &problem->ratio;
    const double s = 0.5 / at->lambda, share = s / ratio->norm;
    out->offset = -s * at->nu;
    out->slope = ratio->order > 0 ? -s * at->a : share * ratio->r;
    out->rest = share * cr_ratio_norm(1, ratio->r);
}

static void set_multipliers(const cr_problem *problem, const cr_multipliers *at,
                            certreg_worst_function *out)
{
    out->by_variance = problem->ratio.norm * at->lambda;
    out->by_mean = problem->ratio.norm * at->nu;
    out->by_gradient = problem->ratio.order > 0 ? cr_dual_multiplier(problem, at) : 0;
}

/* Beyond these ends every density that occurs is 0 in double precision. */
static const double line_end = 38.5;

static void add_region(certreg_worst_function *f, double from, double to, int kind)
{
    if (!(from < to) || to < -line_end || from > line_end + 2 * f->tilt) return;
    if (f->region_count && f->regions[f->region_count - 1] == kind) return;
    if (f->region_count) f->breakpoints[f->region_count - 1] = from;
    f->regions[f->region_count++] = kind;
}

static void set_regions(const cr_clip_regions *regions, certreg_worst_function *out)
{
    static const int kind[CERTREG_MOST_REGIONS] = {CERTREG_REGION_HI, CERTREG_REGION_BETWEEN,
                                                   CERTREG_REGION_LO, CERTREG_REGION_BETWEEN,
                                                   CERTREG_REGION_HI};
    for (int i = 0; i < CERTREG_MOST_REGIONS; i++)
        add_region(out, i > 0 ? regions->edge[i - 1] : -INFINITY,
                   i < CR_EDGES ? regions->edge[i] : INFINITY, kind[i]);
}

void cr_function_make(const cr_fixed_mean_dual *point, certreg_worst_function *out)
{
    const cr_problem *problem = &point->problem;
    cr_multipliers at = point->at;
    cr_clip_regions regions = point->regions;
    *out = (certreg_worst_function){.struct_size = sizeof *out,
                                    .tilt = problem->ratio.r,
                                    .range_lo = problem->b,
                                    .range_hi = problem->B};
    if (point->constant) {
        out->region_count = 1; /* 0 everywhere */
        return;
    }
    if (at.lambda > 0) {
        cr_newton_finish(problem, &at, &regions);
        set_curve(problem, &at, out);
        cr_regions_find(problem, &at, 1e-13, &regions);
    } else {
        double left, right;
        cr_two_valued_edges(problem, &left, &right);
        regions.edge[0] = regions.edge[1] = left;
        regions.edge[2] = regions.edge[3] = right;
    }
    set_multipliers(problem, &at, out);
    set_regions(&regions, out);
}

/* ---- moments */
typedef struct moments {
    double y, yt, yy, change;
} moments;

/* Returns the density of N(0,1) times exp(rt - r^2/2) - 1, without underflow of a factor alone. */
static double gain(double t, double r)
{
    const double x = r * (t - 0.5 * r);
    return CR_INV_SQRT_TWO_PI * (fabs(x) < 1 ? exp(-0.5 * t * t) * expm1(x)
                                             : exp(-0.5 * (t - r) * (t - r)) - exp(-0.5 * t * t));
}

static void add_panel(const certreg_worst_function *f, int kind, double r, double from, double to,
                      moments *out)
{
    const cr_ratio ratio = cr_ratio_make(1, f->tilt);
    const cr_rule *rule = &cr_quadrature_proof;
    const double center = 0.5 * (from + to), half = 0.5 * (to - from);
    for (int j = 0; j < 2 * rule->half; j++) {
        const double t = center + (j & 1 ? -half : half) * rule->node[j / 2],
                     weight = half * rule->weight[j / 2], y = value_in(f, &ratio, kind, t),
                     wy = weight * CR_INV_SQRT_TWO_PI * exp(-0.5 * t * t) * y;
        out->y += wy;
        out->yt += wy * t;
        out->yy += wy * y;
        out->change += weight * gain(t, r) * y;
    }
}

void cr_function_measure(certreg_worst_function *f, double r, cr_evaluation_budget *effort)
{
    moments sum = {0};
    double ends[CR_PANELS], from = -INFINITY;
    for (uint32_t i = 0; i < f->region_count; i++) {
        const double to = i + 1 < f->region_count ? f->breakpoints[i] : INFINITY;
        const int kind = f->regions[i], peaks = kind == CERTREG_REGION_BETWEEN ? 2 : 1;
        const int count =
            cr_quadrature_cut(&cr_quadrature_proof, from, to, 0, peaks * fmax(r, f->tilt), ends);
        if (count) effort->points += 2 * (uint64_t)(cr_quadrature_proof.half * (count - 1));
        for (int k = 1; k < count; k++) add_panel(f, kind, r, ends[k], ends[k - 1], &sum);
        from = to;
    }
    effort->used++;
    f->mean = sum.y;
    f->gradient = sum.yt;
    f->variance = sum.yy - sum.y * sum.y;
    f->change = sum.change;
}

/* ---- to the caller */
void cr_function_give(certreg_worst_function *f, const cr_one_sided *rise, double mean, int unit,
                      int32_t side)
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
