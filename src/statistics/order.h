/* Order statistics without scratch memory. */
#ifndef CR_STATISTICS_ORDER_H
#define CR_STATISTICS_ORDER_H
#include "base/watch.h"
#include <stddef.h>

typedef struct cr_order {
    double (*value)(const void *of, size_t i); /* NaN: left out */
    const void *of;
    size_t count;
    cr_watch *watch; /* NULL: no hurry. Where it gets late the answer is any number */
} cr_order;

/* The rank-th smallest value, rank from 0; NaN if there are not that many. */
double cr_order_select(const cr_order *order, size_t rank);
/* The least value such that greater ones weigh at most `budget` >= 0 together; all of them, without
 * NaN, weigh more. */
double cr_order_threshold(const cr_order *order, double (*weight)(const void *of, size_t i),
                          double budget);
/* Sorts numbers, without NaN, in place. */
void cr_order_sort(double *values, size_t count);

#endif
