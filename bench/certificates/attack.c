/* How tight the certificates are: for each image the least shift that was found to move T out of
 * the tolerance, against the certified radius. Every such shift is an upper bound of any sound
 * radius, up to the error of the samples that judge it. */
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
static const enum study_ask attacked[ATTACKED] = {ASK_MEDIAN, ASK_MEDIAN_GRADIENT_FINITE};

struct attack {
    struct lab *lab;
    struct desk record;
    struct ascent ascent;
    struct crowd sift, judge; /* samples that choose among the climbs, and others that say where T
                                 really leaves */
    float *y, *x;             /* a record's outputs; one batch of its inputs */
    FILE *rows;
};

struct outcome {
    double radius, error; /* radius of the attack, and the standard error from the judging sample */
    int side;
    size_t start;
};

/* ---- starts */
/* The direction in which the share beyond grows fastest at z, by the certificate's own samples: the
 * mean of u(y) e. */
static int worst_direction(struct attack *a, const struct target *t, int side, float *direction)
{
    const size_t count = a->record.samples;
    memset(direction, 0, DIGITS_PIXELS * sizeof *direction);
    for (size_t first = 1; first < count; first += LAB_BATCH) {
        const size_t rows = count - first < LAB_BATCH ? count - first : LAB_BATCH;
        if (certreg_estimator_draw(a->record.estimator, first, rows, a->x) != CERTREG_OK) return 1;
        for (size_t r = 0; r < rows; r++)
            if (side * lab_apart(t->prediction, (double)a->y[first + r]) >= lab_tolerance)
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

/* On either side: no direction (the gradient at about z gives one), a random one, the certificate's
 * worst. */
static int set_out(struct attack *a, const struct target *t, size_t image,
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

/* All starts a few steps, then the most promising ones all of them. */
static int climb_all(struct attack *a, const struct target *t, struct climb climb[CLIMBS],
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

/* How far the judging sample's crossing may be from the truth: the error of a share, by how fast
 * the share rises there. */
static int error_at(struct crowd *judge, const struct target *t, const struct climb *c,
                    double radius, double *error)
{
    double below, above;
    if (crowd_ask(judge, t, c->direction, 0.95 * radius, c->side, NULL, &below) ||
        crowd_ask(judge, t, c->direction, 1.05 * radius, c->side, NULL, &above))
        return 1;
    *error = 0.5 / sqrt((double)judge->rows) * 0.1 * radius / fmax(above - below, 1e-6);
    return 0;
}

static int attack_one(struct attack *a, const struct target *t, size_t image, struct outcome *o)
{
    struct climb climb[CLIMBS], *order[CLIMBS], *best = NULL;
    double least = INFINITY;
    if (ascent_begin(&a->ascent, t, image) || set_out(a, t, image, climb) ||
        climb_all(a, t, climb, order) || crowd_draw(&a->sift, t->sigma, LAB_JUDGE, 2 * image) ||
        crowd_draw(&a->judge, t->sigma, LAB_JUDGE, 2 * image + 1))
        return 1;
    for (size_t k = 0; k < FINALISTS; k++) {
        double radius;
        if (crowd_reach(&a->sift, t, order[k]->direction, order[k]->radius, sift_precision,
                        &radius))
            return 1;
        best = radius < least || best == NULL ? order[k] : best;
        least = fmin(least, radius);
    }
    *o = (struct outcome){
        .radius = INFINITY, .side = best->side, .start = (size_t)(best - climb) % STARTS};
    if (isinf(least)) return 0;
    return crowd_reach(&a->judge, t, best->direction, least, judge_precision, &o->radius) ||
           (isfinite(o->radius) && error_at(&a->judge, t, best, o->radius, &o->error));
}

/* ---- all images */
static void close_attack(struct attack *a)
{
    desk_close(&a->record);
    ascent_close(&a->ascent);
    crowd_close(&a->sift);
    crowd_close(&a->judge);
    free(a->x);
    free(a->y);
    if (a->rows != NULL) fclose(a->rows);
}

static int open_attack(struct attack *a)
{
    char path[4096];
    a->x = malloc((size_t)LAB_BATCH * DIGITS_PIXELS * sizeof *a->x);
    a->y = malloc(a->lab->set.samples * sizeof *a->y);
    if (snprintf(path, sizeof path, "%s/bench_attack.csv", a->lab->set.out) < (int)sizeof path)
        a->rows = fopen(path, "w");
    if (a->x == NULL || a->y == NULL || a->rows == NULL) {
        fprintf(stderr, "bench_attack.csv could not be written in %s\n", a->lab->set.out);
        return 1;
    }
    fprintf(a->rows, "image,digit,sigma,prediction,median_finite,median_finite_gradient,attack,"
                     "standard_error,ratio,ratio_gradient,"
                     "side,start\n");
    return desk_open(a->lab, a->lab->set.samples, LAB_BATCH, 0, 0, &a->record) ||
           ascent_open(a->lab, &a->ascent) || crowd_open(a->lab, SIFT_ROWS, &a->sift) ||
           crowd_open(a->lab, JUDGE_ROWS, &a->judge);
}

/* The record of the study where it has that sigma, else a new one. */
static int target_of(struct attack *a, size_t image, struct target *t, double certified[ATTACKED])
{
    const struct settings *set = &a->lab->set;
    certreg_question question[ATTACKED];
    certreg_certificate c[ATTACKED];
    size_t k = 0;
    while (k < set->sigmas && set->sigma[k] != set->attack_sigma) k++;
    for (size_t i = 0; i < ATTACKED; i++) question[i] = study_question(attacked[i]);
    if (desk_record(&a->record, image, set->attack_sigma, LAB_MAIN,
                    k * a->lab->images.count + image) ||
        desk_ask(&a->record, 0, question, ATTACKED, c) || desk_outputs(&a->record, a->y))
        return 1;
    for (size_t i = 0; i < ATTACKED; i++) certified[i] = c[i].radius;
    *t = (struct target){.z = a->lab->images.pixels + image * DIGITS_PIXELS,
                         .sigma = set->attack_sigma,
                         .prediction = c[0].prediction,
                         .radius = c[0].radius > 0.0 ? c[0].radius : c[1].radius};
    return 0;
}

struct tally {                               /* of one certificate */
    size_t attacked, none, lost, violations; /* none: without a radius; lost: no way out was found
                                              */
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

static void add_row(const struct lab *lab, const struct tally *all, const char *name,
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
             all->attacked, lab->set.attack_sigma);
    snprintf(
        r.note, sizeof r.note,
        "%.2f to %.2f, of the means %.3f; %zu violations; %zu not moved out, %zu without a radius",
        all->least, all->most, all->attack / all->certified, all->violations, all->lost, all->none);
    table_add(t, r);
}

static int attack_image(struct attack *a, size_t image, struct tally all[ATTACKED])
{
    static const char *const start[STARTS] = {"gradient", "random", "certificate"};
    struct target t;
    struct outcome o = {.radius = INFINITY};
    double certified[ATTACKED];
    if (target_of(a, image, &t, certified) || (t.radius > 0.0 && attack_one(a, &t, image, &o)))
        return 1;
    for (size_t k = 0; k < ATTACKED; k++) count(&all[k], image, certified[k], &o);
    fprintf(a->rows, "%zu,%d,%g,%.4f,%.6f,%.6f,%.6f,%.6f,%.4f,%.4f,%d,%s\n", image,
            a->lab->images.label[image], t.sigma, t.prediction, certified[0], certified[1],
            o.radius, o.error, o.radius / certified[0], o.radius / certified[1], o.side,
            start[o.start]);
    return fflush(a->rows) != 0;
}

int rows_attack(struct lab *lab, struct table *t)
{
    struct attack a = {.lab = lab};
    struct tally all[ATTACKED] = {{0}};
    int bad = open_attack(&a);
    for (size_t i = 0; i < lab->set.attack_images && !bad; i++) {
        bad = attack_image(&a, i, all);
        lab_progress(lab, "attacks", i + 1, lab->set.attack_images);
    }
    lab->calls += a.ascent.calls;
    close_attack(&a);
    for (size_t k = 0; k < ATTACKED && !bad; k++) add_row(lab, &all[k], study_name[attacked[k]], t);
    return bad;
}
