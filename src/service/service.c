/* The ticks of a deployed loop. */
#include "base/error.h"
#include "base/handle.h"
#include "base/os.h"
#include "base/struct_sizes.h"
#include "certify/certify.h"
#include "service/service.h"
#include <math.h>
#include <string.h>

/* A simulated reading that is farther from 0 is outside (theory 14.5). The deployed loop takes what
 * float carries, at least 752 deviations more, so that no attack pushes a reading over its limit.
 */
#define MAX_DEVIATIONS 32000.0

/* ======== Calls, and what every tick reports. */
static certreg_status enter(certreg_service *s)
{
    if (!s) return CERTREG_E_INVALID;
    return cr_handle_is_own(s) ? cr_estimator_enter(s->w.estimator, NULL) : CERTREG_E_VERSION;
}

static certreg_status leave(certreg_service *s, certreg_status status)
{
    return cr_estimator_leave(s->w.estimator, status);
}

static double now(const certreg_service *s)
{
    return cr_deadline_now(s->w.record->deadline);
}

typedef struct answer { /* of a tick */
    int32_t source;     /* CERTREG_SOURCE_... */
    double left;        /* the radius that is left */
} answer;

/* Fails unless this kind of tick is allowed now. */
static certreg_status check_tick(const certreg_service *s, const float *reading, const float *noisy,
                                 const double *action, const certreg_tick *out)
{
    certreg_error *why = s->w.why;
    const certreg_status status = out ? cr_struct_check(out, CR_OLDEST_TICK, "tick", why)
                                      : CERTREG_OK;
    if (status) return status;
    if (!reading || (!noisy && !action))
        return cr_error_set(why, CERTREG_E_INVALID, "%s is NULL",
                            reading ? "the array of the answer" : "reading");
    if (s->is_episode != (noisy != NULL))
        return cr_error_set(why, CERTREG_E_WRONG_STATE,
                            s->is_episode ? "the certificate is about an episode: call "
                                            "certreg_service_sense"
                                          : "the certificate is about single inputs: call "
                                            "certreg_service_act");
    if (!s->is_started)
        return cr_error_set(why, CERTREG_E_WRONG_STATE,
                            "the service has no noise yet: call certreg_service_start");
    if (!s->is_episode || s->number < s->plan.ticks) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_TOO_MANY,
                        "the episode has ended after %zu ticks, and later readings have no "
                        "guarantee: call certreg_service_start",
                        s->plan.ticks);
}

/* Counts a tick, and reports it. */
static void end_tick(certreg_service *s, const answer *a, double start, certreg_tick *out)
{
    const certreg_tick tick = {.struct_size = sizeof tick,
                               .source = a->source,
                               .number = s->number++,
                               .left = a->left,
                               .seconds = now(s) - start};
    const int was_slow = s->plan.deadline > 0 && tick.seconds > s->plan.deadline;
    s->log.ticks++;
    s->log.answered += a->source == CERTREG_SOURCE_ANSWERED;
    s->log.outside += a->source == CERTREG_SOURCE_OUTSIDE;
    s->log.failed += a->source == CERTREG_SOURCE_FAILED;
    s->log.late += was_slow || a->source == CERTREG_SOURCE_LATE;
    if (out) cr_struct_write(out, out->struct_size, &tick, sizeof tick);
}

/* ======== Episodes. */
static float deviation_of(double sigma, const float *scale, size_t sensor)
{
    return (float)(sigma * (scale ? (double)scale[sensor] : 1));
}

static int is_within(float reading, double limit)
{
    return isfinite(reading) && fabs((double)reading) <= limit;
}

/* Takes a reading, with zeros in place of hidden sensors, which may have any value. */
static certreg_status take_reading(certreg_service *s, const float *reading)
{
    const float *scale = s->w.record->input.scale;
    for (size_t j = 0; j < s->w.record->model.inputs; j++) {
        const float deviation = deviation_of(s->sigma, scale, j);
        const double limit = deviation > 0 ? cr_grid_max_input(deviation) : INFINITY;
        s->reading[j] = s->hidden[j] ? 0 : reading[j];
        if (is_within(s->reading[j], limit)) continue;
        return cr_error_set(s->w.why, CERTREG_E_OUT_OF_RANGE,
                            "reading[%zu] is %g; it must be finite and at most %g, which float32 "
                            "noise of %g allows: the episode counts as outside",
                            j, (double)reading[j], limit, (double)deviation);
    }
    return CERTREG_OK;
}

/* Each tick has a sample of its own under one seed and noise id, which has one mask. */
static certreg_status draw(certreg_service *s, float *noisy)
{
    certreg_estimator *e = s->w.estimator;
    const certreg_status status = cr_estimator_begin(e, s->reading, s->sigma, 0, 0);
    return status ? status : cr_estimator_draw(e, s->number, 1, noisy);
}

static void write_nan(float *out, size_t count)
{
    for (size_t j = 0; j < count; j++) out[j] = NAN;
}

static certreg_status sense(certreg_service *s, const float *reading, float *noisy, answer *a)
{
    certreg_status status = take_reading(s, reading);
    if (!status) status = draw(s, noisy);
    if (!status) *a = (answer){CERTREG_SOURCE_ANSWERED, s->certificate.radius};
    return status;
}

/* ---- the same in the callback */
static int sense_row(double sigma, const float *scale, size_t sensors, const float *noise,
                     const float *reading, float *noisy)
{
    int failed = !(sigma > 0) || isinf(sigma);
    for (size_t j = 0; j < sensors; j++) {
        const float deviation = deviation_of(sigma, scale, j);
        float sensed = reading[j];
        double limit = INFINITY;
        if (deviation > 0) {
            const double step = cr_grid_step(deviation);
            limit = MAX_DEVIATIONS * (double)deviation;
            sensed = (float)(step * rint((double)sensed / step) + (double)noise[j]);
        }
        failed |= !isnan(noise[j]) && !is_within(reading[j], limit);
        noisy[j] = isnan(noise[j]) ? NAN : sensed;
    }
    if (failed) write_nan(noisy, sensors);
    return failed;
}

/* A callback calls this in every tick, and a change of the environment takes longer than all else
 * here. Only the direction of rounding matters. */
size_t certreg_episode_sense(double sigma, const float *scale, size_t sensors, size_t rows,
                             const float *noise, size_t stride, const float *reading, float *noisy)
{
    const int changes = fegetround() != FE_TONEAREST;
    fenv_t callers;
    size_t failed = 0;
    if (changes) cr_environment_enter(&callers);
    for (size_t i = 0; i < rows; i++)
        failed += (size_t)sense_row(sigma, scale, sensors, noise + i * stride,
                                    reading + i * sensors, noisy + i * sensors);
    if (changes) cr_environment_leave(&callers);
    return failed;
}

/* ======== Acts. */
/* The radius that is left about the reading, 0 if none is. */
static double radius_left(const certreg_service *s, const float *reading)
{
    certreg_certificate moved = {.struct_size = sizeof moved};
    const cr_record *r = s->w.record;
    const certreg_status status = certreg_move_certificate(
        &s->certificate, r->model.inputs, r->input.scale, s->anchor, reading, NULL, &moved);
    return status ? 0 : moved.radius;
}

static int is_finite(const double *values, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!isfinite(values[k])) return 0;
    return 1;
}

/* The statistic of fresh samples at the reading that has begun. */
static certreg_status serve(const certreg_service *s, double start, double *action)
{
    const cr_context *w = &s->w;
    cr_conditions c = {.scratch = w->scratch};
    w->clock->expires_at = s->plan.deadline > 0 ? start + s->plan.deadline : 0;
    certreg_status status = cr_estimator_sample(w->estimator, 0, s->serving.samples, 0, 0);
    if (!status)
        status = cr_question_load_for_estimate(w->record, &s->question, &c.question, w->why);
    if (!status) status = cr_prediction_report_estimate(w->record, &c, action, w->why);
    if (status == CERTREG_E_DEADLINE) w->clock->fastest_batch = 0; /* maybe an outlier: try again */
    return status;
}

/* Sets the squared distance of each unit from the anchor. */
static void measure_units(const certreg_service *s, const float *reading)
{
    const cr_record *r = s->w.record;
    const certreg_masks *m = r->model.masks;
    for (size_t u = 0; u < m->units; u++) s->distance[u] = 0;
    for (size_t j = 0; j < r->model.inputs; j++) {
        const double change = (double)reading[j] - (double)s->anchor[j],
                     part = change / (double)r->input.scale[j];
        if (m->unit[j] < 0 || change == 0) continue;
        s->distance[m->unit[j]] += isfinite(part) ? part * part : INFINITY;
    }
}

/* Puts the anchor in place of the farthest units, as many as may have any value (theory 1.12). */
static const float *without_faults(const certreg_service *s, const float *reading)
{
    const cr_record *r = s->w.record;
    if (!s->question.faults) return reading;
    memcpy(s->reading, reading, r->model.inputs * sizeof *reading);
    measure_units(s, reading);
    for (uint64_t k = 0; k < s->question.faults; k++) {
        int32_t farthest = 0;
        for (size_t u = 1; u < r->model.masks->units; u++)
            if (s->distance[u] > s->distance[farthest]) farthest = (int32_t)u;
        for (size_t j = 0; j < r->model.inputs; j++)
            if (r->model.masks->unit[j] == farthest) s->reading[j] = s->anchor[j];
        s->distance[farthest] = 0;
    }
    return s->reading;
}

static certreg_status act(const certreg_service *s, const float *reading, double start,
                          double *action, answer *a)
{
    const cr_context *w = &s->w;
    certreg_status status =
        cr_estimator_begin(w->estimator, without_faults(s, reading), s->sigma, s->number, 0);
    if (status) return status;
    *a = (answer){CERTREG_SOURCE_OUTSIDE, radius_left(s, w->record->input.z)};
    if (!(a->left > 0) || a->left < s->plan.reading_error) return CERTREG_OK;
    if (s->question.serving) status = serve(s, start, action);
    else memcpy(action, s->prediction, s->actions * sizeof *action);
    if (!status && !is_finite(action, s->actions))
        status = cr_error_set(w->why, CERTREG_E_NOT_FINITE,
                              "so many outputs of fresh samples failed that the rest has no "
                              "statistic");
    a->source = status ? CERTREG_SOURCE_FAILED : CERTREG_SOURCE_ANSWERED;
    if (status != CERTREG_E_DEADLINE) return status;
    a->source = CERTREG_SOURCE_LATE;
    cr_error_clear(w->why); /* it is no failure */
    return CERTREG_OK;
}

/* ======== A tick, of either kind. */
typedef struct outputs { /* of the caller: one of both */
    float *noisy;
    double *action;
} outputs;

/* Writes what stands for an answer: NaN, or the fallback. */
static void write_fallback(const certreg_service *s, const outputs *to)
{
    if (to->noisy && s->is_episode) write_nan(to->noisy, s->w.record->model.inputs);
    if (to->action && !s->is_episode)
        memcpy(to->action, s->fallback, s->actions * sizeof *to->action);
}

static certreg_status run_tick(certreg_service *s, const float *reading, const outputs *to,
                               certreg_tick *out)
{
    answer a = {CERTREG_SOURCE_FAILED, 0};
    const double start = now(s);
    certreg_status status = check_tick(s, reading, to->noisy, to->action, out);
    if (!status) {
        status = s->is_episode ? sense(s, reading, to->noisy, &a)
                               : act(s, reading, start, to->action, &a);
        end_tick(s, &a, start, out);
    }
    if (a.source != CERTREG_SOURCE_ANSWERED) write_fallback(s, to);
    return status;
}

static certreg_status tick(certreg_service *s, const float *reading, const outputs *to,
                           certreg_tick *out)
{
    const certreg_tick nothing = {.struct_size = sizeof nothing};
    const certreg_status refused = enter(s);
    if (out) cr_struct_write_empty(out, CR_OLDEST_TICK, &nothing, sizeof nothing);
    if (!refused) return leave(s, run_tick(s, reading, to, out));
    if (s && cr_handle_is_own(s)) write_fallback(s, to);
    return refused;
}

certreg_status certreg_service_sense(certreg_service *s, const float *reading, float *noisy,
                                     certreg_tick *out)
{
    return tick(s, reading, &(outputs){.noisy = noisy}, out);
}

certreg_status certreg_service_act(certreg_service *s, const float *reading, double *action,
                                   certreg_tick *out)
{
    return tick(s, reading, &(outputs){.action = action}, out);
}

/* ======== A start, an anchor, and reports. */
static certreg_status start(certreg_service *s, uint64_t seed)
{
    cr_record *r = s->w.record;
    if (seed == s->certified_seed)
        return cr_error_set(s->w.why, CERTREG_E_INVALID,
                            "the seed is that of the estimator that certified, and its noise is no "
                            "secret: give 0, or the seed of a log");
    if (!seed && cr_os_random64(&seed))
        return cr_error_set(s->w.why, CERTREG_E_PLATFORM,
                            "the system has no randomness to draw secret noise from");
    s->is_started = 0;
    r->plan.seed = s->log.seed = seed;
    s->number = 0;
    if (s->is_episode) {
        memset(s->reading, 0, r->model.inputs * sizeof *s->reading);
        const certreg_status status = draw(s, s->reading);
        if (status) return status;
        for (size_t j = 0; j < r->model.inputs; j++) s->hidden[j] = isnan(s->reading[j]);
    }
    s->is_started = 1;
    s->log.starts++;
    return CERTREG_OK;
}

certreg_status certreg_service_start(certreg_service *s, uint64_t seed)
{
    const certreg_status status = enter(s);
    return status ? status : leave(s, start(s, seed));
}

certreg_status certreg_service_anchor(certreg_service *s, const float *z,
                                      const certreg_certificate *certificate)
{
    const certreg_status status = enter(s);
    if (status) return status;
    return leave(s, s->is_episode ? cr_error_set(s->w.why, CERTREG_E_WRONG_STATE,
                                                 "an episode has one certificate, and no anchor")
                                  : cr_service_anchor(s, z, certificate, s->w.why));
}

certreg_status certreg_service_certificate(certreg_service *s, certreg_certificate *out)
{
    certreg_status status = enter(s);
    if (status) cr_certificate_write_empty(NULL, status, 0, 1, out);
    if (status) return status;
    status = cr_struct_check(out, CR_OLDEST_CERTIFICATE, "out", s->w.why);
    if (!status) cr_struct_write(out, out->struct_size, &s->certificate, sizeof s->certificate);
    return leave(s, status);
}

certreg_status certreg_service_info(certreg_service *s, certreg_service_log *out)
{
    const certreg_service_log nothing = {.struct_size = sizeof nothing};
    certreg_status status = enter(s);
    if (status) {
        cr_struct_write_empty(out, CR_OLDEST_SERVICE_LOG, &nothing, sizeof nothing);
        return status;
    }
    status = cr_struct_check(out, CR_OLDEST_SERVICE_LOG, "out", s->w.why);
    if (!status) cr_struct_write(out, out->struct_size, &s->log, sizeof s->log);
    return leave(s, status);
}
