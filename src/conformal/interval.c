/* The prediction set of a new input, from its record and a rule: an interval around each sample,
 * and the points that lie in at least rule.sample_rank of them. */
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "estimator/context.h"
#include "conformal/conformal.h"
#include "statistics/order_statistics.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- the points in at least `depth` of several intervals (theory 12.5) */
/* Both lists are sorted. Writing piece p destroys nothing that is read later, since p is at most
 * the number of the window. */
static size_t windows(double *lo, double *hi, size_t count, size_t depth)
{
    size_t pieces = 0;
    for (size_t i = 0; i < count; i++) {
        const double from = lo[i + depth - 1], to = hi[i];
        if (from > to) continue;
        if (pieces && from <= hi[pieces - 1]) {
            hi[pieces - 1] = to;
            continue;
        }
        lo[pieces] = from;
        hi[pieces++] = to;
    }
    return pieces;
}

size_t cr_interval_depth_line(double *lo, double *hi, size_t count, size_t depth)
{
    cr_order_sort(lo, count);
    cr_order_sort(hi, count);
    return windows(lo, hi, count + 1 - depth, depth);
}

/* The last piece reaches at most to the end of the first one. */
static size_t join_ends(double *lo, double *hi, size_t pieces, double period)
{
    const double first = nextafter(lo[0] + period, -INFINITY);
    if (pieces < 2 || hi[pieces - 1] < first) return pieces;
    hi[pieces - 1] = fmax(hi[pieces - 1], nextafter(hi[0] + period, INFINITY));
    memmove(lo, lo + 1, (pieces - 1) * sizeof *lo);
    memmove(hi, hi + 1, (pieces - 1) * sizeof *hi);
    return pieces - 1;
}

size_t cr_interval_depth_circle(double *lo, double *hi, size_t count, size_t depth, double period)
{
    cr_order_sort(lo, count);
    cr_order_sort(hi, count);
    for (size_t i = 0; i < count; i++) lo[count + i] = nextafter(lo[i] + period, -INFINITY);
    return join_ends(lo, hi, windows(lo, hi, count, depth), period);
}

typedef struct asked { /* a checked call */
    certreg_calibration calibration;
    certreg_rule rule;
    cr_score_source scored;
} asked;

/* ---- checks */
static certreg_status check_rule(const asked *a, certreg_error *why)
{
    const certreg_rule *r = &a->rule;
    if (r->calibration != cr_conformal_digest(&a->calibration, r))
        return cr_error_set(
            why, CERTREG_E_MISMATCH,
            "the rule is for %s: make one from this calibration, with all of its points",
            r->calibration ? "another calibration, or was changed"
                           : "a calibration that is planned");
    if (r->reserved)
        return cr_error_set(why, CERTREG_E_INVALID, "rule.reserved is %d; it must be 0",
                            (int)r->reserved);
    if (r->samples != a->scored.count)
        return cr_error_set(why, CERTREG_E_MISMATCH,
                            "the rule is for %llu samples, and the record has %zu beyond the pilot",
                            (unsigned long long)r->samples, a->scored.count);
    return CERTREG_OK;
}

static certreg_status check_noise(cr_view *v, const certreg_calibration *c, certreg_error *why)
{
    const cr_noise *noise = &v->input.noise;
    if (noise->seed == c->seed && noise->noise_id >= c->first_noise &&
        noise->noise_id <= c->last_noise)
        return cr_error_set(
            why, CERTREG_E_WRONG_STATE,
            "noise_id %llu is one of the calibration (%llu to %llu): every new input "
            "needs fresh noise, so begin with another noise_id, or use another seed",
            (unsigned long long)noise->noise_id, (unsigned long long)c->first_noise,
            (unsigned long long)c->last_noise);
    return cr_conformal_check_noise(v, why);
}

static certreg_status take(cr_view *v, const certreg_calibration *calibration,
                           const certreg_rule *rule, asked *a, certreg_error *why)
{
    certreg_status status = cr_conformal_read(calibration, &a->calibration, why);
    if (!status) status = cr_conformal_check_outputs(v, &a->calibration, why);
    if (!status)
        status = cr_struct_read(&a->rule, sizeof a->rule, CR_OLDEST_RULE, rule, "rule", why);
    if (!status) status = cr_conformal_samples(v, &a->calibration, &a->scored, why);
    if (!status) status = cr_conformal_same(v, &a->calibration, why);
    if (!status) status = check_rule(a, why);
    return status ? status : check_noise(v, &a->calibration, why);
}

/* ---- one output */
typedef struct line { /* one output, and memory for its pieces */
    int32_t output;
    double unit, period; /* 0: a real number */
    double farthest;     /* an angle's truths and outputs are not greater */
    double *lo, *hi;
    size_t room; /* of lo and hi */
} line;

/* Half the length of an interval: more than the true distance of any sample with a computed score
 * up to the threshold. `tiny` is for squares that underflow. */
static double reach_of(const asked *a, const line *l)
{
    const certreg_calibration *c = &a->calibration;
    const double lost = ((double)c->outputs + 8) * DBL_EPSILON, tiny = 1e-150;
    return l->unit * (a->rule.threshold + fabs(a->rule.threshold) * lost + tiny) *
               (1 + DBL_EPSILON) +
           2 * DBL_EPSILON * l->farthest;
}

static int failed(const asked *a, const float *y)
{
    for (int32_t k = 0; k < a->calibration.outputs; k++)
        if (isnan(y[k])) return 1;
    return 0;
}

/* Writes an interval for each sample, from lo[0] on, and returns their number. *open counts the
 * samples that failed: any truth is possible for them. */
static size_t intervals_of(const asked *a, const line *l, uint64_t *open)
{
    const certreg_calibration *c = &a->calibration;
    cr_view *v = a->scored.v;
    const int quantiles = c->score == CERTREG_SCORE_QUANTILES;
    const size_t from = (size_t)(quantiles ? c->output : l->output), to = from + (size_t)quantiles;
    const double reach = reach_of(a, l);
    size_t count = 0;
    *open = 0;
    for (size_t i = a->scored.first; i < a->scored.first + a->scored.count; i++) {
        if (failed(a, cr_view_output_ptr(v, i, c->output))) {
            ++*open;
            continue;
        }
        l->lo[count] = nextafter((double)cr_view_value(v, i, from) - reach, -INFINITY);
        l->hi[count] = nextafter((double)cr_view_value(v, i, to) + reach, INFINITY);
        count += l->lo[count] <= l->hi[count];
    }
    return count;
}

static void whole(const asked *a, const line *l, certreg_interval *out)
{
    const certreg_model *m = &a->scored.v->model;
    out->pieces = 1;
    out->lo = l->lo[0] = l->period > 0 ? m->lo[l->output] : -INFINITY;
    out->hi = l->hi[0] = l->period > 0 ? m->hi[l->output] : INFINITY;
}

/* Moves an arc by whole turns, so that it begins in the turn. */
static void into_turn(double turn, double period, double *lo, double *hi)
{
    const double turns = floor((*lo - turn) / period);
    if (turns == 0) return;
    *lo = nextafter(*lo - turns * period, -INFINITY);
    *hi = nextafter(*hi - turns * period, INFINITY);
}

/* The hull of arcs leaves out the largest gap between two of them. Arcs are disjoint, so that
 * sorting both ends orders them by their begin in the turn. */
static void hull_of_arcs(const line *l, double turn, certreg_interval *out)
{
    const size_t last = (size_t)out->pieces - 1;
    size_t before = last; /* the piece before the largest gap */
    double largest = l->lo[0] + l->period - l->hi[last];
    for (size_t i = 0; i < last; i++) {
        if (!(l->lo[i + 1] - l->hi[i] > largest)) continue;
        largest = l->lo[i + 1] - l->hi[i];
        before = i;
    }
    out->lo = l->lo[before == last ? 0 : before + 1];
    out->hi = before == last ? l->hi[last] : nextafter(l->hi[before] + l->period, INFINITY);
    into_turn(turn, l->period, &out->lo, &out->hi);
    for (size_t i = 0; i <= last; i++) into_turn(turn, l->period, l->lo + i, l->hi + i);
    cr_order_sort(l->lo, last + 1);
    cr_order_sort(l->hi, last + 1);
}

static void arcs_of(const asked *a, const line *l, size_t count, size_t depth,
                    certreg_interval *out)
{
    out->pieces = cr_interval_depth_circle(l->lo, l->hi, count, depth, l->period);
    if (out->pieces && l->hi[0] - l->lo[0] >= l->period) whole(a, l, out);
    else if (out->pieces) hull_of_arcs(l, a->scored.v->model.lo[l->output], out);
}

static void stretches_of(const line *l, size_t count, size_t depth, certreg_interval *out)
{
    out->pieces = cr_interval_depth_line(l->lo, l->hi, count, depth);
    if (!out->pieces) return;
    out->lo = l->lo[0];
    out->hi = l->hi[out->pieces - 1];
}

static void solve(const asked *a, const line *l, certreg_interval *out)
{
    const int circle = l->period > 0;
    uint64_t open;
    const size_t count = intervals_of(a, l, &open);
    const size_t depth = a->rule.sample_rank > open ? (size_t)(a->rule.sample_rank - open) : 0;
    out->failed = open;
    out->lo = out->hi = NAN;
    if (!depth || (circle && !(2 * reach_of(a, l) < l->period))) whole(a, l, out);
    else if (depth > count) out->pieces = 0;
    else if (circle) arcs_of(a, l, count, depth, out);
    else stretches_of(l, count, depth, out);
}

/* Checks output and room, and sets unit, period and farthest. */
static certreg_status line_of(cr_view *v, const asked *a, line *l, certreg_error *why)
{
    const int32_t output = l->output;
    const certreg_calibration *c = &a->calibration;
    const int quantiles = c->score == CERTREG_SCORE_QUANTILES;
    const int64_t index = (int64_t)output - c->output;
    const int count = quantiles ? 1 : c->outputs;
    if (index < 0 || index >= count)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "output is %d; give one of the outputs of the calibration, %d to %d",
                            (int)output, (int)c->output, (int)(c->output + count - 1));
    l->unit = c->units ? c->units[index] : 1;
    const int angle = v->model.kind[output] != CERTREG_OUTPUT_REAL;
    if (angle) {
        l->period = v->model.hi[output] - v->model.lo[output];
        l->farthest = fabs(v->model.lo[output]) + fabs(v->model.hi[output]) + 2 * l->period;
    }
    const size_t need = angle ? 2 * a->scored.count : a->scored.count;
    if (!l->lo || !l->hi)
        return cr_error_set(why, CERTREG_E_INVALID, "lo or hi is NULL; they are the work space");
    if (l->room < need)
        return cr_error_set(why, CERTREG_E_SMALL_MEMORY,
                            "lo and hi have room for %zu numbers each; %zu are needed", l->room,
                            need);
    return CERTREG_OK;
}

static certreg_status interval_of(const cr_context *w, const certreg_calibration *calibration,
                                  const certreg_rule *rule, line *l, certreg_interval *found)
{
    asked a;
    certreg_status status = take(w->record, calibration, rule, &a, w->why);
    if (!status) status = line_of(w->record, &a, l, w->why);
    if (status) return status;
    found->output = l->output;
    found->period = l->period;
    found->alpha = a.rule.alpha;
    found->radius = a.rule.radius;
    found->threshold = a.rule.threshold;
    found->samples = a.scored.count;
    solve(&a, l, found);
    cr_query_log_remember_now(w->record, 0);
    return CERTREG_OK;
}

static const certreg_interval nothing = {
    .struct_size = sizeof nothing, .lo = -INFINITY, .hi = INFINITY, .alpha = 1};

certreg_status certreg_estimator_interval(certreg_estimator *e,
                                          const certreg_calibration *calibration,
                                          const certreg_rule *rule, int32_t output, double *lo,
                                          double *hi, size_t room, certreg_interval *out)
{
    line l = {.output = output, .lo = lo, .hi = hi, .room = room};
    certreg_interval found = nothing;
    cr_context w;
    certreg_status status = cr_estimator_enter(e, &w);
    if (!status) {
        status = cr_struct_check(out, CR_OLDEST_INTERVAL, "interval", w.why);
        if (!status) status = interval_of(&w, calibration, rule, &l, &found);
        cr_estimator_leave(e, status);
    }
    cr_struct_write_empty(out, CR_OLDEST_INTERVAL, status ? &nothing : &found, sizeof found);
    return status;
}

/* ---- a vector */
static certreg_status covers(const cr_context *w, const certreg_calibration *calibration,
                             const certreg_rule *rule, const double *truth, int32_t *inside)
{
    asked a;
    if (!inside) return cr_error_set(w->why, CERTREG_E_INVALID, "inside is NULL");
    certreg_status status = take(w->record, calibration, rule, &a, w->why);
    if (!status) status = cr_conformal_check_truth(w->record, &a.calibration, truth, w->why);
    if (status) return status;
    uint64_t within = 0;
    a.scored.truth = truth;
    a.scored.failed = -INFINITY;
    for (size_t i = 0; i < a.scored.count; i++)
        within += cr_conformal_score(&a.scored, i) <= a.rule.threshold;
    *inside = within >= a.rule.sample_rank;
    cr_query_log_remember_now(w->record, 0);
    return CERTREG_OK;
}

certreg_status certreg_estimator_covers(certreg_estimator *e,
                                        const certreg_calibration *calibration,
                                        const certreg_rule *rule, const double *truth,
                                        int32_t *inside)
{
    if (inside) *inside = 1; /* nothing is known */
    cr_context w;
    const certreg_status status = cr_estimator_enter(e, &w);
    return status ? status : cr_estimator_leave(e, covers(&w, calibration, rule, truth, inside));
}
