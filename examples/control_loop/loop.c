/* loop.c: what runs on the controller. Every tick it certifies, by a deadline, that the network's
 * smoothed reading would be within TOLERANCE of its prediction without the camera's error. If the
 * last certificate still reaches far enough, that takes no call of the network. If nothing is
 * proved, the tilt sensor, which is coarse but has no adversary, takes the camera's place. */
#include "control_loop.h"
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <math.h>
#include <stdalign.h>
#include <stdio.h>

static alignas(64) unsigned char memory[LOOP_MEMORY], service_memory[LOOP_MEMORY];
static const certreg_question question = {
    .struct_size = sizeof question, .tolerance = TOLERANCE, .alpha = 1e-3};

settings loop_settings(int trust, int attacked)
{
    return (settings){.trust = trust,
                      .attacked = attacked,
                      .keep = 1,
                      .hertz = 200,
                      .seconds = 10,
                      .network = network_eval,
                      .pixels = PIXELS,
                      .memory = LOOP_MEMORY};
}

static void say(loop *l, const char *text)
{
    if (!l->said[0]) snprintf(l->said, sizeof l->said, "%s", text);
}

void loop_open(loop *l, const settings *set)
{
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = set->network,
                             .inputs = set->pixels,
                             .outputs = 1,
                             .batch = BATCH};
    const certreg_plan p = {.struct_size = sizeof p,
                            .seed = 42, /* so that runs repeat; a deployment gives none */
                            .max_samples = SAMPLES,
                            /* all that the finite-sample median needs */
                            .constraints = CERTREG_CONSTRAINT_MEAN,
                            .memory = memory,
                            .memory_bytes = set->memory};
    const certreg_service_plan service = {.struct_size = sizeof service,
                                          .reading_error = ERROR_BOUND,
                                          .memory = service_memory,
                                          .memory_bytes = set->memory};
    static const float dark[PIXELS];
    certreg_error why = {.struct_size = sizeof why};
    *l = (loop){.set = set};
    if (set->trust != TRUST_CERTIFICATE) return;
    if (certreg_estimator_create(NULL, &m, &p, &why, &l->estimator) ||
        certreg_estimator_begin(l->estimator, dark, SIGMA, UINT64_MAX) ||
        certreg_service_create(l->estimator, &question, NULL, &service, &why, &l->service) ||
        certreg_service_start(l->service, 0))
        say(l, why.text);
}

void loop_close(loop *l)
{
    certreg_service_destroy(l->service);
    certreg_estimator_destroy(l->estimator);
    l->estimator = NULL;
    l->service = NULL;
}

/* ---- which reading to trust, NaN if none */
/* The tick is the noise id, so no two ticks have the same noise. */
static certreg_status certify(loop *l, const float *pixels)
{
    l->anchor = (certreg_certificate){.struct_size = sizeof l->anchor};
    certreg_status status = CERTREG_OK;
    if (l->set->deadline > 0)
        status = certreg_estimator_set_deadline(l->estimator, l->set->deadline);
    if (!status) status = certreg_estimator_begin(l->estimator, pixels, SIGMA, (uint64_t)l->ticks);
    if (!status) status = certreg_certify(l->estimator, SAMPLES, &question, 1, &l->anchor);
    if (status) return say(l, certreg_estimator_error(l->estimator)->text), status;
    l->calls += (long)l->anchor.samples;
    if (l->anchor.stop == CERTREG_STOP_DEADLINE && ++l->missed)
        say(l, "the deadline came before all samples: take fewer, or a longer deadline");
    return certreg_service_anchor(l->service, pixels, &l->anchor);
}

/* The prediction of the certificate that is served, if it reaches as far as the camera's error. */
static double served(loop *l, const float *pixels, int source)
{
    certreg_tick tick = {.struct_size = sizeof tick};
    double angle;
    if (certreg_service_act(l->service, pixels, &angle, &tick))
        say(l, certreg_service_error(l->service)->text);
    l->left = tick.left;
    l->source = tick.source == CERTREG_SOURCE_ANSWERED ? source : SOURCE_TILT;
    return angle;
}

static double certified(loop *l, const float *pixels)
{
    double angle = NAN;
    l->source = SOURCE_TILT;
    l->left = 0;
    if (!l->service) return NAN;
    if (l->set->keep) angle = served(l, pixels, SOURCE_MOVED);
    if (l->source == SOURCE_MOVED || certify(l, pixels)) return angle;
    return served(l, pixels, SOURCE_NETWORK);
}

static double reading(loop *l, const float *pixels)
{
    if (l->set->trust == TRUST_CERTIFICATE) return certified(l, pixels);
    l->source = SOURCE_TILT;
    if (l->set->trust == TRUST_TILT) return NAN;
    const double angle = (double)network_read(pixels);
    l->calls++;
    if (l->set->trust == TRUST_GATE && !(fabs(angle - l->angle) < TOLERANCE)) return NAN;
    l->source = SOURCE_NETWORK;
    return angle;
}

/* ---- control */
double loop_tick(loop *l, const sensors *s)
{
    const double seconds = 1 / l->set->hertz, angle = reading(l, s->pixels);
    l->angle += seconds * s->gyro;
    if (l->source == SOURCE_TILT) l->angle += seconds * (s->tilt - l->angle);
    else l->angle += seconds / 0.1 * (angle - l->angle);
    l->of[l->source]++;
    l->ticks++;
    return 6.3 * s->x + 8.4 * s->v + 57.7 * l->angle + 15 * s->gyro;
}
