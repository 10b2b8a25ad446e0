/* Row 5: a thousand calls against unlimited ones. What is lost to bounds, and to a prediction from
 * few samples? The limit is estimated from large records with shares in place of their bounds, and
 * the prediction from their large pilots by the library's rule, at the two noise levels whose limit
 * seems largest. */
#include <math.h>
#include <stdlib.h>

#include "point_radius.h"
#include "rows.h"

enum { THOUSAND = 1000, LIMIT_LEVELS = 2 };
static const double least_share = 0.87;

/* Mean radii over the images at one sigma: certified at bench_alpha; from the shares of both tails;
 * and certified at alpha 1/2. */
struct means {
    double certified, shares, middle;
};

/* At alpha 1/2 an exact bound is too low as often as too high. So that certificate of a large
 * record estimates the limit with all conditions, including those that an angle needs in addition
 * to its two tails (theory 7). */
static int means_at(struct context *context, const struct bench_run *run, size_t k,
                    enum noise_kind kind, float *y, struct means *m)
{
    certreg_question question[2] = {question_of(QUESTION_MEDIAN), question_of(QUESTION_MEDIAN)};
    const size_t images = context->images.count;
    question[1].alpha = 0.5;
    *m = (struct means){0};
    for (size_t i = 0; i < images; i++) {
        certreg_certificate c[2];
        size_t pilot;
        if (bench_run_sample(run, i, context->set.sigma[k], kind, k * images + i) ||
            bench_run_certify(run, 0, question, 2, c) || bench_run_outputs(run, y) ||
            bench_run_pilot(run, &pilot))
            return 1;
        m->certified += c[0].radius / (double)images;
        m->middle += c[1].radius / (double)images;
        m->shares +=
            point_radius(y + pilot, run->samples - pilot, c[0].prediction, context->set.sigma[k]) /
            (double)images;
        if (kind == NOISE_LIMIT) show_progress(context, "large records", i + 1, images);
    }
    return 0;
}

/* Means of records of that many samples at those sigmas. */
static int means_of(struct context *context, size_t samples, const size_t *list, size_t levels,
                    enum noise_kind kind, struct means *m)
{
    struct bench_run run;
    float *y = malloc(samples * sizeof *y);
    int bad = y == NULL ||
              bench_run_open(context, samples, BENCH_BATCH, 0, CERTREG_CONSTRAINT_MEAN, &run);
    if (!bad) {
        for (size_t k = 0; k < levels && !bad; k++)
            bad = means_at(context, &run, list[k], kind, y, &m[k]);
        bench_run_close(&run);
    }
    free(y);
    return bad;
}

/* The sigmas whose records of N samples suggest the largest limit. */
static size_t best_levels(const struct radii *s, size_t list[LIMIT_LEVELS])
{
    size_t count = 0;
    for (size_t k = 0; k < s->context->set.sigmas; k++) {
        size_t better = 0;
        for (size_t j = 0; j < s->context->set.sigmas; j++)
            better += radii_mean(s, j, POINT_LIMIT) > radii_mean(s, k, POINT_LIMIT);
        if (better < LIMIT_LEVELS && count < LIMIT_LEVELS) list[count++] = k;
    }
    return count;
}

static void add_share(const struct context *context, struct table *t, const char *of_what,
                      double ours, double sigma, double limit, double limit_sigma)
{
    struct table_row r = {.number = "5",
                          .target = least_share,
                          .reached = ours / limit,
                          .ours = ours,
                          .reference = limit};
    snprintf(r.what, sizeof r.what, "mean radius, median finite, %d calls : unlimited, %s",
             THOUSAND, of_what);
    snprintf(r.note, sizeof r.note, "sigma %g : %g; limit from %zu samples", sigma, limit_sigma,
             context->set.limit_samples);
    table_add(t, r);
}

int rows_limit(const struct radii *s, struct context *context, struct table *t)
{
    const double *sigma = context->set.sigma;
    size_t every[MOST_SIGMAS], list[LIMIT_LEVELS], a = 0, tails = 0, all = 0;
    struct means few[MOST_SIGMAS], many[LIMIT_LEVELS];
    const size_t levels = best_levels(s, list);
    for (size_t k = 0; k < context->set.sigmas; k++) every[k] = k;
    if (means_of(context, THOUSAND, every, context->set.sigmas, NOISE_THOUSAND, few) ||
        means_of(context, context->set.limit_samples, list, levels, NOISE_LIMIT, many))
        return 1;
    for (size_t k = 0; k < context->set.sigmas; k++)
        a = few[k].certified > few[a].certified ? k : a;
    for (size_t k = 0; k < levels; k++) {
        tails = many[k].shares > many[tails].shares ? k : tails;
        all = many[k].middle > many[all].middle ? k : all;
    }
    add_share(context, t, "tails alone", few[a].certified, sigma[a], many[tails].shares,
              sigma[list[tails]]);
    add_share(context, t, "all conditions", few[a].certified, sigma[a], many[all].middle,
              sigma[list[all]]);
    return 0;
}
