/* plain.h: the built-in engine: evaluates the chains that onnx_chain.h reads with OpenBLAS. For
 * where ONNX Runtime is not. */
#ifndef ENGINE_PLAIN_H
#define ENGINE_PLAIN_H
#include "engine.h"

/* Opens the model with `threads` threads inside a matrix product (0: 1; OpenBLAS holds that number
 * for the whole process). */
int engine_open_plain(const char *model, size_t inputs, size_t columns, int threads,
                      struct engine *out, char *why);
#endif
