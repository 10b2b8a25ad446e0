/* One question, from the record to its certificate: the choice of bounds, the radius at which
 * its conditions hold, output bounds at a given radius, and, last, the driver of the five steps
 * (theory 1 and 2; in the paper, sections 3 and 4). */
#include "base/constants.h"
#include "bisection/bisection.h"
#include "bounds/bounds.h"
#include "certify/certify.h"
#include "conditions/conditions.h"
#include "record/record.h"
#include "solver/solver.h"
#include "statistics/betting_bounds.h"
#include "statistics/binomial.h"
#include "statistics/location.h"
#include "statistics/normal.h"
#include "statistics/serving.h"
#include <math.h>

/* ======== Chooses for each condition the bound from which the pilot expects the longer radius:
 * the whole law of its score, or mean and variance; the mean alone, if it expects none (theory
 * 6.9). */
/* Slopes that are best slightly below the radius lose less if it turns out shorter. */
static const double shorter = 0.97, shortest = 0.05;

/* Returns 1 if conditions of this question may be bounded by the law of their scores: its bounds
 * then depend on its tolerance. Named constraints are taken literally, and output bounds have
 * many tolerances. */
static int cr_bound_selection_applies(const cr_question *q)
{
    return (q->given.method == CERTREG_METHOD_FINITE ||
            q->given.method == CERTREG_METHOD_ANYTIME) &&
           !q->given.constraints && !(q->given.at_radius > 0);
}

typedef struct choice { /* of one condition */
    cr_view *record;
    const cr_conditions *conditions;
    cr_condition *condition;
    cr_distribution_bound *law;
    cr_score_histogram cells;
    size_t samples; /* that the bounds will have */
} choice;

static choice choice_init(const cr_context *w, const cr_conditions *conditions, cr_condition *c,
                          cr_distribution_bound *law)
{
    return (choice){.record = w->record,
                    .conditions = conditions,
                    .condition = c,
                    .law = law,
                    .samples = (size_t)cr_query_log_max_samples(w->record) -
                               conditions->first_main_sample};
}

/* ---- the radius that the pilot expects */
static certreg_bounds expected(const choice *c, uint32_t constraints)
{
    certreg_bounds b = cr_bounds_init(c->record, c->conditions);
    const cr_finite_sample_problem job = {c->record, c->conditions, &c->condition->score,
                                          c->conditions->question.given.alpha, c->samples};
    cr_finite_sample_bounds(&job, constraints, &b);
    return b;
}

/* Returns the radius by mean and variance, in units of sigma; for a true mean, on both sides. */
static double radius_by_moments(const choice *c)
{
    const cr_condition *condition = c->condition;
    const certreg_bounds b = expected(c, CERTREG_CONSTRAINTS_ECM);
    certreg_radius found = {.struct_size = sizeof found};
    cr_radius_options how = cr_radius_default(c->record->deadline);
    how.accuracy = 1e-4;
    const certreg_status status =
        condition->score.kind == CR_SCORE_OUTPUT
            ? cr_radius_change_within(&how, &b, 0, condition->score.tolerance, &found, NULL)
            : cr_radius_mean_above(&how, &(cr_mean_conditions){&b, &condition->threshold, 1, 0},
                                   &found, NULL);
    return status ? 0 : found.radius / b.sigma;
}

/* Returns the lower bound of the mean of H to expect from the scores of a part. */
static double mean_of(const choice *c, size_t part)
{
    const cr_question *q = &c->conditions->question;
    cr_betting_problem bet = {.count = c->samples};
    cr_distribution_bound_range(c->law, &bet);
    cr_distribution_bound_add_pilot(c->law, &c->cells, part, &bet);
    return cr_betting_expected_lower(&bet, q->given.alpha, q->method->is_anytime);
}

/* Returns 1 if laws that are fitted without one part of the pilot hold beyond this radius, on
 * average over the parts that are left out. */
static int law_reaches(const choice *c, double r)
{
    double sum = 0;
    for (size_t part = 0; part < CR_HISTOGRAM_FOLDS; part++) {
        cr_distribution_bound_fit(c->law, &c->cells, part, shorter * r);
        sum += cr_distribution_bound_shifted(c->law, mean_of(c, part), r);
    }
    return sum / CR_HISTOGRAM_FOLDS > c->condition->threshold;
}

/* ---- the choice */
/* Sets the law of the condition to the one that is best at its own radius, if laws hold beyond r.
 * Returns 1 if it did. */
static int use_law(choice *c, double r)
{
    cr_view *v = c->record;
    const int32_t k = c->conditions->score_output;
    const cr_score *score = &c->condition->score;
    const cr_samples pilot = cr_split_pilot_scores(v, c->conditions, score);
    double least;
    r = fmax(r, shortest);
    cr_score_range(score, v->model.lo + k, v->model.hi + k, &least, &c->law->max_value);
    if (!cr_score_histogram_make(&c->cells, &pilot, least) || !law_reaches(c, r)) return 0;
    cr_distribution_bound_fit(c->law, &c->cells, CR_HISTOGRAM_FOLDS, shorter * r);
    r = cr_distribution_bound_radius(c->law, mean_of(c, CR_HISTOGRAM_FOLDS),
                                     c->condition->threshold, CR_MAX_RADIUS);
    cr_distribution_bound_fit(c->law, &c->cells, CR_HISTOGRAM_FOLDS, shorter * fmax(r, shortest));
    c->condition->law = c->law;
    return 1;
}

/* If no radius is expected, the center of the moment may be far away, and the moment then bounds
 * the mean badly. */
static int mean_alone_is_better(const choice *c)
{
    const uint32_t alone = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    return expected(c, alone).mean_lo > expected(c, CERTREG_CONSTRAINTS_ECM).mean_lo;
}

/* For the true mean: one law for its decrease and one for its increase, as a condition each. */
static void choose_for_mean(const cr_context *w, cr_conditions *conditions)
{
    const choice both = choice_init(w, conditions, conditions->each, NULL);
    const double r = radius_by_moments(&both);
    cr_condition sides[2];
    for (int i = 0; i < 2; i++) {
        cr_condition *side = sides + i;
        *side = conditions->each[0];
        side->threshold = -side->score.tolerance; /* along a direction, a part of the question's */
        side->score.kind = CR_SCORE_LINEAR;
        side->score.side = i ? -1 : 1;
        side->score.prediction = side->score.tolerance = 0;
        choice c = choice_init(w, conditions, side, conditions->scratch->distribution_bounds + i);
        c.law->bounds_change = 1;
        if (!use_law(&c, r)) return;
    }
    conditions->each[0] = sides[0];
    conditions->each[1] = sides[1];
    conditions->count = 2;
}

void cr_bound_selection_choose(const cr_context *w, cr_conditions *conditions)
{
    if (!conditions->has_prediction || !cr_bound_selection_applies(&conditions->question)) return;
    if (conditions->question.bounds_output) { /* once: afterwards the scores are linear */
        if (conditions->each->score.kind == CR_SCORE_OUTPUT) choose_for_mean(w, conditions);
        return;
    }
    for (int i = 0; i < conditions->count && i < CR_MAX_DISTRIBUTION_BOUNDS; i++) {
        if (conditions->each[i].is_binomial) continue;
        choice c = choice_init(w, conditions, conditions->each + i,
                               conditions->scratch->distribution_bounds + i);
        c.law->bounds_change = 0;
        const double r = radius_by_moments(&c);
        c.condition->mean_alone = !use_law(&c, r) && !(r > 0) && mean_alone_is_better(&c);
    }
}

/* ======== The radius of one question, from the bounds of its conditions (theory 2 and 6):
 * directly if a condition has a binomial bound or a bound of its whole distribution, else by a
 * search. */
/* Returns 1 if the outputs of condition i are counted: its bounds have no more than mean and range.
 */
static int is_counted(const cr_evaluation *e, int i)
{
    const uint32_t counted = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE,
                   named = e->conditions.question.solver_constraints;
    return e->conditions.each[i].is_binomial && !e->conditions.each[i].law &&
           e->bounds[i].moments.constraints == counted && !(named && (named & counted) != counted);
}

/* Returns the radius of condition i in units of sigma, at most `cap`; NaN if it needs a search. */
static double direct_radius(cr_view *v, const cr_evaluation *e, int i, double cap)
{
    const cr_given *g = &e->conditions.question.given;
    const cr_condition *c = e->conditions.each + i;
    const cr_bound *b = e->bounds + i;
    if (c->law) return cr_distribution_bound_radius(c->law, b->transformed_mean, c->threshold, cap);
    if (!is_counted(e, i)) return NAN;
    if (!c->pairs.samples)
        return cr_radius_with_faults(v, 0.5 * (1 - c->threshold), g->faults, b->failure_probability,
                                     cap);
    /* The target radius is tried first, so that no search falls short of it. */
    const double target = g->target_radius * (1 + CR_TARGET_MARGIN) / b->moments.sigma;
    return fmin(cr_antithetic_radius(&c->pairs, b->failure_probability, target), cap);
}

/* The true mean has one condition: that it moves by the tolerance at most, to either side. */
static certreg_status radius_of_true_mean(cr_deadline *deadline, const cr_evaluation *e, double cap,
                                          cr_condition_radius *out, certreg_error *why)
{
    certreg_radius found = {.struct_size = sizeof found};
    cr_radius_options how = cr_radius_default(deadline);
    how.cap = cap;
    const certreg_status status =
        cr_radius_change_within(&how, &e->bounds->moments, e->conditions.question.given.constraints,
                                e->conditions.each->score.tolerance, &found, why);
    out->outcome = found.outcome;
    out->radius = found.radius;
    out->limiting_side = found.limiting_side;
    return status;
}

/* Finds the least radius of all conditions: directly if a condition needs no search, then by one
 * search up to that radius for all remaining conditions. */
static certreg_status radius_of_scores(cr_view *v, const cr_evaluation *e, double cap,
                                       cr_condition_radius *out, certreg_error *why)
{
    cr_deadline *deadline = v->deadline;
    const cr_conditions *conditions = &e->conditions;
    certreg_bounds searched[CR_CONDITIONS];
    double threshold[CR_CONDITIONS], least = cap;
    int place[CR_CONDITIONS], searches = 0;
    for (int i = 0; i < conditions->count && least > 0; i++) {
        const double radius = direct_radius(v, e, i, least);
        /* A search for pairs may take a tenth of a second. */
        if (conditions->each[i].pairs.samples && cr_deadline_expired(deadline))
            return CERTREG_E_DEADLINE;
        if (isnan(radius)) {
            searched[searches] = e->bounds[i].moments;
            threshold[searches] = conditions->each[i].threshold;
            place[searches++] = i;
        } else if (radius < least) {
            least = radius;
            out->limiting = i;
        }
    }
    const int capped = least >= cap;
    certreg_radius found = {.struct_size = sizeof found};
    found.radius = least > 0 ? nextafter(least * e->bounds->moments.sigma, 0) : 0;
    found.outcome = CERTREG_OUTCOME_CAPPED; /* at the radius above, unless a search ends earlier */
    if (searches && least > 0) {
        cr_radius_options how = cr_radius_default(deadline);
        how.cap = least;
        const cr_mean_conditions remaining = {searched, threshold, (size_t)searches,
                                              conditions->question.solver_constraints};
        const certreg_status status = cr_radius_mean_above(&how, &remaining, &found, why);
        if (status) return status;
        if (found.outcome != CERTREG_OUTCOME_CAPPED) out->limiting = place[found.limiting];
    }
    out->radius = found.radius;
    out->outcome = found.outcome;
    if (found.outcome == CERTREG_OUTCOME_CAPPED && !capped)
        out->outcome = CERTREG_OUTCOME_CERTIFIED;
    if (!(out->radius > 0)) out->outcome = CERTREG_OUTCOME_ABSTAINED;
    out->limiting_side = cr_conditions_side(conditions->each + out->limiting);
    return CERTREG_OK;
}

/* Sets the largest radius at which all conditions hold; at least `enough`, in the unit of the
 * noise, if it is longer. Nothing is proven after a failure: INFEASIBLE, DEADLINE. */
static certreg_status cr_condition_radius_find(const cr_context *w, const cr_evaluation *e,
                                               double enough, cr_condition_radius *out)
{
    cr_deadline *deadline = w->record->deadline;
    const double start = cr_deadline_now(deadline), in_sigma = enough / w->record->input.min_sigma,
                 cap = fmin(CR_MAX_RADIUS, nextafter(in_sigma, INFINITY) * (1 + 1e-15));
    cr_condition_radius found = {.direction = e->conditions.direction};
    const certreg_status status = e->conditions.each->score.kind == CR_SCORE_OUTPUT
                                      ? radius_of_true_mean(deadline, e, cap, &found, w->why)
                                      : radius_of_scores(w->record, e, cap, &found, w->why);
    deadline->constant_seconds += cr_deadline_now(deadline) - start;
    found.constraints = e->bounds[found.limiting].moments.constraints;
    *out = (cr_condition_radius){.outcome = CERTREG_OUTCOME_ABSTAINED};
    if (!status) *out = found;
    return status;
}

/* Sets the range of the output's mean within a radius. */
static certreg_status cr_condition_radius_range(const cr_context *w, const cr_evaluation *e,
                                                double radius, double *least, double *greatest)
{
    certreg_mean_change change = {.struct_size = sizeof change};
    cr_evaluation_budget effort;
    const cr_worst_case_instance given = {&e->bounds->moments,
                                          e->conditions.question.given.constraints, radius};
    const certreg_status status =
        cr_worst_case(&given, CERTREG_WORST_CASE_EVALUATIONS, &effort, &change, w->why);
    *least = change.mean_least;
    *greatest = change.mean_greatest;
    return status;
}

/* ======== Output bounds: the range of T within a given radius, by order statistics, by the
 * bounds of a mean, or by tolerances (theory 1.6). */
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
    const double band = cr_conditions_band(v, q);
    if (band > 0) { /* rounding is small beside a band of four differences */
        *from -= band;
        *to += band;
    }
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

/* Sets the range of T at given.at_radius, from an evaluation with bounds. Its conditions may
 * change. *from and *to stay if nothing is proved. Fails with INFEASIBLE or DEADLINE. */
static certreg_status cr_output_bounds_find(const cr_context *w, cr_evaluation *e, double *from,
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

/* ======== Why nothing is proved: the first reason that applies, in the order of the enum. A reason
 * is about all conditions, since another one may stand in the way of a radius as well. */
typedef struct counts {            /* the main samples of one condition */
    uint64_t samples, out, failed; /* of those that are out, some have failed */
    double alpha, allowed;         /* level of the bound; it has to be below `allowed` */
    double sum, squares;           /* of scores that did not fail, above the threshold */
} counts;

/* Returns 1 if an output that the score reads has failed. */
static int has_failed(cr_view *v, int32_t first_output, const cr_score *score, size_t sample)
{
    const float *y = cr_view_output_ptr(v, sample, first_output);
    const size_t outputs = score->outputs > 1 ? score->outputs : 1;
    for (size_t k = 0; k < outputs; k++)
        if (isnan(y[k])) return 1;
    return 0;
}

/* Returns the probability that no wrong unit is shown. */
static double unseen_of(cr_view *v, const cr_conditions *conditions)
{
    return v->unseen ? v->unseen[conditions->question.given.faults] : 1;
}

/* Counts about the condition's own prediction, or about another one. */
static counts count_about(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                          const double *other)
{
    cr_score about = c->score;
    if (other) about.prediction = *other;
    const cr_samples s = cr_split_main_scores(v, conditions, &about);
    counts n = {.alpha = cr_bounds_alpha(v, conditions, c),
                .allowed = c->pairs.samples
                               ? cr_antithetic_max_probability(&c->pairs, 0)
                               : 0.5 * (1 - c->threshold) - (1 - unseen_of(v, conditions))};
    for (; cr_samples_has(&s, n.samples); n.samples++) {
        const double u = cr_samples_at(&s, n.samples) - c->threshold;
        const int is_out = u + c->threshold < 0;
        n.out += is_out ? 1 : 0;
        if (is_out && has_failed(v, conditions->score_output, &about,
                                 conditions->first_main_sample + n.samples)) {
            n.failed++;
            continue;
        }
        n.sum += u;
        n.squares += u * u;
    }
    return n;
}

static int proves(const cr_question *q, const counts *n, uint64_t out, uint64_t samples)
{
    return (q->method->is_anytime ? cr_mixture_upper : cr_binomial_upper)(out, samples, n->alpha) <
           n->allowed;
}

/* Returns 1 if a condition holds: proved by counting, or with a mean score three standard errors
 * above the threshold. `failures`: whether samples that failed count. */
static int holds(const cr_evaluation *e, int i, const counts *n, int failures)
{
    const double left = (double)(n->samples - n->failed);
    if (is_counted(e, i))
        return proves(&e->conditions.question, n, failures ? n->out : n->out - n->failed,
                      n->samples);
    return !(failures && n->failed) &&
           n->sum > 3 * sqrt(fmax(0, n->squares - n->sum * n->sum / left));
}

/* Counts each condition: about its own prediction, or about another one. */
static void count_all(cr_view *v, const cr_conditions *conditions, const double *other,
                      counts n[CR_CONDITIONS])
{
    for (int i = 0; i < conditions->count; i++)
        n[i] = count_about(v, conditions, conditions->each + i, other);
}

/* Returns 1 if all conditions hold, with or without failures. */
static int all_hold(const cr_evaluation *e, const counts n[CR_CONDITIONS], int failures)
{
    int hold = 1;
    for (int i = 0; hold && i < e->conditions.count; i++) hold = holds(e, i, n + i, failures);
    return hold;
}

/* Returns 1 if a new record of this total would have a radius at the share of outputs out. */
static int would_do(cr_view *v, const cr_conditions *conditions, const counts *n, uint64_t total)
{
    const int follows = !v->plan.pilot && !conditions->question.center->includes_pilot &&
                        v->pilot == cr_pilot_samples(conditions->samples, v->plan.blocks);
    const uint64_t main =
        total - (follows ? cr_pilot_samples(total, v->plan.blocks) : conditions->first_main_sample);
    return proves(&conditions->question, n,
                  (uint64_t)ceil((double)n->out / (double)n->samples * (double)main), main);
}

/* Returns the least total that would do for a condition, up to a thousandth; 0: none below 2^31. */
static uint64_t samples_needed(cr_view *v, const cr_conditions *conditions, const counts *n)
{
    uint64_t below = conditions->samples, enough = 2 * below;
    if (!n->samples || (double)n->out >= n->allowed * (double)n->samples) return 0;
    if (proves(&conditions->question, n, n->out, n->samples)) return below;
    for (; !would_do(v, conditions, n, enough); enough *= 2) {
        below = enough;
        if (enough >= UINT64_C(1) << 30) return 0;
    }
    while (enough - below > 1 + enough / 1000) {
        const uint64_t middle = below + (enough - below) / 2;
        if (would_do(v, conditions, n, middle)) enough = middle;
        else below = middle;
    }
    return enough;
}

/* Returns 1 if the score of a condition has no range, and a bound needs one. */
static int range_is_missing(cr_view *v, const cr_evaluation *e, int i)
{
    const int32_t k = e->conditions.score_output;
    const certreg_bounds *b = &e->bounds[i].moments;
    double lo, hi;
    cr_score_range(&e->conditions.each[i].score, v->model.lo + k, v->model.hi + k, &lo, &hi);
    return !(isfinite(lo) && isfinite(hi)) &&
           !(b->constraints & CERTREG_CONSTRAINT_MEAN && isfinite(b->mean_lo));
}

/* Returns 1 if the bounds of all conditions would do for the statistic itself. */
static int holds_unserved(cr_view *v, const cr_evaluation *e)
{
    int hold = e->conditions.question.given.serving_samples > 0;
    for (int i = 0; hold && i < e->conditions.count; i++)
        hold = is_counted(e, i) ? e->bounds[i].failure_probability <
                                      unseen_of(v, &e->conditions) -
                                          e->conditions.each[i].score.required_probability
                                : e->bounds[i].moments.mean_lo > 0;
    return hold;
}

/* `n`: of each condition; 0 samples after a failure. */
static int32_t reason_of(cr_view *v, const cr_evaluation *e, const counts n[CR_CONDITIONS])
{
    counts about_estimate[CR_CONDITIONS];
    const cr_conditions *conditions = &e->conditions;
    const cr_question *q = &conditions->question;
    const int by_order = q->uses_order_statistics, limiting = e->proven.limiting;
    if (v->deadline->expired || e->status == CERTREG_E_DEADLINE) return CERTREG_REASON_DEADLINE;
    if (n[limiting].samples && is_counted(e, limiting) && !(n[limiting].allowed > 0))
        return CERTREG_REASON_SERVING;
    if (e->status == CERTREG_E_WRONG_STATE ||
        (n[limiting].samples && is_counted(e, limiting) && !by_order &&
         !proves(q, n + limiting, 0, n[limiting].samples)))
        return CERTREG_REASON_FEW_SAMPLES;
    if (!conditions->has_prediction && !by_order) return CERTREG_REASON_NO_PREDICTION;
    if (e->status == CERTREG_E_INFEASIBLE) return CERTREG_REASON_CONTRADICTION;
    if (by_order) return n[limiting].failed ? CERTREG_REASON_FAILURES : CERTREG_REASON_FEW_SAMPLES;
    if (e->abstained ? conditions->any_output_failed : n[limiting].failed && all_hold(e, n, 0))
        return CERTREG_REASON_FAILURES;
    if (q->given.method != CERTREG_METHOD_PAPER && !is_counted(e, limiting) &&
        range_is_missing(v, e, limiting)) /* no range helps the paper's method */
        return CERTREG_REASON_NO_RANGE;
    if (e->abstained) return CERTREG_REASON_EQUAL_OUTPUTS;
    if (!q->is_group_sequential && !(q->given.relative_tolerance > 0) && !q->is_vector &&
        !all_hold(e, n, 1)) {
        count_all(v, conditions, &conditions->estimate, about_estimate);
        if (all_hold(e, about_estimate, 1)) return CERTREG_REASON_PREDICTION;
    }
    if (holds_unserved(v, e)) return CERTREG_REASON_SERVING;
    if (q->is_group_sequential) return CERTREG_REASON_TARGET;
    return is_counted(e, limiting) ? CERTREG_REASON_OUTPUTS_OUT : CERTREG_REASON_SPREAD;
}

void cr_evaluate_reason(const cr_context *w, const cr_evaluation *e, certreg_certificate *c)
{
    cr_view *v = w->record;
    const cr_conditions *conditions = &e->conditions;
    const cr_question *q = &conditions->question;
    const int limiting = e->proven.limiting, has_bounds = !e->status && !e->abstained;
    counts n[CR_CONDITIONS] = {{.samples = 0}};
    if (!e->status && !v->deadline->expired) count_all(v, conditions, NULL, n);
    c->reason = reason_of(v, e, n);
    if (c->reason == CERTREG_REASON_FEW_SAMPLES && c->stop == CERTREG_STOP_DEADLINE)
        c->reason = CERTREG_REASON_DEADLINE;
    if (e->status && c->stop == CERTREG_STOP_HOPELESS) c->reason = CERTREG_REASON_TARGET;
    if (v->deadline->expired) { /* the answer was in time, its reason is not */
        c->reason = CERTREG_REASON_DEADLINE;
        c->stop = CERTREG_STOP_DEADLINE;
    }
    if (c->reason == CERTREG_REASON_DEADLINE || !has_bounds || q->given.at_radius > 0 ||
        !n[limiting].samples || !is_counted(e, limiting))
        return;
    c->share_out = e->bounds[limiting].failure_probability;
    c->share_allowed = fmax(0, n[limiting].allowed);
    if (q->given.method != CERTREG_METHOD_FINITE || q->is_group_sequential) return;
    for (int i = 0; i < conditions->count; i++) {
        const uint64_t needed = is_counted(e, i) ? samples_needed(v, conditions, n + i) : 0;
        c->samples_needed = needed > c->samples_needed ? needed : c->samples_needed;
        if (!needed) {
            c->samples_needed = 0;
            return;
        }
    }
}

/* ======== The driver of one question, from the record to its certificate: prediction,
 * conditions, bounds, radius (theory 1 and 2; in the paper, sections 3 and 4). */
/* Returns 1 if the bounds of the previous question hold for this one too. Bounds of f itself do not
 * depend on the tolerance, nor on constraints that are neutral. */
static int has_same_bounds(cr_view *v, const cr_evaluation *before, const cr_question *q)
{
    const cr_question *b = &before->conditions.question;
    const cr_given *g = &q->given, *h = &b->given;
    if (q->is_vector || !q->center->bounds_output) return 0;
    if (cr_bound_selection_applies(b) || cr_bound_selection_applies(q)) return 0;
    const uint32_t other = cr_bounds_constraints(v, b) ^ cr_bounds_constraints(v, q);
    return !(other & ~q->method->neutral) && h->center == g->center && h->output == g->output &&
           h->output_count == g->output_count && h->statistic == g->statistic &&
           h->method == g->method && h->alpha == g->alpha && h->at_radius == g->at_radius &&
           h->prediction_given == g->prediction_given && h->prediction == g->prediction;
}

/* Computes the noise sums of a direction and of the following ones, while the cache has room, by
 * one sweep. Radii are the same without it; a failure is reported when bounds are found. */
static void prefetch_directions(const cr_context *w, cr_conditions *conditions, size_t direction)
{
    if (!cr_bounds_prefetch(w->replay, conditions)) {
        cr_noise_sums_clear(w->replay);
        cr_bounds_prefetch(w->replay, conditions);
    }
    if (!cr_noise_sums_pending(w->replay)) return;
    for (size_t i = direction + 1, room = 1; room && i < conditions->question.directions; i++) {
        cr_conditions_select_direction(w->record, conditions, i);
        room = (size_t)cr_bounds_prefetch(w->replay, conditions);
    }
    cr_conditions_select_direction(w->record, conditions, direction);
}

/* Sets the radii for k units of arbitrary values, all by the one that was certified, so that they
 * hold together at its alpha (theory 1.12). */
static void set_fault_radii(cr_view *v, const cr_evaluation *e, certreg_certificate *c)
{
    const cr_conditions *conditions = &e->conditions;
    const uint64_t own = conditions->question.given.faults;
    int is_binomial = cr_question_allows_faults(v, &conditions->question);
    for (int i = 0; i < conditions->count; i++)
        is_binomial &= is_counted(e, i) && !conditions->each[i].pairs.samples;
    for (size_t k = 0; is_binomial && e->proven.radius > 0 && k < CR_FAULTS; k++) {
        double least = CR_MAX_RADIUS;
        for (int i = 0; i < conditions->count; i++)
            least = fmin(least, cr_fault_radius(v, 0.5 * (1 - conditions->each[i].threshold), own,
                                                k, e->proven.radius / v->input.min_sigma));
        c->fault_radius[k] = k == own ? e->proven.radius : nextafter(least * v->input.min_sigma, 0);
    }
}

/* Adds the counts of a direction to a certificate, for a bound of the population (theory 12.8).
 * Without a bound, and for a vector that needs no further direction, all outputs count as out. */
static void add_counts(const cr_evaluation *e, int is_complete, certreg_certificate *c)
{
    const cr_conditions *conditions = &e->conditions;
    const cr_question *q = &conditions->question;
    for (int i = 0; i < conditions->count; i++)
        if (!conditions->each[i].is_binomial || conditions->each[i].pairs.samples) return;
    for (int i = 0; i < conditions->count; i++)
        c->counted_required = fmax(c->counted_required, 0.5 * (1 + conditions->each[i].threshold));
    if (q->given.method != CERTREG_METHOD_FINITE || q->is_group_sequential) return;
    c->counted = cr_split_main_count(conditions);
    for (int i = 0; i < conditions->count && !e->abstained; i++)
        if (e->bounds[i].failures > c->counted_out) c->counted_out = e->bounds[i].failures;
    if (e->abstained || !is_complete) c->counted_out = c->counted;
}

/* Returns 1 if a failure is an outcome: too few samples after an early stop, or an empty box of
 * estimates, prove nothing. */
static int is_abstention(certreg_status status, int stopped)
{
    return status == CERTREG_E_INFEASIBLE || (stopped && status == CERTREG_E_WRONG_STATE);
}

certreg_status cr_evaluate_question(const cr_context *w, const cr_question *q, uint64_t samples,
                                    int stopped, cr_evaluation *e, certreg_certificate *c)
{
    cr_view *v = w->record;
    cr_conditions *conditions = &e->conditions;
    cr_condition_radius here, *least = &e->proven;
    const int inverse = q->given.at_radius > 0,
              reuse = q->uses_order_statistics || (e->has_bounds && has_same_bounds(v, e, q));
    *least = (cr_condition_radius){.outcome = CERTREG_OUTCOME_ABSTAINED};
    cr_certificate_init(v, q, c);
    certreg_status status = e->status = cr_conditions_check_reuse(v, q, samples, w->why);
    if (status) return status;

    /* 1. The prediction, chosen by the pilot, and the conditions under which T stays within the
     * tolerance of it. */
    e->has_bounds = 0;
    *conditions = (cr_conditions){.question = *q, .scratch = w->scratch};
    status = e->status = cr_conditions_prepare(v, conditions, w->why);
    const int answers = !status || status == CERTREG_E_DEADLINE || is_abstention(status, stopped);
    e->reported |= answers;
    if (answers) {
        c->prediction = conditions->prediction;
        c->estimate = conditions->estimate;
        c->tolerance = conditions->question.given.tolerance;
    }
    cr_certificate_set_audit(v, conditions, c);
    if (status) return answers && status != CERTREG_E_DEADLINE ? CERTREG_OK : status;

    /* Steps 2 to 4 for each direction of a vector; for any other question once. */
    for (size_t i = 0; !status && i < q->directions; i++) {
        /* 2. The conditions along it, each by the moments or by the whole law of its score. */
        if (i) cr_conditions_select_direction(v, conditions, i);
        if (q->directions > 1) prefetch_directions(w, conditions, i);
        if (!reuse) cr_bound_selection_choose(w, conditions);

        /* 3. Bounds at the level alpha, from the main samples. */
        if (!reuse) status = cr_bounds_compute(w->replay, conditions, e->bounds, &e->abstained);
        if (i == 0) e->has_bounds = !status;
        if (status || inverse) break;
        here = (cr_condition_radius){.direction = i};

        /* 4. The largest radius at which every condition holds; the least one of a vector. */
        if (!e->abstained)
            status = cr_condition_radius_find(w, e, i ? least->radius : INFINITY, &here);
        if (!status && (i == 0 || e->abstained || here.radius < least->radius)) *least = here;
        add_counts(e, least->radius > 0 || i + 1 == q->directions, c);
        if (!(least->radius > 0)) break;
    }
    if (inverse && !status) { /* 4'. Output bounds: the range of T at a given radius. */
        status = cr_output_bounds_find(w, e, &c->output_lo, &c->output_hi);
        if (!status && (isfinite(c->output_lo) || isfinite(c->output_hi)))
            *least = (cr_condition_radius){.outcome = CERTREG_OUTCOME_CERTIFIED,
                                           .radius = q->given.at_radius};
    }

    /* 5. The certificate. An unfinished evaluation claims nothing, nor does one about outputs that
     * were rounded to steps too large for the tolerance. */
    if (!status && v->plan.flags & CERTREG_PLAN_ROUNDED)
        status = cr_certificate_allow_for_rounding(v, e, c, w->why);
    e->status = status;
    if (status || v->deadline->expired) {
        *least = (cr_condition_radius){.outcome = CERTREG_OUTCOME_ABSTAINED};
        c->output_lo = -INFINITY;
        c->output_hi = INFINITY;
        c->counted = c->counted_out = 0;
        c->counted_required = 0;
    }
    if (v->deadline->expired) return CERTREG_E_DEADLINE;
    cr_certificate_fill(v, e, least, c);
    set_fault_radii(v, e, c);
    return is_abstention(status, stopped) ? CERTREG_OK : status;
}
