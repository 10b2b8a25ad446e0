/* Adds a record with its truth to a calibration, as one point. */
#include "base/bytes.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "estimator/context.h"
#include "conformal/conformal.h"
#include "statistics/order_statistics.h"
#include <math.h>

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
    cr_score_source source;
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
