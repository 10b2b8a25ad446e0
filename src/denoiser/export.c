/* The constants of a denoiser: their memory; and their export and import as bytes, with words that
 * identify the denoiser and a checksum, little-endian everywhere. */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/handle.h"
#include "base/error.h"
#include "denoiser/denoiser.h"
#include <math.h>
#include <string.h>

static size_t round_up(size_t count, size_t multiple)
{
    return (count + multiple - 1) / multiple * multiple;
}

size_t cr_denoiser_rows(const certreg_denoiser *d)
{
    return round_up(d->components, CR_FILTER_GROUP);
}

static void lay_out(certreg_denoiser *d, cr_arena *a)
{
    const size_t rows = cr_denoiser_rows(d);
    cr_arena_alloc(a, 1, sizeof *d);
    d->center = cr_arena_alloc(a, cr_arena_product(2 + 2 * rows, d->pitch), sizeof(float));
    if (!a->base) return;
    d->base_gain = d->center + d->pitch;
    d->analysis = d->base_gain + d->pitch;
    d->synthesis = d->analysis + rows * d->pitch;
}

certreg_status cr_denoiser_alloc(size_t inputs, size_t components, certreg_error *why,
                                 certreg_denoiser **out)
{
    certreg_denoiser d = {.tag = CR_HANDLE_TAG,
                          .inputs = inputs,
                          .pitch = round_up(inputs, CR_FILTER_SUMS),
                          .components = components};
    cr_arena required = {0};
    void *memory = NULL;
    int32_t owned;
    lay_out(&d, &required);
    if (required.overflow)
        return cr_error_set(why, CERTREG_E_NO_MEMORY, "the constants do not fit into memory");
    const certreg_status status = cr_handle_alloc(NULL, 0, required.used, &owned, &memory, why);
    if (!memory) return status;
    cr_arena placed = {.base = memory};
    lay_out(&d, &placed);
    *out = memory;
    **out = d;
    return CERTREG_OK;
}

/* ---- export */
/* The layout, byte by byte, is in docs/stability.md. */
enum { VERSION, INPUTS, COMPONENTS, ROWS, SIGMA, ERROR, WORDS };
enum { HEADER = 8 + 8 * WORDS };
static const uint64_t format_version = 1;
static const char magic[8] = {'c', 'r', 't', 'd', 'e', 'n', '0', '1'};

static size_t float_count(size_t inputs, size_t components)
{
    return (2 + 2 * components) * inputs;
}

/* The checksum included. */
static size_t byte_count(size_t inputs, size_t components)
{
    return HEADER + 4 * float_count(inputs, components) + 8;
}

/* Exported constant i, of center, base_gain, analysis and synthesis without padding. */
static float *constant_at(const certreg_denoiser *d, size_t i)
{
    const size_t row = i / d->inputs, at = i % d->inputs;
    float *const first[] = {d->center, d->base_gain};
    if (row < 2) return first[row] + at;
    const size_t r = row - 2, k = d->components;
    return (r < k ? d->analysis + r * d->pitch : d->synthesis + (r - k) * d->pitch) + at;
}

static void put_header(const certreg_denoiser *d, unsigned char *out)
{
    const uint64_t words[WORDS] = {[VERSION] = format_version,
                                   [INPUTS] = d->inputs,
                                   [COMPONENTS] = d->components,
                                   [ROWS] = d->rows,
                                   [SIGMA] = cr_bits_of_double(d->sigma),
                                   [ERROR] = cr_bits_of_double(d->error)};
    memcpy(out, magic, sizeof magic);
    for (int i = 0; i < WORDS; i++) cr_put64(out + 8 + 8 * i, words[i]);
}

void cr_denoiser_set_digest(certreg_denoiser *d)
{
    unsigned char header[HEADER];
    const size_t count = float_count(d->inputs, d->components);
    put_header(d, header);
    uint64_t h = cr_hash(CR_HASH_START, header, HEADER);
    for (size_t i = 0; i < count; i++) h = cr_hash32(h, cr_bits_of_float(*constant_at(d, i)));
    d->digest = cr_hash_end(h);
}

certreg_status certreg_denoiser_export(const certreg_denoiser *d, void *buffer, size_t *bytes)
{
    if (!d || !bytes) return CERTREG_E_INVALID;
    if (!cr_handle_is_own(d)) return CERTREG_E_VERSION;
    const size_t capacity = *bytes, count = float_count(d->inputs, d->components);
    unsigned char *out = buffer;
    *bytes = byte_count(d->inputs, d->components);
    if (!buffer) return CERTREG_OK;
    if (capacity < *bytes) return CERTREG_E_SMALL_MEMORY;
    put_header(d, out);
    for (size_t i = 0; i < count; i++)
        cr_put32(out + HEADER + 4 * i, cr_bits_of_float(*constant_at(d, i)));
    cr_put64(out + *bytes - 8, d->digest);
    return CERTREG_OK;
}

/* ---- import */
static certreg_status check(const unsigned char *in, size_t bytes, uint64_t words[WORDS],
                            certreg_error *why)
{
    if (!in || bytes < HEADER + 8 || memcmp(in, magic, sizeof magic) != 0)
        return cr_error_set(why, CERTREG_E_CORRUPT, "these %zu bytes are not a denoiser", bytes);
    if (cr_get64(in + bytes - 8) != cr_hash_end(cr_hash(CR_HASH_START, in, bytes - 8)))
        return cr_error_set(why, CERTREG_E_CORRUPT,
                            "the denoiser is damaged or cut off: its checksum does not fit its %zu "
                            "bytes",
                            bytes);
    for (int i = 0; i < WORDS; i++) words[i] = cr_get64(in + 8 + 8 * i);
    if (words[VERSION] != format_version)
        return cr_error_set(why, CERTREG_E_VERSION,
                            "the denoiser has format %llu; this version reads %llu: make it again",
                            (unsigned long long)words[VERSION], (unsigned long long)format_version);
    const double sigma = cr_double_of_bits(words[SIGMA]);
    if (!words[INPUTS] || words[INPUTS] > CR_DENOISER_MAX_INPUTS ||
        words[COMPONENTS] > CR_DENOISER_MAX_COMPONENTS ||
        bytes != byte_count(words[INPUTS], words[COMPONENTS]) || !(sigma > 0) || !isfinite(sigma))
        return cr_error_set(why, CERTREG_E_CORRUPT,
                            "the denoiser is damaged: its sizes do not fit");
    return CERTREG_OK;
}

static certreg_status read_constants(const unsigned char *in, certreg_denoiser *d,
                                     certreg_error *why)
{
    const size_t count = float_count(d->inputs, d->components);
    for (size_t i = 0; i < count; i++) {
        const float value = cr_float_of_bits(cr_get32(in + 4 * i));
        if (!isfinite(value))
            return cr_error_set(why, CERTREG_E_CORRUPT, "the denoiser is damaged: a constant is %g",
                                (double)value);
        *constant_at(d, i) = value;
    }
    return CERTREG_OK;
}

static certreg_status import(const void *buffer, size_t bytes, certreg_error *why,
                             certreg_denoiser **out)
{
    uint64_t words[WORDS] = {0};
    certreg_denoiser *d = NULL;
    certreg_status status = check(buffer, bytes, words, why);
    if (!status) status = cr_denoiser_alloc(words[INPUTS], words[COMPONENTS], why, &d);
    if (!d) return status;
    status = read_constants((const unsigned char *)buffer + HEADER, d, why);
    if (status) {
        cr_handle_release(d);
        return status;
    }
    d->rows = words[ROWS];
    d->sigma = cr_double_of_bits(words[SIGMA]);
    d->error = cr_double_of_bits(words[ERROR]);
    d->digest = cr_get64((const unsigned char *)buffer + bytes - 8); /* which was compared */
    *out = d;
    return CERTREG_OK;
}

certreg_status certreg_denoiser_import(const void *buffer, size_t bytes, certreg_error *why,
                                       certreg_denoiser **out)
{
    certreg_error error;
    cr_error_clear(&error);
    if (out) *out = NULL;
    const certreg_status status = out ? import(buffer, bytes, &error, out)
                                      : cr_error_set(&error, CERTREG_E_INVALID, "out is NULL");
    cr_error_copy_out(why, &error);
    return status;
}
