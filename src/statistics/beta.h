/* The regularised incomplete beta function, and the quantiles of Student that follow from it. */
#ifndef CR_STATISTICS_BETA_H
#define CR_STATISTICS_BETA_H

/* I_x(a, b) for a, b > 0 and x in [0, 1]; y = 1 - x is passed too, so that neither end loses
 * digits. Relative error below 1e-12 for a + b up to 1e4 wherever the value is at most one half. */
double cr_beta_lower(double a, double b, double x, double y);

/* log of x^a y^b Gamma(a + b)/(Gamma(a) Gamma(b)). */
double cr_beta_log_term(double a, double b, double x, double y);

/* Student t: the point above which a share q lies, accurate for tiny q. q in (0, 1), degrees > 0,
 * else NaN. */
double cr_beta_student(double q, double degrees);

#endif
