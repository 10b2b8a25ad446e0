/* The standard normal distribution, and the effect of a shift of normal noise on a probability. */
#include "statistics/normal.h"
#include "base/constants.h"
#include <float.h>
#include <math.h>

/* ======== Normal density, tails and quantiles. erfc and exp of libm magnify the rounding of
 * their arguments in the tails, so the lost part is added back. */
static const double sqrt_half_low = -0x1.bdd3413b26456p-55; /* the error of CR_SQRT_HALF */

double cr_normal_pdf(double x)
{
    if (fabs(x) > 40) return isnan(x) ? x : 0;
    /* x*x rounds, and exp would magnify that by x*x: the lost part goes back in. */
    const double square = x * x, rounding_error = fma(x, x, -square);
    return CR_INV_SQRT_TWO_PI * exp(-0.5 * square) * (1 - 0.5 * rounding_error);
}

double cr_normal_sf(double x)
{
    if (!(fabs(x) <= 40)) return isnan(x) ? x : x < 0;
    const double scaled = x * CR_SQRT_HALF,
                 rounding_error = fma(x, CR_SQRT_HALF, -scaled) + x * sqrt_half_low;
    const double tail = 0.5 * erfc(scaled);
    /* d/du erfc(u)/2 = -exp(-u^2)/sqrt(pi). Only the far tail feels the argument's rounding. */
    return x > 1 ? tail - rounding_error * exp(-scaled * scaled) * 0x1.20dd750429b6dp-1 : tail;
}

double cr_normal_cdf(double x)
{
    return cr_normal_sf(-x);
}

/* log of the upper tail and Mills' ratio, z >= 25, by the asymptotic series (the ninth term is
 * below an ulp). */
static double far_tail(double z, double *mills)
{
    const double u = 1 / (z * z);
    double sum = 1;
    for (int k = 8; k >= 1; k--) sum = 1 - (2 * k - 1) * u * sum;
    *mills = sum / z;
    return -0.5 * z * z - 0.5 * CR_LOG_TWO_PI + log(*mills);
}

/* Lower half, p in (0, 1/4]: the z > 0 with upper tail p. Rational start (error below 5e-4), then
 * third-order steps. */
static double tail_quantile(double p)
{
    const double log_p = log(p), t = sqrt(-2 * log_p);
    double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    if (z >= 25) {
        for (int i = 0; i < 3; i++) {
            double mills;
            const double log_tail = far_tail(z, &mills);
            z += (log_tail - log_p) * mills;
        }
        return z;
    }
    for (int i = 0; i < 2; i++) {
        const double u = (cr_normal_sf(z) - p) / cr_normal_pdf(z);
        z += u / (1 - 0.5 * u * z);
    }
    return z;
}

/* |p - 1/2| < 1/4: solved for the distance from the middle, so that small quantiles keep their
 * relative accuracy. */
static double middle_quantile(double p)
{
    const double target = p - 0.5;
    const double slope = 1 / CR_INV_SQRT_TWO_PI;
    double x = target * slope * (1 + target * target * (CR_PI / 3));
    for (int i = 0; i < 4; i++) {
        const double u = (0.5 * erf(x * CR_SQRT_HALF) - target) / cr_normal_pdf(x);
        x -= u / (1 + 0.5 * u * x);
    }
    return x;
}

double cr_normal_quantile(double p)
{
    if (!(p >= 0 && p <= 1)) return NAN;
    if (p == 0) return -INFINITY;
    if (p == 1) return INFINITY;
    if (p <= 0.25) return -tail_quantile(p);
    if (p >= 0.75) return tail_quantile(1 - p); /* exact subtraction */
    return middle_quantile(p);
}

double cr_normal_quantile_sf(double q)
{
    return -cr_normal_quantile(q);
}

/* ======== Probabilities and means under a shift of normal noise (theory 2.1), with the margins
 * for their rounding. */
enum { MAX_MARGINS = 40 };

double cr_shift_probit(double p)
{
    return cr_normal_quantile(p);
}

double cr_shift_slope(double p)
{
    return cr_normal_pdf(cr_normal_quantile(p));
}

double cr_shift_min_probability(double p, double r)
{
    return cr_normal_sf(nextafter(r, INFINITY) + cr_normal_quantile_sf(p)) *
           (1 - CR_ROUNDING_MARGIN);
}

double cr_shift_radius(double probability, double target)
{
    return cr_normal_quantile_sf(probability) - cr_normal_quantile_sf(target);
}

/* 1 if P(N(0,1) > x) surely exceeds p. For p > 1/2 it compares the lower tail with 1 - p, since the
 * smaller tail has more correct digits. */
static int exceeds(double x, double p)
{
    const double error = 8 * DBL_EPSILON;
    return p <= 0.5 ? cr_normal_sf(x) > p * (1 + error) : cr_normal_sf(-x) < (1 - p) * (1 - error);
}

/* 1 if it surely falls short of p. */
static int falls_short(double x, double p)
{
    const double error = 8 * DBL_EPSILON;
    return p <= 0.5 ? cr_normal_sf(x) < p * (1 - error) : cr_normal_sf(-x) > (1 - p) * (1 + error);
}

/* Both levels come from quantiles and are moved inward until the tails themselves confirm them: an
 * event of at most this probability has a level of at least z, and after a shift by z - level or
 * less it is rarer than the threshold. The first margin is relative and far more than the errors of
 * quantiles, and short radii keep their digits. */
double cr_shift_max_radius(double probability, double threshold, double max_radius)
{
    /* No shift makes an event certain. */
    if (threshold >= 1) return probability < 1 || threshold > 1 ? max_radius : 0;
    const double z = cr_normal_quantile_sf(fmax(probability, CR_TINY)),
                 level = cr_normal_quantile_sf(threshold);
    double margin = 64 * DBL_EPSILON * (fabs(z) + fabs(level)) + DBL_MIN;
    for (int i = 0; i < MAX_MARGINS; i++, margin *= 2) {
        if (!exceeds(z - margin, probability) || !falls_short(level + margin, threshold)) continue;
        const double r = nextafter((z - margin) - (level + margin), 0);
        return r > 0 ? fmin(r, max_radius) : 0;
    }
    return 0;
}

double cr_shift_radius_of_mean(double drop, double variance)
{
    return sqrt(log1p(drop * drop / variance));
}
