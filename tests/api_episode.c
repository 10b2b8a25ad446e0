/* Records of what is deployed. Servers of pairs: their noise, their estimates, and what keeps them
 * apart from servers of independent noise. Episodes (theory 14): what an adversary who adapts
 * breaks is refused by name, and an episode that fails counts against both sides. */
#include "support/api_kit.h"
#include "support/names.h"
#include <certreg/attack.h>
#include <certreg/interval.h>

enum { SAMPLES = 4000, INPUTS = 5, SERVED = 101 };
static const float origin[2], place[INPUTS] = {0.5f, -1, 0, 3, 2};
static const double none[2];

/* ---- servers of pairs */
static const certreg_serving in_pairs = {.struct_size = sizeof in_pairs,
                                         .pairs = 1,
                                         .samples = SERVED,
                                         .failure_rate = 0.01},
                             alone = {.struct_size = sizeof alone,
                                      .samples = SERVED,
                                      .failure_rate = 0.01};

static certreg_question question_of(const certreg_serving *serving)
{
    return QUESTION(.tolerance = 0.6, .prediction = none, .serving = serving);
}

static certreg_estimator *server_on(certreg_backend *backend, uint32_t flags)
{
    certreg_model m = KIT_MODEL(kit_identity, NULL, INPUTS, 1, .batch = 16);
    const certreg_plan p =
        PLAN(.seed = 11, .max_samples = SERVED, .pilot = SIZE_MAX, .flags = flags);
    certreg_estimator *e = kit_create(backend, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, place, 0.5, 3));
    return e;
}

static certreg_estimator *server(uint32_t flags)
{
    return server_on(NULL, flags);
}

TEST(serving_pairs_are_drawn_with_opposite_noise)
{
    static float x[SERVED + 1][INPUTS], y[SERVED][INPUTS];
    certreg_estimator *pairs = server(CERTREG_PLAN_PAIRS), *other = server(0);
    KIT_OK(pairs, certreg_estimator_draw(pairs, 0, SERVED + 1, *x));
    KIT_OK(other, certreg_estimator_draw(other, 0, SERVED / 2 + 1, *y));
    for (int i = 0; i <= SERVED; i++)
        for (int j = 0; j < INPUTS; j++) {
            const double noise = (double)y[i / 2][j] - (double)place[j];
            ck_assert_double_eq((double)x[i][j] - (double)place[j], i % 2 ? -noise : noise);
        }
    KIT_OK(pairs, certreg_estimator_draw(pairs, 37, 4, *y)); /* any part of them */
    ck_assert_mem_eq(y, x + 37, 4 * sizeof *x);
}

TEST(serving_estimate_takes_whole_pairs)
{
    static float x[SERVED][INPUTS], y[SERVED];
    certreg_estimator *e = server(CERTREG_PLAN_PAIRS);
    const certreg_question q = question_of(&in_pairs);
    double median = NAN, sorted[SERVED];
    KIT_OK(e, certreg_estimator_draw(e, 0, SERVED, *x));
    for (int i = 0; i < SERVED; i++) sorted[i] = (double)(y[i] = x[i][0]);
    KIT_OK(e, certreg_estimator_sample(e, 0, SERVED - 1));
    KIT_STATUS(e, certreg_estimator_estimate(e, &q, &median), CERTREG_E_WRONG_STATE);
    KIT_OK(e, certreg_estimator_sample(e, 0, SERVED));
    KIT_OK(e, certreg_estimator_record(e, 0, SERVED, y)); /* what sample recorded agrees */
    KIT_OK(e, certreg_estimator_estimate(e, &q, &median));
    kit_sort(sorted, SERVED);
    ck_assert_double_eq(median, sorted[SERVED / 2]);
}

TEST(serving_records_of_pairs_are_for_plans_of_pairs_alone)
{
    static unsigned char bytes[2][10000];
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        certreg_estimator *e = server_on(i ? kit_backend(3) : NULL, CERTREG_PLAN_PAIRS);
        KIT_OK(e, certreg_estimator_sample(e, 0, SERVED));
        count = kit_export(e, bytes[i], sizeof bytes[i]);
    }
    ck_assert_mem_eq(bytes[1], bytes[0], count);
    certreg_estimator *again = server(CERTREG_PLAN_PAIRS), *other = server(0);
    KIT_OK(again, certreg_estimator_import(again, bytes, count));
    KIT_REFUSED(other, certreg_estimator_import(other, bytes, count), CERTREG_E_MISMATCH,
                "CERTREG_PLAN_PAIRS");
}

TEST_TIMES(serving_estimate_refuses_the_other_kind_of_question, 2)
{
    const certreg_question both[] = {question_of(&alone), question_of(&in_pairs),
                                     question_of(NULL)};
    uint64_t digest[2];
    double out;
    certreg_estimator *e = server(_i ? CERTREG_PLAN_PAIRS : 0);
    KIT_OK(e, certreg_estimator_sample(e, 0, SERVED));
    KIT_OK(e, certreg_estimator_estimate(e, both + _i, &out));
    KIT_REFUSED(e, certreg_estimator_estimate(e, both + !_i, &out), CERTREG_E_INVALID, "pairs");
    if (_i) KIT_STATUS(e, certreg_estimator_estimate(e, both + 2, &out), CERTREG_E_INVALID);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(certreg_question_digest(both + i, NULL, digest + i), CERTREG_OK);
    ck_assert(digest[0] != digest[1]);
}

TEST(certify_refuses_samples_in_serving_pairs)
{
    certreg_estimator *e = server(CERTREG_PLAN_PAIRS);
    for (int i = 0; i < 2; i++) {
        const certreg_question q = question_of(i ? &in_pairs : NULL);
        certreg_certificate c = kit_stale();
        certreg_forecast f = {.struct_size = sizeof f};
        certreg_bounds b = {.struct_size = sizeof b};
        KIT_REFUSED(e, certreg_certify(e, SERVED, &q, 1, &c), CERTREG_E_INVALID,
                    "CERTREG_PLAN_PAIRS");
        ck_assert(kit_is_blank(&c, CERTREG_E_INVALID));
        KIT_OK(e, certreg_estimator_sample(e, 0, SERVED));
        KIT_STATUS(e, certreg_estimator_bounds(e, &q, 1, &b), CERTREG_E_INVALID);
        KIT_STATUS(e, certreg_estimator_forecast(e, &q, &f), CERTREG_E_INVALID);
        KIT_STATUS(e, certreg_output_bounds(e, SERVED, &q, 1, 0.5, &c), CERTREG_E_INVALID);
    }
}

/* ---- the loop of theory 14.4: 1 in one of ten episodes. The first reading decides which sign of
 * the second one is out, so that its gradient is 0; `budget` is the adversary's. */

static int out_of_two(void *budget, const certreg_batch *b)
{
    for (size_t i = 0; i < b->rows; i++) {
        const double *spent = budget;
        const double first = (double)b->x[2 * i], second = (double)b->x[2 * i + 1];
        const double side = first < 0 ? -1 : 1;
        b->y[i] = side * second + (spent ? *spent : 0) > 1.28 ? 1 : 0;
    }
    return 0;
}

static certreg_plan plan_of(uint32_t flags, uint32_t constraints)
{
    return PLAN(.seed = 5, .max_samples = SAMPLES, .pilot = 100, .flags = flags,
                .constraints = constraints);
}

static certreg_question about_half(uint32_t constraints)
{
    return QUESTION(.tolerance = 0.5, .alpha = 0.01, .prediction = none, .prediction_count = 1,
                    .constraints = constraints);
}

static double attacked_median(double budget)
{
    double median;
    certreg_estimator *e =
        kit_begun(kit_model(out_of_two, &budget, 2, 1), plan_of(0, 0), origin, 1, 9);
    const certreg_question q = about_half(0);
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    KIT_OK(e, certreg_estimator_estimate(e, &q, &median));
    return median;
}

TEST(episode_certified_with_the_gradient_is_broken_by_adapting)
{
    const certreg_model m = kit_model(out_of_two, NULL, 2, 1);
    const certreg_plan fixed = plan_of(0, ECGM), episode = plan_of(CERTREG_PLAN_EPISODE, 0);
    certreg_estimator *a = kit_begun(m, fixed, origin, 1, 1),
                      *b = kit_begun(m, episode, origin, 1, 1);
    const double with = kit_ask(a, SAMPLES, about_half(ECGM)).radius,
                 without = kit_ask(b, SAMPLES, about_half(0)).radius;
    ck_assert_double_gt(with, 1.35);
    ck_assert_double_eq(attacked_median(0.999 * with), 1);
    ck_assert(without > 1.15 && without < 1.28); /* 1.28 is exact */
    ck_assert_double_eq(attacked_median(0.999 * without), 0);
}

static const struct {
    const char *words;
    uint32_t flags, constraints;
    size_t pilot;
} no_plans[] = {{"CERTREG_CONSTRAINT_GRADIENT", CERTREG_PLAN_EPISODE, ECGM, 100},
                {"CERTREG_PLAN_EPISODE", CERTREG_PLAN_EPISODE, ECGM, 100},
                {"plan.pilot is 3", CERTREG_PLAN_DEPLOYED, 0, 3},
                {"plan.pilot", CERTREG_PLAN_PAIRS, 0, 20}};

TEST_ROWS(episode_plan_with_the_gradient_or_pilot_is_refused, no_plans)
{
    const certreg_model m = kit_model(out_of_two, NULL, 2, 1);
    certreg_plan p = plan_of(no_plans[_i].flags, no_plans[_i].constraints);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    size_t bytes;
    p.pilot = no_plans[_i].pilot;
    KIT_UNMADE(&why, certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID,
               no_plans[_i].words);
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, NULL, &bytes, NULL), CERTREG_E_INVALID);
}

/* Without the flag, sample 0 is the reading itself unless plan.pilot is SIZE_MAX. */
TEST(episode_deployed_by_its_flag_has_noise_in_every_sample)
{
    const certreg_model m = kit_model(NULL, NULL, 2, 1);
    certreg_plan p = PLAN(.seed = 5, .max_samples = 7, .flags = CERTREG_PLAN_DEPLOYED);
    const certreg_question q = about_half(0);
    certreg_certificate c = kit_stale();
    float with_flag[14], without_pilot[14], y[7] = {3, 1, 2, 3, 2, 1, 2};
    double median;
    certreg_estimator *e = kit_begun(m, p, (const float[]){1, 2}, 0.5, 1);
    KIT_OK(e, certreg_estimator_draw(e, 0, 7, with_flag));
    for (int i = 0; i < 14; i++) ck_assert_float_ne(with_flag[i], (float)(1 + i % 2));
    KIT_OK(e, certreg_estimator_record(e, 0, 7, y));
    KIT_OK(e, certreg_estimator_estimate(e, &q, &median));
    ck_assert_double_eq(median, 2);
    KIT_REFUSED(e, certreg_certify(e, 0, &q, 1, &c), CERTREG_E_INVALID, "CERTREG_PLAN_DEPLOYED");
    ck_assert(kit_is_blank(&c, CERTREG_E_INVALID));
    p.flags = 0, p.pilot = SIZE_MAX;
    certreg_estimator *other = kit_begun(m, p, (const float[]){1, 2}, 0.5, 1);
    KIT_OK(other, certreg_estimator_draw(other, 0, 7, without_pilot));
    ck_assert_mem_eq(with_flag, without_pilot, sizeof with_flag);
}

/* ---- questions */
static const int32_t turn[] = {REAL, REAL, ANGLE};
static const double lo[] = {-9, -9, -4}, hi[] = {9, 9, 4};

static certreg_estimator *loop_of_three(void)
{
    certreg_model m = KIT_MODEL(kit_identity, NULL, 2, 3, .kind = turn, .lo = lo, .hi = hi);
    return kit_begun(m, plan_of(CERTREG_PLAN_EPISODE, 0), origin, 1, 1);
}

#define SEVERAL(...) .serving = SERVING(.samples = 11, .failure_rate = 0.1, __VA_ARGS__)
static const struct {
    const char *words;
    certreg_question q;
} refused[] = {
    {"leave out CERTREG_CONSTRAINT_GRADIENT", {.constraints = ECGM}},
    {"question.method: for an episode", {.method = BASELINE}},
    {"question.method: for an episode", {.method = BASELINE, .center = SAMPLE_MEDIAN}},
    {"question.method: for an episode", {.method = PAPER, .statistic = MEAN, .center = TRUE_MEAN}},
    {"question.serving: several episodes", {SEVERAL(.pairs = 1)}},
    {"question.serving: several episodes", {.output = 2, SEVERAL(.pairs = 0)}},
    {"question.serving: several episodes", {.output_count = 2, SEVERAL(.pairs = 0)}},
};

TEST_ROWS(episode_questions_are_refused_by_name, refused)
{
    certreg_estimator *e = loop_of_three();
    certreg_question q = refused[_i].q;
    q.struct_size = sizeof q, q.tolerance = 3;
    kit_refuses(e, 0, q, CERTREG_E_INVALID, refused[_i].words);
    KIT_OK(e, certreg_estimator_sample(e, 0, 11));
    if (q.serving) { /* neither is such a server */
        double out[2];
        KIT_STATUS(e, certreg_estimator_estimate(e, &q, out), CERTREG_E_INVALID);
    }
}

static const certreg_question proved[] = {
    {.statistic = HUBER, .huber_width = 1.5},
    {.statistic = MEAN, .method = ANYTIME},
    {.statistic = MEAN, .center = TRUE_MEAN},
    {.method = ASYMPTOTIC},
    {.output = 2},
    {.output_count = 2, .serving = SERVING(.samples = 1, .failure_rate = 0.4)},
    {SEVERAL(.pairs = 0)},
};

TEST_ROWS(episode_questions_that_are_proved_are_answered, proved)
{
    certreg_question q = proved[_i];
    q.struct_size = sizeof q, q.tolerance = 3;
    ck_assert_double_gt(kit_ask(loop_of_three(), SAMPLES, q).radius, 0.1);
}

TEST(episode_can_be_attacked_but_has_no_prediction_interval)
{
    certreg_estimator *e = loop_of_three();
    double scores[100];
    certreg_calibration c = {.struct_size = sizeof c, .scores = scores, .capacity = 4};
    const certreg_attack_plan plan = {.struct_size = sizeof plan, .max_calls = SAMPLES};
    certreg_attack *attack = NULL;
    certreg_error why = {.struct_size = sizeof why};
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    KIT_REFUSED(e, certreg_estimator_calibrate(e, &c, none), CERTREG_E_INVALID,
                "CERTREG_PLAN_EPISODE");
    ck_assert_msg(!certreg_attack_create(e, &plan, &why, &attack), "%s", why.text);
    certreg_attack_destroy(attack);
}

TEST(episode_of_many_ticks_fits_the_default_memory)
{
    const certreg_model m = kit_model(kit_identity, NULL, 1000 * 8, 1);
    const certreg_plan p = plan_of(CERTREG_PLAN_EPISODE, 0);
    size_t bytes = 0;
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, NULL, &bytes, NULL), CERTREG_OK);
    ck_assert_uint_lt(bytes, 9000000); /* 8.4 MB */
}

/* ---- episodes that fail */
static int fails(void *share, const certreg_batch *b)
{
    const int status = out_of_two(NULL, b);
    const double *instead = share;
    for (size_t i = 0; i < b->rows; i++)
        if (b->y[i] > 0) b->y[i] = (float)*instead;
    return status;
}

TEST(episode_that_fails_counts_as_out_on_both_sides)
{
    const double values[] = {NAN, 1, -1}; /* out: of both, of the upper, of the lower side */
    double radius[3];
    for (int i = 0; i < 3; i++) {
        double value = values[i];
        certreg_estimator *e =
            kit_begun(kit_model(fails, &value, 2, 1),
                      plan_of(CERTREG_PLAN_EPISODE | CERTREG_PLAN_COUNT_FAILURES, 0), origin, 1, 1);
        radius[i] = kit_ask(e, SAMPLES, about_half(0)).radius;
    }
    ck_assert_double_gt(radius[0], 1);
    ck_assert_double_eq(radius[0], radius[1]);
    ck_assert_double_eq(radius[0], radius[2]);
}

KIT_MAIN("servers and episodes")
