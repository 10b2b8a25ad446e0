/* Violation scores: scores with a positive mean if the statistic is out of its tolerance, the
 * mirror of a certificate's conditions (theory 11.2). */
#ifndef CR_ATTACK_VIOLATION_SCORE_H
#define CR_ATTACK_VIOLATION_SCORE_H
#include "conditions/conditions.h"
#include "statistics/score.h"

typedef struct cr_violation_score { /* on one side */
    int32_t side;                   /* CERTREG_SIDE_UPPER or _LOWER */
    cr_score outside; /* T is out if its mean is positive: 1 or -1 by the place of the output, or
                         the values of the statistic's score */
    cr_score guard;   /* if there is a guard, its mean has to be positive as well */
    int has_guard;    /* 1: there is a guard, since a circle was cut into a line */
    double lo, hi;    /* range of `outside` */
    double smoothing_width; /* of the slope that replaces the jump of a two-valued score in
                               gradients */
} cr_violation_score;

/* The violation score of one side, with gap and guard as the outputs of the record allow. */
cr_violation_score cr_violation_score_of(cr_view *, const cr_conditions *, int32_t side);
/* The same as `outside`, with the jump made smooth. */
double cr_violation_score_smooth(const cr_violation_score *, const float *y);
/* The score `outside` of an output. */
static inline double cr_violation_score_value(const cr_violation_score *x, const float *y)
{
    return cr_score_value(&x->outside, y);
}
/* Returns 1 if `outside` has two values, so that pairs are counted, else 0. */
static inline int cr_violation_score_is_binomial(const cr_violation_score *x)
{
    return cr_score_traits_of(x->outside.kind).two_valued;
}

/* A mean of `outside` on a scale that is about linear in the radius: its probit, or the mean itself
 * of a score that is a sine or not bounded; and the derivative of the scale. */
double cr_violation_score_link(const cr_violation_score *, double mean);
double cr_violation_score_link_derivative(const cr_violation_score *, double mean);

#endif
