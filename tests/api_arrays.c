/* Arrays of structs are stepped by the size of their first element, and zero in a field means
 * its default. */
#include "support/api_kit.h"

enum { INPUTS = 3, CAPACITY = 600 };

static certreg_estimator *e;
static certreg_solver *solver;
static certreg_bisection *bisection;

static void setup(void)
{
    e = kit_begun(kit_model(kit_identity, NULL, INPUTS, 1), kit_plan(CAPACITY),
                  (const float[]){0.5f, -1, 3}, 0.5, 0);
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    kit_open_solver(&solver, &bisection);
}

/* ---- arrays */
typedef struct newer_question {
    certreg_question known;
    double later[2];
} newer_question;
typedef struct newer_certificate {
    certreg_certificate known;
    double later;
} newer_certificate;
typedef struct newer_bounds {
    certreg_bounds known;
    double later[3];
} newer_bounds;

TEST(arrays_are_stepped_by_the_size_of_their_first_element)
{
    newer_question q[3];
    newer_certificate c[4];
    memset(q, 0, sizeof q);
    memset(c, 0xA5, sizeof c);
    q[0].known.struct_size = sizeof q[0]; /* the others carry none */
    c[0].known.struct_size = sizeof c[0];
    for (int i = 0; i < 3; i++) q[i].known.tolerance = 1 + i;
    KIT_OK(e, certreg_certify(e, 0, &q[0].known, 3, &c[0].known));
    for (int i = 0; i < 3; i++) {
        certreg_question alone = kit_question(1 + i);
        certreg_certificate one = kit_ask(e, 0, alone);
        ck_assert_uint_eq(c[i].known.struct_size, sizeof c[i]);
        ck_assert_double_eq(c[i].known.tolerance, 1 + i);
        ck_assert_double_eq(c[i].known.radius, one.radius);
        ck_assert_double_eq(c[i].later, 0);
    }
    for (size_t i = 0; i < sizeof c[3]; i++) ck_assert_uint_eq(((unsigned char *)&c[3])[i], 0xA5);
    q[1].later[1] = 1;
    KIT_STATUS(e, certreg_certify(e, 0, &q[0].known, 3, &c[0].known), CERTREG_E_VERSION);
    ck_assert_int_eq(c[0].known.status, CERTREG_OK);
    ck_assert_int_eq(c[1].known.status, CERTREG_E_VERSION);
    ck_assert_int_eq(c[2].known.status, CERTREG_OK);
    ck_assert_double_eq(c[1].known.radius, 0);
    ck_assert_double_gt(c[2].known.radius, c[0].known.radius);
}

TEST(array_of_certificates_is_written_as_a_whole_on_failure)
{
    newer_certificate c[3];
    memset(c, 0xA5, sizeof c);
    c[0].known.struct_size = sizeof c[0];
    const certreg_question q[2] = {kit_question(1), kit_question(2)};
    KIT_STATUS(e, certreg_certify(e, CAPACITY + 1, q, 2, &c[0].known), CERTREG_E_TOO_MANY);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(c[i].known.struct_size, sizeof c[i]);
        ck_assert_int_eq(c[i].known.status, CERTREG_E_TOO_MANY);
        ck_assert_double_eq(c[i].known.radius, 0);
    }
    for (size_t i = 0; i < sizeof c[2]; i++) ck_assert_uint_eq(((unsigned char *)&c[2])[i], 0xA5);
}

TEST(array_of_bounds_is_stepped_by_the_size_of_its_first_element)
{
    newer_bounds b[2];
    certreg_radius both = {.struct_size = sizeof both}, first = both, second = both;
    certreg_bounds one = {.struct_size = sizeof one,
                          .constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE,
                          .sigma = 1,
                          .mean_lo = 0.5,
                          .mean_hi = 0.6,
                          .variance_hi = 0.2};
    memset(b, 0, sizeof b);
    b[0].known = one;
    ck_assert_int_eq(certreg_bisection_above(bisection, &one, NULL, 1, 0, &first), CERTREG_OK);
    one.mean_lo = 0.25, b[1].known = one;
    ck_assert_int_eq(certreg_bisection_above(bisection, &one, NULL, 1, 0, &second), CERTREG_OK);
    ck_assert_double_lt(second.radius, first.radius);
    b[0].known.struct_size = sizeof b[0];
    b[1].known.struct_size = 0;
    ck_assert_int_eq(certreg_bisection_above(bisection, &b[0].known, NULL, 2, 0, &both),
                     CERTREG_OK);
    ck_assert_double_eq(both.radius, second.radius);
    ck_assert_uint_eq(both.limiting, 1);
    b[1].later[0] = 1;
    ck_assert_int_eq(certreg_bisection_above(bisection, &b[0].known, NULL, 2, 0, &both),
                     CERTREG_E_VERSION);
    ck_assert_double_eq(both.radius, 0);
    KIT_SAYS(certreg_bisection_error(bisection), "bounds[1]");
}

/* The header is read by programs that set every field to zero: defaults are the documented ones. */
TEST(zero_means_the_documented_default)
{
    certreg_question q = kit_question(1), same = kit_question(1);
    same.alpha = 0.05, same.bonferroni = 1;
    certreg_certificate a = kit_certificate(), b = kit_certificate();
    a = kit_ask(e, 0, q);
    b = kit_ask(e, 0, same);
    ck_assert_double_eq(a.alpha, 0.05);
    const certreg_run run = asks_run(e);
    ck_assert_uint_eq(run.batch, 256);
    ck_assert_uint_ge(run.pilot, CAPACITY / 10);
    ck_assert_uint_le(run.pilot, CAPACITY / 5);
    ck_assert_uint_eq(a.samples, CAPACITY);
    ck_assert_mem_eq(&a, &b, sizeof a);
}

FIXTURE(setup, NULL)
KIT_MAIN("arrays")
