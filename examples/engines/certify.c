/* certify MODEL [OPTION VALUE]... SIGMA TOLERANCE
 *
 *     --input FILE             the input as float32: a .npy file, or bare numbers in the order of
 *                              the machine; without it the input is zero
 *     --samples N              10000 without it
 *     --engine NAME            by the end of MODEL's name without it, see engine.h
 *     --shape 3x224x224        of an input, where the file leaves it open
 *     --output NAME            where there are several
 *     --columns A:B            only columns A to B - 1 of the output
 *     --constant NAME=NUMBER   for each input that does not vary
 *     --no-check               certifies also if outputs depend on other rows of their batch
 *
 * Certifies the median of a model's outputs around one input, and prints prediction and radius, a
 * line for each output: no shift of the input shorter than the radius moves the median by TOLERANCE
 * from the prediction, with an alpha of 0.05 for each line. The noise is the same in each run; a
 * deployment keeps its seed secret. */
#include <certreg/certreg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { HEAD = 10, MOST_CONSTANTS = 16, MOST_SAMPLES = 1 << 30 };

struct request {
    const char *model, *input, *count;
    const char *constants[MOST_CONSTANTS];
    struct engine_options options;
    uint64_t samples;
    double sigma, tolerance;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "certify: %s%s%s\n", what, why != NULL ? ": " : "", why != NULL ? why : "");
    return 1;
}

/* ---- input */
/* Moves behind the head of a .npy file, if this is one. */
static const char *skip_head(FILE *f)
{
    unsigned char head[HEAD];
    char text[4096] = "";
    if (fread(head, 1, HEAD, f) != HEAD || memcmp(head, "\x93NUMPY", 6) != 0) {
        rewind(f);
        return NULL;
    }
    const size_t length = head[8] + 256u * head[9];
    if (head[6] != 1 || length >= sizeof text || fread(text, 1, length, f) != length)
        return "this .npy file has a head that cannot be read";
    return strstr(text, "'descr': '<f4'") == NULL || strstr(text, "'fortran_order': False") == NULL
               ? "this .npy file does not hold float32 in C order: save x.astype('<f4').copy()"
               : NULL;
}

static int read_input(const char *path, float *z, size_t inputs)
{
    char wrong[80];
    FILE *f = fopen(path, "rb");
    if (f == NULL) return fail(path, "the input cannot be opened");
    const char *why = skip_head(f);
    if (why == NULL) {
        const size_t count = fread(z, sizeof *z, inputs, f);
        if (count != inputs || fgetc(f) != EOF) {
            snprintf(wrong, sizeof wrong, "the model needs %zu numbers of float32, the file has %s",
                     inputs, count < inputs ? "fewer" : "more");
            why = wrong;
        }
    }
    fclose(f);
    return why != NULL ? fail(path, why) : 0;
}

/* ---- certificates */
static int print_output(certreg_estimator *e, const struct request *r, size_t output)
{
    const certreg_question q = {
        .struct_size = sizeof q, .output = (int32_t)output, .tolerance = r->tolerance};
    certreg_certificate c = {.struct_size = sizeof c};
    if (certreg_certify(e, r->samples, &q, 1, &c))
        return fail(certreg_estimator_error(e)->text, NULL);
    printf("output %zu: %.6g, radius %.6g%s\n", output, c.prediction, c.radius,
           c.outcome == CERTREG_OUTCOME_ABSTAINED ? " (nothing could be proved)" : "");
    return 0;
}

static int certify(struct engine *engine, const struct request *r, const float *z)
{
    certreg_model m = {.struct_size = sizeof m};
    const certreg_plan p = {.struct_size = sizeof p,
                            .audit = r->options.no_check ? CERTREG_AUDIT_NONE : CERTREG_AUDIT_WHOLE,
                            .max_samples = r->samples,
                            .seed = 42};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    engine_model(engine, &m);
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) return fail(why.text, NULL);
    int bad = certreg_estimator_begin(e, z, r->sigma, 0) != CERTREG_OK;
    if (!bad && p.audit) bad = certreg_model_check(e, m.batch, NULL) != CERTREG_OK; /* random? */
    if (bad) fail(certreg_estimator_error(e)->text, NULL);
    for (size_t k = 0; k < m.outputs && !bad; k++) bad = print_output(e, r, k);
    if (bad && engine->why[0] != '\0') fail(engine->name, engine->why);
    certreg_estimator_destroy(e);
    return bad;
}

static int run(struct engine *engine, const struct request *r)
{
    printf("%s: %zu numbers to %zu, by %s\n", r->model, engine->inputs, engine->columns,
           engine->name);
    float *z = calloc(engine->inputs, sizeof *z);
    int bad = z == NULL ? fail("no memory for the input", NULL) : 0;
    if (!bad && r->input != NULL) bad = read_input(r->input, z, engine->inputs);
    if (!bad) bad = certify(engine, r, z);
    free(z);
    return bad;
}

/* ---- command line */
static int read_number(const char *text, const char *name, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (*text != '\0' && *end == '\0' && isfinite(*out) && *out > 0.0) return 0;
    return fail(name, "it must be a number above 0");
}

static int read_samples(const char *text, uint64_t *out)
{
    double number = 10000.0;
    if (text != NULL && read_number(text, "--samples", &number)) return 1;
    *out = number < (double)MOST_SAMPLES ? (uint64_t)number : MOST_SAMPLES;
    return (double)*out != number ? fail("--samples", "it must be a whole number below 2^30") : 0;
}

/* Where the value of an option goes, or NULL for other words. */
static const char **place_for(const char *word, struct request *r)
{
    const struct {
        const char *name, **value;
    } named[] = {{"--engine", &r->options.engine}, {"--shape", &r->options.shape},
                 {"--output", &r->options.output}, {"--columns", &r->options.columns},
                 {"--input", &r->input},           {"--samples", &r->count}};
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        if (strcmp(word, named[k].name) == 0) return named[k].value;
    if (strcmp(word, "--constant") != 0 || r->options.constant_count == MOST_CONSTANTS) return NULL;
    return &r->constants[r->options.constant_count++];
}

static int tell_usage(void)
{
    return fail("usage: certify MODEL [OPTION VALUE]... SIGMA TOLERANCE, with the options "
                "--input FILE, --samples N, --engine NAME, --shape 3x224x224, --output NAME, "
                "--columns A:B, --constant NAME=NUMBER and --no-check",
                NULL);
}

static int read_words(int count, char **word, struct request *r)
{
    const char *bare[3] = {NULL};
    int bares = 0;
    r->options.constants = r->constants;
    for (int i = 1; i < count; i++) {
        if (strcmp(word[i], "--help") == 0) return tell_usage();
        if (strcmp(word[i], "--no-check") == 0) {
            r->options.no_check = 1;
            continue;
        }
        const char **place = place_for(word[i], r);
        if (place == NULL && bares < 3 && strncmp(word[i], "--", 2) != 0) bare[bares++] = word[i];
        else if (place == NULL || i + 1 == count)
            return fail(word[i], "this is one word too many, or no value follows");
        else *place = word[++i];
    }
    if (bares < 3) return tell_usage();
    r->model = bare[0];
    return read_samples(r->count, &r->samples) || read_number(bare[1], "SIGMA", &r->sigma) ||
           read_number(bare[2], "TOLERANCE", &r->tolerance);
}

int main(int argc, char **argv)
{
    struct request r = {.model = NULL};
    struct engine engine;
    if (read_words(argc, argv, &r)) return 2;
    if (engine_open(r.model, &r.options, &engine)) return fail(engine.why, NULL);
    if (engine.why[0] != '\0') fail(r.model, engine.why); /* a remark */
    engine.why[0] = '\0';
    const int bad = run(&engine, &r);
    engine_close(&engine);
    return fflush(stdout) != 0 ? fail("the results cannot be printed", NULL) : bad;
}
