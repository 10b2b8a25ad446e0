/* The whole law of a score (theory 6.9): slopes of H from the pilot's scores, and the bound after a
 * shift that follows from the mean of H. bounds/finite_sample.c bounds the mean of H by betting,
 * and certify/bound_selection.c decides which conditions use a law. */
#include "statistics/distribution_bound.h"
#include "statistics/normal.h"
#include <math.h>

/* Number of unseen scores that are counted below all scores of the pilot. Without them H would be
 * so steep there that one low score would cost more than all other scores bring. */
static const double unseen = 1;
static const size_t fewest = 16;
enum { PARTS = 8 };

/* ---- cells */
static double begin_of(const cr_distribution_bound *law, int cell)
{
    return cell ? law->from + (cell - 1) * law->width : law->least;
}

static double width_of(const cr_distribution_bound *law, int cell)
{
    return cell ? law->width : law->from - law->least;
}

static int cell_of(const cr_distribution_bound *law, double u)
{
    const double cell = 1 + (u - law->from) / law->width;
    return !(cell >= 1) ? 0 : cell < CR_LAW_CELLS ? (int)cell : CR_LAW_CELLS - 1;
}

int cr_distribution_bound_count(cr_score_histogram *c, const cr_samples *s, double least)
{
    double from = INFINITY, to = -INFINITY;
    for (size_t i = 0; cr_samples_has(s, i); i++) {
        const double u = cr_samples_at(s, i);
        from = fmin(from, u);
        to = fmax(to, u);
    }
    *c = (cr_score_histogram){
        .least = least, .from = from, .width = (to - from) / (CR_LAW_CELLS - 1)};
    if (s->count < fewest || !(from >= least && c->width > 0 && isfinite(to - least))) return 0;
    const cr_distribution_bound law = {.least = least, .from = from, .width = c->width};
    for (size_t i = 0; cr_samples_has(s, i); i++) {
        const double u = cr_samples_at(s, i);
        const int k = cell_of(&law, u);
        c->count[i % CR_LAW_PARTS][k] += 1;
        c->into[i % CR_LAW_PARTS][k] += u - begin_of(&law, k);
    }
    return 1;
}

/* ---- H */
static double at(const cr_distribution_bound *law, int cell, double u)
{
    const double into = u - begin_of(law, cell), width = width_of(law, cell);
    return law->height[cell] + law->slope[cell] * (into < width ? into : width) -
           (law->moves ? u : 0);
}

double cr_distribution_bound_value(const cr_distribution_bound *law, double u)
{
    return at(law, cell_of(law, u), u);
}

/* H is linear between the ends of cells and beyond the last, so its extremes are there. */
void cr_distribution_bound_range(const cr_distribution_bound *law, cr_betting_problem *bet)
{
    double lo = at(law, CR_LAW_CELLS - 1, law->greatest), hi = lo;
    for (int k = 0; k <= CR_LAW_CELLS; k++) {
        const double value = law->height[k] - (law->moves ? begin_of(law, k) : 0);
        lo = fmin(lo, value);
        hi = fmax(hi, value);
    }
    const double spare = law->moves ? 0x1p-40 * (hi - lo) : 0;
    bet->lo = lo - spare;
    bet->hi = hi + spare;
}

/* Derivative of the least probability after the shift with respect to the probability before it. */
static double slope_of(double share, double r)
{
    return share > 0 ? exp(r * cr_normal_quantile(share) - 0.5 * r * r) : 0;
}

/* Sets each slope by the fraction of the scores above a point, on average over the points of the
 * cell. */
static void set_slopes(cr_distribution_bound *law, const double count[CR_LAW_CELLS],
                       const double into[CR_LAW_CELLS], double all, double r)
{
    double above = all, last = -1;
    for (int k = 0; k < CR_LAW_CELLS; k++) {
        const double width = width_of(law, k);
        above -= count[k];
        const double number = fmin(above + (width > 0 ? into[k] / width : 0), all - unseen);
        law->slope[k] = number == last ? law->slope[k - 1] : slope_of(number / all, r);
        law->height[k + 1] = law->height[k] + law->slope[k] * width;
        last = number;
    }
}

void cr_distribution_bound_fit(cr_distribution_bound *law, const cr_score_histogram *c, size_t part,
                               double r)
{
    double count[CR_LAW_CELLS] = {0}, into[CR_LAW_CELLS] = {0}, all = 0;
    for (size_t p = 0; p < CR_LAW_PARTS; p++)
        for (int k = 0; p != part && k < CR_LAW_CELLS; k++) {
            count[k] += c->count[p][k];
            into[k] += c->into[p][k];
            all += c->count[p][k];
        }
    *law = (cr_distribution_bound){.least = c->least,
                                   .from = c->from,
                                   .width = c->width,
                                   .greatest = law->greatest,
                                   .moves = law->moves};
    set_slopes(law, count, into, all, r);
}

/* Takes the square of the mean in each cell for the mean square. */
void cr_distribution_bound_expect(const cr_distribution_bound *law, const cr_score_histogram *c,
                                  size_t part, cr_betting_problem *bet)
{
    cr_running_moments *seen = &bet->pilot;
    for (size_t p = 0; p < CR_LAW_PARTS; p++)
        for (int k = 0; (p == part || part >= CR_LAW_PARTS) && k < CR_LAW_CELLS; k++) {
            const double n = c->count[p][k];
            if (!(n > 0)) continue;
            const double u = begin_of(law, k) + c->into[p][k] / n,
                         y = (at(law, k, u) - bet->lo) / (bet->hi - bet->lo);
            *seen =
                (cr_running_moments){seen->count + n, seen->sum + n * y, seen->square + n * y * y};
        }
}

/* ---- the bound */
/* G of theory 6.9: inf over p of g(p) - slope p, with g(p) the least probability after the
 * shift. */
static double conjugate(double slope, double r)
{
    if (!(slope > 0)) return 0;
    if (!(r > 0)) return fmin(0, 1 - slope);
    const double q = log(slope) / r + 0.5 * r;
    return cr_normal_cdf(q - r) - slope * cr_normal_cdf(q);
}

/* Bound from a part of H; for moves, from this part of H and the remaining part of u itself, with
 * slope 1, which goes on from the last cell to the greatest value. The margin is more than the
 * rounding of H, of the sum, and of its terms. */
static double shifted_by(const cr_distribution_bound *law, double part, double mean, double r)
{
    const double own = law->moves ? 1 - part : 0, to = law->from + (CR_LAW_CELLS - 1) * law->width;
    double sum = law->moves ? part * (law->least + mean) : law->least + part * mean,
           size = fabs(law->least) + fabs(mean), last = 0;
    for (int k = 0; k < CR_LAW_CELLS; k++) {
        const double slope = law->slope[k], width = width_of(law, k),
                     end = fabs(begin_of(law, k)) + width;
        if (k == 0 || slope != law->slope[k - 1]) last = conjugate(own + part * slope, r);
        sum += last * width;
        size += (1 + slope) * end;
    }
    if (own > 0) {
        sum += conjugate(own, r) * fmax(0, law->greatest - to);
        size += 2 * fabs(law->greatest);
    }
    return sum - 0x1p-44 * size;
}

/* Greatest bound over parts 1/8 .. 1 of H: the bound of E H bounds the mean of every part. G is
 * concave in the slope, so the bound is concave in the part. */
double cr_distribution_bound_shifted(const cr_distribution_bound *law, double mean, double r)
{
    double best = shifted_by(law, 1, mean, r);
    for (int k = PARTS - 1; k > 0; k--) {
        const double here = shifted_by(law, k / (double)PARTS, mean, r);
        if (!(here > best)) break;
        best = here;
    }
    return best;
}

/* False position. After each step the value at the end that stays is halved, so that both ends
 * move. */
double cr_distribution_bound_radius(const cr_distribution_bound *law, double mean, double threshold,
                                    double cap)
{
    double low = 0, high = cap, above = cr_distribution_bound_shifted(law, mean, 0) - threshold,
           below = cr_distribution_bound_shifted(law, mean, cap) - threshold;
    if (!(above > 0)) return 0;
    if (below > 0) return cap;
    for (int i = 0; i < 60 && high - low > 1e-9 * high; i++) {
        const double part = fmin(fmax(above / (above - below), 1e-6), 1 - 1e-6),
                     r = low + part * (high - low),
                     here = cr_distribution_bound_shifted(law, mean, r) - threshold;
        if (here > 0) {
            low = r;
            above = here;
            below *= 0.5;
        } else {
            high = r;
            below = here;
            above *= 0.5;
        }
    }
    return low;
}
