/* What a session of ONNX Runtime says of its tensors, and the constants for inputs that do not
 * vary. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort.h"

static int read_name(struct ort *o, int place, size_t index, char name[TENSOR_NAME])
{
    void *allocator = NULL;
    char *text = NULL;
    if (ORT_FAILS(o, "asking for memory", ORT_ALLOCATOR, (void **), &allocator) ||
        ORT_FAILS(o, "reading a name", place, (const void *, size_t, void *, char **), o->session,
                  index, allocator, &text))
        return 1;
    const int length = snprintf(name, TENSOR_NAME, "%s", text);
    return ORT_FAILS(o, "freeing a name", ORT_FREE, (void *, void *), allocator, text) ||
           (length >= TENSOR_NAME && engine_fail(o->why, "a tensor's name is too long: %s", name));
}

int ort_read_info(struct ort *o, const void *info, struct tensor *t)
{
    size_t rank = 0;
    if (info == NULL) return engine_fail(o->why, "\"%.100s\" is not a tensor", t->name);
    if (ORT_FAILS(o, "reading a type", ORT_ELEMENT_TYPE, (const void *, int *), info, &t->type) ||
        ORT_FAILS(o, "reading a shape", ORT_RANK, (const void *, size_t *), info, &rank))
        return 1;
    if (rank > TENSOR_RANK)
        return engine_fail(o->why, "\"%.100s\" has more than %d dimensions", t->name, TENSOR_RANK);
    t->rank = rank > 0 ? (int)rank : -1; /* a shape that is not known has 0 dimensions */
    return ORT_FAILS(o, "reading a shape", ORT_SIZES, (const void *, int64_t *, size_t), info,
                     t->size, rank);
}

/* A tensor but for its name. */
static int read_tensor(struct ort *o, int type, size_t index, struct tensor *t)
{
    void *of_type = NULL;
    const void *info = NULL;
    const int bad = ORT_FAILS(o, "reading a type", type, (const void *, size_t, void **),
                              o->session, index, &of_type) ||
                    ORT_FAILS(o, "reading a type", ORT_TENSOR_OF_TYPE,
                              (const void *, const void **), of_type, &info) ||
                    ort_read_info(o, info, t);
    ort_release(o, ORT_RELEASE_TYPE, of_type);
    return bad;
}

/* The names of all inputs or outputs. */
static int read_names(struct ort *o, int counter, int place, char names[][TENSOR_NAME],
                      size_t *count)
{
    if (ORT_FAILS(o, "counting tensors", counter, (const void *, size_t *), o->session, count))
        return 1;
    if (*count > MOST_TENSORS)
        return engine_fail(o->why, "the model has more than %d inputs or outputs", MOST_TENSORS);
    for (size_t i = 0; i < *count; i++)
        if (read_name(o, place, i, names[i])) return 1;
    return 0;
}

int ort_wrap(struct ort *o, const void *data, const struct tensor *t, void **value)
{
    size_t bytes = tensor_bytes(t->type);
    for (int i = 0; i < t->rank; i++) bytes *= (size_t)t->size[i];
    return ORT_FAILS(o, "wrapping an array", ORT_CREATE_TENSOR_WITH_DATA,
                     (const void *, const void *, size_t, const int64_t *, size_t, int, void **),
                     o->memory, data, bytes, t->size, (size_t)t->rank, t->type, value);
}

/* ---- constants */
/* Writes a number in a type, and returns its bytes; 0 where it cannot be written exactly, or for
 * floats to rounding. */
static size_t put_number(int type, double v, void *out)
{
    union {
        float f;
        double d;
        int32_t i;
        int64_t l;
        uint8_t b;
    } n;
    const int whole = v == floor(v) && fabs(v) <= 9007199254740992.0; /* 2^53 */
    if (type == TENSOR_DOUBLE) n.d = v;
    else if (type == TENSOR_FLOAT && fabs(v) <= (double)FLT_MAX) n.f = (float)v;
    else if (type == TENSOR_INT32 && whole && fabs(v) <= 2147483647.0) n.i = (int32_t)v;
    else if (type == TENSOR_INT64 && whole) n.l = (int64_t)v;
    else if (type == TENSOR_BOOL && (v == 0.0 || v == 1.0)) n.b = (uint8_t)v;
    else return 0;
    memcpy(out, &n, tensor_bytes(type));
    return tensor_bytes(type);
}

/* The decimal mark is a point, whatever locale the program has set. */
static double number_of(const char *text, const char **end)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t theirs = plain ? uselocale(plain) : (locale_t)0;
    char *stopped = (char *)text;
    const double v = plain ? strtod(text, &stopped) : NAN;
    *end = stopped;
    if (plain) {
        uselocale(theirs);
        freelocale(plain);
    }
    return v;
}

/* Fills the memory of a constant with its number, in all places of its tensor. */
static int fill(struct ort *o, struct ort_constant *c, const struct tensor *t, const char *number)
{
    char text[TENSOR_TEXT], one[8];
    const char *end = NULL;
    size_t count = 1;
    const double v = number_of(number, &end);
    if (*number == '\0' || *end != '\0' || !isfinite(v))
        return engine_fail(o->why, "the constant %.60s=%.60s is no finite number", t->name, number);
    for (int i = 0; i < t->rank; i++) {
        if (t->size[i] < 1 || (size_t)t->size[i] > MOST_NUMBERS / count)
            return engine_fail(o->why,
                               "the model's input %s has unknown or too large dimensions: fix "
                               "them in the file, or make a constant of it there",
                               tensor_text(t, text));
        count *= (size_t)t->size[i];
    }
    const size_t bytes = put_number(t->type, v, one);
    if (bytes == 0)
        return engine_fail(o->why,
                           "the model's input %s cannot hold %.40s: it takes %s, and constants can "
                           "be float32, float64, int32, int64 and bool",
                           tensor_text(t, text), number, tensor_type(t->type));
    c->data = malloc(count * bytes);
    if (c->data == NULL) return engine_fail(o->why, "no memory for a constant");
    for (size_t i = 0; i < count; i++) memcpy((char *)c->data + i * bytes, one, bytes);
    return 0;
}

static int make_constant(struct ort *o, size_t index, const char *name, const char *number)
{
    struct ort_constant *c = &o->constant[o->constants++];
    struct tensor t = {.rank = 0};
    memcpy(t.name, name, sizeof t.name);
    memcpy(c->name, name, sizeof c->name);
    if (read_tensor(o, ORT_INPUT_TYPE, index, &t)) return 1;
    if (t.rank < 0) t.rank = 0; /* a number */
    return fill(o, c, &t, number) || ort_wrap(o, c->data, &t, &c->value) ||
           ORT_FAILS(o, "binding a constant", ORT_BIND_INPUT, (void *, const char *, const void *),
                     o->binding, c->name, c->value);
}

/* The text behind "name=", or NULL. */
static const char *number_for(const struct engine_options *options, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < options->constant_count; i++)
        if (strncmp(options->constants[i], name, length) == 0 &&
            options->constants[i][length] == '=')
            return options->constants[i] + length + 1;
    return NULL;
}

/* The input without a constant is the one that varies. */
static int read_inputs(struct ort *o, const struct engine_options *options)
{
    char names[MOST_TENSORS][TENSOR_NAME], list[200] = "";
    size_t count = 0, left = 0, varies = 0;
    if (read_names(o, ORT_INPUT_COUNT, ORT_INPUT_NAME, names, &count)) return 1;
    for (size_t i = 0; i < count; i++) {
        const char *number = number_for(options, names[i]);
        if (number != NULL && make_constant(o, i, names[i], number)) return 1;
        if (number != NULL) continue;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s\"%.40s\"", left > 0 ? ", " : "", names[i]);
        left++;
        varies = i;
    }
    const size_t unused = options->constant_count - o->constants;
    if (left != 1 || unused > 0)
        return engine_fail(o->why,
                           "the model has %zu inputs without a constant (%s), and %zu constants "
                           "that name no input, or one twice: give name=number for all inputs but "
                           "the one that varies",
                           left, list, unused);
    memcpy(o->input.t.name, names[varies], TENSOR_NAME);
    return read_tensor(o, ORT_INPUT_TYPE, varies, &o->input.t);
}

static int read_output(struct ort *o, const struct engine_options *options)
{
    char names[MOST_TENSORS][TENSOR_NAME];
    const char *list[MOST_TENSORS];
    size_t count = 0;
    if (read_names(o, ORT_OUTPUT_COUNT, ORT_OUTPUT_NAME, names, &count)) return 1;
    for (size_t i = 0; i < count; i++) list[i] = names[i];
    const int chosen = tensor_choose(options, list, count, o->why);
    if (chosen < 0) return 1;
    memcpy(o->output.t.name, names[chosen], TENSOR_NAME);
    return read_tensor(o, ORT_OUTPUT_TYPE, (size_t)chosen, &o->output.t);
}

int ort_read_tensors(struct ort *o, const struct engine_options *options)
{
    return read_inputs(o, options) || read_output(o, options);
}
