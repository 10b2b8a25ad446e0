/* The CUDA module's kernels and copies on a device that is emulated on the host
 * (emulated/emulated.h), bit by bit; error numbers become statuses. */
#include "backend/cuda/error_codes.h"
#include "emulated.h"
#include "gpu/contract.h"
#include "support/emulated_device.h"
#include "support/suite.h"
#include <certreg/backend.h>

TEST(cuda_status_of_error_numbers)
{
    ck_assert_int_eq(cr_cuda_status(0), CERTREG_OK);
    ck_assert_int_eq(cr_cuda_status(2), CERTREG_E_NO_MEMORY);
    const int absent[] = {3, 34, 35, 36, 46, 98, 100, 101, 200, 209, 221, 222, 223, 802, 803, 804},
              lost[] = {214, 220, 226, 700, 702, 709, 710, 714,
                        715, 716, 717, 718, 719, 721, 810, 999};
    for (int i = 0; i < KIT_ROWS(absent); i++) {
        ck_assert_int_eq(cr_cuda_status(absent[i]), CERTREG_E_NO_DEVICE);
        ck_assert(!cr_cuda_is_sticky(absent[i]));
    }
    for (int i = 0; i < KIT_ROWS(lost); i++) {
        ck_assert_int_eq(cr_cuda_status(lost[i]), CERTREG_E_DEVICE_FAILED);
        ck_assert(cr_cuda_is_sticky(lost[i]));
    }
    ck_assert_int_eq(cr_cuda_status(1), CERTREG_E_DEVICE_FAILED);
    ck_assert(!cr_cuda_is_sticky(1) && !cr_cuda_is_sticky(2) && !cr_cuda_is_sticky(0));
}

int main(void)
{
    Suite *suite = kit_suite("cuda_backend");
    certreg_error why;
    certreg_backend *backend = NULL;
    if (try_emulated(0, NULL, &why, &backend)) return puts(why.text), 1;
    contract_add_tests(kit_case(suite, "contract"), backend, cr_backend_default());
    const int failed = kit_run(suite);
    certreg_backend_close(backend);
    return failed || emulated()->objects != 0;
}
