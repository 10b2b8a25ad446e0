/* A thousand calls against unlimited ones: what is lost to bounds and to a prediction from few
 * samples. The limit is estimated from large records by shares instead of bounds, the prediction by
 * the library's rule from their large pilots, at the two noise levels that promise most. */
#include <math.h>
#include <stdlib.h>

#include "plain_median.h"
#include "rows.h"

enum { THOUSAND = 1000, LIMIT_LEVELS = 2 };
static const double least_share = 0.87;

struct means {                        /* over the images at one sigma */
    double certified, shares, middle; /* at lab_alpha; by shares of both tails; at alpha 1/2 */
};

/* At alpha 1/2 an exact bound is as often too low as too high: of a large record that is the limit
 * of the certificate with all its conditions, those that an angle needs beside its two tails as
 * well (theory 7). */
static int means_at(struct lab *lab, const struct desk *desk, size_t k, enum lab_kind kind,
                    float *y, struct means *m)
{
    certreg_question question[2] = {study_question(ASK_MEDIAN), study_question(ASK_MEDIAN)};
    const size_t images = lab->images.count;
    question[1].alpha = 0.5;
    *m = (struct means){0};
    for (size_t i = 0; i < images; i++) {
        certreg_certificate c[2];
        size_t pilot;
        if (desk_record(desk, i, lab->set.sigma[k], kind, k * images + i) ||
            desk_ask(desk, 0, question, 2, c) || desk_outputs(desk, y) || desk_pilot(desk, &pilot))
            return 1;
        m->certified += c[0].radius / (double)images;
        m->middle += c[1].radius / (double)images;
        m->shares +=
            point_radius(y + pilot, desk->samples - pilot, c[0].prediction, lab->set.sigma[k]) /
            (double)images;
        if (kind == LAB_LIMIT) lab_progress(lab, "large records", i + 1, images);
    }
    return 0;
}

/* Means of records of so many samples at those sigmas. */
static int means_of(struct lab *lab, size_t samples, const size_t *list, size_t levels,
                    enum lab_kind kind, struct means *m)
{
    struct desk desk;
    float *y = malloc(samples * sizeof *y);
    int bad = y == NULL || desk_open(lab, samples, LAB_BATCH, 0, CERTREG_CONSTRAINT_MEAN, &desk);
    if (!bad) {
        for (size_t k = 0; k < levels && !bad; k++)
            bad = means_at(lab, &desk, list[k], kind, y, &m[k]);
        desk_close(&desk);
    }
    free(y);
    return bad;
}

/* The sigmas whose records of N promise the greatest limit. */
static size_t promising(const struct study *s, size_t list[LIMIT_LEVELS])
{
    size_t count = 0;
    for (size_t k = 0; k < s->lab->set.sigmas; k++) {
        size_t better = 0;
        for (size_t j = 0; j < s->lab->set.sigmas; j++)
            better += study_mean(s, j, POINT_LIMIT) > study_mean(s, k, POINT_LIMIT);
        if (better < LIMIT_LEVELS && count < LIMIT_LEVELS) list[count++] = k;
    }
    return count;
}

static void add_share(const struct lab *lab, struct table *t, const char *of_what, double ours,
                      double sigma, double limit, double limit_sigma)
{
    struct table_row r = {.number = "5",
                          .target = least_share,
                          .reached = ours / limit,
                          .ours = ours,
                          .reference = limit};
    snprintf(r.what, sizeof r.what, "mean radius, median finite, %d calls : unlimited, %s",
             THOUSAND, of_what);
    snprintf(r.note, sizeof r.note, "sigma %g : %g; limit from %zu samples", sigma, limit_sigma,
             lab->set.limit_samples);
    table_add(t, r);
}

int rows_limit(const struct study *s, struct lab *lab, struct table *t)
{
    const double *sigma = lab->set.sigma;
    size_t every[MOST_SIGMAS], list[LIMIT_LEVELS], a = 0, tails = 0, all = 0;
    struct means few[MOST_SIGMAS], many[LIMIT_LEVELS];
    const size_t levels = promising(s, list);
    for (size_t k = 0; k < lab->set.sigmas; k++) every[k] = k;
    if (means_of(lab, THOUSAND, every, lab->set.sigmas, LAB_THOUSAND, few) ||
        means_of(lab, lab->set.limit_samples, list, levels, LAB_LIMIT, many))
        return 1;
    for (size_t k = 0; k < lab->set.sigmas; k++) a = few[k].certified > few[a].certified ? k : a;
    for (size_t k = 0; k < levels; k++) {
        tails = many[k].shares > many[tails].shares ? k : tails;
        all = many[k].middle > many[all].middle ? k : all;
    }
    add_share(lab, t, "tails alone", few[a].certified, sigma[a], many[tails].shares,
              sigma[list[tails]]);
    add_share(lab, t, "all conditions", few[a].certified, sigma[a], many[all].middle,
              sigma[list[all]]);
    return 0;
}
