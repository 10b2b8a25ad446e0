/* Numbers drawn from a seed, so that a failure can be repeated. */
#ifndef CR_TESTS_PROBLEMS_H
#define CR_TESTS_PROBLEMS_H
#include <stdint.h>

typedef struct dice {
    uint64_t state;
} dice;

/* In (0, 1). */
static inline double dice_share(dice *d)
{
    d->state += 0x9e3779b97f4a7c15u;
    uint64_t x = d->state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return ((double)((x ^ (x >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static inline dice dice_of(uint64_t seed)
{
    dice d = {seed * 0xd1342543de82ef95u + 1};
    dice_share(&d);
    return d;
}

static inline double dice_between(dice *d, double low, double high)
{
    return low + (high - low) * dice_share(d);
}

#endif
