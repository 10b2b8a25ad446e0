/* A program without libcertreg_blas.a: denoisers from examples are refused with the remedy, and
 * everything else works. */
#include "support/suite.h"
#include <certreg/denoiser.h>

static int read_nothing(void *user, uint64_t first, size_t count, float *x)
{
    (void)user, (void)first, (void)count, (void)x;
    return 1;
}

TEST(blas_that_is_missing_is_named_by_denoiser_create)
{
    const certreg_denoiser_plan p = {
        .struct_size = sizeof p, .inputs = 2, .rows = 9, .read = read_nothing, .sigma = 1};
    certreg_error why = {.struct_size = sizeof why};
    certreg_denoiser *d = NULL;
    ck_assert_int_eq(certreg_denoiser_create(&p, &why, &d), CERTREG_E_NO_BACKEND);
    ck_assert_ptr_null(d);
    ck_assert_ptr_nonnull(strstr(why.text, "denoisers needs certreg-0/libcertreg_blas.so"));
}

TEST(blas_that_is_missing_does_not_hinder_estimators)
{
    const certreg_model model = {.struct_size = sizeof model, .inputs = 5, .outputs = 1};
    const certreg_plan plan = {
        .struct_size = sizeof plan, .max_samples = 100, .constraints = CERTREG_CONSTRAINTS_ECGM};
    certreg_estimator *e = NULL;
    ck_assert_int_eq(certreg_estimator_create(NULL, &model, &plan, NULL, &e), CERTREG_OK);
    certreg_estimator_destroy(e);
}

TEST_MAIN("blas")
