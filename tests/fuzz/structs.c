/* Structs of any size with anything in their fields, given to every call about certificates.
 * Nothing is read or written beyond a struct; outputs are written and claim nothing after a
 * failure; a refusal says why, and leaves the handle as good as before. */
#include "fuzz/questions.h"
#include "support/structs.h"
#include <certreg/backend.h>
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <certreg/solver.h>

const size_t fuzz_most_bytes = 256;
enum { KINDS = 2, INPUTS = 2, MOST = 40, SAMPLES = 32, PILOT = 6, BATCH = 8 };
enum { MEMORY = 1 << 20, LONG = 1 << 18, ARRAY = 64 };
static certreg_estimator *handle[KINDS];
static certreg_certificate reference[KINDS];
static _Alignas(64) unsigned char memory[MEMORY + 64];
static float zeros[LONG];
static const float z[INPUTS] = {0.5f, -1};

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++)
            b->y[i * b->columns + k] = b->x[i * b->inputs + k % b->inputs];
    return 0;
}

/* ---- handles, which serve all inputs, one after the other */
static void make(int kind)
{
    static const int32_t kinds[KINDS][3] = {
        {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_REAL},
        {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE, CERTREG_OUTPUT_ANGLE_PAIR}};
    static const double lo[3] = {-8, -8, -4}, hi[3] = {8, 8, 4};
    const certreg_model m = MODEL(.eval = model, .inputs = INPUTS, .outputs = kind ? 3 : 2,
                                  .batch = BATCH, .kind = kinds[kind], .lo = lo, .hi = hi);
    const certreg_plan p = PLAN(.constraints = kind ? 0 : CERTREG_CONSTRAINTS_ECGM,
                                .max_samples = MOST, .pilot = PILOT,
                                .flags = kind ? CERTREG_PLAN_COUNT_FAILURES : 0);
    MUST(!certreg_estimator_create(NULL, &m, &p, NULL, handle + kind), "kind %d", kind);
}

static certreg_certificate certify(int kind)
{
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 1};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_status status = certreg_estimator_begin(handle[kind], z, 0.25, 1);
    if (!status) status = certreg_certify(handle[kind], SAMPLES, &q, 1, &c);
    MUST(!status && c.radius > 0, "%s", certreg_estimator_error(handle[kind])->text);
    return c;
}

void fuzz_prepare(void)
{
    for (int kind = 0; kind < KINDS; kind++) make(kind), reference[kind] = certify(kind);
}

/* ---- create */
static void *array(fuzz_bytes *b, size_t size)
{
    if (fuzz_byte(b) % 2) return NULL;
    unsigned char *at = fuzz_box_take(ARRAY * size, 0);
    for (size_t i = 0; i < 4; i++) {
        const double x = fuzz_double(b);
        const float as_float = (float)x;
        const int32_t as_kind = (int32_t)(fuzz_byte(b) % 5) - 1;
        if (size == sizeof x) memcpy(at + 8 * i, &x, size);
        else memcpy(at + 4 * i, i % 2 ? (const void *)&as_float : &as_kind, size);
    }
    return at;
}

/* Arrays that are too short for a model are the caller's fault: then there are none. */
static void shorten(certreg_model *m)
{
    if (m->struct_size < offsetof(certreg_model, masks) || m->struct_size > FUZZ_LARGEST) return;
    if (m->inputs > ARRAY) m->scale = NULL;
    if (m->outputs > ARRAY) m->kind = NULL, m->lo = NULL, m->hi = NULL;
}

/* In memory of exactly the size that is said to be enough. */
static certreg_status create_within(fuzz_bytes *b, const certreg_model *m, certreg_plan *p,
                                    size_t need, certreg_error *why, certreg_estimator **out)
{
    const uint8_t kind = fuzz_byte(b);
    p->memory = kind < 192 ? memory : kind < 224 ? memory + kind % 64 : NULL;
    p->memory_bytes = kind % 8 ? need : need - need % 63;
    ASAN_POISON_MEMORY_REGION(memory + p->memory_bytes, sizeof memory - p->memory_bytes);
    return certreg_estimator_create(NULL, m, p, why, out);
}

static void use(fuzz_bytes *b, certreg_estimator *e, size_t inputs)
{
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 1};
    certreg_certificate c = {.struct_size = sizeof c};
    const size_t samples = 1 + fuzz_byte(b) % 8;
    certreg_status status = certreg_estimator_begin(e, zeros, 0.25, fuzz_byte(b));
    fuzz_check_error(certreg_estimator_error(e), status, "begin");
    if (status || inputs > 1000) return;
    status = certreg_certify(e, samples, &q, 1, &c);
    fuzz_check_error(certreg_estimator_error(e), status, "certify");
    fuzz_check_certificate(&c, "certify");
}

static void create(fuzz_bytes *b)
{
    const certreg_model good =
        MODEL(.eval = model, .inputs = 1 + fuzz_byte(b) % 4, .outputs = 1 + fuzz_byte(b) % 4,
              .batch = 1 + fuzz_byte(b) % 8, .scale = array(b, sizeof(float)),
              .kind = array(b, sizeof(int32_t)), .lo = array(b, sizeof(double)),
              .hi = array(b, sizeof(double)));
    const certreg_plan plain = {.struct_size = sizeof plain, .max_samples = 1 + fuzz_byte(b)};
    certreg_model *m = fuzz_structs(b, &good, 1, (fuzz_shape){sizeof good, 0x7c6});
    certreg_plan *p = fuzz_structs(b, &plain, 1, (fuzz_shape){sizeof plain, 0x1a0});
    certreg_error *why = fuzz_output(fuzz_struct_size(b, sizeof *why), 1);
    size_t bytes = 7, there = 7;
    certreg_estimator *e = NULL;
    shorten(m);
    certreg_status status = certreg_estimator_size(NULL, m, p, NULL, &bytes, &there);
    MUST(!status == !!bytes, "size: %d, %zu bytes", (int)status, bytes);
    MUST(status || !(fuzz_sets_unknown(m, sizeof *m) || fuzz_sets_unknown(p, sizeof *p)),
         "unknown fields are taken");
    MUST(!there, "%zu bytes on the device", there);
    if (bytes <= MEMORY) {
        const uint32_t size = why->struct_size;
        const int whole = fuzz_is_valid_size(size, sizeof *why);
        if (!status && p->struct_size >= sizeof *p) status = create_within(b, m, p, bytes, why, &e);
        else status = certreg_estimator_create(NULL, m, p, why, &e);
        if (whole) fuzz_check_error(why, status, "create");
        MUST(!status == !!e && why->struct_size == size, "create: %d", (int)status);
        if (e) use(b, e, m->inputs);
        certreg_estimator_destroy(e);
        ASAN_UNPOISON_MEMORY_REGION(memory, sizeof memory);
    }
}

/* ---- certificates */
typedef struct asked { /* and what is to be written */
    certreg_question *q;
    size_t count;
    unsigned char *out;
    uint32_t size;
} asked;

static const certreg_certificate *read_certificate(const asked *a, size_t i)
{
    static certreg_certificate c;
    memcpy(&c, a->out + i * a->size, sizeof c);
    MUST(c.struct_size == a->size, "certificate %zu: struct_size %u, not %u", i, c.struct_size,
         a->size);
    return &c;
}

/* Written whatever happened; bytes that this version does not know are zero. */
static void check_certificates(const asked *a, size_t count, certreg_status status)
{
    int failed = 0;
    for (size_t i = 0; i < count && fuzz_is_valid_size(a->size, sizeof(certreg_certificate)); i++) {
        const certreg_certificate *c = read_certificate(a, i);
        fuzz_check_certificate(c, "certificates");
        failed |= c->status != CERTREG_OK;
        for (size_t k = sizeof *c; k < a->size; k++)
            MUST(!a->out[i * a->size + k], "byte %zu of certificate %zu", k, i);
        MUST(status || !c->status, "status 0, and %d of certificate %zu", (int)c->status, i);
    }
    MUST(!status || failed || !count || !fuzz_is_valid_size(a->size, sizeof(certreg_certificate)),
         "status %d, and none of a certificate", (int)status);
}

static certreg_status ask(fuzz_bytes *b, certreg_estimator *e)
{
    static const double sigmas[] = {0.25, 0.5, NAN, 0, INFINITY, 0.25, -1, 1e300};
    asked a = {.count = fuzz_byte(b) % 4, .size = fuzz_struct_size(b, sizeof(certreg_certificate))};
    const uint8_t call = fuzz_byte(b);
    const size_t samples = fuzz_byte(b) % (MOST + 4), levels = call / 4 % 4;
    a.q = fuzz_questions(b, a.count);
    a.out = fuzz_output(a.size, (a.count ? a.count : 1) * (call % 4 == 3 && levels ? levels : 1));
    certreg_status status;
    if (call % 4 == 0) {
        status = certreg_certify(e, samples, a.q, a.count, (void *)a.out);
    } else if (call % 4 == 1) {
        status = certreg_output_bounds(e, samples, a.q, a.count, fuzz_double(b), (void *)a.out);
    } else if (call % 4 == 2) {
        asked one = {.size = fuzz_struct_size(b, sizeof(certreg_certificate))};
        one.out = fuzz_output(one.size, 1);
        status = certreg_certify_outputs(e, samples, a.q, a.count, (void *)a.out, (void *)one.out);
        if (fuzz_is_valid_size(one.size, sizeof(certreg_certificate)))
            fuzz_check_certificate(read_certificate(&one, 0), "combined");
    } else {
        status = certreg_certify_sigmas(e, call & 64 ? NULL : z, sigmas + call / 16 % 4, levels, 3,
                                        samples, a.q, a.count, (void *)a.out);
        check_certificates(&a, a.count * levels, status);
    }
    if (call % 4 != 3) check_certificates(&a, a.count, status);
    return status;
}

/* ---- what else is read from a record */
static void check_numbers(const double *out, certreg_status status)
{
    for (int i = 0; i < 4; i++) MUST(!status || out[i] == 7, "written after %d", (int)status);
}

static certreg_status look(fuzz_bytes *b, certreg_estimator *e)
{
    const uint8_t call = fuzz_byte(b);
    const certreg_question *q = fuzz_questions(b, 1);
    double numbers[4] = {7, 7, 7, 7};
    const int32_t side = (int8_t)fuzz_byte(b) % 5;
    certreg_status status;
    if (call % 5 == 0) {
        certreg_bounds *out = fuzz_output(fuzz_struct_size(b, sizeof *out), 1);
        const uint32_t size = out->struct_size;
        status = certreg_estimator_bounds(e, q, side, out);
        if (status && fuzz_is_valid_size(size, sizeof *out))
            MUST(!out->constraints, "bounds: %x after %d", out->constraints, (int)status);
        if (!status) MUST(out->sigma > 0 && out->alpha > 0 && out->alpha <= 0.5, "%g", out->alpha);
        MUST(out->struct_size == size, "%u", out->struct_size);
    } else if (call % 5 == 1) {
        status = certreg_estimator_prediction(e, q, numbers);
        check_numbers(numbers, status);
    } else if (call % 5 == 2) {
        status = certreg_estimator_estimate(e, q, numbers);
        check_numbers(numbers, status);
    } else if (call % 5 == 3) {
        certreg_forecast *out = fuzz_output(fuzz_struct_size(b, sizeof *out), 1);
        const uint32_t size = out->struct_size;
        status = certreg_estimator_forecast(e, q, out);
        if (fuzz_is_valid_size(size, sizeof *out))
            MUST(out->least_samples <= MOST && out->expected_samples >= 0 &&
                     (!status || out->expected_samples == INFINITY),
                 "forecast: %g after %d", out->expected_samples, (int)status);
    } else {
        certreg_run *out = fuzz_output(fuzz_struct_size(b, sizeof *out), 1);
        const uint32_t size = out->struct_size;
        status = certreg_estimator_info(e, out);
        MUST(!!status != fuzz_is_valid_size(size, sizeof *out), "run: %d for %u", (int)status,
             size);
    }
    return status;
}

/* ---- without a handle */
static void choose(fuzz_bytes *b)
{
    certreg_certificate good[4];
    const size_t inputs = fuzz_byte(b) % 3, levels = fuzz_byte(b) % 3, count = inputs * levels;
    double mean[4];
    size_t level = 7;
    for (size_t i = 0; i < 4; i++) {
        good[i] = reference[0];
        good[i].sigma = levels && i % levels ? 0.25 : 0.5;
        good[i].radius = fuzz_share(b);
    }
    const certreg_certificate *c =
        fuzz_structs(b, good, count > 0 ? count : 1, (fuzz_shape){sizeof *c, 0});
    const certreg_status status = certreg_choose_sigma(c, inputs, levels, NULL, mean, &level);
    MUST(status ? !level : level < levels, "%d, level %zu", (int)status, level);
    MUST(!status || status == CERTREG_E_INVALID || status == CERTREG_E_VERSION, "%d", (int)status);
    for (size_t i = 0; !status && i < levels; i++)
        MUST(mean[i] >= 0 && mean[i] <= mean[level], "%g, %g", mean[i], mean[level]);
}

static certreg_status hostile_begin(fuzz_bytes *b, certreg_estimator *e)
{
    const float input[INPUTS] = {(float)fuzz_double(b), (float)fuzz_double(b)};
    const double sigma = fuzz_double(b);
    const uint64_t level = fuzz_word(b);
    return certreg_estimator_begin_level(e, fuzz_byte(b) % 8 ? input : NULL, sigma, fuzz_word(b),
                                         fuzz_byte(b) % 2 ? level : level % 4);
}

void fuzz_one(const uint8_t *input, size_t size)
{
    fuzz_bytes b = {input, size};
    const uint8_t call = fuzz_byte(&b), then = fuzz_byte(&b);
    const int kind = call / 64 % KINDS;
    certreg_estimator *e = handle[kind];
    certreg_status status = CERTREG_OK;
    certreg_estimator_begin(e, z, 0.25, 1);
    if (call % 8 > 2 && call & 8) certreg_estimator_sample(e, 0, SAMPLES);
    if (call % 8 == 0) create(&b);
    else if (call % 8 == 1) fuzz_digest(&b);
    else if (call % 8 == 2) choose(&b);
    else if (call % 8 == 3) status = hostile_begin(&b, e);
    else if (call % 8 < 6) status = ask(&b, e);
    else status = look(&b, e);
    fuzz_boxes_check();
    if (call % 8 > 2) fuzz_check_error(certreg_estimator_error(e), status, "a call");
    if (!status || then % 4) return;
    const certreg_certificate again = certify(kind);
    MUST(!memcmp(&again, reference + kind, sizeof again), "another answer after a refusal");
}
