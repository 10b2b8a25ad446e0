/* How many samples a target radius takes: a forecast, no guarantee. */
#include "question/forecast.h"
#include "question/looks.h"
#include <math.h>

static uint64_t failures_of(cr_view *v, double rate, uint64_t samples)
{
    return (uint64_t)ceil(rate * (double)(samples - v->pilot) - 1e-9);
}

/* First look at which the test is passed if this share of the samples after the pilot fails; 0:
 * none. Any time, certify answers at the end as well. */
static uint64_t first_passed(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                             double rate)
{
    const uint64_t end = v->plan.max_samples;
    cr_looks looks;
    cr_looks_make(v, &conditions->question, &looks);
    for (size_t j = 0; j < looks.count; j++)
        if (cr_looks_passed(v, conditions, c, looks.at[j], failures_of(v, rate, looks.at[j])))
            return looks.at[j];
    return !conditions->question.is_group &&
                   cr_looks_passed(v, conditions, c, end, failures_of(v, rate, end))
               ? end
               : 0;
}

/* The same without any failure, at any number of samples. */
static uint64_t least_passed(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    uint64_t low = v->pilot, high = v->plan.max_samples;
    if (conditions->question.is_group) return first_passed(v, conditions, c, 0);
    if (!cr_looks_passed(v, conditions, c, high, 0)) return 0;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (cr_looks_passed(v, conditions, c, middle, 0)) high = middle;
        else low = middle;
    }
    return high;
}

/* Half a failure is added, as usual, so that a record without failures does not forecast none. NAN:
 * nothing is known yet. */
static double failure_rate(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    const size_t first = cr_view_noisy(v),
                 count = conditions->samples > first ? conditions->samples - first : 0;
    const cr_samples s = cr_view_samples(v, &c->score, conditions->output, first, count, 0);
    double failures = 0.5;
    if (!count || (!conditions->question.prediction_given && conditions->samples < v->pilot))
        return NAN;
    for (size_t i = 0; cr_samples_has(&s, i); i++) failures += cr_samples_at(&s, i) < 0;
    return failures / ((double)count + 1);
}

/* Zero: no number of samples proves it. */
static int add_conditions(cr_view *v, const cr_conditions *conditions, certreg_forecast *f)
{
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        const uint64_t least = least_passed(v, conditions, c);
        const double rate = failure_rate(v, conditions, c);
        const uint64_t expected = isnan(rate) ? 0 : first_passed(v, conditions, c, rate);
        if (least > f->least_samples) f->least_samples = least;
        f->expected_samples =
            fmax(f->expected_samples, isnan(rate) || !expected ? INFINITY : (double)expected);
        if (!least) return 0;
    }
    return 1;
}

static void fill(cr_view *v, cr_conditions *conditions, certreg_forecast *f)
{
    int possible = 1;
    f->least_samples = 0;
    f->expected_samples = 0;
    for (size_t i = 0; possible && i < conditions->question.directions; i++) {
        cr_conditions_turn(v, conditions, i);
        possible = add_conditions(v, conditions, f);
    }
    if (possible) return;
    f->least_samples = 0;
    f->expected_samples = INFINITY;
}

certreg_status cr_forecast_tell(cr_view *v, cr_conditions *conditions, certreg_forecast *found,
                                certreg_error *why)
{
    const cr_question *q = &conditions->question;
    if (!q->is_counted || !(q->target > 0))
        return cr_fail(why, CERTREG_E_INVALID,
                       "set question.target and CERTREG_STATISTIC_MEDIAN: only a target radius "
                       "of the median can be forecast");
    const certreg_status status = cr_conditions_preview(v, conditions, why);
    if (!status) fill(v, conditions, found);
    return status;
}
