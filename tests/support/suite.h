/* A test program's last lines: cases, and the run of all of them. No test has a timeout, since a
 * loaded machine is no failure: tests/run.sh ends what hangs. */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H
#include <check.h>

#define KIT_ROWS(table) ((int)(sizeof(table) / sizeof(table)[0]))

static inline TCase *kit_case(Suite *suite, const char *name)
{
    TCase *added = tcase_create(name);
    tcase_set_timeout(added, 0);
    suite_add_tcase(suite, added);
    return added;
}

/* A case whose tests have a fixture, set up and torn down for each of them. */
static inline TCase *kit_case_with(Suite *suite, const char *name, void (*setup_one)(void),
                                   void (*tear_down_one)(void))
{
    TCase *added = kit_case(suite, name);
    tcase_add_checked_fixture(added, setup_one, tear_down_one);
    return added;
}

static inline int kit_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}

#endif
