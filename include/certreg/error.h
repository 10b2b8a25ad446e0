/** @file error.h
 * libcertreg: statuses, and the error of a handle. certreg.h includes this header.
 */
#ifndef CERTREG_ERROR_H
#define CERTREG_ERROR_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#ifndef CERTREG_API /* marks exported functions; for other compilers define it */
#ifndef CERTREG_BUILDS_DLL
#define CERTREG_API
#elif defined(_WIN32)
#define CERTREG_API __declspec(dllexport)
#else
#define CERTREG_API __attribute__((visibility("default")))
#endif
#endif

typedef int32_t certreg_status; /* CERTREG_OK or CERTREG_E_... */

/* The status that functions return. If it is not 0, there is no answer. */
enum certreg_status_code {
    CERTREG_OK = 0,               /* done */
    CERTREG_E_INVALID = 1,        /* an argument or a field is invalid; error.text names
                                     it */
    CERTREG_E_NO_MEMORY = 2,      /* allocation failed, or a size exceeds any memory */
    CERTREG_E_SMALL_MEMORY = 3,   /* caller's memory or buffer is too small */
    CERTREG_E_MODEL_FAILED = 4,   /* the callback returned non-zero: error.code; or
                                     certreg_model_check or an audit refuses it */
    CERTREG_E_NOT_FINITE = 5,     /* an output is NaN or infinite, or its row was not
                                     written: error.sample, .row, .output, .value */
    CERTREG_E_OUT_OF_RANGE = 6,   /* an output is outside its declared range: the same
                                     fields. If it came from the model, or was to be
                                     recorded, the record answers nothing and is not
                                     exported until the next begin. With error.sample
                                     -1: a tolerance is too small for outputs that were
                                     rounded to float (CERTREG_PLAN_ROUNDED) */
    CERTREG_E_INFEASIBLE = 7,     /* no function has these bounds (filled by hand) */
    CERTREG_E_WRONG_STATE = 8,    /* before begin; a gap in the record; too few samples;
                                     a number of samples, or looks, that an earlier
                                     answer may have chosen; a forked child */
    CERTREG_E_NO_BACKEND = 9,     /* a backend or module is not available */
    CERTREG_E_NO_DEVICE = 10,     /* no such device */
    CERTREG_E_DEVICE_FAILED = 11, /* error.code has the device's code; the handle
                                     can only be destroyed */
    CERTREG_E_VERSION = 12,       /* unknown non-zero fields; a record or a module of
                                     another version */
    CERTREG_E_CORRUPT = 13,       /* the bytes are not a record, or are damaged */
    CERTREG_E_MISMATCH = 14,      /* a record of another z, sigma, scale, seed,
                                     noise_id, level, shape or pilot; or a common sample
                                     with different outputs; or a certificate of another
                                     input, question, sigma or scale */
    CERTREG_E_TOO_MANY = 15,      /* a sample index >= plan.max_samples */
    CERTREG_E_CANCELLED = 16,     /* from sample, which keeps the record, and from
                                     certify_masks. Certify answers from the recorded
                                     samples; see `stop` */
    CERTREG_E_DEADLINE = 17,      /* the same of sample, at the deadline */
    CERTREG_E_BUSY = 18,          /* another call is running on the handle */
    CERTREG_E_PLATFORM = 19       /* a function of the C library, which error.text
                                     names, errs by more than certificates allow */
};

/** The error of the last call on a handle. An index that does not apply is -1. */
typedef struct certreg_error {
    uint32_t struct_size;
    certreg_status status; /* CERTREG_E_..., or CERTREG_OK */
    int64_t sample;        /* global sample index */
    int64_t row;           /* row within the batch */
    int32_t output;        /* output index */
    int32_t code;   /* what a callback returned (model, read, write), CUDA's error,
                   10000 plus cuBLAS's, or CERTREG_DEPENDENCE_... of an audit;
                   else 0 */
    double value;   /* the offending number */
    char text[256]; /* one UTF-8 sentence, NUL-terminated */
} certreg_error;

/** Returns a short English text for a status, a constant and never NULL. */
CERTREG_API const char *certreg_status_text(certreg_status);

#ifdef __cplusplus
}
#endif
#endif
