/* The search for a shift: the step of the ascent, and the ascent. */
#include "attack/attack.h"
#include "record/record.h"
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

/* ======== One step: pairs are sampled at a shifted input, and give a level and a gradient at
 * this point. The ascent and the violation tests take the same steps. */
typedef struct cr_ascent_step {
    size_t pairs;
    double radius;         /* length of the requested shift */
    double level;          /* link of the mean of `outside` there */
    double pair_deviation; /* deviation of its averages over pairs */
} cr_ascent_step;

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
/* The average of one score over pair i of the last step. */
static double cr_ascent_step_average(const cr_attack_state *state, const cr_score *score, size_t i)
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

/* Calls the model 2*pairs times at z + radius*D*direction, and estimates the level. Outputs stay in
 * the attack's `forward` and the probe's record until the next step. Fails as
 * certreg_estimator_sample. */
static certreg_status cr_ascent_step_evaluate(cr_attack_state *state, double radius, size_t pairs,
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

/* Adds the gradient at this point to the sum of gradients, unless the direction is given, and
 * renews the direction. */
static certreg_status cr_ascent_step_update_direction(cr_attack_state *state,
                                                      const cr_ascent_step *step)
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

/* ======== The order of an attack: an ascent that finds direction and radius, then violation
 * tests, which also improve the estimates for the next test (theory 11.3, 11.4). */
/* ---- the violation test */
static const double tail_error_factor = 1 + 1e-9; /* more than the relative error of a tail */

size_t cr_violation_test_min_pairs(double alpha)
{
    return (size_t)ceil(log2(1 / alpha) + 1e-9);
}

/* If T is inside, both outputs of a pair that agrees are out with probability at most 1/2. */
static int passes_binomial(const cr_attack_state *state, size_t pairs, double alpha)
{
    uint64_t outside = 0, inside = 0;
    for (size_t i = 0; i < pairs; i++) {
        const double average = cr_ascent_step_average(state, &state->gradient.score.outside, i);
        outside += average > 0.5;
        inside += average < -0.5;
    }
    return outside > inside &&
           cr_binomial_cdf(inside, inside + outside, 0.5) * tail_error_factor <= alpha;
}

typedef struct pair_values { /* of a bet on averages of pairs */
    const cr_attack_state *state;
    const cr_score *score;
} pair_values;

static double average_at(const void *context, size_t i)
{
    const pair_values *values = context;
    return cr_ascent_step_average(values->state, values->score, i);
}

static int passes_mean(const cr_attack_state *state, const cr_score *score, cr_betting_problem bet,
                       double alpha)
{
    const pair_values values = {state, score};
    bet.value = average_at;
    bet.context = &values;
    return cr_betting_lower(&bet, alpha, 0) > 1e-12 * (bet.hi - bet.lo);
}

/* Returns 1 if the pairs of the last step prove at level alpha that T is out at its point, else 0.
 * The number of pairs was fixed beforehand. prior_moments: of averages of earlier steps. */
static int cr_violation_test_passes(const cr_attack_state *state, size_t pairs,
                                    const cr_running_moments prior_moments[2], double alpha)
{
    const cr_violation_score *x = &state->gradient.score;
    const cr_betting_problem
        guard = {.lo = -1, .hi = 1, .count = pairs, .pilot_moments = prior_moments[1]},
        outside = {.lo = x->lo, .hi = x->hi, .count = pairs, .pilot_moments = prior_moments[0]};
    if (x->has_guard && !passes_mean(state, &x->guard, guard, alpha)) return 0;
    return cr_violation_score_is_binomial(x) ? passes_binomial(state, pairs, alpha)
                                             : passes_mean(state, &x->outside, outside, alpha);
}

/* The radius of the point of the last step: ||D^-1 (point - z)||, rounded up. Differences of two
 * floats are exact in double unless one of them is negligible. */
static double cr_violation_test_radius(const cr_attack_state *state)
{
    const certreg_attack *a = state->attack;
    const cr_input *input = &a->target.record->input;
    const size_t d = a->target.record->model.inputs;
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        if (!(input->scale[j] > 0)) continue;
        const double shift =
            ((double)a->shifted_input[j] - (double)input->z[j]) / (double)input->scale[j];
        sum += shift * shift;
    }
    const double rounded_up = sqrt(sum + (double)d * DBL_MIN) * (1 + ((double)d + 8) * DBL_EPSILON);
    return sum > 0 ? rounded_up : 0;
}

/* Fractions of pairs and of alpha. A given direction is followed only until the radius is known. */
enum { ASCENT_STEPS = 6, DIRECTED_STEPS = 4, TESTS = 2, MAX_TESTS = 3, MIN_PAIRS = 5 };
static const double ascent_fraction = 0.5, directed_fraction = 0.2;
static const size_t many_pairs = 2000;         /* for which one more test pays */
static const double sequential_fraction = 0.9; /* of alpha: each test up to the first failure */
/* In standard errors: margins at which a test passes more often than not. */
static const double first_margin = 1.4, later_margin = 1.0, last_margin = 2.6;
static const double max_sigmas = 20; /* in sigma: the search ends there */
static const double decay = 0.4;     /* weight of an estimate once the direction has improved */

typedef struct crossing {   /* estimates of the point at which the statistic leaves the tolerance */
    double radius;          /* of the crossing */
    double radius_error;    /* of this radius */
    double link_slope;      /* growth of the link with radius/sigma */
    double level_deviation; /* error of a level at the crossing, times the root of the pairs */
    double radius_sum, radius_weight; /* of the radii that later steps estimated */
} crossing;

typedef struct violation_test { /* a test at one shift */
    size_t pairs;
    double alpha;
    double margin; /* in standard errors */
} violation_test;

static int step_count(const cr_attack_state *state)
{
    return state->direction_is_given ? DIRECTED_STEPS : ASCENT_STEPS;
}

static size_t pairs_per_step(const cr_attack_state *state)
{
    const double fraction = state->direction_is_given ? directed_fraction : ascent_fraction;
    const size_t total_pairs = state->budget / 2;
    return (size_t)(fraction * (double)total_pairs) / (size_t)step_count(state);
}

size_t cr_ascent_min_calls(double alpha, int direction_is_given)
{
    const double fraction = direction_is_given ? directed_fraction : ascent_fraction;
    const size_t for_tests =
                     (size_t)ceil((double)cr_violation_test_min_pairs(sequential_fraction * alpha) /
                                  ((1 - fraction) / TESTS)),
                 for_ascent = (size_t)ceil(
                     MIN_PAIRS * (direction_is_given ? DIRECTED_STEPS : ASCENT_STEPS) / fraction);
    return 2 * ((for_tests > for_ascent ? for_tests : for_ascent) + 2);
}

/* ---- the ascent */
static double link_slope_from(const cr_attack_state *state, const cr_ascent_step *step)
{
    const cr_violation_gradient *gradient = &state->gradient;
    const double prior_slope = gradient->link_slope > 0 ? gradient->link_slope : 0.7,
                 max_slope = cr_violation_score_is_binomial(&gradient->score) ? 1 : 4 * prior_slope;
    if (!(step->radius > 0.05 * state->sigma)) return fmin(prior_slope, max_slope);
    const double chord = (step->level - gradient->level) * state->sigma / step->radius;
    return fmin(fmax(chord, 0.25 * prior_slope), max_slope);
}

static void record_step(const cr_attack_state *state, const cr_ascent_step *step, int is_weighted,
                        crossing *c)
{
    c->link_slope = link_slope_from(state, step);
    c->level_deviation =
        step->pair_deviation * cr_violation_score_link_derivative(&state->gradient.score, 0);
    const double crossing_radius = step->radius - state->sigma * step->level / c->link_slope;
    c->radius = fmin(fmax(crossing_radius, 0.5 * step->radius),
                     fmin(1.7 * step->radius + 0.2 * state->sigma, max_sigmas * state->sigma));
    if (!is_weighted) return;
    const double n = (double)step->pairs;
    c->radius_sum = decay * c->radius_sum + n * c->radius;
    c->radius_weight = decay * c->radius_weight + n;
    c->radius = c->radius_sum / c->radius_weight;
    c->radius_error = state->sigma * c->level_deviation / sqrt(c->radius_weight) / c->link_slope;
}

static certreg_status ascend(cr_attack_state *state, crossing *c)
{
    const int steps = step_count(state);
    for (int k = 0; k < steps; k++) {
        cr_ascent_step step;
        certreg_status status =
            cr_ascent_step_evaluate(state, c->radius, pairs_per_step(state), &step);
        if (status) return status;
        record_step(state, &step, 2 * k >= steps, c);
        if ((status = cr_ascent_step_update_direction(state, &step))) return status;
    }
    return CERTREG_OK;
}

/* ---- the violation tests */
/* A radius at which the test passes in spite of errors up to its margin. A bet on a mean also has
 * to make up for values that are possible and rare. */
static double test_radius(const cr_attack_state *state, const crossing *c, violation_test test)
{
    const cr_violation_score *x = &state->gradient.score;
    const double n = (double)test.pairs, radius_unit = state->sigma / c->link_slope,
                 error = radius_unit * c->level_deviation / sqrt(n),
                 rare_margin = cr_violation_score_is_binomial(x)
                                   ? 0
                                   : radius_unit * (x->hi - x->lo) * log(1 / test.alpha) / (3 * n),
                 margin = cr_normal_quantile_sf(test.alpha) * error + rare_margin +
                          test.margin * sqrt(error * error + c->radius_error * c->radius_error);
    return fmin(fmax(0, c->radius + margin), max_sigmas * state->sigma);
}

/* Keeps the shift of a test that passed if it is the shortest. */
static void keep_shorter_radius(cr_attack_state *state, double requested_radius)
{
    const cr_input *input = &state->attack->target.record->input;
    const double radius = cr_violation_test_radius(state);
    if (!(radius < state->radius)) return;
    state->radius = radius;
    for (size_t j = 0; state->shift && j < state->attack->target.record->model.inputs; j++)
        state->shift[j] = (float)(requested_radius * (double)input->scale[j] *
                                  (double)state->attack->direction[j]);
}

/* The test before improves the direction; nothing is done for a direction that no test needs. */
static certreg_status run_violation_test(cr_attack_state *state, crossing *c, violation_test test,
                                         cr_ascent_step *step, int *passed)
{
    const cr_running_moments prior_moments[2] = {state->moments[0], state->moments[1]};
    const double radius = test_radius(state, c, test);
    certreg_status status = step->pairs ? cr_ascent_step_update_direction(state, step) : CERTREG_OK;
    if (!status) status = cr_ascent_step_evaluate(state, radius, test.pairs, step);
    if (status) return status;
    *passed = cr_violation_test_passes(state, test.pairs, prior_moments, test.alpha);
    if (*passed) keep_shorter_radius(state, radius);
    record_step(state, step, 1, c);
    return CERTREG_OK;
}

/* All tests until the first failure have the same level, since a false one passes only if the first
 * false one does (theory 11.3). If the first test fails, a last one has the remaining alpha. */
static certreg_status run_violation_tests(cr_attack_state *state, crossing *c)
{
    const size_t pairs_left = (state->budget - state->calls_used) / 2,
                 count = pairs_left < many_pairs ? TESTS : MAX_TESTS;
    certreg_status status = CERTREG_OK;
    cr_ascent_step step = {.pairs = 0};
    int passed = 1;
    for (size_t k = 0; k < count && passed && !status; k++) {
        const violation_test next = {pairs_left / count, sequential_fraction * state->alpha,
                                     k ? later_margin : first_margin};
        status = run_violation_test(state, c, next, &step, &passed);
    }
    if (status || state->radius < INFINITY) return status;
    const violation_test last = {(state->budget - state->calls_used) / 2,
                                 (1 - sequential_fraction) * state->alpha, last_margin};
    return run_violation_test(state, c, last, &step, &passed);
}

certreg_status cr_ascent_run(cr_attack_state *state)
{
    const double forecast = cr_violation_gradient_forecast(&state->gradient, state->sigma);
    crossing c = {.radius = isnan(forecast) ? state->sigma
                                            : fmin(forecast, max_sigmas * state->sigma)};
    if (!state->direction_is_given &&
        !cr_vector_normalize(state->attack->gradient_sum,
                             state->attack->target.record->model.inputs, state->attack->direction))
        return CERTREG_OK; /* there is nowhere to go */
    const certreg_status status = ascend(state, &c);
    return status ? status : run_violation_tests(state, &c);
}
