/* What the shapes of a model's tensors mean for rows of numbers. */
#include <stdio.h>
#include <string.h>

#include "adapter.h"

const char *tensor_type(int type)
{
    static const char *const names[] = {"nothing", "float32", "uint8",  "int8",   "uint16",
                                        "int16",   "int32",   "int64",  "text",   "bool",
                                        "float16", "float64", "uint32", "uint64", "complex",
                                        "complex", "bfloat16"};
    const int known = type > 0 && type < (int)(sizeof names / sizeof *names);
    return known ? names[type] : "elements of another type";
}

size_t tensor_bytes(int type)
{
    if (type == TENSOR_BOOL) return 1;
    return type == TENSOR_FLOAT || type == TENSOR_INT32 ? 4 : 8;
}

const char *tensor_text(const struct tensor *t, char text[TENSOR_TEXT])
{
    int n = snprintf(text, TENSOR_TEXT, "\"%.100s\" [", t->name);
    for (int i = 0; i < t->rank; i++) {
        char size[24] = "?";
        if (t->size[i] >= 0) snprintf(size, sizeof size, "%lld", (long long)t->size[i]);
        n += snprintf(text + n, TENSOR_TEXT - (size_t)n, "%s%.16s", i > 0 ? ", " : "", size);
    }
    snprintf(text + n, TENSOR_TEXT - (size_t)n, "%s]", t->rank < 0 ? "of unknown rank" : "");
    return text;
}

static int check_type(const struct tensor *t, const char *which, char *why)
{
    char text[TENSOR_TEXT];
    if (t->type == TENSOR_FLOAT || (t->doubles && t->type == TENSOR_DOUBLE)) return 0;
    return engine_fail(why, "the model's %s %s holds %s, not float32: put a cast into the model",
                       which, tensor_text(t, text), tensor_type(t->type));
}

/* Reads "3x224x224". Returns the number of dimensions, or -1. */
static int read_shape(const char *shape, int64_t size[TENSOR_RANK])
{
    int rank = 0, used = 0;
    long long number;
    while (rank < TENSOR_RANK - 1 && sscanf(shape, "%10lld%n", &number, &used) == 1) {
        if (number < 1 || number > MOST_NUMBERS) return -1;
        size[rank++] = number;
        shape += used;
        if (*shape == '\0') return rank;
        if (*shape++ != 'x') return -1;
    }
    return -1;
}

/* Fills what the input leaves open. */
static int fill_shape(const char *shape, struct tensor *t, char *why)
{
    int64_t size[TENSOR_RANK];
    char text[TENSOR_TEXT];
    const int rank = read_shape(shape, size);
    if (rank < 0)
        return engine_fail(why, "the shape %.60s is not of the form 3x224x224: up to %d sizes",
                           shape, TENSOR_RANK - 1);
    if (t->rank < 0) {
        t->rank = 1 + rank;
        t->size[0] = -1;
        memset(t->size + 1, 0xff, (TENSOR_RANK - 1) * sizeof *size); /* all -1 */
    }
    int differs = t->rank != 1 + rank;
    for (int i = 0; i < rank && !differs; i++) {
        differs = t->size[1 + i] >= 0 && t->size[1 + i] != size[i];
        t->size[1 + i] = size[i];
    }
    return !differs ? 0
                    : engine_fail(why,
                                  "the shape %.60s of a row does not fit the model's input %s, "
                                  "whose first dimension is the batch",
                                  shape, tensor_text(t, text));
}

/* The product of all dimensions from `first` on; 0 if one is not known, -1 if one is 0 or the
 * product too large. */
static int64_t numbers_from(int first, const struct tensor *t)
{
    int64_t product = 1;
    for (int i = first; i < t->rank; i++)
        if (t->size[i] < 0) return 0;
    for (int i = first; i < t->rank; i++) {
        if (t->size[i] == 0 || t->size[i] > MOST_NUMBERS / product) return -1;
        product *= t->size[i];
    }
    return product;
}

int tensor_input(const struct engine_options *options, struct tensor *t, struct engine *out)
{
    char text[TENSOR_TEXT];
    if (check_type(t, "input", out->why)) return ENGINE_FAILED;
    if (options->shape != NULL && fill_shape(options->shape, t, out->why)) return ENGINE_FAILED;
    const int64_t numbers = t->rank > 0 ? numbers_from(1, t) : 0;
    if (t->rank == 0 || numbers < 0 || (t->rank > 0 && t->size[0] == 0) ||
        (numbers > 0 && t->size[0] > MOST_NUMBERS / numbers))
        return engine_fail(out->why,
                           "the model's input %s cannot hold rows: its first dimension must be the "
                           "batch, none may be 0, and all together at most 2^30 numbers",
                           tensor_text(t, text));
    if (numbers == 0)
        return engine_fail(out->why,
                           "the model's input %s has unknown dimensions besides the batch: give "
                           "the shape of a row, such as 3x224x224",
                           tensor_text(t, text));
    out->inputs = (size_t)numbers;
    out->batch = t->size[0] > 0 ? (size_t)t->size[0] : 0;
    return 0;
}

static int no_rows(const struct tensor *t, struct engine *out)
{
    char text[TENSOR_TEXT], rows[48] = "any number of";
    if (out->batch > 0) snprintf(rows, sizeof rows, "%zu", out->batch);
    return engine_fail(out->why,
                       "the model's output %s does not have one row for each row of the input, "
                       "which takes %s rows: export the model with the batch as first dimension "
                       "of both",
                       tensor_text(t, text), rows);
}

/* The numbers of a row of the output, as numbers_from. All of the output belongs to the only row of
 * a batch that the file fixes at 1. */
static int64_t row_numbers(const struct tensor *t, const struct engine *out)
{
    if (out->batch == 1) return numbers_from(0, t);
    return t->rank > 0 ? numbers_from(1, t) : -1;
}

int tensor_output(const struct tensor *t, struct engine *out)
{
    if (check_type(t, "output", out->why)) return ENGINE_FAILED;
    if (t->rank < 0) return 0;
    const int64_t numbers = row_numbers(t, out);
    const int other = out->batch != 1 && t->rank > 0 && t->size[0] >= 0;
    if (numbers < 0 || (other && (size_t)t->size[0] != out->batch)) return no_rows(t, out);
    out->columns = (size_t)numbers;
    return 0;
}

int tensor_ran(const struct tensor *t, size_t rows, struct engine *out)
{
    if (check_type(t, "output", out->why)) return ENGINE_FAILED;
    const int64_t numbers = row_numbers(t, out);
    if (numbers <= 0 || (out->batch != 1 && t->size[0] != (int64_t)rows)) return no_rows(t, out);
    out->columns = (size_t)numbers;
    return 0;
}

int tensor_columns(const struct engine_options *options, struct engine *out, size_t *first)
{
    size_t end = out->columns;
    int used = 0;
    *first = 0;
    if (options->columns == NULL) return 0;
    if (sscanf(options->columns, "%9zu:%9zu%n", first, &end, &used) != 2 ||
        options->columns[used] != '\0' || *first >= end)
        return engine_fail(out->why, "the columns %.40s are not of the form 3:6, which are 3 to 5",
                           options->columns);
    if (end > out->columns)
        return engine_fail(out->why, "the columns %.40s are not there: a row of the output has %zu",
                           options->columns, out->columns);
    out->columns = end - *first;
    return 0;
}

int tensor_choose(const struct engine_options *options, const char *const *names, size_t count,
                  char *why)
{
    char list[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (options->output != NULL && strcmp(names[i], options->output) == 0) return (int)i;
        if (used < sizeof list - 60)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s\"%.50s\"",
                                     i > 0 ? ", " : "", names[i]);
    }
    if (options->output == NULL && count == 1) return 0;
    if (count == 0) engine_fail(why, "the model has no outputs");
    else if (options->output != NULL)
        engine_fail(why, "the model has no output \"%.60s\", but %s", options->output, list);
    else engine_fail(why, "the model has %zu outputs (%s): name the one to certify", count, list);
    return -1;
}
