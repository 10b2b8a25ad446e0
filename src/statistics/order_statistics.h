/* Order statistics without scratch memory. */
#ifndef CR_STATISTICS_ORDER_STATISTICS_H
#define CR_STATISTICS_ORDER_STATISTICS_H
#include "base/deadline.h"
#include <stddef.h>

typedef struct cr_indexed_values {
    double (*value)(const void *context, size_t i); /* NaN: left out */
    const void *context;
    size_t count;
    cr_deadline *deadline; /* NULL: no deadline. Once expired, the result is any number */
} cr_indexed_values;

/* Returns the value of this rank in ascending order, from 0; NaN if there are fewer values. */
double cr_order_select(const cr_indexed_values *values, size_t rank);
/* Returns the smallest value such that the weights of all larger values sum to at most `budget` >=
 * 0. No value may be NaN, and the sum of all weights must exceed the budget. */
double cr_order_weighted_threshold(const cr_indexed_values *values,
                                   double (*weight)(const void *context, size_t i), double budget);
/* Sorts numbers in ascending order, in place. None may be NaN. */
void cr_order_sort(double *values, size_t count);

#endif
