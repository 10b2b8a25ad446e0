/* The meaning of CUDA runtime error numbers for a caller. Needs no CUDA header. */
#ifndef CR_BACKEND_CUDA_ERROR_CODES_H
#define CR_BACKEND_CUDA_ERROR_CODES_H
#include "certreg/certreg.h"

/* Returns the status of a CUDA error number. */
certreg_status cr_cuda_status(int code);
/* Returns non-zero if the device's context is lost (DEVICE_FAILED): every later call fails too, and
 * the handle can only be destroyed. */
int cr_cuda_is_sticky(int code);

#endif
