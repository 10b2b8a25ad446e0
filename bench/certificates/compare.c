/* Rows 1 to 3: radii of N samples side by side. */
#include <math.h>

#include "rows.h"

static const double best_finite = 1.8, best_asymptotic = 1.9, finite_share = 0.95,
                    best_useful = 2.1;

static double sigma_of(const struct radii *s, size_t k)
{
    return s->context->set.sigma[k];
}

/* Two columns, each at its own best sigma. */
static void add_ratio(const struct radii *s, struct table *t, const char *number, double target,
                      size_t ours, size_t other)
{
    const size_t a = radii_best_sigma(s, ours), b = radii_best_sigma(s, other);
    struct table_row r = {
        .target = target, .ours = radii_mean(s, a, ours), .reference = radii_mean(s, b, other)};
    r.reached = r.ours / r.reference;
    snprintf(r.number, sizeof r.number, "%s", number);
    snprintf(r.what, sizeof r.what, "mean radius, %s : %s", column_name[ours], column_name[other]);
    if (!isnan(r.reached))
        snprintf(r.note, sizeof r.note, "sigma %g : %g", sigma_of(s, a), sigma_of(s, b));
    table_add(t, r);
}

static size_t best_useful_sigma(const struct radii *s, size_t column)
{
    size_t best = 0;
    for (size_t k = 1; k < s->context->set.sigmas; k++)
        if (radii_useful(s, k, column) > radii_useful(s, best, column)) best = k;
    return best;
}

/* Radii that count only where the prediction is right to the tolerance. */
static void add_useful(const struct radii *s, struct table *t)
{
    const size_t ours = radii_best_column(s, QUESTION_MEDIAN, QUESTION_CIRCULAR_FINITE),
                 a = best_useful_sigma(s, ours), b = best_useful_sigma(s, QUESTION_PAPER);
    struct table_row r = {.number = "1",
                          .target = best_useful,
                          .ours = radii_useful(s, a, ours),
                          .reference = radii_useful(s, b, QUESTION_PAPER)};
    r.reached = r.ours / r.reference;
    snprintf(r.what, sizeof r.what, "mean useful radius, %s : %s", column_name[ours],
             column_name[QUESTION_PAPER]);
    snprintf(r.note, sizeof r.note, "sigma %g : %g", sigma_of(s, a), sigma_of(s, b));
    table_add(t, r);
}

void rows_compare(const struct radii *s, struct table *t)
{
    const struct settings *set = &s->context->set;
    if (settings_has_row(set, '1')) {
        add_ratio(s, t, "1", best_finite,
                  radii_best_column(s, QUESTION_MEDIAN, QUESTION_CIRCULAR_FINITE), QUESTION_PAPER);
        add_useful(s, t);
    }
    if (settings_has_row(set, '2'))
        add_ratio(s, t, "2", best_asymptotic,
                  radii_best_column(s, QUESTION_MEDIAN_ASYMPTOTIC, QUESTION_CIRCULAR_ASYMPTOTIC),
                  QUESTION_PAPER);
    if (!settings_has_row(set, '3')) return;
    add_ratio(s, t, "3", finite_share,
              radii_best_column(s, QUESTION_MEDIAN, QUESTION_MEDIAN_GRADIENT_FINITE),
              QUESTION_MEDIAN_ASYMPTOTIC);
    add_ratio(s, t, "3", finite_share, QUESTION_HUBER_FINITE, QUESTION_HUBER_ASYMPTOTIC);
}
