/* Gradients of the violation scores of both sides, from two halves of the record or along a given
 * direction, and the choice of the nearer side. The comparison of halves removes the bias by noise
 * (theory 11.1). */
#include "attack/violation_gradient.h"
#include "attack/vector_ops.h"
#include "record/noise_replay.h"
#include <math.h>
#include <string.h>

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
