/* Records: export, import, merge, resume, and records of something else. Their bytes: damage and
 * forgeries are refused, the format is the same on every machine, and a certificate says which
 * noise to draw again. */
#include "support/bad_field.h"

/* ---- an estimator with all settings that a record depends on, and its record */
enum { INPUTS = 3, CAPACITY = 400, BATCH = 16, ROOM = 8192 };
static const float input[INPUTS] = {0.5f, -1, 3}, other_input[INPUTS] = {0.5f, -1, 3.25f};
static const float scale[INPUTS] = {1, 2, 0.5f}, other_scale[INPUTS] = {1, 2, 0.25f};
static const int32_t kinds[2] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE};
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

static certreg_estimator *make(setting s)
{
    certreg_estimator *made = kit_create(NULL, &s.model, &s.plan);
    KIT_OK(made, certreg_estimator_begin_level(made, s.z, s.sigma, s.stream, s.level));
    return made;
}

typedef struct bytes {
    unsigned char at[ROOM];
    size_t count;
} bytes;

static void save(certreg_estimator *from, bytes *to)
{
    memset(to, 0, sizeof *to);
    to->count = kit_export(from, to->at, ROOM);
}

static certreg_status import(certreg_estimator *to, const bytes *b)
{
    return certreg_estimator_import(to, b->at, b->count);
}

static certreg_estimator *e;
static bytes before, after;

static void holds_what_was_before(certreg_estimator *of)
{
    save(of, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
}

/* The same input again, with samples first to end - 1. */
static void begin_with(size_t first, size_t end)
{
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    KIT_OK(e, certreg_estimator_sample(e, first, end - first));
}

static void setup(void)
{
    e = make(usual());
}

/* ---- export and import */
/* In another estimator, which asks its model for nothing but what is missing. */
TEST_TIMES(record_shards_in_any_order_give_the_bits_of_one_run, 6)
{
    static const int orders[6][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2},
                                     {2, 0, 3, 1}, {0, 2, 1, 3}, {3, 0, 1, 2}};
    static const size_t ends[5] = {0, 90, 101, 250, 390}; /* no multiples of the batch */
    static bytes shard;
    const certreg_question q = QUESTION(.tolerance = 1, .method = CERTREG_METHOD_ASYMPTOTIC);
    certreg_estimator *there = make(usual());
    begin_with(0, CAPACITY);
    const certreg_certificate one_run = kit_ask(e, 0, q);
    save(e, &before);
    for (int i = 0; i < 4; i++) {
        begin_with(ends[orders[_i][i]], ends[orders[_i][i] + 1]);
        save(e, &shard);
        KIT_OK(there, import(there, &shard));
        KIT_OK(there, import(there, &shard)); /* twice is no harm */
    }
    rows_asked = 0;
    KIT_OK(there, certreg_estimator_sample(there, 0, CAPACITY));
    ck_assert_uint_eq(rows_asked, CAPACITY - 390);
    const certreg_certificate merged = kit_ask(there, 0, q);
    ck_assert_mem_eq(&one_run, &merged, sizeof one_run);
    holds_what_was_before(there);
}

/* The last value and the first one. */
static const struct {
    size_t sample, output;
} conflicts[] = {{150, 0}, {150, 1}, {0, 0}};

TEST_ROWS(import_takes_an_overlap_that_agrees_only, conflicts)
{
    const size_t at = conflicts[_i].sample;
    float y[2] = {1, 2};
    KIT_OK(e, certreg_estimator_record(e, at, 1, y));
    /* a range of samples that would fit, and then the one that does not */
    KIT_OK(e, certreg_estimator_sample(e, at ? 0 : 1, 100));
    save(e, &before);
    begin_with(5, 40);
    KIT_OK(e, import(e, &before));
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    y[conflicts[_i].output] = 3;
    KIT_OK(e, certreg_estimator_record(e, at, 1, y));
    save(e, &after);
    KIT_STATUS(e, import(e, &before), CERTREG_E_MISMATCH);
    ck_assert_int_eq(certreg_estimator_error(e)->sample, (int64_t)at);
    before = after;
    holds_what_was_before(e);
}

TEST(record_keeps_failed_outputs)
{
    setting s = usual();
    s.plan.flags = CERTREG_PLAN_COUNT_FAILURES;
    certreg_estimator *lenient = make(s), *second = make(s);
    const float y[4] = {1, NAN, 2, 3};
    KIT_OK(lenient, certreg_estimator_record(lenient, 0, 2, y));
    save(lenient, &before);
    KIT_OK(second, import(second, &before));
    holds_what_was_before(second);
    /* a strict plan has no place for them */
    KIT_REFUSED(e, import(e, &before), CERTREG_E_MISMATCH, "failed");
}

TEST(export_reports_its_size_beforehand)
{
    size_t bytes_needed = 99;
    KIT_OK(e, certreg_estimator_sample(e, 0, CAPACITY));
    KIT_OK(e, certreg_estimator_export(e, NULL, &bytes_needed));
    ck_assert_uint_ge(bytes_needed, CAPACITY * 2 * 4);
    ck_assert_uint_le(bytes_needed, CAPACITY * 2 * 4 + 256);
    memset(before.at, 0x5A, sizeof before.at);
    for (size_t less = 1; less < 2; less--) {
        size_t room = bytes_needed - less;
        KIT_STATUS(e, certreg_estimator_export(e, before.at, &room),
                   less ? CERTREG_E_SMALL_MEMORY : CERTREG_OK);
        ck_assert_uint_eq(room, bytes_needed);
        for (size_t i = less ? 0 : room; i < sizeof before.at; i++)
            ck_assert_uint_eq(before.at[i], 0x5A);
    }
}

TEST(record_keeps_gaps_which_certify_refuses)
{
    const certreg_question q = kit_question(1);
    certreg_bounds b = {.struct_size = sizeof b};
    certreg_estimator *there = make(usual());
    begin_with(1, CAPACITY); /* the first one missing */
    kit_refuses(e, 0, q, CERTREG_E_WRONG_STATE, "0 to 0");
    begin_with(0, 150);
    KIT_OK(e, certreg_estimator_sample(e, 160, 240));
    kit_refuses(e, 0, q, CERTREG_E_WRONG_STATE, "150 to 159");
    KIT_STATUS(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_LOWER, &b), CERTREG_E_WRONG_STATE);
    save(e, &before);
    KIT_OK(there, import(there, &before));
    kit_refuses(there, 0, q, CERTREG_E_WRONG_STATE, "150 to 159");
    rows_asked = 0;
    kit_ask(there, CAPACITY, q);
    ck_assert_uint_eq(rows_asked, 10);
}

TEST(import_of_a_larger_record_is_refused_without_a_trace)
{
    setting s = usual();
    s.plan.max_samples = 200;
    certreg_estimator *small = make(s);
    KIT_OK(small, certreg_estimator_sample(small, 0, 50));
    save(small, &before);
    begin_with(0, 201);
    save(e, &after);
    KIT_STATUS(small, import(small, &after), CERTREG_E_TOO_MANY);
    ck_assert_int_eq(certreg_estimator_error(small)->sample, 200);
    holds_what_was_before(small);
    begin_with(0, 200);
    save(e, &after);
    KIT_OK(small, certreg_estimator_begin(small, input, 0.25, 7));
    KIT_OK(small, import(small, &after)); /* exactly full; the pilot comes with the record */
}

/* ---- records of something else */
static const spoil others[] = {
    {"input", 0, offsetof(setting, z), 'p', .pointer = other_input},
    {"sigma", 0, offsetof(setting, sigma), 'd', .number = 0.5},
    {"seed: plan.seed", 0, offsetof(setting, plan.seed), 'z', .size = 12},
    {"noise_id", 0, offsetof(setting, stream), 'z', .size = 8},
    {"scale", 0, offsetof(setting, model.scale), 'p', .pointer = other_scale},
    {"number of inputs", 0, offsetof(setting, model.inputs), 'z', .size = 2},
    {"number of outputs", 0, offsetof(setting, model.outputs), 'z', .size = 1},
    {"kind", 0, offsetof(setting, model.kind), 'p', .pointer = kinds},
    {"pilot", 0, offsetof(setting, plan.pilot), 'z', .size = SIZE_MAX},
    {"level", 0, offsetof(setting, level), 'z', .size = 1}};

TEST_ROWS(import_names_the_mismatch, others)
{
    setting s = usual();
    apply(&s, others + _i);
    certreg_estimator *there = make(s);
    KIT_OK(e, certreg_estimator_sample(e, 0, 64));
    save(e, &before);
    KIT_REFUSED(there, import(there, &before), CERTREG_E_MISMATCH, others[_i].word);
    KIT_OK(there, certreg_estimator_sample(there, 5, 1));
    save(there, &after);
    KIT_OK(there, import(there, &after));
    /* and the other way */
    KIT_STATUS(e, import(e, &after), CERTREG_E_MISMATCH);
}

TEST(import_refuses_outputs_outside_the_range)
{
    static const double lo[2] = {-1, -1}, hi[2] = {1, 1};
    setting s = usual();
    s.model.lo = lo, s.model.hi = hi;
    certreg_estimator *there = make(s);
    float y[4] = {0.5f, -1, 1, 1.5f};
    KIT_OK(e, certreg_estimator_record(e, 0, 2, y)); /* no range is declared here */
    save(e, &before);
    KIT_REFUSED(there, import(there, &before), CERTREG_E_MISMATCH, "range");
    ck_assert_double_eq(certreg_estimator_error(there)->value, 1.5);
    ck_assert_int_eq(certreg_estimator_error(there)->output, 1);
    y[3] = 1;
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    KIT_OK(e, certreg_estimator_record(e, 0, 2, y));
    save(e, &before);
    KIT_OK(there, import(there, &before));
}

/* ---- damage */
TEST_TIMES(import_notices_every_damaged_byte, 3)
{
    static const unsigned char damage[] = {0x01, 0x80, 0xFF};
    static bytes good;
    begin_with(3, 12);
    save(e, &good);
    begin_with(0, 5);
    save(e, &before);
    for (size_t i = 0; i < good.count; i++) {
        bytes bad = good;
        bad.at[i] ^= damage[_i];
        KIT_STATUS(e, import(e, &bad), CERTREG_E_CORRUPT);
        ck_assert_uint_gt(strlen(certreg_estimator_error(e)->text), 10);
    }
    holds_what_was_before(e);
    KIT_OK(e, import(e, &good));
}

TEST(import_notices_records_of_another_length)
{
    begin_with(3, 12);
    save(e, &before);
    for (size_t count = 0; count < before.count; count++) {
        /* so that a memory checker sees a read beyond the end */
        unsigned char *exact = malloc(count ? count : 1);
        memcpy(exact, before.at, count);
        ck_assert_int_ne(certreg_estimator_import(e, exact, count), CERTREG_OK);
        free(exact);
    }
    KIT_STATUS(e, certreg_estimator_import(e, before.at, before.count + 1), CERTREG_E_CORRUPT);
    KIT_STATUS(e, certreg_estimator_import(e, before.at, before.count + 8), CERTREG_E_CORRUPT);
    KIT_STATUS(e, certreg_estimator_import(e, before.at + 8, before.count - 8), CERTREG_E_CORRUPT);
    holds_what_was_before(e);
}

/* ---- forgeries: the checksum is no secret, so that what a forger may write must be refused by
 * what it says, or be harmless */
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
    PILOT = 72,
    ASKED_FIRST = 80,
    ASKED_TOTAL = 88,
    ASKED_CAPACITY = 96,
    ASKED_BATCH = 104,
    RANGES = 120,
    FIRST = 128,
    COUNT = 136,
    VALUES = 144,
    SECOND = 168 /* a second range, behind one of three samples */
};
enum { ONE_RANGE, TWO_RANGES, EMPTY }; /* samples 3 to 11; 3 to 5 and 9 to 11; none */
static const struct {
    certreg_status status;
    int made;
    struct {
        size_t at;
        uint64_t value;
    } put[4]; /* none at 0 */
} forgeries[] = {
    {CERTREG_E_VERSION, ONE_RANGE, {{FORMAT, 0}}},
    {CERTREG_E_VERSION, ONE_RANGE, {{FORMAT, 1}}}, /* noise that was not quite Gaussian */
    {CERTREG_E_CORRUPT, ONE_RANGE, {{FORMAT, 3}}}, /* its audit is missing */
    {CERTREG_E_VERSION, ONE_RANGE, {{FORMAT, 4}}},
    {CERTREG_E_TOO_MANY, ONE_RANGE, {{PILOT, UINT64_MAX}}}, /* as if nothing were sampled */
    {CERTREG_E_TOO_MANY, ONE_RANGE, {{PILOT, CAPACITY}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{PILOT, 4}, {ASKED_CAPACITY, 4}, {ASKED_BATCH, BATCH}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{ASKED_TOTAL, 5}}},
    {CERTREG_E_CORRUPT,
     ONE_RANGE,
     {{ASKED_FIRST, 9}, {ASKED_TOTAL, 5}, {ASKED_BATCH, BATCH}, {ASKED_CAPACITY, CAPACITY}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{ASKED_CAPACITY, CAPACITY}}}, /* without a batch */
    {CERTREG_E_CORRUPT, ONE_RANGE, {{ASKED_CAPACITY, UINT64_MAX}}},
    /* without samples, or a pilot, it says nothing but under which plan it was evaluated */
    {CERTREG_E_CORRUPT, EMPTY, {{ASKED_TOTAL, 4}, {ASKED_CAPACITY, 4}, {ASKED_BATCH, BATCH}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{RANGES, 0}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{RANGES, 2}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{RANGES, UINT64_MAX}}},
    {CERTREG_E_TOO_MANY, ONE_RANGE, {{FIRST, CAPACITY}}},
    {CERTREG_E_TOO_MANY, ONE_RANGE, {{FIRST, UINT64_MAX}}},
    {CERTREG_E_TOO_MANY, ONE_RANGE, {{FIRST, UINT64_MAX - 2}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{COUNT, 0}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{COUNT, 8}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{COUNT, 10}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{COUNT, UINT64_MAX}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{COUNT, UINT64_MAX / 8 + 2}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{COUNT, (uint64_t)1 << 61}}},
    {CERTREG_E_CORRUPT, ONE_RANGE, {{VALUES, UINT64_MAX}}},  /* NaN */
    {CERTREG_E_CORRUPT, ONE_RANGE, {{VALUES, 0x7f800000u}}}, /* infinity */
    /* what the record holds where nothing is */
    {CERTREG_E_CORRUPT, ONE_RANGE, {{VALUES, 0x7fc0a11eu}}},
    /* a failed output, which the plan does not count */
    {CERTREG_E_MISMATCH, ONE_RANGE, {{VALUES, 0x3f8000007fc0fa11u}}},
    /* the second range moves onto the first, with other outputs */
    {CERTREG_E_CORRUPT, TWO_RANGES, {{SECOND, 4}}},
    {CERTREG_E_CORRUPT, TWO_RANGES, {{SECOND, 5}}},
};

TEST_ROWS(import_refuses_forged_records, forgeries)
{
    const int made = forgeries[_i].made;
    if (made != EMPTY) begin_with(3, made == ONE_RANGE ? 12 : 6);
    if (made == TWO_RANGES) KIT_OK(e, certreg_estimator_sample(e, 9, 3));
    save(e, &before);
    bytes forged = before;
    seal(&forged);
    ck_assert_mem_eq(&before, &forged, sizeof before); /* or this test would not know the format */
    for (int i = 0; i < 4 && forgeries[_i].put[i].at; i++)
        put64(&forged, forgeries[_i].put[i].at, forgeries[_i].put[i].value);
    seal(&forged);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    if (made == EMPTY) KIT_OK(e, certreg_estimator_sample(e, 0, 9));
    save(e, &before);
    KIT_STATUS(e, import(e, &forged), forgeries[_i].status);
    if (forgeries[_i].put[2].at == ASKED_BATCH && made != TWO_RANGES)
        KIT_SAYS(certreg_estimator_error(e), forgeries[_i].put[3].at ? "contradict" : "pilot");
    holds_what_was_before(e);
}

/* ---- the format, and levels of noise */
/* By docs/stability.md, made without this library. */
static const char *const small_record =
    "63727472656330310200000000000000080706050403020118171615141312110300000000000000"
    "000000000000d03f02000000000000000200000000000000feeb6c7d3cb5f3280000000000000000"
    "02000000000000000200000000000000280000000000000010000000000000007acb2949fbe5796b"
    "0100000000000000000000000000000002000000000000000000c03f0000b442000000c000c0b343"
    "8667b047339bfb72";

TEST(record_has_these_bytes_on_every_machine)
{
    static const float z[2] = {0.5f, -1.25f}, steps[2] = {1, 0.5f}, y[4] = {1.5f, 90, -2, 359.5f};
    static const double lo[2] = {-INFINITY, 0}, hi[2] = {INFINITY, 360};
    const uint64_t looks[2] = {2, 5};
    certreg_model m = kit_model(NULL, NULL, 2, 2);
    m.batch = BATCH, m.scale = steps, m.kind = kinds, m.lo = lo, m.hi = hi;
    certreg_plan p = kit_plan(40);
    p.seed = 0x0102030405060708, p.pilot = SIZE_MAX;
    certreg_estimator *there = kit_create(NULL, &m, &p);
    KIT_OK(there, certreg_estimator_begin_level(there, z, 0.25, 0x1112131415161718, 3));
    KIT_OK(there, certreg_estimator_record(there, 0, 2, y));
    kit_ask(there, 0,
            QUESTION(.tolerance = 1, .prediction = asks_prediction(0),
                     .target = asks_looks(0.1, looks, 2)));
    save(there, &before);
    ck_assert_uint_eq(2 * before.count, strlen(small_record));
    for (size_t i = 0; i < before.count; i++) {
        char pair[3];
        snprintf(pair, sizeof pair, "%02x", before.at[i]);
        ck_assert_msg(!memcmp(pair, small_record + 2 * i, 2), "byte %zu is %s, not %.2s", i, pair,
                      small_record + 2 * i);
    }
}

TEST(record_has_no_level_beyond_the_last)
{
    certreg_estimator *made = make(usual());
    KIT_REFUSED(made, certreg_estimator_begin_level(made, input, 0.25, 7, (uint64_t)1 << 20),
                CERTREG_E_INVALID, "level");
    KIT_STATUS(made, certreg_estimator_sample(made, 0, 1), CERTREG_E_WRONG_STATE);
}

FIXTURE(setup, NULL)
KIT_MAIN("record")
