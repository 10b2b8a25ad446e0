/* Question, run and certificate as a line of JSON, and the digest of a question. */
#include "support/api_kit.h"
#include "support/comma.h"

enum { ROOM = 4096 };
static const uint64_t looks[3] = {200, 300, 400};
static const double prediction = 0.1;

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

static const char *write_all(const certreg_question *q, const certreg_run *run,
                             const certreg_certificate *c, uint32_t flags)
{
    static char text[ROOM];
    size_t bytes = ROOM, needed = 0;
    ck_assert_int_eq(certreg_write_json(q, run, c, flags, NULL, &needed), CERTREG_OK);
    ck_assert_int_eq(certreg_write_json(q, run, c, flags, text, &bytes), CERTREG_OK);
    ck_assert_uint_eq(bytes, needed);
    ck_assert_uint_eq(strlen(text) + 1, bytes);
    return text;
}

/* What stands behind "name": in the text, from `from` on. */
static const char *value_of(const char *text, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(text, key);
    ck_assert_msg(at != NULL, "%s is missing in %s", name, text);
    return at + strlen(key);
}

static int begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* ---- the line */
TEST(a_line_has_every_field_of_the_three_structs)
{
    const certreg_target target = target_of();
    const certreg_serving serving = serving_of();
    certreg_question q = QUESTION(.tolerance = 0.5, .prediction = &prediction, .target = &target,
                                  .serving = &serving, .bonferroni = 7);
    const certreg_run run = {.struct_size = sizeof run, .noise_id = UINT64_MAX};
    const certreg_certificate c = kit_certificate();
    static const char *const names[] = {
        "output",      "tolerance",     "alpha",       "statistic",     "method",
        "huber_width", "center",        "constraints", "bonferroni",    "prediction",
        "target",      "looks",         "serving",     "samples",       "failure_rate",
        "noise_id",    "level",         "pilot",       "batch",         "sigma",
        "radius",      "status",        "outcome",     "stop",          "estimate",
        "output_lo",   "output_hi",     "radius_l1",   "radius_l2",     "radius_linf",
        "question",    "limiting_side", "run",         "model_seconds", "library_seconds",
        "certificate", "trim",          "core",        "output_count"};
    const char *text = write_all(&q, &run, &c, 0);
    for (int i = 0; i < KIT_ROWS(names); i++) value_of(text, names[i]);
    ck_assert(begins(value_of(text, "looks"), "[\"200\",\"300\",\"400\"]"));
    ck_assert(begins(value_of(text, "bonferroni"), "\"7\""));
    ck_assert(begins(value_of(text, "noise_id"), "\"18446744073709551615\""));
    ck_assert(begins(value_of(text, "prediction"), "0.1,"));
    ck_assert_ptr_null(strchr(text, '\n'));
    ck_assert_ptr_null(strstr(text, ",,"));
    ck_assert_ptr_null(strstr(text, "{,"));
}

TEST(what_is_not_given_is_left_out_and_what_a_question_lacks_is_null)
{
    const certreg_question q = kit_question(0.5);
    ck_assert_str_eq(write_all(NULL, NULL, NULL, 0), "{}");
    const char *text = write_all(&q, NULL, NULL, 0);
    ck_assert(begins(text, "{\"question\":{"));
    ck_assert(begins(value_of(text, "prediction"), "null"));
    ck_assert(begins(value_of(text, "target"), "null"));
    ck_assert(begins(value_of(text, "serving"), "null}}"));
    ck_assert_ptr_null(strstr(text, "certificate"));
}

TEST(a_vector_is_a_list)
{
    const double several[] = {0.5, -1, 2};
    certreg_question q = QUESTION(.tolerance = 0.5, .prediction = several, .prediction_count = 3);
    ck_assert(begins(value_of(write_all(&q, NULL, NULL, 0), "prediction"), "[0.5,-1,2],"));
    q.prediction_count = 1;
    ck_assert(begins(value_of(write_all(&q, NULL, NULL, 0), "prediction"), "[0.5],"));
    size_t bytes = 0;
    q.prediction = NULL;
    ck_assert_int_eq(certreg_write_json(&q, NULL, NULL, 0, NULL, &bytes), CERTREG_E_INVALID);
}

TEST(infinities_and_nan_are_null)
{
    certreg_certificate c = kit_certificate();
    c.output_lo = -INFINITY, c.output_hi = INFINITY, c.estimate = NAN;
    const char *text = write_all(NULL, NULL, &c, 0);
    ck_assert(begins(value_of(text, "output_lo"), "null,"));
    ck_assert(begins(value_of(text, "output_hi"), "null,"));
    ck_assert(begins(value_of(text, "estimate"), "null,"));
}

TEST(the_seed_is_written_only_when_it_is_asked_for)
{
    const certreg_run run = {.struct_size = sizeof run, .seed = 123456789};
    ck_assert_ptr_null(strstr(write_all(NULL, &run, NULL, 0), "seed"));
    ck_assert_ptr_null(strstr(write_all(NULL, &run, NULL, 0), "123456789"));
    ck_assert(
        begins(value_of(write_all(NULL, &run, NULL, CERTREG_JSON_SEED), "seed"), "\"123456789\""));
}

/* ---- numbers */
static uint64_t state = 88172645463325252u;
static double any_double(void)
{
    double x;
    do {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        memcpy(&x, &state, sizeof x);
    } while (!isfinite(x));
    return x;
}

static void check_round_trips(int count)
{
    static const double special[] = {0,    0.05,      1.0 / 3, 1e300,  4.9406564584124654e-324,
                                     -2.5, 123456789, 1e22,    1e-300, 0.1 + 0.2};
    for (int i = 0; i < count; i++) {
        certreg_certificate c = kit_certificate();
        char digits[64], *end;
        c.radius = i < KIT_ROWS(special) ? special[i] : any_double();
        const char *at = value_of(write_all(NULL, NULL, &c, 0), "radius");
        const size_t length = strspn(at, "0123456789+-.e");
        ck_assert_uint_lt(length, sizeof digits);
        ck_assert_int_eq(at[length], ',');
        memcpy(digits, at, length), digits[length] = 0;
        const char *point = localeconv()->decimal_point; /* for strtod */
        char localized[80] = "", *dot = strchr(digits, '.');
        if (dot)
            snprintf(localized, sizeof localized, "%.*s%s%s", (int)(dot - digits), digits, point,
                     dot + 1);
        else snprintf(localized, sizeof localized, "%s", digits);
        const double back = strtod(localized, &end);
        ck_assert_int_eq(*end, 0);
        ck_assert_msg(!memcmp(&back, &c.radius, sizeof back), "%s is not %.17g", digits, c.radius);
    }
}

TEST(doubles_read_back_to_the_same_bits)
{
    check_round_trips(2000);
    certreg_certificate c = kit_certificate();
    c.alpha = 0.05;
    ck_assert(begins(value_of(write_all(NULL, NULL, &c, 0), "alpha"), "0.05,"));
}

TEST(the_locale_has_no_influence)
{
    const certreg_model m = kit_model(kit_identity, NULL, 1, 1);
    const certreg_plan p = kit_plan(100);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_question q = kit_question(1);
    certreg_certificate c = kit_certificate(), refused = kit_certificate();
    char plain[ROOM];
    q.alpha = 0.75, c.radius = 1.5, c.sigma = 1e-7 / 3;
    snprintf(plain, sizeof plain, "%s", write_all(NULL, NULL, &c, 0));
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0}, 1, 0));
    if (!comma_take()) return;
    ck_assert_str_eq(write_all(NULL, NULL, &c, 0), plain);
    check_round_trips(200);
    KIT_STATUS(e, certreg_certify(e, 100, &q, 1, &refused), CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(e), "alpha is 0.75; it must lie in (0, 0.5]");
    ck_assert_str_eq(localeconv()->decimal_point, ","); /* still the program's */
    setlocale(LC_ALL, "C");
}

/* ---- room */
TEST(a_small_buffer_is_told_how_much_is_needed_and_not_written_beyond)
{
    const certreg_question q = kit_question(0.5);
    char text[ROOM], untouched[ROOM];
    size_t needed = 0;
    memset(untouched, 0x5A, sizeof untouched);
    ck_assert_int_eq(certreg_write_json(&q, NULL, NULL, 0, NULL, &needed), CERTREG_OK);
    for (size_t room = 0; room < needed; room++) {
        size_t bytes = room;
        memset(text, 0x5A, sizeof text);
        ck_assert_int_eq(certreg_write_json(&q, NULL, NULL, 0, text, &bytes),
                         CERTREG_E_SMALL_MEMORY);
        ck_assert_uint_eq(bytes, needed);
        ck_assert_mem_eq(text + room, untouched, sizeof text - room);
        if (room) ck_assert_int_eq(text[0], 0);
    }
    memset(text, 0x5A, sizeof text);
    ck_assert_int_eq(certreg_write_json(&q, NULL, NULL, 0, text, &needed), CERTREG_OK);
    ck_assert_uint_eq(strnlen(text, sizeof text) + 1, needed);
    ck_assert_int_eq(text[needed], 0x5A);
}

TEST(bad_arguments_of_the_writer_are_refused)
{
    certreg_question q = kit_question(0.5), small = q;
    certreg_target target = target_of();
    size_t bytes = 0;
    small.struct_size = 8;
    ck_assert_int_eq(certreg_write_json(&q, NULL, NULL, 0, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_write_json(&q, NULL, NULL, 2, NULL, &bytes), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_write_json(&small, NULL, NULL, 0, NULL, &bytes), CERTREG_E_INVALID);
    q.target = &target, target.look_count = 129; /* of three looks that are there */
    ck_assert_int_eq(certreg_write_json(&q, NULL, NULL, 0, NULL, &bytes), CERTREG_E_INVALID);
    target.struct_size = 8;
    ck_assert_int_eq(certreg_write_json(&q, NULL, NULL, 0, NULL, &bytes), CERTREG_E_INVALID);
}

/* ---- digests */
static uint64_t digest_of(const certreg_question *q)
{
    uint64_t digest = 0;
    ck_assert_int_eq(certreg_question_digest(q, &digest), CERTREG_OK);
    ck_assert_uint_ne(digest, 0);
    return digest;
}

TEST(every_field_and_every_value_behind_a_pointer_changes_the_digest)
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
    CHANGED((q.prediction = NULL, q.prediction_count = 0));
    CHANGED(target.radius = 0.4);
    CHANGED(target.looks = more + 1);
    CHANGED(more[3] = 501);
    CHANGED(target.look_count = 2);
    CHANGED((target.looks = NULL, target.look_count = 0));
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

TEST(resolved_defaults_and_copies_have_the_same_digest)
{
    certreg_question q = kit_question(0.5), same = q;
    same.alpha = 0.05, same.bonferroni = 1;
    ck_assert_uint_eq(digest_of(&q), digest_of(&same));
    const double one = 0;
    q.prediction = same.prediction = &one, same.prediction_count = 1;
    ck_assert_uint_eq(digest_of(&q), digest_of(&same));
    const certreg_target targets[2] = {target_of(), target_of()};
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
TEST(digests_stay_what_they_are)
{
    const certreg_question q = kit_question(0.5);
    ck_assert_uint_eq(digest_of(&q), UINT64_C(0x8856f541ff1c25bb));
}

TEST(questions_that_cannot_be_read_have_no_digest)
{
    certreg_question q = kit_question(0.5);
    uint64_t digest = 7;
    ck_assert_int_eq(certreg_question_digest(NULL, &digest), CERTREG_E_INVALID);
    ck_assert_uint_eq(digest, 0);
    ck_assert_int_eq(certreg_question_digest(&q, NULL), CERTREG_E_INVALID);
    q.struct_size = 4;
    ck_assert_int_eq(certreg_question_digest(&q, &digest), CERTREG_E_INVALID);
}

KIT_MAIN("json and digests")
