/* Every path of the CPU, with any number of threads, keeps the contract that devices keep
 * (gpu/contract.h): the default backend against the specification, and all against that one. The
 * code of the AVX-512 kernels does so on every processor, lane by lane (avx512/immintrin.h).
 * Threads do not survive a fork. */
#include "avx512/kernels.h"
#include "gpu/contract.h"
#include "support/ref_backend.h"
#include <certreg/backend.h>

enum { PATHS = CR_CPU_PATHS, MOST_THREADS = 3 };

static int keeps_it(const char *name, certreg_backend *backend, certreg_backend *reference)
{
    Suite *suite = suite_create(name);
    contract_add_tests(kit_case(suite, name), backend, reference);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    const int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures == 0;
}

static int kernels_keep_it(const cr_cpu_kernel_table *kernels, int threads)
{
    char name[80];
    certreg_backend *backend = NULL;
    if (certreg_backend_open_cpu(threads, NULL, &backend) || cr_cpu_force(backend, kernels))
        return 0;
    snprintf(name, sizeof name, "%s, %d threads", kernels->name, threads);
    const int kept = keeps_it(name, backend, cr_backend_default());
    certreg_backend_close(backend);
    return kept;
}

int main(void)
{
    int kept = keeps_it("default backend", cr_backend_default(), ref_backend());
    for (int path = 0; path < PATHS; path++) {
        if (!cr_cpu_path(path))
            printf("unit_cpu: this machine cannot run path %d, which stays untested\n", path);
        for (int threads = 1; cr_cpu_path(path) && threads <= MOST_THREADS; threads++)
            kept &= kernels_keep_it(cr_cpu_path(path), threads);
    }
    kept &= kernels_keep_it(emulated_avx512_kernels(), 1);
    return !kept;
}
