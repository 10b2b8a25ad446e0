/* Ranks for a coverage. */
#include "base/sizes.h"
#include "base/structs.h"
#include "intervals/intervals.h"
#include <math.h>

static const double default_alpha = 0.05, least_alpha = 1e-6, most_alpha = 0.5;
static const uint64_t most_points = UINT64_C(1) << 50;

static certreg_status check_counts(const certreg_coverage *c, certreg_error *why)
{
    if (!c->points || c->points > most_points)
        return cr_fail(why, CERTREG_E_INVALID, "coverage.points is %llu; it must be 1 to 2^50",
                       (unsigned long long)c->points);
    const uint64_t counts[] = {c->calibration_samples, c->samples};
    static const char *const names[] = {"calibration_samples", "samples"};
    for (int i = 0; i < 2; i++)
        if (!counts[i] || counts[i] > CR_RANKS_MOST_SAMPLES)
            return cr_fail(why, CERTREG_E_INVALID, "coverage.%s is %llu; it must be 1 to 1e7",
                           names[i], (unsigned long long)counts[i]);
    return CERTREG_OK;
}

static certreg_status check(certreg_coverage *c, certreg_error *why)
{
    if (c->reserved)
        return cr_fail(why, CERTREG_E_INVALID, "coverage.reserved is %d; it must be 0",
                       (int)c->reserved);
    if (c->alpha == 0) c->alpha = default_alpha;
    if (!(c->alpha >= least_alpha && c->alpha <= most_alpha))
        return cr_fail(why, CERTREG_E_INVALID,
                       "coverage.alpha is %g; it must be 1e-6 to 0.5, or 0 for 0.05", c->alpha);
    if (!(c->radius >= 0 && isfinite(c->radius)))
        return cr_fail(why, CERTREG_E_INVALID,
                       "coverage.radius is %g; it must be finite and not negative", c->radius);
    if (!(c->sigma > 0 && isfinite(c->sigma)))
        return cr_fail(why, CERTREG_E_INVALID,
                       "coverage.sigma is %g; it must be positive and finite", c->sigma);
    if (!(c->share >= 0 && c->share < 1))
        return cr_fail(why, CERTREG_E_INVALID,
                       "coverage.share is %g; it must be above 0 and below 1, or 0 for one half",
                       c->share);
    return check_counts(c, why);
}

static certreg_status too_few(const certreg_coverage *c, uint64_t least, certreg_error *why)
{
    char advice[200];
    cr_intervals_advise(c, c->points, least ? ", or " : "take ", advice, sizeof advice);
    if (least)
        return cr_fail(why, CERTREG_E_INVALID,
                       "coverage.points is %llu, and these samples, radius and alpha need at least "
                       "%llu: take as many%s",
                       (unsigned long long)c->points, (unsigned long long)least, advice);
    if (!*advice)
        cr_intervals_advise(c, most_points, "with more points take ", advice, sizeof advice);
    return cr_fail(why, CERTREG_E_INVALID,
                   "no number of points is enough for a radius of %g sigma with these samples and "
                   "alpha: %s",
                   c->radius / c->sigma,
                   *advice ? advice
                           : "take as many samples of a new input as of each calibration point, "
                             "and a smaller radius");
}

static certreg_status choose(const certreg_coverage *c, certreg_error *why, certreg_ranks *out)
{
    const cr_ranks_setting setting = cr_intervals_setting(c);
    const cr_ranks ranks = cr_ranks_choose(&setting);
    out->least_points = ranks.least_points;
    if (!ranks.sample) return too_few(c, ranks.least_points, why);
    out->alpha = ranks.alpha, out->radius = c->radius, out->sigma = c->sigma;
    out->points = c->points, out->samples = c->samples;
    out->calibration_samples = c->calibration_samples;
    out->calibration_rank = setting.calibration_rank;
    out->point_rank = ranks.point, out->sample_rank = ranks.sample;
    return CERTREG_OK;
}

static certreg_status take(const certreg_coverage *coverage, certreg_error *error,
                           certreg_ranks *out)
{
    certreg_coverage c;
    certreg_status status =
        cr_struct_read(&c, sizeof c, CR_OLDEST_COVERAGE, coverage, "coverage", error);
    if (!status) status = check(&c, error);
    return status ? status : choose(&c, error, out);
}

certreg_status certreg_interval_ranks(const certreg_coverage *coverage, certreg_error *why,
                                      certreg_ranks *out)
{
    certreg_ranks ranks = {.struct_size = sizeof ranks};
    certreg_error error;
    fenv_t callers;
    cr_environment_enter(&callers);
    cr_error_clear(&error);
    certreg_status status = cr_struct_check(out, CR_OLDEST_RANKS, "ranks", &error);
    if (!status) status = take(coverage, &error, &ranks);
    cr_environment_leave(&callers);
    cr_struct_refuse(out, CR_OLDEST_RANKS, &ranks, sizeof ranks);
    cr_error_give(why, &error);
    return status;
}
