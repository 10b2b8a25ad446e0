/* A model that does in each of its calls what the input says; the floating-point environment around
 * it, which no call of the library may change; and what the library said, for comparison. */
#ifndef FUZZ_PLAY_H
#define FUZZ_PLAY_H
#include "fuzz/questions.h"
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { INPUTS = 4096, BATCH = 8, SCRIPT = 8, SAID = 1 << 16 };

/* ---- the floating-point environment, which no call may change */
typedef struct environment {
    int rounding, flags;
    unsigned control;
} environment;

static environment wanted;
static fenv_t callers; /* around the library; the fuzzer itself computes in the default one */
static int strange;    /* 1: the input changes it */

static environment present(void)
{
#if defined(__x86_64__)
    const unsigned control = _mm_getcsr();
#else
    const unsigned control = 0;
#endif
    return (environment){fegetround(), fetestexcept(FE_ALL_EXCEPT), control};
}

static void change_environment(uint8_t how)
{
    static const int rounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    if (!strange) return;
    fesetround(rounding[how % 4]);
    if (how & 4) feraiseexcept(FE_ALL_EXCEPT);
    else feclearexcept(FE_ALL_EXCEPT);
#if defined(__x86_64__)
    if (how & 8) _mm_setcsr(_mm_getcsr() | 0x8040u); /* subnormal numbers become zero */
#endif
}

static void check_environment(const char *where)
{
    const environment is = present();
    MUST(!memcmp(&is, &wanted, sizeof is), "%s: rounding %d (%d), flags %x (%x), control %x (%x)",
         where, is.rounding, wanted.rounding, (unsigned)is.flags, (unsigned)wanted.flags,
         is.control, wanted.control);
}

/* ---- what was said, for comparison */
static unsigned char said[2][SAID];
static size_t said_bytes[2];
static int pass;

static void say(const void *what, size_t size)
{
    MUST(said_bytes[pass] + size <= SAID, "too much to remember");
    memcpy(said[pass] + said_bytes[pass], what, size);
    said_bytes[pass] += size;
}

/* ---- the model and its script */
static struct {
    certreg_estimator *e;
    uint8_t act[SCRIPT], value[SCRIPT];
    size_t calls, steps;
} play;
static certreg_estimator *other; /* another handle, for the model */
static certreg_certificate others;

#define BUSY(call) MUST((call) == CERTREG_E_BUSY, "a call within a call")
static void call_back(uint8_t which)
{
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 1};
    certreg_certificate c = {.struct_size = sizeof c, .radius = 7};
    certreg_run run = {.struct_size = sizeof run, .samples = 7};
    static float x[INPUTS];
    double number = 7;
    size_t size = 0;
    switch (which % 10) {
    case 0: BUSY(certreg_estimator_begin(play.e, x, 0.25, 0)); break;
    case 1: BUSY(certreg_estimator_sample(play.e, 0, 8)); break;
    case 2: BUSY(certreg_estimator_draw(play.e, 0, 1, x)); break;
    case 3: BUSY(certreg_estimator_record(play.e, 0, 1, x)); break;
    case 4: BUSY(certreg_estimator_export(play.e, NULL, &size)); break;
    case 5: BUSY(certreg_estimator_import(play.e, x, sizeof x)); break;
    case 6: BUSY(certreg_estimator_set_deadline(play.e, -1)); break;
    case 7: BUSY(certreg_estimator_estimate(play.e, &q, &number)); break;
    case 8: BUSY(certreg_estimator_info(play.e, &run)); break;
    default: BUSY(certreg_certify(play.e, 8, &q, 1, &c)); fuzz_check_certificate(&c, "busy");
    }
    MUST(number == 7 && !size, "a refused call writes");
    MUST(certreg_estimator_error(play.e)->status == CERTREG_E_BUSY, "its error");
}

static certreg_certificate use_other(void)
{
    static const float z[2] = {0.5f, -1};
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 2};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_status status = certreg_estimator_begin(other, z, 0.25, 1);
    if (!status) status = certreg_certify(other, 16, &q, 1, &c);
    MUST(!status, "the other: %s", certreg_estimator_error(other)->text);
    return c;
}

/* Only comparisons, so that the outputs are the same in all environments. */
static int greatest(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) {
            const float *x = b->x + i * b->inputs;
            b->y[i * b->columns + k] = x[k % b->inputs] > x[0] ? x[k % b->inputs] : x[0];
        }
    return 0;
}

static int act(const certreg_batch *b)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e30f, -5, 3.4e38f, 0, 1e-45f};
    const size_t now = play.calls++ % SCRIPT;
    const uint8_t value = play.value[now];
    const size_t at = (b->used_first + value / 8 % b->used_count) * b->columns;
    uint32_t payload = 0x7f800001u + value;
    switch (play.act[now] % 32) {
    case 0: return value | 1;
    case 1: b->y[at] = bad[value % 8]; break;
    case 2: memcpy(b->y + at, &payload, sizeof payload); break;
    case 3: memset(b->y + at, 0xff, b->columns * sizeof *b->y); break; /* left out */
    case 4: certreg_estimator_cancel(play.e); break;
    case 5: call_back(value); break;
    case 6: change_environment(value); break;
    case 7: {
        const certreg_certificate c = use_other();
        MUST(!memcmp(&c, &others, sizeof c), "the other handle answers otherwise");
        break;
    }
    case 8: memset(b->y, 0, b->rows * b->columns * sizeof *b->y); break;
    default: break;
    }
    return 0;
}

static int model(void *user, const certreg_batch *b)
{
    check_environment("the model");
    MUST(b->used_count && b->used_first + b->used_count <= b->rows && b->rows == BATCH &&
             b->first % BATCH == 0,
         "%zu rows from %zu on", b->used_count, b->used_first);
    greatest(user, b);
    const int code = act(b);
    wanted = present();
    return code;
}

static int progress(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    check_environment("progress");
    MUST(done <= total, "%zu of %zu", (size_t)done, (size_t)total);
    const size_t now = play.steps++ % SCRIPT;
    if (play.act[now] / 32 == 7) change_environment(play.value[now]);
    wanted = present();
    return play.act[now] / 32 == 6;
}

#endif
