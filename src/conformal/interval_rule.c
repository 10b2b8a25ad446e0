/* A rule for a coverage: weights, and the threshold among the scores of a calibration. */
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "conformal/conformal.h"
#include "statistics/order_statistics.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double default_alpha = 0.05, least_alpha = 1e-6, most_alpha = 0.5;
static const uint64_t most_points = UINT64_C(1) << 50;

static certreg_status check_counts(const certreg_coverage *c, certreg_error *why)
{
    if (!c->points || c->points > most_points)
        return cr_error_set(why, CERTREG_E_INVALID, "coverage.points is %llu; it must be 1 to 2^50",
                            (unsigned long long)c->points);
    const uint64_t counts[] = {c->calibration_samples, c->samples};
    static const char *const names[] = {"calibration_samples", "samples"};
    for (int i = 0; i < 2; i++)
        if (!counts[i] || counts[i] > CR_WEIGHTS_MOST_SAMPLES)
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
    if (!(c->alpha >= least_alpha && c->alpha <= most_alpha))
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

static certreg_status too_few(const certreg_coverage *c, uint64_t least, certreg_error *why)
{
    char advice[200];
    cr_conformal_advise(c, c->points, least ? ", or " : "take ", advice, sizeof advice);
    if (least)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "coverage.points is %llu, and these samples, radius and alpha need at least "
            "%llu: take that many%s",
            (unsigned long long)c->points, (unsigned long long)least, advice);
    if (!*advice)
        cr_conformal_advise(c, most_points, "with more points take ", advice, sizeof advice);
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
static certreg_status describe(certreg_coverage *c, const certreg_calibration *of,
                               certreg_error *why)
{
    if (!of->count)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "the calibration has no points: add some, or pass NULL to plan one");
    if (c->sigma != 0 || c->points || c->calibration_samples)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "coverage.sigma, .points and .calibration_samples describe a calibration that "
            "is planned: leave them 0 with a calibration");
    c->sigma = of->sigma;
    c->points = of->count;
    c->calibration_samples = of->samples;
    return CERTREG_OK;
}

typedef struct weighted { /* the scores of all points, each with the weight of its level */
    const double *scores;
    const cr_weight_function *weights;
    size_t levels;
} weighted;

static double score_at(const void *of, size_t i)
{
    return ((const weighted *)of)->scores[i];
}

static double weight_at(const void *of, size_t i)
{
    const weighted *w = of;
    return w->weights->step[i % w->levels];
}

/* The least q at which the calibration's risk is at most alpha (theory 12.2). */
static certreg_status find_threshold(const certreg_calibration *c,
                                     const cr_weight_function *weights, double alpha,
                                     certreg_error *why, double *threshold)
{
    uint64_t above[CR_WEIGHTS_LEVELS];
    const weighted w = {c->scores, weights, (size_t)cr_weights_levels(c->samples, above)};
    const cr_indexed_values order = {
        .value = score_at, .context = &w, .count = (size_t)c->count * w.levels};
    for (size_t i = 0; i < order.count; i++)
        if (isnan(c->scores[i]))
            return cr_error_set(why, CERTREG_E_INVALID, "calibration.scores[%zu] is NaN", i);
    const double budget = cr_weights_budget(weights, alpha, c->count);
    if (budget >= 0) *threshold = cr_order_weighted_threshold(&order, weight_at, budget);
    return CERTREG_OK;
}

static certreg_status make(certreg_coverage *c, const certreg_calibration *of, certreg_error *why,
                           certreg_rule *out)
{
    certreg_status status = of ? describe(c, of, why) : CERTREG_OK;
    if (!status) status = check(c, why);
    if (status) return status;
    const cr_weights_setting setting = cr_conformal_setting(c);
    const cr_weight_function weights = cr_weights_choose(&setting);
    out->least_points = weights.least_points;
    if (!weights.sample) return too_few(c, weights.least_points, why);
    if (of) status = find_threshold(of, &weights, c->alpha, why, &out->threshold);
    if (status) return status;
    out->alpha = c->alpha;
    out->radius = c->radius;
    out->samples = c->samples;
    out->sample_rank = weights.sample;
    if (of) out->calibration = cr_conformal_digest(of, out);
    return CERTREG_OK;
}

static certreg_status take(const certreg_coverage *coverage, const certreg_calibration *calibration,
                           certreg_error *why, certreg_rule *out)
{
    certreg_coverage c;
    certreg_calibration of;
    certreg_status status =
        cr_struct_read(&c, sizeof c, CR_OLDEST_COVERAGE, coverage, "coverage", why);
    if (!status && calibration) status = cr_conformal_read(calibration, &of, why);
    return status ? status : make(&c, calibration ? &of : NULL, why, out);
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
    if (!status) status = take(coverage, calibration, &error, &rule);
    cr_environment_leave(&callers);
    cr_struct_write_empty(out, CR_OLDEST_RULE, &rule, sizeof rule);
    cr_error_copy_out(why, &error);
    return status;
}

/* ---- advice if there is no rule: changes that were tried and lead to one */
cr_weights_setting cr_conformal_setting(const certreg_coverage *c)
{
    return (cr_weights_setting){.alpha = c->alpha,
                                .shift = c->radius / c->sigma * (1 + CR_INTERVALS_STEP_ROUNDING),
                                .points = c->points,
                                .calibration = c->calibration_samples,
                                .samples = c->samples};
}

enum change { NEW_SAMPLES, CALIBRATION_SAMPLES, RADIUS, ALPHA };
enum { CHANGES = ALPHA + 1 };

static certreg_coverage with(certreg_coverage c, enum change what, double value)
{
    switch (what) {
    case NEW_SAMPLES: c.samples = (uint64_t)value; break;
    case CALIBRATION_SAMPLES: c.calibration_samples = (uint64_t)value; break;
    case RADIUS: c.radius = value; break;
    case ALPHA: c.alpha = value; break;
    }
    return c;
}

static int has_rule(const certreg_coverage *c, enum change what, double value, uint64_t points)
{
    const certreg_coverage changed = with(*c, what, value);
    const cr_weights_setting setting = cr_conformal_setting(&changed);
    const uint64_t least = cr_weights_least_points(&setting);
    return least && least <= points;
}

/* The least helpful value found that leads to a rule, between the present value and the most
 * helpful one; 0 if even that has none. */
static double enough(const certreg_coverage *c, enum change what, double from, double to,
                     uint64_t points)
{
    if (!has_rule(c, what, to, points)) return 0;
    for (int i = 0; i < 20 && fmax(from, to) > 1.05 * fmin(from, to); i++) {
        const double middle = sqrt(from) * sqrt(to);
        if (has_rule(c, what, middle, points)) to = middle;
        else from = middle;
    }
    return to;
}

/* Rounded to three digits, a smaller radius and a larger alpha help as well. */
static void say(char *said, size_t room, enum change what, double value)
{
    switch (what) {
    case NEW_SAMPLES:
        snprintf(said, room, "%llu samples of a new input", (unsigned long long)value);
        break;
    case CALIBRATION_SAMPLES:
        snprintf(said, room, "%llu samples of each calibration point", (unsigned long long)value);
        break;
    case RADIUS: snprintf(said, room, "a radius of %.3g", 0.99 * value); break;
    case ALPHA: snprintf(said, room, "an alpha of %.3g", fmin(0.5, 1.01 * value)); break;
    }
}

void cr_conformal_advise(const certreg_coverage *c, uint64_t points, const char *before,
                         char *advice, size_t room)
{
    const struct {
        double from, to;
    } ways[CHANGES] = {{(double)c->samples, CR_WEIGHTS_MOST_SAMPLES},
                       {(double)c->calibration_samples, CR_WEIGHTS_MOST_SAMPLES},
                       {c->radius, fmin(c->radius, c->sigma) / 1024},
                       {c->alpha, 0.5}};
    *advice = 0;
    for (int i = 0; i < CHANGES; i++) {
        const double value = enough(c, (enum change)i, ways[i].from, ways[i].to, points);
        const size_t used = strlen(advice);
        if (!(value > 0) || used + 1 >= room) continue;
        snprintf(advice + used, room - used, "%s", used ? ", or " : before);
        say(advice + strlen(advice), room - strlen(advice), (enum change)i, value);
    }
}
