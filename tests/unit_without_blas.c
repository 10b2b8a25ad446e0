/* A static library that was built with BLAS=0: a plan that names the second order is refused with
 * the remedy, and everything else works. */
#include "support/second_order.h"
#include "support/suite.h"

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

TEST(everything_else_works)
{
    certreg_error why;
    certreg_estimator *e = NULL;
    ck_assert_int_eq(second_order_try(certreg_estimator_create, CERTREG_CONSTRAINTS_ECGM, &why, &e),
                     CERTREG_OK);
    certreg_estimator_destroy(e);
}

TEST_MAIN("static library without BLAS")
