/* The second order at one mean (theory 8): it tightens a point that was solved without. */
#ifndef CR_SOLVER_SECOND_ORDER_H
#define CR_SOLVER_SECOND_ORDER_H
#include "solver/point.h"

/* Below this radius the second order is lost in the first. It is used at this radius instead
 * (bound.c). */
#define CR_LEAST_SECOND_ORDER_RADIUS 1e-2

/* In a rough search, from the same mean's point at a radius near by: 0 if that leads nowhere. */
int cr_second_order_again(const cr_rise *rise, double mean, const cr_point *warm, double gain,
                          cr_point *out);
void cr_second_order_use(const cr_rise *rise, double gain, cr_point *point);

#endif
