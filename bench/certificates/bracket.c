/* Row 7: both ends of the truth. The library's own attack, which only calls the network, for three
 * budgets: how far beyond the certified radius is the one at which it proves that T is out? For
 * comparison once more the smallest budget along the direction that the largest one found, as if it
 * had been a white-box gradient; and the forecast that takes no calls. */
#include <certreg/attack.h>
#include <math.h>
#include <stdlib.h>

#include "rows.h"

enum { BUDGETS = 3, DIRECTED = BUDGETS, RUNS };
static const size_t budgets[RUNS] = {2000, 10000, 30000, 2000};
static const double most_ratio[RUNS] = {1.40, 1.33, 1.25, NAN};

struct bracket { /* of the images with a radius */
    certreg_attack *attack;
    FILE *rows;
    double *ratio[RUNS], *forecast; /* to the certified radius, and to that of 30,000 calls */
    size_t certified, broken[RUNS], violations[RUNS];
    int found; /* the last attack has a shift */
};

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, ascending);
    return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}

static int attack_once(struct bracket *b, size_t i, const certreg_question *question, float *shift,
                       certreg_attack_result *r)
{
    float along[DIGITS_PIXELS];
    for (size_t j = 0; j < DIGITS_PIXELS; j++) along[j] = shift[j];
    const certreg_attack_options o = {.struct_size = sizeof o,
                                      .calls = budgets[i],
                                      .alpha = bench_alpha,
                                      .number = i,
                                      .direction = i == DIRECTED && b->found ? along : NULL};
    *r = (certreg_attack_result){.struct_size = sizeof *r};
    const certreg_status status = certreg_attack_run(b->attack, question, &o, shift, r);
    b->found = r->outcome == CERTREG_ATTACK_BROKEN;
    if (status == CERTREG_OK) return 0;
    fprintf(stderr, "\n%s\n", certreg_attack_error(b->attack)->text);
    return 1;
}

static void count(struct bracket *b, double certified, const certreg_attack_result r[RUNS])
{
    for (size_t i = 0; i < RUNS; i++) {
        b->ratio[i][b->certified] = r[i].radius / certified;
        b->broken[i] += r[i].outcome == CERTREG_ATTACK_BROKEN;
        b->violations[i] += r[i].radius < certified;
    }
    b->forecast[b->certified++] = r[0].forecast / r[BUDGETS - 1].radius;
}

static int attack_image(const struct bench_run *run, size_t k, size_t image, struct bracket *b)
{
    const struct settings *set = &run->context->set;
    const certreg_question question = question_of(QUESTION_MEDIAN);
    float shift[DIGITS_PIXELS] = {0};
    certreg_certificate c;
    certreg_attack_result r[RUNS];
    if (bench_run_sample(run, image, set->attack_sigma, NOISE_MAIN,
                         k * run->context->images.count + image) ||
        bench_run_certify(run, 0, &question, 1, &c))
        return 1;
    if (!(c.radius > 0.0)) return 0;
    for (size_t i = 0; i < RUNS; i++)
        if (attack_once(b, i, &question, shift, &r[i])) return 1;
    count(b, c.radius, r);
    fprintf(b->rows, "%zu,%g,%.4f,%.4f,%.4f", image, set->attack_sigma, c.radius, r[0].forecast,
            r[0].cosine);
    for (size_t i = 0; i < RUNS; i++) fprintf(b->rows, ",%.4f", r[i].radius);
    fprintf(b->rows, ",%d\n", r[0].side);
    return fflush(b->rows) != 0;
}

static void add_row(const struct context *context, struct table *t, double *values, size_t n,
                    double target, const char *what, const char *note)
{
    struct table_row r = {.number = "7", .at_most = 1, .target = target, .ours = NAN};
    r.reached = median(values, n), r.reference = NAN;
    snprintf(r.what, sizeof r.what, "%s : median of %zu, sigma %g", what, n,
             context->set.attack_sigma);
    snprintf(r.note, sizeof r.note, "%.2f to %.2f%s", values[0], values[n - 1], note);
    table_add(t, r);
}

static void add_rows(const struct context *context, struct bracket *b, struct table *t)
{
    char what[TABLE_TEXT / 2], note[TABLE_TEXT / 2];
    for (size_t i = 0; i < RUNS; i++) {
        snprintf(what, sizeof what, "broken at to certified, %zu calls%s", budgets[i],
                 i == DIRECTED ? " along a known direction" : "");
        snprintf(note, sizeof note, "; %zu not broken; %zu shorter than certified",
                 b->certified - b->broken[i], b->violations[i]);
        add_row(context, t, b->ratio[i], b->certified, most_ratio[i], what, note);
    }
    add_row(context, t, b->forecast, b->certified, NAN, "forecast to broken at, 30000 calls", "");
}

static int open_attack(const struct bench_run *run, struct bracket *b)
{
    const certreg_attack_plan plan = {.struct_size = sizeof plan,
                                      .max_calls = budgets[BUDGETS - 1]};
    certreg_error why = {.struct_size = sizeof why};
    if (certreg_attack_create(run->estimator, &plan, &why, &b->attack) == CERTREG_OK) return 0;
    fprintf(stderr, "the attack could not start: %s\n", why.text);
    return 1;
}

static int open_bracket(const struct context *context, struct bracket *b)
{
    const size_t n = context->set.attack_images;
    char path[4096];
    int bad = (b->forecast = malloc(n * sizeof *b->forecast)) == NULL;
    for (size_t i = 0; i < RUNS; i++)
        bad |= (b->ratio[i] = malloc(n * sizeof *b->ratio[i])) == NULL;
    if (snprintf(path, sizeof path, "%s/bench_bracket.csv", context->set.out) < (int)sizeof path)
        b->rows = fopen(path, "w");
    if (bad || b->rows == NULL) {
        fprintf(stderr, "bench_bracket.csv could not be written in %s\n", context->set.out);
        return 1;
    }
    return fprintf(b->rows, "image,sigma,certified,forecast,cosine,broken_2000,broken_10000,"
                            "broken_30000,broken_2000_directed,side\n") < 0;
}

static void close_bracket(struct bracket *b)
{
    certreg_attack_destroy(b->attack);
    for (size_t i = 0; i < RUNS; i++) free(b->ratio[i]);
    free(b->forecast);
    if (b->rows != NULL) fclose(b->rows);
}

int rows_bracket(struct context *context, struct table *t)
{
    const struct settings *set = &context->set;
    struct bench_run run = {.context = context};
    struct bracket b = {.certified = 0};
    size_t k = 0;
    while (k < set->sigmas && set->sigma[k] != set->attack_sigma) k++;
    int bad =
        open_bracket(context, &b) ||
        bench_run_open(context, set->samples, BENCH_BATCH, 0, CERTREG_CONSTRAINT_MEAN, &run) ||
        open_attack(&run, &b);
    for (size_t i = 0; i < set->attack_images && !bad; i++) {
        bad = attack_image(&run, k, i, &b);
        show_progress(context, "brackets", i + 1, set->attack_images);
    }
    if (!bad && b.certified > 0) add_rows(context, &b, t);
    close_bracket(&b);
    bench_run_close(&run);
    return bad;
}
