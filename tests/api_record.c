/* Records as bytes: export, import, merge, resume, and everything that may be wrong with them. */
#include "api_kit.h"

enum { INPUTS = 3, CAPACITY = 400, BATCH = 16, ROOM = 8192 };
static const float input[INPUTS] = {0.5f, -1, 3}, other_input[INPUTS] = {0.5f, -1, 3.25f};
static const float scale[INPUTS] = {1, 2, 0.5f}, other_scale[INPUTS] = {1, 2, 0.25f};

typedef struct bytes {
    unsigned char at[ROOM];
    size_t count;
} bytes;

static size_t rows_asked;

static int polynomial(void *user, const certreg_batch *b)
{
    (void)user;
    rows_asked += b->used_count;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        for (size_t k = 0; k < b->columns; k++)
            b->y[i * b->columns + k] = x[0] * x[1] + x[2] * (float)(k + 1);
    }
    return 0;
}

typedef struct setting {
    certreg_model model;
    certreg_plan plan;
    const float *z;
    double sigma;
    uint64_t stream, level;
} setting;

static setting usual(void)
{
    setting s = {kit_model(polynomial, NULL, INPUTS, 2), kit_plan(CAPACITY), input, 0.25, 7, 0};
    s.model.batch = BATCH, s.model.scale = scale;
    return s;
}

static certreg_estimator *make(const setting *s)
{
    certreg_estimator *made = kit_create(NULL, &s->model, &s->plan);
    KIT_OK(made, certreg_estimator_begin_level(made, s->z, s->sigma, s->stream, s->level));
    return made;
}

static void save(certreg_estimator *from, bytes *to)
{
    memset(to, 0, sizeof *to);
    to->count = ROOM;
    KIT_OK(from, certreg_estimator_export(from, to->at, &to->count));
}

static certreg_estimator *e;
static bytes before, after;

static void setup(void)
{
    const setting s = usual();
    e = make(&s);
    rows_asked = 0;
}

static void teardown(void)
{
    certreg_estimator_destroy(e);
}

static certreg_certificate ask(certreg_estimator *from)
{
    certreg_question q = kit_question(1);
    q.method = CERTREG_METHOD_ASYMPTOTIC;
    certreg_certificate c = kit_certificate();
    KIT_OK(from, certreg_certify(from, NULL, 0, &q, 1, &c));
    c.model_seconds = c.library_seconds = 0;
    return c;
}

/* ---- export and import */
START_TEST(record_survives_the_way_to_bytes_and_back)
{
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    const certreg_certificate here = ask(e);
    save(e, &before);
    const setting s = usual();
    certreg_estimator *there = make(&s);
    rows_asked = 0;
    KIT_OK(there, certreg_estimator_import(there, before.at, before.count));
    const certreg_certificate copy = ask(there);
    ck_assert_mem_eq(&here, &copy, sizeof here);
    save(there, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
    ck_assert_uint_eq(rows_asked, 0);
    certreg_estimator_destroy(there);
}
END_TEST

START_TEST(import_and_sample_are_resume)
{
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    save(e, &before);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    KIT_OK(e, certreg_estimator_sample(e, 0, 150));
    save(e, &after);
    const setting s = usual();
    certreg_estimator *there = make(&s);
    KIT_OK(there, certreg_estimator_import(there, after.at, after.count));
    rows_asked = 0;
    KIT_OK(there, certreg_estimator_sample(there, 0, CAPACITY));
    ck_assert_uint_eq(rows_asked, CAPACITY - 150);
    save(there, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
    certreg_estimator_destroy(there);
}
END_TEST

START_TEST(shards_in_any_order_give_the_bits_of_one_run)
{
    static const int orders[6][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2},
                                     {2, 0, 3, 1}, {0, 2, 1, 3}, {3, 0, 1, 2}};
    static const size_t ends[5] = {0, 90, 101, 250, CAPACITY}; /* no multiples of the batch */
    static bytes shard[4];
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    const certreg_certificate one_run = ask(e);
    save(e, &before);
    for (int i = 0; i < 4; i++) {
        KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
        KIT_OK(e, certreg_estimator_sample(e, ends[i], ends[i + 1] - ends[i]));
        save(e, &shard[i]);
    }
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    for (int i = 0; i < 4; i++)
        KIT_OK(e, certreg_estimator_import(e, shard[orders[_i][i]].at, shard[orders[_i][i]].count));
    const certreg_certificate merged = ask(e);
    ck_assert_mem_eq(&one_run, &merged, sizeof one_run);
    save(e, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
}
END_TEST

START_TEST(overlap_that_agrees_is_welcome)
{
    KIT_OK(e, certreg_estimator_sample(e, 100, 200));
    save(e, &before);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    KIT_OK(e, certreg_estimator_sample(e, 0, 170));
    KIT_OK(e, certreg_estimator_import(e, before.at, before.count));
    KIT_OK(e, certreg_estimator_import(e, before.at, before.count)); /* twice is no harm */
    rows_asked = 0;
    KIT_OK(e, certreg_estimator_sample(e, 0, 300));
    ck_assert_uint_eq(rows_asked, 0);
}
END_TEST

START_TEST(overlap_that_differs_is_refused_as_a_whole)
{
    float y[2] = {1, 2};
    KIT_OK(e, certreg_estimator_record(e, 150, 1, y));
    KIT_OK(e, certreg_estimator_sample(e, 0, 100)); /* a range of samples that would fit, and then
                                                       the one that does not */
    save(e, &before);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    y[1] = 3;
    KIT_OK(e, certreg_estimator_record(e, 150, 1, y));
    save(e, &after);
    KIT_STATUS(e, certreg_estimator_import(e, before.at, before.count), CERTREG_E_MISMATCH);
    ck_assert_int_eq(certreg_estimator_error(e)->sample, 150);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "sample 150"));
    save(e, &before);
    ck_assert_mem_eq(&before, &after, sizeof before);
}
END_TEST

START_TEST(failed_outputs_travel_with_the_record)
{
    setting s = usual();
    s.plan.flags = CERTREG_PLAN_COUNT_FAILURES;
    certreg_estimator *lenient = make(&s), *second = make(&s);
    const float y[4] = {1, NAN, 2, 3};
    KIT_OK(lenient, certreg_estimator_record(lenient, 0, 2, y));
    save(lenient, &before);
    KIT_OK(second, certreg_estimator_import(second, before.at, before.count));
    save(second, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
    KIT_STATUS(e, certreg_estimator_import(e, before.at, before.count),
               CERTREG_E_MISMATCH); /* a strict plan has no place for them */
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "failed"));
    certreg_estimator_destroy(lenient);
    certreg_estimator_destroy(second);
}
END_TEST

/* ---- size */
START_TEST(size_is_told_beforehand)
{
    size_t bytes_needed = 99;
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    KIT_OK(e, certreg_estimator_export(e, NULL, &bytes_needed));
    ck_assert_uint_ge(bytes_needed, CAPACITY * 2 * 4);
    ck_assert_uint_le(bytes_needed, CAPACITY * 2 * 4 + 256);
    memset(before.at, 0x5A, sizeof before.at);
    size_t room = bytes_needed - 1;
    KIT_STATUS(e, certreg_estimator_export(e, before.at, &room), CERTREG_E_SMALL_MEMORY);
    ck_assert_uint_eq(room, bytes_needed);
    for (size_t i = 0; i < sizeof before.at; i++) ck_assert_uint_eq(before.at[i], 0x5A);
    KIT_OK(e, certreg_estimator_export(e, before.at, &room));
    ck_assert_uint_eq(room, bytes_needed);
    for (size_t i = room; i < sizeof before.at; i++) ck_assert_uint_eq(before.at[i], 0x5A);
}
END_TEST

START_TEST(empty_record_is_a_record)
{
    save(e, &before);
    KIT_OK(e, certreg_estimator_sample(e, 0, 10));
    KIT_OK(e, certreg_estimator_import(e, before.at, before.count));
    save(e, &after);
    ck_assert_uint_gt(after.count, before.count);
}
END_TEST

START_TEST(gaps_are_kept_and_not_certified_over)
{
    KIT_OK(e, certreg_estimator_sample(e, 0, 150));
    KIT_OK(e, certreg_estimator_sample(e, 160, 240));
    certreg_question q = kit_question(1);
    certreg_certificate c = kit_certificate();
    certreg_bounds b = {.struct_size = sizeof b};
    KIT_STATUS(e, certreg_certify(e, NULL, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(e)->text, "150 to 159"));
    ck_assert_double_eq(c.radius, 0);
    KIT_STATUS(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_LOWER, &b), CERTREG_E_WRONG_STATE);
    save(e, &before);
    const setting s = usual();
    certreg_estimator *there = make(&s);
    KIT_OK(there, certreg_estimator_import(there, before.at, before.count));
    KIT_STATUS(there, certreg_certify(there, NULL, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
    rows_asked = 0;
    KIT_OK(there, certreg_certify(there, NULL, CAPACITY, &q, 1, &c));
    ck_assert_uint_eq(rows_asked, 10);
    certreg_estimator_destroy(there);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    KIT_OK(e, certreg_estimator_sample(e, 1, 399)); /* the first one missing */
    KIT_STATUS(e, certreg_certify(e, NULL, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
}
END_TEST

START_TEST(larger_records_are_too_many_and_leave_no_trace)
{
    setting s = usual();
    s.plan.max_samples = 200, s.plan.pilot = 40;
    certreg_estimator *small = make(&s);
    KIT_OK(small, certreg_estimator_sample(small, 0, 50));
    save(small, &before);
    bytes *large = &after;
    KIT_OK(e, certreg_estimator_sample(e, 0, 201));
    save(e, large);
    KIT_STATUS(small, certreg_estimator_import(small, large->at, large->count), CERTREG_E_TOO_MANY);
    ck_assert_int_eq(certreg_estimator_error(small)->sample, 200);
    save(small, large);
    ck_assert_mem_eq(&before, large, sizeof before);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    KIT_OK(e, certreg_estimator_sample(e, 0, 200));
    save(e, large);
    KIT_OK(small, certreg_estimator_import(small, large->at, large->count)); /* exactly full; the
                                                                                pilot is no part of
                                                                                a record */
    certreg_estimator_destroy(small);
}
END_TEST

/* ---- records of something else */
static const int32_t kinds[2] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE};
static const struct {
    const char *word;
    int change;
} others[] = {{"input", 0},
              {"sigma", 1},
              {"seed", 2},
              {"noise_id", 3},
              {"scale", 4},
              {"number of inputs", 5},
              {"number of outputs", 6},
              {"kind", 7},
              {"pilot", 8},
              {"level", 9}};

static setting changed(int change)
{
    setting s = usual();
    switch (change) {
    case 0: s.z = other_input; break;
    case 1: s.sigma = 0.5; break;
    case 2: s.plan.seed++; break;
    case 3: s.stream++; break;
    case 4: s.model.scale = other_scale; break;
    case 5: s.model.inputs = 2; break;
    case 6: s.model.outputs = 1; break;
    case 7: s.model.kind = kinds; break;
    case 9: s.level = 1; break;
    default: s.plan.pilot = SIZE_MAX; break;
    }
    return s;
}

START_TEST(records_of_something_else_are_a_mismatch_that_is_named)
{
    const setting s = changed(others[_i].change);
    certreg_estimator *there = make(&s);
    KIT_OK(e, certreg_estimator_sample(e, 0, 64));
    save(e, &before);
    KIT_STATUS(there, certreg_estimator_import(there, before.at, before.count), CERTREG_E_MISMATCH);
    ck_assert_msg(strstr(certreg_estimator_error(there)->text, others[_i].word) != NULL, "%s: %s",
                  others[_i].word, certreg_estimator_error(there)->text);
    save(there, &after);
    KIT_OK(there, certreg_estimator_import(there, after.at, after.count));
    KIT_STATUS(e, certreg_estimator_import(e, after.at, after.count),
               CERTREG_E_MISMATCH); /* and the other way */
    certreg_estimator_destroy(there);
}
END_TEST

START_TEST(outputs_outside_the_declared_range_are_a_mismatch)
{
    static const double lo[2] = {-1, -1}, hi[2] = {1, 1};
    setting s = usual();
    s.model.lo = lo, s.model.hi = hi;
    certreg_estimator *there = make(&s);
    float y[4] = {0.5f, -1, 1, 1.5f};
    KIT_OK(e, certreg_estimator_record(e, 0, 2, y)); /* no range is declared here */
    save(e, &before);
    KIT_STATUS(there, certreg_estimator_import(there, before.at, before.count), CERTREG_E_MISMATCH);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(there)->text, "range"));
    ck_assert_double_eq(certreg_estimator_error(there)->value, 1.5);
    ck_assert_int_eq(certreg_estimator_error(there)->output, 1);
    KIT_OK(there, certreg_estimator_sample(there, 3, 0));
    y[3] = 1;
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    KIT_OK(e, certreg_estimator_record(e, 0, 2, y));
    save(e, &before);
    KIT_OK(there, certreg_estimator_import(there, before.at, before.count));
    certreg_estimator_destroy(there);
}
END_TEST

/* ---- damage */
START_TEST(every_damaged_byte_is_noticed)
{
    static const unsigned char damage[] = {0x01, 0x80, 0xFF};
    static bytes good, now;
    KIT_OK(e, certreg_estimator_sample(e, 3, 9));
    save(e, &good);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    KIT_OK(e, certreg_estimator_sample(e, 0, 5));
    save(e, &before);
    for (size_t i = 0; i < good.count; i++) {
        bytes bad = good;
        bad.at[i] ^= damage[_i];
        KIT_STATUS(e, certreg_estimator_import(e, bad.at, bad.count), CERTREG_E_CORRUPT);
        ck_assert_uint_gt(strlen(certreg_estimator_error(e)->text), 10);
    }
    save(e, &now);
    ck_assert_mem_eq(&before, &now, sizeof before);
    KIT_OK(e, certreg_estimator_import(e, good.at, good.count));
}
END_TEST

START_TEST(records_cut_off_or_drawn_out_are_noticed)
{
    KIT_OK(e, certreg_estimator_sample(e, 3, 9));
    save(e, &before);
    for (size_t count = 0; count < before.count; count++) {
        unsigned char *exact = malloc(count + 1); /* so that a memory checker sees a read beyond the
                                                     end */
        memcpy(exact, before.at, count);
        unsigned char *shrunk = realloc(exact, count ? count : 1);
        ck_assert_int_ne(certreg_estimator_import(e, shrunk, count), CERTREG_OK);
        free(shrunk);
    }
    KIT_STATUS(e, certreg_estimator_import(e, before.at, before.count + 1), CERTREG_E_CORRUPT);
    KIT_STATUS(e, certreg_estimator_import(e, before.at, before.count + 8), CERTREG_E_CORRUPT);
    KIT_STATUS(e, certreg_estimator_import(e, before.at + 8, before.count - 8), CERTREG_E_CORRUPT);
    save(e, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
}
END_TEST

/* The checksum is no secret: what a forger may write must be refused by what it says, or be
 * harmless. */
static void seal(bytes *b)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i + 8 < b->count; i++) h = (h ^ b->at[i]) * 0x100000001b3u;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    h ^= h >> 33;
    for (int i = 0; i < 8; i++) b->at[b->count - 8 + (size_t)i] = (unsigned char)(h >> (8 * i));
}

static void put64(bytes *b, size_t at, uint64_t value)
{
    for (int i = 0; i < 8; i++) b->at[at + (size_t)i] = (unsigned char)(value >> (8 * i));
}

enum {
    FORMAT = 8,
    ASKED_TOTAL = 88,
    ASKED_CAPACITY = 96,
    RANGES = 128,
    FIRST = 136,
    COUNT = 144,
    VALUES = 152
};
static const struct {
    size_t at;
    uint64_t value;
    certreg_status status;
} forgeries[] = {
    {FORMAT, 1, CERTREG_E_VERSION},
    {FORMAT, 3, CERTREG_E_VERSION},
    {ASKED_TOTAL, 5, CERTREG_E_CORRUPT},
    {ASKED_CAPACITY, CAPACITY, CERTREG_E_CORRUPT}, /* without a batch */
    {ASKED_CAPACITY, UINT64_MAX, CERTREG_E_CORRUPT},
    {RANGES, 0, CERTREG_E_CORRUPT},
    {RANGES, 2, CERTREG_E_CORRUPT},
    {RANGES, UINT64_MAX, CERTREG_E_CORRUPT},
    {FIRST, CAPACITY, CERTREG_E_TOO_MANY},
    {FIRST, UINT64_MAX, CERTREG_E_TOO_MANY},
    {FIRST, UINT64_MAX - 2, CERTREG_E_TOO_MANY},
    {COUNT, 0, CERTREG_E_CORRUPT},
    {COUNT, 8, CERTREG_E_CORRUPT},
    {COUNT, 10, CERTREG_E_CORRUPT},
    {COUNT, UINT64_MAX, CERTREG_E_CORRUPT},
    {COUNT, UINT64_MAX / 8 + 2, CERTREG_E_CORRUPT},
    {COUNT, (uint64_t)1 << 61, CERTREG_E_CORRUPT},
    {VALUES, UINT64_MAX, CERTREG_E_CORRUPT},           /* NaN */
    {VALUES, 0x7f800000u, CERTREG_E_CORRUPT},          /* infinity */
    {VALUES, 0x7fc0a11eu, CERTREG_E_CORRUPT},          /* what the record holds where nothing is */
    {VALUES, 0x3f8000007fc0fa11u, CERTREG_E_MISMATCH}, /* a failed output, which the plan does not
                                                          count */
};

START_TEST(forged_records_are_refused)
{
    KIT_OK(e, certreg_estimator_sample(e, 3, 9));
    save(e, &before);
    bytes forged = before;
    seal(&forged);
    ck_assert_mem_eq(&before, &forged, sizeof before); /* or this test would not know the format */
    put64(&forged, forgeries[_i].at, forgeries[_i].value);
    seal(&forged);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    save(e, &before);
    KIT_STATUS(e, certreg_estimator_import(e, forged.at, forged.count), forgeries[_i].status);
    save(e, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
}
END_TEST

/* Two ranges of three samples each; the second is moved onto the first, with other outputs. */
START_TEST(ranges_that_overlap_each_other_leave_no_trace)
{
    KIT_OK(e, certreg_estimator_sample(e, 3, 3));
    KIT_OK(e, certreg_estimator_sample(e, 9, 3));
    save(e, &before);
    bytes forged = before;
    const size_t second = (before.count - 8 - FIRST) / 2;
    put64(&forged, FIRST + second, 4);
    seal(&forged);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    save(e, &before);
    KIT_STATUS(e, certreg_estimator_import(e, forged.at, forged.count), CERTREG_E_CORRUPT);
    save(e, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
}
END_TEST

/* ---- the format, and levels of noise */
/* By docs/compatibility.md, made without this library. */
static const char *const small_record =
    "63727472656330310200000000000000080706050403020118171615141312110300000000000000000000000000d0"
    "3f"
    "020000000000000002000000000000000000000000000000feeb6c7d3cb5f328020000000000000002000000000000"
    "00"
    "2800000000000000100000000000000000000000000000007acb2949fbe5796b010000000000000000000000000000"
    "00"
    "02000000000000000000c03f0000b442000000c000c0b3439c817bc6c30f43a3";

START_TEST(a_small_record_has_these_bytes_on_every_machine)
{
    static const float z[2] = {0.5f, -1.25f}, steps[2] = {1, 0.5f}, y[4] = {1.5f, 90, -2, 359.5f};
    static const double lo[2] = {-INFINITY, 0}, hi[2] = {INFINITY, 360};
    const uint64_t looks[2] = {2, 5};
    certreg_model m = kit_model(NULL, NULL, 2, 2);
    m.batch = BATCH, m.scale = steps, m.kind = kinds, m.lo = lo, m.hi = hi;
    certreg_plan p = kit_plan(40);
    p.seed = 0x0102030405060708, p.pilot = SIZE_MAX;
    certreg_question q = kit_question(1);
    q.prediction_given = 1, q.wanted = 0.1, q.looks = looks, q.look_count = 2;
    certreg_certificate c = kit_certificate();
    certreg_estimator *there = kit_create(NULL, &m, &p);
    KIT_OK(there, certreg_estimator_begin_level(there, z, 0.25, 0x1112131415161718, 3));
    KIT_OK(there, certreg_estimator_record(there, 0, 2, y));
    KIT_OK(there, certreg_certify(there, NULL, 0, &q, 1, &c));
    save(there, &before);
    ck_assert_uint_eq(2 * before.count, strlen(small_record));
    for (size_t i = 0; i < before.count; i++) {
        char pair[3];
        snprintf(pair, sizeof pair, "%02x", before.at[i]);
        ck_assert_msg(!memcmp(pair, small_record + 2 * i, 2), "byte %zu is %s, not %.2s", i, pair,
                      small_record + 2 * i);
    }
    certreg_estimator_destroy(there);
}
END_TEST

START_TEST(a_certificate_says_which_noise_to_draw_again)
{
    const double sigmas[2] = {0.25, 0.5};
    certreg_question q = kit_question(0.6);
    certreg_certificate c[2] = {kit_certificate()};
    setting s = usual();
    s.model.outputs = 1;
    certreg_estimator *a = make(&s), *b = make(&s);
    KIT_OK(a, certreg_certify_sigmas(a, NULL, input, sigmas, 2, 7, 200, &q, 1, c));
    save(a, &before);
    for (int i = 0; i < 2; i++) {
        KIT_OK(b, certreg_estimator_begin_level(b, input, c[i].sigma, c[i].noise_id, c[i].level));
        KIT_STATUS(b, certreg_estimator_import(b, before.at, before.count),
                   i ? CERTREG_OK : CERTREG_E_MISMATCH);
        q.bonferroni = 2;
        certreg_certificate again = kit_certificate();
        KIT_OK(b, certreg_certify(b, NULL, 200, &q, 1, &again));
        ck_assert_double_eq(again.radius, c[i].radius);
        ck_assert_double_eq(again.prediction, c[i].prediction);
    }
    KIT_STATUS(b, certreg_estimator_begin_level(b, input, 0.25, 7, (uint64_t)1 << 20),
               CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(certreg_estimator_error(b)->text, "level"));
    KIT_STATUS(b, certreg_estimator_sample(b, 0, 1), CERTREG_E_WRONG_STATE);
    certreg_estimator_destroy(a);
    certreg_estimator_destroy(b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record");
    TCase *typical = kit_case(suite, "typical", 60), *limits = kit_case(suite, "limits", 60),
          *bad_input = kit_case(suite, "bad_input", 60);
    TCase *const cases[] = {typical, limits, bad_input};
    for (int i = 0; i < 3; i++) tcase_add_checked_fixture(cases[i], setup, teardown);
    tcase_add_test(typical, record_survives_the_way_to_bytes_and_back);
    tcase_add_test(typical, import_and_sample_are_resume);
    tcase_add_loop_test(typical, shards_in_any_order_give_the_bits_of_one_run, 0, 6);
    tcase_add_test(typical, overlap_that_agrees_is_welcome);
    tcase_add_test(typical, failed_outputs_travel_with_the_record);
    tcase_add_test(typical, a_small_record_has_these_bytes_on_every_machine);
    tcase_add_test(typical, a_certificate_says_which_noise_to_draw_again);
    tcase_add_test(limits, size_is_told_beforehand);
    tcase_add_test(limits, empty_record_is_a_record);
    tcase_add_test(limits, gaps_are_kept_and_not_certified_over);
    tcase_add_test(limits, larger_records_are_too_many_and_leave_no_trace);
    tcase_add_test(bad_input, overlap_that_differs_is_refused_as_a_whole);
    tcase_add_loop_test(bad_input, records_of_something_else_are_a_mismatch_that_is_named, 0,
                        KIT_ROWS(others));
    tcase_add_test(bad_input, outputs_outside_the_declared_range_are_a_mismatch);
    tcase_add_loop_test(bad_input, every_damaged_byte_is_noticed, 0, 3);
    tcase_add_test(bad_input, records_cut_off_or_drawn_out_are_noticed);
    tcase_add_test(bad_input, ranges_that_overlap_each_other_leave_no_trace);
    tcase_add_loop_test(bad_input, forged_records_are_refused, 0, KIT_ROWS(forgeries));
    return kit_run(suite);
}
