/* The input and output of an ONNX file: names, types and shapes. Such a file is a protocol buffer,
 * a list of fields, each with a number and a value; a value may again be such a list. Fields that
 * are not needed are skipped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"

/* Numbers of the fields, from onnx.proto. */
enum { MODEL_GRAPH = 7, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum {
    TENSOR_PROTO_NAME = 8,
    TENSOR_PROTO_LOCATION = 14,
    VALUE_NAME = 1,
    VALUE_TYPE = 2,
    TYPE_TENSOR = 1
};
enum { TENSOR_ELEMENT = 1, TENSOR_SHAPE = 2, SHAPE_DIMENSION = 1, DIMENSION_VALUE = 1 };
enum { VARINT = 0, WORD8 = 1, BYTES = 2, WORD4 = 5 };
enum { MOST_VALUES = 16 };
enum { MOST_STEPS = 100000000 }; /* of finding the constants among the inputs: a second */

struct part {
    const unsigned char *at, *end;
};

struct field {
    uint32_t number;
    uint64_t value;    /* of a varint */
    struct part bytes; /* of a string or of a list */
};

struct values { /* inputs or outputs */
    size_t count;
    struct part part[MOST_VALUES];
};

static int read_varint(struct part *p, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && p->at < p->end; shift += 7) {
        const unsigned char byte = *p->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return 0;
    }
    return 1;
}

/* The next field. Returns 0, 1 if there is none, or -1 if the bytes are no fields. */
static int next_field(struct part *p, struct field *f)
{
    uint64_t key, length;
    if (p->at == p->end) return 1;
    if (read_varint(p, &key) || key >> 3 > UINT32_MAX) return -1;
    *f = (struct field){.number = (uint32_t)(key >> 3)};
    switch (key & 7) {
    case VARINT: return read_varint(p, &f->value) ? -1 : 0;
    case WORD8: length = 8; break;
    case WORD4: length = 4; break;
    case BYTES:
        if (read_varint(p, &length)) return -1;
        break;
    default: return -1;
    }
    if (length > (uint64_t)(p->end - p->at)) return -1;
    f->bytes = (struct part){p->at, p->at + length};
    p->at += length;
    return 0;
}

/* The last field of this number in a list; its bytes are empty if there is none. */
static struct field find(struct part p, uint32_t number)
{
    struct field f, found = {0};
    while (next_field(&p, &f) == 0)
        if (f.number == number) found = f;
    return found;
}

static int same(struct part a, struct part b)
{
    const size_t length = (size_t)(a.end - a.at);
    return length == (size_t)(b.end - b.at) && (length == 0 || memcmp(a.at, b.at, length) == 0);
}

/* Older files list their constants among the inputs. */
static int is_constant(struct part graph, struct part value)
{
    const struct part name = find(value, VALUE_NAME).bytes;
    struct field f;
    while (next_field(&graph, &f) == 0)
        if (f.number == GRAPH_INITIALIZER && same(find(f.bytes, TENSOR_PROTO_NAME).bytes, name))
            return 1;
    return 0;
}

/* OpenCV would take constants that are in another file for empty ones. */
static int has_external(struct part graph)
{
    struct field f;
    while (next_field(&graph, &f) == 0)
        if (f.number == GRAPH_INITIALIZER && find(f.bytes, TENSOR_PROTO_LOCATION).value != 0)
            return 1;
    return 0;
}

static size_t count_fields(struct part p)
{
    struct field f;
    size_t count = 0;
    while (next_field(&p, &f) == 0) count++;
    return count;
}

/* Returns 0, or 1 if the bytes are no graph or have too many inputs or outputs. */
static int list_values(struct part graph, struct values *inputs, struct values *outputs)
{
    const size_t fields = count_fields(graph);
    size_t steps = 0;
    struct part rest = graph;
    struct field f;
    int end;
    while ((end = next_field(&rest, &f)) == 0) {
        if (f.number == GRAPH_INPUT && (steps += fields) > MOST_STEPS) return 1;
        struct values *v = f.number == GRAPH_INPUT    ? inputs
                           : f.number == GRAPH_OUTPUT ? outputs
                                                      : NULL;
        if (v == NULL || (v == inputs && is_constant(graph, f.bytes))) continue;
        if (v->count == MOST_VALUES) return 1;
        v->part[v->count++] = f.bytes;
    }
    return end < 0;
}

static void copy_name(struct part value, char name[TENSOR_NAME])
{
    const struct part text = find(value, VALUE_NAME).bytes;
    const size_t length = (size_t)(text.end - text.at);
    snprintf(name, TENSOR_NAME, "%.*s", (int)(length < TENSOR_NAME ? length : TENSOR_NAME - 1),
             length > 0 ? (const char *)text.at : "");
}

/* Returns 1 if it has too many dimensions. */
static int read_value(struct part value, struct tensor *t)
{
    const struct part tensor = find(find(value, VALUE_TYPE).bytes, TYPE_TENSOR).bytes;
    const struct field shape = find(tensor, TENSOR_SHAPE);
    struct part rest = shape.bytes;
    struct field f;
    *t = (struct tensor){.type = (int)(find(tensor, TENSOR_ELEMENT).value & 0xff), .rank = -1};
    copy_name(value, t->name);
    if (shape.number == 0) return 0;
    for (t->rank = 0; next_field(&rest, &f) == 0;) {
        if (f.number != SHAPE_DIMENSION) continue;
        if (t->rank == TENSOR_RANK) return 1;
        const struct field size = find(f.bytes, DIMENSION_VALUE);
        const int known = size.number != 0 && size.bytes.at == NULL && size.value <= INT32_MAX;
        t->size[t->rank++] = known ? (int64_t)size.value : -1;
    }
    return 0;
}

static int read_graph(struct part graph, const struct engine_options *options, struct tensor *input,
                      struct tensor *output, char *why)
{
    struct values inputs = {0}, outputs = {0};
    char names[MOST_VALUES][TENSOR_NAME];
    const char *list[MOST_VALUES];
    if (graph.at == NULL || list_values(graph, &inputs, &outputs))
        return engine_fail(why, "this is not an ONNX file");
    if (has_external(graph))
        return engine_fail(why, "it keeps constants in other files: save it as one file");
    if (inputs.count != 1)
        return engine_fail(why,
                           "the model has %zu inputs: an engine feeds one, so make constants "
                           "of the others",
                           inputs.count);
    for (size_t i = 0; i < outputs.count; i++) {
        copy_name(outputs.part[i], names[i]);
        list[i] = names[i];
    }
    const int chosen = tensor_choose(options, list, outputs.count, why);
    if (chosen < 0) return ENGINE_FAILED;
    if (read_value(inputs.part[0], input) || read_value(outputs.part[chosen], output))
        return engine_fail(why, "a tensor has more than %d dimensions", TENSOR_RANK);
    return 0;
}

static unsigned char *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long end = -1;
    if (f != NULL && fseek(f, 0, SEEK_END) == 0) end = ftell(f);
    if (end > 0 && fseek(f, 0, SEEK_SET) == 0) bytes = malloc((size_t)end);
    if (bytes != NULL && fread(bytes, 1, (size_t)end, f) != (size_t)end) {
        free(bytes);
        bytes = NULL;
    }
    if (f != NULL) fclose(f);
    *size = bytes != NULL ? (size_t)end : 0;
    return bytes;
}

int onnx_read(const char *model, const struct engine_options *options, struct tensor *input,
              struct tensor *output, char *why)
{
    char said[ENGINE_WHY] = "the file cannot be read";
    size_t size;
    if (engine_find(model, why)) return ENGINE_FAILED;
    unsigned char *bytes = read_all(model, &size);
    int bad = bytes == NULL;
    if (!bad) {
        const struct part all = {bytes, bytes + size};
        bad = read_graph(find(all, MODEL_GRAPH).bytes, options, input, output, said);
    }
    free(bytes);
    return bad ? engine_fail(why, "%.200s: %.300s", model, said) : 0;
}
