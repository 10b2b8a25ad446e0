/* A deployed loop (service.h): what a tick gives is what the certificate is about, and everything
 * else is refused, outside, late or failed. */
#define _GNU_SOURCE 1
#include "support/api_kit.h"
#include "support/entropy.h"
#include "support/names.h"
#include <certreg/service.h>
#include <fenv.h>
#include <time.h>

enum { TICKS = 5, SENSORS = 3, READINGS = TICKS * SENSORS, SAMPLES = 1000, SERVED = 11 };
static const float zero[READINGS], unit[SENSORS] = {0.5f, 2, 0}; /* of a tick */
static const double none;
static const certreg_serving fresh[] = {
    {.struct_size = sizeof *fresh, .samples = SERVED, .failure_rate = 0.1},
    {.struct_size = sizeof *fresh, .samples = SERVED, .failure_rate = 0.1, .pairs = 1}};

/* ---- what was certified */
typedef struct certified {
    float scale[READINGS];
    int32_t units[READINGS];
    certreg_masks masks;
    certreg_model model;
    certreg_plan plan;
    certreg_question question;
    certreg_estimator *e;
    certreg_certificate answer;
} certified;

static void destroy_service(void *s)
{
    certreg_service_destroy(s);
}

static void certify(certified *c, const float *z)
{
    c->e = kit_begun(c->model, c->plan, z, 0.5, 7);
    c->answer = kit_ask(c->e, SAMPLES, c->question);
    ck_assert_double_gt(c->answer.radius, 0);
}

/* Reads a sensor without noise, so that masks do not matter. */
KIT_EVAL(last_sensor, x[SENSORS - 1])

static int nothing(void *user, const certreg_batch *b)
{
    (void)user;
    memset(b->y, 0, b->rows * sizeof *b->y);
    return 0;
}

static certified *episode(const certreg_masks *masks)
{
    static certified c;
    c = (certified){.question = QUESTION(.tolerance = 2, .prediction = &none)};
    c.model = MODEL(.eval = kit_identity, .inputs = READINGS, .outputs = 1, .scale = c.scale);
    for (int j = 0; j < READINGS; j++) {
        c.scale[j] = unit[j % SENSORS];
        c.units[j] = j % SENSORS < 2 ? j % SENSORS : -1;
    }
    if (masks) {
        c.masks = *masks, c.masks.unit = c.units;
        c.model.masks = &c.masks, c.model.eval = last_sensor;
    }
    c.plan = PLAN(.seed = 3, .max_samples = SAMPLES, .pilot = SIZE_MAX,
                  .flags = CERTREG_PLAN_EPISODE | CERTREG_PLAN_COUNT_FAILURES);
    return certify(&c, zero), &c;
}

static const float here[SENSORS] = {1, -2, 4};

static certified *single(const certreg_serving *serving)
{
    static certified c;
    c = (certified){.question = QUESTION(.tolerance = 2, .serving = serving)};
    c.model =
        MODEL(.eval = kit_identity, .inputs = SENSORS, .outputs = 1, .scale = unit, .batch = 4);
    c.plan = PLAN(.seed = 3, .max_samples = SAMPLES);
    return certify(&c, here), &c;
}

static certreg_status make(const certified *c, certreg_service_plan p, certreg_error *why,
                           certreg_service **out)
{
    p.struct_size = sizeof p;
    why->struct_size = sizeof *why;
    const certreg_status status =
        certreg_service_create(c->e, &c->question, &c->answer, &p, why, out);
    if (!status) kit_close_later(destroy_service, *out);
    return status;
}

static certreg_service *made(const certified *c, certreg_service_plan p)
{
    certreg_error why;
    certreg_service *s = NULL;
    ck_assert_msg(!make(c, p, &why, &s), "%s", why.text);
    return s;
}

static certreg_service *started(const certified *c, certreg_service_plan p)
{
    certreg_service *s = made(c, p);
    ck_assert_int_eq(certreg_service_start(s, 0), CERTREG_OK);
    return s;
}

static certreg_service_log log_of(certreg_service *s)
{
    certreg_service_log log = {.struct_size = sizeof log};
    ck_assert_int_eq(certreg_service_info(s, &log), CERTREG_OK);
    return log;
}

#define SERVICE_STATUS(s, call, expected)                                                \
    do {                                                                                 \
        const certreg_status got = (call);                                               \
        ck_assert_msg(got == (expected), "%s: %s (%s)", #call, certreg_status_text(got), \
                      certreg_service_error(s)->text);                                   \
    } while (0)
#define SERVICE_OK(s, call) SERVICE_STATUS(s, call, CERTREG_OK)

static const certreg_service_plan run_of_ticks = {.ticks = TICKS};

/* Other bytes in every draw; none after the last. */
static int entropy_left;

static int draw_entropy(void *out, size_t bytes)
{
    if (!entropy_left) return -1;
    memset(out, entropy_left--, bytes);
    return 0;
}

static void use_entropy(int draws)
{
    entropy_left = draws;
    kit_entropy = draw_entropy;
}

/* ---- episodes */
/* The deployed loop under an attack is the callback's under an attack that is half a step longer at
 * most (theory 14.5): o + delta here, and there the grid point of o with the row about delta + o -
 * round(o), both from the service's noise. */
TEST(service_senses_what_the_callback_simulates)
{
    static const double delta[SENSORS] = {0.1875, -0.0625, 0};
    certreg_service *s = started(episode(NULL), run_of_ticks);
    const certreg_plan p = PLAN(.seed = log_of(s).seed, .max_samples = TICKS, .pilot = SIZE_MAX);
    const certreg_model m = MODEL(.inputs = SENSORS, .outputs = 1, .scale = unit);
    certreg_estimator *rows = kit_create(NULL, &m, &p);
    for (int t = 0; t < TICKS; t++) {
        float reading[SENSORS], received[SENSORS], moved[SENSORS], row[SENSORS], noisy[SENSORS],
            simulated[SENSORS];
        for (int j = 0; j < SENSORS; j++) {
            const double deviation = (double)(0.5f * unit[j]),
                         step = deviation > 0 ? ldexp(1, ilogb(deviation) - 8) : 0,
                         o = 3.140625 * (t + 1) - j + 0.375 * step,
                         point = step > 0 ? step * rint(o / step) : o;
            reading[j] = (float)o;
            received[j] = (float)(o + delta[j]);
            moved[j] = (float)(delta[j] + o - point);
        }
        certreg_tick tick = {.struct_size = sizeof tick};
        SERVICE_OK(s, certreg_service_sense(s, received, noisy, &tick));
        ck_assert_int_eq(tick.source, CERTREG_SOURCE_ANSWERED);
        ck_assert_uint_eq(tick.number, (unsigned)t);
        KIT_OK(rows, certreg_estimator_begin(rows, moved, 0.5, 0));
        KIT_OK(rows, certreg_estimator_draw(rows, (unsigned)t, 1, row));
        ck_assert_uint_eq(certreg_episode_sense(0.5, unit, SENSORS, 1, row, 0, reading, simulated),
                          0);
        ck_assert_mem_eq(noisy, simulated, sizeof noisy);
        for (int j = 0; j < 2; j++) ck_assert_float_ne(noisy[j], received[j]);
    }
}

TEST(service_repeats_no_noise_except_that_of_a_log)
{
    float noisy[4][TICKS][SENSORS];
    uint64_t seed[2];
    use_entropy(2);
    certreg_service *s = made(episode(NULL), run_of_ticks);
    for (int run = 0; run < 4; run++) {
        SERVICE_OK(s, certreg_service_start(s, run < 2 ? 0 : seed[run - 2]));
        for (int t = 0; t < TICKS; t++)
            SERVICE_OK(s, certreg_service_sense(s, here, noisy[run][t], NULL));
        if (run < 2) seed[run] = log_of(s).seed;
    }
    for (int i = 0; i < 2 * TICKS; i++)
        for (int k = 0; k < i; k++)
            ck_assert_mem_ne(noisy[i / TICKS][i % TICKS], noisy[k / TICKS][k % TICKS],
                             2 * sizeof(float));
    ck_assert_mem_eq(noisy[2], noisy[0], 2 * sizeof *noisy);
    ck_assert_uint_eq(log_of(s).starts, 4);
    ck_assert_uint_eq(log_of(s).answered, 4 * TICKS);
    SERVICE_STATUS(s, certreg_service_start(s, 0), CERTREG_E_PLATFORM);
    SERVICE_STATUS(s, certreg_service_sense(s, here, noisy[0][0], NULL), CERTREG_E_TOO_MANY);
    kit_entropy = NULL; /* of tests in the same process */
}

TEST(service_shortens_an_episode_by_the_part_of_the_grid)
{
    const certified *c = episode(NULL);
    certreg_certificate served = kit_certificate();
    certreg_service *s = made(c, run_of_ticks);
    SERVICE_OK(s, certreg_service_certificate(s, &served));
    /* Deviations of 0.25 and 1 have the steps 2^-10 and 2^-8, half of it 2^-11/0.5 and 2^-9/2. */
    const double part = sqrt(2 * TICKS) * 0x1p-10;
    ck_assert_double_le(served.radius, c->answer.radius - part);
    ck_assert_double_ge(served.radius, c->answer.radius - part * (1 + 1e-9));
    ck_assert_double_le(served.radius_l2, 2 * served.radius);
}

static const struct {
    float reading[SENSORS], noise[SENSORS];
} too_far[] = {{{NAN, 0, 0}, {0}},    {{0, INFINITY, 0}, {0}},
               {{0, 0, NAN}, {0}},    {{16377, 0, 0}, {0}}, /* 2^24 - 2^13 steps of 2^-10 */
               {{0, -65505, 0}, {0}}, {{0, NAN, 0}, {NAN, 0, 0}}};

TEST_ROWS(service_counts_readings_that_are_too_far_as_out, too_far)
{
    float noisy[SENSORS], simulated[2][SENSORS], near[2][SENSORS] = {{8000, -32000, 1e30f}},
                                                 in_place[] = {8000, -32000, 1e30f};
    certreg_tick tick = {.struct_size = sizeof tick};
    certreg_service *s = started(episode(NULL), run_of_ticks);
    SERVICE_STATUS(s, certreg_service_sense(s, too_far[_i].reading, noisy, &tick),
                   CERTREG_E_OUT_OF_RANGE);
    KIT_SAYS(certreg_service_error(s), "reading[");
    ck_assert_int_eq(tick.source, CERTREG_SOURCE_FAILED);
    SERVICE_OK(s, certreg_service_sense(s, in_place, in_place, NULL));
    ck_assert_uint_eq(log_of(s).failed, 1);
    ck_assert_uint_eq(log_of(s).ticks, 2);
    memcpy(near[1], too_far[_i].reading, sizeof near[1]);
    ck_assert_uint_eq(
        certreg_episode_sense(0.5, unit, SENSORS, 2, too_far[_i].noise, 0, near[0], simulated[0]),
        1);
    for (int j = 0; j < SENSORS; j++) {
        ck_assert(isnan(noisy[j]) && isnan(simulated[1][j]));
        ck_assert(isfinite(in_place[j]));
        ck_assert(isnan(simulated[0][j]) == isnan(too_far[_i].noise[j]));
    }
}

/* An attack must not push a reading over a limit that the callback does not have (theory 14.5). */
TEST(service_takes_more_than_the_callback)
{
    const float limit[] = {8000, -32000, 0}, attacked[] = {8002.5f, -32010, 0},
                noise[SENSORS] = {0};
    float noisy[SENSORS];
    certreg_service *s = started(episode(NULL), run_of_ticks);
    ck_assert_uint_eq(certreg_episode_sense(0.5, unit, SENSORS, 1, noise, 0, limit, noisy), 0);
    ck_assert_uint_eq(certreg_episode_sense(0.5, unit, SENSORS, 1, noise, 0, attacked, noisy), 1);
    ck_assert_uint_eq(certreg_episode_sense(NAN, unit, SENSORS, 1, noise, 0, here, noisy), 1);
    SERVICE_OK(s, certreg_service_sense(s, attacked, noisy, NULL));
}

TEST(service_hides_the_same_sensors_in_all_ticks)
{
    static const double probability[] = {0.4, 0.3};
    const certreg_masks m =
        STRUCT(certreg_masks, .marker = NAN, .units = 2, .probability = probability);
    certified *c = episode(&m);
    int seen[4] = {0};
    use_entropy(200);
    certreg_service *s = made(c, run_of_ticks);
    for (int run = 0; run < 200; run++) {
        int first = 0;
        SERVICE_OK(s, certreg_service_start(s, 0));
        for (int t = 0; t < TICKS; t++) {
            float reading[] = {1, 2, 3}, noisy[SENSORS];
            for (int j = 0; j < 2; j++)
                if (t && first >> j & 1) reading[j] = NAN; /* what is hidden may say anything */
            SERVICE_OK(s, certreg_service_sense(s, reading, noisy, NULL));
            const int hidden = (isnan(noisy[0]) ? 1 : 0) | (isnan(noisy[1]) ? 2 : 0);
            if (!t) seen[first = hidden]++;
            ck_assert_int_eq(hidden, first);
            ck_assert_float_eq(noisy[2], 3);
        }
    }
    for (int k = 0; k < 4; k++) { /* independent of the other unit and of earlier runs */
        const double p = (k & 1 ? 0.6 : 0.4) * (k & 2 ? 0.7 : 0.3);
        ck_assert_double_le(fabs(seen[k] - 200 * p), 5 * sqrt(200 * p * (1 - p)));
    }
    kit_entropy = NULL;
}

/* ---- acts */
TEST_TIMES(service_serves_the_statistic_of_fresh_samples, 2)
{
    certified *c = single(fresh + _i);
    certreg_service *s = started(c, (certreg_service_plan){0});
    const certreg_plan p = PLAN(.seed = log_of(s).seed, .max_samples = SERVED, .pilot = SIZE_MAX,
                                .flags = _i ? CERTREG_PLAN_PAIRS : 0);
    certreg_estimator *server = kit_create(NULL, &c->model, &p);
    double last = NAN;
    for (unsigned t = 0; t < 5; t++) {
        double action, expected;
        SERVICE_OK(s, certreg_service_act(s, here, &action, NULL));
        KIT_OK(server, certreg_estimator_begin(server, here, 0.5, t));
        KIT_OK(server, certreg_estimator_sample(server, 0, SERVED));
        KIT_OK(server, certreg_estimator_estimate(server, &c->question, &expected));
        ck_assert_double_eq(action, expected);
        ck_assert_double_ne(action, last);
        last = action;
    }
}

TEST(service_acts_within_the_certified_ball_only)
{
    const certified *c = single(NULL);
    const double radius = c->answer.radius, fallback = -9;
    certreg_service *s =
        started(c, (certreg_service_plan){.reading_error = 0.25 * radius, .fallback = &fallback});
    const struct {
        double part;
        float other;
        int32_t source;
    } at[] = {{0, 4, CERTREG_SOURCE_ANSWERED},
              {0.74, 4, CERTREG_SOURCE_ANSWERED},
              {0.76, 4, CERTREG_SOURCE_OUTSIDE},
              {-1.1, 4, CERTREG_SOURCE_OUTSIDE},
              {0, 4.5f, CERTREG_SOURCE_OUTSIDE}}; /* a feature without noise */
    for (int i = 0; i < 5; i++) {
        const float reading[] = {(float)(1 + 0.5 * at[i].part * radius), -2, at[i].other};
        const int is_answered = at[i].source == CERTREG_SOURCE_ANSWERED;
        certreg_tick tick = {.struct_size = sizeof tick};
        double action = NAN;
        SERVICE_OK(s, certreg_service_act(s, reading, &action, &tick));
        ck_assert_int_eq(tick.source, at[i].source);
        ck_assert_double_eq(action, is_answered ? c->answer.prediction : fallback);
        if (is_answered) ck_assert_double_le(fabs(tick.left - (1 - at[i].part) * radius), 1e-6);
    }
    ck_assert_uint_eq(log_of(s).outside, 3);
}

/* Whatever one unit of features says, and which one it is. */
TEST(service_acts_although_a_unit_is_wrong)
{
    const certreg_masks m = STRUCT(certreg_masks, .marker = -7, .units = SENSORS, .shown = 1);
    const float wrong[][SENSORS] = {{NAN, -2, 4}, {1, 9e9f, 4}, {1, -2, -INFINITY}, {1, 5, 5}};
    certified *c = single(NULL);
    double action;
    c->model.masks = &m, c->model.eval = nothing, c->question.faults = 1;
    certify(c, here);
    certreg_service *s = started(c, (certreg_service_plan){0});
    for (int i = 0; i < 4; i++) {
        certreg_tick tick = {.struct_size = sizeof tick};
        SERVICE_OK(s, certreg_service_act(s, wrong[i], &action, &tick));
        ck_assert_int_eq(tick.source, i < 3 ? CERTREG_SOURCE_ANSWERED : CERTREG_SOURCE_OUTSIDE);
        if (i < 3) ck_assert_double_eq(tick.left, c->answer.radius);
    }
}

TEST(service_takes_another_anchor)
{
    static const float there[] = {50, 0, 4};
    certified *c = single(NULL);
    certreg_tick tick = {.struct_size = sizeof tick};
    double action;
    certreg_service *s = started(c, (certreg_service_plan){0});
    certreg_certificate other = kit_certificate();
    KIT_OK(c->e, certreg_estimator_begin(c->e, there, 0.5, 8));
    KIT_OK(c->e, certreg_certify(c->e, SAMPLES, &c->question, 1, &other));
    SERVICE_STATUS(s, certreg_service_anchor(s, here, &other), CERTREG_E_MISMATCH);
    SERVICE_OK(s, certreg_service_act(s, here, &action, &tick)); /* the old one stays */
    ck_assert_int_eq(tick.source, CERTREG_SOURCE_ANSWERED);
    SERVICE_OK(s, certreg_service_anchor(s, there, &other));
    SERVICE_OK(s, certreg_service_act(s, there, &action, &tick));
    ck_assert_double_eq(action, other.prediction);
    SERVICE_OK(s, certreg_service_act(s, here, &action, &tick));
    ck_assert_int_eq(tick.source, CERTREG_SOURCE_OUTSIDE);
    ck_assert_uint_eq(log_of(s).input_digest, other.input_digest);
}

/* The clock advances in every call of the model, so that no deadline leaves time for a second. */
static int slow(void *user, const certreg_batch *b)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_nsec == start.tv_nsec);
    return kit_identity(user, b);
}

TEST(service_falls_back_when_the_deadline_is_over)
{
    certified *c = single(fresh);
    const double fallback = -9;
    double action;
    certreg_tick tick = {.struct_size = sizeof tick};
    c->model.eval = slow;
    certify(c, here);
    certreg_service *s =
        started(c, (certreg_service_plan){.deadline = 1e-9, .fallback = &fallback});
    SERVICE_OK(s, certreg_service_act(s, here, &action, &tick));
    ck_assert_int_eq(certreg_service_error(s)->status, CERTREG_OK);
    ck_assert_int_eq(tick.source, CERTREG_SOURCE_LATE);
    ck_assert_double_eq(action, fallback);
    ck_assert_uint_eq(log_of(s).late, 1);
}

static int breaks(void *share, const certreg_batch *b)
{
    kit_identity(NULL, b);
    for (size_t i = 0; i < b->rows; i++)
        if (*(int *)share && i % 4 < 2) b->y[i] = NAN;
    return 0;
}

/* Half of the outputs fail: a median leaves them out, a mean has no guarantee then. */
TEST_TIMES(service_fails_if_the_model_fails, 3)
{
    static const double lo[] = {-9}, hi[] = {9};
    int fails = 0;
    double action = 5;
    certreg_tick tick = {.struct_size = sizeof tick};
    certified *c = single(fresh);
    c->model.eval = breaks, c->model.user = &fails;
    c->model.lo = lo, c->model.hi = hi;
    c->plan.flags = _i ? CERTREG_PLAN_COUNT_FAILURES : 0;
    c->question.statistic = _i == 2 ? MEAN : MEDIAN;
    c->question.tolerance = 6, c->question.serving = asks_serving(401, 0.1);
    certify(c, here);
    certreg_service *s = started(c, (certreg_service_plan){0});
    fails = 1;
    SERVICE_STATUS(s, certreg_service_act(s, here, &action, &tick),
                   _i == 1 ? CERTREG_OK : CERTREG_E_NOT_FINITE);
    ck_assert_int_eq(tick.source, _i == 1 ? CERTREG_SOURCE_ANSWERED : CERTREG_SOURCE_FAILED);
    ck_assert_int_eq(isnan(action) != 0, _i != 1);
}

/* ---- refusals */
static void begin_again(certified *c, const float *z, double sigma)
{
    c->e = kit_begun(c->model, c->plan, z, sigma, 7);
}

static void mask(certified *c)
{
    c->masks = STRUCT(certreg_masks, .units = SENSORS, .shown = 1);
    c->model.masks = &c->masks, begin_again(c, here, 0.5);
}

static void bound_outputs(certified *c)
{
    KIT_OK(c->e, certreg_output_bounds(c->e, 0, &c->question, 1, 0.1, &c->answer));
}

typedef struct refusal {
    certreg_status status;
    const char *words;
} refusal;

enum { OF_EPISODES = 6, WRONGS = 22 }; /* the first ones are about episodes */

/* What a deployment puts together by mistake. */
static refusal put_wrong(int which, certified *c, certreg_service_plan *p)
{
    enum { INVALID = CERTREG_E_INVALID, OTHER = CERTREG_E_MISMATCH };
    static _Alignas(64) unsigned char memory[64];
    static float place[READINGS] = {1}, scales[SENSORS] = {0.5f, 2.5f, 0};
#define MISTAKE(change, status, words) \
    return change, (refusal)           \
    {                                  \
        status, words                  \
    }
    switch (which) {
    case 0: MISTAKE(p->ticks = 4, INVALID, "plan.ticks is 4");
    case 1: MISTAKE(p->ticks = 0, INVALID, "give plan.ticks");
    case 2: MISTAKE((c->scale[4] = 3, certify(c, zero)), INVALID, "feature 4 has another scale");
    case 3: MISTAKE(c->answer.constraints |= CERTREG_CONSTRAINT_GRADIENT, INVALID, "the gradient");
    case 4: MISTAKE(certify(c, place), INVALID, "with z 0");
    case 5: MISTAKE(c->answer.radius = 0.003, INVALID, "no radius");
    case 6: MISTAKE(c->question.tolerance = 2.5, OTHER, "another question");
    case 7:
        c->question.huber_width = 1;
        MISTAKE(c->question.statistic = HUBER, OTHER, "another question");
    case 8: MISTAKE(bound_outputs(c), INVALID, "output bounds");
    case 9: MISTAKE(c->question.statistic = 99, INVALID, "question.statistic");
    case 10: MISTAKE(mask(c), OTHER, "made without model.masks");
    case 11: MISTAKE(begin_again(c, here, 0.6), OTHER, "certificate.sigma is 0.5");
    case 12:
        c->model.scale = scales;
        MISTAKE(begin_again(c, here, 0.5), OTHER, "another input or scale");
    case 13: MISTAKE(begin_again(c, place, 0.5), OTHER, "another input or scale");
    case 14:
        MISTAKE(c->e = kit_create(NULL, &c->model, &c->plan), CERTREG_E_WRONG_STATE,
                "certreg_estimator_begin");
    case 15: MISTAKE(c->answer.status = CERTREG_E_NO_MEMORY, INVALID, "certificate.status is 2");
    case 16: MISTAKE(c->answer.center = TRUE_MEAN, INVALID, ".center 1");
    case 17: MISTAKE(c->answer.fault_radius[0] = 1, OTHER, "made with model.masks");
    case 18:
        c->model.eval = NULL;
        MISTAKE(begin_again(c, here, 0.5), INVALID, "model.eval is NULL");
    case 19:
        c->model.outputs = 2, c->question.output = CERTREG_ALL_OUTPUTS;
        MISTAKE(certify(c, here), INVALID, "question.prediction is NULL");
    case 20: MISTAKE(p->deadline = -1, INVALID, "plan.deadline is -1");
    default:
        p->memory = memory, p->memory_bytes = sizeof memory;
        return (refusal){CERTREG_E_SMALL_MEMORY, "must be at least"};
    }
}

TEST_TIMES(service_refuses_what_was_not_certified, WRONGS)
{
    const int is_episode = _i < OF_EPISODES;
    certreg_service_plan p = {.ticks = is_episode ? TICKS : 0};
    certified *c = is_episode ? episode(NULL) : single(_i == 18 ? fresh : NULL);
    certreg_service *s = (certreg_service *)&p;
    certreg_error why;
    const refusal wanted = put_wrong(_i, c, &p);
    KIT_UNMADE(&why, make(c, p, &why, &s), wanted.status, wanted.words);
    ck_assert_ptr_null(s);
}

TEST(service_runs_in_the_memory_of_its_caller)
{
    static _Alignas(64) unsigned char memory[200 * 1024];
    const certified *c = single(fresh);
    certreg_service_plan p = {.struct_size = sizeof p, .memory = memory};
    certreg_error why;
    double action;
    certreg_service *s = NULL;
    ck_assert_int_eq(certreg_service_size(c->e, &c->question, &p, NULL, &p.memory_bytes),
                     CERTREG_OK);
    ck_assert_uint_le(p.memory_bytes, sizeof memory);
    p.memory_bytes--;
    ck_assert_int_eq(make(c, p, &why, &s), CERTREG_E_SMALL_MEMORY);
    p.memory_bytes++;
    s = started(c, p);
    ck_assert((unsigned char *)s == memory);
    SERVICE_OK(s, certreg_service_act(s, here, &action, NULL));
}

TEST(service_simulates_alike_in_every_environment)
{
    const float noise[] = {0.25f, -0.5f, 0}, reading[] = {1.0007f, -3.3f, 5};
    float nearest[SENSORS], upward[SENSORS];
    certreg_episode_sense(0.1, unit, SENSORS, 1, noise, 0, reading, nearest);
    fesetround(FE_UPWARD);
    certreg_episode_sense(0.1, unit, SENSORS, 1, noise, 0, reading, upward);
    fesetround(FE_TONEAREST);
    ck_assert_mem_eq(upward, nearest, sizeof nearest);
}

TEST(service_refuses_ticks_at_the_wrong_time)
{
    const certified *c = episode(NULL);
    float noisy[SENSORS] = {1, 1, 1};
    double action = 1;
    certreg_certificate out = kit_certificate();
    certreg_service *s = made(c, run_of_ticks),
                    *acts = made(single(NULL), (certreg_service_plan){0});
    SERVICE_STATUS(s, certreg_service_sense(s, here, noisy, NULL), CERTREG_E_WRONG_STATE);
    KIT_SAYS(certreg_service_error(s), "certreg_service_start");
    ck_assert(isnan(noisy[0]) && isnan(noisy[2]));
    SERVICE_STATUS(s, certreg_service_start(s, c->plan.seed), CERTREG_E_INVALID);
    KIT_SAYS(certreg_service_error(s), "seed");
    SERVICE_OK(s, certreg_service_start(s, 0));
    SERVICE_STATUS(s, certreg_service_act(s, here, &action, NULL), CERTREG_E_WRONG_STATE);
    KIT_SAYS(certreg_service_error(s), "certreg_service_sense");
    SERVICE_STATUS(s, certreg_service_anchor(s, here, &c->answer), CERTREG_E_WRONG_STATE);
    SERVICE_STATUS(s, certreg_service_sense(s, NULL, noisy, NULL), CERTREG_E_INVALID);
    for (int t = 0; t < TICKS; t++) SERVICE_OK(s, certreg_service_sense(s, here, noisy, NULL));
    SERVICE_STATUS(s, certreg_service_sense(s, here, noisy, NULL), CERTREG_E_TOO_MANY);
    ck_assert(isnan(noisy[1]));
    ck_assert_uint_eq(log_of(s).ticks, TICKS);
    SERVICE_STATUS(acts, certreg_service_act(acts, here, &action, NULL), CERTREG_E_WRONG_STATE);
    ck_assert(isnan(action));
    SERVICE_STATUS(acts, certreg_service_sense(acts, here, noisy, NULL), CERTREG_E_WRONG_STATE);
    SERVICE_OK(acts, certreg_service_certificate(acts, &out));
}

KIT_MAIN("services")
