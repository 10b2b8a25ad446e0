/* The whole distribution of a score (theory 6.9): slopes of H from the pilot's scores, and the
 * bound after a shift that follows from the mean of H. bounds/mean_bounds.c bounds the mean of H
 * by betting, and certify/evaluate.c decides which conditions use H. */
#include "statistics/distribution_bound.h"
#include "statistics/normal.h"
#include <math.h>

/* Scores that are added below all scores of the pilot. Without them H would be so steep there that
 * one low score would cost more than all other scores bring. */
static const double unseen_count = 1;
static const size_t min_samples = 16;
enum { FRACTIONS = 8 };

/* ---- cells */
static double cell_start(const cr_distribution_bound *bound, int cell)
{
    return cell ? bound->min_score + (cell - 1) * bound->cell_width : bound->min_value;
}

static double width_of_cell(const cr_distribution_bound *bound, int cell)
{
    return cell ? bound->cell_width : bound->min_score - bound->min_value;
}

static int cell_of(const cr_distribution_bound *bound, double u)
{
    const double cell = 1 + (u - bound->min_score) / bound->cell_width;
    return !(cell >= 1) ? 0 : cell < CR_HISTOGRAM_CELLS ? (int)cell : CR_HISTOGRAM_CELLS - 1;
}

int cr_score_histogram_make(cr_score_histogram *histogram, const cr_samples *samples,
                            double min_value)
{
    double min_score = INFINITY, max_score = -INFINITY;
    for (size_t i = 0; cr_samples_has(samples, i); i++) {
        const double u = cr_samples_at(samples, i);
        min_score = fmin(min_score, u);
        max_score = fmax(max_score, u);
    }
    *histogram =
        (cr_score_histogram){.min_value = min_value,
                             .min_score = min_score,
                             .cell_width = (max_score - min_score) / (CR_HISTOGRAM_CELLS - 1)};
    if (samples->count < min_samples ||
        !(min_score >= min_value && histogram->cell_width > 0 && isfinite(max_score - min_value)))
        return 0;
    const cr_distribution_bound bound = {
        .min_value = min_value, .min_score = min_score, .cell_width = histogram->cell_width};
    for (size_t i = 0; cr_samples_has(samples, i); i++) {
        const double u = cr_samples_at(samples, i);
        const int cell = cell_of(&bound, u);
        histogram->count[i % CR_HISTOGRAM_FOLDS][cell] += 1;
        histogram->offset_sum[i % CR_HISTOGRAM_FOLDS][cell] += u - cell_start(&bound, cell);
    }
    return 1;
}

/* ---- H */
static double value_in_cell(const cr_distribution_bound *bound, int cell, double u)
{
    const double offset = u - cell_start(bound, cell), width = width_of_cell(bound, cell);
    return bound->height[cell] + bound->slope[cell] * (offset < width ? offset : width) -
           (bound->bounds_change ? u : 0);
}

double cr_distribution_bound_value(const cr_distribution_bound *bound, double u)
{
    return value_in_cell(bound, cell_of(bound, u), u);
}

/* H is linear between the ends of cells and beyond the last, so its extremes are there. */
void cr_distribution_bound_range(const cr_distribution_bound *bound, cr_betting_problem *bet)
{
    double lo = value_in_cell(bound, CR_HISTOGRAM_CELLS - 1, bound->max_value), hi = lo;
    for (int k = 0; k <= CR_HISTOGRAM_CELLS; k++) {
        const double value = bound->height[k] - (bound->bounds_change ? cell_start(bound, k) : 0);
        lo = fmin(lo, value);
        hi = fmax(hi, value);
    }
    const double margin = bound->bounds_change ? 0x1p-40 * (hi - lo) : 0;
    bet->lo = lo - margin;
    bet->hi = hi + margin;
}

/* Derivative of the least probability after the shift with respect to the probability before it. */
static double probability_slope(double probability, double r)
{
    return probability > 0 ? exp(r * cr_normal_quantile(probability) - 0.5 * r * r) : 0;
}

/* Sets each slope by the fraction of the scores above a point, on average over the points of the
 * cell. */
static void set_slopes(cr_distribution_bound *bound, const double count[CR_HISTOGRAM_CELLS],
                       const double offset_sum[CR_HISTOGRAM_CELLS], double total, double r)
{
    double above = total, previous = -1;
    for (int k = 0; k < CR_HISTOGRAM_CELLS; k++) {
        const double width = width_of_cell(bound, k);
        above -= count[k];
        const double count_above =
            fmin(above + (width > 0 ? offset_sum[k] / width : 0), total - unseen_count);
        bound->slope[k] = count_above == previous ? bound->slope[k - 1]
                                                  : probability_slope(count_above / total, r);
        bound->height[k + 1] = bound->height[k] + bound->slope[k] * width;
        previous = count_above;
    }
}

void cr_distribution_bound_fit(cr_distribution_bound *bound, const cr_score_histogram *histogram,
                               size_t fold, double r)
{
    double count[CR_HISTOGRAM_CELLS] = {0}, offset_sum[CR_HISTOGRAM_CELLS] = {0}, total = 0;
    for (size_t i = 0; i < CR_HISTOGRAM_FOLDS; i++)
        for (int k = 0; i != fold && k < CR_HISTOGRAM_CELLS; k++) {
            count[k] += histogram->count[i][k];
            offset_sum[k] += histogram->offset_sum[i][k];
            total += histogram->count[i][k];
        }
    *bound = (cr_distribution_bound){.min_value = histogram->min_value,
                                     .min_score = histogram->min_score,
                                     .cell_width = histogram->cell_width,
                                     .max_value = bound->max_value,
                                     .bounds_change = bound->bounds_change};
    set_slopes(bound, count, offset_sum, total, r);
}

/* Takes the square of the mean in each cell for the mean square. */
void cr_distribution_bound_add_pilot(const cr_distribution_bound *bound,
                                     const cr_score_histogram *histogram, size_t fold,
                                     cr_betting_problem *bet)
{
    cr_running_moments *moments = &bet->pilot_moments;
    for (size_t i = 0; i < CR_HISTOGRAM_FOLDS; i++)
        for (int k = 0; (i == fold || fold >= CR_HISTOGRAM_FOLDS) && k < CR_HISTOGRAM_CELLS; k++) {
            const double n = histogram->count[i][k];
            if (!(n > 0)) continue;
            const double u = cell_start(bound, k) + histogram->offset_sum[i][k] / n,
                         y = (value_in_cell(bound, k, u) - bet->lo) / (bet->hi - bet->lo);
            *moments = (cr_running_moments){moments->count + n, moments->sum + n * y,
                                            moments->square + n * y * y};
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

/* Bound from a fraction of H; for a change of the mean, from this fraction of H and the remaining
 * fraction of u itself, with slope 1, which goes on from the last cell to the maximum. The margin
 * is more than the rounding of H, of the sum, and of its terms. */
static double shifted_fraction(const cr_distribution_bound *bound, double fraction, double mean,
                               double r)
{
    const double identity_weight = bound->bounds_change ? 1 - fraction : 0,
                 last_edge = bound->min_score + (CR_HISTOGRAM_CELLS - 1) * bound->cell_width;
    double sum = bound->bounds_change ? fraction * (bound->min_value + mean)
                                      : bound->min_value + fraction * mean,
           size = fabs(bound->min_value) + fabs(mean), cell_conjugate = 0;
    for (int k = 0; k < CR_HISTOGRAM_CELLS; k++) {
        const double slope = bound->slope[k], width = width_of_cell(bound, k),
                     cell_size = fabs(cell_start(bound, k)) + width;
        if (k == 0 || slope != bound->slope[k - 1])
            cell_conjugate = conjugate(identity_weight + fraction * slope, r);
        sum += cell_conjugate * width;
        size += (1 + slope) * cell_size;
    }
    if (identity_weight > 0) {
        sum += conjugate(identity_weight, r) * fmax(0, bound->max_value - last_edge);
        size += 2 * fabs(bound->max_value);
    }
    return sum - 0x1p-44 * size;
}

/* Largest bound over the fractions 1/8 .. 1 of H: the bound of E H bounds the mean of every
 * fraction. G is concave in the slope, so the bound is concave in the fraction. */
double cr_distribution_bound_shifted(const cr_distribution_bound *bound, double mean, double r)
{
    double best = shifted_fraction(bound, 1, mean, r);
    for (int k = FRACTIONS - 1; k > 0; k--) {
        const double value = shifted_fraction(bound, k / (double)FRACTIONS, mean, r);
        if (!(value > best)) break;
        best = value;
    }
    return best;
}

/* False position. After each step the value at the end that stays is halved, so that both ends
 * move. */
double cr_distribution_bound_radius(const cr_distribution_bound *bound, double mean,
                                    double threshold, double cap)
{
    double low = 0, high = cap,
           low_excess = cr_distribution_bound_shifted(bound, mean, 0) - threshold,
           high_excess = cr_distribution_bound_shifted(bound, mean, cap) - threshold;
    if (!(low_excess > 0)) return 0;
    if (high_excess > 0) return cap;
    for (int i = 0; i < 60 && high - low > 1e-9 * high; i++) {
        const double step_fraction =
                         fmin(fmax(low_excess / (low_excess - high_excess), 1e-6), 1 - 1e-6),
                     r = low + step_fraction * (high - low),
                     excess = cr_distribution_bound_shifted(bound, mean, r) - threshold;
        if (excess > 0) {
            low = r;
            low_excess = excess;
            high_excess *= 0.5;
        } else {
            high = r;
            high_excess = excess;
            low_excess *= 0.5;
        }
    }
    return low;
}
