#include "statistics/score.h"
#include "base/constants.h"
#include "statistics/location.h"
#include <float.h>
#include <math.h>

static double clip(double v)
{
    return v < -1 ? -1 : v > 1 ? 1 : v;
}

/* On the line the comparison is made with the end of the interval, as the certificate states it. */
static double sign_on_line(const cr_score *s, double y)
{
    const int above = s->side > 0 ? y > s->prediction - s->tolerance
                                  : y < s->prediction + s->tolerance;
    return above ? 1 : -1;
}

/* The difference t was rounded before it was wrapped. An output that is so near to an end that it
 * may lie beyond it counts as the least value. */
static double unsure(const cr_score *s)
{
    return DBL_EPSILON * s->period;
}

static double circular_value(const cr_score *s, double t)
{
    const double cut = s->cut - unsure(s);
    switch (s->kind) {
    case CR_SCORE_SINE: return sin((t + s->tolerance) * (CR_TWO_PI / s->period));
    case CR_SCORE_ARC: return t >= unsure(s) - s->arc && t <= cut ? 1 : -1;
    case CR_SCORE_SIGN: return t > unsure(s) - s->tolerance && t < cut ? 1 : -1;
    default: return fabs(t) < cut ? clip((t + s->tolerance) / s->width) : -1;
    }
}

/* Both ends are out. y is a double itself, so rounding of an end never lets in what lies beyond it.
 */
static double within(const cr_score *s, double y)
{
    const int in = s->period > 0
                       ? fabs(cr_location_wrap(y, s->prediction, s->period)) <
                             s->tolerance - unsure(s)
                       : y > s->prediction - s->tolerance && y < s->prediction + s->tolerance;
    return in ? 1 : -1;
}

/* The sum begins with what squares may lose by underflow, and the factor covers all rounding. */
static double within_ball(const cr_score *s, const float *y)
{
    const double outputs = (double)s->outputs;
    double sum = outputs * DBL_MIN;
    for (size_t k = 0; k < s->outputs; k++) {
        const double gap = (double)y[k] - s->center[k];
        sum += gap * gap;
    }
    return sqrt(sum) * (1 + (outputs + 4) * DBL_EPSILON) <= s->tolerance ? 1 : -1;
}

double cr_score_value(const cr_score *s, const float *y)
{
    const double v = (double)*y;
    if (s->kind == CR_SCORE_OUTPUT) return v;
    if (s->kind == CR_SCORE_BALL) return within_ball(s, y);
    if (isnan(v)) return cr_score_is_bounded(s) ? -1 : v;
    if (s->kind == CR_SCORE_WITHIN) return within(s, v);
    if (s->period > 0)
        return circular_value(s, s->side * cr_location_wrap(v, s->prediction, s->period));
    if (s->kind == CR_SCORE_SIGN) return sign_on_line(s, v);
    const double t = s->side * (v - s->prediction) + s->tolerance;
    return s->kind == CR_SCORE_LINEAR ? t : clip(t / s->width);
}

void cr_score_range(const cr_score *s, double lo, double hi, double *least, double *greatest)
{
    *least = -1, *greatest = 1;
    if (s->kind == CR_SCORE_OUTPUT) *least = lo, *greatest = hi;
    if (s->kind != CR_SCORE_LINEAR) return;
    *least = (s->side > 0 ? lo - s->prediction : s->prediction - hi) + s->tolerance;
    *greatest = (s->side > 0 ? hi - s->prediction : s->prediction - lo) + s->tolerance;
}

int cr_score_is_bounded(const cr_score *s)
{
    return s->kind != CR_SCORE_OUTPUT && s->kind != CR_SCORE_LINEAR;
}

int cr_score_is_two_valued(const cr_score *s)
{
    return s->kind == CR_SCORE_SIGN || s->kind == CR_SCORE_ARC || s->kind == CR_SCORE_WITHIN ||
           s->kind == CR_SCORE_BALL;
}
