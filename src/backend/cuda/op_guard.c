/* The beginning and the end of every op (op_guard.h). */
#include "backend/cuda/op_guard.h"
#include "backend/cuda/error_codes.h"

enum { BLAS_CODE_OFFSET = 10000 }; /* added to cuBLAS's statuses, to separate them from CUDA's */

certreg_status cr_cuda_runtime_status(cr_cuda *self, int code)
{
    if (!code) return CERTREG_OK;
    self->code = code;
    self->text = cudaGetErrorString((cudaError_t)code);
    return cr_cuda_status(code);
}

certreg_status cr_cuda_blas_status(cr_cuda *self, cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS) return CERTREG_OK;
    self->code = BLAS_CODE_OFFSET + (int)status;
    self->text = cublasGetStatusString(status);
    return status == CUBLAS_STATUS_ALLOC_FAILED ? CERTREG_E_NO_MEMORY : CERTREG_E_DEVICE_FAILED;
}

/* Refuses a capturing stream: work would be added to the caller's graph instead of being done, and
 * waiting for it would invalidate the capture. */
static certreg_status check_capture(cr_cuda *self)
{
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    const int code = (int)cudaStreamIsCapturing(self->stream, &capture);
    if (code == cudaErrorStreamCaptureImplicit)
        cudaGetLastError(); /* of another stream, for which the legacy stream would wait */
    else if (code) return cr_cuda_runtime_status(self, code);
    if (!code && capture == cudaStreamCaptureStatusNone) return CERTREG_OK;
    self->code = cudaErrorStreamCaptureUnsupported;
    self->text =
        "the stream is capturing a graph; end the capture before the library is to work on it";
    return CERTREG_E_WRONG_STATE;
}

certreg_status cr_cuda_enter(cr_cuda *self)
{
    if (cr_cuda_is_sticky(self->code)) return CERTREG_E_DEVICE_FAILED;
    const certreg_status status =
        cr_cuda_runtime_status(self, cr_cuda_context_enter(&self->context));
    self->is_entered = !status;
    return status || !self->stream ? status : check_capture(self);
}

certreg_status cr_cuda_leave(cr_cuda *self, certreg_status status)
{
    if (self->is_entered) cr_cuda_context_leave(&self->context);
    self->is_entered = 0;
    return status;
}
