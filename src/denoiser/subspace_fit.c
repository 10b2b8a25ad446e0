/* Finding the constants of a denoiser (theory 13.2, 13.3): the directions in which examples vary
 * most, in units of their noise, by subspace iteration over a source that is read again. */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/fp_environment.h"
#include "base/handle_memory.h"
#include "denoiser/denoiser.h"
#include <math.h>
#include <string.h>

/* ---- how many directions it keeps (theory 13.3): the error on examples that were held back, for
 * each number of them, in closed form */
#define ENOUGH 1.01 /* of the least error: what fewer directions may cost */

double cr_denoiser_gain(double variance)
{
    return variance / (variance + 1);
}

double cr_denoiser_confirmed(const cr_holdout_spectrum *h, size_t i)
{
    return fmin(h->variance[i], h->seen[i]);
}

/* The first k directions, and one gain for everything outside of them. */
static cr_choice choice_of(const cr_holdout_spectrum *h, size_t k)
{
    const double dimensions = h->free - (double)k;
    double left = h->left, error = 0;
    for (size_t i = k; i < h->count; i++) left += h->seen[i];
    const double rest = dimensions > 0 ? left / dimensions : 0;
    for (size_t i = 0; i < k; i++) {
        const double gain = cr_denoiser_gain(cr_denoiser_confirmed(h, i));
        error += (1 - gain) * (1 - gain) * h->seen[i] + gain * gain;
    }
    /* the gain fits the variance outside, so that the error equals the gain */
    error += dimensions * cr_denoiser_gain(rest);
    return (cr_choice){k, rest, error / h->free};
}

cr_choice cr_denoiser_choose(const cr_holdout_spectrum *h, size_t most)
{
    double least = INFINITY;
    for (size_t k = 0; k <= most; k++) least = fmin(least, choice_of(h, k).error);
    size_t k = 0;
    while (choice_of(h, k).error > ENOUGH * least) k++;
    return choice_of(h, k);
}

enum { CHUNK = 256, SPARE = 8 }; /* examples at a time; directions beyond the requested number */
enum { WORK = 34 };              /* numbers for each direction that LAPACK works with */
enum { FIRST_PASSES = 3, LAST_PASSES = 2 };
enum { ONE_IN = 4 }; /* one example of four is held back */
/* Standard deviation of a feature in units of its noise: sums of squares of less stay floats. */
#define TOO_FAR 1e9

enum part { ALL, FITTED, HELD };

typedef struct fit {
    const certreg_denoiser_plan *plan;
    const cr_blas *blas;
    const fenv_t *callers;
    certreg_error *why;
    size_t inputs, count, free; /* directions; features with noise */
    uint64_t met;               /* examples, by add_moments */
    float *center;
    float *whiten;       /* 1 / noise of each feature; 0: it has none */
    float *x, *parts;    /* CHUNK examples; their components */
    float *axes, *next;  /* count rows of inputs */
    float *product;      /* count*count */
    double *square;      /* count*count */
    double *values;      /* count: of square */
    double *work;        /* WORK*count */
    double *variance;    /* count */
    double *seen;        /* count: mean squares of components of the examples held back */
    double *mean, *only; /* inputs each: of all examples; of the fitted ones */
    double *squares;     /* inputs: sums of squares about the mean */
    double left;         /* sum of squares outside of all directions, of the examples held back */
} fit;

static void lay_out(fit *f, cr_arena *a)
{
    const size_t n = f->inputs, k = f->count;
    f->center = cr_arena_alloc(a, n, sizeof *f->center);
    f->whiten = cr_arena_alloc(a, n, sizeof *f->whiten);
    f->x = cr_arena_alloc(a, CHUNK * n, sizeof *f->x);
    f->parts = cr_arena_alloc(a, CHUNK * k, sizeof *f->parts);
    f->axes = cr_arena_alloc(a, cr_arena_product(k, n), sizeof *f->axes);
    f->next = cr_arena_alloc(a, cr_arena_product(k, n), sizeof *f->next);
    f->product = cr_arena_alloc(a, k * k, sizeof *f->product);
    f->square = cr_arena_alloc(a, k * k, sizeof *f->square);
    f->values = cr_arena_alloc(a, k, sizeof *f->values);
    f->work = cr_arena_alloc(a, WORK * k, sizeof *f->work);
    f->variance = cr_arena_alloc(a, k, sizeof *f->variance);
    f->seen = cr_arena_alloc(a, k, sizeof *f->seen);
    f->mean = cr_arena_alloc(a, n, sizeof *f->mean);
    f->only = cr_arena_alloc(a, n, sizeof *f->only);
    f->squares = cr_arena_alloc(a, n, sizeof *f->squares);
}

/* ---- reading */
static certreg_status read_chunk(fit *f, uint64_t first, size_t count)
{
    fenv_t ours;
    cr_environment_leave(f->callers);
    const int code = f->plan->read(f->plan->user, first, count, f->x);
    cr_environment_enter(&ours);
    if (code) {
        cr_error_set(f->why, CERTREG_E_MODEL_FAILED,
                     "plan.read returned %d for examples from %llu on", code,
                     (unsigned long long)first);
        f->why->model_code = code;
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

static int is_in(enum part part, uint64_t row)
{
    return part == ALL || (row % ONE_IN == 1) == (part == HELD);
}

/* The number of examples held back among the first `rows`. */
static uint64_t held_before(uint64_t rows)
{
    return rows / ONE_IN + (rows % ONE_IN > 1);
}

static uint64_t rows_in(const fit *f, enum part part)
{
    const uint64_t held = held_before(f->plan->rows);
    return part == HELD ? held : part == ALL ? f->plan->rows : f->plan->rows - held;
}

/* Centers and whitens the examples of a chunk that are in this part, and returns their number. */
static size_t whiten(fit *f, enum part part, uint64_t first, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_in(part, first + i)) continue;
        const float *from = f->x + i * f->inputs;
        float *to = f->x + kept++ * f->inputs;
        for (size_t j = 0; j < f->inputs; j++) to[j] = (from[j] - f->center[j]) * f->whiten[j];
    }
    return kept;
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
        const size_t kept = whiten(f, part, first, count);
        if (kept) use(f, kept);
    }
    return status;
}

/* ---- units */
/* Running means: exact for a constant feature, however large it is. */
static void add_moments(fit *f, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t row = f->met++;
        const double share = 1 / (double)f->met,
                     fitted = is_in(FITTED, row) ? 1 / (double)(f->met - held_before(row)) : 0;
        for (size_t j = 0; j < f->inputs; j++) {
            const double x = (double)f->x[i * f->inputs + j], off = x - f->mean[j];
            f->mean[j] += off * share;
            f->squares[j] += off * (x - f->mean[j]);
            f->only[j] += (x - f->only[j]) * fitted;
        }
    }
}

static double noise_of(const fit *f, size_t j)
{
    return f->plan->sigma * (f->plan->scale ? (double)f->plan->scale[j] : 1);
}

static void center_on(fit *f, const double *mean)
{
    for (size_t j = 0; j < f->inputs; j++) f->center[j] = noise_of(f, j) > 0 ? (float)mean[j] : 0;
}

static certreg_status find_units(fit *f)
{
    for (size_t j = 0; j < f->inputs; j++) f->whiten[j] = 1;
    const certreg_status status = each_chunk(f, ALL, add_moments);
    for (size_t j = 0; j < f->inputs && !status; j++) {
        const double noise = noise_of(f, j),
                     deviation = sqrt(f->squares[j] / (double)f->plan->rows);
        f->whiten[j] = noise > 0 ? (float)(1 / noise) : 0;
        if (noise > 0 && deviation > TOO_FAR * noise)
            return cr_error_set(
                f->why, CERTREG_E_INVALID,
                "feature %zu of the examples deviates by %g from its mean, which is too "
                "much for its noise, plan.sigma times its scale, of %g: raise the scale",
                j, deviation, noise);
    }
    center_on(f, f->only);
    return status;
}

/* ---- directions */
/* next += sum over examples of (components along the axes) x */
static void multiply(fit *f, size_t count)
{
    f->blas->multiply(count, f->count, f->inputs, f->x, f->axes, f->parts);
    f->blas->add_product(f->count, f->inputs, count, f->parts, f->x, f->next);
}

static certreg_status failed(const fit *f, const char *what)
{
    return cr_error_set(f->why, CERTREG_E_INVALID,
                        "LAPACK found no %s of the examples: they may be too large for their noise",
                        what);
}

static void swap_axes(fit *f)
{
    float *next = f->next;
    f->next = f->axes;
    f->axes = next;
}

/* axes = U' axes; the rows of square are its eigenvectors, ascending. Variances are per example. */
static void turn(fit *f, double examples)
{
    const size_t k = f->count;
    for (size_t i = 0; i < k; i++) {
        f->variance[i] = fmax(0, f->values[k - 1 - i]) / examples;
        for (size_t r = 0; r < k; r++)
            f->product[r * k + i] = (float)f->square[(k - 1 - i) * k + r];
    }
    memset(f->next, 0, k * f->inputs * sizeof *f->next);
    f->blas->add_product(k, f->inputs, k, f->product, f->axes, f->next);
    swap_axes(f);
}

/* The variances may differ by far more than float has digits, hence double. */
static certreg_status sort_axes(fit *f, enum part part)
{
    const size_t k = f->count;
    f->blas->multiply(k, k, f->inputs, f->axes, f->next, f->product);
    int bad = 0; /* LAPACK does not check */
    for (size_t i = 0; i < k * k; i++) {
        f->square[i] = (double)f->product[i];
        bad |= !isfinite(f->square[i]);
    }
    if (bad || f->blas->eigenvectors(k, f->square, f->values, f->work, WORK * k))
        return failed(f, "variances");
    turn(f, (double)rows_in(f, part));
    return CERTREG_OK;
}

static certreg_status find_axes(fit *f, enum part part, int passes)
{
    const size_t size = f->count * f->inputs * sizeof *f->next;
    for (int pass = 0; pass < passes; pass++) {
        if (pass) swap_axes(f);
        if (f->blas->orthonormal(f->count, f->inputs, f->axes, f->parts, CHUNK * f->count))
            return failed(f, "directions");
        memset(f->next, 0, size);
        const certreg_status status = each_chunk(f, part, multiply);
        if (status) return status;
    }
    return sort_axes(f, part);
}

/* Pseudorandom signs, the same on all platforms. */
static void begin_axes(fit *f)
{
    for (size_t i = 0; i < f->count * f->inputs; i++)
        if (f->whiten[i % f->inputs] > 0) f->axes[i] = cr_hash_end(i + 1) & 1 ? 1.0f : -1.0f;
        else f->axes[i] = 0;
}

/* ---- the examples held back */
/* Squares of their components, and of their parts outside of all directions: sums of positive
 * numbers, in which small ones survive beside large ones. */
static void measure(fit *f, size_t count)
{
    const size_t k = f->count, n = f->inputs;
    f->blas->multiply(k, count, n, f->axes, f->x, f->parts);
    for (size_t i = 0; i < k * count; i++) {
        f->seen[i / count] += (double)f->parts[i] * (double)f->parts[i];
        f->parts[i] = -f->parts[i];
    }
    f->blas->add_product(count, n, k, f->parts, f->axes, f->x);
    for (size_t i = 0; i < count * n; i++) f->left += (double)f->x[i] * (double)f->x[i];
}

static certreg_status hold_against(fit *f, cr_holdout_spectrum *h)
{
    const double rows = (double)rows_in(f, HELD);
    memset(f->seen, 0, f->count * sizeof *f->seen);
    f->left = 0;
    const certreg_status status = each_chunk(f, HELD, measure);
    for (size_t i = 0; i < f->count; i++) f->seen[i] /= rows;
    *h = (cr_holdout_spectrum){.count = f->count,
                               .free = (double)f->free,
                               .left = f->left / rows,
                               .variance = f->variance,
                               .seen = f->seen};
    return status;
}

/* ---- the filter */
/* The share of each direction's variance that the examples held back confirm. It stays when all
 * examples give directions and variances. */
static void find_shares(const cr_holdout_spectrum *h, double *shares)
{
    for (size_t i = 0; i < h->count; i++)
        shares[i] = h->variance[i] > 0 ? cr_denoiser_confirmed(h, i) / h->variance[i] : 0;
}

static void fill(const fit *f, const cr_choice *chosen, const double *shares, certreg_denoiser *d)
{
    const double keep = cr_denoiser_gain(chosen->rest);
    for (size_t j = 0; j < f->inputs; j++) {
        const double noise = noise_of(f, j);
        d->center[j] = f->center[j];
        d->keep[j] = noise > 0 ? (float)keep : CR_DENOISER_PASSED;
        for (size_t i = 0; i < chosen->components; i++) {
            const double extra = cr_denoiser_gain(f->variance[i] * shares[i]) - keep,
                         axis = (double)f->axes[i * f->inputs + j];
            d->into[i * d->pitch + j] = (float)(axis * (double)f->whiten[j]);
            d->back[i * d->pitch + j] = (float)(extra * axis * noise);
        }
    }
}

static certreg_status find(fit *f, certreg_denoiser **out)
{
    cr_holdout_spectrum held;
    certreg_status status = find_units(f);
    begin_axes(f);
    if (!status) status = find_axes(f, FITTED, FIRST_PASSES);
    if (!status) status = hold_against(f, &held);
    if (status) return status;
    const size_t wanted = f->plan->components, most = wanted < f->count ? wanted : f->count;
    const cr_choice chosen = cr_denoiser_choose(&held, most);
    find_shares(&held, f->seen);
    center_on(f, f->mean);
    status = find_axes(f, ALL, LAST_PASSES);
    if (!status) status = cr_denoiser_alloc(f->inputs, chosen.components, f->why, out);
    if (status) return status;
    fill(f, &chosen, f->seen, *out);
    (*out)->sigma = f->plan->sigma;
    (*out)->rows = f->plan->rows;
    (*out)->error = chosen.error;
    cr_denoiser_set_digest(*out);
    return CERTREG_OK;
}

certreg_status cr_denoiser_fit(const certreg_denoiser_plan *plan, const cr_blas *blas,
                               const fenv_t *callers, certreg_error *why, certreg_denoiser **out)
{
    fit f = {.plan = plan, .blas = blas, .callers = callers, .why = why, .inputs = plan->inputs};
    for (size_t j = 0; j < f.inputs; j++) f.free += noise_of(&f, j) > 0;
    const uint64_t room = plan->rows < f.free ? plan->rows : f.free;
    const size_t wanted = plan->components + SPARE;
    f.count = wanted < room ? wanted : (size_t)room;
    cr_arena need = {0};
    void *memory = NULL;
    int32_t owned;
    lay_out(&f, &need);
    certreg_status status =
        need.overflow
            ? cr_error_set(why, CERTREG_E_NO_MEMORY, "inputs * components do not fit into memory")
            : cr_handle_alloc(NULL, 0, need.used, &owned, &memory, why);
    if (!memory) return status;
    cr_arena carved = {.base = memory};
    lay_out(&f, &carved);
    status = find(&f, out);
    cr_handle_release(memory);
    return status;
}
