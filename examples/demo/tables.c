#include "tables.h"

#include <math.h>
#include <stdio.h>

enum { NAME = 36, COLUMN = 7, BEST = 9, RATIO = 14 };

static void print_rule(const struct results *r, size_t more)
{
    for (size_t i = 0; i < NAME + COLUMN * r->set->sigmas + more; i++) putchar('-');
    putchar('\n');
}

static void print_heading(const struct results *r, const char *name)
{
    printf("%-*s", NAME, name);
    for (size_t s = 0; s < r->set->sigmas; s++) printf("%*g", COLUMN, r->set->sigma[s]);
}

static void print_radii(const struct results *r, const char *name, size_t certificate)
{
    printf("  %-*s", NAME - 2, name);
    for (size_t s = 0; s < r->set->sigmas; s++)
        printf("%*.3f", COLUMN, results_mean(r, s, certificate));
}

static size_t count_failures(const struct results *r)
{
    size_t failures = 0;
    for (size_t i = 0; i < r->set->sigmas * r->images->count; i++)
        for (size_t k = 0; k < QUESTIONS; k++)
            failures += r->record[i].certificate[k].status != CERTREG_OK;
    return failures;
}

typedef double error_of(const struct results *r, size_t sigma, size_t question);

static void print_error(const struct results *r, const char *name, error_of *error, size_t question)
{
    printf("  %-*s", NAME - 2, name);
    for (size_t s = 0; s < r->set->sigmas; s++) printf("%*.1f", COLUMN, error(r, s, question));
    printf("\n");
}

/* Each statistic once: constraints and method do not move its prediction. */
static void print_errors(const struct results *r)
{
    printf("Distance of the prediction from the true angle, degrees, mean over the images\n");
    for (size_t k = 1; k < QUESTIONS; k++)
        if (questions[k].method == CERTREG_METHOD_FINITE &&
            questions[k].statistic != questions[k - 1].statistic)
            print_error(r, questions[k].name, results_error, k);
    print_error(r, "median; median over the images", results_median_error, QUESTION_MEDIAN);
    printf(
        "\nRadii are distances in the 2-norm of the pixels, means over the images; an abstention "
        "counts as 0.\nA radius says that the prediction is stable, not that it is right. The "
        "mean wins where outputs jump\nbetween a few values, the median where they cluster with "
        "outliers. A mean decays first: see its distance.\n");
    if (count_failures(r) > 0)
        printf("%zu certificates failed and count as 0: see certificates.csv\n", count_failures(r));
}

static void print_certificate(const struct results *r, size_t question, double paper)
{
    const double best = results_best(r, question);
    print_radii(r, questions[question].name, question);
    printf("%*.3f%*.2f\n", BEST, best, RATIO, paper > 0.0 ? best / paper : NAN);
}

void tables_radii(const struct results *r)
{
    const double paper = results_paper_best(r);
    printf("\n%*s\n", NAME + COLUMN * (int)r->set->sigmas + BEST + RATIO, "times the best of");
    print_heading(r, "Mean certified radius, noise sigma =");
    printf("%*s%*s\n", BEST, "best", RATIO, "Zhang, Frank");
    for (size_t k = 0; k < QUESTIONS; k++) {
        if (k == 0 || questions[k].method != questions[k - 1].method) {
            print_rule(r, BEST + RATIO);
            printf("%s\n", method_title(questions[k].method));
        }
        print_certificate(r, k, paper);
    }
    print_rule(r, BEST + RATIO);
    print_errors(r);
}

void tables_times(const struct results *r)
{
    double median = 0.0, library = 0.0, network = 0.0;
    const double records = (double)(r->set->sigmas * r->images->count);
    for (const struct record *k = r->record; k < r->record + (size_t)records; k++) {
        median += k->median_seconds;
        library += k->run.library_seconds;
        network += k->run.model_seconds;
    }
    printf("\nTime per image and sigma, in one thread: %.1f ms in the network. In the library %.1f "
           "ms (%.1f%%)\nfor the finite-sample median alone, %.1f ms (%.1f%%) for all %d "
           "certificates.\n",
           1e3 * network / records, 1e3 * median / records, 100.0 * median / network,
           1e3 * library / records, 100.0 * library / network, QUESTIONS);
}
