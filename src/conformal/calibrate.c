/* Calibration: the checks and scores that it shares with prediction, and its points. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/struct_sizes.h"
#include "conformal/conformal.h"
#include "estimator/context.h"
#include "statistics/location.h"
#include <math.h>

/* ======== Scores: how far an output is from its truth. */
static double distance(const cr_score_source *s, size_t index, double output)
{
    const certreg_model *m = &s->v->model;
    const size_t k = (size_t)s->calibration->output + index;
    const double period = m->kind[k] == CERTREG_OUTPUT_REAL ? 0 : m->hi[k] - m->lo[k],
                 unit = s->calibration->units ? s->calibration->units[index] : 1;
    return fabs(cr_location_wrap(s->truth[index], output, period)) / unit;
}

static double max_distance(const cr_score_source *s, const float *y)
{
    double max = 0;
    for (size_t k = 0; k < (size_t)s->calibration->outputs; k++)
        max = fmax(max, distance(s, k, (double)y[k]));
    return max;
}

static double euclidean_norm(const cr_score_source *s, const float *y)
{
    double squares = 0;
    if (s->calibration->outputs == 1) return max_distance(s, y);
    for (size_t k = 0; k < (size_t)s->calibration->outputs; k++) {
        const double d = distance(s, k, (double)y[k]);
        squares += d * d;
    }
    return sqrt(squares);
}

double cr_conformal_score(const void *context, size_t i)
{
    const cr_score_source *s = context;
    const certreg_calibration *c = s->calibration;
    const float *y = cr_view_output_ptr(s->v, s->first + i, c->output);
    for (size_t k = 0; k < (size_t)c->outputs; k++)
        if (isnan(y[k])) return s->failed;
    switch ((enum certreg_score)c->score) {
    case CERTREG_SCORE_NORM: return euclidean_norm(s, y);
    case CERTREG_SCORE_LARGEST: return max_distance(s, y);
    case CERTREG_SCORE_QUANTILES: return fmax((double)y[0] - *s->truth, *s->truth - (double)y[1]);
    }
    return INFINITY;
}

/* ======== Checks of a calibration, and of a record that is to be scored with it; digests of both.
 * Calibration and prediction share them, so that scores of both are comparable. */
certreg_status cr_conformal_check_outputs(cr_view *v, const certreg_calibration *c,
                                          certreg_error *why)
{
    const int quantiles = c->score == CERTREG_SCORE_QUANTILES;
    if (c->output < 0 || c->outputs < 1 ||
        (uint64_t)c->output + (uint64_t)c->outputs > v->model.outputs)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "calibration.output = %d and .outputs = %d exceed the outputs of the model; "
            "give indices below model.outputs = %zu",
            (int)c->output, (int)c->outputs, v->model.outputs);
    if (quantiles && (c->outputs != 2 || c->units))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "calibration.outputs must be 2 and .units NULL with "
                            "CERTREG_SCORE_QUANTILES");
    for (int32_t k = 0; k < c->outputs; k++) {
        if (quantiles && v->model.kind[c->output + k] != CERTREG_OUTPUT_REAL)
            return cr_error_set(why, CERTREG_E_INVALID,
                                "output %d is an angle; CERTREG_SCORE_QUANTILES needs REAL outputs",
                                (int)(c->output + k));
        if (c->units && !(c->units[k] > 0 && isfinite(c->units[k])))
            return cr_error_set(why, CERTREG_E_INVALID,
                                "calibration.units[%d] is %g; it must be positive and finite",
                                (int)k, c->units[k]);
    }
    return CERTREG_OK;
}

static int is_known_score(int32_t score)
{
    switch ((enum certreg_score)score) {
    case CERTREG_SCORE_NORM:
    case CERTREG_SCORE_LARGEST:
    case CERTREG_SCORE_QUANTILES: return 1;
    }
    return 0;
}

certreg_status cr_conformal_read(const certreg_calibration *caller_calibration,
                                 certreg_calibration *out, certreg_error *why)
{
    const certreg_status status = cr_struct_read(out, sizeof *out, CR_OLDEST_CALIBRATION,
                                                 caller_calibration, "calibration", why);
    if (status) return status;
    if (!is_known_score(out->score))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "calibration.score is %d; it must be one of CERTREG_SCORE_...",
                            (int)out->score);
    if (!out->outputs) out->outputs = out->score == CERTREG_SCORE_QUANTILES ? 2 : 1;
    if (!out->scores || out->count > out->capacity)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "calibration.scores has room for %llu points (capacity), and count is %llu",
            out->scores ? (unsigned long long)out->capacity : 0, (unsigned long long)out->count);
    return CERTREG_OK;
}

/* Farther away, the difference to an output would lose digits. */
static int is_near_range(const certreg_model *m, int32_t k, double truth)
{
    const double period = m->hi[k] - m->lo[k];
    return m->kind[k] == CERTREG_OUTPUT_REAL ||
           (truth >= m->lo[k] - period && truth <= m->hi[k] + period);
}

certreg_status cr_conformal_check_truth(cr_view *v, const certreg_calibration *c,
                                        const double *truth, certreg_error *why)
{
    const int32_t count = c->score == CERTREG_SCORE_QUANTILES ? 1 : c->outputs;
    if (!truth) return cr_error_set(why, CERTREG_E_INVALID, "truth is NULL");
    for (int32_t k = 0; k < count; k++) {
        if (!isfinite(truth[k]))
            return cr_error_set(why, CERTREG_E_INVALID, "truth[%d] is %g; it must be finite",
                                (int)k, truth[k]);
        if (!is_near_range(&v->model, c->output + k, truth[k]))
            return cr_error_set(
                why, CERTREG_E_INVALID,
                "truth[%d] is %g, more than a turn away from the turn of output %d: "
                "subtract whole turns",
                (int)k, truth[k], (int)(c->output + k));
    }
    return CERTREG_OK;
}

certreg_status cr_conformal_samples(cr_view *v, const certreg_calibration *c, cr_score_source *out,
                                    certreg_error *why)
{
    size_t samples;
    certreg_status status = cr_view_require_input(v, why);
    if (!status) status = cr_view_require_certifying(v, why);
    if (!status && v->plan.flags & CERTREG_PLAN_EPISODE)
        status = cr_error_set(why, CERTREG_E_INVALID,
                              "plan.flags has CERTREG_PLAN_EPISODE, and prediction intervals are "
                              "proved for fixed shifts only: leave the flag out for them");
    if (!status) status = cr_view_require_in_range(v, why);
    if (!status) status = cr_view_require_contiguous(v, &samples, why);
    if (status) return status;
    if (samples <= v->pilot)
        return cr_error_set(
            why, CERTREG_E_WRONG_STATE,
            "the record has %zu samples, all of them the pilot's, which are not used: "
            "take more, or set plan.pilot to SIZE_MAX",
            samples);
    if (!cr_query_log_allows(v, samples)) return cr_query_log_refuse(v, "", samples, why);
    *out =
        (cr_score_source){.v = v, .calibration = c, .first = v->pilot, .count = samples - v->pilot};
    return CERTREG_OK;
}

/* A digest of what makes scores comparable. */
static uint64_t cr_conformal_model_digest(cr_view *v, const certreg_calibration *c)
{
    uint64_t h = cr_view_hash_model(v, cr_hash64(CR_HASH_START, v->model.inputs));
    h = cr_hash32(cr_hash32(h, (uint32_t)c->score), (uint32_t)c->output);
    h = cr_hash32(h, (uint32_t)c->outputs);
    for (int32_t k = 0; k < c->outputs; k++)
        h = cr_hash64(h, cr_bits_of_double(c->units ? c->units[k] : 1));
    return cr_hash_end(h);
}

uint64_t cr_conformal_digest(const certreg_calibration *c, const certreg_rule *r)
{
    uint64_t h = cr_hash64(cr_hash64(CR_HASH_START, cr_bits_of_double(c->sigma)), c->seed);
    h = cr_hash64(cr_hash64(h, c->model), c->samples);
    h = cr_hash64(cr_hash64(h, c->first_noise), c->last_noise);
    h = cr_hash64(cr_hash64(h, c->digest), c->count);
    h = cr_hash64(cr_hash64(h, cr_bits_of_double(r->alpha)), cr_bits_of_double(r->radius));
    h = cr_hash64(cr_hash64(h, cr_bits_of_double(r->threshold)), r->samples);
    h = cr_hash_end(cr_hash64(h, r->sample_rank));
    return h ? h : 1;
}

certreg_status cr_conformal_check_noise(cr_view *v, certreg_error *why)
{
    if (v->input.min_sigma * (1 + CR_CONFORMAL_DEVIATION_ROUNDING) >= v->input.sigma)
        return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_INVALID,
        "sigma*scale of some feature is too small for a float, so that radii in units of "
        "sigma would be too large: raise sigma or the scale");
}

certreg_status cr_conformal_check_same(cr_view *v, const certreg_calibration *c, certreg_error *why)
{
    if (v->input.sigma != c->sigma)
        return cr_error_set(
            why, CERTREG_E_MISMATCH,
            "sigma is %.17g, and the calibration's is %.17g: begin every input with the same sigma",
            v->input.sigma, c->sigma);
    if (cr_conformal_model_digest(v, c) != c->model)
        return cr_error_set(why, CERTREG_E_MISMATCH,
                            "the points of the calibration were scored otherwise: scale, kinds of "
                            "outputs, turns, score, output, outputs and units must stay");
    return CERTREG_OK;
}

/* ======== Adds a record with its truth to a calibration, as one point. */
/* Fixes, at the first point, the facts that all points must share. */
static void fix_setting(cr_view *v, const cr_score_source *s, certreg_calibration *c)
{
    c->sigma = v->input.sigma;
    c->seed = v->input.noise.seed;
    c->model = cr_conformal_model_digest(v, c);
    c->samples = s->count;
    c->digest = CR_HASH_START;
    c->first_noise = c->last_noise = v->input.noise.noise_id;
}

static certreg_status check_agreement(cr_view *v, const cr_score_source *s,
                                      const certreg_calibration *c, certreg_error *why)
{
    const certreg_status status = cr_conformal_check_same(v, c, why);
    if (status) return status;
    if (v->input.noise.seed != c->seed)
        return cr_error_set(why, CERTREG_E_MISMATCH,
                            "plan.seed is not the calibration's seed: take all points with one "
                            "estimator, or give each the same plan.seed");
    if (s->count != c->samples)
        return cr_error_set(
            why, CERTREG_E_MISMATCH,
            "the record has %zu samples beyond the pilot, and each earlier point has "
            "%llu: take the same number",
            s->count, (unsigned long long)c->samples);
    if (v->input.noise.noise_id <= c->last_noise)
        return cr_error_set(
            why, CERTREG_E_WRONG_STATE,
            "noise_id is %llu, and the last point's %llu: every point needs noise of its "
            "own, so give them ascending ids",
            (unsigned long long)v->input.noise.noise_id, (unsigned long long)c->last_noise);
    return CERTREG_OK;
}

/* Keeps a score for each level: the point is above the level if it is above the threshold. */
static void add_scores(const cr_score_source *s, certreg_calibration *c)
{
    uint64_t above[CR_WEIGHTS_LEVELS];
    const int levels = cr_weights_levels(s->count, above);
    const cr_indexed_values order = {.value = cr_conformal_score, .context = s, .count = s->count};
    double *scores = c->scores + c->count++ * (uint64_t)levels;
    for (int l = 0; l < levels; l++) {
        scores[l] = cr_order_select(&order, s->count - above[l]);
        c->digest = cr_hash64(c->digest, cr_bits_of_double(scores[l]));
    }
}

static certreg_status add_point(const cr_context *w, certreg_calibration *caller_calibration,
                                const double *truth)
{
    cr_view *v = w->record;
    certreg_error *why = w->why;
    certreg_calibration c;
    cr_score_source source = {.count = 0};
    certreg_status status = cr_conformal_read(caller_calibration, &c, why);
    if (!status) status = cr_conformal_check_outputs(v, &c, why);
    if (!status && c.count == c.capacity)
        status =
            cr_error_set(why, CERTREG_E_TOO_MANY,
                         "calibration.capacity is %llu, and it has that many points: make room",
                         (unsigned long long)c.capacity);
    if (!status) status = cr_conformal_check_truth(v, &c, truth, why);
    if (!status) status = cr_conformal_samples(v, &c, &source, why);
    if (!status) status = cr_conformal_check_noise(v, why);
    if (!status && c.count) status = check_agreement(v, &source, &c, why);
    if (status) return status;
    if (!c.count) fix_setting(v, &source, &c);
    source.truth = truth;
    source.failed = INFINITY;
    add_scores(&source, &c);
    c.last_noise = v->input.noise.noise_id;
    c.outputs = caller_calibration->outputs; /* a default stays what it is */
    cr_query_log_add_current(w->record, 0);
    cr_struct_write(caller_calibration, caller_calibration->struct_size, &c, sizeof c);
    return CERTREG_OK;
}

certreg_status certreg_estimator_calibrate(certreg_estimator *e, certreg_calibration *calibration,
                                           const double *truth)
{
    cr_context w;
    const certreg_status status = cr_estimator_enter(e, &w);
    return status ? status : cr_estimator_leave(e, add_point(&w, calibration, truth));
}
