/* Calls in any order, and a model that does in each of its calls what the input says: it fails,
 * leaves rows out, cancels, calls back, changes the floating-point environment. For one input in
 * TWICE the calls are made on one thread in the default environment, and then on three threads in
 * others: both times every result has the same bits. */
#include "fuzz/questions.h"
#include "support/structs.h"
#include <certreg/attack.h>
#include <certreg/backend.h>
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <certreg/solver.h>
#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

const size_t fuzz_most_bytes = 400;
enum { KINDS = 5, WIDE = 3, FEW = 8, OUTPUTS = 3, MOST = 80, CALLS = 8, TWICE = 16 };
enum { MEMORY = 1 << 20, RECORD = 2048 };
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

/* ---- handles of several kinds */
static certreg_backend *threads;
static _Alignas(64) unsigned char memory[MEMORY], attack_memory[MEMORY];
static certreg_attack *attack;

static const certreg_model models[KINDS] = {
    {.inputs = 3, .outputs = 1},
    {.inputs = 2, .outputs = 2, .kind = (const int32_t[]){CERTREG_OUTPUT_ANGLE, 0}},
    {.inputs = 5,
     .outputs = 3,
     .kind = (const int32_t[]){CERTREG_OUTPUT_ANGLE_PAIR, 0, 0},
     .lo = (const double[]){0, -4, -3},
     .hi = (const double[]){1, 4, 3}},
    {.inputs = INPUTS, .outputs = 1, .lo = (const double[]){-4}, .hi = (const double[]){4}},
    {.inputs = 2,
     .outputs = 2,
     .scale = (const float[]){1, 0.5f},
     .lo = (const double[]){-6, -6},
     .hi = (const double[]){6, 6}},
};

/* A wide input, whose noise is worth several threads, takes long. */
static int kind_of(uint8_t x)
{
    return x % 64 == 63 ? WIDE : (int[]){0, 1, 2, 4}[x % 4];
}

static certreg_estimator *make(fuzz_bytes *b, int kind, certreg_backend *backend)
{
    certreg_estimator *e = NULL;
    certreg_error why = {.struct_size = sizeof why};
    certreg_model m = models[kind];
    const uint8_t has = fuzz_byte(b), pilot = fuzz_byte(b);
    certreg_plan p = PLAN(.constraints = has & 1 && kind != WIDE ? CERTREG_CONSTRAINTS_ECGM : 0,
                          .seed = has / 4 % 2, .max_samples = MOST,
                          .pilot = pilot & 1      ? pilot / 2 % MOST
                                   : pilot == 254 ? SIZE_MAX
                                                  : 0,
                          .progress = progress, .memory = memory, .memory_bytes = MEMORY,
                          .flags = has / 8 % 2);
    m.struct_size = sizeof m, m.eval = model, m.batch = BATCH;
    const certreg_status status = certreg_estimator_create(backend, &m, &p, &why, &e);
    if (status == CERTREG_E_NO_BACKEND) { /* built without BLAS */
        p.constraints = CERTREG_CONSTRAINTS_ECGM;
        MUST(!certreg_estimator_create(backend, &m, &p, &why, &e), "%s", why.text);
    } else MUST(!status, "%s", why.text);
    return e;
}

void fuzz_prepare(void)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = greatest, .inputs = 2, .outputs = 1, .batch = BATCH};
    const certreg_plan p = {.struct_size = sizeof p, .max_samples = 16, .pilot = 4};
    MUST(!certreg_backend_open_cpu(3, NULL, &threads), "threads");
    MUST(!certreg_estimator_create(NULL, &m, &p, NULL, &other), "the other handle");
    others = use_other();
}

/* ---- calls */
#define IN_CALLERS_ENVIRONMENT(status, call) \
    do {                                     \
        fesetenv(&callers);                  \
        wanted = present();                  \
        (status) = (call);                   \
        check_environment(#call);            \
        fegetenv(&callers);                  \
        fesetenv(FE_DFL_ENV);                \
        say(&(status), sizeof(status));      \
    } while (0)
#define CALL(status, call)                                                  \
    do {                                                                    \
        IN_CALLERS_ENVIRONMENT(status, call);                               \
        fuzz_check_error(certreg_estimator_error(play.e), (status), #call); \
    } while (0)

static double sigma;
static int answers_left;           /* certificates are most of the work */
static unsigned char kept[RECORD]; /* a record */
static size_t kept_bytes;

static void begin(fuzz_bytes *b)
{
    static const double sigmas[] = {0.25, 0.5, 1, 0.125};
    static float z[INPUTS];
    certreg_status status;
    const uint8_t how = fuzz_byte(b);
    for (int j = 0; j < 3; j++) z[j] = (float)(fuzz_byte(b) % 8) * 0.25f - 1;
    sigma = sigmas[how % 4];
    if (how & 128) CALL(status, certreg_estimator_begin_level(play.e, z, sigma, 1, how / 4 % 4));
    else CALL(status, certreg_estimator_begin(play.e, z, sigma, how / 4 % 4));
}

static void sample(fuzz_bytes *b)
{
    certreg_status status;
    const uint64_t first = fuzz_byte(b) % (MOST + 2) / (BATCH / 2) * (BATCH / 2);
    const size_t count = fuzz_byte(b) % (MOST + 2);
    CALL(status, certreg_estimator_sample(play.e, first, count));
}

/* The loop of an engine of its own. */
static void draw_and_record(fuzz_bytes *b, size_t inputs, size_t columns)
{
    certreg_status status;
    const uint64_t first = fuzz_byte(b) % (MOST + BATCH);
    const size_t count = fuzz_byte(b) % 20;
    float *x = (void *)fuzz_box_take(count * inputs * sizeof *x, 0);
    float *y = (void *)fuzz_box_take(count * columns * sizeof *y, 0);
    const certreg_batch batch = {
        .rows = count, .inputs = inputs, .columns = columns, .x = x, .y = y};
    CALL(status, certreg_estimator_draw(play.e, first, count, x));
    say(x, count * inputs * sizeof *x);
    greatest(NULL, &batch);
    if (count && fuzz_byte(b) % 8 == 7) y[0] = (float)fuzz_double(b);
    CALL(status, certreg_estimator_record(play.e, first, count, y));
}

static void export_or_import(fuzz_bytes *b)
{
    certreg_status status;
    const uint8_t how = fuzz_byte(b);
    if (how % 2) {
        if (kept_bytes && how & 2) kept[how / 4 % kept_bytes] ^= (unsigned char)(how >> 4);
        CALL(status, certreg_estimator_import(play.e, kept, kept_bytes));
        return;
    }
    size_t bytes = RECORD;
    CALL(status, certreg_estimator_export(play.e, kept, &bytes));
    kept_bytes = status ? 0 : bytes;
    MUST(kept_bytes <= RECORD, "%zu bytes", kept_bytes);
    say(kept, kept_bytes);
}

static void check_certificates(const certreg_certificate *c, size_t count)
{
    say(c, count * sizeof *c);
    for (size_t i = 0; i < count; i++) {
        fuzz_check_certificate(c + i, "certificates");
        MUST(c[i].radius <= 10 * c[i].sigma || c[i].limiting_side == 0, "radius %g at sigma %g",
             c[i].radius, c[i].sigma);
        MUST(c[i].samples <= MOST, "%zu samples", (size_t)c[i].samples);
    }
}

static void ask(fuzz_bytes *b)
{
    static const double sigmas[] = {0.25, 0.5, 0.125};
    static const float z[INPUTS] = {0.5f};
    certreg_certificate c[6];
    certreg_question q[3];
    certreg_status status;
    const uint8_t how = fuzz_byte(b);
    const size_t count = 1 + how / 8 % 2, samples = fuzz_byte(b) % (MOST + 2);
    for (size_t i = 0; i < 6; i++) c[i] = (certreg_certificate){.struct_size = sizeof *c};
    for (size_t i = 0; i < count; i++) q[i] = fuzz_question(b);
    if (how % 8 < 4) {
        CALL(status, certreg_certify(play.e, samples, q, count, c));
    } else if (how % 8 == 4) {
        CALL(status, certreg_output_bounds(play.e, samples, q, count, how / 16 * 0.125, c));
    } else if (how % 8 == 5) {
        CALL(status, certreg_certify_outputs(play.e, samples, q, count, c, c + count));
        check_certificates(c + count, 1);
    } else if (how % 8 == 6) {
        const size_t levels = how / 16 % 8 == 7 ? 2 : 1;
        CALL(status, certreg_certify_sigmas(play.e, z, sigmas + how / 32 % 2, levels, 2, samples, q,
                                            count, c));
        check_certificates(c + count * (levels - 1), count);
    } else { /* again: the same bits */
        certreg_certificate again[2] = {{.struct_size = sizeof *c}, {.struct_size = sizeof *c}};
        CALL(status, certreg_certify(play.e, 0, q, count, c));
        CALL(status, certreg_certify(play.e, 0, q, count, again));
        MUST(!memcmp(c, again, count * sizeof *c), "another answer to the same questions");
    }
    check_certificates(c, count);
    MUST(!status || c[0].status || c[count - 1].status || how % 8 == 6,
         "status %d, and none of a certificate", (int)status);
}

/* About a prediction that is given, a larger tolerance never has a shorter radius; of numbers,
 * since on a circle it is nearer to the other side. */
static void widen(fuzz_bytes *b, int kind)
{
    certreg_certificate c[2] = {{.struct_size = sizeof *c}, {.struct_size = sizeof *c}};
    const double prediction = fuzz_byte(b) / 64.0 - 2;
    certreg_question q[2] = {
        {.struct_size = sizeof *q, .output = kind == 1 || kind == 2, .prediction = &prediction}};
    certreg_status status;
    const uint8_t how = fuzz_byte(b);
    q[0].tolerance = (1 + how % 16) / 8.0;
    q[0].method = how & 16 ? CERTREG_METHOD_ANYTIME : CERTREG_METHOD_FINITE;
    q[1] = q[0], q[1].tolerance += (1 + how / 32) / 8.0;
    CALL(status, certreg_certify(play.e, 0, q, 2, c));
    check_certificates(c, 2);
    MUST(status || c[1].radius >= c[0].radius * (1 - 1e-6), "radius %g for %g, %g for %g",
         c[0].radius, c[0].tolerance, c[1].radius, c[1].tolerance);
}

static void look(fuzz_bytes *b)
{
    certreg_status status;
    certreg_bounds bounds = {.struct_size = sizeof bounds};
    certreg_forecast forecast = {.struct_size = sizeof forecast};
    certreg_run run = {.struct_size = sizeof run};
    double number[OUTPUTS] = {0};
    const uint8_t how = fuzz_byte(b);
    const certreg_question q = fuzz_question(b);
    switch (how % 5) {
    case 0:
        CALL(status, certreg_estimator_bounds(play.e, &q, (int32_t)(how / 8 % 8) - 4, &bounds));
        say(&bounds, sizeof bounds);
        break;
    case 1: CALL(status, certreg_estimator_prediction(play.e, &q, number)); break;
    case 2: CALL(status, certreg_estimator_estimate(play.e, &q, number)); break;
    case 3:
        CALL(status, certreg_estimator_forecast(play.e, &q, &forecast));
        say(&forecast, sizeof forecast);
        break;
    default:
        CALL(status, certreg_estimator_info(play.e, &run));
        run.model_seconds = run.library_seconds = 0;
        say(&run, sizeof run);
    }
    say(number, sizeof number);
}

static void hit(fuzz_bytes *b, size_t inputs)
{
    const certreg_attack_plan p = {
        .struct_size = sizeof p, .max_calls = 256, .memory = attack_memory, .memory_bytes = MEMORY};
    double gradient[FEW] = {0};
    const uint8_t how = fuzz_byte(b);
    const certreg_question q = fuzz_question(b);
    static const float along[FEW] = {1, -0.5f};
    const certreg_attack_options o = STRUCT(certreg_attack_options, .calls = how & 1 ? 256 : 0,
                                            .alpha = how & 2 ? 0.5 : 0, .number = how / 16,
                                            .direction = how & 8 ? along : NULL);
    certreg_attack_result r = {.struct_size = sizeof r};
    float shift[FEW];
    if (!attack) MUST(!certreg_attack_create(play.e, &p, NULL, &attack), "attack");
    certreg_status status;
    if (how & 4) IN_CALLERS_ENVIRONMENT(status, certreg_attack_gradient(attack, &q, 1, gradient));
    else IN_CALLERS_ENVIRONMENT(status, certreg_attack_run(attack, &q, &o, shift, &r));
    fuzz_check_error(certreg_attack_error(attack), status, "an attack");
    MUST(r.radius > 0 || how & 4, "radius %g", r.radius);
    MUST(!status || how & 4 || (r.outcome == CERTREG_ATTACK_NOT_BROKEN && r.radius == INFINITY),
         "radius %g after %d", r.radius, (int)status);
    say(&r, sizeof r), say(gradient, inputs * sizeof *gradient);
    if (!(how & 4)) say(shift, inputs * sizeof *shift);
}

static void call(fuzz_bytes *b, int kind)
{
    certreg_status status;
    const uint8_t which = fuzz_byte(b);
    const size_t columns = models[kind].outputs + (kind == 2);
    switch (which % 16) {
    case 0: begin(b); break;
    case 1:
    case 2: sample(b); break;
    case 3:
        if (kind != WIDE) draw_and_record(b, models[kind].inputs, columns);
        break;
    case 4:
    case 5: export_or_import(b); break;
    case 6:
        if (answers_left-- > 0) widen(b, kind);
        break;
    case 7:
    case 8:
    case 9: look(b); break;
    case 10:
        CALL(status, certreg_estimator_set_deadline(play.e, which & 64 ? -1 : INFINITY));
        break;
    case 11: certreg_estimator_cancel(play.e); break;
    case 12:
        if (kind != WIDE) hit(b, models[kind].inputs);
        break;
    case 13:
        fesetenv(&callers);
        change_environment(fuzz_byte(b));
        fegetenv(&callers);
        fesetenv(FE_DFL_ENV);
        break;
    default:
        if (answers_left-- > 0) ask(b);
    }
    fuzz_boxes_check();
}

static void run(const uint8_t *input, size_t size, certreg_backend *backend)
{
    answers_left = fuzz_one_of(TWICE, input, size) ? CALLS : 1;
    fuzz_bytes b = {input, size};
    const int kind = kind_of(fuzz_byte(&b));
    fegetenv(&callers);
    for (int i = 0; i < SCRIPT; i++) play.act[i] = fuzz_byte(&b) ^ 0x1f;
    for (int i = 0; i < SCRIPT; i++) play.value[i] = fuzz_byte(&b);
    play.e = make(&b, kind, backend);
    play.calls = play.steps = kept_bytes = said_bytes[pass] = 0;
    if (fuzz_byte(&b) % 16 != 15) begin(&b);
    for (int i = 0; i < CALLS && b.left; i++) call(&b, kind);
    certreg_attack_destroy(attack), attack = NULL;
    certreg_estimator_destroy(play.e);
}

void fuzz_one(const uint8_t *input, size_t size)
{
    const int twice = fuzz_one_of(TWICE, input, size);
    pass = 0, strange = !twice;
    run(input, size, NULL);
    if (!twice) return;
    pass = strange = 1;
    run(input, size, threads);
    for (size_t i = 0; i < said_bytes[0]; i++)
        MUST(said[0][i] == said[1][i], "other threads and environments, other bits at %zu", i);
    MUST(said_bytes[0] == said_bytes[1], "%zu and %zu bytes", said_bytes[0], said_bytes[1]);
}
