/* The filter of denoisers: the same bits on every path and at every place; and how many directions
 * are chosen, against matrices written out. */
#include "base/bytes.h"
#include "denoiser/denoiser.h"
#include "support/problems.h"
#include "support/suite.h"

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

static const size_t shapes[][3] = {{1, 8, 1},    {15, 8, 3},   {16, 0, 4},   {17, 16, 5},
                                   {100, 8, 33}, {784, 24, 8}, {1000, 8, 71}};

TEST_ROWS(a_row_gets_the_same_bits_on_every_path_and_at_every_place, shapes)
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

TEST(the_filter_has_the_bits_that_it_always_had)
{
    const cr_filter f = filter_of(777, 16, 1);
    cr_cpu_best()->filter(&f, x, 9, y);
    uint64_t h = CR_HASH_START;
    for (size_t i = 0; i < (size_t)9 * 777; i++) h = cr_hash32(h, cr_bits_of_float(y[i]));
    ck_assert_uint_eq(cr_hash_end(h), UINT64_C(3327585059045505129));
}

/* ---- how many directions */
enum { D = 6, HELD = 9, MASKED = 2 }; /* the first features are masked */

static double axes[D][D], seen[HELD][D], variances[D], mixed[D];
static float moment[D * D], overlap[D * D];

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

static double along(const double *row, int i, int from)
{
    double sum = 0;
    for (int j = from; j < D; j++) sum += axes[i][j] * row[j];
    return sum;
}

static cr_held roll_held(uint64_t seed, int masked)
{
    dice d = dice_of(seed);
    cr_held h = {.count = D, .rows = HELD, .sigma2 = 0.25, .free = D - masked};
    h.variance = variances, h.mixed = mixed, h.moment = moment, h.overlap = overlap;
    roll_axes(&d);
    memset(mixed, 0, sizeof mixed), memset(moment, 0, sizeof moment);
    for (int i = 0; i < D; i++) variances[i] = exp(2 - i) * dice_between(&d, 0.5, 1.5);
    for (int r = 0; r < HELD; r++) {
        for (int j = 0; j < D; j++) seen[r][j] = 0;
        for (int i = 0; i < D; i++) {
            const double p = dice_normal(&d) * exp(1 - 0.7 * i);
            for (int j = 0; j < D; j++) seen[r][j] += p * axes[i][j];
        }
        for (int j = masked; j < D; j++) h.all += seen[r][j] * seen[r][j];
    }
    for (int i = 0; i < D; i++)
        for (int k = 0; k < D; k++) {
            double m = 0;
            for (int r = 0; r < HELD; r++) m += along(seen[r], i, 0) * along(seen[r], k, 0);
            moment[i * D + k] = (float)m;
            overlap[i * D + k] = (float)along(axes[k], i, masked);
        }
    for (int i = 0; i < D; i++)
        for (int r = 0; r < HELD; r++) mixed[i] += along(seen[r], i, 0) * along(seen[r], i, masked);
    return h;
}

/* The error of the filter as a matrix, and what k directions leave of the examples. */
static double error_by_matrix(const cr_held *h, int k, int masked, double rest)
{
    double w[D][D], error = 0;
    const double g = rest / (rest + h->sigma2);
    for (int a = 0; a < D; a++)
        for (int b = 0; b < D; b++) {
            w[a][b] = a == b ? g : 0;
            for (int i = 0; i < k; i++) {
                const double l = cr_denoiser_confirmed(h, (size_t)i);
                w[a][b] += (l / (l + h->sigma2) - g) * axes[i][a] * axes[i][b];
            }
        }
    for (int a = masked; a < D; a++) {
        for (int r = 0; r < HELD; r++) {
            double left = -seen[r][a];
            for (int b = 0; b < D; b++) left += w[a][b] * seen[r][b];
            error += left * left / HELD;
        }
        for (int b = masked; b < D; b++) error += h->sigma2 * w[a][b] * w[a][b];
    }
    return error / (h->sigma2 * h->free);
}

static double rest_by_matrix(int k, int masked)
{
    double left = 0, free = D - masked;
    for (int i = 0; i < k; i++) free -= along(axes[i], i, masked);
    for (int r = 0; r < HELD; r++)
        for (int a = masked; a < D; a++) {
            double rest = seen[r][a];
            for (int i = 0; i < k; i++) rest -= along(seen[r], i, 0) * axes[i][a];
            left += rest * rest;
        }
    return free < 0.5 ? 0 : left / (HELD * free);
}

TEST_TIMES(the_fewest_directions_are_chosen_whose_error_is_near_the_least, 200)
{
    const int masked = _i % 2 ? MASKED : 0, most = _i % 3 ? D : 3;
    const cr_held h = roll_held(900 + (uint64_t)_i, masked);
    const cr_choice got = cr_denoiser_choose(&h, (size_t)most);
    double least = INFINITY, error[D + 1];
    for (int k = 0; k <= most; k++) {
        error[k] = error_by_matrix(&h, k, masked, rest_by_matrix(k, masked));
        least = fmin(least, error[k]);
    }
    const size_t k = got.components;
    ck_assert_uint_le(k, (size_t)most);
    ck_assert_double_eq_tol(got.rest, rest_by_matrix((int)k, masked), 1e-5 * (1 + got.rest));
    ck_assert_double_eq_tol(got.error, error[k], 1e-5 * error[k]);
    ck_assert_double_le(error[k], 1.01001 * least);
    for (size_t fewer = 0; fewer < k; fewer++) ck_assert_double_ge(error[fewer], 1.00999 * least);
}

TEST_MAIN("unit_denoiser")
