/* ort.h: what the files of ONNX Runtime's adapter share. */
#ifndef ENGINE_ORT_H
#define ENGINE_ORT_H
#include "adapter.h"
#include "ort_api.h"

enum { HOST = -1, MOST_TENSORS = 64 };

/* The input that varies, or the output. Where its numbers are not those of the caller's array,
 * `room` holds a batch as the model has it. */
struct ort_end {
    struct tensor t;
    void *room;
    size_t size; /* bytes */
};

struct ort_constant {
    char name[TENSOR_NAME];
    void *data, *value; /* the value is ONNX Runtime's, over the data */
};

struct ort {
    ort_function *const *table;
    void *env, *options, *session, *memory, *run_options, *binding;
    int device;   /* or HOST */
    void *stream; /* of the session, on a device */
    struct ort_end input, output;
    struct ort_constant constant[MOST_TENSORS]; /* inputs that do not vary */
    size_t constants;
    size_t batch;      /* rows that the file fixes, or 0 */
    size_t all, first; /* columns that the model gives, and the first one that is taken */
    char *model;       /* path, to open it again on another stream */
    char *why;         /* of the call that runs */
};

/* Copies the message of a status to `why`, and releases the status. */
int ort_failed(struct ort *, ort_status, const char *doing);
/* Calls the function at a place, with arguments of these types, in parentheses. */
#define ORT_FAILS(o, doing, place, types, ...) \
    ort_failed(o, ((ort_status(*) types)(o)->table[place])(__VA_ARGS__), doing)
void ort_release(const struct ort *, int place, void *object);

/* Reads the input that varies and the chosen output, and makes the constants. */
int ort_read_tensors(struct ort *, const struct engine_options *);
/* Type and sizes of a tensor. `info` is NULL for what is no tensor. */
int ort_read_info(struct ort *, const void *info, struct tensor *);
/* A tensor over memory, with the sizes of `t`; nothing is copied. */
int ort_wrap(struct ort *, const void *data, const struct tensor *t, void **value);
#endif
