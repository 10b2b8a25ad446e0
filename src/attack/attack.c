/* The public handle: making attacks, and running them. */
#include "attack/attack.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/constants.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/struct_sizes.h"
#include "conditions/conditions.h"
#include "question/question.h"
#include <math.h>

/* ======== The handle of an attack: size, create and destroy, and the beginning and the end of
 * every call. The probe is made only here, in the memory of the attack. */
/* The backend as the caller gave it; NULL is the default one. */
static certreg_backend *backend_of(const cr_context *target)
{
    certreg_backend *backend = target->replay->backend;
    return backend == cr_backend_default() ? NULL : backend;
}

static certreg_model model_of(const cr_context *target)
{
    certreg_model model = target->record->model;
    model.struct_size = sizeof model;
    return model;
}

/* The probe's plan, with room for the samples of one step and of the record, because the probe
 * replays the record's noise. One block makes room for the sums of two functions. Each attack sets
 * the seed; until then it is the target's, so that none is drawn. */
static certreg_plan plan_of(const cr_context *target, size_t max_calls)
{
    const size_t pairs = max_calls / 2, record_samples = target->record->plan.max_samples;
    return (certreg_plan){.struct_size = sizeof(certreg_plan),
                          .constraints = CERTREG_CONSTRAINTS_ECGM,
                          .seed = target->record->plan.seed,
                          .max_samples = pairs > record_samples ? pairs : record_samples,
                          .pilot = SIZE_MAX,
                          .blocks = 1,
                          /* a fixed shift is an episode's adversary too */
                          .flags = target->record->plan.flags & ~(uint32_t)CERTREG_PLAN_EPISODE};
}

/* Returns the memory of the probe, behind all arrays. */
static void *lay_out(certreg_attack *a, cr_arena *arena, size_t inputs, size_t pairs, size_t probe)
{
    cr_arena_alloc(arena, 1, sizeof *a);
    a->direction = cr_arena_alloc(arena, inputs, sizeof *a->direction);
    a->shifted_input = cr_arena_alloc(arena, inputs, sizeof *a->shifted_input);
    a->forward = cr_arena_alloc(arena, pairs, sizeof *a->forward);
    a->gradient_sum = cr_arena_alloc(arena, inputs, sizeof *a->gradient_sum);
    a->half_sums = cr_arena_alloc(arena, cr_arena_product(4, inputs), sizeof *a->half_sums);
    return cr_arena_alloc(arena, probe, 1);
}

static certreg_status read_plan(const certreg_attack_plan *caller_plan, certreg_attack_plan *plan,
                                certreg_error *why)
{
    const certreg_status status =
        cr_struct_read(plan, sizeof *plan, CR_OLDEST_ATTACK_PLAN, caller_plan, "plan", why);
    if (status) return status;
    if (plan->reserved)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.reserved is %d; it must be 0",
                            (int)plan->reserved);
    return CERTREG_OK;
}

typedef struct memory_sizes { /* bytes */
    size_t total, probe, device;
} memory_sizes;

/* Also reads the plan. */
static certreg_status count(const cr_context *target, const certreg_attack_plan *caller_plan,
                            certreg_attack_plan *plan, memory_sizes *n, certreg_error *why)
{
    certreg_status status = read_plan(caller_plan, plan, why);
    if (status) return status;
    const certreg_model model = model_of(target);
    const certreg_plan probe_plan = plan_of(target, plan->max_calls);
    size_t bytes[2];
    status = cr_estimator_memory(backend_of(target), &model, &probe_plan, 1, bytes, why);
    if (status && status != CERTREG_E_NO_MEMORY) return status;
    certreg_attack sized;
    cr_arena arena = {0};
    lay_out(&sized, &arena, model.inputs, plan->max_calls / 2, bytes[0]);
    if (status || arena.overflow)
        return cr_error_set(why, CERTREG_E_NO_MEMORY,
                            "%zu inputs and plan.max_calls = %zu do not fit into memory",
                            model.inputs, plan->max_calls);
    *n = (memory_sizes){.total = arena.used, .probe = bytes[0], .device = bytes[1]};
    return CERTREG_OK;
}

/* ---- size */
certreg_status certreg_attack_size(certreg_estimator *target, const certreg_attack_plan *plan,
                                   size_t *bytes, size_t *device_bytes)
{
    certreg_attack_plan read;
    memory_sizes n = {0};
    if (bytes) *bytes = 0;
    if (device_bytes) *device_bytes = 0;
    if (!target || !bytes) return CERTREG_E_INVALID;
    const certreg_status refused = cr_estimator_lock(target);
    if (refused) return refused;
    const cr_context context = cr_estimator_context(target);
    const certreg_status status = count(&context, plan, &read, &n, context.why);
    if (!status) *bytes = n.total;
    if (!status && device_bytes) *device_bytes = n.device;
    return cr_estimator_unlock(target, status);
}

/* ---- create */
static certreg_status create(const cr_context *target, const certreg_attack_plan *caller_plan,
                             certreg_attack **out, certreg_error *why)
{
    certreg_attack_plan plan;
    memory_sizes n = {0};
    int32_t owned = 0;
    void *memory = NULL;
    certreg_status status = count(target, caller_plan, &plan, &n, why);
    if (!status)
        status = cr_handle_alloc(plan.memory, plan.memory_bytes, n.total, &owned, &memory, why);
    if (status) return status;
    certreg_attack *a = memory;
    a->tag = CR_HANDLE_TAG;
    a->target = *target;
    a->max_calls = plan.max_calls;
    a->owns_memory = owned;
    cr_arena arena = {.base = memory};
    certreg_plan probe_plan = plan_of(target, plan.max_calls);
    probe_plan.memory =
        lay_out(a, &arena, target->record->model.inputs, plan.max_calls / 2, n.probe);
    probe_plan.memory_bytes = n.probe;
    const certreg_model model = model_of(target);
    certreg_estimator *probe;
    status = cr_estimator_create(backend_of(target), &model, &probe_plan, 1, why, &probe);
    if (status) {
        if (owned) cr_handle_release(a);
        return status;
    }
    a->probe = cr_estimator_context(probe);
    *out = a;
    return CERTREG_OK;
}

static certreg_status create_beside(certreg_estimator *target, const certreg_attack_plan *plan,
                                    certreg_attack **out, certreg_error *why)
{
    if (!target) return cr_error_set(why, CERTREG_E_INVALID, "estimator is NULL");
    const certreg_status refused = cr_estimator_lock(target);
    const cr_context context = cr_estimator_context(target);
    if (refused == CERTREG_E_BUSY)
        return cr_error_set(why, refused, "a call is running on the estimator");
    if (refused) *why = *certreg_estimator_error(target);
    return refused ? refused : cr_estimator_unlock(target, create(&context, plan, out, why));
}

certreg_status certreg_attack_create(certreg_estimator *target, const certreg_attack_plan *plan,
                                     certreg_error *why, certreg_attack **out)
{
    certreg_error error;
    cr_error_clear(&error);
    if (out) *out = NULL;
    const certreg_status status = out ? create_beside(target, plan, out, &error)
                                      : cr_error_set(&error, CERTREG_E_INVALID, "out is NULL");
    cr_error_copy_out(why, &error);
    return status;
}

void certreg_attack_destroy(certreg_attack *a)
{
    if (!a || !cr_handle_is_own(a)) return;
    certreg_estimator_destroy(a->probe.estimator);
    if (a->owns_memory) cr_handle_release(a);
}

const certreg_error *certreg_attack_error(const certreg_attack *a)
{
    if (a && !cr_handle_is_own(a)) return &cr_handle_foreign_error;
    return a ? certreg_estimator_error(a->probe.estimator) : NULL;
}

/* ---- a call */
/* Every call begins and ends with these, which hold the probe, its backend and the target. INVALID
 * for NULL, BUSY, WRONG_STATE in a forked child. */
static certreg_status cr_attack_enter(certreg_attack *a)
{
    if (!a) return CERTREG_E_INVALID;
    if (!cr_handle_is_own(a)) return CERTREG_E_VERSION;
    const certreg_status status = cr_estimator_enter(a->probe.estimator, NULL);
    if (status) return status;
    const certreg_status refused = cr_estimator_lock(a->target.estimator);
    if (!refused) return CERTREG_OK;
    return cr_estimator_leave(
        a->probe.estimator,
        cr_error_set(a->probe.why, refused, "a call is running on the estimator"));
}

static certreg_status cr_attack_leave(certreg_attack *a, certreg_status status)
{
    cr_estimator_unlock(a->target.estimator, status);
    return cr_estimator_leave(a->probe.estimator, status);
}

/* ======== The public calls, an attack and the gradient: both check the question, evaluate it on
 * the target's record, and work under the target's deadline. */
/* ---- the question */
static certreg_status refuse(certreg_attack *a, const char *text)
{
    return cr_error_set(a->probe.why, CERTREG_E_INVALID, "%s", text);
}

static certreg_status check_question(certreg_attack *a, const cr_question *q)
{
    const cr_context *e = &a->target;
    if (q->given.serving_samples)
        return refuse(a, "set question.serving to NULL; an attack is about the smoothed "
                         "prediction itself");
    if (!q->is_bounded && !(isfinite(e->record->model.lo[q->given.output]) &&
                            isfinite(e->record->model.hi[q->given.output])))
        return refuse(a, "declare model.lo and model.hi: without a range nothing bounds the mean "
                         "at a shifted input");
    if (q->period > 0 && q->statistic->angle == CR_ANGLE_UNROLLED && !q->is_binomial &&
        !(q->given.tolerance < 0.25 * q->period))
        return refuse(a, "question.tolerance must be below a quarter of a turn for an attack on "
                         "this statistic of an angle");
    return CERTREG_OK;
}

/* Reads the question, and refuses it if no attack can be about it. */
static certreg_status prepare(certreg_attack *a, const certreg_question *question,
                              cr_conditions *conditions)
{
    cr_question *q = &conditions->question;
    const certreg_status status = cr_question_load(a->target.record, question, q, a->probe.why);
    if (status) return status;
    if (q->is_vector)
        return cr_error_set(
            a->probe.why, CERTREG_E_INVALID,
            "question.output is %d and output_count %zu; give the index of one output, "
            "and 0: an attack is about one",
            (int)q->given.output, q->given.output_count);
    return cr_compatibility_check(q, CR_SUPPORTS_ATTACK, a->probe.why);
}

static certreg_status evaluate(certreg_attack *a, cr_conditions *conditions)
{
    cr_record *record = a->target.record;
    const certreg_status status = cr_conditions_prepare(record, conditions, a->probe.why);
    if (!status) cr_query_log_add_current(record, cr_question_looks_digest(&conditions->question));
    return status;
}

/* ---- the options */
static certreg_status check_direction(certreg_attack *a, const float *direction)
{
    const size_t d = a->target.record->model.inputs;
    for (size_t j = 0; j < d; j++) {
        const int has_noise = a->probe.replay->host.mask[j] > 0;
        if (has_noise && !isfinite(direction[j]))
            return cr_error_set(a->probe.why, CERTREG_E_INVALID,
                                "options.direction[%zu] is %g; it must be finite", j,
                                (double)direction[j]);
        a->gradient_sum[j] = has_noise ? (double)direction[j] : 0;
    }
    if (cr_vector_normalize(a->gradient_sum, d, a->direction)) return CERTREG_OK;
    return refuse(a, "options.direction is zero wherever the input may be shifted; give NULL");
}

static certreg_status check_calls(certreg_attack *a, const certreg_attack_options *o)
{
    certreg_error *why = a->probe.why;
    const size_t min_calls = cr_ascent_min_calls(o->alpha, o->direction != NULL);
    if (o->calls > a->max_calls)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "options.calls (%zu) exceeds plan.max_calls (%zu) of the attack",
                            o->calls, a->max_calls);
    if (!o->calls) return CERTREG_OK;
    if (o->calls < min_calls)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "options.calls is %zu; an attack at alpha %g takes at least %zu",
                            o->calls, o->alpha, min_calls);
    if (!a->target.record->model.eval)
        return cr_error_set(why, CERTREG_E_WRONG_STATE,
                            "model.eval is NULL: an attack calls the model; calls = 0 asks for the "
                            "forecast alone");
    return CERTREG_OK;
}

static certreg_status read_options(certreg_attack *a, const certreg_attack_options *caller_options,
                                   certreg_attack_options *o)
{
    certreg_error *why = a->probe.why;
    const certreg_status status =
        cr_struct_read(o, sizeof *o, CR_OLDEST_ATTACK_OPTIONS, caller_options, "options", why);
    if (status) return status;
    if (o->reserved)
        return cr_error_set(why, CERTREG_E_INVALID, "options.reserved is %d; it must be 0",
                            (int)o->reserved);
    if (o->alpha == 0) o->alpha = 0.05;
    if (!(o->alpha >= CR_MIN_ALPHA && o->alpha <= 0.5))
        return cr_error_set(why, CERTREG_E_INVALID, "options.alpha is %g; it must lie in [%g, 0.5]",
                            o->alpha, CR_MIN_ALPHA);
    return check_calls(a, o);
}

/* ---- an attack */
/* A seed for everything that defines the attack, so that its noise is no record's and no other
 * attack's: a caller's choice after an attack must not meet the noise that led to it. */
static uint64_t seed_of(const certreg_attack *a, const cr_conditions *conditions,
                        const certreg_attack_options *o)
{
    const cr_noise *noise = &a->target.record->input.noise;
    uint64_t h = cr_hash64(cr_hash64(CR_HASH_START, noise->seed), noise->level);
    h = cr_hash64(cr_hash64(h, conditions->samples), conditions->question.given.digest);
    h = cr_hash64(cr_hash64(h, o->number), o->calls);
    h = cr_hash64(h, cr_bits_of_double(o->alpha));
    for (size_t j = 0; o->direction && j < a->target.record->model.inputs; j++)
        h = cr_hash32(h, cr_bits_of_float(a->direction[j] + 0.0f)); /* -0 is 0 */
    return cr_hash_end(h);
}

static int report_progress(void *user, uint64_t done, uint64_t total)
{
    const cr_attack_state *state = user;
    const cr_context *target = &state->attack->target;
    (void)total;
    if (cr_estimator_cancelled(target->estimator)) return 1;
    return target->record->plan.progress &&
           target->record->plan.progress(target->record->plan.progress_user,
                                         state->calls_used + done, state->budget);
}

static void clear_shift(const certreg_attack *a, float *shift)
{
    for (size_t j = 0; shift && j < a->target.record->model.inputs; j++) shift[j] = 0;
}

static void adopt_deadline(certreg_attack *a, cr_attack_state *state)
{
    cr_time_budget *clock = a->probe.clock;
    cr_deadline *deadline = a->probe.record->deadline;
    a->probe.record->plan.progress = report_progress;
    a->probe.record->plan.progress_user = state;
    clock->expires_at = a->target.clock->expires_at;
    deadline->expires_at = clock->expires_at;
    deadline->expired = 0;
}

/* No failure: a deadline, a cancel, or a point at which floats cannot carry the noise. */
static certreg_status clear_stop(const cr_attack_state *state, certreg_status status,
                                 certreg_attack_result *r)
{
    if (status == CERTREG_E_DEADLINE) r->stop = CERTREG_STOP_DEADLINE;
    else if (status == CERTREG_E_CANCELLED) r->stop = CERTREG_STOP_CANCELLED;
    else if (!(status && state->float_grid_too_coarse)) return status;
    cr_error_clear(state->attack->probe.why);
    return CERTREG_OK;
}

static certreg_status search(cr_attack_state *state, certreg_attack_result *r)
{
    const cr_conditions *conditions = state->conditions;
    if (!conditions->has_prediction || !isfinite(conditions->prediction)) return CERTREG_OK;
    if (conditions->any_output_failed && !conditions->question.is_bounded)
        return CERTREG_OK; /* nothing bounds the mean of outputs that failed */
    certreg_status status = cr_violation_gradient_find(state->attack, conditions,
                                                       state->direction_is_given, &state->gradient);
    if (status) return status;
    r->side = state->gradient.score.side;
    r->forecast = cr_violation_gradient_forecast(&state->gradient, state->sigma);
    r->cosine = state->gradient.cosine;
    return state->budget ? cr_ascent_run(state) : CERTREG_OK;
}

static certreg_status run_attack(certreg_attack *a, const certreg_question *question,
                                 const certreg_attack_options *options, float *shift,
                                 certreg_attack_result *r)
{
    cr_conditions conditions = {.scratch = a->target.scratch};
    certreg_attack_options o;
    certreg_status status = read_options(a, options, &o);
    if (!status) status = prepare(a, question, &conditions);
    if (!status) status = check_question(a, &conditions.question);
    if (!status && o.direction) status = check_direction(a, o.direction);
    if (!status) status = evaluate(a, &conditions);
    if (status) return status;
    cr_attack_state state = {.attack = a,
                             .conditions = &conditions,
                             .sigma = a->target.record->input.sigma,
                             .alpha = o.alpha,
                             .seed = seed_of(a, &conditions, &o),
                             .budget = o.calls,
                             .direction_is_given = o.direction != NULL,
                             .shift = shift,
                             .radius = INFINITY};
    adopt_deadline(a, &state);
    r->prediction = conditions.prediction;
    r->tolerance = conditions.question.given.tolerance;
    r->sigma = state.sigma;
    r->alpha = o.alpha;
    r->samples = conditions.samples;
    status = clear_stop(&state, search(&state, r), r);
    r->calls = state.calls_used;
    if (!status) r->radius = state.radius;
    if (r->radius < INFINITY) r->outcome = CERTREG_ATTACK_BROKEN;
    return status;
}

certreg_status certreg_attack_run(certreg_attack *a, const certreg_question *question,
                                  const certreg_attack_options *options, float *shift,
                                  certreg_attack_result *result)
{
    certreg_attack_result r = {
        .struct_size = sizeof r, .radius = INFINITY, .forecast = NAN, .prediction = NAN};
    certreg_status status = a ? cr_attack_enter(a) : CERTREG_E_INVALID;
    if (!status) {
        status = cr_struct_check(result, CR_OLDEST_ATTACK_RESULT, "result", a->probe.why);
        if (!status) status = run_attack(a, question, options, shift, &r);
        status = cr_attack_leave(a, status);
    }
    if (a && cr_handle_is_own(a) && r.outcome != CERTREG_ATTACK_BROKEN) clear_shift(a, shift);
    cr_struct_write_empty(result, CR_OLDEST_ATTACK_RESULT, &r, sizeof r);
    return status;
}

/* ---- the gradient */
static const cr_condition *condition_on(const cr_conditions *conditions, int32_t side)
{
    for (int i = 0; i < conditions->count; i++)
        if (cr_conditions_side(conditions->each + i) == side) return conditions->each + i;
    return NULL;
}

static certreg_status sum_gradient(certreg_attack *a, const cr_conditions *conditions,
                                   const cr_score *score, double *out)
{
    const size_t first = cr_view_first_noisy(a->target.record), count = conditions->samples - first;
    const cr_samples s = cr_view_samples(a->target.record, score, conditions->question.given.output,
                                         first, count, 0);
    double mean = 0;
    for (size_t i = 0; i < count; i++) mean += cr_samples_at(&s, i) / (double)count;
    for (size_t i = 0; i < count; i++)
        a->probe.replay->host.weights[i] = (float)(cr_samples_at(&s, i) - mean);
    const certreg_status status = cr_violation_gradient_replay(a, first, count, 1, 0);
    if (status == CERTREG_E_DEADLINE)
        return cr_error_set(a->probe.why, status,
                            "the deadline left no time for the gradient: give "
                            "certreg_estimator_set_deadline more seconds, or INFINITY for none");
    if (status) return status;
    for (size_t j = 0; j < a->target.record->model.inputs; j++)
        out[j] = a->half_sums[j] / ((double)count * a->target.record->input.sigma);
    return CERTREG_OK;
}

static certreg_status gradient(certreg_attack *a, const certreg_question *question, int32_t side,
                               double *out)
{
    cr_conditions conditions = {.scratch = a->target.scratch};
    if (!out) return refuse(a, "out is NULL");
    if (side != CERTREG_SIDE_LOWER && side != CERTREG_SIDE_UPPER)
        return cr_error_set(a->probe.why, CERTREG_E_INVALID,
                            "side is %d; give CERTREG_SIDE_LOWER or _UPPER", (int)side);
    certreg_status status = prepare(a, question, &conditions);
    if (!status) status = evaluate(a, &conditions);
    if (status) return status;
    if (!conditions.has_prediction ||
        (conditions.any_output_failed && !conditions.question.is_bounded))
        return cr_error_set(a->probe.why, CERTREG_E_WRONG_STATE,
                            "outputs of the record failed: it gives no prediction, or no mean");
    adopt_deadline(a, NULL);
    return sum_gradient(a, &conditions, &condition_on(&conditions, side)->score, out);
}

certreg_status certreg_attack_gradient(certreg_attack *a, const certreg_question *question,
                                       int32_t side, double *out)
{
    const certreg_status status = cr_attack_enter(a);
    return status ? status : cr_attack_leave(a, gradient(a, question, side, out));
}
