/* engine.h: the common interface of the engines that run a network. An engine is opened from a
 * file, evaluates rows of `inputs` floats as rows of `columns` floats, and uses one thread:
 *   NAME.onnx     for ONNX Runtime; one input "x" [N, inputs] and one output "y" [N, columns]
 *   NAME.weights  for the built-in engine; the same network, see examples/models/convert.py
 *
 * Opening and running return 0 if they succeed. Otherwise `why` has the reason, a sentence; it is a
 * buffer of at least ENGINE_WHY bytes and must outlive the engine. Nothing prints, exits or aborts.
 * Only one thread at a time may use an engine. */
#ifndef ENGINE_H
#define ENGINE_H
#include <stddef.h>

enum { ENGINE_WHY = 512 };

struct engine {
    int (*run)(void *self, const float *x, float *y, size_t rows);
    void (*close)(void *self);
    void *self;
    const char *name; /* what runs the network, in words */
};

/* Opens NAME.onnx in ONNX Runtime; then `why` is empty. Where there is none, opens NAME.weights in
 * the built-in engine, and `why` says so. A name with another ending is a weight file. */
int engine_open(const char *model, size_t inputs, size_t columns, struct engine *out, char *why);
#endif
