/* The directions along which a vector is certified, and the part of the tolerance for each, which
 * follows the spread of the pilot's outputs (theory 7.3). */
#include "conditions/conditions.h"
#include "base/constants.h"
#include "record/record.h"
#include "statistics/location.h"
#include "statistics/moments.h"
#include <float.h>
#include <math.h>

enum { FEW = 8 };                        /* fewer outputs of a pilot do not show their spread */
static const double least_spread = 0.05; /* as a part of the greatest spread */

/* ---- blocks */
static size_t blocks_of(const cr_question *q)
{
    return cr_direction_net_blocks(q->statistic->net, q->outputs);
}

/* Number of outputs of a block, and the first of them. */
static size_t size_of(const cr_question *q, size_t block, size_t *first)
{
    return cr_direction_net_block(q->statistic->net, q->outputs, block, first);
}

static size_t block_of(const cr_question *q, size_t k, size_t *size)
{
    size_t block = 0, first = 0;
    *size = size_of(q, block, &first);
    while (first + *size <= k - q->first_output) *size = size_of(q, ++block, &first);
    return block;
}

/* Projections of a block of several outputs have a tolerance for each direction. */
static int has_parts(const cr_question *q, size_t size)
{
    return q->statistic->net == CR_NET_PROJECTIONS && size > 1;
}

/* ---- division of the tolerance */
/* Scales the shares of all blocks, so that their squares add up to 1. */
static void normalize(double *share, size_t blocks)
{
    double sum = 0;
    for (size_t b = 0; b < blocks; b++) sum += share[b] * share[b];
    for (size_t b = 0; b < blocks; b++) share[b] /= sqrt(sum);
}

void cr_directions_share_equally(const cr_conditions *c)
{
    const cr_question *q = &c->question;
    const size_t blocks = blocks_of(q);
    size_t direction = 0, first;
    for (size_t b = 0; b < blocks; b++) {
        const size_t size = size_of(q, b, &first);
        const double part = cr_direction_net_fraction(q->statistic->net, size);
        c->scratch->block_fractions[b] = 1 / part;
        if (!has_parts(q, size)) continue;
        const size_t end = direction + cr_direction_net_size(CR_NET_PROJECTIONS, size);
        while (direction < end) c->scratch->direction_fractions[direction++] = part;
    }
    normalize(c->scratch->block_fractions, blocks);
}

/* The spread of a mean along a direction: the deviation of the pilot's noisy outputs, increased by
 * about the amount that bounds add for values at the far end of the range, which the planned
 * samples need not show. */
static double spread_of_mean(cr_view *v, const cr_question *q, size_t k, const cr_direction *d)
{
    const size_t first = cr_view_first_noisy(v);
    cr_score s = {.kind = CR_SCORE_OUTPUT, .outputs = d->outputs};
    for (size_t i = 0; i < d->outputs; i++) s.unit_vector[i] = d->unit_vector[i];
    const cr_samples pilot = cr_view_samples(v, &s, (int32_t)k, first, v->pilot - first, 0);
    cr_moments m;
    double lo, hi;
    cr_moments_of(&pilot, &m);
    cr_score_range(&s, v->model.lo + k, v->model.hi + k, &lo, &hi);
    const double mean = cr_moments_mean(&m), far = fmax(hi - mean, mean - lo),
                 unseen =
                     -8 * log(q->given.alpha) * far * far / (double)cr_query_log_max_samples(v);
    return sqrt(cr_moments_second(&m) + (isfinite(unseen) ? unseen : 0));
}

/* The spread of a mean along its widest direction. Any direction may turn out as wide as that. */
static double widest_spread(cr_view *v, const cr_question *q, size_t k, size_t size)
{
    double widest = 0;
    for (size_t i = 0; i < cr_direction_net_size(CR_NET_MEANS, size); i++) {
        const cr_direction d = cr_direction_net_direction(CR_NET_MEANS, size, i);
        const double spread = spread_of_mean(v, q, k, &d);
        if (!(spread <= widest)) widest = spread;
    }
    return widest;
}

/* The spread of the pilot's noisy outputs, of output k or along a direction: half the distance
 * between the ranks at which normal outputs are one deviation from their middle. NaN: too few. */
static double spread_of(cr_view *v, size_t k, const cr_direction *along)
{
    const size_t first = cr_view_first_noisy(v);
    const cr_values values = {.y = cr_view_output_ptr(v, first, (int32_t)k),
                              .count = v->pilot - first,
                              .stride = v->model.outputs,
                              .deadline = v->deadline,
                              .unit_vector = along ? along->unit_vector : NULL,
                              .outputs = along ? along->outputs : 0};
    const size_t count = cr_location_count(&values), low = (size_t)(0.16 * (double)count);
    if (count < FEW) return NAN;
    return 0.5 * (cr_location_order(&values, count - 1 - low) - cr_location_order(&values, low));
}

/* Makes spreads equal if they differ no more than the spreads of equal outputs would by chance, and
 * moves them towards each other by that amount otherwise (James and Stein). */
static void james_stein_shrink(double *spread, size_t blocks, double count)
{
    double sum = 0, square = 0;
    for (size_t b = 0; b < blocks; b++) sum += log(spread[b]);
    const double mean = sum / (double)blocks;
    for (size_t b = 0; b < blocks; b++) square += (log(spread[b]) - mean) * (log(spread[b]) - mean);
    const double chance = (double)(blocks - 1) / count,
                 kept = square > chance ? 1 - chance / square : 0;
    for (size_t b = 0; b < blocks; b++) spread[b] = exp(mean + kept * (log(spread[b]) - mean));
}

/* Raises spreads to a part of the greatest, and shrinks their differences. Returns 0 if one is not
 * finite, or all are 0. */
static int floor_and_shrink(cr_view *v, double *spread, size_t count)
{
    double greatest = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(spread[i])) return 0;
        greatest = fmax(greatest, spread[i]);
    }
    for (size_t i = 0; i < count; i++) spread[i] = fmax(spread[i], least_spread * greatest);
    if (greatest > 0)
        james_stein_shrink(spread, count, (double)(v->pilot - cr_view_first_noisy(v)));
    return greatest > 0;
}

/* Returns the width of a block, up to a factor for all blocks: the spread of a single output, or of
 * the widest direction of a mean. For projections, each direction's part of the tolerance follows
 * its own spread, and the width is that at which these parts fit. NAN: not known. */
static double width_of_block(cr_view *v, const cr_conditions *c, size_t block, size_t *direction)
{
    const cr_question *q = &c->question;
    size_t first;
    const size_t size = size_of(q, block, &first), from = q->first_output + first,
                 count = cr_direction_net_size(CR_NET_PROJECTIONS, size);
    double *part = c->scratch->direction_fractions + *direction;
    if (q->statistic->net == CR_NET_MEANS)
        return widest_spread(v, q, from, size) / cr_direction_net_fraction(CR_NET_MEANS, size);
    if (!has_parts(q, size)) return spread_of(v, from, NULL);
    for (size_t i = 0; i < count; i++) {
        const cr_direction d = cr_direction_net_direction(CR_NET_PROJECTIONS, size, i);
        part[i] = spread_of(v, from, &d);
    }
    *direction += count;
    if (!floor_and_shrink(v, part, count)) return NAN;
    const double scale = cr_direction_net_scale(size, part, v->deadline);
    for (size_t i = 0; i < count; i++) part[i] *= scale;
    return 1 / scale;
}

static int pilot_is_complete(cr_view *v)
{
    size_t length;
    cr_view_require_contiguous(v, &length, NULL);
    return length >= v->pilot && v->pilot >= cr_view_first_noisy(v) + FEW;
}

void cr_directions_share_by_spread(cr_view *v, const cr_conditions *c)
{
    const cr_question *q = &c->question;
    const size_t blocks = blocks_of(q);
    const int known = pilot_is_complete(v);
    size_t direction = 0;
    for (size_t b = 0; b < blocks; b++)
        c->scratch->block_fractions[b] = known ? width_of_block(v, c, b, &direction) : NAN;
    if (floor_and_shrink(v, c->scratch->block_fractions, blocks) &&
        !cr_deadline_expired(v->deadline))
        normalize(c->scratch->block_fractions, blocks);
    else cr_directions_share_equally(c);
}

static double tolerance_of_block(const cr_conditions *c, size_t block)
{
    const cr_question *q = &c->question;
    const double all = q->given.tolerance * (1 - CR_ROUNDING_MARGIN - 1e-15 * (double)q->outputs);
    return all * c->scratch->block_fractions[block];
}

double cr_directions_tolerance(const cr_conditions *c, size_t k)
{
    const cr_question *q = &c->question;
    size_t size;
    const size_t block = block_of(q, k, &size);
    return tolerance_of_block(c, block) * cr_direction_net_fraction(q->statistic->net, size);
}

/* ---- a direction */
/* Returns the largest change of the bounded function by rounding: at both ends of a change for the
 * output itself. Two-valued scores have a margin of their own. */
static double lost_to_rounding(cr_view *v, const cr_score *s, size_t first)
{
    const double unsure = cr_score_rounding_error(s, v->model.lo + first, v->model.hi + first);
    return s->kind == CR_SCORE_OUTPUT ? 2 * unsure : s->kind == CR_SCORE_LINEAR ? unsure : 0;
}

int32_t cr_directions_project_score(cr_view *v, const cr_conditions *c, size_t direction,
                                    cr_score *s)
{
    const cr_question *q = &c->question;
    const cr_direction d = cr_direction_net_direction(q->statistic->net, q->outputs, direction);
    const size_t first = q->first_output + d.first;
    const double *psi = c->scratch->vector_prediction + first;
    s->tolerance = tolerance_of_block(c, d.block) *
                   (has_parts(q, d.outputs)
                        ? c->scratch->direction_fractions[direction]
                        : cr_direction_net_fraction(q->statistic->net, d.outputs));
    s->prediction = s->kind == CR_SCORE_OUTPUT ? 0 : *psi;
    s->outputs = 0;
    s->center = NULL;
    if (d.outputs == 1) return (int32_t)first;
    s->outputs = d.outputs;
    if (s->kind != CR_SCORE_OUTPUT) s->center = psi;
    for (size_t k = 0; k < d.outputs; k++) s->unit_vector[k] = d.unit_vector[k];
    s->tolerance = fmax(DBL_MIN, s->tolerance - lost_to_rounding(v, s, first));
    return (int32_t)first;
}

/* ---- outputs of the pilot beyond the tolerance */
static size_t misses_along(cr_view *v, const cr_conditions *c, size_t direction, int32_t side)
{
    cr_score s = {.kind = CR_SCORE_SIGN, .side = side};
    const int32_t output = cr_directions_project_score(v, c, direction, &s);
    const size_t first = cr_view_first_noisy(v);
    const cr_samples pilot =
        cr_view_samples(v, &s, output, first, v->pilot > first ? v->pilot - first : 0, 0);
    return (size_t)cr_samples_count_negative(&pilot);
}

size_t cr_directions_misses(cr_view *v, const cr_conditions *c)
{
    size_t most = 0;
    for (size_t i = 0; i < c->question.directions && !cr_deadline_expired(v->deadline); i++)
        for (int32_t side = -1; side <= 1; side += 2) {
            const size_t misses = misses_along(v, c, i, side);
            if (misses > most) most = misses;
        }
    return most;
}
