/* plan.audit (theory 15): which samples are asked again, in which calls, what is refused, and what
 * differences cost. tests/cover_queue.c measures how much it finds. */
#include "support/api_kit.h"

enum { D = 2, OUTPUTS = 3, MOST = 9000, BATCH = 64 };
static const float z[D] = {0.5f, -0.25f};

/* ---- a model of the outputs x0, x0 + 5 and an angle; the right one fails for some rows */
static struct engine {
    enum kind { RIGHT, CENTRED, LATE, FAILS_ALONE, BREAKS, ROUNDS, WHOLE } kind;
    float by;
    size_t calls, rows, asked, cancel_at;
    certreg_estimator *e;
    float x[MOST][D]; /* of all rows */
} m;

static void outputs_of(const float *x, size_t rows, float *y)
{
    float mean = 0;
    for (size_t i = 0; i < rows; i++) mean += x[i * D] / (float)rows;
    for (size_t i = 0; i < rows; i++, y += OUTPUTS) {
        const float v = x[i * D];
        const float changes[] = {
            [RIGHT] = v > 1 ? NAN : 0,       [CENTRED] = rows >= 8 ? -mean : 0,
            [LATE] = m.rows > 600 ? 2 : 0,   [FAILS_ALONE] = rows < 8 ? NAN : 0,
            [ROUNDS] = rows >= 8 ? m.by : 0, [WHOLE] = 0};
        const float change = changes[m.kind];
        y[0] = v + change, y[1] = v + 5 + change, y[2] = remainderf(v + change, 6.283185f);
    }
}

static int evaluate(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows && m.rows < MOST; i++)
        memcpy(m.x[m.rows++], b->x + i * D, sizeof *m.x);
    m.asked += b->used_count;
    if (++m.calls == m.cancel_at) certreg_estimator_cancel(m.e);
    outputs_of(b->x, b->rows, b->y);
    return 9 * (m.kind == WHOLE ? b->rows != BATCH : m.kind == BREAKS && m.calls > 17);
}

static certreg_estimator *estimator(uint32_t audit, size_t samples, size_t batch, certreg_eval eval)
{
    static const int32_t kind[OUTPUTS] = {[2] = CERTREG_OUTPUT_ANGLE};
    m.calls = m.rows = m.asked = m.cancel_at = 0;
    return m.e = kit_begun(
               MODEL(.eval = eval, .inputs = D, .outputs = OUTPUTS, .batch = batch, .kind = kind),
               PLAN(.seed = 11, .max_samples = samples, .pilot = samples > 40 ? 40 : SIZE_MAX,
                    .audit = audit, .flags = CERTREG_PLAN_COUNT_FAILURES),
               z, 0.5, 3);
}

static certreg_question plain(double tolerance)
{
    return QUESTION(.tolerance = tolerance, .prediction = asks_prediction(0.5));
}

static certreg_certificate ask(uint32_t audit, double tolerance)
{
    return kit_ask(estimator(audit, 1000, BATCH, evaluate), 1000, plain(tolerance));
}

/* ---- what is asked */
static const struct {
    size_t samples, stride, batch, more_calls; /* at most */
} runs[] = {{1000, 64, 7, 6}, {1000, 64, 64, 4}, {1000, 64, 256, 4}, {999, 32, 7, 8},
            {999, 32, 64, 4}, {500, 32, 1, 18},  {499, 16, 16, 5},   {499, 16, 64, 4},
            {15, 16, 4, 3},   {1, 16, 1, 3},     {1, 16, 2, 3}};

/* In a call before the run, two of one pick and of some, and one or more of all others. One sample
 * of each block is a pick, for any batch; those of larger blocks are among those of smaller ones.
 */
TEST(audit_of_a_right_model_asks_its_picks_and_changes_nothing)
{
    static int was_pick[1000];
    static unsigned char record[16000];
    for (int i = 0; i < KIT_ROWS(runs); i++) {
        const size_t samples = runs[i].samples, batch = runs[i].batch,
                     checked = batch < 4 ? batch : 4, run = (samples - 1) / batch + 1;
        certreg_certificate c[2];
        for (uint32_t audit = 0; audit < 2; audit++) {
            c[audit] = kit_ask(estimator(audit, samples, batch, evaluate), samples, plain(0.7));
            kit_export(m.e, record, sizeof record);
            ck_assert_uint_eq(record[8], audit && c[1].audited ? 3 : 2); /* the format */
            ck_assert(audit || m.calls == run);
        }
        const size_t k = c[1].audited;
        size_t found = 0, in_block = 0;
        ck_assert_uint_le(m.calls - run, runs[i].more_calls);
        ck_assert_uint_eq(m.asked, checked + samples + (k ? k + checked : 0));
        ck_assert_double_eq_tol(c[1].audit_share, k ? 1 - pow(0.05, 1. / (double)k) : 0, 1e-12);
        c[1].audited = 0, c[1].audit_share = 0;
        ck_assert_mem_eq(c, c + 1, sizeof *c);
        for (size_t at = 0; at < samples; at++) {
            float x[D];
            int is_pick = 0;
            KIT_OK(m.e, certreg_estimator_draw(m.e, at, 1, x));
            for (size_t row = checked + run * batch; row < m.rows; row++)
                is_pick |= !memcmp(x, m.x[row], sizeof x);
            found += (size_t)is_pick;
            in_block = (at % runs[i].stride ? in_block : 0) + (size_t)is_pick;
            ck_assert(in_block == 1 || (at + 1) % runs[i].stride);
            ck_assert(is_pick == was_pick[at] || !i ||
                      (is_pick && runs[i].stride < runs[i - 1].stride));
            was_pick[at] = is_pick;
        }
        ck_assert_uint_eq(found, k);
    }
}

TEST(audit_of_a_model_of_whole_batches)
{
    m.kind = WHOLE;
    ck_assert_uint_ge(ask(CERTREG_AUDIT_WHOLE, 0.7).audited, 15);
    ck_assert_uint_eq(m.calls, 1 + 16 + 3);
}

/* ---- refusals */
static const struct {
    enum kind kind;
    int code;
    double change; /* 0: some */
    const char *says;
} wrong[] = {{CENTRED, CERTREG_DEPENDENCE_OTHERS, 0, "rows seem to see each other"},
             {LATE, CERTREG_DEPENDENCE_CALL, 2, "outputs seem to change with time"},
             {FAILS_ALONE, CERTREG_DEPENDENCE_OTHERS, INFINITY, "rows seem to see each other"},
             {BREAKS, 9, -1, "returned 9"}};

/* Not by a question that abstains. No later level is begun. */
TEST_ROWS(audit_refuses_models_that_depend_on_others_or_on_time, wrong)
{
    const certreg_question q = plain(4);
    certreg_certificate c[2] = {kit_certificate()};
    m.kind = wrong[_i].kind;
    certreg_estimator *e = estimator(1, 1000, BATCH, evaluate);
    kit_refuses(e, 1000, q, CERTREG_E_MODEL_FAILED, wrong[_i].says);
    const certreg_error *why = certreg_estimator_error(e);
    ck_assert_int_eq(why->code, wrong[_i].code);
    if (m.kind == BREAKS) return;
    ck_assert(why->output == 0 && why->sample >= 0 && why->sample < 1000 && why->value > 0);
    if (wrong[_i].change > 0) ck_assert_float_eq((float)why->value, (float)wrong[_i].change);
    kit_refuses(e, 0, q, CERTREG_E_WRONG_STATE, "begin"); /* no second try */
    *c = ask(1, 1e-3);
    ck_assert(c->radius == 0 && c->audited == 16 && c->audit_change > 0 && c->reason);
    e = estimator(1, 1000, BATCH, evaluate);
    KIT_STATUS(e, certreg_certify_sigmas(e, z, (const double[]){0.5, 1}, 2, 3, 1000, &q, 1, c),
               CERTREG_E_MODEL_FAILED);
    ck_assert(kit_is_blank(c + 1, CERTREG_E_MODEL_FAILED) && m.calls < 1 + 16 + 3 + 4);
}

/* ---- differences as small as rounding */
enum { NARROWER, SHORTER, MOVED, FREE };
static const double high = 0.7, low = 0.3;
static const certreg_serving served = {
    .struct_size = sizeof served, .samples = 101, .failure_rate = 0.1};
static const struct {
    int does, factor;
    certreg_question q;
} banded[] = {
    {NARROWER, 4, {.prediction = &high}},
    {NARROWER, 4, {.prediction = &low}},
    {NARROWER, 4, {.method = CERTREG_METHOD_ANYTIME}},
    {NARROWER, 8, {.serving = &served}},
    {NARROWER, 4, {.output = 1, .relative_tolerance = 0.1}},
    {SHORTER, 4, {.output = 2}},
    {SHORTER, 4, {.output_count = 2}},
    {SHORTER, 4, {.output_count = 2, .statistic = CERTREG_STATISTIC_PROJECTION_MEDIAN}},
    {MOVED, 4, {.output = 0}},
    {FREE, 0, {.statistic = CERTREG_STATISTIC_MEAN, .method = CERTREG_METHOD_ASYMPTOTIC}},
    {FREE, 0, {.statistic = CERTREG_STATISTIC_HUBER, .huber_width = 0.25}},
    {FREE, 0, {.output = 2, .statistic = CERTREG_STATISTIC_CIRCULAR_MEAN}},
};

static certreg_certificate answer(uint32_t audit, int does, const certreg_question *q)
{
    certreg_certificate c = kit_certificate();
    certreg_estimator *e = estimator(audit, 4000, BATCH, evaluate);
    if (does == MOVED) KIT_OK(e, certreg_output_bounds(e, 4000, q, 1, 0.25, &c));
    return does == MOVED ? c : kit_ask(e, 4000, *q);
}

TEST_ROWS(audit_counts_outputs_as_out_that_are_near_it, banded)
{
    const int does = banded[_i].does;
    for (float side = -1; side < 2; side += 2) {
        m.kind = ROUNDS, m.by = 0.004f * side; /* below 0.5/64 */
        certreg_question q = banded[_i].q;
        q.struct_size = sizeof q, q.tolerance = q.relative_tolerance > 0 ? 0 : 0.5;
        const certreg_certificate c = answer(1, does, &q), without = answer(0, does, &q);
        ck_assert(c.audited == 63 && c.radius > 0 && !without.audited);
        ck_assert_double_eq_tol(c.audit_change, 0.004 * sqrt(q.output_count ? 2 : 1), 2e-6);
        ck_assert_double_eq(c.audit_band, banded[_i].factor * c.audit_change);
        if (does == FREE) ck_assert_double_eq(c.radius, without.radius);
        if (does == SHORTER) ck_assert_double_lt(c.radius, without.radius);
        if (does == MOVED) {
            ck_assert_double_eq_tol(c.output_lo, without.output_lo - c.audit_band, 1e-12);
            ck_assert_double_eq_tol(c.output_hi, without.output_hi + c.audit_band, 1e-12);
        }
        if (does != NARROWER) continue;
        q.relative_tolerance = 0, q.tolerance = c.tolerance - c.audit_band;
        q.prediction = &c.prediction;
        ck_assert_double_eq_tol(c.radius, answer(0, does, &q).radius, 1e-9);
        ck_assert(c.radius < without.radius - 1e-3 && c.prediction == without.prediction);
    }
}

TEST(audit_is_made_again_for_a_smaller_tolerance_only)
{
    const certreg_question each[] = {plain(0.7), QUESTION(.tolerance = 3, .output = 1),
                                     QUESTION(.tolerance = 1, .output = 2)};
    certreg_certificate c[3] = {kit_certificate()}, all = kit_certificate();
    m.kind = ROUNDS, m.by = 0.01f;
    certreg_estimator *e = estimator(1, 1000, BATCH, evaluate);
    KIT_OK(e, certreg_certify_outputs(e, 1000, each, 3, c, &all));
    ck_assert(all.audited == 16 && all.audit_band == 4 * all.audit_change && all.radius > 0);
    const size_t calls = m.calls;
    ck_assert(kit_ask(e, 1000, plain(0.9)).audited == 16 && m.calls == calls);
    kit_refuses(e, 1000, plain(0.6), CERTREG_E_MODEL_FAILED, "rows seem to see each other");
}

/* ---- without time for it: in the run's last call, and before the first one */
TEST(audit_is_left_out_after_a_cancel_or_a_deadline)
{
    m.kind = RIGHT;
    for (int i = 0; i < 3; i++) {
        certreg_estimator *e = estimator(1, 1000, BATCH, evaluate);
        m.cancel_at = i ? 0 : 16;
        if (i == 1) certreg_estimator_cancel(e);
        if (i == 2) KIT_OK(e, certreg_estimator_set_deadline(e, 0));
        const certreg_certificate c = kit_ask(e, 1000, plain(0.7));
        ck_assert_int_eq(c.stop, i == 2 ? CERTREG_STOP_DEADLINE : CERTREG_STOP_CANCELLED);
        ck_assert(!c.audited && (c.radius > 0) == !i && m.calls == (i ? 0 : 16));
    }
}

/* ---- the caller's own loop */
static void record(certreg_estimator *e, size_t first, size_t count)
{
    static float x[4000 * D], y[4000 * OUTPUTS];
    KIT_OK(e, certreg_estimator_draw(e, first, count, x));
    outputs_of(x, count, y);
    KIT_OK(e, certreg_estimator_record(e, first, count, y));
}

static certreg_status loop(certreg_estimator *e, size_t most)
{
    float x[BATCH * D], y[BATCH * OUTPUTS];
    size_t rows = 1;
    certreg_status status = CERTREG_OK;
    while (rows && !status && most-- > 0) {
        KIT_OK(e, certreg_audit_next(e, x, &rows));
        outputs_of(x, rows, y);
        if (rows) status = certreg_audit_give(e, y);
        m.asked += rows;
    }
    return status;
}

TEST(audits_by_hand_are_those_of_certify)
{
    const certreg_question q = plain(0.5);
    m.kind = RIGHT;
    const certreg_certificate by_model = answer(1, FREE, &q);
    certreg_estimator *e = estimator(1, 4000, BATCH, NULL);
    record(e, 0, 4000);
    ck_assert_uint_eq(kit_ask(e, 0, q).audited, 0);
    ck_assert_int_eq(loop(e, 99), CERTREG_OK);
    const certreg_certificate c = kit_ask(e, 0, q);
    ck_assert_mem_eq(&c, &by_model, sizeof c);
    const size_t asked = m.asked; /* no more than once, and not about later samples */
    ck_assert(loop(e, 99) == CERTREG_OK && m.asked == asked);
    e = estimator(1, 4000, BATCH, NULL);
    record(e, 0, 2000);
    ck_assert_int_eq(loop(e, 99), CERTREG_OK);
    record(e, 2000, 2000);
    ck_assert_uint_eq(kit_ask(e, 0, q).audited, 0);
}

/* Without a certificate, and with one; the last one is given up by begin. */
TEST_TIMES(audits_by_hand_refuse_what_certify_refuses, 3)
{
    float x[BATCH * D], y[BATCH * OUTPUTS] = {0};
    size_t rows;
    m.kind = _i < 2 ? CENTRED : RIGHT;
    certreg_estimator *e = estimator(1, 1000, BATCH, NULL);
    record(e, 0, 1000);
    if (_i) kit_ask(e, 0, plain(4));
    KIT_STATUS(e, certreg_audit_give(e, y), CERTREG_E_WRONG_STATE);
    KIT_STATUS(e, certreg_audit_next(e, NULL, &rows), CERTREG_E_INVALID);
    KIT_STATUS(e, loop(e, _i < 2 ? 99 : 1), _i < 2 ? CERTREG_E_MODEL_FAILED : CERTREG_OK);
    KIT_STATUS(e, certreg_audit_give(e, y), CERTREG_E_WRONG_STATE); /* it was given */
    if (_i < 2) kit_refuses(e, 0, plain(4), CERTREG_E_WRONG_STATE, "begin");
    KIT_OK(e, certreg_estimator_begin(e, (const float[D]){9}, 0.5, 3));
    record(e, 0, 1000);
    KIT_OK(e, certreg_audit_next(e, x, &rows));
    ck_assert_uint_eq(rows, 1);
}

/* ---- records: two halves, of which each was audited; a model that is at hand is asked again */
TEST(records_remember_their_audits)
{
    static unsigned char bytes[99999];
    certreg_estimator *e[4];
    for (size_t i = 0; i < 4; i++) {
        m.kind = ROUNDS, m.by = i ? 0.001f : 0.004f;
        e[i] = estimator(1, 2000, BATCH, i < 3 ? NULL : evaluate);
        if (i < 2) record(e[i], 1000 * i, 1000);
        if (i < 2) ck_assert_int_eq(loop(e[i], 99), CERTREG_OK);
        for (size_t k = 0; k < 2 && i > 1; k++)
            KIT_OK(e[i],
                   certreg_estimator_import(e[i], bytes, kit_export(e[k], bytes, sizeof bytes)));
        if (i < 2) continue;
        const certreg_certificate c = kit_ask(e[i], 0, plain(0.5));
        ck_assert(i == 2 ? c.audited >= 15 && c.audited <= 17 : c.audited >= 31);
        ck_assert_double_eq_tol(c.audit_change, 0.004, 1e-6);
    }
}

KIT_MAIN("the audit")
