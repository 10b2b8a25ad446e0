/* Records as bytes: a record that the library wrote is edited, or invented, and imported into
 * another. An import is all or nothing; what was accepted is what both had, comes out again as it
 * went in, and is never asked of the model again. */
#include "base/bytes.h"
#include "fuzz/api.h"
#include <certreg/question.h>
#include <certreg/sampling.h>

const size_t fuzz_most_bytes = 512;
enum {
    MOST = 40,
    INPUTS = 3,
    OUTPUTS = 3,
    HEADER = 128,
    PILOT = 72,
    ROOM = 4096,
    MEMORY = 1 << 18
};
#define FAILED 0x7fc0fa11u /* an output that failed */
typedef struct bytes {
    unsigned char at[ROOM];
    size_t count;
} bytes;

/* ---- estimators */
typedef struct world {
    certreg_model model;
    certreg_plan plan;
    float z[INPUTS], scale[INPUTS];
    int32_t kind[OUTPUTS];
    double lo[OUTPUTS], hi[OUTPUTS], sigma;
    uint64_t noise_id, level;
} world;

typedef struct content { /* of a record, read without the library */
    uint32_t value[MOST][OUTPUTS];
    unsigned char has[MOST];
    size_t present;
} content;

static const content *watched; /* what the model must not be asked for again */
static _Alignas(64) unsigned char memory[4][MEMORY];

static int model(void *user, const certreg_batch *batch)
{
    const world *w = user;
    const size_t end = batch->used_first + batch->used_count;
    for (size_t i = batch->used_first; i < end; i++) {
        const float x = batch->x[i * batch->inputs];
        if (watched && watched->has[batch->first + i]) {
            MUST(i > batch->used_first && i + 1 < end, "sample %zu is there",
                 (size_t)batch->first + i);
            continue; /* between others that are missing: what the model says of it is ignored */
        }
        for (size_t k = 0; k < batch->columns; k++)
            batch->y[i * batch->columns + k] = k ? x * (float)k : 0.5f;
        if ((w->plan.flags & CERTREG_PLAN_COUNT_FAILURES) && x > 1.5f)
            batch->y[i * batch->columns] = NAN;
    }
    return 0;
}

static world choose_world(fuzz_bytes *b)
{
    world w = {.sigma = 0.25, .noise_id = fuzz_byte(b) % 3, .level = fuzz_byte(b) % 2};
    const size_t most = 1 + fuzz_byte(b) % MOST;
    const uint8_t pilot = fuzz_byte(b);
    w.model = (certreg_model){.struct_size = sizeof w.model,
                              .eval = model,
                              .inputs = 1 + fuzz_byte(b) % INPUTS,
                              .outputs = 1 + fuzz_byte(b) % OUTPUTS,
                              .batch = 1 + fuzz_byte(b) % 8};
    w.plan = (certreg_plan){.struct_size = sizeof w.plan,
                            .seed = fuzz_byte(b) % 2,
                            .max_samples = most,
                            .pilot = pilot < 128   ? pilot % most
                                     : pilot < 160 ? SIZE_MAX
                                                   : 0,
                            .flags = fuzz_byte(b) % 2};
    for (size_t k = 0; k < OUTPUTS; k++) {
        w.kind[k] = (int32_t)(fuzz_byte(b) % 8) - 5;
        if (w.kind[k] < 0) w.kind[k] = CERTREG_OUTPUT_REAL;
        w.lo[k] = -60, w.hi[k] = fuzz_byte(b) % 2 ? 100 : 60;
    }
    for (size_t j = 0; j < INPUTS; j++) w.z[j] = (float)j, w.scale[j] = 1;
    return w;
}

/* To a setting that may refuse the record, or accept it by mistake. 1: none was changed. */
static int change_world(fuzz_bytes *b, world *w)
{
    switch (fuzz_byte(b) % 24) {
    case 0: w->noise_id++; break;
    case 1: w->level++; break;
    case 2: w->sigma = 0.5; break;
    case 3: w->plan.seed++; break;
    case 4: w->z[0] = 0.125f; break;
    case 5: w->scale[0] = 2; break;
    case 6: w->kind[0] = (w->kind[0] + 1) % 3; break;
    case 7: w->hi[0] = 0.25; break;
    case 8: w->plan.pilot = fuzz_byte(b) % w->plan.max_samples; break;
    case 9: w->plan.max_samples += 1; break;
    case 10: w->model.batch += 1; break;
    case 11: w->plan.flags ^= CERTREG_PLAN_COUNT_FAILURES; break;
    case 12: w->model.outputs = 1 + w->model.outputs % OUTPUTS; break;
    case 13: w->plan.max_samples = 1, w->plan.pilot = 0; break;
    case 14: w->plan.pilot = SIZE_MAX; break;
    default: return 1;
    }
    if (w->plan.max_samples > MOST) w->plan.max_samples = MOST;
    if (w->plan.pilot != SIZE_MAX) w->plan.pilot %= w->plan.max_samples;
    return 0;
}

static certreg_estimator *make(world *w, int place)
{
    certreg_estimator *e = NULL;
    certreg_error why = {.struct_size = sizeof why};
    w->model.user = w;
    w->model.scale = w->scale, w->model.kind = w->kind, w->model.lo = w->lo, w->model.hi = w->hi;
    w->plan.memory = memory[place], w->plan.memory_bytes = MEMORY;
    certreg_status status = certreg_estimator_create(NULL, &w->model, &w->plan, &why, &e);
    MUST(!status, "create: %s", why.text);
    status = certreg_estimator_begin_level(e, w->z, w->sigma, w->noise_id, w->level);
    MUST(!status, "begin: %s", certreg_estimator_error(e)->text);
    return e;
}

/* ---- what is in a record */
static bytes save(certreg_estimator *e)
{
    bytes r = {.count = 0};
    certreg_status status = certreg_estimator_export(e, NULL, &r.count);
    size_t room = r.count ? r.count - 1 : 0;
    if (status == CERTREG_E_OUT_OF_RANGE) return r;
    MUST(!status && r.count <= ROOM, "%zu bytes: %s", r.count, certreg_estimator_error(e)->text);
    status = certreg_estimator_export(e, r.at, &room);
    MUST(status == CERTREG_E_SMALL_MEMORY && room == r.count, "%d, %zu", (int)status, room);
    MUST(r.at[0] == 0, "written without room");
    status = certreg_estimator_export(e, r.at, &room);
    MUST(!status && room == r.count, "%d, %zu", (int)status, room);
    return r;
}

static void check_same(const bytes *x, const bytes *y, const char *what)
{
    MUST(x->count == y->count && !memcmp(x->at, y->at, x->count), "%s", what);
}

static void mend(bytes *r)
{
    if (r->count < 8) return;
    cr_put64(r->at + r->count - 8, cr_hash_end(cr_hash(CR_HASH_START, r->at, r->count - 8)));
}

/* The record has been written or accepted by the library: everything about it has to be right. */
static content read_content(const bytes *r, size_t outputs)
{
    content c = {.present = 0};
    const unsigned char *at = r->at + HEADER, *end = r->at + r->count - 8;
    uint64_t next = 0;
    if (!r->count) return c;
    MUST(r->count >= HEADER + 8, "%zu bytes", r->count);
    for (uint64_t ranges = cr_get64(at - 8); ranges; ranges--) {
        MUST(end - at >= 16, "no range");
        const uint64_t first = cr_get64(at), count = cr_get64(at + 8);
        MUST(first >= next && count && first < MOST && count <= MOST - first, "range");
        at += 16, next = first + count;
        for (uint64_t i = first; i < next; i++) {
            for (size_t k = 0; k < outputs; k++, at += 4) c.value[i][k] = cr_get32(at);
            c.has[i] = 1, c.present++;
        }
        if (count * outputs % 2) at += 4;
        MUST(at <= end, "a range ends beyond the record");
    }
    MUST(at == end, "%zu bytes beyond the last range", (size_t)(end - at));
    return c;
}

/* ---- calls that fill records */
static int32_t method; /* of questions: most of the time goes to answers */

static certreg_certificate ask(certreg_estimator *e, size_t samples)
{
    certreg_certificate c = {.struct_size = sizeof c};
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 0.5, .method = method};
    const certreg_status status = certreg_certify(e, samples, &q, 1, &c);
    fuzz_check_certificate(&c, "certify");
    fuzz_check_error(certreg_estimator_error(e), status, "certify");
    return c;
}

/* The evaluation of a record that takes least time. */
static void evaluate(certreg_estimator *e)
{
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 0.5};
    double estimate;
    const certreg_status status = certreg_estimator_estimate(e, &q, &estimate);
    fuzz_check_error(certreg_estimator_error(e), status, "estimate");
}

/* 1 if an output was not finite. */
static int record_some(fuzz_bytes *b, certreg_estimator *e, uint64_t first, size_t count)
{
    float y[2 * OUTPUTS * MOST];
    for (size_t i = 0; i < sizeof y / sizeof *y; i++) y[i] = i < 4 ? (float)fuzz_double(b) : 0.5f;
    if (count > MOST) count = MOST;
    bytes before = save(e);
    const certreg_status status = certreg_estimator_record(e, first, count, y);
    fuzz_check_error(certreg_estimator_error(e), status, "record");
    bytes after = save(e);
    if (status == CERTREG_E_OUT_OF_RANGE) MUST(!after.count, "the record is let out");
    const int failed = status == CERTREG_E_NOT_FINITE;
    if (!status || !before.count || !after.count) return failed;
    /* Any outputs fix the pilot; what is not finite is logged, by the 5 words behind it. */
    const int changes = failed ? 6 : 1;
    for (int i = 0; i < changes; i++)
        cr_put64(before.at + PILOT + 8 * i, 0), cr_put64(after.at + PILOT + 8 * i, 0);
    mend(&before), mend(&after);
    check_same(&before, &after, "refused outputs");
    return failed;
}

/* 1 if an output was not finite: then no import gives its sample a second value. */
static int fill(fuzz_bytes *b, certreg_estimator *e)
{
    int failed = 0;
    for (int count = fuzz_byte(b) % 5; count; count--) {
        const uint8_t call = fuzz_byte(b);
        const uint64_t first = fuzz_byte(b) % (MOST + 1);
        const size_t samples = fuzz_byte(b) % (MOST + 1);
        certreg_status status;
        switch (call % 8) {
        case 0:
            if (call < 64) failed |= ask(e, samples).status == CERTREG_E_NOT_FINITE;
            else evaluate(e);
            break;
        case 1: failed |= record_some(b, e, first, samples); break;
        default:
            status = certreg_estimator_sample(e, first, samples);
            fuzz_check_error(certreg_estimator_error(e), status, "sample");
            failed |= status == CERTREG_E_NOT_FINITE;
        }
    }
    return failed;
}

/* ---- what happens to a record on its way */
static void edit(fuzz_bytes *b, bytes *r)
{
    const uint8_t kind = fuzz_byte(b);
    const size_t at = fuzz_below(b, (uint32_t)r->count), word = at / 8 * 8;
    const uint64_t value = kind & 8 ? fuzz_word(b) : fuzz_byte(b);
    switch (kind % 8) {
    case 0: r->at[at] = (unsigned char)value; break;
    case 1: r->at[at] ^= (unsigned char)(1u << value % 8); break;
    case 2:
        if (word + 8 <= r->count) cr_put64(r->at + word, value);
        break;
    case 3: /* a word of the header */
        if (r->count >= HEADER) cr_put64(r->at + 8 + at % 15 * 8, value);
        break;
    case 4: /* a word behind it */
        if (word >= HEADER && word + 8 <= r->count)
            cr_put64(r->at + word, cr_get64(r->at + word) + value - 4);
        break;
    case 5: r->count = at; break;
    case 6: /* bytes repeated, or left out */
        if (r->count + 64 > ROOM || at + 64 > r->count) break;
        memmove(r->at + word + (value & 56), r->at + word, r->count - word), r->count += value & 56;
        break;
    default: /* an output */
        if (word >= HEADER && word + 4 <= r->count)
            cr_put32(r->at + word, kind & 16 ? FAILED + (uint32_t)(value & 3)
                                             : cr_bits_of_float((float)fuzz_double(b)));
    }
    if (r->count < 8) r->count = 8;
}

/* 1 if it is as it was. */
static int tamper(fuzz_bytes *b, bytes *r)
{
    const uint8_t kind = fuzz_byte(b);
    if (kind < 64 || r->count < 8) return 1;
    if (kind < 80) { /* the bytes of the input themselves */
        r->count = b->left < ROOM ? b->left : ROOM;
        fuzz_take(b, r->at, r->count);
    } else {
        for (int count = 1 + kind % 4; count; count--) edit(b, r);
    }
    if (kind % 16) mend(r);
    return 0;
}

/* ---- what has to hold */
static void check_merged(const content *mine, const content *theirs, const content *now, size_t q)
{
    for (size_t i = 0; i < MOST; i++) {
        MUST(now->has[i] == (mine->has[i] || theirs->has[i]), "sample %zu", i);
        for (size_t k = 0; k < q; k++) {
            MUST(!mine->has[i] || mine->value[i][k] == now->value[i][k], "mine, sample %zu", i);
            MUST(!theirs->has[i] || theirs->value[i][k] == now->value[i][k], "theirs, %zu", i);
        }
    }
}

/* Damaged bytes are never taken, nor what the model could not have said. */
static void check_taken(const world *w, const bytes *sent, const content *theirs)
{
    bytes mended = *sent;
    mend(&mended);
    check_same(sent, &mended, "a record with another checksum");
    for (size_t i = 0; i < MOST; i++)
        for (size_t k = 0; k < w->model.outputs && theirs->has[i]; k++) {
            float y;
            memcpy(&y, &theirs->value[i][k], sizeof y);
            if (theirs->value[i][k] == FAILED)
                MUST(w->plan.flags & CERTREG_PLAN_COUNT_FAILURES, "a failure of sample %zu", i);
            else
                MUST((double)y >= w->lo[k] && (double)y <= w->hi[k], "sample %zu: %g", i,
                     (double)y);
        }
}

static void check_again(world *w, const bytes *now, certreg_estimator *e)
{
    certreg_status status = certreg_estimator_import(e, now->at, now->count);
    MUST(!status, "its own record: %s", certreg_estimator_error(e)->text);
    const bytes twice = save(e);
    check_same(now, &twice, "a record that took itself");
    certreg_estimator *other = make(w, 2);
    status = certreg_estimator_import(other, now->at, now->count);
    MUST(!status, "an empty record: %s", certreg_estimator_error(other)->text);
    const bytes there = save(other);
    check_same(now, &there, "export, import, export");
    certreg_estimator_destroy(other);
}

/* Imports are merged whichever record takes the other. */
static void check_other_way(certreg_estimator *from, const bytes *before, const bytes *merged)
{
    const certreg_status status = certreg_estimator_import(from, before->at, before->count);
    MUST(!status == !!merged, "only one of two records takes the other: %s",
         certreg_estimator_error(from)->text);
    if (!merged) return;
    const bytes there = save(from);
    check_same(merged, &there, "merged the other way");
}

static void check_sampling(certreg_estimator *e, const content *now, size_t most, size_t q)
{
    watched = now;
    const certreg_status status = certreg_estimator_sample(e, 0, most);
    watched = NULL;
    fuzz_check_error(certreg_estimator_error(e), status, "sample");
    if (status) return;
    const bytes after = save(e);
    const content all = read_content(&after, q);
    MUST(all.present == most, "%zu of %zu samples", all.present, most);
    check_merged(now, &all, &all, q);
}

void fuzz_prepare(void)
{
}

void fuzz_one(const uint8_t *input, size_t size)
{
    fuzz_bytes b = {input, size};
    world from = choose_world(&b), to = from;
    const uint8_t chosen = fuzz_byte(&b);
    method = chosen < 224 ? CERTREG_METHOD_FINITE : chosen % 4; /* the paper's is refused */
    const int alike = change_world(&b, &to);
    certreg_estimator *source = make(&from, 0), *target = make(&to, 1);
    const int failed = fill(&b, source);
    fill(&b, target);
    const int asked = fuzz_byte(&b) % 8 == 7;
    certreg_certificate first;
    if (asked) first = ask(target, 0);
    const bytes before = save(target);
    bytes sent = save(source);
    const int whole = tamper(&b, &sent);
    unsigned char *copy = malloc(sent.count ? sent.count : 1); /* of the very size */
    memcpy(copy, sent.at, sent.count);
    const certreg_status status = certreg_estimator_import(target, copy, sent.count);
    free(copy);
    fuzz_check_error(certreg_estimator_error(target), status, "import");
    const bytes after = save(target);
    if (status) {
        check_same(&before, &after, "a refused import");
        if (asked) {
            const certreg_certificate again = ask(target, 0);
            MUST(!memcmp(&first, &again, sizeof first), "other answers after a refused import");
        }
    } else if (!before.count) { /* an output was out of range: until the next begin, nothing */
        MUST(!after.count, "an import lets the record out");
    } else {
        const size_t q = to.model.outputs;
        const content mine = read_content(&before, q), theirs = read_content(&sent, q),
                      now = read_content(&after, q);
        check_taken(&to, &sent, &theirs);
        check_merged(&mine, &theirs, &now, q);
        check_again(&to, &after, target);
        if (whole && alike && !failed) check_other_way(source, &before, &after);
        check_sampling(target, &now, to.plan.max_samples, q);
    }
    certreg_estimator_destroy(source), certreg_estimator_destroy(target);
}
