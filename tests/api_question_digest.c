/* The digest of a question. */
#include "support/api_kit.h"

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
    certreg_error why = {.struct_size = sizeof why};
    uint64_t digest = 7;
    ck_assert_int_eq(certreg_question_digest(NULL, &why, &digest), CERTREG_E_INVALID);
    ck_assert_uint_eq(digest, 0);
    KIT_SAYS(&why, "question is NULL");
    ck_assert_int_eq(certreg_question_digest(&q, &why, NULL), CERTREG_E_INVALID);
    KIT_SAYS(&why, "digest is NULL");
    q.struct_size = 4;
    ck_assert_int_eq(certreg_question_digest(&q, &why, &digest), CERTREG_E_INVALID);
    KIT_SAYS(&why, "question.struct_size is 4");
}

KIT_MAIN("question_digest")
