/* A record: what is known about one input, the log of its evaluations, and write access to its
 * samples. */
#include "record/record.h"
#include "base/bytes.h"
#include "base/constants.h"
#include "statistics/location.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ======== Read access to a record: its gaps, its samples as scores, its digests, and the checks
 * that every evaluation starts with. Nothing here writes, so that a cr_view is enough. */
#define CR_MISSING_NAN_BITS 0x7fc0a11eu /* the NaN pattern of a missing sample */

int cr_view_has(cr_view *v, uint64_t sample)
{
    return cr_bits_of_float(v->values[sample * v->model.outputs]) != CR_MISSING_NAN_BITS;
}

certreg_status cr_view_require_contiguous(cr_view *v, size_t *count, certreg_error *why)
{
    size_t n = 0;
    while (n < v->plan.max_samples && cr_view_has(v, n)) n++;
    *count = n;
    if (n == v->sample_count) return CERTREG_OK;
    size_t first_present = n;
    while (!cr_view_has(v, first_present)) first_present++;
    return cr_error_set(why, CERTREG_E_WRONG_STATE,
                        "samples %zu to %zu are missing from the record: sample or import them", n,
                        first_present - 1);
}

cr_samples cr_view_samples(cr_view *v, const cr_score *score, int32_t output, size_t first,
                           size_t count, double center)
{
    return (cr_samples){.y = cr_view_output_ptr(v, 0, output),
                        .stride = v->model.outputs,
                        .first = first,
                        .count = count,
                        .score = score,
                        .center = center,
                        .deadline = v->deadline};
}

/* One-to-one in h for each float, and in the float for each h. The float enters the lower half, so
 * that a difference in sign or exponent alone, which a change of unit makes, spreads to more bits
 * than the next float can cancel. */
static uint64_t hash_float(uint64_t h, float value)
{
    h = (h ^ cr_bits_of_float(value)) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 32;
}

/* Two multiplications per feature: this digest dominates the cost of certreg_estimator_begin. */
uint64_t cr_input_digest(const float *z, const float *scale, size_t inputs)
{
    uint64_t h = cr_hash64(CR_HASH_START, inputs);
    for (size_t j = 0; j < inputs; j++) h = hash_float(hash_float(h, scale ? scale[j] : 1), z[j]);
    h = cr_hash_end(h);
    return h ? h : 1;
}

static uint64_t hash_masks(const certreg_masks *m, size_t inputs, uint64_t h)
{
    h = cr_hash32(cr_hash64(cr_hash64(h, m->units), m->shown), cr_bits_of_float(m->marker));
    for (size_t j = 0; j < inputs; j++) h = cr_hash32(h, (uint32_t)m->unit[j]);
    for (size_t u = 0; m->probability && u < m->units; u++)
        h = cr_hash64(h, cr_bits_of_double(m->probability[u]));
    return h;
}

uint64_t cr_view_hash_model(cr_view *v, uint64_t h)
{
    for (size_t j = 0; j < v->model.inputs; j++)
        h = cr_hash32(h, cr_bits_of_float(v->input.scale[j]));
    for (size_t k = 0; k < v->model.outputs; k++) h = cr_hash32(h, (uint32_t)v->model.kind[k]);
    for (size_t k = 0; k < v->model.outputs; k++)
        if (v->model.kind[k] != CERTREG_OUTPUT_REAL)
            h = cr_hash64(cr_hash64(h, cr_bits_of_double(v->model.lo[k])),
                          cr_bits_of_double(v->model.hi[k]));
    return v->model.masks ? hash_masks(v->model.masks, v->model.inputs, h) : h;
}

certreg_status cr_view_require_in_range(cr_view *v, certreg_error *why)
{
    if (!v->first_out_of_range) return CERTREG_OK;
    cr_error_set(why, CERTREG_E_OUT_OF_RANGE,
                 "sample %llu was outside the declared range, in the record or in an attack, so "
                 "that no bound holds: declare a range (model.lo, model.hi) that contains all "
                 "outputs, and sample again",
                 (unsigned long long)(v->first_out_of_range - 1));
    if (why) why->sample = (int64_t)v->first_out_of_range - 1;
    return CERTREG_E_OUT_OF_RANGE;
}

certreg_status cr_view_require_certifying(cr_view *v, certreg_error *why)
{
    const char *flag = v->plan.flags & CERTREG_PLAN_PAIRS      ? "CERTREG_PLAN_PAIRS"
                       : v->plan.flags & CERTREG_PLAN_DEPLOYED ? "CERTREG_PLAN_DEPLOYED"
                                                               : NULL;
    if (!flag) return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_INVALID,
        "plan.flags has %s, which is for what is served or deployed (certreg_estimator_estimate, "
        "certreg_estimator_draw): certify with an estimator without it",
        flag);
}

certreg_status cr_view_require_input(cr_view *v, certreg_error *why)
{
    if (!v->input.is_set)
        return cr_error_set(why, CERTREG_E_WRONG_STATE,
                            "there is no input: certreg_estimator_begin has not been called, or "
                            "its last call failed");
    return CERTREG_OK;
}

/* ======== The first evaluation of a record: remembered, compared with later numbers of samples,
 * and merged on import. In one place, so that the whole guard can be read at once. */
static const uint64_t max_samples_limit = UINT64_C(1) << 53; /* a double has it exactly */

void cr_query_log_add(cr_record *r, uint64_t first_samples, uint64_t planned_samples,
                      uint64_t looks_digest)
{
    if (r->sample_count > r->pilot)
        cr_query_log_add_unrecorded(r, first_samples, planned_samples, looks_digest);
}

void cr_query_log_add_current(cr_record *r, uint64_t looks_digest)
{
    cr_query_log_add(r, r->sample_count, r->sample_count, looks_digest);
}

void cr_query_log_add_unrecorded(cr_record *r, uint64_t first_samples, uint64_t planned_samples,
                                 uint64_t looks_digest)
{
    if (r->query_log.max_samples) return;
    /* Samples behind a gap may make the record longer than the call requested. */
    r->query_log = (cr_query_log){
        .first_samples = first_samples,
        .planned_samples = planned_samples > first_samples ? planned_samples : first_samples,
        .max_samples = r->plan.max_samples,
        .batch = r->model.batch,
        .looks_digest = looks_digest};
}

int cr_query_log_allows(cr_view *v, uint64_t samples)
{
    const cr_query_log *log = &v->query_log;
    return !log->max_samples || samples == log->first_samples || samples == log->planned_samples;
}

certreg_status cr_query_log_refuse(cr_view *v, const char *remedies, uint64_t samples,
                                   certreg_error *why)
{
    const uint64_t first_samples = v->query_log.first_samples;
    if (!first_samples)
        return cr_error_set(
            why, CERTREG_E_WRONG_STATE,
            "%sbegin with another noise_id: sampling failed before a number of samples "
            "was fixed, and the failure may have led to the present %llu",
            remedies, (unsigned long long)samples);
    return cr_error_set(why, CERTREG_E_WRONG_STATE,
                        "%sbegin with another noise_id: the record was first evaluated at %llu "
                        "samples, and the answer may have led to the present %llu",
                        remedies, (unsigned long long)first_samples, (unsigned long long)samples);
}

uint64_t cr_query_log_max_samples(cr_view *v)
{
    return v->query_log.max_samples ? v->query_log.max_samples : v->plan.max_samples;
}

uint64_t cr_query_log_batch(cr_view *v)
{
    return v->query_log.max_samples ? v->query_log.batch : v->model.batch;
}

/* ---- two records */
static int is_consistent(const cr_query_log *log)
{
    if (!log->max_samples)
        return !(log->first_samples | log->planned_samples | log->batch | log->looks_digest);
    return log->max_samples <= max_samples_limit && log->batch &&
           log->first_samples <= log->planned_samples && log->planned_samples <= log->max_samples;
}

static certreg_status check(cr_view *v, const cr_query_log *other, certreg_error *why)
{
    const cr_query_log *own = &v->query_log;
    if (!is_consistent(other))
        return cr_error_set(why, CERTREG_E_CORRUPT,
                            "the record is damaged: its numbers of samples contradict each other");
    if (!own->max_samples || !other->max_samples ||
        (own->max_samples == other->max_samples && own->batch == other->batch))
        return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_MISMATCH,
        "both records were evaluated, under different plans (max_samples %llu and %llu, batch "
        "%llu and %llu): import only one of them, or make both under one plan",
        (unsigned long long)own->max_samples, (unsigned long long)other->max_samples,
        (unsigned long long)own->batch, (unsigned long long)other->batch);
}

/* Keeps the numbers of samples that both records have. */
static void intersect(cr_query_log *own, const cr_query_log *other)
{
    const int first_is_common = own->first_samples == other->first_samples ||
                                own->first_samples == other->planned_samples;
    const int planned_is_common = own->planned_samples == other->planned_samples ||
                                  own->planned_samples == other->first_samples;
    if (!planned_is_common) own->planned_samples = first_is_common ? own->first_samples : 0;
    if (!first_is_common) own->first_samples = own->planned_samples;
    if (own->looks_digest != other->looks_digest) own->looks_digest = 0;
}

certreg_status cr_query_log_merge(cr_record *r, const cr_query_log *other, int write,
                                  certreg_error *why)
{
    const certreg_status status = check(r, other, why);
    if (status || !write) return status;
    if (!other->max_samples) return CERTREG_OK;
    if (r->query_log.max_samples) intersect(&r->query_log, other);
    else r->query_log = *other;
    return CERTREG_OK;
}

/* ======== The record: one float per sample and output. Missing and failed outputs are NaN
 * patterns of our own, so that the record costs four bytes per output and nothing else. */
static const uint32_t failed_bits = 0x7fc0fa11u;

float cr_record_failed_value(void)
{
    return cr_float_of_bits(failed_bits);
}

static void erase_from(cr_record *r, size_t first)
{
    const float missing = cr_float_of_bits(CR_MISSING_NAN_BITS);
    float *values = r->values + first * r->model.outputs;
    const size_t count = (r->plan.max_samples - first) * r->model.outputs;
    if (count) memcpy(values, &missing, sizeof missing);
    for (size_t done = 1; done < count; done *= 2)
        memcpy(values + done, values, cr_min_size(done, count - done) * sizeof missing);
}

void cr_record_clear(cr_record *r)
{
    erase_from(r, 0);
    r->sample_count = 0;
    r->audited.outputs = r->audited.samples = 0;
    for (size_t k = 0; k < r->model.outputs; k++) r->audited.change[k] = 0;
}

void cr_record_truncate(cr_record *r, size_t count)
{
    const size_t before = r->sample_count;
    for (size_t i = count; i < r->plan.max_samples; i++)
        r->sample_count -= (size_t)cr_view_has(r, i);
    erase_from(r, count);
    if (r->audited.samples < before) r->audited.samples = 0; /* which ones is not known */
}

void cr_record_erase(cr_record *r, uint64_t sample)
{
    r->sample_count -= (size_t)cr_view_has(r, sample);
    r->values[sample * r->model.outputs] = cr_float_of_bits(CR_MISSING_NAN_BITS);
}

void cr_record_set_pilot(cr_record *r, size_t pilot)
{
    r->pilot = pilot;
    r->input.noise.clean_first = pilot > 0;
}

void cr_record_choose_pilot(cr_record *r, size_t samples)
{
    if (r->pilot_is_frozen) return;
    const size_t pilot = r->plan.pilot ? r->plan.pilot : cr_pilot_samples(samples, r->plan.blocks);
    cr_record_set_pilot(r, pilot == SIZE_MAX ? 0 : pilot);
}

/* ---- from model outputs to recorded values */
/* Wraps a value into [lo, hi), also after rounding to float. */
static float wrap_to_float(double value, double lo, double hi)
{
    float wrapped = (float)cr_location_into_turn(value, lo, hi);
    if ((double)wrapped >= hi) wrapped = (float)lo;
    return (double)wrapped < lo ? nextafterf(wrapped, INFINITY) : wrapped;
}

static float angle_of_pair(const float *y, double lo, double hi)
{
    if (!isfinite(y[0]) || !isfinite(y[1]) || (y[0] == 0 && y[1] == 0))
        return cr_record_failed_value();
    return wrap_to_float(atan2((double)y[1], (double)y[0]) / CR_TWO_PI * (hi - lo), lo, hi);
}

/* Output k of one row, read from its column(s); a NaN if it has failed. */
static float convert_output(cr_view *v, size_t k, const float *y)
{
    const double lo = v->model.lo[k], hi = v->model.hi[k];
    switch ((enum certreg_output_kind)v->model.kind[k]) {
    case CERTREG_OUTPUT_ANGLE_PAIR: return angle_of_pair(y, lo, hi);
    case CERTREG_OUTPUT_ANGLE:
        if (isfinite(*y)) return wrap_to_float((double)*y, lo, hi);
        break;
    case CERTREG_OUTPUT_REAL:
        if (isfinite(*y)) return *y;
        break;
    }
    return cr_record_failed_value();
}

/* Fails for an output that cannot be recorded. A failure that the plan counts can be. */
static certreg_status check_value(cr_view *v, size_t k, float value)
{
    if (isnan(value))
        return v->plan.flags & CERTREG_PLAN_COUNT_FAILURES ? CERTREG_OK : CERTREG_E_NOT_FINITE;
    return (double)value < v->model.lo[k] || (double)value > v->model.hi[k] ? CERTREG_E_OUT_OF_RANGE
                                                                            : CERTREG_OK;
}

static size_t columns_of(cr_view *v, size_t k)
{
    return v->model.kind[k] == CERTREG_OUTPUT_ANGLE_PAIR ? 2 : 1;
}

void cr_view_read_outputs(cr_view *v, const float *y, float *out)
{
    for (size_t k = 0; k < v->model.outputs; y += columns_of(v, k++))
        out[k] = convert_output(v, k, y);
}

double cr_view_change(cr_view *v, size_t output, float a, float b)
{
    const double gap = (double)a - (double)b;
    if (a == b || (isnan(a) && isnan(b))) return 0;
    if (!isfinite(gap)) return INFINITY;
    return v->model.kind[output] == CERTREG_OUTPUT_REAL
               ? fabs(gap)
               : fabs(remainder(gap, v->model.hi[output] - v->model.lo[output]));
}

static certreg_status report_fault(cr_view *v, size_t k, const float *y, uint64_t sample,
                                   int64_t row, certreg_error *why)
{
    const certreg_status status = check_value(v, k, convert_output(v, k, y));
    const int is_pair = v->model.kind[k] == CERTREG_OUTPUT_ANGLE_PAIR;
    const double value = (double)y[is_pair && isfinite(*y)];
    char place[32] = ""; /* a row of a queue's call may be anywhere */
    if (row >= 0) snprintf(place, sizeof place, " (row %lld)", (long long)row);
    if (status == CERTREG_E_OUT_OF_RANGE)
        cr_error_set(why, status,
                     "sample %llu%s: output %d is %g, outside the declared range [%g, %g]: "
                     "declare a wider one (model.lo, model.hi), or have the model keep to it",
                     (unsigned long long)sample, place, (int)k, value, v->model.lo[k],
                     v->model.hi[k]);
    else
        cr_error_set(why, status,
                     "sample %llu%s: output %d is %g%s. Rows left unwritten read as NaN. "
                     "CERTREG_PLAN_COUNT_FAILURES counts such outputs instead of stopping",
                     (unsigned long long)sample, place, (int)k,
                     isnan(value) ? (double)NAN : value, /* without its sign */
                     is_pair ? " (as an angle; (0, 0) has none)" : "");
    why->sample = (int64_t)sample;
    why->row = row;
    why->output = (int32_t)k;
    why->value = value;
    return status;
}

/* Does not report the recorded value: callers could read all values one by one (theory 5.2). */
static certreg_status report_conflict(uint64_t sample, size_t k, float given, certreg_error *why)
{
    cr_error_set(why, CERTREG_E_MISMATCH,
                 "sample %llu, output %zu: the record has a value that differs from the given %.9g",
                 (unsigned long long)sample, k, (double)given);
    why->sample = (int64_t)sample;
    why->output = (int32_t)k;
    why->value = (double)given;
    return CERTREG_E_MISMATCH;
}

static certreg_status refuse_second_value(uint64_t sample, certreg_error *why)
{
    cr_error_set(why, CERTREG_E_NOT_FINITE,
                 "sample %llu was not finite when it came first, and gets no second value: begin "
                 "with another noise_id, or let CERTREG_PLAN_COUNT_FAILURES count such outputs",
                 (unsigned long long)sample);
    why->sample = (int64_t)sample;
    return CERTREG_E_NOT_FINITE;
}

/* Later samples than the first that failed enter no answer: the record has a gap there, unless the
 * sample was a number when it came first. */
static void remember_fault(cr_record *r, uint64_t sample, int is_present, certreg_status status)
{
    if (status == CERTREG_E_OUT_OF_RANGE) r->first_out_of_range = 1 + sample;
    if (status == CERTREG_E_NOT_FINITE && !is_present &&
        !(r->first_failed && r->first_failed <= sample))
        r->first_failed = 1 + sample;
}

/* Stores a row that the record lacks, or checks it; one that fails stays missing. */
static certreg_status take_row(cr_record *r, uint64_t sample, const float *y, int64_t row,
                               int stores, certreg_error *why)
{
    float *recorded = r->values + sample * r->model.outputs;
    const int is_present = cr_view_has(r, sample);
    certreg_status status = CERTREG_OK;
    if (is_present && stores) return CERTREG_OK;
    for (size_t k = 0; k < r->model.outputs && !status; y += columns_of(r, k++)) {
        const float value = convert_output(r, k, y);
        if (check_value(r, k, value)) status = report_fault(r, k, y, sample, row, why);
        else if (is_present && cr_bits_of_float(recorded[k]) != cr_bits_of_float(value))
            status = report_conflict(sample, k, value, why);
        else if (stores) recorded[k] = value;
    }
    if (!status && r->first_failed == 1 + sample) status = refuse_second_value(sample, why);
    r->sample_count += stores && !status;
    if (!status) return CERTREG_OK;
    if (stores) *recorded = cr_float_of_bits(CR_MISSING_NAN_BITS);
    remember_fault(r, sample, is_present, status);
    return status;
}

certreg_status cr_record_check(cr_record *r, uint64_t first, size_t count, const float *y,
                               certreg_error *why)
{
    certreg_status status = CERTREG_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = take_row(r, first + i, y + i * r->columns, (int64_t)i, 0, why);
    return status;
}

certreg_status cr_record_store(cr_record *r, uint64_t first, size_t count, const float *y,
                               int64_t first_row, certreg_error *why)
{
    certreg_status status = CERTREG_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = take_row(r, first + i, y + i * r->columns, first_row + (int64_t)i, 1, why);
    return status;
}
