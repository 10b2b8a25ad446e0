/* Denoisers: the fit of a subspace to examples, and the public functions. export.c makes them
 * and has their bytes. */
#include "denoiser/denoiser.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/struct_sizes.h"
#include <math.h>
#include <string.h>

/* ======== Finding the constants of a denoiser (theory 13.2, 13.3): the directions in which
 * examples vary most, in units of their noise, by subspace iteration over a source that is read
 * again. */
/* In `base_gain`: the feature is passed on unchanged. */
#define CR_DENOISER_PASS_THROUGH (-1.0f)

/* ---- the number of directions (theory 13.3): the error on examples that were held back, for
 * each number of them, in closed form */
#define MAX_ERROR_RATIO 1.01 /* to the smallest error: for fewer directions */

/* The gain of a filter along a direction with this variance, in units of the noise. */
static double cr_denoiser_gain(double variance)
{
    return variance / (variance + 1);
}

double cr_denoiser_confirmed_variance(const cr_holdout_spectrum *spectrum, size_t i)
{
    return fmin(spectrum->variance[i], spectrum->holdout_variance[i]);
}

/* The first k directions, and one gain for everything outside of them. */
static cr_subspace_choice choice_of(const cr_holdout_spectrum *spectrum, size_t k)
{
    const double remaining = spectrum->dimensions - (double)k;
    double residual = spectrum->residual, error = 0;
    for (size_t i = k; i < spectrum->count; i++) residual += spectrum->holdout_variance[i];
    const double residual_variance = remaining > 0 ? residual / remaining : 0;
    for (size_t i = 0; i < k; i++) {
        const double gain = cr_denoiser_gain(cr_denoiser_confirmed_variance(spectrum, i));
        error += (1 - gain) * (1 - gain) * spectrum->holdout_variance[i] + gain * gain;
    }
    /* the gain fits the variance outside, so that the error equals the gain */
    error += remaining * cr_denoiser_gain(residual_variance);
    return (cr_subspace_choice){k, residual_variance, error / spectrum->dimensions};
}

cr_subspace_choice cr_denoiser_choose(const cr_holdout_spectrum *spectrum, size_t max_components)
{
    double min_error = INFINITY;
    for (size_t k = 0; k <= max_components; k++)
        min_error = fmin(min_error, choice_of(spectrum, k).error);
    size_t k = 0;
    while (choice_of(spectrum, k).error > MAX_ERROR_RATIO * min_error) k++;
    return choice_of(spectrum, k);
}

enum { CHUNK = 256 };             /* examples at a time */
enum { OVERSAMPLING = 8 };        /* directions beyond the requested number */
enum { WORK_PER_DIRECTION = 34 }; /* numbers of LAPACK's work space for each direction */
enum { FIRST_PASSES = 3, LAST_PASSES = 2 };
enum { HOLDOUT_PERIOD = 4 }; /* of four examples one is held back */
/* Standard deviation of a feature in units of its noise: sums of squares of less stay floats. */
#define MAX_DEVIATION 1e9

enum subset { ALL, FITTED, HELD_OUT };

typedef struct fit {
    const certreg_denoiser_plan *plan;
    const cr_blas *blas;
    const fenv_t *caller_environment;
    certreg_error *why;
    size_t inputs, directions, noisy_inputs;
    uint64_t rows_read; /* examples, by add_moments */
    float *center;
    float *whiten;           /* 1 / noise of each feature; 0: it has none */
    float *x, *coefficients; /* CHUNK examples; their components */
    float *axes, *next_axes; /* directions rows of inputs */
    float *projected;        /* directions*directions */
    double *matrix;          /* directions*directions */
    double *eigenvalues;     /* directions: of matrix */
    double *work;            /* WORK_PER_DIRECTION*directions */
    double *variance;        /* directions */
    double *holdout_squares; /* directions: mean squares of components of the examples held back */
    double *mean, *fitted_mean; /* inputs each: of all examples; of the fitted ones */
    double *squares;            /* inputs: sums of squares about the mean */
    double residual; /* sum of squares outside of all directions, of the examples held back */
} fit;

static void lay_out(fit *f, cr_arena *a)
{
    const size_t n = f->inputs, k = f->directions;
    f->center = cr_arena_alloc(a, n, sizeof *f->center);
    f->whiten = cr_arena_alloc(a, n, sizeof *f->whiten);
    f->x = cr_arena_alloc(a, CHUNK * n, sizeof *f->x);
    f->coefficients = cr_arena_alloc(a, CHUNK * k, sizeof *f->coefficients);
    f->axes = cr_arena_alloc(a, cr_arena_product(k, n), sizeof *f->axes);
    f->next_axes = cr_arena_alloc(a, cr_arena_product(k, n), sizeof *f->next_axes);
    f->projected = cr_arena_alloc(a, k * k, sizeof *f->projected);
    f->matrix = cr_arena_alloc(a, k * k, sizeof *f->matrix);
    f->eigenvalues = cr_arena_alloc(a, k, sizeof *f->eigenvalues);
    f->work = cr_arena_alloc(a, WORK_PER_DIRECTION * k, sizeof *f->work);
    f->variance = cr_arena_alloc(a, k, sizeof *f->variance);
    f->holdout_squares = cr_arena_alloc(a, k, sizeof *f->holdout_squares);
    f->mean = cr_arena_alloc(a, n, sizeof *f->mean);
    f->fitted_mean = cr_arena_alloc(a, n, sizeof *f->fitted_mean);
    f->squares = cr_arena_alloc(a, n, sizeof *f->squares);
}

/* ---- reading */
static certreg_status read_chunk(fit *f, uint64_t first, size_t count)
{
    fenv_t library_environment;
    cr_environment_leave(f->caller_environment);
    const int code = f->plan->read(f->plan->user, first, count, f->x);
    cr_environment_enter(&library_environment);
    if (code) {
        cr_error_set(f->why, CERTREG_E_MODEL_FAILED,
                     "plan.read returned %d for examples from %llu on", code,
                     (unsigned long long)first);
        f->why->code = code;
        return CERTREG_E_MODEL_FAILED;
    }
    for (size_t i = 0; i < count * f->inputs; i++) {
        if (isfinite(f->x[i])) continue;
        const unsigned long long row = first + i / f->inputs;
        return cr_error_set(f->why, CERTREG_E_INVALID,
                            "feature %zu of example %llu is %g; examples must be finite",
                            i % f->inputs, row, (double)f->x[i]);
    }
    return CERTREG_OK;
}

static int is_in_subset(enum subset subset, uint64_t row)
{
    return subset == ALL || (row % HOLDOUT_PERIOD == 1) == (subset == HELD_OUT);
}

/* The number of examples held back among the first `rows`. */
static uint64_t held_out_before(uint64_t rows)
{
    return rows / HOLDOUT_PERIOD + (rows % HOLDOUT_PERIOD > 1);
}

static uint64_t subset_rows(const fit *f, enum subset subset)
{
    const uint64_t held_out = held_out_before(f->plan->rows);
    return subset == HELD_OUT ? held_out : subset == ALL ? f->plan->rows : f->plan->rows - held_out;
}

/* Centers and whitens the examples of a chunk that are in this subset, and returns their number. */
static size_t whiten(fit *f, enum subset subset, uint64_t first, size_t count)
{
    size_t selected = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_in_subset(subset, first + i)) continue;
        const float *from = f->x + i * f->inputs;
        float *to = f->x + selected++ * f->inputs;
        for (size_t j = 0; j < f->inputs; j++) to[j] = (from[j] - f->center[j]) * f->whiten[j];
    }
    return selected;
}

/* Reads all examples of a subset, and hands them on in chunks. */
static certreg_status for_each_chunk(fit *f, enum subset subset, void (*visit)(fit *, size_t count))
{
    certreg_status status = CERTREG_OK;
    for (uint64_t first = 0; first < f->plan->rows && !status; first += CHUNK) {
        const uint64_t rows_left = f->plan->rows - first;
        const size_t count = rows_left < CHUNK ? (size_t)rows_left : CHUNK;
        status = read_chunk(f, first, count);
        if (status) break;
        const size_t selected = whiten(f, subset, first, count);
        if (selected) visit(f, selected);
    }
    return status;
}

/* ---- units */
/* Running means: exact for a constant feature, however large it is. */
static void add_moments(fit *f, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t row = f->rows_read++;
        const double weight = 1 / (double)f->rows_read,
                     fitted_weight = is_in_subset(FITTED, row)
                                         ? 1 / (double)(f->rows_read - held_out_before(row))
                                         : 0;
        for (size_t j = 0; j < f->inputs; j++) {
            const double x = (double)f->x[i * f->inputs + j], deviation = x - f->mean[j];
            f->mean[j] += deviation * weight;
            f->squares[j] += deviation * (x - f->mean[j]);
            f->fitted_mean[j] += (x - f->fitted_mean[j]) * fitted_weight;
        }
    }
}

static double noise_of(const fit *f, size_t j)
{
    return f->plan->sigma * (f->plan->scale ? (double)f->plan->scale[j] : 1);
}

static void set_center(fit *f, const double *mean)
{
    for (size_t j = 0; j < f->inputs; j++) f->center[j] = noise_of(f, j) > 0 ? (float)mean[j] : 0;
}

static certreg_status set_units(fit *f)
{
    for (size_t j = 0; j < f->inputs; j++) f->whiten[j] = 1;
    const certreg_status status = for_each_chunk(f, ALL, add_moments);
    for (size_t j = 0; j < f->inputs && !status; j++) {
        const double noise = noise_of(f, j),
                     deviation = sqrt(f->squares[j] / (double)f->plan->rows);
        f->whiten[j] = noise > 0 ? (float)(1 / noise) : 0;
        if (noise > 0 && deviation > MAX_DEVIATION * noise)
            return cr_error_set(
                f->why, CERTREG_E_INVALID,
                "feature %zu of the examples deviates by %g from its mean, which is too "
                "much for its noise, plan.sigma times its scale, of %g: raise the scale",
                j, deviation, noise);
    }
    set_center(f, f->fitted_mean);
    return status;
}

/* ---- directions */
/* next_axes += sum over examples of (components along the axes) x */
static void multiply_covariance(fit *f, size_t count)
{
    f->blas->multiply(count, f->directions, f->inputs, f->x, f->axes, f->coefficients);
    f->blas->add_product(f->directions, f->inputs, count, f->coefficients, f->x, f->next_axes);
}

static certreg_status refuse(const fit *f, const char *what, int failed)
{
    if (failed < 0)
        return cr_error_set(f->why, CERTREG_E_INVALID,
                            "LAPACK misread its arguments (%d): the program has another LAPACK, "
                            "perhaps with 64-bit integers, in place of the module's; load it "
                            "later, or without LD_PRELOAD",
                            failed);
    return cr_error_set(f->why, CERTREG_E_INVALID,
                        "LAPACK found no %s of the examples: they may be too large for their noise",
                        what);
}

static void swap_axes(fit *f)
{
    float *next = f->next_axes;
    f->next_axes = f->axes;
    f->axes = next;
}

/* axes = U' axes; the rows of matrix are its eigenvectors, ascending. Variances are per example. */
static void rotate_axes(fit *f, double examples)
{
    const size_t k = f->directions;
    for (size_t i = 0; i < k; i++) {
        f->variance[i] = fmax(0, f->eigenvalues[k - 1 - i]) / examples;
        for (size_t r = 0; r < k; r++)
            f->projected[r * k + i] = (float)f->matrix[(k - 1 - i) * k + r];
    }
    memset(f->next_axes, 0, k * f->inputs * sizeof *f->next_axes);
    f->blas->add_product(k, f->inputs, k, f->projected, f->axes, f->next_axes);
    swap_axes(f);
}

/* The variances may differ by far more than float has digits, hence double. */
static certreg_status sort_axes(fit *f, enum subset subset)
{
    const size_t k = f->directions;
    f->blas->multiply(k, k, f->inputs, f->axes, f->next_axes, f->projected);
    int is_invalid = 0, failed = 0; /* LAPACK does not check */
    for (size_t i = 0; i < k * k; i++) {
        f->matrix[i] = (double)f->projected[i];
        is_invalid |= !isfinite(f->matrix[i]);
    }
    if (!is_invalid)
        failed =
            f->blas->eigenvectors(k, f->matrix, f->eigenvalues, f->work, WORK_PER_DIRECTION * k);
    if (is_invalid || failed) return refuse(f, "variances", failed);
    rotate_axes(f, (double)subset_rows(f, subset));
    return CERTREG_OK;
}

static certreg_status find_axes(fit *f, enum subset subset, int passes)
{
    const size_t size = f->directions * f->inputs * sizeof *f->next_axes;
    for (int pass = 0; pass < passes; pass++) {
        if (pass) swap_axes(f);
        const int failed = f->blas->orthonormal(f->directions, f->inputs, f->axes, f->coefficients,
                                                CHUNK * f->directions);
        if (failed) return refuse(f, "directions", failed);
        memset(f->next_axes, 0, size);
        const certreg_status status = for_each_chunk(f, subset, multiply_covariance);
        if (status) return status;
    }
    return sort_axes(f, subset);
}

/* Pseudorandom signs, the same on all platforms. */
static void init_axes(fit *f)
{
    for (size_t i = 0; i < f->directions * f->inputs; i++)
        if (f->whiten[i % f->inputs] > 0) f->axes[i] = cr_hash_end(i + 1) & 1 ? 1.0f : -1.0f;
        else f->axes[i] = 0;
}

/* ---- the examples held back */
/* Adds the squares of the components, and of the parts outside of all directions. No squares are
 * subtracted, so that small sums keep their digits beside large ones. */
static void add_holdout_squares(fit *f, size_t count)
{
    const size_t k = f->directions, n = f->inputs;
    f->blas->multiply(k, count, n, f->axes, f->x, f->coefficients);
    for (size_t i = 0; i < k * count; i++) {
        f->holdout_squares[i / count] += (double)f->coefficients[i] * (double)f->coefficients[i];
        f->coefficients[i] = -f->coefficients[i];
    }
    f->blas->add_product(count, n, k, f->coefficients, f->axes, f->x);
    for (size_t i = 0; i < count * n; i++) f->residual += (double)f->x[i] * (double)f->x[i];
}

static certreg_status measure_holdout(fit *f, cr_holdout_spectrum *spectrum)
{
    const double rows = (double)subset_rows(f, HELD_OUT);
    memset(f->holdout_squares, 0, f->directions * sizeof *f->holdout_squares);
    f->residual = 0;
    const certreg_status status = for_each_chunk(f, HELD_OUT, add_holdout_squares);
    for (size_t i = 0; i < f->directions; i++) f->holdout_squares[i] /= rows;
    *spectrum = (cr_holdout_spectrum){.count = f->directions,
                                      .dimensions = (double)f->noisy_inputs,
                                      .residual = f->residual / rows,
                                      .variance = f->variance,
                                      .holdout_variance = f->holdout_squares};
    return status;
}

/* ---- the filter */
/* The fraction of each direction's variance that the examples held back confirm. It stays when all
 * examples give directions and variances. */
static void confirmed_fractions(const cr_holdout_spectrum *spectrum, double *fractions)
{
    for (size_t i = 0; i < spectrum->count; i++)
        fractions[i] = spectrum->variance[i] > 0
                           ? cr_denoiser_confirmed_variance(spectrum, i) / spectrum->variance[i]
                           : 0;
}

static void write_constants(const fit *f, const cr_subspace_choice *chosen, const double *fractions,
                            certreg_denoiser *d)
{
    const double base_gain = cr_denoiser_gain(chosen->residual_variance);
    for (size_t j = 0; j < f->inputs; j++) {
        const double noise = noise_of(f, j);
        d->center[j] = f->center[j];
        d->base_gain[j] = noise > 0 ? (float)base_gain : CR_DENOISER_PASS_THROUGH;
        for (size_t i = 0; i < chosen->components; i++) {
            const double extra_gain = cr_denoiser_gain(f->variance[i] * fractions[i]) - base_gain,
                         axis = (double)f->axes[i * f->inputs + j];
            d->analysis[i * d->pitch + j] = (float)(axis * (double)f->whiten[j]);
            d->synthesis[i * d->pitch + j] = (float)(extra_gain * axis * noise);
        }
    }
}

static certreg_status fit_filter(fit *f, certreg_denoiser **out)
{
    cr_holdout_spectrum spectrum;
    certreg_status status = set_units(f);
    init_axes(f);
    if (!status) status = find_axes(f, FITTED, FIRST_PASSES);
    if (!status) status = measure_holdout(f, &spectrum);
    if (status) return status;
    const size_t requested = f->plan->components,
                 max_components = requested < f->directions ? requested : f->directions;
    const cr_subspace_choice chosen = cr_denoiser_choose(&spectrum, max_components);
    confirmed_fractions(&spectrum, f->holdout_squares);
    set_center(f, f->mean);
    status = find_axes(f, ALL, LAST_PASSES);
    if (!status) status = cr_denoiser_alloc(f->inputs, chosen.components, f->why, out);
    if (status) return status;
    write_constants(f, &chosen, f->holdout_squares, *out);
    (*out)->sigma = f->plan->sigma;
    (*out)->rows = f->plan->rows;
    (*out)->error = chosen.error;
    cr_denoiser_set_digest(*out);
    return CERTREG_OK;
}

/* Makes a denoiser from a checked plan. plan->read is called in `caller_environment`. */
static certreg_status cr_denoiser_fit(const certreg_denoiser_plan *plan, const cr_blas *blas,
                                      const fenv_t *caller_environment, certreg_error *why,
                                      certreg_denoiser **out)
{
    fit f = {.plan = plan,
             .blas = blas,
             .caller_environment = caller_environment,
             .why = why,
             .inputs = plan->inputs};
    for (size_t j = 0; j < f.inputs; j++) f.noisy_inputs += noise_of(&f, j) > 0;
    const uint64_t max_directions = plan->rows < f.noisy_inputs ? plan->rows : f.noisy_inputs;
    const size_t requested = plan->components + OVERSAMPLING;
    f.directions = requested < max_directions ? requested : (size_t)max_directions;
    cr_arena required = {0};
    void *memory = NULL;
    int32_t owned;
    lay_out(&f, &required);
    certreg_status status =
        required.overflow
            ? cr_error_set(why, CERTREG_E_NO_MEMORY, "inputs * components do not fit into memory")
            : cr_handle_alloc(NULL, 0, required.used, &owned, &memory, why);
    if (!memory) return status;
    cr_arena placed = {.base = memory};
    lay_out(&f, &placed);
    status = fit_filter(&f, out);
    cr_handle_release(memory);
    return status;
}

/* ======== The handle of a denoiser: create with its checks, destroy, apply and info. */
enum { DEFAULT_COMPONENTS = 256 }; /* default of plan.components */

/* ---- create */
static certreg_status check_noise(const certreg_denoiser_plan *p, size_t j, certreg_error *why)
{
    const double scale = p->scale ? (double)p->scale[j] : 1, noise = p->sigma * scale;
    if (!(scale >= 0) || !isfinite(scale))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.scale[%zu] is %g; it must be finite and not negative", j, scale);
    if (scale == 0 ||
        (noise >= (double)CR_MIN_NOISE_DEVIATION && noise < (double)CR_MAX_NOISE_DEVIATION))
        return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "plan.sigma*scale[%zu] is %g; float32 carries noise from %g to %g", j,
                        noise, (double)CR_MIN_NOISE_DEVIATION, (double)CR_MAX_NOISE_DEVIATION);
}

static certreg_status check_scale(const certreg_denoiser_plan *p, certreg_error *why)
{
    int noisy = 0;
    for (size_t j = 0; j < p->inputs; j++) {
        const certreg_status status = check_noise(p, j, why);
        if (status) return status;
        noisy |= !p->scale || p->scale[j] > 0;
    }
    if (noisy) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "plan.scale is 0 for all features: nothing gets noise");
}

static certreg_status check(certreg_denoiser_plan *p, certreg_error *why)
{
    if (!p->inputs || p->inputs > CR_DENOISER_MAX_INPUTS)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.inputs is %zu; it must be 1 to 2^27",
                            p->inputs);
    if (p->rows < 2)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.rows is %llu; a denoiser needs at least 2 examples",
                            (unsigned long long)p->rows);
    if (!p->read) return cr_error_set(why, CERTREG_E_INVALID, "plan.read is NULL");
    if (!(p->sigma > 0) || !isfinite(p->sigma))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "plan.sigma is %g; it must be positive and finite", p->sigma);
    if (p->reserved)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.reserved is %d; it must be 0",
                            (int)p->reserved);
    if (p->components > CR_DENOISER_MAX_COMPONENTS)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.components is %zu; it must be at most %d",
                            p->components, CR_DENOISER_MAX_COMPONENTS);
    if (!p->components) p->components = DEFAULT_COMPONENTS;
    return check_scale(p, why);
}

static certreg_status create(const certreg_denoiser_plan *caller_plan,
                             const fenv_t *caller_environment, certreg_error *why,
                             certreg_denoiser **out)
{
    certreg_denoiser_plan plan;
    const cr_blas *blas = NULL;
    certreg_status status =
        cr_struct_read(&plan, sizeof plan, CR_OLDEST_DENOISER_PLAN, caller_plan, "plan", why);
    if (!status) status = check(&plan, why);
    if (!status) status = cr_blas_open(why, &blas);
    return status ? status : cr_denoiser_fit(&plan, blas, caller_environment, why, out);
}

certreg_status certreg_denoiser_create(const certreg_denoiser_plan *plan, certreg_error *why,
                                       certreg_denoiser **out)
{
    certreg_error error;
    fenv_t caller_environment;
    cr_environment_enter(&caller_environment);
    cr_error_clear(&error);
    if (out) *out = NULL;
    const certreg_status status = out ? create(plan, &caller_environment, &error, out)
                                      : cr_error_set(&error, CERTREG_E_INVALID, "out is NULL");
    cr_environment_leave(&caller_environment);
    cr_error_copy_out(why, &error);
    return status;
}

void certreg_denoiser_destroy(certreg_denoiser *d)
{
    if (d && cr_handle_is_own(d)) cr_handle_release(d);
}

/* ---- use */
static int overlap(const float *x, const float *y, size_t count)
{
    const uintptr_t a = (uintptr_t)x, b = (uintptr_t)y;
    return (a < b ? b - a : a - b) < count * sizeof *x;
}

certreg_status certreg_denoiser_apply(const certreg_denoiser *d, const float *x, size_t rows,
                                      float *y)
{
    if (!d || (rows && (!x || !y))) return CERTREG_E_INVALID;
    if (!cr_handle_is_own(d)) return CERTREG_E_VERSION;
    if (overlap(x, y, rows * d->inputs)) return CERTREG_E_INVALID;
    const cr_filter filter = {.inputs = d->inputs,
                              .pitch = d->pitch,
                              .components = cr_denoiser_rows(d),
                              .center = d->center,
                              .base_gain = d->base_gain,
                              .analysis = d->analysis,
                              .synthesis = d->synthesis};
    fenv_t caller_environment;
    cr_environment_enter(&caller_environment);
    cr_cpu_best()->filter(&filter, x, rows, y);
    cr_environment_leave(&caller_environment);
    for (size_t j = 0; j < d->inputs; j++)
        for (size_t i = j; d->base_gain[j] < 0 && i < rows * d->inputs; i += d->inputs)
            memcpy(y + i, x + i, sizeof *y);
    return CERTREG_OK;
}

certreg_status certreg_denoiser_info(const certreg_denoiser *d, certreg_denoiser_facts *out)
{
    static const certreg_denoiser no_denoiser = {0};
    certreg_error error;
    certreg_status status = cr_struct_check(out, CR_OLDEST_DENOISER_FACTS, "facts", &error);
    if (!status && !d) status = CERTREG_E_INVALID;
    if (!status && !cr_handle_is_own(d)) status = CERTREG_E_VERSION;
    if (status) d = &no_denoiser;
    const certreg_denoiser_facts facts = {.struct_size = sizeof facts,
                                          .inputs = d->inputs,
                                          .components = d->components,
                                          .sigma = d->sigma,
                                          .rows = d->rows,
                                          .digest = d->digest,
                                          .error = d->error};
    cr_struct_write_empty(out, CR_OLDEST_DENOISER_FACTS, &facts, sizeof facts);
    return status;
}
