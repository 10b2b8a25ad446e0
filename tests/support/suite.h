/* A test program: its tests, which register themselves, and the run of all of them.
 *
 *     TEST(name) { ... }                runs once
 *     TEST_ROWS(name, table) { ... }    runs for each row _i of a table
 *     TEST_TIMES(name, count) { ... }   runs for _i from 0 to count - 1
 *     FIXTURE(set_up, tear_down)        goes around each test of the program
 *     TEST_MAIN("what it is about")     runs them all: the last line
 *     KIT_MAIN("what it is about")      the same, and closes after each test what the kit opened
 *
 * No test has a timeout, since a loaded machine is no failure: tests/run.sh ends what hangs. */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H
#include <check.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIT_ROWS(table) ((int)(sizeof(table) / sizeof(table)[0]))

static inline int kit_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void kit_sort(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, kit_ascending);
}

/* ---- the tests of the program */
enum { KIT_MOST_TESTS = 200 };

static struct kit_tests {
    struct {
        const TTest *test;
        int first, end;
    } list[KIT_MOST_TESTS];
    int count;
    void (*set_up)(void), (*tear_down)(void);
} kit_tests;

static inline void kit_register(const TTest *test, int first, int end)
{
    if (kit_tests.count == KIT_MOST_TESTS) abort();
    kit_tests.list[kit_tests.count].test = test;
    kit_tests.list[kit_tests.count].first = first;
    kit_tests.list[kit_tests.count++].end = end;
}

#define KIT_AT_START(name) static __attribute__((constructor)) void name(void)

#define TEST_RANGE(name, first, end)                  \
    static const TTest *name;                         \
    KIT_AT_START(name##_registered)                   \
    {                                                 \
        kit_register(name, (int)(first), (int)(end)); \
    }                                                 \
    START_TEST(name)
#define TEST(name) TEST_RANGE(name, 0, 1)
#define TEST_TIMES(name, count) TEST_RANGE(name, 0, count)
#define TEST_ROWS(name, table) TEST_RANGE(name, 0, KIT_ROWS(table))

#define FIXTURE(set_up_one, tear_down_one)                                      \
    KIT_AT_START(kit_set_fixture)                                               \
    {                                                                           \
        kit_tests.set_up = (set_up_one), kit_tests.tear_down = (tear_down_one); \
    }

/* ---- what is closed after each test of a program with KIT_MAIN: last first */
enum { KIT_MOST_OPEN = 4096 };

static struct kit_open {
    struct {
        void (*close)(void *);
        void *what;
    } list[KIT_MOST_OPEN];
    int count, wanted;
} kit_open;

static inline void kit_close_later(void (*close)(void *), void *what)
{
    if (!kit_open.wanted) return;
    if (kit_open.count == KIT_MOST_OPEN) abort();
    kit_open.list[kit_open.count].close = close, kit_open.list[kit_open.count++].what = what;
}

/* In the middle of a test that needs it. */
static inline void kit_close_all(void)
{
    while (kit_open.count > 0) {
        kit_open.count--;
        kit_open.list[kit_open.count].close(kit_open.list[kit_open.count].what);
    }
}

/* ---- cases and the run */
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

/* Adds the tests that this file has registered. */
static inline void kit_add_tests(TCase *to)
{
    for (int i = 0; i < kit_tests.count; i++)
        tcase_add_loop_test(to, kit_tests.list[i].test, kit_tests.list[i].first,
                            kit_tests.list[i].end);
}

static inline Suite *kit_suite(const char *about)
{
    Suite *suite = suite_create(about);
    TCase *all = kit_case_with(suite, "tests", kit_tests.set_up, kit_tests.tear_down);
    tcase_add_checked_fixture(all, NULL, kit_close_all); /* before tear_down */
    kit_add_tests(all);
    return suite;
}

static inline int kit_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}

#define TEST_MAIN(about)                  \
    int main(void)                        \
    {                                     \
        return kit_run(kit_suite(about)); \
    }

#define KIT_CLOSES_HANDLES       \
    KIT_AT_START(kit_will_close) \
    {                            \
        kit_open.wanted = 1;     \
    }
#define KIT_MAIN(about) KIT_CLOSES_HANDLES TEST_MAIN(about)

#endif
