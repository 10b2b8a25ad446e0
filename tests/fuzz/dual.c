/* The number that a bound is made of, at any multipliers: it is not below the dual, of which the
 * fuzzer knows the value in closed form, region by region of the function y* (theory 3.1). A search
 * needs hundreds of these, and goes where the number is least; here all of them are looked at. */
#include "fuzz/fuzz.h"
#include "solver/proof.h"
#include "support/known.h"

const size_t fuzz_most_bytes = 64;

void fuzz_prepare(void)
{
}

/* v(t) = ratio * exp(rt - r^2/2) + constant + slope t */
typedef struct curve {
    long double r, ratio, constant, slope;
} curve;

static curve curve_of(const cr_problem *p, const cr_multipliers *at)
{
    const long double r = p->ratio.r, T = p->ratio.norm;
    return (curve){.r = r,
                   .ratio = 1 / T,
                   .constant = -1 / T - at->nu,
                   .slope = p->ratio.order > 0 ? -r / T - at->a : 0};
}

static long double curve_at(const curve *c, long double t)
{
    return c->ratio * expl(c->r * (t - c->r / 2)) + c->constant + t * c->slope;
}

static long double curve_slope(const curve *c, long double t)
{
    return c->ratio * c->r * expl(c->r * (t - c->r / 2)) + c->slope;
}

typedef long double function(const curve *, long double);

/* Where f, which falls or rises from one place to the other, passes the level; the end on the side
 * of `from`. Where it does not: the place that is next to it. */
static long double crossing(const curve *c, function *f, long double level, long double from,
                            long double to)
{
    const int falls = f(c, from) > f(c, to);
    if ((f(c, from) > level) != falls) return from;
    if ((f(c, to) > level) == falls) return to;
    for (int i = 0; i < 56; i++) {
        const long double middle = (from + to) / 2;
        if ((f(c, middle) > level) == falls) from = middle;
        else to = middle;
    }
    return from;
}

/* ---- expectations over a part of the line */
static void moments(long double from, long double to, long double center, int most, known *m)
{
    const known s = {center, 0}, below = known_density(from - center),
                above = known_density(to - center);
    long double a = 1, b = 1;
    m[0] = known_mass(from - center, to - center);
    for (int j = 1; j <= most; j++) {
        known x = known_sum(known_product(s, m[j - 1]),
                            known_sum(known_product((known){a, 0x1p-61L * fabsl(a)}, below),
                                      known_product((known){-b, 0x1p-61L * fabsl(b)}, above)));
        if (j > 1) x = known_sum(x, known_product((known){j - 1, 0}, m[j - 2]));
        m[j] = x;
        a = isinf(from) ? 0 : a * from, b = isinf(to) ? 0 : b * to;
    }
}

static known times(long double x, known y)
{
    return known_product((known){x, 0x1p-60L * fabsl(x)}, y);
}

static known mean_of(const curve *c, long double from, long double to)
{
    known here[2], there[1];
    moments(from, to, 0, 1, here), moments(from, to, c->r, 0, there);
    return known_sum(known_sum(times(c->ratio, there[0]), times(c->constant, here[0])),
                     times(c->slope, here[1]));
}

static known square_of(const curve *c, long double from, long double to)
{
    const long double power[] = {c->constant, c->slope};
    known here[3], there[2], far[1];
    moments(from, to, 0, 2, here), moments(from, to, c->r, 1, there);
    moments(from, to, 2 * c->r, 0, far);
    known sum = times(c->ratio * c->ratio * expl(c->r * c->r), far[0]);
    for (int i = 0; i < 2; i++) {
        sum = known_sum(sum, times(2 * c->ratio * power[i], there[i]));
        for (int j = 0; j < 2; j++) sum = known_sum(sum, times(power[i] * power[j], here[i + j]));
    }
    return sum;
}

/* E max (y v - lambda y^2) over a part in which y* is of one form. */
static known part(const cr_problem *p, const curve *c, long double lambda, long double from,
                  long double to)
{
    const long double middle = isinf(from) && isinf(to) ? 0
                               : isinf(from)            ? to - 1
                               : isinf(to)              ? from + 1
                                                        : (from + to) / 2,
                      v = curve_at(c, middle);
    const int high = v > 2 * lambda * p->B, low = v < 2 * lambda * p->b;
    if (lambda > 0 && !high && !low) return times(1 / (4 * lambda), square_of(c, from, to));
    const long double y = high ? p->B : p->b;
    return known_sum(times(y, mean_of(c, from, to)), times(-lambda * y * y, known_mass(from, to)));
}

static known greatest(const cr_problem *p, const curve *c, long double lambda)
{
    const long double left = -45, right = 45 + 2 * c->r;
    const long double turn[] = {left, crossing(c, curve_slope, 0, left, right), right};
    long double from = -INFINITY;
    known sum = {0, 0};
    for (int i = 0; i < 2; i++) { /* where v rises or falls all the way, and passes both levels */
        const int falls = curve_at(c, turn[i]) > curve_at(c, turn[i + 1]);
        for (int k = 0; k < 3; k++) {
            const long double level = 2 * lambda * ((k == 0) == falls ? p->B : p->b);
            const long double to =
                k == 2 ? (i == 1 ? INFINITY : turn[i + 1])
                       : crossing(c, curve_at, level, fmaxl(from, turn[i]), turn[i + 1]);
            if (to > from) sum = known_sum(sum, part(p, c, lambda, from, to)), from = to;
        }
    }
    return sum;
}

static known dual(const cr_problem *p, double low, double high, const cr_multipliers *at)
{
    const curve v = curve_of(p, at);
    const long double r = p->ratio.r, T = p->ratio.norm;
    known all = times(T, greatest(p, &v, at->lambda));
    if (at->lambda > 0) all = known_sum(all, times(T * at->lambda * p->variance, (known){1, 0}));
    if (p->ratio.order == 0) return all;
    const long double other = T * at->a, surplus = r + other, c = surplus > 0 ? high : low;
    return known_sum(all, (known){surplus * c, 0x1p-60L * (r + fabsl(other)) * fabsl(c)});
}

/* ---- from bytes */
static double any(fuzz_bytes *b)
{
    const uint8_t kind = fuzz_byte(b);
    const double x = 2 * fuzz_share(b) - 1;
    return kind < 16 ? 0 : kind < 192 ? 3 * x : ldexp(x, (kind - 224) / 2);
}

static double positive(fuzz_bytes *b)
{
    return exp2((fuzz_share(b) - 0.5) * 24);
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    fuzz_bytes b = {bytes, size};
    const uint8_t kind = fuzz_byte(&b);
    const double r = kind & 4 ? 0.05 + 3 * fuzz_share(&b) : 13 * fuzz_share(&b) + 1e-3;
    cr_effort effort = {.most = 100};
    cr_problem p = {.ratio = cr_ratio_make(kind % 2, r), .effort = &effort};
    p.b = -positive(&b), p.B = positive(&b), p.variance = positive(&b);
    cr_multipliers at = {.lambda = kind & 8 ? 0 : positive(&b), .nu = any(&b)};
    if (!(kind & 8) && kind & 16) p.b = -INFINITY;
    if (!(kind & 8) && kind & 32) p.B = INFINITY;
    at.a = any(&b);
    const double high = fabs(any(&b)), low = high * fuzz_share(&b);
    if (kind & 64) at.a -= r / p.ratio.norm;
    cr_regions regions = {.width = 0};
    cr_proof proof;
    for (int i = 0; i < CR_EDGES; i++) /* where a search might have ended before */
        regions.edge[i] = kind & 128 ? any(&b) : 0;
    cr_proof_make(&p, low, high, &at, &regions, &proof);
    if (proof.doubtful) return;
    const known want = dual(&p, low, high, &at);
    MUST(proof.value >= want.value - want.error, "%.21Lg +- %Lg, bound %.17g, r %g", want.value,
         want.error, proof.value, r);
    MUST(proof.value - proof.slack <=
             want.value + want.error + 1e-6 * (double)fabsl(want.value) + 2 * proof.slack,
         "%.21Lg +- %Lg, loose bound %.17g, slack %g, r %g", want.value, want.error, proof.value,
         proof.slack, r);
}
