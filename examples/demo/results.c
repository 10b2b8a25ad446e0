#include "results.h"

#include <math.h>
#include <stdlib.h>

static double *radius_of(const struct results *r, size_t sigma, size_t image, size_t ask)
{
    return &r->radius[(sigma * r->images->count + image) * ASKS + ask];
}

int results_open(struct results *r, const struct images *images, const double *sigma, size_t sigmas)
{
    *r = (struct results){.images = images, .sigmas = sigmas};
    for (size_t s = 0; s < sigmas; s++) r->sigma[s] = sigma[s];
    r->radius = calloc(sigmas * images->count * ASKS, sizeof *r->radius);
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
    for (size_t k = 0; k < ASKS; k++) {
        *radius_of(r, sigma, image, k) = c[k].radius;
        r->failures += c[k].status != CERTREG_OK;
        fprintf(rows, "%zu,%d,%.3f,%g,%.3f,\"%s\",%s,%u,%s,%.6f,%s,%llu,%.6f,%.6f\n", image,
                im->label[image], im->degrees[image], r->sigma[sigma], c[k].prediction,
                asks[k].name, ask_score(asks[k].statistic), (unsigned)c[k].constraints,
                ask_interval(asks[k].method), c[k].radius, outcome(&c[k]),
                (unsigned long long)c[k].samples, run->library_seconds, run->model_seconds);
    }
    r->error[sigma * im->count + image] = apart(c[ASK_MEDIAN].prediction, im->degrees[image]);
    r->median_seconds += median_seconds;
    r->library_seconds += run->library_seconds;
    r->model_seconds += run->model_seconds;
    r->records++;
}

double results_mean(const struct results *r, size_t sigma, size_t ask)
{
    double sum = 0.0;
    for (size_t i = 0; i < r->images->count; i++) sum += *radius_of(r, sigma, i, ask);
    return sum / (double)r->images->count;
}

size_t results_best_sigma(const struct results *r, size_t ask)
{
    size_t best = 0;
    for (size_t s = 1; s < r->sigmas; s++)
        if (results_mean(r, s, ask) > results_mean(r, best, ask)) best = s;
    return best;
}

double results_paper_best(const struct results *r)
{
    double best = 0.0;
    for (size_t k = 0; k < ASKS; k++)
        if (asks[k].method == CERTREG_METHOD_PAPER)
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

enum { WIDTH = 8, ERROR_WIDTH = 22 };

static void print_rule(size_t columns, FILE *out)
{
    for (size_t i = 0; i < WIDTH + WIDTH * columns + ERROR_WIDTH; i++) fputc('-', out);
    fputc('\n', out);
}

/* The certificates first .. last-1, a column each. */
static void print_table(const struct results *r, const char *heading, size_t first, size_t last,
                        FILE *out)
{
    const double paper = results_paper_best(r);
    fprintf(out, "\nmean certified radius: %s\n%-*s", heading, WIDTH, "sigma");
    for (size_t k = first; k < last; k++) fprintf(out, "%*s", WIDTH, asks[k].brief);
    fprintf(out, "   error of the median\n");
    print_rule(last - first, out);
    for (size_t s = 0; s < r->sigmas; s++) {
        fprintf(out, "%-*g", WIDTH, r->sigma[s]);
        for (size_t k = first; k < last; k++) fprintf(out, "%*.3f", WIDTH, results_mean(r, s, k));
        fprintf(out, "%14.1f degrees\n", median_error(r, s));
    }
    print_rule(last - first, out);
    fprintf(out, "%-*s", WIDTH, "best");
    for (size_t k = first; k < last; k++)
        fprintf(out, "%*.3f", WIDTH, results_mean(r, results_best_sigma(r, k), k));
    fprintf(out, "\n%-*s", WIDTH, "ratio");
    for (size_t k = first; k < last; k++)
        fprintf(out, "%*.2f", WIDTH,
                paper > 0.0 ? results_mean(r, results_best_sigma(r, k), k) / paper : NAN);
    fprintf(out, "   to the paper's best\n");
}

static void print_names(FILE *out)
{
    fprintf(out, "\n");
    for (size_t k = 0; k < ASK_FINITE; k++)
        fprintf(out, "%s%s: %s", k == 0 ? "" : k == 4 ? ";\n" : "; ", asks[k].brief, asks[k].name);
    fprintf(out, "\n");
}

void results_print(const struct results *r, FILE *out)
{
    print_table(r, "the paper's four, and ours by normal approximations", 0, ASK_FINITE, out);
    print_table(r, "valid at every number of samples", ASK_FINITE, ASKS, out);
    print_names(out);
    if (r->failures > 0)
        fprintf(out,
                "%zu certificates could not be answered and count as zero: see the outcome in "
                "certificates.csv\n",
                r->failures);
    const double records = (double)r->records;
    fprintf(out,
            "\na record: %.1f ms in the model; in the library %.1f ms for the exact median alone "
            "(%.1f %%), %.1f ms for all %d (%.1f %%)\n",
            1e3 * r->model_seconds / records, 1e3 * r->median_seconds / records,
            100.0 * r->median_seconds / r->model_seconds, 1e3 * r->library_seconds / records, ASKS,
            100.0 * r->library_seconds / r->model_seconds);
}
