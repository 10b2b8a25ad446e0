/* Scores: how far an output is from its truth. */
#include "conformal/conformal.h"
#include "statistics/location.h"
#include <math.h>

static double distance(const cr_score_source *s, size_t index, double output)
{
    const certreg_model *m = &s->v->model;
    const size_t k = (size_t)s->calibration->output + index;
    const double period = m->kind[k] == CERTREG_OUTPUT_REAL ? 0 : m->hi[k] - m->lo[k],
                 unit = s->calibration->units ? s->calibration->units[index] : 1;
    return fabs(cr_location_wrap(s->truth[index], output, period)) / unit;
}

static double max_distance(const cr_score_source *s, const float *y)
{
    double max = 0;
    for (size_t k = 0; k < (size_t)s->calibration->outputs; k++)
        max = fmax(max, distance(s, k, (double)y[k]));
    return max;
}

static double euclidean_norm(const cr_score_source *s, const float *y)
{
    double squares = 0;
    if (s->calibration->outputs == 1) return max_distance(s, y);
    for (size_t k = 0; k < (size_t)s->calibration->outputs; k++) {
        const double d = distance(s, k, (double)y[k]);
        squares += d * d;
    }
    return sqrt(squares);
}

double cr_conformal_score(const void *context, size_t i)
{
    const cr_score_source *s = context;
    const certreg_calibration *c = s->calibration;
    const float *y = cr_view_output_ptr(s->v, s->first + i, c->output);
    for (size_t k = 0; k < (size_t)c->outputs; k++)
        if (isnan(y[k])) return s->failed;
    switch ((enum certreg_score)c->score) {
    case CERTREG_SCORE_NORM: return euclidean_norm(s, y);
    case CERTREG_SCORE_LARGEST: return max_distance(s, y);
    case CERTREG_SCORE_QUANTILES: return fmax((double)y[0] - *s->truth, *s->truth - (double)y[1]);
    }
    return INFINITY;
}
