#include "backend/cuda/status.h"

/* Numbers of cudaError_t, which the runtime's documentation fixes. */
enum {
    MEMORY_ALLOCATION = 2,
    INITIALIZATION = 3,
    STUB_LIBRARY = 34,
    INSUFFICIENT_DRIVER = 35,
    DEVICE_UNAVAILABLE = 46,
    INVALID_FUNCTION = 98, /* no code for this device */
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    NO_KERNEL_IMAGE = 209,
    MEMORY_UNCORRECTABLE = 214,
    LINK_UNCORRECTABLE = 220,
    UNSUPPORTED_PTX = 222,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_TIMEOUT = 702,
    ASSERT = 710,
    HARDWARE_STACK = 714,
    ILLEGAL_INSTRUCTION = 715,
    MISALIGNED_ADDRESS = 716,
    INVALID_ADDRESS_SPACE = 717,
    INVALID_PC = 718,
    LAUNCH_FAILURE = 719,
    UNKNOWN = 999
};

certreg_status cr_cuda_status(int code)
{
    switch (code) {
    case 0: return CERTREG_OK;
    case MEMORY_ALLOCATION: return CERTREG_NO_MEMORY;
    case INITIALIZATION:
    case STUB_LIBRARY:
    case INSUFFICIENT_DRIVER:
    case DEVICE_UNAVAILABLE:
    case NO_DEVICE:
    case INVALID_DEVICE:
    case INVALID_FUNCTION:
    case NO_KERNEL_IMAGE:
    case UNSUPPORTED_PTX: return CERTREG_NO_DEVICE;
    default: return CERTREG_DEVICE_FAILED;
    }
}

int cr_cuda_is_sticky(int code)
{
    switch (code) {
    case MEMORY_UNCORRECTABLE:
    case LINK_UNCORRECTABLE:
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
