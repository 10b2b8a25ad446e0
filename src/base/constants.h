/* Constants that several files need, to more digits than a double has. */
#ifndef CR_BASE_CONSTANTS_H
#define CR_BASE_CONSTANTS_H

#define CR_PI 3.14159265358979323846
#define CR_TWO_PI 6.28318530717958647693
#define CR_SQRT_HALF 0.70710678118654752440
#define CR_INV_SQRT_TWO_PI 0.39894228040143267794 /* greatest density of a normal variable */
#define CR_LOG_TWO_PI 1.83787706640934548356

/* Relative margin of a result of a few operations: far more than their rounding, far less than
 * anybody could notice. */
#define CR_ROUNDING 1e-12
/* The least alpha: ten times the probability that one of 10^11 numbers of noise is drawn wrong
 * (theory 0.2). */
#define CR_LEAST_ALPHA 1e-12
/* Below every number that means something; a quotient by it is finite still. */
#define CR_TINY 1e-300

#endif
