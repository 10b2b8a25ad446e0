/* Read access to a record: its gaps, its samples as scores, its digests, and the checks that every
 * evaluation starts with. Nothing here writes, so that a cr_view is enough. */
#include "record/record_view.h"
#include "base/bytes.h"

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

uint64_t cr_view_hash_model(cr_view *v, uint64_t h)
{
    for (size_t j = 0; j < v->model.inputs; j++)
        h = cr_hash32(h, cr_bits_of_float(v->input.scale[j]));
    for (size_t k = 0; k < v->model.outputs; k++) h = cr_hash32(h, (uint32_t)v->model.kind[k]);
    for (size_t k = 0; k < v->model.outputs; k++)
        if (v->model.kind[k] != CERTREG_OUTPUT_REAL)
            h = cr_hash64(cr_hash64(h, cr_bits_of_double(v->model.lo[k])),
                          cr_bits_of_double(v->model.hi[k]));
    return h;
}

certreg_status cr_view_require_in_range(cr_view *v, certreg_error *why)
{
    if (!v->first_out_of_range) return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_OUT_OF_RANGE,
        "sample %llu was outside the declared range, in the record or in an attack, so "
        "that no bound holds: declare a range (model.lo, model.hi) that contains all "
        "outputs, and sample again",
        (unsigned long long)(v->first_out_of_range - 1));
}

certreg_status cr_view_require_certifying(cr_view *v, certreg_error *why)
{
    const char *flag = cr_view_is_antithetic(v)                ? "CERTREG_PLAN_PAIRS"
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
