/* Questions with anything in their fields and behind their pointers, and the two calls that only
 * read them. */
#ifndef FUZZ_QUESTIONS_H
#define FUZZ_QUESTIONS_H
#include "fuzz/api.h"
#include "question/question.h"
#include "support/structs.h"
#include <certreg/question.h>
#include <certreg/sampling.h>

/* ---- what is behind the pointers of a question */
static inline const uint64_t *fuzz_looks(fuzz_bytes *b, uint32_t *count)
{
    static const uint32_t many[] = {0, 129, 1000, ~0u};
    const uint8_t kind = fuzz_byte(b);
    *count = kind < 128 ? 1u + kind % 5u : many[kind % 4];
    if (kind == 255) return NULL;
    const uint32_t there = *count > 128 ? 128 : *count;
    unsigned char *at = fuzz_box_take((there ? there : 1) * sizeof(uint64_t), 0);
    uint64_t look = 6;
    for (uint32_t i = 0; i < there && i < 5; i++) {
        look = kind % 16 == 15 ? fuzz_word(b) : look + fuzz_byte(b) % 16;
        memcpy(at + i * sizeof look, &look, sizeof look);
    }
    return (const void *)at;
}

static inline const certreg_target *fuzz_target(fuzz_bytes *b)
{
    certreg_target good = {.struct_size = sizeof good, .radius = 0.02 * (1 + fuzz_byte(b) % 16)};
    if (fuzz_byte(b) % 2) good.looks = fuzz_looks(b, &good.look_count);
    return fuzz_structs(b, &good, 1, (fuzz_shape){sizeof good, 5});
}

static inline const certreg_serving *fuzz_serving(fuzz_bytes *b)
{
    certreg_serving good = STRUCT(certreg_serving, .samples = 1 + fuzz_byte(b) % 64,
                                  .failure_rate = 0.5 * fuzz_share(b));
    good.pairs = good.samples > 8 && good.samples % 4 == 0;
    if (fuzz_byte(b) % 2) good.trim = 0.5 * fuzz_share(b), good.core = fuzz_share(b);
    return fuzz_structs(b, &good, 1, (fuzz_shape){sizeof good, 0});
}

static inline const double *fuzz_predictions(fuzz_bytes *b, size_t *count)
{
    *count = fuzz_byte(b) % 5;
    unsigned char *at = fuzz_box_take((*count ? *count : 1) * sizeof(double), 0);
    for (size_t i = 0; i < *count; i++) {
        const double x = fuzz_byte(b) % 8 ? fuzz_share(b) : fuzz_double(b);
        memcpy(at + i * sizeof x, &x, sizeof x);
    }
    return (const void *)at;
}

/* Most of its fields make sense, so that some questions do. */
static inline certreg_question fuzz_question(fuzz_bytes *b)
{
    static const uint32_t sets[] = {0, CERTREG_CONSTRAINTS_ECM, CERTREG_CONSTRAINTS_ECGM,
                                    1u << 30, /* no bit of a constraint */
                                    CERTREG_CONSTRAINTS_CG};
    static const double tolerances[] = {1, 0.5, 0.75, 2, 1e-3, 3, 0.25, 1.5};
    const uint8_t has = fuzz_byte(b), kind = fuzz_byte(b);
    certreg_question q =
        QUESTION(.output = (int32_t)(fuzz_byte(b) % 5) - 1, .tolerance = tolerances[kind % 8],
                 .statistic = has & 64 ? fuzz_byte(b) % CR_STATISTIC_COUNT : 0,
                 .method = has & 32 ? fuzz_byte(b) % CR_METHOD_COUNT : 0, .center = has % 32 == 31,
                 .constraints = has & 16 ? sets[fuzz_byte(b) % 5] : 0, .bonferroni = kind / 8 % 4);
    if (cr_statistic_of(q.statistic)->row.supports & CR_SUPPORTS_WIDTH)
        q.huber_width = 0.5 * q.tolerance;
    if (kind & 64) q.alpha = 0.5 * fuzz_share(b);
    if (kind & 128) q.output_count = fuzz_byte(b) % 4;
    if (has % 8 == 2) q.relative_tolerance = q.tolerance, q.tolerance = 0;
    if (has % 8 == 7) { /* all of the constraints, which bytes alone seldom ask for */
        q.statistic = CERTREG_STATISTIC_MEAN, q.center = CERTREG_CENTER_TRUE_MEAN;
        q.method = has & 32 ? CERTREG_METHOD_PAPER : CERTREG_METHOD_ASYMPTOTIC;
        q.constraints = 0, q.huber_width = 0;
        return q;
    }
    if (has & 8) q.prediction = fuzz_predictions(b, &q.prediction_count);
    if (has % 8 == 5) q.target = fuzz_target(b);
    if (has % 8 == 3) q.serving = fuzz_serving(b);
    return q;
}

/* Up to four. */
static inline certreg_question *fuzz_questions(fuzz_bytes *b, size_t count)
{
    certreg_question good[4];
    for (size_t i = 0; i < count || !i; i++) good[i] = fuzz_question(b);
    return fuzz_structs(b, good, count ? count : 1, (fuzz_shape){sizeof *good, 0x780});
}

/* ---- digest */
/* What is said by default has the digest of what is said by name. */
static inline void fuzz_digest(fuzz_bytes *b)
{
    const certreg_question *q = fuzz_questions(b, 1);
    const size_t oldest = sizeof *q - sizeof q->faults; /* of 0.2.0 */
    const int readable = fuzz_is_valid_size(q->struct_size, oldest);
    uint64_t digest = 7, again = 7;
    const certreg_status status = certreg_question_digest(q, NULL, &digest);
    MUST(!status == !!digest && (readable || status), "%d, digest %d", (int)status, digest != 0);
    MUST(!fuzz_sets_unknown(q, sizeof *q) || status == CERTREG_E_VERSION, "%d", (int)status);
    if (status) return;
    struct {
        certreg_question q;
        uint64_t unknown[2];
    } same = {{0}, {0, 0}};
    memcpy(&same.q, q, q->struct_size < sizeof *q ? q->struct_size : sizeof *q);
    same.q.struct_size = sizeof same;
    if (same.q.alpha == 0) same.q.alpha = 0.05;
    if (!same.q.bonferroni) same.q.bonferroni = 1;
    if (same.q.prediction && !same.q.prediction_count) same.q.prediction_count = 1;
    MUST(!certreg_question_digest(&same.q, NULL, &again) && again == digest, "two digests");
    same.q.tolerance = same.q.tolerance == 0.375 ? 0.5 : 0.375;
    MUST(!certreg_question_digest(&same.q, NULL, &again), "another tolerance");
    MUST(again != digest || same.q.tolerance == q->tolerance, "one digest of two questions");
}

#endif
