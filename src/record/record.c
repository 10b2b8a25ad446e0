/* The record: one float per sample and output. Missing and failed outputs are NaN patterns of our
 * own, so that the record costs four bytes per output and nothing else. */
#include "record/record.h"
#include "statistics/location.h"
#include "statistics/pilot_prediction.h"
#include "base/bytes.h"
#include "base/constants.h"
#include <math.h>
#include <string.h>

static const uint32_t failed_bits = 0x7fc0fa11u;

float cr_record_failed_value(void)
{
    return cr_float_of_bits(failed_bits);
}

void cr_record_clear(cr_record *r)
{
    const float missing = cr_float_of_bits(CR_MISSING_NAN_BITS);
    for (size_t i = 0; i < r->plan.max_samples * r->model.outputs; i++)
        memcpy(r->values + i, &missing, sizeof missing);
    r->sample_count = 0;
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

typedef struct fault { /* why a row cannot be recorded */
    certreg_status status;
    int32_t output;
    double value;
} fault;

static float angle_of_pair(const float *y, double lo, double hi, fault *f)
{
    if (!isfinite(y[0]) || !isfinite(y[1]) || (y[0] == 0 && y[1] == 0)) {
        f->status = CERTREG_E_NOT_FINITE;
        f->value = isfinite(y[0]) ? (double)y[1] : (double)y[0];
        return 0;
    }
    return wrap_to_float(atan2((double)y[1], (double)y[0]) / CR_TWO_PI * (hi - lo), lo, hi);
}

/* Output k of one row, read from its column(s). */
static float convert_output(cr_view *v, size_t k, const float *y, fault *f)
{
    const double lo = v->model.lo[k], hi = v->model.hi[k], value = (double)*y;
    f->value = value;
    switch ((enum certreg_output_kind)v->model.kind[k]) {
    case CERTREG_OUTPUT_ANGLE_PAIR: return angle_of_pair(y, lo, hi, f);
    case CERTREG_OUTPUT_ANGLE:
        if (isfinite(value)) return wrap_to_float(value, lo, hi);
        break;
    case CERTREG_OUTPUT_REAL:
        if (value < lo || value > hi) f->status = CERTREG_E_OUT_OF_RANGE;
        break;
    }
    if (!isfinite(value)) f->status = CERTREG_E_NOT_FINITE;
    return *y;
}

/* The recorded value of output k. A failure that the plan counts is no fault. */
static float recorded_value(cr_view *v, size_t k, const float *y, fault *f)
{
    const float value = convert_output(v, k, y, f);
    if (f->status != CERTREG_E_NOT_FINITE || !(v->plan.flags & CERTREG_PLAN_COUNT_FAILURES))
        return value;
    f->status = CERTREG_OK;
    return cr_record_failed_value();
}

static size_t columns_of(cr_view *v, size_t k)
{
    return v->model.kind[k] == CERTREG_OUTPUT_ANGLE_PAIR ? 2 : 1;
}

static certreg_status report_fault(cr_view *v, const fault *f, uint64_t sample, int64_t row,
                                   certreg_error *why)
{
    const int32_t k = f->output;
    if (f->status == CERTREG_E_OUT_OF_RANGE)
        cr_error_set(
            why, f->status,
            "sample %llu (row %lld): output %d is %g, outside the declared range [%g, %g]: "
            "declare a wider one (model.lo, model.hi), or have the model keep to it",
            (unsigned long long)sample, (long long)row, (int)k, f->value, v->model.lo[k],
            v->model.hi[k]);
    else
        cr_error_set(
            why, f->status,
            "sample %llu (row %lld): output %d is %g%s. Rows left unwritten read as NaN. "
            "CERTREG_PLAN_COUNT_FAILURES counts such outputs instead of stopping",
            (unsigned long long)sample, (long long)row, (int)k,
            isnan(f->value) ? (double)NAN : f->value, /* without its sign */
            v->model.kind[k] == CERTREG_OUTPUT_ANGLE_PAIR ? " (as an angle; (0, 0) has none)" : "");
    why->sample = (int64_t)sample;
    why->row = row;
    why->output = k;
    why->value = f->value;
    return f->status;
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

static certreg_status check_row(cr_view *v, uint64_t sample, const float *y, int64_t row,
                                certreg_error *why)
{
    const float *stored = v->values + sample * v->model.outputs;
    const int is_present = cr_view_has(v, sample);
    for (size_t k = 0; k < v->model.outputs; y += columns_of(v, k++)) {
        fault f = {.output = (int32_t)k};
        const float value = recorded_value(v, k, y, &f);
        if (f.status) return report_fault(v, &f, sample, row, why);
        if (is_present && cr_bits_of_float(stored[k]) != cr_bits_of_float(value))
            return report_conflict(sample, k, value, why);
    }
    return v->first_failed == 1 + sample ? refuse_second_value(sample, why) : CERTREG_OK;
}

static void write_row(cr_record *r, uint64_t sample, const float *y)
{
    float *target = r->values + sample * r->model.outputs;
    r->sample_count += !cr_view_has(r, sample);
    for (size_t k = 0; k < r->model.outputs; y += columns_of(r, k++)) {
        fault ignored = {.status = CERTREG_OK};
        target[k] = recorded_value(r, k, y, &ignored);
    }
}

certreg_status cr_record_store(cr_record *r, uint64_t first, size_t count, const float *y,
                               int64_t first_row, certreg_error *why)
{
    for (size_t i = 0; i < count; i++) {
        const certreg_status status =
            check_row(r, first + i, y + i * r->columns, first_row + (int64_t)i, why);
        if (status == CERTREG_E_OUT_OF_RANGE) r->first_out_of_range = 1 + first + i;
        /* Later samples than the first that failed enter no answer: the record has a gap there. */
        if (status == CERTREG_E_NOT_FINITE && !(r->first_failed && r->first_failed <= first + i))
            r->first_failed = 1 + first + i;
        if (status) return status;
    }
    for (size_t i = 0; i < count; i++) write_row(r, first + i, y + i * r->columns);
    return CERTREG_OK;
}
