/* The points that lie in at least so many of several intervals (theory 12.5). */
#ifndef CR_STATISTICS_COVER_H
#define CR_STATISTICS_COVER_H
#include <stddef.h>

/* `count` closed intervals [lo[i], hi[i]], lo[i] <= hi[i], and 1 <= depth <= count. The pieces of
 * the set take their place, ascending; returned is how many there are. */
size_t cr_cover_line(double *lo, double *hi, size_t count, size_t depth);

/* The same for arcs of one length, shorter than the period; lo has room for 2*count numbers. Pieces
 * ascend around the circle. A piece that is a period long is the whole circle. */
size_t cr_cover_circle(double *lo, double *hi, size_t count, size_t depth, double period);

#endif
