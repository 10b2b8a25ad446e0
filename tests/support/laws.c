#include "support/laws.h"
#include "statistics/normal.h"
#include <math.h>

#define TENTH \
    1.2815515655446004 /* quantiles of the normal above which a tenth and a fiftieth lie */
#define FIFTIETH 2.0537489106318225

#define LAW(name, value)                \
    static double name(const double *s) \
    {                                   \
        return value;                   \
    }
LAW(linear, s[0])
LAW(faint, 0.01 * s[0] + cos(3 * s[1]))
LAW(quadratic, 0.1 * s[0] + (s[0] * s[0] - 1) * sqrt(0.5))
LAW(clipped, fmax(-1, fmin(1.5 * s[0] + 1, 1)))
LAW(even_step, s[0] > 0)
LAW(step, s[0] > TENTH)
LAW(rare_step, s[0] > FIFTIETH)
LAW(skewed, exp(0.5 * s[0]))
LAW(two_tails, copysign(expm1(0.7 * fabs(s[0])), s[0]))
LAW(cubic, s[0] * s[0] * s[0])
LAW(lognormal, exp(s[0]))

static const law table[LAWS] = {
    {"linear", linear, 1, 0, 1, 1},
    {"faint gradient", faint, 2, NAN, NAN, 0.01},
    {"quadratic", quadratic, 1, 0, 1.01, 0.1},
    {"clipped score", clipped, 1, NAN, NAN, NAN},
    {"step at 1/2", even_step, 1, 0.5, 0.25, NAN},
    {"step at 1/10", step, 1, 0.1, 0.09, NAN},
    {"step at 1/50", rare_step, 1, 0.02, 0.0196, NAN},
    {"skewed", skewed, 1, NAN, NAN, NAN},
    {"two heavy tails", two_tails, 1, 0, NAN, NAN},
    {"cubic", cubic, 1, 0, 15, 3},
    {"log-normal", lognormal, 1, NAN, NAN, NAN},
};

/* Trapezoidal rule: for smooth integrands exact to rounding, for the clipped ones to 1e-7. */
static void integrate(law *l)
{
    double moment[3] = {0};
    for (int i = -11000; i <= 11000; i++) {
        const double s[2] = {1e-3 * i, 0}, weight = 1e-3 * cr_normal_pdf(s[0]), u = l->value(s);
        moment[0] += weight * u;
        moment[1] += weight * u * u;
        moment[2] += weight * u * s[0];
    }
    if (isnan(l->mean)) l->mean = moment[0];
    if (isnan(l->variance)) l->variance = moment[1] - l->mean * l->mean;
    if (isnan(l->gradient)) l->gradient = moment[2];
}

law laws_get(size_t index)
{
    law l = table[index];
    if (l.value == faint) { /* E cos(3 s) = exp(-9/2), E cos(3 s)^2 = (1 + exp(-18))/2 */
        l.mean = exp(-4.5);
        l.variance = 1e-4 + 0.5 * (1 + exp(-18)) - exp(-9);
    }
    if (l.value == even_step) l.gradient = cr_normal_pdf(0);
    if (l.value == step) l.gradient = cr_normal_pdf(TENTH);
    if (l.value == rare_step) l.gradient = cr_normal_pdf(FIFTIETH);
    if (l.coordinates == 1) integrate(&l);
    return l;
}
