/* Radii of N samples side by side. */
#include <math.h>

#include "rows.h"

static const double best_finite = 1.8, best_asymptotic = 1.9, to_plain = 1.0, to_plain_wide = 1.05,
                    wide = 0.5, finite_share = 0.95;

static double sigma_of(const struct study *s, size_t k)
{
    return s->lab->set.sigma[k];
}

/* Two columns, each at its own best sigma. */
static void add_ratio(const struct study *s, struct table *t, const char *number, double target,
                      size_t ours, size_t other)
{
    const size_t a = study_best(s, ours), b = study_best(s, other);
    struct table_row r = {
        .target = target, .ours = study_mean(s, a, ours), .reference = study_mean(s, b, other)};
    r.reached = r.ours / r.reference;
    snprintf(r.number, sizeof r.number, "%s", number);
    snprintf(r.what, sizeof r.what, "mean radius, %s : %s", study_name[ours], study_name[other]);
    if (!isnan(r.reached))
        snprintf(r.note, sizeof r.note, "sigma %g : %g", sigma_of(s, a), sigma_of(s, b));
    table_add(t, r);
}

static void add_plain(const struct study *s, struct table *t, size_t k)
{
    const size_t finite[] = {ASK_MEDIAN, ASK_MEDIAN_GRADIENT_FINITE};
    const double pilot = study_mean(s, k, PLAIN_PILOT), same = study_mean(s, k, PLAIN_SAME);
    const size_t ours = study_mean(s, k, finite[1]) > study_mean(s, k, finite[0]) ? finite[1]
                                                                                  : finite[0];
    struct table_row r = {.number = "3",
                          .target = sigma_of(s, k) >= wide ? to_plain_wide : to_plain};
    r.ours = study_mean(s, k, ours);
    r.reference = fmax(pilot, same);
    r.reached = r.ours / r.reference;
    snprintf(r.what, sizeof r.what, "mean radius, %s : plain median smoothing, sigma %g",
             study_name[ours], sigma_of(s, k));
    snprintf(r.note, sizeof r.note, "plain: %.4f with a pilot's median, %.4f with its own", pilot,
             same);
    table_add(t, r);
}

void rows_compare(const struct study *s, struct table *t)
{
    const struct settings *set = &s->lab->set;
    if (settings_wants(set, '1'))
        add_ratio(s, t, "1", best_finite, study_best_column(s, ASK_MEDIAN, ASK_CIRCULAR_FINITE),
                  ASK_PAPER);
    if (settings_wants(set, '2'))
        add_ratio(s, t, "2", best_asymptotic,
                  study_best_column(s, ASK_MEDIAN_ASYMPTOTIC, ASK_CIRCULAR_ASYMPTOTIC), ASK_PAPER);
    for (size_t k = 0; k < set->sigmas && settings_wants(set, '3'); k++) add_plain(s, t, k);
    if (!settings_wants(set, '6')) return;
    add_ratio(s, t, "6", finite_share, study_best_column(s, ASK_MEDIAN, ASK_MEDIAN_GRADIENT_FINITE),
              ASK_MEDIAN_ASYMPTOTIC);
    add_ratio(s, t, "6", finite_share, ASK_HUBER_FINITE, ASK_HUBER_ASYMPTOTIC);
}
