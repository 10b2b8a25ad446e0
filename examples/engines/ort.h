/* ort.h: ONNX Runtime as an engine. It is loaded when an engine is opened; building needs neither
 * its headers nor its library.
 *
 * The library is looked for, in this order, and the first that opens is taken:
 *   1. the path in the environment variable CERTREG_ORT; if it is set, nothing else is tried
 *   2. what the dynamic linker knows as libonnxruntime.so or libonnxruntime.so.1
 *   3. lib/deps/onnxruntime/capi/libonnxruntime.so.* below the working directory, from a wheel
 *   4. the wheel in $VIRTUAL_ENV, then in ~/.local, then in /usr/local and /usr:
 *      lib/python3.N/{site,dist}-packages/onnxruntime/capi/libonnxruntime.so.*
 * It must be ONNX Runtime 1.8 or later; on a CUDA device 1.16 or later, with its CUDA provider. */
#ifndef ENGINE_ORT_H
#define ENGINE_ORT_H
#include "engine.h"

/* Opens the model. Returns ENGINE_ABSENT if there is no ONNX Runtime that can be used. */
enum { ENGINE_ABSENT = 2 };
int engine_open_ort(const char *model, size_t inputs, size_t columns, struct engine *out,
                    char *why);

/* The same with arrays that are used in place. Device -1: they are host memory, and
 * `stream` is ignored. Otherwise they are memory of that CUDA device, and stay there if the CUDA
 * provider has all operators of the model. A run is then enqueued on `stream`, a cudaStream_t that
 * must outlive the engine, and may return before it is done. Returns ENGINE_ABSENT also if no ONNX
 * Runtime can use the device. */
int engine_open_ort_bound(const char *model, size_t inputs, size_t columns, int device,
                          void *stream, struct engine *out, char *why);
#endif
