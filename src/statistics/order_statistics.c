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
        const double max_value = values[0];
        values[0] = values[last];
        values[last] = max_value;
        sift(values, 0, last);
    }
}

/* ---- selection */
enum { SMALL_COUNT = 128 };

/* Returns 1 if the bits of the value's key from `shift` on equal the prefix; 0 for NaN. */
static int has_prefix(double value, uint64_t prefix, int shift)
{
    return !isnan(value) && (shift == 64 || (key_of(value) ^ prefix) >> shift == 0);
}

/* Selects among a small number of values that have these bits. */
static double select_small(const cr_indexed_values *values, uint64_t prefix, int shift, size_t rank)
{
    double candidates[SMALL_COUNT];
    size_t count = 0;
    for (size_t i = 0;
         i < values->count && count < SMALL_COUNT && !cr_deadline_ends(values->deadline, i); i++) {
        candidates[count] = values->value(values->context, i) + 0.0; /* -0 counts as 0 */
        if (has_prefix(candidates[count], prefix, shift)) count++;
    }
    if (rank >= count) return NAN;
    make_heap(candidates, count);
    while (count - 1 > rank) {
        candidates[0] = candidates[--count];
        sift(candidates, 0, count);
    }
    return candidates[0];
}

/* Radix selection: byte by byte from the top, counts the values that have the bytes found so far
 * and steps into the right bucket, until few values are left. */
double cr_order_select(const cr_indexed_values *values, size_t rank)
{
    uint64_t prefix = 0;
    size_t remaining = values->count;
    int shift = 64;
    while (remaining > SMALL_COUNT && shift > 0) {
        size_t bucket[256] = {0}, byte = 0;
        for (size_t i = 0; i < values->count && !cr_deadline_ends(values->deadline, i); i++) {
            const double value = values->value(values->context, i) + 0.0;
            if (has_prefix(value, prefix, shift)) bucket[key_of(value) >> (shift - 8) & 255]++;
        }
        for (; byte < 256 && rank >= bucket[byte]; byte++) rank -= bucket[byte];
        if (byte == 256) return NAN;
        shift -= 8;
        remaining = bucket[byte];
        prefix |= (uint64_t)byte << shift;
    }
    return remaining > SMALL_COUNT ? value_of(prefix) : select_small(values, prefix, shift, rank);
}

/* Radix selection from above, with weights in place of counts. */
double cr_order_weighted_threshold(const cr_indexed_values *values,
                                   double (*weight)(const void *of, size_t i), double budget)
{
    uint64_t prefix = 0;
    double above = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        double bucket[256] = {0};
        int byte = 255;
        for (size_t i = 0; i < values->count; i++) {
            const uint64_t key = key_of(values->value(values->context, i) + 0.0);
            if (shift == 56 || (key ^ prefix) >> (shift + 8) == 0)
                bucket[key >> shift & 255] += weight(values->context, i);
        }
        for (; byte > 0 && above + bucket[byte] <= budget; byte--) above += bucket[byte];
        prefix |= (uint64_t)byte << shift;
    }
    return value_of(prefix);
}
