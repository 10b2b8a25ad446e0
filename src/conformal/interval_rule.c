/* A rule for a coverage: weights, and the threshold among the scores of a calibration. */
#include "base/libm_check.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "conformal/conformal.h"
#include "statistics/order_statistics.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double default_alpha = 0.05, min_alpha = 1e-6, max_alpha = 0.5;
static const uint64_t max_points = UINT64_C(1) << 50;

static certreg_status check_counts(const certreg_coverage *c, certreg_error *why)
{
    if (!c->points || c->points > max_points)
        return cr_error_set(why, CERTREG_E_INVALID, "coverage.points is %llu; it must be 1 to 2^50",
                            (unsigned long long)c->points);
    const uint64_t counts[] = {c->calibration_samples, c->samples};
    static const char *const names[] = {"calibration_samples", "samples"};
    for (int i = 0; i < 2; i++)
        if (!counts[i] || counts[i] > CR_WEIGHTS_MAX_SAMPLES)
            return cr_error_set(why, CERTREG_E_INVALID, "coverage.%s is %llu; it must be 1 to 1e7",
                                names[i], (unsigned long long)counts[i]);
    return CERTREG_OK;
}

static certreg_status check(certreg_coverage *c, certreg_error *why)
{
    if (c->reserved)
        return cr_error_set(why, CERTREG_E_INVALID, "coverage.reserved is %d; it must be 0",
                            (int)c->reserved);
    if (c->alpha == 0) c->alpha = default_alpha;
    if (!(c->alpha >= min_alpha && c->alpha <= max_alpha))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "coverage.alpha is %g; it must be 1e-6 to 0.5, or 0 for 0.05",
                            c->alpha);
    if (!(c->radius >= 0 && isfinite(c->radius)))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "coverage.radius is %g; it must be finite and not negative", c->radius);
    if (!(c->sigma > 0 && isfinite(c->sigma)))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "coverage.sigma is %g; it must be positive and finite", c->sigma);
    return check_counts(c, why);
}

static certreg_status refuse_points(const certreg_coverage *c, uint64_t min_points,
                                    certreg_error *why)
{
    char advice[200];
    cr_conformal_advise(c, c->points, min_points ? ", or " : "take ", advice, sizeof advice);
    if (min_points)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "coverage.points is %llu, and these samples, radius and alpha need at least "
            "%llu: take that many%s",
            (unsigned long long)c->points, (unsigned long long)min_points, advice);
    if (!*advice)
        cr_conformal_advise(c, max_points, "with more points take ", advice, sizeof advice);
    return cr_error_set(
        why, CERTREG_E_INVALID,
        "no number of points is enough for a radius of %g sigma with these samples and "
        "alpha: %s",
        c->radius / c->sigma,
        *advice ? advice
                : "take as many samples of a new input as of each calibration point, "
                  "and a smaller radius");
}

/* ---- with a calibration */
static certreg_status read_calibration(certreg_coverage *c, const certreg_calibration *calibration,
                                       certreg_error *why)
{
    if (!calibration->count)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "the calibration has no points: add some, or pass NULL to plan one");
    if (c->sigma != 0 || c->points || c->calibration_samples)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "coverage.sigma, .points and .calibration_samples describe a calibration that "
            "is planned: leave them 0 with a calibration");
    c->sigma = calibration->sigma;
    c->points = calibration->count;
    c->calibration_samples = calibration->samples;
    return CERTREG_OK;
}

typedef struct weighted_scores { /* the scores of all points, each with the weight of its level */
    const double *scores;
    const cr_weight_function *weights;
    size_t levels;
} weighted_scores;

static double score_at(const void *context, size_t i)
{
    return ((const weighted_scores *)context)->scores[i];
}

static double weight_at(const void *context, size_t i)
{
    const weighted_scores *w = context;
    return w->weights->step[i % w->levels];
}

/* The smallest q at which the calibration's risk is at most alpha (theory 12.2). */
static certreg_status find_threshold(const certreg_calibration *c,
                                     const cr_weight_function *weights, double alpha,
                                     certreg_error *why, double *threshold)
{
    uint64_t above[CR_WEIGHTS_LEVELS];
    const weighted_scores w = {c->scores, weights, (size_t)cr_weights_levels(c->samples, above)};
    const cr_indexed_values order = {
        .value = score_at, .context = &w, .count = (size_t)c->count * w.levels};
    for (size_t i = 0; i < order.count; i++)
        if (isnan(c->scores[i]))
            return cr_error_set(why, CERTREG_E_INVALID, "calibration.scores[%zu] is NaN", i);
    const double budget = cr_weights_budget(weights, alpha, c->count);
    if (budget >= 0) *threshold = cr_order_weighted_threshold(&order, weight_at, budget);
    return CERTREG_OK;
}

static certreg_status make_rule(certreg_coverage *c, const certreg_calibration *calibration,
                                certreg_error *why, certreg_rule *out)
{
    certreg_status status = calibration ? read_calibration(c, calibration, why) : CERTREG_OK;
    if (!status) status = check(c, why);
    if (status) return status;
    const cr_weights_setting setting = cr_conformal_setting(c);
    const cr_weight_function weights = cr_weights_choose(&setting);
    out->least_points = weights.min_points;
    if (!weights.sample_rank) return refuse_points(c, weights.min_points, why);
    if (calibration) status = find_threshold(calibration, &weights, c->alpha, why, &out->threshold);
    if (status) return status;
    out->alpha = c->alpha;
    out->radius = c->radius;
    out->samples = c->samples;
    out->sample_rank = weights.sample_rank;
    if (calibration) out->calibration = cr_conformal_digest(calibration, out);
    return CERTREG_OK;
}

static certreg_status read_and_make(const certreg_coverage *coverage,
                                    const certreg_calibration *calibration, certreg_error *why,
                                    certreg_rule *out)
{
    certreg_coverage c;
    certreg_calibration calibration_read;
    certreg_status status =
        cr_struct_read(&c, sizeof c, CR_OLDEST_COVERAGE, coverage, "coverage", why);
    if (!status && calibration) status = cr_conformal_read(calibration, &calibration_read, why);
    return status ? status : make_rule(&c, calibration ? &calibration_read : NULL, why, out);
}

certreg_status certreg_interval_rule(const certreg_coverage *coverage,
                                     const certreg_calibration *calibration, certreg_error *why,
                                     certreg_rule *out)
{
    certreg_rule rule = {.struct_size = sizeof rule, .threshold = INFINITY};
    certreg_error error;
    fenv_t callers;
    cr_environment_enter(&callers);
    cr_error_clear(&error);
    certreg_status status = cr_struct_check(out, CR_OLDEST_RULE, "rule", &error);
    if (!status) status = cr_libm_check(&error);
    if (!status) status = read_and_make(coverage, calibration, &error, &rule);
    cr_environment_leave(&callers);
    cr_struct_write_empty(out, CR_OLDEST_RULE, &rule, sizeof rule);
    cr_error_copy_out(why, &error);
    return status;
}

/* ---- advice if no rule exists: changes of the arguments that were tried and give a rule */
cr_weights_setting cr_conformal_setting(const certreg_coverage *c)
{
    return (cr_weights_setting){.alpha = c->alpha,
                                .shift =
                                    c->radius / c->sigma * (1 + CR_CONFORMAL_DEVIATION_ROUNDING),
                                .points = c->points,
                                .calibration = c->calibration_samples,
                                .samples = c->samples};
}

enum change { NEW_SAMPLES, CALIBRATION_SAMPLES, RADIUS, ALPHA };
enum { CHANGES = ALPHA + 1 };

static certreg_coverage with_change(certreg_coverage c, enum change kind, double value)
{
    switch (kind) {
    case NEW_SAMPLES: c.samples = (uint64_t)value; break;
    case CALIBRATION_SAMPLES: c.calibration_samples = (uint64_t)value; break;
    case RADIUS: c.radius = value; break;
    case ALPHA: c.alpha = value; break;
    }
    return c;
}

static int has_rule(const certreg_coverage *c, enum change kind, double value, uint64_t points)
{
    const certreg_coverage changed = with_change(*c, kind, value);
    const cr_weights_setting setting = cr_conformal_setting(&changed);
    const uint64_t min_points = cr_weights_min_points(&setting);
    return min_points && min_points <= points;
}

/* The least helpful value found that leads to a rule, between the present value and the most
 * helpful one; 0 if even that has none. An alpha is the least one with six digits. */
static double smallest_change(const certreg_coverage *c, enum change kind, double from, double to,
                              uint64_t points)
{
    if (!has_rule(c, kind, to, points)) return 0;
    const double near = kind == ALPHA ? 1 + 1e-7 : 1.05;
    for (int i = 0; i < 40 && fmax(from, to) > near * fmin(from, to); i++) {
        const double middle = sqrt(from) * sqrt(to);
        if (has_rule(c, kind, middle, points)) to = middle;
        else from = middle;
    }
    if (kind != ALPHA) return to;
    const double unit = pow(10, 5 - floor(log10(to))), below = floor(to * unit) / unit;
    return has_rule(c, kind, below, points) ? below : fmin(0.5, ceil(to * unit) / unit);
}

/* A smaller radius helps as well, so it is rounded down; an alpha has six digits. */
static void format_change(char *text, size_t capacity, enum change kind, double value)
{
    switch (kind) {
    case NEW_SAMPLES:
        snprintf(text, capacity, "%llu samples of a new input", (unsigned long long)value);
        break;
    case CALIBRATION_SAMPLES:
        snprintf(text, capacity, "%llu samples of each calibration point",
                 (unsigned long long)value);
        break;
    case RADIUS: snprintf(text, capacity, "a radius of %.3g", 0.99 * value); break;
    case ALPHA: snprintf(text, capacity, "an alpha of %.6g", value); break;
    }
}

void cr_conformal_advise(const certreg_coverage *c, uint64_t points, const char *prefix,
                         char *advice, size_t capacity)
{
    const struct {
        double from, to;
    } ranges[CHANGES] = {{(double)c->samples, CR_WEIGHTS_MAX_SAMPLES},
                         {(double)c->calibration_samples, CR_WEIGHTS_MAX_SAMPLES},
                         {c->radius, fmin(c->radius, c->sigma) / 1024},
                         {c->alpha, 0.5}};
    *advice = 0;
    for (int i = 0; i < CHANGES; i++) {
        const double value =
            smallest_change(c, (enum change)i, ranges[i].from, ranges[i].to, points);
        const size_t used = strlen(advice);
        if (!(value > 0) || used + 1 >= capacity) continue;
        snprintf(advice + used, capacity - used, "%s", used ? ", or " : prefix);
        format_change(advice + strlen(advice), capacity - strlen(advice), (enum change)i, value);
    }
}
