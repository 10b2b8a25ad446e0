/* Prediction intervals: calibrations, coverages and rules with anything in their fields. A refusal
 * changes nothing, and leaves an interval that knows nothing; an interval that was found agrees
 * with what covers says, and never shrinks when the threshold grows. */
#include "fuzz/api.h"
#include "conformal/conformal.h"
#include "support/structs.h"
#include <certreg/sampling.h>

const size_t fuzz_most_bytes = 160;
enum { SAMPLES = 12, POINTS = 3, OUTPUTS = 2, ROOM = 2 * SAMPLES };
static certreg_estimator *handle[2]; /* of numbers, and of an angle and a number */
static const float z[2] = {0.5f, -1};

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            const float x = b->x[i * b->inputs + k];
            b->y[i * b->columns + k] = x > 0.75f ? NAN : x + (float)k;
        }
    return 0;
}

void fuzz_prepare(void)
{
    const int32_t kind[2] = {CERTREG_OUTPUT_ANGLE, CERTREG_OUTPUT_REAL};
    for (int i = 0; i < 2; i++) {
        const certreg_model m = MODEL(.eval = model, .inputs = 2, .outputs = OUTPUTS,
                                      .batch = SAMPLES, .kind = i ? kind : NULL);
        const certreg_plan p =
            PLAN(.max_samples = SAMPLES, .pilot = SIZE_MAX, .flags = CERTREG_PLAN_COUNT_FAILURES);
        MUST(!certreg_estimator_create(NULL, &m, &p, NULL, handle + i), "handle %d", i);
    }
}

static void sample(certreg_estimator *e, uint64_t noise_id, size_t samples)
{
    certreg_status status = certreg_estimator_begin(e, z, 0.25, noise_id);
    if (!status) status = certreg_estimator_sample(e, 0, samples);
    MUST(!status, "%s", certreg_estimator_error(e)->text);
}

static double *numbers(fuzz_bytes *b, size_t count)
{
    double *at = (void *)fuzz_box_take(count * sizeof *at, 0);
    for (size_t i = 0; i < count; i++)
        at[i] = fuzz_byte(b) % 8 ? 4 * fuzz_share(b) - 1 : fuzz_double(b);
    return at;
}

/* ---- rules */
/* Of few points, so that alpha is large. Rarely with a radius: that takes long. */
static void make_rule(fuzz_bytes *b, const certreg_calibration *c, certreg_rule *rule)
{
    const certreg_coverage good = STRUCT(certreg_coverage, .alpha = 0.3 + 0.2 * fuzz_share(b),
                                         .radius = fuzz_byte(b) == 255 ? fuzz_share(b) / 8 : 0,
                                         .samples = SAMPLES);
    /* A refusal takes its time, since it tries what helps. The counts are only made zero: up to 1e7
     * samples are allowed, and take time too. */
    const certreg_coverage *asked = &good;
    if (fuzz_byte(b) % 16 == 15) asked = fuzz_structs(b, &good, 1, (fuzz_shape){sizeof good, 0x68});
    certreg_error *why = fuzz_output(fuzz_struct_size(b, sizeof *why), 1);
    certreg_rule *out = fuzz_output(fuzz_struct_size(b, sizeof *out), 1);
    const uint32_t why_size = why->struct_size, size = out->struct_size;
    const certreg_status status = certreg_interval_rule(asked, c, why, out);
    if (fuzz_is_valid_size(why_size, sizeof *why)) fuzz_check_error(why, status, "rule");
    MUST(out->struct_size == size, "struct_size %u", size);
    if (!fuzz_is_valid_size(size, sizeof *out)) MUST(status != 0, "a rule without room");
    if (!fuzz_is_valid_size(size, sizeof *out) || status) return;
    MUST(out->alpha == (asked->alpha > 0 ? asked->alpha : 0.05), "alpha %g", out->alpha);
    MUST(out->sample_rank >= 1 && out->sample_rank <= SAMPLES, "%zu", (size_t)out->sample_rank);
    MUST(out->least_points <= c->count && !isnan(out->threshold), "%zu points, threshold %g",
         (size_t)out->least_points, out->threshold);
    memcpy(rule, out, sizeof *rule);
    rule->struct_size = sizeof *rule;
}

/* ---- a set, and what is said to be in it */
static int is_within(const certreg_interval *set, const double *lo, const double *hi, double truth)
{
    for (uint64_t i = 0; i < set->pieces; i++)
        for (int turn = -1; turn <= 1; turn++)
            if (truth + turn * set->period >= lo[i] && truth + turn * set->period <= hi[i])
                return 1;
    return 0;
}

static void check_set(const certreg_interval *set, const double *lo, const double *hi)
{
    MUST(set->pieces <= ROOM && set->failed <= SAMPLES, "%zu pieces", (size_t)set->pieces);
    for (uint64_t i = 0; i < set->pieces; i++)
        MUST(lo[i] <= hi[i] && (!i || lo[i] >= lo[i - 1]), "piece %zu: %g to %g", (size_t)i, lo[i],
             hi[i]);
    MUST(set->pieces ? set->lo <= set->hi : isnan(set->lo) && isnan(set->hi), "%g to %g", set->lo,
         set->hi);
}

static void use(fuzz_bytes *b, certreg_estimator *e, const certreg_calibration *c,
                const certreg_rule *good)
{
    const certreg_rule *rule = fuzz_structs(b, good, 1, (fuzz_shape){sizeof *good, 0});
    const double *truth = numbers(b, OUTPUTS);
    const size_t room = fuzz_byte(b) % 4 ? ROOM : fuzz_byte(b) % ROOM;
    const int32_t output = (int32_t)(fuzz_byte(b) % 4) - 1;
    double *lo = (void *)fuzz_box_take(room * sizeof *lo, 0x5a),
           *hi = (void *)fuzz_box_take(room * sizeof *hi, 0x5a);
    int32_t inside = 7;
    certreg_interval *out = fuzz_output(fuzz_struct_size(b, sizeof *out), 1);
    const uint32_t size = out->struct_size;
    const certreg_status found = certreg_estimator_interval(e, c, rule, output, lo, hi, room, out);
    fuzz_check_error(certreg_estimator_error(e), found, "interval");
    MUST(out->struct_size == size, "struct_size %u", size);
    const int whole = fuzz_is_valid_size(size, sizeof *out);
    MUST(whole || found, "an interval without room");
    if (whole && found)
        MUST(out->lo == -INFINITY && out->hi == INFINITY, "%g to %g", out->lo, out->hi);
    if (!found) check_set(out, lo, hi);
    const certreg_status covers = certreg_estimator_covers(e, c, rule, truth, &inside);
    fuzz_check_error(certreg_estimator_error(e), covers, "covers");
    MUST(inside == 0 || inside == 1, "inside %d", (int)inside);
    MUST(!covers || inside, "outside after %d", (int)covers);
    if (!found && !covers && inside && c->score != CERTREG_SCORE_QUANTILES)
        MUST(is_within(out, lo, hi, truth[output - c->output]), "%g is inside, and in no piece",
             truth[output - c->output]);
}

void fuzz_one(const uint8_t *input, size_t size)
{
    fuzz_bytes b = {input, size};
    const uint8_t how = fuzz_byte(&b);
    certreg_estimator *e = handle[how % 2];
    double scores[POINTS * SAMPLES] = {0};
    certreg_calibration c = STRUCT(certreg_calibration, .score = how / 2 % 3, .output = how / 8 % 2,
                                   .outputs = how / 16 % 3, .capacity = POINTS, .scores = scores);
    if (how & 128) c.units = numbers(&b, 3);
    certreg_rule rule = {.struct_size = sizeof rule};
    for (uint64_t point = 0; point < POINTS; point++) {
        certreg_calibration *theirs = fuzz_structs(&b, &c, 1, (fuzz_shape){sizeof c, 0x1804});
        sample(e, 1 + point, SAMPLES);
        certreg_calibration before = {0};
        const int whole = fuzz_is_valid_size(theirs->struct_size, sizeof c);
        if (whole) memcpy(&before, theirs, sizeof before);
        const certreg_status status =
            certreg_estimator_calibrate(e, theirs, fuzz_byte(&b) % 16 ? numbers(&b, 2) : NULL);
        fuzz_check_error(certreg_estimator_error(e), status, "calibrate");
        if (whole && status) MUST(!memcmp(&before, theirs, sizeof before), "a refusal changes it");
        if (!status) {
            MUST(theirs->count == before.count + 1, "%zu points", (size_t)theirs->count);
            for (size_t i = 0; i < SAMPLES; i++)
                MUST(!isnan(scores[before.count * SAMPLES + i]), "a score of NaN");
            memcpy(&c, theirs, sizeof c), c.struct_size = sizeof c;
        }
        fuzz_boxes_check();
        if (how & 128) c.units = NULL; /* its box is gone */
    }
    make_rule(&b, &c, &rule);
    if (fuzz_byte(&b) % 4 == 0) rule.threshold = 4 * fuzz_share(&b) - 1; /* as if from it */
    if (rule.sample_rank) rule.calibration = cr_conformal_digest(&c, &rule);
    sample(e, 100, fuzz_byte(&b) % 16 ? SAMPLES : 5);
    use(&b, e, &c, &rule);
    fuzz_boxes_check();
}
