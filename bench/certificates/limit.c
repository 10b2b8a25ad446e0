/* A thousand calls against unlimited ones: what is lost to bounds and to a prediction from few samples. The limit is estimated from
 * large records by shares instead of bounds, the prediction by the library's rule from their large pilots, at the two noise levels
 * that promise most. */
#include <math.h>
#include <stdlib.h>

#include "plain_median.h"
#include "rows.h"

enum { THOUSAND = 1000, LIMIT_LEVELS = 2 };
static const double least_share = 0.87;

/* Mean radius over the images at one sigma: of the certificate, and of the shares. */
static int means_at(struct lab *lab, const struct desk *desk, size_t k, enum lab_kind kind, float *y, double *certified, double *limit)
{
    const certreg_question question = study_question(ASK_MEDIAN);
    const size_t images = lab->images.count;
    double sum = 0.0, of_shares = 0.0;
    for (size_t i = 0; i < images; i++) {
        certreg_certificate c;
        if (desk_record(desk, i, lab->set.sigma[k], kind, k * images + i) || desk_ask(desk, 0, &question, 1, &c) || desk_outputs(desk, y))
            return 1;
        sum += c.radius;
        of_shares += point_radius(y + c.pilot, desk->samples - (size_t)c.pilot, c.prediction, lab->set.sigma[k]);
        if (kind == LAB_LIMIT)
            lab_progress(lab, "large records", i + 1, images);
    }
    *certified = sum / (double)images;
    *limit = of_shares / (double)images;
    return 0;
}

static int best_thousand(struct lab *lab, float *y, double *best, size_t *sigma)
{
    struct desk desk;
    int bad = desk_open(lab, THOUSAND, LAB_BATCH, 0, CERTREG_MEAN, &desk);
    if (bad)
        return 1;
    *best = 0.0;
    for (size_t k = 0; k < lab->set.sigmas && !bad; k++) {
        double certified = 0.0, shares;
        bad = means_at(lab, &desk, k, LAB_THOUSAND, y, &certified, &shares);
        *sigma = certified > *best ? k : *sigma;
        *best = fmax(*best, certified);
    }
    desk_close(&desk);
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
        if (better < LIMIT_LEVELS && count < LIMIT_LEVELS)
            list[count++] = k;
    }
    return count;
}

static int best_limit(const struct study *s, struct lab *lab, float *y, double *best, size_t *sigma)
{
    struct desk desk;
    size_t list[LIMIT_LEVELS];
    const size_t levels = promising(s, list);
    int bad = desk_open(lab, lab->set.limit_samples, LAB_BATCH, 0, CERTREG_MEAN, &desk);
    if (bad)
        return 1;
    *best = 0.0;
    for (size_t k = 0; k < levels && !bad; k++) {
        double certified, limit = 0.0;
        bad = means_at(lab, &desk, list[k], LAB_LIMIT, y, &certified, &limit);
        *sigma = limit > *best ? list[k] : *sigma;
        *best = fmax(*best, limit);
    }
    desk_close(&desk);
    return bad;
}

int rows_limit(const struct study *s, struct lab *lab, struct table *t)
{
    struct table_row r = {.number = "5", .target = least_share};
    size_t thousand = 0, limit = 0;
    const size_t most = lab->set.limit_samples > THOUSAND ? lab->set.limit_samples : THOUSAND;
    float *y = malloc(most * sizeof *y);
    const int bad = y == NULL || best_thousand(lab, y, &r.ours, &thousand) || best_limit(s, lab, y, &r.reference, &limit);
    free(y);
    if (bad)
        return 1;
    r.reached = r.ours / r.reference;
    snprintf(r.what, sizeof r.what, "mean radius, median finite of %d calls : of unlimited calls", THOUSAND);
    snprintf(r.note, sizeof r.note, "sigma %g : %g; limit by shares of %zu samples", lab->set.sigma[thousand], lab->set.sigma[limit],
             lab->set.limit_samples);
    table_add(t, r);
    return 0;
}
