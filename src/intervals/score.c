/* Scores: how far an output is from its truth. */
#include "intervals/intervals.h"
#include "statistics/location.h"
#include <math.h>

static double distance(const cr_scored *s, size_t index, double output)
{
    const certreg_model *m = &s->e->model;
    const size_t k = (size_t)s->calibration->output + index;
    const double period = m->kind[k] == CERTREG_OUTPUT_REAL ? 0 : m->hi[k] - m->lo[k],
                 unit = s->calibration->units ? s->calibration->units[index] : 1;
    return fabs(cr_location_wrap(s->truth[index], output, period)) / unit;
}

double cr_intervals_score(const void *of, size_t i)
{
    const cr_scored *s = of;
    const certreg_calibration *c = s->calibration;
    const float *y = cr_record_at(s->e, s->first + i, c->output);
    double largest = 0, squares = 0;
    for (size_t k = 0; k < (size_t)c->outputs; k++)
        if (isnan(y[k])) return s->failed;
    if (c->score == CERTREG_SCORE_QUANTILES)
        return fmax((double)y[0] - *s->truth, *s->truth - (double)y[1]);
    for (size_t k = 0; k < (size_t)c->outputs; k++) {
        const double d = distance(s, k, (double)y[k]);
        largest = fmax(largest, d);
        squares += d * d;
    }
    return c->outputs == 1 || c->score == CERTREG_SCORE_LARGEST ? largest : sqrt(squares);
}
