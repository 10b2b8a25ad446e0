/* Finding the constants of a denoiser (theory 13.2, 13.3): the directions in which examples vary
 * most, in units of their noise, by subspace iteration over a source that is read again. */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/environment.h"
#include "base/handle.h"
#include "denoiser/denoiser.h"
#include <math.h>
#include <string.h>

enum { CHUNK = 256, SPARE = 8 }; /* examples at a time; directions beyond those wanted */
enum { FIRST_PASSES = 3, LAST_PASSES = 2 };
enum { ONE_IN = 4 }; /* is held back */
/* The standard deviation of the noise that stands for none, in units of the feature's own. */
#define NEXT_TO_NONE 0.1
/* Standard deviation of a feature in units of its scale: sums of squares of less stay floats. */
#define TOO_FAR 1e9

enum part { ALL, FITTED, HELD };

typedef struct fit {
    const certreg_denoiser_plan *plan;
    const cr_blas *blas;
    const fenv_t *callers;
    certreg_error *why;
    size_t inputs, count; /* directions */
    float *center;
    float *whiten;                  /* 1 / unit of each feature; 0: it does not vary */
    float *x, *parts;               /* CHUNK examples; their components */
    float *axes, *next;             /* count rows of inputs */
    float *square, *other, *values; /* count*count, count*count, count */
    double *variance, *mixed;       /* count each */
    double *total, *totals;         /* inputs each: sums, and sums of squares */
} fit;

static void lay_out(fit *f, cr_arena *a)
{
    const size_t n = f->inputs, k = f->count;
    f->center = cr_arena_take(a, n, sizeof *f->center);
    f->whiten = cr_arena_take(a, n, sizeof *f->whiten);
    f->x = cr_arena_take(a, CHUNK * n, sizeof *f->x);
    f->parts = cr_arena_take(a, CHUNK * k, sizeof *f->parts);
    f->axes = cr_arena_take(a, cr_arena_times(k, n), sizeof *f->axes);
    f->next = cr_arena_take(a, cr_arena_times(k, n), sizeof *f->next);
    f->square = cr_arena_take(a, k * k, sizeof *f->square);
    f->other = cr_arena_take(a, k * k, sizeof *f->other);
    f->values = cr_arena_take(a, k, sizeof *f->values);
    f->variance = cr_arena_take(a, k, sizeof *f->variance);
    f->mixed = cr_arena_take(a, k, sizeof *f->mixed);
    f->total = cr_arena_take(a, n, sizeof *f->total);
    f->totals = cr_arena_take(a, n, sizeof *f->totals);
}

/* ---- reading */
static certreg_status read_chunk(fit *f, uint64_t first, size_t count)
{
    fenv_t ours;
    cr_environment_leave(f->callers);
    const int code = f->plan->read(f->plan->user, first, count, f->x);
    cr_environment_enter(&ours);
    if (code) {
        cr_fail(f->why, CERTREG_E_MODEL_FAILED, "plan.read returned %d for examples from %llu on",
                code, (unsigned long long)first);
        f->why->model_code = code;
        return CERTREG_E_MODEL_FAILED;
    }
    for (size_t i = 0; i < count * f->inputs; i++)
        if (!isfinite(f->x[i]))
            return cr_fail(f->why, CERTREG_E_INVALID,
                           "feature %zu of example %llu is %g; examples must be finite",
                           i % f->inputs, (unsigned long long)(first + i / f->inputs),
                           (double)f->x[i]);
    return CERTREG_OK;
}

static int is_in(enum part part, uint64_t row)
{
    return part == ALL || (row % ONE_IN == 1) == (part == HELD);
}

static uint64_t rows_in(const fit *f, enum part part)
{
    const uint64_t held = (f->plan->rows + ONE_IN - 2) / ONE_IN;
    return part == HELD ? held : part == ALL ? f->plan->rows : f->plan->rows - held;
}

/* Centers and whitens a chunk; the examples that are not in this part become 0. */
static void whiten(fit *f, enum part part, uint64_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float *x = f->x + i * f->inputs;
        if (!is_in(part, first + i)) memset(x, 0, f->inputs * sizeof *x);
        else
            for (size_t j = 0; j < f->inputs; j++) x[j] = (x[j] - f->center[j]) * f->whiten[j];
    }
}

/* Reads all examples of a part, and hands them on in chunks. */
static certreg_status each_chunk(fit *f, enum part part, void (*use)(fit *, size_t count))
{
    certreg_status status = CERTREG_OK;
    for (uint64_t first = 0; first < f->plan->rows && !status; first += CHUNK) {
        const uint64_t left = f->plan->rows - first;
        const size_t count = left < CHUNK ? (size_t)left : CHUNK;
        status = read_chunk(f, first, count);
        if (status) break;
        whiten(f, part, first, count);
        use(f, count);
    }
    return status;
}

/* ---- units */
/* Sums of x - center and its square, where center is the first example. */
static void add_moments(fit *f, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < f->inputs; j++) {
            const double d = (double)f->x[i * f->inputs + j];
            f->total[j] += d, f->totals[j] += d * d;
        }
}

static float scale_of(const fit *f, size_t j)
{
    return f->plan->scale ? f->plan->scale[j] : 1.0f;
}

/* Of a feature without noise: a share of its deviation stands for the noise. */
static double unit_of(const fit *f, size_t j, double deviation)
{
    const double scale = (double)scale_of(f, j);
    return scale > 0 ? scale : NEXT_TO_NONE * deviation / f->plan->sigma;
}

static certreg_status find_units(fit *f)
{
    const double n = (double)f->plan->rows;
    certreg_status status = read_chunk(f, 0, 1);
    if (status) return status;
    memcpy(f->center, f->x, f->inputs * sizeof *f->x);
    for (size_t j = 0; j < f->inputs; j++) f->whiten[j] = 1;
    status = each_chunk(f, ALL, add_moments);
    for (size_t j = 0; j < f->inputs && !status; j++) {
        const double mean = f->total[j] / n,
                     deviation = sqrt(fmax(0, f->totals[j] / n - mean * mean));
        const double unit = unit_of(f, j, deviation);
        f->center[j] = (float)((double)f->center[j] + mean);
        f->whiten[j] = unit > 0 ? (float)(1 / unit) : 0;
        if (!isfinite(f->whiten[j]) || deviation > TOO_FAR * unit)
            status = cr_fail(f->why, CERTREG_E_INVALID,
                             "feature %zu of the examples deviates by %g from its mean, too much "
                             "for its noise, whose scale is %g",
                             j, deviation, (double)scale_of(f, j));
    }
    return status;
}

/* ---- directions */
/* next += sum over examples of (components along the axes) x */
static void multiply(fit *f, size_t count)
{
    f->blas->multiply(count, f->count, f->inputs, f->x, f->axes, f->parts);
    f->blas->add_product(f->count, f->inputs, count, f->parts, f->x, f->next);
}

static certreg_status failed(fit *f, const char *what)
{
    return cr_fail(f->why, CERTREG_E_INVALID,
                   "LAPACK found no %s of the examples: they may be too large for their noise",
                   what);
}

/* axes = U' axes, where the eigenvectors of square are in its rows, ascending; variances per
 * example. */
static void turn(fit *f, double examples)
{
    const size_t k = f->count;
    for (size_t i = 0; i < k; i++) {
        f->variance[i] = fmax(0, (double)f->values[k - 1 - i]) / examples;
        for (size_t r = 0; r < k; r++) f->other[r * k + i] = f->square[(k - 1 - i) * k + r];
    }
    memset(f->next, 0, k * f->inputs * sizeof *f->next);
    f->blas->add_product(k, f->inputs, k, f->other, f->axes, f->next);
    float *turned = f->next;
    f->next = f->axes, f->axes = turned;
}

static certreg_status find_axes(fit *f, enum part part, int passes)
{
    const size_t k = f->count, n = f->inputs;
    for (int pass = 0; pass < passes; pass++) {
        if (f->blas->orthonormal(k, n, f->axes, f->values)) return failed(f, "directions");
        memset(f->next, 0, k * n * sizeof *f->next);
        const certreg_status status = each_chunk(f, part, multiply);
        if (status) return status;
        if (pass + 1 == passes) break;
        float *better = f->next;
        f->next = f->axes, f->axes = better;
    }
    f->blas->multiply(k, k, n, f->axes, f->next, f->square);
    if (f->blas->eigenvectors(k, f->square, f->values)) return failed(f, "variances");
    turn(f, (double)rows_in(f, part));
    return CERTREG_OK;
}

/* Signs that look like chance, the same everywhere. */
static void begin_axes(fit *f)
{
    for (size_t i = 0; i < f->count * f->inputs; i++)
        f->axes[i] = cr_hash_end(i + 1) & 1 ? 1.0f : -1.0f;
}

/* ---- those held back */
static void measure(fit *f, size_t count)
{
    multiply(f, count);
    add_moments(f, count);
}

static double over_free(const fit *f, const float *a, const float *b)
{
    double sum = 0;
    for (size_t j = 0; j < f->inputs; j++)
        if (scale_of(f, j) > 0) sum += (double)a[j] * (double)b[j];
    return sum;
}

/* Uses up `next`. */
static certreg_status hold_against(fit *f, cr_held *h)
{
    const size_t k = f->count, n = f->inputs;
    *h = (cr_held){.count = k,
                   .rows = (double)rows_in(f, HELD),
                   .sigma2 = f->plan->sigma * f->plan->sigma,
                   .variance = f->variance,
                   .mixed = f->mixed,
                   .moment = f->square,
                   .overlap = f->other};
    memset(f->next, 0, k * n * sizeof *f->next);
    memset(f->totals, 0, n * sizeof *f->totals);
    const certreg_status status = each_chunk(f, HELD, measure);
    if (status) return status;
    f->blas->multiply(k, k, n, f->axes, f->next, f->square);
    for (size_t i = 0; i < k; i++) f->mixed[i] = over_free(f, f->axes + i * n, f->next + i * n);
    memcpy(f->next, f->axes, k * n * sizeof *f->axes);
    for (size_t j = 0; j < n; j++) {
        const int noisy = scale_of(f, j) > 0;
        if (noisy) h->free++, h->all += f->totals[j];
        for (size_t i = 0; i < k && !noisy; i++) f->next[i * n + j] = 0;
    }
    f->blas->multiply(k, k, n, f->next, f->next, f->other);
    return CERTREG_OK;
}

/* ---- the filter */
/* The share of each direction's variance that those held back confirm stays what it was when all
 * examples give directions and variances. */
static void confirm(const fit *f, const cr_held *h, double *shares)
{
    for (size_t i = 0; i < f->count; i++)
        shares[i] = h->variance[i] > 0 ? cr_denoiser_confirmed(h, i) / h->variance[i] : 0;
}

static void fill(const fit *f, const cr_choice *chosen, certreg_denoiser *d)
{
    const double sigma2 = f->plan->sigma * f->plan->sigma;
    const double keep = chosen->rest / (chosen->rest + sigma2);
    for (size_t j = 0; j < f->inputs; j++) {
        const int noisy = scale_of(f, j) > 0;
        d->center[j] = f->center[j];
        d->keep[j] = noisy ? (float)keep : CR_DENOISER_PASSED;
        for (size_t i = 0; i < chosen->components; i++) {
            const double variance = f->variance[i] * f->mixed[i];
            const double axis = (double)f->axes[i * f->inputs + j];
            d->into[i * d->pitch + j] = (float)(axis * (double)f->whiten[j]);
            if (!noisy) continue;
            d->back[i * d->pitch + j] =
                (float)((variance / (variance + sigma2) - keep) * axis * (double)scale_of(f, j));
        }
    }
}

static certreg_status find(fit *f, certreg_denoiser **out)
{
    cr_held held;
    certreg_status status = find_units(f);
    begin_axes(f);
    if (!status) status = find_axes(f, FITTED, FIRST_PASSES);
    if (!status) status = hold_against(f, &held);
    if (status) return status;
    const size_t wanted = f->plan->components, most = wanted < f->count ? wanted : f->count;
    const cr_choice chosen = cr_denoiser_choose(&held, most);
    confirm(f, &held, f->mixed);
    status = find_axes(f, ALL, LAST_PASSES);
    if (!status) status = cr_denoiser_take(f->inputs, chosen.components, f->why, out);
    if (status) return status;
    fill(f, &chosen, *out);
    (*out)->sigma = f->plan->sigma, (*out)->rows = f->plan->rows, (*out)->error = chosen.error;
    cr_denoiser_seal(*out);
    return CERTREG_OK;
}

certreg_status cr_denoiser_fit(const certreg_denoiser_plan *plan, const cr_blas *blas,
                               const fenv_t *callers, certreg_error *why, certreg_denoiser **out)
{
    fit f = {.plan = plan, .blas = blas, .callers = callers, .why = why, .inputs = plan->inputs};
    const uint64_t room = plan->rows < plan->inputs ? plan->rows : plan->inputs;
    const size_t wanted = plan->components + SPARE;
    f.count = wanted < room ? wanted : (size_t)room;
    cr_arena need = {0};
    void *memory;
    int32_t owned;
    lay_out(&f, &need);
    certreg_status status =
        need.overflow
            ? cr_fail(why, CERTREG_E_NO_MEMORY, "no memory holds plan.inputs * components")
            : cr_handle_take(NULL, 0, need.used, &owned, &memory, why);
    if (status) return status;
    cr_arena carved = {.base = memory};
    lay_out(&f, &carved);
    status = find(&f, out);
    cr_handle_release(memory);
    return status;
}
