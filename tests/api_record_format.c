/* The bytes of a record: damage and forgeries are refused, the format is the same on every
 * machine, and a certificate says which noise to draw again. */
#include "support/record_bytes.h"

/* ---- damage */
TEST_TIMES(import_notices_every_damaged_byte, 3)
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

TEST(import_notices_records_of_another_length)
{
    KIT_OK(e, certreg_estimator_sample(e, 3, 9));
    save(e, &before);
    for (size_t count = 0; count < before.count; count++) {
        /* so that a memory checker sees a read beyond the end */
        unsigned char *exact = malloc(count + 1);
        memcpy(exact, before.at, count);
        unsigned char *shrunk = realloc(exact, count ? count : 1);
        ck_assert_int_ne(certreg_estimator_import(e, shrunk, count), CERTREG_OK);
        free(shrunk);
    }
    KIT_STATUS(e, certreg_estimator_import(e, before.at, before.count + 1), CERTREG_E_CORRUPT);
    KIT_STATUS(e, certreg_estimator_import(e, before.at, before.count + 8), CERTREG_E_CORRUPT);
    KIT_STATUS(e, certreg_estimator_import(e, before.at + 8, before.count - 8), CERTREG_E_CORRUPT);
    holds_what_was_before(e);
}

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
    ASKED_BATCH = 104,
    PILOT = 72,
    RANGES = 120,
    FIRST = 128,
    COUNT = 136,
    VALUES = 144
};
static const struct {
    size_t at;
    uint64_t value;
    certreg_status status;
} forgeries[] = {
    {FORMAT, 0, CERTREG_E_VERSION},
    {FORMAT, 1, CERTREG_E_VERSION}, /* noise that was not quite Gaussian */
    {FORMAT, 3, CERTREG_E_CORRUPT}, /* its audit is missing */
    {FORMAT, 4, CERTREG_E_VERSION},
    {PILOT, UINT64_MAX, CERTREG_E_TOO_MANY}, /* as if nothing were sampled */
    {PILOT, CAPACITY, CERTREG_E_TOO_MANY},
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
    {VALUES, UINT64_MAX, CERTREG_E_CORRUPT},  /* NaN */
    {VALUES, 0x7f800000u, CERTREG_E_CORRUPT}, /* infinity */
    /* what the record holds where nothing is */
    {VALUES, 0x7fc0a11eu, CERTREG_E_CORRUPT},
    /* a failed output, which the plan does not count */
    {VALUES, 0x3f8000007fc0fa11u, CERTREG_E_MISMATCH},
};

TEST_ROWS(import_refuses_forged_records, forgeries)
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
    holds_what_was_before(e);
}

TEST(import_refuses_a_pilot_beyond_the_plan_of_the_record)
{
    KIT_OK(e, certreg_estimator_sample(e, 3, 9));
    save(e, &before);
    bytes forged = before;
    put64(&forged, PILOT, 4), put64(&forged, ASKED_CAPACITY, 4);
    seal(&forged);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    KIT_STATUS(e, certreg_estimator_import(e, forged.at, forged.count), CERTREG_E_CORRUPT);
    KIT_SAYS(certreg_estimator_error(e), "pilot");
}

/* Without samples it says nothing, except under which plan it was evaluated. */
TEST(import_refuses_an_evaluated_record_without_a_pilot)
{
    save(e, &before);
    bytes forged = before;
    put64(&forged, ASKED_TOTAL, 4), put64(&forged, ASKED_CAPACITY, 4);
    put64(&forged, ASKED_BATCH, BATCH);
    seal(&forged);
    KIT_OK(e, certreg_estimator_sample(e, 0, 9));
    save(e, &before);
    KIT_STATUS(e, certreg_estimator_import(e, forged.at, forged.count), CERTREG_E_CORRUPT);
    KIT_SAYS(certreg_estimator_error(e), "pilot");
    holds_what_was_before(e);
}

/* Two ranges of three samples each; the second is moved onto the first, with other outputs. */
TEST(import_refuses_ranges_that_overlap)
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

TEST(record_level_of_a_certificate_draws_its_noise_again)
{
    const double sigmas[2] = {0.25, 0.5};
    certreg_question q = kit_question(0.6);
    certreg_certificate c[2] = {kit_certificate()};
    setting s = usual();
    s.model.outputs = 1;
    certreg_estimator *a = make(&s), *b = make(&s);
    KIT_OK(a, certreg_certify_sigmas(a, input, sigmas, 2, 7, 200, &q, 1, c));
    save(a, &before);
    for (int i = 0; i < 2; i++) {
        KIT_OK(b,
               certreg_estimator_begin_level(b, input, c[i].sigma, c[i].noise_id, (uint64_t)i + 1));
        ck_assert_uint_eq(asks_run(b).level, (uint64_t)i + 1);
        KIT_STATUS(b, certreg_estimator_import(b, before.at, before.count),
                   i ? CERTREG_OK : CERTREG_E_MISMATCH);
        q.bonferroni = 2;
        certreg_certificate again = kit_ask(b, 200, q);
        ck_assert_double_eq(again.radius, c[i].radius);
        ck_assert_double_eq(again.prediction, c[i].prediction);
    }
    KIT_STATUS(b, certreg_estimator_begin_level(b, input, 0.25, 7, (uint64_t)1 << 20),
               CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(b), "level");
    KIT_STATUS(b, certreg_estimator_sample(b, 0, 1), CERTREG_E_WRONG_STATE);
}

FIXTURE(setup, NULL)
KIT_MAIN("format of records")
