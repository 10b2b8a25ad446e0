/* A warm start agrees with a cold one wherever it has been before, stays within the limit of
 * evaluations, and cannot be misled by what is remembered. */
#include <certreg/solver.h>
#include "bisection/bisection.h"
#include "support/hostile.h"
#include "support/solver_fixture.h"
#include "support/suite.h"
#include <math.h>
#include <stdlib.h>

enum { ANY_SET = 63, ROWS_EACH = 30, BLOCKS = 12, TICKS = 6 };

static certreg_bisection *warm;

static void setup_warm(void)
{
    const certreg_bisection_plan plan = {.struct_size = sizeof plan,
                                         .flags = CERTREG_BISECTION_WARM_START};
    setup();
    ck_assert_int_eq(certreg_bisection_create(&plan, NULL, &warm), CERTREG_OK);
}

static void teardown_warm(void)
{
    certreg_bisection_destroy(warm);
    teardown();
}

typedef struct sweep {
    dice d;
    certreg_bounds bounds;
    double tolerance;
} sweep;

/* Every other row is of hard constraints, the others are of ordinary problems. */
static sweep begin(uint64_t seed)
{
    sweep s = {.d = dice_of(770000000 + seed)};
    const hostile h = random_hostile(&s.d);
    s.bounds = h.bounds, s.tolerance = h.tolerance;
    s.bounds.constraints = 1 + (uint32_t)dice_between(&s.d, 0, ANY_SET - 1e-3);
    if (seed % 2 == 0) return s;
    const ref_problem p = random_problem(&s.d);
    s.bounds = problem_bounds(&p);
    s.tolerance = sqrt(p.variance) * exp(dice_between(&s.d, -4, 1));
    return s;
}

/* The next question: mostly a little away, now and then far. */
static void step(sweep *s, int tick)
{
    const double span = s->bounds.mean_hi - s->bounds.mean_lo;
    s->tolerance *= tick == 3 ? 5 : exp(dice_between(&s->d, -0.3, 0.3));
    s->bounds.variance_hi *= exp(dice_between(&s->d, 0, 0.05));
    s->bounds.mean_lo += 0.1 * span * dice_between(&s->d, 0, 1);
    s->bounds.sigma *= exp(dice_between(&s->d, -0.1, 0.1));
}

static certreg_status ask(certreg_bisection *b, const sweep *s, int above, certreg_radius *out)
{
    const double threshold[2] = {s->bounds.mean_lo - s->tolerance,
                                 s->bounds.mean_lo - 2 * s->tolerance};
    const certreg_bounds two[2] = {s->bounds, s->bounds};
    *out = (certreg_radius){.struct_size = sizeof *out};
    return above ? certreg_bisection_above(b, two, threshold, 2, 0, out)
                 : certreg_bisection_within(b, &s->bounds, 0, s->tolerance, out);
}

static void assert_alike(const sweep *s, int above, uint64_t seed, int tick)
{
    certreg_radius want, got;
    const certreg_status status = ask(bisection, s, above, &want);
    ck_assert_int_eq(ask(warm, s, above, &got), status);
    ck_assert_msg(fabs(got.radius - want.radius) <= 1e-9 * want.radius &&
                      got.outcome == want.outcome,
                  "seed %llu, tick %d: %.17g, cold %.17g", (unsigned long long)seed, tick,
                  got.radius, want.radius);
    ck_assert_uint_le(warm->info.evaluations,
                      (above ? 2 : 1) * (uint32_t)CERTREG_RADIUS_EVALUATIONS);
}

START_TEST(warm_start_agrees_with_a_cold_one_over_sweeps)
{
    int warm_starts = 0;
    for (uint64_t seed = (uint64_t)_i * ROWS_EACH; seed < (uint64_t)(_i + 1) * ROWS_EACH; seed++) {
        sweep s = begin(seed);
        for (int tick = 0; tick < TICKS; tick++, step(&s, tick)) {
            assert_alike(&s, (int)(seed % 3 == 0), seed, tick);
            warm_starts += (int)warm->info.warm_starts;
        }
    }
    ck_assert_int_gt(warm_starts, ROWS_EACH);
}
END_TEST

/* ---- what is remembered proves nothing */
static double any_double(dice *d)
{
    static const double odd[] = {0, -1, INFINITY, -INFINITY, NAN, 1e-300, 1e300};
    const int kind = (int)dice_between(d, 0, 14);
    return kind < 7 ? odd[kind] : exp(dice_between(d, -10, 10)) * (kind % 2 ? 1 : -1);
}

static void spoil(dice *d, cr_trace *t)
{
    t->radius = any_double(d), t->closed = any_double(d);
    t->box.count = (int)dice_between(d, 0, 2.999);
    for (int i = 0; i < 2; i++) {
        cr_point *p = t->box.point + i;
        p->at = (cr_multipliers){any_double(d), any_double(d), {any_double(d), any_double(d)}};
        for (int k = 0; k < CR_EDGES; k++) p->regions.edge[k] = any_double(d);
        p->problem.ratio.order = (int)dice_between(d, 0, 2.999);
        p->converged = p->tight = 1;
        p->value = any_double(d), p->slope = any_double(d);
    }
}

START_TEST(whatever_is_remembered_the_radius_is_the_same)
{
    for (uint64_t seed = (uint64_t)_i * ROWS_EACH; seed < (uint64_t)(_i + 1) * ROWS_EACH; seed++) {
        sweep s = begin(1000 + seed);
        for (int tick = 0; tick < TICKS; tick++) {
            for (int k = 0; k < CR_REMEMBERED; k++) spoil(&s.d, warm->remembered + k);
            warm->remembers = 1;
            assert_alike(&s, (int)(seed % 3 == 0), seed, tick);
        }
    }
}
END_TEST

/* ---- what is remembered at all */
START_TEST(first_call_and_one_after_a_failure_start_cold)
{
    sweep s = begin(1);
    certreg_radius want, got;
    ck_assert_int_eq(ask(bisection, &s, 0, &want), CERTREG_OK);
    ck_assert_int_eq(ask(warm, &s, 0, &got), CERTREG_OK);
    ck_assert_mem_eq(&got, &want, sizeof got);
    ck_assert_uint_eq(warm->info.warm_starts, 0);
    ck_assert_int_eq(ask(warm, &s, 0, &got), CERTREG_OK);
    ck_assert_uint_gt(warm->info.warm_starts, 0);
    ck_assert_int_eq(certreg_bisection_within(warm, &s.bounds, 0, -1, &got), CERTREG_E_INVALID);
    ck_assert_int_eq(ask(warm, &s, 0, &got), CERTREG_OK);
    ck_assert_mem_eq(&got, &want, sizeof got);
    ck_assert_uint_eq(warm->info.warm_starts, 0);
}
END_TEST

START_TEST(without_the_flag_calls_do_not_depend_on_earlier_ones)
{
    for (uint64_t seed = 0; seed < ROWS_EACH; seed++) {
        sweep s = begin(seed), other = begin(seed + 2);
        certreg_radius want, got;
        ask(bisection, &s, 0, &want);
        ask(bisection, &other, 0, &got);
        ask(bisection, &s, 0, &got);
        ck_assert_mem_eq(&got, &want, sizeof got);
        ck_assert_uint_eq(bisection->info.warm_starts, 0);
    }
}
END_TEST

START_TEST(steady_loop_takes_fewer_evaluations)
{
    certreg_bounds b = {.struct_size = sizeof b,
                        .constraints = CERTREG_CONSTRAINTS_ECGM,
                        .sigma = 0.5,
                        .gradient_hi = 0.2,
                        .range_lo = -1,
                        .range_hi = 1};
    uint64_t cold = 0, less = 0;
    certreg_radius out = {.struct_size = sizeof out};
    for (int tick = 0; tick < 50; tick++) {
        b.mean_lo = 0.1 + 0.01 * sin(tick), b.mean_hi = b.mean_lo + 0.02;
        b.variance_hi = 0.3 + 0.01 * cos(tick);
        ck_assert_int_eq(certreg_bisection_within(bisection, &b, 0, 0.2, &out), CERTREG_OK);
        ck_assert_int_eq(certreg_bisection_within(warm, &b, 0, 0.2, &out), CERTREG_OK);
        cold += bisection->info.evaluations, less += warm->info.evaluations;
    }
    ck_assert_uint_lt(less, cold * 9 / 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("warm_start");
    TCase *tests = kit_case(suite, "warm_start", 60);
    tcase_add_checked_fixture(tests, setup_warm, teardown_warm);
    tcase_add_loop_test(tests, warm_start_agrees_with_a_cold_one_over_sweeps, 0, BLOCKS);
    tcase_add_loop_test(tests, whatever_is_remembered_the_radius_is_the_same, 0, BLOCKS);
    tcase_add_test(tests, first_call_and_one_after_a_failure_start_cold);
    tcase_add_test(tests, without_the_flag_calls_do_not_depend_on_earlier_ones);
    tcase_add_test(tests, steady_loop_takes_fewer_evaluations);
    return kit_run(suite);
}
