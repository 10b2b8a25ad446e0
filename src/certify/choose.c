#include "certify/choose.h"
#include "bounds/bounds.h"
#include "certify/solve.h"
#include <math.h>

/* The default is the first, and stays where no other promises more. Sets without the mean are for
 * the mean, whose own scores need none. */
static const uint32_t sets[] = {0,
                                CERTREG_CONSTRAINTS_ECM,
                                CERTREG_CONSTRAINTS_ECGM,
                                CERTREG_CONSTRAINTS_ECGHM,
                                CERTREG_CONSTRAINTS_C,
                                CERTREG_CONSTRAINTS_CG};
enum { SETS = sizeof sets / sizeof *sets };

static const size_t most_foreseen = 1000000000; /* beyond, exact binomial tails take long */

/* The main samples that are planned, not those that there are: their number may depend on them. 0:
 * the default it is. */
static size_t foreseen(const certreg_estimator *e, const cr_conditions *conditions)
{
    const cr_question *q = &conditions->question;
    const size_t planned = (size_t)cr_asked_max_samples(e), pilot = conditions->main_first;
    const int chooses = q->by_pilot && q->method != CERTREG_METHOD_ANYTIME &&
                        !cr_question_is_vector(q) && !(q->target > 0) && !(q->at_radius > 0),
              knows = pilot >= cr_record_noisy(e) + 2 * e->plan.blocks;
    if (!chooses || !knows || planned <= pilot) return 0;
    return planned - pilot < most_foreseen ? planned - pilot : most_foreseen;
}

/* With asymptotic moments only the second order, left out, frees a share of alpha. */
static int is_possible(const certreg_estimator *e, const cr_question *q, uint32_t set)
{
    const uint32_t costly = CERTREG_CONSTRAINT_GRADIENT | CERTREG_CONSTRAINT_SECOND_ORDER;
    const int asymptotic = q->method == CERTREG_METHOD_ASYMPTOTIC,
              moments = !cr_question_is_median(q);
    if (!set) return 1;
    if (set & costly & ~e->plan.constraints) return 0;
    if (asymptotic && moments) return set == CERTREG_CONSTRAINTS_ECGM;
    if (set & CERTREG_CONSTRAINT_SECOND_ORDER && !asymptotic) return 0;
    return set & CERTREG_CONSTRAINT_MEAN || q->statistic == CERTREG_STATISTIC_MEAN;
}

static uint32_t used(const certreg_estimator *e, const cr_question *q, uint32_t set)
{
    cr_question with = *q;
    with.constraints = set;
    return cr_bounds_constraints(e, &with);
}

/* Those that differ in what is used, the default first. */
static size_t candidates(const certreg_estimator *e, const cr_question *q, uint32_t out[SETS])
{
    size_t count = 0;
    for (size_t i = 0; i < SETS; i++) {
        int new = is_possible(e, q, sets[i]);
        for (size_t k = 0; k < count; k++) new &= used(e, q, out[k]) != used(e, q, sets[i]);
        if (new) out[count++] = sets[i];
    }
    return count;
}

/* 0 also where the forecast makes no sense, as of outputs that failed. */
static certreg_status foresee(certreg_estimator *e, const cr_conditions *conditions, uint32_t set,
                              size_t samples, double *radius)
{
    cr_solved solved = {.radius = 0};
    cr_answer trial = {.conditions = *conditions};
    trial.conditions.question.constraints = set;
    trial.conditions.foreseen = samples;
    trial.conditions.failures = 0; /* those of the main samples must not matter */
    certreg_status status = cr_bounds_find(e, &trial.conditions, trial.bounds, &trial.abstained);
    if (!status && !trial.abstained) status = cr_solve_radius(e, &trial, INFINITY, &solved);
    *radius = solved.radius;
    if (status != CERTREG_E_INFEASIBLE && status != CERTREG_E_INVALID) return status;
    cr_error_clear(&e->error);
    return CERTREG_OK;
}

static certreg_status compare(certreg_estimator *e, cr_conditions *conditions, size_t samples)
{
    uint32_t set[SETS], best = 0;
    const size_t count = candidates(e, &conditions->question, set);
    double greatest = -1, radius = 0;
    certreg_status status = CERTREG_OK;
    for (size_t i = 0; i < count && count > 1 && !status; i++) {
        status = foresee(e, conditions, set[i], samples, &radius);
        if (radius > greatest) greatest = radius, best = set[i];
    }
    conditions->question.constraints = best;
    return status;
}

/* The replay of the pilot takes as long whatever the number of samples. */
certreg_status cr_choose(certreg_estimator *e, cr_conditions *conditions)
{
    const size_t samples = foreseen(e, conditions);
    if (!samples) return CERTREG_OK;
    const double fixed = e->clock.watch->fixed, start = cr_estimator_now(e);
    const certreg_status status = compare(e, conditions, samples);
    e->clock.watch->fixed = fixed + cr_estimator_now(e) - start;
    return status;
}
