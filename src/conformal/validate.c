/* Checks of a calibration, and of a record that is to be scored with it; digests of both.
 * Calibration and prediction share them, so that scores of both are comparable. */
#include "base/bytes.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "conformal/conformal.h"
#include <math.h>

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

uint64_t cr_conformal_model_digest(cr_view *v, const certreg_calibration *c)
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
