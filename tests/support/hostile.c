#include "support/hostile.h"
#include <float.h>
#include <math.h>

enum { MOST_STEPS = 5 };

typedef struct steps {
    int count;
    long double edge[MOST_STEPS + 1], value[MOST_STEPS]; /* value[i] from edge[i] to edge[i + 1] */
} steps;

typedef struct sums {
    long double mean, square, first, second, shifted;
} sums;

static long double mass(long double from, long double to)
{
    const long double root = sqrtl(0.5L);
    return from > 0 ? 0.5L * (erfcl(from * root) - erfcl(to * root))
                    : 0.5L * (erfcl(-to * root) - erfcl(-from * root));
}

static long double density(long double t)
{
    return isinf(t) ? 0 : expl(-0.5L * t * t) / sqrtl(8 * atanl(1));
}

static long double times(long double t)
{
    return isinf(t) ? 0 : t * density(t);
}

static int most_common(const steps *f)
{
    int best = 0;
    for (int i = 1; i < f->count; i++)
        if (mass(f->edge[i], f->edge[i + 1]) > mass(f->edge[best], f->edge[best + 1])) best = i;
    return best;
}

/* About the most common value, so that what is rare loses no digits. */
static sums sums_of(const steps *f, long double about, long double r)
{
    sums s = {0, 0, 0, 0, 0};
    for (int i = 0; i < f->count; i++) {
        const long double a = f->edge[i], b = f->edge[i + 1], y = f->value[i] - about,
                          p = mass(a, b);
        s.mean += y * p, s.square += y * y * p, s.first += y * (density(a) - density(b));
        s.second += y * (times(a) - times(b)) * sqrtl(0.5L);
        s.shifted += y * (mass(a - r, b - r) - p);
    }
    return s;
}

static double wide(dice *d, double decades)
{
    return pow(10, dice_between(d, -decades, 0));
}

static steps random_steps(dice *d)
{
    steps f = {.count = 2 + (int)dice_between(d, 0, MOST_STEPS - 1.0001), .edge = {-INFINITY}};
    const double center = dice_between(d, 0, 1) < 0.5 ? dice_between(d, -3, 3)
                                                      : dice_between(d, -9, 9),
                 spread = 4 * wide(d, 4);
    for (int i = 1; i < f.count; i++) {
        f.edge[i] = center + spread * dice_between(d, -1, 1);
        for (int j = i; j > 1 && f.edge[j] < f.edge[j - 1]; j--) {
            const long double other = f.edge[j];
            f.edge[j] = f.edge[j - 1], f.edge[j - 1] = other;
        }
    }
    f.edge[f.count] = INFINITY;
    const int two = dice_between(d, 0, 1) < 0.3;
    for (int i = 0; i < f.count; i++)
        f.value[i] = two ? i % 2 : dice_between(d, -1, 1) * wide(d, 3);
    return f;
}

static double down(long double x)
{
    return nextafter((double)(x - fabsl(x) * 0x1p-58L), -INFINITY);
}

static double up(long double x)
{
    return nextafter((double)(x + fabsl(x) * 0x1p-58L), INFINITY);
}

/* How much a bound is widened, as a share: often not at all, else by any order of magnitude. */
static double slack(dice *d)
{
    return dice_between(d, 0, 1) < 0.5 ? 0 : wide(d, 13);
}

static void set_range(dice *d, const steps *f, long double span, certreg_bounds *b)
{
    long double lo = f->value[0], hi = f->value[0];
    for (int i = 1; i < f->count; i++) lo = fminl(lo, f->value[i]), hi = fmaxl(hi, f->value[i]);
    b->range_lo = down(lo - span * slack(d)), b->range_hi = up(hi + span * slack(d));
    const double open = dice_between(d, 0, 1);
    if (open > 0.9) b->range_hi = INFINITY;
    else if (open > 0.8) b->range_lo = -INFINITY;
}

hostile random_hostile(dice *d)
{
    const steps f = random_steps(d);
    hostile h = {.r = exp(dice_between(d, 0, 1) < 0.7 ? dice_between(d, log(1e-3), log(5))
                                                      : dice_between(d, log(1e-6), log(20)))};
    const long double common = f.value[most_common(&f)];
    const sums s = sums_of(&f, common, h.r);
    certreg_bounds *b = &h.bounds;
    *b = (certreg_bounds){.struct_size = sizeof *b, .sigma = 1};
    const long double mean = common + s.mean, variance = s.square - s.mean * s.mean;
    long double span = 0;
    for (int i = 0; i < f.count; i++) span = fmaxl(span, fabsl(f.value[i] - mean));
    set_range(d, &f, span, b);
    b->mean_lo = down(mean - fminl(span, sqrtl(variance) + fabsl(s.mean)) * slack(d));
    b->mean_hi = up(mean + fminl(span, sqrtl(variance) + fabsl(s.mean)) * slack(d));
    b->variance_hi = up(variance * (1 + slack(d)));
    b->gradient_lo = fmax(0, down(fabsl(s.first) * (1 - slack(d))));
    b->gradient_hi =
        up(fabsl(s.first) + (dice_between(d, 0, 1) < 0.3 ? 1 : 0) * sqrtl(variance) * slack(d));
    b->second_order_hi = up(fabsl(s.second) + sqrtl(variance) * slack(d));
    b->moment_center = (double)(mean + sqrtl(variance) * dice_between(d, -2, 2) * slack(d));
    b->moment_hi =
        up((variance + (mean - b->moment_center) * (mean - b->moment_center)) * (1 + slack(d)));
    h.rise = s.shifted;
    h.tolerance =
        (double)((fabsl(s.shifted) + 1e-3L * sqrtl(variance)) * pow(10, dice_between(d, -1, 0.5)));
    return h;
}
