/* Structs that grow at the end: sizes, shorter and longer callers, arrays of them, and that outputs
 * are always written and never beyond. What other calls write on failure: api_misuse.c,
 * unit_solver_refusals.c. And the digest of a question, which holds for every version. */
#include "support/api_kit.h"
#include <certreg/worst_function.h>

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
    certreg_worst_function worst;
    unsigned char bytes[sizeof(certreg_certificate) + TAIL]; /* the longest of them */
} grown;

static certreg_estimator *e;
static certreg_solver *solver;
static certreg_bisection *bisection;
static grown model, plan, question, bounds, shift, radius, certificate, found, worst, why;

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

static void fill_outputs(void)
{
    fill_output(&shift, sizeof(certreg_mean_change));
    fill_output(&radius, sizeof(certreg_radius));
    fill_output(&certificate, sizeof(certreg_certificate));
    fill_output(&found, sizeof(certreg_bounds));
    fill_output(&worst, sizeof(certreg_worst_function));
    fill_output(&why, sizeof(certreg_error));
}

static void setup(void)
{
    fill_inputs();
    fill_outputs();
    e = kit_begun(model.model, plan.plan, input, 0.5, 0);
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    kit_open_solver(&solver, &bisection);
}

/* Calls that read the input struct, by number. */
static certreg_status use(int which)
{
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
    case 2:
        return certreg_estimator_bounds(e, &question.question, CERTREG_SIDE_UPPER, &found.bounds);
    case 3: return certreg_certify(e, 0, &question.question, 1, &certificate.certificate);
    case 4: return certreg_solver_worst_case(solver, &bounds.bounds, 0, 0.1, &shift.shift);
    case 5: return certreg_bisection_within(bisection, &bounds.bounds, 0, 1, &radius.radius);
    case 6: return certreg_bisection_above(bisection, &bounds.bounds, NULL, 1, 0, &radius.radius);
    default: return certreg_solver_worst_function(solver, &bounds.bounds, 0, 1, 1, &worst.worst);
    }
}

/* What each of them reads and writes; the size in 0.2.0 where it was another. */
static const struct {
    grown *in, *out;
    size_t in_size, out_size, in_oldest, out_oldest;
} calls[] = {
    {&model, NULL, sizeof(certreg_model), 0, 80, 0},
    {&plan, NULL, sizeof(certreg_plan), 0, 80, 0},
    {&question, &found, sizeof(certreg_question), sizeof(certreg_bounds), 104, 0},
    {&question, &certificate, sizeof(certreg_question), sizeof(certreg_certificate), 104, 160},
    {&bounds, &shift, sizeof(certreg_bounds), sizeof(certreg_mean_change), 0, 0},
    {&bounds, &radius, sizeof(certreg_bounds), sizeof(certreg_radius), 0, 0},
    {&bounds, &radius, sizeof(certreg_bounds), sizeof(certreg_radius), 0, 0},
    {&bounds, &worst, sizeof(certreg_bounds), sizeof(certreg_worst_function), 0, 0},
};

/* And newer callers are served if they set no field that is not known. */
TEST_ROWS(structs_of_a_size_that_no_version_had_are_invalid, calls)
{
    grown *in = calls[_i].in;
    const size_t size = calls[_i].in_size,
                 oldest = calls[_i].in_oldest ? calls[_i].in_oldest : size,
                 bad[] = {0, 4, 8, oldest - 8, size - 1, size + 1, size + 4};
    for (int k = 0; k < KIT_ROWS(bad); k++) {
        in->struct_size = (uint32_t)bad[k];
        ck_assert_msg(use(_i) == CERTREG_E_INVALID, "size %zu of %zu", bad[k], size);
    }
    for (size_t more = 0; more <= TAIL; more += 8) {
        in->struct_size = (uint32_t)(size + more);
        ck_assert_int_eq(use(_i), CERTREG_OK);
        for (size_t k = 0; k <= more && more < TAIL; k++) { /* the last one is not looked at */
            in->bytes[size + k] = 1;
            ck_assert_int_eq(use(_i), k < more ? CERTREG_E_VERSION : CERTREG_OK);
            in->bytes[size + k] = 0;
        }
    }
}

TEST_ROWS(structs_for_output_are_zeroed_to_their_end_not_beyond, calls)
{
    grown *out = calls[_i].out;
    const size_t size = calls[_i].out_size, oldest = calls[_i].out_oldest,
                 bad[] = {0, 4, 8, (oldest ? oldest : size) - 8, size + 4};
    if (!out) return;
    for (size_t more = 0; more <= 32; more += 8) {
        fill_output(out, size + more);
        ck_assert_int_eq(use(_i), CERTREG_OK);
        ck_assert_uint_eq(out->struct_size, size + more);
        for (size_t i = size; i < sizeof *out; i++)
            ck_assert_uint_eq(out->bytes[i], i < size + more ? 0 : 0xA5);
    }
    for (int k = 0; k < KIT_ROWS(bad); k++) { /* of an unknown size: left alone */
        fill_output(out, bad[k]);
        const grown before = *out;
        ck_assert_int_eq(use(_i), CERTREG_E_INVALID);
        ck_assert_mem_eq(&before, out, sizeof before);
    }
}

TEST(structs_of_errors_are_written_to_the_callers_size)
{
    const size_t known = sizeof why.error;
    certreg_estimator *made;
    model.struct_size = 1;
    for (size_t size = 8; size <= sizeof why; size += 8) {
        fill_output(&why, size);
        ck_assert_int_eq(
            certreg_estimator_create(NULL, &model.model, &plan.plan, &why.error, &made),
            CERTREG_E_INVALID);
        ck_assert_int_eq(why.error.status, CERTREG_E_INVALID);
        ck_assert_uint_eq(why.struct_size, size);
        for (size_t i = size < known ? size : known; i < sizeof why; i++)
            ck_assert_uint_eq(why.bytes[i], i < size ? 0 : 0xA5);
    }
}

/* ---- arrays are stepped by the size of their first element; those of bounds: unit_bisection.c */
typedef struct newer_question {
    certreg_question known;
    double later[2];
} newer_question;
typedef struct newer_certificate {
    certreg_certificate known;
    double later;
} newer_certificate;

TEST(structs_in_arrays_are_stepped_by_the_first_size)
{
    newer_question q[3];
    newer_certificate c[4];
    memset(q, 0, sizeof q);
    memset(c, 0xA5, sizeof c);
    q[0].known.struct_size = sizeof q[0]; /* the others carry none */
    c[0].known.struct_size = sizeof c[0];
    for (int i = 0; i < 3; i++) q[i].known.tolerance = 1 + i;
    KIT_STATUS(e, certreg_certify(e, CAPACITY + 1, &q[0].known, 3, &c[0].known),
               CERTREG_E_TOO_MANY);
    for (int i = 0; i < 3; i++) ck_assert_int_eq(c[i].known.status, CERTREG_E_TOO_MANY);
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

/* ---- the digest of a question */
static const uint64_t looks[3] = {200, 300, 400};

static certreg_target target_of(void)
{
    return (certreg_target){
        .struct_size = sizeof(certreg_target), .look_count = 3, .radius = 1.0 / 3, .looks = looks};
}

static certreg_serving serving_of(void)
{
    return (certreg_serving){
        .struct_size = sizeof(certreg_serving), .samples = 101, .failure_rate = 0.01};
}

static uint64_t digest_of(const certreg_question *q)
{
    uint64_t digest = 0;
    ck_assert_int_eq(certreg_question_digest(q, NULL, &digest), CERTREG_OK);
    ck_assert_uint_ne(digest, 0);
    return digest;
}

TEST(question_digest_depends_on_every_field_and_value)
{
    static uint64_t more[4] = {200, 300, 400, 500};
    double given = 0.1, several[] = {0, 0, 0};
    certreg_target target = target_of();
    certreg_serving serving = serving_of();
    certreg_question q = kit_question(0.5);
    uint64_t seen[64];
    int count = 0;
    q.prediction = &given, q.target = &target, q.serving = &serving;
#define CHANGED(change) (change, seen[count++] = digest_of(&q))
    CHANGED(q.output = 0);
    CHANGED(q.output = 1);
    CHANGED(q.tolerance = 0.6);
    CHANGED(q.alpha = 0.1);
    CHANGED(q.statistic = 1);
    CHANGED(q.method = 1);
    CHANGED(q.huber_width = 0.1);
    CHANGED(q.center = 1);
    CHANGED(q.constraints = 9);
    CHANGED(q.bonferroni = 2);
    CHANGED(given = 0.2);
    CHANGED(given = 0);
    CHANGED((q.prediction = several, q.prediction_count = 2));
    CHANGED(several[1] = 1);
    CHANGED(q.prediction_count = 3);
    CHANGED(q.output_count = 2);
    CHANGED(q.output_count = 3);
    CHANGED(q.relative_tolerance = 0.1);
    CHANGED(q.relative_tolerance = 0.2);
    CHANGED((q.prediction = NULL, q.prediction_count = 0));
    CHANGED(target.radius = 0.4);
    CHANGED(target.looks = more + 1);
    CHANGED(more[3] = 501);
    CHANGED(target.look_count = 2);
    CHANGED((target.looks = NULL, target.look_count = 0));
    CHANGED(target.growth = 1.5);
    CHANGED(target.growth = 1.25);
    CHANGED(q.target = NULL);
    CHANGED(serving.samples = 103);
    CHANGED(serving.failure_rate = 0.02);
    CHANGED(serving.trim = 0.1);
    CHANGED(serving.core = 0.1);
    CHANGED(serving.trim = 0);
    CHANGED(q.serving = NULL);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            ck_assert_msg(seen[i] != seen[k], "changes %d and %d have one digest", k, i);
}

TEST(question_digest_of_resolved_defaults_and_copies_is_the_same)
{
    certreg_question q = kit_question(0.5), same = q;
    same.alpha = 0.05, same.bonferroni = 1;
    ck_assert_uint_eq(digest_of(&q), digest_of(&same));
    const double one = 0;
    q.prediction = same.prediction = &one, same.prediction_count = 1;
    ck_assert_uint_eq(digest_of(&q), digest_of(&same));
    certreg_target targets[2] = {target_of(), target_of()};
    targets[1].struct_size = 24; /* as without growth */
    const double given[2] = {0, -0.0};
    q.target = targets, same.target = targets + 1;
    q.prediction = given, same.prediction = given + 1;
    ck_assert_uint_eq(digest_of(&q), digest_of(&same));
    struct {
        certreg_question known;
        double later;
    } newer = {.known = q};
    newer.known.struct_size = sizeof newer;
    ck_assert_uint_eq(digest_of(&q), digest_of(&newer.known));
}

/* Logs outlive versions of the library and machines. */
TEST(question_digest_has_its_pinned_bits)
{
    const certreg_question q = kit_question(0.5);
    ck_assert_uint_eq(digest_of(&q), UINT64_C(0x8856f541ff1c25bb));
}

TEST(question_digest_of_an_unreadable_question_is_refused)
{
    certreg_question q = kit_question(0.5);
    certreg_error refusal = {.struct_size = sizeof refusal};
    uint64_t digest = 7;
    ck_assert_int_eq(certreg_question_digest(NULL, &refusal, &digest), CERTREG_E_INVALID);
    ck_assert_uint_eq(digest, 0);
    KIT_SAYS(&refusal, "question is NULL");
    KIT_UNMADE(&refusal, certreg_question_digest(&q, &refusal, NULL), CERTREG_E_INVALID,
               "digest is NULL");
    q.struct_size = 4;
    KIT_UNMADE(&refusal, certreg_question_digest(&q, &refusal, &digest), CERTREG_E_INVALID,
               "question.struct_size is 4");
}

FIXTURE(setup, NULL)
KIT_MAIN("structs")
