/* Given a radius, where can T go? (theory 1, "the inverse question") */
#include "base/constants.h"
#include "statistics/binomial.h"
#include "statistics/shift.h"
#include "bounds/bounds.h"
#include "certify/laws.h"
#include "certify/output_bounds.h"
#include "statistics/location.h"
#include "statistics/pairs.h"
#include "statistics/served.h"
#include <math.h>

/* ---- the median of numbers: order statistics */
/* An event of less probability at z takes no median, or no served one, within r. */
static double share_that_moves(const cr_question *q, double r)
{
    const double rate = 0.5 * q->served_rate;
    const cr_pairs pairs = {q->served_samples, (q->served_samples + 1) / 2, rate};
    if (q->served_pairs) return cr_pairs_share(&pairs, nextafter(r, INFINITY));
    const double threshold = q->served_samples ? cr_served_binomial(q->served_samples, 0.5, rate)
                                               : 0;
    return cr_shift_least(0.5 * (1 - threshold), r);
}

/* If Y has P(Y <= t) >= 1/2 at z + delta, it has P(Y <= t) >= p = Phi(-r) at z (Neyman and
 * Pearson): so k - 1 or fewer of n outputs below every median there has probability at most
 * P(Bin(n, p) <= k - 1). One statement, for all shifts up to the radius together. A served median
 * asks for p' instead of 1/2. Outputs that failed count as whatever is worse. (No sample of the
 * pilot counts, because the number of samples may depend on it: theory 5.2.) */
static void bounds_of_orders(cr_view *v, const cr_conditions *conditions, double *from, double *to)
{
    const cr_question *q = &conditions->question;
    const size_t first = conditions->main_first, count = conditions->samples - first;
    const cr_values values = {.y = v->values + first * v->model.outputs + q->output,
                              .count = count,
                              .step = v->model.outputs,
                              .watch = v->watch};
    const double p = share_that_moves(q, q->at_radius / v->input.least_sigma);
    const int64_t rank = cr_binomial_critical(count, p, 0.5 * q->alpha) + 1;
    const size_t valid = cr_location_count(&values);
    const int64_t failed = (int64_t)(count - valid), low = rank - failed,
                  high = (int64_t)count + 1 - rank;
    const int may_fail = (v->plan.flags & CERTREG_PLAN_COUNT_FAILURES) != 0;
    *from = low > 0    ? cr_location_order(&values, (size_t)(low - 1))
            : may_fail ? -INFINITY
                       : v->model.lo[q->output];
    *to = rank > 0 && high <= (int64_t)valid ? cr_location_order(&values, (size_t)(high - 1))
          : may_fail                         ? INFINITY
                                             : v->model.hi[q->output];
}

/* ---- the mean: the box of its bounds */
static certreg_status bounds_of_mean(const cr_work *w, const cr_answer *a, double *from, double *to)
{
    const cr_question *q = &a->conditions.question;
    double least, greatest;
    if (a->abstained) return CERTREG_OK;
    const certreg_status status = cr_solve_mean(w, a, q->at_radius, &least, &greatest);
    if (status) return status;
    *from = least, *to = greatest;
    if (!q->served_samples) return CERTREG_OK;
    const double span = w->record->model.hi[q->output] - w->record->model.lo[q->output];
    const double fresh = span * sqrt(log(2 / q->served_rate) / (2 * cr_question_served_count(q))) *
                         (1 + CR_ROUNDING); /* Hoeffding, for a fresh sample mean */
    *from = nextafter(least - fresh, -INFINITY);
    *to = nextafter(greatest + fresh, INFINITY);
    return CERTREG_OK;
}

/* ---- the others: tolerances from the largest down */
enum { FINEST = 40 };
static const double step = 0.840896415253714543; /* 2^(-1/4) */

static double largest_tolerance(cr_view *v, const cr_question *q)
{
    if (q->tolerance > 0) return q->tolerance;
    if (q->statistic_row->angle == CR_ANGLE_ROUND) return 0.25 * q->period;
    return q->period > 0 ? 0.499 * q->period : v->model.hi[q->output] - v->model.lo[q->output];
}

static certreg_status holds(const cr_work *w, cr_answer *a, double tolerance, int *yes)
{
    cr_solved solved;
    cr_conditions_set_tolerance(w->record, &a->conditions, tolerance);
    certreg_status status = cr_laws_bounds(w, a);
    if (status || a->abstained) return status;
    status = cr_solve_radius(w, a, INFINITY, &solved);
    *yes = !status && solved.radius >= a->conditions.question.at_radius;
    return status == CERTREG_E_INFEASIBLE ? CERTREG_OK : status;
}

/* "T stays within this tolerance of the prediction" is nested in the tolerance, so testing each at
 * alpha, from the largest down to the first failure, is wrong with probability alpha in all: the
 * first false one would have to pass. */
static certreg_status bounds_of_tolerances(const cr_work *w, cr_answer *a, double *from, double *to)
{
    double tolerance = largest_tolerance(w->record, &a->conditions.question);
    int yes = 1;
    for (int i = 0; i <= FINEST; i++, tolerance *= step) {
        yes = 0;
        const certreg_status status = holds(w, a, tolerance, &yes);
        if (status) return status;
        if (!yes) break;
        *from = a->conditions.prediction - tolerance;
        *to = a->conditions.prediction + tolerance;
    }
    return CERTREG_OK;
}

certreg_status cr_output_bounds_find(const cr_work *w, cr_answer *a, double *from, double *to)
{
    const cr_question *q = &a->conditions.question;
    a->known = 0;
    if (q->is_ordered) return bounds_of_orders(w->record, &a->conditions, from, to), CERTREG_OK;
    if (q->about_output) return bounds_of_mean(w, a, from, to);
    return isnan(a->conditions.prediction) ? CERTREG_OK : bounds_of_tolerances(w, a, from, to);
}
