/* A record as bytes, little-endian: words that identify it, ranges of samples with their recorded
 * values, a checksum. One file has the layout for export and import. */
#include "base/bytes.h"
#include "record/record.h"
#include "base/arena.h"
#include <math.h>
#include <string.h>

/* The layout, byte by byte, is in docs/stability.md. Format 1 had noise that was not Gaussian
 * to the last bit. */
enum { VERSION, SEED, NOISE_ID, LEVEL, SIGMA, INPUTS, OUTPUTS, IDENTITY, PILOT, QUERY_LOG };
enum { RANGES = QUERY_LOG + 5, WORDS };
enum { HEADER = 8 + 8 * WORDS };
static const uint64_t plain_format = 2, audited_format = 3, pilot_not_frozen = UINT64_MAX;
static const char magic[8] = {'c', 'r', 't', 'r', 'e', 'c', '0', '1'};
static const char *const word_name[PILOT] = {
    "format version",
    "seed: plan.seed must be the record's",
    "noise_id",
    "noise level",
    "sigma",
    "number of inputs",
    "number of outputs",
    "input, noise scale, output kind, masks or CERTREG_PLAN_PAIRS"};

static uint64_t identity_digest(cr_view *v)
{
    uint64_t h = CR_HASH_START;
    for (size_t j = 0; j < v->model.inputs; j++) h = cr_hash32(h, cr_bits_of_float(v->input.z[j]));
    h = cr_view_hash_model(v, h);
    return cr_hash_end(cr_view_is_antithetic(v) ? cr_hash64(h, CR_HASH_ANTITHETIC) : h);
}

/* All but the number of ranges. */
static void header_words(cr_view *v, uint64_t w[WORDS])
{
    const cr_query_log *log = &v->query_log;
    const cr_noise *noise = &v->input.noise;
    const uint64_t log_words[] = {log->first_samples, log->planned_samples, log->max_samples,
                                  log->batch, log->looks_digest};
    w[VERSION] = v->audited.outputs ? audited_format : plain_format;
    w[SEED] = noise->seed;
    w[NOISE_ID] = noise->noise_id;
    w[LEVEL] = noise->level;
    w[SIGMA] = cr_bits_of_double(v->input.sigma);
    w[INPUTS] = v->model.inputs;
    w[OUTPUTS] = v->model.outputs;
    w[IDENTITY] = identity_digest(v);
    w[PILOT] = v->pilot_is_frozen ? v->pilot : pilot_not_frozen;
    memcpy(w + QUERY_LOG, log_words, sizeof log_words);
    w[RANGES] = 0;
}

static uint64_t word_at(const unsigned char *record, int word)
{
    return cr_get64(record + 8 + 8 * word);
}

static cr_query_log query_log_of(const unsigned char *record)
{
    return (cr_query_log){.first_samples = word_at(record, QUERY_LOG),
                          .planned_samples = word_at(record, QUERY_LOG + 1),
                          .max_samples = word_at(record, QUERY_LOG + 2),
                          .batch = word_at(record, QUERY_LOG + 3),
                          .looks_digest = word_at(record, QUERY_LOG + 4)};
}

static size_t range_bytes(cr_view *v, size_t count)
{
    return 16 + (count * v->model.outputs * 4 + 7) / 8 * 8;
}

/* The next run of recorded samples at or after `from`; count 0 at the end. */
static size_t next_range(cr_view *v, size_t from, size_t *count)
{
    while (from < v->plan.max_samples && !cr_view_has(v, from)) from++;
    for (*count = 0; from + *count < v->plan.max_samples && cr_view_has(v, from + *count);)
        ++*count;
    return from;
}

static unsigned char *put_range(cr_view *v, unsigned char *at, size_t first, size_t count)
{
    const size_t values = count * v->model.outputs;
    cr_put64(at, first);
    cr_put64(at + 8, count);
    if (values % 2) cr_put32(at + 16 + 4 * values, 0);
    for (size_t i = 0; i < values; i++)
        cr_put32(at + 16 + 4 * i, cr_bits_of_float(v->values[first * v->model.outputs + i]));
    return at + range_bytes(v, count);
}

size_t cr_record_export_bytes(cr_view *v)
{
    const size_t n = v->plan.max_samples, gaps = n / 2 + 1;
    return HEADER + 24 + 8 * v->model.outputs + 24 * gaps +
           4 * cr_arena_product(n, v->model.outputs);
}

/* ---- the audit: the outputs that were asked again, the samples in the record by then, and the
 * largest difference of each output */
static size_t audit_bytes(cr_view *v, uint64_t format)
{
    return format == audited_format ? 16 + 8 * v->model.outputs : 0;
}

static void put_audit(cr_view *v, unsigned char *at)
{
    cr_put64(at, v->audited.outputs);
    cr_put64(at + 8, v->audited.samples);
    for (size_t k = 0; k < v->model.outputs; k++)
        cr_put64(at + 16 + 8 * k, cr_bits_of_double(v->audited.change[k]));
}

/* Shares of picks are alike, so that the larger number of them holds for both records; samples that
 * they share count once. A model that is at hand is asked again for all of them. */
static void merge_audit(cr_record *record, const unsigned char *at, int is_disjoint)
{
    cr_audited *own = &record->audited;
    const uint64_t outputs = cr_get64(at), samples = cr_get64(at + 8);
    if (outputs > own->outputs) own->outputs = outputs;
    if (is_disjoint) own->samples += samples;
    else if (samples > own->samples) own->samples = samples;
    if (record->model.eval) own->samples = 0;
    for (size_t k = 0; k < record->model.outputs; k++)
        own->change[k] = fmax(own->change[k], cr_double_of_bits(cr_get64(at + 16 + 8 * k)));
}

certreg_status cr_record_export(cr_view *v, void *buffer, size_t *bytes, certreg_error *why)
{
    const certreg_status status = cr_view_require_input(v, why);
    if (status) return status;
    if (!bytes) return cr_error_set(why, CERTREG_E_INVALID, "bytes is NULL");
    if (cr_view_require_in_range(v, why)) return CERTREG_E_OUT_OF_RANGE;
    uint64_t w[WORDS];
    header_words(v, w);
    size_t required_bytes = HEADER + 8 + audit_bytes(v, w[VERSION]), count;
    for (size_t at = next_range(v, 0, &count); count; at = next_range(v, at + count, &count)) {
        required_bytes += range_bytes(v, count);
        w[RANGES]++;
    }
    const size_t capacity = *bytes;
    *bytes = required_bytes;
    if (!buffer) return CERTREG_OK; /* the caller needs the size alone */
    if (capacity < required_bytes)
        return cr_error_set(why, CERTREG_E_SMALL_MEMORY,
                            "the record takes %zu bytes; the buffer has %zu", required_bytes,
                            capacity);
    unsigned char *out = buffer;
    memcpy(out, magic, sizeof magic);
    for (int i = 0; i < WORDS; i++) cr_put64(out + 8 + 8 * i, w[i]);
    out += HEADER;
    for (size_t at = next_range(v, 0, &count); count; at = next_range(v, at + count, &count))
        out = put_range(v, out, at, count);
    if (w[VERSION] == audited_format) put_audit(v, out);
    out += audit_bytes(v, w[VERSION]);
    cr_put64(out, cr_hash_end(cr_hash(CR_HASH_START, buffer, required_bytes - 8)));
    return CERTREG_OK;
}

/* ---- import */
typedef struct reader {
    const unsigned char *at, *end; /* of the ranges */
    int is_audited;                /* what the audit found is behind them */
    uint64_t ranges, next;         /* ranges ascend: no sample before `next` may follow */
    uint64_t pilot;
    cr_query_log query_log;
} reader;

static certreg_status refuse_damaged(certreg_error *why, const char *reason)
{
    return cr_error_set(why, CERTREG_E_CORRUPT, "the record is damaged: %s", reason);
}

static certreg_status read_header(cr_view *v, const void *buffer, size_t bytes, reader *r,
                                  certreg_error *why)
{
    const unsigned char *in = buffer;
    if (!buffer || bytes < HEADER + 8 || memcmp(in, magic, sizeof magic) != 0)
        return cr_error_set(why, CERTREG_E_CORRUPT, "these %zu bytes are not a record", bytes);
    if (cr_get64(in + bytes - 8) != cr_hash_end(cr_hash(CR_HASH_START, buffer, bytes - 8)))
        return cr_error_set(
            why, CERTREG_E_CORRUPT,
            "the record is damaged or cut off: its checksum does not fit its %zu bytes", bytes);
    uint64_t expected[WORDS];
    const uint64_t format = word_at(in, VERSION);
    header_words(v, expected);
    if (format != plain_format && format != audited_format)
        return cr_error_set(why, CERTREG_E_VERSION,
                            "the record has format %llu; this version reads %llu and %llu: sample "
                            "it again",
                            (unsigned long long)format, (unsigned long long)plain_format,
                            (unsigned long long)audited_format);
    for (int i = VERSION + 1; i < PILOT; i++)
        if (word_at(in, i) != expected[i])
            return cr_error_set(why, CERTREG_E_MISMATCH, "the record was made with a different %s",
                                word_name[i]);
    if (bytes < HEADER + 8 + audit_bytes(v, format))
        return refuse_damaged(why, "it ends within its audit");
    const unsigned char *change = in + bytes - 8 - 8 * v->model.outputs;
    for (size_t k = 0; format == audited_format && k < v->model.outputs; k++)
        if (!(cr_double_of_bits(cr_get64(change + 8 * k)) >= 0))
            return refuse_damaged(why, "a difference of its audit is no distance");
    *r = (reader){.at = in + HEADER,
                  .end = in + bytes - 8 - audit_bytes(v, format),
                  .is_audited = format == audited_format,
                  .ranges = word_at(in, RANGES),
                  .pilot = word_at(in, PILOT),
                  .query_log = query_log_of(in)};
    return CERTREG_OK;
}

/* A sample belongs to the pilot or does not, in every evaluation (theory 5.2). A record without
 * samples takes the imported one's pilot. One that was evaluated has a pilot. */
static certreg_status merge_pilot(cr_record *record, const reader *r, int write, certreg_error *why)
{
    const uint64_t pilot = r->pilot;
    if (r->query_log.max_samples && pilot >= r->query_log.max_samples)
        return refuse_damaged(why, "its pilot is larger than its max_samples");
    if (pilot == pilot_not_frozen && !r->ranges) return CERTREG_OK;
    if (pilot != record->pilot && (record->pilot_is_frozen || record->plan.pilot))
        return cr_error_set(
            why, CERTREG_E_MISMATCH,
            "the pilot of the record has %llu samples, and that of this input %zu: begin "
            "again before the import, and leave plan.pilot 0 or set it to the record's "
            "(SIZE_MAX for none)",
            (unsigned long long)pilot, record->pilot);
    if (pilot >= record->plan.max_samples)
        return cr_error_set(why, CERTREG_E_TOO_MANY,
                            "the record's pilot has %llu samples: plan.max_samples must be larger",
                            (unsigned long long)pilot);
    if (write) cr_record_set_pilot(record, (size_t)pilot);
    record->pilot_is_frozen |= write;
    return CERTREG_OK;
}

/* The declared range of a real output is not part of a record's identity, but what is certified
 * with it must lie inside. */
static certreg_status check_range_of(cr_view *v, uint32_t bits, size_t output, certreg_error *why)
{
    const float value = cr_float_of_bits(bits);
    if ((double)value >= v->model.lo[output] && (double)value <= v->model.hi[output])
        return CERTREG_OK;
    cr_error_set(why, CERTREG_E_MISMATCH,
                 "output %zu of the record is %g, outside the declared range [%g, %g]", output,
                 (double)value, v->model.lo[output], v->model.hi[output]);
    why->output = (int32_t)output;
    why->value = (double)value;
    return CERTREG_E_MISMATCH;
}

static certreg_status check_values(cr_view *v, const unsigned char *values, size_t count,
                                   certreg_error *why)
{
    const uint32_t failed = cr_bits_of_float(cr_record_failed_value());
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = cr_get32(values + 4 * i);
        if ((bits & 0x7f800000u) != 0x7f800000u) {
            const certreg_status status = check_range_of(v, bits, i % v->model.outputs, why);
            if (status) return status;
            continue;
        }
        if (bits != failed) return refuse_damaged(why, "it has an output that is not finite");
        if (!(v->plan.flags & CERTREG_PLAN_COUNT_FAILURES))
            return cr_error_set(
                why, CERTREG_E_MISMATCH,
                "the record counts failed outputs: set CERTREG_PLAN_COUNT_FAILURES in plan.flags");
    }
    return CERTREG_OK;
}

/* The first sample to which both records give different outputs; UINT64_MAX: none. */
static uint64_t find_conflict(cr_view *v, uint64_t first, size_t count, const unsigned char *values)
{
    const size_t outputs = v->model.outputs;
    for (size_t i = 0; i < count * outputs; i++) {
        const uint32_t bits = cr_bits_of_float(v->values[first * outputs + i]);
        if (cr_view_has(v, first + i / outputs) && bits != cr_get32(values + 4 * i))
            return first + i / outputs;
    }
    return UINT64_MAX;
}

static certreg_status check_range(cr_view *v, reader *r, uint64_t *first, size_t *count,
                                  certreg_error *why)
{
    if ((size_t)(r->end - r->at) < 16) return refuse_damaged(why, "it ends within a range");
    *first = cr_get64(r->at);
    const uint64_t n = cr_get64(r->at + 8);
    *count = (size_t)n;
    if (n > SIZE_MAX / 8 / v->model.outputs || range_bytes(v, *count) > (size_t)(r->end - r->at))
        return refuse_damaged(why, "it ends within a range");
    if (*first > v->plan.max_samples || n > v->plan.max_samples - *first) {
        cr_error_set(
            why, CERTREG_E_TOO_MANY,
            "the record has samples beyond plan.max_samples = %zu: make the estimator with a "
            "larger one",
            v->plan.max_samples);
        why->sample = (int64_t)v->plan.max_samples;
        return CERTREG_E_TOO_MANY;
    }
    if (n == 0 || *first < r->next) return refuse_damaged(why, "its ranges are out of order");
    r->next = *first + n;
    const certreg_status status = check_values(v, r->at + 16, *count * v->model.outputs, why);
    if (status) return status;
    if (v->first_failed > *first && v->first_failed - 1 - *first < n)
        return cr_error_set(why, CERTREG_E_MISMATCH,
                            "sample %llu is in the record, and was not finite when it came first "
                            "here: begin again before the import",
                            (unsigned long long)v->first_failed - 1);
    const uint64_t conflict = find_conflict(v, *first, *count, r->at + 16);
    if (conflict == UINT64_MAX) return CERTREG_OK;
    cr_error_set(why, CERTREG_E_MISMATCH, "sample %llu is in both records with different outputs",
                 (unsigned long long)conflict);
    why->sample = (int64_t)conflict;
    return CERTREG_E_MISMATCH;
}

static void store_range(cr_record *record, const unsigned char *values, uint64_t first,
                        size_t count)
{
    const size_t outputs = record->model.outputs;
    for (size_t i = 0; i < count; i++) record->sample_count += !cr_view_has(record, first + i);
    for (size_t i = 0; i < count * outputs; i++) {
        const uint32_t bits = cr_get32(values + 4 * i);
        memcpy(record->values + first * outputs + i, &bits, sizeof bits);
    }
}

certreg_status cr_record_import(cr_record *record, const void *buffer, size_t bytes,
                                certreg_error *why)
{
    certreg_status status = cr_view_require_input(record, why);
    reader r = {0};
    if (!status) status = read_header(record, buffer, bytes, &r, why);
    if (status) return status;
    const reader start = r;
    const size_t before = record->sample_count;
    size_t imported = 0;
    for (int write = 0; write < 2; write++) { /* all or nothing: the first pass only checks */
        r = start;
        for (uint64_t k = 0; k < r.ranges; k++) {
            uint64_t first = 0;
            size_t count = 0;
            if ((status = check_range(record, &r, &first, &count, why))) return status;
            if (write) store_range(record, r.at + 16, first, count);
            imported += write ? count : 0;
            r.at += range_bytes(record, count);
        }
        if (r.at != r.end) return refuse_damaged(why, "it has bytes beyond its last range");
        if ((status = merge_pilot(record, &r, write, why))) return status;
        if ((status = cr_query_log_merge(record, &r.query_log, write, why))) return status;
        if (write && r.is_audited)
            merge_audit(record, r.end, record->sample_count - before == imported);
    }
    return CERTREG_OK;
}
