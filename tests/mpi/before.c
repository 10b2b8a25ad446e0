/* Loaded before the library, so that a rank ends at a moment that a test chooses: when it begins
 * for the END_AT-th time, by SIGKILL of itself or, with END_MPIRUN, of mpirun. With OTHER_VERSION
 * it has another version. */
#define _GNU_SOURCE
#include <certreg/certreg.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

certreg_status certreg_estimator_begin(certreg_estimator *e, const float *z, double sigma,
                                       uint64_t noise_id)
{
    static int calls;
    const char *at = getenv("END_AT");
    certreg_status (*own)(certreg_estimator *, const float *, double, uint64_t);
    *(void **)&own = dlsym(RTLD_NEXT, "certreg_estimator_begin");
    if (at && ++calls == atoi(at)) {
        kill(getenv("END_MPIRUN") ? getppid() : getpid(), SIGKILL);
        pause();
    }
    return own(e, z, sigma, noise_id);
}

uint32_t certreg_version(void)
{
    uint32_t (*own)(void);
    *(void **)&own = dlsym(RTLD_NEXT, "certreg_version");
    return own() + (getenv("OTHER_VERSION") != NULL);
}
