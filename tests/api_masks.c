/* model.masks (theory 1.12): which features a sample hides, the radii for wrong units, what is
 * refused, and certificates from all masks. tests/cover_faults.c counts how often they are false.
 */
#include "support/api_kit.h"
#include <certreg/queue.h>

enum { INPUTS = 7, UNITS = 4, ROWS = 24000 };
static const float z_of[INPUTS] = {1, 2, 3, 4, 5, 6, 7}, scale[INPUTS] = {1, 0, 1, 1, 1, 1, 1};
static const int32_t units[INPUTS] = {0, 2, 3, 0, 1, -1, 2}; /* unit 0 has the features 0 and 3 */
static const double each[UNITS] = {0.375, 0.25, 0, 0.125};

static certreg_masks law(int independent)
{
    return STRUCT(certreg_masks, .marker = independent ? NAN : -7, .units = UNITS, .unit = units,
                  .shown = independent ? 0 : 1, .probability = independent ? each : NULL);
}

static certreg_estimator *masked(const certreg_masks *masks, uint32_t flags)
{
    const certreg_model m = MODEL(.eval = kit_identity, .inputs = INPUTS, .outputs = 1, .batch = 64,
                                  .scale = scale, .masks = masks);
    const certreg_plan p = PLAN(.seed = 11, .max_samples = ROWS, .flags = flags);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, z_of, 0.5, 3));
    return e;
}

/* ---- what is hidden */
static int is_hidden(float x, int independent)
{
    return independent ? isnan(x) : x == -7;
}

/* Returns the set of units that a row shows; what it shows has the bits of a draw without masks. */
static unsigned shown_of(const float *x, const float *plain, int independent)
{
    unsigned set = 0, hidden = 0;
    for (int j = 0; j < INPUTS; j++) {
        const int hides = is_hidden(x[j], independent);
        ck_assert(hides ? units[j] >= 0 : !memcmp(x + j, plain + j, sizeof *x));
        if (units[j] >= 0) *(hides ? &hidden : &set) |= 1u << units[j];
    }
    ck_assert_uint_eq(set & hidden, 0); /* a unit is hidden as a whole */
    return set;
}

static double probability_of(unsigned set, int independent)
{
    double p = 1, count = 0;
    for (int u = 0; u < UNITS; u++) {
        p *= set >> u & 1 ? each[u] : 1 - each[u];
        count += set >> u & 1;
    }
    return independent ? p : count == 1 ? 0.25 : 0;
}

TEST_TIMES(masks_have_their_law_and_hide_whole_units, 2)
{
    static float x[ROWS][INPUTS], plain[ROWS][INPUTS], again[5][INPUTS];
    const certreg_masks m = law(_i);
    certreg_estimator *e = masked(&m, 0), *bare = masked(NULL, 0);
    double seen[1 << UNITS] = {0};
    KIT_OK(e, certreg_estimator_draw(e, 0, ROWS, *x));
    KIT_OK(bare, certreg_estimator_draw(bare, 0, ROWS, *plain));
    ck_assert_mem_eq(x[0], z_of, sizeof z_of); /* the sample without noise */
    for (int i = 1; i < ROWS; i++) seen[shown_of(x[i], plain[i], _i)]++;
    for (unsigned s = 0; s < 1 << UNITS; s++) {
        const double p = probability_of(s, _i), count = ROWS - 1;
        ck_assert_double_le(fabs(seen[s] - p * count), 4.5 * sqrt(p * (1 - p) * count));
    }
    KIT_OK(e, certreg_estimator_draw(e, 701, 5, *again)); /* whatever is drawn with them */
    ck_assert_mem_eq(again, x[701], sizeof again);
}

TEST(masks_are_drawn_once_for_the_ticks_of_an_episode)
{
    static float x[50][INPUTS];
    const certreg_masks m = law(0);
    certreg_estimator *e = masked(&m, CERTREG_PLAN_DEPLOYED);
    unsigned first = 0, others = 0;
    for (uint64_t episode = 0; episode < 30; episode++) {
        KIT_OK(e, certreg_estimator_begin(e, z_of, 0.5, episode));
        KIT_OK(e, certreg_estimator_draw(e, 0, 50, *x));
        for (int t = 0; t < 50; t++)
            for (int j = 0; j < INPUTS; j++)
                ck_assert_int_eq(is_hidden(x[t][j], 0), is_hidden(x[0][j], 0));
        if (!episode) first = is_hidden(x[0][0], 0) ? 1 : 0;
        others += (unsigned)is_hidden(x[0][0], 0) != first;
    }
    ck_assert_uint_gt(others, 4);
}

TEST(masks_belong_to_a_record)
{
    static unsigned char bytes[2000];
    certreg_masks m = law(0);
    certreg_estimator *e = masked(&m, 0), *same = masked(&m, 0);
    m.marker = -8;
    certreg_estimator *others[] = {masked(&m, 0), masked(NULL, 0)};
    KIT_OK(e, certreg_estimator_sample(e, 0, 64));
    const size_t count = kit_export(e, bytes, sizeof bytes);
    KIT_OK(same, certreg_estimator_import(same, bytes, count));
    for (int i = 0; i < 2; i++)
        KIT_STATUS(others[i], certreg_estimator_import(others[i], bytes, count),
                   CERTREG_E_MISMATCH);
}

/* ---- radii */
static void close_queue(void *q)
{
    certreg_queue_destroy(q);
}

static double above(double x) /* P(t > x) */
{
    return 0.5 * erfc(x * 0.7071067811865476);
}

static double level_of(double p)
{
    double from = -9, to = 9;
    while (to - from > 1e-14 * (1 + fabs(to)))
        *(above(0.5 * (from + to)) > p ? &from : &to) = 0.5 * (from + to);
    return from;
}

/* The radius with w from one with v, of conditions of which `allowed` may be out. */
static double follows(double radius, double v, double w, double allowed)
{
    const double b = v * above(radius + level_of((allowed - 1 + v) / v)),
                 r = level_of(b / w) - level_of((allowed - 1 + w) / w);
    return w > 1 - allowed && r > 0 ? r : 0;
}

KIT_EVAL(last_of, x[b->inputs - 1])

enum { WIDE = 21 };
static const float origin[WIDE];

static certreg_masks wide_masks(void) /* all features but the last are units */
{
    static int32_t unit[WIDE];
    for (int j = 0; j < WIDE; j++) unit[j] = j + 1 < WIDE ? j : -1;
    return STRUCT(certreg_masks, .marker = NAN, .units = WIDE - 1, .unit = unit, .shown = 2);
}

static certreg_estimator *wide(size_t outputs, const int32_t *kind, uint32_t flags)
{
    const certreg_masks m = wide_masks();
    return kit_begun(
        MODEL(.eval = last_of, .inputs = WIDE, .outputs = outputs, .kind = kind, .masks = &m),
        PLAN(.constraints = CERTREG_CONSTRAINTS_ECGM * !flags, .seed = 3, .max_samples = 1000,
             .flags = flags),
        origin, 0.5, 9);
}

static double unseen(double k) /* 2 of 20 units are shown */
{
    return (20 - k) * (19 - k) / 380;
}

TEST(radii_of_wrong_units_follow_from_each_other)
{
    for (int i = 0; i < 3; i++) {
        const uint32_t flags = i == 2 ? CERTREG_PLAN_EPISODE : 0;
        const certreg_question q =
            QUESTION(.tolerance = 1.2,
                     .method = i == 1 ? CERTREG_METHOD_ANYTIME : CERTREG_METHOD_FINITE);
        const certreg_certificate c = kit_ask(wide(1, NULL, flags), 1000, q);
        ck_assert_double_eq(c.fault_radius[0], c.radius);
        ck_assert_uint_eq(c.faults, 0);
        for (int k = 1; k < 8; k++) {
            const double r = follows(2 * c.radius, 1, unseen(k), 0.5) / 2;
            ck_assert_double_eq_tol(c.fault_radius[k], r, 1e-6);
            ck_assert_double_le(c.fault_radius[k], r);
        }
        ck_assert_double_gt(c.fault_radius[3], 0.1);
        for (uint64_t k = 1; k < 4; k++) { /* the same, asked */
            certreg_question asked = q;
            asked.faults = k;
            const certreg_certificate a = kit_ask(wide(1, NULL, flags), 1000, asked);
            ck_assert_uint_eq(a.faults, k);
            ck_assert_double_eq(a.fault_radius[k], a.radius);
            for (int other = 0; other < 8; other++)
                ck_assert_double_eq_tol(a.fault_radius[other], c.fault_radius[other], 1e-6);
        }
    }
}

TEST(radii_of_wrong_units_are_for_counted_outputs)
{
    static const int32_t angles[2] = {CERTREG_OUTPUT_ANGLE, CERTREG_OUTPUT_ANGLE};
    certreg_serving served = STRUCT(certreg_serving, .samples = 101, .failure_rate = 0.05);
    const certreg_question asks[] = {{.serving = &served},
                                     {.output = CERTREG_ALL_OUTPUTS},
                                     {.relative_tolerance = 0.5},
                                     {.statistic = CERTREG_STATISTIC_HUBER, .huber_width = 1},
                                     {.method = CERTREG_METHOD_ASYMPTOTIC},
                                     {.constraints = CERTREG_CONSTRAINTS_ECGM}};
    for (int i = 0; i < KIT_ROWS(asks); i++) {
        certreg_question q = asks[i];
        const double ten = 10;
        q.struct_size = sizeof q;
        q.tolerance = q.relative_tolerance > 0 ? 0 : 2;
        if (q.relative_tolerance > 0) q.prediction = &ten, q.prediction_count = 1;
        const certreg_certificate c = kit_ask(wide(2, NULL, 0), 1000, q);
        ck_assert_int_eq(c.fault_radius[0] > 0, i < 2);
        ck_assert_int_eq(c.fault_radius[1] > 0, i < 2);
    }
    const certreg_certificate c =
        kit_ask(wide(2, angles, 0), 1000, QUESTION(.tolerance = 2, .faults = 1));
    ck_assert_double_gt(c.fault_radius[2], 0);
    ck_assert_double_lt(c.fault_radius[2], c.radius);
}

TEST(joint_and_moved_certificates_of_wrong_units_are_shorter)
{
    const certreg_question q[2] = {QUESTION(.tolerance = 1.2),
                                   QUESTION(.tolerance = 1.1, .output = 1)};
    certreg_estimator *e = wide(2, NULL, 0);
    certreg_certificate c[2] = {kit_certificate()}, both = kit_certificate(),
                        moved = kit_certificate();
    float to[WIDE] = {0.1f};
    KIT_OK(e, certreg_certify_outputs(e, 1000, q, 2, c, &both));
    ck_assert_double_eq(both.fault_radius[0], both.radius);
    ck_assert_double_eq(both.fault_radius[1], 0);
    ck_assert(!certreg_move_certificate(c, WIDE, NULL, origin, to, NULL, &moved));
    for (int k = 0; k < 3; k++)
        ck_assert_double_eq_tol(moved.fault_radius[k], c->fault_radius[k] - 0.1, 1e-7);
    c->radius = 0; /* as of all masks */
    ck_assert(certreg_move_certificate(c, WIDE, NULL, origin, to, NULL, &moved));
    ck_assert_uint_eq(moved.faults, 0);
}

/* The second input with a margin of 0.05; the third one is moved by 1, so that its radius limits.
 */
static int write_member(void *user, certreg_alternative *a)
{
    (void)user;
    if (a->number == 1) a->margin = 0.05;
    if (a->number == 2) a->z[WIDE - 1] = 0.4f;
    return 0;
}

TEST(radii_of_wrong_units_follow_from_the_joint_one)
{
    const certreg_masks m = wide_masks();
    const certreg_model model = MODEL(.eval = last_of, .inputs = WIDE, .outputs = 1, .masks = &m);
    const certreg_plan plan = PLAN(.seed = 3, .max_samples = 1000);
    for (uint64_t asked = 0; asked < 2; asked++) {
        certreg_queue *q;
        certreg_certificate c = kit_certificate();
        certreg_alternative_result members[3] = {{.struct_size = sizeof *members}};
        uint32_t limiting;
        certreg_queue_result r = STRUCT(certreg_queue_result, .certificates = &c, .room = 1,
                                        .limiting = &limiting, .alternatives = members,
                                        .alternative_room = 3);
        const certreg_question question = QUESTION(.tolerance = 1.6, .faults = asked);
        const certreg_alternatives set = STRUCT(certreg_alternatives, .count = 2,
                                                .write = write_member,
                                                .first_noise_id = UINT64_C(1) << 63);
        const certreg_queue_input in = STRUCT(certreg_queue_input, .z = origin, .sigma = 0.5,
                                              .questions = &question, .count = 1,
                                              .alternatives = &set);
        const certreg_queue_plan how =
            STRUCT(certreg_queue_plan, .capacity = 4, .sets = 1, .alternatives = 2);
        int32_t full;
        ck_assert_int_eq(certreg_queue_create(NULL, &model, &plan, &how, NULL, &q), CERTREG_OK);
        kit_close_later(close_queue, q);
        ck_assert_int_eq(certreg_queue_add(q, &in, &full), CERTREG_OK);
        ck_assert_msg(!certreg_queue_run(q), "%s", certreg_queue_error(q)->text);
        ck_assert_int_eq(certreg_queue_take(q, &r), CERTREG_OK);
        ck_assert_double_gt(c.radius, 0.2);
        ck_assert_double_eq(c.fault_radius[0], c.radius);
        ck_assert_double_eq(c.fault_radius[asked], c.radius);
        for (int k = 1 + (int)asked; k < 8; k++) {
            const double w = asked ? unseen(1) : 1,
                         v = follows(2 * c.radius, w, unseen(k), 0.5) / 2;
            ck_assert_double_eq_tol(c.fault_radius[k], v, 1e-6);
        }
    }
}

/* ---- refusals */
static const struct {
    certreg_masks masks;
    uint32_t flags;
    const char *word;
} bad[] = {{{.units = 3, .unit = units, .shown = 2}, 0, "unit[2]"},
           {{.units = 4, .shown = 2}, 0, "units"},
           {{.units = 8, .unit = units, .shown = 2}, 0, "units"},
           {{.units = 4, .unit = units, .shown = 4}, 0, "shown"},
           {{.units = 4, .unit = units}, 0, "probability"},
           {{.units = 4, .unit = units, .shown = 1, .probability = each}, 0, "probability"},
           {{.units = 7, .probability = (const double[]){0, 0, 1, 0, 0, 0, 0}}, 0, "below 1"},
           {{.units = 4, .unit = units, .shown = 2, .marker = INFINITY}, 0, "marker"},
           {{.units = 4, .unit = units, .shown = 2}, 0, "show fewer"},
           {{.units = 4, .unit = units, .shown = 1}, CERTREG_PLAN_EPISODE, "NaN"},
           {{.units = 4, .unit = units, .shown = 1}, CERTREG_PLAN_PAIRS, "PAIRS"}};

TEST_ROWS(masks_without_a_law_are_refused, bad)
{
    certreg_masks masks = bad[_i].masks;
    const certreg_model m =
        MODEL(.eval = kit_identity, .inputs = INPUTS, .outputs = 1, .masks = &masks);
    const certreg_plan p =
        PLAN(.max_samples = 100, .flags = bad[_i].flags, .pilot = bad[_i].flags ? SIZE_MAX : 0);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    masks.struct_size = sizeof masks;
    KIT_UNMADE(&why, certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID,
               bad[_i].word);
}

TEST(wrong_units_are_refused_for_other_questions)
{
    const certreg_target target = STRUCT(certreg_target, .radius = 0.1);
    const struct {
        certreg_question q;
        const char *word;
    } asks[] = {{{.faults = 8}, "at most 7"},
                {{.faults = 7}, "above 1/2"},
                {{.faults = 1, .target = &target}, "target"},
                {{.faults = 1, .constraints = CERTREG_CONSTRAINTS_ECGM}, "GRADIENT"},
                {{.faults = 1, .statistic = CERTREG_STATISTIC_MEAN}, "arbitrary values"},
                {{.faults = 1, .method = CERTREG_METHOD_ASYMPTOTIC}, "arbitrary values"}};
    for (int i = 0; i < KIT_ROWS(asks); i++) {
        certreg_question q = asks[i].q;
        q.struct_size = sizeof q, q.tolerance = 1;
        kit_refuses(wide(1, NULL, 0), 1000, q, CERTREG_E_INVALID, asks[i].word);
    }
    kit_refuses(masked(NULL, 0), 1000, QUESTION(.tolerance = 1, .faults = 1), CERTREG_E_INVALID,
                "model.masks");
}

/* ---- all masks */
/* The mean of what is shown. */
static int mean_of_shown(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        float sum = 0, count = 0;
        for (size_t j = 0; j < b->inputs; j++) {
            const float x = b->x[i * b->inputs + j];
            if (!isnan(x)) sum += x, count++;
        }
        b->y[i] = sum / count;
    }
    return 0;
}

enum { SENSORS = 9, MASKS = 84 }; /* 3 of 9 */
static certreg_estimator *sensors_as(size_t samples, uint32_t flags)
{
    const certreg_masks m = STRUCT(certreg_masks, .marker = NAN, .units = SENSORS, .shown = 3);
    const certreg_model model =
        MODEL(.eval = mean_of_shown, .inputs = SENSORS, .outputs = 1, .batch = 10, .masks = &m);
    return kit_create(NULL, &model, &PLAN(.max_samples = samples, .flags = flags));
}

static certreg_estimator *sensors(size_t samples)
{
    return sensors_as(samples, 0);
}

static certreg_certificate of_all(const float *z, certreg_question q)
{
    certreg_certificate c = kit_certificate();
    certreg_estimator *e = sensors(MASKS);
    KIT_OK(e, certreg_certify_masks(e, z, &q, &c));
    return c;
}

/* The median of all masks stays within the tolerance for every choice of so many sensors and some
 * values of them, and leaves it for one more. */
TEST(all_masks_certify_what_holds_for_every_choice)
{
    float z[SENSORS];
    for (int j = 0; j < SENSORS; j++) z[j] = 20 + 0.1f * (float)((j * 5) % 9);
    const certreg_certificate c = of_all(z, QUESTION(.tolerance = 0.45));
    ck_assert_uint_eq(c.faults, 1);
    ck_assert_uint_eq(c.samples, MASKS);
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert(c.radius == 0 && c.alpha == 0);
    ck_assert_double_eq_tol(c.output_hi - c.output_lo, 0.9, 1e-9);
    const float values[] = {1e9f, -1e9f, INFINITY, NAN};
    int left = 0;
    for (unsigned set = 1; set < 1u << SENSORS; set++)
        for (int v = 0; v < 4; v++) {
            float wrong[SENSORS];
            int count = 0;
            for (int j = 0; j < SENSORS; j++) {
                const int is_wrong = (set >> j & 1) != 0;
                wrong[j] = is_wrong ? values[v] : z[j];
                count += is_wrong;
            }
            if (count > 2) continue;
            const certreg_certificate moved = of_all(wrong, QUESTION(.tolerance = 0.45));
            const int inside = moved.estimate > c.output_lo && moved.estimate < c.output_hi;
            ck_assert(count > (int)c.faults || inside);
            left += !inside;
            kit_close_all();
        }
    ck_assert_int_gt(left, 0);
}

TEST(all_masks_need_a_number_of_shown_units_and_room)
{
    const float z[SENSORS] = {0};
    certreg_certificate c = kit_stale();
    certreg_estimator *e = sensors(MASKS - 1);
    const certreg_question q = QUESTION(.tolerance = 1);
    KIT_REFUSED(e, certreg_certify_masks(e, z, &q, &c), CERTREG_E_INVALID, "max_samples");
    ck_assert(kit_is_blank(&c, CERTREG_E_INVALID));
    const certreg_masks m = law(1);
    e = masked(&m, 0);
    KIT_REFUSED(e, certreg_certify_masks(e, z, &q, &c), CERTREG_E_INVALID, "shown");
    e = sensors_as(MASKS, CERTREG_PLAN_ROUNDED); /* 50 steps of float at 0 are tiny, at 1e8 not */
    const float far[SENSORS] = {1e8f, 1e8f, 1e8f, 1e8f, 1e8f, 1e8f, 1e8f, 1e8f, 1e8f};
    KIT_OK(e, certreg_certify_masks(e, z, &q, &c));
    KIT_STATUS(e, certreg_certify_masks(e, far, &q, &c), CERTREG_E_OUT_OF_RANGE);
    ck_assert(kit_is_blank(&c, CERTREG_E_OUT_OF_RANGE) && !c.faults);
    e = sensors(MASKS);
    const certreg_question mean =
        QUESTION(.tolerance = 1, .statistic = CERTREG_STATISTIC_HUBER, .huber_width = 1);
    KIT_STATUS(e, certreg_certify_masks(e, z, &mean, &c), CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_certify(e, 0, &q, 1, &c), CERTREG_E_WRONG_STATE);
}

KIT_MAIN("masks")
