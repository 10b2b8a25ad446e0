/* engine.h: one way to run a network, whatever runs it. An engine is opened from an .onnx file that
 * has one input "x" of [N, inputs] floats and one output "y" of [N, columns] floats, and then
 * evaluates rows.
 *
 * Opening and running return 0 when they worked. What went wrong is told in words in `why`, a
 * buffer of at least ENGINE_WHY bytes that outlives the engine; nothing prints, exits or aborts. An
 * engine belongs to one thread at a time. */
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
#endif
