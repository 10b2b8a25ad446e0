/* Making a service: what is taken from the estimator that certified, and the certificate that is
 * served, which has to be about it. */
#include "base/arena.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/struct_sizes.h"
#include "certify/certify.h"
#include "question/question.h"
#include "service/service.h"
#include <math.h>
#include <string.h>

/* ======== The certificate that is served. */
static certreg_status check_answer(const certreg_service *s, const certreg_certificate *c,
                                   certreg_error *why)
{
    const int from_masks = c->fault_radius[c->faults % CR_FAULTS] > 0;
    if (c->status || c->method == CERTREG_METHOD_BASELINE ||
        (c->center != CERTREG_CENTER_PREDICTION && !s->is_episode))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "certificate.status is %d, .center %d, .method %d: a service needs an "
                            "answer about CERTREG_CENTER_PREDICTION that is no baseline",
                            (int)c->status, (int)c->center, (int)c->method);
    if (c->radius > 0 && !c->limiting_side)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "the certificate has output bounds at a given radius, which say "
                            "nothing about the tolerance: give an answer of certreg_certify");
    if (c->question_digest != s->log.question_digest)
        return cr_error_set(why, CERTREG_E_MISMATCH,
                            "the certificate answers another question: give the question that was "
                            "certified, with its tolerance, statistic, alpha, prediction and "
                            "serving");
    if (c->sigma != s->sigma)
        return cr_error_set(why, CERTREG_E_MISMATCH,
                            "certificate.sigma is %.17g, and the service has %.17g: sigma is a "
                            "constant of the deployment",
                            c->sigma, s->sigma);
    if (!(c->radius > 0) || from_masks == s->has_fault_radii) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_MISMATCH,
                        "the certificate was made %s model.masks, unlike the estimator: give the "
                        "one that certified",
                        from_masks ? "with" : "without");
}

static certreg_status check_input(const certreg_certificate *c, const float *z, const float *scale,
                                  size_t inputs, certreg_error *why)
{
    if (cr_input_digest(z, scale, inputs) == c->input_digest) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_MISMATCH,
                        "the certificate is about another input or scale: give z as it was "
                        "certified, bit for bit, to an estimator with the same model.scale");
}

certreg_status cr_service_anchor(certreg_service *s, const float *z,
                                 const certreg_certificate *given, certreg_error *why)
{
    const size_t inputs = s->w.record->model.inputs;
    certreg_certificate c;
    certreg_status status =
        cr_struct_read(&c, sizeof c, CR_OLDEST_CERTIFICATE, given, "certificate", why);
    if (!status && !z) status = cr_error_set(why, CERTREG_E_INVALID, "z is NULL");
    if (!status) status = check_answer(s, &c, why);
    if (!status) status = check_input(&c, z, s->w.record->input.scale, inputs, why);
    if (status) return status;
    s->certificate = c;
    s->log.input_digest = c.input_digest;
    if (!isnan(c.prediction)) *s->prediction = c.prediction;
    memcpy(s->anchor, z, inputs * sizeof *z);
    return CERTREG_OK;
}

/* The largest distance of an episode's readings from the grid: half a step of each (theory 14.5).
 */
static double grid_part(cr_view *v)
{
    double sum = 0;
    for (size_t j = 0; j < v->model.inputs; j++) {
        if (!(v->input.scale[j] > 0)) continue;
        const double part =
            cr_grid_step(v->input.noise_deviation[j]) / (2 * (double)v->input.scale[j]);
        sum += part * part;
    }
    return cr_certificate_norm(sum, v->model.inputs);
}

/* An episode has one certificate, about noise alone: z is 0. */
static certreg_status take_episode(certreg_service *s, cr_view *certified,
                                   const certreg_certificate *given, certreg_error *why)
{
    const cr_input *input = &certified->input;
    const size_t inputs = certified->model.inputs;
    certreg_certificate *c = &s->certificate;
    certreg_status status =
        cr_struct_read(c, sizeof *c, CR_OLDEST_CERTIFICATE, given, "certificate", why);
    if (!status) status = check_answer(s, c, why);
    if (!status) status = check_input(c, input->z, input->scale, inputs, why);
    for (size_t j = 0; j < inputs && !status; j++)
        if (input->z[j] != 0)
            status = cr_error_set(why, CERTREG_E_INVALID,
                                  "the certified input has z[%zu] = %g: an episode is noise alone, "
                                  "with z 0",
                                  j, (double)input->z[j]);
    if (!status && c->constraints & CERTREG_CONSTRAINT_GRADIENT)
        status = cr_error_set(why, CERTREG_E_INVALID,
                              "the certificate uses the gradient, which proves nothing against an "
                              "adversary who adapts (theory 14.4)");
    if (status) return status;
    s->log.input_digest = c->input_digest;
    cr_certificate_shorten(grid_part(certified), input->scale, inputs, c);
    if (c->radius > 0) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "the certificate leaves no radius for the deployed loop: there is nothing "
                        "to serve");
}

/* ======== The part of the estimator that certified. */
typedef struct request { /* everything create needs */
    certreg_service_plan plan;
    cr_question question;
    certreg_question given; /* the caller's, and what it points to: */
    certreg_serving serving;
    certreg_backend *backend; /* NULL: the CPU */
    certreg_model model;      /* of the service's estimator */
    certreg_plan sampling;
    int is_episode;
    size_t actions, own, estimator; /* bytes: of the service, of its estimator */
} request;

static certreg_status read_plan(const certreg_service_plan *given, const certreg_plan *plan,
                                certreg_service_plan *out, certreg_error *why)
{
    const int is_episode = (plan->flags & CERTREG_PLAN_EPISODE) != 0;
    const certreg_status status =
        cr_struct_read(out, sizeof *out, CR_OLDEST_SERVICE_PLAN, given, "service plan", why);
    if (status) return status;
    if (out->reserved || !(out->deadline >= 0) || !(out->reading_error >= 0) ||
        !isfinite(out->reading_error))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.deadline is %g, .reading_error %g, .reserved %d: give numbers of "
                            "0 or above, and 0",
                            out->deadline, out->reading_error, (int)out->reserved);
    if (is_episode != (out->ticks > 0) || (is_episode && (out->reading_error > 0 || out->fallback)))
        return cr_error_set(why, CERTREG_E_INVALID,
                            is_episode
                                ? "the estimator has CERTREG_PLAN_EPISODE: give plan.ticks, the "
                                  "ticks of an episode, and neither reading_error nor fallback"
                                : "plan.ticks is %zu, and the estimator has no "
                                  "CERTREG_PLAN_EPISODE: only episodes have ticks, so give 0",
                            out->ticks);
    return CERTREG_OK;
}

/* The constants of a tick, taken from the first one: all ticks have to agree. */
static certreg_status check_ticks(cr_view *v, size_t ticks, certreg_error *why)
{
    const size_t sensors = v->model.inputs / ticks;
    const int32_t *unit = v->model.masks ? v->model.masks->unit : NULL;
    if (!sensors || v->model.inputs % ticks)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.ticks is %zu; it must divide model.inputs = %zu", ticks,
                            v->model.inputs);
    for (size_t j = sensors; j < v->model.inputs; j++)
        if (v->input.scale[j] != v->input.scale[j - sensors] ||
            (unit && unit[j] != unit[j - sensors]))
            return cr_error_set(why, CERTREG_E_INVALID,
                                "feature %zu has another scale or unit than feature %zu: a sensor "
                                "has the same in all ticks",
                                j, j - sensors);
    return CERTREG_OK;
}

static certreg_status read_question(const certreg_question *given, cr_view *v, request *r,
                                    certreg_error *why)
{
    certreg_question *own = &r->given;
    certreg_status status = cr_question_load(v, given, &r->question, why);
    if (!status)
        status = cr_struct_read(own, sizeof *own, CR_OLDEST_QUESTION, given, "question", why);
    if (!status && own->serving)
        status = cr_struct_read(&r->serving, sizeof r->serving, CR_OLDEST_SERVING, own->serving,
                                "serving", why);
    if (status || r->is_episode) return status;
    r->actions = r->question.outputs;
    if (r->question.is_vector && !own->serving && !own->prediction)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "question.prediction is NULL, and the certificate of a vector has no "
                            "prediction to act on: certify with a given prediction, or serve");
    if (!own->serving || v->model.eval) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "model.eval is NULL, and question.serving asks for its outputs");
}

/* The estimator of the service: in an episode it only draws, for one tick at a time. */
static void set_estimator(cr_view *v, cr_context certified, request *r)
{
    certreg_backend *backend = certified.replay->backend;
    const uint32_t counting = CERTREG_PLAN_COUNT_FAILURES, /* without it the first failure ends */
        kept = r->question.statistic->row.supports & CR_SUPPORTS_GAPS ? counting : 0;
    r->model = v->model;
    r->model.struct_size = sizeof r->model;
    r->sampling = (certreg_plan){.struct_size = sizeof r->sampling,
                                 .pilot = SIZE_MAX,
                                 .seed = 1, /* start gives it another */
                                 .max_samples = r->given.serving ? r->serving.samples : 1,
                                 .flags = v->plan.flags & kept};
    if (r->given.serving && r->serving.pairs) r->sampling.flags |= CERTREG_PLAN_PAIRS;
    if (!r->given.serving) r->model.batch = 1; /* nothing is called */
    if (backend != cr_backend_default()) r->backend = backend;
    if (!r->is_episode) return;
    r->backend = NULL;
    r->model.inputs /= r->plan.ticks;
    r->model.eval = NULL;
    r->model.outputs = r->model.batch = 1;
    r->model.kind = NULL;
    r->model.lo = r->model.hi = NULL;
    r->sampling.max_samples = r->plan.ticks;
    r->sampling.flags = CERTREG_PLAN_DEPLOYED;
}

static void lay_out(certreg_service *s, const request *r, cr_arena *arena)
{
    const size_t inputs = r->model.inputs;
    cr_arena_alloc(arena, 1, sizeof *s);
    s->prediction = cr_arena_alloc(arena, r->actions, sizeof(double));
    s->fallback = cr_arena_alloc(arena, r->actions, sizeof(double));
    s->anchor = cr_arena_alloc(arena, r->is_episode ? 0 : inputs, sizeof(float));
    s->distance = cr_arena_alloc(arena, r->model.masks ? r->model.masks->units : 0, sizeof(double));
    s->reading = cr_arena_alloc(arena, inputs, sizeof(float));
    s->hidden = cr_arena_alloc(arena, inputs, sizeof *s->hidden);
}

static certreg_status read_request(cr_context certified, const certreg_question *question,
                                   const certreg_service_plan *plan, request *r, certreg_error *why)
{
    cr_view *v = certified.record;
    size_t device;
    certreg_service counted;
    cr_arena arena = {.base = NULL};
    *r = (request){.is_episode = (v->plan.flags & CERTREG_PLAN_EPISODE) != 0};
    certreg_status status = cr_view_require_input(v, why);
    if (!status) status = read_plan(plan, &v->plan, &r->plan, why);
    if (!status && r->is_episode) status = check_ticks(v, r->plan.ticks, why);
    if (!status) status = read_question(question, v, r, why);
    if (status) return status;
    set_estimator(v, certified, r);
    lay_out(&counted, r, &arena);
    r->own = (arena.used + CR_ALIGN - 1) & ~(size_t)(CR_ALIGN - 1);
    if (arena.overflow) return cr_error_set(why, CERTREG_E_NO_MEMORY, "the service is too large");
    return certreg_estimator_size(r->backend, &r->model, &r->sampling, why, &r->estimator, &device);
}

/* ======== create and destroy */
static void init(certreg_service *s, const request *r, cr_view *certified)
{
    s->plan = r->plan;
    s->is_episode = r->is_episode;
    s->actions = r->actions;
    s->sigma = certified->input.sigma;
    s->certified_seed = certified->plan.seed;
    s->has_fault_radii = cr_question_allows_faults(certified, &r->question);
    s->question = r->given;
    s->question.target = NULL;
    s->serving = r->serving;
    if (s->question.serving) s->question.serving = &s->serving;
    s->log = (certreg_service_log){.struct_size = sizeof s->log,
                                   .question_digest = r->question.given.digest};
    for (size_t k = 0; k < r->actions; k++) {
        s->prediction[k] = r->given.prediction ? r->given.prediction[k] : NAN;
        s->fallback[k] = r->plan.fallback ? r->plan.fallback[k] : NAN;
    }
    s->question.prediction = NULL;
    s->question.prediction_count = 0;
    cr_certificate_init(NULL, NULL, &s->certificate);
    s->plan.fallback = s->fallback;
}

static certreg_status create(cr_context certified, const certreg_question *question,
                             const certreg_certificate *certificate,
                             const certreg_service_plan *plan, certreg_service **out,
                             certreg_error *why)
{
    request r;
    int32_t owned;
    void *memory;
    certreg_estimator *e = NULL;
    certreg_status status = read_request(certified, question, plan, &r, why);
    if (!status)
        status = cr_handle_alloc(r.plan.memory, r.plan.memory_bytes, r.own + r.estimator, &owned,
                                 &memory, why);
    if (status) return status;
    certreg_service *s = memory;
    cr_arena arena = {.base = memory};
    *s = (certreg_service){.tag = CR_HANDLE_TAG, .owns_memory = owned};
    lay_out(s, &r, &arena);
    init(s, &r, certified.record);
    r.sampling.memory = (unsigned char *)memory + r.own;
    r.sampling.memory_bytes = r.estimator;
    status = certreg_estimator_create(r.backend, &r.model, &r.sampling, why, &e);
    if (!status) s->w = cr_estimator_context(e);
    if (!status && s->is_episode) status = take_episode(s, certified.record, certificate, why);
    else if (!status && certificate)
        status = cr_service_anchor(s, certified.record->input.z, certificate, why);
    if (!status) *out = s;
    else certreg_estimator_destroy(e);
    if (status && owned) cr_handle_release(s);
    return status;
}

/* Takes the estimator that certified for a call; `out` is the caller's, not NULL. */
static certreg_status lock(certreg_estimator *certified, const void *out, certreg_error *error)
{
    cr_error_clear(error);
    if (!out || !certified)
        return cr_error_set(error, CERTREG_E_INVALID, "%s is NULL", out ? "certified" : "out");
    const certreg_status status = cr_estimator_lock(certified);
    if (status) *error = *certreg_estimator_error(certified);
    return status;
}

certreg_status certreg_service_size(certreg_estimator *certified, const certreg_question *question,
                                    const certreg_service_plan *plan, certreg_error *why,
                                    size_t *bytes)
{
    certreg_error error;
    request r;
    certreg_status status = lock(certified, bytes, &error);
    if (!status) {
        status = read_request(cr_estimator_context(certified), question, plan, &r, &error);
        status = cr_estimator_unlock(certified, status);
    }
    if (bytes) *bytes = status ? 0 : r.own + r.estimator;
    cr_error_copy_out(why, &error);
    return status;
}

certreg_status certreg_service_create(certreg_estimator *certified,
                                      const certreg_question *question,
                                      const certreg_certificate *certificate,
                                      const certreg_service_plan *plan, certreg_error *why,
                                      certreg_service **out)
{
    certreg_error error;
    if (out) *out = NULL;
    certreg_status status = lock(certified, out, &error);
    if (!status)
        status = cr_estimator_unlock(certified, create(cr_estimator_context(certified), question,
                                                       certificate, plan, out, &error));
    cr_error_copy_out(why, &error);
    return status;
}

void certreg_service_destroy(certreg_service *s)
{
    if (!s || !cr_handle_is_own(s)) return;
    certreg_estimator_destroy(s->w.estimator);
    if (s->owns_memory) cr_handle_release(s);
}

const certreg_error *certreg_service_error(const certreg_service *s)
{
    if (s && !cr_handle_is_own(s)) return &cr_handle_foreign_error;
    return s ? certreg_estimator_error(s->w.estimator) : NULL;
}
