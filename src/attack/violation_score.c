/* The violation score of a side: the arc or half-line outside of the tolerance, the guard of an
 * angle, and the smooth score for gradients. question/conditions.c has the scores of the inside. */
#include "attack/violation_score.h"
#include "base/constants.h"
#include "statistics/location.h"
#include "statistics/gaussian_shift.h"
#include <float.h>
#include <math.h>

/* Distances from the point opposite the prediction within which no output counts, as parts of a
 * turn (A of theory 11.2). A wide gap makes the cut of the circle easy to prove, and counts fewer
 * outputs as out: the widest gap with hardly any output of the record is used. If each has many,
 * outputs beyond half a turn count too, up to a part of the tolerance. */
static const double gaps[] = {60.0 / 360, 30.0 / 360, 10.0 / 360};
enum { GAPS = sizeof gaps / sizeof *gaps };
static const double max_gap_fraction = 0.002, negative_gap_fraction = 0.5;
/* The width of the slope that replaces a jump, in tolerances; for angles, in sines. */
static const double line_width = 0.5, circle_width = 0.06;

/* The last double inside: the exact sum prediction + offset is the first value outside. */
static double last_inside(double prediction, double offset)
{
    const double edge = prediction + offset, moved = edge - prediction;
    const double lost = (prediction - (edge - moved)) + (offset - moved); /* of the exact sum */
    const int edge_is_inside = offset > 0 ? lost > 0 : lost < 0;
    return edge_is_inside ? edge : nextafter(edge, prediction);
}

/* On the circle, an arc from the tolerance to half a turn less the gap, about its middle, shortened
 * by the rounding error of the middle. */
static void set_median(const cr_question *q, double gap, cr_violation_score *x)
{
    cr_score *s = &x->outside;
    if (!x->has_guard) {
        s->kind = CR_SCORE_SIGN;
        s->prediction = last_inside(s->prediction, s->side * q->given.tolerance);
        s->tolerance = 0;
        return;
    }
    const double half = 0.5 * (0.5 * s->period - gap - q->given.tolerance);
    s->kind = CR_SCORE_ARC;
    s->prediction += s->side * (q->given.tolerance + half);
    s->arc = s->branch_cut = half - 8 * DBL_EPSILON * fmax(s->period, fabs(s->prediction));
}

static double fraction_outside(cr_view *v, const cr_conditions *conditions, double max_distance,
                               double period)
{
    const size_t first = cr_view_first_noisy(v), count = conditions->samples - first;
    size_t outside = 0;
    for (size_t i = 0; i < count; i++)
        outside += fabs(cr_location_wrap(
                       (double)*cr_view_output_ptr(v, first + i, conditions->question.given.output),
                       conditions->prediction, period)) > max_distance;
    return (double)outside / (double)count;
}

/* At most half the way from the tolerance to the antipode; for Huber, at least the tolerance. */
static double choose_gap(cr_view *v, const cr_conditions *conditions, double period)
{
    const double tolerance = conditions->question.given.tolerance;
    double gap = -negative_gap_fraction * fmin(tolerance, 0.5 * period - tolerance);
    for (int i = GAPS; i-- > 0;)
        if (fraction_outside(v, conditions, (0.5 - gaps[i]) * period, period) <= max_gap_fraction)
            gap = gaps[i] * period;
    if (conditions->question.statistic->score == CR_SCORE_HUBER) return fmax(gap, tolerance);
    return fmin(gap, 0.5 * (0.5 * period - tolerance));
}

cr_violation_score cr_violation_score_of(cr_view *v, const cr_conditions *conditions, int32_t side)
{
    const cr_question *q = &conditions->question;
    const cr_statistic *statistic = q->statistic;
    cr_violation_score x = {.side = side,
                            .smoothing_width = line_width * q->given.tolerance,
                            .outside = {.kind = statistic->score,
                                        .side = side == CERTREG_SIDE_UPPER ? 1 : -1,
                                        .prediction = conditions->prediction,
                                        .tolerance = -q->given.tolerance,
                                        .width = q->given.huber_width}};
    cr_score *s = &x.outside;
    s->period = q->period;
    s->rounding = q->angle_rounding;
    x.has_guard = s->period > 0 && statistic->angle == CR_ANGLE_UNROLLED;
    if (x.has_guard) {
        const double gap = choose_gap(v, conditions, s->period);
        s->branch_cut = 0.5 * s->period - gap;
        x.guard = *s;
        x.guard.kind = CR_SCORE_SINE;
        x.guard.tolerance = gap;
        x.smoothing_width = circle_width;
    }
    if (statistic->score == CR_SCORE_SIGN) set_median(q, x.guard.tolerance, &x);
    cr_score_range(s, v->model.lo + q->given.output, v->model.hi + q->given.output, &x.lo, &x.hi);
    return x;
}

double cr_violation_score_smooth(const cr_violation_score *x, const float *y)
{
    const cr_score *s = &x->outside;
    if (!cr_violation_score_is_binomial(x) || isnan(*y)) return cr_violation_score_value(x, y);
    const double v = (double)*y,
                 distance =
                     s->period > 0
                         ? sin((s->side * cr_location_wrap(v, s->prediction, s->period) + s->arc) *
                               (CR_TWO_PI / s->period))
                         : s->side * (v - s->prediction);
    return tanh(0.5 * distance / x->smoothing_width);
}

static int has_probit_link(const cr_violation_score *x)
{
    return cr_score_traits_of(x->outside.kind).bounded && x->outside.kind != CR_SCORE_SINE;
}

double cr_violation_score_link(const cr_violation_score *x, double mean)
{
    return has_probit_link(x) ? cr_shift_probit(0.5 * (1 + mean)) : mean;
}

double cr_violation_score_link_derivative(const cr_violation_score *x, double mean)
{
    return has_probit_link(x) ? 0.5 / cr_shift_slope(0.5 * (1 + mean)) : 1;
}
