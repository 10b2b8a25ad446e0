/* A static library that was built with BLAS=0: denoisers from examples and a plan that names the
 * second order are refused with the remedy, and everything else works. */
#include "support/second_order.h"
#include "support/suite.h"
#include <certreg/denoiser.h>

TEST(second_order_is_refused_with_the_remedy)
{
    certreg_error why;
    certreg_estimator *e = NULL;
    ck_assert_int_eq(second_order_try(certreg_estimator_create,
                                      CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_SECOND_ORDER,
                                      &why, &e),
                     CERTREG_E_NO_BACKEND);
    ck_assert_ptr_null(e);
    ck_assert_int_eq(why.status, CERTREG_E_NO_BACKEND);
    ck_assert_ptr_nonnull(strstr(why.text, "certreg/libcertreg_blas.so"));
    ck_assert_ptr_nonnull(strstr(why.text, "plan.constraints"));
}

static int read_nothing(void *user, uint64_t first, size_t count, float *x)
{
    (void)user, (void)first, (void)count, (void)x;
    return 1;
}

TEST(examples_are_refused_with_the_remedy)
{
    const certreg_denoiser_plan p = {
        .struct_size = sizeof p, .inputs = 2, .rows = 9, .read = read_nothing, .sigma = 1};
    certreg_error why = {.struct_size = sizeof why};
    certreg_denoiser *d = NULL;
    ck_assert_int_eq(certreg_denoiser_create(&p, &why, &d), CERTREG_E_NO_BACKEND);
    ck_assert_ptr_null(d);
    ck_assert_ptr_nonnull(strstr(why.text, "denoisers need certreg/libcertreg_blas.so"));
}

TEST(everything_else_works)
{
    certreg_error why;
    certreg_estimator *e = NULL;
    ck_assert_int_eq(second_order_try(certreg_estimator_create, CERTREG_CONSTRAINTS_ECGM, &why, &e),
                     CERTREG_OK);
    certreg_estimator_destroy(e);
}

TEST_MAIN("static library without BLAS")
