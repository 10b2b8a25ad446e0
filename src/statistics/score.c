/* Scores of outputs, and their ranges. On a circle, in a ball and along a direction an output has
 * the lesser value if rounding may have moved it across an end of its interval. On the line the end
 * is the double that the certificate states. */
#include "statistics/score.h"
#include "base/constants.h"
#include "statistics/location.h"
#include <float.h>
#include <math.h>

static double clip(double v)
{
    return v < -1 ? -1 : v > 1 ? 1 : v;
}

/* Returns t + tolerance. If the tolerance takes nearly all of the prediction away, the rounding of
 * the difference is not small beside the outputs, so it is added last. */
static double linear_value(const cr_score *s, double y)
{
    const double gap = y - s->prediction, u = s->side * gap + s->tolerance,
                 end = s->prediction - s->side * s->tolerance;
    if (!(fabs(end) < 0x1p-10 * fabs(s->tolerance)) || isinf(y)) return u;
    const double restored = gap + s->prediction;
    return u + s->side * ((y - restored) - (s->prediction - (restored - gap)));
}

/* Return the ends of the interval, as the certificate states them, moved inwards by the band. */
static double lower_end(const cr_score *s)
{
    return s->prediction - s->tolerance + s->band;
}

static double upper_end(const cr_score *s)
{
    return s->prediction + s->tolerance - s->band;
}

static double sign_on_line(const cr_score *s, double y)
{
    const int above = s->side > 0 ? y > lower_end(s) : y < upper_end(s);
    return above ? 1 : -1;
}

/* The angle was rounded when it was recorded, and the difference t before it was wrapped. An output
 * that is so near to an end that it may lie beyond it counts as the least value. */
static double end_margin(const cr_score *s)
{
    return s->rounding + DBL_EPSILON * s->period + s->band;
}

/* Returns the least sine of all angles within the rounding of t + tolerance. */
static double least_sine(const cr_score *s, double t)
{
    const double turns = CR_TWO_PI / s->period;
    return fmax(-1, sin((t + s->tolerance) * turns) - s->rounding * turns);
}

static double circular_value(const cr_score *s, double t)
{
    const double cut = s->branch_cut - end_margin(s);
    switch (s->kind) {
    case CR_SCORE_SINE: return least_sine(s, t);
    case CR_SCORE_ARC: return t >= end_margin(s) - s->arc && t <= cut ? 1 : -1;
    case CR_SCORE_SIGN: return t > end_margin(s) - s->tolerance && t < cut ? 1 : -1;
    case CR_SCORE_HUBER:
        return fabs(t) < cut ? clip((t + s->tolerance - s->rounding) / s->width) : -1;
    case CR_SCORE_OUTPUT: /* these are never on a circle */
    case CR_SCORE_LINEAR:
    case CR_SCORE_WITHIN:
    case CR_SCORE_BALL: break;
    }
    return -1;
}

/* Both ends are out. y is a double itself, so rounding of an end never includes an output beyond
 * it. */
static double value_within(const cr_score *s, double y)
{
    const int is_within = s->period > 0 ? fabs(cr_location_wrap(y, s->prediction, s->period)) <
                                              s->tolerance - end_margin(s)
                                        : y > lower_end(s) && y < upper_end(s);
    return is_within ? 1 : -1;
}

/* The sum begins with what squares may lose by underflow, and the factor covers all rounding. */
static double value_within_ball(const cr_score *s, const float *y)
{
    const double outputs = (double)s->outputs;
    double sum = outputs * DBL_MIN;
    for (size_t k = 0; k < s->outputs; k++) {
        const double gap = (double)y[k] - s->center[k];
        sum += gap * gap;
    }
    return sqrt(sum) * (1 + (outputs + 4) * DBL_EPSILON) <= s->tolerance - s->band ? 1 : -1;
}

/* ---- along a direction */
/* Relative rounding error of a sum of up to three products, with respect to the sum of their sizes:
 * more than the errors of vector, differences, products and sum together. */
static const double relative_rounding = 8 * DBL_EPSILON;

static double center_at(const cr_score *s, size_t k)
{
    return s->center ? s->center[k] : 0;
}

/* Returns v.(y - center), NaN if one of the outputs failed, and the sum of the sizes of its
 * terms. */
static double project(const cr_score *s, const float *y, double *size)
{
    double sum = 0;
    *size = DBL_MIN;
    for (size_t k = 0; k < s->outputs; k++) {
        const double term = s->unit_vector[k] * ((double)y[k] - center_at(s, k));
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/* An output that is so near to the end of the interval that it may lie beyond it has the least
 * score. */
static double projected_value(const cr_score *s, const float *y)
{
    double size;
    const double t = (s->side < 0 ? -1 : 1) * project(s, y, &size);
    switch (s->kind) {
    case CR_SCORE_SIGN: return t > relative_rounding * size - s->tolerance + s->band ? 1 : -1;
    case CR_SCORE_LINEAR: return t + s->tolerance;
    case CR_SCORE_OUTPUT: return t;
    case CR_SCORE_HUBER: /* these are never along a direction */
    case CR_SCORE_SINE:
    case CR_SCORE_ARC:
    case CR_SCORE_WITHIN:
    case CR_SCORE_BALL: break;
    }
    return -1;
}

/* 0 times an infinite end is 0. */
static void projected_range(const cr_score *s, const double *lo, const double *hi,
                            double *min_score, double *max_score)
{
    const double margin = cr_score_rounding_error(s, lo, hi),
                 offset = s->kind == CR_SCORE_LINEAR ? s->tolerance : 0;
    *min_score = offset - margin;
    *max_score = offset + margin;
    for (size_t k = 0; k < s->outputs; k++) {
        const double v = (s->side < 0 ? -1 : 1) * s->unit_vector[k], c = center_at(s, k);
        if (v == 0) continue;
        *min_score += v * ((v > 0 ? lo[k] : hi[k]) - c);
        *max_score += v * ((v > 0 ? hi[k] : lo[k]) - c);
    }
}

double cr_score_rounding_error(const cr_score *s, const double *lo, const double *hi)
{
    double size = s->tolerance;
    for (size_t k = 0; k < s->outputs; k++)
        if (s->unit_vector[k] != 0)
            size += fabs(s->unit_vector[k]) *
                    fmax(fabs(lo[k] - center_at(s, k)), fabs(hi[k] - center_at(s, k)));
    return isfinite(size) ? relative_rounding * size : 0;
}

/* ---- all scores */
static int is_projected(const cr_score *s)
{
    return s->outputs > 0 && s->kind != CR_SCORE_BALL;
}

double cr_score_value(const cr_score *s, const float *y)
{
    const double v = (double)*y;
    if (is_projected(s)) return projected_value(s, y);
    if (isnan(v)) return cr_score_traits_of(s->kind).bounded ? -1 : v;
    if (s->period > 0 && s->kind != CR_SCORE_WITHIN)
        return circular_value(s, s->side * cr_location_wrap(v, s->prediction, s->period));
    switch (s->kind) {
    case CR_SCORE_OUTPUT: return v;
    case CR_SCORE_LINEAR: return linear_value(s, v);
    case CR_SCORE_HUBER: return clip(linear_value(s, v) / s->width);
    case CR_SCORE_SIGN: return sign_on_line(s, v);
    case CR_SCORE_WITHIN: return value_within(s, v);
    case CR_SCORE_BALL: return value_within_ball(s, y);
    case CR_SCORE_SINE: /* these are always on a circle */
    case CR_SCORE_ARC: break;
    }
    return -1;
}

/* The median's certificate is this count: on the line it compares outputs with one number. Looks at
 * the clock do not depend on the first sample, since counts from look to look may be short. */
uint64_t cr_samples_count_negative(const cr_samples *samples)
{
    const cr_score *s = samples->score;
    const int is_on_line = s->kind == CR_SCORE_SIGN && !(s->period > 0) && !is_projected(s);
    const double side = s->side > 0 ? 1 : -1, end = s->side > 0 ? lower_end(s) : -upper_end(s);
    const float *y = samples->y + samples->first * samples->stride;
    uint64_t count = 0;
    for (size_t i = 0;
         i < samples->count && !cr_deadline_ends(samples->deadline, samples->first + i);
         i++, y += samples->stride)
        count += is_on_line ? !(side * (double)*y > end) : cr_score_value(s, y) < 0;
    return count;
}

double cr_score_of_prediction(const cr_score *s)
{
    const float y = (float)s->prediction;
    if (!is_projected(s)) return cr_score_value(s, &y);
    return s->kind == CR_SCORE_SIGN ? 1 : s->kind == CR_SCORE_LINEAR ? s->tolerance : 0;
}

void cr_score_range(const cr_score *s, const double *lo, const double *hi, double *min_score,
                    double *max_score)
{
    if (cr_score_traits_of(s->kind).bounded) {
        *min_score = -1;
        *max_score = 1;
    } else if (is_projected(s)) {
        projected_range(s, lo, hi, min_score, max_score);
    } else if (s->kind == CR_SCORE_OUTPUT) {
        *min_score = *lo;
        *max_score = *hi;
    } else {
        *min_score = linear_value(s, s->side > 0 ? *lo : *hi);
        *max_score = linear_value(s, s->side > 0 ? *hi : *lo);
    }
}

/* ---- kinds */
cr_score_traits cr_score_traits_of(enum cr_score_kind kind)
{
    switch (kind) {
    case CR_SCORE_OUTPUT: return (cr_score_traits){.bounded = 0};
    case CR_SCORE_LINEAR: return (cr_score_traits){.sides = 1};
    case CR_SCORE_SINE: return (cr_score_traits){.bounded = 1, .sides = 1};
    case CR_SCORE_HUBER: return (cr_score_traits){.bounded = 1, .sides = 1, .clipped = 1};
    case CR_SCORE_SIGN:
    case CR_SCORE_ARC:
        return (cr_score_traits){.bounded = 1, .two_valued = 1, .sides = 1, .clipped = 1};
    case CR_SCORE_WITHIN:
    case CR_SCORE_BALL: return (cr_score_traits){.bounded = 1, .two_valued = 1, .clipped = 1};
    }
    return (cr_score_traits){.bounded = 0};
}
