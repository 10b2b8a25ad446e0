/* ort_api.h: ONNX Runtime's C interface without its headers. It is a table of functions to which
 * new versions only append, so that a place in the table keeps its meaning. Every function that can
 * fail returns a status, NULL for success. */
#ifndef ENGINE_ORT_API_H
#define ENGINE_ORT_API_H
#include <stdint.h>

/* The places that are used here. */
enum {
    ORT_ERROR_MESSAGE = 2,
    ORT_CREATE_ENV = 3,
    ORT_CREATE_SESSION = 7,
    ORT_RUN = 9,
    ORT_CREATE_SESSION_OPTIONS = 10,
    ORT_SET_INTRA_OP_THREADS = 24,
    ORT_SET_INTER_OP_THREADS = 25,
    ORT_INPUT_COUNT = 30,
    ORT_OUTPUT_COUNT = 31,
    ORT_INPUT_TYPE = 33,
    ORT_OUTPUT_TYPE = 34,
    ORT_INPUT_NAME = 36,
    ORT_OUTPUT_NAME = 37,
    ORT_CREATE_RUN_OPTIONS = 39,
    ORT_CREATE_TENSOR_WITH_DATA = 49,
    ORT_TENSOR_OF_TYPE = 55,
    ORT_ELEMENT_TYPE = 60,
    ORT_RANK = 61,
    ORT_SIZES = 62,
    ORT_TENSOR_OF_VALUE = 65,
    ORT_CREATE_MEMORY_INFO = 68,
    ORT_FREE = 76,
    ORT_ALLOCATOR = 78,
    ORT_RELEASE_ENV = 92,
    ORT_RELEASE_STATUS = 93,
    ORT_RELEASE_MEMORY_INFO = 94,
    ORT_RELEASE_SESSION = 95,
    ORT_RELEASE_VALUE = 96,
    ORT_RELEASE_RUN_OPTIONS = 97,
    ORT_RELEASE_TYPE = 98,
    ORT_RELEASE_TENSOR_OF_VALUE = 99,
    ORT_RELEASE_SESSION_OPTIONS = 100,
    ORT_RUN_WITH_BINDING = 133,
    ORT_CREATE_BINDING = 134,
    ORT_RELEASE_BINDING = 135,
    ORT_BIND_INPUT = 136,
    ORT_BIND_OUTPUT = 137,
    ORT_ADD_RUN_CONFIG = 165,
    ORT_ADD_CUDA = 204,
    ORT_CREATE_CUDA_OPTIONS = 205,
    ORT_UPDATE_CUDA_OPTIONS = 206,
    ORT_RELEASE_CUDA_OPTIONS = 208,
    ORT_UPDATE_CUDA_OPTIONS_WITH_VALUE = 263
};

/* The first versions of the table that have all functions needed on the host and on a device. */
enum { ORT_HOST_VERSION = 8, ORT_CUDA_VERSION = 16 };

typedef void ort_function(void);
typedef void *ort_status; /* an opaque object, or NULL */

/* Looks for the library as ort_library.c says, and returns its table and its name in words. Returns
 * 0, or 1 with a sentence. The library stays loaded: its threads and exit handlers would not
 * survive an unload. */
int ort_load(uint32_t version, ort_function *const **table, char *name, char *why);
#endif
