#include "statistics/ranks.h"
#include "base/constants.h"
#include "statistics/beta.h"
#include "statistics/normal.h"
#include <math.h>

/* P(Bin(n, Phi(t + shift)) >= n - k + 1) as a function of t: a distribution function whose density
 * has a concave logarithm. So it is convex up to the mode, and concave from there. */
typedef struct tail {
    double above, rank; /* n - k + 1 and k, the parameters of a beta distribution */
    double shift, mode;
} tail;

static double value_at(const tail *f, double t)
{
    const double x = t + f->shift;
    return cr_beta_lower(f->above, f->rank, cr_normal_cdf(x), cr_normal_sf(x));
}

static double density_at(const tail *f, double t)
{
    const double x = t + f->shift, p = cr_normal_cdf(x), q = cr_normal_sf(x);
    if (!(p > 0 && q > 0)) return 0;
    return exp(cr_beta_log_term(f->above, f->rank, p, q)) / (p * q) * cr_normal_pdf(x);
}

/* The derivative of the density's logarithm. */
static double slope_at(const tail *f, double t)
{
    const double x = t + f->shift, pdf = cr_normal_pdf(x);
    return (f->above - 1) * pdf / cr_normal_cdf(x) - (f->rank - 1) * pdf / cr_normal_sf(x) - x;
}

enum { HALVINGS = 60 };

/* Where the slope falls through zero. */
static double mode_of(const tail *f)
{
    double lo = -10 - f->shift, hi = 10 - f->shift;
    for (int i = 0; i < HALVINGS; i++) {
        const double t = 0.5 * (lo + hi);
        if (slope_at(f, t) > 0) lo = t;
        else hi = t;
    }
    return 0.5 * (lo + hi);
}

static tail tail_of(uint64_t samples, uint64_t rank, double shift)
{
    tail f = {.above = (double)(samples - rank) + 1, .rank = (double)rank, .shift = shift};
    f.mode = mode_of(&f);
    return f;
}

/* The t at which it reaches the value. */
static double reaches(const tail *f, double value)
{
    double lo = -38 - f->shift, hi = 38 - f->shift;
    for (int i = 0; i < HALVINGS; i++) {
        const double t = 0.5 * (lo + hi);
        if (value_at(f, t) < value) lo = t;
        else hi = t;
    }
    return 0.5 * (lo + hi);
}

/* ---- the least concave function above the curve (b, a) */
enum { CELLS = 512, MOST_POINTS = 4 * CELLS + 16 };
static const double beyond = 1e-10; /* of the grid */
static const double rounding = 1e-9;

typedef struct hull { /* corners, from left to right */
    double b[MOST_POINTS], a[MOST_POINTS];
    int count;
} hull;

/* Points come with b that does not fall. */
static void hull_add(hull *h, double b, double a)
{
    while (h->count >= 2) {
        const int last = h->count - 1;
        const double run = h->b[last] - h->b[last - 1], rise = h->a[last] - h->a[last - 1];
        if ((a - h->a[last]) * run < rise * (b - h->b[last])) break;
        h->count--;
    }
    while (h->count == 1 && h->b[0] >= b && h->a[0] <= a) h->count--;
    h->b[h->count] = b, h->a[h->count++] = a;
}

typedef struct node { /* a point of the grid */
    double t, value, density;
} node;

static node node_at(const tail *f, double t)
{
    return (node){t, value_at(f, t), density_at(f, t)};
}

static double tangent(const node *n, double t)
{
    return n->value + n->density * (t - n->t);
}

static double chord(const node *l, const node *r, double t)
{
    return l->value + (r->value - l->value) * ((t - l->t) / (r->t - l->t));
}

/* At t in the cell from l to r, which the mode does not divide: not below the tail, */
static double upper(const tail *f, const node *l, const node *r, double t)
{
    if (r->t <= f->mode) return chord(l, r, t);
    return fmin(r->value, fmin(tangent(l, t), tangent(r, t)));
}

/* and not above it. */
static double lower(const tail *f, const node *l, const node *r, double t)
{
    if (l->t >= f->mode) return chord(l, r, t);
    return fmax(l->value, fmax(tangent(l, t), tangent(r, t)));
}

/* Where the tangents meet; the middle where they hardly differ. */
static double meeting(const node *l, const node *r)
{
    const double t =
        (r->value - l->value + l->density * l->t - r->density * r->t) / (l->density - r->density);
    return t > l->t && t < r->t ? t : 0.5 * (l->t + r->t);
}

typedef struct pair { /* a with the smaller chance of a miss to be bounded, b known */
    tail a, b;
} pair;

static void add_cell(hull *h, const pair *f, const node a[2], const node b[2])
{
    double t[2] = {meeting(a, a + 1), meeting(b, b + 1)};
    if (t[0] > t[1]) {
        const double first = t[1];
        t[1] = t[0], t[0] = first;
    }
    double least = b->value; /* the hull's points must not go back by rounding */
    for (int i = 0; i < 2; i++) {
        /* Both polygons are straight between the points that are added, except where a tangent
         * meets an end: there the cut only improves them. */
        least = fmax(least, fmin(lower(&f->b, b, b + 1, t[i]), b[1].value));
        hull_add(h, least, upper(&f->a, a, a + 1, t[i]));
    }
    hull_add(h, b[1].value, a[1].value);
}

static double next_of_grid(const pair *f, double t, double step)
{
    double next = t + step;
    if (t < f->a.mode && f->a.mode < next) next = f->a.mode;
    if (t < f->b.mode && f->b.mode < next) next = f->b.mode;
    return next;
}

/* One step more than the cells reaches the end whatever rounding did; the modes add two. */
static void hull_of(const pair *f, hull *h)
{
    const double first = fmin(reaches(&f->a, beyond), reaches(&f->b, beyond)),
                 last = reaches(&f->b, 1 - beyond), step = (last - first) / CELLS;
    node a[2] = {node_at(&f->a, first)}, b[2] = {node_at(&f->b, first)};
    h->count = 0;
    hull_add(h, 0, a->value);
    if (b->value > 0) hull_add(h, b->value, a->value);
    for (int i = 0; i < CELLS + 3 && a->t < last; i++) {
        const double t = next_of_grid(f, a->t, step);
        a[1] = node_at(&f->a, t), b[1] = node_at(&f->b, t);
        add_cell(h, f, a, b);
        a[0] = a[1], b[0] = b[1];
    }
    hull_add(h, b->value, 1);
    for (int i = 0; i < h->count; i++) h->a[i] += rounding;
}

/* The greatest b up to which the hull, which does not fall, is at most `a`. */
static double hull_reaches(const hull *h, double a)
{
    int i = 0;
    while (i < h->count && h->a[i] <= a) i++;
    if (i == 0) return 0;
    if (i == h->count) return 1;
    const double share = (a - h->a[i - 1]) / (h->a[i] - h->a[i - 1]);
    return h->b[i - 1] + (h->b[i] - h->b[i - 1]) * share;
}

static double hull_at(const hull *h, double b)
{
    int i = 0;
    while (i < h->count && h->b[i] <= b) i++;
    if (i == 0 || i == h->count) return 1;
    const double share = (b - h->b[i - 1]) / (h->b[i] - h->b[i - 1]);
    return h->a[i - 1] + (h->a[i] - h->a[i - 1]) * share;
}

/* Noisy split conformal prediction: both tails are one function, so that nothing is rounded. */
static int is_split(const cr_ranks_setting *s, uint64_t sample)
{
    return !(s->shift > 0) && s->samples == s->calibration && sample == s->calibration_rank;
}

static void hull_for(const cr_ranks_setting *s, uint64_t sample, hull *h)
{
    if (is_split(s, sample)) {
        *h = (hull){.b = {0, 1}, .a = {0, 1}, .count = 2};
        return;
    }
    const pair f = {.a = tail_of(s->samples, sample, s->shift),
                    .b = tail_of(s->calibration, s->calibration_rank, 0)};
    hull_of(&f, h);
}

/* ---- ranks. A hull takes 32 KiB of the stack, so that all of a call share one. */
static double misses(const cr_ranks_setting *s, uint64_t point, uint64_t sample, hull *h)
{
    const double points = (double)s->points + 1;
    hull_for(s, sample, h);
    return fmin(1, hull_at(h, (points - (double)point) / points));
}

double cr_ranks_misses(const cr_ranks_setting *s, uint64_t point, uint64_t sample)
{
    hull h;
    return misses(s, point, sample, &h);
}

/* The share of the calibration's scores that may lie above the threshold. It falls as `sample`
 * grows. */
static double may_exceed(const cr_ranks_setting *s, uint64_t sample, hull *h)
{
    hull_for(s, sample, h);
    return hull_reaches(h, s->alpha);
}

/* The greatest rank of a sample, at least `from`, with which so many may exceed; `from` has it. */
static uint64_t greatest_sample(const cr_ranks_setting *s, uint64_t from, double exceed, hull *h)
{
    uint64_t has = from, lacks = s->samples + 1;
    while (lacks - has > 1) {
        const uint64_t middle = has + (lacks - has) / 2;
        if (may_exceed(s, middle, h) >= exceed) has = middle;
        else lacks = middle;
    }
    return has;
}

/* How many of the points + 1 scores may lie above the threshold. */
static double number_above(const cr_ranks_setting *s, uint64_t sample, hull *h)
{
    const double points = (double)s->points + 1;
    hull_for(s, sample, h);
    double above = floor(hull_reaches(h, s->alpha) * points);
    while (above > 0 && hull_at(h, above / points) > s->alpha) above--;
    return above;
}

/* Half the length of an interval if residuals are standard normal and the noise moves outputs by
 * half as much: it decides between ranks, and nothing else. */
static double typical_length(const cr_ranks_setting *s, uint64_t sample, hull *h)
{
    static const double spread = 0.5;
    const double share = ((double)sample - 0.5) / (double)s->samples;
    return cr_normal_quantile_sf(0.5 * number_above(s, sample, h) / ((double)s->points + 1)) +
           spread * cr_normal_quantile_sf(share);
}

static uint64_t shortest(const cr_ranks_setting *s, uint64_t first, uint64_t last, hull *h)
{
    while (last - first > 2) {
        const uint64_t third = (last - first) / 3, l = first + third, r = last - third;
        if (typical_length(s, l, h) <= typical_length(s, r, h)) last = r;
        else first = l;
    }
    uint64_t best = first;
    double least = INFINITY;
    for (uint64_t k = first; k <= last; k++) {
        const double length = typical_length(s, k, h);
        if (length < least) least = length, best = k;
    }
    return best;
}

static const double most_points = 1e15; /* nobody has more */

/* The rank that needs the fewest points. A radius of 0 keeps that of the calibration, where it
 * can. */
static uint64_t easiest_sample(const cr_ranks_setting *s)
{
    return is_split(s, s->calibration_rank) ? s->calibration_rank : 1;
}

static uint64_t least_points(const cr_ranks_setting *s, hull *h)
{
    const double exceed = may_exceed(s, easiest_sample(s), h);
    return exceed * most_points > 1 ? (uint64_t)ceil(1 / exceed) - 1 : 0;
}

uint64_t cr_ranks_least_points(const cr_ranks_setting *s)
{
    hull h;
    return least_points(s, &h);
}

cr_ranks cr_ranks_choose(const cr_ranks_setting *s)
{
    const double points = (double)s->points + 1;
    const uint64_t easiest = easiest_sample(s);
    const int split = is_split(s, easiest);
    hull h;
    cr_ranks ranks = {.alpha = 1, .least_points = least_points(s, &h)};
    if (!(number_above(s, easiest, &h) > 0)) return ranks;
    uint64_t k = split ? easiest : shortest(s, 1, greatest_sample(s, 1, 1 / points, &h), &h);
    if (!(number_above(s, k, &h) > 0)) k = easiest;
    const double above = number_above(s, k, &h);
    ranks.point = (uint64_t)(points - above);
    ranks.sample = split ? k : greatest_sample(s, k, above / points, &h);
    ranks.alpha = misses(s, ranks.point, ranks.sample, &h);
    return ranks;
}
