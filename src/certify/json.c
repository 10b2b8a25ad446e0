/* Question, run and certificate as one line of JSON. A field is written by its table, so the three
 * cannot differ in form. */
#include "base/environment.h"
#include "base/sizes.h"
#include "base/structs.h"
#include "statistics/group.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text */
typedef struct text { /* grows in thought beyond its room, so that the size is known at the end */
    char *at;         /* NULL: only counted */
    size_t room, length;
    char last;
} text;

static void put(text *t, const char *characters, size_t count)
{
    if (t->at && t->length + count <= t->room) memcpy(t->at + t->length, characters, count);
    t->length += count;
    if (count) t->last = characters[count - 1];
}

static void put_string(text *t, const char *s)
{
    put(t, s, strlen(s));
}

/* ---- numbers */
/* The fewest digits, from 15 on, that read back to the same bits. snprintf and strtod share the
 * locale; were it changed between them, 17 digits would remain, which always do. */
static int digits(double x, char *out, size_t room)
{
    int length = 0;
    for (int precision = 15; precision <= 17; precision++) {
        length = snprintf(out, room, "%.*g", precision, x);
        if (strtod(out, NULL) == x) break;
    }
    return length;
}

/* Whatever the locale has between the digits, of one character or more, is the decimal point. */
static void put_number(text *t, double x)
{
    char out[64];
    if (!isfinite(x)) {
        put_string(t, "null");
        return;
    }
    const int length = digits(x, out, sizeof out);
    int within = 0;
    for (int i = 0; i < length; i++) {
        const int plain = out[i] != 0 && strchr("0123456789+-e", out[i]) != NULL;
        if (plain) put(t, out + i, 1);
        else if (!within) put(t, ".", 1);
        within = !plain;
    }
}

static void put_long(text *t, uint64_t value) /* of which many readers would lose bits */
{
    char out[32];
    snprintf(out, sizeof out, "\"%llu\"", (unsigned long long)value);
    put_string(t, out);
}

static void put_int(text *t, int64_t value)
{
    char out[32];
    snprintf(out, sizeof out, "%lld", (long long)value);
    put_string(t, out);
}

/* ---- structs */
typedef enum type { INT, UINT, LONG, NUMBER, SEED } type;
typedef struct field {
    const char *name;
    type kind;
    size_t offset;
} field;

#define FIELD(type, name, kind)           \
    {                                     \
#name, kind, offsetof(type, name) \
    }
#define QUESTION(name, kind) FIELD(certreg_question, name, kind)
#define CERTIFICATE(name, kind) FIELD(certreg_certificate, name, kind)
#define RUN(name, kind) FIELD(certreg_run, name, kind)
static const field question_fields[] = {QUESTION(output, INT),      QUESTION(tolerance, NUMBER),
                                        QUESTION(alpha, NUMBER),    QUESTION(statistic, INT),
                                        QUESTION(method, INT),      QUESTION(huber_width, NUMBER),
                                        QUESTION(center, INT),      QUESTION(constraints, UINT),
                                        QUESTION(bonferroni, LONG), QUESTION(output_count, LONG)};
static const field target_fields[] = {FIELD(certreg_target, radius, NUMBER)};
static const field serving_fields[] = {
    FIELD(certreg_serving, samples, LONG), FIELD(certreg_serving, failure_rate, NUMBER),
    FIELD(certreg_serving, trim, NUMBER), FIELD(certreg_serving, core, NUMBER)};
static const field pairs_field[] = {FIELD(certreg_serving, pairs, INT)};
static const field run_fields[] = {
    RUN(seed, SEED),    RUN(noise_id, LONG),        RUN(level, LONG),
    RUN(samples, LONG), RUN(pilot, LONG),           RUN(batch, LONG),
    RUN(sigma, NUMBER), RUN(model_seconds, NUMBER), RUN(library_seconds, NUMBER)};
static const field certificate_fields[] = {
    CERTIFICATE(status, INT),         CERTIFICATE(outcome, INT),
    CERTIFICATE(stop, INT),           CERTIFICATE(radius, NUMBER),
    CERTIFICATE(prediction, NUMBER),  CERTIFICATE(estimate, NUMBER),
    CERTIFICATE(output_lo, NUMBER),   CERTIFICATE(output_hi, NUMBER),
    CERTIFICATE(radius_l1, NUMBER),   CERTIFICATE(radius_l2, NUMBER),
    CERTIFICATE(radius_linf, NUMBER), CERTIFICATE(sigma, NUMBER),
    CERTIFICATE(tolerance, NUMBER),   CERTIFICATE(alpha, NUMBER),
    CERTIFICATE(samples, LONG),       CERTIFICATE(noise_id, LONG),
    CERTIFICATE(question, LONG),      CERTIFICATE(output, INT),
    CERTIFICATE(statistic, INT),      CERTIFICATE(method, INT),
    CERTIFICATE(center, INT),         CERTIFICATE(constraints, UINT),
    CERTIFICATE(limiting_side, INT),  CERTIFICATE(input, LONG)};

static void put_value(text *t, type kind, const void *at)
{
    int32_t i;
    uint32_t u;
    uint64_t l;
    double x;
    switch (kind) {
    case INT: memcpy(&i, at, sizeof i), put_int(t, i); break;
    case UINT: memcpy(&u, at, sizeof u), put_int(t, u); break;
    case NUMBER: memcpy(&x, at, sizeof x), put_number(t, x); break;
    case LONG:
    case SEED: memcpy(&l, at, sizeof l), put_long(t, l); break;
    }
}

static void put_name(text *t, const char *name)
{
    if (t->last != '{') put_string(t, ",");
    put_string(t, "\""), put_string(t, name), put_string(t, "\":");
}

static void put_fields(text *t, const field *fields, size_t count, int with_seed, const void *from)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind == SEED && !with_seed) continue;
        put_name(t, fields[i].name);
        put_value(t, fields[i].kind, (const unsigned char *)from + fields[i].offset);
    }
}
#define PUT_FIELDS(t, fields, with_seed, from) \
    put_fields(t, fields, sizeof(fields) / sizeof *(fields), with_seed, from)

/* ---- what a question points to */
static void put_target(text *t, const certreg_target *target)
{
    put_string(t, "{"), PUT_FIELDS(t, target_fields, 0, target);
    put_name(t, "looks");
    if (!target->looks) put_string(t, "null");
    for (uint32_t i = 0; target->looks && i < target->look_count; i++)
        put_string(t, i ? "," : "["), put_long(t, target->looks[i]);
    put_string(t, target->looks ? "]}" : "}");
}

/* One number, or a list of as many as the question says. */
static void put_prediction(text *t, const certreg_question *q)
{
    if (!q->prediction_count) {
        if (q->prediction) put_number(t, *q->prediction);
        else put_string(t, "null");
        return;
    }
    for (size_t i = 0; i < q->prediction_count; i++)
        put_string(t, i ? "," : "["), put_number(t, q->prediction[i]);
    put_string(t, "]");
}

static void put_question(text *t, const certreg_question *q, const certreg_target *target,
                         const certreg_serving *serving)
{
    PUT_FIELDS(t, question_fields, 0, q);
    put_name(t, "prediction"), put_prediction(t, q);
    put_name(t, "target");
    if (q->target) put_target(t, target);
    else put_string(t, "null");
    put_name(t, "serving");
    if (q->serving) put_string(t, "{"), PUT_FIELDS(t, serving_fields, 0, serving);
    if (q->serving && serving->pairs) PUT_FIELDS(t, pairs_field, 0, serving);
    put_string(t, q->serving ? "}" : "null");
}

/* ---- all of it */
typedef struct said { /* what the caller has, as this version knows it */
    certreg_question question;
    certreg_target target;
    certreg_serving serving;
    certreg_run run;
    certreg_certificate certificate;
    int has_question, has_run, has_certificate;
} said;

#define READ(ours, OLDEST, theirs) \
    ((theirs) ? cr_struct_read(&(ours), sizeof(ours), (OLDEST), (theirs), #ours, NULL) : CERTREG_OK)

static certreg_status read(const certreg_question *q, const certreg_run *run,
                           const certreg_certificate *c, said *s)
{
    memset(s, 0, sizeof *s);
    s->has_question = q != NULL, s->has_run = run != NULL, s->has_certificate = c != NULL;
    certreg_status status = READ(s->question, CR_OLDEST_QUESTION, q);
    if (!status) status = READ(s->target, CR_OLDEST_TARGET, s->question.target);
    if (!status) status = READ(s->serving, CR_OLDEST_SERVING, s->question.serving);
    if (!status) status = READ(s->run, CR_OLDEST_RUN, run);
    if (!status) status = READ(s->certificate, CR_OLDEST_CERTIFICATE, c);
    const int lacking =
        (s->question.prediction_count && !s->question.prediction) ||
        (s->target.looks && (!s->target.look_count || s->target.look_count > CR_LOOKS));
    return !status && lacking ? CERTREG_E_INVALID : status;
}

static void put_all(text *t, const said *s, uint32_t flags)
{
    put_string(t, "{");
    if (s->has_question) {
        put_name(t, "question"), put_string(t, "{");
        put_question(t, &s->question, &s->target, &s->serving), put_string(t, "}");
    }
    if (s->has_run) {
        put_name(t, "run"), put_string(t, "{");
        PUT_FIELDS(t, run_fields, (flags & CERTREG_JSON_SEED) != 0, &s->run), put_string(t, "}");
    }
    if (s->has_certificate) {
        put_name(t, "certificate"), put_string(t, "{");
        PUT_FIELDS(t, certificate_fields, 0, &s->certificate), put_string(t, "}");
    }
    put_string(t, "}"), put(t, "", 1);
}

certreg_status certreg_write_json(const certreg_question *question, const certreg_run *run,
                                  const certreg_certificate *certificate, uint32_t flags,
                                  char *buffer, size_t *bytes)
{
    said s;
    fenv_t callers;
    if (!bytes || flags & ~(uint32_t)CERTREG_JSON_SEED) return CERTREG_E_INVALID;
    const certreg_status status = read(question, run, certificate, &s);
    text t = {.at = buffer, .room = buffer ? *bytes : 0};
    *bytes = 0;
    if (status) return status;
    cr_environment_enter(&callers);
    put_all(&t, &s, flags);
    cr_environment_leave(&callers);
    *bytes = t.length;
    if (!buffer || t.length <= t.room) return CERTREG_OK;
    if (t.room) *buffer = 0;
    return CERTREG_E_SMALL_MEMORY;
}
