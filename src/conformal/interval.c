/* Prediction intervals: the rule from calibrated points, and the interval of an input. */
#include "base/error.h"
#include "base/handle.h"
#include "base/struct_sizes.h"
#include "conformal/conformal.h"
#include "estimator/context.h"
#include "statistics/location.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static cr_weights_setting cr_conformal_setting(const certreg_coverage *c);
static void cr_conformal_advise(const certreg_coverage *c, uint64_t points, const char *prefix,
                                char *advice, size_t capacity);

/* ======== A rule for a coverage: weights, and the threshold among the scores of a calibration. */
/* Greatest n and n': up to here a tail is exact to 1e-10. */
#define CR_WEIGHTS_MAX_SAMPLES 10000000u

static const double default_alpha = 0.05, min_alpha = 1e-6, max_alpha = 0.5;
static const uint64_t max_points = UINT64_C(1) << 50;

static certreg_status check_counts(const certreg_coverage *c, certreg_error *why)
{
    if (!c->points || c->points > max_points)
        return cr_error_set(why, CERTREG_E_INVALID, "coverage.points is %llu; it must be 1 to 2^50",
                            (unsigned long long)c->points);
    const uint64_t counts[] = {c->calibration_samples, c->samples};
    static const char *const names[] = {"calibration_samples", "samples"};
    for (int i = 0; i < 2; i++)
        if (!counts[i] || counts[i] > CR_WEIGHTS_MAX_SAMPLES)
            return cr_error_set(why, CERTREG_E_INVALID, "coverage.%s is %llu; it must be 1 to 1e7",
                                names[i], (unsigned long long)counts[i]);
    return CERTREG_OK;
}

static certreg_status check(certreg_coverage *c, certreg_error *why)
{
    if (c->reserved)
        return cr_error_set(why, CERTREG_E_INVALID, "coverage.reserved is %d; it must be 0",
                            (int)c->reserved);
    if (c->alpha == 0) c->alpha = default_alpha;
    if (!(c->alpha >= min_alpha && c->alpha <= max_alpha))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "coverage.alpha is %g; it must be 1e-6 to 0.5, or 0 for 0.05",
                            c->alpha);
    if (!(c->radius >= 0 && isfinite(c->radius)))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "coverage.radius is %g; it must be finite and not negative", c->radius);
    if (!(c->sigma > 0 && isfinite(c->sigma)))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "coverage.sigma is %g; it must be positive and finite", c->sigma);
    return check_counts(c, why);
}

static certreg_status refuse_points(const certreg_coverage *c, uint64_t min_points,
                                    certreg_error *why)
{
    char advice[200];
    cr_conformal_advise(c, c->points, min_points ? ", or " : "take ", advice, sizeof advice);
    if (min_points)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "coverage.points is %llu, and these samples, radius and alpha need at least "
            "%llu: take that many%s",
            (unsigned long long)c->points, (unsigned long long)min_points, advice);
    if (!*advice)
        cr_conformal_advise(c, max_points, "with more points take ", advice, sizeof advice);
    return cr_error_set(
        why, CERTREG_E_INVALID,
        "no number of points is enough for a radius of %g sigma with these samples and "
        "alpha: %s",
        c->radius / c->sigma,
        *advice ? advice
                : "take as many samples of a new input as of each calibration point, "
                  "and a smaller radius");
}

/* ---- with a calibration */
static certreg_status read_calibration(certreg_coverage *c, const certreg_calibration *calibration,
                                       certreg_error *why)
{
    if (!calibration->count)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "the calibration has no points: add some, or pass NULL to plan one");
    if (c->sigma != 0 || c->points || c->calibration_samples)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "coverage.sigma, .points and .calibration_samples describe a calibration that "
            "is planned: leave them 0 with a calibration");
    c->sigma = calibration->sigma;
    c->points = calibration->count;
    c->calibration_samples = calibration->samples;
    return CERTREG_OK;
}

typedef struct weighted_scores { /* the scores of all points, each with the weight of its level */
    const double *scores;
    const cr_weight_function *weights;
    size_t levels;
} weighted_scores;

static double score_at(const void *context, size_t i)
{
    return ((const weighted_scores *)context)->scores[i];
}

static double weight_at(const void *context, size_t i)
{
    const weighted_scores *w = context;
    return w->weights->step[i % w->levels];
}

/* The smallest q at which the calibration's risk is at most alpha (theory 12.2). */
static certreg_status find_threshold(const certreg_calibration *c,
                                     const cr_weight_function *weights, double alpha,
                                     certreg_error *why, double *threshold)
{
    uint64_t above[CR_WEIGHTS_LEVELS];
    const weighted_scores w = {c->scores, weights, (size_t)cr_weights_levels(c->samples, above)};
    const cr_indexed_values order = {
        .value = score_at, .context = &w, .count = (size_t)c->count * w.levels};
    for (size_t i = 0; i < order.count; i++)
        if (isnan(c->scores[i]))
            return cr_error_set(why, CERTREG_E_INVALID, "calibration.scores[%zu] is NaN", i);
    const double budget = cr_weights_budget(weights, alpha, c->count);
    if (budget >= 0) *threshold = cr_order_weighted_threshold(&order, weight_at, budget);
    return CERTREG_OK;
}

static certreg_status make_rule(certreg_coverage *c, const certreg_calibration *calibration,
                                certreg_error *why, certreg_rule *out)
{
    certreg_status status = calibration ? read_calibration(c, calibration, why) : CERTREG_OK;
    if (!status) status = check(c, why);
    if (status) return status;
    const cr_weights_setting setting = cr_conformal_setting(c);
    const cr_weight_function weights = cr_weights_choose(&setting);
    out->least_points = weights.min_points;
    if (!weights.sample_rank) return refuse_points(c, weights.min_points, why);
    if (calibration) status = find_threshold(calibration, &weights, c->alpha, why, &out->threshold);
    if (status) return status;
    out->alpha = c->alpha;
    out->radius = c->radius;
    out->samples = c->samples;
    out->sample_rank = weights.sample_rank;
    if (calibration) out->calibration = cr_conformal_digest(calibration, out);
    return CERTREG_OK;
}

static certreg_status read_and_make(const certreg_coverage *coverage,
                                    const certreg_calibration *calibration, certreg_error *why,
                                    certreg_rule *out)
{
    certreg_coverage c;
    certreg_calibration calibration_read;
    certreg_status status =
        cr_struct_read(&c, sizeof c, CR_OLDEST_COVERAGE, coverage, "coverage", why);
    if (!status && calibration) status = cr_conformal_read(calibration, &calibration_read, why);
    return status ? status : make_rule(&c, calibration ? &calibration_read : NULL, why, out);
}

certreg_status certreg_interval_rule(const certreg_coverage *coverage,
                                     const certreg_calibration *calibration, certreg_error *why,
                                     certreg_rule *out)
{
    certreg_rule rule = {.struct_size = sizeof rule, .threshold = INFINITY};
    certreg_error error;
    fenv_t callers;
    cr_environment_enter(&callers);
    cr_error_clear(&error);
    certreg_status status = cr_struct_check(out, CR_OLDEST_RULE, "rule", &error);
    if (!status) status = cr_libm_check(&error);
    if (!status) status = read_and_make(coverage, calibration, &error, &rule);
    cr_environment_leave(&callers);
    cr_struct_write_empty(out, CR_OLDEST_RULE, &rule, sizeof rule);
    cr_error_copy_out(why, &error);
    return status;
}

/* ---- advice if no rule exists: changes of the arguments that were tried and give a rule */
/* The setting of the weights, with a shift that covers the rounding of noise. */
static cr_weights_setting cr_conformal_setting(const certreg_coverage *c)
{
    return (cr_weights_setting){.alpha = c->alpha,
                                .shift =
                                    c->radius / c->sigma * (1 + CR_CONFORMAL_DEVIATION_ROUNDING),
                                .points = c->points,
                                .calibration = c->calibration_samples,
                                .samples = c->samples};
}

enum change { NEW_SAMPLES, CALIBRATION_SAMPLES, RADIUS, ALPHA };
enum { CHANGES = ALPHA + 1 };

static certreg_coverage with_change(certreg_coverage c, enum change kind, double value)
{
    switch (kind) {
    case NEW_SAMPLES: c.samples = (uint64_t)value; break;
    case CALIBRATION_SAMPLES: c.calibration_samples = (uint64_t)value; break;
    case RADIUS: c.radius = value; break;
    case ALPHA: c.alpha = value; break;
    }
    return c;
}

static int has_rule(const certreg_coverage *c, enum change kind, double value, uint64_t points)
{
    const certreg_coverage changed = with_change(*c, kind, value);
    const cr_weights_setting setting = cr_conformal_setting(&changed);
    const uint64_t min_points = cr_weights_min_points(&setting);
    return min_points && min_points <= points;
}

/* The least helpful value found that leads to a rule, between the present value and the most
 * helpful one; 0 if even that has none. An alpha is the least one with six digits. */
static double smallest_change(const certreg_coverage *c, enum change kind, double from, double to,
                              uint64_t points)
{
    if (!has_rule(c, kind, to, points)) return 0;
    const double near = kind == ALPHA ? 1 + 1e-7 : 1.05;
    for (int i = 0; i < 40 && fmax(from, to) > near * fmin(from, to); i++) {
        const double middle = sqrt(from) * sqrt(to);
        if (has_rule(c, kind, middle, points)) to = middle;
        else from = middle;
    }
    if (kind != ALPHA) return to;
    const double unit = pow(10, 5 - floor(log10(to))), below = floor(to * unit) / unit;
    return has_rule(c, kind, below, points) ? below : fmin(0.5, ceil(to * unit) / unit);
}

/* A smaller radius helps as well, so it is rounded down; an alpha has six digits. */
static void format_change(char *text, size_t capacity, enum change kind, double value)
{
    switch (kind) {
    case NEW_SAMPLES:
        snprintf(text, capacity, "%llu samples of a new input", (unsigned long long)value);
        break;
    case CALIBRATION_SAMPLES:
        snprintf(text, capacity, "%llu samples of each calibration point",
                 (unsigned long long)value);
        break;
    case RADIUS: snprintf(text, capacity, "a radius of %.3g", 0.99 * value); break;
    case ALPHA: snprintf(text, capacity, "an alpha of %.6g", value); break;
    }
}

/* Writes changes that each make a rule possible with at most `points` points: `prefix`, then the
 * changes with ", or " between them. Empty if no single change is enough. */
static void cr_conformal_advise(const certreg_coverage *c, uint64_t points, const char *prefix,
                                char *advice, size_t capacity)
{
    const struct {
        double from, to;
    } ranges[CHANGES] = {{(double)c->samples, CR_WEIGHTS_MAX_SAMPLES},
                         {(double)c->calibration_samples, CR_WEIGHTS_MAX_SAMPLES},
                         {c->radius, fmin(c->radius, c->sigma) / 1024},
                         {c->alpha, 0.5}};
    *advice = 0;
    for (int i = 0; i < CHANGES; i++) {
        const double value =
            smallest_change(c, (enum change)i, ranges[i].from, ranges[i].to, points);
        const size_t used = strlen(advice);
        if (!(value > 0) || used + 1 >= capacity) continue;
        snprintf(advice + used, capacity - used, "%s", used ? ", or " : prefix);
        format_change(advice + strlen(advice), capacity - strlen(advice), (enum change)i, value);
    }
}

/* ======== The prediction set of a new input, from its record and a rule: an interval around
 * each sample, and the points that lie in at least rule.sample_rank of them. */
/* ---- the points in at least `depth` of several intervals (theory 12.5) */
/* Both lists are sorted. Writing piece p destroys nothing that is read later, since p is at most
 * the number of the window. */
static size_t depth_pieces(double *lo, double *hi, size_t count, size_t depth)
{
    size_t pieces = 0;
    for (size_t i = 0; i < count; i++) {
        const double begin = lo[i + depth - 1], end = hi[i];
        if (begin > end) continue;
        if (pieces && begin <= hi[pieces - 1]) {
            hi[pieces - 1] = end;
            continue;
        }
        lo[pieces] = begin;
        hi[pieces++] = end;
    }
    return pieces;
}

size_t cr_interval_depth_line(double *lo, double *hi, size_t count, size_t depth)
{
    cr_order_sort(lo, count);
    cr_order_sort(hi, count);
    return depth_pieces(lo, hi, count + 1 - depth, depth);
}

/* The last piece reaches at most to the end of the first one. */
static size_t join_wrapped(double *lo, double *hi, size_t pieces, double period)
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
    return join_wrapped(lo, hi, depth_pieces(lo, hi, count, depth), period);
}

typedef struct interval_request { /* a checked call */
    certreg_calibration calibration;
    certreg_rule rule;
    cr_score_source source;
} interval_request;

/* ---- checks */
static certreg_status check_rule(const interval_request *a, certreg_error *why)
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
    if (r->samples != a->source.count)
        return cr_error_set(why, CERTREG_E_MISMATCH,
                            "the rule is for %llu samples, and the record has %zu beyond the pilot",
                            (unsigned long long)r->samples, a->source.count);
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

static certreg_status read_request(cr_view *v, const certreg_calibration *calibration,
                                   const certreg_rule *rule, interval_request *a,
                                   certreg_error *why)
{
    certreg_status status = cr_conformal_read(calibration, &a->calibration, why);
    if (!status) status = cr_conformal_check_outputs(v, &a->calibration, why);
    if (!status)
        status = cr_struct_read(&a->rule, sizeof a->rule, CR_OLDEST_RULE, rule, "rule", why);
    if (!status) status = cr_conformal_samples(v, &a->calibration, &a->source, why);
    if (!status) status = cr_conformal_check_same(v, &a->calibration, why);
    if (!status) status = check_rule(a, why);
    return status ? status : check_noise(v, &a->calibration, why);
}

/* ---- one output */
typedef struct output_set { /* one output, and memory for its pieces */
    int32_t output;
    double unit, period;  /* 0: a real number */
    double max_magnitude; /* an angle's truths and outputs are not greater */
    double *lo, *hi;
    size_t capacity; /* of lo and hi */
} output_set;

/* Half the length of an interval: more than the true distance of any sample with a computed score
 * up to the threshold. `tiny` is for squares that underflow. */
static double half_length(const interval_request *a, const output_set *l)
{
    const certreg_calibration *c = &a->calibration;
    const double rounding = ((double)c->outputs + 8) * DBL_EPSILON, tiny = 1e-150;
    return l->unit * (a->rule.threshold + fabs(a->rule.threshold) * rounding + tiny) *
               (1 + DBL_EPSILON) +
           2 * DBL_EPSILON * l->max_magnitude;
}

static int has_failed(const interval_request *a, const float *y)
{
    for (int32_t k = 0; k < a->calibration.outputs; k++)
        if (isnan(y[k])) return 1;
    return 0;
}

/* Writes an interval for each sample, from lo[0] on, and returns their number. *failed_count counts
 * the samples that failed: any truth is possible for them. */
static size_t sample_intervals(const interval_request *a, const output_set *l,
                               uint64_t *failed_count)
{
    const certreg_calibration *c = &a->calibration;
    cr_view *v = a->source.v;
    const int quantiles = c->score == CERTREG_SCORE_QUANTILES;
    const size_t from = (size_t)(quantiles ? c->output : l->output), to = from + (size_t)quantiles;
    const double half = half_length(a, l);
    size_t count = 0;
    *failed_count = 0;
    for (size_t i = a->source.first; i < a->source.first + a->source.count; i++) {
        if (has_failed(a, cr_view_output_ptr(v, i, c->output))) {
            ++*failed_count;
            continue;
        }
        l->lo[count] = nextafter((double)cr_view_value(v, i, from) - half, -INFINITY);
        l->hi[count] = nextafter((double)cr_view_value(v, i, to) + half, INFINITY);
        count += l->lo[count] <= l->hi[count];
    }
    return count;
}

static void set_everything(const interval_request *a, const output_set *l, certreg_interval *out)
{
    const certreg_model *m = &a->source.v->model;
    out->pieces = 1;
    out->lo = l->lo[0] = l->period > 0 ? m->lo[l->output] : -INFINITY;
    out->hi = l->hi[0] = l->period > 0 ? m->hi[l->output] : INFINITY;
}

/* Moves an arc by whole turns, so that it begins in the turn. */
static void wrap_arc(double begin, double period, double *lo, double *hi)
{
    const double periods = floor((*lo - begin) / period);
    if (periods == 0) return;
    *lo = nextafter(*lo - periods * period, -INFINITY);
    *hi = nextafter(*hi - periods * period, INFINITY);
}

/* The hull of arcs leaves out the largest gap between two of them. Arcs are disjoint, so that
 * sorting both ends orders them by their begin in the turn. */
static void set_hull(const output_set *l, double begin, certreg_interval *out)
{
    const size_t last = (size_t)out->pieces - 1;
    size_t before_gap = last; /* the piece before the largest gap */
    double largest = l->lo[0] + l->period - l->hi[last];
    for (size_t i = 0; i < last; i++) {
        if (!(l->lo[i + 1] - l->hi[i] > largest)) continue;
        largest = l->lo[i + 1] - l->hi[i];
        before_gap = i;
    }
    out->lo = l->lo[before_gap == last ? 0 : before_gap + 1];
    out->hi = before_gap == last ? l->hi[last] : nextafter(l->hi[before_gap] + l->period, INFINITY);
    wrap_arc(begin, l->period, &out->lo, &out->hi);
    for (size_t i = 0; i <= last; i++) wrap_arc(begin, l->period, l->lo + i, l->hi + i);
    cr_order_sort(l->lo, last + 1);
    cr_order_sort(l->hi, last + 1);
}

static void circle_pieces(const interval_request *a, const output_set *l, size_t count,
                          size_t depth, certreg_interval *out)
{
    out->pieces = cr_interval_depth_circle(l->lo, l->hi, count, depth, l->period);
    if (out->pieces && l->hi[0] - l->lo[0] >= l->period) set_everything(a, l, out);
    else if (out->pieces) set_hull(l, a->source.v->model.lo[l->output], out);
}

static void line_pieces(const output_set *l, size_t count, size_t depth, certreg_interval *out)
{
    out->pieces = cr_interval_depth_line(l->lo, l->hi, count, depth);
    if (!out->pieces) return;
    out->lo = l->lo[0];
    out->hi = l->hi[out->pieces - 1];
}

static void find_set(const interval_request *a, const output_set *l, certreg_interval *out)
{
    const int circle = l->period > 0;
    uint64_t failed_count;
    const size_t count = sample_intervals(a, l, &failed_count);
    const size_t depth =
        a->rule.sample_rank > failed_count ? (size_t)(a->rule.sample_rank - failed_count) : 0;
    out->failed = failed_count;
    out->lo = out->hi = NAN;
    if (!depth || (circle && !(2 * half_length(a, l) < l->period))) set_everything(a, l, out);
    else if (depth > count) out->pieces = 0;
    else if (circle) circle_pieces(a, l, count, depth, out);
    else line_pieces(l, count, depth, out);
}

/* Checks output and capacity, and sets unit, period and max_magnitude. */
static certreg_status read_output(cr_view *v, const interval_request *a, output_set *l,
                                  certreg_error *why)
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
        l->max_magnitude = fabs(v->model.lo[output]) + fabs(v->model.hi[output]) + 2 * l->period;
    }
    const size_t required = angle ? 2 * a->source.count : a->source.count;
    if (!l->lo || !l->hi)
        return cr_error_set(why, CERTREG_E_INVALID, "lo or hi is NULL; they are the work space");
    if (l->capacity < required)
        return cr_error_set(why, CERTREG_E_SMALL_MEMORY,
                            "lo and hi have room for %zu numbers each; %zu are needed", l->capacity,
                            required);
    return CERTREG_OK;
}

static certreg_status compute_interval(const cr_context *w, const certreg_calibration *calibration,
                                       const certreg_rule *rule, output_set *l,
                                       certreg_interval *found)
{
    interval_request a;
    certreg_status status = read_request(w->record, calibration, rule, &a, w->why);
    if (!status) status = read_output(w->record, &a, l, w->why);
    if (status) return status;
    found->output = l->output;
    found->period = l->period;
    found->alpha = a.rule.alpha;
    found->radius = a.rule.radius;
    found->threshold = a.rule.threshold;
    found->samples = a.source.count;
    find_set(&a, l, found);
    cr_query_log_add_current(w->record, 0);
    return CERTREG_OK;
}

static const certreg_interval no_interval = {
    .struct_size = sizeof no_interval, .lo = -INFINITY, .hi = INFINITY, .alpha = 1};

certreg_status certreg_estimator_interval(certreg_estimator *e,
                                          const certreg_calibration *calibration,
                                          const certreg_rule *rule, int32_t output, double *lo,
                                          double *hi, size_t capacity, certreg_interval *out)
{
    output_set l = {.output = output, .lo = lo, .hi = hi, .capacity = capacity};
    certreg_interval found = no_interval;
    cr_context w;
    certreg_status status = cr_estimator_enter(e, &w);
    if (!status) {
        status = cr_struct_check(out, CR_OLDEST_INTERVAL, "interval", w.why);
        if (!status) status = compute_interval(&w, calibration, rule, &l, &found);
        cr_estimator_leave(e, status);
    }
    cr_struct_write_empty(out, CR_OLDEST_INTERVAL, status ? &no_interval : &found, sizeof found);
    return status;
}

/* ---- a vector */
static certreg_status covers(const cr_context *w, const certreg_calibration *calibration,
                             const certreg_rule *rule, const double *truth, int32_t *inside)
{
    interval_request a;
    if (!inside) return cr_error_set(w->why, CERTREG_E_INVALID, "inside is NULL");
    certreg_status status = read_request(w->record, calibration, rule, &a, w->why);
    if (!status) status = cr_conformal_check_truth(w->record, &a.calibration, truth, w->why);
    if (status) return status;
    uint64_t within = 0;
    a.source.truth = truth;
    a.source.failed = -INFINITY;
    for (size_t i = 0; i < a.source.count; i++)
        within += cr_conformal_score(&a.source, i) <= a.rule.threshold;
    *inside = within >= a.rule.sample_rank;
    cr_query_log_add_current(w->record, 0);
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
