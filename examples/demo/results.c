#include "results.h"

#include <math.h>
#include <stdlib.h>

int results_open(struct results *r, const struct settings *set, const struct images *images)
{
    *r = (struct results){set, images, calloc(set->sigmas * images->count, sizeof *r->record)};
    return r->record == NULL;
}

void results_close(struct results *r)
{
    free(r->record);
}

const struct record *results_record(const struct results *r, size_t sigma, size_t image)
{
    return &r->record[sigma * r->images->count + image];
}

double results_mean(const struct results *r, size_t sigma, size_t certificate)
{
    double sum = 0.0;
    for (size_t i = 0; i < r->images->count; i++)
        sum += results_record(r, sigma, i)->certificate[certificate].radius;
    return sum / (double)r->images->count;
}

size_t results_best_sigma(const struct results *r, size_t certificate)
{
    size_t best = 0;
    for (size_t s = 1; s < r->set->sigmas; s++)
        if (results_mean(r, s, certificate) > results_mean(r, best, certificate)) best = s;
    return best;
}

double results_best(const struct results *r, size_t certificate)
{
    return results_mean(r, results_best_sigma(r, certificate), certificate);
}

double results_paper_best(const struct results *r)
{
    double best = 0.0;
    for (size_t k = 0; k < QUESTIONS; k++)
        if (questions[k].method == CERTREG_METHOD_PAPER) best = fmax(best, results_best(r, k));
    return best;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void results_sort(double *list, size_t count)
{
    qsort(list, count, sizeof *list, ascending);
}

static double error_of(const struct results *r, size_t sigma, size_t image, size_t question)
{
    const double angle = results_record(r, sigma, image)->certificate[question].prediction;
    return fabs(remainder(angle - r->images->degrees[image], 360.0));
}

double results_error(const struct results *r, size_t sigma, size_t question)
{
    double sum = 0.0;
    for (size_t i = 0; i < r->images->count; i++) sum += error_of(r, sigma, i, question);
    return sum / (double)r->images->count;
}

double results_median_error(const struct results *r, size_t sigma, size_t question)
{
    const size_t count = r->images->count;
    double *sorted = malloc(count * sizeof *sorted), middle = NAN;
    for (size_t i = 0; sorted != NULL && i < count; i++)
        sorted[i] = error_of(r, sigma, i, question);
    if (sorted != NULL) {
        results_sort(sorted, count);
        middle = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    }
    free(sorted);
    return middle;
}
