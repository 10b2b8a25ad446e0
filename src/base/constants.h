/* Constants of several files, with more digits than a double has. */
#ifndef CR_BASE_CONSTANTS_H
#define CR_BASE_CONSTANTS_H

#define CR_PI 3.14159265358979323846
#define CR_TWO_PI 6.28318530717958647693
#define CR_SQRT_HALF 0.70710678118654752440
#define CR_INV_SQRT_TWO_PI 0.39894228040143267794 /* density of a standard normal variable at 0 */
#define CR_LOG_TWO_PI 1.83787706640934548356

/* Relative margin for a few operations: far above their rounding error, too small to notice. */
#define CR_ROUNDING_MARGIN 1e-12
/* The smallest alpha: ten times the probability that one of 10^11 noise values is drawn wrong
 * (theory 0.2). */
#define CR_MIN_ALPHA 1e-12
/* Smaller than any meaningful number, but large enough that quotients by it stay finite. */
#define CR_TINY 1e-300

#endif
