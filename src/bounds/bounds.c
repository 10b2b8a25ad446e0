/* Chooses the bound of each condition and its fraction of alpha (theory 5.1): two-valued scores,
 * betting and the asymptotic method in mean_bounds.c, gradient norms in gradient_bounds.c, the
 * paper's method in statistics/moments.c. No other file knows which method has which bound. */
#include "bounds/bounds.h"
#include "base/struct_sizes.h"
#include "question/question.h"
#include "record/record.h"
#include "statistics/moments.h"
#include <math.h>

uint32_t cr_bounds_constraints(cr_view *v, const cr_question *q)
{
    const uint32_t both = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE;
    const cr_method *m = q->method;
    uint32_t constraints = q->given.constraints ? q->given.constraints : m->default_families;
    constraints &= cr_compatibility_constraints(q) &
                   (v->plan.constraints | ~(uint32_t)CERTREG_CONSTRAINT_GRADIENT) &
                   ~(uint32_t)CERTREG_CONSTRAINT_MOMENT;
    if (q->is_binomial) constraints &= ~(uint32_t)CERTREG_CONSTRAINT_VARIANCE;
    return !m->normality && (constraints & both) == both ? constraints | CERTREG_CONSTRAINT_MOMENT
                                                         : constraints;
}

certreg_bounds cr_bounds_init(cr_view *v, const cr_conditions *conditions)
{
    return (certreg_bounds){.struct_size = sizeof(certreg_bounds),
                            .sigma = v->input.min_sigma,
                            .alpha = conditions->question.given.alpha,
                            .samples = cr_split_main_count(conditions)};
}

/* ---- the paper's method */
/* All noisy outputs, the pilot's included, about 0. */
static cr_samples paper_samples(cr_view *v, const cr_conditions *conditions)
{
    const size_t first = cr_view_first_noisy(v);
    return cr_view_samples(v, &conditions->each->score, conditions->question.given.output, first,
                           conditions->samples - first, 0);
}

static certreg_status compute_paper_bounds(cr_replay *r, const cr_conditions *conditions,
                                           certreg_bounds *b, int *abstained)
{
    const cr_question *q = &conditions->question;
    const cr_samples samples = paper_samples(r->view, conditions);
    const uint32_t gradient = cr_bounds_constraints(r->view, q) & CERTREG_CONSTRAINT_GRADIENT;
    cr_moments moments;
    const cr_sweep_function *sums;
    cr_paper_sums paper_sums;
    certreg_status status = CERTREG_OK;
    b->samples = samples.count;
    cr_moments_of(&samples, &moments);
    if (gradient) status = cr_noise_sums_get(r, &samples, CR_SUMS_TOTAL, 1, &sums);
    if (status) return status;
    if (gradient)
        paper_sums = cr_paper_sums_of(&samples, sums->norms[1], sums->dots,
                                      cr_noise_sums_squared_norms(r, sums));
    *abstained = cr_paper_bounds(gradient ? &paper_sums : NULL, &moments,
                                 r->view->model.lo[q->given.output],
                                 r->view->model.hi[q->given.output], q->given.alpha, b);
    return CERTREG_OK;
}

/* Level of the bounds of mean and variance. They leave a fraction of alpha to the gradient if it is
 * bounded too; a circular condition never has a gradient. Published certificates divide alpha
 * between the two sides; as their authors coded them, they do not. */
static double moments_alpha(const cr_conditions *conditions, const cr_condition *c,
                            uint32_t constraints)
{
    const cr_question *q = &conditions->question;
    const double alpha = q->given.alpha;
    if (q->method->published) return q->center->includes_pilot ? alpha : alpha / conditions->count;
    const int shared = !c->near && constraints & CERTREG_CONSTRAINT_GRADIENT;
    return shared ? (1 - CR_ALPHA_FRACTION_GRADIENT) * alpha : alpha;
}

double cr_bounds_alpha(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    return moments_alpha(conditions, c, cr_bounds_constraints(v, &conditions->question));
}

static void bound_by_betting(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                             uint32_t constraints, double alpha, certreg_bounds *out)
{
    const cr_finite_sample_problem problem = {v, conditions, &c->score, alpha, 0};
    cr_finite_sample_bounds(&problem, constraints, out);
}

/* Bounds of the question's method; the compiler reports a method that is missing here. */
static int bound_by_method(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                           uint32_t constraints, double alpha, certreg_bounds *out)
{
    switch ((enum certreg_method)conditions->question.given.method) {
    case CERTREG_METHOD_FINITE:
    case CERTREG_METHOD_ANYTIME:
    case CERTREG_METHOD_BASELINE:
        bound_by_betting(v, conditions, c, constraints, alpha, out);
        return 0;
    case CERTREG_METHOD_ASYMPTOTIC: return cr_mean_bounds_asymptotic(v, conditions, c, out);
    case CERTREG_METHOD_PAPER: break; /* find_paper */
    }
    return 1;
}

/* Bounds one condition. Non-zero: there is no bound. */
static int bound_moments(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                         uint32_t constraints, cr_bound *out)
{
    const double alpha = moments_alpha(conditions, c, constraints);
    if (c->near) constraints = CERTREG_CONSTRAINTS_ECM;
    if (c->mean_alone) constraints &= ~(uint32_t)CERTREG_CONSTRAINT_VARIANCE;
    if (c->law)
        out->transformed_mean =
            cr_finite_sample_distribution_bound(v, conditions, c, alpha, &out->moments);
    else if (c->is_binomial) cr_mean_bounds_binomial(v, conditions, c, alpha, out);
    else if (c->near) bound_by_betting(v, conditions, c, constraints, alpha, &out->moments);
    else return bound_by_method(v, conditions, c, constraints, alpha, &out->moments);
    return 0;
}

/* Returns 1 if no bound can be valid: there is no prediction, or an output failed and a score is
 * not bounded. */
static int has_no_bounds(const cr_conditions *conditions)
{
    for (int i = 0; i < conditions->count; i++)
        if (!conditions->has_prediction ||
            (conditions->any_output_failed &&
             !cr_score_traits_of(conditions->each[i].score.kind).bounded))
            return 1;
    return 0;
}

int cr_bounds_prefetch(cr_replay *r, const cr_conditions *conditions)
{
    const uint32_t constraints = cr_bounds_constraints(r->view, &conditions->question);
    if (has_no_bounds(conditions) || !(constraints & CERTREG_CONSTRAINT_GRADIENT)) return 1;
    if (conditions->question.given.method != CERTREG_METHOD_PAPER)
        return cr_gradient_bounds_prefetch(r, conditions);
    const cr_samples samples = paper_samples(r->view, conditions);
    return cr_noise_sums_request(r, &samples, CR_SUMS_TOTAL, 1) != NULL;
}

certreg_status cr_bounds_compute(cr_replay *r, const cr_conditions *conditions,
                                 cr_bound out[CR_CONDITIONS], int *abstained)
{
    const uint32_t constraints = cr_bounds_constraints(r->view, &conditions->question);
    certreg_status status = CERTREG_OK;
    for (int i = 0; i < CR_CONDITIONS; i++)
        out[i] = (cr_bound){cr_bounds_init(r->view, conditions), NAN, UINT64_MAX, NAN};
    *abstained = has_no_bounds(conditions);
    if (!*abstained && conditions->question.given.method == CERTREG_METHOD_PAPER)
        status = compute_paper_bounds(r, conditions, &out->moments, abstained);
    else if (!*abstained) {
        for (int i = 0; i < conditions->count; i++)
            *abstained |=
                bound_moments(r->view, conditions, conditions->each + i, constraints, out + i);
        if (!*abstained && constraints & CERTREG_CONSTRAINT_GRADIENT)
            status = cr_gradient_bounds_compute(r, conditions, out);
    }
    /* An unfinished pass is no bound. */
    return r->view->deadline->expired ? CERTREG_E_DEADLINE : status;
}
