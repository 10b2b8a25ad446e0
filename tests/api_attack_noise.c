/* The noise of attacks: no call has the noise of another one or of the record. */
#include "support/attack_kit.h"

enum { INPUTS = 6, SAMPLES = 500, CALLS = 600, RUNS = 6, KEPT = RUNS * CALLS + SAMPLES };

typedef struct seen { /* all but the first input of every row that was used: noise, as z is 0 */
    float rows[KEPT][INPUTS - 1];
    size_t count;
} seen;

static int keep_rows(void *user, const certreg_batch *b)
{
    seen *s = user;
    for (size_t i = 0; i < b->used_count; i++) {
        const float *x = b->x + (b->used_first + i) * INPUTS;
        memcpy(s->rows[s->count++], x + 1, sizeof *s->rows);
        b->y[b->used_first + i] = x[0] > 1 ? 1 : 0;
    }
    return 0;
}

static size_t times(const seen *s, float sign, const float *row)
{
    size_t found = 0;
    for (size_t i = 0; i < s->count; i++) {
        int same = 1;
        for (int j = 0; j + 1 < INPUTS && same; j++) same = s->rows[i][j] == sign * row[j];
        found += (size_t)same;
    }
    return found;
}

/* Attacks that differ in one thing each: what a caller may choose after the first. */
static void run_all(certreg_attack *a)
{
    static const float along[2][INPUTS] = {{1, 0, 0}, {-1, 0, 0}};
    static const double center = 0;
    for (int run = 0; run < RUNS; run++) {
        certreg_attack_options o = attack_options(run == 1 ? CALLS - 50 : CALLS);
        certreg_attack_result r = attack_result();
        certreg_question q = kit_question(run == 2 ? 0.6 : 0.5);
        q.prediction = &center;
        o.number = run == 3, o.direction = along[run == 4];
        if (run == 5) o.alpha = 0.05;
        ATTACK_OK(a, certreg_attack_run(a, &q, &o, NULL, &r));
    }
}

/* Every row of the attacks occurs once, and its opposite once; no row of the record has either. */
TEST(attack_steps_share_no_noise_with_each_other_or_the_record)
{
    static seen s;
    const float zeros[INPUTS] = {0};
    certreg_model m = kit_model(keep_rows, &s, INPUTS, 1);
    m.batch = 32;
    certreg_plan p = kit_plan(SAMPLES);
    p.pilot = SIZE_MAX;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_attack *a = attack_on(e, CALLS);
    KIT_OK(e, certreg_estimator_begin(e, zeros, 1, 7));
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    run_all(a);
    ck_assert_uint_gt(s.count, SAMPLES + RUNS / 2 * CALLS);
    for (size_t i = 0; i < s.count; i++) {
        ck_assert_uint_eq(times(&s, 1, s.rows[i]), 1);
        ck_assert_uint_eq(times(&s, -1, s.rows[i]), i >= SAMPLES);
    }
}

KIT_MAIN("attack_noise")
