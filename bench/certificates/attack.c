/* Row 8: how tight the certificates are. For each image, the least shift found that moves T out of
 * the tolerance is compared with the certified radius. The norm of every such shift is an upper
 * bound of any sound radius, up to the sampling error of the outputs that judge it. */
#include <certreg/sampling.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ascent.h"
#include "rows.h"

enum {
    STARTS = 3,
    CLIMBS = 2 * STARTS,
    SCREEN_STEPS = 6,
    ALL_STEPS = 40,
    FINALISTS = 2,
    SIFT_ROWS = 1000,
    JUDGE_ROWS = 4000
};
static const double most_ratio = 1.35, first_radius = 1.1, sift_precision = 0.01,
                    judge_precision = 0.004, errors_allowed = 3.0;

/* The certificates that are attacked; the first says where the search begins. */
enum { ATTACKED = 2 };
static const enum column attacked[ATTACKED] = {QUESTION_MEDIAN, QUESTION_MEDIAN_GRADIENT_FINITE};

struct attack {
    struct context *context;
    struct bench_run record;
    struct ascent ascent;
    struct noise_set sift, judge; /* sift chooses among the climbs, judge says where T leaves */
    float *y, *x;                 /* a record's outputs; one batch of its inputs */
    FILE *rows;
};

struct outcome {
    double radius, error; /* of the attack; standard error from the judging samples */
    int side;
    size_t start;
};

/* ---- starts */
/* The direction in which the share of angles beyond the tolerance grows fastest at z, by the
 * certificate's own samples: the mean noise of the samples whose angle lies beyond it. */
static int worst_direction(struct attack *a, const struct objective *t, int side, float *direction)
{
    const size_t count = a->record.samples;
    memset(direction, 0, DIGITS_PIXELS * sizeof *direction);
    for (size_t first = 1; first < count; first += BENCH_BATCH) {
        const size_t rows = count - first < BENCH_BATCH ? count - first : BENCH_BATCH;
        if (certreg_estimator_draw(a->record.estimator, first, rows, a->x) != CERTREG_OK) return 1;
        for (size_t r = 0; r < rows; r++)
            if (side * degrees_between(t->prediction, (double)a->y[first + r]) >= bench_tolerance)
                for (size_t i = 0; i < DIGITS_PIXELS; i++)
                    direction[i] += a->x[r * DIGITS_PIXELS + i] - t->z[i];
    }
    unit_length(direction);
    return 0;
}

static void random_direction(uint64_t seed, float *direction)
{
    for (size_t i = 0; i < DIGITS_PIXELS; i++) {
        double sum = -6.0; /* twelve uniform numbers: normal enough for a direction */
        for (int k = 0; k < 12; k++) sum += digits_uniform(&seed);
        direction[i] = (float)sum;
    }
    unit_length(direction);
}

/* The starts on each side: no direction (the first gradient gives one), a random one, and the
 * certificate's worst. */
static int choose_starts(struct attack *a, const struct objective *t, size_t image,
                         struct climb climb[CLIMBS])
{
    for (size_t k = 0; k < CLIMBS; k++) {
        struct climb *c = &climb[k];
        *c = (struct climb){.side = k < STARTS ? 1 : -1, .radius = first_radius * t->radius};
        if (k % STARTS == 1) random_direction(image * CLIMBS + k, c->direction);
        if (k % STARTS == 2 && worst_direction(a, t, c->side, c->direction)) return 1;
    }
    return 0;
}

/* ---- one image */
static int nearer(const void *a, const void *b)
{
    const struct climb *const *x = a, *const *y = b;
    return ((*x)->radius > (*y)->radius) - ((*x)->radius < (*y)->radius);
}

/* All starts take a few steps, then the best ones go on to the last. */
static int climb_all(struct attack *a, const struct objective *t, struct climb climb[CLIMBS],
                     struct climb *order[CLIMBS])
{
    for (size_t k = 0; k < CLIMBS; k++) {
        order[k] = &climb[k];
        if (ascent_climb(&a->ascent, t, order[k], SCREEN_STEPS, ALL_STEPS)) return 1;
    }
    qsort(order, CLIMBS, sizeof *order, nearer);
    for (size_t k = 0; k < FINALISTS; k++)
        if (ascent_climb(&a->ascent, t, order[k], ALL_STEPS, ALL_STEPS)) return 1;
    return 0;
}

/* The standard error of the radius that the judging samples give: that of a share, divided by how
 * fast the share rises there. */
static int error_at(struct noise_set *judge, const struct objective *t, const struct climb *c,
                    double radius, double *error)
{
    double below, above;
    if (noise_set_evaluate(judge, t, c->direction, 0.95 * radius, c->side, NULL, &below) ||
        noise_set_evaluate(judge, t, c->direction, 1.05 * radius, c->side, NULL, &above))
        return 1;
    *error = 0.5 / sqrt((double)judge->rows) * 0.1 * radius / fmax(above - below, 1e-6);
    return 0;
}

static int attack_one(struct attack *a, const struct objective *t, size_t image, struct outcome *o)
{
    struct climb climb[CLIMBS], *order[CLIMBS], *best = NULL;
    double least = INFINITY;
    if (ascent_begin(&a->ascent, t, image) || choose_starts(a, t, image, climb) ||
        climb_all(a, t, climb, order) ||
        noise_set_draw(&a->sift, t->sigma, NOISE_JUDGE, 2 * image) ||
        noise_set_draw(&a->judge, t->sigma, NOISE_JUDGE, 2 * image + 1))
        return 1;
    for (size_t k = 0; k < FINALISTS; k++) {
        double radius;
        if (noise_set_exit_radius(&a->sift, t, order[k]->direction, order[k]->radius,
                                  sift_precision, &radius))
            return 1;
        best = radius < least || best == NULL ? order[k] : best;
        least = fmin(least, radius);
    }
    *o = (struct outcome){
        .radius = INFINITY, .side = best->side, .start = (size_t)(best - climb) % STARTS};
    if (isinf(least)) return 0;
    return noise_set_exit_radius(&a->judge, t, best->direction, least, judge_precision,
                                 &o->radius) ||
           (isfinite(o->radius) && error_at(&a->judge, t, best, o->radius, &o->error));
}

/* ---- all images */
static void close_attack(struct attack *a)
{
    bench_run_close(&a->record);
    ascent_close(&a->ascent);
    noise_set_close(&a->sift);
    noise_set_close(&a->judge);
    free(a->x);
    free(a->y);
    if (a->rows != NULL) fclose(a->rows);
}

static int open_attack(struct attack *a)
{
    char path[4096];
    a->x = malloc((size_t)BENCH_BATCH * DIGITS_PIXELS * sizeof *a->x);
    a->y = malloc(a->context->set.samples * sizeof *a->y);
    if (snprintf(path, sizeof path, "%s/bench_attack.csv", a->context->set.out) < (int)sizeof path)
        a->rows = fopen(path, "w");
    if (a->x == NULL || a->y == NULL || a->rows == NULL) {
        fprintf(stderr, "bench_attack.csv could not be written in %s\n", a->context->set.out);
        return 1;
    }
    fprintf(a->rows, "image,digit,sigma,prediction,median_finite,median_finite_gradient,attack,"
                     "standard_error,ratio,ratio_gradient,"
                     "side,start\n");
    return bench_run_open(a->context, a->context->set.samples, BENCH_BATCH, 0,
                          CERTREG_CONSTRAINTS_ECGM, &a->record) ||
           ascent_open(a->context, &a->ascent) || noise_set_open(a->context, SIFT_ROWS, &a->sift) ||
           noise_set_open(a->context, JUDGE_ROWS, &a->judge);
}

/* The record that radii.c used, if it has that sigma, else a new one. */
static int objective_of(struct attack *a, size_t image, struct objective *t,
                        double certified[ATTACKED])
{
    const struct settings *set = &a->context->set;
    certreg_question question[ATTACKED];
    certreg_certificate c[ATTACKED];
    size_t k = 0;
    while (k < set->sigmas && set->sigma[k] != set->attack_sigma) k++;
    for (size_t i = 0; i < ATTACKED; i++) question[i] = question_of(attacked[i]);
    if (bench_run_sample(&a->record, image, set->attack_sigma, NOISE_MAIN,
                         k * a->context->images.count + image) ||
        bench_run_certify(&a->record, 0, question, ATTACKED, c) ||
        bench_run_outputs(&a->record, a->y))
        return 1;
    for (size_t i = 0; i < ATTACKED; i++) certified[i] = c[i].radius;
    *t = (struct objective){.z = a->context->images.pixels + image * DIGITS_PIXELS,
                            .sigma = set->attack_sigma,
                            .prediction = c[0].prediction,
                            .radius = c[0].radius > 0.0 ? c[0].radius : c[1].radius};
    return 0;
}

/* Of one certificate. none: images without a radius; lost: no attack was found. */
struct tally {
    size_t attacked, none, lost, violations;
    double ratio, certified, attack, most, least;
};

static void count(struct tally *all, size_t image, double certified, const struct outcome *o)
{
    const double ratio = o->radius / certified;
    if (!(certified > 0.0) || isinf(o->radius)) {
        *(certified > 0.0 ? &all->lost : &all->none) += 1;
        return;
    }
    if (o->radius + errors_allowed * o->error < certified) {
        printf("image %zu: certified %.4f, but an attack of %.4f (standard error %.4f) succeeds\n",
               image, certified, o->radius, o->error);
        all->violations++;
    }
    all->most = all->attacked == 0 ? ratio : fmax(all->most, ratio);
    all->least = all->attacked == 0 ? ratio : fmin(all->least, ratio);
    all->attacked++;
    all->ratio += ratio;
    all->certified += certified;
    all->attack += o->radius;
}

static void add_row(const struct context *context, const struct tally *all, const char *name,
                    struct table *t)
{
    const double n = (double)all->attacked;
    struct table_row r = {.number = "8",
                          .at_most = 1,
                          .target = most_ratio,
                          .reached = all->ratio / n,
                          .ours = all->attack / n,
                          .reference = all->certified / n};
    snprintf(r.what, sizeof r.what, "attack radius : %s, mean of %zu ratios, sigma %g", name,
             all->attacked, context->set.attack_sigma);
    snprintf(r.note, sizeof r.note,
             "%.2f to %.2f, of the means %.3f; %zu violations; %zu without an attack, %zu without "
             "a radius",
             all->least, all->most, all->attack / all->certified, all->violations, all->lost,
             all->none);
    table_add(t, r);
}

static int attack_image(struct attack *a, size_t image, struct tally all[ATTACKED])
{
    static const char *const start[STARTS] = {"gradient", "random", "certificate"};
    struct objective t;
    struct outcome o = {.radius = INFINITY};
    double certified[ATTACKED];
    if (objective_of(a, image, &t, certified) || (t.radius > 0.0 && attack_one(a, &t, image, &o)))
        return 1;
    for (size_t k = 0; k < ATTACKED; k++) count(&all[k], image, certified[k], &o);
    fprintf(a->rows, "%zu,%d,%g,%.4f,%.6f,%.6f,%.6f,%.6f,%.4f,%.4f,%d,%s\n", image,
            a->context->images.label[image], t.sigma, t.prediction, certified[0], certified[1],
            o.radius, o.error, o.radius / certified[0], o.radius / certified[1], o.side,
            start[o.start]);
    return fflush(a->rows) != 0;
}

int rows_attack(struct context *context, struct table *t)
{
    struct attack a = {.context = context};
    struct tally all[ATTACKED] = {{0}};
    int bad = open_attack(&a);
    for (size_t i = 0; i < context->set.attack_images && !bad; i++) {
        bad = attack_image(&a, i, all);
        show_progress(context, "attacks", i + 1, context->set.attack_images);
    }
    context->calls += a.ascent.calls;
    close_attack(&a);
    for (size_t k = 0; k < ATTACKED && !bad; k++)
        add_row(context, &all[k], column_name[attacked[k]], t);
    return bad;
}
