/* engine.h: one shape for all engines that run a model from a file. A program opens an engine,
 * fills a certreg_model from it and creates an estimator, as certify.c does; engine_eval is the
 * callback. The names and shapes of the model's tensors are read from the file. One input of
 * float32 varies; its first dimension is the batch, and the product of the others is `inputs`. The
 * output has one row of `columns` numbers for each row of the input.
 *
 *     file              engine        needs
 *     NAME.onnx, .ort   onnxruntime   ONNX Runtime, which ort_library.c looks for
 *     NAME.json, .ubj   xgboost       Debian's libxgboost-dev
 *     NAME.pt           torch         Debian's libtorch-dev
 *
 * Every engine uses one thread, and gives the same bits for the same rows in the same batch. It may
 * be used by one thread at a time. Functions return 0, or another number with a sentence in
 * engine.why; the adapters do not print, exit or abort. */
#ifndef ENGINE_H
#define ENGINE_H
#include <certreg/certreg.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

enum { ENGINE_WHY = 512, ENGINE_NAME = 64 };
enum { ENGINE_FAILED = 1, ENGINE_ABSENT = 2 }; /* absent: a library or a device is missing */

struct engine {
    size_t inputs, columns; /* numbers of a row of x and of y */
    size_t batch;           /* rows of every call; 0: any number */
    int device;             /* -1: x and y are host memory, else memory of this CUDA device */
    void *self;             /* the adapter's, as are the next two */
    int (*run)(void *self, const certreg_batch *, char *why);
    void (*close)(void *self);
    char name[ENGINE_NAME]; /* what runs the model, in words */
    char why[ENGINE_WHY];   /* why the last call failed; after engine_open, empty or a remark: the
                             * same rows have other outputs if they come again */
};

/* Zero is the default of every field. */
struct engine_options {
    const char *engine;  /* name in the table above; NULL: by the end of the file's name */
    const char *shape;   /* of a row, as "3x224x224", for dimensions that the file leaves open */
    const char *output;  /* name of the output to take where there are several */
    const char *columns; /* as "3:6", the columns 3 to 5 of a flattened row; NULL: all */
    const char *const *constants; /* "name=number" for each input that does not vary; a number fills
                                   * a tensor */
    size_t constant_count;
    int no_check;  /* 1: opens it without certreg_model_check, which refuses a model whose outputs
                    * depend on other rows. On a device the program makes it, after begin */
    int on_device; /* 1: x and y are memory of the CUDA device `device`. ONNX Runtime only */
    int device;
};

/* Opens the model, and checks it. *out is always written; if this fails there is nothing to close.
 * options may be NULL. */
int engine_open(const char *model, const struct engine_options *options, struct engine *out);
void engine_close(struct engine *);

/* Fills eval, user, inputs, outputs and batch. A program whose columns are no plain numbers
 * (CERTREG_OUTPUT_ANGLE_PAIR) then sets outputs and kind. */
void engine_model(struct engine *, certreg_model *out);

/* The callback, `user` is the engine. */
int engine_eval(void *user, const certreg_batch *);

/* y = model(x) for `rows` rows in host memory. */
int engine_run(struct engine *, const float *x, float *y, size_t rows);

/* Whether the model has this shape; if not, `why` says which one it has. */
int engine_fits(struct engine *, const char *model, size_t inputs, size_t columns);
#ifdef __cplusplus
}
#endif
#endif
