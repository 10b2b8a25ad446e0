/* Bounds of the scores of a question: which interval, which share of alpha, which samples. */
#include "statistics/binomial.h"
#include "base/structs.h"
#include "statistics/gradient.h"
#include "bounds/bounds.h"
#include "bounds/finite.h"
#include "question/looks.h"
#include "question/question.h"
#include "bounds/martingale.h"
#include "statistics/moments.h"
#include "bounds/hessian.h"
#include "estimator/correlate.h"
#include <math.h>
#include <string.h>

enum { OLDEST_BOUNDS = sizeof(certreg_bounds) };

/* Shares of alpha (theory 5.1): the two ends of an interval that needs both take half of mean_share
 * each. A second order takes its share from the gradient's. */
static const double mean_share = 0.25, variance_share = 0.25, correlations_share = 0.5,
                    second_share = 0.2;

static double gradient_share(uint32_t constraints)
{
    return constraints & CERTREG_CONSTRAINT_SECOND_ORDER ? correlations_share - second_share
                                                         : correlations_share;
}

uint32_t cr_bounds_constraints(const certreg_estimator *e, const certreg_question *q)
{
    uint32_t constraints = q->output < 0 ? 0 : CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    if (q->statistic != CERTREG_STATISTIC_MEDIAN) constraints |= CERTREG_CONSTRAINT_VARIANCE;
    /* Without normality the gradient hardly ever pays for its share of alpha: it is used where it
     * is named. */
    const int named = (q->constraints & CERTREG_CONSTRAINT_GRADIENT) != 0;
    if (cr_estimator_has_gradient(e) && (named || !cr_question_without_normality(q)))
        constraints |= CERTREG_CONSTRAINT_GRADIENT;
    if (e->plan.constraints & CERTREG_CONSTRAINT_SECOND_ORDER && q->output >= 0 &&
        q->method == CERTREG_METHOD_ASYMPTOTIC)
        constraints |= CERTREG_CONSTRAINT_SECOND_ORDER;
    if (q->constraints) constraints &= q->constraints;
    const uint32_t both = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE;
    return cr_question_without_normality(q) && (constraints & both) == both
               ? constraints | CERTREG_CONSTRAINT_MOMENT
               : constraints;
}

static certreg_bounds blank(const certreg_estimator *e, const cr_conditions *conditions)
{
    certreg_bounds b = {.struct_size = sizeof b,
                        .sigma = e->input.least_sigma,
                        .alpha = conditions->question.alpha};
    if (conditions->samples > conditions->main_first)
        b.samples = conditions->samples - conditions->main_first;
    return b;
}

/* ---- mean and variance */
static double score_of(const certreg_estimator *e, const cr_conditions *conditions,
                       const cr_condition *c, size_t sample)
{
    return cr_score_value(&c->score,
                          cr_record_value(e, sample, (size_t)conditions->question.output));
}

/* u falls below v with probability at most p, and is at least `least` there: E u >= v - (v - least)
 * p, rounded down. */
static double mean_of_share(double v, double least, double p)
{
    return fmax(least, nextafter(v - nextafter((v - least) * p, INFINITY), -INFINITY));
}

static double mean_above(double v, double least, uint64_t below, uint64_t samples, double alpha)
{
    return mean_of_share(v, least, cr_binomial_upper(below, samples, alpha));
}

/* Upper bound of the probability of a miss of a two-valued score. */
static double miss_rate(certreg_estimator *e, const cr_conditions *conditions,
                        const cr_condition *c, double alpha)
{
    if (cr_question_is_closed(&conditions->question)) return cr_looks_upper(e, conditions, c);
    if (conditions->question.method == CERTREG_METHOD_ANYTIME)
        return cr_looks_anytime(e, conditions, c, alpha);
    uint64_t misses = 0;
    for (size_t i = conditions->main_first;
         i < conditions->samples && !cr_watch_ends(e->clock.watch, i); i++)
        misses += score_of(e, conditions, c, i) < 0;
    return cr_binomial_upper(misses, conditions->samples - conditions->main_first, alpha);
}

static void bound_exactly(certreg_estimator *e, const cr_conditions *conditions,
                          const cr_condition *c, double alpha, certreg_bounds *b)
{
    b->constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->mean_lo = mean_of_share(1, -1, miss_rate(e, conditions, c, alpha));
    b->mean_hi = 1;
    b->range_lo = -1, b->range_hi = 1;
}

static void collect(const certreg_estimator *e, const cr_conditions *conditions,
                    const cr_condition *c, size_t first, size_t end, cr_moments *m)
{
    cr_moments_start(m, first < end ? score_of(e, conditions, c, first) : 0);
    for (size_t i = first; i < end && !cr_watch_ends(e->clock.watch, i); i++)
        cr_moments_add(m, score_of(e, conditions, c, i));
}

/* The value of more than half of the scores (Boyer and Moore), or any; *others counts those that
 * differ from it. */
static double usual_score(const certreg_estimator *e, const cr_conditions *conditions,
                          const cr_condition *c, size_t first, size_t end, size_t *others)
{
    double usual = NAN;
    size_t lead = 0;
    for (size_t i = first; i < end && !cr_watch_ends(e->clock.watch, i); i++) {
        const double u = score_of(e, conditions, c, i);
        if (!lead) usual = u;
        lead = u == usual ? lead + 1 : lead - 1;
    }
    *others = 0;
    for (size_t i = first; i < end && !cr_watch_ends(e->clock.watch, i); i++)
        *others += score_of(e, conditions, c, i) != usual;
    return usual;
}

/* Where hardly any score differs from the others, neither the normal approximation nor block means
 * know what the rest looks like: the moments are then bounded by counting, and there is no
 * gradient. */
static int is_sparse(const certreg_estimator *e, const cr_conditions *conditions,
                     const cr_condition *c)
{
    size_t others;
    usual_score(e, conditions, c, conditions->main_first, conditions->samples, &others);
    return others < e->plan.blocks;
}

/* A level fixed without the main samples, so that counting the scores below it is a binomial
 * matter. */
static double level_of(const certreg_estimator *e, const cr_conditions *conditions,
                       const cr_condition *c, double greatest)
{
    size_t others;
    const size_t first = e->input.noise.clean_first != 0;
    if (conditions->main_first <= first) return greatest;
    const double usual = usual_score(e, conditions, c, first, conditions->main_first, &others);
    return 2 * others < conditions->main_first - first ? usual : greatest;
}

/* Mean by counting, for scores with a finite range; non-zero: there is none. */
static int bound_by_counting(const certreg_estimator *e, const cr_conditions *conditions,
                             const cr_condition *c, double lo, double hi, double alpha,
                             certreg_bounds *b)
{
    if (!isfinite(lo) || !isfinite(hi)) return 1;
    const double level = level_of(e, conditions, c, hi);
    const int two_sided = c->score.kind == CR_SCORE_OUTPUT;
    uint64_t below = 0, above = 0;
    for (size_t i = conditions->main_first;
         i < conditions->samples && !cr_watch_ends(e->clock.watch, i); i++) {
        const double u = score_of(e, conditions, c, i);
        below += u < level;
        above += u > level;
    }
    if (two_sided) alpha /= 2;
    b->constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_RANGE;
    b->range_lo = lo, b->range_hi = hi;
    b->mean_lo = mean_above(level, lo, below, b->samples, alpha);
    b->mean_hi = two_sided ? -mean_above(-level, -hi, above, b->samples, alpha) : hi;
    return 0;
}

static int bound_moments(const certreg_estimator *e, const cr_conditions *conditions,
                         const cr_condition *c, certreg_bounds *b)
{
    const double alpha = conditions->question.alpha, tail = mean_share * alpha;
    const int32_t k = conditions->question.output;
    double lo, hi;
    cr_moments m;
    cr_score_range(&c->score, e->model.lo[k], e->model.hi[k], &lo, &hi);
    if (is_sparse(e, conditions, c)) return bound_by_counting(e, conditions, c, lo, hi, tail, b);
    collect(e, conditions, c, conditions->main_first, conditions->samples, &m);
    const int two_sided = c->score.kind == CR_SCORE_OUTPUT;
    return cr_asymptotic_moments_sided(&m, lo, hi, two_sided ? tail / 2 : tail,
                                       two_sided ? tail / 2 : 0, variance_share * alpha, b);
}

/* ---- gradient */
/* What is subtracted from the scores before they meet the noise; fixed without the main samples, or
 * self terms would bias. */
static double center_of(const certreg_estimator *e, const cr_conditions *conditions,
                        const cr_condition *c)
{
    cr_moments m;
    collect(e, conditions, c, e->input.noise.clean_first != 0, conditions->main_first, &m);
    if (m.count && isfinite(cr_moments_mean(&m))) return cr_moments_mean(&m);
    if (c->score.kind == CR_SCORE_OUTPUT)
        return conditions->question.prediction_given ? conditions->question.prediction : 0;
    return cr_score_value(&c->score, (float)conditions->prediction);
}

typedef struct gradient_job { /* of one or two functions: their main samples about a center */
    cr_samples main[2];
    certreg_bounds *bounds[2];
    size_t functions;
} gradient_job;

static int is_clipped(const cr_score *score)
{
    return score->kind == CR_SCORE_SIGN || score->kind == CR_SCORE_HUBER;
}

/* A lower bound on the gradient norm pays only where most of the variance is linear, which that of
 * a clipped score hardly ever is. The pilot decides, before the main samples. */
static certreg_status pilot_is_linear(certreg_estimator *e, const cr_conditions *conditions,
                                      const gradient_job *job, int linear[2])
{
    const size_t first = e->input.noise.clean_first != 0,
                 count = conditions->main_first ? conditions->main_first - first : 0;
    cr_samples pilot[2] = {job->main[0], job->main[1]};
    cr_block_sums sums;
    linear[0] = linear[1] = 0;
    if (count < 2 * e->plan.blocks) return CERTREG_OK;
    for (size_t f = 0; f < job->functions; f++) pilot[f].first = first, pilot[f].count = count;
    certreg_status status = cr_correlate_blocks(e, pilot, job->functions, &sums);
    for (size_t f = 0; !status && f < job->functions; f++) {
        cr_condition c = {.score = *pilot[f].score};
        cr_moments m;
        cr_gradient g;
        collect(e, conditions, &c, first, conditions->main_first, &m);
        if ((status = cr_correlate_gram(e, &sums, f))) break;
        cr_gradient_estimate(e->here.gram, e->plan.blocks, &g);
        linear[f] = g.square > 0.5 * cr_moments_variance(&m);
    }
    return status;
}

/* Kurtosis of the main samples about that center: how far the variance along the gradient may
 * exceed that of an average direction. */
static double kurtosis_of(const certreg_estimator *e, const cr_conditions *conditions,
                          const cr_score *score, double center)
{
    double second = 0, fourth = 0;
    for (size_t i = conditions->main_first;
         i < conditions->samples && !cr_watch_ends(e->clock.watch, i); i++) {
        const double gap = cr_score_value(
                               score, cr_record_value(e, i, (size_t)conditions->question.output)) -
                           center,
                     square = gap * gap;
        second += square;
        fourth += square * square;
    }
    return second > 0
               ? fourth / (second * second) * (double)(conditions->samples - conditions->main_first)
               : INFINITY;
}

static certreg_status bound_gradients(certreg_estimator *e, const cr_conditions *conditions,
                                      double alpha, gradient_job *job)
{
    int linear[2] = {0, 0};
    cr_block_sums sums;
    certreg_status status = CERTREG_OK;
    if (!is_clipped(job->main[0].score)) status = pilot_is_linear(e, conditions, job, linear);
    if (!status) status = cr_correlate_blocks(e, job->main, job->functions, &sums);
    for (size_t f = 0; !status && f < job->functions; f++) {
        if ((status = cr_correlate_gram(e, &sums, f))) break;
        const double tail = linear[f] ? alpha / 2 : alpha;
        cr_gradient_interval_within(
            e->here.gram, e->plan.blocks, (double)e->input.active,
            kurtosis_of(e, conditions, job->main[f].score, job->main[f].center),
            linear[f] ? tail : 0, tail, &job->bounds[f]->gradient_lo, &job->bounds[f]->gradient_hi);
        if (isfinite(job->bounds[f]->gradient_hi))
            job->bounds[f]->constraints |= CERTREG_CONSTRAINT_GRADIENT;
    }
    return status;
}

static gradient_job job_of(const certreg_estimator *e, const cr_conditions *conditions,
                           certreg_bounds *bounds)
{
    const size_t first = conditions->main_first, count = conditions->samples - first;
    gradient_job job = {.functions = 0};
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        if (c->guard) continue;
        /* Moments that were bounded by counting have no variance: sparseness is known there
         * already. */
        if (c->exact ? is_sparse(e, conditions, c)
                     : !(bounds[i].constraints & CERTREG_CONSTRAINT_VARIANCE))
            continue;
        const size_t f = job.functions++;
        job.main[f] = cr_record_samples(e, &c->score, (size_t)conditions->question.output, first,
                                        count, center_of(e, conditions, c));
        job.bounds[f] = bounds + i;
    }
    return job;
}

/* E (u - center)^2 from what is known: the moment about its own center, or about 0 by the range. */
static double second_moment_about(const certreg_bounds *b, double center)
{
    const double widest = fmax(b->range_hi, -b->range_lo);
    const double known = b->constraints & CERTREG_CONSTRAINT_MOMENT ? b->moment_center : 0,
                 moment = b->constraints & CERTREG_CONSTRAINT_MOMENT ? b->moment_hi
                                                                     : widest * widest;
    const double gap = known - center,
                 farthest = fmax(gap * (b->mean_lo - known), gap * (b->mean_hi - known));
    return (moment + 2 * farthest + gap * gap) * (1 + 1e-12) + 1e-300;
}

/* Without normality, one condition after the other. */
static certreg_status bound_gradients_exactly(certreg_estimator *e, const cr_conditions *conditions,
                                              double alpha, certreg_bounds *bounds)
{
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        certreg_bounds *b = bounds + i;
        if (c->guard) continue;
        const double center = center_of(e, conditions, c),
                     cap = sqrt(second_moment_about(b, 0.5 * (b->mean_lo + b->mean_hi)));
        const cr_martingale_job job = {.score = &c->score,
                                       .center = center,
                                       .second_hi = second_moment_about(b, center),
                                       .cap = cap,
                                       .alpha = alpha,
                                       .output = (size_t)conditions->question.output,
                                       .first = conditions->main_first,
                                       .count = conditions->samples - conditions->main_first};
        const certreg_status status = cr_martingale_upper(e, &job, &b->gradient_hi);
        if (status) return status;
        if (isfinite(b->gradient_hi)) b->constraints |= CERTREG_CONSTRAINT_GRADIENT;
    }
    return CERTREG_OK;
}

/* ---- second order */
static certreg_status bound_second_orders(certreg_estimator *e, const cr_conditions *conditions,
                                          const gradient_job *job)
{
    for (size_t f = 0; f < job->functions; f++) {
        certreg_bounds *b = job->bounds[f];
        const certreg_status status = cr_hessian_upper(
            e, job->main + f, second_share * conditions->question.alpha, &b->second_order_hi);
        if (status) return status;
        if (isfinite(b->second_order_hi)) b->constraints |= CERTREG_CONSTRAINT_SECOND_ORDER;
        else b->second_order_hi = 0;
    }
    return CERTREG_OK;
}

/* ---- all together */
static certreg_status find_paper(certreg_estimator *e, const cr_conditions *conditions,
                                 certreg_bounds *b, int *abstained)
{
    const certreg_question *q = &conditions->question;
    const size_t first = e->input.noise.clean_first != 0, count = conditions->samples - first;
    cr_moments m;
    cr_paper paper;
    b->samples = count;
    collect(e, conditions, conditions->each, first, conditions->samples, &m);
    const certreg_status status = cr_correlate_paper(e, (size_t)q->output, first, count, &paper);
    const int with_gradient = (cr_bounds_constraints(e, q) & CERTREG_CONSTRAINT_GRADIENT) != 0;
    if (!status)
        *abstained = cr_paper_bounds(&paper, &m, e->model.lo[q->output], e->model.hi[q->output],
                                     q->alpha, with_gradient, b);
    return status;
}

/* Two-valued scores share alpha with the gradient only where there is one; a guard never has one.
 */
static double moments_alpha(const cr_condition *c, uint32_t constraints, double alpha)
{
    const int shared =
        !c->guard && constraints & (CERTREG_CONSTRAINT_GRADIENT | CERTREG_CONSTRAINT_SECOND_ORDER);
    return shared ? (1 - correlations_share) * alpha : alpha;
}

static certreg_status find(certreg_estimator *e, const cr_conditions *conditions,
                           certreg_bounds out[CR_CONDITIONS], int *abstained)
{
    const uint32_t constraints = cr_bounds_constraints(e, &conditions->question);
    *abstained = 0;
    for (int i = 0; i < CR_CONDITIONS; i++) out[i] = blank(e, conditions);
    if (conditions->question.output < 0) {
        *abstained = conditions->failures;
        return *abstained ? CERTREG_OK : cr_vector_find(e, conditions, constraints, out, abstained);
    }
    for (int i = 0; i < conditions->count; i++)
        if (isnan(conditions->prediction) ||
            (conditions->failures && !cr_score_is_bounded(&conditions->each[i].score)))
            *abstained = 1;
    if (*abstained) return CERTREG_OK;
    if (conditions->question.method == CERTREG_METHOD_PAPER)
        return find_paper(e, conditions, out, abstained);
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        const double alpha = moments_alpha(c, constraints, conditions->question.alpha);
        if (c->exact) bound_exactly(e, conditions, c, alpha, out + i);
        else if (c->guard)
            cr_finite_find(e, conditions, &c->score,
                           CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                               CERTREG_CONSTRAINT_RANGE,
                           alpha, out + i);
        else if (cr_question_without_normality(&conditions->question))
            cr_finite_find(e, conditions, &c->score, constraints, alpha, out + i);
        else *abstained |= bound_moments(e, conditions, c, out + i);
    }
    if (*abstained ||
        !(constraints & (CERTREG_CONSTRAINT_GRADIENT | CERTREG_CONSTRAINT_SECOND_ORDER)))
        return CERTREG_OK;
    if (cr_question_without_normality(&conditions->question))
        return bound_gradients_exactly(e, conditions,
                                       correlations_share * conditions->question.alpha, out);
    gradient_job job = job_of(e, conditions, out);
    if (!job.functions) return CERTREG_OK;
    certreg_status status = CERTREG_OK;
    if (constraints & CERTREG_CONSTRAINT_GRADIENT)
        status = bound_gradients(e, conditions,
                                 gradient_share(constraints) * conditions->question.alpha, &job);
    if (!status && constraints & CERTREG_CONSTRAINT_SECOND_ORDER)
        status = bound_second_orders(e, conditions, &job);
    return status;
}

certreg_status cr_bounds_find(certreg_estimator *e, const cr_conditions *conditions,
                              certreg_bounds out[CR_CONDITIONS], int *abstained)
{
    const certreg_status status = find(e, conditions, out, abstained);
    return e->clock.watch->late ? CERTREG_E_DEADLINE : status; /* what is unfinished is no bound */
}

static int side_index(const cr_conditions *conditions, int32_t side)
{
    for (int i = 0; i < conditions->count; i++) {
        const cr_score *s = &conditions->each[i].score;
        if (side == CERTREG_SIDE_OUTPUT ? s->kind == CR_SCORE_OUTPUT
                                        : s->kind != CR_SCORE_OUTPUT && s->side == side)
            return i;
    }
    return -1;
}

static certreg_status bounds_of_side(certreg_estimator *e, const certreg_question *question,
                                     int32_t side, certreg_bounds *out)
{
    certreg_status status = cr_struct_check(out, OLDEST_BOUNDS, "bounds", &e->error);
    if (status) return status;
    certreg_bounds found[CR_CONDITIONS] = {{.struct_size = sizeof *found}};
    cr_conditions conditions = {.count = 0};
    int index = -1, abstained = 0;
    if (!(status = cr_estimator_ready(e)) &&
        !(status = cr_question_read(e, question, &conditions)) &&
        !(status = cr_conditions_prepare(e, &conditions)) &&
        (index = side_index(&conditions, side)) < 0)
        status = cr_fail(&e->error, CERTREG_E_INVALID, "side %d: this promise has %s", (int)side,
                         conditions.each[0].score.kind == CR_SCORE_OUTPUT ? "side 0 only"
                                                                          : "sides -1 and 1");
    if (!status) status = cr_bounds_find(e, &conditions, found, &abstained);
    if (!status)
        cr_asked_remember(e, e->record.present, e->record.present,
                          cr_question_digest(&conditions.question));
    if (status || abstained) found[0] = blank(e, &conditions), index = 0;
    cr_struct_write(out, out->struct_size, found + index, sizeof *found);
    return status;
}

certreg_status certreg_estimator_bounds(certreg_estimator *e, const certreg_question *question,
                                        int32_t side, certreg_bounds *out)
{
    const certreg_bounds nothing = {.struct_size = sizeof nothing}; /* no constraints, no claim */
    const certreg_status status = cr_estimator_enter(e);
    if (!status) return cr_estimator_leave(e, bounds_of_side(e, question, side, out));
    if (!cr_struct_check(out, OLDEST_BOUNDS, "bounds", NULL))
        cr_struct_write(out, out->struct_size, &nothing, sizeof nothing);
    return status;
}
