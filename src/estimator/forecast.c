/* How many samples a wanted radius takes: a plan, no promise. */
#include "base/sequential.h"
#include "base/structs.h"
#include "estimator/inquiry.h"
#include <math.h>

enum { OLDEST_FORECAST = sizeof(certreg_forecast) };

static uint64_t failures_of(const certreg_estimator *e, double rate, uint64_t samples)
{
    return (uint64_t)ceil(rate * (double)(samples - e->plan.pilot) - 1e-9);
}

/* First look at which the test is passed if this share of the samples beside the pilot fails; 0: none. Any time, certify answers at the
 * end as well. */
static uint64_t first_passed(certreg_estimator *e, const cr_inquiry *inquiry, const cr_condition *c, double rate)
{
    const uint64_t end = e->plan.capacity;
    cr_looks looks;
    cr_looks_make(e, &inquiry->question, &looks);
    for (size_t j = 0; j < looks.count; j++)
        if (cr_looks_passed(e, inquiry, c, looks.at[j], failures_of(e, rate, looks.at[j]))) return looks.at[j];
    return !cr_inquiry_is_closed(&inquiry->question) && cr_looks_passed(e, inquiry, c, end, failures_of(e, rate, end)) ? end : 0;
}

/* The same without any failure, for whoever asks at numbers of samples of their own. */
static uint64_t least_passed(certreg_estimator *e, const cr_inquiry *inquiry, const cr_condition *c)
{
    uint64_t low = e->plan.pilot, high = e->plan.capacity;
    if (cr_inquiry_is_closed(&inquiry->question)) return first_passed(e, inquiry, c, 0);
    if (!cr_looks_passed(e, inquiry, c, high, 0)) return 0;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (cr_looks_passed(e, inquiry, c, middle, 0)) high = middle;
        else low = middle;
    }
    return high;
}

/* With the usual half a failure more, so that none seen does not mean none ever. NAN: nothing is known yet. */
static double failure_rate(const certreg_estimator *e, const cr_inquiry *inquiry, const cr_condition *c)
{
    const size_t first = e->noise.centre != 0, count = inquiry->samples > first ? inquiry->samples - first : 0;
    double failures = 0.5;
    if (!count || (!inquiry->question.prediction_given && inquiry->samples < e->plan.pilot)) return NAN;
    for (size_t i = first; i < inquiry->samples; i++)
        failures += cr_score_value(&c->score, cr_record_value(e, i, (size_t)inquiry->question.output)) < 0;
    return failures / ((double)count + 1);
}

static void fill(certreg_estimator *e, const cr_inquiry *inquiry, certreg_forecast *f)
{
    f->least_samples = 0;
    f->expected_samples = 0;
    for (int i = 0; i < inquiry->conditions; i++) {
        const cr_condition *c = inquiry->condition + i;
        const uint64_t least = least_passed(e, inquiry, c);
        const double rate = failure_rate(e, inquiry, c);
        const uint64_t expected = isnan(rate) ? 0 : first_passed(e, inquiry, c, rate);
        if (least > f->least_samples) f->least_samples = least;
        f->expected_samples = fmax(f->expected_samples, isnan(rate) || !expected ? INFINITY : (double)expected);
        if (!least) {
            f->least_samples = 0;
            f->expected_samples = INFINITY;
            return;
        }
    }
}

static certreg_status forecast(certreg_estimator *e, const certreg_question *question,
                               certreg_forecast *found)
{
    certreg_status status;
    cr_inquiry inquiry = {.conditions = 0};
    if (!(status = cr_estimator_ready(e)) && !(status = cr_inquiry_read(e, question, &inquiry)) &&
        (inquiry.question.score != CERTREG_SCORE_MEDIAN || !(inquiry.question.wanted > 0)))
        status = cr_fail(&e->error, CERTREG_INVALID, "question.wanted and question.score: a forecast is about a wanted radius of the median");
    if (!status && !(status = cr_inquiry_preview(e, &inquiry))) {
        fill(e, &inquiry, found);
        cr_asked_remember(e, e->present, e->present, cr_asked_digest(&inquiry.question));
    }
    return status;
}

certreg_status certreg_estimator_forecast(certreg_estimator *e, const certreg_question *question,
                                          certreg_forecast *out)
{
    certreg_forecast found = {.struct_size = sizeof found, .expected_samples = INFINITY};
    const certreg_status refused = cr_estimator_enter(e);
    certreg_error *error = refused ? NULL : &e->error;
    const certreg_status sized = cr_struct_check(out, OLDEST_FORECAST, "forecast", error);
    certreg_status status = refused ? refused : sized;
    if (!status) status = forecast(e, question, &found);
    if (!sized) cr_struct_write(out, out->struct_size, &found, sizeof found);
    return refused ? status : cr_estimator_leave(e, status);
}
