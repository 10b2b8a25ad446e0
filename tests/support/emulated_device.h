/* The CUDA module on the emulated device: both lie beside the test program. */
#ifndef TESTS_EMULATED_DEVICE_H
#define TESTS_EMULATED_DEVICE_H
#include "support/suite.h"
#include <certreg/backend.h>
#include <check.h>
#include <string.h>
#include <unistd.h>

/* A file beside the program that runs. */
static inline const char *path_beside(const char *name, char path[4096])
{
    const ssize_t length = readlink("/proc/self/exe", path, 4000);
    path[length > 0 ? length : 0] = 0;
    char *slash = strrchr(path, '/');
    if (slash) strcpy(slash + 1, name);
    return path;
}

static inline certreg_status try_emulated(int32_t number, void *stream, certreg_error *why,
                                          certreg_backend **out)
{
    char path[4096];
    *why = (certreg_error){.struct_size = sizeof *why};
    path_beside("emulated_module.so", path);
    return certreg_backend_open(path, number, stream, why, out);
}

static inline void close_device(void *backend)
{
    certreg_backend_close(backend);
}

static inline certreg_backend *open_device(int32_t number, void *stream)
{
    certreg_error why;
    certreg_backend *backend = NULL;
    ck_assert_msg(!try_emulated(number, stream, &why, &backend), "%s", why.text);
    kit_close_later(close_device, backend);
    return backend;
}

#endif
