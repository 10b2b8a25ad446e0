/* platform PART: prints what has to be the same on every platform. It needs the static library
 * without BLAS, and nothing else, so that it runs under an emulator of another processor;
 * tests/platforms/check.sh compares what it prints.
 * - bits RECORD [THREADS]: lines "bits NAME VALUES" of noise, sums over it, records and digests, on
 *   any number of threads (0: the calling one). RECORD is a file that another platform wrote.
 *   Nothing here depends on how libm rounds: fma, sqrt and fmod are exact or rounded once, and
 *   points of the grid are only taken from a logarithm or a sine where its error does not count.
 * - record: writes such a file.
 * - module PATH: the status and the error of opening a backend module.
 * - values COUNT, errors COUNT: what libm's functions give that certificates use, at so many
 *   arguments each, as bytes; and, from these bytes, their largest errors. */
#include "backend/cpu.h"
#include "base/bytes.h"
#include "record/record.h"
#include "support/test_numbers.h"
#include <certreg/backend.h>
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#endif

static certreg_backend *backend; /* draws and sums the noise */

static void print_all_bits(const char *name, size_t number, const uint64_t *values, size_t count)
{
    printf("bits %s-%zu", name, number);
    for (size_t i = 0; i < count; i++) printf(" %016" PRIx64, values[i]);
    puts("");
}

static void print_bits(const char *name, size_t number, uint64_t value)
{
    print_all_bits(name, number, &value, 1);
}

static uint64_t hash_of_floats(const float *x, size_t count)
{
    uint64_t h = CR_HASH_START;
    for (size_t i = 0; i < count; i++) h = cr_hash32(h, cr_bits_of_float(x[i]));
    return cr_hash_end(h);
}

static uint64_t hash_of_doubles(const double *x, size_t count)
{
    uint64_t h = CR_HASH_START;
    for (size_t i = 0; i < count; i++) h = cr_hash64(h, cr_bits_of_double(x[i]));
    return cr_hash_end(h);
}

/* ---- noise, and sums over it */
static const struct shape {
    uint64_t seed, stream, level, first;
    size_t inputs, count;
} shapes[] = {
    {0, 0, 0, 0, 1, 400},
    {1, 2, 0, 3, 3, 131},
    {UINT64_C(0x0123456789ABCDEF), UINT64_C(0xFEDCBA9876543210), 1, 0, 5, 700},
    {9, 10, CR_LEVELS - 1, 0, 16, 320},
    {11, UINT64_C(1) << 32, 7, UINT64_C(0xFFFFFFF0), 63, 96},
    {20, 21, 0, 0, 784, 100},
    {24, 25, 3, 1000, 4097, 40},
    {28, UINT64_MAX, 0, (UINT64_C(1) << CR_LEVEL_BITS) - 100, 4, 100},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, BLOCKS = 8 };

typedef struct arrays {
    float *z, *step, *mask, *x, *weights, *direction;
    double *sums, *dots, *norms, gram[BLOCKS * BLOCKS], lengths[2];
} arrays;

static arrays arrays_of(const struct shape *s)
{
    arrays a = {.z = made_up_numbers(s->inputs, 1), .step = made_up_steps(s->inputs, 2)};
    a.mask = malloc(s->inputs * sizeof *a.mask);
    for (size_t j = 0; j < s->inputs; j++) a.mask[j] = s->inputs < 5 || j % 5 != 3;
    a.x = malloc(s->inputs * s->count * sizeof *a.x);
    a.weights = made_up_numbers(2 * s->count, 3);
    a.direction = malloc(s->inputs * sizeof *a.direction);
    a.sums = calloc(2 * BLOCKS * s->inputs, sizeof *a.sums);
    a.dots = malloc(s->count * sizeof *a.dots), a.norms = malloc(s->count * sizeof *a.norms);
    return a;
}

static void free_arrays(arrays *a)
{
    free(a->z), free(a->step), free(a->mask), free(a->x), free(a->weights), free(a->direction);
    free(a->sums), free(a->dots), free(a->norms);
}

/* Of the products of means, and of norms and dots. */
static void sweep_bits(size_t i, const cr_noise *noise, const arrays *a, uint64_t bits[2])
{
    const struct shape *s = shapes + i;
    certreg_backend *b = backend;
    const size_t count = s->count - s->count % BLOCKS;
    const cr_sweep_sizes sizes = {.inputs = s->inputs,
                                  .sample_span = s->count,
                                  .functions = 2,
                                  .grams = 1,
                                  .blocks = BLOCKS,
                                  .dots = s->count};
    const cr_sweep_buffers room = {.workspace = malloc(b->ops->sweep_bytes(b, &sizes))};
    double lengths[BLOCKS + 1], gram[BLOCKS * BLOCKS];
    const cr_sweep_function functions[] = {
        {s->first, count, BLOCKS, a->weights, .gram = gram},
        {s->first, s->count, BLOCKS, a->weights, .norms = lengths, .dots = a->dots}};
    const cr_sweep sweep = {functions, 2, a->mask, s->first, a->norms, &sizes, &room};
    b->ops->sweep(b, noise, &sweep, NULL);
    bits[0] = hash_of_doubles(gram, BLOCKS * BLOCKS);
    bits[1] = hash_of_doubles(a->dots, s->count) ^ hash_of_doubles(lengths, BLOCKS + 1);
    free(room.workspace);
}

static void print_shape(size_t i)
{
    const struct shape *s = shapes + i;
    const cr_noise noise = {.seed = s->seed,
                            .noise_id = s->stream,
                            .level = s->level,
                            .inputs = s->inputs,
                            .clean_first = s->first == 0};
    certreg_backend *b = backend;
    arrays a = arrays_of(s);
    const size_t length = s->count / BLOCKS, sums = BLOCKS * s->inputs;
    uint64_t drawn[4], projected[4];
    b->ops->draw(b, &noise, &(cr_draw){a.z, a.step, s->first, s->count, a.x, NULL});
    drawn[0] = hash_of_floats(a.x, s->inputs * s->count);
    cr_weighted_blocks w = {.first = s->first,
                            .block_samples = length,
                            .blocks = BLOCKS,
                            .functions = 1,
                            .weights = a.weights,
                            .stride = s->count};
    memset(a.sums, 0, sums * sizeof *a.sums);
    b->ops->replay(b, &noise, &w, a.mask, a.sums, NULL);
    drawn[1] = hash_of_doubles(a.sums, sums);
    b->ops->gram(b, a.sums, s->inputs, BLOCKS, s->inputs, a.gram);
    drawn[2] = hash_of_doubles(a.gram, BLOCKS * BLOCKS);
    w.block_samples = s->count, w.blocks = 1, w.functions = 2;
    b->ops->replay(b, &noise, &w, NULL, a.sums, NULL);
    drawn[3] = hash_of_doubles(a.sums, 2 * s->inputs);
    print_all_bits("noise-sums-gram-replay", i, drawn, 4);
    b->ops->set_directions(
        b, &(cr_direction_rows){1, s->inputs, a.mask, a.sums, a.direction, a.lengths});
    projected[0] = hash_of_doubles(a.lengths, 2) ^ hash_of_floats(a.direction, s->inputs);
    b->ops->project(b, &noise,
                    &(cr_projection){s->first, s->count, a.direction, a.mask, a.dots, a.norms, 0},
                    NULL);
    projected[1] = hash_of_doubles(a.dots, s->count) ^ hash_of_doubles(a.norms, s->count);
    sweep_bits(i, &noise, &a, projected + 2);
    print_all_bits("direction-project-sweeps", i, projected, 4);
    free_arrays(&a);
}

/* ---- the filter of denoisers */
static void print_filter(size_t number, size_t inputs, size_t rows)
{
    enum { COMPONENTS = CR_FILTER_GROUP };
    const size_t pitch = (inputs + CR_FILTER_SUMS - 1) / CR_FILTER_SUMS * CR_FILTER_SUMS;
    float *constants = made_up_numbers((2 + 2 * COMPONENTS) * pitch, 7), *y;
    float *x = made_up_numbers(rows * inputs, 8);
    for (size_t r = 0; r < 2 + 2 * COMPONENTS; r++) /* what pads a row */
        for (size_t j = inputs; j < pitch; j++) constants[r * pitch + j] = 0;
    const cr_filter filter = {.inputs = inputs,
                              .pitch = pitch,
                              .components = COMPONENTS,
                              .center = constants,
                              .base_gain = constants + pitch,
                              .analysis = constants + 2 * pitch,
                              .synthesis = constants + (2 + COMPONENTS) * pitch};
    y = malloc(rows * inputs * sizeof *y);
    cr_cpu_best()->filter(&filter, x, rows, y);
    print_bits("filter", number, hash_of_floats(y, rows * inputs));
    free(constants), free(x), free(y);
}

/* ---- records */
enum { INPUTS = 3, OUTPUTS = 2, SAMPLES = 60, MOST_BYTES = 4096 };
static const float input[INPUTS] = {0.5f, -1, 3}, scale[INPUTS] = {1, 2, 0.5f};
static size_t calls;

/* Sums and products; degrees beyond the turn, which the library wraps. */
static int polynomial(void *user, const certreg_batch *b)
{
    (void)user;
    calls++;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs, t = x[0] * x[1], u = t + x[2];
        b->y[i * b->columns] = u;
        b->y[i * b->columns + 1] = 300 * u;
    }
    return 0;
}

static certreg_estimator *begin(void)
{
    const int32_t kinds[OUTPUTS] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE};
    const double lo[OUTPUTS] = {-INFINITY, -180}, hi[OUTPUTS] = {INFINITY, 180};
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = polynomial,
                             .inputs = INPUTS,
                             .outputs = OUTPUTS,
                             .batch = 16,
                             .scale = scale,
                             .kind = kinds,
                             .lo = lo,
                             .hi = hi};
    const certreg_plan p = {
        .struct_size = sizeof p, .seed = 2026, .max_samples = SAMPLES, .pilot = 20};
    certreg_estimator *e = NULL;
    calls = 0;
    if (certreg_estimator_create(NULL, &m, &p, NULL, &e)) exit(1);
    if (certreg_estimator_begin_level(e, input, 0.25, 7, 1)) exit(1);
    return e;
}

static size_t export_of(certreg_estimator *e, unsigned char *bytes)
{
    size_t count = MOST_BYTES;
    if (certreg_estimator_export(e, bytes, &count)) exit(1);
    return count;
}

static size_t sampled(unsigned char *bytes)
{
    certreg_estimator *e = begin();
    if (certreg_estimator_sample(e, 0, SAMPLES)) exit(1);
    const size_t count = export_of(e, bytes);
    certreg_estimator_destroy(e);
    return count;
}

static int platform_record(void)
{
    unsigned char bytes[MOST_BYTES];
    const size_t count = sampled(bytes);
    return fwrite(bytes, 1, count, stdout) != count;
}

static int print_record(const char *file)
{
    unsigned char here[MOST_BYTES], there[MOST_BYTES], again[MOST_BYTES];
    FILE *f = fopen(file, "rb");
    if (!f) return perror(file), 1;
    const size_t read = fread(there, 1, sizeof there, f), count = sampled(here);
    fclose(f);
    print_bits("record", count, cr_hash_end(cr_hash(CR_HASH_START, here, count)));
    print_bits("record-is-the-file", 0, read == count && !memcmp(here, there, count));
    certreg_estimator *e = begin();
    print_bits("import", 0, (uint64_t)certreg_estimator_import(e, there, read));
    certreg_estimator_sample(e, 0, SAMPLES);
    const size_t exported = export_of(e, again);
    print_bits("calls-after-import", 0, calls);
    print_bits("export-of-import", exported, cr_hash_end(cr_hash(CR_HASH_START, again, exported)));
    there[read / 2] ^= 1;
    print_bits("import-of-damaged", 0, (uint64_t)certreg_estimator_import(e, there, read));
    certreg_estimator_destroy(e);
    return 0;
}

/* ---- digests */
static void print_question(size_t i)
{
    static const double prediction[2] = {0.1, -DBL_TRUE_MIN};
    static const uint64_t looks[3] = {100, 200, UINT64_C(1) << 40};
    const certreg_target target = {
        .struct_size = sizeof target, .radius = 1.0 / 3, .look_count = 3, .looks = looks};
    const certreg_serving serving = {
        .struct_size = sizeof serving, .samples = 51, .failure_rate = 0.05};
    const double n = (double)i + 1;
    certreg_question q = {.struct_size = sizeof q, .tolerance = n - 0.9, .alpha = 1e-3 / n};
    q.statistic = (int32_t)(i % 3), q.method = (int32_t)(i % 4), q.output = (int32_t)i - 1;
    if (i & 1) q.target = &target;
    if (i & 2) q.serving = &serving;
    if (i & 4) q.prediction = prediction, q.prediction_count = 2;
    const float z[8] = {0.1f, -0.0f, FLT_TRUE_MIN, -3, FLT_MAX, 0, 1, 2};
    uint64_t bits[3] = {0};
    bits[0] = (uint64_t)certreg_question_digest(&q, NULL, bits + 1);
    bits[2] = cr_input_digest(z, i & 1 ? z : NULL, i + 1);
    print_all_bits("digests", i, bits, 3);
}

static int platform_bits(const char *record, int threads)
{
    certreg_error why = {.struct_size = sizeof why};
    backend = cr_backend_default();
    if (threads && certreg_backend_open_cpu(threads, &why, &backend))
        return fprintf(stderr, "%s\n", why.text), 1;
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = 8};
    const float zero[8] = {0}, one[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    float x[8];
    uint64_t points[8];
    certreg_backend *b = backend;
    b->ops->draw(b, &noise, &(cr_draw){zero, one, 0, 1, x, NULL});
    for (size_t j = 0; j < 8; j++) points[j] = cr_bits_of_float(x[j]);
    for (size_t j = 0; j < 8; j += 4) print_all_bits("points", j, points + j, 4);
    for (size_t i = 0; i < SHAPES; i++) print_shape(i);
    for (size_t i = 0; i < 3; i++) print_filter(i, i == 2 ? 784 : 5 + 16 * i, 9 + 30 * i);
    for (size_t i = 0; i < 8; i++) print_question(i);
    if (threads) certreg_backend_close(backend);
    return print_record(record);
}

/* ==== libm. The errors of libm's functions that certificates use, over the ranges in which they
 * use them. One program prints the values, on the platform that is measured, and another compares
 * them with those of long double, which has 11 bits more at least: emulators take hours for long
 * doubles. Both make the same arguments. */
_Static_assert(LDBL_MANT_DIG >= 64, "long double has to know what is rounded to double");

/* LINEAR: uniform arguments. SIZES: all sizes alike; SIGNED: with either sign. */
enum spread { LINEAR, SIZES, SIGNED };

#define ONE(name) #name, name, name##l, NULL, NULL
#define TWO(name) #name, NULL, NULL, name, name##l
static const struct range {
    const char *name;
    double (*one)(double);
    long double (*exact_one)(long double);
    double (*two)(double, double);
    long double (*exact_two)(long double, long double);
    double allowed; /* units in the last place */
    enum spread spread;
    double from, to;
    double second[2]; /* of the second argument, LINEAR */
} ranges[] = {
    {ONE(erfc), 4, LINEAR, -6, 6, {0}},
    {ONE(erfc), 4, LINEAR, 0.8, 1.3, {0}},
    {ONE(erfc), 4, LINEAR, 6, 26.5, {0}},
    {ONE(erf), 4, LINEAR, -3, 3, {0}},
    {ONE(erf), 4, SIGNED, 1e-300, 1, {0}},
    {ONE(exp), 1, LINEAR, -708, 709, {0}},
    {ONE(exp), 1, LINEAR, -1, 1, {0}},
    {ONE(exp), 1, LINEAR, -745, -708, {0}},
    {ONE(expm1), 1, LINEAR, -40, 700, {0}},
    {ONE(expm1), 1, LINEAR, -1, 1, {0}},
    {ONE(expm1), 1, SIGNED, 1e-300, 1, {0}},
    {ONE(log), 1, LINEAR, 0.5, 2, {0}},
    {ONE(log), 1, LINEAR, 1 - 1e-3, 1 + 1e-3, {0}},
    {ONE(log), 1, SIZES, 1e-300, 1e300, {0}},
    {ONE(log1p), 1, LINEAR, -0.999, 3, {0}},
    {ONE(log1p), 1, SIGNED, 1e-300, 0.9, {0}},
    {ONE(log1p), 1, SIZES, 1e-300, 1e18, {0}},
    {ONE(cbrt), 4, LINEAR, -2, 2, {0}},
    {ONE(cbrt), 4, SIGNED, 1e-300, 1e100, {0}},
    {ONE(sin), 4, LINEAR, -7, 7, {0}},
    {ONE(sin), 4, SIGNED, 1e-300, 100, {0}},
    {ONE(cos), 4, LINEAR, -7, 7, {0}},
    {ONE(asin), 4, LINEAR, -1, 1, {0}},
    {ONE(exp2), 4, LINEAR, -1000, 1000, {0}},
    {ONE(exp2), 4, LINEAR, -3, 3, {0}},
    {ONE(log2), 4, SIZES, 1e-300, 1e300, {0}},
    {ONE(log10), 4, SIZES, 1e-300, 1e300, {0}},
    {ONE(tanh), 4, SIGNED, 1e-300, 20, {0}},
    {TWO(pow), 4, SIZES, 1e-12, 1e12, {-3, 3}},
    {TWO(atan2), 4, SIGNED, 1e-12, 1e12, {-1e3, 1e3}},
    {TWO(hypot), 4, SIGNED, 1e-12, 1e12, {-1e3, 1e3}},
};
enum { RANGES = sizeof ranges / sizeof *ranges };

static uint64_t state;

static double uniform(double from, double to)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return from + (to - from) * (double)(state >> 11) * 0x1p-53;
}

/* Without libm, so that all platforms have the same arguments. */
static double argument(const struct range *r, long i)
{
    const double from = (double)cr_bits_of_double(r->from), to = (double)cr_bits_of_double(r->to);
    if (i < 3) return i == 0 ? r->from : i == 1 ? r->to : 0.5 * (r->from + r->to);
    if (r->spread == LINEAR) return uniform(r->from, r->to);
    const double x = cr_double_of_bits((uint64_t)uniform(from, to) | (state >> 20 & 0x7FF));
    return r->spread == SIGNED && state >> 40 & 1 ? -x : x;
}

static long arguments_of(const struct range *r, long count)
{
    long same = 0;
    for (int i = 0; i < RANGES; i++) same += !strcmp(ranges[i].name, r->name);
    return count / same;
}

static int platform_libm_values(long count)
{
    unsigned char bytes[8];
    for (const struct range *r = ranges; r < ranges + RANGES; r++)
        for (long i = 0; i < arguments_of(r, count); i++) {
            const double x = argument(r, i), y = r->two ? uniform(r->second[0], r->second[1]) : 0;
            cr_put64(bytes, cr_bits_of_double(r->two ? r->two(x, y) : r->one(x)));
            if (fwrite(bytes, sizeof bytes, 1, stdout) != 1) return 1;
        }
    return 0;
}

/* In units of the last place of the nearest double. */
static double error_of(double got, long double exact)
{
    const double nearest = (double)exact;
    int exponent;
    if (got == nearest && !isfinite(nearest)) return 0;
    (void)frexp(nearest, &exponent);
    const long double unit = ldexpl(1, exponent - 53 > -1074 ? exponent - 53 : -1074);
    const double error = (double)(fabsl((long double)got - exact) / unit);
    return error >= 0 ? error : INFINITY; /* NaN */
}

static int platform_libm_errors(long count)
{
    int failed = 0;
    double worst = 0;
    const char *separator = "";
    unsigned char bytes[8];
    for (const struct range *r = ranges; r < ranges + RANGES; r++) {
        for (long i = 0; i < arguments_of(r, count); i++) {
            const double x = argument(r, i), y = r->two ? uniform(r->second[0], r->second[1]) : 0;
            if (fread(bytes, sizeof bytes, 1, stdin) != 1) return puts("not ok too few values"), 1;
            const double error = error_of(cr_double_of_bits(cr_get64(bytes)),
                                          r->two ? r->exact_two((long double)x, (long double)y)
                                                 : r->exact_one((long double)x));
            if (error > worst) worst = error;
        }
        if (r + 1 < ranges + RANGES && !strcmp(r->name, r[1].name)) continue;
        printf("%s%s %.2f", separator, r->name, worst);
        if (worst > r->allowed) failed = printf(" (%g allowed)", r->allowed);
        worst = 0;
        separator = ", ";
    }
    puts("");
    return failed != 0;
}

/* ==== parts */
static int platform_module(const char *path)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *b = NULL;
    const certreg_status status = certreg_backend_open(path, 0, NULL, &why, &b);
    printf("%d %s\n", (int)status, why.text);
    certreg_backend_close(b);
    return status != CERTREG_OK;
}

int main(int argc, char **argv)
{
#if defined(_WIN32) /* "\n" and bytes as they are */
    _setmode(_fileno(stdout), _O_BINARY), _setmode(_fileno(stdin), _O_BINARY);
#endif
    const char *part = argc > 1 ? argv[1] : "";
    if (!strcmp(part, "bits") && argc > 2)
        return platform_bits(argv[2], argc > 3 ? atoi(argv[3]) : 0);
    if (!strcmp(part, "module") && argc > 2) return platform_module(argv[2]);
    if (!strcmp(part, "record")) return platform_record();
    if (!strcmp(part, "values") && argc > 2) return platform_libm_values(atol(argv[2]));
    if (!strcmp(part, "errors") && argc > 2) return platform_libm_errors(atol(argv[2]));
    fprintf(
        stderr,
        "platform bits RECORD [THREADS] | module PATH | record | values COUNT | errors COUNT\n");
    return 2;
}
