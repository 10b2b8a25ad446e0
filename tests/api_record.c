/* Records: export, import, merge, resume, and records of something else. */
#include "support/record_bytes.h"

static certreg_certificate ask(certreg_estimator *from)
{
    certreg_question q = QUESTION(.tolerance = 1, .method = CERTREG_METHOD_ASYMPTOTIC);
    certreg_certificate c = kit_ask(from, 0, q);
    return c;
}

/* ---- export and import */
TEST(record_survives_export_and_import)
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
    holds_what_was_before(there);
    ck_assert_uint_eq(rows_asked, 0);
}

TEST(record_import_and_sample_resume_a_run)
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
    holds_what_was_before(there);
}

TEST_TIMES(record_shards_in_any_order_give_the_bits_of_one_run, 6)
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
    holds_what_was_before(e);
}

TEST(import_takes_an_overlap_that_agrees)
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

static const int both_outputs[] = {0, 1};

TEST_ROWS(import_refuses_an_overlap_that_differs, both_outputs)
{
    float y[2] = {1, 2};
    KIT_OK(e, certreg_estimator_record(e, 150, 1, y));
    /* a range of samples that would fit, and then the one that does not */
    KIT_OK(e, certreg_estimator_sample(e, 0, 100));
    save(e, &before);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    y[both_outputs[_i]] = 3;
    KIT_OK(e, certreg_estimator_record(e, 150, 1, y));
    save(e, &after);
    KIT_STATUS(e, certreg_estimator_import(e, before.at, before.count), CERTREG_E_MISMATCH);
    ck_assert_int_eq(certreg_estimator_error(e)->sample, 150);
    KIT_SAYS(certreg_estimator_error(e), "sample 150");
    save(e, &before);
    ck_assert_mem_eq(&before, &after, sizeof before);
}

TEST(record_keeps_failed_outputs)
{
    setting s = usual();
    s.plan.flags = CERTREG_PLAN_COUNT_FAILURES;
    certreg_estimator *lenient = make(&s), *second = make(&s);
    const float y[4] = {1, NAN, 2, 3};
    KIT_OK(lenient, certreg_estimator_record(lenient, 0, 2, y));
    save(lenient, &before);
    KIT_OK(second, certreg_estimator_import(second, before.at, before.count));
    holds_what_was_before(second);
    /* a strict plan has no place for them */
    KIT_STATUS(e, certreg_estimator_import(e, before.at, before.count), CERTREG_E_MISMATCH);
    KIT_SAYS(certreg_estimator_error(e), "failed");
}

/* ---- size */
TEST(export_reports_its_size_beforehand)
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

TEST(record_may_be_empty)
{
    save(e, &before);
    KIT_OK(e, certreg_estimator_sample(e, 0, 10));
    KIT_OK(e, certreg_estimator_import(e, before.at, before.count));
    save(e, &after);
    ck_assert_uint_gt(after.count, before.count);
}

TEST(record_keeps_gaps_which_certify_refuses)
{
    KIT_OK(e, certreg_estimator_sample(e, 0, 150));
    KIT_OK(e, certreg_estimator_sample(e, 160, 240));
    certreg_question q = kit_question(1);
    certreg_certificate c = kit_certificate();
    certreg_bounds b = {.struct_size = sizeof b};
    kit_refuses(e, 0, q, CERTREG_E_WRONG_STATE, "150 to 159");
    KIT_STATUS(e, certreg_estimator_bounds(e, &q, CERTREG_SIDE_LOWER, &b), CERTREG_E_WRONG_STATE);
    save(e, &before);
    const setting s = usual();
    certreg_estimator *there = make(&s);
    KIT_OK(there, certreg_estimator_import(there, before.at, before.count));
    KIT_STATUS(there, certreg_certify(there, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
    rows_asked = 0;
    c = kit_ask(there, CAPACITY, q);
    ck_assert_uint_eq(rows_asked, 10);
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    KIT_OK(e, certreg_estimator_sample(e, 1, 399)); /* the first one missing */
    KIT_STATUS(e, certreg_certify(e, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
}

TEST(import_of_a_larger_record_is_refused_without_a_trace)
{
    setting s = usual();
    s.plan.max_samples = 200;
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
    KIT_OK(small, certreg_estimator_begin(small, input, 0.25, 7));
    /* exactly full; the pilot comes with the record */
    KIT_OK(small, certreg_estimator_import(small, large->at, large->count));
}

/* ---- records of something else */
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

TEST_ROWS(import_names_the_mismatch, others)
{
    const setting s = changed(others[_i].change);
    certreg_estimator *there = make(&s);
    KIT_OK(e, certreg_estimator_sample(e, 0, 64));
    save(e, &before);
    KIT_STATUS(there, certreg_estimator_import(there, before.at, before.count), CERTREG_E_MISMATCH);
    ck_assert_msg(strstr(certreg_estimator_error(there)->text, others[_i].word) != NULL, "%s: %s",
                  others[_i].word, certreg_estimator_error(there)->text);
    KIT_OK(there, certreg_estimator_sample(there, 5, 1));
    save(there, &after);
    KIT_OK(there, certreg_estimator_import(there, after.at, after.count));
    /* and the other way */
    KIT_STATUS(e, certreg_estimator_import(e, after.at, after.count), CERTREG_E_MISMATCH);
}

TEST(import_refuses_outputs_outside_the_range)
{
    static const double lo[2] = {-1, -1}, hi[2] = {1, 1};
    setting s = usual();
    s.model.lo = lo, s.model.hi = hi;
    certreg_estimator *there = make(&s);
    float y[4] = {0.5f, -1, 1, 1.5f};
    KIT_OK(e, certreg_estimator_record(e, 0, 2, y)); /* no range is declared here */
    save(e, &before);
    KIT_STATUS(there, certreg_estimator_import(there, before.at, before.count), CERTREG_E_MISMATCH);
    KIT_SAYS(certreg_estimator_error(there), "range");
    ck_assert_double_eq(certreg_estimator_error(there)->value, 1.5);
    ck_assert_int_eq(certreg_estimator_error(there)->output, 1);
    KIT_OK(there, certreg_estimator_sample(there, 3, 0));
    y[3] = 1;
    KIT_OK(e, certreg_estimator_begin(e, input, 0.25, 7));
    KIT_OK(e, certreg_estimator_record(e, 0, 2, y));
    save(e, &before);
    KIT_OK(there, certreg_estimator_import(there, before.at, before.count));
}

FIXTURE(setup, NULL)
KIT_MAIN("record")
