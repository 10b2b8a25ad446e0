/* The version number, and a sentence for each status. No module needs this file. */
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
