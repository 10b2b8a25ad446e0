/* Caller's memory: how much is asked for, and that no byte beyond it is touched. */
#include "support/api_kit.h"

enum { GUARD = 256, PATTERN = 0x5C };

/* Memory of exactly `bytes`, 64-byte aligned, with guards on both sides. */
typedef struct guarded {
    unsigned char *block, *at;
    size_t bytes;
} guarded;

static guarded take(size_t bytes)
{
    guarded g = {malloc(bytes + 2 * GUARD + 64), NULL, bytes};
    ck_assert_ptr_nonnull(g.block);
    memset(g.block, PATTERN, bytes + 2 * GUARD + 64);
    g.at = g.block + GUARD;
    g.at += (64 - (uintptr_t)g.at % 64) % 64;
    return g;
}

static int untouched(const unsigned char *from, const unsigned char *end)
{
    while (from < end && *from == PATTERN) from++;
    return from == end;
}

static void release(const guarded *g)
{
    ck_assert_msg(untouched(g->block, g->at), "written before the memory");
    ck_assert_msg(untouched(g->at + g->bytes, g->block + g->bytes + 2 * GUARD + 64),
                  "written behind the memory");
    free(g->block);
}

static int sums(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++)
            b->y[i * b->columns + k] =
                b->x[i * b->inputs] + 0.5f * b->x[(i + 1) * b->inputs - 1] + (float)(k + 1);
    return 0;
}

/* ---- shapes */
static const int32_t pairs[3] = {CERTREG_OUTPUT_ANGLE_PAIR, CERTREG_OUTPUT_REAL,
                                 CERTREG_OUTPUT_ANGLE_PAIR};
static const struct {
    size_t inputs, outputs, batch, max_samples, pilot, blocks;
    uint32_t constraints;
    const int32_t *kind;
} shapes[] = {
    {1, 1, 1, 2, 0, 0, 15, NULL},          {1, 1, 0, 500, 0, 0, 15, NULL},
    {3, 1, 7, 500, 0, 64, 15, NULL},       {17, 3, 16, 999, 0, 65, 15, pairs},
    {100, 2, 33, 700, 0, 100, 15, NULL},   {5, 1, 0, 300, 1, 0, 1, NULL},
    {784, 1, 64, 600, 0, 0, 3, NULL},      {1000, 3, 10, 400, 0, 64, 15, pairs},
    {5, 2, 1, 300, SIZE_MAX, 0, 15, NULL}, {1, 1, 0, 1, SIZE_MAX, 0, 1, NULL},
    {2, 1, 3, 700, 100, 130, 15, NULL},    {12288, 1, 0, 300, 0, 0, 15, NULL},
    {12288, 1, 0, 300, 0, 0, 0, NULL},
};

static certreg_model model_of(int k)
{
    certreg_model m = kit_model(sums, NULL, shapes[k].inputs, shapes[k].outputs);
    m.batch = shapes[k].batch, m.kind = shapes[k].kind;
    return m;
}

static certreg_plan plan_of(int k)
{
    certreg_plan p = kit_plan(shapes[k].max_samples);
    p.pilot = shapes[k].pilot, p.blocks = shapes[k].blocks, p.constraints = shapes[k].constraints;
    return p;
}

static void use_everything(certreg_estimator *e, int k)
{
    static float z[12288];
    const size_t max_samples = shapes[k].max_samples;
    certreg_question q[4] = {kit_question(1), kit_question(1), kit_question(1), kit_question(1)};
    q[1].statistic = CERTREG_STATISTIC_HUBER, q[1].huber_width = 0.5,
    q[1].method = CERTREG_METHOD_ASYMPTOTIC;
    q[2].statistic = CERTREG_STATISTIC_MEAN, q[2].center = CERTREG_CENTER_TRUE_MEAN,
    q[2].method = CERTREG_METHOD_PAPER;
    q[3].constraints = CERTREG_CONSTRAINTS_ECGM;
    /* as far as max_samples and constraints allow */
    const size_t count =
        max_samples < 100 || shapes[k].constraints != 15 || shapes[k].inputs == 1000 ? 1 : 4;
    for (int i = 0; i < 4; i++)
        q[i].prediction = shapes[k].pilot == SIZE_MAX ? asks_prediction(0) : NULL;
    certreg_certificate c[4];
    memset(c, 0, sizeof c);
    c[0].struct_size = sizeof c[0];
    float *x = malloc(max_samples * shapes[k].inputs * sizeof *x);
    size_t bytes = 0;
    KIT_OK(e, certreg_estimator_begin(e, z, 1, 1));
    KIT_OK(e, certreg_certify(e, max_samples, q, count, c));
    KIT_OK(e, certreg_estimator_draw(e, 0, max_samples, x));
    KIT_OK(e, certreg_estimator_export(e, NULL, &bytes));
    unsigned char *record = malloc(bytes);
    KIT_OK(e, certreg_estimator_export(e, record, &bytes));
    KIT_OK(e, certreg_estimator_begin(e, z, 1, 1));
    KIT_OK(e, certreg_estimator_import(e, record, bytes));
    free(record);
    free(x);
}

TEST_ROWS(estimator_touches_the_bytes_that_it_asked_for_and_no_others, shapes)
{
    const certreg_model m = model_of(_i);
    certreg_plan p = plan_of(_i);
    size_t bytes = 0;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, &bytes, NULL), CERTREG_OK);
    guarded g = take(bytes);
    p.memory = g.at, p.memory_bytes = bytes;
    size_t with_memory = 0;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, &with_memory, NULL), CERTREG_OK);
    ck_assert_uint_eq(bytes, with_memory);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    ck_assert(((unsigned char *)e >= g.at && (unsigned char *)e < g.at + bytes));
    use_everything(e, _i);
    kit_close_all();
    e = kit_create(NULL, &m, &p); /* the memory stays the caller's and serves again */
    use_everything(e, _i);
    kit_close_all();
    release(&g);
}

TEST(estimator_gives_the_same_bits_in_anybodys_memory)
{
    const certreg_model m = model_of(1);
    certreg_plan p = plan_of(1);
    certreg_question q = kit_question(1);
    certreg_certificate c[2] = {kit_certificate(), kit_certificate()};
    const float z = 0.5f;
    size_t bytes = 0;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, &bytes, NULL), CERTREG_OK);
    guarded g = take(bytes);
    for (int i = 0; i < 2; i++) {
        p.memory = i ? g.at : NULL, p.memory_bytes = bytes;
        certreg_estimator *e = kit_create(NULL, &m, &p);
        KIT_OK(e, certreg_estimator_begin(e, &z, 1, 1));
        c[i] = kit_ask(e, 500, q);
        kit_close_all();
    }
    ck_assert_mem_eq(&c[0], &c[1], sizeof c[0]);
    release(&g);
}

TEST_ROWS(memory_that_is_small_or_askew_is_refused_untouched, shapes)
{
    const certreg_model m = model_of(_i);
    certreg_plan p = plan_of(_i);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    size_t bytes = 0;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, &bytes, NULL), CERTREG_OK);
    guarded g = take(bytes);
    const size_t small[] = {0, 1, 64, bytes / 2, bytes - 1};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        p.memory = g.at, p.memory_bytes = small[i];
        ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_SMALL_MEMORY);
        ck_assert_ptr_null(e);
        KIT_SAYS(&why, "plan.memory");
    }
    for (size_t off = 1; off < 64; off++) {
        p.memory = g.at + off, p.memory_bytes = bytes + 64;
        ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
        KIT_SAYS(&why, "plan.memory");
    }
    ck_assert(untouched(g.at, g.at + bytes));
    release(&g);
}

/* ---- the promise of the header */
static const struct {
    size_t inputs, max_samples, outputs;
} promised[] = {{1, 1000, 1},     {1, 100000, 1},     {784, 1000, 1}, {784, 100000, 1},
                {12288, 1000, 1}, {12288, 100000, 1}, {784, 1000, 10}};

TEST_ROWS(memory_stays_within_what_the_header_promises, promised)
{
    const size_t d = promised[_i].inputs,
                 recorded = promised[_i].max_samples * promised[_i].outputs;
    const certreg_model m = kit_model(sums, NULL, d, promised[_i].outputs);
    const certreg_plan p = kit_plan(promised[_i].max_samples);
    size_t bytes = 0;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, &bytes, NULL), CERTREG_OK);
    const size_t most =
        (2 * 256 + 130) * d * 4 + 131072 + 4 * recorded + 24 * promised[_i].max_samples;
    ck_assert_msg(bytes <= most, "%zu bytes, promised are %zu", bytes, most);
    ck_assert_uint_ge(bytes, 4 * recorded);
}

TEST(memory_without_the_gradient_does_without_block_sums)
{
    certreg_model m = kit_model(sums, NULL, 12288, 1);
    m.batch = 1;
    certreg_plan p = kit_plan(1000);
    size_t with, without;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, &with, NULL), CERTREG_OK);
    p.constraints = CERTREG_CONSTRAINT_MEAN;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, &without, NULL), CERTREG_OK);
    ck_assert_uint_le(without, 8 * 12288 * 4 + 131072 + 4 * 1000);
    ck_assert_uint_ge(with, without + 2 * 64 * 12288 * 8);
}

/* ---- solver and bisection */
TEST(solver_and_bisection_are_small)
{
    ck_assert_uint_gt(certreg_solver_size(), 0);
    ck_assert_uint_le(certreg_solver_size(), 65536);
    ck_assert_uint_gt(certreg_bisection_size(), 0);
    ck_assert_uint_le(certreg_bisection_size(), 16384);
}

TEST(solver_and_bisection_live_in_callers_memory)
{
    const size_t solver_bytes = certreg_solver_size(), bisection_bytes = certreg_bisection_size();
    guarded a = take(solver_bytes), b = take(bisection_bytes);
    certreg_solver *solver, *own;
    certreg_bisection *bisection, *own_bisection;
    ck_assert_int_eq(
        certreg_solver_create(&(certreg_solver_plan){.struct_size = sizeof(certreg_solver_plan),
                                                     .memory = a.at,
                                                     .memory_bytes = solver_bytes},
                              NULL, &solver),
        CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(
                         &(certreg_bisection_plan){.struct_size = sizeof(certreg_bisection_plan),
                                                   .memory = b.at,
                                                   .memory_bytes = bisection_bytes},
                         NULL, &bisection),
                     CERTREG_OK);
    ck_assert_ptr_eq(solver, (certreg_solver *)(void *)a.at);
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, &own), CERTREG_OK);
    /* bytes are ignored then */
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, &own_bisection), CERTREG_OK);
    const certreg_bounds box = {.struct_size = sizeof box,
                                .constraints = CERTREG_CONSTRAINTS_ECGM,
                                .sigma = 0.5,
                                .mean_lo = 0.4,
                                .mean_hi = 0.5,
                                .variance_hi = 0.2,
                                .gradient_lo = 0,
                                .gradient_hi = 0.3,
                                .range_lo = -1,
                                .range_hi = 1};
    certreg_mean_change shift = {.struct_size = sizeof shift}, other_shift = shift;
    certreg_radius radius = {.struct_size = sizeof radius}, other_radius = radius;
    ck_assert_int_eq(certreg_solver_worst_case(solver, &box, 0, 0.2, &shift), CERTREG_OK);
    ck_assert_int_eq(certreg_solver_worst_case(own, &box, 0, 0.2, &other_shift), CERTREG_OK);
    ck_assert_mem_eq(&shift, &other_shift, sizeof shift);
    ck_assert_int_eq(certreg_bisection_above(bisection, &box, NULL, 1, 0, &radius), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_above(own_bisection, &box, NULL, 1, 0, &other_radius),
                     CERTREG_OK);
    ck_assert_mem_eq(&radius, &other_radius, sizeof radius);
    ck_assert_double_gt(radius.radius, 0);
    kit_close_solver(solver, bisection);
    kit_close_solver(own, own_bisection);
    release(&a);
    release(&b);
}

TEST(estimator_and_bisection_share_one_block_of_the_caller)
{
    const certreg_model m = model_of(3);
    certreg_plan p = plan_of(3);
    size_t bytes = 0;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, &bytes, NULL), CERTREG_OK);
    const size_t second = (bytes + 63) / 64 * 64,
                 third = second + (certreg_solver_size() + 63) / 64 * 64;
    guarded g = take(third + certreg_bisection_size());
    certreg_solver *solver;
    certreg_bisection *bisection;
    p.memory = g.at, p.memory_bytes = bytes;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    ck_assert_int_eq(
        certreg_solver_create(&(certreg_solver_plan){.struct_size = sizeof(certreg_solver_plan),
                                                     .memory = g.at + second,
                                                     .memory_bytes = certreg_solver_size()},
                              NULL, &solver),
        CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_create(
                         &(certreg_bisection_plan){.struct_size = sizeof(certreg_bisection_plan),
                                                   .memory = g.at + third,
                                                   .memory_bytes = certreg_bisection_size()},
                         NULL, &bisection),
                     CERTREG_OK);
    use_everything(e, 3);
    kit_close_solver(solver, bisection);
    kit_close_all();
    release(&g);
}

TEST(solver_and_bisection_refuse_memory_that_is_small_or_askew)
{
    const size_t solver_bytes = certreg_solver_size(), bisection_bytes = certreg_bisection_size();
    guarded a = take(solver_bytes + 64), b = take(bisection_bytes + 64);
    certreg_solver *solver = NULL, *own;
    certreg_bisection *bisection = NULL;
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, &own), CERTREG_OK);
    ck_assert_int_eq(
        certreg_solver_create(&(certreg_solver_plan){.struct_size = sizeof(certreg_solver_plan),
                                                     .memory = a.at,
                                                     .memory_bytes = solver_bytes - 1},
                              NULL, &solver),
        CERTREG_E_SMALL_MEMORY);
    ck_assert_ptr_null(solver);
    ck_assert_int_eq(certreg_bisection_create(
                         &(certreg_bisection_plan){.struct_size = sizeof(certreg_bisection_plan),
                                                   .memory = b.at,
                                                   .memory_bytes = bisection_bytes - 1},
                         NULL, &bisection),
                     CERTREG_E_SMALL_MEMORY);
    ck_assert_ptr_null(bisection);
    for (size_t off = 1; off < 64; off++) {
        ck_assert_int_eq(
            certreg_solver_create(&(certreg_solver_plan){.struct_size = sizeof(certreg_solver_plan),
                                                         .memory = a.at + off,
                                                         .memory_bytes = solver_bytes + 1},
                                  NULL, &solver),
            CERTREG_E_INVALID);
        ck_assert_int_eq(
            certreg_bisection_create(
                &(certreg_bisection_plan){.struct_size = sizeof(certreg_bisection_plan),
                                          .memory = b.at + off,
                                          .memory_bytes = bisection_bytes + 1},
                NULL, &bisection),
            CERTREG_E_INVALID);
        ck_assert_ptr_null(solver);
        ck_assert_ptr_null(bisection);
    }
    ck_assert(untouched(a.at, a.at + solver_bytes));
    ck_assert(untouched(b.at, b.at + bisection_bytes));
    certreg_solver_destroy(own);
    release(&a);
    release(&b);
}

KIT_MAIN("memory")
