/* A solver and a bisection of their own for every test, as a checked fixture. */
#ifndef TESTS_SOLVER_FIXTURE_H
#define TESTS_SOLVER_FIXTURE_H
#include <certreg/solver.h>
#include <check.h>

static certreg_solver *solver;
static certreg_bisection *bisection;

static void setup(void)
{
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, &solver), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, &bisection), CERTREG_OK);
}

static void teardown(void)
{
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
}

#endif
