/* plain.h: the built-in engine, for machines without ONNX Runtime. It evaluates the networks that
 * network.h reads, with OpenBLAS. */
#ifndef ENGINE_PLAIN_H
#define ENGINE_PLAIN_H
#include "engine.h"

/* Opens the model, NAME.weights, also if NAME.onnx in the same folder is given. Sets the number of
 * threads of OpenBLAS to 1, for the whole process. */
int engine_open_plain(const char *model, size_t inputs, size_t columns, struct engine *out,
                      char *why);
#endif
