/* How many samples a target radius takes: a forecast, no guarantee. */
#include "statistics/sequential.h"
#include "base/sizes.h"
#include "base/structs.h"
#include "question/looks.h"
#include "question/question.h"
#include <math.h>

static uint64_t failures_of(const certreg_estimator *e, double rate, uint64_t samples)
{
    return (uint64_t)ceil(rate * (double)(samples - e->record.pilot) - 1e-9);
}

/* First look at which the test is passed if this share of the samples after the pilot fails; 0:
 * none. Any time, certify answers at the end as well. */
static uint64_t first_passed(certreg_estimator *e, const cr_conditions *conditions,
                             const cr_condition *c, double rate)
{
    const uint64_t end = e->plan.max_samples;
    cr_looks looks;
    cr_looks_make(e, &conditions->question, &looks);
    for (size_t j = 0; j < looks.count; j++)
        if (cr_looks_passed(e, conditions, c, looks.at[j], failures_of(e, rate, looks.at[j])))
            return looks.at[j];
    return !cr_question_is_closed(&conditions->question) &&
                   cr_looks_passed(e, conditions, c, end, failures_of(e, rate, end))
               ? end
               : 0;
}

/* The same without any failure, at any number of samples. */
static uint64_t least_passed(certreg_estimator *e, const cr_conditions *conditions,
                             const cr_condition *c)
{
    uint64_t low = e->record.pilot, high = e->plan.max_samples;
    if (cr_question_is_closed(&conditions->question)) return first_passed(e, conditions, c, 0);
    if (!cr_looks_passed(e, conditions, c, high, 0)) return 0;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (cr_looks_passed(e, conditions, c, middle, 0)) high = middle;
        else low = middle;
    }
    return high;
}

/* Half a failure is added, as usual, so that a record without failures does not forecast none. NAN:
 * nothing is known yet. */
static double failure_rate(const certreg_estimator *e, const cr_conditions *conditions,
                           const cr_condition *c)
{
    const size_t first = cr_record_noisy(e),
                 count = conditions->samples > first ? conditions->samples - first : 0;
    const cr_samples s = cr_record_samples(e, &c->score, conditions->output, first, count, 0);
    double failures = 0.5;
    if (!count || (!conditions->question.prediction_given && conditions->samples < e->record.pilot))
        return NAN;
    for (size_t i = 0; cr_samples_has(&s, i); i++) failures += cr_samples_at(&s, i) < 0;
    return failures / ((double)count + 1);
}

/* Zero: no number of samples proves it. */
static int add_conditions(certreg_estimator *e, const cr_conditions *conditions,
                          certreg_forecast *f)
{
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        const uint64_t least = least_passed(e, conditions, c);
        const double rate = failure_rate(e, conditions, c);
        const uint64_t expected = isnan(rate) ? 0 : first_passed(e, conditions, c, rate);
        if (least > f->least_samples) f->least_samples = least;
        f->expected_samples =
            fmax(f->expected_samples, isnan(rate) || !expected ? INFINITY : (double)expected);
        if (!least) return 0;
    }
    return 1;
}

static void fill(certreg_estimator *e, cr_conditions *conditions, certreg_forecast *f)
{
    int possible = 1;
    f->least_samples = 0;
    f->expected_samples = 0;
    for (size_t i = 0; possible && i < conditions->directions; i++) {
        cr_conditions_turn(e, conditions, i);
        possible = add_conditions(e, conditions, f);
    }
    if (possible) return;
    f->least_samples = 0;
    f->expected_samples = INFINITY;
}

static certreg_status forecast(certreg_estimator *e, const certreg_question *question,
                               certreg_forecast *found)
{
    certreg_status status;
    cr_conditions conditions = {.count = 0};
    if (!(status = cr_estimator_ready(e)) &&
        !(status = cr_question_take(e, question, &conditions.question)) &&
        (!cr_question_counts(&conditions.question) || !(conditions.question.target > 0)))
        status = cr_fail(&e->error, CERTREG_E_INVALID,
                         "set question.target and CERTREG_STATISTIC_MEDIAN: only a target radius "
                         "of the median can be forecast");
    if (!status && !(status = cr_conditions_preview(e, &conditions))) {
        fill(e, &conditions, found);
        cr_asked_remember(e, e->record.present, e->record.present,
                          cr_question_looks(&conditions.question));
    }
    return status;
}

certreg_status certreg_estimator_forecast(certreg_estimator *e, const certreg_question *question,
                                          certreg_forecast *out)
{
    certreg_forecast found = {.struct_size = sizeof found, .expected_samples = INFINITY};
    const certreg_status refused = cr_estimator_enter(e);
    certreg_error *error = refused ? NULL : &e->error;
    const certreg_status sized = cr_struct_check(out, CR_OLDEST_FORECAST, "forecast", error);
    certreg_status status = refused ? refused : sized;
    if (!status) status = forecast(e, question, &found);
    if (!sized) cr_struct_write(out, out->struct_size, &found, sizeof found);
    return refused ? status : cr_estimator_leave(e, status);
}
