/* The busy mark of handles whose calls call nobody back, held by hand. */
#include <certreg/solver.h>
#include "base/busy.h"
#include "bisection/bisection.h"
#include "solver/solver.h"
#include "support/suite.h"

static const certreg_bounds u = {.struct_size = sizeof u,
                                 .constraints = CERTREG_CONSTRAINT_VARIANCE,
                                 .sigma = 1,
                                 .variance_hi = 1};

TEST(busy_solvers_refuse_and_keep_their_error)
{
    certreg_solver *s = NULL;
    certreg_mean_change shift = {.struct_size = sizeof shift}, unsized = {.struct_size = 3};
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, &s), CERTREG_OK);
    ck_assert_int_eq(cr_busy_enter(&s->busy, &s->error), CERTREG_OK);
    cr_fail(&s->error, CERTREG_E_NO_DEVICE, "of the running call");
    ck_assert_int_eq(certreg_solver_worst_case(s, &u, 0, 1, &shift), CERTREG_E_BUSY);
    ck_assert_int_eq(certreg_solver_worst_case(s, &u, 0, NAN, &unsized), CERTREG_E_BUSY);
    ck_assert_int_eq(certreg_solver_worst_case(s, &u, 0, 1, NULL), CERTREG_E_BUSY);
    ck_assert(shift.drop == INFINITY && shift.rise == INFINITY && shift.mean_least == -INFINITY &&
              unsized.drop == 0);
    ck_assert_int_eq(certreg_solver_error(s)->status, CERTREG_E_BUSY);
    ck_assert_str_eq(s->error.text, "of the running call");
    ck_assert_int_eq(cr_busy_leave(&s->busy, CERTREG_E_NO_DEVICE), CERTREG_E_NO_DEVICE);
    ck_assert_str_eq(certreg_solver_error(s)->text, "of the running call");
    ck_assert_int_eq(certreg_solver_worst_case(s, &u, 0, 1, &shift), CERTREG_OK);
    certreg_solver_destroy(s);
}

TEST(busy_bisections_refuse_and_keep_their_error)
{
    certreg_solver *s = NULL;
    certreg_bisection *b = NULL;
    certreg_radius r = {.struct_size = sizeof r, .radius = 7};
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, &s), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, &b), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_within(b, &u, 0, -1, &r), CERTREG_E_INVALID);
    ck_assert_int_eq(cr_busy_enter(&b->busy, &b->error), CERTREG_OK);
    r.radius = 7;
    ck_assert_int_eq(certreg_bisection_within(b, &u, 0, 1, &r), CERTREG_E_BUSY);
    ck_assert_double_eq(r.radius, 0);
    r.radius = 7;
    ck_assert_int_eq(certreg_bisection_above(b, &u, NULL, 1, 0, &r), CERTREG_E_BUSY);
    ck_assert_double_eq(r.radius, 0);
    ck_assert_int_eq(certreg_bisection_error(b)->status, CERTREG_E_BUSY);
    ck_assert_str_eq(b->error.text, "");
    cr_busy_leave(&b->busy, CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_within(b, &u, 0, 1, &r), CERTREG_OK);
    ck_assert(r.radius > 0);
    certreg_bisection_destroy(b);
    certreg_solver_destroy(s);
}

TEST_MAIN("busy")
