/* The record: one float per sample and output. Missing and failed outputs are NaN patterns of our
 * own, so that the record costs four bytes per output and nothing else. */
#include "estimator/estimator.h"
#include "statistics/prediction.h"
#include "base/bytes.h"
#include "base/constants.h"
#include <math.h>
#include <string.h>

static const uint32_t missing_bits = 0x7fc0a11eu, failed_bits = 0x7fc0fa11u;

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float cr_record_failed(void)
{
    return from_bits(failed_bits);
}

void cr_record_clear(certreg_estimator *e)
{
    const float missing = from_bits(missing_bits);
    for (size_t i = 0; i < e->plan.max_samples * e->model.outputs; i++)
        memcpy(e->record.values + i, &missing, sizeof missing);
    e->record.present = 0;
}

void cr_record_set_pilot(certreg_estimator *e, size_t pilot)
{
    e->record.pilot = pilot;
    e->input.noise.clean_first = pilot > 0;
}

void cr_record_expect(certreg_estimator *e, size_t samples)
{
    const size_t asked = e->plan.pilot;
    if (e->record.pilot_fixed) return;
    cr_record_set_pilot(e, asked == SIZE_MAX ? 0
                           : asked           ? asked
                                             : cr_prediction_pilot(samples, e->plan.blocks));
}

int cr_record_has(const certreg_estimator *e, uint64_t sample)
{
    return cr_bits_of_float(e->record.values[sample * e->model.outputs]) != missing_bits;
}

certreg_status cr_record_length(const certreg_estimator *e, size_t *count, certreg_error *why)
{
    size_t n = 0;
    while (n < e->plan.max_samples && cr_record_has(e, n)) n++;
    *count = n;
    if (n == e->record.present) return CERTREG_OK;
    size_t next = n;
    while (!cr_record_has(e, next)) next++;
    return cr_fail(why, CERTREG_E_WRONG_STATE,
                   "samples %zu to %zu are missing from the record: sample or import them", n,
                   next - 1);
}

cr_samples cr_record_samples(const certreg_estimator *e, const cr_score *score, int32_t output,
                             size_t first, size_t count, double center)
{
    return (cr_samples){.y = cr_record_at(e, 0, output),
                        .step = e->model.outputs,
                        .first = first,
                        .count = count,
                        .score = score,
                        .center = center,
                        .watch = e->clock.watch};
}

uint64_t cr_record_hash_model(const certreg_estimator *e, uint64_t h)
{
    for (size_t j = 0; j < e->model.inputs; j++)
        h = cr_hash32(h, cr_bits_of_float(e->input.scale[j]));
    for (size_t k = 0; k < e->model.outputs; k++) h = cr_hash32(h, (uint32_t)e->model.kind[k]);
    for (size_t k = 0; k < e->model.outputs; k++)
        if (e->model.kind[k] != CERTREG_OUTPUT_REAL)
            h = cr_hash64(cr_hash64(h, cr_bits_of_double(e->model.lo[k])),
                          cr_bits_of_double(e->model.hi[k]));
    return h;
}

/* ---- from model outputs to recorded values */
/* A value in turns of [lo, hi), also after rounding to float. */
static float wrap_to_float(double value, double lo, double hi)
{
    double t = fmod(value - lo, hi - lo);
    if (t < 0) t += hi - lo;
    float wrapped = (float)(lo + t);
    if ((double)wrapped >= hi) wrapped = (float)lo;
    return (double)wrapped < lo ? nextafterf(wrapped, INFINITY) : wrapped;
}

typedef struct fault { /* why a row cannot be recorded */
    certreg_status status;
    int32_t output;
    double value;
} fault;

static float angle_of_pair(const float *y, double lo, double hi, fault *why)
{
    if (!isfinite(y[0]) || !isfinite(y[1]) || (y[0] == 0 && y[1] == 0)) {
        why->status = CERTREG_E_NOT_FINITE;
        why->value = isfinite(y[0]) ? (double)y[1] : (double)y[0];
        return 0;
    }
    return wrap_to_float(atan2((double)y[1], (double)y[0]) / CR_TWO_PI * (hi - lo), lo, hi);
}

/* Output k of one row, read from its column(s). */
static float convert(const certreg_estimator *e, size_t k, const float *y, fault *why)
{
    const double lo = e->model.lo[k], hi = e->model.hi[k], value = (double)*y;
    why->value = value;
    switch ((enum certreg_output_kind)e->model.kind[k]) {
    case CERTREG_OUTPUT_ANGLE_PAIR: return angle_of_pair(y, lo, hi, why);
    case CERTREG_OUTPUT_ANGLE:
        if (isfinite(value)) return wrap_to_float(value, lo, hi);
        break;
    case CERTREG_OUTPUT_REAL:
        if (value < lo || value > hi) why->status = CERTREG_E_OUT_OF_RANGE;
        break;
    }
    if (!isfinite(value)) why->status = CERTREG_E_NOT_FINITE;
    return *y;
}

/* What is recorded of output k. Failures that the plan counts are no fault. */
static float recorded(const certreg_estimator *e, size_t k, const float *y, fault *f)
{
    const float value = convert(e, k, y, f);
    if (f->status != CERTREG_E_NOT_FINITE || !(e->plan.flags & CERTREG_PLAN_COUNT_FAILURES))
        return value;
    f->status = CERTREG_OK;
    return cr_record_failed();
}

static size_t columns_of(const certreg_estimator *e, size_t k)
{
    return e->model.kind[k] == CERTREG_OUTPUT_ANGLE_PAIR ? 2 : 1;
}

static certreg_status report(const certreg_estimator *e, const fault *f, uint64_t sample,
                             int64_t row, certreg_error *why)
{
    const int32_t k = f->output;
    if (f->status == CERTREG_E_OUT_OF_RANGE)
        cr_fail(why, f->status,
                "sample %llu (row %lld): output %d is %g, outside the declared range [%g, %g]",
                (unsigned long long)sample, (long long)row, (int)k, f->value, e->model.lo[k],
                e->model.hi[k]);
    else
        cr_fail(why, f->status,
                "sample %llu (row %lld): output %d is %g%s. Rows left unwritten read as NaN. "
                "CERTREG_PLAN_COUNT_FAILURES counts such outputs instead of stopping",
                (unsigned long long)sample, (long long)row, (int)k,
                isnan(f->value) ? (double)NAN : f->value, /* without its sign */
                e->model.kind[k] == CERTREG_OUTPUT_ANGLE_PAIR ? " (as an angle; (0, 0) has none)"
                                                              : "");
    why->sample = (int64_t)sample;
    why->row = row;
    why->output = k;
    why->value = f->value;
    return f->status;
}

/* The value that is there is not reported: sample by sample, callers could read the record (theory
 * 5.2). */
static certreg_status disagree(uint64_t sample, size_t k, float now, certreg_error *why)
{
    cr_fail(why, CERTREG_E_MISMATCH,
            "sample %llu, output %zu: the record has a value that differs from the given %.9g",
            (unsigned long long)sample, k, (double)now);
    why->sample = (int64_t)sample;
    why->output = (int32_t)k;
    why->value = (double)now;
    return CERTREG_E_MISMATCH;
}

static certreg_status check_row(const certreg_estimator *e, uint64_t sample, const float *y,
                                int64_t row, certreg_error *why)
{
    const float *held = e->record.values + sample * e->model.outputs;
    const int there = cr_record_has(e, sample);
    for (size_t k = 0; k < e->model.outputs; y += columns_of(e, k++)) {
        fault f = {.output = (int32_t)k};
        const float value = recorded(e, k, y, &f);
        if (f.status) return report(e, &f, sample, row, why);
        if (there && cr_bits_of_float(held[k]) != cr_bits_of_float(value))
            return disagree(sample, k, value, why);
    }
    return CERTREG_OK;
}

static void write_row(certreg_estimator *e, uint64_t sample, const float *y)
{
    float *target = e->record.values + sample * e->model.outputs;
    e->record.present += !cr_record_has(e, sample);
    for (size_t k = 0; k < e->model.outputs; y += columns_of(e, k++)) {
        fault none = {.status = CERTREG_OK};
        target[k] = recorded(e, k, y, &none);
    }
}

certreg_status cr_record_in_range(certreg_estimator *e)
{
    if (!e->record.outside) return CERTREG_OK;
    return cr_fail(&e->error, CERTREG_E_OUT_OF_RANGE,
                   "declare a range (model.lo, model.hi) that holds all outputs, and sample again: "
                   "sample %llu was outside it, in the record or in an attack, so nothing is known "
                   "from the others",
                   (unsigned long long)(e->record.outside - 1));
}

certreg_status cr_record_store(certreg_estimator *e, uint64_t first, size_t count, const float *y,
                               int64_t first_row)
{
    for (size_t i = 0; i < count; i++) {
        const certreg_status status =
            check_row(e, first + i, y + i * e->columns, first_row + (int64_t)i, &e->error);
        if (status) return status;
    }
    for (size_t i = 0; i < count; i++) write_row(e, first + i, y + i * e->columns);
    return CERTREG_OK;
}
