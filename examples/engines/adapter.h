/* adapter.h: for the adapters, of which each connects one library to engine.h, and how they read
 * shapes. To add one: write the function that opens, with its run and close, and name it in the
 * table of engine.c. */
#ifndef ENGINE_ADAPTER_H
#define ENGINE_ADAPTER_H
#include <stdint.h>

#include "engine.h"
#ifdef __cplusplus
extern "C" {
#endif

/* *out is zero, but for device -1, when an adapter gets it. The adapter fills it, or releases what
 * it holds and returns ENGINE_FAILED or ENGINE_ABSENT with a sentence in out->why. run() is called
 * only with batches of the shape that was filled in. Those that were not built are NULL. */
typedef int engine_opens(const char *model, const struct engine_options *, struct engine *out);
engine_opens engine_open_ort;
extern __attribute__((weak)) engine_opens engine_open_xgboost, engine_open_torch;

/* Writes a sentence to `why` and returns ENGINE_FAILED. */
int engine_fail(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with the first line of what a library said; it may have many. */
int engine_fail_line(char *why, const char *doing, const char *said);
/* Fails where the file cannot be read. Libraries say it less well. */
int engine_find(const char *model, char *why);

/* ---- shapes */
enum { TENSOR_RANK = 8, TENSOR_NAME = 128, TENSOR_TEXT = 256 };
enum { TENSOR_FLOAT = 1, TENSOR_INT32 = 6, TENSOR_INT64 = 7, TENSOR_BOOL = 9, TENSOR_DOUBLE = 11 };
enum { MOST_NUMBERS = 1 << 30 }; /* of a row, and of a batch that the file fixes */

/* An input or output. Numbers that are not known are -1. */
struct tensor {
    char name[TENSOR_NAME];
    int type; /* TensorProto.DataType of ONNX */
    int rank;
    int64_t size[TENSOR_RANK]; /* size[0]: the batch */
    int doubles;               /* 1: the adapter takes TENSOR_DOUBLE too, and converts */
};

/* The bytes of a number of one of these types, and the name of any type. */
size_t tensor_bytes(int type);
const char *tensor_type(int type);

/* The name and shape as words: "x" [?, 1, 28, 28]. */
const char *tensor_text(const struct tensor *, char text[TENSOR_TEXT]);

/* Inputs and batch of the engine from the model's input. The row's shape in the options fills what
 * is not known, and the file must agree with it. */
int tensor_input(const struct engine_options *, struct tensor *input, struct engine *out);

/* Columns of the engine from the model's output, after tensor_input. A shape that is not known
 * leaves columns at 0; then a run has to tell. */
int tensor_output(const struct tensor *output, struct engine *out);

/* The columns from the output that a run of `rows` rows gave. */
int tensor_ran(const struct tensor *output, size_t rows, struct engine *out);

/* Takes the columns of the options: sets the first one, and how many they are. */
int tensor_columns(const struct engine_options *, struct engine *out, size_t *first);

/* The output of a model to take: the index of the one that is named, or of the only one. `names`
 * has `count` names. Returns -1 with a sentence. */
int tensor_choose(const struct engine_options *, const char *const *names, size_t count, char *why);
#ifdef __cplusplus
}
#endif
#endif
