#include "backend/cuda/status.h"

/* Numbers of cudaError_t, which the runtime's documentation fixes. */
enum {
    MEMORY_ALLOCATION = 2,
    INITIALIZATION = 3,
    STUB_LIBRARY = 34,
    INSUFFICIENT_DRIVER = 35,
    NEWER_DRIVER_NEEDED = 36,
    DEVICE_UNAVAILABLE = 46,
    INVALID_FUNCTION = 98, /* no code for this device */
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    NO_KERNEL_IMAGE = 209,
    MEMORY_UNCORRECTABLE = 214,
    LINK_UNCORRECTABLE = 220,
    NO_COMPILER = 221, /* for PTX, where there is no code for this device */
    UNSUPPORTED_PTX = 222,
    COMPILER_DISABLED = 223,
    CONTAINED = 226,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_TIMEOUT = 702,
    CONTEXT_DESTROYED = 709,
    ASSERT = 710,
    HARDWARE_STACK = 714,
    ILLEGAL_INSTRUCTION = 715,
    MISALIGNED_ADDRESS = 716,
    INVALID_ADDRESS_SPACE = 717,
    INVALID_PC = 718,
    LAUNCH_FAILURE = 719,
    TENSOR_MEMORY_LEAK = 721,
    SYSTEM_NOT_READY = 802, /* no fabric manager beside NVSwitch */
    DRIVER_MISMATCH = 803,
    NO_COMPATIBILITY = 804, /* of a driver made newer by libraries, on this device */
    MPS_CLIENT_TERMINATED = 810,
    UNKNOWN = 999
};

certreg_status cr_cuda_status(int code)
{
    switch (code) {
    case 0: return CERTREG_OK;
    case MEMORY_ALLOCATION: return CERTREG_E_NO_MEMORY;
    case INITIALIZATION:
    case STUB_LIBRARY:
    case INSUFFICIENT_DRIVER:
    case NEWER_DRIVER_NEEDED:
    case DEVICE_UNAVAILABLE:
    case NO_DEVICE:
    case INVALID_DEVICE:
    case INVALID_FUNCTION:
    case INVALID_IMAGE:
    case NO_KERNEL_IMAGE:
    case NO_COMPILER:
    case COMPILER_DISABLED:
    case SYSTEM_NOT_READY:
    case DRIVER_MISMATCH:
    case NO_COMPATIBILITY:
    case UNSUPPORTED_PTX: return CERTREG_E_NO_DEVICE;
    default: return CERTREG_E_DEVICE_FAILED;
    }
}

int cr_cuda_is_sticky(int code)
{
    switch (code) {
    case MEMORY_UNCORRECTABLE:
    case LINK_UNCORRECTABLE:
    case CONTAINED:
    case CONTEXT_DESTROYED:
    case TENSOR_MEMORY_LEAK:
    case MPS_CLIENT_TERMINATED:
    case ILLEGAL_ADDRESS:
    case LAUNCH_TIMEOUT:
    case ASSERT:
    case HARDWARE_STACK:
    case ILLEGAL_INSTRUCTION:
    case MISALIGNED_ADDRESS:
    case INVALID_ADDRESS_SPACE:
    case INVALID_PC:
    case LAUNCH_FAILURE:
    case UNKNOWN: return 1;
    default: return 0;
    }
}
