/* The meaning of CUDA's error numbers (error_codes.h). It includes no CUDA header, so that tests
 * without a toolkit can check it. */
#include "backend/cuda/error_codes.h"

/* Numbers of cudaError_t; the documentation of CUDA's runtime fixes them. */
enum { NONE = 0, OUT_OF_MEMORY = 2 };

/* Returns 1 if there is no device, or no device for which this library has code. */
static int is_missing(int code)
{
    switch (code) {
    case 3:             /* initialization error */
    case 34:            /* stub library */
    case 35:            /* insufficient driver */
    case 36:            /* call requires newer driver */
    case 46:            /* devices unavailable */
    case 98:            /* invalid device function: no code for this device */
    case 100:           /* no device */
    case 101:           /* no such device */
    case 200:           /* invalid kernel image */
    case 209:           /* no kernel image for device */
    case 221:           /* JIT compiler for PTX not found, and no code for this device */
    case 222:           /* unsupported PTX version */
    case 223:           /* JIT compilation disabled */
    case 802:           /* system not ready: no fabric manager beside NVSwitch */
    case 803:           /* system driver mismatch */
    case 804: return 1; /* forward compatibility not supported on this device */
    default: return 0;
    }
}

certreg_status cr_cuda_status(int code)
{
    if (code == NONE) return CERTREG_OK;
    if (code == OUT_OF_MEMORY) return CERTREG_E_NO_MEMORY;
    return is_missing(code) ? CERTREG_E_NO_DEVICE : CERTREG_E_DEVICE_FAILED;
}

int cr_cuda_is_sticky(int code)
{
    switch (code) {
    case 214:           /* ECC uncorrectable */
    case 220:           /* NVLink uncorrectable */
    case 226:           /* contained memory error */
    case 700:           /* illegal address */
    case 702:           /* launch timeout */
    case 709:           /* context is destroyed */
    case 710:           /* assertion in a kernel */
    case 714:           /* hardware stack error */
    case 715:           /* illegal instruction */
    case 716:           /* misaligned address */
    case 717:           /* invalid address space */
    case 718:           /* invalid program counter */
    case 719:           /* launch failure */
    case 721:           /* tensor memory leak */
    case 810:           /* MPS client terminated */
    case 999: return 1; /* unknown */
    default: return 0;
    }
}
