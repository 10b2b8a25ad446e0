/* An input with alternatives (theory 1.11): a record for each, about the prediction of the input
 * itself. Without a target the least of the radii that the margins leave holds around all of them;
 * with a target each has to prove it, in one piece or in parts. */
#include "base/error.h"
#include "base/struct_sizes.h"
#include "conditions/conditions.h"
#include "question/question.h"
#include "queue/queue.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_HALVINGS = 12 };
static const double growth = 1.5; /* of the looks at an alternative */

/* ======== Reading alternatives. */
static certreg_status refuse(const certreg_queue *q, const char *why)
{
    return cr_error_set(q->w.why, CERTREG_E_INVALID, "%s", why);
}

static certreg_status check_fields(const certreg_queue *q, const certreg_alternatives *a)
{
    if (!a->count || a->count > q->plan.alternatives)
        return cr_error_set(q->w.why, CERTREG_E_INVALID,
                            "alternatives.count is %u; the queue is made for 1 to %zu", a->count,
                            q->plan.alternatives);
    if ((a->z != NULL) == (a->write != NULL))
        return refuse(q, "alternatives need either z or write, and not both");
    if (a->margins && !a->z)
        return refuse(q, "alternatives.margins belong to z: write sets them itself");
    for (size_t i = 0; a->margins && i < a->count; i++)
        if (!(a->margins[i] >= 0) || !isfinite(a->margins[i]))
            return refuse(q, "alternatives.margins must be finite and not negative");
    if (a->halvings > MAX_HALVINGS || (a->halvings && !a->write))
        return refuse(q, "alternatives.halvings must be at most 12, and 0 without write");
    if (a->watch > a->count) return refuse(q, "alternatives.watch must be at most count");
    if (a->estimate_all > 1 || a->reserved)
        return refuse(q, "alternatives.estimate_all must be 0 or 1, and reserved 0");
    if (a->first_noise_id > UINT64_MAX - cr_set_noise_ids(a))
        return refuse(q, "alternatives.first_noise_id leaves too few noise ids below 2^64");
    return CERTREG_OK;
}

/* What is proved about each alternative has to be about the value that the pilot of the input
 * itself has fixed. */
static certreg_status check_question(const certreg_queue *q, const cr_question *asked,
                                     const cr_entry *e)
{
    const cr_given *g = &asked->given;
    if (g->center != CERTREG_CENTER_PREDICTION)
        return refuse(q, "alternatives need CERTREG_CENTER_PREDICTION: a statement about the true "
                         "mean, or the median of all samples, is about each alternative's own "
                         "value");
    if (asked->method->published)
        return refuse(q, "alternatives need CERTREG_METHOD_FINITE, _ANYTIME or _ASYMPTOTIC: the "
                         "prediction and the bounds of published methods are not fixed by a pilot");
    if (g->looks) return refuse(q, "alternatives choose the looks of a target: leave looks NULL");
    if (g->target_radius > 0 && e->count > 1)
        return refuse(q, "alternatives with a target take one question: ask them one by one");
    if (!(g->target_radius > 0) && e->set.given.halvings)
        return refuse(q, "alternatives.halvings need a target: radii are not divided");
    if (q->home.plan.flags & CERTREG_PLAN_EPISODE)
        return refuse(q, "alternatives are no episodes (CERTREG_PLAN_EPISODE), whose z is 0");
    return CERTREG_OK;
}

certreg_status cr_set_read(certreg_queue *q, const certreg_alternatives *given, cr_entry *e)
{
    cr_set *s = &e->set;
    certreg_alternatives a;
    certreg_status status =
        cr_struct_read(&a, sizeof a, CR_OLDEST_ALTERNATIVES, given, "alternatives", q->w.why);
    if (!status) status = check_fields(q, &a);
    if (status) return status;
    s->given = a;
    s->needs_pilot = 0;
    cr_queue_exchange(q, NULL);
    cr_record_choose_pilot(q->w.record, e->samples); /* validation asks whether there is one */
    if (q->w.record->pilot >= e->samples)
        status = refuse(q, "alternatives need more samples than the pilot of the input");
    for (size_t k = 0; k < e->count && !status; k++) {
        cr_question asked = {.first_output = 0};
        status = cr_question_parse(e->questions, k, UINT64_C(1) << a.halvings, &asked.given,
                                   q->w.why); /* the deepest parts have the least alpha */
        if (!status) status = cr_question_validate(q->w.record, &asked, q->w.why);
        if (!status) status = check_question(q, &asked, e);
        if (status) break;
        s->target = asked.given.target_radius;
        s->outputs[k] = asked.is_vector ? asked.outputs : 1;
        s->needs_pilot |= !asked.is_binomial || asked.is_vector || asked.is_angle ||
                          asked.given.method == CERTREG_METHOD_ASYMPTOTIC;
    }
    if (status) s->given.count = 0;
    return status;
}

/* ======== Nodes: the input itself, alternatives, and parts of them. */
/* Writes z, margin and record of a node; z is that of the input itself. */
static certreg_status write_node(certreg_queue *q, const cr_entry *e, float *z,
                                 certreg_alternative *node)
{
    const certreg_alternatives *a = &e->set.given;
    const size_t inputs = q->home.model.inputs;
    if (!a->write) {
        if (node->number) memcpy(z, a->z + (node->number - 1) * inputs, inputs * sizeof *z);
        if (node->number && a->margins) node->margin = a->margins[node->number - 1];
        return CERTREG_OK;
    }
    certreg_alternative told = *node;
    told.z = z;
    told.tag = e->tag;
    cr_estimator_begin_callback(q->w.estimator);
    const int code = a->write(a->user, &told);
    cr_estimator_end_callback(q->w.estimator);
    node->halvings = told.halvings < a->halvings ? told.halvings : a->halvings;
    node->margin = told.margin;
    node->record = told.record;
    node->record_bytes = told.record_bytes;
    if (!code && node->margin >= 0 && isfinite(node->margin)) return CERTREG_OK;
    cr_error_set(q->w.why, CERTREG_E_INVALID,
                 code ? "write returned %d"
                      : "write returned %d, and a margin that is negative or "
                        "not finite",
                 code);
    q->w.why->code = code;
    return CERTREG_E_INVALID;
}

certreg_status cr_set_itself(certreg_queue *q, const cr_entry *e, const float *z,
                             certreg_alternative *node)
{
    const size_t bytes = q->home.model.inputs * sizeof *z;
    if (!z) return cr_error_set(q->w.why, CERTREG_E_INVALID, "z is NULL");
    memcpy(q->changed, z, bytes);
    node->halvings = e->set.given.halvings;
    const certreg_status status = write_node(q, e, q->changed, node);
    node->halvings = 0;
    if (status || (!memcmp(q->changed, z, bytes) && node->margin == 0)) return status;
    return refuse(q, "alternatives.write has changed alternative 0, which is the input itself");
}

/* Without a prediction no record is evaluated: the input itself has failed in its pilot. */
static int estimates_all(const cr_set *s)
{
    return s->given.estimate_all && s->is_predicted;
}

/* Returns 1 if samples of an alternative still serve: it may be proved, or lacks its estimate. */
static int is_wanted(const cr_set *s, uint32_t number)
{
    return number < s->failed || (estimates_all(s) && !s->members[number].is_estimated);
}

static void break_member(certreg_queue *q, cr_entry *e, uint32_t number, certreg_status status);

/* Opens a record for the part of an alternative that is decided next. Returns 1 if it did. */
static int open_node(certreg_queue *q, cr_slot *slot, cr_entry *e, uint32_t number)
{
    cr_member *m = e->set.members + number;
    certreg_alternative node = {.struct_size = sizeof node,
                                .number = number,
                                .depth = m->depth,
                                .path = m->path,
                                .halvings = m->depth ? m->halvings : e->set.given.halvings};
    cr_error_clear(q->w.why);
    memcpy(q->changed, e->set.z, q->home.model.inputs * sizeof *q->changed);
    certreg_status status = write_node(q, e, q->changed, &node);
    if (!m->depth) m->halvings = (uint8_t)node.halvings;
    if (!status) status = cr_queue_open(q, slot, e, &node, q->changed);
    if (status) break_member(q, e, number, status);
    return !status;
}

void cr_set_fill(certreg_queue *q, cr_entry *e)
{
    cr_set *s = &e->set;
    for (cr_slot *slot; !e->decided && s->next <= s->given.count && (slot = cr_queue_free_slot(q));)
        if (!is_wanted(s, s->next)) s->next++;
        else if (open_node(q, slot, e, s->next++)) cr_queue_step(q, slot, CERTREG_OK);
}

void cr_set_begin(certreg_queue *q, cr_slot *slot)
{
    cr_entry *e = slot->entry;
    cr_set *s = &e->set;
    const size_t members = s->given.count + (size_t)1;
    cr_record_choose_pilot(q->w.record, e->samples);
    memcpy(s->z, q->w.record->input.z, q->home.model.inputs * sizeof *s->z);
    memset(s->members, 0, members * sizeof *s->members);
    for (size_t i = 0; i < members * e->count; i++) s->estimates[i] = NAN;
    for (size_t i = 0; i < e->count * q->home.model.outputs; i++) s->predictions[i] = 1;
    for (size_t k = 0; k < e->count; k++) {
        s->out[k] = s->given.count + 1;
        s->least[k] = INFINITY;
        s->limiting[k] = 0;
        s->watched[k] = NAN;
        cr_certificate_init(q->w.record, NULL, s->own + k);
        s->tightest[k] = s->own[k];
    }
    e->pilot = q->w.record->pilot;
    if (e->pilot >= e->samples) { /* that of a record which is resumed */
        cr_queue_fail(q, e,
                      refuse(q, "alternatives need more samples than the pilot of the input"));
        return;
    }
    s->main_samples = e->samples - (s->needs_pilot ? 0 : (size_t)e->pilot);
    s->next = 1;
    s->failed = s->given.count + 1;
    s->unproved = s->unestimated = members;
    s->is_predicted = 0;
    s->audited = UINT64_MAX;
    s->change = s->band = 0;
    s->broken = CERTREG_OK;
    slot->goal = e->pilot ? e->pilot : 1;
    cr_set_advance(q, slot);
    if (!e->decided && !s->is_predicted) cr_queue_step(q, slot, CERTREG_OK);
    if (!e->decided) cr_set_fill(q, e);
}

/* ---- the predictions, from the pilot of the input itself */
static size_t samples_without_gap(cr_view *v)
{
    size_t present;
    cr_view_require_contiguous(v, &present, NULL);
    return present;
}

/* Fails with INVALID if a prediction gives no tolerance. */
static certreg_status predict(certreg_queue *q, cr_entry *e)
{
    cr_set *s = &e->set;
    for (size_t k = 0; k < e->count; k++) {
        double *p = s->predictions + k * q->home.model.outputs;
        int any = 0, finite = 1;
        cr_conditions c = {.scratch = q->w.scratch};
        certreg_status status =
            cr_question_load(q->w.record, e->questions + k, &c.question, q->w.why);
        if (!status) status = cr_prediction_report(q->w.record, &c, p, q->w.why);
        if (status) return status;
        for (size_t i = 0; i < s->outputs[k]; i++) {
            any |= p[i] != 0;
            finite &= isfinite(p[i]);
        }
        if (!finite || (c.question.given.relative_tolerance > 0 && !any))
            return cr_error_set(q->w.why, CERTREG_E_INVALID,
                                "the prediction is %g, from which no tolerance is measured", p[0]);
    }
    s->is_predicted = 1;
    return CERTREG_OK;
}

/* Evaluates all records of a set that wait for the predictions. */
static void step_waiting(certreg_queue *q, const cr_entry *e)
{
    for (size_t i = 0; i < q->open_count && !e->decided;) {
        cr_slot *slot = q->open[i];
        const size_t before = q->open_count;
        if (slot->entry == e && slot->goal && !slot->missing) cr_queue_step(q, slot, CERTREG_OK);
        i = q->open_count == before && q->open[i] == slot ? i + 1 : 0;
    }
}

void cr_set_advance(certreg_queue *q, cr_slot *slot)
{
    cr_entry *e = slot->entry;
    cr_set *s = &e->set;
    if (s->is_predicted) {
        if (!slot->missing) cr_queue_step(q, slot, CERTREG_OK);
        return;
    }
    if (slot->node.number || samples_without_gap(q->w.record) < e->pilot) return;
    const certreg_status status = predict(q, e);
    if (status) cr_queue_fail(q, e, status);
    else step_waiting(q, e);
}

/* ======== Answers about nodes. */
static certreg_question about_prediction(const certreg_queue *q, const cr_entry *e, size_t k)
{
    certreg_question asked = e->questions[k];
    asked.prediction = e->set.predictions + k * q->home.model.outputs;
    asked.prediction_count = e->set.outputs[k];
    return asked;
}

/* Returns the radius to prove around a node: the target beyond the margin, rounded up to a step of
 * a geometric grid, so that the parts of a family share their tests, which take long to compute. */
static double goal_of(double margin, double target, double sigma)
{
    const double steps = 32, sum = margin + target; /* to twice the radius */
    const double on_grid = sigma * exp2(ceil(steps * log2(sum / sigma)) / steps);
    return nextafter(margin > 0 ? fmax(sum, on_grid) : target, INFINITY);
}

static uint64_t ask(certreg_queue *q, const cr_slot *slot)
{
    const cr_entry *e = slot->entry;
    const cr_set *s = &e->set;
    const cr_member *m = s->members + slot->node.number;
    for (size_t k = 0; k < e->count; k++)
        q->asked[k] = s->is_predicted || slot->node.number ? about_prediction(q, e, k)
                                                           : e->questions[k];
    if (s->target > 0) {
        q->target = *e->questions->target;
        q->target.radius = goal_of(slot->node.margin, s->target, e->sigma);
        if (!(q->target.growth > 0)) q->target.growth = growth;
        q->asked->target = &q->target;
    }
    if (!m->halvings) return 1;
    return UINT64_C(1) << (slot->node.depth + 1 < m->halvings ? slot->node.depth + 1 : m->halvings);
}

/* Marks an alternative that has, or will have, no other estimate than the present one. */
static void mark_estimated(cr_set *s, uint32_t number)
{
    s->unestimated -= !s->members[number].is_estimated;
    s->members[number].is_estimated = 1;
}

/* Keeps the estimates of an alternative at its first look; without a target, of all samples. */
static void take_estimates(certreg_queue *q, const cr_slot *slot)
{
    cr_entry *e = slot->entry;
    cr_view *v = q->w.record;
    double *to = e->set.estimates + slot->node.number * e->count;
    if (slot->node.depth || e->set.members[slot->node.number].is_estimated) return;
    mark_estimated(&e->set, slot->node.number);
    for (size_t k = 0; k < e->count; k++) {
        cr_question asked;
        cr_looks looks = {.samples = {v->sample_count}};
        if (cr_question_load(v, q->asked + k, &asked, NULL)) continue;
        if (e->set.target > 0) cr_looks_schedule(v, q->w.scratch, &asked, &looks);
        const size_t samples = cr_min_size((size_t)looks.samples[0], v->sample_count);
        if (samples > cr_view_first_noisy(v))
            to[k] = cr_prediction_estimate(v, &asked, samples, e->set.predictions[0]);
    }
}

/* ---- the end of a set */
/* Returns 1 if the estimate of an alternative is beyond the tolerance itself. */
static int is_moved(const certreg_queue *q, const cr_entry *e, size_t k, uint32_t number)
{
    const double estimate = e->set.estimates[number * e->count + k];
    const certreg_question about = about_prediction(q, e, k);
    cr_question asked;
    if (!number || isnan(estimate) || cr_question_load(q->w.record, &about, &asked, NULL)) return 0;
    double change = estimate - e->set.own[k].prediction;
    if (asked.period > 0) change = remainder(change, asked.period);
    return fabs(change) > e->set.own[k].tolerance;
}

/* The samples up to the first alternative that failed: those of others depend on what shares
 * their calls. */
static uint64_t samples_of(const cr_set *s)
{
    uint64_t samples = 0;
    for (size_t i = 0; i <= s->given.count && i <= s->failed; i++) samples += s->members[i].samples;
    return samples;
}

static void join(certreg_queue *q, cr_entry *e, int stop)
{
    const cr_set *s = &e->set;
    const int is_early = stop == CERTREG_STOP_DEADLINE || stop == CERTREG_STOP_CANCELLED;
    for (size_t k = 0; k < e->count; k++) {
        cr_given g;
        if (cr_question_parse(e->questions, k, 1, &g, q->w.why)) continue; /* it was valid */
        const cr_joined j = {.own = s->own + k,
                             .limiting = s->tightest + k,
                             .left = s->least[k],
                             .moved = is_moved(q, e, k, s->limiting[k]),
                             .alpha = g.alpha,
                             .digest = g.digest,
                             .samples = is_early ? e->rows : samples_of(s),
                             .stop = stop,
                             .audited = is_early ? 0 : s->audited,
                             .change = s->change,
                             .band = s->band};
        cr_certificate_join(q->w.record, &j, e->certificates + k);
    }
    cr_error_clear(q->w.why);
    e->error = *q->w.why;
    cr_queue_decide(q, e);
}

static void finish_if_decided(certreg_queue *q, cr_entry *e)
{
    const cr_set *s = &e->set;
    const int proved = s->failed > s->given.count;
    if (s->unproved || (!proved && estimates_all(s) && s->unestimated)) return;
    if (s->broken) {
        *q->w.why = e->error;
        cr_queue_fail(q, e, s->broken);
        return;
    }
    join(q, e,
         !(s->target > 0) ? CERTREG_STOP_ALL
         : proved         ? CERTREG_STOP_TARGET
                          : CERTREG_STOP_HOPELESS);
}

/* ---- one node */
/* The tightest alternative, the lower number of equal ones: not the first in time. */
static void note_radius(cr_set *s, size_t k, double left, uint32_t number,
                        const certreg_certificate *c)
{
    if (left > s->least[k] || (left == s->least[k] && number > s->limiting[k])) return;
    s->least[k] = left;
    s->limiting[k] = number;
    s->tightest[k] = *c;
}

static void close_unwanted(certreg_queue *q, const cr_entry *e)
{
    for (size_t i = q->open_count; i-- > 0;)
        if (q->open[i]->entry == e && !is_wanted(&e->set, q->open[i]->node.number))
            cr_queue_close(q, q->open[i]);
}

/* Alternatives behind the first that failed stop; the ones before it run to their end, so that the
 * result does not depend on the order of calls. */
static void fail_member(certreg_queue *q, cr_entry *e, uint32_t number)
{
    cr_set *s = &e->set;
    s->failed = number;
    s->broken = CERTREG_OK;
    s->unproved = 0;
    for (uint32_t i = 0; i < number; i++) s->unproved += !s->members[i].has_passed;
    for (size_t k = 0; k < e->count; k++) {
        if (number < s->out[k]) s->out[k] = number;
        s->least[k] = 0;
        s->limiting[k] = number;
        s->tightest[k] = q->answers[k];
    }
    close_unwanted(q, e);
}

/* The same for an alternative without answers. If none before it fails, the input fails with this
 * status, and with this error, which names the alternative. */
static void break_member(certreg_queue *q, cr_entry *e, uint32_t number, certreg_status status)
{
    cr_set *s = &e->set;
    if (number > s->failed) { /* it decides nothing, and has no estimate */
        mark_estimated(s, number);
        close_unwanted(q, e);
        finish_if_decided(q, e);
        return;
    }
    e->error = *q->w.why;
    if (number)
        snprintf(e->error.text, sizeof e->error.text, "alternative %u: %.200s", number,
                 q->w.why->text);
    for (size_t k = 0; k < e->count; k++) cr_certificate_init(q->w.record, NULL, q->answers + k);
    mark_estimated(s, number);
    fail_member(q, e, number);
    s->broken = status;
    finish_if_decided(q, e);
}

/* Goes to the part of an alternative that is decided next. Returns 0 if all of it is proved. */
static int next_part(cr_member *m)
{
    while (m->depth && m->path % 2) {
        m->depth--;
        m->path /= 2;
    }
    m->path += m->depth > 0;
    return m->depth > 0;
}

/* Takes the answers of a node that may prove something. Returns 1 if it has to go on in parts. */
static int take_proof(certreg_queue *q, cr_slot *slot)
{
    cr_entry *e = slot->entry;
    cr_set *s = &e->set;
    const uint32_t number = slot->node.number, depth = slot->node.depth;
    cr_member *m = s->members + number;
    const int complete = s->failed > s->given.count;
    int proves = 0;
    for (size_t k = 0; k < e->count; k++) {
        const double radius = q->answers[k].radius, margin = slot->node.margin,
                     left = margin > 0 ? nextafter(radius - margin, -INFINITY) : radius;
        const int proved = s->target > 0 ? radius >= q->target.radius : left > 0;
        s->audited = q->answers[k].audited < s->audited ? q->answers[k].audited : s->audited;
        s->change = fmax(s->change, q->answers[k].audit_change);
        s->band = fmax(s->band, q->answers[k].audit_band);
        if (number == s->given.watch && !depth) s->watched[k] = fmax(left, 0);
        if (!proved && !(s->target > 0) && number < s->out[k]) s->out[k] = number;
        if (complete && (proved || !(s->target > 0)))
            note_radius(s, k, left, number, q->answers + k);
        proves |= proved;
    }
    if (!number) memcpy(s->own, q->answers, e->count * sizeof *s->own);
    if (!proves && depth < m->halvings) {
        m->depth++;
        m->path *= 2;
        return 1;
    }
    if (proves && next_part(m)) return 1;
    if (proves) {
        m->has_passed = 1;
        s->unproved--;
    } else fail_member(q, e, number);
    return 0;
}

/* Takes the answers about a node, or the failure of its samples. Returns 1 if the slot has the next
 * part of the same alternative. */
static int take(certreg_queue *q, cr_slot *slot, certreg_status status)
{
    cr_entry *e = slot->entry;
    cr_set *s = &e->set;
    const uint32_t number = slot->node.number;
    for (size_t k = 0; k < e->count && !status; k++)
        if (q->answers[k].stop == CERTREG_STOP_DEADLINE) {
            cr_set_give_up(q, e, CERTREG_E_DEADLINE);
            return 0;
        }
    if (status) {
        break_member(q, e, number, status);
        return 0;
    }
    take_estimates(q, slot);
    e->rows += q->w.record->sample_count;
    s->members[number].samples += q->w.record->sample_count;
    const int goes_on = number < s->failed && take_proof(q, slot);
    if (slot->entry == e && slot->use) cr_queue_close(q, slot);
    if (goes_on) return open_node(q, slot, e, number);
    finish_if_decided(q, e);
    return 0;
}

/* A record that goes on: behind an alternative that failed, its estimate is enough. */
static void look(certreg_queue *q, cr_slot *slot)
{
    cr_entry *e = slot->entry;
    if (q->w.record->sample_count <= q->w.record->pilot) return;
    take_estimates(q, slot);
    if (is_wanted(&e->set, slot->node.number)) return;
    e->rows += q->w.record->sample_count;
    cr_queue_close(q, slot);
    finish_if_decided(q, e);
}

/* The prediction is reported if it is known. */
void cr_set_give_up(certreg_queue *q, cr_entry *e, certreg_status why)
{
    cr_set *s = &e->set;
    for (size_t i = 0; i < q->open_count; i++) {
        cr_slot *slot = q->open[i];
        size_t goal;
        if (slot->entry != e) continue;
        cr_queue_mount(q, slot);
        e->rows += q->w.record->sample_count;
        if (slot->node.number) continue;
        const cr_call call = {.questions = q->asked,
                              .count = e->count,
                              .share = ask(q, slot),
                              .total_samples = e->samples};
        cr_record_truncate(q->w.record, samples_without_gap(q->w.record));
        q->answers->struct_size = sizeof *q->answers;
        if (!cr_certify_step(&q->w, &call, why, &goal, q->answers))
            memcpy(s->own, q->answers, e->count * sizeof *s->own);
    }
    for (size_t k = 0; k < e->count; k++) {
        s->out[k] = s->limiting[k] = 0;
        s->least[k] = 0;
        s->tightest[k] = s->own[k];
        if (why == CERTREG_E_DEADLINE) s->tightest[k].reason = CERTREG_REASON_DEADLINE;
    }
    s->failed = 0;
    join(q, e, why == CERTREG_E_DEADLINE ? CERTREG_STOP_DEADLINE : CERTREG_STOP_CANCELLED);
}

uint64_t cr_set_proved(const cr_entry *e)
{
    uint64_t least = e->error.status ? 0 : e->set.given.count + UINT64_C(1);
    for (size_t k = 0; k < e->count; k++) least = least < e->set.out[k] ? least : e->set.out[k];
    return e->set.target > 0 || least > e->set.given.count ? least : 0;
}

certreg_alternative_result cr_set_result(const cr_entry *e, size_t number, size_t question)
{
    const cr_set *s = &e->set;
    const cr_member *m = s->members + number;
    const int is_decided = number <= s->failed && !e->error.status,
              is_seen = m->is_estimated && (is_decided || s->given.estimate_all);
    return (certreg_alternative_result){
        .struct_size = sizeof(certreg_alternative_result),
        .state = !is_decided || number > s->out[question] ? CERTREG_ALTERNATIVE_UNDECIDED
                 : number == s->out[question]             ? CERTREG_ALTERNATIVE_FAILED
                                                          : CERTREG_ALTERNATIVE_PASSED,
        .estimate = is_seen ? s->estimates[number * e->count + question] : NAN,
        .radius = is_decided && number == s->given.watch ? s->watched[question] : NAN,
        .samples = number <= s->failed ? m->samples : 0};
}

/* ======== A step of one record. */
static size_t count_missing(cr_view *v, size_t goal)
{
    size_t missing = 0;
    for (size_t i = 0; i < goal; i++) missing += !cr_view_has(v, i);
    return missing;
}

void cr_queue_keep_answers(certreg_queue *q, const cr_slot *slot, certreg_status status)
{
    cr_entry *e = slot->entry;
    memcpy(e->certificates, q->answers, e->count * sizeof *q->answers);
    e->error = *q->w.why;
    e->error.status = status;
    e->pilot = q->w.record->pilot;
}

/* An alternative is not evaluated before the prediction is known. Without a target, or if it is
 * resumed, not even its first look needs to be found. */
static int waits_for_prediction(certreg_queue *q, cr_slot *slot)
{
    const cr_set *s = &slot->entry->set;
    if (!slot->node.number || s->is_predicted) return 0;
    if (s->target > 0 && !q->w.record->sample_count) return 0;
    slot->goal = s->target > 0 ? 1 : q->w.record->plan.max_samples;
    slot->missing = count_missing(q->w.record, slot->goal);
    return 1;
}

/* Asks about a slot's node. Returns 1 if there are answers. */
static int evaluate(certreg_queue *q, cr_slot *slot, certreg_status sampled, certreg_status *status)
{
    cr_entry *e = slot->entry;
    const int in_set = e->set.given.count > 0;
    cr_call call = {.total_samples = e->samples,
                    .questions = e->questions,
                    .count = e->count,
                    .share = 1,
                    .inverse = e->at_radius > 0,
                    .at_radius = e->at_radius};
    cr_queue_mount(q, slot);
    if (!q->w.record->sample_count) slot->next = 0;
    if (!sampled && in_set && waits_for_prediction(q, slot)) return 0;
    const double start = cr_deadline_now(q->w.record->deadline);
    if (in_set) {
        call.share = ask(q, slot);
        call.questions = q->asked;
        if (slot->node.number) call.total_samples = q->w.record->plan.max_samples;
    }
    q->answers->struct_size = sizeof *q->answers;
    *status = cr_certify_step(&q->w, &call, sampled, &slot->goal, q->answers);
    cr_queue_learn(&q->slowest_answer, cr_deadline_now(q->w.record->deadline) - start);
    if (!slot->goal && !sampled && in_set && slot->node.number && !e->set.is_predicted) {
        slot->goal = slot->next = 1; /* out of reach: answered about the prediction, no samples */
        slot->missing = 0;
        return 0;
    }
    slot->missing = count_missing(q->w.record, slot->goal);
    slot->is_audited &= !slot->goal;
    if (in_set && slot->goal) look(q, slot);
    if (!slot->goal && q->home.plan.audit)
        cr_certify_note_claims(&q->w, &call, q->answers, sizeof *q->answers);
    return !slot->goal;
}

/* Lets a slot with answers wait for the audit. Returns 0 if it need not. */
static int waits_for_audit(certreg_queue *q, cr_slot *slot)
{
    int claims = slot->entry->set.given.count == 0;
    for (size_t k = 0; k < slot->entry->count; k++)
        claims |= q->answers[k].outcome != CERTREG_OUTCOME_ABSTAINED;
    if (!q->home.plan.audit || slot->is_audited || !claims) return 0;
    slot->waits = CR_WAITS;
    return 1;
}

void cr_queue_step(certreg_queue *q, cr_slot *slot, certreg_status sampled)
{
    certreg_status status;
    while (evaluate(q, slot, sampled, &status)) {
        const int in_set = slot->entry->set.given.count > 0;
        if (!in_set) cr_queue_keep_answers(q, slot, status);
        if (!sampled && waits_for_audit(q, slot)) return;
        if (!status || !sampled) cr_queue_keep_record(q, slot);
        if (!in_set) {
            cr_queue_decide(q, slot->entry);
            return;
        }
        if (!take(q, slot, status)) return;
        sampled = CERTREG_OK; /* the next part, in the same slot */
    }
}
