/* A record as bytes: what identifies it, ranges of samples with their recorded values, a checksum. Little-endian everywhere. */
#include "estimator/estimator.h"
#include <math.h>
#include <string.h>

/* Layout: 8 bytes magic; then 64-bit words: version, seed, stream, sigma bits, inputs, outputs, noise-free centre, identity hash,
 * number of ranges; per range: first, count, count*outputs 32-bit values padded to 8 bytes; at the end a 64-bit checksum. A range
 * without samples marks a record that its outputs ended early: `first` is the number that was asked for. */
enum { WORDS = 9, HEADER = 8 + 8 * WORDS };
static const char magic[8] = {'c', 'r', 't', 'r', 'e', 'c', '0', '1'};
static const char *const word_name[WORDS] = {"format version",     "seed",  "stream", "sigma", "number of inputs", "number of outputs",
                                             "noise-free sample 0", "input, noise scale or output kind", ""};

static void put64(unsigned char *at, uint64_t v)
{
    for (int i = 0; i < 8; i++) at[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t get64(const unsigned char *at)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) v |= (uint64_t)at[i] << (8 * i);
    return v;
}

static void put32(unsigned char *at, uint32_t v)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(v >> (8 * i));
}

static uint32_t get32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* FNV-1a with a final avalanche: finds damage, no defence against intent. */
static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) h = (h ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return h;
}

static uint64_t finish(uint64_t h)
{
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

static uint64_t identity(const certreg_estimator *e)
{
    const size_t d = e->model.inputs, q = e->model.outputs;
    uint64_t h = 0xcbf29ce484222325u;
    h = hash_bytes(h, e->at.z, d * sizeof *e->at.z);
    h = hash_bytes(h, e->at.scale, d * sizeof *e->at.scale);
    h = hash_bytes(h, e->at.kind, q * sizeof *e->at.kind);
    for (size_t k = 0; k < q; k++)
        if (e->at.kind[k] != CERTREG_REAL) /* the range of an angle is its unit; that of a real only a declaration */
            h = hash_bytes(hash_bytes(h, e->at.lo + k, sizeof(double)), e->at.hi + k, sizeof(double));
    return finish(h);
}

static void words_of(const certreg_estimator *e, uint64_t w[WORDS])
{
    w[0] = 1, w[1] = e->noise.seed, w[2] = e->noise.stream;
    memcpy(w + 3, &e->sigma, sizeof e->sigma);
    w[4] = e->model.inputs, w[5] = e->model.outputs, w[6] = (uint64_t)(e->noise.centre != 0), w[7] = identity(e), w[8] = 0;
}

static size_t range_bytes(const certreg_estimator *e, size_t count)
{
    return 16 + (count * e->model.outputs * 4 + 7) / 8 * 8;
}

/* The next run of recorded samples at or after `from`; count 0 at the end. */
static size_t next_range(const certreg_estimator *e, size_t from, size_t *count)
{
    while (from < e->plan.capacity && !cr_record_has(e, from)) from++;
    for (*count = 0; from + *count < e->plan.capacity && cr_record_has(e, from + *count);) ++*count;
    return from;
}

static unsigned char *put_range(const certreg_estimator *e, unsigned char *at, size_t first, size_t count)
{
    const size_t values = count * e->model.outputs;
    put64(at, first), put64(at + 8, count);
    if (values % 2) put32(at + 16 + 4 * values, 0);
    for (size_t i = 0; i < values; i++) {
        uint32_t bits;
        memcpy(&bits, e->at.record + first * e->model.outputs + i, sizeof bits);
        put32(at + 16 + 4 * i, bits);
    }
    return at + range_bytes(e, count);
}

static certreg_status write_record(certreg_estimator *e, void *buffer, size_t *bytes)
{
    const certreg_status status = cr_estimator_ready(e);
    if (status) return status;
    if (!bytes) return cr_fail(&e->error, CERTREG_INVALID, "bytes is NULL");
    uint64_t w[WORDS];
    words_of(e, w);
    size_t need = HEADER + 8, count;
    for (size_t at = next_range(e, 0, &count); count; at = next_range(e, at + count, &count)) need += range_bytes(e, count), w[8]++;
    const int ended_early = e->present < e->cut_short;
    if (ended_early) need += range_bytes(e, 0), w[8]++;
    const size_t room = *bytes;
    *bytes = need;
    if (!buffer) return CERTREG_OK; /* only the size was asked for */
    if (room < need) return cr_fail(&e->error, CERTREG_SMALL_MEMORY, "the record takes %zu bytes; the buffer has %zu", need, room);
    unsigned char *out = buffer;
    memcpy(out, magic, sizeof magic);
    for (int i = 0; i < WORDS; i++) put64(out + 8 + 8 * i, w[i]);
    out += HEADER;
    for (size_t at = next_range(e, 0, &count); count; at = next_range(e, at + count, &count)) out = put_range(e, out, at, count);
    if (ended_early) out = put_range(e, out, e->cut_short, 0);
    put64(out, finish(hash_bytes(0xcbf29ce484222325u, buffer, need - 8)));
    return CERTREG_OK;
}

certreg_status certreg_estimator_export(certreg_estimator *e, void *buffer, size_t *bytes)
{
    const certreg_status status = cr_estimator_enter(e);
    return status ? status : cr_estimator_leave(e, write_record(e, buffer, bytes));
}

/* ---- import --------------------------------------------------------------------------------------------------------------------- */
typedef struct reader {
    const unsigned char *at, *end;
    uint64_t ranges, next; /* ranges ascend: no sample before `next` may follow */
} reader;

static certreg_status open_archive(certreg_estimator *e, const void *buffer, size_t bytes, reader *r)
{
    const unsigned char *in = buffer;
    if (!buffer || bytes < HEADER + 8 || memcmp(in, magic, sizeof magic) != 0)
        return cr_fail(&e->error, CERTREG_CORRUPT, "these %zu bytes are no record", bytes);
    if (get64(in + bytes - 8) != finish(hash_bytes(0xcbf29ce484222325u, buffer, bytes - 8)))
        return cr_fail(&e->error, CERTREG_CORRUPT, "the record is damaged or cut off: its checksum does not fit its %zu bytes", bytes);
    uint64_t mine[WORDS];
    words_of(e, mine);
    if (get64(in + 8) != mine[0])
        return cr_fail(&e->error, CERTREG_VERSION, "the record has format %llu; this version reads %llu",
                       (unsigned long long)get64(in + 8), (unsigned long long)mine[0]);
    for (int i = 1; i < WORDS - 1; i++)
        if (get64(in + 8 + 8 * i) != mine[i]) return cr_fail(&e->error, CERTREG_MISMATCH, "the record is of another %s", word_name[i]);
    *r = (reader){.at = in + HEADER, .end = in + bytes - 8, .ranges = get64(in + 8 + 8 * (WORDS - 1))};
    return CERTREG_OK;
}

/* The declared range of a real output is no part of a record's identity, but what is certified with it must lie inside. */
static certreg_status check_range_of(certreg_estimator *e, uint32_t bits, size_t output)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    if ((double)value >= e->at.lo[output] && (double)value <= e->at.hi[output]) return CERTREG_OK;
    cr_fail(&e->error, CERTREG_MISMATCH, "output %zu of the record is %g, outside the declared range [%g, %g]", output, (double)value,
            e->at.lo[output], e->at.hi[output]);
    e->error.output = (int32_t)output;
    e->error.value = (double)value;
    return CERTREG_MISMATCH;
}

static certreg_status check_values(certreg_estimator *e, const unsigned char *values, size_t count)
{
    uint32_t failed;
    const float pattern = cr_record_failed();
    memcpy(&failed, &pattern, sizeof failed);
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = get32(values + 4 * i);
        if ((bits & 0x7f800000u) != 0x7f800000u) {
            const certreg_status status = check_range_of(e, bits, i % e->model.outputs);
            if (status) return status;
            continue;
        }
        if (bits != failed) return cr_fail(&e->error, CERTREG_CORRUPT, "the record holds an output that is not finite");
        if (!(e->plan.flags & CERTREG_PLAN_COUNT_FAILURES))
            return cr_fail(&e->error, CERTREG_MISMATCH, "the record counts failed outputs, which this plan does not allow");
    }
    return CERTREG_OK;
}

static int differs(const certreg_estimator *e, uint64_t first, size_t count, const unsigned char *values, uint64_t *where)
{
    const size_t q = e->model.outputs;
    for (size_t i = 0; i < count * q; i++) {
        uint32_t mine;
        memcpy(&mine, e->at.record + first * q + i, sizeof mine);
        if (cr_record_has(e, first + i / q) && mine != get32(values + 4 * i)) return *where = first + i / q, 1;
    }
    return 0;
}

static certreg_status check_range(certreg_estimator *e, reader *r, uint64_t *first, size_t *count)
{
    if ((size_t)(r->end - r->at) < 16) return cr_fail(&e->error, CERTREG_CORRUPT, "the record ends within a range");
    *first = get64(r->at);
    const uint64_t n = get64(r->at + 8);
    *count = (size_t)n;
    if (n > SIZE_MAX / 8 / e->model.outputs || range_bytes(e, *count) > (size_t)(r->end - r->at))
        return cr_fail(&e->error, CERTREG_CORRUPT, "the record ends within a range");
    if (*first > e->plan.capacity || n > e->plan.capacity - *first) {
        cr_fail(&e->error, CERTREG_TOO_MANY, "the record has samples beyond plan.capacity = %zu", e->plan.capacity);
        return e->error.sample = (int64_t)e->plan.capacity, CERTREG_TOO_MANY;
    }
    if (n == 0) return CERTREG_OK;
    if (*first < r->next) return cr_fail(&e->error, CERTREG_CORRUPT, "the record's ranges are out of order");
    r->next = *first + n;
    const certreg_status status = check_values(e, r->at + 16, *count * e->model.outputs);
    if (status) return status;
    uint64_t where;
    if (!differs(e, *first, *count, r->at + 16, &where)) return CERTREG_OK;
    cr_fail(&e->error, CERTREG_MISMATCH, "sample %llu is in both records with different outputs", (unsigned long long)where);
    return e->error.sample = (int64_t)where, CERTREG_MISMATCH;
}

static void take_range(certreg_estimator *e, const unsigned char *values, uint64_t first, size_t count)
{
    const size_t q = e->model.outputs;
    if (!count && first > e->cut_short) e->cut_short = (size_t)first;
    for (size_t i = 0; i < count; i++) e->present += !cr_record_has(e, first + i);
    for (size_t i = 0; i < count * q; i++) {
        const uint32_t bits = get32(values + 4 * i);
        memcpy(e->at.record + first * q + i, &bits, sizeof bits);
    }
}

static certreg_status read_record(certreg_estimator *e, const void *buffer, size_t bytes)
{
    certreg_status status = cr_estimator_ready(e);
    reader r = {0};
    if (!status) status = open_archive(e, buffer, bytes, &r);
    if (status) return status;
    const reader start = r;
    for (int write = 0; write < 2; write++) { /* all or nothing: the first pass only checks */
        r = start;
        for (uint64_t k = 0; k < r.ranges; k++) {
            uint64_t first = 0;
            size_t count = 0;
            if ((status = check_range(e, &r, &first, &count))) return status;
            if (write) take_range(e, r.at + 16, first, count);
            r.at += range_bytes(e, count);
        }
        if (r.at != r.end) return cr_fail(&e->error, CERTREG_CORRUPT, "the record has bytes beyond its last range");
    }
    return CERTREG_OK;
}

certreg_status certreg_estimator_import(certreg_estimator *e, const void *buffer, size_t bytes)
{
    const certreg_status status = cr_estimator_enter(e);
    return status ? status : cr_estimator_leave(e, read_record(e, buffer, bytes));
}
