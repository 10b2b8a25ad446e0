/* The beginning and the end of every op (op_guard.h). */
#include "backend/cuda/op_guard.h"
#include "backend/cuda/error_codes.h"

enum { BLAS_CODES = 10000 }; /* added to cuBLAS's statuses, to separate them from CUDA's */

certreg_status cr_cuda_of_runtime(cr_cuda *me, int code)
{
    if (!code) return CERTREG_OK;
    me->code = code;
    me->text = cudaGetErrorString((cudaError_t)code);
    return cr_cuda_status(code);
}

certreg_status cr_cuda_of_blas(cr_cuda *me, cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS) return CERTREG_OK;
    me->code = BLAS_CODES + (int)status;
    me->text = cublasGetStatusString(status);
    return status == CUBLAS_STATUS_ALLOC_FAILED ? CERTREG_E_NO_MEMORY : CERTREG_E_DEVICE_FAILED;
}

/* Refuses a capturing stream: work would be added to the caller's graph instead of being done, and
 * waiting for it would invalidate the capture. */
static certreg_status check_capture(cr_cuda *me)
{
    enum cudaStreamCaptureStatus now = cudaStreamCaptureStatusNone;
    const int code = (int)cudaStreamIsCapturing(me->stream, &now);
    if (code == cudaErrorStreamCaptureImplicit)
        cudaGetLastError(); /* of another stream, for which the legacy stream would wait */
    else if (code) return cr_cuda_of_runtime(me, code);
    if (!code && now == cudaStreamCaptureStatusNone) return CERTREG_OK;
    me->code = cudaErrorStreamCaptureUnsupported;
    me->text =
        "the stream is capturing a graph; end the capture before the library is to work on it";
    return CERTREG_E_WRONG_STATE;
}

certreg_status cr_cuda_enter(cr_cuda *me)
{
    if (cr_cuda_is_sticky(me->code)) return CERTREG_E_DEVICE_FAILED;
    const certreg_status status = cr_cuda_of_runtime(me, cr_cuda_context_enter(&me->context));
    me->inside = !status;
    return status || !me->stream ? status : check_capture(me);
}

certreg_status cr_cuda_leave(cr_cuda *me, certreg_status status)
{
    if (me->inside) cr_cuda_context_leave(&me->context);
    me->inside = 0;
    return status;
}
