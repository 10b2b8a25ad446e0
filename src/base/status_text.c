/* The version number, and a sentence for each status and each reason. No module needs this file. */
#include "base/error.h"

uint32_t certreg_version(void)
{
    return CERTREG_VERSION_NUMBER;
}

const char *certreg_status_text(certreg_status status)
{
    switch ((enum certreg_status_code)status) {
    case CERTREG_OK: return "ok";
    case CERTREG_E_INVALID: return "invalid argument";
    case CERTREG_E_NO_MEMORY: return "out of memory";
    case CERTREG_E_SMALL_MEMORY: return "the caller's memory or buffer is too small";
    case CERTREG_E_MODEL_FAILED: return "the model failed";
    case CERTREG_E_NOT_FINITE: return "an output is not finite";
    case CERTREG_E_OUT_OF_RANGE: return "an output is outside its declared range";
    case CERTREG_E_INFEASIBLE: return "no function has these bounds";
    case CERTREG_E_WRONG_STATE: return "not possible in this state";
    case CERTREG_E_NO_BACKEND: return "a backend or module is not available";
    case CERTREG_E_NO_DEVICE: return "there is no such device";
    case CERTREG_E_DEVICE_FAILED: return "the device failed";
    case CERTREG_E_VERSION: return "made for another version of the library";
    case CERTREG_E_CORRUPT: return "the bytes are not a record, or a damaged one";
    case CERTREG_E_MISMATCH: return "the record does not match this input or plan";
    case CERTREG_E_TOO_MANY: return "more samples than planned";
    case CERTREG_E_CANCELLED: return "cancelled";
    case CERTREG_E_DEADLINE: return "stopped by the deadline";
    case CERTREG_E_BUSY: return "another call is running on the handle";
    case CERTREG_E_PLATFORM: return "the C library's mathematics is too inaccurate";
    }
    return "unknown status";
}

const char *certreg_reason_text(int32_t reason)
{
    switch ((enum certreg_reason)reason) {
    case CERTREG_REASON_NONE: return "";
    case CERTREG_REASON_DEADLINE:
        return "the deadline came before the answer: give more time, or ask fewer questions";
    case CERTREG_REASON_FEW_SAMPLES:
        return "so few samples prove nothing at this alpha, even without an output beyond the "
               "tolerance: take more";
    case CERTREG_REASON_NO_PREDICTION:
        return "there is no prediction: outputs of the pilot failed or point in all directions, or "
               "a relative tolerance is a part of 0";
    case CERTREG_REASON_CONTRADICTION:
        return "the estimated bounds contradict each other: use CERTREG_METHOD_FINITE";
    case CERTREG_REASON_FAILURES:
        return "outputs that failed count as beyond the tolerance: mend the model for noisy "
               "inputs, or use the median";
    case CERTREG_REASON_NO_RANGE:
        return "the range of the outputs is missing: declare model.lo and model.hi, or use the "
               "median";
    case CERTREG_REASON_EQUAL_OUTPUTS:
        return "nearly all outputs are equal, which this method cannot bound: use "
               "CERTREG_METHOD_FINITE";
    case CERTREG_REASON_PREDICTION:
        return "the prediction is far from the outputs: enlarge the pilot, or let the library "
               "choose it";
    case CERTREG_REASON_SERVING:
        return "values of so few served samples miss the tolerance by themselves: serve more "
               "samples, or allow a larger failure rate";
    case CERTREG_REASON_TARGET:
        return "neither the target radius nor a part of it was proved: take a smaller target, or "
               "more samples";
    case CERTREG_REASON_OUTPUTS_OUT:
        return "too many outputs may be beyond the tolerance: lower sigma, widen the tolerance, or "
               "train the model under noise";
    case CERTREG_REASON_SPREAD:
        return "the outputs scatter too much for this tolerance, or their range is too wide: lower "
               "sigma, widen the tolerance, declare a narrower range, or use the median";
    case CERTREG_REASON_MOVED:
        return "the input is not nearer than the radius of the certificate: certify it anew";
    case CERTREG_REASON_ALTERNATIVE:
        return "the change to an alternative itself moves the estimate out of the tolerance: widen "
               "the tolerance, or leave this alternative out of the statement";
    }
    return "unknown reason";
}
