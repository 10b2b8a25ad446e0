/* An order of many numbers without memory of its own: heap sort, in certificates that the call
 * writes later. */
#include "certify/certify.h"

static uint64_t *place(const cr_order *o, size_t i)
{
    return &((certreg_certificate *)((unsigned char *)o->out + i * o->size))->samples;
}

size_t cr_order_at(const cr_order *o, size_t at)
{
    return (size_t)*place(o, at);
}

static int is_before(const cr_order *o, size_t i, size_t j)
{
    const size_t a = cr_order_at(o, i), b = cr_order_at(o, j);
    const double x = o->key(o->items, a), y = o->key(o->items, b);
    return x < y || (x == y && a < b);
}

static void swap(const cr_order *o, size_t i, size_t j)
{
    const uint64_t kept = *place(o, i);
    *place(o, i) = *place(o, j);
    *place(o, j) = kept;
}

static void sift_down(const cr_order *o, size_t root, size_t count)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && is_before(o, child, child + 1)) child++;
        if (!is_before(o, root, child)) return;
        swap(o, root, child);
    }
}

void cr_order_make(const cr_order *o, size_t count)
{
    for (size_t i = 0; i < count; i++) *place(o, i) = i;
    for (size_t i = count / 2; i-- > 0;) sift_down(o, i, count);
    for (size_t last = count; last-- > 1;) {
        swap(o, 0, last);
        sift_down(o, 0, last);
    }
}
