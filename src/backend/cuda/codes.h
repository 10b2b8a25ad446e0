/* What an error number of the CUDA runtime means for a caller; no CUDA header is needed. */
#ifndef CR_BACKEND_CUDA_CODES_H
#define CR_BACKEND_CUDA_CODES_H
#include "certreg/certreg.h"

certreg_status cr_cuda_status(int code);
/* Whether the device's context is lost, which is DEVICE_FAILED: every later call fails too, and the
 * handle can only be destroyed. */
int cr_cuda_is_sticky(int code);

#endif
