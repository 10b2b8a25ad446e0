/* Structs that grow at the end: sizes, shorter and longer callers, arrays of them, and that outputs
 * are always written and never beyond. */
#include "support/api_kit.h"

enum { TAIL = 64, INPUTS = 3, CAPACITY = 600 };
static const float input[INPUTS] = {0.5f, -1, 3};

/* ---- everything once, with each struct as large as wanted */
typedef union grown { /* a struct of a caller that knows more fields, or fewer */
    uint32_t struct_size;
    certreg_error error;
    certreg_model model;
    certreg_plan plan;
    certreg_question question;
    certreg_bounds bounds;
    certreg_mean_change shift;
    certreg_radius radius;
    certreg_certificate certificate;
    unsigned char bytes[sizeof(certreg_error) + TAIL]; /* the longest of them */
} grown;

static certreg_estimator *e;
static certreg_solver *solver;
static certreg_bisection *bisection;
static grown model, plan, question, bounds, shift, radius, certificate, why;

static void put(grown *g, const void *from, size_t size)
{
    memset(g, 0, sizeof *g);
    memcpy(g->bytes, from, size);
}

static void fill_inputs(void)
{
    const certreg_model m = kit_model(kit_identity, NULL, INPUTS, 1);
    const certreg_plan p = kit_plan(CAPACITY);
    const certreg_question q = kit_question(1);
    const certreg_bounds b =
        BOUNDS(.constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE, .sigma = 1,
               .mean_lo = 0.5, .mean_hi = 0.6, .variance_hi = 1);
    put(&model, &m, sizeof m);
    put(&plan, &p, sizeof p);
    put(&question, &q, sizeof q);
    put(&bounds, &b, sizeof b);
}

static void fill_output(grown *g, size_t size)
{
    memset(g, 0xA5, sizeof *g);
    g->struct_size = (uint32_t)size;
}

static void fill_outputs(size_t more)
{
    fill_output(&shift, sizeof(certreg_mean_change) + more);
    fill_output(&radius, sizeof(certreg_radius) + more);
    fill_output(&certificate, sizeof(certreg_certificate) + more);
    fill_output(&why, sizeof(certreg_error) + more);
}

static void setup(void)
{
    fill_inputs();
    fill_outputs(0);
    e = kit_create(NULL, &model.model, &plan.plan);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.5, 0));
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    kit_open_solver(&solver, &bisection);
}

/* Calls that read the input struct, by number. */
static certreg_status use(int which)
{
    certreg_bounds out = {.struct_size = sizeof out};
    certreg_estimator *made = NULL;
    certreg_status status;
    size_t bytes;
    switch (which) {
    case 0:
    case 1:
        status = certreg_estimator_create(NULL, &model.model, &plan.plan, NULL, &made);
        certreg_estimator_destroy(made);
        ck_assert_int_eq(certreg_estimator_size(NULL, &model.model, &plan.plan, NULL, &bytes, NULL),
                         status);
        return status;
    case 2: return certreg_estimator_bounds(e, &question.question, CERTREG_SIDE_UPPER, &out);
    case 3: return certreg_certify(e, 0, &question.question, 1, &certificate.certificate);
    case 4: return certreg_solver_worst_case(solver, &bounds.bounds, 0, 0.1, &shift.shift);
    case 5: return certreg_bisection_within(bisection, &bounds.bounds, 0, 1, &radius.radius);
    default: return certreg_bisection_above(bisection, &bounds.bounds, NULL, 1, 0, &radius.radius);
    }
}

static grown *input_of(int which)
{
    grown *const inputs[] = {&model, &plan, &question, &question, &bounds, &bounds, &bounds};
    return inputs[which];
}

static const size_t input_size[] = {sizeof(certreg_model),    sizeof(certreg_plan),
                                    sizeof(certreg_question), sizeof(certreg_question),
                                    sizeof(certreg_bounds),   sizeof(certreg_bounds),
                                    sizeof(certreg_bounds)};

TEST_TIMES(structs_of_a_size_that_no_version_had_are_invalid, 7)
{
    const size_t size = input_size[_i], oldest = _i == 1 ? 80 : size;
    const size_t bad[] = {0, 4, 8, oldest - 8, size - 1, size + 1, size + 4};
    ck_assert_int_eq(use(_i), CERTREG_OK);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        input_of(_i)->struct_size = (uint32_t)bad[k];
        ck_assert_msg(use(_i) == CERTREG_E_INVALID, "size %zu of %zu", bad[k], size);
    }
    input_of(_i)->struct_size = (uint32_t)size;
    ck_assert_int_eq(use(_i), CERTREG_OK);
}

TEST_TIMES(structs_of_newer_callers_are_taken_if_nothing_new_is_set, 7)
{
    const size_t size = input_size[_i];
    for (size_t more = 8; more <= TAIL; more += 8) {
        input_of(_i)->struct_size = (uint32_t)(size + more);
        ck_assert_int_eq(use(_i), CERTREG_OK);
        for (size_t k = 0; k < more; k++) {
            input_of(_i)->bytes[size + k] = 1;
            ck_assert_int_eq(use(_i), CERTREG_E_VERSION);
            input_of(_i)->bytes[size + k] = 0;
        }
        input_of(_i)->bytes[size + more] = 1; /* beyond the struct: not looked at */
        if (more < TAIL) ck_assert_int_eq(use(_i), CERTREG_OK);
        input_of(_i)->bytes[size + more] = 0;
    }
}

/* ---- outputs */
static void check_output(const grown *g, size_t known, size_t more)
{
    ck_assert_uint_eq(g->struct_size, known + more);
    for (size_t i = known; i < known + more; i++) ck_assert_uint_eq(g->bytes[i], 0);
    for (size_t i = known + more; i < sizeof *g; i++) ck_assert_uint_eq(g->bytes[i], 0xA5);
}

TEST_TIMES(structs_for_output_are_zeroed_to_their_end_not_beyond, 5)
{
    const size_t more = (size_t)_i * 8;
    fill_outputs(more);
    for (int which = 3; which <= 5; which++) ck_assert_int_eq(use(which), CERTREG_OK);
    check_output(&certificate, sizeof(certreg_certificate), more);
    check_output(&shift, sizeof(certreg_mean_change), more);
    check_output(&radius, sizeof(certreg_radius), more);
    grown found;
    fill_output(&found, sizeof(certreg_bounds) + more);
    KIT_OK(e, certreg_estimator_bounds(e, &question.question, CERTREG_SIDE_UPPER, &found.bounds));
    check_output(&found, sizeof(certreg_bounds), more);
}

TEST(structs_for_output_of_an_unknown_size_are_left_alone)
{
    static const size_t off[] = {0, 4, 8};
    grown before;
    for (size_t k = 0; k < 5; k++) {
        fill_outputs(0);
        grown found;
        fill_output(&found, sizeof(certreg_bounds));
        grown *const out[] = {&certificate, &shift, &radius, &radius, &found};
        for (int which = 0; which < 5; which++) {
            const size_t right = which == 4 ? sizeof(certreg_bounds) : out[which]->struct_size,
                         least = which == 0 ? 160 : right; /* of a certificate of 0.2.0 */
            out[which]->struct_size = (uint32_t)(k < 3 ? off[k] : k == 3 ? least - 8 : right + 4);
            before = *out[which];
            if (which < 4) ck_assert_int_eq(use(which + 3), CERTREG_E_INVALID);
            else
                ck_assert_int_eq(certreg_estimator_bounds(e, &question.question, 1, &found.bounds),
                                 CERTREG_E_INVALID);
            ck_assert_mem_eq(&before, out[which], sizeof before);
            out[which]->struct_size = (uint32_t)right;
        }
    }
}

TEST(structs_of_errors_are_written_to_the_callers_size)
{
    certreg_estimator *made;
    model.struct_size = 1;
    for (size_t size = 8; size <= sizeof why; size += 8) {
        fill_output(&why, size);
        ck_assert_int_eq(
            certreg_estimator_create(NULL, &model.model, &plan.plan, &why.error, &made),
            CERTREG_E_INVALID);
        ck_assert_int_eq(why.error.status, CERTREG_E_INVALID);
        ck_assert_uint_eq(why.struct_size, size);
        for (size_t i = size; i < sizeof why; i++) ck_assert_uint_eq(why.bytes[i], 0xA5);
    }
}

TEST(structs_for_output_are_written_on_failure_too)
{
    certreg_bounds found = {.struct_size = sizeof found, .constraints = 15, .mean_lo = 4};
    const certreg_certificate *c = &certificate.certificate;
    const certreg_mean_change *s = &shift.shift;
    const certreg_radius *r = &radius.radius;
    question.question.tolerance = -1;
    bounds.bounds.sigma = -1;
    ck_assert_int_eq(use(3), CERTREG_E_INVALID);
    ck_assert_int_eq(c->status, CERTREG_E_INVALID);
    ck_assert_int_eq(c->outcome, CERTREG_OUTCOME_ABSTAINED);
    ck_assert_double_eq(c->radius, 0);
    ck_assert_double_eq(c->output_lo, -INFINITY);
    ck_assert_double_eq(c->output_hi, INFINITY);
    ck_assert_double_nan(c->prediction);
    ck_assert_double_nan(c->estimate);
    ck_assert_int_eq(use(4), CERTREG_E_INVALID);
    ck_assert_double_eq(s->drop, INFINITY);
    ck_assert_double_eq(s->rise, INFINITY);
    ck_assert_double_eq(s->mean_least, -INFINITY);
    ck_assert_double_eq(s->mean_greatest, INFINITY);
    for (int which = 5; which <= 6; which++) {
        fill_output(&radius, sizeof(certreg_radius));
        ck_assert_int_eq(use(which), CERTREG_E_INVALID);
        ck_assert_int_eq(r->outcome, CERTREG_OUTCOME_ABSTAINED);
        ck_assert_double_eq(r->radius, 0);
    }
    KIT_STATUS(e, certreg_estimator_bounds(e, &question.question, 1, &found), CERTREG_E_INVALID);
    ck_assert_uint_eq(found.constraints, 0);
    fill_output(&certificate, sizeof(certreg_certificate)); /* where not even sampling succeeds */
    question.question.tolerance = 1;
    KIT_STATUS(e, certreg_certify(e, CAPACITY + 1, &question.question, 1, &certificate.certificate),
               CERTREG_E_TOO_MANY);
    ck_assert_int_eq(c->status, CERTREG_E_TOO_MANY);
    ck_assert_double_eq(c->radius, 0);
}

/* ---- arrays are stepped by the size of their first element */
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

TEST(structs_in_arrays_are_stepped_by_the_first_size)
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

TEST(structs_in_an_array_of_certificates_are_all_written)
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

TEST(structs_in_an_array_of_bounds_are_stepped_by_the_first)
{
    newer_bounds b[2];
    certreg_radius both = {.struct_size = sizeof both}, first = both, second = both;
    certreg_bounds one =
        BOUNDS(.constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE, .sigma = 1,
               .mean_lo = 0.5, .mean_hi = 0.6, .variance_hi = 0.2);
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
TEST(structs_of_zeros_mean_the_documented_defaults)
{
    certreg_question q = kit_question(1), same = kit_question(1);
    same.alpha = 0.05, same.bonferroni = 1;
    certreg_certificate a = kit_certificate(), b = kit_certificate();
    a = kit_ask(e, 0, q);
    b = kit_ask(e, 0, same);
    ck_assert_double_eq(a.alpha, 0.05);
    const certreg_run run = asks_run(e);
    ck_assert_uint_eq(run.batch, 256);
    ck_assert_uint_eq(run.pilot, 88); /* nearly 0.15 * 600^2 / 620 = 87, before 64 blocks of 8 */
    ck_assert_uint_eq(a.samples, CAPACITY);
    ck_assert_mem_eq(&a, &b, sizeof a);
}

FIXTURE(setup, NULL)
KIT_MAIN("structs")
