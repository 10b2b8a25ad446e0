/* The certificate of one question; and for output bounds, where T can go within a given radius
 * (theory 1, "the inverse question"). */
#include "certify/answer.h"
#include "base/constants.h"
#include "base/sizes.h"
#include "bounds/bounds.h"
#include "certify/laws.h"
#include "certify/solve.h"
#include "record/sweep.h"
#include "statistics/binomial.h"
#include "statistics/location.h"
#include "statistics/pairs.h"
#include "statistics/served.h"
#include "statistics/shift.h"
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

static certreg_status find_output_bounds(const cr_work *w, cr_answer *a, double *from, double *to)
{
    const cr_question *q = &a->conditions.question;
    a->known = 0;
    if (q->is_ordered) return bounds_of_orders(w->record, &a->conditions, from, to), CERTREG_OK;
    if (q->about_output) return bounds_of_mean(w, a, from, to);
    return isnan(a->conditions.prediction) ? CERTREG_OK : bounds_of_tolerances(w, a, from, to);
}

/* ---- one question */
/* The bounds of f itself do not depend on the tolerance, and only on those constraints that are
 * not neutral. */
static int same_bounds(cr_view *v, const cr_answer *before, const cr_question *q)
{
    const cr_question *b = &before->conditions.question;
    if (!before->known || q->is_vector || !q->center_row->about_output) return 0;
    if (cr_laws_may(b) || cr_laws_may(q)) return 0;
    const uint32_t other = cr_bounds_constraints(v, b) ^ cr_bounds_constraints(v, q);
    return !(other & ~q->method_row->neutral) && b->center == q->center && b->output == q->output &&
           b->output_count == q->output_count && b->statistic == q->statistic &&
           b->method == q->method && b->alpha == q->alpha && b->at_radius == q->at_radius &&
           b->prediction_given == q->prediction_given && b->prediction == q->prediction;
}

static certreg_status find_bounds(const cr_work *w, const cr_question *q, cr_answer *a)
{
    const int same = same_bounds(w->record, a, q);
    a->known = 0;
    a->conditions = (cr_conditions){.question = *q, .scratch = w->scratch};
    certreg_status status = cr_conditions_prepare(w->record, &a->conditions, w->why);
    a->told |= !status;
    if (!status && q->directions > 1) cr_solve_look_ahead(w, &a->conditions, 0);
    if (!status && !same && !q->is_ordered) status = cr_laws_bounds(w, a);
    a->known = !status;
    return status;
}

/* ---- the certificate */
void cr_answer_blank(cr_view *v, const cr_question *q, certreg_certificate *c)
{
    *c = (certreg_certificate){.struct_size = sizeof *c,
                               .output_lo = -INFINITY,
                               .output_hi = INFINITY,
                               .prediction = NAN,
                               .estimate = NAN,
                               .sigma = NAN,
                               .tolerance = NAN,
                               .alpha = NAN};
    if (q) {
        c->output = q->output, c->statistic = q->statistic;
        c->method = q->method, c->center = q->center;
        c->tolerance = q->tolerance, c->alpha = q->alpha;
        c->question = q->digest;
    }
    if (!v) return;
    if (v->input.begun) c->sigma = v->input.sigma, c->input = v->input.digest;
    c->noise_id = v->input.noise.noise_id;
    c->samples = v->present;
}

void cr_answer_status(certreg_status status, certreg_certificate *c)
{
    c->status = status;
    if (status) c->prediction = c->estimate = c->tolerance = c->alpha = NAN;
}

void cr_answer_norms(const float *scales, size_t inputs, certreg_certificate *c)
{
    double least = INFINITY, sum = 0, active = 0;
    for (size_t j = 0; j < inputs; j++) {
        const double scale = scales ? (double)scales[j] : 1;
        if (!(scale > 0)) continue;
        least = fmin(least, scale);
        sum += 1 / (scale * scale);
        active++;
    }
    c->radius_l1 = c->radius_l2 = nextafter(c->radius * least, 0);
    c->radius_linf = c->radius / sqrt(sum) * (1 - 1e-12 - 1e-16 * active);
}

/* A near condition has bounds of its own, whatever the method; the solver uses those that were
 * named. */
static uint32_t constraints_used(cr_view *v, const cr_answer *a, const cr_solved *solved)
{
    const uint32_t found = solved->constraints;
    const cr_question *q = &a->conditions.question;
    const cr_condition *c = a->conditions.each + solved->limiting;
    if (c->law) return found | CERTREG_CONSTRAINT_LAW;
    if (!c->near) return cr_bounds_constraints(v, q) & found;
    const uint32_t named = q->solver_constraints;
    return named ? found & (named | CERTREG_CONSTRAINT_MOMENT) : found;
}

static void fill(cr_view *v, const cr_answer *a, const cr_solved *solved, certreg_certificate *c)
{
    const cr_question *q = &a->conditions.question;
    c->outcome = solved->outcome;
    c->radius = solved->radius;
    c->samples = a->conditions.samples;
    cr_answer_norms(v->input.scale, v->model.inputs, c);
    if (q->at_radius > 0) return;
    c->limiting_side = solved->limiting_side;
    c->constraints = constraints_used(v, a, solved);
    if (c->outcome == CERTREG_OUTCOME_ABSTAINED || isnan(c->prediction) ||
        q->center_row->by_estimate)
        return;
    c->output_lo = c->prediction - c->tolerance, c->output_hi = c->prediction + c->tolerance;
}

/* ---- the answer */
/* Too few samples after an early stop, or an empty box of estimates, prove nothing: that is an
 * outcome, not a failure. */
static int is_abstention(certreg_status status, int stopped)
{
    return status == CERTREG_E_INFEASIBLE || (stopped && status == CERTREG_E_WRONG_STATE);
}

static certreg_status solve(const cr_work *w, cr_answer *a, cr_solved *solved,
                            certreg_certificate *c)
{
    const double radius = a->conditions.question.at_radius;
    *solved = (cr_solved){.outcome = CERTREG_OUTCOME_ABSTAINED};
    if (!(radius > 0)) return a->abstained ? CERTREG_OK : cr_solve_directions(w, a, solved);
    const certreg_status status = find_output_bounds(w, a, &c->output_lo, &c->output_hi);
    if (!status && (isfinite(c->output_lo) || isfinite(c->output_hi)))
        *solved = (cr_solved){.outcome = CERTREG_OUTCOME_CERTIFIED, .radius = radius};
    return status;
}

static certreg_status begin(const cr_work *w, const cr_question *q, int stopped, cr_answer *a,
                            certreg_certificate *c)
{
    const certreg_status status = find_bounds(w, q, a);
    if (status && status != CERTREG_E_DEADLINE && !is_abstention(status, stopped)) return status;
    c->prediction = a->conditions.prediction, c->estimate = a->conditions.estimate;
    a->told = 1;
    return status;
}

certreg_status cr_answer_question(const cr_work *w, const cr_question *q, uint64_t samples,
                                  int stopped, cr_answer *a, certreg_certificate *c)
{
    cr_solved solved;
    cr_answer_blank(w->record, q, c);
    certreg_status status = cr_allowed_now(w->record, q, samples, w->why);
    if (status) return status;
    status = begin(w, q, stopped, a, c);
    if (status) return is_abstention(status, stopped) ? CERTREG_OK : status;
    status = solve(w, a, &solved, c);
    if (status || w->record->watch->late) { /* what was begun claims nothing */
        c->output_lo = -INFINITY, c->output_hi = INFINITY;
        solved = (cr_solved){.outcome = CERTREG_OUTCOME_ABSTAINED};
    }
    if (w->record->watch->late) return CERTREG_E_DEADLINE;
    fill(w->record, a, &solved, c);
    return is_abstention(status, stopped) ? CERTREG_OK : status;
}

int cr_answer_want(const cr_work *w, const cr_question *q)
{
    cr_conditions conditions = {.question = *q, .scratch = w->scratch};
    if (q->is_ordered || !(cr_bounds_constraints(w->record, q) & CERTREG_CONSTRAINT_GRADIENT))
        return 1;
    if (q->directions > 1) return !cr_sweep_pending(w->replay); /* it looks ahead itself */
    return cr_conditions_prepare(w->record, &conditions, w->why) ||
           cr_bounds_want(w->replay, &conditions);
}
