#include "radii.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "point_radius.h"

enum {
    MEDIAN_GRADIENT = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_GRADIENT |
                      CERTREG_CONSTRAINT_RANGE
};

static const struct {
    int32_t statistic, method, center;
    uint32_t constraints;
} questions[QUESTIONS] = {
    [QUESTION_PAPER] = {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CENTER_TRUE_MEAN,
                        CERTREG_CONSTRAINTS_ECGM},
    [QUESTION_MEDIAN] = {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, CERTREG_CENTER_PREDICTION,
                         0},
    [QUESTION_MEDIAN_GRADIENT_FINITE] = {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE,
                                         CERTREG_CENTER_PREDICTION, MEDIAN_GRADIENT},
    [QUESTION_HUBER_FINITE] = {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE,
                               CERTREG_CENTER_PREDICTION, 0},
    [QUESTION_MEAN_FINITE] = {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE,
                              CERTREG_CENTER_PREDICTION, 0},
    [QUESTION_CIRCULAR_FINITE] = {CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_FINITE,
                                  CERTREG_CENTER_PREDICTION, 0},
    [QUESTION_MEDIAN_ASYMPTOTIC] = {CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC,
                                    CERTREG_CENTER_PREDICTION, 0},
    [QUESTION_HUBER_ASYMPTOTIC] = {CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC,
                                   CERTREG_CENTER_PREDICTION, 0},
    [QUESTION_MEAN_ASYMPTOTIC] = {CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC,
                                  CERTREG_CENTER_PREDICTION, 0},
    [QUESTION_CIRCULAR_ASYMPTOTIC] = {CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_ASYMPTOTIC,
                                      CERTREG_CENTER_PREDICTION, 0},
};

const char *const column_name[COLUMNS] = {"paper (E,C,G)+M",
                                          "median finite",
                                          "median finite gradient",
                                          "Huber finite",
                                          "mean finite",
                                          "circular mean finite",
                                          "median asymptotic",
                                          "Huber asymptotic",
                                          "mean asymptotic",
                                          "circular mean asymptotic",
                                          "median point estimates"};

certreg_question question_of(enum column column)
{
    return (certreg_question){.struct_size = sizeof(certreg_question),
                              .statistic = questions[column].statistic,
                              .method = questions[column].method,
                              .center = questions[column].center,
                              .constraints = questions[column].constraints,
                              .tolerance = bench_tolerance,
                              .huber_width = questions[column].statistic == CERTREG_STATISTIC_HUBER
                                                 ? 0.5 * bench_tolerance
                                                 : 0.0,
                              .alpha = bench_alpha};
}

static size_t cell(const struct radii *s, size_t sigma, size_t image, size_t column)
{
    return (sigma * s->context->images.count + image) * COLUMNS + column;
}

/* A radius says that the prediction is stable; it is useful where the prediction is right too. */
static void put(struct radii *s, size_t at, size_t image, double radius, double prediction)
{
    const double wrong = degrees_between(prediction, s->context->images.degrees[image]);
    s->radius[at] = radius;
    s->useful[at] = fabs(wrong) <= bench_tolerance ? radius : 0.0;
}

static int radii_one(struct radii *s, const struct bench_run *run, size_t sigma, size_t image,
                     float *y)
{
    const double level = s->context->set.sigma[sigma];
    const size_t at = sigma * s->context->images.count + image;
    certreg_question question[QUESTIONS];
    certreg_certificate c[QUESTIONS];
    size_t pilot;
    for (size_t k = 0; k < QUESTIONS; k++) question[k] = question_of((enum column)k);
    if (bench_run_sample(run, image, level, NOISE_MAIN, at) ||
        bench_run_certify(run, 0, question, QUESTIONS, c) || bench_run_outputs(run, y) ||
        bench_run_pilot(run, &pilot))
        return 1;
    for (size_t k = 0; k < QUESTIONS; k++) {
        put(s, cell(s, sigma, image, k), image, c[k].radius, c[k].prediction);
        s->refused[k] += c[k].status != CERTREG_OK;
    }
    const size_t count = run->samples;
    s->prediction[at] = c[QUESTION_MEDIAN].prediction;
    put(s, cell(s, sigma, image, POINT_LIMIT), image,
        point_radius(y + pilot, count - pilot, s->prediction[at], level), s->prediction[at]);
    return 0;
}

int radii_run(struct radii *s, struct context *context)
{
    const size_t images = context->images.count, sigmas = context->set.sigmas,
                 total = sigmas * images;
    struct bench_run run;
    *s = (struct radii){.context = context};
    s->radius = calloc(total * COLUMNS, sizeof *s->radius);
    s->useful = calloc(total * COLUMNS, sizeof *s->useful);
    s->prediction = calloc(total, sizeof *s->prediction);
    float *y = malloc(context->set.samples * sizeof *y);
    int bad = s->radius == NULL || s->useful == NULL || s->prediction == NULL || y == NULL ||
              bench_run_open(context, context->set.samples, BENCH_BATCH, 0,
                             CERTREG_CONSTRAINTS_ECGM, &run);
    if (!bad) {
        for (size_t at = 0; at < total && !bad; at++) {
            bad = radii_one(s, &run, at / images, at % images, y);
            show_progress(context, "records", at + 1, total);
        }
        bench_run_close(&run);
    }
    free(y);
    return bad;
}

void radii_close(struct radii *s)
{
    free(s->radius);
    free(s->useful);
    free(s->prediction);
}

double radii_get(const struct radii *s, size_t sigma, size_t image, size_t column)
{
    return s->radius[cell(s, sigma, image, column)];
}

static double mean_of(const struct radii *s, const double *of, size_t sigma, size_t column)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->context->images.count; i++) sum += of[cell(s, sigma, i, column)];
    return s->refused[column] > 0 ? NAN : sum / (double)s->context->images.count;
}

double radii_mean(const struct radii *s, size_t sigma, size_t column)
{
    return mean_of(s, s->radius, sigma, column);
}

double radii_useful(const struct radii *s, size_t sigma, size_t column)
{
    return mean_of(s, s->useful, sigma, column);
}

size_t radii_best_sigma(const struct radii *s, size_t column)
{
    size_t best = 0;
    for (size_t k = 1; k < s->context->set.sigmas; k++)
        if (radii_mean(s, k, column) > radii_mean(s, best, column)) best = k;
    return best;
}

size_t radii_best_column(const struct radii *s, size_t first, size_t last)
{
    size_t best = first;
    for (size_t k = first; k <= last; k++) {
        const double now = radii_mean(s, radii_best_sigma(s, k), k),
                     before = radii_mean(s, radii_best_sigma(s, best), best);
        if (now > before || isnan(before)) best = k;
    }
    return best;
}

int radii_write(const struct radii *s, const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        fprintf(stderr, "%s could not be written\n", path);
        return 1;
    }
    fprintf(out, "sigma,image,digit,certificate,radius,useful_radius\n");
    for (size_t k = 0; k < s->context->set.sigmas; k++)
        for (size_t i = 0; i < s->context->images.count; i++)
            for (size_t c = 0; c < COLUMNS; c++)
                if (s->refused[c] == 0)
                    fprintf(out, "%g,%zu,%d,\"%s\",%.6f,%.6f\n", s->context->set.sigma[k], i,
                            s->context->images.label[i], column_name[c], radii_get(s, k, i, c),
                            s->useful[cell(s, k, i, c)]);
    return fclose(out) != 0;
}
