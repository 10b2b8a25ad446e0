/* A solver and a bisection of their own for every test, as a checked fixture. */
#ifndef TESTS_SOLVER_FIXTURE_H
#define TESTS_SOLVER_FIXTURE_H
#include <certreg/certreg.h>
#include <check.h>

static certreg_solver *solver;
static certreg_bisection *bisection;

static void setup(void)
{
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &solver), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(solver, NULL, 0, &bisection), CERTREG_OK);
}

static void teardown(void)
{
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
}

#endif
