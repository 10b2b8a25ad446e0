/* Violation scores, with a positive mean if the statistic is out of its tolerance (theory 11.2),
 * and their gradient. */
#include "attack/attack.h"
#include "base/constants.h"
#include "record/record.h"
#include "statistics/location.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ======== The violation score of a side: the arc or half-line outside of the tolerance, the
 * guard of an angle, and the smooth score for gradients. conditions/conditions.c has the scores of
 * the inside. */
/* Distances from the point opposite the prediction within which no output counts, as parts of a
 * turn (A of theory 11.2). A wide gap makes the cut of the circle easy to prove, and counts fewer
 * outputs as out: the widest gap with hardly any output of the record is used. If each has many,
 * outputs beyond half a turn count too, up to a part of the tolerance. */
static const double gaps[] = {60.0 / 360, 30.0 / 360, 10.0 / 360};
enum { GAPS = sizeof gaps / sizeof *gaps };
static const double max_gap_fraction = 0.002, negative_gap_fraction = 0.5;
/* The width of the slope that replaces a jump, in tolerances; for angles, in sines. */
static const double line_width = 0.5, circle_width = 0.06;

/* The last double inside: the exact sum prediction + offset is the first value outside. */
static double last_inside(double prediction, double offset)
{
    const double edge = prediction + offset, moved = edge - prediction;
    const double lost = (prediction - (edge - moved)) + (offset - moved); /* of the exact sum */
    const int edge_is_inside = offset > 0 ? lost > 0 : lost < 0;
    return edge_is_inside ? edge : nextafter(edge, prediction);
}

/* On the circle, an arc from the tolerance to half a turn less the gap, about its middle, shortened
 * by the rounding error of the middle. */
static void set_median(const cr_question *q, double gap, cr_violation_score *x)
{
    cr_score *s = &x->outside;
    if (!x->has_guard) {
        s->kind = CR_SCORE_SIGN;
        s->prediction = last_inside(s->prediction, s->side * q->given.tolerance);
        s->tolerance = 0;
        return;
    }
    const double half = 0.5 * (0.5 * s->period - gap - q->given.tolerance);
    s->kind = CR_SCORE_ARC;
    s->prediction += s->side * (q->given.tolerance + half);
    s->arc = s->branch_cut = half - 8 * DBL_EPSILON * fmax(s->period, fabs(s->prediction));
}

static double fraction_outside(cr_view *v, const cr_conditions *conditions, double max_distance,
                               double period)
{
    const size_t first = cr_view_first_noisy(v), count = conditions->samples - first;
    size_t outside = 0;
    for (size_t i = 0; i < count; i++)
        outside += fabs(cr_location_wrap(
                       (double)*cr_view_output_ptr(v, first + i, conditions->question.given.output),
                       conditions->prediction, period)) > max_distance;
    return (double)outside / (double)count;
}

/* At most half the way from the tolerance to the antipode; for a slope, at least the tolerance. */
static double choose_gap(cr_view *v, const cr_conditions *conditions, double period)
{
    const double tolerance = conditions->question.given.tolerance;
    double gap = -negative_gap_fraction * fmin(tolerance, 0.5 * period - tolerance);
    for (int i = GAPS; i-- > 0;)
        if (fraction_outside(v, conditions, (0.5 - gaps[i]) * period, period) <= max_gap_fraction)
            gap = gaps[i] * period;
    if (!conditions->question.is_binomial) return fmax(gap, tolerance);
    return fmin(gap, 0.5 * (0.5 * period - tolerance));
}

cr_violation_score cr_violation_score_of(cr_view *v, const cr_conditions *conditions, int32_t side)
{
    const cr_question *q = &conditions->question;
    const cr_statistic *statistic = q->statistic;
    cr_violation_score x = {.side = side,
                            .smoothing_width = line_width * q->given.tolerance,
                            .outside = {.kind = statistic->score,
                                        .side = side == CERTREG_SIDE_UPPER ? 1 : -1,
                                        .prediction = conditions->prediction,
                                        .tolerance = -q->given.tolerance,
                                        .width = q->given.huber_width}};
    cr_score *s = &x.outside;
    s->period = q->period;
    s->rounding = q->angle_rounding;
    x.has_guard = s->period > 0 && statistic->angle == CR_ANGLE_UNROLLED;
    if (x.has_guard) {
        const double gap = choose_gap(v, conditions, s->period);
        s->branch_cut = 0.5 * s->period - gap;
        x.guard = *s;
        x.guard.kind = CR_SCORE_SINE;
        x.guard.tolerance = gap;
        x.smoothing_width = circle_width;
    }
    if (q->is_binomial) set_median(q, x.guard.tolerance, &x);
    cr_score_range(s, v->model.lo + q->given.output, v->model.hi + q->given.output, &x.lo, &x.hi);
    return x;
}

double cr_violation_score_smooth(const cr_violation_score *x, const float *y)
{
    const cr_score *s = &x->outside;
    if (!cr_violation_score_is_binomial(x) || isnan(*y)) return cr_violation_score_value(x, y);
    const double v = (double)*y,
                 distance =
                     s->period > 0
                         ? sin((s->side * cr_location_wrap(v, s->prediction, s->period) + s->arc) *
                               (CR_TWO_PI / s->period))
                         : s->side * (v - s->prediction);
    return tanh(0.5 * distance / x->smoothing_width);
}

/* Clipped scores have a probit link. */
double cr_violation_score_link(const cr_violation_score *x, double mean)
{
    return cr_score_traits_of(x->outside.kind).clipped ? cr_shift_probit(0.5 * (1 + mean)) : mean;
}

double cr_violation_score_link_derivative(const cr_violation_score *x, double mean)
{
    return cr_score_traits_of(x->outside.kind).clipped ? 0.5 / cr_shift_slope(0.5 * (1 + mean)) : 1;
}

/* ======== Gradients of the violation scores of both sides, from two halves of the record or
 * along a given direction, and the choice of the nearer side. The comparison of halves removes
 * the bias by noise (theory 11.1). */
static inline double cr_vector_dot(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += a[j] * b[j];
    return sum;
}

static const double min_link_slope = 0.05; /* for a forecast; less for levels near 0 */

typedef struct sample_means { /* the noisy samples of the target's record, and the means of their
                                 scores */
    size_t first, count;
    double mean, smooth; /* of cr_violation_score_value and cr_violation_score_smooth */
} sample_means;

static sample_means sample_means_of(cr_view *v, const cr_conditions *conditions,
                                    const cr_violation_score *score)
{
    sample_means n = {.first = cr_view_first_noisy(v)};
    n.count = conditions->samples - n.first;
    for (size_t i = 0; i < n.count; i++) {
        const float *y = cr_view_output_ptr(v, n.first + i, conditions->question.given.output);
        n.mean += cr_violation_score_value(score, y);
        n.smooth += cr_violation_score_smooth(score, y);
    }
    n.mean /= (double)n.count;
    n.smooth /= (double)n.count;
    return n;
}

/* Avoids the ends of the range, so that probits stay finite. */
static double level_of(const cr_violation_score *score, const sample_means *n)
{
    const double mean = n->mean * (double)n->count / ((double)n->count + 1);
    return cr_violation_score_link(
        score, cr_score_traits_of(score->outside.kind).bounded ? mean : n->mean);
}

certreg_status cr_violation_gradient_replay(certreg_attack *a, size_t first, size_t count,
                                            size_t functions, size_t half_index)
{
    const cr_context *probe = &a->probe;
    const size_t d = probe->record->model.inputs;
    double *sums = a->half_sums + half_index * CR_REPLAY_FUNCTIONS * d;
    probe->record->input.noise = a->target.record->input.noise;
    certreg_status status = cr_replay_clear(probe->replay);
    if (!status) status = cr_replay_add(probe->replay, first, count, functions);
    if (!status) status = cr_replay_sums(probe->replay, functions, sums);
    for (size_t f = 0; f < functions && !status; f++)
        cr_vector_mask(sums + f * d, probe->replay->host.mask, d);
    return status;
}

static void write_weights(const certreg_attack *a, const cr_conditions *conditions,
                          const cr_violation_score *score, const sample_means *n, size_t first,
                          size_t count)
{
    float *smooth = a->probe.replay->host.weights,
          *value = smooth + a->probe.record->plan.max_samples;
    for (size_t i = 0; i < count; i++) {
        const float *y =
            cr_view_output_ptr(a->target.record, first + i, conditions->question.given.output);
        smooth[i] = (float)(cr_violation_score_smooth(score, y) - n->smooth);
        value[i] = (float)(cr_violation_score_value(score, y) - n->mean);
    }
}

/* Multiplies only sums of different halves, which are independent, so that noise adds no bias. */
static void compare_halves(const certreg_attack *a, const sample_means *n,
                           cr_violation_gradient *gradient)
{
    const size_t d = a->probe.record->model.inputs;
    const double *g0 = a->half_sums, *m0 = g0 + d, *g1 = m0 + d, *m1 = g1 + d;
    const size_t half = n->count / 2;
    const double n0 = (double)half, n1 = (double)(n->count - half),
                 l0 = sqrt(cr_vector_dot(g0, g0, d)), l1 = sqrt(cr_vector_dot(g1, g1, d)),
                 cosine_of_halves = l0 > 0 && l1 > 0 ? cr_vector_dot(g0, g1, d) / (l0 * l1) : 0;
    gradient->cosine = gradient->link_slope = gradient->smooth_slope = 0;
    if (!(l0 > 0 && l1 > 0)) return;
    gradient->smooth_slope = cr_vector_dot(g0, g1, d) / (n0 * n1);
    if (!(cosine_of_halves > 0)) return;
    gradient->cosine = fmin(1, sqrt(2 * cosine_of_halves / (1 + cosine_of_halves)));
    const double cross =
        0.5 * (cr_vector_dot(g0, m1, d) / (l0 * n1) + cr_vector_dot(g1, m0, d) / (l1 * n0)) /
        sqrt(cosine_of_halves);
    gradient->link_slope =
        fmax(0, cross * cr_violation_score_link_derivative(&gradient->score, n->mean));
}

/* Sums both halves of the record, smooth and plain: g and m of theory 11.1. */
static certreg_status find_gradient(certreg_attack *a, const cr_conditions *conditions,
                                    const sample_means *n, cr_violation_gradient *gradient)
{
    const size_t half = n->count / 2, counts[2] = {half, n->count - half};
    certreg_status status = CERTREG_OK;
    for (size_t h = 0; h < 2 && !status; h++) {
        const size_t first = n->first + h * half;
        write_weights(a, conditions, &gradient->score, n, first, counts[h]);
        status = cr_violation_gradient_replay(a, first, counts[h], CR_REPLAY_FUNCTIONS, h);
    }
    if (!status) compare_halves(a, n, gradient);
    return status;
}

/* Along the given direction: its projections take the place of the gradient. */
static certreg_status find_along_direction(certreg_attack *a, const cr_conditions *conditions,
                                           const sample_means *n, cr_violation_gradient *gradient)
{
    const cr_context *probe = &a->probe;
    double sum = 0, smooth = 0;
    probe->record->input.noise = a->target.record->input.noise;
    certreg_status status = cr_replay_set_direction(probe->replay, a->direction);
    if (!status) status = cr_replay_project(probe->replay, n->first, n->count);
    if (status) return status;
    for (size_t i = 0; i < n->count; i++) {
        const float *y =
            cr_view_output_ptr(a->target.record, n->first + i, conditions->question.given.output);
        sum +=
            probe->replay->host.dots[i] * (cr_violation_score_value(&gradient->score, y) - n->mean);
        smooth += probe->replay->host.dots[i] *
                  (cr_violation_score_smooth(&gradient->score, y) - n->smooth);
    }
    gradient->smooth_slope = smooth / (double)n->count;
    gradient->cosine = 1;
    gradient->link_slope = fmax(
        0, sum / (double)n->count * cr_violation_score_link_derivative(&gradient->score, n->mean));
    return CERTREG_OK;
}

/* A probit grows with radius/sigma by 1 at most, as for a half-space; on the way out it comes
 * closer to that than it was at the input. */
static double mean_link_slope(const cr_violation_gradient *gradient)
{
    if (!cr_violation_score_is_binomial(&gradient->score)) return gradient->link_slope;
    return 0.5 * (1 + fmin(gradient->link_slope, 1));
}

double cr_violation_gradient_forecast(const cr_violation_gradient *gradient, double sigma)
{
    if (!(gradient->link_slope > min_link_slope * fmin(1, fabs(gradient->level)))) return NAN;
    return fmax(0, -gradient->level / mean_link_slope(gradient)) * sigma;
}

/* If a forecast is unknown, a given direction leads to the side on which the smooth score rises
 * more along it. Without a direction, the side with more outputs out is nearer; if both have
 * equally many, the side with the greater slope of the smooth score. */
static int is_nearer(const cr_violation_gradient *a, const cr_violation_gradient *b,
                     int direction_is_given)
{
    const double forecasts[2] = {cr_violation_gradient_forecast(a, 1),
                                 cr_violation_gradient_forecast(b, 1)};
    if (a->level >= 0 || b->level >= 0) return a->level > b->level; /* out already */
    if (!isnan(forecasts[0]) && !isnan(forecasts[1])) return forecasts[0] < forecasts[1];
    return direction_is_given || a->level == b->level ? a->smooth_slope > b->smooth_slope
                                                      : a->level > b->level;
}

/* Keeps the sum of both halves' gradients, weighted by its precision, signal over noise; 0 if a
 * half has no gradient. */
static void keep_gradient(certreg_attack *a, const sample_means *n)
{
    const size_t d = a->probe.record->model.inputs;
    const double *g0 = a->half_sums, *g1 = g0 + 2 * d;
    const size_t half = n->count / 2;
    const double n0 = (double)half, n1 = (double)(n->count - half),
                 squared_norm = cr_vector_dot(g0, g1, d) / (n0 * n1),
                 norm_product =
                     sqrt(cr_vector_dot(g0, g0, d) * cr_vector_dot(g1, g1, d)) / (n0 * n1),
                 signal = sqrt(fmax(squared_norm, 1e-3 * norm_product)),
                 active = (double)a->probe.record->input.active,
                 noise = fmax(1e-3 * norm_product, norm_product - squared_norm) * 0.5 *
                         (double)n->count / active,
                 precision = norm_product > 0 ? signal / noise : 0;
    for (size_t j = 0; j < d; j++) a->gradient_sum[j] = precision * (g0[j] + g1[j]);
}

certreg_status cr_violation_gradient_find(certreg_attack *a, const cr_conditions *conditions,
                                          int direction_is_given, cr_violation_gradient *out)
{
    static const int32_t sides[2] = {CERTREG_SIDE_LOWER, CERTREG_SIDE_UPPER};
    for (int i = 0; i < 2; i++) {
        cr_violation_gradient gradient = {
            .score = cr_violation_score_of(a->target.record, conditions, sides[i])};
        const sample_means n = sample_means_of(a->target.record, conditions, &gradient.score);
        gradient.level = level_of(&gradient.score, &n);
        const certreg_status status = (direction_is_given ? find_along_direction : find_gradient)(
            a, conditions, &n, &gradient);
        if (status) return status;
        if (i && !is_nearer(&gradient, out, direction_is_given)) continue;
        *out = gradient;
        if (!direction_is_given) keep_gradient(a, &n);
    }
    return CERTREG_OK;
}
