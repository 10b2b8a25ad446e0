/* Memory of the caller: what *_size asks for is what is used, neither more nor less, and it stays within the documented bound. */
#include "api_kit.h"
#include <stdalign.h>

enum { ALIGNMENT = 64, GUARD = 256, GUARD_BYTE = 0xa5 };

/* ---- a block between two guards ---------------------------------------------------------------------------------------------------- */
typedef struct block {
    unsigned char *whole, *inside;
    size_t size;
} block;

static block take(size_t size)
{
    const size_t whole = (GUARD + size + GUARD + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    block b = {aligned_alloc(ALIGNMENT, whole), NULL, size};
    ck_assert_ptr_nonnull(b.whole);
    memset(b.whole, GUARD_BYTE, whole);
    b.inside = b.whole + GUARD;
    return b;
}

static void give_back(block *b, const char *name)
{
    for (size_t i = 0; i < GUARD; i++) {
        ck_assert_msg(b->whole[i] == GUARD_BYTE, "%s: byte %zu before the block was written", name, GUARD - i);
        ck_assert_msg(b->inside[b->size + i] == GUARD_BYTE, "%s: byte %zu after the block was written", name, i);
    }
    free(b->whole);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------------------------- */
typedef struct shape {
    size_t inputs, outputs, batch, capacity, pilot, blocks;
    uint32_t facts;
} shape;

static const shape shapes[] = {
    {1, 1, 0, 1000, 0, 0, 0},        {784, 1, 0, 600, 0, 0, 0},      {12288, 1, 0, 300, 0, 0, 0},
    {3, 5, 7, 401, 0, 0, 0},         {5, 2, 1, 300, SIZE_MAX, 0, 0}, {16, 1, 64, 256, SIZE_MAX, 0, CERTREG_MEAN},
    {2, 1, 3, 700, 100, 130, 0},     {1, 1, 0, 1, 0, 0, 0},          {33, 3, 100, 201, 1, 64, CERTREG_MEAN | CERTREG_VARIANCE | CERTREG_RANGE},
};

static certreg_model model_of(const shape *s)
{
    certreg_model m = kit_model(kit_identity, NULL, s->inputs, s->outputs);
    m.batch = s->batch;
    return m;
}

static certreg_plan plan_of(const shape *s)
{
    certreg_plan p = kit_plan(s->capacity);
    p.pilot = s->pilot, p.blocks = s->blocks, p.facts = s->facts;
    return p;
}

static size_t size_of(const certreg_model *m, const certreg_plan *p)
{
    size_t bytes = 0;
    ck_assert_int_eq(certreg_estimator_size(NULL, m, p, &bytes), CERTREG_OK);
    ck_assert_uint_gt(bytes, 0);
    return bytes;
}

/* A median and, where the plan allows it, everything that needs the noise again. */
static size_t ask(const shape *s, certreg_question q[4])
{
    const int gradient = !s->facts || s->facts & CERTREG_GRADIENT, fits = s->capacity >= 256;
    size_t count = 0;
    q[count++] = (certreg_question){.tolerance = 0.5};
    if (gradient && fits) {
        q[count++] = (certreg_question){.tolerance = 0.5, .interval = CERTREG_INTERVAL_ASYMPTOTIC};
        q[count++] = (certreg_question){.tolerance = 0.5, .score = CERTREG_SCORE_MEAN, .interval = CERTREG_INTERVAL_ASYMPTOTIC,
                                        .promise = CERTREG_PROMISE_TRUE_MEAN};
        q[count++] = (certreg_question){.tolerance = 0.5, .score = CERTREG_SCORE_MEAN, .interval = CERTREG_INTERVAL_PAPER,
                                        .promise = CERTREG_PROMISE_TRUE_MEAN};
    }
    for (size_t k = 0; k < count; k++) q[k].prediction_given = 1, q[k].output = (int32_t)(s->outputs - 1);
    q->struct_size = sizeof *q;
    return count;
}

static void use(certreg_estimator *e, certreg_bisection *b, const shape *s, certreg_certificate c[4])
{
    certreg_question q[4];
    float *z = calloc(s->inputs, sizeof *z);
    const size_t count = ask(s, q), samples = s->capacity;
    size_t bytes = 0;
    memset(c, 0, 4 * sizeof *c);
    c->struct_size = sizeof *c;
    KIT_OK(e, certreg_estimator_begin(e, z, 0.25, 5));
    const certreg_status status = certreg_certify(e, b, samples, q, count, c);
    ck_assert_msg(status == CERTREG_OK, "%s", certreg_estimator_error(e)->text);
    certreg_estimator_export(e, NULL, &bytes);
    void *record = malloc(bytes);
    KIT_OK(e, certreg_estimator_export(e, record, &bytes));
    KIT_OK(e, certreg_estimator_import(e, record, bytes));
    free(record);
    free(z);
}

/* ---- tests -------------------------------------------------------------------------------------------------------------------------- */
START_TEST(size_agrees_with_use)
{
    const shape *s = shapes + _i;
    const certreg_model m = model_of(s);
    certreg_plan p = plan_of(s);
    certreg_certificate own[4], given[4];
    block em = take(size_of(&m, &p)), sm = take(certreg_solver_size()), bm = take(certreg_bisection_size());
    certreg_solver *solver = NULL;
    certreg_bisection *bisection = NULL;
    ck_assert_int_eq(certreg_solver_create(sm.inside, sm.size, &solver), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(solver, bm.inside, bm.size, &bisection), CERTREG_OK);

    certreg_estimator *e = kit_create(NULL, &m, &p);
    use(e, NULL, s, own);
    certreg_estimator_destroy(e);
    p.memory = em.inside, p.memory_bytes = em.size;
    e = kit_create(NULL, &m, &p);
    use(e, bisection, s, given);
    use(e, bisection, s, given);
    certreg_estimator_destroy(e);
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
    for (int k = 0; k < 4; k++) ck_assert_msg(own[k].radius == given[k].radius, "question %d: %.17g and %.17g", k, own[k].radius, given[k].radius);
    give_back(&em, "estimator");
    give_back(&sm, "solver");
    give_back(&bm, "bisection");
}
END_TEST

START_TEST(default_settings_keep_to_the_documented_bound)
{
    static const size_t inputs[] = {1, 784, 12288};
    static const size_t capacities[] = {256, 10000};
    const size_t d = inputs[_i], batch = 256;
    for (int k = 0; k < KIT_ROWS(capacities); k++) {
        const certreg_model m = kit_model(kit_identity, NULL, d, 1);
        const certreg_plan p = kit_plan(capacities[k]);
        const size_t bound = (2 * batch + 130) * d * 4 + 64 * 1024 + 4 * capacities[k], size = size_of(&m, &p);
        ck_assert_msg(size <= bound, "%zu inputs, %zu samples: %zu bytes, promised are %zu", d, capacities[k], size, bound);
    }
}
END_TEST

START_TEST(dropping_the_gradient_drops_its_memory)
{
    const certreg_model m = kit_model(kit_identity, NULL, 12288, 1);
    certreg_plan p = kit_plan(256);
    const size_t with = size_of(&m, &p);
    p.facts = CERTREG_MEAN;
    const size_t without = size_of(&m, &p);
    ck_assert_uint_le(without + 2 * 64 * 12288 * sizeof(double), with);
}
END_TEST

START_TEST(solver_and_bisection_are_small)
{
    ck_assert_uint_gt(certreg_solver_size(), 0);
    ck_assert_uint_le(certreg_solver_size(), 64 * 1024);
    ck_assert_uint_gt(certreg_bisection_size(), 0);
    ck_assert_uint_le(certreg_bisection_size(), 16 * 1024);
}
END_TEST

START_TEST(one_byte_too_few_is_small_memory_and_writes_nothing)
{
    const certreg_model m = kit_model(kit_identity, NULL, 10, 1);
    certreg_plan p = kit_plan(300);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    certreg_solver *s = NULL, *lender = NULL;
    certreg_bisection *b = NULL;
    const size_t need = size_of(&m, &p);
    block em = take(need), sm = take(certreg_solver_size()), bm = take(certreg_bisection_size());
    p.memory = em.inside, p.memory_bytes = need - 1;
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_SMALL_MEMORY);
    ck_assert_ptr_null(e);
    ck_assert_msg(strstr(why.text, "plan.memory"), "%s", why.text);
    ck_assert_int_eq(certreg_solver_create(sm.inside, sm.size - 1, &s), CERTREG_SMALL_MEMORY);
    ck_assert_ptr_null(s);
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &lender), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(lender, bm.inside, bm.size - 1, &b), CERTREG_SMALL_MEMORY);
    ck_assert_ptr_null(b);
    certreg_solver_destroy(lender);
    for (size_t i = 0; i < need; i++) ck_assert_uint_eq(em.inside[i], GUARD_BYTE);
    for (size_t i = 0; i < sm.size; i++) ck_assert_uint_eq(sm.inside[i], GUARD_BYTE);
    for (size_t i = 0; i < bm.size; i++) ck_assert_uint_eq(bm.inside[i], GUARD_BYTE);
    give_back(&em, "estimator");
    give_back(&sm, "solver");
    give_back(&bm, "bisection");
}
END_TEST

START_TEST(memory_that_is_not_aligned_is_refused)
{
    static alignas(64) unsigned char memory[256 * 1024];
    const certreg_model m = kit_model(kit_identity, NULL, 10, 1);
    certreg_plan p = kit_plan(300);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    certreg_solver *s = NULL, *lender = NULL;
    certreg_bisection *b = NULL;
    const size_t shift = (size_t)1 << _i; /* 1, 2, ... 32 */
    p.memory = memory + shift, p.memory_bytes = sizeof memory - shift;
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_INVALID);
    ck_assert_ptr_null(e);
    ck_assert_msg(strstr(why.text, "plan.memory"), "%s", why.text);
    ck_assert_int_eq(certreg_solver_create(memory + shift, sizeof memory - shift, &s), CERTREG_INVALID);
    ck_assert_ptr_null(s);
    ck_assert_int_eq(certreg_solver_create(NULL, 0, &lender), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(lender, memory + shift, sizeof memory - shift, &b), CERTREG_INVALID);
    ck_assert_ptr_null(b);
    certreg_solver_destroy(lender);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory of the caller");
    TCase *typical = kit_case(suite, "typical", 60), *limits = kit_case(suite, "limits", 30), *bad_input = kit_case(suite, "bad_input", 30);
    tcase_add_loop_test(typical, size_agrees_with_use, 0, KIT_ROWS(shapes));
    tcase_add_loop_test(limits, default_settings_keep_to_the_documented_bound, 0, 3);
    tcase_add_test(limits, dropping_the_gradient_drops_its_memory);
    tcase_add_test(limits, solver_and_bisection_are_small);
    tcase_add_test(bad_input, one_byte_too_few_is_small_memory_and_writes_nothing);
    tcase_add_loop_test(bad_input, memory_that_is_not_aligned_is_refused, 0, 6);
    return kit_run(suite);
}
