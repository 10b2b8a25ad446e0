#include "statistics/cover.h"
#include "statistics/order.h"
#include <math.h>
#include <string.h>

/* Both lists are sorted. Piece number p is written where nothing is left to be read, since p is at
 * most the number of the window. */
static size_t windows(double *lo, double *hi, size_t count, size_t depth)
{
    size_t pieces = 0;
    for (size_t i = 0; i < count; i++) {
        const double from = lo[i + depth - 1], to = hi[i];
        if (from > to) continue;
        if (pieces && from <= hi[pieces - 1]) {
            hi[pieces - 1] = to;
            continue;
        }
        lo[pieces] = from, hi[pieces] = to;
        pieces++;
    }
    return pieces;
}

size_t cr_cover_line(double *lo, double *hi, size_t count, size_t depth)
{
    cr_order_sort(lo, count);
    cr_order_sort(hi, count);
    return windows(lo, hi, count + 1 - depth, depth);
}

/* The last piece reaches at most to the end of the first one. */
static size_t join_ends(double *lo, double *hi, size_t pieces, double period)
{
    const double first = nextafter(lo[0] + period, -INFINITY);
    if (pieces < 2 || hi[pieces - 1] < first) return pieces;
    hi[pieces - 1] = fmax(hi[pieces - 1], nextafter(hi[0] + period, INFINITY));
    memmove(lo, lo + 1, (pieces - 1) * sizeof *lo);
    memmove(hi, hi + 1, (pieces - 1) * sizeof *hi);
    return pieces - 1;
}

size_t cr_cover_circle(double *lo, double *hi, size_t count, size_t depth, double period)
{
    cr_order_sort(lo, count);
    cr_order_sort(hi, count);
    for (size_t i = 0; i < count; i++) lo[count + i] = nextafter(lo[i] + period, -INFINITY);
    return join_ends(lo, hi, windows(lo, hi, count, depth), period);
}
