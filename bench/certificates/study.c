#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plain_median.h"

enum {
    FAMILY_MEDIAN_GRADIENT = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_GRADIENT |
                             CERTREG_CONSTRAINT_RANGE
};

static const struct {
    int32_t statistic, method, center;
    uint32_t constraints;
} asks[ASKS] = {
    [ASK_PAPER] = {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CENTER_TRUE_MEAN,
                   CERTREG_CONSTRAINTS_ECGM},
    [ASK_MEDIAN] = {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, CERTREG_CENTER_PREDICTION, 0},
    [ASK_MEDIAN_GRADIENT_FINITE] = {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE,
                                    CERTREG_CENTER_PREDICTION, FAMILY_MEDIAN_GRADIENT},
    [ASK_HUBER_FINITE] = {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, CERTREG_CENTER_PREDICTION,
                          0},
    [ASK_MEAN_FINITE] = {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE, CERTREG_CENTER_PREDICTION,
                         0},
    [ASK_CIRCULAR_FINITE] = {CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_FINITE,
                             CERTREG_CENTER_PREDICTION, 0},
    [ASK_MEDIAN_ASYMPTOTIC] = {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC,
                               CERTREG_CENTER_PREDICTION, 0},
    [ASK_HUBER_ASYMPTOTIC] = {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC,
                              CERTREG_CENTER_PREDICTION, 0},
    [ASK_MEAN_ASYMPTOTIC] = {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC,
                             CERTREG_CENTER_PREDICTION, 0},
    [ASK_CIRCULAR_ASYMPTOTIC] = {CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_ASYMPTOTIC,
                                 CERTREG_CENTER_PREDICTION, 0},
};

const char *const study_name[COLUMNS] = {"paper (E,C,G)+M",
                                         "median finite",
                                         "median finite gradient",
                                         "Huber finite",
                                         "mean finite",
                                         "circular mean finite",
                                         "median asymptotic",
                                         "Huber asymptotic",
                                         "mean asymptotic",
                                         "circular mean asymptotic",
                                         "plain median pilot",
                                         "plain median same samples",
                                         "median point estimates"};

certreg_question study_question(enum study_ask ask)
{
    return (certreg_question){
        .struct_size = sizeof(certreg_question),
        .statistic = asks[ask].statistic,
        .method = asks[ask].method,
        .center = asks[ask].center,
        .constraints = asks[ask].constraints,
        .tolerance = lab_tolerance,
        .huber_width = asks[ask].statistic == CERTREG_STATISTIC_HUBER ? 0.5 * lab_tolerance : 0.0,
        .alpha = lab_alpha};
}

static double *cell(const struct study *s, size_t sigma, size_t image, size_t column)
{
    return &s->radius[(sigma * s->lab->images.count + image) * COLUMNS + column];
}

static int study_one(struct study *s, const struct desk *desk, size_t sigma, size_t image, float *y)
{
    const double level = s->lab->set.sigma[sigma];
    const size_t at = sigma * s->lab->images.count + image;
    certreg_question question[ASKS];
    certreg_certificate c[ASKS];
    size_t pilot;
    for (size_t k = 0; k < ASKS; k++) question[k] = study_question((enum study_ask)k);
    if (desk_record(desk, image, level, LAB_MAIN, at) || desk_ask(desk, 0, question, ASKS, c) ||
        desk_outputs(desk, y) || desk_pilot(desk, &pilot))
        return 1;
    for (size_t k = 0; k < ASKS; k++) {
        *cell(s, sigma, image, k) = c[k].radius;
        s->refused[k] += c[k].status != CERTREG_OK;
    }
    const size_t count = desk->samples;
    s->prediction[at] = c[ASK_MEDIAN].prediction;
    *cell(s, sigma, image, PLAIN_PILOT) =
        plain_median_radius(y + 1, pilot - 1, y + pilot, count - pilot, level);
    *cell(s, sigma, image, PLAIN_SAME) =
        plain_median_radius(y + 1, count - 1, y + 1, count - 1, level);
    *cell(s, sigma, image, POINT_LIMIT) =
        point_radius(y + pilot, count - pilot, c[ASK_MEDIAN].prediction, level);
    return 0;
}

int study_run(struct study *s, struct lab *lab)
{
    const size_t images = lab->images.count, sigmas = lab->set.sigmas, total = sigmas * images;
    struct desk desk;
    *s = (struct study){.lab = lab};
    s->radius = calloc(total * COLUMNS, sizeof *s->radius);
    s->prediction = calloc(total, sizeof *s->prediction);
    float *y = malloc(lab->set.samples * sizeof *y);
    int bad = s->radius == NULL || s->prediction == NULL || y == NULL ||
              desk_open(lab, lab->set.samples, LAB_BATCH, 0, 0, &desk);
    if (!bad) {
        for (size_t at = 0; at < total && !bad; at++) {
            bad = study_one(s, &desk, at / images, at % images, y);
            lab_progress(lab, "records", at + 1, total);
        }
        desk_close(&desk);
    }
    free(y);
    return bad;
}

void study_close(struct study *s)
{
    free(s->radius);
    free(s->prediction);
}

double study_radius(const struct study *s, size_t sigma, size_t image, size_t column)
{
    return *cell(s, sigma, image, column);
}

double study_mean(const struct study *s, size_t sigma, size_t column)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->lab->images.count; i++) sum += study_radius(s, sigma, i, column);
    return s->refused[column] > 0 ? NAN : sum / (double)s->lab->images.count;
}

size_t study_best(const struct study *s, size_t column)
{
    size_t best = 0;
    for (size_t k = 1; k < s->lab->set.sigmas; k++)
        if (study_mean(s, k, column) > study_mean(s, best, column)) best = k;
    return best;
}

size_t study_best_column(const struct study *s, size_t first, size_t last)
{
    size_t best = first;
    for (size_t k = first; k <= last; k++) {
        const double now = study_mean(s, study_best(s, k), k),
                     before = study_mean(s, study_best(s, best), best);
        if (now > before || isnan(before)) best = k;
    }
    return best;
}

int study_write(const struct study *s, const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        fprintf(stderr, "%s could not be written\n", path);
        return 1;
    }
    fprintf(out, "sigma,image,digit,certificate,radius\n");
    for (size_t k = 0; k < s->lab->set.sigmas; k++)
        for (size_t i = 0; i < s->lab->images.count; i++)
            for (size_t c = 0; c < COLUMNS; c++)
                if (s->refused[c] == 0)
                    fprintf(out, "%g,%zu,%d,\"%s\",%.6f\n", s->lab->set.sigma[k], i,
                            s->lab->images.label[i], study_name[c], study_radius(s, k, i, c));
    return fclose(out) != 0;
}
