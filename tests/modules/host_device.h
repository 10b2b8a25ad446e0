/* How the module host_device behaves, by the number of the device, and how its addresses are made. */
#ifndef TESTS_HOST_DEVICE_H
#define TESTS_HOST_DEVICE_H
#include <stdint.h>

enum {
    HOST_DEVICE = 0,
    HOST_DEVICE_SMALL,   /* has little memory */
    HOST_DEVICE_FAILING, /* is lost after some ops */
    HOST_DEVICE_OLD,     /* of another version, but does not say so */
    HOST_DEVICES
};
enum { HOST_DEVICE_SMALL_BYTES = 100000, HOST_DEVICE_FAILING_OPS = 12 };

static const uintptr_t host_device_far = (uintptr_t)1 << 62; /* no address of a process has this bit */

/* There and back. */
static inline void *host_device_address(void *memory)
{
    return (void *)((uintptr_t)memory ^ host_device_far);
}

static inline int host_device_has(const void *memory)
{
    return ((uintptr_t)memory & host_device_far) != 0;
}

#endif
