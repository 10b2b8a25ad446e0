/* Denoisers through the public interface: what they make of inputs whose law is known, their bytes,
 * and what is refused, by the name of the field, the example or the argument. Bits of apply:
 * unit_denoiser.c. */
#include "support/bad_field.h"
#include <certreg/denoiser.h>
#include <fenv.h>
#include <pthread.h>

enum { D = 4, ROWS = 20000, SPARE_ROWS = 2000 };

/* Features 0 to 2 are one hidden number with different weights and a rest of their own; feature 3
 * is constant. */
static const double weight[D] = {2, 1, -1, 0}, rest[D] = {0.5, 1, 0.25, 0},
                    middle[D] = {1, -3, 0, 7};
static float examples[(ROWS + SPARE_ROWS) * D];

/* Standard normal numbers: each seed has its own. */
static double normal(uint64_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*seed >> 11) * 0x1p-53;
    }
    return sum;
}

static void roll_examples(void)
{
    uint64_t seed = 5;
    for (size_t i = 0; i < ROWS + SPARE_ROWS; i++) {
        const double hidden = normal(&seed);
        for (size_t j = 0; j < D; j++)
            examples[i * D + j] = (float)(middle[j] + weight[j] * hidden + rest[j] * normal(&seed));
    }
}

typedef struct source {
    const float *rows;
    size_t inputs;
    uint64_t count, next; /* the example that has to come next */
    int passes, rounding; /* of its caller; 0 is FE_TONEAREST */
    int fail_at;          /* a pass, from 1 on */
} source;

static int read_rows(void *user, uint64_t first, size_t count, float *x)
{
    source *s = user;
    ck_assert_int_eq(fegetround(), s->rounding);
    ck_assert_uint_ge(s->count, first + count);
    if (s->next == s->count) s->passes++, s->next = 0;
    ck_assert_uint_eq(first, s->next);
    s->next = first + count;
    memcpy(x, s->rows + first * s->inputs, count * s->inputs * sizeof *x);
    return s->passes + 1 == s->fail_at ? 7 : 0;
}

static void destroy(void *d)
{
    certreg_denoiser_destroy(d);
}

static certreg_denoiser_plan plan_of(source *s, double sigma, const float *scale)
{
    return STRUCT(certreg_denoiser_plan, .inputs = s->inputs, .rows = s->count, .read = read_rows,
                  .user = s, .sigma = sigma, .scale = scale);
}

static certreg_denoiser *made(source *s, double sigma, const float *scale)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_denoiser *d = NULL;
    const certreg_denoiser_plan p = plan_of(s, sigma, scale);
    ck_assert_msg(certreg_denoiser_create(&p, &why, &d) == CERTREG_OK, "%s", why.text);
    kit_close_later(destroy, d);
    return d;
}

static certreg_denoiser_facts facts_of(const certreg_denoiser *d)
{
    certreg_denoiser_facts f = {.struct_size = sizeof f};
    ck_assert_int_eq(certreg_denoiser_info(d, &f), CERTREG_OK);
    return f;
}

/* ---- what it makes of inputs */
static const float scales[][D] = {{1, 1, 1, 1}, {1, 2, 0.5f, 1}, {1, 0, 1, 1}, {0, 1, 3, 0}};

/* The mean squared error over features with noise, in units of the noise, on other inputs. */
static double error_on_others(const certreg_denoiser *denoiser, double sigma, const float *scale)
{
    uint64_t seed = 6;
    double error = 0, noisy = 0;
    for (size_t i = ROWS; i < ROWS + SPARE_ROWS; i++) {
        float x[D], y[D];
        for (size_t j = 0; j < D; j++)
            x[j] = scale[j] > 0 ? (float)((double)examples[i * D + j] +
                                          sigma * (double)scale[j] * normal(&seed))
                                : 1e38f; /* which no other output depends on */
        ck_assert_int_eq(certreg_denoiser_apply(denoiser, x, 1, y), CERTREG_OK);
        for (size_t j = 0; j < D; j++) {
            const double unit = sigma * (double)scale[j],
                         off = (double)y[j] - (double)examples[i * D + j];
            if (unit > 0) error += off * off / (unit * unit), noisy++;
            else ck_assert_mem_eq(x + j, y + j, sizeof *x);
        }
    }
    return error / noisy;
}

/* The least error of any linear filter of the features with noise, by elimination: their
 * covariance, in units of the noise, given what is seen. */
static double least_error(double sigma, const float *scale)
{
    double c[D][D], trace = 0, noisy = 0;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            c[i][j] = weight[i] * weight[j] + (i == j ? rest[i] * rest[i] : 0);
            if (scale[i] > 0) c[i][j] /= sigma * (double)scale[i];
            if (scale[j] > 0) c[i][j] /= sigma * (double)scale[j];
        }
    for (size_t i = 0; i < D; i++) {
        const double pivot = c[i][i] + 1;
        double column[D];
        if (!(scale[i] > 0)) continue;
        for (size_t a = 0; a < D; a++) column[a] = c[a][i];
        for (size_t a = 0; a < D; a++)
            for (size_t b = 0; b < D; b++) c[a][b] -= column[a] * column[b] / pivot;
    }
    for (size_t i = 0; i < D; i++)
        if (scale[i] > 0) trace += c[i][i], noisy++;
    return trace / noisy;
}

TEST_TIMES(denoiser_error_is_near_the_least_of_linear_filters, 4 * 3)
{
    const float *scale = scales[_i % 4];
    const double sigma = (const double[]){0.2, 1, 5}[_i / 4];
    source s = {.rows = examples, .inputs = D, .count = ROWS};
    const certreg_denoiser *d = made(&s, sigma, scale);
    const double got = error_on_others(d, sigma, scale), least = least_error(sigma, scale);
    ck_assert_double_le(got, 1.1 * least);
    ck_assert_double_ge(got, 0.9 * least);
    ck_assert_double_eq_tol(facts_of(d).error, got, 0.1 * got);
    ck_assert_int_eq(s.passes + 1, CERTREG_DENOISER_PASSES);
}

/* A row has more features here: ten hidden numbers, of which the first may be large. */
enum { WIDE = 40, OTHERS = 400 };

static void check_error_of_wide_rows(uint64_t rows, float factor, double most, double times)
{
    static float wide[(ROWS + SPARE_ROWS) * D], x[WIDE], y[WIDE];
    memcpy(wide, examples, sizeof wide);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i += WIDE)
        for (size_t j = 0; j < D; j++) wide[i + j] *= factor;
    source s = {.rows = wide, .inputs = WIDE, .count = rows};
    const certreg_denoiser *d = made(&s, 0.5, NULL);
    double error = 0;
    uint64_t seed = 7;
    for (size_t i = 0; i < OTHERS; i++) {
        const float *clean = wide + (1800 + i) * WIDE;
        for (size_t j = 0; j < WIDE; j++) x[j] = clean[j] + 0.5f * (float)normal(&seed);
        ck_assert_int_eq(certreg_denoiser_apply(d, x, 1, y), CERTREG_OK);
        for (size_t j = 0; j < WIDE; j++)
            error += pow((double)y[j] - (double)clean[j], 2) / (0.25 * WIDE * OTHERS);
    }
    ck_assert_double_le(error, most);
    ck_assert_double_le(error, times * facts_of(d).error);
    ck_assert_double_ge(error * times, facts_of(d).error);
}

/* Nothing about those held back is known to the others, not even their mean. */
TEST_TIMES(denoiser_of_few_examples_does_not_promise_much, 9)
{
    check_error_of_wide_rows(2 + (uint64_t)_i, 1, 2.5, 3);
}

static const float factors[] = {1, 1e2f, 1e4f, 1e5f};

TEST_ROWS(denoiser_of_large_variances_keeps_small_ones, factors)
{
    check_error_of_wide_rows(1500, factors[_i], 0.6, 1.05);
}

TEST(denoiser_info_is_that_of_the_plan)
{
    source s = {.rows = examples, .inputs = D, .count = 100};
    const certreg_denoiser_facts f = facts_of(made(&s, 0.75, scales[1]));
    ck_assert(f.inputs == D && f.rows == 100 && f.sigma == 0.75);
    ck_assert_uint_ne(f.digest, facts_of(made(&s, 0.5, scales[1])).digest);
    ck_assert_uint_eq(f.digest, facts_of(made(&s, 0.75, scales[1])).digest);
    certreg_denoiser_plan p = plan_of(&s, 0.01, NULL); /* at which all components are worth it */
    certreg_denoiser *fewer;
    ck_assert_uint_gt(facts_of(made(&s, 0.01, NULL)).components, 2);
    p.components = 2;
    ck_assert_int_eq(certreg_denoiser_create(&p, NULL, &fewer), CERTREG_OK);
    kit_close_later(destroy, fewer);
    ck_assert_uint_le(facts_of(fewer).components, 2);
}

/* Two examples; equal ones; fewer than features, more than a chunk of them. */
static const size_t few[][2] = {{2, D}, {2, 1}, {3, 40}, {257, 300}, {1000, 3}};

TEST_ROWS(denoiser_of_few_and_constant_examples, few)
{
    float y[300];
    source s = {
        .rounding = FE_TONEAREST, .rows = examples, .inputs = few[_i][1], .count = few[_i][0]};
    certreg_denoiser *d = made(&s, 0.5, NULL);
    ck_assert_int_eq(certreg_denoiser_apply(d, examples, 1, y), CERTREG_OK);
    for (size_t j = 0; j < s.inputs; j++) ck_assert(isfinite(y[j]));
    static const float zeros[257 * 300];
    s.rows = zeros, s.next = 0;
    d = made(&s, 0.5, NULL);
    ck_assert_int_eq(certreg_denoiser_apply(d, examples, 1, y), CERTREG_OK);
    for (size_t j = 0; j < s.inputs; j++) ck_assert_float_eq(y[j], 0);
    ck_assert_double_eq(facts_of(d).error, 0);
}

/* ---- bytes */
enum { ROOM = 8192, WORD = 8, HEADER = 7 * WORD };

static size_t exported(const certreg_denoiser *d, unsigned char *to)
{
    size_t bytes = 0;
    ck_assert_int_eq(certreg_denoiser_export(d, NULL, &bytes), CERTREG_OK);
    ck_assert_uint_le(bytes, ROOM);
    size_t less = bytes - 1;
    ck_assert_int_eq(certreg_denoiser_export(d, to, &less), CERTREG_E_SMALL_MEMORY);
    ck_assert_uint_eq(less, bytes);
    ck_assert_int_eq(certreg_denoiser_export(d, to, &less), CERTREG_OK);
    return bytes;
}

/* The bytes of a denoiser of three features, and how many they are. */
static size_t small_bytes(unsigned char *to)
{
    source s = {.rows = examples, .inputs = 3, .count = 50};
    return exported(made(&s, 0.5, NULL), to);
}

static certreg_status import(const unsigned char *from, size_t bytes, certreg_denoiser **d)
{
    certreg_error why = {.struct_size = sizeof why};
    const certreg_status status = certreg_denoiser_import(from, bytes, &why, d);
    ck_assert(status == CERTREG_OK ? !why.text[0] : why.text[0] && !*d);
    return status;
}

static const uint32_t odd_inputs[] = {1, 3, 4};

TEST_ROWS(denoiser_import_gives_the_same_denoiser, odd_inputs)
{
    static unsigned char a[ROOM], b[ROOM];
    source s = {.rows = examples, .inputs = odd_inputs[_i], .count = 50};
    certreg_denoiser *d = made(&s, 0.5, scales[2]), *again = NULL;
    const size_t bytes = exported(d, a);
    ck_assert_int_eq(import(a, bytes, &again), CERTREG_OK);
    kit_close_later(destroy, again);
    ck_assert_uint_eq(exported(again, b), bytes);
    ck_assert_mem_eq(a, b, bytes);
    const certreg_denoiser_facts f = facts_of(d), g = facts_of(again);
    ck_assert_mem_eq(&f, &g, sizeof f);
    float x[5 * D], y[5 * D];
    certreg_denoiser_apply(d, examples, 5, x), certreg_denoiser_apply(again, examples, 5, y);
    ck_assert_mem_eq(x, y, 5 * s.inputs * sizeof *x);
}

TEST(denoiser_import_refuses_damaged_bytes)
{
    static unsigned char a[ROOM];
    certreg_denoiser *d;
    const size_t bytes = small_bytes(a);
    for (size_t i = 0; i < bytes; i++) {
        a[i] ^= (unsigned char)(1u << i % 8);
        ck_assert_int_eq(import(a, bytes, &d), CERTREG_E_CORRUPT);
        a[i] ^= (unsigned char)(1u << i % 8);
    }
    for (size_t less = 0; less < bytes; less++)
        ck_assert_int_eq(import(a, less, &d), CERTREG_E_CORRUPT);
    ck_assert_int_eq(import(NULL, 0, &d), CERTREG_E_CORRUPT);
}

/* The hash of all bytes but the last 8, as docs/stability.md says. */
static void put_hash(unsigned char *a, size_t bytes)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes - 8; i++) h = (h ^ a[i]) * UINT64_C(0x100000001b3);
    h = (h ^ (h >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ (h >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    h ^= h >> 33;
    for (int i = 0; i < 8; i++) a[bytes - 8 + (size_t)i] = (unsigned char)(h >> (8 * i));
}

/* Words that lie, and a constant that is no number, under a hash that fits. */
static const struct lie {
    size_t at;
    uint64_t value;
    certreg_status status;
} lies[] = {{1 * WORD, 2, CERTREG_E_VERSION},
            {2 * WORD, 0, CERTREG_E_CORRUPT},
            {2 * WORD, 4, CERTREG_E_CORRUPT},
            {2 * WORD, UINT64_MAX, CERTREG_E_CORRUPT},
            {3 * WORD, 1u << 20, CERTREG_E_CORRUPT},
            {3 * WORD, (UINT64_C(1) << 63) + 1, CERTREG_E_CORRUPT},
            {5 * WORD, 0, CERTREG_E_CORRUPT},
            {5 * WORD, UINT64_C(0x7ff0000000000000), CERTREG_E_CORRUPT},
            {HEADER, UINT64_C(0x7fc000007fc00000), CERTREG_E_CORRUPT}};

TEST_ROWS(denoiser_import_refuses_false_words_under_a_right_hash, lies)
{
    static unsigned char a[ROOM];
    certreg_denoiser *d;
    const size_t bytes = small_bytes(a);
    for (int i = 0; i < 8; i++)
        a[lies[_i].at + (size_t)i] = (unsigned char)(lies[_i].value >> (8 * i));
    put_hash(a, bytes);
    ck_assert_int_eq(import(a, bytes, &d), lies[_i].status);
}

/* ---- what surrounds a call */
static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

TEST_ROWS(denoiser_bits_do_not_depend_on_the_callers_rounding, roundings)
{
    static unsigned char a[ROOM], b[ROOM];
    float x[5 * D], y[5 * D];
    source s = {.rows = examples, .inputs = D, .count = 500};
    const size_t bytes = exported(made(&s, 0.5, NULL), a);
    s.rounding = roundings[_i];
    fesetround(roundings[_i]);
    feclearexcept(FE_ALL_EXCEPT);
    certreg_denoiser *d = made(&s, 0.5, NULL);
    certreg_denoiser_apply(d, examples, 5, x);
    const int rounding = fegetround(), raised = fetestexcept(FE_ALL_EXCEPT);
    fesetround(FE_TONEAREST);
    ck_assert(rounding == roundings[_i] && !raised);
    ck_assert_uint_eq(exported(d, b), bytes);
    ck_assert_mem_eq(a, b, bytes);
    certreg_denoiser_apply(d, examples, 5, y);
    ck_assert_mem_eq(x, y, sizeof x);
}

enum { THREADS = 4, EACH = 500 };

typedef struct share {
    const certreg_denoiser *d;
    const float *x;
    float y[EACH * D];
} share;

static void *apply_share(void *of)
{
    share *s = of;
    for (size_t i = 0; i < EACH; i++) certreg_denoiser_apply(s->d, s->x + i * D, 1, s->y + i * D);
    return NULL;
}

TEST(denoiser_shared_by_threads)
{
    static float y[THREADS * EACH * D];
    static share shares[THREADS];
    pthread_t threads[THREADS];
    source s = {.rows = examples, .inputs = D, .count = 500};
    certreg_denoiser *d = made(&s, 0.5, scales[2]);
    certreg_denoiser_apply(d, examples, (size_t)THREADS * EACH, y);
    for (size_t i = 0; i < THREADS; i++) {
        shares[i].d = d, shares[i].x = examples + i * EACH * D;
        ck_assert(!pthread_create(threads + i, NULL, apply_share, shares + i));
    }
    for (size_t i = 0; i < THREADS; i++) {
        ck_assert(!pthread_join(threads[i], NULL));
        ck_assert_mem_eq(shares[i].y, y + i * EACH * D, sizeof shares[i].y);
    }
}

/* ---- what is refused */
enum { FEW = 50 };

static const float negative[D] = {1, -1, 1, 1}, none[D], endless[D] = {1, 1, INFINITY, 1};
static const float tiny[D] = {1e-38f, 1, 1, 1}, small[D] = {1e-10f, 1, 1, 1};

#define FIELD(name) CERTREG_E_INVALID, offsetof(certreg_denoiser_plan, name)
static const spoil bad_plans[] = {
    {"plan.inputs is 0", FIELD(inputs), 'z', .size = 0},
    {"plan.inputs", FIELD(inputs), 'z', .size = SIZE_MAX},
    {"at least 2 examples", FIELD(rows), 'z', .size = 0},
    {"plan.rows is 1", FIELD(rows), 'z', .size = 1},
    {"plan.read is NULL", FIELD(read), 'p', .pointer = NULL},
    {"plan.sigma is 0", FIELD(sigma), 'd', .number = 0},
    {"plan.sigma is -1", FIELD(sigma), 'd', .number = -1},
    {"plan.sigma is nan", FIELD(sigma), 'd', .number = NAN},
    {"plan.sigma is inf", FIELD(sigma), 'd', .number = INFINITY},
    {"plan.sigma*scale[0] is 1e-200", FIELD(sigma), 'd', .number = 1e-200},
    {"plan.sigma*scale[0] is 1e+34", FIELD(sigma), 'd', .number = 1e34},
    {"plan.components is 4097", FIELD(components), 'z', .size = 4097},
    {"plan.scale[1] is -1", FIELD(scale), 'p', .pointer = negative},
    {"plan.scale[2] is inf", FIELD(scale), 'p', .pointer = endless},
    {"nothing gets noise", FIELD(scale), 'p', .pointer = none},
    {"plan.sigma*scale[0] is 1e-38", FIELD(scale), 'p', .pointer = tiny},
    {"feature 0 of the examples deviates", FIELD(scale), 'p', .pointer = small},
    {"plan.reserved", FIELD(reserved), 'i', .number = 1},
    {"plan.struct_size is 8", FIELD(struct_size), 'i', .number = 8},
};

TEST_ROWS(denoiser_create_names_the_wrong_field_of_the_plan, bad_plans)
{
    source s = {.rows = examples, .inputs = D, .count = FEW};
    certreg_error why = {.struct_size = sizeof why};
    certreg_denoiser *d = (certreg_denoiser *)&s;
    certreg_denoiser_plan p = plan_of(&s, 1, NULL);
    apply(&p, bad_plans + _i);
    ck_assert_int_eq(certreg_denoiser_create(&p, &why, &d), CERTREG_E_INVALID);
    check_sentence(&why, bad_plans + _i);
    ck_assert_ptr_null(d);
}

/* Its source fails in a pass, or the last number of its last example is not finite. */
TEST_TIMES(denoiser_create_ends_if_its_source_fails, CERTREG_DENOISER_PASSES + 1)
{
    static float x[FEW * D];
    memcpy(x, examples, sizeof x);
    source s = {.rows = x, .inputs = D, .count = FEW, .fail_at = _i};
    certreg_error why = {.struct_size = sizeof why};
    certreg_denoiser *d;
    const certreg_denoiser_plan p = plan_of(&s, 1, NULL);
    if (_i == 0) x[FEW * D - 1] = NAN;
    KIT_UNMADE(&why, certreg_denoiser_create(&p, &why, &d),
               _i ? CERTREG_E_MODEL_FAILED : CERTREG_E_INVALID,
               _i ? "plan.read returned 7" : "feature 3 of example 49 is nan");
    ck_assert_int_eq(why.code, _i ? 7 : 0);
    ck_assert_ptr_null(d);
}

TEST(denoiser_functions_refuse_null_and_overlapping_arguments)
{
    source s = {.rows = examples, .inputs = D, .count = FEW};
    const certreg_denoiser_plan p = plan_of(&s, 1, NULL);
    const certreg_denoiser *d = made(&s, 1, NULL);
    float both[3 * D] = {0}, y[D];
    ck_assert_int_eq(certreg_denoiser_create(&p, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_import(&s, sizeof s, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, NULL, 1, y), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, examples, 1, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, NULL, 0, NULL), CERTREG_OK);
    ck_assert_int_eq(certreg_denoiser_apply(d, both, 2, both), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, both, 2, both + D), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, both + D, 2, both), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_apply(d, both + D, 1, both), CERTREG_OK);
    ck_assert_int_eq(certreg_denoiser_export(d, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_denoiser_info(d, NULL), CERTREG_E_INVALID);
}

FIXTURE(roll_examples, NULL)
KIT_MAIN("denoisers")
