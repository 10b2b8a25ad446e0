/* Shapes of worst functions: unclipped; at an end of the range but for a tail or a dip. */
#include "statistics/normal.h"
#include "solver/initial_multipliers.h"
#include <math.h>

/* y = alpha h + c t: exact without a range. */
static cr_multipliers unclipped_guess(const cr_problem *problem)
{
    const double c = problem->ratio.order > 0 ? problem->correlation : 0,
                 variance = problem->variance;
    const double alpha = sqrt(fmax(variance - c * c, 1e-8 * variance));
    return (cr_multipliers){0.5 / alpha, 0, -c / alpha};
}

/* k = 0, the mean close to an end compared with the deviation: y stands there except for a tail of
 * known mass and energy. */
static cr_multipliers tail_guess(const cr_problem *problem, int upper_end)
{
    const cr_ratio *ratio = &problem->ratio;
    const double distance = upper_end ? problem->B : -problem->b,
                 tail_probability = fmin(0.9, 1.5 * distance * distance /
                                                  (problem->variance + distance * distance));
    const double x = (upper_end ? -1 : 1) * cr_normal_quantile_sf(tail_probability),
                 h = cr_ratio_value(ratio, x), tail = cr_ratio_tail(ratio, x);
    const double alpha = distance /
                         (upper_end ? h * cr_normal_cdf(x) + tail : tail - h * cr_normal_sf(x)),
                 lambda = 0.5 / alpha;
    return (cr_multipliers){lambda, h - 2 * lambda * (upper_end ? distance : -distance), 0};
}

/* k = 1, the mean close to the upper end: y stands at B except for one dip around the t that gives
 * the correlation. The dip is taken for a parabola, so that mass and energy give its depth and
 * width. (At the lower end v is convex, and the unclipped guess will do.) */
static cr_multipliers dip_guess(const cr_problem *problem)
{
    const cr_ratio *ratio = &problem->ratio;
    const double B = problem->B, center = -problem->correlation / B;
    const double depth = fmin(1.25 * (problem->variance + B * B) / B, 1.2 * (B - problem->b));
    const double width = fmin(1.5, 0.75 * B / (cr_normal_pdf(center) * depth));
    const double curvature =
        ratio->r * ratio->r * exp(ratio->r * (center - 0.5 * ratio->r)) / ratio->norm;
    const double lambda = curvature * width * width / (4 * depth),
                 slope = cr_ratio_slope(ratio, center);
    return (cr_multipliers){
        lambda, cr_ratio_value(ratio, center) - slope * center - 2 * lambda * (B - depth), slope};
}

cr_multipliers cr_initial_guess(const cr_problem *problem)
{
    const double C = problem->variance, b = problem->b, B = problem->B;
    cr_multipliers guess = unclipped_guess(problem);
    if (problem->ratio.order > 0) {
        if (B * B < C) guess = dip_guess(problem);
    } else if (B * B < 0.3 * C) {
        guess = tail_guess(problem, 1);
    } else if (b * b < 0.3 * C) {
        guess = tail_guess(problem, 0);
    }
    const int is_valid = guess.lambda > 0 && isfinite(guess.lambda) && isfinite(guess.nu) &&
                         isfinite(guess.a);
    return is_valid ? guess : unclipped_guess(problem);
}
