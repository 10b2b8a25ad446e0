/* Caller's memory: how much is asked for, that no byte beyond it is touched, and that nothing is
 * allocated beside it, by every kind of handle. */
#include "support/attack_kit.h"
#include "support/counting_malloc.h"

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

/* ---- handles: estimators of many shapes, and one of each other kind */
static const int32_t pairs[3] = {CERTREG_OUTPUT_ANGLE_PAIR, CERTREG_OUTPUT_REAL,
                                 CERTREG_OUTPUT_ANGLE_PAIR};
enum { ECGM = CERTREG_CONSTRAINTS_ECGM };
static const struct {
    size_t inputs, outputs, batch, max_samples, pilot, blocks;
    uint32_t constraints;
    const int32_t *kind;
} shapes[] = {
    /* inputs, outputs, batch, max_samples, pilot, blocks, constraints, kind */
    {1, 1, 1, 2, 0, 0, ECGM, NULL},          {1, 1, 0, 500, 0, 0, ECGM, NULL},
    {3, 1, 7, 500, 0, 64, ECGM, NULL},       {17, 3, 16, 999, 0, 65, ECGM, pairs},
    {100, 2, 33, 700, 0, 100, ECGM, NULL},   {5, 1, 0, 300, 1, 0, 1, NULL},
    {784, 1, 64, 600, 0, 0, 3, NULL},        {1000, 3, 10, 400, 0, 64, ECGM, pairs},
    {5, 2, 1, 300, SIZE_MAX, 0, ECGM, NULL}, {1, 1, 0, 1, SIZE_MAX, 0, 1, NULL},
    {2, 1, 3, 700, 100, 130, ECGM, NULL},    {12288, 1, 0, 300, 0, 0, ECGM, NULL},
    {12288, 1, 0, 300, 0, 0, 0, NULL},
};
enum { SHAPES = KIT_ROWS(shapes), SOLVER = SHAPES, BISECTION, ATTACK, KINDS };
enum { CALLS = 400 };
static const float origin[12288];

typedef struct answer { /* what a handle computes, to be compared */
    certreg_certificate c[4];
    certreg_mean_change change;
    certreg_radius radius;
    certreg_attack_result broken;
} answer;

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
    p.audit = (uint32_t)k % 3;
    return p;
}

/* An estimator to attack, with a record. */
static certreg_estimator *attacked(void)
{
    certreg_estimator *e =
        kit_begun(kit_model(kit_identity, NULL, 6, 1), kit_plan(500), origin, 0.5, 5);
    KIT_OK(e, certreg_estimator_sample(e, 0, 500));
    return e;
}

static certreg_status make(int k, certreg_estimator *of, void *memory, size_t bytes, void **out)
{
    const certreg_solver_plan s = {
        .struct_size = sizeof s, .memory = memory, .memory_bytes = bytes};
    const certreg_bisection_plan b = {
        .struct_size = sizeof b, .memory = memory, .memory_bytes = bytes};
    const certreg_attack_plan a = {
        .struct_size = sizeof a, .max_calls = CALLS, .memory = memory, .memory_bytes = bytes};
    certreg_error why = {.struct_size = sizeof why};
    certreg_status status;
    watch(0);
    if (k == SOLVER) status = certreg_solver_create(&s, &why, (certreg_solver **)out);
    else if (k == BISECTION) status = certreg_bisection_create(&b, &why, (certreg_bisection **)out);
    else if (k == ATTACK) status = certreg_attack_create(of, &a, &why, (certreg_attack **)out);
    else {
        const certreg_model m = model_of(k);
        certreg_plan p = plan_of(k);
        p.memory = memory, p.memory_bytes = bytes;
        status = certreg_estimator_create(NULL, &m, &p, &why, (certreg_estimator **)out);
    }
    unwatch();
    if (memory) ck_assert(taken == 0 && live == 0);
    if (status) ck_assert_ptr_nonnull(strstr(why.text, "plan.memory"));
    ck_assert_int_eq(status == CERTREG_OK, *out != NULL);
    return status;
}

static void destroy(int k, void *handle, int own)
{
    watch(0);
    if (k == SOLVER) certreg_solver_destroy(handle);
    else if (k == BISECTION) certreg_bisection_destroy(handle);
    else if (k == ATTACK) certreg_attack_destroy(handle);
    else certreg_estimator_destroy(handle);
    unwatch();
    if (!own) ck_assert(taken == 0 && live == 0);
}

/* In whose memory makes no difference. */
static size_t bytes_of(int k, certreg_estimator *of)
{
    const certreg_attack_plan a = {.struct_size = sizeof a, .max_calls = CALLS};
    static _Alignas(64) unsigned char memory[64];
    size_t bytes = 0, device = 7, with_memory = 0;
    if (k == SOLVER) return certreg_solver_size();
    if (k == BISECTION) return certreg_bisection_size();
    if (k == ATTACK) {
        ck_assert_int_eq(certreg_attack_size(of, &a, &bytes, &device), CERTREG_OK);
        ck_assert_uint_eq(device, 0);
        return bytes;
    }
    const certreg_model m = model_of(k);
    certreg_plan p = plan_of(k);
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, NULL, &bytes, NULL), CERTREG_OK);
    p.memory = memory, p.memory_bytes = sizeof memory;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, NULL, &with_memory, NULL), CERTREG_OK);
    ck_assert_uint_eq(bytes, with_memory);
    return bytes;
}

/* ---- everything that they do */
static void use_estimator(certreg_estimator *e, int k, answer *a)
{
    const size_t max_samples = shapes[k].max_samples;
    certreg_question q[4] = {kit_question(1),
                             QUESTION(.tolerance = 1, .statistic = CERTREG_STATISTIC_HUBER,
                                      .huber_width = 0.5, .method = CERTREG_METHOD_ASYMPTOTIC),
                             QUESTION(.tolerance = 1, .statistic = CERTREG_STATISTIC_MEAN,
                                      .method = CERTREG_METHOD_PAPER,
                                      .center = CERTREG_CENTER_TRUE_MEAN),
                             QUESTION(.tolerance = 1, .constraints = CERTREG_CONSTRAINTS_ECGM)};
    /* as far as max_samples and constraints allow */
    const size_t count =
        max_samples < 100 || shapes[k].constraints != 15 || shapes[k].inputs == 1000 ? 1 : 4;
    for (int i = 0; i < 4; i++)
        q[i].prediction = shapes[k].pilot == SIZE_MAX ? asks_prediction(0) : NULL;
    a->c[0] = kit_certificate();
    float *x = malloc(max_samples * shapes[k].inputs * sizeof *x);
    size_t bytes = 0;
    KIT_OK(e, certreg_estimator_begin(e, origin, 1, 1));
    KIT_OK(e, certreg_certify(e, max_samples, q, count, a->c));
    KIT_OK(e, certreg_estimator_draw(e, 0, max_samples, x));
    KIT_OK(e, certreg_estimator_export(e, NULL, &bytes));
    unsigned char *record = malloc(bytes);
    KIT_OK(e, certreg_estimator_export(e, record, &bytes));
    KIT_OK(e, certreg_estimator_begin(e, origin, 1, 1));
    KIT_OK(e, certreg_estimator_import(e, record, bytes));
    free(record);
    free(x);
}

static answer use(int k, void *handle)
{
    const certreg_bounds box = BOUNDS(.constraints = CERTREG_CONSTRAINTS_ECGM, .sigma = 0.5,
                                      .mean_lo = 0.4, .mean_hi = 0.5, .variance_hi = 0.2,
                                      .gradient_lo = 0, .gradient_hi = 0.3, .range_lo = -1,
                                      .range_hi = 1);
    const certreg_question q = kit_question(1);
    const certreg_attack_options o = attack_options(CALLS);
    answer a = {.change = {.struct_size = sizeof a.change},
                .radius = {.struct_size = sizeof a.radius},
                .broken = attack_result()};
    certreg_status status = CERTREG_OK;
    if (k == SOLVER) status = certreg_solver_worst_case(handle, &box, 0, 0.2, &a.change);
    else if (k == BISECTION) status = certreg_bisection_above(handle, &box, NULL, 1, 0, &a.radius);
    else if (k == ATTACK) status = certreg_attack_run(handle, &q, &o, NULL, &a.broken);
    else use_estimator(handle, k, &a);
    ck_assert_int_eq(status, CERTREG_OK);
    return a;
}

/* ---- memory of the caller */
TEST_TIMES(memory_of_a_handle_is_all_that_it_touches, KINDS)
{
    certreg_estimator *const of = _i == ATTACK ? attacked() : NULL;
    guarded g = take(bytes_of(_i, of));
    void *own = NULL, *in_memory = NULL;
    ck_assert_int_eq(make(_i, of, NULL, 7, &own), CERTREG_OK); /* bytes are ignored then */
    const answer expected = use(_i, own);
    for (int again = 0; again < 2; again++) { /* the memory stays the caller's and serves again */
        ck_assert_int_eq(make(_i, of, g.at, g.bytes, &in_memory), CERTREG_OK);
        ck_assert((unsigned char *)in_memory >= g.at &&
                  (unsigned char *)in_memory < g.at + g.bytes);
        const answer a = use(_i, in_memory);
        ck_assert_mem_eq(&a, &expected, sizeof a);
        destroy(_i, in_memory, 0);
    }
    destroy(_i, own, 1);
    release(&g);
}

TEST_TIMES(memory_that_is_small_or_askew_is_refused_untouched, KINDS)
{
    certreg_estimator *const of = _i == ATTACK ? attacked() : NULL;
    const size_t bytes = bytes_of(_i, of), small[] = {0, 1, 64, bytes / 2, bytes - 1};
    guarded g = take(bytes + 64);
    void *handle = NULL;
    for (int i = 0; i < KIT_ROWS(small); i++)
        ck_assert_int_eq(make(_i, of, g.at, small[i], &handle), CERTREG_E_SMALL_MEMORY);
    for (size_t off = 1; off < 64; off++)
        ck_assert_int_eq(make(_i, of, g.at + off, bytes + 64, &handle), CERTREG_E_INVALID);
    ck_assert(untouched(g.at, g.at + g.bytes));
    release(&g);
}

TEST(memory_of_one_block_serves_three_handles)
{
    static const int kinds[] = {3, SOLVER, BISECTION};
    size_t at[4] = {0};
    void *handle[3];
    for (int i = 0; i < 3; i++) at[i + 1] = at[i] + (bytes_of(kinds[i], NULL) + 63) / 64 * 64;
    guarded g = take(at[3]);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(make(kinds[i], NULL, g.at + at[i], at[i + 1] - at[i], &handle[i]),
                         CERTREG_OK);
    for (int i = 0; i < 3; i++) use(kinds[i], handle[i]);
    for (int i = 3; i-- > 0;) destroy(kinds[i], handle[i], 0);
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
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, NULL, &bytes, NULL), CERTREG_OK);
    const size_t most = (256 + 9) * d * 4 + (2 << 20) + 4 * recorded +
                        160 * promised[_i].max_samples + 4 * 256 * promised[_i].outputs;
    ck_assert_msg(bytes <= most, "%zu bytes, promised are %zu", bytes, most);
    ck_assert_uint_ge(bytes, 4 * recorded);
}

static size_t size_with(size_t inputs, size_t batch, uint32_t constraints)
{
    certreg_model m = kit_model(sums, NULL, inputs, 1);
    certreg_plan p = kit_plan(1000);
    size_t bytes = 0;
    m.batch = batch, p.constraints = constraints;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, NULL, &bytes, NULL), CERTREG_OK);
    return bytes;
}

TEST(memory_of_the_default_plan_has_none_for_the_gradient)
{
    enum { WIDE = 150528, LESS = 12288 };
    const size_t by_default = size_with(WIDE, 0, 0);
    ck_assert_uint_eq(by_default, size_with(WIDE, 0, CERTREG_CONSTRAINTS_ECM));
    ck_assert_uint_gt(size_with(WIDE, 0, CERTREG_CONSTRAINTS_ECGM),
                      by_default + (size_t)5 * WIDE * 4); /* sums, and a direction */
    ck_assert_uint_le(by_default, (size_t)(256 + 4) * WIDE * 4 + (256 + 1000) * 4 + 65 * 1024);
    const size_t least = size_with(LESS, 1, CERTREG_CONSTRAINT_MEAN);
    ck_assert_uint_le(least, 8 * LESS * 4 + 131072 + 4 * 1000);
    ck_assert_uint_ge(size_with(LESS, 1, CERTREG_CONSTRAINTS_ECGM), least + 5 * LESS * 4);
}

TEST(memory_of_solver_and_bisection_is_small)
{
    ck_assert_uint_gt(certreg_solver_size(), 0);
    ck_assert_uint_le(certreg_solver_size(), 65536);
    ck_assert_uint_gt(certreg_bisection_size(), 0);
    ck_assert_uint_le(certreg_bisection_size(), 16384);
}

KIT_MAIN("memory")
