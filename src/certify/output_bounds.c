/* Output bounds: the range of T within a given radius, by order statistics, by the bounds of a
 * mean, or by tolerances (theory 1.6). */
#include "certify/output_bounds.h"
#include "base/constants.h"
#include "statistics/binomial.h"
#include "statistics/location.h"
#include "statistics/antithetic.h"
#include "statistics/serving_bounds.h"
#include "statistics/gaussian_shift.h"
#include <math.h>

/* ---- the median of numbers: order statistics */
/* Returns a probability: an event that is less probable at z contains no median, or no served
 * median, within r. */
static double order_probability(const cr_question *q, double r)
{
    const double rate = 0.5 * q->given.serving_failure_rate;
    const cr_antithetic pairs = {q->given.serving_samples, (q->given.serving_samples + 1) / 2,
                                 rate};
    if (q->given.serving_pairs)
        return cr_antithetic_max_probability(&pairs, nextafter(r, INFINITY));
    const double threshold =
        q->given.serving_samples ? cr_serving_binomial(q->given.serving_samples, 0.5, rate) : 0;
    return cr_shift_min_probability(0.5 * (1 - threshold), r);
}

/* If P(Y <= t) >= 1/2 at z + delta, then P(Y <= t) >= p = Phi(-r) at z (Neyman and Pearson). So k -
 * 1 or fewer of n outputs are at or below a median at z + delta with probability at most P(Bin(n,
 * p) <= k - 1): one statement, for all shifts up to the radius together. A served median needs p'
 * instead of 1/2. A failed output counts as the worse end. (No sample of the pilot counts, because
 * the number of samples may depend on it: theory 5.2.) */
static void bounds_of_orders(cr_view *v, const cr_conditions *conditions, double *from, double *to)
{
    const cr_question *q = &conditions->question;
    const size_t first = conditions->first_main_sample, count = conditions->samples - first;
    const cr_values values = {.y = v->values + first * v->model.outputs + q->given.output,
                              .count = count,
                              .stride = v->model.outputs,
                              .deadline = v->deadline};
    const double p = order_probability(q, q->given.at_radius / v->input.min_sigma);
    const int64_t rank = cr_binomial_critical(count, p, 0.5 * q->given.alpha) + 1;
    const size_t valid = cr_location_count(&values);
    const int64_t failed = (int64_t)(count - valid), low = rank - failed,
                  high = (int64_t)count + 1 - rank;
    const int may_fail = (v->plan.flags & CERTREG_PLAN_COUNT_FAILURES) != 0;
    *from = may_fail ? -INFINITY : v->model.lo[q->given.output];
    *to = may_fail ? INFINITY : v->model.hi[q->given.output];
    if (low > 0) *from = cr_location_order(&values, (size_t)(low - 1));
    if (rank > 0 && high <= (int64_t)valid) *to = cr_location_order(&values, (size_t)(high - 1));
}

/* ---- the mean */
/* The range of the mean that its bounds allow, wider by the error of a fresh sample mean if that is
 * served. */
static certreg_status bounds_of_mean(const cr_context *w, const cr_evaluation *e, double *from,
                                     double *to)
{
    const cr_question *q = &e->conditions.question;
    double least, greatest;
    if (e->abstained) return CERTREG_OK;
    const certreg_status status =
        cr_condition_radius_range(w, e, q->given.at_radius, &least, &greatest);
    if (status) return status;
    *from = least;
    *to = greatest;
    if (!q->given.serving_samples) return CERTREG_OK;
    const double span = w->record->model.hi[q->given.output] - w->record->model.lo[q->given.output];
    const double fresh =
        span * sqrt(log(2 / q->given.serving_failure_rate) / (2 * cr_question_served_count(q))) *
        (1 + CR_ROUNDING_MARGIN); /* Hoeffding */
    *from = nextafter(least - fresh, -INFINITY);
    *to = nextafter(greatest + fresh, INFINITY);
    return CERTREG_OK;
}

/* ---- other statistics: tolerances from the largest down */
enum { FINEST = 40 };
static const double step = 0.840896415253714543; /* 2^(-1/4) */

static double largest_tolerance(cr_view *v, const cr_question *q)
{
    if (q->given.tolerance > 0) return q->given.tolerance;
    if (q->statistic->angle == CR_ANGLE_CIRCULAR) return 0.25 * q->period;
    return q->period > 0 ? 0.499 * q->period
                         : v->model.hi[q->given.output] - v->model.lo[q->given.output];
}

/* Sets *proved to 1 if the statistic stays within this tolerance of the prediction. */
static certreg_status try_tolerance(const cr_context *w, cr_evaluation *e, double tolerance,
                                    int *proved)
{
    cr_condition_radius found;
    *proved = 0;
    cr_conditions_set_tolerance(w->record, &e->conditions, tolerance);
    certreg_status status = cr_bounds_compute(w->replay, &e->conditions, e->bounds, &e->abstained);
    if (status || e->abstained) return status;
    status = cr_condition_radius_find(w, e, INFINITY, &found);
    *proved = !status && found.radius >= e->conditions.question.given.at_radius;
    return status == CERTREG_E_INFEASIBLE ? CERTREG_OK : status;
}

/* Tests "T stays within this tolerance of the prediction" from the largest tolerance down to the
 * first failure, each at alpha. The statements are nested, so the first false one would have to
 * pass, and the probability of an error is alpha in all. */
static certreg_status bounds_of_tolerances(const cr_context *w, cr_evaluation *e, double *from,
                                           double *to)
{
    double tolerance = largest_tolerance(w->record, &e->conditions.question);
    for (int i = 0; i <= FINEST; i++, tolerance *= step) {
        int proved;
        const certreg_status status = try_tolerance(w, e, tolerance, &proved);
        if (status) return status;
        if (!proved) break;
        *from = nextafter(e->conditions.prediction - tolerance, -INFINITY);
        *to = nextafter(e->conditions.prediction + tolerance, INFINITY);
    }
    return CERTREG_OK;
}

certreg_status cr_output_bounds_find(const cr_context *w, cr_evaluation *e, double *from,
                                     double *to)
{
    const cr_question *q = &e->conditions.question;
    e->has_bounds = 0;
    if (q->uses_order_statistics) {
        bounds_of_orders(w->record, &e->conditions, from, to);
        return CERTREG_OK;
    }
    if (q->bounds_output) return bounds_of_mean(w, e, from, to);
    return isnan(e->conditions.prediction) ? CERTREG_OK : bounds_of_tolerances(w, e, from, to);
}
