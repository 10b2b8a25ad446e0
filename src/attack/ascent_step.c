/* One step: pairs are sampled at a shifted input, judged, and give a gradient at this point. Climb
 * and gates take the same steps. */
#include "attack/ascent_step.h"
#include "attack/vector_ops.h"
#include "record/noise_replay.h"
#include <math.h>

/* ---- samples */
static void set_point(const cr_attack_state *h, double radius)
{
    const certreg_attack *a = h->attack;
    const cr_input *input = &a->target.record->input;
    for (size_t j = 0; j < a->target.record->model.inputs; j++) {
        const float shift = (float)(radius * (double)input->scale[j] * (double)a->direction[j]);
        a->point[j] = input->scale[j] > 0 ? input->z[j] + shift : input->z[j];
    }
}

static certreg_status sample(cr_attack_state *h, size_t pairs)
{
    const cr_context *probe = &h->attack->probe;
    if (cr_estimator_cancelled(h->attack->target.estimator))
        return cr_error_set(probe->why, CERTREG_E_CANCELLED, "cancelled after %zu calls", h->used);
    const certreg_status status = cr_estimator_sample(probe->estimator, 0, pairs, pairs, 0);
    h->used += probe->record->present;
    if (probe->record->outside) h->attack->target.record->outside = probe->record->outside;
    return status;
}

static const float *backward(const cr_attack_state *h, size_t i)
{
    return cr_view_output_ptr(h->attack->probe.record, i, h->conditions->question.given.output);
}

/* Sets floats_end if float carries the noise at the input itself, but not at the shifted one. */
static certreg_status begin(cr_attack_state *h)
{
    const cr_context *probe = &h->attack->probe;
    const cr_input *input = &h->attack->target.record->input;
    probe->record->plan.seed = h->seed;
    const certreg_status status = cr_estimator_begin(probe->estimator, h->attack->point, h->sigma,
                                                     input->noise.noise_id, (uint64_t)h->steps++);
    if (status == CERTREG_E_INVALID)
        h->floats_end = !cr_estimator_check_input(probe->estimator, input->z, h->sigma);
    return status;
}

static certreg_status sample_pairs(cr_attack_state *h, size_t pairs)
{
    certreg_attack *a = h->attack;
    const cr_context *probe = &a->probe;
    certreg_status status = begin(h);
    if (!status) status = sample(h, pairs);
    if (status) return status;
    for (size_t i = 0; i < pairs; i++) a->forward[i] = *backward(h, i);
    status = cr_estimator_negate_noise(probe->estimator);
    return status ? status : sample(h, pairs);
}

/* ---- averages */
double cr_ascent_step_average(const cr_attack_state *h, const cr_score *score, size_t i)
{
    return 0.5 *
           (cr_score_value(score, h->attack->forward + i) + cr_score_value(score, backward(h, i)));
}

static cr_running_moments seen_of(const cr_attack_state *h, const cr_score *score, size_t pairs,
                                  double lo, double hi)
{
    cr_running_moments seen = {.count = (double)pairs};
    for (size_t i = 0; i < pairs; i++) {
        const double share = (cr_ascent_step_average(h, score, i) - lo) / (hi - lo);
        seen.sum += share;
        seen.square += share * share;
    }
    return seen;
}

static void judge(cr_attack_state *h, cr_ascent_step *step)
{
    const cr_violation_score *exit = &h->slope.exit;
    const double n = (double)step->pairs, range = exit->hi - exit->lo;
    h->seen[0] = seen_of(h, &exit->beyond, step->pairs, exit->lo, exit->hi);
    if (exit->guarded) h->seen[1] = seen_of(h, &exit->guard, step->pairs, -1, 1);
    const double share = (h->seen[0].sum + 0.5) / (n + 1), mean = exit->lo + range * share,
                 variance = fmax(h->seen[0].square / n - share * share, 0.25 / n);
    step->level = cr_violation_score_link(exit, mean);
    step->spread = range * sqrt(variance);
}

certreg_status cr_ascent_step_take(cr_attack_state *h, double radius, size_t pairs,
                                   cr_ascent_step *out)
{
    *out = (cr_ascent_step){.pairs = pairs, .radius = radius};
    set_point(h, radius);
    const certreg_status status = sample_pairs(h, pairs);
    if (!status) judge(h, out);
    return status;
}

/* ---- the gradient */
/* Half the difference of the two members of a pair: the part of the smooth score that changes sign
 * with the noise. */
static double odd_part(const cr_attack_state *h, size_t i)
{
    return 0.5 * (cr_violation_score_smooth(&h->slope.exit, h->attack->forward + i) -
                  cr_violation_score_smooth(&h->slope.exit, backward(h, i)));
}

/* Writes weights, the odd parts less `slope` times the noise along the direction, and returns their
 * mean square. */
static double weigh(const cr_attack_state *h, size_t pairs, double slope)
{
    const cr_context *probe = &h->attack->probe;
    double square = 0;
    for (size_t i = 0; i < pairs; i++) {
        const double rest = odd_part(h, i) - slope * probe->replay->host.dots[i];
        probe->replay->host.weights[i] = (float)rest;
        square += rest * rest;
    }
    return square / (double)pairs;
}

static double slope_along(const cr_attack_state *h, size_t pairs)
{
    const double *dots = h->attack->probe.replay->host.dots;
    double product = 0, square = 0;
    for (size_t i = 0; i < pairs; i++) {
        product += dots[i] * odd_part(h, i);
        square += dots[i] * dots[i];
    }
    return square > 0 ? product / square : 0;
}

certreg_status cr_ascent_step_learn(cr_attack_state *h, const cr_ascent_step *step)
{
    certreg_attack *a = h->attack;
    const cr_context *probe = &a->probe;
    const size_t d = probe->record->model.inputs, n = step->pairs;
    if (h->directed) return CERTREG_OK;
    certreg_status status = cr_replay_set_direction(probe->replay, a->direction);
    if (!status) status = cr_replay_project(probe->replay, 0, n);
    if (status) return status;
    const double slope = slope_along(h, n), noise = weigh(h, n, slope);
    if (!(slope > 0) || !isfinite(slope)) return CERTREG_OK;
    status = cr_replay_clear(probe->replay);
    if (!status) status = cr_replay_add(probe->replay, 0, n, 1);
    if (!status) status = cr_replay_sums(probe->replay, 1, a->halves);
    if (status) return status;
    cr_vector_mask(a->halves, probe->replay->host.mask, d);
    const double weight = slope / fmax(noise, 1e-6 * slope * slope);
    for (size_t j = 0; j < d; j++)
        a->total[j] += weight * (a->halves[j] + (double)n * slope * (double)a->direction[j]);
    cr_vector_direct(a->total, d, a->direction);
    return CERTREG_OK;
}
