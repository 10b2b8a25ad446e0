#include "results.h"

#include <math.h>
#include <stdlib.h>

static double *radius_of(const struct results *r, size_t sigma, size_t image, size_t question)
{
    return &r->radius[(sigma * r->images->count + image) * QUESTIONS + question];
}

int results_open(struct results *r, const struct images *images, const double *sigma, size_t sigmas)
{
    *r = (struct results){.images = images, .sigmas = sigmas};
    for (size_t s = 0; s < sigmas; s++) r->sigma[s] = sigma[s];
    r->radius = calloc(sigmas * images->count * QUESTIONS, sizeof *r->radius);
    r->error = calloc(sigmas * images->count, sizeof *r->error);
    return r->radius == NULL || r->error == NULL;
}

void results_close(struct results *r)
{
    free(r->radius);
    free(r->error);
}

void results_heading(FILE *rows)
{
    fprintf(rows, "image,class,angle,sigma,prediction,certificate,statistic,constraints,method,"
                  "radius,outcome,n,library_seconds,model_seconds\n");
}

static const char *outcome(const certreg_certificate *c)
{
    if (c->status != CERTREG_OK) return "failed";
    return c->outcome == CERTREG_OUTCOME_CERTIFIED ? "certified"
           : c->outcome == CERTREG_OUTCOME_CAPPED  ? "capped"
                                                   : "abstained";
}

/* Degrees between two directions. */
static double apart(double a, double b)
{
    return fabs(remainder(a - b, 360.0));
}

void results_add(struct results *r, size_t sigma, size_t image, const certreg_certificate *c,
                 double median_seconds, const certreg_run *run, FILE *rows)
{
    const struct images *im = r->images;
    for (size_t k = 0; k < QUESTIONS; k++) {
        *radius_of(r, sigma, image, k) = c[k].radius;
        r->failures += c[k].status != CERTREG_OK;
        fprintf(rows, "%zu,%d,%.3f,%g,%.3f,\"%s\",%s,%u,%s,%.6f,%s,%llu,%.6f,%.6f\n", image,
                im->label[image], im->degrees[image], r->sigma[sigma], c[k].prediction,
                questions[k].name, statistic_name(questions[k].statistic),
                (unsigned)c[k].constraints, method_name(questions[k].method), c[k].radius,
                outcome(&c[k]), (unsigned long long)c[k].samples, run->library_seconds,
                run->model_seconds);
    }
    r->error[sigma * im->count + image] = apart(c[QUESTION_MEDIAN].prediction, im->degrees[image]);
    r->median_seconds += median_seconds;
    r->library_seconds += run->library_seconds;
    r->model_seconds += run->model_seconds;
    r->records++;
}

double results_mean(const struct results *r, size_t sigma, size_t question)
{
    double sum = 0.0;
    for (size_t i = 0; i < r->images->count; i++) sum += *radius_of(r, sigma, i, question);
    return sum / (double)r->images->count;
}

size_t results_best_sigma(const struct results *r, size_t question)
{
    size_t best = 0;
    for (size_t s = 1; s < r->sigmas; s++)
        if (results_mean(r, s, question) > results_mean(r, best, question)) best = s;
    return best;
}

double results_paper_best(const struct results *r)
{
    double best = 0.0;
    for (size_t k = 0; k < QUESTIONS; k++)
        if (questions[k].method == CERTREG_METHOD_PAPER)
            best = fmax(best, results_mean(r, results_best_sigma(r, k), k));
    return best;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_error(const struct results *r, size_t sigma)
{
    const size_t count = r->images->count;
    double *sorted = malloc(count * sizeof *sorted), middle = NAN;
    if (sorted != NULL) {
        for (size_t i = 0; i < count; i++) sorted[i] = r->error[sigma * count + i];
        qsort(sorted, count, sizeof *sorted, ascending);
        middle = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    }
    free(sorted);
    return middle;
}

enum { WIDTH = 9, SIGMA_WIDTH = 6, ERROR_WIDTH = 12 };

static void print_rule(size_t columns, FILE *out)
{
    for (size_t i = 0; i < SIGMA_WIDTH + WIDTH * columns + ERROR_WIDTH; i++) fputc('-', out);
    fputc('\n', out);
}

static void print_headings(size_t first, size_t last, FILE *out)
{
    static const char *const sigma[2] = {"", "sigma"}, *const error[2] = {"error of", "the median"};
    for (int line = 0; line < 2; line++) {
        fprintf(out, "%-*s", SIGMA_WIDTH, sigma[line]);
        for (size_t k = first; k < last; k++)
            fprintf(out, "%*s", WIDTH, questions[k].heading[line]);
        fprintf(out, "%*s\n", ERROR_WIDTH, error[line]);
    }
}

/* The certificates first .. last-1, a column each. */
static void print_table(const struct results *r, const char *title, size_t first, size_t last,
                        FILE *out)
{
    const double paper = results_paper_best(r);
    fprintf(out, "\nMean certified radius, %s\n", title);
    print_headings(first, last, out);
    print_rule(last - first, out);
    for (size_t s = 0; s < r->sigmas; s++) {
        fprintf(out, "%-*g", SIGMA_WIDTH, r->sigma[s]);
        for (size_t k = first; k < last; k++) fprintf(out, "%*.3f", WIDTH, results_mean(r, s, k));
        fprintf(out, "%*.1f\n", ERROR_WIDTH, median_error(r, s));
    }
    print_rule(last - first, out);
    fprintf(out, "%-*s", SIGMA_WIDTH, "best");
    for (size_t k = first; k < last; k++)
        fprintf(out, "%*.3f", WIDTH, results_mean(r, results_best_sigma(r, k), k));
    fprintf(out, "\n%-*s", SIGMA_WIDTH, "ratio");
    for (size_t k = first; k < last; k++)
        fprintf(out, "%*.2f", WIDTH,
                paper > 0.0 ? results_mean(r, results_best_sigma(r, k), k) / paper : NAN);
    fprintf(out, "   to the paper's best\n");
}

void results_print(const struct results *r, FILE *out)
{
    print_table(r, "the paper's method (its constraints: E mean, C variance, G gradient, M range)",
                0, FIRST_ASYMPTOTIC, out);
    print_table(r, "asymptotic bounds (approximate), all with the gradient", FIRST_ASYMPTOTIC,
                FIRST_FINITE, out);
    print_table(r, "finite-sample bounds: valid for every number of samples fixed beforehand",
                FIRST_FINITE, QUESTIONS, out);
    fprintf(
        out,
        "\nRadii are in the 2-norm of the pixels, means over the images; an abstention counts as "
        "0. "
        "In the last\ntable only \"median gradient\" uses the gradient. The error is the median "
        "over the images of the\ndistance from the smoothed angle to the true one, in degrees.\n");
    if (r->failures > 0)
        fprintf(out,
                "%zu certificates failed and count as 0: see the outcome in certificates.csv\n",
                r->failures);
    const double records = (double)r->records;
    fprintf(out,
            "\nTime per record: %.1f ms in the model. In the library %.1f ms for the finite-sample "
            "median alone\n(%.1f%%), %.1f ms for all %d certificates (%.1f%%).\n",
            1e3 * r->model_seconds / records, 1e3 * r->median_seconds / records,
            100.0 * r->median_seconds / r->model_seconds, 1e3 * r->library_seconds / records,
            QUESTIONS, 100.0 * r->library_seconds / r->model_seconds);
}
