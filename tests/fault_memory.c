/* Memory. Of the caller's: how much is asked for, that no byte beyond it is touched, and that
 * nothing is allocated beside it, by every kind of handle. Of the system: refusals and denoisers in
 * use take none, and each allocation that fails in create is a status that leaves nothing behind.
 * Answers take none either: api_environment. */
#include "support/attack_kit.h"
#include "support/counting_malloc.h"
#include "support/emulated_device.h"
#include <certreg/denoiser.h>

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

KIT_EVAL(sums, x[0] + 0.5f * x[b->inputs - 1] + (float)(k + 1))

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
/* Those that take no memory of the caller's. */
enum { BACKEND = KINDS, DEVICE, DENOISER, READ_DENOISER };
enum { CALLS = 400, FEW = 6, MANY = 1500 };
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

/* ---- how each is made */
static unsigned char denoiser_bytes[4096];
static size_t denoiser_size;

static int read_examples(void *user, uint64_t first, size_t count, float *x)
{
    (void)user;
    for (size_t i = 0; i < count * FEW; i++) x[i] = (float)((first * FEW + i) * 7919 % 1009) / 500;
    return 0;
}

static certreg_error why;

static certreg_status create(int k, certreg_estimator *of, void *memory, size_t bytes, void *out)
{
    const certreg_solver_plan s =
        STRUCT(certreg_solver_plan, .memory = memory, .memory_bytes = bytes);
    const certreg_bisection_plan b =
        STRUCT(certreg_bisection_plan, .memory = memory, .memory_bytes = bytes);
    const certreg_attack_plan a =
        STRUCT(certreg_attack_plan, .max_calls = CALLS, .memory = memory, .memory_bytes = bytes);
    const certreg_denoiser_plan d = STRUCT(certreg_denoiser_plan, .inputs = FEW, .rows = 300,
                                           .read = read_examples, .sigma = 0.3);
    certreg_plan p;
    why = (certreg_error){.struct_size = sizeof why};
    switch (k) {
    case SOLVER: return certreg_solver_create(&s, &why, out);
    case BISECTION: return certreg_bisection_create(&b, &why, out);
    case ATTACK: return certreg_attack_create(of, &a, &why, out);
    case BACKEND: return certreg_backend_open_cpu(3, &why, out);
    case DEVICE: return try_emulated(0, NULL, &why, out); /* from the host, as a driver does */
    case DENOISER: return certreg_denoiser_create(&d, &why, out);
    case READ_DENOISER: return certreg_denoiser_import(denoiser_bytes, denoiser_size, &why, out);
    default: break;
    }
    const certreg_model m = model_of(k);
    p = plan_of(k), p.memory = memory, p.memory_bytes = bytes;
    return certreg_estimator_create(NULL, &m, &p, &why, out);
}

static void destroy(int k, void *handle)
{
    switch (k) {
    case SOLVER: certreg_solver_destroy(handle); break;
    case BISECTION: certreg_bisection_destroy(handle); break;
    case ATTACK: certreg_attack_destroy(handle); break;
    case BACKEND:
    case DEVICE: certreg_backend_close(handle); break;
    case DENOISER:
    case READ_DENOISER: certreg_denoiser_destroy(handle); break;
    default: certreg_estimator_destroy(handle);
    }
}

static certreg_status make(int k, certreg_estimator *of, void *memory, size_t bytes, void **out)
{
    watch(0);
    const certreg_status status = create(k, of, memory, bytes, out);
    unwatch();
    if (memory) ck_assert(taken == 0 && live == 0);
    if (status) ck_assert_ptr_nonnull(strstr(why.text, "plan.memory"));
    ck_assert_int_eq(status == CERTREG_OK, *out != NULL);
    return status;
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
        watch(0);
        destroy(_i, in_memory);
        unwatch();
        ck_assert(taken == 0 && live == 0);
    }
    destroy(_i, own);
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
    ck_assert_uint_le(by_default, (size_t)(256 + 4) * WIDE * 4 + (256 + 1000) * 4 + 66 * 1024);
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

/* ---- memory of the system */
static int failing;

static int model(void *user, const certreg_batch *b)
{
    return failing ? 5 : kit_identity(user, b);
}

TEST(refusals_allocate_no_memory)
{
    static const float input[FEW] = {0.5f, -1, 3, 0, 1, 2}, askew[FEW] = {NAN};
    static unsigned char record[128];
    const certreg_model m = kit_model(model, NULL, FEW, 3);
    const certreg_plan p = kit_plan(MANY);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_solver *solver;
    certreg_bisection *bisection;
    const certreg_question q = kit_question(-1);
    certreg_certificate c = kit_certificate();
    certreg_mean_change shift = {.struct_size = sizeof shift};
    const certreg_bounds wrong = BOUNDS(.constraints = CERTREG_CONSTRAINT_VARIANCE, .sigma = NAN);
    size_t bytes = 3;
    kit_open_solver(&solver, &bisection);
    if (!interposed()) return;
    watch(0);
    int bad = certreg_estimator_begin(e, askew, 1, 0) != CERTREG_E_INVALID;
    bad += certreg_estimator_sample(e, 0, 1) != CERTREG_E_WRONG_STATE;
    bad += certreg_estimator_begin(e, input, 0.4, 1) != CERTREG_OK;
    bad += certreg_estimator_sample(e, 0, MANY + 1) != CERTREG_E_TOO_MANY;
    bad += certreg_estimator_export(e, record, &bytes) != CERTREG_E_SMALL_MEMORY;
    bad += certreg_estimator_import(e, record, 100) != CERTREG_E_CORRUPT;
    bad += certreg_certify(e, MANY, &q, 1, &c) != CERTREG_E_INVALID;
    bad += certreg_solver_worst_case(solver, &wrong, 0, 1, &shift) != CERTREG_E_INVALID;
    failing = 1;
    bad += certreg_estimator_sample(e, 0, 1) != CERTREG_E_MODEL_FAILED;
    failing = 0;
    certreg_estimator_cancel(e);
    bad += certreg_estimator_sample(e, 0, 1) != CERTREG_E_CANCELLED;
    certreg_estimator_set_deadline(e, 1e-9);
    bad += certreg_estimator_sample(e, 0, 1) != CERTREG_E_DEADLINE;
    unwatch();
    ck_assert_msg(bad == 0, "%d calls answered otherwise than expected", bad);
    ck_assert_msg(taken == 0 && live == 0, "%ld allocations, %ld blocks", taken, live);
}

/* 0 without OpenBLAS. */
static int export_denoiser(void)
{
    void *d = NULL;
    const certreg_status status = create(DENOISER, NULL, NULL, 0, &d);
    denoiser_size = sizeof denoiser_bytes;
    if (status == CERTREG_E_NO_BACKEND) return 0;
    ck_assert_int_eq(status, CERTREG_OK);
    ck_assert_int_eq(certreg_denoiser_export(d, denoiser_bytes, &denoiser_size), CERTREG_OK);
    certreg_denoiser_destroy(d);
    return 1;
}

TEST(denoiser_allocates_no_memory_in_use)
{
    void *d = NULL;
    certreg_denoiser_facts facts = {.struct_size = sizeof facts};
    static float x[100 * FEW], y[100 * FEW];
    if (!interposed() || !export_denoiser()) return;
    ck_assert_int_eq(create(READ_DENOISER, NULL, NULL, 0, &d), CERTREG_OK);
    watch(0);
    int bad = certreg_denoiser_apply(d, x, 100, y) != CERTREG_OK;
    bad += certreg_denoiser_info(d, &facts) != CERTREG_OK;
    bad += certreg_denoiser_export(d, denoiser_bytes, &denoiser_size) != CERTREG_OK;
    unwatch();
    certreg_denoiser_destroy(d);
    ck_assert_msg(!bad && !taken && !live, "%d calls failed; %ld allocations", bad, taken);
}

/* Makes a handle and destroys it; -1 if what it was given does not fit its status. No check while
 * allocations are watched: one that holds allocates. */
static certreg_status make_and_destroy(int k, certreg_estimator *of)
{
    void *made = NULL;
    const certreg_status status = create(k, of, NULL, 0, &made);
    if ((status != CERTREG_OK) != (made == NULL)) return -1;
    if (made) destroy(k, made);
    return status;
}

static const struct {
    int kind;
    long least, most; /* allocations: LAPACKE's, which would print when one fails, are none */
} makers[] = {{3, 1, 100},      {SOLVER, 1, 100}, {BISECTION, 1, 100}, {BACKEND, 2, 100},
              {ATTACK, 1, 100}, {DEVICE, 1, 100}, {DENOISER, 3, 4},    {READ_DENOISER, 1, 100}};

TEST_ROWS(create_without_memory_is_a_status_and_leaves_nothing, makers)
{
    const int kind = makers[_i].kind;
    certreg_estimator *const of = kind == ATTACK ? attacked() : NULL;
    if (!interposed() || (kind >= DENOISER && !export_denoiser())) return;
    /* so that what the C library keeps for later is there */
    ck_assert_int_eq(make_and_destroy(kind, of), CERTREG_OK);
    long k = 0;
    certreg_status status;
    do {
        watch(++k);
        status = make_and_destroy(kind, of);
        unwatch();
        ck_assert_msg(live == 0, "allocation %ld fails: %ld blocks left", k, live);
        if (taken < k) break;
        ck_assert_msg(status == CERTREG_E_NO_MEMORY, "allocation %ld fails: status %d", k,
                      (int)status);
        ck_assert_int_eq(why.status, CERTREG_E_NO_MEMORY);
        ck_assert_uint_gt(strlen(why.text), 10);
    } while (k <= makers[_i].most);
    ck_assert_int_eq(status, CERTREG_OK);
    ck_assert(makers[_i].least < k && k <= makers[_i].most + 1);
    ck_assert_int_eq(make_and_destroy(kind, of), CERTREG_OK);
}

KIT_MAIN("memory")
