/** @file backend.h
 * libcertreg: noise on several CPU threads, or on a device.
 */
#ifndef CERTREG_BACKEND_H
#define CERTREG_BACKEND_H
#include "certreg/certreg.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ==== CPU threads and devices ==================================================== */

/** Opens a CPU backend that draws noise on several threads. Results have the same bits
 *  as with one thread.
 *  @param threads  1 to 1024; 0: one per online processor
 *  @return CERTREG_OK; CERTREG_E_INVALID (threads < 0 or too many, out NULL);
 *          CERTREG_E_NO_MEMORY
 *  @par Threads any number of estimators may share it; one at a time uses its threads,
 *       and every further one computes on its own */
CERTREG_API certreg_status
certreg_backend_open_cpu(int32_t threads, certreg_error *why, certreg_backend **out);

/** Opens a device. Noise is drawn there with the same bits as on the CPU, and the model
 *  gets device pointers and a stream. No array of the size samples*inputs is copied
 *  back. There is never a silent fall back to the CPU. The code for a kind of device is
 *  in a module, which stays in the process; the library comes with "cuda". It takes a
 *  CUDA context and cuBLAS's work space, 32 MiB from compute capability 9.0 on and 4
 *  MiB below, and loads all kernels, so that no certificate waits for code.
 *  @param module  "cuda": certreg-0/libcertreg_cuda.so in the folder of this library;
 *                 or the path of a module, which contains a slash
 *  @param device  its number, >= 0
 *  @param stream  a cudaStream_t of the device's primary context, borrowed, which must
 *                 outlive the backend; NULL: the library makes its own. See "Streams"
 *  @return CERTREG_OK; CERTREG_E_WRONG_STATE (the stream is capturing a graph);
 *          CERTREG_E_NO_BACKEND (no module or CUDA libraries; error.text has the
 *          reason); CERTREG_E_NO_DEVICE and CERTREG_E_DEVICE_FAILED (error.code
 *          has CUDA's number, or 10000 plus cuBLAS's); CERTREG_E_VERSION;
 *          CERTREG_E_NO_MEMORY; CERTREG_E_INVALID (no module, device < 0, out NULL)
 *  @par Threads one call at a time for all estimators that share it, create included;
 *       any further call returns CERTREG_E_BUSY. The calling thread keeps its current
 *       device */
CERTREG_API certreg_status certreg_backend_open(
    const char *module, int32_t device, void *stream, certreg_error *why,
    certreg_backend **out);

/** Closes a backend; first destroy every estimator that uses it. NULL is allowed. */
CERTREG_API void certreg_backend_close(certreg_backend *);

/* Streams
 *  The library's own stream has the highest priority and does not synchronise with the
 *  legacy default stream: finish uploads and warm-up before sampling. To borrow the
 *  legacy default stream (PyTorch's), pass cudaStreamLegacy, since its handle is NULL;
 *  cudaStreamPerThread ties the backend to the calling thread. A borrowed stream keeps
 *  its priority, and certreg_estimator_draw does not wait for it. Noise for the next
 *  batch is drawn on a second stream of the lowest priority, CUDA's default. While a
 *  stream is capturing a graph, every call that would use it returns
 *  CERTREG_E_WRONG_STATE; a callback may capture on batch->stream if it ends the
 *  capture before it returns. End a capture before you destroy an estimator or close a
 *  backend. More: docs/guide/engines.md. */

#ifdef __cplusplus
}
#endif
#endif
