/* The regularised incomplete beta function, and the quantile of Student's distribution. */
#ifndef CR_STATISTICS_INCOMPLETE_BETA_H
#define CR_STATISTICS_INCOMPLETE_BETA_H

/* Returns I_x(a, b) for a, b > 0 and x in [0, 1]; NaN for other arguments. y = 1 - x is a parameter
 * of its own, so that neither end loses digits. Relative error below 1e-12 for a + b up to 1e4 and
 * values up to one half. */
double cr_beta_cdf(double a, double b, double x, double y);

/* Returns log of x^a y^b Gamma(a + b)/(Gamma(a) Gamma(b)) for a, b > 0 and x + y = 1. */
double cr_beta_log_term(double a, double b, double x, double y);

/* Returns the t with P(T > t) = q for Student's T, accurate for tiny q. NaN unless q is in (0, 1)
 * and degrees > 0. */
double cr_student_quantile(double q, double degrees);

#endif
