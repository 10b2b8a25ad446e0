/* Order statistics without memory: selection by radix in passes over values that stay in place, by
 * rank or by weight, and a heap sort, because qsort may allocate. */
#include "statistics/order_statistics.h"
#include "base/bytes.h"
#include <math.h>
#include <stdint.h>

/* Unsigned integers in the order of the doubles. */
static uint64_t key_of(double value)
{
    const uint64_t bits = cr_bits_of_double(value);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t key)
{
    return cr_double_of_bits(key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key);
}

/* ---- heap sort */
static void sift(double *values, size_t parent, size_t count)
{
    const double value = values[parent];
    for (size_t child; (child = 2 * parent + 1) < count; parent = child) {
        if (child + 1 < count && values[child + 1] > values[child]) child++;
        if (!(values[child] > value)) break;
        values[parent] = values[child];
    }
    values[parent] = value;
}

static void make_heap(double *values, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) sift(values, i, count);
}

void cr_order_sort(double *values, size_t count)
{
    make_heap(values, count);
    for (size_t last = count; last-- > 1;) {
        const double greatest = values[0];
        values[0] = values[last];
        values[last] = greatest;
        sift(values, 0, last);
    }
}

/* ---- selection */
enum { FEW = 128 };

/* Returns 1 if the bits of the value's key from `shift` on equal the prefix; 0 for NaN. */
static int shares(double value, uint64_t prefix, int shift)
{
    return !isnan(value) && (shift == 64 || (key_of(value) ^ prefix) >> shift == 0);
}

/* Selects among the few values that share these bits. */
static double select_few(const cr_order *order, uint64_t prefix, int shift, size_t rank)
{
    double few[FEW];
    size_t count = 0;
    for (size_t i = 0; i < order->count && count < FEW && !cr_deadline_ends(order->watch, i); i++) {
        few[count] = order->value(order->of, i) + 0.0; /* -0 counts as 0 */
        if (shares(few[count], prefix, shift)) count++;
    }
    if (rank >= count) return NAN;
    make_heap(few, count);
    while (count - 1 > rank) {
        few[0] = few[--count];
        sift(few, 0, count);
    }
    return few[0];
}

/* Radix selection: byte by byte from the top, counts the values that share the bytes found so far
 * and steps into the right bucket, until few values are left. */
double cr_order_select(const cr_order *order, size_t rank)
{
    uint64_t prefix = 0;
    size_t left = order->count;
    int shift = 64;
    while (left > FEW && shift > 0) {
        size_t bucket[256] = {0}, byte = 0;
        for (size_t i = 0; i < order->count && !cr_deadline_ends(order->watch, i); i++) {
            const double value = order->value(order->of, i) + 0.0;
            if (shares(value, prefix, shift)) bucket[key_of(value) >> (shift - 8) & 255]++;
        }
        for (; byte < 256 && rank >= bucket[byte]; byte++) rank -= bucket[byte];
        if (byte == 256) return NAN;
        shift -= 8;
        left = bucket[byte];
        prefix |= (uint64_t)byte << shift;
    }
    return left > FEW ? value_of(prefix) : select_few(order, prefix, shift, rank);
}

/* Radix selection from above, with weights in place of counts. */
double cr_order_weighted_threshold(const cr_order *order,
                                   double (*weight)(const void *of, size_t i), double budget)
{
    uint64_t prefix = 0;
    double above = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        double bucket[256] = {0};
        int byte = 255;
        for (size_t i = 0; i < order->count; i++) {
            const uint64_t key = key_of(order->value(order->of, i) + 0.0);
            if (shift == 56 || (key ^ prefix) >> (shift + 8) == 0)
                bucket[key >> shift & 255] += weight(order->of, i);
        }
        for (; byte > 0 && above + bucket[byte] <= budget; byte--) above += bucket[byte];
        prefix |= (uint64_t)byte << shift;
    }
    return value_of(prefix);
}
