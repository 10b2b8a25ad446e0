/* The filter of denoisers: the same bits on every path and at every place; and how many directions
 * are chosen, against matrices written out. In a program without libcertreg_blas.a: there denoisers
 * from examples are refused with the remedy, and everything else works. */
#include "base/bytes.h"
#include "denoiser/denoiser.h"
#include "support/random_problems.h"
#include "support/suite.h"
#include <certreg/denoiser.h>
#include <certreg/sampling.h>

/* ---- the filter */
enum { MOST_INPUTS = 1000, MOST_PITCH = 1008, MOST_COMPONENTS = 24, MOST_ROWS = 71 };

static float center[MOST_PITCH], keep[MOST_PITCH];
static float into[MOST_COMPONENTS * MOST_PITCH], back[MOST_COMPONENTS * MOST_PITCH];
static float x[MOST_ROWS * MOST_INPUTS], y[MOST_ROWS * MOST_INPUTS], same[MOST_ROWS * MOST_INPUTS];

/* Numbers of 16 bits, which are the same on every machine. */
static void roll(dice *d, float *to, size_t rows, size_t pitch, size_t inputs)
{
    for (size_t i = 0; i < rows * pitch; i++) to[i] = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < inputs; j++)
            to[i * pitch + j] = (float)floor(dice_between(d, -0x1p15, 0x1p15)) * 0x1p-15f;
}

static cr_filter filter_of(size_t inputs, size_t components, uint64_t seed)
{
    const size_t pitch = (inputs + CR_FILTER_SUMS - 1) / CR_FILTER_SUMS * CR_FILTER_SUMS;
    dice d = dice_of(seed);
    roll(&d, center, 1, pitch, inputs), roll(&d, keep, 1, pitch, inputs);
    roll(&d, into, components, pitch, inputs), roll(&d, back, components, pitch, inputs);
    roll(&d, x, MOST_ROWS, inputs, inputs);
    return (cr_filter){inputs, pitch, components, center, keep, into, back};
}

static double written_out(const cr_filter *f, const float *row, size_t j)
{
    double sum = (double)center[j] - (double)keep[j] * ((double)center[j] - (double)row[j]);
    for (size_t c = 0; c < f->components; c++) {
        double t = 0;
        for (size_t i = 0; i < f->inputs; i++)
            t += (double)into[c * f->pitch + i] * ((double)row[i] - (double)center[i]);
        sum += t * (double)back[c * f->pitch + j];
    }
    return sum;
}

/* inputs, components and rows */
static const size_t shapes[][3] = {{1, 8, 1},    {15, 8, 3},   {16, 0, 4},   {17, 16, 5},
                                   {100, 8, 33}, {784, 24, 8}, {1000, 8, 71}};

TEST_ROWS(filter_gives_a_row_the_same_bits_on_every_path_and_place, shapes)
{
    const size_t inputs = shapes[_i][0], rows = shapes[_i][2];
    const cr_filter f = filter_of(inputs, shapes[_i][1], 7000 + (uint64_t)_i);
    cr_cpu_portable_kernels()->filter(&f, x, rows, y);
    for (int path = CR_CPU_PORTABLE; path <= CR_CPU_AVX512; path++) {
        if (!cr_cpu_path(path)) continue;
        same[rows * inputs - 1] = NAN;
        cr_cpu_path(path)->filter(&f, x, rows, same);
        ck_assert_mem_eq(same, y, rows * inputs * sizeof *y);
        for (size_t i = 0; i < rows; i++) {
            cr_cpu_path(path)->filter(&f, x + i * inputs, 1, same);
            ck_assert_mem_eq(same, y + i * inputs, inputs * sizeof *y);
        }
    }
    for (size_t i = 0; i < rows; i += 7)
        for (size_t j = 0; j < inputs; j += 13)
            ck_assert_double_eq_tol((double)y[i * inputs + j], written_out(&f, x + i * inputs, j),
                                    1e-5 * (1 + (double)inputs));
}

TEST(filter_has_its_pinned_bits)
{
    const cr_filter f = filter_of(777, 16, 1);
    cr_cpu_best()->filter(&f, x, 9, y);
    uint64_t h = CR_HASH_START;
    for (size_t i = 0; i < (size_t)9 * 777; i++) h = cr_hash32(h, cr_bits_of_float(y[i]));
    ck_assert_uint_eq(cr_hash_end(h), UINT64_C(3327585059045505129));
}

/* ---- how many directions */
enum { D = 6, KNOWN = 5, HELD = 9 }; /* directions that are known, of D dimensions */

static double axes[D][D], examples[HELD][D], variances[KNOWN], seen[KNOWN];

static double dice_normal(dice *d)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += dice_between(d, 0, 1);
    return sum;
}

/* By Gram and Schmidt. */
static void roll_axes(dice *d)
{
    for (int i = 0; i < D; i++) {
        double norm = 0;
        for (int j = 0; j < D; j++) axes[i][j] = dice_normal(d);
        for (int k = 0; k < i; k++) {
            double along = 0;
            for (int j = 0; j < D; j++) along += axes[i][j] * axes[k][j];
            for (int j = 0; j < D; j++) axes[i][j] -= along * axes[k][j];
        }
        for (int j = 0; j < D; j++) norm += axes[i][j] * axes[i][j];
        for (int j = 0; j < D; j++) axes[i][j] /= sqrt(norm);
    }
}

static cr_holdout_spectrum roll_held(uint64_t seed)
{
    dice d = dice_of(seed);
    cr_holdout_spectrum h = {
        .count = KNOWN, .dimensions = D, .variance = variances, .holdout_variance = seen};
    roll_axes(&d);
    memset(seen, 0, sizeof seen), memset(examples, 0, sizeof examples);
    for (int i = 0; i < KNOWN; i++) variances[i] = exp(3 - i) * dice_between(&d, 0.5, 1.5);
    for (int r = 0; r < HELD; r++)
        for (int i = 0; i < D; i++) {
            const double p = dice_normal(&d) * exp(1.5 - 0.7 * i);
            for (int j = 0; j < D; j++) examples[r][j] += p * axes[i][j];
            if (i < KNOWN) seen[i] += p * p / HELD;
            else h.residual += p * p / HELD;
        }
    return h;
}

static double rest_by_matrix(int k)
{
    double left = 0;
    for (int r = 0; r < HELD; r++)
        for (int i = k; i < D; i++) {
            double p = 0;
            for (int j = 0; j < D; j++) p += axes[i][j] * examples[r][j];
            left += p * p / HELD;
        }
    return left / (D - k);
}

/* The error of the filter as a matrix. */
static double error_by_matrix(const cr_holdout_spectrum *h, int k)
{
    double w[D][D], error = 0;
    const double rest = rest_by_matrix(k), g = rest / (rest + 1);
    for (int a = 0; a < D; a++)
        for (int b = 0; b < D; b++) {
            w[a][b] = a == b ? g : 0;
            for (int i = 0; i < k; i++) {
                const double l = cr_denoiser_confirmed_variance(h, (size_t)i);
                w[a][b] += (l / (l + 1) - g) * axes[i][a] * axes[i][b];
            }
        }
    for (int a = 0; a < D; a++) {
        for (int r = 0; r < HELD; r++) {
            double left = -examples[r][a];
            for (int b = 0; b < D; b++) left += w[a][b] * examples[r][b];
            error += left * left / HELD;
        }
        for (int b = 0; b < D; b++) error += w[a][b] * w[a][b];
    }
    return error / D;
}

TEST_TIMES(denoiser_choose_takes_the_fewest_near_the_least_error, 200)
{
    const int most = _i % 3 ? KNOWN : 3;
    const cr_holdout_spectrum h = roll_held(900 + (uint64_t)_i);
    const cr_subspace_choice got = cr_denoiser_choose(&h, (size_t)most);
    double least = INFINITY, error[KNOWN + 1];
    for (int k = 0; k <= most; k++) least = fmin(least, error[k] = error_by_matrix(&h, k));
    const size_t k = got.components;
    ck_assert_uint_le(k, (size_t)most);
    ck_assert_double_eq_tol(got.residual_variance, rest_by_matrix((int)k),
                            1e-12 * (1 + got.residual_variance));
    ck_assert_double_eq_tol(got.error, error[k], 1e-12 * error[k]);
    ck_assert_double_le(error[k], 1.01001 * least);
    for (size_t fewer = 0; fewer < k; fewer++) ck_assert_double_ge(error[fewer], 1.00999 * least);
}

TEST(denoiser_choose_when_all_dimensions_have_directions)
{
    static const double four = 4, one = 1;
    const cr_holdout_spectrum h = {
        .count = 1, .dimensions = 1, .residual = 1e-9, .variance = &four, .holdout_variance = &one};
    const cr_subspace_choice got = cr_denoiser_choose(&h, 1);
    ck_assert(got.components <= 1 && got.residual_variance <= 1 + 1e-9);
    ck_assert_double_eq_tol(got.error, 0.5, 1e-9); /* (1 - 1/2)^2 + (1/2)^2 */
}

/* ---- without BLAS */
static int read_nothing(void *user, uint64_t first, size_t count, float *rows)
{
    (void)user, (void)first, (void)count, (void)rows;
    return 1;
}

TEST(blas_that_is_missing_is_named_by_denoiser_create)
{
    const certreg_denoiser_plan p = {
        .struct_size = sizeof p, .inputs = 2, .rows = 9, .read = read_nothing, .sigma = 1};
    certreg_error why = {.struct_size = sizeof why};
    certreg_denoiser *d = NULL;
    ck_assert_int_eq(certreg_denoiser_create(&p, &why, &d), CERTREG_E_NO_BACKEND);
    ck_assert_ptr_null(d);
    ck_assert_ptr_nonnull(strstr(why.text, "denoisers needs certreg-0/libcertreg_blas.so"));
}

TEST(blas_that_is_missing_does_not_hinder_estimators)
{
    const certreg_model model = {.struct_size = sizeof model, .inputs = 5, .outputs = 1};
    const certreg_plan plan = {
        .struct_size = sizeof plan, .max_samples = 100, .constraints = CERTREG_CONSTRAINTS_ECGM};
    certreg_estimator *e = NULL;
    ck_assert_int_eq(certreg_estimator_create(NULL, &model, &plan, NULL, &e), CERTREG_OK);
    certreg_estimator_destroy(e);
}

TEST_MAIN("denoiser, and a program without BLAS")
