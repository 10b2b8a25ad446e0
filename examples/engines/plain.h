/* plain.h: the built-in engine, for machines without ONNX Runtime. It evaluates the chains that
 * onnx_chain.h reads, with OpenBLAS. */
#ifndef ENGINE_PLAIN_H
#define ENGINE_PLAIN_H
#include "engine.h"

/* Opens the model with `threads` threads per matrix product (0: 1). OpenBLAS has one such number
 * for the whole process. */
int engine_open_plain(const char *model, size_t inputs, size_t columns, int threads,
                      struct engine *out, char *why);
#endif
