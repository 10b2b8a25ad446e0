/* One step: pairs are sampled at a shifted input, and give a level and a gradient at this point.
 * The ascent and the violation tests take the same steps. */
#include "attack/ascent_step.h"
#include "attack/vector_ops.h"
#include "record/noise_replay.h"
#include <math.h>

/* ---- samples */
static void set_shifted_input(const cr_attack_state *state, double radius)
{
    const certreg_attack *a = state->attack;
    const cr_input *input = &a->target.record->input;
    for (size_t j = 0; j < a->target.record->model.inputs; j++) {
        const float feature_shift =
            (float)(radius * (double)input->scale[j] * (double)a->direction[j]);
        a->shifted_input[j] = input->scale[j] > 0 ? input->z[j] + feature_shift : input->z[j];
    }
}

static certreg_status sample(cr_attack_state *state, size_t pairs)
{
    const cr_context *probe = &state->attack->probe;
    if (cr_estimator_cancelled(state->attack->target.estimator))
        return cr_error_set(probe->why, CERTREG_E_CANCELLED, "cancelled after %zu calls",
                            state->calls_used);
    const certreg_status status = cr_estimator_sample(probe->estimator, 0, pairs, pairs, 0);
    state->calls_used += probe->record->sample_count;
    if (probe->record->first_out_of_range)
        state->attack->target.record->first_out_of_range = probe->record->first_out_of_range;
    return status;
}

static const float *negated_output(const cr_attack_state *state, size_t i)
{
    return cr_view_output_ptr(state->attack->probe.record, i,
                              state->conditions->question.given.output);
}

/* Sets float_grid_too_coarse if float carries the noise at the input itself, but not at the shifted
 * one. */
static certreg_status begin_step(cr_attack_state *state)
{
    const cr_context *probe = &state->attack->probe;
    const cr_input *input = &state->attack->target.record->input;
    probe->record->plan.seed = state->seed;
    const certreg_status status = cr_estimator_begin(probe->estimator, state->attack->shifted_input,
                                                     state->sigma, input->noise.noise_id,
                                                     (uint64_t)state->step_count++);
    if (status == CERTREG_E_INVALID)
        state->float_grid_too_coarse =
            !cr_estimator_check_input(probe->estimator, input->z, state->sigma);
    return status;
}

static certreg_status sample_pairs(cr_attack_state *state, size_t pairs)
{
    certreg_attack *a = state->attack;
    const cr_context *probe = &a->probe;
    certreg_status status = begin_step(state);
    if (!status) status = sample(state, pairs);
    if (status) return status;
    for (size_t i = 0; i < pairs; i++) a->forward[i] = *negated_output(state, i);
    status = cr_estimator_negate_noise(probe->estimator);
    return status ? status : sample(state, pairs);
}

/* ---- averages */
double cr_ascent_step_average(const cr_attack_state *state, const cr_score *score, size_t i)
{
    return 0.5 * (cr_score_value(score, state->attack->forward + i) +
                  cr_score_value(score, negated_output(state, i)));
}

static cr_running_moments pair_moments(const cr_attack_state *state, const cr_score *score,
                                       size_t pairs, double lo, double hi)
{
    cr_running_moments moments = {.count = (double)pairs};
    for (size_t i = 0; i < pairs; i++) {
        const double fraction = (cr_ascent_step_average(state, score, i) - lo) / (hi - lo);
        moments.sum += fraction;
        moments.square += fraction * fraction;
    }
    return moments;
}

static void estimate_level(cr_attack_state *state, cr_ascent_step *step)
{
    const cr_violation_score *score = &state->gradient.score;
    const double n = (double)step->pairs, range = score->hi - score->lo;
    state->moments[0] = pair_moments(state, &score->outside, step->pairs, score->lo, score->hi);
    if (score->has_guard)
        state->moments[1] = pair_moments(state, &score->guard, step->pairs, -1, 1);
    const double fraction = (state->moments[0].sum + 0.5) / (n + 1),
                 mean = score->lo + range * fraction,
                 variance = fmax(state->moments[0].square / n - fraction * fraction, 0.25 / n);
    step->level = cr_violation_score_link(score, mean);
    step->pair_deviation = range * sqrt(variance);
}

certreg_status cr_ascent_step_evaluate(cr_attack_state *state, double radius, size_t pairs,
                                       cr_ascent_step *out)
{
    *out = (cr_ascent_step){.pairs = pairs, .radius = radius};
    set_shifted_input(state, radius);
    const certreg_status status = sample_pairs(state, pairs);
    if (!status) estimate_level(state, out);
    return status;
}

/* ---- the gradient */
/* Half the difference of the two members of a pair: the part of the smooth score that changes sign
 * with the noise. */
static double odd_part(const cr_attack_state *state, size_t i)
{
    return 0.5 * (cr_violation_score_smooth(&state->gradient.score, state->attack->forward + i) -
                  cr_violation_score_smooth(&state->gradient.score, negated_output(state, i)));
}

/* Writes weights, the odd parts less `slope` times the noise along the direction, and returns their
 * mean square. */
static double write_weights(const cr_attack_state *state, size_t pairs, double slope)
{
    const cr_context *probe = &state->attack->probe;
    double square = 0;
    for (size_t i = 0; i < pairs; i++) {
        const double residual = odd_part(state, i) - slope * probe->replay->host.dots[i];
        probe->replay->host.weights[i] = (float)residual;
        square += residual * residual;
    }
    return square / (double)pairs;
}

static double slope_along_direction(const cr_attack_state *state, size_t pairs)
{
    const double *dots = state->attack->probe.replay->host.dots;
    double product = 0, square = 0;
    for (size_t i = 0; i < pairs; i++) {
        product += dots[i] * odd_part(state, i);
        square += dots[i] * dots[i];
    }
    return square > 0 ? product / square : 0;
}

certreg_status cr_ascent_step_update_direction(cr_attack_state *state, const cr_ascent_step *step)
{
    certreg_attack *a = state->attack;
    const cr_context *probe = &a->probe;
    const size_t d = probe->record->model.inputs, n = step->pairs;
    if (state->direction_is_given) return CERTREG_OK;
    certreg_status status = cr_replay_set_direction(probe->replay, a->direction);
    if (!status) status = cr_replay_project(probe->replay, 0, n);
    if (status) return status;
    const double slope = slope_along_direction(state, n), noise = write_weights(state, n, slope);
    if (!(slope > 0) || !isfinite(slope)) return CERTREG_OK;
    status = cr_replay_clear(probe->replay);
    if (!status) status = cr_replay_add(probe->replay, 0, n, 1);
    if (!status) status = cr_replay_sums(probe->replay, 1, a->half_sums);
    if (status) return status;
    cr_vector_mask(a->half_sums, probe->replay->host.mask, d);
    const double weight = slope / fmax(noise, 1e-6 * slope * slope);
    for (size_t j = 0; j < d; j++)
        a->gradient_sum[j] +=
            weight * (a->half_sums[j] + (double)n * slope * (double)a->direction[j]);
    cr_vector_normalize(a->gradient_sum, d, a->direction);
    return CERTREG_OK;
}
