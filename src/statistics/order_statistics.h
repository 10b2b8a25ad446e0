/* Order statistics without scratch memory. */
#ifndef CR_STATISTICS_ORDER_STATISTICS_H
#define CR_STATISTICS_ORDER_STATISTICS_H
#include "base/deadline.h"
#include <stddef.h>

typedef struct cr_order {
    double (*value)(const void *of, size_t i); /* NaN: left out */
    const void *of;
    size_t count;
    cr_deadline *watch; /* NULL: no deadline. If it is late, the result is any number */
} cr_order;

/* Returns the value of this rank in ascending order, from 0; NaN if there are fewer values. */
double cr_order_select(const cr_order *order, size_t rank);
/* Returns the least value such that all greater ones together weigh at most `budget` >= 0. No value
 * may be NaN, and all together must weigh more than the budget. */
double cr_order_weighted_threshold(const cr_order *order,
                                   double (*weight)(const void *of, size_t i), double budget);
/* Sorts numbers in ascending order, in place. None may be NaN. */
void cr_order_sort(double *values, size_t count);

#endif
