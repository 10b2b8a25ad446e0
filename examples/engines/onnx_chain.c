#include "onnx_chain.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* An .onnx file is one protobuf message: fields of (number, wire type) and a value: a varint, or a
 * counted run of bytes that may be a message again. The numbers used here, by message. */
enum { MODEL_GRAPH = 7 };
enum { GRAPH_NODE = 1, GRAPH_CONSTANT = 5 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OPERATOR = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_INTEGER = 3, ATTRIBUTE_INTEGERS = 8 };
enum {
    TENSOR_SIZES = 1,
    TENSOR_TYPE = 2,
    TENSOR_NAME = 8,
    TENSOR_BYTES = 9,
    TYPE_FLOAT = 1,
    TYPE_INT64 = 7
};
enum { MOST_SIZES = 4, MOST_INPUTS = 3, MOST_CONSTANTS = 64 };
#define MOST_ELEMENTS ((size_t)1 << 28)
#define MOST_BYTES ((long)4 * (1 << 28)) /* of a file */
#define MOST_BETWEEN ((size_t)1 << 22)   /* numbers of a row between layers, or under all windows */

struct bytes {
    const unsigned char *at, *end;
};

struct field {
    uint64_t number, value; /* value: of a varint */
    struct bytes bytes;     /* of a counted run, else empty */
};

struct tensor {
    struct bytes name, data;
    uint64_t type;
    size_t rank, sizes[MOST_SIZES], elements;
};

struct node {
    struct bytes operator, output, input[MOST_INPUTS];
    size_t inputs;
    size_t kernel, stride, pad, transposed;
};

struct reader {
    struct tensor constant[MOST_CONSTANTS];
    size_t constants;
    struct bytes last; /* name of the value that the chain has reached */
    struct chain *chain;
    const char *wrong;
};

static int varint(struct bytes *b, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && b->at < b->end; shift += 7) {
        const unsigned char byte = *b->at++;
        *value |= (uint64_t)(byte & 127u) << shift;
        if (byte < 128u) return 1;
    }
    return 0;
}

/* The next field: 1; the end: 0; damage: -1. */
static int next(struct bytes *b, struct field *f)
{
    uint64_t key, size = 0;
    memset(f, 0, sizeof *f);
    if (b->at == b->end) return 0;
    if (!varint(b, &key)) return -1;
    f->number = key >> 3;
    switch (key & 7u) {
    case 0: return varint(b, &f->value) ? 1 : -1;
    case 1: size = 8; break;
    case 5: size = 4; break;
    case 2:
        if (varint(b, &size)) break;
        return -1;
    default: return -1;
    }
    if (size > (uint64_t)(b->end - b->at)) return -1;
    f->bytes.at = b->at;
    f->bytes.end = b->at += size;
    return 1;
}

static int equal(struct bytes a, struct bytes b)
{
    const size_t length = (size_t)(a.end - a.at);
    return length == (size_t)(b.end - b.at) && (length == 0 || memcmp(a.at, b.at, length) == 0);
}

static int is(struct bytes a, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(a.end - a.at) == length && memcmp(a.at, text, length) == 0;
}

static int refuse(struct reader *r, const char *wrong)
{
    if (r->wrong == NULL) r->wrong = wrong;
    return 1;
}

/* A repeated integer is stored as one per field, or packed into a run of varints. */
static int integers(const struct field *f, uint64_t *list, size_t *count, size_t most)
{
    struct bytes b = f->bytes;
    if (b.at == NULL) return *count < most ? (list[(*count)++] = f->value, 0) : 1;
    while (b.at < b.end)
        if (*count == most || !varint(&b, &list[(*count)++])) return 1;
    return 0;
}

static int read_constant(struct reader *r, struct bytes b)
{
    struct field f;
    struct tensor t = {.elements = 1};
    uint64_t sizes[MOST_SIZES];
    int more;
    while ((more = next(&b, &f)) > 0) switch (f.number) {
        case TENSOR_SIZES:
            if (integers(&f, sizes, &t.rank, MOST_SIZES))
                return refuse(r, "a constant has too many dimensions");
            break;
        case TENSOR_TYPE: t.type = f.value; break;
        case TENSOR_NAME: t.name = f.bytes; break;
        case TENSOR_BYTES: t.data = f.bytes; break;
        default: break;
        }
    if (more < 0 || r->constants == MOST_CONSTANTS)
        return refuse(r, "damaged, or too many constants");
    for (size_t i = 0; i < t.rank; i++) {
        if (sizes[i] == 0 || sizes[i] > MOST_ELEMENTS / t.elements)
            return refuse(r, "a constant is empty or too large");
        t.sizes[i] = (size_t)sizes[i];
        t.elements *= t.sizes[i];
    }
    if ((size_t)(t.data.end - t.data.at) != t.elements * (t.type == TYPE_FLOAT ? 4u : 8u))
        return refuse(r, "a constant is not stored as raw float32 or int64");
    r->constant[r->constants++] = t;
    return 0;
}

static int read_attribute(struct reader *r, struct bytes b, struct node *n)
{
    struct field f;
    struct bytes name = {NULL, NULL};
    uint64_t list[4] = {0, 0, 0, 0};
    size_t count = 0;
    int more;
    while ((more = next(&b, &f)) > 0) {
        if (f.number == ATTRIBUTE_NAME) name = f.bytes;
        else if ((f.number == ATTRIBUTE_INTEGER || f.number == ATTRIBUTE_INTEGERS) &&
                 integers(&f, list, &count, 4))
            return refuse(r, "an attribute is too long");
    }
    if (more < 0) return refuse(r, "a damaged attribute");
    for (size_t i = 1; i < count; i++)
        if (list[i] != list[0])
            return refuse(r, "kernels, strides and paddings must be the same in both directions");
    if (list[0] > 64) return refuse(r, "an attribute is too large");
    if (name.at != NULL && is(name, "kernel_shape")) n->kernel = (size_t)list[0];
    else if (name.at != NULL && is(name, "strides")) n->stride = (size_t)list[0];
    else if (name.at != NULL && is(name, "pads")) n->pad = (size_t)list[0];
    else if (name.at != NULL && is(name, "transB")) n->transposed = (size_t)list[0];
    else if (name.at == NULL || !(is(name, "axis") || (is(name, "group") && list[0] == 1) ||
                                  (is(name, "dilations") && list[0] == 1)))
        return refuse(r, "an attribute that is not known");
    return 0;
}

static int read_node(struct reader *r, struct bytes b, struct node *n)
{
    struct field f;
    int more;
    memset(n, 0, sizeof *n);
    n->stride = 1;
    while ((more = next(&b, &f)) > 0) {
        if (f.number == NODE_INPUT && n->inputs < MOST_INPUTS) n->input[n->inputs++] = f.bytes;
        else if (f.number == NODE_OUTPUT) n->output = f.bytes;
        else if (f.number == NODE_OPERATOR) n->operator= f.bytes;
        else if (f.number == NODE_ATTRIBUTE && read_attribute(r, f.bytes, n)) return 1;
    }
    if (more < 0 || n->inputs == 0 || n->operator.at == NULL || n->output.at == NULL)
        return refuse(r, "a damaged node");
    return r->last.at != NULL && !equal(n->input[0], r->last) ? refuse(r, "the network is no chain")
                                                              : 0;
}

static const struct tensor *constant(const struct reader *r, const struct node *n, size_t input,
                                     uint64_t type, size_t rank)
{
    for (size_t i = 0; input < n->inputs && i < r->constants; i++)
        if (equal(r->constant[i].name, n->input[input]))
            return r->constant[i].type == type && r->constant[i].rank == rank ? &r->constant[i]
                                                                              : NULL;
    return NULL;
}

static float *copied(const struct tensor *t)
{
    float *copy = malloc(t->elements * sizeof *copy);
    if (copy != NULL) memcpy(copy, t->data.at, t->elements * sizeof *copy);
    return copy;
}

static int add_layer(struct reader *r, const struct node *n, int dense)
{
    struct chain *c = r->chain;
    const struct tensor *weight = constant(r, n, 1, TYPE_FLOAT, dense ? 2 : 4),
                        *bias = constant(r, n, 2, TYPE_FLOAT, 1);
    if (c->layers == CHAIN_LAYERS || weight == NULL || bias == NULL ||
        bias->sizes[0] != weight->sizes[0])
        return refuse(r, "a layer without weights and biases of its own, or too many layers");
    if (dense ? n->transposed != 1
              : n->kernel == 0 || n->stride == 0 || weight->sizes[2] != n->kernel ||
                    weight->sizes[3] != n->kernel)
        return refuse(r, "a layer whose weights are laid out otherwise");
    struct chain_layer *l = &c->layer[c->layers++];
    *l = (struct chain_layer){.in = weight->sizes[1],
                              .out = weight->sizes[0],
                              .kernel = dense ? 0 : n->kernel,
                              .stride = n->stride,
                              .pad = n->pad,
                              .weight = copied(weight),
                              .bias = copied(bias)};
    return l->weight == NULL || l->bias == NULL ? refuse(r, "no memory") : 0;
}

static int set_image(struct reader *r, const struct node *n)
{
    const struct tensor *shape = constant(r, n, 1, TYPE_INT64, 1);
    int64_t sizes[4];
    if (shape == NULL || shape->elements != 4 || r->chain->layers > 0)
        return refuse(r, "a Reshape other than of the input to images");
    memcpy(sizes, shape->data.at, sizeof sizes);
    for (int i = 1; i < 4; i++)
        if (sizes[i] < 1 || sizes[i] > 4096) return refuse(r, "images of an unusual size");
    r->chain->channels = (size_t)sizes[1];
    r->chain->height = (size_t)sizes[2];
    r->chain->width = (size_t)sizes[3];
    return 0;
}

static int add_node(struct reader *r, const struct node *n)
{
    r->last = n->output;
    if (is(n->operator, "Reshape")) return set_image(r, n);
    if (is(n->operator, "Conv") || is(n->operator, "Gemm"))
        return add_layer(r, n, is(n->operator, "Gemm"));
    if (is(n->operator, "Relu") && r->chain->layers > 0) {
        r->chain->layer[r->chain->layers - 1].relu = 1;
        return 0;
    }
    return is(n->operator, "Flatten") ? 0 : refuse(r, "an operator that is not known");
}

/* Every window of a convolution must have a pixel: with padding as wide as the kernel some have
 * none. The values between two layers must not be too many. None of these products overflows. */
static int fits(const struct chain_layer *l, size_t height, size_t width)
{
    const size_t high = height + 2 * l->pad, wide = width + 2 * l->pad;
    if (l->pad >= l->kernel || high < l->kernel || wide < l->kernel) return 0;
    const size_t rows = (high - l->kernel) / l->stride + 1,
                 columns = (wide - l->kernel) / l->stride + 1;
    const size_t window = l->in * l->kernel * l->kernel, most = l->out > window ? l->out : window;
    return rows * columns <= MOST_BETWEEN / most;
}

/* The widths must follow from one another; dense layers come last. */
static int consistent(struct reader *r)
{
    const struct chain *c = r->chain;
    size_t channels = c->channels, height = c->height, width = c->width;
    int dense = 0;
    for (size_t i = 0; i < c->layers; i++) {
        const struct chain_layer *l = &c->layer[i];
        if (l->kernel > 0) {
            if (dense || l->in != channels || !fits(l, height, width))
                return refuse(r, "a convolution that does not fit");
            height = (height + 2 * l->pad - l->kernel) / l->stride + 1;
            width = (width + 2 * l->pad - l->kernel) / l->stride + 1;
        } else {
            if (l->in != channels * height * width || l->in > MOST_BETWEEN || l->out > MOST_BETWEEN)
                return refuse(r, "a dense layer that does not fit");
            dense = 1;
            height = width = 1;
        }
        channels = l->out;
    }
    return channels == 0 || c->layers == 0 ? refuse(r, "no layers") : 0;
}

static int read_graph(struct reader *r, struct bytes graph)
{
    struct field f;
    struct node n;
    struct bytes b = graph;
    int more;
    while ((more = next(&b, &f)) > 0)
        if (f.number == GRAPH_CONSTANT && read_constant(r, f.bytes)) return 1;
    for (b = graph; more == 0 && next(&b, &f) > 0;)
        if (f.number == GRAPH_NODE && (read_node(r, f.bytes, &n) || add_node(r, &n))) return 1;
    return more < 0 ? refuse(r, "a damaged file") : consistent(r);
}

static unsigned char *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    long length = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) length = ftell(file);
    if (length > 0 && length <= MOST_BYTES && fseek(file, 0, SEEK_SET) == 0)
        data = malloc((size_t)length);
    if (data != NULL && fread(data, 1, (size_t)length, file) != (size_t)length) {
        free(data);
        data = NULL;
    }
    if (file != NULL) fclose(file);
    *size = data != NULL ? (size_t)length : 0;
    return data;
}

/* The last field of that number, as protobuf requires. */
static int find_graph(struct bytes model, struct bytes *graph)
{
    struct field f;
    int more;
    while ((more = next(&model, &f)) > 0)
        if (f.number == MODEL_GRAPH) *graph = f.bytes;
    return more == 0 && graph->at != NULL;
}

int chain_read(const char *path, struct chain *chain, char *why)
{
    struct reader r = {.chain = chain};
    struct bytes graph = {NULL, NULL};
    size_t size;
    unsigned char *data = read_all(path, &size);
    memset(chain, 0, sizeof *chain);
    if (data == NULL) {
        snprintf(why, ENGINE_WHY, "%s cannot be read", path);
        return 1;
    }
    const struct bytes model = {data, data + size};
    const int bad = find_graph(model, &graph) ? read_graph(&r, graph)
                                              : refuse(&r, "no model in it");
    free(data);
    if (bad) {
        chain_free(chain);
        snprintf(why, ENGINE_WHY, "%s: %s", path, r.wrong);
    }
    return bad;
}

void chain_free(struct chain *chain)
{
    for (size_t i = 0; i < chain->layers; i++) {
        free(chain->layer[i].weight);
        free(chain->layer[i].bias);
    }
    chain->layers = 0;
}
