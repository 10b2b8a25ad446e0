/* The CPU backend keeps the contract that devices keep (gpu/contract.h): with one thread and with
 * several, which do not survive a fork. */
#include "gpu/contract.h"
#include "support/suite.h"
#include <certreg/backend.h>

static int keeps_it(const char *name, certreg_backend *backend)
{
    Suite *suite = suite_create(name);
    contract_add_tests(kit_case(suite, "typical"), backend);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    const int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures == 0;
}

int main(void)
{
    certreg_backend *backend = NULL;
    if (certreg_backend_open_cpu(3, NULL, &backend)) return 1;
    int kept = keeps_it("contract of a CPU backend with threads", backend);
    kept &= keeps_it("contract of the default backend", cr_backend_default());
    certreg_backend_close(backend);
    return !kept;
}
